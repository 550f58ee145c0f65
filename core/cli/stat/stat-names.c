/* stat-names.c: chooses the events: those of -e, those that metrics need, or the default ones. */
#include <strings.h>

#include "../probe/kernel-events.h"
#include "../program/program.h"
#include "../tool/cmd.h"
#include "../tool/metrics.h"
#include "stat.h"

static const char usual[] =
	"perf::TASK-CLOCK,perf::PAGE-FAULTS,perf::CONTEXT-SWITCHES,perf::CPU-MIGRATIONS";

static bool query_papi(struct sp_stat_plan *p, char *const *name, unsigned n, bool by_default)
{
	sp_program_libpapi(p->papi);
	return sp_stat_query_papi(p, name, n, by_default);
}

/* Plan the events in the order of the command line. PAPI events in sequence are one query. */
static bool plan_names(struct sp_stat_plan *p, const char *names, bool by_default)
{
	char *text = sp_check_alloc(strdup(names)), *save = NULL, *papis[SP_STAT_EVENTS],
	     known[SP_STAT_NAME];
	struct perf_event_attr a;
	unsigned n = 0;
	bool good = true;

	for (char *name = strtok_r(text, ",", &save); good && name;
	     name = strtok_r(NULL, ",", &save)) {
		bool again = sp_stat_is_planned(p, name), fine = true;

		for (unsigned i = 0; i < n; i++)
			again = again || strcmp(papis[i], name) == 0;
		if (again)
			continue;
		if (p->n_events + n == SP_STAT_EVENTS) {
			snprintf(p->wrong, sizeof(p->wrong), "%s: more than %u events", name,
				 SP_STAT_EVENTS);
			good = false;
		} else if (strlen(name) >= SP_STAT_NAME) {
			snprintf(p->wrong, sizeof(p->wrong), "%.60s...: no such event", name);
			good = false;
		} else if (sp_stat_plan_io(p, name)) {
			continue;
		} else if (!sp_kernel_event_named(name, &a, known, sizeof(known))) {
			papis[n++] = name;
		} else {
			good = !n || query_papi(p, papis, n, by_default);
			n = 0;
			good = good && sp_stat_plan_kernels(p, name, &fine) && fine;
		}
	}
	good = good && (!n || query_papi(p, papis, n, by_default));
	free(text);
	return good;
}

/* Plan cycles and instructions: PAPI's, else the kernel's; without hardware counters the plan
 * gets a note. */
static void plan_cpus(struct sp_stat_plan *p)
{
	static const char *const names[][2] = { { "PAPI_TOT_CYC", "cycles" },
						{ "PAPI_TOT_INS", "instructions" } };
	bool fine;

	for (unsigned i = 0; i < SP_COUNT(names); i++) {
		struct perf_event_attr a;
		char known[SP_STAT_NAME];
		const struct sp_kernel_event *e =
			sp_kernel_event_named(names[i][1], &a, known, sizeof(known));
		const char *why = sp_kernel_event_why(e->type, sp_kernel_event_try_open(e, false));

		if (why) {
			snprintf(p->left_out, sizeof(p->left_out),
				 "cycles and instructions are not counted: %s", why);
			return;
		}
		plan_names(p, names[i][0], true);
		if (!sp_stat_is_planned(p, names[i][0]))
			sp_stat_plan_kernels(p, names[i][1], &fine);
	}
}

/* Plan an event whose name contains * for a number, such as a package: use 0. */
static bool plan_numbered(struct sp_stat_plan *p, const char *name)
{
	char *text = sp_check_alloc(strdup(name));
	bool good;

	for (char *star = strchr(text, '*'); star; star = strchr(star, '*'))
		*star = '0';
	good = plan_names(p, text, false);
	free(text);
	return good;
}

static bool plan_terms(struct sp_stat_plan *p, const struct sp_metrics *t,
		       const struct sp_metric *metric)
{
	bool good = true;

	for (uint32_t i = 0; good && i < metric->n_terms; i++) {
		const struct sp_metric_term *term = &t->term[metric->first_term + i];

		if (term->definition >= 0)
			good = plan_terms(p, t, &t->at[term->definition]);
		/* the duration of the run is not an event */
		else if (strncmp(term->name, "sspapi::", 8) != 0)
			good = plan_numbered(p, term->name);
	}
	return good;
}

static void no_metric(struct sp_stat_plan *p, const struct sp_metrics *t, const char *name,
		      size_t n)
{
	struct sp_out o;

	sp_memory_init(&o, p->wrong, sizeof(p->wrong));
	sp_out_text(&o, "-m: '");
	sp_out_bytes(&o, name, sp_min(n, 500));
	sp_out_text(&o, "' is neither a file nor a metric of ");
	sp_out_text(&o, sp_cli_data("metrics.csv"));
	for (uint32_t i = 0; t && i < t->n; i++) {
		if (i && strcasecmp(t->at[i].name, t->at[i - 1].name) == 0)
			continue;
		sp_out_text(&o, i ? ", " : "; there are ");
		sp_out_text(&o, t->at[i].name);
	}
	sp_memory_text(&o);
}

/* Plan the last definition of a metric that can be counted here. If none can be, p->wrong has
 * the reason of the last one. */
static bool plan_metric(struct sp_stat_plan *p, const struct sp_metrics *t, const char *name,
			size_t n)
{
	struct sp_stat_plan *before = sp_check_alloc(malloc(sizeof(*before)));
	char wrong[sizeof(p->wrong)] = "";
	bool good = false, any = false;

	*before = *p;
	for (uint32_t i = t ? t->n : 0; i-- > 0 && !good;) {
		if (strlen(t->at[i].name) != n || strncasecmp(t->at[i].name, name, n) != 0)
			continue;
		good = plan_terms(p, t, &t->at[i]);
		if (!good && !any)
			memcpy(wrong, p->wrong, sizeof(wrong));
		if (!good)
			*p = *before;
		any = true;
	}
	free(before);
	if (!any)
		no_metric(p, t, name, n);
	else if (!good)
		memcpy(p->wrong, wrong, sizeof(wrong));
	return good;
}

/* Plan the events of named metrics of the installed table. Metrics of a file, and `default`, use
 * the events that are counted anyway. */
static bool plan_metrics(struct sp_stat_plan *p, const char *names)
{
	struct sp_metrics *t = sp_metrics_load_installed();
	bool good = true;

	for (const char *at = names; good && *at; at += strcspn(at, ","), at += *at == ',')
		good = plan_metric(p, t, at, strcspn(at, ","));
	sp_metrics_forget();
	return good;
}

/* Reject empty names. */
static bool all_have_names(struct sp_stat_plan *p, const char *events)
{
	for (const char *at = events; at; at = strchr(at, ','), at += at != NULL)
		if (!*at || *at == ',') {
			snprintf(p->wrong, sizeof(p->wrong),
				 "-e: an event's name is missing%s; sspapi list shows those that "
				 "can be counted here",
				 *events ? " at a comma" : "");
			return false;
		}
	return true;
}

bool sp_stat_plan(struct sp_stat_plan *p, const char *events, const char *metrics)
{
	bool good = !events || (all_have_names(p, events) && plan_names(p, events, false));

	if (good && metrics)
		good = plan_metrics(p, metrics);
	if (good && !p->n_events) {
		plan_cpus(p);
		good = plan_names(p, usual, false);
	}
	return good;
}
