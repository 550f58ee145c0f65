/* high.c: the regions of the scripted libpapi, made of low-level calls through the PLT. */
#include <stdio.h>

#include "fakelib.h"

#if FAKE_PAPI_VERSION >= 0x0600

#define REGIONS		256
#define HL_EVENTS	64

static struct {
	char name[128];
	int open;
} regions[REGIONS];
static int n_regions, hl_ready, n_hl;
static int hl_code[HL_EVENTS], hl_cidx[HL_EVENTS];

static unsigned long thread_id(void)
{
	return (unsigned long)pthread_self();
}

/* What the real one's atexit handler calls, at depth 0 of everything. */
static void at_exit(void)
{
	int n = 0;

	if (!fk.initialised)
		return;
	FK_CALL(PAPI_list_threads, NULL, &n);
	FK_CALL(PAPI_list_threads, NULL, &n);
	FK_CALL(PAPI_get_hardware_info);
	FK_CALL(PAPI_get_component_info, 0);
}

/* Each event is tried in a set of its own, which goes again. */
static void choose(const char *name)
{
	int es = PAPI_NULL, code;

	if (n_hl == HL_EVENTS || FK_CALL(PAPI_event_name_to_code, name, &code) != PAPI_OK)
		return;
	if (FK_CALL(PAPI_create_eventset, &es) != PAPI_OK)
		return;
	if (FK_CALL(PAPI_add_event, es, code) == PAPI_OK) {
		hl_code[n_hl] = code;
		hl_cidx[n_hl++] = FK_CALL(PAPI_get_event_component, code);
		FK_CALL(PAPI_cleanup_eventset, es);
	}
	FK_CALL(PAPI_destroy_eventset, &es);
}

static int hl_init(void)
{
	const char *env = getenv("PAPI_EVENTS");
	char list[1024], *save, *p;

	if (FK_CALL(PAPI_library_init, FK_VERSION) != FK_VERSION)
		return PAPI_ENOINIT;
	if (FK_CALL(PAPI_thread_init, thread_id) != PAPI_OK)
		return PAPI_ENOINIT;
	n_hl = 0;
	snprintf(list, sizeof(list), "%s", env ? env : "PAPI_TOT_INS,PAPI_TOT_CYC");
	for (p = strtok_r(list, ",", &save); p; p = strtok_r(NULL, ",", &save))
		choose(p);
	if (!hl_ready)
		atexit(at_exit);
	hl_ready = (int)fk.generation + 1;
	return PAPI_OK;
}

/* This thread's sets, one for each component, started once and left running. */
static int hl_start(struct fk_hl *hl)
{
	int done[HL_EVENTS] = { 0 };

	for (int i = 0; i < n_hl; i++) {
		int es = PAPI_NULL;

		if (done[i] || FK_CALL(PAPI_create_eventset, &es) != PAPI_OK)
			continue;
		for (int k = i; k < n_hl; k++)
			if (hl_cidx[k] == hl_cidx[i]) {
				FK_CALL(PAPI_add_event, es, hl_code[k]);
				done[k] = 1;
				hl->size[hl->n]++;
			}
		hl->set[hl->n++] = es;
		if (FK_CALL(PAPI_start, es) != PAPI_OK)
			return PAPI_ENOEVNT;
	}
	hl->running = 1;
	FK_CALL(PAPI_thread_id);
	return PAPI_OK;
}

/* All sets but the last by PAPI_read, the last by PAPI_read_ts. */
static int hl_read(struct fk_hl *hl, long long *values)
{
	long long ts;
	int at = 0, rc = PAPI_OK;

	for (int i = 0; i < hl->n && rc == PAPI_OK; i++) {
		rc = i < hl->n - 1 ? FK_CALL(PAPI_read, hl->set[i], values + at) :
				     FK_CALL(PAPI_read_ts, hl->set[i], values + at, &ts);
		at += hl->size[i];
	}
	FK_CALL(PAPI_get_real_nsec);
	return rc;
}

static int region(const char *name, int make)
{
	int i;

	fk_lock();
	for (i = 0; i < n_regions && strcmp(regions[i].name, name); i++)
		;
	if (i == n_regions && make && n_regions < REGIONS)
		snprintf(regions[n_regions++].name, sizeof(regions[0].name), "%s", name);
	fk_unlock();
	return i < n_regions ? i : -1;
}

static struct fk_hl *hl_of_self(void)
{
	if (hl_ready != (int)fk.generation + 1 || !fk.initialised)
		return NULL;
	fk_master_of_self();
	return fk_self->hl.running ? &fk_self->hl : NULL;
}

static int hl_begin(const char *name)
{
	long long values[HL_EVENTS];
	struct fk_hl *hl;
	int r, rc;

	if ((!fk.initialised || hl_ready != (int)fk.generation + 1) && (rc = hl_init()) != PAPI_OK)
		return rc;
	fk_master_of_self();
	hl = &fk_self->hl;
	if (!hl->running && (rc = hl_start(hl)) != PAPI_OK)
		return rc;
	r = region(name, 1);
	if (r < 0)
		return PAPI_ENOMEM;
	rc = hl_read(hl, values);
	regions[r].open = rc == PAPI_OK;
	return rc;
}

FK_API int PAPI_hl_region_begin(const char *name)
{
	FK_ENTER(PAPI_hl_region_begin);
	FK_RETURN(hl_begin(name));
}

FK_API int PAPI_hl_read(const char *name)
{
	long long values[HL_EVENTS];
	struct fk_hl *hl;

	FK_ENTER(PAPI_hl_read);
	hl = hl_of_self();
	if (!hl || region(name, 0) < 0)
		FK_RETURN(PAPI_EMISC);
	FK_RETURN(hl_read(hl, values));
}

FK_API int PAPI_hl_region_end(const char *name)
{
	long long values[HL_EVENTS];
	struct fk_hl *hl;
	int r;

	FK_ENTER(PAPI_hl_region_end);
	hl = hl_of_self();
	r = hl ? region(name, 0) : -1;
	if (r < 0 || !regions[r].open)
		FK_RETURN(PAPI_EMISC);
	FK_RETURN(hl_read(hl, values));
}

FK_API int PAPI_hl_stop(void)
{
	struct fk_hl *hl;
	int rc = PAPI_OK;

	FK_ENTER(PAPI_hl_stop);
	hl = hl_of_self();
	if (!hl)
		FK_RETURN(PAPI_ENOEVNT);
	for (int i = 0; i < hl->n; i++) {
		long long values[HL_EVENTS];

		rc = FK_CALL(PAPI_stop, hl->set[i], values);
	}
	memset(hl, 0, sizeof(*hl));
	FK_RETURN(rc);
}

#endif
