/* format-csv.h: lines of the tidy CSV, of relations and of levels. */
#pragma once

#include "../model/format-common.h"
#include "level.h"
#include "format-writer.h"

/* As sspapi-dump(5) describes the columns. */
#define SP_CSV_HEADER \
	"host,rank,pid,tid,thread,relation,event_set,from,to,cpu,core,numa,package,event," \
	"readings,total,exact\n"

/* A call site: module+0xoffset;... */
void sp_csv_path(struct sp_out *o, const struct sp_model *m, uint32_t id);

/* Whose counts a line has and where they are from; below 0: there is none. */
struct sp_csv_place {
	const char *host, *thread;
	const char *what;		/* behind the event's name; NULL: nothing */
	int64_t rank, pid, tid, relation;
	int32_t event_set;		/* where there is a relation, or: */
	bool of_set;
	uint32_t from, to;		/* call sites; 0: none */
	int32_t cpu, component;
};

/* Returns the place of a level's row. */
struct sp_csv_place sp_csv_place_of(const struct sp_levels *levels, const struct sp_level_row *row);

/* All of a line up to its total, and what follows there. */
void sp_csv_begin(struct sp_out *o, const struct sp_model *m, const struct sp_csv_place *p,
		  const char *event, uint64_t readings);
void sp_csv_counts(struct sp_out *o, enum sp_data_type type, int64_t total, int64_t exact);
void sp_csv_no_count(struct sp_out *o);		/* instead: the CPU cannot count the event */

/* Writes lines of the counts before a first reading, from the process's note: a store has no other
 * record of them. */
void sp_csv_beginnings(struct sp_out *o, const struct sp_model *m, uint32_t process);

/* A line for each of the metrics, as they were computed last; or of those that are made of several
 * sets of a `joined`. */
void sp_csv_metrics(struct sp_out *o, const struct sp_selection *s, const struct sp_csv_place *p,
		    uint64_t readings, const char *joined);
