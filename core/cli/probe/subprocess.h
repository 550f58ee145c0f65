/* subprocess.h: what loads other people's libraries runs in a child: one that crashes, hangs or
 * talks is an answer, too. */
#pragma once

/* part(arg, to) in a child without standard output and error, for some seconds at most; each line
 * that the child writes to the descriptor `to` is handed to line(arg2, text), without its newline
 * (line NULL: none come).  NULL, or how the child ended, to be read behind "NAME ", until the next
 * call. */
const char *sp_run_in_child(void (*part)(void *arg, int to), void *arg,
			    void (*line)(void *arg2, char *text), void *arg2);

#define SP_CHILD_SECONDS 20		/* time limit of a child */

/* Return how a child ended, by its status of waitpid(), as sp_run_in_child() does. */
const char *sp_child_why(int status);
