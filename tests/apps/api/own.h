/*
 * own.h: functions for the programs of this folder. These count perf::PAGE-FAULTS through sspapi.h,
 * know the number on each CPU, and print it as handed.h does, for comparison with the dump.
 */
#ifndef OWN_H
#define OWN_H

#include "../handed.h"
#include "../../../preload/sspapi.h"

struct own {
	struct counted *c;
	sspapi_relation *rel;
	int code;
	long zero;			/* touched at the last reset */
	long long on[1024];		/* per CPU: expected count */
	int wrong;
};

static inline void expect(struct own *o, const char *what, long long got, long long want)
{
	if (got == want)
		return;
	printf("wrong: %s is %lld, not %lld\n", what, got, want);
	o->wrong = 1;
}

static inline struct own *own_new(long pages)
{
	struct own *o = ready_memory(sizeof(*o), MAP_PRIVATE);

	o->c = counted_new(0, NULL, pages);
	make_set(o->c);
	must("PAPI_event_name_to_code", PAPI_event_name_to_code(o->c->name[0], &o->code));
	return o;
}

static inline void own_zeroed(struct own *o)
{
	zeroed(o->c);
	o->zero = o->c->arena.touched;
}

static inline void own_start(struct own *o)
{
	int ret = sspapi_start(o->c->id, &o->rel);

	if (ret != PAPI_OK)
		cannot("sspapi_start", ret);
	own_zeroed(o);
}

/* Checks the reading that was just taken, of the pages touched on this CPU. */
static inline void own_reading(struct own *o, const char *by, int ret, int cpu)
{
	long long value = o->c->arena.touched - o->zero, before = o->c->last[0];

	must(by, ret);
	handed(o->c, by, &value);
	o->c->reading[o->c->readings - 1].cpu = cpu;
	o->on[cpu] += value - before;
	if (!strcmp(by, "sspapi_accum"))
		own_zeroed(o);
}

/* Checks that the totals are complete and the lists agree; prints. */
static inline int own_end(struct own *o, const char *who)
{
	long long all = 0, entries = 0;
	int cpus[64], n = 64;

	for (int cpu = 0; cpu < 1024; cpu++) {
		all += o->on[cpu];
		if (o->on[cpu])
			expect(o, "sspapi_total", sspapi_total(o->rel, o->code, cpu), o->on[cpu]);
	}
	expect(o, "sspapi_total of all", sspapi_total(o->rel, o->code, -1), all);
	must("sspapi_find_cpus", sspapi_find_cpus(o->rel, cpus, &n));
	for (int i = 0; i < n; i++)
		entries += sspapi_get_metric(o->rel, o->code, cpus[i], 0);
	expect(o, "the CPUs' latest entries", entries, sspapi_get_metric(o->rel, o->code, -1, 0));
	expect(o, "sspapi_current_event_set", sspapi_current_event_set(o->rel), o->c->id);
	return print_handed(o->c, who) | o->wrong;
}

#endif
