/* fast.c: the functions of the fast path that are not inline; see fast.h. */
#include "../../core/base/conf.h"
#include "../callsites/callsites.h"
#include "../callsites/unwind.h"
#include "fast.h"

/* Excludes calls that libpapi makes inside a NESTS row (`nests`). */
static inline bool can_enable(const struct sp_set *s)
{
	return sp_is_fast(s) && !sp_thread_state.nests && !sp_shared_tls_tid &&
	       load_relaxed(&sp_process.papi) &&
	       (load_relaxed(&s->writer.placed) || sp_proof_has_mark() ||
		load_relaxed(&s->percpu)) &&
	       sp_thread_state.calls && sp_thread_state.generation == sp_process.generation;
}

struct sp_set *sp_fast_find_set(int id)
{
	struct sp_set *s = sp_set_of(id);

	if (!s || load_relaxed(&s->number) != id || !can_enable(s))
		return NULL;
	store_relaxed(&sp_thread_state.set, s);
	return s;
}

uint32_t sp_fast_find_site(struct sp_known_site *known, enum sp_op op, const struct sp_stack *at)
{
	uint32_t is = sp_path_find_site(at, op);

	if (SP_UNLIKELY(!is) && sp_conf.callsites && !(is = sp_site_find_known(at, op)))
		return SP_SITE_NEW;
	sp_site_update_known(known, op, at, is);
	return is;
}

/* Lets the next reading from this call site change only the counts, if it is like this one. A
 * handler may read elsewhere meanwhile, and another thread's dlclose() may remove the site
 * (callsites.c): then undo it. */
static void try_steady(struct sp_set *s, const struct sp_record *of, uintptr_t to)
{
	const struct sp_known_site *known = &s->known[SP_KIND_READ];

	if (load_relaxed(&known->to) != to || known->site != of->site)
		return;
	store_relaxed(&s->writer.steady, known->word[0].to ? SP_STEADY_BELOW(~of->site) : to);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (load_relaxed(&s->writer.last) != of || load_relaxed(&known->to) != to ||
	    known->site != of->site)
		store_relaxed(&s->writer.steady, 0);
}

SP_COLD void sp_fast_enable(struct sp_set *s, int id)
{
	if (!can_enable(s))
		return;
	store_relaxed(&s->number, id);
	sp_order();
	store_relaxed(&sp_thread_state.set, s);
}

bool sp_fast_read_other_site(struct sp_set *s, const long long *values, uint32_t proof,
			     uint32_t site, uintptr_t to)
{
	const struct sp_record *last = load_relaxed(&s->writer.last);

	if (!sp_fast_has_stayed(s, proof) || sp_records_fell(&s->writer, values))
		return false;
	if (!sp_records_value(&s->writer, SP_OP_READ, s->writer.cpu, values, site, 0)) {
		sp_fast_finish(s, SP_OP_READ, values, site);
		return true;
	}
	if (last && last == load_relaxed(&s->writer.last) &&
	    sp_records_is_alike(last,
				SP_OP_READ |
					(last->op_flags & (SP_RECORD_PROVEN | SP_RECORD_PERMANENT)),
				s->writer.cpu, site))
		try_steady(s, last, to);
	return true;
}

void sp_fast_finish(struct sp_set *s, enum sp_op op, const long long *values, uint32_t site)
{
	int cpu = !values ? SP_NO_CPU : s->writer.placed ? sp_find_set_cpu(s) : s->writer.cpu;

	if (load_relaxed(&s->gauges.n))
		sp_record_gauges(s, op, cpu, values);
	sp_records_finish(&s->writer, &(struct sp_papi_call){ .op = op,
							    .x = values,
							    .site = site,
							    .who = sp_thread_state.id,
							    .cpu = cpu,
							    .proven = !s->writer.placed });
}
