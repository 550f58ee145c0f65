/* writer.h: private state of an event set that writes to a relation: its records, intervals,
 * gauges, permanent readings and overflows. The store's bytes are written, never followed. */
#ifndef SP_WRITER_H
#define SP_WRITER_H

#include "layout.h"

struct sp_store_reader;
struct sp_store;

/* Intervals of one relation (interval.h). */
struct sp_interval_writer {
	uint32_t k;
	uint32_t used, room;		/* intervals used, and with room */
	uint32_t slots;			/* a power of 2, at least twice the room; 0: no intervals
					 * are kept */
	uint32_t *slot;			/* [slots], the caller's memory: offset of an interval,
					 * divided by 8; 0: free */
	const struct sp_store_reader *reader;
	sp_off *newest;			/* head of the relation's list */
	struct sp_intervals *fresh;	/* newest block, for new intervals */
	sp_off fresh_off;
	uint32_t fresh_used;
	uint16_t blocks;
	bool low;			/* sp_intervals_wanted() is not 0 */
};

/* Gauges of a set (gauge.h). */
struct sp_gauge_kind {
	uint32_t index;			/* event's index in the set */
	enum sp_data_type data_type;
};

struct sp_gauge_writer {
	uint32_t n, cells;		/* n 0: no gauges */
	uint32_t running;
	struct sp_gauge *at;		/* [cells][n], in the store */
	struct sp_gauge_kind *kind;	/* [n] */
};

/* Overflow counts (overflow.h) of a relation that is not folded; n = sp_overflows_counts(). */
struct sp_overflow_writer {
	struct sp_overflows *block;	/* NULL: not counted */
	uint32_t n;
};

/* Permanent readings (readings.h). */
struct sp_log {
	struct sp_store *store;
	struct sp_relation *relation;
	struct sp_chunk *chunk;	/* NULL: none */
	unsigned char *at;		/* place of the next reading, if n < room */
	struct sp_reading_sites *sites;	/* of the chunk */
	uint32_t n, room;		/* of the chunk; 0: no more readings are kept */
	uint32_t whole;			/* final room; larger than `room` if the log has work to
					 * do before that */
	uint32_t k;
	uint32_t bytes_each;		/* of a reading, without its sites */
	uint64_t most;			/* of the relation */
	uint64_t ns;			/* time of the last reading, permanent or not */
};

/* Reasons why a call cannot take the fast path. MISSED, ZEROED and SHARED may be set at any
 * time, atomically. */
#define SP_SLOW_MISSED	1u	/* a call has no record: nested, left by a jump, or overtaken */
#define SP_SLOW_SHARED	2u	/* other threads record here, in turns (`recording_thread`) */
#define SP_SLOW_AFTER	4u	/* such a call precedes the call in flight, or the next one */
#define SP_SLOW_ZEROED	8u	/* such a call zeroed the set after PAPI had returned for the
				 * call in flight */
#define SP_SLOW_OTHER	16u	/* unusual entries or values */
#define SP_SLOW_MORE	32u	/* readings are kept or have times, the component keeps its
				 * counts, or the set is placed: sp_records_*_more() */
#define SP_SLOW_BINDING	64u	/* the writer is being bound (sp_records_take) */

enum sp_entries { SP_ENTRIES_TEMPORARY, SP_ENTRIES_PERMANENT, SP_ENTRIES_NONE };

#define SP_KEEPS_ON_START 1u	/* PAPI_start does not zero this component's counts (io counts
				 * from process start) */
#define SP_KEEPS_ON_RESET 2u
#define SP_REFRESHES	4u	/* PAPI reads this component's counts once per second, and
				 * returns them until the next time */

/* A call sets `in_flight`, then reads `slow`. A thread that wants to share sets SP_SLOW_SHARED,
 * makes all CPUs see it (membarrier), then reads `in_flight`. */
struct sp_writer {
	/* One cache line for every reading. */
	uintptr_t in_flight;		/* frame and kind of the call in flight (records.h); 0:
					 * none */
	uintptr_t back;			/* return address of its wrapper: the word above the
					 * frame, as long as that exists */
	const int64_t *values;		/* [k] values returned last since the last zeroing */
	uint32_t slow;			/* SP_SLOW_*; 0: fast path */
	uint32_t owner;			/* thread that started the set (`who` in records.h); 0:
					 * any caller that claims it */
	/* Fields from here to `recording_thread` are set by binding; the others keep their
	 * values. */
	struct sp_record *last;		/* newest record, to which an equal call is added; NULL:
					 * none */
	uint64_t steady;		/* key of a READ that can reuse `last` (fast.h); 0: none */
	uint32_t window_proof;		/* sp_proof_now() at the window's start */
	int32_t cpu;			/* CPU of the last reading, if its cell is dense, else
					 * -2; if placed: the set's cell */
	uint32_t k;
	uint32_t from;			/* site of the call before; 0: unknown */
	bool runs;			/* the set is running, by the records */
	bool baseline;			/* the next value is a start value */
	bool placed;			/* one cell has all counts, wherever the thread runs, and
					 * none is proven */
	uint8_t component;		/* SP_KEEPS_*, SP_REFRESHES */
	/* Fields for starts and stops. */
	struct sp_relation *relation;	/* NULL: unbound */
	unsigned char *to, *end;	/* place of the next record; at `end`, fold first */
	uint64_t number;		/* number of the newest record */
	union {
		uint64_t stop_ticks;	/* TSC when a STOP last read the clock */
		uint64_t run_from;	/* time less run_ns at the start or zeroing; 0: unknown */
	} time;
	struct sp_interval_writer intervals;		/* the intervals */
	uint32_t cells;
	bool ran;			/* an earlier set left the relation running */
	struct {
		int32_t cell;		/* cell marked SP_CELL_KEPT; -1: none */
		int32_t cpu;		/* its CPU */
	} kept;
	uint8_t precise;		/* not 0: times are ordered across sets, not the clock's
					 * last tick; SP_TIMES_RUN: run_ns is measured */
	bool only_kept;			/* all readings of the relation are kept */
	enum sp_entries entries;	/* kind of entries of readings; if not temporary:
					 * SP_SLOW_OTHER or SP_SLOW_MORE */
	struct sp_log *log;		/* for permanent readings (readings.h); NULL: none */
	const int64_t *entry;		/* [k] entry of the last permanent reading, if all are
					 * permanent */
	const uint8_t *kinds;		/* [k] enum sp_values; NULL: all are counts; else
					 * `precise` */
	struct sp_gauge_writer *gauges;	/* gauges for the fast path; NULL: none */
	/* The relation's block, at offset `off`. */
	sp_off off;
	const struct sp_store_reader *reader;
	struct sp_layout layout;
	struct sp_state *state;
	unsigned char *records;
	uint32_t recording_thread;		/* thread that records under SHARED, or binds; 0:
						 * none */
	uint32_t next;			/* waiting thread that comes next; 0: none */
	uint32_t in_flight_thread;	/* of the call in flight; 0: the owner, on the fast path */
	bool shared;			/* all threads see SP_SLOW_SHARED */
};

#endif
