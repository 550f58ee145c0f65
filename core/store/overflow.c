/* overflow.c: see overflow.h. */
#include "overflow.h"

struct sp_overflows *sp_overflows_at(const struct sp_store_reader *reader, sp_off off)
{
	const struct sp_overflows *o =
		sp_store_reader_block(reader, off, SP_BLOCK_OVERFLOWS, sizeof(*o));

	return o && o->hits <= SP_HITS && sp_overflows_bytes(o->n, o->hits) <= o->b.bytes
		       ? (struct sp_overflows *)o
		       : NULL;
}

void sp_overflow_count(const struct sp_overflow_writer *w, uint32_t at, uint32_t event, int32_t cpu,
		      uint64_t times)
{
	struct sp_overflow *to = &sp_overflow_in(w->block)[at];

	store_relaxed(&to->event, event);
	store_relaxed(&to->cpu, cpu);
	__atomic_fetch_add(&to->count, times, __ATOMIC_RELEASE);
}

/* Replaces another address, whose calls remain in the count but in no hit. */
static void take_place(struct sp_hit *h, uint32_t from, uint32_t of, uint64_t times,
		       uint64_t address, uint32_t module)
{
	if (!sp_cas(&h->of, &from, SP_HIT_BUSY))
		return;			/* another handler took it; this address is not kept */
	store_relaxed(&h->before, load_relaxed(&h->count));
	store_relaxed(&h->count, load_relaxed(&h->count) + times);
	store_relaxed(&h->address, address);
	store_relaxed(&h->module, module);
	store_release(&h->of, of);
}

void sp_overflow_hit(const struct sp_overflow_writer *w, uint32_t at, uint64_t times,
		     uint64_t address, uint32_t module)
{
	uint64_t mixed = (address ^ (uint64_t)at << 48) * 0x9e3779b97f4a7c15ull;
	struct sp_hit *h = sp_hits_in(w->block, w->n) +
			   (mixed >> 32) % (SP_HITS / SP_HIT_WAYS) * SP_HIT_WAYS,
		      *least = NULL;
	uint32_t was = 0;

	for (struct sp_hit *end = h + SP_HIT_WAYS; h < end; h++) {
		uint32_t of = load_acquire(&h->of);

		if (of == at + 1 && load_relaxed(&h->address) == address &&
		    load_relaxed(&h->module) == module) {
			sp_add(&h->count, times);
			return;
		}
		if (of != SP_HIT_BUSY &&
		    (!least || !of || load_relaxed(&h->count) < load_relaxed(&least->count))) {
			least = h;
			was = of;
		}
		if (!of)
			break;		/* places are taken in order */
	}
	if (least)
		take_place(least, was, at + 1, times, address, module);
}
