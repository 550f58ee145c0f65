/* format-text-levels.c: chooses and writes the tables of a level; see format-text-levels.h. */
#include <errno.h>

#include "../base/cpu-list.h"
#include "../model/repeats.h"
#include "format-text-levels.h"
#include "format-text-table.h"

#define CPUS_MOST	4096u		/* highest CPU in lists of CPUs, plus one */
#define COLUMNS	3u		/* events, if labels are long */
/* width of one, if the terminal has more than SP_TEXT_WIDTH columns */
#define COLUMN	14u
/* columns for pairs of call sites and event sets, if the level was requested */
#define WIDE		132u
#define ALL_FRAMES	500u		/* columns for pairs of call sites with --all */

struct location_columns {
	unsigned long cpus[CPUS_MOST / 8 / sizeof(unsigned long)];
	const char *allowed;		/* "0-3"; "": unknown */
	uint64_t moves;
	bool moves_known;
};

static void find(struct location_columns *w, struct sp_model *m, uint64_t first)
{
	struct sp_row row = { .only_cells = true, .walk.index = first };
	const unsigned bits = 8 * sizeof(unsigned long);
	sp_off thread = 0;
	struct sp_at_cpu at;

	*w = (struct location_columns){ .allowed = "", .moves_known = true };
	while (sp_model_next(m, &row) && (!thread || row.thread_at == thread)) {
		if (!thread && row.times)
			w->allowed = sp_model_text(m, row.times->allowed);
		thread = row.thread_at;
		w->moves_known = w->moves_known && row.times && (row.times->flags & SP_TIMES_MOVES);
		w->moves = sp_max(w->moves, row.times ? row.times->moves : 0);
		for (uint32_t i = 0; sp_row_cell(m, &row, i, &at); i++)
			if (at.cpu >= 0 && at.cpu < (int32_t)CPUS_MOST)
				w->cpus[(unsigned)at.cpu / bits] |= 1ul << (unsigned)at.cpu % bits;
	}
}

/* Writes the CPUs ("0-1", "3, pinned", "0-1 of 0-3" if the process may use more than the thread)
 * and the number of moves. */
static void thread_tails(struct sp_table *t, const struct sp_level_row *row)
{
	const char *all =
		sp_model_text(t->m, sp_process_header(t->m, (uint32_t)row->process)->cpus_allowed);
	char *ran = t->tail[0];
	struct location_columns w;
	struct sp_out o;

	find(&w, t->s->m, row->relation);
	sp_memory_init(&o, ran, sizeof(t->tail[0]));
	sp_out_cpu_list(&o, w.cpus, sizeof(w.cpus));
	if (*sp_memory_text(&o) && *w.allowed && strcmp(w.allowed, all) != 0) {
		bool pinned = !strpbrk(w.allowed, ",-") && !strcmp(w.allowed, ran);

		sp_out_text(&o, pinned ? ", pinned" : " of ");
		sp_out_text(&o, pinned ? "" : w.allowed);
	}
	if (strlen(sp_memory_text(&o)) > 16)
		memcpy(ran + 14, "..", 3);
	if (w.moves_known && row->tid)
		sp_text_f(t->tail[1], sizeof(t->tail[1]), "%'lu", w.moves);
	else
		strcpy(t->tail[1], "-");
}

/* Returns whether the label needs the host: a run on several machines, and neither the label of a
 * machine nor of a rank's threads. */
static bool wants_host(const struct sp_model *m, const struct sp_level_row *row)
{
	if (m->n_machines < 2 || row->machine < 0 ||
	    (row->component >= 0 && sp_component_is(&m->component[row->component], "Machine")))
		return false;
	return row->tid < 0 || sp_process_header(m, (uint32_t)row->process)->process.rank < 0;
}

void sp_text_row_label(struct sp_out *o, const struct sp_levels *levels,
		       const struct sp_level_row *row, unsigned width)
{
	const struct sp_model *m = levels->m;

	if (levels->level == sp_level_by_name("machine") && row->component >= 0 &&
	    m->n_machines < 2 && *m->machine[0].host) {
		sp_out_f(o, "host %s", m->machine[0].host);
		return;
	}
	sp_level_label(o, levels, row, width);
	if (wants_host(m, row))
		sp_out_f(o, " on %s", m->machine[row->machine].host);
}

static void level_words(struct sp_table *t, const struct sp_level_row *row)
{
	const struct sp_levels *levels = t->arg;
	struct sp_out o;

	sp_memory_init(&o, t->label, sizeof(t->label));
	sp_text_row_label(&o, levels, row, t->room_for_label);
	sp_memory_text(&o);
	if (levels->level->what == SP_LEVEL_THREAD)
		thread_tails(t, row);
	if (t->tail_title[2])
		sp_text_f(t->tail[2], sizeof(t->tail[2]), "%'lu", row->readings);
}

static void level_row(struct sp_table *t, uint64_t i)
{
	const struct sp_level_row *row = sp_levels_row(t->arg, (uint32_t)i);

	if (!t->only_sums)
		level_words(t, row);
	for (uint32_t e = 0; e < t->m->n_events; e++)
		if (row->counted[e])
			sp_table_sum(t, e, row->total[e], row->exact[e]);
	t->sums.kinds = row->kinds;
	sp_table_metrics(t, row->metric);
}

/* Returns the level whose words name the rows: without ranks they are processes. */
static const struct sp_level *level_of_words(const struct sp_levels *t)
{
	return t->level->what == SP_LEVEL_RANK && !sp_text_have_ranks(t->m)
		       ? sp_level_by_name("process")
		       : t->level;
}

const char *sp_text_level_heading(const struct sp_levels *t)
{
	if (sp_n_repeats(t->m) && t->level->what == SP_LEVEL_PROCESS)
		return "run";
	return sp_level_is_code(t->level) && t->m->h.stat ? "place" : level_of_words(t)->heading;
}

static struct sp_table table_of(struct sp_levels *levels)
{
	bool threads = levels->level->what == SP_LEVEL_THREAD,
	     ranks = levels->ranks && sp_text_have_ranks(levels->m);

	return (struct sp_table){ .title = ranks ? "rank" : sp_text_level_heading(levels),
				  .plural = ranks ? "ranks" : level_of_words(levels)->plural,
				  .row = level_row,
				  .arg = levels,
				  .name_spread = ranks,
				  .tail_title = { threads ? "ran on CPU" : NULL,
						  threads ? "moves" : NULL } };
}

int sp_text_level(struct sp_out *o, const struct sp_selection *s, struct sp_levels *levels,
		  bool below)
{
	struct sp_table t = table_of(levels);

	t.tail_title[2] = s->m->h.stat ? NULL : "readings";	/* stat has one reading each */
	t.all = t.placed = true;
	t.in_place = s->sort || sp_level_is_place(levels->level);	/* already sorted */
	t.first_line = !below;
	if (sp_level_is_code(levels->level) || levels->level->what == SP_LEVEL_SET)
		t.line = s->all ? ALL_FRAMES : WIDE;
	if (!sp_table_open(&t, s, levels->n))
		return -ENOMEM;
	for (uint32_t i = 0; i < levels->n; i++)
		sp_table_add(&t, i);
	sp_table_blocks(o, &t);
	if (t.first_line || !t.rows.n)
		sp_out_f(o, "%snothing to show per %s\n", below ? "\n" : "", levels->level->name);
	sp_table_close(&t);
	return 0;
}

void sp_text_heaviest(struct sp_out *o, const struct sp_selection *s, const char *name)
{
	const struct sp_level *level = sp_level_by_name(name);
	bool code = sp_level_is_code(level), any = !code;
	struct sp_levels levels;
	struct sp_table t;

	if (level->what == SP_LEVEL_PROCESS && sp_text_have_ranks(s->m) &&
	    sp_text_n_ranks(s->m) > 1)
		level = sp_level_by_name("rank");
	if (sp_levels_open(&levels, s->m, level, s->metrics) < 0)
		return;
	if (!s->all)
		sp_levels_group(&levels, NULL);
	t = table_of(&levels);
	t.most = COLUMNS + (unsigned)(sp_max(s->columns, SP_TEXT_WIDTH) - SP_TEXT_WIDTH) / COLUMN;
	t.further = level->name;
	t.all = s->all;
	t.without_placed = code;
	t.line = code && s->all ? ALL_FRAMES : 0;
	if (sp_table_open(&t, s, levels.n)) {
		for (uint32_t i = 0; i < levels.n; i++) {
			uint32_t before = t.rows.n;
			const struct sp_level_row *row = sp_levels_row(&levels, i);

			sp_table_add(&t, i);
			any = any || row->to;
			if (t.rows.n > before && !code && row->tid)
				sp_table_spread(&t);
		}
		if (any && (code || t.rows.n > 1))
			sp_table_blocks(o, &t);
		sp_table_close(&t);
	}
	sp_levels_close(&levels);
}

bool sp_text_have_ranks(const struct sp_model *m)
{
	for (uint32_t i = 0; i < m->n_processes; i++)
		if (m->process[i].h->process.rank < 0)
			return false;
	return true;
}

uint32_t sp_text_n_ranks(const struct sp_model *m)
{
	uint32_t n = m->n_processes > 0;

	for (uint32_t i = 1; i < m->n_processes; i++)
		n += !sp_is_same_rank(m, i - 1, i);
	return n;
}
