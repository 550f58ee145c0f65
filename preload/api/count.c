/* count.c: sspapi_start, reset, read, accum, stop: PAPI's own functions, called as the
 * wrappers would, and an entry for each reading.
 */
#include <errno.h>
#include <string.h>

#include "../../core/base/conf.h"
#include "../calls/hooks.h"
#include "../papi/elf.h"
#include "api.h"

#define CALLER ((uintptr_t)__builtin_return_address(0))
#define FRAME ((uintptr_t)__builtin_frame_address(0))

/* The libpapi that is observed, ready to be called; NULL: *rc says why not. */
static const struct sp_real *enter(uintptr_t caller, int *rc)
{
	const struct sp_real *real;
	bool observed = false;

	real = sp_enter(caller, &observed);
	*rc = PAPI_ENOINIT;
	if (!observed || !real->PAPI_is_initialized || !real->PAPI_state ||
	    !real->PAPI_num_events || !real->PAPI_is_initialized())
		return NULL;
	*rc = PAPI_ENOMEM;
	return sp_thread_state_ready() ? real : NULL;
}

/* ---- start -------------------------------------------------------------- */

/* Is libpapi in front of us?  Then what the program does to its sets, and that it makes
 * and destroys them, is not seen. */
static bool unseen(const struct sp_real *real)
{
	static int is;
	struct sp_object papi, own;

	if (!load_relaxed(&is)) {
		sp_elf_find(&papi, (uintptr_t)real->PAPI_library_init);
		sp_elf_find(&own, (uintptr_t)&unseen);
		store_relaxed(&is, papi.index < own.index ? 2 : 1);
	}
	return is == 2;
}

/* What it holds, in one number; 0: not known. */
static uint64_t read_papi_value(const struct sp_real *real, int es, int state)
{
	int codes[512], n = SP_COUNT(codes);
	uint64_t sum = 14695981039346656037u ^ (uint64_t)(state & PAPI_MULTIPLEXING);

	if (!real->PAPI_list_events || real->PAPI_list_events(es, codes, &n) != PAPI_OK || n < 0 ||
	    n > (int)SP_COUNT(codes))
		return 0;
	for (int i = 0; i < n; i++)
		sum = (sum ^ (uint32_t)codes[i]) * 1099511628211u;
	return sum ? sum : 1;
}

/* Of a set that we do not see: the record that there is, if PAPI says nothing else of it.  Whose
 * counters it holds is not known; they are taken for the calling thread's. */
static struct sp_set *refresh_set(const struct sp_real *real, int es, int state)
{
	uint64_t papi_value = read_papi_value(real, es, state);
	struct sp_set *s = sp_set_of(es);

	if (!s || !load_relaxed(&s->alive) || s->generation != sp_process.generation ||
	    !papi_value || s->held_value != papi_value)
		s = sp_set_new(es);
	if (!s)
		return NULL;
	s->unseen = true;
	s->held_value = papi_value;
	return s;
}

/* The set may be started, and is bound to a part of rel. */
static int prepare(const struct sp_real *real, struct sspapi_relation *rel, int es,
		   const struct sp_stack *at, struct sp_set **set)
{
	int state = 0, rc = real->PAPI_state(es, &state);
	struct sp_set *s;

	if (rc != PAPI_OK)
		return rc;
	if (state & PAPI_RUNNING)
		return PAPI_EISRUN;
	s = unseen(real) ? refresh_set(real, es, state) : sp_set_known(es);
	if (!s || real->PAPI_num_events(es) <= 0)
		return PAPI_EINVAL;
	s->wanted = rel;
	s->changed = true;
	sp_prepare_start(es, at);
	*set = s;
	return s->is_bound ? PAPI_OK : PAPI_ENOSUPP;	/* not counts, or no memory */
}

static struct sp_binding *part_of(struct sspapi_relation *rel, sp_off off)
{
	struct sp_binding *p = rel->parts;

	while (p && p->off != off)
		p = p->next;
	return p;
}

static int start(const struct sp_real *real, struct sspapi_relation *rel, int es,
		 const struct sp_stack *at)
{
	struct sp_set *s = NULL, *called = NULL;
	struct sp_binding *part;
	int rc = prepare(real, rel, es, at, &s);
	const uintptr_t opening = sp_opening;
	uint32_t open;

	part = rc == PAPI_OK ? part_of(rel, s->relation) : NULL;
	if (rc == PAPI_OK && !part)		/* another thread has bound it right now */
		rc = PAPI_EISRUN;
	if (rc == PAPI_OK)
		called = sp_begin_start(es, FRAME);
	open = sp_proof_now();
	if (rc == PAPI_OK)
		rc = real->PAPI_start(es);
	sp_opening = opening;
	if (called)
		sp_records_returned(&called->writer);
	if (rc == PAPI_OK) {
		sp_after_start(called, rc, es, open, at);
		s->wanted = NULL;
		/* bound anew inside its start: to another one */
		rel->current = part_of(rel, load_relaxed(&s->relation)) ?: part;
		rel->current->serial = s->alive;
		s->log.ns = sp_max(s->log.ns, rel->latest_ns);
	} else {
		sp_run_failed(called);
		if (s) {
			s->wanted = NULL;
			(void)sp_set_unbind(s);
		}
		sp_after_start_failed(rc);
	}
	return rc;
}

SP_API int sspapi_start(int event_set, sspapi_relation **rel)
{
	struct sspapi_relation *r;
	const struct sp_real *real;
	struct sp_lock_state lock_state;
	int rc;

	if (!rel)
		return PAPI_EINVAL;
	real = enter(CALLER, &rc);
	if (!real)
		return rc;
	sp_first_set();
	r = *rel ? *rel : sp_api_new();
	if (!r)
		return PAPI_ENOMEM;
	if (!sp_api_take(r, &lock_state))
		return PAPI_EINVAL;
	rc = r->own ? start(real, r, event_set, &SP_CALLED_FROM) : PAPI_EINVAL;
	sp_api_give(r, &lock_state);
	if (rc != PAPI_OK && !*rel)
		sspapi_free(r);
	else if (rc == PAPI_OK)
		*rel = r;
	return rc;
}

/* ---- the rest ------------------------------------------------------------ */

struct call {
	bool by_set;			/* the set `es`, whichever was started last */
	const struct sp_real *real;
	struct sspapi_relation *rel;
	struct sp_binding *part;
	struct sp_set *set;		/* if it is bound to the part */
	struct sp_set *called;		/* hooks.h */
	const struct sspapi_component *root;
	bool permanent;
	int rc, es;
	struct sp_stack at;		/* the program's call */
};

/* Does the set hold the part's events?  PAPI is asked which the set holds only if they may be
 * others. */
static bool is_part_bound(const struct call *c, const struct sp_set *s)
{
	const struct sp_binding *p = c->part;
	int n = (int)p->key.k, codes[n];

	if (c->real->PAPI_num_events(c->es) != n)
		return false;
	if (s->is_bound && !s->changed && !s->unseen && s->relation == p->off)
		return true;
	return c->real->PAPI_list_events &&
	       c->real->PAPI_list_events(c->es, codes, &n) == PAPI_OK && n == (int)p->key.k &&
	       memcmp(codes, p->codes, sizeof(codes)) == 0;
}

/* Is the set that the part was started with still there?  PAPI would write the values of
 * another one, or of other events, which may be more. */
static bool is_there(const struct call *c)
{
	const struct sp_set *s = sp_set_of(c->es);

	return s && s->alive && s->alive == c->part->serial && is_part_bound(c, s);
}

/* The part that this set was started on last; of several a set that was made anew may have had the
 * same number. */
static struct sp_binding *part_of_set(struct sspapi_relation *rel, int es)
{
	const struct sp_set *s = sp_set_of(es);
	struct sp_binding *p = rel->parts;

	while (p && (p->key.event_set != es || !s || p->serial != s->alive))
		p = p->next;
	return p;
}

static bool begin(struct call *c, sspapi_relation *rel, const struct sp_stack *at,
		  struct sp_lock_state *lock_state)
{
	c->at = *at;
	c->real = enter(at->to, &c->rc);
	if (!rel || !c->real) {
		c->rc = rel ? c->rc : PAPI_EINVAL;
		return false;
	}
	c->rc = PAPI_EINVAL;
	if (!sp_api_take(rel, lock_state))
		return false;
	c->rel = rel;
	c->part = !rel->own ? NULL : c->by_set ? part_of_set(rel, c->es) : rel->current;
	c->es = c->part ? c->part->key.event_set : PAPI_NULL;
	if (c->part && !is_there(c)) {
		c->rc = PAPI_ENOEVST;
		c->part = NULL;
	}
	if (!c->part) {
		sp_api_give(rel, lock_state);
		return false;
	}
	c->set = sp_set_of(c->es);
	if (!c->set->is_bound || c->set->relation != c->part->off ||
	    c->set->generation != sp_process.generation)
		c->set = NULL;
	return true;
}

/* A CPU that the given topology lacks makes no entry, as in sys-sage, but its counts are
 * booked under its number. */
static enum sp_entries entries_on(int cpu, void *arg)
{
	struct call *c = arg;

	if (c->root && cpu >= 0 && sp_api_knows_cpu(c->root, cpu) <= 0) {
		c->rc = PAPI_EINVAL;
		return SP_ENTRIES_NONE;
	}
	return c->permanent ? SP_ENTRIES_PERMANENT : SP_ENTRIES_TEMPORARY;
}

/* The set has been stopped and belongs to somebody else, or to nobody, by now.  What it
 * hands out is no new count of this relation, but makes an entry; another relation that it
 * is bound to must know of it. */
static int book_for_api(struct call *c, enum sp_op op, const long long *values, uint32_t open)
{
	struct sp_binding *p = c->part;
	int cpu = sp_cpu_here();

	sp_book_call(c->called, c->es, op, values, open, &c->at);
	sp_records_bind(&p->writer, &sp_store.reader, p->off, p->key.k, p->cells, p->kinds);
	sp_log_open(&p->log, &sp_store, p->relation, p->key.k, (uint64_t)sp_conf.readings_max);
	p->log.ns = sp_max(p->log.ns, c->rel->latest_ns);
	sp_records_log(&p->writer, &p->log, values ? entries_on(cpu, c) : SP_ENTRIES_NONE, false);
	sp_records_book(&p->writer,
			&(struct sp_booking){
				.op = op, .cpu = cpu, .x = values, .who = sp_thread_state.id });
	return cpu;
}

static void book(struct call *c, enum sp_op op, uint32_t open, uint64_t *timestamp)
{
	struct sp_binding *p = c->part;
	struct sp_log *log = c->set ? &c->set->log : &p->log;
	int cpu;

	if (c->set) {
		log->ns = sp_max(log->ns, c->rel->latest_ns);
		cpu = sp_book_entry(c->called, c->set, op, p->values, open, &c->at, entries_on, c);
	} else {
		cpu = book_for_api(c, op, p->values, open);
	}
	if (c->rc != PAPI_OK)
		return;
	c->rel->latest_ns = log->ns;
	c->rel->latest_cpu = cpu;
	if (timestamp)
		*timestamp = log->ns;
}

/* PAPI has. */
static void returned(struct call *c)
{
	if (c->called)
		sp_records_returned(&c->called->writer);
	if (c->rc != PAPI_OK)
		sp_call_failed(c->called);
}

static int reading(struct call *c, sspapi_relation *rel, enum sp_op op, const struct sp_stack *at,
		   uint64_t *timestamp)
{
	struct sp_lock_state lock_state;
	uint32_t open;
	long long *x;

	if (!begin(c, rel, at, &lock_state))
		return c->rc;
	x = c->part->values;
	if (c->root && sp_api_knows_cpu(c->root, 0) < 0) {
		sp_api_give(rel, &lock_state);
		return PAPI_EINVAL;
	}
	memset(x, 0, c->part->key.k * sizeof(*x));
	c->called = sp_begin_call(c->es, op, FRAME);
	open = sp_proof_now();
	c->rc = op == SP_OP_READ ? c->real->PAPI_read(c->es, x) :
		op == SP_OP_STOP ? c->real->PAPI_stop(c->es, x) : c->real->PAPI_accum(c->es, x);
	returned(c);
	if (c->rc == PAPI_OK) {
		book(c, op, open, timestamp);
		if (op == SP_OP_STOP && c->set)
			sp_set_release(c->set);
	}
	sp_api_give(rel, &lock_state);
	return c->rc;
}

SP_API int sspapi_read(sspapi_relation *rel, sspapi_component *root, bool permanent,
		       uint64_t *timestamp)
{
	return reading(&(struct call){ .root = root, .permanent = permanent }, rel, SP_OP_READ,
		       &SP_CALLED_FROM, timestamp);
}

SP_API int sspapi_accum(sspapi_relation *rel, sspapi_component *root, bool permanent,
			uint64_t *timestamp)
{
	return reading(&(struct call){ .root = root, .permanent = permanent }, rel, SP_OP_ACCUM,
		       &SP_CALLED_FROM, timestamp);
}

SP_API int sspapi_stop(sspapi_relation *rel, sspapi_component *root, bool permanent,
		       uint64_t *timestamp)
{
	return reading(&(struct call){ .root = root, .permanent = permanent }, rel, SP_OP_STOP,
		       &SP_CALLED_FROM, timestamp);
}

static int reset(struct call *c, sspapi_relation *rel, const struct sp_stack *at)
{
	struct sp_lock_state lock_state;
	uint32_t open;

	if (!begin(c, rel, at, &lock_state))
		return c->rc;
	c->called = sp_begin_call(c->es, SP_OP_RESET, FRAME);
	open = sp_proof_now();
	c->rc = c->real->PAPI_reset(c->es);
	returned(c);
	if (c->rc == PAPI_OK && c->set)
		sp_after_reset(c->called, c->rc, c->es, open, &c->at);
	else if (c->rc == PAPI_OK)
		book_for_api(c, SP_OP_RESET, NULL, open);
	sp_api_give(rel, &lock_state);
	return c->rc;
}

SP_API int sspapi_reset(sspapi_relation *rel)
{
	return reset(&(struct call){ .rc = 0 }, rel, &SP_CALLED_FROM);
}

/* ---- a set by itself -------------------------------------------------------- */

#define BY_SET(name, op) \
	SP_API int name(sspapi_relation *rel, int event_set, sspapi_component *root, \
			bool permanent, uint64_t *timestamp) \
	{ \
		return reading(&(struct call){ .by_set = true, \
					       .es = event_set, \
					       .root = root, \
					       .permanent = permanent }, \
			       rel, op, &SP_CALLED_FROM, timestamp); \
	}
BY_SET(sspapi_read_set, SP_OP_READ)
BY_SET(sspapi_accum_set, SP_OP_ACCUM)
BY_SET(sspapi_stop_set, SP_OP_STOP)

SP_API int sspapi_reset_set(sspapi_relation *rel, int event_set)
{
	return reset(&(struct call){ .by_set = true, .es = event_set }, rel, &SP_CALLED_FROM);
}
