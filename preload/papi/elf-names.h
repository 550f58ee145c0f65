/* elf-names.h: names of functions from an object's file; what the loader maps has only the names that
 * are exported.
 *
 * For the end of a process: by read and in bounded memory, without malloc, loader or lock; of a
 * file that is the one that was loaded, by its build id.  Nothing in it is trusted.
 */
#ifndef SP_ELF_NAMES_H
#define SP_ELF_NAMES_H

#include "../../core/base/base.h"

#define SP_ELF_NAME 512u		/* bytes of a name; longer ones are left out */

struct sp_elf_want {
	uint64_t offset;		/* of code, from the object's base */
	void *of;			/* the caller's */
	bool found;
};

/* Calls `found` once for each that lies in a function with a name; sorts them. */
void sp_elf_names(const char *path, const unsigned char *id, uint32_t id_bytes, struct sp_elf_want *want, uint32_t n,
		  void (*found)(const struct sp_elf_want *want, const char *name));

#endif
