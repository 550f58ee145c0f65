/* view-text-repeats.h: the text form's list of what each event counted from run to run (sspapi stat -r). */
#ifndef SP_VIEW_TEXT_REPEATS_H
#define SP_VIEW_TEXT_REPEATS_H

#include "view.h"

/* Nothing, where the store is of one run. */
void sp_text_repeats(struct sp_out *o, const struct sp_show *s);

#endif
