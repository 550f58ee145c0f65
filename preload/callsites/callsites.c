/* callsites.c: maps call paths to numbers of sites; see callsites.h.
 *
 * An entry of the table has a key in its upper 48 bits and a number in its lower 16. The key is a
 * hash of the PAPI function, the frames and the name; then the site itself is compared.
 */
#include <dlfcn.h>
#include <string.h>

#include "../../core/base/elf-file.h"
#include "../../core/base/lock.h"
#include "../../core/base/sys.h"
#include "../../core/store/store.h"
#include "../process/diagnostic.h"
#include "../sets/sets.h"
#include "modules.h"
#include "callsites.h"
#include "stack-hash.h"
#include "unwind.h"

#define TABLE		8192u		/* a power of 2, twice the number of sites */
#define RETIRED		SP_SITE_OF(1)	/* neither address nor number */
#define ADDRESS		((1ull << 48) - 1)
#define NUMBER(entry) ((uint32_t)((entry) & SP_SITE_MOST))
#define ROOM_BYTES	(84u << 10)	/* free room for sites before a start, */
#define ROOM_MOST	512u		/* with this number of sites at most */
#define ROOM_LEAST	SP_SITES_EACH	/* and at least */

#define FEW_LEFT	64u
#define NAME_LENGTH	(sizeof(((struct sp_site *)0)->name) - 1)	/* of a region */

struct key {
	uint64_t hash;			/* 48 bits */
	uint32_t n;
	uint32_t call;			/* enum sp_site_call */
	const char *name;
	uintptr_t frame[SP_FRAMES_MAX];
	struct sp_path path;		/* rules of its frames */
};

static uint64_t *table;
/* [sp_sites_frames()] rules of each site's path, by number */
static uint16_t *paths;
static uint32_t depth;		/* frames of new sites, at most */
static bool may_unwind;
static struct sp_sites *blocks[SP_SITES_MOST / SP_SITES_EACH];
static uint32_t used, room, resolved;	/* sites 1 .. used - 1 */
static bool is_full;
/* odd while code is unloaded or paths are cut; data from an earlier epoch is invalid */
static uint32_t epoch;
static struct sp_lock lock;		/* guards the following variables; not used at readings */

static struct sp_site *site_at(uint32_t id)
{
	struct sp_sites *b = blocks[(id - 1) / SP_SITES_EACH];

	return (struct sp_site *)((char *)(b + 1) +
				  (id - 1) % SP_SITES_EACH * sp_site_bytes(sp_sites_frames()));
}

static struct sp_frame *frames_of(struct sp_site *s)
{
	return (struct sp_frame *)(s + 1);
}

/* Limits the number of frames: other code may have overwritten the store. */
static uint32_t frames_in(struct sp_site *s)
{
	return (uint32_t)sp_min(load_acquire(&s->n), sp_sites_frames());
}

static uint16_t *path_of(uint32_t id)
{
	return &paths[(uint64_t)id * sp_sites_frames()];
}

/* Checks that room is scarce: new sites get no callers then. */
static bool is_crowded(void)
{
	return sp_conf.callsites < 0 && load_relaxed(&room) - load_relaxed(&used) < FEW_LEFT;
}

/* The number of free sites before a start. A path of 64 frames takes 1.6 KB. */
static uint32_t wanted_room(void)
{
	uint64_t n = ROOM_BYTES / sp_site_bytes(sp_sites_frames());

	return (uint32_t)(n > ROOM_MOST ? ROOM_MOST : n < ROOM_LEAST ? ROOM_LEAST : n);
}

/* ---- finding ---------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static void hash_key(struct key *k)
{
	k->hash = k->call;
	for (uint32_t i = 0; i < k->n; i++)
		k->hash = mix(k->hash, k->frame[i]);
	for (size_t at = 0, n = k->name ? strnlen(k->name, NAME_LENGTH) : 0; at < n; at += 8) {
		uint64_t word = 0;

		memcpy(&word, k->name + at, sp_min(n - at, 8));
		k->hash = mix(k->hash, word);
	}
	k->hash &= ADDRESS;
}

static bool is_same_site(uint32_t id, const struct key *k)
{
	struct sp_site *s = site_at(id);

	if (frames_in(s) != k->n || s->call != k->call ||
	    (k->name ? strncmp(s->name, k->name, NAME_LENGTH) != 0 : *s->name != 0))
		return false;
	for (uint32_t i = 0; i < k->n; i++)
		if (frames_of(s)[i].address != k->frame[i])
			return false;
	return true;
}

static uint32_t new_site(const struct key *k)
{
	uint32_t id = load_relaxed(&used);
	struct sp_site *s;

	do {
		if (id >= load_acquire(&room)) {
			store_relaxed(&is_full, true);
			store_relaxed(&sp_process.sites_due, true);
			return 0;
		}
	} while (!sp_cas(&used, &id, id + 1));
	id++;
	s = site_at(id);
	if (k->name)
		strncpy(s->name, k->name, NAME_LENGTH);
	s->call = k->call;
	for (uint32_t i = 0; i < k->n; i++) {
		frames_of(s)[i].address = k->frame[i];
		frames_of(s)[i].module = sp_module_at(k->frame[i] - 1);
	}
	s->is_cut = (k->n > 1 && k->n == depth) ||
		    (!k->name && depth > 1 && sp_unwind_ends_at(k->frame[k->n - 1]));
	store_release(&s->n, k->n);
	store_relaxed(&sp_process.sites_due, true);
	return id;
}

static uint32_t first_slot(const struct key *k)
{
	return (uint32_t)(k->hash * 0x9e3779b97f4a7c15ull >> 40);
}

/* Finds a key's number. id: the number of a key that is missing; NONE: it gets none, NEW: a new
 * one. */
#define NONE	UINT32_MAX
#define NEW	0u
static uint32_t find_or_add(const struct key *k, uint32_t id)
{
	uint32_t i = first_slot(k);

	for (uint32_t tries = 0; tries < TABLE; i++, tries++) {
		uint64_t *at = &table[i % TABLE], entry = load_acquire(at);

		if (!entry) {
			if (id == NONE)
				return 0;
			if (id == NEW)
				id = new_site(k);
			if (!id || sp_cas(at, &entry, SP_SITE_OF(k->hash) | id))
				return id;
			/* Another thread or a handler added an entry. If it is for the same key,
			 * our number stays unused. */
		}
		if (entry >> 16 == k->hash && NUMBER(entry) && is_same_site(NUMBER(entry), k))
			return NUMBER(entry);
	}
	return 0;
}

static void make_key(struct key *k, const struct sp_stack *at, enum sp_op op, bool inside,
		     bool may_add_objects)
{
	uint32_t most = depth;

	k->name = inside ? sp_thread_state.region : NULL;
	k->call = k->name ? sp_thread_state.region_call : SP_SITE_PAPI + op;
	k->frame[0] = inside ? sp_thread_state.outer : at->to;
	k->path.rule[0] = SP_NO_RULE;
	k->n = 1;
	/* Do not keep rules while room is scarce: the same call gets its callers once there is
	 * room. */
	if (is_crowded() || (sp_conf.callsites < 0 && k->name))
		most = 1;
	if (most > 1)
		k->n = sp_unwind(k->frame, most, at, k->frame[0], &k->path, may_add_objects);
}

/* Checks that no other thread removed code or cut paths since. was: `epoch` before the site was
 * found. */
static bool is_changed(uint32_t was)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return was % 2 || load_acquire(&epoch) != was;
}

/* Adds the steps to a site. was: `epoch` before the path was found. */
static void add_steps(const struct sp_stack *at, enum sp_op op, uint32_t id, uint32_t was)
{
	if (!sp_steps)
		return;
	if (depth > 1)
		sp_path_add_steps(path_of(id), sp_sites_frames(), at, op, id);
	else if (!(at->to & ~ADDRESS))
		(void)sp_step_add(SP_STEP_KEY(op, at->to), (int32_t)id, SP_STEP_SITE);
	if (is_changed(was))
		sp_steps_remove();
}

static uint32_t find_by_key(struct key *k, uint32_t id)
{
	hash_key(k);
	id = find_or_add(k, id);
	if (id && k->path.rule[0] != SP_NO_RULE)
		for (unsigned i = 0; i < sp_sites_frames(); i++)
			store_relaxed(&path_of(id)[i], k->path.rule[i]);
	return id;
}

/* Finds a site by the rules of its frames; 0: it is new, or a rule is missing. */
static uint32_t find_by_rules(const struct sp_stack *at, enum sp_op op)
{
	const uint32_t was = load_acquire(&epoch);
	struct key k = { .call = SP_SITE_PAPI + op };
	uint32_t id;

	k.n = sp_unwind_by_rules(k.frame, depth, at, &k.path);
	id = k.n ? find_by_key(&k, NONE) : 0;
	if (id && k.path.rule[0] != SP_NO_RULE)
		add_steps(at, op, id, was);
	if (id || !k.n || !is_crowded())
		return id;
	k.n = 1;
	k.path.rule[0] = SP_NO_RULE;
	return find_by_key(&k, NONE);
}

static uint32_t find_site(const struct sp_stack *at, enum sp_op op, bool may_add_objects)
{
	const uint32_t was = load_acquire(&epoch);
	struct key k;
	bool inside;
	uint32_t id;

	if (!load_acquire(&table))
		return 0;
	if (!sp_thread_state.nests && (id = sp_site_find_known(at, op)) != 0)
		return id;
	inside = sp_thread_state.nests && (sp_internal(sp_papi_used, at->to) ||
					   at->to - sp_papi_used->low < sp_papi_used->span);
	make_key(&k, at, op, inside, may_add_objects);
	if (inside)			/* the caller is libpapi */
		k.path.rule[0] = SP_NO_RULE;
	id = find_by_key(&k, NEW);
	if (id && !inside && (depth == 1 || k.path.rule[0] != SP_NO_RULE))
		add_steps(at, op, id, was);
	return id;
}

uint32_t sp_site_find_known(const struct sp_stack *at, enum sp_op op)
{
	uint32_t id = sp_path_find_site(at, op);

	return SP_LIKELY(id != 0) || depth < 2 ? id : find_by_rules(at, op);
}

uint32_t sp_site_find(const struct sp_stack *at, enum sp_op op)
{
	return find_site(at, op, false);
}

uint32_t sp_site_find_at_start(const struct sp_stack *at)
{
	return find_site(at, SP_OP_START, true);
}

/* Repeats the first word up to SP_STACK_WORDS, since fast.h compares them without a loop. */
static void pad_words(struct sp_known_site *known)
{
	uint32_t n = 0;

	while (known->word[n].to)
		n++;
	for (; n && n < SP_STACK_WORDS && !known->by_fp; n++)
		known->word[n] = known->word[0];
}

/* Finds the site again first: it may have been removed meanwhile. */
static void set_known(struct sp_known_site *known, enum sp_op op, const struct sp_stack *at,
		      uint32_t id)
{
	const uint32_t was = load_acquire(&epoch);

	store_relaxed(&known->to, 0);
	if (sp_conf.callsites && sp_site_find_known(at, op) != id)
		return;
	sp_order();
	known->word[0].to = 0;
	known->site = id;
	known->op = op;
	if (depth > 1 &&
	    (!sp_path_get_words(path_of(id), sp_sites_frames(), known) || known->has_dead_end))
		return;
	pad_words(known);
	sp_order();
	store_relaxed(&known->to, at->to);
	if (is_changed(was))
		store_relaxed(&known->to, 0);
}

void sp_site_set_known(struct sp_known_site *known, enum sp_op op, const struct sp_stack *at,
		       uint32_t id)
{
	if (load_relaxed(&known->is_writing))
		return;
	store_relaxed(&known->is_writing, true);
	sp_order();
	set_known(known, op, at, id);
	sp_order();
	store_relaxed(&known->is_writing, false);
}

/* ---- modules ---------------------------------------------------------- */

/* Sets the module of every frame of new sites that lies in this object. */
static int resolve_object(const struct sp_object *o, void *arg)
{
	uint32_t upto = *(uint32_t *)arg;

	for (uint32_t id = resolved + 1; id <= upto; id++) {
		struct sp_site *s = site_at(id);

		for (uint32_t i = 0, n = frames_in(s); i < n; i++) {
			struct sp_frame *f = &frames_of(s)[i];

			if (!sp_elf_contains(o, f->address - 1))
				continue;
			if (!f->module)
				f->module = sp_module_of(o);
			if (depth > 1)
				sp_unwind_object(o);
		}
	}
	return 0;
}

/* ---- how many frames -------------------------------------------------- */

/* Measured functions, by the number of their frame: functions of the program in one call of which
 * there are several sites. Three with one number are no helpers. */
#define MEASURED_LEAST	3u
#define MEASURED_MAX	64u
#define MEASURED_NEAR	256u		/* the sites of one call have near numbers */
static struct measured {
	uintptr_t function[MEASURED_MAX];
	uint32_t n;
} measured[SP_SITES_AUTO - 1];

/* The program's function of frame i, if the rule is known; else 0. */
static uintptr_t function_at(struct sp_site *s, uint32_t i)
{
	const struct sp_frame *f = &frames_of(s)[i];

	return sp_module_is_program(f->module) ? sp_unwind_function(f->address) : 0;
}

/* Checks that two sites differ, and are in one call of the function of frame i. */
static bool is_one_call(struct sp_site *s, struct sp_site *t, uint32_t i, uintptr_t function)
{
	uint32_t n = frames_in(s);
	bool differ = s->call != t->call;

	if (frames_in(t) != n || *t->name)
		return false;
	for (uint32_t k = 0; k < n; k++)
		if (frames_of(s)[k].address != frames_of(t)[k].address) {
			if (k > i)
				return false;
			differ = true;
		}
	return differ && function_at(t, i) == function;
}

static bool is_measured(const struct measured *r, uintptr_t function)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->function[i] == function)
			return true;
	return false;
}

/* Adds the function of frame i of a site if it is measured. True: paths end with it. */
static bool add_measured(uint32_t id, uint32_t i)
{
	struct measured *r = &measured[i];
	uintptr_t function = function_at(site_at(id), i);

	if (!function || r->n == MEASURED_MAX || is_measured(r, function))
		return false;
	for (uint32_t other = id - 1; other && id - other <= MEASURED_NEAR; other--) {
		if (!is_one_call(site_at(id), site_at(other), i, function))
			continue;
		r->function[r->n++] = function;
		for (uint32_t k = 0; r->n >= MEASURED_LEAST && k < r->n; k++)
			sp_unwind_end_at(r->function[k]);
		return r->n >= MEASURED_LEAST;
	}
	return false;
}

static bool find_measured(uint32_t upto)
{
	bool any = false;

	for (uint32_t id = resolved + 1; id <= upto; id++) {
		struct sp_site *s = site_at(id);

		for (uint32_t i = 0; i + 1 < frames_in(s) && !*s->name &&
				     !sp_unwind_ends_at(frames_of(s)[i].address);
		     i++) {
			if (!add_measured(id, i))
				continue;
			any = true;
			if (measured[i].n > MEASURED_LEAST)
				break;
			/* Count again the callers that are not cut now. */
			for (uint32_t k = i + 1; k < SP_COUNT(measured); k++)
				measured[k].n = 0;
			id = 0;
			break;
		}
	}
	return any;
}

/* Cuts a site's callers beyond the first function that is no helper. */
static void cut_path(uint32_t id)
{
	struct sp_site *s = site_at(id);
	struct key k = { .n = frames_in(s), .call = s->call };

	for (uint32_t i = 0; i < k.n && !*s->name; i++) {
		k.frame[i] = frames_of(s)[i].address;
		if (i + 1 == k.n || !sp_unwind_ends_at(k.frame[i]))
			continue;
		k.n = i + 1;
		store_relaxed(&s->is_cut, true);
		store_release(&s->n, k.n);
		for (; ++i < sp_sites_frames();)
			store_relaxed(&path_of(id)[i], SP_NO_RULE);
		hash_key(&k);
		(void)find_or_add(&k, id);
	}
}

/* Begins or ends a change of paths. */
static void change_epoch(void)
{
	__atomic_fetch_add(&epoch, 1, __ATOMIC_SEQ_CST);
}

/* Removes what finds sites without their frames. */
static void forget_paths(void)
{
	sp_sets_forget_sites();
	sp_steps_clear();
}

static void cut_paths(uint32_t upto)
{
	bool any = find_measured(upto);
	uint32_t most = 1;

	if (any)
		change_epoch();
	for (uint32_t id = any ? 1 : resolved + 1; id <= upto; id++)
		cut_path(id);
	if (any) {
		forget_paths();
		change_epoch();
	}
	for (uint32_t id = 1; id <= upto; id++)
		most = (uint32_t)sp_max(most, frames_in(site_at(id)));
	store_relaxed(&sp_store.header->callsites, most);
}

/* The last site before the first one that a thread is writing. */
static uint32_t find_last_complete(void)
{
	uint32_t upto = resolved, n = load_relaxed(&used);

	while (upto < n && frames_in(site_at(upto + 1)))
		upto++;
	return upto;
}

/* Resolves new sites; requires the lock. */
static void resolve(void)
{
	uint32_t upto;

	store_relaxed(&sp_process.sites_due, room - load_relaxed(&used) < wanted_room());
	upto = find_last_complete();
	if (resolved == upto)
		return;
	sp_elf_each(resolve_object, &upto);
	sp_modules_prepare();
	if (sp_conf.callsites < 0 && depth > 1)
		cut_paths(upto);
	store_relaxed(&resolved, upto);
}

void sp_sites_resolve(void)
{
	struct sp_lock_state lock_state;

	if (!load_acquire(&table) || load_relaxed(&resolved) == load_relaxed(&used))
		return;
	sp_lock_take(&lock, &lock_state);
	resolve();
	sp_lock_give(&lock, &lock_state);
}

/* ---- names of functions ------------------------------------------------- */

static uint32_t n_named;		/* number of sites whose names were read from files */

static void set_name(struct sp_frame *f, const char *name)
{
	struct sp_lock_state lock_state;

	if (!sp_lock_try(&sp_store.lock, &lock_state, 1000))
		return;
	f->symbol = sp_store_text(&sp_store, name);
	sp_lock_give(&sp_store.lock, &lock_state);
}

static void take_name(const struct sp_elf_want *want, const char *name)
{
	set_name(want->of, name);
}

/* Reads names from the module's file if its build id shows that it is the loaded one. */
static void read_symbols(const struct sp_module *b, struct sp_elf_want *want, uint32_t n)
{
	struct sp_elf_file f;

	if (!b->build_id_bytes ||
	    sp_elf_file_open(&f, sp_store_reader_text(&sp_store.reader, b->path)) < 0)
		return;
	if (f.build_id_bytes == b->build_id_bytes &&
	    memcmp(f.build_id, b->build_id, f.build_id_bytes) == 0)
		sp_elf_file_names(&f, want, n, take_name);
	sp_elf_file_close(&f);
}

/* Queries the loader for exported functions, if the file is gone or has no matching build id. */
static void query_loader(const struct sp_elf_want *want, uint32_t n)
{
	Dl_info info;

	for (uint32_t i = 0; i < n; i++) {
		struct sp_frame *f = want[i].of;

		if (!f->symbol && dladdr((void *)(f->address - 1), &info) && info.dli_sname)
			set_name(f, info.dli_sname);
	}
}

/* Finds the module's frames without a name in new sites. Returns their number. */
static uint32_t find_unnamed(uint32_t module, struct sp_elf_want *want)
{
	uint32_t n = 0;

	for (uint32_t id = n_named + 1; id <= resolved; id++) {
		struct sp_site *s = site_at(id);

		for (uint32_t i = 0, all = frames_in(s); i < all; i++) {
			struct sp_frame *f = &frames_of(s)[i];

			if (f->module != module || f->symbol)
				continue;
			if (want)
				want[n] = (struct sp_elf_want){
					.offset = f->address - 1 - sp_module_block(module)->base,
					.of = f
				};
			n++;
		}
	}
	return n;
}

void sp_sites_name(bool by_loader)
{
	const struct sp_module *b;
	struct sp_lock_state lock_state;

	sp_unwind_report_notes();
	if (!load_acquire(&table) || load_relaxed(&n_named) == load_relaxed(&resolved) ||
	    !sp_lock_try(&lock, &lock_state, 1000))
		return;
	for (uint32_t module = 1; (b = sp_module_block(module)) != NULL; module++) {
		uint32_t n = find_unnamed(module, NULL);
		struct sp_elf_want *want = n ? sp_map(n * sizeof(*want)) : NULL;

		if (!want)
			continue;
		find_unnamed(module, want);
		read_symbols(b, want, n);
		if (by_loader && !sp_module_is_unloaded(module))
			query_loader(want, n);
		sp_unmap(want, n * sizeof(*want));
	}
	store_relaxed(&n_named, load_relaxed(&resolved));
	sp_lock_give(&lock, &lock_state);
}

/* ---- unloading -------------------------------------------------------- */

static bool is_in_unloaded(uint32_t id)
{
	struct sp_site *s = site_at(id);

	for (uint32_t i = 0, n = frames_in(s); i < n; i++)
		if (sp_module_is_unloaded(frames_of(s)[i].module))
			return true;
	return false;
}

void sp_sites_after_unload(void)
{
	struct sp_lock_state lock_state;
	bool any;

	sp_lock_take(&lock, &lock_state);
	change_epoch();
	any = sp_modules_find_unloaded();
	if (any)
		store_relaxed(&sp_process.sites_due, true);
	for (uint32_t i = 0; any && table && i < TABLE; i++)
		if (NUMBER(table[i]) && is_in_unloaded(NUMBER(table[i])))
			store_relaxed(&table[i], RETIRED);
	if (any) {
		forget_paths();
		sp_unwind_forget_unloaded();
	}
	change_epoch();
	sp_lock_give(&lock, &lock_state);
}

/* ---- room ------------------------------------------------------------- */

/* Initializes the tables, once and in each child of fork. */
static void init_sites(void)
{
	uint64_t bytes = (SP_SITES_MOST + 1) * sp_sites_frames() * sizeof(*paths);
	void *p;

	sp_modules_prepare();
	if (may_unwind && !paths && (paths = sp_map(bytes)) != NULL)
		sp_wipe_on_fork(paths, bytes);
	store_relaxed(&depth,
		      may_unwind && paths && sp_unwind_prepare(sp_conf.callsites < 0)
			      ? sp_sites_frames()
			      : 1);
	store_relaxed(&sp_process.unwinds, depth > 1);
	store_relaxed(&sp_store.header->callsites, depth);
	(void)sp_steps_prepare();
	p = table ? NULL : sp_map(TABLE * sizeof(*table));
	if (p) {
		sp_wipe_on_fork(p, TABLE * sizeof(*table));
		memset(p, 0, TABLE * sizeof(*table));
		store_release(&table, p);
	}
}

static bool make_room(void)
{
	struct sp_sites *b;
	struct sp_lock_state lock_state;

	if (room == SP_SITES_MOST)
		return false;
	sp_lock_take(&sp_store.lock, &lock_state);
	b = sp_store_sites(&sp_store, sp_sites_frames());
	sp_lock_give(&sp_store.lock, &lock_state);
	if (!b)
		return false;
	if (depth > 1)
		memset(path_of(room + 1), 0xff, SP_SITES_EACH * sp_sites_frames() * sizeof(*paths));
	blocks[room / SP_SITES_EACH] = b;
	store_release(&room, room + SP_SITES_EACH);
	return true;
}

void sp_sites_prepare(void)
{
	struct sp_lock_state lock_state;

	if (!sp_conf.callsites ||
	    (load_acquire(&table) && load_relaxed(&room) - load_relaxed(&used) >= wanted_room() &&
	     load_relaxed(&resolved) == load_relaxed(&used) && !load_relaxed(&is_full) &&
	     !sp_unwind_has_notes()))
		return;
	sp_lock_take(&lock, &lock_state);
	if (!load_relaxed(&room))
		init_sites();
	while (room - load_relaxed(&used) < wanted_room() && make_room())
		;
	if (table)
		resolve();
	if (load_relaxed(&is_full))
		sp_process_note_quiet("too many call sites: counts of those without room are "
				      "under \"other\"");
	store_relaxed(&is_full, false);
	sp_unwind_report_notes();
	sp_lock_give(&lock, &lock_state);
}

void sp_sites_load(void)
{
	may_unwind = sp_sites_frames() > 1 && sp_unwind_load();
}

void sp_sites_modules(void)
{
	struct sp_lock_state lock_state;

	sp_lock_take(&lock, &lock_state);
	sp_modules_prepare();
	sp_lock_give(&lock, &lock_state);
}

void sp_sites_forget_all(void)
{
	if (table)
		memset(table, 0, TABLE * sizeof(*table));
	sp_steps_reset_child();
	epoch = (epoch | 1) + 1;
	memset(measured, 0, sizeof(measured));
	sp_sets_forget_sites();
	sp_modules_reset();
	sp_unwind_reset_child();
	used = room = resolved = n_named = 0;
	is_full = false;
	memset(&lock, 0, sizeof(lock));
}
