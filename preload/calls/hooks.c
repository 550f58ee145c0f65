/* hooks.c: what each kind of PAPI call means for sets and relations. */
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../core/base/conf.h"
#include "../../core/base/out.h"
#include "../../core/base/sys.h"
#include "../../core/store/timestamp.h"
#include "../../core/store/store.h"
#include "../events/events.h"
#include "../lifecycle/exit.h"
#include "../process/shared-tls.h"
#include "../process/machine.h"
#include "../process/diagnostic.h"
#include "../sets/attached.h"
#include "../callsites/callsites.h"
#include "../percpu/perf-fds.h"
#include "../percpu/percpu.h"
#include "histograms.h"
#include "hooks.h"
#include "prefault.h"

/* ---- library and threads ---------------------------------------------- */

void sp_before_init(const struct sp_real **real, bool *is_program_call, uintptr_t caller)
{
	bool observed;

	sp_process_check_fork();
	*real = sp_real_search(caller, &observed);
	if (sp_papi_several)
		sp_process.papi = NULL;	/* from now on each call asks */
	*is_program_call = *is_program_call && observed;
}

void sp_after_init(int rc)
{
	if (rc > 0 && sp_store.header && !sp_store.header->papi_version)
		sp_store.header->papi_version = (uint32_t)rc;	/* before 7.0 PAPI says it only
								 * now */
	if (rc < 0)
		sp_after_failed("PAPI_library_init", rc);
}

void sp_after_unregister(int rc)
{
	if (rc == PAPI_OK)
		sp_sets_forget(sp_thread_state.id);
}

void sp_after_shutdown(void)
{
	sp_sets_each(sp_counting_lost);
	sp_sets_forget(0);
}

static const struct sp_perf_fds_hooks perf_fds_hooks;

/* ---- building --------------------------------------------------------- */

/* The clock that PAPI computes its presets a second with: where the kernel tells none (aarch64 has
 * no "cpu MHz"), PAPI takes another, by its version. */
static void keep_clock(void)
{
	const struct sp_papi *p = load_relaxed(&sp_papi_used);
	int mhz = p && p->real.PAPI_get_opt ? p->real.PAPI_get_opt(PAPI_CLOCKRATE, NULL) : 0;

	if (sp_store.header && mhz > 0)
		sp_store.header->cpu_max_khz = (uint64_t)mhz * 1000;
}

static void prepare_process(void)
{
	keep_clock();
	sp_machine_load();
	sp_sites_load();
	sp_prefault_process();
	if (sp_process.counting)
		(void)sp_proof_test();
	if (sp_conf.attribution == SP_BY_READING)
		sp_proof_report();
	if (sp_process.counting)
		sp_percpu_begin();
}

/* The calling thread's CPU time since then was spent preparing. */
static void add_prepared(uint64_t since)
{
	if (since && sp_store.header)
		sp_add(&sp_store.header->time.prepare_ns,
		       sp_ns_of(CLOCK_THREAD_CPUTIME_ID) - since);
}

/* Once in a process, before anything counts.  Other threads wait: a relation made before
 * the machine is known has no cells for its CPUs, and a set that starts before all is
 * warm counts our page faults.  Not for ever, since that thread may be stopped. */
static void before_counting(void)
{
	static uint64_t begun;		/* generation, tid of who does it */
	static uint32_t done;
	struct timespec delay = { 0, 1000000 };
	uint32_t generation = sp_process.generation;
	uint64_t was, mine, since;

	if (load_acquire(&done) == generation)
		return;
	was = load_relaxed(&begun);
	mine = (uint64_t)generation << 32 | (uint32_t)sp_sys(SYS_gettid);
	if (was >> 32 != generation && sp_cas(&begun, &was, mine)) {
		since = sp_ns_of(CLOCK_THREAD_CPUTIME_ID);
		prepare_process();
		add_prepared(since);
		store_release(&done, generation);
		return;
	}
	for (int tries = 0; was != mine && tries < 10000 && load_acquire(&done) != generation;
	     tries++)
		(void)sp_sys(SYS_nanosleep, &delay, NULL);
}

void sp_first_set(void)
{
	before_counting();
	sp_end_expect_dump();
}

void sp_after_create(int rc, const int *id)
{
	if (rc != PAPI_OK) {
		sp_after_failed("PAPI_create_eventset", rc);
		return;
	}
	sp_first_set();
	(void)sp_perf_fds_watch(&perf_fds_hooks);
	sp_find_caller();
	if (sp_thread_state_ready())
		sp_set_new(*id);
}

/* ---- what PAPI opens --------------------------------------------------- */

void sp_opens(int id)
{
	struct sp_set *s;

	sp_find_caller();
	s = sp_set_known(id);
	if (s && s->unseen)			/* (perhaps the first one of a child of fork) */
		sp_first_set();
	if (s) {
		(void)sp_thread_state_ready();		/* who opens it */
		s->perf_fds.whole = 0;
	}
	sp_opening = s ? (uintptr_t)&s->perf_fds : 0;
}

/* Which set is the option for? */
static int set_of_option(int option, const PAPI_option_t *o)
{
	switch (o ? option : -1) {
	case PAPI_ATTACH:
	case PAPI_DETACH:
		return o->attach.eventset;
	case PAPI_CPU_ATTACH:
		return o->cpu.eventset;
	case PAPI_MULTIPLEX:
		return o->multiplex.eventset;
	case PAPI_INHERIT:
		return o->inherit.eventset;
	case PAPI_GRANUL:
		return o->granularity.eventset;
	case PAPI_DOMAIN:
		return o->domain.eventset;
	}
	return PAPI_NULL;
}

void sp_opens_by_option(int option, const PAPI_option_t *o)
{
	sp_opens(set_of_option(option, o));
}

/* PAPI 7.0 also takes an attached set for stopped that it has started.  Its new counters begin at
 * 0; with other events it returns other values than those that the set is bound for. */
static void on_open_while_running(struct sp_set *s, int id)
{
	const struct sp_real *papi = &sp_papi_used->real;

	if (papi->PAPI_num_events && papi->PAPI_num_events(id) == (int)s->k)
		sp_records_missed(&s->writer, SP_OP_RESET, sp_thread_state.id);
	else
		(void)sp_set_unbind(s);
}

/* NULL: PAPI did not, or no such set is known. */
static struct sp_set *after_open(const char *what, int rc, int id)
{
	struct sp_set *s;

	if (rc < 0) {
		sp_after_failed(what, rc);
		return NULL;
	}
	s = sp_set_known(id);
	if (!s)
		return NULL;
	if (sp_booked(s) && load_relaxed(&s->writer.runs) &&
	    load_relaxed(&s->bound_changes) != load_relaxed(&s->perf_fds.changes))
		on_open_while_running(s, id);
	s->changed = true;
	s->unseen = false;		/* by this thread, right now */
	s->perf_fds.had = sp_perf_fds_all(&s->perf_fds);
	store_relaxed(&s->fast_thread, 0);
	sp_set_learn(id);
	return s;
}

static void after_new_events(const char *what, int rc, int id)
{
	struct sp_set *s = after_open(what, rc, id);

	if (s)
		sp_set_bind_perf_fds(s, id);
}

static void list_events(int id, struct sp_listed *l)
{
	const struct sp_real *papi = sp_papi_used ? &sp_papi_used->real : NULL;

	l->n = SP_COUNT(l->code);
	if (!papi || !papi->PAPI_list_events || !papi->PAPI_num_events ||
	    papi->PAPI_num_events(id) > l->n ||
	    papi->PAPI_list_events(id, l->code, &l->n) != PAPI_OK)
		l->n = 0;
}

void sp_before_remove(int id, struct sp_listed *had)
{
	sp_opens(id);
	had->n = 0;
	if (sp_opening)			/* else PAPI may not be up, and crash */
		list_events(id, had);
}

/* Where the last events go, the order of the others stays; a gap PAPI fills in an order of its own,
 * and hands out the counts of one event as another's. */
void sp_after_remove(int rc, int id, const struct sp_listed *had)
{
	struct sp_set *s = sp_set_of(id);
	struct sp_listed has = { .n = 0 };

	if (had->n)
		list_events(id, &has);
	if (s && (!had->n || has.n > had->n ||
		  memcmp(has.code, had->code, (unsigned)has.n * sizeof(*has.code)) != 0)) {
		s->perf_fds.reordered = true;
		sp_process_note_quiet("an event was removed that was not the last of its set: PAPI "
				      "may hand out the counts of one "
				      "event as another's from then on; clean the set up and add "
				      "its events again");
	}
	after_new_events("to remove an event", rc, id);
}

void sp_after_multiplex(int rc, int id)
{
	(void)after_open("PAPI_set_multiplex", rc, id);
}

void sp_after_overflow(int rc, int id)
{
	(void)after_open("PAPI_overflow", rc, id);
}

/* PAPI_PROFIL_FORCE_SW is the hardware's, too, where the kernel can profile (seen). */
void sp_after_profil(int rc, int id, int code, int threshold, const PAPI_sprofil_t *prof, int n,
		     int flags)
{
	struct sp_set *s = after_open("PAPI_profil", rc, id);

	if (s)
		sp_histograms_set(s, code, prof, threshold ? n : 0, flags);
}

/* PAPI's name of it: 0x8000003b says nothing to who reads the dump. */
static const char *name_of(int code, char name[PAPI_HUGE_STR_LEN])
{
	const struct sp_real *papi = sp_papi_used ? &sp_papi_used->real : NULL;

	*name = 0;
	return papi && papi->PAPI_event_code_to_name &&
			       papi->PAPI_event_code_to_name(code, name) == PAPI_OK && *name
		       ? name
		       : NULL;
}

void sp_after_add(int rc, int id, int code, const char *name, size_t length)
{
	char text[128], known[PAPI_HUGE_STR_LEN];
	struct sp_out o;

	if (rc >= 0) {
		after_new_events("", rc, id);
		return;
	}
	sp_out_init(&o, -1, text, sizeof(text) - 1);
	sp_out_text(&o, "the event ");
	if (!name) {
		name = name_of(code, known);
		length = sizeof(known);
	}
	length = name ? strnlen(name, sp_min(length, 80)) : 0;
	while (length && name[length - 1] == ' ')		/* Fortran's */
		length--;
	if (name)
		sp_out_bytes(&o, name, length);
	else
		sp_out_hex(&o, (uint32_t)code);
	text[o.used] = 0;
	sp_after_failed(text, rc);
}

void sp_after_add_events(int rc, int id, int number)
{
	if (rc < 0)
		sp_after_failed("the events of PAPI_add_events", rc);
	else if (rc > 0 && rc < number)
		sp_process_note_quiet("PAPI_add_events added only some of its events");
	after_new_events("", 0, id);
}

/* What PAPI opens for it, now or at the next start, tells what has changed; where nothing is open
 * nobody does. */
void sp_after_change(const char *what, int rc, int id)
{
	struct sp_set *s = rc == PAPI_OK ? sp_set_known(id) : NULL;

	sp_report_error(what, rc);
	if (s && !s->perf_fds.n)
		s->changed = true;
}

static void after_inherit(int rc, int id, bool inherits)
{
	struct sp_set *s = sp_set_known(id);
	struct sp_count_target is;

	sp_after_change("", rc, id);
	if (!s)
		return;
	is = sp_count_target(&s->perf_fds);
	s->misread = is.known && is.inherits != inherits
			     ? load_relaxed(&s->perf_fds.changes) + UINT64_C(1)
			     : 0;
	s->changed = true;
	store_relaxed(&s->fast_thread, 0);
}

void sp_after_cleanup(int rc, int id)
{
	struct sp_set *s = rc == PAPI_OK ? sp_set_of(id) : NULL;

	if (!s)
		return;
	(void)sp_set_unbind(s);
	sp_percpu_drop(&s->percpu);
	sp_perf_fds_forget(&s->perf_fds);
	if (s->has_histograms)
		sp_histograms_forget(load_relaxed(&s->alive));
	s->has_histograms = false;
}

void sp_after_destroy(int rc, int id, uint32_t alive)
{
	struct sp_set *s = rc == PAPI_OK ? sp_set_of(id) : NULL;

	if (!s)
		return;
	if (load_relaxed(&sp_process.histograms))	/* (by now the record may be that of another
							 * thread's new set) */
		sp_histograms_forget(alive);
	sp_set_forget(s, alive);
}

/* PAPI has it under its target from now on, for good. */
void sp_after_attach(int rc, int id, unsigned long tid)
{
	struct sp_set *s = after_open("PAPI_attach", rc, id);

	if (!s)
		return;
	sp_watch((int)tid);
	sp_percpu_drop(&s->percpu);	/* another thread may have had this number */
	store_relaxed(&s->creator, 0);
}

static void set_opt_failed(int rc, int option)
{
	const char *what = "PAPI_set_opt";

	switch (option) {
#define NAME(option) case option: what = "PAPI_set_opt of " #option; break;
		NAME(PAPI_ATTACH)
		NAME(PAPI_DETACH) NAME(PAPI_CPU_ATTACH) NAME(PAPI_MULTIPLEX) NAME(PAPI_INHERIT)
			NAME(PAPI_GRANUL) NAME(PAPI_DOMAIN) NAME(PAPI_DEFDOM) NAME(PAPI_DEFGRN)
				NAME(PAPI_DATA_ADDRESS) NAME(PAPI_INSTR_ADDRESS)
					NAME(PAPI_DEF_ITIMER) NAME(PAPI_DEF_MPX_NS)
						NAME(PAPI_DEF_ITIMER_NS)
#undef NAME
	}
	sp_after_failed(what, rc);
}

void sp_after_set_opt(int rc, int option, const PAPI_option_t *o)
{
	if (rc < 0)
		set_opt_failed(rc, option);
	if (rc != PAPI_OK || !o)
		return;
	if (option == PAPI_ATTACH)
		sp_after_attach(rc, o->attach.eventset, o->attach.tid);
	else if (option == PAPI_MULTIPLEX)
		sp_after_multiplex(rc, o->multiplex.eventset);
	else if (option == PAPI_INHERIT)
		after_inherit(rc, o->inherit.eventset, o->inherit.inherit != PAPI_INHERIT_NONE);
	else if (set_of_option(option, o) != PAPI_NULL)
		sp_after_change("", rc, set_of_option(option, o));
}

/* ---- counting --------------------------------------------------------- */

int sp_where(struct sp_set *s)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);
	int cpu;

	if (s->writer.relation->scope != SP_SCOPE_THREAD &&
	    s->writer.relation->scope != SP_SCOPE_CPU)
		return SP_NO_CPU;
	if (s->book_on >= 0)
		return s->book_on;
	if (s->target.thread == sp_thread_state.id || s->target.tid <= 0)
		return sp_cpu_here();
	cpu = p ? sp_percpu_where(p) : SP_NO_CPU;
	if (cpu < 0) {
		cpu = sp_cpu_of(s->target.tid, 0);
		if (p)
			sp_percpu_is_at(p, cpu);
	}
	if (cpu < 0)		/* it has ended: where it was seen last, by others or by itself */
		cpu = s->last_cpu >= 0 || s->target.attached ? s->last_cpu
							     : load_relaxed(&s->writer.cpu);
	s->last_cpu = cpu;
	return cpu;
}

/* A child of fork has its parent's sets, and PAPI counts the parent for it until it opens them
 * anew. */
static void take_up(void)
{
	sp_first_set();
	sp_process_note_quiet("an event set was used that was not seen being made (by a child of "
			      "fork, its parent's): whose "
			      "counts these are PAPI does not tell; they are booked where they "
			      "were read, none as proven");
}

/* PAPI_RUNNING and the like, right now. */
static int papi_state(int id)
{
	const struct sp_real *papi = &sp_papi_used->real;
	int state = 0;

	return papi->PAPI_state && papi->PAPI_state(id, &state) == PAPI_OK ? state : 0;
}

static bool runs(int id)
{
	return papi_state(id) & PAPI_RUNNING;
}

/* For the records; 0: PAPI does not say (after a handler's PAPI_stop inside another one it says
 * both). */
static enum sp_op state_of(int id)
{
	int both = papi_state(id) & (PAPI_RUNNING | PAPI_STOPPED);

	return both == PAPI_RUNNING ? SP_OP_RUNS : both == PAPI_STOPPED ? SP_OP_STANDS : 0;
}

static bool is_of_other(const struct sp_set *s)
{
	return s->target.attached && s->target.thread != sp_thread_state.id;
}

/* Bound to what it holds now, and ready to count.  started: PAPI has started it already. */
static void bind_now(struct sp_set *s, int id, void (*prepare)(struct sp_set *s, int id),
		     bool started)
{
	struct sp_percpu *percpu;

	prepare(s, id);
	if (load_relaxed(&s->overflows.block))	/* its handler may be called in any of them */
		sp_sites_modules();
	percpu = load_relaxed(&s->percpu);
	if (percpu)
		sp_percpu_starts(percpu, &s->perf_fds, started);
}

static void prepare_slow(int id)
{
	struct sp_set *s;
	uint64_t since;

	sp_prefault_stack();
	sp_thread_state_ready();
	s = sp_set_known(id);
	if (s && s->unseen)
		take_up();
	/* (no system call while another set counts) */
	since = sp_thread_state.counting[0] ? 0 : sp_ns_of(CLOCK_THREAD_CPUTIME_ID);
	if (s && load_relaxed(&s->started) && runs(id))	/* PAPI will refuse to start it, and it
							 * counts on */
		return;
	if (sp_conf.callsites)
		sp_sites_prepare();
	if (s)
		bind_now(s, id, sp_set_prepare, false);
	add_prepared(since);
}

/* PAPI_start has opened other counters than those that the set is bound for: the set is bound to
 * those.  The start is under way already; its call begins anew, for the other relation. */
static void bind_again(struct sp_set *s)
{
	struct sp_writer *w = &s->writer;
	uintptr_t mark = load_relaxed(&w->in_flight);

	if (load_relaxed(&s->starter) != sp_thread_state.id || !(mark & SP_IN_PAPI) ||
	    sp_records_has_missed(w) || load_relaxed(&w->slow) & (SP_SLOW_SHARED | SP_SLOW_BINDS))
		return;		/* sp_after_start finds what is open other than what it is bound
				 * for */
	sp_records_failed(w, sp_thread_state.id);
	bind_now(s, s->id, sp_set_prepare_again, false);
	if (s->is_bound)
		(void)sp_records_enter(w, SP_OP_START, mark & SP_FRAME, sp_thread_state.id, true);
}

static struct sp_set *set_that_opens(struct sp_perf_fds *o)
{
	return (struct sp_set *)((char *)o - offsetof(struct sp_set, perf_fds));
}

static bool lock_perf_fds(struct sp_perf_fds *o, uint32_t *was)
{
	return sp_records_suspend(&set_that_opens(o)->writer, sp_thread_state.id, was);
}

static void unlock_perf_fds(struct sp_perf_fds *o, uint32_t was)
{
	sp_records_let(&set_that_opens(o)->writer, sp_thread_state.id, was);
}

static bool is_alone(struct sp_perf_fds *o)
{
	struct sp_set *s = set_that_opens(o);

	return load_relaxed(&s->is_bound) && sp_records_is_alone(&s->writer, sp_thread_state.id);
}

static bool opened_same(struct sp_perf_fds *o)
{
	const struct sp_set *s = set_that_opens(o);

	/* (Had PAPI failed to open them at an earlier start, the set would be bound for fewer.) */
	return is_alone(o) && !load_relaxed(&s->writer.runs) &&
	       load_relaxed(&s->bound_changes) == o->before &&
	       sp_sys(SYS_gettid) == sp_thread_state.tid;
}

/* By perf-fds.h, inside PAPI_start, before anything counts: whose counts these will be is seen
 * here. */
static void rebind_perf_fds(struct sp_perf_fds *o)
{
	struct sp_set *s = set_that_opens(o);
	struct sp_count_target is;
	struct sp_percpu *p;
	uint32_t was;
	bool same;

	if (!load_relaxed(&s->is_bound) || !lock_perf_fds(o, &was))
		return;
	if (!sp_caller_is_this_thread()) {	/* they count a guest that passed for its host */
		store_relaxed(&o->missed, true);
		sp_add(&o->changes, 1);
	}
	is = sp_count_target(o);
	p = load_relaxed(&s->percpu);
	same = sp_target_is_same(&is, &s->target) && (!p || sp_percpu_matches(p, o));
	/* PAPI refuses to start a set that runs, and may open its counters anew all the same: they
	 * begin at 0. */
	if (load_relaxed(&s->writer.runs)) {
		sp_records_zeroed(&s->writer, sp_thread_state.id, was);
		if (p)
			sp_percpu_lost(p);
	}
	if (same)
		store_relaxed(&s->bound_changes, load_relaxed(&o->changes));
	unlock_perf_fds(o, was);
	if (!same)
		bind_again(s);
}

static const struct sp_perf_fds_hooks perf_fds_hooks = { lock_perf_fds, unlock_perf_fds,
							 rebind_perf_fds, is_alone, opened_same };

/* All is as it was at the start before, but the thread may have moved since.  The stack is not
 * warmed: the first store to a page of it after a fork is a fault that PAPI counts natively. */
static void get_ready(struct sp_set *s, int id)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);

	if (load_relaxed(&s->started) && runs(id))
		;
	else if (p && sp_percpu_matches(p, &s->perf_fds))
		sp_percpu_starts(p, &s->perf_fds, false);
	else
		prepare_slow(id);
}

/* Is it attached to another thread as at the start before?  Then it need not be bound anew. */
static bool stays_attached(const struct sp_set *s)
{
	return sp_booked(s) && is_of_other(s) && load_relaxed(&s->starter) == sp_thread_state.id &&
	       !s->target.inherits && !s->multiplexed && !load_relaxed(&s->overflows.block) &&
	       !s->has_histograms;
}

void sp_prepare_start(int id, const struct sp_stack *at)
{
	struct sp_set *s = sp_set_of(id);

	sp_page_proof_begins();
	if (!s || !(sp_is_fast(s) || stays_attached(s)) || !sp_is_prepared(s)) {
		prepare_slow(id);
		s = sp_set_of(id);
	} else if (!sp_is_ready(s, sp_proof_now())) {
		get_ready(s, id);
	}
	/* more frames take longer: not while it counts */
	if (load_relaxed(&sp_process.unwinds) && sp_booked(s))
		store_relaxed(&s->start_site, sp_site_of_start(at));
	sp_counting_prepare(s);
}

void sp_book_gauges(struct sp_set *s, enum sp_op op, int cpu, const long long *values)
{
	sp_gauges_book(&s->gauges, op, values ? (uint32_t)sp_records_cell(&s->writer, cpu) : 0,
		       values, values ? sp_stamp_ns() : 0);
}

/* Has PAPI_start opened counters of another thread or CPU than those that the set is bound for,
 * where the set could not be bound anew at that moment (others share it, or there was a nested
 * call)?  Now our own work for that is counted, too. */
static bool counts_others(const struct sp_set *s)
{
	struct sp_count_target is = sp_count_target(&s->perf_fds);

	return is.known && !s->multiplexed && !sp_target_is_same(&is, &s->target) &&
	       (s->target.known || is.thread != sp_thread_state.id || is.cpu >= 0);
}

/* What PAPI has started is not what the set is bound for: nothing of it is proven, and the next
 * start looks anew.  (What PAPI multiplexes itself it opens at each start, and nothing of it is
 * ever proven.) */
static void is_other(struct sp_set *s)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);

	s->target = sp_count_target(&s->perf_fds);
	store_relaxed(&s->bound_changes, load_relaxed(&s->perf_fds.changes));
	sp_set_note_counted(s);
	store_relaxed(&s->changed, !s->multiplexed);
	store_relaxed(&s->fast_thread, 0);
	if (p)
		sp_percpu_distrust(p);
	sp_relation_set_attribution(s->writer.relation, SP_BY_READING,
				    s->multiplexed ? SP_WHY_MULTIPLEXED : SP_WHY_UNSEEN);
}

SP_COLD void sp_begin_slow(struct sp_set *s)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);
	int saved = errno;

	if (!p)			/* a handler on top has dropped it */
		return;
	if (is_of_other(s) || sp_caller_is_this_thread())
		sp_percpu_zeroed(p, load_relaxed(&s->writer.window_open), &s->perf_fds);
	else
		sp_percpu_lost(p);
	if (sp_percpu_needs_time(p))
		store_relaxed(&s->fast_thread, 0);
	errno = saved;
}

static void add_times(struct sp_set *s, const struct sp_shares *shares)
{
	struct sp_times *t = s->times;

	for (uint32_t i = 0; i <= shares->n; i++) {
		int cell =
			sp_records_cell(&s->writer, i < shares->n ? shares->cpu[i] : shares->last);

		sp_add(&t->at[cell], shares->ns[i]);
	}
	sp_add(&t->moves, shares->moves);
	sp_add(&t->windows, shares->n != 0);
	sp_times_unwatched(t, (uint32_t)(shares->dark + 1));
}

static void attribute_parts(struct sp_set *s, const struct sp_shares *shares)
{
	if (s->times)
		add_times(s, shares);
	sp_relation_set_attribution(s->writer.relation, shares->how, shares->why);
}

/* Was the thread on this CPU all the time from the reading before until now?  A handler that booked
 * here since `open` has begun a window of its own, which proves nothing of values that PAPI
 * returned before it. */
static bool proves(const struct sp_set *s, uint32_t open)
{
	return s->writer.window_open == open && sp_proof_now() == open;
}

bool sp_stays_by_clock(const struct sp_set *s)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);
	int saved = errno, cpu = p ? sp_percpu_stays(p) : SP_NO_CPU;
	bool stays = cpu >= 0 && sp_caller_is_this_thread() && cpu == load_relaxed(&s->writer.cpu);

	errno = saved;
	return stays;
}

/* Does the set count, by the calls so far?  A stopped set returns no new counts; they may be older
 * than its relation. */
static bool counts(const struct sp_set *s)
{
	return load_relaxed(&s->writer.runs) || load_relaxed(&s->started);
}

/* Scans the shadow counters of a set whose thread may have moved since the last reading. The counts
 * go to the CPUs in b->parts, the rest to b->cpu. False: no scan is possible now, or the set is
 * stopped; all counts go to b->cpu, unproven. */
static bool find_parts(struct sp_set *s, struct sp_booking *b, uint32_t open,
		       struct sp_shares *shares, struct sp_parts *parts)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);	/* a handler on top may drop it: then it is
							 * no clock's (percpu-lifetime.h) */
	struct sp_writer *w = &s->writer;
	bool known;

	if (!p || !counts(s))
		return false;
	/* a scan by an unknown guest would read its host's counters */
	known = is_of_other(s) || sp_caller_is_this_thread();
	if (!known || !w->runs || sp_records_has_missed(w)) {
		sp_percpu_lost(p);
		sp_relation_set_attribution(w->relation, SP_BY_READING,
					    known ? SP_WHY_HANDLER : SP_WHY_GUEST);
		return false;
	}
	if (!sp_percpu_window(p,
			      &(struct sp_answer){ .last = w->values,
						   .value = (const int64_t *)b->x,
						   .counts_on = b->op == SP_OP_READ,
						   .perf_fds = &s->perf_fds,
						   .open = open,
						   .cpu = b->cpu },
			      shares)) {
		sp_relation_set_attribution(w->relation, shares->how, shares->why);
		return false;
	}
	*parts = (struct sp_parts){
		.n = shares->n, .cpu = shares->cpu, .at = shares->at, .proven = shares->proven
	};
	b->parts = parts;
	b->cpu = shares->last;
	return true;
}

/* The booking has used them.  (From its end on the set may be bound anew, but a split's memory
 * stays one.) */
static void end_parts(struct sp_set *s)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);

	if (!p)
		return;
	if (sp_percpu_needs_time(p))
		store_relaxed(&s->fast_thread, 0);
	sp_percpu_done(p);
}

static bool zeroes(enum sp_op op)
{
	return op == SP_OP_START || op == SP_OP_RESET || op == SP_OP_ACCUM;
}

/* Begins a segment after a call that zeroes the set, and before its record is written, unless the
 * record uses the split: a handler that reads the set right after the record must find the segment
 * begun.  stayed: no scan is needed where the split was ready before the call for a window of the
 * thread's own: a set that was bound after PAPI had started it is ready only since then. */
static void begin_segment(struct sp_set *s, bool stayed, enum sp_op op, uint32_t open)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);

	if (!p)
		return;
	if (op == SP_OP_WRITE)
		sp_percpu_lost(p);
	else if (zeroes(op) && stayed && open == sp_proof_now() && sp_is_ready(s, open))
		sp_percpu_fresh(p);
	else if (zeroes(op))
		sp_begin_slow(s);
	if (op == SP_OP_START)
		sp_percpu_begun(p, sp_ticks());
}

/* Tries the short ways of records.h first, which suffice for ordinary sets. */
static bool book_shortly(struct sp_writer *w, const struct sp_booking *b)
{
	if (b->op == SP_OP_START || b->op == SP_OP_RESET)
		return sp_records_zero(w, b->op, b->site);
	if (!b->proven || b->cpu < 0 || b->cpu != w->cpu)
		return false;
	if (b->op == SP_OP_ACCUM)
		return sp_records_accum(w, b->cpu, b->x, b->site);
	return (b->op == SP_OP_READ || b->op == SP_OP_STOP) &&
	       sp_records_value(w, b->op, b->cpu, b->x, b->site, sp_ticks());
}

/* Kernel counts that fall were zeroed by a call that was not seen: PAPI opened them anew, or
 * somebody else holds the descriptor. As a fall they would take from a CPU what it may never have
 * had. */
static void find_zeroing(struct sp_set *s, const long long *values)
{
	bool fell = false;

	for (uint32_t e = 0; e < s->k; e++)
		fell = fell || values[e] < s->writer.values[e];
	/* (A call that was missed has zeroed the set, perhaps: rules.c.) */
	if (!fell || s->writer.baseline || sp_records_has_missed(&s->writer))
		return;
	__atomic_fetch_or(&s->writer.relation->flags, SP_RELATION_BACKWARDS, __ATOMIC_RELAXED);
	/* (SP_OP_RESET would be nested in this call, and zero the set after it.) */
	sp_records_missed(&s->writer, SP_OP_MISSED, sp_thread_state.id);
}

/* Records a call that PAPI has answered: finds its call site, then proves that the thread stayed or
 * finds the parts of the window, prepares the next window after a zeroing, and adds the record.
 * cpu: where the values were read; SP_NO_CPU: the call has no values. */
static void book_on(struct sp_set *s, enum sp_op op, int cpu, const long long *values,
		    uint32_t open, const struct sp_stack *at)
{
	uint32_t site = op == SP_OP_START && load_relaxed(&sp_process.unwinds)
				? load_relaxed(&s->start_site)
				: sp_site_here(at);
	bool own = load_relaxed(&s->starter) == sp_thread_state.id, fast = sp_is_fast(s), percpu,
	     timed;
	struct sp_booking b = {
		.op = op, .cpu = cpu, .x = values, .site = site, .who = sp_thread_state.id
	};
	struct sp_percpu *p;
	struct sp_shares shares;
	struct sp_parts parts;

	if (op == SP_OP_START &&
	    load_relaxed(&s->bound_changes) != load_relaxed(&s->perf_fds.changes))
		is_other(s);
	p = load_relaxed(&s->percpu);
	if (values && op != SP_OP_WRITE && s->only_grows && counts(s))
		find_zeroing(s, values);
	if (!own)
		sp_proof_on_top();
	timed = own && !fast && p && sp_percpu_needs_time(p);
	b.proven =
		(fast || timed) && !s->writer.placed && !s->multiplexed &&
		!sp_records_has_missed(&s->writer) &&
		(proves(s, open) || (fast && values && op != SP_OP_STOP && sp_stays_by_clock(s)));
	if (own)
		store_relaxed(&s->writer.window_open, open);
	percpu = !b.proven && values && op != SP_OP_WRITE &&
		 find_parts(s, &b, open, &shares, &parts);
	if (percpu)
		attribute_parts(s, &shares);
	else
		begin_segment(s, fast && (b.proven || op != SP_OP_ACCUM), op, open);
	if (percpu && zeroes(op))
		sp_percpu_lost(p);
	if (op == SP_OP_START && s->target.thread != sp_thread_state.id)
		(void)sp_where(s);	/* the target may have ended by the first reading */
	if (!fast || percpu || !book_shortly(&s->writer, &b)) {
		if (SP_UNLIKELY(load_relaxed(&s->gauges.n)))
			sp_book_gauges(s, op, cpu, values);
		(void)sp_records_finish(&s->writer, &b);
	}
	if (percpu) {
		end_parts(s);
		begin_segment(s, false, op, open);
	}
	if (b.proven && values && (timed || (fast && op == SP_OP_STOP)))
		sp_ran(s, sp_ticks());
	if (SP_UNLIKELY(sp_process.dumped))
		sp_end_again();
}

/* Nothing is booked of it. */
void sp_call_failed(struct sp_set *called)
{
	if (called)
		sp_records_failed(&called->writer, sp_thread_state.id);
}

/* A handler, or fork in one, made another set of it inside the call of PAPI; or another thread
 * bound it anew (sp_records_still). From here on the writer is the call's until that is booked. */
static bool gone(struct sp_set *called)
{
	struct sp_writer *w = called ? &called->writer : NULL;

	if (!w || (sp_booked(called) &&
		   load_relaxed(&w->in_flight) | (load_relaxed(&w->slow) & SP_SLOW_SHARED) &&
		   sp_records_still(w, sp_thread_state.id)))
		return false;
	sp_call_failed(called);
	return true;
}

/* Nested, or the writer was another thread's: what PAPI has handed out is in no sum.  Of the former
 * the relation says that it is unsure. */
static void missed(struct sp_set *s, enum sp_op op, const long long *values)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);

	/* Without a relation, as while a set is first bound, there is nothing else to say it in:
	 * what follows a start that was missed is not counted. */
	if ((values || !load_relaxed(&s->writer.relation)) &&
	    !sp_records_nests(&s->writer, sp_thread_state.id) && sp_store.header)
		sp_add(&sp_store.header->dropped_readings, 1);
	if (p)
		sp_percpu_lost(p);
	if (op != SP_OP_READ)
		sp_records_missed(&s->writer, op, sp_thread_state.id);
}

static void book(struct sp_set *s, enum sp_op op, const long long *values, uint32_t open,
		 const struct sp_stack *at)
{
	/* What hands out no values is on no CPU: without rseq, and of another thread, that takes
	 * system calls. */
	int cpu = values ? sp_where(s) : SP_NO_CPU;

	sp_page_proof_begins();
	book_on(s, op, cpu, values, open, at);
}

int sp_book_entry(struct sp_set *called, struct sp_set *s, enum sp_op op, const long long *values,
		  uint32_t open, const struct sp_stack *at,
		  enum sp_entries (*choose)(int cpu, void *arg), void *arg)
{
	int cpu;

	if (!called || gone(called)) {
		missed(s, op, values);
		return SP_NO_CPU;
	}
	cpu = sp_where(s);
	s->writer.entries = choose(cpu, arg);
	book_on(s, op, cpu, values, open, at);
	s->writer.entries = SP_ENTRIES_NONE;
	if (op == SP_OP_STOP) {
		store_relaxed(&s->started, false);
		sp_counting_stop(s);
	}
	return cpu;
}

/* A reading of a running set that has no relation: no memory, or not counts; of one that has
 * no record, whether it runs is not known. */
static void dropped(const struct sp_set *s)
{
	if ((s ? load_relaxed(&s->alive) && load_relaxed(&s->started)
	       : load_relaxed(&sp_sets_lost)) &&
	    sp_store.header)
		sp_add(&sp_store.header->dropped_readings, 1);
}

/* Calls were missed: the records do not tell whether the set runs, nor for which counters. */
static void update_state(struct sp_set *s, int id)
{
	enum sp_op is = state_of(id);

	sp_records_runs(&s->writer, is, sp_thread_state.id);
	if (is)
		store_relaxed(&s->started, is == SP_OP_RUNS);
	if (is == SP_OP_RUNS &&
	    load_relaxed(&s->bound_changes) != load_relaxed(&s->perf_fds.changes))
		is_other(s);
	if (is == SP_OP_RUNS && load_relaxed(&s->gauges.n))
		sp_book_gauges(s, SP_OP_START, SP_NO_CPU, NULL);
}

static void read_before(struct sp_set *s, enum sp_op op)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);

	if (!p || !counts(s))
		return;
	if (sp_percpu_share(p))
		store_relaxed(&s->fast_thread, 0);
	if (op == SP_OP_RESET)		/* it returns no value that could be proven */
		return;
	sp_percpu_read_before(p, op == SP_OP_STOP || op == SP_OP_ACCUM, s->writer.values,
			      &s->perf_fds);
}

/* Notes in the relation that a thread reads it that is not the one counted.  (PAPI_attach leaves
 * the counting to the starter.) */
static void note_reader(const struct sp_set *s)
{
	struct sp_relation *r = load_relaxed(&s->writer.relation);

	if (r &&
	    sp_thread_state.id != (s->target.thread ? s->target.thread : load_relaxed(&s->starter)))
		__atomic_fetch_or(&r->flags, SP_RELATION_FOREIGN, __ATOMIC_RELAXED);
}

static struct sp_set *begin_slow(int id, enum sp_op op, uintptr_t frame)
{
	struct sp_set *s = sp_set_of(id);
	bool own;

	if (!sp_booked(s))
		return NULL;
	(void)sp_thread_state_ready();		/* a thread's first call, perhaps */
	own = load_relaxed(&s->starter) == sp_thread_state.id;
	if (!own)
		store_relaxed(&s->fast_thread, 0);
	if (!sp_records_enter(&s->writer, op, frame, sp_thread_state.id, own)) {
		sp_proof_on_top();
		return NULL;
	}
	if (op != SP_OP_START)
		note_reader(s);
	read_before(s, op);
	if (SP_UNLIKELY(load_relaxed(&s->writer.slow) & SP_SLOW_AFTER))
		update_state(s, id);
	return s;
}

struct sp_set *sp_begin_call(int id, enum sp_op op, uintptr_t frame)
{
	struct sp_set *s = sp_set_of(id);

	return s && sp_is_fast(s) && sp_records_begin(&s->writer, frame, op)
		       ? s
		       : begin_slow(id, op, frame);
}

struct sp_set *sp_begin_ending_call(int id, enum sp_op op, uintptr_t frame)
{
	struct sp_set *s = sp_set_of(id);

	/* (by now it may be another's) */
	if (s && sp_is_fast(s) && !sp_is_ready(s, sp_proof_now()) &&
	    !load_relaxed(&s->writer.in_flight))
		read_before(s, SP_OP_STOP);
	return sp_begin_call(id, op, frame);
}

/* A path that was not met before is walked before PAPI zeroes: the walk's 10,000 instructions a
 * frame between that and the look at the shadow counters would be in PAPI's counts alone. */
struct sp_set *sp_before_zero(int id, enum sp_op op, const struct sp_stack *at, uintptr_t frame)
{
	struct sp_set *s = sp_set_of(id);

	if (load_relaxed(&sp_process.unwinds) && sp_booked(s))
		(void)sp_site_here(at);
	return op == SP_OP_ACCUM ? sp_begin_ending_call(id, op, frame)
				 : sp_begin_call(id, op, frame);
}

struct sp_set *sp_begin_start(int id, uintptr_t frame)
{
	struct sp_set *s = sp_set_of(id), *called = sp_begin_call(id, SP_OP_START, frame);
	uint32_t was;

	sp_opening = s ? (uintptr_t)&s->perf_fds | SP_OPENS_AGAIN : 0;
	if (s && lock_perf_fds(&s->perf_fds, &was)) {	/* (a start that PAPI refused may have
							 * closed all and opened none) */
		store_relaxed(&s->perf_fds.whole,
			      sp_perf_fds_all(&s->perf_fds) ? 0 : s->perf_fds.had);
		unlock_perf_fds(&s->perf_fds, was);
	}
	if (SP_UNLIKELY(s && s->has_histograms))
		sp_histograms_begin(s, id);
	if (called)
		store_relaxed(&called->started, true);
	return called;
}

struct sp_set *sp_before_start(int id, const struct sp_stack *at, uintptr_t frame)
{
	sp_prepare_start(id, at);
	return sp_begin_start(id, frame);
}

struct sp_set *sp_before_stop(int id, long long **values, uintptr_t frame)
{
	struct sp_set *s = sp_set_of(id), *called;

	sp_thread_state_ready();		/* a thread's first call, perhaps */
	called = sp_begin_ending_call(id, SP_OP_STOP, frame);
	if (!*values && (called || sp_booked(s)))
		*values = s->room.values;
	return called;
}

void sp_run_failed(struct sp_set *called)
{
	if (called)
		store_relaxed(&called->started, load_relaxed(&called->writer.runs));
	sp_call_failed(called);
}

/* Bound anew inside its start. */
static struct sp_set *begin_again(struct sp_set *s)
{
	if (!sp_booked(s) ||
	    !sp_records_enter(&s->writer, SP_OP_START, (uintptr_t)__builtin_frame_address(0),
			      sp_thread_state.id, true))
		return NULL;
	sp_records_returned(&s->writer);
	return s;
}

void sp_after_start(struct sp_set *called, int rc, int id, uint32_t open, const struct sp_stack *at)
{
	struct sp_set *s = sp_set_of(id);

	if (rc != PAPI_OK) {
		sp_run_failed(called);
		sp_after_start_failed(rc);
		return;
	}
	if (called && sp_thread_state.by_page)
		(void)sp_page_proof_started(&called->perf_fds, open);
	if (!s)
		return;
	if (called && !gone(called) &&
	    load_relaxed(&s->bound_changes) != load_relaxed(&s->perf_fds.changes) &&
	    counts_others(s)) {
		sp_call_failed(called);
		bind_now(s, id, sp_set_prepare_again, true);
		called = begin_again(s);
	}
	if (!called)
		store_relaxed(&s->started, true);
	sp_book_call(called, id, SP_OP_START, NULL, open, at);
	sp_counting_start(s);
}

SP_COLD void sp_sites_after_stop(void)
{
	int saved = errno;

	/* Not while another set of this thread counts. */
	if (load_relaxed(&sp_process.sites_due) && !sp_sets_running(sp_thread_state.id))
		sp_sites_resolve();
	errno = saved;
}

void sp_after_stop(struct sp_set *called, int rc, int id, const long long *values, uint32_t open,
		   const struct sp_stack *at)
{
	struct sp_set *s = sp_set_of(id);

	if (rc != PAPI_OK) {
		sp_run_failed(called);
		return;
	}
	if (s)
		sp_counting_stop(s);
	sp_book_call(called, id, SP_OP_STOP, values, open, at);
	if (!s)
		return;
	if (SP_UNLIKELY(s->has_histograms) && sp_booked(s))
		sp_histograms_read(s);
	store_relaxed(&s->started, called && load_relaxed(&s->writer.runs));
	sp_sites_after_stop();
}

void sp_book_call(struct sp_set *called, int id, enum sp_op op, const long long *values,
		  uint32_t open, const struct sp_stack *at)
{
	struct sp_set *s = sp_set_of(id);

	if (called && !gone(called))
		book(s, op, values, open, at);
	else if (called || sp_booked(s) || (s && load_relaxed(&s->writer.slow) & SP_SLOW_BINDS))
		missed(s, op, values);
	else if (values || op == SP_OP_STOP)
		dropped(s);
}

void sp_after_read(struct sp_set *called, int rc, int id, const long long *values, uint32_t open,
		   const struct sp_stack *at)
{
	if (rc != PAPI_OK)
		sp_call_failed(called);
	else
		sp_book_call(called, id, SP_OP_READ, values, open, at);
}

void sp_after_reset(struct sp_set *called, int rc, int id, uint32_t open, const struct sp_stack *at)
{
	if (rc != PAPI_OK)
		sp_call_failed(called);
	else
		sp_book_call(called, id, SP_OP_RESET, NULL, open, at);
}

void sp_after_accum(struct sp_set *called, int rc, int id, const long long *values,
		    long long *before, uint32_t open, const struct sp_stack *at)
{
	uint32_t k = rc == PAPI_OK ? sp_events_of(id) : 0;

	/* Another number: a handler changed how many events the set has, and what was added cannot
	 * be told. */
	if (!k || k != (uint64_t)before[-1]) {
		if (k)
			dropped(sp_set_of(id));
		sp_call_failed(called);
		return;
	}
	for (uint32_t e = 0; e < k; e++)
		before[e] =
			(long long)((unsigned long long)values[e] - (unsigned long long)before[e]);
	sp_book_call(called, id, SP_OP_ACCUM, before, open, at);
}

/* The kernel fetches the page of a futex by itself, and counts no fault for it; one that is there
 * without a lock, for which madvise would wait while other threads map memory (seen: 23 waits in
 * 500 threads). An address in the array: nobody waits at a count. */
SP_COLD void sp_prefault_array(struct sp_set *s, const long long *values)
{
	uintptr_t page = (uintptr_t)values / SP_ARRAY_GRAIN,
		  last = (uintptr_t)(values + s->k - 1) / SP_ARRAY_GRAIN;
	int saved = errno;

	s->arrays[page % SP_COUNT(s->arrays)] = page;
	for (; page <= last; page++)
		(void)sp_sys(SYS_futex, sp_max((uintptr_t)values, page * SP_ARRAY_GRAIN),
			     FUTEX_WAKE, 0, NULL, NULL, 0);
	errno = saved;
}

/* The component now counts on from the values written, if it can. */
void sp_after_write(struct sp_set *called, int rc, int id, const long long *values,
		    const struct sp_stack *at)
{
	if (called)
		sp_records_returned(&called->writer);
	if (rc == PAPI_OK)
		sp_book_call(called, id, SP_OP_WRITE, values, sp_proof_now(), at);
	else
		sp_call_failed(called);
}

/* ---- refusals --------------------------------------------------------- */

static const char *const codes[] = {
	"PAPI_OK",	   "PAPI_EINVAL",	 "PAPI_ENOMEM",	     "PAPI_ESYS",
	"PAPI_ECMP",	   "PAPI_ECLOST",	 "PAPI_EBUG",	     "PAPI_ENOEVNT",
	"PAPI_ECNFLCT",	   "PAPI_ENOTRUN",	 "PAPI_EISRUN",	     "PAPI_ENOEVST",
	"PAPI_ENOTPRESET", "PAPI_ENOCNTR",	 "PAPI_EMISC",	     "PAPI_EPERM",
	"PAPI_ENOINIT",	   "PAPI_ENOCMP",	 "PAPI_ENOSUPP",     "PAPI_ENOIMPL",
	"PAPI_EBUF",	   "PAPI_EINVAL_DOM",	 "PAPI_EATTR",	     "PAPI_ECOUNT",
	"PAPI_ECOMBO",	   "PAPI_ECMP_DISABLED", "PAPI_EDELAY_INIT", "PAPI_EMULPASS",
	"PAPI_PARTIAL",
};

/* PAPI says what the matter is in a place that moved from version to version: looked
 * at only where it is the version that we were compiled for. */
static void why_disabled(void)
{
	const struct sp_real *papi = &sp_papi_used->real;
	char text[PAPI_HUGE_STR_LEN + 64];
	struct sp_out o;

	if ((sp_store.header->papi_version ^ PAPI_VERSION) >> 16 || !papi->PAPI_is_initialized ||
	    !papi->PAPI_get_component_info || !papi->PAPI_is_initialized())
		return;
	for (int i = 0; i < 2; i++) {
		const PAPI_component_info_t *c = papi->PAPI_get_component_info(i);

		if (!c || !c->disabled || strcmp(c->name, "perf_event") != 0)
			continue;
		sp_out_init(&o, -1, text, sizeof(text) - 1);
		sp_out_text(&o, "PAPI's component 'perf_event' is disabled: ");
		sp_out_bytes(&o, c->disabled_reason,
			     strnlen(c->disabled_reason, sizeof(c->disabled_reason)));
		text[o.used] = 0;
		sp_process_note_quiet(text);
	}
}

void sp_after_failed(const char *what, int rc)
{
	unsigned code = (unsigned)-rc;
	char text[256];
	struct sp_out o;

	sp_end_expect_dump();
	if (!sp_store.header)
		return;
	if (sp_papi_used)
		why_disabled();
	sp_out_init(&o, -1, text, sizeof(text) - 1);
	sp_out_text(&o, "PAPI refused ");
	sp_out_text(&o, what);
	sp_out_text(&o, ": ");
	sp_out_text(&o, code < SP_COUNT(codes) ? codes[code] : "an unknown error");
	text[o.used] = 0;
	sp_process_note_quiet(text);
}

void sp_after_start_failed(int rc)
{
	static uint64_t reported;		/* a bit for each error; the process's generation */
	uint64_t was = load_relaxed(&reported), bit = rc < 0 && rc > -32 ? 1ull << -rc : 0;

	if (was >> 32 != sp_process.generation)
		was = (uint64_t)sp_process.generation << 32;
	if (was & bit)
		return;
	sp_after_failed("PAPI_start", rc);
	store_relaxed(&reported, was | bit);
}
