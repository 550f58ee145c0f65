/* relations.c: the pool of relations to which programs have handles; see relations.h. */
#include <string.h>

#include "../../core/base/sys.h"
#include "relations.h"

#define SLOTS	64u
#define CHUNKS	1024u

static struct sspapi_relation *chunks[CHUNKS];
static uint32_t n_chunks;
static struct sp_lock pool;

/* Free all slots in a child of fork, and the locks that the parent's other threads had. */
void sp_api_forget(void)
{
	pool.taken = 0;
	for (uint32_t c = 0; c < n_chunks; c++)
		memset(chunks[c], 0, SLOTS * sizeof(*chunks[c]));
}

static bool is_slot(const struct sspapi_relation *rel)
{
	for (uint32_t c = 0; c < load_acquire(&n_chunks); c++) {
		uintptr_t at = (uintptr_t)rel - (uintptr_t)chunks[c];

		if (at < SLOTS * sizeof(*rel))
			return at % sizeof(*rel) == 0;
	}
	return false;
}

static bool is_alive(const struct sspapi_relation *rel)
{
	uint32_t generation = load_acquire(&rel->generation);

	return generation && generation == sp_process.generation && sp_process.counting &&
	       !load_relaxed(&rel->is_freed);
}

bool sp_api_take(const struct sspapi_relation *rel, struct sp_lock_state *lock_state)
{
	struct sspapi_relation *r = (struct sspapi_relation *)rel;

	if (!rel || !is_slot(rel) || !is_alive(rel))
		return false;
	sp_lock_take(&r->lock, lock_state);
	if (is_alive(r))
		return true;
	sp_lock_give(&r->lock, lock_state);
	return false;
}

void sp_api_give(const struct sspapi_relation *rel, struct sp_lock_state *lock_state)
{
	sp_lock_give(&((struct sspapi_relation *)rel)->lock, lock_state);
}

static struct sspapi_relation *free_slot(void)
{
	for (uint32_t i = 0; i < n_chunks * SLOTS; i++) {
		struct sspapi_relation *r = &chunks[i / SLOTS][i % SLOTS];

		if (r->generation != sp_process.generation)
			return r;
	}
	if (n_chunks == CHUNKS)
		return NULL;
	chunks[n_chunks] = sp_map(SLOTS * sizeof(struct sspapi_relation));
	if (!chunks[n_chunks])
		return NULL;
	store_release(&n_chunks, n_chunks + 1);
	return chunks[n_chunks - 1];
}

struct sspapi_relation *sp_api_new(void)
{
	struct sspapi_relation *r;
	struct sp_lock_state lock_state;

	sp_lock_take(&pool, &lock_state);
	r = free_slot();
	if (r) {
		memset((char *)r + sizeof(r->lock), 0, sizeof(*r) - sizeof(r->lock));
		r->latest_cpu = SP_NO_CPU;
		r->own = true;
		store_release(&r->generation, sp_process.generation);
	}
	sp_lock_give(&pool, &lock_state);
	return r;
}

/* ---- parts ------------------------------------------------------------ */

static void find_codes(struct sp_binding *p)
{
	const struct sp_event *v;
	sp_off off = sp_store.header->lists.events;

	for (uint64_t left = sp_store.region.used / 64; left-- && off; off = v->next) {
		v = sp_store_reader_block(&sp_store.reader, off, SP_BLOCK_EVENT, sizeof(*v));
		if (!v)
			return;
		for (uint32_t e = 0; e < p->key.k; e++)
			if (p->key.event[e] == v->id)
				p->codes[e] = (int)v->code;
	}
}

/* Allocate one block for the part and prefault it: a program may count its own page faults. */
static struct sp_binding *make_part(const struct sp_relation_key *key, struct sp_relation *r,
				    sp_off off)
{
	uint64_t k = key->k, bytes = sizeof(struct sp_binding) +
				     k * (sizeof(long long) + sizeof(int) + sizeof(uint32_t) + 1);
	struct sp_binding *p = sp_map(bytes);

	if (!p)
		return NULL;
	memset(p, 0, bytes);
	p->bytes = bytes;
	p->off = off;
	p->relation = r;
	p->cells = r->cells;
	p->values = (long long *)(p + 1);
	p->codes = (int *)(p->values + k);
	p->key = *key;
	p->key.event = memcpy(p->codes + k, key->event, k * sizeof(uint32_t));
	if (key->kinds)
		p->kinds = memcpy((uint8_t *)(p->key.event + k), key->kinds, k);
	if (sp_model_open_one(&p->model, &sp_store.reader, off, false) < 0) {
		sp_unmap(p, bytes);
		return NULL;
	}
	find_codes(p);
	return p;
}

static bool is_same_key(const struct sp_relation_key *a, const struct sp_relation_key *b)
{
	return a->event_set == b->event_set && a->k == b->k && a->target == b->target &&
	       a->target_id == b->target_id && a->scope == b->scope && a->domain == b->domain &&
	       memcmp(a->event, b->event, a->k * sizeof(*a->event)) == 0;
}

static bool accept_any(sp_off off, void *arg)
{
	(void)off;
	(void)arg;
	return true;
}

struct sp_binding *sp_api_part(struct sspapi_relation *rel, sp_off thread,
			       const struct sp_relation_key *key)
{
	struct sp_relation_key own = *key;
	struct sp_relation *r;
	struct sp_binding *p;
	struct sp_lock_state lock_state;
	sp_off off = 0;

	for (p = rel->parts; p; p = p->next)
		if (is_same_key(&p->key, key))
			return p;
	own.flags |= SP_RELATION_API | SP_RELATION_HANDLE;
	sp_lock_take(&sp_store.lock, &lock_state);
	r = sp_store_relation(&sp_store, thread, &own, accept_any, NULL, &off);
	sp_lock_give(&sp_store.lock, &lock_state);
	p = r ? make_part(&own, r, off) : NULL;
	if (p) {
		p->next = rel->parts;
		rel->parts = p;
	}
	return p;
}

void sp_api_part_becomes(struct sspapi_relation *rel, sp_off off, const struct sp_relation_key *key)
{
	struct sp_binding *p = rel->parts;
	uint32_t *event;

	while (p && p->off != off)
		p = p->next;
	if (!p)
		return;
	event = (uint32_t *)(p->codes + p->key.k);
	memcpy(event, key->event, p->key.k * sizeof(*event));
	p->key = *key;
	p->key.event = event;
	p->key.flags |= SP_RELATION_API | SP_RELATION_HANDLE;
	sp_model_close(&p->model);
	if (sp_model_open_one(&p->model, &sp_store.reader, off, false) == 0)
		find_codes(p);
}

/* ---- relations that sspapi made ----------------------------------------- */

static bool has_slot(sp_off off)
{
	for (uint32_t i = 0; i < n_chunks * SLOTS; i++) {
		struct sspapi_relation *r = &chunks[i / SLOTS][i % SLOTS];

		if (r->generation == sp_process.generation && !r->own && r->parts &&
		    r->parts->off == off)
			return true;
	}
	return false;
}

static void keep_relation(struct sp_relation *r, sp_off off)
{
	struct sp_relation_key key = { .event_set = r->event_set,
				       .k = r->k,
				       .event = (const uint32_t *)(r + 1),
				       .target = (enum sp_target)r->target,
				       .target_id = r->target_id,
				       .scope = (enum sp_scope)r->scope,
				       .domain = r->domain };
	struct sspapi_relation *slot = free_slot();
	struct sp_binding *p = slot ? make_part(&key, r, off) : NULL;

	if (!p)
		return;
	memset((char *)slot + sizeof(slot->lock), 0, sizeof(*slot) - sizeof(slot->lock));
	slot->latest_cpu = SP_NO_CPU;
	slot->parts = slot->current = p;
	__atomic_fetch_or(&r->flags, SP_RELATION_HANDLE, __ATOMIC_RELAXED);
	store_release(&slot->generation, sp_process.generation);
}

static void keep_all_relations(void)
{
	uint64_t left = sp_store.region.used / 64;
	const struct sp_thread *t;
	const struct sp_relation *r;

	for (sp_off at = sp_store.header->lists.threads; at && left--; at = t->next) {
		t = sp_store_reader_block(&sp_store.reader, at, SP_BLOCK_THREAD, sizeof(*t));
		if (!t)
			return;
		for (sp_off off = t->tid ? t->relations : 0; off && left--; off = r->next) {
			r = sp_store_reader_block(&sp_store.reader, off, SP_BLOCK_RELATION,
						  sizeof(*r));
			if (!r || !r->k || r->k > SP_EVENTS_MAX ||
			    sp_relation_layout(r->k, r->cells).bytes > r->b.bytes)
				break;
			if (!(r->flags & SP_RELATION_API) && !has_slot(off))
				keep_relation((struct sp_relation *)r, off);
		}
	}
}

void sp_api_each(bool (*fn)(struct sspapi_relation *rel, void *arg), void *arg)
{
	struct sp_lock_state lock_state, store;

	if (!sp_process.counting || !sp_process_is_ours() || !sp_store.header)
		return;
	sp_lock_take(&pool, &lock_state);
	sp_lock_take(&sp_store.lock, &store);
	keep_all_relations();
	sp_lock_give(&sp_store.lock, &store);
	sp_lock_give(&pool, &lock_state);
	for (uint32_t i = 0; i < load_acquire(&n_chunks) * SLOTS; i++) {
		struct sspapi_relation *r = &chunks[i / SLOTS][i % SLOTS];

		if (is_alive(r) && !fn(r, arg))
			return;
	}
}
