/* symbols.h: names for call sites from the programs' own files, by addr2line.
 *
 * A store has module, build id and offset of each frame, and names of exported functions.
 * addr2line (binutils) adds what debug information and symbol table have. It runs once per
 * module, if the file is still the one that ran. (eu-addr2line is not used: it opens any .dwo
 * file that the module names, and follows a descriptor back to the folder of its file.)
 */
#pragma once

#include "../../model/model.h"

/* Adds symbols and lines to the model's frames, as far as available. Warns on standard error
 * (verb NULL: silently) about each module that has changed, or if there is no addr2line. Modules
 * of other users than the caller and root are queried only if other_users, else one line names
 * them: the store may come from a stranger, and addr2line trusts its files. Files beside a
 * module are read only in a folder that no one else can write. */
void sp_symbols_add(struct sp_model *m, const char *verb, bool other_users);

/* Version for one process that is read repeatedly: names outlive the model, and only new frames
 * are queried. *kept is NULL at first. */
struct names;
void sp_symbols_update(struct sp_model *m, struct names **kept, const char *verb);
