/* process.c: the process's state, its names when it started, and its notes. setup.c sets it up. */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "../../core/base/lock.h"
#include "../../core/base/out.h"
#include "../../core/base/output.h"
#include "../../core/base/sys.h"
#include "../../core/store/store.h"
#include "../papi/elf.h"
#include "process.h"
#include "diagnostic.h"

struct sp_process sp_process;

__thread struct sp_thread_state sp_thread_state __attribute__((tls_model("initial-exec"))) = {
	.set = SP_NO_SET, .id = SP_NO_THREAD, .mark = SP_NO_MARK, .rearm = SP_NO_AGAIN,
};
struct sp_no_mark sp_no_mark = { .cpu = -1 };
const char sp_no_set[128] __attribute__((aligned(128)));
struct sp_store sp_store;
struct sp_conf sp_conf;

SP_AT_START static uint64_t start_ns;
/* The process for which `sspapi run` has announced the place of its counts; 0: none. */
SP_AT_START static int announced_pid;
SP_AT_START static char announced_path[SP_CONF_PATH];	/* of its children's; "": its own */
SP_AT_START static char dir[SP_CONF_PATH];
/* The strings of `who`, except the folder. */
static struct {
	char host[65], program[256], exe[SP_CONF_PATH];
	struct sp_output_vars who;
} names;
SP_AT_START int sp_process_pid;

/* ---- at the start -------------------------------------------------------------- */

static int number(const char *digits)
{
	int n = 0;

	for (; *digits >= '0' && *digits <= '9' && n < INT32_MAX / 10; digits++)
		n = n * 10 + (*digits - '0');
	return n;
}

bool sp_process_has_announced_dump(void)
{
	return announced_pid && announced_pid == (int)sp_sys(SYS_getpid);
}

const char *sp_process_announced_path(void)
{
	return announced_path;
}

/* Called at the start, or by a PAPI call of a constructor that runs before ours. */
void sp_process_capture(char **environment)
{
	long n;

	if (start_ns)
		return;
	start_ns = sp_now_ns();
	sp_diag_capture();
	sp_conf_capture(environment);
	for (char **e = environment; e && *e; e++)
		if (strncmp(*e, SP_PROMISED, strlen(SP_PROMISED)) == 0) {
			announced_pid = number(*e + strlen(SP_PROMISED));
			strncpy(announced_path, strchr(*e, ':') ? strchr(*e, ':') + 1 : "",
				sizeof(announced_path) - 1);
		}
	n = sp_sys(SYS_getcwd, dir, sizeof(dir));
	if (n <= 0)
		strcpy(dir, ".");
	if (strcmp(dir, "/") == 0)
		dir[0] = 0;
}

static void at_start(int argc, char **argv, char **environment)
{
	(void)argc;
	(void)argv;
	sp_process_capture(environment);
}

/* A pointer in .init_array instead of a constructor: gcc -flto calls all constructors of a library
 * from one function, without arguments. */
__attribute__((section(".init_array"), used)) static void (*start)(int, char **,
								   char **) = at_start;

const struct sp_output_vars *sp_process_output_vars(void)
{
	names.who.pid = (int)sp_sys(SYS_getpid);
	return &names.who;
}

uint64_t sp_process_start_ns(void)
{
	return start_ns;
}

void sp_process_name(void)
{
	struct utsname u;
	long n = sp_sys(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", names.exe,
			sizeof(names.exe) - 1);
	const char *base;

	names.exe[n > 0 ? n : 0] = 0;
	if (n <= 0)			/* a container without /proc */
		strncpy(names.exe, program_invocation_name, sizeof(names.exe) - 1);
	base = strrchr(names.exe, '/') ? strrchr(names.exe, '/') + 1
				       : program_invocation_short_name;
	strncpy(names.program, *base ? base : "unknown", sizeof(names.program) - 1);
	if (uname(&u) == 0)
		memcpy(names.host, u.nodename, sizeof(u.nodename));
	names.who = (struct sp_output_vars){ .host = names.host,
				     .program = names.program,
				     .job = sp_conf_job(),
				     .step = sp_conf_step(),
				     .dir = dir,
				     .rank = sp_conf_rank() };
}

const char *sp_process_exe(void)
{
	return names.exe;
}

void sp_process_begin(int pid)
{
	if (sp_process_pid)
		sp_elf_in_child();
	start_ns = sp_now_ns();
	sp_process_pid = pid;
}

bool sp_thread_ended(int tid)
{
	/* A child of clone(CLONE_VM) that has this thread's TLS is another process
	 * (shared-tls.c). */
	return sp_sys(SYS_tgkill, sp_process_pid, tid, 0) == -ESRCH &&
	       sp_sys(SYS_tkill, tid, 0) == -ESRCH;
}

bool sp_process_is_ours(void)
{
	return sp_process_pid && sp_process.generation && sp_process_pid == (int)sp_sys(SYS_getpid);
}

/* After a fork the kernel has zeroed sp_process. */
void sp_process_check_fork(void)
{
	if (sp_process_pid && !sp_process.generation && sp_process_pid != (int)sp_sys(SYS_getpid))
		sp_elf_in_child();
}

/* ---- notes --------------------------------------------------------------------- */

static struct {				/* notes before there is a store */
	char text[4096];		/* NUL-terminated strings */
	size_t used;
} early;

static void keep_early(const char *text)
{
	size_t n = strlen(text) + 1;

	if (n <= sizeof(early.text) - early.used) {
		memcpy(early.text + early.used, text, n);
		early.used += n;
	}
}

void sp_process_note_quiet(const char *text)
{
	struct sp_lock_state lock_state;

	sp_lock_take(&sp_store.lock, &lock_state);
	if (sp_store.header)
		sp_store_note(&sp_store, text);
	else
		keep_early(text);
	sp_lock_give(&sp_store.lock, &lock_state);
}

void sp_process_note_early(void)
{
	for (size_t at = 0; at < early.used; at += strlen(early.text + at) + 1)
		sp_process_note_quiet(early.text + at);
	early.used = 0;
}

void sp_process_report_truncated(void)
{
	static bool was_reported;
	char text[256] = "SSPAPI_LIVE: the live file cannot grow (";

	if (was_reported || !sp_store.region.torn)
		return;
	was_reported = true;
	if (sp_store.region.truncated) {
		sp_process_note("SSPAPI_LIVE: counts are lost, because the live file was "
				"truncated");
		return;
	}
	strncat(text, sp_diag_error(sp_store.region.why), 100);
	sp_process_note(strcat(text, "); if this process is killed, new counts are lost"));
}

void sp_process_diag(enum sp_diag_level level, const char *what, const char *detail)
{
	char line[2040];

	sp_text_f(line, sizeof(line), "%s%s%s", what, *detail ? ": " : "", detail);
	if (!sp_diag(level, line) && level <= SP_DIAG_WARNING)
		sp_process_note_quiet(line);
}

void sp_process_note(const char *text)
{
	(void)sp_diag(SP_DIAG_WARNING, text);
	sp_process_note_quiet(text);
}
