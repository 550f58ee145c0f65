/* t-test.h: whether repeats of two programs differ by more than repeats of one do. */
#pragma once

#include "../../model/repeats.h"

/* Welch's test: how probable it is (0 to 1) that means lie so far apart, or further, where nothing
 * but chance is between them.  Of one value alone the spread is taken to be the other's; of one on
 * both sides nothing is known: 1, or 0 where they differ.  `least`: the least variance that values
 * of their kind have (1/12 of whole numbers, which are rounded: two runs of 5 and two of 6 are no
 * proof of anything). */
double sp_chance(const struct sp_spread *a, const struct sp_spread *b, double least);

/* Student's t, both sides: how probable a value is that is as far from 0 as t, or further; df: 1 or
 * more. */
double sp_chance_of_t(double t, unsigned df);
