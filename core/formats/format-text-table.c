/* format-text-table.c: collects rows, arranges columns in blocks, and writes them; see
 * format-text-table.h. */
#include "../base/sort.h"
#include "../base/sys.h"
#include "../model/core-kinds.h"
#include "format-text-table.h"

#define LABEL_LEAST	22u		/* minimum columns for labels */
#define SHARE		6u		/* "100 %" and a blank */
#define NAME_LINES	8u		/* lines of an event's name above its column */
#define BREAKS		":_.-= "	/* a heading's line may end behind these */
#define WIDEST		16u		/* columns for a heading's word; a longer one is broken */
#define SPREAD_LEAST	3u		/* minimum rows for minimum, mean and maximum */
/* events that get columns before all metrics but the first */
#define EVENTS_FIRST	3u

/* ---- rows --------------------------------------------------------------- */

static void choose_columns(struct sp_table *t)
{
	const struct sp_model *m = t->m;

	for (uint32_t e = 0; e < m->n_events; e++)
		t->columns[e] = t->placed ? sp_event_is_summed(m, e) : sp_event_has_column(m, e);
	t->lead = sp_leading_event(t->s, t->columns);
}

static uint64_t n_slots(const struct sp_table *t)
{
	return t->s->metrics ? t->s->metrics->n_slots : 0;
}

static uint64_t sums_bytes(const struct sp_table *t)
{
	return sp_align(17ull * t->m->n_events, 8) + n_slots(t) * sizeof(struct sp_metric_sum);
}

static struct sp_text_sums sums_at(const struct sp_table *t, char **p)
{
	uint64_t ne = t->m->n_events;
	char *at = *p;

	*p += sums_bytes(t);
	return (struct sp_text_sums){ .total = (int64_t *)at,
				      .exact = (int64_t *)at + ne,
				      .has = (bool *)(at + 16 * ne),
				      .metric =
					      (struct sp_metric_sum *)(at + sp_align(17 * ne, 8)) };
}

bool sp_table_open(struct sp_table *t, const struct sp_selection *s, uint32_t room)
{
	uint64_t ne = s->m->n_events, nm = s->metrics ? s->metrics->n : 0;
	char *p;

	t->s = s;
	t->m = s->m;
	t->line = (unsigned)sp_max(t->line ? t->line : SP_TEXT_WIDTH, s->columns);
	t->rows.n = t->spread.rows = 0;
	t->spread.line = -1;
	sp_table_first(t);
	t->rows.room = room;
	t->bytes = (uint64_t)room * (sizeof(*t->rows.at) + sizeof(*t->rows.weight) +
				     sizeof(*t->rows.order)) +
		   5 * sums_bytes(t) + ne * 13 + nm * 20 + 64;
	t->memory = p = sp_map(t->bytes);
	if (!p)
		return false;
	t->rows.at = (uint64_t *)p;
	t->rows.weight = (double *)(t->rows.at + room);
	t->spread.sum = (double *)(t->rows.weight + room);
	for (unsigned i = 0; i < 2; i++)
		t->spread.metric[i] = t->spread.sum + ne + i * nm;
	p = (char *)(t->spread.sum + ne + 2 * nm);
	t->own = t->sums = sums_at(t, &p);
	t->rest = sums_at(t, &p);
	for (unsigned i = 0; i < 3; i++)
		t->spread.row[i] = sums_at(t, &p);
	t->rows.order = (uint32_t *)p;
	t->spread.n = t->rows.order + room;
	t->spread.metric_rows = t->spread.n + ne;
	t->columns = (bool *)(t->spread.metric_rows + nm);
	choose_columns(t);
	return true;
}

void sp_table_close(struct sp_table *t)
{
	sp_unmap(t->memory, t->bytes);
}

static void clear(struct sp_table *t)
{
	memset(t->sums.total, 0, sums_bytes(t));
	t->sums.kinds = 0;
	t->label[0] = 0;
	for (unsigned i = 0; i < SP_TEXT_TAILS; i++)
		t->tail[i][0] = 0;
}

/* Loads the row at index i. */
static void take(struct sp_table *t, uint32_t i)
{
	clear(t);
	t->row(t, t->rows.at[t->rows.order[i]]);
}

static void take_sums(struct sp_table *t, uint32_t i)
{
	t->only_sums = true;
	take(t, i);
	t->only_sums = false;
}

void sp_table_add(struct sp_table *t, uint64_t at)
{
	if (t->rows.n == t->rows.room)
		return;
	t->rows.at[t->rows.n] = at;
	t->rows.order[t->rows.n] = t->rows.n;
	if (t->name_spread)
		take(t, t->rows.n);
	else
		take_sums(t, t->rows.n);
	if (!memchr(t->sums.has, true, t->m->n_events))
		return;
	t->rows.weight[t->rows.n++] =
		t->lead < t->m->n_events
			? sp_value_double(sp_event_type(t->m, t->lead), t->sums.total[t->lead])
			: 0.0;
}

/* Rows of equal weight keep the order of their addition. */
static bool sorts_before(const void *table, uint32_t a, uint32_t b)
{
	const double *weight = ((const struct sp_table *)table)->rows.weight;

	return weight[a] > weight[b] || (!(weight[a] < weight[b]) && a < b);
}

/* ---- minimum, mean and maximum ---------------------------------------------------- */

/* A metric has its own minimum and maximum; its mean is computed from the events' means. */
static void spread_metrics(struct sp_table *t)
{
	struct sp_metrics *of = t->s->metrics;

	if (!of || sp_kinds_several(t->sums.kinds))
		return;
	sp_metrics_sum(of, t->spread.row[1].metric, t->sums.metric);
	sp_metrics_compute(of, t->sums.metric);
	for (int32_t i = sp_metrics_next(of, -1); i >= 0; i = sp_metrics_next(of, i)) {
		double *least = &t->spread.metric[0][i], *most = &t->spread.metric[1][i],
		       v = of->at[i].value;

		if (!of->at[i].has_value)
			continue;
		if (!t->spread.metric_rows[i] || v < *least)
			*least = v;
		if (!t->spread.metric_rows[i] || v > *most)
			*most = v;
		t->spread.metric_rows[i]++;
	}
}

void sp_table_spread(struct sp_table *t)
{
	for (uint32_t e = 0; e < t->m->n_events; e++) {
		enum sp_data_type type = sp_event_type(t->m, e);
		int64_t v = t->sums.total[e];

		if (!t->sums.has[e])
			continue;
		for (unsigned most = 0; most < 2; most++) {
			double by = sp_value_double(type, v) -
				    sp_value_double(type, t->spread.row[2 * most].total[e]);

			if (t->spread.n[e] && !(most ? by > 0.0 : by < 0.0))
				continue;
			t->spread.row[2 * most].total[e] = v;
			if (e == t->lead)
				sp_text_f(t->spread.who[most], sizeof(t->spread.who[most]), "%s",
					  t->label);
		}
		t->spread.sum[e] += sp_value_double(type, v);
		t->spread.n[e]++;
	}
	spread_metrics(t);
	t->spread.rows++;
}

static void end_spread(struct sp_table *t)
{
	for (uint32_t e = 0; e < t->m->n_events; e++) {
		t->spread.row[1].total[e] =
			sp_round_to_type(sp_event_type(t->m, e),
					 t->spread.n[e] ? t->spread.sum[e] / t->spread.n[e] : 0.0);
		for (unsigned i = 0; i < 3; i++) {
			t->spread.row[i].exact[e] = t->spread.row[i].total[e];
			t->spread.row[i].has[e] = t->spread.n[e];
		}
	}
}

static bool names_spread(const struct sp_table *t)
{
	uint32_t e = t->lead;

	return t->name_spread && e < t->m->n_events && t->spread.n[e] &&
	       t->spread.row[0].total[e] != t->spread.row[2].total[e];
}

static bool has_max_over_mean(const struct sp_table *t)
{
	uint32_t e = t->lead;

	return e < t->m->n_events && t->spread.n[e] && t->spread.sum[e] > 0.0;
}

/* "min (rank 126)", "max (rank 83; max/mean 1.69)", by the leading event */
static void spread_label(struct sp_table *t, unsigned i)
{
	static const char *const label[] = { "min", "mean", "max" };
	uint32_t e = t->lead, n = e < t->m->n_events ? t->spread.n[e] : 0;
	bool name = i != 1 && names_spread(t), ratio = i == 2 && has_max_over_mean(t);
	struct sp_out o;

	sp_memory_init(&o, t->label, sizeof(t->label));
	sp_out_f(&o, "%s%s%s%s", label[i], name || ratio ? " (" : "",
		 name ? t->spread.who[i / 2] : "", name && ratio ? "; " : "");
	if (ratio)
		sp_out_f(&o, "max/mean %.2f",
			 sp_value_double(sp_event_type(t->m, e), t->spread.row[2].total[e]) * n /
				 t->spread.sum[e]);
	sp_out_text(&o, name || ratio ? ")" : "");
	sp_memory_text(&o);
}

/* Computes the metrics of the current row. */
static void compute_metrics(const struct sp_table *t)
{
	struct sp_metrics *of = t->s->metrics;
	bool extreme = t->spread.line == 0 || t->spread.line == 2;

	if (!of)
		return;
	sp_metrics_mean(of, t->sums.metric, t->spread.line == 1 ? t->spread.metric_rows : NULL);
	for (int32_t i = extreme ? sp_metrics_next(of, -1) : -1; i >= 0;
	     i = sp_metrics_next(of, i)) {
		of->at[i].has_value = t->spread.metric_rows[i];
		of->at[i].value = t->spread.metric[t->spread.line / 2][i];
	}
}

/* ---- columns ------------------------------------------------------------ */

static const struct sp_metric *metric(const struct sp_table *t, uint32_t id)
{
	return id >= t->m->n_events ? &t->s->metrics->at[id - t->m->n_events] : NULL;
}

/* Returns the name with its unit as a heading, in ASCII, so that columns are bytes. */
static const char *heading(const struct sp_table *t, uint32_t id, char text[256])
{
	if (id < t->m->n_events)
		sp_text_event(t->m, id, text);
	else
		sp_text_f(text, 220,
			  sp_text_is_event(t->m, metric(t, id)->name) ? "%s (metric)" : "%s",
			  metric(t, id)->name);
	for (char *p = text; *p; p++)
		if (*p & 0x80)
			*p = '?';
	return text;
}

/* Returns the bytes of the first words of a heading that fit the width, or of a part of a word that
 * is longer. */
static unsigned words_of(const char *text, unsigned width)
{
	unsigned cut = 0, n = 0;

	while (n < width && text[n])
		if (strchr(BREAKS, text[n++]))
			cut = n;
	return !text[n] || text[n] == ' ' || !cut ? n : cut;
}

/* Finds line number `line` of a heading that is broken to this width; false: it has fewer lines. */
static bool heading_line(const char *text, unsigned width, unsigned line, const char **at,
			 unsigned *n)
{
	for (;; line--) {
		*at = text;
		*n = words_of(text, width);
		if (!*n || !line)
			return *n;
		text += *n;
		while (*text == ' ')
			text++;
	}
}

static unsigned heading_lines(const char *text, unsigned width)
{
	const char *at;
	unsigned n, lines = 0;

	while (lines < NAME_LINES && heading_line(text, width, lines, &at, &n))
		lines++;
	return lines;
}

static bool is_column(const struct sp_table *t, uint32_t id)
{
	if (id == t->lead && t->lead_shown)
		return false;
	if (id < t->m->n_events)
		return t->columns[id] && sp_selection_event(t->s, id);
	return metric(t, id)->shown &&
	       !(t->without_placed && sp_metric_is_placed(t->s->metrics, metric(t, id)));
}

static unsigned longest_word(const char *text)
{
	unsigned longest = 0;

	for (unsigned n; *text; text += n) {
		n = (unsigned)strcspn(text, BREAKS);
		n += text[n] && text[n] != ' ';
		longest = (unsigned)sp_max(longest, n);
		n += text[n] == ' ';
	}
	return longest;
}

/* Breaks names between words, so that six columns are hardly wider than their values need. */
static unsigned column_width(const struct sp_table *t, uint32_t id, unsigned columns)
{
	unsigned wide = columns >= 3 ? 10 : columns == 2 ? 14 : 20;
	char text[256];
	unsigned bytes = (unsigned)strlen(heading(t, id, text)),
		 word = (unsigned)sp_min(longest_word(text), WIDEST),
		 width = (unsigned)sp_max(sp_max(sp_min(bytes, wide), word),
					  id < t->m->n_events ? 9 : 8);

	return id < t->m->n_events ? (unsigned)sp_max(width, sp_short_text(text, t->m, id,
									   t->m->sums.total[id]))
				   : width;
}

void sp_table_first(struct sp_table *t)
{
	t->next = 0;
	t->next_metric = t->m->n_events;
	t->lead_shown = false;
}

/* Advances *next to the next column with an id below `end`. */
static uint32_t find_column(const struct sp_table *t, uint32_t *next, uint32_t end)
{
	while (*next < end && !is_column(t, *next))
		(*next)++;
	return *next;
}

/* Returns the number of columns left with ids from `next` to below `end`. */
static unsigned columns_left(const struct sp_table *t, uint32_t next, uint32_t end)
{
	unsigned n = 0;

	for (; find_column(t, &next, end) < end; next++)
		n++;
	return n;
}

/* Takes the next column if it fits with `keep` columns to spare. */
static bool take_column(struct sp_table *t, uint32_t *next, uint32_t end, unsigned *used,
			unsigned columns, unsigned keep)
{
	uint32_t id = find_column(t, next, end);
	unsigned width, at = t->n_cols;

	if (id == end || at == SP_TEXT_EVENTS)
		return false;
	width = column_width(t, id, columns);
	if (at && *used + width + 2 + keep > t->line)
		return false;
	for (; at && t->col[at - 1] > id; at--) {	/* events precede metrics */
		t->col[at] = t->col[at - 1];
		t->width[at] = t->width[at - 1];
	}
	t->col[at] = id;
	t->width[at] = width;
	t->n_cols++;
	*used += width + 2;
	(*next)++;
	return true;
}

bool sp_table_columns(struct sp_table *t)
{
	uint32_t ne = t->m->n_events, end = ne + (t->s->metrics ? t->s->metrics->n : 0);
	unsigned used = LABEL_LEAST + SHARE, n = 0, most = t->most ? t->most : SP_TEXT_EVENTS;
	unsigned columns = columns_left(t, t->next, ne) + columns_left(t, t->next_metric, end);
	uint32_t metric = find_column(t, &t->next_metric, end);
	unsigned keep = metric < end ? column_width(t, metric, columns) + 2 : 0;

	t->n_cols = 0;
	t->share = SP_TEXT_EVENTS;
	if (metric < end && t->tail_title[0])	/* more useful than a further event */
		used += (unsigned)strlen(t->tail_title[0]) + 2;
	if (t->lead < ne && is_column(t, t->lead) &&
	    take_column(t, &(uint32_t){ t->lead }, t->lead + 1, &used, columns, keep)) {
		t->lead_shown = true;
		n++;
	}
	while (n < sp_min(most, EVENTS_FIRST) && take_column(t, &t->next, ne, &used, columns, keep))
		n++;
	while (take_column(t, &t->next_metric, end, &used, columns, 0))
		;
	while (n < most && take_column(t, &t->next, ne, &used, columns, 0))
		n++;
	for (unsigned i = 0; i < t->n_cols; i++)
		if (t->col[i] == t->lead)
			t->share = i;
	return t->n_cols != 0;
}

/* ---- writing ------------------------------------------------------------ */

static bool is_unproven(const struct sp_table *t, const int64_t *total, const int64_t *exact)
{
	for (uint32_t e = 0; e < t->m->n_events; e++)
		if (t->columns[e] && sp_event_has_column(t->m, e) &&
		    sp_is_unproven(sp_event_type(t->m, e), total[e], exact[e]) &&
		    sp_selection_event(t->s, e))
			return true;
	return false;
}

static bool any_row_unproven(struct sp_table *t)
{
	for (uint32_t i = 0; i < t->rows.n; i++) {
		take_sums(t, i);
		if (is_unproven(t, t->sums.total, t->sums.exact))
			return true;
	}
	return false;
}

static unsigned numbers_width(const struct sp_table *t)
{
	unsigned used = (t->share < t->n_cols ? SHARE + 2 : 0) + 2 * t->marks;

	for (unsigned i = 0; i < t->n_cols; i++)
		used += t->width[i] + 2;
	for (unsigned i = 0; i < SP_TEXT_TAILS; i++)
		used += t->tail_width[i] ? t->tail_width[i] + 2 : 0;
	return used;
}

static void head_line(struct sp_out *o, const struct sp_table *t, unsigned below)
{
	size_t gap = t->label_width + 2 * t->marks;
	char text[256];

	if (!below) {
		sp_left(o, t->title, t->label_width + 2 * t->marks);
		gap = 0;
	}
	for (unsigned i = 0; i < t->n_cols; i++) {
		unsigned width = t->width[i], n = 0,
			 own = heading_lines(heading(t, t->col[i], text), width);
		const char *at = "";

		if (own > below)
			heading_line(text, width, own - below - 1, &at, &n);
		while (n && at[n - 1] == ' ')
			n--;
		gap += 2 + width - n;
		if (n) {
			sp_out_repeat(o, ' ', gap);
			sp_out_bytes(o, at, n);
			gap = 0;
		}
		if (i == t->share && !below)
			sp_out_text(o, "   share");
		else if (i == t->share)
			gap += SHARE + 2;
	}
	for (unsigned i = 0; !below && i < SP_TEXT_TAILS; i++)
		if (t->tail_width[i])
			sp_right(o, t->tail_title[i], t->tail_width[i] + 2);
}

static void head(struct sp_out *o, const struct sp_table *t)
{
	unsigned lines = 1;
	char text[256];

	for (unsigned i = 0; i < t->n_cols; i++)
		lines = (unsigned)sp_max(lines,
					 heading_lines(heading(t, t->col[i], text), t->width[i]));
	while (lines--) {
		sp_heading_begin(o, t->s->bold);
		head_line(o, t, lines);
		sp_heading_end(o, t->s->bold);
	}
}

static void cell(const struct sp_table *t, uint32_t id, char buf[49])
{
	strcpy(buf, "-");
	if (id < t->m->n_events && t->sums.has[id])
		sp_short_text(buf, t->m, id, t->sums.total[id]);
	/* not for rows of several kinds of cores */
	else if (id >= t->m->n_events && !sp_kinds_several(t->sums.kinds))
		sp_metric_text(buf, metric(t, id));
}

/* Writes the row whose label and sums are loaded. */
static void line(struct sp_out *o, const struct sp_table *t, bool share)
{
	unsigned gap = 0;
	char buf[49];

	if (t->marks)
		sp_out_text(o, is_unproven(t, t->sums.total, t->sums.exact) ? "~ " : "  ");
	sp_left(o, t->label, t->label_width);
	compute_metrics(t);
	for (unsigned i = 0; i < t->n_cols; i++) {
		uint32_t id = t->col[i];
		enum sp_data_type type = sp_event_type(t->m, id);

		cell(t, id, buf);
		sp_right(o, buf, gap + 2 + t->width[i]);
		gap = i == t->share && !share ? SHARE + 2 : 0;
		if (i != t->share || !share)
			continue;
		sp_share(buf, sp_value_double(type, t->sums.total[id]),
			 t->sums.has[id] ? sp_value_double(type, t->m->sums.total[id]) : 0.0);
		sp_right(o, buf, SHARE + 2);
	}
	for (unsigned i = 0; i < SP_TEXT_TAILS; i++)
		if (t->tail_width[i] && *t->tail[i])
			sp_right(o, t->tail[i], t->tail_width[i] + 2);
	sp_out_char(o, '\n');
}

static void rest_label(struct sp_table *t, uint32_t n)
{
	clear(t);
	sp_text_f(t->label, sizeof(t->label), "… and %'u more %s", n, t->plural);
}

static unsigned room_for_label(const struct sp_table *t)
{
	return numbers_width(t) + 12 < t->line ? t->line - numbers_width(t) : 12;
}

/* On a wide terminal headings are in one line, as far as labels leave room. */
static void widen(struct sp_table *t)
{
	char text[256];

	for (unsigned i = 0; i < t->n_cols && t->s->columns > SP_TEXT_WIDTH; i++) {
		unsigned used = numbers_width(t) + t->label_width,
			 more = (unsigned)sp_max(strlen(heading(t, t->col[i], text)), t->width[i]) -
				t->width[i];

		if (used + more <= t->line)
			t->width[i] += more;
	}
}

/* Computes the widths of labels and tails. What does not fit is cut from the last tail on. */
static void measure(struct sp_table *t, uint32_t shown, unsigned spread)
{
	unsigned longest = (unsigned)sp_columns(t->title);

	for (unsigned k = 0; k < SP_TEXT_TAILS; k++)
		t->tail_width[k] = t->tail_title[k] ? (unsigned)strlen(t->tail_title[k]) : 0;
	t->room_for_label = room_for_label(t);
	for (uint32_t i = 0; i < shown + spread + 1; i++) {
		if (i < shown)
			take(t, i);
		else if (i < shown + spread)
			spread_label(t, i - shown);
		else if (shown < t->rows.n)
			rest_label(t, t->rows.n - shown);
		longest = (unsigned)sp_max(longest, sp_columns(t->label));
		for (unsigned k = 0; k < SP_TEXT_TAILS; k++)
			if (t->tail_title[k])
				t->tail_width[k] =
					(unsigned)sp_max(t->tail_width[k], sp_columns(t->tail[k]));
	}
	for (unsigned k = SP_TEXT_TAILS; k-- > 0;)
		if (numbers_width(t) + sp_min(longest, LABEL_LEAST - 4) > t->line)
			t->tail_width[k] = 0;
	t->label_width = (unsigned)sp_min(longest, room_for_label(t));
	widen(t);
}

/* Writes the sum of the rows from `from` on. */
static void rest(struct sp_out *o, struct sp_table *t, uint32_t from)
{
	memset(t->rest.total, 0, sums_bytes(t));
	t->rest.kinds = 0;
	for (uint32_t i = from; i < t->rows.n; i++) {
		take_sums(t, i);
		t->rest.kinds |= t->sums.kinds;
		t->sums = t->rest;
		for (uint32_t e = 0; e < t->m->n_events; e++)
			if (t->own.has[e])
				sp_table_sum(t, e, t->own.total[e], t->own.exact[e]);
		sp_table_metrics(t, t->own.metric);
		t->sums = t->own;
	}
	rest_label(t, t->rows.n - from);
	t->sums = t->rest;
	line(o, t, true);
	t->sums = t->own;
}

/* Explains the rows above that have several columns, once. */
static void explain_spread(struct sp_out *o, const struct sp_table *t, unsigned rows)
{
	bool names = names_spread(t), ratio = has_max_over_mean(t);
	char text[256];

	if (!rows || t->n_cols < 2 || !(names || ratio) || !t->s->explained ||
	    t->s->explained->spread)
		return;
	t->s->explained->spread = true;
	sp_out_f(o, "(min, mean, max: per column; %s%s%s: ", names ? t->title : "",
		 names && ratio ? ", " : "", ratio ? "max/mean" : "");
	sp_clip(o, heading(t, t->lead, text), 28);
	sp_out_text(o, ")\n");
}

static void show(struct sp_out *o, struct sp_table *t)
{
	uint32_t shown = t->all ? t->rows.n : (uint32_t)sp_min(t->rows.n, SP_TEXT_ROWS);
	unsigned spread = t->spread.rows < SPREAD_LEAST ? 0 : 3;

	if (!t->rows.n)
		return;
	if (!t->in_place)
		sp_sort(t->rows.order, t->rows.n, sorts_before, t);
	t->marks = any_row_unproven(t);
	measure(t, shown, spread);
	sp_out_text(o, t->first_line ? "" : "\n");
	t->first_line = false;
	head(o, t);
	end_spread(t);
	for (unsigned i = 0; i < spread; i++) {
		clear(t);
		spread_label(t, i);
		t->sums = t->spread.row[i];
		t->spread.line = (int)i;
		line(o, t, false);
		t->spread.line = -1;
		t->sums = t->own;
	}
	for (uint32_t i = 0; i < shown; i++) {
		take(t, i);
		line(o, t, true);
	}
	if (shown < t->rows.n) {
		rest(o, t, shown);
		sp_text_cut(t->s);
	}
	explain_spread(o, t, spread);
	/* The headline explains the mark only if it mentions unproven counts. */
	if (!t->marks || !t->s->explained || t->s->explained->mark ||
	    is_unproven(t, t->m->sums.total, t->m->sums.total_exact))
		return;
	t->s->explained->mark = true;
	sp_out_text(o, "(~: 0.1 % or more of the row is not proven)\n");
}

void sp_table_blocks(struct sp_out *o, struct sp_table *t)
{
	uint32_t ne = t->m->n_events, end = ne + (t->s->metrics ? t->s->metrics->n : 0);
	bool all = t->s->all || t->placed;
	unsigned left;

	sp_table_first(t);
	while (sp_table_columns(t)) {
		show(o, t);
		if (!all && t->most)
			break;
		if (!all)
			t->next = ne;
	}
	left = columns_left(t, t->next, ne) + columns_left(t, t->next_metric, end);
	if (left && t->rows.n)
		sp_text_cut(t->s);
	if (left && t->rows.n && t->further) {
		char option[32];

		sp_out_f(o, "+ %'u more column%s", left, SP_MANY(left));
		sp_text_shown_by(o, t->s, sp_text_f(option, sizeof(option), "per-%s", t->further));
		sp_out_char(o, '\n');
	}
}

/* ---- lists --------------------------------------------------------------- */

void sp_list_line(struct sp_text_list *l, const char *const *cell)
{
	bool bold = l->s->bold && !l->lines;

	if (!l->s->all && l->lines > SP_TEXT_ROWS) {	/* one line is the heading */
		l->left++;
		sp_text_cut(l->s);
		return;
	}
	l->lines++;
	if (l->o)
		sp_heading_begin(l->o, bold);
	for (unsigned i = 0; i < l->n; i++)
		if (!l->o)
			l->width[i] = (unsigned)sp_max(l->width[i], sp_columns(cell[i]));
		else if (i < 2)
			sp_out_text(l->o, i ? "  " : ""), sp_left(l->o, cell[i], l->width[i]);
		else
			sp_right(l->o, cell[i], l->width[i] + 2);
	if (l->o)
		sp_heading_end(l->o, bold);
}

void sp_list_show(struct sp_out *o, const struct sp_selection *s, unsigned columns, bool below,
		  const char *plural, void (*add_rows)(struct sp_text_list *l, void *arg),
		  void *arg)
{
	struct sp_text_list l = { .s = s, .n = columns };
	unsigned used = 0;

	add_rows(&l, arg);
	if (l.lines < 2)
		return;
	for (unsigned i = 1; i < l.n; i++)
		used += 2 + l.width[i];
	l.width[0] =
		(unsigned)sp_min(l.width[0], used + 16 < SP_TEXT_WIDTH ? SP_TEXT_WIDTH - used : 16);
	l.o = o;
	l.lines = l.left = 0;
	sp_out_text(o, below ? "\n" : "");
	add_rows(&l, arg);
	if (!l.left)
		return;
	sp_out_f(o, "… and %'u more %s", l.left, plural);
	sp_text_shown_by(o, s, "all");
	sp_out_char(o, '\n');
}
