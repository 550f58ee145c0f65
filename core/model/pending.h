/* pending.h: reads a relation with its records that are not folded yet, or only in the redo log
 * (store/layout.h, "records").
 *
 * Records are folded into the model's memory by the writer's rules; the store is not written. If
 * the writer changed the relation meanwhile it must be read again. In a copy of a live file such a
 * change is undetectable: a copy made during a fold is inconsistent.
 */
#ifndef SP_PENDING_H
#define SP_PENDING_H

#include "../store/redo-log.h"
#include "../store/rules.h"
#include "model.h"

struct sp_pending {
	const struct sp_state *state;
	/* private */
	struct sp_fold f;
	const struct sp_store_reader *reader;
	const struct sp_relation *relation;
	sp_off off;
	uint32_t records;
	struct sp_layout layout;
	struct sp_redo_log redo_log;
	bool intervals, crowded;
	uint64_t place, redo_bytes, folded;	/* at the time of reading */
};

/* The memory that a relation of at most k events needs. */
uint64_t sp_pending_bytes(const struct sp_model *m, uint32_t k);

/* Read the relation at off, of k events and `cells` cells, whose block has been checked. Without
 * `intervals` the state does not report that there were too many. memory: sp_pending_bytes(m,
 * k). */
void sp_pending_read(struct sp_pending *p, const struct sp_model *m, const struct sp_relation *r,
		     sp_off off, uint32_t k, uint32_t cells, bool intervals, void *memory);

/* A cell with its pending changes; NULL if its block was never allocated. */
const struct sp_cell *sp_pending_cell(const struct sp_pending *p, uint32_t i);

/* Returns whether the writer changed the relation since sp_pending_read, so that the data may be
 * inconsistent. */
bool sp_pending_is_stale(const struct sp_pending *p);

#endif
