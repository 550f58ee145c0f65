/* model-query.c: queries of an open model: texts, notes, and the ancestors of a component. */
#include <string.h>

#include "model-blocks.h"

#define NOTES_MOST 1024

static sp_off notes_head(const struct sp_model *m)
{
	return sp_list_head(m, m->h.lists.notes, m->h.kept.notes, SP_BLOCK_NOTE);
}

const char *sp_model_text(const struct sp_model *m, sp_off off)
{
	return sp_store_reader_text(m->reader, off);
}

const char *sp_model_call_name(const struct sp_model *m, uint32_t i)
{
	return i < SP_CALLS_MAX ? sp_store_reader_text_at(m->reader, m->h.call_names, i) : NULL;
}

static const struct sp_note *note_at(const struct sp_model *m, sp_off off)
{
	const struct sp_note *note =
		sp_store_reader_block(m->reader, off, SP_BLOCK_NOTE, sizeof(*note) + 1);

	return note && memchr(note->text, 0, note->b.bytes - sizeof(*note)) ? note : NULL;
}

static const char *note_of(const struct sp_model *m, sp_off newest, uint32_t i)
{
	const struct sp_note *note = NULL;
	uint32_t n = 0;

	/* The list is newest first, i counts from the oldest. */
	if (*m->early_counts && !i--)
		return m->early_counts;
	if (*m->cross_thread && !i--)
		return m->cross_thread;
	for (sp_off off = newest; n < NOTES_MOST && (note = note_at(m, off)) != NULL;
	     off = note->next)
		n++;
	if (i >= n)
		return NULL;
	for (sp_off off = newest; n > i; off = note->next, n--)
		note = note_at(m, off);
	return note->text;
}

const char *sp_model_note(const struct sp_model *m, uint32_t i)
{
	return note_of(m, notes_head(m), i);
}

const char *sp_model_note_of(const struct sp_model *m, uint32_t process, uint32_t i)
{
	return note_of(m, sp_is_merged(m) ? m->process[process].h->lists.notes : notes_head(m), i);
}

const struct sp_watched *sp_row_watched(const struct sp_model *m, const struct sp_row *row)
{
	uint64_t left = sp_most_blocks(m);
	const struct sp_watched *w = NULL;

	for (sp_off off = m->process[row->process].h->watched;
	     row->target == SP_TARGET_TID && off && sp_take_step(&left); off = w->next) {
		w = sp_store_reader_block(m->reader, off, SP_BLOCK_WATCHED, sizeof(*w));
		if (!w || w->tid == row->target_id)
			return w;
	}
	return NULL;
}

static int32_t memory_of_same_cpus(const struct sp_model *m, int32_t c, const char *type)
{
	for (uint32_t i = (uint32_t)c + 1; i < m->n_components; i++)
		if ((m->component[i].flags & SP_COMPONENT_MEMORY) && m->component[i].parent == c &&
		    strcmp(m->component[i].type, type) == 0)
			return (int32_t)i;
	return -1;
}

int32_t sp_model_above(const struct sp_model *m, int32_t c, const char *type)
{
	bool memory = strcmp(type, "NUMANode") == 0;

	for (; c >= 0 && (uint32_t)c < m->n_components; c = m->component[c].parent) {
		int32_t sibling = memory ? memory_of_same_cpus(m, c, type) : -1;

		if (strcmp(m->component[c].type, type) == 0)
			return c;
		if (sibling >= 0)
			return sibling;
	}
	return -1;
}
