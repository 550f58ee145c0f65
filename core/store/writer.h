/* writer.h: what is known of a relation while an event set books for it.
 *
 * The booking (ledger.h) and what it is made of (interval.h, nested.h, gauge.h) all work on
 * this one struct, so that each of them includes this file and none the ledger.
 *
 * A writer is private memory: the store's bytes are written, not followed.
 */
#ifndef SP_WRITER_H
#define SP_WRITER_H

#include "format.h"
#include "../lock.h"

struct sp_gauge_writer;
struct sp_interval_slot;
struct sp_log;

enum sp_op {
	SP_OP_START, SP_OP_READ, SP_OP_STOP, SP_OP_ACCUM, SP_OP_RESET,
	SP_OP_WRITE,			/* PAPI_write: counting goes on from x */
	SP_OP_SIDE, SP_OP_LEAVE,	/* ledger.c's own: adds the side ledger in; leaves the current cell; */
	SP_OP_PART			/* a part of a window that is being split: counts, but no entry and no reading */
};

/* Why a reading cannot take the fast path.  SIDE and SHARED may be set at any time, by atomic
 * operations; the others are stored by whose turn it is, without one. */
#define SP_SLOW_ZEROED	1u	/* entries to delete, or a baseline to take */
#define SP_SLOW_STOPPED	2u
#define SP_SLOW_SIDE	4u	/* the side ledger holds something */
#define SP_SLOW_SHARED	8u	/* another thread books here too: under the lock */

#define SP_SLOW_ENTRIES	16u	/* entries are not as the fast path makes them */
#define SP_SLOW_NESTED	32u	/* a handler booked inside a call of PAPI (nested.h) */
#define SP_SLOW_UNDECIDED	64u	/* a handler's calls, or its jump, leave open whether a call zeroed after them */

/* What an event's values are to the ledger: what it counts; a floating-point counter, of which
 * it makes entries only, in double (the counts: gauge.h); a gauge, whose entry is what it showed. */
enum sp_values { SP_COUNTS, SP_FLOATS, SP_SHOWS };

enum sp_entries { SP_ENTRIES_TEMPORARY, SP_ENTRIES_PERMANENT, SP_ENTRIES_NONE };

#define SP_KEEPS_ON_START 1u	/* PAPI_start does not zero this component's counts (papi-facts 6.2) */
#define SP_KEEPS_ON_RESET 2u

/* The part of a writer that is about intervals. */
struct sp_track {
	uint32_t from;			/* the site of the call before; 0: not known */
	uint32_t cur_from, cur_to;	/* the pair of the last reading */
	uint64_t steady;		/* what the caller knows a reading by that comes from `from`, which is cur_from and cur_to,
					 * too: nothing here changes by it; 0: there is none.  (A start and a reset change `from`
					 * only: the first reading after them takes a longer way.) */
	int32_t cell;			/* and its cell */
	struct sp_intervals *block;
	struct sp_interval *at;		/* NULL: what comes is nobody's */
	uint32_t used, room;		/* intervals of the relation */
	bool low;			/* sp_intervals_wanted says so */
	uint32_t slots;			/* a power of 2, at least twice the room; 0: no intervals are kept */
	uint32_t fresh_used, fresh_room;
	struct sp_intervals *fresh;	/* where new ones go */
	struct sp_interval_slot *slot;	/* the caller's memory */
};

/* What a handler on top of a call did (nested.h). */
struct sp_nested {
	int64_t *before;		/* k values: handed out last, before the handler; NULL: no memory, nothing is kept */
	int64_t *value;			/* k more: what the handler was handed out last before it zeroed */
	int64_t *kept;			/* k more: what its last PAPI_accum or PAPI_stop left in the set (PAPI's sw_stop) */
	uint32_t flags;
};

#define SP_NESTED_ANY		1u	/* it did something */
#define SP_NESTED_RAN		2u	/* the set ran before */
#define SP_NESTED_ZEROED	4u
#define SP_NESTED_VALUED	8u	/* `value` is there */
#define SP_NESTED_STOPPED	16u	/* the first of its starts and stops was a stop */
#define SP_NESTED_STARTED	32u	/* a start */
#define SP_NESTED_DONE		64u	/* the call in flight, a start, is booked already: PAPI says that the set runs */
#define SP_NESTED_KEPT		128u	/* `kept` is there */
#define SP_NESTED_BACK		256u	/* `value`, or one before it, was below the one before */
#define SP_NESTED_ADDED		512u	/* by PAPI_accum: perhaps to the array of the call that it is on top of */

/* A booking sets `in_flight`, then reads `slow`; a thread that wants to share sets SP_SLOW_SHARED, makes every CPU see
 * that (membarrier), then reads `in_flight`. */
struct sp_writer {
	/* One line of cache: what every reading, start and stop uses. */
	struct sp_state *state;		/* the one that holds */
	uintptr_t in_flight;		/* the frame of the call or booking in flight, perhaps below us on the stack; and its op */
	struct sp_relation *relation;	/* NULL: nothing to write to */
	struct sp_state *states[2];
	uint32_t slow;			/* SP_SLOW_SIDE and SHARED, which others may set at any time; */
	uint32_t slow_owner;		/* the rest of SP_SLOW_*: stored by whose turn it is; both 0 and the same CPU: the fast path */
	uint32_t opened;		/* whatever the caller knows its window's beginning by */
	int32_t cpu;			/* whose cell is current, if it is a dense one; else -2 */
	uint32_t k;
	uint8_t component;		/* SP_KEEPS_* */
	bool precise;			/* its times are in one order with other sets', not the clock's last tick */
	bool zeroed;			/* running, last[] all 0, an entry there: PAPI_accum's fast path */
	bool proven;			/* the window that is being booked */
	struct sp_track track;		/* the intervals */
	uint64_t stop_ticks;		/* when the clock was last looked at for a STOP */
	const int64_t *part;		/* of the window that is being split: what is this cell's; NULL: all that is new */
	const int64_t *newly;		/* [k] newly proven of this cell; NULL: as `proven` says */
	uint32_t turn;			/* who books while SHARED: nobody, the owner, another */
	uint32_t visitor;		/* another thread calls PAPI and books: the owner's calls wait */
	uintptr_t abandoned;		/* what `in_flight` was when a visitor waited in vain: a handler jumped out of that call */
	uint32_t cells;
	int barrier;			/* membarrier: 0 not asked yet, 1 works, -1 does not */
	struct sp_lock lock;		/* of the side ledger */
	struct sp_side *side;
	unsigned char *cell;
	uint64_t cell_bytes;
	struct sp_log *log;		/* where permanent readings go (readings.h); NULL: there are none */
	enum sp_entries entries;	/* what a reading leaves; with another than temporary, SP_SLOW_ENTRIES */
	const uint8_t *kinds;		/* [k] enum sp_values; NULL: all SP_COUNTS; else `precise` */
	const struct sp_gauge_writer *gauges;	/* what intervals of SP_FLOATS are parts of; NULL: there are none */
	struct sp_nested nested;
	uint8_t order;			/* enum sp_turn_of: when what is booked now was, beside what a handler has booked already */
};

#endif
