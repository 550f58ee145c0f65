/* elf-file.h: the dynamic section of an ELF file on disk; bounded reads, nothing trusted. */
#ifndef SP_ELF_FILE_H
#define SP_ELF_FILE_H

#include <limits.h>

#include "../../base/base.h"

#define SP_ELF_NEEDED 256u		/* most libraries that are looked at of one object */

struct sp_elf_file {
	int fd;
	bool foreign;			/* another word size or machine */
	bool interpreter;		/* has PT_INTERP, */
	char loader[256];		/* which is this; "" if it cannot be told */
	uint32_t n_needed;
	uint64_t needed[SP_ELF_NEEDED];	/* offsets in its strings, as all below */
	uint64_t rpath, runpath, soname;	/* 0: none */
	uint64_t strings_at, strings_size;	/* in the file; 0: no dynamic section */
	uint64_t size;			/* of the file */
};

/* 0; -ENOEXEC: no ELF file; -errno.  To be closed unless it failed. */
int sp_elf_file_open(struct sp_elf_file *f, const char *path);
void sp_elf_file_close(struct sp_elf_file *f);

/* A string of its dynamic section; "" where there is none, cut to room. */
const char *sp_elf_file_text(const struct sp_elf_file *f, uint64_t offset, char *text, size_t room);

/* Does one of these (ended by NULL) stand in its dynamic strings, as an import or export? */
bool sp_elf_file_has_name(const struct sp_elf_file *f, const char *const *names);

/* Does it define this dynamic symbol itself? */
bool sp_elf_file_defines(const struct sp_elf_file *f, const char *name);

/* Has it a table of all its symbols, or is it stripped? */
bool sp_elf_file_has_symbols(const struct sp_elf_file *f);

/* Do these bytes stand anywhere in its first 64 MiB? */
bool sp_elf_file_holds(const struct sp_elf_file *f, const char *text);

/* Its build id, hexadecimal; false: it has none that fits. */
bool sp_elf_file_build_id(const struct sp_elf_file *f, char *id, size_t room);

#endif
