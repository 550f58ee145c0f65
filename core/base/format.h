/* format.h: the list of dump formats, from which all tables and texts that name them are made.
 *
 * core/formats/formats.c lists the writer of each. The command alone writes hwloc, html and trace
 * (core/cli/report/hwloc.c, page.c, trace.c).
 */
#pragma once

#include "base.h"

/* Abilities of a format (text, JSON ...). A command refuses an option that its format does not
 * support. */
enum sp_format_can {
	SP_CAN_IN_PROCESS = 1,		/* written by the library, not only by the command */
	SP_CAN_LEVELS = 2,		/* a table for a level: --per-LEVEL, --sort */
	SP_CAN_SEVERAL_LEVELS = 4,
	SP_CAN_METRICS = 8,		/* -m */
	SP_CAN_READINGS = 16,		/* --readings */
	/* names of call sites' functions: --no-symbols, --all-symbols */
	SP_CAN_SYMBOLS = 32,
	/* made for a terminal: uses a pager, omits rows without --all */
	SP_CAN_ALL = 64,
	/* sums on the objects of one machine, in colours: --color-by */
	SP_CAN_OBJECTS = 128,
	/* reports at every level which thread or rank counted a row */
	SP_CAN_OBSERVERS = 512,
	/* a store: the command reads it, and the library writes it without a model */
	SP_CAN_READ = 1024,
	/* a row for each interval; `sspapi stat -I` writes these rows instead of the dump */
	SP_CAN_INTERVALS = 2048,
	/* shows permanent readings only: refused for a store without them */
	SP_ONLY_READINGS = 4096,
};

/* A row has the name, the extension, the abilities and `with`, which is passed on. PAGE rows are
 * formats that the library does not write. */
#define SP_FORMATS(FIRST, NEXT, PAGE, with) \
	FIRST(text, ".txt", \
	      SP_CAN_LEVELS | SP_CAN_SEVERAL_LEVELS | SP_CAN_METRICS | SP_CAN_SYMBOLS | \
		      SP_CAN_ALL, \
	      with) \
	NEXT(json, ".json", \
	     SP_CAN_LEVELS | SP_CAN_SEVERAL_LEVELS | SP_CAN_METRICS | SP_CAN_SYMBOLS | \
		     SP_CAN_OBSERVERS, \
	     with) \
	NEXT(csv, ".csv", SP_CAN_LEVELS | SP_CAN_METRICS | SP_CAN_READINGS | SP_CAN_INTERVALS, \
	     with) \
	PAGE(hwloc, ".xml", SP_CAN_OBJECTS, with) \
	PAGE(html, ".html", SP_CAN_METRICS | SP_CAN_SYMBOLS | SP_CAN_OBSERVERS, with) \
	PAGE(trace, ".trace.json", SP_ONLY_READINGS | SP_CAN_SYMBOLS, with) \
	NEXT(store, ".sspapi", SP_CAN_READ, with)

#define SP_NO_FORMAT(name, extension, can, with)
#define SP_FORMAT_FIRST(name, extension, can, separator) #name
#define SP_FORMAT_NEXT(name, extension, can, separator) separator #name

/* Make one literal of the names with the literal `separator` between them: those that the library
 * writes, or all. */
#define SP_FORMAT_NAMES(separator) \
	SP_FORMATS(SP_FORMAT_FIRST, SP_FORMAT_NEXT, SP_NO_FORMAT, separator)
#define SP_ALL_FORMAT_NAMES(separator) \
	SP_FORMATS(SP_FORMAT_FIRST, SP_FORMAT_NEXT, SP_FORMAT_NEXT, separator)

#define SP_FORMAT_ID(name, extension, can, with) SP_FORMAT_##name,
enum sp_format_id { SP_FORMATS(SP_FORMAT_ID, SP_FORMAT_ID, SP_FORMAT_ID, ) };

struct sp_format {
	const char *name;		/* value of SSPAPI_FORMAT and -f */
	const char *extension;		/* of SSPAPI_OUTPUT, with its dot */
	enum sp_format_id id;
	unsigned can;			/* enum sp_format_can */
};
#define SP_FORMAT_ROW(name, extension, can) #name, extension, SP_FORMAT_##name, can
extern const struct sp_format sp_formats[];
extern const unsigned sp_n_formats;

/* A format and the function that writes it. */
struct sp_out;
struct sp_selection;
struct sp_format_writer {
	const char *name, *extension;	/* as in struct sp_format */
	enum sp_format_id id;
	unsigned can;
	void (*write)(struct sp_out *o, const struct sp_selection *s);
};

/* NULL if there is no such format. */
const struct sp_format *sp_format_by_name(const char *name, size_t length);
const struct sp_format *sp_format_by_extension(const char *path);

/* The first format of the comma-separated list whose abilities in `mask` are exactly `can`, or
 * NULL. */
const struct sp_format *sp_format_among(const char *formats, unsigned mask, unsigned can);
