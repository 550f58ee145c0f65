/* modules.c: see modules.h. */
#include <string.h>

#include "../../core/base/lock.h"
#include "../../core/base/output.h"
#include "../../core/base/sys.h"
#include "../../core/store/store.h"
#include "../process/process.h"
#include "modules.h"
#include "stack-hash.h"

#define MODULES_MAX	256u
/* prepared for new modules; a path of 64 frames may need several */
#define SPARE_BLOCKS	16u
#define PATH_LENGTH	255u		/* bytes of a path in a prepared block */

/* Modules in order of their numbers. Beyond `n_claimed`, only block and path are set. */
static struct module {
	uintptr_t low, span, base;
	uint64_t identity;		/* of path and build id */
	struct sp_module *block;
	struct sp_string *path;
	bool is_ready;			/* all fields are set */
	bool is_unloaded, is_found;
	bool is_program;
} modules[MODULES_MAX];
static uint32_t n_prepared, n_claimed;
static unsigned long long loads_seen;	/* the loader's count at the last touch_build_id() */

static const char *start_dir = "";	/* in which the process started */

/* ---- objects -------------------------------------------------------- */

static const char *object_path(const struct sp_object *o)
{
	return *o->path ? o->path : sp_process_exe();
}

/* The directory to which the path is relative: the loader keeps paths as they were given, and
 * loads most objects at the start. */
static const char *object_dir(const struct sp_object *o)
{
	return *object_path(o) != '/' && strchr(object_path(o), '/') ? start_dir : "";
}

static size_t path_length(const struct sp_object *o)
{
	return strlen(object_dir(o)) + (*object_dir(o) != 0) + strlen(object_path(o));
}

/* to: has path_length() + 1 bytes. */
static void write_path(char *to, const struct sp_object *o)
{
	strcpy(to, object_dir(o));
	if (*to)
		strcat(to, "/");
	strcat(to, object_path(o));
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
	for (const char *p = object_path(o); *p; p++)
		h = mix(h, (unsigned char)*p);
	return h;
}

static bool is_same_object(const struct module *m, const struct sp_object *o)
{
	return load_acquire(&m->is_ready) && m->low == o->low && m->span == o->span &&
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

/* Finds the number of an unloaded object that is loaded again at the same address; 0: none. */
static uint32_t find_unloaded(const struct sp_object *o)
{
	for (uint32_t i = 0; i < load_relaxed(&n_claimed); i++)
		if (load_relaxed(&modules[i].is_unloaded) && is_same_object(&modules[i], o) &&
		    modules[i].identity == identity_of(o)) {
			store_relaxed(&modules[i].is_unloaded, false);
			modules[i].block->gone = 0;
			return i + 1;
		}
	return 0;
}

/* Gives an object its earlier number or the next one; 0: no block is prepared. */
static uint32_t claim_number(const struct sp_object *o)
{
	uint32_t again = find_unloaded(o);
	uint32_t i = load_relaxed(&n_claimed);
	size_t n = path_length(o);
	struct module *m;

	if (again)
		return again;
	do {
		if (i >= load_acquire(&n_prepared))
			return 0;
	} while (!sp_cas(&n_claimed, &i, i + 1));
	m = &modules[i];
	fill_block(m->block, o);
	if (n <= PATH_LENGTH) {
		write_path(m->path->text, o);
		m->path->length = (uint32_t)n;
	}
	m->low = o->low;
	m->span = o->span;
	m->base = o->base;
	m->identity = identity_of(o);
	m->is_program = !*o->path;
	store_release(&m->is_ready, true);
	return i + 1;
}

uint32_t sp_module_at(uintptr_t address)
{
	struct sp_object o;

	for (uint32_t i = 0, n = (uint32_t)sp_min(load_relaxed(&n_claimed), MODULES_MAX); i < n;
	     i++) {
		const struct module *m = &modules[i];

		if (load_acquire(&m->is_ready) && !load_relaxed(&m->is_unloaded) &&
		    address - m->low < m->span)
			return i + 1;
	}
	return sp_elf_at(&o, address) && path_length(&o) <= PATH_LENGTH ? claim_number(&o) : 0;
}

static void store_long_path(struct module *m, const struct sp_object *o)
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

	for (uint32_t i = 0; i < load_relaxed(&n_claimed); i++)
		if (!modules[i].is_unloaded && is_same_object(&modules[i], o))
			return i + 1;
	sp_modules_prepare();
	number = claim_number(o);
	if (number && path_length(o) > PATH_LENGTH)
		store_long_path(&modules[number - 1], o);
	return number;
}

const struct sp_module *sp_module_block(uint32_t number)
{
	return number && number <= sp_min(load_relaxed(&n_claimed), MODULES_MAX) &&
			       load_acquire(&modules[number - 1].is_ready)
		       ? modules[number - 1].block
		       : NULL;
}

bool sp_module_is_program(uint32_t number)
{
	return number && number <= MODULES_MAX && modules[number - 1].is_program;
}

/* ---- room ----------------------------------------------------------------- */

static int touch_build_id(const struct sp_object *o, void *arg)
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

	start_dir = sp_process_output_vars()->dir;
	if (now != loads_seen)
		sp_elf_each(touch_build_id, NULL);
	loads_seen = now;
	sp_lock_take(&sp_store.lock, &lock_state);
	while (n_prepared < MODULES_MAX && n_prepared < load_relaxed(&n_claimed) + SPARE_BLOCKS) {
		struct module *m = &modules[n_prepared];

		m->block = sp_store_module(&sp_store, PATH_LENGTH, &m->path);
		if (!m->block)
			break;
		store_release(&n_prepared, n_prepared + 1);
	}
	sp_lock_give(&sp_store.lock, &lock_state);
}

/* ---- unloading -------------------------------------------------------------- */

bool sp_module_is_unloaded(uint32_t number)
{
	return number && number <= MODULES_MAX && modules[number - 1].is_unloaded;
}

static int mark_found(const struct sp_object *o, void *arg)
{
	const uint32_t *n = arg;

	for (uint32_t i = 0; i < *n; i++)
		modules[i].is_found |= is_same_object(&modules[i], o);
	return 0;
}

bool sp_modules_find_unloaded(void)
{
	uint32_t n = load_relaxed(&n_claimed);
	bool any = false;

	for (uint32_t i = 0; i < n; i++)
		modules[i].is_found = modules[i].is_unloaded || !load_acquire(&modules[i].is_ready);
	sp_elf_each(mark_found, &n);
	for (uint32_t i = 0; i < n; i++)
		if (!modules[i].is_found) {
			store_relaxed(&modules[i].is_unloaded, true);
			modules[i].block->gone = 1;
			any = true;
		}
	return any;
}

void sp_modules_reset(void)
{
	memset(modules, 0, sizeof(modules));
	n_prepared = n_claimed = 0;
	loads_seen = 0;			/* a child's page table lacks file pages */
}
