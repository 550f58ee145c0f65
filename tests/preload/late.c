/*
 * late: on_exit and at_quick_exit take a while, and so do the destructors: what can happen between
 * libc's taking a function off its list and that being there again, happens. And so does what can
 * happen while the library removes a file (by syscall). To be preloaded before libsspapi.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

__attribute__((destructor)) static void wait_a_while(void)
{
	struct timespec t = {.tv_nsec = 50000000};

	nanosleep(&t, NULL);
}

int on_exit(void (*fn)(int, void *), void *arg)
{
	int (*real)(void (*)(int, void *), void *) =
		(int (*)(void (*)(int, void *), void *))dlsym(RTLD_NEXT, "on_exit");

	wait_a_while();
	return real(fn, arg);
}

int __cxa_at_quick_exit(void (*fn)(void *), void *library)
{
	int (*real)(void (*)(void *), void *) =
		(int (*)(void (*)(void *), void *))dlsym(RTLD_NEXT, "__cxa_at_quick_exit");

	wait_a_while();
	return real(fn, library);
}

long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long with[6];
	va_list ap;

	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		with[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_unlinkat)
		wait_a_while();
	return real(number, with[0], with[1], with[2], with[3], with[4], with[5]);
}
