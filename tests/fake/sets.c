/* sets.c: making, filling, emptying and asking for event sets of the scripted libpapi. */
#include <stdio.h>

#include "fakelib.h"

/* PAPI has no table before library_init and after shutdown, but lets id 0 past
 * its bounds check. */
struct fk_set *fk_set_uninitialised(int es)
{
	if (es == 0)
		fk_die("set 0 looked up while PAPI is not initialised: the real one crashes here");
	return NULL;
}

int fk_set_new(struct fk_master *m)
{
	struct fk_set *s;
	int id;

	fk_lock();
	for (id = 0; id < FK_SETS && fk.set[id] && fk.set[id]->used; id++)
		;
	if (id == FK_SETS) {
		fk_unlock();
		return PAPI_ENOMEM;
	}
	s = fk.set[id] ? fk.set[id] : calloc(1, sizeof(*s));
	if (!s) {
		fk_unlock();
		return PAPI_ENOMEM;
	}
	memset((char *)s + sizeof(s->counts_for), 0, sizeof(*s) - sizeof(s->counts_for));
	s->id = id;
	s->state = PAPI_STOPPED;
	s->cidx = s->cpu = s->ctl_cpu = s->hidden_of = -1;
	s->master = m;
	s->granularity = PAPI_GRN_THR;
	s->domain = PAPI_DOM_USER;
	s->used = 1;
	__atomic_store_n(&fk.set[id], s, __ATOMIC_RELEASE);
	if (id >= fk.n_sets)
		__atomic_store_n(&fk.n_sets, id + 1, __ATOMIC_RELEASE);
	fk_unlock();
	return id;
}

/* Where it is kept which set was touched last. */
static struct fk_set **last_of(const struct fk_set *s)
{
	return s->state & PAPI_CPU_ATTACHED ? &fk.last_on[(unsigned)s->cpu % FK_CPUS]
					    : &s->master->last;
}

void fk_set_touch(struct fk_set *s)
{
	*last_of(s) = s;
}

int fk_set_touched(const struct fk_set *s)
{
	return *last_of(s) == s;
}

void fk_set_free(struct fk_set *s)
{
	for (int i = 0; i < FK_COMPONENTS; i++)
		if (s->master->running[i] == s)
			s->master->running[i] = NULL;
	if (*last_of(s) == s)
		*last_of(s) = NULL;
	fk_kernel_close(s);
	__atomic_store_n(&s->counts_for, 0, __ATOMIC_RELAXED);
	s->used = 0;
}

/* The fds are opened: from now on the set counts this thread (or its target). */
void fk_set_open_only(struct fk_set *s)
{
	s->opener = s->ctl_tid ? s->ctl_tid : fk_gettid();
	s->opens++;
	memset(s->live, 0, sizeof(s->live));
	fk_kernel_open(s);
}

void fk_set_open(struct fk_set *s)
{
	fk_set_open_only(s);
	fk_set_touch(s);
}

FK_API int PAPI_create_eventset(int *EventSet)
{
	int id;

	FK_ENTER(PAPI_create_eventset);
	if (!fk.initialised)
		FK_RETURN(PAPI_ENOINIT);
	if (!EventSet || *EventSet != PAPI_NULL)
		FK_RETURN(PAPI_EINVAL);
	id = fk_set_new(fk_master_of_self());
	if (id >= 0)
		*EventSet = id;
	FK_RETURN(id < 0 ? id : PAPI_OK);
}

FK_API int PAPI_assign_eventset_component(int EventSet, int cidx)
{
	struct fk_set *s;

	FK_ENTER(PAPI_assign_eventset_component);
	s = fk_lookup(EventSet);
	if (!s)
		FK_RETURN(PAPI_ENOEVST);
	if (cidx < 0 || cidx >= fk.n_components)
		FK_RETURN(PAPI_ENOCMP);
	if (s->cidx >= 0)
		FK_RETURN(PAPI_EINVAL);
	s->cidx = cidx;
	s->granularity = fk.component[cidx].c.granularity;
	s->domain = fk.component[cidx].domain;
	FK_RETURN(PAPI_OK);
}

static int add(struct fk_set *s, int code)
{
	int e = fk_event_of_code(code);

	if (e < 0)
		return PAPI_ENOEVNT;
	if (fk.component[fk.event[e].cidx].c.disabled)
		return PAPI_ECMP_DISABLED;
	if (s->cidx >= 0 && s->cidx != fk.event[e].cidx)
		return PAPI_EINVAL;
	for (int i = 0; i < s->n; i++)
		if (s->code[i] == code)
			return PAPI_ECNFLCT;
	if (s->n >= (fk_sw_multiplexed(s) ? FK_HIDDEN : FK_PER_SET))
		return PAPI_ECNFLCT;
	if (fk_sw_multiplexed(s)) {
		int rc = fk_mpx_add(s, code);

		if (rc != PAPI_OK)
			return rc;
	}
	if (s->cidx < 0) {
		s->cidx = fk.event[e].cidx;
		s->granularity = fk.component[s->cidx].c.granularity;
		s->domain = fk.component[s->cidx].domain;
	}
	s->code[s->n] = code;
	s->event[s->n] = (short)e;
	s->saved[s->n] = 0;
	s->n++;
	if (fk.event[e].divides)
		s->slow |= FK_DIVIDES;
	fk_set_open(s);
	return PAPI_OK;
}

FK_API int PAPI_add_event(int EventSet, int Event)
{
	struct fk_set *s;

	FK_ENTER(PAPI_add_event);
	s = fk_lookup(EventSet);
	if (!s)
		FK_RETURN(PAPI_ENOEVST);
	if (!(Event & (int)PAPI_PRESET_MASK) && !(Event & PAPI_NATIVE_MASK))
		FK_RETURN(PAPI_EINVAL);
	if (s->state & PAPI_RUNNING)
		FK_RETURN(PAPI_EISRUN);
	FK_RETURN(add(s, Event));
}

FK_API int PAPI_add_events(int EventSet, int *Events, int number)
{
	FK_ENTER(PAPI_add_events);
	if (!Events || number <= 0)
		FK_RETURN(PAPI_EINVAL);
	for (int i = 0; i < number; i++) {
		int rc = FK_CALL(PAPI_add_event, EventSet, Events[i]);

		if (rc != PAPI_OK)
			FK_RETURN(i ? i : rc);
	}
	FK_RETURN(PAPI_OK);
}

FK_API int PAPI_add_named_event(int EventSet, const char *EventName)
{
	int code, rc;

	FK_ENTER(PAPI_add_named_event);
	rc = FK_CALL(PAPI_event_name_to_code, EventName, &code);
	if (rc == PAPI_OK)
		rc = FK_CALL(PAPI_add_event, EventSet, code);
	FK_RETURN(rc);
}

/* The events behind it move down, the saved values stay where they are. */
int fk_set_drop(struct fk_set *s, int code)
{
	int i;

	for (i = 0; i < s->n && s->code[i] != code; i++)
		;
	if (i == s->n)
		return PAPI_EINVAL;
	if (fk_sw_multiplexed(s))
		fk_mpx_drop(s, i);
	s->n--;
	memmove(&s->code[i], &s->code[i + 1], (size_t)(s->n - i) * sizeof(s->code[0]));
	memmove(&s->event[i], &s->event[i + 1], (size_t)(s->n - i) * sizeof(s->event[0]));
	s->slow &= ~FK_DIVIDES;
	for (i = 0; i < s->n; i++)
		if (fk.event[s->event[i]].divides)
			s->slow |= FK_DIVIDES;
	fk_set_open(s);
	return PAPI_OK;
}

FK_API int PAPI_remove_event(int EventSet, int EventCode)
{
	struct fk_set *s;

	FK_ENTER(PAPI_remove_event);
	s = fk_lookup(EventSet);
	if (!s)
		FK_RETURN(PAPI_ENOEVST);
	if (!(EventCode & (int)PAPI_PRESET_MASK) && !(EventCode & PAPI_NATIVE_MASK))
		FK_RETURN(PAPI_EINVAL);
	if (!(s->state & PAPI_STOPPED))
		FK_RETURN(PAPI_EISRUN);
	FK_RETURN(fk_set_drop(s, EventCode));
}

FK_API int PAPI_remove_named_event(int EventSet, const char *EventName)
{
	int code, rc;

	FK_ENTER(PAPI_remove_named_event);
	rc = FK_CALL(PAPI_event_name_to_code, EventName, &code);
	if (rc == PAPI_OK)
		rc = FK_CALL(PAPI_remove_event, EventSet, code);
	FK_RETURN(rc);
}

void fk_set_empty(struct fk_set *s)
{
	if (s->state & PAPI_CPU_ATTACHED)
		*last_of(s) = NULL;		/* PAPI drops its record of the CPU */
	else
		fk_set_touch(s);
	s->n = 0;
	fk_kernel_close(s);
	s->cidx = s->cpu = s->ctl_cpu = -1;
	s->slow = 0;
	s->state &= ~(PAPI_ATTACHED | PAPI_CPU_ATTACHED | PAPI_MULTIPLEXING);
	s->attached = s->ctl_tid = s->inherit = 0;
	s->granularity = PAPI_GRN_THR;
	memset(s->saved, 0, sizeof(s->saved));
}

FK_API int PAPI_cleanup_eventset(int EventSet)
{
	struct fk_set *s;

	FK_ENTER(PAPI_cleanup_eventset);
	s = fk_lookup(EventSet);
	if (!s)
		FK_RETURN(PAPI_ENOEVST);
	if (s->cidx < 0)
		FK_RETURN(PAPI_OK);
	if (s->state & PAPI_RUNNING)
		FK_RETURN(PAPI_EISRUN);
	if (fk_sw_multiplexed(s))
		fk_mpx_cleanup(s);
	fk_set_empty(s);
	FK_RETURN(PAPI_OK);
}

FK_API int PAPI_destroy_eventset(int *EventSet)
{
	struct fk_set *s;

	FK_ENTER(PAPI_destroy_eventset);
	if (!EventSet)
		FK_RETURN(PAPI_EINVAL);
	s = fk_lookup(*EventSet);
	if (!s)
		FK_RETURN(PAPI_ENOEVST);
	if (!(s->state & PAPI_STOPPED))
		FK_RETURN(PAPI_EISRUN);
	if (s->n)
		FK_RETURN(PAPI_EINVAL);
	fk_lock();
	fk_set_free(s);
	fk_unlock();
	*EventSet = PAPI_NULL;
	FK_RETURN(PAPI_OK);
}

FK_API int PAPI_num_events(int EventSet)
{
	struct fk_set *s;

	FK_ENTER(PAPI_num_events);
	s = fk_lookup(EventSet);
	FK_RETURN(s ? s->n : PAPI_ENOEVST);
}

FK_API int PAPI_list_events(int EventSet, int *Events, int *number)
{
	struct fk_set *s;
	int n;

	FK_ENTER(PAPI_list_events);
	n = *number;				/* NULL crashes, as in PAPI */
	if (n < 0 || (!Events && n > 0))
		FK_RETURN(PAPI_EINVAL);
	s = fk_lookup(EventSet);
	if (!s)
		FK_RETURN(PAPI_ENOEVST);
	if (n > s->n || !Events || !n)
		n = s->n;
	if (Events && *number)
		memcpy(Events, s->code, (size_t)n * sizeof(*Events));
	*number = n;
	FK_RETURN(PAPI_OK);
}

FK_API int PAPI_state(int EventSet, int *status)
{
	struct fk_set *s;

	FK_ENTER(PAPI_state);
	if (!status)
		FK_RETURN(PAPI_EINVAL);
	s = fk_lookup(EventSet);
	if (s)
		*status = s->state;
	FK_RETURN(s ? PAPI_OK : PAPI_ENOEVST);
}

FK_API int PAPI_get_eventset_component(int EventSet)
{
	struct fk_set *s;

	FK_ENTER(PAPI_get_eventset_component);
	s = fk_lookup(EventSet);
	if (!s)
		FK_RETURN(PAPI_ENOEVST);
	FK_RETURN(s->cidx < 0 ? PAPI_ENOCMP : s->cidx);
}
