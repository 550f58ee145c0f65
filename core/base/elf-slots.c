/* elf-slots.c: reads the relocations of a loaded object; see elf-slots.h. */
#include <elf.h>

#include "elf-slots.h"

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#define GLOB_DAT R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#define GLOB_DAT R_AARCH64_GLOB_DAT
#else
#define JUMP_SLOT UINT32_MAX		/* unsupported machine: matches no relocation */
#define GLOB_DAT UINT32_MAX
#endif

bool sp_elf_slots(uintptr_t base, const ElfW(Dyn) * dynamic,
		  bool (*each)(uintptr_t at, const char *name, bool in_plt, void *arg), void *arg)
{
	const ElfW(Rela) *rela[2] = { NULL };	/* those of the PLT, all others */
	const ElfW(Sym) *symbols = NULL;
	const char *strings = NULL;
	uint64_t bytes[2] = { 0 };

	for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++) {
		const void *at = (const void *)sp_elf_pointer(base, d->d_un.d_ptr);

		switch (d->d_tag) {
		case DT_SYMTAB: symbols = at; break;
		case DT_STRTAB: strings = at; break;
		case DT_JMPREL: rela[0] = at; break;
		case DT_RELA: rela[1] = at; break;
		case DT_PLTRELSZ: bytes[0] = d->d_un.d_val; break;
		case DT_RELASZ: bytes[1] = d->d_un.d_val; break;
		}
	}
	for (unsigned t = 0; symbols && strings && t < 2; t++)
		for (uint64_t i = 0; rela[t] && i < bytes[t] / sizeof(**rela); i++) {
			const ElfW(Rela) *r = &rela[t][i];
			uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);

			if ((type == JUMP_SLOT || type == GLOB_DAT) &&
			    each(base + r->r_offset,
				 strings + symbols[ELF64_R_SYM(r->r_info)].st_name, t == 0, arg))
				return true;
		}
	return false;
}
