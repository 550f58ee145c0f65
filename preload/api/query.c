/* query.c: sspapi.h's functions that query a relation: its entries, as in sys-sage, its totals and
 * its permanent readings. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/base/sys.h"
#include "../../core/model/format-common.h"
#include "api.h"

bool sp_api_row(struct sp_binding *p, struct sp_row *row)
{
	memset(row, 0, sizeof(*row));
	return sp_model_next(&p->model, row);
}

static int index_of(const struct sp_binding *p, int event)
{
	for (uint32_t e = 0; e < p->key.k; e++)
		if (p->codes[e] == event)
			return (int)e;
	return -1;
}

/* ---- one number --------------------------------------------------------- */

struct query {
	int cpu;			/* -1: all */
	uint64_t ns;
	bool known;			/* the CPU exists */
	int64_t entry, total, exact;
};

/* Add two values; floating-point counts are passed as their bits, as PAPI does. */
static void add(const struct sp_binding *p, int e, int64_t *to, int64_t x)
{
	*to = sp_plus(sp_event_type(&p->model, p->key.event[e]), *to, x);
}

/* Returns whether to include the CPU's entry. A gauge is not summed over CPUs: of all CPUs use the
 * last reading. */
static bool is_wanted_entry(const struct sp_binding *p, int e, const struct sp_row *row,
			    const struct sp_at_cpu *at, int cpu)
{
	return cpu >= 0 || !sp_event_is_gauge(&p->model, p->key.event[e]) ||
	       at->cpu == row->latest_cpu;
}

static void find_entry_in_cells(struct sp_binding *p, int e, struct query *q, uint64_t ns)
{
	struct sp_row row;
	struct sp_at_cpu at;
	const struct sp_reading *r;
	bool latest = false;

	if (!sp_api_row(p, &row))
		return;
	for (uint32_t i = 0; sp_row_cell(&p->model, &row, i, &at); i++) {
		if (q->cpu >= 0 && at.cpu != q->cpu)
			continue;
		q->known = true;
		latest = latest || (at.is_latest && at.entry_ns == ns);
		add(p, e, &q->total, at.total[e]);
		add(p, e, &q->exact, at.exact[e]);
		if ((at.has_entry || at.is_latest) && at.entry_ns == ns &&
		    is_wanted_entry(p, e, &row, &at, q->cpu))
			add(p, e, &q->entry, at.entry[e]);
	}
	if (!ns || latest)
		return;
	r = sp_readings_find(&sp_store.reader, p->relation->readings, ns);
	if (r && (q->cpu < 0 || r->cpu == q->cpu))
		add(p, e, &q->entry, r->value[e]);
}

static uint64_t latest(struct sspapi_relation *rel)
{
	struct sp_row row;

	if (rel->own)
		return rel->latest_ns;
	return rel->parts && sp_api_row(rel->parts, &row) ? row.latest_ns : 0;
}

/* Find the entry and totals. Values that do not exist are 0; invalid arguments set errno to
 * EINVAL. */
static struct query find_entry_at(const sspapi_relation *rel, int event, int cpu,
				     uint64_t timestamp)
{
	struct query q = { .cpu = cpu, .known = cpu < 0 };
	struct sp_lock_state lock_state;
	bool found = false;

	if (cpu < -1 || !sp_api_take(rel, &lock_state)) {
		errno = EINVAL;
		return q;
	}
	q.ns = timestamp ? timestamp : latest((struct sspapi_relation *)rel);
	for (struct sp_binding *p = rel->parts; p; p = p->next) {
		int e = index_of(p, event);

		if (e >= 0)
			find_entry_in_cells(p, e, &q, q.ns);
		found = found || e >= 0;
		q.known = q.known || (uint32_t)cpu < p->cells - SP_CELLS_EXTRA;
	}
	sp_api_give(rel, &lock_state);
	if (!found || !q.known)
		errno = EINVAL;
	return q;
}

SP_API long long sspapi_get_metric(const sspapi_relation *rel, int event, int cpu,
				   uint64_t timestamp)
{
	return find_entry_at(rel, event, cpu, timestamp).entry;
}

SP_API long long sspapi_total(const sspapi_relation *rel, int event, int cpu)
{
	return find_entry_at(rel, event, cpu, 0).total;
}

SP_API long long sspapi_exact(const sspapi_relation *rel, int event, int cpu)
{
	return find_entry_at(rel, event, cpu, 0).exact;
}

SP_API int sspapi_current_event_set(const sspapi_relation *rel)
{
	struct sp_lock_state lock_state;
	int es;

	if (!sp_api_take(rel, &lock_state)) {
		errno = EINVAL;
		return PAPI_EINVAL;
	}
	es = rel->current ? rel->current->relation->event_set : PAPI_NULL;
	sp_api_give(rel, &lock_state);
	return es;
}

SP_API int sspapi_latest_cpu(const sspapi_relation *rel)
{
	struct sp_lock_state lock_state;
	struct sp_row row;
	int cpu = -1;

	if (!sp_api_take(rel, &lock_state)) {
		errno = EINVAL;
		return -1;
	}
	cpu = rel->own || !rel->parts || !sp_api_row(rel->parts, &row) ? rel->latest_cpu
								       : row.latest_cpu;
	sp_api_give(rel, &lock_state);
	return cpu;
}

SP_API uint64_t sspapi_elapsed_time(const sspapi_relation *rel, uint64_t timestamp)
{
	uint64_t first = UINT64_MAX, to;
	struct sp_lock_state lock_state;

	if (!sp_api_take(rel, &lock_state)) {
		errno = EINVAL;
		return 0;
	}
	to = timestamp ? timestamp : latest((struct sspapi_relation *)rel);
	for (struct sp_binding *p = rel->parts; p; p = p->next)
		first = sp_min(first, load_relaxed(&p->relation->first_ns));
	sp_api_give(rel, &lock_state);
	return to > first ? to - first : 0;
}

/* ---- lists ---------------------------------------------------------------- */

static void append(int *to, int room, int *n, int x)
{
	for (int i = 0; i < *n && i < room; i++)
		if (to[i] == x)
			return;
	if (*n < room)
		to[*n] = x;
	(*n)++;
}

SP_API int sspapi_find_events(const sspapi_relation *rel, int *codes, int *n)
{
	struct sp_lock_state lock_state;
	int found = 0;

	if (!n || *n < 0 || (!codes && *n) || !sp_api_take(rel, &lock_state))
		return PAPI_EINVAL;
	for (struct sp_binding *p = rel->parts; p; p = p->next)
		for (uint32_t e = 0; e < p->key.k; e++) {
			bool before = false;

			for (struct sp_binding *o = rel->parts; o != p; o = o->next)
				before = before || index_of(o, p->codes[e]) >= 0;
			if (!before)
				append(codes, *n, &found, p->codes[e]);
		}
	sp_api_give(rel, &lock_state);
	*n = found;
	return PAPI_OK;
}

static bool part_has_cpu(struct sp_binding *p, int cpu, struct sp_row *row)
{
	struct sp_at_cpu at;

	for (uint32_t i = 0; sp_row_cell(&p->model, row, i, &at); i++)
		if (at.cpu == cpu)
			return at.has_entry || at.has_kept;
	return false;
}

bool sp_api_has_cpu(struct sspapi_relation *rel, int cpu)
{
	struct sp_row row;

	for (struct sp_binding *p = rel->parts; p; p = p->next)
		if (sp_api_row(p, &row) && part_has_cpu(p, cpu, &row))
			return true;
	return false;
}

SP_API int sspapi_find_cpus(const sspapi_relation *rel, int *cpus, int *n)
{
	struct sp_lock_state lock_state;
	struct sp_at_cpu at;
	struct sp_row row, other;
	int found = 0;

	if (!n || *n < 0 || (!cpus && *n) || !sp_api_take(rel, &lock_state))
		return PAPI_EINVAL;
	for (struct sp_binding *p = rel->parts; p; p = p->next) {
		if (!sp_api_row(p, &row))
			continue;
		for (uint32_t i = 0; sp_row_cell(&p->model, &row, i, &at); i++) {
			bool before = !at.has_entry && !at.has_kept;

			for (struct sp_binding *o = rel->parts; o != p; o = o->next)
				before = before ||
					 (sp_api_row(o, &other) && part_has_cpu(o, at.cpu, &other));
			if (!before)
				append(cpus, *n, &found, at.cpu);
		}
	}
	sp_api_give(rel, &lock_state);
	*n = found;
	return PAPI_OK;
}

/* ---- all entries ------------------------------------------------------------ */

/* A copy of the entries, valid until the calling thread's next call or its end. */
struct copy {
	uint64_t bytes;
	size_t n;
	struct sspapi_metric at[];
};

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void drop(void *copy)
{
	sp_unmap(copy, ((struct copy *)copy)->bytes);
}

static void make_key(void)
{
	pthread_key_create(&key, drop);
}

static struct copy *room_for(uint64_t n)
{
	uint64_t bytes = sp_align(sizeof(struct copy) + n * sizeof(struct sspapi_metric), 4096);
	struct copy *c;

	pthread_once(&once, make_key);
	c = pthread_getspecific(key);
	if (!c || c->bytes < bytes) {
		if (c)
			drop(c);
		c = sp_map(bytes);
		if (pthread_setspecific(key, c) != 0 || !c)
			return NULL;
		c->bytes = bytes;
	}
	c->n = 0;
	return c;
}

/* Copy permanent entries in their order, then temporary ones. Entries since the room was computed
 * are left to the next call. */
static void copy_part(struct sp_model *m, struct sp_row *row, int e, int cpu, struct copy *c,
		      uint64_t room)
{
	struct sp_kept at = { 0 };
	struct sp_at_cpu cell;

	for (uint64_t i = 0; i < row->kept && c->n < room && sp_row_kept(m, row, &at); i++)
		if (cpu < 0 || at.cpu == cpu)
			c->at[c->n++] = (struct sspapi_metric){ at.ns, at.value[e], true };
	for (uint32_t i = 0; sp_row_cell(m, row, i, &cell); i++)
		if ((cpu < 0 || cell.cpu == cpu) && cell.has_entry && c->n < room)
			c->at[c->n++] =
				(struct sspapi_metric){ cell.entry_ns, cell.entry[e], false };
}

/* A model of the n-th set with the event, the oldest being 0. Close it after PAPI_OK. */
struct part {
	struct sp_model model;
	struct sp_row row;
	int e;				/* index of the event in the set */
};

/* Open a part under the lock; copying it may take long and needs no lock. */
static int open_part(const struct sspapi_relation *rel, int event, unsigned n, struct part *is)
{
	struct sp_lock_state lock_state;
	unsigned all = 0;
	int rc = PAPI_ENOEVNT;

	if (!sp_api_take(rel, &lock_state))
		return PAPI_EINVAL;
	for (struct sp_binding *p = rel->parts; p; p = p->next)
		all += index_of(p, event) >= 0;
	for (struct sp_binding *p = rel->parts; p && rc == PAPI_ENOEVNT && n < all; p = p->next) {
		is->e = index_of(p, event);
		if (is->e < 0 || --all != n)
			continue;
		rc = sp_model_open_one(&is->model, &sp_store.reader, p->off, true) < 0 ? PAPI_ENOMEM
										  : PAPI_OK;
	}
	if (rc == PAPI_OK)
		sp_api_begin_read(rel);
	sp_api_give(rel, &lock_state);
	memset(&is->row, 0, sizeof(is->row));
	if (rc == PAPI_OK)
		sp_model_next(&is->model, &is->row);
	return rc;
}

static void close_part(const struct sspapi_relation *rel, struct part *is)
{
	sp_model_close(&is->model);
	sp_api_end_read(rel);
}

/* By time; at the same time permanent entries first. */
static int by_time(const void *a, const void *b)
{
	const struct sspapi_metric *x = a, *y = b;

	return x->timestamp != y->timestamp ? (x->timestamp < y->timestamp ? -1 : 1)
					    : y->permanent - x->permanent;
}

/* Entries of one set keep the order of its list; those of several sets are sorted by time. */
SP_API int sspapi_get_all_metrics(const sspapi_relation *rel, int event, int cpu,
				  struct sspapi_cpu_metrics *out)
{
	struct part is;
	struct copy *c;
	uint64_t room = 0;
	unsigned n = 0, copied = 0;
	int rc;

	if (!out || cpu < -1)
		return PAPI_EINVAL;
	for (; (rc = open_part(rel, event, n, &is)) == PAPI_OK; n++) {
		room += is.row.kept + is.row.cells;
		close_part(rel, &is);
	}
	if (rc != PAPI_ENOEVNT || !n)
		return rc;
	c = room_for(room);
	if (!c)
		return PAPI_ENOMEM;
	for (; copied < n && (rc = open_part(rel, event, copied, &is)) == PAPI_OK; copied++) {
		copy_part(&is.model, &is.row, is.e, cpu, c, room);
		close_part(rel, &is);
	}
	if (rc == PAPI_EINVAL || rc == PAPI_ENOMEM)
		return rc;
	if (copied > 1)
		qsort(c->at, c->n, sizeof(*c->at), by_time);
	*out = (struct sspapi_cpu_metrics){ cpu, c->n, c->at };
	return PAPI_OK;
}

/* ---- print --------------------------------------------------------------------- */

static const char *name_of(const struct sp_model *m, uint32_t id)
{
	return id < m->n_events && m->event[id] ? sp_model_text(m, m->event[id]->name) : "?";
}

/* A floating-point event's value is a double. */
static void print_value(const struct sp_event *v, uint64_t ns, int64_t value, bool permanent,
			FILE *out)
{
	const char *end = permanent ? "  permanent\n" : "\n";

	if (v && v->data_type == SP_FP64)
		fprintf(out, "  %llu  %.17g%s", (unsigned long long)ns, sp_float(value), end);
	else if (v && v->data_type != SP_INT64)
		fprintf(out, "  %llu  %llu%s", (unsigned long long)ns, (unsigned long long)value,
			end);
	else
		fprintf(out, "  %llu  %lld%s", (unsigned long long)ns, (long long)value, end);
}

static void print_list(struct sp_model *m, struct sp_row *row, const struct sp_at_cpu *at,
		       uint32_t e, FILE *out)
{
	const struct sp_event *v = row->event[e] < m->n_events ? m->event[row->event[e]] : NULL;
	struct sp_kept r = { 0 };

	fprintf(out, "event set %d, CPU %d, %s\n", row->event_set, at->cpu,
		name_of(m, row->event[e]));
	while (sp_row_kept(m, row, &r))
		if (r.cpu == at->cpu)
			print_value(v, r.ns, r.value[e], true, out);
	if (at->has_entry)
		print_value(v, at->entry_ns, at->entry[e], false, out);
}

static void print_part(struct sp_model *m, int cpu, FILE *out)
{
	struct sp_row row = { 0 };
	struct sp_at_cpu at;

	if (!sp_model_next(m, &row))
		return;
	for (uint32_t i = 0; sp_row_cell(m, &row, i, &at); i++)
		for (uint32_t e = 0;
		     e < row.k && (cpu < 0 || at.cpu == cpu) && (at.has_entry || at.has_kept); e++)
			print_list(m, &row, &at, e, out);
}

/* Print without the lock, since stdio takes locks. */
SP_API void sspapi_print_metrics(const sspapi_relation *rel, int cpu, FILE *out)
{
	struct sp_lock_state lock_state;
	struct sp_model m;
	struct sp_binding *p;
	bool open = true;

	if (!out || cpu < -1) {
		errno = EINVAL;
		return;
	}
	for (unsigned n = 0; open; n++) {
		if (!sp_api_take(rel, &lock_state)) {
			errno = EINVAL;
			return;
		}
		p = rel->parts;
		for (unsigned i = 0; p && i < n; i++)
			p = p->next;
		open = p && sp_model_open_one(&m, &sp_store.reader, p->off, true) == 0;
		if (open)
			sp_api_begin_read(rel);
		sp_api_give(rel, &lock_state);
		if (open) {
			print_part(&m, cpu, out);
			sp_model_close(&m);
			sp_api_end_read(rel);
		}
	}
}

/* ---- all relations --------------------------------------------------------- */

struct list {
	sspapi_relation **to;
	int room, n;
};

static bool add_one(struct sspapi_relation *rel, void *arg)
{
	struct list *l = arg;

	if (l->n < l->room)
		l->to[l->n] = rel;
	l->n++;
	return true;
}

SP_API int sspapi_relations(sspapi_relation **rels, int *n)
{
	struct list l = { .to = rels, .room = n ? *n : 0 };

	if (!n || *n < 0 || (!rels && *n))
		return PAPI_EINVAL;
	sp_api_each(add_one, &l);
	*n = l.n;
	return PAPI_OK;
}
