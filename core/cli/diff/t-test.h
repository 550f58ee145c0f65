/* t-test.h: decides whether repeats of two programs differ by more than repeats of one do. */
#pragma once

#include "../../model/repeats.h"

/* Welch's test: the probability (0 to 1) that means differ this much or more by chance alone. If
 * one side has a single value, the other side's spread is used; if both have, the result is 1 if
 * they are equal, else 0. `least`: the minimum variance of values of this kind (1/12 for integers,
 * which are rounded: two runs of 5 and two of 6 prove nothing). */
double sp_chance(const struct sp_spread *a, const struct sp_spread *b, double least);

/* Student's t, two-sided: the probability of a value at least as far from 0 as t. df: 1 or more. */
double sp_chance_of_t(double t, unsigned df);
