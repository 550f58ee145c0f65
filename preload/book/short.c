/* short.c: see short.h. */
#include "short.h"

/* Another thread's dlclose() may make the site forgotten meanwhile (sites.c): what is set here then is not to stay. */
static void stay_steady(struct sp_set *s, uintptr_t to)
{
	const struct sp_track *t = &s->writer.track;

	if (t->from != t->cur_from || t->from != t->cur_to)
		return;
	sp_put(&s->writer.track.steady, to);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (sp_get(&s->seen[SP_SEEN_READ].last) >> 16 != to)
		sp_put(&s->writer.track.steady, 0);
}

SP_COLD void sp_short_open(struct sp_set *s, int id)
{
	/* A call path is more than the address; what libpapi calls inside is not the program's. */
	if (sp_process.unwinds || sp_self.nests || !sp_get(&sp_process.papi) || !sp_get(&sp_process.proof_works) ||
	    !sp_self.calls || sp_self.generation != sp_process.generation || sp_get(&s->hot) != sp_self.id)
		return;
	sp_put(&s->number, id);
	sp_order();
	sp_put(&sp_self.set, s);
}

bool sp_short_read_from(struct sp_set *s, const long long *values, uint32_t open, uint32_t site, uintptr_t to)
{
	if (!sp_short_stayed(s, open) || !sp_read_here(&s->writer, values, true, site))
		return false;
	stay_steady(s, to);
	return true;
}
