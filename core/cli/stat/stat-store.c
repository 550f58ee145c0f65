/* stat-store.c: writes the counts as a merged store (layout.h), with a member per process. */
#include "../../base/conf.h"
#include "../../base/cpu-list.h"
#include "../../base/pmus.h"
#include "../tool/cmd.h"
#include "stat-interval.h"

#define ROWS_MOST 4096u			/* threads with rows of their own; the others share one */

struct store_writer {
	struct sp_compact c;
	struct sp_thread thread;	/* current thread, written after its relations */
	const struct sp_stat_all *all;
	const struct sp_stat_run *r;	/* current run; so are the fields below */
	/* [k] indices into the plan of the events that are counted */
	uint32_t k, event[SP_STAT_EVENTS];
	/* [n_now] ids of the program's events in this run */
	uint32_t n_now, now[SP_STAT_EVENTS];
	/* and of the machine's events */
	uint32_t n_machine_events, machine_event[SP_STAT_EVENTS];
	bool *has_row;			/* [rows] */
	uint64_t folded, all_folded;
	bool whole;			/* nothing is known to be missing */
	int64_t *rest;			/* [n_cpus][n] remainder of the total */
	char allowed[2048], host[65];	/* of all runs; so are the fields below */
	struct sp_core_pmu pmu[SP_PMUS_MOST];
	uint32_t n_pmus;
	sp_off notes;
	uint32_t n_notes;
};

/* ---- events ------------------------------------------------------------- */

/* Return why an event is not counted; NULL if all its native events are, in each run of its
 * round. */
static const char *reason_not_counted(const struct sp_stat_all *a, const struct sp_stat_event *e)
{
	const struct sp_stat_answer *answer;

	if (e->round >= a->plan->n_rounds)
		return "not counted: too few counters; name fewer events, or let them take turns "
		       "(-r 1 runs the program once for each turn)";
	if (e->round >= a->n)
		return "not counted: interrupted before its turn";
	for (uint32_t i = 0; i < a->n && sp_stat_is_of_papi(e); i++) {
		answer = &a->run[i].machine_events.answer;
		if (answer->failed[e - a->plan->event])
			return answer->wrong[e - a->plan->event];
	}
	for (uint32_t i = 0; i < a->n && e->io_line; i++) {
		if (!a->run[i].c.io.n)
			return "not counted: a control group has no such file of its io; name a "
			       "process (-p)";
		if (sp_stat_io_wrong(&a->run[i].c))
			return sp_stat_io_wrong(&a->run[i].c);
	}
	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t t = 0; a->run[i].c.round == e->round && t < e->n; t++) {
			if (a->run[i].c.refused[e->native[t]])
				return "not permitted: perf_event_paranoid forbids this user to "
				       "count events of the kernel";
			if (a->run[i].c.is_partial[e->native[t]])
				return "not counted: others used the counter part of the time";
		}
	return NULL;
}

static void choose_events(struct store_writer *m)
{
	struct sp_stat_plan *p = m->all->plan;

	for (uint32_t e = 0; e < p->n_events; e++) {
		p->event[e].why_not = reason_not_counted(m->all, &p->event[e]);
		if (!p->event[e].why_not)
			m->event[m->k++] = e;
	}
}

/* Return whether the CPU supports none of the native events. A preset with events of two PMUs is
 * counted by one of them on each CPU. */
static bool is_missing_on(const struct store_writer *m, const struct sp_stat_run *r, uint32_t event,
			  uint32_t cpu)
{
	const struct sp_stat_event *e = &m->all->plan->event[event];

	for (uint32_t t = 0; t < e->n; t++)
		if (r->c.has_event[cpu * r->c.n + e->native[t]])
			return false;
	return e->n;
}

/* ---- lists and notes ---------------------------------------------------- */

static sp_off write_natives(struct sp_compact *c, const struct sp_stat_plan *p,
			    const struct sp_stat_event *e)
{
	struct sp_bytes all = { 0 };
	sp_off at;

	for (uint32_t t = 0; t < e->n; t++)
		sp_bytes_add(&all, p->native[e->native[t]].name,
			     strlen(p->native[e->native[t]].name) + 1);
	at = e->n ? sp_compact_words(c, (char *)all.at, all.used) : 0;
	sp_bytes_free(&all);
	return at;
}

/* Return the name of the PMU of all native events, or "" if they are of several or any. */
static const char *pmu_of(const struct store_writer *m, const struct sp_stat_event *e)
{
	const struct sp_core_pmu *pmu = NULL;

	for (uint32_t t = 0; t < e->n && m->n_pmus > 1; t++) {
		const struct perf_event_attr *a = &m->all->plan->native[e->native[t]].attr;
		bool general = a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE;
		uint32_t type = general ? (uint32_t)(a->config >> 32) : a->type, i = 0;

		while (i < m->n_pmus && m->pmu[i].type != type)
			i++;
		if (i == m->n_pmus || (pmu && pmu != &m->pmu[i]))
			return "";
		pmu = &m->pmu[i];
	}
	return pmu ? pmu->name : "";
}

static sp_off write_events(struct store_writer *m)
{
	sp_off newest = 0;

	for (uint32_t i = 0; i < m->k; i++) {
		const struct sp_stat_event *e = &m->all->plan->event[m->event[i]];
		struct sp_event to = { .next = newest,
				       .id = i,
				       .code = e->code,
				       .data_type = e->data_type,
				       .kind = e->is_gauge ? SP_GAUGE : SP_COUNTER,
				       .scope = e->scope,
				       .place = e->place,
				       .place_id = e->place_id };

		to.name = sp_compact_text(&m->c, e->name);
		to.component = sp_compact_text(&m->c, e->component);
		to.derived = sp_compact_text(&m->c, e->derived);
		to.postfix = sp_compact_text(&m->c, e->postfix);
		to.units = sp_compact_text(&m->c, e->units);
		to.description = sp_compact_text(&m->c, e->description);
		to.natives = write_natives(&m->c, m->all->plan, e);
		to.pmu = sp_compact_text(&m->c, pmu_of(m, e));
		newest = sp_compact_copy(&m->c, SP_BLOCK_EVENT, &to, sizeof(to));
	}
	return newest;
}

/* Add a note in front of the others; so the last one added is read first. */
static void note_text(struct store_writer *m, const char *text)
{
	m->notes = sp_compact_note(&m->c, m->notes, text, "");
	m->n_notes++;
}

static void note(struct store_writer *m, const char *format, ...) SP_PRINTF(2, 3);
static void note(struct store_writer *m, const char *format, ...)
{
	char text[2500];
	va_list more;

	va_start(more, format);
	vsnprintf(text, sizeof(text), format, more);
	va_end(more);
	note_text(m, text);
}

#define SET_WORDS (65536 / 8 / sizeof(long))	/* words in a CPU set */

static void add_cpu(unsigned long *set, int cpu)
{
	set[(unsigned)cpu / (8 * sizeof(long))] |= 1ul << (unsigned)cpu % (8 * sizeof(long));
}

static void cpu_list(const unsigned long *set, char *text, size_t room)
{
	struct sp_out o;

	sp_out_init(&o, -1, text, room - 1);
	sp_out_cpu_list(&o, set, SET_WORDS * sizeof(*set));
	text[o.error ? 0 : o.used] = 0;
}

static uint64_t clocks(const struct sp_stat_counters *c)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < c->n_cpus; k++)
		sum += (uint64_t)c->value[k * c->n + c->clock];
	return sum;
}

/* Write one note for all events with the same reason. */
static void note_events(struct store_writer *m)
{
	const struct sp_stat_plan *p = m->all->plan;

	if (*p->left_out)
		note_text(m, p->left_out);
	for (uint32_t e = 0; e < p->n_events; e++) {
		struct sp_bytes text = { 0 };

		for (uint32_t i = 0; i < p->n_events && p->event[e].why_not; i++) {
			if (!p->event[i].why_not ||
			    strcmp(p->event[i].why_not, p->event[e].why_not) != 0)
				continue;
			if (i < e)
				break;	/* in an earlier note */
			sp_bytes_add(&text, ", ", i == e ? 0 : 2);
			sp_bytes_add(&text, p->event[i].name, strlen(p->event[i].name));
		}
		if (text.used) {
			sp_bytes_add(&text, ": ", 2);
			sp_bytes_add(&text, p->event[e].why_not, strlen(p->event[e].why_not) + 1);
			note_text(m, (const char *)text.at);
		}
		sp_bytes_free(&text);
	}
}

/* Report time that was spent on other CPUs, or counted twice for threads that started while
 * counters were opened. Two identical clocks that start together agree to the nanosecond. */
static void note_elsewhere(struct store_writer *m)
{
	const struct sp_stat_attached *of = &m->all->run[0].attached;
	uint64_t elsewhere = 0, twice = 0, all = 0;

	for (uint32_t i = 0; i < m->all->n; i++) {
		const struct sp_stat_counters *c = &m->all->run[i].c;
		uint64_t sum = clocks(c), whole = c->all_cpus_ns;

		elsewhere += whole > sum + c->slack_ns ? whole - sum : 0;
		twice += c->is_attached && !c->is_cgroup && sum > whole + c->slack_ns ? sum - whole
										      : 0;
		all += whole;
	}
	m->whole = !elsewhere && !twice && !of->unclear && !of->unproven && !of->refused;
	if (twice)
		note(m,
		     "%.3f of %.3f ms were counted twice, for threads that were created while "
		     "counters were opened",
		     (double)twice / 1e6, (double)all / 1e6);
	if (elsewhere)
		note(m,
		     "%.3f of %.3f ms were spent on other CPUs than %s, to which the command is "
		     "pinned: counts from there are missing",
		     (double)elsewhere / 1e6, (double)all / 1e6, m->allowed);
}

/* Add the CPUs that do not support the event (two kinds of cores) and were used; return the time
 * spent there, in ns. */
static uint64_t missing_on(const struct store_writer *m, uint32_t event, unsigned long *set)
{
	const struct sp_stat_event *e = &m->all->plan->event[event];
	uint64_t ns = 0;

	for (uint32_t i = 0; i < m->all->n && !e->why_not && !e->is_machine_wide && !e->formula;
	     i++) {
		const struct sp_stat_counters *c = &m->all->run[i].c;

		for (uint32_t k = 0; c->round == e->round && k < c->n_cpus; k++)
			if (c->cpu[k] != SP_NO_CPU && c->value[k * c->n + c->clock] &&
			    is_missing_on(m, &m->all->run[i], event, k)) {
				ns += (uint64_t)c->value[k * c->n + c->clock];
				add_cpu(set, c->cpu[k]);
			}
	}
	return ns;
}

/* Write one note for all events that the same CPUs do not support. */
static void note_missing(struct store_writer *m)
{
	const struct sp_stat_plan *p = m->all->plan;

	for (uint32_t e = 0; e < p->n_events; e++) {
		unsigned long set[SET_WORDS] = { 0 };
		uint64_t ns = missing_on(m, e, set);
		struct sp_bytes names = { 0 };
		char cpus[512];
		bool is_reported = !ns;

		for (uint32_t i = 0; i < p->n_events && !is_reported; i++) {
			unsigned long other[SET_WORDS] = { 0 };

			if (missing_on(m, i, other) != ns || memcmp(set, other, sizeof(set)) != 0)
				continue;
			is_reported = i < e;
			sp_bytes_add(&names, ", ", names.used ? 2 : 0);
			sp_bytes_add(&names, p->event[i].name, strlen(p->event[i].name));
		}
		if (!is_reported) {
			m->whole = false;
			cpu_list(set, cpus, sizeof(cpus));
			note(m,
			     "CPU %s cannot count %.*s (-): counts of the %.3f ms that were "
			     "spent there are missing",
			     cpus, (int)names.used, (const char *)names.at, (double)ns / 1e6);
		}
		sp_bytes_free(&names);
	}
}

/* Clocks include kernel code, however they are opened. */
static void note_kernel(struct store_writer *m)
{
	const struct sp_stat_plan *p = m->all->plan;

	for (uint32_t e = 0; m->all->run[0].c.user_only && e < p->n_events; e++) {
		const struct perf_event_attr *a = &p->native[p->event[e].native[0]].attr;

		if (p->event[e].why_not || p->event[e].is_machine_wide ||
		    (a->type == PERF_TYPE_SOFTWARE && (a->config == PERF_COUNT_SW_TASK_CLOCK ||
						       a->config == PERF_COUNT_SW_CPU_CLOCK)))
			continue;
		note(m, "only the clocks include kernel mode: perf_event_paranoid restricts this "
			"user to user code");
		return;
	}
}

/* Report gauges that PAPI could read for some time only. */
static void note_gauges(struct store_writer *m)
{
	const struct sp_stat_plan *p = m->all->plan;

	for (uint32_t i = 0; i < m->all->n; i++) {
		const struct sp_stat_answer *a = &m->all->run[i].machine_events.answer;

		for (uint32_t e = 0; e < p->n_events; e++)
			if (a->ended_early[e])
				note(m, "%s was not read to the end: %s", p->event[e].name,
				     a->wrong[e] + strlen("not counted: "));
	}
}

static void note_io(struct store_writer *m)
{
	bool threads = false, children = false;
	const char *wrong = NULL;
	uint64_t missed_ns = 0;
	uint32_t n = 0, n_unread = 0;

	for (uint32_t i = 0; i < m->all->n; i++) {
		const struct sp_stat_io *io = &m->all->run[i].c.io;

		if (io->n_unread < io->n && io->n_unread > n_unread) {
			n_unread = io->n_unread;
			wrong = strchr(io->wrong, ':') + 2;
		}
		missed_ns = sp_max(missed_ns, io->missed_ns);
		n += io->n_gone;
		threads = threads || io->is_of_threads;
		children = children || (io->n && m->all->run[i].who.n_processes > io->n);
	}
	m->whole = m->whole && !missed_ns && !n && !n_unread;
	if (n_unread)
		note(m, "io of %u %s%s is not included: %s", n_unread,
		     threads ? "thread" : "process", n_unread == 1 ? "" : threads ? "s" : "es",
		     wrong);
	if (threads)
		note_text(m, "io of -t is that of the named threads, not of threads and processes "
			     "that they start");
	else if (children)
		note_text(m, "io of processes for which their parent did not wait is not included");
	if (n)
		note(m,
		     "%u child process%s already ran when counting began, and ended: all of %s io "
		     "may be included, also from before, or twice if counted by itself",
		     n, n == 1 ? "" : "es", n == 1 ? "its" : "their");
	if (missed_ns)
		note(m,
		     "io of the last %.3f ms is missing: the process had ended, when this user may "
		     "no longer read it",
		     (double)missed_ns / 1e6);
}

static void note_end(struct store_writer *m)
{
	uint32_t left_out = m->all->n_begun - m->all->n;
	int signal = 0;

	for (uint32_t i = 0; i < m->all->n_begun && !signal; i++)
		signal = m->all->run[i].child.signal;
	if (signal)
		note(m, "the program was ended by signal %d (%s)", signal, strsignal(signal));
	if (left_out)
		note(m, "interrupted before all events had their turn: the last %s not included",
		     left_out == 1 ? "run is" : "runs are");
}

static void note_rows(struct store_writer *m)
{
	uint64_t lost = 0, running = 0, n_without_counters = 0, late = 0;
	const char *none = NULL;

	for (uint32_t i = 0; i < m->all->n; i++) {
		const struct sp_stat_run *r = &m->all->run[i];

		lost += r->who.lost;
		/* not if EXIT records were lost */
		running += r->c.has_rows && !r->who.lost && !r->c.is_attached ? r->who.running : 0;
		none = r->why_no_rows ? r->why_no_rows : none;
		n_without_counters += r->who.n_without_counters;
		late += r->who.late;
	}
	if (late)
		note(m,
		     "%llu %s not wait for counters after a second without an answer from the "
		     "command: earlier counts are in the rest",
		     (unsigned long long)late, late == 1 ? "thread did" : "threads did");
	if (m->all->run[0].c.from_library)
		note(m, "libsspapi-threads.so in the program reported its threads, because this "
			"kernel does not; the rest are earlier counts, of the loader and of "
			"static programs");
	if (n_without_counters)
		note(m,
		     "%llu %s no row, and %s in the rest: no descriptors (ulimit -Hn) or "
		     "counters were left for %s",
		     (unsigned long long)n_without_counters,
		     n_without_counters == 1 ? "thread has" : "threads have",
		     n_without_counters == 1 ? "is" : "are",
		     n_without_counters == 1 ? "it" : "them");
	if (none)
		note_text(m, none);
	if (lost)
		note(m,
		     "%llu or more records of ended threads came too fast and were lost: these "
		     "threads are one row, of the first process; totals are complete",
		     (unsigned long long)lost);
	if (running)
		note(m, "%llu %s still running when the program ended: later counts are missing",
		     (unsigned long long)running, running == 1 ? "thread was" : "threads were");
	if (m->all_folded)
		note(m, "more than %u threads: those that ran shortest are one row", ROWS_MOST);
}

static void note_attached(struct store_writer *m)
{
	const struct sp_stat_run *r = &m->all->run[0];
	const struct sp_stat_attached *a = &r->attached;

	if (r->c.is_cgroup && !clocks(&r->c))
		note_text(m, "nothing of the control group ran while it was counted");
	else if (r->c.is_attached && !clocks(&r->c))
		note_text(m, "none of the threads ran while they were counted");
	if (r->why_no_cpus)
		note_text(m, r->why_no_cpus);
	if (a->unclear)
		note(m,
		     "%u %s busy in the kernel for all of five seconds while counters were opened: "
		     "threads that %s began there may be missing",
		     a->unclear, a->unclear == 1 ? "thread was" : "threads were",
		     a->unclear == 1 ? "this one" : "these");
	if (a->unproven)
		note(m,
		     "threads were created so fast that %u %s not be opened in between: threads "
		     "created at that moment may be counted twice",
		     a->unproven, a->unproven == 1 ? "counter could" : "counters could");
	if (a->born)
		note(m,
		     "%u %s created while counters were opened: some ms of a thread that was "
		     "being created when counting began may be missing",
		     a->born, a->born == 1 ? "thread was" : "threads were");
	if (a->refused)
		note(m, "not counted: %u %s of another user, or protected", a->refused,
		     a->refused == 1 ? "thread is" : "threads are");
}

/* Notes of the first run apply to all runs. */
static void note_interval(struct store_writer *m)
{
	const struct sp_stat_interval *i = m->all->n ? m->all->run[0].interval : NULL;

	if (i && i->refused)
		note(m, "%llu rows of -I are not stored here: raise SSPAPI_READINGS_MAX",
		     (unsigned long long)i->refused);
	if (i && i->unshown)
		note(m,
		     "%llu rows of -I were not shown, because their reader was too slow: they "
		     "are in the store",
		     (unsigned long long)i->unshown);
}

static void note_escaped(struct store_writer *m)
{
	const struct sp_stat_who *w = &m->all->run[0].who;
	const struct sp_stat_counters *c = &m->all->run[0].c;

	if (geteuid() && !c->has_rows && !c->is_cgroup)
		note_text(m, "programs that run as another user (set-user-ID) are not counted, "
			     "and the kernel does not report them here");
	for (uint32_t i = 0; i < w->n_processes; i++)
		if (w->process[i].escaped) {
			m->whole = false;
			note(m,
			     "not counted: %.200s (pid %d) runs as another user, or from a file "
			     "that this one may not read",
			     w->process[i].args ? w->process[i].args : "a program",
			     w->process[i].pid);
		}
}

/* ---- rows of threads ---------------------------------------------------- */

static int64_t clock_of(const struct sp_stat_counters *c, const struct sp_stat_row *row)
{
	int64_t sum = 0;

	for (uint32_t k = 0; k < c->n_cpus; k++)
		sum += row->counts[k * c->n + c->clock];
	return sum;
}

static int by_value_descending(const void *a, const void *b)
{
	return SP_COMPARE(*(const int64_t *)b, *(const int64_t *)a);
}

static void choose_rows(struct store_writer *m)
{
	const struct sp_stat_counters *c = &m->r->c;
	const struct sp_stat_who *w = &m->r->who;
	int64_t *clock = sp_check_alloc(calloc(2 * (size_t)w->n + 1, sizeof(*clock))),
		*sorted = clock + w->n, least = INT64_MIN;
	uint32_t n = 0;

	free(m->has_row);
	free(m->rest);
	m->folded = 0;
	m->has_row = sp_check_alloc(calloc(w->n + 1, sizeof(*m->has_row)));
	for (uint32_t i = 0; i < w->n; i++)
		sorted[i] = clock[i] = clock_of(c, &w->row[i]);
	qsort(sorted, w->n, sizeof(*sorted), by_value_descending);
	if (w->n > ROWS_MOST)
		least = sorted[ROWS_MOST - 1];
	for (uint32_t i = 0; i < w->n; i++) {
		bool has = w->row[i].has_read && m->n_now;

		m->has_row[i] = has && clock[i] >= least && n < ROWS_MOST;
		n += m->has_row[i];
		m->folded += has && !m->has_row[i];
	}
	free(clock);
	m->all_folded += m->folded;
	m->rest = sp_check_alloc(malloc((size_t)c->n_cpus * c->n * sizeof(*m->rest) + 1));
	memcpy(m->rest, c->value, (size_t)c->n_cpus * c->n * sizeof(*m->rest));
	for (uint32_t i = 0; i < w->n; i++)
		for (uint32_t v = 0; m->has_row[i] && v < c->n_cpus * c->n; v++)
			m->rest[v] -= w->row[i].counts[v];
}

/* ---- processes ---------------------------------------------------------- */

static bool is_used(const struct store_writer *m, const int64_t *at, uint32_t cpu)
{
	const struct sp_stat_counters *c = &m->r->c;

	for (uint32_t i = 0; i < c->n; i++)
		if (at[cpu * c->n + i])
			return true;
	return false;
}

static void append_cell(struct store_writer *m, const int64_t *at, uint32_t cpu)
{
	struct sp_cell cell = { .cpu = m->r->c.cpu[cpu], .used = SP_CELL_USED, .readings = 1 };
	int64_t value[SP_CELL_ARRAYS][SP_STAT_EVENTS];

	for (uint32_t i = 0; i < m->n_now; i++) {
		value[SP_TOTAL][i] = sp_stat_value(&m->all->plan->event[m->event[m->now[i]]],
						   at + cpu * m->r->c.n);
		value[SP_EXACT][i] = cell.cpu == SP_NO_CPU ? 0 : value[SP_TOTAL][i];
		value[SP_ENTRY][i] = is_missing_on(m, m->r, m->event[m->now[i]], cpu);
		cell.used |= value[SP_ENTRY][i] ? SP_CELL_UNSUPPORTED : 0;
	}
	sp_compact_write(&m->c, &cell, sizeof(cell));
	for (unsigned i = 0; i < SP_CELL_ARRAYS; i++)
		sp_compact_write(&m->c, value[i], m->n_now * sizeof(**value));
}

/* Write a relation up to its cells. */
static void begin_relation(struct store_writer *m, struct sp_relation *r, const uint32_t *event)
{
	sp_compact_relation(&m->c, &m->thread, r);
	sp_compact_write(&m->c, event, r->k * sizeof(*event));
	sp_compact_zeros(&m->c, r->k % 2 * sizeof(*event));
}

/* Write a relation with the counts `at`. */
static void write_relation(struct store_writer *m, const int64_t *at, uint64_t threads,
			   uint64_t first, uint64_t last)
{
	const struct sp_stat_counters *c = &m->r->c;
	struct sp_relation like = { .event_set = -1,
				    .k = m->n_now,
				    .scope = SP_SCOPE_THREAD,
				    .domain = c->user_only ? 1 : 3,
				    .flags = (m->r->why_no_cpus ? 0 : SP_RELATION_PROVEN) |
					     SP_BY_EXACT << SP_RELATION_HOW_SHIFT,
				    .starts = 1,
				    .threads = (uint32_t)threads,
				    .first_ns = first,
				    .last_ns = last };

	for (uint32_t k = 0; k < c->n_cpus; k++)
		like.cells += is_used(m, at, k);
	begin_relation(m, &like, m->now);
	for (uint32_t k = 0; k < c->n_cpus; k++)
		if (is_used(m, at, k))
			append_cell(m, at, k);
	sp_compact_write(&m->c, &(struct sp_times){ .flags = SP_TIMES_KNOWN },
			 sizeof(struct sp_times));
	for (uint32_t k = 0; k < c->n_cpus; k++)
		if (is_used(m, at, k))
			sp_compact_write(&m->c, &at[k * c->n + c->clock], sizeof(*at));
	sp_compact_end(&m->c);
}

/* Return how many machine-wide events from this one on are of its component. */
static uint32_t same_component(const struct store_writer *m, uint32_t first)
{
	const struct sp_stat_event *event = m->all->plan->event;
	const char *of = event[m->event[m->machine_event[first]]].component;
	uint32_t k = 1;

	while (first + k < m->n_machine_events &&
	       strcmp(event[m->event[m->machine_event[first + k]]].component, of) == 0)
		k++;
	return k;
}

/* Write the gauges of k of the machine's events. Returns 0 if none of them is one. */
static sp_off write_gauges(struct store_writer *m, const uint32_t *event, uint32_t k)
{
	const struct sp_stat_answer *a = &m->r->machine_events.answer;
	uint32_t n = 0, index[SP_STAT_EVENTS + 1] = { 0 };
	sp_off at;

	for (uint32_t e = 0; e < k; e++)
		if (m->all->plan->event[m->event[event[e]]].is_gauge)
			index[n++] = e;
	if (!n)
		return 0;
	at = sp_compact_begin(&m->c, SP_BLOCK_GAUGES, sp_gauges_bytes(n, 1));
	sp_compact_u32(&m->c, n);
	sp_compact_u32(&m->c, 1);
	sp_compact_write(&m->c, index, sp_align(n * sizeof(*index), 8));
	for (uint32_t i = 0; i < n; i++)
		sp_compact_write(&m->c, &a->gauge[m->event[event[index[i]]]],
				 sizeof(struct sp_gauge));
	sp_compact_end(&m->c);
	return at;
}

/* Write the machine's events and io: a relation of the thread per component. Returns their
 * number. */
static uint32_t add_machine_events(struct store_writer *m)
{
	const struct sp_stat_event *event = m->all->plan->event;
	uint32_t n = 0;

	for (uint32_t i = 0, k; i < m->n_machine_events; i += k, n++) {
		const struct sp_stat_event *of = &event[m->event[m->machine_event[i]]];
		struct sp_relation like = { .event_set = -1,
					    .cells = 1,
					    .scope = of->scope,
					    .starts = 1,
					    .threads = 1,
					    .first_ns = m->r->child.start_ns,
					    .last_ns = m->r->child.end_ns };

		like.k = k = same_component(m, i);
		like.gauges = write_gauges(m, m->machine_event + i, k);
		begin_relation(m, &like, m->machine_event + i);
		sp_compact_write(&m->c,
				 &(struct sp_cell){
					 .cpu = SP_NO_CPU, .used = SP_CELL_USED, .readings = 1 },
				 sizeof(struct sp_cell));
		for (uint32_t e = 0; e < k; e++) {
			uint32_t id = m->event[m->machine_event[i + e]];
			int64_t total = event[id].is_gauge  ? 0
					: event[id].io_line ? sp_stat_io_value(&m->r->c, &event[id])
							    : m->r->machine_events.answer.value[id];

			sp_compact_write(&m->c, &total, sizeof(total));
		}
		sp_compact_end(&m->c);
	}
	return n;
}

/* Return whether the tick has that index, and a value of the event. */
static bool is_reading_of(const struct sp_stat_interval *i, uint32_t tick, uint32_t index,
			  uint32_t event)
{
	return i->tick[tick].cpu == index &&
	       (!i->ended_ns[event] || i->tick[tick].ns < i->ended_ns[event]);
}

/* Write the rows of -I with that index; event: those of the relation. */
static sp_off append_readings(struct store_writer *m, uint32_t index, const uint32_t *event,
			      uint32_t k)
{
	const struct sp_stat_interval *i = m->r->interval;
	int cpu = index < m->r->c.n_cpus ? m->r->c.cpu[index] : SP_NO_CPU;
	struct sp_chunk chunk = { .k = k };
	uint64_t left = 0;
	uint32_t n = 0;
	sp_off newest = 0;

	for (uint32_t t = 0; t < i->n; t++)
		left += is_reading_of(i, t, index, m->event[*event]);
	for (uint32_t t = 0; t < i->n; t++) {
		if (!is_reading_of(i, t, index, m->event[*event]))
			continue;
		if (n == chunk.room) {
			newest = sp_compact_readings(&m->c, &chunk, newest, left, i->tick[t].ns);
			n = 0;
		}
		sp_compact_write(&m->c,
				 &(struct sp_reading){
					 .ns = i->tick[t].ns, .cpu = cpu, .number = ++n },
				 sizeof(struct sp_reading));
		for (uint32_t e = 0; e < k; e++)
			sp_compact_write(&m->c, &i->value[i->tick[t].at + m->event[event[e]]],
					 sizeof(int64_t));
		left--;
	}
	return newest;
}

/* Write the rows of -I: a relation without counts per CPU, and one per component of machine-wide
 * events, whose readings are differences to the row before (gauges: values). Returns their
 * number. */
static uint32_t write_readings(struct store_writer *m)
{
	struct sp_relation like = { .event_set = -1,
				    .k = m->n_now,
				    .scope = SP_SCOPE_THREAD,
				    .threads = 1,
				    .flags = SP_RELATION_PROVEN | SP_BY_EXACT
									  << SP_RELATION_HOW_SHIFT,
				    .first_ns = m->r->child.start_ns,
				    .last_ns = m->r->child.end_ns };
	uint32_t n = 0;

	for (uint32_t cpu = 0; m->n_now && cpu < m->r->c.n_cpus; cpu++) {
		like.readings = append_readings(m, cpu, m->now, m->n_now);
		if (!like.readings)
			continue;
		begin_relation(m, &like, m->now);
		sp_compact_end(&m->c);
		n++;
	}
	like.flags = 0;
	for (uint32_t i = 0; i < m->n_machine_events; i += like.k) {
		const uint32_t *event = m->machine_event + i;

		like.k = same_component(m, i);
		like.scope = m->all->plan->event[m->event[*event]].scope;
		like.readings = append_readings(m, m->r->c.n_cpus, event, like.k);
		if (!like.readings)
			continue;
		begin_relation(m, &like, event);
		sp_compact_end(&m->c);
		n++;
	}
	return n;
}

/* Write the rows for one process; the first process also gets the remainder. */
static void write_threads(struct store_writer *m, const struct sp_stat_process *p, bool first,
			  struct sp_header *h)
{
	const struct sp_stat_who *w = &m->r->who;
	uint32_t rest = first && m->n_now ? w->rest + (uint32_t)m->folded : 0;
	bool has_rest = first && m->n_now &&
			(m->r->c.from_library ||
			 (m->r->c.long_lived && is_used(m, m->rest, m->r->c.n_cpus - 1)));

	for (uint32_t i = 0; i < p->rows; i++) {
		const struct sp_stat_row *row = &w->row[p->first + i];

		if (!m->has_row[p->first + i])
			continue;
		sp_compact_thread(&m->c, h, &m->thread, row->tid, row->name, 1);
		write_relation(m, row->counts, 1, row->start_ns,
			       row->end_ns ? row->end_ns : m->r->child.end_ns);
		h->lists.n_threads++;
	}
	if (rest || has_rest) {
		sp_compact_thread(&m->c, h, &m->thread, 0, has_rest ? "the rest" : "", rest);
		write_relation(m, m->rest, sp_max(rest, 1), m->r->child.start_ns,
			       m->r->child.end_ns);
		h->lists.n_threads++;
	}
	h->lists.n_relations = h->lists.n_threads;
	if (first && m->n_machine_events) {
		if (!h->lists.n_threads)		/* no thread was counted */
			sp_compact_thread(&m->c, h, &m->thread, p->pid, "", 1);
		h->lists.n_threads = sp_max(h->lists.n_threads, 1);
		h->lists.n_relations += add_machine_events(m);
	}
	if (first && m->r->interval && m->r->interval->n) {
		sp_compact_thread(&m->c, h, &m->thread, 0, "all threads", 1);
		h->lists.n_threads++;
		h->lists.n_relations += write_readings(m);
	}
	sp_compact_thread(&m->c, h, &m->thread, 0, "", 0);
}

/* Fill in the texts of one process; those of the first one are also the store's. */
static void fill_header(struct store_writer *m, struct sp_header *h,
			const struct sp_stat_process *p)
{
	const struct sp_stat_run *r = m->r;
	const char *job = sp_conf_job();
	char cwd[PATH_MAX];

	h->end = p->end_ns ? SP_END_EXIT : SP_END_SNAPSHOT;
	h->process.pid = (uint32_t)p->pid;
	h->process.ppid = (uint32_t)p->ppid;
	h->process.start_ns = p->start_ns ? p->start_ns : r->child.start_ns;
	h->process.end_ns = p->end_ns ? p->end_ns : r->child.end_ns;
	h->process.rank = sp_conf_rank();
	h->papi_version = m->all->plan->papi_version;
	h->attribution = SP_BY_EXACT;
	h->stat = SP_STAT_OUTSIDE | (m->whole ? SP_STAT_WHOLE : 0) |
		  (r->c.is_cgroup ? SP_STAT_GROUP : 0);
	h->process.host = sp_compact_text(&m->c, m->host);
	h->process.exe = p->args ? sp_compact_text(&m->c, p->args) : 0;
	h->process.args = p->args_bytes ? sp_compact_words(&m->c, p->args, p->args_bytes) : 0;
	h->process.job = job ? sp_compact_text(&m->c, job) : 0;
	h->process.cwd = getcwd(cwd, sizeof(cwd)) ? sp_compact_text(&m->c, cwd) : 0;
	h->papi_library = sp_compact_text(&m->c, m->all->plan->papi);
	h->cpus_allowed = sp_compact_text(&m->c, m->allowed);
}

static bool has_rows(const struct store_writer *m, const struct sp_stat_process *p)
{
	for (uint32_t i = 0; i < p->rows; i++)
		if (m->has_row[p->first + i])
			return true;
	return false;
}

static const struct sp_stat_process *first_process(const struct store_writer *m)
{
	const struct sp_stat_who *w = &m->r->who;
	for (uint32_t i = 0; i < w->n_processes; i++)
		if (w->process[i].pid == m->r->child.pid)
			return &w->process[i];
	return w->process;		/* the first of several attached processes has ended */
}

/* Sort as readers expect: by rank, machine, start and pid. Here rank and machine are the same
 * for all. */
static int by_start(const void *a, const void *b)
{
	const struct sp_stat_process *x = *(const struct sp_stat_process *const *)a,
				     *y = *(const struct sp_stat_process *const *)b;

	return SP_COMPARE(x->start_ns, y->start_ns) ?: SP_COMPARE(x->pid, y->pid);
}

static sp_off write_member(struct store_writer *m, const struct sp_stat_process *p, bool first)
{
	struct sp_member to = { .next = 0 };
	sp_off at = sp_compact_begin(&m->c, SP_BLOCK_MEMBER, sizeof(to));

	sp_compact_end(&m->c);
	fill_header(m, &to.h, p);
	sp_header_begin(&to.h);
	if (m->all->repeats > 1)
		to.h.stat |= ((uint64_t)(m->r - m->all->run) / m->all->plan->n_rounds + 1)
			     << SP_STAT_RUN_SHIFT;
	write_threads(m, p, first, &to.h);
	to.extent = sp_compact_offset(&m->c) - at;
	sp_compact_rewrite(&m->c, at + sizeof(to.b), &to.next, sizeof(to) - sizeof(to.b));
	return at;
}

/* Write the members of the current run. before: last member of the previous run, or 0. Returns
 * the last one. */
static sp_off write_members(struct store_writer *m, sp_off before, uint32_t *n)
{
	const struct sp_stat_who *w = &m->r->who;
	const struct sp_stat_process *first = first_process(m),
				     **p = sp_check_alloc(calloc(w->n_processes + 1, sizeof(*p)));
	uint32_t k = 0;

	for (uint32_t i = 0; i < w->n_processes; i++)
		if (&w->process[i] == first || has_rows(m, &w->process[i]))
			p[k++] = &w->process[i];
	qsort(p, k, sizeof(*p), by_start);
	for (uint32_t i = 0; i < k; i++) {
		sp_off at = write_member(m, p[i], p[i] == first);

		if (before)
			sp_compact_rewrite(&m->c, before + offsetof(struct sp_member, next), &at,
					 sizeof(at));
		before = at;
	}
	free(p);
	*n += k;
	return before;
}

static void begin_run(struct store_writer *m, const struct sp_stat_run *r)
{
	m->r = r;
	m->n_now = m->n_machine_events = 0;
	for (uint32_t i = 0; i < m->k; i++) {
		const struct sp_stat_event *e = &m->all->plan->event[m->event[i]];

		if (e->round == r->c.round && e->is_machine_wide)
			m->machine_event[m->n_machine_events++] = i;
		else if (e->round == r->c.round && !e->formula)
			m->now[m->n_now++] = i;
	}
	choose_rows(m);
}

/* ---- the store ---------------------------------------------------------- */

static void list_allowed(struct store_writer *m)
{
	const struct sp_stat_counters *c = &m->r->c;
	unsigned long set[SET_WORDS] = { 0 };

	for (uint32_t k = 0; k < c->n_cpus; k++)
		if (c->cpu[k] != SP_NO_CPU)
			add_cpu(set, c->cpu[k]);
	cpu_list(set, m->allowed, sizeof(m->allowed));
}

/* Fill in the header of all runs: the first process, and the times. */
static void write_front(struct store_writer *m, struct sp_header *h)
{
	const struct sp_stat_all *a = m->all;

	begin_run(m, &a->run[0]);
	fill_header(m, h, first_process(m));
	sp_header_begin(h);
	sp_header_finish(h);
	h->process.start_ns = a->run[0].child.start_ns;
	h->process.end_ns = a->run[a->n - 1].child.end_ns;
	h->call_names = sp_compact_words(&m->c, "", 0);
	h->lists.events = write_events(m);
	h->lists.n_events = m->k;
}

void sp_stat_store(struct sp_out *o, struct sp_stat_all *a)
{
	struct store_writer m = { .c = { .o = o }, .all = a };
	const struct sp_stat_topo *t = &a->topo;
	sp_off last = 0;
	struct sp_header h = { 0 };
	int pmus;

	gethostname(m.host, sizeof(m.host) - 1);
	m.r = &a->run[0];
	list_allowed(&m);
	pmus = sp_core_pmus(SP_PMUS_DIR, m.pmu);
	m.n_pmus = (uint32_t)(pmus < 0 ? 0 : pmus);
	choose_events(&m);
	sp_out_repeat(o, '\0', sizeof(h));
	note_elsewhere(&m);
	note_io(&m);
	note_gauges(&m);
	note_escaped(&m);
	note_missing(&m);
	write_front(&m, &h);
	h.compact.machines =
		sp_compact_machine(&m.c, h.process.host, &t->tree, t->tree.n ? t->source : NULL);
	h.compact.n_machines = 1;
	h.compact.members = o->used;
	for (uint32_t i = 0; i < a->n; i++) {
		begin_run(&m, &a->run[i]);
		last = write_members(&m, last, &h.compact.n_members);
	}
	note_end(&m);
	note_events(&m);
	note_kernel(&m);
	note_rows(&m);
	note_interval(&m);
	note_attached(&m);
	h.lists.notes = m.notes;
	h.lists.n_notes = m.n_notes;
	h.stat |= a->repeats > 1 ? (uint64_t)a->repeats << SP_STAT_RUN_SHIFT : 0;
	h.used = o->used;
	sp_out_overwrite(o, 0, &h, sizeof(h));
	free(m.has_row);
	free(m.rest);
}
