/* layout.h: the bytes of a store, and the sizes that follow from them.
 *
 * A live store belongs to a running process; its live file outlives the process. Dumps, `sspapi
 * merge` and `sspapi stat` write compact stores, whose header has `members`. sspapi-store(5)
 * describes both.
 *
 * The header is at offset 0, the blocks follow. Blocks refer to each other by offset from the start
 * of the store (sp_off, 0 = none). Lists grow at their head only, so that a reader finds complete
 * blocks even if the writer was killed at any instruction. Each block starts with its kind and
 * size. A reader checks these, and every offset, before it reads the block. Numbers have the
 * writer's byte order (`endian`).
 *
 * A reading costs plain stores only, and a kill at any instruction loses no count: see
 * "records".
 */
#ifndef SP_LAYOUT_H
#define SP_LAYOUT_H

#include "../base/base.h"

typedef uint64_t sp_off;

#define SP_MAGIC		"SSPAPI\r\n"
#define SP_ENDIAN		0x01020304u
#define SP_FORMAT_VERSION	5u	/* version that this code writes */
#define SP_FORMAT_READER	5u	/* oldest sspapi that reads its live stores; compact
					 * stores: SP_FORMAT_OLDEST */
#define SP_FORMAT_OLDEST	4u	/* oldest version that this code reads; no earlier one
					 * was released */
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
	SP_BLOCK_FREE,			/* no longer used */
	SP_BLOCK_READINGS,
	SP_BLOCK_GAUGES,
	SP_BLOCK_OVERFLOWS,
	SP_BLOCK_CELLS,			/* head, then cells */
	SP_BLOCK_INTERVALS = 0x5320,
	SP_BLOCK_SITES,
	SP_BLOCK_MODULE,
	SP_BLOCK_MEMBER = 0x5330,	/* compact stores only, up to SP_BLOCK_MACHINE */
	SP_BLOCK_MACHINE,
	SP_BLOCK_WATCHED = 0x5340
};

struct sp_block {
	uint32_t kind;
	uint32_t bytes;			/* including this head; a multiple of 8 */
};

struct sp_string {
	struct sp_block b;
	uint32_t length;		/* without the closing NUL, which follows */
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

/* AUTO is only a setting. APPROXIMATE occurs only in relations: counts in proportion to what the
 * kernel counted. */
enum sp_attribution { SP_BY_READING, SP_BY_RESIDENCY, SP_BY_EXACT, SP_BY_AUTO, SP_BY_APPROXIMATE };

/* Why some counts of a relation are not attributed to CPUs as the setting requires
 * (sspapi-attribution(7)). */
enum sp_why {
	SP_WHY_NONE,
	SP_WHY_OFF,			/* SSPAPI_DESCRIPTORS=0 */
	SP_WHY_CREDIT,			/* auto: would cost over 1 % of the process's lifetime */
	SP_WHY_BUDGET,			/* SSPAPI_DESCRIPTORS is used up */
	SP_WHY_DESCRIPTORS,		/* the process or the system has no more descriptors */
	SP_WHY_MEMORY,
	SP_WHY_REFUSED,			/* the kernel refuses the shadow counters */
	SP_WHY_UNSEEN,			/* sspapi did not see PAPI's perf_event_open */
	SP_WHY_MANY,			/* too many events in the set */
	SP_WHY_FORMULA,			/* an event is not a sum of native ones */
	SP_WHY_MULTIPLEXED,
	SP_WHY_OVERFLOW,
	SP_WHY_STARVED,			/* too few hardware counters to count each event twice */
	SP_WHY_CLOSED,			/* the application closed shadow counters' descriptors */
	SP_WHY_ENDED,			/* the thread has ended */
	SP_WHY_UNWATCHED,		/* the thread was on a CPU without shadow counters */
	SP_WHY_EDGE,			/* time passed between sspapi's and PAPI's reads */
	SP_WHY_RUNNING,			/* the same for another thread's counts, which cannot be
					 * stopped */
	SP_WHY_HANDLER,			/* a signal handler or another thread called PAPI during
					 * a call for the set */
	SP_WHY_INSIDE,			/* the thread moved or was interrupted inside the PAPI
					 * call */
	SP_WHY_SHADOW,			/* the shadow counters counted more than PAPI's */
	SP_WHY_CLOCK,			/* a clock event: each move costs the two counters
					 * different times */
	SP_WHY_OPENER,			/* a thread other than the user opened PAPI's counters */
	SP_WHY_SWITCHED_OFF,		/* the program disabled the thread's counters (prctl) */
	SP_WHY_COMPONENT,		/* its component is not perf_event */
	SP_WHY_DISPLACED,		/* another set took its shadow counters, but PAPI refused
					 * to start that set */
	SP_WHY_FILTER,			/* a seccomp filter may kill processes that open counters */
	SP_WHY_SHARED,			/* its component counts for the process, a package, a device
					 * or the host */
	SP_WHY_GUEST,			/* the thread shares another thread's TLS, so rseq does
					 * not cover it */
	SP_WHYS
};
enum sp_readings { SP_TEMPORARY, SP_PERMANENT };
#define SP_STAT_OUTSIDE	1u		/* counted from outside (sspapi stat), not by PAPI calls
					 * of the program */
#define SP_STAT_WHOLE	2u		/* complete: all CPUs were watched, or the task clock on
					 * all CPUs proves it; no program changed its user */
#define SP_STAT_GROUP	4u		/* a whole control group, counted by per-CPU events; its
					 * threads are unknown */
#define SP_STAT_RUN_SHIFT 8		/* above: in a process's header its run of `stat -r`,
					 * from 1; else the number of runs; 0: one run */

#define SP_TORN_FULL	1u		/* the file could not grow */
#define SP_TORN_SHIFT	8

/* host, boot_id, pid_ns, pid and start_ticks show whether the process is alive. All but end_ns
 * are written once. */
struct sp_header_process {
	uint32_t pid, ppid;
	uint64_t start_ticks;		/* /proc/PID/stat field 22 */
	uint64_t pid_ns;		/* inode of /proc/self/ns/pid */
	char boot_id[40];
	uint64_t start_ns, end_ns;	/* since the epoch */
	sp_off host, exe, args, job, cwd;	/* args: SP_BLOCK_STRINGS */
	int64_t rank;			/* -1: none */
};

/* Heads of lists, newest first. Each grows by one store, after its block is complete. */
struct sp_header_lists {
	sp_off events, threads, notes;
	uint32_t n_events, n_threads, n_relations, n_notes;
};

/* Code: heads of lists as above. */
struct sp_header_code {
	sp_off sites, modules;
	sp_off kept_sites, kept_modules;	/* as sp_header.kept */
	uint32_t n_sites, n_modules;
};

/* Processes and machines of a compact store. 0: a live store, whose only process is the
 * header's. */
struct sp_header_compact {
	sp_off members, machines;	/* in order */
	uint32_t n_members, n_machines;
};

/* CPU time; since version 5 (sp_header_copy). */
struct sp_header_time {
	uint64_t cpu_ns;		/* CPU time of the process until its last dump, without
					 * sspapi's own; 0: unknown */
	uint64_t counted_ns;		/* least part of cpu_ns during which a set counted */
	uint64_t counted_more_ns;	/* the part may be this much larger; SP_COUNTED_UNKNOWN:
					 * no limit known */
	uint64_t prepare_ns;		/* CPU time that sspapi spent preparing sets */
};

struct sp_header {
	char magic[8];
	uint32_t endian;
	uint16_t version, oldest_reader;
	uint32_t bytes;			/* size of this header; later versions may have more */
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

	uint64_t dropped_readings;	/* readings that could not be recorded */
	uint64_t dropped_relations;	/* relations that had no memory */
	uint64_t self_calls;		/* PAPI calls in which sspapi measured its own time */
	uint64_t self_ns;		/* sspapi's time in those calls */
	sp_off output, format;		/* path and formats of the dump, for recover */
	uint64_t torn;			/* SP_TORN_*, errno above: part of the store is missing
					 * in this file; 0: complete */
	struct {
		sp_off events, threads, notes;
	} kept;				/* if torn: the newest block of each list that is in the
					 * file, if it is not the list's head */
	uint64_t cpu_max_khz;		/* highest clock of the CPUs, for `#`; 0: unknown */
	struct sp_header_code code;
	struct sp_header_compact compact;
	uint64_t pad[2];
	sp_off cpus_allowed;		/* "0-3,8": the thread's affinity at the first PAPI call */
	uint64_t stat;			/* SP_STAT_*; 0: counted by PAPI calls of the program */
	sp_off pmus;			/* the machine's PMUs, by PAPI's names: "perf,icl" */
	sp_off watched;			/* threads that sets were attached to, newest first */
	uint64_t run;			/* the same number in all processes of a run
					 * (sp_run_find); 0: unknown */
	uint64_t start_boot_ns, end_boot_ns;	/* start_ns and end_ns by CLOCK_BOOTTIME, which
						 * cannot be set */
	struct sp_header_time time;
};
#define SP_HEADER_LEAST offsetof(struct sp_header, time)
#define SP_COUNTED_UNKNOWN	UINT64_MAX

/* ---- topology --------------------------------------------------------- */

#define SP_COMPONENT_MEMORY	1u	/* outside the tree (NUMANode): has the sums of its
					 * parent */
#define SP_COMPONENT_DISALLOWED	2u	/* a PU that this process may not run on */
#define SP_COMPONENT_VENDOR_SHIFT 8	/* a GPU's enum sp_vendor; os_index is its number among
					 * that vendor's */
enum sp_vendor { SP_VENDOR_NONE, SP_VENDOR_NVIDIA, SP_VENDOR_AMD, SP_VENDOR_INTEL };

/* Components are in depth-first order: a parent's index is below its children's. */
struct sp_component {
	int32_t parent;			/* index; -1: the root */
	int32_t os_index;		/* -1: none */
	int32_t logical_index;
	int32_t cpu_kind;		/* hwloc cpukind, from 0 by efficiency; -1: not hybrid */
	uint32_t flags;
	uint32_t depth;			/* indentation in a text tree */
	uint64_t gp_index;		/* hwloc's id, to find the object in the XML; a GPU that
					 * hwloc does not list: 2^64 - 1 and below */
	uint64_t size;			/* bytes of cache or memory; else 0 */
	char type[16];			/* hwloc's name: Machine, Package, NUMANode, L3, Core, PU */
	char name[56];			/* for people; may be empty */
};

struct sp_topology {
	struct sp_block b;
	uint32_t n;			/* components */
	uint32_t n_cpus;		/* highest OS index of a PU, plus one */
	sp_off source;			/* "system", a path, or "flat" */
	uint64_t xml_bytes;		/* hwloc's XML follows the components */
	struct sp_component at[];
};

/* ---- events ----------------------------------------------------------- */

enum sp_data_type { SP_INT64, SP_UINT64, SP_FP64, SP_BIT64 };	/* PAPI's numbers */
enum sp_kind { SP_COUNTER, SP_GAUGE };

/* Where in the machine the event is counted, as its name shows. place_id is the system's number
 * of that place. */
enum sp_place_kind {
	SP_PLACE_READING,		/* the CPU of the reading */
	SP_PLACE_MACHINE,
	SP_PLACE_CPU,
	SP_PLACE_PACKAGE,
	SP_PLACE_MEMORY,		/* NUMANode of package place_id if it has only one; else
					 * the package */
	SP_PLACE_PACKAGE_OF_CPU,	/* place_id: CPU; SP_NO_CPU: the set's target */
	SP_PLACE_MEMORY_OF_CPU,
	SP_PLACE_DIE,			/* place_id: package << 8 | die */
	SP_PLACE_GPU,			/* place_id: enum sp_vendor << 16 | number */
	SP_PLACE_UNKNOWN		/* some device or package; PAPI does not report which */
};

struct sp_event {
	struct sp_block b;
	sp_off next;
	uint32_t id;
	uint32_t code;			/* PAPI's, in this process only */
	uint8_t data_type, kind;
	uint8_t scope;			/* enum sp_scope of its component */
	uint8_t place;			/* enum sp_place_kind */
	int32_t place_id;
	sp_off name, component, derived, postfix, units, description, natives;
	sp_off pmu;			/* PMU of the one kind of cores that counts it
					 * ("cpu_atom"); 0: any, or unknown */
};

/* ---- threads and relations -------------------------------------------- */

static inline uint64_t sp_counted_add(uint64_t more, uint64_t and)
{
	return more > SP_COUNTED_UNKNOWN - and ? SP_COUNTED_UNKNOWN : more + and;
}

/* CPU time during which a thread's own sets counted, each moment once. Only the thread uses it;
 * readers find the process's sum in the header. */
struct sp_ran {
	uint64_t ns;			/* lower limit */
	uint64_t more_ns;		/* may be this much more; SP_COUNTED_UNKNOWN: no limit
					 * known */
	uint64_t since;			/* ticks when the first set that is counting now was
					 * started; 0: none is counting */
	uint64_t known_ns, known;	/* thread's CPU time at the moment `known`, in ticks, not
					 * later than `since` */
	uint64_t ended_ns;		/* thread's CPU time when another thread stopped the only
					 * running set; 0: none was stopped; SP_COUNTED_UNKNOWN:
					 * several were */
	uint32_t losses[2];		/* sp_thread_state.losses at `known` and at `since`: if
					 * equal, the thread stayed on its CPU in between */
};

struct sp_thread {
	struct sp_block b;
	sp_off next;
	int32_t tid;			/* 0: ended threads, folded together */
	uint32_t n_relations;
	char name[16];
	uint64_t threads;		/* 1; for tid 0: the number of threads folded */
	sp_off relations;		/* newest first */
	sp_off kept;			/* as sp_header.kept, for its relations */
	uint64_t calls[SP_CALLS_MAX];	/* live stores only: in compact stores the block ends
					 * here */
	struct sp_ran ran;		/* not in version 4 */
};

enum sp_target { SP_TARGET_THREAD, SP_TARGET_CPU, SP_TARGET_TID };

/* Owner of a relation's counts; core/events/components.c has it for each PAPI component. */
enum sp_scope {
	SP_SCOPE_THREAD,
	SP_SCOPE_CPU,
	SP_SCOPE_PROCESS,
	SP_SCOPE_PACKAGE,
	SP_SCOPE_HOST,
	SP_SCOPE_DEVICE
};

#define SP_CELLS_EXTRA	8u	/* for CPUs that the topology lacks, after the dense ones; the
				 * last is "no CPU" */
#define SP_CELLS_BYTES	1024u	/* size of a block of cells, unless one cell is larger */
#define SP_NO_CPU	(-1)

#define SP_RELATION_PROVEN	1u	/* the kernel counted only on this CPU: all of total is
					 * exact */
#define SP_RELATION_BACKWARDS	2u	/* a count decreased */
#define SP_RELATION_FOREIGN	4u	/* read by a thread other than the counted one */
#define SP_RELATION_ESTIMATED	8u	/* PAPI multiplexed the set: its counts are estimates */
#define SP_RELATION_API		16u	/* made for sspapi_start: no other set continues it */
#define SP_RELATION_CROWDED	64u	/* some pairs of call sites had no room */
#define SP_RELATION_UNSURE	128u	/* a call has no record: nested, left by a jump, or
					 * overtaken by another thread */
#define SP_RELATION_RUNNING	256u	/* the set was running when its thread or process ended;
					 * before that: SP_STATE_RUNNING */
#define SP_RELATION_OTHER_STARTER 1024u /* started by another thread than the counted one, in
					 * whose list it is */
#define SP_RELATION_HASTY	512u	/* a window was shorter than the component's refresh
					 * interval, 1 s */
#define SP_RELATION_HOW_SHIFT	16	/* 4 bits: enum sp_attribution */
#define SP_RELATION_WHY_SHIFT	20	/* 6 bits: enum sp_why */
#define SP_RELATION_HOW		(0x3ffu << SP_RELATION_HOW_SHIFT)
#define SP_RELATION_HANDLE	32u	/* the program has a handle for it (sspapi.h): it is not
					 * folded into others */

/* Followed by these, at the offsets of sp_relation_layout:
 *	uint32_t event[k]		ids, padded to 8 bytes
 *	struct sp_state			with its arrays
 *	struct sp_record[SP_RECORDS]	each with its values
 *	struct sp_redo_entry[]		SP_REDO_CELLS of cells and as many of intervals
 *	struct sp_cell			the last cell, of no known CPU, with its arrays
 *	sp_off blocks[]			blocks of the other cells, in order; 0: not needed yet
 *	struct sp_times			with its arrays
 */
struct sp_relation {
	struct sp_block b;
	sp_off next;
	sp_off thread;			/* 0 in the compact form */
	uint32_t id;
	int32_t event_set;
	uint32_t k;			/* events */
	uint32_t cells;			/* dense ones for CPUs from 0, then SP_CELLS_EXTRA */
	uint32_t target;		/* enum sp_target */
	int32_t target_id;		/* CPU or tid; with SP_RELATION_OTHER_STARTER the tid of the
					 * thread that started it */
	uint32_t scope;			/* enum sp_scope */
	uint32_t flags;			/* SP_RELATION_* */
	uint32_t threads;		/* number of threads folded; else 1 */
	uint32_t domain;		/* PAPI_DOM_*; 0: unknown */
	uint64_t starts, resets;
	uint64_t first_ns, last_ns;	/* coarse; 0: none yet */
	sp_off folded;			/* tid 0: this relation is included, even if it is still
					 * in its list */
	sp_off gauges;			/* struct sp_gauges; 0: all events are counters */
	uint64_t redo_bytes;		/* bytes of redo entries that replace the words they name */
	uint64_t place;			/* first record, numbered place / SP_PLACES + 1; the
					 * rest: struct sp_writer */
	uint64_t reading_ns;		/* time of the last reading that made entries; coarse */
	sp_off readings;		/* permanent readings: the newest chunk */
	sp_off kept;			/* as sp_header.kept, for its chunks */
	uint64_t refused;		/* permanent readings that were not stored */
	sp_off intervals;		/* blocks of intervals, newest first */
};

/* ---- records ------------------------------------------------------------
 *
 * Records are the PAPI calls for a set, in the order in which they were recorded. A fold adds many
 * of them to the state, cells and intervals (rules.h).
 *
 * A fold first writes the new words to the redo log. Entries in the first `redo_bytes` bytes are
 * valid: readers use them in place of the words they name, and copying them there twice does no
 * harm. So no count is lost or doubled, whichever instruction is the process's last.
 */
enum sp_op {
	SP_OP_START, SP_OP_READ, SP_OP_STOP, SP_OP_ACCUM, SP_OP_RESET,
	SP_OP_WRITE,			/* PAPI_write: counting continues from the values */
	SP_OP_PART,			/* window on several CPUs: `cell` has these counts, not
					 * the preceding reading's cell, which is `count` */
	SP_OP_PROVEN,			/* more of the cell's counts are proven */
	SP_OP_MISSED,			/* calls without a record (nested, left by a jump,
					 * overtaken) may have started, stopped or zeroed the set */
	SP_OP_IS_RUNNING = 11, SP_OP_IS_STOPPED	/* PAPI reported whether the set is running; older
					 * versions used 9 and 10 */
};

#define SP_RECORD_OP		15u	/* enum sp_op */
#define SP_RECORD_PROVEN	16u	/* the cell's counts are proven */
#define SP_RECORD_PERMANENT	32u	/* the reading is kept (sp_chunk) */
#define SP_RECORD_NO_ENTRY	64u	/* the reading leaves no entry */
#define SP_RECORD_KEEPS		256u	/* START, RESET, ACCUM: the component does not zero its
					 * counts */

#define SP_RECORDS	37u		/* records of a relation: as many as one fold takes, and
					 * one for a call after a jump out of a fold */
#define SP_RECORDS_MOST	120u		/* in version 4 */
#define SP_PLACES	128u

struct sp_record {
	uint64_t number;		/* from 1, written last; if it does not match its place,
					 * the record is not valid */
	uint32_t op_flags;			/* SP_RECORD_* */
	int32_t cell;			/* of the relation */
	uint32_t from, site;		/* call sites: of the call before, and of this call; 0:
					 * unknown */
	uint64_t count;			/* number of equal calls; the values are the last call's;
					 * for ACCUM the sum */
	int64_t value[];		/* [k] as PAPI returned them; for ACCUM the sum added */
};

/* Result of the records up to `folded`, besides cells and intervals. */
struct sp_state {
	uint64_t folded;
	uint64_t epoch;			/* entries of cells with another epoch are deleted */
	int32_t cell;			/* cell of the last reading; < 0: no reading */
	uint32_t flags;			/* SP_STATE_* */
	int64_t at[];			/* [k] each, in the order of enum sp_state_array */
};

#define SP_STATE_DELETE		1u	/* the next READ or STOP deletes the temporary entries,
					 * since the counts were zeroed */
#define SP_STATE_BASELINE	2u	/* the next value is a start value, not a count */
#define SP_STATE_RUNNING	4u
#define SP_STATE_PERMANENT	8u	/* the last reading was permanent */
#define SP_STATE_BACKWARDS	16u	/* a count decreased */
#define SP_STATE_UNSURE		32u	/* as SP_RELATION_UNSURE */
#define SP_STATE_CROWDED	64u	/* as SP_RELATION_CROWDED */
#define SP_STATE_MISSED		256u	/* after SP_OP_MISSED: the next value counts even if the
					 * set is stopped; a lower value means that PAPI zeroed
					 * the set */

enum sp_state_array {
	SP_LAST,			/* PAPI's last values since the last zeroing */
	SP_OTHERS,			/* sum of the temporary entries of all cells but the last
					 * reading's */
	SP_KEPT,			/* value of the last permanent entry */
	SP_STATE_ARRAYS
};

/* New words for offset `at` of the store. */
struct sp_redo_entry {
	sp_off at;
	uint64_t bytes;
	int64_t words[];
};

#define SP_REDO_CELLS	8u

#define SP_CELL_USED	1u
#define SP_CELL_KEPT	2u		/* permanent readings exist for this CPU */
#define SP_CELL_UNSUPPORTED	4u	/* compact store: SP_ENTRY is a flag; if it is not 0,
					 * this CPU cannot count the event */

struct sp_cell {
	int32_t cpu;			/* SP_NO_CPU: unknown */
	uint32_t used;			/* SP_CELL_* */
	uint64_t readings;
	uint64_t epoch;			/* the entry is valid if this equals the state's */
	uint64_t ns;			/* time of the entry */
	int64_t at[];			/* [k] each, in the order of enum sp_cell_array */
};
enum sp_cell_array { SP_TOTAL, SP_EXACT, SP_ENTRY, SP_CELL_ARRAYS };

/* Follows a relation's cells: how its counts were attributed to CPUs. */
struct sp_times {
	sp_off allowed;			/* CPUs that the thread may run on: "0-3"; 0: unknown */
	union {
		uint64_t moves;		/* migrations counted by the kernel, with SP_TIMES_MOVES */
		uint64_t run_ns;	/* sum from starts to last readings, with SP_TIMES_RUN */
	};
	uint64_t windows;		/* windows on several CPUs */
	uint32_t flags;			/* SP_TIMES_* */
	uint32_t unwatched;		/* a CPU, plus 1, whose counts are those that no watched
					 * CPU's counter had; 0: none */
	sp_off overflows;		/* struct sp_overflows; 0: no overflow handler was called */
	uint64_t at[];			/* [cells] ns that the thread ran there while the set
					 * counted; [k] most counts that one window's edges may
					 * have moved to a neighbour */
};
#define SP_TIMES_KNOWN	1u
#define SP_TIMES_MOVES	2u
#define SP_TIMES_UNWATCHED	4u	/* and other CPUs have such counts */
#define SP_TIMES_RUN	8u		/* not a thread's counts; never with SP_TIMES_KNOWN */

struct sp_layout {
	uint64_t state, records, record_bytes, redo_log, redo_capacity, cell, cell_bytes, times,
		bytes;
	uint64_t blocks, each;		/* cells per block; 0: all cells are at `cell`, as in
					 * version 4 and in compact stores */
};

static inline uint64_t sp_cell_blocks(const struct sp_layout *l, uint64_t cells)
{
	return l->each ? (cells - 1 + l->each - 1) / l->each : 0;
}

/* Layout in a compact store: cells and times only. The cells are those of counted CPUs,
 * ascending; an entry is valid if `epoch` is not 0. */
static inline struct sp_layout sp_compact_layout(uint64_t k, uint64_t cells)
{
	struct sp_layout l = { .cell = sizeof(struct sp_relation) + sp_align(k * 4, 8) };

	l.cell_bytes = sizeof(struct sp_cell) + SP_CELL_ARRAYS * k * 8;
	l.times = l.cell + cells * l.cell_bytes;
	l.bytes = l.times + sizeof(struct sp_times) + (cells + k) * 8;
	return l;
}

/* The relation's block must have room for all of it. */
static inline struct sp_times *sp_times_of(const struct sp_relation *r, const struct sp_layout *l)
{
	return (struct sp_times *)((char *)r + l->times);
}

/* ---- permanent readings ------------------------------------------------ */

/* Chunks of readings, newest first. The first reading whose number does not match its place ends
 * the chunk. */
struct sp_chunk {
	struct sp_block b;
	sp_off next;			/* older chunk; 0: none */
	uint64_t pad;
	uint64_t first;			/* readings in older chunks */
	uint64_t first_ns;		/* time of its first reading; 0: none */
	uint32_t number;		/* chunk number: 0, 1 ... */
	uint32_t sites;			/* not 0: sp_reading_sites[room] follow the readings */
	uint32_t k;			/* values per reading */
	uint32_t room;			/* readings that fit */
};

struct sp_reading {
	uint64_t ns;			/* since the epoch; ascending within a relation */
	int32_t cpu;			/* SP_NO_CPU: unknown */
	uint32_t number;		/* place in the chunk plus one; written last */
	int64_t value[];		/* [k] the entry that the reading made (rules.h) */
};

struct sp_reading_sites {
	uint16_t from, site;		/* the call sites of a reading, as in its record */
};

static inline uint64_t sp_reading_bytes(uint64_t k)
{
	return sizeof(struct sp_reading) + k * 8;
}

/* The events of a relation that are gauges (gauge.h). Followed by
 *	uint32_t index[n]		event's index in the relation; padded to 8 bytes
 *	struct sp_gauge at[cells][n]	the relation's cells; or 1 cell if the CPU is unknown
 * The relation's cells and intervals have 0 in total and exact for these events, and entries for
 * all. (Totals of floating-point counters are doubles.)
 */
struct sp_gauges {
	struct sp_block b;
	uint32_t n, cells;
};

struct sp_gauge {
	uint64_t readings;
	uint64_t ns;			/* time of the last reading */
	int64_t last, min, max;		/* in the event's data_type */
	double sum;			/* for the mean */
	uint32_t data_type;
	int32_t cpu;			/* compact store: CPU of the readings */
};

/* ---- overflows --------------------------------------------------------- */

/* Calls of a relation's overflow handlers, and the code they interrupted. Followed by
 *	struct sp_overflow at[n]	by event and cell; compact store: those with calls
 *	struct sp_hit hit[hits]		in buckets of SP_HIT_WAYS; compact store: in any order
 * A call is added to `count` before it is added to a hit. So a count is larger than its hits if
 * hits were evicted or the process was killed in between.
 */
struct sp_overflows {
	struct sp_block b;
	uint32_t n, hits;
};

struct sp_overflow {
	uint32_t event;			/* index in the relation; k: PAPI did not report it */
	int32_t cpu;			/* CPU of the handler; SP_NO_CPU: unknown; with an event:
					 * hits of PAPI_profil */
	uint64_t count;
};

#define SP_HITS		512u		/* per relation of a live store */
#define SP_HIT_WAYS	8u
#define SP_HIT_BUSY	UINT32_MAX	/* as `of`: being written */

/* The address was hit at least count - before times since it got its place; `before` is the
 * evicted entry's count (Metwally et al., "Space-Saving"). */
struct sp_hit {
	uint64_t address;		/* code address */
	uint32_t module;		/* module number, compact store: in the process's own
					 * list; 0: none */
	uint32_t of;			/* number of its struct sp_overflow, from 1; 0: unused */
	uint64_t count, before;
};

/* ---- compact stores ----------------------------------------------------
 *
 * Events, call names, call sites and topologies occur once, before the processes. The processes
 * follow one another, each contiguous with all data that it does not share. A merged store has a
 * canonical order, so that merging in any order gives the same bytes.
 */
struct sp_machine {
	struct sp_block b;
	sp_off next;			/* next machine */
	sp_off host;
	sp_off topology;		/* 0: none of its processes had one; machines may share
					 * one */
	uint64_t disallowed[];		/* one bit per component: no process may run there */
};

struct sp_member {
	struct sp_block b;
	sp_off next;			/* next process */
	uint64_t extent;		/* bytes of the process's own data, from this block on */
	uint32_t machine;		/* number in the list of machines */
	uint32_t n_calls;
	struct sp_header h;		/* header of the process; events, topology and call names
					 * are the store's */
};					/* after h, which has h.bytes bytes: n_calls numbers, in
					 * the order of the store's call_names */
/* ---- intervals and call sites ------------------------------------------ */

/* Counts between two calls. Counts of a cell that no interval has belong to no known pair of
 * call sites. Followed by `room` struct sp_interval. */
struct sp_intervals {
	struct sp_block b;
	sp_off next;
	uint32_t k;			/* events of the relation */
	uint32_t room;
	uint64_t n;			/* in use */
};

struct sp_interval {
	uint32_t from, to;		/* call sites; 0: unknown */
	int32_t cell;			/* of the relation */
	uint32_t number;		/* place in the block, from 0; 0 in a compact store */
	uint64_t count;			/* readings at the site `to` */
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
	/* The state, and for each interval also its block's head. */
	l.redo_capacity = (1 + 3 * SP_REDO_CELLS) * sizeof(struct sp_redo_entry) +
			  SP_STATE_BYTES(k) +
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

/* Layout that this version writes. */
static inline struct sp_layout sp_relation_layout(uint64_t k, uint64_t cells)
{
	return sp_live_layout(k, cells, SP_RECORDS);
}

#define SP_FRAMES_MAX	64u
#define SP_SITES_EACH	32u		/* per block */
#define SP_SITES_MOST	4096u		/* per process; 16 bits in sp_reading_sites */

/* Followed by SP_SITES_EACH sites with room for `frames` frames each. `first` is the number of
 * the block's first site; numbers start at 1. */
struct sp_sites {
	struct sp_block b;
	sp_off next;
	uint32_t first, frames;
};

struct sp_site {
	uint32_t n;			/* frames, innermost first; 0: unused */
	uint32_t is_cut;		/* more callers were not kept */
	char name[60];			/* high-level region; or empty */
	uint32_t call;			/* enum sp_site_call */
};
enum sp_site_call {
	SP_SITE_CALL_UNKNOWN,
	SP_REGION_BEGINS, SP_REGION_READ, SP_REGION_ENDS,
	SP_SITE_PAPI			/* without a name: + enum sp_op of the PAPI function */
};

struct sp_frame {
	uint64_t address;		/* return address of the call */
	uint32_t module;		/* module number; 0: unknown, or none */
	uint32_t pad;
	sp_off symbol;			/* exported symbol that contains the address; 0: none */
};

struct sp_module {
	struct sp_block b;
	sp_off next;
	uint32_t number;		/* 1, 2, ... */
	uint32_t gone;			/* unloaded */
	uint64_t low, span;		/* mapped address range */
	uint64_t base;			/* offset = address - base */
	sp_off path;
	uint32_t build_id_bytes;
	unsigned char build_id[36];
};

static inline uint64_t sp_site_bytes(uint32_t frames)
{
	return sizeof(struct sp_site) + frames * sizeof(struct sp_frame);
}

/* A thread, of this or another process, that a set was attached to. */
struct sp_watched {
	struct sp_block b;
	sp_off next;
	int32_t tid;
	uint32_t over;			/* enum sp_over at the last dump */
	uint64_t start_ticks;		/* as in the header, of the thread */
	char name[16];			/* when it was attached, like all fields here */
	sp_off args;			/* its process's: SP_BLOCK_STRINGS */
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
