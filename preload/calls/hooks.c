/* hooks.c: what each kind of PAPI call means for sets and relations. */
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../core/out.h"
#include "../../core/sys.h"
#include "../events/events.h"
#include "../life/end.h"
#include "../process/machine.h"
#include "../sets/watched.h"
#include "../split/opened.h"
#include "histograms.h"
#include "hooks.h"
#include "warm.h"

/* PAPI_DOM_* as the set has it, whether by its own option or by a default. */
static uint32_t domain_of(int id)
{
	const struct sp_real *papi = sp_papi_used ? &sp_papi_used->real : NULL;
	PAPI_option_t o = { .domain = { .eventset = id } };

	return papi && papi->PAPI_get_opt && papi->PAPI_get_opt(PAPI_DOMAIN, &o) == PAPI_OK ? (uint32_t)o.domain.domain : 0;
}

static void target(struct sp_set *s, enum sp_target kind, int id)
{
	s->target = kind;
	s->target_id = id;
	s->target_last_cpu = SP_NO_CPU;
	s->detached = false;
	s->changed = true;
	sp_put(&s->fast_thread, 0);
}

/* What was set by options holds from now on, perhaps for a set that is bound already.
 * anew: for its events, by an add, a remove, a start; for an attach, an overflow or the
 * kernel's multiplexing PAPI opens what it has (seen: in the old domain, on the old CPU).
 * Attaching to a CPU and counting all that runs on one write the same word of PAPI's: the
 * last one says which CPU it is, and it stays when the granularity is a thread's again
 * (seen: then this thread is counted while it is there). */
static void opened(struct sp_set *s, bool anew)
{
	if (s->detached)
		target(s, SP_TARGET_THREAD, 0);
	s->changed |= s->system_wide != s->wants_system || s->inherits != s->wants_inherits ||
		      (anew && s->domain != s->wants_domain);
	s->system_wide = s->wants_system;
	s->inherits = s->wants_inherits;
	if (anew) {
		s->domain = s->wants_domain;
		if (s->wants_cpu >= 0 && s->target != SP_TARGET_TID &&
		    (s->target != SP_TARGET_CPU || s->target_id != s->wants_cpu))
			target(s, SP_TARGET_CPU, s->wants_cpu);
	}
	sp_put(&s->opener, sp_self.id);
	s->opener_tid = sp_self.tid;
}

static void keep_opening(struct sp_set *s)
{
	s->before = (struct sp_opening){ .kept = true, .touched = sp_get(&sp_touched.by[s->owner]), .opener = s->opener,
					 .opener_tid = s->opener_tid, .target = s->target, .target_id = s->target_id,
					 .target_last_cpu = s->target_last_cpu,
					 .domain = s->domain, .detached = s->detached, .system_wide = s->system_wide,
					 .inherits = s->inherits };
}

static uint64_t starts_of(const struct sp_set *s)
{
	return s->writer.relation ? s->writer.relation->starts : 0;
}

/* Another set of its owner's runs: PAPI refused before it looked which was touched last. */
static void not_opened(struct sp_set *s)
{
	const struct sp_opening *b = &s->before;

	if (!b->kept || b->starts != starts_of(s))
		return;
	sp_put(&sp_touched.by[s->owner], b->touched);
	target(s, b->target, b->target_id);
	s->target_last_cpu = b->target_last_cpu;
	sp_put(&s->opener, b->opener);
	s->opener_tid = b->opener_tid;
	s->domain = b->domain;
	s->detached = b->detached;
	s->system_wide = b->system_wide;
	s->inherits = b->inherits;
	s->before.kept = false;
}

/* ---- library and threads ---------------------------------------------- */

void sp_before_init(const struct sp_real **real, bool *tell, uintptr_t caller)
{
	bool observed;

	sp_process_look();
	*real = sp_real_search(caller, &observed);
	if (sp_papi_several)
		sp_process.papi = NULL;	/* from now on each call asks */
	*tell = *tell && observed;
}

/* Files of presets that PAPI has just read: what PAPI_TOT_INS is depends on them. */
static void keep_preset_files(void)
{
	const char *csv = secure_getenv("PAPI_CSV_EVENT_FILE"), *user = secure_getenv("PAPI_USER_EVENTS_FILE");
	struct sp_header *h = sp_store.header;
	struct sp_held held;

	if (!h || (!csv && !user))
		return;
	sp_lock_take(&sp_store.lock, &held);
	if (csv && !h->csv_events)
		h->csv_events = sp_store_text(&sp_store, csv);
	if (user && !h->user_events)
		h->user_events = sp_store_text(&sp_store, user);
	sp_lock_give(&sp_store.lock, &held);
}

void sp_after_init(int rc)
{
	if (rc > 0)
		keep_preset_files();
	if (rc > 0 && sp_store.header && !sp_store.header->papi_version)
		sp_store.header->papi_version = (uint32_t)rc;	/* before 7.0 PAPI says it only now */
	if (rc < 0)
		sp_after_failed("PAPI_library_init", rc);
}

void sp_after_unregister(int rc)
{
	if (rc == PAPI_OK)
		sp_sets_forget(sp_self.id);
}

void sp_after_shutdown(void)
{
	sp_sets_forget(0);
}

/* ---- building --------------------------------------------------------- */

/* The clock that PAPI computes its presets a second with: where the kernel tells none (aarch64 has no "cpu MHz"), PAPI
 * takes another, by its version. */
static void keep_clock(void)
{
	const struct sp_papi *p = sp_get(&sp_papi_used);
	int mhz = p && p->real.PAPI_get_opt ? p->real.PAPI_get_opt(PAPI_CLOCKRATE, NULL) : 0;

	if (sp_store.header && mhz > 0)
		sp_store.header->cpu_max_khz = (uint64_t)mhz * 1000;
}

static void prepare_process(void)
{
	keep_clock();
	sp_machine_load();
	sp_warm_up();
	if (sp_process.counting)
		(void)sp_proof_test();
	if (sp_conf.attribution == SP_BY_READING)
		sp_proof_say();
	if (sp_process.counting)
		sp_split_begin();
}

/* Once in a process, before anything counts.  Other threads wait: a relation made before
 * the machine is known has no cells for its CPUs, and a set that starts before all is
 * warm counts our page faults.  Not for ever, since that thread may be stopped. */
static void before_counting(void)
{
	static uint64_t begun;		/* generation, tid of who does it */
	static uint32_t done;
	struct timespec nap = { 0, 1000000 };
	uint32_t generation = sp_process.generation;
	uint64_t was, mine;

	if (sp_acquire(&done) == generation)
		return;
	was = sp_get(&begun);
	mine = (uint64_t)generation << 32 | (uint32_t)sp_sys(SYS_gettid);
	if (was >> 32 != generation && sp_cas(&begun, &was, mine)) {
		prepare_process();
		sp_publish(&done, generation);
		return;
	}
	for (int tries = 0; was != mine && tries < 10000 && sp_acquire(&done) != generation; tries++)
		(void)sp_sys(SYS_nanosleep, &nap, NULL);
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
	(void)sp_opened_watch();
	if (sp_self_ready())
		sp_set_new(*id);
}

/* ---- what PAPI opens --------------------------------------------------- */

void sp_opens(int id)
{
	struct sp_set *s = sp_set_of(id);

	sp_opening = s && sp_get(&s->alive) && s->generation == sp_process.generation ? &s->opened : NULL;
}

void sp_opens_by_option(int option, const PAPI_option_t *o)
{
	switch (o ? option : -1) {
	case PAPI_ATTACH:
	case PAPI_DETACH:
		sp_opens(o->attach.eventset);
		break;
	case PAPI_CPU_ATTACH:
		sp_opens(o->cpu.eventset);
		break;
	case PAPI_MULTIPLEX:
		sp_opens(o->multiplex.eventset);
		break;
	case PAPI_INHERIT:
		sp_opens(o->inherit.eventset);
		break;
	case PAPI_GRANUL:
		sp_opens(o->granularity.eventset);
		break;
	case PAPI_DOMAIN:
		sp_opens(o->domain.eventset);
		break;
	}
}

/* NULL: PAPI did not, or no such set is known. */
static struct sp_set *after_open(const char *what, int rc, int id, bool anew)
{
	struct sp_set *s;

	if (rc < 0) {
		sp_after_failed(what, rc);
		return NULL;
	}
	s = sp_set_known(id);
	if (!s)
		return NULL;
	s->changed = s->has_component = true;
	s->unseen = false;		/* by this thread, right now */
	sp_put(&s->fast_thread, 0);
	s->wants_domain = domain_of(id);	/* its component's, if this gave it one */
	opened(s, anew);
	sp_set_learn(s, id);
	return s;
}

static void after_new_events(const char *what, int rc, int id)
{
	struct sp_set *s = after_open(what, rc, id, true);

	if (!s)
		return;
	sp_touch(s);
	sp_set_opened(s, id);
}

static void list_events(int id, struct sp_listed *l)
{
	const struct sp_real *papi = sp_papi_used ? &sp_papi_used->real : NULL;

	l->n = SP_COUNT(l->code);
	if (!papi || !papi->PAPI_list_events || !papi->PAPI_num_events ||
	    papi->PAPI_num_events(id) > l->n || papi->PAPI_list_events(id, l->code, &l->n) != PAPI_OK)
		l->n = 0;
}

void sp_before_remove(int id, struct sp_listed *had)
{
	sp_opens(id);
	had->n = 0;
	if (sp_opening)			/* else PAPI may not be up, and crash */
		list_events(id, had);
}

/* Where the last events go, the order of the others stays; a gap PAPI fills in an order of its own, and hands out
 * the counts of one event as another's. */
void sp_after_remove(int rc, int id, const struct sp_listed *had)
{
	struct sp_set *s = sp_set_of(id);
	struct sp_listed has = { .n = 0 };

	if (had->n)
		list_events(id, &has);
	if (s && (!had->n || has.n > had->n || memcmp(has.code, had->code, (unsigned)has.n * sizeof(*has.code)) != 0))
		s->opened.reordered = true;
	after_new_events("to remove an event", rc, id);
}

void sp_after_multiplex(int rc, int id)
{
	struct sp_set *s = after_open("PAPI_set_multiplex", rc, id, false);

	if (s)
		sp_touch(s);
}

/* The set is touched by neither; its counters are opened unless a timer is to do it. */
void sp_after_overflow(int rc, int id, int threshold, int flags)
{
	struct sp_set *s = rc == PAPI_OK ? sp_set_known(id) : NULL;

	if (s && threshold)
		s->timed = flags & PAPI_OVERFLOW_FORCE_SW;
	if (s && s->timed)
		s->changed = true;
	else
		after_open("PAPI_overflow", rc, id, false);
}

/* PAPI_PROFIL_FORCE_SW is the hardware's, too, where the kernel can profile (seen). */
void sp_after_profil(int rc, int id, int code, int threshold, const PAPI_sprofil_t *prof, int n, int flags)
{
	struct sp_set *s = after_open("PAPI_profil", rc, id, false);

	if (s)
		sp_histograms_set(s, code, prof, threshold ? n : 0, flags);
}

/* PAPI's name of it: 0x8000003b says nothing to who reads the dump. */
static const char *name_of(int code, char name[PAPI_HUGE_STR_LEN])
{
	const struct sp_real *papi = sp_papi_used ? &sp_papi_used->real : NULL;

	*name = 0;
	return papi && papi->PAPI_event_code_to_name && papi->PAPI_event_code_to_name(code, name) == PAPI_OK && *name ? name : NULL;
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

void sp_after_change(const char *what, int rc, int id)
{
	struct sp_set *s = rc == PAPI_OK ? sp_set_known(id) : NULL;

	sp_tells(what, rc);
	if (s)
		s->changed = s->has_component = true;
}

void sp_after_cleanup(int rc, int id)
{
	struct sp_set *s = rc == PAPI_OK ? sp_set_of(id) : NULL;

	if (!s)
		return;
	(void)sp_set_unbind(s);
	sp_split_drop(&s->split);
	sp_opened_forget(&s->opened);
	if (s->has_histograms)
		sp_histograms_forget(sp_get(&s->alive));
	s->has_histograms = false;
	target(s, SP_TARGET_THREAD, 0);
	if (s->owner >= SP_OWNER_CPU)		/* PAPI drops its record of the CPU */
		sp_put(&sp_touched.by[s->owner], NULL);
	else if (s->has_component)
		sp_touch(s);
	sp_put(&s->owner, s->master);
	s->wants_cpu = SP_NO_CPU;
	s->has_component = s->timed = s->system_wide = s->wants_system = s->inherits = s->wants_inherits = false;
}

void sp_after_destroy(int rc, int id, uint32_t alive)
{
	struct sp_set *s = rc == PAPI_OK ? sp_set_of(id) : NULL;

	if (!s)
		return;
	if (sp_get(&sp_process.histograms))	/* (by now the record may be that of another thread's new set) */
		sp_histograms_forget(alive);
	sp_set_forget(s, alive);
}

void sp_after_attach(int rc, int id, unsigned long tid)
{
	struct sp_set *s = rc == PAPI_OK ? sp_set_known(id) : NULL;

	if (s) {
		sp_touch(s);		/* under whom it is taken from; the target's is as it was */
		target(s, SP_TARGET_TID, (int)tid);
		sp_watch((int)tid);
		sp_put(&s->creator, 0);
		s->master = sp_owner_of_target((int)tid);
		sp_put(&s->owner, s->master);
		opened(s, false);
	} else if (rc != PAPI_OK)
		sp_after_failed("PAPI_attach", rc);
}

/* The counters stay the old target's until they are opened again. */
void sp_after_detach(int rc, int id)
{
	struct sp_set *s = rc == PAPI_OK ? sp_set_known(id) : NULL;

	sp_tells("PAPI_detach", rc);
	if (s) {
		s->detached = true;
		sp_touch(s);
	}
}

/* Its first start opens the counters for the CPU; attached to another one after that,
 * they stay where they are until they are opened again. */
static void cpu_attached(struct sp_set *s, unsigned cpu)
{
	bool again = s->owner >= SP_OWNER_CPU;

	if (!again)
		sp_touch(s);
	sp_put(&s->owner, sp_owner_of_cpu(cpu));
	if (again)
		sp_touch(s);
	s->wants_cpu = (int)cpu;
}

void sp_after_domain(int rc, int id, int domain)
{
	struct sp_set *s = rc == PAPI_OK ? sp_set_known(id) : NULL;

	sp_tells("PAPI_set_opt of PAPI_DOMAIN", rc);
	if (s) {
		s->wants_domain = (uint32_t)domain;
		sp_touch(s);
	}
}

static void set_opt_failed(int rc, int option)
{
	const char *what = "PAPI_set_opt";

	switch (option) {
#define NAME(option) case option: what = "PAPI_set_opt of " #option; break;
	NAME(PAPI_ATTACH) NAME(PAPI_DETACH) NAME(PAPI_CPU_ATTACH) NAME(PAPI_MULTIPLEX) NAME(PAPI_INHERIT) NAME(PAPI_GRANUL)
	NAME(PAPI_DOMAIN) NAME(PAPI_DEFDOM) NAME(PAPI_DEFGRN) NAME(PAPI_DATA_ADDRESS) NAME(PAPI_INSTR_ADDRESS)
	NAME(PAPI_DEF_ITIMER) NAME(PAPI_DEF_MPX_NS) NAME(PAPI_DEF_ITIMER_NS)
#undef NAME
	}
	sp_after_failed(what, rc);
}

void sp_after_set_opt(int rc, int option, const PAPI_option_t *o)
{
	struct sp_set *s;

	if (rc < 0)
		set_opt_failed(rc, option);
	if (rc != PAPI_OK || !o)
		return;
	switch (option) {
	case PAPI_ATTACH:
		sp_after_attach(rc, o->attach.eventset, o->attach.tid);
		break;
	case PAPI_DETACH:
		sp_after_detach(rc, o->attach.eventset);
		break;
	case PAPI_CPU_ATTACH:
		s = sp_set_known(o->cpu.eventset);
		if (s)
			cpu_attached(s, o->cpu.cpu_num);
		break;
	case PAPI_MULTIPLEX:
		sp_after_multiplex(rc, o->multiplex.eventset);
		break;
	case PAPI_INHERIT:
		s = sp_set_known(o->inherit.eventset);
		if (s) {
			s->wants_inherits = o->inherit.inherit != 0;
			sp_touch(s);
		}
		break;
	case PAPI_GRANUL:
		s = sp_set_known(o->granularity.eventset);
		if (s && o->granularity.granularity == PAPI_GRN_SYS)
			s->wants_cpu = sp_cpu_here();	/* PAPI takes the CPU of this call */
		if (s)
			s->wants_system = o->granularity.granularity == PAPI_GRN_SYS;
		sp_after_change("", rc, o->granularity.eventset);
		break;
	case PAPI_DOMAIN:
		sp_after_domain(rc, o->domain.eventset, o->domain.domain);
		break;
	}
}

/* ---- counting --------------------------------------------------------- */

/* The CPU whose counts the set holds now (contract section 4). */
static int where(struct sp_set *s)
{
	int cpu;

	if (s->writer.relation->scope != SP_SCOPE_THREAD && s->writer.relation->scope != SP_SCOPE_CPU)
		return SP_NO_CPU;
	if (s->book_on >= 0)
		return s->book_on;
	switch (s->target) {
	case SP_TARGET_TID:
		cpu = sp_cpu_of(s->target_id, 0);
		if (cpu < 0)
			cpu = s->target_last_cpu;	/* it has ended */
		s->target_last_cpu = cpu;
		return cpu;
	default:
		if (s->opener == sp_self.id)
			return sp_cpu_here();
		cpu = sp_cpu_of(0, s->opener_tid);
		if (cpu < 0)		/* it has ended: where it was seen last, by others or by itself */
			cpu = s->target_last_cpu >= 0 ? s->target_last_cpu : sp_get(&s->writer.cpu);
		s->target_last_cpu = cpu;
		return cpu;
	}
}

/* A child of fork has its parent's sets, and PAPI counts the parent for it until it opens them anew. */
static void take_up(void)
{
	sp_first_set();
	sp_process_note_quiet("an event set was used that was not seen being made (by a child of fork, its parent's): whose "
			      "counts these are PAPI does not tell; they are booked where they were read, none as proven");
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

/* For the records; 0: PAPI does not say (after a handler's PAPI_stop inside another one it says both). */
static enum sp_op state_of(int id)
{
	int both = papi_state(id) & (PAPI_RUNNING | PAPI_STOPPED);

	return both == PAPI_RUNNING ? SP_OP_RUNS : both == PAPI_STOPPED ? SP_OP_STANDS : 0;
}

static void prepare_slow(int id)
{
	struct sp_split *split;
	bool again = false;
	struct sp_set *s;

	sp_warm_stack();
	sp_self_ready();
	s = sp_set_known(id);
	if (s && s->unseen)
		take_up();
	if (s)
		s->before.kept = false;
	if (s && sp_get(&s->started) && runs(id))	/* PAPI will refuse to start it, and it counts on */
		return;
	if (s && !sp_is_touched(s)) {
		keep_opening(s);
		opened(s, true);
		sp_touch(s);
		again = true;
	}
	if (s && !s->domain)		/* one that we did not see being made */
		s->domain = s->wants_domain = domain_of(id);
	if (sp_conf.callsites)
		sp_sites_prepare();
	if (s) {
		sp_set_prepare(s, id);
		if (s->overflows.block)		/* its handler may be called in any of them */
			sp_sites_modules();
		split = sp_get(&s->split);
		if (split)
			sp_split_starts(split);
		if (split && again)
			sp_split_expects(split);
		s->before.starts = starts_of(s);
	}
}

/* All is as it was at the start before, but the thread may have moved since.  The stack is not warmed: the first store to a
 * page of it after a fork is a fault that PAPI counts natively. */
static void get_ready(struct sp_set *s, int id)
{
	struct sp_split *p = sp_get(&s->split);

	if (sp_get(&s->started) && runs(id))
		;
	else if (p && sp_split_holds(p, &s->opened))
		sp_split_starts(p);
	else
		prepare_slow(id);
}

void sp_prepare_start(int id, uintptr_t at)
{
	struct sp_set *s = sp_set_of(id);

	if (!sp_get(&sp_process.proof_works))
		sp_witness_starts();
	if (!s || !sp_is_fast(s) || !sp_is_prepared(s)) {
		prepare_slow(id);
		s = sp_set_of(id);
	} else if (!sp_is_ready(s, sp_proof_now())) {
		get_ready(s, id);
	}
	if (sp_get(&sp_process.unwinds) && sp_booked(s))	/* more frames take longer: not while it counts */
		s->start_site = sp_site_of_start(&s->seen[SP_SEEN_START], at);
}

static void book_gauges(struct sp_set *s, enum sp_op op, int cpu, const long long *values)
{
	sp_gauges_book(&s->gauges, op, values ? (uint32_t)sp_records_cell(&s->writer, cpu) : 0, values);
}

/* PAPI has opened the counters of the set again, or was expected to, by the start that it has answered. */
static void opened_again(struct sp_set *s)
{
	struct sp_split *p = sp_get(&s->split);

	if (!p || sp_split_holds(p, &s->opened))
		return;
	sp_split_unseen(p);
	sp_relation_told(s->writer.relation, SP_BY_READING, s->multiplexed ? SP_WHY_MULTIPLEXED : SP_WHY_UNSEEN);
	if (s->target != SP_TARGET_THREAD || s->opened.tid == s->opener_tid)
		return;
	if (s->opened.tid == sp_self.tid) {
		sp_put(&s->opener, sp_self.id);
		s->opener_tid = sp_self.tid;
	} else {
		not_opened(s);		/* it was not: the thread that opened it before is counted */
	}
	sp_put(&s->fast_thread, 0);
}

SP_COLD void sp_begin_slow(struct sp_set *s)
{
	struct sp_split *p = sp_get(&s->split);
	int saved = errno;

	if (!p)			/* a handler on top has dropped it */
		return;
	sp_split_zeroed(p, s->writer.opened, &s->opened);
	if (sp_split_needs_time(p))
		sp_put(&s->fast_thread, 0);
	errno = saved;
}

static void add_times(struct sp_set *s, const struct sp_shares *shares)
{
	struct sp_times *t = s->times;

	for (uint32_t i = 0; i <= shares->n; i++) {
		int cell = sp_records_cell(&s->writer, i < shares->n ? shares->cpu[i] : shares->last);

		sp_add(&t->at[cell], shares->ns[i]);
	}
	sp_add(&t->moves, shares->moves);
	sp_add(&t->windows, shares->n != 0);
}

/* A handler's call, on top of one that is not booked yet? */
static bool is_on_top(const struct sp_set *s, const struct sp_set *called)
{
	return called ? sp_records_is_on_top(&s->writer) : s->starter == sp_self.id && sp_get(&s->writer.in_flight);
}

/* Was the thread on this CPU all the time from the reading before until now?  A handler that booked here since `open`
 * has begun a window of its own, which proves nothing of values that PAPI returned before it. */
static bool proves(const struct sp_set *s, uint32_t open)
{
	return s->writer.opened == open && sp_proof_now() == open;
}

/* Of a set that is split, where the thread may have been elsewhere since the reading before: the parts of the booking.  False:
 * all of it is the CPU's of the reading, and not proven.  On that CPU it is booked if the split has none. */
static bool find_parts(struct sp_set *s, bool on_top, struct sp_booking *b, uint32_t open, struct sp_shares *shares,
		       struct sp_parts *parts)
{
	struct sp_split *p = sp_get(&s->split);	/* a handler on top may drop it: then it is no clock's (hold.h) */
	struct sp_writer *w = &s->writer;

	if (!p || (!w->runs && !sp_get(&s->started)))
		return false;
	/* A handler's call inside another one's, or on top of which one came: the order is found later. */
	if (!w->runs || sp_records_is_begun(w) || (sp_get(&w->slow) & SP_SLOW_OVER) || on_top) {
		sp_split_lost(p);
		sp_relation_told(w->relation, SP_BY_READING, SP_WHY_HANDLER);
		return false;
	}
	if (!sp_split_window(p, &(struct sp_answer){ .last = w->values, .value = (const int64_t *)b->x,
						      .counts_on = b->op == SP_OP_READ, .opened = &s->opened, .open = open,
						      .cpu = b->cpu }, shares)) {
		sp_relation_told(w->relation, shares->how, shares->why);
		return false;
	}
	*parts = (struct sp_parts){ .n = shares->n, .cpu = shares->cpu, .at = shares->at, .proven = shares->proven };
	b->parts = parts;
	b->cpu = shares->last;
	return true;
}

/* The booking has used them. */
static void end_parts(struct sp_set *s, const struct sp_shares *shares)
{
	struct sp_split *p = sp_get(&s->split);

	if (s->times)
		add_times(s, shares);
	sp_relation_told(s->writer.relation, shares->how, shares->why);
	if (!p)
		return;
	if (sp_split_needs_time(p))
		sp_put(&s->fast_thread, 0);
	sp_split_done(p);
}

static bool zeroes(enum sp_op op)
{
	return op == SP_OP_START || op == SP_OP_RESET || op == SP_OP_ACCUM;
}

/* After what zeroes.  stayed: no scan is needed where the split is ready for a window of the thread's own. */
static void begin_segment(struct sp_set *s, bool on_top, bool stayed, enum sp_op op)
{
	struct sp_split *p = sp_get(&s->split);

	if (!p)
		return;
	if (op == SP_OP_WRITE || (on_top && zeroes(op)))
		sp_split_lost(p);
	else if (zeroes(op) && stayed && sp_is_ready(s, sp_proof_now()))
		sp_split_fresh(p);
	else if (zeroes(op))
		sp_begin_slow(s);
	if (op == SP_OP_START)
		sp_split_begun(p);
}

/* Of a set like any other the short ways are tried first. */
static bool book_shortly(struct sp_writer *w, const struct sp_booking *b)
{
	if (b->op == SP_OP_START || b->op == SP_OP_RESET)
		return sp_records_zero(w, b->op, b->site);
	if (!b->proven || b->cpu < 0 || b->cpu != w->cpu)
		return false;
	if (b->op == SP_OP_ACCUM)
		return sp_records_accum(w, b->cpu, b->x, b->site);
	return (b->op == SP_OP_READ || b->op == SP_OP_STOP) && sp_records_value(w, b->op, b->cpu, b->x, b->site);
}

static void book_on(struct sp_set *called, struct sp_set *s, int id, enum sp_op op, int cpu, const long long *values, uint32_t open,
		    uintptr_t at)
{
	uint32_t site = op == SP_OP_START && sp_get(&sp_process.unwinds) ? s->start_site : sp_site_here(&s->seen[sp_seen_by(op)], at);
	bool own = s->starter == sp_self.id, fast = sp_is_fast(s), on_top = is_on_top(s, called), split, timed;
	struct sp_booking b = { .op = op, .cpu = cpu, .x = values, .site = site, .who = sp_self.id };
	struct sp_split *p = sp_get(&s->split);
	struct sp_shares shares;
	struct sp_parts parts;

	if (op == SP_OP_START && p && !sp_split_is_for(p, &s->opened))
		opened_again(s);
	if (!called || on_top || !own)
		sp_proof_on_top();
	timed = own && !fast && p && sp_split_needs_time(p);
	b.proven = (fast || timed) && !s->multiplexed && proves(s, open);
	if (own)
		s->writer.opened = open;
	split = !b.proven && values && op != SP_OP_WRITE && find_parts(s, on_top, &b, open, &shares, &parts);
	if (called && sp_records_is_begun(&s->writer) && (op == SP_OP_START || op == SP_OP_STOP))
		b.state = state_of(id);
	if (!called)
		sp_records_aside(&s->writer, &b);
	else if (!fast || split || !book_shortly(&s->writer, &b))
		sp_records_finish(&s->writer, &b);
	if (split)
		end_parts(s, &shares);
	if (SP_UNLIKELY(s->gauges.n))
		book_gauges(s, op, cpu, values);
	fast &= called && !on_top;
	if (b.proven && values && (timed || (fast && op == SP_OP_STOP)))
		sp_ran(s);
	begin_segment(s, on_top, fast && (b.proven || op != SP_OP_ACCUM), op);
	if (SP_UNLIKELY(sp_process.dumped))
		sp_end_again();
}

static void book(struct sp_set *called, struct sp_set *s, int id, enum sp_op op, const long long *values, uint32_t open, uintptr_t at)
{
	/* What hands out no values is the records' alone, where nothing may have moved: without rseq the CPU is a system call. */
	int cpu = !values && sp_is_fast(s) ? SP_NO_CPU : where(s);

	book_on(called, s, id, op, cpu, values, open, at);
}

/* PAPI touches a running set when it is read, reset or written, but the fast path has no time for
 * that (sspapi-limits(7), WHAT FEW PROGRAMS MEET). */
static void touch_running(struct sp_set *s)
{
	if (s && sp_get(&s->alive) && sp_get(&s->started) && !sp_is_touched(s))
		sp_touch(s);
}

int sp_book_entry(struct sp_set *called, struct sp_set *s, int id, enum sp_op op, const long long *values, uint32_t open, uintptr_t at,
		  enum sp_entries (*choose)(int cpu, void *arg), void *arg)
{
	int cpu = where(s);

	s->writer.entries = choose(cpu, arg);
	book_on(called, s, id, op, cpu, values, open, at);
	s->writer.entries = SP_ENTRIES_NONE;
	touch_running(s);
	if (op == SP_OP_STOP)
		sp_put(&s->started, false);
	return cpu;
}

/* A reading of a running set that has no relation: no memory, or not counts; of one that has
 * no record, whether it runs is not known. */
static void dropped(const struct sp_set *s)
{
	if ((s ? sp_get(&s->alive) && s->started : sp_get(&sp_sets_lost)) && sp_store.header)
		sp_add(&sp_store.header->dropped_readings, 1);
}

/* Where the records do not tell whether the set runs: a handler came on top of a start or a stop, or jumped out of one. */
static void tell_state(struct sp_set *s, int id)
{
	enum sp_op is = state_of(id);

	sp_records_runs(&s->writer, is);
	if (is == SP_OP_RUNS && s->gauges.n)
		book_gauges(s, SP_OP_START, SP_NO_CPU, NULL);
}

/* Not on top of a call for the set: that one's copies are to be those from before it, even if PAPI refuses this one. */
static void ask(struct sp_set *s, enum sp_op op)
{
	struct sp_split *p = sp_get(&s->split);

	if (!p)
		return;
	if (sp_split_share(p))
		sp_put(&s->fast_thread, 0);
	sp_split_ask(p, op == SP_OP_STOP || op == SP_OP_ACCUM, s->writer.values, &s->opened);
}

static struct sp_set *begin_slow(int id, enum sp_op op, uintptr_t frame)
{
	struct sp_set *s = sp_set_of(id);
	bool own;

	if (!sp_booked(s))
		return NULL;
	(void)sp_self_ready();		/* a thread's first call, perhaps */
	own = s->starter == sp_self.id;
	if (!own)
		sp_put(&s->fast_thread, 0);
	if (!sp_records_enter(&s->writer, op, frame, sp_self.id, own))
		return NULL;
	if (!sp_records_is_on_top(&s->writer))
		ask(s, op);
	if (SP_UNLIKELY(s->writer.asks))
		tell_state(s, id);
	return s;
}

struct sp_set *sp_begin_call(int id, enum sp_op op, uintptr_t frame)
{
	struct sp_set *s = sp_set_of(id);

	return s && sp_is_fast(s) && sp_records_begin(&s->writer, sp_records_mark(frame, op)) ? s : begin_slow(id, op, frame);
}

struct sp_set *sp_begin_ending_call(int id, enum sp_op op, uintptr_t frame)
{
	struct sp_set *s = sp_set_of(id);

	if (s && sp_is_fast(s) && !sp_is_ready(s, sp_proof_now()) && !sp_get(&s->writer.in_flight))
		ask(s, SP_OP_STOP);
	return sp_begin_call(id, op, frame);
}

struct sp_set *sp_before_start(int id, uintptr_t at, uintptr_t frame)
{
	struct sp_set *s, *called;

	sp_prepare_start(id, at);
	s = sp_set_of(id);
	called = sp_begin_call(id, SP_OP_START, frame);
	sp_opening = s ? &s->opened : NULL;
	if (SP_UNLIKELY(s && s->has_histograms))
		sp_histograms_begin(s, id);
	if (called)
		sp_put(&called->started, true);
	return called;
}

struct sp_set *sp_before_stop(int id, long long **values, uintptr_t frame)
{
	struct sp_set *s = sp_set_of(id);

	sp_self_ready();		/* a thread's first call, perhaps */
	if (!*values && sp_booked(s))
		*values = s->values;
	return sp_begin_ending_call(id, SP_OP_STOP, frame);
}

/* Nothing is booked of it. */
void sp_call_failed(struct sp_set *called)
{
	if (called)
		sp_records_failed(&called->writer, sp_self.id);
}

void sp_run_failed(struct sp_set *called)
{
	if (called)
		sp_put(&called->started, called->writer.runs);
	sp_call_failed(called);
}

/* A handler, or fork in one, made another set of it inside the call of PAPI. */
static bool gone(const struct sp_set *called)
{
	return called && !(sp_booked(called) && (sp_get(&called->writer.in_flight) | (sp_get(&called->writer.slow) & SP_SLOW_SHARED)));
}

void sp_after_start(struct sp_set *called, int rc, int id, uint32_t open, uintptr_t at)
{
	struct sp_set *s = sp_set_of(id);

	if (rc != PAPI_OK) {
		if (rc == PAPI_EISRUN && s)
			not_opened(s);
		sp_run_failed(called);
		sp_after_start_failed(rc);
		return;
	}
	if (called && !sp_get(&sp_process.proof_works))
		sp_witness_started(&called->opened, sp_cpu_now());
	if (!s || gone(called))
		return;
	if (!called)
		sp_put(&s->started, true);
	if (s->bound)
		book(called, s, id, SP_OP_START, NULL, open, at);
}

SP_COLD void sp_sites_after_stop(void)
{
	int saved = errno;

	/* Not while another set of this thread counts. */
	if (sp_get(&sp_process.sites_due) && !sp_sets_running(sp_self.id))
		sp_sites_resolve();
	errno = saved;
}

void sp_after_stop(struct sp_set *called, int rc, int id, const long long *values, uint32_t open, uintptr_t at)
{
	struct sp_set *s = sp_set_of(id);

	if (rc != PAPI_OK) {
		sp_run_failed(called);
		return;
	}
	if (!s || gone(called)) {
		dropped(s);
		return;
	}
	if (!s->bound)
		dropped(s);
	if (sp_booked(s) && values) {
		book(called, s, id, SP_OP_STOP, values, open, at);
		if (SP_UNLIKELY(s->has_histograms))
			sp_histograms_read(s);
	}
	if (sp_get(&s->alive))
		sp_touch(s);
	sp_put(&s->started, called && s->writer.runs);
	sp_sites_after_stop();
}

void sp_book_call(struct sp_set *called, int id, enum sp_op op, const long long *values, uint32_t open, uintptr_t at)
{
	struct sp_set *s = sp_set_of(id);

	if (sp_booked(s) && !gone(called))
		book(called, s, id, op, values, open, at);
	else if (values)
		dropped(s);
	touch_running(s);
}

void sp_after_read(struct sp_set *called, int rc, int id, const long long *values, uint32_t open, uintptr_t at)
{
	if (rc != PAPI_OK)
		sp_call_failed(called);
	else
		sp_book_call(called, id, SP_OP_READ, values, open, at);
}

void sp_after_reset(struct sp_set *called, int rc, int id, uint32_t open, uintptr_t at)
{
	if (rc != PAPI_OK)
		sp_call_failed(called);
	else
		sp_book_call(called, id, SP_OP_RESET, NULL, open, at);
}

void sp_after_accum(struct sp_set *called, int rc, int id, const long long *values, long long *before, uint32_t open,
		    uintptr_t at)
{
	uint32_t k = rc == PAPI_OK ? sp_events_of(id) : 0;

	/* Another number: a handler changed how many events the set has, and what was added cannot be told. */
	if (!k || k != (uint64_t)before[-1]) {
		if (k)
			dropped(sp_set_of(id));
		sp_call_failed(called);
		return;
	}
	for (uint32_t e = 0; e < k; e++)
		before[e] = (long long)((unsigned long long)values[e] - (unsigned long long)before[e]);
	sp_book_call(called, id, SP_OP_ACCUM, before, open, at);
}

/* The kernel fetches the page of a futex by itself, and counts no fault for it; one that is there without a lock, for
 * which madvise would wait while other threads map memory (seen: 23 waits in 500 threads). An address in the array: nobody
 * waits at a count. */
SP_COLD void sp_meet_array(struct sp_set *s, const long long *values)
{
	uintptr_t page = (uintptr_t)values / SP_ARRAY_GRAIN, last = (uintptr_t)(values + s->k - 1) / SP_ARRAY_GRAIN;
	int saved = errno;

	s->arrays[page % SP_COUNT(s->arrays)] = page;
	for (; page <= last; page++)
		(void)sp_sys(SYS_futex, sp_max((uintptr_t)values, page * SP_ARRAY_GRAIN), FUTEX_WAKE, 0, NULL, NULL, 0);
	errno = saved;
}

/* The component now counts on from the values written, if it can. */
void sp_after_write(struct sp_set *called, int rc, int id, const long long *values, uintptr_t at)
{
	if (called)
		sp_records_returned(&called->writer);
	if (rc == PAPI_OK)
		sp_book_call(called, id, SP_OP_WRITE, values, sp_proof_now(), at);
	else
		sp_call_failed(called);
	if (rc == PAPI_ENOSUPP)
		touch_running(sp_set_of(id));
}

/* ---- refusals --------------------------------------------------------- */

static const char *const codes[] = {
	"PAPI_OK", "PAPI_EINVAL", "PAPI_ENOMEM", "PAPI_ESYS", "PAPI_ECMP", "PAPI_ECLOST", "PAPI_EBUG", "PAPI_ENOEVNT",
	"PAPI_ECNFLCT", "PAPI_ENOTRUN", "PAPI_EISRUN", "PAPI_ENOEVST", "PAPI_ENOTPRESET", "PAPI_ENOCNTR", "PAPI_EMISC",
	"PAPI_EPERM", "PAPI_ENOINIT", "PAPI_ENOCMP", "PAPI_ENOSUPP", "PAPI_ENOIMPL", "PAPI_EBUF", "PAPI_EINVAL_DOM",
	"PAPI_EATTR", "PAPI_ECOUNT", "PAPI_ECOMBO", "PAPI_ECMP_DISABLED", "PAPI_EDELAY_INIT", "PAPI_EMULPASS", "PAPI_PARTIAL",
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
		sp_out_bytes(&o, c->disabled_reason, strnlen(c->disabled_reason, sizeof(c->disabled_reason)));
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
	static uint64_t told;		/* a bit for each error; the process's generation */
	uint64_t was = sp_get(&told), bit = rc < 0 && rc > -32 ? 1ull << -rc : 0;

	if (was >> 32 != sp_process.generation)
		was = (uint64_t)sp_process.generation << 32;
	if (was & bit)
		return;
	sp_after_failed("PAPI_start", rc);
	sp_put(&told, was | bit);
}
