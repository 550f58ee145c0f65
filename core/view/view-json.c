/* view-json.c: the dump for programs, one JSON object (contract, section 5).
 *
 * The order of keys is the contract's; lists have one item a line, so that
 * diff(1) and grep(1) are of use.
 */
#include "core-kinds.h"
#include "view-json.h"
#include "view-metrics.h"
#include "why.h"

bool sp_json_brief;

/* ---- the grammar ------------------------------------------------------- */

/* Before each item of a list or object but the first. */
static void comma(struct sp_out *o, bool *more)
{
	if (*more)
		sp_out_text(o, ", ");
	*more = true;
}

static void comma_line(struct sp_out *o, bool *more, const char *indent)
{
	sp_out_text(o, *more ? ",\n" : "\n");
	sp_out_text(o, indent);
	*more = true;
}

/* Keys are ours: plain words, with what goes before them. */
static void key_text(struct sp_out *o, const char *key, const char *text)
{
	sp_out_text(o, key);
	sp_out_json(o, text);
}

static void key_u64(struct sp_out *o, const char *key, uint64_t v)
{
	sp_out_text(o, key);
	sp_out_u64(o, v);
}

static void key_i64(struct sp_out *o, const char *key, int64_t v)
{
	sp_out_text(o, key);
	sp_out_i64(o, v);
}

static void key_or_null(struct sp_out *o, const char *key, int64_t v)
{
	sp_out_text(o, key);
	if (v >= 0)
		sp_out_i64(o, v);
	else
		sp_out_text(o, "null");
}

void sp_json_value(struct sp_out *o, enum sp_data_type type, int64_t v)
{
	double d = sp_as_double(v);

	/* JSON has no word for nan and infinities: d - d is then nan. */
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

static void strings(struct sp_out *o, const char *key, const struct sp_image *image, sp_off off)
{
	bool more = false;
	const char *text;

	sp_out_text(o, key);
	sp_out_char(o, '[');
	for (uint32_t i = 0; (text = sp_image_text_at(image, off, i)); i++) {
		comma(o, &more);
		sp_out_json(o, text);
	}
	sp_out_char(o, ']');
}

static void process_fields(struct sp_out *o, const struct sp_model *m, const struct sp_header *h)
{
	/* A store whose writer has not said how it ended is one that still runs. */
	static const char *const ends[] = { "snapshot", "exit", "_exit", "exec", "recovered", "snapshot" };
	const char *job = sp_model_text(m, h->job);

	key_u64(o, "\"pid\": ", h->pid);
	key_u64(o, ", \"ppid\": ", h->ppid);
	key_text(o, ", \"exe\": ", sp_model_text(m, h->exe));
	strings(o, ", \"args\": ", m->image, h->args);
	key_text(o, ",\n  \"host\": ", sp_model_text(m, h->host));
	key_or_null(o, ", \"rank\": ", h->rank);
	sp_out_text(o, ", \"job\": ");
	if (*job)
		sp_out_json(o, job);
	else
		sp_out_text(o, "null");
	key_text(o, ", \"cwd\": ", sp_model_text(m, h->cwd));
	if (h->cpus_allowed)
		key_text(o, ", \"cpus_allowed\": ", sp_model_text(m, h->cpus_allowed));
	key_u64(o, ",\n  \"start_ns\": ", h->start_ns);
	key_u64(o, ", \"end_ns\": ", h->end_ns);
	key_text(o, ", \"end\": ", word(ends, SP_COUNT(ends), h->end));
	sp_out_char(o, '}');
}

/* Of a job: what its processes have in common (0, "" and null where they differ), and each. */
static void process(struct sp_out *o, const struct sp_model *m)
{
	bool more = false;

	sp_out_text(o, " \"process\": {");
	process_fields(o, m, &m->h);
	sp_out_text(o, ",\n");
	if (!sp_is_job(m))
		return;
	sp_out_text(o, " \"processes\": [");
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct sp_model_process *p = &m->process[i];

		comma_line(o, &more, "  ");
		key_u64(o, "{\"id\": ", i);
		key_or_null(o, ", \"machine\": ", m->machine[p->machine].root);
		sp_out_text(o, ", ");
		process_fields(o, m, p->h);
	}
	sp_out_text(o, "],\n");
}

/* Of a store of `sspapi stat`: what was counted from outside. */
static void stat(struct sp_out *o, const struct sp_model *m)
{
	bool more = false;
	char buf[32];

	if (!m->h.stat) {
		sp_out_text(o, ", \"stat\": null");
		return;
	}
	sp_out_text(o, ", \"stat\": {\"events\": [");
	for (uint32_t e = 0; e < m->n_events; e++) {
		comma(o, &more);
		sp_out_json(o, sp_event_name(m, e, buf));
	}
	sp_out_text(o, "]}");
}

static void settings(struct sp_out *o, const struct sp_model *m)
{
	static const char *const readings[] = { "temporary", "permanent" };

	sp_out_text(o, " \"papi\": {\"version\": \"");
	sp_out_papi_version(o, m->h.papi_version);
	key_text(o, "\", \"library\": ", sp_model_text(m, m->h.papi_library));
	if (m->h.csv_events)
		key_text(o, ", \"csv_event_file\": ", sp_model_text(m, m->h.csv_events));
	if (m->h.user_events)
		key_text(o, ", \"user_events_file\": ", sp_model_text(m, m->h.user_events));
	if (m->h.pmus)
		key_text(o, ", \"pmus\": ", sp_model_text(m, m->h.pmus));
	key_text(o, "},\n \"settings\": {\"attribution\": ",
		 sp_attribution_name(m->h.attribution));
	key_text(o, ", \"readings\": ", word(readings, SP_COUNT(readings), m->h.readings));
	key_u64(o, ", \"callsites\": ", m->h.callsites);
	stat(o, m);
	sp_out_text(o, "},\n");
}

static void topology(struct sp_out *o, const struct sp_model *m)
{
	bool more = false;

	key_text(o, " \"topology\": {\"source\": ", m->topology_source ? m->topology_source : "");
	sp_out_text(o, ", \"components\": [");
	for (uint32_t i = 0; i < m->n_components; i++) {
		const struct sp_component *c = &m->component[i];
		char text[sizeof(c->name) + 1];

		comma_line(o, &more, "  ");
		key_u64(o, "{\"id\": ", i);
		key_or_null(o, ", \"parent\": ", sp_parent(m, i));
		key_text(o, ", \"type\": ", sp_fixed_text(text, c->type, sizeof(c->type)));
		key_or_null(o, ", \"os_index\": ", c->os_index);
		key_i64(o, ", \"logical_index\": ", c->logical_index);
		key_text(o, ", \"name\": ", sp_fixed_text(text, c->name, sizeof(c->name)));
		if (c->size)
			key_u64(o, ", \"size\": ", c->size);
		if (c->cpu_kind >= 0)
			key_i64(o, ", \"cpu_kind\": ", c->cpu_kind);
		if (sp_kind_of(m, (int32_t)i) >= 0)
			key_text(o, ", \"cpu_kind_name\": ", m->kind[sp_kind_of(m, (int32_t)i)].name);
		if (c->flags & SP_COMPONENT_DISALLOWED)
			sp_out_text(o, ", \"allowed\": false");
		sp_out_char(o, '}');
	}
	sp_out_text(o, "]},\n");
}

/* ---- events ------------------------------------------------------------ */

/* The kinds of cores with a bit here, by their names. */
static void kind_names(struct sp_out *o, const struct sp_model *m, const char *key, uint32_t kinds)
{
	bool more = false;

	if (!kinds)
		return;
	sp_out_text(o, key);
	for (uint32_t k = 0; k < m->n_kinds; k++) {
		if (!(kinds >> k & 1))
			continue;
		comma(o, &more);
		sp_out_json(o, m->kind[k].name);
	}
	sp_out_char(o, ']');
}

static void events(struct sp_out *o, const struct sp_model *m)
{
	static const char *const types[] = { "int64", "uint64", "fp64", "bit64" };
	bool more = false;
	char buf[32];

	sp_out_text(o, " \"events\": [");
	for (uint32_t i = 0; i < m->n_events; i++) {
		const struct sp_event *e = m->event[i];
		const char *postfix = SP_EVENT_TEXT(m, i, postfix);

		comma_line(o, &more, "  ");
		key_u64(o, "{\"id\": ", i);
		key_text(o, ", \"name\": ", sp_event_name(m, i, buf));
		sp_out_text(o, ", \"code\": \"");
		sp_out_hex(o, e ? e->code : 0);
		key_text(o, "\", \"component\": ", SP_EVENT_TEXT(m, i, component));
		key_text(o, ", \"data_type\": ", types[sp_event_type(m, i)]);
		key_text(o, ", \"kind\": ", sp_event_is_gauge(m, i) ? "gauge" : "counter");
		kind_names(o, m, ", \"cpu_kinds\": [", sp_kinds_of_event(m, i));
		key_text(o, ", \"derived\": ", SP_EVENT_TEXT(m, i, derived));
		if (*postfix)
			key_text(o, ", \"postfix\": ", postfix);
		strings(o, ", \"natives\": ", m->image, e ? e->natives : 0);
		key_text(o, ", \"units\": ", SP_EVENT_TEXT(m, i, units));
		key_text(o, ", \"description\": ", SP_EVENT_TEXT(m, i, description));
		sp_out_text(o, e ? "}" : ", \"damaged\": true}");
	}
	sp_out_text(o, "],\n");
}

/* ---- relations --------------------------------------------------------- */

static void values(struct sp_out *o, const struct sp_model *m, const struct sp_row *row, const char *key,
		   const int64_t *v)
{
	sp_out_text(o, key);
	for (uint32_t i = 0; i < row->k; i++) {
		if (i)
			sp_out_text(o, ", ");
		if (sp_event_is_gauge(m, row->event[i]))
			sp_out_text(o, "null");		/* has no total; see `gauges` */
		else
			sp_json_value(o, sp_event_type(m, row->event[i]), v[i]);
	}
	sp_out_char(o, ']');
}

static void cpus(struct sp_out *o, struct sp_model *m, struct sp_row *row)
{
	struct sp_at_cpu at;
	bool more = false;

	sp_out_text(o, ",\n   \"cpus\": [");
	for (uint32_t i = 0; i < row->cells; i++) {
		if (!sp_row_cell(m, row, i, &at))
			continue;
		comma_line(o, &more, "    ");
		key_or_null(o, "{\"cpu\": ", at.cpu);
		key_u64(o, ", \"readings\": ", at.readings);
		if (at.there < 0)
			sp_out_text(o, ", \"ns\": null");
		else
			key_i64(o, ", \"ns\": ", at.there);
		values(o, m, row, ", \"total\": [", at.total);
		values(o, m, row, ", \"exact\": [", at.exact);
		sp_out_char(o, '}');
	}
	sp_out_char(o, ']');
}

static void entry(struct sp_out *o, const struct sp_model *m, uint32_t event, uint64_t ns, int64_t v, bool permanent)
{
	key_u64(o, "{\"ns\": ", ns);
	sp_out_text(o, ", \"value\": ");
	sp_json_value(o, sp_event_type(m, event), v);
	sp_out_text(o, permanent ? ", \"permanent\": true}" : ", \"permanent\": false}");
}

static bool has_entries(const struct sp_model *m, const struct sp_row *row, uint32_t event)
{
	return row->all_entries || (!sp_event_is_gauge(m, event) && sp_event_type(m, event) != SP_FP64);
}

/* sys-sage's view of an event on a CPU, oldest first; nothing where it has no entry.  Of a
 * gauge those that are kept: its last value is with the gauges. */
static void list(struct sp_out *o, struct sp_model *m, const struct sp_row *row, const struct sp_at_cpu *at,
		 uint32_t e, bool *more)
{
	struct sp_kept r = { 0 };
	bool some = false, permanent, temporary = at->has_entry && !sp_json_brief && !sp_event_is_gauge(m, row->event[e]);

	do {
		permanent = at->has_kept && sp_row_kept(m, row, &r);
		if (permanent ? r.cpu != at->cpu : !temporary)
			continue;
		if (!some) {
			comma_line(o, more, "    ");
			key_u64(o, "{\"event\": ", row->event[e]);
			key_or_null(o, ", \"cpu\": ", at->cpu);
			sp_out_text(o, ", \"list\": [");
		}
		comma(o, &some);
		entry(o, m, row->event[e], permanent ? r.ns : at->entry_ns, permanent ? r.value[e] : at->entry[e],
		      permanent);
	} while (permanent && !o->error);
	if (some)
		sp_out_text(o, "]}");
}

/* last, min, max, mean; bits have neither order nor mean. */
static void shown(struct sp_out *o, const struct sp_model *m, const struct sp_shown *g)
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
	key_u64(o, ", \"readings\": ", g->readings);
}

static void gauges(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	struct sp_shown g;
	uint64_t at = 0;
	bool more = false;

	sp_out_text(o, ",\n   \"gauges\": [");
	while (sp_row_gauge(m, row, &at, &g)) {
		comma_line(o, &more, "    ");
		key_u64(o, "{\"event\": ", g.event);
		key_or_null(o, ", \"cpu\": ", g.cpu);
		key_or_null(o, ", \"component\": ", g.component);
		sp_out_text(o, ", ");
		shown(o, m, &g);
		key_u64(o, ", \"last_ns\": ", g.ns);
		sp_out_char(o, '}');
	}
	sp_out_char(o, ']');
}

static void entries(struct sp_out *o, struct sp_model *m, struct sp_row *row)
{
	struct sp_at_cpu at;
	bool more = false;

	sp_out_text(o, ",\n   \"entries\": [");
	for (uint32_t i = 0; i < row->cells; i++)
		for (uint32_t e = 0; e < row->k && sp_row_cell(m, row, i, &at); e++)
			if (has_entries(m, row, row->event[e]))
				list(o, m, row, &at, e, &more);
	key_u64(o, "],\n   \"permanent\": {\"kept\": ", row->kept);
	key_u64(o, ", \"refused\": ", row->refused);
	sp_out_char(o, '}');
}

/* `from` is null where it is not known. */
static void intervals(struct sp_out *o, struct sp_model *m, struct sp_row *row)
{
	struct sp_between at;
	bool more = false;

	sp_out_text(o, ",\n   \"intervals\": [");
	for (uint32_t i = 0; !sp_json_brief && sp_row_interval(m, row, i, &at); i++) {
		comma_line(o, &more, "    ");
		key_or_null(o, "{\"from\": ", at.from ? (int64_t)at.from : -1);
		key_u64(o, ", \"to\": ", at.to);
		key_or_null(o, ", \"cpu\": ", at.cpu);
		key_u64(o, ", \"count\": ", at.count);
		values(o, m, row, ", \"total\": [", at.total);
		values(o, m, row, ", \"exact\": [", at.exact);
		sp_out_char(o, '}');
	}
	sp_out_char(o, ']');
}

/* Its object stays open. */
static void frame(struct sp_out *o, const struct sp_frame_seen *f)
{
	key_text(o, "{\"module\": ", f->module);
	key_text(o, ", \"build_id\": ", f->build_id);
	sp_out_text(o, ", \"offset\": \"");
	sp_out_hex(o, f->offset);
	sp_out_text(o, "\", \"symbol\": ");
	if (*f->symbol)
		sp_out_json(o, f->symbol);
	else
		sp_out_text(o, "null");
	if (*f->line)
		key_text(o, ", \"line\": ", f->line);
	for (uint32_t i = 0; i < f->n_into; i++) {
		key_text(o, i ? ", {\"symbol\": " : ", \"inlined_into\": [{\"symbol\": ", f->into[i].symbol);
		if (f->into[i].line)
			key_text(o, ", \"line\": ", f->into[i].line);
		sp_out_char(o, '}');
	}
	sp_out_text(o, f->n_into ? "]" : "");
}

/* `other`: calls at addresses that fell out of the most frequent ones. */
static void overflows(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	struct sp_overflowed at;
	bool more = false;
	uint32_t i = 0;

	sp_out_text(o, ",\n   \"overflows\": [");
	while (sp_row_overflow(m, row, &i, &at)) {
		struct sp_frame_seen f;
		uint32_t hit = UINT32_MAX;
		bool more_hits = false;
		uint64_t count;

		comma_line(o, &more, "    ");
		key_or_null(o, "{\"event\": ", at.event < row->k ? (int64_t)row->event[at.event] : -1);
		key_or_null(o, ", \"cpu\": ", at.cpu);
		key_u64(o, ", \"count\": ", at.count);
		key_u64(o, ", \"other\": ", at.other);
		sp_out_text(o, ", \"addresses\": [");
		while (sp_row_hit(m, row, &at, &hit, &f, &count)) {
			comma(o, &more_hits);
			frame(o, &f);
			key_u64(o, ", \"count\": ", count);
			sp_out_char(o, '}');
		}
		sp_out_text(o, "]}");
	}
	sp_out_char(o, ']');
}

/* Of whom it was attached to: as it was then, and whether it had ended when the dump was made. */
static void watched(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	static const char *const over[] = { "null", "false", "true" };
	const struct sp_watched *w = sp_row_watched(m, row);
	char name[17];

	if (!w)
		return;
	key_text(o, ", \"name\": ", sp_fixed_text(name, w->name, 16));
	strings(o, ", \"args\": ", m->image, w->args);
	sp_out_text(o, ", \"ended\": ");
	sp_out_text(o, word(over, SP_COUNT(over), w->over));
}

static void target(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	static const char *const scopes[] = { "thread", "cpu", "process", "package", "host", "device" };

	switch (row->target) {
	case SP_TARGET_CPU:
		key_i64(o, ", \"target\": {\"kind\": \"cpu\", \"cpu\": ", row->target_id);
		break;
	case SP_TARGET_TID:
		key_i64(o, ", \"target\": {\"kind\": \"tid\", \"tid\": ", row->target_id);
		watched(o, m, row);
		break;
	default:
		sp_out_text(o, ", \"target\": {\"kind\": \"thread\"");
		break;
	}
	key_text(o, "}, \"scope\": ", word(scopes, SP_COUNT(scopes), (uint32_t)row->scope));
	key_u64(o, ", \"threads\": ", row->threads);
}

static void domains(struct sp_out *o, uint32_t domain)
{
	bool more = false;

	for (uint32_t i = 0; i < SP_DOMAINS && domain; i++)
		if (domain >> i & 1) {
			sp_out_text(o, more ? ", \"" : ", \"domain\": [\"");
			sp_out_text(o, sp_domain_name(i));
			sp_out_char(o, '"');
			more = true;
		}
	if (more)
		sp_out_char(o, ']');
}

/* On a machine with several kinds of cores: those that there are counts of. */
static void kinds_of_relation(struct sp_out *o, struct sp_model *m, struct sp_row *row)
{
	if (m->n_kinds > 1)
		kind_names(o, m, ", \"cpu_kinds\": [", sp_kinds_of_row(m, row) & ((1u << SP_KINDS_MOST) - 1));
}

/* Components that the events are counted on as a whole; null: by CPU. */
static void places(struct sp_out *o, const struct sp_row *row)
{
	if (!row->place)
		return;
	sp_out_text(o, ", \"places\": [");
	for (uint32_t e = 0; e < row->k; e++)
		key_or_null(o, e ? ", " : "", sp_row_place(row, e));
	sp_out_char(o, ']');
}

/* How its counts were told to CPUs. */
static void told(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	const char *allowed = row->times ? sp_model_text(m, row->times->allowed) : "";

	key_text(o, ",\n   \"attribution\": ", sp_attribution_name(row->how));
	if (row->why)
		key_text(o, ", \"attribution_why\": ", sp_why_text(row->why));
	else
		sp_out_text(o, ", \"attribution_why\": null");
	sp_out_text(o, ", \"bound\": [");
	for (uint32_t e = 0; e < row->k; e++)
		key_u64(o, e ? ", " : "", row->times ? row->edge[e] * row->times->windows : 0);
	if (row->times && (row->times->flags & SP_TIMES_MOVES))
		key_u64(o, "], \"moves\": ", row->times->moves);
	else
		sp_out_text(o, "], \"moves\": null");
	if (*allowed)
		key_text(o, ", \"cpus_allowed\": ", allowed);
}

static void relation(struct sp_out *o, struct sp_model *m, struct sp_row *row)
{
	key_u64(o, "{\"id\": ", row->id);
	if (sp_is_job(m))
		key_u64(o, ", \"process\": ", row->process);
	key_i64(o, ", \"event_set\": ", row->event_set);
	key_i64(o, ", \"tid\": ", row->tid);
	key_text(o, ", \"thread\": ", row->thread);
	target(o, m, row);
	sp_out_text(o, ",\n   \"events\": [");
	for (uint32_t i = 0; i < row->k; i++)
		key_u64(o, i ? ", " : "", row->event[i]);
	key_u64(o, "], \"starts\": ", row->starts);
	key_u64(o, ", \"resets\": ", row->resets);
	key_u64(o, ", \"readings\": ", row->readings);
	key_u64(o, ", \"first_ns\": ", row->first_ns);
	key_u64(o, ", \"last_ns\": ", row->last_ns);
	if (row->flags & SP_RELATION_BACKWARDS)
		sp_out_text(o, ", \"backwards\": true");
	if (row->flags & SP_RELATION_CROWDED)
		sp_out_text(o, ", \"crowded\": true");
	if (row->flags & SP_RELATION_UNSURE)
		sp_out_text(o, ", \"unsure\": true");
	if (row->flags & SP_RELATION_RUNNING)
		sp_out_text(o, ", \"running\": true");
	if (row->flags & SP_RELATION_FOREIGN)
		sp_out_text(o, ", \"foreign\": true");
	if (row->flags & SP_RELATION_API)
		sp_out_text(o, ", \"api\": true");
	if (row->flags & SP_RELATION_ESTIMATED)
		sp_out_text(o, ", \"estimated\": true");
	domains(o, row->domain);
	told(o, m, row);
	places(o, row);
	kinds_of_relation(o, m, row);
	cpus(o, m, row);
	overflows(o, m, row);
	gauges(o, m, row);
	entries(o, m, row);
	intervals(o, m, row);
	sp_out_char(o, '}');
}

static void relations(struct sp_out *o, struct sp_model *m)
{
	struct sp_row row = { 0 };
	bool more = false;

	sp_out_text(o, " \"relations\": [");
	while (sp_model_next(m, &row)) {
		comma_line(o, &more, "  ");
		relation(o, m, &row);
	}
	sp_out_text(o, "],\n");
}

/* ---- sums, calls, the rest --------------------------------------------- */

/* Event names are keys here, and two events may have one name (the same native
 * with other masks, or a hostile store); JSON readers would keep one of them. So
 * the first keeps its name, and later ones get their id behind it: "NAME#7". */
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
	struct sp_out memory;

	if (!repeated) {
		sp_out_json(o, sp_event_name(m, id, buf));
		return;
	}
	sp_out_init(&memory, -1, name, sizeof(name) - 32);
	sp_out_text(&memory, sp_event_name(m, id, buf));
	memory.size = sizeof(name) - 1;
	memory.error = 0;
	sp_out_char(&memory, '#');
	sp_out_u64(&memory, id);
	name[memory.used] = '\0';
	sp_out_json(o, name);
}

void sp_json_event_key(struct sp_out *o, const struct sp_model *m, uint32_t id)
{
	bool repeated = false;

	for (uint32_t i = 0; i < id && !repeated; i++)
		repeated = sp_event_is_summed(m, i) && strcmp(SP_EVENT_TEXT(m, i, name), SP_EVENT_TEXT(m, id, name)) == 0;
	event_key(o, m, id, repeated);
}

/* sum: by event id.  c: a component; -1: a kind of cores, which nothing but a CPU's counts belong to. */
static void sums_at(struct sp_out *o, const struct sp_model *m, int32_t c, const char *key, const int64_t *sum,
		    const uint64_t repeated[REPEATED_WORDS])
{
	bool more = false;

	sp_out_text(o, key);
	for (uint32_t e = 0; e < m->n_events; e++) {
		if (!sp_event_is_summed(m, e) || (c >= 0 ? !sp_sum_is_known(m, (uint32_t)c, e) : sp_event_is_placed(m, e)))
			continue;
		comma(o, &more);
		event_key(o, m, e, e >= SP_EVENTS_MAX || (repeated[e / 64] >> e % 64 & 1));
		sp_out_text(o, ": ");
		sp_json_value(o, sp_event_type(m, e), sum[e]);
	}
	sp_out_char(o, '}');
}

static void gauges_at(struct sp_out *o, const struct sp_model *m, uint32_t c, const uint64_t repeated[REPEATED_WORDS])
{
	bool more = false;
	struct sp_shown g;

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

/* What is not known is left out. */
static void kind_facts(struct sp_out *o, const struct sp_model_kind *k)
{
	key_text(o, "{\"name\": ", k->name);
	if (*k->core_type)
		key_text(o, ", \"core_type\": ", k->core_type);
	if (k->efficiency >= 0)
		key_i64(o, ", \"efficiency\": ", k->efficiency);
	if (k->max_mhz)
		key_u64(o, ", \"max_mhz\": ", k->max_mhz);
	if (k->base_mhz)
		key_u64(o, ", \"base_mhz\": ", k->base_mhz);
	if (k->capacity)
		key_u64(o, ", \"capacity\": ", k->capacity);
	key_u64(o, ", \"cpus\": ", k->n_cpus);
	key_u64(o, ", \"cpus_counted\": ", k->n_counted);
	key_u64(o, ", \"readings\": ", k->readings);
}

static void kinds(struct sp_out *o, const struct sp_model *m, const uint64_t repeated[REPEATED_WORDS])
{
	bool more = false;

	sp_out_text(o, " \"cpu_kinds\": [");
	for (uint32_t k = 0; k < m->n_kinds; k++) {
		comma_line(o, &more, "  ");
		kind_facts(o, &m->kind[k]);
		sums_at(o, m, -1, ", \"total\": {", m->kind[k].sum, repeated);
		sums_at(o, m, -1, ", \"exact\": {", m->kind[k].exact, repeated);
		if (sp_view_metrics)
			sp_metrics_compute(sp_view_metrics, m->kind[k].sum, NULL, -1);
		sp_metrics_json(o);
		sp_out_char(o, '}');
	}
	sp_out_text(o, "],\n");
}

static void sums(struct sp_out *o, const struct sp_model *m)
{
	uint64_t repeated[REPEATED_WORDS];
	bool more = false;

	find_repeated(m, repeated);
	sp_out_text(o, " \"components\": [");
	for (uint32_t c = 0; c < m->n_components; c++) {
		if (!m->counted[c])
			continue;
		comma_line(o, &more, "  ");
		key_u64(o, "{\"component\": ", c);
		sums_at(o, m, (int32_t)c, ", \"total\": {", m->sum + (uint64_t)c * m->n_events, repeated);
		gauges_at(o, m, c, repeated);
		if (sp_view_metrics)
			sp_metrics_compute(sp_view_metrics, m->sum + (uint64_t)c * m->n_events, NULL,
					   sp_metrics_machine(sp_view_metrics, (int32_t)c));
		sp_metrics_json(o);
		if (sp_view_metrics && sp_kinds_several(sp_kinds_below(m, c)))
			sp_out_text(o, ", \"mixed_cpu_kinds\": true");
		sp_out_char(o, '}');
	}
	sp_out_text(o, "],\n");
	if (m->n_kinds > 1)
		kinds(o, m, repeated);
}

static void callsites(struct sp_out *o, const struct sp_model *m)
{
	struct sp_callsite c;
	struct sp_frame_seen f;
	bool more = false;

	sp_out_text(o, " \"callsites\": [");
	for (uint32_t id = 0; id < m->n_callsites; id++) {
		bool more_frames = false;

		sp_model_callsite(m, id, &c);
		comma_line(o, &more, "  ");
		key_u64(o, "{\"id\": ", id);
		if (*c.name)
			key_text(o, ", \"name\": ", c.name);
		sp_out_text(o, ", \"frames\": [");
		for (uint32_t i = 0; sp_model_frame(m, id, i, &f); i++) {
			comma(o, &more_frames);
			frame(o, &f);
			sp_out_char(o, '}');
		}
		sp_out_text(o, "]}");
	}
	sp_out_text(o, "],\n");
}

static void calls(struct sp_out *o, const struct sp_model *m)
{
	bool more = false;
	const char *name;

	sp_out_text(o, " \"calls\": {");
	for (uint32_t i = 0; i < SP_CALLS_MAX && (name = sp_model_call_name(m, i)); i++) {
		if (!m->calls[i])
			continue;
		comma(o, &more);
		sp_out_json(o, name);
		key_u64(o, ": ", m->calls[i]);
	}
	key_u64(o, "},\n \"dropped\": {\"readings\": ", m->h.dropped_readings);
	key_u64(o, ", \"relations\": ", m->h.dropped_relations);
	key_u64(o, ", \"permanent_readings\": ", m->refused);
	key_u64(o, ", \"damaged_blocks\": ", m->damaged);
	key_u64(o, "},\n \"self\": {\"calls\": ", sp_all_calls(m));
	key_u64(o, ", \"timed\": ", m->h.self_calls);
	sp_out_text(o, ", \"ns_per_call\": ");
	sp_out_double(o, sp_self_ns(m), 1);
	sp_out_text(o, ", \"share\": ");
	sp_out_double(o, sp_self_share(m), 9);
	sp_out_text(o, "},\n");
}

static void notes(struct sp_out *o, const struct sp_model *m)
{
	bool more = false;
	const char *note;

	sp_out_text(o, " \"notes\": [");
	for (uint32_t i = 0; (note = sp_model_note(m, i)); i++) {
		comma_line(o, &more, "  ");
		sp_out_json(o, note);
	}
	sp_out_char(o, ']');
}

void sp_view_json(struct sp_out *o, struct sp_model *m)
{
	sp_json_dump(o, m);
	sp_out_text(o, "}\n");
}

void sp_json_dump(struct sp_out *o, struct sp_model *m)
{
	sp_out_text(o, "{\"format\": \"sspapi-dump\", \"format_version\": 1, "
		       "\"sspapi_version\": \"" SP_VERSION "\",\n");
	process(o, m);
	settings(o, m);
	topology(o, m);
	events(o, m);
	relations(o, m);
	sums(o, m);
	callsites(o, m);
	calls(o, m);
	notes(o, m);
}
