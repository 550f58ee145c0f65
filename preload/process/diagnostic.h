/* diagnostic.h: prints one line to standard error, if that is still the file that the process
 * started with and can take it without waiting. No stdio; async-signal-safe. */
#ifndef SP_DIAGNOSTIC_H
#define SP_DIAGNOSTIC_H

#include <stdbool.h>

enum sp_diag_level { SP_DIAG_ERROR, SP_DIAG_WARNING, SP_DIAG_DETAIL };

extern long sp_diag_max_level;		/* higher levels are not printed */
void sp_diag_capture(void);		/* at the start: identifies the file of descriptor 2 */
int sp_diag_descriptor(void);		/* 2, or -1 if it is another file by now */
/* False: not printed completely (sp_process_diag). */
bool sp_diag(enum sp_diag_level level, const char *text);

/* Describes -errno as strerror() does, without its lock and locale. */
const char *sp_diag_error(int error);

/* ---- messages of the process, and for its dump (process.c) --------------------- */

void sp_process_report_truncated(void);	/* reports once that the live file is full, if it is */
/* Prints "what: detail". If standard error does not take it, adds a note to the dump, except for
 * details. */
void sp_process_diag(enum sp_diag_level level, const char *what, const char *detail);
void sp_process_note(const char *text);	/* a note in the dump, and a warning */
void sp_process_note_quiet(const char *text);	/* a note in the dump only */
void sp_process_note_early(void);	/* moves earlier notes to the store, which exists now */

#endif
