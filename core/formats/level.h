/* level.h: the counts of a model by level: a row a CPU, a core, a package, a thread ...
 *
 * One row of the table below a level; the text view, report --per-NAME, diff and top show them.
 * Rows are found by one walk over the model's relations, so that they add up to
 * what was counted whatever the level: what was booked on something that has no
 * such component (a CPU outside the topology, a count of a whole package asked
 * for by core) has a row of its own.
 *
 *	struct sp_levels t;
 *	if (sp_levels_open(&t, m, sp_level_by_name("package"), NULL) == 0) {
 *		sp_levels_sort(&t, SP_SORT_PLACE);
 *		for (uint32_t i = 0; i < t.n; i++)
 *			show(sp_levels_row(&t, i));	// row->total[event id], of t.m->n_events
 *		sp_levels_close(&t);
 *	}
 *
 * Memory is of sp_map: a process's own dump has rows, too.
 */
#pragma once

#include "../base/out.h"
#include "../metric/compute.h"
#include "../model/model.h"

struct sp_level {
	const char *name;		/* --per-NAME */
	const char *also;		/* perf stat's other word for it; NULL: it has the same */
	const char *heading, *plural;	/* of its column; and several of them */
	const char *type;		/* its components' type as hwloc writes it; NULL: see
					 * `what` */
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
	const char *row;		/* of what it has a row each, for --help */
};

extern const struct sp_level sp_level_table[];
extern const unsigned sp_n_levels;

/* The processes of a rank, which may have several, stand one after the other. */
bool sp_is_same_rank(const struct sp_model *m, uint32_t a, uint32_t b);

/* Are its rows processes?  Those of one rank may be one row. */
static inline bool sp_level_is_process(const struct sp_level *l)
{
	return l->what == SP_LEVEL_PROCESS || l->what == SP_LEVEL_RANK;
}

/* Are its rows code? */
static inline bool sp_level_is_code(const struct sp_level *l)
{
	return l->what == SP_LEVEL_CALLSITE;
}

/* Are its rows parts of the machine? */
static inline bool sp_level_is_place(const struct sp_level *l)
{
	return l->what <= SP_LEVEL_CACHE;
}

/* By its name or perf stat's; NULL: none. */
const struct sp_level *sp_level_by_name(const char *name);

struct sp_level_row {
	int32_t component;		/* the model's index; -1: none (a thread; no known CPU) */
	int32_t cpu;			/* OS index, of --per-cpu; SP_NO_CPU: not known, or another
					 * level */
	int32_t tid;			/* of --per-thread, else -1 */
	int32_t process, machine;	/* the model's indices; -1: rows of this level are not of
					 * one */
	uint32_t from, to;		/* of --per-callsite: the two calls, ids of the model's; of
					 * grouped rows the first pair's */
	uint32_t detail;		/* of grouped rows: enum sp_pair_detail */
	bool has_twins;			/* private to sp_levels_group */
	uint32_t kinds;			/* the kinds of cores that it has counts of, a bit each;
					 * SP_KINDS_MOST: of no known one */
	bool of_set;			/* of --per-set: `event_set` is PAPI's number */
	int32_t event_set;
	uint32_t threads;		/* of --per-thread, tid 0: that have ended */
	bool together;			/* of --per-thread: by sspapi stat, whose counts are known
					 * as a sum only */
	const char *thread;		/* of --per-thread: its name, as long as the model; "" */
	uint64_t relation;		/* where its first relation stands: the `index` to begin
					 * sp_model_next with */
	uint32_t cpus;			/* on how many CPUs it was counted */
	uint64_t readings;
	int64_t *total, *exact;		/* [n_events] by event id, in the event's data_type; gauges:
					 * 0 */
	uint64_t *event_readings;	/* [n_events]: those of sets that have the event */
	bool *counted;			/* [n_events]: the event was counted here at all */
	bool *unsupported;			/* [n_events]: if not: no CPU here can count it */
	struct sp_metric_sum *metric;	/* [metrics->n_slots], where there are metrics */

	uint64_t place, key;		/* private: where it stands, and how it is found again */
};

struct sp_levels {
	const struct sp_level *level;
	struct sp_model *m;
	struct sp_metrics *metrics;	/* NULL: none */
	/* private: what is left out of these rows, and of what their metrics are computed from; of
	 * many levels what is of the model's sums */
	struct sp_observers observers, metrics_observers;
	const struct sp_observers *left, *metrics_left;
	uint32_t n;
	uint32_t *order;		/* row numbers as they were sorted */
	struct sp_level_row *row;	/* as they were found: use sp_levels_row */

	bool grouped;			/* by sp_levels_group */
	bool ranks;			/* by process: no two rows are of one rank */
	uint32_t room;			/* private to level.c, as all below */
	uint32_t *slot;			/* [2 * room]: number of a row, plus one, by its key */
	uint32_t *stamp;
	const char *cache;
	struct sp_site_texts *sites;	/* where rows are code: their names */
	void *memory;
	uint64_t bytes;
};

/* metrics: bound to m, whose sums the rows are to have; or NULL.  0 or -ENOMEM; on an error nothing
 * is to be closed. */
int sp_levels_open(struct sp_levels *t, struct sp_model *m, const struct sp_level *level,
		   struct sp_metrics *metrics);
void sp_levels_close(struct sp_levels *t);

/* Makes one row of all pairs of call sites that have one name: by function, and by line where a
 * function has several regions.  Call it once, before sp_levels_sort. */
void sp_levels_group(struct sp_levels *t);

#define SP_SORT_PLACE		(-1L)	/* as the machine has them, threads as they began: how they
					 * are opened */
#define SP_SORT_READINGS	(-2L)	/* most first */
void sp_levels_sort(struct sp_levels *t, long event);	/* an event's id: highest total first */

static inline struct sp_level_row *sp_levels_row(const struct sp_levels *t, uint32_t i)
{
	return &t->row[t->order[i]];
}

/* For people, control characters escaped: "package 0", "4711 worker"; of call sites at most `width`
 * columns. */
void sp_level_label(struct sp_out *o, const struct sp_levels *t, const struct sp_level_row *row,
		    unsigned width);
