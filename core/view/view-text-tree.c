/* view-text-tree.c: the text view's component tree, as lstopo prints it, with the sums below
 * each component.
 */
#include "core-kinds.h"
#include "view-text-table.h"

#define TREE_LABEL	40u	/* columns that are kept for components */
#define DEPTHS		32u
#define DETAILS		5u	/* see chain_label() */
#define ALL_OF_THEM	(-2)	/* in place of a component */

/* ---- components, a line each -------------------------------------------- */

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

/* ---- columns ------------------------------------------------------------ */

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
	return id < m->n_events ? in_tree(m, id) : sp_text_metric(m, id)->shown;
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
static bool odd_cell(struct sp_out *o, const struct sp_text_table *t, unsigned i, int32_t c, int64_t sum)
{
	uint32_t e = t->col[i].id;
	struct sp_shown g;
	char buf[48];

	if (sp_event_is_gauge(t->m, e))
		sp_text_row_text(o, t, i, sp_gauge_at(t->m, c, e, &g) ? gauge_text(t->m, &g, buf) : "-");
	else if (sp_event_is_placed(t->m, e) && !sum)
		sp_text_row_text(o, t, i, "-");
	else
		return false;
	return true;
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

	if (sp_text_metric(m, event))
		return SP_TEXT_METRIC;
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

	for (uint32_t e = from; e < sp_text_columns_end(m); e++)
		n += is_column(m, e);
	return n;
}

/* Fills the table with the events from *event on, and moves *event behind them. */
static void fill_tree(struct sp_text_table *t, uint32_t *event)
{
	unsigned events = tree_events(t->m, *event), used, longest = 0;

	t->n = 0;
	t->label = TREE_LABEL;
	for (; *event < sp_text_columns_end(t->m); ++*event) {
		if (is_column(t->m, *event) &&
		    !sp_text_table_add(t, *event, *event, widest_sum(t->m, *event), events))
			break;
	}
	used = t->proven ? SP_TEXT_PROVEN : 0;
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
static void tree_cells(struct sp_out *o, struct sp_text_table *t, int32_t c, const int64_t *sum, const int64_t *exact)
{
	if (sp_view_metrics)
		sp_metrics_compute(sp_view_metrics, sum, NULL);
	for (unsigned i = 0; i < t->n; i++) {
		uint32_t id = t->col[i].id;

		if (sp_text_metric(t->m, id))
			sp_text_row_metric(o, t, i, sp_kinds_several(kinds_at(t->m, c)));
		else if (c == ALL_OF_THEM && sp_event_is_gauge(t->m, id))
			sp_text_row_text(o, t, i, "-");
		else if (!odd_cell(o, t, i, c, sum[id]))
			sp_text_row_sum(o, t, i, sum[id], exact ? exact[id] : 0);
	}
	if (exact)
		sp_text_row_end(o, t);
	else
		sp_out_char(o, '\n');
}

static void outside_rows(struct sp_out *o, struct sp_text_table *t)
{
	bool outside = false;
	struct sp_shown g;

	for (uint32_t e = 0; e < t->m->n_events; e++)
		outside = outside || (sp_event_is_summed(t->m, e) && t->m->unplaced[e]) || sp_gauge_at(t->m, -1, e, &g);
	if (!outside)
		return;
	sp_text_row_begin(o, t, "not on a known CPU", 0);
	tree_cells(o, t, -1, t->m->unplaced, NULL);
	sp_text_row_begin(o, t, "all", 0);
	tree_cells(o, t, ALL_OF_THEM, t->m->total, t->m->total_exact);
}

void sp_text_tree(struct sp_out *o, const struct sp_model *m, bool proven)
{
	struct sp_text_table t = { .m = m, .proven = proven };
	uint32_t event = 0;

	while (tree_events(m, event)) {
		struct chain w = { 0 };
		char text[600];

		fill_tree(&t, &event);
		sp_out_char(o, '\n');
		sp_text_table_head(o, &t, "component");
		while (next_chain(m, &w)) {
			sp_text_row_begin(o, &t, chain_label(m, &w, t.detail, text), 0);
			tree_cells(o, &t, (int32_t)w.first, m->sum + (uint64_t)w.first * m->n_events,
				   m->exact + (uint64_t)w.first * m->n_events);
		}
		outside_rows(o, &t);
	}
	if (event && sp_view_metrics && sp_kinds_several(kinds_at(m, ALL_OF_THEM)))
		sp_paragraph(o, "", 0, "(* of cores of several kinds together; below by kind)");
}
