/* api.h: what the files of sspapi.h's functions share.
 *
 * A relation is preload/handles/relations.h's: locked while it is asked.  Its permanent readings,
 * which do not change and may be many, are copied and printed without its lock.  stdio is used by
 * the print functions alone.
 */
#ifndef SP_API_H
#define SP_API_H

#include "../handles/relations.h"
#include "../sspapi.h"

#define SP_API __attribute__((visibility("default")))

/* From rel being locked until sp_api_done, which wants it unlocked: its permanent readings stay
 * where they are, whoever frees it.  A reader that a jump took away leaves them there for good. */
void sp_api_reads(const struct sspapi_relation *rel);
void sp_api_done(const struct sspapi_relation *rel);

/* The part's numbers now; its cells by sp_row_cell(&p->model, ...). */
bool sp_api_row(struct sp_binding *p, struct sp_row *row);

/* Does rel, which is locked, have an entry on this CPU?  Of this event set; PAPI_NULL: of any. */
bool sp_api_has_cpu(struct sspapi_relation *rel, int cpu);

/* Is there such a PU at or below root?  -1: root is no component. */
int sp_api_knows_cpu(const struct sspapi_component *root, int cpu);

#endif
