/*
 * changes: somebody writes a file while the command reads it: just before the CHANGES_AT-th time
 * that it opens or reads the file CHANGES_FILE, that becomes what the file CHANGES_WITH is: written
 * over ("over"), or another of its name ("renamed"), as CHANGES_HOW says.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *file;
static long left;			/* until it changes */

__attribute__((constructor)) static void begin(void)
{
	file = getenv("CHANGES_FILE");
	left = atol(getenv("CHANGES_AT"));
}

static long opened(const char *path, int flags)
{
	return syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
}

static void change(void)
{
	int from = opened(getenv("CHANGES_WITH"), O_RDONLY),
	    renamed = strcmp(getenv("CHANGES_HOW"), "renamed") == 0, to;
	char made[4096], bytes[65536];
	ssize_t n;

	snprintf(made, sizeof(made), "%s%s", file, renamed ? ".made" : "");
	to = opened(made, O_WRONLY | O_CREAT | O_TRUNC);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)n) != n)
			abort();
	if (from < 0 || to < 0 || n < 0 || (renamed && rename(made, file) < 0))
		abort();
	close(from);
	close(to);
}

static void turn(void)
{
	int error = errno;

	if (--left == 0)
		change();
	errno = error;
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = va_arg(ap, int);
	va_end(ap);
	if (strcmp(path, file) == 0)
		turn();
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
	struct stat of, named;

	if (fstat(fd, &of) == 0 && stat(file, &named) == 0 && of.st_dev == named.st_dev &&
	    of.st_ino == named.st_ino)
		turn();
	return syscall(SYS_pread64, fd, to, n, at);
}
