/* loader.c: what sspapi stands in front of in the dynamic loader.
 *
 * dlsym: a program that gets its PAPI functions from there (ctypes, JNI, plug-ins) gets our wrapper
 * for a function of the libpapi that is observed, and NULL for one that libpapi lacks although we
 * define a wrapper.  A library behind us that wraps PAPI, so that we call it, gets libpapi's own:
 * ours would call it again, for ever.  Every other call goes on with the caller's own return
 * address, since RTLD_NEXT depends on it. dlclose: the real functions' addresses die with libpapi.
 * (dlerror is in dlerror.c.)
 *
 * dlsym is in assembly because a C function's return address would be the caller that
 * dlsym(RTLD_NEXT) sees: a library preloaded behind us got itself back and recursed for
 * ever (tried).
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#include "../papi/dlerror.h"
#include "../papi/elf.h"
#include "../papi/real.h"
#include "../process/process.h"
#include "../sets/sets.h"
#include "../callsites/callsites.h"

/* ---- dlclose ---------------------------------------------------------- */

__attribute__((visibility("default"))) int dlclose(void *handle)
{
	int r;

	sp_process_check_fork();
	sp_sites_resolve();
	r = sp_real_dlclose(handle);
	sp_elf_note_close();
	sp_sites_after_unload();
	if (sp_papi_used && sp_real_unloaded()) {
		sp_process.papi = NULL;
		sp_sets_forget(0);
	}
	return r;
}

/* ---- dlsym ------------------------------------------------------------ */

/* What the loader itself would say: "./app: undefined symbol: NAME". */
static void missing(uintptr_t caller, const char *name)
{
	struct sp_object o;
	char path[301] = "";

	sp_elf_find(&o, caller);
	strncpy(path, *o.path ? o.path : program_invocation_name, sizeof(path) - 1);
	sp_dlerror_set(path, name);
}

/* Two registers, as the assembly below wants it. */
struct pick {
	void *handled, *address;
};
struct pick sp_dlsym_pick(void *handle, const char *name, uintptr_t caller)
	__attribute__((visibility("hidden")));

/* What a program finds by RTLD_DEFAULT it needs from then on: glibc unloads it only
 * with the caller.  It found us instead. */
static void stays(uintptr_t caller, uintptr_t address)
{
	struct sp_object o, by, loader;
	char path[512];
	void *handle;

	/* What was there at the start stands before the loader itself. */
	sp_elf_find(&by, caller);
	sp_elf_find(&loader, getauxval(AT_BASE));
	if (!by.span || by.index > loader.index || !sp_elf_find(&o, address) || !*o.path ||
	    strlen(o.path) >= sizeof(path))
		return;
	handle = dlopen(strcpy(path, o.path), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (handle)
		sp_real_dlclose(handle);
}

/* Does the function exist where RTLD_DEFAULT from the caller would find it
 * without us: behind us in the global scope, or in the caller's own? */
static bool exists(void *handle, uintptr_t caller, const char *name)
{
	void *there = sp_real_dlsym(RTLD_NEXT, name);
	bool is;

	if (there && handle == RTLD_DEFAULT)
		stays(caller, (uintptr_t)there);
	is = there || sp_real_in_scope(caller, name);
	(void)sp_real_dlerror();
	return is;
}

struct pick sp_dlsym_pick(void *handle, const char *name, uintptr_t caller)
{
	struct pick go_on = { NULL, NULL }, found = { (void *)1, NULL };
	struct sp_object own, by;
	uintptr_t ours;

	if (!sp_next_dlsym)
		sp_dlsym_find();
	if (!name || (!sp_begins(name, "PAPI") && !sp_begins(name, "papif_")))
		return go_on;
	sp_process_check_fork();
	sp_elf_find(&own, (uintptr_t)&sp_dlsym_pick);
	ours = sp_elf_symbol(&own, name);
	if (!ours)
		return go_on;		/* not one of ours */
	if (handle == RTLD_NEXT && sp_elf_find(&by, caller) && by.index >= own.index)
		return go_on;		/* it looks behind itself, so behind us */
	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT) {
		found.address = exists(handle, caller, name) ? (void *)ours : NULL;
	} else {
		found.address = sp_real_dlsym(handle, name);
		if (!found.address)
			return found;	/* with the loader's own dlerror */
		if ((uintptr_t)found.address == ours)
			found.address = exists(handle, caller, name) ? found.address : NULL;
		else if (sp_real_is_observed((uintptr_t)found.address) && !sp_real_calls(caller))
			found.address = (void *)ours;
	}
	if (!found.address)
		missing(caller, name);
	return found;
}

/* Names in libpapi have no versions, and glibc's dlvsym does not find such: our
 * wrappers are not found by it either.  Nothing to stand in front of. */

#if defined(__x86_64__)
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	"dlsym:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	pushq %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	movq 24(%rsp), %rdx\n"
	"	call sp_dlsym_pick\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	testq %rax, %rax\n"
	"	jne 1f\n"
	"	jmp *sp_next_dlsym(%rip)\n"
	"1:	movq %rdx, %rax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size dlsym, . - dlsym\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, %function\n"
	"dlsym:\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	mov x29, sp\n"
	"	stp x0, x1, [sp, #16]\n"
	"	mov x2, x30\n"
	"	bl sp_dlsym_pick\n"
	"	cbnz x0, 1f\n"
	"	ldp x0, x1, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"	adrp x16, sp_next_dlsym\n"
	"	ldr x16, [x16, #:lo12:sp_next_dlsym]\n"
	"	br x16\n"
	"1:	mov x0, x1\n"
	"	ldp x29, x30, [sp], #32\n"
	"	ret\n"
	".size dlsym, . - dlsym\n");
#endif
