/*
 * vanish: the file named in $VANISH goes when it is first opened: its process has just ended.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int open(const char *path, int flags, ...)
{
	const char *name = getenv("VANISH");
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	if (name && strcmp(path, name) == 0)
		unlink(path);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
