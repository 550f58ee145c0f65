/* stat-interval.c: samples the counters for -I, and writes the rows (see stat-interval.h). */
#include <math.h>
#include <poll.h>

#include "../tool/cmd.h"
#include "stat-interval.h"

#define TEXT_MOST	(1u << 20)	/* bytes of waiting rows */

/* Return the size of whole rows, so that the program's lines stay whole, and at most PIPE_BUF,
 * which a pipe takes at once. */
static size_t some_rows(const char *text, size_t n)
{
	const char *end = n > PIPE_BUF ? memrchr(text, '\n', PIPE_BUF) : NULL;

	return end ? (size_t)(end + 1 - text) : sp_min(n, PIPE_BUF);
}

/* Return a descriptor for the rows. O_NONBLOCK on standard error would also apply to the
 * program. A terminal blocks a write that does not fit, so it is opened again. */
static int descriptor(void)
{
	int fd = isatty(STDERR_FILENO)
			 ? sp_open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY, 0)
			 : -1;

	return fd < 0 ? STDERR_FILENO : fd;
}

/* Writes only as much as the reader takes at once, unless `wait`. */
void sp_stat_interval_put(struct sp_stat_interval *i, bool wait)
{
	struct pollfd p = { .fd = i->fd, .events = POLLOUT };
	size_t done = 0;

	while (done < i->used && poll(&p, 1, wait ? -1 : 0) == 1) {
		ssize_t n = write(i->fd, i->text + done, some_rows(i->text + done, i->used - done));

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0) {		/* the reader is gone */
			done = i->used;
			break;
		}
		done += (size_t)n;
	}
	memmove(i->text, i->text + done, i->used - done);
	i->used -= done;
}

static void add_row(struct sp_stat_interval *i, double s, int cpu, const struct sp_stat_event *e,
		    int64_t value)
{
	char row[SP_STAT_NAME + 128], where[24] = "all CPUs";
	const char *event = e->name, *units = e->units;
	const char *bare = strncmp(event, "perf::", 6) == 0 ? event + 6 : event;
	char number[32];
	int n;

	if (e->is_machine_wide)
		strcpy(where, e->io_line ? "process " : "machine ");
	else if (cpu != SP_NO_CPU)
		snprintf(where, sizeof(where), "CPU %-4d", cpu);
	if (e->data_type == SP_FP64 && isnan(sp_float(value)))
		return;			/* a sensor without a value */
	if (e->data_type == SP_FP64)
		snprintf(number, sizeof(number), i->csv ? "%.17g" : "%.6g", sp_float(value));
	else
		snprintf(number, sizeof(number), e->data_type == SP_INT64 ? "%ld" : "%lu", value);
	n = i->csv ? snprintf(row, sizeof(row), "%.6f,%d,%s,%s\n", s, cpu, event, number)
		   : snprintf(row, sizeof(row), "%12.6f s  %s %18s %-2s  %s\n", s, where, number,
			      units, bare);

	if (n < 0 || i->quiet)
		return;
	if (i->used + (size_t)n > TEXT_MOST) {
		i->unshown++;
		return;
	}
	memcpy(i->text + i->used, row, (size_t)n);
	i->used += (size_t)n;
}

/* Return whether the event is a sum of native events and counted in this run. */
static bool has_rows(const struct sp_stat_interval *i, const struct sp_stat_counters *c,
		     const struct sp_stat_event *e)
{
	if (e->formula || e->is_machine_wide || e->round != c->round)
		return false;
	for (uint32_t t = 0; t < e->n; t++)
		if (c->refused[e->native[t]] || i->is_partial[e->native[t]])
			return false;
	return true;
}

/* Keep the values of all events of the plan as one reading. Returns false if there are too many. */
static bool keep_one(struct sp_stat_interval *i, uint32_t n, uint32_t cpu, uint64_t ns,
		     const int64_t *value)
{
	if (i->kept[cpu] >= i->most)
		return false;
	i->kept[cpu]++;
	i->kept_ns[cpu] = ns;
	i->tick = sp_grow_array(i->tick, &i->room, i->n + 1, sizeof(*i->tick));
	i->value = sp_grow_array(i->value, &i->value_room, i->n_values + n, sizeof(*i->value));
	i->tick[i->n++] = (struct sp_stat_tick){ ns, cpu, i->n_values };
	memcpy(i->value + i->n_values, value, n * sizeof(*value));
	i->n_values += n;
	return true;
}

/* Keep a row as a reading. Zeros go before it if the sample before had no row: its counts are those
 * since that sample. */
static void keep(struct sp_stat_interval *i, const struct sp_stat_counters *c, uint32_t cpu,
		 uint64_t ns, const int64_t *value)
{
	static const int64_t zeros[SP_STAT_EVENTS];
	uint32_t n = c->plan->n_events;

	if (i->kept_ns[cpu] < i->sampled_ns)
		keep_one(i, n, cpu, i->sampled_ns, zeros);
	i->refused += !keep_one(i, n, cpu, ns, value);
}

/* Add rows if the CPU counted anything. Ignore the clock: a control group's time passes while
 * nothing is counted, and the final one is limited (limit_times() in stat-group.c). */
static void cpu_rows(struct sp_stat_interval *i, const struct sp_stat_counters *c, uint32_t cpu,
		     uint64_t ns, const int64_t *now)
{
	int64_t *before = i->before + cpu * c->n, value[SP_STAT_EVENTS] = { 0 };

	if (memcmp(before, now, c->clock * sizeof(*now)) == 0)
		return;
	for (uint32_t e = 0; e < c->plan->n_events; e++) {
		const struct sp_stat_event *event = &c->plan->event[e];

		if (!has_rows(i, c, event))
			continue;
		value[e] = sp_stat_value(event, now) - sp_stat_value(event, before);
		add_row(i, (double)(ns - i->start_ns) / 1e9, c->cpu[cpu], event, value[e]);
	}
	keep(i, c, cpu, ns, value);
	memcpy(before, now, c->n * sizeof(*now));
}

/* Return whether the event has no counts per CPU, and is counted. */
static bool has_value(const struct sp_stat_counters *c, const struct sp_machine_events *b,
		      const struct sp_stat_event *e)
{
	return e->io_line ? c->io.n && !sp_stat_io_wrong(c)
			  : e->is_machine_wide && b->pid &&
				    !b->answer.failed[e - c->plan->event] &&
				    !b->answer.ended_early[e - c->plan->event];
}

/* Add rows if the machine's events have counted anything; a gauge always has one. */
static void machine_rows(struct sp_stat_interval *i, const struct sp_stat_counters *c, uint64_t ns,
			 bool ended)
{
	struct sp_machine_events *b = i->machine_events;
	const struct sp_stat_event *event = c->plan->event;
	int64_t value[SP_STAT_EVENTS] = { 0 };
	bool any = false;

	if (!ended)
		sp_machine_events_request(b, 'r');
	for (uint32_t e = 0; e < c->plan->n_events; e++) {
		int64_t now;

		if (b->answer.ended_early[e] && !i->ended_ns[e])
			i->ended_ns[e] = ns;
		if (!has_value(c, b, &event[e]))
			continue;
		now = event[e].io_line ? sp_stat_io_value(c, &event[e]) : b->answer.value[e];
		value[e] = event[e].is_gauge
				   ? now
				   : sp_stat_minus(&event[e], now, i->machine_before[e]);
		i->machine_before[e] = now;
		any = any || event[e].is_gauge || value[e];
	}
	for (uint32_t e = 0; any && e < c->plan->n_events; e++)
		if (has_value(c, b, &event[e]))
			add_row(i, (double)(ns - i->start_ns) / 1e9, SP_NO_CPU, &event[e],
				value[e]);
	if (any)
		keep(i, c, c->n_cpus, ns, value);
}

/* Add the values of a CPU's counters, of one thread or of all. Returns the time that was run
 * there. */
static int64_t add_values(struct sp_stat_interval *i, const struct sp_stat_counters *c,
			  const int *fd, int64_t *sum)
{
	uint64_t is[3], clock = 0;

	/* The time source comes first: others are compared with it. */
	for (uint32_t k = 0; k < c->n; k++) {
		uint32_t n = k == 0 ? c->time_source : k - (k <= c->time_source);
		ssize_t got = fd[n] < 0 ? 0 : read(fd[n], is, sizeof(is));

		if (got < (ssize_t)(2 * sizeof(is[0])))
			continue;
		sum[n] += (int64_t)is[0];
		clock = k == 0 ? is[1] : clock;
		if (got == (ssize_t)sizeof(is) && !sp_stat_ran_enough(is[2], clock, false))
			i->is_partial[n] = true;
	}
	return (int64_t)clock;
}

/* Read one CPU's counters. Their values never decrease. */
static void read_cpu(struct sp_stat_interval *i, const struct sp_stat_counters *c, uint32_t cpu,
		     int64_t *now)
{
	const int64_t *before = i->before + cpu * c->n;
	int64_t ns = 0;

	memset(now, 0, c->n * sizeof(*now));
	for (uint32_t k = 0; k < (c->attached_fd ? c->n_attached_fd : 1); k++)
		ns += add_values(i, c, (c->attached_fd ? c->attached_fd[k] : c->fd) + cpu * c->n,
				 now);
	now[c->clock] = ns;
	for (uint32_t n = 0; n < c->n; n++)
		now[n] = sp_max(now[n], before[n]);
}

void sp_stat_interval_begin(struct sp_stat_interval *i, const struct sp_stat_counters *c,
			    uint64_t start_ns)
{
	if (!i || !i->ms)
		return;
	i->fd = descriptor();
	i->start_ns = start_ns;
	i->next_ns = sp_boot_ns() + i->ms * 1000000ull;
	i->before = sp_check_alloc(calloc((size_t)c->n_cpus * c->n + 1, sizeof(*i->before)));
	i->is_partial = sp_check_alloc(calloc(c->n + 1, sizeof(*i->is_partial)));
	i->kept_ns = sp_check_alloc(calloc(c->n_cpus + 1, sizeof(*i->kept_ns)));
	i->kept = sp_check_alloc(calloc(c->n_cpus + 1, sizeof(*i->kept)));
	i->text = sp_check_alloc(malloc(TEXT_MOST));
	if (i->csv)
		i->used = (size_t)sprintf(i->text, "time,cpu,event,value\n");
}

int sp_stat_interval_wait(const struct sp_stat_interval *i, int ms)
{
	uint64_t now = i && i->ms ? sp_boot_ns() : 0;
	int left = !now		       ? -1
		   : now >= i->next_ns ? 0
				       : (int)sp_min((i->next_ns - now) / 1000000 + 1, INT_MAX);

	return left < 0 || (ms >= 0 && ms < left) ? ms : left;
}

void sp_stat_interval_sample(struct sp_stat_interval *i, const struct sp_stat_counters *c,
			     bool ended)
{
	uint64_t now = sp_boot_ns(), ns;
	int64_t value[SP_STAT_NATIVES + 1];

	if (!i || !i->ms || (!ended && now < i->next_ns))
		return;
	while (i->next_ns <= now)	/* one sample replaces missed ones, at the intended times */
		i->next_ns += i->ms * 1000000ull;
	ns = sp_now_ns();
	if (ended)
		for (uint32_t n = 0; n < c->n; n++)
			i->is_partial[n] = i->is_partial[n] || c->is_partial[n];
	for (uint32_t k = 0; k < c->n_cpus; k++) {
		if (!ended)
			read_cpu(i, c, k, value);
		cpu_rows(i, c, k, sp_max(ns, i->start_ns), ended ? c->value + k * c->n : value);
	}
	machine_rows(i, c, sp_max(ns, i->start_ns), ended);
	i->sampled_ns = sp_max(ns, i->start_ns);
	sp_stat_interval_put(i, false);
}
