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

#define END	36u			/* number of records that are folded */
_Static_assert(END < SP_RECORDS, "after a jump out of a fold one more may be added");

struct sp_cell *sp_records_cell_at(const struct sp_writer *w, int32_t i, sp_off *at)
{
	return (struct sp_cell *)sp_store_reader_cell(w->reader, w->relation, w->off, &w->layout,
						      w->cells, (uint32_t)i, at);
}

/* Returns cell i, whose block must exist. */
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

/* A waiting thread also calls this; the writer may be unbound meanwhile. */
static void mark_unsure(struct sp_writer *w)
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

/* Makes the block of cell i, if need be. If a handler or another thread makes it too, one block
 * stays unused. */
static bool make_cell(struct sp_writer *w, int32_t i)
{
	uint32_t n = (uint32_t)i / (uint32_t)w->layout.each;
	struct sp_store *s = sp_store_of_reader(w->reader);
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
	int last = (int)load_relaxed(&w->cells) - 1, dense = last + 1 - (int)SP_CELLS_EXTRA;

	if (cpu >= 0 && cpu < dense)
		return cpu;
	for (int i = dense; cpu >= 0 && i < last && make_cell(w, i); i++) {
		struct sp_cell *c = cell_at(w, i);
		int32_t is = SP_NO_CPU;

		/* A handler or another thread may take this cell now. */
		if (load_relaxed(&c->cpu) != cpu && !sp_cas(&c->cpu, &is, cpu) && is != cpu)
			continue;
		store_release(&c->used, c->used | SP_CELL_USED);
		return i;
	}
	return last;
}

/* Returns the cell for counts on `cpu`. Without memory that is the last one, of no known CPU,
 * and *known is false. */
static int32_t get_cell(struct sp_writer *w, int cpu, bool *known)
{
	int32_t cell = sp_records_cell(w, cpu);

	*known = make_cell(w, cell);
	return *known ? cell : (int32_t)w->cells - 1;
}

void sp_records_set_cpu(struct sp_writer *w, int cpu)
{
	bool known;

	(void)get_cell(w, cpu, &known);
}

/* ---- folding ------------------------------------------------------------------ */

/* Cache of the intervals of this fold, since programs read at few places. */
#define RECENT_INTERVALS	32u			/* a power of 2 */
struct recent {
	uint32_t from, to;
	int32_t cell;
	struct sp_interval *interval;		/* NULL: none */
};

struct folding {
	struct sp_fold f;
	struct sp_writer *w;
	struct sp_redo_log redo_log;
	bool crowded;
	int32_t last_cell;			/* number of `cell`, the last one used */
	struct sp_cell *cell;
	bool has_evicted;			/* recent[] has lost an interval */
	struct recent recent[RECENT_INTERVALS];
};

static struct sp_cell *log_cell(struct sp_fold *f, int32_t i)
{
	struct folding *in = f->of;

	if (in->last_cell != i) {
		sp_off at;
		const struct sp_cell *is = sp_records_cell_at(in->w, i, &at);

		in->cell = is ? sp_redo_log_add(&in->redo_log, at, is, in->w->layout.cell_bytes)
			      : NULL;
		in->last_cell = in->cell ? i : -1;
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

	m->interval = w->intervals.slots
			      ? sp_interval_log(&w->intervals, &in->redo_log, m->from, m->to,
						m->cell, !in->has_evicted, &in->crowded)
			      : sp_interval_log_by_list(w->reader, w->relation->intervals, w->k,
							&in->redo_log, m->from, m->to, m->cell,
							&in->crowded);
	return m->interval;
}

static struct sp_interval *log_interval(struct sp_fold *f, uint32_t from, uint32_t to, int32_t cell)
{
	struct folding *in = f->of;
	struct recent *m = &in->recent[(from + 2 * to) % RECENT_INTERVALS];

	if (SP_LIKELY(m->interval != NULL) && m->from == from && m->to == to && m->cell == cell)
		return m->interval;
	if (!in->w->relation->intervals)
		return NULL;
	in->has_evicted |= m->interval != NULL;
	*m = (struct recent){ from, to, cell, NULL };
	return find_interval_slow(in, m);
}

/* Ensures that readers in other threads see stores in the order in which they depend on each
 * other. */
static void order_stores(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* Applies all valid redo entries. */
static void apply_redo_log(struct sp_writer *w)
{
	struct sp_redo_log d = { .at = (unsigned char *)w->relation + w->layout.redo_log,
				 .used = sp_min(load_relaxed(&w->relation->redo_bytes),
						w->layout.redo_capacity) };
	const struct sp_redo_entry *entry;
	uint64_t place = 0;

	while ((entry = sp_redo_log_next(&d, &place)) != NULL) {
		bool own = entry->at - w->off < w->layout.bytes &&
			   entry->bytes <= w->layout.bytes - (entry->at - w->off);
		void *to = own ? (char *)w->relation + (entry->at - w->off)
			       : sp_interval_writer_at(&w->intervals, entry->at, entry->bytes);

		if (!to)
			to = (void *)sp_store_reader_at(w->reader, entry->at, entry->bytes);
		if (to)
			sp_copy_words(to, entry->words, entry->bytes / 8);
	}
	store_release(&w->relation->redo_bytes, 0);
	order_stores();
}

/* Lists the records that are not folded yet, in order. */
static uint32_t list_records(const struct sp_writer *w, const struct sp_record *list[SP_RECORDS])
{
	uint64_t number = w->relation->place / SP_PLACES, folded = w->state->folded;
	uint32_t n = 0;
	const unsigned char *at = w->records;

	if (!number && !load_acquire(&record_at(w, 0)->number))
		return 0;		/* new relation */
	for (uint32_t left = sp_min(place_of(w, w->to), SP_RECORDS); left--;
	     at += w->layout.record_bytes) {
		const struct sp_record *r = (const struct sp_record *)at;

		if (load_acquire(&r->number) == ++number && number > folded)
			list[n++] = r;
	}
	return n;
}

/* Redo log bytes that one record may need: it changes at most two cells. */
static uint64_t most_redo_bytes(const struct sp_writer *w)
{
	return 2 * (w->layout.cell_bytes + SP_INTERVAL_BYTES(w->k) + 8 +
		    3 * sizeof(struct sp_redo_entry));
}

/* Returns true if there are more. */
static bool fold_some(struct sp_writer *w)
{
	struct folding in = { .f = { .k = w->k,
				     .cells = w->cells,
				     .kinds = w->kinds,
				     .estimates = load_relaxed(&w->relation->flags) &
						  SP_RELATION_ESTIMATED,
				     .cell = log_cell,
				     .peek_cell = find_cell,
				     .interval = log_interval },
			      .w = w,
			      .redo_log = { .at = (unsigned char *)w->relation + w->layout.redo_log,
					    .room = w->layout.redo_capacity },
			      .last_cell = -1 };
	const uint64_t most = w->layout.redo_capacity - most_redo_bytes(w);
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
	store_release(&w->relation->redo_bytes, in.redo_log.used);
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
	apply_redo_log(w);		/* a handler may have jumped out of a fold */
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

	for (sp_word *at = (sp_word *)&w->last; at < (sp_word *)&w->recording_thread; at++)
		store_relaxed(at, 0);		/* another thread may read these words now */
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
	/* search all places for records of an earlier writer */
	w->to = w->records + SP_RECORDS * l.record_bytes;
	store_relaxed(&w->cpu, -2);
	w->kept.cell = -1;
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

void sp_records_set_component(struct sp_writer *w, uint32_t component)
{
	w->component = (uint8_t)component;
	if (component)
		set_slow(w, SP_SLOW_MORE);
}

void sp_records_time_runs(struct sp_writer *w)
{
	w->precise = SP_TIMES_RUN;
	store_relaxed(&sp_times_of(w->relation, &w->layout)->flags, SP_TIMES_RUN);
	set_slow(w, SP_SLOW_MORE);
}

bool sp_records_place(struct sp_writer *w, int cpu)
{
	bool known;
	int32_t cell = get_cell(w, cpu, &known);

	if (!known)
		return false;
	store_relaxed(&w->placed, true);
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
	sp_intervals_bind(&w->intervals, w->reader, &w->relation->intervals, w->k, memory, slots);
}

/* ---- a record ---------------------------------------------------------------------- */

static void fill(struct sp_writer *w, struct sp_record *r, uint32_t op_flags, int32_t cell,
		 const int64_t *x, uint32_t site, uint64_t count)
{
	store_relaxed(&r->op_flags, op_flags);
	store_relaxed(&r->cell, cell);
	store_relaxed(&r->from, w->from);
	store_relaxed(&r->site, site);
	store_relaxed(&r->count, count);
	for (uint32_t e = 0; x && e < w->k; e++)
		store_relaxed(&r->value[e], x[e]);
}

/* Updates the writer's view of the set by a new record. */
static void follow_record(struct sp_writer *w, const struct sp_record *r)
{
	bool keeps = r->op_flags & SP_RECORD_KEEPS;

	switch (sp_record_op(r)) {
	case SP_OP_IS_RUNNING:
		if (w->runs)
			break;
		/* fall through */
	case SP_OP_START:
		store_relaxed(&w->runs, true);
		w->values = sp_records_zeros;
		w->baseline = keeps;
		break;
	case SP_OP_IS_STOPPED:
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

/* Adds a record. One with a start value is not reused for later calls, since the rules need its
 * values. */
static void add_new(struct sp_writer *w, struct sp_record *r)
{
	bool baseline = w->baseline;

	follow_record(w, r);
	sp_records_add(w, r);
	if (baseline && !w->baseline)
		store_relaxed(&w->last, NULL);
}

/* May ACCUM add to the last record? Not with bits of floating-point counts, or gauges. */
static bool adds_up(const struct sp_writer *w)
{
	for (uint32_t e = 0; w->kinds && e < w->k; e++)
		if (w->kinds[e] != SP_COUNTS)
			return false;
	return true;
}

/* Adds a call to the last record, if it is equal. Parts and estimates need own records. */
static bool add_alike(struct sp_writer *w, uint32_t op_flags, int32_t cell, const int64_t *x,
		      uint32_t site, uint64_t count)
{
	uint32_t op = op_flags & SP_RECORD_OP;
	struct sp_record *r = w->last;

	if ((w->component && op != SP_OP_RESET) || !sp_records_is_alike(r, op_flags, cell, site))
		return false;
	if (op != SP_OP_READ && op != SP_OP_RESET &&
	    !(op == SP_OP_ACCUM && adds_up(w) && !(op_flags & SP_RECORD_PERMANENT)))
		return false;
	for (uint32_t e = 0; x && e < w->k; e++)
		store_relaxed(&r->value[e], op == SP_OP_ACCUM ? r->value[e] + x[e] : x[e]);
	store_relaxed(&r->count, r->count + count);
	return true;
}

static void add_counted(struct sp_writer *w, uint32_t op_flags, int32_t cell, const int64_t *x,
			uint32_t site, uint64_t count)
{
	struct sp_record *r;

	if (add_alike(w, op_flags, cell, x, site, count))
		return;
	r = (struct sp_record *)w->to;
	fill(w, r, op_flags, cell, x, site, count);
	store_relaxed(&w->steady, 0);
	add_new(w, r);
}

static void add_record(struct sp_writer *w, uint32_t op_flags, int32_t cell, const int64_t *x,
		       uint32_t site)
{
	add_counted(w, op_flags, cell, x, site, 1);
}

/* ---- times ---------------------------------------------------------------------------- */

/* runs: the set was running until this call. */
static void set_time(struct sp_writer *w, uint64_t now, bool reading, bool runs)
{
	struct sp_relation *r = w->relation;

	/* a component that does not start at 0 counts from its first reading */
	if (!r->first_ns && (reading || !(w->component & SP_KEEPS_ON_START)))
		store_relaxed(&r->first_ns, now);
	if (runs || !r->last_ns)
		store_relaxed(&r->last_ns, now);
	if (reading)
		store_relaxed(&r->reading_ns, now);
}

static bool has_values(enum sp_op op)
{
	return op == SP_OP_READ || op == SP_OP_STOP || op == SP_OP_ACCUM;
}

static uint32_t keeps_flag(const struct sp_writer *w, enum sp_op op)
{
	uint32_t on = op == SP_OP_START			       ? SP_KEEPS_ON_START
		      : op == SP_OP_RESET || op == SP_OP_ACCUM ? SP_KEEPS_ON_RESET
							       : 0;

	return w->component & on ? SP_RECORD_KEEPS : 0;
}

/* Sets the run time at a reading, by one store, which may be repeated after a jump. A zeroing drops
 * the time since the last reading, like the counts. A component that does not start at 0 counts
 * from its first reading. */
static inline __attribute__((always_inline)) void time_run(struct sp_writer *w, enum sp_op op,
							   uint64_t now, bool runs)
{
	uint64_t *run_ns = &sp_times_of(w->relation, &w->layout)->run_ns, from = w->time.run_from;

	if (w->precise != SP_TIMES_RUN)
		return;
	if (!has_values(op)) {
		if (!keeps_flag(w, op) || op == SP_OP_START)
			w->time.run_from = keeps_flag(w, op) ? 0 : now - *run_ns;
		return;
	}
	if (SP_UNLIKELY(!from))
		w->time.run_from = runs ? now - *run_ns : 0;
	else if (SP_LIKELY(now > from + *run_ns))
		store_relaxed(run_ns, now - from);
	if (op == SP_OP_STOP)
		w->time.run_from = 0;
}

static uint64_t later_time(const struct sp_writer *w, uint64_t now)
{
	return sp_max(now, sp_max(w->relation->reading_ns, w->relation->last_ns) + 1);
}

SP_COLD void sp_records_tick(struct sp_writer *w, bool reading)
{
	set_time(w, later_time(w, sp_stamp_ns()), reading, true);
}

/* ---- permanent readings ------------------------------------------------------------------ */

/* Reads a cell. All records are folded, so there is no redo entry. */
static const struct sp_cell *read_cell(struct sp_fold *f, int32_t i)
{
	return cell_at(f->of, i);
}

/* Writes a permanent reading of a set without temporary entries to the log: PAPI's values, or
 * for ACCUM the last entry plus PAPI's. `cell` has its block. */
static inline __attribute__((always_inline)) void keep_plain(struct sp_writer *w,
							     struct sp_log *log, enum sp_op op,
							     int32_t cell, const int64_t *x,
							     uint32_t from, uint32_t site,
							     uint64_t ns)
{
	int64_t *v = sp_log_room(log);
	struct sp_cell *c;

	if (!v)
		return;
	sp_copy_counts((long long *)v, (const long long *)x, w->k);
	for (uint32_t e = 0; op == SP_OP_ACCUM && e < w->k; e++)
		v[e] += w->entry[e];
	if (SP_UNLIKELY(w->kept.cell != cell)) {
		c = cell_at(w, cell);
		store_relaxed(&c->used, c->used | SP_CELL_KEPT);
		w->kept.cell = cell;
		w->kept.cpu = c->cpu;
	}
	sp_log_append(log, w->kept.cpu, ns, from, site);
	w->entry = v;
}

/* Writes a reading to the log, before its record, so that no counts exist without it. */
static void keep_reading(struct sp_writer *w, uint32_t op_flags, int32_t cell, const int64_t *x,
			 uint32_t site, uint64_t ns)
{
	struct sp_fold f = { .k = w->k,
			     .cells = w->cells,
			     .kinds = w->kinds,
			     .state = w->state,
			     .peek_cell = read_cell,
			     .of = w };
	int64_t *v;
	struct sp_record *r;

	if (w->only_kept && !w->kinds) {
		keep_plain(w, w->log, (enum sp_op)(op_flags & SP_RECORD_OP), cell, x, w->from, site,
			   ns);
		return;
	}
	v = sp_log_room(w->log);
	if (!v)
		return;
	sp_records_fold(w);
	r = (struct sp_record *)w->to;
	fill(w, r, op_flags, cell, x, 0, 1);
	for (uint32_t e = 0; e < w->k; e++)
		v[e] = sp_rules_entry(&f, r, e);
	store_relaxed(&cell_at(w, cell)->used, cell_at(w, cell)->used | SP_CELL_KEPT);
	sp_log_append(w->log, cell_at(w, cell)->cpu, ns, w->from, site);
}

/* ---- fast path with more to do ------------------------------------------ */

/* Marks the relation if a window is shorter than the second at which PAPI refreshes the counts. */
static void note_haste(struct sp_writer *w, uint64_t ns)
{
	if (w->component & SP_REFRESHES && w->runs && ns - w->relation->last_ns < 1000000000)
		__atomic_fetch_or(&w->relation->flags, SP_RELATION_HASTY, __ATOMIC_RELAXED);
}

static void write_values(struct sp_writer *w, struct sp_record *r, const long long *x)
{
#define EACH(type, e) SP_STORE(type, &r->value[e], SP_AT(type, &x[e]))
	SP_EACH(w->k, EACH);
#undef EACH
}

/* Logs a reading and its time, if the set has these, before its record is written. again: the
 * record, if it is reused; else NULL. */
static inline __attribute__((always_inline)) void note_reading(struct sp_writer *w, enum sp_op op,
							       int32_t cell, const long long *x,
							       const struct sp_record *again,
							       uint32_t site)
{
	struct sp_log *log = w->log;
	uint64_t ns = log ? sp_log_time(log) : w->precise ? later_time(w, sp_stamp_ns()) : 0;

	if (!ns)
		return;
	note_haste(w, ns);
	if (log)
		keep_plain(w, log, op, cell, (const int64_t *)x, again ? again->from : w->from,
			   again ? again->site : site, ns);
	if (w->gauges)
		sp_gauges_record(w->gauges, op, (uint32_t)cell, x, ns);
	set_time(w, ns, true, w->runs);
	time_run(w, op, ns, w->runs);
}

static uint32_t op_flags_of(const struct sp_writer *w, enum sp_op op)
{
	return op | keeps_flag(w, op) | (w->placed ? 0 : SP_RECORD_PROVEN) |
	       (w->log ? SP_RECORD_PERMANENT : 0);
}

bool sp_records_repeat_more(struct sp_writer *w, const long long *x, uint64_t steady)
{
	struct sp_record *r = load_plain(&w->last);

	if (SP_UNLIKELY(load_relaxed(&w->slow) != SP_SLOW_MORE) ||
	    SP_UNLIKELY(load_plain(&w->steady) != steady) || sp_records_fell(w, x))
		return false;
	note_reading(w, SP_OP_READ, r->cell, x, r, 0);
	write_values(w, r, x);
	increment_own(&r->count);
	sp_records_end(w);
	return true;
}

bool sp_records_value_more(struct sp_writer *w, enum sp_op op, int32_t cell, const long long *x,
			   uint32_t site, uint64_t ticks)
{
	const uint32_t op_flags = op_flags_of(w, op);
	struct sp_record *r = load_plain(&w->last);
	bool alike = op == SP_OP_READ && sp_records_is_alike(r, op_flags, cell, site);

	if (SP_UNLIKELY(load_relaxed(&w->slow) != SP_SLOW_MORE))
		return false;
	note_reading(w, op, cell, x, NULL, site);
	if (alike) {
		write_values(w, r, x);
		increment_own(&r->count);
	} else {
		r = sp_records_new(w, op_flags, cell, site);
		write_values(w, r, x);
		if (op == SP_OP_STOP && !w->log && !w->precise)
			sp_records_stopped(w, ticks);
		add_new(w, r);
	}
	sp_records_end(w);
	return true;
}

/* If the component keeps its counts, PAPI adds all of them again at each ACCUM: no record is
 * reused. */
bool sp_records_accum_more(struct sp_writer *w, int32_t cell, const long long *x, uint32_t site)
{
	const uint32_t op_flags = op_flags_of(w, SP_OP_ACCUM);
	struct sp_record *r = load_plain(&w->last);

	if (SP_UNLIKELY(load_relaxed(&w->slow) != SP_SLOW_MORE))
		return false;
	note_reading(w, SP_OP_ACCUM, cell, x, NULL, site);
	if (!(op_flags & SP_RECORD_KEEPS) && adds_up(w) &&
	    sp_records_is_alike(r, op_flags, cell, site)) {
#define EACH(type, e) SP_STORE(type, &r->value[e], SP_AT(type, &r->value[e]) + SP_AT(type, &x[e]))
		SP_EACH(w->k, EACH);
#undef EACH
		increment_own(&r->count);
	} else {
		r = sp_records_new(w, op_flags, cell, site);
		write_values(w, r, x);
		add_new(w, r);
	}
	sp_records_end(w);
	return true;
}

bool sp_records_zero_more(struct sp_writer *w, enum sp_op op, uint32_t site)
{
	const uint32_t op_flags = op | keeps_flag(w, op);
	uint64_t ns;

	if (SP_UNLIKELY(load_relaxed(&w->slow) != SP_SLOW_MORE))
		return false;
	if (op == SP_OP_START ? w->precise || !w->relation->first_ns : w->precise == SP_TIMES_RUN) {
		ns = later_time(w, sp_stamp_ns());
		if (op == SP_OP_START)
			set_time(w, ns, false, true);
		time_run(w, op, ns, w->runs);
	}
	if (w->gauges)
		sp_gauges_record(w->gauges, op, 0, NULL, 0);
	if (op != SP_OP_RESET || !sp_records_is_alike(load_plain(&w->last), op_flags, 0, site))
		add_new(w, sp_records_new(w, op_flags, 0, site));
	increment_own(op == SP_OP_START ? &w->relation->starts : &w->relation->resets);
	sp_records_end(w);
	return true;
}

/* ---- a call -------------------------------------------------------------------------------- */

/* Are all counts >= 0, and all of them proven, or none? */
static bool is_all_or_none(const int64_t *counts, const int64_t *proven, uint32_t k, bool all)
{
	for (uint32_t e = 0; e < k; e++)
		if (counts[e] < 0 || proven[e] != (all ? counts[e] : 0))
			return false;
	return true;
}

/* Adds the part of one CPU, with the reading's call sites. */
static void add_part(struct sp_writer *w, uint32_t op_flags, int32_t cell, int32_t reading,
		     const int64_t *x, uint32_t from, uint32_t site)
{
	w->from = from;
	add_counted(w, op_flags, cell, x, site, (uint64_t)reading);
}

/* Adds the parts of a reading whose own cell, `reading`, has all counts. */
static void add_parts(struct sp_writer *w, const struct sp_parts *p, const int64_t *counts,
		      int32_t reading, uint32_t from, uint32_t site)
{
	int64_t rest[w->k];

	memcpy(rest, counts, sizeof(rest));
	for (uint32_t i = 0; i < p->n; i++) {
		const int64_t *part = p->at + (uint64_t)i * w->k,
			      *proven = p->proven + (uint64_t)i * w->k;
		bool known;
		int32_t cell = get_cell(w, p->cpu[i], &known);
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

/* x: values in the writer's record. */
static void add_per_cpu(struct sp_writer *w, const struct sp_papi_call *b, uint32_t op_flags,
			int32_t cell, const int64_t *x)
{
	uint32_t from = w->from;
	int64_t counts[w->k];

	for (uint32_t e = 0; e < w->k; e++)
		counts[e] = x[e] - w->values[e];
	add_record(w, op_flags, cell, x, b->site);
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

static void append_record(struct sp_writer *w, const struct sp_papi_call *b)
{
	bool values = has_values(b->op), missed = sp_records_has_missed(w),
	     runs = w->runs || b->op == SP_OP_START;
	bool ends = (b->op == SP_OP_START && !w->relation->first_ns) || b->op == SP_OP_STOP;
	bool known = true;
	int32_t cell = values ? get_cell(w, b->cpu, &known) : 0;
	const int64_t *x = (const int64_t *)b->x;
	uint32_t op_flags = b->op | keeps_flag(w, b->op) |
			    (b->proven && known && !missed ? SP_RECORD_PROVEN : 0);
	uint64_t ns = values && w->log
			      ? sp_log_time(w->log)
			      : later_time(w, w->precise || ends ? sp_stamp_ns() : sp_coarse_ns());

	if (values)
		note_haste(w, ns);
	if (missed)
		add_record(w, SP_OP_MISSED, 0, NULL, 0);
	if (values && w->entries == SP_ENTRIES_NONE)
		op_flags |= SP_RECORD_NO_ENTRY;
	if (values && w->entries == SP_ENTRIES_PERMANENT) {
		op_flags |= SP_RECORD_PERMANENT;
		keep_reading(w, op_flags, cell, x, b->site, ns);
	}
	if (b->parts && !missed && w->runs && !w->baseline)
		add_per_cpu(w, b, op_flags, cell, x);
	else
		add_record(w, op_flags, cell, x, b->site);
	if (missed) {
		store_relaxed(&w->last, NULL);	/* the rules need this value, so no later call
						 * may replace it */
		clear_slow(w, SP_SLOW_AFTER);
	}
	count_call(w, b->op);
	if (b->op != SP_OP_RESET)
		set_time(w, ns, values && w->entries != SP_ENTRIES_NONE, runs);
	time_run(w, b->op, ns, runs);
	if (values && !w->placed)
		store_relaxed(&w->cpu, (uint32_t)cell < w->cells - SP_CELLS_EXTRA ? cell : -2);
}

/* ---- turns -------------------------------------------------------------- */

/* Number of tries: about 20 ms for a PAPI call of another thread, which may not have a CPU now;
 * 2 s for its recording, which calls nothing. */
#define PAPI_TRIES	220u
#define RECORD_TRIES	20000u

/* Set in `in_flight_thread` when PAPI has returned while others wait. A waiting thread that
 * gives up and the returning one both change this word. */
#define IN_FLIGHT_RECORDS	0x80000000u

static void pause_try(unsigned tries)
{
	struct timespec delay = { 0, 100000 };

	if (tries < 20)
		(void)sp_sys(SYS_sched_yield);
	else
		(void)sp_sys(SYS_nanosleep, &delay, NULL);
}

static void mark_missed(struct sp_writer *w)
{
	mark_unsure(w);
	set_slow(w, SP_SLOW_MISSED);
}

/* Finds the newest record again after a jump out of a call. */
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
	add_counted(w, SP_OP_RESET | keeps_flag(w, SP_OP_RESET), 0, NULL, 0, 0);
}

/* Ends the call in flight without a record, after a jump or if its thread does not return. A
 * RESET or ACCUM that PAPI executed has zeroed the set; a READ has changed nothing. */
static void drop_call(struct sp_writer *w)
{
	uintptr_t mark = load_relaxed(&w->in_flight);
	enum sp_op op = (enum sp_op)(mark & 7);

	if (w->relation)
		find_records(w);
	if (w->relation && !(mark & SP_IN_PAPI) && (op == SP_OP_RESET || op == SP_OP_ACCUM))
		add_zeroing(w);
	if (op != SP_OP_READ)
		mark_missed(w);
	store_release(&w->in_flight, 0);
}

static void end_call(struct sp_writer *w, uint32_t who)
{
	uint32_t in_flight_thread = load_relaxed(&w->in_flight_thread);

	store_release(&w->in_flight, 0);
	sp_order();
	if ((in_flight_thread & ~IN_FLIGHT_RECORDS) == who)
		(void)sp_cas(&w->in_flight_thread, &in_flight_thread, 0);	/* after
										 * in_flight: see
										 * set_mark */
	if (load_relaxed(&w->recording_thread) == who)
		store_release(&w->recording_thread, 0);
}

static bool is_owner(const struct sp_writer *w, uint32_t who)
{
	uint32_t owner = load_relaxed(&w->owner);

	return !owner || owner == who;
}

/* Makes the owner take turns from its next call on. Without membarrier (old kernels, seccomp),
 * waits until other CPUs see the flag. */
static void share(struct sp_writer *w)
{
	struct timespec delay = { 0, 1000000 };

	if (__atomic_fetch_or(&w->slow, SP_SLOW_SHARED, __ATOMIC_SEQ_CST) & SP_SLOW_SHARED) {
		for (unsigned tries = 0; tries < PAPI_TRIES && !load_acquire(&w->shared); tries++)
			pause_try(tries);	/* wait until the owner sees the flag */
		return;
	}
	(void)sp_sys(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	if (sp_sys(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
		(void)sp_sys(SYS_nanosleep, &delay, NULL);
	store_release(&w->shared, true);
}

static bool is_others_turn(const struct sp_writer *w, uint32_t who)
{
	return (load_acquire(&w->slow) & SP_SLOW_SHARED) &&
	       load_acquire(&w->recording_thread) != who;
}

/* Returns `in_flight` if it is another thread's call; else 0. */
static uintptr_t in_flight_of_others(const struct sp_writer *w, uint32_t who, bool owner)
{
	uint32_t in_flight_thread = load_acquire(&w->in_flight_thread);

	/* the owner may have changed since the caller read it */
	return (in_flight_thread & ~IN_FLIGHT_RECORDS) == who ||
			       (!in_flight_thread && owner && is_owner(w, who))
		       ? 0
		       : load_acquire(&w->in_flight);
}

static bool is_being_bound(const struct sp_writer *w)
{
	return load_acquire(&w->slow) & SP_SLOW_BINDING;
}

static bool has_turn(const struct sp_writer *w, uint32_t who)
{
	return load_acquire(&w->slow) & SP_SLOW_SHARED && load_acquire(&w->recording_thread) == who;
}

/* Prefers a waiting thread to one that calls again and again. */
static bool try_turn(struct sp_writer *w, uint32_t who)
{
	uint32_t nobody = 0, next = load_relaxed(&w->next);

	if ((!next || next == who) && sp_cas(&w->recording_thread, &nobody, who))
		return true;
	if (!next)
		(void)sp_cas(&w->next, &next, who);
	return false;
}

/* False: the writer is being bound, and it is not this thread's turn. */
static bool wait_for_turn(struct sp_writer *w, uint32_t who, bool owner)
{
	uintptr_t others;

	for (unsigned tries = 0; is_others_turn(w, who) && !try_turn(w, who);
	     pause_try(tries++)) {
		if (is_being_bound(w))
			return false;
		if (tries == PAPI_TRIES) {
			mark_unsure(w);
			store_relaxed(&w->next, 0);
			store_relaxed(&w->recording_thread, who);
			break;
		}
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (unsigned tries = 0; (others = in_flight_of_others(w, who, owner)) != 0;
	     pause_try(tries++)) {
		uint32_t in_flight_thread = load_acquire(&w->in_flight_thread);
		bool in_papi = others & SP_IN_PAPI && !(in_flight_thread & IN_FLIGHT_RECORDS);

		if (is_being_bound(w))
			return false;
		if (!has_turn(w, who))
			return true;	/* set_mark will fail */
		if (tries < (in_papi ? PAPI_TRIES : RECORD_TRIES))
			continue;
		if (!sp_cas(&w->in_flight_thread, &in_flight_thread, who))
			continue;	/* the call has just returned */
		mark_unsure(w);
		drop_call(w);
	}
	return true;
}

/* False: not this thread's turn. */
static bool take_turn(struct sp_writer *w, uint32_t who, bool owner)
{
	uint32_t is = who, waited = who;
	bool turn = wait_for_turn(w, who, owner);

	(void)sp_cas(&w->next, &waited, 0);
	if (!turn)
		(void)sp_cas(&w->recording_thread, &is, 0);
	return turn;
}

/* Marks the call as in flight. Fails if a thread that does not see the mark began to share, or
 * if the owner changed. `in_flight_thread` is set before the mark: without it the mark is an
 * owner's on the fast path, and a handler of the owner would take it for the owner's. */
static bool set_mark(struct sp_writer *w, uintptr_t mark, uint32_t who, bool own)
{
	uintptr_t none = 0, is = mark;
	uint32_t in_flight_thread = load_acquire(&w->in_flight_thread), mine = who, slow;

	if (is_others_turn(w, who) || load_acquire(&w->in_flight) ||
	    (in_flight_thread != who && !sp_cas(&w->in_flight_thread, &in_flight_thread, who)))
		return false;
	store_relaxed(&w->back, sp_records_back(mark & SP_FRAME));
	if (sp_cas(&w->in_flight, &none, mark)) {
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		slow = load_acquire(&w->slow);
		if (load_acquire(&w->in_flight_thread) == who && !is_others_turn(w, who) &&
		    !(slow & SP_SLOW_BINDING) &&
		    (slow & SP_SLOW_SHARED || (own && is_owner(w, who))))
			return true;
		(void)sp_cas(&w->in_flight, &is, 0);
	}
	(void)sp_cas(&w->in_flight_thread, &mine, 0);
	return false;
}

/* On the fast path the owner does not set in_flight_thread. */
static bool is_in_flight(const struct sp_writer *w, uint32_t who, uint32_t in_flight_thread)
{
	return in_flight_thread == who ||
	       (!in_flight_thread && is_owner(w, who) && load_acquire(&w->in_flight));
}

/* NULL: the writer is unbound. */
static struct sp_relation *find_relation(struct sp_writer *w, uint32_t who)
{
	struct sp_relation *r = load_acquire(&w->relation);

	if (!r && sp_records_can_finish(w, who))
		end_call(w, who);
	return r;
}

/* Does the wrapper of the call in flight still exist? The program may have unmapped the stack
 * with its frame. */
static bool wrapper_exists(const struct sp_writer *w, uintptr_t mark)
{
	uintptr_t back = 0;
	struct iovec here = { &back, sizeof(back) },
		     there = { (void *)((mark & SP_FRAME) + sizeof(back)), sizeof(back) };
	long pid = sp_sys(SYS_getpid),
	     n = sp_sys(SYS_process_vm_readv, pid, &here, 1, &there, 1, 0);

	return n == sizeof(back) ? back == load_relaxed(&w->back) : n != -EFAULT;
}

/* Is a call from this frame nested in another of the same thread? */
static bool is_nested(const struct sp_writer *w, uintptr_t frame, uint32_t who, bool own)
{
	uintptr_t mark = load_acquire(&w->in_flight);

	return mark && !in_flight_of_others(w, who, own) &&
	       sp_interrupted(mark & SP_FRAME, frame) && wrapper_exists(w, mark);
}

/* Records the calls missed so far before the call in flight. */
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

/* Lets the caller add records before its PAPI call, during which no thread overtakes it. False:
 * one already has. */
static bool begin_records(struct sp_writer *w, uint32_t who)
{
	return sp_cas(&w->in_flight_thread, &who, who | IN_FLIGHT_RECORDS);
}

static void end_records(struct sp_writer *w, uint32_t who)
{
	uint32_t in_flight_thread = who | IN_FLIGHT_RECORDS;

	(void)sp_cas(&w->in_flight_thread, &in_flight_thread, who);
}

SP_COLD bool sp_records_enter(struct sp_writer *w, enum sp_op op, uintptr_t frame, uint32_t who,
			      bool owner)
{
	uintptr_t mark = sp_records_mark(frame, op) | SP_IN_PAPI, under;
	struct sp_relation *r;

	for (;;) {
		bool own = owner && is_owner(w, who);

		if (is_nested(w, frame, who, own)) {
			mark_missed(w);
			return false;
		}
		if (!load_relaxed(&w->relation))
			return false;
		if (!own)
			share(w);
		if (is_being_bound(w) ||
		    (load_acquire(&w->slow) & SP_SLOW_SHARED && !take_turn(w, who, own)))
			return false;
		under = load_acquire(&w->in_flight);
		if (under && in_flight_of_others(w, who, own)) {
			share(w);		/* it has just come, or was abandoned: wait for
						 * it, then drop it */
			continue;
		}
		if (under != load_acquire(&w->in_flight))
			continue;
		if (under) {
			drop_call(w);
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

/* ---- binding again ------------------------------------------------------ */

/* Drops calls that this thread has jumped out of. False: a call is in flight. */
static bool drop_jumped_calls(struct sp_writer *w, uintptr_t frame, uint32_t who)
{
	while (load_relaxed(&w->in_flight)) {
		bool own = is_owner(w, who);

		if (in_flight_of_others(w, who, own) || is_nested(w, frame, who, own))
			return false;
		drop_call(w);
	}
	return true;
}

SP_COLD bool sp_records_take(struct sp_writer *w, uintptr_t frame, uint32_t who, bool waits)
{
	uint32_t nobody = 0, is = who;
	uintptr_t none = 0, mark = sp_records_mark(frame, SP_OP_READ);
	bool own = is_owner(w, who), had = load_relaxed(&w->recording_thread) == who;

	if (is_being_bound(w))
		return false;
	if (!own)
		share(w);
	if (waits && load_acquire(&w->slow) & SP_SLOW_SHARED && !take_turn(w, who, own))
		return false;
	if (!sp_cas(&w->recording_thread, &nobody, who) && nobody != who)
		return false;
	if (drop_jumped_calls(w, frame, who)) {
		store_relaxed(&w->back, sp_records_back(frame));
		if (sp_cas(&w->in_flight, &none, mark)) {
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			if (load_relaxed(&w->owner) == who || !load_relaxed(&w->owner) ||
			    load_acquire(&w->slow) & SP_SLOW_SHARED) {
				store_relaxed(&w->in_flight_thread, who);
				set_slow(w, SP_SLOW_BINDING);
				return true;
			}
			store_relaxed(&w->in_flight, 0);	/* it has just got another owner */
		}
	}
	if (!had)
		(void)sp_cas(&w->recording_thread, &is, 0);
	return false;
}

SP_COLD void sp_records_give(struct sp_writer *w, uint32_t who, uint32_t owner)
{
	if (owner) {
		store_relaxed(&w->owner, owner);
		store_relaxed(&w->shared, false);
	}
	clear_slow(w, SP_SLOW_BINDING | (owner ? SP_SLOW_SHARED : 0));
	store_relaxed(&w->in_flight_thread, 0);
	store_release(&w->in_flight, 0);
	(void)sp_cas(&w->recording_thread, &who, 0);
}

SP_COLD bool sp_records_suspend(struct sp_writer *w, uint32_t who, uint32_t *was)
{
	uint32_t in_flight_thread = load_acquire(&w->in_flight_thread);

	*was = in_flight_thread;
	if (in_flight_thread == (who | IN_FLIGHT_RECORDS) ||
	    (is_in_flight(w, who, in_flight_thread) &&
	     sp_cas(&w->in_flight_thread, &in_flight_thread, who | IN_FLIGHT_RECORDS)))
		return true;
	return is_owner(w, who) && !(load_acquire(&w->slow) & (SP_SLOW_SHARED | SP_SLOW_BINDING));
}

SP_COLD void sp_records_resume(struct sp_writer *w, uint32_t who, uint32_t was)
{
	uint32_t is = who | IN_FLIGHT_RECORDS;

	(void)sp_cas(&w->in_flight_thread, &is, was);
}

SP_COLD void sp_records_zeroed(struct sp_writer *w, uint32_t who, uint32_t was)
{
	uintptr_t mark = load_relaxed(&w->in_flight);

	/* A nested zeroing: the interrupted call's record may be incomplete, or have values from
	 * before. */
	if (was & IN_FLIGHT_RECORDS || (mark && !(mark & SP_IN_PAPI)) ||
	    load_relaxed(&w->slow) & SP_SLOW_MISSED)
		sp_records_missed(w, SP_OP_RESET, who);
	else
		add_zeroing(w);
}

SP_COLD bool sp_records_can_finish(struct sp_writer *w, uint32_t who)
{
	uint32_t in_flight_thread = load_acquire(&w->in_flight_thread);

	if (!(load_acquire(&w->slow) & SP_SLOW_SHARED))
		return is_owner(w, who);
	if (in_flight_thread == (who | IN_FLIGHT_RECORDS))
		return true;
	return is_in_flight(w, who, in_flight_thread) &&
	       sp_cas(&w->in_flight_thread, &in_flight_thread, who | IN_FLIGHT_RECORDS);
}

SP_COLD bool sp_records_finish(struct sp_writer *w, const struct sp_papi_call *b)
{
	if (!sp_records_can_finish(w, b->who))
		return false;
	append_record(w, b);
	end_call(w, b->who);
	return true;
}

SP_COLD void sp_records_failed(struct sp_writer *w, uint32_t who)
{
	/* a handler may have destroyed the set */
	if (load_relaxed(&w->relation) && sp_records_can_finish(w, who))
		end_call(w, who);
}

SP_COLD void sp_records_add_call(struct sp_writer *w, const struct sp_papi_call *b)
{
	if (!sp_records_enter(w, b->op, (uintptr_t)__builtin_frame_address(0), b->who, true))
		return;
	sp_records_returned(w);
	(void)sp_records_finish(w, b);
}

SP_COLD bool sp_records_is_nested(const struct sp_writer *w, uint32_t who)
{
	return load_acquire(&w->in_flight) && !in_flight_of_others(w, who, true);
}

SP_COLD void sp_records_missed(struct sp_writer *w, enum sp_op op, uint32_t who)
{
	if (sp_records_is_nested(w, who) && zeroes(op) && !keeps_flag(w, op) &&
	    !(load_relaxed(&w->in_flight) & SP_IN_PAPI))
		set_slow(w, SP_SLOW_ZEROED);
	mark_missed(w);
}

SP_COLD void sp_records_set_running(struct sp_writer *w, enum sp_op state, uint32_t who)
{
	if (!state || !begin_records(w, who))
		return;
	add_record(w, state | keeps_flag(w, SP_OP_START), 0, NULL, 0);
	if (state == SP_OP_IS_STOPPED && w->precise == SP_TIMES_RUN)
		w->time.run_from = 0;
	end_records(w, who);
}
