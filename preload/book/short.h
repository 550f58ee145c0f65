/* short.h: the short way into a call that comes from where one of the last two came.
 *
 * Most of what a wrapper looks at before PAPI is asked is the same each time: which libpapi, that it is not libpapi's own
 * call, which record the set's number is, which call site the return address.  A thread remembers the set that it called
 * PAPI for last, and a set the two places that it was called from last (`seen`, sites.h): a call that finds its own there
 * need not look at the rest.  `hot` says whose the set is; what else may change meanwhile, the ledger and the proof look
 * at.
 */
#ifndef SP_SHORT_H
#define SP_SHORT_H

#include "hooks.h"

/* The set, if this call of it need not be looked at any further; its site.  Else NULL. */
SP_HOT_INLINE struct sp_set *sp_short_of(int id, enum sp_seen which, uintptr_t to, uint32_t *site)
{
	struct sp_set *s = sp_get(&sp_self.set);
	uint64_t seen;

	/* One word, whose record knows its number: a handler that calls PAPI for another set changes both or neither. */
	if (SP_UNLIKELY(!s) || SP_UNLIKELY(sp_get(&s->number) != id) || SP_UNLIKELY(sp_get(&s->hot) != sp_self.id))
		return NULL;
	seen = sp_get(&s->seen[which].last);
	if (SP_UNLIKELY((seen & SP_SITE_ADDRESS) != to))
		seen = sp_get(&s->seen[which].before);
	*site = (uint32_t)(seen >> 48);
	return SP_LIKELY((seen & SP_SITE_ADDRESS) == to) ? s : NULL;
}

/* PAPI is asked for it now; false: somebody is at it. */
SP_HOT_INLINE bool sp_short_asks(struct sp_set *s, uintptr_t mark)
{
	return sp_ledger_asks_at(&s->writer, mark);
}

/* This thread's calls for the set may come the short way from now on. */
SP_COLD void sp_short_open(struct sp_set *s, int id);
SP_HOT_INLINE void sp_short_learn(struct sp_set *s, int id)
{
	if (s && SP_UNLIKELY(sp_get(&sp_self.set) != s))
		sp_short_open(s, id);
}

/* Still this thread's, which stayed where the reading before was; and no handler came, which could have changed the
 * set's events: a signal clears the proof. */
SP_HOT_INLINE bool sp_short_stayed(const struct sp_set *s, uint32_t open)
{
	return SP_LIKELY(sp_get(&s->hot) == sp_self.id) && SP_LIKELY(sp_cpu_now() == sp_get(&s->writer.cpu)) &&
	       SP_LIKELY(s->writer.opened == open) && sp_proof_stayed(open);
}

/* ---- one of each kind, when PAPI has answered; false: the long way has to book it -------- */

SP_HOT_INLINE bool sp_short_read(struct sp_set *s, const long long *values, uint32_t open, uint32_t site)
{
	if (!sp_short_stayed(s, open))
		return false;
	sp_ledger_read_begun(&s->writer, s->writer.cpu, values, true, site);
	return true;
}

SP_HOT_INLINE bool sp_short_reset(struct sp_set *s, uint32_t open, uint32_t site)
{
	if (SP_UNLIKELY(sp_get(&s->hot) != sp_self.id))
		return false;
	s->writer.opened = open;
	sp_ledger_reset_begun(&s->writer, site);
	sp_begins_window(s);
	return true;
}

SP_HOT_INLINE bool sp_short_accum(struct sp_set *s, const long long *values, long long *before, uint32_t open, uint32_t site)
{
	if (!sp_short_stayed(s, open))
		return false;
	for (uint32_t e = 0, k = s->writer.k; e < k; e++)
		before[e] = (long long)((unsigned long long)values[e] - (unsigned long long)before[e]);
	sp_ledger_accum_begun(&s->writer, s->writer.cpu, before, true, site);
	return true;
}

/* The thread made and started it, unchanged, and PAPI has its counters open. */
SP_HOT_INLINE bool sp_short_may_start(const struct sp_set *s)
{
	return SP_LIKELY(!s->changed) && SP_LIKELY(sp_is_touched(s)) && SP_LIKELY(!sp_get(&sp_process.sites_due)) &&
	       SP_LIKELY(!s->writer.track.low) && sp_is_ready(s);
}

SP_HOT_INLINE void sp_short_starts(struct sp_set *s)
{
	sp_opening = &s->opened;
	sp_put(&s->started, true);
}

SP_HOT_INLINE bool sp_short_start(struct sp_set *s, uint32_t open, uint32_t site)
{
	if (SP_UNLIKELY(sp_get(&s->hot) != sp_self.id) || (s->split && SP_UNLIKELY(!sp_split_is_for(s->split, &s->opened))))
		return false;
	sp_ledger_start_begun(&s->writer, site);
	s->writer.opened = open;
	if (s->split) {
		sp_begins_window(s);
		sp_split_begun(s->split);
	}
	return true;
}

SP_HOT_INLINE bool sp_short_stop(struct sp_set *s, const long long *values, uint32_t open, uint32_t site)
{
	if (!sp_short_stayed(s, open))
		return false;
	if (s->split)
		sp_ran(s);
	sp_ledger_stop_begun(&s->writer, s->writer.cpu, values, true, site);
	/* A handler on top of PAPI_stop may have started it again. */
	sp_put(&s->started, !(sp_get(&s->writer.own) & SP_SLOW_STOPPED));
	sp_touch(s);
	if (SP_UNLIKELY(sp_get(&sp_process.sites_due)))
		sp_sites_after_stop();
	return true;
}

#endif
