/* trace.c: writes the permanent readings in the Trace Event Format, for Perfetto and Chrome.
 *
 * Processes are the trace's processes, and each relation is a thread. Its slices are the CPUs, each
 * for as long as the thread stayed there; within them, a slice per window has the name that the
 * text format gives to the code between the two call sites. Rates are counters per event, thread
 * and CPU. Events are in the order of the store, which the format permits, so that nothing is
 * collected.
 *
 * Slices are pairs of B and E, whose times are the same text if one slice ends where another
 * begins. Perfetto computes the end of an X from two numbers, each rounded to a ns, and drops a
 * slice that overlaps another by one.
 */
#include "../../formats/format-text-words.h"
#include "../../formats/function-name.h"
#include "../../formats/level.h"
#include "../../model/format-common.h"
#include "../tool/cmd.h"
#include "../tool/key-index.h"
#include "trace.h"

/* Ids of tracks that are not a thread's first event set: above all tids of Linux. */
#define OTHER_TRACK	(4u << 20)
#define LABEL		128u

#define NAME		200u		/* most columns of a slice's name */
#define PATH		1000u		/* and of a call path */
#define NAMED		4096u		/* a power of two */

/* The meaning of an event's values: the first one that adds up to the relation's counts. Readings
 * do not show whether the program zeroed its set between them. */
enum values {
	BY_CALL,			/* counts since the call that zeroed them, by call sites */
	RUNNING,			/* counts since they were last less than before */
	SINCE_FIRST,			/* the same, without those before the first reading */
	INCREMENTS,			/* counts since the previous reading */
	UNRELATED			/* gauges, and values that do not add up */
};

/* The code between two call sites: a slice's name and arguments, as JSON. */
struct named {
	uint32_t from, to;
	char *text;			/* NULL: none yet */
};

struct track {
	struct sp_out *o;
	const struct sp_selection *s;
	uint64_t origin, ns;		/* the run's start; the previous reading, 0: none */
	bool any;			/* an event was written */
	uint32_t pid, tid;
	char label[LABEL];		/* of the thread; "": none */
	int32_t cpu;			/* of the previous reading */
	bool on_cpu, moves;		/* a CPU's slice is open; it is a move to another CPU */
	const struct sp_levels *sites;	/* pairs of call sites */
	struct named *named;		/* [NAMED], the last ones by hash */
	struct value {
		enum values is;
		bool any;		/* there was a reading */
		int64_t before, entry;	/* PAPI's value, and that of the reading */
		double left;		/* counts that the next window includes */
	} *value;			/* [k] */
	struct sp_names labels;		/* with their processes */
	uint32_t *labelled, n_labelled;	/* [labels] threads that have it */
};

/* Begins an event, whose name and further keys follow. */
static void begin(struct track *t, char phase, uint64_t ns)
{
	uint64_t from = sp_max(ns, t->origin) - t->origin;

	sp_out_text(t->o, t->any ? ",\n" : "\n");
	t->any = true;
	sp_out_f(t->o, "{\"ph\": \"%c\", \"pid\": %u, \"tid\": %u, ", phase, t->pid, t->tid);
	sp_out_f(t->o, "\"ts\": %lu.%c%c%c", from / 1000, '0' + (int)(from / 100 % 10),
		 '0' + (int)(from / 10 % 10), '0' + (int)(from % 10));
}

static void name(struct track *t, const char *what, const char *is)
{
	begin(t, 'M', t->origin);
	sp_json_f(t->o, ", \"name\": %s, \"args\": {\"name\": %s}}", what, is);
}

static const char *cpu_words(char text[LABEL], int32_t cpu)
{
	return cpu >= 0 ? sp_text_f(text, LABEL, "CPU %d", cpu) : "unknown CPU";
}

static void name_process(struct track *t, const struct sp_model *m, uint32_t process)
{
	const struct sp_header *h = sp_process_header(m, process);
	const char *host = sp_model_text(m, h->process.host);
	const char *exe = sp_base_name(sp_model_text(m, h->process.exe));
	char text[1024];

	t->pid = process + 1;
	t->tid = 0;
	if (h->process.rank >= 0)
		sp_text_f(text, sizeof(text), "rank %ld, %s, PID %u, %s", h->process.rank, exe,
			  h->process.pid, host);
	else
		sp_text_f(text, sizeof(text), "%s, PID %u, %s", exe, h->process.pid, host);
	name(t, "process_name", text);
}

static double number(const struct track *t, uint32_t event, int64_t v)
{
	enum sp_data_type type = sp_event_type(t->s->m, event);

	return type == SP_FP64 ? sp_float(v) : type == SP_INT64 ? (double)v : (double)(uint64_t)v;
}

static int64_t less(const struct track *t, uint32_t event, int64_t a, int64_t b)
{
	return sp_event_type(t->s->m, event) == SP_FP64 ? sp_float_bits(sp_float(a) - sp_float(b))
							: a - b;
}

/* Returns the PAPI function (enum sp_op) of a call site, or -1. */
static int op_of(const struct track *t, uint32_t site)
{
	struct sp_callsite c;

	return site && sp_model_callsite(t->s->m, site, &c) ? (int)c.call - SP_SITE_PAPI : -1;
}

/* Returns the counts of the window that this reading of event e ends. */
static double counts(const struct track *t, struct value *v, uint32_t event,
		     const struct sp_kept *at, uint32_t e)
{
	const int from = v->is == BY_CALL ? op_of(t, at->from) : -1;
	int64_t x = at->value[e];
	double n;

	if (v->is == BY_CALL && op_of(t, at->to) == SP_OP_ACCUM)
		x = less(t, event, x, v->entry);	/* it includes the reading before */
	if (v->is == INCREMENTS || from == SP_OP_START || from == SP_OP_RESET ||
	    from == SP_OP_ACCUM ||
	    (from < 0 && sp_value_below(sp_event_type(t->s->m, event), x, v->before)))
		v->before = 0;
	if (v->is == SINCE_FIRST && !v->any)
		v->before = x;
	n = number(t, event, less(t, event, x, v->before));
	v->any = true;
	v->before = x;
	v->entry = at->value[e];
	return n;
}

static struct value value_of(const struct track *t, struct sp_row *row, uint32_t e, enum values is)
{
	return (struct value){ .is = is, .before = sp_row_early_count(t->s->m, row, e) };
}

/* Sets the meaning of event e's values. If the last readings were not kept, the first ones have at
 * most all counts. */
static enum values meaning(const struct track *t, struct sp_row *row, uint32_t e)
{
	uint32_t event = row->event[e];
	enum values is = BY_CALL;
	const bool is_part = row->refused && row->kept + row->refused == row->readings;
	double total = 0.0;
	struct sp_at_cpu cell;

	if (sp_event_is_gauge(t->s->m, event))
		return UNRELATED;
	if (!row->cells)		/* rows of sspapi stat -I */
		return INCREMENTS;
	for (uint32_t i = 0; sp_row_cell(t->s->m, row, i, &cell); i++)
		total += number(t, event, cell.total[e]);
	for (; is < UNRELATED; is++) {
		struct value v = value_of(t, row, e, is);
		struct sp_kept at = { 0 };
		double sum = 0.0, most = 1e-9 * __builtin_fabs(total);

		while (sp_row_kept(t->s->m, row, &at))
			sum += counts(t, &v, event, &at, e);
		if (is_part ? sum <= total + most : __builtin_fabs(sum - total) <= most)
			break;
	}
	return is;
}

/* Returns the CPU to which event e's counts belong; none for events of packages or devices. */
static int32_t cpu_of(const struct sp_row *row, uint32_t e, int32_t cpu)
{
	return sp_row_place(row, e) < 0 ? cpu : SP_NO_CPU;
}

static void counter(struct track *t, uint32_t event, const char *unit, int32_t cpu, uint64_t ns,
		    double value)
{
	char buf[32], on[LABEL] = "", text[1400];

	if (value - value != 0.0)	/* JSON has neither NaN nor infinity */
		return;
	begin(t, 'C', ns);
	if (cpu >= 0)
		sp_text_f(on, LABEL, ", CPU %d", cpu);
	sp_text_f(text, sizeof(text), "%s%s%s%s%s", sp_event_name(t->s->m, event, buf), unit,
		  *t->label ? ", " : "", t->label, on);
	sp_json_f(t->o, ", \"name\": %s, \"args\": {\"value\": ", text);
	sp_out_double(t->o, value, -1);
	sp_out_text(t->o, "}}");
}

static void end_slice(struct track *t, uint64_t ns)
{
	begin(t, 'E', ns);
	sp_out_char(t->o, '}');
}

static void begin_cpu(struct track *t, int32_t to_cpu)
{
	char from[LABEL], to[LABEL], text[3 * LABEL];

	begin(t, 'B', t->ns);
	sp_text_f(text, sizeof(text), t->moves ? "%s → %s" : "%s", cpu_words(from, t->cpu),
		  cpu_words(to, to_cpu));
	sp_json_f(t->o, ", \"name\": %s}", text);
	t->on_cpu = true;
}

static void end_cpu(struct track *t)
{
	if (t->on_cpu)
		end_slice(t, t->ns);
	t->on_cpu = false;
}

static void path_of(struct track *t, struct sp_out *o, const char *key, uint32_t site)
{
	static char whole[16384], text[4 * PATH + 8];
	struct sp_out path;

	sp_memory_init(&path, whole, sizeof(whole));
	sp_text_path(&path, t->sites->sites, site);
	sp_memory_text(&path);
	sp_memory_init(&path, text, sizeof(text));
	sp_clip(&path, whole, PATH);
	sp_json_f(o, ", %s: %s", key, sp_memory_text(&path));
}

/* Writes the name, and the arguments but the CPU. */
static void describe(struct track *t, struct sp_out *o, uint32_t from, uint32_t to)
{
	const struct sp_level_row *row = sp_levels_between(t->sites, from, to);
	char text[4 * NAME + 8];
	struct sp_out name;
	struct sp_callsite c;

	sp_memory_init(&name, text, sizeof(text));
	if (row)
		sp_level_label(&name, t->sites, row, NAME);
	else
		sp_text_pair(&name, t->sites->sites, from, to, SP_PAIR_FUNCTIONS, NAME);
	sp_model_callsite(t->s->m, to, &c);
	sp_json_f(o, ", \"name\": %s, \"args\": {\"call\": %s", sp_memory_text(&name),
		  sp_site_call_name(c.call));
	path_of(t, o, "path", to);
	if (from && from != to)
		path_of(t, o, "from", from);
}

static const char *text_of_pair(struct track *t, uint32_t from, uint32_t to)
{
	struct named *n = &t->named[sp_mix_hash(from, to) % NAMED];
	static char text[1 << 17];
	struct sp_out o;

	if (n->text && n->from == from && n->to == to)
		return n->text;
	free(n->text);
	sp_memory_init(&o, text, sizeof(text));
	describe(t, &o, from, to);
	*n = (struct named){ from, to, sp_check_alloc(strdup(sp_memory_text(&o))) };
	return n->text;
}

/* Writes the window's slice, and that of its CPU, which ends when the thread moves. */
static void slices(struct track *t, const struct sp_kept *at)
{
	bool moves = t->cpu != at->cpu;

	if (moves || t->moves)
		end_cpu(t);
	t->moves = moves;
	if (!t->on_cpu)
		begin_cpu(t, at->cpu);
	if (!at->to || !t->sites)
		return;
	begin(t, 'B', t->ns);
	sp_out_text(t->o, text_of_pair(t, at->from, at->to));
	sp_json_f(t->o, ", \"cpu\": % d}}", at->cpu);
	end_slice(t, at->ns);
}

/* Writes a window: its counts are the closing reading's CPU's, as in the other formats. */
static void window(struct track *t, const struct sp_row *row, const struct sp_kept *at)
{
	double s = (double)(at->ns - t->ns) / 1e9;

	if (t->ns && at->ns > t->ns && *t->label)
		slices(t, at);
	for (uint32_t e = 0; e < row->k; e++) {
		struct value *v = &t->value[e];
		double n;
		int32_t from = cpu_of(row, e, t->cpu), to = cpu_of(row, e, at->cpu);

		if (!sp_selection_named(t->s, row->event[e]))
			continue;
		if (v->is == UNRELATED) {
			counter(t, row->event[e], "", to, at->ns,
				number(t, row->event[e], at->value[e]));
			continue;
		}
		n = v->left + counts(t, v, row->event[e], at, e);
		v->left = t->ns && at->ns <= t->ns ? n : 0.0;	/* the clock was set back */
		if (!t->ns || at->ns <= t->ns)
			continue;
		if (from != to)
			counter(t, row->event[e], "/s", from, t->ns, 0.0);
		counter(t, row->event[e], "/s", to, t->ns, n / s);
	}
	t->ns = at->ns;
	t->cpu = at->cpu;
}

/* Names the row's track: counters of one name are one track to Perfetto. */
static void label(struct track *t, const struct sp_row *row)
{
	char key[LABEL + 16];
	uint32_t i, n;

	sp_text_f(t->label, LABEL, "%d%s%s, set %d", row->tid, *row->thread ? " " : "",
		  row->thread, row->event_set);
	sp_text_f(key, sizeof(key), "%u %s", t->pid, t->label);
	i = sp_names_number(&t->labels, key, strlen(key));
	t->labelled = sp_grow_array(t->labelled, &t->n_labelled, i + 1, sizeof(*t->labelled));
	n = ++t->labelled[i];
	if (n > 1)
		sp_text_f(t->label + strlen(t->label), LABEL - strlen(t->label), " (%u)", n);
	name(t, "thread_name", t->label);
}

static void relation(struct track *t, struct sp_row *row, bool first_of_thread)
{
	struct sp_model *m = t->s->m;
	struct sp_kept at = { 0 };
	bool any = false;

	*t->label = 0;
	t->tid = row->tid > 0 && first_of_thread ? (uint32_t)row->tid : OTHER_TRACK + row->id;
	if (row->cells)
		label(t, row);
	t->value = sp_check_alloc(calloc(row->k + 1, sizeof(*t->value)));
	for (uint32_t e = 0; e < row->k; e++)
		t->value[e] = value_of(t, row, e, meaning(t, row, e));
	t->ns = row->first_ns;
	while (!t->o->error && sp_row_kept(m, row, &at)) {
		if (!any)
			t->cpu = at.cpu;
		any = true;
		window(t, row, &at);
	}
	end_cpu(t);
	for (uint32_t e = 0; any && e < row->k; e++)
		if (t->value[e].is != UNRELATED && sp_selection_named(t->s, row->event[e]))
			counter(t, row->event[e], "/s", cpu_of(row, e, t->cpu), t->ns, 0.0);
	free(t->value);
}

void sp_format_trace(struct sp_out *o, const struct sp_selection *s)
{
	struct track t = { .o = o, .s = s, .origin = s->m->h.process.start_ns };
	struct sp_row row = { 0 };
	struct sp_levels sites;
	sp_off thread = 0;

	t.named = sp_check_alloc(calloc(NAMED, sizeof(*t.named)));
	if (sp_levels_open(&sites, s->m, sp_level_by_name("callsite"), NULL) == 0) {
		sp_levels_name(&sites);
		t.sites = &sites;
	}
	sp_out_text(o, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
	for (uint32_t i = 0; i < s->m->n_processes; i++)
		name_process(&t, s->m, i);
	while (sp_model_next(s->m, &row)) {
		if (!row.kept)
			continue;
		t.pid = row.process + 1;
		relation(&t, &row, row.thread_at != thread);
		thread = row.thread_at;
	}
	sp_out_text(o, "\n]}\n");
	for (uint32_t i = 0; i < NAMED; i++)
		free(t.named[i].text);
	free(t.named);
	free(t.labelled);
	sp_names_free(&t.labels);
	if (t.sites)
		sp_levels_close(&sites);
}
