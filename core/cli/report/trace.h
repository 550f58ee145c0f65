/* trace.h: the Trace Event Format. */
#pragma once

#include "../../formats/format-writer.h"

void sp_format_trace(struct sp_out *o, const struct sp_selection *s);
