/*
 * audit: an auditor that wants to see every call through a PLT return, as latrace and the like.
 * By LD_AUDIT; does nothing. While one is there glibc binds every PLT lazily, and a function that
 * is called through one returns into the loader.
 */
#include <link.h>
#include <stdint.h>

#define FRAME 64			/* bytes of the caller's stack that are copied for a call */

unsigned la_version(unsigned version)
{
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	(void)map, (void)space, (void)cookie;
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

#if defined(__x86_64__)
Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
				  La_x86_64_regs *in, unsigned *flags, const char *name,
				  long *frame)
{
	(void)index, (void)from, (void)to, (void)in, (void)flags, (void)name;
	*frame = FRAME;
	return symbol->st_value;
}

unsigned la_x86_64_gnu_pltexit(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
			       const La_x86_64_regs *in, La_x86_64_retval *out, const char *name)
{
	(void)symbol, (void)index, (void)from, (void)to, (void)in, (void)out, (void)name;
	return 0;
}
#elif defined(__aarch64__)
Elf64_Addr la_aarch64_gnu_pltenter(Elf64_Sym *symbol, unsigned index, uintptr_t *from,
				   uintptr_t *to, La_aarch64_regs *in, unsigned *flags,
				   const char *name, long *frame)
{
	(void)index, (void)from, (void)to, (void)in, (void)flags, (void)name;
	*frame = FRAME;
	return symbol->st_value;
}

unsigned la_aarch64_gnu_pltexit(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
				const La_aarch64_regs *in, La_aarch64_retval *out, const char *name)
{
	(void)symbol, (void)index, (void)from, (void)to, (void)in, (void)out, (void)name;
	return 0;
}
#endif
