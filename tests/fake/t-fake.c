/* t-fake.c: what of the scripted libpapi no test on it would miss: calls that kill, errno, calls
 * through the PLT, where one of this program's own stands before libpapi's as a shim's does. Every
 * test starts with a fresh PAPI. */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <papi.h>

#include "fake.h"

static int added, stopped;

int PAPI_add_event(int es, int code)
{
	added++;
	return ((int (*)(int, int))dlsym(RTLD_NEXT, "PAPI_add_event"))(es, code);
}

int PAPI_stop(int es, long long *values)
{
	stopped++;
	return ((int (*)(int, long long *))dlsym(RTLD_NEXT, "PAPI_stop"))(es, values);
}

static int fresh(void **state)
{
	(void)state;
	if (PAPI_is_initialized())
		PAPI_shutdown();
	fake_fail_clear();
	return PAPI_library_init(fake_version() << 16) < 0;
}

static int set_of(const char *name)
{
	int es = PAPI_NULL;

	assert_int_equal(PAPI_create_eventset(&es), PAPI_OK);
	assert_int_equal(PAPI_add_named_event(es, name), PAPI_OK);
	return es;
}

static void t_nested(void **state)
{
	int es;

	(void)state;
	added = stopped = 0;
	es = set_of("EV_A");
	assert_int_equal(added, 1);
	PAPI_start(es);
	PAPI_shutdown();
	assert_int_equal(stopped, 1);
}

static void t_errno(void **state)
{
	int es = set_of("EV_A"), of_start, of_read;
	long long v[1];

	(void)state;
	errno = 0;
	PAPI_start(es);
	of_start = errno;
	PAPI_read(es, v);
	of_read = errno;
	assert_true(of_start && of_read && of_start != of_read);
	errno = 0;
	PAPI_read(99, v);
	assert_int_equal(errno, of_read);
}

static int dies_of(void (*what)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		fclose(stderr);
		signal(SIGSEGV, SIG_DFL);	/* cmocka catches these */
		signal(SIGFPE, SIG_DFL);
		signal(SIGABRT, SIG_DFL);
		what();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void ask_for_state(void)
{
	int s;

	PAPI_state(0, &s);
}

static void read_without_cycles(void)
{
	long long v[4];

	PAPI_read_ts(0, v, NULL);
}

static void ask_for_cpu(void)
{
	PAPI_option_t o = { .cpu = { .eventset = 0 } };

	PAPI_get_opt(PAPI_CPU_ATTACH, &o);
}

static void read_it(void)
{
	long long v[4];

	PAPI_read(0, v);
}

static void t_crashes(void **state)
{
	struct fake_event rate = { .derived = "DERIVED_PS" };
	int s, es;

	(void)state;
	es = set_of("EV_A");
	assert_int_equal(es, 0);
	assert_int_equal(dies_of(read_without_cycles), SIGSEGV);
	assert_int_equal(dies_of(ask_for_cpu), SIGABRT);
	PAPI_shutdown();
	assert_int_equal(dies_of(ask_for_state), SIGABRT);
	assert_int_equal(PAPI_state(1, &s), PAPI_ENOEVST);
	PAPI_library_init(fake_version() << 16);
	fake_event("PAPI_RATE", &rate);
	es = set_of("PAPI_RATE");
	PAPI_start(es);
	assert_int_equal(dies_of(read_it), SIGFPE);
	fake_count("PAPI_RATE", 1);
	assert_int_equal(dies_of(read_it), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(t_nested, fresh),
		cmocka_unit_test_setup(t_errno, fresh),
		cmocka_unit_test_setup(t_crashes, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
