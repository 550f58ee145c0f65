/* inside.c: libpapi's own read(2), by which it reads counters, and what a client does in the middle
 * of PAPI_read. */
#include "proven.h"

void (*inside)(void);

/* The program's name comes before libc's for libpapi, too. */
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
