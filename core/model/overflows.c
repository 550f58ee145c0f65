/* overflows.c: reads the calls of overflow handlers for the model; see model.h. */
#include "../store/overflow.h"
#include "model-blocks.h"

static const struct sp_overflows *block_of(const struct sp_model *m, const struct sp_relation *r)
{
	struct sp_layout l = sp_layout_of(m, r->k, r->cells);

	return sp_overflows_at(m->reader, sp_times_of(r, &l)->overflows);
}

void sp_overflows_count(struct sp_model *m, const struct sp_relation *r)
{
	const struct sp_overflows *o = block_of(m, r);

	m->overflows.most = (uint32_t)sp_max(m->overflows.most, o ? o->n : 0);
}

uint64_t sp_overflows_row_bytes(const struct sp_model *m)
{
	return m->overflows.most * sizeof(*m->overflows.row) + SP_HITS * sizeof(*m->overflows.hit) +
	       32;
}

void sp_overflows_take(struct sp_model *m)
{
	m->overflows.row = sp_model_take(m, m->overflows.most * sizeof(*m->overflows.row));
	m->overflows.hit = sp_model_take(m, SP_HITS * sizeof(*m->overflows.hit));
}

/* Copy the block, hits first, so that the hits never exceed the calls. */
void sp_overflows_read(struct sp_model *m, struct sp_row *row, const struct sp_relation *r)
{
	struct sp_overflows *o = (struct sp_overflows *)block_of(m, r);
	uint32_t n = o ? load_relaxed(&o->n) : 0, hits = o ? load_relaxed(&o->hits) : 0;

	row->walk.overflows = row->walk.hits = 0;
	if (n > m->overflows.most || hits > SP_HITS || !m->overflows.row || !m->overflows.hit)
		return;
	for (uint32_t i = 0; i < n; i++)
		m->overflows.row[i].hits = 0;
	for (uint32_t i = 0; i < hits; i++) {
		const struct sp_hit *h = &sp_hits_in(o, n)[i];
		struct sp_hit *to = &m->overflows.hit[row->walk.hits];

		*to = (struct sp_hit){ .of = load_acquire(&h->of),
				       .address = load_relaxed(&h->address),
				       .module = load_relaxed(&h->module),
				       .before = load_relaxed(&h->before),
				       .count = load_relaxed(&h->count) };
		if (to->of - 1 >= n || !sp_hit_weight(to))
			continue;
		m->overflows.row[to->of - 1].hits += sp_hit_weight(to);
		row->walk.hits++;
	}
	for (; row->walk.overflows < n; row->walk.overflows++) {
		const struct sp_overflow *from = &sp_overflow_in(o)[row->walk.overflows];
		struct sp_overflow_copy *to = &m->overflows.row[row->walk.overflows];

		to->count = load_acquire(&from->count);
		to->event = (uint32_t)sp_min(load_relaxed(&from->event), row->k);
		to->cpu = load_relaxed(&from->cpu);
	}
}

bool sp_row_overflow(const struct sp_model *m, const struct sp_row *row, uint32_t *i,
		     struct sp_overflowed *at)
{
	const struct sp_overflow_copy *seen;

	while (*i < row->walk.overflows && !m->overflows.row[*i].count)
		++*i;
	if (*i == row->walk.overflows)
		return false;
	seen = &m->overflows.row[(*i)++];
	*at = (struct sp_overflowed){ .event = seen->event,
				      .cpu = seen->cpu,
				      .count = seen->count,
				      .number = *i,
				      .other = seen->count > seen->hits ? seen->count - seen->hits
									: 0 };
	return true;
}

/* Find the module of a hit; each process of a merged store has its own list. */
static const struct sp_module *module_of(const struct sp_model *m, const struct sp_row *row,
					 const struct sp_hit *h)
{
	const struct sp_module *o;
	unsigned left = SP_MODULES_MOST;

	if (!sp_is_merged(m))
		return sp_module_found(m, h->module, h->address);
	for (sp_off off = m->process[row->process].h->code.modules;
	     left-- &&
	     (o = sp_store_reader_block(m->reader, off, SP_BLOCK_MODULE, sizeof(*o))) != NULL;
	     off = o->next)
		if (o->number == h->module)
			return o;
	return NULL;
}

uint32_t sp_row_hit_module(const struct sp_model *m, uint32_t hit, uint64_t *address)
{
	const struct sp_hit *h = &m->overflows.hit[hit];
	const struct sp_module *o = sp_module_found(m, h->module, h->address);

	*address = h->address;
	return o ? o->number : 0;
}

bool sp_row_hit(const struct sp_model *m, const struct sp_row *row, const struct sp_overflowed *at,
		uint32_t *hit, struct sp_frame_info *f, uint64_t *count)
{
	const struct sp_hit *h = m->overflows.hit, *last = *hit < row->walk.hits ? &h[*hit] : NULL,
			    *best = NULL;

	for (uint32_t i = 0; i < row->walk.hits && m->overflows.row[at->number - 1].hits; i++) {
		uint64_t w = sp_hit_weight(&h[i]);

		if (h[i].of != at->number ||
		    (last &&
		     (w > sp_hit_weight(last) || (w == sp_hit_weight(last) && &h[i] <= last))))
			continue;
		if (!best || w > sp_hit_weight(best))
			best = &h[i];
	}
	if (!best)
		return false;
	*hit = (uint32_t)(best - h);
	*count = sp_hit_weight(best);
	sp_describe_code(m, module_of(m, row, best), best->address, 0, f);
	return true;
}
