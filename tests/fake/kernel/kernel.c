/* kernel.c: the kernel that the scripted libpapi opens its counters at: a number for each, of which
 * nothing else is true.
 *
 * A library by itself, whose syscall() has a version of its own: libpapi's reference is to that
 * one, whoever else has a function of this name, and stands in its table of addresses, where a shim
 * looks for it (preload/percpu/perf-fds.h).
 */
#include <errno.h>
#include <sys/syscall.h>

__attribute__((visibility("default"))) long syscall(long number, ...);

long syscall(long number, ...)
{
	static int opened = 1 << 24;		/* no descriptor of a process's */

	if (number != SYS_perf_event_open) {
		errno = ENOSYS;
		return -1;
	}
	return __atomic_fetch_add(&opened, 1, __ATOMIC_RELAXED);
}
