/* view-json.h: what the JSON view lends to those who put more keys into its object. */
#ifndef SP_VIEW_JSON_H
#define SP_VIEW_JSON_H

#include "../model/view-common.h"
#include "view.h"

/* The whole dump but for its closing brace: more keys may follow, each with a comma before. */
void sp_json_dump(struct sp_out *o, const struct sp_show *s);

/* A count as a number of JSON. */
void sp_json_value(struct sp_out *o, enum sp_data_type type, int64_t v);

/* The event's name as a key, which differs from those of all other events: a later
 * event of the same name has its id behind it. */
void sp_json_event_key(struct sp_out *o, const struct sp_model *m, uint32_t id);

#endif
