/* page-select.h: selects the processes, threads, machines and call sites of a run that is larger
 * than a page can show.
 *
 * The order of selection is computed once: in turn for each event, the leading one first, the row
 * with the maximum and the row with the minimum among rows not selected yet. page.c finds by trial
 * how many fit.
 */
#pragma once

#include "../../formats/format-writer.h"

#define SP_PAGE_PART_LEVELS 4

struct sp_page_part;

/* s and its model must outlive the part. */
struct sp_page_part *sp_page_part_open(const struct sp_selection *s);

/* Returns the part with about `limit` processes (1 or more) and related rows. trees: with all
 * components of some machines, at least one; otherwise only of their roots. Valid until the next
 * call. */
const struct sp_part *sp_page_part_limit(struct sp_page_part *p, uint32_t limit, bool trees);

/* The levels of the page's tables, by their numbers: "per-thread" ... */
extern const char *const sp_page_part_level[SP_PAGE_PART_LEVELS];

/* Returns whether row number `row` of a level is in the part. (As has_row of struct sp_report.) */
bool sp_page_part_has_row(const void *part, unsigned level, uint32_t row);

/* Writes `, "part": {...}`: the numbers of all rows. */
void sp_page_part_json(const struct sp_page_part *p, struct sp_out *o);
