/* crossed.h: sums the counts of a model for two levels at once (functions and cores, threads and
 * CPUs), and writes them as tables.
 *
 * `rows` and `columns` have the sums of each level alone. The sums of a row's cells are those of
 * the row; a column's may be less than the column's own, see sp_levels_open_crossed.
 *
 *	if (sp_crossed_open(&x, m, level, NULL, true) == 0) {
 *		for (n = 0; (cell = sp_crossed_next(&x, n, &row, &column)); n++)
 *			show(sp_levels_row(&x.rows, row), cell);
 *		sp_crossed_close(&x);
 *	}
 */
#pragma once

#include "../../formats/format-writer.h"
#include "../../formats/level.h"

struct sp_crossed {
	struct sp_levels rows, columns, cells;
	uint32_t *position[2];		/* private: numbers of rows and columns in order */
};

/* metrics: as for sp_levels_open. grouped: by sp_levels_group. Sorted by place. Returns 0 or
 * -ENOMEM; after an error there is nothing to close. */
int sp_crossed_open(struct sp_crossed *x, struct sp_model *m, const struct sp_level *const level[2],
		    struct sp_metrics *metrics, bool grouped);
void sp_crossed_close(struct sp_crossed *x);

/* Sorts rows and columns, each as for sp_levels_sort, and the cells by both. */
void sp_crossed_sort(struct sp_crossed *x, long rows, long columns);

/* Cell number n, by rows and then by columns; NULL after the last one. *row, *column: the numbers
 * of its row and column for sp_levels_row. */
const struct sp_level_row *sp_crossed_next(const struct sp_crossed *x, uint32_t n, uint32_t *row,
					   uint32_t *column);

/* The counts of row number i in column number k, both by sp_levels_row; NULL: none. */
const struct sp_level_row *sp_crossed_cell(const struct sp_crossed *x, uint32_t i, uint32_t k);

/* The same cell with the thread, process, place and code of both its row and its column. */
struct sp_level_row sp_crossed_whole(const struct sp_crossed *x, const struct sp_level_row *cell);

/* Writes a table for each selected event and metric: the biggest eight columns and the sum of the
 * others (crossed-text.c). below: other text precedes. */
void sp_crossed_text(struct sp_out *o, const struct sp_selection *s, struct sp_crossed *x,
		     bool below);
