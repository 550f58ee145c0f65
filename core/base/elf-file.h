/* elf-file.h: reads the dynamic section, symbols and build id of an ELF file.
 *
 * The command uses it, and a process at its exit. It needs read and bounded memory, but no malloc,
 * loader or lock, and trusts nothing in the file.
 */
#pragma once

#include <link.h>

#include "base.h"

#define SP_ELF_NAME 512u		/* room for a function's name; longer names are ignored */
#define SP_ELF_ID 36u			/* room for a build id; longer ones are ignored */

struct sp_elf_file {
	int fd;
	bool foreign;			/* for another word size or machine */
	bool interpreter;		/* it has PT_INTERP */
	char loader[256];		/* path in PT_INTERP; "" if unreadable */
	/* has DT_AUDIT or DT_DEPAUDIT, whose libraries ldd(1) would run */
	bool audited;
	uint64_t strings_at, strings_size;	/* offset in the file; 0: no dynamic section */
	uint64_t size;			/* of the file */
	unsigned char build_id[SP_ELF_ID];
	uint32_t build_id_bytes;	/* 0: none */
	uint64_t sections_at;
	uint32_t n_sections;
};

/* Returns 0, -ENOEXEC if it is not an ELF file, or another -errno. Close it only after success. */
int sp_elf_file_open(struct sp_elf_file *f, const char *path);
void sp_elf_file_close(struct sp_elf_file *f);

/* Returns whether one of the names (NULL ends the list) is in its dynamic strings, as an import or
 * an export. */
bool sp_elf_file_has_name(const struct sp_elf_file *f, const char *const *names);

/* Returns whether it defines this symbol. */
bool sp_elf_file_defines(const struct sp_elf_file *f, const char *name);

/* Returns whether it has the table of all symbols, that is, is not stripped. */
bool sp_elf_file_has_symbols(const struct sp_elf_file *f);

/* Returns whether its first 64 MiB contain the text. */
bool sp_elf_file_contains(const struct sp_elf_file *f, const char *text);

struct sp_elf_want {
	uint64_t offset;		/* of code, from the object's base */
	void *of;			/* the caller's data */
	bool found;
};

/* Sort want[], then call found() once for each entry whose offset is in a named function. */
void sp_elf_file_names(const struct sp_elf_file *f, struct sp_elf_want *want, uint32_t n,
		       void (*found)(const struct sp_elf_want *want, const char *name));

/* Find the build id in the notes, and store its length in *n; NULL if they have none. */
const unsigned char *sp_elf_note_id(const unsigned char *note, uint64_t bytes, uint32_t *n);
