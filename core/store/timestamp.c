/* timestamp.c: see timestamp.h. */
#include "../base/sys.h"
#include "timestamp.h"

static __thread uint64_t last;

uint64_t sp_stamp_ns(void)
{
	/* A handler in between takes a later time; this thread's times still increase. */
	uint64_t now = sp_max(sp_now_ns(), load_relaxed(&last) + 1);

	store_relaxed(&last, now);
	return now;
}
