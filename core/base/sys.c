/* sys.c: system calls that take more than one line; see sys.h. */
#include "sys.h"

int sp_write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n) {
		long r = sp_sys(SYS_write, fd, p, n);

		if (r == -EINTR)
			continue;
		if (r < 0)
			return (int)r;
		if (r == 0)
			return -EIO;
		p += r;
		n -= (size_t)r;
	}
	return 0;
}

long sp_read_file(const char *path, char *buffer, size_t n)
{
	int fd = sp_open(path, O_RDONLY, 0);
	size_t got = 0;

	if (fd < 0)
		return fd;
	while (got + 1 < n) {
		long r = sp_sys(SYS_read, fd, buffer + got, n - 1 - got);

		if (r == -EINTR)
			continue;
		if (r <= 0)
			break;
		got += (size_t)r;
	}
	buffer[got] = 0;
	sp_close(fd);
	return (long)got;
}

/* above programs at fixed addresses, below Linux's mmap area */
#define MAP_BASE	(64ul << 30)

static uintptr_t map_base;		/* 0: let Linux choose */

void sp_map_set_base(void)
{
#ifndef __SANITIZE_THREAD__		/* libtsan reserves this range */
	if (!map_base)
		map_base = MAP_BASE;
#endif
}

void *sp_map_hint(size_t bytes)
{
	return load_relaxed(&map_base)
		       ? (void *)__atomic_fetch_add(&map_base, sp_align(bytes, 1u << 21),
						    __ATOMIC_RELAXED)
		       : NULL;
}

#ifdef __SANITIZE_THREAD__
/* Use libc's functions, which ThreadSanitizer intercepts: it reports races on reused pages if it
 * does not see the munmap. */

void *sp_map(size_t bytes)
{
	void *p = mmap(sp_map_hint(bytes), bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void sp_unmap(void *p, size_t bytes)
{
	if (p)
		(void)munmap(p, bytes);
}
#else
void *sp_map(size_t bytes)
{
	long r = sp_sys(SYS_mmap, sp_map_hint(bytes), bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return r < 0 && r > -4096 ? NULL : (void *)r;
}

void sp_unmap(void *p, size_t bytes)
{
	if (p)
		(void)sp_sys(SYS_munmap, p, bytes);
}
#endif

void sp_wipe_on_fork(void *p, size_t bytes)
{
	(void)sp_sys(SYS_madvise, p, bytes, MADV_WIPEONFORK);
}

uint64_t sp_boot_ns(void)
{
	return sp_ns_of(CLOCK_BOOTTIME);
}
