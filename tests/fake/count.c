/* count.c: start, stop, read, read_ts, accum, reset, write of the scripted libpapi; no lock, no
 * malloc. */
#include <signal.h>

#include "fakelib.h"

static struct fake_component *component_of(const struct fk_set *s)
{
	return &fk.component[s->cidx].c;
}

/* A derived rate divides by a count that is 0 right after a zeroing: PAPI dies
 * of it, and so must a test whose shim reads where the application does not. */
static void divide(const struct fk_set *s)
{
	for (int i = 0; i < s->n; i++)
		if (fk.event[s->event[i]].divides && !s->live[i])
			raise(SIGFPE);
}

/* Brings live[] up to date; what PAPI reads now. */
static int read_live(struct fk_set *s)
{
	fk_set_touch(s);
	if (!s->slow)
		return PAPI_OK;
	if (s->slow & FK_SWMPX) {
		int rc = fk_mpx_read(s);

		if (rc != PAPI_OK)
			return rc;
	}
	if (s->slow & FK_DIVIDES)
		divide(s);
	return PAPI_OK;
}

static inline void copy(long long *to, const long long *from, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

static long long level(const struct fk_set *s, int i)
{
	return __atomic_load_n(&fk.event[s->event[i]].total, __ATOMIC_RELAXED);
}

static void zero_at_start(struct fk_set *s)
{
	int keeps = component_of(s)->keeps_on_start;

	for (int i = 0; i < s->n; i++)
		__atomic_store_n(&s->live[i], keeps ? level(s, i) : 0, __ATOMIC_RELAXED);
}

static int counted_thread(const struct fk_set *s)
{
	if (component_of(s)->granularity != PAPI_GRN_THR || s->granularity == PAPI_GRN_SYS ||
	    s->inherit)
		return FK_LOOK;
	return s->opener;
}

static int start(struct fk_set *s)
{
	if (s->cidx < 0)
		return PAPI_ENOCMP;
	if (s->master->running[s->cidx])
		return PAPI_EISRUN;
	if (s->n < 1)
		return PAPI_EINVAL;
	if (fk_sw_multiplexed(s)) {
		int rc = fk_mpx_start(s);

		if (rc != PAPI_OK)
			return rc;
	} else {
		if (!fk_set_touched(s))
			fk_set_open(s);
		/* Attached sets do not occupy their thread: they can be started twice. */
		if (!(s->state & (PAPI_ATTACHED | PAPI_CPU_ATTACHED)))
			s->master->running[s->cidx] = s;
	}
	zero_at_start(s);
	s->state ^= PAPI_STOPPED;
	s->state |= PAPI_RUNNING;
	__atomic_store_n(&s->counts_for, counted_thread(s), __ATOMIC_RELEASE);
	return PAPI_OK;
}

FK_API int PAPI_start(int EventSet)
{
	struct fk_set *s;

	FK_ENTER(PAPI_start);
	s = fk_lookup(EventSet);
	FK_RETURN(s ? start(s) : PAPI_ENOEVST);
}

static int stop(struct fk_set *s, long long *values)
{
	if (s->cidx < 0)
		return PAPI_ENOCMP;
	if (!(s->state & PAPI_RUNNING))
		return PAPI_ENOTRUN;
	if (fk_sw_multiplexed(s)) {
		int rc = fk_mpx_stop(s);

		if (rc != PAPI_OK)
			return rc;
		if (values)		/* saved[] is not filled: a read afterwards gives 0 */
			copy(values, s->live, s->n);
	} else {
		read_live(s);
		copy(s->saved, s->live, s->n);
		if (values)
			copy(values, s->saved, s->n);
		if (!(s->state & (PAPI_ATTACHED | PAPI_CPU_ATTACHED)))
			s->master->running[s->cidx] = NULL;
	}
	__atomic_store_n(&s->counts_for, 0, __ATOMIC_RELEASE);
	s->state ^= PAPI_RUNNING;
	s->state |= PAPI_STOPPED;
	return PAPI_OK;
}

FK_API int PAPI_stop(int EventSet, long long *values)
{
	struct fk_set *s;

	FK_ENTER(PAPI_stop);
	s = fk_lookup(EventSet);
	FK_RETURN(s ? stop(s, values) : PAPI_ENOEVST);
}

static inline int read_set(int es, long long *values)
{
	struct fk_set *s = fk_lookup(es);

	if (fk_unlikely(!s))
		return PAPI_ENOEVST;
	if (fk_unlikely(s->cidx < 0))
		return PAPI_ENOCMP;
	if (fk_unlikely(!values))
		return PAPI_EINVAL;
	if (s->state & PAPI_RUNNING) {
		int rc = read_live(s);

		if (fk_unlikely(rc != PAPI_OK))
			return rc;
		copy(values, s->live, s->n);
	} else {
		copy(values, s->saved, s->n);
	}
	return PAPI_OK;
}

FK_API int PAPI_read(int EventSet, long long *values)
{
	FK_ENTER(PAPI_read);
	FK_RETURN(read_set(EventSet, values));
}

FK_API int PAPI_read_ts(int EventSet, long long *values, long long *cycles)
{
	int rc;

	FK_ENTER(PAPI_read_ts);
	rc = read_set(EventSet, values);
	if (rc == PAPI_OK) {
		struct timespec now;

		clock_gettime(CLOCK_MONOTONIC, &now);
		*cycles = now.tv_sec * 1000000000LL + now.tv_nsec;	/* NULL crashes, as in
									 * PAPI */
	}
	FK_RETURN(rc);
}

FK_API int PAPI_accum(int EventSet, long long *values)
{
	struct fk_set *s;
	int rc = PAPI_OK;

	FK_ENTER(PAPI_accum);
	s = fk_lookup(EventSet);
	if (!s)
		FK_RETURN(PAPI_ENOEVST);
	if (s->cidx < 0)
		FK_RETURN(PAPI_ENOCMP);
	if (!values)
		FK_RETURN(PAPI_EINVAL);
	if (s->state & PAPI_RUNNING) {
		rc = read_live(s);
		if (rc != PAPI_OK)
			FK_RETURN(rc);
		copy(s->saved, s->live, s->n);
	}
	for (int i = 0; i < s->n; i++)
		values[i] = (long long)((unsigned long long)values[i] +
					(unsigned long long)s->saved[i]);
	rc = FK_CALL(PAPI_reset, EventSet);	/* if that fails, values have changed all the
						 * same */
	FK_RETURN(rc);
}

static int reset(struct fk_set *s)
{
	if (s->cidx < 0)
		return PAPI_ENOCMP;
	if (!(s->state & PAPI_RUNNING)) {
		memset(s->saved, 0, (size_t)s->n * sizeof(s->saved[0]));
		return PAPI_OK;
	}
	fk_set_touch(s);
	if (fk_sw_multiplexed(s)) {
		int rc = fk_mpx_read(s);

		if (rc != PAPI_OK)
			return rc;
	}
	if (!component_of(s)->keeps_on_reset)
		for (int i = 0; i < s->n; i++)
			__atomic_store_n(&s->live[i], 0, __ATOMIC_RELAXED);
	return PAPI_OK;
}

FK_API int PAPI_reset(int EventSet)
{
	struct fk_set *s;

	FK_ENTER(PAPI_reset);
	s = fk_lookup(EventSet);
	FK_RETURN(s ? reset(s) : PAPI_ENOEVST);
}

FK_API int PAPI_write(int EventSet, long long *values)
{
	struct fk_set *s;

	FK_ENTER(PAPI_write);
	s = fk_lookup(EventSet);
	if (!s)
		FK_RETURN(PAPI_ENOEVST);
	if (s->cidx < 0)
		FK_RETURN(PAPI_ENOCMP);
	if (!values)
		FK_RETURN(PAPI_EINVAL);
	if (s->state & PAPI_RUNNING)
		fk_set_touch(s);		/* before the component is asked */
	if (s->state & PAPI_RUNNING && !component_of(s)->writes)
		FK_RETURN(PAPI_ENOSUPP);
	for (int i = 0; s->state & PAPI_RUNNING && i < s->n; i++)
		__atomic_store_n(&s->live[i], values[i], __ATOMIC_RELAXED);
	FK_RETURN(PAPI_OK);
}
