/* events.c: events and components of the scripted libpapi: definition, names, codes, info. */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include <papiStdEventDefs.h>

#include "fakelib.h"

static const struct { const char *name; int code; } presets[] = {
	{ "PAPI_TOT_INS", (int)PAPI_TOT_INS }, { "PAPI_TOT_CYC", (int)PAPI_TOT_CYC },
	{ "PAPI_FP_OPS", (int)PAPI_FP_OPS }, { "PAPI_FP_INS", (int)PAPI_FP_INS },
	{ "PAPI_SP_OPS", (int)PAPI_SP_OPS }, { "PAPI_REF_CYC", (int)PAPI_REF_CYC },
	{ "PAPI_L1_DCM", (int)PAPI_L1_DCM }, { "PAPI_L2_DCM", (int)PAPI_L2_DCM },
	{ "PAPI_L3_TCM", (int)PAPI_L3_TCM }, { "PAPI_BR_INS", (int)PAPI_BR_INS },
	{ "PAPI_BR_MSP", (int)PAPI_BR_MSP }, { "PAPI_LD_INS", (int)PAPI_LD_INS },
	{ "PAPI_SR_INS", (int)PAPI_SR_INS }, { "PAPI_L1_TCM", (int)PAPI_L1_TCM },
};
#define N_PRESETS ((int)(sizeof(presets) / sizeof(presets[0])))
#define PRESETS_OWN 0x70	/* presets of a test's own invention start here */
#define PRESETS_MAX 0x80

/* ---- components -------------------------------------------------------- */

/* As PAPI's components behave: claimed granularity, and what start and reset do not zero.  What is
 * not set is as perf_event. */
static const struct fake_component likes[] = {
	{ .name = "perf_event", .granularity = PAPI_GRN_THR },
	{ .name = "perf_event_uncore",
	  .short_name = "peu",
	  .granularity = PAPI_GRN_SYS,
	  .no_attach = true },
#define DEVICE(component, grn, start, reset)						\
	{ .name = component, .granularity = grn, .granularities = grn, .keeps_on_start = start,	\
	  .keeps_on_reset = reset, .no_attach = true, .no_cpu = true, .no_inherit = true,	\
	  .no_kernel_multiplex = true }
	DEVICE("rapl", PAPI_GRN_SYS, false, true),
	DEVICE("powercap", PAPI_GRN_SYS, false, true),
	DEVICE("coretemp", PAPI_GRN_SYS, true, true),
	DEVICE("lmsensors", PAPI_GRN_SYS, true, true),
	DEVICE("nvml", PAPI_GRN_THR, true, true),
	DEVICE("cuda", PAPI_GRN_THR, false, false),
	DEVICE("net", PAPI_GRN_SYS, false, true),
	DEVICE("infiniband", PAPI_GRN_SYS, false, true),
	DEVICE("io", PAPI_GRN_THR, true, true),
	DEVICE("appio", PAPI_GRN_THR, false, true),
	DEVICE("stealtime", PAPI_GRN_THR, false, false),
	DEVICE("topdown", PAPI_GRN_THR, true, true),
	DEVICE("sde", PAPI_GRN_THR, false, false),
#undef DEVICE
};

/* Offsets in PAPI_component_info_t, by version: the struct grew in 7.0 and 7.2. */
#if FAKE_PAPI_VERSION >= 0x0702
enum { SIZE = 3296, DISABLED = 1536, CMPIDX = 2572, DEFAULT_GRN = 2600, PMU_NAMES = 2616 };
#elif FAKE_PAPI_VERSION >= 0x0700
enum { SIZE = 2272, DISABLED = 1536, CMPIDX = 1544, DEFAULT_GRN = 1572, PMU_NAMES = 1592 };
#else
enum { SIZE = 1048, DISABLED = 640, CMPIDX = 644, DEFAULT_GRN = 672, PMU_NAMES = 688 };
#endif

static void put(char *info, int offset, int value)
{
	memcpy(info + offset, &value, sizeof(value));
}

static void fill_info(int cidx)
{
	struct fk_component *k = &fk.component[cidx];
	PAPI_component_info_t bits;	/* 7.0's; its bits are the last 8 bytes in every version */

	memset(k->info, 0, sizeof(k->info));
	memcpy(k->info, k->name, sizeof(k->name));			/* 128 and 64 bytes, */
	memcpy(k->info + 128, k->short_name, sizeof(k->short_name));	/* as in PAPI's struct */
	put(k->info, DISABLED, k->c.disabled);
	put(k->info, CMPIDX, cidx);
	put(k->info, CMPIDX + 4, 20);			/* num_cntrs */
	put(k->info, CMPIDX + 8, FK_PER_SET);		/* num_mpx_cntrs */
	put(k->info, DEFAULT_GRN, k->c.granularity);
	put(k->info, DEFAULT_GRN + 4, k->c.granularities);
	memcpy(k->info + PMU_NAMES, k->c.pmus, sizeof(k->c.pmus));
	memset(&bits, 0, sizeof(bits));
	bits.attach = !k->c.no_attach;
	bits.cpu = !k->c.no_cpu;
	bits.inherit = !k->c.no_inherit;
	bits.kernel_multiplex = !k->c.no_kernel_multiplex;
	bits.fast_counter_read = k->c.fast_read;
	bits.hardware_intr = bits.fast_real_timer = 1;
	memcpy(k->info + SIZE - 8, (char *)&bits + sizeof(bits) - 8, 8);
}

static int component_index(const char *name)
{
	for (int i = 0; i < fk.n_components; i++)
		if (!strcmp(fk.component[i].name, name))
			return i;
	return -1;
}

FAKE_API int fake_component(const struct fake_component *c)
{
	int i = component_index(c->name);
	struct fk_component *k;

	if (i < 0) {
		if (fk.n_components == FK_COMPONENTS)
			return -1;
		i = fk.n_components++;
	}
	k = &fk.component[i];
	k->c = *c;
	if (k->name != c->name)
		snprintf(k->name, sizeof(k->name), "%s", c->name);
	snprintf(k->short_name, sizeof(k->short_name), "%s",
		 c->short_name ? c->short_name : c->name);
	k->c.name = k->name;
	k->c.short_name = k->short_name;
	if (!k->c.granularity)
		k->c.granularity = PAPI_GRN_THR;
	if (!k->c.granularities)
		k->c.granularities = k->c.granularity | PAPI_GRN_SYS;
	k->domain = PAPI_DOM_USER;
	fill_info(i);
	return i;
}

int fk_component_like(const char *name)
{
	struct fake_component plain = { .name = name };

	for (size_t i = 0; i < sizeof(likes) / sizeof(likes[0]); i++)
		if (!strcmp(likes[i].name, name))
			return fake_component(&likes[i]);
	return fake_component(&plain);
}

/* ---- events ------------------------------------------------------------ */

int fk_event_of_name(const char *name)
{
	for (int i = 0; i < fk.n_events; i++)
		if (!strcasecmp(fk.event[i].name, name))
			return i;
	return -1;
}

int fk_event_of_code(int code)
{
	int i = code & 0x3fffffff;

	if ((unsigned)code >> 30 == 1)
		return i < fk.n_natives ? fk.native[i] : -1;
	if ((unsigned)code >> 30 == 2)
		return i < 256 ? fk.preset[i] : -1;
	for (i = 0; (unsigned)code >> 30 == 3 && i < fk.n_events; i++)
		if (fk.event[i].code == code)
			return i;
	return -1;
}

/* Natives get their codes in the order in which they are first asked for. */
int fk_code_of_event(int i)
{
	struct fk_event *e = &fk.event[i];

	fk_lock();
	if (!e->code) {
		fk.native[fk.n_natives] = (short)i;
		e->code = PAPI_NATIVE_MASK | fk.n_natives++;
	}
	fk_unlock();
	return e->code;
}

static int preset_code(const char *name)
{
	for (int i = 0; i < N_PRESETS; i++)
		if (!strcasecmp(presets[i].name, name))
			return presets[i].code;
	return (int)PAPI_PRESET_MASK | (PRESETS_OWN + fk.n_presets++) % PRESETS_MAX;
}

static void set_code(int i, int code)
{
	struct fk_event *e = &fk.event[i];

	if (!code && !e->code && !strncasecmp(e->name, "PAPI_", 5))
		code = preset_code(e->name);
	if (!code)
		return;
	e->code = code;
	if ((unsigned)code >> 30 == 2)
		fk.preset[code & 0xff] = (short)i;
}

static char *text(const char *s)
{
	return strdup(s ? s : "");
}

FAKE_API int fake_event(const char *name, const struct fake_event *d)
{
	int i = fk_event_of_name(name), preset = !strncasecmp(name, "PAPI_", 5);
	struct fk_event *e;

	if (i < 0) {
		if (fk.n_events == FK_EVENTS)
			return -1;
		i = fk.n_events;
		fk.event[i].name = text(name);
	}
	e = &fk.event[i];
	free(e->descr);
	free(e->natives);
	e->descr = text(d->descr);
	e->natives = text(d->natives ? d->natives : preset ? "fake::NATIVE" : NULL);
	snprintf(e->units, sizeof(e->units), "%s", d->units ? d->units : "");
	snprintf(e->derived, sizeof(e->derived), "%s",
		 d->derived ? d->derived
		 : preset   ? "NOT_DERIVED"
			    : "");
	snprintf(e->postfix, sizeof(e->postfix), "%s", d->postfix ? d->postfix : "");
	e->divides = !strcmp(e->derived, "DERIVED_PS") || !strcmp(e->derived, "DERIVED_ADD_PS");
	e->data_type = d->data_type;
	e->value_type = d->value_type;
	e->timescope = d->timescope;
	e->update_type = d->update_type;
	e->update_freq = d->update_freq;
	e->location = d->location;
	e->cidx = component_index(d->component ? d->component : "perf_event");
	if (e->cidx < 0)
		e->cidx = fk_component_like(d->component);
	if (i == fk.n_events)
		__atomic_store_n(&fk.n_events, i + 1, __ATOMIC_RELEASE);
	set_code(i, d->code);
	return e->cidx < 0 ? -1 : 0;
}

void fk_events_start(void)
{
	static const struct fake_event plain;
	char name[] = "EV_A";

	memset(fk.preset, 0xff, sizeof(fk.preset));
	fk_component_like("perf_event");
	for (; name[3] <= 'H'; name[3]++)
		fake_event(name, &plain);
	for (int i = 0; i < 7; i++)
		fake_event(presets[i].name, &plain);
}

/* ---- PAPI's questions about them --------------------------------------- */

FK_API int PAPI_event_name_to_code(const char *in, int *out)
{
	int i;

	FK_ENTER(PAPI_event_name_to_code);
	if (!in || !out)
		FK_RETURN(PAPI_EINVAL);
	if (!fk.initialised)
		FK_RETURN(PAPI_ENOINIT);
#if FAKE_PAPI_VERSION >= 0x0702
	FK_CALL(PAPI_get_component_index, "perf_event");
#endif
	i = fk_event_of_name(in);
	if (i < 0)
		FK_RETURN(PAPI_ENOEVNT);
	*out = fk_code_of_event(i);
	FK_RETURN(PAPI_OK);
}

FK_API int PAPI_event_code_to_name(int EventCode, char *out)
{
	int i;

	FK_ENTER(PAPI_event_code_to_name);
	if (!out)
		FK_RETURN(PAPI_EINVAL);
	i = fk_event_of_code(EventCode);
	if (i < 0)
		FK_RETURN(PAPI_ENOEVNT);
	/* and zeroes up to there, as PAPI */
	strncpy(out, fk.event[i].name, PAPI_MAX_STR_LEN - 1);
	out[PAPI_MAX_STR_LEN - 1] = '\0';
	FK_RETURN(PAPI_OK);
}

#define INFO_SIZE (FAKE_PAPI_VERSION >= 0x0702 ? 23068u : (unsigned)sizeof(PAPI_event_info_t))

static void natives_of(const struct fk_event *e, PAPI_event_info_t *info)
{
	const char *p = e->natives;

	while (*p && info->count < PAPI_MAX_INFO_TERMS) {
		size_t n = strcspn(p, ",");

		snprintf(info->name[info->count], sizeof(info->name[0]), "%.*s", (int)n, p);
		info->code[info->count] = (unsigned)PAPI_NATIVE_MASK | 0x100000u | info->count;
		info->count++;
		p += n + (p[n] == ',');
	}
}

FK_API int PAPI_get_event_info(int EventCode, PAPI_event_info_t *info)
{
	const struct fk_event *e;
	int i;

	FK_ENTER(PAPI_get_event_info);
	if (!info)
		FK_RETURN(PAPI_EINVAL);
	i = fk_event_of_code(EventCode);
	if (i < 0)
		FK_RETURN(PAPI_ENOEVNT);
	e = &fk.event[i];
	memset((void *)info, 0, INFO_SIZE);
	info->event_code = (unsigned)EventCode;
	snprintf(info->symbol, sizeof(info->symbol), "%s", e->name);
	snprintf(info->short_descr, sizeof(info->short_descr), "%s", e->descr);
	snprintf(info->long_descr, sizeof(info->long_descr), "%s", e->descr);
	info->component_index = e->cidx;
	snprintf(info->units, sizeof(info->units), "%s", e->units);
	snprintf(info->derived, sizeof(info->derived), "%s", e->derived);
	snprintf(info->postfix, sizeof(info->postfix), "%s", e->postfix);
	info->data_type = e->data_type;
	info->value_type = e->value_type;
	info->timescope = e->timescope;
	info->update_type = e->update_type;
	info->update_freq = e->update_freq;
	info->location = e->location;
	natives_of(e, info);
	FK_RETURN(PAPI_OK);
}

/* The next event after *code of the same kind, in the order of definition;
 * natives get their codes by it, which is why a shim must not enumerate. */
static int enumerate(int *code, int modifier, int cidx)
{
	int native = (unsigned)*code >> 30 == 1, i = fk_event_of_code(*code);

	if (modifier == PAPI_ENUM_FIRST || (*code & 0x3fffffff) == 0)
		i = modifier != PAPI_ENUM_FIRST && i >= 0 ? i : -1;
	else if (i < 0)
		return PAPI_ENOEVNT;
	for (i++; i < fk.n_events; i++) {
		int is_native = (unsigned)fk.event[i].code >> 30 < 2;

		if (is_native != native || (cidx >= 0 && fk.event[i].cidx != cidx))
			continue;
		*code = fk_code_of_event(i);
		return PAPI_OK;
	}
	return PAPI_ENOEVNT;
}

FK_API int PAPI_enum_cmp_event(int *EventCode, int modifier, int cidx)
{
	FK_ENTER(PAPI_enum_cmp_event);
	if (cidx < 0 || cidx >= fk.n_components)
		FK_RETURN(PAPI_ENOCMP);
	FK_RETURN(EventCode ? enumerate(EventCode, modifier, cidx) : PAPI_EINVAL);
}

FK_API int PAPI_get_event_component(int EventCode)
{
	int i;

	FK_ENTER(PAPI_get_event_component);
	i = fk_event_of_code(EventCode);
	FK_RETURN(i < 0 ? PAPI_ENOEVNT : fk.event[i].cidx);
}

FK_API const PAPI_component_info_t *PAPI_get_component_info(int cidx)
{
	const void *info = NULL;

	FK_NOTE(PAPI_get_component_info);
	if (cidx >= 0 && cidx < fk.n_components)
		info = fk.component[cidx].info;
	fk_leave(fk_me, 0);
	return info;
}

FK_API int PAPI_get_component_index(const char *name)
{
	int i = PAPI_ENOCMP;

	FK_ENTER(PAPI_get_component_index);
	for (int c = 0; c < fk.n_components && i < 0; c++) {
		const PAPI_component_info_t *info = FK_CALL(PAPI_get_component_info, c);

		if (info && !strcmp(info->name, name))
			i = c;
	}
	FK_RETURN(i);
}

FK_API int PAPI_num_components(void)
{
	FK_ENTER(PAPI_num_components);
	FK_RETURN(fk.n_components);
}

