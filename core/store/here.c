/* here.c: see here.h. */
#include "here.h"
#include "readings.h"

void sp_ledger_finish_start(struct sp_writer *w, uint32_t site)
{
	if (SP_UNLIKELY(!sp_start_here(w, site)))
		sp_ledger_finish(w, SP_OP_START, SP_NO_CPU, NULL, false, site);
}

void sp_ledger_finish_stop(struct sp_writer *w, int cpu, const long long *x, bool proven, uint32_t site)
{
	if (SP_UNLIKELY(sp_get(&w->cpu) != cpu || !sp_ending_here(w, SP_OP_STOP, x, proven, site)))
		sp_ledger_finish(w, SP_OP_STOP, cpu, x, proven, site);
}

void sp_ledger_finish_read(struct sp_writer *w, int cpu, const long long *x, bool proven, uint32_t site)
{
	if (SP_UNLIKELY(sp_get(&w->cpu) != cpu || !sp_read_here(w, x, proven, site)))
		sp_ledger_finish(w, SP_OP_READ, cpu, x, proven, site);
}

void sp_ledger_finish_accum(struct sp_writer *w, int cpu, const long long *x, bool proven, uint32_t site)
{
	if (SP_UNLIKELY(sp_get(&w->cpu) != cpu || !sp_accum_here(w, x, proven, site)))
		sp_ledger_finish(w, SP_OP_ACCUM, cpu, x, proven, site);
}

void sp_ledger_finish_reset(struct sp_writer *w, uint32_t site)
{
	if (SP_UNLIKELY(!sp_reset_here(w, site)))
		sp_ledger_finish(w, SP_OP_RESET, SP_NO_CPU, NULL, false, site);
}

/* A permanent READ on the CPU of the one before.  hot: gcc takes for cold what cold functions alone call. */
__attribute__((hot, noinline)) static bool keep_here(struct sp_writer *w, int cpu, const long long *x, bool proven, uint32_t site)
{
	struct sp_log *l = w->log;
	uint32_t k = w->k;
	struct sp_state *s;
	int64_t *v, back = 0;
	uint64_t ns;

	s = sp_get(&w->state);
	/* The last reading was permanent, too, or its temporary entry is to go first. */
	if (SP_UNLIKELY((sp_ledger_slow(w) & ~SP_SLOW_SIDE) != SP_SLOW_ENTRIES || sp_get(&w->cpu) != cpu ||
			w->entries != SP_ENTRIES_PERMANENT || w->kinds || !(s->flags & SP_STATE_PERMANENT)))
		return false;
	sp_interval_step(w, site);
	ns = sp_log_time(l);
	v = sp_log_room(l);
	if (SP_LIKELY(v != NULL)) {
		for (uint32_t e = 0; e < k; e++)
			v[e] = x[e] + s->at[SP_EOFF * k + e];
		sp_log_append(l, cpu, ns);
	}
	if (SP_UNLIKELY(!proven))
		for (uint32_t e = 0; e < k; e++)	/* before `last`: exact is never too much */
			s->at[SP_XOFF * k + e] -= x[e] - s->at[e];
	for (uint32_t e = 0; e < k; e++) {
		back |= x[e] - s->at[e];
		sp_put(&s->at[e], x[e]);
	}
	if (SP_UNLIKELY(back < 0))
		sp_ledger_backwards(w);
	sp_put(&s->ns, ns);
	sp_put(&s->readings, s->readings + 1);
	sp_ledger_end(w);
	return true;
}

/* The ways that are short, if one is to be had. */
static bool book_here(struct sp_writer *w, enum sp_op op, int cpu, const long long *x, bool proven, uint32_t site)
{
	if (op == SP_OP_START)
		return sp_start_here(w, site);
	if (op == SP_OP_READ && w->log && keep_here(w, cpu, x, proven, site))
		return true;
	return (op == SP_OP_READ || op == SP_OP_STOP) && sp_get(&w->cpu) == cpu && sp_ending_here(w, op, x, proven, site);
}

SP_COLD void sp_ledger_finish(struct sp_writer *w, enum sp_op op, int cpu, const long long *x, bool proven, uint32_t site)
{
	if (!book_here(w, op, cpu, x, proven, site))
		sp_ledger_finish_slow(w, op, cpu, x, proven, site);
}

SP_COLD void sp_ledger_book_at(struct sp_writer *w, enum sp_op op, int cpu, const long long *x, bool proven, uint32_t site)
{
	if (!w->relation)
		return;
	if (sp_ledger_begin(w, op))
		sp_ledger_finish(w, op, cpu, x, proven, site);
	else
		sp_ledger_book_slow(w, (uintptr_t)__builtin_frame_address(0), op, cpu, x, proven, site);
}
