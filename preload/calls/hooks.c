/* hooks.c: updates event sets and relations for each kind of PAPI call; see hooks.h. */
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
		sp_process.papi = NULL;	/* from now on each call finds its libpapi */
	*is_program_call = *is_program_call && observed;
}

void sp_after_init(int rc)
{
	if (rc > 0 && sp_store.header && !sp_store.header->papi_version)
		/* PAPI before 7.0 reports it only here */
		sp_store.header->papi_version = (uint32_t)rc;
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
	sp_sets_each(sp_counting_note_lost);
	sp_sets_forget(0);
}

static const struct sp_perf_fds_hooks perf_fds_hooks;

/* ---- building --------------------------------------------------------- */

/* Stores the clock rate by which PAPI computes presets per second. If the kernel reports none
 * (aarch64 has no "cpu MHz"), PAPI's source depends on its version. */
static void store_clock_rate(void)
{
	const struct sp_papi *p = load_relaxed(&sp_papi_used);
	int mhz = p && p->real.PAPI_get_opt ? p->real.PAPI_get_opt(PAPI_CLOCKRATE, NULL) : 0;

	if (sp_store.header && mhz > 0)
		sp_store.header->cpu_max_khz = (uint64_t)mhz * 1000;
}

static void prepare_process(void)
{
	store_clock_rate();
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

/* Adds the calling thread's CPU time since `since` as preparation time. */
static void add_prepared(uint64_t since)
{
	if (since && sp_store.header)
		sp_add(&sp_store.header->time.prepare_ns,
		       sp_ns_of(CLOCK_THREAD_CPUTIME_ID) - since);
}

/* Prepares the process once, before anything counts. Other threads wait: their relations need
 * cells for the machine's CPUs, and their sets would count the page faults of the preparation.
 * They wait 10 s at most, since the preparing thread may be stopped. */
static void prepare_process_once(void)
{
	static uint64_t begun;		/* generation << 32 | tid of the preparing thread */
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

void sp_prepare_first_set(void)
{
	prepare_process_once();
	sp_end_expect_dump();
}

void sp_after_create(int rc, const int *id)
{
	if (rc != PAPI_OK) {
		sp_after_failed("PAPI_create_eventset", rc);
		return;
	}
	sp_prepare_first_set();
	(void)sp_perf_fds_watch(&perf_fds_hooks);
	sp_find_caller();
	if (sp_thread_state_ready())
		sp_set_new(*id);
}

/* ---- perf fds --------------------------------------------------------- */

void sp_expect_open(int id)
{
	struct sp_set *s;

	sp_find_caller();
	s = sp_set_find(id);
	if (s && s->unseen)			/* possibly the first set of a forked child */
		sp_prepare_first_set();
	if (s) {
		(void)sp_thread_state_ready();		/* gives the opening thread an id */
		s->perf_fds.to_reopen = 0;
	}
	sp_opening_set = s ? (uintptr_t)&s->perf_fds : 0;
}

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

void sp_expect_open_by_option(int option, const PAPI_option_t *o)
{
	sp_expect_open(set_of_option(option, o));
}

/* Handles perf fds that PAPI opened while the set runs: PAPI 7.0 considers a started set stopped
 * once it is attached. New counters begin at 0. If the number of events changed, the values no
 * longer fit the relation. */
static void on_open_while_running(struct sp_set *s, int id)
{
	const struct sp_real *papi = &sp_papi_used->real;

	if (papi->PAPI_num_events && papi->PAPI_num_events(id) == (int)s->k)
		sp_records_missed(&s->writer, SP_OP_RESET, sp_thread_state.id);
	else
		(void)sp_set_unbind(s);
}

/* Updates a set for which PAPI may have opened perf fds. NULL: PAPI refused, or the set is
 * unknown. */
static struct sp_set *after_open(const char *what, int rc, int id)
{
	struct sp_set *s;

	if (rc < 0) {
		sp_after_failed(what, rc);
		return NULL;
	}
	s = sp_set_find(id);
	if (!s)
		return NULL;
	if (sp_is_recorded(s) && load_relaxed(&s->writer.runs) &&
	    load_relaxed(&s->bound_changes) != load_relaxed(&s->perf_fds.changes))
		on_open_while_running(s, id);
	s->changed = true;
	s->unseen = false;		/* this thread has opened it */
	s->perf_fds.complete = sp_perf_fds_all(&s->perf_fds);
	store_relaxed(&s->fast_thread, 0);
	sp_set_fetch_events(id);
	return s;
}

static void after_new_events(const char *what, int rc, int id)
{
	struct sp_set *s = after_open(what, rc, id);

	if (s)
		sp_set_bind_perf_fds(s, id);
}

static void list_events(int id, struct sp_event_list *l)
{
	const struct sp_real *papi = sp_papi_used ? &sp_papi_used->real : NULL;

	l->n = SP_COUNT(l->code);
	if (!papi || !papi->PAPI_list_events || !papi->PAPI_num_events ||
	    papi->PAPI_num_events(id) > l->n ||
	    papi->PAPI_list_events(id, l->code, &l->n) != PAPI_OK)
		l->n = 0;
}

void sp_before_remove(int id, struct sp_event_list *had)
{
	sp_expect_open(id);
	had->n = 0;
	if (sp_opening_set)			/* else PAPI may be uninitialized and crash */
		list_events(id, had);
}

/* Checks the order of the remaining events. PAPI keeps it if the last events are removed. It
 * fills a gap in another order and then returns counts of one event as another's. */
void sp_after_remove(int rc, int id, const struct sp_event_list *had)
{
	struct sp_set *s = sp_set_of(id);
	struct sp_event_list has = { .n = 0 };

	if (had->n)
		list_events(id, &has);
	if (s && (!had->n || has.n > had->n ||
		  memcmp(has.code, had->code, (unsigned)has.n * sizeof(*has.code)) != 0)) {
		s->perf_fds.is_reordered = true;
		sp_process_note_quiet("an event other than the last of its set was removed: PAPI "
				      "may swap events' counts; clean up the set and add its "
				      "events again");
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

/* Sets histograms. The kernel may also serve PAPI_PROFIL_FORCE_SW in hardware. */
void sp_after_profil(int rc, int id, int code, int threshold, const PAPI_sprofil_t *prof, int n,
		     int flags)
{
	struct sp_set *s = after_open("PAPI_profil", rc, id);

	if (s)
		sp_histograms_set(s, code, prof, threshold ? n : 0, flags);
}

/* PAPI's name of an event: a code such as 0x8000003b means nothing to readers of the dump. */
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
	while (length && name[length - 1] == ' ')		/* Fortran pads with blanks */
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

/* Marks a set without perf fds as changed. Otherwise the perf fds that PAPI opens, now or at the
 * next start, show the change. */
void sp_after_change(const char *what, int rc, int id)
{
	struct sp_set *s = rc == PAPI_OK ? sp_set_find(id) : NULL;

	sp_report_error(what, rc);
	if (s && !s->perf_fds.n)
		s->changed = true;
}

static void after_inherit(int rc, int id, bool inherits)
{
	struct sp_set *s = sp_set_find(id);
	struct sp_count_target is;

	sp_after_change("", rc, id);
	if (!s)
		return;
	is = sp_count_target(&s->perf_fds);
	s->misread = is.is_known && is.inherits != inherits
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
	if (load_relaxed(&sp_process.histograms))	/* the id may have a new set by now */
		sp_histograms_forget(alive);
	sp_set_forget(s, alive);
}

/* Forgets the set's creator: from now on PAPI keeps the set under its target. */
void sp_after_attach(int rc, int id, unsigned long tid)
{
	struct sp_set *s = after_open("PAPI_attach", rc, id);

	if (!s)
		return;
	sp_attached_add((int)tid);
	sp_percpu_drop(&s->percpu);	/* an earlier thread may have had this tid */
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

int sp_find_set_cpu(struct sp_set *s)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);
	int cpu;

	if (s->writer.relation->scope != SP_SCOPE_THREAD &&
	    s->writer.relation->scope != SP_SCOPE_CPU)
		return SP_NO_CPU;
	if (s->pinned_cpu >= 0)
		return s->pinned_cpu;
	if (s->target.thread == sp_thread_state.id || s->target.tid <= 0)
		return sp_cpu_here();
	cpu = p ? sp_percpu_target_cpu(p) : SP_NO_CPU;
	if (cpu < 0) {
		cpu = sp_cpu_of(s->target.tid, 0);
		if (p)
			sp_percpu_set_target_cpu(p, cpu);
	}
	if (cpu < 0)		/* the thread has ended: use its last CPU */
		cpu = s->last_cpu >= 0 || s->target.is_attached ? s->last_cpu
							     : load_relaxed(&s->writer.cpu);
	s->last_cpu = cpu;
	return cpu;
}

/* Reports a set that was not seen being created: a child of fork has its parent's sets, for
 * which PAPI counts the parent until it opens them again. */
static void report_unseen_set(void)
{
	sp_prepare_first_set();
	sp_process_note_quiet("an event set was used whose creation was not seen (a parent's, "
			      "after fork): its counts are attributed to the CPU of the reading, "
			      "unproven");
}

/* PAPI's flags for the set, such as PAPI_RUNNING. */
static int query_papi_state(int id)
{
	const struct sp_real *papi = &sp_papi_used->real;
	int state = 0;

	return papi->PAPI_state && papi->PAPI_state(id, &state) == PAPI_OK ? state : 0;
}

static bool is_running(int id)
{
	return query_papi_state(id) & PAPI_RUNNING;
}

/* The set's state for the records; 0: unknown. After a nested PAPI_stop PAPI reports both
 * states. */
static enum sp_op query_run_state(int id)
{
	int both = query_papi_state(id) & (PAPI_RUNNING | PAPI_STOPPED);

	return both == PAPI_RUNNING   ? SP_OP_IS_RUNNING
	       : both == PAPI_STOPPED ? SP_OP_IS_STOPPED
				      : 0;
}

static bool is_attached_elsewhere(const struct sp_set *s)
{
	return s->target.is_attached && s->target.thread != sp_thread_state.id;
}

/* Binds the set to the relation of its current events and starts its shadow counters. started:
 * PAPI has started the set already. */
static void bind_now(struct sp_set *s, int id, void (*prepare)(struct sp_set *s, int id),
		     bool started)
{
	struct sp_percpu *percpu;

	prepare(s, id);
	if (load_relaxed(&s->overflows.block))	/* overflow handlers may run in any module */
		sp_sites_modules();
	percpu = load_acquire(&s->percpu);
	if (percpu)
		sp_percpu_before_start(percpu, &s->perf_fds, started);
}

static void prepare_slow(int id)
{
	struct sp_set *s;
	uint64_t since;

	sp_prefault_stack();
	sp_thread_state_ready();
	s = sp_set_find(id);
	if (s && s->unseen)
		report_unseen_set();
	/* Avoid the system call while another set counts. */
	since = sp_thread_state.counting[0] ? 0 : sp_ns_of(CLOCK_THREAD_CPUTIME_ID);
	if (s && load_relaxed(&s->started) &&
	    is_running(id))	/* PAPI will refuse to start it */
		return;
	if (sp_conf.callsites)
		sp_sites_prepare();
	if (s)
		bind_now(s, id, sp_set_prepare, false);
	add_prepared(since);
}

/* Binds the set to the perf fds that PAPI_start has just opened, if they differ from those
 * before. The call in flight begins again, for the new relation. */
static void rebind_in_start(struct sp_set *s)
{
	struct sp_writer *w = &s->writer;
	uintptr_t mark = load_relaxed(&w->in_flight);

	if (load_relaxed(&s->starter) != sp_thread_state.id || !(mark & SP_IN_PAPI) ||
	    sp_records_has_missed(w) || load_relaxed(&w->slow) & (SP_SLOW_SHARED | SP_SLOW_BINDING))
		return;		/* sp_after_start handles the difference */
	sp_records_failed(w, sp_thread_state.id);
	bind_now(s, s->id, sp_set_prepare_again, false);
	if (s->is_bound)
		(void)sp_records_enter(w, SP_OP_START, mark & SP_FRAME, sp_thread_state.id, true);
}

static struct sp_set *set_of_perf_fds(struct sp_perf_fds *o)
{
	return (struct sp_set *)((char *)o - offsetof(struct sp_set, perf_fds));
}

static bool lock_perf_fds(struct sp_perf_fds *o, uint32_t *was)
{
	return sp_records_suspend(&set_of_perf_fds(o)->writer, sp_thread_state.id, was);
}

static void unlock_perf_fds(struct sp_perf_fds *o, uint32_t was)
{
	sp_records_resume(&set_of_perf_fds(o)->writer, sp_thread_state.id, was);
}

static bool is_alone(struct sp_perf_fds *o)
{
	struct sp_set *s = set_of_perf_fds(o);

	return load_relaxed(&s->is_bound) && sp_records_is_alone(&s->writer, sp_thread_state.id);
}

static bool is_reopened_same(struct sp_perf_fds *o)
{
	const struct sp_set *s = set_of_perf_fds(o);

	/* An earlier start that failed to open some of them has changed bound_changes. */
	return is_alone(o) && !load_relaxed(&s->writer.runs) &&
	       load_relaxed(&s->bound_changes) == o->prev_changes &&
	       sp_sys(SYS_gettid) == sp_thread_state.tid;
}

/* Called by perf-fds.c inside PAPI_start, when the perf fds are open and before they count:
 * finds their target and, if it changed, binds the set again. */
static void rebind_perf_fds(struct sp_perf_fds *o)
{
	struct sp_set *s = set_of_perf_fds(o);
	struct sp_count_target is;
	struct sp_percpu *p;
	uint32_t was;
	bool same;

	if (!load_relaxed(&s->is_bound) || !lock_perf_fds(o, &was))
		return;
	/* a guest thread (shared-tls.h), counted as its host */
	if (!sp_caller_is_this_thread()) {
		store_relaxed(&o->has_missed, true);
		sp_add(&o->changes, 1);
	}
	is = sp_count_target(o);
	p = load_relaxed(&s->percpu);
	same = sp_target_is_same(&is, &s->target) && (!p || sp_percpu_matches(p, o));
	/* PAPI refuses to start a running set, but may open its counters again: they begin at 0. */
	if (load_relaxed(&s->writer.runs)) {
		sp_records_zeroed(&s->writer, sp_thread_state.id, was);
		if (p)
			sp_percpu_note_missed_reset(p);
	}
	if (same)
		store_relaxed(&s->bound_changes, load_relaxed(&o->changes));
	unlock_perf_fds(o, was);
	if (!same)
		rebind_in_start(s);
}

static const struct sp_perf_fds_hooks perf_fds_hooks = { lock_perf_fds, unlock_perf_fds,
							 rebind_perf_fds, is_alone,
							 is_reopened_same };

/* Prepares a start if only the thread may have moved since the last one. Leaves the stack alone:
 * the first store to a page after a fork is a fault that PAPI also counts without sspapi. */
static void prepare_window(struct sp_set *s, int id)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);

	if (load_relaxed(&s->started) && is_running(id))
		;
	else if (p && sp_percpu_matches(p, &s->perf_fds))
		sp_percpu_before_start(p, &s->perf_fds, false);
	else
		prepare_slow(id);
}

/* The set is attached to the same other thread as at its last start, and needs no new relation. */
static bool is_still_attached(const struct sp_set *s)
{
	return sp_is_recorded(s) && is_attached_elsewhere(s) &&
	       load_relaxed(&s->starter) == sp_thread_state.id && !s->target.inherits &&
	       !s->multiplexed && !load_relaxed(&s->overflows.block) && !s->has_histograms;
}

void sp_prepare_start(int id, const struct sp_stack *at)
{
	struct sp_set *s = sp_set_of(id);

	sp_page_proof_begin_window();
	if (!s || !(sp_is_fast(s) || is_still_attached(s)) || !sp_is_prepared(s)) {
		prepare_slow(id);
		s = sp_set_of(id);
	} else if (!sp_is_ready(s, sp_proof_now())) {
		prepare_window(s, id);
	}
	/* Unwind now, before the set counts. */
	if (load_relaxed(&sp_process.unwinds) && sp_is_recorded(s))
		store_relaxed(&s->start_site, sp_site_find_at_start(at));
	sp_counting_prepare(s);
}

void sp_record_gauges(struct sp_set *s, enum sp_op op, int cpu, const long long *values)
{
	sp_gauges_record(&s->gauges, op, values ? (uint32_t)sp_records_cell(&s->writer, cpu) : 0,
		       values, values ? sp_stamp_ns() : 0);
}

/* PAPI_start has opened perf fds of another target than the set's, and rebind_perf_fds() could
 * not bind them: another thread used the set, or the call was nested. The work of binding them
 * later is counted. */
static bool has_other_target(const struct sp_set *s)
{
	struct sp_count_target is = sp_count_target(&s->perf_fds);

	return is.is_known && !s->multiplexed && !sp_target_is_same(&is, &s->target) &&
	       (s->target.is_known || is.thread != sp_thread_state.id || is.cpu >= 0);
}

/* Accepts the perf fds that PAPI has started: none of their counts is proven, and the next start
 * prepares the set again. A set that PAPI multiplexes is opened at each start and never proven. */
static void accept_other_target(struct sp_set *s)
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

SP_COLD void sp_begin_window_slow(struct sp_set *s)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);
	int saved = errno;

	if (!p)			/* a nested call dropped it */
		return;
	if (is_attached_elsewhere(s) || sp_caller_is_this_thread())
		sp_percpu_after_reset(p, load_relaxed(&s->writer.window_proof), &s->perf_fds);
	else
		sp_percpu_note_missed_reset(p);
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
	sp_times_unwatched(t, (uint32_t)(shares->unwatched_cpu + 1));
}

static void attribute_parts(struct sp_set *s, const struct sp_shares *shares)
{
	if (s->times)
		add_times(s, shares);
	sp_relation_set_attribution(s->writer.relation, shares->how, shares->why);
}

/* The thread was on this CPU from the last reading until now. A nested call since `proof` has
 * begun another window, which proves nothing about values that PAPI returned before it. */
static bool has_stayed(const struct sp_set *s, uint32_t proof)
{
	return s->writer.window_proof == proof && sp_proof_now() == proof;
}

bool sp_has_stayed_by_clock(const struct sp_set *s)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);
	int saved = errno, cpu = p ? sp_percpu_stayed_cpu(p) : SP_NO_CPU;
	bool stays = cpu >= 0 && sp_caller_is_this_thread() && cpu == load_relaxed(&s->writer.cpu);

	errno = saved;
	return stays;
}

/* The set counts, according to the calls so far. A stopped set returns no new counts; its values
 * may be older than its relation. */
static bool is_counting(const struct sp_set *s)
{
	return load_relaxed(&s->writer.runs) || load_relaxed(&s->started);
}

/* Scans the shadow counters of a set whose thread may have moved since the last reading. The counts
 * go to the CPUs in b->parts, the rest to b->cpu. False: no scan is possible now, or the set is
 * stopped; all counts go to b->cpu, unproven. */
static bool find_parts(struct sp_set *s, struct sp_papi_call *b, uint32_t proof,
		       struct sp_shares *shares, struct sp_parts *parts)
{
	/* a nested call may drop it (percpu-lifetime.h) */
	struct sp_percpu *p = load_relaxed(&s->percpu);
	struct sp_writer *w = &s->writer;
	bool known;

	if (!p || !is_counting(s))
		return false;
	/* A scan by a guest thread would read its host's counters. */
	known = is_attached_elsewhere(s) || sp_caller_is_this_thread();
	if (!known || !w->runs || sp_records_has_missed(w)) {
		sp_percpu_note_missed_reset(p);
		sp_relation_set_attribution(w->relation, SP_BY_READING,
					    known ? SP_WHY_HANDLER : SP_WHY_GUEST);
		return false;
	}
	if (!sp_percpu_window(p,
			      &(struct sp_percpu_reading){ .last = w->values,
						   .value = (const int64_t *)b->x,
						   .keeps_counting = b->op == SP_OP_READ,
						   .perf_fds = &s->perf_fds,
						   .proof = proof,
						   .cpu = b->cpu },
			      shares)) {
		sp_relation_set_attribution(w->relation, shares->how, shares->why);
		return false;
	}
	*parts = (struct sp_parts){
		.n = shares->n, .cpu = shares->cpu, .at = shares->counts, .proven = shares->proven
	};
	b->parts = parts;
	b->cpu = shares->last;
	return true;
}

/* Releases the parts after the record has used them. From then on another thread may bind the
 * set again; the memory of its shadow counters stays mapped. */
static void release_parts(struct sp_set *s)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);

	if (!p)
		return;
	if (sp_percpu_needs_time(p))
		store_relaxed(&s->fast_thread, 0);
	sp_percpu_end_window(p);
}

static bool is_zeroing(enum sp_op op)
{
	return op == SP_OP_START || op == SP_OP_RESET || op == SP_OP_ACCUM;
}

/* Begins a window after a call that zeroes the set, and before its record is written, unless the
 * record uses the scan: a handler that reads the set right after the record must find the window
 * begun. stayed: the shadow counters were ready before the call, so that no scan is needed. If
 * PAPI had started the set before sp_set_prepare_again(), they are ready only since then. */
static void begin_window(struct sp_set *s, bool stayed, enum sp_op op, uint32_t proof)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);

	if (!p)
		return;
	if (op == SP_OP_WRITE)
		sp_percpu_note_missed_reset(p);
	else if (is_zeroing(op) && stayed && proof == sp_proof_now() && sp_is_ready(s, proof))
		sp_percpu_note_reset(p);
	else if (is_zeroing(op))
		sp_begin_window_slow(s);
	if (op == SP_OP_START)
		sp_percpu_set_time_from(p, sp_ticks());
}

/* Tries the short functions of records.h, which suffice for ordinary sets. */
static bool record_fast(struct sp_writer *w, const struct sp_papi_call *b)
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

/* Detects that an unseen call zeroed the kernel's counters: PAPI opened them again, or other
 * code uses their descriptor. The fall itself must not be subtracted. */
static void detect_zeroing(struct sp_set *s, const long long *values)
{
	bool fell = false;

	for (uint32_t e = 0; e < s->k; e++)
		fell = fell || values[e] < s->writer.values[e];
	/* A missed call may have zeroed the set (rules.c). */
	if (!fell || s->writer.baseline || sp_records_has_missed(&s->writer))
		return;
	__atomic_fetch_or(&s->writer.relation->flags, SP_RELATION_BACKWARDS, __ATOMIC_RELAXED);
	/* SP_OP_RESET would be nested in this call and zero the set after it. */
	sp_records_missed(&s->writer, SP_OP_MISSED, sp_thread_state.id);
}

/* Records a call that PAPI has answered. Finds its call site; proves that the thread stayed, or
 * finds the parts of the window; begins the next window after a zeroing; adds the record. cpu:
 * where the values were read; SP_NO_CPU: the call has no values. */
static void record_on_cpu(struct sp_set *s, enum sp_op op, int cpu, const long long *values,
			  uint32_t proof, const struct sp_stack *at)
{
	uint32_t site = op == SP_OP_START && load_relaxed(&sp_process.unwinds)
				? load_relaxed(&s->start_site)
				: sp_site_find(at, op);
	bool own = load_relaxed(&s->starter) == sp_thread_state.id, fast = sp_is_fast(s), has_parts,
	     timed;
	struct sp_papi_call b = {
		.op = op, .cpu = cpu, .x = values, .site = site, .who = sp_thread_state.id
	};
	struct sp_percpu *p;
	struct sp_shares shares;
	struct sp_parts parts;

	if (op == SP_OP_START &&
	    load_relaxed(&s->bound_changes) != load_relaxed(&s->perf_fds.changes))
		accept_other_target(s);
	p = load_relaxed(&s->percpu);
	if (values && op != SP_OP_WRITE && s->is_monotonic && is_counting(s))
		detect_zeroing(s, values);
	if (!own)
		sp_proof_note_nested();
	timed = own && !fast && p && sp_percpu_needs_time(p);
	b.proven = (fast || timed) && !s->writer.placed && !s->multiplexed &&
		   !sp_records_has_missed(&s->writer) &&
		   (has_stayed(s, proof) ||
		    (fast && values && op != SP_OP_STOP && sp_has_stayed_by_clock(s)));
	if (own)
		store_relaxed(&s->writer.window_proof, proof);
	has_parts = !b.proven && values && op != SP_OP_WRITE &&
		    find_parts(s, &b, proof, &shares, &parts);
	if (has_parts)
		attribute_parts(s, &shares);
	else
		begin_window(s, fast && (b.proven || op != SP_OP_ACCUM), op, proof);
	if (has_parts && is_zeroing(op))
		sp_percpu_note_missed_reset(p);
	if (op == SP_OP_START && s->target.thread != sp_thread_state.id)
		(void)sp_find_set_cpu(s);	/* the target may end before the first reading */
	if (!fast || has_parts || !record_fast(&s->writer, &b)) {
		if (SP_UNLIKELY(load_relaxed(&s->gauges.n)))
			sp_record_gauges(s, op, cpu, values);
		(void)sp_records_finish(&s->writer, &b);
	}
	if (has_parts) {
		release_parts(s);
		begin_window(s, false, op, proof);
	}
	if (b.proven && values && (timed || (fast && op == SP_OP_STOP)))
		sp_add_run_time(s, sp_ticks());
	if (SP_UNLIKELY(sp_process.dumped))
		sp_end_dump_again();
}

void sp_drop_call(struct sp_set *called)
{
	if (called)
		sp_records_failed(&called->writer, sp_thread_state.id);
}

/* Inside the call of PAPI, a handler or a fork in one replaced the set, or another thread bound
 * it again (sp_records_can_finish). False: the writer belongs to this call until it is recorded. */
static bool is_obsolete(struct sp_set *called)
{
	struct sp_writer *w = called ? &called->writer : NULL;

	if (!w || (sp_is_recorded(called) &&
		   load_relaxed(&w->in_flight) | (load_relaxed(&w->slow) & SP_SLOW_SHARED) &&
		   sp_records_can_finish(w, sp_thread_state.id)))
		return false;
	sp_drop_call(called);
	return true;
}

/* Notes a call that was nested, or during which the writer was another thread's: its values are
 * in no sum. After a nested call the relation is marked as unproven. */
static void note_missed(struct sp_set *s, enum sp_op op, const long long *values)
{
	struct sp_percpu *p = load_acquire(&s->percpu);

	/* Without a relation, as before a set's first start, only this number shows that the
	 * counts after a missed start are lost. */
	if ((values || !load_relaxed(&s->writer.relation)) &&
	    !sp_records_is_nested(&s->writer, sp_thread_state.id) && sp_store.header)
		sp_add(&sp_store.header->dropped_readings, 1);
	if (p)
		sp_percpu_note_missed_reset(p);
	if (op != SP_OP_READ)
		sp_records_missed(&s->writer, op, sp_thread_state.id);
}

static void record_here(struct sp_set *s, enum sp_op op, const long long *values, uint32_t proof,
			const struct sp_stack *at)
{
	/* A call without values needs no CPU. To find another thread's, or one without rseq,
	 * takes system calls. */
	int cpu = values ? sp_find_set_cpu(s) : SP_NO_CPU;

	sp_page_proof_begin_window();
	record_on_cpu(s, op, cpu, values, proof, at);
}

int sp_record_entry(struct sp_set *called, struct sp_set *s, enum sp_op op, const long long *values,
		    uint32_t proof, const struct sp_stack *at,
		    enum sp_entries (*choose)(int cpu, void *arg), void *arg)
{
	int cpu;

	if (!called || is_obsolete(called)) {
		note_missed(s, op, values);
		return SP_NO_CPU;
	}
	cpu = sp_find_set_cpu(s);
	s->writer.entries = choose(cpu, arg);
	record_on_cpu(s, op, cpu, values, proof, at);
	s->writer.entries = SP_ENTRIES_NONE;
	if (op == SP_OP_STOP) {
		store_relaxed(&s->started, false);
		sp_counting_stop(s);
	}
	return cpu;
}

/* Counts a lost reading of a running set that has no relation: no memory, or not counts. Without
 * sp_set nothing shows whether the set runs. */
static void count_dropped(const struct sp_set *s)
{
	if ((s ? load_relaxed(&s->alive) && load_relaxed(&s->started)
	       : load_relaxed(&sp_sets_lost)) &&
	    sp_store.header)
		sp_add(&sp_store.header->dropped_readings, 1);
}

/* Queries the set's state after missed calls: the records show neither whether it runs nor which
 * perf fds count. */
static void resync_state(struct sp_set *s, int id)
{
	enum sp_op is = query_run_state(id);

	sp_records_set_running(&s->writer, is, sp_thread_state.id);
	if (is)
		store_relaxed(&s->started, is == SP_OP_IS_RUNNING);
	if (is == SP_OP_IS_RUNNING &&
	    load_relaxed(&s->bound_changes) != load_relaxed(&s->perf_fds.changes))
		accept_other_target(s);
	if (is == SP_OP_IS_RUNNING && load_relaxed(&s->gauges.n))
		sp_record_gauges(s, SP_OP_START, SP_NO_CPU, NULL);
}

static void scan_before_papi(struct sp_set *s, enum sp_op op)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);

	if (!p || !is_counting(s))
		return;
	if (sp_percpu_share(p))
		store_relaxed(&s->fast_thread, 0);
	if (op == SP_OP_RESET)		/* returns no values to prove */
		return;
	sp_percpu_read_before(p, op == SP_OP_STOP || op == SP_OP_ACCUM, s->writer.values,
			      &s->perf_fds);
}

/* Marks the relation as read by another thread than the counted one. If the target is no thread
 * of this process, the starter is the expected reader. */
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

	if (!sp_is_recorded(s))
		return NULL;
	(void)sp_thread_state_ready();		/* possibly the thread's first call */
	own = load_relaxed(&s->starter) == sp_thread_state.id;
	if (!own)
		store_relaxed(&s->fast_thread, 0);
	if (!sp_records_enter(&s->writer, op, frame, sp_thread_state.id, own)) {
		sp_proof_note_nested();
		return NULL;
	}
	if (op != SP_OP_START)
		note_reader(s);
	scan_before_papi(s, op);
	if (SP_UNLIKELY(load_relaxed(&s->writer.slow) & SP_SLOW_AFTER))
		resync_state(s, id);
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

	/* Another thread may use the set by now. */
	if (s && sp_is_fast(s) && !sp_is_ready(s, sp_proof_now()) &&
	    !load_relaxed(&s->writer.in_flight))
		scan_before_papi(s, SP_OP_STOP);
	return sp_begin_call(id, op, frame);
}

/* Unwinds a new call path before PAPI zeroes the set: 10,000 instructions per frame between that
 * and the scan would be in PAPI's counts alone. */
struct sp_set *sp_before_zero(int id, enum sp_op op, const struct sp_stack *at, uintptr_t frame)
{
	struct sp_set *s = sp_set_of(id);

	if (load_relaxed(&sp_process.unwinds) && sp_is_recorded(s))
		(void)sp_site_find(at, op);
	return op == SP_OP_ACCUM ? sp_begin_ending_call(id, op, frame)
				 : sp_begin_call(id, op, frame);
}

struct sp_set *sp_begin_start(int id, uintptr_t frame)
{
	struct sp_set *s = sp_set_of(id), *called = sp_begin_call(id, SP_OP_START, frame);
	uint32_t was;

	sp_opening_set = s ? (uintptr_t)&s->perf_fds | SP_IS_REOPENING : 0;
	/* A start that PAPI refused may have closed all perf fds and opened none. */
	if (s && lock_perf_fds(&s->perf_fds, &was)) {
		store_relaxed(&s->perf_fds.to_reopen,
			      sp_perf_fds_all(&s->perf_fds) ? 0 : s->perf_fds.complete);
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

	sp_thread_state_ready();		/* possibly the thread's first call */
	called = sp_begin_ending_call(id, SP_OP_STOP, frame);
	if (!*values && (called || sp_is_recorded(s)))
		*values = s->room.values;
	return called;
}

void sp_drop_run(struct sp_set *called)
{
	if (called)
		store_relaxed(&called->started, load_relaxed(&called->writer.runs));
	sp_drop_call(called);
}

/* Begins a start again after rebinding the set inside it. */
static struct sp_set *restart_call(struct sp_set *s)
{
	if (!sp_is_recorded(s) ||
	    !sp_records_enter(&s->writer, SP_OP_START, (uintptr_t)__builtin_frame_address(0),
			      sp_thread_state.id, true))
		return NULL;
	sp_records_returned(&s->writer);
	return s;
}

void sp_after_start(struct sp_set *called, int rc, int id, uint32_t proof,
		    const struct sp_stack *at)
{
	struct sp_set *s = sp_set_of(id);

	if (rc != PAPI_OK) {
		sp_drop_run(called);
		sp_after_start_failed(rc);
		return;
	}
	if (called && sp_thread_state.by_page)
		(void)sp_page_proof_after_start(&called->perf_fds, proof);
	if (!s)
		return;
	if (called && !is_obsolete(called) &&
	    load_relaxed(&s->bound_changes) != load_relaxed(&s->perf_fds.changes) &&
	    has_other_target(s)) {
		sp_drop_call(called);
		bind_now(s, id, sp_set_prepare_again, true);
		called = restart_call(s);
	}
	if (!called)
		store_relaxed(&s->started, true);
	sp_record_call(called, id, SP_OP_START, NULL, proof, at);
	sp_counting_start(s);
}

SP_COLD void sp_sites_after_stop(void)
{
	int saved = errno;

	/* Wait until no set of this thread counts. */
	if (load_relaxed(&sp_process.sites_due) && !sp_sets_running(sp_thread_state.id))
		sp_sites_resolve();
	errno = saved;
}

void sp_after_stop(struct sp_set *called, int rc, int id, const long long *values, uint32_t proof,
		   const struct sp_stack *at)
{
	struct sp_set *s = sp_set_of(id);

	if (rc != PAPI_OK) {
		sp_drop_run(called);
		return;
	}
	if (s)
		sp_counting_stop(s);
	sp_record_call(called, id, SP_OP_STOP, values, proof, at);
	if (!s)
		return;
	if (SP_UNLIKELY(s->has_histograms) && sp_is_recorded(s))
		sp_histograms_read(s);
	store_relaxed(&s->started, called && load_relaxed(&s->writer.runs));
	sp_sites_after_stop();
}

void sp_record_call(struct sp_set *called, int id, enum sp_op op, const long long *values,
		    uint32_t proof, const struct sp_stack *at)
{
	struct sp_set *s = sp_set_of(id);

	if (called && !is_obsolete(called))
		record_here(s, op, values, proof, at);
	else if (called || sp_is_recorded(s) ||
		 (s && load_relaxed(&s->writer.slow) & SP_SLOW_BINDING))
		note_missed(s, op, values);
	else if (values || op == SP_OP_STOP)
		count_dropped(s);
}

void sp_after_read(struct sp_set *called, int rc, int id, const long long *values, uint32_t proof,
		   const struct sp_stack *at)
{
	if (rc != PAPI_OK)
		sp_drop_call(called);
	else
		sp_record_call(called, id, SP_OP_READ, values, proof, at);
}

void sp_after_reset(struct sp_set *called, int rc, int id, uint32_t proof,
		    const struct sp_stack *at)
{
	if (rc != PAPI_OK)
		sp_drop_call(called);
	else
		sp_record_call(called, id, SP_OP_RESET, NULL, proof, at);
}

void sp_after_accum(struct sp_set *called, int rc, int id, const long long *values,
		    long long *before, uint32_t proof, const struct sp_stack *at)
{
	uint32_t k = rc == PAPI_OK ? sp_events_of(id) : 0;

	/* If a handler changed the number of events, the added counts are unknown. */
	if (!k || k != (uint64_t)before[-1]) {
		if (k)
			count_dropped(sp_set_of(id));
		sp_drop_call(called);
		return;
	}
	for (uint32_t e = 0; e < k; e++)
		before[e] =
			(long long)((unsigned long long)values[e] - (unsigned long long)before[e]);
	sp_record_call(called, id, SP_OP_ACCUM, before, proof, at);
}

/* Makes the kernel fetch the pages by FUTEX_WAKE, which counts no fault and takes no lock for a
 * page that is there. madvise waits while other threads map memory (seen: 23 waits in 500
 * threads). No thread waits on an address in the array. */
SP_COLD void sp_prefault_array(struct sp_set *s, const long long *values)
{
	uintptr_t page = (uintptr_t)values / SP_ARRAY_GRAIN,
		  last = (uintptr_t)(values + s->k - 1) / SP_ARRAY_GRAIN;
	int saved = errno;

	s->accum_pages[page % SP_COUNT(s->accum_pages)] = page;
	for (; page <= last; page++)
		(void)sp_sys(SYS_futex, sp_max((uintptr_t)values, page * SP_ARRAY_GRAIN),
			     FUTEX_WAKE, 0, NULL, NULL, 0);
	errno = saved;
}

/* Records a write: the component now counts on from the values, if it can. */
void sp_after_write(struct sp_set *called, int rc, int id, const long long *values,
		    const struct sp_stack *at)
{
	if (called)
		sp_records_returned(&called->writer);
	if (rc == PAPI_OK)
		sp_record_call(called, id, SP_OP_WRITE, values, sp_proof_now(), at);
	else
		sp_drop_call(called);
}

/* ---- refusals --------------------------------------------------------- */

static const char *const error_names[] = {
	"PAPI_OK",	   "PAPI_EINVAL",	 "PAPI_ENOMEM",	     "PAPI_ESYS",
	"PAPI_ECMP",	   "PAPI_ECLOST",	 "PAPI_EBUG",	     "PAPI_ENOEVNT",
	"PAPI_ECNFLCT",	   "PAPI_ENOTRUN",	 "PAPI_EISRUN",	     "PAPI_ENOEVST",
	"PAPI_ENOTPRESET", "PAPI_ENOCNTR",	 "PAPI_EMISC",	     "PAPI_EPERM",
	"PAPI_ENOINIT",	   "PAPI_ENOCMP",	 "PAPI_ENOSUPP",     "PAPI_ENOIMPL",
	"PAPI_EBUF",	   "PAPI_EINVAL_DOM",	 "PAPI_EATTR",	     "PAPI_ECOUNT",
	"PAPI_ECOMBO",	   "PAPI_ECMP_DISABLED", "PAPI_EDELAY_INIT", "PAPI_EMULPASS",
	"PAPI_PARTIAL",
};

/* Notes PAPI's reason for a disabled component, if PAPI has the version that sspapi was compiled
 * for: the field's offset differs between versions. */
static void note_why_disabled(void)
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
		note_why_disabled();
	sp_out_init(&o, -1, text, sizeof(text) - 1);
	sp_out_text(&o, "PAPI refused ");
	sp_out_text(&o, what);
	sp_out_text(&o, ": ");
	sp_out_text(&o, code < SP_COUNT(error_names) ? error_names[code] : "an unknown error");
	text[o.used] = 0;
	sp_process_note_quiet(text);
}

void sp_after_start_failed(int rc)
{
	static uint64_t reported;		/* a bit per error; above: the generation */
	uint64_t was = load_relaxed(&reported), bit = rc < 0 && rc > -32 ? 1ull << -rc : 0;

	if (was >> 32 != sp_process.generation)
		was = (uint64_t)sp_process.generation << 32;
	if (was & bit)
		return;
	sp_after_failed("PAPI_start", rc);
	store_relaxed(&reported, was | bit);
}
