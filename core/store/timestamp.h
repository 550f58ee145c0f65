/* timestamp.h: times that put readings of several sets in one order.
 *
 * Nanoseconds since the epoch by the vDSO's clock (tens of ns), no two the same in a thread, each
 * larger than the one before; between threads as the clock has it. Async-signal-safe; errno
 * untouched.  For what is booked the long way: a reading of plain counters on its short way takes
 * no time.
 */
#ifndef SP_TIMESTAMP_H
#define SP_TIMESTAMP_H

#include <stdint.h>

uint64_t sp_stamp_ns(void);

#endif
