/* exit.c: see exit.h.
 *
 * Stands in front of _exit, _Exit and the exec family, which do not run the destructor
 * below; of exit, which several threads may call at once; and of abort, which waits for a
 * dump that is being written.  After abort and fatal signals the live file is what is left.
 *
 * A dump at exit: at_exit (the destructor) or at_last (last on libc's list) call dump_at,
 * that dump_once, dump_as_user, dump, write_all, write_one; then finish_live_file.
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

static bool expected;
static uint32_t exit_winner;			/* the thread that writes (enter); 0: none */
static struct sp_output output;
static enum sp_end last_end;
static uint32_t leaving;		/* the thread that called exit first; 0: none */
static uint32_t turn;			/* the one that has its turn at libc's list; 0: none */
static uint32_t ending;			/* the thread that runs the exit */
SP_AT_START static uint32_t finishing;		/* the thread in which libc runs destructors: it has
						 * just had the loader's lock */
static bool ended;			/* the dump of the end was made, or could not be */
static bool since;			/* something was booked since that began */
static bool closed;			/* the process ends now: who comes has nothing to wait
					 * for */
static bool cut;			/* standard error took no more of this dump */
static bool repeated;			/* what was booked since is written, too, and nobody books
					 * any more */
static bool written;			/* the last dump of the end was, whole */
static bool is_live_file_done;			/* the live file was removed, or could not be; not
						 * before: who sees it ends the process */
static bool alone;			/* when it was begun, no other thread was there to book */
static uint64_t writing;			/* boot ns: when a dump of the end was begun; 0:
						 * none is written */
static uint32_t ending_thread;			/* the thread that ends the process now: the others'
						 * readings wait; 0: none */
static bool loose;			/* they have waited long enough */

void sp_end_expect_dump(void)
{
	store_relaxed(&expected, true);
}

void sp_end_child(void)
{
	expected = false;
	exit_winner = leaving = turn = ending_thread = finishing = 0;
	memset(&output, 0, sizeof(output));
	last_end = SP_END_NONE;
	writing = 0;
	ended = since = closed = repeated = loose = is_live_file_done = false;
}

/* ---- where to --------------------------------------------------------- */

#define DEV_TTY		makedev(5, 0)	/* in every Linux */

static bool is_fifo(const char *path)
{
	struct stat s = { 0 };

	return sp_sys(SYS_newfstatat, AT_FDCWD, path, &s, 0) == 0 && S_ISFIFO(s.st_mode);
}

/* ENXIO. */
static const char *why_none(const char *path)
{
	struct stat s = { 0 };

	(void)sp_sys(SYS_newfstatat, AT_FDCWD, path, &s, 0);
	return S_ISFIFO(s.st_mode) ? "nobody reads this FIFO"
	       : S_ISSOCK(s.st_mode)
		       ? "a socket cannot be opened by a name (standard error is SSPAPI_OUTPUT=-)"
	       : s.st_rdev == DEV_TTY ? "this process has no terminal"
				      : sp_diag_error(ENXIO);
}

static const char *why(const char *path, int error)
{
	switch (error) {
	case -ENXIO:
		return why_none(path);
	case -ETIMEDOUT:
		return "whoever reads this takes nothing";
	case -EPERM:
		return is_fifo(path) ? "this FIFO is another user's" : sp_diag_error(error);
	default:
		return sp_parent_dir_error(error) ?: sp_diag_error(error);
	}
}

/* One line, with the mend: if there is a live file, it stays.  One that could not grow has only the
 * first relations, or none. */
static void failed(const char *path, int error)
{
	const char *live = sp_store.region.path;
	char text[SP_CONF_PATH + 800];
	struct sp_out o;

	sp_out_init(&o, -1, text, sizeof(text) - 1);
	sp_out_text(&o, path);
	sp_out_text(&o, ": ");
	if (sp_store.region.truncated)
		sp_out_text(&o, "counts are lost, since somebody truncated the live file");
	else
		sp_out_text(&o, why(path, error));
	if (*live && !sp_store.region.truncated) {
		bool torn = sp_store.region.torn, any = !torn || load_relaxed(&sp_store.in_file);

		if (any) {
			sp_out_text(&o, "; `sspapi recover` makes ");
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

/* What could not be said meanwhile is a note of this dump, too. */
static void gather_notes(struct sp_model *m)
{
	m->h.lists.notes = sp_store.header->lists.notes;
	m->h.kept.notes = sp_store.header->kept.notes;
}

/* What standard error did not take, and no live file has: to the default's name. */
static int write_other_file(const struct sp_format_writer *v, const struct sp_selection *s)
{
	/* one dump at a time */
	static char path[SP_CONF_PATH], name[SP_CONF_PATH], text[SP_CONF_PATH + 100];
	int r = sp_output_expand(path, sizeof(path), sp_conf_rows[0].fallback, sp_process_who());

	if (r == 0)
		r = sp_output_name_for(name, sizeof(name), path, v);
	if (r < 0)
		return r;
	sp_process_note(sp_text_f(
		text, sizeof(text),
		"nobody reads standard error: the dump is cut off there, and all of it is in %s",
		name));
	gather_notes(s->m);
	return sp_output_write(&output, name, sp_process_who(), v, s);
}

static int write_error(const struct sp_format_writer *v, const struct sp_selection *s)
{
	int fd = sp_diag_descriptor(), r = cut	    ? -ETIMEDOUT
					   : fd < 0 ? 0
						    : sp_output_write_fd(fd, false, v, s);

	cut = r == -ETIMEDOUT;
	if (cut && (!*sp_store.region.path || sp_store.region.torn))
		r = write_other_file(v, s);
	if (r < 0)
		failed("standard error", r);
	return r;
}

/* Without memory for a model, that is the store as it is. */
static bool can_write(const struct sp_format_writer *v, const struct sp_model *m)
{
	return m->memory || v->can & SP_CAN_READ;
}

/* `was_reported`: a form before this one could not be written, for the same reason, as a rule. */
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
		r = sp_output_write(&output, rename_it ? path : name, sp_process_who(), v, s);
	if (r < 0 && !was_reported)
		failed(rename_it ? path : name, r);
	else if (r == 0)
		sp_process_diag(SP_DIAG_DETAIL, "dump written", output.path);
	return r;
}

/* What the text says of where to look further: the store that is written beside it, by its name if
 * nobody else has that. */
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

/* 0 if all of it is written. */
static int write_all(struct sp_selection *s)
{
	const char *p = sp_conf.format;
	const struct sp_format_writer *v = sp_format_writer_by_extension(sp_conf.output);
	/* One form alone goes to the name as given; the default's name was not given. */
	bool several = strchr(p, ',') != NULL || !sp_conf.output_set;
	char name[SP_CONF_PATH];
	int r = sp_output_expand(name, sizeof(name), sp_conf.output, sp_process_who());

	if (r < 0) {
		failed(sp_conf.output, r);
		return r;
	}
	several = several && !sp_output_is_special(name);
	cut = false;
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

/* Does the live file's folder have another name by now, or none (chroot, pivot_root)? */
static bool dir_moved(const char *path)
{
	char dir[sizeof(sp_store.region.path)];
	struct stat s;

	strcpy(dir, path);
	*strrchr(dir, '/') = 0;
	return sp_sys(SYS_newfstatat, AT_FDCWD, dir, &s, 0) < 0 ||
	       (uint64_t)s.st_dev != sp_store.region.file_dev;
}

/* The live file has done its work once a dump of the end is safe; if that could not
 * be written, it is what is left. */
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
		return;			/* (gone before us) */
	strcpy(text, path);
	strcat(text, r == -ENOENT ? ": this process has another root directory by now" : ": ");
	if (r != -ENOENT)
		strncat(text, sp_diag_error((int)r), 100);
	sp_process_diag(SP_DIAG_WARNING, "the live file is to be removed, and could not be", text);
}

static void delay(void)
{
	struct timespec ms = { 0, 1000000 };

	(void)sp_sys(SYS_nanosleep, &ms, NULL);
}

/* ---- the door --------------------------------------------------------- */

#define DUMP_WAIT_MS	30000			/* a large dump on a slow disk */

/* Whoever comes while another thread writes waits for it, since it may be about to
 * end the process; not for ever, since that thread may be stopped.  A handler on
 * top of our own writing goes on. */
static bool enter(void)
{
	uint32_t own = (uint32_t)sp_sys(SYS_gettid), who = 0;

	for (int tries = 0; tries < DUMP_WAIT_MS; tries++) {
		if (load_relaxed(&closed) && load_relaxed(&ending) != own)
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

/* Has nobody cut the live file?  To touch a page that is gone would end the program. */
static bool file_is_whole(void)
{
	struct sp_region *r = &sp_store.region;
	const struct sp_piece *last = &r->piece[load_acquire(&r->pieces) - 1];
	/* before the look: another thread may make it grow */
	uint64_t had = last->off + load_acquire(&last->ready);
	struct stat s;

	if (*r->path && !r->torn &&
	    sp_sys(SYS_newfstatat, AT_FDCWD, r->path, &s, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (uint64_t)s.st_size < had)
		r->torn = r->truncated = true;
	return !r->truncated;
}

/* Nothing leaves the lists while we read them; what was about to has. */
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

/* Opens the model, writes, closes it. Between enter() and leave(). `path` NULL: the output's own
 * name and forms. */
static int dump(enum sp_end how, const char *path, const struct sp_format_writer *view)
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
	sp_counting_sum();
	sp_quiet_begin(&quiet);
	sp_fpu_begin(&fpu);
	sp_sites_name(load_relaxed(&finishing) == (uint32_t)sp_sys(SYS_gettid));
	r = sp_model_open(&m, &sp_store.reader);
	if (r < 0 && (r != -ENOMEM || (path && !can_write(view, &m)))) {
		failed(sp_conf.output, r);
	} else {
		m.h.end = how;
		r = path ? sp_output_write(&output, path, sp_process_who(), view, &s)
			 : write_all(&s);
		sp_model_close(&m);
	}
	sp_fpu_end(&fpu);
	sp_quiet_end(&quiet);
	end_reading();
	return r;
}

/* To the output's name, which is not the program's own choice. */
static int dump_as_user(enum sp_end how)
{
	struct sp_fs_creds creds;
	int r = sp_fs_creds_drop(&creds);

	if (r < 0) {
		failed(sp_conf.output, r);
		return r;
	}
	r = dump(how, NULL, NULL);
	sp_fs_creds_restore(&creds);
	return r;
}

static bool is_last(enum sp_end how)
{
	return how == SP_END_EXIT || how == SP_END__EXIT;
}

#define TRIES	10			/* ms; a booking takes 20 ns, but its thread may wait for a
					 * CPU */

/* From here on each booking is told of (sp_end_again): how many are under way that began before
 * that, and are not. A booking looks at both flags when it has stored what others see within a
 * microsecond. */
static unsigned begin_end(enum sp_end how)
{
	struct sp_process_stat p;
	unsigned booking = 0;

	alone = sp_process_stat(0, 0, &p) && p.threads == 1;
	if (alone && how == SP_END_EXEC)	/* which may fail */
		return 0;
	__atomic_store_n(&sp_process.dumped, true, __ATOMIC_SEQ_CST);
	sp_sets_disable_fast_path();
	for (uint64_t now = sp_boot_ns(); !alone && sp_boot_ns() - now < 5000;)
		;			/* (a nap would let others end the process) */
	for (int i = 0; !alone && i < TRIES && (booking = sp_sets_others_booking()) != 0; i++)
		delay();
	return booking;
}

/* Two threads that end the process have one dump, if nothing was booked between. */
static void dump_once(enum sp_end how)
{
	unsigned booking;

	if (is_last(how) && load_relaxed(&ended) &&
	    (!load_relaxed(&since) || load_relaxed(&repeated)))
		return;
	if (is_last(how))
		store_relaxed(&ending, (uint32_t)sp_sys(SYS_gettid));
	store_relaxed(&ended, false);
	store_relaxed(&repeated, load_relaxed(&ending_thread) != 0);
	do {
		store_relaxed(&since, false);
		booking = begin_end(how);
		/* first: recover takes files since then for this dump */
		store_relaxed(&sp_store.header->process.end_ns, sp_now_ns());
		store_release(&sp_store.header->end, how);
		store_relaxed(&written, dump_as_user(how) == 0);
	} while (booking && sp_sets_others_booking() < booking);
	last_end = how;
	store_relaxed(&ended, is_last(how));
}

/* Other threads that call PAPI from now on book, and get no answer until the process has ended:
 * natively it ends within microseconds, and no dump could have what they count while one is
 * written. */
static void stop_others(void)
{
	uint32_t nobody = 0;

	(void)__atomic_compare_exchange_n(&ending_thread, &nobody, (uint32_t)sp_sys(SYS_gettid),
					  false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void dump_at(enum sp_end how, bool has_to_stop_others)
{
	int saved = errno;

	if (!sp_process_is_ours() || !sp_store.header)
		return;
	if (!load_relaxed(&expected)) {		/* PAPI was called, but there is nothing to show */
		if (*sp_store.region.path)
			finish_live_file(true);
		return;
	}
	if (has_to_stop_others)
		stop_others();
	if (enter()) {
		store_release(&writing, sp_boot_ns());
		dump_once(how);
		if (alone || load_relaxed(&ending_thread))
			finish_live_file(written);
		store_release(&writing, 0);
		if (how != SP_END_EXEC)		/* nobody begins what the new program would end */
			leave();
	} else if (is_last(how)) {
		store_relaxed(&closed, true);		/* nobody else waits that long */
	}
	errno = saved;
}

/* exec has failed. */
static void after_exec(void)
{
	uint32_t own = (uint32_t)sp_sys(SYS_gettid);

	if (load_relaxed(&ending_thread) == own && !load_relaxed(&ended)) {
		sp_process.dumped = false;
		store_relaxed(&ending_thread, 0);
	}
	if (load_relaxed(&exit_winner) == own)
		leave();
}

int sp_end_snapshot(const char *path, const struct sp_format_writer *view)
{
	int r;

	if (!sp_store.header || !sp_process_is_ours())
		return -ENODATA;
	if (!enter())
		return -EBUSY;
	r = path ? dump(SP_END_SNAPSHOT, path, view) : dump_as_user(SP_END_SNAPSHOT);
	leave();
	return r;
}

#define FLUSH_WAIT_MS	2000			/* without a dump that is being written: libc
						 * flushes its streams then, no more */

/* By a thread that has booked, and would return to the program. */
static void wait_for_end(void)
{

	for (int ms = 0; ms < FLUSH_WAIT_MS && load_relaxed(&ending_thread);
	     ms += !load_relaxed(&exit_winner))
		delay();
	/* (who reads the program's output stalls, perhaps) */
	if (load_relaxed(&ending_thread)) {
		store_relaxed(&loose, true);
		store_relaxed(&ending_thread, 0);
	}
}

/* At once only by the thread that runs the exit: the others may be ended anywhere from now on,
 * and would leave pieces of a dump behind. */
void sp_end_again(void)
{
	uint32_t own = (uint32_t)sp_sys(SYS_gettid), who;
	int saved = errno;

	if (load_relaxed(&ended))
		store_release(&sp_store.header->end, SP_END_NONE);	/* recover does not take the
									 * dump for all there is */
	__atomic_store_n(&since, true, __ATOMIC_SEQ_CST);
	who = __atomic_load_n(&ending_thread, __ATOMIC_SEQ_CST);
	if (who && who != own)
		wait_for_end();
	if (load_relaxed(&ended) && (load_relaxed(&loose) || load_relaxed(&ending) == own)) {
		store_relaxed(&repeated, false);
		dump_at(last_end, false);
	}
	errno = saved;
}

/* Where other threads count on, at_last makes the dump; until then the live file has it all, and
 * where there is none, a snapshot what there is now. */
__attribute__((destructor)) static void at_exit(void)
{
	store_relaxed(&finishing, (uint32_t)sp_sys(SYS_gettid));
	if (!sp_process_is_ours() || !sp_store.header || !sp_sets_others_running())
		dump_at(SP_END_EXIT, false);
	else if (!*sp_store.region.path || sp_store.region.torn)
		(void)sp_end_snapshot(NULL, NULL);
}

#define EXPORT __attribute__((visibility("default")))

/* What we stand in front of here: looked up at the beginning, since a child of fork may find the
 * loader's lock taken for ever, and one that only execs needs none without us. */
static const char *const names[] = { "exit",	"execve",  "execv",    "execvp",
				     "execvpe", "fexecve", "execveat", "abort" };
SP_AT_START static void *behind[SP_COUNT(names)];

static void *next(const char *name)
{
	unsigned i = 0;

	while (strcmp(names[i], name) != 0)
		i++;
	if (!behind[i])
		behind[i] = sp_real_dlsym(RTLD_NEXT, name);
	return behind[i];
}

/* ---- a second thread that ends the process ---------------------------- */

static bool may_be_dumped(void)
{
	return sp_process_is_ours() && sp_store.header && load_relaxed(&expected) &&
	       !load_relaxed(&closed) && load_relaxed(&exit_winner) != (uint32_t)sp_sys(SYS_gettid);
}

static bool has_live_file(void)
{
	return *sp_store.region.path && !load_acquire(&is_live_file_done) &&
	       (load_relaxed(&written) || sp_store.region.truncated);
}

/* Is there something to wait for, to write, or to remove? */
static bool to_be_dumped(void)
{
	return may_be_dumped() &&
	       (!load_relaxed(&ended) || (load_relaxed(&since) && !load_relaxed(&repeated)) ||
		has_live_file());
}

/* The last of the exit that is not libc's own.  What other threads have booked since the dump is
 * written once more: from here on they book no more.  False: all is written, and the live file
 * gone: in the door, at which the others wait.  (One that had not waited ended the process when
 * another was about to remove it.) */
static bool finish(void)
{
	if (may_be_dumped())
		stop_others();
	if (to_be_dumped())
		return true;
	if (sp_process_is_ours() && load_relaxed(&ended))
		store_relaxed(&closed, true);
	return false;
}

/* A line has told where the counts go: where there are none another says so, once. */
static void keep_promise(void)
{
	static bool was_reported;

	if (!sp_process_is_promised() || load_relaxed(&expected) ||
	    __atomic_exchange_n(&was_reported, true, __ATOMIC_RELAXED))
		return;
	(void)sp_diag(SP_DIAG_WARNING, "nothing was counted, so no file was written: this process "
				       "has made no event set of PAPI");
}

/* A second thread that calls exit, or returns from main, finds the lists of libc without what the
 * first one has begun, and ends the process under it.  The last on its list is this, which waits;
 * and leaves itself there for a third. */
static void at_last(int status, void *arg)
{
	uint32_t own = (uint32_t)sp_sys(SYS_gettid);

	(void)status, (void)arg;
	keep_promise();
	if (finish()) {
		on_exit(at_last, NULL);
		sp_cas(&turn, &own, 0);
		dump_at(SP_END_EXIT, true);
	}
}

#define TURN_MS	2000			/* a turn takes 1 us; one in a long handler of the program's
					 * keeps nobody for ever */

/* From when libc takes at_last off its list until that is there again, a third thread would find
 * the list empty, and end the process before the dump (seen on an emulated aarch64, in 5 of 20 runs
 * of 16 threads).  So after the first thread they take turns.  (One more may return from main:
 * at_last is there twice.) */
static void before_exit(void)
{
	uint32_t first = 0, own = (uint32_t)sp_sys(SYS_gettid);

	if (!sp_store.header || !sp_process_is_ours() || sp_cas(&leaving, &first, own) ||
	    first == own)
		return;
	for (int tries = 0; tries < TURN_MS && to_be_dumped(); tries++) {
		first = 0;
		if (sp_cas(&turn, &first, own) || first == own)
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

/* ---- calls that run no destructor ------------------------------------- */

EXPORT __attribute__((noreturn)) void _exit(int status)
{
	keep_promise();
	dump_at(SP_END__EXIT, true);
	for (;;)
		(void)sp_sys(SYS_exit_group, status);
}

EXPORT __attribute__((noreturn)) void _Exit(int status)
{
	_exit(status);
}

/* While a dump of the end is written the time of the others stands still: natively the process
 * would be gone.  Who aborts meanwhile does so as much later than its end as it came after its
 * beginning. */
static void wait_for_dump(void)
{
	struct timespec as_late;
	uint64_t began, late;

	for (int tries = 0; (began = load_acquire(&writing)) != 0 && tries < DUMP_WAIT_MS &&
			    load_relaxed(&exit_winner) != (uint32_t)sp_sys(SYS_gettid) &&
			    sp_process_is_ours();) {
		late = sp_boot_ns() - began;
		while (load_acquire(&writing) == began && tries++ < DUMP_WAIT_MS)
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

/* As at_quick_exit, but of no object's: when another thread's exit ends this one (_dl_fini), libc
 * would take our functions off the list, and quick_exit end the process before the live file is
 * gone. */
int __cxa_at_quick_exit(void (*function)(void *), void *object);

/* quick_exit: its handlers may call PAPI, and run in the opposite order; the list is another
 * one. */
static void at_quick(void *arg)
{
	(void)arg;
	if (finish()) {
		__cxa_at_quick_exit(at_quick, NULL);
		dump_at(SP_END_EXIT, true);
	}
}

#define QUICK	24			/* threads in quick_exit at once; libc has room for 32
					 * functions */

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

/* What exec leaves behind is this dump; if it fails, a later one replaces it. */
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

/* The same with the arguments in a row; on the stack, since exec must not need
 * malloc in a child of fork. */
#define COUNT(last, n) \
	do { \
		va_list ap; \
		va_start(ap, last); \
		for (n = 1; va_arg(ap, const char *); n++) \
			; \
		va_end(ap); \
	} while (0)

#define COLLECT(last, argv, n, behind) \
	do { \
		va_list ap; \
		argv[0] = (char *)last; \
		va_start(ap, last); \
		for (size_t i = 1; i <= n; i++) \
			argv[i] = va_arg(ap, char *); \
		behind; \
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
