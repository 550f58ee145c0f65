/* pending.h: a relation as its records make it, of which some are not folded yet, or only drafted (store/format.h,
 * "records").
 *
 * They are folded here, in memory of the model's, by the same rules as the writer's; the store is not written.  The writer
 * may go on meanwhile: then what was read is to be read again.  (Of a copy of the bytes, as the command has it of a live file,
 * nothing tells: a copy that was made in the middle of a fold is of no one moment.)
 */
#ifndef SP_PENDING_H
#define SP_PENDING_H

#include "../store/draft.h"
#include "../store/rules.h"
#include "model.h"

struct sp_pending {
	const struct sp_state *state;
	/* private */
	struct sp_fold f;
	const struct sp_image *image;
	const struct sp_relation *relation;
	sp_off off;
	uint32_t records;
	struct sp_layout layout;
	struct sp_drafts drafts;
	uint32_t first, last;		/* of the cells that drafts are of, when all is folded */
	bool intervals, crowded;
	uint64_t place, drafted, folded;	/* when it was read */
};

/* What it needs of the model's memory, for a relation of k events or fewer. */
uint64_t sp_pending_bytes(const struct sp_model *m, uint32_t k);

/* Reads what is pending of the relation at off, of k events and so many cells, whose block has room for all of it; with
 * its intervals if they are asked for (else no state says that they were too many); memory: sp_pending_bytes(m, k). */
void sp_pending_read(struct sp_pending *p, const struct sp_model *m, const struct sp_relation *r, sp_off off, uint32_t k,
		     uint32_t cells, bool intervals, void *memory);

/* A cell as it is with that.  Most have no draft, as a thread comes to few CPUs: with a look through the drafts for each of
 * 264 cells a dump of 1000 threads took twice the instructions. */
const struct sp_cell *sp_pending_drafted(const struct sp_pending *p, uint32_t i);
static inline const struct sp_cell *sp_pending_cell(const struct sp_pending *p, uint32_t i)
{
	if (i >= p->first && i <= p->last)
		return sp_pending_drafted(p, i);
	return (const struct sp_cell *)((const char *)p->relation + p->layout.cell + i * p->layout.cell_bytes);
}

/* The writer has gone on: what was read since sp_pending_read may be of before and after. */
bool sp_pending_is_stale(const struct sp_pending *p);

#endif
