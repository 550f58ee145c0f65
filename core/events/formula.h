/* formula.h: a preset's formula, as PAPI reads it. */
#ifndef SP_BOOK_FORMULA_H
#define SP_BOOK_FORMULA_H

#include <stdbool.h>

/* Is the preset's value a sum of its native counts, each times a constant?  Then
 * values add up: a counter.  postfix: PAPI's formula, or one in infix form; read as
 * PAPI reads it.  What cannot be read is not linear. */
bool sp_formula_is_linear(const char *postfix);

/* Its value for native counts of n[i], i below `natives`; false: it cannot be read, or needs the clock's
 * frequency (#). */
bool sp_formula_value(const char *formula, const double *n, unsigned natives, double *value);

#endif
