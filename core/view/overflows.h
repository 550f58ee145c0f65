/* overflows.h: what model-open.c and model-rows.c ask of overflows.c. */
#ifndef SP_VIEW_OVERFLOWS_H
#define SP_VIEW_OVERFLOWS_H

#include "model.h"

void sp_overflows_count(struct sp_model *m, const struct sp_relation *r);	/* most_overflows, most_hits */
uint64_t sp_overflows_row_bytes(const struct sp_model *m);
void sp_overflows_take(struct sp_model *m);
void sp_overflows_read(struct sp_model *m, struct sp_row *row, const struct sp_relation *r);

#endif
