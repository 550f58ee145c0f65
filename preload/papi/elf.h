/* elf.h: finds loaded objects and their dynamic symbols, without dlopen or dlsym.
 *
 * Uses dl_iterate_phdr, which takes the loader's lock: not async-signal-safe. The path of a reading
 * uses only sp_elf_at.
 */
#ifndef SP_ELF_H
#define SP_ELF_H

#include <link.h>

#include "../../core/base/base.h"

/* strcmp and strncmp without libc: a sanitizer's run-time library calls dlsym before its own strcmp
 * works. */
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
	const char *path;		/* "" for the program; memory of the loader */
	const char *soname;		/* or "" */
	uintptr_t base, low, span;
	unsigned index;			/* position in the loader's order; 0: the program */
	const ElfW(Dyn) *dynamic;
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const ElfW(Phdr) *header;
	unsigned headers;
};

/* Call each() for every object in the loader's order until it returns non-zero; returns that
 * value. */
int sp_elf_each(int (*each)(const struct sp_object *o, void *arg), void *arg);

/* Find the object that contains the address; false, with an empty *o, if no object does. */
bool sp_elf_find(struct sp_object *o, uintptr_t address);

/* The same without lock, memory or system call. Reads the object's first page, not its dynamic
 * section. False also if this libc needs a lock. */
bool sp_elf_at(struct sp_object *o, uintptr_t address);

/* The address of a function that o itself defines, or 0. For cases in which dlsym cannot be
 * used. */
uintptr_t sp_elf_symbol(const struct sp_object *o, const char *name);

/* Find the object's build id and store its length in *n; NULL if it has none. */
const unsigned char *sp_elf_build_id(const struct sp_object *o, uint32_t *n);

/* A number that changes when an object is loaded or unloaded. */
unsigned long long sp_elf_load_count(void);
void sp_elf_note_close(void);		/* report a dlclose */

void sp_elf_in_child(void);		/* report that this process is a child of fork */

bool sp_elf_contains(const struct sp_object *o, uintptr_t address);

#endif
