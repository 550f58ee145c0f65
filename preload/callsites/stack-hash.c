/* stack-hash.c: see stack-hash.h. */
#include <string.h>

#include "../../core/base/sys.h"
#include "stack-hash.h"

#define CLAIMED	1u			/* in place of a key: being written */
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

void sp_steps_reset_child(void)
{
	if (sp_steps)
		memset(sp_steps, 0, SP_STEPS * sizeof(*sp_steps));
	sp_steps_age = (sp_steps_age | 1) + 1;
}

const struct sp_step *sp_step_find(uint64_t key)
{
	for (uint32_t tries = 0; tries < SP_STEP_TRIES; tries++) {
		const struct sp_step *s = sp_step_at(key, tries);
		const uint64_t old = load_acquire(&s->key);

		if (old == key)
			return s;
		if (!old)
			break;
	}
	return NULL;
}

const struct sp_step *sp_step_add(uint64_t key, int32_t at, int32_t base)
{
	for (uint32_t tries = 0; tries < SP_STEP_TRIES; tries++) {
		struct sp_step *s = sp_step_at(key, tries);
		uint64_t old = 0;

		if (sp_cas(&s->key, &old, CLAIMED)) {
			s->at = at;
			s->base = base;
			store_release(&s->key, key);
			return s;
		}
		if (old == key)
			return s->at == at && s->base == base ? s : NULL;
	}
	return NULL;
}

/* Keeps a step that is being written. */
static void replace_keys(uint64_t least, uint64_t to)
{
	for (uint32_t i = 0; sp_steps && i < SP_STEPS; i++) {
		uint64_t old = load_acquire(&sp_steps[i].key);

		if (old >= least)
			(void)sp_cas(&sp_steps[i].key, &old, to);
	}
}

void sp_steps_remove(void)
{
	replace_keys(SP_STEP_KEY(0, SP_STEP_DEAD_END), REMOVED);
}

void sp_steps_clear(void)
{
	sp_add(&sp_steps_age, 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	replace_keys(REMOVED, 0);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	sp_add(&sp_steps_age, 1);
}
