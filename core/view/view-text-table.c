/* view-text-table.c: see view-text-table.h. */
#include "../sys.h"
#include "core-kinds.h"
#include "view-text-table.h"

#define LABEL_LEAST	22u		/* columns that are kept for labels */
#define SHARE		6u		/* "100 %", and a blank */
#define NAME_LINES	8u		/* of an event's name above its column */

/* ---- rows --------------------------------------------------------------- */

bool sp_table_open(struct sp_table *t, const struct sp_model *m, uint32_t room)
{
	uint64_t ne = m->n_events;
	char *p;

	t->m = m;
	t->n = t->next = 0;
	t->room = room;
	t->bytes = (uint64_t)room * sizeof(*t->heavy) + ne * 17 + 64;
	t->memory = sp_map(t->bytes);
	if (!t->memory)
		return false;
	t->heavy = t->memory;
	p = (char *)(t->heavy + room);
	t->sums = (struct sp_text_sums){ .total = (int64_t *)p, .exact = (int64_t *)p + ne, .has = (bool *)(p + 16 * ne) };
	return true;
}

void sp_table_close(struct sp_table *t)
{
	if (t->memory)
		sp_unmap(t->memory, t->bytes);
	t->memory = NULL;
}

void sp_table_clear(struct sp_table *t)
{
	memset(t->sums.total, 0, t->m->n_events * 17ull);
	t->sums.readings = t->sums.kinds = 0;
	t->sums.machine = -1;
}

void sp_table_add(struct sp_table *t, uint64_t at, double weight)
{
	if (t->n < t->room)
		t->heavy[t->n++] = (struct sp_heavy){ weight, at };
}

double sp_table_weight(const struct sp_table *t)
{
	uint32_t e = sp_first_column(t->m);

	return e < t->m->n_events ? sp_number(sp_event_type(t->m, e), t->sums.total[e]) : (double)t->sums.readings;
}

/* Those of one weight as they were added. */
static bool comes_before(const struct sp_heavy *a, const struct sp_heavy *b)
{
	return a->weight > b->weight || (!(a->weight < b->weight) && a->at < b->at);
}

static void sift(struct sp_heavy *h, uint32_t i, uint32_t n)
{
	for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
		struct sp_heavy up = h[i];

		child += child + 1 < n && comes_before(&h[child], &h[child + 1]);
		if (!comes_before(&up, &h[child]))
			return;
		h[i] = h[child];
		h[child] = up;
	}
}

/* By hand, since qsort(3) calls malloc. */
static void sort(struct sp_heavy *h, uint32_t n)
{
	for (uint32_t i = n / 2; i-- > 0;)
		sift(h, i, n);
	for (; n > 1; n--) {
		struct sp_heavy last = h[n - 1];

		h[n - 1] = h[0];
		h[0] = last;
		sift(h, 0, n - 1);
	}
}

/* ---- columns ------------------------------------------------------------ */

static const struct sp_metric *metric(const struct sp_model *m, uint32_t id)
{
	return id >= m->n_events ? &sp_view_metrics->at[id - m->n_events] : NULL;
}

/* Its name as a heading, with its unit: ASCII, so that columns are bytes. */
static const char *heading(const struct sp_model *m, uint32_t id, char text[256])
{
	struct sp_out o;

	if (id < m->n_events) {
		sp_text_event(m, id, text);
	} else {
		sp_memory_init(&o, text, 200);
		sp_out_plain(&o, metric(m, id)->name);
		sp_memory_text(&o);
	}
	for (char *p = text; *p; p++)
		if (*p & 0x80)
			*p = '?';
	return text;
}

/* Line number `line` of a heading that is broken to this width; false: it has fewer. */
static bool heading_line(const char *text, unsigned width, unsigned line, const char **at, unsigned *n)
{
	for (;; line--) {
		size_t bytes = strlen(text), cut = bytes;

		if (!bytes)
			return false;
		if (bytes > width) {
			cut = width;
			while (cut > width / 3 && !strchr(":_.-= ", text[cut - 1]))
				cut--;
			if (cut <= width / 3)
				cut = width;
		}
		if (!line) {
			*at = text;
			*n = (unsigned)cut;
			return true;
		}
		text += cut;
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

static bool is_column(const struct sp_model *m, uint32_t id)
{
	return id < m->n_events ? sp_event_has_column(m, id) : metric(m, id)->shown;
}

static uint32_t columns_end(const struct sp_model *m)
{
	return m->n_events + (sp_view_metrics ? sp_view_metrics->n : 0);
}

/* Names are broken so that six columns are no wider than values need. */
static unsigned column_width(const struct sp_model *m, uint32_t id, unsigned columns)
{
	unsigned wide = columns >= 3 ? 10 : columns == 2 ? 14 : 20;
	char text[256];
	unsigned width = (unsigned)sp_max(sp_min(strlen(heading(m, id, text)), wide), id < m->n_events ? 9 : 6);

	return id < m->n_events ? (unsigned)sp_max(width, sp_short_text(text, m, id, m->total[id])) : width;
}

bool sp_table_columns(struct sp_table *t)
{
	unsigned used = LABEL_LEAST + SHARE, columns = 0;
	uint32_t end = columns_end(t->m);

	t->n_cols = 0;
	t->share = SP_TEXT_EVENTS;
	for (uint32_t id = t->next; id < end; id++)
		columns += is_column(t->m, id);
	for (; t->next < end && t->n_cols < (t->most ? t->most : SP_TEXT_EVENTS); t->next++) {
		unsigned width;

		if (!is_column(t->m, t->next))
			continue;
		width = column_width(t->m, t->next, columns);
		used += width + 2;
		if (t->n_cols && used > SP_TEXT_WIDTH)
			break;
		if (t->next == sp_first_column(t->m))
			t->share = t->n_cols;
		t->width[t->n_cols] = width;
		t->col[t->n_cols++] = t->next;
	}
	return t->n_cols != 0;
}

/* ---- writing ------------------------------------------------------------ */

bool sp_text_unproven(const struct sp_model *m)
{
	for (uint32_t e = 0; e < m->n_events; e++)
		if (sp_event_has_column(m, e) && m->total[e] != m->total_exact[e])
			return true;
	return false;
}

static bool is_unproven(const struct sp_table *t)
{
	for (uint32_t e = 0; e < t->m->n_events; e++)
		if (t->sums.has[e] && sp_event_has_column(t->m, e) && t->sums.total[e] != t->sums.exact[e])
			return true;
	return false;
}

static unsigned numbers_width(const struct sp_table *t)
{
	unsigned used = t->share < t->n_cols ? SHARE + 2 : 0;

	for (unsigned i = 0; i < t->n_cols; i++)
		used += t->width[i] + 2;
	for (unsigned i = 0; i < SP_TEXT_TAILS; i++)
		used += t->tail_width[i] ? t->tail_width[i] + 2 : 0;
	return used;
}

static void head(struct sp_out *o, const struct sp_table *t)
{
	unsigned lines = 1;
	char text[256];

	for (unsigned i = 0; i < t->n_cols; i++)
		lines = (unsigned)sp_max(lines, heading_lines(heading(t->m, t->col[i], text), t->width[i]));
	for (unsigned line = 0; line < lines; line++) {
		bool last = line + 1 == lines;
		size_t gap = t->label_width + 2 * t->marks;

		sp_heading_begin(o);
		if (last) {
			sp_left(o, t->title, t->label_width + 2 * t->marks);
			gap = 0;
		}
		for (unsigned i = 0; i < t->n_cols; i++) {
			unsigned width = t->width[i], n = 0, own;
			const char *at = "";

			own = heading_lines(heading(t->m, t->col[i], text), width);
			if (line + own >= lines)
				heading_line(text, width, line + own - lines, &at, &n);
			while (n && at[n - 1] == ' ')
				n--;
			gap += 2 + width - n;
			if (n) {
				sp_out_repeat(o, ' ', gap);
				sp_out_bytes(o, at, n);
				gap = 0;
			}
			if (i == t->share && last)
				sp_out_text(o, "   share");
			else if (i == t->share)
				gap += SHARE + 2;
		}
		for (unsigned i = 0; last && i < SP_TEXT_TAILS; i++)
			if (t->tail_width[i])
				sp_out_text(o, "  "), sp_right(o, t->tail_title[i], t->tail_width[i]);
		sp_heading_end(o);
	}
}

static void cell(const struct sp_table *t, uint32_t id, char buf[49])
{
	strcpy(buf, "-");
	if (id < t->m->n_events && t->sums.has[id]) {
		sp_short_text(buf, t->m, id, t->sums.total[id]);
	} else if (id >= t->m->n_events) {
		sp_metric_text(buf, metric(t->m, id));
		if (sp_kinds_several(t->sums.kinds) && metric(t->m, id)->has_value)
			strcpy(buf, "-");	/* of unlike cores */
	}
}

/* The row that label and sums are of. */
static void line(struct sp_out *o, const struct sp_table *t, bool share)
{
	unsigned gap = 0;
	char buf[49];

	if (t->marks)
		sp_out_text(o, is_unproven(t) ? "~ " : "  ");
	sp_left(o, t->label, t->label_width);
	if (sp_view_metrics)
		sp_metrics_compute(sp_view_metrics, t->sums.total, t->sums.has, t->sums.machine);
	for (unsigned i = 0; i < t->n_cols; i++) {
		uint32_t id = t->col[i];
		enum sp_data_type type = sp_event_type(t->m, id);

		cell(t, id, buf);
		sp_right(o, buf, gap + 2 + t->width[i]);
		gap = i == t->share && !share ? SHARE + 2 : 0;
		if (i != t->share || !share)
			continue;
		sp_share(buf, sp_number(type, t->sums.total[id]), t->sums.has[id] ? sp_number(type, t->m->total[id]) : 0.0);
		sp_right(o, buf, SHARE + 2);
	}
	for (unsigned i = 0; i < SP_TEXT_TAILS; i++)
		if (t->tail_width[i] && *t->tail[i])
			sp_right(o, t->tail[i], t->tail_width[i] + 2);
	sp_out_char(o, '\n');
}

static void take(struct sp_table *t, uint32_t i)
{
	sp_table_clear(t);
	t->label[0] = t->tail[0][0] = t->tail[1][0] = 0;
	t->row(t, t->heavy[i].at);
}

static void rest_label(struct sp_table *t, uint32_t n)
{
	struct sp_out label;

	sp_memory_init(&label, t->label, sizeof(t->label));
	sp_out_text(&label, "… and ");
	sp_out_grouped(&label, n);
	sp_out_text(&label, " more ");
	sp_out_text(&label, t->things);
	sp_memory_text(&label);
}

/* How wide labels and tails are: what does not fit goes from the last tail on. */
static void measure(struct sp_table *t, uint32_t shown)
{
	unsigned longest = (unsigned)sp_columns(t->title), left;

	t->marks = sp_text_unproven(t->m);
	for (unsigned k = 0; k < SP_TEXT_TAILS; k++)
		t->tail_width[k] = t->tail_title[k] ? (unsigned)strlen(t->tail_title[k]) : 0;
	left = numbers_width(t) + 2 * t->marks;
	t->room_for_label = left + 12 < SP_TEXT_WIDTH ? SP_TEXT_WIDTH - left : 12;
	for (uint32_t i = 0; i < shown; i++) {
		take(t, i);
		longest = (unsigned)sp_max(longest, sp_columns(t->label));
		for (unsigned k = 0; k < SP_TEXT_TAILS; k++)
			if (t->tail_title[k])
				t->tail_width[k] = (unsigned)sp_max(t->tail_width[k], sp_columns(t->tail[k]));
	}
	for (unsigned i = 0; i < t->n_spread; i++)
		longest = (unsigned)sp_max(longest, sp_columns(t->spread_label[i]));
	if (shown < t->n) {
		rest_label(t, t->n - shown);
		longest = (unsigned)sp_max(longest, sp_columns(t->label));
	}
	for (unsigned k = SP_TEXT_TAILS; k-- > 0;)
		if (numbers_width(t) + 2 * t->marks + sp_min(longest, LABEL_LEAST - 4) > SP_TEXT_WIDTH)
			t->tail_width[k] = 0;
	left = numbers_width(t) + 2 * t->marks;
	left = left + 12 < SP_TEXT_WIDTH ? SP_TEXT_WIDTH - left : 12;
	t->label_width = (unsigned)sp_min(longest, left);
}

/* The sum of the rows from `from` on. */
static void rest(struct sp_out *o, struct sp_table *t, uint32_t from)
{
	struct sp_text_sums own = t->sums, all = own;
	uint64_t ne = t->m->n_events, bytes = ne * 17 + 64;
	char *p = sp_map(bytes);

	if (!p)
		return;
	all = (struct sp_text_sums){ .total = (int64_t *)p, .exact = (int64_t *)p + ne, .has = (bool *)(p + 16 * ne) };
	for (uint32_t i = from; i < t->n; i++) {
		take(t, i);
		own = t->sums;
		t->sums = all;
		for (uint32_t e = 0; e < ne; e++)
			if (own.has[e])
				sp_table_sum(t, e, own.total[e], own.exact[e]);
		all.kinds |= own.kinds;
		t->sums = own;
	}
	rest_label(t, t->n - from);
	t->tail[0][0] = t->tail[1][0] = 0;
	t->sums = all;
	line(o, t, true);
	t->sums = own;
	sp_unmap(p, bytes);
}

static void show(struct sp_out *o, struct sp_table *t)
{
	uint32_t shown = sp_view_all ? t->n : (uint32_t)sp_min(t->n, SP_TEXT_ROWS);

	if (!t->n)
		return;
	if (!t->in_place)
		sort(t->heavy, t->n);
	measure(t, shown);
	sp_out_char(o, '\n');
	head(o, t);
	for (unsigned i = 0; i < t->n_spread; i++) {
		struct sp_text_sums own = t->sums;

		t->sums = t->spread[i];
		strcpy(t->label, t->spread_label[i]);
		t->tail[0][0] = t->tail[1][0] = 0;
		line(o, t, false);
		t->sums = own;
	}
	for (uint32_t i = 0; i < shown; i++) {
		take(t, i);
		line(o, t, true);
	}
	if (shown < t->n)
		rest(o, t, shown);
}

void sp_table_blocks(struct sp_out *o, struct sp_table *t)
{
	t->next = 0;
	while (sp_table_columns(t)) {
		show(o, t);
		if (!sp_view_all && t->most)
			break;
		if (!sp_view_all)
			t->next = (uint32_t)sp_max(t->next, t->m->n_events);
	}
}

/* ---- lists --------------------------------------------------------------- */

void sp_list_line(struct sp_text_list *l, const char *const *cell)
{
	bool head = l->o && !l->lines;

	if (!sp_view_all && l->lines > SP_TEXT_ROWS) {	/* the heading is one */
		l->left++;
		return;
	}
	if (head)
		sp_heading_begin(l->o);
	l->lines++;
	for (unsigned i = 0; i < l->n; i++) {
		if (!l->o)
			l->width[i] = (unsigned)sp_max(l->width[i], sp_columns(cell[i]));
		else if (i < 2)
			sp_out_text(l->o, i ? "  " : ""), sp_left(l->o, cell[i], l->width[i]);
		else
			sp_out_text(l->o, "  "), sp_right(l->o, cell[i], l->width[i]);
	}
	if (head)
		sp_heading_end(l->o);
	else if (l->o)
		sp_out_char(l->o, '\n');
}

void sp_list_fit(struct sp_text_list *l, const struct sp_text_list *measured)
{
	unsigned used = 0;

	memcpy(l->width, measured->width, sizeof(l->width));
	for (unsigned i = 1; i < l->n; i++)
		used += 2 + l->width[i];
	l->width[0] = (unsigned)sp_min(l->width[0], used + 16 < SP_TEXT_WIDTH ? SP_TEXT_WIDTH - used : 16);
	sp_out_char(l->o, '\n');
}

void sp_list_end(struct sp_text_list *l, const char *things)
{
	if (!l->o || !l->left)
		return;
	sp_out_text(l->o, "… and ");
	sp_out_grouped(l->o, l->left);
	sp_out_text(l->o, " more ");
	sp_out_text(l->o, things);
	sp_out_char(l->o, '\n');
}
