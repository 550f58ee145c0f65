/* affinity.c: wraps sched_setaffinity and pthread_setaffinity_np, so that a thread whose set runs
 * finds shadow counters on its new CPUs.
 *
 * OpenMP runtimes, DLB and GROMACS pin threads themselves, within the mask of srun or taskset.
 * Another thread's mask, and one set by a raw system call, are not observed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/uio.h>

#include "../papi/dlerror.h"
#include "../process/shared-tls.h"
#include "../sets/sets.h"
#include "../percpu/cpu-select.h"

SP_AT_START static int (*next_sched)(pid_t tid, size_t size, const cpu_set_t *mask);
SP_AT_START static int (*next_pthread)(pthread_t thread, size_t size, const cpu_set_t *mask);

/* Runs before the program: a child of fork may find the loader's lock taken. */
__attribute__((constructor)) static void find_next(void)
{
	next_sched = (int (*)(pid_t, size_t, const cpu_set_t *))sp_real_dlsym(RTLD_NEXT,
									      "sched_setaffinity");
	next_pthread =
		(int (*)(pthread_t, size_t,
			 const cpu_set_t *))sp_real_dlsym(RTLD_NEXT, "pthread_setaffinity_np");
}

/* Reads the program's mask, which may be at an invalid address. */
static bool copy_mask(struct sp_cpus *to, const cpu_set_t *mask, size_t size)
{
	size_t bytes = size < sizeof(*to) ? size : sizeof(*to);
	struct iovec here = { to, bytes }, there = { (void *)(uintptr_t)mask, bytes };
	long own_pid = sp_sys(SYS_getpid);

	memset(to, 0, sizeof(*to));
	return bytes &&
	       sp_sys(SYS_process_vm_readv, own_pid, &here, 1, &there, 1, 0) == (long)bytes;
}

/* Prepares the running sets of the calling thread for the new CPUs. False: another thread's
 * mask, or no set runs. The tid excludes a child of vfork, which has its parent's memory. */
static bool before_affinity(bool own, size_t size, const cpu_set_t *mask, struct sp_cpus *to)
{
	int saved = errno;
	bool is_affected;

	if (sp_shared_tls_tid)
		sp_find_caller();
	is_affected = own && sp_thread_state.calls &&
		      sp_thread_state.generation == sp_process.generation &&
		      sp_sys(SYS_gettid) == sp_thread_state.tid &&
		      sp_sets_running(sp_thread_state.id) && copy_mask(to, mask, size);

	if (is_affected)
		sp_sets_before_affinity(to);
	errno = saved;
	return is_affected;
}

static void after_affinity(const struct sp_cpus *to)
{
	int saved = errno;

	sp_sets_after_affinity(to);
	errno = saved;
}

#define EXPORT __attribute__((visibility("default")))

EXPORT int sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *mask)
{
	struct sp_cpus to;
	bool is_affected;
	int r;

	if (!next_sched)
		find_next();
	is_affected = before_affinity(!tid || tid == sp_thread_state.tid, size, mask, &to);
	r = next_sched(tid, size, mask);
	if (is_affected && r == 0)
		after_affinity(&to);
	return r;
}

EXPORT int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *mask)
{
	struct sp_cpus to;
	bool is_affected;
	int r;

	if (!next_pthread)
		find_next();
	is_affected = before_affinity(pthread_equal(thread, pthread_self()), size, mask, &to);
	r = next_pthread(thread, size, mask);
	if (is_affected && r == 0)
		after_affinity(&to);
	return r;
}
