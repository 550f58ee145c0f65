/* setup.c: the first PAPI call of a process or of its child: opens the store, fills in its header
 * and finds libpapi. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../core/base/cpu-list.h"
#include "../../core/base/safe-open.h"
#include "../../core/base/run-root.h"
#include "../../core/base/output.h"
#include "../../core/base/sys.h"
#include "../../core/formats/format-writer.h"
#include "../../core/store/live.h"
#include "../events/events.h"
#include "../events/sde.h"
#include "../handles/relations.h"
#include "../process/process.h"
#include "../process/diagnostic.h"
#include "../sets/sets.h"
#include "../callsites/callsites.h"
#include "../percpu/shadow-open.h"
#include "exit.h"
#include "snapshot.h"

#define CPUS	65536u			/* a set of them has 8 KiB */

static struct sp_lock setup;
/* not zeroed in a child, whose number must differ from its parent's */
static uint32_t generations;
/* the kernel zeroes sp_process in a child (MADV_WIPEONFORK) */
static bool wipes;

/* ---- the store's header ------------------------------------------------ */

static void store_args(struct sp_header *h)
{
	static char line[4096];
	const char *args[64];
	uint32_t n = 0;
	long got = sp_read_file("/proc/self/cmdline", line, sizeof(line));

	for (long i = 0; i < got && n < SP_COUNT(args); i += (long)strlen(line + i) + 1)
		args[n++] = line + i;
	h->process.args = sp_store_texts(&sp_store, n, args);
}

/* The default name has the extension of the format (preload/lifecycle/exit.c). */
static const char *default_name(char output[SP_CONF_PATH])
{
	const struct sp_format_writer *v =
		sp_format_writer_by_name(sp_conf.format, strlen(sp_conf.format));
	char other[SP_CONF_PATH];

	if (!sp_conf.output_set && v && sp_output_name_for(other, sizeof(other), output, v) == 0)
		strcpy(output, other);
	return output;
}

static void store_names(struct sp_header *h)
{
	const struct sp_output_vars *vars = sp_process_output_vars();
	char output[SP_CONF_PATH];

	h->process.host = sp_store_text(&sp_store, vars->host);
	h->process.exe = sp_store_text(&sp_store, sp_process_exe());
	h->process.cwd = sp_store_text(&sp_store, vars->dir);
	h->process.job = sp_store_text(&sp_store, vars->job);
	h->process.rank = vars->rank;
	if (strcmp(sp_conf.output, "-") != 0 &&
	    sp_output_expand(output, sizeof(output), sp_conf.output, vars) == 0)
		h->output = sp_store_text(&sp_store, default_name(output));
	h->format = sp_store_text(&sp_store, sp_conf.format);
}

static void store_identity(struct sp_header *h)
{
	struct sp_process_stat s = { 0 };
	struct stat ns;

	sp_process_stat(0, 0, &s);
	h->process.pid = (uint32_t)sp_sys(SYS_getpid);
	h->process.ppid = (uint32_t)s.ppid;
	h->process.start_ticks = s.start_ticks;
	h->process.start_ns = sp_process_start_ns();
	h->run = sp_run_find(h->process.start_ns).id;
	h->start_boot_ns = sp_boot_ns() - (sp_now_ns() - h->process.start_ns);
	if (sp_sys(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &ns, 0) == 0)
		h->process.pid_ns = ns.st_ino;
	if (sp_read_file("/proc/sys/kernel/random/boot_id", h->process.boot_id,
			 sizeof(h->process.boot_id)) > 0)
		h->process.boot_id[strcspn(h->process.boot_id, "\n")] = 0;
}

/* The CPUs on which the process may run; usually no runtime has pinned this thread yet. */
static sp_off cpus_allowed(void)
{
	unsigned long *set = sp_map(CPUS / 8);
	long bytes = set ? sp_sys(SYS_sched_getaffinity, 0, CPUS / 8, set) : -1;
	char text[2048];
	struct sp_out o;

	sp_out_init(&o, -1, text, sizeof(text) - 1);
	if (bytes > 0)
		sp_out_cpu_list(&o, set, (uint64_t)bytes);
	text[o.used] = 0;
	sp_unmap(set, CPUS / 8);
	return o.error ? 0 : sp_store_text(&sp_store, text);
}

static void fill_header(void)
{
	struct sp_header *h = sp_store.header;

	store_identity(h);
	store_names(h);
	store_args(h);
	h->call_names = sp_store_texts(&sp_store, SP_CALLS, sp_call_names);
	h->attribution = (uint32_t)sp_conf.attribution;
	h->readings = (uint32_t)sp_conf.readings;
	h->callsites = sp_sites_frames();
	h->readings_max = (uint64_t)sp_conf.readings_max;
	h->cpus_allowed = cpus_allowed();
}

_Static_assert(SP_CALLS <= SP_CALLS_MAX, "a thread's block counts every row of papi.def");

/* ---- setting up ------------------------------------------------------- */

static void complain(const char *line, void *arg)
{
	(void)arg;
	sp_diag_max_level = sp_conf.verbose;	/* read first */
	sp_process_diag(SP_DIAG_WARNING, line, "");
}

/* Reset everything that the child's memory has of its parent. */
static void forget_parent(void)
{
	sp_map_set_base();
	sp_real_child();
	sp_sets_forget(0);
	sp_sites_forget_all();
	sp_api_forget();
	sp_events_forget();
	sp_perf_fds_child();
	sp_percpu_child();
	sp_end_child();
	sp_store_close(&sp_store);
	sp_process_begin((int)sp_sys(SYS_getpid));
}

/* Open the store in a live file, or in private memory if that fails. */
static bool open_store(void)
{
	struct sp_process_stat s = { 0 };
	char path[512], text[SP_CONF_PATH + 256];
	const char *dir = strcmp(sp_conf.live, "1") == 0 ? SP_LIVE_DIR : sp_conf.live;
	int r;

	sp_process_name();
	if (strcmp(sp_conf.live, "0") == 0)
		return sp_store_open(&sp_store) == 0;
	sp_process_stat(0, 0, &s);
	r = sp_live_make(path, sizeof(path), sp_conf.live, sp_process_output_vars()->host,
			 (int)sp_sys(SYS_getpid), s.start_ticks);
	if (r == 0) {
		r = sp_store_open_file(&sp_store, path);
		if (r == 0)
			return true;
		(void)sp_sys(SYS_unlinkat, AT_FDCWD, path, 0);
	}
	/* The default folder may be missing in a container: report that in the dump only. */
	if (sp_store_open(&sp_store) < 0)
		return false;
	sp_text_f(text, sizeof(text),
		  "SSPAPI_LIVE: no live file can be created in %s (%s)%s; if this process is "
		  "killed, its counts are lost",
		  dir, sp_parent_dir_error(r) ?: sp_diag_error(r),
		  r == -ENOENT || r == -ENOTDIR ? ": name an existing folder" : "");
	(strcmp(sp_conf.live, "1") == 0 ? sp_process_note_quiet : sp_process_note)(text);
	return true;
}

/* Set the number of CPUs before the topology is loaded. Another thread may make a set meanwhile,
 * and must not wait, since it may have the loader's lock that loading needs. */
static void set_n_cpus(void)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF);

	if (configured > 0 && configured < 65536)
		sp_store_cpus(&sp_store, (uint32_t)configured);
}

static void set_up(void)
{
	int pid = (int)sp_sys(SYS_getpid);

	if (!sp_process_start_ns())
		sp_process_capture(environ);
	if (sp_process_pid && sp_process_pid != pid)
		forget_parent();
	if (!sp_process_pid) {
		sp_conf_read(&sp_conf, complain, NULL);
		sp_diag_max_level = sp_conf.verbose;
		wipes = sp_sys(SYS_madvise, &sp_process, sizeof(sp_process), MADV_WIPEONFORK) == 0;
	}
	sp_process_pid = pid;
	if (!sp_conf.disable && open_store()) {
		fill_header();
		sp_process_note_early();
		set_n_cpus();
		sp_process.unwinds = sp_sites_frames() > 1;
		sp_store_begin(&sp_store);
		sp_process.counting = true;
		sp_sde_begin();
		sp_snapshot_set_up();
	} else if (!sp_conf.disable) {
		sp_diag(SP_DIAG_ERROR, "no memory for a store; nothing is recorded");
	}
	store_release(&sp_process.generation, ++generations);
}

static bool second_reported;

static void papi_found(struct sp_papi *p)
{
	struct sp_lock_state lock_state;
	int version;

	if (!sp_store.header || sp_store.header->papi_library)
		return;
	sp_process_diag(SP_DIAG_DETAIL, "observing", p->path);
	version = p->real.PAPI_get_opt ? p->real.PAPI_get_opt(PAPI_LIB_VERSION, NULL) : 0;
	sp_lock_take(&sp_store.lock, &lock_state);
	sp_store.header->papi_library = sp_store_text(&sp_store, p->path);
	sp_store.header->papi_version = version > 0 ? (uint32_t)version : 0;
	sp_lock_give(&sp_store.lock, &lock_state);
	if (sp_papi_front == p->path) {
		char text[700] = "libpapi is part of ";

		strncat(text, sp_papi_front, 500);
		sp_process_note_quiet(strcat(text, " (libpapi.a): its calls inside another PAPI "
						   "call are treated as libpapi's own"));
	} else if (sp_papi_front) {
		char text[700] = "PAPI calls come through ";

		strncat(text, sp_papi_front, 500);
		sp_process_note_quiet(
			strcat(text, ", preloaded before sspapi: all call sites are in it"));
	}
}

/* most bytes of stack between a call and the calls that libpapi makes for it */
#define NESTED_MOST (256u << 10)

/* Returns whether libpapi makes this call, when another library wraps PAPI and all calls return to
 * it: then a PAPI call is in progress on this stack. The distance excludes most calls that longjmp
 * left behind. */
static bool is_nested(uintptr_t caller)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	if (!sp_thread_state.inside || !sp_real_in_front(caller))
		return false;
	return sp_thread_state.inside - frame < NESTED_MOST;
}

SP_COLD const struct sp_real *sp_enter(uintptr_t caller, bool *observed)
{
	const struct sp_real *real;
	struct sp_lock_state lock_state;
	int saved = errno;

	if (SP_UNLIKELY(!wipes) && sp_process.generation &&
	    sp_process_pid != (int)sp_sys(SYS_getpid))
		memset(&sp_process, 0, sizeof(sp_process));
	if (!load_acquire(&sp_process.generation)) {
		if (sp_process_pid && sp_process_pid != (int)sp_sys(SYS_getpid))
			setup.taken = 0;
		sp_lock_take(&setup, &lock_state);
		if (!sp_process.generation)
			set_up();
		sp_lock_give(&setup, &lock_state);
	}
	real = sp_real_for(caller, observed);
	if (*observed) {
		papi_found(sp_papi_used);
		if (!sp_papi_several && !sp_papi_front && wipes && sp_process.counting)
			store_release(&sp_process.papi, sp_papi_used);
	} else if (real->PAPI_library_init &&
		   !__atomic_exchange_n(&second_reported, true, __ATOMIC_RELAXED)) {
		sp_process_note_quiet(
			"a second libpapi is in use; its calls are forwarded, not counted");
	}
	*observed = *observed && sp_process.counting &&
		    (sp_thread_state.nests ||
		     !(sp_internal(sp_papi_used, caller) || is_nested(caller)));
	errno = saved;
	return real;
}
