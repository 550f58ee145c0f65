/* sort.h: sorts numbers of rows, without malloc, which qsort(3) calls. */
#pragma once

#include "base.h"

/* before(of, a, b): does row a stand before row b?  An order in which no two are alike. */
void sp_sort(uint32_t *order, uint32_t n, bool (*before)(const void *of, uint32_t a, uint32_t b),
	     const void *of);
