/* store.c: what goes into a store, and where; see store.h. */
#include <string.h>

#include "ledger.h"
#include "readings.h"
#include "../sys.h"

#define FIRST_PIECE 65536u
#define FOLD_GAUGES 64u		/* of one relation; with more it is kept apart */

static void start(struct sp_store *s)
{
	struct sp_header *h = sp_region_at(&s->region, 0, sizeof(*h));

	s->region.used = sp_align(sizeof(*h), 64);
	s->image = (struct sp_image){ .region = &s->region };
	s->cells = 1 + SP_CELLS_EXTRA;
	h->endian = SP_ENDIAN;
	h->version = SP_FORMAT_VERSION;
	h->oldest_reader = SP_FORMAT_OLDEST;
	h->bytes = sizeof(*h);
	h->rank = -1;
	h->used = s->region.used;
	s->header = h;
}

void sp_store_begin(struct sp_store *s)
{
	sp_order();
	memcpy(s->header->magic, SP_MAGIC, 8);
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

static void *make(struct sp_store *s, uint32_t kind, uint64_t bytes, sp_off *off)
{
	void *p = s->header ? sp_region_alloc(&s->region, kind, bytes, off) : NULL;

	if (p)
		sp_put(&s->header->used, s->region.used);
	if (s->region.torn && !s->header->torn)
		s->header->torn = 1;
	return p;
}

/* A block becomes the head of its list.  When it is the first that is not in the file
 * any more, the head before it stays known to who reads the file. */
static void push(struct sp_store *s, sp_off *head, sp_off *kept, sp_off *next, sp_off off)
{
	*next = *head;
	if (s->region.torn && !*kept)
		*kept = *head;
	sp_publish(head, off);
}

sp_off sp_store_text(struct sp_store *s, const char *text)
{
	size_t n = text ? sp_min(strlen(text), 65535) : 0;
	struct sp_string *t;
	sp_off off;

	if (!n)
		return 0;
	t = make(s, SP_BLOCK_STRING, sizeof(*t) + n + 1, &off);
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
	l = make(s, SP_BLOCK_STRINGS, sizeof(*l) + n * sizeof(sp_off), &off);
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
	for (off = s->header->notes; off && left--; off = note->next) {
		note = (struct sp_note *)sp_image_block(&s->image, off, SP_BLOCK_NOTE, sizeof(*note));
		if (!note)
			break;
		if (n < note->b.bytes - sizeof(*note) && memcmp(note->text, text, n) == 0 && !note->text[n])
			return;
	}
	note = make(s, SP_BLOCK_NOTE, sizeof(*note) + n + 1, &off);
	if (!note)
		return;
	memcpy(note->text, text, n);
	push(s, &s->header->notes, &s->header->kept_notes, &note->next, off);
	s->header->n_notes = ++s->notes_made;
}

void sp_store_cpus(struct sp_store *s, uint32_t n_cpus)
{
	s->cells = (uint32_t)sp_max(s->cells, (uint64_t)n_cpus + SP_CELLS_EXTRA);
}

int sp_store_topology(struct sp_store *s, const struct sp_component *c, uint32_t n, uint32_t n_cpus,
		      const char *source, const char *xml, uint64_t xml_bytes,
		      const struct sp_cpu_kind *kind, uint32_t n_kinds)
{
	uint64_t kinds = sp_kinds_offset(n, xml_bytes), bytes = kinds + sizeof(struct sp_cpu_kinds) + n_kinds * sizeof(*kind);
	struct sp_cpu_kinds *k;
	struct sp_topology *t;
	sp_off off, from = sp_store_text(s, source);

	sp_store_cpus(s, n_cpus);
	t = make(s, SP_BLOCK_TOPOLOGY, bytes, &off);
	if (!t)
		return -ENOMEM;
	t->n = n;
	t->n_cpus = n_cpus;
	t->source = from;
	t->xml_bytes = xml_bytes;
	memcpy(t->at, c, (uint64_t)n * sizeof(*c));
	if (xml_bytes)
		memcpy((char *)(t->at + n), xml, xml_bytes);
	k = (struct sp_cpu_kinds *)((char *)t + kinds);
	k->n = n_kinds;
	if (n_kinds)
		memcpy(k->at, kind, n_kinds * sizeof(*kind));
	sp_publish(&s->header->topology, off);
	return 0;
}

long sp_store_event(struct sp_store *s, const struct sp_event_text *e)
{
	struct sp_event *v;
	sp_off off;

	v = make(s, SP_BLOCK_EVENT, sizeof(*v), &off);
	if (!v)
		return -ENOMEM;
	v->id = s->header->n_events;
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
	push(s, &s->header->events, &s->header->kept_events, &v->next, off);
	s->header->n_events++;
	return v->id;
}

struct sp_thread *sp_store_thread(struct sp_store *s, int tid, const char *name, sp_off *off)
{
	struct sp_thread *t = make(s, SP_BLOCK_THREAD, sizeof(*t), off);

	if (!t)
		return NULL;
	t->tid = tid;
	t->threads = tid != 0;
	strncpy(t->name, name ? name : "", sizeof(t->name) - 1);
	push(s, &s->header->threads, &s->header->kept_threads, &t->next, *off);
	s->header->n_threads++;
	return t;
}

/* The store's bytes may be a file that somebody scribbles on: a list is followed for
 * no more links than there can be blocks. */
static uint64_t most_blocks(const struct sp_store *s)
{
	return s->region.mapped / 64;
}

static struct sp_thread *thread_at(struct sp_store *s, sp_off off)
{
	return (struct sp_thread *)sp_image_block(&s->image, off, SP_BLOCK_THREAD, sizeof(struct sp_thread));
}

static struct sp_relation *relation_at(struct sp_store *s, sp_off off)
{
	const struct sp_relation *r = sp_image_block(&s->image, off, SP_BLOCK_RELATION, sizeof(*r));

	return r && sp_relation_layout(r->k, r->cells).bytes <= r->b.bytes ? (struct sp_relation *)r : NULL;
}

static uint32_t *events_of(struct sp_relation *r)
{
	return (uint32_t *)(r + 1);
}

/* Relations that differ in one of these are told from each other. */
#define SP_RELATION_APART	(SP_RELATION_PROVEN | SP_RELATION_ESTIMATED | SP_RELATION_API)

static bool same(const struct sp_relation *r, const struct sp_relation_key *key)
{
	return r->k == key->k && r->target == (uint32_t)key->target && r->target_id == key->target_id &&
	       r->scope == (uint32_t)key->scope && r->domain == key->domain &&
	       !((r->flags ^ key->flags) & SP_RELATION_APART) &&
	       memcmp(r + 1, key->event, (uint64_t)key->k * sizeof(uint32_t)) == 0;
}

static bool fits(const struct sp_store *s, const struct sp_relation *r, const struct sp_relation_key *key)
{
	return same(r, key) && r->cells == s->cells;
}

static struct sp_relation *find(struct sp_store *s, const struct sp_thread *t, const struct sp_relation_key *key,
				sp_off *off)
{
	uint64_t left = most_blocks(s);
	struct sp_relation *r;

	for (*off = t->relations; left-- && (r = relation_at(s, *off)) != NULL; *off = r->next)
		if (fits(s, r, key))
			return r;
	return NULL;
}

/* Room for n gauges and floating-point counters of the relation; 0: no memory.  A set
 * whose counts belong to no CPU has one cell for them. */
static sp_off new_gauges(struct sp_store *s, const struct sp_relation_key *key)
{
	uint32_t cells = key->scope == SP_SCOPE_THREAD || key->scope == SP_SCOPE_CPU ? s->cells : 1;
	struct sp_gauges *g;
	sp_off off;

	g = make(s, SP_BLOCK_GAUGES, sp_gauges_bytes(key->n_gauges, cells), &off);
	if (!g)
		return 0;
	sp_gauges_init(g, key->n_gauges, cells, key->gauge);
	return off;
}

static struct sp_gauges *gauges_at(const struct sp_store *s, sp_off off, uint64_t *bytes)
{
	const struct sp_gauges *g = sp_image_block(&s->image, off, SP_BLOCK_GAUGES, sizeof(*g));

	*bytes = g ? sp_gauges_bytes(g->n, g->cells) : 0;
	return g && g->n && g->cells && *bytes <= g->b.bytes ? (struct sp_gauges *)g : NULL;
}

struct sp_gauge *sp_store_gauges(const struct sp_store *s, const struct sp_relation *r, uint32_t n, uint32_t *cells)
{
	uint64_t bytes;
	struct sp_gauges *g = gauges_at(s, r->gauges, &bytes);

	if (!g || g->n != n)
		return NULL;
	*cells = g->cells;
	return sp_gauges_at(g, n);
}

static struct sp_relation *new_relation(struct sp_store *s, sp_off thread, const struct sp_relation_key *key,
					sp_off *off)
{
	struct sp_layout l = sp_relation_layout(key->k, s->cells);
	struct sp_thread *t = thread_at(s, thread);
	sp_off gauges = key->n_gauges ? new_gauges(s, key) : 0;
	struct sp_relation *r = t && !gauges == !key->n_gauges ? make(s, SP_BLOCK_RELATION, l.bytes, off) : NULL;

	if (!r) {
		if (s->header)
			s->header->dropped_relations++;
		return NULL;
	}
	r->thread = thread;
	r->gauges = gauges;
	r->id = s->header->n_relations++;
	s->apart += t->tid != 0;
	r->k = key->k;
	r->cells = s->cells;
	r->target = key->target;
	r->target_id = key->target_id;
	r->scope = key->scope;
	r->domain = key->domain;
	r->threads = 1;
	r->flags = SP_BY_AUTO << SP_RELATION_HOW_SHIFT;
	memcpy(events_of(r), key->event, (uint64_t)key->k * sizeof(uint32_t));
	for (int i = 0; i < 2; i++) {
		struct sp_state *st = (struct sp_state *)((unsigned char *)r + l.state[i]);

		st->cell = st->jcell = -1;
		st->epoch = 1;
	}
	for (uint32_t i = 0; i < r->cells; i++) {
		struct sp_cell *c = (struct sp_cell *)((unsigned char *)r + l.cell + i * l.cell_bytes);

		c->used = i < r->cells - SP_CELLS_EXTRA || i == r->cells - 1 ? SP_CELL_USED : 0;
		c->cpu = i < r->cells - SP_CELLS_EXTRA ? (int32_t)i : SP_NO_CPU;
	}
	push(s, &t->relations, &t->kept, &r->next, *off);
	t->n_relations++;
	return r;
}

static uint64_t digest(uint64_t of, uint64_t more)
{
	return (of ^ more) * 0x9e3779b97f4a7c15u ^ of >> 29;
}

static uint64_t digest_key(const struct sp_relation_key *key)
{
	uint64_t d = digest((uint64_t)key->domain << 32 | key->k, (uint64_t)key->scope << 32 | (uint32_t)key->target);

	d = digest(d, (uint64_t)(key->flags & SP_RELATION_APART) << 32 | (uint32_t)key->target_id);
	for (uint32_t i = 0; i < key->k; i++)
		d = digest(d, key->event[i]);
	return d;
}

void sp_store_released(struct sp_store *s, sp_off relation)
{
	const struct sp_relation *r = relation_at(s, relation);

	if (r)
		sp_put(&s->released[r->thread / 64 % SP_SOUGHT], relation);
	__atomic_fetch_add(&s->releases, 1, __ATOMIC_RELEASE);
}

/* One that no set is bound to: the last that was let go, or by the list, without what was
 * looked at before (1000 sets of one thread took 30 us each to start, 3000 took 58).  A block
 * that was remembered may be another by now; then a relation is made that need not be. */
static struct sp_relation *find_free(struct sp_store *s, sp_off thread, const struct sp_relation_key *key,
				     bool (*bound)(sp_off, void *), void *arg, sp_off *off)
{
	uint64_t left = most_blocks(s), digested = digest_key(key);
	struct sp_sought *m = &s->sought[(thread / 64 + digested) % SP_SOUGHT];
	uint32_t releases = sp_acquire(&s->releases);
	bool holds = m->thread == thread && m->key == digested && m->releases == releases;
	struct sp_relation *r, *found = NULL;
	sp_off head = thread_at(s, thread)->relations, at = sp_get(&s->released[thread / 64 % SP_SOUGHT]);

	r = at ? relation_at(s, at) : NULL;
	*off = at;
	if (r && r->thread == thread && fits(s, r, key) && !bound(at, arg))
		return r;
	for (at = head; left--; at = r->next) {
		if (holds && at == m->head)
			at = m->upto;
		r = relation_at(s, at);
		if (!r || r->thread != thread)
			break;
		if (fits(s, r, key) && !bound(at, arg)) {
			found = r;
			break;
		}
	}
	*off = at;
	*m = (struct sp_sought){ .thread = thread, .head = head, .upto = found ? at : 0, .key = digested,
				 .releases = releases };
	return found;
}

struct sp_relation *sp_store_relation(struct sp_store *s, sp_off thread, const struct sp_relation_key *key,
				      bool (*bound)(sp_off relation, void *arg), void *arg, sp_off *off)
{
	struct sp_thread *t = thread_at(s, thread);
	struct sp_relation *r = NULL;

	if (t)
		r = bound ? find_free(s, thread, key, bound, arg, off) : find(s, t, key, off);
	if (!r)
		r = new_relation(s, thread, key, off);
	if (r) {
		r->event_set = key->event_set;
		r->flags |= key->flags;
	}
	return r;
}

/* ---- how counts were told to CPUs --------------------------------------- */

static struct sp_times *times_of(const struct sp_relation *r)
{
	struct sp_layout l = sp_relation_layout(r->k, r->cells);

	return sp_times_of(r, &l);
}

/* A new relation is SP_BY_AUTO: nothing was told yet. */
static uint32_t how_of(uint32_t flags)
{
	return flags >> SP_RELATION_HOW_SHIFT & 7;
}

static uint32_t why_of(uint32_t flags)
{
	return flags >> SP_RELATION_WHY_SHIFT & 63;
}

void sp_relation_told(struct sp_relation *r, enum sp_attribution how, enum sp_why why)
{
	static const uint8_t rank[8] = { [SP_BY_RESIDENCY] = 1, [SP_BY_APPROXIMATE] = 2, [SP_BY_EXACT] = 3, [SP_BY_AUTO] = 4 };
	uint32_t was = sp_get(&r->flags), is;

	do {
		uint32_t a = rank[how_of(was)], b = rank[how & 7];

		if (b > a || (b == a && why_of(was)))
			return;
		is = (was & ~SP_RELATION_HOW) | (uint32_t)how << SP_RELATION_HOW_SHIFT | (uint32_t)why << SP_RELATION_WHY_SHIFT;
	} while (is != was && !sp_cas(&r->flags, &was, is));
}

/* Beyond the topology's CPUs each has cells of its own. */
static void add_times(struct sp_writer *w, const struct sp_writer *v)
{
	struct sp_relation *to = w->relation, *from = v->relation;
	struct sp_times *t = times_of(to), *f = times_of(from);

	sp_relation_told(to, (enum sp_attribution)how_of(from->flags), (enum sp_why)why_of(from->flags));
	if (!to->threads)
		t->flags = SP_TIMES_KNOWN | SP_TIMES_MOVES;
	t->flags &= f->flags;
	t->moves += f->moves;
	t->windows += f->windows;
	for (uint32_t i = 0; i < v->cells; i++)
		if (f->at[i])
			t->at[sp_ledger_cell(w, ((struct sp_cell *)(v->cell + i * v->cell_bytes))->cpu)] += f->at[i];
	for (uint32_t e = 0; e < to->k; e++)
		t->at[to->cells + e] = sp_max(t->at[to->cells + e], f->at[to->cells + e]);
}

/* ---- permanent readings ------------------------------------------------ */

/* Where a chunk jumps to: so that any other is found in some log(n) steps (Myers, "An
 * applicative random-access stack"). */
static void set_jump(struct sp_store *s, struct sp_chunk *c, struct sp_chunk *prev, sp_off prev_off)
{
	struct sp_chunk *far = sp_store_readings_at(&s->image, prev->jump);

	c->jump = prev_off;
	c->jump_number = prev->number;
	if (far && prev->number - prev->jump_number == far->number - far->jump_number) {
		c->jump = far->jump ? far->jump : prev_off;
		c->jump_number = far->jump ? far->jump_number : prev->number;
	}
}

struct sp_chunk *sp_store_readings(struct sp_store *s, struct sp_relation *r, uint32_t k, struct sp_chunk *prev)
{
	uint64_t bytes = prev ? sp_min(SP_READINGS_CHUNK, 2 * (uint64_t)prev->b.bytes) : SP_READINGS_CHUNK / 2;
	struct sp_chunk *c;
	sp_off off;

	bytes = sp_max(bytes, sizeof(*c) + sp_reading_bytes(k));
	c = make(s, SP_BLOCK_READINGS, bytes, &off);
	if (!c)
		return NULL;
	c->k = k;
	c->room = (uint32_t)((c->b.bytes - sizeof(*c)) / sp_reading_bytes(k));
	if (prev) {
		c->number = prev->number + 1;
		c->first = prev->first + prev->room;
		set_jump(s, c, prev, r->readings);
	}
	push(s, &r->readings, &r->kept, &c->next, off);
	return c;
}

/* Those of a thread that has ended are not kept longer than it is told from the others:
 * their times would be in no order among others' readings, and without end. */
static void drop_readings(struct sp_store *s, struct sp_relation *r, struct sp_relation *sum)
{
	struct sp_chunk *c;
	sp_off off = r->readings, next;
	uint64_t left = most_blocks(s);

	for (; left-- && (c = sp_store_readings_at(&s->image, off)) != NULL; off = next) {
		if (off == r->readings)
			sp_add(&sum->refused, c->first + sp_readings_complete(c));
		next = c->next;
		sp_region_free(&s->region, off, c->b.bytes);
	}
}

/* ---- intervals and call sites ----------------------------------------- */

struct sp_intervals *sp_store_intervals(struct sp_store *s, struct sp_relation *r, uint32_t k, uint32_t room)
{
	sp_off off;
	struct sp_intervals *b = make(s, SP_BLOCK_INTERVALS, sp_intervals_bytes(k, room), &off);

	if (!b)
		return NULL;
	b->k = k;
	b->room = room;
	b->next = r->intervals;
	sp_publish(&r->intervals, off);
	return b;
}

struct sp_sites *sp_store_sites(struct sp_store *s, uint32_t frames)
{
	sp_off off;
	struct sp_sites *b = make(s, SP_BLOCK_SITES, sizeof(*b) + SP_SITES_EACH * sp_site_bytes(frames), &off);

	if (!b)
		return NULL;
	b->frames = frames;
	b->first = s->header->n_sites + 1;
	push(s, &s->header->sites, &s->header->kept_sites, &b->next, off);
	s->header->n_sites += SP_SITES_EACH;
	return b;
}

struct sp_module *sp_store_module(struct sp_store *s, uint32_t room, struct sp_string **path)
{
	sp_off text, off;
	struct sp_string *t = make(s, SP_BLOCK_STRING, sizeof(*t) + room + 1, &text);
	struct sp_module *m = t ? make(s, SP_BLOCK_MODULE, sizeof(*m), &off) : NULL;

	if (!m)
		return NULL;
	m->number = ++s->header->n_modules;
	m->path = text;
	*path = t;
	push(s, &s->header->modules, &s->header->kept_modules, &m->next, off);
	return m;
}

struct sp_watched *sp_store_watched(struct sp_store *s, int tid, uint64_t start_ticks)
{
	const struct sp_watched *is;
	struct sp_watched *w;
	sp_off off;

	for (off = s->header->watched; off; off = is->next) {
		is = sp_image_block(&s->image, off, SP_BLOCK_WATCHED, sizeof(*is));
		if (!is)
			return NULL;
		if (is->tid == tid && is->start_ticks == start_ticks)
			return (struct sp_watched *)is;
	}
	w = make(s, SP_BLOCK_WATCHED, sizeof(*w), &off);
	if (!w)
		return NULL;
	w->tid = tid;
	w->start_ticks = start_ticks;
	w->next = s->header->watched;
	sp_publish(&s->header->watched, off);
	return w;
}

/* ---- overflows ------------------------------------------------------------ */

struct sp_overflow_writer sp_store_overflows(struct sp_store *s, struct sp_relation *r)
{
	struct sp_overflow_writer w = { .n = (uint32_t)sp_overflows_counts(r->k, r->cells) };
	struct sp_times *t = times_of(r);
	struct sp_overflows *o = sp_overflows_at(&s->image, t->overflows);
	sp_off off;

	if (!t->overflows) {
		o = make(s, SP_BLOCK_OVERFLOWS, sp_overflows_bytes(w.n, SP_HITS), &off);
		if (!o)
			return w;
		o->n = w.n;
		o->hits = SP_HITS;
		sp_publish(&t->overflows, off);
	}
	w.block = o && o->n == w.n && o->hits == SP_HITS ? o : NULL;
	return w;
}

/* Beyond the topology's CPUs each relation has cells of its own. */
static void add_overflows(const struct sp_overflow_writer *to, struct sp_writer *w, const struct sp_overflow_writer *from)
{
	const struct sp_overflow *f = sp_overflow_in(from->block);
	const struct sp_hit *h = sp_hits_in(from->block, from->n);
	uint32_t cells = w->cells, at;

	for (uint32_t i = 0; i < from->n; i++) {
		at = i - i % cells + (uint32_t)sp_ledger_cell(w, f[i].cpu);
		if (f[i].count)
			sp_overflow_book(to, at, f[i].event, f[i].cpu, f[i].count);
	}
	for (uint32_t i = 0; i < SP_HITS; i++) {
		uint32_t of = h[i].of - 1;

		if (of >= from->n || !sp_hit_weight(&h[i]))
			continue;
		at = of - of % cells + (uint32_t)sp_ledger_cell(w, f[of].cpu);
		sp_overflow_hit(to, at, sp_hit_weight(&h[i]), h[i].address, h[i].module);
	}
}

/* sum, a copy of a relation that stays until sum takes its place, gets a block of its own; false: no memory. */
static bool fold_overflows(struct sp_store *s, struct sp_relation *sum, struct sp_relation *from)
{
	struct sp_overflow_writer old = { 0 }, add = { 0 }, to;
	struct sp_writer w;

	if (times_of(sum)->overflows)
		old = sp_store_overflows(s, sum);
	if (times_of(from)->overflows)
		add = sp_store_overflows(s, from);
	times_of(sum)->overflows = 0;
	if (!old.block && !add.block)
		return true;
	to = sp_store_overflows(s, sum);
	if (!to.block)
		return false;
	sp_ledger_bind(&w, sum, sum->k, sum->cells);
	if (old.block)
		add_overflows(&to, &w, &old);
	if (add.block)
		add_overflows(&to, &w, &add);
	return true;
}

static void free_overflows(struct sp_store *s, const struct sp_relation *r)
{
	const struct sp_overflows *o = sp_overflows_at(&s->image, times_of(r)->overflows);

	if (o)
		sp_region_free(&s->region, times_of(r)->overflows, sp_overflows_bytes(o->n, o->hits));
}

/* ---- folding ---------------------------------------------------------- */

static uint32_t count_intervals(struct sp_store *s, const struct sp_relation *r)
{
	const struct sp_intervals *b;
	unsigned left = 64;
	uint32_t n = 0;

	for (sp_off off = r->intervals; left-- && (b = sp_intervals_at(&s->image, off, r->k)) != NULL; off = b->next)
		n += (uint32_t)sp_min(b->n, b->room);
	return n;
}

static struct sp_interval *same_interval(struct sp_intervals *b, uint32_t k, const struct sp_interval *like, int cell)
{
	struct sp_interval *at;

	for (uint32_t i = 0; i < b->n; i++) {
		at = sp_interval_in(b, k, i);
		if (at->from == like->from && at->to == like->to && at->cell == cell)
			return at;
	}
	if (b->n == b->room)
		return NULL;
	at = sp_interval_in(b, k, b->n++);
	at->from = like->from;
	at->to = like->to;
	at->cell = cell;
	return at;
}

/* to += v: whole numbers, but what a relation has gauges for is floating. */
static void add_values(int64_t *to, const int64_t *v, uint32_t k, const struct sp_gauge_writer *floats)
{
	for (uint32_t e = 0; e < 2 * k; e++)
		to[e] += v[e];
	for (uint32_t i = 0; i < floats->n; i++)
		for (uint32_t e = floats->event[i].kind.index; e < 2 * k; e += k) {
			to[e] -= v[e];
			sp_float_add(&to[e], v[e]);
		}
}

/* What the relation of `from`, whose counts are all in its cells, has goes into block b
 * of the relation of `to`. */
static void add_intervals(struct sp_store *s, struct sp_intervals *b, struct sp_writer *to, struct sp_writer *from,
			  const struct sp_gauge_writer *floats)
{
	uint32_t k = to->k;
	struct sp_intervals *a;
	unsigned left = 64;

	for (sp_off off = from->relation->intervals;
	     left-- && (a = (struct sp_intervals *)sp_intervals_at(&s->image, off, k)) != NULL; off = a->next)
		for (uint32_t i = 0; i < a->n && i < a->room; i++) {
			struct sp_interval *f = sp_interval_in(a, k, i), *t;
			const struct sp_cell *c;
			int64_t v[2 * k];
			uint64_t count;

			if ((uint32_t)f->cell >= from->cells)
				continue;
			c = (const struct sp_cell *)(from->cell + (uint64_t)f->cell * from->cell_bytes);
			count = sp_interval_value(a, f, k, i, c->at, c->at + (uint64_t)SP_EXACT * k, c->readings, v);
			for (uint32_t g = 0; g < floats->n; g++) {
				double total, exact;

				if (!floats->event[g].kind.counts)
					continue;
				sp_gauges_sum(floats, g, (uint32_t)f->cell, from->cells, &total, &exact);
				sp_interval_float(a, f, k, i, floats->event[g].kind.index, sp_float_bits(total),
						  sp_float_bits(exact), v);
			}
			t = same_interval(b, k, f, sp_ledger_cell(to, c->cpu));
			if (!t) {		/* it is "other" now */
				to->relation->flags |= SP_RELATION_CROWDED;
				continue;
			}
			t->count += count;
			add_values(t->at, v, k, floats);
		}
}

static void free_intervals(struct sp_store *s, sp_off off, uint32_t k)
{
	const struct sp_intervals *b;
	unsigned left = 64;

	while (left-- && (b = sp_intervals_at(&s->image, off, k)) != NULL) {
		sp_off next = b->next;

		sp_region_free(&s->region, off, sp_intervals_bytes(k, b->room));
		off = next;
	}
}

static void add_cells(struct sp_writer *to, struct sp_writer *from)
{
	for (uint32_t i = 0; i < from->cells; i++) {
		const struct sp_cell *f = (const struct sp_cell *)(from->cell + i * from->cell_bytes);
		struct sp_cell *t;

		if (!f->used)
			continue;
		t = (struct sp_cell *)(to->cell + (uint64_t)sp_ledger_cell(to, f->cpu) * to->cell_bytes);
		t->readings += f->readings;
		for (uint32_t e = 0; e < (SP_EXACT + 1) * to->k; e++)	/* totals and exact; entries end with their set */
			t->at[e] += f->at[e];
	}
}

/* r's floating-point counters, in room for them. */
static void floats_of(const struct sp_store *s, const struct sp_relation *r, struct sp_gauge_writer *w,
		      struct sp_gauge_event event[FOLD_GAUGES])
{
	uint64_t bytes;
	const struct sp_gauges *g = r->gauges ? gauges_at(s, r->gauges, &bytes) : NULL;

	*w = (struct sp_gauge_writer){ .event = event };
	if (!g || g->n > FOLD_GAUGES)
		return;
	w->n = g->n;
	w->cells = g->cells;
	w->at = sp_gauges_at((struct sp_gauges *)g, g->n);
	for (uint32_t i = 0; i < g->n; i++)
		event[i].kind = (struct sp_gauge_kind){ .index = (uint32_t)sp_min(((const uint32_t *)(g + 1))[i], r->k - 1),
							.counts = w->at[i].data_type & SP_GAUGE_COUNTS };
}

/* What sp_ledger_bind forgets: was it left running? */
static bool is_running(const struct sp_relation *r)
{
	struct sp_layout l = sp_relation_layout(r->k, r->cells);
	const char *base = (const char *)r;

	return sp_state_runs((const struct sp_state *)(base + l.state[r->turn & 1]),
			     (const struct sp_side *)(base + l.side));
}

static void add_relation(struct sp_store *s, struct sp_relation *to, struct sp_relation *from)
{
	struct sp_gauge_event event[FOLD_GAUGES];
	struct sp_gauge_writer floats;
	uint32_t n = count_intervals(s, to) + count_intervals(s, from);
	sp_off had = to->intervals;
	struct sp_intervals *b;
	bool ran = is_running(from);

	struct sp_writer w, v;

	sp_ledger_bind(&w, to, to->k, to->cells);
	sp_ledger_bind(&v, from, from->k, from->cells);
	sp_ledger_leave(&v);
	to->intervals = 0;
	b = n ? sp_store_intervals(s, to, w.k, (uint32_t)sp_min(n, SP_INTERVALS_MOST)) : NULL;
	if (b) {
		sp_off made = to->intervals;

		to->intervals = had;
		floats_of(s, to, &floats, event);
		add_intervals(s, b, &w, &w, &floats);
		to->intervals = made;
		b->next = 0;
		floats_of(s, from, &floats, event);
		add_intervals(s, b, &w, &v, &floats);
	} else {
		to->intervals = had;
	}
	add_cells(&w, &v);
	to->starts += from->starts;
	to->resets += from->resets;
	to->first_ns = to->first_ns && from->first_ns ? sp_min(to->first_ns, from->first_ns) :
							to->first_ns + from->first_ns;
	to->last_ns = sp_max(to->last_ns, from->last_ns);
	to->flags |= (from->flags & ~SP_RELATION_HOW) | (ran ? SP_RELATION_RUNNING : 0);
	add_times(&w, &v);
	to->threads += from->threads;
	to->refused += from->refused;
}

/* Where the list that starts at *head holds off: the word that says so. */
static sp_off *link_to(struct sp_store *s, sp_off *head, sp_off off)
{
	for (uint64_t left = most_blocks(s); left && *head && *head != off; left--) {
		struct sp_relation *r = relation_at(s, *head);

		if (!r)
			return NULL;
		head = &r->next;
	}
	return *head == off ? head : NULL;
}

/* What r's gauges are, for one that is to be its sum; false: it cannot be. */
static bool same_gauges(const struct sp_store *s, const struct sp_relation *r, struct sp_relation_key *key,
			struct sp_gauge_kind kind[FOLD_GAUGES])
{
	uint64_t bytes;
	const struct sp_gauges *g = gauges_at(s, r->gauges, &bytes);
	uint32_t n = g ? g->n : 0;

	if (!r->gauges)
		return true;
	if (!n || n > FOLD_GAUGES)
		return false;
	for (uint32_t i = 0; i < n; i++)
		kind[i] = (struct sp_gauge_kind){ .index = ((const uint32_t *)(g + 1))[i],
						  .data_type = sp_gauges_at(g, n)[i].data_type & 3,
						  .counts = sp_gauges_at(g, n)[i].data_type & SP_GAUGE_COUNTS };
	key->n_gauges = n;
	key->gauge = kind;
	return true;
}

/* A new block, as fold's own: r's gauges and old's. */
static bool fold_gauges(struct sp_store *s, struct sp_relation *sum, const struct sp_relation *old,
			const struct sp_relation *r)
{
	uint64_t bytes, other;
	struct sp_gauges *from = gauges_at(s, r->gauges, &bytes), *g = gauges_at(s, old->gauges, &other), *to;

	if (!from || !g || bytes != other || from->n != g->n || from->cells != g->cells)
		return false;
	to = make(s, SP_BLOCK_GAUGES, bytes, &sum->gauges);
	if (!to)
		return false;
	memcpy((char *)to + sizeof(to->b), (char *)g + sizeof(g->b), bytes - sizeof(g->b));
	sp_gauges_add(sp_gauges_at(to, from->n), sp_gauges_at(from, from->n), (uint64_t)from->n * from->cells);
	return true;
}

/* Adds r (at off, in t's list) to the relation of tid 0 that it belongs to.  Killed
 * anywhere in here, a reader counts it once: the sum is a new block, which takes
 * the old one's place by one store and names r as included. */
static bool fold(struct sp_store *s, struct sp_thread *zero, struct sp_thread *t, struct sp_relation *r, sp_off off)
{
	struct sp_relation_key key = { .k = r->k, .event = events_of(r), .target = (enum sp_target)r->target,
				       .target_id = r->target_id, .scope = (enum sp_scope)r->scope, .domain = r->domain,
				       .event_set = r->event_set, .flags = r->flags & SP_RELATION_APART };
	sp_off old_off, new_off, *at;
	struct sp_relation *old = find(s, zero, &key, &old_off), *sum;
	uint64_t bytes = sp_relation_layout(r->k, r->cells).bytes, gauges_bytes = 0;
	struct sp_gauge_kind kind[FOLD_GAUGES];

	if (r->cells != s->cells || !same_gauges(s, r, &key, kind))
		return false;
	if (!old) {
		old = new_relation(s, s->folded, &key, &old_off);
		if (!old)
			return false;
		old->threads = 0;
	}
	sum = make(s, SP_BLOCK_RELATION, bytes, &new_off);
	if (!sum)
		return false;
	memcpy((char *)sum + sizeof(sum->b), (char *)old + sizeof(old->b), bytes - sizeof(old->b));
	if ((r->gauges && !fold_gauges(s, sum, old, r)) || !fold_overflows(s, sum, r))
		return false;
	add_relation(s, sum, r);
	sum->folded = off;
	at = link_to(s, &zero->relations, old_off);
	if (!at)
		return false;
	sp_publish(at, new_off);
	at = link_to(s, &t->relations, off);
	if (at)
		sp_publish(at, r->next);
	t->n_relations--;
	s->apart--;
	sp_order();
	sum->folded = 0;
	drop_readings(s, r, sum);
	if (r->gauges && gauges_at(s, r->gauges, &gauges_bytes))
		sp_region_free(&s->region, r->gauges, gauges_bytes);
	if (old->gauges && gauges_at(s, old->gauges, &gauges_bytes))
		sp_region_free(&s->region, old->gauges, gauges_bytes);
	free_overflows(s, r);
	free_overflows(s, old);
	free_intervals(s, r->intervals, r->k);
	if (old->intervals != sum->intervals)
		free_intervals(s, old->intervals, r->k);
	sp_region_free(&s->region, off, bytes);
	sp_region_free(&s->region, old_off, bytes);
	return true;
}

static void drop_thread(struct sp_store *s, struct sp_thread *zero, struct sp_thread *t, sp_off off)
{
	sp_off *at = &s->header->threads;

	for (uint64_t left = most_blocks(s); *at != off; left--) {
		struct sp_thread *next = left ? thread_at(s, *at) : NULL;

		if (!next)
			return;
		at = &next->next;
	}
	for (uint32_t i = 0; i < SP_CALLS_MAX; i++)
		zero->calls[i] += t->calls[i];
	zero->threads += t->threads;
	sp_publish(at, t->next);
	sp_region_free(&s->region, off, sizeof(*t));
}

static struct sp_thread *folded_thread(struct sp_store *s)
{
	if (!s->folded)
		sp_store_thread(s, 0, "", &s->folded);
	return thread_at(s, s->folded);
}

/* Folds one relation of t that may be; false: none.  Of a thread that may live, one that
 * its program has freed (sspapi.h). */
static bool fold_one(struct sp_store *s, struct sp_thread *zero, struct sp_thread *t, bool ended,
		     bool (*bound)(sp_off, void *), void *arg)
{
	struct sp_relation *r;

	uint64_t left = most_blocks(s);

	for (sp_off off = t->relations; left-- && (r = relation_at(s, off)) != NULL; off = r->next)
		if ((ended || (r->flags & SP_RELATION_API)) && !(r->flags & SP_RELATION_HELD) && !bound(off, arg))
			return fold(s, zero, t, r, off);
	return false;
}

void sp_store_fold(struct sp_store *s, bool (*ended)(int tid), bool (*bound)(sp_off relation, void *arg), void *arg)
{
	struct sp_thread *zero, *t;
	uint64_t left = most_blocks(s);
	unsigned folded = 0;
	sp_off next;
	bool gone;

	if (s->apart <= SP_FOLD_ABOVE || sp_acquire(&s->dumping))
		return;
	zero = folded_thread(s);
	for (sp_off off = zero ? s->header->threads : 0; off && folded < SP_FOLD_AT_ONCE; off = next) {
		t = left-- ? thread_at(s, off) : NULL;
		if (!t)
			return;
		next = t->next;
		if (!t->tid)
			continue;
		gone = ended(t->tid);
		while (folded < SP_FOLD_AT_ONCE && fold_one(s, zero, t, gone, bound, arg))
			folded++;
		if (gone && !t->n_relations)
			drop_thread(s, zero, t, off);
	}
}
