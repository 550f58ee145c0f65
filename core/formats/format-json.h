/* format-json.h: the parts of the JSON format that other writers use to add keys to its object. */
#pragma once

#include "../metric/compute.h"
#include "../model/format-common.h"
#include "format-writer.h"

/* Writes the whole dump except the closing brace. Callers may add keys, each after a comma. */
void sp_json_dump(struct sp_out *o, const struct sp_selection *s);

/* Call before each item of the innermost open list or object: writes a comma unless the item is the
 * first. If items have lines of their own, also ends the line and indents. */
void sp_json_comma(struct sp_out *o);
void sp_json_line(struct sp_out *o, const char *indent);

/* Writes a count as a JSON number. */
void sp_json_value(struct sp_out *o, enum sp_data_type type, int64_t v);

/* Writes the event's name as a unique key: later events of the same name get their id appended. */
void sp_json_event_key(struct sp_out *o, const struct sp_model *m, uint32_t id);

/* Writes `, "derived_metrics": {"IPC": 0.25}` from the latest computation (t NULL: nothing); null
 * for a metric without a value. */
void sp_metrics_json(struct sp_out *o, const struct sp_metrics *t);
