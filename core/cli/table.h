/* table.h: a table of texts in columns, for people: widths by what is in it, headings
 * broken over lines, and in several parts where 160 columns do not take it.
 *
 *	struct sp_table t = { .keys = 1 };
 *	sp_table_column(&t, "CPU", SP_TABLE_LEFT);
 *	sp_table_column(&t, "PAPI_TOT_INS", SP_TABLE_RIGHT);
 *	sp_table_cell(&t, "0"); sp_table_cell(&t, "1,234");	// row by row
 *	sp_table_print(&t, out, style); sp_table_free(&t);
 */
#ifndef SP_TABLE_H
#define SP_TABLE_H

#include "../out.h"

enum sp_table_align { SP_TABLE_LEFT, SP_TABLE_RIGHT };

struct sp_table {
	unsigned keys;			/* the first columns, which every part repeats */
	unsigned columns;
	uint64_t cells;
	bool failed;			/* there was no memory: what is printed is not all */
	struct sp_table_column {
		char *heading;
		enum sp_table_align align;
		unsigned width;
	} *column;			/* private to table.c */
	char **cell;
	uint64_t room;
};

/* Copies are kept.  Control characters in the texts are the caller's to escape. */
void sp_table_column(struct sp_table *t, const char *heading, enum sp_table_align align);
void sp_table_cell(struct sp_table *t, const char *text);

/* bold: headings in bold, for a terminal. */
void sp_table_print(struct sp_table *t, struct sp_out *o, bool bold);
void sp_table_free(struct sp_table *t);

#endif
