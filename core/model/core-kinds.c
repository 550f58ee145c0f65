/* core-kinds.c: which kinds of core an event and a row were counted on; see core-kinds.h. */
#include <string.h>

#include "../store/blocks.h"
#include "core-kinds.h"
#include "view-common.h"

/* ---- kinds of a machine ------------------------------------------------- */

static int32_t numbered(const struct sp_component *c)
{
	return c->cpu_kind >= 0 && c->cpu_kind < 64 ? c->cpu_kind : -1;
}

static void name_kind(struct sp_model_kind *k, const struct sp_tree *tree, int32_t number)
{
	const struct sp_cpu_kind *from = (uint32_t)number < tree->n_kinds ? &tree->kind[number] : NULL;
	char digits[32];

	k->efficiency = -1;
	if (from) {
		sp_fixed_text(k->name, from->name, sizeof(from->name));
		sp_fixed_text(k->core_type, from->core_type, sizeof(from->core_type));
		k->efficiency = from->efficiency;
		k->max_mhz = from->max_mhz;
		k->base_mhz = from->base_mhz;
		k->capacity = from->capacity;
	}
	if (*k->name)
		return;
	sp_format_u64(digits, (uint64_t)number);
	memcpy(k->name, "kind ", 6);
	strcat(k->name, digits);
}

/* The model's number of a machine's kind: that of the same name, or a new one. */
static uint8_t number_of(struct sp_model *m, const struct sp_tree *tree, int32_t number)
{
	struct sp_model_kind k = { 0 };
	uint32_t i = 0;

	name_kind(&k, tree, number);
	while (i < m->n_kinds && strcmp(m->kind[i].name, k.name) != 0)
		i++;
	if (i == SP_KINDS_MOST)
		return SP_KIND_NONE;
	if (i == m->n_kinds) {
		k.sum = m->kind[i].sum;
		k.exact = m->kind[i].exact;
		k.present = m->kind[i].present;
		m->kind[m->n_kinds++] = k;
	}
	return (uint8_t)i;
}

void sp_kinds_index(struct sp_model *m, const struct sp_tree *tree, uint32_t from)
{
	uint8_t ours[64];
	uint64_t have = 0;

	for (uint32_t c = from; c < m->n_components; c++)
		if (numbered(&m->component[c]) >= 0)
			have |= 1ull << m->component[c].cpu_kind;
	for (int32_t number = 63; number >= 0; number--)	/* hwloc ranks: the highest is the fastest */
		ours[number] = have >> number & 1 ? number_of(m, tree, number) : SP_KIND_NONE;
	for (uint32_t c = from; c < m->n_components; c++) {
		int32_t number = numbered(&m->component[c]);

		m->kind_of[c] = number < 0 ? SP_KIND_NONE : ours[number];
		if (m->kind_of[c] != SP_KIND_NONE && sp_component_is(&m->component[c], "PU"))
			m->kind[m->kind_of[c]].n_cpus++;
	}
}

uint32_t sp_kinds_of_row(struct sp_model *m, struct sp_row *row)
{
	struct sp_at_cpu at;
	uint32_t kinds = 0;

	for (uint32_t i = 0; m->n_kinds > 1 && i < row->cells; i++) {
		int32_t kind = sp_row_cell(m, row, i, &at) ? sp_kind_of(m, at.component) : -1;

		kinds |= 1u << (kind < 0 ? SP_KINDS_MOST : (uint32_t)kind);
	}
	return kinds;
}

/* ---- events that one kind counts --------------------------------------------- */

/* hwloc's names of Intel's PMUs; others' cores have their PMU's (topo-hwloc.c). */
static const struct {
	const char *pmu, *core_type;
} intel[] = {
	{ "cpu_core", "IntelCore" }, { "cpu_atom", "IntelAtom" }, { "cpu_lowpower", "IntelLowPower" },
};

/* Of stores that do not say whose an event is: libpfm4's names of PMUs. */
static const char *const libpfm4[][2] = {
	{ "adl_glc", "cpu_core" }, { "adl_grt", "cpu_atom" }, { "ix86arch", "cpu_core" },
};

/* Then perf:: events of the hardware are the P cores', as Linux has it for a counter of all CPUs; those of software
 * (PAGE-FAULTS) count anywhere. */
static const char *const hardware[] = {
	"PERF_COUNT_HW_", "CYCLES", "CPU-CYCLES", "INSTRUCTIONS", "CACHE-", "BRANCH", "BUS-CYCLES", "STALLED-CYCLES-",
	"IDLE-CYCLES-", "REF-CYCLES", "L1-", "LLC-", "DTLB-", "ITLB-", "NODE-", "BPU-",
};

/* By the name of a native event; "": any. */
static const char *pmu_of(const char *native, char name[64])
{
	const char *colons = strstr(native, "::");
	size_t n = colons ? (size_t)(colons - native) : 0;

	if (n >= 64)
		n = 0;
	memcpy(name, native, n);
	name[n] = 0;
	for (unsigned i = 0; i < SP_COUNT(libpfm4); i++)
		if (strcmp(name, libpfm4[i][0]) == 0)
			return libpfm4[i][1];
	for (unsigned i = 0; strcmp(name, "perf") == 0 && i < SP_COUNT(hardware); i++)
		if (strncmp(colons + 2, hardware[i], strlen(hardware[i])) == 0)
			return "cpu_core";
	return name;			/* perhaps the kernel's */
}

static uint32_t kinds_of_pmu(const struct sp_model *m, const char *pmu)
{
	const char *core_type = pmu;
	uint32_t kinds = 0;

	for (unsigned i = 0; i < SP_COUNT(intel); i++)
		if (strcmp(pmu, intel[i].pmu) == 0)
			core_type = intel[i].core_type;
	for (uint32_t i = 0; *core_type && i < m->n_kinds; i++)
		if (strncmp(m->kind[i].core_type, core_type, sizeof(((struct sp_cpu_kind *)0)->core_type) - 1) == 0)
			kinds |= 1u << i;
	return kinds;
}

/* A preset of several natives counts where any of them does. */
uint32_t sp_kinds_of_event(const struct sp_model *m, uint32_t event)
{
	const struct sp_event *v = event < m->n_events ? m->event[event] : NULL;
	const char *native;
	uint32_t kinds = 0;
	char name[64];

	if (!v || m->n_kinds < 2)
		return 0;
	if (*SP_EVENT_TEXT(m, event, pmu) || m->h.stat)
		return kinds_of_pmu(m, SP_EVENT_TEXT(m, event, pmu));
	if (!sp_image_text_at(m->image, v->natives, 0))
		kinds = kinds_of_pmu(m, pmu_of(SP_EVENT_TEXT(m, event, name), name));
	for (uint32_t i = 0; (native = sp_image_text_at(m->image, v->natives, i)); i++) {
		uint32_t more = kinds_of_pmu(m, pmu_of(native, name));

		if (!more)
			return 0;
		kinds |= more;
	}
	return kinds == (1u << m->n_kinds) - 1 ? 0 : kinds;
}
