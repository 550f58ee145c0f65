/* papi-events.c: resolves PAPI's event names for `sspapi stat` into what libpapi requests from the
 * kernel.
 *
 * A child does it and answers through shared memory, so that nothing of libpapi, descriptors or
 * handlers, gets near the counted program. It adds each native event to a separate set.
 * libpapi's syscall() is replaced by ours: the attributes of the last perf_event_open that
 * succeeds are the event's.
 */
#include <glob.h>
#include <stdio.h>

#include "../../base/sys.h"
#include "../../events/formula.h"
#include "../../events/kinds.h"
#include "../../events/places.h"
#include "../../store/writer.h"
#include "../tool/suggest.h"
#include "subprocess.h"
#include "probe.h"
#include "kernel-events.h"
#include "libpapi.h"

/* PAPI 7.2 clears 23068 bytes, whatever papi.h we know. */
union room {
	PAPI_event_info_t info;
	char bytes[32768];
};

static struct perf_event_attr last_attr;
static bool has_opened;

/* ---- perf_event_open calls of libpapi ----------------------------------- */

static long on_syscall(long number, ...)
{
	long a[6], r;

	SP_SIX_WORDS(a, number);
	r = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_perf_event_open && r >= 0) {
		const struct perf_event_attr *attr = (const void *)a[0];

		memset(&last_attr, 0, sizeof(last_attr));
		memcpy(&last_attr, attr,
		       sp_min(attr->size ? attr->size : PERF_ATTR_SIZE_VER0, sizeof(last_attr)));
		has_opened = true;
	}
	return r;
}

/* Replaces syscall() in libpapi; this child ends soon. */
static bool stand_in_front(uintptr_t at, const char *name, bool in_plt, void *arg)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)in_plt;
	(void)arg;
	if (strcmp(name, "syscall") == 0) {
		mprotect((void *)(at & ~(page - 1)), page, PROT_READ | PROT_WRITE);
		*(uintptr_t *)at = (uintptr_t)on_syscall;
	}
	return false;
}

/* ---- suggestions -------------------------------------------------------- */

/* kernels: also consider kernel events, by libpfm4's names. */
static void consider_all(const struct sp_probe_papi *p, struct sp_suggestions *n,
			 const char *wanted, int code, int component, bool kernels)
{
	static union room room;
	char name[SP_STAT_NAME + 64];

	for (int r = p->PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, component); r == PAPI_OK;
	     r = p->PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, component)) {
		if (p->PAPI_event_code_to_name(code, name) != PAPI_OK ||
		    (!kernels && sp_kernel_event_is_by_libpfm4(name)))
			continue;
		/* Do not suggest presets that this machine lacks. */
		if (!(code & PAPI_NATIVE_MASK) &&
		    (p->PAPI_get_event_info(code, &room.info) != PAPI_OK || !room.info.count))
			continue;
		sp_suggest_consider(n, wanted, name);
	}
}

/* Considers libpfm4's names of kernel events only if no perf name has this ending. */
static void consider(const struct sp_probe_papi *p, struct sp_suggestions *n, const char *wanted)
{
	bool kernels;

	sp_kernel_events_suggest(n, wanted);
	kernels = !n->n_endings;
	consider_all(p, n, wanted, (int)PAPI_PRESET_MASK, 0, kernels);
	for (int i = 0; i < p->PAPI_num_components(); i++)
		consider_all(p, n, wanted, (int)PAPI_NATIVE_MASK, i, kernels);
}

/* ---- an event -------------------------------------------------------------------------- */

static bool wrong(struct sp_stat_plan *plan, const char *format, ...) SP_PRINTF(2, 3);
static bool wrong(struct sp_stat_plan *plan, const char *format, ...)
{
	va_list more;

	va_start(more, format);
	vsnprintf(plan->wrong, sizeof(plan->wrong), format, more);
	va_end(more);
	return false;
}

/* Does the name exclude a mode, as in perf::CYCLES:u or :k=1? */
static bool names_domain(const char *name)
{
	for (const char *p = strchr(name, ':'); p; p = strchr(p + 1, ':'))
		if (p[1] && strchr("ukh", p[1]) && (!p[2] || p[2] == ':' || p[2] == '='))
			return true;
	return false;
}

/* Returns its index in the plan, or -1 with plan->wrong. */
static int native(const struct sp_probe_papi *p, struct sp_stat_plan *plan, int code,
		  const char *name)
{
	struct sp_stat_native *n = &plan->native[plan->n_natives];
	int set = PAPI_NULL, r;

	for (uint32_t i = 0; i < plan->n_natives; i++)
		if (strcmp(plan->native[i].name, name) == 0)
			return (int)i;
	if (plan->n_natives == SP_STAT_NATIVES)
		return wrong(plan, "more than %u native events in total", SP_STAT_NATIVES) - 1;
	has_opened = false;
	r = p->PAPI_create_eventset(&set);
	r = r == PAPI_OK ? p->PAPI_add_event(set, code) : r;
	if (r != PAPI_OK)
		return wrong(plan, "PAPI refuses it here (%s)%s", p->PAPI_strerror(r),
			     r == PAPI_ENOEVNT || r == PAPI_ECNFLCT
				     ? ": there is no such counter, or none is free"
				     : "") -
		       1;
	if (!has_opened)
		return wrong(plan, "PAPI opened no event that could be observed") - 1;
	n->attr = last_attr;
	if (strncmp(name, "perf::", 6) == 0 &&
	    (n->attr.type == PERF_TYPE_HARDWARE || n->attr.type == PERF_TYPE_HW_CACHE))
		n->attr.config = (uint32_t)n->attr.config;	/* no named PMU (upper half):
								 * each CPU counts it on its own */
	n->as_named = names_domain(name);
	n->code = (uint32_t)code;
	snprintf(n->name, sizeof(n->name), "%s", name);
	return (int)plan->n_natives++;
}

static bool factors(struct sp_stat_plan *plan, struct sp_stat_event *e)
{
	bool sub = strcmp(e->derived, "DERIVED_SUB") == 0,
	     first = strcmp(e->derived, "DERIVED_CMPD") == 0,
	     formula = strstr(e->derived, "FIX") != NULL;
	double unit[SP_STAT_TERMS] = { 0 };

	if (!formula && !sub && !first && *e->derived && strcmp(e->derived, "NOT_DERIVED") != 0 &&
	    strcmp(e->derived, "DERIVED_ADD") != 0)
		return wrong(plan,
			     "PAPI computes it as %s, which is not a sum of counts: name its "
			     "native events",
			     e->derived);
	e->formula = formula && !sp_formula_is_linear(e->postfix);
	if (e->formula)
		return true;
	for (uint32_t i = 0; i < e->n; i++) {
		e->factor[i] = first && i ? 0 : sub && i ? -1 : 1;
		unit[i] = 1;
		if (formula && !sp_formula_value(e->postfix, unit, e->n, &e->factor[i]))
			return wrong(plan, "PAPI's formula for it cannot be read: %s", e->postfix);
		unit[i] = 0;
	}
	return true;
}

/* Sets PAPI's description. */
static void describe(struct sp_stat_event *e, const PAPI_event_info_t *info)
{
	snprintf(e->derived, sizeof(e->derived), "%s",
		 *info->derived ? info->derived : "NOT_DERIVED");
	snprintf(e->postfix, sizeof(e->postfix), "%s", info->postfix);
	snprintf(e->units, sizeof(e->units), "%s", info->units);
	snprintf(e->description, sizeof(e->description), "%s", info->long_descr);
}

static bool natives(const struct sp_probe_papi *p, struct sp_stat_plan *plan,
		    struct sp_stat_event *e, const PAPI_event_info_t *info)
{
	bool preset = e->code & 0x80000000u;
	uint32_t n = preset ? info->count : 1;
	const struct perf_event_attr *a;

	if (preset && !n)
		return wrong(plan, "PAPI has no such preset on this machine; run sspapi doctor");
	if (n > SP_STAT_TERMS)
		return wrong(plan, "it needs more than %u native events", SP_STAT_TERMS);
	for (e->n = 0; e->n < n; e->n++) {
		int at = preset ? native(p, plan, (int)info->code[e->n], info->name[e->n])
				: native(p, plan, (int)e->code, e->name);

		if (at < 0)
			return false;
		e->native[e->n] = (uint32_t)at;
	}
	/* PAPI does not give the unit of the kernel's clocks, ns, which is known for
	 * perf::TASK-CLOCK. */
	a = &plan->native[e->native[0]].attr;
	if (n == 1 && !*e->units && a->type == PERF_TYPE_SOFTWARE &&
	    (a->config == PERF_COUNT_SW_TASK_CLOCK || a->config == PERF_COUNT_SW_CPU_CLOCK))
		strcpy(e->units, "ns");
	return factors(plan, e);
}

/* Adds the parts of a quotient as events before it, so that they are counted together. */
static bool add_parts(struct sp_stat_plan *plan)
{
	struct sp_stat_event of = plan->event[plan->n_events];

	for (uint32_t i = 0; i < of.n; i++) {
		const struct sp_stat_native *n = &plan->native[of.native[i]];
		struct sp_stat_event *e = &plan->event[plan->n_events];
		uint32_t same = 0;

		while (same < plan->n_events && strcmp(plan->event[same].name, n->name) != 0)
			same++;
		if (same < plan->n_events)
			continue;
		if (plan->n_events + 1 == SP_STAT_EVENTS)
			return wrong(plan, "more than %u events", SP_STAT_EVENTS);
		*e = (struct sp_stat_event){
			.code = n->code, .n = 1, .native = { of.native[i] }, .factor = { 1 }
		};
		strcpy(e->name, n->name);
		strcpy(e->component, of.component);
		strcpy(e->derived, "NOT_DERIVED");
		plan->n_events++;
	}
	plan->event[plan->n_events] = of;
	return true;
}

/* Notes an event of a package, a device or the machine, counted in parallel with the program
 * (machine-events.c). PAPI adds it to a set here, so that a refusal is reported before the
 * program starts. */
static bool note_machine_event(const struct sp_probe_papi *p, struct sp_stat_plan *plan,
			       struct sp_stat_event *e, const PAPI_event_info_t *info)
{
	const struct sp_component_fact *fact = sp_component_fact(e->component);
	int set = PAPI_NULL, r;
	struct sp_event_place at;

	if (!fact || (fact->scope != SP_SCOPE_PACKAGE && fact->scope != SP_SCOPE_HOST &&
		      fact->scope != SP_SCOPE_DEVICE))
		return wrong(plan, "stat does not support PAPI's component %s", e->component);
	if (info->data_type >= PAPI_DATATYPE_BIT64)
		return wrong(plan, "its value is not a number");
	r = p->PAPI_create_eventset(&set);
	r = r == PAPI_OK ? p->PAPI_add_event(set, (int)e->code) : r;
	if (r != PAPI_OK)
		return wrong(plan, "PAPI refuses it here (%s)", p->PAPI_strerror(r));
	at = sp_event_place_find(fact->scope, e->component, e->name);
	e->is_machine_wide = true;
	e->keeps_on_start = fact->keeps & SP_KEEPS_ON_START;
	e->is_gauge = sp_event_kind(fact, e->name, SP_EVENT_TRAITS(info)) == SP_GAUGE;
	e->data_type = (uint8_t)info->data_type;
	e->scope = (uint8_t)fact->scope;
	e->place = (uint8_t)at.place;
	e->place_id = at.id;
	return true;
}

/* ---- kernel events ------------------------------------------------------ */

bool sp_stat_plan_kernels(struct sp_stat_plan *p, const char *text, bool *good)
{
	struct sp_stat_event *e = &p->event[p->n_events];
	struct sp_stat_native *n = &p->native[p->n_natives];
	struct perf_event_attr a;
	char name[SP_STAT_NAME];
	const struct sp_kernel_event *is = sp_kernel_event_named(text, &a, name, sizeof(name));
	const char *why =
		is ? sp_kernel_event_why(is->type, sp_kernel_event_try_open(is, false)) : NULL;

	*good = !why && p->n_events < SP_STAT_EVENTS && p->n_natives < SP_STAT_NATIVES;
	if (!is)
		return false;
	if (sp_stat_is_planned(p, name)) {
		*good = true;
		return true;
	}
	if (!*good) {
		snprintf(p->wrong, sizeof(p->wrong), "%s: %s", text, why ? why : "too many events");
		return true;
	}
	*e = (struct sp_stat_event){ .n = 1, .native = { p->n_natives++ }, .factor = { 1 } };
	strcpy(e->name, name);
	strcpy(e->component, "perf_event");
	strcpy(e->derived, "NOT_DERIVED");
	strcpy(e->units, is->units);
	strcpy(e->description, is->description);
	*n = (struct sp_stat_native){ .attr = a, .as_named = a.exclude_user || a.exclude_kernel };
	strcpy(n->name, name);
	p->n_events++;
	return true;
}

/* ---- a name ---------------------------------------------------------------------------------- */

/* Does PAPI have an event of this name? */
static bool has_event(const struct sp_probe_papi *p, const char *name, int *code,
		  PAPI_event_info_t *info)
{
	return p->PAPI_event_name_to_code((char *)name, code) == PAPI_OK &&
	       p->PAPI_get_event_info(*code, info) == PAPI_OK;
}

static bool add(const struct sp_probe_papi *p, struct sp_stat_plan *plan, const char *name,
		int code, const PAPI_event_info_t *info)
{
	struct sp_stat_event *e = &plan->event[plan->n_events];
	const PAPI_component_info_t *component;
	bool known;

	if (sp_stat_is_planned(plan, name))
		return true;
	memset(e, 0, sizeof(*e));
	snprintf(e->name, sizeof(e->name), "%s", name);
	e->code = (uint32_t)code;
	describe(e, info);
	component = p->PAPI_get_component_info(p->PAPI_get_event_component(code));
	snprintf(e->component, sizeof(e->component), "%s", component ? component->name : "");
	known = strcmp(e->component, "perf_event") == 0 ? natives(p, plan, e, info)
							: note_machine_event(p, plan, e, info);
	if (!known || (e->formula && !add_parts(plan)))
		return false;
	plan->n_events++;
	return true;
}

#define PERF_ONLY "not supported: only perf counts this event; sspapi list shows the others"

/* Return whether perf accepts the name, which stat does not: PMU/TERMS/, a breakpoint, a
 * tracepoint, an event of a PMU's list, or one with another modifier of perf's. */
static bool is_of_perf_only(const char *name)
{
	const char *colon = strchr(name, ':');
	size_t n = colon ? (size_t)(colon - name) : strlen(name);
	struct perf_event_attr a;
	char path[600], known[SP_STAT_NAME], stored[SP_STAT_NAME];
	glob_t found = { 0 };
	bool is_listed;

	if (n > 1 && *name == 'r' && strspn(name + 1, "0123456789abcdefABCDEF") == n - 1)
		return true;
	if ((strchr(name, '/') && *name != '/') || strncmp(name, "mem:0x", 6) == 0)
		return true;
	if (n > 200 || strpbrk(name, "*?[]\\\"/"))
		return false;
	snprintf(known, sizeof(known), "%.*s", (int)n, name);
	if (colon && colon[1] && strspn(colon + 1, "ukhIGHpPSDWeb") == strlen(colon + 1) &&
	    sp_kernel_event_named(known, &a, stored, sizeof(stored)))
		return true;
	if (colon && colon[1] != ':')
		snprintf(path, sizeof(path), "/sys/kernel/t*/events/%.*s/%.200s", (int)n, name,
			 colon + 1);
	else
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/*/events/%.200s", name);
	is_listed = glob(path, GLOB_NOSORT, NULL, &found) == 0;
	globfree(&found);
	/* Only root can read the list of tracepoints; these are the usual groups. */
	return is_listed || strncmp(name, "syscalls:", 9) == 0 || strncmp(name, "sched:", 6) == 0 ||
	       strncmp(name, "raw_syscalls:", 13) == 0;
}

/* By a name of PAPI's, or a unique ending of one of PAPI's or the kernel's. */
static bool event(const struct sp_probe_papi *p, struct sp_stat_plan *plan, const char *name)
{
	static union room room;
	PAPI_event_info_t *info = memset(&room, 0, sizeof(room));
	struct sp_suggestions similar = { 0 };
	const char *whole;
	bool good;
	int code = 0;

	if (has_event(p, name, &code, info))
		return add(p, plan, name, code, info);
	consider(p, &similar, name);
	whole = sp_suggest_ending(&similar);
	if (whole && sp_stat_plan_kernels(plan, whole, &good))
		return good;
	if (whole && has_event(p, whole, &code, info))
		return add(p, plan, whole, code, info);
	if (is_of_perf_only(name))
		return wrong(plan, PERF_ONLY);
	wrong(plan, "no such event");
	sp_suggest_write(&similar, plan->wrong, sizeof(plan->wrong));
	if (!strchr(plan->wrong, ';'))
		strncat(plan->wrong, "; sspapi list shows the available ones",
			sizeof(plan->wrong) - strlen(plan->wrong) - 1);
	return false;
}

/* ---- in a child ----------------------------------------------------------------------------- */

struct question {
	struct sp_stat_plan *plan;
	char *const *name;
	unsigned n;
	bool by_default;
};

static void query(void *question, int to)
{
	const struct question *q = question;
	struct sp_stat_plan *plan = q->plan;
	struct sp_probe_papi p = { 0 };
	const char *bad = sp_probe_load(&p, plan->papi);
	int r = bad ? 0 : sp_probe_init(&p, plan->papi);

	(void)to;
	if (bad || r <= 0) {
		wrong(plan, "%s: %s", plan->papi,
		      bad	  ? bad
		      : p.version ? p.PAPI_strerror(r)
				  : "unknown version");
		return;
	}
	plan->papi_version = (uint32_t)p.version;
	sp_probe_each(&p, stand_in_front);
	for (unsigned i = 0; i < q->n && plan->n_events < SP_STAT_EVENTS; i++) {
		uint32_t natives_before = plan->n_natives, events_before = plan->n_events;

		if (!event(&p, plan, q->name[i])) {
			plan->n_natives = natives_before;
			plan->n_events = events_before;
			if (!q->by_default) {
				char why[sizeof(plan->wrong)];

				strcpy(why, plan->wrong);
				wrong(plan, "%.*s: %.1000s", (int)SP_STAT_NAME - 100, q->name[i],
				      why);
				return;
			}
		}
	}
	plan->wrong[0] = 0;
}

/* Without libpapi, only endings of the kernel's names can be resolved. */
static bool query_without_papi(struct sp_stat_plan *plan, char *const *name, unsigned n)
{
	bool good = true;

	for (unsigned i = 0; good && i < n; i++) {
		struct sp_suggestions similar = { 0 };

		sp_kernel_events_suggest(&similar, name[i]);
		if (sp_suggest_ending(&similar) &&
		    sp_stat_plan_kernels(plan, sp_suggest_ending(&similar), &good))
			continue;
		if (is_of_perf_only(name[i]))
			return wrong(plan, "%s: " PERF_ONLY, name[i]);
		good = wrong(plan,
			     "%s: not a kernel event, and no libpapi is found that might support "
			     "it",
			     name[i]);
		sp_suggest_write(&similar, plan->wrong, sizeof(plan->wrong));
	}
	return good;
}

bool sp_stat_query_papi(struct sp_stat_plan *plan, char *const *name, unsigned n, bool by_default)
{
	struct question q = { plan, name, n, by_default };
	const char *how;

	if (!*plan->papi)
		return query_without_papi(plan, name, n);
	strcpy(plan->wrong, "PAPI did not answer");
	how = sp_run_in_child(query, &q, NULL, NULL);
	if (how)
		return wrong(plan, "%s %s", plan->papi, how);
	return !*plan->wrong;
}
