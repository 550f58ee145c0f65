/* fold.h: adds relations of ended threads to one another. Needs the store's lock, like store.h. */
#ifndef SP_FOLD_H
#define SP_FOLD_H

#include "store.h"

#define SP_FOLD_ABOVE	4096u	/* relations of ended threads kept separate: live threads limit
				 * the memory, not the run time */
#define SP_FOLD_AT_ONCE	16u	/* per call, since a new thread waits for it */

/* If more than SP_FOLD_ABOVE relations are separate, adds some of ended threads to those of tid
 * 0 (same events, target, scope), also those that sspapi_free released, and frees threads
 * without relations. Called for each new thread, to keep pace. ended(tid) must be certain;
 * is_bound as in sp_store_relation. Does nothing during a dump (`dumping`). */
void sp_store_fold(struct sp_store *s, bool (*ended)(int tid),
		   bool (*is_bound)(sp_off relation, void *arg), void *arg);

#endif
