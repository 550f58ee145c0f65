/* sites.c: see sites.h.
 *
 * The table maps a key to a site's number: key in the lower 48 bits, number in the
 * upper 16.  The key is the return address, or, with more frames or a name, a hash of
 * them all; then the site itself is compared.
 */
#include <string.h>
#include <sys/mman.h>

#include "../../core/sys.h"
#include "../papi/elf.h"
#include "sets.h"
#include "sites.h"
#include "unwind.h"

#define TABLE	8192u			/* a power of 2, twice the sites */
#define HASHED	(1ull << 47)		/* in a key that is a hash */
#define RETIRED	1ull			/* no address, no number */
#define ROOM	SP_SITES_EACH		/* that many are free before a start */

struct key {
	uint64_t hash;			/* 48 bits */
	uint32_t n;
	bool plain;			/* one frame and no name: the hash says it all */
	const char *name;
	uintptr_t frame[SP_FRAMES_MAX];
};

bool sp_sites_due;

static uint64_t *table;
static struct sp_sites *blocks[SP_SITES_MOST / SP_SITES_EACH];
static uint32_t used, room, resolved;	/* sites 1 .. used - 1 */
static bool full;
static struct sp_lock lock;		/* of what is below; not on the path of a reading */

/* In the order of their numbers. */
static struct module {
	uintptr_t low, span, base;
	uint64_t identity;		/* of path and build id */
	struct sp_module *block;
	bool gone, seen;
} modules[256];
static uint32_t n_modules, n_gone;
static unsigned long long loads;	/* as the loader counted when a module was last looked for */

static struct sp_site *site_at(uint32_t id)
{
	struct sp_sites *b = blocks[(id - 1) / SP_SITES_EACH];

	return (struct sp_site *)((char *)(b + 1) + (id - 1) % SP_SITES_EACH * sp_site_bytes((uint32_t)sp_conf.callsites));
}

static struct sp_frame *frames_of(struct sp_site *s)
{
	return (struct sp_frame *)(s + 1);
}

/* The store's bytes may be somebody else's by now. */
static uint32_t frames_in(struct sp_site *s)
{
	return (uint32_t)sp_min(sp_acquire(&s->n), (uint64_t)sp_conf.callsites);
}

/* ---- finding ---------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static void hash_key(struct key *k)
{
	k->plain = k->n == 1 && !k->name && sp_conf.callsites == 1 && k->frame[0] < HASHED;
	if (k->plain) {
		k->hash = k->frame[0];
		return;
	}
	k->hash = 0;
	for (uint32_t i = 0; i < k->n; i++)
		k->hash = mix(k->hash, k->frame[i]);
	for (const char *p = k->name; p && *p && p < k->name + sizeof(((struct sp_site *)0)->name) - 1; p++)
		k->hash = mix(k->hash, (unsigned char)*p);
	k->hash = (k->hash & SP_SITE_ADDRESS) | HASHED;
}

static bool is_it(uint32_t id, const struct key *k)
{
	struct sp_site *s = site_at(id);

	if (k->plain)
		return true;
	if (s->n != k->n || strncmp(s->name, k->name ? k->name : "", sizeof(s->name) - 1) != 0)
		return false;
	for (uint32_t i = 0; i < k->n; i++)
		if (frames_of(s)[i].address != k->frame[i])
			return false;
	return true;
}

static uint32_t new_site(const struct key *k)
{
	uint32_t id = sp_get(&used);
	struct sp_site *s;

	do {
		if (id >= sp_acquire(&room)) {
			sp_put(&full, true);
			sp_put(&sp_sites_due, true);
			return 0;
		}
	} while (!sp_cas(&used, &id, id + 1));
	id++;
	s = site_at(id);
	if (k->name)
		strncpy(s->name, k->name, sizeof(s->name) - 1);
	for (uint32_t i = 0; i < k->n; i++)
		frames_of(s)[i].address = k->frame[i];
	sp_publish(&s->n, k->n);
	sp_put(&sp_sites_due, true);
	return id;
}

static uint32_t first(const struct key *k)
{
	return (uint32_t)(k->hash * 0x9e3779b97f4a7c15ull >> 40);
}

static uint32_t find(const struct key *k)
{
	uint32_t i = first(k), id = 0;

	for (uint32_t tries = 0; tries < TABLE; i++, tries++) {
		uint64_t *at = &table[i % TABLE], is = sp_acquire(at);

		if (!is) {
			if (!id)
				id = new_site(k);
			if (!id || sp_cas(at, &is, k->hash | (uint64_t)id << 48))
				return id;
			/* Another thread or a handler was faster; if with the same, ours is not used. */
		}
		if ((is & SP_SITE_ADDRESS) == k->hash && is >> 48 && is_it((uint32_t)(is >> 48), k))
			return (uint32_t)(is >> 48);
	}
	return 0;
}

static void make_key(struct key *k, uintptr_t caller, bool inside)
{
	k->name = inside ? sp_self.region : NULL;
	k->frame[0] = inside ? sp_self.outer : caller;
	k->n = sp_conf.callsites > 1 ? sp_unwind(k->frame, (uint32_t)sp_conf.callsites, k->frame[0]) : 1;
	hash_key(k);
}

uint32_t sp_site_find(uint64_t *seen, uintptr_t caller)
{
	struct key k;
	bool inside;
	uint32_t id;

	if (!sp_acquire(&table)) {
		if (!sp_conf.callsites && caller <= SP_SITE_ADDRESS)
			sp_put(seen, caller);
		return 0;
	}
	inside = sp_self.nests && sp_internal(sp_papi_used, caller);
	make_key(&k, caller, inside);
	id = find(&k);
	if (id && k.plain && !inside)
		sp_put(seen, k.hash | (uint64_t)id << 48);
	return id;
}

/* ---- modules ---------------------------------------------------------- */

static const char *path_of(const struct sp_object *o)
{
	return *o->path ? o->path : sp_process_exe();
}

static void describe(const struct sp_object *o, struct sp_module *like, uint64_t *identity)
{
	uint32_t n;
	const unsigned char *id = sp_elf_build_id(o, &n);

	*like = (struct sp_module){ .low = o->low, .span = o->span, .base = o->base };
	if (id && n <= sizeof(like->build_id)) {
		memcpy(like->build_id, id, n);
		like->build_id_bytes = n;
	}
	*identity = o->span;
	for (uint32_t i = 0; i < like->build_id_bytes; i++)
		*identity = mix(*identity, like->build_id[i]);
	for (const char *p = path_of(o); *p; p++)
		*identity = mix(*identity, (unsigned char)*p);
}

static bool is_module(const struct module *m, const struct sp_object *o)
{
	return m->low == o->low && m->span == o->span && m->base == o->base;
}

/* Its number; 0: there are too many, or no memory. */
static uint32_t module_of(const struct sp_object *o)
{
	struct sp_module like;
	struct sp_held held;
	uint64_t identity;
	struct module *m;

	for (uint32_t i = 0; i < n_modules; i++)
		if (!modules[i].gone && is_module(&modules[i], o))
			return i + 1;
	describe(o, &like, &identity);
	for (uint32_t i = 0; i < n_modules; i++)
		if (is_module(&modules[i], o) && modules[i].identity == identity) {
			modules[i].gone = false;
			modules[i].block->gone = 0;
			sp_put(&n_gone, n_gone - 1);
			return i + 1;
		}
	if (n_modules == SP_COUNT(modules))
		return 0;
	m = &modules[n_modules];
	sp_lock_take(&sp_store.lock, &held);
	m->block = sp_store_module(&sp_store, &like, path_of(o));
	sp_lock_give(&sp_store.lock, &held);
	if (!m->block)
		return 0;
	m->low = o->low;
	m->span = o->span;
	m->base = o->base;
	m->identity = identity;
	return ++n_modules;
}

static void name_it(struct sp_frame *f, const struct sp_object *o)
{
	const char *symbol = sp_elf_name_of(o, f->address - 1);
	struct sp_held held;

	if (!symbol)
		return;
	sp_lock_take(&sp_store.lock, &held);
	f->symbol = sp_store_text(&sp_store, symbol);
	sp_lock_give(&sp_store.lock, &held);
}

/* Every frame that this object holds, of the sites met since the last time. */
static int resolve_in(const struct sp_object *o, void *arg)
{
	uint32_t upto = *(uint32_t *)arg, module = 0;

	for (uint32_t id = resolved + 1; id <= upto; id++) {
		struct sp_site *s = site_at(id);

		for (uint32_t i = 0, n = frames_in(s); i < n; i++) {
			struct sp_frame *f = &frames_of(s)[i];

			if (f->module || !sp_elf_holds(o, f->address - 1))
				continue;
			if (!module)
				module = module_of(o);
			if (!module)
				return 0;
			name_it(f, o);
			f->module = module;
		}
	}
	return 0;
}

/* The same code, loaded a second time elsewhere: told apart by its address until now. */
static bool same_code(struct sp_site *a, struct sp_site *b)
{
	uint32_t n = frames_in(a);

	if (!n || n != frames_in(b) || strncmp(a->name, b->name, sizeof(a->name)) != 0)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct sp_frame *f = &frames_of(a)[i], *g = &frames_of(b)[i];
		const struct module *m = &modules[(f->module - 1) % SP_COUNT(modules)];
		const struct module *o = &modules[(g->module - 1) % SP_COUNT(modules)];

		if (!f->module || !g->module || m->identity != o->identity || f->address - m->base != g->address - o->base)
			return false;
	}
	return true;
}

static void find_old(uint32_t id)
{
	struct sp_site *s = site_at(id);

	for (uint32_t old = 1; old < id; old++)
		if (!site_at(old)->same_as && same_code(site_at(old), s)) {
			s->same_as = old;
			return;
		}
}

/* With the lock. */
static void resolve(void)
{
	uint32_t upto = sp_get(&used);

	sp_put(&sp_sites_due, n_gone != 0 || room - upto < ROOM);
	if (resolved == upto)
		return;
	sp_elf_each(resolve_in, &upto);
	for (uint32_t id = resolved + 1; n_modules > 1 && id <= upto; id++)
		find_old(id);
	sp_put(&resolved, upto);
}

void sp_sites_resolve(void)
{
	struct sp_held held;

	if (!sp_acquire(&table) || sp_get(&resolved) == sp_get(&used))
		return;
	sp_lock_take(&lock, &held);
	resolve();
	sp_lock_give(&lock, &held);
}

/* ---- unloading -------------------------------------------------------- */

static bool in_gone(uint32_t id)
{
	struct sp_site *s = site_at(id);

	for (uint32_t i = 0, n = frames_in(s); i < n; i++) {
		uint32_t m = frames_of(s)[i].module;

		if (m && m <= n_modules && modules[m - 1].gone)
			return true;
	}
	return false;
}

static bool of_module(uint32_t id, uint32_t module)
{
	struct sp_site *s = site_at(id);

	for (uint32_t i = 0, n = frames_in(s); i < n; i++)
		if (frames_of(s)[i].module == module)
			return true;
	return false;
}

/* Unless another site has the place already. */
static void put_back(uint32_t id)
{
	struct sp_site *s = site_at(id);
	struct key k = { .n = frames_in(s), .name = *s->name ? s->name : NULL };
	uint64_t *at;

	for (uint32_t i = 0; i < k.n; i++)
		k.frame[i] = frames_of(s)[i].address;
	hash_key(&k);
	for (uint32_t i = first(&k), tries = 0; tries < TABLE; i++, tries++) {
		uint64_t none = 0;

		at = &table[i % TABLE];
		if ((*at & SP_SITE_ADDRESS) == k.hash && *at >> 48)
			return;
		if (!*at && sp_cas(at, &none, k.hash | (uint64_t)id << 48))
			return;
	}
}

static int see(const struct sp_object *o, void *arg)
{
	(void)arg;
	for (uint32_t i = 0; i < n_modules; i++)
		modules[i].seen |= is_module(&modules[i], o);
	return 0;
}

void sp_sites_before_unload(void)
{
	sp_sites_resolve();
}

void sp_sites_after_unload(void)
{
	struct sp_held held;
	bool any = false;

	if (!sp_acquire(&table))
		return;
	sp_lock_take(&lock, &held);
	for (uint32_t i = 0; i < n_modules; i++)
		modules[i].seen = modules[i].gone;
	sp_elf_each(see, NULL);
	for (uint32_t i = 0; i < n_modules; i++)
		if (!modules[i].seen) {
			modules[i].gone = any = true;
			modules[i].block->gone = 1;
			sp_put(&n_gone, n_gone + 1);
			sp_put(&sp_sites_due, true);
		}
	for (uint32_t i = 0; any && i < TABLE; i++)
		if (table[i] >> 48 && in_gone((uint32_t)(table[i] >> 48)))
			sp_put(&table[i], RETIRED);
	if (any)
		sp_sets_forget_sites();
	if (any && sp_conf.callsites > 1)
		sp_unwind_forget();
	sp_lock_give(&lock, &held);
}

/* A plug-in that comes and goes, to the same place: its sites keep their numbers. */
static int come_back(const struct sp_object *o, void *arg)
{
	struct sp_module like;
	uint64_t identity;

	(void)arg;
	for (uint32_t i = 0; i < n_modules; i++) {
		if (!modules[i].gone || !is_module(&modules[i], o))
			continue;
		describe(o, &like, &identity);
		if (modules[i].identity != identity)
			continue;
		modules[i].gone = false;
		modules[i].block->gone = 0;
		sp_put(&n_gone, n_gone - 1);
		for (uint32_t id = 1; id <= resolved; id++)
			if (of_module(id, i + 1) && !in_gone(id))
				put_back(id);
	}
	return 0;
}

static void look_who_is_back(void)
{
	unsigned long long now = sp_elf_loads();

	if (n_gone && now != loads)
		sp_elf_each(come_back, NULL);
	loads = now;
}

/* ---- room ------------------------------------------------------------- */

static void make_table(void)
{
	void *p = sp_map(TABLE * sizeof(*table));

	if (p) {
		memset(p, 0, TABLE * sizeof(*table));
		sp_publish(&table, p);
	}
}

/* Settled before the first site is made. */
static void load_unwinder(void)
{
	if (sp_acquire(&table) || sp_conf.callsites <= 1 || sp_unwind_load())
		return;
	sp_process_note("SSPAPI_CALLSITES: libunwind (libunwind.so.8) cannot be loaded; one frame is kept");
	sp_conf.callsites = 1;
	sp_store.header->callsites = 1;
}

static void make_room(void)
{
	struct sp_sites *b;
	struct sp_held held;

	if (room == SP_SITES_MOST)
		return;
	sp_lock_take(&sp_store.lock, &held);
	b = sp_store_sites(&sp_store, (uint32_t)sp_conf.callsites);
	sp_lock_give(&sp_store.lock, &held);
	if (!b)
		return;
	blocks[room / SP_SITES_EACH] = b;
	sp_publish(&room, room + SP_SITES_EACH);
}

void sp_sites_prepare(void)
{
	struct sp_held held;

	load_unwinder();
	if (sp_conf.callsites > 1)
		sp_unwind_warm();
	if (!sp_conf.callsites || (sp_acquire(&table) && sp_get(&room) - sp_get(&used) >= ROOM &&
				   sp_get(&resolved) == sp_get(&used) && !sp_get(&n_gone) &&
				   !sp_get(&full)))
		return;
	sp_lock_take(&lock, &held);
	if (!table)
		make_table();
	if (room - sp_get(&used) < ROOM)
		make_room();
	if (table)
		resolve();
	if (n_gone)
		look_who_is_back();
	if (sp_get(&full))
		sp_process_note_quiet("more call sites were met than there was room for; what was counted there is "
				      "under \"other\"");
	sp_put(&full, false);
	sp_lock_give(&lock, &held);
}

void sp_sites_forget_all(void)
{
	if (table)
		memset(table, 0, TABLE * sizeof(*table));
	sp_sets_forget_sites();
	memset(modules, 0, sizeof(modules));
	used = room = resolved = n_modules = n_gone = 0;
	full = false;
	memset(&lock, 0, sizeof(lock));
}
