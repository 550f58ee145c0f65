/* fast.c: what the fast path does out of line; see fast.h. */
#include "fast.h"

struct sp_set *sp_fast_below(struct sp_set *s, enum sp_op op, const struct sp_stack *at, uint32_t *site)
{
	uint32_t is = sp_site_below(&s->seen[sp_seen_by(op)], at);

	if (op == SP_OP_START)
		sp_put(&s->start_site, is);	/* (it may be booked on the slow path all the same) */
	/* (Where no words of the stack say that it is the steady one.) */
	*site = op == SP_OP_READ && sp_own(&s->writer.steady) == SP_STEADY_BELOW(at->to) && sp_own(&s->writer.from) == is && !s->below.span ?
			SP_SITE_STEADY_BELOW : is;
	return is ? s : NULL;
}

/* The next reading from this place, if it is like this one, changes nothing but the counts.  A handler that reads elsewhere,
 * and another thread's dlclose(), which makes the site forgotten (sites.c), may come in between: what is set here is not to
 * stay then. */
static void stay_steady(struct sp_set *s, const struct sp_record *of, uintptr_t to, int32_t sp_at)
{
	const struct sp_sites_seen *seen = &s->seen[SP_SEEN_READ];
	const uint32_t site = of->site;

	sp_put(&s->writer.steady, 0);	/* `below` is of no site while it is written */
	sp_order();
	sp_put(&s->writer.steady, sp_site_known_by(site, to, sp_at, &s->below));
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (sp_get(&s->writer.last) != of || ((sp_get(&seen->last) & SP_SITE_MOST) != site && (sp_get(&seen->before) & SP_SITE_MOST) != site))
		sp_put(&s->writer.steady, 0);
}

SP_COLD void sp_fast_open(struct sp_set *s, int id)
{
	/* What libpapi calls inside is not the program's. */
	if (sp_self.nests || sp_guest || !sp_get(&sp_process.papi) || !sp_proof_is_there() ||
	    !sp_self.calls || sp_self.generation != sp_process.generation || !sp_is_fast(s))
		return;
	sp_put(&s->number, id);
	sp_order();
	sp_put(&sp_self.set, s);
}

bool sp_fast_read_from(struct sp_set *s, const long long *values, uint32_t open, uint32_t site, uintptr_t to, int32_t sp_at)
{
	const struct sp_record *last;

	if (!sp_fast_stayed(s, open))
		return false;
	if (!sp_records_value(&s->writer, SP_OP_READ, s->writer.cpu, values, site)) {
		sp_fast_finish(s, SP_OP_READ, values, site);
		return true;
	}
	last = sp_get(&s->writer.last);
	if (last && sp_records_alike(last, SP_OP_READ | (last->what & (SP_RECORD_PROVEN | SP_RECORD_PERMANENT)), s->writer.cpu, site))
		stay_steady(s, last, to, sp_at);
	return true;
}

void sp_fast_finish(struct sp_set *s, enum sp_op op, const long long *values, uint32_t site)
{
	sp_records_finish(&s->writer, &(struct sp_booking){ .op = op, .x = values, .site = site, .who = sp_self.id,
							     .cpu = !values ? SP_NO_CPU : s->writer.placed ? sp_where(s) : s->writer.cpu,
							     .proven = !s->writer.placed });
}
