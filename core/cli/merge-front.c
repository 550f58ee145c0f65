/* merge-front.c: the header of a merged store, with what its processes have in common,
 * their notes, and the lists of events and calls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../view/view-common.h"
#include "merge-common.h"

/* ---- what is common ------------------------------------------------------- */

static void common_text(struct merge *g, unsigned which, const char *text, size_t bytes)
{
	if (g->n == 1) {
		g->common[which].text = sp_need(malloc(bytes + 1));
		memcpy(g->common[which].text, text, bytes);
		g->common[which].bytes = bytes;
	} else if (bytes != g->common[which].bytes || memcmp(g->common[which].text, text, bytes) != 0) {
		g->common[which].bytes = 0;
	}
}

static void common_texts(struct merge *g, const struct sp_model *m, const struct sp_header *h)
{
	const struct {
		unsigned which;
		sp_off at;
	} texts[] = { { COMMON_HOST, h->host }, { COMMON_EXE, h->exe }, { COMMON_JOB, h->job },
		      { COMMON_CWD, h->cwd }, { COMMON_LIBRARY, h->papi_library },
		      { COMMON_ALLOWED, h->cpus_allowed }, { COMMON_PMUS, h->pmus } };
	const char *text;

	for (unsigned i = 0; i < SP_COUNT(texts); i++) {
		text = sp_model_text(m, texts[i].at);
		common_text(g, texts[i].which, text, strlen(text));
	}
	g->key.used = 0;
	for (uint32_t i = 0; (text = sp_image_text_at(m->image, h->args, i)) != NULL; i++)
		sp_bytes_add(&g->key, text, strlen(text) + 1);
	common_text(g, COMMON_ARGS, (const char *)g->key.at, g->key.used);
}

/* How it ended, of several: what a reader must know of most. */
static uint32_t worse_end(uint32_t a, uint32_t b)
{
	static const uint32_t order[] = { SP_END_EXIT, SP_END_EXEC, SP_END__EXIT, SP_END_SNAPSHOT, SP_END_NONE,
					  SP_END_RECOVERED };
	unsigned x = 0, y = 0;

	for (unsigned i = 0; i < SP_COUNT(order); i++) {
		x = order[i] == a ? i : x;
		y = order[i] == b ? i : y;
	}
	return order[sp_max(x, y)];
}

static void common_numbers(struct merge *g, const struct sp_header *h)
{
	struct sp_header *to = &g->h;

	if (g->n == 1) {
		*to = (struct sp_header){
			.end = h->end, .pid = h->pid, .ppid = h->ppid, .start_ticks = h->start_ticks, .pid_ns = h->pid_ns,
			.start_ns = h->start_ns, .end_ns = h->end_ns, .rank = h->rank, .papi_version = h->papi_version,
			.attribution = h->attribution, .readings = h->readings, .callsites = h->callsites,
			.readings_max = h->readings_max, .dropped_readings = h->dropped_readings,
			.cpu_max_khz = h->cpu_max_khz, .dropped_relations = h->dropped_relations, .self_calls = h->self_calls, .self_ns = h->self_ns,
			.stat = h->stat,
		};
		memcpy(to->boot_id, h->boot_id, sizeof(to->boot_id));
		return;
	}
	to->pid = to->pid == h->pid ? h->pid : 0;
	to->ppid = to->ppid == h->ppid ? h->ppid : 0;
	to->rank = to->rank == h->rank ? h->rank : -1;
	to->end = worse_end(to->end, h->end);
	to->start_ns = sp_min(to->start_ns, h->start_ns);
	to->end_ns = sp_max(to->end_ns, h->end_ns);
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
	to->stat = (to->stat & h->stat & ((1u << SP_STAT_RUN_SHIFT) - 1)) |
		   sp_max(to->stat, h->stat) >> SP_STAT_RUN_SHIFT << SP_STAT_RUN_SHIFT;
}

static void common_notes(struct merge *g, const struct sp_model *m)
{
	const char *text;

	for (uint32_t i = 0; (text = sp_model_note_of(m, 0, i)) != NULL; i++) {
		uint32_t n = sp_names_number(&g->notes, text, strlen(text));

		g->note_count = sp_room(g->note_count, &g->note_room, n + 1, sizeof(*g->note_count));
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

static sp_off front_text(struct merge *g, struct sp_bytes *b, unsigned which)
{
	g->common[which].text[g->common[which].bytes] = 0;
	return sp_bytes_text(b, g->common[which].text);
}

static void front_events(struct merge *g, struct sp_bytes *b)
{
	for (uint32_t i = 0; i < g->events.n; i++) {
		const struct merge_event *e = &g->event[g->event_order[i]];
		const struct sp_image image = { .base = e->blob, .bytes = e->bytes };
		uint64_t place = sp_encode_event(b, &image, (const struct sp_event *)e->blob, i);

		((struct sp_event *)sp_bytes_at(b, place))->next = g->h.events;
		g->h.events = b->origin + place;
	}
	g->h.n_events = g->events.n;
}

static void front_calls(struct merge *g, struct sp_bytes *b)
{
	uint64_t place = sp_bytes_block(b, SP_BLOCK_STRINGS, sizeof(struct sp_strings) + g->calls.n * sizeof(sp_off));

	((struct sp_strings *)sp_bytes_at(b, place))->n = g->calls.n;
	for (uint32_t i = 0; i < g->calls.n; i++) {
		sp_off at = sp_bytes_text(b, (const char *)g->calls.name[g->call_order[i]].key);

		((struct sp_strings *)sp_bytes_at(b, place))->at[i] = at;
	}
	g->h.call_names = b->origin + place;
}

/* Each text once, with how many processes say it. */
static void front_notes(struct merge *g, struct sp_bytes *b)
{
	uint32_t *order, *rank;

	sp_names_sort(&g->notes, &order, &rank);
	for (uint32_t i = g->notes.n; i-- > 0;) {
		const struct sp_name *note = &g->notes.name[order[i]];
		char more[64] = "";
		struct sp_note *to;
		uint64_t place;

		if (g->n > 1)
			snprintf(more, sizeof(more), " (in %llu of %u processes)",
				 (unsigned long long)g->note_count[order[i]], g->n);
		place = sp_bytes_block(b, SP_BLOCK_NOTE, sizeof(*to) + note->bytes + strlen(more) + 1);
		to = sp_bytes_at(b, place);
		to->next = g->h.notes;
		memcpy(to->text, note->key, note->bytes);
		strcpy(to->text + note->bytes, more);
		g->h.notes = b->origin + place;
	}
	g->h.n_notes = g->notes.n;
	free(order);
	free(rank);
}

int merge_write_front(struct merge *g)
{
	struct sp_bytes *b = &g->scratch;
	struct sp_header *h = &g->h;

	sp_bytes_clear(b, 0);
	sp_bytes_block(b, 0, sizeof(*h));
	h->host = front_text(g, b, COMMON_HOST);
	h->exe = front_text(g, b, COMMON_EXE);
	h->args = sp_bytes_words(b, g->common[COMMON_ARGS].text, g->common[COMMON_ARGS].bytes);
	h->job = front_text(g, b, COMMON_JOB);
	h->cwd = front_text(g, b, COMMON_CWD);
	h->papi_library = front_text(g, b, COMMON_LIBRARY);
	h->cpus_allowed = front_text(g, b, COMMON_ALLOWED);
	h->pmus = front_text(g, b, COMMON_PMUS);
	front_calls(g, b);
	front_events(g, b);
	merge_write_sites(g, b);
	front_notes(g, b);
	sp_out_bytes(&g->out, b->at, b->used);
	h->machines = b->used;
	return g->out.error;
}

/* Last: a file whose writer did not come so far has no magic and is no store. */
int merge_write_header(struct merge *g, int fd)
{
	struct sp_header *h = &g->h;
	int e = sp_out_finish(&g->out);

	if (e < 0)
		return e;
	memcpy(h->magic, SP_MAGIC, sizeof(h->magic));
	h->endian = SP_ENDIAN;
	h->version = SP_FORMAT_VERSION;
	h->oldest_reader = SP_FORMAT_OLDEST;
	h->bytes = sizeof(*h);
	h->used = g->out.written;
	h->members = g->members;
	h->n_members = g->n;
	h->n_machines = g->machines.n;
	if (g->n > 1) {
		h->start_ticks = h->pid_ns = 0;
		memset(h->boot_id, 0, sizeof(h->boot_id));
	}
	return pwrite(fd, h, sizeof(*h), 0) == (ssize_t)sizeof(*h) ? 0 : -errno;
}

void merge_free(struct merge *g)
{
	for (uint32_t i = 0; i < g->events.n && i < g->event_room; i++)
		free(g->event[i].blob);
	for (uint32_t i = 0; i < g->machines.n && i < g->machine_room; i++)
		free(g->machine[i].disallowed);
	for (unsigned i = 0; i < COMMONS; i++)
		free(g->common[i].text);
	sp_names_free(&g->events);
	sp_names_free(&g->calls);
	sp_names_free(&g->machines);
	sp_names_free(&g->topologies);
	sp_names_free(&g->notes);
	sp_names_free(&g->sites);
	free(g->site_order);
	free(g->site_rank);
	free(g->site_map);
	sp_bytes_free(&g->scratch);
	sp_bytes_free(&g->key);
	free(g->event);
	free(g->event_order);
	free(g->event_rank);
	free(g->call_order);
	free(g->call_rank);
	free(g->machine);
	free(g->machine_order);
	free(g->machine_rank);
	free(g->machine_map);
	free(g->topology);
	free(g->process);
	free(g->note_count);
	free(g->map);
	free(g->neutral);
	free(g);
}
