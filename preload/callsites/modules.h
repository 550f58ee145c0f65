/* modules.h: the loaded objects that call sites lie in, as the store tells of them: file,
 * build id, and where it was mapped.
 *
 * A process may be killed at any time, so a site's modules are looked up when it is first
 * met, which is on the path of a reading and perhaps in a signal handler: libc finds the
 * object without a lock (_dl_find_object), and what the store will hold of it goes into a
 * block that was made beforehand.  Where that cannot be (an older libc, no block left, a
 * very long path) the number is 0, and the object is looked for when a start or a stop
 * comes by.
 *
 * All but sp_module_at are called with the lock of callsites.c.
 */
#ifndef SP_MODULES_H
#define SP_MODULES_H

#include "../papi/elf.h"

/* The number of the module that holds the address; 0: see above. */
uint32_t sp_module_at(uintptr_t address);

/* The same for an object; 0: there are too many, or no memory. */
uint32_t sp_module_of(const struct sp_object *o);

/* As the store has it; NULL: there is none of this number. */
const struct sp_module *sp_module_block(uint32_t number);

/* Blocks for modules to come; what sp_module_at will read of those loaded is in memory. */
void sp_modules_prepare(void);

bool sp_module_is_program(uint32_t number);

/* Something was unloaded.  True: one that had a number is gone. */
bool sp_modules_find_unloaded(void);
bool sp_module_is_unloaded(uint32_t number);

void sp_modules_reset(void);		/* in a child of fork */

#endif
