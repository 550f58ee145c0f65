/* waits.h: a call that waits, and is made again where our signal alone has ended it (waits.c,
 * sleeps.c, transfers.c).  All of it is for SSPAPI_ATTRIBUTION=exact, by the thread that waits.
 */
#ifndef SP_WAITS_H
#define SP_WAITS_H

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "../book/moves.h"
#include "../book/watch.h"
#include "../papi/real.h"
#include "process.h"

#define SP_SECOND	1000000000u	/* ns */
#define SP_EVER		UINT64_MAX

struct sp_waiting {
	struct sp_wait sp;
	uint64_t until;			/* SP_EVER, or a time of the monotonic clock, in ns */
	int error;			/* errno before */
	const sigset_t *during;		/* the mask of the call itself; NULL: it sets none */
	sigset_t copy;
	struct timespec rest;		/* left of it, as the call is made again */
};

/* Begins one, of so long; s < 0: for ever. */
void sp_wait_begin(struct sp_waiting *w, long long s, long long ns);
void sp_wait_begin_timespec(struct sp_waiting *w, const struct timespec *t, const sigset_t *mask);

/* It said r, and errno.  Is it to be made again, and how?  All signals are blocked then. */
enum sp_how { SP_NOT, SP_AT_ONCE, SP_FOR_THE_REST };
enum sp_how sp_wait_again(struct sp_waiting *w, int r);

/* Is there a signal that came after ours, and would have ended the call? */
bool sp_wait_another(const struct sp_waiting *w);

/* For a call that cannot set the mask: one that comes right before it is not seen by it. */
void sp_wait_unblock(struct sp_waiting *w);

/* At its end, and where the thread is cancelled in it. */
void sp_wait_end(void *waiting);

uint64_t sp_wait_now(void);

/* The functions behind us; those that are known already stay. */
void sp_wait_find(void **to, const char *const *names, unsigned n);

#define EXPORT __attribute__((visibility("default")))

/* One test, and a jump to the real one, in a process that did not ask for exact. */
#define AS_EVER (SP_LIKELY(sp_get(&sp_watching) != SP_BY_EXACT))

#define NEXT(name) ({ \
	if (SP_UNLIKELY(!next.name)) \
		find_all(); \
	next.name; \
})

#define LEFT(w) ((w).until == SP_EVER ? NULL : &(w).rest)
#define MASK(w) ((w).during ? (w).during : &(w).sp.mask.set)

/* first; and as long as it is to be made again, with_none or with_rest. */
#define WAIT(w, first, with_none, with_rest) ({ \
	int r_; \
	pthread_cleanup_push(sp_wait_end, &(w)); \
	r_ = (first); \
	for (enum sp_how how_; (how_ = sp_wait_again(&(w), r_)) != SP_NOT;) \
		r_ = how_ == SP_AT_ONCE ? (with_none) : (with_rest); \
	pthread_cleanup_pop(1); \
	r_; \
})

#endif
