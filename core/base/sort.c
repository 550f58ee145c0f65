/* sort.c: Shell's sort; see sort.h. */
#include "sort.h"

void sp_sort(uint32_t *order, uint32_t n, bool (*before)(const void *of, uint32_t a, uint32_t b),
	     const void *of)
{
	uint32_t gap = 1;

	while (gap < n / 3)
		gap = 3 * gap + 1;
	for (; gap; gap /= 3)
		for (uint32_t i = gap; i < n; i++) {
			uint32_t up = order[i], at = i;

			for (; at >= gap && before(of, up, order[at - gap]); at -= gap)
				order[at] = order[at - gap];
			order[at] = up;
		}
}
