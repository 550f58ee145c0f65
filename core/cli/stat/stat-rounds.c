/* stat-rounds.c: finds the events that fit into the counters together, by a trial: the kernel
 * refuses a group that is too large. The groups belong to the command and never run. */

#include "../../base/perf.h"
#include "stat.h"

#define PMUS_MOST 16u

/* Open events, in a group per PMU. */
struct trial {
	uint32_t n_pmus, n;
	uint64_t pmu[PMUS_MOST];
	int leader[PMUS_MOST], fd[2 * SP_STAT_NATIVES];
	bool has[SP_STAT_NATIVES];
};

static void close_trial(struct trial *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		sp_close(t->fd[i]);
	*t = (struct trial){ 0 };
}

/* Return a number for the PMU, since a group may have events of one PMU only. The CPU's PMU has
 * three types; the upper half of config selects one of several kinds of cores. */
static uint64_t pmu_of(const struct perf_event_attr *a)
{
	if (a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE)
		return a->config >> 32 ? a->config >> 32 : PERF_TYPE_RAW;
	return a->type;
}

/* Add an event to its PMU's group; false if it does not fit. Other errors are reported when the
 * event is counted. */
static bool open_in_trial(struct trial *t, const struct sp_stat_plan *p, uint32_t native)
{
	struct perf_event_attr a = p->native[native].attr;
	uint64_t pmu = pmu_of(&a);
	uint32_t g = 0;
	int fd;

	if (a.type == PERF_TYPE_SOFTWARE || a.type == PERF_TYPE_TRACEPOINT)
		return true;
	while (g < t->n_pmus && t->pmu[g] != pmu)
		g++;
	if (g == PMUS_MOST || t->n == SP_COUNT(t->fd))
		return true;
	a.size = sizeof(a);
	a.exclude_kernel = a.exclude_hv = 1;
	a.inherit = a.pinned = a.exclusive = 0;
	/* The kernel ignores disabled siblings when it checks the group. On ARM it also ignores
	 * a leader that no exec would enable. */
	a.disabled = a.enable_on_exec = g == t->n_pmus;
	a.sample_period = a.sample_type = a.read_format = 0;
	fd = sp_perf_open(&a, 0, -1, g < t->n_pmus ? t->leader[g] : -1, 0);
	if (fd < 0)
		return g == t->n_pmus || fd != -EINVAL;
	if (g == t->n_pmus) {
		t->pmu[g] = pmu;
		t->leader[t->n_pmus++] = fd;
	}
	t->fd[t->n++] = fd;
	return true;
}

static bool fits(struct trial *t, const struct sp_stat_plan *p, uint32_t native, uint32_t per_cpu)
{
	for (uint32_t i = 0; !t->has[native] && i < per_cpu; i++)
		if (!open_in_trial(t, p, native))
			return false;
	t->has[native] = true;
	return true;
}

static bool all_fit(struct trial *t, const struct sp_stat_plan *p, const struct sp_stat_event *e,
		    uint32_t per_cpu)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (!fits(t, p, e->native[i], per_cpu))
			return false;
	return true;
}

uint32_t sp_stat_rounds(struct sp_stat_plan *p, uint32_t per_cpu)
{
	struct trial t = { 0 };
	uint32_t round = 0;

	for (uint32_t e = 0; e < p->n_events; e++) {
		if (!all_fit(&t, p, &p->event[e], per_cpu)) {
			close_trial(&t);
			round++;
			all_fit(&t, p, &p->event[e], per_cpu);
		}
		p->event[e].round = p->event[e].is_machine_wide ? 0 : round;
	}
	close_trial(&t);
	return round + 1;
}
