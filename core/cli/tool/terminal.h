/* terminal.h: colour and a pager, if standard output is a terminal. */
#pragma once

#include <stdbool.h>

/* Is it a terminal that can move its cursor? */
bool sp_is_terminal(int fd);

/* Is it a terminal, and do NO_COLOR and TERM=dumb not forbid colour? Call it before starting a
 * pager. */
bool sp_terminal_colour(int fd);

/* Returns the columns of COLUMNS, or else of the terminal; 0: neither. */
unsigned sp_terminal_columns(int fd);

/* Starts a pager on standard output if that is a terminal: $PAGER, or less with git's options
 * (LESS=FRX). None if PAGER is empty or "cat". sp_pager_wait closes standard output and waits
 * for the pager, if any. */
void sp_pager_start(void);
void sp_pager_wait(void);
