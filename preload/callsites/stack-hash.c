/* stack-hash.c: see stack-hash.h. */
#include <string.h>

#include "../../core/base/sys.h"
#include "stack-hash.h"

#define CLAIMED	1u			/* in place of a key: somebody writes it */
#define REMOVED	2u

struct sp_step *sp_steps;
uint32_t sp_steps_age;

bool sp_steps_prepare(void)
{
	void *p = sp_steps ? NULL : sp_map(SP_STEPS * sizeof(*sp_steps));

	if (p) {
		sp_wipe_on_fork(p, SP_STEPS * sizeof(*sp_steps));
		memset(p, 0, SP_STEPS * sizeof(*sp_steps));
		store_release(&sp_steps, p);
	}
	return sp_steps != NULL;
}

void sp_steps_child(void)
{
	if (sp_steps)
		memset(sp_steps, 0, SP_STEPS * sizeof(*sp_steps));
	sp_steps_age = (sp_steps_age | 1) + 1;
}

const struct sp_step *sp_step_find(uint64_t key)
{
	for (uint32_t tries = 0; tries < SP_STEP_TRIES; tries++) {
		const struct sp_step *s = sp_step_at(key, tries);
		const uint64_t is = load_acquire(&s->key);

		if (is == key)
			return s;
		if (!is)
			break;
	}
	return NULL;
}

const struct sp_step *sp_step_add(uint64_t key, int32_t at, int32_t base)
{
	for (uint32_t tries = 0; tries < SP_STEP_TRIES; tries++) {
		struct sp_step *s = sp_step_at(key, tries);
		uint64_t is = 0;

		if (sp_cas(&s->key, &is, CLAIMED)) {
			s->at = at;
			s->base = base;
			store_release(&s->key, key);
			return s;
		}
		if (is == key)
			return s->at == at && s->base == base ? s : NULL;
	}
	return NULL;
}

/* What somebody writes right now stays his. */
static void put_all(uint64_t least, uint64_t to)
{
	for (uint32_t i = 0; sp_steps && i < SP_STEPS; i++) {
		uint64_t is = load_acquire(&sp_steps[i].key);

		if (is >= least)
			(void)sp_cas(&sp_steps[i].key, &is, to);
	}
}

void sp_steps_remove(void)
{
	put_all(SP_STEP_KEY(0, SP_STEP_NOWHERE), REMOVED);
}

void sp_steps_clear(void)
{
	sp_add(&sp_steps_age, 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	put_all(REMOVED, 0);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	sp_add(&sp_steps_age, 1);
}
