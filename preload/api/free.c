/* free.c: frees a program's relation once it has no readers; see api.h. */
#include "../../core/base/sys.h"
#include "../../core/store/fold.h"
#include "../sets/sets.h"
#include "api.h"

static bool no_thread_ended(int tid)
{
	(void)tid;
	return false;
}

/* Free the handle. The counts stay in the store; many such relations are folded together. */
static void free_relation(struct sspapi_relation *rel)
{
	struct sp_lock_state store;
	struct sp_binding *p;

	while ((p = rel->parts) != NULL) {
		__atomic_fetch_and(&p->relation->flags, ~SP_RELATION_HANDLE, __ATOMIC_RELAXED);
		rel->parts = p->next;
		sp_model_close(&p->model);
		sp_unmap(p, p->bytes);
	}
	rel->current = NULL;
	store_release(&rel->generation, 0);
	sp_lock_take(&sp_store.lock, &store);
	sp_store_fold(&sp_store, no_thread_ended, sp_set_has_relation, NULL);
	sp_lock_give(&sp_store.lock, &store);
}

SP_API void sspapi_free(sspapi_relation *rel)
{
	struct sp_lock_state lock_state;

	if (!sp_api_take(rel, &lock_state))
		return;
	if (rel->readers)
		store_relaxed(&rel->is_freed, true);
	else
		free_relation(rel);
	sp_api_give(rel, &lock_state);
}

void sp_api_begin_read(const struct sspapi_relation *rel)
{
	((struct sspapi_relation *)rel)->readers++;
}

/* Do nothing if the slot was freed, or given to another relation, in a child of fork. */
void sp_api_end_read(const struct sspapi_relation *rel)
{
	struct sspapi_relation *r = (struct sspapi_relation *)rel;
	struct sp_lock_state lock_state;

	sp_lock_take(&r->lock, &lock_state);
	if (r->readers && !--r->readers && r->is_freed && sp_process.counting)
		free_relation(r);
	sp_lock_give(&r->lock, &lock_state);
}
