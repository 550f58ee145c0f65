/* list.c: lists PAPI's presets and the native events of its components, for `sspapi list`. */
#include <stdio.h>
#include <stdlib.h>

#include "subprocess.h"
#include "libpapi.h"
#include "list.h"

#define INFO_BYTES	32768u		/* PAPI 7.2 clears 23068 bytes, whatever papi.h we have */
#define NAME_BYTES	2048u

struct question {
	const char *papi, *word;
	PAPI_event_info_t *info;
	FILE *to;
	char head[160];			/* heading before the next event; "": printed */
};

/* Writes a line: which, the name, a tab, the text. */
static void report_line(struct question *q, enum sp_listed which, const char *name,
			const char *text)
{
	if (*q->head && (which == SP_LISTED_EVENT || which == SP_LISTED_PART))
		fprintf(q->to, "%c%s\t\n", SP_LISTED_HEAD, q->head), *q->head = 0;
	fprintf(q->to, "%c", which);
	for (const char *s = name; *s; s++)
		putc(strchr("\t\n", *s) ? ' ' : *s, q->to);
	putc('\t', q->to);
	for (const char *s = text; *s; s++)
		putc(strchr("\t\n", *s) ? ' ' : *s, q->to);
	putc('\n', q->to);
}

static void masks(const struct sp_probe_papi *p, struct question *q, int code, int component)
{
	char name[NAME_BYTES];

	for (int r = p->PAPI_enum_cmp_event(&code, PAPI_NTV_ENUM_UMASKS, component); r == PAPI_OK;
	     r = p->PAPI_enum_cmp_event(&code, PAPI_NTV_ENUM_UMASKS, component))
		if (p->PAPI_event_code_to_name(code, name) == PAPI_OK &&
		    p->PAPI_get_event_info(code, q->info) == PAPI_OK)
			report_line(q, SP_LISTED_PART, name, q->info->long_descr);
}

/* Returns the number of events, wanted or not. */
static unsigned events(const struct sp_probe_papi *p, struct question *q, int code, int component)
{
	char name[NAME_BYTES];
	unsigned n = 0;

	for (int r = p->PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, component); r == PAPI_OK;
	     r = p->PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, component)) {
		if (p->PAPI_event_code_to_name(code, name) != PAPI_OK ||
		    p->PAPI_get_event_info(code, q->info) != PAPI_OK)
			continue;
		if (!(code & PAPI_NATIVE_MASK) && !q->info->count)
			continue;	/* preset that this machine lacks */
		n++;
		if (q->word && !strcasestr(name, q->word) &&
		    !strcasestr(q->info->long_descr, q->word))
			continue;
		report_line(q, SP_LISTED_EVENT, name, q->info->long_descr);
		if (q->word && (code & PAPI_NATIVE_MASK))
			masks(p, q, code, component);
	}
	return n;
}

static void query(void *question, int to)
{
	struct question *q = question;
	struct sp_probe_papi p = { 0 };
	const char *bad = sp_probe_load(&p, q->papi);
	struct sp_probe_component c;
	int r = bad ? 0 : sp_probe_init(&p, q->papi);

	q->to = fdopen(to, "w");
	q->info = calloc(1, INFO_BYTES);
	if (!q->to || !q->info)
		return;
	if (bad || r <= 0) {
		report_line(q, SP_LISTED_OFF, "PAPI",
			    bad		? bad
			    : p.version ? p.PAPI_strerror(r)
					: "its version cannot be told");
		fflush(q->to);
		return;
	}
	strcpy(q->head, "PAPI's presets");
	if (!events(&p, q, (int)PAPI_PRESET_MASK, 0))
		report_line(q, SP_LISTED_OFF, "PAPI's presets",
			    "there are no counters that PAPI could make them of");
	for (int i = 0; i < p.PAPI_num_components(); i++) {
		if (!sp_probe_component(&p, i, &c))
			continue;
		if (c.off) {
			report_line(q, SP_LISTED_OFF, c.name, c.off);
			continue;
		}
		snprintf(q->head, sizeof(q->head), "PAPI's component %.100s", c.name);
		events(&p, q, (int)PAPI_NATIVE_MASK, i);
	}
	fflush(q->to);
}

struct reporter {
	sp_list_report report_line;
	void *arg;
};

static void relay(void *reporter, char *line)
{
	const struct reporter *t = reporter;
	char *tab = strchr(line, '\t');

	if (tab)
		*tab = 0;
	t->report_line(t->arg, (enum sp_listed)*line, line + 1, tab ? tab + 1 : "");
}

const char *sp_list_papi(const char *papi, const char *word, sp_list_report to, void *arg)
{
	struct reporter t = { to, arg };
	struct question q = { .papi = papi, .word = word };

	return *papi ? sp_run_in_child(query, &q, relay, &t) : "the loader finds no libpapi";
}
