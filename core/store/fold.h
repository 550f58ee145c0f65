/* fold.h: the relations of threads that have ended, added up.
 *
 * With the store's lock held, as what makes things there (store.h).
 */
#ifndef SP_FOLD_H
#define SP_FOLD_H

#include "store.h"

#define SP_FOLD_ABOVE	4096u	/* relations of ended threads kept apart: live threads bound the
				 * memory, not the run time */
#define SP_FOLD_AT_ONCE	16u	/* by one call: whoever makes a thread waits for it */

/* Once more than SP_FOLD_ABOVE relations are kept apart: folds some of ended threads into those of
 * tid 0 (same events, target, scope), and those that sspapi_free has let go; blocks of threads that
 * have no relation left go.  Called for each new thread, so that it keeps pace.  ended(tid) must be
 * sure; bound as in sp_store_relation. Does nothing while a dump is being made (`dumping`). */
void sp_store_fold(struct sp_store *s, bool (*ended)(int tid),
		   bool (*is_bound)(sp_off relation, void *arg), void *arg);

#endif
