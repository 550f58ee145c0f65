/* records.c: see records.h. */
#include <linux/membarrier.h>
#include <string.h>

#include "order.h"
#include "readings.h"
#include "records.h"
#include "stamp.h"

int64_t sp_records_zeros[SP_EVENTS_MAX];

/* So many records are folded; while a handler is on top of a call more, so that all that comes before the end of the call is
 * folded together; what is left is for handlers on top of a booking. */
#define END		36u
#define END_BEGUN	60u

static struct sp_cell *cell_at(const struct sp_writer *w, int32_t i)
{
	return (struct sp_cell *)((char *)w->relation + w->layout.cell + (uint32_t)i * w->layout.cell_bytes);
}

static struct sp_record *record_at(const struct sp_writer *w, uint32_t place)
{
	return (struct sp_record *)(w->records + place * w->layout.record_bytes);
}

static void set_end(struct sp_writer *w, uint32_t records)
{
	w->end = w->records + records * w->layout.record_bytes;
}

static uint32_t place_of(const struct sp_writer *w, const unsigned char *at)
{
	return (uint32_t)((uint64_t)(at - w->records) / w->layout.record_bytes);
}

/* (By who waits for the writer, too: it may be unbound right now.) */
static void unsure(struct sp_writer *w)
{
	struct sp_relation *r = sp_get(&w->relation);

	if (r)
		__atomic_fetch_or(&r->flags, SP_RELATION_UNSURE, __ATOMIC_RELAXED);
}

/* In place of the mark of a call while something is booked that is not that call. */
static uintptr_t just_books(uintptr_t mark)
{
	return (mark & ~(SP_IN_PAPI | 7)) | SP_OP_READ;
}

/* The booking under way has its record: a handler need not say any more what PAPI did for it. */
static void has_record(struct sp_writer *w)
{
	uintptr_t is = sp_get(&w->in_flight);

	if (is)
		sp_put(&w->in_flight, just_books(is));
	sp_order();
}

static void set_slow(struct sp_writer *w, uint32_t flag)
{
	__atomic_fetch_or(&w->slow, flag, __ATOMIC_RELEASE);
}

static void clear_slow(struct sp_writer *w, uint32_t flag)
{
	__atomic_fetch_and(&w->slow, ~flag, __ATOMIC_RELEASE);
}

int sp_records_cell(struct sp_writer *w, int cpu)
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
		sp_publish(&c->used, c->used | SP_CELL_USED);
		return i;
	}
	return last;
}

/* ---- folding ------------------------------------------------------------------ */

/* Intervals that were met: a program reads at few places in turn. */
#define MET	8u
struct met {
	uint32_t from, to;
	int32_t cell;
	struct sp_interval *is;		/* NULL: none */
};

struct folding {
	struct sp_fold f;
	struct sp_writer *w;
	struct sp_drafts drafts;
	uint64_t most;			/* bytes of drafts to which another record may add some */
	bool crowded;
	int32_t hot;			/* the cell met last */
	struct sp_cell *cell;
	struct met met[MET];
};

static sp_off cell_off(const struct sp_writer *w, int32_t i)
{
	return w->off + w->layout.cell + (uint32_t)i * w->layout.cell_bytes;
}

static struct sp_cell *draft_cell(struct sp_fold *f, int32_t i)
{
	struct folding *in = f->of;

	if (in->hot != i) {
		in->cell = sp_draft(&in->drafts, cell_off(in->w, i), cell_at(in->w, i), in->w->layout.cell_bytes);
		in->hot = in->cell ? i : -1;
	}
	return in->cell;
}

static const struct sp_cell *look_at_cell(struct sp_fold *f, int32_t i)
{
	struct folding *in = f->of;
	const struct sp_cell *c = sp_draft_find(&in->drafts, cell_off(in->w, i), in->w->layout.cell_bytes);

	return c ? c : cell_at(in->w, i);
}

static __attribute__((noinline)) struct sp_interval *meet_interval(struct folding *in, struct met *m)
{
	struct sp_writer *w = in->w;

	m->is = w->track.slots ? sp_interval_draft(&w->track, &in->drafts, m->from, m->to, m->cell, &in->crowded) :
				 sp_interval_draft_by_list(w->image, w->relation->intervals, w->k, &in->drafts, m->from, m->to,
							   m->cell, &in->crowded);
	return m->is;
}

static struct sp_interval *draft_interval(struct sp_fold *f, uint32_t from, uint32_t to, int32_t cell)
{
	struct folding *in = f->of;
	struct met *m = &in->met[(from + 2 * to) % MET];

	if (SP_LIKELY(m->is != NULL) && m->from == from && m->to == to && m->cell == cell)
		return m->is;
	if (!in->w->relation->intervals)
		return NULL;
	*m = (struct met){ from, to, cell, NULL };
	return meet_interval(in, m);
}

/* A reader in another thread is to see what comes behind a word that says what holds only with that word. */
static void order_stores(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* What the drafts are of becomes what they say. */
static void apply_drafts(struct sp_writer *w)
{
	struct sp_drafts d = { .at = (unsigned char *)w->relation + w->layout.drafts,
			       .used = sp_min(sp_get(&w->relation->drafted), w->layout.draft_room) };
	const struct sp_draft *is;
	uint64_t place = 0;

	while ((is = sp_draft_next(&d, &place)) != NULL) {
		bool own = is->at - w->off < w->layout.bytes && is->bytes <= w->layout.bytes - (is->at - w->off);
		void *to = own ? (char *)w->relation + (is->at - w->off) : (void *)sp_image_at(w->image, is->at, is->bytes);

		if (to)
			sp_copy_words(to, is->is, is->bytes / 8);
	}
	sp_publish(&w->relation->drafted, 0);
	order_stores();
}

/* Those that are not folded yet, in their order; what a handler adds from now on is behind `place`. */
static uint32_t list_records(const struct sp_writer *w, uint64_t place, const struct sp_record *list[SP_RECORDS])
{
	uint64_t number = place / SP_PLACES, folded = w->state->folded;
	uint32_t n = 0, most = place % SP_PLACES ? place % SP_PLACES : place_of(w, w->to);
	const unsigned char *at = w->records;

	if (!place && !sp_acquire(&record_at(w, 0)->number))
		return 0;		/* a new relation's */
	for (uint32_t left = sp_min(most, SP_RECORDS); left--; at += w->layout.record_bytes) {
		const struct sp_record *r = (const struct sp_record *)at;

		if (sp_acquire(&r->number) == ++number && number > folded)
			list[n++] = r;
	}
	return n;
}

/* A handler's calls and the call that they were on top of are folded together: in drafts of their own. */
static __attribute__((noinline)) uint32_t fold_list(struct folding *in, const struct sp_record *const *list, uint32_t n)
{
	bool tells = !(sp_get(&in->w->relation->flags) & SP_RELATION_ESTIMATED);
	uint32_t i = 0, next;

	for (; i < n && in->drafts.used <= in->most; i++) {
		if (SP_LIKELY(sp_order_is_alone(list[i]))) {
			sp_rules_apply(&in->f, list[i]);
			continue;
		}
		next = sp_order_together(list + i, n - i, false);
		if (next > 1 && i)
			break;
		sp_order_fold(&in->f, list + i, next, n - i, tells);
		if (next > 1)
			return next;
	}
	return i;
}

/* What one record may change: two cells. */
static uint64_t changes(const struct sp_writer *w)
{
	return 2 * (w->layout.cell_bytes + SP_INTERVAL_BYTES(w->k) + 8 + 3 * sizeof(struct sp_draft));
}

/* Are there more? */
static bool fold_some(struct sp_writer *w, uint64_t place)
{
	struct folding in = { .f = { .k = w->k, .cells = w->cells, .kinds = w->kinds, .cell = draft_cell, .look = look_at_cell,
				     .interval = draft_interval }, .w = w,
			      .drafts = { .at = (unsigned char *)w->relation + w->layout.drafts, .room = w->layout.draft_room },
			      .most = w->layout.draft_room - changes(w), .hot = -1 };
	const struct sp_record *list[SP_RECORDS];
	uint32_t n = list_records(w, place, list), done;

	if (!n)
		return false;
	in.f.of = &in;
	in.f.state = sp_draft(&in.drafts, w->off + w->layout.state, w->state, SP_STATE_BYTES(w->k));
	done = fold_list(&in, list, n);
	if (in.crowded)
		in.f.state->flags |= SP_STATE_CROWDED;
	in.f.state->folded = list[done - 1]->number;
	sp_publish(&w->relation->drafted, in.drafts.used);
	order_stores();
	apply_drafts(w);
	return done < n;
}

/* The first record's place and number, for the next ones: no handler has come since `was`. */
static bool begin_anew(struct sp_writer *w, uint64_t was)
{
	uint64_t base = was / SP_PLACES + SP_RECORDS;

	if (!sp_cas(&w->relation->place, &was, base * SP_PLACES))
		return false;
	order_stores();
	w->number = base;
	sp_put(&w->to, w->records);
	return true;
}

static void tell_relation(struct sp_writer *w)
{
	uint32_t is = w->state->flags, flags = (is & SP_STATE_BACKWARDS ? SP_RELATION_BACKWARDS : 0) |
					       (is & SP_STATE_UNSURE ? SP_RELATION_UNSURE : 0) |
					       (is & SP_STATE_CROWDED ? SP_RELATION_CROWDED : 0);

	if (flags & ~sp_get(&w->relation->flags))
		__atomic_fetch_or(&w->relation->flags, flags, __ATOMIC_RELAXED);
}

void sp_records_fold(struct sp_writer *w)
{
	uint64_t was;

	has_record(w);
	sp_put(&w->steady, 0);
	sp_put(&w->last, NULL);
	apply_drafts(w);		/* a fold was jumped out of */
	w->folded_behind = false;
	do {
		clear_slow(w, SP_SLOW_OVER);
		was = sp_acquire(&w->relation->place);
		w->folded_behind |= was % SP_PLACES != 0;
		while (fold_some(w, was))
			;
	} while (!begin_anew(w, was));
	w->values = w->state->at;	/* SP_LAST is the first array */
	sp_put(&w->runs, w->state->flags & SP_STATE_RUNNING);
	tell_relation(w);
}

/* ---- binding ------------------------------------------------------------------- */

void sp_records_bind_taken(struct sp_writer *w, const struct sp_image *image, sp_off off, uint32_t k, uint32_t cells,
			   const uint8_t *kinds)
{
	struct sp_layout l = sp_relation_layout(k, cells);
	unsigned char *base = (unsigned char *)sp_image_at(image, off, l.bytes);

	for (sp_word *at = (sp_word *)&w->last; at < (sp_word *)w->below; at++)
		sp_put(at, 0);		/* (Another thread may still look there.) */
	clear_slow(w, ~(SP_SLOW_BINDS | SP_SLOW_SHARED));
	sp_put(&w->relation, (struct sp_relation *)base);
	w->image = image;
	w->off = off;
	w->layout = l;
	sp_put(&w->k, k);
	sp_put(&w->cells, cells);
	w->state = (struct sp_state *)(base + l.state);
	w->records = base + l.records;
	set_end(w, END);
	w->to = w->records + SP_RECORDS * l.record_bytes;	/* those of another are looked for everywhere */
	sp_put(&w->cpu, -2);
	w->kinds = kinds;
	if (kinds)
		set_slow(w, SP_SLOW_OTHER);
	sp_records_fold(w);
	w->ran = w->runs;
	sp_put(&w->runs, false);
	w->state->flags &= ~SP_STATE_RUNNING;
}

void sp_records_bind(struct sp_writer *w, const struct sp_image *image, sp_off off, uint32_t k, uint32_t cells,
		     const uint8_t *kinds)
{
	memset(w, 0, sizeof(*w));
	sp_records_bind_taken(w, image, off, k, cells, kinds);
}

void sp_records_keep(struct sp_writer *w, uint32_t component)
{
	w->component = (uint8_t)component;
	if (component)
		set_slow(w, SP_SLOW_OTHER);
}

void sp_records_log(struct sp_writer *w, struct sp_log *log, enum sp_entries entries, bool only_kept)
{
	w->log = log;
	w->entries = entries;
	w->only_kept = only_kept;
	set_slow(w, only_kept && entries == SP_ENTRIES_PERMANENT && !(sp_get(&w->slow) & ~(SP_SLOW_BINDS | SP_SLOW_SHARED)) ?
		    SP_SLOW_KEPT : SP_SLOW_OTHER);
}

void sp_records_intervals(struct sp_writer *w, struct sp_interval_slot *memory, uint32_t slots)
{
	sp_intervals_bind(&w->track, w->image, w->relation->intervals, w->k, memory, slots);
}

/* ---- a record ---------------------------------------------------------------------- */

/* Somebody below this call is in the middle of a booking. */
static bool is_over_booking(const struct sp_writer *w)
{
	for (uint32_t i = 0, n = sp_get(&w->levels); i < n; i++)
		if (!(sp_get(&w->below[i]) & SP_IN_PAPI))
			return true;
	return false;
}

/* Behind what the booking below may be writing right now; NULL: no room, or it would not be the first one there. */
static struct sp_record *place_behind(struct sp_writer *w, uint64_t *number, bool first)
{
	uint64_t was = sp_acquire(&w->relation->place), place;

	do {
		place = was % SP_PLACES ? was % SP_PLACES : place_of(w, sp_get(&w->to)) + 2u;
		if (place >= SP_RECORDS || (first && was % SP_PLACES))
			return NULL;
	} while (!sp_cas(&w->relation->place, &was, was - was % SP_PLACES + place + 1));
	*number = was / SP_PLACES + place + 1;
	return record_at(w, (uint32_t)place);
}

static void fill(struct sp_writer *w, struct sp_record *r, uint32_t what, int32_t cell, const int64_t *x, uint32_t site,
		 uint64_t count)
{
	sp_put(&r->what, what);
	sp_put(&r->cell, cell);
	sp_put(&r->from, w->from);
	sp_put(&r->site, site);
	sp_put(&r->count, count);
	for (uint32_t e = 0; x && e < w->k; e++)
		sp_put(&r->value[e], x[e]);
}

/* It is there. */
static void put_behind(struct sp_writer *w, struct sp_record *r, uint64_t number)
{
	sp_publish(&r->number, number);
	sp_order();
	set_slow(w, SP_SLOW_OVER);
}

static void add_behind(struct sp_writer *w, uint32_t what, int32_t cell, const int64_t *x, uint32_t site, uint64_t count)
{
	uint64_t number;
	struct sp_record *r = place_behind(w, &number, false);

	if (!r) {			/* of a running set the next value has it in it, unless it was zeroed */
		unsure(w);
		return;
	}
	fill(w, r, what, cell, x, site, count);
	put_behind(w, r, number);
	if (what & SP_RECORD_ENDS)
		sp_put(&w->in_flight, sp_get(&w->in_flight) & ~SP_BEGUN);
}

/* What a record says of the set, to who goes on from there. */
static void go_on_from(struct sp_writer *w, const struct sp_record *r)
{
	bool keeps = r->what & SP_RECORD_KEEPS;

	switch (sp_record_op(r)) {
	case SP_OP_START:
	case SP_OP_RUNS:
		sp_put(&w->runs, true);
		w->values = sp_records_zeros;
		w->baseline = keeps;
		break;
	case SP_OP_STANDS:
		sp_put(&w->runs, false);
		break;
	case SP_OP_RESET:
		w->values = keeps ? w->values : sp_records_zeros;
		w->baseline &= keeps;
		break;
	case SP_OP_ACCUM:
		w->values = keeps ? r->value : sp_records_zeros;
		w->baseline = false;
		break;
	case SP_OP_STOP:
		sp_put(&w->runs, false);
		/* fall through */
	case SP_OP_READ:
	case SP_OP_WRITE:
		w->values = r->value;
		w->baseline = false;
		break;
	}
}

/* A handler may come meanwhile, and go on behind. */
SP_COLD void sp_records_take_behind(struct sp_writer *w)
{
	uint64_t was, base;
	uint32_t from, to;

	has_record(w);
	do {
		clear_slow(w, SP_SLOW_OVER);
		was = sp_acquire(&w->relation->place);
		base = was / SP_PLACES;
		from = (uint32_t)(w->number - base);
		to = was % SP_PLACES;
		for (uint32_t i = from; i < to; i++)
			if (sp_acquire(&record_at(w, i)->number) == base + i + 1) {
				go_on_from(w, record_at(w, i));
				w->from = record_at(w, i)->site;
			}
		if (to) {
			w->number = base + to;
			sp_put(&w->to, (unsigned char *)record_at(w, to));
			sp_put(&w->last, NULL);
			sp_put(&w->steady, 0);
			sp_put(&w->cpu, -2);
		}
	} while (!sp_cas(&w->relation->place, &was, base * SP_PLACES));
	if (w->to >= w->end)
		sp_records_fold(w);
}

/* Of what is alike all but what makes an end, a part or an estimate is added to the last record. */
static bool add_alike(struct sp_writer *w, uint32_t what, int32_t cell, const int64_t *x, uint32_t site, uint64_t count)
{
	uint32_t op = what & SP_RECORD_OP;
	struct sp_record *r = w->last;

	if (what & SP_RECORD_ENDS || (w->component && op != SP_OP_RESET) || !sp_records_alike(r, what, cell, site))
		return false;
	if (op != SP_OP_READ && op != SP_OP_RESET && !(op == SP_OP_ACCUM && !w->kinds && !(what & SP_RECORD_PERMANENT)))
		return false;
	for (uint32_t e = 0; x && e < w->k; e++)
		sp_put(&r->value[e], op == SP_OP_ACCUM ? r->value[e] + x[e] : x[e]);
	sp_put(&r->count, r->count + count);
	return true;
}

static void add_counted(struct sp_writer *w, uint32_t what, int32_t cell, const int64_t *x, uint32_t site, uint64_t count)
{
	struct sp_record *r;

	if (is_over_booking(w)) {
		add_behind(w, what, cell, x, site, count);
		return;
	}
	if (add_alike(w, what, cell, x, site, count))
		return;
	r = (struct sp_record *)w->to;
	fill(w, r, what, cell, x, site, count);
	sp_put(&w->steady, 0);
	go_on_from(w, r);
	sp_records_add(w, r);
	if (sp_acquire(&w->slow) & SP_SLOW_OVER)	/* what comes next in the same booking is of no order */
		sp_records_take_behind(w);
}

static void add_record(struct sp_writer *w, uint32_t what, int32_t cell, const int64_t *x, uint32_t site)
{
	add_counted(w, what, cell, x, site, 1);
}

/* ---- times ---------------------------------------------------------------------------- */

static void put_time(struct sp_writer *w, uint64_t now, bool reading)
{
	struct sp_relation *r = w->relation;

	/* What does not begin at 0 is seen from its first reading on. */
	if (!r->first_ns && (reading || !(w->component & SP_KEEPS_ON_START)))
		sp_put(&r->first_ns, now);
	sp_put(&r->last_ns, now);
	if (reading)
		sp_put(&r->reading_ns, now);
}

static uint64_t later(const struct sp_writer *w, uint64_t now)
{
	return sp_max(now, sp_max(w->relation->reading_ns, w->relation->last_ns) + 1);
}

SP_COLD void sp_records_tick(struct sp_writer *w)
{
	put_time(w, later(w, sp_coarse_ns()), true);
}

/* ---- permanent readings ------------------------------------------------------------------ */

/* Reads the relation as a fold would, which there is nothing for. */
static const struct sp_cell *cell_of(struct sp_fold *f, int32_t i)
{
	return cell_at(f->of, i);
}

/* Kept before it is booked: a reading is there before its counts. */
static void keep(struct sp_writer *w, uint32_t what, int32_t cell, const int64_t *x, uint64_t ns)
{
	struct sp_fold f = { .k = w->k, .cells = w->cells, .kinds = w->kinds, .state = w->state, .look = cell_of, .of = w };
	bool plain = w->only_kept && !w->kinds && (what & SP_RECORD_OP) != SP_OP_ACCUM;
	int64_t *v = sp_log_room(w->log);
	struct sp_record *r;

	if (!v)
		return;
	if (!plain) {
		sp_records_fold(w);
		if (w->folded_behind)
			unsure(w);	/* it was to be the first of them */
		r = (struct sp_record *)w->to;
		fill(w, r, what, cell, x, 0, 1);
		for (uint32_t e = 0; e < w->k; e++)
			v[e] = sp_rules_entry(&f, r, e);
	} else {
		for (uint32_t e = 0; e < w->k; e++)
			v[e] = x[e];
	}
	sp_put(&cell_at(w, cell)->used, cell_at(w, cell)->used | SP_CELL_KEPT);
	sp_log_append(w->log, cell_at(w, cell)->cpu, ns);
}

/* The same of a set that has nothing but what is kept: what a reading leaves is what PAPI handed out.  The cell is a dense one. */
static void keep_plain(struct sp_writer *w, int32_t cell, const long long *x, uint64_t ns)
{
	int64_t *v = sp_log_room(w->log);
	struct sp_cell *c = cell_at(w, cell);

	if (!v)
		return;
	sp_copy_counts((long long *)v, x, w->k);
	if (SP_UNLIKELY(!(c->used & SP_CELL_KEPT)))
		sp_put(&c->used, c->used | SP_CELL_KEPT);
	sp_log_append(w->log, cell, ns);
}

static void put_values(struct sp_writer *w, struct sp_record *r, const long long *x)
{
#define EACH(type, e) SP_STORE(type, &r->value[e], SP_AT(type, &x[e]))
	SP_EACH(w->k, EACH);
#undef EACH
}

bool sp_records_again_kept(struct sp_writer *w, const long long *x, uint64_t steady)
{
	struct sp_record *r = sp_own(&w->last);
	uint64_t ns;

	if (SP_UNLIKELY(sp_get(&w->slow) != SP_SLOW_KEPT) || SP_UNLIKELY(sp_own(&w->steady) != steady))
		return false;
	ns = sp_log_time(w->log);
	keep_plain(w, r->cell, x, ns);
	put_values(w, r, x);
	sp_bump(&r->count);
	put_time(w, ns, true);
	sp_records_end(w);
	return true;
}

bool sp_records_value_kept(struct sp_writer *w, enum sp_op op, int32_t cell, const long long *x, uint32_t site)
{
	const uint32_t what = op | SP_RECORD_PROVEN | SP_RECORD_PERMANENT;
	struct sp_record *r = sp_own(&w->last);
	bool alike = op == SP_OP_READ && sp_records_alike(r, what, cell, site);
	uint64_t ns;

	if (SP_UNLIKELY(sp_get(&w->slow) != SP_SLOW_KEPT))
		return false;
	ns = sp_log_time(w->log);
	keep_plain(w, cell, x, ns);
	if (!alike)
		r = sp_records_new(w, what, cell, site);
	put_values(w, r, x);
	put_time(w, ns, true);
	if (alike) {
		sp_bump(&r->count);
	} else {
		w->values = r->value;
		w->runs &= op != SP_OP_STOP;
		sp_records_add(w, r);
	}
	sp_records_end(w);
	return true;
}

/* ---- a call -------------------------------------------------------------------------------- */

static bool has_values(enum sp_op op)
{
	return op == SP_OP_READ || op == SP_OP_STOP || op == SP_OP_ACCUM;
}

static uint32_t keeps(const struct sp_writer *w, enum sp_op op)
{
	uint32_t on = op == SP_OP_START ? SP_KEEPS_ON_START : op == SP_OP_RESET || op == SP_OP_ACCUM ? SP_KEEPS_ON_RESET : 0;

	return w->component & on ? SP_RECORD_KEEPS : 0;
}

/* No count is below 0, and proven are just these, or none. */
static bool is_all_or_none(const int64_t *counts, const int64_t *proven, uint32_t k, bool all)
{
	for (uint32_t e = 0; e < k; e++)
		if (counts[e] < 0 || proven[e] != (all ? counts[e] : 0))
			return false;
	return true;
}

/* Of one CPU, between the same two call sites as the reading. */
static void add_part(struct sp_writer *w, uint32_t what, int32_t cell, int32_t reading, const int64_t *x, uint32_t from, uint32_t site)
{
	w->from = from;
	add_counted(w, what, cell, x, site, (uint64_t)reading);
}

/* Parts of the counts that the reading, just booked, has brought all to its own cell. */
static void add_parts(struct sp_writer *w, const struct sp_parts *p, const int64_t *counts, int32_t reading, uint32_t from, uint32_t site)
{
	int64_t rest[w->k];

	memcpy(rest, counts, sizeof(rest));
	for (uint32_t i = 0; i < p->n; i++) {
		const int64_t *part = p->at + (uint64_t)i * w->k, *proven = p->proven + (uint64_t)i * w->k;
		int32_t cell = sp_records_cell(w, p->cpu[i]);
		bool all = is_all_or_none(part, proven, w->k, true);

		add_part(w, SP_OP_PART | (all ? SP_RECORD_PROVEN : 0), cell, reading, part, from, site);
		if (!all && !is_all_or_none(part, proven, w->k, false))
			add_part(w, SP_OP_PROVEN, cell, reading, proven, from, site);
		for (uint32_t e = 0; e < w->k; e++)
			rest[e] -= part[e];
	}
	if (!is_all_or_none(rest, p->proven + (uint64_t)p->n * w->k, w->k, false))
		add_part(w, SP_OP_PROVEN, reading, reading, p->proven + (uint64_t)p->n * w->k, from, site);
	w->from = site;
}

/* The values are in a record of the writer's. */
static void add_split(struct sp_writer *w, const struct sp_booking *b, uint32_t what, int32_t cell, const int64_t *x)
{
	uint32_t from = w->from;
	int64_t counts[w->k];

	for (uint32_t e = 0; e < w->k; e++)
		counts[e] = x[e] - w->values[e];
	add_record(w, what, cell, x, b->site);
	add_parts(w, b->parts, counts, cell, from, b->site);
}

static void count_call(struct sp_writer *w, enum sp_op op)
{
	if (op == SP_OP_START)
		sp_add(&w->relation->starts, 1);
	else if (op == SP_OP_RESET)
		sp_add(&w->relation->resets, 1);
}

/* ends: SP_RECORD_ENDS, where a handler came on top. */
static void put(struct sp_writer *w, const struct sp_booking *b, uint32_t ends)
{
	bool values = has_values(b->op), over = is_over_booking(w);
	int32_t cell = values ? sp_records_cell(w, b->cpu) : 0;
	const int64_t *x = (const int64_t *)b->x;
	uint32_t what = b->op | ends | keeps(w, b->op) | (b->proven && !ends ? SP_RECORD_PROVEN : 0);
	uint64_t ns = values && w->log ? sp_log_time(w->log) : later(w, w->precise ? sp_stamp_ns() : sp_coarse_ns());

	if (values && w->entries == SP_ENTRIES_NONE)
		what |= SP_RECORD_NO_ENTRY;
	if (values && w->entries == SP_ENTRIES_PERMANENT) {
		if (ends || over || w->levels) {	/* in what order is not known yet */
			what |= SP_RECORD_NO_ENTRY;
			sp_add(&w->relation->refused, 1);
		} else {
			what |= SP_RECORD_PERMANENT;
			keep(w, what, cell, x, ns);
		}
	}
	if (b->parts && !ends && !w->levels && w->runs && !w->baseline)
		add_split(w, b, what, cell, x);
	else
		add_record(w, what, cell, x, b->site);
	count_call(w, b->op);
	if (b->op != SP_OP_RESET)
		put_time(w, ns, values && w->entries != SP_ENTRIES_NONE);
	if (over)
		return;
	if (b->state)
		add_record(w, b->state, 0, NULL, 0);
	sp_put(&w->cpu, !values ? w->cpu : (uint32_t)cell < w->cells - SP_CELLS_EXTRA ? cell : -2);
}

/* ---- who books now --------------------------------------------------------------------------- */

/* For a call of PAPI by another thread to end: some 20 ms in all, since it may not have a CPU right now; for a booking, which
 * calls nothing, 2 s. */
#define PATIENCE	220u
#define MORE_PATIENCE	20000u

/* `flier`: PAPI has answered, after others had begun to wait.  Who gives up waiting and who comes back change that one word. */
#define FLIER_BOOKS	0x80000000u

static void rest(unsigned tries)
{
	struct timespec nap = { 0, 100000 };

	if (tries < 20)
		(void)sp_sys(SYS_sched_yield);
	else
		(void)sp_sys(SYS_nanosleep, &nap, NULL);
}

/* The newest record is found again, after a jump out of a booking. */
static void find_records(struct sp_writer *w)
{
	uint64_t base = sp_acquire(&w->relation->place) / SP_PLACES;
	uint32_t n = 0;

	for (uint32_t i = 0; i < SP_RECORDS; i++)
		if (sp_acquire(&record_at(w, i)->number) == base + i + 1)
			n = i + 1;
	w->number = base + n;
	w->from = 0;
	sp_put(&w->to, (unsigned char *)record_at(w, n));
	sp_put(&w->cpu, -2);
	sp_records_fold(w);
}

static void asks_if(struct sp_writer *w, bool asks)
{
	if (asks)
		sp_put(&w->asks, true);
}

/* A handler jumped out of the call in flight.  Values that PAPI handed out for it have no taker any more. */
static void left(struct sp_writer *w, uintptr_t mark)
{
	enum sp_op op = (enum sp_op)(mark & 7);
	uint32_t what = (uint32_t)op << SP_RECORD_OF_SHIFT | keeps(w, op);
	bool lost = op == SP_OP_STOP || op == SP_OP_RESET || op == SP_OP_ACCUM;

	asks_if(w, op == SP_OP_START || op == SP_OP_STOP);
	if (lost)
		unsure(w);
	set_end(w, END_BEGUN);
	if (lost && !(mark & SP_BEGUN))
		add_record(w, SP_OP_BEGIN | what, 0, NULL, 0);
	if (lost || mark & SP_BEGUN)
		add_record(w, SP_OP_LEFT | SP_RECORD_ENDS | what, 0, NULL, 0);
}

/* A handler jumped out of a booking: PAPI has done what it was asked, and the record of that may be missing. */
static void left_booking(struct sp_writer *w, uintptr_t mark)
{
	enum sp_op op = (enum sp_op)(mark & 7);
	bool zeroed = op == SP_OP_RESET || op == SP_OP_ACCUM;
	uint32_t slow = sp_acquire(&w->slow);

	if (!is_over_booking(w))
		find_records(w);
	asks_if(w, op == SP_OP_START || op == SP_OP_STOP);
	if (zeroed || op == SP_OP_STOP)
		unsure(w);
	if (mark & SP_BEGUN)
		add_record(w, SP_OP_LEFT | SP_RECORD_ENDS | (uint32_t)op << SP_RECORD_OF_SHIFT | keeps(w, op), 0, NULL, 0);
	else if (zeroed && !(slow & SP_SLOW_OVER))	/* else the handler has said so (say_zeroed) */
		add_counted(w, SP_OP_RESET | keeps(w, op), 0, NULL, 0, 0);
}

/* Goes on with the call of `mark`, in which PAPI is, or will be: what handlers left behind up to here comes before what they do
 * from here on. */
static void go_on(struct sp_writer *w, uintptr_t mark)
{
	bool takes = mark & SP_IN_PAPI && !is_over_booking(w);

	for (;;) {
		sp_publish(&w->in_flight, mark);
		sp_order();
		if (!takes || !(sp_acquire(&w->slow) & SP_SLOW_OVER))
			return;
		sp_put(&w->in_flight, just_books(mark));
		sp_order();
		sp_records_take_behind(w);
	}
}

/* The booking has ended. */
static void leave(struct sp_writer *w, uint32_t who)
{
	uint32_t levels = w->levels, flier = sp_get(&w->flier);
	uintptr_t under = levels ? w->below[levels - 1] : 0;

	if (!is_over_booking(w) && sp_acquire(&w->slow) & SP_SLOW_OVER)
		sp_records_take_behind(w);
	if (levels)
		sp_put(&w->levels, levels - 1);
	if (levels <= 1)
		clear_slow(w, SP_SLOW_ON_TOP | (under ? 0 : SP_SLOW_BEGUN));
	if (!under)
		set_end(w, END);
	go_on(w, under);
	if (!under && (flier & ~FLIER_BOOKS) == who)
		(void)sp_cas(&w->flier, &flier, 0);	/* behind the mark: see set_mark */
	if (!under && sp_get(&w->holder) == who)
		sp_publish(&w->holder, 0);
}

/* A handler jumped out of what is on top. */
static void give_up(struct sp_writer *w)
{
	uintptr_t mark = sp_get(&w->in_flight), under = w->levels ? w->below[w->levels - 1] : 0;

	sp_put(&w->in_flight, mark & ~SP_IN_PAPI);
	if (mark & SP_IN_PAPI)
		left(w, mark);
	else
		left_booking(w, mark);
	if (w->levels)
		sp_put(&w->levels, w->levels - 1);
	else
		clear_slow(w, SP_SLOW_BEGUN);
	if (!w->levels)
		clear_slow(w, SP_SLOW_ON_TOP);
	if (!under)
		set_end(w, END);
	sp_publish(&w->in_flight, under);
}

static bool is_owner(const struct sp_writer *w, uint32_t who)
{
	uint32_t owner = sp_get(&w->owner);

	return !owner || owner == who;
}

/* Makes the owner take turns from its next call on.  Without membarrier (old kernels, seccomp) what it has
 * stored is seen by all after a while. */
static void share(struct sp_writer *w)
{
	struct timespec nap = { 0, 1000000 };

	if (__atomic_fetch_or(&w->slow, SP_SLOW_SHARED, __ATOMIC_SEQ_CST) & SP_SLOW_SHARED) {
		for (unsigned tries = 0; tries < PATIENCE && !sp_acquire(&w->shared); tries++)
			rest(tries);	/* not before the owner's mark is seen */
		return;
	}
	(void)sp_sys(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	if (sp_sys(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
		(void)sp_sys(SYS_nanosleep, &nap, NULL);
	sp_publish(&w->shared, true);
}

static bool is_anothers(const struct sp_writer *w, uint32_t who)
{
	return (sp_acquire(&w->slow) & SP_SLOW_SHARED) && sp_acquire(&w->holder) != who;
}

/* What is in flight, of another thread; 0: nothing. */
static uintptr_t in_flight_of_others(const struct sp_writer *w, uint32_t who, bool owner)
{
	uint32_t flier = sp_acquire(&w->flier);

	/* (The writer may have become another's since the caller looked.) */
	return (flier & ~FLIER_BOOKS) == who || (!flier && owner && is_owner(w, who)) ? 0 : sp_acquire(&w->in_flight);
}

static bool is_bound_now(const struct sp_writer *w)
{
	return sp_acquire(&w->slow) & SP_SLOW_BINDS;
}

static bool has_turn(const struct sp_writer *w, uint32_t who)
{
	return sp_acquire(&w->slow) & SP_SLOW_SHARED && sp_acquire(&w->holder) == who;
}

/* A thread that waits comes before one that calls again and again. */
static bool is_holder_now(struct sp_writer *w, uint32_t who)
{
	uint32_t nobody = 0, next = sp_get(&w->next);

	if ((!next || next == who) && sp_cas(&w->holder, &nobody, who))
		return true;
	if (!next)
		(void)sp_cas(&w->next, &next, who);
	return false;
}

/* False: the writer is being bound, and the turn is not this thread's. */
static bool wait_for_turn(struct sp_writer *w, uint32_t who, bool owner)
{
	uintptr_t others;

	for (unsigned tries = 0; is_anothers(w, who) && !is_holder_now(w, who); rest(tries++)) {
		if (is_bound_now(w))
			return false;
		if (tries == PATIENCE) {
			unsure(w);
			sp_put(&w->next, 0);
			sp_put(&w->holder, who);
			break;
		}
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (unsigned tries = 0; (others = in_flight_of_others(w, who, owner)) != 0; rest(tries++)) {
		uint32_t flier = sp_acquire(&w->flier);
		bool in_papi = others & SP_IN_PAPI && !(flier & FLIER_BOOKS) && !is_over_booking(w);

		if (is_bound_now(w))
			return false;
		if (!has_turn(w, who))
			return true;	/* (set_mark fails) */
		if (tries < (in_papi ? PATIENCE : MORE_PATIENCE))
			continue;
		unsure(w);
		if (!sp_cas(&w->flier, &flier, who))
			continue;	/* it has come back right now */
		for (uint32_t n = sp_get(&w->levels) + 1; n; n--)
			give_up(w);
	}
	return true;
}

/* The turn is this thread's. */
static bool take_turn(struct sp_writer *w, uint32_t who, bool owner)
{
	uint32_t is = who, waited = who;
	bool turn = wait_for_turn(w, who, owner);

	(void)sp_cas(&w->next, &waited, 0);
	if (!turn)
		(void)sp_cas(&w->holder, &is, 0);
	return turn;
}

/* PAPI has zeroed the set for the call that is being booked, whose record may not be there yet, nor ever (SIGKILL): what a
 * handler reads counts from there.  Behind that record this one does nothing. */
static void say_zeroed(struct sp_writer *w, enum sp_op op)
{
	bool zeroed = op == SP_OP_RESET || op == SP_OP_ACCUM;
	struct sp_record *r;
	uint64_t number;

	if (!zeroed && op != SP_OP_START)
		return;
	r = place_behind(w, &number, true);
	if (!r)
		return;
	fill(w, r, (zeroed ? SP_OP_RESET : SP_OP_RUNS) | keeps(w, op), 0, NULL, 0, 1);
	put_behind(w, r, number);
}

/* The call of `mark` begins: a handler's records go behind this one. */
static void say_begun(struct sp_writer *w, uintptr_t mark)
{
	enum sp_op op = (enum sp_op)(mark & 7);
	uintptr_t is = mark;

	if (!sp_cas(&w->in_flight, &is, just_books(mark)))
		return;			/* another handler came right now, and has said so */
	set_end(w, END_BEGUN);
	add_record(w, SP_OP_BEGIN | (uint32_t)op << SP_RECORD_OF_SHIFT | keeps(w, op), 0, NULL, 0);
	set_slow(w, SP_SLOW_BEGUN);
	go_on(w, mark | SP_BEGUN);
}

/* On top of the call or booking `under`. */
static bool go_on_top(struct sp_writer *w, uintptr_t under, uintptr_t mark)
{
	if (w->levels == SP_LEVELS)
		return false;
	if ((under & (SP_IN_PAPI | SP_BEGUN)) == SP_IN_PAPI) {
		say_begun(w, under);
		under |= SP_BEGUN;
	} else if (!(under & SP_IN_PAPI)) {
		say_zeroed(w, (enum sp_op)(under & 7));
	}
	asks_if(w, under & SP_IN_PAPI && ((under & 7) == SP_OP_START || (under & 7) == SP_OP_STOP));
	sp_put(&w->below[w->levels], under);
	sp_order();
	sp_put(&w->levels, w->levels + 1);
	set_slow(w, SP_SLOW_ON_TOP);
	sp_put(&w->in_flight, mark);
	sp_order();
	if (is_over_booking(w))		/* its record goes behind, where those of handlers on top of its booking would come first */
		say_begun(w, mark);
	return true;
}

/* The call's mark is set, and nobody has come to share meanwhile who does not see it; nor has the writer become another's.
 * The number comes before the mark: one without a number is an owner's on the short way, and a handler of his would go on top
 * of it. */
static bool set_mark(struct sp_writer *w, uintptr_t mark, uint32_t who, bool own)
{
	uintptr_t none = 0, is = mark;
	uint32_t flier = sp_acquire(&w->flier), mine = who, slow;

	if (is_anothers(w, who) || sp_acquire(&w->in_flight) || (flier != who && !sp_cas(&w->flier, &flier, who)))
		return false;
	if (sp_cas(&w->in_flight, &none, mark)) {
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		slow = sp_acquire(&w->slow);
		if (sp_acquire(&w->flier) == who && !is_anothers(w, who) && !(slow & (SP_SLOW_OVER | SP_SLOW_BINDS)) &&
		    (slow & SP_SLOW_SHARED || (own && is_owner(w, who))))
			return true;
		(void)sp_cas(&w->in_flight, &is, 0);
	}
	(void)sp_cas(&w->flier, &mine, 0);
	return false;
}

/* It is bound to nothing. */
static bool has_relation(struct sp_writer *w, uint32_t who)
{
	if (w->relation)
		return true;
	leave(w, who);
	return false;
}

SP_COLD bool sp_records_enter(struct sp_writer *w, enum sp_op op, uintptr_t frame, uint32_t who, bool owner)
{
	uintptr_t mark = sp_records_mark(frame, op) | SP_IN_PAPI, under;

	if (!sp_get(&w->relation))
		return false;
	for (;;) {
		bool own = owner && is_owner(w, who);

		if (!own)
			share(w);
		if (is_bound_now(w) || (sp_acquire(&w->slow) & SP_SLOW_SHARED && !take_turn(w, who, own)))
			return false;
		under = sp_acquire(&w->in_flight);
		if (under && in_flight_of_others(w, who, own)) {
			share(w);		/* it came right now, or was left behind: to be waited for, and given up */
			continue;
		}
		if (under != sp_acquire(&w->in_flight))
			continue;
		if (under && sp_interrupted(under, frame))
			return go_on_top(w, under, mark);
		if (under) {
			give_up(w);
			continue;
		}
		if (sp_acquire(&w->slow) & SP_SLOW_OVER) {
			sp_put(&w->in_flight, just_books(mark));
			sp_order();
			sp_records_take_behind(w);
			sp_put(&w->in_flight, 0);
		}
		if (!set_mark(w, mark, who, own))
			continue;
		if (!has_relation(w, who))
			return false;
		if (!own)
			__atomic_fetch_or(&w->relation->flags, SP_RELATION_FOREIGN, __ATOMIC_RELAXED);
		return true;
	}
}

/* ---- who binds ------------------------------------------------------------------------------- */

/* What the caller's own thread jumped out of is no call in flight. */
static bool end_jumped(struct sp_writer *w, uintptr_t frame, uint32_t who)
{
	uintptr_t under;

	while ((under = sp_get(&w->in_flight)) != 0) {
		if (in_flight_of_others(w, who, is_owner(w, who)) || sp_interrupted(under, frame))
			return false;
		give_up(w);
	}
	return true;
}

SP_COLD bool sp_records_take(struct sp_writer *w, uintptr_t frame, uint32_t who, bool waits)
{
	uint32_t nobody = 0, is = who;
	uintptr_t none = 0;
	bool own = is_owner(w, who), had = sp_get(&w->holder) == who;

	if (is_bound_now(w))
		return false;
	if (!own)
		share(w);
	if (waits && sp_acquire(&w->slow) & SP_SLOW_SHARED && !sp_get(&w->levels) && !take_turn(w, who, own))
		return false;
	if (!sp_cas(&w->holder, &nobody, who) && nobody != who)
		return false;
	if (end_jumped(w, frame, who) && sp_cas(&w->in_flight, &none, sp_records_mark(frame, SP_OP_READ))) {
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (sp_get(&w->owner) == who || !sp_get(&w->owner) || sp_acquire(&w->slow) & SP_SLOW_SHARED) {
			sp_put(&w->flier, who);
			set_slow(w, SP_SLOW_BINDS);
			return true;
		}
		sp_put(&w->in_flight, 0);	/* it became another's right now */
	}
	if (!had)
		(void)sp_cas(&w->holder, &is, 0);
	return false;
}

SP_COLD void sp_records_give(struct sp_writer *w, uint32_t who, uint32_t owner)
{
	if (owner) {
		sp_put(&w->owner, owner);
		sp_put(&w->shared, false);
	}
	clear_slow(w, SP_SLOW_BINDS | (owner ? SP_SLOW_SHARED : 0));
	sp_put(&w->flier, 0);
	sp_publish(&w->in_flight, 0);
	(void)sp_cas(&w->holder, &who, 0);
}

/* PAPI took so long that another thread did not wait, and books now.  (On the short way the owner's call has no flier.) */
static bool was_overtaken(struct sp_writer *w, uint32_t who)
{
	uint32_t flier = sp_acquire(&w->flier);
	bool mine = flier == who || (!flier && is_owner(w, who) && sp_acquire(&w->in_flight));

	if (!(sp_acquire(&w->slow) & SP_SLOW_SHARED) || flier == (who | FLIER_BOOKS))
		return false;
	return !(mine && sp_cas(&w->flier, &flier, who | FLIER_BOOKS)) && is_anothers(w, who);
}

/* A visitor's call that was overtaken is dropped, as what it began in may be another binding.  Its mark is there where it has
 * marked a writer that has become another's since it looked. */
static void take_mark_away(struct sp_writer *w)
{
	uintptr_t is = sp_get(&w->in_flight);

	if (is && sp_interrupted(is, (uintptr_t)__builtin_frame_address(0)))
		(void)sp_cas(&w->in_flight, &is, 0);
}

SP_COLD bool sp_records_still(struct sp_writer *w, uint32_t who)
{
	bool own = is_owner(w, who), shared = sp_acquire(&w->slow) & SP_SLOW_SHARED;
	uint32_t holder = who;

	if ((own || shared) && !was_overtaken(w, who))
		return true;
	if (!own) {
		take_mark_away(w);
		return false;
	}
	if (!take_turn(w, who, false))
		return false;
	if (!set_mark(w, sp_records_mark((uintptr_t)__builtin_frame_address(0), SP_OP_READ), who, true)) {
		(void)sp_cas(&w->holder, &holder, 0);
		return false;
	}
	return has_relation(w, who);
}

SP_COLD bool sp_records_finish(struct sp_writer *w, const struct sp_booking *b)
{
	if (!sp_records_still(w, b->who))
		return false;
	put(w, b, sp_records_is_begun(w) ? SP_RECORD_ENDS : 0);
	leave(w, b->who);
	return true;
}

SP_COLD void sp_records_failed(struct sp_writer *w, uint32_t who)
{
	/* (A handler may have taken the set apart.) */
	if (!sp_get(&w->relation) || !sp_records_still(w, who))
		return;
	if (sp_records_is_begun(w))
		add_record(w, SP_OP_FAILED | SP_RECORD_ENDS, 0, NULL, 0);
	leave(w, who);
}

SP_COLD void sp_records_book(struct sp_writer *w, const struct sp_booking *b)
{
	if (!sp_records_enter(w, b->op, (uintptr_t)__builtin_frame_address(0), b->who, true))
		return;
	sp_records_returned(w);
	(void)sp_records_finish(w, b);
}

SP_COLD void sp_records_aside(struct sp_writer *w, const struct sp_booking *b)
{
	uintptr_t mark = sp_get(&w->in_flight);
	bool values = has_values(b->op);

	if (!w->relation)
		return;
	unsure(w);
	if (mark && !(mark & SP_IN_PAPI))	/* in the middle of a booking, on top of more than are kept */
		add_behind(w, b->op | keeps(w, b->op) | (values ? SP_RECORD_NO_ENTRY : 0), values ? sp_records_cell(w, b->cpu) : 0,
			   (const int64_t *)b->x, b->site, 1);
	else
		put(w, b, 0);
}

SP_COLD void sp_records_missed(struct sp_writer *w)
{
	unsure(w);
	sp_put(&w->asks, true);
	share(w);
}

SP_COLD void sp_records_runs(struct sp_writer *w, enum sp_op state)
{
	uintptr_t mark = sp_get(&w->in_flight);
	uint32_t flier = sp_get(&w->flier);

	sp_put(&w->asks, false);
	if (!state) {
		unsure(w);
		(void)sp_cas(&w->flier, &flier, flier & ~FLIER_BOOKS);
		return;
	}
	sp_put(&w->in_flight, just_books(mark));
	sp_order();
	add_record(w, state, 0, NULL, 0);
	go_on(w, mark);
	(void)sp_cas(&w->flier, &flier, flier & ~FLIER_BOOKS);
}
