/* records.c: see records.h. */
#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/uio.h>

#include "redo-log.h"
#include "interval.h"
#include "readings.h"
#include "gauge.h"
#include "records.h"
#include "rules.h"
#include "timestamp.h"

int64_t sp_records_zeros[SP_EVENTS_MAX];

#define END	36u			/* so many records are folded */
_Static_assert(END < SP_RECORDS, "after a jump out of a fold one more may be added");

struct sp_cell *sp_records_cell_at(const struct sp_writer *w, int32_t i, sp_off *at)
{
	return (struct sp_cell *)sp_store_reader_cell(w->reader, w->relation, w->off, &w->layout,
						      w->cells, (uint32_t)i, at);
}

/* Cell i, whose block must exist. */
static struct sp_cell *cell_at(const struct sp_writer *w, int32_t i)
{
	sp_off at;

	return sp_records_cell_at(w, i, &at);
}

static struct sp_record *record_at(const struct sp_writer *w, uint32_t place)
{
	return (struct sp_record *)(w->records + place * w->layout.record_bytes);
}

static uint32_t place_of(const struct sp_writer *w, const unsigned char *at)
{
	return (uint32_t)((uint64_t)(at - w->records) / w->layout.record_bytes);
}

/* (By who waits for the writer, too: it may be unbound right now.) */
static void unsure(struct sp_writer *w)
{
	struct sp_relation *r = load_acquire(&w->relation);

	if (r)
		__atomic_fetch_or(&r->flags, SP_RELATION_UNSURE, __ATOMIC_RELAXED);
}

static void set_slow(struct sp_writer *w, uint32_t flag)
{
	__atomic_fetch_or(&w->slow, flag, __ATOMIC_RELEASE);
}

static void clear_slow(struct sp_writer *w, uint32_t flag)
{
	__atomic_fetch_and(&w->slow, ~flag, __ATOMIC_RELEASE);
}

/* The block of cell i is there from now on.  (A handler or another thread may do the same now: then
 * one of the two blocks is not used.) */
static bool make_cell(struct sp_writer *w, int32_t i)
{
	uint32_t n = (uint32_t)i / (uint32_t)w->layout.each;
	struct sp_store *s = sp_store_of(w->reader);
	struct sp_block *b;
	sp_off off, none = 0;

	if (cell_at(w, i))
		return true;
	b = s ? sp_store_make_now(s, SP_BLOCK_CELLS, sp_cells_bytes(&w->layout), &off) : NULL;
	if (!b) {
		sp_relation_set_attribution(w->relation, SP_BY_AUTO, SP_WHY_MEMORY);
		return false;
	}
	sp_cells_begin(b, &w->layout, w->cells, n * (uint32_t)w->layout.each);
	(void)sp_cas((sp_off *)((char *)w->relation + w->layout.blocks) + n, &none, off);
	return true;
}

int sp_records_cell(struct sp_writer *w, int cpu)
{
	int dense = (int)(w->cells - SP_CELLS_EXTRA), last = (int)w->cells - 1;

	if (cpu >= 0 && cpu < dense)
		return cpu;
	for (int i = dense; cpu >= 0 && i < last && make_cell(w, i); i++) {
		struct sp_cell *c = cell_at(w, i);
		int32_t is = SP_NO_CPU;

		/* A handler or another thread may look for one now, too. */
		if (load_relaxed(&c->cpu) != cpu && !sp_cas(&c->cpu, &is, cpu) && is != cpu)
			continue;
		store_release(&c->used, c->used | SP_CELL_USED);
		return i;
	}
	return last;
}

/* The cell to which counts on `cpu` are attributed. Without memory it is the last one, of no known
 * CPU, and *known is false. */
static int32_t booked_cell(struct sp_writer *w, int cpu, bool *known)
{
	int32_t cell = sp_records_cell(w, cpu);

	*known = make_cell(w, cell);
	return *known ? cell : (int32_t)w->cells - 1;
}

void sp_records_set_cpu(struct sp_writer *w, int cpu)
{
	bool known;

	(void)booked_cell(w, cpu, &known);
}

/* ---- folding ------------------------------------------------------------------ */

/* Intervals that were met in this fold: a program reads at few places in turn. */
#define RECENT_INTERVALS	32u			/* a power of 2 */
struct recent {
	uint32_t from, to;
	int32_t cell;
	struct sp_interval *is;		/* NULL: none */
};

struct folding {
	struct sp_fold f;
	struct sp_writer *w;
	struct sp_redo_log redo_log;
	bool crowded;
	int32_t hot;			/* the cell met last */
	struct sp_cell *cell;
	bool forgot;			/* some intervals that were met are not there any more: */
	struct recent recent[RECENT_INTERVALS];
};

static struct sp_cell *log_cell(struct sp_fold *f, int32_t i)
{
	struct folding *in = f->of;

	if (in->hot != i) {
		sp_off at;
		const struct sp_cell *is = sp_records_cell_at(in->w, i, &at);

		in->cell = is ? sp_redo_log_add(&in->redo_log, at, is, in->w->layout.cell_bytes)
			      : NULL;
		in->hot = in->cell ? i : -1;
	}
	return in->cell;
}

static const struct sp_cell *find_cell(struct sp_fold *f, int32_t i)
{
	struct folding *in = f->of;
	sp_off at;
	const struct sp_cell *is = sp_records_cell_at(in->w, i, &at),
			     *logged_cell =
				     sp_redo_log_find(&in->redo_log, at, in->w->layout.cell_bytes);

	return is && logged_cell ? logged_cell : is;
}

static __attribute__((noinline)) struct sp_interval *find_interval_slow(struct folding *in,
									struct recent *m)
{
	struct sp_writer *w = in->w;

	m->is = w->track.slots ? sp_interval_log(&w->track, &in->redo_log, m->from, m->to, m->cell,
						 !in->forgot, &in->crowded)
			       : sp_interval_log_by_list(w->reader, w->relation->intervals, w->k,
							 &in->redo_log, m->from, m->to, m->cell,
							 &in->crowded);
	return m->is;
}

static struct sp_interval *log_interval(struct sp_fold *f, uint32_t from, uint32_t to, int32_t cell)
{
	struct folding *in = f->of;
	struct recent *m = &in->recent[(from + 2 * to) % RECENT_INTERVALS];

	if (SP_LIKELY(m->is != NULL) && m->from == from && m->to == to && m->cell == cell)
		return m->is;
	if (!in->w->relation->intervals)
		return NULL;
	in->forgot |= m->is != NULL;
	*m = (struct recent){ from, to, cell, NULL };
	return find_interval_slow(in, m);
}

/* A reader in another thread is to see what comes behind a word that says what holds only with that
 * word. */
static void order_stores(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* What the drafts are of becomes what they say. */
static void apply_redo_log(struct sp_writer *w)
{
	struct sp_redo_log d = { .at = (unsigned char *)w->relation + w->layout.drafts,
				 .used = sp_min(load_relaxed(&w->relation->drafted),
						w->layout.redo_capacity) };
	const struct sp_redo_entry *is;
	uint64_t place = 0;

	while ((is = sp_redo_log_next(&d, &place)) != NULL) {
		bool own = is->at - w->off < w->layout.bytes &&
			   is->bytes <= w->layout.bytes - (is->at - w->off);
		void *to = own ? (char *)w->relation + (is->at - w->off)
			       : sp_track_at(&w->track, is->at, is->bytes);

		if (!to)
			to = (void *)sp_store_reader_at(w->reader, is->at, is->bytes);
		if (to)
			sp_copy_words(to, is->is, is->bytes / 8);
	}
	store_release(&w->relation->drafted, 0);
	order_stores();
}

/* Those that are not folded yet, in their order. */
static uint32_t list_records(const struct sp_writer *w, const struct sp_record *list[SP_RECORDS])
{
	uint64_t number = w->relation->place / SP_PLACES, folded = w->state->folded;
	uint32_t n = 0;
	const unsigned char *at = w->records;

	if (!number && !load_acquire(&record_at(w, 0)->number))
		return 0;		/* a new relation's */
	for (uint32_t left = sp_min(place_of(w, w->to), SP_RECORDS); left--;
	     at += w->layout.record_bytes) {
		const struct sp_record *r = (const struct sp_record *)at;

		if (load_acquire(&r->number) == ++number && number > folded)
			list[n++] = r;
	}
	return n;
}

/* What one record may change: two cells. */
static uint64_t changes(const struct sp_writer *w)
{
	return 2 * (w->layout.cell_bytes + SP_INTERVAL_BYTES(w->k) + 8 +
		    3 * sizeof(struct sp_redo_entry));
}

/* Are there more? */
static bool fold_some(struct sp_writer *w)
{
	struct folding in = { .f = { .k = w->k,
				     .cells = w->cells,
				     .kinds = w->kinds,
				     .estimates = load_relaxed(&w->relation->flags) &
						  SP_RELATION_ESTIMATED,
				     .cell = log_cell,
				     .look = find_cell,
				     .interval = log_interval },
			      .w = w,
			      .redo_log = { .at = (unsigned char *)w->relation + w->layout.drafts,
					    .room = w->layout.redo_capacity },
			      .hot = -1 };
	const uint64_t most = w->layout.redo_capacity - changes(w);
	const struct sp_record *list[SP_RECORDS];
	uint32_t n = list_records(w, list), done = 0;

	if (!n)
		return false;
	in.f.of = &in;
	in.f.state = sp_redo_log_add(&in.redo_log, w->off + w->layout.state, w->state,
				     SP_STATE_BYTES(w->k));
	while (done < n && in.redo_log.used <= most)
		sp_rules_apply(&in.f, list[done++]);
	if (in.crowded)
		in.f.state->flags |= SP_STATE_CROWDED;
	in.f.state->folded = list[done - 1]->number;
	store_release(&w->relation->drafted, in.redo_log.used);
	order_stores();
	apply_redo_log(w);
	return done < n;
}

static void publish_relation(struct sp_writer *w)
{
	uint32_t is = w->state->flags,
		 flags = (is & SP_STATE_BACKWARDS ? SP_RELATION_BACKWARDS : 0) |
			 (is & SP_STATE_UNSURE ? SP_RELATION_UNSURE : 0) |
			 (is & SP_STATE_CROWDED ? SP_RELATION_CROWDED : 0);

	if (flags & ~load_relaxed(&w->relation->flags))
		__atomic_fetch_or(&w->relation->flags, flags, __ATOMIC_RELAXED);
}

void sp_records_fold(struct sp_writer *w)
{
	uint64_t base;

	store_relaxed(&w->steady, 0);
	store_relaxed(&w->last, NULL);
	apply_redo_log(w);		/* a fold was jumped out of */
	while (fold_some(w))
		;
	base = w->relation->place / SP_PLACES + SP_RECORDS;
	store_release(&w->relation->place, base * SP_PLACES);
	order_stores();
	w->number = base;
	store_relaxed(&w->to, w->records);
	w->values = w->state->at;	/* SP_LAST is the first array */
	store_relaxed(&w->runs, w->state->flags & SP_STATE_RUNNING);
	publish_relation(w);
}

/* ---- binding ------------------------------------------------------------------- */

void sp_records_bind_taken(struct sp_writer *w, const struct sp_store_reader *reader, sp_off off,
			   uint32_t k, uint32_t cells, const uint8_t *kinds)
{
	struct sp_layout l = sp_relation_layout(k, cells);
	unsigned char *base = (unsigned char *)sp_store_reader_at(reader, off, l.bytes);

	for (sp_word *at = (sp_word *)&w->last; at < (sp_word *)&w->booking_thread; at++)
		store_relaxed(at, 0);		/* (Another thread may still look there.) */
	clear_slow(w, SP_SLOW_OTHER | SP_SLOW_MORE);
	store_release(&w->relation, (struct sp_relation *)base);
	w->reader = reader;
	w->off = off;
	w->layout = l;
	store_relaxed(&w->k, k);
	store_relaxed(&w->cells, cells);
	w->state = (struct sp_state *)(base + l.state);
	w->records = base + l.records;
	w->end = w->records + END * l.record_bytes;
	/* those of another are looked for everywhere */
	w->to = w->records + SP_RECORDS * l.record_bytes;
	store_relaxed(&w->cpu, -2);
	w->kinds = kinds;
	if (kinds)
		set_slow(w, SP_SLOW_MORE);
	sp_records_fold(w);
	w->ran = w->runs;
	store_relaxed(&w->runs, false);
	w->state->flags &= ~SP_STATE_RUNNING;
}

void sp_records_bind(struct sp_writer *w, const struct sp_store_reader *reader, sp_off off,
		     uint32_t k, uint32_t cells, const uint8_t *kinds)
{
	memset(w, 0, sizeof(*w));
	sp_records_bind_taken(w, reader, off, k, cells, kinds);
}

void sp_records_keep(struct sp_writer *w, uint32_t component)
{
	w->component = (uint8_t)component;
	if (component)
		set_slow(w, SP_SLOW_MORE);
}

bool sp_records_place(struct sp_writer *w, int cpu)
{
	bool known;
	int32_t cell = booked_cell(w, cpu, &known);

	if (!known)
		return false;
	w->placed = true;
	store_relaxed(&w->cpu, cell);
	set_slow(w, SP_SLOW_MORE);
	return true;
}

void sp_records_log(struct sp_writer *w, struct sp_log *log, enum sp_entries entries,
		    bool only_kept)
{
	w->log = log;
	w->entries = entries;
	w->only_kept = only_kept;
	w->entry = w->state->flags & SP_STATE_PERMANENT ? sp_state_row(w->state, w->k, SP_KEPT)
							: sp_records_zeros;
	set_slow(w, only_kept && !w->kinds && entries == SP_ENTRIES_PERMANENT ? SP_SLOW_MORE
									      : SP_SLOW_OTHER);
}

void sp_records_intervals(struct sp_writer *w, uint32_t *memory, uint32_t slots)
{
	sp_intervals_bind(&w->track, w->reader, &w->relation->intervals, w->k, memory, slots);
}

/* ---- a record ---------------------------------------------------------------------- */

static void fill(struct sp_writer *w, struct sp_record *r, uint32_t what, int32_t cell,
		 const int64_t *x, uint32_t site, uint64_t count)
{
	store_relaxed(&r->what, what);
	store_relaxed(&r->cell, cell);
	store_relaxed(&r->from, w->from);
	store_relaxed(&r->site, site);
	store_relaxed(&r->count, count);
	for (uint32_t e = 0; x && e < w->k; e++)
		store_relaxed(&r->value[e], x[e]);
}

/* What a record says of the set, to who goes on from there. */
static void go_on_from(struct sp_writer *w, const struct sp_record *r)
{
	bool keeps = r->what & SP_RECORD_KEEPS;

	switch (sp_record_op(r)) {
	case SP_OP_RUNS:
		if (w->runs)
			break;
		/* fall through */
	case SP_OP_START:
		store_relaxed(&w->runs, true);
		w->values = sp_records_zeros;
		w->baseline = keeps;
		break;
	case SP_OP_STANDS:
		store_relaxed(&w->runs, false);
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
		store_relaxed(&w->runs, false);
		/* fall through */
	case SP_OP_READ:
	case SP_OP_WRITE:
		w->values = r->value;
		w->baseline = false;
		break;
	}
}

/* A reading that only says where counting starts stays a record of its own: the rules need its
 * values. */
static void add_new(struct sp_writer *w, struct sp_record *r)
{
	bool baseline = w->baseline;

	go_on_from(w, r);
	sp_records_add(w, r);
	if (baseline && !w->baseline)
		store_relaxed(&w->last, NULL);
}

/* May a count of PAPI_accum's be added to the one before? (Floating-point counts are bits, and
 * gauges no counts.) */
static bool adds_up(const struct sp_writer *w)
{
	for (uint32_t e = 0; w->kinds && e < w->k; e++)
		if (w->kinds[e] != SP_COUNTS)
			return false;
	return true;
}

/* Adds a call like the last one to its record.  Parts and estimates need records of their own. */
static bool add_alike(struct sp_writer *w, uint32_t what, int32_t cell, const int64_t *x,
		      uint32_t site, uint64_t count)
{
	uint32_t op = what & SP_RECORD_OP;
	struct sp_record *r = w->last;

	if ((w->component && op != SP_OP_RESET) || !sp_records_alike(r, what, cell, site))
		return false;
	if (op != SP_OP_READ && op != SP_OP_RESET &&
	    !(op == SP_OP_ACCUM && adds_up(w) && !(what & SP_RECORD_PERMANENT)))
		return false;
	for (uint32_t e = 0; x && e < w->k; e++)
		store_relaxed(&r->value[e], op == SP_OP_ACCUM ? r->value[e] + x[e] : x[e]);
	store_relaxed(&r->count, r->count + count);
	return true;
}

static void add_counted(struct sp_writer *w, uint32_t what, int32_t cell, const int64_t *x,
			uint32_t site, uint64_t count)
{
	struct sp_record *r;

	if (add_alike(w, what, cell, x, site, count))
		return;
	r = (struct sp_record *)w->to;
	fill(w, r, what, cell, x, site, count);
	store_relaxed(&w->steady, 0);
	add_new(w, r);
}

static void add_record(struct sp_writer *w, uint32_t what, int32_t cell, const int64_t *x,
		       uint32_t site)
{
	add_counted(w, what, cell, x, site, 1);
}

/* ---- times ---------------------------------------------------------------------------- */

/* runs: the set, up to this call. */
static void set_time(struct sp_writer *w, uint64_t now, bool reading, bool runs)
{
	struct sp_relation *r = w->relation;

	/* What does not begin at 0 is seen from its first reading on. */
	if (!r->first_ns && (reading || !(w->component & SP_KEEPS_ON_START)))
		store_relaxed(&r->first_ns, now);
	if (runs || !r->last_ns)
		store_relaxed(&r->last_ns, now);
	if (reading)
		store_relaxed(&r->reading_ns, now);
}

static uint64_t later(const struct sp_writer *w, uint64_t now)
{
	return sp_max(now, sp_max(w->relation->reading_ns, w->relation->last_ns) + 1);
}

SP_COLD void sp_records_tick(struct sp_writer *w, bool reading)
{
	set_time(w, later(w, sp_stamp_ns()), reading, true);
}

/* ---- permanent readings ------------------------------------------------------------------ */

/* Reads the relation as a fold would, which there is nothing for. */
static const struct sp_cell *cell_of(struct sp_fold *f, int32_t i)
{
	return cell_at(f->of, i);
}

/* What an only permanent reading leaves, in the log: what PAPI handed out, or added to what was
 * left before.  `cell` has its block. */
static inline __attribute__((always_inline)) void keep_plain(struct sp_writer *w, enum sp_op op,
							     int32_t cell, const int64_t *x,
							     uint64_t ns)
{
	int64_t *v = sp_log_room(w->log);
	struct sp_cell *c;

	if (!v)
		return;
	sp_copy_counts((long long *)v, (const long long *)x, w->k);
	for (uint32_t e = 0; op == SP_OP_ACCUM && e < w->k; e++)
		v[e] += w->entry[e];
	if (SP_UNLIKELY(w->kept.cell != cell + 1)) {
		c = cell_at(w, cell);
		store_relaxed(&c->used, c->used | SP_CELL_KEPT);
		w->kept.cell = cell + 1;
		w->kept.cpu = c->cpu;
	}
	sp_log_append(w->log, w->kept.cpu, ns);
	w->entry = v;
}

/* Kept before it is booked: a reading is there before its counts. */
static void keep(struct sp_writer *w, uint32_t what, int32_t cell, const int64_t *x, uint64_t ns)
{
	struct sp_fold f = { .k = w->k,
			     .cells = w->cells,
			     .kinds = w->kinds,
			     .state = w->state,
			     .look = cell_of,
			     .of = w };
	int64_t *v;
	struct sp_record *r;

	if (w->only_kept && !w->kinds) {
		keep_plain(w, (enum sp_op)(what & SP_RECORD_OP), cell, x, ns);
		return;
	}
	v = sp_log_room(w->log);
	if (!v)
		return;
	sp_records_fold(w);
	r = (struct sp_record *)w->to;
	fill(w, r, what, cell, x, 0, 1);
	for (uint32_t e = 0; e < w->k; e++)
		v[e] = sp_rules_entry(&f, r, e);
	store_relaxed(&cell_at(w, cell)->used, cell_at(w, cell)->used | SP_CELL_KEPT);
	sp_log_append(w->log, cell_at(w, cell)->cpu, ns);
}

/* ---- short ways with more to do ------------------------------------------------------------ */

static bool has_values(enum sp_op op)
{
	return op == SP_OP_READ || op == SP_OP_STOP || op == SP_OP_ACCUM;
}

static uint32_t keeps(const struct sp_writer *w, enum sp_op op)
{
	uint32_t on = op == SP_OP_START			       ? SP_KEEPS_ON_START
		      : op == SP_OP_RESET || op == SP_OP_ACCUM ? SP_KEEPS_ON_RESET
							       : 0;

	return w->component & on ? SP_RECORD_KEEPS : 0;
}

/* PAPI hands out what it read up to a second ago. */
static void note_haste(struct sp_writer *w, uint64_t ns)
{
	if (w->component & SP_REFRESHES && w->runs && ns - w->relation->last_ns < 1000000000)
		__atomic_fetch_or(&w->relation->flags, SP_RELATION_HASTY, __ATOMIC_RELAXED);
}

/* The values of a call, in its record. */
static void write_values(struct sp_writer *w, struct sp_record *r, const long long *x)
{
#define EACH(type, e) SP_STORE(type, &r->value[e], SP_AT(type, &x[e]))
	SP_EACH(w->k, EACH);
#undef EACH
}

/* A reading is kept, and its time noted, where the set has that, before its record is written. */
static inline __attribute__((always_inline)) void note_reading(struct sp_writer *w, enum sp_op op,
							       int32_t cell, const long long *x)
{
	uint64_t ns = w->log ? sp_log_time(w->log) : w->precise ? later(w, sp_stamp_ns()) : 0;

	if (!ns)
		return;
	note_haste(w, ns);
	if (w->log)
		keep_plain(w, op, cell, (const int64_t *)x, ns);
	if (w->gauges)
		sp_gauges_book(w->gauges, op, (uint32_t)cell, x, ns);
	set_time(w, ns, true, w->runs);
}

static uint32_t what_of(const struct sp_writer *w, enum sp_op op)
{
	return op | keeps(w, op) | (w->placed ? 0 : SP_RECORD_PROVEN) |
	       (w->log ? SP_RECORD_PERMANENT : 0);
}

bool sp_records_again_more(struct sp_writer *w, const long long *x, uint64_t steady)
{
	struct sp_record *r = load_plain(&w->last);

	if (SP_UNLIKELY(load_relaxed(&w->slow) != SP_SLOW_MORE) ||
	    SP_UNLIKELY(load_plain(&w->steady) != steady) || sp_records_fell(w, x))
		return false;
	note_reading(w, SP_OP_READ, r->cell, x);
	write_values(w, r, x);
	increment_own(&r->count);
	sp_records_end(w);
	return true;
}

bool sp_records_value_more(struct sp_writer *w, enum sp_op op, int32_t cell, const long long *x,
			   uint32_t site, uint64_t ticks)
{
	const uint32_t what = what_of(w, op);
	struct sp_record *r = load_plain(&w->last);
	bool alike = op == SP_OP_READ && sp_records_alike(r, what, cell, site);

	if (SP_UNLIKELY(load_relaxed(&w->slow) != SP_SLOW_MORE))
		return false;
	note_reading(w, op, cell, x);
	if (alike) {
		write_values(w, r, x);
		increment_own(&r->count);
	} else {
		r = sp_records_new(w, what, cell, site);
		write_values(w, r, x);
		if (op == SP_OP_STOP && !w->log && !w->precise)
			sp_records_stopped(w, ticks);
		add_new(w, r);
	}
	sp_records_end(w);
	return true;
}

/* Of a component that keeps its counts PAPI adds all of them again: records of their own. */
bool sp_records_accum_more(struct sp_writer *w, int32_t cell, const long long *x, uint32_t site)
{
	const uint32_t what = what_of(w, SP_OP_ACCUM);
	struct sp_record *r = load_plain(&w->last);

	if (SP_UNLIKELY(load_relaxed(&w->slow) != SP_SLOW_MORE))
		return false;
	note_reading(w, SP_OP_ACCUM, cell, x);
	if (!(what & SP_RECORD_KEEPS) && adds_up(w) && sp_records_alike(r, what, cell, site)) {
#define EACH(type, e) SP_STORE(type, &r->value[e], SP_AT(type, &r->value[e]) + SP_AT(type, &x[e]))
		SP_EACH(w->k, EACH);
#undef EACH
		increment_own(&r->count);
	} else {
		r = sp_records_new(w, what, cell, site);
		write_values(w, r, x);
		add_new(w, r);
	}
	sp_records_end(w);
	return true;
}

bool sp_records_zero_more(struct sp_writer *w, enum sp_op op, uint32_t site)
{
	const uint32_t what = op | keeps(w, op);

	if (SP_UNLIKELY(load_relaxed(&w->slow) != SP_SLOW_MORE))
		return false;
	if (op == SP_OP_START && (w->precise || !w->relation->first_ns))
		sp_records_tick(w, false);
	if (w->gauges)
		sp_gauges_book(w->gauges, op, 0, NULL, 0);
	if (op != SP_OP_RESET || !sp_records_alike(load_plain(&w->last), what, 0, site))
		add_new(w, sp_records_new(w, what, 0, site));
	increment_own(op == SP_OP_START ? &w->relation->starts : &w->relation->resets);
	sp_records_end(w);
	return true;
}

/* ---- a call -------------------------------------------------------------------------------- */

/* No count is below 0, and proven are just these, or none. */
static bool is_all_or_none(const int64_t *counts, const int64_t *proven, uint32_t k, bool all)
{
	for (uint32_t e = 0; e < k; e++)
		if (counts[e] < 0 || proven[e] != (all ? counts[e] : 0))
			return false;
	return true;
}

/* Of one CPU, between the same two call sites as the reading. */
static void add_part(struct sp_writer *w, uint32_t what, int32_t cell, int32_t reading,
		     const int64_t *x, uint32_t from, uint32_t site)
{
	w->from = from;
	add_counted(w, what, cell, x, site, (uint64_t)reading);
}

/* Parts of the counts that the reading, just booked, has brought all to its own cell. */
static void add_parts(struct sp_writer *w, const struct sp_parts *p, const int64_t *counts,
		      int32_t reading, uint32_t from, uint32_t site)
{
	int64_t rest[w->k];

	memcpy(rest, counts, sizeof(rest));
	for (uint32_t i = 0; i < p->n; i++) {
		const int64_t *part = p->at + (uint64_t)i * w->k,
			      *proven = p->proven + (uint64_t)i * w->k;
		bool known;
		int32_t cell = booked_cell(w, p->cpu[i], &known);
		bool all = known && is_all_or_none(part, proven, w->k, true);

		add_part(w, SP_OP_PART | (all ? SP_RECORD_PROVEN : 0), cell, reading, part, from,
			 site);
		if (known && !all && !is_all_or_none(part, proven, w->k, false))
			add_part(w, SP_OP_PROVEN, cell, reading, proven, from, site);
		for (uint32_t e = 0; e < w->k; e++)
			rest[e] -= part[e];
	}
	if (!is_all_or_none(rest, p->proven + (uint64_t)p->n * w->k, w->k, false))
		add_part(w, SP_OP_PROVEN, reading, reading, p->proven + (uint64_t)p->n * w->k, from,
			 site);
	w->from = site;
}

/* The values are in a record of the writer's. */
static void add_per_cpu(struct sp_writer *w, const struct sp_booking *b, uint32_t what,
			int32_t cell, const int64_t *x)
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


static bool zeroes(enum sp_op op)
{
	return op == SP_OP_START || op == SP_OP_RESET || op == SP_OP_ACCUM;
}

static void append_record(struct sp_writer *w, const struct sp_booking *b)
{
	bool values = has_values(b->op), missed = sp_records_has_missed(w),
	     runs = w->runs || b->op == SP_OP_START;
	bool ends = (b->op == SP_OP_START && !w->relation->first_ns) || b->op == SP_OP_STOP;
	bool known = true;
	int32_t cell = values ? booked_cell(w, b->cpu, &known) : 0;
	const int64_t *x = (const int64_t *)b->x;
	uint32_t what =
		b->op | keeps(w, b->op) | (b->proven && known && !missed ? SP_RECORD_PROVEN : 0);
	uint64_t ns = values && w->log
			      ? sp_log_time(w->log)
			      : later(w, w->precise || ends ? sp_stamp_ns() : sp_coarse_ns());

	if (values)
		note_haste(w, ns);
	if (missed)
		add_record(w, SP_OP_MISSED, 0, NULL, 0);
	if (values && w->entries == SP_ENTRIES_NONE)
		what |= SP_RECORD_NO_ENTRY;
	if (values && w->entries == SP_ENTRIES_PERMANENT) {
		what |= SP_RECORD_PERMANENT;
		keep(w, what, cell, x, ns);
	}
	if (b->parts && !missed && w->runs && !w->baseline)
		add_per_cpu(w, b, what, cell, x);
	else
		add_record(w, what, cell, x, b->site);
	if (missed) {
		store_relaxed(&w->last, NULL);	/* the rules read this value, so no later one may
						 * replace it */
		clear_slow(w, SP_SLOW_AFTER);
	}
	count_call(w, b->op);
	if (b->op != SP_OP_RESET)
		set_time(w, ns, values && w->entries != SP_ENTRIES_NONE, runs);
	if (values && !w->placed)
		store_relaxed(&w->cpu, (uint32_t)cell < w->cells - SP_CELLS_EXTRA ? cell : -2);
}

/* ---- who books now --------------------------------------------------------------------------- */

/* For a call of PAPI by another thread to end: some 20 ms in all, since it may not have a CPU right
 * now; for a booking, which calls nothing, 2 s. */
#define PATIENCE	220u
#define MORE_PATIENCE	20000u

/* `nested_call`: PAPI has answered, after others had begun to wait.  Who gives up waiting and who
 * comes back change that one word. */
#define NESTED_CALL_BOOKS	0x80000000u

static void rest(unsigned tries)
{
	struct timespec delay = { 0, 100000 };

	if (tries < 20)
		(void)sp_sys(SYS_sched_yield);
	else
		(void)sp_sys(SYS_nanosleep, &delay, NULL);
}

static void miss(struct sp_writer *w)
{
	unsure(w);
	set_slow(w, SP_SLOW_MISSED);
}

/* The newest record is found again, after a jump out of a booking. */
static void find_records(struct sp_writer *w)
{
	uint64_t base = load_acquire(&w->relation->place) / SP_PLACES;
	uint32_t n = 0;

	for (uint32_t i = 0; i < SP_RECORDS; i++)
		if (load_acquire(&record_at(w, i)->number) == base + i + 1)
			n = i + 1;
	w->number = base + n;
	w->from = 0;
	store_relaxed(&w->to, (unsigned char *)record_at(w, n));
	if (!w->placed)
		store_relaxed(&w->cpu, -2);
	sp_records_fold(w);
}

static void add_zeroing(struct sp_writer *w)
{
	add_counted(w, SP_OP_RESET | keeps(w, SP_OP_RESET), 0, NULL, 0, 0);
}

/* Ends the call in flight without a record: a handler jumped out of it, or its thread does not come
 * back.  A reset or accum that PAPI has answered has zeroed the set; a reading has changed
 * nothing. */
static void give_up(struct sp_writer *w)
{
	uintptr_t mark = load_relaxed(&w->in_flight);
	enum sp_op op = (enum sp_op)(mark & 7);

	if (w->relation)
		find_records(w);
	if (w->relation && !(mark & SP_IN_PAPI) && (op == SP_OP_RESET || op == SP_OP_ACCUM))
		add_zeroing(w);
	if (op != SP_OP_READ)
		miss(w);
	store_release(&w->in_flight, 0);
}

static void leave(struct sp_writer *w, uint32_t who)
{
	uint32_t nested_call = load_relaxed(&w->nested_call);

	store_release(&w->in_flight, 0);
	sp_order();
	if ((nested_call & ~NESTED_CALL_BOOKS) == who)
		(void)sp_cas(&w->nested_call, &nested_call, 0);	/* behind the mark: see set_mark */
	if (load_relaxed(&w->booking_thread) == who)
		store_release(&w->booking_thread, 0);
}

static bool is_owner(const struct sp_writer *w, uint32_t who)
{
	uint32_t owner = load_relaxed(&w->owner);

	return !owner || owner == who;
}

/* Makes the owner take turns from its next call on.  Without membarrier (old kernels, seccomp) what
 * it has stored is seen by all after a while. */
static void share(struct sp_writer *w)
{
	struct timespec delay = { 0, 1000000 };

	if (__atomic_fetch_or(&w->slow, SP_SLOW_SHARED, __ATOMIC_SEQ_CST) & SP_SLOW_SHARED) {
		for (unsigned tries = 0; tries < PATIENCE && !load_acquire(&w->shared); tries++)
			rest(tries);	/* not before the owner's mark is seen */
		return;
	}
	(void)sp_sys(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	if (sp_sys(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
		(void)sp_sys(SYS_nanosleep, &delay, NULL);
	store_release(&w->shared, true);
}

static bool is_anothers(const struct sp_writer *w, uint32_t who)
{
	return (load_acquire(&w->slow) & SP_SLOW_SHARED) && load_acquire(&w->booking_thread) != who;
}

/* What is in flight, of another thread; 0: nothing. */
static uintptr_t in_flight_of_others(const struct sp_writer *w, uint32_t who, bool owner)
{
	uint32_t nested_call = load_acquire(&w->nested_call);

	/* (The writer may have become another's since the caller looked.) */
	return (nested_call & ~NESTED_CALL_BOOKS) == who ||
			       (!nested_call && owner && is_owner(w, who))
		       ? 0
		       : load_acquire(&w->in_flight);
}

static bool became_bound(const struct sp_writer *w)
{
	return load_acquire(&w->slow) & SP_SLOW_BINDS;
}

static bool has_turn(const struct sp_writer *w, uint32_t who)
{
	return load_acquire(&w->slow) & SP_SLOW_SHARED && load_acquire(&w->booking_thread) == who;
}

/* A thread that waits comes before one that calls again and again. */
static bool became_booking_thread(struct sp_writer *w, uint32_t who)
{
	uint32_t nobody = 0, next = load_relaxed(&w->next);

	if ((!next || next == who) && sp_cas(&w->booking_thread, &nobody, who))
		return true;
	if (!next)
		(void)sp_cas(&w->next, &next, who);
	return false;
}

/* False: the writer is being bound, and the turn is not this thread's. */
static bool wait_for_turn(struct sp_writer *w, uint32_t who, bool owner)
{
	uintptr_t others;

	for (unsigned tries = 0; is_anothers(w, who) && !became_booking_thread(w, who);
	     rest(tries++)) {
		if (became_bound(w))
			return false;
		if (tries == PATIENCE) {
			unsure(w);
			store_relaxed(&w->next, 0);
			store_relaxed(&w->booking_thread, who);
			break;
		}
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (unsigned tries = 0; (others = in_flight_of_others(w, who, owner)) != 0;
	     rest(tries++)) {
		uint32_t nested_call = load_acquire(&w->nested_call);
		bool in_papi = others & SP_IN_PAPI && !(nested_call & NESTED_CALL_BOOKS);

		if (became_bound(w))
			return false;
		if (!has_turn(w, who))
			return true;	/* (set_mark fails) */
		if (tries < (in_papi ? PATIENCE : MORE_PATIENCE))
			continue;
		if (!sp_cas(&w->nested_call, &nested_call, who))
			continue;	/* it has come back right now */
		unsure(w);
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
		(void)sp_cas(&w->booking_thread, &is, 0);
	return turn;
}

/* The call's mark is set, and nobody has come to share meanwhile who does not see it; nor has the
 * writer become another's. The number comes before the mark: one without a number is an owner's on
 * the short way, and a handler of his would take it for his own. */
static bool set_mark(struct sp_writer *w, uintptr_t mark, uint32_t who, bool own)
{
	uintptr_t none = 0, is = mark;
	uint32_t nested_call = load_acquire(&w->nested_call), mine = who, slow;

	if (is_anothers(w, who) || load_acquire(&w->in_flight) ||
	    (nested_call != who && !sp_cas(&w->nested_call, &nested_call, who)))
		return false;
	store_relaxed(&w->back, sp_records_back(mark & SP_FRAME));
	if (sp_cas(&w->in_flight, &none, mark)) {
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		slow = load_acquire(&w->slow);
		if (load_acquire(&w->nested_call) == who && !is_anothers(w, who) &&
		    !(slow & SP_SLOW_BINDS) && (slow & SP_SLOW_SHARED || (own && is_owner(w, who))))
			return true;
		(void)sp_cas(&w->in_flight, &is, 0);
	}
	(void)sp_cas(&w->nested_call, &mine, 0);
	return false;
}

/* (On the short way the owner's call has no flier.) */
static bool is_in_flight(const struct sp_writer *w, uint32_t who, uint32_t nested_call)
{
	return nested_call == who ||
	       (!nested_call && is_owner(w, who) && load_acquire(&w->in_flight));
}

/* NULL: it is bound to nothing. */
static struct sp_relation *find_relation(struct sp_writer *w, uint32_t who)
{
	struct sp_relation *r = load_acquire(&w->relation);

	if (!r && sp_records_still(w, who))
		leave(w, who);
	return r;
}

/* Is the wrapper of the call in flight still there?  Its frame may be on a stack that the program
 * has unmapped. */
static bool is_there(const struct sp_writer *w, uintptr_t mark)
{
	uintptr_t back = 0;
	struct iovec here = { &back, sizeof(back) },
		     there = { (void *)((mark & SP_FRAME) + sizeof(back)), sizeof(back) };
	long pid = sp_sys(SYS_getpid),
	     n = sp_sys(SYS_process_vm_readv, pid, &here, 1, &there, 1, 0);

	return n == sizeof(back) ? back == load_relaxed(&w->back) : n != -EFAULT;
}

/* Is a call from this frame nested in one of the same thread? */
static bool is_nested(const struct sp_writer *w, uintptr_t frame, uint32_t who, bool own)
{
	uintptr_t mark = load_acquire(&w->in_flight);

	return mark && !in_flight_of_others(w, who, own) &&
	       sp_interrupted(mark & SP_FRAME, frame) && is_there(w, mark);
}

/* Orders calls missed so far before the call in flight. */
static void run_after(struct sp_writer *w)
{
	uint32_t slow = load_acquire(&w->slow);

	if (slow & SP_SLOW_ZEROED) {
		clear_slow(w, SP_SLOW_ZEROED);
		add_record(w, SP_OP_RESET, 0, NULL, 0);
	}
	if (slow & SP_SLOW_MISSED) {
		set_slow(w, SP_SLOW_AFTER);
		clear_slow(w, SP_SLOW_MISSED);
	}
}

/* Lets the caller add records before it calls PAPI: no thread overtakes it meanwhile.  False: one
 * already has. */
static bool begin_records(struct sp_writer *w, uint32_t who)
{
	return sp_cas(&w->nested_call, &who, who | NESTED_CALL_BOOKS);
}

static void end_records(struct sp_writer *w, uint32_t who)
{
	uint32_t nested_call = who | NESTED_CALL_BOOKS;

	(void)sp_cas(&w->nested_call, &nested_call, who);
}

SP_COLD bool sp_records_enter(struct sp_writer *w, enum sp_op op, uintptr_t frame, uint32_t who,
			      bool owner)
{
	uintptr_t mark = sp_records_mark(frame, op) | SP_IN_PAPI, under;
	struct sp_relation *r;

	for (;;) {
		bool own = owner && is_owner(w, who);

		if (is_nested(w, frame, who, own)) {
			miss(w);
			return false;
		}
		if (!load_relaxed(&w->relation))
			return false;
		if (!own)
			share(w);
		if (became_bound(w) ||
		    (load_acquire(&w->slow) & SP_SLOW_SHARED && !take_turn(w, who, own)))
			return false;
		under = load_acquire(&w->in_flight);
		if (under && in_flight_of_others(w, who, own)) {
			share(w);		/* it came right now, or was left behind: to be
						 * waited for, and given up */
			continue;
		}
		if (under != load_acquire(&w->in_flight))
			continue;
		if (under) {
			give_up(w);
			continue;
		}
		if (!set_mark(w, mark, who, own))
			continue;
		r = find_relation(w, who);
		if (!r)
			return false;
		if (load_acquire(&w->slow) & (SP_SLOW_MISSED | SP_SLOW_ZEROED) &&
		    begin_records(w, who)) {
			run_after(w);
			end_records(w, who);
		}
		return true;
	}
}

/* ---- who binds ------------------------------------------------------------------------------- */

/* What the caller's own thread jumped out of is no call in flight. */
static bool end_jumped(struct sp_writer *w, uintptr_t frame, uint32_t who)
{
	while (load_relaxed(&w->in_flight)) {
		bool own = is_owner(w, who);

		if (in_flight_of_others(w, who, own) || is_nested(w, frame, who, own))
			return false;
		give_up(w);
	}
	return true;
}

SP_COLD bool sp_records_take(struct sp_writer *w, uintptr_t frame, uint32_t who, bool waits)
{
	uint32_t nobody = 0, is = who;
	uintptr_t none = 0, mark = sp_records_mark(frame, SP_OP_READ);
	bool own = is_owner(w, who), had = load_relaxed(&w->booking_thread) == who;

	if (became_bound(w))
		return false;
	if (!own)
		share(w);
	if (waits && load_acquire(&w->slow) & SP_SLOW_SHARED && !take_turn(w, who, own))
		return false;
	if (!sp_cas(&w->booking_thread, &nobody, who) && nobody != who)
		return false;
	if (end_jumped(w, frame, who)) {
		store_relaxed(&w->back, sp_records_back(frame));
		if (sp_cas(&w->in_flight, &none, mark)) {
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			if (load_relaxed(&w->owner) == who || !load_relaxed(&w->owner) ||
			    load_acquire(&w->slow) & SP_SLOW_SHARED) {
				store_relaxed(&w->nested_call, who);
				set_slow(w, SP_SLOW_BINDS);
				return true;
			}
			store_relaxed(&w->in_flight, 0);	/* it became another's right now */
		}
	}
	if (!had)
		(void)sp_cas(&w->booking_thread, &is, 0);
	return false;
}

SP_COLD void sp_records_give(struct sp_writer *w, uint32_t who, uint32_t owner)
{
	if (owner) {
		store_relaxed(&w->owner, owner);
		store_relaxed(&w->shared, false);
	}
	clear_slow(w, SP_SLOW_BINDS | (owner ? SP_SLOW_SHARED : 0));
	store_relaxed(&w->nested_call, 0);
	store_release(&w->in_flight, 0);
	(void)sp_cas(&w->booking_thread, &who, 0);
}

SP_COLD bool sp_records_suspend(struct sp_writer *w, uint32_t who, uint32_t *was)
{
	uint32_t nested_call = load_acquire(&w->nested_call);

	*was = nested_call;
	if (nested_call == (who | NESTED_CALL_BOOKS) ||
	    (is_in_flight(w, who, nested_call) &&
	     sp_cas(&w->nested_call, &nested_call, who | NESTED_CALL_BOOKS)))
		return true;
	return is_owner(w, who) && !(load_acquire(&w->slow) & (SP_SLOW_SHARED | SP_SLOW_BINDS));
}

SP_COLD void sp_records_let(struct sp_writer *w, uint32_t who, uint32_t was)
{
	uint32_t is = who | NESTED_CALL_BOOKS;

	(void)sp_cas(&w->nested_call, &is, was);
}

SP_COLD void sp_records_zeroed(struct sp_writer *w, uint32_t who, uint32_t was)
{
	uintptr_t mark = load_relaxed(&w->in_flight);

	/* A handler on top of another call: its record may be half written, or its values may be
	 * from before this. */
	if (was & NESTED_CALL_BOOKS || (mark && !(mark & SP_IN_PAPI)) ||
	    load_relaxed(&w->slow) & SP_SLOW_MISSED)
		sp_records_missed(w, SP_OP_RESET, who);
	else
		add_zeroing(w);
}

SP_COLD bool sp_records_still(struct sp_writer *w, uint32_t who)
{
	uint32_t nested_call = load_acquire(&w->nested_call);

	if (!(load_acquire(&w->slow) & SP_SLOW_SHARED))
		return is_owner(w, who);
	if (nested_call == (who | NESTED_CALL_BOOKS))
		return true;
	return is_in_flight(w, who, nested_call) &&
	       sp_cas(&w->nested_call, &nested_call, who | NESTED_CALL_BOOKS);
}

SP_COLD bool sp_records_finish(struct sp_writer *w, const struct sp_booking *b)
{
	if (!sp_records_still(w, b->who))
		return false;
	append_record(w, b);
	leave(w, b->who);
	return true;
}

SP_COLD void sp_records_failed(struct sp_writer *w, uint32_t who)
{
	/* (A handler may have taken the set apart.) */
	if (load_relaxed(&w->relation) && sp_records_still(w, who))
		leave(w, who);
}

SP_COLD void sp_records_book(struct sp_writer *w, const struct sp_booking *b)
{
	if (!sp_records_enter(w, b->op, (uintptr_t)__builtin_frame_address(0), b->who, true))
		return;
	sp_records_returned(w);
	(void)sp_records_finish(w, b);
}

SP_COLD bool sp_records_nests(const struct sp_writer *w, uint32_t who)
{
	return load_acquire(&w->in_flight) && !in_flight_of_others(w, who, true);
}

SP_COLD void sp_records_missed(struct sp_writer *w, enum sp_op op, uint32_t who)
{
	if (sp_records_nests(w, who) && zeroes(op) && !keeps(w, op) &&
	    !(load_relaxed(&w->in_flight) & SP_IN_PAPI))
		set_slow(w, SP_SLOW_ZEROED);
	miss(w);
}

SP_COLD void sp_records_runs(struct sp_writer *w, enum sp_op state, uint32_t who)
{
	if (!state || !begin_records(w, who))
		return;
	add_record(w, state | keeps(w, SP_OP_START), 0, NULL, 0);
	end_records(w, who);
}
