/* rules.h: applies a record to a relation: (state, record) -> (state, cells, intervals).
 *
 * PAPI returns running counts, which START, RESET and ACCUM zero. A reading of x in a cell adds x -
 * last to it: last is the value before, or 0 after a zeroing. So the cells add up to exactly PAPI's
 * counts.
 *
 * The relation also has sys-sage's temporary entries (tests/relation.md has their rules). A READ
 * sets its cell's entry to the value less the other cells' entries, and ACCUM adds to its cell's
 * entry. The first READ or STOP after a zeroing deletes all entries.
 *
 * In a window on several CPUs the reading adds all counts to its own cell, unproven. The records
 * after it are its parts: SP_OP_PART moves counts to another cell, SP_OP_PROVEN adds to the proven
 * counts of a cell.
 *
 * After SP_OP_MISSED the next value shows whether the set was zeroed. If it is below the value
 * before, PAPI has zeroed the set, and all of it is new; else the difference is new. So no count is
 * doubled, and no total falls below 0.
 *
 * These functions are pure except for the callbacks of struct sp_fold, which return the words to
 * change: the writer's redo log (records.h), or the reader's own memory (model/pending.h).
 * tests/unit/t-records.c has a brute-force model.
 */
#ifndef SP_RULES_H
#define SP_RULES_H

#include "float.h"
#include "layout.h"

/* Values of an event: counts; the bits of floating-point counts; or values of a gauge (gauge.h),
 * which are not counted and only make entries. */
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
	bool estimates;			/* PAPI multiplexed the set: its values may decrease */
	struct sp_state *state;		/* to be changed */
	/* Returns the cell, to be changed; NULL: no room, which only happens in a damaged store. */
	struct sp_cell *(*cell)(struct sp_fold *f, int32_t cell);
	/* Returns the cell, to be read. */
	const struct sp_cell *(*peek_cell)(struct sp_fold *f, int32_t cell);
	/* Returns the interval, to be changed; NULL: no interval has the counts. */
	struct sp_interval *(*interval)(struct sp_fold *f, uint32_t from, uint32_t to,
					int32_t cell);
	void *of;			/* argument of the caller */
};

static inline uint32_t sp_record_op(const struct sp_record *r)
{
	return r->op_flags & SP_RECORD_OP;
}

void sp_rules_apply(struct sp_fold *f, const struct sp_record *r);

/* Returns event e's entry as record r leaves it; all records before r must be folded. */
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
