/* own-libraries.c: loads sspapi's own libraries, while no other thread forks; see
 * own-libraries.h. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "../../core/base/lock.h"
#include "../../core/base/sys.h"
#include "../papi/dlerror.h"
#include "../papi/elf.h"
#include "own-libraries.h"

/* ---- fork ---------------------------------------------------------------------- */

/* A child of fork has its parent's list of libraries. If another thread was changing that list, the
 * loader ends the child at its next dlopen. So a fork waits for our changes, and our changes wait
 * for a fork, but neither forever. A constructor may fork with the loader's lock taken, and a
 * pthread_atfork handler may wait for a thread that waits here. */
/* threads in the loader because of us, plus FORK for each that forks */
static uint32_t n_inside;

static uint32_t add_inside(uint32_t n)
{
	return __atomic_fetch_add(&n_inside, n, __ATOMIC_SEQ_CST);
}

#define FORK	0x10000u
#define MAX_DELAYS 20000u		/* of 50 us: about one second */

/* Waits until n_inside & bits is 0. False: time ran out. */
static bool wait_while(uint32_t bits)
{
	struct timespec delay = { 0, 50000 };
	int saved = errno;
	unsigned n_delays = 0;

	while ((load_acquire(&n_inside) & bits) && n_delays++ < MAX_DELAYS)
		(void)sp_sys(SYS_nanosleep, &delay, NULL);
	errno = saved;
	return n_delays <= MAX_DELAYS;
}

static void before_fork(void)
{
	add_inside(FORK);
	(void)wait_while(FORK - 1);
}

static void in_parent(void)
{
	add_inside(-FORK);
}

static void in_child(void)
{
	store_release(&n_inside, 0);
}

/* Registers at the start: a fork that has begun does not call handlers that are registered
 * later. */
__attribute__((constructor)) static void at_start(void)
{
	(void)pthread_atfork(before_fork, in_parent, in_child);
}

/* Blocks signals, so that no handler forks in between. */
static void enter_loader(struct sp_lock_state *lock_state)
{
	sp_signals_block(lock_state);
	while (add_inside(1) >= FORK) {
		add_inside(-1);
		if (!wait_while(~(FORK - 1))) {
			add_inside(1);
			return;
		}
	}
}

static void leave_loader(const struct sp_lock_state *lock_state)
{
	add_inside(-1);
	sp_signals_restore(lock_state);
}

/* ---- the libraries ------------------------------------------------------------- */

typedef void *(*open_fn)(const char *, int);

/* Finds libc's own dlopen. A sanitizer's, which precedes it, ends the program because of
 * RTLD_DEEPBIND. */
static open_fn find_dlopen(void)
{
	/* the second for glibc before 2.34 */
	static const char *const homes[] = { "libc.so.6", "libdl.so.2" };
	void *libc, *found = NULL;

	for (size_t i = 0; i < SP_COUNT(homes) && !found; i++) {
		libc = dlopen(homes[i], RTLD_LAZY | RTLD_NOLOAD);
		found = libc ? sp_real_dlsym(libc, "dlopen") : NULL;
	}
	return (open_fn)found;
}

static void *open_own_library(const char *name)
{
	struct sp_object own;
	char path[512] = "", *slash;
	void *library;
	open_fn open = find_dlopen();

	sp_elf_find(&own, (uintptr_t)&sp_own_library_open);
	strncpy(path, own.path, sizeof(path) - 1);
	slash = strrchr(path, '/');
	if (!open || !slash || (size_t)(slash - path) + strlen(name) + 9 > sizeof(path))
		return NULL;
	/* Tries the installed folder first; in a build, "sspapi" is the command. Does not use
	 * access(2), which a sandbox may refuse. */
	strcat(strcpy(slash + 1, "sspapi/"), name);
	library = open(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	if (library)
		return library;
	strcpy(slash + 1, name);
	return open(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
}

void *sp_own_library_open(const char *name)
{
	struct sp_lock_state lock_state;
	void *library;

	enter_loader(&lock_state);
	library = open_own_library(name);
	leave_loader(&lock_state);
	return library;
}

void sp_own_library_close(void *library)
{
	struct sp_lock_state lock_state;

	enter_loader(&lock_state);
	(void)sp_real_dlclose(library);
	sp_elf_note_close();
	leave_loader(&lock_state);
}
