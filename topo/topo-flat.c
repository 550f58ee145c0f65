/* topo-flat.c: makes a topology of CPUs only, if hwloc is unavailable.
 *
 * Also has sp_topo_free, which works without hwloc: all topologies are in mapped memory, not
 * malloc's.
 */
#include <string.h>

#include "../core/base/cpu-list.h"
#include "../core/base/sys.h"
#include "topo.h"
#include "topo-inside.h"

#define CPUS	SP_TOPO_CPUS
#define WORD	(8 * sizeof(unsigned long))

static uint32_t add_range(unsigned long *set, uint64_t from, uint64_t to)
{
	uint32_t added = 0;

	for (uint64_t cpu = from; cpu <= to && cpu < CPUS; cpu++, added++)
		set[cpu / WORD] |= 1ul << cpu % WORD;
	return added;
}

/* Parse a list and return the number of CPUs; 0 if it is invalid. */
static uint32_t parse(const char *s, unsigned long *set)
{
	uint64_t from, to;
	uint32_t n = 0;

	while (s && *s && *s != '\n') {
		s = sp_cpu_range(s, &from, &to);
		n += s ? add_range(set, from, to) : 0;
	}
	return s ? n : 0;
}

static uint32_t read_list(const char *path, unsigned long *set)
{
	char text[4096];		/* a page, the most that the kernel writes */

	memset(set, 0, CPUS / 8);
	return sp_read_file(path, text, sizeof(text)) > 0 ? parse(text, set) : 0;
}

/* Find the online CPUs, as hwloc does. CPUs outside the affinity are included: a thread that is
 * pinned now may be released later. */
static uint32_t find_cpus(unsigned long *set)
{
	uint32_t n = read_list("/sys/devices/system/cpu/online", set);

	if (!n)
		n = read_list("/sys/devices/system/cpu/possible", set);
	if (n)
		return n;
	memset(set, 0, CPUS / 8);
	if (sp_sys(SYS_sched_getaffinity, 0, CPUS / 8, set) <= 0)
		return 0;
	for (size_t i = 0; i < CPUS / WORD; i++)
		n += (uint32_t)__builtin_popcountl(set[i]);
	return n;
}

static void fill(struct sp_topo *t, const unsigned long *set)
{
	struct sp_component *c = t->component;
	uint32_t n = 1;

	*c = (struct sp_component){ .parent = -1, .os_index = -1, .cpu_kind = -1, .gp_index = 1 };
	strcpy(c->type, "Machine");
	for (uint32_t cpu = 0; cpu < CPUS && n < t->n; cpu++) {
		if (!(set[cpu / WORD] >> cpu % WORD & 1))
			continue;
		c[n] = (struct sp_component){ .os_index = (int32_t)cpu,
					      .logical_index = (int32_t)n - 1,
					      .cpu_kind = -1,
					      .depth = 1,
					      .gp_index = n + 1 };
		strcpy(c[n++].type, "PU");
		t->n_cpus = cpu + 1;
	}
	t->n = n;
}

int sp_topo_flat(struct sp_topo *t)
{
	unsigned long *set = sp_map(CPUS / 8);
	uint32_t n = set ? find_cpus(set) : 0;

	memset(t, 0, sizeof(*t));
	if (n) {
		t->n = n + 1;
		t->component = sp_map(t->n * sizeof(*t->component));
	}
	if (t->component)
		fill(t, set);
	sp_unmap(set, CPUS / 8);
	if (t->component)
		return 0;
	t->n = 0;
	return n || !set ? -ENOMEM : -ENOENT;
}

SP_TOPO_EXPORT void sp_topo_free(struct sp_topo *t)
{
	sp_unmap(t->component, t->n * sizeof(*t->component));
	sp_unmap(t->xml, t->xml_bytes + 1);
	memset(t, 0, sizeof(*t));
}
