/* format-writer.h: how a store is shown: what of it, and who writes each form (core/base/format.h
 * has the list of them; a new one is its row there, and format-NAME.c).
 */
#pragma once

#include "../base/format.h"
#include "../base/out.h"
#include "../model/model.h"

/* What the html form has of a run that is more than a page holds
 * (core/cli/report/page-select.h). */
struct sp_part {
	const bool *process;		/* [n_processes] */
	const bool *component;		/* [n_components] */
	const bool *callsite;		/* [n_callsites] */
	const uint64_t *thread;		/* sp_part_thread of each, ascending: those whose relations
					 * are there */
	uint32_t n_threads;
	uint64_t readings;		/* most points of an event on one CPU that the permanent
					 * readings of a relation make */
};

static inline uint64_t sp_part_thread(uint32_t process, int32_t tid)
{
	return (uint64_t)process << 32 | (uint32_t)tid;
}

bool sp_part_has_thread(const struct sp_part *p, uint32_t process, int32_t tid);

/* What is shown, and how.  All but the model may be 0: as in a process's own dump. */
struct sp_selection {
	struct sp_model *m;
	struct sp_metrics *metrics;	/* bound to m, which text, JSON and CSV show beside its
					 * counts (core/metric/compute.h); NULL: none */
	const char *events;		/* by level: of these only, E,E; NULL: all */
	const char *sort;		/* text: "place", "readings" or the leading event; NULL: see
					 * sp_leading_event */
	const char *color_by;		/* hwloc: the event whose counts are the colours; NULL:
					 * SSPAPI_COLOR_BY, or the leading event */
	/* text: all rows, events and notes; headings in bold; what sspapi report is told to find
	 * what is shown ("": nothing, it finds the run here; NULL: where to look further is not
	 * said). */
#define SP_FORMAT_NO_STORE	"/"	/* (no file's name: none was written) */
	bool all, bold;
	unsigned columns;		/* of the terminal: tables take them where they are more
					 * than 80; 0: not known */
	const char *file;		/* as a shell reads it (sp_shell_word) */
	bool *cut;			/* text: set where rows, columns or notes had no room; NULL:
					 * nobody asks */
	bool *explained;		/* set once a line has explained ~; NULL: no line */
	/* JSON: the lists of entries hold those that are kept, and intervals are left to the level
	 * of call sites: for the html form, which shows no more, and a run of 10,000 ranks. */
	bool brief;
	const struct sp_part *part;	/* JSON: no more than that; NULL: all */
};

extern const struct sp_format_writer sp_format_writers[];
extern const unsigned sp_n_format_writers;

/* NULL: none, or one that only the command writes (core/cli/report/page.h). */
const struct sp_format_writer *sp_format_writer_of(enum sp_format_id id);
const struct sp_format_writer *sp_format_writer_by_name(const char *name, size_t length);
const struct sp_format_writer *sp_format_writer_by_extension(const char *path);

#define SP_FORMAT_WRITER(name, extension, can, with) \
	void sp_format_##name(struct sp_out *o, const struct sp_selection *s);
SP_FORMATS(SP_FORMAT_WRITER, SP_FORMAT_WRITER, SP_NO_FORMAT, )
#undef SP_FORMAT_WRITER

/* Is there nothing that sspapi report could show more of?  (stat counts without keeping, unless it
 * is told to.) */
static inline bool sp_selection_keeps_nothing(const struct sp_selection *s)
{
	return s->m->h.stat && (!s->file || strcmp(s->file, SP_FORMAT_NO_STORE) == 0);
}

/* What stands above the text form's tables, and below them. */
void sp_text_begin(struct sp_out *o, const struct sp_selection *s);
void sp_text_end(struct sp_out *o, const struct sp_selection *s);

/* A word of a command line that can be pasted: in quotes where it needs some. */
void sp_shell_word(struct sp_out *o, const char *text);

/* Is this event among those that are shown?  (Gauges are not: they have no sums; by its name alone
 * it may be one.) */
bool sp_selection_event(const struct sp_selection *s, uint32_t event);
bool sp_selection_named(const struct sp_selection *s, uint32_t event);
bool sp_in_list(const char *list, const char *name);	/* E,E */
