/* events.c: queries PAPI for each event code once, and keeps the result; see events.h. */
#include <string.h>

#include "../../core/base/lock.h"
#include "../../core/base/out.h"
#include "../../core/base/sys.h"
#include "../../core/events/formula.h"
#include "../../core/events/kinds.h"
#include "../../core/store/store.h"
#include "../process/diagnostic.h"
#include "events.h"
#include "sde.h"

#define ROOM		8192u		/* codes; a power of two */
#define GONE		0xffffffffu	/* replaces a code that another record has */
/* PAPI 7.2 clears 23068 bytes, whatever the size in papi.h */
#define INFO_BYTES	32768u

static struct sp_event_info *seen, *newest;
static uint32_t n_seen;
static struct sp_lock lock;
static char *scratch;			/* INFO_BYTES; protected by lock */

void sp_events_forget(void)
{
	sp_unmap(seen, ROOM * sizeof(*seen));
	seen = newest = NULL;
	n_seen = 0;
	lock.taken = 0;
}

static struct sp_event_info *slot_of(uint32_t code)
{
	uint32_t i = (code * 2654435761u) & (ROOM - 1);

	while (seen[i].code && seen[i].code != code)
		i = (i + 1) & (ROOM - 1);
	return &seen[i];
}

/* The name's offset is the same in all versions of the struct. */
const char *sp_component_name(const struct sp_real *papi, int component)
{
	const PAPI_component_info_t *c =
		papi->PAPI_get_component_info ? papi->PAPI_get_component_info(component) : NULL;

	return c && memchr(c->name, 0, PAPI_MAX_STR_LEN) ? c->name : "";
}

/* Read default_granularity, whose offset in PAPI_component_info_t changed with PAPI 7.0 and 7.2. */
enum sp_scope sp_component_claims(const struct sp_real *papi, int component)
{
	const void *c =
		papi->PAPI_get_component_info ? papi->PAPI_get_component_info(component) : NULL;
	uint32_t version = sp_store.header ? sp_store.header->papi_version >> 16 : 0;
	int granularity = PAPI_GRN_THR;

	if (c && version)
		memcpy(&granularity,
		       (const char *)c + (version < 0x0700   ? 672
					  : version < 0x0702 ? 1572
							     : 2600),
		       sizeof(granularity));
	return granularity == PAPI_GRN_SYS || granularity == PAPI_GRN_SYS_CPU  ? SP_SCOPE_HOST
	       : granularity == PAPI_GRN_PROC || granularity == PAPI_GRN_PROCG ? SP_SCOPE_PROCESS
									       : SP_SCOPE_THREAD;
}

/* Find a preset's natives and their factors; a native event consists of itself. */
static void find_terms(struct sp_event_info *e, const PAPI_event_info_t *info)
{
	struct sp_terms *t = &e->terms;
	unsigned n = info->count < SP_MAX_TERMS ? info->count : 0;
	bool postfix = strstr(info->derived, "FIX") != NULL,
	     sub = strcmp(info->derived, "DERIVED_SUB") == 0;
	/* PAPI opens all, and returns the first */
	bool first = strcmp(info->derived, "DERIVED_CMPD") == 0;
	double unit[SP_MAX_TERMS] = { 0 };

	if (e->kind != SP_COUNTER || e->data_type == SP_FP64)
		return;
	if (!(e->code & 0x80000000u)) {
		*t = (struct sp_terms){ .n = 1, .native = { e->code }, .factor = { 1 } };
		return;
	}
	if (!*info->derived || strcmp(info->derived, "NOT_DERIVED") == 0)
		n = n ? 1 : 0;
	else if (strcmp(info->derived, "DERIVED_ADD") != 0 && !first && !sub && !postfix)
		return;
	for (unsigned i = 0; i < n; i++) {
		t->native[i] = info->code[i];
		unit[i] = 1;
		t->factor[i] = first && i ? 0 : sub && i ? -1 : 1;
		if (postfix && !sp_formula_value(info->postfix, unit, n, &t->factor[i]))
			return;
		unit[i] = 0;
	}
	t->n = n;
}

/* A component's list of PMUs, whose offset and length (*most) changed with PAPI 7.0 and 7.2. */
static const char *const *pmu_names(const void *component, uint32_t version, uint32_t *most)
{
	*most = version < 0x0700 ? 40 : 80;
	return (const char *const *)((const char *)component + (version < 0x0700   ? 688
								: version < 0x0702 ? 1592
										   : 2616));
}

/* Store the PMUs of all initialised components once: tables of metrics identify the machine by
 * them. */
static void store_pmus(const struct sp_real *papi)
{
	uint32_t version = sp_store.header ? sp_store.header->papi_version >> 16 : 0, most;
	const void *c;
	struct sp_lock_state h;
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

/* Query libsde, since PAPI has no metadata of its events. Assume an integer count, the usual case,
 * if the type is unknown. Before an event is registered PAPI returns -1 for it, and later a value
 * that was not zeroed. */
static void query_libsde(struct sp_event_info *e, const char *name)
{
	enum sp_sde result = sp_sde_query(name, &e->kind, &e->data_type);

	e->is_unregistered = result == SP_SDE_AWAITED;
	if (e->is_unregistered) {
		e->kind = SP_GAUGE;
		e->data_type = SP_BIT64;
	} else if (result == SP_SDE_UNKNOWN) {
		sp_process_note_quiet("events of PAPI component 'sde' are treated as integer "
				      "counts: no libsde was found that reports their types");
	}
}

static const struct sp_event_place no_place = { SP_PLACE_UNKNOWN, SP_NO_CPU };

/* The place of an event; a component's preset is counted where its natives are (PAPI 7.2:
 * PAPI_CUDA_FP16_FMA:device=1), since its own name has no place. */
static struct sp_event_place place_of(const struct sp_event_info *e, const struct sp_event_text *t)
{
	struct sp_event_place first =
		sp_event_place_find((enum sp_scope)t->scope, t->component, t->name);

	if (!(e->code & 0x80000000u) ||
	    (t->scope != SP_SCOPE_DEVICE && t->scope != SP_SCOPE_PACKAGE))
		return first;
	for (uint32_t i = 0; i < t->n_natives; i++) {
		struct sp_event_place w =
			sp_event_place_find((enum sp_scope)t->scope, t->component, t->natives[i]);

		if (i && (w.place != first.place || w.id != first.id))
			return no_place;
		first = w;
	}
	return first;
}

/* PAPI's data on an event, copied; natives and texts are valid until the next query. */
struct described {
	struct sp_event_text t;
	const struct sp_component_fact *fact;
	const char *natives[PAPI_MAX_INFO_TERMS];
	char name[PAPI_HUGE_STR_LEN + 64];
};

static void describe(const struct sp_real *papi, const struct sp_event_info *e, struct described *d)
{
	PAPI_event_info_t *info = (PAPI_event_info_t *)scratch;
	struct sp_event_text *t = &d->t;

	memset(d, 0, sizeof(*d));
	memset(scratch, 0, INFO_BYTES);
	t->code = e->code;
	t->component = sp_component_name(papi, e->component);
	d->fact = sp_component_fact(t->component);
	if (papi->PAPI_event_code_to_name &&
	    papi->PAPI_event_code_to_name((int)e->code, d->name) == PAPI_OK && *d->name)
		t->name = d->name;
	if (papi->PAPI_get_event_info && papi->PAPI_get_event_info((int)e->code, info) == PAPI_OK) {
		if (!t->name)
			t->name = info->symbol;
		t->derived = *info->derived ? info->derived : "NOT_DERIVED";
		t->postfix = info->postfix;
		t->units = info->units;
		t->description = info->long_descr;
		t->data_type =
			(uint8_t)(info->data_type >= 0 && info->data_type <= 3 ? info->data_type
									       : 0);
		for (; t->n_natives < info->count && t->n_natives < PAPI_MAX_INFO_TERMS;
		     t->n_natives++)
			d->natives[t->n_natives] = info->name[t->n_natives];
		t->natives = d->natives;
	}
	if (!t->name)
		t->name = "?";
	t->scope = (uint8_t)(d->fact ? d->fact->scope : sp_component_claims(papi, e->component));
}

/* Hash a name unless PAPI truncated it (PAPI_MAX_STR_LEN). */
static uint64_t digest(const char *name)
{
	size_t n = strlen(name);

	return strcmp(name, "?") == 0 || n >= PAPI_MAX_STR_LEN - 1 ? 0
								   : sp_digest(SP_DIGEST, name, n);
}

/* Find the same event under another code: two threads that name a native event at once each get a
 * code from PAPI 7.0 to 7.3. */
static struct sp_event_info *find_same(const struct sp_event_info *e)
{
	struct sp_event_info *at =
		e->name && !e->is_unregistered && !e->is_on_device ? newest : NULL;

	while (at && (at->code == GONE || at->same || at->name != e->name ||
		      at->component != e->component || at->kind != e->kind ||
		      at->data_type != e->data_type || at->code >> 30 != e->code >> 30))
		at = at->older;
	return at;
}

static long store_event(const struct sp_real *papi, struct sp_event_info *e)
{
	const PAPI_event_info_t *info = (const PAPI_event_info_t *)scratch;
	struct described d;
	struct sp_lock_state h;
	long id;

	describe(papi, e, &d);
	e->is_clock = sp_name_is_clock(d.t.name);
	e->kind = sp_event_kind(d.fact, d.t.name, SP_EVENT_TRAITS(info));
	e->data_type = (enum sp_data_type)d.t.data_type;
	if (strcmp(d.t.component, "sde") == 0)
		query_libsde(e, d.t.name);
	find_terms(e, info);
	e->is_on_device = d.t.scope == SP_SCOPE_DEVICE && e->code & 0x80000000u;
	e->place = e->is_on_several ? no_place : place_of(e, &d.t);
	e->name = digest(d.t.name);
	e->same = find_same(e);
	if (e->same)
		return e->same->id;
	d.t.data_type = (uint8_t)e->data_type;
	d.t.kind = (uint8_t)e->kind;
	d.t.place = (uint8_t)e->place.place;
	d.t.place_id = e->place.id;
	sp_lock_take(&sp_store.lock, &h);
	id = sp_store_event(&sp_store, &d.t);
	sp_lock_give(&sp_store.lock, &h);
	return id;
}

/* Returns whether the code now denotes another event. A library may have registered its counter.
 * PAPI keeps a preset's device with the preset, not with its sets: once the preset was requested on
 * a second device, a set may count it on either. */
static bool has_changed(const struct sp_real *papi, const struct sp_event_info *e)
{
	struct described d;
	enum sp_kind kind;
	enum sp_data_type type;
	struct sp_event_place w;

	if (!e->is_unregistered && (!e->is_on_device || e->is_on_several))
		return false;
	describe(papi, e, &d);
	if (e->is_unregistered)
		return sp_sde_query(d.t.name, &kind, &type) == SP_SDE_KNOWN;
	w = place_of(e, &d.t);
	return w.place != e->place.place || w.id != e->place.id;
}

/* Make a record; NULL if the table is full or the store has no memory. */
static struct sp_event_info *add_event(const struct sp_real *papi, uint32_t code,
				       bool is_on_several)
{
	struct sp_event_info *e = slot_of(code);
	long id;

	if (n_seen >= ROOM / 2)
		return NULL;
	*e = (struct sp_event_info){ .code = code, .is_on_several = is_on_several };
	e->component =
		papi->PAPI_get_event_component ? papi->PAPI_get_event_component((int)code) : 0;
	store_pmus(papi);
	id = store_event(papi, e);
	if (id < 0) {
		memset(e, 0, sizeof(*e));
		return NULL;
	}
	e->id = (uint32_t)id;
	e->older = newest;
	newest = e;
	n_seen++;
	return e;
}

struct sp_event_info *sp_event_find(const struct sp_real *papi, int code)
{
	struct sp_event_info *e = NULL;
	struct sp_lock_state h;

	sp_lock_take(&lock, &h);
	if (!seen)
		seen = sp_map(ROOM * sizeof(*seen));
	if (!scratch)
		scratch = sp_map(INFO_BYTES);
	if (!seen || !scratch)
		goto out;
	e = slot_of((uint32_t)code);
	if (e->code && !has_changed(papi, e))
		goto out;
	if (e->code)
		e->code = GONE;		/* users of the old record keep it */
	e = add_event(papi, (uint32_t)code, e->is_on_device);
out:
	sp_lock_give(&lock, &h);
	return e && e->same ? e->same : e;
}

/* "NAME (user+kernel)". */
static void name_in(char *text, const char *name, uint32_t domain)
{
	size_t n = sp_min(sp_name_bytes(name), PAPI_HUGE_STR_LEN + 64);
	char words[SP_DOMAIN_TEXT];

	memcpy(text, name, n);
	strcpy(text + n, " (");
	strcat(strcat(text, sp_domain_words(domain, words)), ")");
}

/* Make the event for another domain than the first; call it with the store's lock. */
static long make_in(struct sp_event_info *e, uint32_t domain)
{
	char name[PAPI_HUGE_STR_LEN + 64 + SP_DOMAIN_TEXT + 4];
	long id;

	name_in(name, sp_store_get_event_name(&sp_store, e->id), domain);
	id = sp_store_copy_event(&sp_store, e->id, name);
	if (id < 0)
		return e->id;
	name_in(name, sp_store_get_event_name(&sp_store, e->id), e->domain);
	sp_store_rename_event(&sp_store, e->id, name);
	return id;
}

uint32_t sp_event_in(struct sp_event_info *e, uint32_t domain)
{
	struct sp_lock_state h;

	domain %= SP_COUNT(e->in_domain);
	if (!domain)
		return e->id;
	sp_lock_take(&sp_store.lock, &h);
	if (!e->domain)
		e->domain = domain;
	if (!e->in_domain[domain])
		e->in_domain[domain] =
			1 + (uint32_t)(e->domain == domain ? e->id : make_in(e, domain));
	sp_lock_give(&sp_store.lock, &h);
	return e->in_domain[domain] - 1;
}

void sp_event_set_pmu(struct sp_event_info *e, const char *pmu)
{
	struct sp_lock_state h;

	if (!e || e->has_pmu)
		return;
	sp_lock_take(&sp_store.lock, &h);
	if (!e->has_pmu)
		sp_store_set_event_pmu(&sp_store, e->id, pmu);
	for (uint32_t i = 0; !e->has_pmu && i < SP_COUNT(e->in_domain); i++)
		if (e->in_domain[i])
			sp_store_set_event_pmu(&sp_store, e->in_domain[i] - 1, pmu);
	e->has_pmu = true;
	sp_lock_give(&sp_store.lock, &h);
}
