/* high5.c: PAPI 5's high level of the scripted libpapi: one set a thread. */
#include "fakelib.h"

#if FAKE_PAPI_VERSION < 0x0600

static struct fk_counters *mine(void)
{
	fk_master_of_self();
	return &fk_self->counters;
}

static int begin(int *events, int n)
{
	struct fk_counters *r;
	int es = PAPI_NULL, rc;

	if (!fk.initialised && FK_CALL(PAPI_library_init, FK_VERSION) != FK_VERSION)
		return PAPI_ENOINIT;
	r = mine();
	if (r->running)
		return PAPI_EISRUN;
	rc = FK_CALL(PAPI_create_eventset, &es);
	for (int i = 0; i < n && rc == PAPI_OK; i++)
		rc = FK_CALL(PAPI_add_event, es, events[i]);
	if (rc == PAPI_OK)
		rc = FK_CALL(PAPI_start, es);
	if (rc != PAPI_OK) {
		FK_CALL(PAPI_cleanup_eventset, es);
		FK_CALL(PAPI_destroy_eventset, &es);
		return rc;
	}
	r->set = es;
	r->n = n;
	r->running = 1;
	return PAPI_OK;
}

static int end(struct fk_counters *r, long long *values)
{
	int rc = FK_CALL(PAPI_stop, r->set, values);

	if (rc != PAPI_OK)
		return rc;
	FK_CALL(PAPI_cleanup_eventset, r->set);
	FK_CALL(PAPI_destroy_eventset, &r->set);
	memset(r, 0, sizeof(*r));
	return PAPI_OK;
}

FK_API int PAPI_start_counters(int *events, int n)
{
	FK_ENTER(PAPI_start_counters);
	FK_RETURN(!events || n <= 0 ? PAPI_EINVAL : begin(events, n));
}

FK_API int PAPI_read_counters(long long *values, int n)
{
	struct fk_counters *r;
	int rc;

	FK_ENTER(PAPI_read_counters);
	r = mine();
	if (!r->running || !values || n < r->n)
		FK_RETURN(!r->running ? PAPI_ENOTRUN : PAPI_EINVAL);
	rc = FK_CALL(PAPI_read, r->set, values);
	if (rc == PAPI_OK)
		rc = FK_CALL(PAPI_reset, r->set);
	FK_RETURN(rc);
}

FK_API int PAPI_accum_counters(long long *values, int n)
{
	struct fk_counters *r;
	int rc;

	FK_ENTER(PAPI_accum_counters);
	r = mine();
	if (!r->running || !values || n < r->n)
		FK_RETURN(!r->running ? PAPI_ENOTRUN : PAPI_EINVAL);
	rc = FK_CALL(PAPI_accum, r->set, values);
	FK_RETURN(rc);
}

FK_API int PAPI_stop_counters(long long *values, int n)
{
	struct fk_counters *r;

	FK_ENTER(PAPI_stop_counters);
	r = mine();
	if (!r->running || (values && n < r->n))
		FK_RETURN(!r->running ? PAPI_ENOTRUN : PAPI_EINVAL);
	FK_RETURN(end(r, values));
}

#endif
