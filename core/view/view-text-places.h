/* view-text-places.h: the text form's tables of places: CPUs and what they are in, hosts; of
 * what was counted on components as a whole, and of gauges.
 */
#ifndef SP_VIEW_TEXT_PLACES_H
#define SP_VIEW_TEXT_PLACES_H

#include "view.h"

void sp_text_cpus(struct sp_out *o, const struct sp_show *s);
void sp_text_other_events(struct sp_out *o, const struct sp_show *s);
void sp_text_gauges(struct sp_out *o, const struct sp_show *s);

#endif
