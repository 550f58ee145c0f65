/* overflow.c: overflow, profil and sprofil of the scripted libpapi; the handler runs when a test says so. */
#include "fakelib.h"

static int find(const int *codes, int n, int code)
{
	for (int i = 0; i < n; i++)
		if (codes[i] == code)
			return i;
	return -1;
}

static int drop(int *codes, int *n, int code)
{
	int i = find(codes, *n, code);

	if (i < 0)
		return PAPI_EINVAL;
	memmove(&codes[i], &codes[i + 1], (size_t)(--*n - i) * sizeof(*codes));
	return PAPI_OK;
}

static int overflow(struct fk_set *s, int code, int threshold, int flags, PAPI_overflow_handler_t handler)
{
	int rc = PAPI_OK;

	if (s->cidx < 0)
		return PAPI_ENOCMP;
	if (!(s->state & PAPI_STOPPED))
		return PAPI_EISRUN;
	if (s->state & PAPI_ATTACHED)
		return PAPI_EINVAL;
	if (find(s->code, s->n, code) < 0)
		return PAPI_ENOEVNT;
	if (threshold < 0 || (threshold && !handler))
		return PAPI_EINVAL;
	if (!threshold) {
		rc = drop(s->over_code, &s->n_over, code);
	} else if (find(s->over_code, s->n_over, code) < 0) {
		s->over_code[s->n_over++] = code;
	}
	if (threshold)
		s->handler = handler;
	if (threshold)
		s->over_flags = flags;
	s->state = s->n_over ? s->state | PAPI_OVERFLOWING : s->state & ~PAPI_OVERFLOWING;
	if (!(s->over_flags & PAPI_OVERFLOW_FORCE_SW))
		fk_set_open_only(s);
	return rc;
}

FK_API int PAPI_overflow(int EventSet, int EventCode, int threshold, int flags,
			 PAPI_overflow_handler_t handler)
{
	struct fk_set *s;

	FK_ENTER(PAPI_overflow, EventSet);
	s = fk_lookup(EventSet);
	FK_RETURN(s ? overflow(s, EventCode, threshold, flags, handler) : PAPI_ENOEVST);
}

FK_API int PAPI_get_overflow_event_index(int EventSet, long long vector, int *array, int *number)
{
	struct fk_set *s;
	int n = 0;

	FK_ENTER(PAPI_get_overflow_event_index, EventSet);
	if (!vector || !array || !number || *number <= 0)
		FK_RETURN(PAPI_EINVAL);
	s = fk_lookup(EventSet);
	if (!s)
		FK_RETURN(PAPI_ENOEVST);
	if (!(s->state & PAPI_OVERFLOWING))
		FK_RETURN(PAPI_EINVAL);
	for (int i = 0; i < s->n && i < 64 && n < *number; i++)
		if (vector >> i & 1)
			array[n++] = i;
	*number = n;
	FK_RETURN(PAPI_OK);
}

static void profiling_tick(int EventSet, void *address, long long vector, void *context)
{
	(void)EventSet, (void)address, (void)vector, (void)context;
}

static int sprofil(struct fk_set *s, PAPI_sprofil_t *prof, int code, int threshold, int flags)
{
	int rc = PAPI_OK;

	if (!(s->state & PAPI_STOPPED))
		return PAPI_EISRUN;
	if (s->state & PAPI_ATTACHED)
		return PAPI_EINVAL;
	if (find(s->code, s->n, code) < 0)
		return PAPI_ENOEVNT;
	if (threshold < 0 || (threshold && !prof))
		return PAPI_EINVAL;
	if (!threshold)
		rc = drop(s->prof_code, &s->n_prof, code);
	else if (find(s->prof_code, s->n_prof, code) < 0)
		s->prof_code[s->n_prof++] = code;
	if (rc != PAPI_OK)
		return rc;
	if (threshold)
		s->prof_flags = flags;
	s->state = s->n_prof ? s->state | PAPI_PROFILING : s->state & ~PAPI_PROFILING;
	if (s->prof_flags & PAPI_PROFIL_FORCE_SW)
		rc = FK_CALL(PAPI_overflow, s->id, code, threshold, 0, profiling_tick);
	else
		fk_set_open_only(s);
	return rc;
}

FK_API int PAPI_sprofil(PAPI_sprofil_t *prof, int profcnt, int EventSet, int EventCode, int threshold,
			int flags)
{
	struct fk_set *s;

	FK_ENTER(PAPI_sprofil, EventSet);
	(void)profcnt;
	s = fk_lookup(EventSet);
	FK_RETURN(s ? sprofil(s, prof, EventCode, threshold, flags) : PAPI_ENOEVST);
}

FK_API int PAPI_profil(void *buf, unsigned bufsiz, vptr_t offset, unsigned scale, int EventSet, int EventCode,
		       int threshold, int flags)
{
	PAPI_sprofil_t one = { buf, bufsiz, offset, scale };
	int rc;

	FK_ENTER(PAPI_profil, EventSet);
	rc = FK_CALL(PAPI_sprofil, &one, 1, EventSet, EventCode, threshold, flags);
	FK_RETURN(rc);
}

FAKE_API int fake_overflow(int event_set, int index)
{
	struct fk_set *s = fk_lookup(event_set);

	if (!s || !(s->state & PAPI_OVERFLOWING) || index < 0 || index >= s->n || !s->handler)
		return -1;
	s->state |= PAPI_PAUSED;
	s->handler(event_set, __builtin_return_address(0), 1LL << index, NULL);
	s->state &= ~PAPI_PAUSED;
	return 0;
}
