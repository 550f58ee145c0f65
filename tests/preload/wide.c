/*
 * wide: to sspapi, this machine has WIDE=N CPUs: a thread may run on so many, and an event of one
 * that is not there is opened on the last one, switched off, so that it costs what one costs whose
 * thread is elsewhere. To be preloaded behind sspapi, which makes its calls by libc's syscall();
 * nobody else sees it.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "raw.h"

static int wide, there;

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("WIDE");

	wide = text ? atoi(text) : 0;
	there = (int)sysconf(_SC_NPROCESSORS_CONF);
}

static long open_event(struct perf_event_attr *attr, long *a)
{
	struct perf_event_attr off = *attr;

	off.disabled = 1;
	off.enable_on_exec = 0;
	a[0] = (long)&off;
	a[2] = there - 1;
	return raw(SYS_perf_event_open, a[0], a[1], a[2], a[3], a[4], 0);
}

/* Those where it may really run, and of those that are not there as many as are missing. */
static long mask(long tid, unsigned char *bits, long bytes)
{
	int n = 0;
	long r;

	memset(bits, 0, (size_t)bytes);
	r = raw(SYS_sched_getaffinity, tid, bytes, (long)bits, 0, 0, 0);
	for (int i = 0; i < there; i++)
		n += bits[i / 8] >> i % 8 & 1;
	for (int i = there; n < wide && i < bytes * 8; i++, n++)
		bits[i / 8] |= (unsigned char)(1 << i % 8);
	return r;
}

long syscall(long number, ...)
{
	long a[6], r;

	SIX_WORDS(a, number);
	if (number == SYS_sched_getaffinity && wide)
		r = mask(a[0], (unsigned char *)a[2], a[1]);
	else if (number == SYS_perf_event_open && wide && (int)a[2] >= there)
		r = open_event((struct perf_event_attr *)a[0], a);
	else
		r = raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	return returned(r);
}
