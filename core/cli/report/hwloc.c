/* hwloc.c: writes the hwloc format; see hwloc.h. */
#include <dlfcn.h>

#include "../../../topo/topo.h"
#include "../../formats/format-text-words.h"
#include "../probe/subprocess.h"
#include "../tool/cmd.h"
#include "hwloc.h"

#define STYLE		"lstopoStyle"
#define LEGEND		"lstopoLegend"		/* a line below the picture */
#define OURS		"sspapi: "		/* prefix of our legend lines */
#define ELSEWHERE	" not on a known CPU"	/* appended to the event's name, on the root */
#define TYPES		24u
/* time limit for hwloc, above that of sp_run_in_child */
#define SECONDS		120

const char *sp_hwloc_library;

struct painter {
	const struct sp_model *m;
	uint32_t root, end;		/* the machine's components */
	bool any;			/* an event can be shown */
	uint32_t color;			/* the event that decides colours */
	unsigned types;
	struct {
		const char *name;	/* [16], as in struct sp_component */
		double max;
	} type[TYPES];
};

static bool is_cache(const struct sp_component *c)
{
	return c->type[0] == 'L' && c->type[1] >= '1' && c->type[1] <= '5';
}

/* ---- colours ----------------------------------------------------------- */

static double amount(const struct painter *p, uint32_t component)
{
	double d =
		sp_value_double(sp_event_type(p->m, p->color), sp_sum(p->m, component, p->color));

	return d > 0.0 ? d : 0.0;
}

/* Finds the maxima over all machines, so that colours have the same meaning in each file. */
static void find_maxima(struct painter *p)
{
	for (uint32_t c = 0; c < p->m->n_components; c++) {
		const char *name = p->m->component[c].type;
		unsigned i = 0;

		while (i < p->types &&
		       strncmp(p->type[i].name, name, sizeof(p->m->component[c].type)))
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

/* Returns whether the component gets a colour. A container of coloured objects stays neutral,
 * because it would dominate the picture. */
static bool is_coloured(const struct painter *p, uint32_t component)
{
	const struct sp_component *c = &p->m->component[component];

	return p->any && p->m->sums.counted[component] && (sp_component_is(c, "PU") || is_cache(c));
}

/* Returns whether the component gets a style. Containers are neutral on the whole machine: lstopo's
 * default colours would look like counts. */
static bool is_styled(const struct painter *p, uint32_t component)
{
	const struct sp_component *c = &p->m->component[component];

	return is_coloured(p, component) || (p->any && !sp_component_is(c, "PU") && !is_cache(c));
}

/* Returns the component's share of the maximum of its type, 0 to 1. */
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

/* Pale yellow, orange, dark red: darker is more, also printed in grey. Below 0: neutral. */
static const char *style(char text[48], double s)
{
	static const unsigned char stop[3][3] = { { 255, 255, 212 },
						  { 254, 153, 41 },
						  { 178, 20, 20 } };
	unsigned low = s < 0.5 ? 0 : 1, v[3];
	double f = s * 2.0 - low;

	for (unsigned i = 0; i < 3; i++)
		v[i] = s < 0.0 ? 0xee
			       : (unsigned)(stop[low][i] + f * (stop[low + 1][i] - stop[low][i]) +
					    0.5) &
					 255;
	snprintf(text, 48, "Background=#%02x%02x%02x%s", v[0], v[1], v[2],
		 s > 0.75 ? ";Text=#ffffff" : "");
	return text;
}

/* ---- infos and styles ---------------------------------------------------- */

/* Writes an event's name with a suffix. hwloc drops non-ASCII characters, which could make two
 * names equal. */
static const char *info_name(char name[1024], const struct sp_model *m, uint32_t e,
			     const char *suffix)
{
	char buf[32];
	struct sp_out out;

	sp_memory_init(&out, name, 1024);
	for (const char *c = sp_event_name(m, e, buf); *c; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			sp_out_f(&out, "\\x%c%c", "0123456789abcdef"[(unsigned char)*c >> 4],
				 "0123456789abcdef"[*c & 15]);
		else
			sp_out_char(&out, *c);
	sp_out_text(&out, suffix);
	return sp_memory_text(&out);
}

static void event_info(struct sp_topo_object *o, const struct sp_model *m, uint32_t e,
		       const char *suffix, const char *value)
{
	char name[1024];

	o->info(o, info_name(name, m, e, suffix), value);
}

static void count(struct sp_topo_object *o, const struct sp_model *m, uint32_t e,
		  const char *suffix, int64_t value)
{
	char text[64];
	struct sp_out out;

	sp_memory_init(&out, text, sizeof(text));
	sp_out_value(&out, sp_event_type(m, e), value);
	event_info(o, m, e, suffix, sp_memory_text(&out));
}

/* "mean 47.5, last 50, min 45, max 50, 2 readings"; for bits only the last value */
static void gauge(struct sp_topo_object *o, const struct sp_model *m, uint32_t e,
		  const struct sp_gauge_value *g, const char *suffix)
{
	enum sp_data_type type = sp_event_type(m, e);
	char text[256];
	struct sp_out out;

	sp_memory_init(&out, text, sizeof(text));
	if (type == SP_BIT64) {
		sp_out_f(&out, "last %#lx", (uint64_t)g->last);
	} else {
		sp_out_f(&out,
			 g->mean < 0.1 && g->mean > -0.1 ? "mean %f, last " : "mean %.3f, last ",
			 g->mean);
		sp_out_value(&out, type, g->last);
		sp_out_text(&out, ", min ");
		sp_out_value(&out, type, g->min);
		sp_out_text(&out, ", max ");
		sp_out_value(&out, type, g->max);
	}
	sp_out_f(&out, ", %lu reading%s", g->readings, SP_MANY(g->readings));
	event_info(o, m, e, suffix, sp_memory_text(&out));
}

/* The scale, which lstopo writes below its picture. */
static void legend(const struct painter *p, struct sp_topo_object *o)
{
	char most[48], line[1200], name[1024];
	uint32_t best = p->root;
	struct sp_out out;

	for (uint32_t c = p->root; c < p->end; c++)
		if (sp_component_is(&p->m->component[c], "PU") &&
		    (!sp_component_is(&p->m->component[best], "PU") ||
		     amount(p, c) > amount(p, best)))
			best = c;
	sp_short_text(most, p->m, p->color, sp_sum(p->m, best, p->color));
	sp_memory_init(&out, line, sizeof(line));
	sp_out_text(&out, OURS);
	sp_out_text(&out, info_name(name, p->m, p->color, ""));
	if (!sp_sum(p->m, best, p->color)) {	/* a device's, such as a GPU's */
		sp_out_text(&out, " was counted on no PU; devices and the machine have attributes");
		o->info(o, LEGEND, sp_memory_text(&out));
		return;
	}
	sp_out_text(&out, ", pale 0 to dark red ");
	sp_out_text(&out, most);
	sp_out_text(&out, " of a PU; a cache by the largest of its kind");
	o->info(o, LEGEND, sp_memory_text(&out));
	o->info(o, LEGEND, OURS "lstopo --no-factorize shows each PU");
}

/* Puts the note of counts before the first readings below the picture. */
static void early_counts(const struct painter *p, struct sp_topo_object *o)
{
	char line[1200];
	const char *note;

	for (uint32_t i = 0; (note = sp_model_note(p->m, i)) != NULL; i++)
		if (strncmp(note, SP_NOTE_EARLY_COUNTS, strlen(SP_NOTE_EARLY_COUNTS)) == 0)
			o->info(o, LEGEND, sp_text_f(line, sizeof(line), OURS "%s", note));
}

/* Adds infos about the whole run to the root, if it has one machine. */
static void run_infos(const struct painter *p, struct sp_topo_object *o)
{
	const struct sp_model *m = p->m;
	struct sp_gauge_value g;

	for (uint32_t e = 0; e < m->n_events; e++) {
		if (sp_gauge_at(m, -1, e, &g))
			gauge(o, m, e, &g, ELSEWHERE);
		if (sp_event_is_summed(m, e) && m->sums.unplaced[e])
			count(o, m, e, ELSEWHERE, m->sums.unplaced[e]);
	}
}

/* "768 (17 %)" */
static void label(const struct painter *p, uint32_t component, struct sp_topo_object *o)
{
	enum sp_data_type type = sp_event_type(p->m, p->color);
	char number[48], part[48], text[120], color[48];

	sp_short_text(number, p->m, p->color, sp_sum(p->m, component, p->color));
	snprintf(text, sizeof(text), "%s (%s)", number,
		 sp_share(part, amount(p, component),
			  sp_value_double(type, p->m->sums.total[p->color])));
	o->label(o, text, style(color, share(p, component)));
}

/* Gives every object every event, also 0: nothing was counted there. Only objects with counts are
 * coloured. */
static void paint(void *arg, uint32_t number, struct sp_topo_object *o)
{
	const struct painter *p = arg;
	const struct sp_model *m = p->m;
	uint32_t component = p->root + number;
	struct sp_gauge_value g;
	char color[48];

	for (uint32_t e = 0; e < m->n_events; e++) {
		if (sp_event_is_summed(m, e) && sp_sum_is_known(m, component, e) &&
		    sp_is_present(m, component, e))
			count(o, m, e, "", sp_sum(m, component, e));
		if (sp_gauge_at(m, (int32_t)component, e, &g))
			gauge(o, m, e, &g, "");
	}
	if (!number && m->n_machines == 1)
		run_infos(p, o);
	if (!number && p->any)
		legend(p, o);
	if (!number)
		early_counts(p, o);
	if (is_styled(p, component))
		o->info(o, STYLE,
			style(color, is_coloured(p, component) ? share(p, component) : -1.0));
	if (is_coloured(p, component))
		label(p, component, o);
}

/* Finds infos of an earlier dump in the XML given as SSPAPI_TOPOLOGY, and colours that ours
 * replace. */
static bool is_old(void *arg, const char *name, const char *value)
{
	const struct painter *p = arg;

	if (!strcmp(name, STYLE))
		return true;
	if (!strcmp(name, LEGEND))
		return strncmp(value, OURS, strlen(OURS)) == 0;
	for (uint32_t e = 0; e < p->m->n_events; e++) {
		char text[1024];
		size_t n;

		if (!p->m->event_counted[e] || !p->m->event[e])
			continue;
		n = strlen(info_name(text, p->m, e, ""));
		if (!strncmp(name, text, n) && (!name[n] || !strcmp(name + n, ELSEWHERE)))
			return true;
	}
	return false;
}

/* ---- hwloc, in a child ---------------------------------------------------- */

/* Restricts this hwloc: no plugins, no other XML reader, no output on standard error. */
static void quiet_hwloc(void)
{
	setenv("HWLOC_PLUGINS_PATH", "/dev/null/no-plugins", 1);
	setenv("HWLOC_LIBXML", "0", 1);
	setenv("HWLOC_HIDE_ERRORS", "2", 1);
	unsetenv("HWLOC_COMPONENTS");
}

static int paint_machine(struct painter *p, uint32_t machine, int fd)
{
	const struct sp_model *m = p->m;
	struct sp_topo t = { .n = p->end - p->root,
			     .xml = (char *)m->machine[machine].xml,
			     .xml_bytes = m->machine[machine].xml_bytes };
	struct sp_topo_painter painter = { p, paint, is_old };
	int (*paint_topo)(const struct sp_topo *, const struct sp_topo_painter *, int);
	void *library =
		dlopen(sp_hwloc_library ? sp_hwloc_library : sp_cli_library("libsspapi-topo.so"),
		       RTLD_NOW | RTLD_LOCAL);

	*(void **)&paint_topo = library ? dlsym(library, "sp_topo_paint") : NULL;
	if (!paint_topo)
		return -ELIBACC;
	if (t.xml_bytes >= INT_MAX)
		return -EINVAL;
	t.component = calloc(t.n + 1, sizeof(*t.component));
	if (!t.component)
		return -ENOMEM;
	for (uint32_t c = 0; c < t.n; c++) {
		t.component[c] = m->component[p->root + c];
		t.component[c].parent -= c ? (int32_t)p->root : 0;
	}
	return paint_topo(&t, &painter, fd);
}

struct child {
	struct painter *p;
	uint32_t machine;
	int fd;				/* receives the XML */
};

static void paint_in_child(void *arg, int to)
{
	const struct child *c = arg;

	alarm(SECONDS);
	quiet_hwloc();
	dprintf(to, "%d\n", paint_machine(c->p, c->machine, c->fd));
}

static void take_result(void *arg, char *line)
{
	*(int *)arg = atoi(line);
}

static int copy(struct sp_out *o, int fd)
{
	char block[65536];
	ssize_t n;

	for (off_t at = 0; (n = pread(fd, block, sizeof(block), at)) > 0 && !o->error; at += n)
		sp_out_bytes(o, block, (size_t)n);
	return n < 0 ? -errno : o->error;
}

/* Runs hwloc in a child, because some XML makes it abort. */
static int paint_with_child(struct painter *p, uint32_t machine, struct sp_out *o)
{
	struct child c = { p, machine, memfd_create("sspapi", MFD_CLOEXEC) };
	int r = -EBADMSG;

	if (c.fd < 0)
		return -errno;
	if (sp_run_in_child(paint_in_child, &c, take_result, &r))
		r = -EBADMSG;
	if (r == 0)
		r = copy(o, c.fd);
	close(c.fd);
	return r == -EINVAL ? -EBADMSG : r;
}

/* ---- the format ---------------------------------------------------------- */

/* Finds the event with this name that has sums; n_events: no such event. */
static uint32_t find_event(const struct sp_model *m, const char *name)
{
	char buf[32];
	uint32_t e = 0;

	while (e < m->n_events &&
	       !(name && sp_event_is_summed(m, e) &&
		 sp_event_has_name(sp_event_name(m, e, buf), name, strlen(name))))
		e++;
	return e;
}

bool sp_hwloc_colors(const struct sp_model *m, const char *name)
{
	bool any = false;

	for (uint32_t e = 0; e < m->n_events; e++)
		any = any || sp_event_is_summed(m, e);
	return !name || !any || find_event(m, name) < m->n_events;
}

const char *sp_hwloc_color_by(void)
{
	const char *name = getenv("SSPAPI_COLOR_BY");

	return name && *name ? name : NULL;
}

static uint32_t leading_event(const struct sp_selection *s)
{
	bool *summed = sp_check_alloc(calloc(s->m->n_events + 1, sizeof(*summed)));
	uint32_t lead;

	for (uint32_t e = 0; e < s->m->n_events; e++)
		summed[e] = sp_event_is_summed(s->m, e);
	lead = sp_leading_event(s, summed);
	free(summed);
	return lead;
}

int sp_hwloc_write(struct sp_out *o, const struct sp_selection *s, uint32_t machine)
{
	const struct sp_model *m = s->m;
	struct painter p = { .m = m,
			     .root = (uint32_t)sp_max(m->machine[machine].root, 0),
			     .end = m->n_components };

	if (m->machine[machine].root < 0)
		p.end = p.root;
	else if (machine + 1 < m->n_machines)
		p.end = (uint32_t)m->machine[machine + 1].root;
	p.color = find_event(m, s->color_by ? s->color_by : sp_hwloc_color_by());
	if (p.color == m->n_events)
		p.color = leading_event(s);
	p.any = p.color < m->n_events;
	if (p.any)
		find_maxima(&p);
	return paint_with_child(&p, machine, o);
}

void sp_format_hwloc(struct sp_out *o, const struct sp_selection *s)
{
	int e = s->m->n_machines > 1 ? -EXDEV : sp_hwloc_write(o, s, 0);

	if (!o->error)
		o->error = e;
}
