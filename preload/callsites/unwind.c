/* unwind.c: finds call paths by libunwind, and by the rules that earlier walks left; see unwind.h.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "../../core/base/lock.h"
#include "../../core/base/sys.h"
#include "../papi/dlerror.h"
#include "../process/own-libraries.h"
#include "../process/process.h"
#include "../process/diagnostic.h"
#include "../walker/walker.h"
#include "stack-hash.h"
#include "unwind.h"

#ifndef MADV_POPULATE_READ		/* Linux 5.14 */
#define MADV_POPULATE_READ 22
#endif
#define TABLES_BYTES_MAX (16ul << 20)	/* bytes read of one object's tables */
#define OBJECTS_MAX	64u
#define RULES_MAX	1024u		/* a power of 2 */
#define ENDS_MAX	192u		/* functions with which paths end */
#define OWN_FRAMES_MAX	24u		/* frames of sspapi and libpapi below the program's */
#define PAGES_MAX	(SP_MAX_FRAME / 4096)	/* of a stack, verified at once */
#define TRIES		64u		/* attempts while another thread walks, */
/* and as many as fit: a walk takes 5 us, the first of an object more */
#define TRIES_NS	2000000u
#define UNLOADED	1u		/* in place of the address of unloaded code */
#define CLAIMED		2u		/* being written */

static struct rule_entry {
	uintptr_t to;			/* the return address; free or invalid if no address */
	struct sp_rule rule;
} * rules;

/* Functions with which paths end. */
static uintptr_t ends[ENDS_MAX];
static uint32_t n_ends;

static struct object {
	uintptr_t low, span;
	struct sp_tables tables;
	bool runtime, is_unloaded;
} objects[OBJECTS_MAX];
static uint32_t n_objects;
static struct sp_lock lock;		/* guards writes to `objects` */
static bool stops_at_runtime;

/* ---- notes ------------------------------------------------------------------------- */

enum { IN_HANDLER, OTHER_UNWINDER, NO_WALKER, LEFT_BY_FORK, NOTES };
static const char *const notes[NOTES] = {
	"callers of some PAPI calls are not stored: the calls were made in a signal handler",
	"callers of some PAPI calls are not stored: another thread was unwinding at that moment",
	"callers are not stored: " SP_WALKER_LIBRARY
	" or libunwind cannot be loaded, or the program has its own",
	"callers are not stored: this process was forked while its parent was unwinding",
};
static uint32_t pending_notes, reported_notes;		/* a bit for each */

static void note_failure(unsigned which)
{
	__atomic_fetch_or(&pending_notes, (1u << which) & ~load_relaxed(&reported_notes),
			  __ATOMIC_RELAXED);
	if (load_relaxed(&pending_notes))
		store_relaxed(&sp_process.sites_due, true);
}

bool sp_unwind_has_notes(void)
{
	return load_relaxed(&pending_notes) != 0;
}

void sp_unwind_report_notes(void)
{
	uint32_t now = __atomic_exchange_n(&pending_notes, 0, __ATOMIC_RELAXED);

	__atomic_fetch_or(&reported_notes, now, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < NOTES; i++)
		if (now & 1u << i)
			sp_process_note_quiet(notes[i]);
}

/* ---- objects ------------------------------------------------------------------- */

/* Recognizes libraries that call main, a thread's function or a parallel region's: paths into
 * them do not describe the program. */
static bool is_runtime(const char *path)
{
	static const char *const names[] = { "libc.so.",     "libpthread.so.", "ld-linux",
					     "libgomp.so.",  "libomp.so",      "libiomp5.so",
					     "libstdc++.so." };
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	for (unsigned i = 0; i < SP_COUNT(names); i++)
		if (sp_begins(base, names[i]))
			return true;
	return false;
}

/* Populates the pages, so that later reads cause no page fault. */
static void read_pages(const struct sp_tables *t)
{
	uintptr_t low = t->low & ~(uintptr_t)4095;

	if (sp_sys(SYS_madvise, low, t->end - low, MADV_POPULATE_READ) < 0)
		for (uintptr_t at = low; at < t->end; at += 4096)
			(void)*(volatile const char *)at;
}

/* Finds the start of .eh_frame, if it lies below its header. */
static uintptr_t find_frame_start(uintptr_t header, uintptr_t low)
{
	const unsigned char *h = (const unsigned char *)header;
	int32_t first_slot;

	/* four bytes, relative to their own address, as all linkers write it */
	if (h[1] != 0x1b)
		return header;
	memcpy(&first_slot, h + 4, sizeof(first_slot));
	first_slot += 4;
	return first_slot < 0 && header - low >= -(uintptr_t)(intptr_t)first_slot
		       ? header + (uintptr_t)(intptr_t)first_slot
		       : header;
}

/* Finds the header and the tables, which one PT_LOAD entry contains, usually with the tables
 * above the header. */
static bool find_tables(struct sp_tables *t, const struct sp_object *o)
{
	const ElfW(Phdr) *p = o->header, *header = NULL;

	for (unsigned i = 0; i < o->headers; i++)
		if (p[i].p_type == PT_GNU_EH_FRAME && p[i].p_memsz >= 12)
			header = &p[i];
	for (unsigned i = 0; header && i < o->headers; i++)
		if (p[i].p_type == PT_LOAD && header->p_vaddr - p[i].p_vaddr < p[i].p_filesz) {
			uintptr_t low = o->base + p[i].p_vaddr;

			t->header = o->base + header->p_vaddr;
			t->low = find_frame_start(t->header, low);
			t->end = (uintptr_t)sp_min(low + p[i].p_filesz, t->low + TABLES_BYTES_MAX);
			return t->end - t->header >= 12;
		}
	return false;
}

static const struct object *find_object(uintptr_t address)
{
	for (uint32_t i = 0, n = load_acquire(&n_objects); i < n; i++)
		if (!load_acquire(&objects[i].is_unloaded) &&
		    address - objects[i].low < objects[i].span)
			return &objects[i];
	return NULL;
}

void sp_unwind_object(const struct sp_object *o)
{
	struct object new_object = {
		.low = o->low, .span = o->span, .runtime = is_runtime(o->path), .is_unloaded = true
	};
	struct sp_lock_state lock_state;
	uint32_t i = 0;

	if (find_object(o->low))
		return;
	if (!(new_object.runtime && stops_at_runtime) && find_tables(&new_object.tables, o))
		read_pages(&new_object.tables);
	else
		new_object.tables.header = 0;
	sp_lock_take(&lock, &lock_state);
	while (i < n_objects && !objects[i].is_unloaded)
		i++;
	if (!find_object(o->low) && i < OBJECTS_MAX) {
		objects[i] = new_object;
		store_release(&objects[i].is_unloaded, false);
		if (i == n_objects)
			store_release(&n_objects, i + 1);
	}
	sp_lock_give(&lock, &lock_state);
}

/* Adds objects that need libpapi: they may be on no start's stack, if they were jumped to. */
static int add_caller_object(const struct sp_object *o, void *arg)
{
	bool calls = !*o->path;

	(void)arg;
	for (const ElfW(Dyn) *d = o->dynamic; d && o->strings && d->d_tag != DT_NULL; d++)
		calls |= d->d_tag == DT_NEEDED &&
			 sp_begins(o->strings + d->d_un.d_val, "libpapi.so");
	if (calls)
		sp_unwind_object(o);
	return 0;
}

bool sp_unwind_prepare(bool runtime_left_out)
{
	stops_at_runtime = runtime_left_out;
	if (!rules) {
		void *memory = sp_map(RULES_MAX * sizeof(*rules));

		if (!memory)
			return false;
		sp_wipe_on_fork(memory, RULES_MAX * sizeof(*rules));
		store_release(&rules, memory);
	}
	memset(rules, 0, RULES_MAX * sizeof(*rules));
	n_ends = 0;
	sp_elf_each(add_caller_object, NULL);
	return true;
}

/* ---- the stack in use --------------------------------------------------------------- */

/* Checks a page by FUTEX_WAKE: the kernel finds the futex's page and counts no fault. No thread
 * waits there. valgrind reports a word that was never written: if the page has a written one,
 * pass that. */
static bool is_readable(uintptr_t word)
{
	return sp_sys(SYS_futex, word & ~(uintptr_t)3, FUTEX_WAKE, 0, NULL, NULL, 0) >= 0;
}

/* Starts a new stack with the page of the return address: only that is known to be readable. */
static void reset_stack(uintptr_t sp)
{
	sp_thread_state.stack_low = (sp - sizeof(uintptr_t)) & ~(uintptr_t)4095;
	sp_thread_state.stack_end = sp_thread_state.stack_low + 4096;
	sp_thread_state.stack_whole = false;
}

/* Continues with the verified stack if the stack pointer belongs to it. The stack may have grown
 * since. */
static void select_stack(uintptr_t sp)
{
	uintptr_t low = (sp - sizeof(uintptr_t)) & ~(uintptr_t)4095, at = sp_thread_state.stack_low;

	if (low - sp_thread_state.stack_low < sp_thread_state.stack_end - sp_thread_state.stack_low)
		return;
	while (at > low && at - low <= 64 * 4096ul &&
	       is_readable(at - 4096 == low ? sp - sizeof(uintptr_t) : at - 4096))
		at -= 4096;
	if (at == low)
		sp_thread_state.stack_low = low;
	else
		reset_stack(sp);
}

/* Checks that a word of the stack may be read. Verifies page after page, so that neither another
 * stack nor a guard page lies between. */
static bool is_on_stack(uintptr_t word)
{
	if (word < sp_thread_state.stack_low || word % sizeof(uintptr_t))
		return false;
	for (unsigned pages = 0; word >= sp_thread_state.stack_end && !sp_thread_state.stack_whole;
	     pages++) {
		if (word - sp_thread_state.stack_end >= SP_MAX_FRAME || pages > PAGES_MAX)
			return false;
		if (is_readable(word - sp_thread_state.stack_end < 4096
					? word
					: sp_thread_state.stack_end))
			sp_thread_state.stack_end += 4096;
		else
			sp_thread_state.stack_whole = true;
	}
	return word < sp_thread_state.stack_end;
}

/* Reads a word of the stack. Sanitizers report words between variables. */
__attribute__((no_sanitize("thread"), no_sanitize("address"))) static inline bool read_word(
	uintptr_t *word, uintptr_t at, uintptr_t sp)
{
	if (SP_UNLIKELY(at < sp) || SP_UNLIKELY(at % sizeof(at)) ||
	    (SP_UNLIKELY(at >= sp_thread_state.stack_end) && !is_on_stack(at)))
		return false;
	*word = *(const uintptr_t *)at;
	return true;
}

/* Steps to the caller's frame. False: it is not on this stack. */
static inline bool step_by_rule(struct sp_stack *at, const struct sp_rule *r)
{
	uintptr_t cfa = (r->how & SP_RULE_BY_FP ? at->fp : at->sp) + (uintptr_t)(intptr_t)r->cfa,
		  to, fp = at->fp;

	if ((r->how & SP_RULE_ENDS) || ((r->how & SP_RULE_THERE) && !read_word(&cfa, cfa, at->sp)))
		return false;
	if (cfa <= at->sp || cfa - at->sp >= SP_MAX_FRAME ||
	    !read_word(&to, cfa + (uintptr_t)(intptr_t)r->ra, at->sp))
		return false;
	if ((r->how & SP_RULE_FP_AT_FP) || r->fp)
		if (!read_word(&fp,
			       r->how & SP_RULE_FP_AT_FP ? at->fp
							 : cfa + (uintptr_t)(intptr_t)r->fp,
			       at->sp))
			return false;
	*at = (struct sp_stack){ sp_unsigned_address(to), cfa, fp };
	return at->to != 0;
}

/* ---- rules ------------------------------------------------------------------------- */

static uint32_t first_slot(uintptr_t to)
{
	return (uint32_t)(to * 0x9e3779b97f4a7c15ull >> 40) % RULES_MAX;
}

static const struct rule_entry *find_rule(uintptr_t to)
{
	for (uint32_t i = first_slot(to), tries = 0; rules && tries < RULES_MAX;
	     i = (i + 1) % RULES_MAX, tries++) {
		uintptr_t entry_to = load_acquire(&rules[i].to);

		if (entry_to == to)
			return &rules[i];
		if (!entry_to)
			break;
	}
	return NULL;
}

static bool is_end(uintptr_t function)
{
	for (uint32_t i = 0, n = load_acquire(&n_ends); i < n; i++)
		if (ends[i] == function)
			return true;
	return false;
}

static const struct rule_entry *store_rule(uintptr_t to, const struct sp_rule *rule)
{
	const struct rule_entry *r = find_rule(to);

	for (uint32_t i = first_slot(to), tries = 0; !r && rules && tries < RULES_MAX / 2;
	     i = (i + 1) % RULES_MAX, tries++) {
		uintptr_t was = load_relaxed(&rules[i].to);

		if ((was && was != UNLOADED) || !sp_cas(&rules[i].to, &was, CLAIMED))
			continue;
		rules[i].rule = *rule;
		rules[i].rule.ends_path = is_end(rule->function);
		store_release(&rules[i].to, to);
		/* sp_unwind_end_at() finds the rule, or this thread finds the function. */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (is_end(rule->function))
			store_relaxed(&rules[i].rule.ends_path, true);
		r = &rules[i];
	}
	return r;
}

uintptr_t sp_unwind_function(uintptr_t to)
{
	const struct rule_entry *r = find_rule(to);

	return r ? r->rule.function : 0;
}

void sp_unwind_end_at(uintptr_t function)
{
	if (n_ends == ENDS_MAX || is_end(function))
		return;
	ends[n_ends] = function;
	store_release(&n_ends, n_ends + 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);	/* see store_rule() */
	for (uint32_t i = 0; i < RULES_MAX; i++)
		if (load_acquire(&rules[i].to) > CLAIMED && rules[i].rule.function == function)
			store_relaxed(&rules[i].rule.ends_path, true);
}

bool sp_unwind_ends_at(uintptr_t to)
{
	const struct rule_entry *r = find_rule(to);

	return r && load_relaxed(&r->rule.ends_path);
}

/* ---- who walks ----------------------------------------------------------------------- */

static const struct sp_walker *walker;
static uint32_t is_walking;		/* 1 while a thread walks or forks */
static bool is_stuck;			/* a bare system call forked the process during a walk */
static int loading_pid;			/* pid of the process that loads the walker now; 0: none */

static bool begin_walk(struct sp_lock_state *lock_state)
{
	uint64_t until = 0;
	bool in = false;

	sp_signals_block(lock_state);		/* no handler interrupts a walk */
	for (unsigned tries = 0; !in; tries++) {
		uint32_t none = 0;
		uint64_t now;

		in = sp_cas(&is_walking, &none, 1);
		if (in)
			break;
		now = sp_ns_of(CLOCK_MONOTONIC);
		if (!until)
			until = now + TRIES_NS;
		if (tries >= TRIES && now > until)
			break;
		(void)sp_sys(SYS_sched_yield);
	}
	if (!in)
		sp_signals_restore(lock_state);
	return in;
}

static void end_walk(const struct sp_lock_state *lock_state)
{
	store_release(&is_walking, 0);
	sp_signals_restore(lock_state);
}

/* Waits before fork for another thread's walk, which takes microseconds: the child would wait
 * for libunwind's lock for ever. */
static void before_fork(void)
{
	struct timespec delay = { 0, 20000 };
	uint32_t none = 0;
	int saved = errno;

	while (!sp_cas(&is_walking, &none, 1)) {
		none = 0;
		(void)sp_sys(SYS_nanosleep, &delay, NULL);
	}
	errno = saved;
}

static void after_fork(void)
{
	store_release(&is_walking, 0);
}

/* Registers early: a fork in progress does not call handlers that are registered then. */
__attribute__((constructor)) static void register_fork_handlers(void)
{
	(void)pthread_atfork(before_fork, after_fork, after_fork);
}

void sp_unwind_reset_child(void)
{
	n_objects = 0;			/* a child's page table lacks file pages */
	memset(&lock, 0, sizeof(lock));
	is_stuck |= is_walking != 0;
	reported_notes = pending_notes = 0;
}

static const struct sp_tables *find_tables_at(uintptr_t code)
{
	const struct object *o = find_object(code);

	return o ? &o->tables : NULL;
}

static const struct sp_walk_callbacks callbacks = { is_on_stack, find_tables_at };

static int add_own_object(const struct sp_object *o, void *address)
{
	if (!sp_elf_contains(o, (uintptr_t)address))
		return 0;
	sp_unwind_object(o);
	return 1;
}

/* Recognizes the program's own libunwind for other processes: the walker would use it, and it
 * opens a pipe. */
static int is_program_libunwind(const struct sp_object *o, void *arg)
{
	(void)arg;
	return sp_begins(o->soname, "libunwind-x86_64.so.") ||
	       sp_begins(o->soname, "libunwind-aarch64.so.");
}

static void open_walker(void)
{
	struct sp_pending_error pending;
	void *library;

	if (sp_elf_each(is_program_libunwind, NULL))
		return;
	sp_dlerror_keep(&pending);
	library = sp_own_library_open(SP_WALKER_LIBRARY);
	walker = library ? sp_real_dlsym(library, SP_WALKER_SYMBOL) : NULL;
	sp_dlerror_back(&pending);
}

bool sp_unwind_load(void)
{
	static bool tried;
	int own = (int)sp_sys(SYS_getpid), was = load_relaxed(&loading_pid);
	struct sp_lock_state lock_state;

	if (!tried && (!was || was == own)) {
		store_relaxed(&loading_pid, own);
		open_walker();
		tried = true;
		store_relaxed(&loading_pid, 0);
	}
	if (!walker || is_stuck) {
		note_failure(is_stuck ? LEFT_BY_FORK : NO_WALKER);
		return false;
	}
	sp_elf_each(add_own_object, (void *)(uintptr_t)walker->rehearse);
	if (begin_walk(&lock_state)) {
		reset_stack((uintptr_t)__builtin_frame_address(0));
		walker->rehearse(&callbacks);
		end_walk(&lock_state);
	}
	return true;
}

/* ---- the walk ---------------------------------------------------------------------- */

static uint16_t rule_number(const struct rule_entry *r)
{
	return r ? (uint16_t)(r - rules) : SP_NO_RULE;
}

/* Checks for the code of rt_sigreturn, to which a signal handler returns. */
static bool is_signal_return(uintptr_t to)
{
#ifdef __x86_64__
	static const unsigned char code[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
#else
	static const unsigned char code[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 };
#endif
	return is_readable(to) && is_readable(to + sizeof(code) - sizeof(uintptr_t)) &&
	       memcmp((const void *)to, code, sizeof(code)) == 0;
}

/* Checks that an object is loaded at the address. Without libc's help, assume that. */
static bool can_be_code(uintptr_t to)
{
	struct sp_object o;

#ifdef DLFO_STRUCT_HAS_EH_DBASE
	return find_object(to - 1) || sp_elf_at(&o, to - 1);
#else
	(void)o;
	return true;
#endif
}

/* A path during the search. */
struct found_path {
	uintptr_t *frame;
	uint32_t n;
	struct sp_path *path;
	bool is_repeatable;
	uintptr_t unknown_address;	/* in an unknown object; 0: none */
};

static void append_rule(struct found_path *f, uint16_t number)
{
	if (number != SP_NO_RULE)
		f->path->rule[f->n] = number;
	else
		f->is_repeatable = false;
}

/* Checks whether a frame lies beyond the program's call of PAPI. True: the path ends before it. */
static bool is_path_end(struct found_path *f, uintptr_t to, const struct object *o)
{
	if ((!o || o->runtime) && is_signal_return(to)) {
		(void)store_rule(to, &(struct sp_rule){ .how = SP_RULE_ENDS | SP_RULE_SIGNAL });
		f->n = 1;
		f->is_repeatable = false;
		note_failure(IN_HANDLER);
		return true;
	}
	if (!o && !can_be_code(to)) {
		append_rule(f, SP_DEAD_END);
		return true;
	}
	if (o && o->runtime && stops_at_runtime) {
		append_rule(f, rule_number(store_rule(to, &(struct sp_rule){
								  .how = SP_RULE_ENDS |
									 SP_RULE_RUNTIME })));
		return true;
	}
	return false;
}

static void walk_stack(struct found_path *f, uint32_t most, const struct sp_stack *from,
		       uintptr_t caller)
{
	struct sp_stack at = *from;
	struct sp_rule rule;
	enum sp_walk outcome;

	reset_stack(at.sp);
	if (!walker->begin(&callbacks))
		return;
	for (uint32_t left = most + OWN_FRAMES_MAX; left && f->n < most; left--) {
		const uintptr_t to = at.to;
		const struct object *o = find_object(to - 1);
		const struct rule_entry *r;

		if (f->n && is_path_end(f, to, o))
			return;
		outcome = walker->step(&at, &rule);
		if (outcome == SP_WALK_ENDS)
			rule = (struct sp_rule){ .how = SP_RULE_ENDS };
		r = outcome == SP_WALK_UNKNOWN || outcome == SP_WALK_LOST ? NULL
									  : store_rule(to, &rule);
		if ((f->n || to == caller) && !sp_internal(sp_papi_used, to)) {
			append_rule(f, rule_number(r));
			f->frame[f->n++] = to;
			if (r && load_relaxed(&r->rule.ends_path))
				return;
		} else {
			f->is_repeatable &= !f->n;
		}
		if (outcome == SP_WALK_UNKNOWN)
			f->unknown_address = to;
		if (outcome == SP_WALK_BEYOND && f->n && f->n < most)
			append_rule(f, SP_DEAD_END);
		if (outcome != SP_WALK_ON)
			return;
	}
}

static int add_object(const struct sp_object *o, void *address)
{
	if (!sp_elf_contains(o, *(uintptr_t *)address - 1))
		return 0;
	sp_unwind_object(o);
	return 1;
}

uint32_t sp_unwind(uintptr_t *frame, uint32_t most, const struct sp_stack *from, uintptr_t caller,
		   struct sp_path *path, bool may_add_objects)
{
	struct found_path f = { .frame = frame, .path = path };
	struct sp_lock_state lock_state;
	int saved = errno;

	for (unsigned tries = 0; tries < 16; tries++) {
		memset(path->rule, 0xff, sizeof(path->rule));
		f.n = 0;
		f.is_repeatable = true;
		f.unknown_address = 0;
		if (is_stuck || !begin_walk(&lock_state)) {
			note_failure(is_stuck ? LEFT_BY_FORK : OTHER_UNWINDER);
			break;
		}
		walk_stack(&f, most, from, caller);
		end_walk(&lock_state);
		if (!may_add_objects || !f.unknown_address ||
		    !sp_elf_each(add_object, &f.unknown_address))
			break;
	}
	errno = saved;
	if (!f.n || !f.is_repeatable)
		memset(path->rule, 0xff, sizeof(path->rule));
	if (!f.n)
		frame[f.n++] = caller;
	return f.n;
}

/* ---- known paths ---------------------------------------------------------------------- */

uint32_t sp_unwind_by_rules(uintptr_t *frame, uint32_t most, const struct sp_stack *from,
			    struct sp_path *path)
{
	struct found_path f = { .frame = frame, .path = path, .is_repeatable = true };
	struct sp_stack at = *from;

	memset(path->rule, 0xff, sizeof(path->rule));
	select_stack(at.sp);
	while (f.n < most) {
		const struct rule_entry *r = find_rule(at.to);

		if (r && f.n && (r->rule.how & SP_RULE_SIGNAL)) {
			note_failure(IN_HANDLER);
			f.n = 1;
			f.is_repeatable = false;
			break;
		}
		if (!r && f.n && !can_be_code(at.to)) {
			append_rule(&f, SP_DEAD_END);
			break;
		}
		if (!r || sp_internal(sp_papi_used, at.to))
			return 0;
		append_rule(&f, rule_number(r));
		if (f.n && stops_at_runtime && (r->rule.how & SP_RULE_RUNTIME))
			break;
		frame[f.n++] = at.to;
		if (load_relaxed(&r->rule.ends_path))
			break;
		if (!step_by_rule(&at, &r->rule)) {
			if (!(r->rule.how & SP_RULE_ENDS) && f.n < most)
				append_rule(&f, SP_DEAD_END);
			break;
		}
	}
	if (!f.is_repeatable)
		memset(path->rule, 0xff, sizeof(path->rule));
	return f.n;
}

/* Iterates over the words of a path. */
struct path_words {
	const uint16_t *rule;
	uint32_t i, most;
	bool is_variable;		/* a word's offset is not constant */
	bool is_at_end;			/* the last word was SP_STEP_DEAD_END */
	/* offsets in the frame, from its base; reach: the highest */
	int32_t cfa, fp_at, reach;
};

static uint32_t rule_at(const struct path_words *w, uint32_t i)
{
	return i < w->most ? load_relaxed(&w->rule[i]) : SP_NO_RULE;
}

/* Gets the next word; false: the path ends. Another thread may cut the path meanwhile. */
static bool next_word(struct path_words *w, struct sp_stack_word *word)
{
	uint32_t current = rule_at(w, w->i), next = rule_at(w, w->i + 1);
	const struct sp_rule *r;
	bool by_fp;

	if (w->is_at_end || current == SP_NO_RULE || next == SP_NO_RULE)
		return false;
	r = &rules[current].rule;
	by_fp = r->how & SP_RULE_BY_FP;
	w->is_variable =
		(r->how & ~(unsigned)(SP_RULE_BY_FP | SP_RULE_RUNTIME)) || (by_fp && !r->fp);
	word->base = by_fp ? w->fp_at : SP_SAME_BASE;
	w->cfa = (by_fp ? 0 : w->cfa) + r->cfa;
	word->at = w->cfa + r->ra;
	w->is_at_end = next == SP_DEAD_END;
	word->to = w->is_at_end ? SP_STEP_DEAD_END : rules[next].to;
	w->is_variable |= word->at < 0;
	w->fp_at = r->fp ? w->cfa + r->fp : w->fp_at;
	w->reach = w->reach > w->cfa ? w->reach : w->cfa;
	w->reach = w->reach > w->fp_at ? w->reach : w->fp_at;
	w->i++;
	return !w->is_variable;
}

bool sp_path_get_words(const uint16_t *rule, uint32_t most, struct sp_known_site *known)
{
	struct path_words w = { .rule = rule, .most = most, .fp_at = SP_FIRST_FP };
	struct sp_stack_word one;
	uint32_t n = 0;

	if (rule_at(&w, 0) == SP_NO_RULE)
		return false;
	known->by_fp = false;
	while (next_word(&w, &one)) {
		if (n == SP_STACK_WORDS)
			return false;
		known->by_fp |= one.base != SP_SAME_BASE;
		known->word[n++] = one;
	}
	known->has_dead_end = w.is_at_end;
	known->word[n].to = 0;
	/* Words are below the last frame's end. */
	known->limit = sp_thread_state.stack_end - (uintptr_t)w.reach;
	known->span = known->limit - sp_thread_state.stack_low;
	return !w.is_variable &&
	       (uint32_t)w.reach <= sp_thread_state.stack_end - sp_thread_state.stack_low;
}

/* Checks that an address fits in a key: Linux uses more than 48 bits only on request. */
static inline bool is_step(uintptr_t to)
{
	return !(to >> 48);
}

/* Reads a word of the stack. room: bytes above sp that are verified; the stack may have more. */
__attribute__((no_sanitize("thread"), no_sanitize("address"))) static inline uintptr_t
read_verified_word(uintptr_t at, uintptr_t sp, uintptr_t room)
{
	uintptr_t word;

	if (SP_LIKELY(at - sp < room))
		return *(const uintptr_t *)at;
	return read_word(&word, at, sp) ? word : SP_STEP_DEAD_END;
}

/* Reads the return address to which a step leads, in the frame at *base. */
static inline uintptr_t follow_step(uintptr_t *base, int32_t at, int32_t fp,
				    const struct sp_stack *from, uintptr_t room)
{
	if (SP_UNLIKELY(fp != SP_SAME_BASE))
		*base = fp == SP_FIRST_FP ? from->fp
					  : read_verified_word(*base + (uintptr_t)(intptr_t)fp,
							       from->sp, room);
	return sp_unsigned_address(
		read_verified_word(*base + (uintptr_t)(intptr_t)at, from->sp, room));
}

/* Returns how far above sp the start of a verified word may be. */
static inline uintptr_t stack_room(uintptr_t sp)
{
	if (SP_UNLIKELY(sp - sizeof(sp) - sp_thread_state.stack_low >=
			sp_thread_state.stack_end - sp_thread_state.stack_low))
		select_stack(sp);
	return sp_thread_state.stack_end - sp < sizeof(sp)
		       ? 0
		       : sp_thread_state.stack_end - sp - (sizeof(sp) - 1);
}

uint32_t sp_path_find_site(const struct sp_stack *from, enum sp_op op)
{
	const uint32_t age = load_acquire(&sp_steps_age);
	const uintptr_t sp = from->sp;
	const struct sp_step *s;
	uintptr_t base = sp, to = from->to, room = 0;
	uint32_t before = op;
	uint64_t key;

	if (SP_UNLIKELY(!sp_steps))
		return 0;
	for (;; before = sp_step_number(s, age)) {
		if (SP_UNLIKELY(!is_step(to)))
			return 0;
		key = SP_STEP_KEY(before, to);
		s = sp_step_at(key, 0);
		if (SP_UNLIKELY(load_acquire(&s->key) != key) && !(s = sp_step_find(key)))
			return 0;
		if (s->base == SP_STEP_SITE) {
			const uint32_t site = (uint32_t)s->at;

			return SP_LIKELY(sp_steps_are_valid(age)) ? site : 0;
		}
		if (!room)
			room = stack_room(sp);
		to = follow_step(&base, s->at, s->base, from, room);
	}
}

void sp_path_add_steps(const uint16_t *rule, uint32_t most, const struct sp_stack *from,
		       enum sp_op op, uint32_t site)
{
	const uint32_t age = load_acquire(&sp_steps_age);
	uintptr_t to = from->to, base = from->sp, room = stack_room(from->sp);
	struct path_words w = { .rule = rule, .most = most, .fp_at = SP_FIRST_FP };
	struct sp_stack_word word;
	uint32_t before = op;

	if (!is_step(to) || rule_at(&w, 0) == SP_NO_RULE)
		return;
	while (next_word(&w, &word)) {
		const struct sp_step *s = sp_step_add(SP_STEP_KEY(before, to), word.at, word.base);

		if (!s)
			return;
		to = follow_step(&base, word.at, word.base, from, room);
		/* A nonzero address that is no code now may become code. */
		if (!is_step(to) || (to != word.to && (word.to != SP_STEP_DEAD_END || to)))
			return;
		before = sp_step_number(s, age);
	}
	if (!w.is_variable)
		(void)sp_step_add(SP_STEP_KEY(before, to), (int32_t)site, SP_STEP_SITE);
}

/* ---- unloading ----------------------------------------------------------------------- */

static int mark_found(const struct sp_object *o, void *seen)
{
	for (uint32_t i = 0; i < n_objects; i++)
		if (objects[i].low == o->low && objects[i].span == o->span)
			((bool *)seen)[i] = true;
	return 0;
}

void sp_unwind_forget_unloaded(void)
{
	bool seen[OBJECTS_MAX] = { false };

	if (!rules)
		return;
	sp_elf_each(mark_found, seen);
	for (uint32_t i = 0; i < n_objects; i++) {
		if (seen[i] || objects[i].is_unloaded)
			continue;
		store_relaxed(&objects[i].is_unloaded, true);
		for (uint32_t k = 0; k < RULES_MAX; k++)
			if (rules[k].to - 1 - objects[i].low < objects[i].span)
				store_relaxed(&rules[k].to, UNLOADED);
	}
}
