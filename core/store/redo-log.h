/* redo-log.h: words of the store as they are to be, while what they are is still what holds.
 *
 * Whoever changes several words at a time drafts all of them, makes the drafts hold by one store,
 * and copies them to where they belong; whoever reads takes what is drafted (layout.h, "records").
 * Drafts stand one behind the other in memory of the caller's.
 */
#ifndef SP_REDO_LOG_H
#define SP_REDO_LOG_H

#include "layout.h"

struct sp_redo_log {
	unsigned char *at;
	uint64_t used, room;
};

/* The draft of the words at this place of the store, which are `bytes` long; NULL: there is
 * none. */
void *sp_redo_log_find(const struct sp_redo_log *d, sp_off at, uint64_t bytes);

/* The same, or a new one: a copy of the words; bytes is a multiple of 8.  NULL: no room. */
void *sp_redo_log_add(struct sp_redo_log *d, sp_off at, const void *words, uint64_t bytes);

/* A new one, of words that have none yet. */
void *sp_redo_log_add_first(struct sp_redo_log *d, sp_off at, const void *words, uint64_t bytes);

/* Goes through them: the next one behind *place, which is 0 before the first; NULL: no more. */
const struct sp_redo_entry *sp_redo_log_next(const struct sp_redo_log *d, uint64_t *place);

/* Words that their owner may be writing, or that others may be reading: none is torn. */
typedef int64_t __attribute__((may_alias)) sp_word;

static inline void sp_copy_words(sp_word *to, const sp_word *from, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		store_relaxed(&to[i], load_relaxed(&from[i]));
}

#endif
