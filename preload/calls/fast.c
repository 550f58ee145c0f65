/* fast.c: what the fast path does out of line; see fast.h. */
#include "fast.h"

static bool is_steady(const struct sp_track *t, uint32_t site)
{
	return sp_get(&t->from) == site && sp_get(&t->cur_from) == site && sp_get(&t->cur_to) == site;
}

/* A handler that reads elsewhere, and another thread's dlclose(), which makes the site forgotten (sites.c), may come in
 * between: what is set here is not to stay then. */
static void stay_steady(struct sp_set *s, uint32_t site, uintptr_t to)
{
	const struct sp_sites_seen *seen = &s->seen[SP_SEEN_READ];
	struct sp_track *t = &s->writer.track;

	if (!is_steady(t, site))
		return;
	sp_put(&t->steady, to);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!is_steady(t, site) || (sp_get(&seen->last) >> 16 != to && sp_get(&seen->before) >> 16 != to))
		sp_put(&t->steady, 0);
}

SP_COLD void sp_fast_open(struct sp_set *s, int id)
{
	/* A call path is more than the address; what libpapi calls inside is not the program's. */
	if (sp_process.unwinds || sp_self.nests || !sp_get(&sp_process.papi) || !sp_get(&sp_process.proof_works) ||
	    !sp_self.calls || sp_self.generation != sp_process.generation || !sp_is_fast(s))
		return;
	sp_put(&s->number, id);
	sp_order();
	sp_put(&sp_self.set, s);
}

bool sp_fast_read_from(struct sp_set *s, const long long *values, uint32_t open, uint32_t site, uintptr_t to)
{
	if (!sp_fast_stayed(s, open))
		return false;
	if (sp_read_here(&s->writer, values, true, site))
		stay_steady(s, site, to);
	else
		sp_ledger_finish(&s->writer, SP_OP_READ, s->writer.cpu, values, true, site);
	return true;
}
