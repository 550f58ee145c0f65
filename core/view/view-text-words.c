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

void sp_word(struct sp_para *p, const char *word)
{
	unsigned width = sp_columns(word);

	if (p->column && p->column + 1 + width > SP_TEXT_WIDTH) {
		sp_out_char(p->o, '\n');
		sp_out_repeat(p->o, ' ', p->indent);
		p->column = p->indent;
	} else if (p->column > p->indent) {
		sp_out_char(p->o, ' ');
		p->column++;
	}
	sp_out_text(p->o, word);
	p->column += width;
}

void sp_words(struct sp_para *p, const char *text)
{
	while (*text) {
		char word[SP_TEXT_WIDTH * 4 + 1];
		size_t n = 0;
		unsigned width = 0;

		while (*text == ' ')
			text++;
		while (*text && *text != ' ' && n < sizeof(word) - 4 && width < SP_TEXT_WIDTH - p->indent) {
			do
				word[n++] = *text++;
			while ((*text & 0xc0) == 0x80 && n < sizeof(word) - 1);
			width++;
		}
		word[n] = '\0';
		if (n)
			sp_word(p, word);
	}
}

void sp_paragraph(struct sp_out *o, const char *start, unsigned indent, const char *text)
{
	struct sp_para p = { .o = o, .column = sp_columns(start), .indent = indent };

	sp_out_text(o, start);
	sp_words(&p, text);
	sp_out_char(o, '\n');
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

static void two_digits(struct sp_out *o, uint64_t v, char before)
{
	if (before)
		sp_out_char(o, before);
	sp_out_char(o, (char)('0' + v / 10 % 10));
	sp_out_char(o, (char)('0' + v % 10));
}

/* In UTC, and not by gmtime_r(3): that one takes the lock of time zones. */
void sp_out_date(struct sp_out *o, uint64_t ns)
{
	uint64_t s = ns / 1000000000, days = s / 86400 + 719468, era = days / 146097, day = days % 146097;
	uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365, month;

	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	day -= (153 * month + 2) / 5;
	month = month < 10 ? month + 3 : month - 9;
	sp_out_u64(o, year + era * 400 + (month <= 2));
	two_digits(o, month, '-');
	two_digits(o, day + 1, '-');
	two_digits(o, s / 3600 % 24, ' ');
	two_digits(o, s / 60 % 60, ':');
	two_digits(o, s % 60, ':');
	sp_out_text(o, " UTC");
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
	two_digits(o, n % 100, 0);
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
		two_digits(&o, u % 100, 0);
	} else {
		sp_out_bytes(&o, group, sp_format_grouped(group, v));
	}
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

/* ---- names -------------------------------------------------------------- */

void sp_text_cpu(struct sp_out *o, const struct sp_model *m, int32_t cpu, int32_t component)
{
	int32_t core = component >= 0 ? sp_model_above(m, component, "Core") : -1;

	if (cpu < 0) {
		sp_out_text(o, "not on a known CPU");
		return;
	}
	sp_out_text(o, "CPU ");
	sp_out_i64(o, cpu);
	if (component < 0) {
		sp_out_text(o, " (not in the topology)");
	} else if (core >= 0) {
		sp_out_text(o, " (Core L#");
		sp_out_i64(o, m->component[core].logical_index);
		if (sp_kind_of(m, core) >= 0) {
			sp_out_text(o, ", ");
			sp_out_plain(o, m->kind[sp_kind_of(m, core)].name);
		}
		sp_out_char(o, ')');
	}
}

const char *sp_text_event(const struct sp_model *m, uint32_t event, char text[256])
{
	const char *units = SP_EVENT_TEXT(m, event, units);
	struct sp_out o;
	char buf[32];

	sp_memory_init(&o, text, 200);
	sp_out_plain(&o, sp_event_name(m, event, buf));
	o.error = 0;
	o.size = 240;
	if (*units && strlen(units) < 16) {
		sp_out_text(&o, " [");
		sp_out_plain(&o, units);
		sp_out_char(&o, ']');
	}
	return sp_memory_text(&o);
}
