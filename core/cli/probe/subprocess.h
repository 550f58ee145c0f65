/* subprocess.h: runs code that loads foreign libraries in a child, so that a crash, hang or
 * output of theirs is only a result. */
#pragma once

/* Runs part(arg, to) in a child without standard output and error, for a few seconds at most.
 * Each line that the child writes to `to` goes to line(arg2, text), without its newline (line
 * NULL: no lines). Returns NULL, or until the next call how the child ended, to be printed after
 * "NAME ". */
const char *sp_run_in_child(void (*part)(void *arg, int to), void *arg,
			    void (*line)(void *arg2, char *text), void *arg2);

#define SP_CHILD_SECONDS 20		/* time limit of a child */

/* Return how a child ended, by its status of waitpid(), as sp_run_in_child() does. */
const char *sp_child_why(int status);
