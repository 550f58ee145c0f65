/* format-csv.h: writes lines of the tidy CSV, for relations and levels. */
#pragma once

#include "../model/format-common.h"
#include "level.h"
#include "format-writer.h"

/* The columns, described in sspapi-dump(5). */
#define SP_CSV_HEADER \
	"host,rank,pid,tid,thread,relation,event_set,from,to,cpu,core,numa,package,event," \
	"readings,total,exact\n"

/* A call site: module+0xoffset;... */
void sp_csv_path(struct sp_out *o, const struct sp_model *m, uint32_t id);

/* The target and the origin of a line's counts; a number below 0: not applicable. */
struct sp_csv_place {
	const char *host, *thread;
	const char *what;		/* appended to the event's name; NULL: nothing */
	int64_t rank, pid, tid, relation;
	int32_t event_set;		/* if there is a relation; otherwise: */
	bool of_set;
	uint32_t from, to;		/* call sites; 0: none */
	int32_t cpu, component;
};

/* Returns the place of a level's row. */
struct sp_csv_place sp_csv_place_of(const struct sp_levels *levels, const struct sp_level_row *row);

/* sp_csv_begin writes a line up to its total; sp_csv_end writes the rest. */
void sp_csv_begin(struct sp_out *o, const struct sp_model *m, const struct sp_csv_place *p,
		  const char *event, uint64_t readings);
void sp_csv_counts(struct sp_out *o, enum sp_data_type type, int64_t total, int64_t exact);
/* instead of a total: the CPU cannot count the event */
void sp_csv_no_count(struct sp_out *o);

/* Writes lines of the selected events' counts before a first reading, from the process's note: a
 * store has no other record of them. */
void sp_csv_beginnings(struct sp_out *o, const struct sp_selection *s, uint32_t process);

/* Writes a line per metric, from the latest computation; with `joined` only metrics that combine
 * several sets. */
void sp_csv_metrics(struct sp_out *o, const struct sp_selection *s, const struct sp_csv_place *p,
		    uint64_t readings, const char *joined);
