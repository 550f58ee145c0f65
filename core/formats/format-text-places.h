/* format-text-places.h: the text format's tables of places (CPUs and their containers, hosts), and
 * its lists: counts of whole components, gauges, and each event's counts from run to run.
 */
#pragma once

#include "format-writer.h"

void sp_text_cpus(struct sp_out *o, const struct sp_selection *s);
void sp_text_other_events(struct sp_out *o, const struct sp_selection *s);
void sp_text_gauges(struct sp_out *o, const struct sp_selection *s);
/* for sspapi stat -r; nothing if the store has one run */
void sp_text_repeats(struct sp_out *o, const struct sp_selection *s);
