/* format.h: the forms in which a store is shown: one list, from which every text and table that
 * names them is made.
 *
 * Who writes each is in core/formats/formats.c; hwloc and html are written by the command alone,
 * core/cli/report/hwloc.c and page.c.
 */
#pragma once

#include "base.h"

/* Abilities of a form (text, JSON ...). A command refuses an option that its form does not
 * support. */
enum sp_format_can {
	SP_CAN_IN_PROCESS = 1,		/* the library writes it; the others only the command */
	SP_CAN_LEVELS = 2,		/* a table for a level: --per-LEVEL, --sort */
	SP_CAN_SEVERAL_LEVELS = 4,
	SP_CAN_METRICS = 8,		/* -m */
	SP_CAN_READINGS = 16,		/* --readings */
	SP_CAN_SYMBOLS = 32,		/* the functions of call sites: --no-symbols,
					 * --all-symbols */
	SP_CAN_ALL = 64,		/* is made for a terminal, with a pager, and leaves out
					 * rows: --all */
	SP_CAN_OBJECTS = 128,		/* has sums on the objects of one machine, in colours:
					 * --color-by */
	SP_CAN_OBSERVERS = 512,		/* says of each row who counted it, at every level */
	SP_CAN_READ = 1024,		/* is a store, which the command reads and for which the
					 * library needs no model */
	SP_CAN_INTERVALS = 2048,	/* has a row for each interval, which `sspapi stat -I`
					 * writes in place of the dump */
};

/* name, the extension of its files, what it can; `with` is handed on.  PAGE: a form that the
 * library does not write. */
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
	NEXT(store, ".sspapi", SP_CAN_READ, with)

#define SP_NO_FORMAT(name, extension, can, with)
#define SP_FORMAT_FIRST(name, extension, can, between) #name
#define SP_FORMAT_NEXT(name, extension, can, between) between #name

/* Their names as one text, between them `between`, a literal: those that the library writes, and
 * all. */
#define SP_FORMAT_NAMES(between) SP_FORMATS(SP_FORMAT_FIRST, SP_FORMAT_NEXT, SP_NO_FORMAT, between)
#define SP_ALL_FORMAT_NAMES(between) \
	SP_FORMATS(SP_FORMAT_FIRST, SP_FORMAT_NEXT, SP_FORMAT_NEXT, between)

#define SP_FORMAT_ID(name, extension, can, with) SP_FORMAT_##name,
enum sp_format_id { SP_FORMATS(SP_FORMAT_ID, SP_FORMAT_ID, SP_FORMAT_ID, ) };

struct sp_format {
	const char *name;		/* as in SSPAPI_FORMAT, and -f */
	const char *extension;		/* as in SSPAPI_OUTPUT, with its dot */
	enum sp_format_id id;
	unsigned can;			/* enum sp_format_can */
};
#define SP_FORMAT_ROW(name, extension, can) #name, extension, SP_FORMAT_##name, can
extern const struct sp_format sp_formats[];
extern const unsigned sp_n_formats;

/* A form, and who writes it. */
struct sp_out;
struct sp_selection;
struct sp_format_writer {
	const char *name, *extension;	/* as struct sp_format has them */
	enum sp_format_id id;
	unsigned can;
	void (*write)(struct sp_out *o, const struct sp_selection *s);
};

/* NULL: it is none. */
const struct sp_format *sp_format_by_name(const char *name, size_t length);
const struct sp_format *sp_format_by_extension(const char *path);

/* The first form of a list (FORM,FORM; "": none) whose abilities are `can`, as far as `mask` asks
 * for them; NULL: none. */
const struct sp_format *sp_format_among(const char *formats, unsigned mask, unsigned can);
