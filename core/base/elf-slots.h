/* elf-slots.h: finds the words (PLT and GOT slots) of a loaded object into which the loader writes
 * addresses of functions of other objects. */
#pragma once

#include <link.h>

#include "base.h"

/* Call each() for every slot with the name of its symbol until it returns true; returns that.
 * in_plt: the slot serves calls only. `dynamic` is the dynamic section of the object that is loaded
 * at `base`. */
bool sp_elf_slots(uintptr_t base, const ElfW(Dyn) * dynamic,
		  bool (*each)(uintptr_t at, const char *name, bool in_plt, void *arg), void *arg);

/* Relocate an address of a dynamic section. glibc has already relocated it unless the section is
 * read-only, as the vDSO's is. */
static inline uintptr_t sp_elf_pointer(uintptr_t base, uintptr_t a)
{
	return a < base ? a + base : a;
}
