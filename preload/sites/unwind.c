/* unwind.c: walks the stack by rules that are learnt once; see unwind.h. */
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "../../core/base/lock.h"
#include "../../core/base/sys.h"
#include "../process/process.h"
#include "unwind.h"

#ifndef MADV_POPULATE_READ		/* Linux 5.14 */
#define MADV_POPULATE_READ 22
#endif
#define TABLES_MOST	(16ul << 20)	/* bytes of one object's tables that are read */
#define OBJECTS		64u
#define RULES		1024u		/* a power of 2 */
#define STACK_MOST	(1ul << 30)	/* bytes of a stack */
#define OWN_MOST	24u		/* frames of ours and libpapi's that may lie in front */
#define GONE		1u		/* in place of an address: of code that was unloaded */
#define CLAIMED		2u		/* somebody fills it in */

struct sp_rule_of *sp_rules;

static struct object {
	uintptr_t low, span;
	struct sp_tables tables;
	bool runtime, gone;
} objects[OBJECTS];
static uint32_t n_objects;
static struct sp_lock lock;		/* of what is written there */
static bool short_of_runtime;

void sp_unwind_child(void)
{
	n_objects = 0;			/* what is a file's is not in a child's page table */
	memset(&lock, 0, sizeof(lock));
}

/* ---- objects ------------------------------------------------------------------- */

/* A path into these says nothing: they call a program's main, a thread's function, a parallel region's. */
static bool is_runtime(const char *path)
{
	static const char *const names[] = { "libc.so.", "libpthread.so.", "ld-linux", "libgomp.so.", "libomp.so", "libiomp5.so", "libstdc++.so." };
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	for (unsigned i = 0; i < SP_COUNT(names); i++)
		if (sp_begins(base, names[i]))
			return true;
	return false;
}

/* The pages are there afterwards, so that to read them later is no page fault. */
static void read_pages(const struct sp_tables *t)
{
	uintptr_t low = t->low & ~(uintptr_t)4095;

	if (sp_sys(SYS_madvise, low, t->end - low, MADV_POPULATE_READ) < 0)
		for (uintptr_t at = low; at < t->end; at += 4096)
			(void)*(volatile const char *)at;
}

/* The header and the tables, which stand in one segment, as a rule the tables behind the header. */
static bool find_tables(struct sp_tables *t, const struct sp_object *o)
{
	const ElfW(Phdr) *p = o->header, *header = NULL;

	for (unsigned i = 0; i < o->headers; i++)
		if (p[i].p_type == PT_GNU_EH_FRAME)
			header = &p[i];
	for (unsigned i = 0; header && i < o->headers; i++)
		if (p[i].p_type == PT_LOAD && header->p_vaddr - p[i].p_vaddr < p[i].p_filesz) {
			uintptr_t low = o->base + p[i].p_vaddr, end = low + p[i].p_filesz, first;

			t->header = o->base + header->p_vaddr;
			first = sp_rule_tables(t->header, end);
			t->low = first >= low && first < t->header ? first : t->header;
			t->end = (uintptr_t)sp_min(end, t->low + TABLES_MOST);
			return true;
		}
	return false;
}

static const struct object *object_of(uintptr_t address)
{
	for (uint32_t i = 0, n = sp_acquire(&n_objects); i < n; i++)
		if (!sp_acquire(&objects[i].gone) && address - objects[i].low < objects[i].span)
			return &objects[i];
	return NULL;
}

void sp_unwind_object(const struct sp_object *o)
{
	struct object is = { .low = o->low, .span = o->span, .runtime = is_runtime(o->path), .gone = true };
	struct sp_held held;
	uint32_t i = 0;

	if (object_of(o->low))
		return;
	if (!(is.runtime && short_of_runtime) && find_tables(&is.tables, o))
		read_pages(&is.tables);
	sp_lock_take(&lock, &held);
	while (i < n_objects && !objects[i].gone)
		i++;
	if (!object_of(o->low) && i < OBJECTS) {
		objects[i] = is;
		sp_publish(&objects[i].gone, false);
		if (i == n_objects)
			sp_publish(&n_objects, i + 1);
	}
	sp_lock_give(&lock, &held);
}

/* What calls PAPI may be on no start's stack, as where that was jumped to. */
static int calls_papi(const struct sp_object *o, void *arg)
{
	bool calls = !*o->path;

	(void)arg;
	for (const ElfW(Dyn) *d = o->dynamic; d && o->strings && d->d_tag != DT_NULL; d++)
		calls |= d->d_tag == DT_NEEDED && sp_begins(o->strings + d->d_un.d_val, "libpapi.so");
	if (calls)
		sp_unwind_object(o);
	return 0;
}

bool sp_unwind_prepare(bool runtime_left_out)
{
	short_of_runtime = runtime_left_out;
	if (!sp_rules) {
		void *memory = sp_map(RULES * sizeof(*sp_rules));

		if (!memory)
			return false;
		sp_wipe_on_fork(memory, RULES * sizeof(*sp_rules));
		sp_publish(&sp_rules, memory);
	}
	memset(sp_rules, 0, RULES * sizeof(*sp_rules));
	sp_elf_each(calls_papi, NULL);
	return true;
}

/* ---- rules ------------------------------------------------------------------------- */

static uint32_t first(uintptr_t to)
{
	return (uint32_t)(to * 0x9e3779b97f4a7c15ull >> 40) % RULES;
}

static struct sp_rule_of *known(uintptr_t to)
{
	for (uint32_t i = first(to), tries = 0; sp_rules && tries < RULES; i = (i + 1) % RULES, tries++) {
		uintptr_t is = sp_acquire(&sp_rules[i].to);

		if (is == to)
			return &sp_rules[i];
		if (!is)
			break;
	}
	return NULL;
}

static struct sp_rule_of *keep(uintptr_t to, const struct sp_rule *is)
{
	for (uint32_t i = first(to), tries = 0; tries < RULES / 2; i = (i + 1) % RULES, tries++) {
		uintptr_t was = sp_get(&sp_rules[i].to);

		if ((was && was != GONE) || !sp_cas(&sp_rules[i].to, &was, CLAIMED))
			continue;
		sp_rules[i].is = *is;
		sp_publish(&sp_rules[i].to, to);
		return &sp_rules[i];
	}
	return NULL;
}

/* No frame of the thread's own stack lies beyond: what the thread pointer points to is at its end, at that of the main
 * thread's what the kernel gave the program.  0: it is on another one. */
static uintptr_t stack_end(uintptr_t sp)
{
	uintptr_t thread = sp_thread_pointer(), program = getauxval(AT_RANDOM);

	return thread - sp < STACK_MOST ? thread : program - sp < STACK_MOST ? program : 0;
}

/* Hand-written code may be in no table, or in a wrong one.  On another stack the kernel looks, and then finds that `how` is
 * none. */
static bool readable(uintptr_t word, const struct sp_stack *at)
{
	uintptr_t end = stack_end(at->sp);

	return end ? word - at->sp < end - at->sp :
	       sp_sys(SYS_rt_sigprocmask, -1, word, NULL, sizeof(uintptr_t)) == -EINVAL;
}

static bool leads_somewhere(const struct sp_rule *r, const struct sp_stack *at)
{
	uintptr_t cfa = (r->how & SP_RULE_BY_FP ? at->fp : at->sp) + (uintptr_t)(intptr_t)r->cfa;

	if ((r->how & (SP_RULE_THERE | SP_RULE_FP_AT_FP)) && !(readable(cfa, at) && readable(at->fp, at)))
		return false;
	if (r->how & SP_RULE_THERE)
		cfa = *(const uintptr_t *)cfa;
	return readable(cfa + (uintptr_t)(intptr_t)r->ra, at) && (!r->fp || readable(cfa + (uintptr_t)(intptr_t)r->fp, at));
}

/* The rule of the frame; NULL: its object's tables are not to be read yet.  Where there is no room it is made each time. */
static const struct sp_rule_of *rule_of(const struct sp_stack *at, struct sp_rule_of *room)
{
	const struct sp_rule_of *r = known(at->to);
	const struct object *o = r ? NULL : object_of(at->to - 1);

	if (r || !o)
		return r;
	*room = (struct sp_rule_of){ .to = at->to };
	if (!o->tables.header || !sp_rule_find(&room->is, &o->tables, at->to) || !leads_somewhere(&room->is, at))
		room->is.how = SP_RULE_ENDS;
	room->is.how |= o->runtime ? SP_RULE_RUNTIME : 0;
	return keep(at->to, &room->is) ?: room;
}

uintptr_t sp_unwind_function(uintptr_t to)
{
	const struct sp_rule_of *r = known(to);

	return r ? r->is.function : 0;
}

/* ---- the walk ---------------------------------------------------------------------- */

/* The frame that this is called in, of a function that is not inlined. */
#define HERE() ((struct sp_stack){ .to = (uintptr_t)__builtin_return_address(0), .sp = (uintptr_t)__builtin_dwarf_cfa(), \
				   .fp = *(const uintptr_t *)__builtin_frame_address(0) })

static uint16_t number_of(const struct sp_rule_of *r, const struct sp_rule_of *room)
{
	return r && r != room ? (uint16_t)(r - sp_rules) : SP_NO_RULE;
}

__attribute__((noinline)) uint32_t sp_unwind(uintptr_t *frame, uint32_t most, uintptr_t caller, struct sp_path *path)
{
	struct sp_stack at = HERE();
	struct sp_rule_of room;
	const struct sp_rule_of *r;
	bool together = true;
	int saved = errno;
	uint32_t n = 0;

	memset(path->rule, 0xff, sizeof(path->rule));
	for (uint32_t left = most + OWN_MOST; left && n < most; left--) {
		r = rule_of(&at, &room);
		if ((n || at.to == caller) && !sp_internal(sp_papi_used, at.to)) {
			if (n && short_of_runtime && r && (r->is.how & SP_RULE_RUNTIME))
				break;
			if (n < SP_PATH_MOST)
				path->rule[n] = number_of(r, &room);
			together = together && n < SP_PATH_MOST && path->rule[n] != SP_NO_RULE;
			frame[n++] = at.to;
		} else if (n) {
			together = false;
		}
		if (!r || !sp_rule_step(&at, &r->is))
			break;
	}
	errno = saved;
	if (!together || !n)
		memset(path->rule, 0xff, sizeof(path->rule));
	if (!n)
		frame[n++] = caller;
	return n;
}

uint32_t sp_unwind_known(uintptr_t *frame, uint32_t most, const struct sp_stack *from, struct sp_path *path)
{
	struct sp_stack at = *from;
	uint32_t n = 0;

	memset(path->rule, 0xff, sizeof(path->rule));
	while (n < most) {
		const struct sp_rule_of *r = known(at.to);

		if (!r || sp_internal(sp_papi_used, at.to))
			return 0;
		if (n && short_of_runtime && (r->is.how & SP_RULE_RUNTIME))
			break;
		if (n < SP_PATH_MOST)
			path->rule[n] = number_of(r, NULL);
		frame[n++] = at.to;
		if (!sp_rule_step(&at, &r->is))
			break;
	}
	if (n > SP_PATH_MOST)
		path->rule[0] = SP_NO_RULE;
	return n;
}

bool sp_path_words(const struct sp_path *p, int32_t fp_at, struct sp_below *below)
{
	uint32_t i = 0, rule = sp_get(&p->rule[0]), next;
	int32_t cfa = 0;

	/* (Another thread may cut the path: one look at each.) */
	if (rule == SP_NO_RULE)
		return false;
	for (; i < SP_BELOW && (next = sp_get(&p->rule[i + 1])) != SP_NO_RULE; i++, rule = next) {
		const struct sp_rule *r = &sp_rules[rule].is;
		bool by_fp = r->how & SP_RULE_BY_FP;

		if ((r->how & ~(unsigned)(SP_RULE_BY_FP | SP_RULE_RUNTIME)) || (by_fp && !r->fp))
			return false;
		below->frame[i].base = by_fp ? fp_at : SP_SAME_BASE;
		cfa = (by_fp ? 0 : cfa) + r->cfa;
		below->frame[i].at = cfa + r->ra;
		below->frame[i].to = sp_rules[next].to;
		fp_at = r->fp ? cfa + r->fp : fp_at;
	}
	below->n = i;
	return true;
}

/* The first address on the stack whose object's tables are not known; 0: none. */
static __attribute__((noinline)) uintptr_t unknown(uint32_t most)
{
	struct sp_stack at = HERE();
	struct sp_rule_of room;
	const struct sp_rule_of *r;

	for (uint32_t left = most + OWN_MOST; left; left--) {
		r = rule_of(&at, &room);
		if (!r)
			return at.to;
		if ((short_of_runtime && (r->is.how & SP_RULE_RUNTIME)) || !sp_rule_step(&at, &r->is))
			break;
	}
	return 0;
}

void sp_unwind_learn(uint32_t frames)
{
	struct sp_object o;
	uintptr_t address;
	int saved = errno;

	for (unsigned tries = 0; tries < 16 && (address = unknown(frames)) != 0; tries++)
		if (sp_elf_find(&o, address - 1))
			sp_unwind_object(&o);
		else				/* made while the program runs */
			(void)keep(address, &(struct sp_rule){ .how = SP_RULE_ENDS });
	errno = saved;
}

/* ---- unloading ----------------------------------------------------------------------- */

static int see(const struct sp_object *o, void *seen)
{
	for (uint32_t i = 0; i < n_objects; i++)
		if (objects[i].low == o->low && objects[i].span == o->span)
			((bool *)seen)[i] = true;
	return 0;
}

void sp_unwind_unloaded(void)
{
	bool seen[OBJECTS] = { false };

	sp_elf_each(see, seen);
	for (uint32_t i = 0; i < n_objects; i++) {
		if (seen[i] || objects[i].gone)
			continue;
		sp_put(&objects[i].gone, true);
		for (uint32_t k = 0; k < RULES; k++)
			if (sp_rules[k].to - 1 - objects[i].low < objects[i].span)
				sp_put(&sp_rules[k].to, GONE);
	}
}
