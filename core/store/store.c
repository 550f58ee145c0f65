/* store.c: adds strings, events, threads, relations and other blocks to a store; see store.h. */
#include <string.h>

#include "blocks.h"
#include "rules.h"
#include "store.h"
#include "../base/sys.h"

#define FIRST_PIECE 65536u

static void start(struct sp_store *s)
{
	struct sp_header *h = sp_region_at(&s->region, 0, sizeof(*h));

	s->region.used = sp_align(sizeof(*h), 64);
	s->reader = (struct sp_store_reader){ .region = &s->region };
	s->cells = 1 + SP_CELLS_EXTRA;
	sp_header_begin(h);
	h->oldest_reader = SP_FORMAT_READER;
	h->process.rank = -1;
	h->used = s->region.used;
	s->header = h;
}

void sp_store_begin(struct sp_store *s)
{
	sp_order();
	sp_header_finish(s->header);
}

int sp_store_open(struct sp_store *s)
{
	int r = sp_region_open(&s->region, FIRST_PIECE);

	if (r == 0) {
		start(s);
		sp_store_begin(s);
	}
	return r;
}

int sp_store_open_file(struct sp_store *s, const char *path)
{
	int r = sp_region_open_file(&s->region, FIRST_PIECE, path);

	if (r == 0)
		start(s);
	return r;
}

void sp_store_close(struct sp_store *s)
{
	sp_region_close(&s->region);
	memset(s, 0, sizeof(*s));
}

void *sp_store_make(struct sp_store *s, uint32_t kind, uint64_t bytes, sp_off *off)
{
	void *p = s->header ? sp_region_alloc(&s->region, kind, bytes, off) : NULL;

	if (p)
		store_relaxed(&s->header->used, s->region.used);
	if (p && kind == SP_BLOCK_RELATION && !s->region.torn)
		store_relaxed(&s->in_file, true);
	if (s->region.torn && !s->header->torn)
		s->header->torn = SP_TORN_FULL | (uint64_t)-s->region.why << SP_TORN_SHIFT;
	return p;
}

/* Refills ready[]. Needs the lock. */
static void make_ready(struct sp_store *s)
{
	sp_off off;

	for (uint32_t i = 0; i < SP_READY; i++)
		if (!load_relaxed(&s->ready[i]) &&
		    sp_store_make(s, SP_BLOCK_FREE, SP_READY_BYTES, &off))
			store_release(&s->ready[i], off);
}

void *sp_store_take_ready(struct sp_store *s, uint32_t kind, uint32_t least, sp_off *off,
			  uint32_t *left)
{
	struct sp_block *b = NULL;
	uint32_t there = 0;

	*left = 0;
	for (uint32_t i = 0; i < SP_READY; i++)
		there += load_relaxed(&s->ready[i]) != 0;
	for (uint32_t i = 0; i < SP_READY; i++) {
		*off = b ? *off : load_acquire(&s->ready[i]);
		if (!b && there > least && *off && sp_cas(&s->ready[i], off, 0))
			b = sp_region_at(&s->region, *off, SP_READY_BYTES);
		else
			*left += load_relaxed(&s->ready[i]) != 0;
	}
	if (b)
		store_release(&b->kind, kind);
	return b;
}

#define TRIES_NOW 100u

void *sp_store_make_now(struct sp_store *s, uint32_t kind, uint64_t bytes, sp_off *off)
{
	struct sp_lock_state lock_state;
	uint32_t left = 0;
	void *b = bytes <= SP_READY_BYTES ? sp_store_take_ready(s, kind, 0, off, &left) : NULL;

	for (unsigned tries = 0; tries < (b ? 1 : TRIES_NOW) && (!b || left < SP_READY / 2);
	     tries++) {
		if (!sp_lock_try(&s->lock, &lock_state, 0))
			continue;
		b = b ? b : sp_store_make(s, kind, bytes, off);
		make_ready(s);
		sp_lock_give(&s->lock, &lock_state);
		break;
	}
	return b;
}

struct sp_store *sp_store_of_reader(const struct sp_store_reader *reader)
{
	return reader->region ? (struct sp_store *)((char *)reader->region -
						    offsetof(struct sp_store, region))
			      : NULL;
}

void sp_cells_begin(struct sp_block *b, const struct sp_layout *l, uint32_t cells, uint32_t first)
{
	for (uint32_t i = 0; i < l->each; i++) {
		struct sp_cell *c = (struct sp_cell *)((char *)(b + 1) + i * l->cell_bytes);
		bool dense = first + i < cells - SP_CELLS_EXTRA;

		c->used = dense ? SP_CELL_USED : 0;
		c->cpu = dense ? (int32_t)(first + i) : SP_NO_CPU;
	}
}

void sp_store_push(struct sp_store *s, sp_off *head, sp_off *kept, sp_off *next, sp_off off)
{
	*next = *head;
	if (s->region.torn && !*kept)
		*kept = *head;
	store_release(head, off);
}

sp_off sp_store_text(struct sp_store *s, const char *text)
{
	size_t n = text ? sp_min(strlen(text), 65535) : 0;
	struct sp_string *t;
	sp_off off;

	if (!n)
		return 0;
	t = sp_store_make(s, SP_BLOCK_STRING, sizeof(*t) + n + 1, &off);
	if (!t)
		return 0;
	memcpy(t->text, text, n);
	t->length = (uint32_t)n;
	return off;
}

sp_off sp_store_texts(struct sp_store *s, uint32_t n, const char *const *texts)
{
	struct sp_strings *l;
	sp_off off;

	if (!n)
		return 0;
	l = sp_store_make(s, SP_BLOCK_STRINGS, sizeof(*l) + n * sizeof(sp_off), &off);
	if (!l)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		l->at[i] = sp_store_text(s, texts[i]);
	l->n = n;
	return off;
}

void sp_store_note(struct sp_store *s, const char *text)
{
	size_t n = strnlen(text, 1000);
	struct sp_note *note;
	unsigned left = SP_NOTES_MAX;
	sp_off off;

	if (!s->header || s->notes_made >= SP_NOTES_MAX)
		return;
	for (off = s->header->lists.notes; off && left--; off = note->next) {
		note = (struct sp_note *)sp_store_reader_block(&s->reader, off, SP_BLOCK_NOTE,
							       sizeof(*note));
		if (!note)
			break;
		if (n < note->b.bytes - sizeof(*note) && memcmp(note->text, text, n) == 0 &&
		    !note->text[n])
			return;
	}
	note = sp_store_make(s, SP_BLOCK_NOTE, sizeof(*note) + n + 1, &off);
	if (!note)
		return;
	memcpy(note->text, text, n);
	sp_store_push(s, &s->header->lists.notes, &s->header->kept.notes, &note->next, off);
	s->header->lists.n_notes = ++s->notes_made;
}

void sp_store_cpus(struct sp_store *s, uint32_t n_cpus)
{
	s->cells = (uint32_t)sp_max(s->cells, (uint64_t)n_cpus + SP_CELLS_EXTRA);
}

int sp_store_topology(struct sp_store *s, const struct sp_component *c, uint32_t n, uint32_t n_cpus,
		      const char *source, const char *xml, uint64_t xml_bytes)
{
	const struct sp_tree tree = {
		.component = c, .n = n, .n_cpus = n_cpus, .xml = xml, .xml_bytes = xml_bytes
	};
	struct sp_topology *t;
	sp_off off, from = sp_store_text(s, source);

	sp_store_cpus(s, n_cpus);
	t = sp_store_make(s, SP_BLOCK_TOPOLOGY, sp_tree_bytes(&tree), &off);
	if (!t)
		return -ENOMEM;
	t->source = from;
	sp_tree_write(&tree, t);
	store_release(&s->header->topology, off);
	return 0;
}

long sp_store_event(struct sp_store *s, const struct sp_event_text *e)
{
	struct sp_event *v;
	sp_off off;

	v = sp_store_make(s, SP_BLOCK_EVENT, sizeof(*v), &off);
	if (!v)
		return -ENOMEM;
	v->id = s->header->lists.n_events;
	v->code = e->code;
	v->data_type = e->data_type;
	v->kind = e->kind;
	v->scope = e->scope;
	v->place = e->place;
	v->place_id = e->place_id;
	v->name = sp_store_text(s, e->name);
	v->component = sp_store_text(s, e->component);
	v->derived = sp_store_text(s, e->derived);
	v->postfix = sp_store_text(s, e->postfix);
	v->units = sp_store_text(s, e->units);
	v->description = sp_store_text(s, e->description);
	v->natives = sp_store_texts(s, e->n_natives, e->natives);
	sp_store_push(s, &s->header->lists.events, &s->header->kept.events, &v->next, off);
	s->header->lists.n_events++;
	return v->id;
}

static struct sp_event *event_of(const struct sp_store *s, uint32_t id)
{
	uint64_t left = sp_store_most_blocks(s);
	struct sp_event *v;

	for (sp_off off = s->header->lists.events; off && left--; off = v->next) {
		v = (struct sp_event *)sp_store_reader_block(&s->reader, off, SP_BLOCK_EVENT,
							     sizeof(*v));
		if (!v || v->id == id)
			return v;
	}
	return NULL;
}

long sp_store_copy_event(struct sp_store *s, uint32_t id, const char *name)
{
	const struct sp_event *from = event_of(s, id);
	struct sp_event *v;
	sp_off off;

	v = from ? sp_store_make(s, SP_BLOCK_EVENT, sizeof(*v), &off) : NULL;
	if (!v)
		return -ENOMEM;
	memcpy((char *)v + sizeof(v->b), (const char *)from + sizeof(v->b),
	       sizeof(*v) - sizeof(v->b));
	v->id = s->header->lists.n_events;
	v->name = sp_store_text(s, name);
	sp_store_push(s, &s->header->lists.events, &s->header->kept.events, &v->next, off);
	s->header->lists.n_events++;
	return v->id;
}

const char *sp_store_get_event_name(const struct sp_store *s, uint32_t id)
{
	const struct sp_event *v = event_of(s, id);

	return v ? sp_store_reader_text(&s->reader, v->name) : "";
}

void sp_store_rename_event(struct sp_store *s, uint32_t id, const char *name)
{
	struct sp_event *v = event_of(s, id);
	sp_off text = v ? sp_store_text(s, name) : 0;

	if (text)
		store_release(&v->name, text);
}

void sp_store_set_event_pmu(struct sp_store *s, uint32_t id, const char *pmu)
{
	struct sp_event *v = event_of(s, id);

	if (v)
		store_release(&v->pmu, sp_store_text(s, pmu));
}

bool sp_store_kinds(const struct sp_store *s, const struct sp_relation *r, uint8_t *kinds)
{
	const uint32_t *event = (const uint32_t *)(r + 1);
	bool any = false;

	for (uint32_t e = 0; e < r->k; e++) {
		const struct sp_event *v = event_of(s, event[e]);

		kinds[e] = sp_event_values(v);
		any = any || kinds[e] != SP_COUNTS;
	}
	return any;
}

struct sp_thread *sp_store_thread(struct sp_store *s, int tid, const char *name, sp_off *off)
{
	struct sp_thread *t = sp_store_make(s, SP_BLOCK_THREAD, sizeof(*t), off);

	if (!t)
		return NULL;
	t->tid = tid;
	t->threads = tid != 0;
	strncpy(t->name, name ? name : "", sizeof(t->name) - 1);
	sp_store_push(s, &s->header->lists.threads, &s->header->kept.threads, &t->next, *off);
	s->header->lists.n_threads++;
	return t;
}

static const char *watched_name(const struct sp_store *s, int tid)
{
	const struct sp_watched *w;

	for (sp_off off = s->header->watched; off; off = w->next) {
		w = sp_store_reader_block(&s->reader, off, SP_BLOCK_WATCHED, sizeof(*w));
		if (!w || w->tid == tid)
			return w ? w->name : "";
	}
	return "";
}

struct sp_thread *sp_store_find_thread(struct sp_store *s, int tid, sp_off *off)
{
	uint64_t left = sp_store_most_blocks(s);
	struct sp_thread *t;

	for (*off = s->header->lists.threads; left-- && (t = sp_store_thread_at(s, *off)) != NULL;
	     *off = t->next)
		if (t->tid == tid)
			return t;
	return sp_store_thread(s, tid, watched_name(s, tid), off);
}

uint64_t sp_store_most_blocks(const struct sp_store *s)
{
	return s->region.mapped / 64;
}

struct sp_thread *sp_store_thread_at(struct sp_store *s, sp_off off)
{
	return (struct sp_thread *)sp_store_reader_block(&s->reader, off, SP_BLOCK_THREAD,
							 sizeof(struct sp_thread));
}

struct sp_relation *sp_store_relation_at(struct sp_store *s, sp_off off)
{
	const struct sp_relation *r =
		sp_store_reader_block(&s->reader, off, SP_BLOCK_RELATION, sizeof(*r));

	return r && sp_relation_layout(r->k, r->cells).bytes <= r->b.bytes ? (struct sp_relation *)r
									   : NULL;
}

static uint32_t *events_of(struct sp_relation *r)
{
	return (uint32_t *)(r + 1);
}

static bool same(const struct sp_relation *r, const struct sp_relation_key *key)
{
	return r->k == key->k && r->target == (uint32_t)key->target &&
	       r->target_id == key->target_id && r->scope == (uint32_t)key->scope &&
	       r->domain == key->domain &&
	       !((load_relaxed(&r->flags) ^ key->flags) & SP_RELATION_KEY_FLAGS) &&
	       memcmp(r + 1, key->event, (uint64_t)key->k * sizeof(uint32_t)) == 0;
}

static bool fits(const struct sp_store *s, const struct sp_relation *r,
		 const struct sp_relation_key *key)
{
	return same(r, key) && r->cells == s->cells;
}

struct sp_relation *sp_store_find_relation(struct sp_store *s, const struct sp_thread *t,
					  const struct sp_relation_key *key, sp_off *off)
{
	uint64_t left = sp_store_most_blocks(s);
	struct sp_relation *r;

	for (*off = t->relations; left-- && (r = sp_store_relation_at(s, *off)) != NULL;
	     *off = r->next)
		if (fits(s, r, key))
			return r;
	return NULL;
}

/* Makes the relation's gauges; 0: no memory. Sets whose counts belong to no CPU have one cell. */
static sp_off new_gauges(struct sp_store *s, const struct sp_relation_key *key)
{
	uint32_t cells = key->scope == SP_SCOPE_THREAD || key->scope == SP_SCOPE_CPU ? s->cells : 1;
	struct sp_gauges *g;
	sp_off off;

	g = sp_store_make(s, SP_BLOCK_GAUGES, sp_gauges_bytes(key->n_gauges, cells), &off);
	if (!g)
		return 0;
	sp_gauges_init(g, key->n_gauges, cells, key->gauge);
	return off;
}

struct sp_gauges *sp_store_gauges_at(const struct sp_store *s, sp_off off, uint64_t *bytes)
{
	const struct sp_gauges *g =
		sp_store_reader_block(&s->reader, off, SP_BLOCK_GAUGES, sizeof(*g));

	*bytes = g ? sp_gauges_bytes(g->n, g->cells) : 0;
	return g && g->n && g->cells && *bytes <= g->b.bytes ? (struct sp_gauges *)g : NULL;
}

struct sp_gauge *sp_store_gauges(const struct sp_store *s, const struct sp_relation *r, uint32_t n,
				 uint32_t *cells)
{
	uint64_t bytes;
	struct sp_gauges *g = sp_store_gauges_at(s, r->gauges, &bytes);

	if (!g || g->n != n)
		return NULL;
	*cells = g->cells;
	return sp_gauges_at(g, n);
}

static void identify(struct sp_relation *r, const struct sp_relation_key *key)
{
	r->target = key->target;
	r->target_id = key->target_id;
	r->scope = key->scope;
	r->domain = key->domain;
	memcpy(events_of(r), key->event, (uint64_t)key->k * sizeof(uint32_t));
}

struct sp_relation *sp_store_new_relation(struct sp_store *s, sp_off thread,
					  const struct sp_relation_key *key, sp_off *off)
{
	struct sp_layout l = sp_relation_layout(key->k, s->cells);
	struct sp_thread *t = sp_store_thread_at(s, thread);
	sp_off gauges = key->n_gauges ? new_gauges(s, key) : 0;
	struct sp_relation *r = t && !gauges == !key->n_gauges
					? sp_store_make(s, SP_BLOCK_RELATION, l.bytes, off)
					: NULL;
	struct sp_state *state;
	struct sp_cell *none;

	if (!r) {
		if (s->header)
			s->header->dropped_relations++;
		return NULL;
	}
	r->thread = thread;
	r->gauges = gauges;
	r->id = s->header->lists.n_relations++;
	s->n_unfolded += t->tid != 0;
	r->k = key->k;
	r->cells = s->cells;
	identify(r, key);
	r->threads = 1;
	r->flags = SP_BY_AUTO << SP_RELATION_HOW_SHIFT;
	state = (struct sp_state *)((unsigned char *)r + l.state);
	state->cell = -1;
	state->epoch = 1;
	none = (struct sp_cell *)((unsigned char *)r + l.cell);
	none->used = SP_CELL_USED;
	none->cpu = SP_NO_CPU;
	make_ready(s);
	sp_store_push(s, &t->relations, &t->kept, &r->next, *off);
	t->n_relations++;
	return r;
}

static uint64_t digest(uint64_t of, uint64_t more)
{
	return (of ^ more) * 0x9e3779b97f4a7c15u ^ of >> 29;
}

static uint64_t digest_key(const struct sp_relation_key *key)
{
	uint64_t d = digest((uint64_t)key->domain << 32 | key->k,
			    (uint64_t)key->scope << 32 | (uint32_t)key->target);

	d = digest(d,
		   (uint64_t)(key->flags & SP_RELATION_KEY_FLAGS) << 32 | (uint32_t)key->target_id);
	for (uint32_t i = 0; i < key->k; i++)
		d = digest(d, key->event[i]);
	return d;
}

void sp_store_released(struct sp_store *s, sp_off relation)
{
	const struct sp_relation *r = sp_store_relation_at(s, relation);

	if (r)
		store_relaxed(&s->released[r->thread / 64 % SP_RELATION_LOOKUPS], relation);
	__atomic_fetch_add(&s->releases, 1, __ATOMIC_RELEASE);
}

/* Finds a relation to which no set is bound: the last one released, or else in the list, except
 * for the part already searched. (Each of 1000 sets of one thread took 30 us to start, of 3000
 * 58 us.) A remembered block may have another use by now; then a new relation is made
 * unnecessarily. */
static struct sp_relation *find_free(struct sp_store *s, sp_off thread,
				     const struct sp_relation_key *key,
				     bool (*is_bound)(sp_off, void *), void *arg, sp_off *off)
{
	uint64_t left = sp_store_most_blocks(s), digested = digest_key(key);
	struct sp_relation_lookup *m = &s->lookups[(thread / 64 + digested) % SP_RELATION_LOOKUPS];
	uint32_t releases = load_acquire(&s->releases);
	bool is_match = m->thread == thread && m->key == digested && m->releases == releases;
	struct sp_relation *r, *found = NULL;
	sp_off head = sp_store_thread_at(s, thread)->relations,
	       at = load_relaxed(&s->released[thread / 64 % SP_RELATION_LOOKUPS]);

	r = at ? sp_store_relation_at(s, at) : NULL;
	*off = at;
	if (r && r->thread == thread && fits(s, r, key) && !is_bound(at, arg))
		return r;
	for (at = head; left--; at = r->next) {
		if (is_match && at == m->head)
			at = m->upto;
		r = sp_store_relation_at(s, at);
		if (!r || r->thread != thread)
			break;
		if (fits(s, r, key) && !is_bound(at, arg)) {
			found = r;
			break;
		}
	}
	*off = at;
	*m = (struct sp_relation_lookup){ .thread = thread,
					  .head = head,
					  .upto = found ? at : 0,
					  .key = digested,
					  .releases = releases };
	return found;
}

struct sp_relation *sp_store_relation(struct sp_store *s, sp_off thread,
				      const struct sp_relation_key *key,
				      bool (*is_bound)(sp_off relation, void *arg), void *arg,
				      sp_off *off)
{
	struct sp_thread *t = sp_store_thread_at(s, thread);
	struct sp_relation *r = NULL;

	if (t)
		r = is_bound ? find_free(s, thread, key, is_bound, arg, off)
			     : sp_store_find_relation(s, t, key, off);
	if (!r)
		r = sp_store_new_relation(s, thread, key, off);
	if (r) {
		r->event_set = key->event_set;
		__atomic_fetch_or(&r->flags, key->flags, __ATOMIC_RELAXED);
	}
	return r;
}

bool sp_store_rekey_relation(struct sp_store *s, sp_off relation, sp_off thread,
			       const struct sp_relation_key *key)
{
	struct sp_relation *r = sp_store_relation_at(s, relation);
	struct sp_thread *t = r ? sp_store_thread_at(s, r->thread) : NULL;
	uint32_t flags;
	sp_off like;

	if (!t || r->thread != thread || r->starts || r->k != key->k || r->gauges ||
	    key->n_gauges || r->cells != s->cells || sp_store_find_relation(s, t, key, &like))
		return false;
	identify(r, key);
	store_relaxed(&sp_relation_times(r)->flags, 0);
	flags = load_relaxed(&r->flags);
	while (!sp_cas(&r->flags, &flags,
		       (flags & (SP_RELATION_API | SP_RELATION_HANDLE | SP_RELATION_UNSURE)) |
			       key->flags | SP_BY_AUTO << SP_RELATION_HOW_SHIFT))
		;
	/* searches have not seen this relation */
	__atomic_fetch_add(&s->releases, 1, __ATOMIC_RELEASE);
	return true;
}

/* ---- attribution -------------------------------------------------------- */

struct sp_times *sp_relation_times(const struct sp_relation *r)
{
	struct sp_layout l = sp_relation_layout(r->k, r->cells);

	return sp_times_of(r, &l);
}

/* SP_BY_AUTO in a new relation: nothing was attributed yet. */
static uint32_t how_of(uint32_t flags)
{
	return flags >> SP_RELATION_HOW_SHIFT & 7;
}

static uint32_t why_of(uint32_t flags)
{
	return flags >> SP_RELATION_WHY_SHIFT & 63;
}

void sp_times_unwatched(struct sp_times *t, uint32_t cpu)
{
	uint32_t was = load_relaxed(&t->unwatched);

	if (!was)
		store_relaxed(&t->unwatched, cpu);
	else if (cpu && cpu != was)
		store_relaxed(&t->flags, t->flags | SP_TIMES_UNWATCHED);
}

/* Keeps the best attribution of all windows, and why the last window that left something open
 * was not better. */
void sp_relation_set_attribution(struct sp_relation *r, enum sp_attribution how, enum sp_why why)
{
	static const uint8_t rank[8] = { [SP_BY_AUTO] = 0,
					 [SP_BY_READING] = 1,
					 [SP_BY_RESIDENCY] = 2,
					 [SP_BY_APPROXIMATE] = 3,
					 [SP_BY_EXACT] = 4 };
	uint32_t was = load_relaxed(&r->flags), is, best;

	do {
		best = rank[how & 7] > rank[how_of(was)] ? (uint32_t)how : how_of(was);
		is = (was & ~SP_RELATION_HOW) | best << SP_RELATION_HOW_SHIFT |
		     (why ? (uint32_t)why : why_of(was)) << SP_RELATION_WHY_SHIFT;
	} while (is != was && !sp_cas(&r->flags, &was, is));
}

void sp_relation_copy_attribution(struct sp_relation *r, const struct sp_relation *other)
{
	sp_relation_set_attribution(r, (enum sp_attribution)how_of(other->flags),
				    (enum sp_why)why_of(other->flags));
}

/* ---- call sites ----------------------------------------- */

struct sp_sites *sp_store_sites(struct sp_store *s, uint32_t frames)
{
	sp_off off;
	struct sp_sites *b =
		sp_store_make(s, SP_BLOCK_SITES, sizeof(*b) + SP_SITES_EACH * sp_site_bytes(frames),
			      &off);

	if (!b)
		return NULL;
	b->frames = frames;
	b->first = s->header->code.n_sites + 1;
	sp_store_push(s, &s->header->code.sites, &s->header->code.kept_sites, &b->next, off);
	s->header->code.n_sites += SP_SITES_EACH;
	return b;
}

struct sp_module *sp_store_module(struct sp_store *s, uint32_t room, struct sp_string **path)
{
	sp_off text, off;
	struct sp_string *t = sp_store_make(s, SP_BLOCK_STRING, sizeof(*t) + room + 1, &text);
	struct sp_module *m = t ? sp_store_make(s, SP_BLOCK_MODULE, sizeof(*m), &off) : NULL;

	if (!m)
		return NULL;
	m->number = ++s->header->code.n_modules;
	m->path = text;
	*path = t;
	sp_store_push(s, &s->header->code.modules, &s->header->code.kept_modules, &m->next, off);
	return m;
}

struct sp_watched *sp_store_watched(struct sp_store *s, int tid, uint64_t start_ticks)
{
	const struct sp_watched *is;
	struct sp_watched *w;
	sp_off off;

	for (off = s->header->watched; off; off = is->next) {
		is = sp_store_reader_block(&s->reader, off, SP_BLOCK_WATCHED, sizeof(*is));
		if (!is)
			return NULL;
		if (is->tid == tid && is->start_ticks == start_ticks)
			return (struct sp_watched *)is;
	}
	w = sp_store_make(s, SP_BLOCK_WATCHED, sizeof(*w), &off);
	if (!w)
		return NULL;
	w->tid = tid;
	w->start_ticks = start_ticks;
	w->next = s->header->watched;
	store_release(&s->header->watched, off);
	return w;
}

/* ---- overflows ------------------------------------------------------------ */

struct sp_overflow_writer sp_store_overflows(struct sp_store *s, struct sp_relation *r)
{
	struct sp_overflow_writer w = { .n = (uint32_t)sp_overflows_counts(r->k, r->cells) };
	struct sp_times *t = sp_relation_times(r);
	struct sp_overflows *o = sp_overflows_at(&s->reader, t->overflows);
	sp_off off;

	if (!t->overflows) {
		o = sp_store_make(s, SP_BLOCK_OVERFLOWS, sp_overflows_bytes(w.n, SP_HITS), &off);
		if (!o)
			return w;
		o->n = w.n;
		o->hits = SP_HITS;
		store_release(&t->overflows, off);
	}
	w.block = o && o->n == w.n && o->hits == SP_HITS ? o : NULL;
	return w;
}
