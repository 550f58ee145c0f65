/* fast.c: what the fast path does out of line; see fast.h. */
#include "../../core/base/conf.h"
#include "../callsites/callsites.h"
#include "../callsites/unwind.h"
#include "fast.h"

/* Excludes calls that libpapi makes inside another one (nests). */
static inline bool may_open(const struct sp_set *s)
{
	return sp_is_fast(s) && !sp_thread_state.nests && !sp_shared_tls_tid &&
	       load_relaxed(&sp_process.papi) &&
	       (load_relaxed(&s->writer.placed) || sp_proof_is_there() ||
		load_relaxed(&s->percpu)) &&
	       sp_thread_state.calls && sp_thread_state.generation == sp_process.generation;
}

struct sp_set *sp_fast_other(int id)
{
	struct sp_set *s = sp_set_of(id);

	if (!s || load_relaxed(&s->number) != id || !may_open(s))
		return NULL;
	store_relaxed(&sp_thread_state.set, s);
	return s;
}

uint32_t sp_fast_find(struct sp_known *known, const struct sp_stack *at)
{
	uint32_t is = sp_path_site(at, load_relaxed(&sp_sites_depth));

	if (SP_UNLIKELY(!is) && sp_conf.callsites && !(is = sp_site_is_known(at)))
		return SP_SITE_NEW;
	sp_site_know(known, at, is);
	return is;
}

/* The next reading from this place, if it is like this one, changes nothing but the counts.  A
 * handler that reads elsewhere, and another thread's dlclose(), which makes the site forgotten
 * (callsites.c), may come in between: what is set here is not to stay then. */
static void stay_steady(struct sp_set *s, const struct sp_record *of, uintptr_t to)
{
	const struct sp_known *known = &s->known[SP_SEEN_READ];

	if (load_relaxed(&known->to) != to || known->site != of->site)
		return;
	store_relaxed(&s->writer.steady, known->word[0].to ? SP_STEADY_BELOW(~of->site) : to);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (load_relaxed(&s->writer.last) != of || load_relaxed(&known->to) != to ||
	    known->site != of->site)
		store_relaxed(&s->writer.steady, 0);
}

SP_COLD void sp_fast_open(struct sp_set *s, int id)
{
	if (!may_open(s))
		return;
	store_relaxed(&s->number, id);
	sp_order();
	store_relaxed(&sp_thread_state.set, s);
}

bool sp_fast_read_from(struct sp_set *s, const long long *values, uint32_t open, uint32_t site,
		       uintptr_t to)
{
	const struct sp_record *last = load_relaxed(&s->writer.last);

	if (!sp_fast_stayed(s, open) || sp_records_fell(&s->writer, values))
		return false;
	if (!sp_records_value(&s->writer, SP_OP_READ, s->writer.cpu, values, site, 0)) {
		sp_fast_finish(s, SP_OP_READ, values, site);
		return true;
	}
	if (last && last == load_relaxed(&s->writer.last) &&
	    sp_records_alike(last,
			     SP_OP_READ | (last->what & (SP_RECORD_PROVEN | SP_RECORD_PERMANENT)),
			     s->writer.cpu, site))
		stay_steady(s, last, to);
	return true;
}

void sp_fast_finish(struct sp_set *s, enum sp_op op, const long long *values, uint32_t site)
{
	int cpu = !values ? SP_NO_CPU : s->writer.placed ? sp_where(s) : s->writer.cpu;

	if (load_relaxed(&s->gauges.n))
		sp_book_gauges(s, op, cpu, values);
	sp_records_finish(&s->writer, &(struct sp_booking){ .op = op,
							    .x = values,
							    .site = site,
							    .who = sp_thread_state.id,
							    .cpu = cpu,
							    .proven = !s->writer.placed });
}
