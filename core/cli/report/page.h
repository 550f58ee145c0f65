/* page.h: the html form: one file, without a network, that shows a run to whoever it is handed on
 * to.
 *
 * The page is core/cli/report/page/ (its markup, style and script) around the JSON that report
 * writes, which the script draws: so its numbers are the JSON's.  scripts/embed-page makes it C.
 */
#pragma once

#include "../../formats/format-writer.h"

void sp_format_html(struct sp_out *o, const struct sp_selection *s);

/* As sp_format_writer_by_name and sp_format_writer_by_extension, with the forms that the command
 * alone writes. */
const struct sp_format_writer *sp_any_format_writer_by_name(const char *name, size_t length);
const struct sp_format_writer *sp_any_format_writer_by_extension(const char *path);
