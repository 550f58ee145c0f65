/* list.c: PAPI's presets, and the native events of its components, for `sspapi list`. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subprocess.h"
#include "libpapi.h"
#include "list.h"

#define INFO_BYTES	32768u		/* PAPI 7.2 clears 23068 bytes, whatever papi.h we have */
#define NAME_BYTES	2048u

struct question {
	const char *papi, *word;
	PAPI_event_info_t *info;
	FILE *to;			/* line-buffered: a killed child leaves whole lines */
	char head[160];			/* to be told before the next event; "": it was */
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

/* List the events of a component, or the presets, in a process of its own, with its own time limit:
 * one that hangs or crashes does not keep the others from the list. Returns false if it has no
 * events. */
static bool list_part(const struct sp_probe_papi *p, struct question *q, int code, int component,
		      const char *name)
{
	enum { NO_EVENTS = 3 };
	const char *why;
	int status = 0;
	pid_t pid;

	snprintf(q->head, sizeof(q->head), "%s%.100s",
		 code == (int)PAPI_PRESET_MASK ? "" : "PAPI's component ", name);
	pid = fork();
	if (pid == 0) {
		struct sp_probe_component c;

		alarm(SP_CHILD_SECONDS);
		if (events(p, q, code, component))
			_exit(0);
		/* A component that waited may now have a reason. */
		if (sp_probe_component(p, component, &c) && c.off && code != (int)PAPI_PRESET_MASK)
			report_line(q, SP_LISTED_OFF, c.name, c.off);
		_exit(NO_EVENTS);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*q->head = 0;
	if (pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == NO_EVENTS))
		return false;
	why = sp_child_why(status);
	if (why)
		report_line(q, SP_LISTED_OFF, name, why);
	return true;
}

static int by_size(const void *a, const void *b)
{
	const struct sp_probe_component *x = a, *y = b;

	/* A component that waits has not counted its events. */
	return SP_COMPARE(x->waits, y->waits) ?: SP_COMPARE(x->natives, y->natives);
}

/* List the components, small ones first: a large one may take all of its time. */
static void list_components(const struct sp_probe_papi *p, struct question *q)
{
	int n = p->PAPI_num_components(), used = 0;
	struct sp_probe_component *c = calloc((size_t)n + 1, sizeof(*c));

	for (int i = 0; c && i < n; i++)
		if (sp_probe_component(p, i, &c[used]))
			c[used++].index = i;
	if (used)
		qsort(c, (size_t)used, sizeof(*c), by_size);
	for (int i = 0; i < used; i++) {
		if (c[i].off)
			report_line(q, SP_LISTED_OFF, c[i].name, c[i].off);
		else
			list_part(p, q, (int)PAPI_NATIVE_MASK, c[i].index, c[i].name);
	}
	free(c);
}

static void query(void *question, int to)
{
	struct question *q = question;
	struct sp_probe_papi p = { 0 };
	const char *bad = sp_probe_load(&p, q->papi);
	int r = bad ? 0 : sp_probe_init(&p, q->papi);

	q->to = fdopen(to, "w");
	q->info = calloc(1, INFO_BYTES);
	if (!q->to || !q->info)
		return;
	setvbuf(q->to, NULL, _IOLBF, BUFSIZ);
	if (bad || r <= 0) {
		report_line(q, SP_LISTED_OFF, "PAPI",
			    bad		? bad
			    : p.version ? p.PAPI_strerror(r)
					: "unknown version");
		return;
	}
	alarm(0);
	if (!list_part(&p, q, (int)PAPI_PRESET_MASK, 0, SP_LISTED_PRESETS))
		report_line(q, SP_LISTED_OFF, SP_LISTED_PRESETS,
			    "unavailable without hardware counters");
	list_components(&p, q);
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
