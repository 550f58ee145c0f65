/* page.h: the html form: one file, without a network, that shows a run to whoever it is handed on to.
 *
 * The page is core/cli/report/page/ (its markup, style and script) around the JSON that report writes, which
 * the script draws: so its numbers are the JSON's.  scripts/embed-page makes it C.
 */
#pragma once

#include "../../formats/format-writer.h"

void sp_view_html(struct sp_out *o, const struct sp_show *s);

/* As sp_view_by_name and sp_view_by_extension, with the forms that the command alone writes. */
const struct sp_view *sp_any_view_by_name(const char *name, size_t length);
const struct sp_view *sp_any_view_by_extension(const char *path);
