/* format-writer.h: selects what a format shows of a store, and finds the format's writer.
 * core/base/format.h lists the formats; a new one is a row there and format-NAME.c.
 */
#pragma once

#include "../base/format.h"
#include "../base/out.h"
#include "../model/model.h"

/* The part of a large run that the HTML format shows (core/cli/report/page-select.h). */
struct sp_part {
	const bool *process;		/* [n_processes] */
	const bool *component;		/* [n_components] */
	const bool *callsite;		/* [n_callsites] */
	/* sp_part_thread of each thread with relations here, ascending */
	const uint64_t *thread;
	uint32_t n_threads;
	/* the maximum number of points per event and CPU from a relation's permanent readings */
	uint64_t readings;
};

static inline uint64_t sp_part_thread(uint32_t process, int32_t tid)
{
	return (uint64_t)process << 32 | (uint32_t)tid;
}

bool sp_part_has_thread(const struct sp_part *p, uint32_t process, int32_t tid);

/* What is shown and how. All fields but the model may be 0, as in a process's own dump. */
struct sp_selection {
	struct sp_model *m;
	/* bound to m; text, JSON and CSV show them with the counts (core/metric/compute.h); NULL:
	 * no metrics */
	struct sp_metrics *metrics;
	const char *events;		/* with a level: only these events, E,E; NULL: all */
	/* text: "place", "readings" or the leading event; NULL: sp_leading_event() decides */
	const char *sort;
	/* hwloc: the event that decides the colours; NULL: SSPAPI_COLOR_BY, or the leading event */
	const char *color_by;
	/* text: all rows, events and notes; bold headings; the operand with which sspapi report
	 * finds this run ("": finds it here; NULL: suggest no command) */
#define SP_FORMAT_NO_STORE	"/"	/* not a file name: no store was written */
	bool all, bold;
	/* width of the terminal, used by tables if above 80; 0: unknown */
	unsigned columns;
	const char *file;		/* quoted for a shell (sp_shell_word) */
	const char *again;		/* options of suggested commands, " -m IPC"; NULL: none */
	/* text: set if rows, columns or notes did not fit; NULL: not needed */
	bool *cut;
	/* set after the lines that explain ~, and the rows min, mean and max; NULL: write no such
	 * lines */
	struct sp_explained {
		bool mark, spread;
	} *explained;
	/* JSON: write only permanent entries, and intervals only at the level of call sites. Used
	 * by the HTML format, which shows no more, and by runs of 10,000 ranks. */
	bool brief;
	const struct sp_part *part;	/* JSON: only this part; NULL: all */
};

extern const struct sp_format_writer sp_format_writers[];
extern const unsigned sp_n_format_writers;

/* NULL: no such writer, or only the command has it (core/cli/report/page.h). */
const struct sp_format_writer *sp_format_writer_of(enum sp_format_id id);
const struct sp_format_writer *sp_format_writer_by_name(const char *name, size_t length);
const struct sp_format_writer *sp_format_writer_by_extension(const char *path);

#define SP_FORMAT_WRITER(name, extension, can, with) \
	void sp_format_##name(struct sp_out *o, const struct sp_selection *s);
SP_FORMATS(SP_FORMAT_WRITER, SP_FORMAT_WRITER, SP_NO_FORMAT, )
#undef SP_FORMAT_WRITER

/* Returns whether no store of this run exists that sspapi report could show. stat stores its counts
 * only on request. */
static inline bool sp_selection_keeps_nothing(const struct sp_selection *s)
{
	return s->m->h.stat && (!s->file || strcmp(s->file, SP_FORMAT_NO_STORE) == 0);
}

/* The text before and after the text format's tables. */
void sp_text_begin(struct sp_out *o, const struct sp_selection *s);
void sp_text_end(struct sp_out *o, const struct sp_selection *s);

/* Writes a word of a command line, in quotes if a shell needs them. */
void sp_shell_word(struct sp_out *o, const char *text);

/* Returns whether the event is shown. Gauges are not, because they have no sums. */
bool sp_selection_event(const struct sp_selection *s, uint32_t event);
bool sp_selection_named(const struct sp_selection *s, uint32_t event);
bool sp_in_list(const char *list, const char *name);	/* E,E */
