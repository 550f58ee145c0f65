/*
 * inside.c: wraps libpapi's read(2), by which it reads counters, to act in the middle of PAPI_read.
 */
#include "proven.h"

void (*inside)(void);

/* The program's symbol overrides libc's for libpapi as well. */
ssize_t read(int fd, void *to, size_t bytes)
{
	ssize_t n;

	if (inside)
		inside();
	n = syscall(SYS_read, fd, to, bytes);
	if (inside)
		inside();
	return n;
}
