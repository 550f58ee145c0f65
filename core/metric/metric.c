/* metric.c: decides which metrics a store can have, and which are shown; see metric.h. */
#include <strings.h>

#include "../base/sys.h"
#include "../model/format-common.h"
#include "metric.h"

#define EVENTS_MOST 4096u		/* events of a store that are compared with each term */
#define ELAPSED "sspapi::ELAPSED_NS"
#define OBSERVED "sspapi::OBSERVED_NS"

/* ---- names -------------------------------------------------------------------- */

uint32_t sp_metric_hash(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (unsigned char)(*name | 32)) * 16777619u;
	return h;
}

/* The name after "icl::"; but "cuda:::x" has no PMU. */
static const char *without_pmu(const char *name)
{
	const char *p = strstr(name, "::");

	return p && p[2] != ':' ? p + 2 : name;
}

/* Returns whether b has each of a's masks; both begin with ':'. */
static bool masks_in(const char *a, const char *b)
{
	while (*a == ':') {
		size_t n = strcspn(a + 1, ":");
		bool found = false;

		for (const char *p = b; *p == ':' && !found; p += 1 + strcspn(p + 1, ":"))
			found = strcspn(p + 1, ":") == n && strncasecmp(a + 1, p + 1, n) == 0;
		if (!found)
			return false;
		a += 1 + n;
	}
	return true;
}

/* Compare names like cuda:::x:stat=sum, with qualifiers in any order. PAPI's presets name no
 * device, but counted events do (cuda:::x:stat=sum:device=0): a term without a device matches
 * any. */
static bool same_of_component(const char *term, const char *event)
{
	size_t n = strcspn(term, ":");
	bool any_device = !strstr(term, ":device=");

	if (strncmp(term + n, ":::", 3) != 0)
		return false;
	n += 3 + strcspn(term + n + 3, ":");
	if (strncasecmp(term, event, n) != 0 || (event[n] && event[n] != ':') ||
	    !masks_in(term + n, event + n))
		return false;
	for (const char *p = event + n; *p == ':'; p += 1 + strcspn(p + 1, ":")) {
		char mask[128] = "";

		memcpy(mask, p, sp_min(1 + strcspn(p + 1, ":"), sizeof(mask) - 1));
		if (!(any_device && strncmp(mask, ":device=", 8) == 0) && !masks_in(mask, term + n))
			return false;
	}
	return true;
}

/* A * in the term matches a number: rapl:::PACKAGE_ENERGY:PACKAGE* matches all packages. */
static bool same_but_numbers(const char *term, const char *event)
{
	for (; *term; term++) {
		size_t digits = strspn(event, "0123456789");

		if (*term == '*' ? !digits : strncasecmp(term, event, 1) != 0)
			return false;
		event += *term == '*' ? digits : 1;
	}
	return !*event;
}

/* Returns whether term and event are the same, ignoring case, the order of masks and a missing
 * PMU. */
static bool same_event(const char *term, const char *event)
{
	const char *a = term, *b = event, *masks_a, *masks_b;
	size_t modes = strcspn(event, " ");

	/* "PAPI_TOT_CYC (user)", a name that merge makes */
	if (event[modes] && strlen(term) == modes && strncasecmp(term, event, modes) == 0)
		return true;
	if (strchr(term, '*'))
		return same_but_numbers(term, event);
	if (strcasecmp(a, b) == 0 || same_of_component(a, b))
		return true;
	if (without_pmu(a) == a || without_pmu(b) == b) {
		a = without_pmu(a);
		b = without_pmu(b);
	}
	if (strstr(a, ":::") || strstr(b, ":::"))
		return false;
	masks_a = strchr(without_pmu(a), ':');
	masks_b = strchr(without_pmu(b), ':');
	masks_a = masks_a ? masks_a : a + strlen(a);
	masks_b = masks_b ? masks_b : b + strlen(b);
	return masks_a - a == masks_b - b && strncasecmp(a, b, (size_t)(masks_a - a)) == 0 &&
	       masks_in(masks_a, masks_b) && masks_in(masks_b, masks_a);
}

/* ---- binding ------------------------------------------------------------------- */

/* Drop the machine's event if there are packages' events (powercap's zone psys): the sum would
 * contain them twice. */
static void leave_whole(struct sp_metrics *t, struct sp_metric_term *term)
{
	uint32_t *id = t->id + term->ids, n = 0;
	bool parts = false;

	for (uint32_t i = 0; i < term->n_ids; i++)
		parts = parts || t->model->event[id[i]]->place != SP_PLACE_MACHINE;
	for (uint32_t i = 0; i < term->n_ids; i++)
		if (!parts || t->model->event[id[i]]->place != SP_PLACE_MACHINE)
			id[n++] = id[i];
	t->n_ids -= term->n_ids - n;
	term->n_ids = n;
}

static void find_events(struct sp_metrics *t, struct sp_metric_term *term)
{
	uint32_t most = (uint32_t)sp_min(t->model->n_events, EVENTS_MOST);

	term->ids = t->n_ids;
	term->n_ids = 0;
	term->elapsed = strcasecmp(term->name, ELAPSED) == 0;
	term->observed = strcasecmp(term->name, OBSERVED) == 0;
	for (uint32_t e = 0; e < most && t->n_ids < SP_METRIC_IDS_MOST; e++) {
		char buffer[32];

		if (sp_event_is_summed(t->model, e) &&
		    same_event(term->name, sp_event_name(t->model, e, buffer))) {
			t->id[t->n_ids++] = e;
			term->n_ids++;
		}
	}
	if (strchr(term->name, '*'))
		leave_whole(t, term);
}

/* Find the last earlier definition of this name, in the same table or in the one for all CPUs. */
static int32_t find_definition(const struct sp_metrics *t, uint32_t before,
			       const struct sp_metric_term *term)
{
	uint32_t table = t->at[before].table;

	for (uint32_t i = before; i-- > 0;)
		if (t->at[i].hash == term->hash && (t->at[i].table == table || !t->at[i].table) &&
		    strcasecmp(t->at[i].name, term->name) == 0)
			return (int32_t)i;
	return -1;
}

/* ---- tables and machines ------------------------------------------------------ */

static uint32_t all_machine_kinds(const struct sp_metrics *t)
{
	return (uint32_t)((1ull << t->n_machine_kinds) - 1);
}

static uint8_t find_machine_kind(struct sp_metrics *t, const char *pmus)
{
	uint32_t i = 0;

	while (i < t->n_machine_kinds && strcmp(t->pmus[i], pmus) != 0)
		i++;
	if (i == t->n_machine_kinds && i == SP_METRIC_MACHINE_KINDS)
		return SP_METRIC_MACHINE_KINDS - 1;
	if (i == t->n_machine_kinds)
		t->pmus[t->n_machine_kinds++] = pmus;
	return (uint8_t)i;
}

/* Number the kinds of machines by their PMUs. Use the process with the longest list. */
static void find_machine_kinds(struct sp_metrics *t)
{
	const struct sp_model *m = t->model;
	uint32_t at = 0;

	t->n_machine_kinds = 0;
	for (uint32_t k = 0; k < m->n_machines; k++) {
		const char *most = "";

		/* merge writes a machine's processes one after another */
		while (at < m->n_processes && m->process[at].machine < k)
			at++;
		for (; at < m->n_processes && m->process[at].machine == k; at++) {
			const char *text = sp_model_text(m, m->process[at].h->pmus);

			most = strlen(text) > strlen(most) ? text : most;
		}
		t->machine_kind_of[k] = find_machine_kind(t, most);
	}
	if (!t->n_machine_kinds)
		find_machine_kind(t, "");
}

static bool is_in_list(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == n && strncasecmp(list, name, n) == 0)
			return true;
	return false;
}

static bool is_of_pmu(const char *event, const char *pmu)
{
	size_t n = strlen(pmu);

	return without_pmu(event) == event + n + 2 && strncasecmp(event, pmu, n) == 0;
}

/* Returns whether a counted event, or one of its natives, has this PMU in its name. */
static bool is_counted_on(const struct sp_model *m, const char *pmu)
{
	for (uint32_t e = 0; e < sp_min(m->n_events, EVENTS_MOST); e++) {
		const char *native;

		if (!sp_event_is_summed(m, e))
			continue;
		if (is_of_pmu(SP_EVENT_TEXT(m, e, name), pmu))
			return true;
		for (uint32_t i = 0;
		     (native = sp_store_reader_text_at(m->reader, m->event[e]->natives, i)) != NULL;
		     i++)
			if (is_of_pmu(native, pmu))
				return true;
	}
	return false;
}

/* With several machines an event does not show on which it was counted. */
static uint32_t machine_kinds_with(const struct sp_metrics *t, const char *pmu)
{
	uint32_t machine_kinds = 0;

	for (uint32_t i = 0; i < t->n_machine_kinds; i++)
		if (is_in_list(t->pmus[i], pmu) ||
		    (t->n_machine_kinds == 1 && is_counted_on(t->model, pmu)))
			machine_kinds |= 1u << i;
	return machine_kinds;
}

/* Disable definitions of tables for other CPUs. The CPU names and the definitions are both in the
 * order of the file. */
static void leave_out_tables(struct sp_metrics *t)
{
	uint32_t c = 0, found = 0, cpus = 0;

	for (uint32_t i = 0; i < t->n_cpus; i++) {
		t->cpu[i].machine_kinds = t->cpu[i].component
						  ? all_machine_kinds(t)
						  : machine_kinds_with(t, t->cpu[i].name);
		found |= t->cpu[i].component ? 0 : t->cpu[i].machine_kinds;
		cpus += !t->cpu[i].component;
	}
	t->foreign = cpus && !found;
	for (uint32_t i = 0; i < t->n; i++) {
		struct sp_metric *d = &t->at[i];

		while (c < t->n_cpus && t->cpu[c].table < d->table)
			c++;
		d->machine_kinds = d->table ? 0 : all_machine_kinds(t);
		for (uint32_t k = c; k < t->n_cpus && t->cpu[k].table == d->table; k++)
			d->machine_kinds |= t->cpu[k].machine_kinds;
		d->usable = d->machine_kinds != 0;
	}
}

static bool term_is_usable(const struct sp_metrics *t, const struct sp_metric_term *term)
{
	return term->n_ids || term->observed || (term->elapsed && t->elapsed_ns > 0.0) ||
	       (term->definition >= 0 && t->at[term->definition].usable);
}

const char *sp_metrics_missing(const struct sp_metrics *t, const struct sp_metric *d)
{
	for (uint32_t i = 0; i < d->n_steps; i++) {
		const struct sp_formula_step *s = &t->step[d->first_step + i];

		if (s->op == SP_FORMULA_HERTZ && !(t->hertz > 0.0))
			return "the CPU's frequency (#)";
		if (s->op == SP_FORMULA_TERM &&
		    !term_is_usable(t, &t->term[d->first_term + s->term]))
			return t->term[d->first_term + s->term].name;
	}
	return NULL;
}

static bool was_counted(const struct sp_model *m, const char *name)
{
	for (uint32_t e = 0; e < sp_min(m->n_events, EVENTS_MOST); e++)
		if (sp_event_is_summed(m, e) && strcasecmp(name, SP_EVENT_TEXT(m, e, name)) == 0)
			return true;
	return false;
}

/* Show only the last usable definition of a name, unless an event of that name was counted. `other`
 * has the previous one, for machines to which the last does not apply. */
static void choose_all(struct sp_metrics *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct sp_metric *d = &t->at[i];

		d->shown = d->usable && !was_counted(t->model, d->name);
		d->other = -1;
		for (uint32_t j = 0; d->shown && j < i; j++)
			if (t->at[j].shown && t->at[j].hash == d->hash &&
			    strcasecmp(t->at[j].name, d->name) == 0) {
				t->at[j].shown = false;
				d->other = (int32_t)j;
				d->whole = d->whole && t->at[j].whole;
			}
	}
}

static void *part(char **at, uint64_t bytes)
{
	void *p = *at;

	*at += sp_align(bytes, 16);
	return p;
}

static void forget_room(struct sp_metrics *t)
{
	sp_unmap(t->row.memory, t->row.bytes);
	t->row.memory = NULL;
	sp_metrics_forget_sums(t);
}

/* Allocate room for one relation, one row, and the kinds of machines. Unused pages cost nothing. */
static bool make_room(struct sp_metrics *t, uint64_t ne, uint64_t n_machines)
{
	char *at;

	forget_room(t);
	t->row.bytes =
		ne * (sizeof(*t->row.sum) + sizeof(*t->row.at) + sizeof(bool)) + n_machines +
		t->n * (sizeof(*t->now) + sizeof(bool)) +
		(uint64_t)SP_METRIC_IDS_MOST * (sizeof(*t->slot) + sizeof(*t->relation.pair) +
						sizeof(bool) + sizeof(*t->one)) +
		10 * 16;
	t->row.memory = at = sp_map(t->row.bytes);
	if (!at)
		return false;
	t->row.sum = part(&at, ne * sizeof(*t->row.sum));
	t->row.at = part(&at, ne * sizeof(*t->row.at));
	t->row.present = part(&at, ne * sizeof(bool));
	t->machine_kind_of = part(&at, n_machines);
	t->now = part(&at, t->n * sizeof(*t->now));
	t->needed = part(&at, t->n * sizeof(bool));
	t->slot = part(&at, (uint64_t)SP_METRIC_IDS_MOST * sizeof(*t->slot));
	t->relation.pair = part(&at, (uint64_t)SP_METRIC_IDS_MOST * sizeof(*t->relation.pair));
	t->relation.pair_joins = part(&at, (uint64_t)SP_METRIC_IDS_MOST * sizeof(bool));
	t->one = part(&at, (uint64_t)SP_METRIC_IDS_MOST * sizeof(*t->one));
	return true;
}

static bool is_whole(const struct sp_metrics *t, const struct sp_metric *d)
{
	for (uint32_t i = 0; i < d->n_steps; i++) {
		const struct sp_formula_step *s = &t->step[d->first_step + i];
		int32_t other =
			s->op == SP_FORMULA_TERM ? t->term[d->first_term + s->term].definition : -1;

		if (s->op == SP_FORMULA_DIV || s->op == SP_FORMULA_HERTZ ||
		    (other >= 0 && !t->at[other].whole) ||
		    (s->op == SP_FORMULA_NUMBER && s->number - (double)(int64_t)s->number > 0.0))
			return false;
	}
	return true;
}

static void bind_one(struct sp_metrics *t, uint32_t i)
{
	struct sp_metric *d = &t->at[i];

	for (uint32_t k = 0; d->usable && k < d->n_terms; k++) {
		struct sp_metric_term *term = &t->term[d->first_term + k];

		find_events(t, term);
		term->definition = find_definition(t, i, term);
	}
	d->usable = d->usable && !sp_metrics_missing(t, d);
	d->whole = d->usable && is_whole(t, d);
}

long sp_metrics_bind(struct sp_metrics *t, struct sp_model *m)
{
	long n = 0;

	if (!make_room(t, m->n_events, m->n_machines))
		return -ENOMEM;
	t->model = m;
	t->n_ids = 0;
	t->elapsed_ns = (double)sp_elapsed(m);
	t->hertz = (double)m->h.cpu_max_khz * 1e3;
	find_machine_kinds(t);
	leave_out_tables(t);
	for (uint32_t i = 0; i < t->n; i++)
		bind_one(t, i);
	choose_all(t);
	sp_metrics_prepare(t);
	for (uint32_t i = 0; i < t->n; i++)
		n += t->at[i].shown;
	return n;
}

void sp_metrics_close(struct sp_metrics *t)
{
	sp_unmap(t->memory, t->memory_bytes);
	forget_room(t);
	memset(t, 0, sizeof(*t));
}

void sp_metrics_hide(struct sp_metrics *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		t->at[i].shown = false;
	sp_metrics_prepare(t);
}

const struct sp_metric *sp_metrics_named(const struct sp_metrics *t, const char *name)
{
	const struct sp_metric *of_others = NULL;

	for (uint32_t i = t->n; i-- > 0;) {
		if (strcasecmp(t->at[i].name, name) != 0)
			continue;
		if (t->at[i].machine_kinds)
			return &t->at[i];
		of_others = of_others ? of_others : &t->at[i];
	}
	return of_others;
}

bool sp_metrics_choose(struct sp_metrics *t, const char *name)
{
	int32_t chosen = -1;

	for (uint32_t i = 0; i < t->n; i++)
		if (t->at[i].usable && strcasecmp(t->at[i].name, name) == 0)
			chosen = (int32_t)i;
	if (chosen >= 0 && !t->at[chosen].shown) {
		t->at[chosen].shown = true;
		sp_metrics_prepare(t);
	}
	return chosen >= 0;
}
