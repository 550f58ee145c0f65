/* t-unwind.c: preload/callsites/unwind.c: a function ends paths whenever that is decided, even
 * while a walk stores a rule of it.
 */
#include "test.h"

#include <signal.h>

#include "../../preload/callsites/unwind.c"
#include "stepping.h"

/* ---- parts of the library that are not used here ----------------------------------------- */

struct sp_papi *sp_papi_used;
struct sp_process sp_process;
__thread struct sp_thread_state sp_thread_state;

int sp_elf_each(int (*each)(const struct sp_object *o, void *arg), void *arg)
{
	return 0;
}

bool sp_elf_at(struct sp_object *o, uintptr_t address)
{
	return false;
}

bool sp_elf_contains(const struct sp_object *o, uintptr_t address)
{
	return false;
}

void sp_dlerror_keep(struct sp_pending_error *p)
{
}

void sp_dlerror_back(const struct sp_pending_error *p)
{
}

void *sp_own_library_open(const char *name)
{
	return NULL;
}

void *sp_real_dlsym(void *handle, const char *name)
{
	return NULL;
}

void sp_process_note_quiet(const char *text)
{
}

/* ---- tests ------------------------------------------------------------------- */

#define FUNCTION ((uintptr_t)0x400000)
#define RETURN	 (FUNCTION + 0x10)

static const struct sp_rule rule = { .function = FUNCTION, .cfa = 16 };

static int set_up(void **state)
{
	assert_true(sp_unwind_prepare(false));
	return 0;
}

static void in_any_order(void **state)
{
	store_rule(RETURN, &rule);
	assert_false(sp_unwind_ends_at(RETURN));
	sp_unwind_end_at(FUNCTION);
	assert_true(sp_unwind_ends_at(RETURN));
	store_rule(RETURN + 8, &rule);
	assert_true(sp_unwind_ends_at(RETURN + 8));
	assert_false(sp_unwind_ends_at(RETURN + 16));
}

#if STEPS
static int instruction, ended_at;

static void end_path(int sig)
{
	if (instruction++ == ended_at)
		sp_unwind_end_at(FUNCTION);
}

static void at_any_instruction(void **state)
{
	struct sigaction a = { .sa_handler = end_path }, old;

	sigaction(SIGTRAP, &a, &old);
	for (ended_at = 0, instruction = 1; ended_at < instruction; ended_at++) {
		set_up(state);
		instruction = 0;
		STEP_ON();
		store_rule(RETURN, &rule);
		STEP_OFF();
		if (ended_at < instruction && !sp_unwind_ends_at(RETURN))
			fail_msg("the path goes on: decided at instruction %d", ended_at);
	}
	assert_true(ended_at > 20);
	sigaction(SIGTRAP, &old, NULL);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(in_any_order, set_up),
#if STEPS
		cmocka_unit_test(at_any_instruction),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
