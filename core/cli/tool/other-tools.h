/* other-tools.h: verbs and options of other tools, and what to use here instead. */
#pragma once

#include <stdbool.h>

/* Returns the advice for an option of other tools ("-a", "--top"), or for a variable used as an
 * option of `run` ("--callsites"). NULL: no advice. Static memory, valid until the next call. */
const char *sp_other_option(const char *verb, const char *option);

/* Returns whether a shell would run the word as a program. */
bool sp_is_program(const char *word);

/* Returns the advice for a word that is not a verb: another tool's verb, or a program; NULL: no
 * advice. Static memory, valid until the next call. */
const char *sp_other_verb(const char *word);
