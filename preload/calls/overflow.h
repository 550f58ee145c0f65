/* overflow.h: counts the calls of the application's overflow handlers.
 *
 * PAPI gets a trampoline in place of each handler, which counts the call and jumps to the handler.
 * So the handler finds the stack, the arguments and the return address as PAPI left them, and may
 * jump out. A trampoline belongs to a handler, not to a set: PAPI may keep the earlier handler, or
 * take the new one and then fail; sets are destroyed, or belong to a forked child's parent.
 */
#ifndef SP_OVERFLOW_TRAMPOLINE_H
#define SP_OVERFLOW_TRAMPOLINE_H

#include "../papi/real.h"

/* Returns the trampoline for PAPI to call; the handler itself, if there are too many handlers. */
PAPI_overflow_handler_t sp_overflow_trampoline(PAPI_overflow_handler_t handler);

#endif
