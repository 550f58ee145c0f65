/* symbols.h: names for call sites, from the programs' own files, by addr2line.
 *
 * A store has module, build id and offset of each frame, and the names of exported functions. What
 * the debug information and the symbol table say besides, addr2line (binutils) knows; it is run
 * once for each module, if the file there is still the one that ran.  (Not eu-addr2line: that opens
 * whatever .dwo file the module names, and follows a descriptor back to the folder of its file.)
 */
#pragma once

#include "../../model/model.h"

/* From now on the model's frames have symbols and lines, where they can be had.  A line on standard
 * error (none where verb is NULL) for each module that is another by now, or if there is no
 * addr2line; and one for all that belong neither to the caller nor to root, which are asked only if
 * of_others: the store may come from a stranger, and addr2line believes what a file says.  What
 * lies beside a module is read only in a folder that no one else may write. */
void sp_symbols_add(struct sp_model *m, const char *verb, bool of_others);

/* Of one process that is looked at again and again: the names outlive the model, and addr2line is
 * asked only when there are frames that it was not asked for.  *kept is NULL before the first
 * time. */
struct names;
void sp_symbols_again(struct sp_model *m, struct names **kept, const char *verb);
