/* real.c: finds libpapi, fills the table of its functions; see real.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "../../core/base/lock.h"
#include "elf.h"
#include "real.h"

struct sp_papi *sp_papi_used;
bool sp_papi_several;
const char *sp_papi_front;

static struct {
	uintptr_t low, span;
} fronts[8];				/* the loader, then the libraries */
static unsigned n_fronts;

static struct sp_papi papis[4];
static unsigned n_papis;
static struct sp_lock lock;
static const struct sp_real none;

const char *const sp_call_names[SP_CALLS] = {
#define ROW(type, name, params, args, before, after) #name,
#include "papi.def"
#define FROW(name, NAME, params, args, before, after) "papif_" #name,
#include "fortran.def"
};

static const struct {
	const char *name;
	size_t at;
} functions[] = {
#define AT(name) { #name, offsetof(struct sp_real, name) },
#define ROW(type, name, params, args, before, after) AT(name)
#include "papi.def"
#define FROW(name, NAME, params, args, before, after) AT(papif_##name)
#include "fortran.def"
	AT(PAPI_is_initialized) AT(PAPI_num_events) AT(PAPI_list_events) AT(PAPI_state) AT(PAPI_get_overflow_event_index)
	AT(PAPI_event_code_to_name) AT(PAPI_get_event_info) AT(PAPI_get_event_component)
	AT(PAPI_get_eventset_component) AT(PAPI_get_component_info) AT(PAPI_get_opt)
};

/* ---- which object ----------------------------------------------------- */

struct search {
	uintptr_t caller, own;		/* addresses inside the caller and inside us */
	struct sp_object caller_object, found, first;
	bool past_own;
};

static bool is_papi(const struct sp_object *o)
{
	return sp_begins(o->soname, "libpapi") && sp_elf_symbol(o, "PAPI_library_init");
}

static int find_caller(const struct sp_object *o, void *arg)
{
	struct search *s = arg;

	if (sp_elf_holds(o, s->caller))
		s->caller_object = *o;
	return 0;
}

/* The caller's own libpapi if it names one (or is one), else the first behind us
 * in the loader's order, which is what RTLD_NEXT would be for global objects. */
static int find_papi(const struct sp_object *o, void *arg)
{
	struct search *s = arg;

	if (sp_elf_holds(o, s->own)) {
		s->past_own = true;
		return 0;
	}
	if (!is_papi(o))
		return 0;
	if (!s->first.span)
		s->first = *o;
	if (!s->found.span && s->caller_object.span &&
	    (sp_elf_holds(o, s->caller) || sp_elf_needs(&s->caller_object, o->soname)))
		s->found = *o;
	return 0;
}

/* A libpapi built under another soname, or none at all but a library that
 * offers the same functions: the first behind us that defines them. */
static int find_any(const struct sp_object *o, void *arg)
{
	struct search *s = arg;

	if (sp_elf_holds(o, s->own))
		s->past_own = true;
	else if (s->past_own && sp_elf_symbol(o, "PAPI_library_init")) {
		s->found = *o;
		return 1;
	}
	return 0;
}

static bool locate(uintptr_t caller, struct sp_object *found)
{
	struct search s = { .caller = caller, .own = (uintptr_t)&locate };

	sp_elf_each(find_caller, &s);
	sp_elf_each(find_papi, &s);
	if (!s.found.span)
		s.found = s.first;
	s.past_own = false;
	if (!s.found.span)
		sp_elf_each(find_any, &s);
	*found = s.found;
	return s.found.span != 0;
}

/* ---- its functions ---------------------------------------------------- */

/* Another preload library between us and libpapi that also stands in front of
 * some functions is called first, as it would be without us. */
struct fill {
	struct sp_papi *p;
	bool past_own;
};

/* A function of the table, Fortran's in any of its spellings. */
static uintptr_t function_of(const struct sp_object *o, const char *name)
{
	size_t length = strlen(name);
	uintptr_t at = 0;
	char as[64];

	if (!sp_begins(name, "papif_"))
		return sp_elf_symbol(o, name);
	memcpy(as, name, length);
	for (size_t i = 1; i <= 3 && !at; i++) {	/* papif_x_ is what most compilers call */
		memcpy(as + length, "__", i % 3);
		as[length + i % 3] = 0;
		at = sp_elf_symbol(o, as);
	}
	for (char *c = as; *c && !at; c++)
		if (*c >= 'a' && *c <= 'z')
			*c ^= 'a' ^ 'A';
	return at ? at : sp_elf_symbol(o, as);
}

static bool wraps(const struct sp_object *o)
{
	for (size_t i = 0; i < SP_COUNT(functions); i++)
		if (function_of(o, functions[i].name))
			return true;
	return false;
}

static void add_front(const struct sp_object *o)
{
	if (n_fronts == SP_COUNT(fronts))
		return;
	fronts[n_fronts].low = o->low;
	fronts[n_fronts++].span = o->span;
}

/* Who is asked for a function of PAPI before us. */
static int find_front(const struct sp_object *o, void *arg)
{
	bool *past_own = arg;

	if (sp_elf_holds(o, (uintptr_t)&locate)) {
		*past_own = true;
	} else if (o->base == getauxval(AT_BASE)) {
		add_front(o);
	} else if (!*past_own && !is_papi(o) && wraps(o)) {
		add_front(o);
		sp_papi_front = *o->path ? o->path : "the program";
	}
	return 0;
}

static void find_fronts(void)
{
	const char *auditors = secure_getenv("LD_AUDIT");
	bool past_own = false;

	n_fronts = 0;
	sp_papi_front = auditors && *auditors ? auditors : NULL;
	sp_elf_each(find_front, &past_own);
	for (unsigned i = 0; i < SP_COUNT(papis); i++) {
		struct sp_papi *p = &papis[i];

		if (!p->span || p->own)
			continue;
		add_front(&(struct sp_object){ .low = p->low, .span = p->span });
		sp_papi_front = p->path;
	}
}

bool sp_real_in_front(uintptr_t caller)
{
	for (unsigned i = 0; i < n_fronts; i++)
		if (caller - fronts[i].low < fronts[i].span)
			return true;
	return false;
}

static int fill_from(const struct sp_object *o, void *arg)
{
	struct fill *f = arg;
	bool last = o->base == f->p->base && o->low == f->p->low;

	if (sp_elf_holds(o, (uintptr_t)&locate)) {
		f->past_own = true;
		return 0;
	}
	if (!last && (!f->past_own || is_papi(o)))
		return 0;		/* another libpapi stands in front of nothing */
	for (size_t i = 0; i < SP_COUNT(functions); i++) {
		uintptr_t *to = (uintptr_t *)((char *)&f->p->real + functions[i].at);

		if (!*to)
			*to = function_of(o, functions[i].name);
	}
	return last;
}

/* holds: it has the application's code, too. */
static struct sp_papi *add(const struct sp_object *o, bool holds)
{
	struct sp_papi *p = NULL;

	for (unsigned i = 0; i < SP_COUNT(papis) && !p; i++)
		if (!papis[i].span)
			p = &papis[i];
	if (!p)
		return NULL;
	memset(p, 0, sizeof(*p));
	p->base = o->base;
	p->low = o->low;
	strncpy(p->path, *o->path ? o->path : o->soname, sizeof(p->path) - 1);
	sp_elf_each(fill_from, &(struct fill){ .p = p });
	p->span = o->span;
	p->own = holds ? 0 : o->span;
	find_fronts();
	n_papis++;
	return p;
}

static struct sp_papi *known(const struct sp_object *o)
{
	for (unsigned i = 0; i < SP_COUNT(papis); i++)
		if (papis[i].span && papis[i].low == o->low && papis[i].base == o->base)
			return &papis[i];
	return NULL;
}

static struct sp_papi *find(uintptr_t caller)
{
	struct sp_object o;
	struct sp_papi *p;
	struct sp_held h;

	if (!locate(caller, &o))
		return NULL;
	sp_lock_take(&lock, &h);
	p = known(&o);
	if (!p)
		p = add(&o, !is_papi(&o) && sp_elf_holds(&o, caller));
	if (n_papis > 1)
		sp_papi_several = true;
	if (p && !sp_papi_used)
		sp_publish(&sp_papi_used, p);
	sp_lock_give(&lock, &h);
	return p;
}

static const struct sp_real *answer(struct sp_papi *p, bool *observed)
{
	*observed = p && p == sp_papi_used;
	return p ? &p->real : &none;
}

const struct sp_real *sp_real_search(uintptr_t caller, bool *observed)
{
	return answer(find(caller), observed);
}

const struct sp_real *sp_real_for(uintptr_t caller, bool *observed)
{
	struct sp_papi *p = sp_acquire(&sp_papi_used);

	return answer(!p || sp_papi_several ? find(caller) : p, observed);
}

/* ---- for the loader's side -------------------------------------------- */

struct probe {
	uintptr_t address;
	const char *name;
	bool yes;
	struct sp_object object;
};

static int at_address(const struct sp_object *o, void *arg)
{
	struct probe *p = arg;

	if (!sp_elf_holds(o, p->address))
		return 0;
	p->yes = is_papi(o) && sp_elf_symbol(o, p->name) == p->address;
	p->object = *o;
	return 1;
}

bool sp_real_is(uintptr_t address, const char *name)
{
	struct probe probe = { .address = address, .name = name };
	struct sp_papi *p;
	struct sp_held h;

	sp_elf_each(at_address, &probe);
	if (!probe.yes)
		return false;
	sp_lock_take(&lock, &h);
	p = known(&probe.object);
	if (!p)
		p = add(&probe.object, false);
	if (n_papis > 1)
		sp_papi_several = true;
	if (p && !sp_papi_used)
		sp_publish(&sp_papi_used, p);
	sp_lock_give(&lock, &h);
	return p && p == sp_papi_used;
}

bool sp_real_calls(uintptr_t code)
{
	struct probe probe = { .address = code, .name = "" };
	const struct sp_papi *p = sp_papi_used;

	if (!p || !sp_elf_each(at_address, &probe) || (probe.object.low == p->low && probe.object.base == p->base))
		return false;
	for (size_t i = 0; i < SP_COUNT(functions); i++)
		if (sp_elf_holds(&probe.object, *(const uintptr_t *)((const char *)&p->real + functions[i].at)))
			return true;
	return false;
}

static int defines(const struct sp_object *o, void *arg)
{
	struct probe *p = arg;

	p->yes = o->base == sp_papi_used->base && o->low == sp_papi_used->low && sp_elf_symbol(o, p->name);
	return p->yes;
}

bool sp_real_has(const char *name)
{
	struct probe probe = { .name = name };

	return sp_papi_used && sp_elf_each(defines, &probe);
}

void sp_real_child(void)
{
	lock.taken = 0;
}

static int still_there(const struct sp_object *o, void *arg)
{
	struct sp_papi *p = arg;

	return o->base == p->base && o->low == p->low && sp_elf_symbol(o, "PAPI_library_init");
}

bool sp_real_unloaded(void)
{
	struct sp_held h;
	bool used = false;

	for (unsigned i = 0; i < SP_COUNT(papis); i++) {
		struct sp_papi *p = &papis[i];

		if (!p->span || sp_elf_each(still_there, p))
			continue;
		sp_lock_take(&lock, &h);
		if (sp_papi_used == p) {
			sp_publish(&sp_papi_used, NULL);
			used = true;
		}
		p->span = 0;
		n_papis--;
		if (n_papis < 2)
			sp_papi_several = false;
		sp_lock_give(&lock, &h);
	}
	return used;
}

struct behind {
	const char *name;
	uintptr_t at;
	bool past_own;
};

static int define_behind(const struct sp_object *o, void *arg)
{
	struct behind *b = arg;

	if (sp_elf_holds(o, (uintptr_t)&locate))
		b->past_own = true;
	else if (b->past_own)
		b->at = sp_elf_symbol(o, b->name);
	return b->at != 0;
}

void *sp_real_next(const char *name)
{
	struct behind b = { .name = name };

	sp_elf_each(define_behind, &b);
	if (!b.at)			/* opened by dlopen: libc stands in front of us */
		sp_elf_each(define_behind, &b);
	return (void *)b.at;
}
