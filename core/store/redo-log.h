/* redo-log.h: new values for words of the store, which take effect together.
 *
 * A writer first puts new values for all words into the log. It makes the log valid with one
 * store, and then writes the values to their places. Readers use valid entries in place of the
 * words (layout.h, "records"). The log is in the caller's memory.
 */
#ifndef SP_REDO_LOG_H
#define SP_REDO_LOG_H

#include "layout.h"

struct sp_redo_log {
	unsigned char *at;
	uint64_t used, room;
};

/* Returns the new value for `bytes` bytes at offset `at`; NULL: no such entry. */
void *sp_redo_log_find(const struct sp_redo_log *d, sp_off at, uint64_t bytes);

/* Finds the entry or adds one with a copy of the words; bytes is a multiple of 8. NULL: no room. */
void *sp_redo_log_add(struct sp_redo_log *d, sp_off at, const void *words, uint64_t bytes);

/* Adds an entry for words that have none yet. */
void *sp_redo_log_add_first(struct sp_redo_log *d, sp_off at, const void *words, uint64_t bytes);

/* Iterates: returns the entry after *place, which is 0 at first; NULL: no more. */
const struct sp_redo_entry *sp_redo_log_next(const struct sp_redo_log *d, uint64_t *place);

/* A word that another thread may read or write meanwhile; none is torn. */
typedef int64_t __attribute__((may_alias)) sp_word;

static inline void sp_copy_words(sp_word *to, const sp_word *from, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		store_relaxed(&to[i], load_relaxed(&from[i]));
}

#endif
