/*
 * unwinds: a libunwind.so.8 that has one lock, as the real one, and calls the function whose address is in $UNWINDS while
 * it holds it.
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int unw_backtrace(void **frame, int most);

int unw_backtrace(void **frame, int most)
{
	const char *at = getenv("UNWINDS");

	(void)frame, (void)most;
	pthread_mutex_lock(&lock);
	if (at)
		((void (*)(void))strtoul(at, NULL, 0))();
	pthread_mutex_unlock(&lock);
	return 0;
}
