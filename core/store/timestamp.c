/* timestamp.c: makes each time later than the thread's last; see timestamp.h. */
#include "../base/sys.h"
#include "timestamp.h"

static __thread uint64_t last;

uint64_t sp_stamp_ns(void)
{
	/* A handler between the two takes a later one: still growing, if not here by one. */
	uint64_t now = sp_max(sp_now_ns(), load_relaxed(&last) + 1);

	store_relaxed(&last, now);
	return now;
}
