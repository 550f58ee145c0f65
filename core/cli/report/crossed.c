/* crossed.c: sums a model for two levels at once; see crossed.h. */
#include "../../base/sys.h"
#include "../../model/format-common.h"
#include "crossed.h"

/* Groups the rows or columns that are call sites, and the cells with them. */
static int group(struct sp_crossed *x)
{
	struct sp_levels *side[2] = { &x->rows, &x->columns };

	for (unsigned i = 0; i < 2; i++) {
		uint64_t bytes = (side[i]->n + 1ull) * sizeof(uint32_t);
		uint32_t *into;

		if (!sp_level_is_code(side[i]->level))
			continue;
		into = sp_map(bytes);
		if (!into)
			return -ENOMEM;
		sp_levels_group(side[i], into);
		sp_levels_group_side(&x->cells, i, into);
		sp_unmap(into, bytes);
	}
	return 0;
}

static uint64_t positions_bytes(const struct sp_crossed *x)
{
	return (1ull + x->rows.n + x->columns.n) * sizeof(uint32_t);
}

static int find_positions(struct sp_crossed *x)
{
	x->position[0] = sp_map(positions_bytes(x));
	if (!x->position[0])
		return -ENOMEM;
	x->position[1] = x->position[0] + x->rows.n;
	sp_crossed_sort(x, SP_SORT_PLACE, SP_SORT_PLACE);
	return 0;
}

int sp_crossed_open(struct sp_crossed *x, struct sp_model *m, const struct sp_level *const level[2],
		    struct sp_metrics *metrics, bool grouped)
{
	int e = sp_levels_open(&x->rows, m, level[0], metrics);

	x->position[0] = NULL;
	if (e < 0)
		return e;
	e = sp_levels_open(&x->columns, m, level[1], metrics);
	if (e < 0) {
		sp_levels_close(&x->rows);
		return e;
	}
	e = sp_levels_open_crossed(&x->cells, &x->rows, &x->columns);
	if (e < 0) {
		sp_levels_close(&x->columns);
		sp_levels_close(&x->rows);
		return e;
	}
	e = grouped ? group(x) : 0;
	if (e == 0)
		e = find_positions(x);
	if (e < 0)
		sp_crossed_close(x);
	return e;
}

void sp_crossed_sort(struct sp_crossed *x, long rows, long columns)
{
	struct sp_levels *side[2] = { &x->rows, &x->columns };

	sp_levels_sort(side[0], rows);
	sp_levels_sort(side[1], columns);
	for (unsigned i = 0; i < 2; i++)
		for (uint32_t n = 0; n < side[i]->n; n++)
			x->position[i][side[i]->order[n]] = n;
	for (uint32_t n = 0; n < x->cells.n; n++) {
		const uint32_t *of = x->cells.row[n].side;

		x->cells.row[n].place = (uint64_t)x->position[0][of[0]] << 32 |
					x->position[1][of[1]];
	}
	sp_levels_sort(&x->cells, SP_SORT_PLACE);
}

const struct sp_level_row *sp_crossed_next(const struct sp_crossed *x, uint32_t n, uint32_t *row,
					   uint32_t *column)
{
	const struct sp_level_row *cell = n < x->cells.n ? sp_levels_row(&x->cells, n) : NULL;

	if (cell) {
		*row = (uint32_t)(cell->place >> 32);
		*column = (uint32_t)cell->place;
	}
	return cell;
}

void sp_crossed_close(struct sp_crossed *x)
{
	sp_unmap(x->position[0], positions_bytes(x));
	sp_levels_close(&x->cells);
	sp_levels_close(&x->columns);
	sp_levels_close(&x->rows);
}

const struct sp_level_row *sp_crossed_cell(const struct sp_crossed *x, uint32_t i, uint32_t k)
{
	return sp_levels_crossing(&x->cells, x->rows.order[i], x->columns.order[k]);
}

/* The component that is part of the other, or the only one. Memory is outside the tree. */
static int32_t inner(const struct sp_model *m, int32_t a, int32_t b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	for (int32_t c = b; c >= 0; c = sp_parent(m, (uint32_t)c))
		if (c == a)
			return b;
	for (int32_t c = a; c >= 0; c = sp_parent(m, (uint32_t)c))
		if (c == b)
			return a;
	return m->component[a].flags & SP_COMPONENT_MEMORY ? b : a;
}

struct sp_level_row sp_crossed_whole(const struct sp_crossed *x, const struct sp_level_row *cell)
{
	const struct sp_level_row *a = &x->rows.row[cell->side[0]],
				  *b = &x->columns.row[cell->side[1]];
	struct sp_level_row w = *cell;

	w.component = inner(x->rows.m, a->component, b->component);
	w.cpu = a->cpu != SP_NO_CPU ? a->cpu : b->cpu;
	w.tid = a->tid >= 0 ? a->tid : b->tid;
	w.thread = *a->thread ? a->thread : b->thread;
	/* A rank has the process that began first. */
	w.process = a->process >= 0 && (x->rows.level->what != SP_LEVEL_RANK || b->process < 0)
			    ? a->process
			    : b->process;
	w.machine = a->machine >= 0 ? a->machine : b->machine;
	w.from = a->to ? a->from : b->from;
	w.to = a->to ?: b->to;
	w.of_set = a->of_set || b->of_set;
	w.event_set = a->of_set ? a->event_set : b->event_set;
	return w;
}
