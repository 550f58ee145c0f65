/* writer.h: what is known of a relation while an event set books for it.
 *
 * A writer is private memory: the store's bytes are written, not followed.
 */
#ifndef SP_WRITER_H
#define SP_WRITER_H

#include "interval.h"
#include "../base/lock.h"

struct sp_log;

/* Why a booking cannot take the short way.  OVER, SHARED and BEGUN may be set at any time, by atomic operations. */
#define SP_SLOW_OVER	1u	/* there are records of a handler on top of a booking, behind the writer's */
#define SP_SLOW_SHARED	2u	/* other threads book here too: one after the other (`holder`) */
#define SP_SLOW_BEGUN	4u	/* a handler came on top of the call in flight */
#define SP_SLOW_ON_TOP	8u	/* this is a handler's call, on top of another one */
#define SP_SLOW_OTHER	16u	/* the set's entries, or its component, are not as most are */
#define SP_SLOW_KEPT	32u	/* each reading is kept, and all else is as most are: short ways of their own */
#define SP_SLOW_BINDS	64u	/* somebody binds the writer (sp_records_take) */

enum sp_entries { SP_ENTRIES_TEMPORARY, SP_ENTRIES_PERMANENT, SP_ENTRIES_NONE };

#define SP_KEEPS_ON_START 1u	/* PAPI_start does not zero this component's counts (papi-facts 6.2) */
#define SP_KEEPS_ON_RESET 2u

#define SP_LEVELS	8u		/* handlers on top of each other that are told apart */

/* A booking sets `in_flight`, then reads `slow`; a thread that wants to share sets SP_SLOW_SHARED, makes every CPU see
 * that (membarrier), then reads `in_flight`. */
struct sp_writer {
	/* One line of cache: what every reading uses. */
	uintptr_t in_flight;		/* the frame of the call or booking in flight, and what it is (records.h); 0: none */
	const int64_t *values;		/* [k] what was handed out last, since the last zeroing */
	uint32_t slow;			/* SP_SLOW_*; 0: the short way */
	uint32_t owner;			/* the thread that started the set (`who` of records.h); 0: whoever says so */
	/* From here to `below` all is the binding's; what stands before and behind holds while the writer is bound anew. */
	struct sp_record *last;		/* the newest record, to which a call that is alike is added; NULL: none */
	uint64_t steady;		/* what the caller knows a reading by that is alike; 0: no reading is */
	struct sp_relation *relation;	/* NULL: nothing to write to */
	uint32_t opened;		/* whatever the caller knows its window's beginning by */
	int32_t cpu;			/* of the last reading, if its cell is a dense one; else -2 */
	uint32_t k;
	uint32_t from;			/* the site of the call before; 0: not known */
	bool runs;			/* the set, as the records have it */
	bool baseline;			/* where counting starts is not known yet */
	uint8_t component;		/* SP_KEEPS_* */
	/* And a start and a stop. */
	unsigned char *to, *end;	/* where the next record goes; there, records are to be folded first */
	uint64_t number;		/* of the newest record */
	uint64_t stop_ticks;		/* when the clock was last looked at for a STOP */
	struct sp_track track;		/* the intervals */
	uint32_t cells;
	bool ran;			/* a set before left the relation running */
	bool precise;			/* its times are in one order with other sets', not the clock's last tick */
	bool folded_behind;		/* the last fold had records of handlers on top of the booking */
	bool only_kept;			/* each of the relation's readings is kept */
	enum sp_entries entries;	/* what a reading leaves; with another than temporary, SP_SLOW_OTHER or SP_SLOW_KEPT */
	struct sp_log *log;		/* where permanent readings go (readings.h); NULL: there are none */
	const uint8_t *kinds;		/* [k] enum sp_values; NULL: all are counts; else `precise` */
	/* Of the relation's block, which stands at `off`. */
	sp_off off;
	const struct sp_image *image;
	struct sp_layout layout;
	struct sp_state *state;
	unsigned char *records;
	uintptr_t below[SP_LEVELS];	/* what `in_flight` was when a handler's call came on top, the lowest first */
	uint32_t levels;
	uint32_t holder;		/* who books while SHARED, or binds; 0: nobody */
	uint32_t next;			/* who waits for `holder`, and is to have it before others; 0: nobody */
	uint32_t flier;			/* whose call is in flight; 0: the owner's, on the short way */
	bool shared;			/* the owner's mark is seen by others (SP_SLOW_SHARED) */
	bool asks;			/* the records do not tell whether the set runs: the caller is to ask PAPI (sp_records_runs) */
};

#endif
