/* format-text-overflows.c: writes the text format's sentence about an overflow handler: its event,
 * the number of hits, the CPUs, the functions and lines.
 */
#include "function-name.h"
#include "format-text-words.h"

#define CPUS_SHOWN	8u
#define PLACES_SHOWN	4u
/* places that are distinguished; the most frequent ones come first */
#define PLACES_MOST	64u

/* A line of a function, or a function or an address if no more is known, over all CPUs. */
struct place {
	uint64_t count;
	char name[56];
};

static void name_place(char name[56], const struct sp_frame_info *f)
{
	struct sp_out o;
	const char *line = strrchr(f->line, ':');
	char text[SP_FUNCTION_NAME];

	if (*f->symbol)
		sp_function_name(text, f->symbol, 0);
	else if (!*f->module && (int64_t)f->offset < 0)
		strcpy(text, "the kernel");
	else
		sp_text_f(text, sizeof(text), "%s%s%#lx", sp_base_name(f->module),
			  *f->module ? "+" : "", f->offset);
	sp_memory_init(&o, name, 56);
	sp_clip(&o, text, 48);
	if (*f->symbol && line)
		sp_out_f(&o, ":%s", line + 1);
	sp_memory_text(&o);
}

/* Returns the number of places so far. */
static uint32_t add_places(const struct sp_model *m, const struct sp_row *row,
			   const struct sp_overflowed *at, struct place places[PLACES_MOST],
			   uint32_t n)
{
	struct sp_frame_info f;
	uint64_t count;

	for (uint32_t hit = UINT32_MAX, i; sp_row_hit(m, row, at, &hit, &f, &count);) {
		char name[56];

		name_place(name, &f);
		for (i = 0; i < n && strcmp(places[i].name, name) != 0; i++)
			;
		if (i == PLACES_MOST)
			continue;
		if (i == n)
			memcpy(places[n++].name, name, sizeof(name));
		places[i].count += count;
	}
	return n;
}

static void report_places(struct sp_out *o, struct place *places, uint32_t n, uint64_t calls)
{
	char buf[48];

	for (uint32_t shown = 0; shown < PLACES_SHOWN && shown < n; shown++) {
		struct place *most = &places[0];

		for (uint32_t i = 1; i < n; i++)
			most = places[i].count > most->count ? &places[i] : most;
		sp_out_f(o, "%s %s %s", shown ? "," : "; in", most->name,
			 sp_percent(buf, (double)most->count, (double)calls));
		most->count = 0;
	}
}

static void report_event(struct sp_out *o, const struct sp_model *m, const struct sp_row *row,
			 uint32_t e)
{
	struct place places[PLACES_MOST] = { 0 };
	struct sp_overflowed at;
	uint64_t calls = 0, hits = 0;
	uint32_t n = 0, shown = 0;
	char text[256];

	for (uint32_t i = 0; sp_row_overflow(m, row, &i, &at);)
		if (at.event == e) {
			calls += at.count;
			hits += at.cpu < 0 && e < row->k ? at.count : 0;
		}
	if (calls && hits == calls)
		sp_out_f(o, "histogram of PAPI_profil: %'lu hit%s", calls, SP_MANY(calls));
	else
		sp_out_f(o, "overflow handler: %'lu call%s", calls, SP_MANY(calls));
	sp_out_f(o, " for %s",
		 e < row->k ? sp_text_event(m, row->event[e], text)
			    : "an event that PAPI does not report");
	for (uint32_t i = 0; sp_row_overflow(m, row, &i, &at);) {
		if (at.event != e)
			continue;
		n = add_places(m, row, &at, places, n);
		if (shown++ >= CPUS_SHOWN)
			continue;
		if (at.cpu < 0 && !hits)
			sp_out_f(o, ", %'lu on no known CPU", at.count);
		else if (at.cpu < 0 && hits != calls)
			sp_out_f(o, ", %'lu hits of PAPI_profil's histogram", at.count);
		else if (at.cpu >= 0)
			sp_out_f(o, ", %'lu on CPU %d", at.count, at.cpu);
	}
	if (shown > CPUS_SHOWN)
		sp_out_f(o, ", %'u CPUs more", shown - CPUS_SHOWN);
	report_places(o, places, n, calls);
}

bool sp_text_overflow(const struct sp_model *m, const struct sp_row *row, uint32_t *next,
		      char text[1024])
{
	struct sp_overflowed at;
	struct sp_out o;

	for (uint32_t i = 0; sp_row_overflow(m, row, &i, &at);) {
		if (at.event < *next)
			continue;
		sp_memory_init(&o, text, 1024);
		report_event(&o, m, row, at.event);
		sp_memory_text(&o);
		*next = at.event + 1;
		return true;
	}
	return false;
}
