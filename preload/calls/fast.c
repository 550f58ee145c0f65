/* fast.c: what the fast path does out of line; see fast.h. */
#include "fast.h"

static bool is_steady(const struct sp_track *t, uint32_t site)
{
	return sp_get(&t->from) == site && sp_get(&t->cur_from) == site && sp_get(&t->cur_to) == site;
}

struct sp_set *sp_fast_below(struct sp_set *s, enum sp_op op, uintptr_t to, uintptr_t sp, uintptr_t fp, uint32_t *site)
{
	uint32_t is = sp_site_below(&s->seen[sp_seen_by(op)], to, sp, fp);

	const struct sp_track *t = &s->writer.track;

	if (op == SP_OP_START)
		s->start_site = is;	/* (it may be booked on the slow path all the same) */
	*site = op == SP_OP_READ && sp_own(&t->steady) == SP_STEADY_BELOW(to) && sp_own(&t->from) == is ? SP_SITE_STEADY : is;
	return is ? s : NULL;
}

/* A handler that reads elsewhere, and another thread's dlclose(), which makes the site forgotten (sites.c), may come in
 * between: what is set here is not to stay then. */
static void stay_steady(struct sp_set *s, uint32_t site, uintptr_t to, int32_t fp_at)
{
	const struct sp_sites_seen *seen = &s->seen[SP_SEEN_READ];
	struct sp_track *t = &s->writer.track;

	if (!is_steady(t, site))
		return;
	sp_put(&t->steady, 0);		/* `below` is of no site while it is written */
	sp_order();
	sp_put(&t->steady, sp_site_known_by(site, to, fp_at, &s->below));
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!is_steady(t, site) || ((sp_get(&seen->last) & SP_SITE_MOST) != site && (sp_get(&seen->before) & SP_SITE_MOST) != site))
		sp_put(&t->steady, 0);
}

SP_COLD void sp_fast_open(struct sp_set *s, int id)
{
	/* What libpapi calls inside is not the program's. */
	if (sp_self.nests || !sp_get(&sp_process.papi) || !sp_get(&sp_process.proof_works) ||
	    !sp_self.calls || sp_self.generation != sp_process.generation || !sp_is_fast(s))
		return;
	sp_put(&s->number, id);
	sp_order();
	sp_put(&sp_self.set, s);
}

bool sp_fast_read_from(struct sp_set *s, const long long *values, uint32_t open, uint32_t site, uintptr_t to, int32_t fp_at)
{
	if (!sp_fast_stayed(s, open))
		return false;
	if (sp_read_here(&s->writer, values, true, site))
		stay_steady(s, site, to, fp_at);
	else
		sp_ledger_finish(&s->writer, SP_OP_READ, s->writer.cpu, values, true, site);
	return true;
}
