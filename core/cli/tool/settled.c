/* settled.c: see settled.h. */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "settled.h"

/* ---- the buffer --------------------------------------------------------- */

void sp_bytes_clear(struct sp_bytes *b, uint64_t origin)
{
	b->used = 0;
	b->origin = origin;
}

void sp_bytes_free(struct sp_bytes *b)
{
	free(b->at);
	memset(b, 0, sizeof(*b));
}

static void make_room(struct sp_bytes *b, uint64_t bytes)
{
	if (bytes > b->room - b->used) {
		b->room = sp_max(2 * b->room, b->used + bytes);
		b->at = sp_need(realloc(b->at, b->room));
	}
}

void sp_bytes_add(struct sp_bytes *b, const void *bytes, size_t n)
{
	if (!n)				/* there may be no memory yet */
		return;
	make_room(b, n);
	memcpy(b->at + b->used, bytes, n);
	b->used += n;
}

uint64_t sp_bytes_block(struct sp_bytes *b, uint32_t kind, uint64_t bytes)
{
	uint64_t place = b->used;
	struct sp_block *head;

	bytes = sp_align(bytes, 8);
	if (bytes > UINT32_MAX)
		sp_need(NULL);		/* no block is that large: relations have at most 2^20 cells */
	make_room(b, bytes);
	memset(b->at + place, 0, bytes);
	head = (struct sp_block *)(b->at + place);
	head->kind = kind;
	head->bytes = (uint32_t)bytes;
	b->used += bytes;
	return place;
}

sp_off sp_bytes_like(struct sp_bytes *b, uint32_t kind, const void *like, uint64_t bytes)
{
	uint64_t place = sp_bytes_block(b, kind, bytes);

	memcpy(b->at + place + sizeof(struct sp_block), (const char *)like + sizeof(struct sp_block), bytes - sizeof(struct sp_block));
	return b->origin + place;
}

sp_off sp_bytes_text(struct sp_bytes *b, const char *text)
{
	size_t n = strlen(text);
	struct sp_string *s;
	uint64_t place;

	if (!n)
		return 0;
	place = sp_bytes_block(b, SP_BLOCK_STRING, sizeof(*s) + n + 1);
	s = sp_bytes_at(b, place);
	s->length = (uint32_t)n;
	memcpy(s->text, text, n);
	return b->origin + place;
}

sp_off sp_bytes_words(struct sp_bytes *b, const char *words, size_t bytes)
{
	uint32_t n = 0;
	uint64_t place;

	for (size_t i = 0; i < bytes; i += strlen(words + i) + 1)
		n++;
	if (!n)
		return 0;
	place = sp_bytes_block(b, SP_BLOCK_STRINGS, sizeof(struct sp_strings) + n * sizeof(sp_off));
	((struct sp_strings *)sp_bytes_at(b, place))->n = n;
	n = 0;
	for (size_t i = 0; i < bytes; i += strlen(words + i) + 1) {
		sp_off at = sp_bytes_text(b, words + i);

		((struct sp_strings *)sp_bytes_at(b, place))->at[n++] = at;
	}
	return b->origin + place;
}

sp_off sp_bytes_texts(struct sp_bytes *b, const struct sp_image *image, sp_off list)
{
	struct sp_bytes all = { 0 };
	const char *text;
	sp_off at;

	for (uint32_t i = 0; (text = sp_image_text_at(image, list, i)) != NULL; i++)
		sp_bytes_add(&all, text, strlen(text) + 1);
	at = sp_bytes_words(b, (char *)all.at, all.used);
	sp_bytes_free(&all);
	return at;
}

sp_off sp_settled_note(struct sp_bytes *b, sp_off before, const char *text, const char *more)
{
	uint64_t place = sp_bytes_block(b, SP_BLOCK_NOTE, sizeof(struct sp_note) + strlen(text) + strlen(more) + 1);
	struct sp_note *note = sp_bytes_at(b, place);

	note->next = before;
	strcat(strcpy(note->text, text), more);
	return b->origin + place;
}

/* ---- machines ------------------------------------------------------------ */

uint64_t sp_settled_machine(struct sp_bytes *b, const char *host, uint32_t words)
{
	uint64_t place = sp_bytes_block(b, SP_BLOCK_MACHINE, sizeof(struct sp_machine) + words * 8ull);
	sp_off text = sp_bytes_text(b, host);

	((struct sp_machine *)sp_bytes_at(b, place))->host = text;
	return place;
}

/* Which CPUs a process was not allowed the machine's block says. */
sp_off sp_settled_topology(struct sp_bytes *b, const struct sp_tree *tree, const char *source)
{
	sp_off text = sp_bytes_text(b, source);
	uint64_t place = sp_bytes_block(b, SP_BLOCK_TOPOLOGY, sp_tree_bytes(tree));
	struct sp_topology *to = sp_bytes_at(b, place);

	sp_tree_write(tree, to);
	to->source = text;
	for (uint32_t i = 0; i < to->n; i++)
		to->at[i].flags &= ~SP_COMPONENT_DISALLOWED;
	return b->origin + place;
}

/* ---- processes ----------------------------------------------------------- */

uint64_t sp_settled_thread(struct sp_bytes *b, sp_off before, int tid, const char *name, uint64_t threads)
{
	uint64_t place = sp_bytes_block(b, SP_BLOCK_THREAD, offsetof(struct sp_thread, calls));
	struct sp_thread *t = sp_bytes_at(b, place);

	t->next = before;
	t->tid = tid;
	t->threads = threads;
	memcpy(t->name, name, sp_min(strlen(name), sizeof(t->name) - 1));
	return place;
}

uint64_t sp_settled_relation(struct sp_bytes *b, uint64_t thread, const struct sp_relation *like, const uint32_t *event)
{
	uint64_t place = sp_bytes_block(b, SP_BLOCK_RELATION, sp_settled_layout(like->k, like->cells).bytes);
	struct sp_relation *r = sp_bytes_at(b, place);
	struct sp_thread *t = sp_bytes_at(b, thread);
	struct sp_block head = r->b;

	*r = *like;
	r->b = head;
	r->next = t->relations;
	r->thread = b->origin + thread;
	t->relations = b->origin + place;
	t->n_relations++;
	memcpy(r + 1, event, r->k * sizeof(*event));
	return place;
}

struct sp_cell *sp_settled_cell(struct sp_relation *r, uint32_t i)
{
	struct sp_layout l = sp_settled_layout(r->k, r->cells);

	return (struct sp_cell *)((char *)r + l.cell + i * l.cell_bytes);
}

struct sp_times *sp_settled_times(struct sp_relation *r)
{
	struct sp_layout l = sp_settled_layout(r->k, r->cells);

	return sp_times_of(r, &l);
}

void sp_settled_end(struct sp_bytes *b, uint64_t member)
{
	struct sp_member *p = sp_bytes_at(b, member);

	p->h.version = SP_FORMAT_VERSION;
	p->h.bytes = sizeof(p->h);
	p->extent = b->used - member;
}

/* ---- permanent readings ------------------------------------------------------------ */

/* Chunks of this many bytes, filled, whatever those of the process were. */
#define CHUNK_BYTES	65536u

static uint64_t new_chunk(struct sp_bytes *b, const struct sp_chunk *before, sp_off before_at, uint32_t k)
{
	uint32_t room = (uint32_t)sp_max(CHUNK_BYTES / sp_reading_bytes(k), 1);
	uint64_t first = before ? before->first + before->room : 0;
	uint32_t number = before ? before->number + 1 : 0;
	uint64_t place = sp_bytes_block(b, SP_BLOCK_READINGS, sizeof(struct sp_chunk) + room * sp_reading_bytes(k));
	struct sp_chunk *c = sp_bytes_at(b, place);

	c->next = c->jump = before_at;
	c->first = first;
	c->number = number;
	c->jump_number = number ? number - 1 : 0;
	c->k = k;
	c->room = room;
	return place;
}

int64_t *sp_settled_reading(struct sp_bytes *b, struct sp_settled_readings *log, uint64_t ns, int32_t cpu)
{
	uint32_t k = ((struct sp_relation *)sp_bytes_at(b, log->relation))->k;
	struct sp_chunk *c = log->chunk ? sp_bytes_at(b, log->chunk) : NULL;
	struct sp_reading *r;

	if (!c || log->n - c->first == c->room) {
		struct sp_chunk before = c ? *c : (struct sp_chunk){ 0 };

		log->chunk = new_chunk(b, c ? &before : NULL, c ? b->origin + log->chunk : 0, k);
		c = sp_bytes_at(b, log->chunk);
		c->first_ns = ns;
		((struct sp_relation *)sp_bytes_at(b, log->relation))->readings = b->origin + log->chunk;
	}
	r = (struct sp_reading *)((char *)(c + 1) + (log->n - c->first) * sp_reading_bytes(k));
	r->ns = ns;
	r->cpu = cpu;
	r->number = (uint32_t)(log->n++ - c->first) + 1;
	return r->value;
}
