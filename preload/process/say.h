/* say.h: one line for people on standard error, if that is still the descriptor
 * that the process was started with, and takes it without waiting.  Never stdio;
 * async-signal-safe.
 */
#ifndef SP_SAY_H
#define SP_SAY_H

enum sp_say_level { SP_SAY_ERROR, SP_SAY_WARNING, SP_SAY_DETAIL };

extern long sp_say_most;			/* lines above this level are not said */
void sp_say_capture(void);		/* at the start: what descriptor 2 is */
int sp_say_descriptor(void);		/* 2, or -1 if it is something else by now */
bool sp_say(enum sp_say_level level, const char *text);	/* false: not all of it (sp_process_say) */

/* What -errno means, as strerror says it, without its lock and locale. */
const char *sp_say_error(int error);

#endif
