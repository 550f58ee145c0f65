/* ledger.c: the rules of booking, see ledger.h for the model.
 *
 * apply() is the whole of it: one operation turns the state that holds into the
 * next one, which becomes the one that holds by one store (format.h, sp_state).
 * Around it: who may call it now, and where to put the operation if nobody may.
 */
#include <linux/membarrier.h>
#include <string.h>

#include "gauge.h"
#include "ledger.h"
#include "nested.h"
#include "readings.h"
#include "../stamp.h"
#include "../sys.h"

#define TURN_OWNER	1u
#define TURN_FOREIGN	2u

static int64_t *in_state(struct sp_writer *w, struct sp_state *s, enum sp_state_array a)
{
	return s->at + (uint64_t)a * w->k;
}

static int64_t *in_side(struct sp_writer *w, enum sp_side_array a)
{
	return w->side->at + (uint64_t)a * w->k;
}

static struct sp_cell *cell_at(struct sp_writer *w, int i)
{
	return (struct sp_cell *)(w->cell + (uint64_t)i * w->cell_bytes);
}

static int64_t *in_cell(struct sp_writer *w, struct sp_cell *c, enum sp_cell_array a)
{
	return c->at + (uint64_t)a * w->k;
}

void sp_ledger_bind(struct sp_writer *w, struct sp_relation *r, uint32_t k, uint32_t cells)
{
	struct sp_layout l = sp_relation_layout(k, cells);
	unsigned char *base = (unsigned char *)r;

	memset(w, 0, sizeof(*w));
	w->relation = r;
	w->k = k;
	w->cells = cells;
	w->states[0] = (struct sp_state *)(base + l.state[0]);
	w->states[1] = (struct sp_state *)(base + l.state[1]);
	w->side = (struct sp_side *)(base + l.side);
	w->cell = base + l.cell;
	w->cell_bytes = l.cell_bytes;
	w->state = w->states[r->turn & 1];
	w->state->flags &= ~SP_STATE_RUNNING;	/* the set that ran is gone, perhaps unstopped */
	w->cpu = -2;
	w->slow_owner = SP_SLOW_STOPPED;
	w->slow = w->side->flags & SP_SIDE_ACTIVE ? SP_SLOW_SIDE : 0;
}

void sp_ledger_log(struct sp_writer *w, struct sp_log *log, enum sp_entries entries)
{
	w->log = log;
	w->entries = entries;
	sp_put(&w->slow_owner, w->slow_owner | SP_SLOW_ENTRIES);
}

int sp_ledger_cell(struct sp_writer *w, int cpu)
{
	int dense = (int)(w->cells - SP_CELLS_EXTRA), last = (int)w->cells - 1;

	if (cpu >= 0 && cpu < dense)
		return cpu;
	for (int i = dense; cpu >= 0 && i < last; i++) {
		struct sp_cell *c = cell_at(w, i);

		int32_t is = SP_NO_CPU;

		/* A handler or another thread may look for one now, too. */
		if (sp_get(&c->cpu) != cpu && !sp_cas(&c->cpu, &is, cpu) && is != cpu)
			continue;
		sp_publish(&c->used, SP_CELL_USED);
		return i;
	}
	return last;
}

/* Only counts claim a cell for a CPU that the topology lacks. */
static int cell_for(struct sp_writer *w, enum sp_op op, int cpu)
{
	return op == SP_OP_READ || op == SP_OP_STOP || op == SP_OP_ACCUM ? sp_ledger_cell(w, cpu) : (int)w->cells - 1;
}

static enum sp_values kind_of(const struct sp_writer *w, uint32_t e)
{
	return SP_UNLIKELY(w->kinds != NULL) ? (enum sp_values)w->kinds[e] : SP_COUNTS;
}

static int64_t plus(const struct sp_writer *w, uint32_t e, int64_t a, int64_t b)
{
	return kind_of(w, e) == SP_FLOATS ? sp_float_bits(sp_float(a) + sp_float(b)) : a + b;
}

static int64_t minus(const struct sp_writer *w, uint32_t e, int64_t a, int64_t b)
{
	return kind_of(w, e) == SP_FLOATS ? sp_float_bits(sp_float(a) - sp_float(b)) : a - b;
}

/* ---- one operation ---------------------------------------------------- */

/* Puts what the state's journal says into the cell that was left. */
static void settle_journal(struct sp_writer *w, struct sp_state *s)
{
	struct sp_cell *c;

	/* Cell numbers come back from memory that somebody else may write to. */
	if ((uint32_t)s->jcell >= w->cells)
		return;
	c = cell_at(w, s->jcell);
	memcpy(in_cell(w, c, SP_TOTAL), in_state(w, s, SP_JTOTAL), w->k * 8);
	memcpy(in_cell(w, c, SP_EXACT), in_state(w, s, SP_JEXACT), w->k * 8);
	memcpy(in_cell(w, c, SP_ENTRY), in_state(w, s, SP_JENTRY), w->k * 8);
	c->readings = s->jreadings;
	c->epoch = s->jepoch;
	c->ns = s->jns;
}

/* The current cell is nobody's any more: its numbers go into n's journal. */
static void leave_cell(struct sp_writer *w, struct sp_state *n)
{
	int64_t *last = in_state(w, n, SP_LAST);

	if ((uint32_t)n->cell >= w->cells) {
		n->cell = -1;
		return;
	}
	n->jcell = n->cell;
	n->jreadings = n->readings;
	n->jepoch = n->flags & SP_STATE_ENTRY ? n->epoch : 0;
	n->jns = n->ns;
	for (uint32_t e = 0; e < w->k; e++) {
		in_state(w, n, SP_JTOTAL)[e] = last[e] + in_state(w, n, SP_OFF)[e];
		in_state(w, n, SP_JEXACT)[e] = last[e] + in_state(w, n, SP_XOFF)[e];
		in_state(w, n, SP_JENTRY)[e] = last[e] + in_state(w, n, SP_EOFF)[e];
	}
	n->cell = -1;
}

/* Goes on in another cell, whose numbers become offsets. */
static void change_cell(struct sp_writer *w, struct sp_state *n, int to)
{
	int64_t *last = in_state(w, n, SP_LAST), *off = in_state(w, n, SP_OFF), *xoff = in_state(w, n, SP_XOFF);
	int64_t *eoff = in_state(w, n, SP_EOFF), *others = in_state(w, n, SP_EOTHERS);
	struct sp_cell *c = cell_at(w, to);
	bool had = n->flags & SP_STATE_ENTRY, has = c->epoch == n->epoch;

	leave_cell(w, n);
	for (uint32_t e = 0; e < w->k; e++) {
		int64_t left = had ? last[e] + eoff[e] : 0, found = has ? in_cell(w, c, SP_ENTRY)[e] : 0;

		others[e] = minus(w, e, plus(w, e, others[e], left), found);
		off[e] = in_cell(w, c, SP_TOTAL)[e] - last[e];
		xoff[e] = in_cell(w, c, SP_EXACT)[e] - last[e];
		eoff[e] = found - last[e];
	}
	n->flags = (n->flags & ~(SP_STATE_ENTRY | SP_STATE_PERMANENT)) | (has ? SP_STATE_ENTRY : 0);
	n->readings = c->readings;
	n->cell = to;
}

/* What was handed out stays booked; from here PAPI counts from `by` less than it did. */
static void rebase(struct sp_writer *w, struct sp_state *n, const int64_t *by)
{
	for (uint32_t e = 0; e < w->k; e++) {
		int64_t d = by[e];

		in_state(w, n, SP_OFF)[e] += d;
		in_state(w, n, SP_XOFF)[e] += d;
		in_state(w, n, SP_EOFF)[e] += d;
		in_state(w, n, SP_LAST)[e] -= d;
	}
}

/* From here PAPI counts from 0 again. */
static void zero(struct sp_writer *w, struct sp_state *n)
{
	rebase(w, n, in_state(w, n, SP_LAST));
}

/* x is where counting starts (a component that PAPI_start does not zero). */
static void take_baseline(struct sp_writer *w, struct sp_state *n, const int64_t *x)
{
	zero(w, n);
	for (uint32_t e = 0; e < w->k; e++) {
		if (kind_of(w, e) != SP_COUNTS)
			continue;
		in_state(w, n, SP_LAST)[e] = x[e];
		in_state(w, n, SP_OFF)[e] -= x[e];
		in_state(w, n, SP_XOFF)[e] -= x[e];
		in_state(w, n, SP_EOFF)[e] -= x[e];
	}
	n->flags &= ~SP_STATE_BASELINE;
}

/* It was left open whether PAPI had zeroed last. */
static void zero_if_it_was(struct sp_writer *w, struct sp_state *n, const int64_t *x)
{
	for (uint32_t e = 0; e < w->k; e++) {
		if (kind_of(w, e) == SP_COUNTS && x[e] < in_state(w, n, SP_LAST)[e]) {
			zero(w, n);
			return;
		}
	}
}

/* Of what is new, or was booked before: what is proven is never more than what is booked, nor below 0. */
static int64_t newly_proven(struct sp_writer *w, struct sp_state *n, uint32_t e, int64_t d)
{
	int64_t total = in_state(w, n, SP_LAST)[e] + in_state(w, n, SP_OFF)[e];
	int64_t exact = in_state(w, n, SP_LAST)[e] + in_state(w, n, SP_XOFF)[e], is;

	if (!w->newly)
		return w->proven ? d : 0;
	is = exact + w->newly[e];
	is = is > total + d ? total + d : is;
	return (is < 0 ? 0 : is) - exact;
}

/* The ledger: what came since the last value is the current cell's.  A set that
 * does not run hands out what it handed out before: nothing new. */
static void book_values(struct sp_writer *w, struct sp_state *n, const int64_t *x)
{
	int64_t *last = in_state(w, n, SP_LAST);

	if (!(n->flags & SP_STATE_RUNNING))
		return;
	if (sp_get(&w->slow_owner) & SP_SLOW_UNDECIDED)
		zero_if_it_was(w, n, x);
	if (n->flags & SP_STATE_BASELINE) {
		take_baseline(w, n, x);
		return;
	}
	for (uint32_t e = 0; e < w->k; e++) {
		int64_t d = x[e] - last[e];

		if (kind_of(w, e) != SP_COUNTS)
			continue;
		if (w->part)
			d = w->part[e];
		if (d < 0 && !w->nested.flags)	/* a handler's, after what PAPI zeroed for the call under way */
			sp_ledger_backwards(w);
		in_state(w, n, SP_XOFF)[e] -= d - newly_proven(w, n, e, d);
		in_state(w, n, SP_EOFF)[e] -= d;	/* entries have rules of their own */
		last[e] += d;
	}
}

/* The permanent one takes the temporary one's place. */
static void keep_entries(struct sp_writer *w, struct sp_state *n, struct sp_cell *c)
{
	int64_t *v = sp_log_room(w->log);

	n->flags = (n->flags & ~SP_STATE_ENTRY) | SP_STATE_PERMANENT;
	if (!v)
		return;
	for (uint32_t e = 0; e < w->k; e++)
		v[e] = in_state(w, n, SP_LAST)[e] + in_state(w, n, SP_EOFF)[e];
	sp_put(&c->used, c->used | SP_CELL_KEPT);
	sp_log_append(w->log, c->cpu, n->ns);
}

/* The permanent entry that the reading before this one left, here or elsewhere: ACCUM
 * adds to it as it does to a temporary one.  (The state that holds is still that of then.) */
static int64_t latest_permanent(struct sp_writer *w, uint32_t e)
{
	struct sp_state *s = w->state;

	return s->flags & SP_STATE_PERMANENT ? in_state(w, s, SP_LAST)[e] + in_state(w, s, SP_EOFF)[e] : 0;
}

/* sys-sage's entry of the current cell after READ, STOP or ACCUM.  `shown`: of events that are
 * not SP_COUNTS. */
static void make_entries(struct sp_writer *w, struct sp_state *n, enum sp_op op, const int64_t *x, const int64_t *shown)
{
	int64_t *last = in_state(w, n, SP_LAST), *eoff = in_state(w, n, SP_EOFF);
	int64_t *others = in_state(w, n, SP_EOTHERS);
	bool has = n->flags & SP_STATE_ENTRY;

	if (op != SP_OP_ACCUM && (n->flags & SP_STATE_DELETE)) {
		n->epoch++;
		memset(others, 0, w->k * 8);
		n->flags &= ~SP_STATE_DELETE;
	}
	for (uint32_t e = 0; e < w->k; e++) {
		int64_t entry = has ? last[e] + eoff[e] : 0;

		if (kind_of(w, e) == SP_SHOWS)
			entry = shown[e];
		else if (kind_of(w, e) == SP_FLOATS && sp_float(shown[e]) != sp_float(shown[e]))
			;			/* nan: no number, now */
		else if (op == SP_OP_ACCUM)
			entry = plus(w, e, plus(w, e, entry, kind_of(w, e) ? shown[e] : x[e]), latest_permanent(w, e));
		else
			entry = minus(w, e, kind_of(w, e) ? shown[e] : x[e], others[e]);
		eoff[e] = entry - last[e];
	}
	n->flags = (n->flags & ~SP_STATE_PERMANENT) | SP_STATE_ENTRY;
}

/* What the last reading left stays what ACCUM adds to, though the cell is another one. */
static void carry_permanent(struct sp_writer *w, struct sp_state *n)
{
	for (uint32_t e = 0; e < w->k; e++)
		in_state(w, n, SP_EOFF)[e] = latest_permanent(w, e) - in_state(w, n, SP_LAST)[e];
	n->flags |= SP_STATE_PERMANENT;
}

/* From here on the last reading is the current cell's. */
static void forget_away(struct sp_state *n)
{
	n->flags &= (1u << SP_STATE_AWAY_SHIFT) - 1;
}

/* Only counts: the reading that brought them makes the entry. */
static void take_part(struct sp_writer *w, struct sp_state *n, int cell, const int64_t *x)
{
	bool permanent = n->flags & SP_STATE_PERMANENT;
	uint32_t away = n->flags >> SP_STATE_AWAY_SHIFT;

	if (n->cell != cell) {
		away = away ? away : (uint32_t)(n->cell + 1);
		change_cell(w, n, cell);
		forget_away(n);
		if (away != (uint32_t)cell + 1)
			n->flags |= away << SP_STATE_AWAY_SHIFT;
		if (!(n->flags & SP_STATE_ENTRY) && permanent)
			carry_permanent(w, n);
	}
	book_values(w, n, x);
}

static void take_reading(struct sp_writer *w, struct sp_state *n, enum sp_op op, int cell, const int64_t *x)
{
	if (n->cell != cell)
		change_cell(w, n, cell);
	forget_away(n);
	book_values(w, n, x);
	if (w->entries != SP_ENTRIES_NONE)
		make_entries(w, n, op, x, x);
	if (w->entries == SP_ENTRIES_PERMANENT)
		keep_entries(w, n, cell_at(w, cell));
	n->readings++;
	if (op == SP_OP_ACCUM) {
		n->flags |= SP_STATE_DELETE;
		if (!(w->component & SP_KEEPS_ON_RESET))
			zero(w, n);
	} else if (op == SP_OP_STOP) {
		n->flags &= ~SP_STATE_RUNNING;
	}
}

/* Why the next reading may not take the fast path. */
static void set_own(struct sp_writer *w, uint32_t flags)
{
	sp_put(&w->slow_owner, (w->slow_owner & SP_SLOW_ENTRIES) |
			(flags & (SP_STATE_DELETE | SP_STATE_BASELINE) ? SP_SLOW_ZEROED : 0) |
			(flags & SP_STATE_RUNNING ? 0 : SP_SLOW_STOPPED));
}

/* What the side ledger holds, in one step.  Its order is: up to y0, a zeroing,
 * finished runs, the run since. */
static void take_side(struct sp_writer *w, struct sp_state *n, int cell)
{
	struct sp_side *d = w->side;
	uint32_t f = d->flags;
	bool ran = n->flags & SP_STATE_RUNNING;

	if (d->readings && n->cell != cell)
		change_cell(w, n, cell);
	if (d->readings)
		forget_away(n);
	n->flags |= SP_STATE_RUNNING;	/* side_values kept only what a running set handed out */
	if (f & SP_SIDE_Y0) {
		book_values(w, n, in_side(w, SP_Y0));
		if (w->entries == SP_ENTRIES_TEMPORARY)
			make_entries(w, n, SP_OP_READ, in_side(w, SP_Y0), in_side(w, SP_Y0));
	}
	if (f & SP_SIDE_ZEROED) {
		zero(w, n);
		n->flags = (n->flags & ~SP_STATE_BASELINE) | SP_STATE_DELETE;
		book_values(w, n, in_side(w, f & SP_SIDE_LAST ? SP_RUN : SP_ADD));
		if (f & SP_SIDE_LAST) {
			rebase(w, n, in_side(w, SP_ADD));
			if (w->entries == SP_ENTRIES_TEMPORARY)
				make_entries(w, n, SP_OP_READ, in_state(w, n, SP_LAST), in_side(w, SP_RUN));
		} else {
			zero(w, n);
		}
	}
	if (f & SP_SIDE_BASELINE)
		n->flags |= SP_STATE_BASELINE;
	if ((f & SP_SIDE_STOPPED) || (!ran && !(f & SP_SIDE_STARTED)))
		n->flags &= ~SP_STATE_RUNNING;
	n->readings += d->readings;
	n->side = d->number;
}

/* A call that was before what is booked already: x is what the sum lacks (nested.h). */
static void take_late(struct sp_writer *w, struct sp_state *n, enum sp_op op, int cell, const int64_t *x)
{
	if (op != SP_OP_RESET && n->cell != cell)
		change_cell(w, n, cell);
	for (uint32_t e = 0; e < w->k && n->cell >= 0; e++)
		in_state(w, n, SP_OFF)[e] += x[e];
	if (op == SP_OP_ACCUM || op == SP_OP_RESET)
		n->flags |= SP_STATE_DELETE;
	if (w->order >= SP_CALL_BETWEEN && op == SP_OP_ACCUM)
		zero(w, n);
	if (w->order >= SP_CALL_BETWEEN && op == SP_OP_STOP)
		n->flags &= ~SP_STATE_RUNNING;
	if (op == SP_OP_RESET)
		sp_put(&w->relation->resets, w->relation->resets + 1);
	else
		n->readings++;
	if (op != SP_OP_RESET && w->entries == SP_ENTRIES_PERMANENT)
		sp_add(&w->relation->refused, 1);
}

static void apply(struct sp_writer *w, enum sp_op op, int cell, const int64_t *x, uint32_t site)
{
	struct sp_state *s = w->state, *n = w->states[s == w->states[0]];
	struct sp_relation *r = w->relation;
	uint64_t now;

	settle_journal(w, s);
	sp_interval_turn(w, op, cell, site);
	memcpy(n, s, sizeof(*n) + (uint64_t)SP_JTOTAL * w->k * 8);
	n->jcell = -1;
	now = op == SP_OP_RESET || op == SP_OP_PART ? r->last_ns :
	      w->log ? sp_log_time(w->log) :
	      sp_max(w->precise ? sp_stamp_ns() : sp_coarse_ns(), sp_max(n->ns, r->last_ns) + 1);
	if ((op == SP_OP_READ || op == SP_OP_STOP || op == SP_OP_ACCUM || op == SP_OP_SIDE) &&
			w->entries != SP_ENTRIES_NONE)
		n->ns = now;		/* what makes entries, whose time it is (A2, A4) */
	if (w->order) {
		take_late(w, n, op, cell, x);
	} else if (op == SP_OP_START) {
		zero(w, n);
		n->flags |= SP_STATE_RUNNING | SP_STATE_DELETE;
		if (w->component & SP_KEEPS_ON_START)
			n->flags |= SP_STATE_BASELINE;
		sp_put(&r->starts, r->starts + 1);
	} else if (op == SP_OP_RESET) {
		if (!(w->component & SP_KEEPS_ON_RESET)) {
			zero(w, n);
			n->flags &= ~SP_STATE_BASELINE;
		}
		n->flags |= SP_STATE_DELETE;
		sp_put(&r->resets, r->resets + 1);
	} else if (op == SP_OP_WRITE) {
		if (n->flags & SP_STATE_RUNNING)
			take_baseline(w, n, x);
	} else if (op == SP_OP_LEAVE) {
		leave_cell(w, n);
	} else if (op == SP_OP_SIDE) {
		take_side(w, n, cell);
	} else if (op == SP_OP_PART) {
		take_part(w, n, cell, x);
	} else {
		take_reading(w, n, op, cell, x);
	}
	/* What does not begin at 0 is seen from its first reading on. */
	if (!r->first_ns && !(op == SP_OP_START && (w->component & SP_KEEPS_ON_START)))
		sp_put(&r->first_ns, now);
	sp_put(&r->last_ns, now);
	sp_order();
	sp_publish(&r->turn, r->turn + 1);
	sp_order();
	sp_publish(&w->state, n);
	settle_journal(w, n);
	sp_put(&w->zeroed, (op == SP_OP_ACCUM || op == SP_OP_RESET) && !w->component && !w->order &&
		(n->flags & (SP_STATE_RUNNING | SP_STATE_ENTRY | SP_STATE_DELETE | SP_STATE_BASELINE)) ==
			(SP_STATE_RUNNING | SP_STATE_ENTRY | SP_STATE_DELETE));
	/* After WRITE and PART the next READ's entry is not the last one's and what came since. */
	sp_put(&w->cpu, (uint32_t)n->cell < w->cells - SP_CELLS_EXTRA && op != SP_OP_WRITE && op != SP_OP_PART ?
				n->cell : -2);
	set_own(w, n->flags);
}

/* ---- the side ledger -------------------------------------------------- */

/* A reader after SIGKILL believes RUN if SP_SIDE_LAST says so, else ADD: words are
 * stored whole (memcpy may store bytes), flags after what they speak of. */
static void side_put(struct sp_writer *w, enum sp_side_array to, const int64_t *base, const int64_t *x, uint32_t flag)
{
	for (uint32_t e = 0; e < w->k; e++)
		sp_put(&in_side(w, to)[e], (base && !kind_of(w, e) ? base[e] : 0) + (x ? x[e] : 0));
	sp_order();
	sp_put(&w->side->flags, w->side->flags | flag);
	sp_order();
}

static void side_zero(struct sp_writer *w)
{
	struct sp_side *d = w->side;

	if (d->flags & SP_SIDE_LAST)
		side_put(w, SP_ADD, in_side(w, SP_RUN), NULL, 0);
	sp_put(&d->flags, (d->flags & ~(SP_SIDE_LAST | SP_SIDE_BASELINE)) | SP_SIDE_ZEROED);
}

/* Counting goes on from x: nothing of x is a count. */
static void side_baseline(struct sp_writer *w, const int64_t *x)
{
	side_zero(w);
	side_put(w, SP_RUN, in_side(w, SP_ADD), NULL, SP_SIDE_LAST);
	for (uint32_t e = 0; e < w->k; e++) {
		if (kind_of(w, e))
			sp_put(&in_side(w, SP_RUN)[e], x[e]);
		else
			in_side(w, SP_ADD)[e] -= x[e];
	}
}

/* Another thread may book beside, without waiting: the state after its next is written where this one is. A word of it is
 * old or new, and which one holds is looked at again; ThreadSanitizer would have every word that is copied be atomic. */
__attribute__((noinline, no_sanitize("thread"))) static uint32_t state_flags(const struct sp_writer *w)
{
	const struct sp_state *s;
	uint32_t flags;

	do {
		s = sp_acquire(&w->state);
		flags = sp_get(&s->flags);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (s != sp_get(&w->state));
	return flags;
}

static void side_values(struct sp_writer *w, enum sp_op op, const int64_t *x)
{
	uint32_t f = w->side->flags, state = state_flags(w);

	if (f & (SP_SIDE_STARTED | SP_SIDE_STOPPED) ? f & SP_SIDE_STOPPED : !(state & SP_STATE_RUNNING))
		return;			/* a set that does not run hands out nothing new */
	if (op == SP_OP_WRITE || (f & SP_SIDE_BASELINE) || (!(f & SP_SIDE_ZEROED) && (state & SP_STATE_BASELINE)))
		side_baseline(w, x);
	else if (f & SP_SIDE_ZEROED)
		side_put(w, SP_RUN, in_side(w, SP_ADD), x, SP_SIDE_LAST);
	else
		side_put(w, SP_Y0, NULL, x, SP_SIDE_Y0);
}

static bool zeroes(const struct sp_writer *w, enum sp_op op)
{
	return op == SP_OP_START ||
	       ((op == SP_OP_RESET || op == SP_OP_ACCUM) && !(w->component & SP_KEEPS_ON_RESET));
}

/* Has PAPI answered the owner, who is booking it now? */
static bool booking(const struct sp_writer *w)
{
	uintptr_t in_flight = sp_acquire(&w->in_flight);

	return in_flight && !(in_flight & SP_IN_PAPI);
}

/* The operation that this one is on top of was PAPI's last, but is perhaps not in the
 * state yet.  (After STOP the set hands out what it did: nothing to know.) */
static uint32_t side_begins(const struct sp_writer *w)
{
	enum sp_op under = booking(w) ? (enum sp_op)(sp_get(&w->in_flight) & 7) : SP_OP_READ;

	return (under == SP_OP_START ? SP_SIDE_STARTED : 0) |
	       (under == SP_OP_START && (w->component & SP_KEEPS_ON_START) ? SP_SIDE_BASELINE : 0) |
	       (zeroes(w, under) ? SP_SIDE_ZEROED : 0);
}

static void book_aside(struct sp_writer *w, enum sp_op op, int cell, const int64_t *x)
{
	struct sp_side *d = w->side;
	struct sp_held h;

	sp_lock_take(&w->lock, &h);
	if (!(d->flags & SP_SIDE_ACTIVE)) {
		memset(d->at, 0, SP_SIDE_ARRAYS * (uint64_t)w->k * 8);
		d->readings = 0;
		d->number++;
		d->cell = cell;
		sp_order();
		sp_put(&d->flags, SP_SIDE_ACTIVE | side_begins(w));
	}
	if (x) {
		d->cell = cell;
		d->readings += op != SP_OP_WRITE;
		if (w->entries == SP_ENTRIES_PERMANENT && op != SP_OP_WRITE)
			sp_add(&w->relation->refused, 1);
		side_values(w, op, x);
	}
	if (op == SP_OP_START)
		d->flags = (d->flags & ~SP_SIDE_STOPPED) | SP_SIDE_STARTED;
	if (op == SP_OP_STOP)
		d->flags = (d->flags & ~SP_SIDE_STARTED) | SP_SIDE_STOPPED;
	if (zeroes(w, op))
		side_zero(w);
	if (op == SP_OP_START && (w->component & SP_KEEPS_ON_START))
		d->flags |= SP_SIDE_BASELINE;
	__atomic_fetch_or(&w->slow, SP_SLOW_SIDE, __ATOMIC_RELEASE);
	sp_lock_give(&w->lock, &h);
}

/* Adds it in; the caller may apply(). */
static void merge_side(struct sp_writer *w)
{
	struct sp_side *d = w->side;
	struct sp_held h;

	sp_lock_take(&w->lock, &h);
	if (d->flags & SP_SIDE_ACTIVE) {
		int cell = d->cell;	/* bytes of the store are not to be trusted */

		apply(w, SP_OP_SIDE, cell >= 0 && cell < (int)w->cells ? cell : (int)w->cells - 1, NULL, 0);
		sp_order();
		d->flags = 0;
	}
	__atomic_fetch_and(&w->slow, ~SP_SLOW_SIDE, __ATOMIC_RELEASE);
	sp_lock_give(&w->lock, &h);
}

/* ---- who may book now ------------------------------------------------- */

static bool take_turn(struct sp_writer *w, uint32_t who, unsigned tries)
{
	for (; tries; tries--) {
		uint32_t nobody = 0;

		if (sp_cas(&w->turn, &nobody, who))
			return true;
		(void)sp_sys(SYS_sched_yield);
	}
	return false;
}

/* How a window is booked. */
struct window {
	bool proven;
	uint32_t site;			/* where it ends */
	const struct sp_parts *parts;	/* of other cells than the operation's; NULL: none */
	bool nested;			/* a handler booked inside the call of PAPI */
	uintptr_t under;		/* the call of PAPI that this is on top of; 0: none */
};

static const struct window open_window;

/* All parts but the rest, which the operation itself brings. */
static void book_parts(struct sp_writer *w, const struct sp_parts *parts, const int64_t *x, uint32_t site)
{
	if ((sp_get(&w->state)->flags & (SP_STATE_RUNNING | SP_STATE_BASELINE)) != SP_STATE_RUNNING)
		return;
	for (uint32_t i = 0; i < parts->n; i++) {
		w->part = parts->at + (uint64_t)i * w->k;
		w->newly = parts->proven + (uint64_t)i * w->k;
		apply(w, SP_OP_PART, sp_ledger_cell(w, parts->cpu[i]), x, site);
	}
	w->part = NULL;
	w->newly = parts->proven + (uint64_t)parts->n * w->k;
}

static void forget_parts(struct sp_writer *w)
{
	w->part = NULL;
	w->newly = NULL;
}

void sp_ledger_backwards(struct sp_writer *w)
{
	__atomic_fetch_or(&w->relation->flags, SP_RELATION_BACKWARDS, __ATOMIC_RELAXED);
}

static void unsure(struct sp_writer *w)
{
	__atomic_fetch_or(&w->relation->flags, SP_RELATION_UNSURE, __ATOMIC_RELAXED);
}

static void forget_overtaken(struct sp_writer *w)
{
	w->nested.flags = 0;
	__atomic_fetch_and(&w->slow, ~SP_SLOW_NESTED, __ATOMIC_RELAXED);
}

/* The answer to a call during which a handler booked. */
static void apply_overtaken(struct sp_writer *w, enum sp_op op, int cell, const int64_t *x, uint32_t site)
{
	bool sure, open, done = w->nested.flags & SP_NESTED_DONE;
	int64_t at[w->k];

	w->proven = false;
	w->order = sp_nested_order(w, op, x, &sure);
	if (!sure)
		unsure(w);
	for (uint32_t e = 0; e < w->k; e++) {
		int64_t last = w->state->at[e];

		at[e] = w->order ? sp_nested_missing(w, op, w->order, x, e) :
			x && (x[e] > last || kind_of(w, e) != SP_COUNTS) ? x[e] : last;
	}
	open = !sure && w->order == SP_CALL_FIRST && (op == SP_OP_ACCUM || op == SP_OP_RESET);
	forget_overtaken(w);
	if (!done)
		apply(w, op, cell, x || w->order ? at : NULL, site);
	if (open)
		sp_put(&w->slow_owner, w->slow_owner | SP_SLOW_UNDECIDED);
}

static void book_owner(struct sp_writer *w, uintptr_t frame, enum sp_op op, int cell, const int64_t *x,
		       const struct window *in)
{
	uint32_t slow;

	sp_put(&w->in_flight, (frame & ~(uintptr_t)15) | op);
	sp_order();
	slow = sp_acquire(&w->slow);
	if ((slow & SP_SLOW_SHARED) && !take_turn(w, TURN_OWNER, 100)) {
		bool done = in->nested && (w->nested.flags & SP_NESTED_DONE);

		if (in->nested) {
			unsure(w);
			forget_overtaken(w);
		}
		sp_put(&w->in_flight, in->under);
		if (op != SP_OP_SIDE && !done)
			book_aside(w, op, cell, x);
		return;
	}
	/* What is put aside from here on comes after x and is added in after it. */
	w->proven = in->proven;
	w->order = SP_CALL_LAST;
	forget_parts(w);		/* a handler may have jumped out of a split */
	if (in->parts && !in->nested)
		book_parts(w, in->parts, x, in->site);
	if (in->nested)
		apply_overtaken(w, op, cell, x, in->site);
	else if (op != SP_OP_SIDE)
		apply(w, op, cell, x, in->site);
	else if (slow & SP_SLOW_SIDE)
		merge_side(w);
	forget_parts(w);
	w->proven = false;
	w->order = SP_CALL_LAST;
	sp_order();
	if (slow & SP_SLOW_SHARED)
		sp_publish(&w->turn, 0);
	sp_publish(&w->in_flight, in->under);
}

/* ---- who comes when ------------------------------------------------------- */

/* What it was is not booked, though PAPI may have done it.  Values that it handed out have no taker
 * any more; whether it zeroed the handler may have seen, or the next values show it. */
static void left_open(struct sp_writer *w, enum sp_op op)
{
	bool zeroed = op == SP_OP_RESET || op == SP_OP_ACCUM;

	if (op != SP_OP_STOP && !zeroed)
		return;			/* the next reading has it in it; PAPI says whether the set runs */
	if (zeroed && sp_nested_zeroed(w) && !(sp_get(&w->slow) & SP_SLOW_SHARED)) {
		w->order = SP_CALL_FIRST;
		apply(w, SP_OP_RESET, (int)w->cells - 1, w->nested.before, 0);
		w->order = SP_CALL_LAST;
	} else if (zeroed) {
		sp_put(&w->slow_owner, w->slow_owner | SP_SLOW_UNDECIDED);
	}
	unsure(w);
}

/* A handler jumped out of the call in flight. */
static void give_up(struct sp_writer *w)
{
	uintptr_t left = sp_get(&w->in_flight);

	if (sp_get(&w->turn) == TURN_OWNER)
		sp_publish(&w->turn, 0);
	sp_publish(&w->state, w->states[w->relation->turn & 1]);
	w->order = SP_CALL_LAST;
	left_open(w, (enum sp_op)(left & 7));
	forget_overtaken(w);
	sp_put(&w->in_flight, 0);
}

/* For a call of PAPI by another thread to end: some 20 ms in all, since it may not have a CPU right now. */
#define PATIENCE 220u

static void rest(unsigned tries)
{
	struct timespec nap = { 0, 100000 };

	if (tries < 20)
		(void)sp_sys(SYS_sched_yield);
	else
		(void)sp_sys(SYS_nanosleep, &nap, NULL);
}

/* The owner's call is in flight; it waits while a visitor's is. */
static void await_visitor(struct sp_writer *w, uintptr_t in_flight)
{
	for (unsigned tries = 0;; tries++) {
		sp_put(&w->in_flight, in_flight);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (!sp_acquire(&w->visitor))
			return;
		if (tries == PATIENCE) {
			unsure(w);
			sp_put(&w->visitor, 0);		/* it has left without a word, perhaps */
			return;
		}
		sp_put(&w->in_flight, 0);
		rest(tries);
	}
}

SP_COLD bool sp_ledger_begin_call_slow(struct sp_writer *w, enum sp_op op, uintptr_t frame)
{
	uintptr_t under = sp_get(&w->in_flight);

	if (under && sp_interrupted(under, frame))
		return false;
	if (under)
		give_up(w);
	if (sp_acquire(&w->slow) & SP_SLOW_SIDE)
		sp_ledger_settle(w);
	await_visitor(w, (frame & ~(uintptr_t)15) | SP_IN_PAPI | op);
	return true;
}

SP_COLD void sp_ledger_call_failed(struct sp_writer *w)
{
	if (!w->relation)		/* a handler took the set apart */
		return;
	forget_overtaken(w);
	sp_order();
	sp_ledger_end(w);
}

SP_COLD void sp_ledger_starts_already(struct sp_writer *w, bool on_top)
{
	const struct window in = { .under = sp_get(&w->in_flight) };

	if (on_top) {
		__atomic_fetch_or(&w->slow, SP_SLOW_NESTED, __ATOMIC_RELAXED);
		w->nested.flags |= SP_NESTED_DONE;
	}
	book_owner(w, (uintptr_t)__builtin_frame_address(0), SP_OP_START, (int)w->cells - 1, NULL, &in);
}

/* On top of a call that PAPI has not answered yet. */
static void book_over(struct sp_writer *w, uintptr_t frame, enum sp_op op, int cell, const int64_t *x,
		      const struct window *in)
{
	struct window over = *in;

	over.under = sp_get(&w->in_flight);
	sp_nested_note(w, op, x);
	book_owner(w, frame, op, cell, x, &over);
}

static void book(struct sp_writer *w, uintptr_t frame, enum sp_op op, int cell, const int64_t *x,
		 const struct window *in)
{
	uintptr_t under = sp_get(&w->in_flight);

	if (under && sp_interrupted(under, frame)) {
		if ((under & SP_IN_PAPI) && !(sp_acquire(&w->slow) & SP_SLOW_SIDE)) {
			book_over(w, frame, op, cell, x, in);
			return;
		}
		if (under & SP_IN_PAPI)	/* another thread left something; this is behind it, and the call before */
			unsure(w);
		book_aside(w, op, cell, x);
		return;
	}
	if (under)
		give_up(w);
	if (sp_acquire(&w->slow) & SP_SLOW_SIDE)
		book_aside(w, op, cell, x);	/* in order behind what is there */
	else
		book_owner(w, frame, op, cell, x, in);
	if (sp_acquire(&w->slow) & SP_SLOW_SIDE)
		sp_ledger_settle(w);
}

static void finish(struct sp_writer *w, uintptr_t frame, enum sp_op op, int cell, const int64_t *x,
		       const struct window *in)
{
	struct window answer = *in;

	answer.nested = sp_get(&w->slow) & SP_SLOW_NESTED;
	book_owner(w, frame, op, cell, x, &answer);
	if (sp_acquire(&w->slow) & SP_SLOW_SIDE)
		sp_ledger_settle(w);
}

SP_COLD void sp_ledger_finish_slow(struct sp_writer *w, enum sp_op op, int cpu, const long long *values, bool proven,
				  uint32_t site)
{
	const struct window in = { .proven = proven, .site = site };

	finish(w, (uintptr_t)__builtin_frame_address(0), op, cell_for(w, op, cpu), (const int64_t *)values, &in);
}

SP_COLD void sp_ledger_book_slow(struct sp_writer *w, uintptr_t frame, enum sp_op op, int cpu, const long long *values,
				 bool proven, uint32_t site)
{
	const struct window in = { .proven = proven, .site = site };

	book(w, frame, op, cell_for(w, op, cpu), (const int64_t *)values, &in);
}

SP_COLD void sp_ledger_book_parts(struct sp_writer *w, enum sp_op op, int cpu, const long long *values,
				  const struct sp_parts *parts, uint32_t site, bool in_flight)
{
	const struct window in = { .parts = parts, .site = site };
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	if (w->relation)
		(in_flight ? finish : book)(w, frame, op, cell_for(w, op, cpu), (const int64_t *)values, &in);
}

SP_COLD void sp_ledger_settle(struct sp_writer *w)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	/* Again if a handler left something meanwhile; not for ever if it is another
	 * thread's turn. */
	for (int tries = 0; tries < 4 && (sp_acquire(&w->slow) & SP_SLOW_SIDE); tries++)
		book_owner(w, frame, SP_OP_SIDE, 0, NULL, &open_window);
}

void sp_ledger_leave(struct sp_writer *w)
{
	sp_ledger_settle(w);
	apply(w, SP_OP_LEAVE, -1, NULL, 0);
}

bool sp_ledger_intervals(struct sp_writer *w, const struct sp_image *image, struct sp_interval_slot *memory,
			 uint32_t slots)
{
	bool may;

	if (sp_get(&w->in_flight))
		return false;
	sp_put(&w->in_flight, sp_ledger_mark(SP_OP_READ));
	sp_order();
	may = !(sp_acquire(&w->slow) & SP_SLOW_SHARED);
	if (may)
		sp_intervals_bind(w, image, memory, slots);
	sp_order();
	sp_publish(&w->in_flight, 0);
	sp_order();
	if (sp_acquire(&w->slow) & SP_SLOW_SIDE)
		sp_ledger_settle(w);
	return may;
}

/* Makes the owner take turns from its next booking on.  Without membarrier (old
 * kernels, seccomp) it cannot be known when that is: false. */
static bool share(struct sp_writer *w)
{
	if (!(__atomic_fetch_or(&w->slow, SP_SLOW_SHARED, __ATOMIC_SEQ_CST) & SP_SLOW_SHARED))
		__atomic_fetch_or(&w->relation->flags, SP_RELATION_FOREIGN, __ATOMIC_RELAXED);
	if (w->barrier)
		return w->barrier > 0;
	(void)sp_sys(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	w->barrier = sp_sys(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0 ? 1 : -1;
	return w->barrier > 0;
}

SP_COLD bool sp_ledger_visits(struct sp_writer *w)
{
	uint32_t nobody = 0;
	unsigned tries = 0;
	uintptr_t under;

	if (!w->relation)
		return false;
	(void)share(w);
	while (!sp_cas(&w->visitor, &nobody, 1)) {
		if (tries == PATIENCE) {
			unsure(w);
			return false;
		}
		nobody = 0;
		rest(tries++);
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (tries = 0; (under = sp_acquire(&w->in_flight)) != 0 && under != sp_get(&w->abandoned); rest(tries++))
		if (tries == PATIENCE) {
			unsure(w);
			sp_put(&w->abandoned, under);
			break;
		}
	return true;
}

void sp_ledger_visited(struct sp_writer *w)
{
	sp_publish(&w->visitor, 0);
}

SP_COLD void sp_ledger_book_foreign(struct sp_writer *w, enum sp_op op, int cpu, const long long *values,
				    const struct sp_parts *parts, uint32_t site)
{
	const int64_t *x = (const int64_t *)values;
	struct sp_held h;
	int cell;

	if (!w->relation)
		return;
	sp_signals_block(&h);
	if (share(w) && take_turn(w, TURN_FOREIGN, 1000)) {
		cell = cell_for(w, op, cpu);
		if (booking(w)) {	/* since before it knew that it shares */
			book_aside(w, op, cell, x);
		} else {
			w->proven = false;	/* the owner may have jumped out of a booking */
			forget_parts(w);
			if (sp_acquire(&w->slow) & SP_SLOW_SIDE)
				merge_side(w);
			if (parts)
				book_parts(w, parts, x, site);
			apply(w, op, cell, x, site);
			forget_parts(w);
		}
		sp_publish(&w->turn, 0);
	} else {
		book_aside(w, op, cell_for(w, op, cpu), x);
	}
	sp_signals_restore(&h);
}
