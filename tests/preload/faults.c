/*
 * faults: makes system calls of sspapi fail, and nobody else's. To be preloaded behind it:
 * sspapi makes its calls by libc's syscall(), which stands here too.
 *
 *	FAULTS_COUNT=FILE	counts the calls into FILE: one 4-byte word for each number; word
 *				600 + N is the N-th of: dlopen, getrlimit, uname, getcwd, prctl
 *	FAULT=NUMBER:N:ERRNO the N-th call of that number fails (N+: that and all later); several
 *	with commas
 *	FAULT=write:N:short	the N-th write writes half of what it was asked for
 *	FAULT=NUMBER:N:kill	there the process is killed
 *	FAULT=NAME:N		the same for one of the functions above
 *	FAULT=large:BYTES	each mmap of so much or more fails: small ones find their memory yet
 *
 * Calls count whose return address is in libsspapi*.so, or in the sspapi command itself.  EINVAL of
 * renameat2: only where it must not replace, as file systems have it that cannot do that.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "raw.h"

#define NUMBERS 600
static const char *const names[] = {"dlopen", "getrlimit", "uname", "getcwd", "prctl"};
enum { DLOPEN, GETRLIMIT, UNAME, GETCWD, PRCTL, NAMES };

static unsigned own_counts[NUMBERS + NAMES], *counts = own_counts;
static struct fault {
	long number, n, error;
	int on, is_short, kills;
} faults[4];
static unsigned n_faults;
static size_t fault_large;

static char *set_fault(const char *text)
{
	struct fault *f = &faults[n_faults++];
	char *end;

	f->number = strtol(text, &end, 10);
	for (int i = 0; i < NAMES; i++)
		if (strncmp(text, names[i], strlen(names[i])) == 0)
			f->number = NUMBERS + i;
	if (strncmp(text, "write", 5) == 0)
		f->number = SYS_write;
	end = strchr(text, ':');
	f->n = end ? strtol(end + 1, &end, 10) : 1;
	f->on = end && *end == '+';
	end = end ? strchr(end, ':') : NULL;
	f->is_short = end && strcmp(end, ":short") == 0;
	f->kills = end && strncmp(end, ":kill", 5) == 0;
	f->error = end ? strtol(end + 1, &end, 10) : 0;
	return end && *end == ',' ? end + 1 : NULL;
}

static void set_up(void)
{
	static int done;
	const char *text = getenv("FAULT"), *file = getenv("FAULTS_COUNT");

	if (done)
		return;
	done = 1;
	if (file) {
		long fd = raw(SYS_openat, AT_FDCWD, (long)file, O_RDWR | O_CREAT | O_CLOEXEC, 0600,
			      0, 0);
		void *p;

		raw(SYS_ftruncate, fd, sizeof(own_counts), 0, 0, 0, 0);
		p = (void *)raw(SYS_mmap, 0, sizeof(own_counts), PROT_READ | PROT_WRITE, MAP_SHARED,
				fd, 0);
		raw(SYS_close, fd, 0, 0, 0, 0, 0);
		if ((long)p > 0)
			counts = p;
	}
	if (!text)
		return;
	if (strncmp(text, "large:", 6) == 0) {
		fault_large = strtoul(text + 6, NULL, 10);
		return;
	}
	while (text && n_faults < sizeof(faults) / sizeof(*faults))
		text = set_fault(text);
}

struct search {
	uintptr_t address;
	int found;
};

static int holds(struct dl_phdr_info *o, size_t size, void *arg)
{
	struct search *s = arg;

	(void)size;
	if (!strstr(o->dlpi_name, "libsspapi") &&
	    (*o->dlpi_name || strcmp(program_invocation_short_name, "sspapi") != 0))
		return 0;
	for (int i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_LOAD &&
		    s->address - (o->dlpi_addr + o->dlpi_phdr[i].p_vaddr) < o->dlpi_phdr[i].p_memsz)
			s->found = 1;
	return s->found;
}

static int from_sspapi(void *caller)
{
	struct search s = {(uintptr_t)caller, 0};

	dl_iterate_phdr(holds, &s);
	return s.found;
}

/* Does this one fail?  NULL: no. */
static const struct fault *fails(long number, void *caller)
{
	unsigned n;

	set_up();
	if (number < 0 || number >= NUMBERS + NAMES || !from_sspapi(caller))
		return NULL;
	n = __atomic_add_fetch(&counts[number], 1, __ATOMIC_RELAXED);
	for (const struct fault *f = faults; f < faults + n_faults; f++)
		if (number == f->number && (n == f->n || (f->on && n > f->n)))
			return f;
	return NULL;
}

#define CALLER __builtin_return_address(0)

long syscall(long number, ...)
{
	const struct fault *f;
	long a[6];

	SIX_WORDS(a, number);
	set_up();
	if (number == SYS_mmap && fault_large && (size_t)a[1] >= fault_large &&
	    from_sspapi(CALLER)) {
		errno = ENOMEM;
		return -1;
	}
	/* PAPI's own calls come through libsspapi, and are without flags. */
	f = number != SYS_perf_event_open || a[4] ? fails(number, CALLER) : NULL;
	if (f && number == SYS_renameat2 && f->error == EINVAL && !a[4])
		f = NULL;
	if (f) {
		if (f->kills)
			raw(SYS_kill, raw(SYS_getpid, 0, 0, 0, 0, 0, 0), 9, 0, 0, 0, 0);
		if (!f->is_short) {
			errno = f->error;
			return -1;
		}
		if (a[2] > 1)
			a[2] /= 2;
	}
	return returned(raw(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* dlerror has its text from the loader, as it would. */
void *dlopen(const char *name, int flags)
{
	void *(*real)(const char *, int) = (void *(*)(const char *, int))next("dlopen");

	return real(fails(NUMBERS + DLOPEN, CALLER) ? "/no/such/library" : name, flags);
}

int getrlimit(__rlimit_resource_t what, struct rlimit *l)
{
	if (fails(NUMBERS + GETRLIMIT, CALLER)) {
		errno = EPERM;
		return -1;
	}
	return (int)raw(SYS_prlimit64, 0, what, 0, (long)l, 0, 0);
}

int uname(struct utsname *u)
{
	if (fails(NUMBERS + UNAME, CALLER)) {
		errno = EFAULT;
		return -1;
	}
	return (int)raw(SYS_uname, (long)u, 0, 0, 0, 0, 0);
}

int prctl(int option, ...)
{
	long a[4], r;
	va_list ap;

	va_start(ap, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (fails(NUMBERS + PRCTL, CALLER)) {
		errno = EPERM;
		return -1;
	}
	r = raw(SYS_prctl, option, a[0], a[1], a[2], a[3], 0);
	if (r < 0)
		errno = (int)-r;
	return r < 0 ? -1 : (int)r;
}
