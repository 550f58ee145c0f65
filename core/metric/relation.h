/* relation.h: finds which metrics of a table one relation, the current one, has. */
#pragma once

#include "table.h"

/* The next shown metric after i in the order of the file (start with -1); -1 after the last one. */
int32_t sp_metrics_next(const struct sp_metrics *t, int32_t i);

/* Make the row's relation the current one: finds which metrics have all their events in it
 * (has_all), and which counts it adds to which slots (pair). */
void sp_metrics_take(struct sp_metrics *t, const struct sp_row *row);

/* Find has_all for the events with an entry in row.at. */
void sp_metrics_find_whole(struct sp_metrics *t, uint32_t machine_kind);

/* The definition of a shown metric for a kind of machine (-1: none); the kind of the row's
 * machine. */
int32_t sp_metrics_variant(const struct sp_metrics *t, uint32_t shown, uint32_t machine_kind);
uint32_t sp_metrics_machine_kind(const struct sp_metrics *t, const struct sp_row *row);

/* Returns whether metric i uses the current relation together with others. */
static inline bool sp_metrics_joins(const struct sp_metrics *t, uint32_t i)
{
	return t->relation.joins && t->relation.joins[i / 8] >> i % 8 & 1;
}
