/* view-text-table.c: the text view's tables: the component tree, and relations
 * by CPU.
 *
 * Derived metrics are columns behind those of the events, with ids from n_events on.
 *
 * Tables have up to six events, and fewer where numbers are long.  There is no
 * memory for widths, so that each table is walked twice: to measure, to write.
 */
#include "core-kinds.h"
#include "view-metrics.h"
#include "view-text.h"

#define TABLE_EVENTS	6u
#define NAME_LINES	8u	/* of an event's name above its column */
#define TREE_LABEL	40u	/* columns that are kept for components */
#define PROVEN		8u	/* columns of "  proven" */
#define DEPTHS		32u
#define RELATION_METRICS 256u		/* most events of a relation that shows metrics */
#define METRIC		9u	/* columns of most metrics' values */
#define ALL_OF_THEM	(-2)	/* in place of a component */
#define PAIRS_SHOWN	24u	/* of call sites, of a relation */
#define DETAILS		5u	/* see chain_label() */

/* ---- tables ------------------------------------------------------------ */

struct column {
	uint32_t id;			/* of the event; n_events + i: metric number i */
	uint32_t index;			/* of its values in a row */
	unsigned width;
	int64_t sum, exact;		/* over the CPUs of a relation */
};

struct table {
	const struct sp_model *m;
	struct column col[TABLE_EVENTS];
	unsigned n;
	unsigned label;			/* columns of what the rows are called */
	unsigned readings;		/* columns of the number of readings; 0: not shown */
	bool proven;			/* a column for what is proven */
	unsigned detail;
	double part, whole;		/* proven shares of the row at hand, and how many */
};

static struct sp_metric *metric_of(const struct sp_model *m, uint32_t id)
{
	return id >= m->n_events ? &sp_view_metrics->at[id - m->n_events] : NULL;
}

/* Behind the last column that there may be. */
static uint32_t columns_end(const struct sp_model *m)
{
	return m->n_events + (sp_view_metrics ? sp_view_metrics->n : 0);
}

/* Has the event a column in the tree? */
static bool in_tree(const struct sp_model *m, uint32_t event)
{
	struct sp_shown g;

	if (!sp_event_is_gauge(m, event))
		return sp_event_is_summed(m, event);
	for (int32_t c = -1; c < (int32_t)m->n_components; c++)
		if (sp_gauge_at(m, c, event, &g))
			return true;
	return false;
}

/* Has the tree a column for it? */
static bool is_column(const struct sp_model *m, uint32_t id)
{
	return id < m->n_events ? in_tree(m, id) : metric_of(m, id)->shown;
}

/* Its name as a heading, with its unit: ASCII, so that columns are bytes. */
static const char *heading(const struct sp_model *m, uint32_t id, char text[256])
{
	const char *units = SP_EVENT_TEXT(m, id, units);
	const struct sp_metric *metric = metric_of(m, id);
	char name[32];
	struct sp_out o;

	sp_memory_init(&o, text, 200);
	sp_out_plain(&o, metric ? metric->name : sp_event_name(m, id, name));
	o.error = 0;
	o.size = 255;
	if (*units && strlen(units) < 16) {
		sp_out_text(&o, " [");
		sp_out_plain(&o, units);
		sp_out_char(&o, ']');
	}
	if (sp_event_is_gauge(m, id))
		sp_out_text(&o, sp_event_type(m, id) == SP_BIT64 ? " (last)" : " (mean)");
	sp_memory_text(&o);
	for (char *p = text; *p; p++) {
		if (*p & 0x80)
			*p = '?';
	}
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
			while (cut > width / 2 && !strchr(":_.-= ", text[cut - 1]))
				cut--;
			if (cut <= width / 2)
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

/* How wide a name may make its column when `events` are still to be shown. */
static unsigned name_width(unsigned events)
{
	return events >= 6 ? 16 : events == 5 ? 20 : events == 4 ? 24 : events == 3 ? 28 : 40;
}

/* Adds a column if it fits; `values` is how wide its values are. */
static bool add_column(struct table *t, uint32_t id, uint32_t index, unsigned values, unsigned events)
{
	unsigned used = t->label + (t->readings ? t->readings + 2 : 0) + (t->proven ? PROVEN : 0);
	char text[256];
	unsigned width = (unsigned)sp_min(strlen(heading(t->m, id, text)), name_width(events));

	width = (unsigned)sp_max(sp_max(width, values), 6);
	for (unsigned i = 0; i < t->n; i++)
		used += t->col[i].width + 2;
	if (t->n == TABLE_EVENTS || (t->n && used + width + 2 > SP_WIDTH))
		return false;
	t->col[t->n++] = (struct column){ .id = id, .index = index, .width = width };
	return true;
}

static void head_of_table(struct sp_out *o, const struct table *t, const char *label)
{
	unsigned lines = 1;
	char text[256];

	for (unsigned i = 0; i < t->n; i++) {
		heading(t->m, t->col[i].id, text);
		lines = (unsigned)sp_max(lines, heading_lines(text, t->col[i].width));
	}
	for (unsigned line = 0; line < lines; line++) {
		bool last = line + 1 == lines;
		size_t gap = t->label + (t->readings ? t->readings + 2 : 0);

		if (last) {
			sp_left(o, label, t->label);
			gap = 0;
		}
		if (last && t->readings) {
			sp_out_text(o, "  ");
			sp_right(o, "readings", t->readings);
		}
		for (unsigned i = 0; i < t->n; i++) {
			unsigned width = t->col[i].width, n = 0, own;
			const char *at = "";

			own = heading_lines(heading(t->m, t->col[i].id, text), width);
			if (line + own >= lines)
				heading_line(text, width, line + own - lines, &at, &n);
			while (n && at[n - 1] == ' ')
				n--;
			gap += 2 + width - n;
			if (!n)
				continue;
			sp_out_repeat(o, ' ', gap);
			sp_out_bytes(o, at, n);
			gap = 0;
		}
		sp_out_text(o, t->proven && last ? "  proven\n" : "\n");
	}
}

static void begin_row(struct sp_out *o, struct table *t, const char *label, uint64_t readings)
{
	char buf[32];

	sp_left(o, label, t->label);
	if (t->readings) {
		sp_format_grouped(buf, (int64_t)sp_min(readings, INT64_MAX));
		sp_out_text(o, "  ");
		sp_right(o, buf, t->readings);
	}
	t->part = t->whole = 0.0;
}

static void cell(struct sp_out *o, struct table *t, unsigned i, int64_t total, int64_t exact)
{
	enum sp_data_type type = sp_event_type(t->m, t->col[i].id);
	double share;
	char buf[48];

	sp_value_text(buf, type, total);
	sp_out_text(o, "  ");
	sp_right(o, buf, t->col[i].width);
	share = sp_event_is_placed(t->m, t->col[i].id) ? -1.0 : sp_proven_share(type, total, exact);
	if (share >= 0.0) {
		t->part += share;
		t->whole += 1.0;
	}
}

/* mixed: of the sum of several kinds of cores. */
static void metric_cell(struct sp_out *o, const struct table *t, unsigned i, bool mixed)
{
	const struct sp_metric *metric = metric_of(t->m, t->col[i].id);
	char buf[49];

	sp_metric_text(buf, metric);
	if (mixed && metric->has_value)
		strcat(buf, "*");
	sp_out_text(o, "  ");
	sp_right(o, buf, t->col[i].width);
}

static void text_cell(struct sp_out *o, const struct table *t, unsigned i, const char *text)
{
	sp_out_text(o, "  ");
	sp_right(o, text, t->col[i].width);
}

/* A gauge's mean; of bits, which have none, the last. */
static const char *gauge_text(const struct sp_model *m, const struct sp_shown *g, char buf[48])
{
	enum sp_data_type type = sp_event_type(m, g->event);
	int64_t mean;

	memcpy(&mean, &g->mean, sizeof(mean));
	sp_value_text(buf, type == SP_BIT64 ? type : SP_FP64, type == SP_BIT64 ? g->last : mean);
	return buf;
}

/* What component c has of a gauge (-1: no component), or of a sum that is not known there: "-". */
static bool odd_cell(struct sp_out *o, const struct table *t, unsigned i, int32_t c, int64_t sum)
{
	uint32_t e = t->col[i].id;
	struct sp_shown g;
	char buf[48];

	if (sp_event_is_gauge(t->m, e))
		text_cell(o, t, i, sp_gauge_at(t->m, c, e, &g) ? gauge_text(t->m, &g, buf) : "-");
	else if (sp_event_is_placed(t->m, e) && !sum)
		text_cell(o, t, i, "-");
	else
		return false;
	return true;
}

static void end_row(struct sp_out *o, struct table *t)
{
	char buf[48];

	if (t->proven)
		sp_right(o, sp_percent(buf, t->part, t->whole), PROVEN);
	sp_out_char(o, '\n');
}

/* ---- the component tree ------------------------------------------------ */

/* Components that lstopo would print on one line, each the only child of the
 * one before.  Ours must have the same counts, too. */
struct chain {
	uint32_t first, last;
	unsigned indent;
	uint8_t indent_at[DEPTHS];	/* by depth, of the walk so far */
	uint32_t next;
};

static bool same_gauges(const struct sp_model *m, uint32_t c, uint32_t other)
{
	struct sp_shown g;

	for (uint32_t e = 0; e < m->n_events; e++)
		if (sp_gauge_at(m, (int32_t)c, e, &g) || sp_gauge_at(m, (int32_t)other, e, &g))
			return false;
	return true;
}

static bool only_child(const struct sp_model *m, uint32_t c)
{
	uint64_t bytes = (uint64_t)m->n_events * sizeof(*m->sum);

	if (c + 1 >= m->n_components || sp_parent(m, c + 1) != (int32_t)c ||
	    (m->component[c + 1].flags & SP_COMPONENT_MEMORY) || m->counted[c] != m->counted[c + 1])
		return false;
	for (uint32_t i = c + 2; i < m->n_components && sp_parent(m, i) >= (int32_t)c; i++) {
		if (sp_parent(m, i) == (int32_t)c)
			return false;
	}
	return !memcmp(m->sum + (uint64_t)c * m->n_events, m->sum + (uint64_t)(c + 1) * m->n_events, bytes) &&
	       same_gauges(m, c, c + 1);
}

/* The next line of the tree; the struct is zero before the first. */
static bool next_chain(const struct sp_model *m, struct chain *w)
{
	while (w->next < m->n_components) {
		uint32_t c = w->next;
		unsigned depth = (unsigned)sp_min(m->component[c].depth, DEPTHS - 1);

		w->indent = depth ? w->indent_at[depth - 1] + 1u : 0;
		w->first = w->last = c;
		w->indent_at[depth] = (uint8_t)w->indent;
		while (only_child(m, w->last)) {
			w->last++;
			depth = (unsigned)sp_min(m->component[w->last].depth, DEPTHS - 1);
			w->indent_at[depth] = (uint8_t)w->indent;
		}
		w->next = w->last + 1;
		if (m->counted[c])
			return true;
	}
	return false;
}

/* As lstopo rounds. */
static void size(struct sp_out *o, uint64_t bytes)
{
	if (bytes < 10ull << 20) {
		sp_out_u64(o, (bytes + 512) >> 10);
		sp_out_text(o, "KB");
	} else if (bytes < 10ull << 30) {
		sp_out_u64(o, (bytes + (1 << 19)) >> 20);
		sp_out_text(o, "MB");
	} else {
		sp_out_u64(o, (bytes + (1 << 29)) >> 30);
		sp_out_text(o, "GB");
	}
}

/* "L2 L#0 (1024KB)", "PU L#0 (P#0)" */
static void element(struct sp_out *o, const struct sp_model *m, uint32_t index, bool sizes)
{
	const struct sp_component *c = &m->component[index];
	bool machine = sp_component_is(c, "Machine"), job = sp_component_is(c, "Job");
	bool number = c->os_index >= 0 && (sp_component_is(c, "PU") || sp_component_is(c, "NUMANode"));
	bool bytes = c->size && sizes;
	int32_t kind = sp_component_is(c, "Core") ? sp_kind_of(m, (int32_t)index) : -1;
	char type[sizeof(c->type) + 1];

	sp_out_plain(o, sp_fixed_text(type, c->type, sizeof(c->type)));
	if (!machine && !job) {
		sp_out_text(o, " L#");
		sp_out_i64(o, c->logical_index);
	} else if (machine && m->n_machines > 1) {
		char name[sizeof(c->name) + 1];

		sp_out_char(o, ' ');
		sp_out_plain(o, sp_fixed_text(name, c->name, sizeof(c->name)));
	}
	if (!number && !bytes && kind < 0)
		return;
	sp_out_text(o, " (");
	if (number) {
		sp_out_text(o, "P#");
		sp_out_i64(o, c->os_index);
	}
	if (bytes) {
		sp_out_text(o, number ? " " : "");
		size(o, c->size);
		sp_out_text(o, machine ? " total" : "");
	}
	if (kind >= 0) {
		sp_out_text(o, number || bytes ? " " : "");
		sp_out_plain(o, m->kind[kind].name);
	}
	sp_out_char(o, ')');
}

/* Detail 0: all; 1: chains without sizes; 2: of them only the ends and the core;
 * 3: the core and the end; 4: the end, and cut where it must be. */
static const char *chain_label(const struct sp_model *m, const struct chain *w, unsigned detail,
			       char text[400])
{
	struct sp_out o;
	bool any = false;

	sp_memory_init(&o, text, 400);
	sp_out_repeat(&o, ' ', 2 * sp_min(w->indent, DEPTHS));
	for (uint32_t c = w->first; c <= w->last; c++) {
		bool core = detail < 4 && sp_component_is(&m->component[c], "Core");

		if (detail >= 2 && c != w->last && !core && (detail >= 3 || c != w->first))
			continue;
		if (any)
			sp_out_text(&o, " + ");
		any = true;
		element(&o, m, c, detail == 0 || w->first == w->last);
	}
	return sp_memory_text(&o);
}

static unsigned longest_label(const struct sp_model *m, unsigned detail)
{
	struct chain w = { 0 };
	unsigned longest = 22;		/* "not on a known CPU", "component" */
	char text[600];

	while (next_chain(m, &w))
		longest = (unsigned)sp_max(longest, sp_columns(chain_label(m, &w, detail, text)));
	return longest;
}

static unsigned widest_gauge(const struct sp_model *m, uint32_t event)
{
	unsigned widest = 1;
	struct sp_shown g;
	char buf[48];

	for (int32_t c = -1; c < (int32_t)m->n_components; c++)
		if (sp_gauge_at(m, c, event, &g))
			widest = (unsigned)sp_max(widest, strlen(gauge_text(m, &g, buf)));
	return widest;
}

static unsigned widest_sum(const struct sp_model *m, uint32_t event)
{
	enum sp_data_type type = sp_event_type(m, event);
	char buf[48];
	unsigned widest;

	if (metric_of(m, event))
		return METRIC;
	if (sp_event_is_gauge(m, event))
		return widest_gauge(m, event);
	widest = sp_value_text(buf, type, m->total[event]);
	widest = (unsigned)sp_max(widest, sp_value_text(buf, type, m->unplaced[event]));
	for (uint32_t c = 0; c < m->n_components; c++) {
		if (m->counted[c])
			widest = (unsigned)sp_max(widest, sp_value_text(buf, type, sp_sum(m, c, event)));
	}
	return widest;
}

static unsigned tree_events(const struct sp_model *m, uint32_t from)
{
	unsigned n = 0;

	for (uint32_t e = from; e < columns_end(m); e++)
		n += is_column(m, e);
	return n;
}

/* Fills the table with the events from *event on, and moves *event behind them. */
static void fill_tree(struct table *t, uint32_t *event)
{
	unsigned events = tree_events(t->m, *event), used, longest = 0;

	t->n = 0;
	t->label = TREE_LABEL;
	for (; *event < columns_end(t->m); ++*event) {
		if (is_column(t->m, *event) &&
		    !add_column(t, *event, *event, widest_sum(t->m, *event), events))
			break;
	}
	used = t->proven ? PROVEN : 0;
	for (unsigned i = 0; i < t->n; i++)
		used += t->col[i].width + 2;
	for (t->detail = 0;; t->detail++) {
		longest = longest_label(t->m, t->detail);
		if (longest + used <= SP_WIDTH || t->detail + 1 == DETAILS)
			break;
	}
	t->label = (unsigned)sp_min(longest, SP_WIDTH - used);
}

/* The kinds of cores that the row of component c has counts of. */
static uint32_t kinds_at(const struct sp_model *m, int32_t c)
{
	return c >= 0 ? sp_kinds_below(m, (uint32_t)c) : c == ALL_OF_THEM && m->n_components ? sp_kinds_below(m, 0) : 0;
}

/* The cells of a row: sums by event id; exact NULL: what is proven is not known. */
static void tree_cells(struct sp_out *o, struct table *t, int32_t c, const int64_t *sum, const int64_t *exact)
{
	if (sp_view_metrics)
		sp_metrics_compute(sp_view_metrics, sum, NULL);
	for (unsigned i = 0; i < t->n; i++) {
		uint32_t id = t->col[i].id;

		if (metric_of(t->m, id))
			metric_cell(o, t, i, sp_kinds_several(kinds_at(t->m, c)));
		else if (c == ALL_OF_THEM && sp_event_is_gauge(t->m, id))
			text_cell(o, t, i, "-");
		else if (!odd_cell(o, t, i, c, sum[id]))
			cell(o, t, i, sum[id], exact ? exact[id] : 0);
	}
	if (exact)
		end_row(o, t);
	else
		sp_out_char(o, '\n');
}

static void outside_rows(struct sp_out *o, struct table *t)
{
	bool outside = false;
	struct sp_shown g;

	for (uint32_t e = 0; e < t->m->n_events; e++)
		outside = outside || (sp_event_is_summed(t->m, e) && t->m->unplaced[e]) || sp_gauge_at(t->m, -1, e, &g);
	if (!outside)
		return;
	begin_row(o, t, "not on a known CPU", 0);
	tree_cells(o, t, -1, t->m->unplaced, NULL);
	begin_row(o, t, "all", 0);
	tree_cells(o, t, ALL_OF_THEM, t->m->total, t->m->total_exact);
}

void sp_text_tree(struct sp_out *o, const struct sp_model *m, bool proven)
{
	struct table t = { .m = m, .proven = proven };
	uint32_t event = 0;

	while (tree_events(m, event)) {
		struct chain w = { 0 };
		char text[600];

		fill_tree(&t, &event);
		sp_out_char(o, '\n');
		head_of_table(o, &t, "component");
		while (next_chain(m, &w)) {
			begin_row(o, &t, chain_label(m, &w, t.detail, text), 0);
			tree_cells(o, &t, (int32_t)w.first, m->sum + (uint64_t)w.first * m->n_events,
				   m->exact + (uint64_t)w.first * m->n_events);
		}
		outside_rows(o, &t);
	}
	if (event && sp_view_metrics && sp_kinds_several(kinds_at(m, ALL_OF_THEM)))
		sp_paragraph(o, "", 0, "(* of cores of several kinds together; below by kind)");
}

/* ---- relations --------------------------------------------------------- */

static const char *kind_label(const struct sp_model *m, int32_t kind, char text[48])
{
	struct sp_out o;

	sp_memory_init(&o, text, 48);
	sp_out_text(&o, "  on ");
	sp_text_kinds(&o, m, 1u << kind);
	return sp_memory_text(&o);
}

/* "CPU 4 (Core L#2, P)" */
static const char *cpu_label(const struct sp_model *m, const struct sp_at_cpu *at, char text[96])
{
	int32_t core = at->component >= 0 ? sp_model_above(m, at->component, "Core") : -1;
	struct sp_out o;

	sp_memory_init(&o, text, 96);
	if (at->cpu < 0) {
		sp_out_text(&o, "  not on a known CPU");
		return sp_memory_text(&o);
	}
	sp_out_text(&o, "  CPU ");
	sp_out_i64(&o, at->cpu);
	if (at->component < 0) {
		sp_out_text(&o, " (not in the topology)");
	} else if (core >= 0 && (uint32_t)core < m->n_components) {
		sp_out_text(&o, " (Core L#");
		sp_out_i64(&o, m->component[core].logical_index);
		if (sp_kind_of(m, core) >= 0) {
			sp_out_text(&o, ", ");
			sp_out_plain(&o, m->kind[sp_kind_of(m, core)].name);
		}
		sp_out_char(&o, ')');
	}
	return sp_memory_text(&o);
}

/* ---- by call site ------------------------------------------------------- */

static const char *pair_label(const struct sp_model *m, const struct sp_row *row, const struct sp_between *at,
			      char text[600])
{
	struct sp_out o;

	sp_memory_init(&o, text, 600);
	sp_out_text(&o, "  ");
	sp_text_pair(&o, m, at->from, at->to, sp_pair_width(row->k) - 2);
	return sp_memory_text(&o);
}

/* Is interval i the first of its pair? */
static bool first_of_pair(struct sp_model *m, struct sp_row *row, uint32_t i, struct sp_between *at)
{
	struct sp_between other;

	sp_row_interval(m, row, i, at);
	for (uint32_t n = 0; n < i; n++) {
		sp_row_interval(m, row, n, &other);
		if (other.from == at->from && other.to == at->to)
			return false;
	}
	return true;
}

/* Are there sums in the table's columns? */
static bool has_sums(const struct table *t)
{
	for (unsigned c = 0; c < t->n; c++)
		if (!metric_of(t->m, t->col[c].id) && (t->col[c].sum || t->col[c].exact))
			return true;
	return false;
}

/* A relation's values to the sums of the columns that the table has. */
static void add_to_columns(struct table *t, const int64_t *total, const int64_t *exact)
{
	for (unsigned i = 0; i < t->n; i++) {
		struct column *col = &t->col[i];

		if (metric_of(t->m, col->id))
			continue;
		col->sum = sp_plus(sp_event_type(t->m, col->id), col->sum, total[col->index]);
		col->exact = sp_plus(sp_event_type(t->m, col->id), col->exact, exact[col->index]);
	}
}

/* Over all CPUs, for the columns that the table has. */
static void pair_row(struct sp_out *o, struct table *t, struct sp_model *m, struct sp_row *row, uint32_t first)
{
	struct sp_between at, other;
	uint64_t count = 0;
	char text[600];

	sp_row_interval(m, row, first, &at);
	for (unsigned c = 0; c < t->n; c++)
		t->col[c].sum = t->col[c].exact = 0;
	for (uint32_t i = first; sp_row_interval(m, row, i, &other); i++) {
		if (other.from != at.from || other.to != at.to)
			continue;
		count += other.count;
		add_to_columns(t, other.total, other.exact);
	}
	if (!at.to && !count && !has_sums(t))
		return;
	begin_row(o, t, pair_label(m, row, &at, text), count);
	for (unsigned c = 0; c < t->n; c++)
		if (metric_of(m, t->col[c].id))
			sp_out_repeat(o, ' ', t->col[c].width + 2);
		else
			cell(o, t, c, t->col[c].sum, t->col[c].exact);
	end_row(o, t);
}

static void pair_rows(struct sp_out *o, struct table *t, struct sp_model *m, struct sp_row *row)
{
	struct sp_between at;
	uint32_t shown = 0, pairs = 0;

	for (uint32_t i = 0; i < row->intervals; i++)
		if (first_of_pair(m, row, i, &at) && pairs++ < PAIRS_SHOWN)
			shown += (pair_row(o, t, m, row, i), 1);
	if (pairs == shown)
		return;
	sp_out_text(o, "  ... and ");
	sp_out_amount(o, pairs - shown, "pair");
	sp_out_text(o, " of call sites more, which the json and csv forms show.\n");
}

static unsigned widest_pair(struct sp_model *m, struct sp_row *row)
{
	struct sp_between at;
	unsigned widest = 0;
	char text[600];

	for (uint32_t i = 0; i < row->intervals && i < 4 * PAIRS_SHOWN; i++) {
		sp_row_interval(m, row, i, &at);
		widest = (unsigned)sp_max(widest, sp_columns(pair_label(m, row, &at, text)));
	}
	return widest;
}

/* The widths of all columns but the events'; how many CPUs there are. */
static uint32_t measure_row(struct table *t, struct sp_model *m, struct sp_row *row)
{
	struct sp_at_cpu at;
	uint64_t most = row->readings;
	uint32_t cpus = 0;
	char text[96], buf[32];

	t->label = 13;
	for (uint32_t i = 0; i < row->cells; i++) {
		if (!sp_row_cell(m, row, i, &at))
			continue;
		cpus++;
		most = sp_max(most, at.readings);
		t->label = (unsigned)sp_max(t->label, sp_columns(cpu_label(m, &at, text)));
	}
	t->label = (unsigned)sp_max(t->label, widest_pair(m, row));
	for (uint32_t k = 0; m->n_kinds > 1 && k < m->n_kinds; k++)
		t->label = (unsigned)sp_max(t->label, sp_columns(kind_label(m, (int32_t)k, text)));
	t->readings = (unsigned)sp_max(8, sp_format_grouped(buf, (int64_t)sp_min(most, INT64_MAX)));
	return cpus;
}

static unsigned widest_cell(struct sp_model *m, struct sp_row *row, uint32_t e)
{
	enum sp_data_type type = sp_event_type(m, row->event[e]);
	struct sp_at_cpu at;
	unsigned widest = 0;
	int64_t sum = 0;
	char buf[48];

	for (uint32_t i = 0; i < row->cells; i++) {
		if (!sp_row_cell(m, row, i, &at))
			continue;
		sum = sp_plus(type, sum, at.total[e]);
		widest = (unsigned)sp_max(widest, sp_value_text(buf, type, at.total[e]));
	}
	return (unsigned)sp_max(widest, sp_value_text(buf, type, sum));
}

/* Which metrics have a value anywhere in this relation?  Of the widest sets none. */
static void find_metrics(struct sp_model *m, struct sp_row *row)
{
	struct sp_metrics *t = sp_view_metrics;
	struct sp_at_cpu at;

	for (uint32_t i = 0; i < t->n; i++)
		t->at[i].in_relation = false;
	for (uint32_t c = 0; row->k <= RELATION_METRICS && c < row->cells; c++) {
		if (!sp_row_cell(m, row, c, &at))
			continue;
		sp_metrics_compute_row(t, row, at.total);
		for (uint32_t i = 0; i < t->n; i++)
			t->at[i].in_relation = t->at[i].in_relation || (t->at[i].shown && t->at[i].has_value);
	}
}

/* Adds the relation's column number e: of its events, then of metrics. */
static bool add_relation_column(struct table *t, struct sp_model *m, struct sp_row *row, uint32_t e)
{
	uint32_t i = e - row->k;

	if (e < row->k && sp_event_is_gauge(m, row->event[e]))
		return true;		/* has a list of its own */
	if (e < row->k)
		return add_column(t, row->event[e], e, widest_cell(m, row, e), row->k);
	return !sp_view_metrics->at[i].in_relation || add_column(t, m->n_events + i, 0, METRIC, row->k);
}

/* A line with the sums over the relation's CPUs of one kind of core; ALL_OF_THEM: over all. */
static void sum_row(struct sp_out *o, struct table *t, struct sp_model *m, struct sp_row *row, int32_t kind)
{
	int64_t sum[RELATION_METRICS] = { 0 };
	uint64_t readings = 0;
	struct sp_at_cpu at;
	char text[48];

	for (unsigned i = 0; i < t->n; i++)
		t->col[i].sum = t->col[i].exact = 0;
	for (uint32_t c = 0; c < row->cells; c++) {
		if (!sp_row_cell(m, row, c, &at) || (kind >= 0 && sp_kind_of(m, at.component) != kind))
			continue;
		readings += at.readings;
		for (uint32_t e = 0; e < row->k && row->k <= RELATION_METRICS; e++)
			sum[e] = sp_plus(sp_event_type(m, row->event[e]), sum[e], at.total[e]);
		add_to_columns(t, at.total, at.exact);
	}
	begin_row(o, t, kind < 0 ? "  all of them" : kind_label(m, kind, text), readings);
	if (sp_view_metrics && row->k <= RELATION_METRICS)
		sp_metrics_compute_row(sp_view_metrics, row, sum);
	for (unsigned i = 0; i < t->n; i++) {
		if (metric_of(m, t->col[i].id))
			metric_cell(o, t, i, kind < 0 && sp_kinds_several(sp_kinds_of_row(m, row)));
		else
			cell(o, t, i, t->col[i].sum, t->col[i].exact);
	}
	end_row(o, t);
}

/* One table of a relation: its CPUs, a line over all of them if there are several, and over
 * those of each kind of core, its call sites. */
static void relation_table(struct sp_out *o, struct table *t, struct sp_model *m, struct sp_row *row,
			   uint32_t cpus)
{
	uint32_t kinds = sp_kinds_of_row(m, row);
	struct sp_at_cpu at;
	char text[96];

	head_of_table(o, t, "");
	for (uint32_t c = 0; c < row->cells; c++) {
		if (!sp_row_cell(m, row, c, &at))
			continue;
		begin_row(o, t, cpu_label(m, &at, text), at.readings);
		if (sp_view_metrics)
			sp_metrics_compute_row(sp_view_metrics, row, at.total);
		for (unsigned i = 0; i < t->n; i++) {
			struct column *col = &t->col[i];

			if (metric_of(m, col->id))
				metric_cell(o, t, i, false);
			else
				cell(o, t, i, at.total[col->index], at.exact[col->index]);
		}
		end_row(o, t);
	}
	if (cpus >= 2)
		sum_row(o, t, m, row, ALL_OF_THEM);
	for (uint32_t k = 0; sp_kinds_several(kinds) && k < m->n_kinds; k++)
		if (kinds >> k & 1)
			sum_row(o, t, m, row, (int32_t)k);
	if (row->intervals)
		pair_rows(o, t, m, row);
}

static void whose(struct sp_out *o, const struct sp_row *row)
{
	static const char *const scopes[] = {
		"", ", counts of all that runs on the CPU", ", counts of the whole process",
		", counts of the package", ", counts of the whole host", ", counts of a device",
	};

	if (row->tid == 0) {
		sp_out_amount(o, row->threads, "thread");
		sp_out_text(o, row->threads == 1 ? " that has ended" : " that have ended");
	} else {
		sp_out_text(o, "thread ");
		sp_out_i64(o, row->tid);
	}
	if (*row->thread) {
		sp_out_text(o, " \"");
		sp_out_plain(o, row->thread);
		sp_out_char(o, '"');
	}
	sp_out_text(o, ", event set ");
	sp_out_i64(o, row->event_set);
	if (row->target == SP_TARGET_CPU)
		sp_out_text(o, ", attached to CPU ");
	else if (row->target == SP_TARGET_TID)
		sp_out_text(o, ", attached to thread ");
	if (row->target == SP_TARGET_CPU || row->target == SP_TARGET_TID)
		sp_out_i64(o, row->target_id);
	if ((unsigned)row->scope < SP_COUNT(scopes))
		sp_out_text(o, scopes[row->scope]);
	/* Of user code alone, as PAPI does by itself: not said. */
	for (uint32_t i = 0, n = 0; i < SP_DOMAINS && row->domain > 1; i++)
		if (row->domain >> i & 1) {
			sp_out_text(o, n++ ? "+" : ", domain ");
			sp_out_text(o, sp_domain_name(i));
		}
}

static void whose_process(struct sp_out *o, const struct sp_model *m, const struct sp_header *h)
{
	if (h->rank >= 0) {
		sp_out_text(o, "rank ");
		sp_out_i64(o, h->rank);
		sp_out_text(o, ", ");
	}
	sp_out_text(o, "pid ");
	sp_out_u64(o, h->pid);
	sp_out_text(o, " on ");
	sp_out_plain(o, sp_model_text(m, h->host));
	sp_out_text(o, ": ");
}

static void relation_head(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	struct sp_out line;
	char text[512];

	sp_memory_init(&line, text, sizeof(text));
	if (sp_is_job(m))
		whose_process(&line, m, sp_process_header(m, row->process));
	whose(&line, row);
	sp_out_text(&line, ": ");
	sp_out_amount(&line, row->starts, "start");
	sp_out_text(&line, ", ");
	if (row->resets) {
		sp_out_amount(&line, row->resets, "reset");
		sp_out_text(&line, ", ");
	}
	sp_out_amount(&line, row->readings, "reading");
	/* These times are those of a clock that ticks every few ms. */
	if (row->first_ns && row->last_ns > row->first_ns && row->last_ns - row->first_ns >= 10000000) {
		sp_out_text(&line, " in ");
		sp_out_duration(&line, row->last_ns - row->first_ns);
	}
	sp_out_char(o, '\n');
	sp_clip(o, sp_memory_text(&line), SP_WIDTH);
	sp_out_char(o, '\n');
}

static bool subtracts(const struct sp_model *m, const struct sp_row *row)
{
	for (uint32_t e = 0; e < row->k; e++)
		if (!strcmp(SP_EVENT_TEXT(m, row->event[e], derived), "DERIVED_SUB") ||
		    strchr(SP_EVENT_TEXT(m, row->event[e], postfix), '-'))
			return true;
	return false;
}

static void notes_of(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	bool estimated = row->flags & SP_RELATION_ESTIMATED;

	if (estimated)
		sp_paragraph(o, "  ", 2, "PAPI counted these events in turns (multiplexing): they are estimates.");
	if (row->flags & SP_RELATION_BACKWARDS)
		sp_paragraph(o, "  ", 2,
			     estimated ? "A count was seen to go backwards, as estimates do; the totals are what PAPI handed out." :
			     subtracts(m, row) ? "A count was seen to go backwards: one of them is a difference." :
			     "A count was seen to go backwards: something but PAPI set it anew.");
	if (row->flags & SP_RELATION_CROWDED)
		sp_paragraph(o, "  ", 2, "There were more pairs of call sites than there was room for (of a relation 1,024, "
					 "and fewer new ones in one run): the rest is under other call sites.");
}

void sp_text_relation(struct sp_out *o, struct sp_model *m, struct sp_row *row, bool proven)
{
	struct table t = { .m = m, .proven = proven };
	uint32_t cpus = measure_row(&t, m, row);

	relation_head(o, m, row);
	if (!cpus) {
		sp_paragraph(o, "  ", 2,
			     row->starts ? "never read: no PAPI_read, PAPI_accum or PAPI_stop of it succeeded" :
					   "never started");
		return;
	}
	if (sp_view_metrics)
		find_metrics(m, row);
	for (uint32_t e = 0, end = row->k + columns_end(m) - m->n_events; e < end && !row->place;) {
		t.n = 0;
		while (e < end && add_relation_column(&t, m, row, e))
			e++;
		if (t.n)
			relation_table(o, &t, m, row, cpus);
	}
	if (row->place)
		sp_text_placed(o, m, row);
	sp_text_gauges(o, m, row);
	sp_text_row_kinds(o, m, row);
	notes_of(o, m, row);
	if (row->flags & SP_RELATION_FOREIGN)
		sp_paragraph(o, "  ", 2,
			     "Read by a thread that is not the one counted: its CPU is where that one last ran.");
}
