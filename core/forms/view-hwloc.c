/* view-hwloc.c: hwloc's XML of the machine with the counts in it, for
 * lstopo --input: an info attribute an event on each object, and a colour.
 *
 * The XML that the topology came with is copied tag by tag, and never parsed
 * into a tree: there is no memory for one here.  It comes from a store, so
 * each look at it is bounded by its end.
 */
#include "../model/core-kinds.h"
#include "view-hwloc-job.h"
#include "view-text-words.h"
#include "view.h"

#define STYLE		"lstopoStyle"
#define LEGEND		"lstopoLegend"		/* a line below the picture */
#define OURS		"sspapi: "		/* its beginning */
#define ELSEWHERE	" not on a known CPU"	/* behind the event's name, on the root */
#define BY_KIND		" on "			/* the same, and the kind's name, and: */
#define CORES		" cores"
#define KIND		"CPUKind"		/* on CPUs and cores */
#define TYPES		24u
#define CPUS		4096u	/* of a machine that came without XML; its memory: */
#define NODE		" nodeset=\"0x00000001\" complete_nodeset=\"0x00000001\""

struct painter {
	struct sp_out *o;
	const struct sp_model *m;
	const char *at, *end;		/* of the XML that is left */
	const char *gap;		/* the white space before the tag at hand */
	size_t gap_bytes;
	int32_t component;		/* of the object that is open; -1: none of ours */
	bool pending;			/* its infos are still to be written */
	bool stale;			/* it has counts of an earlier run */
	bool dropped;			/* it is one that an earlier dump put in */
	uint32_t unlabelled;		/* 1 + the component whose box with its number is to come; 0: none */
	uint32_t next;			/* component that is likely met next */
	bool any;			/* event to show */
	bool gauges;			/* some component may have one */
	uint32_t color;			/* the event that colours show */
	unsigned types;
	struct {
		const char *name;	/* [16], as in struct sp_component */
		double max;
	} type[TYPES];
};

/* ---- colours ----------------------------------------------------------- */

static double amount(const struct painter *p, uint32_t component)
{
	double d = sp_value_double(sp_event_type(p->m, p->color), sp_sum(p->m, component, p->color));

	return d > 0.0 ? d : 0.0;
}

static void find_maxima(struct painter *p)
{
	for (uint32_t c = 0; c < p->m->n_components; c++) {
		const char *name = p->m->component[c].type;
		unsigned i = 0;

		while (i < p->types && strncmp(p->type[i].name, name, sizeof(p->m->component[c].type)))
			i++;
		if (i == TYPES)
			continue;
		if (i == p->types) {
			p->type[i].name = name;
			p->type[i].max = 0.0;
			p->types++;
		}
		if (amount(p, c) > p->type[i].max)
			p->type[i].max = amount(p, c);
	}
}

/* What the colour is for: what holds other things that have one stays neutral, or it drowns them. */
static bool is_coloured(const struct painter *p, uint32_t component)
{
	const struct sp_component *c = &p->m->component[component];

	return p->any && p->m->counted[component] && (sp_component_is(c, "PU") || sp_is_cache(c));
}

/* Boxes around them are neutral on all of the machine: lstopo's own colours would look like counts. */
static bool is_styled(const struct painter *p, uint32_t component)
{
	const struct sp_component *c = &p->m->component[component];

	return is_coloured(p, component) || (p->any && !sp_component_is(c, "PU") && !sp_is_cache(c));
}

/* "768 (17 %)" */
static void amount_text(struct painter *p, uint32_t component)
{
	enum sp_data_type type = sp_event_type(p->m, p->color);
	char number[48], part[48];

	sp_short_text(number, p->m, p->color, sp_sum(p->m, component, p->color));
	sp_xml_f(p->o, "%s (%s)", number, sp_share(part, amount(p, component), sp_value_double(type, p->m->total[p->color])));
}

static void subtype(void *painter, uint32_t component)
{
	struct painter *p = painter;
	const struct sp_component *c = &p->m->component[component];
	char type[sizeof(c->type) + 1];

	if (!is_coloured(p, component) || !sp_is_cache(c))
		return;
	sp_xml_f(p->o, " subtype=\"%s ", sp_fixed_text(type, c->type, sizeof(c->type)));
	amount_text(p, component);
	sp_out_char(p->o, '"');
}

/* 0 .. 1: how much of the largest of its type this component has. */
static double share(const struct painter *p, uint32_t component)
{
	const struct sp_component *c = &p->m->component[component];

	for (unsigned i = 0; i < p->types; i++) {
		double s;

		if (!sp_component_is(c, p->type[i].name))
			continue;
		s = p->type[i].max > 0.0 ? amount(p, component) / p->type[i].max : 0.0;
		return s >= 0.0 && s <= 1.0 ? s : 0.0;
	}
	return 0.0;
}

/* Pale yellow, orange, dark red: darker is more, also printed in grey.  Neutral
 * for what cannot be compared. */
static void style(struct sp_out *o, double s)
{
	static const unsigned char stop[3][3] = { { 255, 255, 212 }, { 254, 153, 41 }, { 178, 20, 20 } };
	static const char digits[] = "0123456789abcdef";
	unsigned low = s < 0.5 ? 0 : 1;
	double f = s * 2.0 - low;

	sp_out_text(o, "<info name=\"" STYLE "\" value=\"Background=#");
	if (s < 0.0) {
		sp_out_text(o, "eeeeee\"/>");
		return;
	}
	for (unsigned i = 0; i < 3; i++) {
		unsigned v = (unsigned)(stop[low][i] + f * (stop[low + 1][i] - stop[low][i]) + 0.5);

		sp_out_char(o, digits[v >> 4 & 15]);
		sp_out_char(o, digits[v & 15]);
	}
	if (s > 0.75)
		sp_out_text(o, ";Text=#ffffff");
	sp_out_text(o, "\"/>");
}

/* ---- what is put in ---------------------------------------------------- */

/* Control characters are not XML, whatever else comes from the store. */
static void copy(struct painter *p, const char *bytes, size_t n)
{
	size_t from = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if ((c >= 0x20 && c != 0x7f) || c == '\n' || c == '\t' || c == '\r')
			continue;
		sp_out_bytes(p->o, bytes + from, i - from);
		sp_out_char(p->o, '?');
		from = i + 1;
	}
	sp_out_bytes(p->o, bytes + from, n - from);
}

/* Where a tag of ours begins. */
static void begin_line(struct painter *p, const char *indent)
{
	copy(p, p->gap, p->gap_bytes);
	sp_out_text(p->o, indent);
}

static void begin_info(struct painter *p, uint32_t id, const char *suffix, const char *indent)
{
	char buf[32];

	begin_line(p, indent);
	sp_xml_f(p->o, "<info name=\"%s%s\" value=\"", sp_event_name(p->m, id, buf), suffix);
}

static void info(struct painter *p, uint32_t id, const char *suffix, int64_t value, const char *indent)
{
	begin_info(p, id, suffix, indent);
	sp_out_value(p->o, sp_event_type(p->m, id), value);
	sp_out_text(p->o, "\"/>");
}

/* "mean 47.5, last 50, min 45, max 50, 2 readings"; of bits the last. */
static void gauge(struct painter *p, uint32_t id, const struct sp_shown *g, const char *suffix, const char *indent)
{
	enum sp_data_type type = sp_event_type(p->m, id);

	begin_info(p, id, suffix, indent);
	if (type == SP_BIT64) {
		sp_xml_f(p->o, "last %#lx", (uint64_t)g->last);
	} else {
		sp_xml_f(p->o, g->mean < 0.1 && g->mean > -0.1 ? "mean %f, last " : "mean %.3f, last ", g->mean);
		sp_out_value(p->o, type, g->last);
		sp_out_text(p->o, ", min ");
		sp_out_value(p->o, type, g->min);
		sp_out_text(p->o, ", max ");
		sp_out_value(p->o, type, g->max);
	}
	sp_xml_f(p->o, ", %lu reading%s\"/>", g->readings, SP_MANY(g->readings));
}

/* The root has sums by kind, "PAPI_TOT_INS on P cores"; CPUs and cores have what they are. */
static void kind_infos(struct painter *p, uint32_t component, const char *indent)
{
	const struct sp_model *m = p->m;
	int32_t own = sp_kind_of(m, (int32_t)component);
	char text[sizeof(m->kind[0].name) + 16];

	if (own >= 0) {
		begin_line(p, indent);
		sp_xml_f(p->o, "<info name=\"" KIND "\" value=\"%s\"/>", m->kind[own].name);
	}
	for (uint32_t k = 0; component == 0 && m->n_kinds > 1 && k < m->n_kinds; k++) {
		strcat(strcat(strcpy(text, BY_KIND), m->kind[k].name), CORES);
		for (uint32_t e = 0; e < m->n_events; e++)
			if (sp_event_is_summed(m, e) && !sp_event_is_placed(m, e) && m->kind[k].present[e])
				info(p, e, text, m->kind[k].sum[e], indent);
	}
}

/* The scale, which lstopo writes below its picture. */
static void legend(struct painter *p, const char *indent)
{
	char buf[32], most[48];
	uint32_t best = 0;

	for (uint32_t c = 0; c < p->m->n_components; c++)
		if (sp_component_is(&p->m->component[c], "PU") &&
		    (!sp_component_is(&p->m->component[best], "PU") || amount(p, c) > amount(p, best)))
			best = c;
	sp_short_text(most, p->m, p->color, sp_sum(p->m, best, p->color));
	begin_line(p, indent);
	sp_xml_f(p->o, "<info name=\"" LEGEND "\" value=\"" OURS "%s, pale 0 to dark red %s of a PU; a cache by the largest of its kind\"/>",
		 sp_event_name(p->m, p->color, buf), most);
	begin_line(p, indent);
	sp_out_text(p->o, "<info name=\"" LEGEND "\" value=\"" OURS "lstopo --no-factorize shows each PU\"/>");
}

/* lstopo shows no number of a PU but in a box inside it; behind its last info, or hwloc refuses the file. */
static void label(struct painter *p, const char *indent)
{
	uint32_t component = p->unlabelled - 1;

	if (!p->unlabelled)
		return;
	p->unlabelled = 0;
	begin_line(p, indent);
	sp_out_text(p->o, "<object type=\"Misc\" subtype=\"sspapi\" name=\"");
	amount_text(p, component);
	sp_out_text(p->o, "\">");
	style(p->o, share(p, component));
	sp_out_text(p->o, "</object>");
}

/* Every object gets every event, also as 0: nothing was counted there.  Only where something was is it coloured.
 * whole: it stands for a machine that is not drawn.  What is counted on a package as a whole, and gauges, stand where
 * they are known. */
static void infos(struct painter *p, uint32_t component, const char *indent, bool whole)
{
	bool coloured = is_coloured(p, component) || (whole && p->any && p->m->counted[component]);
	struct sp_shown g;

	for (uint32_t e = 0; e < p->m->n_events; e++) {
		if (sp_event_is_summed(p->m, e) && sp_sum_is_known(p->m, component, e) && sp_is_present(p->m, component, e))
			info(p, e, "", sp_sum(p->m, component, e), indent);
		if (sp_gauge_at(p->m, (int32_t)component, e, &g))
			gauge(p, e, &g, "", indent);
		if (component == 0 && sp_gauge_at(p->m, -1, e, &g))
			gauge(p, e, &g, ELSEWHERE, indent);
	}
	for (uint32_t e = 0; component == 0 && e < p->m->n_events; e++) {
		if (sp_event_is_summed(p->m, e) && p->m->unplaced[e])
			info(p, e, ELSEWHERE, p->m->unplaced[e], indent);
	}
	kind_infos(p, component, indent);
	if (component == 0 && p->any)
		legend(p, indent);
	if (is_styled(p, component)) {
		begin_line(p, indent);
		style(p->o, coloured ? share(p, component) : -1.0);
	}
	if (coloured && !sp_is_cache(&p->m->component[component]))
		p->unlabelled = component + 1;
}

/* ---- tags -------------------------------------------------------------- */

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static bool is_tag(const char *tag, size_t n, const char *start)
{
	size_t length = strlen(start);

	return n > length && !memcmp(tag, start, length) &&
	       (is_space(tag[length]) || tag[length] == '>' || tag[length] == '/');
}

/* The bytes of the tag, comment or declaration at p->at, up to its end; 0: it has none. */
static size_t tag_bytes(const struct painter *p)
{
	size_t n = (size_t)(p->end - p->at);
	char quote = 0;

	if (n >= 4 && !memcmp(p->at, "<!--", 4)) {
		const char *close = memmem(p->at + 4, n - 4, "-->", 3);

		return close ? (size_t)(close - p->at) + 3 : 0;
	}
	for (size_t i = 1; i < n; i++) {
		char c = p->at[i];

		if (quote)
			quote = c == quote ? 0 : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		else if (c == '>')
			return i + 1;
	}
	return 0;
}

/* The value of an attribute of this tag and its length, or NULL. */
static const char *attribute(const char *tag, size_t n, const char *name, size_t *length)
{
	size_t i = 1, name_bytes = strlen(name);

	while (i < n && !is_space(tag[i]))
		i++;
	while (i < n) {
		const char *close;
		size_t from;

		while (i < n && is_space(tag[i]))
			i++;
		from = i;
		while (i < n && tag[i] != '=')
			i++;
		if (i + 1 >= n || (tag[i + 1] != '"' && tag[i + 1] != '\''))
			return NULL;
		close = memchr(tag + i + 2, tag[i + 1], n - i - 2);
		if (!close)
			return NULL;
		if (i - from == name_bytes && !memcmp(tag + from, name, name_bytes)) {
			*length = (size_t)(close - (tag + i + 2));
			return tag + i + 2;
		}
		i = (size_t)(close - tag) + 1;
	}
	return NULL;
}

static bool is(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && !memcmp(text, word, length);
}

/* The component of this <object> tag; -1: none of ours (a PCI device, say). */
static int32_t component_of(struct painter *p, const char *tag, size_t n)
{
	size_t length;
	const char *text = attribute(tag, n, "gp_index", &length);
	uint64_t gp = 0;

	if (!text || !length || length > 19)
		return -1;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		gp = gp * 10 + (uint64_t)(text[i] - '0');
	}
	/* The store's order is the XML's, or nearly so. */
	for (uint32_t i = 0; i < p->m->n_components; i++) {
		uint32_t c = (uint32_t)(((uint64_t)p->next + i) % p->m->n_components);

		if (p->m->component[c].gp_index == gp) {
			p->next = c + 1;
			return (int32_t)c;
		}
	}
	return -1;
}

/* What stands behind `name` in an attribute's value; NULL: it starts otherwise. */
static const char *after_name(const char *text, const char *end, const char *name)
{
	static const char *const entity[] = { "&quot;\"", "&amp;&", "&lt;<", "&gt;>", "&apos;'" };

	for (; *name; name++) {
		size_t bytes = 1;
		char c;

		if (text == end)
			return NULL;
		c = *text;
		for (unsigned i = 0; c == '&' && i < SP_COUNT(entity); i++) {
			size_t n = strlen(entity[i]) - 1;

			if ((size_t)(end - text) < n || memcmp(text, entity[i], n))
				continue;
			c = entity[i][n];
			bytes = n;
			break;
		}
		if (c != *name)
			return NULL;
		text += bytes;
	}
	return text;
}

/* " on P cores", of whatever kind. */
static bool is_by_kind(const char *rest, const char *end)
{
	size_t n = (size_t)(end - rest);

	return n > strlen(BY_KIND CORES) && !memcmp(rest, BY_KIND, strlen(BY_KIND)) &&
	       !memcmp(end - strlen(CORES), CORES, strlen(CORES));
}

/* An <info> that must go: a count that an earlier dump left in the XML given as
 * SSPAPI_TOPOLOGY, or the colour of an object that gets one of ours. */
static bool is_stale(struct painter *p, const char *tag, size_t n)
{
	size_t length;
	const char *name = attribute(tag, n, "name", &length), *end, *rest;
	char buf[32];

	if (!name)
		return false;
	end = name + length;
	if (is(name, length, KIND) && sp_kind_of(p->m, p->component) >= 0)
		return true;
	if (is(name, length, STYLE))
		return p->stale || (p->component >= 0 && is_styled(p, (uint32_t)p->component));
	if (is(name, length, LEGEND)) {
		name = attribute(tag, n, "value", &length);
		return name && length > strlen(OURS) && !memcmp(name, OURS, strlen(OURS));
	}
	for (uint32_t e = 0; e < p->m->n_events; e++) {
		if (!p->m->event_counted[e] || !p->m->event[e])
			continue;
		rest = after_name(name, end, sp_event_name(p->m, e, buf));
		if (!rest || (rest != end && after_name(rest, end, ELSEWHERE) != end && !is_by_kind(rest, end)))
			continue;
		p->stale = true;
		return true;
	}
	return false;
}

/* ---- the walk ---------------------------------------------------------- */

/* The beginning of an object's tag, `end` bytes of its n.  A cache has its number as subtype, which lstopo writes
 * instead of the type; what an earlier dump put there goes. */
static void copy_tag(struct painter *p, const char *tag, size_t n, size_t end)
{
	static const char before[] = " subtype=\"";
	bool cache = p->component >= 0 && sp_is_cache(&p->m->component[p->component]);
	size_t length, from = 0;
	const char *old = cache ? attribute(tag, n, "subtype", &length) : NULL;

	if (old) {
		copy(p, tag, (size_t)(old - tag) - strlen(before));
		from = (size_t)(old - tag) + length + 1;
	}
	copy(p, tag + from, end - from);
	if (p->component >= 0)
		subtype(p, (uint32_t)p->component);
}

static bool has(const char *tag, size_t n, const char *name, const char *value)
{
	size_t length;
	const char *text = attribute(tag, n, name, &length);

	return text && is(text, length, value);
}

static void open_object(struct painter *p, const char *tag, size_t n)
{
	bool closed = n >= 2 && tag[n - 2] == '/';

	p->component = p->any || p->gauges ? component_of(p, tag, n) : -1;
	p->stale = false;
	p->pending = p->component >= 0 && !closed;
	if (has(tag, n, "type", "Misc") && has(tag, n, "subtype", "sspapi")) {
		p->pending = false;
		p->dropped = !closed;
		return;
	}
	copy(p, p->gap, p->gap_bytes);
	if (p->component < 0 || !closed) {
		copy_tag(p, tag, n, n - 1 - closed);
		sp_out_text(p->o, closed ? "/>" : ">");
		return;
	}
	copy_tag(p, tag, n, n - 2);
	sp_out_char(p->o, '>');
	infos(p, (uint32_t)p->component, "  ", false);
	label(p, "  ");
	copy(p, p->gap, p->gap_bytes);
	sp_out_text(p->o, "</object>");
	p->component = -1;
}

static void tag(struct painter *p, const char *text, size_t n)
{
	static const char close_info[] = "</info>";
	bool opens = is_tag(text, n, "<object"), closes = is_tag(text, n, "</object");

	/* A box of an earlier dump: with its colour to its end. */
	if (p->dropped) {
		p->dropped = !closes;
		return;
	}
	/* Page types come before infos in hwloc's DTD. */
	if (p->pending && !is_tag(text, n, "<page_type") && !is_tag(text, n, "</page_type")) {
		infos(p, (uint32_t)p->component, closes ? "  " : "", false);
		p->pending = false;
	}
	if (opens || closes)
		label(p, closes ? "  " : "");
	if (opens) {
		open_object(p, text, n);
		return;
	}
	if (is_tag(text, n, "<info") && is_stale(p, text, n)) {
		if (text[n - 2] != '/' && (size_t)(p->end - p->at) >= strlen(close_info) &&
		    !memcmp(p->at, close_info, strlen(close_info)))
			p->at += strlen(close_info);
		return;
	}
	if (closes) {
		p->component = -1;
		p->stale = false;
	}
	copy(p, p->gap, p->gap_bytes);
	copy(p, text, n);
}

static void walk(struct painter *p)
{
	while (p->at < p->end && !p->o->error) {
		const char *start = memchr(p->at, '<', (size_t)(p->end - p->at));
		const char *text;
		size_t n;

		p->gap = p->at;
		if (!start)
			break;
		p->gap_bytes = (size_t)(start - p->at);
		/* Text between tags (userdata, distances) is nobody's indent. */
		for (size_t i = 0; i < p->gap_bytes; i++) {
			if (is_space(p->gap[i]))
				continue;
			copy(p, p->gap, p->gap_bytes);
			p->gap_bytes = 0;
		}
		p->at = text = start;
		n = tag_bytes(p);
		if (!n) {
			copy(p, p->gap, p->gap_bytes);
			break;
		}
		p->at += n;
		tag(p, text, n);
	}
	copy(p, p->at, (size_t)(p->end - p->at));
}

/* ---- a machine that came without XML ----------------------------------- */

static bool is_pu(const struct sp_model *m, uint32_t c)
{
	return sp_component_is(&m->component[c], "PU") && m->component[c].os_index >= 0 &&
	       m->component[c].os_index < (int32_t)CPUS;
}

static uint32_t word_of_cpus(const struct sp_model *m, int32_t word)
{
	uint32_t bits = 0;

	for (uint32_t c = 0; c < m->n_components; c++) {
		if (is_pu(m, c) && m->component[c].os_index / 32 == word)
			bits |= 1u << m->component[c].os_index % 32;
	}
	return bits;
}

/* hwloc's form of a set: 32 bits a word, the highest first. */
static void cpusets(struct sp_out *o, const struct sp_model *m, int32_t only)
{
	static const char *const name[] = { " cpuset=\"", " complete_cpuset=\"", " allowed_cpuset=\"" };
	int32_t top = only >= 0 ? only / 32 : (int32_t)CPUS / 32 - 1;

	while (only < 0 && top > 0 && !word_of_cpus(m, top))
		top--;
	for (unsigned i = 0; i < (only < 0 ? 3u : 2u); i++) {
		sp_out_text(o, name[i]);
		for (int32_t w = top; w >= 0; w--) {
			uint32_t bits = only < 0 ? word_of_cpus(m, w) : w == only / 32 ? 1u << only % 32 : 0;

			/* hwloc refuses a machine without a CPU. */
			if (only < 0 && top == 0 && !bits)
				bits = 1;
			sp_out_text(o, w == top ? "0x" : ",0x");
			sp_hex_word(o, bits);
		}
		sp_out_char(o, '"');
	}
}

static void pu(struct painter *p, int32_t os_index, int32_t component)
{
	sp_xml_f(p->o, "    <object type=\"PU\" os_index=\"%d\"", os_index);
	cpusets(p->o, p->m, os_index);
	sp_xml_f(p->o, NODE " gp_index=\"%d\">", os_index + 3);
	if (component >= 0)
		infos(p, (uint32_t)component, "      ", false);
	label(p, "      ");
	sp_out_text(p->o, "\n    </object>\n");
}

static bool pu_was_written(const struct sp_model *m, uint32_t c)
{
	for (uint32_t i = 0; i < c; i++) {
		if (is_pu(m, i) && m->component[i].os_index == m->component[c].os_index)
			return true;
	}
	return false;
}

static void generate(struct painter *p)
{
	bool any = false;

	p->gap = "\n";
	p->gap_bytes = 1;
	sp_out_text(p->o, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			  "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n"
			  "  <object type=\"Machine\" os_index=\"0\"");
	cpusets(p->o, p->m, -1);
	sp_out_text(p->o, NODE " allowed_nodeset=\"0x00000001\" gp_index=\"1\">");
	if (p->m->n_components)
		infos(p, 0, "    ", false);
	sp_out_text(p->o, "\n    <object type=\"NUMANode\" os_index=\"0\"");
	cpusets(p->o, p->m, -1);
	sp_out_text(p->o, NODE " gp_index=\"2\" local_memory=\"0\"/>\n");
	for (uint32_t c = 0; c < p->m->n_components; c++) {
		if (!is_pu(p->m, c) || pu_was_written(p->m, c))
			continue;
		pu(p, p->m->component[c].os_index, (int32_t)c);
		any = true;
	}
	if (!any)
		pu(p, 0, -1);
	sp_out_text(p->o, "  </object>\n</topology>\n");
}

static uint32_t color_event(const struct sp_show *s, bool *any)
{
	const struct sp_model *m = s->m;
	uint32_t first = 0;
	char buf[32];

	*any = false;
	for (uint32_t e = 0; e < m->n_events; e++) {
		if (!sp_event_is_summed(m, e))
			continue;
		if (s->color_by && sp_name_is(sp_event_name(m, e, buf), s->color_by, strlen(s->color_by))) {
			*any = true;
			return e;
		}
		if (!*any)
			first = e;
		*any = true;
	}
	return first;
}

bool sp_view_colors(const struct sp_show *s)
{
	char buf[32];
	bool any;
	uint32_t e = color_event(s, &any);

	return !s->color_by || !any || sp_name_is(sp_event_name(s->m, e, buf), s->color_by, strlen(s->color_by));
}

static void job_infos(void *painter, uint32_t component, bool whole)
{
	infos(painter, component, "", whole);
	label(painter, "");
}

void sp_view_hwloc(struct sp_out *o, const struct sp_show *s)
{
	const struct sp_model *m = s->m;
	struct painter p = { .o = o, .m = m, .component = -1 };

	p.color = color_event(s, &p.any);
	p.gauges = m->n_gauges != 0;
	if (p.any)
		find_maxima(&p);
	if (m->n_machines > 1) {
		p.gap = "\n";
		p.gap_bytes = 1;
		sp_view_hwloc_job(o, m, job_infos, subtype, &p);
		return;
	}
	if (!m->xml || !m->xml_bytes) {
		generate(&p);
		return;
	}
	p.at = m->xml;
	p.end = m->xml + m->xml_bytes;
	walk(&p);
}
