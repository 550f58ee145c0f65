/* timestamp.h: times that order the readings of several sets.
 *
 * Nanoseconds since the epoch by the vDSO's clock (tens of ns). Times of a thread always
 * increase; between threads they follow the clock. Async-signal-safe, keeps errno. Only the slow
 * path needs it: readings of plain counters on the fast path have no time.
 */
#ifndef SP_TIMESTAMP_H
#define SP_TIMESTAMP_H

#include <stdint.h>

uint64_t sp_stamp_ns(void);

#endif
