/* terminal.h: what is different where a person looks on: colour, a pager. */
#pragma once

#include <stdbool.h>

/* The descriptor is of a terminal that moves its cursor. */
bool sp_terminal_is_one(int fd);

/* This is a terminal (of a descriptor), and NO_COLOR and TERM=dumb do not forbid it.  To be
 * asked before a pager is there. */
bool sp_terminal_colour(int fd);

/* Its columns: what COLUMNS says, else the terminal of a descriptor; 0: there is neither. */
unsigned sp_terminal_columns(int fd);

/* Puts a pager behind standard output if that is a terminal: $PAGER, or less as git
 * calls it (LESS=FRX).  An empty PAGER or "cat": none.  sp_pager_wait closes standard
 * output and waits until the pager is left; it does nothing where there is none. */
void sp_pager_start(void);
void sp_pager_wait(void);
