/* unwind.c: takes a call path by libunwind, where frames have no records (unwind-frames.c); see unwind.h. */
#ifndef __aarch64__
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "../../core/store/ledger.h"
#include "../../core/sys.h"
#include "../papi/dlerror.h"
#include "../papi/elf.h"
#include "../process/machine.h"
#include "../process/process.h"
#include "unwind.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#define TABLES_MOST	(16ul << 20)	/* bytes of one object's segment that are read beforehand */
#define OWN_MOST	24		/* frames of ours and libpapi's that may lie in front */

static int (*backtrace)(void **, int);
static void (*flush)(void *, unsigned long, unsigned long);
static void **address_space;
static bool tried;
static unsigned long long loads;

/* Each thread's sp_self.unwinding, once it has been warmed; of threads that have ended, too.  A child of fork sees
 * there who was in libunwind just then: he may have held its lock, which nobody opens again, and the child's first
 * call path waited for ever.  (A counter of them would be a page that each fork makes fault again.) */
static uintptr_t *threads[1024];
static uint32_t n_threads;
static bool stuck;

bool sp_unwind_load(void)
{
	struct sp_pending_error pending;
	void *library;

	if (tried)
		return backtrace != NULL;
	sp_dlerror_keep(&pending);
	library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL | sp_machine_bind());
	if (library) {
#ifdef __x86_64__
		flush = (void (*)(void *, unsigned long, unsigned long))sp_real_dlsym(library, "_Ux86_64_flush_cache");
		address_space = sp_real_dlsym(library, "_ULx86_64_local_addr_space");
#endif
		backtrace = (int (*)(void **, int))sp_real_dlsym(library, "unw_backtrace");
	}
	sp_dlerror_back(&pending);
	tried = true;
	return backtrace != NULL;
}

/* Before its first call there. */
static void register_self(void)
{
	uint32_t n = sp_min(sp_get(&n_threads), SP_COUNT(threads));

	for (uint32_t i = 0; i < n; i++)
		if (sp_get(&threads[i]) == &sp_self.unwinding)
			return;
	n = __atomic_fetch_add(&n_threads, 1, __ATOMIC_RELAXED);
	if (n < SP_COUNT(threads))
		sp_put(&threads[n], &sp_self.unwinding);
}

/* The stack of a thread that ended may be gone: the kernel looks first, and then finds that `how` is none. */
static bool unwinds(const uintptr_t *at)
{
	return at && sp_sys(SYS_rt_sigprocmask, -1, at, NULL, sizeof(*at)) == -EINVAL && *at;
}

void sp_unwind_child(void)
{
	stuck |= n_threads > SP_COUNT(threads);
	for (uint32_t i = 0; i < sp_min(n_threads, SP_COUNT(threads)); i++)
		stuck |= threads[i] != &sp_self.unwinding && unwinds(threads[i]);
	memset(threads, 0, sizeof(threads));
	n_threads = 0;
	if (sp_self.unwinds)
		register_self();
}

/* False: on top of another of these. */
static bool enter(uintptr_t here)
{
	uintptr_t above = sp_get(&sp_self.unwinding);

	if (stuck || (above && sp_interrupted(above, here)))
		return false;
	sp_put(&sp_self.unwinding, here);
	sp_order();
	return true;
}

static void leave(void)
{
	sp_order();
	sp_put(&sp_self.unwinding, 0);
}

/* The segment with the unwind tables, so that reading them later is no page fault. */
static int read_tables(const struct sp_object *o, void *arg)
{
	const ElfW(Phdr) *p = o->header, *table = NULL;

	(void)arg;
	for (unsigned i = 0; i < o->headers; i++)
		if (p[i].p_type == PT_GNU_EH_FRAME)
			table = &p[i];
	for (unsigned i = 0; table && i < o->headers; i++)
		if (p[i].p_type == PT_LOAD && table->p_vaddr - p[i].p_vaddr < p[i].p_memsz) {
			uintptr_t at = (o->base + p[i].p_vaddr) & ~(uintptr_t)4095;
			uintptr_t end = sp_align(o->base + p[i].p_vaddr + p[i].p_filesz, 4096);

			(void)sp_sys(SYS_madvise, at, sp_min(end - at, TABLES_MOST), MADV_POPULATE_READ);
		}
	return 0;
}

bool sp_unwind_warm(void)
{
	void *frames[SP_FRAMES_MAX];
	unsigned long long now;
	int saved = errno;

	if (!backtrace || stuck)
		return !stuck;
	now = sp_elf_loads();
	if (now != loads)
		sp_elf_each(read_tables, NULL);
	loads = now;
	if (!sp_self.unwinds && enter((uintptr_t)__builtin_frame_address(0))) {
		register_self();
		for (int i = 0; i < 3; i++)
			(void)backtrace(frames, (int)SP_COUNT(frames));
		leave();
		sp_self.unwinds = true;
	}
	errno = saved;
	return true;
}

void sp_unwind_forget(void)
{
	if (flush && address_space)
		flush(*address_space, 0, 0);
}

static bool foreign(uintptr_t address)
{
	return !sp_internal(sp_papi_used, address);
}

/* As many as are asked for, without those in front of `caller`, which were so many the last
 * time; false: there may be more. */
static bool walk(uintptr_t *frame, uint32_t most, uintptr_t caller, int ask, uint32_t *n)
{
	void *all[SP_FRAMES_MAX + OWN_MOST];
	int got = backtrace(all, ask), i = 0;

	while (i < got && (uintptr_t)all[i] != caller)
		i++;
	if (i < got)
		sp_self.in_front = (uint8_t)i;
	for (*n = 0; i < got && *n < most; i++)
		if (foreign((uintptr_t)all[i]))
			frame[(*n)++] = (uintptr_t)all[i];
	return *n == most || got < ask;
}

uint32_t sp_unwind(uintptr_t *frame, uint32_t most, uintptr_t caller)
{
	int saved = errno, all = (int)most + OWN_MOST;
	uint32_t n = 0;

	frame[0] = caller;
	if (!backtrace || !sp_self.unwinds || !enter((uintptr_t)__builtin_frame_address(0)))
		return 1;
	/* Each frame takes 7 ns, and a program may have many more than are kept. */
	if (!walk(frame, most, caller, (int)most + sp_self.in_front, &n) && (int)most + sp_self.in_front < all)
		(void)walk(frame, most, caller, all, &n);
	leave();
	errno = saved;
	if (!n)
		frame[0] = caller;
	return n ? n : 1;
}
#endif
