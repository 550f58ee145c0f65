/* model.h: one walk over a store and its topology, for every view.
 *
 * sp_model_open reads the header, indexes events and CPUs and sums all counts
 * up the component tree.  Views then ask the model; none of them looks into the
 * store itself, and none adds anything up.  Works on a store that still runs,
 * on one whose writer was killed in the middle of a booking, and on damaged ones
 * (what cannot be read is left out and counted in `damaged`).
 *
 * Memory comes from mmap and is given back by sp_model_close: a dump is made
 * where malloc may be held by the code that a signal interrupted.
 * Not thread-safe: one model, one thread.  Errors: -EINVAL not a store (or too
 * damaged), -EPROTO from a newer version, -EPROTONOSUPPORT from an older one, -ENOMEM.
 */
#ifndef SP_MODEL_H
#define SP_MODEL_H

#include "../store/domain.h"
#include "../store/store-reader.h"

#define SP_MODULES_MOST 256u
#define SP_UNLISTED_CPUS_MOST	8u
#define SP_KINDS_MOST 8u		/* of cores that are told apart */

/* A frame of a call site. */
struct sp_frame_seen {
	const char *module;		/* its path; "": not known, and offset is an address */
	char build_id[80];		/* hexadecimal; "": none */
	uint64_t offset;		/* to where PAPI returned, from the module's base */
	const char *symbol, *line;	/* the function, "file.c:12"; "": not known */
	const struct sp_inlined {
		const char *symbol, *line;	/* line NULL: not known */
	} *into;			/* if it was inlined: the functions around it, innermost
					 * first */
	uint32_t n_into;
};

/* Which counts are left out of sums, since another saw the same over the same time: see
 * observers.h.  Private to observers.c. */
struct sp_observers {
	uint32_t *at;			/* [relations]: where their events begin in `left`, from 1;
					 * 0: none is another's, too */
	uint32_t *n;			/* [n_events]: how many saw it at once; NULL: no event can
					 * be seen by several */
	uint64_t *ns;			/* as `left`: how long its observer saw it, at the first of
					 * what it has of it */
	bool *left;
	void *memory;
	uint64_t bytes;
};

/* Sums of all relations, counters only; what several observed is there once.  below[c * n_events +
 * e]: below (and at) component c.  A NUMANode sums what its parent does. */
struct sp_model_sums {
	int64_t *below, *below_exact;
	bool *counted;			/* [component]: counts were attributed below it */
	int64_t *total, *total_exact;	/* [event]: of everything, placed or not */
	bool *present;			/* [component * n_events + event]: some CPU below can count
					 * it, as far as is known; of a placed event: it was counted
					 * here or below, be it 0 */
	int64_t *unplaced;		/* [event]: on no CPU, or on one that the topology lacks */
};

/* How many of everything there are. */
struct sp_model_tally {
	bool any_of_cpus;		/* some relation counts all that runs on a CPU */
	uint32_t relations, threads, cpus_counted;
	uint64_t threads_counted;	/* that have counts; also each of those that have ended and
					 * were merged into one */
	uint64_t readings, starts;
	uint64_t kept, refused;		/* permanent readings; and those that were to be, and are
					 * not kept */
	uint64_t calls[SP_CALLS_MAX];	/* of all threads; names: sp_model_call_name */
	uint64_t damaged;		/* blocks that made no sense */
};

/* Private to intervals.c. */
struct sp_model_intervals {
	uint32_t frames_most;		/* of a site that are compared; 0: all */
	uint32_t *first_site;		/* [n_callsites]: the first one with those frames; NULL:
					 * each itself */
	const struct sp_sites *sites[SP_SITES_MOST / SP_SITES_EACH];
	const struct sp_module *module[SP_MODULES_MOST];
	uint32_t most;			/* of any relation */
	void *row;
	int32_t *row_of;
};

/* Private to overflows.c: of the row that sp_model_next gave last, what does not change any
 * more. */
struct sp_model_overflows {
	struct sp_overflow_seen {
		uint32_t event;
		int32_t cpu;
		uint64_t count, hits;
	} *row;
	struct sp_hit *hit;
	uint32_t most;			/* of any relation */
};

/* Private to gauges.c. */
struct sp_model_gauges {
	uint32_t n;			/* events that are gauges */
	uint32_t *of;			/* [event]: its number among them; UINT32_MAX: not one of
					 * them */
	struct sp_gauge_sum {
		uint64_t readings, ns;
		int64_t value[3];	/* last, min, max */
		double sum;
	} *sum;				/* [component][gauge]; behind the last, of no component */
};

/* Private to model-open.c and model-rows.c: the relations, and the row that sp_model_next gave
 * last. */
struct sp_model_walk {
	struct sp_place {
		sp_off thread, relation;
		uint32_t process;
	} *place;			/* oldest first */
	uint64_t n_places;
	uint32_t most_k, most_cells;	/* of any relation */
	uint32_t n_including;		/* relations that others include: folding goes one at a
					 * time */
	sp_off including[4];
	const struct sp_chunk **chunk;	/* of the row, oldest first */
	uint32_t most_chunks;		/* of any relation */
	uint64_t *cell_of;		/* of the row, as all below */
	int64_t *values;
	int32_t *row_place;
	void *pending;
};

struct sp_model {
	const struct sp_store_reader *reader;
	struct sp_header h;		/* a copy; pointers below live until sp_model_close */

	/* One, but for a merged store, whose own header has what its processes have in
	 * common (texts), their extremes (times) and sums (dropped, self). */
	uint32_t n_processes;
	struct sp_model_process {
		const struct sp_header *h;	/* its texts: sp_model_text */
		uint32_t machine;		/* below n_machines */
	} *process;
	uint32_t only_run;		/* sp_model_next gives what is of this run (repeats.h); 0:
					 * of all */
	uint32_t n_killed;		/* of them, as far as who opened it knows (the command): not
					 * running, end none */
	uint32_t n_machines;		/* 1 or more */
	struct sp_model_machine {
		const char *host;
		int32_t root;			/* its component; -1: there is no topology */
		const char *xml;		/* hwloc's, xml_bytes long, no closing NUL; NULL:
						 * none */
		uint64_t xml_bytes;
		uint32_t n_cpus;		/* private: of cpu_component, the PUs by OS index */
		int32_t *cpu_component;
	} *machine;

	/* With several machines the root is a "Job", and below it are the Machines, by
	 * host and with the host as their name. */
	uint32_t n_components;
	const struct sp_component *component;
	const char *topology_source;	/* "system", a path, or "flat" */

	uint32_t n_events;		/* event[id], id = 0 .. n_events - 1; a NULL is a damaged
					 * one */
	const struct sp_event **event;
	bool *event_counted;		/* [event]: in some relation */
	uint8_t *event_domain;		/* [event]: PAPI_DOM_* of all its relations: user 1, kernel
					 * 2, other 4, supervisor 8; 0: not known, or a clock */
	bool *event_placed;		/* [event]: counted on a component that is no CPU
					 * (gauges.h) */

	struct sp_model_sums sums;

	uint32_t kinds;			/* of cores (hwloc's cpu_kind) that there are CPUs of, a bit
					 * each */
	uint8_t *kinds_below;		/* [component]: a bit a kind that something was booked on */

	/* CPUs that something was booked on and the topology lacks: how many, but no more than
	 * SP_UNLISTED_CPUS_MOST, and which. */
	uint32_t n_outside;
	int32_t outside[SP_UNLISTED_CPUS_MOST];
	bool unknown_cpu;		/* something was booked on no known one */

	struct sp_model_tally tally;

	uint32_t n_callsites;		/* ids 0 .. n_callsites - 1; 0 is "other"; 0: none are
					 * kept */

	/* Who knows more about the code at an offset of f's module than the store (the command,
	 * from debug information) fills in symbol and line; or NULL. */
	void (*name_frame)(void *names, uint64_t offset, struct sp_frame_seen *f);
	void *names;

	char early_counts[1024], cross_thread[512];	/* notes, see model-query.c; "": none */

	struct sp_observers observers;	/* of all that is there */
	struct sp_model_intervals intervals;
	struct sp_model_overflows overflows;
	struct sp_model_gauges gauges;
	struct sp_model_walk walk;

	void *memory;			/* of all arrays; private to model-open.c */
	uint64_t memory_bytes, memory_used;
};

/* Private to gauges.c: a row's gauges and floating-point counters. */
struct sp_row_gauges {
	bool floating;			/* has floating-point counters, or gauges */
	const struct sp_gauge *at;
	const uint32_t *index;
	uint32_t n, cells;
};

/* Private to model-rows.c, intervals.c and overflows.c. */
struct sp_row_walk {
	uint32_t relation_cells;	/* 0: of a merged store */
	int32_t extra_cpu[SP_CELLS_EXTRA];
	uint32_t overflows, hits;
	uint64_t index;
	uint32_t chunks, last_chunk;	/* how many; readings of the last one */
	void *interval_values;
	uint32_t given;
	uint64_t *cell_of;
	int64_t *values;
};

/* A relation as views see it. */
struct sp_row {
	bool only_cells;		/* of who walks: neither intervals are asked for, nor
					 * SP_RELATION_CROWDED */
	uint32_t id;			/* its place in the list of relations: 0, 1, ... */
	uint32_t process;		/* whose it is: m->process[process] */
	sp_off thread_at;		/* differs from thread to thread */
	int32_t event_set, tid;		/* of the thread that is counted */
	const char *thread;		/* its name; may be "" */
	int32_t started_by;		/* the tid of the thread that started the set; 0: that one,
					 * or not known */
	enum sp_target target;
	int32_t target_id;		/* the CPU or the tid */
	enum sp_scope scope;
	uint32_t flags, threads;	/* SP_RELATION_RUNNING: of a process that has ended */
	bool runs;			/* the set, or it did when its thread or process ended */
	uint32_t domain;		/* PAPI_DOM_*: user 1, kernel 2, other 4, supervisor 8; 0:
					 * not known */
	uint32_t k;
	const uint32_t *event;		/* [k] ids, each below n_events */
	uint64_t starts, resets, readings, first_ns, last_ns;
	uint32_t cells;			/* to ask sp_row_cell for: 0 .. cells - 1 */
	uint64_t kept, refused;		/* permanent readings, as in the model */
	uint64_t latest_ns;		/* of the last reading, coarse where it was temporary;
					 * and */
	int32_t latest_cpu;		/* its CPU; SP_NO_CPU */
	const int64_t *last;		/* [k] handed out last, since PAPI zeroed it; until the next
					 * row. NULL: of a merged store */
	enum sp_attribution how;	/* of its counts that are told to CPUs */
	enum sp_why why;		/* it is less than exact, or some of them are not (why.c) */
	bool proven;			/* all of them are: then there is no reason */
	const struct sp_times *times;	/* NULL: not known; its arrays: */
	const uint64_t *ns, *edge;	/* [cells of the relation], [k] */
	const int32_t *place;		/* [k]: sp_row_place; NULL: all on the CPUs of their
					 * readings */

	uint32_t intervals;		/* to ask sp_row_interval for */
	struct sp_row_gauges gauges;
	struct sp_row_walk walk;
};

const char *sp_attribution_name(uint32_t how);	/* "auto", as SSPAPI_ATTRIBUTION has it */
/* Is part of the store not in the file that the model is of?  And why it is not. */
bool sp_is_torn(const struct sp_model *m);
const char *sp_torn_text(uint64_t torn);

/* What the dump lacks, and how much of it: a line each; *i is 0 before the first.  False behind the
 * last. */
#define SP_MISSING_TEXT 256
bool sp_missing_text(const struct sp_model *m, unsigned *i, char text[SP_MISSING_TEXT]);

const char *sp_why_text(enum sp_why why);	/* with what to do, where something can be done;
						 * "" */

/* The CPUs to which relations attribute counts because others were not watched, and the reason with
 * their names. */
#define SP_UNWATCHED_CPUS 1024u
struct sp_unwatched {
	unsigned long cpu[SP_UNWATCHED_CPUS / (8 * sizeof(long))];
	bool more;			/* and others */
};
void sp_unwatched_add(struct sp_unwatched *u, const struct sp_row *row);
#define SP_WHY_TEXT 512
const char *sp_why_told(char text[SP_WHY_TEXT], enum sp_why why, const struct sp_unwatched *u);

/* What was booked on one CPU. */
struct sp_at_cpu {
	int32_t cpu;			/* OS index; SP_NO_CPU: not known */
	int32_t component;		/* the PU's index; -1: the topology has none */
	uint64_t readings;
	const int64_t *total, *exact;	/* [k] */
	const int64_t *unsupported;		/* [k] not 0: this CPU cannot count the event
						 * (sspapi stat); NULL: it can count all */
	int64_t there;			/* ns that the thread was there while the set ran; -1: not
					 * known */
	bool has_kept;			/* permanent readings, which sp_row_kept gives */
	bool is_latest;			/* the relation's last reading was one, here: */
	bool has_entry;			/* sys-sage's temporary entry; of either: */
	const int64_t *entry;		/* [k] */
	uint64_t entry_ns;
};

/* The counts between two calls: the sum over a CPU's intervals is that CPU's. */
struct sp_between {
	uint32_t from, to;		/* call sites; from 0: not known; to 0: "other", what no
					 * interval has */
	int32_t cpu, component;		/* as sp_at_cpu */
	uint64_t count;			/* readings */
	const int64_t *total, *exact;	/* [k] */
};

/* A call site as views see it: frames, innermost first, for sp_model_frame. */
struct sp_callsite {
	uint32_t frames;
	const char *name;		/* of a high-level region; "other" of id 0; or "" */
	enum sp_region_call call;	/* by which of its calls */
};

/* Of one relation of a store that is whole and the process's own: for sp_model_next, as
 * often as wanted from a row that is zero, and what takes the row.  With `kept` also for
 * sp_row_kept.  Its memory is touched. */
int sp_model_one(struct sp_model *m, const struct sp_store_reader *reader, sp_off relation,
		 bool kept);

/* After -ENOMEM `memory` is NULL, and the store form alone can be written. */
int sp_model_open(struct sp_model *m, const struct sp_store_reader *reader);
void sp_model_close(struct sp_model *m);

/* The relations, oldest thread first, into a struct that is zero before the
 * first call; false behind the last.  One row at a time: the next call's numbers
 * take the place of the last one's. */
bool sp_model_next(struct sp_model *m, struct sp_row *row);

/* CPU number i of the row (ascending by OS index; "not known" last); false if
 * nothing was booked there.  at's arrays hold until the next call. */
bool sp_row_cell(struct sp_model *m, struct sp_row *row, uint32_t i, struct sp_at_cpu *at);

/* How much of event i came before the row's first reading, of an event that PAPI_start does not
 * zero; 0: nothing, or not known. */
int64_t sp_row_early_count(struct sp_model *m, struct sp_row *row, uint32_t i);

/* A permanent reading of the row: what its CPU's entries got. */
struct sp_kept {
	uint64_t ns;
	int32_t cpu;
	const int64_t *value;		/* [k] */

	uint32_t chunk, i, n;		/* private: where the walk is */
};

/* The next one, oldest first, into a struct that is zero before the first call; false
 * behind the last.  Only of the row that sp_model_next gave last. */
bool sp_row_kept(const struct sp_model *m, const struct sp_row *row, struct sp_kept *at);
/* Interval number i of the row; false behind the last.  None where the store has no call
 * sites (settings.callsites 0).  at's arrays hold until the next row. */
bool sp_row_interval(struct sp_model *m, struct sp_row *row, uint32_t i, struct sp_between *at);

/* How often an overflow handler was called on a CPU for an event. */
struct sp_overflowed {
	uint32_t event;			/* of the row: 0 .. k - 1; k: PAPI did not tell */
	int32_t cpu;			/* SP_NO_CPU: not known */
	uint64_t count, other;		/* other: of the count, what no hit has */
	uint32_t number;		/* private: from 1 */
};

/* The next one that is not 0, by event; *i is 0 before the first. */
bool sp_row_overflow(const struct sp_model *m, const struct sp_row *row, uint32_t *i,
		     struct sp_overflowed *at);

/* The next address that it was called at, the most frequent first, and how often (at least); *hit
 * is UINT32_MAX before the first. */
bool sp_row_hit(const struct sp_model *m, const struct sp_row *row, const struct sp_overflowed *at,
		uint32_t *hit, struct sp_frame_seen *f, uint64_t *count);

/* The number of its module, 0: of none, and its address there, of a hit that sp_row_hit gave. */
uint32_t sp_row_hit_module(const struct sp_model *m, uint32_t hit, uint64_t *address);

/* Ranks of one job, and runs of one program, may have kept more callers than others, where one met
 * a function more (SSPAPI_CALLSITES=auto): how many frames all of them have that have more than
 * one, and at most `least`.  Of no more than so many sites are from now on; what only further ones
 * tell apart is one. */
uint32_t sp_model_frames(const struct sp_model *m, uint32_t least);
void sp_model_cut_callsites(struct sp_model *m, uint32_t frames);

/* Call site number id; false: it is not in use (it has no frames, then). */
bool sp_model_callsite(const struct sp_model *m, uint32_t id, struct sp_callsite *c);

/* Frame i of it, 0 the innermost; false behind the last. */
bool sp_model_frame(const struct sp_model *m, uint32_t id, uint32_t i, struct sp_frame_seen *f);

/* The path of the module alone; NULL behind the last. */
const char *sp_model_frame_module(const struct sp_model *m, uint32_t id, uint32_t i);

/* Is frame i of site a the same place in the same code as frame k of site b?  Both are there. */
bool sp_model_same_frame(const struct sp_model *m, uint32_t a, uint32_t i, uint32_t b, uint32_t k);

/* The nearest component of this type at or above component c; -1: none.  For
 * "NUMANode": the one beside the tree that holds c. */
int32_t sp_model_above(const struct sp_model *m, int32_t c, const char *type);

/* What is known of the thread that this row's set was attached to; NULL: nothing, or it was not. */
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

/* Is there no count of the row's event i, not even 0? */
static inline bool sp_is_unsupported(const struct sp_at_cpu *at, uint32_t i)
{
	return at->unsupported && at->unsupported[i];
}

const char *sp_model_text(const struct sp_model *m, sp_off off);
const char *sp_model_call_name(const struct sp_model *m, uint32_t i);	/* NULL behind the last */
/* the model's own, then oldest first; NULL behind the last */
const char *sp_model_note(const struct sp_model *m, uint32_t i);
/* of one of several */
const char *sp_model_note_of(const struct sp_model *m, uint32_t process, uint32_t i);

#endif
