/* parse.c: parses a file of definitions, line by line; see metric.h. */
#include <strings.h>

#include "../base/out.h"
#include "../base/sys.h"
#include "metric.h"

/* ---- one line ------------------------------------------------------------------ */

struct reader {
	struct sp_metrics *t;
	sp_metric_wrong *wrong;
	void *arg;
	char *line, *end, *at;		/* the current line, ended by a NUL, and its unread rest */
	uint32_t number;
	uint32_t table;			/* of the current definitions */
	/* it has a definition: the next CPU line begins another table */
	bool table_used;
};

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static uint32_t column(const struct reader *r, const char *at)
{
	return (uint32_t)(at - r->line) + 1;
}

static bool wrong(struct reader *r, const char *at, const char *text, const char *word,
		  const char *more)
{
	struct sp_formula f;

	sp_formula_wrong(&f, 0, text, word, word ? (uint32_t)strlen(word) : 0, more);
	r->t->n_wrong++;
	r->wrong(r->number, column(r, at), f.reason, r->arg);
	return false;
}

/* The next field without blanks around it; empty fields are skipped, as in PAPI. NULL at the end of
 * the line. */
static char *next_field(struct reader *r)
{
	char *p = r->at, *from, *to;

	while (p < r->end && *p == ',')
		p++;
	if (p >= r->end)
		return r->at = p, NULL;
	for (from = p; p < r->end && *p != ','; p++)
		;
	r->at = p < r->end ? p + 1 : p;
	for (to = p; from < to && blank(*from); from++)
		;
	while (to > from && blank(to[-1]))
		to--;
	*to = 0;
	return from;
}

/* The text after NOTE, SDESC or LDESC; quoted, it may contain commas. */
static char *next_text(struct reader *r)
{
	char *p = r->at, *close;

	while (p < r->end && (blank(*p) || *p == ','))
		p++;
	if (p < r->end && (*p == '"' || *p == '\'') &&
	    (close = memchr(p + 1, *p, (size_t)(r->end - p - 1))) != NULL) {
		*close = 0;
		r->at = close + 1;
		return p + 1;
	}
	return next_field(r);
}

/* ---- definitions ------------------------------------------------------------------ */

enum derived { NOT_DERIVED, ADD, SUB, PS, ADD_PS, CMPD, POSTFIX, INFIX, N_DERIVED };

static const char *const derived_names[N_DERIVED] = {
	"NOT_DERIVED",	  "DERIVED_ADD",  "DERIVED_SUB",     "DERIVED_PS",
	"DERIVED_ADD_PS", "DERIVED_CMPD", "DERIVED_POSTFIX", "DERIVED_INFIX",
};

static void step(struct sp_metrics *t, struct sp_metric *d, enum sp_formula_op op, uint32_t term)
{
	t->step[d->first_step + d->n_steps++] = (struct sp_formula_step){ .op = op, .term = term };
}

static void chain(struct sp_metrics *t, struct sp_metric *d, uint32_t from, enum sp_formula_op op)
{
	for (uint32_t i = from; i < d->n_terms; i++) {
		step(t, d, SP_FORMULA_TERM, i);
		if (i > from)
			step(t, d, op, 0);
	}
}

/* Make the formula of a kind without an explicit one, as PAPI computes it. */
static bool plain_steps(struct reader *r, struct sp_metric *d, enum derived kind, const char *at)
{
	struct sp_metrics *t = r->t;

	if (kind == NOT_DERIVED && d->n_terms > 1)
		return wrong(r, t->term[d->first_term + 1].name, "", derived_names[kind],
			     " takes one event; of several, PAPI would return the first");
	if (kind == CMPD && d->n_terms < 2)
		return wrong(r, at, "", derived_names[kind], " needs two events or more");
	if (kind == NOT_DERIVED || kind == CMPD) {
		step(t, d, SP_FORMULA_TERM, 0);	/* PAPI returns the first of several */
		return true;
	}
	if (kind == ADD || kind == SUB) {
		d->alone = d->n_terms < 2;	/* PAPI's own file has such definitions */
		chain(t, d, 0, kind == ADD ? SP_FORMULA_ADD : SP_FORMULA_SUB);
		return true;
	}
	if (d->n_terms < 2)
		return wrong(r, at, "", derived_names[kind],
			     " needs cycles and at least one event more");
	chain(t, d, 1, SP_FORMULA_ADD);
	step(t, d, SP_FORMULA_HERTZ, 0);
	step(t, d, SP_FORMULA_MUL, 0);
	step(t, d, SP_FORMULA_TERM, 0);
	step(t, d, SP_FORMULA_DIV, 0);
	return true;
}

static bool is_note(const char *word)
{
	return strcasecmp(word, "NOTE") == 0 || strcasecmp(word, "SDESC") == 0 ||
	       strcasecmp(word, "LDESC") == 0;
}

static bool read_terms(struct reader *r, struct sp_metric *d)
{
	struct sp_metrics *t = r->t;
	char *word;

	while ((word = next_field(r)) != NULL && *word) {
		if (is_note(word)) {
			char *text = next_text(r);

			if (!*d->note && text)
				d->note = text;
			continue;
		}
		if (*d->note)
			continue;		/* the rest of a text with commas */
		if (d->n_terms == SP_METRIC_TERMS)
			return wrong(r, word, "more than 64 events", NULL, "");
		t->term[d->first_term + d->n_terms++] = (struct sp_metric_term){
			.name = word, .hash = sp_metric_hash(word), .definition = -1 };
	}
	return true;
}

static bool formula_steps(struct reader *r, struct sp_metric *d, enum derived kind,
			  const char *text, uint32_t n)
{
	struct sp_formula f = { .text = text,
				.n = n,
				.step = r->t->step + d->first_step,
				.room = SP_FORMULA_STEPS,
				.highest = -1 };
	char count[48] = "";

	if (!(kind == POSTFIX ? sp_formula_postfix(&f) : sp_formula_infix(&f))) {
		r->t->n_wrong++;
		r->wrong(r->number, column(r, text + f.at), f.reason, r->arg);
		return false;
	}
	d->n_steps = f.n_steps;
	if (f.highest < (int32_t)d->n_terms)
		return true;
	count[0] = 'N';
	sp_format_u64(count + 1, (uint64_t)f.highest);
	return wrong(r, text + f.highest_at, "", count,
		     d->n_terms ? " is after the last event" : " is used, but no event is given");
}

static enum derived derived_of(const char *word)
{
	unsigned i = 0;

	while (i < N_DERIVED && strcasecmp(word, derived_names[i]) != 0)
		i++;
	return (enum derived)i;
}

/* Parse a definition after PRESET or EVENT. */
static bool read_definition(struct reader *r)
{
	struct sp_metrics *t = r->t;
	struct sp_metric d = { .note = "",
			       .table = r->table,
			       .line = r->number,
			       .first_term = t->n_terms,
			       .first_step = t->n_steps };
	char *name = next_field(r), *word, *formula = NULL;
	enum derived kind;

	if (!name || !*name)
		return wrong(r, name ? name : r->end, "a name is missing", NULL, "");
	d.name = name;
	d.hash = sp_metric_hash(name);
	d.column = column(r, name);
	word = next_field(r);
	if (!word || !*word)
		return wrong(r, word ? word : r->end, "how it is derived is missing after ", name,
			     "");
	kind = derived_of(word);
	if (kind == N_DERIVED)
		return wrong(r, word, "", word,
			     " is not one of NOT_DERIVED, DERIVED_ADD, _SUB, _PS, _ADD_PS, "
			     "_CMPD, _POSTFIX, _INFIX");
	if (kind == POSTFIX || kind == INFIX) {
		formula = next_field(r);
		if (!formula || !*formula)
			return wrong(r, formula ? formula : r->end, "a formula is missing after ",
				     derived_names[kind], "");
	}
	if (!read_terms(r, &d))
		return false;
	if (!formula && !d.n_terms)
		return wrong(r, r->end, "an event is missing after ", derived_names[kind], "");
	if (!(formula ? formula_steps(r, &d, kind, formula, (uint32_t)strlen(formula))
		      : plain_steps(r, &d, kind, word)))
		return false;
	t->at[t->n++] = d;
	t->n_terms += d.n_terms;
	t->n_steps += d.n_steps;
	return true;
}

/* CPU,name: begin a table, or add a name to the one just begun. */
static void read_cpu(struct reader *r, const char *name, bool component)
{
	struct sp_metrics *t = r->t;

	if (r->table_used || !r->table) {
		r->table = ++t->n_tables;
		r->table_used = false;
	}
	t->cpu[t->n_cpus++] =
		(struct sp_metric_cpu){ .name = name, .table = r->table, .component = component };
}

/* A line of a component's table has two words: "cuda,GH100". */
static bool read_other(struct reader *r, const char *word)
{
	static const char *const components[] = { "cuda",    "rocm", "rocp_sdk", "rocm_smi",
						  "amd_smi", "nvml", "intel_gpu" };
	char *arch = next_field(r), *more = arch ? next_field(r) : NULL;
	unsigned i = 0;

	while (i < SP_COUNT(components) && strcasecmp(word, components[i]) != 0)
		i++;
	if (i == SP_COUNT(components) || !arch || !*arch || (more && *more))
		return wrong(r, word, "", word, " is not one of CPU, PRESET, EVENT");
	read_cpu(r, arch, true);
	return true;
}

static void read_line(struct reader *r)
{
	char *word, *name;

	r->at = r->line;
	if (memchr(r->line, 0, (size_t)(r->end - r->line))) {
		wrong(r, memchr(r->line, 0, (size_t)(r->end - r->line)), "a NUL byte: not a text",
		      NULL, "");
		return;
	}
	word = next_field(r);
	if (!word || !*word || *word == '#')
		return;
	if (strcasecmp(word, "PRESET") == 0 || strcasecmp(word, "EVENT") == 0) {
		r->table_used = true;
		read_definition(r);
	} else if (strcasecmp(word, "CPU") == 0) {
		name = next_field(r);
		if (name && *name)
			read_cpu(r, name, false);
		else
			wrong(r, name ? name : r->end, "a name is missing after CPU", NULL, "");
	} else {
		read_other(r, word);
	}
}

/* ---- the file --------------------------------------------------------------------- */

static void *part(struct sp_metrics *t, uint64_t *used, uint64_t bytes)
{
	void *p = (char *)t->memory + *used;

	*used += sp_align(bytes, 16);
	return p;
}

/* Allocate the most that the file can need, by its commas and lines. Each step of a formula takes a
 * byte; the other kinds take 2 steps per term and 3 more. Unused pages cost nothing. */
static int reserve(struct sp_metrics *t, const char *bytes, uint64_t n)
{
	uint64_t lines = 1, commas = 1, used = 0;

	for (uint64_t i = 0; i < n; i++) {
		lines += bytes[i] == '\n' || bytes[i] == '\r';
		commas += bytes[i] == ',';
	}
	t->memory_bytes = n + 1 + lines * (sizeof(*t->at) + sizeof(*t->cpu)) +
			  commas * sizeof(*t->term) +
			  (n + 2 * commas + 4 * lines + SP_FORMULA_STEPS) * sizeof(*t->step) +
			  (uint64_t)SP_METRIC_IDS_MOST * sizeof(*t->id) + 8 * 16;
	t->memory = sp_map(t->memory_bytes);
	if (!t->memory)
		return -ENOMEM;
	t->text = part(t, &used, n + 1);
	t->at = part(t, &used, lines * sizeof(*t->at));
	t->cpu = part(t, &used, lines * sizeof(*t->cpu));
	t->term = part(t, &used, commas * sizeof(*t->term));
	t->step =
		part(t, &used, (n + 2 * commas + 4 * lines + SP_FORMULA_STEPS) * sizeof(*t->step));
	t->id = part(t, &used, (uint64_t)SP_METRIC_IDS_MOST * sizeof(*t->id));
	return 0;
}

int sp_metrics_read(struct sp_metrics *t, const char *bytes, uint64_t n, sp_metric_wrong *say,
		    void *arg)
{
	struct reader r = { .t = t, .wrong = say, .arg = arg };
	char *p, *end;

	memset(t, 0, sizeof(*t));
	if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
		bytes += 3;
		n -= 3;
	}
	if (n > SP_METRIC_FILE_MOST)
		return -EFBIG;
	if (reserve(t, bytes, n) < 0)
		return -ENOMEM;
	memcpy(t->text, bytes, n);
	for (p = t->text, end = p + n; p < end; p++) {
		r.line = p;
		while (p < end && *p != '\n' && *p != '\r')
			p++;
		r.end = p;
		r.number++;
		if (p + 1 < end && p[0] == '\r' && p[1] == '\n')
			p++;
		*r.end = 0;
		read_line(&r);
	}
	return 0;
}
