/* sites.c: see sites.h.
 *
 * The table maps a key to a site's number: key in the upper 48 bits, number in the
 * lower 16.  The key is the return address, or, with more frames or a name, a hash of
 * them all; then the site itself is compared.
 */
#include <string.h>
#include <sys/mman.h>

#include "../../core/sys.h"
#include "../papi/elf-names.h"
#include "../sets/sets.h"
#include "modules.h"
#include "sites.h"
#include "unwind.h"

#define TABLE	8192u			/* a power of 2, twice the sites */
#define HASHED	(1ull << 47)		/* in a key that is a hash */
#define RETIRED	SP_SITE_OF(1)		/* no address, no number */
#define ADDRESS	((1ull << 48) - 1)
#define NUMBER(is) ((uint32_t)((is) & SP_SITE_MOST))
#define ROOM_BYTES	(48u << 10)	/* so much is free before a start, */
#define ROOM_MOST	512u		/* but for no more than that many, */
#define ROOM_LEAST	SP_SITES_EACH	/* nor for fewer */

struct key {
	uint64_t hash;			/* 48 bits */
	uint32_t n;
	bool plain;			/* one frame and no name: the hash says it all */
	const char *name;
	uintptr_t frame[SP_FRAMES_MAX];
};


static uint64_t *table;
static struct sp_sites *blocks[SP_SITES_MOST / SP_SITES_EACH];
static uint32_t used, room, resolved;	/* sites 1 .. used - 1 */
static bool full;
static uint32_t epoch;			/* something was unloaded since: what threads remember is not to be used; odd: right now */
static struct sp_lock lock;		/* of what is below; not on the path of a reading */

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

/* Sites that are to be free before a start; a path of 64 frames is 1.6 KB. */
static uint32_t wanted(void)
{
	uint64_t n = ROOM_BYTES / sp_site_bytes((uint32_t)sp_conf.callsites);

	return (uint32_t)(n > ROOM_MOST ? ROOM_MOST : n < ROOM_LEAST ? ROOM_LEAST : n);
}

/* ---- finding ---------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static bool is_plain(const struct key *k)
{
	return k->n == 1 && !k->name && sp_conf.callsites == 1 && k->frame[0] < HASHED;
}

static void hash_key(struct key *k)
{
	if (k->plain) {
		k->hash = k->frame[0];
		return;
	}
	k->hash = 0;
	for (uint32_t i = 0; i < k->n; i++)
		k->hash = mix(k->hash, k->frame[i]);
	for (const char *p = k->name; p && *p && p < k->name + sizeof(((struct sp_site *)0)->name) - 1; p++)
		k->hash = mix(k->hash, (unsigned char)*p);
	k->hash = (k->hash & ADDRESS) | HASHED;
}

static bool is_it(uint32_t id, const struct key *k)
{
	struct sp_site *s = site_at(id);

	if (k->plain)
		return true;
	if (s->n != k->n || (k->name ? strncmp(s->name, k->name, sizeof(s->name) - 1) != 0 : *s->name != 0))
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
			sp_put(&sp_process.sites_due, true);
			return 0;
		}
	} while (!sp_cas(&used, &id, id + 1));
	id++;
	s = site_at(id);
	if (k->name)
		strncpy(s->name, k->name, sizeof(s->name) - 1);
	for (uint32_t i = 0; i < k->n; i++) {
		frames_of(s)[i].address = k->frame[i];
		frames_of(s)[i].module = sp_module_at(k->frame[i] - 1);
	}
	sp_publish(&s->n, k->n);
	sp_put(&sp_process.sites_due, true);
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
			if (!id || sp_cas(at, &is, SP_SITE_OF(k->hash) | id))
				return id;
			/* Another thread or a handler was faster; if with the same, ours is not used. */
		}
		if (is >> 16 == k->hash && NUMBER(is) && is_it(NUMBER(is), k))
			return NUMBER(is);
	}
	return 0;
}

static void make_key(struct key *k, uintptr_t caller, bool inside)
{
	k->name = inside ? sp_self.region : NULL;
	k->frame[0] = inside ? sp_self.outer : caller;
	k->n = sp_conf.callsites > 1 ? sp_unwind(k->frame, (uint32_t)sp_conf.callsites, k->frame[0]) : 1;
	k->plain = is_plain(k);
}

/* Where the thread remembers a site that may be this one: to compare with that takes a fourth of
 * what hashing all its frames and its name does. */
static uint16_t *met(const struct key *k)
{
	uint32_t now = sp_acquire(&epoch);

	if (SP_UNLIKELY(sp_self.sites_epoch != now)) {
		memset(sp_self.met, 0, sizeof(sp_self.met));
		sp_self.sites_epoch = now;
	}
	return &sp_self.met[(k->frame[0] ^ k->frame[k->n - 1] << 7) * 0x9e3779b97f4a7c15ull >> 61];
}

static uint32_t find_any(struct key *k)
{
	uint16_t *at = met(k);
	uint32_t id = sp_get(at);

	if (id && is_it(id, k))
		return id;
	hash_key(k);
	id = find(k);
	sp_put(at, (uint16_t)id);
	return id;
}

/* A return address that was met before, where it is all there is to compare; 0: look further.
 * Code that reads at three places in turn comes here each time. */
static uint32_t find_plain(uintptr_t caller)
{
	uint32_t i = (uint32_t)(caller * 0x9e3779b97f4a7c15ull >> 40);
	uint64_t is;

	for (uint32_t tries = 0; tries < 8 && (is = sp_acquire(&table[i % TABLE])) != 0; i++, tries++)
		if (is >> 16 == caller)
			return NUMBER(is);
	return 0;
}

/* Another thread's dlclose() may come in between: what it has made forgotten is not put back. */
static void keep(struct sp_sites_seen *seen, uint64_t is)
{
	uint32_t was = sp_acquire(&epoch);

	sp_put(&seen->before, sp_get(&seen->last));
	sp_put(&seen->last, is);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (was % 2 || sp_acquire(&epoch) != was)
		sp_put(&seen->before, 0);
}

uint32_t sp_site_find(struct sp_sites_seen *seen, uintptr_t caller)
{
	uint64_t before = sp_get(&seen->before);
	struct key k;
	bool inside;
	uint32_t id;

	if (before >> 16 == caller)
		return NUMBER(before);
	if (sp_conf.callsites == 1 && caller < HASHED && !sp_self.nests && sp_acquire(&table) && (id = find_plain(caller)) != 0) {
		keep(seen, SP_SITE_OF(caller) | id);
		return id;
	}
	if (!sp_acquire(&table)) {
		if (!sp_conf.callsites && caller <= ADDRESS)
			keep(seen, SP_SITE_OF(caller));
		return 0;
	}
	inside = sp_self.nests && (sp_internal(sp_papi_used, caller) || caller - sp_papi_used->low < sp_papi_used->span);
	make_key(&k, caller, inside);
	if (!k.plain)
		return find_any(&k);
	hash_key(&k);
	id = find(&k);
	if (id && !inside)
		keep(seen, SP_SITE_OF(k.hash) | id);
	return id;
}

/* ---- modules ---------------------------------------------------------- */

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
	uint32_t upto = *(uint32_t *)arg;

	for (uint32_t id = resolved + 1; id <= upto; id++) {
		struct sp_site *s = site_at(id);

		for (uint32_t i = 0, n = frames_in(s); i < n; i++) {
			struct sp_frame *f = &frames_of(s)[i];

			if (!sp_elf_holds(o, f->address - 1))
				continue;
			name_it(f, o);
			if (!f->module)
				f->module = sp_module_of(o);
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

		if (!sp_modules_same(f->module, f->address, g->module, g->address))
			return false;
	}
	return true;
}

static void find_old(uint32_t id)
{
	struct sp_site *s = site_at(id);
	bool again = false;

	for (uint32_t i = 0, n = frames_in(s); i < n; i++)
		again |= sp_module_again(frames_of(s)[i].module);
	for (uint32_t old = 1; again && old < id; old++)
		if (!site_at(old)->same_as && same_code(site_at(old), s)) {
			s->same_as = old;
			return;
		}
}

/* With the lock. */
static void resolve(void)
{
	uint32_t upto = sp_get(&used);

	sp_put(&sp_process.sites_due, sp_modules_away != 0 || room - upto < wanted());
	if (resolved == upto)
		return;
	sp_elf_each(resolve_in, &upto);
	sp_modules_prepare();
	for (uint32_t id = resolved + 1; id <= upto; id++)
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

/* ---- names of functions ------------------------------------------------- */

static uint32_t named;			/* sites that were looked for in files */

static void take_name(const struct sp_elf_want *want, const char *name)
{
	struct sp_frame *f = want->of;
	struct sp_held held;

	if (!sp_lock_try(&sp_store.lock, &held, 1000))
		return;
	f->symbol = sp_store_text(&sp_store, name);
	sp_lock_give(&sp_store.lock, &held);
}

/* The frames of this module that have no name, of the sites since the last time; how many. */
static uint32_t unnamed(uint32_t module, struct sp_elf_want *want)
{
	uint32_t n = 0;

	for (uint32_t id = named + 1; id <= resolved; id++) {
		struct sp_site *s = site_at(id);

		for (uint32_t i = 0, all = frames_in(s); i < all; i++) {
			struct sp_frame *f = &frames_of(s)[i];

			if (f->module != module || f->symbol)
				continue;
			if (want)
				want[n] = (struct sp_elf_want){ .offset = f->address - 1 - sp_module_block(module)->base, .of = f };
			n++;
		}
	}
	return n;
}

void sp_sites_name(void)
{
	const struct sp_module *b;
	struct sp_held held;

	if (!sp_acquire(&table) || sp_get(&named) == sp_get(&resolved) || !sp_lock_try(&lock, &held, 1000))
		return;
	for (uint32_t module = 1; (b = sp_module_block(module)) != NULL; module++) {
		uint32_t n = unnamed(module, NULL);
		struct sp_elf_want *want = n ? sp_map(n * sizeof(*want)) : NULL;

		if (!want)
			continue;
		unnamed(module, want);
		sp_elf_names(sp_image_text(&sp_store.image, b->path), b->build_id, b->build_id_bytes, want, n, take_name);
		sp_unmap(want, n * sizeof(*want));
	}
	sp_put(&named, sp_get(&resolved));
	sp_lock_give(&lock, &held);
}

/* ---- unloading -------------------------------------------------------- */

static bool in_gone(uint32_t id)
{
	struct sp_site *s = site_at(id);

	for (uint32_t i = 0, n = frames_in(s); i < n; i++)
		if (sp_module_gone(frames_of(s)[i].module))
			return true;
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
	k.plain = is_plain(&k);
	hash_key(&k);
	for (uint32_t i = first(&k), tries = 0; tries < TABLE; i++, tries++) {
		uint64_t none = 0;

		at = &table[i % TABLE];
		if (*at >> 16 == k.hash && NUMBER(*at))
			return;
		if (!*at && sp_cas(at, &none, SP_SITE_OF(k.hash) | id))
			return;
	}
}

void sp_sites_before_unload(void)
{
	sp_sites_resolve();
}

void sp_sites_after_unload(void)
{
	struct sp_held held;
	bool any;

	sp_lock_take(&lock, &held);
	any = sp_modules_unloaded();
	if (any)
		sp_put(&sp_process.sites_due, true);
	for (uint32_t i = 0; any && table && i < TABLE; i++)
		if (NUMBER(table[i]) && in_gone(NUMBER(table[i])))
			sp_put(&table[i], RETIRED);
	if (any) {
		__atomic_fetch_add(&epoch, 1, __ATOMIC_SEQ_CST);
		sp_sets_forget_sites();
		__atomic_fetch_add(&epoch, 1, __ATOMIC_SEQ_CST);
	}
	if (any && sp_conf.callsites > 1)
		sp_unwind_forget();
	sp_lock_give(&lock, &held);
}

/* A plug-in that comes and goes, to the same place: its sites keep their numbers. */
static void put_back_all(uint32_t module)
{
	for (uint32_t id = 1; id <= resolved; id++)
		if (of_module(id, module) && !in_gone(id))
			put_back(id);
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
	sp_process.unwinds = false;
	sp_store.header->callsites = 1;
}

static bool make_room(void)
{
	struct sp_sites *b;
	struct sp_held held;

	if (room == SP_SITES_MOST)
		return false;
	sp_lock_take(&sp_store.lock, &held);
	b = sp_store_sites(&sp_store, (uint32_t)sp_conf.callsites);
	sp_lock_give(&sp_store.lock, &held);
	if (!b)
		return false;
	blocks[room / SP_SITES_EACH] = b;
	sp_publish(&room, room + SP_SITES_EACH);
	return true;
}

void sp_sites_prepare(void)
{
	struct sp_held held;

	load_unwinder();
	if (sp_conf.callsites > 1 && !sp_unwind_warm() && !sp_get(&room))
		sp_process_note_quiet("this process was forked while its parent looked for a call path: its own have one frame");
	if (!sp_conf.callsites || (sp_acquire(&table) && sp_get(&room) - sp_get(&used) >= wanted() &&
				   sp_get(&resolved) == sp_get(&used) && !sp_get(&sp_modules_away) &&
				   !sp_get(&full)))
		return;
	sp_lock_take(&lock, &held);
	if (!sp_get(&room))		/* the first time, or the first of a child */
		sp_modules_prepare();
	if (!table)
		make_table();
	while (room - sp_get(&used) < wanted() && make_room())
		;
	if (table)
		resolve();
	if (sp_modules_away)
		sp_modules_look_back(put_back_all);
	if (sp_get(&full))
		sp_process_note_quiet("more call sites were met than there was room for; what was counted there is "
				      "under \"other\"");
	sp_put(&full, false);
	sp_lock_give(&lock, &held);
}

void sp_sites_modules(void)
{
	struct sp_held held;

	sp_lock_take(&lock, &held);
	sp_modules_prepare();
	sp_lock_give(&lock, &held);
}

void sp_sites_forget_all(void)
{
	if (table)
		memset(table, 0, TABLE * sizeof(*table));
	epoch = (epoch | 1) + 1;
	sp_sets_forget_sites();
	sp_modules_forget();
	sp_unwind_child();
	used = room = resolved = named = 0;
	full = false;
	memset(&lock, 0, sizeof(lock));
}
