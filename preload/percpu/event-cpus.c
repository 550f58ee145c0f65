/* event-cpus.c: finds an event's PMU and the CPUs of that PMU; see event-cpus.h. */
#include "../../core/base/cpu-list.h"
#include "../../core/base/sys.h"
#include "event-cpus.h"

/* of all Arm PMUs, which Linux before 6.6 does not select by a generic event's config */
#define ARM_CYCLES	0x11u
#define OWNERS 64u			/* a power of two */

static struct sp_core_pmu pmu[SP_PMUS_MOST];
static uint32_t n_pmus;
static bool is_unreadable;		/* the folder cannot be read */
static sp_pmu_open_fn *open_counter;
/* upper half: a generic event, plus 1; lower half: its PMU's type */
static uint64_t owner_cache[OWNERS];

void sp_pmus_read(const char *dir, sp_pmu_open_fn *open)
{
	int n = sp_core_pmus(dir, pmu);

	is_unreadable = n < 0;
	n_pmus = (uint32_t)(n < 0 ? 0 : n);
	open_counter = open;
	for (uint32_t i = 0; i < OWNERS; i++)
		owner_cache[i] = 0;
}

bool sp_pmus_differ(void)
{
	return n_pmus > 1;
}

static bool is_general(const struct perf_event_attr *a)
{
	return (a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE) &&
	       !(a->config >> 32);
}

static struct perf_event_attr with_event(const struct perf_event_attr *a, uint32_t type,
					 uint64_t config)
{
	return (struct perf_event_attr){
		.type = type,
		.size = PERF_ATTR_SIZE_VER0,
		.config = config,
		.disabled = 1,
		.exclude_user = a->exclude_user,
		.exclude_kernel = a->exclude_kernel,
		.exclude_hv = a->exclude_hv,
		.exclude_host = a->exclude_host,
		.exclude_guest = a->exclude_guest,
	};
}

/* Can the event join a group of this PMU? Linux refuses groups of hardware events of different
 * PMUs. */
static bool is_in_group_of(const struct perf_event_attr *a, const struct sp_core_pmu *p)
{
	struct perf_event_attr of = with_event(a, PERF_TYPE_HARDWARE,
					       (uint64_t)p->type << 32 | PERF_COUNT_HW_CPU_CYCLES);
	struct perf_event_attr its = with_event(a, a->type, a->config);
	int leader = open_counter(&of, -1), fd;

	if (leader < 0) {
		of = with_event(a, p->type, ARM_CYCLES);
		leader = open_counter(&of, -1);
	}
	if (leader < 0)
		return false;
	fd = open_counter(&its, leader);
	if (fd >= 0)
		sp_close(fd);
	sp_close(leader);
	return fd >= 0;
}

/* Linux gives a generic event to the PMU of PERF_TYPE_RAW (Intel's cpu_core). If no core has that
 * (Arm), the first PMU that accepts it gets it, in the order of registration. If several accept it,
 * this kernel mixes groups (Linux before 6.2 on x86), and the owner is unknown. */
static uint32_t find_owner(const struct perf_event_attr *a)
{
	uint32_t type = 0, n = 0;

	for (uint32_t i = 0; i < n_pmus; i++)
		if (pmu[i].type == PERF_TYPE_RAW)
			return PERF_TYPE_RAW;
	for (uint32_t i = 0; i < n_pmus; i++)
		if (is_in_group_of(a, &pmu[i])) {
			type = pmu[i].type;
			n++;
		}
	return n == 1 ? type : 0;
}

/* An unknown owner is searched again: descriptors may have been short. */
static uint32_t owner_of(const struct perf_event_attr *a)
{
	uint64_t key = (uint64_t)a->type << 24 | (a->config & 0xffffff),
		 *at = &owner_cache[(key * 0x9e3779b97f4a7c15u) >> 58];
	uint64_t entry = load_relaxed(at);
	uint32_t type;

	if (entry >> 32 == key + 1)
		return (uint32_t)entry;
	type = find_owner(a);
	if (type)
		store_relaxed(at, (key + 1) << 32 | type);
	return type;
}

/* 0: unknown */
static uint32_t type_of(const struct perf_event_attr *a)
{
	if (is_general(a))
		return owner_of(a);
	return a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE
		       ? (uint32_t)(a->config >> 32)
		       : a->type;
}

static const struct sp_core_pmu *pmu_of(const struct perf_event_attr *a)
{
	uint32_t type = n_pmus > 1 ? type_of(a) : 0;

	for (uint32_t i = 0; type && i < n_pmus; i++)
		if (pmu[i].type == type)
			return &pmu[i];
	return NULL;
}

bool sp_pmu_is_known(const struct perf_event_attr *a)
{
	return !is_general(a) || (n_pmus < 2 ? !is_unreadable : owner_of(a) != 0);
}

bool sp_pmu_is_on(const struct perf_event_attr *a, int cpu)
{
	const struct sp_core_pmu *p = pmu_of(a);

	return !p || sp_cpu_in_list(p->cpus, (uint64_t)cpu);
}

const char *sp_pmu_name(const struct perf_event_attr *a)
{
	const struct sp_core_pmu *p = pmu_of(a);

	return p ? p->name : NULL;
}
