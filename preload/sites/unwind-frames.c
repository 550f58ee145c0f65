/* unwind-frames.c: unwind.h on aarch64, where compilers keep frame records, by these.  Debian's libunwind looks there
 * for .debug_frame: for each return address that it has not met it maps the object's file, two page faults that the
 * application's counter had. */
#ifdef __aarch64__
#include <errno.h>

#include "../../core/sys.h"
#include "../process/machine.h"
#include "../process/process.h"
#include "unwind.h"

#define OWN_MOST	24		/* frames of ours and libpapi's that may lie in front */

struct record {
	const struct record *up;
	uintptr_t to;
};

bool sp_unwind_load(void)
{
	return true;
}

bool sp_unwind_warm(void)
{
	return true;
}

void sp_unwind_child(void)
{
}

void sp_unwind_forget(void)
{
}

/* Code without frame records may have anything in the register: the kernel looks first, at each page once, and then
 * finds that `how` is none. */
static bool readable(const void *word, uintptr_t *page)
{
	uintptr_t is = (uintptr_t)word >> 12;

	if ((uintptr_t)word % sizeof(uintptr_t) ||
	    (is != *page && sp_sys(SYS_rt_sigprocmask, -1, word, NULL, sizeof(uintptr_t)) != -EINVAL))
		return false;
	*page = is;
	return true;
}

/* Without the signature that pointer authentication puts into its upper bits; "nop" where there is none. */
static uintptr_t unsigned_address(uintptr_t to)
{
	register uintptr_t x30 __asm__("x30") = to;

	__asm__("hint #7" : "+r"(x30));		/* xpaclri */
	return x30;
}

uint32_t sp_unwind(uintptr_t *frame, uint32_t most, uintptr_t caller)
{
	const struct record *r = __builtin_frame_address(0);
	int saved = errno;
	uintptr_t page = 0;
	uint32_t n = 0;

	for (uint32_t left = most + OWN_MOST; n < most && left && readable(&r->up, &page) && readable(&r->to, &page); left--) {
		uintptr_t to = unsigned_address(r->to);

		if (to && !sp_internal(sp_papi_used, to))
			frame[n++] = to;
		r = r->up;
	}
	if (!n)
		frame[n++] = caller;
	errno = saved;
	return n;
}
#endif
