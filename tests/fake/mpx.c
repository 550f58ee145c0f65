/* mpx.c: software multiplexing of the scripted libpapi: hidden sets, each of which PAPI makes
 * through the PLT.
 *
 * The multiplexed set itself counts everything (as if extrapolated without
 * error); the hidden ones only make the calls that PAPI makes, with the ids
 * that PAPI uses up.
 */
#include "fakelib.h"

int fk_mpx_add(struct fk_set *s, int code)
{
	PAPI_option_t o;
	int id = PAPI_NULL, rc;

	rc = FK_CALL(PAPI_create_eventset, &id);
	if (rc != PAPI_OK)
		return rc;
	fk.set[id]->hidden_of = s->id;
	rc = FK_CALL(PAPI_add_event, id, code);
	if (rc != PAPI_OK) {
		FK_CALL(PAPI_destroy_eventset, &id);
		return rc;
	}
	memset(&o, 0, sizeof(o));
	o.domain.eventset = id;
	o.domain.domain = s->domain;
	FK_CALL(PAPI_set_opt, PAPI_DOMAIN, &o);
	s->hidden[s->n_hidden++] = id;
	return PAPI_OK;
}

int fk_mpx_drop(struct fk_set *s, int i)
{
	FK_CALL(PAPI_cleanup_eventset, s->hidden[i]);
	FK_CALL(PAPI_destroy_eventset, &s->hidden[i]);
	s->n_hidden--;
	memmove(&s->hidden[i], &s->hidden[i + 1], (size_t)(s->n_hidden - i) * sizeof(s->hidden[0]));
	return PAPI_OK;
}

int fk_mpx_convert(struct fk_set *s)
{
	for (int i = 0; i < s->n; i++) {
		int rc = fk_mpx_add(s, s->code[i]);

		if (rc != PAPI_OK) {
			fk_mpx_cleanup(s);
			return rc;
		}
	}
	s->slow |= FK_SWMPX;
	return PAPI_OK;
}

void fk_mpx_cleanup(struct fk_set *s)
{
	while (s->n_hidden > 0)
		fk_mpx_drop(s, s->n_hidden - 1);
	s->slow &= ~FK_SWMPX;
}

int fk_mpx_start(struct fk_set *s)
{
	long long values[FK_PER_SET];
	int rc;

	s->current = 0;
	s->opener = fk_gettid();
	rc = FK_CALL(PAPI_start, s->hidden[0]);
	if (rc == PAPI_OK)
		rc = FK_CALL(PAPI_read, s->hidden[0], values);
	return rc;
}

int fk_mpx_read(struct fk_set *s)
{
	long long values[FK_PER_SET];

	return FK_CALL(PAPI_read, s->hidden[s->current], values);
}

int fk_mpx_stop(struct fk_set *s)
{
	long long values[FK_PER_SET];
	int rc = fk_mpx_read(s);

	if (rc == PAPI_OK)
		rc = FK_CALL(PAPI_stop, s->hidden[s->current], values);
	return rc;
}
