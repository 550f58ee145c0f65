/* format-json.c: writes the dump for programs, one JSON object (sspapi-dump(5) describes its keys).
 *
 * Keys keep their order between versions, and lists have one item per line, so that diff(1) and
 * grep(1) work.
 */
#include "../base/cpu-list.h"
#include "../model/core-kinds.h"
#include "../model/repeats.h"
#include "../store/blocks.h"
#include "unlisted-cpus.h"
#include "format-json.h"
#include "format-metrics.h"
#include "function-name.h"

/* ---- the grammar ------------------------------------------------------- */

/* Returns whether the open list or object has no item yet. */
static bool is_first(const struct sp_out *o)
{
	return o->used && (o->buffer[o->used - 1] == '[' || o->buffer[o->used - 1] == '{');
}

void sp_json_comma(struct sp_out *o)
{
	if (!is_first(o))
		sp_out_text(o, ", ");
}

void sp_json_line(struct sp_out *o, const char *indent)
{
	sp_out_text(o, is_first(o) ? "\n" : ",\n");
	sp_out_text(o, indent);
}

void sp_json_value(struct sp_out *o, enum sp_data_type type, int64_t v)
{
	double d = sp_float(v);

	/* JSON has no nan and no infinities, for which d - d is nan. */
	if (type == SP_FP64 && d - d != 0.0)
		sp_out_text(o, "null");
	else
		sp_out_value(o, type, v);
}

static const char *word(const char *const *words, unsigned n, uint32_t i)
{
	return words[i < n ? i : 0];
}

/* ---- process, settings, topology --------------------------------------- */

static void strings(struct sp_out *o, const char *key, const struct sp_store_reader *reader,
		    sp_off off)
{
	const char *text;

	sp_out_text(o, key);
	sp_out_char(o, '[');
	for (uint32_t i = 0; (text = sp_store_reader_text_at(reader, off, i)); i++) {
		sp_json_comma(o);
		sp_out_json(o, text);
	}
	sp_out_char(o, ']');
}

static void process_fields(struct sp_out *o, const struct sp_model *m, const struct sp_header *h)
{
	struct sp_header all;
	/* A store whose writer did not record its end belongs to a running process. */
	static const char *const ends[] = { "snapshot", "exit",	     "_exit",
					    "exec",	"recovered", "snapshot" };
	const char *job = sp_model_text(m, h->process.job);

	sp_json_f(o, "\"pid\": %u, \"ppid\": %u, \"exe\": %s", h->process.pid, h->process.ppid,
		  sp_model_text(m, h->process.exe));
	strings(o, ", \"args\": ", m->reader, h->process.args);
	sp_json_f(o, ",\n  \"host\": %s, \"rank\": % ld, \"job\": %s, \"cwd\": %s",
		  sp_model_text(m, h->process.host), h->process.rank, *job ? job : NULL,
		  sp_model_text(m, h->process.cwd));
	if (h->cpus_allowed)
		sp_json_f(o, ", \"cpus_allowed\": %s", sp_model_text(m, h->cpus_allowed));
	sp_header_copy(&all, h);
	sp_json_f(o,
		  ",\n  \"start_ns\": %lu, \"end_ns\": %lu, \"end\": %s, \"cpu_ns\": % ld, "
		  "\"counted_cpu_ns\": % ld",
		  h->process.start_ns, h->process.end_ns, word(ends, SP_COUNT(ends), h->end),
		  all.time.cpu_ns ? (int64_t)all.time.cpu_ns : -1, sp_counted_ns(&all));
}

/* Writes the process. A job's process has the values that its processes share (0, "" and null if
 * they differ), followed by each process. */
static void process(struct sp_out *o, const struct sp_selection *s)
{
	const struct sp_model *m = s->m;

	sp_out_text(o, " \"process\": {");
	process_fields(o, m, &m->h);
	sp_json_f(o, ", \"threads_counted\": %lu},\n", m->tally.threads_counted);
	if (!sp_is_job(m))
		return;
	sp_out_text(o, " \"processes\": [");
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct sp_model_process *p = &m->process[i];

		if (s->part && !s->part->process[i])
			continue;
		sp_json_line(o, "  ");
		sp_json_f(o, "{\"id\": %u, \"machine\": % d, ", i, m->machine[p->machine].root);
		if (sp_n_repeats(m))
			sp_json_f(o, "\"run\": %lu, ", p->h->stat >> SP_STAT_RUN_SHIFT);
		process_fields(o, m, p->h);
		sp_out_char(o, '}');
	}
	sp_out_text(o, "],\n");
}

/* For a store of sspapi stat: the state of counting. */
static void stat(struct sp_out *o, struct sp_model *m)
{
	char buf[32];

	sp_out_text(o, m->h.stat ? ", \"stat\": {\"events\": [" : ", \"stat\": null");
	for (uint32_t e = 0; m->h.stat && e < m->n_events; e++) {
		sp_json_comma(o);
		sp_out_json(o, sp_event_name(m, e, buf));
	}
	if (!m->h.stat)
		return;
	sp_out_text(o, m->h.stat & SP_STAT_WHOLE ? "], \"whole\": true" : "], \"whole\": false");
	if (m->h.stat & SP_STAT_GROUP) {
		sp_out_text(o, ", \"cgroup\": ");
		sp_out_json(o, sp_store_reader_text_at(m->reader, m->h.process.args, 1) ?: "");
	}
	sp_out_char(o, '}');
}

static void settings(struct sp_out *o, struct sp_model *m)
{
	static const char *const readings[] = { "temporary", "permanent" };

	uint32_t v = m->h.papi_version;

	sp_json_f(o, " \"papi\": {\"version\": \"%u.%u.%u.%u\", \"library\": %s", v >> 24,
		  v >> 16 & 255, v >> 8 & 255, v & 255, sp_model_text(m, m->h.papi_library));
	if (m->h.pmus)
		sp_json_f(o, ", \"pmus\": %s", sp_model_text(m, m->h.pmus));
	sp_json_f(o, "},\n \"settings\": {\"attribution\": %s, \"readings\": %s, \"callsites\": %u",
		  sp_attribution_name(m->h.attribution),
		  word(readings, SP_COUNT(readings), m->h.readings), m->h.callsites);
	stat(o, m);
	sp_out_text(o, "},\n");
}

/* CPUs that the topology lacks get the ids after its components. */
static void outside_cpus(struct sp_out *o, const struct sp_model *m,
			 const struct sp_unlisted_cpus *outside)
{
	for (uint32_t i = 0; i < outside->n; i++) {
		const struct sp_unlisted_cpus_cpu *c = &outside->cpu[i];

		sp_json_line(o, "  ");
		sp_json_f(o,
			  "{\"id\": %u, \"parent\": % d, \"type\": \"PU\", \"os_index\": %d, "
			  "\"logical_index\": -1, \"name\": \"\", "
			  "\"in_topology\": false}",
			  m->n_components + i, m->machine[c->machine].root, c->cpu);
	}
}

static void topology(struct sp_out *o, const struct sp_selection *s,
		     const struct sp_unlisted_cpus *outside)
{
	const struct sp_model *m = s->m;

	sp_json_f(o, " \"topology\": {\"source\": %s, \"components\": [",
		  m->topology_source ? m->topology_source : "");
	for (uint32_t i = 0; i < m->n_components; i++) {
		const struct sp_component *c = &m->component[i];
		char type[sizeof(c->type) + 1], name[sizeof(c->name) + 1];

		if (s->part && !s->part->component[i])
			continue;
		sp_json_line(o, "  ");
		sp_json_f(o,
			  "{\"id\": %u, \"parent\": % d, \"type\": %s, \"os_index\": % d, "
			  "\"logical_index\": %d, \"name\": %s",
			  i, sp_parent(m, i), sp_fixed_text(type, c->type, sizeof(c->type)),
			  c->os_index, c->logical_index,
			  sp_fixed_text(name, c->name, sizeof(c->name)));
		if (c->size)
			sp_json_f(o, ", \"size\": %lu", c->size);
		if (c->cpu_kind >= 0)
			sp_json_f(o, ", \"cpu_kind\": %d", c->cpu_kind);
		sp_out_text(o, c->flags & SP_COMPONENT_DISALLOWED ? ", \"allowed\": false}" : "}");
	}
	outside_cpus(o, m, outside);
	sp_out_text(o, "]},\n");
}

/* ---- events ------------------------------------------------------------ */

/* Writes the totals of all counts. Counts of several observers are included once. */
static void totals(struct sp_out *o, const struct sp_model *m, uint32_t e)
{
	if (!sp_event_is_summed(m, e))
		return;
	sp_out_text(o, ", \"total\": ");
	sp_json_value(o, sp_event_type(m, e), m->sums.total[e]);
	sp_out_text(o, ", \"exact\": ");
	sp_json_value(o, sp_event_type(m, e), m->sums.total_exact[e]);
	if (sp_event_observers(m, e))
		sp_json_f(o, ", \"observers\": %u", sp_event_observers(m, e));
}

static void events(struct sp_out *o, const struct sp_model *m)
{
	static const char *const types[] = { "int64", "uint64", "fp64", "bit64" };
	char buf[32];

	sp_out_text(o, " \"events\": [");
	for (uint32_t i = 0; i < m->n_events; i++) {
		const struct sp_event *e = m->event[i];
		const char *postfix = SP_EVENT_TEXT(m, i, postfix);

		sp_json_line(o, "  ");
		sp_json_f(o,
			  "{\"id\": %u, \"name\": %s, \"code\": \"%#lx\", \"component\": %s, "
			  "\"data_type\": %s, \"kind\": %s",
			  i, sp_event_name(m, i, buf), e ? (uint64_t)e->code : 0,
			  SP_EVENT_TEXT(m, i, component), types[sp_event_type(m, i)],
			  sp_event_is_gauge(m, i) ? "gauge" : "counter");
		if (*SP_EVENT_TEXT(m, i, pmu))
			sp_json_f(o, ", \"pmu\": %s", SP_EVENT_TEXT(m, i, pmu));
		sp_json_f(o, ", \"derived\": %s", SP_EVENT_TEXT(m, i, derived));
		if (*postfix)
			sp_json_f(o, ", \"postfix\": %s", postfix);
		strings(o, ", \"natives\": ", m->reader, e ? e->natives : 0);
		sp_json_f(o, ", \"units\": %s, \"description\": %s", SP_EVENT_TEXT(m, i, units),
			  SP_EVENT_TEXT(m, i, description));
		totals(o, m, i);
		sp_out_text(o, e ? "}" : ", \"damaged\": true}");
	}
	sp_out_text(o, "],\n");
}

/* ---- relations --------------------------------------------------------- */

static void values(struct sp_out *o, const struct sp_model *m, const struct sp_row *row,
		   const char *key, const int64_t *v, const struct sp_at_cpu *at)
{
	sp_out_text(o, key);
	for (uint32_t i = 0; i < row->k; i++) {
		if (i)
			sp_out_text(o, ", ");
		if (sp_event_is_gauge(m, row->event[i]) || (at && sp_is_unsupported(at, i)))
			sp_out_text(o, "null");		/* a gauge has no total; see `gauges` */
		else
			sp_json_value(o, sp_event_type(m, row->event[i]), v[i]);
	}
	sp_out_char(o, ']');
}

static void cpus(struct sp_out *o, struct sp_model *m, struct sp_row *row)
{
	struct sp_at_cpu at;

	sp_out_text(o, ",\n   \"cpus\": [");
	for (uint32_t i = 0; i < row->cells; i++) {
		if (!sp_row_cell(m, row, i, &at))
			continue;
		sp_json_line(o, "    ");
		sp_json_f(o, "{\"cpu\": % d, \"readings\": %lu, \"ns\": % ld", at.cpu, at.readings,
			  at.run_ns);
		values(o, m, row, ", \"total\": [", at.total, &at);
		values(o, m, row, ", \"exact\": [", at.exact, &at);
		sp_out_char(o, '}');
	}
	sp_out_char(o, ']');
}

/* Call sites are null if unknown. */
static int64_t site_id(uint32_t id)
{
	return id ? (int64_t)id : -1;
}

/* kept: the permanent reading; NULL: temporary. */
static void entry(struct sp_out *o, const struct sp_selection *s, uint32_t event, uint64_t ns,
		  int64_t v, const struct sp_kept *kept)
{
	sp_json_f(o, "{\"ns\": %lu, \"value\": ", ns);
	sp_json_value(o, sp_event_type(s->m, event), v);
	sp_out_text(o, kept ? ", \"permanent\": true" : ", \"permanent\": false");
	if (kept && s->m->n_callsites && !s->brief)
		sp_json_f(o, ", \"from\": % ld, \"to\": % ld", site_id(kept->from),
			  site_id(kept->to));
	sp_out_char(o, '}');
}

/* Begins the list of an event on a CPU, or its next item. */
static void next_entry(struct sp_out *o, int32_t cpu, uint32_t event, bool *some)
{
	if (!*some) {
		sp_json_line(o, "    ");
		sp_json_f(o, "{\"event\": %u, \"cpu\": % d, \"list\": [", event, cpu);
		*some = true;
	}
	sp_json_comma(o);
}

/* Returns n: every n-th permanent reading on this CPU is shown. */
static uint64_t step_of(const struct sp_selection *s, const struct sp_row *row, int32_t cpu)
{
	struct sp_kept r = { 0 };
	uint64_t n = 0;

	if (!s->part)
		return 1;
	while (sp_row_kept(s->m, row, &r))
		n += r.cpu == cpu;
	return sp_max((n + s->part->readings - 1) / s->part->readings, 1);
}

/* Writes the permanent readings, oldest first. Counts of sspapi stat are increments, so one that
 * represents several is their sum; of a gauge it is the last one. */
static void kept(struct sp_out *o, const struct sp_selection *s, const struct sp_row *row,
		 int32_t cpu, uint32_t e, bool *some)
{
	uint64_t step = step_of(s, row, cpu), n = 0, ns = 0;
	int64_t sum = 0;		/* zero as a double as well */
	enum sp_data_type type = sp_event_type(s->m, row->event[e]);
	bool since = sp_process_header(s->m, row->process)->stat &&
		     !sp_event_is_gauge(s->m, row->event[e]);
	struct sp_kept r = { 0 };

	while (!o->error && sp_row_kept(s->m, row, &r)) {
		if (r.cpu != cpu)
			continue;
		sum = since ? sp_plus(type, sum, r.value[e]) : r.value[e];
		ns = r.ns;
		if (++n % step)
			continue;
		next_entry(o, cpu, row->event[e], some);
		entry(o, s, row->event[e], ns, sum, &r);
		sum = 0;
	}
	if (n % step) {
		next_entry(o, cpu, row->event[e], some);
		entry(o, s, row->event[e], ns, sum, &r);
	}
}

/* Writes the entries of an event on a CPU by sys-sage's rules, oldest first; nothing without
 * entries. Of gauges only permanent ones: `gauges` has the last value. */
static void list(struct sp_out *o, const struct sp_selection *s, const struct sp_row *row,
		 const struct sp_at_cpu *at, uint32_t e)
{
	bool some = false;

	if (at->has_kept)
		kept(o, s, row, at->cpu, e, &some);
	if (at->has_entry && !s->brief && !sp_event_is_gauge(s->m, row->event[e])) {
		next_entry(o, at->cpu, row->event[e], &some);
		entry(o, s, row->event[e], at->entry_ns, at->entry[e], NULL);
	}
	if (some)
		sp_out_text(o, "]}");
}

/* Writes last, min, max and mean; bits have no order and no mean. */
static void shown(struct sp_out *o, const struct sp_model *m, const struct sp_gauge_value *g)
{
	enum sp_data_type type = sp_event_type(m, g->event);

	sp_out_text(o, "\"last\": ");
	sp_json_value(o, type, g->last);
	sp_out_text(o, ", \"min\": ");
	sp_json_value(o, type, g->min);
	sp_out_text(o, ", \"max\": ");
	sp_json_value(o, type, g->max);
	sp_out_text(o, ", \"mean\": ");
	if (type == SP_BIT64 || g->mean - g->mean != 0.0)
		sp_out_text(o, "null");
	else
		sp_out_double(o, g->mean, -1);
	sp_json_f(o, ", \"readings\": %lu", g->readings);
}

static void gauges(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	struct sp_gauge_value g;
	uint64_t at = 0;

	sp_out_text(o, ",\n   \"gauges\": [");
	while (sp_row_gauge(m, row, &at, &g)) {
		sp_json_line(o, "    ");
		sp_json_f(o, "{\"event\": %u, \"cpu\": % d, \"component\": % d, ", g.event, g.cpu,
			  g.component);
		shown(o, m, &g);
		sp_json_f(o, ", \"last_ns\": %lu}", g.ns);
	}
	sp_out_char(o, ']');
}

/* Finds the next CPU above *cpu with permanent readings. */
static bool next_kept_cpu(const struct sp_model *m, const struct sp_row *row, int32_t *cpu)
{
	int32_t after = *cpu;
	struct sp_kept r = { 0 };
	bool any = false;

	while (sp_row_kept(m, row, &r)) {
		if (r.cpu <= after || (any && r.cpu >= *cpu))
			continue;
		*cpu = r.cpu;
		any = true;
	}
	return any;
}

static void entries(struct sp_out *o, const struct sp_selection *s, struct sp_row *row)
{
	struct sp_model *m = s->m;
	struct sp_at_cpu at = { .has_kept = true };

	sp_out_text(o, ",\n   \"entries\": [");
	/* The rows of sspapi stat -I are not counts of a relation: nothing is attributed to their
	 * CPUs. */
	for (at.cpu = INT32_MIN; row->cells == 0 && row->kept && next_kept_cpu(m, row, &at.cpu);)
		for (uint32_t e = 0; e < row->k; e++)
			list(o, s, row, &at, e);
	for (uint32_t i = 0; i < row->cells; i++)
		for (uint32_t e = 0; e < row->k && sp_row_cell(m, row, i, &at); e++)
			list(o, s, row, &at, e);
	sp_json_f(o, "],\n   \"permanent\": {\"kept\": %lu, \"refused\": %lu}", row->kept,
		  row->refused);
}

static void intervals(struct sp_out *o, const struct sp_selection *s, struct sp_row *row)
{
	struct sp_model *m = s->m;
	struct sp_interval_counts at;

	sp_out_text(o, ",\n   \"intervals\": [");
	for (uint32_t i = 0; !s->brief && sp_row_interval(m, row, i, &at); i++) {
		sp_json_line(o, "    ");
		sp_json_f(o, "{\"from\": % ld, \"to\": %u, \"cpu\": % d, \"count\": %lu",
			  site_id(at.from), at.to, at.cpu, at.count);
		values(o, m, row, ", \"total\": [", at.total, NULL);
		values(o, m, row, ", \"exact\": [", at.exact, NULL);
		sp_out_char(o, '}');
	}
	sp_out_char(o, ']');
}

/* The caller closes its object. */
static void frame(struct sp_out *o, const struct sp_frame_info *f)
{
	sp_json_f(o, "{\"module\": %s, \"build_id\": %s, \"offset\": \"%#lx\", \"symbol\": %s",
		  f->module, f->build_id, f->offset, *f->symbol ? f->symbol : NULL);
	if (*f->line)
		sp_json_f(o, ", \"line\": %s", f->line);
	for (uint32_t i = 0; i < f->n_into; i++) {
		sp_out_text(o, i ? ", " : ", \"inlined_into\": [");
		sp_json_f(o, "{\"symbol\": %s", f->into[i].symbol);
		if (f->into[i].line)
			sp_json_f(o, ", \"line\": %s", f->into[i].line);
		sp_out_char(o, '}');
	}
	sp_out_text(o, f->n_into ? "]" : "");
}

/* `other`: hits at addresses that are not among the most frequent ones. */
static void overflows(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	struct sp_overflowed at;
	uint32_t i = 0;

	sp_out_text(o, ",\n   \"overflows\": [");
	while (sp_row_overflow(m, row, &i, &at)) {
		struct sp_frame_info f;
		uint32_t hit = UINT32_MAX;
		uint64_t count;

		sp_json_line(o, "    ");
		sp_json_f(o,
			  "{\"event\": % ld, \"cpu\": % d, \"count\": %lu, \"other\": %lu, "
			  "\"addresses\": [",
			  at.event < row->k ? (int64_t)row->event[at.event] : -1, at.cpu, at.count,
			  at.other);
		while (sp_row_hit(m, row, &at, &hit, &f, &count)) {
			sp_json_comma(o);
			frame(o, &f);
			sp_json_f(o, ", \"count\": %lu}", count);
		}
		sp_out_text(o, "]}");
	}
	sp_out_char(o, ']');
}

/* Writes the thread or process to which the set was attached: its state then, and whether it had
 * ended at the dump. */
static void watched(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	static const char *const over[] = { "null", "false", "true" };
	const struct sp_watched *w = sp_row_watched(m, row);
	char name[17];

	if (!w)
		return;
	sp_json_f(o, ", \"name\": %s", sp_fixed_text(name, w->name, 16));
	strings(o, ", \"args\": ", m->reader, w->args);
	sp_out_f(o, ", \"ended\": %s", word(over, SP_COUNT(over), w->over));
}

static void target(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	static const char *const scopes[] = { "thread",	 "cpu",	 "process",
					      "package", "host", "device" };

	if (row->target == SP_TARGET_CPU)
		sp_json_f(o, ", \"target\": {\"kind\": \"cpu\", \"cpu\": %d", row->target_id);
	else if (row->target == SP_TARGET_TID)
		sp_json_f(o, ", \"target\": {\"kind\": \"tid\", \"tid\": %d", row->target_id);
	else if (row->started_by)
		sp_json_f(o, ", \"target\": {\"kind\": \"thread\", \"tid\": %d", row->tid);
	else
		sp_out_text(o, ", \"target\": {\"kind\": \"thread\"");
	watched(o, m, row);
	sp_json_f(o, "}, \"started_by\": % d, \"scope\": %s, \"threads\": %u",
		  row->started_by ? row->started_by : -1,
		  word(scopes, SP_COUNT(scopes), (uint32_t)row->scope), row->threads);
}

static void domains(struct sp_out *o, uint32_t domain)
{
	bool more = false;

	for (uint32_t i = 0; i < SP_DOMAINS && domain; i++)
		if (domain >> i & 1) {
			sp_out_text(o, more ? ", " : ", \"domain\": [");
			sp_json_f(o, "%s", sp_domain_name(i));
			more = true;
		}
	if (more)
		sp_out_char(o, ']');
}

/* Writes the components that the events count as a whole; null: per CPU. */
static void places(struct sp_out *o, const struct sp_row *row)
{
	if (!row->place)
		return;
	sp_out_text(o, ", \"places\": [");
	for (uint32_t e = 0; e < row->k; e++)
		sp_json_f(o, e ? ", % d" : "% d", sp_row_place(row, e));
	sp_out_char(o, ']');
}

#define ALLOWED_CPUS 1024

/* Writes the CPUs on which the thread could run: those of its mask, and those with counts after
 * another process had changed the mask. */
static void allowed(struct sp_out *o, struct sp_model *m, struct sp_row *row)
{
	const char *list = row->times ? sp_model_text(m, row->times->allowed) : "";
	unsigned long cpu[ALLOWED_CPUS / (8 * sizeof(long))] = { 0 };
	struct sp_at_cpu at;
	struct sp_out text;
	uint64_t from, to;
	char all[1024];

	if (!*list)
		return;
	while (*list && (list = sp_cpu_range(list, &from, &to)) != NULL)
		for (; from <= to && from < ALLOWED_CPUS; from++)
			sp_cpu_put(cpu, sizeof(cpu), from);
	for (uint32_t i = 0; sp_row_cell(m, row, i, &at); i++)
		sp_cpu_put(cpu, sizeof(cpu), (uint64_t)at.cpu);
	sp_memory_init(&text, all, sizeof(all));
	sp_out_cpu_list(&text, cpu, sizeof(cpu));
	sp_json_f(o, ", \"cpus_allowed\": %s", sp_memory_text(&text));
}

/* Writes how the row's counts were attributed. */
static void write_attribution(struct sp_out *o, struct sp_model *m, struct sp_row *row)
{
	struct sp_unwatched unwatched = { .more = false };
	char why[SP_WHY_TEXT];

	sp_unwatched_add(&unwatched, row);
	sp_json_f(o, ",\n   \"attribution\": %s, \"attribution_why\": %s, \"bound\": [",
		  sp_attribution_name(row->attribution),
		  row->why ? sp_why_text_with_cpus(why, row->why, &unwatched) : NULL);
	for (uint32_t e = 0; e < row->k; e++)
		sp_json_f(o, e ? ", %lu" : "%lu",
			  row->times ? row->error_margin[e] * row->times->windows : 0);
	sp_json_f(o, "], \"moves\": % ld",
		  row->times && (row->times->flags & SP_TIMES_MOVES) ? (int64_t)row->times->moves
								     : -1);
	allowed(o, m, row);
}

static void flags(struct sp_out *o, uint32_t flags)
{
	static const struct { uint32_t flag; const char *key; } is[] = {
		{ SP_RELATION_BACKWARDS, "backwards" }, { SP_RELATION_CROWDED, "crowded" },
		{ SP_RELATION_UNSURE, "unsure" },
		{ SP_RELATION_RUNNING, "running" }, { SP_RELATION_FOREIGN, "foreign" },
		{ SP_RELATION_API, "api" },
		{ SP_RELATION_ESTIMATED, "estimated" }, { SP_RELATION_HASTY, "hasty" },
	};

	for (unsigned i = 0; i < SP_COUNT(is); i++)
		if (flags & is[i].flag)
			sp_json_f(o, ", %s: true", is[i].key);
}

/* Lists the events that another observer saw over the same time, and longer: no sum includes this
 * row's. */
static void left_out(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	bool more = false;

	for (uint32_t i = 0; i < row->k; i++) {
		if (!sp_row_is_omitted(m, row, i))
			continue;
		sp_json_f(o, more ? ", %u" : ", \"left_out\": [%u", row->event[i]);
		more = true;
	}
	sp_out_text(o, more ? "]" : "");
}

static void relation(struct sp_out *o, const struct sp_selection *s, struct sp_row *row)
{
	struct sp_model *m = s->m;

	sp_json_f(o, "{\"id\": %u", row->id);
	if (sp_is_job(m))
		sp_json_f(o, ", \"process\": %u", row->process);
	sp_json_f(o, ", \"event_set\": %d, \"tid\": %d, \"thread\": %s", row->event_set, row->tid,
		  row->thread);
	target(o, m, row);
	sp_out_text(o, ",\n   \"events\": [");
	for (uint32_t i = 0; i < row->k; i++)
		sp_json_f(o, i ? ", %u" : "%u", row->event[i]);
	sp_json_f(o,
		  "], \"starts\": %lu, \"resets\": %lu, \"readings\": %lu, \"first_ns\": %lu, "
		  "\"last_ns\": %lu",
		  row->starts, row->resets, row->readings, row->first_ns, row->last_ns);
	if (row->run_ns != SP_COUNTED_UNKNOWN)
		sp_json_f(o, ", \"run_ns\": %lu", row->run_ns);
	left_out(o, m, row);
	flags(o, row->flags);
	domains(o, row->domain);
	write_attribution(o, m, row);
	places(o, row);
	cpus(o, m, row);
	overflows(o, m, row);
	gauges(o, m, row);
	entries(o, s, row);
	intervals(o, s, row);
	sp_out_char(o, '}');
}

/* The rows of sspapi stat -I belong to no thread. */
static bool is_part(const struct sp_part *p, const struct sp_row *row)
{
	return row->cells == 0 && row->kept ? p->process[row->process]
					    : sp_part_has_thread(p, row->process, row->tid);
}

static void relations(struct sp_out *o, const struct sp_selection *s)
{
	struct sp_row row = { 0 };

	sp_out_text(o, " \"relations\": [");
	while (!o->error && sp_model_next(s->m, &row)) {
		if (s->part && !is_part(s->part, &row))
			continue;
		sp_json_line(o, "  ");
		relation(o, s, &row);
	}
	sp_out_text(o, "],\n");
}

/* ---- sums, calls, the rest --------------------------------------------- */

/* Event names are keys here, and two events may have the same name (a native event with other
 * masks, or a hostile store); JSON readers would keep one of them. The first event keeps its name,
 * and later ones get their id appended: "NAME#7". */
#define REPEATED_WORDS	(SP_EVENTS_MAX / 64)

static void find_repeated(const struct sp_model *m, uint64_t repeated[REPEATED_WORDS])
{
	memset(repeated, 0, REPEATED_WORDS * sizeof(repeated[0]));
	for (uint32_t e = 1; e < m->n_events && e < SP_EVENTS_MAX; e++) {
		for (uint32_t i = 0; m->event_counted[e] && i < e; i++) {
			if (!m->event_counted[i])
				continue;
			if (!strcmp(SP_EVENT_TEXT(m, i, name), SP_EVENT_TEXT(m, e, name))) {
				repeated[e / 64] |= 1ull << e % 64;
				break;
			}
		}
	}
}

static void event_key(struct sp_out *o, const struct sp_model *m, uint32_t id, bool repeated)
{
	char buf[32], name[256];

	sp_text_f(name, sizeof(name) - 32, "%s", sp_event_name(m, id, buf));
	sp_text_f(name + strlen(name), 32, "#%u", id);
	sp_json_f(o, "%s", repeated ? name : sp_event_name(m, id, buf));
}

void sp_json_event_key(struct sp_out *o, const struct sp_model *m, uint32_t id)
{
	bool repeated = false;

	for (uint32_t i = 0; i < id && !repeated; i++)
		repeated = sp_event_is_summed(m, i) &&
			   strcmp(SP_EVENT_TEXT(m, i, name), SP_EVENT_TEXT(m, id, name)) == 0;
	event_key(o, m, id, repeated);
}

void sp_metrics_json(struct sp_out *o, const struct sp_metrics *t)
{
	if (!t)
		return;
	sp_out_text(o, ", \"derived_metrics\": {");
	for (int32_t i = sp_metrics_next(t, -1); i >= 0; i = sp_metrics_next(t, i)) {
		sp_json_comma(o);
		sp_out_json(o, t->at[i].name);
		sp_out_text(o, ": ");
		if (t->at[i].has_value)
			sp_metric_number(o, &t->at[i]);
		else
			sp_out_text(o, "null");
	}
	sp_out_char(o, '}');
}

/* sum, present: by event id. c: a component; -1: a CPU that the topology lacks, which has only
 * per-CPU counts. */
static void sums_at(struct sp_out *o, const struct sp_model *m, int32_t c, const char *key,
		    const int64_t *sum, const bool *present,
		    const uint64_t repeated[REPEATED_WORDS])
{
	sp_out_text(o, key);
	for (uint32_t e = 0; e < m->n_events; e++) {
		if (!sp_event_is_summed(m, e) ||
		    (c >= 0 ? !sp_sum_is_known(m, (uint32_t)c, e) : sp_event_is_placed(m, e)))
			continue;
		sp_json_comma(o);
		event_key(o, m, e, e >= SP_EVENTS_MAX || (repeated[e / 64] >> e % 64 & 1));
		sp_out_text(o, ": ");
		if (present[e])
			sp_json_value(o, sp_event_type(m, e), sum[e]);
		else
			sp_out_text(o, "null");
	}
	sp_out_char(o, '}');
}

static void gauges_at(struct sp_out *o, const struct sp_model *m, uint32_t c,
		      const uint64_t repeated[REPEATED_WORDS])
{
	bool more = false;
	struct sp_gauge_value g;

	for (uint32_t e = 0; e < m->n_events; e++) {
		if (!sp_gauge_at(m, (int32_t)c, e, &g))
			continue;
		sp_out_text(o, more ? ", " : ", \"gauges\": {");
		event_key(o, m, e, e >= SP_EVENTS_MAX || (repeated[e / 64] >> e % 64 & 1));
		sp_out_text(o, ": {");
		shown(o, m, &g);
		sp_out_char(o, '}');
		more = true;
	}
	if (more)
		sp_out_char(o, '}');
}

static void metrics_at(struct sp_out *o, const struct sp_selection *s,
		       const struct sp_metric_sum *sums)
{
	if (s->metrics)
		sp_metrics_compute(s->metrics, sums);
	sp_metrics_json(o, s->metrics);
}

/* Returns the metrics of row i of the unlisted CPUs, which only JSON has. */
static const struct sp_metric_sum *metric_row(const struct sp_unlisted_cpus *outside,
					      const struct sp_metrics *t, uint32_t i)
{
	return t ? outside->metric + (uint64_t)i * t->n_slots : NULL;
}

static void sums_of(struct sp_out *o, const struct sp_selection *s,
		    struct sp_unlisted_cpus *outside, uint32_t c,
		    const uint64_t repeated[REPEATED_WORDS])
{
	const struct sp_model *m = s->m;
	uint64_t at = (uint64_t)c * m->n_events, row = (uint64_t)outside->n * m->n_events;
	bool more = sp_unlisted_cpus_below(outside, m, s->metrics, c);

	if (!m->sums.counted[c] && !more)
		return;
	sp_json_line(o, "  ");
	sp_json_f(o, "{\"component\": %u", c);
	sums_at(o, m, (int32_t)c, ", \"total\": {", more ? outside->sum + row : m->sums.below + at,
		more ? outside->present + row : m->sums.present + at, repeated);
	gauges_at(o, m, c, repeated);
	metrics_at(o, s,
		   more		? metric_row(outside, s->metrics, outside->n)
		   : s->metrics ? sp_metrics_at(s->metrics, c)
				: NULL);
	if (s->metrics && sp_kinds_several(sp_kinds_below(m, c) | (more ? sp_kind_unknown(m) : 0)))
		sp_out_text(o, ", \"mixed_cpu_kinds\": true");
	sp_out_char(o, '}');
}

static void sums(struct sp_out *o, const struct sp_selection *s, struct sp_unlisted_cpus *outside)
{
	const struct sp_model *m = s->m;
	uint64_t repeated[REPEATED_WORDS];

	find_repeated(m, repeated);
	sp_out_text(o, " \"components\": [");
	for (uint32_t c = 0; c < m->n_components; c++)
		if (!s->part || s->part->component[c])
			sums_of(o, s, outside, c, repeated);
	for (uint32_t i = 0; i < outside->n; i++) {
		sp_json_line(o, "  ");
		sp_json_f(o, "{\"component\": %u", m->n_components + i);
		sums_at(o, m, -1, ", \"total\": {", outside->sum + (uint64_t)i * m->n_events,
			outside->present + (uint64_t)i * m->n_events, repeated);
		metrics_at(o, s, metric_row(outside, s->metrics, i));
		sp_out_char(o, '}');
	}
	sp_out_text(o, "],\n");
}

/* Writes each metric's definition and event sets. */
static void metrics(struct sp_out *o, const struct sp_selection *s)
{
	char text[1024];

	if (!s->metrics)
		return;
	sp_out_text(o, " \"metrics\": [");
	for (int32_t i = sp_metrics_next(s->metrics, -1); i >= 0;
	     i = sp_metrics_next(s->metrics, i)) {
		const struct sp_metric *d = &s->metrics->at[i];

		sp_json_line(o, "  ");
		sp_json_f(o, "{\"name\": %s, \"description\": %s", d->name, d->note);
		if (d->whole)
			sp_out_text(o, ", \"whole\": true");
		if (sp_metric_sets_text(text, sizeof(text), s->metrics, d))
			sp_json_f(o, ", \"note\": %s", text);
		sp_json_f(o, ", \"event_sets\": %lu, \"other_event_sets\": %lu}", d->sets,
			  d->others);
	}
	sp_out_text(o, "],\n");
}

static void callsites(struct sp_out *o, const struct sp_selection *s)
{
	const struct sp_model *m = s->m;
	struct sp_callsite c;
	struct sp_frame_info f;

	sp_out_text(o, " \"callsites\": [");
	for (uint32_t id = 0; id < m->n_callsites; id++) {

		if (s->part && !s->part->callsite[id])
			continue;
		sp_model_callsite(m, id, &c);
		sp_json_line(o, "  ");
		sp_json_f(o, "{\"id\": %u", id);
		if (*c.name)
			sp_json_f(o, ", \"name\": %s", c.name);
		if (c.call)
			sp_json_f(o, ", \"call\": %s", sp_site_call_name(c.call));
		sp_out_text(o, ", \"frames\": [");
		for (uint32_t i = 0; sp_model_frame(m, id, i, &f); i++) {
			sp_json_comma(o);
			frame(o, &f);
			sp_out_char(o, '}');
		}
		sp_out_text(o, "]}");
	}
	sp_out_text(o, "],\n");
}

static void calls(struct sp_out *o, const struct sp_model *m)
{
	double share = sp_overhead_share(m);
	const char *name;

	sp_out_text(o, " \"calls\": {");
	for (uint32_t i = 0; i < SP_CALLS_MAX && (name = sp_model_call_name(m, i)); i++) {
		if (!m->tally.calls[i])
			continue;
		sp_json_comma(o);
		sp_json_f(o, "%s: %lu", name, m->tally.calls[i]);
	}
	sp_json_f(o,
		  "},\n \"dropped\": {\"readings\": %lu, \"relations\": %lu, "
		  "\"permanent_readings\": %lu, \"damaged_blocks\": %lu}",
		  m->h.dropped_readings, m->h.dropped_relations, m->tally.refused,
		  m->tally.damaged);
	sp_json_f(o,
		  ",\n \"self\": {\"calls\": %lu, \"timed\": %lu, \"ns_per_call\": %.1f, "
		  "\"prepare_ns\": %lu, \"share\": ",
		  sp_all_calls(m), m->h.self_calls, sp_overhead_ns(m), m->h.time.prepare_ns);
	if (share < 0.0)
		sp_out_text(o, "null},\n");
	else
		sp_json_f(o, "%.9f},\n", share);
}

static void notes(struct sp_out *o, const struct sp_model *m)
{
	const char *note;
	char text[SP_MISSING_TEXT];

	sp_out_text(o, " \"notes\": [");
	for (uint32_t i = 0; (note = sp_model_note(m, i)); i++) {
		sp_json_line(o, "  ");
		sp_out_json(o, note);
	}
	for (unsigned i = 0; sp_missing_text(m, &i, text);) {
		sp_json_line(o, "  ");
		sp_out_json(o, text);
	}
	sp_out_char(o, ']');
}

void sp_format_json(struct sp_out *o, const struct sp_selection *s)
{
	sp_json_dump(o, s);
	sp_out_text(o, "}\n");
}

void sp_json_dump(struct sp_out *o, const struct sp_selection *s)
{
	struct sp_unlisted_cpus outside;

	sp_unlisted_cpus_open(&outside, s->m, s->metrics);
	sp_out_text(o, "{\"format\": \"sspapi-dump\", \"format_version\": 1, "
		       "\"sspapi_version\": \"" SP_VERSION "\",\n");
	process(o, s);
	settings(o, s->m);
	topology(o, s, &outside);
	events(o, s->m);
	relations(o, s);
	sums(o, s, &outside);
	sp_unlisted_cpus_close(&outside);
	metrics(o, s);
	callsites(o, s);
	calls(o, s->m);
	notes(o, s->m);
}
