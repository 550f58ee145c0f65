/* model.h: reads a store and its topology once, and sums the counts for all formats.
 *
 * sp_model_open reads the header, indexes events and CPUs and sums all counts up the component
 * tree. Formats query the model; they neither read the store nor add counts. The store may be live,
 * its writer may have been killed at any instruction, and it may be damaged: unreadable parts are
 * omitted and counted in `damaged`.
 *
 * Memory comes from mmap, since a signal may have interrupted malloc; sp_model_close frees it. Not
 * thread-safe: use a model in one thread. Errors: -EINVAL if it is not a store or too damaged,
 * -EPROTO if a newer version wrote it, -EPROTONOSUPPORT if an older one did, -ENOMEM.
 */
#ifndef SP_MODEL_H
#define SP_MODEL_H

#include "../store/domain.h"
#include "../store/store-reader.h"

#define SP_MODULES_MOST 256u
#define SP_UNLISTED_CPUS_MOST	8u
#define SP_KINDS_MOST 8u		/* kinds of cores that are distinguished */

/* A frame of a call site. */
struct sp_frame_info {
	const char *module;		/* path; "": unknown, and offset is an address */
	char build_id[80];		/* hexadecimal; "": none */
	/* return address of the call, relative to the module's base */
	uint64_t offset;
	const char *symbol, *line;	/* the function, "file.c:12"; "": unknown */
	const struct sp_inlined {
		const char *symbol, *line;	/* line NULL: unknown */
	/* the functions into which it was inlined, innermost first */
	} *into;
	uint32_t n_into;
};

/* The counts that sums omit because another observer counted the same over the same time; see
 * observers.h. Private to observers.c. */
struct sp_observers {
	/* [relations]: index of its first event in `omitted`, plus 1; 0: no event is shared */
	uint32_t *at;
	/* [n_events]: most simultaneous observers; NULL: no event can be shared */
	uint32_t *n;
	/* as `omitted`: run time of the counting observer, in the observer's first entry; else 0 */
	uint64_t *ns;
	bool *omitted;
	void *memory;
	uint64_t bytes;
};

/* Sums of all relations, without gauges; counts with several observers are added once. below[c *
 * n_events + e] is the sum of component c and all below it. A NUMANode has the sum of its
 * parent. */
struct sp_model_sums {
	int64_t *below, *below_exact;
	bool *counted;			/* [component]: counts were attributed to it or below it */
	int64_t *total, *total_exact;	/* [event]: of all counts, with or without a component */
	/* [component * n_events + event]: a CPU below may be able to count it; for a placed event:
	 * it was counted here or below, even 0 */
	bool *present;
	/* [event]: on no CPU, or on one that is not in the topology */
	int64_t *unplaced;
};

/* Totals over the whole store. */
struct sp_model_tally {
	bool any_of_cpus;		/* some relation counts everything that runs on a CPU */
	uint32_t relations, threads, cpus_counted;
	/* threads with counts, including those that ended and were folded together */
	uint64_t threads_counted;
	uint64_t readings, starts;
	uint64_t kept, refused;		/* permanent readings, and those that were not kept */
	uint64_t calls[SP_CALLS_MAX];	/* of all threads; names: sp_model_call_name */
	uint64_t damaged;		/* unreadable blocks */
};

/* Private to intervals.c. */
struct sp_model_intervals {
	/* [n_callsites]: the first site with the same frames; NULL: all differ */
	uint32_t *first_site;
	const struct sp_sites *sites[SP_SITES_MOST / SP_SITES_EACH];
	const struct sp_module *module[SP_MODULES_MOST];
	uint32_t most;			/* maximum of all relations */
	void *row;
	int32_t *row_of;
};

/* Private to overflows.c: a snapshot of the current row's overflows. */
struct sp_model_overflows {
	struct sp_overflow_copy {
		uint32_t event;
		int32_t cpu;
		uint64_t count, hits;
	} *row;
	struct sp_hit *hit;
	uint32_t most;			/* maximum of all relations */
};

/* Private to gauges.c. */
struct sp_model_gauges {
	uint32_t n;			/* number of gauges */
	/* [event]: its index among the gauges; UINT32_MAX: not a gauge */
	uint32_t *of;
	struct sp_gauge_sum {
		uint64_t readings, ns;
		int64_t value[3];	/* last, min, max */
		double sum;
	/* [component][gauge]; after the last component: those without one */
	} *sum;
};

/* Private to model-open.c and model-rows.c: the relations, and the buffers of the current row. */
struct sp_model_walk {
	struct sp_place {
		sp_off thread, relation;
		uint32_t process;
	} *place;			/* oldest first */
	uint64_t n_places;
	uint32_t most_k, most_cells;	/* maxima of all relations */
	/* relations that another one includes: at most those being folded, one at a time */
	uint32_t n_including;
	sp_off including[4];
	const struct sp_chunk **chunk;	/* of the row, oldest first */
	uint32_t most_chunks;		/* maximum of all relations */
	uint64_t *cell_of;		/* of the row, as are those below */
	int64_t *values;
	int32_t *row_place;
	void *pending;
};

struct sp_model {
	const struct sp_store_reader *reader;
	/* copy; the pointers below are valid until sp_model_close */
	struct sp_header h;

	/* The processes of the store: several in a merged store. Its own header has the common
	 * texts, the earliest and latest times, and the sums (dropped, self). */
	uint32_t n_processes;
	struct sp_model_process {
		const struct sp_header *h;	/* read its texts with sp_model_text */
		uint32_t machine;		/* index, less than n_machines */
	} *process;
	/* limits sp_model_next to this run (repeats.h); 0: all runs */
	uint32_t only_run;
	/* processes that did not end and do not run; set by the command */
	uint32_t n_killed;
	uint32_t n_machines;		/* at least 1 */
	struct sp_model_machine {
		const char *host;
		int32_t root;			/* its component; -1: no topology */
		/* hwloc's XML of xml_bytes bytes, without a NUL; or NULL */
		const char *xml;
		uint64_t xml_bytes;
		/* private: size of cpu_component, the PUs by OS index */
		uint32_t n_cpus;
		int32_t *cpu_component;
	} *machine;

	/* The components. With several machines the root is a "Job"; its children are the Machines,
	 * with their hosts as names. */
	uint32_t n_components;
	const struct sp_component *component;
	const char *topology_source;	/* "system", a path, or "flat" */

	uint32_t n_events;		/* event[id], id = 0 .. n_events - 1; NULL: damaged */
	const struct sp_event **event;
	bool *event_counted;		/* [event]: in some relation */
	/* [event]: PAPI_DOM_* bits of its relations: user 1, kernel 2, other 4, supervisor 8; 0:
	 * unknown, or a clock */
	uint8_t *event_domain;
	/* [event]: counted on a component other than a CPU (gauges.h) */
	bool *event_placed;

	struct sp_model_sums sums;

	/* bit mask of the kinds of cores (hwloc's cpu_kind) that have CPUs */
	uint32_t kinds;
	/* [component]: bit mask of the kinds to which counts were attributed */
	uint8_t *kinds_below;

	/* CPUs with counts that are not in the topology, at most SP_UNLISTED_CPUS_MOST. */
	uint32_t n_outside;
	int32_t outside[SP_UNLISTED_CPUS_MOST];
	bool unknown_cpu;		/* some counts have no known CPU */

	struct sp_model_tally tally;

	/* ids are 0 .. n_callsites - 1; id 0 is "other"; n_callsites 0: call sites are not
	 * recorded */
	uint32_t n_callsites;

	/* Optional callback of the command that fills in symbol and line from debug information,
	 * for the code at an offset of f's module. */
	void (*name_frame)(void *names, uint64_t offset, struct sp_frame_info *f);
	void *names;

	char early_counts[1024], cross_thread[512];	/* notes, see model-query.c; "": none */

	struct sp_observers observers;	/* for all sums */
	struct sp_model_intervals intervals;
	struct sp_model_overflows overflows;
	struct sp_model_gauges gauges;
	struct sp_model_walk walk;

	void *memory;			/* of all arrays; private to model-open.c */
	uint64_t memory_bytes, memory_used;
};

/* Private to gauges.c: gauges and floating-point counters of a row. */
struct sp_row_gauges {
	bool floating;			/* has floating-point counters or gauges */
	const struct sp_gauge *at;
	const uint32_t *index;
	uint32_t n, cells;
};

/* Private to model-rows.c, intervals.c and overflows.c. */
struct sp_row_walk {
	uint32_t relation_cells;	/* 0: in a merged store */
	int32_t extra_cpu[SP_CELLS_EXTRA];
	uint32_t overflows, hits;
	uint64_t index;
	uint32_t chunks, last_chunk;	/* number of chunks; readings of the last one */
	void *interval_values;
	uint32_t given;
	uint64_t *cell_of;
	int64_t *values;
};

/* A relation as formats see it. */
struct sp_row {
	/* set by the caller that needs neither intervals nor SP_RELATION_CROWDED */
	bool only_cells;
	uint32_t id;			/* index in the list of relations: 0, 1, ... */
	uint32_t process;		/* index: m->process[process] */
	sp_off thread_at;		/* identifies the thread */
	int32_t event_set, tid;		/* tid of the counted thread */
	const char *thread;		/* its name; may be "" */
	/* tid of the thread that started the set; 0: the counted one, or unknown */
	int32_t started_by;
	enum sp_target target;
	int32_t target_id;		/* the CPU or the tid */
	enum sp_scope scope;
	/* SP_RELATION_RUNNING is set only if the process has ended */
	uint32_t flags, threads;
	uint32_t of_thread;		/* 1, or the number of threads folded (tid 0) */
	/* the set is running, or was when its thread or process ended */
	bool runs;
	/* PAPI_DOM_* bits: user 1, kernel 2, other 4, supervisor 8; 0: unknown */
	uint32_t domain;
	uint32_t k;
	const uint32_t *event;		/* [k] ids, each less than n_events */
	uint64_t starts, resets, readings, first_ns, last_ns;
	uint64_t run_ns;		/* as in sp_times; SP_COUNTED_UNKNOWN: not measured */
	uint32_t cells;			/* for sp_row_cell: 0 .. cells - 1 */
	uint64_t kept, refused;		/* permanent readings, as in the model */
	/* of the last reading; a coarse clock if it was temporary */
	uint64_t latest_ns;
	int32_t latest_cpu;		/* CPU of the last reading, or SP_NO_CPU */
	/* [k] last values that PAPI returned since it zeroed them; valid until the next row. NULL:
	 * in a merged store */
	const int64_t *last;
	enum sp_attribution attribution;	/* how its counts are attributed to CPUs */
	/* reason why it is not exact, or not all counts are proven (why.c) */
	enum sp_why why;
	bool proven;			/* all counts are proven; `why` is then unset */
	const struct sp_times *times;	/* NULL: unknown; its arrays: */
	const uint64_t *ns, *error_margin;	/* [cells of the relation], [k] */
	/* [k]: sp_row_place; NULL: all on the CPUs of the readings */
	const int32_t *place;

	uint32_t intervals;		/* number of intervals, for sp_row_interval */
	struct sp_row_gauges gauges;
	struct sp_row_walk walk;
};

const char *sp_attribution_name(uint32_t how);	/* "auto", as in SSPAPI_ATTRIBUTION */
/* Returns whether the model's file lacks a part of the store; sp_torn_text gives the reason. */
bool sp_is_torn(const struct sp_model *m);
const char *sp_torn_text(uint64_t torn);

/* Name the next kind of missing data and its amount, one line each. *i is 0 before the first call;
 * false after the last line. */
#define SP_MISSING_TEXT 256
bool sp_missing_text(const struct sp_model *m, unsigned *i, char text[SP_MISSING_TEXT]);

const char *sp_why_text(enum sp_why why);	/* with the fix, if there is one; "" for none */

/* CPUs to which relations attribute counts of other, unwatched CPUs. sp_why_text_with_cpus adds
 * their numbers to the reason. */
#define SP_UNWATCHED_CPUS 1024u
struct sp_unwatched {
	unsigned long cpu[SP_UNWATCHED_CPUS / (8 * sizeof(long))];
	bool more;			/* there are further CPUs */
};
void sp_unwatched_add(struct sp_unwatched *u, const struct sp_row *row);
#define SP_WHY_TEXT 512
const char *sp_why_text_with_cpus(char text[SP_WHY_TEXT], enum sp_why why,
				  const struct sp_unwatched *u);

/* The counts of a row on one CPU. */
struct sp_at_cpu {
	int32_t cpu;			/* OS index; SP_NO_CPU: unknown */
	int32_t component;		/* index of the PU; -1: not in the topology */
	uint64_t readings;
	const int64_t *total, *exact;	/* [k] */
	/* [k] not 0: this CPU cannot count the event (sspapi stat); NULL: it can count all */
	const int64_t *unsupported;
	/* ns for which the thread was on this CPU while the set ran; -1: unknown */
	int64_t run_ns;
	bool has_kept;			/* has permanent readings, see sp_row_kept */
	bool is_latest;			/* has the relation's last, permanent reading */
	bool has_entry;			/* has a temporary entry of sys-sage */
	/* [k] of the last permanent reading or the temporary entry */
	const int64_t *entry;
	uint64_t entry_ns;
};

/* The counts between two calls. The intervals of a CPU add up to the CPU's counts. */
struct sp_interval_counts {
	/* call sites; from 0: unknown; to 0: "other", counts without an interval */
	uint32_t from, to;
	int32_t cpu, component;		/* as in sp_at_cpu */
	uint64_t count;			/* readings */
	const int64_t *total, *exact;	/* [k] */
};

/* A call site; its frames, innermost first, are read with sp_model_frame. */
struct sp_callsite {
	uint32_t frames;
	const char *name;		/* of a high-level region; "other" for id 0; or "" */
	enum sp_site_call call;
	bool is_cut;			/* more callers were not kept */
};

/* Open one relation of this process's own, intact store. Then call sp_model_next, each time with a
 * zeroed row, the functions that take a row, and, if `kept`, sp_row_kept. Prefaults its memory. */
int sp_model_open_one(struct sp_model *m, const struct sp_store_reader *reader, sp_off relation,
		 bool kept);

/* After -ENOMEM `memory` is NULL, and only the store format can be written. */
int sp_model_open(struct sp_model *m, const struct sp_store_reader *reader);
void sp_model_close(struct sp_model *m);

/* Read the next relation, oldest thread first. *row is zero before the first call; returns false
 * after the last relation. A row is valid until the next call. */
bool sp_model_next(struct sp_model *m, struct sp_row *row);

/* Read the counts of CPU i of the row, ascending by OS index, the unknown CPU last; false if i >=
 * row->cells. The arrays are valid until the next row. */
bool sp_row_cell(struct sp_model *m, struct sp_row *row, uint32_t i, struct sp_at_cpu *at);

/* The part of event i that was counted before the row's first reading, if PAPI_start does not zero
 * the event; 0 if none or unknown. */
int64_t sp_row_early_count(struct sp_model *m, struct sp_row *row, uint32_t i);

/* A permanent reading of a row: the values of the CPU's entries. */
struct sp_kept {
	uint64_t ns;
	int32_t cpu;
	uint32_t from, to;		/* call sites of its window; 0: unknown */
	const int64_t *value;		/* [k] */

	uint32_t chunk, i, n;		/* private: position */
};

/* Read the next permanent reading, oldest first. *at is zero before the first call; returns false
 * after the last one. Only for the current row. */
bool sp_row_kept(const struct sp_model *m, const struct sp_row *row, struct sp_kept *at);
/* Read interval i of the row; false after the last one, and if the store has no call sites. The
 * arrays are valid until the next row. */
bool sp_row_interval(struct sp_model *m, struct sp_row *row, uint32_t i,
		     struct sp_interval_counts *at);

/* The number of calls of an overflow handler on a CPU for an event. */
struct sp_overflowed {
	/* index in the row: 0 .. k - 1; k: PAPI did not report it */
	uint32_t event;
	int32_t cpu;			/* SP_NO_CPU: unknown */
	uint64_t count, other;		/* other: calls of `count` without a hit */
	uint32_t number;		/* private, from 1 */
};

/* Read the next entry with calls, ordered by `event`; *i is 0 before the first call. */
bool sp_row_overflow(const struct sp_model *m, const struct sp_row *row, uint32_t *i,
		     struct sp_overflowed *at);

/* Read the next address at which the handler was called, the most frequent first, and a lower limit
 * of its calls; *hit is UINT32_MAX before the first call. */
bool sp_row_hit(const struct sp_model *m, const struct sp_row *row, const struct sp_overflowed *at,
		uint32_t *hit, struct sp_frame_info *f, uint64_t *count);

/* The module number (0: none) and the address of a hit that sp_row_hit returned. */
uint32_t sp_row_hit_module(const struct sp_model *m, uint32_t hit, uint64_t *address);

/* Join call sites that are cut with those that have the same first frames: ranks of a job and runs
 * of a program may have cut different ones (SSPAPI_CALLSITES=auto). */
void sp_model_join_callsites(struct sp_model *m);

/* Read call site id; false if it is unused, and then without frames. */
bool sp_model_callsite(const struct sp_model *m, uint32_t id, struct sp_callsite *c);

/* Read frame i, 0 the innermost; false after the last one. */
bool sp_model_frame(const struct sp_model *m, uint32_t id, uint32_t i, struct sp_frame_info *f);

/* The path of the frame's module; NULL after the last frame. */
const char *sp_model_frame_module(const struct sp_model *m, uint32_t id, uint32_t i);

/* Returns whether frame i of site a and frame k of site b are the same code. Both must exist. */
bool sp_model_same_frame(const struct sp_model *m, uint32_t a, uint32_t i, uint32_t b, uint32_t k);

/* The nearest component of this type at or above component c, or -1. A "NUMANode" is not above c in
 * the tree: returns that of c's nearest ancestor. */
int32_t sp_model_above(const struct sp_model *m, int32_t c, const char *type);

/* Data on the thread to which the row's set was attached; NULL if unknown or not attached. */
const struct sp_watched *sp_row_watched(const struct sp_model *m, const struct sp_row *row);

static inline enum sp_data_type sp_event_type(const struct sp_model *m, uint32_t id)
{
	const struct sp_event *e = id < m->n_events ? m->event[id] : NULL;

	return e && e->data_type <= SP_BIT64 ? (enum sp_data_type)e->data_type : SP_INT64;
}

static inline bool sp_event_is_gauge(const struct sp_model *m, uint32_t id)
{
	const struct sp_event *e = id < m->n_events ? m->event[id] : NULL;

	return e && e->kind == SP_GAUGE;
}

/* Returns whether the CPU cannot count the row's event i, so that not even 0 is known. */
static inline bool sp_is_unsupported(const struct sp_at_cpu *at, uint32_t i)
{
	return at->unsupported && at->unsupported[i];
}

const char *sp_model_text(const struct sp_model *m, sp_off off);
/* NULL after the last one */
const char *sp_model_call_name(const struct sp_model *m, uint32_t i);
/* The model's notes, then the store's, oldest first; NULL after the last one. */
const char *sp_model_note(const struct sp_model *m, uint32_t i);
/* The same for one process. */
const char *sp_model_note_of(const struct sp_model *m, uint32_t process, uint32_t i);

#endif
