/* overflow.c: stands in front of overflow handlers; see overflow.h. */
#include "../../core/store/overflow.h"
#include "../process/diagnostic.h"
#include "../sets/sets.h"
#include "../callsites/modules.h"
#include "../percpu/current-cpu.h"
#include "overflow.h"

#define TRAMPOLINES	32u			/* handlers of a process */

static PAPI_overflow_handler_t handlers[TRAMPOLINES];

/* One count of k events; number k: of which event PAPI does not tell. */
static void count(struct sp_set *s, int cpu, uint32_t event, uintptr_t address, uint32_t module)
{
	uint32_t at = event * s->writer.cells + (uint32_t)sp_records_cell(&s->writer, cpu);

	sp_overflow_book(&s->overflows, at, event, cpu, 1);
	sp_overflow_hit(&s->overflows, at, 1, address, module);
}

/* Is it there already?  A derived event may be of several bits of the vector. */
static bool is_again(const int *index, int i)
{
	int k = 0;

	while (index[k] != index[i])
		k++;
	return k < i;
}

static __attribute__((noinline)) void called(int id, void *address, long long vector)
{
	const struct sp_real *papi = sp_papi_used ? &sp_papi_used->real : NULL;
	struct sp_set *s = sp_set_of(id);
	int index[64], n = SP_COUNT(index), cpu = sp_cpu_here();
	bool reported = false;
	uint32_t module;

	if (!sp_is_recorded(s) || !s->overflows.block)
		return;
	module = sp_module_at((uintptr_t)address);
	/* Of a derived event PAPI would not tell. */
	if (s->k == 1 || !papi || !papi->PAPI_get_overflow_event_index ||
	    papi->PAPI_get_overflow_event_index(id, vector, index, &n) != PAPI_OK)
		n = 0;
	for (int i = 0; i < n; i++) {
		if ((uint32_t)index[i] >= s->k || is_again(index, i))
			continue;
		count(s, cpu, (uint32_t)index[i], (uintptr_t)address, module);
		reported = true;
	}
	if (!reported)
		count(s, cpu, s->k == 1 ? 0 : s->k, (uintptr_t)address, module);
}

/* door_00 to door_037: PAPI calls the one that stands for handlers[i]. */
#define TRAMPOLINE(i) \
	static void trampoline_##i(int id, void *address, long long vector, void *context) \
	{ \
		called(id, address, vector); \
		handlers[i](id, address, vector, context); \
	}
#define EIGHT(X, i) X(i##0) X(i##1) X(i##2) X(i##3) X(i##4) X(i##5) X(i##6) X(i##7)
#define EACH(X) EIGHT(X, 0) EIGHT(X, 01) EIGHT(X, 02) EIGHT(X, 03)
EACH(TRAMPOLINE)
#define TRAMPOLINE_OF(i) trampoline_##i,
static const PAPI_overflow_handler_t trampolines[TRAMPOLINES] = { EACH(TRAMPOLINE_OF) };

PAPI_overflow_handler_t sp_overflow_trampoline(PAPI_overflow_handler_t handler)
{
	for (uint32_t i = 0; handler && i < TRAMPOLINES; i++) {
		PAPI_overflow_handler_t is = NULL;

		if (sp_cas(&handlers[i], &is, handler) || is == handler)
			return trampolines[i];
	}
	if (handler)
		sp_process_note_quiet("the program has more than 32 overflow handlers: the others' "
				      "calls are not counted");
	return handler;
}
