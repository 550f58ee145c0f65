/* rules.h: what a record does to a relation: (state, record) -> (state, cells, intervals).
 *
 * The model.  An event set hands out running counts: x now, more later, zeroed by START, RESET and
 * ACCUM.  A reading of x in a cell (a CPU) adds x - last to it. last is the value before it since
 * the last zeroing, so that the cells add up to exactly what PAPI handed out.
 *
 * The relation also has sys-sage's temporary entries (tests/relation.md has their rules): a READ
 * leaves in its cell what the other cells' entries do not explain, ACCUM adds to its cell's entry,
 * and the first READ or STOP after a zeroing deletes all of them.
 *
 * In a window of several CPUs the reading adds all counts to its own cell, unproven. The records
 * after it are its parts: SP_OP_PART moves counts from there to another cell, SP_OP_PROVEN adds to
 * the proven counts of a cell.
 *
 * After SP_OP_MISSED the next value tells what became of the set: if it is below the value before,
 * PAPI has zeroed the set, and all of it is new; else the difference is.  So nothing is counted
 * twice, and no total goes below 0.
 *
 * Pure but for the callbacks of struct sp_fold: no system call, no memory of its own, nothing of
 * the process. The callbacks return where the words are: the writer's (records.h) drafts, the
 * reader's (model/pending.h) own memory. tests/unit/t-records.c has a brute-force model.
 */
#ifndef SP_RULES_H
#define SP_RULES_H

#include "float.h"
#include "layout.h"

/* What an event's values are: counts; of a floating-point counter, their bits; what a gauge shows,
 * which is no count (gauge.h) and only makes entries. */
enum sp_values { SP_COUNTS, SP_FLOATS, SP_GAUGE_VALUES };

static inline enum sp_values sp_event_values(const struct sp_event *v)
{
	return !v			 ? SP_COUNTS
	       : v->kind == SP_GAUGE	 ? SP_GAUGE_VALUES
	       : v->data_type == SP_FP64 ? SP_FLOATS
					 : SP_COUNTS;
}

struct sp_fold {
	uint32_t k, cells;
	const uint8_t *kinds;		/* [k] enum sp_values; NULL: all are counts */
	bool estimates;			/* PAPI's, of a multiplexed set: values may go down by
					 * themselves */
	struct sp_state *state;		/* to be changed */
	/* The cell, to be changed; NULL: no room, which only a damaged store can want for. */
	struct sp_cell *(*cell)(struct sp_fold *f, int32_t cell);
	/* The same, to be read. */
	const struct sp_cell *(*peek_cell)(struct sp_fold *f, int32_t cell);
	/* The interval, to be changed; NULL: it is nobody's. */
	struct sp_interval *(*interval)(struct sp_fold *f, uint32_t from, uint32_t to,
					int32_t cell);
	void *of;			/* the caller's */
};

static inline uint32_t sp_record_op(const struct sp_record *r)
{
	return r->op_flags & SP_RECORD_OP;
}

void sp_rules_apply(struct sp_fold *f, const struct sp_record *r);

/* The value that the record's entry of event e has, or will have, when the records before it are
 * folded. */
int64_t sp_rules_entry(struct sp_fold *f, const struct sp_record *r, uint32_t e);

static inline int64_t *sp_state_row(struct sp_state *s, uint32_t k, enum sp_state_array a)
{
	return s->at + (uint64_t)a * k;
}

static inline int64_t *sp_cell_row(const struct sp_cell *c, uint32_t k, enum sp_cell_array a)
{
	return (int64_t *)c->at + (uint64_t)a * k;
}

static inline enum sp_values sp_values_by(const uint8_t *kinds, uint32_t e)
{
	return kinds ? (enum sp_values)kinds[e] : SP_COUNTS;
}

static inline enum sp_values sp_values_of(const struct sp_fold *f, uint32_t e)
{
	return sp_values_by(f->kinds, e);
}

#endif
