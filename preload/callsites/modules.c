/* modules.c: finds and describes the object that an address lies in; see modules.h. */
#include <string.h>

#include "../../core/base/lock.h"
#include "../../core/base/output.h"
#include "../../core/base/sys.h"
#include "../../core/store/store.h"
#include "../process/process.h"
#include "modules.h"
#include "stack-hash.h"

#define MOST	256u
#define SPARE	16u			/* ready for who meets them; a path of 64 frames goes
					 * through a few */
#define PATH	255u			/* bytes of path that a spare one has room for */

/* In the order of their numbers.  Of those behind `claimed` only block and path are set. */
static struct module {
	uintptr_t low, span, base;
	uint64_t identity;		/* of path and build id */
	struct sp_module *block;
	struct sp_string *path;
	bool ready;			/* all of it is there */
	bool gone, seen;
	bool program;
} modules[MOST];
static uint32_t made, claimed;
static unsigned long long touched;	/* as the loader counted when they were last looked at */

static const char *dir = "";		/* in which the process started */

/* ---- what an object is -------------------------------------------------- */

static const char *path_of(const struct sp_object *o)
{
	return *o->path ? o->path : sp_process_exe();
}

/* What it is relative to: the loader keeps a path as it was given, and most are loaded at the
 * start. */
static const char *dir_of(const struct sp_object *o)
{
	return *path_of(o) != '/' && strchr(path_of(o), '/') ? dir : "";
}

static size_t path_length(const struct sp_object *o)
{
	return strlen(dir_of(o)) + (*dir_of(o) != 0) + strlen(path_of(o));
}

/* room is enough. */
static void write_path(char *to, const struct sp_object *o)
{
	strcpy(to, dir_of(o));
	if (*to)
		strcat(to, "/");
	strcat(to, path_of(o));
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static uint64_t identity_of(const struct sp_object *o)
{
	uint32_t n = 0;
	const unsigned char *id = sp_elf_build_id(o, &n);
	uint64_t h = o->span;

	for (uint32_t i = 0; i < n; i++)
		h = mix(h, id[i]);
	for (const char *p = path_of(o); *p; p++)
		h = mix(h, (unsigned char)*p);
	return h;
}

static bool is_module(const struct module *m, const struct sp_object *o)
{
	return load_acquire(&m->ready) && m->low == o->low && m->span == o->span &&
	       m->base == o->base;
}

/* ---- numbers -------------------------------------------------------------- */

static void fill_block(struct sp_module *b, const struct sp_object *o)
{
	uint32_t n;
	const unsigned char *id = sp_elf_build_id(o, &n);

	b->low = o->low;
	b->span = o->span;
	b->base = o->base;
	if (id && n <= sizeof(b->build_id)) {
		memcpy(b->build_id, id, n);
		b->build_id_bytes = n;
	}
}

/* Is it there again, at the same place with the same code?  Its number then, or 0. */
static uint32_t number_again(const struct sp_object *o)
{
	for (uint32_t i = 0; i < load_relaxed(&claimed); i++)
		if (load_relaxed(&modules[i].gone) && is_module(&modules[i], o) &&
		    modules[i].identity == identity_of(o)) {
			store_relaxed(&modules[i].gone, false);
			modules[i].block->gone = 0;
			return i + 1;
		}
	return 0;
}

/* The number that it had, or the next; 0: none is ready. */
static uint32_t claim(const struct sp_object *o)
{
	uint32_t again = number_again(o);
	uint32_t i = load_relaxed(&claimed);
	size_t n = path_length(o);
	struct module *m;

	if (again)
		return again;
	do {
		if (i >= load_acquire(&made))
			return 0;
	} while (!sp_cas(&claimed, &i, i + 1));
	m = &modules[i];
	fill_block(m->block, o);
	if (n <= PATH) {
		write_path(m->path->text, o);
		m->path->length = (uint32_t)n;
	}
	m->low = o->low;
	m->span = o->span;
	m->base = o->base;
	m->identity = identity_of(o);
	m->program = !*o->path;
	store_release(&m->ready, true);
	return i + 1;
}

uint32_t sp_module_at(uintptr_t address)
{
	struct sp_object o;

	for (uint32_t i = 0, n = (uint32_t)sp_min(load_relaxed(&claimed), MOST); i < n; i++) {
		const struct module *m = &modules[i];

		if (load_acquire(&m->ready) && !load_relaxed(&m->gone) &&
		    address - m->low < m->span)
			return i + 1;
	}
	return sp_elf_at(&o, address) && path_length(&o) <= PATH ? claim(&o) : 0;
}

static void long_path(struct module *m, const struct sp_object *o)
{
	size_t room = path_length(o) + 1;
	char *path = sp_map(room);
	struct sp_lock_state lock_state;

	if (!path)
		return;
	write_path(path, o);
	sp_lock_take(&sp_store.lock, &lock_state);
	m->block->path = sp_store_text(&sp_store, path);
	sp_lock_give(&sp_store.lock, &lock_state);
	sp_unmap(path, room);
}

uint32_t sp_module_of(const struct sp_object *o)
{
	uint32_t number;

	for (uint32_t i = 0; i < load_relaxed(&claimed); i++)
		if (!modules[i].gone && is_module(&modules[i], o))
			return i + 1;
	sp_modules_prepare();
	number = claim(o);
	if (number && path_length(o) > PATH)
		long_path(&modules[number - 1], o);
	return number;
}

const struct sp_module *sp_module_block(uint32_t number)
{
	return number && number <= sp_min(load_relaxed(&claimed), MOST) &&
			       load_acquire(&modules[number - 1].ready)
		       ? modules[number - 1].block
		       : NULL;
}

bool sp_module_is_program(uint32_t number)
{
	return number && number <= MOST && modules[number - 1].program;
}

/* ---- room ----------------------------------------------------------------- */

static int touch(const struct sp_object *o, void *arg)
{
	uint32_t n;

	(void)arg;
	(void)sp_elf_build_id(o, &n);
	return 0;
}

void sp_modules_prepare(void)
{
	unsigned long long now = sp_elf_load_count();
	struct sp_lock_state lock_state;

	dir = sp_process_output_vars()->dir;
	if (now != touched)
		sp_elf_each(touch, NULL);
	touched = now;
	sp_lock_take(&sp_store.lock, &lock_state);
	while (made < MOST && made < load_relaxed(&claimed) + SPARE) {
		struct module *m = &modules[made];

		m->block = sp_store_module(&sp_store, PATH, &m->path);
		if (!m->block)
			break;
		store_release(&made, made + 1);
	}
	sp_lock_give(&sp_store.lock, &lock_state);
}

/* ---- unloading -------------------------------------------------------------- */

bool sp_module_gone(uint32_t number)
{
	return number && number <= MOST && modules[number - 1].gone;
}

static int see(const struct sp_object *o, void *arg)
{
	const uint32_t *n = arg;

	for (uint32_t i = 0; i < *n; i++)
		modules[i].seen |= is_module(&modules[i], o);
	return 0;
}

bool sp_modules_unloaded(void)
{
	uint32_t n = load_relaxed(&claimed);
	bool any = false;

	for (uint32_t i = 0; i < n; i++)
		modules[i].seen = modules[i].gone || !load_acquire(&modules[i].ready);
	sp_elf_each(see, &n);
	for (uint32_t i = 0; i < n; i++)
		if (!modules[i].seen) {
			store_relaxed(&modules[i].gone, true);
			modules[i].block->gone = 1;
			any = true;
		}
	return any;
}

void sp_modules_forget(void)
{
	memset(modules, 0, sizeof(modules));
	made = claimed = 0;
	touched = 0;			/* what is a file's is not in a child's page table */
}
