/*
 * basics: sys-sage's first example: one event set with permanent and temporary readings, queried
 * per CPU and time.
 */
#include "own.h"

int main(void)
{
	uint64_t first, second, last;
	struct sspapi_cpu_metrics all;
	sspapi_component *root;
	struct own *o;
	int cpu;

	papi_up();
	o = own_new(2000);
	cpu = pin(0);
	errno = 0;
	expect(o, "a topology without a name", sspapi_topology("") || errno != ENOENT, 0);
	root = sspapi_topology(NULL);
	errno = 0;
	expect(o, "a topology without a name, this machine's being there",
	       sspapi_topology("") || errno != ENOENT, 0);
	expect(o, "the machine's root, again", root != sspapi_topology(NULL), 0);
	if (!root || !sspapi_find_cpu(root, cpu))
		die("sspapi_topology");
	prefault();
	own_start(o);
	touch(&o->c->arena, 100);
	own_reading(o, "sspapi_read", sspapi_read(o->rel, root, true, &first), cpu);
	touch(&o->c->arena, 200);
	own_reading(o, "sspapi_read", sspapi_read(o->rel, root, false, &second), cpu);
	must("sspapi_reset", sspapi_reset(o->rel));
	own_zeroed(o);
	touch(&o->c->arena, 50);
	own_reading(o, "sspapi_accum", sspapi_accum(o->rel, root, true, NULL), cpu);
	touch(&o->c->arena, 7);
	own_reading(o, "sspapi_stop", sspapi_stop(o->rel, root, false, &last), cpu);

	/* read 100 P; read 300 T; reset; accum 50 onto it (P: 350); stop 7 T */
	expect(o, "the first reading", sspapi_get_metric(o->rel, o->code, cpu, first), 100);
	expect(o, "the second, which accum took the place of",
	       sspapi_get_metric(o->rel, o->code, cpu, second), 0);
	expect(o, "the last", sspapi_get_metric(o->rel, o->code, cpu, last), 7);
	expect(o, "the PU's",
	       sspapi_cpu_get_metric(sspapi_find_cpu(root, cpu), o->code, o->c->id, 0), 7);
	must("sspapi_get_all_metrics", sspapi_get_all_metrics(o->rel, o->code, cpu, &all));
	expect(o, "the number of entries", (long long)all.n, 3);
	expect(o, "the accumulated entry", all.n > 1 ? all.entries[1].value : -1, 350);
	expect(o, "elapsed time",
	       sspapi_elapsed_time(o->rel, last) > sspapi_elapsed_time(o->rel, first), 1);
	expect(o, "the latest CPU", sspapi_latest_cpu(o->rel), cpu);
	return own_end(o, "");
}
