/* sys.h: system calls without libc's wrappers.
 *
 * libc's open, write, close and fallocate are cancellation points: a thread with a pending
 * cancellation would end inside PAPI_start, unlike without sspapi. syscall(2) is no cancellation
 * point. All functions return the kernel's result: >= 0 or -errno. syscall() changes errno; the
 * wrappers of PAPI calls restore it.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base.h"

#ifndef MADV_POPULATE_WRITE		/* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

/* Cast each argument to the long that syscall() reads. clang stores only the lower half of an int
 * that is passed on the stack, as the sixth argument is: process_vm_writev() got invalid flags. */
#define SP_SYS_0(nr) syscall(nr)
#define SP_SYS_1(nr, a) syscall(nr, (long)(a))
#define SP_SYS_2(nr, a, b) syscall(nr, (long)(a), (long)(b))
#define SP_SYS_3(nr, a, b, c) syscall(nr, (long)(a), (long)(b), (long)(c))
#define SP_SYS_4(nr, a, b, c, d) syscall(nr, (long)(a), (long)(b), (long)(c), (long)(d))
#define SP_SYS_5(nr, a, b, c, d, e) \
	syscall(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))
#define SP_SYS_6(nr, a, b, c, d, e, f) \
	syscall(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define SP_SYS_N(nr, a, b, c, d, e, f, call, ...) call
#define sp_sys(...) \
	({ \
		long sp_r_ = SP_SYS_N(__VA_ARGS__, SP_SYS_6, SP_SYS_5, SP_SYS_4, SP_SYS_3, \
				      SP_SYS_2, SP_SYS_1, SP_SYS_0, 0)(__VA_ARGS__); \
		sp_r_ < 0 ? -(long)errno : sp_r_; \
	})

/* Read six words as libc's syscall(2) does, whatever the call needs. For functions that replace
 * syscall(2). */
#define SP_SIX_WORDS(to, last) \
	do { \
		va_list sp_ap_; \
		va_start(sp_ap_, last); \
		for (int sp_i_ = 0; sp_i_ < 6; sp_i_++) \
			(to)[sp_i_] = va_arg(sp_ap_, long); \
		va_end(sp_ap_); \
	} while (0)

/* Repeat a system call that a signal interrupts, as happens on network file systems. */
#define sp_sys_whole(...) ({ \
	long sp_w_; \
	do \
		sp_w_ = sp_sys(__VA_ARGS__); \
	while (sp_w_ == -EINTR); \
	sp_w_; \
})

static inline int sp_open(const char *path, int flags, int mode)
{
	return (int)sp_sys_whole(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

static inline void sp_close(int fd)
{
	if (fd >= 0)
		(void)sp_sys(SYS_close, fd);
}

/* Write all n bytes, in several parts if necessary; 0 or -errno. */
int sp_write_all(int fd, const void *bytes, size_t n);

/* Read at most n - 1 bytes of a small file and add a NUL; the number of bytes, or -errno. */
long sp_read_file(const char *path, char *buffer, size_t n);

/* Map from now on in a range that Linux does not choose by itself. In a child of fork libpapi
 * unmaps the addresses of its parent's overflow buffers, which are not mapped in the child: without
 * this it unmapped a part of the store. */
void sp_map_set_base(void);
void *sp_map_hint(size_t bytes);	/* an address for mmap; NULL: any */

/* Zeroed private memory, or NULL; unmap it with sp_unmap. */
void *sp_map(size_t bytes);
void sp_unmap(void *p, size_t bytes);

/* Zero these whole pages in a child of fork. The kernel then does not write-protect them in the
 * parent, which saves a page fault at the first store to each. No effect before Linux 4.14. */
void sp_wipe_on_fork(void *p, size_t bytes);

static inline uint64_t sp_ns_of(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t sp_boot_ns(void);		/* since boot; unaffected by changes of the clock */
static inline uint64_t sp_now_ns(void)	/* since the epoch */
{
	return sp_ns_of(CLOCK_REALTIME);
}

static inline uint64_t sp_coarse_ns(void)	/* the same, some ms old, in a few ns */
{
	return sp_ns_of(CLOCK_REALTIME_COARSE);
}
