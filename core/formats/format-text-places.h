/* format-text-places.h: the text form's tables of places: CPUs and what they are in, hosts; and its
 * lists: of what was counted on components as a whole, of gauges, and of what each event counted
 * from run to run.
 */
#pragma once

#include "format-writer.h"

void sp_text_cpus(struct sp_out *o, const struct sp_selection *s);
void sp_text_other_events(struct sp_out *o, const struct sp_selection *s);
void sp_text_gauges(struct sp_out *o, const struct sp_selection *s);
/* (sspapi stat -r); nothing, where the store is of one run */
void sp_text_repeats(struct sp_out *o, const struct sp_selection *s);
