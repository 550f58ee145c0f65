/* exit.c: writes the dump when the process ends; see exit.h.
 *
 * Wraps the calls by which a process ends. _exit, _Exit and the exec family do not run the
 * destructor below; several threads may call exit at once; abort waits for a dump that is being
 * written. After abort and fatal signals only the live file remains.
 *
 * at_exit (the destructor) or at_last (the last function on libc's list) calls dump_at, which calls
 * dump_once, dump_as_user, dump, write_all and write_one, and then finish_live_file.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "../../core/base/safe-open.h"
#include "../../core/base/fpu.h"
#include "../../core/base/run-root.h"
#include "../../core/base/output.h"
#include "../../core/base/fs-creds.h"
#include "../../core/base/sys.h"
#include "../../core/formats/format-writer.h"
#include "../../core/store/region.h"
#include "../../core/store/store.h"
#include "../papi/dlerror.h"
#include "../papi/real.h"
#include "../process/process.h"
#include "../process/diagnostic.h"
#include "../sets/counted-time.h"
#include "../sets/sets.h"
#include "../sets/attached.h"
#include "../callsites/callsites.h"
#include "exit.h"

static bool has_event_set;
static uint32_t exit_winner;			/* tid of the writing thread (enter); 0: none */
static struct sp_output output;
static enum sp_end last_end;
static uint32_t first_exiter;		/* tid of the first thread that called exit; 0: none */
/* tid of the thread whose turn it is to run libc's list; 0: none */
static uint32_t list_turn;
static uint32_t exit_thread;			/* tid of the thread that runs the exit */
/* tid of the thread in which libc runs destructors; it has just had the loader's lock */
SP_AT_START static uint32_t finishing;
static bool is_dump_done;			/* the dump of the end was made or failed */
static bool is_recorded_since;			/* a reading was recorded after that dump began */
static bool is_ending;			/* the process ends now: other threads need not wait */
static bool is_stderr_cut; /* the reader of standard error stalled during this dump */
/* readings since then are also written, and no thread records any more */
static bool is_dump_repeated;
static bool is_dump_written; /* the last dump of the end was written completely */
/* the live file was removed, or removing it failed. Set it afterwards: a thread that sees it ends
 * the process */
static bool is_live_file_done;
static bool is_single_thread; /* the process had no other thread when the dump began */
/* boot ns at which a dump of the end began; 0: none is being written */
static uint64_t writing_since_ns;
/* tid of the thread that ends the process, for which the other threads' PAPI calls wait; 0: none */
static uint32_t stopping_thread;
static bool are_others_released;			/* the others have waited long enough */

void sp_end_expect_dump(void)
{
	store_relaxed(&has_event_set, true);
}

void sp_end_child(void)
{
	has_event_set = false;
	exit_winner = first_exiter = list_turn = stopping_thread = finishing = 0;
	memset(&output, 0, sizeof(output));
	last_end = SP_END_NONE;
	writing_since_ns = 0;
	is_dump_done = is_recorded_since = is_ending = is_dump_repeated = are_others_released =
		is_live_file_done = false;
}

/* ---- destination ------------------------------------------------------ */

#define DEV_TTY		makedev(5, 0)	/* the same in every Linux */

static bool is_fifo(const char *path)
{
	struct stat s = { 0 };

	return sp_sys(SYS_newfstatat, AT_FDCWD, path, &s, 0) == 0 && S_ISFIFO(s.st_mode);
}

/* The reason for ENXIO. */
static const char *why_enxio(const char *path)
{
	struct stat s = { 0 };

	(void)sp_sys(SYS_newfstatat, AT_FDCWD, path, &s, 0);
	return S_ISFIFO(s.st_mode) ? "this FIFO has no reader"
	       : S_ISSOCK(s.st_mode)
		       ? "a socket cannot be opened by a name (standard error is SSPAPI_OUTPUT=-)"
	       : s.st_rdev == DEV_TTY ? "this process has no terminal"
				      : sp_diag_error(ENXIO);
}

static const char *why(const char *path, int error)
{
	switch (error) {
	case -ENXIO:
		return why_enxio(path);
	case -ETIMEDOUT:
		return "its reader does not read";
	case -EPERM:
		return is_fifo(path) ? "this FIFO is another user's" : sp_diag_error(error);
	default:
		return sp_parent_dir_error(error) ?: sp_diag_error(error);
	}
}

/* Report the failure in one line, with the fix: `sspapi recover`, if there is a live file. A live
 * file that could not grow has only the first relations, or none. */
static void failed(const char *path, int error)
{
	const char *live = sp_store.region.path;
	char text[SP_CONF_PATH + 800];
	struct sp_out o;

	sp_out_init(&o, -1, text, sizeof(text) - 1);
	sp_out_text(&o, path);
	sp_out_text(&o, ": ");
	if (sp_store.region.truncated)
		sp_out_text(&o, "counts are lost, because the live file was truncated");
	else
		sp_out_text(&o, why(path, error));
	if (*live && !sp_store.region.truncated) {
		bool torn = sp_store.region.torn, any = !torn || load_relaxed(&sp_store.in_file);

		if (any) {
			sp_out_text(&o, "; `sspapi recover` writes ");
			sp_out_text(&o, torn ? "a part of it from " : "it from ");
			sp_out_text(&o, live);
		}
		if (torn) {
			sp_out_text(&o, any ? ": " : "; the counts are lost because ");
			sp_out_text(&o, sp_torn_text(SP_TORN_FULL | (uint64_t)-sp_store.region.why
									    << SP_TORN_SHIFT));
			sp_out_text(&o,
				    any ? "; later counts are lost" : " before any was stored");
		}
	}
	text[o.used] = 0;
	sp_process_diag(SP_DIAG_ERROR, "the dump was not written", text);
}

/* Add the notes that were made since the model was opened to this dump. */
static void gather_notes(struct sp_model *m)
{
	m->h.lists.notes = sp_store.header->lists.notes;
	m->h.kept.notes = sp_store.header->kept.notes;
}

/* Write to the default file name if standard error stalled and no live file has the counts. */
static int write_other_file(const struct sp_format_writer *v, const struct sp_selection *s)
{
	/* static, since one dump is written at a time */
	static char path[SP_CONF_PATH], name[SP_CONF_PATH], text[SP_CONF_PATH + 100];
	int r = sp_output_expand(path, sizeof(path), sp_conf_rows[0].fallback,
				 sp_process_output_vars());

	if (r == 0)
		r = sp_output_name_for(name, sizeof(name), path, v);
	if (r < 0)
		return r;
	sp_process_note(sp_text_f(
		text, sizeof(text),
		"standard error is not read: the dump is cut off there; the whole dump is in %s",
		name));
	gather_notes(s->m);
	return sp_output_write(&output, name, sp_process_output_vars(), v, s);
}

static int write_error(const struct sp_format_writer *v, const struct sp_selection *s)
{
	int fd = sp_diag_descriptor(), r = is_stderr_cut	    ? -ETIMEDOUT
					   : fd < 0 ? 0
						    : sp_output_write_fd(fd, false, v, s);

	is_stderr_cut = r == -ETIMEDOUT;
	if (is_stderr_cut && (!*sp_store.region.path || sp_store.region.torn))
		r = write_other_file(v, s);
	if (r < 0)
		failed("standard error", r);
	return r;
}

/* Without memory for a model only the store format can be written. */
static bool can_write(const struct sp_format_writer *v, const struct sp_model *m)
{
	return m->memory || v->can & SP_CAN_READ;
}

/* `was_reported`: another format failed before, usually for the same reason. */
static int write_one(const char *name, const struct sp_format_writer *v,
		     const struct sp_selection *s, bool rename_it, bool was_reported)
{
	char path[SP_CONF_PATH];
	int r;

	gather_notes(s->m);
	if (strcmp(sp_conf.output, "-") == 0)
		return write_error(v, s);
	r = rename_it ? sp_output_name_for(path, sizeof(path), name, v) : 0;
	if (r == 0 && !can_write(v, s->m))
		r = -ENOMEM;
	if (r == 0)
		r = sp_output_write(&output, rename_it ? path : name, sp_process_output_vars(), v,
				    s);
	if (r < 0 && !was_reported)
		failed(rename_it ? path : name, r);
	else if (r == 0)
		sp_process_diag(SP_DIAG_DETAIL, "dump written", output.path);
	return r;
}

/* Set the store's name for the text format, which refers to the store that is written with it. */
static void name_store(struct sp_selection *s, const char *name, const char *formats, bool several)
{
	static char path[SP_CONF_PATH], word[2 * SP_CONF_PATH];
	s->all = sp_conf.verbose >= 2;
	s->file = SP_FORMAT_NO_STORE;
	if (several && sp_format_among(formats, SP_CAN_READ, SP_CAN_READ) &&
	    sp_output_name_for(path, sizeof(path), name, sp_format_writer_of(SP_FORMAT_store)) ==
		    0) {
		struct sp_out o;

		sp_memory_init(&o, word, sizeof(word));
		sp_shell_word(&o, path);
		s->file = sp_memory_text(&o);
	}
}

/* Write all formats; 0 if all succeeded. */
static int write_all(struct sp_selection *s)
{
	const char *p = sp_conf.format;
	const struct sp_format_writer *v = sp_format_writer_by_extension(sp_conf.output);
	/* A single format goes to the name as given; the default name was not given. */
	bool several = strchr(p, ',') != NULL || !sp_conf.output_set;
	char name[SP_CONF_PATH];
	int r = sp_output_expand(name, sizeof(name), sp_conf.output, sp_process_output_vars());

	if (r < 0) {
		failed(sp_conf.output, r);
		return r;
	}
	several = several && !sp_output_is_special(name);
	is_stderr_cut = false;
	name_store(s, name, p, several);
	if (!*p)
		r = write_one(name, v ? v : sp_format_writer_of(SP_FORMAT_text), s, false, false);
	while (*p && (several || r == 0)) {
		size_t n = strcspn(p, ",");

		v = sp_format_writer_by_name(p, n);
		if (v && write_one(name, v, s, several, r < 0) < 0)
			r = -EIO;
		p += n + (p[n] == ',');
	}
	return r;
}

/* Returns whether the live file's folder is no longer reachable under its name (chroot,
 * pivot_root). */
static bool dir_moved(const char *path)
{
	char dir[sizeof(sp_store.region.path)];
	struct stat s;

	strcpy(dir, path);
	*strrchr(dir, '/') = 0;
	return sp_sys(SYS_newfstatat, AT_FDCWD, dir, &s, 0) < 0 ||
	       (uint64_t)s.st_dev != sp_store.region.file_dev;
}

/* Remove the live file if a dump of the end was written; otherwise only the live file has the
 * counts. */
static void finish_live_file(bool safe)
{
	const char *path = sp_store.region.path;
	char text[sizeof(sp_store.region.path) + 200];
	long r;

	if (!*path || load_relaxed(&is_live_file_done) || !(safe || sp_store.region.truncated))
		return;
	r = sp_sys(SYS_unlinkat, AT_FDCWD, path, 0);
	store_release(&is_live_file_done, true);
	if (r == 0 || (r == -ENOENT && !dir_moved(path)))
		return;			/* somebody else removed it */
	strcpy(text, path);
	strcat(text, r == -ENOENT ? ": this process changed its root directory" : ": ");
	if (r != -ENOENT)
		strncat(text, sp_diag_error((int)r), 100);
	sp_process_diag(SP_DIAG_WARNING, "the live file cannot be removed", text);
}

static void delay(void)
{
	struct timespec ms = { 0, 1000000 };

	(void)sp_sys(SYS_nanosleep, &ms, NULL);
}

/* ---- one writer at a time --------------------------------------------- */

#define DUMP_WAIT_MS	30000			/* enough for a large dump on a slow disk */

/* Become the only writer. Wait while another thread writes, since the caller may be about to end
 * the process; only for a limited time, since that thread may be stopped. Returns false at once in
 * a signal handler that interrupted this thread's own dump. */
static bool enter(void)
{
	uint32_t own = (uint32_t)sp_sys(SYS_gettid), who = 0;

	for (int tries = 0; tries < DUMP_WAIT_MS; tries++) {
		if (load_relaxed(&is_ending) && load_relaxed(&exit_thread) != own)
			return false;
		if (sp_cas(&exit_winner, &who, own))
			return true;
		if (who == own)
			return false;
		who = 0;
		delay();
	}
	return false;
}

static void leave(void)
{
	store_release(&exit_winner, 0);
}

/* Returns whether the live file was not truncated: access to a lost page would kill the program. */
static bool file_is_whole(void)
{
	struct sp_region *r = &sp_store.region;
	const struct sp_piece *last = &r->piece[load_acquire(&r->pieces) - 1];
	/* read it before fstatat: another thread may make the file grow */
	uint64_t had = last->off + load_acquire(&last->ready);
	struct stat s;

	if (*r->path && !r->torn &&
	    sp_sys(SYS_newfstatat, AT_FDCWD, r->path, &s, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (uint64_t)s.st_size < had)
		r->torn = r->truncated = true;
	return !r->truncated;
}

/* Keep blocks from being removed from the lists during the dump. Taking the lock waits for removals
 * in progress. */
static void begin_reading(void)
{
	struct sp_lock_state lock_state;

	__atomic_fetch_add(&sp_store.dumping, 1, __ATOMIC_SEQ_CST);
	if (sp_lock_try(&sp_store.lock, &lock_state, 1000))
		sp_lock_give(&sp_store.lock, &lock_state);
}

static void end_reading(void)
{
	__atomic_fetch_sub(&sp_store.dumping, 1, __ATOMIC_SEQ_CST);
}

int sp_end_open_model(struct sp_model *m)
{
	int r;

	if (!sp_store.header || !sp_process_is_ours())
		return -ENODATA;
	begin_reading();
	r = sp_model_open(m, &sp_store.reader);
	if (r < 0)
		end_reading();
	return r;
}

void sp_end_close_model(struct sp_model *m)
{
	sp_model_close(m);
	end_reading();
}

/* Open the model, write it, close it. Call it between enter() and leave(). `path` NULL: the
 * configured name and formats. */
static int dump(enum sp_end end, const char *path, const struct sp_format_writer *writer)
{
	struct sp_quiet quiet;
	struct sp_fpu fpu;
	struct sp_model m;
	struct sp_selection s = { .m = &m };
	int r;

	if (!file_is_whole()) {
		failed(sp_conf.output, -ESTALE);
		return -ESTALE;
	}
	sp_attached_scan();
	sp_process_report_truncated();
	output.own_start_ns = sp_process_start_ns();
	store_relaxed(&sp_store.header->process.end_ns, sp_now_ns());
	store_relaxed(&sp_store.header->end_boot_ns, sp_boot_ns());
	begin_reading();
	sp_counting_store_sum();
	sp_quiet_begin(&quiet);
	sp_fpu_begin(&fpu);
	sp_sites_name(load_relaxed(&finishing) == (uint32_t)sp_sys(SYS_gettid));
	r = sp_model_open(&m, &sp_store.reader);
	if (r < 0 && (r != -ENOMEM || (path && !can_write(writer, &m)))) {
		failed(sp_conf.output, r);
	} else {
		m.h.end = end;
		r = path ? sp_output_write(&output, path, sp_process_output_vars(), writer, &s)
			 : write_all(&s);
		sp_model_close(&m);
	}
	sp_fpu_end(&fpu);
	sp_quiet_end(&quiet);
	end_reading();
	return r;
}

/* Write with the real user's credentials: a privileged program did not choose the output's name. */
static int dump_as_user(enum sp_end end)
{
	struct sp_fs_creds creds;
	int r = sp_fs_creds_drop(&creds);

	if (r < 0) {
		failed(sp_conf.output, r);
		return r;
	}
	r = dump(end, NULL, NULL);
	sp_fs_creds_restore(&creds);
	return r;
}

static bool is_last(enum sp_end end)
{
	return end == SP_END_EXIT || end == SP_END__EXIT;
}

/* ms; recording takes 20 ns, but its thread may wait for a CPU */
#define TRIES	10

/* Disable the fast path, so that each later reading calls sp_end_dump_again. Returns the number of
 * threads whose record began before and is still unfinished. A thread checks both flags after it
 * has stored the data that others see within a microsecond. */
static unsigned begin_end(enum sp_end end)
{
	struct sp_process_stat p;
	unsigned booking = 0;

	is_single_thread = sp_process_stat(0, 0, &p) && p.threads == 1;
	if (is_single_thread && end == SP_END_EXEC)	/* exec may fail */
		return 0;
	__atomic_store_n(&sp_process.dumped, true, __ATOMIC_SEQ_CST);
	sp_sets_disable_fast_path();
	for (uint64_t now = sp_boot_ns(); !is_single_thread && sp_boot_ns() - now < 5000;)
		;			/* spin: in a sleep another thread could end the process */
	for (int i = 0;
	     !is_single_thread && i < TRIES && (booking = sp_sets_others_recording()) != 0; i++)
		delay();
	return booking;
}

/* Write one dump, even if two threads end the process, unless readings were recorded in between. */
static void dump_once(enum sp_end end)
{
	unsigned booking;

	if (is_last(end) && load_relaxed(&is_dump_done) &&
	    (!load_relaxed(&is_recorded_since) || load_relaxed(&is_dump_repeated)))
		return;
	if (is_last(end))
		store_relaxed(&exit_thread, (uint32_t)sp_sys(SYS_gettid));
	store_relaxed(&is_dump_done, false);
	store_relaxed(&is_dump_repeated, load_relaxed(&stopping_thread) != 0);
	do {
		store_relaxed(&is_recorded_since, false);
		booking = begin_end(end);
		/* set it before the dump: recover uses files written since then in place of the
		 * live file */
		store_relaxed(&sp_store.header->process.end_ns, sp_now_ns());
		store_release(&sp_store.header->end, end);
		store_relaxed(&is_dump_written, dump_as_user(end) == 0);
	} while (booking && sp_sets_others_recording() < booking);
	last_end = end;
	store_relaxed(&is_dump_done, is_last(end));
}

/* Make other threads' PAPI calls wait from now on, after their record, until the process has ended.
 * Without sspapi it would end within microseconds, and a dump cannot contain readings that are made
 * while it is written. */
static void stop_others(void)
{
	uint32_t nobody = 0;

	(void)__atomic_compare_exchange_n(&stopping_thread, &nobody, (uint32_t)sp_sys(SYS_gettid),
					  false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void dump_at(enum sp_end end, bool has_to_stop_others)
{
	int saved = errno;

	if (!sp_process_is_ours() || !sp_store.header)
		return;
	if (!load_relaxed(&has_event_set)) { /* PAPI was called, but no event set was made */
		if (*sp_store.region.path)
			finish_live_file(true);
		return;
	}
	if (has_to_stop_others)
		stop_others();
	if (enter()) {
		store_release(&writing_since_ns, sp_boot_ns());
		dump_once(end);
		if (is_single_thread || load_relaxed(&stopping_thread))
			finish_live_file(is_dump_written);
		store_release(&writing_since_ns, 0);
		/* otherwise another thread could begin a dump that the new program cuts off */
		if (end != SP_END_EXEC)
			leave();
	} else if (is_last(end)) {
		store_relaxed(&is_ending, true); /* other threads need not wait as long */
	}
	errno = saved;
}

/* Undo stop_others and leave after a failed exec. */
static void after_exec(void)
{
	uint32_t own = (uint32_t)sp_sys(SYS_gettid);

	if (load_relaxed(&stopping_thread) == own && !load_relaxed(&is_dump_done)) {
		sp_process.dumped = false;
		store_relaxed(&stopping_thread, 0);
	}
	if (load_relaxed(&exit_winner) == own)
		leave();
}

int sp_end_snapshot(const char *path, const struct sp_format_writer *writer)
{
	int r;

	if (!sp_store.header || !sp_process_is_ours())
		return -ENODATA;
	if (!enter())
		return -EBUSY;
	r = path ? dump(SP_END_SNAPSHOT, path, writer) : dump_as_user(SP_END_SNAPSHOT);
	leave();
	return r;
}

/* without a dump in progress: libc only flushes its streams then */
#define FLUSH_WAIT_MS	2000

/* Delay a thread that has recorded a reading and would return to the program. */
static void wait_for_end(void)
{

	for (int ms = 0; ms < FLUSH_WAIT_MS && load_relaxed(&stopping_thread);
	     ms += !load_relaxed(&exit_winner))
		delay();
	/* the reader of the program's output may have stalled */
	if (load_relaxed(&stopping_thread)) {
		store_relaxed(&are_others_released, true);
		store_relaxed(&stopping_thread, 0);
	}
}

/* Write again, but at once only in the thread that runs the exit: other threads may be killed at
 * any point from now on, and would leave partial files. */
void sp_end_dump_again(void)
{
	uint32_t own = (uint32_t)sp_sys(SYS_gettid), who;
	int saved = errno;

	if (load_relaxed(&is_dump_done))
		/* recover must not take the dump for complete */
		store_release(&sp_store.header->end, SP_END_NONE);
	__atomic_store_n(&is_recorded_since, true, __ATOMIC_SEQ_CST);
	who = __atomic_load_n(&stopping_thread, __ATOMIC_SEQ_CST);
	if (who && who != own)
		wait_for_end();
	if (load_relaxed(&is_dump_done) &&
	    (load_relaxed(&are_others_released) || load_relaxed(&exit_thread) == own)) {
		store_relaxed(&is_dump_repeated, false);
		dump_at(last_end, false);
	}
	errno = saved;
}

/* If other threads still count, at_last writes the dump; until then the live file has the counts.
 * Without a live file write a snapshot now. */
__attribute__((destructor)) static void at_exit(void)
{
	store_relaxed(&finishing, (uint32_t)sp_sys(SYS_gettid));
	if (!sp_process_is_ours() || !sp_store.header || !sp_sets_others_running())
		dump_at(SP_END_EXIT, false);
	else if (!*sp_store.region.path || sp_store.region.torn)
		(void)sp_end_snapshot(NULL, NULL);
}

#define EXPORT __attribute__((visibility("default")))

/* The functions that exit.c wraps. Find them at the start: in a child of fork the loader's lock may
 * be taken for ever. */
static const char *const names[] = { "exit",	"execve",  "execv",    "execvp",
				     "execvpe", "fexecve", "execveat", "abort" };
SP_AT_START static void *real_function[SP_COUNT(names)];

static void *next(const char *name)
{
	unsigned i = 0;

	while (strcmp(names[i], name) != 0)
		i++;
	if (!real_function[i])
		real_function[i] = sp_real_dlsym(RTLD_NEXT, name);
	return real_function[i];
}

/* ---- several threads that end the process ------------------------------- */

static bool may_be_dumped(void)
{
	return sp_process_is_ours() && sp_store.header && load_relaxed(&has_event_set) &&
	       !load_relaxed(&is_ending) &&
	       load_relaxed(&exit_winner) != (uint32_t)sp_sys(SYS_gettid);
}

static bool has_live_file(void)
{
	return *sp_store.region.path && !load_acquire(&is_live_file_done) &&
	       (load_relaxed(&is_dump_written) || sp_store.region.truncated);
}

/* Returns whether there is something to wait for, to write, or to remove. */
static bool to_be_dumped(void)
{
	return may_be_dumped() &&
	       (!load_relaxed(&is_dump_done) ||
		(load_relaxed(&is_recorded_since) && !load_relaxed(&is_dump_repeated)) ||
		has_live_file());
}

/* Stop the other threads' readings, so that those since the dump can be written once more. Returns
 * false if all is written and the live file is removed. A thread that did not wait for the removal
 * ended the process before it. */
static bool finish_others(void)
{
	if (may_be_dumped())
		stop_others();
	if (to_be_dumped())
		return true;
	if (sp_process_is_ours() && load_relaxed(&is_dump_done))
		store_relaxed(&is_ending, true);
	return false;
}

/* Report once that nothing was counted, if `sspapi run` announced a file of counts. */
static void report_no_counts(void)
{
	const char *path = sp_process_announced_path();
	static bool was_reported;

	if (!sp_process_has_announced_dump() || load_relaxed(&has_event_set) ||
	    (*path && sp_sys(SYS_faccessat, AT_FDCWD, path, F_OK) != -ENOENT) ||
	    __atomic_exchange_n(&was_reported, true, __ATOMIC_RELAXED))
		return;
	(void)sp_diag(SP_DIAG_WARNING,
		      *path ? "no file was written: this process and its children created no "
			      "event set"
			    : "no file was written: this process created no event set");
}

/* Delay the end of the process until the dump is written. A second thread that calls exit, or
 * returns from main, does not run functions that the first one has begun. It would end the process.
 * at_last is the last function on libc's list; it registers itself again for a third thread. */
static void at_last(int status, void *arg)
{
	uint32_t own = (uint32_t)sp_sys(SYS_gettid);

	(void)status, (void)arg;
	report_no_counts();
	if (finish_others()) {
		on_exit(at_last, NULL);
		sp_cas(&list_turn, &own, 0);
		dump_at(SP_END_EXIT, true);
	}
}

/* A turn takes 1 us; give up if one of the program's handlers is slow. */
#define TURN_MS	2000

/* Take turns after the first thread. While at_last is off libc's list, a third thread would find
 * the list empty and end the process before the dump. (Seen in 5 of 20 runs of 16 threads on an
 * emulated aarch64.) One thread more may return from main: at_last is registered twice. */
static void before_exit(void)
{
	uint32_t first = 0, own = (uint32_t)sp_sys(SYS_gettid);

	if (!sp_store.header || !sp_process_is_ours() || sp_cas(&first_exiter, &first, own) ||
	    first == own)
		return;
	for (int tries = 0; tries < TURN_MS && to_be_dumped(); tries++) {
		first = 0;
		if (sp_cas(&list_turn, &first, own) || first == own)
			return;
		delay();
	}
}

EXPORT __attribute__((noreturn)) void exit(int status)
{
	void (*real)(int) = (void (*)(int))next("exit");

	before_exit();
	for (;;)
		real(status);
}

/* ---- calls that do not run destructors ---------------------------------- */

EXPORT __attribute__((noreturn)) void _exit(int status)
{
	report_no_counts();
	dump_at(SP_END__EXIT, true);
	for (;;)
		(void)sp_sys(SYS_exit_group, status);
}

EXPORT __attribute__((noreturn)) void _Exit(int status)
{
	_exit(status);
}

/* Delay abort while a dump of the end is written, since without sspapi the process would have
 * ended. Then delay it by the time by which it came after the start of the dump. */
static void wait_for_dump(void)
{
	struct timespec as_late;
	uint64_t began, late;

	for (int tries = 0;
	     (began = load_acquire(&writing_since_ns)) != 0 && tries < DUMP_WAIT_MS &&
	     load_relaxed(&exit_winner) != (uint32_t)sp_sys(SYS_gettid) && sp_process_is_ours();) {
		late = sp_boot_ns() - began;
		while (load_acquire(&writing_since_ns) == began && tries++ < DUMP_WAIT_MS)
			delay();
		as_late = (struct timespec){ (time_t)(late / 1000000000u),
					     (long)(late % 1000000000u) };
		(void)sp_sys(SYS_nanosleep, &as_late, NULL);
	}
}

EXPORT __attribute__((noreturn)) void abort(void)
{
	void (*real)(void) = (void (*)(void))next("abort");

	wait_for_dump();
	for (;;)
		real();
}

/* Register a function without an object. libc removes those of an object when another thread's exit
 * ends the object (_dl_fini). quick_exit would then end the process before the live file is
 * removed. */
int __cxa_at_quick_exit(void (*function)(void *), void *object);

/* Serves quick_exit, which has another list. Its handlers run in reverse order and may call
 * PAPI. */
static void at_quick(void *arg)
{
	(void)arg;
	if (finish_others()) {
		__cxa_at_quick_exit(at_quick, NULL);
		dump_at(SP_END_EXIT, true);
	}
}

/* threads in quick_exit at once; libc has room for 32 functions */
#define QUICK	24

__attribute__((constructor)) static void at_start(void)
{
	struct sp_pending_error pending;

	on_exit(at_last, NULL);
	on_exit(at_last, NULL);
	for (unsigned i = 0; i < QUICK; i++)
		__cxa_at_quick_exit(at_quick, NULL);
	sp_dlerror_keep(&pending);
	for (unsigned i = 0; i < SP_COUNT(names); i++)
		next(names[i]);
	sp_dlerror_back(&pending);
}

/* Make execve, execv, execvp, execvpe, fexecve and execveat, which write a dump first. If exec
 * fails, a later dump replaces it. */
#define EXEC(name, params, args) \
	EXPORT int name params \
	{ \
		int (*real) params = (int (*) params)next(#name); \
		dump_at(SP_END_EXEC, true); \
		int rc = real args; \
		after_exec(); \
		return rc; \
	}

EXEC(execve, (const char *path, char *const argv[], char *const envp[]), (path, argv, envp))
EXEC(execv, (const char *path, char *const argv[]), (path, argv))
EXEC(execvp, (const char *file, char *const argv[]), (file, argv))
EXEC(execvpe, (const char *file, char *const argv[], char *const envp[]), (file, argv, envp))
EXEC(fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, envp))
EXEC(execveat, (int dir, const char *path, char *const argv[], char *const envp[], int flags),
     (dir, path, argv, envp, flags))

/* Collect variadic arguments on the stack, for execl, execlp and execle: exec must not call malloc
 * in a child of fork. */
#define COUNT(last, n) \
	do { \
		va_list ap; \
		va_start(ap, last); \
		for (n = 1; va_arg(ap, const char *); n++) \
			; \
		va_end(ap); \
	} while (0)

#define COLLECT(last, argv, n, real_function) \
	do { \
		va_list ap; \
		argv[0] = (char *)last; \
		va_start(ap, last); \
		for (size_t i = 1; i <= n; i++) \
			argv[i] = va_arg(ap, char *); \
		real_function; \
		va_end(ap); \
	} while (0)

EXPORT int execl(const char *path, const char *arg, ...)
{
	size_t n;

	COUNT(arg, n);
	char *argv[n + 1];
	COLLECT(arg, argv, n, (void)0);
	return execv(path, argv);
}

EXPORT int execlp(const char *file, const char *arg, ...)
{
	size_t n;

	COUNT(arg, n);
	char *argv[n + 1];
	COLLECT(arg, argv, n, (void)0);
	return execvp(file, argv);
}

EXPORT int execle(const char *path, const char *arg, ...)
{
	char *const *environment;
	size_t n;

	COUNT(arg, n);
	char *argv[n + 1];
	COLLECT(arg, argv, n, environment = va_arg(ap, char *const *));
	return execve(path, argv, environment);
}
