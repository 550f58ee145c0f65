/* affinity.c: a thread that binds itself to other CPUs while a set of its runs.
 *
 * OpenMP runtimes, DLB and GROMACS do, under the mask of srun or taskset.  Without this it would go
 * where no counters of ours stand.  Another thread's mask, and one that is set by a raw system
 * call, go on without us.
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

/* At the start: a child of fork may find the loader's lock taken. */
__attribute__((constructor)) static void find(void)
{
	next_sched = (int (*)(pid_t, size_t, const cpu_set_t *))sp_real_dlsym(RTLD_NEXT,
									      "sched_setaffinity");
	next_pthread =
		(int (*)(pthread_t, size_t,
			 const cpu_set_t *))sp_real_dlsym(RTLD_NEXT, "pthread_setaffinity_np");
}

/* The program's mask, wherever it points. */
static bool copy(struct sp_cpus *to, const cpu_set_t *mask, size_t size)
{
	size_t bytes = size < sizeof(*to) ? size : sizeof(*to);
	struct iovec here = { to, bytes }, there = { (void *)(uintptr_t)mask, bytes };
	long own_pid = sp_sys(SYS_getpid);

	memset(to, 0, sizeof(*to));
	return bytes &&
	       sp_sys(SYS_process_vm_readv, own_pid, &here, 1, &there, 1, 0) == (long)bytes;
}

/* Is it this thread, which has a set that runs?  (A child of vfork has its parent's memory.) */
static bool leaves(bool own, size_t size, const cpu_set_t *mask, struct sp_cpus *to)
{
	int saved = errno;
	bool is;

	if (sp_shared_tls_tid)
		sp_find_caller();
	is = own && sp_thread_state.calls && sp_thread_state.generation == sp_process.generation &&
	     sp_sys(SYS_gettid) == sp_thread_state.tid && sp_sets_running(sp_thread_state.id) &&
	     copy(to, mask, size);

	if (is)
		sp_sets_before_affinity(to);
	errno = saved;
	return is;
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
	bool is;
	int r;

	if (!next_sched)
		find();
	is = leaves(!tid || tid == sp_thread_state.tid, size, mask, &to);
	r = next_sched(tid, size, mask);
	if (is && r == 0)
		after_affinity(&to);
	return r;
}

EXPORT int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *mask)
{
	struct sp_cpus to;
	bool is;
	int r;

	if (!next_pthread)
		find();
	is = leaves(pthread_equal(thread, pthread_self()), size, mask, &to);
	r = next_pthread(thread, size, mask);
	if (is && r == 0)
		after_affinity(&to);
	return r;
}
