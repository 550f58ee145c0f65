/* elf-file.h: an ELF file on disk: its dynamic section, symbols and build id.
 *
 * For the command, and for the end of a process: by read and in bounded memory, without malloc,
 * loader or lock.  Nothing in the file is trusted.
 */
#pragma once

#include <link.h>

#include "base.h"

#define SP_ELF_NAME 512u		/* bytes of a function's name; longer ones are left out */
#define SP_ELF_ID 36u			/* bytes of a build id; longer ones are none */

struct sp_elf_file {
	int fd;
	bool foreign;			/* another word size or machine */
	bool interpreter;		/* has PT_INTERP, */
	char loader[256];		/* which is this; "" if it cannot be told */
	bool audited;			/* DT_AUDIT or DT_DEPAUDIT: libraries that ldd(1) runs */
	uint64_t strings_at, strings_size;	/* in the file; 0: no dynamic section */
	uint64_t size;			/* of the file */
	unsigned char build_id[SP_ELF_ID];
	uint32_t build_id_bytes;	/* 0: none */
	uint64_t sections_at;
	uint32_t n_sections;
};

/* 0; -ENOEXEC: no ELF file; -errno.  To be closed unless it failed. */
int sp_elf_file_open(struct sp_elf_file *f, const char *path);
void sp_elf_file_close(struct sp_elf_file *f);

/* Does one of these (ended by NULL) stand in its dynamic strings, as an import or export? */
bool sp_elf_file_has_name(const struct sp_elf_file *f, const char *const *names);

/* Does it define this symbol itself? */
bool sp_elf_file_defines(const struct sp_elf_file *f, const char *name);

/* Has it a table of all its symbols, or is it stripped? */
bool sp_elf_file_has_symbols(const struct sp_elf_file *f);

/* Do these bytes stand anywhere in its first 64 MiB? */
bool sp_elf_file_contains(const struct sp_elf_file *f, const char *text);

struct sp_elf_want {
	uint64_t offset;		/* of code, from the object's base */
	void *of;			/* the caller's */
	bool found;
};

/* Calls `found` once for each that lies in a function with a name; sorts them. */
void sp_elf_file_names(const struct sp_elf_file *f, struct sp_elf_want *want, uint32_t n,
		       void (*found)(const struct sp_elf_want *want, const char *name));

/* The build id in a note segment, of *n bytes; NULL: none. */
const unsigned char *sp_elf_note_id(const unsigned char *note, uint64_t bytes, uint32_t *n);
