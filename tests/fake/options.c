/* options.c: set_opt, get_opt and the functions that are made of them, of the scripted libpapi. */
#include <sched.h>

#include "fakelib.h"

static PAPI_hw_info_t hardware;

static struct fake_component *component_of(const struct fk_set *s)
{
	return &fk.component[s->cidx].c;
}

/* The set, if it is one with a component; else NULL and the error. */
static struct fk_set *ready(int es, int *error)
{
	struct fk_set *s = fk_lookup(es);

	*error = !s ? PAPI_ENOEVST : s->cidx < 0 ? PAPI_ENOCMP : PAPI_OK;
	return *error == PAPI_OK ? s : NULL;
}

static int attach(int es, unsigned long tid)
{
	int error;
	struct fk_set *s = ready(es, &error);

	if (!s)
		return error;
	if (component_of(s)->no_attach)
		return PAPI_ECMP;
	if (!(s->state & PAPI_STOPPED))
		return PAPI_EISRUN;
	if (s->state & PAPI_ATTACHED)
		return PAPI_EINVAL;
	if (s->state & PAPI_CPU_ATTACHED)
		return PAPI_ECMP;
	fk_set_touch(s);		/* under whom it is taken from; not under the target */
	s->attached = s->ctl_tid = (int)tid;
	s->state |= PAPI_ATTACHED;
	s->master = fk_master_of_target(tid);	/* an entry of its own in PAPI_list_threads */
	fk_set_open_only(s);
	return PAPI_OK;
}

static int detach(int es)
{
	int error;
	struct fk_set *s = ready(es, &error);

	if (!s)
		return error;
	if (component_of(s)->no_attach || s->state & PAPI_CPU_ATTACHED)
		return PAPI_ECMP;
	if (!(s->state & PAPI_STOPPED))
		return PAPI_EISRUN;
	if (!(s->state & PAPI_ATTACHED))
		return PAPI_EINVAL;
	fk_set_touch(s);
	s->state &= ~PAPI_ATTACHED;
	s->attached = s->ctl_tid = 0;		/* who is counted stays so until they are opened
						 * again, and the master */
	return PAPI_OK;
}

static int cpu_attach(int es, unsigned cpu)
{
	int error;
	struct fk_set *s = ready(es, &error);

	if (!s)
		return error;
	if (component_of(s)->no_cpu)
		return PAPI_ECMP;
	if (s->state & PAPI_ATTACHED || s->inherit)
		return PAPI_EINVAL;
	if (!(s->state & PAPI_STOPPED))
		return PAPI_EISRUN;
	if (!(s->state & PAPI_CPU_ATTACHED))
		fk_set_touch(s);
	s->cpu = s->ctl_cpu = (int)cpu;
	if (s->state & PAPI_CPU_ATTACHED)
		fk_set_touch(s);
	s->state |= PAPI_CPU_ATTACHED;
	return PAPI_OK;
}

static int multiplex(PAPI_multiplex_option_t *o)
{
	int error;
	struct fk_set *s = ready(o->eventset, &error);

	if (!s)
		return error;
	if (!(s->state & PAPI_STOPPED))
		return PAPI_EISRUN;
	if (s->state & PAPI_MULTIPLEXING || o->ns < 0)
		return PAPI_EINVAL;
	s->mpx_flags = o->flags;
	s->mpx_ns = o->ns;
	if (component_of(s)->no_kernel_multiplex || o->flags & PAPI_MULTIPLEX_FORCE_SW) {
		int rc = fk_mpx_convert(s);

		if (rc != PAPI_OK)
			return rc;
	} else {
		fk_set_open(s);
	}
	s->state |= PAPI_MULTIPLEXING;
	return PAPI_OK;
}

static int domain(const PAPI_domain_option_t *o)
{
	struct fk_set *s;
	int error;

	if (o->domain < PAPI_DOM_MIN || o->domain > PAPI_DOM_MAX)
		return PAPI_EINVAL_DOM;
	s = ready(o->eventset, &error);
	if (!s)
		return error;
	if (!(s->state & PAPI_STOPPED))
		return PAPI_EISRUN;
	s->domain = o->domain;
	fk_set_touch(s);
	return PAPI_OK;
}

static int granularity(const PAPI_granularity_option_t *o)
{
	struct fk_set *s;
	int error;

	if (o->granularity < PAPI_GRN_MIN || o->granularity > PAPI_GRN_MAX)
		return PAPI_EINVAL;
	s = ready(o->eventset, &error);
	if (!s)
		return error;
	if (o->granularity & ~component_of(s)->granularities ||
	    o->granularity & (o->granularity - 1))
		return PAPI_EINVAL;
	s->granularity = o->granularity;
	if (s->granularity == PAPI_GRN_SYS)
		s->ctl_cpu = sched_getcpu();	/* perf_event pins to the CPU of this call */
	return PAPI_OK;
}

static int inherit(const PAPI_inherit_option_t *o)
{
	int error;
	struct fk_set *s = ready(o->eventset, &error);

	if (!s)
		return error;
	if (component_of(s)->no_inherit)
		return PAPI_ECMP;
	if (!(s->state & PAPI_STOPPED))
		return PAPI_EISRUN;
	if (s->state & PAPI_CPU_ATTACHED)
		return PAPI_EINVAL;
	s->inherit = o->inherit;
	fk_set_touch(s);
	return PAPI_OK;
}

static int default_domain(const PAPI_domain_option_t *o)
{
	if (o->def_cidx < 0 || o->def_cidx >= fk.n_components)
		return PAPI_ENOCMP;
	if (o->domain < PAPI_DOM_MIN || o->domain > PAPI_DOM_MAX)
		return PAPI_EINVAL;
	fk.component[o->def_cidx].domain = o->domain;
	return PAPI_OK;
}

static int set_opt(int option, PAPI_option_t *o)
{
	switch (option) {
	case PAPI_ATTACH:	return attach(o->attach.eventset, o->attach.tid);
	case PAPI_DETACH:	return detach(o->attach.eventset);
	case PAPI_CPU_ATTACH:	return cpu_attach(o->cpu.eventset, o->cpu.cpu_num);
	case PAPI_MULTIPLEX:	return multiplex(&o->multiplex);
	case PAPI_DOMAIN:	return domain(&o->domain);
	case PAPI_GRANUL:	return granularity(&o->granularity);
	case PAPI_INHERIT:	return inherit(&o->inherit);
	case PAPI_DEFDOM:	return default_domain(&o->defdomain);
	}
	return PAPI_EINVAL;
}

FK_API int PAPI_set_opt(int option, PAPI_option_t *ptr)
{
	FK_ENTER(PAPI_set_opt);
	if (!fk.initialised)
		FK_RETURN(PAPI_ENOINIT);
	FK_RETURN(ptr ? set_opt(option, ptr) : PAPI_EINVAL);
}

static int get_of_set(int option, int es, PAPI_option_t *o)
{
	struct fk_set *s = fk_lookup(es);

	if (!s)
		return PAPI_ENOEVST;
	switch (option) {
	case PAPI_ATTACH:
	case PAPI_DETACH:
		o->attach.tid = (unsigned long)s->attached;
		return !!(s->state & PAPI_ATTACHED) == (option == PAPI_ATTACH);
	case PAPI_CPU_ATTACH:
		if (s->cpu < 0)
			fk_die("PAPI_get_opt(PAPI_CPU_ATTACH) on a set without one: the real one "
			       "crashes here");
		o->cpu.cpu_num = (unsigned)s->cpu;
		return !!(s->state & PAPI_CPU_ATTACHED);
	case PAPI_MULTIPLEX:
		o->multiplex.ns = s->mpx_ns;
		o->multiplex.flags = s->mpx_flags;
		return !!(s->state & PAPI_MULTIPLEXING);
	case PAPI_INHERIT:
		o->inherit.inherit = s->inherit;
		break;
	case PAPI_GRANUL:
		o->granularity.granularity = s->granularity;
		break;
	default:
		o->domain.domain = s->domain;
	}
	return PAPI_OK;
}

static int get_opt(int option, PAPI_option_t *o)
{
	switch (option) {
	case PAPI_ATTACH:
	case PAPI_DETACH:
	case PAPI_CPU_ATTACH:
	case PAPI_MULTIPLEX:
	case PAPI_INHERIT:
		return get_of_set(option, o->attach.eventset, o);	/* the same place for all */
	case PAPI_DOMAIN:
		return get_of_set(option, o->domain.eventset, o);
	case PAPI_GRANUL:
		return get_of_set(option, o->granularity.eventset, o);
	}
	return PAPI_EINVAL;
}

FK_API int PAPI_get_opt(int option, PAPI_option_t *ptr)
{
	FK_ENTER(PAPI_get_opt);
	if (option == PAPI_LIB_VERSION && (fk.initialised || FAKE_PAPI_VERSION >= 0x0700))
		FK_RETURN(FK_VERSION);
	if (!fk.initialised)
		FK_RETURN(PAPI_ENOINIT);
	if (option == PAPI_CLOCKRATE)
		FK_RETURN(2000);
	FK_RETURN(ptr ? get_opt(option, ptr) : PAPI_EINVAL);
}

/* ---- made of these ----------------------------------------------------- */

static int call_set_opt(int option, PAPI_option_t *o)
{
	return FK_CALL(PAPI_set_opt, option, o);
}

FK_API int PAPI_attach(int EventSet, unsigned long tid)
{
	PAPI_option_t o = { .attach = { .eventset = EventSet, .tid = tid } };

	FK_ENTER(PAPI_attach);
	FK_RETURN(call_set_opt(PAPI_ATTACH, &o));
}

FK_API int PAPI_detach(int EventSet)
{
	PAPI_option_t o = { .attach = { .eventset = EventSet } };

	FK_ENTER(PAPI_detach);
	FK_RETURN(call_set_opt(PAPI_DETACH, &o));
}

FK_API int PAPI_set_multiplex(int EventSet)
{
	PAPI_option_t o = { .multiplex = { .eventset = EventSet,
					   .flags = PAPI_MULTIPLEX_DEFAULT } };

	FK_ENTER(PAPI_set_multiplex);
	FK_RETURN(call_set_opt(PAPI_MULTIPLEX, &o));
}

FK_API int PAPI_set_cmp_domain(int domain, int cidx)
{
	PAPI_option_t o = { .defdomain = { .def_cidx = cidx, .domain = domain } };

	FK_ENTER(PAPI_set_cmp_domain);
	FK_RETURN(call_set_opt(PAPI_DEFDOM, &o));
}

FK_API int PAPI_set_domain(int domain)
{
	FK_ENTER(PAPI_set_domain);
	FK_JUMP(PAPI_set_cmp_domain, domain, 0);
}

FK_API const PAPI_hw_info_t *PAPI_get_hardware_info(void)
{
	FK_NOTE(PAPI_get_hardware_info);
	fk_leave(fk_me, 0);
	return &hardware;
}
