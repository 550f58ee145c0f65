/* format-text-words.c: words, names, sentences and numbers in columns of a terminal. */
#include "../model/observers.h"
#include "format-text-words.h"

#define NAME_MOST	61u		/* bytes of a program's name that stay, plus one */

void sp_heading_begin(struct sp_out *o, bool bold)
{
	sp_out_text(o, bold ? "\033[1m" : "");
}

void sp_heading_end(struct sp_out *o, bool bold)
{
	sp_out_text(o, bold ? "\033[0m\n" : "\n");
}

/* ---- words and sentences ----------------------------------------------- */

unsigned sp_columns(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

unsigned sp_clip(struct sp_out *o, const char *text, unsigned max)
{
	unsigned n = 0, keep;
	size_t bytes = 0;

	if (sp_columns(text) <= max) {
		sp_out_text(o, text);
		return sp_columns(text);
	}
	keep = max > 2 ? max - 2 : 0;
	while (text[bytes] && n + ((text[bytes] & 0xc0) != 0x80) <= keep)
		n += (text[bytes++] & 0xc0) != 0x80;
	sp_out_bytes(o, text, bytes);
	sp_out_text(o, "..");
	return n + 2;
}

static void command(struct sp_out *o, const struct sp_model *m, bool args)
{
	const char *exe = sp_model_text(m, m->h.process.exe),
		   *arg = sp_store_reader_text_at(m->reader, m->h.process.args, 0);

	sp_out_plain(o, *exe ? sp_base_name(exe) : arg && *arg ? sp_base_name(arg) :
			sp_is_job(m) ? "several programs" : "an unknown program");
	for (uint32_t i = 1; args && !o->error &&
	     (arg = sp_store_reader_text_at(m->reader, m->h.process.args, i)); i++)
		sp_out_f(o, *arg && !strchr(arg, ' ') ? " %s" : " '%s'", arg);
}

void sp_text_command(struct sp_out *o, const struct sp_model *m, unsigned max)
{
	char name[NAME_MOST], all[700];
	struct sp_out to;

	sp_memory_init(&to, name, sizeof(name));
	command(&to, m, false);
	sp_memory_text(&to);
	sp_memory_init(&to, all, sizeof(all));
	command(&to, m, true);
	/* a blank and ".." after the name */
	sp_clip(o, sp_memory_text(&to), (unsigned)sp_max(max, sp_columns(name) + 3));
}

void sp_left(struct sp_out *o, const char *text, unsigned width)
{
	unsigned n = sp_clip(o, text, width);

	sp_out_repeat(o, ' ', width - n);
}

void sp_right(struct sp_out *o, const char *text, unsigned width)
{
	unsigned n = sp_columns(text);

	sp_out_repeat(o, ' ', n < width ? width - n : 0);
	sp_out_text(o, text);
}

/* Returns the length of the longest part of the text that fits the width, broken at a blank if
 * possible. */
static size_t line_of(const char *text, unsigned width)
{
	size_t bytes = 0, blank = 0;

	for (unsigned n = 0; text[bytes]; bytes++) {
		n += (text[bytes] & 0xc0) != 0x80;
		if (n > width)
			return blank ? blank : bytes;
		if (text[bytes] == ' ')
			blank = bytes;
	}
	return bytes;
}

void sp_paragraph(struct sp_out *o, const char *start, unsigned indent, const char *text)
{
	unsigned column = sp_columns(start);

	sp_out_text(o, start);
	do {
		size_t n = line_of(text, SP_TEXT_WIDTH - column);

		sp_out_bytes(o, text, n);
		sp_out_char(o, '\n');
		text += n;
		while (*text == ' ')
			text++;
		column = indent;
		sp_out_repeat(o, ' ', *text ? indent : 0);
	} while (*text);
}

void sp_out_duration(struct sp_out *o, uint64_t ns)
{
	uint64_t s = ns / 1000000000;

	if (ns < 1000000)
		sp_out_f(o, "%.1f us", (double)ns / 1e3);
	else if (s < 1)
		sp_out_f(o, "%.1f ms", (double)ns / 1e6);
	else if (s < 120)
		sp_out_f(o, "%.2f s", (double)ns / 1e9);
	else if (s < 3600)
		sp_out_f(o, "%lu min %lu s", s / 60, s % 60);
	else
		sp_out_f(o, "%'lu hour%s %lu min %lu s", s / 3600, SP_MANY(s / 3600), s % 3600 / 60,
			 s % 60);
}

static void three_digits(struct sp_out *o, char before, uint64_t v)
{
	char text[] = { before, (char)('0' + v / 100 % 10), (char)('0' + v / 10 % 10),
			(char)('0' + v % 10) };

	sp_out_bytes(o, text, sizeof(text));
}

/* ---- numbers ----------------------------------------------------------- */

static void fp64(struct sp_out *o, double d)
{
	uint64_t n;

	if (!(d < 1e15 && d > -1e15) || (d < 0.1 && d > -0.1 && d != 0.0)) {
		sp_out_double(o, d, -1);
		return;
	}
	n = (uint64_t)((d < 0.0 ? -d : d) * 1e3 + 0.5);
	sp_out_f(o, "%s%'lu", d < 0.0 ? "-" : "", n / 1000);
	three_digits(o, '.', n);
}

unsigned sp_value_text(char buf[48], enum sp_data_type type, int64_t v)
{
	struct sp_out o;
	uint64_t u = (uint64_t)v;

	sp_memory_init(&o, buf, 48);
	if (type == SP_FP64) {
		fp64(&o, sp_float(v));
	} else if (type == SP_BIT64) {
		sp_out_hex(&o, u);
	} else if (type == SP_UINT64 && v < 0) {	/* above the maximum of a grouped number */
		sp_out_f(&o, "%'lu", u / 1000);
		three_digits(&o, ',', u);
	} else {
		sp_out_f(&o, "%'ld", v);
	}
	return sp_columns(sp_memory_text(&o));
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && !strcmp(text + n - k, end);
}

bool sp_event_is_time(const struct sp_model *m, uint32_t event)
{
	static const char *const cycles[] = { "PAPI_TOT_CYC",	 "PAPI_REF_CYC",
					      "CPU-CYCLES",	 "CPU_CYCLES",
					      "HW_CPU_CYCLES",	 "CYCLES_NOT_IN_HALT",
					      "::CYCLES",	 "UNHALTED_CORE_CYCLES",
					      "CPU_CLK_UNHALTED" };
	char name[256], *mask;

	sp_text_f(name, sizeof(name), "%s", SP_EVENT_TEXT(m, event, name));
	name[strcspn(name, " ")] = 0;
	mask = strstr(name, "::");
	mask = mask ? strchr(mask + 2, ':') : NULL;
	if (mask)			/* cycles in user mode are also time */
		*mask = 0;
	for (unsigned i = 0; i < SP_COUNT(cycles); i++)
		if (ends_with(name, cycles[i]))
			return true;
	return sp_name_is_clock(name);
}

uint32_t sp_leading_event(const struct sp_selection *s, const bool *columns)
{
	const struct sp_model *m = s->m;
	uint32_t lead = m->n_events;
	unsigned best = 0;
	char buf[32];

	for (uint32_t e = 0; e < m->n_events; e++) {
		const char *name = sp_event_name(m, e, buf);
		unsigned rank = !columns[e] || !sp_selection_event(s, e)		? 0
				: s->sort && sp_event_has_name(name, s->sort, strlen(s->sort)) ? 4
				: !m->sums.total[e]					? 1
				: sp_event_is_time(m, e)				? 3
											: 2;

		if (rank > best) {
			best = rank;
			lead = e;
		}
	}
	return lead;
}

/* Returns the unit of the event and the number of counts in one: kernel clocks count ns, though
 * they report no unit. NULL: a unit that is not scaled. */
static const char *scaled_unit(const struct sp_model *m, uint32_t event, double *one)
{
	const char *units = SP_EVENT_TEXT(m, event, units), *name = SP_EVENT_TEXT(m, event, name);

	static const struct {
		const char *units, *unit;
		double one;
	} known[] = { { "ns", "s", 1e-9 }, { "us", "s", 1e-6 },	 { "nJ", "J", 1e-9 },
		      { "uJ", "J", 1e-6 }, { "mJ", "J", 1e-3 },	 { "J", "J", 1.0 },
		      { "uW", "W", 1e-6 }, { "mW", "W", 1e-3 },	 { "W", "W", 1.0 } };

	*one = 1e-9;
	if (!*units && sp_name_is_clock(name))
		return "s";
	for (unsigned i = 0; i < SP_COUNT(known); i++)
		if (strcmp(units, known[i].units) == 0) {
			*one = known[i].one;
			return known[i].unit;
		}
	return NULL;
}

/* Writes four digits and the power of 1000: "46.70 m", "1.235 G"; seconds get no prefix above 1. */
static void scaled(struct sp_out *o, double v, const char *unit)
{
	static const char prefix[] = "num kMGTPE";
	double size = v < 0.0 ? -v : v;
	int p = 3;

	for (; size >= 999.95 && p < 9 && (p < 3 || *unit != 's'); p++)
		size /= 1000.0, v /= 1000.0;
	for (; size > 0.0 && size < 0.99995 && p > 0; p--)
		size *= 1000.0, v *= 1000.0;
	if (size >= 999.95 || v != v)
		sp_out_double(o, v, 0);
	else
		sp_out_double(o, v, size >= 99.995 ? 1 : size >= 9.9995 ? 2 : size > 0.0 ? 3 : 0);
	if (p != 3 || *unit)
		sp_out_char(o, ' ');
	if (p != 3)
		sp_out_char(o, prefix[p]);
	sp_out_text(o, unit);
}

unsigned sp_short_text(char buf[48], const struct sp_model *m, uint32_t event, int64_t v)
{
	enum sp_data_type type = sp_event_type(m, event);
	double one, number = sp_value_double(type, v);
	const char *unit = scaled_unit(m, event, &one);
	struct sp_out o;

	if (type == SP_BIT64 || (!unit && number < 1e7 && number > -1e7))
		return sp_value_text(buf, type, v);
	sp_memory_init(&o, buf, 48);
	scaled(&o, unit ? number * one : number, unit ? unit : "");
	return sp_columns(sp_memory_text(&o));
}

const char *sp_gauge_unit(const struct sp_model *m, uint32_t event)
{
	static const char *const celsius[] = { "C", "Celsius", "degC", "degree C", "degrees C" };
	const char *units = SP_EVENT_TEXT(m, event, units);
	double one;

	for (unsigned i = 0; i < SP_COUNT(celsius); i++)
		if (strcasecmp(units, celsius[i]) == 0)
			return "\xc2\xb0\x43";
	return scaled_unit(m, event, &one) ?: *units && strlen(units) <= 5 ? units : NULL;
}

unsigned sp_gauge_text(char buf[48], const struct sp_model *m, uint32_t event,
		       enum sp_data_type type, int64_t v)
{
	double one, number = sp_value_double(type, v);
	const char *unit = scaled_unit(m, event, &one);
	struct sp_out o;

	if (unit && type != SP_BIT64) {
		sp_memory_init(&o, buf, 48);
		scaled(&o, number * one, unit);
		return sp_columns(sp_memory_text(&o));
	}
	if (type == SP_FP64 && number > -1e15 && number < 1e15 && number == (double)(int64_t)number)
		sp_value_text(buf, SP_INT64, (int64_t)number);
	else
		sp_value_text(buf, type, v);
	if (sp_gauge_unit(m, event) && type != SP_BIT64)
		sp_text_f(buf + strlen(buf), 48 - strlen(buf), " %s", sp_gauge_unit(m, event));
	return sp_columns(buf);
}

double sp_proven_share(enum sp_data_type type, int64_t total, int64_t exact)
{
	double whole = sp_value_double(type, total), part;

	if (whole == 0.0)
		return -1.0;
	if (total == exact)
		return 1.0;
	part = sp_value_double(type, exact) / whole;
	return part > 0.0 ? (part < 0.9999 ? part : 0.9999) : 0.0;
}

bool sp_is_unproven(enum sp_data_type type, int64_t total, int64_t exact)
{
	double share = sp_proven_share(type, total, exact);

	return share >= 0.0 && share <= 0.999;
}

/* Sums of a damaged store may be any number. */
int64_t sp_round_to_type(enum sp_data_type type, double d)
{
	if (type == SP_FP64)
		return sp_float_bits(d);
	d += d < 0.0 ? -0.5 : 0.5;
	if (type == SP_INT64)
		return d >= 0x1p63 ? INT64_MAX : d >= -0x1p63 ? (int64_t)d : INT64_MIN;
	return d >= 0x1p64 ? -1 : d > 0.0 ? (int64_t)(uint64_t)d : 0;
}

const char *sp_percent(char buf[48], double part, double whole)
{
	uint64_t n = part > 0.0 && part < whole
			     ? (uint64_t)sp_min((uint64_t)(part / whole * 1000.0), 999)
			     : 0;

	if (!(whole > 0.0))
		return strcpy(buf, "-");
	if (part >= whole || !(part > 0.0))
		return strcpy(buf, part >= whole ? "100 %" : "0 %");
	return part / whole < 0.001 ? strcpy(buf, "<0.1 %")
				    : sp_text_f(buf, 48, "%lu.%lu %%", n / 10, n % 10);
}

const char *sp_share(char buf[48], double part, double whole)
{
	double share = whole > 0.0 || whole < 0.0 ? part / whole * 100.0 : 0.0;

	if (!(whole > 0.0 || whole < 0.0) || !(share > -1e6 && share < 1e6))
		return strcpy(buf, "-");
	if (share > 0.0 && share < 0.5)
		return strcpy(buf, "<1 %");
	return share >= 99.5 && share < 100.0 ? strcpy(buf, ">99 %")
					      : sp_text_f(buf, 48, "%.0f %%", share);
}

void sp_text_shown_by(struct sp_out *o, const struct sp_selection *s, const char *option)
{
	bool store = s->file && strcmp(s->file, SP_FORMAT_NO_STORE) != 0;

	if (store)
		sp_out_f(o, ": sspapi report --%s%s%s%s", option, s->again ? s->again : "",
			 *s->file ? " " : "", s->file);
	else if (s->file && !s->m->h.stat)
		sp_out_text(o, ": SSPAPI_VERBOSE=2");
	else if (strcmp(option, "all") != 0)
		sp_out_f(o, ": --%s", option);
}

/* ---- names -------------------------------------------------------------- */

void sp_text_component(struct sp_out *o, const struct sp_model *m, uint32_t index)
{
	const struct sp_component *c = &m->component[index];
	char type[sizeof(c->type) + 1], name[sizeof(c->name) + 1];
	bool machine = sp_component_is(c, "Machine");

	sp_fixed_text(type, c->type, sizeof(c->type));
	if (type[0] >= 'A' && type[0] <= 'Z' && type[1] >= 'a' && type[1] <= 'z')
		type[0] = (char)(type[0] - 'A' + 'a');
	if (sp_component_is(c, "PU"))
		sp_text_cpu(o, m, c->os_index, (int32_t)index);
	else if (machine && m->n_machines > 1)
		sp_out_f(o, "host %s", sp_fixed_text(name, c->name, sizeof(c->name)));
	else if (machine || sp_component_is(c, "Job"))
		sp_out_f(o, "%s", type);
	else
		sp_out_f(o, "%s %d", type, c->logical_index);
	if (sp_component_is(c, "GPU") && *c->name) {	/* the model */
		sp_out_text(o, " (");
		sp_out_plain(o, sp_fixed_text(name, c->name, sizeof(c->name)));
		sp_out_char(o, ')');
	}
}

void sp_text_cpu(struct sp_out *o, const struct sp_model *m, int32_t cpu, int32_t component)
{
	int32_t core = component >= 0 ? sp_model_above(m, component, "Core") : -1;

	if (cpu < 0)
		sp_out_text(o, "no known CPU");
	else if (component < 0)
		sp_out_f(o, "CPU %d (not in the topology)", cpu);
	else if (core < 0)
		sp_out_f(o, "CPU %d", cpu);
	else
		sp_out_f(o, "CPU %d (core %d)", cpu, m->component[core].logical_index);
}

/* perf::PAGE-FAULTS, PAPI_TOT_INS, perf::PERF_COUNT_SW_TASK_CLOCK, rapl:::ENERGY */
static const char *behind_prefix(const char *name)
{
	const char *colons = strstr(name, "::");

	if (!strncmp(name, "PAPI_", 5))
		return name[5] ? name + 5 : name;
	if (colons && colons[2 + (colons[2] == ':')])
		name = colons + 2 + (colons[2] == ':');
	if (!strncmp(name, "PERF_COUNT_", 11) && name[11] && name[12] && name[13] == '_' &&
	    name[14])
		name += 14;
	return name;
}

static const char *short_name(const struct sp_model *m, uint32_t event, char buf[32])
{
	const char *name = sp_event_name(m, event, buf), *rest = behind_prefix(name);
	char other[32];

	for (uint32_t e = 0; e < m->n_events && rest != name; e++)
		if (e != event && m->event_counted[e] &&
		    !strcmp(behind_prefix(sp_event_name(m, e, other)), rest))
			return name;
	return rest;
}

bool sp_text_is_event(const struct sp_model *m, const char *name)
{
	char buf[32];

	for (uint32_t e = 0; e < m->n_events; e++)
		if (m->event_counted[e] && !strcmp(behind_prefix(sp_event_name(m, e, buf)), name))
			return true;
	return false;
}

static size_t alike(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

/* A long name is cut where another name continues in the same way, so that the difference remains.
 * (OFFCORE events have names of 154 characters that differ at the end.) */
#define NAME_LONG	56u
static void cut_name(const struct sp_model *m, uint32_t event, char text[256])
{
	char other[32], cut[256];
	size_t same = 0, n = strlen(text), from;

	for (uint32_t e = 0; n > NAME_LONG && e < m->n_events; e++)
		if (e != event && m->event_counted[e])
			same = sp_max(same, alike(text, behind_prefix(sp_event_name(m, e, other))));
	if (n <= NAME_LONG)
		return;
	for (from = sp_min(same, n - 1); from && !strchr(":.=", text[from - 1]);)
		from--;
	if (from < 20)			/* they differ early */
		from = n - (NAME_LONG - 16);
	sp_text_f(cut, sizeof(cut), "%s", text + from);
	sp_text_f(text + 12, 64, "..%s", cut);
	if (strlen(text) > NAME_LONG + 8)
		strcpy(text + NAME_LONG + 6, "..");
}

static void plain_name(const struct sp_model *m, uint32_t event, char text[256])
{
	const char *units = SP_EVENT_TEXT(m, event, units);
	double one;
	char buf[32];

	sp_text_f(text, 200, "%s", short_name(m, event, buf));
	cut_name(m, event, text);
	if (*units && strlen(units) < 16 && !scaled_unit(m, event, &one))
		sp_text_f(text + strlen(text), 42, " [%s]", units);
}

/* Names are unique: a name that an earlier event has is followed by the event's number. */
const char *sp_text_event(const struct sp_model *m, uint32_t event, char text[256])
{
	char other[256], own[32], its[32];
	const char *name = sp_event_name(m, event, own);
	bool twice = false, is_long = strlen(behind_prefix(name)) > NAME_LONG;

	plain_name(m, event, text);
	for (uint32_t e = 0; e < event && m->event_counted[event] && !twice; e++) {
		if (!m->event_counted[e])
			continue;
		twice = strcmp(sp_event_name(m, e, its), name) == 0;
		if (!twice && is_long && strlen(sp_event_name(m, e, its)) > NAME_LONG) {
			plain_name(m, e, other);
			twice = strcmp(other, text) == 0;
		}
	}
	if (twice)
		sp_text_f(text + strlen(text), 14, " #%u", event);
	return text;
}

bool sp_text_observers(const struct sp_model *m, uint32_t *next, char text[512])
{
	for (uint32_t e = (*next)++; e < m->n_events; e = (*next)++) {
		uint32_t by = sp_event_observers(m, e), more = 0;
		bool has_rest = false;
		char name[256 + 48];

		for (uint32_t i = 0; i < m->n_events && by; i++) {
			has_rest = has_rest || (i < e && sp_event_observers(m, i) == by);
			more += i > e && sp_event_observers(m, i) == by;
		}
		if (!by || has_rest)
			continue;
		sp_text_event(m, e, name);
		if (more)
			sp_text_f(name + strlen(name), 48, " and %'u more event%s", more,
				  SP_MANY(more));
		sp_text_f(text, 512,
			  "%s: %'u observers read the same event at the same time; the longest "
			  "observation counts (each one: --per-thread)",
			  name, by);
		return true;
	}
	return false;
}
