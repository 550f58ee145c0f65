/* screen.h: a page on a terminal that is drawn again and again, and its keys.
 *
 * The terminal is given back on every end that a process can see: sp_screen_end, exit,
 * and signals, stopping (^Z) among them.  One screen a process.
 */
#ifndef SP_SCREEN_H
#define SP_SCREEN_H

#include <stdbool.h>

/* False: standard output is no terminal; nothing was done. */
bool sp_screen_begin(void);
void sp_screen_end(void);

unsigned sp_screen_columns(void);

/* Shows the text from line `from` and column `left` on, cut to the screen, and the status
 * in the last row.  Returns how many of its rows were free for the text. */
unsigned sp_screen_draw(const char *text, unsigned from, unsigned left, const char *status);

enum sp_key {
	SP_KEY_NONE, SP_KEY_QUIT, SP_KEY_UP, SP_KEY_DOWN, SP_KEY_LEFT, SP_KEY_RIGHT, SP_KEY_PAGE_UP, SP_KEY_PAGE_DOWN, SP_KEY_OTHER
};

/* Waits for a key, at most so long; SP_KEY_OTHER also for a screen that is to be drawn
 * anew (another size, after ^Z). */
enum sp_key sp_screen_key(unsigned milliseconds);

#endif
