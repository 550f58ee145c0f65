/* cross-thread.c: writes the note on event sets that count another thread than the one that started
 * them; see model.h. */
#include <string.h>

#include "../base/out.h"
#include "model-blocks.h"

/* The name of the newest thread with this tid, or "". */
static const char *name_of(const struct sp_model *m, uint32_t process, int32_t tid)
{
	uint64_t left = sp_most_blocks(m);
	const struct sp_thread *t;

	for (sp_off off = sp_threads_head(m, process);
	     off && sp_take_step(&left) && (t = sp_thread_at(m, off)); off = t->next)
		if (t->tid == tid)
			return memchr(t->name, 0, sizeof(t->name)) ? t->name : "";
	return "";
}

/* "worker (4243)", or "4243". */
static const char *name_and_tid(const char *name, int32_t tid, char text[64])
{
	return sp_text_f(text, 64, *name ? "%s (%d)" : "%s%d", name, tid);
}

static void write_note(struct sp_model *m, const struct sp_row *row, uint64_t n)
{
	char starter[64], counted[64], more[64] = "";

	name_and_tid(name_of(m, row->process, row->started_by), row->started_by, starter);
	name_and_tid(row->thread, row->tid, counted);
	if (n > 1)
		sp_text_f(more, sizeof(more), " (and %'lu more like it)", n - 1);
	sp_text_f(m->cross_thread, sizeof(m->cross_thread),
		  "thread %s started event set %d%s, but PAPI counted thread %s, for which it "
		  "had opened the counters; create a set in each thread",
		  starter, row->event_set, more, counted);
}

/* Skip merged stores: they have the note already, but not the names of threads that were not
 * counted. */
void sp_cross_thread_find(struct sp_model *m)
{
	struct sp_row row = { .only_cells = true }, first = { 0 };
	uint64_t n = 0;

	while (!sp_is_merged(m) && sp_model_next(m, &row)) {
		if (!row.started_by || row.target != SP_TARGET_THREAD || !row.starts)
			continue;
		if (!n++)
			first = row;
	}
	if (n)
		write_note(m, &first, n);
}
