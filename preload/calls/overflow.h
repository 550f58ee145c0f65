/* overflow.h: the application's overflow handlers, called through us.
 *
 * PAPI gets a function of ours in place of each handler, which counts the call and goes on as that
 * handler: by a jump, so that it finds the stack, the arguments and what it returns to as PAPI left
 * them, and may jump out.  Whose function it is does not depend on the set: PAPI may keep the
 * handler before, or take the new one and then fail; sets go, or are a child's of fork.
 */
#ifndef SP_BOOK_OVERFLOW_H
#define SP_BOOK_OVERFLOW_H

#include "../papi/real.h"

/* What PAPI is to be given for this handler: itself, if there were too many others. */
PAPI_overflow_handler_t sp_overflow_trampoline(PAPI_overflow_handler_t handler);

#endif
