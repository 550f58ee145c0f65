/*
 * noread: to sspapi stat this kernel is one before 6.13: it refuses an inherited event of PERF_SAMPLE_READ, without
 * which what it writes of threads is not right.  Stands before libc's syscall(), by which the command makes its calls, and
 * the library in the program: a thread that waited for the command in vain says so.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "raw.h"

long syscall(long number, ...)
{
	const struct perf_event_attr *attr;
	long a[6], r;

	SIX_WORDS(a, number);
	attr = (const struct perf_event_attr *)a[0];
	if (number == SYS_perf_event_open && attr->inherit && (attr->sample_type & PERF_SAMPLE_READ))
		return returned(-EINVAL);
	r = raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_futex && a[1] == FUTEX_WAIT_BITSET && r == -ETIMEDOUT)
		raw(SYS_write, 2, (long)"waited in vain\n", 15, 0, 0, 0);
	return returned(r);
}
