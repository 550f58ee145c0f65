/* sys.h: system calls as they are, without libc's wrappers.
 *
 * open, write, close, fallocate ... of libc are cancellation points: a thread
 * of the application with a pending cancellation would end inside PAPI_start,
 * where natively it does not.  syscall(2) is none.  Each returns what the kernel
 * says: >= 0, or -errno.  (errno itself is written by syscall(); the wrapper
 * layer gives it back to the application.)
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

/* syscall() takes longs.  Of an int on the stack, where the sixth argument is, clang writes the
 * lower half only: process_vm_writev() got flags that are none. */
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

/* What stands in front of syscall(2), which has no prototype to follow: as libc's own it takes six
 * words, whatever the call needs. */
#define SP_SIX_WORDS(to, last) \
	do { \
		va_list sp_ap_; \
		va_start(sp_ap_, last); \
		for (int sp_i_ = 0; sp_i_ < 6; sp_i_++) \
			(to)[sp_i_] = va_arg(sp_ap_, long); \
		va_end(sp_ap_); \
	} while (0)

/* Of what a signal may interrupt where the file system is a server's: until it is done. */
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

/* All of it, however the kernel cuts it; 0 or -errno. */
int sp_write_all(int fd, const void *bytes, size_t n);

/* Up to n bytes of a small file, with a NUL behind; how many, or -errno. */
long sp_read_file(const char *path, char *buffer, size_t n);

/* From now on what is mapped lies apart from what Linux maps by itself: in a child of fork libpapi
 * unmaps its parent's buffers of overflows, which the child never had, and whatever stands there
 * now (seen: a part of the store, and a crash). */
void sp_map_set_base(void);
void *sp_map_hint(size_t bytes);	/* for mmap; NULL: anywhere */

/* Zeroed memory of our own, or NULL; given back with sp_unmap. */
void *sp_map(size_t bytes);
void sp_unmap(void *p, size_t bytes);

/* Whole pages that a child of fork finds zeroed.  The kernel then leaves them as they are
 * in the parent, too, where the first store to each would be a page fault otherwise.
 * Kernels before 4.14 cannot. */
void sp_wipe_on_fork(void *p, size_t bytes);

static inline uint64_t sp_ns_of(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t sp_boot_ns(void);		/* since the machine started: no clock that is set */
static inline uint64_t sp_now_ns(void)	/* since the epoch */
{
	return sp_ns_of(CLOCK_REALTIME);
}

static inline uint64_t sp_coarse_ns(void)	/* the same, a few ms coarse, a few ns cheap */
{
	return sp_ns_of(CLOCK_REALTIME_COARSE);
}
