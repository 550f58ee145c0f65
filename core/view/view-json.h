/* view-json.h: what the JSON view lends to those who put more keys into its object. */
#ifndef SP_VIEW_JSON_H
#define SP_VIEW_JSON_H

#include "view-common.h"

/* The lists of entries hold those that are kept, and intervals are left to the level of call sites: for
 * the html form, which shows no more, and a run of 10,000 ranks. */
extern bool sp_json_brief;

/* The whole dump but for its closing brace: more keys may follow, each with a comma before. */
void sp_json_dump(struct sp_out *o, struct sp_model *m);

/* A count as a number of JSON. */
void sp_json_value(struct sp_out *o, enum sp_data_type type, int64_t v);

/* The event's name as a key, which differs from those of all other events: a later
 * event of the same name has its id behind it. */
void sp_json_event_key(struct sp_out *o, const struct sp_model *m, uint32_t id);

#endif
