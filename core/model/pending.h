/* pending.h: a relation as its records make it, of which some are not folded yet, or only in the
 * redo log (store/layout.h, "records").
 *
 * They are folded here, in memory of the model's, by the same rules as the writer's; the store
 * is not written. The writer may go on meanwhile: then what was read is to be read again. (Of a
 * copy of the bytes, as the command has it of a live file, nothing tells: a copy that was made
 * in the middle of a fold is of no one moment.)
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
	uint64_t place, redo_bytes, folded;	/* when it was read */
};

/* What it needs of the model's memory, for a relation of k events or fewer. */
uint64_t sp_pending_bytes(const struct sp_model *m, uint32_t k);

/* Reads what is pending of the relation at off, of k events and so many cells, whose block has room
 * for all of it; with its intervals if they are asked for (else no state says that they were too
 * many); memory: sp_pending_bytes(m, k). */
void sp_pending_read(struct sp_pending *p, const struct sp_model *m, const struct sp_relation *r,
		     sp_off off, uint32_t k, uint32_t cells, bool intervals, void *memory);

/* A cell as it is with that; NULL: nothing was booked near it. */
const struct sp_cell *sp_pending_cell(const struct sp_pending *p, uint32_t i);

/* The writer has gone on: what was read since sp_pending_read may be of before and after. */
bool sp_pending_is_stale(const struct sp_pending *p);

#endif
