/*
 * hw2sw: a test preload for machines without hardware counters.
 *
 * PAPI asks for leave to attach, to bind to a CPU, to inherit, to multiplex
 * and to change the domain by opening a hardware event, whatever events the
 * set holds; in most VMs that fails. This one stands before libc's syscall(),
 * by which libpapi calls perf_event_open, and opens a software event in place
 * of each hardware, cache or raw one: TASK_CLOCK for those that count cycles,
 * PAGE_FAULTS for all else. Every other call goes on untouched.
 */
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

typedef long syscall_fn(long, ...);

static syscall_fn *real;

__attribute__((constructor)) static void find_real(void)
{
	if (!real)
		real = (syscall_fn *)dlsym(RTLD_NEXT, "syscall");
}

static int counts_cycles(const struct perf_event_attr *attr)
{
	if (attr->type != PERF_TYPE_HARDWARE)
		return 0;
	return attr->config == PERF_COUNT_HW_CPU_CYCLES ||
	       attr->config == PERF_COUNT_HW_BUS_CYCLES ||
	       attr->config == PERF_COUNT_HW_REF_CPU_CYCLES;
}

static int is_hardware(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
	       attr->type == PERF_TYPE_RAW;
}

static void soften(struct perf_event_attr *attr, size_t size)
{
	attr->config = counts_cycles(attr) ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_PAGE_FAULTS;
	attr->type = PERF_TYPE_SOFTWARE;
	attr->precise_ip = 0;
	attr->config1 = 0;
	if (size >= PERF_ATTR_SIZE_VER1)
		attr->config2 = 0;
}

/* The caller's attr stays as it is: it is opened from a copy. */
static long open_event(long attr, long pid, long cpu, long group, long flags)
{
	union {
		struct perf_event_attr attr;
		char bytes[512];
	} copy;
	const struct perf_event_attr *given = (const struct perf_event_attr *)attr;
	size_t size;

	if (!given || !is_hardware(given))
		return real(SYS_perf_event_open, attr, pid, cpu, group, flags);
	size = given->size ? given->size : PERF_ATTR_SIZE_VER0;
	if (size < PERF_ATTR_SIZE_VER0 || size > sizeof(copy))
		return real(SYS_perf_event_open, attr, pid, cpu, group, flags);
	memcpy(&copy, given, size);
	soften(&copy.attr, size);
	return real(SYS_perf_event_open, (long)&copy, pid, cpu, group, flags);
}

long syscall(long number, ...)
{
	long arg[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	find_real();
	if (number == SYS_perf_event_open)
		return open_event(arg[0], arg[1], arg[2], arg[3], arg[4]);
	return real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
