/* pending.c: folds a relation's records into the model's memory; see pending.h. */
#include "../store/interval.h"
#include "pending.h"

static uint64_t redo_capacity_of(const struct sp_layout *l, uint32_t k, uint32_t records)
{
	/* The writer's redo log, the state, and the most that each record can change. */
	return l->redo_capacity + sizeof(struct sp_redo_entry) + SP_STATE_BYTES(k) +
	       records * (l->cell_bytes + SP_INTERVAL_BYTES(k) + 8 +
			  3 * sizeof(struct sp_redo_entry));
}

uint64_t sp_pending_bytes(const struct sp_model *m, uint32_t k)
{
	uint32_t records = sp_records_of(&m->h);
	struct sp_layout l = sp_live_layout(k, 1, records);

	return redo_capacity_of(&l, k, records) + records * l.record_bytes + sp_align(k, 8);
}

/* ---- positions of words --------------------------------------------------- */

static const void *in_block(const struct sp_pending *p, uint64_t at)
{
	return (const char *)p->relation + at;
}

static const struct sp_cell *cell_at(const struct sp_pending *p, uint32_t i, sp_off *at)
{
	return sp_store_reader_cell(p->reader, p->relation, p->off, &p->layout, p->f.cells, i, at);
}

static struct sp_cell *log_cell(struct sp_fold *f, int32_t i)
{
	struct sp_pending *p = f->of;
	sp_off at;
	const struct sp_cell *cell = cell_at(p, (uint32_t)i, &at);

	return cell ? sp_redo_log_add(&p->redo_log, at, cell, p->layout.cell_bytes) : NULL;
}

const struct sp_cell *sp_pending_cell(const struct sp_pending *p, uint32_t i)
{
	sp_off at;
	const struct sp_cell *cell = cell_at(p, i, &at),
			     *redo_bytes =
				     cell ? sp_redo_log_find(&p->redo_log, at, p->layout.cell_bytes)
					: NULL;

	return redo_bytes ? redo_bytes : cell;
}

static const struct sp_cell *find_cell(struct sp_fold *f, int32_t i)
{
	return sp_pending_cell(f->of, (uint32_t)i);
}

static struct sp_interval *log_interval(struct sp_fold *f, uint32_t from, uint32_t to, int32_t cell)
{
	struct sp_pending *p = f->of;

	if (!p->intervals)
		return NULL;
	return sp_interval_log_by_list(p->reader, p->relation->intervals, f->k, &p->redo_log, from,
				       to, cell, &p->crowded);
}

/* ---- folding ---------------------------------------------------------------------- */

static void copy_redo_log(struct sp_pending *p)
{
	uint64_t bytes = sp_min(p->redo_bytes, p->layout.redo_capacity) & ~7ull;

	sp_copy_words((int64_t *)p->redo_log.at, in_block(p, p->layout.redo_log), bytes / 8);
	p->redo_log.used = bytes;
}

/* Copy the records that are not folded yet, in order. Read the last one first: if it is visible, so
 * are those before it. */
static const struct sp_record *const *list_records(const struct sp_pending *p, uint64_t folded,
						   unsigned char *to,
						   const struct sp_record *list[SP_RECORDS_MOST],
						   uint32_t *n)
{
	uint32_t first = p->records;

	for (uint32_t i = p->records; i-- > 0;) {
		const struct sp_record *r =
			in_block(p, p->layout.records + i * p->layout.record_bytes);
		uint64_t number = p->place / SP_PLACES + i + 1;

		if (number <= folded || load_acquire(&r->number) != number)
			continue;
		list[--first] = (const struct sp_record *)to;
		sp_copy_words((int64_t *)to, (const int64_t *)r, p->layout.record_bytes / 8);
		to += p->layout.record_bytes;
	}
	*n = p->records - first;
	return list + first;
}

static void fold(struct sp_pending *p, const struct sp_record *const *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sp_rules_apply(&p->f, list[i]);
	if (p->crowded)
		p->f.state->flags |= SP_STATE_CROWDED;
}

void sp_pending_read(struct sp_pending *p, const struct sp_model *m, const struct sp_relation *r,
		     sp_off off, uint32_t k, uint32_t cells, bool intervals, void *memory)
{
	const struct sp_record *list[SP_RECORDS_MOST], *const *from;
	unsigned char *records;
	bool odd = false;
	uint8_t *kinds;
	uint32_t n;

	*p = (struct sp_pending){ .reader = m->reader,
				  .relation = r,
				  .off = off,
				  .intervals = intervals,
				  .records = sp_records_of(&m->h) };
	p->layout = sp_live_layout(k, cells, p->records);
	p->redo_log.at = memory;
	p->redo_log.room = redo_capacity_of(&p->layout, k, p->records);
	records = p->redo_log.at + p->redo_log.room;
	kinds = records + p->records * p->layout.record_bytes;
	for (uint32_t e = 0; e < k; e++) {
		kinds[e] = (uint8_t)sp_event_values(m->event[((const uint32_t *)(r + 1))[e]]);
		odd |= kinds[e] != SP_COUNTS;
	}
	p->f = (struct sp_fold){ .k = k,
				 .cells = cells,
				 .kinds = odd ? kinds : NULL,
				 .estimates = r->flags & SP_RELATION_ESTIMATED,
				 .cell = log_cell,
				 .peek_cell = find_cell,
				 .interval = log_interval,
				 .of = p };
	p->folded = load_acquire(&((const struct sp_state *)in_block(p, p->layout.state))->folded);
	p->redo_bytes = load_acquire(&r->redo_bytes);
	p->place = load_acquire(&r->place);
	copy_redo_log(p);
	p->f.state = sp_redo_log_add(&p->redo_log, off + p->layout.state,
				     in_block(p, p->layout.state), SP_STATE_BYTES(k));
	p->state = p->f.state;
	from = list_records(p, p->f.state->folded, records, list, &n);
	fold(p, from, n);
}

bool sp_pending_is_stale(const struct sp_pending *p)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* `folded` changes before the place of a record is reused. */
	return load_relaxed(&p->relation->redo_bytes) != p->redo_bytes ||
	       load_relaxed(&((const struct sp_state *)in_block(p, p->layout.state))->folded) !=
		       p->folded;
}
