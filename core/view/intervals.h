/* intervals.h: what model-open.c and model-rows.c ask of intervals.c. */
#ifndef SP_VIEW_INTERVALS_H
#define SP_VIEW_INTERVALS_H

#include "model.h"

/* The cells that a row was read into. */
struct sp_row_cells {
	uint32_t n;			/* of the relation */
	const int32_t *of;		/* [n]: the row's record of each; -1: none */
	/* What a record has: total[k] exact[k]. */
	const int64_t *(*total)(const struct sp_row *row, uint32_t record, uint64_t *readings);
};

void sp_intervals_index(struct sp_model *m);
uint64_t sp_interval_record_bytes(uint32_t k);
void sp_intervals_read(struct sp_model *m, struct sp_row *row, const struct sp_relation *r,
		       const struct sp_row_cells *cells);

/* The module of this number, or of none known yet that holds the address; NULL. */
const struct sp_module *sp_module_found(const struct sp_model *m, uint32_t number, uint64_t address);

/* The code at an address of module o (NULL: in none); back: bytes before it, of what is meant. */
void sp_code_seen(const struct sp_model *m, const struct sp_module *o, uint64_t address, uint32_t back,
		  struct sp_frame_seen *seen);

/* Interval i of the row, but for where it was; that is its cell's record, which is returned. */
uint32_t sp_interval_get(const struct sp_row *row, uint32_t i, struct sp_between *at);

#endif
