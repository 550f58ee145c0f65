/* rules.c: see rules.h. */
#include <string.h>

#include "rules.h"

/* Marks functions that are compiled twice: for sets whose values are all counts, as in most
 * sets, the loops become plain sums. */
#define BY_KIND	static inline __attribute__((always_inline))

static int64_t *last_of(const struct sp_fold *f)
{
	return sp_state_row(f->state, f->k, SP_LAST);
}

BY_KIND int64_t plus(const uint8_t *kinds, uint32_t e, int64_t a, int64_t b)
{
	return sp_values_by(kinds, e) == SP_FLOATS ? sp_float_bits(sp_float(a) + sp_float(b))
						   : a + b;
}

BY_KIND int64_t minus(const uint8_t *kinds, uint32_t e, int64_t a, int64_t b)
{
	return sp_values_by(kinds, e) == SP_FLOATS ? sp_float_bits(sp_float(a) - sp_float(b))
						   : a - b;
}

/* A sensor without a value. */
BY_KIND bool is_nan(const uint8_t *kinds, uint32_t e, int64_t x)
{
	return sp_values_by(kinds, e) == SP_FLOATS && sp_float(x) != sp_float(x);
}

/* ---- totals --------------------------------------------------------------- */

/* Destination of a record's counts. */
struct places {
	int32_t at;			/* number of the cell */
	struct sp_cell *cell;		/* NULL: no room */
	struct sp_interval *interval;	/* NULL: no interval has the counts */
};

static inline struct places places_in(struct sp_fold *f, const struct sp_record *r, uint64_t cell)
{
	struct places to = { .at = (int32_t)(cell < f->cells ? cell : f->cells - 1) };

	to.cell = f->cell(f, to.at);
	if (SP_LIKELY(to.cell != NULL))
		to.interval = f->interval(f, r->from, r->site, to.at);
	return to;
}

static inline struct places places_of(struct sp_fold *f, const struct sp_record *r)
{
	return places_in(f, r, (uint32_t)r->cell);
}

BY_KIND void add(struct sp_fold *f, const uint8_t *kinds, const struct places *to, uint32_t e,
		 int64_t d, bool proven)
{
	int64_t *total = &sp_cell_row(to->cell, f->k, SP_TOTAL)[e],
		*exact = &sp_cell_row(to->cell, f->k, SP_EXACT)[e];

	*total = plus(kinds, e, *total, d);
	if (proven)
		*exact = plus(kinds, e, *exact, d);
	if (!to->interval)
		return;
	to->interval->at[e] = plus(kinds, e, to->interval->at[e], d);
	if (proven)
		to->interval->at[f->k + e] = plus(kinds, e, to->interval->at[f->k + e], d);
}

static void zero(struct sp_fold *f)
{
	memset(last_of(f), 0, f->k * 8);
	f->state->flags &= ~(SP_STATE_BASELINE | SP_STATE_MISSED);
}

static bool is_below(const struct sp_fold *f, const struct sp_record *r)
{
	const int64_t *x = r->value, *last = last_of(f);

	for (uint32_t e = 0; e < f->k; e++) {
		enum sp_values is = sp_values_of(f, e);

		if ((is == SP_COUNTS && x[e] < last[e]) ||
		    (is == SP_FLOATS && sp_float(x[e]) < sp_float(last[e])))
			return true;
	}
	return false;
}

/* Are there new counts? A stopped set returns its last values again, and a start value is not a
 * count. If estimates decreased in a missed call, PAPI may or may not have zeroed them: start
 * from them. */
static SP_COLD bool has_counted(struct sp_fold *f, const struct sp_record *r)
{
	int64_t *last = last_of(f);
	bool baseline;

	if (f->state->flags & SP_STATE_MISSED && is_below(f, r)) {
		zero(f);
		f->state->flags |= f->estimates ? SP_STATE_BASELINE : 0;
	}
	if (!(f->state->flags & (SP_STATE_RUNNING | SP_STATE_MISSED)))
		return false;
	baseline = f->state->flags & SP_STATE_BASELINE;
	f->state->flags &= ~(SP_STATE_BASELINE | SP_STATE_MISSED);
	for (uint32_t e = 0; baseline && e < f->k; e++)
		if (sp_values_of(f, e) != SP_GAUGE_VALUES && !is_nan(f->kinds, e, r->value[e]))
			last[e] = r->value[e];
	return !baseline;
}

BY_KIND void add_values(struct sp_fold *f, const uint8_t *kinds, const struct sp_record *r,
			const struct places *to)
{
	const uint32_t how = SP_STATE_RUNNING | SP_STATE_MISSED | SP_STATE_BASELINE;
	int64_t *last = last_of(f);

	if (SP_UNLIKELY((f->state->flags & how) != SP_STATE_RUNNING) && !has_counted(f, r))
		return;
	for (uint32_t e = 0; e < f->k; e++) {
		int64_t x = r->value[e], d = minus(kinds, e, x, last[e]);

		if (sp_values_by(kinds, e) == SP_GAUGE_VALUES || is_nan(kinds, e, x))
			continue;
		last[e] = x;
		if (SP_UNLIKELY(d < 0) && sp_values_by(kinds, e) == SP_COUNTS)
			f->state->flags |= SP_STATE_BACKWARDS;
		add(f, kinds, to, e, d, r->op_flags & SP_RECORD_PROVEN);
	}
}

/* Takes counts from the reading's cell, so that no sum changes, whatever was added in between. */
static void take_part(struct sp_fold *f, const struct sp_record *r)
{
	struct places to = places_of(f, r), from = places_in(f, r, r->count);

	for (uint32_t e = 0; to.cell && from.cell && e < f->k; e++) {
		if (sp_values_of(f, e) != SP_COUNTS)
			continue;
		add(f, NULL, &from, e, -r->value[e], false);
		add(f, NULL, &to, e, r->value[e], r->op_flags & SP_RECORD_PROVEN);
	}
}

/* Adds proven counts, new ones or some of those before. Keeps them between 0 and the total. */
static void take_proof(struct sp_fold *f, const struct sp_record *r)
{
	struct places to = places_of(f, r);
	int64_t *total, *exact;

	if (!to.cell)
		return;
	total = sp_cell_row(to.cell, f->k, SP_TOTAL);
	exact = sp_cell_row(to.cell, f->k, SP_EXACT);
	for (uint32_t e = 0; e < f->k; e++) {
		int64_t is = exact[e] + r->value[e];

		if (sp_values_of(f, e) != SP_COUNTS)
			continue;
		is = is > total[e] ? total[e] : is;
		is = is < 0 ? 0 : is;
		if (to.interval)
			to.interval->at[f->k + e] += is - exact[e];
		exact[e] = is;
	}
}

/* ---- sys-sage's entries ----------------------------------------------------- */

static bool has_entry(const struct sp_fold *f, const struct sp_cell *c)
{
	return c && c->epoch == f->state->epoch;
}

static int64_t entry_of(const struct sp_fold *f, const struct sp_cell *c, uint32_t e)
{
	return has_entry(f, c) ? sp_cell_row(c, f->k, SP_ENTRY)[e] : 0;
}

/* Makes `cell` the one of the last reading. */
static void switch_cell(struct sp_fold *f, int32_t cell, const struct sp_cell *to)
{
	const struct sp_cell *was =
		(uint32_t)f->state->cell < f->cells ? f->peek_cell(f, f->state->cell) : NULL;
	int64_t *others = sp_state_row(f->state, f->k, SP_OTHERS);

	for (uint32_t e = 0; e < f->k; e++)
		others[e] = minus(f->kinds, e, plus(f->kinds, e, others[e], entry_of(f, was, e)),
				  entry_of(f, to, e));
	f->state->cell = cell;
}

static void delete_entries(struct sp_fold *f)
{
	f->state->epoch++;
	memset(sp_state_row(f->state, f->k, SP_OTHERS), 0, f->k * 8);
	f->state->flags &= ~SP_STATE_DELETE;
}

/* The cell is the last reading's. */
static int64_t new_entry(struct sp_fold *f, const struct sp_cell *c, const struct sp_record *r,
			 uint32_t e)
{
	int64_t is = entry_of(f, c, e), x = r->value[e];

	if (sp_values_of(f, e) == SP_GAUGE_VALUES)
		return x;
	if (is_nan(f->kinds, e, x))
		return is;
	if (sp_record_op(r) != SP_OP_ACCUM)
		return minus(f->kinds, e, x, sp_state_row(f->state, f->k, SP_OTHERS)[e]);
	/* If the last reading left a permanent entry, in any cell, ACCUM adds to it. */
	if (f->state->flags & SP_STATE_PERMANENT)
		is = plus(f->kinds, e, is, sp_state_row(f->state, f->k, SP_KEPT)[e]);
	return plus(f->kinds, e, is, x);
}

BY_KIND void make_entries(struct sp_fold *f, const uint8_t *kinds, const struct sp_record *r,
			  struct sp_cell *c)
{
	int64_t *to = r->op_flags & SP_RECORD_PERMANENT ? sp_state_row(f->state, f->k, SP_KEPT)
						    : sp_cell_row(c, f->k, SP_ENTRY);
	const int64_t *others = sp_state_row(f->state, f->k, SP_OTHERS);
	bool reads = sp_record_op(r) != SP_OP_ACCUM;

	if (reads && (f->state->flags & SP_STATE_DELETE))
		delete_entries(f);
	for (uint32_t e = 0; reads && !kinds && e < f->k; e++)
		to[e] = r->value[e] - others[e];
	for (uint32_t e = 0; !(reads && !kinds) && e < f->k; e++)
		to[e] = new_entry(f, c, r, e);
	if (r->op_flags & SP_RECORD_PERMANENT) {	/* a permanent entry replaces the
							 * temporary one */
		f->state->flags |= SP_STATE_PERMANENT;
		c->epoch = 0;
	} else {
		f->state->flags &= ~SP_STATE_PERMANENT;
		c->epoch = f->state->epoch;
	}
}

int64_t sp_rules_entry(struct sp_fold *f, const struct sp_record *r, uint32_t e)
{
	const struct sp_cell *to = f->peek_cell(f, r->cell), *was;
	struct sp_state *s = f->state;
	int64_t others = sp_state_row(s, f->k, SP_OTHERS)[e], x = r->value[e];

	if (sp_record_op(r) == SP_OP_ACCUM || sp_values_of(f, e) == SP_GAUGE_VALUES ||
	    is_nan(f->kinds, e, x))
		return new_entry(f, to, r, e);
	if (s->flags & SP_STATE_DELETE)
		return x;
	was = (uint32_t)s->cell < f->cells && s->cell != r->cell ? f->peek_cell(f, s->cell) : NULL;
	if (s->cell != r->cell)
		others = minus(f->kinds, e, plus(f->kinds, e, others, entry_of(f, was, e)),
			       entry_of(f, to, e));
	return minus(f->kinds, e, x, others);
}

/* ---- one record --------------------------------------------------------------- */

BY_KIND void take_values_by(struct sp_fold *f, const uint8_t *kinds, const struct sp_record *r)
{
	struct places to = places_of(f, r);

	if (SP_UNLIKELY(!to.cell))
		return;
	to.cell->readings += r->count;
	if (to.interval)
		to.interval->count += r->count;
	add_values(f, kinds, r, &to);
	if (!(r->op_flags & SP_RECORD_NO_ENTRY)) {
		if (SP_UNLIKELY(f->state->cell != to.at))
			switch_cell(f, to.at, to.cell);
		make_entries(f, kinds, r, to.cell);
	}
}

static __attribute__((noinline)) void take_uncommon_values(struct sp_fold *f,
							   const struct sp_record *r)
{
	take_values_by(f, f->kinds, r);
}

static __attribute__((noinline)) void take_values(struct sp_fold *f, const struct sp_record *r)
{
	if (SP_LIKELY(!f->kinds))
		take_values_by(f, NULL, r);
	else
		take_uncommon_values(f, r);
}

static void start(struct sp_fold *f, const struct sp_record *r)
{
	bool keeps = r->op_flags & SP_RECORD_KEEPS;

	if (!keeps)
		zero(f);
	f->state->flags &= ~SP_STATE_MISSED;
	f->state->flags |= SP_STATE_RUNNING | SP_STATE_DELETE | (keeps ? SP_STATE_BASELINE : 0);
}

/* Counting continues from the values of PAPI_write. */
static void take_written(struct sp_fold *f, const struct sp_record *r)
{
	if (!(f->state->flags & SP_STATE_RUNNING))
		return;
	for (uint32_t e = 0; e < f->k; e++)
		if (sp_values_of(f, e) != SP_GAUGE_VALUES)
			last_of(f)[e] = r->value[e];
	f->state->flags &= ~SP_STATE_BASELINE;
}

static __attribute__((noinline)) void take_uncommon(struct sp_fold *f, const struct sp_record *r)
{
	bool runs = f->state->flags & SP_STATE_RUNNING;

	switch (sp_record_op(r)) {
	case SP_OP_WRITE:
		take_written(f, r);
		break;
	case SP_OP_PART:
		take_part(f, r);
		break;
	case SP_OP_PROVEN:
		take_proof(f, r);
		break;
	case SP_OP_MISSED:
		f->state->flags |= SP_STATE_MISSED | SP_STATE_UNSURE;
		break;
	case SP_OP_IS_RUNNING:		/* start without a record */
		if (!runs)
			start(f, r);
		break;
	case SP_OP_IS_STOPPED:
		f->state->flags &= ~SP_STATE_RUNNING;
		break;
	}
}

void sp_rules_apply(struct sp_fold *f, const struct sp_record *r)
{
	switch (sp_record_op(r)) {
	case SP_OP_READ:
		take_values(f, r);
		break;
	case SP_OP_START:
		start(f, r);
		break;
	case SP_OP_STOP:
		take_values(f, r);
		f->state->flags &= ~SP_STATE_RUNNING;
		break;
	case SP_OP_ACCUM:
		take_values(f, r);
		/* fall through */
	case SP_OP_RESET:
		if (!(r->op_flags & SP_RECORD_KEEPS))
			zero(f);
		f->state->flags |= SP_STATE_DELETE;
		break;
	default:
		take_uncommon(f, r);
	}
}
