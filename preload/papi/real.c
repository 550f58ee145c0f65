/* real.c: finds libpapi and fills in the table of its functions; see real.h. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "../../core/base/lock.h"
#include "dlerror.h"
#include "elf.h"
#include "real.h"

struct sp_papi *sp_papi_used;
bool sp_papi_several;
const char *sp_papi_front;

static struct sp_papi papis[4];
static unsigned n_papis;
static struct sp_lock lock;
static const struct sp_real none;

const char *const sp_call_names[SP_CALLS] = {
#define ROW(type, name, params, args, before, after) #name,
#include "papi.def"
#define FROW(name, NAME, params, args, before, after) #name,
#include "fortran.def"
};

static const struct {
	const char *name;
	size_t at;
} functions[] = {
#define AT(name) { #name, offsetof(struct sp_real, name) },
#define ROW(type, name, params, args, before, after) AT(name)
#include "papi.def"
#define FROW(name, NAME, params, args, before, after) AT(name)
#include "fortran.def"
	AT(PAPI_is_initialized) AT(PAPI_num_events) AT(PAPI_list_events) AT(PAPI_state)
		AT(PAPI_get_overflow_event_index) AT(PAPI_event_code_to_name)
			AT(PAPI_get_event_info) AT(PAPI_get_event_component)
				AT(PAPI_get_eventset_component) AT(PAPI_get_component_info)
					AT(PAPI_get_opt)
};

/* ---- loaded objects ----------------------------------------------------- */

#define INIT	"PAPI_library_init"
#define PATH	4096		/* the longest path that the kernel opens */

static bool is_papi(const struct sp_object *o)
{
	return sp_begins(o->soname, "libpapi");
}

/* The next object in the loader's order from `index` on. */
struct next {
	unsigned index;
	bool papi;			/* only objects named libpapi* */
	struct sp_object object;
	char *path;			/* [PATH], or NULL */
};

static int find_next(const struct sp_object *o, void *arg)
{
	struct next *n = arg;

	if (o->index < n->index || (n->papi && !is_papi(o)) || !*o->path || strlen(o->path) >= PATH)
		return 0;
	n->index = o->index + 1;
	n->object = *o;
	if (n->path)
		strcpy(n->path, o->path);
	return 1;
}

/* ---- which libpapi ------------------------------------------------------ */

struct source {
	void *scope;			/* a handle, if RTLD_NEXT does not find libpapi */
	struct sp_object object;	/* libpapi */
	uintptr_t address;		/* of the call */
	struct sp_object caller;	/* object of the call */
	unsigned own;			/* libsspapi's position in the loader's order */
	/* path for dlopen, copied since another thread may unload the object */
	char path[PATH];
};

/* Exclude other objects before sspapi: they call sspapi. */
static bool may_be_called(const struct source *s, const struct sp_object *o)
{
	return is_papi(o) || o->index > s->own;
}

static bool search_scope(struct source *s)
{
	void *scope = *s->path ? dlopen(s->path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	uintptr_t at = scope ? (uintptr_t)sp_real_dlsym(scope, INIT) : 0;

	if (at && !sp_is_own_code(at) && sp_elf_find(&s->object, at) &&
	    may_be_called(s, &s->object)) {
		s->scope = scope;
		return true;
	}
	if (scope)
		sp_real_dlclose(scope);
	return false;
}

/* Find the first loaded object that defines the function itself. */
static bool search_objects(struct source *s, bool papi)
{
	struct next n = { .papi = papi, .path = s->path };

	while (sp_elf_each(find_next, &n)) {
		if (!search_scope(s))
			continue;
		if (s->object.low == n.object.low)
			return true;
		sp_real_dlclose(s->scope);
		s->scope = NULL;
	}
	return false;
}

/* Find the libpapi to which the loader would bind the caller without sspapi. A libpapi that was
 * loaded before the caller is after sspapi in the global scope. Otherwise it is in the scope of the
 * caller's object (a plug-in opened with RTLD_LOCAL). A caller that has the function from a handle
 * is in neither case: use any libpapi, then any object that defines the function. */
static bool locate(struct source *s)
{
	uintptr_t next = (uintptr_t)sp_real_dlsym(RTLD_NEXT, INIT);
	struct next first = { .papi = true };
	struct sp_object own, global;
	bool is_global;

	sp_elf_find(&own, (uintptr_t)&locate);
	sp_elf_find(&s->caller, s->address);
	s->own = own.index;
	is_global = next && sp_elf_find(&global, next) && is_papi(&global);
	if (strlen(s->caller.path) < PATH && !(is_global && global.index < s->caller.index))
		strcpy(s->path, s->caller.path);
	if (!search_scope(s) && is_global) {
		s->object = global;
		return true;
	}
	if (!s->scope && !search_objects(s, true) && !search_objects(s, false) &&
	    !(next && sp_elf_find(&s->object, next)))
		return false;
	/* Skip another library's wrapper of the function. */
	if (!is_papi(&s->object) && !sp_elf_contains(&s->object, s->address) &&
	    sp_elf_each(find_next, &first))
		s->object = first.object;
	return true;
}

/* ---- its functions ---------------------------------------------------- */

/* Find a function of the table; a Fortran function in any of its spellings. */
static void *find_function(void *scope, const char *name)
{
	size_t length = strlen(name);
	void *at = NULL;
	char as[64];

	if (!sp_begins(name, "papif_"))
		return sp_real_dlsym(scope, name);
	memcpy(as, name, length);
	/* papif_x_ first, the name that most compilers use */
	for (size_t i = 1; i <= 3 && !at; i++) {
		memcpy(as + length, "__", i % 3);
		as[length + i % 3] = 0;
		at = sp_real_dlsym(scope, as);
	}
	for (char *c = as; *c && !at; c++)
		if (*c >= 'a' && *c <= 'z')
			*c ^= 'a' ^ 'A';
	return at ? at : sp_real_dlsym(scope, as);
}

/* ---- libraries before sspapi ---------------------------------------------- */

struct range {
	uintptr_t low, span;
};

static struct fronts {
	struct range at[8];		/* the loader, then the libraries */
	unsigned n;
	bool past_own;
	/* object of the first function that another library wraps before sspapi */
	struct sp_object wrapper;
	const char *name;
} fronts;

static void add_front(struct fronts *f, uintptr_t low, uintptr_t span)
{
	if (f->n < SP_COUNT(f->at))
		f->at[f->n++] = (struct range){ low, span };
}

/* Collect the objects before sspapi if one of them has such a wrapper, since it may call any of
 * them. The program counts only if it has the wrapper itself. */
static int find_front(const struct sp_object *o, void *arg)
{
	struct fronts *f = arg;

	if (sp_elf_contains(o, (uintptr_t)&locate))
		f->past_own = true;
	else if (o->base == getauxval(AT_BASE))
		add_front(f, o->low, o->span);
	else if (!f->past_own && f->wrapper.span && !is_papi(o) &&
		 (*o->path || o->low == f->wrapper.low))
		add_front(f, o->low, o->span);
	return 0;
}

static void find_wrapper(struct fronts *f)
{
	struct sp_object o;

	for (unsigned i = 0; i < SP_CALLS && !f->wrapper.span; i++) {
		uintptr_t at = (uintptr_t)find_function(RTLD_DEFAULT, functions[i].name);

		if (!at || sp_is_own_code(at) || !sp_elf_find(&o, at) || is_papi(&o))
			continue;
		f->wrapper = o;
		f->name = *o.path ? o.path : "the program";
	}
}

static void find_fronts(struct fronts *f)
{
	const char *auditors = secure_getenv("LD_AUDIT");

	f->name = auditors && *auditors ? auditors : NULL;
	find_wrapper(f);
	sp_elf_each(find_front, f);
}

/* Publish the result; call it with the lock. */
static void store_fronts(struct fronts *f)
{
	for (unsigned i = 0; i < SP_COUNT(papis); i++) {
		struct sp_papi *p = &papis[i];

		if (!p->span || p->own)
			continue;
		add_front(f, p->low, p->span);
		f->name = p->path;
	}
	fronts = *f;
	sp_papi_front = f->name;
}

bool sp_real_in_front(uintptr_t caller)
{
	for (unsigned i = 0; i < fronts.n; i++)
		if (caller - fronts.at[i].low < fronts.at[i].span)
			return true;
	return false;
}

/* ---- known libpapis --------------------------------------------------------- */

SP_AT_START static bool starting;

/* Fill in the functions. A preload library after sspapi that wraps some of them is called before
 * libpapi, as without sspapi. */
static void fill(struct sp_papi *p, const struct source *s)
{
	const struct sp_object *o = &s->object;

	memset(p, 0, sizeof(*p));
	p->base = o->base;
	p->low = o->low;
	p->span = o->span;
	p->global = starting;
	p->own = !is_papi(o) && sp_elf_contains(o, s->address) ? 0 : o->span;
	strncpy(p->path, *o->path ? o->path : o->soname, sizeof(p->path) - 1);
	for (size_t i = 0; i < SP_COUNT(functions); i++) {
		void *at = find_function(RTLD_NEXT, functions[i].name);
		struct sp_object in;

		if (s->scope && (!at || (sp_elf_find(&in, (uintptr_t)at) && is_papi(&in))))
			at = find_function(s->scope, functions[i].name);
		if (!sp_is_own_code((uintptr_t)at))
			memcpy((char *)&p->real + functions[i].at, &at, sizeof(at));
	}
}

static struct sp_papi *find_known(const struct sp_object *o)
{
	for (unsigned i = 0; i < SP_COUNT(papis); i++)
		if (papis[i].span && papis[i].low == o->low && papis[i].base == o->base)
			return &papis[i];
	return NULL;
}

static struct sp_papi *add_papi(const struct sp_papi *is)
{
	for (unsigned i = 0; i < SP_COUNT(papis); i++)
		if (!papis[i].span) {
			papis[i] = *is;
			n_papis++;
			return &papis[i];
		}
	return NULL;
}

/* Cache of calling objects, so that the loader is queried once even with several libpapis. Written
 * with the lock and read without it, as a seqlock: `sequence` is odd during a write. */
static struct {
	struct range of;
	struct sp_papi *papi;
} callers[64];
static unsigned n_callers;
static uint32_t sequence;

static void begin_write(void)
{
	store_relaxed(&sequence, sequence + 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void end_write(void)
{
	store_release(&sequence, sequence + 1);
}

static void remember(const struct source *s, struct sp_papi *p)
{
	unsigned i = n_callers++ % SP_COUNT(callers);
	bool in_object = s->caller.span;

	begin_write();
	store_relaxed(&callers[i].papi, p);
	store_relaxed(&callers[i].of.low, in_object ? s->caller.low : s->address);
	store_relaxed(&callers[i].of.span, in_object ? s->caller.span : 1);
	end_write();
}

static void forget_callers(void)
{
	begin_write();
	for (unsigned i = 0; i < SP_COUNT(callers); i++)
		store_relaxed(&callers[i].of.span, 0);
	n_callers = 0;
	end_write();
}

/* Query the loader without `lock`: the loader has its own lock, with which a constructor may call
 * PAPI. */
static struct sp_papi *add(const struct source *s)
{
	struct fronts in_front = { .n = 0 };
	struct sp_papi is, *p;
	struct sp_lock_state h;

	sp_lock_take(&lock, &h);
	p = find_known(&s->object);
	sp_lock_give(&lock, &h);
	if (!p) {
		fill(&is, s);
		find_fronts(&in_front);
	}
	sp_lock_take(&lock, &h);
	if (!p && !(p = find_known(&s->object)) && (p = add_papi(&is)) != NULL)
		store_fronts(&in_front);
	if (p)
		remember(s, p);
	sp_papi_several = n_papis > 1;
	if (p && !sp_papi_used)
		store_release(&sp_papi_used, p);
	sp_lock_give(&lock, &h);
	return p;
}

static SP_COLD struct sp_papi *search(uintptr_t caller)
{
	struct source s = { .address = caller };
	struct sp_pending_error pending;
	struct sp_papi *p = NULL;

	sp_dlerror_keep(&pending);
	if (locate(&s))
		p = add(&s);
	if (s.scope)
		sp_real_dlclose(s.scope);
	sp_dlerror_back(&pending);
	return p;
}

static struct sp_papi *find(uintptr_t caller)
{
	struct sp_papi *p = NULL;
	uint32_t is = load_acquire(&sequence);

	for (unsigned i = 0; i < SP_COUNT(callers) && !p; i++)
		if (caller - load_relaxed(&callers[i].of.low) < load_relaxed(&callers[i].of.span))
			p = load_relaxed(&callers[i].papi);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return p && !(is & 1) && load_relaxed(&sequence) == is ? p : search(caller);
}

static int by_soname(const struct sp_object *o, void *arg)
{
	(void)arg;
	return is_papi(o);
}

/* Find a libpapi that is loaded at the start now: later a signal handler may need it, or a thread
 * for which another one waits with the loader's lock. Without a libpapi do not call dlsym, since
 * libc would allocate an error message. */
__attribute__((constructor)) static void at_start(void)
{
	struct sp_pending_error pending;
	struct sp_object o;
	uintptr_t next;

	if (!sp_elf_each(by_soname, NULL))
		return;
	sp_dlerror_keep(&pending);
	next = (uintptr_t)sp_real_dlsym(RTLD_NEXT, INIT);
	sp_dlerror_back(&pending);
	starting = true;
	if (next && sp_elf_find(&o, next) && is_papi(&o))
		(void)find(next);
	starting = false;
}

static const struct sp_real *functions_of(struct sp_papi *p, bool *observed)
{
	*observed = p && p == sp_papi_used;
	return p ? &p->real : &none;
}

const struct sp_real *sp_real_search(uintptr_t caller, bool *observed)
{
	static unsigned long long loads;
	unsigned long long now = sp_elf_load_count();
	struct sp_papi *p = load_acquire(&sp_papi_used);
	struct sp_lock_state h;

	sp_lock_take(&lock, &h);
	if (now != loads)
		forget_callers();
	loads = now;
	sp_lock_give(&lock, &h);
	return functions_of(p && p->global ? p : find(caller), observed);
}

const struct sp_real *sp_real_for(uintptr_t caller, bool *observed)
{
	struct sp_papi *p = load_acquire(&sp_papi_used);

	return functions_of(p && (p->global || !sp_papi_several) ? p : find(caller), observed);
}

/* ---- for loader.c -------------------------------------------------------- */

bool sp_real_is_observed(uintptr_t address)
{
	struct sp_object o;
	const struct sp_papi *p;

	if (!sp_elf_find(&o, address) || !is_papi(&o))
		return false;
	p = find(address);
	return p && p == sp_papi_used && p->low == o.low && p->base == o.base;
}

bool sp_real_calls(uintptr_t code)
{
	const struct sp_papi *p = sp_papi_used;
	struct sp_object o;

	if (!p || !sp_elf_find(&o, code) || (o.low == p->low && o.base == p->base))
		return false;
	for (size_t i = 0; i < SP_COUNT(functions); i++)
		if (sp_elf_contains(&o,
				    *(const uintptr_t *)((const char *)&p->real + functions[i].at)))
			return true;
	return false;
}

bool sp_real_in_scope(uintptr_t caller, const char *name)
{
	struct sp_object o;
	char path[PATH];
	void *scope, *at;

	if (!sp_elf_find(&o, caller) || !*o.path || strlen(o.path) >= PATH)
		return false;
	scope = dlopen(strcpy(path, o.path), RTLD_LAZY | RTLD_NOLOAD);
	if (!scope)
		return false;
	at = sp_real_dlsym(scope, name);
	sp_real_dlclose(scope);
	return at && !sp_is_own_code((uintptr_t)at);
}

void sp_real_child(void)
{
	lock.taken = 0;
	sequence += sequence & 1;
}

static int is_still_loaded(const struct sp_object *o, void *arg)
{
	struct sp_papi *p = arg;

	return o->base == p->base && o->low == p->low && o->span == p->span &&
	       strncmp(*o->path ? o->path : o->soname, p->path, sizeof(p->path) - 1) == 0;
}

bool sp_real_unloaded(void)
{
	struct sp_lock_state h;
	bool used = false;

	sp_lock_take(&lock, &h);
	forget_callers();
	sp_lock_give(&lock, &h);
	for (unsigned i = 0; i < SP_COUNT(papis); i++) {
		struct sp_papi *p = &papis[i];

		if (!p->span || sp_elf_each(is_still_loaded, p))
			continue;
		sp_lock_take(&lock, &h);
		if (sp_papi_used == p) {
			store_release(&sp_papi_used, NULL);
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
