/*
 * noread: to sspapi stat this kernel is one before 6.13: it refuses an inherited event of
 * PERF_SAMPLE_READ, without which what it writes of threads is not right.  Stands before libc's
 * syscall(), by which the command makes its calls, and the library in the program: a thread that
 * waited for the command in vain says so.  None does because the machine is busy: threads wait for
 * an hour, or as long as without us if HURRY is set, where the command is to be dead.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "raw.h"

static int hurries;

/* Not looked up later: that would be page faults of the program's threads. */
__attribute__((constructor)) static void look_up(void)
{
	hurries = getenv("HURRY") != NULL;
}

long syscall(long number, ...)
{
	const struct perf_event_attr *attr;
	struct timespec later;
	long a[6], r;

	SIX_WORDS(a, number);
	attr = (const struct perf_event_attr *)a[0];
	if (number == SYS_perf_event_open && attr->inherit &&
	    (attr->sample_type & PERF_SAMPLE_READ))
		return returned(-EINVAL);
	if (number == SYS_futex && a[1] == FUTEX_WAIT_BITSET && !hurries) {
		later = *(const struct timespec *)a[3];
		later.tv_sec += 3600;
		a[3] = (long)&later;
	}
	r = raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_futex && a[1] == FUTEX_WAIT_BITSET && r == -ETIMEDOUT)
		raw(SYS_write, 2, (long)"waited in vain\n", 15, 0, 0, 0);
	return returned(r);
}
