/* order.c: see order.h. */
#include <string.h>

#include "order.h"

#define CALLS	6u			/* calls on top of each other, or one after the other, in one stretch */
#define EVENTS	8u			/* that are looked at */
#define TRIES	4000u			/* orders, */
#define STEPS	(64 * TRIES)		/* and places that a call is tried in: of a store that a stranger has made none may be an order */

/* A call on top of which others came. */
struct call {
	uint32_t begin, end;		/* its records */
	uint32_t op;
	bool left;			/* a handler jumped out of it */
	bool failed;
	/* Where it is tried now: behind these records it read (or started), and it zeroed (or stopped). */
	uint32_t reads, changes;
	bool none;			/* PAPI had done nothing of it yet (left) */
	bool again;			/* it handed out what a handler's call on top had left in the set */
};

struct shown;

struct search {
	const struct sp_fold *f;
	const struct shown *from;	/* where it begins; NULL: as the fold's state has it */
	const struct sp_record *const *record;
	uint32_t n, all, calls, tries, steps;
	bool tells;
	struct call call[CALLS];
	uint32_t depth[SP_RECORDS + CALLS];	/* how many calls each record is on top of */
	/* The best so far. */
	bool found, unsure, hidden;	/* hidden: what the set hands out, which stands, is not known */
	uint32_t denied, amid;
	uint64_t counted;
	struct call best[CALLS];
	bool runs, known;		/* behind what was looked at (struct shown) */
	int64_t last[EVENTS];
};

/* A set as the values show it. */
struct shown {
	bool runs, known;		/* known: a set that stands hands out `last` */
	bool left;			/* or what it handed out to nobody, when a handler jumped out of its PAPI_stop */
	int64_t last[EVENTS];
	uint64_t counted;
	int64_t kept[EVENTS];		/* what the last PAPI_accum or PAPI_stop left in the set */
	bool has_kept;
	bool wrong;
	uint32_t denied;		/* what PAPI_state said that was not so: PAPI may have been changing the state just then */
};

static uint32_t looked_at(const struct sp_fold *f)
{
	return f->k < EVENTS ? f->k : EVENTS;
}

static bool tells(const struct search *s, uint32_t e)
{
	return s->tells && sp_values_of(s->f, e) == SP_COUNTS;
}

/* ---- one order ------------------------------------------------------------- */

static void see_value(const struct search *s, struct shown *is, const int64_t *x, bool ends_run)
{
	for (uint32_t e = 0; e < looked_at(s->f); e++) {
		if (!tells(s, e))
			continue;
		if (is->runs || is->left) {
			is->wrong |= x[e] < is->last[e];
			is->counted += (uint64_t)x[e] - (uint64_t)is->last[e];
			is->last[e] = x[e];
		} else {
			is->wrong |= is->known && x[e] != is->last[e];
			is->last[e] = x[e];
		}
		if (ends_run)
			is->kept[e] = x[e];
	}
	is->known |= !is->runs;
	is->left = false;
	is->has_kept |= ends_run;
}

static void see_zeroing(struct shown *is, bool in_flight)
{
	/* PAPI zeroes the counters, or what a set that stands hands out: which of them it chose before. */
	if (in_flight && !is->runs)
		is->known = false;
	else
		memset(is->last, 0, sizeof(is->last));
}

/* What the set hands out from now on is what the stop did, or what a handler's call on top of the stop has left. */
static void see_stop(struct shown *is, const struct sp_record *r)
{
	is->wrong |= !is->runs && !(r->what & SP_RECORD_ENDS);
	is->runs = false;
	is->known = !(r->what & SP_RECORD_ENDS);
	is->left = sp_record_op(r) == SP_OP_LEFT;
}

/* A call that PAPI has begun stops the set even if a handler has stopped it meanwhile. */
static void see(const struct search *s, struct shown *is, const struct sp_record *r, uint32_t does, bool again)
{
	uint32_t op = sp_record_op(r);

	if (does & SP_DOES_START) {
		is->wrong |= is->runs;
		is->runs = is->known = true;
		is->left = false;
		memset(is->last, 0, sizeof(is->last));
	}
	if ((does & SP_DOES_VALUE) && again)
		is->wrong |= !is->has_kept || memcmp(is->kept, r->value, looked_at(s->f) * 8) != 0;
	else if (does & SP_DOES_VALUE)
		see_value(s, is, r->value, op == SP_OP_STOP || op == SP_OP_ACCUM);
	if ((does & SP_DOES_ZERO) && !(r->what & SP_RECORD_KEEPS))
		see_zeroing(is, r->what & SP_RECORD_ENDS);
	if (does & SP_DOES_STOP)
		see_stop(is, r);
	if (op == SP_OP_RUNS || op == SP_OP_STANDS)
		is->denied += is->runs != (op == SP_OP_RUNS);
	if ((does & SP_DOES_REST) && op == SP_OP_WRITE && is->runs)
		memcpy(is->last, r->value, looked_at(s->f) * 8);
}

/* What an ended call does behind record i. */
static uint32_t does_here(const struct call *c, uint32_t i)
{
	uint32_t does = sp_rules_does(c->op), now = 0;

	if (c->failed)
		return 0;
	if (c->none)
		return c->begin == i ? SP_DOES_REST : 0;
	if (c->reads == i)
		now |= does & (c->left ? SP_DOES_START : SP_DOES_START | SP_DOES_VALUE | SP_DOES_REST);
	if (c->changes == i)
		now |= does & (SP_DOES_ZERO | SP_DOES_STOP);
	return now;
}

static bool is_plain(const struct sp_record *r)
{
	uint32_t op = sp_record_op(r);

	return op != SP_OP_BEGIN && op != SP_OP_LEFT && op != SP_OP_FAILED && !(r->what & SP_RECORD_ENDS);
}

/* The order as the calls are placed now: each thing done is given to `with`. */
static void go_through(const struct search *s, const struct call *call,
		       void (*with)(void *arg, uint32_t record, uint32_t does, bool again), void *arg)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (is_plain(s->record[i]))
			with(arg, i, sp_rules_does(sp_record_op(s->record[i])), false);
		for (uint32_t c = 0; c < s->calls; c++)
			if (does_here(&call[c], i))
				with(arg, call[c].end, does_here(&call[c], i), call[c].again);
	}
}

struct trial {
	const struct search *s;
	struct shown is;
};

static void try_one(void *arg, uint32_t record, uint32_t does, bool again)
{
	struct trial *t = arg;

	see(t->s, &t->is, t->s->record[record], does, again);
}

static bool find_calls(struct search *s);
static void try_all(struct search *s, uint32_t c);
static uint32_t end_of(const struct sp_record *const *record, uint32_t i, uint32_t n);

/* The next stretch, which begins at record i: some order of it has to go on from here.  (A reading of 3 behind a start was not
 * where the next one, on top of which a handler read 3, had read 0: tests/long/proven.t.) */
static void look_at_stretch(struct search *s, struct shown *is, uint32_t i)
{
	uint32_t end = end_of(s->record, i, s->all);
	struct search next = { .f = s->f, .from = is, .record = s->record + i, .n = end + 1 - i, .all = s->all - i, .tells = s->tells,
			       .steps = s->steps };

	if (end == s->all || !find_calls(&next))
		return;
	try_all(&next, 0);
	s->steps = next.steps;
	is->wrong |= !next.found && next.tries < TRIES && next.steps < STEPS;
}

/* Up to the first value behind the stretch, which the order has to fit, too. */
static void look_behind(struct search *s, struct trial *t)
{
	for (uint32_t i = s->n; i < s->all; i++) {
		uint32_t does = sp_rules_does(sp_record_op(s->record[i]));

		if (!is_plain(s->record[i])) {
			if (sp_record_op(s->record[i]) == SP_OP_BEGIN && !s->from && !t->is.wrong)
				look_at_stretch(s, &t->is, i);
			break;
		}
		if (sp_record_op(s->record[i]) == SP_OP_PART || sp_record_op(s->record[i]) == SP_OP_PROVEN)
			continue;
		see(s, &t->is, s->record[i], does, false);
		if (does & (SP_DOES_VALUE | SP_DOES_START | SP_DOES_ZERO))
			break;
	}
}

/* How much was done between two records on top of its call: each time a handler ended, and another one came. */
static uint32_t amid(const struct search *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->calls; i++) {
		const struct call *c = &s->call[i];

		if (c->none || c->failed)
			continue;
		n += c->reads > c->begin && c->reads < c->end - 1;
		n += c->changes != c->reads && c->changes > c->begin && c->changes < c->end - 1;
	}
	return n;
}

/* Is what is found already the likelier one?  Of those that count as much the last one is: PAPI does things late. */
static bool is_likelier(const struct search *s, uint32_t amid, uint64_t counted, bool again)
{
	if (s->amid != amid)
		return s->amid < amid;
	return s->counted != counted ? s->counted < counted : again;
}

static bool goes_on_alike(const struct search *s, const struct shown *is)
{
	return s->known == is->known && memcmp(s->last, is->last, looked_at(s->f) * 8) == 0;
}

/* Of one more order that the values allow: does it count the same, here and behind? */
static void compare(struct search *s, const struct shown *is)
{
	if (s->counted != is->counted || s->runs != is->runs)
		s->unsure = true;
	else if (!goes_on_alike(s, is))
		*(is->runs ? &s->unsure : &s->hidden) = true;
}

static void begin(const struct search *s, struct shown *is)
{
	uint32_t flags = s->f->state->flags;

	if (s->from) {
		*is = *s->from;
		is->counted = is->denied = 0;
		return;
	}
	is->runs = flags & SP_STATE_RUNNING;
	is->left = flags & SP_STATE_LEFT;
	is->known = is->runs || !(flags & SP_STATE_HIDDEN);
	for (uint32_t e = 0; e < looked_at(s->f); e++)
		is->last[e] = sp_state_row(s->f->state, s->f->k, SP_LAST)[e];
}

static void try_order(struct search *s)
{
	struct trial t = { .s = s };
	bool again = false;
	uint32_t between;

	s->tries++;
	begin(s, &t.is);
	go_through(s, s->call, try_one, &t);
	look_behind(s, &t);
	if (t.is.wrong)
		return;
	for (uint32_t c = 0; c < s->calls; c++)
		again |= s->call[c].again;
	if (s->found && t.is.denied > s->denied)
		return;
	if (s->found && t.is.denied < s->denied)
		s->found = s->unsure = s->hidden = false;
	s->unsure |= t.is.denied != 0;
	if (s->found)
		compare(s, &t.is);
	between = amid(s);
	if (s->found && is_likelier(s, between, t.is.counted, again))
		return;
	s->found = true;
	s->denied = t.is.denied;
	s->amid = between;
	s->counted = t.is.counted;
	s->runs = t.is.runs;
	s->known = t.is.known;
	memcpy(s->last, t.is.last, sizeof(s->last));
	memcpy(s->best, s->call, sizeof(s->best));
}

/* ---- all of them --------------------------------------------------------------- */

/* May call c have done something behind record i?  Not while a handler on top of it ran. */
static bool may_be(const struct search *s, const struct call *c, uint32_t i)
{
	return i >= c->begin && i < c->end && s->depth[i] <= s->depth[c->begin];
}

static void place_changes(struct search *s, uint32_t c)
{
	struct call *is = &s->call[c];

	for (is->changes = is->reads; is->changes < is->end && s->steps < STEPS; is->changes++) {
		s->steps++;
		if (!may_be(s, is, is->changes))
			continue;
		try_all(s, c + 1);
		if (sp_rules_does(is->op) & SP_DOES_VALUE) {
			is->again = true;
			try_all(s, c + 1);
			is->again = false;
		}
		if (!(sp_rules_does(is->op) & (SP_DOES_ZERO | SP_DOES_STOP)))
			break;
	}
}

static void try_all(struct search *s, uint32_t c)
{
	struct call *is = &s->call[c];

	if (s->tries >= TRIES || ++s->steps >= STEPS)
		return;
	if (c == s->calls) {
		try_order(s);
		return;
	}
	for (is->reads = is->begin; !is->failed && is->reads < is->end; is->reads++)
		if (may_be(s, is, is->reads))
			place_changes(s, c);
	if (is->failed || is->left) {
		is->none = true;
		try_all(s, c + 1);
		is->none = false;
	}
}

/* Of record[i], a BEGIN: the number of the record that ends its call; n: none does (yet). */
static uint32_t end_of(const struct sp_record *const *record, uint32_t i, uint32_t n)
{
	uint32_t open = 0;

	for (; i < n; i++) {
		if (sp_record_op(record[i]) == SP_OP_BEGIN)
			open++;
		else if (record[i]->what & SP_RECORD_ENDS && --open == 0)
			return i;
	}
	return n;
}

static bool find_calls(struct search *s)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct sp_record *r = s->record[i], *end;
		struct call *c;

		if (sp_record_op(r) != SP_OP_BEGIN) {
			depth -= r->what & SP_RECORD_ENDS && depth;
			s->depth[i] = depth;
			continue;
		}
		s->depth[i] = ++depth;
		c = &s->call[s->calls];
		if (s->calls == CALLS || (c->end = end_of(s->record, i, s->n)) == s->n)
			return false;
		s->calls++;
		c->begin = i;
		end = s->record[c->end];
		c->op = r->what >> SP_RECORD_OF_SHIFT;
		c->left = sp_record_op(end) == SP_OP_LEFT;
		c->failed = sp_record_op(end) == SP_OP_FAILED;
	}
	return true;
}

/* ---- folding ------------------------------------------------------------------------ */

struct folding {
	struct sp_fold *f;
	const struct sp_record *const *record;
};

static void fold_one(void *arg, uint32_t record, uint32_t does, bool again)
{
	const struct folding *in = arg;

	if (again && does & SP_DOES_VALUE) {
		does ^= SP_DOES_VALUE | SP_DOES_AGAIN;
		in->f->state->flags |= SP_STATE_UNSURE;
	}
	sp_rules_apply_part(in->f, in->record[record], does);
}

/* Each when it ended. */
static void fold_as_ended(struct sp_fold *f, const struct sp_record *const *record, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sp_rules_apply(f, record[i]);
	f->state->flags |= SP_STATE_UNSURE;
}

/* Those whose call has no end yet get one, as if a handler had jumped out of it; but not where they are too many to be looked at. */
static uint32_t add_ends(const struct sp_record **list, struct sp_record end[CALLS], uint32_t n)
{
	uint32_t open = 0, begun[CALLS];

	for (uint32_t i = 0; i < n; i++) {
		if (sp_record_op(list[i]) == SP_OP_BEGIN) {
			if (open == CALLS)
				return n;
			begun[open++] = i;
		} else if (list[i]->what & SP_RECORD_ENDS && open) {
			open--;
		}
	}
	for (; open; open--, end++) {
		*end = (struct sp_record){ .what = SP_OP_LEFT | SP_RECORD_ENDS | (list[begun[open - 1]]->what & ~SP_RECORD_OP) };
		list[n++] = end;
	}
	return n;
}

static void fold_stretch(struct sp_fold *f, const struct sp_record *const *record, uint32_t n, uint32_t all, bool tells)
{
	struct search s = { .f = f, .record = record, .n = n, .all = all, .tells = tells };

	if (tells && find_calls(&s))
		try_all(&s, 0);
	if (s.unsure || s.tries >= TRIES || s.steps >= STEPS)
		f->state->flags |= SP_STATE_UNSURE;
	if (s.found)
		go_through(&s, s.best, fold_one, &(struct folding){ f, record });
	else
		fold_as_ended(f, record, n);
	if (s.hidden && !(f->state->flags & SP_STATE_RUNNING))
		f->state->flags |= SP_STATE_HIDDEN;
}

uint32_t sp_order_together(const struct sp_record *const *record, uint32_t n, bool open)
{
	uint32_t end = sp_record_op(record[0]) == SP_OP_BEGIN ? end_of(record, 0, n) : 0;

	return end < n ? end + 1 : open ? n : 1;
}

void sp_order_fold(struct sp_fold *f, const struct sp_record *const *record, uint32_t n, uint32_t all, bool tells)
{
	const struct sp_record *list[SP_RECORDS + CALLS];
	struct sp_record end[CALLS];

	if (n == 1 && sp_record_op(record[0]) != SP_OP_BEGIN) {
		if (record[0]->what & SP_RECORD_ENDS)	/* its handlers' calls are folded: there were too many */
			f->state->flags |= SP_STATE_UNSURE;
		sp_rules_apply(f, record[0]);
	} else if (end_of(record, 0, n) < n) {
		fold_stretch(f, record, n, all, tells);
	} else if (n > 1) {
		memcpy(list, record, n * sizeof(*list));
		n = add_ends(list, end, n);
		fold_stretch(f, list, n, n, tells);
	}
}
