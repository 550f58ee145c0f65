/* prefault.c: touches the library's pages and the stack before a set runs; see prefault.h. */
#include <string.h>

#include "../../core/base/sys.h"
#include "../../core/store/store-reader.h"
#include "../../core/store/records.h"
#include "../papi/elf.h"
#include "../process/process.h"
#include "prefault.h"

#define EVENTS		8
/* for PAPI, the loader's late binding and our frames; a thread may have 16 kB */
#define STACK_BYTES	6656u
#define CELLS		(2 + SP_CELLS_EXTRA)

extern char __bss_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));

/* Reads pages of code and writes pages of data, whose first store would fault. No store of
 * another thread is lost, and no bytes between variables change, but the sanitizers report both. */
static __attribute__((no_sanitize("thread"), no_sanitize("address"))) void touch_own_pages(void)
{
	for (uintptr_t at = (uintptr_t)__ehdr_start & ~(uintptr_t)4095; at < (uintptr_t)etext;
	     at += 4096)
		(void)*(volatile const char *)(at < (uintptr_t)__ehdr_start
						       ? (uintptr_t)__ehdr_start
						       : at);
	for (uintptr_t at = (uintptr_t)__bss_start; at < (uintptr_t)_end;
	     at = (at & ~(uintptr_t)4095) + 4096)
		/* atomic: other threads write */
		__atomic_fetch_or((char *)at, 0, __ATOMIC_RELAXED);
}

/* Makes each kind of record once, in a relation that no reader sees. Then the pages of libc and
 * of the vDSO clock are there. */
static void record_dummy_calls(void)
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
	volatile char room[STACK_BYTES];

	for (unsigned i = 0; i < sizeof(room); i += 1024)
		room[i] = 0;
}

/* Runs the loader's code that a new call site runs, which may not be mapped in a child of fork:
 * 19 of 25 children had a page fault from it in their first window. */
static void search_own_object(void)
{
	struct sp_object o;

	(void)sp_elf_at(&o, (uintptr_t)&search_own_object);
}

void sp_prefault_process(void)
{
	touch_own_pages();
	search_own_object();
	record_dummy_calls();
}
