/* prefault.c: touches our pages, and the stack below, before a set runs; see prefault.h. */
#include <string.h>

#include "../../core/base/sys.h"
#include "../../core/store/store-reader.h"
#include "../../core/store/records.h"
#include "../papi/elf.h"
#include "../process/process.h"
#include "prefault.h"

#define EVENTS 8
#define STACK 6656u		/* PAPI, beside the loader that binds a function late, and our own
				 * frames; a thread may have 16 kB */
#define CELLS (2 + SP_CELLS_EXTRA)

extern char __bss_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));

/* Reading is enough for code; data must be written, or the first store would fault.
 * Other threads' stores are not lost, but ThreadSanitizer cannot know that; nor
 * AddressSanitizer that what lies between two variables is not changed. */
static __attribute__((no_sanitize("thread"), no_sanitize("address"))) void touch(void)
{
	for (uintptr_t at = (uintptr_t)__ehdr_start & ~(uintptr_t)4095; at < (uintptr_t)etext;
	     at += 4096)
		(void)*(volatile const char *)(at < (uintptr_t)__ehdr_start
						       ? (uintptr_t)__ehdr_start
						       : at);
	for (uintptr_t at = (uintptr_t)__bss_start; at < (uintptr_t)_end;
	     at = (at & ~(uintptr_t)4095) + 4096)
		__atomic_fetch_or((char *)at, 0, __ATOMIC_RELAXED);	/* other threads may write
									 * there */
}

/* Each kind of booking once, on a relation that nobody sees: what it calls in libc,
 * and the clock of the vDSO, are there from then on. */
static void rehearse(void)
{
	static const enum sp_op ops[] = { SP_OP_START, SP_OP_READ, SP_OP_ACCUM, SP_OP_RESET,
					  SP_OP_STOP };
	uint64_t bytes = sp_relation_layout(EVENTS, CELLS).bytes;
	struct sp_store_reader reader = { .base = sp_map(bytes), .bytes = bytes };
	long long x[EVENTS] = { 0 };
	struct sp_writer w;

	if (!reader.base)
		return;
	sp_records_bind(&w, &reader, 0, EVENTS, CELLS, NULL);
	for (unsigned i = 0; i < 2 * SP_COUNT(ops); i++)
		sp_records_add_call(&w, &(struct sp_papi_call){ .op = ops[i % SP_COUNT(ops)],
							  .cpu = i & 1,
							  .x = x,
							  .who = 1 });
	sp_records_fold(&w);
	sp_unmap((void *)reader.base, bytes);
}

__attribute__((noinline)) void sp_prefault_stack(void)
{
	volatile char room[STACK];

	for (unsigned i = 0; i < sizeof(room); i += 1024)
		room[i] = 0;
}

/* What notes a call site that is met for the first time: the loader's own code, which may not be
 * there in a child of fork (19 of 25 had a page fault of it in their first window). */
static void find_ourselves(void)
{
	struct sp_object o;

	(void)sp_elf_at(&o, (uintptr_t)&find_ourselves);
}

void sp_prefault_process(void)
{
	touch();
	find_ourselves();
	rehearse();
}
