/* relation.h: what one relation has of a table's metrics: the relation at hand. */
#pragma once

#include "table.h"

/* The shown ones, in the order of the file: the first behind i (start with -1); -1: no more. */
int32_t sp_metrics_next(const struct sp_metrics *t, int32_t i);

/* Makes it the one at hand: which metrics it has all of (has_all), and what it adds to which slots
 * (pair). */
void sp_metrics_take(struct sp_metrics *t, const struct sp_row *row);

/* Finds has_all for the events that row_at has a number of. */
void sp_metrics_find_whole(struct sp_metrics *t, uint32_t sort);

/* The definition of a shown metric for machines of this sort (-1: none); the sort of the machine
 * that a row is from. */
int32_t sp_metrics_variant(const struct sp_metrics *t, uint32_t shown, uint32_t sort);
uint32_t sp_metrics_sort(const struct sp_metrics *t, const struct sp_row *row);

/* Is the relation at hand part of shown metric i together with others? */
static inline bool sp_metrics_joins(const struct sp_metrics *t, uint32_t i)
{
	return t->relation.joins && t->relation.joins[i / 8] >> i % 8 & 1;
}
