/* high5.c: PAPI 5's high level of the scripted libpapi: one set a thread. */
#include "fakelib.h"

#if FAKE_PAPI_VERSION < 0x0600

enum { OFF, COUNTERS, FLIPS, FLOPS, IPC, EPC };

/* The set is kept where the application can see it, as in PAPI. */
static struct fk_rate *mine(void)
{
	fk_master_of_self();
	return &fk_self->rate;
}

static int begin(int kind, int *events, int n)
{
	struct fk_rate *r;
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
	r->kind = kind;
	r->set = es;
	r->event = n;
	r->running = 1;
	r->usec = FK_CALL(PAPI_get_real_usec);
	r->virt = FK_CALL(PAPI_get_virt_usec);
	return PAPI_OK;
}

static int end(struct fk_rate *r, long long *values)
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
	FK_ENTER(PAPI_start_counters, n);
	FK_RETURN(!events || n <= 0 ? PAPI_EINVAL : begin(COUNTERS, events, n));
}

FK_API int PAPI_read_counters(long long *values, int n)
{
	struct fk_rate *r;
	int rc;

	FK_ENTER(PAPI_read_counters, n);
	r = mine();
	if (!r->running || !values || n < r->event)
		FK_RETURN(!r->running ? PAPI_ENOTRUN : PAPI_EINVAL);
	rc = FK_CALL(PAPI_read, r->set, values);
	if (rc == PAPI_OK)
		rc = FK_CALL(PAPI_reset, r->set);
	FK_RETURN(rc);
}

FK_API int PAPI_accum_counters(long long *values, int n)
{
	struct fk_rate *r;
	int rc;

	FK_ENTER(PAPI_accum_counters, n);
	r = mine();
	if (!r->running || !values || n < r->event)
		FK_RETURN(!r->running ? PAPI_ENOTRUN : PAPI_EINVAL);
	rc = FK_CALL(PAPI_accum, r->set, values);
	FK_RETURN(rc);
}

FK_API int PAPI_stop_counters(long long *values, int n)
{
	struct fk_rate *r;

	FK_ENTER(PAPI_stop_counters, n);
	r = mine();
	if (!r->running || (values && n < r->event))
		FK_RETURN(!r->running ? PAPI_ENOTRUN : PAPI_EINVAL);
	FK_RETURN(end(r, values));
}

FK_API int PAPI_num_counters(void)
{
	int rc;

	FK_ENTER(PAPI_num_counters, 0);
	if (!fk.initialised && FK_CALL(PAPI_library_init, FK_VERSION) != FK_VERSION)
		FK_RETURN(PAPI_ENOINIT);
	rc = FK_CALL(PAPI_get_opt, PAPI_MAX_HWCTRS, NULL);
	FK_RETURN(rc);
}

/* Totals since the first call, read by PAPI_accum as 5.x does. */
static int rate(int kind, int *events, int n, float *rtime, float *ptime, long long *values)
{
	struct fk_rate *r = mine();
	int rc;

	*rtime = *ptime = 0;
	memset(values, 0, (size_t)n * sizeof(*values));
	if (!r->running)
		return begin(kind, events, n);
	if (r->kind != kind)
		return PAPI_EINVAL;
	rc = FK_CALL(PAPI_accum, r->set, r->sums);
	if (rc != PAPI_OK)
		return rc;
	memcpy(values, r->sums, (size_t)n * sizeof(*values));
	*rtime = (float)(FK_CALL(PAPI_get_real_usec) - r->usec) / 1e6f;
	*ptime = (float)(FK_CALL(PAPI_get_virt_usec) - r->virt) / 1e6f;
	return PAPI_OK;
}

static int flops(int kind, int event, float *rtime, float *ptime, long long *count, float *mflops)
{
	int rc;

	if (!rtime || !ptime || !count || !mflops)
		return PAPI_EINVAL;
	rc = rate(kind, &event, 1, rtime, ptime, count);
	*mflops = *ptime > 0 ? (float)*count / *ptime / 1e6f : 0;
	return rc;
}

FK_API int PAPI_flips(float *rtime, float *ptime, long long *flpins, float *mflips)
{
	FK_ENTER(PAPI_flips, 0);
	FK_RETURN(flops(FLIPS, (int)(0x34 | PAPI_PRESET_MASK), rtime, ptime, flpins, mflips));
}

FK_API int PAPI_flops(float *rtime, float *ptime, long long *flpops, float *mflops)
{
	FK_ENTER(PAPI_flops, 0);
	FK_RETURN(flops(FLOPS, (int)(0x66 | PAPI_PRESET_MASK), rtime, ptime, flpops, mflops));
}

FK_API int PAPI_ipc(float *rtime, float *ptime, long long *ins, float *ipc)
{
	int events[2] = { (int)(0x32 | PAPI_PRESET_MASK), (int)(0x3b | PAPI_PRESET_MASK) };
	long long v[2];
	int rc;

	FK_ENTER(PAPI_ipc, 0);
	if (!rtime || !ptime || !ins || !ipc)
		FK_RETURN(PAPI_EINVAL);
	rc = rate(IPC, events, 2, rtime, ptime, v);
	*ins = v[0];
	*ipc = v[1] ? (float)v[0] / (float)v[1] : 0;
	FK_RETURN(rc);
}

FK_API int PAPI_epc(int event, float *rtime, float *ptime, long long *ref, long long *core, long long *evt,
		    float *epc)
{
	int events[3] = { event ? event : (int)(0x32 | PAPI_PRESET_MASK), (int)(0x3b | PAPI_PRESET_MASK),
			  (int)(0x6b | PAPI_PRESET_MASK) };
	long long v[3];
	int rc;

	FK_ENTER(PAPI_epc, event);
	if (!rtime || !ptime || !ref || !core || !evt || !epc)
		FK_RETURN(PAPI_EINVAL);
	rc = rate(EPC, events, 3, rtime, ptime, v);
	*evt = v[0];
	*core = v[1];
	*ref = v[2];
	*epc = v[1] ? (float)v[0] / (float)v[1] : 0;
	FK_RETURN(rc);
}

FAKE_API int fake_hl_values(const char *name, long long *values, int n)
{
	(void)name, (void)values, (void)n;
	return -1;
}

#endif
