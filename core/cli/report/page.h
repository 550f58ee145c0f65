/* page.h: the HTML format: one file that shows a run in any browser, without a network.
 *
 * The page is core/cli/report/page/ (markup, style, script) and report's JSON, from which the
 * script draws. scripts/embed-page converts it to C.
 */
#pragma once

#include "../../formats/format-writer.h"

void sp_format_html(struct sp_out *o, const struct sp_selection *s);

/* As sp_format_writer_by_name and sp_format_writer_by_extension, including the formats that only
 * the command writes. */
const struct sp_format_writer *sp_any_format_writer_by_name(const char *name, size_t length);
const struct sp_format_writer *sp_any_format_writer_by_extension(const char *path);
