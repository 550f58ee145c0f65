/* altstack.c: stands in front of sigaltstack, for SSPAPI_ATTRIBUTION=exact.
 *
 * Our handler runs on the stack that it finds.  On an alternate one that is made for one small
 * handler the kernel has no room for the frame of a second, and ends the process: such a thread
 * gets no signal.
 */
#include <errno.h>
#include <signal.h>

#include "../book/moves.h"
#include "../book/watch.h"
#include "../papi/real.h"
#include "process.h"

static int (*next_sigaltstack)(const stack_t *, stack_t *);

/* Before anybody, in a handler perhaps, needs it: it is looked for under the loader's lock. */
__attribute__((constructor)) static void find(void)
{
	if (!next_sigaltstack)
		next_sigaltstack = (int (*)(const stack_t *, stack_t *))sp_real_next("sigaltstack");
}

__attribute__((visibility("default"))) int sigaltstack(const stack_t *new, stack_t *old)
{
	int r, error;

	if (SP_UNLIKELY(!next_sigaltstack))
		find();
	if (SP_LIKELY(sp_get(&sp_watching) != SP_BY_EXACT) || !new)
		return next_sigaltstack(new, old);
	if (sp_moves_stack_is_small(new))
		sp_watch_small(true);
	r = next_sigaltstack(new, old);
	error = errno;
	sp_watch_small(sp_moves_stack_is_small(NULL));
	errno = error;
	return r;
}
