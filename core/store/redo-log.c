/* redo-log.c: see redo-log.h. */
#include "redo-log.h"

const struct sp_redo_entry *sp_redo_log_next(const struct sp_redo_log *d, uint64_t *place)
{
	const struct sp_redo_entry *is = (const struct sp_redo_entry *)(d->at + *place);

	if (d->used < *place || d->used - *place < sizeof(*is) || is->bytes & 7 ||
	    is->bytes > d->used - *place - sizeof(*is))
		return NULL;
	*place += sizeof(*is) + is->bytes;
	return is;
}

void *sp_redo_log_find(const struct sp_redo_log *d, sp_off at, uint64_t bytes)
{
	const struct sp_redo_entry *is;
	uint64_t place = 0;

	while ((is = sp_redo_log_next(d, &place)) != NULL)
		if (is->at == at && is->bytes == bytes)
			return (void *)is->is;
	return NULL;
}

void *sp_redo_log_add(struct sp_redo_log *d, sp_off at, const void *words, uint64_t bytes)
{
	void *found = sp_redo_log_find(d, at, bytes);

	return found ? found : sp_redo_log_add_first(d, at, words, bytes);
}

void *sp_redo_log_add_first(struct sp_redo_log *d, sp_off at, const void *words, uint64_t bytes)
{
	struct sp_redo_entry *is;

	if (d->room - d->used < sizeof(*is) + bytes)
		return NULL;
	is = (struct sp_redo_entry *)(d->at + d->used);
	is->at = at;
	is->bytes = bytes;
	sp_copy_words(is->is, words, bytes / 8);
	d->used += sizeof(*is) + bytes;
	return is->is;
}
