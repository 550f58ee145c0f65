/* format-json.h: what the JSON view lends to those who put more keys into its object. */
#pragma once

#include "../metric/compute.h"
#include "../model/format-common.h"
#include "format-writer.h"

/* The whole dump but for its closing brace: more keys may follow, each with a comma before. */
void sp_json_dump(struct sp_out *o, const struct sp_selection *s);

/* Before each item of the list or object that was opened last: a comma, unless the item is its
 * first; or, with lines of their own, the end of the line before and the indent. */
void sp_json_comma(struct sp_out *o);
void sp_json_line(struct sp_out *o, const char *indent);

/* A count as a number of JSON. */
void sp_json_value(struct sp_out *o, enum sp_data_type type, int64_t v);

/* The event's name as a key, which differs from those of all other events: a later
 * event of the same name has its id behind it. */
void sp_json_event_key(struct sp_out *o, const struct sp_model *m, uint32_t id);

/* `, "derived_metrics": {"IPC": 0.25}` of what was computed last (t NULL: nothing); null where
 * there is no value. */
void sp_metrics_json(struct sp_out *o, const struct sp_metrics *t);
