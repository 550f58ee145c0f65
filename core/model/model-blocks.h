/* model-blocks.h: what the files of the model share: its memory, and the blocks of a store, of
 * which nothing is believed.  Nothing here is of use outside them.
 */
#ifndef SP_MODEL_BLOCKS_H
#define SP_MODEL_BLOCKS_H

#include "model.h"

/* Of the one piece of memory that a model has; NULL: it was counted wrongly. */
static inline void *sp_model_take(struct sp_model *m, uint64_t bytes)
{
	void *p = (char *)m->memory + m->memory_used;

	bytes = sp_align(bytes, 16);
	if (bytes > m->memory_bytes - m->memory_used)
		return NULL;
	m->memory_used += bytes;
	return p;
}

/* No list has more links than the store has room for blocks; `used` is a stranger's word
 * (one flipped bit of it, and lists in a circle, took minutes). */
static inline uint64_t sp_most_blocks(const struct sp_model *m)
{
	const struct sp_store_reader *at = m->reader;

	return (at->region ? m->h.used : sp_min(m->h.used, at->bytes + at->part_bytes)) / 64 + 1;
}

static inline bool sp_take_step(uint64_t *left)
{
	return *left && (*left)--;
}

/* All of its relations are in the compact form: the cells hold everything. */
static inline bool sp_is_merged(const struct sp_model *m)
{
	return m->h.compact.members != 0;
}

static inline struct sp_layout sp_layout_of(const struct sp_model *m, uint32_t k, uint32_t cells)
{
	return sp_is_merged(m) ? sp_compact_layout(k, cells)
			       : sp_live_layout(k, cells, sp_records_of(&m->h));
}

/* Whole ones, or NULL. */
const struct sp_thread *sp_thread_at(const struct sp_model *m, sp_off off);
const struct sp_relation *sp_relation_at(const struct sp_model *m, sp_off off);
const struct sp_event *sp_event_at(const struct sp_model *m, sp_off off);

/* Where a list begins: of a torn file, with the newest block that is in it. */
sp_off sp_list_head(const struct sp_model *m, sp_off newest, sp_off kept, uint32_t kind);
sp_off sp_events_head(const struct sp_model *m);
sp_off sp_threads_head(const struct sp_model *m, uint32_t process);
sp_off sp_relations_head(const struct sp_model *m, const struct sp_thread *t);

/* model-rows.c.  What it needs of the model's memory, for one row at a time of any relation,
 * once most_k, most_cells, most_intervals and most_chunks are known; takes it: 0 or -ENOMEM. */
uint64_t sp_row_bytes(const struct sp_model *m);
int sp_row_take(struct sp_model *m);
void sp_row_count_chunks(struct sp_model *m, const struct sp_relation *r);

/* intervals.c.  The cells that a row was read into. */
struct sp_row_cells {
	uint32_t n;			/* of the relation */
	const int32_t *of;		/* [n]: the row's record of each; -1: none */
	/* What a record has: total[k] exact[k]. */
	const int64_t *(*total)(const struct sp_row *row, uint32_t record, uint64_t *readings);
};

void sp_intervals_index(struct sp_model *m);
uint64_t sp_interval_record_bytes(uint32_t k);
/* redo_log: pending new values of the relation's words (pending.h); NULL: none. */
struct sp_redo_log;
void sp_intervals_read(struct sp_model *m, struct sp_row *row, const struct sp_relation *r,
		       const struct sp_redo_log *redo_log, const struct sp_row_cells *cells);

/* The module of this number, or of none known yet that holds the address; NULL. */
const struct sp_module *sp_module_found(const struct sp_model *m, uint32_t number,
					uint64_t address);

/* The code at an address of module o (NULL: in none); back: bytes before it, of what is meant. */
void sp_code_seen(const struct sp_model *m, const struct sp_module *o, uint64_t address,
		  uint32_t back, struct sp_frame_seen *seen);

/* Interval i of the row, but for where it was; that is its cell's record, which is returned. */
uint32_t sp_interval_get(const struct sp_row *row, uint32_t i, struct sp_between *at);

/* overflows.c: what it needs of the model's memory, as sp_row_bytes and sp_row_take. */
void sp_overflows_count(struct sp_model *m, const struct sp_relation *r);
uint64_t sp_overflows_row_bytes(const struct sp_model *m);
void sp_overflows_take(struct sp_model *m);
void sp_overflows_read(struct sp_model *m, struct sp_row *row, const struct sp_relation *r);

void sp_cross_thread_find(struct sp_model *m);		/* cross-thread.c: makes the note of sets
							 * that count another thread than the one
							 * that started them */
void sp_early_counts_find(struct sp_model *m);	/* early-counts.c: makes the note of counts that
						 * were there before a set read them */

#endif
