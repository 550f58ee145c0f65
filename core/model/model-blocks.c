/* model-blocks.c: checks a store's blocks; see model-blocks.h. */
#include "model-blocks.h"

const struct sp_thread *sp_thread_at(const struct sp_model *m, sp_off off)
{
	return sp_store_reader_block(m->reader, off, SP_BLOCK_THREAD,
				     sp_is_merged(m) ? offsetof(struct sp_thread, calls)
						     : offsetof(struct sp_thread, ran));
}

const struct sp_relation *sp_relation_at(const struct sp_model *m, sp_off off)
{
	const struct sp_relation *r =
		sp_store_reader_block(m->reader, off, SP_BLOCK_RELATION, sizeof(*r));
	uint32_t k, cells;

	if (!r)
		return NULL;
	k = r->k;
	cells = r->cells;
	if (!k || k > SP_EVENTS_MAX || cells > (1u << 20) ||
	    (cells < SP_CELLS_EXTRA && !sp_is_merged(m)) ||
	    sp_layout_of(m, k, cells).bytes > r->b.bytes)
		return NULL;
	for (uint32_t e = 0; e < k; e++)
		if (((const uint32_t *)(r + 1))[e] >= m->n_events)
			return NULL;
	return r;
}

const struct sp_event *sp_event_at(const struct sp_model *m, sp_off off)
{
	return sp_store_reader_block(m->reader, off, SP_BLOCK_EVENT, sizeof(struct sp_event));
}

sp_off sp_list_head(const struct sp_model *m, sp_off newest, sp_off kept, uint32_t kind)
{
	return m->h.torn && !sp_store_reader_block(m->reader, newest, kind, sizeof(struct sp_block))
		       ? kept
		       : newest;
}

sp_off sp_events_head(const struct sp_model *m)
{
	return sp_list_head(m, m->h.lists.events, m->h.kept.events, SP_BLOCK_EVENT);
}

sp_off sp_threads_head(const struct sp_model *m, uint32_t process)
{
	const struct sp_header *h = m->process[process].h;

	return sp_is_merged(m)
		       ? h->lists.threads
		       : sp_list_head(m, m->h.lists.threads, m->h.kept.threads, SP_BLOCK_THREAD);
}

sp_off sp_relations_head(const struct sp_model *m, const struct sp_thread *t)
{
	return sp_list_head(m, load_acquire(&t->relations), t->kept, SP_BLOCK_RELATION);
}
