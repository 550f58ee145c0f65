/* t-forward.c: every wrapper hands its arguments on and the result back, exactly; of Fortran's, to
 * libpapi's function of any spelling.
 *
 * Expanded from the same rows as the wrappers.  Every argument is a different address
 * of one scratch area: good as a pointer, and its low half as an int that no other
 * argument has.  Run without sspapi it tests the recorder.
 */
#include <errno.h>
#include <papi.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "recorder.h"

typedef long (*any)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
		    uintptr_t, uintptr_t);

static char scratch[9 * 4096] __attribute__((aligned(4096)));

static const struct {
	const char *name;
	any call;
	int returns, arguments;
} rows[] = {
#define COUNT_(a0, a1, a2, a3, a4, a5, a6, a7, a8, n, ...) n
#define COUNT(...) COUNT_(0 __VA_OPT__(,) __VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define ENTRY(name, args, returns) { #name, (any)(void *)name, returns, COUNT args },
#define ROW(type, name, params, args, before, after) ENTRY(name, args, 1)
#define VOID(name, params, args, before, after) ENTRY(name, args, 0)
#define OLD(type, name, params, args)
#include "../../preload/papi/papi.def"
};

#define ROW(type, name, params, args, before, after)
#define OLD(type, name, params, args) extern type name params;
#include "../../preload/papi/papi.def"
#define F(symbol, params) extern void symbol params;
#define FROW(name, NAME, params, args, before, after) \
	F(name, params) F(name##_, params) F(name##__, params) F(NAME, params)
#include "../../preload/papi/fortran.def"

static const struct {
	const char *name;
	any call;
	int returns, arguments;
} more_rows[] = {
#define ROW(type, name, params, args, before, after)
#define OLD(type, name, params, args) ENTRY(name, args, 1)
#include "../../preload/papi/papi.def"
#define FROW(name, NAME, params, args, before, after) \
	ENTRY(name, args, 0) ENTRY(name##_, args, 0) \
	ENTRY(name##__, args, 0) ENTRY(NAME, args, 0)
#include "../../preload/papi/fortran.def"
};

static uintptr_t handed[4];

static void handler(int set, void *at, long long vector, void *context)
{
	uintptr_t all[] = { (uintptr_t)set, (uintptr_t)at, (uintptr_t)vector, (uintptr_t)context };

	memcpy(handed, all, sizeof(handed));
}

/* PAPI may be given another function in its place, which calls it. */
static void check_handler(uintptr_t given)
{
	memset(handed, 0, sizeof(handed));
	((PAPI_overflow_handler_t)given)(7, scratch, 1ll << 40, scratch + 1);
	assert_true(handed[0] == 7 && handed[1] == (uintptr_t)scratch);
	assert_true(handed[2] == 1ull << 40 && handed[3] == (uintptr_t)(scratch + 1));
}

static void check_name(const char *got, const char *name)
{
	size_t plain;

	if (strncasecmp(name, "papif_", 6) != 0) {
		assert_string_equal(got, name);
		return;
	}
	for (plain = strlen(name); name[plain - 1] == '_'; plain--)
		;
	assert_int_equal(strncasecmp(got, name, plain), 0);
	assert_int_equal(strspn(got + plain, "_"), strlen(got + plain));
}

static void check_one(const char *name, any call, int returns, int arguments, int rc)
{
	uintptr_t a[9];
	long got;

	memset(scratch, 0, sizeof(scratch));
	for (int i = 0; i < 9; i++)
		a[i] = (uintptr_t)(scratch + 4096 * i + 16 * i + 8);
	if (strcmp(name, "PAPI_overflow") == 0)
		a[4] = (uintptr_t)handler;
	memset(&recorded, 0, sizeof(recorded));
	recorded.give_rc = rc;
	recorded.give_errno = 4711;
	errno = 1234;
	got = call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]);
	assert_int_equal(errno, 4711);
	assert_non_null(recorded.name);
	check_name(recorded.name, name);
	assert_int_equal(recorded.calls, 1);
	assert_int_equal(recorded.errno_seen, 1234);
	assert_int_equal(recorded.n, arguments);
	for (unsigned i = 0; i < recorded.n; i++) {
		if (a[i] == (uintptr_t)handler)
			check_handler(recorded.arg[i]);
		else if (recorded.size[i] == 4)
			assert_int_equal((int)recorded.arg[i], (int)a[i]);
		else
			assert_true(recorded.arg[i] == a[i]);
	}
	if (returns)
		assert_int_equal((int)got, rc);
}

static void every_row(void **state)
{
	static const int codes[] = { PAPI_OK, PAPI_EINVAL, PAPI_ENOEVST, 7, PAPI_ENOTRUN };

	(void)state;
	for (size_t c = 0; c < sizeof(codes) / sizeof(*codes); c++) {
		for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
			check_one(rows[i].name, rows[i].call, rows[i].returns, rows[i].arguments,
				  codes[c]);
		for (size_t i = 0; i < sizeof(more_rows) / sizeof(*more_rows); i++)
			check_one(more_rows[i].name, more_rows[i].call, more_rows[i].returns,
				  more_rows[i].arguments, codes[c]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_row) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
