/* view-text-words.c: words, names, sentences and numbers in columns of a terminal. */
#include "core-kinds.h"
#include "view-text.h"

/* ---- headings ------------------------------------------------------------ */

bool sp_view_bold;

void sp_heading_begin(struct sp_out *o)
{
	sp_out_text(o, sp_view_bold ? "\033[1m" : "");
}

void sp_heading_end(struct sp_out *o)
{
	sp_out_text(o, sp_view_bold ? "\033[0m\n" : "\n");
}

/* ---- words and sentences ----------------------------------------------- */

void sp_memory_init(struct sp_out *o, char *buf, size_t size)
{
	sp_out_init(o, -1, buf, size - 1);
}

const char *sp_memory_text(struct sp_out *o)
{
	o->buffer[o->used] = '\0';
	return o->buffer;
}

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

void sp_out_grouped(struct sp_out *o, uint64_t v)
{
	char buf[32];

	sp_out_bytes(o, buf, sp_format_grouped(buf, (int64_t)sp_min(v, INT64_MAX)));
}

void sp_out_amount(struct sp_out *o, uint64_t n, const char *thing)
{
	sp_out_grouped(o, n);
	sp_out_char(o, ' ');
	sp_out_text(o, thing);
	if (n != 1)
		sp_out_char(o, 's');
}

/* As many columns of the text as a line may have left; longer words are cut where they must be. */
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

	if (ns < 1000000) {
		sp_out_double(o, (double)ns / 1e3, 1);
		sp_out_text(o, " us");
	} else if (s < 1) {
		sp_out_double(o, (double)ns / 1e6, 1);
		sp_out_text(o, " ms");
	} else if (s < 120) {
		sp_out_double(o, (double)ns / 1e9, 2);
		sp_out_text(o, " s");
	} else {
		if (s >= 3600)
			sp_out_amount(o, s / 3600, "hour");
		sp_out_text(o, s >= 3600 ? " " : "");
		sp_out_u64(o, s % 3600 / 60);
		sp_out_text(o, " min ");
		sp_out_u64(o, s % 60);
		sp_out_text(o, " s");
	}
}

static void two_digits(struct sp_out *o, uint64_t v)
{
	sp_out_char(o, (char)('0' + v / 10 % 10));
	sp_out_char(o, (char)('0' + v % 10));
}

/* ---- numbers ----------------------------------------------------------- */

static void fp64(struct sp_out *o, double d)
{
	uint64_t n;

	if (!(d < 1e15 && d > -1e15) || (d < 0.1 && d > -0.1 && d != 0.0)) {
		sp_out_double(o, d, -1);
		return;
	}
	if (d < 0.0)
		sp_out_char(o, '-');
	n = (uint64_t)((d < 0.0 ? -d : d) * 1e3 + 0.5);
	sp_out_grouped(o, n / 1000);
	sp_out_char(o, '.');
	sp_out_char(o, (char)('0' + n / 100 % 10));
	two_digits(o, n % 100);
}

unsigned sp_value_text(char buf[48], enum sp_data_type type, int64_t v)
{
	struct sp_out o;
	char group[32];
	uint64_t u = (uint64_t)v;

	sp_memory_init(&o, buf, 48);
	if (type == SP_FP64) {
		fp64(&o, sp_as_double(v));
	} else if (type == SP_BIT64) {
		sp_out_hex(&o, u);
	} else if (type == SP_UINT64 && v < 0) {
		/* More than sp_format_grouped takes. */
		sp_out_grouped(&o, u / 1000);
		sp_out_char(&o, ',');
		sp_out_char(&o, (char)('0' + u / 100 % 10));
		two_digits(&o, u % 100);
	} else {
		sp_out_bytes(&o, group, sp_format_grouped(group, v));
	}
	return sp_columns(sp_memory_text(&o));
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && !strcmp(text + n - k, end);
}

/* The unit that a count is of and how many there are in one of it: clocks of the kernel say none
 * themselves, and count ns.  NULL: none that is scaled. */
static const char *scaled_unit(const struct sp_model *m, uint32_t event, double *one)
{
	static const char *const clocks[] = { "TASK-CLOCK", "CPU-CLOCK", "SW_TASK_CLOCK", "SW_CPU_CLOCK" };
	const char *units = SP_EVENT_TEXT(m, event, units), *name = SP_EVENT_TEXT(m, event, name);

	*one = 1e-9;
	for (unsigned i = 0; !*units && i < SP_COUNT(clocks); i++)
		if (!strncmp(name, "perf::", 6) && ends_with(name, clocks[i]))
			return "s";
	if (!strcmp(units, "ns") || !strcmp(units, "nJ"))
		return units + 1;
	*one = 1e-6;
	return !strcmp(units, "us") || !strcmp(units, "uJ") ? units + 1 : NULL;
}

/* Four digits and the power of 1000: "46.70 m", "1.235 G"; seconds are not counted in thousands. */
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
	double one, number = sp_number(type, v);
	const char *unit = scaled_unit(m, event, &one);
	struct sp_out o;

	if (type == SP_BIT64 || (!unit && number < 1e7 && number > -1e7))
		return sp_value_text(buf, type, v);
	sp_memory_init(&o, buf, 48);
	scaled(&o, unit ? number * one : number, unit ? unit : "");
	return sp_columns(sp_memory_text(&o));
}

double sp_proven_share(enum sp_data_type type, int64_t total, int64_t exact)
{
	double whole = sp_number(type, total), part;

	if (whole == 0.0)
		return -1.0;
	if (total == exact)
		return 1.0;
	part = sp_number(type, exact) / whole;
	return part > 0.0 ? (part < 0.9999 ? part : 0.9999) : 0.0;
}

int64_t sp_plus(enum sp_data_type type, int64_t a, int64_t b)
{
	double d;
	int64_t v;

	if (type != SP_FP64)
		return (int64_t)((uint64_t)a + (uint64_t)b);
	d = sp_as_double(a) + sp_as_double(b);
	memcpy(&v, &d, sizeof(v));
	return v;
}

const char *sp_percent(char buf[48], double part, double whole)
{
	struct sp_out o;

	sp_memory_init(&o, buf, 48);
	if (!(whole > 0.0)) {
		sp_out_char(&o, '-');
	} else if (part >= whole) {
		sp_out_text(&o, "100 %");
	} else if (!(part > 0.0)) {
		sp_out_text(&o, "0 %");
	} else if (part / whole < 0.001) {
		sp_out_text(&o, "<0.1 %");
	} else {
		uint64_t n = (uint64_t)(part / whole * 1000.0);

		n = sp_min(n, 999);
		sp_out_u64(&o, n / 10);
		sp_out_char(&o, '.');
		sp_out_u64(&o, n % 10);
		sp_out_text(&o, " %");
	}
	return sp_memory_text(&o);
}

const char *sp_share(char buf[48], double part, double whole)
{
	double share = whole > 0.0 || whole < 0.0 ? part / whole * 100.0 : 0.0;
	struct sp_out o;

	sp_memory_init(&o, buf, 48);
	if (!(whole > 0.0 || whole < 0.0) || !(share > -1e6 && share < 1e6))
		sp_out_char(&o, '-');
	else if (share > 0.0 && share < 0.5)
		sp_out_text(&o, "<1 %");
	else
		sp_out_double(&o, share, 0), sp_out_text(&o, " %");
	return sp_memory_text(&o);
}

/* ---- names -------------------------------------------------------------- */

void sp_text_component(struct sp_out *o, const struct sp_model *m, uint32_t index)
{
	const struct sp_component *c = &m->component[index];
	char type[sizeof(c->type) + 1], name[sizeof(c->name) + 1];

	sp_fixed_text(type, c->type, sizeof(c->type));
	if (type[0] >= 'A' && type[0] <= 'Z' && type[1] >= 'a' && type[1] <= 'z')
		type[0] = (char)(type[0] - 'A' + 'a');
	if (sp_component_is(c, "PU")) {
		sp_text_cpu(o, m, c->os_index, (int32_t)index);
		return;
	}
	if (sp_component_is(c, "Machine") && m->n_machines > 1) {
		sp_out_text(o, "host ");
		sp_out_plain(o, sp_fixed_text(name, c->name, sizeof(c->name)));
		return;
	}
	sp_out_plain(o, type);
	if (sp_component_is(c, "Machine") || sp_component_is(c, "Job"))
		return;
	sp_out_char(o, ' ');
	sp_out_i64(o, c->logical_index);
	if (sp_component_is(c, "Core") && sp_kind_of(m, (int32_t)index) >= 0) {
		sp_out_text(o, " (");
		sp_out_plain(o, m->kind[sp_kind_of(m, (int32_t)index)].name);
		sp_out_char(o, ')');
	}
}

void sp_text_cpu(struct sp_out *o, const struct sp_model *m, int32_t cpu, int32_t component)
{
	int32_t core = component >= 0 ? sp_model_above(m, component, "Core") : -1;

	if (cpu < 0) {
		sp_out_text(o, "no known CPU");
		return;
	}
	sp_out_text(o, "CPU ");
	sp_out_i64(o, cpu);
	if (component < 0) {
		sp_out_text(o, " (not in the topology)");
	} else if (core >= 0) {
		sp_out_text(o, " (core ");
		sp_out_i64(o, m->component[core].logical_index);
		if (sp_kind_of(m, core) >= 0) {
			sp_out_text(o, ", ");
			sp_out_plain(o, m->kind[sp_kind_of(m, core)].name);
		}
		sp_out_char(o, ')');
	}
}

/* perf::PAGE-FAULTS, PAPI_TOT_INS, perf::PERF_COUNT_SW_TASK_CLOCK, rapl:::ENERGY */
static const char *behind_prefix(const char *name)
{
	const char *colons = strstr(name, "::");

	if (!strncmp(name, "PAPI_", 5))
		return name[5] ? name + 5 : name;
	if (colons && colons[2 + (colons[2] == ':')])
		name = colons + 2 + (colons[2] == ':');
	if (!strncmp(name, "PERF_COUNT_", 11) && name[11] && name[12] && name[13] == '_' && name[14])
		name += 14;
	return name;
}

static const char *short_name(const struct sp_model *m, uint32_t event, char buf[32])
{
	const char *name = sp_event_name(m, event, buf), *rest = behind_prefix(name);
	char other[32];

	for (uint32_t e = 0; e < m->n_events && rest != name; e++)
		if (e != event && m->event_counted[e] && !strcmp(behind_prefix(sp_event_name(m, e, other)), rest))
			return name;
	return rest;
}

const char *sp_text_event(const struct sp_model *m, uint32_t event, char text[256])
{
	const char *units = SP_EVENT_TEXT(m, event, units);
	struct sp_out o;
	double one;
	char buf[32];

	sp_memory_init(&o, text, 200);
	sp_out_plain(&o, short_name(m, event, buf));
	o.error = 0;
	o.size = 240;
	if (*units && strlen(units) < 16 && !scaled_unit(m, event, &one)) {
		sp_out_text(&o, " [");
		sp_out_plain(&o, units);
		sp_out_char(&o, ']');
	}
	return sp_memory_text(&o);
}
