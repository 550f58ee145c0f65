/*
 * unheard: the first two times that counters are turned on nothing is; UNHEARD names a file that is
 * there when they are, the third time.  As for a thread that was being born the first two times,
 * which the kernel had not listed yet.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "raw.h"

int prctl(int option, ...)
{
	static int times;
	unsigned long a[4];
	va_list more;
	int fd;
	long r;

	va_start(more, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(more, unsigned long);
	va_end(more);
	if (option == PR_TASK_PERF_EVENTS_ENABLE && ++times <= 2)
		return 0;
	r = raw(SYS_prctl, option, (long)a[0], (long)a[1], (long)a[2], (long)a[3], 0);
	if (option == PR_TASK_PERF_EVENTS_ENABLE && times == 3 && getenv("UNHEARD")) {
		fd = open(getenv("UNHEARD"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd >= 0)
			close(fd);
	}
	return (int)returned(r);
}
