/* elf.h: the loaded objects and their dynamic symbols, without dlopen or dlsym.
 *
 * Uses dl_iterate_phdr, which takes the loader's lock, so not from signal
 * handlers; nothing on the path of a reading comes here but sp_elf_at.
 */
#ifndef SP_ELF_H
#define SP_ELF_H

#include <link.h>

#include "../../core/base/base.h"

/* strcmp and strncmp by hand.  A sanitizer's run time calls dlsym while its own
 * strcmp, which stands in front of libc's, does not work yet. */
static inline bool sp_begins(const char *s, const char *with)
{
	while (*with && *s == *with)
		s++, with++;
	return !*with;
}

static inline bool sp_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

struct sp_object {
	const char *path;		/* "" for the program itself; the loader's memory */
	const char *soname;		/* or "" */
	uintptr_t base, low, span;
	unsigned index;			/* in the loader's order, 0: the program */
	const ElfW(Dyn) *dynamic;
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const ElfW(Phdr) *header;
	unsigned headers;
};

/* Calls each for every object in the loader's order until it returns non-zero;
 * that value. */
int sp_elf_each(int (*each)(const struct sp_object *o, void *arg), void *arg);

/* The object that holds the address; false: there is none, and o is empty. */
bool sp_elf_find(struct sp_object *o, uintptr_t address);

/* The same, without lock, memory or system call; its dynamic section is
 * not read, and what stands in the object's first page is.  False: there is none, or this libc
 * cannot say without a lock. */
bool sp_elf_at(struct sp_object *o, uintptr_t address);

/* The address of a function that o itself defines, or 0; for what dlsym cannot be asked. */
uintptr_t sp_elf_symbol(const struct sp_object *o, const char *name);

/* Its build id, of *n bytes; NULL: it has none. */
const unsigned char *sp_elf_build_id(const struct sp_object *o, uint32_t *n);

/* Changes whenever something was loaded or unloaded. */
unsigned long long sp_elf_loads(void);
void sp_elf_closed(void);		/* dlclose was called */

void sp_elf_in_child(void);		/* from now on: this process is a child of fork */

bool sp_elf_contains(const struct sp_object *o, uintptr_t address);

#endif
