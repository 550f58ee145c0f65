/* kernel-events.c: the table of kernel events, and searches in it. */
#include <stdio.h>
#include <strings.h>

#include "../../base/perf.h"
#include "../tool/suggest.h"
#include "kernel-events.h"

#define CGROUP_SWITCHES 11		/* PERF_COUNT_SW_CGROUP_SWITCHES, since Linux 5.13 */
#define SOFT(which) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##which
#define HARD(which) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##which
#define CACHE(which, op, result) \
	PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##which | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
				    PERF_COUNT_HW_CACHE_RESULT_##result << 16

#define OF_CACHE(name, perf, which, what, op, one, many, verb, verbs) \
	{ \
		name "-" many,		 NULL, perf "-" verbs, NULL, "", what ": " verbs, \
		CACHE(which, op, ACCESS) \
	}, \
	{ \
		name "-" one "-MISSES", NULL, perf "-" verb "-misses", NULL, "", \
			what ": " verbs " that missed", CACHE(which, op, MISS) \
	}
#define READS(name, perf, which, what) \
	OF_CACHE(name, perf, which, what, READ, "LOAD", "LOADS", "load", "loads")
#define WRITES(name, perf, which, what) \
	OF_CACHE(name, perf, which, what, WRITE, "STORE", "STORES", "store", "stores")
#define FETCHES(name, perf, which, what) \
	OF_CACHE(name, perf, which, what, PREFETCH, "PREFETCH", "PREFETCHES", "prefetch", \
		 "prefetches")

static const struct sp_kernel_event events[] = {
	{ "TASK-CLOCK", NULL, "task-clock", NULL, "ns", "time that its threads spent on CPUs",
	  SOFT(TASK_CLOCK) },
	{ "CPU-CLOCK", NULL, "cpu-clock", NULL, "ns", "time by the CPU's clock", SOFT(CPU_CLOCK) },
	{ "PAGE-FAULTS", "FAULTS", "page-faults", "faults", "", "page faults", SOFT(PAGE_FAULTS) },
	{ "MINOR-FAULTS", NULL, "minor-faults", NULL, "", "minor page faults (no disk I/O)",
	  SOFT(PAGE_FAULTS_MIN) },
	{ "MAJOR-FAULTS", NULL, "major-faults", NULL, "", "major page faults (disk I/O)",
	  SOFT(PAGE_FAULTS_MAJ) },
	{ "CONTEXT-SWITCHES", "CS", "context-switches", "cs", "", "context switches",
	  SOFT(CONTEXT_SWITCHES) },
	{ "CPU-MIGRATIONS", "MIGRATIONS", "cpu-migrations", "migrations", "",
	  "migrations between CPUs", SOFT(CPU_MIGRATIONS) },
	{ "CGROUP-SWITCHES", NULL, "cgroup-switches", NULL, "",
	  "context switches to another control group", PERF_TYPE_SOFTWARE, CGROUP_SWITCHES },
	{ "ALIGNMENT-FAULTS", NULL, "alignment-faults", NULL, "",
	  "unaligned accesses that the kernel handled", SOFT(ALIGNMENT_FAULTS) },
	{ "EMULATION-FAULTS", NULL, "emulation-faults", NULL, "",
	  "instructions that the kernel emulated", SOFT(EMULATION_FAULTS) },

	{ "CYCLES", "CPU-CYCLES", "cycles", "cpu-cycles", "", "CPU cycles", HARD(CPU_CYCLES) },
	{ "INSTRUCTIONS", NULL, "instructions", NULL, "", "retired instructions",
	  HARD(INSTRUCTIONS) },
	{ "REF-CYCLES", NULL, "ref-cycles", NULL, "", "reference cycles (nominal frequency)",
	  HARD(REF_CPU_CYCLES) },
	{ "BRANCHES", "BRANCH-INSTRUCTIONS", "branches", "branch-instructions", "", "branches",
	  HARD(BRANCH_INSTRUCTIONS) },
	{ "BRANCH-MISSES", NULL, "branch-misses", NULL, "", "mispredicted branches",
	  HARD(BRANCH_MISSES) },
	{ "CACHE-REFERENCES", NULL, "cache-references", NULL, "", "last-level cache accesses",
	  HARD(CACHE_REFERENCES) },
	{ "CACHE-MISSES", NULL, "cache-misses", NULL, "", "last-level cache misses",
	  HARD(CACHE_MISSES) },
	{ "BUS-CYCLES", NULL, "bus-cycles", NULL, "", "bus cycles", HARD(BUS_CYCLES) },
	{ "STALLED-CYCLES-FRONTEND", "IDLE-CYCLES-FRONTEND", "stalled-cycles-frontend",
	  "idle-cycles-frontend", "", "stalled cycles, front end", HARD(STALLED_CYCLES_FRONTEND) },
	{ "STALLED-CYCLES-BACKEND", "IDLE-CYCLES-BACKEND", "stalled-cycles-backend",
	  "idle-cycles-backend", "", "stalled cycles, back end", HARD(STALLED_CYCLES_BACKEND) },

	READS("L1-DCACHE", "L1-dcache", L1D, "L1 data cache"),
	WRITES("L1-DCACHE", "L1-dcache", L1D, "L1 data cache"),
	FETCHES("L1-DCACHE", "L1-dcache", L1D, "L1 data cache"),
	READS("L1-ICACHE", "L1-icache", L1I, "L1 instruction cache"),
	FETCHES("L1-ICACHE", "L1-icache", L1I, "L1 instruction cache"),
	READS("LLC", "LLC", LL, "last cache"),
	WRITES("LLC", "LLC", LL, "last cache"),
	FETCHES("LLC", "LLC", LL, "last cache"),
	READS("DTLB", "dTLB", DTLB, "data TLB"),
	WRITES("DTLB", "dTLB", DTLB, "data TLB"),
	FETCHES("DTLB", "dTLB", DTLB, "data TLB"),
	READS("ITLB", "iTLB", ITLB, "instruction TLB"),
	READS("BRANCH", "branch", BPU, "branch unit"),
	READS("NODE", "node", NODE, "memory of the NUMA node"),
	WRITES("NODE", "node", NODE, "memory of the NUMA node"),
	FETCHES("NODE", "node", NODE, "memory of the NUMA node"),
};

const struct sp_io_event sp_io_events[SP_IO_EVENTS] = {
	{ "rchar", "B", "bytes that were read, of files, pipes and terminals" },
	{ "wchar", "B", "bytes that were written" },
	{ "syscr", "", "system calls that read" },
	{ "syscw", "", "system calls that write" },
	{ "read_bytes", "B", "bytes that were read from storage" },
	{ "write_bytes", "B", "bytes that were or will be written to storage" },
	{ "cancelled_write_bytes", "B", "bytes of these that were removed before" },
};

const struct sp_kernel_event *sp_kernel_event(unsigned i)
{
	return i < SP_COUNT(events) ? &events[i] : NULL;
}

static bool is_name(const char *text, size_t n, const char *name)
{
	return name && strlen(name) == n && strncasecmp(text, name, n) == 0;
}

/* *is: the name to store: libpfm4's name as given, else the first of the event's names. */
static const struct sp_kernel_event *find(const char *text, size_t n, const char **is)
{
	bool libpfm4 = n > 6 && strncasecmp(text, "perf::", 6) == 0;

	for (unsigned i = 0; i < SP_COUNT(events); i++) {
		const struct sp_kernel_event *e = &events[i];
		bool also = libpfm4 && is_name(text + 6, n - 6, e->also);

		*is = also ? e->also : e->name;
		if (also || (libpfm4 ? is_name(text + 6, n - 6, e->name)
				     : is_name(text, n, e->perf) || is_name(text, n, e->perf_also)))
			return e;
	}
	return NULL;
}

const struct sp_kernel_event *sp_kernel_event_named(const char *text, struct perf_event_attr *a,
						    char *name, size_t room)
{
	const char *colon = strrchr(text, ':'), *is;
	const struct sp_kernel_event *e;
	bool user = false, kernel = false;
	size_t n = strlen(text);

	if (colon && colon > text && colon[-1] != ':' && colon[1] &&
	    strspn(colon + 1, "uk") == strlen(colon + 1)) {
		user = strchr(colon + 1, 'u');
		kernel = strchr(colon + 1, 'k');
		n = (size_t)(colon - text);
	}
	e = find(text, n, &is);
	if (!e)
		return NULL;
	*a = (struct perf_event_attr){ .type = e->type, .config = e->config };
	a->exclude_kernel = user && !kernel;
	a->exclude_user = kernel && !user;
	snprintf(name, room, "perf::%s%s%s%s", is, user || kernel ? ":" : "", user ? "u" : "",
		 kernel ? "k" : "");
	return e;
}

bool sp_kernel_event_is_by_libpfm4(const char *name)
{
	struct perf_event_attr a;
	char known[128];

	return strncmp(name, "perf::", 6) == 0 &&
	       (strncmp(name + 6, "PERF_COUNT_", 11) == 0 ||
		sp_kernel_event_named(name, &a, known, sizeof(known)));
}

void sp_kernel_events_suggest(struct sp_suggestions *n, const char *wanted)
{
	for (unsigned i = 0; i < SP_COUNT(events); i++)
		sp_suggest_consider(n, wanted, events[i].perf);
}

bool sp_kernel_event_is_kernel_only(uint32_t type, uint64_t config)
{
	return type == PERF_TYPE_SOFTWARE &&
	       (config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		config == PERF_COUNT_SW_CPU_MIGRATIONS || config == CGROUP_SWITCHES);
}

int sp_kernel_event_try_open(const struct sp_kernel_event *e, bool all)
{
	struct perf_event_attr a = sp_perf_event(e->type, e->config);
	int fd;

	a.exclude_kernel = a.exclude_hv = !all;
	fd = sp_perf_open(&a, 0, -1, -1, 0);
	sp_close(fd);
	return fd < 0 ? fd : 0;
}

int sp_kernel_try_counters(void)
{
	return sp_kernel_event_try_open(
		&(struct sp_kernel_event){ .type = PERF_TYPE_HARDWARE,
					   .config = PERF_COUNT_HW_INSTRUCTIONS },
		false);
}

const char *sp_kernel_event_why(uint32_t type, int error)
{
	if (error == -EACCES || error == -EPERM)
		return "not permitted: perf_event_paranoid, or a container, forbids it to this "
		       "user";
	if (error != -ENOENT && error != -EOPNOTSUPP && error != -EINVAL && error != -ENODEV)
		return NULL;
	if (type == PERF_TYPE_SOFTWARE)
		return "this kernel does not support it";
	return sp_kernel_try_counters() == 0
		       ? "this CPU has no such event"
		       : "no hardware counters here (usual in a virtual machine)";
}
