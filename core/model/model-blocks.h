/* model-blocks.h: shared by the model's files only: the model's memory, and checked access to a
 * store's blocks. */
#ifndef SP_MODEL_BLOCKS_H
#define SP_MODEL_BLOCKS_H

#include "model.h"

/* Allocate from the model's only mapping; NULL if the size was computed wrongly. */
static inline void *sp_model_take(struct sp_model *m, uint64_t bytes)
{
	void *p = (char *)m->memory + m->memory_used;

	bytes = sp_align(bytes, 16);
	if (bytes > m->memory_bytes - m->memory_used)
		return NULL;
	m->memory_used += bytes;
	return p;
}

/* The most links that a list can have: the blocks that fit in the store. `used` cannot be trusted;
 * with one bit of it flipped, circular lists took minutes. */
static inline uint64_t sp_most_blocks(const struct sp_model *m)
{
	const struct sp_store_reader *at = m->reader;

	return (at->region ? m->h.used : sp_min(m->h.used, at->bytes + at->part_bytes)) / 64 + 1;
}

static inline bool sp_take_step(uint64_t *left)
{
	return *left && (*left)--;
}

/* Returns whether the relations are compact, with nothing but cells. */
static inline bool sp_is_merged(const struct sp_model *m)
{
	return m->h.compact.members != 0;
}

static inline struct sp_layout sp_layout_of(const struct sp_model *m, uint32_t k, uint32_t cells)
{
	return sp_is_merged(m) ? sp_compact_layout(k, cells)
			       : sp_live_layout(k, cells, sp_records_of(&m->h));
}

/* A checked block, or NULL if it is damaged. */
const struct sp_thread *sp_thread_at(const struct sp_model *m, sp_off off);
const struct sp_relation *sp_relation_at(const struct sp_model *m, sp_off off);
const struct sp_event *sp_event_at(const struct sp_model *m, sp_off off);

/* The head of a list. In a torn file it is the newest block that the file contains. */
sp_off sp_list_head(const struct sp_model *m, sp_off newest, sp_off kept, uint32_t kind);
sp_off sp_events_head(const struct sp_model *m);
sp_off sp_threads_head(const struct sp_model *m, uint32_t process);
sp_off sp_relations_head(const struct sp_model *m, const struct sp_thread *t);

/* model-rows.c: compute and take the model's memory for one row at a time, after most_k,
 * most_cells, most_intervals and most_chunks are known. sp_row_take returns 0 or -ENOMEM. */
uint64_t sp_row_bytes(const struct sp_model *m);
int sp_row_take(struct sp_model *m);
void sp_row_count_chunks(struct sp_model *m, const struct sp_relation *r);

/* intervals.c: the cells of a row. */
struct sp_row_cells {
	uint32_t n;			/* of the relation */
	const int32_t *of;		/* [n]: index of each one's record in the row, or -1 */
	/* A record's total[k] exact[k]. */
	const int64_t *(*total)(const struct sp_row *row, uint32_t record, uint64_t *readings);
};

void sp_intervals_index(struct sp_model *m);
uint64_t sp_interval_record_bytes(uint32_t k);
/* redo_log: changes of the relation that are not applied yet (pending.h); NULL: none. */
struct sp_redo_log;
void sp_intervals_read(struct sp_model *m, struct sp_row *row, const struct sp_relation *r,
		       const struct sp_redo_log *redo_log, const struct sp_row_cells *cells);

/* Returns the call site's number in formats: that of the first one with the same code. */
uint32_t sp_site_number(const struct sp_model *m, uint32_t id);

/* The module with this number; if it is 0, the loaded module at the address; or NULL. */
const struct sp_module *sp_module_found(const struct sp_model *m, uint32_t number,
					uint64_t address);

/* Describe the code at an address of module o (NULL: none); the symbol is that of the code `back`
 * bytes before. */
void sp_describe_code(const struct sp_model *m, const struct sp_module *o, uint64_t address,
		  uint32_t back, struct sp_frame_info *seen);

/* Read interval i of the row except its CPU; returns the index of its cell's record. */
uint32_t sp_interval_get(const struct sp_row *row, uint32_t i, struct sp_interval_counts *at);

/* overflows.c: compute and take the model's memory, as sp_row_bytes and sp_row_take. */
void sp_overflows_count(struct sp_model *m, const struct sp_relation *r);
uint64_t sp_overflows_row_bytes(const struct sp_model *m);
void sp_overflows_take(struct sp_model *m);
void sp_overflows_read(struct sp_model *m, struct sp_row *row, const struct sp_relation *r);

/* cross-thread.c: writes the note on sets that count another thread than the one that started
 * them */
void sp_cross_thread_find(struct sp_model *m);
/* early-counts.c: writes the note on counts before a set's first reading */
void sp_early_counts_find(struct sp_model *m);

#endif
