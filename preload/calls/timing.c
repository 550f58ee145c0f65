/* timing.c: see timing.h. */
#include "../../core/base/sys.h"
#include "../../core/store/store.h"
#include "../process/process.h"
#include "../percpu/rseq-proof.h"
#include "timing.h"

SP_COLD void sp_timing_begin(struct sp_timing *t)
{
	t->proof = sp_proof_now();
	t->prepared = sp_store.header ? load_relaxed(&sp_store.header->time.prepare_ns) : 0;
	t->since = sp_ns_of(CLOCK_MONOTONIC);
}

/* Adds the time since sp_timing_begin(), less the time of reading the clock twice, measured
 * here. Preparations are in the header already. */
SP_COLD void sp_timing_end(struct sp_timing *t)
{
	uint64_t took = sp_ns_of(CLOCK_MONOTONIC) - t->since, clock = sp_ns_of(CLOCK_MONOTONIC);

	clock = sp_ns_of(CLOCK_MONOTONIC) - clock;
	t->was_preempted = t->was_preempted || sp_proof_now() != t->proof;
	if (sp_store.header && load_relaxed(&sp_store.header->time.prepare_ns) == t->prepared)
		t->took += took > clock ? took - clock : 0;
}

SP_COLD void sp_timing_store(const struct sp_timing *t)
{
	if (!sp_store.header || t->was_preempted)
		return;
	sp_add(&sp_store.header->self_ns, t->took);
	sp_add(&sp_store.header->self_calls, 1);
}
