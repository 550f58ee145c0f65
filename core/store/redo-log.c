/* redo-log.c: see redo-log.h. */
#include "redo-log.h"

const struct sp_redo_entry *sp_redo_log_next(const struct sp_redo_log *d, uint64_t *place)
{
	const struct sp_redo_entry *entry = (const struct sp_redo_entry *)(d->at + *place);

	if (d->used < *place || d->used - *place < sizeof(*entry) || entry->bytes & 7 ||
	    entry->bytes > d->used - *place - sizeof(*entry))
		return NULL;
	*place += sizeof(*entry) + entry->bytes;
	return entry;
}

void *sp_redo_log_find(const struct sp_redo_log *d, sp_off at, uint64_t bytes)
{
	const struct sp_redo_entry *entry;
	uint64_t place = 0;

	while ((entry = sp_redo_log_next(d, &place)) != NULL)
		if (entry->at == at && entry->bytes == bytes)
			return (void *)entry->words;
	return NULL;
}

void *sp_redo_log_add(struct sp_redo_log *d, sp_off at, const void *words, uint64_t bytes)
{
	void *found = sp_redo_log_find(d, at, bytes);

	return found ? found : sp_redo_log_add_first(d, at, words, bytes);
}

void *sp_redo_log_add_first(struct sp_redo_log *d, sp_off at, const void *words, uint64_t bytes)
{
	struct sp_redo_entry *entry;

	if (d->room - d->used < sizeof(*entry) + bytes)
		return NULL;
	entry = (struct sp_redo_entry *)(d->at + d->used);
	entry->at = at;
	entry->bytes = bytes;
	sp_copy_words(entry->words, words, bytes / 8);
	d->used += sizeof(*entry) + bytes;
	return entry->words;
}
