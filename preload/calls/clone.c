/* clone.c: wraps clone to note a child that shares this thread's TLS, before it makes its first
 * call of PAPI (shared-tls.h).
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdarg.h>

#include "../papi/dlerror.h"
#include "../process/shared-tls.h"

typedef int clone_fn(int (*)(void *), void *, int, void *, ...);

SP_AT_START static clone_fn *next_clone;

/* Runs before the program: a child of fork may find the loader's lock taken. */
__attribute__((constructor)) static void find_next(void)
{
	next_clone = (clone_fn *)sp_real_dlsym(RTLD_NEXT, "clone");
}

__attribute__((visibility("default"))) int clone(int (*fn)(void *), void *stack, int flags,
						 void *arg, ...)
{
	bool is_shared_tls = (flags & CLONE_VM) && !(flags & CLONE_SETTLS);
	int32_t was = 0;
	void *more[3];
	va_list list;
	int r;

	va_start(list, arg);
	for (unsigned i = 0; i < SP_COUNT(more); i++)	/* the flags determine how many there are */
		more[i] = va_arg(list, void *);
	va_end(list);
	if (!next_clone)
		find_next();
	if (is_shared_tls)
		was = sp_shared_tls_before_clone();
	r = next_clone(fn, stack, flags, arg, more[0], more[1], more[2]);
	/* after CLONE_VFORK the child has ended or has called exec */
	if (is_shared_tls)
		sp_shared_tls_after_clone(was, flags & CLONE_VFORK ? 0 : r);
	return r;
}
