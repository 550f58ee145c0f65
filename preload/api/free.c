/* free.c: a relation that a program held is let go, once nobody reads it; see api.h. */
#include "../../core/base/sys.h"
#include "../../core/store/fold.h"
#include "../sets/sets.h"
#include "api.h"

static bool nobody(int tid)
{
	(void)tid;
	return false;
}

/* What was counted stays in the store; once there are many, added together. */
static void let_go(struct sspapi_relation *rel)
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
	sp_store_fold(&sp_store, nobody, sp_set_has_relation, NULL);
	sp_lock_give(&sp_store.lock, &store);
}

SP_API void sspapi_free(sspapi_relation *rel)
{
	struct sp_lock_state lock_state;

	if (!sp_api_take(rel, &lock_state))
		return;
	if (rel->readers)
		store_relaxed(&rel->leaving, true);
	else
		let_go(rel);
	sp_api_give(rel, &lock_state);
}

void sp_api_reads(const struct sspapi_relation *rel)
{
	((struct sspapi_relation *)rel)->readers++;
}

/* In a child of fork the slot is nobody's, or another's. */
void sp_api_done(const struct sspapi_relation *rel)
{
	struct sspapi_relation *r = (struct sspapi_relation *)rel;
	struct sp_lock_state lock_state;

	sp_lock_take(&r->lock, &lock_state);
	if (r->readers && !--r->readers && r->leaving && sp_process.counting)
		let_go(r);
	sp_lock_give(&r->lock, &lock_state);
}
