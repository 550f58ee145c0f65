/* merge-front.c: writes a merged store's header, common texts, notes, events and calls. */
#include "merge-common.h"

/* ---- common texts ------------------------------------------------------- */

static void common_text(struct merge *g, unsigned which, const char *text, size_t bytes)
{
	if (g->n == 1) {
		g->common[which].text = sp_check_alloc(malloc(bytes + 1));
		memcpy(g->common[which].text, text, bytes);
		g->common[which].bytes = bytes;
	} else if (bytes != g->common[which].bytes ||
		   memcmp(g->common[which].text, text, bytes) != 0) {
		g->common[which].bytes = 0;
	}
}

static sp_off *field(const struct sp_header *h, unsigned which)
{
	static const size_t at[COMMONS] = {
		[COMMON_HOST] = offsetof(struct sp_header, process.host),
		[COMMON_EXE] = offsetof(struct sp_header, process.exe),
		[COMMON_ARGS] = offsetof(struct sp_header, process.args),
		[COMMON_JOB] = offsetof(struct sp_header, process.job),
		[COMMON_CWD] = offsetof(struct sp_header, process.cwd),
		[COMMON_LIBRARY] = offsetof(struct sp_header, papi_library),
		[COMMON_ALLOWED] = offsetof(struct sp_header, cpus_allowed),
		[COMMON_PMUS] = offsetof(struct sp_header, pmus),
	};

	return (sp_off *)((char *)h + at[which]);
}

static void common_texts(struct merge *g, const struct sp_model *m, const struct sp_header *h)
{
	const char *text;

	for (unsigned i = 0; i < COMMONS; i++) {
		text = sp_model_text(m, *field(h, i));
		if (i != COMMON_ARGS)
			common_text(g, i, text, strlen(text));
	}
	g->key.used = 0;
	for (uint32_t i = 0;
	     (text = sp_store_reader_text_at(m->reader, h->process.args, i)) != NULL; i++)
		sp_bytes_add(&g->key, text, strlen(text) + 1);
	common_text(g, COMMON_ARGS, (const char *)g->key.at, g->key.used);
}

/* Returns the end that users most need to see. */
static uint32_t worse_end(uint32_t a, uint32_t b)
{
	static const uint32_t order[] = { SP_END_EXIT,	   SP_END_EXEC, SP_END__EXIT,
					  SP_END_SNAPSHOT, SP_END_NONE, SP_END_RECOVERED };
	unsigned x = 0, y = 0;

	for (unsigned i = 0; i < SP_COUNT(order); i++) {
		x = order[i] == a ? i : x;
		y = order[i] == b ? i : y;
	}
	return order[sp_max(x, y)];
}

static void common_numbers(struct merge *g, const struct sp_header *h)
{
	struct sp_header *to = &g->h, all;

	sp_header_copy(&all, h);
	h = &all;
	if (g->n == 1) {
		*to = (struct sp_header){
			.end = h->end,
			.process.pid = h->process.pid,
			.process.ppid = h->process.ppid,
			.process.start_ticks = h->process.start_ticks,
			.process.pid_ns = h->process.pid_ns,
			.process.start_ns = h->process.start_ns,
			.process.end_ns = h->process.end_ns,
			.process.rank = h->process.rank,
			.papi_version = h->papi_version,
			.attribution = h->attribution,
			.readings = h->readings,
			.callsites = h->callsites,
			.readings_max = h->readings_max,
			.dropped_readings = h->dropped_readings,
			.cpu_max_khz = h->cpu_max_khz,
			.dropped_relations = h->dropped_relations,
			.self_calls = h->self_calls,
			.self_ns = h->self_ns,
			.stat = h->stat,
			.time.cpu_ns = h->time.cpu_ns,
			.time.counted_ns = h->time.counted_ns,
			.time.counted_more_ns = h->time.counted_more_ns,
			.time.prepare_ns = h->time.prepare_ns,
		};
		memcpy(to->process.boot_id, h->process.boot_id, sizeof(to->process.boot_id));
		return;
	}
	to->process.pid = to->process.pid == h->process.pid ? h->process.pid : 0;
	to->process.ppid = to->process.ppid == h->process.ppid ? h->process.ppid : 0;
	to->process.rank = to->process.rank == h->process.rank ? h->process.rank : -1;
	to->end = worse_end(to->end, h->end);
	to->process.start_ns = sp_min(to->process.start_ns, h->process.start_ns);
	to->process.end_ns = sp_max(to->process.end_ns, h->process.end_ns);
	to->papi_version = (uint32_t)sp_max(to->papi_version, h->papi_version);
	to->attribution = (uint32_t)sp_min(to->attribution, h->attribution);
	to->readings = (uint32_t)sp_max(to->readings, h->readings);
	to->callsites = (uint32_t)sp_max(to->callsites, h->callsites);
	to->readings_max = sp_max(to->readings_max, h->readings_max);
	to->cpu_max_khz = sp_max(to->cpu_max_khz, h->cpu_max_khz);
	to->dropped_readings += h->dropped_readings;
	to->dropped_relations += h->dropped_relations;
	to->self_calls += h->self_calls;
	to->self_ns += h->self_ns;
	to->time.cpu_ns = to->time.cpu_ns && h->time.cpu_ns ? to->time.cpu_ns + h->time.cpu_ns : 0;
	to->time.counted_ns += h->time.counted_ns;
	to->time.counted_more_ns =
		sp_counted_add(to->time.counted_more_ns, h->time.counted_more_ns);
	to->time.prepare_ns += h->time.prepare_ns;
	to->stat = (to->stat & h->stat & ((1u << SP_STAT_RUN_SHIFT) - 1)) |
		   sp_max(to->stat, h->stat) >> SP_STAT_RUN_SHIFT << SP_STAT_RUN_SHIFT;
}

static void common_notes(struct merge *g, const struct sp_model *m)
{
	const char *text;

	for (uint32_t i = 0; (text = sp_model_note_of(m, 0, i)) != NULL; i++) {
		uint32_t n = sp_names_number(&g->notes, text, strlen(text));

		g->note_count =
			sp_grow_array(g->note_count, &g->note_room, n + 1, sizeof(*g->note_count));
		g->note_count[n]++;
	}
}

void merge_common(struct merge *g, struct sp_model *m)
{
	const struct sp_header *h = m->process[0].h;

	common_numbers(g, h);
	common_texts(g, m, h);
	common_notes(g, m);
}

/* ---- writing --------------------------------------------------------------- */

/* Names an event with its modes, since user-mode page faults and all page faults are two events:
 * "perf::PAGE-FAULTS (user)". */
static char *name_with_modes(const struct merge *g, uint32_t place)
{
	const char *own = (const char *)g->events.name[g->event_order[place]].key;
	uint32_t domain = g->event[g->event_order[place]].domain;
	char words[48], *name;
	bool other = false;

	for (uint32_t i = 0; i < g->n_events; i++)
		other = other ||
			(i != place && g->event[g->event_order[i]].domain != domain &&
			 strcmp((const char *)g->events.name[g->event_order[i]].key, own) == 0);
	if (!other || !domain)
		return sp_check_alloc(strdup(own));
	return asprintf(&name, "%s (%s)", own, sp_domain_words(domain, words)) < 0
		       ? sp_check_alloc(NULL)
		       : name;
}

static void front_events(struct merge *g)
{
	for (uint32_t i = 0; i < g->n_events; i++) {
		const struct merge_event *e = &g->event[g->event_order[i]];
		const struct sp_store_reader reader = { .base = e->blob, .bytes = e->bytes };
		char *name = name_with_modes(g, i);
		struct sp_event is = *(const struct sp_event *)(e->blob + e->bytes - sizeof(is));

		is.id = i;
		g->h.lists.events = sp_compact_event(&g->c, &reader, &is, name, g->h.lists.events);
		free(name);
	}
	g->h.lists.n_events = g->n_events;
}

static void front_calls(struct merge *g)
{
	g->key.used = 0;
	for (uint32_t i = 0; i < g->calls.n; i++) {
		const char *name = (const char *)g->calls.name[g->call_order[i]].key;

		sp_bytes_add(&g->key, name, strlen(name) + 1);
	}
	g->h.call_names = sp_compact_words(&g->c, (const char *)g->key.at, g->key.used);
}

/* Writes each text once, with the number of processes that have it. */
static void front_notes(struct merge *g)
{
	uint32_t *order, *rank;

	sp_names_sort(&g->notes, &order, &rank);
	for (uint32_t i = g->notes.n; i-- > 0;) {
		const struct sp_name *note = &g->notes.name[order[i]];
		char more[64] = "";

		if (g->n > 1)
			snprintf(more, sizeof(more), " (in %llu of %u processes)",
				 (unsigned long long)g->note_count[order[i]], g->n);
		g->h.lists.notes =
			sp_compact_note(&g->c, g->h.lists.notes, (const char *)note->key, more);
	}
	g->h.lists.n_notes = g->notes.n;
	free(order);
	free(rank);
}

int merge_write_front(struct merge *g)
{
	struct sp_header *h = &g->h;

	sp_out_repeat(&g->out, '\0', sizeof(*h));
	for (unsigned i = 0; i < COMMONS; i++) {
		const char *text = g->common[i].text;
		size_t bytes = g->common[i].bytes;

		g->common[i].text[bytes] = 0;
		*field(h, i) = i == COMMON_ARGS && bytes ? sp_compact_words(&g->c, text, bytes)
							 : sp_compact_text(&g->c, text);
	}
	front_calls(g);
	front_events(g);
	merge_write_sites(g);
	front_notes(g);
	h->compact.machines = sp_compact_offset(&g->c);
	return g->out.error;
}

/* Writes the header last: an incomplete file has no magic and is not a store. */
int merge_write_header(struct merge *g, int fd)
{
	struct sp_header *h = &g->h;
	int e = sp_out_finish(&g->out);

	if (e < 0)
		return e;
	sp_header_begin(h);
	sp_header_finish(h);
	h->used = g->out.written;
	h->compact.members = g->members;
	h->compact.n_members = g->n;
	h->compact.n_machines = g->machines.n;
	if (g->n > 1) {
		h->process.start_ticks = h->process.pid_ns = 0;
		memset(h->process.boot_id, 0, sizeof(h->process.boot_id));
	}
	return pwrite(fd, h, sizeof(*h), 0) == (ssize_t)sizeof(*h) ? 0 : -errno;
}

void merge_free(struct merge *g)
{
	struct sp_names *const names[] = {
		&g->events, &g->calls, &g->machines.names, &g->machines.topologies, &g->notes,
		&g->sites,  &g->lists, &g->machines.boots, &g->own_modules
	};
	void *const arrays[] = {
		g->site_order,		 g->site_rank,	    g->site_map,      g->event,
		g->event_order,		 g->event_rank,	    g->call_order,    g->call_rank,
		g->machines.at,		 g->machines.order, g->machines.rank, g->machines.map,
		g->machines.topology,	 g->process,	    g->note_count,    g->map,
		g->machines.boot_machine
	};

	merge_forget_map(g);

	for (uint32_t i = 0; i < g->events.n && i < g->event_room; i++)
		free(g->event[i].blob);
	for (uint32_t i = 0; i < g->machines.names.n && i < g->machines.room; i++)
		free(g->machines.at[i].disallowed);
	for (unsigned i = 0; i < COMMONS; i++)
		free(g->common[i].text);
	for (unsigned i = 0; i < SP_COUNT(names); i++)
		sp_names_free(names[i]);
	for (unsigned i = 0; i < SP_COUNT(arrays); i++)
		free(arrays[i]);
	sp_bytes_free(&g->key);
	free(g);
}
