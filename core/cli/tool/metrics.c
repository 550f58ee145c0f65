/* metrics.c: reads and selects metric definitions, and applies them to a model; see metrics.h. */
#include <strings.h>

#include "../../formats/format-metrics.h"
#include "buffer.h"
#include "cmd.h"
#include "metrics.h"

static struct sp_metrics table;

bool sp_metrics_request(struct sp_metrics_request *w, const char *value)
{
	bool first = !w->any, is_file = strcmp(value, "default") != 0 && access(value, F_OK) == 0;
	size_t n = strlen(w->names);

	if (!*value)
		return false;
	w->any = true;
	/* A missing file: no metric has such a name. */
	if (is_file || strpbrk(value, "/.")) {
		w->file = value;
		return first;
	}
	if (w->file || n + strlen(value) + 2 > sizeof(w->names) ||
	    (!first && (strcmp(value, "default") == 0 || !*w->names)))
		return false;
	if (strcmp(value, "default") != 0) {
		if (n)
			strcat(w->names, ",");
		strcat(w->names, value);
	}
	return true;
}

/* ---- reading --------------------------------------------------------------------- */

struct where {
	const char *verb, *path;
	unsigned said;
	uint32_t before;		/* lines before the file's first */
};

/* Prints PATH:LINE:COLUMN: reason on one line, whatever the file contains. */
static void wrong(uint32_t line, uint32_t column, const char *reason, void *arg)
{
	struct where *w = arg;

	if (!w->verb)
		return;
	if (w->said++ == 20)
		sp_complain(0, w->verb, "there are more wrong definitions", w->path);
	if (w->said > 20)
		return;
	sp_message(w->verb, "%s:%u:%u: %s", w->path, line - w->before, column, reason);
}

/* Appends a file; 0 or -errno. */
static int add_file(struct sp_bytes *b, const char *path)
{
	/* Does not wait for a FIFO without a writer, which is empty. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r = fd < 0 ? -errno : 0;
	char *bytes = sp_check_alloc(malloc(SP_METRIC_FILE_MOST + 4));
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");

	if (in) {
		size_t got;

		fcntl(fd, F_SETFL, O_RDONLY);
		got = fread(bytes, 1, SP_METRIC_FILE_MOST + 4, in);
		r = ferror(in) ? -errno : !got && lseek(fd, 0, SEEK_CUR) < 0 ? -ENODATA : 0;
		if (r == 0)
			sp_bytes_add(b, bytes, got);
		fclose(in);
	}
	free(bytes);
	return r;
}

/* Reads `front` and the file (NULL: none); 1 after a message. */
static int read_all(const char *verb, const struct sp_bytes *front, uint32_t lines,
		    const char *path)
{
	struct where where = { .verb = verb, .path = path, .before = lines };
	struct sp_bytes all = { 0 };
	int r = 0;

	if (front && front->used)
		sp_bytes_add(&all, front->at, front->used);
	if (path)
		r = add_file(&all, path);
	if (r == 0)
		r = sp_metrics_read(&table, all.at ? (const char *)all.at : "", all.used, wrong,
				    &where);
	sp_bytes_free(&all);
	if (r < 0 && !verb)
		return 1;
	if (r == -EFBIG)
		return sp_complain(1, verb, "not a file of metrics: larger than 1 MiB", path);
	return r < 0 ? sp_complain(1, verb,
				   r == -ENODATA ? "no process writes to it" : strerror(-r), path)
		     : 0;
}

/* ---- metrics of the store ---------------------------------------------- */

/* Is it a preset that PAPI computes by a formula, whose parts sspapi stat counted? No relation
 * has the event itself. */
static bool is_formula(const struct sp_model *m, uint32_t e)
{
	return m->h.stat && m->event[e] && !m->event_counted[e] &&
	       strstr(SP_EVENT_TEXT(m, e, derived), "FIX");
}

/* Writes their definitions; returns their number. */
static uint32_t definitions(struct sp_bytes *b, const struct sp_model *m)
{
	uint32_t n = 0;
	char buf[32];

	for (uint32_t e = 0; e < m->n_events; e++) {
		const char *part;

		if (!is_formula(m, e))
			continue;
		n++;
		for (const char *const *p =
			     (const char *const[]){ "EVENT,", sp_event_name(m, e, buf), ",",
						    SP_EVENT_TEXT(m, e, derived), ",",
						    SP_EVENT_TEXT(m, e, postfix), NULL };
		     *p; p++)
			sp_bytes_add(b, *p, strlen(*p));
		for (uint32_t i = 0;
		     (part = sp_store_reader_text_at(m->reader, m->event[e]->natives, i)); i++) {
			sp_bytes_add(b, ",", 1);
			sp_bytes_add(b, part, strlen(part));
		}
		sp_bytes_add(b, "\n", 1);
	}
	return n;
}

/* ---- selection --------------------------------------------------------- */

static void not_there(const char *verb, const char *name, const char *path)
{
	fprintf(stderr, "sspapi %s: -m: '", verb);
	sp_print_plain(stderr, name);
	fputs("' is neither a file nor a metric of ", stderr);
	sp_print_plain(stderr, path);
	for (uint32_t i = 0; i < table.n && i < 40; i++) {
		if (i && strcasecmp(table.at[i].name, table.at[i - 1].name) == 0)
			continue;
		fputs(i ? ", " : "; there are ", stderr);
		sp_print_plain(stderr, table.at[i].name);
	}
	fputc('\n', stderr);
}

/* Appends the machine's PMUs, if known: "Of this machine (icl, perf)". */
static void of_this_machine(const char *verb, const char *what, const char *words)
{
	const char *pmus = table.pmus[0];

	sp_message(verb, "%s%s%s%s%s", what, words, *pmus ? " (" : "", pmus, *pmus ? ")" : "");
}

static void lacks(const char *verb, const struct sp_metric *d)
{
	if (d->machine_kinds)
		sp_message(verb, "%s needs %s, which was not counted", d->name,
			   sp_metrics_missing(&table, d));
	else
		of_this_machine(verb, d->name, " is defined for other CPUs than this machine's");
}

/* Prints a note, not an error, since nothing is left out; a comma or an event may be missing. */
static void report_alone(const char *verb, const char *path)
{
	struct where w = { .verb = verb, .path = path };

	for (uint32_t i = 0; i < table.n; i++)
		if (table.at[i].alone && table.at[i].machine_kinds)
			wrong(table.at[i].line, table.at[i].column,
			      "a sum or difference of one event; it is treated as that event", &w);
}

/* Returns the only metric with this ending ("BUSY": CPUS_BUSY), or NULL. */
static const struct sp_metric *by_ending(const char *name)
{
	const struct sp_metric *found = NULL;
	size_t n = strlen(name);

	for (uint32_t i = 0; i < table.n; i++) {
		const char *of = table.at[i].name;

		if (strlen(of) <= n || of[strlen(of) - n - 1] != '_' ||
		    strcasecmp(of + strlen(of) - n, name) != 0)
			continue;
		if (found && strcasecmp(found->name, of) != 0)
			return NULL;
		found = &table.at[i];
	}
	return found ? sp_metrics_named(&table, found->name) : NULL;
}

static int choose(const char *verb, const char *path, char *names)
{
	char *save;

	sp_metrics_hide(&table);
	for (char *name = strtok_r(names, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		const struct sp_metric *d = sp_metrics_named(&table, name);

		d = d ? d : by_ending(name);
		if (!d) {
			if (verb)
				not_there(verb, name, path);
			return 2;
		}
		if (!sp_metrics_choose(&table, d->name) && verb)
			lacks(verb, d);
	}
	return 0;
}

int sp_metrics_show(const struct sp_metrics_request *w, const char *verb, struct sp_selection *s)
{
	const char *path = w->file ? w->file : sp_cli_data("metrics.csv");
	char names[sizeof(w->names)], buf[32];
	struct sp_bytes front = { 0 };
	uint32_t own;
	long n;
	int r;

	own = definitions(&front, s->m);
	if (!w->any && !own)
		return 0;
	r = read_all(verb, &front, own, w->any ? path : NULL);
	sp_bytes_free(&front);
	if (r)
		return 1;
	n = sp_metrics_bind(&table, s->m);
	if (n < 0)
		return verb ? sp_complain(1, verb, strerror((int)-n), path) : 1;
	s->metrics = &table;
	report_alone(verb, path);
	strcpy(names, w->names);
	if (*names && (r = choose(verb, path, names)) != 0)
		return r;
	for (uint32_t e = 0; own && *names && e < s->m->n_events; e++)
		if (is_formula(s->m, e))
			sp_metrics_choose(&table, sp_event_name(s->m, e, buf));
	if (verb && !*names && table.foreign)
		of_this_machine(verb, path, ": none of its tables is for this machine's CPUs");
	else if (verb && !*names && !n && table.n)
		sp_complain(0, verb,
			    "no metric of this file can be computed from the counted "
			    "events",
			    path);
	return table.n_wrong ? 1 : 0;
}

int sp_metrics_show_text(struct sp_metrics_request *w, const char *verb, struct sp_selection *s)
{
	struct sp_metrics_request usual = { 0 };

	if (w->any)
		return sp_metrics_show(w, verb, s);
	sp_metrics_request(&usual, "IPC");
	sp_metrics_show(&usual, NULL, s);
	return 0;
}

void sp_metrics_report(const char *verb, const struct sp_selection *s)
{
	char text[1024];

	for (int32_t i = s->metrics ? sp_metrics_next(s->metrics, -1) : -1; i >= 0;
	     i = sp_metrics_next(s->metrics, i))
		if (sp_metric_sets_text(text, sizeof(text), s->metrics, &s->metrics->at[i]))
			sp_message(verb, "%s", text);
}

void sp_metrics_forget(void)
{
	sp_metrics_close(&table);
}

struct sp_metrics *sp_metrics_load_installed(void)
{
	return read_all(NULL, NULL, 0, sp_cli_data("metrics.csv")) == 0 ? &table : NULL;
}
