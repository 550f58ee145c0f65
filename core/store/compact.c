/* compact.c: see compact.h. */
#include <errno.h>
#include <string.h>

#include "compact.h"
#include "readings.h"

sp_off sp_compact_begin(struct sp_compact *c, uint32_t kind, uint64_t bytes)
{
	sp_off at = sp_compact_offset(c);
	struct sp_block head = { .kind = kind, .bytes = (uint32_t)sp_align(bytes, 8) };

	if (sp_align(bytes, 8) > UINT32_MAX && !c->o->error)
		c->o->error = -EFBIG;	/* no block is that large: a relation has at most 2^20
					 * cells */
	sp_out_bytes(c->o, &head, sizeof(head));
	c->left = head.bytes - sizeof(head);
	return at;
}

void sp_compact_write(struct sp_compact *c, const void *bytes, uint64_t n)
{
	n = sp_min(n, c->left);
	c->left -= n;
	sp_out_bytes(c->o, bytes, n);
}

void sp_compact_zeros(struct sp_compact *c, uint64_t n)
{
	n = sp_min(n, c->left);
	c->left -= n;
	sp_out_repeat(c->o, '\0', n);
}

void sp_compact_end(struct sp_compact *c)
{
	sp_compact_zeros(c, c->left);
}

sp_off sp_compact_copy(struct sp_compact *c, uint32_t kind, const void *like, uint64_t bytes)
{
	sp_off at = sp_compact_begin(c, kind, bytes);

	sp_compact_write(c, (const char *)like + sizeof(struct sp_block),
			 bytes - sizeof(struct sp_block));
	sp_compact_end(c);
	return at;
}

/* ---- texts -------------------------------------------------------------- */

sp_off sp_compact_text(struct sp_compact *c, const char *text)
{
	uint32_t n = (uint32_t)strlen(text);
	sp_off at;

	if (!n)
		return 0;
	at = sp_compact_begin(c, SP_BLOCK_STRING, sizeof(struct sp_string) + n + 1);
	sp_compact_u32(c, n);
	sp_compact_write(c, text, n);
	sp_compact_end(c);
	return at;
}

/* The texts follow the list, in its order. */
sp_off sp_compact_texts(struct sp_compact *c, const struct sp_store_reader *reader, sp_off list)
{
	const char *text;
	uint32_t n = 0;
	sp_off at, next;

	while (sp_store_reader_text_at(reader, list, n))
		n++;
	if (!n)
		return 0;
	at = sp_compact_begin(c, SP_BLOCK_STRINGS, sizeof(struct sp_strings) + n * sizeof(sp_off));
	next = at + sizeof(struct sp_strings) + n * sizeof(sp_off);
	sp_compact_u32(c, n);
	sp_compact_u32(c, 0);
	for (uint32_t i = 0; (text = sp_store_reader_text_at(reader, list, i)) != NULL && i < n;
	     i++) {
		sp_off is = *text ? next : 0;

		sp_compact_write(c, &is, sizeof(is));
		next += *text ? sp_align(sizeof(struct sp_string) + strlen(text) + 1, 8) : 0;
	}
	sp_compact_end(c);
	for (uint32_t i = 0; (text = sp_store_reader_text_at(reader, list, i)) != NULL && i < n;
	     i++)
		sp_compact_text(c, text);
	return at;
}

sp_off sp_compact_event(struct sp_compact *c, const struct sp_store_reader *reader,
			const struct sp_event *e, const char *name, sp_off before)
{
	struct sp_event to = *e;
	sp_off *const text[] = { &to.component, &to.derived, &to.postfix, &to.units,
				 &to.description };

	to.next = before;
	to.name = sp_compact_text(c, name);
	for (unsigned i = 0; i < SP_COUNT(text); i++)
		*text[i] = sp_compact_text(c, sp_store_reader_text(reader, *text[i]));
	to.natives = sp_compact_texts(c, reader, e->natives);
	to.pmu = sp_compact_text(c, sp_store_reader_text(reader, e->pmu));
	return sp_compact_copy(c, SP_BLOCK_EVENT, &to, sizeof(to));
}

sp_off sp_compact_words(struct sp_compact *c, const char *words, size_t bytes)
{
	uint32_t n = 0;
	sp_off at, next;

	for (size_t i = 0; i < bytes; i += strlen(words + i) + 1)
		n++;
	at = sp_compact_begin(c, SP_BLOCK_STRINGS, sizeof(struct sp_strings) + n * sizeof(sp_off));
	next = at + sizeof(struct sp_strings) + n * sizeof(sp_off);
	sp_compact_u32(c, n);
	sp_compact_u32(c, 0);
	for (size_t i = 0, length; i < bytes; i += length + 1) {
		length = strlen(words + i);
		sp_compact_write(c, &(sp_off){ length ? next : 0 }, sizeof(sp_off));
		next += length ? sp_align(sizeof(struct sp_string) + length + 1, 8) : 0;
	}
	sp_compact_end(c);
	for (size_t i = 0; i < bytes; i += strlen(words + i) + 1)
		sp_compact_text(c, words + i);
	return at;
}

sp_off sp_compact_note(struct sp_compact *c, sp_off before, const char *text, const char *more)
{
	sp_off at = sp_compact_begin(c, SP_BLOCK_NOTE,
				     sizeof(struct sp_note) + strlen(text) + strlen(more) + 1);

	sp_compact_write(c, &before, sizeof(before));
	sp_compact_write(c, text, strlen(text));
	sp_compact_write(c, more, strlen(more));
	sp_compact_end(c);
	return at;
}

/* ---- machines ----------------------------------------------------------- */

sp_off sp_compact_topology(struct sp_compact *c, const struct sp_tree *t, const char *source)
{
	struct sp_topology to = { .n = t->n,
				  .n_cpus = t->n_cpus,
				  .xml_bytes = t->xml_bytes,
				  .source = sp_compact_text(c, source) };
	sp_off at = sp_compact_begin(c, SP_BLOCK_TOPOLOGY, sp_tree_bytes(t));

	sp_compact_write(c, &to.n, sizeof(to) - sizeof(to.b));
	for (uint32_t i = 0; i < t->n; i++) {
		struct sp_component component = t->component[i];

		component.flags &= ~SP_COMPONENT_DISALLOWED;
		sp_compact_write(c, &component, sizeof(component));
	}
	sp_compact_write(c, t->xml, t->xml_bytes);
	sp_compact_end(c);
	return at;
}

sp_off sp_compact_machine(struct sp_compact *c, sp_off host, const struct sp_tree *t,
			  const char *source)
{
	struct sp_machine on = { .host = host };
	uint64_t word = 0;
	sp_off at = sp_compact_begin(c, SP_BLOCK_MACHINE, sizeof(on) + (t->n + 63) / 64 * 8);

	sp_compact_zeros(c, sizeof(on) - sizeof(on.b));
	for (uint32_t i = 0; i < t->n; i++) {
		word |= t->component[i].flags & SP_COMPONENT_DISALLOWED ? 1ull << i % 64 : 0;
		if (i % 64 == 63 || i + 1 == t->n) {
			sp_compact_write(c, &word, sizeof(word));
			word = 0;
		}
	}
	sp_compact_end(c);
	on.topology = source ? sp_compact_topology(c, t, source) : 0;
	sp_compact_rewrite(c, at + sizeof(on.b), &on.next, sizeof(on) - sizeof(on.b));
	return at;
}

/* ---- threads and relations ------------------------------------------------ */

void sp_compact_thread(struct sp_compact *c, struct sp_header *h, struct sp_thread *at, int tid,
		       const char *name, uint64_t threads)
{
	if (at->relations) {
		at->next = h->lists.threads;
		h->lists.threads =
			sp_compact_copy(c, SP_BLOCK_THREAD, at, offsetof(struct sp_thread, calls));
	}
	memset(at, 0, offsetof(struct sp_thread, calls));
	at->tid = tid;
	at->threads = threads;
	memcpy(at->name, name, sp_min(strlen(name), sizeof(at->name) - 1));
}

void sp_compact_relation(struct sp_compact *c, struct sp_thread *of, struct sp_relation *r)
{
	r->next = of->relations;
	of->relations =
		sp_compact_begin(c, SP_BLOCK_RELATION, sp_compact_layout(r->k, r->cells).bytes);
	of->n_relations++;
	sp_compact_write(c, &r->next, sizeof(*r) - offsetof(struct sp_relation, next));
}

#define CHUNK_BYTES	65536u		/* per chunk */

sp_off sp_compact_readings(struct sp_compact *c, struct sp_chunk *chunk, sp_off before,
			   uint64_t left, uint64_t first_ns)
{
	uint64_t bytes = sp_chunk_bytes_each(chunk->k, chunk->sites);
	sp_off at;

	chunk->first += chunk->room;
	chunk->number += before != 0;
	chunk->next = before;
	chunk->first_ns = first_ns;
	chunk->room = (uint32_t)sp_min(sp_max(CHUNK_BYTES / bytes, 1), left);
	at = sp_compact_begin(c, SP_BLOCK_READINGS, sizeof(*chunk) + chunk->room * bytes);
	sp_compact_write(c, &chunk->next, sizeof(*chunk) - offsetof(struct sp_chunk, next));
	return at;
}
