/* diff.c: matches the rows of two sides, compares them and shows them; see diff.h. */
#include <math.h>
#include <string.h>

#include "../../formats/format-csv.h"
#include "../../formats/format-text-levels.h"
#include "../../formats/format-text-table.h"
#include "../../formats/function-name.h"
#include "../tool/cmd.h"
#include "t-test.h"
#include "diff.h"

#define PLACE	72u			/* columns of a call site */
#define WHOLE	500u			/* columns by which call sites are matched */
#define TOTAL	"total"			/* position 0 */
#define NOWHERE UINT32_MAX		/* position of rows that are left out */
#define NOISE	0.1			/* relative difference of single runs' clocks */

/* The share of comparisons of equal programs that show any difference, if only chance moves their
 * values. (Other work of a machine lasts minutes: with 100, one of twenty comparisons of
 * tests/long/repeats.t's programs, run one after the other, showed some of it.) */
#define ONCE_IN	1000.0

/* ---- positions ------------------------------------------------------------ */

/* The number of times that each key was seen. */
struct seen {
	struct sp_names keys;
	uint32_t *times, room;
};

/* Returns how often the key was seen before. */
static uint32_t add_seen(struct seen *t, const void *key, size_t bytes)
{
	uint32_t i = sp_names_number(&t->keys, key, bytes);

	t->times = sp_grow_array(t->times, &t->room, i + 1, sizeof(*t->times));
	return t->times[i]++;
}

static void free_seen(struct seen *t)
{
	sp_names_free(&t->keys);
	free(t->times);
}

static void number_processes(struct sp_diff_run *s)
{
	const struct sp_model *m = s->levels.m;
	struct seen ranks = { 0 };

	s->nth = sp_check_alloc(calloc(m->n_processes + 1, sizeof(*s->nth)));
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct sp_header *h = sp_process_header(m, i);

		if (!s->repeat || h->stat >> SP_STAT_RUN_SHIFT == s->repeat)
			s->nth[i] = add_seen(&ranks, &h->process.rank, sizeof(h->process.rank));
	}
	free_seen(&ranks);
}

static void process_position(struct sp_out *o, const struct sp_diff *d, const struct sp_diff_run *s,
			     int32_t process)
{
	const struct sp_header *h = sp_process_header(s->levels.m, (uint32_t)process);
	uint32_t nth = s->nth[process];

	if (d->any_job && h->process.rank >= 0)
		sp_out_f(o, nth ? "rank %ld process %u" : "rank %ld", h->process.rank, nth);
	else
		sp_out_f(o, "process %u", nth);
}

/* The position of a thread is its process, name and order. */
static void thread_position(struct sp_out *o, const struct sp_diff *d, const struct sp_diff_run *s,
			    const struct sp_level_row *row, struct seen *threads)
{
	if (d->any_job) {
		process_position(o, d, s, row->process);
		sp_out_char(o, ' ');
	}
	sp_out_text(o, row->tid == 0 ? "threads that have ended " : "thread ");
	if (*row->thread)
		sp_out_f(o, "\"%s\" ", row->thread);
	sp_out_f(o, "#%u", add_seen(threads, o->buffer, o->used));
}

/* Writes a call site's path in CSV; with its call, that precedes the path. */
static void site_position(struct sp_out *o, const struct sp_model *m, uint32_t id, bool with_call)
{
	struct sp_callsite site;
	const char *call = NULL;

	if (with_call && sp_model_callsite(m, id, &site)) {
		call = sp_site_call_name(site.call);
		if (call || *site.name)
			sp_out_f(o, "%s%s%s;", call ?: "", *site.name ? " " : "", site.name);
	}
	sp_csv_path(o, m, id);
}

/* The position of a pair of call sites in CSV: the same calls from the same code. */
static const char *pair_position(const struct sp_model *m, const struct sp_level_row *row,
				 bool with_calls)
{
	static char text[1u << 17];	/* two paths of 64 frames */
	struct sp_out o;

	sp_memory_init(&o, text, sizeof(text));
	site_position(&o, m, row->from, with_calls);
	sp_out_text(&o, " -> ");
	site_position(&o, m, row->to, with_calls);
	return sp_memory_text(&o);
}

static bool is_csv_pair(const struct sp_diff_run *s, const struct sp_level_row *row)
{
	return row->to && !s->levels.named;
}

/* Finds paths that several pairs of call sites have, which differ in their calls only: an
 * interpreter makes all calls from one place. Older stores lack the calls, so the others'
 * positions have them only there. */
static void note_calls(struct sp_diff *d, const struct sp_diff_run *s)
{
	for (uint32_t r = 0; r < s->levels.n; r++) {
		const struct sp_level_row *row = &s->levels.row[r];
		const char *text;
		uint32_t path, pair;

		if (!is_csv_pair(s, row))
			continue;
		text = pair_position(s->levels.m, row, false);
		path = sp_names_number(&d->paths, text, strlen(text));
		text = pair_position(s->levels.m, row, true);
		if (strcmp(text, (const char *)d->paths.name[path].key) == 0)
			continue;
		pair = sp_names_number(&d->pairs, text, strlen(text)) + 1;
		d->pair_of_path = sp_grow_array(d->pair_of_path, &d->n_pair_of_path, path + 1,
						sizeof(*d->pair_of_path));
		if (d->pair_of_path[path] && d->pair_of_path[path] != pair)
			sp_names_number(&d->paths_of_several, d->paths.name[path].key,
					d->paths.name[path].bytes);
		d->pair_of_path[path] = pair;
	}
}

static bool shows(const struct sp_diff *d, struct sp_model *m, uint32_t e)
{
	return sp_selection_event(&(struct sp_selection){ .m = m, .events = d->events }, e);
}

/* Writes the event's key: its name, its index among equal names, and its mode if there are
 * several. */
static void event_key(struct sp_out *o, const struct sp_diff *d, struct sp_model *m, uint32_t e)
{
	char buf[32], words[SP_DOMAIN_TEXT];
	const char *name = sp_event_name(m, e, buf);
	size_t n = sp_name_bytes(name);
	char *bare = sp_check_alloc(strndup(name, n));
	uint32_t nth = 0, domain = m->event_domain ? m->event_domain[e] : 0;

	for (uint32_t i = 0; i < e; i++) {
		char other[32];

		nth += shows(d, m, i) && strcmp(sp_event_name(m, i, other), name) == 0;
	}
	sp_out_plain(o, bare);
	if (nth)
		sp_out_f(o, "#%u", nth);
	if (domain && sp_names_find(&d->in_modes, name, n) != SP_NO_NAME)
		sp_out_f(o, " (%s)", sp_domain_words(domain, words));
	free(bare);
}

static size_t key_room(const struct sp_model *m, uint32_t e)
{
	char buf[32];

	return 4 * sp_name_bytes(sp_event_name(m, e, buf)) + SP_DOMAIN_TEXT + 32;
}

/* The position of an event set: its number and the keys of its events. */
static void set_position(struct sp_out *o, const struct sp_diff *d, struct sp_model *m,
			 const struct sp_level_row *row)
{
	struct sp_row r = { .only_cells = true, .walk.index = row->relation };

	if (row->event_set >= 0)
		sp_out_f(o, "set %d: ", row->event_set);
	if (!sp_model_next(m, &r))
		return;
	for (uint32_t i = 0; i < r.k; i++) {
		sp_out_text(o, i ? ", " : "");
		event_key(o, d, m, r.event[i]);
	}
}

static void position(struct sp_out *o, const struct sp_diff *d, const struct sp_diff_run *s,
		     const struct sp_level_row *row, struct seen *threads)
{
	struct sp_model *m = s->levels.m;
	const struct sp_component *c = row->component >= 0 ? &m->component[row->component] : NULL;
	struct sp_callsite site;

	if (row->to && row->from == row->to && sp_model_callsite(m, row->to, &site) && *site.name) {
		sp_out_f(o, "region %s", site.name);
		return;
	}
	if (is_csv_pair(s, row)) {
		const char *path = pair_position(m, row, false);

		sp_out_text(o, sp_names_find(&d->paths_of_several, path, strlen(path)) == SP_NO_NAME
				       ? path
				       : pair_position(m, row, true));
		return;
	}
	if (row->process >= 0) {
		if (sp_level_is_process(s->levels.level))
			process_position(o, d, s, row->process);
		else
			thread_position(o, d, s, row, threads);
		return;
	}
	if (d->any_machines && row->machine >= 0 && !(c && sp_component_is(c, "Machine")))
		sp_out_f(o, "Machine L#%d ", row->machine);
	if (c)
		sp_out_f(o, "%s L#%d", c->type, c->logical_index);
	else if (row->of_set)
		set_position(o, d, m, row);
	else
		sp_level_label(o, &s->levels, row, WHOLE);
}

static void place_rows(struct sp_diff *d, struct sp_diff_run *s)
{
	static char text[1u << 17];	/* two paths of 64 frames */
	struct seen threads = { 0 };
	struct sp_out o;

	number_processes(s);
	s->place = sp_check_alloc(calloc(s->levels.n + 1, sizeof(*s->place)));
	for (uint32_t r = 0; r < s->levels.n; r++) {
		s->place[r] = NOWHERE;
		if (d->only_sites && !s->levels.row[r].to)
			continue;
		sp_memory_init(&o, text, sizeof(text));
		position(&o, d, s, &s->levels.row[r], &threads);
		s->place[r] = sp_names_number(&d->positions, text, o.used);
	}
	free_seen(&threads);
}

/* Notes events that a run counted in several modes, "EV (user)" and "EV (kernel)", or that two runs
 * counted in different modes: each mode is an event. */
static void note_modes(struct sp_diff *d, const struct sp_model *m)
{
	char buf[32];

	for (uint32_t e = 0; e < m->n_events; e++) {
		const char *name = sp_event_name(m, e, buf);
		size_t n = sp_name_bytes(name);
		uint32_t domain = m->event_domain ? m->event_domain[e] : 0,
			 i = sp_names_number(&d->event_names, name, n);

		d->domain_of_event = sp_grow_array(d->domain_of_event, &d->n_domain_of_event, i + 1,
						   sizeof(*d->domain_of_event));
		if (name[n] || (domain && d->domain_of_event[i] && d->domain_of_event[i] != domain))
			sp_names_number(&d->in_modes, name, n);
		d->domain_of_event[i] = domain ? domain : d->domain_of_event[i];
	}
}

/* Returns the number of the event's key. */
static uint32_t event_number(struct sp_diff *d, struct sp_model *m, uint32_t e)
{
	size_t room = key_room(m, e);
	char *key = sp_check_alloc(malloc(room));
	uint32_t number;
	struct sp_out o;

	sp_memory_init(&o, key, room);
	event_key(&o, d, m, e);
	number = sp_names_number(&d->names, key, o.used);
	free(key);
	return number;
}

/* ---- the runs -------------------------------------------------------------- */

/* Sums all counts. Counts of several observers are included once. */
static void add_up(struct sp_diff_run *s)
{
	struct sp_model *m = s->levels.m;
	uint32_t ne = m->n_events;
	struct sp_level_row *t = &s->total;
	struct sp_row row = { 0 };
	struct sp_at_cpu at;

	*t = (struct sp_level_row){ .component = -1, .process = -1, .machine = -1 };
	t->total = sp_check_alloc(calloc(ne + 1, 2 * sizeof(int64_t) + 1));
	t->exact = t->total + ne;
	t->counted = (bool *)(t->exact + ne);
	while (sp_model_next(m, &row))
		for (uint32_t i = 0; sp_row_cell(m, &row, i, &at); i++)
			for (uint32_t k = 0; k < row.k; k++) {
				uint32_t e = row.event[k];
				enum sp_data_type type = sp_event_type(m, e);

				if (!sp_event_is_summed(m, e) || sp_row_is_omitted(m, &row, k))
					continue;
				t->total[e] = sp_plus(type, t->total[e], at.total[k]);
				t->exact[e] = sp_plus(type, t->exact[e], at.exact[k]);
				t->counted[e] = true;
			}
}

/* Adds run n (from 1) of the model; 0: its only run. Each run has its own levels. */
static int add_run(struct sp_diff *d, unsigned side, struct sp_model *m,
		   const struct sp_level *level, struct sp_metrics *metrics, uint32_t n)
{
	struct sp_diff_side *s = &d->side[side];
	struct sp_diff_run *r;
	int e;

	s->run = sp_grow_array(s->run, &s->room, s->n + 1, sizeof(*s->run));
	r = &s->run[s->n];
	*r = (struct sp_diff_run){ .repeat = n };
	m->only_run = n;
	e = sp_levels_open(&r->levels, m, level, metrics);
	if (e == 0) {
		if (d->format != SP_DIFF_CSV)
			sp_levels_group(&r->levels, NULL);
		s->n++;
		add_up(r);
		e = metrics ? sp_diff_metrics_keep(&r->metrics, &d->metrics, &r->levels, &r->total,
						   n)
			    : 0;
		r->levels.metrics = NULL;	/* will be bound to another store */
	}
	m->only_run = 0;
	return e;
}

int sp_diff_add(struct sp_diff *d, unsigned side, struct sp_model *m, const struct sp_level *level,
		struct sp_metrics *metrics)
{
	uint32_t n = sp_n_repeats(m) > 1 ? sp_n_repeats(m) : 0;
	int e = add_run(d, side, m, level, metrics, n > 0);

	for (uint32_t i = 2; e == 0 && i <= n; i++)
		e = add_run(d, side, m, level, metrics, i);
	return e;
}

/* Adds the counts of row `from` to those of row `to`, which has the same position: in CSV the call
 * sites of the same program in two folders are equal. Their metrics cannot be added. */
static void join_row(struct sp_diff_run *s, uint32_t to, uint32_t from)
{
	const struct sp_level_row *t = &s->levels.row[to], *f = &s->levels.row[from];

	for (uint32_t e = 0; e < s->levels.m->n_events; e++) {
		enum sp_data_type type = sp_event_type(s->levels.m, e);

		t->total[e] = sp_plus(type, t->total[e], f->total[e]);
		t->exact[e] = sp_plus(type, t->exact[e], f->exact[e]);
		t->counted[e] |= f->counted[e];
	}
	for (uint32_t i = 0; i < s->metrics.n; i++)
		s->metrics.at[(uint64_t)(to + 1) * s->metrics.n + i].there = false;
}

static void index_run(struct sp_diff *d, struct sp_diff_run *s)
{
	struct sp_model *m = s->levels.m;

	s->row = sp_check_alloc(calloc(d->positions.n, sizeof(*s->row)));
	for (uint32_t r = 0; r < s->levels.n; r++) {
		uint32_t *row = s->place[r] != NOWHERE ? &s->row[s->place[r]] : NULL;

		if (row && *row)
			join_row(s, *row - 1, r);
		else if (row)
			*row = r + 1;
	}
	s->event = sp_check_alloc(calloc(d->names.n + 1, sizeof(*s->event)));
	for (uint32_t e = 0; e < m->n_events; e++)
		if (shows(d, m, e))
			s->event[event_number(d, m, e)] = e + 1;
}

/* ---- values ---------------------------------------------------------------- */

struct value {
	bool there, unproven;
	bool metric, whole;		/* a derived metric; it is always an integer */
	bool noisy;			/* varies between equal runs: a clock, or a metric */
	enum sp_data_type type;
	int64_t v, exact;		/* of several runs the rounded mean */
	struct sp_spread spread;
};

static const struct sp_level_row *row_at(const struct sp_diff_run *s, uint32_t position)
{
	return !position	  ? &s->total
	       : s->row[position] ? &s->levels.row[s->row[position] - 1]
				  : NULL;
}

/* Returns the number of events and metrics that are compared. */
static uint32_t n_names(const struct sp_diff *d)
{
	return d->names.n + d->metrics.n;
}

static const char *name_of(const struct sp_diff *d, uint32_t e)
{
	return (const char *)(e < d->names.n ? d->names.name[e].key
					     : d->metrics.name[e - d->names.n].key);
}

/* Runs without a value of the metric are left out of the mean. */
static struct value metric_of(const struct sp_diff_side *s, uint32_t position, uint32_t metric)
{
	struct value v = { .metric = true, .noisy = true, .type = SP_FP64 };

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t row = position ? s->run[i].row[position] : 0;
		const struct sp_diff_metric *at =
			!position || row ? sp_diff_metric_at(&s->run[i].metrics, row, metric)
					 : NULL;

		if (!at || !at->there)
			continue;
		v.there = true;
		v.unproven = v.unproven || at->unproven;
		v.whole = at->whole;
		sp_spread_add(&v.spread, at->value);
	}
	v.v = sp_float_bits(v.spread.mean);
	return v;
}

/* A run without the count contributes 0. */
static struct value count_of(const struct sp_diff_side *s, uint32_t position, uint32_t event)
{
	struct sp_spread exact = { 0 };
	struct value v = { .type = SP_INT64 };

	for (uint32_t i = 0; i < s->n; i++) {
		const struct sp_level_row *row = row_at(&s->run[i], position);
		uint32_t e = s->run[i].event[event];
		bool there = row && e && row->counted[e - 1];

		v.type = e ? sp_event_type(s->run[i].levels.m, e - 1) : v.type;
		v.noisy = e ? sp_event_is_time(s->run[i].levels.m, e - 1) : v.noisy;
		v.v = there ? row->total[e - 1] : 0;
		v.exact = there ? row->exact[e - 1] : 0;
		v.there = v.there || there;
		v.unproven = v.unproven || sp_is_unproven(v.type, v.v, v.exact);
		sp_spread_add(&v.spread, sp_value_double(v.type, v.v));
		sp_spread_add(&exact, sp_value_double(v.type, v.exact));
	}
	if (s->n > 1) {
		v.v = sp_round_to_type(v.type, v.spread.mean);
		v.exact = sp_round_to_type(v.type, exact.mean);
	}
	return v;
}

static struct value value_of(const struct sp_diff *d, unsigned side, uint32_t position, uint32_t e)
{
	return e < d->names.n ? count_of(&d->side[side], position, e)
			      : metric_of(&d->side[side], position, e - d->names.n);
}

static bool have_repeats(const struct sp_diff *d)
{
	return d->side[0].n > 1 || d->side[1].n > 1;
}

static bool are_same(const struct value *a, const struct value *b)
{
	if (!a->there || !b->there || a->type == b->type)
		return a->there == b->there && (!a->there || a->v == b->v);
	return sp_value_double(a->type, a->v) == sp_value_double(b->type, b->v);
}

/* Returns whether two values of single runs differ by less than clocks do by chance: by 10 % of the
 * larger one, or by 1 % of the larger total. */
static bool is_noise(const struct sp_diff *d, uint32_t e, const struct value *a,
		     const struct value *b)
{
	double x = sp_value_double(a->type, a->v), y = sp_value_double(b->type, b->v),
	       of_total = 0.0;

	if (!(a->noisy || b->noisy) || !a->there || !b->there)
		return false;
	for (unsigned i = 0; i < 2 && !a->metric; i++) {
		struct value total = value_of(d, i, 0, e);

		of_total = sp_max(of_total, NOISE / 10.0 * sp_value_double(total.type, total.v));
	}
	return __builtin_fabs(x - y) <
	       sp_max(NOISE * sp_max(__builtin_fabs(x), __builtin_fabs(y)), of_total);
}

/* A missing value counts as 0. */
static bool differ(const struct sp_diff *d, uint32_t p, uint32_t e, const struct value *a,
		   const struct value *b)
{
	if (are_same(a, b) || (a->metric && a->there != b->there))
		return !are_same(a, b);
	if (!have_repeats(d))
		return !is_noise(d, e, a, b);
	return sp_chance(&a->spread, &b->spread, a->type == SP_FP64 ? 0.0 : 1.0 / 12.0) <
	       d->limit[p > 0];
}

struct difference {
	bool less;			/* b is less than a */
	int64_t size;			/* without the sign; of integers unsigned */
	double number;			/* with the sign */
};

/* Returns the type of their difference. */
static enum sp_data_type common_type(const struct value *a, const struct value *b)
{
	if (a->there && b->there && a->type != b->type)
		return SP_FP64;
	return a->there ? a->type : b->type;
}

/* A missing count is 0. */
static struct difference difference(const struct value *a, const struct value *b,
				    enum sp_data_type type)
{
	double x = sp_value_double(a->type, a->v), y = sp_value_double(b->type, b->v);
	struct difference by = { .number = y - x };

	if (type == SP_FP64) {
		by.less = y < x;
		by.size = sp_float_bits(by.less ? x - y : y - x);
		return by;
	}
	by.less = type == SP_INT64 ? b->v < a->v : (uint64_t)b->v < (uint64_t)a->v;
	by.size = (int64_t)(by.less ? (uint64_t)a->v - (uint64_t)b->v
				    : (uint64_t)b->v - (uint64_t)a->v);
	if (y - x < 0x1p52 && x - y < 0x1p52)	/* exactly */
		by.number = by.less ? -(double)by.size : (double)by.size;
	return by;
}

/* Formats the difference in percent of A without its sign; beyond 1,000 % as a factor, unless
 * `numbers`. */
static const char *percent(char text[48], const struct value *a, const struct value *b, double by,
			   bool numbers)
{
	double base = a->there ? sp_value_double(a->type, a->v) : 0.0;

	if (base == 0.0)
		return b->there ? "new" : "gone";
	if (by / base > 10.0 && !numbers)
		snprintf(text, 48, "x %.1f", by / base + 1.0);
	else
		snprintf(text, 48, "%+.2f", by / __builtin_fabs(base) * 100.0);
	return text;
}

/* ---- what differs -------------------------------------------------------------- */

/* Each value that chance can change gets a part of the allowed error rate: half of it for the
 * totals, however many places there are, and half for the places. */
static void share_limit(struct sp_diff *d)
{
	uint32_t n[2] = { 0 };

	for (uint32_t p = 0; have_repeats(d) && p < d->positions.n; p++)
		for (uint32_t e = 0; e < n_names(d); e++) {
			struct value a = value_of(d, 0, p, e), b = value_of(d, 1, p, e);

			n[p > 0] += a.spread.squares > 0.0 || b.spread.squares > 0.0 ||
				    !are_same(&a, &b);
		}
	for (unsigned i = 0; i < 2; i++)
		d->limit[i] = 0.5 / ONCE_IN / (double)sp_max(n[i], 1);
}

/* Finds the events that differ anywhere, and whether any line needs a mark. Returns whether
 * anything differs. */
static bool look(struct sp_diff *d)
{
	bool any = false;

	d->event_differs = sp_check_alloc(calloc(n_names(d) + 1, 1));
	for (uint32_t p = d->positions.n; p-- > 0;)
		for (uint32_t e = 0; e < n_names(d); e++) {
			struct value a = value_of(d, 0, p, e), b = value_of(d, 1, p, e);
			bool differs = differ(d, p, e, &a, &b);

			d->event_differs[e] |= differs;
			any |= differs;
			d->marks |= (differs || (p == 0 && d->event_differs[e])) &&
				    (a.unproven || b.unproven);
		}
	return any;
}

void sp_diff_index(struct sp_diff *d)
{
	sp_names_number(&d->positions, TOTAL, strlen(TOTAL));
	for (unsigned i = 0; i < 2; i++)
		for (uint32_t r = 0; r < d->side[i].n; r++) {
			const struct sp_model *m = d->side[i].run[r].levels.m;

			d->any_job |= sp_is_job(m);
			d->any_machines |= m->n_machines > 1;
			note_modes(d, m);
			note_calls(d, &d->side[i].run[r]);
		}
	for (unsigned i = 0; i < 2; i++)
		for (uint32_t r = 0; r < d->side[i].n; r++) {
			struct sp_model *m = d->side[i].run[r].levels.m;

			place_rows(d, &d->side[i].run[r]);
			for (uint32_t e = 0; e < m->n_events; e++)
				if (shows(d, m, e))
					event_number(d, m, e);
		}
	for (unsigned i = 0; i < 2; i++)
		for (uint32_t r = 0; r < d->side[i].n; r++)
			index_run(d, &d->side[i].run[r]);
	share_limit(d);
}

/* ---- lines ------------------------------------------------------------------ */

/* Returns the first run with this position; NULL: the total. */
static const struct sp_diff_run *run_with(const struct sp_diff *d, uint32_t position)
{
	for (unsigned i = 0; position && i < 2; i++)
		for (uint32_t r = 0; r < d->side[i].n; r++)
			if (d->side[i].run[r].row[position])
				return &d->side[i].run[r];
	return NULL;
}

/* Writes a place by its name on the side that has it; threads by their order, because their numbers
 * differ between runs. */
static void place_text(struct sp_out *o, const struct sp_diff *d, uint32_t position)
{
	const struct sp_diff_run *r = run_with(d, position);
	const struct sp_level_row *row = r ? row_at(r, position) : NULL;

	if (!row || row->process >= 0) {
		sp_out_text(o, (const char *)d->positions.name[position].key);
		return;
	}
	if (d->any_machines && row->machine >= 0 &&
	    r->levels.level != sp_level_by_name("machine"))
		sp_out_f(o, "host %s: ", r->levels.m->machine[row->machine].host);
	sp_level_label(o, &r->levels, row, PLACE);
}

/* Returns a run with this event (type: in this type; NULL: in any) and its id there, for the name
 * and number format. */
static const struct sp_model *model_with(const struct sp_diff *d, uint32_t event,
					 const enum sp_data_type *type, uint32_t *id)
{
	for (unsigned i = 0; i < 2; i++)
		for (uint32_t r = 0; r < d->side[i].n; r++) {
			const struct sp_diff_run *s = &d->side[i].run[r];

			*id = s->event[event] - 1;
			if (s->event[event] && (!type || sp_event_type(s->levels.m, *id) == *type))
				return s->levels.m;
		}
	return NULL;
}

static void name_text(const struct sp_diff *d, uint32_t e, char name[256])
{
	const char *key = name_of(d, e), *modes = key + sp_name_bytes(key);
	uint32_t id = 0;
	const struct sp_model *m = e < d->names.n ? model_with(d, e, NULL, &id) : NULL;

	if (!m) {
		sp_text_f(name, 256, "%s", key);
		return;
	}
	sp_text_event(m, id, name);
	if (!name[sp_name_bytes(name)] && strlen(name) + strlen(modes) < 256)
		strcat(name, modes);
}

static void number_text(const struct sp_diff *d, uint32_t e, const struct value *of,
			enum sp_data_type type, int64_t n, char text[48])
{
	uint32_t id = 0;
	const struct sp_model *m = of->metric ? NULL : model_with(d, e, &type, &id);

	if (m)
		sp_short_text(text, m, id, n);
	else
		sp_metric_text(text, &(struct sp_metric){ .has_value = true,
							  .whole = of->whole && of->spread.n < 2,
							  .value = sp_float(n) });
}

/* in percent of the mean */
static const char *spread_text(char text[48], const struct value *v)
{
	double mean = v->spread.mean < 0 ? -v->spread.mean : v->spread.mean;

	if (!v->there || v->spread.n < 2 || mean == 0.0)
		return "-";
	return sp_text_f(text, 48, "%.2f", sp_deviation(&v->spread) / mean * 100.0);
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Writes text for people; in Markdown with a backslash before what would be markup. An underscore
 * inside a word, or a ~ before a blank, is not. */
static void names_text(struct sp_out *o, const struct sp_diff *d, const char *text)
{
	for (const char *p = text; *p; p++) {
		bool plain = *p == '_'	 ? p > text && is_word(p[-1]) && is_word(p[1])
			     : *p == '~' ? p[1] == ' '
					 : !strchr("\\`*<&[|$", *p);

		if (d->format == SP_DIFF_MARKDOWN && !plain)
			sp_out_char(o, '\\');
		sp_out_char(o, *p);
	}
}

/* Writes a row of a Markdown table, for a pull request. */
static void markdown_line(const struct sp_diff *d, struct sp_text_list *l, const char *const *cell)
{
	for (unsigned i = 0; i < l->n; i++) {
		sp_out_text(l->o, i ? " | " : "| ");
		names_text(l->o, d, cell[i]);
	}
	sp_out_text(l->o, " |\n");
	for (unsigned i = 0; !l->lines && i < l->n; i++)
		sp_out_text(l->o, i == 0 ? "| --- |" : i == 1 ? " --- |" : " ---: |");
	sp_out_text(l->o, l->lines ? "" : "\n");
	l->lines++;
}

static void line(const struct sp_diff *d, struct sp_text_list *l, const char *const *cell)
{
	if (d->format == SP_DIFF_MARKDOWN)
		markdown_line(d, l, cell);
	else
		sp_list_line(l, cell);
}

static void text_line(const struct sp_diff *d, struct sp_text_list *l, uint32_t position,
		      uint32_t event, const struct value *a, const struct value *b)
{
	enum sp_data_type type = common_type(a, b);
	const struct difference by = difference(a, b, type);
	char place[1200], name[256], of_a[48] = "-", of_b[48] = "-", text[48], signed_by[52],
				     share[48], spread[2][48];
	bool differs = differ(d, position, event, a, b);
	const char *cell[] = { place,
			       name,
			       of_a,
			       of_b,
			       signed_by,
			       by.number == 0.0 && !differs  ? "same"
			       : differs || !have_repeats(d) ? percent(share, a, b, by.number,
							       false)
							     : "chance",
			       spread_text(spread[0], a),
			       spread_text(spread[1], b) };
	struct sp_out o;

	sp_memory_init(&o, place, sizeof(place));
	sp_out_text(&o, !d->marks ? "" : a->unproven || b->unproven ? "~ " : "  ");
	place_text(&o, d, position);
	sp_memory_text(&o);
	name_text(d, event, name);
	if (a->there)
		number_text(d, event, a, a->type, a->v, of_a);
	if (b->there)
		number_text(d, event, b, b->type, b->v, of_b);
	number_text(d, event, a->there ? a : b, type, by.size, text);
	snprintf(signed_by, sizeof(signed_by), "%s%s",
		 by.less ? "-" : by.number > 0.0 ? "+" : "", text);
	line(d, l, cell);
}

/* Writes nothing for a missing value. */
static void csv_value(struct sp_out *o, const struct value *v, int64_t n)
{
	sp_out_char(o, ',');
	if (v->there)
		sp_out_value(o, v->type, n);
}

/* Leaves out `exact` for metrics, which mix proven and other counts. */
static void csv_exact(struct sp_out *o, const struct value *v)
{
	if (v->metric)
		sp_out_char(o, ',');
	else
		csv_value(o, v, v->exact);
}

static void csv_line(const struct sp_diff *d, struct sp_out *o, uint32_t position, uint32_t event,
		     const struct value *a, const struct value *b)
{
	enum sp_data_type type = common_type(a, b);
	const struct difference by = difference(a, b, type);
	char buf[48];
	const char *share = percent(buf, a, b, by.number, true);

	sp_csv_f(o, "%s,%s", (const char *)d->positions.name[position].key, name_of(d, event));
	csv_value(o, a, a->v);
	csv_value(o, b, b->v);
	sp_out_char(o, ',');
	sp_out_text(o, by.less ? "-" : "");
	sp_out_value(o, type == SP_FP64 ? SP_FP64 : SP_UINT64, by.size);
	sp_out_char(o, ',');
	/* "new" and "gone" are not numbers */
	sp_out_text(o, *share == '+' || *share == '-' ? share : "");
	csv_exact(o, a);
	csv_exact(o, b);
	if (have_repeats(d))
		sp_out_f(o, ",%f,%f", sp_deviation(&a->spread), sp_deviation(&b->spread));
	sp_out_char(o, '\n');
}

/* Writes each difference as a CSV line, or to the list, with the total of each event that differs
 * anywhere. */
static void compare(const struct sp_diff *d, struct sp_text_list *l, struct sp_out *o)
{
	for (uint32_t p = 0; p < d->positions.n; p++)
		for (uint32_t e = 0; e < n_names(d); e++) {
			struct value a = value_of(d, 0, p, e), b = value_of(d, 1, p, e);

			if (!(l && !p ? d->event_differs[e] || d->all_totals
				      : differ(d, p, e, &a, &b)))
				continue;
			if (l)
				text_line(d, l, p, e, &a, &b);
			else
				csv_line(d, o, p, e, &a, &b);
		}
}

/* Writes a side's program and duration: "A: loop spread, 1.06 s". Stores of stat -r have no common
 * duration. */
static void head(struct sp_out *o, const struct sp_diff *d, unsigned side)
{
	const struct sp_diff_side *s = &d->side[side];
	uint64_t elapsed = 0;
	bool known = true;
	struct sp_out what;
	char text[704];

	for (uint32_t i = 0; i < s->n; i++) {
		const struct sp_model *m = s->run[i].levels.m;

		elapsed += sp_elapsed(m) / s->n;
		known = known && sp_elapsed(m) && !sp_n_repeats(m);
	}
	sp_out_text(o, side ? "B: " : "A: ");
	sp_memory_init(&what, text, sizeof(text));
	sp_text_command(&what, s->run[0].levels.m, 55);
	names_text(o, d, sp_memory_text(&what));
	if (known) {
		sp_out_text(o, ", ");
		sp_out_duration(o, elapsed);
		sp_out_text(o, s->n > 1 ? " on average" : "");
	}
	sp_out_char(o, '\n');
}

static void add_rows(struct sp_text_list *l, void *diff)
{
	const struct sp_diff *d = diff;
	const struct sp_diff_side *side = &d->side[d->side[0].run[0].levels.m->h.stat ? 1 : 0];
	const char *title[] = { sp_text_level_heading(&side->run[0].levels),
				"event",
				"A",
				"B",
				"B - A",
				"percent",
				"std dev A [%]",
				"B [%]" };

	line(d, l, title);
	compare(d, l, NULL);
}

static unsigned n_columns(const struct sp_diff *d)
{
	return have_repeats(d) ? 8 : 6;
}

/* Returns whether the event's total has grown by more than fail_above, and not by chance. From 0
 * any growth is too much. */
static bool has_grown(const struct sp_diff *d, uint32_t e, double *percent)
{
	struct value a = value_of(d, 0, 0, e), b = value_of(d, 1, 0, e);
	double from = sp_value_double(a.type, a.v), to = sp_value_double(b.type, b.v);

	if (!a.there || !b.there || to <= from || (have_repeats(d) && !differ(d, 0, e, &a, &b)))
		return false;
	*percent = from != 0.0 ? (to - from) / __builtin_fabs(from) * 100.0 : HUGE_VAL;
	return !(*percent <= d->fail_above);	/* also if one is no number */
}

const char *sp_diff_lacks(const struct sp_diff *d, unsigned *side)
{
	for (uint32_t e = 0; e < d->names.n; e++)
		for (*side = 0; *side < 2; ++*side)
			if (!value_of(d, *side, 0, e).there)
				return name_of(d, e);
	return NULL;
}

bool sp_diff_has_common(const struct sp_diff *d)
{
	for (uint32_t e = 0; e < d->names.n; e++)
		if (value_of(d, 0, 0, e).there && value_of(d, 1, 0, e).there)
			return true;
	return false;
}

static bool any_has_grown(const struct sp_diff *d)
{
	double percent;

	for (uint32_t e = 0; e < d->names.n; e++)
		if (has_grown(d, e, &percent))
			return true;
	return false;
}

static void write_growth(struct sp_out *o, const struct sp_diff *d)
{
	char name[256];
	double percent;

	for (uint32_t e = 0; e < d->names.n; e++) {
		if (!has_grown(d, e, &percent))
			continue;
		name_text(d, e, name);
		names_text(o, d, name);
		if (percent < HUGE_VAL)
			sp_out_f(o, " has grown by %.2f %%, which is more than %.2f %%\n", percent,
				 d->fail_above);
		else
			sp_out_text(o, " was 0\n");
	}
	if (!any_has_grown(d))
		sp_out_f(o, "no event has grown by more than %.2f %%\n", d->fail_above);
}

static bool any_noise(const struct sp_diff *d)
{
	for (uint32_t p = 0; p < d->positions.n; p++)
		for (uint32_t e = 0; e < n_names(d); e++) {
			struct value a = value_of(d, 0, p, e), b = value_of(d, 1, p, e);

			if (!are_same(&a, &b))
				return true;
		}
	return false;
}

static void below(struct sp_out *o, const struct sp_diff *d, bool any)
{
	if (d->marks)
		sp_out_text(o, "~: 0.1 % or more is not proven on its CPU\n");
	if (have_repeats(d) && any)
		sp_out_f(o,
			 "A: %u run%s, B: %u run%s; differences that chance explains are left "
			 "out\n",
			 d->side[0].n, SP_MANY(d->side[0].n), d->side[1].n, SP_MANY(d->side[1].n));
	if (!any && !(d->gate && any_has_grown(d)))
		sp_out_text(o, have_repeats(d) ? "nothing differs beyond chance\n"
			       : any_noise(d) ? "nothing differs, except clocks by less than 10 %\n"
					      : "nothing differs\n");
	if (d->gate)
		write_growth(o, d);
}

int sp_diff_show(struct sp_diff *d, int fd, bool bold)
{
	static char buffer[65536];
	struct sp_selection how = { .all = true, .bold = bold };
	bool any = look(d);
	struct sp_out o;
	struct sp_text_list l = { .o = &o, .n = n_columns(d) };
	int e;

	d->all_totals = !any || d->gate;
	sp_out_init(&o, fd, buffer, sizeof(buffer));
	if (d->format == SP_DIFF_CSV) {
		sp_out_f(&o, "place,event,a,b,difference,percent,a_exact,b_exact%s\n",
			 have_repeats(d) ? ",a_stddev,b_stddev" : "");
		compare(d, NULL, &o);
	} else {
		head(&o, d, 0);
		/* otherwise one paragraph */
		sp_out_text(&o, d->format == SP_DIFF_MARKDOWN ? "\n" : "");
		head(&o, d, 1);
		if (d->format == SP_DIFF_MARKDOWN) {
			sp_out_char(&o, '\n');
			add_rows(&l, d);
			sp_out_char(&o, '\n');
		} else {
			sp_list_show(&o, &how, n_columns(d), true, "", add_rows, d);
		}
		below(&o, d, any);
	}
	e = sp_out_finish(&o);
	return e < 0 && e != -EPIPE ? e : d->gate ? any_has_grown(d) : any;
}
