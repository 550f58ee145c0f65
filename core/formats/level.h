/* level.h: sums the counts of a model per row of a level: per CPU, core, package, thread ... Used
 * by the text format, report --per-NAME, diff and top. Two levels: core/cli/report/crossed.h.
 *
 * One pass over the model's relations finds the rows, so that they add up to all counts at any
 * level. Counts attributed to nothing of the level's kind (a CPU outside the topology, a package's
 * count in rows per core) have a row of their own.
 *
 *	struct sp_levels t;
 *	if (sp_levels_open(&t, m, sp_level_by_name("package"), NULL) == 0) {
 *		sp_levels_sort(&t, SP_SORT_PLACE);
 *		for (uint32_t i = 0; i < t.n; i++)
 *			show(sp_levels_row(&t, i));	// row->total[event id], of t.m->n_events
 *		sp_levels_close(&t);
 *	}
 *
 * Memory comes from sp_map, because a process's own dump also has rows.
 */
#pragma once

#include "../base/out.h"
#include "../metric/compute.h"
#include "../model/model.h"

struct sp_level {
	const char *name;		/* name of the option --per-NAME */
	const char *also;		/* perf stat's name for it; NULL: the same */
	const char *heading, *plural;	/* heading of its column, singular and plural */
	const char *type;		/* its components' type in hwloc; NULL: see `what` */
	enum {
		SP_LEVEL_COMPONENT,
		SP_LEVEL_CPU,
		SP_LEVEL_CACHE,
		SP_LEVEL_PROCESS,
		SP_LEVEL_RANK,
		SP_LEVEL_THREAD,
		SP_LEVEL_SET,
		SP_LEVEL_CALLSITE
	} what;
	const char *row;		/* the meaning of a row, for --help */
};

extern const struct sp_level sp_level_table[];
extern const unsigned sp_n_levels;

/* Returns whether two processes have the same rank. They are adjacent in the model. */
bool sp_is_same_rank(const struct sp_model *m, uint32_t a, uint32_t b);

/* Returns whether its rows are processes. Processes of one rank may share a row. */
static inline bool sp_level_is_process(const struct sp_level *l)
{
	return l->what == SP_LEVEL_PROCESS || l->what == SP_LEVEL_RANK;
}

/* Returns whether its rows are code. */
static inline bool sp_level_is_code(const struct sp_level *l)
{
	return l->what == SP_LEVEL_CALLSITE;
}

/* Returns whether its rows are parts of the machine. */
static inline bool sp_level_is_place(const struct sp_level *l)
{
	return l->what <= SP_LEVEL_CACHE;
}

/* Finds a level by its name or perf stat's. NULL: no such level. */
const struct sp_level *sp_level_by_name(const char *name);

struct sp_level_row {
	/* index in the model; -1: none (a thread, or an unknown CPU) */
	int32_t component;
	/* --per-cpu: OS index; SP_NO_CPU: unknown, or another level */
	int32_t cpu;
	int32_t tid;			/* --per-thread; otherwise -1 */
	/* indices in the model; -1: rows of this level do not have one */
	int32_t process, machine;
	/* --per-callsite: ids of the two call sites; for grouped rows the first pair's */
	uint32_t from, to;
	uint32_t detail;		/* named rows: enum sp_pair_detail */
	bool has_twins;			/* private to sp_levels_group */
	/* kinds of cores that counted, one bit each; SP_KINDS_MOST: unknown kind */
	uint32_t kinds;
	bool of_set;			/* --per-set: `event_set` is PAPI's number */
	int32_t event_set;
	uint32_t threads;		/* --per-thread, tid 0: the number of threads that ended */
	/* --per-thread: counted by sspapi stat, which only knows the sum */
	bool together;
	/* --per-thread: the name, valid as long as the model; or "" */
	const char *thread;
	/* the `index` at which sp_model_next starts to find its relations */
	uint64_t relation;
	uint32_t cpus;			/* the number of CPUs that counted */
	uint64_t readings;
	/* [n_events] by event id, in the event's data_type; 0 for gauges */
	int64_t *total, *exact;
	uint64_t *event_readings;	/* [n_events] readings of the sets that have the event */
	bool *counted;			/* [n_events] the event was counted here */
	bool *unsupported;			/* [n_events] no CPU here can count the event */
	struct sp_metric_sum *metric;	/* [metrics->n_slots]; NULL without metrics */

	uint32_t side[2];		/* two levels: the numbers of their rows */
	uint64_t latest;		/* private: number of the latest counts added */
	uint64_t place, key;		/* private: sort and lookup keys */
};

struct sp_levels {
	const struct sp_level *level;
	struct sp_model *m;
	struct sp_metrics *metrics;	/* NULL: no metrics */
	/* private: counts left out of these rows and of their metrics; for several levels those of
	 * the model's sums */
	struct sp_observers observers, metrics_observers;
	const struct sp_observers *left, *metrics_left;
	uint32_t n;
	uint32_t *order;		/* row numbers in sorted order */
	struct sp_level_row *row;	/* in the order of discovery; use sp_levels_row */

	struct sp_levels *side[2];	/* the two levels; NULL: rows of one level */
	bool named;			/* sp_levels_name has run */
	bool ranks;			/* rows are processes, and no two have the same rank */
	uint64_t latest;		/* private to level.c, as all fields below */
	uint32_t room;
	uint32_t *slot;			/* [2 * room] row number plus one, by key */
	struct sp_level_cpu *cpu;	/* [cpus_room] hash table: the CPUs of each row */
	uint32_t n_cpus, cpus_room;
	const char *cache;
	struct sp_site_texts *sites;	/* names of call sites, if rows are code */
	void *memory;
	uint64_t bytes;
};

/* metrics: bound to m, to be summed for each row; or NULL. Returns 0 or -ENOMEM; after an error
 * there is nothing to close. */
int sp_levels_open(struct sp_levels *t, struct sp_model *m, const struct sp_level *level,
		   struct sp_metrics *metrics);
void sp_levels_close(struct sp_levels *t);

/* The same for two open levels of m, neither of them sorted or grouped: a row for each pair of
 * their rows with counts (row->side). Counts omitted in the first level are omitted here. */
int sp_levels_open_crossed(struct sp_levels *t, struct sp_levels *rows, struct sp_levels *columns);

/* Makes one row of all pairs of call sites with the same name: by function, and by line if a
 * function has several regions. Call it once, before sp_levels_sort. into: [t->n] is set to the new
 * numbers of the rows; NULL: not needed. */
void sp_levels_group(struct sp_levels *t, uint32_t *into);

/* Crossed levels: makes one row of all rows whose numbers in level `side` (0 or 1) became one in
 * sp_levels_group. */
void sp_levels_group_side(struct sp_levels *t, unsigned side, const uint32_t *into);

/* The row for these numbers of rows in the two levels, or NULL. */
const struct sp_level_row *sp_levels_crossing(const struct sp_levels *t, uint32_t row,
					      uint32_t column);

/* Sets the details of these names, without joining rows. */
void sp_levels_name(struct sp_levels *t);

/* Returns the row, after sp_levels_name, whose label names the code between two call sites; NULL:
 * no such row. */
const struct sp_level_row *sp_levels_between(const struct sp_levels *t, uint32_t from, uint32_t to);

/* order of the machine, threads by their start (the order after opening) */
#define SP_SORT_PLACE		(-1L)
#define SP_SORT_READINGS	(-2L)	/* largest first */
/* event: an id (largest total first), or one of the above */
void sp_levels_sort(struct sp_levels *t, long event);

static inline struct sp_level_row *sp_levels_row(const struct sp_levels *t, uint32_t i)
{
	return &t->row[t->order[i]];
}

/* Writes the row's label for people, control characters escaped: "package 0", "4711 worker"; call
 * sites in at most `width` columns. */
void sp_level_label(struct sp_out *o, const struct sp_levels *t, const struct sp_level_row *row,
		    unsigned width);
