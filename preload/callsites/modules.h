/* modules.h: describes the loaded objects of call sites in the store: file, build id, address.
 *
 * A process may be killed at any time, so a module is found when a site is first seen: at a reading
 * and possibly in a signal handler. libc finds the object without a lock (_dl_find_object), and its
 * description goes into a block prepared before. With an older libc, no block left or a very long
 * path, the number is 0 until the next start or stop. All functions except sp_module_at() require
 * the lock of callsites.c.
 */
#ifndef SP_MODULES_H
#define SP_MODULES_H

#include "../papi/elf.h"

/* The number of the module at an address; 0: unknown yet. */
uint32_t sp_module_at(uintptr_t address);

/* The number of an object's module; 0: too many modules, or no memory. */
uint32_t sp_module_of(const struct sp_object *o);

/* The module's block in the store; NULL: no such number. */
const struct sp_module *sp_module_block(uint32_t number);

/* Prepares blocks for new modules and touches the data of loaded objects that sp_module_at()
 * reads. */
void sp_modules_prepare(void);

bool sp_module_is_program(uint32_t number);

/* Marks unloaded modules. True: there is a new one. */
bool sp_modules_find_unloaded(void);
bool sp_module_is_unloaded(uint32_t number);

void sp_modules_reset(void);		/* in a child of fork */

#endif
