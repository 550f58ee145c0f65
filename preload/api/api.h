/* api.h: shared by the files that implement sspapi.h.
 *
 * A relation of preload/handles/relations.h is locked while it is queried. Its permanent readings
 * never change and may be many, so they are copied and printed without the lock. Only the print
 * functions use stdio.
 */
#ifndef SP_API_H
#define SP_API_H

#include "../handles/relations.h"
#include "../sspapi.h"

#define SP_API __attribute__((visibility("default")))

/* Keep rel's permanent readings in place until sp_api_end_read, even if rel is freed.
 * sp_api_begin_read needs rel locked, sp_api_end_read unlocked. A reader that leaves by longjmp
 * keeps them for ever. */
void sp_api_begin_read(const struct sspapi_relation *rel);
void sp_api_end_read(const struct sspapi_relation *rel);

/* Read the part's present counts; read its cells with sp_row_cell(&p->model, ...). */
bool sp_api_row(struct sp_binding *p, struct sp_row *row);

/* Returns whether rel, which is locked, has an entry on this CPU. */
bool sp_api_has_cpu(struct sspapi_relation *rel, int cpu);

/* Returns 1 if the PU is at or below root, 0 if not, -1 if root is not a component. */
int sp_api_has_pu(const struct sspapi_component *root, int cpu);

#endif
