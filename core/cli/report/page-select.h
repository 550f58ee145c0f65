/* page-select.h: what a page has of a run that is more than a page holds: of its processes,
 * threads, machines and call sites those that stand out.
 *
 * Which stand out is found once: in turn for each event, first what weighs, the one with most and
 * the one with least of it that are not chosen yet.  How many of them there is room for is tried
 * (page.c).
 */
#pragma once

#include "../../formats/format-writer.h"

#define SP_PAGE_PART_LEVELS 4

struct sp_page_part;

/* s and its model stay as long as the part. */
struct sp_page_part *sp_page_part_open(const struct sp_selection *s);

/* Some `limit` processes, with what goes with them; 1 or more.  Until the next call. */
const struct sp_part *sp_page_part_limit(struct sp_page_part *p, uint32_t limit);

/* The levels that the page has tables of: "per-thread" ... in the order of their numbers. */
extern const char *const sp_page_part_level[SP_PAGE_PART_LEVELS];

/* Is row number `row` of a level there?  (As struct sp_report's has_row.) */
bool sp_page_part_has_row(const void *part, unsigned level, uint32_t row);

/* `, "part": {...}`: how many there are of all. */
void sp_page_part_json(const struct sp_page_part *p, struct sp_out *o);
