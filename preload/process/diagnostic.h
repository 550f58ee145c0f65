/* diagnostic.h: one line for people on standard error, if that is still the descriptor
 * that the process was started with, and takes it without waiting.  Never stdio;
 * async-signal-safe.
 */
#ifndef SP_DIAGNOSTIC_H
#define SP_DIAGNOSTIC_H

#include <stdbool.h>

enum sp_diag_level { SP_DIAG_ERROR, SP_DIAG_WARNING, SP_DIAG_DETAIL };

extern long sp_diag_max_level;			/* lines above this level are not said */
void sp_diag_capture(void);		/* at the start: what descriptor 2 is */
int sp_diag_descriptor(void);		/* 2, or -1 if it is something else by now */
/* false: not all of it (sp_process_diag) */
bool sp_diag(enum sp_diag_level level, const char *text);

/* What -errno means, as strerror says it, without its lock and locale. */
const char *sp_diag_error(int error);

/* ---- of the process, and for its dump (process.c) ---- */

void sp_process_report_truncated(void);			/* says once that the live file is full, if
							 * it is */
/* A line on standard error, "what: detail"; where that takes none, a note of the dump, but for
 * details. */
void sp_process_diag(enum sp_diag_level level, const char *what, const char *detail);
void sp_process_note(const char *text);		/* for the dump; and as a warning */
void sp_process_note_quiet(const char *text);	/* for the dump only */
void sp_process_note_early(void);		/* there is a store now: those from before are
						 * its */

#endif
