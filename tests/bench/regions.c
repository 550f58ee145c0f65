/* regions.c: what a region of PAPI's high level costs; run by scripts/bench.
 *
 *	regions ROUNDS		one line "region NS"
 */

#include "measure.h"

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;

	if (n <= 0)
		return 2;
	if (PAPI_hl_region_begin("first") != PAPI_OK || PAPI_hl_region_end("first") != PAPI_OK)
		return 77;
	printf("region %.3f\n",
	       MEASURE(n, (PAPI_hl_region_begin("loop"), PAPI_hl_region_end("loop"))));
	return 0;
}
