/* prctl.c: stands in front of prctl, for SSPAPI_ATTRIBUTION=residency and exact.
 *
 * PR_TASK_PERF_EVENTS_DISABLE turns off all perf events that the thread has opened: ours, too, of
 * which PAPI_start turns none on again.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "../book/watch.h"
#include "../papi/real.h"
#include "process.h"

static int (*next_prctl)(int, ...);

/* Before anybody, in a handler perhaps, needs it: it is looked for under the loader's lock. */
__attribute__((constructor)) static void find(void)
{
	if (!next_prctl)
		next_prctl = (int (*)(int, ...))sp_real_next("prctl");
}

__attribute__((visibility("default"))) int prctl(int option, ...)
{
	unsigned long a[4];
	int r, error;
	va_list ap;

	va_start(ap, option);		/* as libc does */
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if (SP_UNLIKELY(!next_prctl))
		find();
	r = next_prctl(option, a[0], a[1], a[2], a[3]);
	error = errno;
	if (r >= 0 && sp_get(&sp_watching) && (option == PR_TASK_PERF_EVENTS_DISABLE || option == PR_TASK_PERF_EVENTS_ENABLE))
		sp_watch_off(option == PR_TASK_PERF_EVENTS_DISABLE);
	errno = error;
	return r;
}
