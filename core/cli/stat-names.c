/* stat-names.c: which events: those that were asked for, what metrics need, or the usual ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sys.h"
#include "cmd.h"
#include "metrics.h"
#include "program.h"
#include "stat.h"

/* The kernel's own, by libpfm4's names: they are the same on every machine, also on one whose CPU libpfm4 does
 * not know, where PAPI has none of them. */
static const struct {
	const char *name, *units, *description;
	uint64_t config;
} kernels[] = {
	{ "perf::TASK-CLOCK", "ns", "time that its threads spent on CPUs", PERF_COUNT_SW_TASK_CLOCK },
	{ "perf::CPU-CLOCK", "ns", "time by the CPU's clock", PERF_COUNT_SW_CPU_CLOCK },
	{ "perf::PAGE-FAULTS", "", "page faults", PERF_COUNT_SW_PAGE_FAULTS },
	{ "perf::CONTEXT-SWITCHES", "", "context switches", PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "perf::CPU-MIGRATIONS", "", "moves from CPU to CPU", PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "perf::MINOR-FAULTS", "", "page faults without input", PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "perf::MAJOR-FAULTS", "", "page faults with input", PERF_COUNT_SW_PAGE_FAULTS_MAJ },
};

static const char usual[] = "perf::TASK-CLOCK,perf::PAGE-FAULTS,perf::CONTEXT-SWITCHES,perf::CPU-MIGRATIONS";

/* True: it is one of them, and in the plan. */
static bool is_kernels(struct sp_stat_plan *p, const char *name)
{
	unsigned i = 0;
	struct sp_stat_event *e = &p->event[p->n_events];
	struct sp_stat_native *n = &p->native[p->n_natives];

	while (i < SP_COUNT(kernels) && strcmp(kernels[i].name, name) != 0)
		i++;
	if (i == SP_COUNT(kernels) || p->n_natives == SP_STAT_NATIVES)
		return false;
	*e = (struct sp_stat_event){ .n = 1, .native = { p->n_natives++ }, .factor = { 1 } };
	snprintf(e->name, sizeof(e->name), "%s", name);
	strcpy(e->component, "perf_event");
	strcpy(e->derived, "NOT_DERIVED");
	strcpy(e->units, kernels[i].units);
	strcpy(e->description, kernels[i].description);
	*n = (struct sp_stat_native){ .attr = { .type = PERF_TYPE_SOFTWARE, .config = kernels[i].config } };
	strcpy(n->name, name);
	p->n_events++;
	return true;
}

static bool is_planned(const struct sp_stat_plan *p, const char *name)
{
	for (uint32_t i = 0; i < p->n_events; i++)
		if (strcmp(p->event[i].name, name) == 0)
			return true;
	return false;
}

static bool ask_papi(struct sp_stat_plan *p, char *const *name, unsigned n, bool unasked)
{
	sp_program_libpapi(p->papi);
	return sp_stat_ask_papi(p, name, n, unasked);
}

/* One at a time, so that they stay in the order of the command line; those for PAPI that follow each other
 * are asked for at once. */
static bool plan_names(struct sp_stat_plan *p, const char *names, bool unasked)
{
	char *text = sp_need(strdup(names)), *save = NULL, *papis[SP_STAT_EVENTS];
	unsigned n = 0;
	bool good = true;

	for (char *name = strtok_r(text, ",", &save); good && name; name = strtok_r(NULL, ",", &save)) {
		bool again = is_planned(p, name);

		for (unsigned i = 0; i < n; i++)
			again = again || strcmp(papis[i], name) == 0;
		if (again)
			continue;
		if (p->n_events + n == SP_STAT_EVENTS) {
			snprintf(p->wrong, sizeof(p->wrong), "%s: more than %u events", name, SP_STAT_EVENTS);
			good = false;
		} else if (strlen(name) >= SP_STAT_NAME) {
			snprintf(p->wrong, sizeof(p->wrong), "%.60s...: no event has such a name", name);
			good = false;
		} else if (strncmp(name, "perf::", 6) != 0) {
			papis[n++] = name;
		} else {
			good = !n || ask_papi(p, papis, n, unasked);
			n = 0;
			good = good && (is_kernels(p, name) || ask_papi(p, &name, 1, unasked));
		}
	}
	good = good && (!n || ask_papi(p, papis, n, unasked));
	free(text);
	return good;
}

static bool has_counters(void)
{
	struct perf_event_attr a = { .type = PERF_TYPE_HARDWARE, .size = sizeof(a), .config = PERF_COUNT_HW_CPU_CYCLES,
				     .exclude_kernel = 1, .exclude_hv = 1, .disabled = 1 };
	long fd = sp_sys(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	sp_close((int)fd);
	return fd >= 0;
}

/* ---- metrics ----------------------------------------------------------------------- */

/* A * is a number: of packages the first. */
static bool plan_numbered(struct sp_stat_plan *p, const char *name)
{
	char *text = sp_need(strdup(name));
	bool good;

	for (char *star = strchr(text, '*'); star; star = strchr(star, '*'))
		*star = '0';
	good = plan_names(p, text, false);
	free(text);
	return good;
}

static bool plan_terms(struct sp_stat_plan *p, const struct sp_metrics *t, const struct sp_metric *metric)
{
	bool good = true;

	for (uint32_t i = 0; good && i < metric->n_terms; i++) {
		const struct sp_metric_term *term = &t->term[metric->first_term + i];

		if (term->definition >= 0)
			good = plan_terms(p, t, &t->at[term->definition]);
		else if (strncmp(term->name, "sspapi::", 8) != 0)	/* how long the run took is no event */
			good = plan_numbered(p, term->name);
	}
	return good;
}

/* What the named ones of the installed table need; of a file's own, and of `default`, what is counted anyhow. */
static bool plan_metrics(struct sp_stat_plan *p, const char *names)
{
	struct sp_metrics *t = sp_metrics_usual();
	bool good = true;

	for (const char *at = names; good && *at; at += strcspn(at, ","), at += *at == ',') {
		size_t n = strcspn(at, ",");
		uint32_t i = t ? t->n : 0;

		while (i && (strlen(t->at[i - 1].name) != n || strncmp(t->at[i - 1].name, at, n) != 0))
			i--;
		good = i != 0;		/* of several definitions the last */
		if (good)
			good = plan_terms(p, t, &t->at[i - 1]);
		else
			snprintf(p->wrong, sizeof(p->wrong), "-m: '%.*s' is neither a file nor a metric of %.500s", (int)sp_min(n, 500), at,
				 sp_cli_data("metrics.csv"));
	}
	sp_metrics_forget();
	return good;
}

bool sp_stat_plan(struct sp_stat_plan *p, const char *events, const char *metrics)
{
	bool good = true;

	if (events)
		good = plan_names(p, events, false);
	if (good && metrics)
		good = plan_metrics(p, metrics);
	if (good && !p->n_events) {
		if (!events && has_counters())
			plan_names(p, "PAPI_TOT_CYC,PAPI_TOT_INS", true);
		good = plan_names(p, usual, false);
	}
	return good;
}
