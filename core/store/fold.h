/* fold.h: adds relations of ended threads to one another. Needs the store's lock, like store.h. */
#ifndef SP_FOLD_H
#define SP_FOLD_H

#include "store.h"

#define SP_FOLD_ABOVE	4096u	/* relations of ended threads kept separate: live threads limit
				 * the memory, not the run time */
#define SP_FOLD_AT_ONCE	16u	/* per call, since a new thread waits for it */

/* Does nothing up to SP_FOLD_ABOVE separate relations. Else adds some, of ended threads or
 * released by sspapi_free, to those of tid 0 (same events, target, scope). Frees threads without
 * relations. Called for each new thread, to keep pace. ended(tid) must be certain; is_bound as
 * in sp_store_relation. Does nothing during a dump (`dumping`). */
void sp_store_fold(struct sp_store *s, bool (*ended)(int tid),
		   bool (*is_bound)(sp_off relation, void *arg), void *arg);

#endif
