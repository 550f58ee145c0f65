/* events.c: asks PAPI what an event code is, once, and keeps the answer; see events.h. */
#include <string.h>

#include "../../core/out.h"
#include "../../core/sys.h"
#include "events.h"
#include "formula.h"
#include "kinds.h"

#define ROOM		8192u		/* codes remembered; a power of two */
#define INFO_BYTES	32768u		/* PAPI 7.2 clears 23068 bytes, whatever papi.h we know */

static struct sp_event_seen *seen;
static uint32_t n_seen;
static struct sp_lock lock;
static char *scratch;			/* INFO_BYTES; guarded by lock */

void sp_events_forget(void)
{
	sp_unmap(seen, ROOM * sizeof(*seen));
	seen = NULL;
	n_seen = 0;
	lock.taken = 0;
}

static struct sp_event_seen *slot_of(uint32_t code)
{
	uint32_t i = (code * 2654435761u) & (ROOM - 1);

	while (seen[i].code && seen[i].code != code)
		i = (i + 1) & (ROOM - 1);
	return &seen[i];
}

/* The structs grew from version to version; these places did not move (8.). */
const char *sp_component_name(const struct sp_real *papi, int component)
{
	const PAPI_component_info_t *c = papi->PAPI_get_component_info ? papi->PAPI_get_component_info(component) : NULL;

	return c && memchr(c->name, 0, PAPI_MAX_STR_LEN) ? c->name : "";
}

/* Where default_granularity is, by version (papi-facts 8.). */
enum sp_scope sp_component_claims(const struct sp_real *papi, int component)
{
	const void *c = papi->PAPI_get_component_info ? papi->PAPI_get_component_info(component) : NULL;
	uint32_t version = sp_store.header ? sp_store.header->papi_version >> 16 : 0;
	int granularity = PAPI_GRN_THR;

	if (c && version)
		memcpy(&granularity, (const char *)c + (version < 0x0700 ? 672 : version < 0x0702 ? 1572 : 2600),
		       sizeof(granularity));
	return granularity == PAPI_GRN_SYS || granularity == PAPI_GRN_SYS_CPU ? SP_SCOPE_HOST :
	       granularity == PAPI_GRN_PROC || granularity == PAPI_GRN_PROCG ? SP_SCOPE_PROCESS : SP_SCOPE_THREAD;
}

/* The natives of a preset, and how often each counts; a native event is its own. */
static void find_terms(struct sp_event_seen *e, const PAPI_event_info_t *info)
{
	struct sp_terms *t = &e->terms;
	unsigned n = info->count < SP_TERMS_MOST ? info->count : 0;
	bool postfix = strstr(info->derived, "FIX") != NULL, sub = strcmp(info->derived, "DERIVED_SUB") == 0;
	double unit[SP_TERMS_MOST] = { 0 };

	if (e->kind != SP_COUNTER || e->data_type == SP_FP64)
		return;
	if (!(e->code & 0x80000000u)) {
		*t = (struct sp_terms){ .n = 1, .native = { e->code }, .factor = { 1 } };
		return;
	}
	if (!*info->derived || strcmp(info->derived, "NOT_DERIVED") == 0 || strcmp(info->derived, "DERIVED_CMPD") == 0)
		n = n ? 1 : 0;
	else if (strcmp(info->derived, "DERIVED_ADD") != 0 && !sub && !postfix)
		return;
	for (unsigned i = 0; i < n; i++) {
		t->native[i] = info->code[i];
		unit[i] = 1;
		t->factor[i] = sub && i ? -1 : 1;
		if (postfix && !sp_formula_value(info->postfix, unit, n, &t->factor[i]))
			return;
		unit[i] = 0;
	}
	t->n = n;
}

/* Where a component's list of PMUs is, by version, and how long it may be (papi-facts 8.). */
static const char *const *pmu_names(const void *component, uint32_t version, uint32_t *most)
{
	*most = version < 0x0700 ? 40 : 80;
	return (const char *const *)((const char *)component + (version < 0x0700 ? 688 : version < 0x0702 ? 1592 : 2616));
}

/* Of every component that is up by now: which machine this is, for tables of metrics.  Once. */
static void store_pmus(const struct sp_real *papi)
{
	uint32_t version = sp_store.header ? sp_store.header->papi_version >> 16 : 0, most;
	const void *c;
	struct sp_held h;
	struct sp_out o;

	if (!version || !papi->PAPI_get_component_info || sp_store.header->pmus)
		return;
	sp_out_init(&o, -1, scratch, INFO_BYTES - 1);
	for (int i = 0; (c = papi->PAPI_get_component_info(i)) != NULL; i++) {
		const char *const *name = pmu_names(c, version, &most);

		for (uint32_t k = 0; k < most && name[k]; k++) {
			sp_out_text(&o, o.used ? "," : "");
			sp_out_text(&o, name[k]);
		}
	}
	scratch[o.used] = 0;
	sp_lock_take(&sp_store.lock, &h);
	sp_store.header->pmus = sp_store_text(&sp_store, scratch);
	sp_lock_give(&sp_store.lock, &h);
}

static long store_event(const struct sp_real *papi, struct sp_event_seen *e)
{
	PAPI_event_info_t *info = (PAPI_event_info_t *)scratch;
	const char *component = sp_component_name(papi, e->component), *natives[PAPI_MAX_INFO_TERMS];
	const struct sp_component_fact *fact = sp_component_fact(component);
	struct sp_event_text t = { .code = e->code, .component = component };
	char name[PAPI_HUGE_STR_LEN + 64];
	struct sp_held h;
	long id;

	memset(scratch, 0, INFO_BYTES);
	memset(name, 0, sizeof(name));
	if (papi->PAPI_event_code_to_name && papi->PAPI_event_code_to_name((int)e->code, name) == PAPI_OK && *name)
		t.name = name;
	if (papi->PAPI_get_event_info && papi->PAPI_get_event_info((int)e->code, info) == PAPI_OK) {
		if (!t.name)
			t.name = info->symbol;
		t.derived = *info->derived ? info->derived : "NOT_DERIVED";
		t.postfix = info->postfix;
		t.units = info->units;
		t.description = info->long_descr;
		t.data_type = (uint8_t)(info->data_type >= 0 && info->data_type <= 3 ? info->data_type : 0);
		for (; t.n_natives < info->count && t.n_natives < PAPI_MAX_INFO_TERMS; t.n_natives++)
			natives[t.n_natives] = info->name[t.n_natives];
		t.natives = natives;
	}
	if (!t.name)
		t.name = "?";
	t.scope = (uint8_t)(fact ? fact->scope : sp_component_claims(papi, e->component));
	e->kind = sp_kind_of(fact, t.name, info);
	e->data_type = (enum sp_data_type)t.data_type;
	find_terms(e, info);
	e->where = sp_place_of((enum sp_scope)t.scope, component, t.name);
	t.kind = (uint8_t)e->kind;
	t.place = (uint8_t)e->where.place;
	t.place_id = e->where.id;
	sp_lock_take(&sp_store.lock, &h);
	id = sp_store_event(&sp_store, &t);
	sp_lock_give(&sp_store.lock, &h);
	return id;
}

struct sp_event_seen *sp_event_seen(const struct sp_real *papi, int code)
{
	struct sp_event_seen *e = NULL;
	struct sp_held h;
	long id;

	sp_lock_take(&lock, &h);
	if (!seen)
		seen = sp_map(ROOM * sizeof(*seen));
	if (!scratch)
		scratch = sp_map(INFO_BYTES);
	if (!seen || !scratch)
		goto out;
	e = slot_of((uint32_t)code);
	if (e->code)
		goto out;
	if (n_seen >= ROOM / 2) {
		e = NULL;
		goto out;
	}
	e->code = (uint32_t)code;
	e->component = papi->PAPI_get_event_component ? papi->PAPI_get_event_component(code) : 0;
	store_pmus(papi);
	id = store_event(papi, e);
	if (id < 0) {
		e->code = 0;
		e = NULL;
		goto out;
	}
	e->id = (uint32_t)id;
	n_seen++;
out:
	sp_lock_give(&lock, &h);
	return e;
}

void sp_event_is_of(struct sp_event_seen *e, const char *pmu)
{
	struct sp_held h;

	if (!e || e->has_pmu)
		return;
	sp_lock_take(&sp_store.lock, &h);
	if (!e->has_pmu)
		sp_store_event_pmu(&sp_store, e->id, pmu);
	e->has_pmu = true;
	sp_lock_give(&sp_store.lock, &h);
}
