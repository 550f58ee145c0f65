/* t-steps.c: stack-hash.h: the steps to call sites, while code comes and goes. */
#include "test.h"

#include "../../core/base/sys.h"
#include "../../preload/callsites/stack-hash.h"

#define ADDRESS(i) ((uintptr_t)0x400000 + (i) * 0x10u)

static int set_up(void **state)
{
	(void)state;
	assert_true(sp_steps_prepare());
	sp_steps_reset_child();
	return 0;
}

static void found(void **state)
{
	const struct sp_step *s;

	(void)state;
	assert_null(sp_step_find(SP_STEP_KEY(2, ADDRESS(1))));
	s = sp_step_add(SP_STEP_KEY(2, ADDRESS(1)), 8, SP_SAME_BASE);
	assert_non_null(s);
	assert_ptr_equal(sp_step_find(SP_STEP_KEY(2, ADDRESS(1))), s);
	assert_ptr_equal(sp_step_add(SP_STEP_KEY(2, ADDRESS(1)), 8, SP_SAME_BASE), s);
	assert_null(sp_step_add(SP_STEP_KEY(2, ADDRESS(1)), 16, SP_SAME_BASE));
	assert_null(sp_step_find(SP_STEP_KEY(1, ADDRESS(1))));
	sp_steps_remove();
	assert_null(sp_step_find(SP_STEP_KEY(2, ADDRESS(1))));
}

/* Each plug-in has addresses of its own: there is still a place for the last one's. */
static void many_unloaded(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 100000; i++) {
		if (i % 64 == 0)
			i % 128 ? sp_steps_clear() : (sp_steps_remove(), sp_steps_clear());
		assert_non_null(sp_step_add(SP_STEP_KEY(2, ADDRESS(i)), 8, SP_SAME_BASE));
		assert_non_null(sp_step_find(SP_STEP_KEY(2, ADDRESS(i))));
	}
}

/* Who looked while they were cleared goes on with a number that stands in front of no step, though
 * the same place was taken again. */
static void cleared_meanwhile(void **state)
{
	const uint32_t age = sp_steps_age;
	const struct sp_step *s = sp_step_add(SP_STEP_KEY(2, ADDRESS(1)), 8, SP_SAME_BASE), *again;

	(void)state;
	assert_true(sp_steps_are_valid(age));
	sp_steps_clear();
	assert_false(sp_steps_are_valid(age));
	assert_true(sp_steps_are_valid(sp_steps_age));
	again = sp_step_add(SP_STEP_KEY(2, ADDRESS(1)), 24, SP_SAME_BASE);
	assert_ptr_equal(again, s);
	assert_int_not_equal(sp_step_number(again, sp_steps_age), sp_step_number(s, age));
	assert_true(sp_step_number(again, sp_steps_age) >= SP_STEP_FIRST &&
		    sp_step_number(again, sp_steps_age) <= UINT16_MAX);
	store_relaxed(&sp_steps_age, sp_steps_age + 1);
	assert_false(sp_steps_are_valid(sp_steps_age));
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(found), TEST(many_unloaded),
					    TEST(cleared_meanwhile) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
