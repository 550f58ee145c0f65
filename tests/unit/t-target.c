/* t-target.c: whose counts a set holds, by what PAPI asked the kernel for
 * (preload/percpu/target.h). */
#include "../../core/store/domain.h"
#include "test.h"

#include "../../preload/percpu/target.h"

#define USER	.exclude_kernel = 1, .exclude_hv = 1
#define ME	.tid = 10, .thread = 1, .cpu = -1

static const struct {
	const char *what;
	uint32_t n;
	struct sp_native native[3];
	bool odd;
	struct sp_count_target is;
} table[] = {
	{ "nothing is open", 0, { { .fd = 0 } }, false, { .cpu = -1 } },
	{ "a thread's own",
	  2,
	  { { { USER }, ME }, { { USER }, ME } },
	  false,
	  { .is_known = true, .tid = 10, .thread = 1, .domain = 1, .cpu = -1 } },
	{ "the kernel, too, of one",
	  2,
	  { { { USER }, ME }, { { .exclude_user = 1, .exclude_hv = 1 }, ME } },
	  false,
	  { .is_known = true, .tid = 10, .thread = 1, .domain = 3, .cpu = -1 } },
	{ "all modes",
	  1,
	  { { { .type = 0 }, ME } },
	  false,
	  { .is_known = true,
	    .tid = 10,
	    .thread = 1,
	    .domain = 11 & ~SP_DOMAINS_UNSEEN,
	    .cpu = -1 } },
	{ "the user's, with exclude_hv clear (libpfm4 on an x86 CPU that it knows)",
	  1,
	  { { { .exclude_kernel = 1 }, ME } },
	  false,
	  { .is_known = true,
	    .tid = 10,
	    .thread = 1,
	    .domain = 9 & ~SP_DOMAINS_UNSEEN,
	    .cpu = -1 } },
	{ "attached, to its own thread, too",
	  1,
	  { { { USER }, .tid = 10, .cpu = -1 } },
	  false,
	  { .is_known = true, .is_attached = true, .tid = 10, .domain = 1, .cpu = -1 } },
	{ "while it is on one CPU",
	  1,
	  { { { USER }, .tid = 10, .thread = 1, .cpu = 3 } },
	  false,
	  { .is_known = true, .tid = 10, .thread = 1, .domain = 1, .cpu = 3 } },
	{ "a whole CPU",
	  1,
	  { { { USER }, .tid = -1, .cpu = 3 } },
	  false,
	  { .is_known = true, .tid = -1, .domain = 1, .cpu = 3 } },
	{ "CPUs by event",
	  2,
	  { { { USER }, .tid = 10, .thread = 1, .cpu = 3 },
	    { { USER }, .tid = 10, .thread = 1, .cpu = 4 } },
	  false,
	  { .is_known = true, .tid = 10, .thread = 1, .domain = 1, .cpu = SP_CPUS_MIXED } },
	{ "one event on a CPU",
	  2,
	  { { { USER }, ME }, { { USER }, .tid = 10, .thread = 1, .cpu = 4 } },
	  false,
	  { .is_known = true, .tid = 10, .thread = 1, .domain = 1, .cpu = SP_CPUS_MIXED } },
	{ "later threads",
	  2,
	  { { { USER }, ME }, { { USER, .inherit = 1 }, ME } },
	  false,
	  { .is_known = true, .inherits = true, .tid = 10, .thread = 1, .domain = 1, .cpu = -1 } },
	{ "two threads",
	  2,
	  { { { USER }, ME }, { { USER }, .tid = 11, .thread = 2, .cpu = -1 } },
	  false,
	  { .tid = 10, .thread = 1, .domain = 1, .cpu = -1 } },
	{ "a thread whose number another one has had",
	  2,
	  { { { USER }, ME }, { { USER }, .tid = 10, .thread = 2, .cpu = -1 } },
	  false,
	  { .tid = 10, .thread = 1, .domain = 1, .cpu = -1 } },
	{ "more than there is room for, of another",
	  1,
	  { { { USER }, ME } },
	  true,
	  { .tid = 10, .thread = 1, .domain = 1, .cpu = -1 } },
};

static void test_counted(void **state)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct sp_native native[3];
		struct sp_perf_fds o = { .at = native, .n = table[i].n, .is_mixed = table[i].odd };
		struct sp_count_target is, want = table[i].is;

		memcpy(native, table[i].native, sizeof(native));
		is = sp_count_target(&o);
		want.digest = is.digest;
		if (!sp_target_is_same(&is, &want) || is.domain != want.domain ||
		    is.cpu != want.cpu)
			fail_msg("%s: known %d attached %d inherits %d tid %d thread %u domain %u "
				 "cpu %d",
				 table[i].what, is.is_known, is.is_attached, is.inherits, is.tid,
				 is.thread, is.domain, is.cpu);
	}
}

/* Which of them counts where and in what is not the same by the sum of all. */
static void test_each(void **state)
{
	struct sp_native native[2] = { { { USER }, ME },
				       { { .exclude_user = 1, .exclude_hv = 1 }, ME } },
			 swapped[2] = { native[1], native[0] };
	struct sp_native here[2] = { { { USER }, .tid = 10, .thread = 1, .cpu = 3 },
				     { { USER }, .tid = 10, .thread = 1, .cpu = 4 } };
	struct sp_native there[2] = { here[1], here[0] };
	struct sp_count_target a = sp_count_target(&(struct sp_perf_fds){ .at = native, .n = 2 });
	struct sp_count_target b = sp_count_target(&(struct sp_perf_fds){ .at = swapped, .n = 2 });
	struct sp_count_target c = sp_count_target(&(struct sp_perf_fds){ .at = here, .n = 2 });
	struct sp_count_target d = sp_count_target(&(struct sp_perf_fds){ .at = there, .n = 2 });

	assert_int_equal(a.domain, b.domain);
	assert_false(sp_target_is_same(&a, &b));
	assert_int_equal(c.cpu, d.cpu);
	assert_false(sp_target_is_same(&c, &d));
	assert_true(sp_target_is_same(&a, &a));
}

/* Each word makes a difference. */
static void test_same(void **state)
{
	const struct sp_count_target a = {
		.is_known = true, .tid = 1, .thread = 1, .domain = 1, .cpu = -1
	};
	struct sp_count_target b[] = { a, a, a, a, a, a };

	b[0].is_known = false;
	b[1].is_attached = true;
	b[2].inherits = true;
	b[3].tid = 2;
	b[4].thread = 2;
	b[5].digest = 3;
	for (size_t i = 0; i < sizeof(b) / sizeof(*b); i++)
		assert_false(sp_target_is_same(&a, &b[i]));
	assert_true(sp_target_is_same(&a, &a));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_counted),
					    cmocka_unit_test(test_each),
					    cmocka_unit_test(test_same) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
