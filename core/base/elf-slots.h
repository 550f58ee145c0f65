/* elf-slots.h: the words of a loaded object in which the loader puts other objects' functions. */
#pragma once

#include <link.h>

#include "base.h"

/* Calls each for every such word, with the name of what it is for (in_plt: to be called only),
 * until one returns true, which is returned.  `dynamic` is the dynamic section of the object that
 * is loaded at `base`. */
bool sp_elf_slots(uintptr_t base, const ElfW(Dyn) * dynamic,
		  bool (*each)(uintptr_t at, const char *name, bool in_plt, void *arg), void *arg);

/* An address in a dynamic section: glibc has relocated it in most, not in read-only ones (the
 * vDSO's). */
static inline uintptr_t sp_elf_pointer(uintptr_t base, uintptr_t a)
{
	return a < base ? a + base : a;
}
