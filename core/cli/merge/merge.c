/* merge.c: reads the files and writes the merged store. */
#include "../../formats/format-writer.h"
#include "../../model/format-common.h"
#include "merge-common.h"
#include "merge.h"

/* ---- contents of a process ---------------------------------------------- */

/* Numbers an event by its identity: name (without modes that an earlier merge appended), modes,
 * component, unit, kind and place. `which` separates equal events of one process. */
static uint32_t event_number(struct merge *g, const struct sp_model *m, uint32_t e, uint32_t which)
{
	const struct sp_event *v = m->event[e];
	int32_t place_id = v->place == SP_PLACE_READING ? 0 : v->place_id;
	const char *name = SP_EVENT_TEXT(m, e, name);	/* clocks: `stat` gives their unit ns,
							 * PAPI does not */
	const char *part[] = { SP_EVENT_TEXT(m, e, component),
			       sp_name_is_clock(name) ? "" : SP_EVENT_TEXT(m, e, units) };
	unsigned char more[] = { v->data_type,	   v->kind,	      v->scope,
				 v->place,	   which >> 24 & 255, which >> 16 & 255,
				 which >> 8 & 255, which & 255,	      m->event_domain[e] };

	g->key.used = 0;
	sp_bytes_add(&g->key, name, sp_name_bytes(name));
	sp_bytes_add(&g->key, "", 1);
	for (unsigned i = 0; i < SP_COUNT(part); i++)
		sp_bytes_add(&g->key, part[i], strlen(part[i]) + 1);
	sp_bytes_add(&g->key, more, sizeof(more));
	sp_bytes_add(&g->key, &place_id, sizeof(place_id));
	return merge_number(g, &g->events, g->key.at, g->key.used);
}

/* Name in the event's key. */
static const char *name_of(const struct merge *g, uint32_t number)
{
	return (const char *)g->events.name[number].key;
}

/* Keeps the least of texts that vary between processes, such as the natives of a preset. */
static void take_event(struct merge *g, const struct sp_model *m, uint32_t e, uint32_t number)
{
	struct merge_event *to = &g->event[number];
	struct sp_event is = *m->event[e];
	struct sp_out o;
	struct sp_compact c = { .o = &o };

	sp_growing_init(&o);
	sp_compact_begin(&c, 0, sizeof(struct sp_block));	/* no text is at 0 */
	is.id = 0;
	to->domain = m->event_domain[e];
	to->counted = to->counted || m->event_counted[e];
	sp_compact_event(&c, m->reader, &is, name_of(g, number), 0);
	if (to->bytes) {
		int r = memcmp(o.buffer, to->blob, sp_min(o.used, to->bytes));

		if (r > 0 || (r == 0 && o.used >= to->bytes)) {
			free(o.buffer);
			return;
		}
	}
	free(to->blob);
	to->blob = (unsigned char *)o.buffer;
	to->bytes = o.used;
}

static uint32_t one_event(struct merge *g, const struct sp_model *m, uint32_t e)
{
	for (uint32_t which = 0;; which++) {
		uint32_t number = event_number(g, m, e, which);

		if (number == SP_NO_NAME)
			return SP_LEFT_OUT;
		g->event = sp_grow_array(g->event, &g->event_room, number + 1, sizeof(*g->event));
		if (g->event[number].last_process == g->turn)
			continue;
		g->event[number].last_process = g->turn;
		if (!g->second_pass)
			take_event(g, m, e, number);
		return number;
	}
}

/* Numbers the process's events and calls in order of appearance. */
static void number_all(struct merge *g, const struct sp_merge *job, const struct sp_model *m)
{
	const char *name;
	char buf[32];

	g->turn++;
	g->map = sp_grow_array(g->map, &g->map_room, m->n_events, sizeof(*g->map));
	for (uint32_t e = 0; e < m->n_events; e++)
		g->map[e] = !job->events || sp_in_list(job->events, sp_event_name(m, e, buf))
				    ? one_event(g, m, e)
				    : SP_LEFT_OUT;
	merge_number_sites(g, m);
	for (uint32_t i = 0; i < SP_CALLS_MAX; i++) {
		name = m->tally.calls[i] ? sp_model_call_name(m, i) : NULL;
		g->call_map[i] = name && *name ? merge_number(g, &g->calls, name, strlen(name))
					       : SP_LEFT_OUT;
	}
}

/* Numbers the list of events that the current process counted, in its order, which is that of
 * columns. */
static uint32_t list_number(struct merge *g, const struct sp_model *m)
{
	g->key.used = 0;
	for (uint32_t e = 0; e < m->n_events; e++)
		if (m->event_counted[e] && g->map[e] != SP_LEFT_OUT)
			sp_bytes_add(&g->key, &g->map[e], sizeof(g->map[e]));
	return sp_names_number(&g->lists, g->key.at ? (const void *)g->key.at : "", g->key.used);
}

/* ---- first pass --------------------------------------------------------- */

static void take_process(struct merge *g, const struct sp_merge *job, struct sp_source *s,
			 uint32_t file, uint32_t machine)
{
	const struct sp_header *h = s->model.process[0].h;
	struct merge_process *p;

	number_all(g, job, &s->model);
	g->process = sp_grow_array(g->process, &g->room, g->n + 1, sizeof(*g->process));
	p = &g->process[g->n++];
	*p = (struct merge_process){ .list = list_number(g, &s->model),
				     .rank = h->process.rank,
				     .start_ns = h->process.start_ns,
				     .pid = h->process.pid,
				     .file = file,
				     .machine = machine,
				     .at = s->at,
				     .digest = s->digest,
				     .once = sp_get_process_key(&s->model) };
	merge_common(g, &s->model);
}

/* Checks all processes of a file, since nothing of a damaged file may get into the result. */
static int check_file(struct sp_source *s, struct sp_digest *all)
{
	int e;

	*all = (struct sp_digest){ 0 };
	while ((e = sp_source_next(s)) == 1) {
		sp_digest_add(all, &s->digest, sizeof(s->digest));
		if (!s->h.compact.members)
			return 0;
	}
	if (e == 0)
		e = merge_check_machines(s);
	sp_source_seek(s, 0);
	return e;
}

static int by_place(const void *a, const void *b)
{
	const struct sp_merge_left *x = a, *y = b;

	return SP_COMPARE(x->file, y->file) ?: SP_COMPARE(x->at, y->at);
}

static bool is_left(const struct sp_merge *job, uint32_t file, sp_off at)
{
	const struct sp_merge_left this = { file, at };

	return job->n_left && bsearch(&this, job->left, job->n_left, sizeof(this), by_place);
}

static void take_unless_left(struct merge *g, const struct sp_merge *job, struct sp_source *s,
			     uint32_t file)
{
	if (!is_left(job, file, s->at))
		take_process(g, job, s, file, merge_machine(g, s, file));
}

/* Reads an undamaged merged store again, now for the result. -ESTALE: it has changed, and parts
 * are in the result. */
static int take_members(struct merge *g, const struct sp_merge *job, struct sp_source *s,
			uint32_t file)
{
	struct sp_digest all = { 0 };
	int e = merge_machines(g, s, file);

	while (e == 0 && (e = sp_source_next(s)) == 1) {
		sp_digest_add(&all, &s->digest, sizeof(s->digest));
		take_unless_left(g, job, s, file);
		e = 0;
	}
	return e == 0 && sp_digest_compare(&all, &job->read[file].digest) == 0 ? 0 : -ESTALE;
}

/* again: the file was undamaged before. */
static int take_file(struct merge *g, struct sp_merge *job, struct sp_source *s, uint32_t file,
		     bool again)
{
	struct sp_digest all;
	int e = sp_source_open(s, job->file[file]);

	if (e == 0)
		e = check_file(s, &all);
	if (again && (e < 0 || sp_digest_compare(&all, &job->read[file].digest) != 0))
		return -ESTALE;
	if (e < 0)
		return e;
	job->read[file].digest = all;
	if (s->h.compact.members)
		return take_members(g, job, s, file);
	take_unless_left(g, job, s, file);
	return 0;
}

/* again: only files that were undamaged. 0, or -ESTALE: g->file changed. */
static int take_files(struct merge *g, struct sp_merge *job, bool again)
{
	struct sp_source s = { .fd = -1 };
	int e = 0;

	for (unsigned i = 0; i < job->n_files && e != -ESTALE; i++) {
		if (job->read[i].bad)
			continue;
		g->file = i;
		e = take_file(g, job, &s, i, again);
		sp_source_close(&s);
		if (e < 0 && e != -ESTALE) {
			if (!job->quiet)
				sp_complain(1, job->verb, sp_file_why(e, job->file[i]),
					    job->file[i]);
			job->read[i].bad = true;
			job->n_bad++;
		}
	}
	sp_source_free(&s);
	return e == -ESTALE ? e : 0;
}

/* ---- the order ------------------------------------------------------------- */

/* Orders by identity, the most complete first; among equal files the one named first. */
static int by_identity(const void *a, const void *b)
{
	const struct merge_process *x = a, *y = b;

	return sp_process_key_compare(&x->once, &y->once) ?: SP_COMPARE(x->file, y->file) ?:
	       SP_COMPARE(x->at, y->at);
}

static int by_place_in_run(const void *a, const void *b)
{
	const struct merge_process *x = a, *y = b;

	return SP_COMPARE(x->rank, y->rank) ?: SP_COMPARE(x->machine, y->machine) ?:
	       SP_COMPARE(x->start_ns, y->start_ns) ?:
	       SP_COMPARE(x->pid, y->pid) ?: by_identity(x, y);
}

static void leave(struct sp_merge *job, const struct merge_process *p)
{
	job->left = sp_grow_array(job->left, &job->left_room, job->n_left + 1, sizeof(*job->left));
	job->left[job->n_left++] = (struct sp_merge_left){ p->file, p->at };
}

/* Marks processes to be left out, since another file has as much of them or more. */
static void find_repeated(struct merge *g, struct sp_merge *job)
{
	uint32_t first = 0;

	if (!g->n)
		return;
	qsort(g->process, g->n, sizeof(*g->process), by_identity);
	for (uint32_t i = 1; i < g->n; i++) {
		if (sp_is_same_process(&g->process[first].once, &g->process[i].once))
			leave(job, &g->process[i]);
		else
			first = i;
	}
	if (job->n_left)
		qsort(job->left, job->n_left, sizeof(*job->left), by_place);
}

/* Should an uncounted event be kept? Its name has no modes; drop it if a process counted it. */
static bool is_wanted_uncounted(const struct merge *g, uint32_t number)
{
	for (uint32_t i = 0; i < g->events.n; i++)
		if (i != number && g->event[i].counted &&
		    strcmp(name_of(g, i), name_of(g, number)) == 0)
			return false;
	return true;
}

/* Orders events as the first process counted them, then further ones of the next processes, then
 * uncounted ones by name. (Sorted by name, the clock of `stat` came after context switches, and
 * tables dropped it.) The order does not depend on how files are grouped, since a merged store
 * keeps it, process by process. */
static void sort_events(struct merge *g)
{
	bool *seen = sp_check_alloc(calloc(g->lists.n + 1, sizeof(*seen)));
	uint32_t n = 0, *by_name, *rank;

	sp_names_sort(&g->events, &by_name, &rank);
	g->event_order = sp_check_alloc(calloc(g->events.n + 1, sizeof(uint32_t)));
	g->event_rank = sp_check_alloc(calloc(g->events.n + 1, sizeof(uint32_t)));
	for (uint32_t i = 0; i < g->events.n; i++)
		g->event_rank[i] = UINT32_MAX;
	for (uint32_t i = 0; i <= g->n; i++) {
		const struct sp_name *list = i < g->n ? &g->lists.name[g->process[i].list] : NULL;
		const uint32_t *event = list ? (const uint32_t *)list->key : by_name;
		size_t most = list ? list->bytes / sizeof(*event) : g->events.n;

		for (size_t k = 0; k < most && !(list && seen[g->process[i].list]); k++)
			if (g->event_rank[event[k]] == UINT32_MAX &&
			    (list || is_wanted_uncounted(g, event[k]))) {
				g->event_rank[event[k]] = n;
				g->event_order[n++] = event[k];
			}
		if (list)
			seen[g->process[i].list] = true;
	}
	g->n_events = n;
	free(by_name);
	free(rank);
	free(seen);
}

static void sort(struct merge *g)
{
	sp_names_sort(&g->calls, &g->call_order, &g->call_rank);
	sp_names_sort(&g->sites, &g->site_order, &g->site_rank);
	merge_sort_machines(g);
	for (uint32_t i = 0; i < g->n; i++)
		g->process[i].machine = g->machines.rank[g->process[i].machine];
	qsort(g->process, g->n, sizeof(*g->process), by_place_in_run);
	sort_events(g);
}

/* ---- second pass -------------------------------------------------------- */

/* Merged stores that stay open, since the order alternates between them. */
#define OPEN_MOST 32

struct readers {
	struct sp_source plain;
	struct reader {
		struct sp_source s;
		uint32_t file;
		uint64_t used;
	} at[OPEN_MOST];
	uint64_t turn;
};

static int reader_for(struct readers *r, const struct sp_merge *job, const struct merge_process *p,
		      struct sp_source **s)
{
	struct reader *oldest = &r->at[0];

	if (!p->at) {
		*s = &r->plain;
		sp_source_close(*s);
		return sp_source_open(*s, job->file[p->file]);
	}
	for (unsigned i = 0; i < OPEN_MOST; i++) {
		if (r->at[i].s.fd >= 0 && r->at[i].file == p->file) {
			r->at[i].used = ++r->turn;
			*s = &r->at[i].s;
			return 0;
		}
		if (r->at[i].used < oldest->used)
			oldest = &r->at[i];
	}
	sp_source_close(&oldest->s);
	oldest->file = p->file;
	oldest->used = ++r->turn;
	*s = &oldest->s;
	return sp_source_open(*s, job->file[p->file]);
}

/* Do several of the process's sites have one number? */
static bool are_joined(const struct merge *g, uint32_t n)
{
	static bool seen_sites[SP_SITES_MOST + 1];
	bool joined = false;

	memset(seen_sites, 0, sizeof(seen_sites));
	for (uint32_t id = 1; id < n; id++) {
		joined |= g->site_map[id] && seen_sites[g->site_map[id]];
		seen_sites[g->site_map[id]] = true;
	}
	return joined;
}

static int write_process(struct merge *g, const struct sp_merge *job, struct readers *r, uint32_t i)
{
	const struct merge_process *p = &g->process[i];
	static uint32_t kept[SP_EVENTS_MAX];
	struct sp_compact_map with = { .call = g->call_map,
				       .n_calls = g->calls.n,
				       .machine = p->machine,
				       .event = g->map,
				       .kept = kept,
				       .module = merge_own_module,
				       .arg = g };
	struct sp_source *s;

	g->file = p->file;
	if (reader_for(r, job, p, &s) < 0)
		return -ESTALE;
	sp_source_seek(s, p->at);
	if (sp_source_next(s) != 1)
		return -ESTALE;
	number_all(g, job, &s->model);
	if (g->changed || sp_digest_compare(&s->digest, &p->digest) != 0)
		return -ESTALE;
	for (uint32_t e = 0; e < s->model.n_events; e++)
		if (g->map[e] != SP_LEFT_OUT)
			g->map[e] = g->event_rank[g->map[e]];
	for (uint32_t n = 0; n < SP_CALLS_MAX; n++)
		if (g->call_map[n] != SP_LEFT_OUT)
			g->call_map[n] = g->call_rank[g->call_map[n]];
	for (uint32_t id = 1; id < s->model.n_callsites; id++) {
		uint32_t to = g->site_map[id] ? g->site_rank[g->site_map[id] - 1] + 1 : 0;

		/* sites without room are "other" */
		g->site_map[id] = to <= SP_SITES_MOST ? to : 0;
	}
	with.site = g->site_map;
	with.joined = are_joined(g, s->model.n_callsites);
	sp_names_free(&g->own_modules);
	sp_compact_process(&g->c, &s->model, &with, NULL, i + 1 < g->n);
	return g->out.error;
}

static int write_processes(struct merge *g, const struct sp_merge *job)
{
	struct readers *r = sp_check_alloc(calloc(1, sizeof(*r)));
	int e = 0;

	r->plain.fd = -1;
	for (unsigned i = 0; i < OPEN_MOST; i++)
		r->at[i].s.fd = -1;
	for (uint32_t i = 0; e == 0 && i < g->n; i++)
		e = write_process(g, job, r, i);
	for (unsigned i = 0; i < OPEN_MOST; i++)
		sp_source_free(&r->at[i].s);
	sp_source_free(&r->plain);
	free(r);
	return e;
}

int sp_merge_files(struct sp_merge *job, int fd)
{
	struct merge *g = sp_check_alloc(calloc(1, sizeof(*g)));
	int e;

	job->read = sp_check_alloc(calloc(job->n_files + 1, sizeof(*job->read)));
	e = take_files(g, job, false);
	if (e == 0)
		find_repeated(g, job);
	if (e == 0 && job->n_left) {
		merge_free(g);
		g = sp_check_alloc(calloc(1, sizeof(*g)));
		e = take_files(g, job, true);
	}
	if (e == 0 && !g->n)
		e = -ENODATA;
	if (e == 0) {
		sort(g);
		g->second_pass = true;
		sp_out_init(&g->out, fd, g->buffer, sizeof(g->buffer));
		g->out.own = true;
		g->c.o = &g->out;
		e = merge_write_front(g);
	}
	if (e == 0)
		e = merge_write_machines(g, job->file);
	if (e == 0) {
		g->members = sp_compact_offset(&g->c);
		e = write_processes(g, job);
	}
	if (e == 0)
		e = merge_write_header(g, fd);
	if (e == -ESTALE)
		job->changed = job->file[g->file];
	merge_free(g);
	free(job->left);
	free(job->read);
	job->left = NULL;
	job->read = NULL;
	return e;
}
