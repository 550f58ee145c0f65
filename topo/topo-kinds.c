/* topo-kinds.c: what people call hwloc's kinds of CPUs: P, E. */
#include <stdio.h>
#include <string.h>

#include "topo-inside.h"

/* What hwloc writes as CoreType, from version 2.4 to 3. */
static const struct {
	const char *core_type, *name;
} known[] = {
	{ "IntelCore", "P" }, { "IntelAtom", "E" }, { "IntelLowPower", "LP-E" },
	{ "AMDPerformance", "P" }, { "AMDEfficiency", "E" },
};

static bool by_core_type(struct sp_cpu_kind *k)
{
	for (size_t i = 0; i < SP_COUNT(known); i++)
		if (!strcmp(k->core_type, known[i].core_type)) {
			strcpy(k->name, known[i].name);
			return true;
		}
	return false;
}

/* A PMU's: cortex_a53 of armv8_cortex_a53. */
static const char *core_of(const char *core_type)
{
	const char *rest = strchr(core_type, '_');

	return rest && rest[1] && (!strncmp(core_type, "arm", 3) || !strncmp(core_type, "apple", 5)) ? rest + 1 : core_type;
}

/* Of a type that is not known (ARM), or none (no perf events in the kernel): two that are ranked are P and E; of more than
 * two, or if they are not, the type or only numbers tell. */
static void by_numbers(struct sp_cpu_kind *k, uint32_t n)
{
	if (n == 2 && k->efficiency >= 0)
		strcpy(k->name, k->efficiency ? "P" : "E");
	else if (*k->core_type)
		snprintf(k->name, sizeof(k->name), "%.15s", core_of(k->core_type));
	else if (k->capacity)
		snprintf(k->name, sizeof(k->name), "capacity %u", k->capacity % 100000);
	else if (k->max_mhz)
		snprintf(k->name, sizeof(k->name), "%u MHz", k->max_mhz % 100000000);
}

static void mark_shared(const struct sp_cpu_kind *kind, uint32_t n, bool shared[SP_TOPO_KINDS])
{
	for (uint32_t i = 0; i < n; i++) {
		shared[i] = false;
		for (uint32_t other = 0; other < n && *kind[i].name; other++)
			shared[i] = shared[i] || (other != i && !strcmp(kind[other].name, kind[i].name));
	}
}

/* Older hwloc tells Meteor Lake's two kinds of E cores apart by their clock only. */
static void tell_apart(struct sp_cpu_kind *kind, uint32_t n)
{
	bool shared[SP_TOPO_KINDS];
	char name[sizeof(kind->name)];

	mark_shared(kind, n, shared);
	for (uint32_t i = 0; i < n; i++) {
		strcpy(name, kind[i].name);
		if (shared[i] && kind[i].max_mhz)
			snprintf(kind[i].name, sizeof(name), "%.4s %u MHz", name, kind[i].max_mhz % 1000000);
	}
	mark_shared(kind, n, shared);
	for (uint32_t i = 0; i < n; i++) {
		strcpy(name, kind[i].name);
		if (shared[i])
			snprintf(kind[i].name, sizeof(name), "%.12s#%u", name, i % 100);
	}
}

void sp_topo_name_kinds(struct sp_cpu_kind *kind, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!by_core_type(&kind[i]))
			by_numbers(&kind[i], n);
	}
	tell_apart(kind, n);
}
