/* layout.h: the bytes of a store; no code but the sizes that follow from them.
 *
 * Two forms have the same blocks (sspapi-store(5)).  The live form is the store of a running
 * process and the live file that outlives it.  The compact form is what a process, `sspapi merge`
 * and `sspapi stat` write: a header with `members`.
 *
 * A store is a header at offset 0 and blocks behind it.  Blocks name each other
 * by offset from the start of the store (sp_off, 0 = none) and form lists that
 * only grow at their head, so that a reader of a store whose writer was killed
 * at any instruction meets whole blocks only.  Every block starts with its kind
 * and its size; a reader checks both, and every offset, before it looks inside.
 * All numbers are the writer's byte order; `endian` tells.
 *
 * Counts are kept so that a reading costs plain stores only and no instruction
 * of the process may be its last one to a loss: see "records".
 */
#ifndef SP_LAYOUT_H
#define SP_LAYOUT_H

#include "../base/base.h"

typedef uint64_t sp_off;

#define SP_MAGIC		"SSPAPI\r\n"
#define SP_ENDIAN		0x01020304u
#define SP_FORMAT_VERSION	5u	/* what this code writes */
#define SP_FORMAT_READER	5u	/* the oldest version that reads its live form; its compact
					 * form: SP_FORMAT_OLDEST */
#define SP_FORMAT_OLDEST	4u	/* the oldest that it reads: none before was given away */
#define SP_EVENTS_MAX		4096u	/* events of one relation */
#define SP_CALLS_MAX		128u	/* functions whose calls are counted */

enum sp_block_kind {
	SP_BLOCK_STRING = 0x5301,
	SP_BLOCK_STRINGS,		/* offsets of strings */
	SP_BLOCK_TOPOLOGY,
	SP_BLOCK_EVENT,
	SP_BLOCK_THREAD,
	SP_BLOCK_RELATION,
	SP_BLOCK_NOTE,
	SP_BLOCK_FREE,			/* was something, belongs to nobody */
	SP_BLOCK_READINGS,
	SP_BLOCK_GAUGES,
	SP_BLOCK_OVERFLOWS,
	SP_BLOCK_CELLS,			/* the head alone, then cells */
	SP_BLOCK_INTERVALS = 0x5320,
	SP_BLOCK_SITES,
	SP_BLOCK_MODULE,
	SP_BLOCK_MEMBER = 0x5330,	/* of the compact form */
	SP_BLOCK_MACHINE,
	SP_BLOCK_WATCHED = 0x5340
};

struct sp_block {
	uint32_t kind;
	uint32_t bytes;			/* with this head; a multiple of 8 */
};

struct sp_string {
	struct sp_block b;
	uint32_t length;		/* without the closing NUL, which is there */
	char text[];
};

struct sp_strings {
	struct sp_block b;
	uint32_t n, pad;
	sp_off at[];
};

enum sp_end {				/* how the process ended: process.end of the JSON dump */
	SP_END_NONE, SP_END_EXIT, SP_END__EXIT, SP_END_EXEC, SP_END_RECOVERED, SP_END_SNAPSHOT
};

/* AUTO is a setting only, APPROXIMATE of relations only: in proportion to what the kernel
 * counted. */
enum sp_attribution { SP_BY_READING, SP_BY_RESIDENCY, SP_BY_EXACT, SP_BY_AUTO, SP_BY_APPROXIMATE };

/* Why a relation's counts, or some of them, are not told to CPUs as the setting asks for
 * (sspapi-attribution(7)). */
enum sp_why {
	SP_WHY_NONE,
	SP_WHY_OFF,			/* SSPAPI_DESCRIPTORS=0 */
	SP_WHY_CREDIT,			/* auto: it would have cost more than a hundredth of the
					 * process's life */
	SP_WHY_BUDGET,			/* SSPAPI_DESCRIPTORS is spent */
	SP_WHY_DESCRIPTORS,		/* the process's or the system's are */
	SP_WHY_MEMORY,
	SP_WHY_REFUSED,			/* the kernel refuses the counters */
	SP_WHY_UNSEEN,			/* what PAPI opened was not seen */
	SP_WHY_MANY,			/* too many events in the set */
	SP_WHY_FORMULA,			/* an event that is no sum of native ones */
	SP_WHY_MULTIPLEXED,
	SP_WHY_OVERFLOW,
	SP_WHY_STARVED,			/* the processor has too few counters for two of each */
	SP_WHY_CLOSED,			/* the application closed our descriptors */
	SP_WHY_ENDED,			/* the thread had ended */
	SP_WHY_UNWATCHED,		/* it was on a CPU where no counter of ours stood */
	SP_WHY_EDGE,			/* counting went on between our look at the counters and
					 * PAPI's */
	SP_WHY_RUNNING,			/* the same of other threads' counts, which nobody can
					 * stop */
	SP_WHY_HANDLER,			/* a handler, or another thread, called PAPI inside a call
					 * for the set */
	SP_WHY_INSIDE,			/* the thread moved, or was interrupted, inside the call of
					 * PAPI */
	SP_WHY_SHADOW,			/* our counters counted what PAPI's did not */
	SP_WHY_CLOCK,			/* a clock, of which each move costs the two some time */
	SP_WHY_OPENER,			/* another thread than the set's user opened PAPI's
					 * counters */
	SP_WHY_SWITCHED_OFF,		/* the program switched counters of the thread off
					 * (prctl) */
	SP_WHY_COMPONENT,		/* its component is not perf_event */
	SP_WHY_DISPLACED,			/* another set took its counters by CPU, but PAPI refused to
					 * start that one */
	SP_WHY_FILTER,			/* a seccomp filter came, and might end a process that opens
					 * counters */
	SP_WHY_SHARED,			/* its component counts for the process, a package, a device
					 * or the host */
	SP_WHY_GUEST,			/* the thread shares another one's TLS, whose rseq area is
					 * not its own */
	SP_WHYS
};
enum sp_readings { SP_TEMPORARY, SP_PERMANENT };
#define SP_STAT_OUTSIDE	1u		/* counted from outside (sspapi stat), not by the program's
					 * calls of PAPI */
#define SP_STAT_WHOLE	2u		/* nothing is missing: all CPUs were watched, or the clock
					 * on all says so; and nothing became another user's */
#define SP_STAT_GROUP	4u		/* all of a control group: each CPU's own counters counted
					 * it, and its threads are not known */
#define SP_STAT_RUN_SHIFT 8		/* above: of `stat -r`, a process's run, from 1 on; of the
					 * whole store, how many; 0: one */

#define SP_TORN_FULL	1u		/* it took no more */
#define SP_TORN_SHIFT	8

/* The process. host, boot_id, pid_ns, pid and start_ticks together show whether it still lives.
 * Written once, except end_ns. */
struct sp_header_process {
	uint32_t pid, ppid;
	uint64_t start_ticks;		/* /proc/PID/stat field 22 */
	uint64_t pid_ns;		/* inode of /proc/self/ns/pid */
	char boot_id[40];
	uint64_t start_ns, end_ns;	/* since the epoch */
	sp_off host, exe, args, job, cwd;	/* args: SP_BLOCK_STRINGS */
	int64_t rank;			/* -1: none */
};

/* Heads of lists, newest first.  Each grows by one store, after its block is whole. */
struct sp_header_lists {
	sp_off events, threads, notes;
	uint32_t n_events, n_threads, n_relations, n_notes;
};

/* Where code is: heads of lists as above. */
struct sp_header_code {
	sp_off sites, modules;
	sp_off kept_sites, kept_modules;	/* as `kept` */
	uint32_t n_sites, n_modules;
};

/* The processes and machines of a merged or compact store.  0: a live file, which has one process,
 * that of the header. */
struct sp_header_compact {
	sp_off members, machines;	/* in order */
	uint32_t n_members, n_machines;
};

/* CPU time.  Since version 5 (sp_header_copy). */
struct sp_header_time {
	uint64_t cpu_ns;		/* of the process until its last dump, without sspapi's own;
					 * 0: not known */
	uint64_t counted_ns;		/* of it while a set counted, at least */
	uint64_t counted_more_ns;	/* and at most so much more; SP_COUNTED_UNKNOWN: that is not
					 * known */
	uint64_t prepare_ns;		/* that sspapi spent preparing sets */
};

struct sp_header {
	char magic[8];
	uint32_t endian;
	uint16_t version, oldest_reader;
	uint32_t bytes;			/* of this header; of a later version there may be more */
	uint32_t end;			/* enum sp_end */
	uint64_t used;			/* bytes of the store in use */

	struct sp_header_process process;

	sp_off papi_library;
	uint32_t papi_version;		/* 0x07000000: 7.0.0.0 */
	uint32_t attribution, readings, callsites;
	uint64_t readings_max;

	sp_off topology;		/* struct sp_topology */
	struct sp_header_lists lists;
	sp_off call_names;		/* SP_BLOCK_STRINGS; index = index in calls */

	uint64_t dropped_readings;	/* that could not be booked at all */
	uint64_t dropped_relations;	/* for which there was no memory */
	uint64_t self_calls;		/* calls of PAPI that sspapi timed itself in */
	uint64_t self_ns;		/* and what it cost in those */
	sp_off output, format;		/* where its dump goes, and in which forms, for recover */
	uint64_t torn;			/* not all of the store is in this file: SP_TORN_..., errno
					 * above; 0: it is */
	struct {
		sp_off events, threads, notes;
	} kept;				/* with torn: the newest of each list that is in the file,
					 * if a later one is not */
	uint64_t cpu_max_khz;		/* the CPUs' highest clock, for metrics with `#`; 0: not
					 * known */
	struct sp_header_code code;
	struct sp_header_compact compact;
	uint64_t pad[2];
	sp_off cpus_allowed;		/* "0-3,8": the affinity of the thread that first called
					 * PAPI, then */
	uint64_t stat;			/* SP_STAT_...; 0: counted by the program's calls of PAPI */
	sp_off pmus;			/* of the machine, as PAPI names them: "perf,icl" */
	sp_off watched;			/* those that sets were attached to, newest first */
	uint64_t run;			/* the same in all processes of a run, as sp_run_find tells
					 * it; 0: not known */
	uint64_t start_boot_ns, end_boot_ns;	/* process.start_ns and .end_ns by CLOCK_BOOTTIME,
						 * which nobody sets */
	struct sp_header_time time;
};
#define SP_HEADER_LEAST offsetof(struct sp_header, time)
#define SP_COUNTED_UNKNOWN	UINT64_MAX

/* ---- topology --------------------------------------------------------- */

#define SP_COMPONENT_MEMORY	1u	/* beside the tree (NUMANode): sums what its parent sums */
#define SP_COMPONENT_DISALLOWED	2u	/* a PU that this process may not run on */
#define SP_COMPONENT_VENDOR_SHIFT 8	/* of a GPU: enum sp_vendor; its os_index is its number
					 * among the vendor's */
enum sp_vendor { SP_VENDOR_NONE, SP_VENDOR_NVIDIA, SP_VENDOR_AMD, SP_VENDOR_INTEL };

/* Components stand in the order of a walk from the root, so that a parent's
 * index is below its children's. */
struct sp_component {
	int32_t parent;			/* index; -1: the root */
	int32_t os_index;		/* -1: the system gives it none */
	int32_t logical_index;
	int32_t cpu_kind;		/* hwloc cpukinds: 0.. by efficiency; -1: not hybrid */
	uint32_t flags;
	uint32_t depth;			/* of indentation */
	uint64_t gp_index;		/* hwloc's, to find the object in the XML again; from 2^64 -
					 * 1 downwards: a GPU that is not there */
	uint64_t size;			/* bytes of cache or memory; 0: not one */
	char type[16];			/* as hwloc writes it: Machine, Package, NUMANode, L3, Core,
					 * PU */
	char name[56];			/* for people; may be empty */
};

struct sp_topology {
	struct sp_block b;
	uint32_t n;			/* components */
	uint32_t n_cpus;		/* highest OS index of a PU, plus one */
	sp_off source;			/* "system", a path, or "flat" */
	uint64_t xml_bytes;		/* hwloc's XML stands behind the components */
	struct sp_component at[];
};

/* ---- events ----------------------------------------------------------- */

enum sp_data_type { SP_INT64, SP_UINT64, SP_FP64, SP_BIT64 };	/* PAPI's numbers */
enum sp_kind { SP_COUNTER, SP_GAUGE };

/* Where in the machine the event is counted, as far as its name tells; place_id as the
 * system numbers it. */
enum sp_place_kind {
	SP_PLACE_READING,		/* on the CPU of the reading */
	SP_PLACE_MACHINE,
	SP_PLACE_CPU,
	SP_PLACE_PACKAGE,
	SP_PLACE_MEMORY,		/* of package place_id: its NUMANode if it has just one,
					 * else the package */
	SP_PLACE_PACKAGE_OF_CPU,	/* SP_NO_CPU: that of the set's target */
	SP_PLACE_MEMORY_OF_CPU,
	SP_PLACE_DIE,			/* place_id: package << 8 | die */
	SP_PLACE_GPU,			/* place_id: enum sp_vendor << 16 | number */
	SP_PLACE_UNKNOWN		/* of a device or package, PAPI does not tell which */
};

struct sp_event {
	struct sp_block b;
	sp_off next;
	uint32_t id;
	uint32_t code;			/* PAPI's, of this process only */
	uint8_t data_type, kind;
	uint8_t scope;			/* enum sp_scope, of what its component counts */
	uint8_t place;			/* enum sp_place_kind */
	int32_t place_id;
	sp_off name, component, derived, postfix, units, description, natives;
	sp_off pmu;			/* the kernel's, of one kind of cores ("cpu_atom"), that
					 * counts it; 0: any, or not known */
};

/* ---- threads and relations -------------------------------------------- */

static inline uint64_t sp_counted_add(uint64_t more, uint64_t and)
{
	return more > SP_COUNTED_UNKNOWN - and ? SP_COUNTED_UNKNOWN : more + and;
}

/* How much CPU time of a thread sets of its own have counted, each moment once. Its thread's:
 * readers find the sum in the header. */
struct sp_ran {
	uint64_t ns;			/* at least */
	uint64_t more_ns;		/* and at most so much more; SP_COUNTED_UNKNOWN: that is not
					 * known */
	uint64_t since;			/* in ticks: when the first of the sets that count now was
					 * started; 0: none counts */
	uint64_t known_ns, known;	/* the thread's CPU time at a moment, in ticks, which is
					 * never later than `since` */
	uint64_t ended_ns;		/* its CPU time when another thread stopped the only one; 0:
					 * none did; SP_COUNTED_UNKNOWN: there are several */
	uint32_t losses[2];		/* sp_thread_state.losses at `known` and at `since`: in
					 * between nothing was lost if they are the same */
};

struct sp_thread {
	struct sp_block b;
	sp_off next;
	int32_t tid;			/* 0: threads that have ended, folded together */
	uint32_t n_relations;
	char name[16];
	uint64_t threads;		/* 1; in tid 0: how many are folded into it */
	sp_off relations;		/* newest first */
	sp_off kept;			/* as the header's, of its relations */
	uint64_t calls[SP_CALLS_MAX];	/* not in the compact form: the block ends before them */
	struct sp_ran ran;		/* nor in version 4 */
};

enum sp_target { SP_TARGET_THREAD, SP_TARGET_CPU, SP_TARGET_TID };

/* What the counts of a relation are counts of; core/events/components.c has it by PAPI
 * component. */
enum sp_scope {
	SP_SCOPE_THREAD,
	SP_SCOPE_CPU,
	SP_SCOPE_PROCESS,
	SP_SCOPE_PACKAGE,
	SP_SCOPE_HOST,
	SP_SCOPE_DEVICE
};

#define SP_CELLS_EXTRA	8u	/* for CPUs that the topology lacks, behind the dense ones; the last
				 * is "no CPU" */
#define SP_CELLS_BYTES	1024u	/* of a block of cells, where one cell does not take more */
#define SP_NO_CPU	(-1)

#define SP_RELATION_PROVEN	1u	/* the kernel counted on this CPU only: all of total is
					 * exact */
#define SP_RELATION_BACKWARDS	2u	/* a count was seen to go backwards */
#define SP_RELATION_FOREIGN	4u	/* read by a thread that is not the one counted */
#define SP_RELATION_ESTIMATED	8u	/* PAPI multiplexed the set: its counts are estimates */
#define SP_RELATION_API		16u	/* made for sspapi_start: no other set goes on in it */
#define SP_RELATION_CROWDED	64u	/* pairs of call sites were met that there was no room
					 * for */
#define SP_RELATION_UNSURE	128u	/* a call has no record: it was nested, jumped out of, or
					 * overtaken by another thread */
#define SP_RELATION_RUNNING	256u	/* the set ran when its thread or process ended; while it
					 * lives the state says it */
#define SP_RELATION_OTHER_STARTER	1024u	/* started by another thread than the one counted, whose
					 * block it hangs from */
#define SP_RELATION_HASTY	512u	/* a window was shorter than a second, and PAPI refreshes
					 * the counts once a second */
#define SP_RELATION_HOW_SHIFT	16	/* 4 bits: enum sp_attribution of its counts */
#define SP_RELATION_WHY_SHIFT	20	/* 6 bits: enum sp_why */
#define SP_RELATION_HOW		(0x3ffu << SP_RELATION_HOW_SHIFT)
#define SP_RELATION_HANDLE	32u	/* the program holds it (sspapi.h): it is not added to
					 * others */

/* A relation is followed, in this order, by
 *	uint32_t event[k]		ids, padded to 8 bytes
 *	struct sp_state			with its arrays
 *	struct sp_record[SP_RECORDS]	each with its values
 *	struct sp_redo_entry[]		SP_REDO_CELLS of cells and as many of intervals
 *	struct sp_cell			the last cell, of no known CPU, with its arrays
 *	sp_off blocks[] blocks of the cells before it, in order; 0: none of the block's cells was
 *	needed yet
 *	struct sp_times			with its arrays
 * at the places that sp_relation_layout gives.
 */
struct sp_relation {
	struct sp_block b;
	sp_off next;
	sp_off thread;			/* 0 in the compact form */
	uint32_t id;
	int32_t event_set;
	uint32_t k;			/* events */
	uint32_t cells;			/* dense ones for CPUs 0.., then SP_CELLS_EXTRA */
	uint32_t target;		/* enum sp_target */
	int32_t target_id;		/* the CPU or the tid; with SP_RELATION_OTHER_STARTER the tid of the
					 * thread that started it */
	uint32_t scope;			/* enum sp_scope */
	uint32_t flags;			/* SP_RELATION_* */
	uint32_t threads;		/* folded together; 1 otherwise */
	uint32_t domain;		/* PAPI_DOM_*; 0: not known */
	uint64_t starts, resets;
	uint64_t first_ns, last_ns;	/* coarse; 0: none yet */
	sp_off folded;			/* in tid 0: includes this relation, which may still stand
					 * in its list */
	sp_off gauges;			/* struct sp_gauges; 0: all events are counters */
	uint64_t redo_bytes;		/* so many bytes of drafts hold, and not what they are
					 * drafts of */
	uint64_t place;			/* of the first record, numbered place / SP_PLACES + 1; the
					 * rest: struct sp_writer */
	uint64_t reading_ns;		/* of the last reading that made entries, whose time they
					 * have; coarse */
	sp_off readings;		/* permanent ones: the newest chunk */
	sp_off kept;			/* as the header's, of its chunks */
	uint64_t refused;		/* permanent readings that were not kept */
	sp_off intervals;		/* blocks of them, newest first */
};

/* ---- records ------------------------------------------------------------
 *
 * What is told of a set, each call of PAPI in the order in which it was booked.  Records are added;
 * many of them together are folded (rules.h) into the state, cells and intervals.  What a fold
 * changes is drafted first: drafts that hold (sp_relation.redo_bytes) are to be read in place of the
 * words that they are drafts of, and may be copied there again and again.  So nothing is lost, nor
 * there twice, whichever instruction is a process's last.
 */
enum sp_op {
	SP_OP_START, SP_OP_READ, SP_OP_STOP, SP_OP_ACCUM, SP_OP_RESET,
	SP_OP_WRITE,			/* PAPI_write: counting goes on from the values */
	SP_OP_PART,			/* of a window that was spent on several CPUs: counts that
					 * are the cell's, and not the one's (`count`) that the
					 * reading before it is in */
	SP_OP_PROVEN,			/* so much more is proven of what the cell has */
	SP_OP_MISSED,			/* calls that have no record (nested, jumped out of,
					 * overtaken) may have started, stopped or zeroed the set */
	SP_OP_IS_RUNNING = 11, SP_OP_IS_STOPPED	/* PAPI was asked whether the set runs (9 and 10 were of
					 * older versions) */
};

#define SP_RECORD_OP		15u	/* of `op_flags`: enum sp_op */
#define SP_RECORD_PROVEN	16u	/* the counts are proven to be the cell's */
#define SP_RECORD_PERMANENT	32u	/* the reading is kept (sp_chunk), */
#define SP_RECORD_NO_ENTRY	64u	/* or leaves nothing but counts */
#define SP_RECORD_KEEPS		256u	/* START, RESET, ACCUM: the component does not zero its
					 * counts there */

#define SP_RECORDS	37u		/* of a relation: as many as are folded at once, and one
					 * after a jump out of a fold */
#define SP_RECORDS_MOST	120u		/* in version 4 */
#define SP_PLACES	128u

struct sp_record {
	uint64_t number;		/* from 1; written last: another than its place's is no
					 * record (yet, or any more) */
	uint32_t op_flags;			/* SP_RECORD_* */
	int32_t cell;			/* of the relation */
	uint32_t from, site;		/* call sites: of the call before this one, and of this one;
					 * 0: not known */
	uint64_t count;			/* of calls that are alike, of which the values are the last
					 * one's, or, of ACCUM, the sum */
	int64_t value[];		/* [k] as PAPI handed them out; of ACCUM what it added */
};

/* What the records up to `folded` have made of the relation, beside its cells and intervals. */
struct sp_state {
	uint64_t folded;
	uint64_t epoch;			/* entries of cells with another epoch are deleted */
	int32_t cell;			/* of the last reading; < 0: there was none */
	uint32_t flags;			/* SP_STATE_* */
	int64_t at[];			/* [k] each, in the order of enum sp_state_array */
};

#define SP_STATE_DELETE		1u	/* the next READ or STOP deletes the temporary entries:
					 * there was a zeroing */
#define SP_STATE_BASELINE	2u	/* the next value is where counting starts, not a count */
#define SP_STATE_RUNNING	4u
#define SP_STATE_PERMANENT	8u	/* the last reading was kept */
#define SP_STATE_BACKWARDS	16u	/* a count was seen to go backwards */
#define SP_STATE_UNSURE		32u	/* as SP_RELATION_UNSURE */
#define SP_STATE_CROWDED	64u	/* as SP_RELATION_CROWDED */
#define SP_STATE_MISSED		256u	/* after SP_OP_MISSED: the next value counts, even if the
					 * set stands; if it is lower, PAPI had zeroed the set */

enum sp_state_array {
	SP_LAST,			/* handed out since the last zeroing */
	SP_OTHERS,			/* the temporary entries of all cells but the last
					 * reading's, summed */
	SP_KEPT,			/* the last permanent entry's value */
	SP_STATE_ARRAYS
};

/* The words that stand from `at` on in the store, as they are to be. */
struct sp_redo_entry {
	sp_off at;
	uint64_t bytes;
	int64_t words[];
};

#define SP_REDO_CELLS	8u

#define SP_CELL_USED	1u
#define SP_CELL_KEPT	2u		/* there are permanent readings on this CPU */
#define SP_CELL_UNSUPPORTED	4u		/* in the compact form: the words of entries are no entries:
					 * where one is not 0, this CPU cannot count the event */

struct sp_cell {
	int32_t cpu;			/* SP_NO_CPU: not known where */
	uint32_t used;			/* SP_CELL_* */
	uint64_t readings;
	uint64_t epoch;			/* entry holds if this is the state's */
	uint64_t ns;			/* of the entry */
	int64_t at[];			/* [k] each, in the order of enum sp_cell_array */
};
enum sp_cell_array { SP_TOTAL, SP_EXACT, SP_ENTRY, SP_CELL_ARRAYS };

/* Behind a relation's cells: how its counts were told to CPUs, as far as is known. */
struct sp_times {
	sp_off allowed;			/* CPUs that the thread could run on, as "0-3"; 0: not
					 * known */
	uint64_t moves;			/* as the kernel counts them, with SP_TIMES_MOVES */
	uint64_t windows;		/* that were spent on several CPUs */
	uint32_t flags;			/* SP_TIMES_* */
	uint32_t unwatched;		/* a CPU, plus 1, to which counts were attributed that no
					 * watched CPU's counter had; 0: none */
	sp_off overflows;		/* struct sp_overflows; 0: no overflow handler was called */
	uint64_t at[];			/* [cells] ns of the thread there while the set ran; [k]
					 * edge: what the edges of one such window may have put on a
					 * neighbour */
};
#define SP_TIMES_KNOWN	1u
#define SP_TIMES_MOVES	2u
#define SP_TIMES_UNWATCHED	4u	/* and to other CPUs */

struct sp_layout {
	uint64_t state, records, record_bytes, redo_log, redo_capacity, cell, cell_bytes, times,
		bytes;
	uint64_t blocks, each;		/* the cells of one block; 0: all cells are at `cell`, as in
					 * version 4 and in the compact form */
};

static inline uint64_t sp_cell_blocks(const struct sp_layout *l, uint64_t cells)
{
	return l->each ? (cells - 1 + l->each - 1) / l->each : 0;
}

/* In the compact form nothing but cells and times follow: cells of counted CPUs only, ascending,
 * whose entry holds if `epoch` is not 0. */
static inline struct sp_layout sp_compact_layout(uint64_t k, uint64_t cells)
{
	struct sp_layout l = { .cell = sizeof(struct sp_relation) + sp_align(k * 4, 8) };

	l.cell_bytes = sizeof(struct sp_cell) + SP_CELL_ARRAYS * k * 8;
	l.times = l.cell + cells * l.cell_bytes;
	l.bytes = l.times + sizeof(struct sp_times) + (cells + k) * 8;
	return l;
}

/* Of a relation whose block has room for all of it. */
static inline struct sp_times *sp_times_of(const struct sp_relation *r, const struct sp_layout *l)
{
	return (struct sp_times *)((char *)r + l->times);
}

/* ---- permanent readings ------------------------------------------------ */

/* Chunks of readings, the newest first; of each chunk, as many readings as are
 * complete: the first with another number than its place's is none yet. */
struct sp_chunk {
	struct sp_block b;
	sp_off next;			/* the chunk before it; 0: none */
	uint64_t pad;
	uint64_t first;			/* readings in the chunks before it */
	uint64_t first_ns;		/* of its first reading; 0: none yet */
	uint32_t number;		/* of the chunk: 0, 1 ... */
	_Alignas(8) uint32_t k;		/* values of a reading */
	uint32_t room;			/* readings that fit */
};

struct sp_reading {
	uint64_t ns;			/* since the epoch; grows in a relation */
	int32_t cpu;			/* SP_NO_CPU: not known */
	uint32_t number;		/* its place in the chunk plus one; written last */
	int64_t value[];		/* [k] what sys-sage enters for the CPU (rules.h) */
};

static inline uint64_t sp_reading_bytes(uint64_t k)
{
	return sizeof(struct sp_reading) + k * 8;
}

/* Of the events of a relation that are gauges (gauge.h).
 * Followed by
 *	uint32_t index[n]		which of the relation's events, padded to 8 bytes
 *	struct sp_gauge at[cells][n]	cells as the relation's; or 1, for where no CPU is known
 * In the relation's own cells, and in its intervals, total and exact of these events are 0; entries
 * are of all.  (Those of floating-point counters are doubles.) */
struct sp_gauges {
	struct sp_block b;
	uint32_t n, cells;
};

struct sp_gauge {
	uint64_t readings;
	uint64_t ns;			/* of the last one */
	int64_t last, min, max;		/* in the event's data_type */
	double sum;			/* for the mean */
	uint32_t data_type;
	int32_t cpu;			/* in the compact form: of the readings; a cell of gauges
					 * has one CPU */
};

/* ---- overflows --------------------------------------------------------- */

/* How often the overflow handlers of a relation's sets were called, and what they
 * interrupted.  Followed by
 *	struct sp_overflow at[n] by event, then by cell; in the compact form those that are counted
 *	struct sp_hit hit[hits]		in buckets of SP_HIT_WAYS; in the compact form in no order
 * A call is in `count` first, and then perhaps in a hit: what a count has beyond its hits fell
 * out of them, or its process was killed in between. */
struct sp_overflows {
	struct sp_block b;
	uint32_t n, hits;
};

struct sp_overflow {
	uint32_t event;			/* of the relation; k: PAPI did not tell */
	int32_t cpu;			/* that the handler ran on; SP_NO_CPU: none; of an event
					 * these are hits of PAPI_profil */
	uint64_t count;
};

#define SP_HITS		512u		/* of a relation of the live form */
#define SP_HIT_WAYS	8u
#define SP_HIT_BUSY	UINT32_MAX	/* in `of`: being written */

/* An address has been hit count - before times at least since it got its place; `before` is what
 * the one that had the place before had (Metwally and others, "Space-Saving"). */
struct sp_hit {
	uint64_t address;		/* of the code */
	uint32_t module;		/* its number; in the compact form in the process's own
					 * list; 0: in none */
	uint32_t of;			/* the number, from 1, of its struct sp_overflow; 0: free */
	uint64_t count, before;
};

/* ---- the compact form ---------------------------------------------------
 *
 * Events, names of calls, call sites and topologies are there once, by the header; behind them
 * stand the processes, one after the other, each in one piece with all that is its own but what it
 * shares with the store.  Of a merged store the order of everything follows from what is in it, so
 * that stores give the same bytes however they are merged.
 */
struct sp_machine {
	struct sp_block b;
	sp_off next;			/* the one behind it */
	sp_off host;
	sp_off topology;		/* 0: none of its processes had one; others may share it */
	uint64_t disallowed[];		/* a bit a component: no process may run there */
};

struct sp_member {
	struct sp_block b;
	sp_off next;			/* the process behind it */
	uint64_t extent;		/* bytes from here that hold all that is the process's
					 * own */
	uint32_t machine;		/* its number in the list */
	uint32_t n_calls;
	struct sp_header h;		/* the process's; its events, topology and call names are
					 * the store's */
};					/* behind h, which is h.bytes long: n_calls numbers, by the
					 * store's call_names */
/* ---- intervals and call sites ------------------------------------------ */

/* The counts between two calls.  What a cell has beyond its intervals is nobody's.  Followed by
 * `room` times struct sp_interval. */
struct sp_intervals {
	struct sp_block b;
	sp_off next;
	uint32_t k;			/* events, as the relation */
	uint32_t room;
	uint64_t n;			/* in use */
};

struct sp_interval {
	uint32_t from, to;		/* sites; 0: not known */
	int32_t cell;			/* of the relation */
	uint32_t number;		/* its place in the block, from 0; 0 in the compact form */
	uint64_t count;			/* readings at `to` */
	int64_t at[];			/* total[k], exact[k] */
};

#define SP_INTERVAL_BYTES(k)	(sizeof(struct sp_interval) + 16 * (uint64_t)(k))
#define SP_STATE_BYTES(k)	(sizeof(struct sp_state) + SP_STATE_ARRAYS * 8 * (uint64_t)(k))

static inline uint32_t sp_records_of(const struct sp_header *h)
{
	return h->version < 5 ? SP_RECORDS_MOST : SP_RECORDS;
}

static inline struct sp_layout sp_live_layout(uint64_t k, uint64_t cells, uint32_t records)
{
	struct sp_layout l = { .state = sizeof(struct sp_relation) + sp_align(k * 4, 8) };

	l.cell_bytes = sizeof(struct sp_cell) + SP_CELL_ARRAYS * k * 8;
	l.records = l.state + SP_STATE_BYTES(k);
	l.record_bytes = sizeof(struct sp_record) + k * 8;
	l.redo_log = l.records + records * l.record_bytes;
	/* The state; an interval may bring its block's head. */
	l.redo_capacity = (1 + 3 * SP_REDO_CELLS) * sizeof(struct sp_redo_entry) + SP_STATE_BYTES(k) +
		       SP_REDO_CELLS * (l.cell_bytes + SP_INTERVAL_BYTES(k) + 8);
	l.cell = l.redo_log + l.redo_capacity;
	l.times = l.cell + cells * l.cell_bytes;
	if (records == SP_RECORDS) {
		l.each = sp_max((SP_CELLS_BYTES - sizeof(struct sp_block)) / l.cell_bytes, 1u);
		l.blocks = l.cell + l.cell_bytes;
		l.times = l.blocks + sp_cell_blocks(&l, cells) * sizeof(sp_off);
	}
	l.bytes = l.times + sizeof(struct sp_times) + (cells + k) * 8;
	return l;
}

static inline uint64_t sp_cells_bytes(const struct sp_layout *l)
{
	return sp_max(SP_CELLS_BYTES, sizeof(struct sp_block) + l->each * l->cell_bytes);
}

/* As this version writes it. */
static inline struct sp_layout sp_relation_layout(uint64_t k, uint64_t cells)
{
	return sp_live_layout(k, cells, SP_RECORDS);
}

#define SP_FRAMES_MAX	64u
#define SP_SITES_EACH	32u		/* of a block */
#define SP_SITES_MOST	4096u		/* of a process */

/* Followed by SP_SITES_EACH sites, each with room for `frames` frames.  Sites are
 * numbered from 1; the first of the block has number `first`. */
struct sp_sites {
	struct sp_block b;
	sp_off next;
	uint32_t first, frames;
};

struct sp_site {
	uint32_t n;			/* frames, innermost first; 0: not in use */
	uint32_t pad;
	char name[60];			/* of a high-level region; or empty */
	uint32_t call;			/* enum sp_region_call: which one of the region's, where it
					 * has a name */
};
enum sp_region_call { SP_REGION_CALL_UNKNOWN, SP_REGION_BEGINS, SP_REGION_READ, SP_REGION_ENDS };

struct sp_frame {
	uint64_t address;		/* to which PAPI returned */
	uint32_t module;		/* its number; 0: not looked up (yet), or in no module */
	uint32_t pad;
	sp_off symbol;			/* an exported one that holds it; 0: none */
};

struct sp_module {
	struct sp_block b;
	sp_off next;
	uint32_t number;		/* 1, 2, ... */
	uint32_t gone;			/* it was unloaded */
	uint64_t low, span;		/* where it was mapped */
	uint64_t base;			/* offset = address - base */
	sp_off path;
	uint32_t build_id_bytes;
	unsigned char build_id[36];
};

static inline uint64_t sp_site_bytes(uint32_t frames)
{
	return sizeof(struct sp_site) + frames * sizeof(struct sp_frame);
}

/* A thread of another process, or of this one, that a set was attached to. */
struct sp_watched {
	struct sp_block b;
	sp_off next;
	int32_t tid;
	uint32_t over;			/* enum sp_over: at the last dump */
	uint64_t start_ticks;		/* as in the header */
	char name[16];			/* as all else here, when it was attached to */
	sp_off args;			/* of its process: SP_BLOCK_STRINGS */
};
enum sp_over { SP_OVER_UNKNOWN, SP_OVER_NO, SP_OVER_YES };

struct sp_note {
	struct sp_block b;
	sp_off next;
	char text[];
};

_Static_assert(sizeof(struct sp_header) == 504, "a header has no holes");
_Static_assert(sizeof(struct sp_component) == 112, "a component has no holes");
_Static_assert(sizeof(struct sp_record) == 32, "a record has no holes");
_Static_assert(sizeof(struct sp_cell) == 32, "a cell has no holes");
_Static_assert(sizeof(struct sp_gauge) == 56, "a gauge has no holes");
_Static_assert(sizeof(struct sp_hit) == 32, "a hit has no holes");

#endif
