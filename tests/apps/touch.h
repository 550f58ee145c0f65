/*
 * touch.h: a load with a known number of page faults, for the test programs. It does not use PAPI.
 *
 * A page of a fresh private mapping without huge pages faults exactly once,
 * at its first write. The mapping is made before the counting starts, and code, stack and
 * libraries' data, which would also fault, are touched before, so that between start and stop only
 * touch() does.
 */
#ifndef TOUCH_H
#define TOUCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SKIPPED 77 /* cannot count here */

struct arena {
	char *next;
	long page, left;
	volatile long touched; /* signal handlers read it */
};

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Runs a thread, which has ended on return. */
static inline void run_thread(const pthread_attr_t *attr, void *(*work)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, attr, work, arg) || pthread_join(t, NULL))
		die("a thread");
}

/* Runs n threads at a time, which have ended on return; each gets its number. */
static inline void run_threads(long n, void *(*work)(void *))
{
	pthread_t t[n];

	for (long i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, work, (void *)i))
			die("pthread_create");
	for (long i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

static inline void await_child(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status)
		die("the child");
}

/*
 * On a machine with several memory nodes the kernel sometimes unmaps a page to see which CPU uses
 * it (NUMA balancing), which causes another fault; not for a thread that sets its own memory
 * policy.
 */
static inline void stay_mapped(void)
{
	const int local = 4; /* MPOL_LOCAL */

	syscall(SYS_set_mempolicy, local, NULL, 0);
}

/* Each of its pages faults at its first write. */
static inline char *new_memory(size_t bytes)
{
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		die("mmap");
	madvise(at, bytes, MADV_NOHUGEPAGE);
	return at;
}

/* None of its pages faults: MAP_PRIVATE, or MAP_SHARED with children. */
static inline void *ready_memory(size_t bytes, int kind)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS | MAP_POPULATE,
			-1, 0);

	if (at == MAP_FAILED)
		die("mmap");
	return at;
}

static inline void arena_make(struct arena *a, long pages)
{
	stay_mapped();
	a->page = sysconf(_SC_PAGESIZE);
	a->left = pages;
	a->touched = 0;
	a->next = new_memory(pages * a->page);
}

/* Faults exactly @pages times (a sanitizer's shadow would fault, too). */
__attribute__((no_sanitize("address"), no_sanitize("thread"), noinline, unused)) static void
touch(struct arena *a, long pages)
{
	if (pages > a->left) {
		fprintf(stderr, "touch: the arena is used up\n");
		exit(1);
	}
	for (long i = 0; i < pages; i++, a->next += a->page) {
		a->touched++;
		*(volatile char *)a->next = 1;
	}
	a->left -= pages;
}

/* Returns the @i-th CPU of the process's affinity mask at the first call. */
static inline int nth_cpu(int i)
{
	static cpu_set_t allowed;
	static int n;
	int cpu = -1;

	if (!n) {
		if (sched_getaffinity(0, sizeof(allowed), &allowed))
			die("sched_getaffinity");
		n = CPU_COUNT(&allowed);
	}
	for (i %= n; i >= 0; i--)
		do
			cpu++;
		while (!CPU_ISSET(cpu, &allowed));
	return cpu;
}

/*
 * Pins the calling thread to the @i-th allowed CPU, by a system call that is not wrapped; returns
 * the CPU.
 */
static inline int pin(int i)
{
	cpu_set_t set;
	int cpu = nth_cpu(i);

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (syscall(SYS_sched_setaffinity, 0, sizeof(set), &set) < 0)
		die("sched_setaffinity");
	return cpu;
}

/* Reads a byte of each page. Not for sanitizers: the memory is not ours. */
__attribute__((no_sanitize("address"), no_sanitize("thread"), noinline, unused)) static void
look_at(const char *from, const char *to, long page)
{
	for (from = (char *)((unsigned long)from & -page); from < to; from += page)
		*(volatile const char *)from;
}

/* The executable, PAPI, its libraries and libc; no other objects. */
static inline int prefault_object(struct dl_phdr_info *info, size_t size, void *seen)
{
	static const char *const own[] = {"libpapi", "libpfm", "libc.", "ld-linux", "linux-vdso"};
	const long page = sysconf(_SC_PAGESIZE);
	int ours = !*(int *)seen;

	(void)size;
	*(int *)seen = 1;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		ours |= !!strstr(info->dlpi_name, own[i]);
	for (int i = 0; ours && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		char *at = (char *)info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD)
			look_at(at, at + p->p_memsz, page);
	}
	return 0;
}

static inline void prefault_stack(void)
{
	char *stack = alloca(128 * 1024);

	for (long i = 0; i < 128 * 1024; i += 1024)
		((volatile char *)stack)[i] = 1;
}

/* Call it in each thread before it starts to count. */
static inline void prefault(void)
{
	int seen = 0;

	stay_mapped();
	dl_iterate_phdr(prefault_object, &seen);
	prefault_stack();
	sched_getcpu();
}

#endif
