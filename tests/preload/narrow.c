/*
 * narrow: the hardware events are page faults, of a PMU that has room for one of them: events take
 * turns. NARROW_SHARED in the environment: others use its counters half of the time.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FDS 4096

static char is_hardware[FDS];

ssize_t read(int fd, void *to, size_t bytes)
{
	ssize_t (*real)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
	ssize_t n = real(fd, to, bytes);

	if (n == 24 && fd < FDS && is_hardware[fd] && getenv("NARROW_SHARED"))
		((uint64_t *)to)[2] /= 2;	/* time running */
	return n;
}

long syscall(long number, ...)
{
	long (*real)(long, ...) = dlsym(RTLD_NEXT, "syscall");
	struct perf_event_attr attr;
	long a[6], fd;
	va_list more;

	va_start(more, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(more, long);
	va_end(more);
	if (number != SYS_perf_event_open ||
	    ((struct perf_event_attr *)a[0])->type != PERF_TYPE_HARDWARE)
		return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if ((int)a[3] != -1) {		/* a group */
		errno = EINVAL;
		return -1;
	}
	attr = *(struct perf_event_attr *)a[0];
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	fd = real(number, &attr, a[1], a[2], a[3], a[4], a[5]);
	if (fd >= 0 && fd < FDS)
		is_hardware[fd] = 1;
	return fd;
}
