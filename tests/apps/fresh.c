/*
 * fresh: PAPI_accum adds to arrays that were never touched. Prints what it returns for 10 touched
 * pages, and what PAPI_stop returns then.
 */
#include "handed.h"

int main(void)
{
	struct counted *c;
	long long rest, handed[8][2];
	char *arrays;

	papi_up();
	c = counted_new(0, NULL, 80);
	pin(0);
	make_set(c);
	arrays = new_memory(8 * c->arena.page);
	prefault();
	memset(handed, 1, sizeof(handed));
	must("PAPI_start", PAPI_start(c->id));
	must("PAPI_accum", PAPI_accum(c->id, &handed[0][0]));
	must("PAPI_stop", PAPI_stop(c->id, &rest));
	for (int i = 0; i < 8; i++) {
		long long *values = (long long *)(arrays + i * c->arena.page);

		must("PAPI_start", PAPI_start(c->id));
		touch(&c->arena, 10);
		must("PAPI_accum", PAPI_accum(c->id, values));
		must("PAPI_stop", PAPI_stop(c->id, &rest));
		handed[i][0] = *values;
		handed[i][1] = rest;
	}
	for (int i = 0; i < 8; i++)
		printf("%lld %lld\n", handed[i][0], handed[i][1]);
	return 0;
}
