/* crossed.h: sums the counts of a model for two levels at once (functions and cores, threads and
 * CPUs), and writes them as tables.
 *
 * `rows` and `columns` have the sums of each level alone. The sums of a row's cells are those of
 * the row; a column's may be less than the column's own, see sp_levels_open_crossed.
 *
 *	if (sp_crossed_open(&x, m, level, NULL, true) == 0) {
 *		cell = sp_crossed_cell(&x, i, k);	// of rows' i, columns' k
 *		sp_crossed_close(&x);
 *	}
 */
#pragma once

#include "../../formats/format-writer.h"
#include "../../formats/level.h"

struct sp_crossed {
	struct sp_levels rows, columns, cells;
};

/* metrics: as for sp_levels_open. grouped: by sp_levels_group. sort: of the rows, as for
 * sp_levels_sort; columns have the order of the machine. Returns 0 or -ENOMEM; after an error there
 * is nothing to close. */
int sp_crossed_open(struct sp_crossed *x, struct sp_model *m, const struct sp_level *const level[2],
		    struct sp_metrics *metrics, bool grouped, long sort);
void sp_crossed_close(struct sp_crossed *x);

/* The counts of row number i in column number k, both by sp_levels_row; NULL: none. */
const struct sp_level_row *sp_crossed_cell(const struct sp_crossed *x, uint32_t i, uint32_t k);

/* The same cell with the thread, process, place and code of both its row and its column. */
struct sp_level_row sp_crossed_whole(const struct sp_crossed *x, const struct sp_level_row *cell);

/* Writes a table for each selected event and metric: the biggest eight columns and the sum of the
 * others (crossed-text.c). below: other text precedes. */
void sp_crossed_text(struct sp_out *o, const struct sp_selection *s, struct sp_crossed *x,
		     bool below);
