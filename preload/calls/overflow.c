/* overflow.c: counts the calls of overflow handlers; see overflow.h. */
#include "../../core/store/overflow.h"
#include "../process/diagnostic.h"
#include "../sets/sets.h"
#include "../callsites/modules.h"
#include "../percpu/current-cpu.h"
#include "overflow.h"

#define TRAMPOLINES	32u		/* handlers in a process */

static PAPI_overflow_handler_t handlers[TRAMPOLINES];

/* The counts of a set's overflows on one CPU. */
struct place {
	struct sp_overflow_writer writer;
	uint32_t k, cells, cell;
	int cpu;
};

/* Reads these words while another thread may bind the set: an overflow handler may run after the
 * stop. `block` is NULL while they change, and it belongs to one relation, so it has the same words
 * whenever it comes back. False: no relation counts overflows now. */
static bool find_place(struct sp_set *s, int cpu, struct place *p)
{
	struct sp_overflows *block = sp_is_recorded(s) ? load_acquire(&s->overflows.block) : NULL;

	if (!block)
		return false;
	*p = (struct place){ .writer = { .block = block, .n = load_relaxed(&s->overflows.n) },
			     .k = load_relaxed(&s->k),
			     .cells = load_relaxed(&s->writer.cells),
			     .cell = (uint32_t)sp_records_cell(&s->writer, cpu),
			     .cpu = cpu };
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return load_relaxed(&s->overflows.block) == block && p->cell < p->cells;
}

/* Counts one overflow of an event. event k: PAPI does not report which. */
static void count_overflow(const struct place *p, uint32_t event, uintptr_t address,
			   uint32_t module)
{
	uint32_t at = event * p->cells + p->cell;

	sp_overflow_count(&p->writer, at, event, p->cpu, 1);
	sp_overflow_hit(&p->writer, at, 1, address, module);
}

/* Finds an index that occurs before: a derived event may have several bits of the vector. */
static bool is_repeated(const int *index, int i)
{
	int k = 0;

	while (index[k] != index[i])
		k++;
	return k < i;
}

static __attribute__((noinline)) void on_overflow(int id, void *address, long long vector)
{
	const struct sp_real *papi = sp_papi_used ? &sp_papi_used->real : NULL;
	struct sp_set *s = sp_set_of(id);
	int index[64], n = SP_COUNT(index);
	bool is_counted = false;
	uint32_t module;
	struct place p;

	if (!find_place(s, sp_cpu_here(), &p))
		return;
	module = sp_module_at((uintptr_t)address);
	/* The index of a single event is known; PAPI reports none for a derived event. */
	if (p.k == 1 || !papi || !papi->PAPI_get_overflow_event_index ||
	    papi->PAPI_get_overflow_event_index(id, vector, index, &n) != PAPI_OK)
		n = 0;
	for (int i = 0; i < n; i++) {
		if ((uint32_t)index[i] >= p.k || is_repeated(index, i))
			continue;
		count_overflow(&p, (uint32_t)index[i], (uintptr_t)address, module);
		is_counted = true;
	}
	if (!is_counted)
		count_overflow(&p, p.k == 1 ? 0 : p.k, (uintptr_t)address, module);
}

/* Defines trampoline_00 to trampoline_037: PAPI calls trampoline i in place of handlers[i]. */
#define TRAMPOLINE(i) \
	static void trampoline_##i(int id, void *address, long long vector, void *context) \
	{ \
		on_overflow(id, address, vector); \
		handlers[i](id, address, vector, context); \
	}
#define EACH_8(X, i) X(i##0) X(i##1) X(i##2) X(i##3) X(i##4) X(i##5) X(i##6) X(i##7)
#define EACH_32(X) EACH_8(X, 0) EACH_8(X, 01) EACH_8(X, 02) EACH_8(X, 03)
EACH_32(TRAMPOLINE)
#define TRAMPOLINE_OF(i) trampoline_##i,
static const PAPI_overflow_handler_t trampolines[TRAMPOLINES] = { EACH_32(TRAMPOLINE_OF) };

PAPI_overflow_handler_t sp_overflow_trampoline(PAPI_overflow_handler_t handler)
{
	for (uint32_t i = 0; handler && i < TRAMPOLINES; i++) {
		PAPI_overflow_handler_t old = NULL;

		if (sp_cas(&handlers[i], &old, handler) || old == handler)
			return trampolines[i];
	}
	if (handler)
		sp_process_note_quiet("the program has more than 32 overflow handlers: calls of "
				      "the others are not counted");
	return handler;
}
