/* loader.c: wraps dlsym and dlclose.
 *
 * dlsym: programs may get PAPI functions from it (ctypes, JNI, plug-ins). They get the wrapper of a
 * function of the observed libpapi, and NULL if libpapi lacks the function. A library behind this
 * one that wraps PAPI gets libpapi's function: through the wrapper it would call itself for ever.
 * Every other call keeps the caller's return address, since RTLD_NEXT depends on it. dlsym is in
 * assembly for that reason: with a C function, a library preloaded behind this one got itself from
 * dlsym(RTLD_NEXT) and recursed for ever (tried).
 *
 * dlclose: the addresses of the real functions become invalid with libpapi. dlerror is in
 * dlerror.c.
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

/* Sets dlerror's message to the loader's own: "./app: undefined symbol: NAME". */
static void set_missing_error(uintptr_t caller, const char *name)
{
	struct sp_object o;
	char path[301] = "";

	sp_elf_find(&o, caller);
	strncpy(path, *o.path ? o.path : program_invocation_name, sizeof(path) - 1);
	sp_dlerror_set(path, name);
}

/* The result in two registers, for the assembly below. */
struct pick {
	void *handled, *address;
};
struct pick sp_dlsym_pick(void *handle, const char *name, uintptr_t caller)
	__attribute__((visibility("hidden")));

/* Keeps an object loaded whose function the caller found by RTLD_DEFAULT. glibc unloads such an
 * object only after its caller, but here the caller found the wrapper. */
static void keep_loaded(uintptr_t caller, uintptr_t address)
{
	struct sp_object o, caller_object, loader;
	char path[512];
	void *handle;

	/* Objects that were loaded at the start come before the loader in the list. */
	sp_elf_find(&caller_object, caller);
	sp_elf_find(&loader, getauxval(AT_BASE));
	if (!caller_object.span || caller_object.index > loader.index ||
	    !sp_elf_find(&o, address) || !*o.path || strlen(o.path) >= sizeof(path))
		return;
	handle = dlopen(strcpy(path, o.path), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (handle)
		sp_real_dlclose(handle);
}

/* Checks that RTLD_DEFAULT from the caller would find the function without this library: behind
 * it in the global scope, or in the caller's own scope. */
static bool is_visible(void *handle, uintptr_t caller, const char *name)
{
	void *there = sp_real_dlsym(RTLD_NEXT, name);
	bool is_found;

	if (there && handle == RTLD_DEFAULT)
		keep_loaded(caller, (uintptr_t)there);
	is_found = there || sp_real_in_scope(caller, name);
	(void)sp_real_dlerror();
	return is_found;
}

struct pick sp_dlsym_pick(void *handle, const char *name, uintptr_t caller)
{
	struct pick pass_on = { NULL, NULL }, found = { (void *)1, NULL };
	struct sp_object own, caller_object;
	uintptr_t wrapper;

	if (!sp_next_dlsym)
		sp_dlsym_find();
	if (!name || (!sp_begins(name, "PAPI") && !sp_begins(name, "papif_")))
		return pass_on;
	sp_process_check_fork();
	sp_elf_find(&own, (uintptr_t)&sp_dlsym_pick);
	wrapper = sp_elf_symbol(&own, name);
	if (!wrapper)
		return pass_on;		/* no wrapper */
	if (handle == RTLD_NEXT && sp_elf_find(&caller_object, caller) &&
	    caller_object.index >= own.index)
		return pass_on;	/* the caller searches only behind itself and this library */
	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT) {
		found.address = is_visible(handle, caller, name) ? (void *)wrapper : NULL;
	} else {
		found.address = sp_real_dlsym(handle, name);
		if (!found.address)
			return found;	/* keep the loader's dlerror */
		if ((uintptr_t)found.address == wrapper)
			found.address = is_visible(handle, caller, name) ? found.address : NULL;
		else if (sp_real_is_observed((uintptr_t)found.address) && !sp_real_calls(caller))
			found.address = (void *)wrapper;
	}
	if (!found.address)
		set_missing_error(caller, name);
	return found;
}

/* dlvsym needs no wrapper: libpapi's names have no versions, and glibc's dlvsym does not find
 * such names, neither libpapi's nor the wrappers. */

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
