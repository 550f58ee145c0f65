/* sort.h: sorts row numbers without malloc, which qsort(3) may call. */
#pragma once

#include "base.h"

/* Sort n row numbers. before(of, a, b) returns whether row a precedes row b; it must be a strict
 * total order. */
void sp_sort(uint32_t *order, uint32_t n, bool (*before)(const void *of, uint32_t a, uint32_t b),
	     const void *of);
