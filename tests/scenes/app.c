/*
 * app: the program of the manual's examples: four presets, on two CPUs.
 */
#include "scene.h"

int main(void)
{
	struct counted *c;

	up();
	fake_event("PAPI_L2_TCM", &(struct fake_event){ 0 });
	fake_event("PAPI_L2_TCA", &(struct fake_event){ 0 });
	c = SET("PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_L2_TCM", "PAPI_L2_TCA");
	for (int cpu = 0; cpu < 2; cpu++) {
		pin(cpu);
		begin(c);
		fake_count("PAPI_TOT_INS", 1000 + cpu);
		fake_count("PAPI_TOT_CYC", 4000);
		fake_count("PAPI_L2_TCM", 3);
		fake_count("PAPI_L2_TCA", 20);
		end(c);
	}
	print_handed(c, "");
	return 0;
}
