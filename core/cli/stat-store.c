/* stat-store.c: what was counted as a store: a merged one (format.h), with a member for each process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../conf.h"
#include "../cpu-list.h"
#include "../store/live.h"
#include "../view/view-common.h"
#include "cmd.h"
#include "stat.h"

#define ROWS_MOST 4096u			/* threads that stay apart; the others are one row */

struct making {
	struct sp_bytes *b;
	struct sp_stat_run *r;
	uint32_t k, event[SP_STAT_EVENTS];	/* those that were counted: their places in the plan */
	bool *apart;			/* [rows] */
	uint64_t folded;
	bool whole;			/* nothing that we know of is missing */
	int64_t *rest;			/* [n_cpus][n] what all that is apart leaves of the total */
	char allowed[2048], host[65];
	sp_off notes;
	uint32_t n_notes;
};

/* ---- what was counted, and what not ---------------------------------------------- */

/* All of whose natives can be had; else why not, in words. */
static const char *why_gone(const struct sp_stat_counters *c, const struct sp_stat_event *e)
{
	for (uint32_t t = 0; t < e->n; t++)
		if (c->refused[e->native[t]])
			return "not permitted: it happens in the kernel, which perf_event_paranoid lets this user not see";
	for (uint32_t t = 0; t < e->n; t++)
		if (c->short_of[e->native[t]])
			return "not counted: its counter did not run all the time; others had it, or there are more events than counters: "
			       "name fewer at once";
	return NULL;
}

static void choose_events(struct making *m)
{
	struct sp_stat_plan *p = m->r->c.plan;

	for (uint32_t e = 0; e < p->n_events; e++) {
		p->event[e].gone = why_gone(&m->r->c, &p->event[e]);
		if (!p->event[e].gone)
			m->event[m->k++] = e;
	}
}

/* Of one place in the arrays of values; whole numbers, as PAPI gives them. */
static int64_t value_of(const struct making *m, const int64_t *at, uint32_t cpu, uint32_t i)
{
	const struct sp_stat_event *e = &m->r->c.plan->event[m->event[i]];
	long double sum = 0;

	for (uint32_t t = 0; t < e->n; t++)
		sum += (long double)e->factor[t] * (long double)at[cpu * m->r->c.n + e->native[t]];
	return (int64_t)sum;
}

/* ---- the front ------------------------------------------------------------------- */

static sp_off texts(struct sp_bytes *b, const char *text, uint32_t bytes)
{
	uint32_t n = 0;
	uint64_t place;

	for (uint32_t i = 0; i < bytes; i += (uint32_t)strlen(text + i) + 1)
		n++;
	if (!n)
		return 0;
	place = sp_bytes_block(b, SP_BLOCK_STRINGS, sizeof(struct sp_strings) + n * sizeof(sp_off));
	((struct sp_strings *)sp_bytes_at(b, place))->n = n;
	n = 0;
	for (uint32_t i = 0; i < bytes; i += (uint32_t)strlen(text + i) + 1) {
		sp_off at = sp_bytes_text(b, text + i);

		((struct sp_strings *)sp_bytes_at(b, place))->at[n++] = at;
	}
	return b->origin + place;
}

static sp_off natives(struct sp_bytes *b, const struct sp_stat_plan *p, const struct sp_stat_event *e)
{
	struct sp_bytes all = { 0 };
	sp_off at;

	for (uint32_t t = 0; t < e->n; t++)
		sp_bytes_add(&all, p->native[e->native[t]].name, strlen(p->native[e->native[t]].name) + 1);
	at = texts(b, (char *)all.at, (uint32_t)all.used);
	sp_bytes_free(&all);
	return at;
}

static sp_off events(struct making *m)
{
	sp_off newest = 0;

	for (uint32_t i = 0; i < m->k; i++) {
		const struct sp_stat_event *e = &m->r->c.plan->event[m->event[i]];
		uint64_t place = sp_bytes_block(m->b, SP_BLOCK_EVENT, sizeof(struct sp_event));
		struct sp_event to = *(struct sp_event *)sp_bytes_at(m->b, place);

		to.next = newest;
		to.id = i;
		to.code = e->code;
		to.name = sp_bytes_text(m->b, e->name);
		to.component = sp_bytes_text(m->b, e->component);
		to.derived = sp_bytes_text(m->b, e->derived);
		to.postfix = sp_bytes_text(m->b, e->postfix);
		to.units = sp_bytes_text(m->b, e->units);
		to.description = sp_bytes_text(m->b, e->description);
		to.natives = natives(m->b, m->r->c.plan, e);
		*(struct sp_event *)sp_bytes_at(m->b, place) = to;
		newest = place;
	}
	return newest;
}

/* The newest first, so the last one that is to be read comes first. */
static void note(struct making *m, const char *text)
{
	uint64_t place = sp_bytes_block(m->b, SP_BLOCK_NOTE, sizeof(struct sp_note) + strlen(text) + 1);
	struct sp_note *to = sp_bytes_at(m->b, place);

	to->next = m->notes;
	strcpy(to->text, text);
	m->notes = place;
	m->n_notes++;
}

static uint64_t clocks(const struct sp_stat_counters *c)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < c->n_cpus; k++)
		sum += (uint64_t)c->value[k * c->n + c->clock];
	return sum;
}

/* Not all of what is a native's own reason is said for each preset: once an event. */
static void note_events(struct making *m)
{
	const struct sp_stat_plan *p = m->r->c.plan;
	char text[SP_STAT_NAME + 200];

	for (uint32_t e = 0; e < p->n_events; e++)
		if (p->event[e].gone) {
			snprintf(text, sizeof(text), "%s: %s", p->event[e].name, p->event[e].gone);
			note(m, text);
		}
}

static void notes(struct making *m)
{
	const struct sp_stat_run *r = m->r;
	uint64_t sum = clocks(&r->c), whole = r->c.whole_ns;
	char text[500];

	note_events(m);
	if (r->c.user_only)
		note(m, "what the kernel did for the program is not counted: perf_event_paranoid lets this user see user code only");
	/* The two clocks agree to the nanosecond where they are the same; a microsecond is nobody's visit. */
	m->whole = whole <= sum + 1000;
	if (!m->whole) {
		snprintf(text, sizeof(text), "%.3f of %.3f ms were spent on other CPUs than %.200s, to which the command is bound: what "
			 "was counted there is missing", (double)(whole - sum) / 1e6, (double)whole / 1e6, m->allowed);
		note(m, text);
	}
	if (r->why_no_rows)
		note(m, r->why_no_rows);
	if (r->who.lost) {
		snprintf(text, sizeof(text), "%llu records of threads that ended were lost, they came too fast: these threads are one row; "
			 "totals are whole", (unsigned long long)r->who.lost);
		note(m, text);
	}
	if (r->c.rows && r->who.running && !r->who.lost) {	/* (an end that was lost is none) */
		snprintf(text, sizeof(text), "%u %s still running when the program ended: what came after that is not here",
			 r->who.running, r->who.running == 1 ? "thread was" : "threads were");
		note(m, text);
	}
	for (uint32_t i = 0; i < r->who.n_processes; i++)
		if (r->who.process[i].escaped) {
			m->whole = false;
			snprintf(text, sizeof(text), "not counted: %.200s (pid %d) runs as another user, or from a file that this one may not read",
				 r->who.process[i].args ? r->who.process[i].args : "a program", r->who.process[i].pid);
			note(m, text);
		}
	if (m->folded) {
		snprintf(text, sizeof(text), "of more than %u threads those that ran shortest are one row", ROWS_MOST);
		note(m, text);
	}
}

/* ---- which threads stay apart -------------------------------------------------------- */

static int64_t clock_of(const struct sp_stat_counters *c, const struct sp_stat_row *row)
{
	int64_t sum = 0;

	for (uint32_t k = 0; k < c->n_cpus; k++)
		sum += row->at[k * c->n + c->clock];
	return sum;
}

static int downwards(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x > y ? -1 : x < y;
}

static void choose_rows(struct making *m)
{
	const struct sp_stat_counters *c = &m->r->c;
	const struct sp_stat_who *w = &m->r->who;
	int64_t *clock = sp_need(calloc(2 * (size_t)w->n + 1, sizeof(*clock))), *sorted = clock + w->n, least = INT64_MIN;
	uint32_t n = 0;

	m->apart = sp_need(calloc(w->n + 1, sizeof(*m->apart)));
	for (uint32_t i = 0; i < w->n; i++)
		sorted[i] = clock[i] = clock_of(c, &w->row[i]);
	qsort(sorted, w->n, sizeof(*sorted), downwards);
	if (w->n > ROWS_MOST)
		least = sorted[ROWS_MOST - 1];
	for (uint32_t i = 0; i < w->n; i++) {
		m->apart[i] = w->row[i].has_read && clock[i] >= least && n < ROWS_MOST;
		n += m->apart[i];
		m->folded += w->row[i].has_read && !m->apart[i];
	}
	free(clock);
	m->rest = sp_need(malloc((size_t)c->n_cpus * c->n * sizeof(*m->rest) + 1));
	memcpy(m->rest, c->value, (size_t)c->n_cpus * c->n * sizeof(*m->rest));
	for (uint32_t i = 0; i < w->n; i++)
		for (uint32_t v = 0; m->apart[i] && v < c->n_cpus * c->n; v++)
			m->rest[v] -= w->row[i].at[v];
}

/* ---- processes ------------------------------------------------------------------------- */

static bool is_used(const struct making *m, const int64_t *at, uint32_t cpu)
{
	const struct sp_stat_counters *c = &m->r->c;

	for (uint32_t i = 0; i < c->n; i++)
		if (at[cpu * c->n + i])
			return true;
	return false;
}

static void fill_cell(const struct making *m, struct sp_cell *to, const int64_t *at, uint32_t cpu)
{
	to->cpu = m->r->c.cpu[cpu];
	to->used = SP_CELL_USED;
	to->readings = 1;
	for (uint32_t i = 0; i < m->k; i++)
		to->at[SP_TOTAL * m->k + i] = to->at[SP_EXACT * m->k + i] = value_of(m, at, cpu, i);
}

/* Of what was counted in `at`; its place. */
static uint64_t relation(struct making *m, uint64_t thread, const int64_t *at, uint64_t threads, uint64_t first, uint64_t last)
{
	const struct sp_stat_counters *c = &m->r->c;
	uint32_t cells = 0, n = 0;
	struct sp_relation *r;
	struct sp_layout l;
	struct sp_times *t;
	uint64_t place;

	for (uint32_t k = 0; k < c->n_cpus; k++)
		cells += is_used(m, at, k);
	l = sp_settled_layout(m->k, cells);
	place = sp_bytes_block(m->b, SP_BLOCK_RELATION, l.bytes);
	r = sp_bytes_at(m->b, place);
	r->thread = m->b->origin + thread;
	r->event_set = -1;		/* none of the program's */
	r->k = m->k;
	r->cells = cells;
	r->scope = SP_SCOPE_THREAD;
	r->domain = c->user_only ? 1 : 3;
	r->flags = SP_RELATION_PROVEN | SP_BY_EXACT << SP_RELATION_HOW_SHIFT;
	r->threads = (uint32_t)threads;
	r->starts = 1;
	r->first_ns = first;
	r->last_ns = last;
	for (uint32_t i = 0; i < m->k; i++)
		((uint32_t *)(r + 1))[i] = i;
	t = sp_times_of(r, &l);
	t->flags = SP_TIMES_KNOWN;
	for (uint32_t k = 0; k < c->n_cpus; k++)
		if (is_used(m, at, k)) {
			fill_cell(m, (struct sp_cell *)((char *)r + l.cell + n * l.cell_bytes), at, k);
			t->at[n++] = (uint64_t)at[k * c->n + c->clock];
		}
	return place;
}

/* A thread's block and its relation; the thread's offset. */
static sp_off thread(struct making *m, sp_off before, int tid, const char *name, const int64_t *at, uint64_t threads,
		     uint64_t first, uint64_t last)
{
	uint64_t place = sp_bytes_block(m->b, SP_BLOCK_THREAD, offsetof(struct sp_thread, calls));
	uint64_t of = relation(m, place, at, threads, first, last);
	struct sp_thread *t = sp_bytes_at(m->b, place);

	t->next = before;
	t->tid = tid;
	t->threads = threads;
	t->n_relations = 1;
	t->relations = m->b->origin + of;
	memcpy(t->name, name, sp_min(strlen(name), sizeof(t->name) - 1));
	return m->b->origin + place;
}

static sp_off threads(struct making *m, const struct sp_stat_process *p, bool rest, uint32_t *n)
{
	const struct sp_stat_who *w = &m->r->who;
	sp_off newest = 0;

	*n = 0;
	for (uint32_t i = 0; i < p->rows; i++) {
		const struct sp_stat_row *row = &w->row[p->first + i];

		if (!m->apart[p->first + i])
			continue;
		newest = thread(m, newest, row->tid, row->name, row->at, 1, row->start_ns,
				row->end_ns ? row->end_ns : m->r->child.end_ns);
		++*n;
	}
	if (rest) {
		newest = thread(m, newest, 0, "", m->rest, w->rest + m->folded, m->r->child.start_ns, m->r->child.end_ns);
		++*n;
	}
	return newest;
}

/* The texts of a process, and of the store where it is the first. */
static void header(struct making *m, struct sp_header *h, const struct sp_stat_process *p)
{
	const struct sp_stat_run *r = m->r;
	const char *job = sp_conf_job();
	char cwd[PATH_MAX];

	h->version = SP_FORMAT_VERSION;
	h->bytes = sizeof(*h);
	h->end = p->end_ns ? SP_END_EXIT : SP_END_SNAPSHOT;
	h->pid = (uint32_t)p->pid;
	h->ppid = (uint32_t)p->ppid;
	h->start_ns = p->start_ns ? p->start_ns : r->child.start_ns;
	h->end_ns = p->end_ns ? p->end_ns : r->child.end_ns;
	h->rank = sp_conf_rank();
	h->papi_version = r->c.plan->papi_version;
	h->attribution = SP_BY_EXACT;
	h->stat = SP_STAT_OUTSIDE | (m->whole ? SP_STAT_WHOLE : 0);
	h->host = sp_bytes_text(m->b, m->host);
	h->exe = p->args ? sp_bytes_text(m->b, p->args) : 0;
	h->args = texts(m->b, p->args, p->args_bytes);
	h->job = job ? sp_bytes_text(m->b, job) : 0;
	h->cwd = getcwd(cwd, sizeof(cwd)) ? sp_bytes_text(m->b, cwd) : 0;
	h->papi_library = sp_bytes_text(m->b, r->c.plan->papi);
	h->cpus_allowed = sp_bytes_text(m->b, m->allowed);
}

static bool has_rows(const struct making *m, const struct sp_stat_process *p)
{
	for (uint32_t i = 0; i < p->rows; i++)
		if (m->apart[p->first + i])
			return true;
	return false;
}

static const struct sp_stat_process *first_process(const struct making *m)
{
	const struct sp_stat_who *w = &m->r->who;
	uint32_t i = 0;

	while (w->process[i].pid != m->r->child.pid)
		i++;
	return &w->process[i];
}

/* Readers want them by rank, machine, start and pid: here all are of one rank and machine. */
static int by_start(const void *a, const void *b)
{
	const struct sp_stat_process *x = *(const struct sp_stat_process *const *)a, *y = *(const struct sp_stat_process *const *)b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static uint64_t member(struct making *m, const struct sp_stat_process *p, bool rest)
{
	uint64_t place = sp_bytes_block(m->b, SP_BLOCK_MEMBER, sizeof(struct sp_member));
	struct sp_header h = { 0 };
	uint32_t n;

	header(m, &h, p);
	h.threads = threads(m, p, rest, &n);
	h.n_threads = h.n_relations = n;
	((struct sp_member *)sp_bytes_at(m->b, place))->h = h;
	((struct sp_member *)sp_bytes_at(m->b, place))->extent = m->b->used - place;
	return place;
}

/* How many. */
static uint32_t members(struct making *m)
{
	const struct sp_stat_who *w = &m->r->who;
	const struct sp_stat_process *first = first_process(m), **p = sp_need(calloc(w->n_processes + 1, sizeof(*p)));
	uint32_t n = 0;
	uint64_t before = 0;

	for (uint32_t i = 0; i < w->n_processes; i++)
		if (&w->process[i] == first || has_rows(m, &w->process[i]))
			p[n++] = &w->process[i];
	qsort(p, n, sizeof(*p), by_start);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t place = member(m, p[i], p[i] == first && w->rest + m->folded);

		if (i)
			((struct sp_member *)sp_bytes_at(m->b, before))->next = place;
		before = place;
	}
	free(p);
	return n;
}

/* ---- the machine ---------------------------------------------------------------------------- */

static sp_off topology(struct making *m, const struct sp_stat_topo *t)
{
	uint64_t kinds = sp_kinds_offset(t->n, t->xml_bytes), bytes = kinds + (t->n_kinds ? sizeof(struct sp_cpu_kinds) +
		t->n_kinds * sizeof(struct sp_cpu_kind) : 0), place;
	sp_off source = sp_bytes_text(m->b, t->source);
	struct sp_topology *to;

	place = sp_bytes_block(m->b, SP_BLOCK_TOPOLOGY, bytes);
	to = sp_bytes_at(m->b, place);
	to->n = t->n;
	to->n_cpus = t->n_cpus;
	to->source = source;
	to->xml_bytes = t->xml_bytes;
	for (uint32_t i = 0; i < t->n; i++) {
		to->at[i] = t->component[i];
		to->at[i].flags &= ~SP_COMPONENT_DISALLOWED;	/* said by the machine's block */
	}
	memcpy(to->at + t->n, t->xml, t->xml_bytes);
	if (t->n_kinds) {
		struct sp_cpu_kinds *k = (struct sp_cpu_kinds *)((char *)to + kinds);

		k->n = t->n_kinds;
		memcpy(k->at, t->kind, t->n_kinds * sizeof(*k->at));
	}
	return place;
}

static uint64_t machine(struct making *m)
{
	const struct sp_stat_topo *t = &m->r->topo;
	uint64_t words = (t->n + 63) / 64, place = sp_bytes_block(m->b, SP_BLOCK_MACHINE, sizeof(struct sp_machine) + words * 8);
	sp_off host = sp_bytes_text(m->b, m->host), at = t->n ? topology(m, t) : 0;
	struct sp_machine *to = sp_bytes_at(m->b, place);

	to->host = host;
	to->topology = at;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->component[i].flags & SP_COMPONENT_DISALLOWED)
			to->disallowed[i / 64] |= 1ull << i % 64;
	return place;
}

/* ---- all of it -------------------------------------------------------------------------------- */

static void cpu_list(struct making *m)
{
	const struct sp_stat_counters *c = &m->r->c;
	unsigned long set[65536 / 8 / sizeof(long)] = { 0 };
	struct sp_out o;

	for (uint32_t k = 0; k < c->n_cpus; k++)
		set[(unsigned)c->cpu[k] / (8 * sizeof(long))] |= 1ul << (unsigned)c->cpu[k] % (8 * sizeof(long));
	sp_out_init(&o, -1, m->allowed, sizeof(m->allowed) - 1);
	sp_out_cpu_list(&o, set, sizeof(set));
	m->allowed[o.error ? 0 : o.used] = 0;
}

/* Of the whole run: what the first process is, and how long it took. */
static void front(struct making *m, struct sp_header *h)
{
	const struct sp_stat_process *first = first_process(m);

	notes(m);
	header(m, h, first);
	memcpy(h->magic, SP_MAGIC, sizeof(h->magic));
	h->endian = SP_ENDIAN;
	h->oldest_reader = SP_FORMAT_OLDEST;
	h->start_ns = m->r->child.start_ns;
	h->end_ns = m->r->child.end_ns;
	h->call_names = sp_bytes_block(m->b, SP_BLOCK_STRINGS, sizeof(struct sp_strings));
	h->events = events(m);
	h->n_events = m->k;
	h->notes = m->notes;
	h->n_notes = m->n_notes;
}

void sp_stat_store(struct sp_bytes *b, struct sp_stat_run *r)
{
	struct making m = { .b = b, .r = r };
	struct sp_header h = { 0 };

	gethostname(m.host, sizeof(m.host) - 1);
	cpu_list(&m);
	choose_events(&m);
	choose_rows(&m);
	sp_bytes_clear(b, 0);
	sp_bytes_block(b, 0, sizeof(h));
	front(&m, &h);
	h.machines = machine(&m);
	h.n_machines = 1;
	h.members = b->used;
	h.n_members = members(&m);
	h.used = b->used;
	*(struct sp_header *)sp_bytes_at(b, 0) = h;
	free(m.apart);
	free(m.rest);
}
