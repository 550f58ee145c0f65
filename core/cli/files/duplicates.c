/* duplicates.c: identifies the process of a store, and how complete it is; see duplicates.h. */
#include <string.h>

#include "duplicates.h"

static struct sp_digest identity_of(const struct sp_model *m, const struct sp_header *h)
{
	const char *host = sp_store_reader_text(m->reader, h->process.host);
	/* `stat`, and each of its runs with -r, has other counts. */
	uint64_t number[] = { h->process.pid, h->process.pid_ns, h->process.start_ns,
			      h->stat & ~(uint64_t)SP_STAT_WHOLE };
	struct sp_digest d = { 0 };

	if (!h->process.pid || !h->process.start_ns)
		return d;
	sp_digest_add(&d, number, sizeof(number));
	sp_digest_add(&d, h->process.boot_id,
		      strnlen(h->process.boot_id, sizeof(h->process.boot_id)));
	sp_digest_add(&d, host, strlen(host));
	return d;
}

struct sp_process_key sp_get_process_key(const struct sp_model *m)
{
	static const uint8_t rank[] = {
		[SP_END_NONE] = 0, [SP_END_SNAPSHOT] = 1, [SP_END_RECOVERED] = 2,
		[SP_END_EXEC] = 3, [SP_END__EXIT] = 3,	  [SP_END_EXIT] = 3
	};
	const struct sp_header *h = m->process[0].h;
	struct sp_process_key o = { .identity = identity_of(m, h),
			     .completeness = { m->tally.readings + m->tally.starts,
				       h->end < SP_COUNT(rank) ? rank[h->end] : 0,
				       h->process.end_ns } };

	for (uint32_t i = 0; i < SP_CALLS_MAX; i++)
		o.completeness[0] += m->tally.calls[i];
	return o;
}

bool sp_is_same_process(const struct sp_process_key *x, const struct sp_process_key *y)
{
	return (x->identity.a || x->identity.b) &&
	       sp_digest_compare(&x->identity, &y->identity) == 0;
}

int sp_process_key_compare(const struct sp_process_key *x, const struct sp_process_key *y)
{
	int r = sp_digest_compare(&x->identity, &y->identity);

	for (unsigned i = 0; r == 0 && i < SP_COUNT(x->completeness); i++)
		r = SP_COMPARE(y->completeness[i], x->completeness[i]);
	return r;
}
