/* writer.h: what is known of a relation while an event set books for it: its records, intervals,
 * gauges, permanent readings and overflows.
 *
 * All of it is private memory: the store's bytes are written, not followed.
 */
#ifndef SP_WRITER_H
#define SP_WRITER_H

#include "layout.h"

struct sp_store_reader;
struct sp_store;

/* The intervals of one relation (interval.h). */
struct sp_track {
	uint32_t k;
	uint32_t used, room;		/* intervals of the relation */
	uint32_t slots;			/* a power of 2, at least twice the room; 0: no intervals
					 * are kept */
	uint32_t *slot;			/* offset of an interval, divided by 8; 0: free; the
					 * caller's memory */
	const struct sp_store_reader *reader;
	sp_off *newest;			/* the relation's list */
	struct sp_intervals *fresh;	/* where new ones go, */
	sp_off fresh_off;
	uint32_t fresh_used;
	uint16_t blocks;
	bool low;			/* sp_intervals_wanted says so */
};

/* Of gauges (gauge.h). */
struct sp_gauge_kind {
	uint32_t index;			/* among the set's events */
	enum sp_data_type data_type;
};

struct sp_gauge_writer {
	uint32_t n, cells;		/* n 0: the set has none */
	uint32_t running;
	struct sp_gauge *at;		/* [cells][n], in the store */
	struct sp_gauge_kind *kind;	/* [n] */
};

/* Of overflows (overflow.h), of a relation that is not merged: n = sp_overflows_counts. */
struct sp_overflow_writer {
	struct sp_overflows *block;	/* NULL: nothing is counted */
	uint32_t n;
};

/* Of permanent readings (readings.h). */
struct sp_log {
	struct sp_store *store;
	struct sp_relation *relation;
	struct sp_chunk *chunk;	/* NULL: none yet */
	unsigned char *at;		/* where the next reading goes, if n < room */
	uint32_t n, room;		/* of the chunk; room 0: nothing more is kept */
	uint32_t whole;			/* room, or more: there is something to do in between */
	uint32_t k;
	uint64_t kept, most;
	uint64_t ns;			/* of the last reading, permanent or not */
};

/* Why a booking cannot take the short way.  MISSED, ZEROED and SHARED may be set at any time, by
 * atomic operations. */
#define SP_SLOW_MISSED	1u	/* a call has no record: it was nested, jumped out of, or
				 * overtaken */
#define SP_SLOW_SHARED	2u	/* other threads book here too: one after the other
				 * (`booking_thread`) */
#define SP_SLOW_AFTER	4u	/* such a call came before the one in flight, or before the next
				 * one */
#define SP_SLOW_ZEROED	8u	/* one of them has zeroed the set after PAPI had answered the call
				 * in flight */
#define SP_SLOW_OTHER	16u	/* the set's entries or values are not as most are */
#define SP_SLOW_MORE	32u	/* readings are kept or have times, the component keeps counts, or
				 * the set is placed: short ways of their own */
#define SP_SLOW_BINDS	64u	/* somebody binds the writer (sp_records_take) */

enum sp_entries { SP_ENTRIES_TEMPORARY, SP_ENTRIES_PERMANENT, SP_ENTRIES_NONE };

#define SP_KEEPS_ON_START 1u	/* PAPI_start does not zero this component's counts (io counts since
				 * the process began) */
#define SP_KEEPS_ON_RESET 2u
#define SP_REFRESHES	4u	/* PAPI reads this component's counts once a second, and hands out
				 * what it read last */

/* A booking sets `in_flight`, then reads `slow`; a thread that wants to share sets SP_SLOW_SHARED,
 * makes every CPU see that (membarrier), then reads `in_flight`. */
struct sp_writer {
	/* One line of cache: what every reading uses. */
	uintptr_t in_flight;		/* the frame of the call or booking in flight, and what it
					 * is (records.h); 0: none */
	uintptr_t back;			/* where its wrapper returns to: the word above the frame,
					 * while that is there */
	const int64_t *values;		/* [k] what was handed out last, since the last zeroing */
	uint32_t slow;			/* SP_SLOW_*; 0: the short way */
	uint32_t owner;			/* the thread that started the set (`who` of records.h); 0:
					 * whoever says so */
	/* From here to `booking_thread` all is the binding's; what stands before and behind holds
	 * while the writer is bound anew. */
	struct sp_record *last;		/* the newest record, to which a call that is alike is
					 * added; NULL: none */
	uint64_t steady;		/* key of a READ that can reuse `last` (fast.h); 0 */
	uint32_t window_proof;		/* sp_proof_now() when the window began */
	int32_t cpu;			/* of the last reading, if its cell is a dense one; else -2;
					 * the cell of a set that is placed */
	uint32_t k;
	uint32_t from;			/* the site of the call before; 0: not known */
	bool runs;			/* the set, as the records have it */
	bool baseline;			/* where counting starts is not known yet */
	bool placed;			/* all counts are those of one cell, wherever the thread is,
					 * and no reading proves any */
	uint8_t component;		/* SP_KEEPS_*, SP_REFRESHES */
	/* And a start and a stop. */
	struct sp_relation *relation;	/* NULL: nothing to write to */
	unsigned char *to, *end;	/* where the next record goes; there, records are to be
					 * folded first */
	uint64_t number;		/* of the newest record */
	uint64_t stop_ticks;		/* when the clock was last looked at for a STOP */
	struct sp_track track;		/* the intervals */
	uint32_t cells;
	bool ran;			/* a set before left the relation running */
	struct {
		int32_t cell;		/* that is marked SP_CELL_KEPT, plus one; 0: none */
		int32_t cpu;		/* its CPU */
	} kept;
	bool precise;			/* its times are in one order with other sets', not the
					 * clock's last tick */
	bool only_kept;			/* each of the relation's readings is kept */
	enum sp_entries entries;	/* what a reading leaves; with another than temporary,
					 * SP_SLOW_OTHER or SP_SLOW_MORE */
	struct sp_log *log;		/* where permanent readings go (readings.h); NULL: there are
					 * none */
	const int64_t *entry;		/* [k] what the last permanent reading left, if all are
					 * permanent */
	const uint8_t *kinds;		/* [k] enum sp_values; NULL: all are counts; else
					 * `precise` */
	struct sp_gauge_writer *gauges;	/* where the short ways book the gauges; NULL: there are
					 * none */
	/* Of the relation's block, which stands at `off`. */
	sp_off off;
	const struct sp_store_reader *reader;
	struct sp_layout layout;
	struct sp_state *state;
	unsigned char *records;
	uint32_t booking_thread;		/* who books while SHARED, or binds; 0: nobody */
	uint32_t next;			/* who waits for `booking_thread`, and is to have it before
					 * others; 0: nobody */
	uint32_t nested_call;			/* whose call is in flight; 0: the owner's, on the
						 * short way */
	bool shared;			/* the owner's mark is seen by others (SP_SLOW_SHARED) */
};

#endif
