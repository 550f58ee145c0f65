/* t-fake.c: is the scripted libpapi what papi-facts.md says?  Every test starts with a fresh PAPI. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
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

extern void papif_start_(int *es, int *rc);
extern void papif_stop__(int *es, long long *values, int *rc);
extern void PAPIF_READ(int *es, long long *values, int *rc);
extern void papif_add_named_event_(int *es, char *name, int *rc, int len);
extern void papif_shutdown_(void);

static int fresh(void **state)
{
	(void)state;
	unsetenv("PAPI_EVENTS");
	if (PAPI_is_initialized())
		PAPI_shutdown();
	fake_fail_clear();
	fake_calls_clear();
	return PAPI_library_init(fake_version() << 16) < 0;
}

/* A set of the named events; the last argument is NULL. */
static int set_of(const char *name, ...)
{
	int es = PAPI_NULL;
	va_list ap;

	assert_int_equal(PAPI_create_eventset(&es), PAPI_OK);
	va_start(ap, name);
	for (; name; name = va_arg(ap, const char *))
		assert_int_equal(PAPI_add_named_event(es, name), PAPI_OK);
	va_end(ap);
	return es;
}

static int state_of(int es)
{
	int state = -1;

	assert_int_equal(PAPI_state(es, &state), PAPI_OK);
	return state;
}

static void t_ids(void **state)
{
	int a = PAPI_NULL, b = PAPI_NULL, c = PAPI_NULL, set = 3;

	(void)state;
	assert_int_equal(PAPI_create_eventset(&set), PAPI_EINVAL);
	assert_int_equal(PAPI_create_eventset(&a), PAPI_OK);
	assert_int_equal(PAPI_create_eventset(&b), PAPI_OK);
	assert_int_equal(a, 0);
	assert_int_equal(b, 1);
	assert_int_equal(PAPI_destroy_eventset(&a), PAPI_OK);
	assert_int_equal(a, PAPI_NULL);
	assert_int_equal(PAPI_create_eventset(&c), PAPI_OK);
	assert_int_equal(c, 0);				/* the lowest that is free */
	assert_int_equal(PAPI_start(7), PAPI_ENOEVST);
	assert_int_equal(PAPI_start(b), PAPI_ENOCMP);
	assert_int_equal(PAPI_assign_eventset_component(b, 0), PAPI_OK);
	assert_int_equal(PAPI_start(b), PAPI_EINVAL);
	assert_int_equal(PAPI_assign_eventset_component(b, 0), PAPI_EINVAL);
}

static void t_counting(void **state)
{
	int es = set_of("EV_A", "EV_B", NULL), other = set_of("EV_A", NULL);
	long long v[2] = { -1, -1 }, w[1], ts = 0;

	(void)state;
	assert_int_equal(PAPI_stop(es, v), PAPI_ENOTRUN);
	assert_int_equal(fake_count("EV_A", 5), 0);	/* nothing runs */
	assert_int_equal(PAPI_start(es), PAPI_OK);
	assert_int_equal(PAPI_start(es), PAPI_EISRUN);
	assert_int_equal(PAPI_start(other), PAPI_EISRUN);
	assert_int_equal(fake_count("EV_A", 100), 1);
	assert_int_equal(fake_count("EV_B", 7), 1);
	assert_int_equal(fake_count("EV_C", 7), 0);
	assert_int_equal(fake_count("NOPE", 7), -1);
	assert_int_equal(PAPI_read(es, NULL), PAPI_EINVAL);
	assert_int_equal(PAPI_read(es, v), PAPI_OK);
	assert_int_equal(v[0], 100);
	assert_int_equal(v[1], 7);
	assert_int_equal(PAPI_read_ts(es, v, &ts), PAPI_OK);
	assert_true(ts > 0);
	assert_int_equal(PAPI_add_named_event(es, "EV_C"), PAPI_EISRUN);
	assert_int_equal(PAPI_cleanup_eventset(es), PAPI_EISRUN);
	assert_int_equal(PAPI_destroy_eventset(&es), PAPI_EISRUN);
	assert_int_equal(PAPI_write(es, v), PAPI_ENOSUPP);
	assert_int_equal(PAPI_stop(es, NULL), PAPI_OK);
	fake_count("EV_A", 9);
	assert_int_equal(PAPI_read(es, v), PAPI_OK);	/* the saved ones, as often as one likes */
	assert_int_equal(v[0], 100);
	assert_int_equal(PAPI_start(es), PAPI_OK);	/* zeroes */
	assert_int_equal(PAPI_read(es, v), PAPI_OK);
	assert_int_equal(v[0], 0);
	assert_int_equal(PAPI_stop(es, v), PAPI_OK);
	assert_int_equal(PAPI_destroy_eventset(&es), PAPI_EINVAL);
	assert_int_equal(PAPI_read(other, w), PAPI_OK);
	assert_int_equal(PAPI_start(other), PAPI_OK);
}

static void t_accum(void **state)
{
	int es = set_of("EV_A", NULL);
	long long v[1] = { 1000 };

	(void)state;
	PAPI_start(es);
	fake_count("EV_A", 30);
	assert_int_equal(PAPI_accum(es, v), PAPI_OK);
	assert_int_equal(v[0], 1030);
	assert_int_equal(fake_calls_nested("PAPI_reset"), 1);
	assert_int_equal(fake_calls("PAPI_reset"), 0);
	assert_int_equal(PAPI_accum(es, v), PAPI_OK);
	assert_int_equal(v[0], 1030);
	fake_count("EV_A", 4);
	PAPI_stop(es, NULL);
	assert_int_equal(PAPI_accum(es, v), PAPI_OK);	/* adds the saved, once */
	assert_int_equal(PAPI_accum(es, v), PAPI_OK);
	assert_int_equal(v[0], 1034);
	PAPI_start(es);
	fake_count("EV_A", 6);
	fake_fail("PAPI_reset", PAPI_ESYS, 0, 1);
	assert_int_equal(PAPI_accum(es, v), PAPI_ESYS);	/* has added all the same */
	assert_int_equal(v[0], 1040);
	fake_fail("PAPI_accum", PAPI_ECMP, 1, 2);
	assert_int_equal(PAPI_accum(es, v), PAPI_OK);
	assert_int_equal(PAPI_accum(es, v), PAPI_ECMP);
	assert_int_equal(PAPI_accum(es, v), PAPI_ECMP);
	assert_int_equal(PAPI_accum(es, v), PAPI_OK);
}

static void t_building(void **state)
{
	int es = PAPI_NULL, codes[3], n = 3, out[3] = { 0 };
	long long v[3];

	(void)state;
	PAPI_create_eventset(&es);
	PAPI_event_name_to_code("EV_A", &codes[0]);
	codes[1] = (int)0x40000777;
	codes[2] = (int)PAPI_TOT_INS;
	assert_int_equal(PAPI_add_events(es, codes, 3), 1);	/* how many went in */
	assert_int_equal(PAPI_add_event(es, codes[0]), PAPI_ECNFLCT);
	assert_int_equal(PAPI_add_event(es, codes[2]), PAPI_OK);
	assert_int_equal(PAPI_add_event(es, 5), PAPI_EINVAL);
	assert_int_equal(PAPI_list_events(es, out, &n), PAPI_OK);
	assert_int_equal(n, 2);
	assert_int_equal(out[1], (int)PAPI_TOT_INS);
	PAPI_start(es);
	fake_count("EV_A", 11);
	fake_count_code((int)PAPI_TOT_INS, 22);
	PAPI_stop(es, NULL);
	assert_int_equal(PAPI_remove_named_event(es, "EV_A"), PAPI_OK);
	assert_int_equal(PAPI_read(es, v), PAPI_OK);
	assert_int_equal(v[0], 11);			/* saved values do not move */
	assert_int_equal(PAPI_num_events(es), 1);
	assert_int_equal(PAPI_cleanup_eventset(es), PAPI_OK);
	assert_int_equal(PAPI_get_eventset_component(es), PAPI_ENOCMP);
	assert_int_equal(PAPI_read(es, v), PAPI_ENOCMP);
	assert_int_equal(PAPI_destroy_eventset(&es), PAPI_OK);
}

static void t_codes(void **state)
{
	char name[PAPI_MAX_STR_LEN];
	int b, a;

	(void)state;
	PAPI_event_name_to_code("EV_B", &b);
	PAPI_event_name_to_code("EV_A", &a);
	assert_int_equal(b, 0x40000000);		/* in the order in which they are asked for */
	assert_int_equal(a, 0x40000001);
	assert_int_equal(PAPI_event_code_to_name(a, name), PAPI_OK);
	assert_string_equal(name, "EV_A");
	assert_int_equal(PAPI_event_name_to_code("NOPE", &a), PAPI_ENOEVNT);
	PAPI_shutdown();
	assert_int_equal(PAPI_event_code_to_name(b, name), PAPI_ENOEVNT);
	assert_int_equal(PAPI_event_code_to_name((int)PAPI_TOT_CYC, name), PAPI_OK);
	assert_int_equal(PAPI_event_name_to_code("EV_B", &b), PAPI_ENOINIT);
}

static void t_nested(void **state)
{
	int es = set_of("EV_A", "EV_B", NULL);

	(void)state;
	assert_int_equal(fake_calls("PAPI_add_named_event"), 2);
	assert_int_equal(fake_calls_nested("PAPI_add_event"), 2);
	assert_int_equal(fake_calls_nested("PAPI_event_name_to_code"), 2);
	assert_int_equal(fake_calls("PAPI_add_event"), 0);
	assert_int_equal(PAPI_set_domain(PAPI_DOM_ALL), PAPI_OK);
	assert_int_equal(fake_calls_nested("PAPI_set_cmp_domain"), 1);
	assert_int_equal(fake_calls_nested("PAPI_set_opt"), 1);
	PAPI_start(es);
	fake_calls_clear();
	PAPI_shutdown();
	assert_int_equal(fake_calls_nested("PAPI_stop"), 1);
	assert_int_equal(fake_calls_nested("PAPI_cleanup_eventset"), 1);
	assert_int_equal(fake_calls_nested("PAPI_destroy_eventset"), 0);
	assert_int_equal(fake_calls_all(), 1);
	assert_int_equal(fake_sets(), 0);
	assert_int_equal(fake_calls("PAPI_nonsense"), -1);
}

static void t_errno(void **state)
{
	int es = set_of("EV_A", NULL);
	long long v[1];

	(void)state;
	errno = 0;
	PAPI_start(es);
	assert_int_equal(errno, fake_errno("PAPI_start"));
	PAPI_read(es, v);
	assert_int_equal(errno, fake_errno("PAPI_read"));
	PAPI_read(99, v);
	assert_int_equal(errno, fake_errno("PAPI_read"));
	assert_int_not_equal(fake_errno("PAPI_read"), fake_errno("PAPI_stop"));
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
	es = set_of("EV_A", NULL);
	assert_int_equal(es, 0);
	assert_int_equal(dies_of(read_without_cycles), SIGSEGV);
	assert_int_equal(dies_of(ask_for_cpu), SIGABRT);
	PAPI_shutdown();
	assert_int_equal(dies_of(ask_for_state), SIGABRT);
	assert_int_equal(PAPI_state(1, &s), PAPI_ENOEVST);
	PAPI_library_init(fake_version() << 16);
	fake_event("PAPI_RATE", &rate);
	es = set_of("PAPI_RATE", NULL);
	PAPI_start(es);
	assert_int_equal(dies_of(read_it), SIGFPE);
	fake_count("PAPI_RATE", 1);
	assert_int_equal(dies_of(read_it), 0);
}

static void t_values(void **state)
{
	int es = set_of("EV_A", "EV_B", NULL);
	long long in[2] = { -5, fake_fp64(1.5) }, v[2];

	(void)state;
	PAPI_start(es);
	assert_int_equal(fake_set_values(es, in, 2), 0);
	PAPI_read(es, v);
	assert_int_equal(v[0], -5);
	assert_true(v[1] == fake_fp64(1.5));
	assert_int_equal(fake_count_set(es, "EV_A", 3), 1);
	PAPI_stop(es, v);
	assert_int_equal(v[0], -2);
	assert_int_equal(fake_set_values(es, in, 1), 0);
	PAPI_read(es, v);
	assert_int_equal(v[0], -5);
	assert_int_equal(fake_set_values(9, in, 1), -1);
}

static void t_components(void **state)
{
	static char buffer[32768] __attribute__((aligned(16)));
	PAPI_event_info_t *info = (PAPI_event_info_t *)buffer;
	struct fake_event temp = { .component = "coretemp", .units = "C", .value_type = 1 };
	struct fake_event joules = { .component = "rapl", .units = "nJ", .data_type = PAPI_DATATYPE_UINT64 };
	int t, j, code;
	long long v[1], sum[1] = { 0 };

	(void)state;
	assert_int_equal(fake_event("coretemp:::x", &temp), 0);
	assert_int_equal(fake_event("rapl:::PKG", &joules), 0);
	t = set_of("coretemp:::x", NULL);
	j = set_of("rapl:::PKG", NULL);
	assert_int_equal(PAPI_add_named_event(t, "EV_A"), PAPI_EINVAL);
	fake_level("coretemp:::x", 42);
	assert_int_equal(PAPI_start(t), PAPI_OK);
	assert_int_equal(PAPI_start(j), PAPI_OK);	/* another component, another slot */
	PAPI_read(t, v);
	assert_int_equal(v[0], 42);
	fake_count("rapl:::PKG", 10);
	PAPI_accum(j, sum);
	PAPI_accum(j, sum);				/* reset is a no-op there */
	assert_int_equal(sum[0], 20);
	PAPI_event_name_to_code("coretemp:::x", &code);
	memset(buffer, 0x55, sizeof(buffer));
	assert_int_equal(PAPI_get_event_info(code, info), PAPI_OK);
	assert_string_equal(info->units, "C");
	assert_int_equal(info->component_index, PAPI_get_event_component(code));
	assert_string_equal(PAPI_get_component_info(info->component_index)->name, "coretemp");
	assert_int_equal(buffer[fake_version() >= 0x0702 ? 23067 : 6679], 0);
	assert_int_equal(buffer[fake_version() >= 0x0702 ? 23068 : 6680], 0x55);
}

static void *count_elsewhere(void *p)
{
	*(int *)p = fake_count("EV_A", 50);
	return NULL;
}

static void *unregister_with_sets(void *p)
{
	int es = set_of("EV_B", NULL);

	PAPI_start(es);
	*(int *)p = es;
	assert_int_equal(PAPI_unregister_thread(), PAPI_OK);
	return NULL;
}

static void t_threads(void **state)
{
	int es = set_of("EV_A", NULL), out = -1;
	struct fake_set info;
	pthread_t thread;
	long long v[1];

	(void)state;
	assert_int_equal(PAPI_thread_init((unsigned long (*)(void))pthread_self), PAPI_OK);
	assert_int_equal(PAPI_is_initialized(), 5);
	PAPI_start(es);
	pthread_create(&thread, NULL, count_elsewhere, &out);
	pthread_join(thread, NULL);
	assert_int_equal(out, 0);			/* not the opener */
	assert_int_equal(PAPI_stop(es, v), PAPI_OK);
	assert_int_equal(v[0], 0);
	assert_int_equal(PAPI_attach(es, 12345), PAPI_OK);
	assert_int_equal(fake_calls_nested("PAPI_set_opt"), 1);
	assert_int_equal(fake_set_info(es, &info), 0);
	assert_int_equal(info.attached, 12345);
	assert_int_equal(info.attaches, 1);
	assert_int_equal(state_of(es), PAPI_STOPPED | PAPI_ATTACHED);
	assert_int_equal(PAPI_start(es), PAPI_OK);
	assert_int_equal(PAPI_start(es), PAPI_OK);	/* attached sets may, twice */
	assert_int_equal(state_of(es), 0x83);
	assert_int_equal(fake_count("EV_A", 1), 0);
	PAPI_stop(es, NULL);
	pthread_create(&thread, NULL, unregister_with_sets, &out);
	pthread_join(thread, NULL);
	assert_int_equal(fake_set_info(out, &info), -1);
}

static void t_options(void **state)
{
	int es = set_of("EV_A", NULL);
	PAPI_option_t o;
	struct fake_set info;

	(void)state;
	memset(&o, 0, sizeof(o));
	o.cpu.eventset = es;
	o.cpu.cpu_num = 0;
	assert_int_equal(PAPI_set_opt(PAPI_CPU_ATTACH, &o), PAPI_OK);
	fake_set_info(es, &info);
	assert_int_equal(info.cpu, 0);
	o.cpu.cpu_num = 9;
	assert_int_equal(PAPI_get_opt(PAPI_CPU_ATTACH, &o), 1);
	assert_int_equal(o.cpu.cpu_num, 0);
	memset(&o, 0, sizeof(o));
	o.granularity.eventset = es;
	o.granularity.granularity = PAPI_GRN_SYS;
	assert_int_equal(PAPI_set_opt(PAPI_GRANUL, &o), PAPI_OK);
	memset(&o, 0, sizeof(o));
	o.granularity.eventset = es;
	assert_int_equal(PAPI_get_opt(PAPI_GRANUL, &o), PAPI_OK);
	assert_int_equal(o.granularity.granularity, PAPI_GRN_SYS);
	assert_int_equal(PAPI_get_opt(PAPI_LIB_VERSION, NULL), fake_version() << 16);
	assert_int_equal(PAPI_attach(es, 1), PAPI_ECMP);
}

static void t_software_multiplex(void **state)
{
	int es = set_of("EV_A", "EV_B", "EV_C", "EV_D", NULL), next = PAPI_NULL;
	PAPI_option_t o = { .multiplex = { .eventset = es, .flags = PAPI_MULTIPLEX_FORCE_SW } };
	struct fake_set info;
	long long v[4];

	(void)state;
	fake_calls_clear();
	assert_int_equal(PAPI_set_opt(PAPI_MULTIPLEX, &o), PAPI_OK);
	assert_int_equal(PAPI_get_opt(PAPI_MULTIPLEX, &o), 1);
	assert_int_equal(fake_calls_nested("PAPI_create_eventset"), 4);
	PAPI_create_eventset(&next);
	assert_int_equal(next, es + 5);			/* the hidden sets took ids */
	fake_set_info(es + 1, &info);
	assert_int_equal(info.hidden, es);
	assert_int_equal(PAPI_start(es), PAPI_OK);
	fake_count("EV_B", 8);
	assert_int_equal(PAPI_read(es, v), PAPI_OK);
	assert_int_equal(v[1], 8);
	assert_int_equal(PAPI_stop(es, v), PAPI_OK);
	assert_int_equal(v[1], 8);
	assert_int_equal(PAPI_read(es, v), PAPI_OK);
	assert_int_equal(v[1], 0);			/* not saved */
	assert_int_equal(PAPI_cleanup_eventset(es), PAPI_OK);
	assert_int_equal(fake_sets(), 2);
}

/* The high level of other versions than this header's is asked for by name. */
static int call(const char *fn, const char *region)
{
	void *f = dlsym(RTLD_DEFAULT, fn);

	assert_non_null(f);
	return region ? ((int (*)(const char *))f)(region) : ((int (*)(void))f)();
}

static void t_high_level(void **state)
{
	int own = set_of("EV_A", NULL);
	long long v[2];

	(void)state;
	PAPI_shutdown();
	fake_calls_clear();
	assert_int_equal(call("PAPI_hl_region_end", "r"), PAPI_EMISC);
	assert_int_equal(call("PAPI_hl_region_begin", "r"), PAPI_OK);
	assert_int_equal(fake_calls_nested("PAPI_library_init"), 1);
	assert_int_equal(fake_calls_nested("PAPI_thread_init"), 1);
	assert_int_equal(fake_calls_nested("PAPI_start"), 1);
	assert_int_equal(fake_calls_nested("PAPI_read_ts"), 1);
	assert_int_equal(fake_calls("PAPI_start"), 0);
	fake_count("PAPI_TOT_INS", 77);
	assert_int_equal(call("PAPI_hl_region_end", "r"), PAPI_OK);
	assert_int_equal(fake_hl_values("r", v, 2), 2);
	assert_int_equal(v[0], 77);
	own = set_of("EV_A", NULL);
	assert_int_equal(PAPI_start(own), PAPI_EISRUN);	/* it occupies the slot */
	assert_int_equal(call("PAPI_hl_stop", NULL), PAPI_OK);
	assert_int_equal(call("PAPI_hl_stop", NULL), PAPI_ENOEVNT);
	assert_int_equal(PAPI_start(own), PAPI_OK);
}

static void t_fortran(void **state)
{
	int es = PAPI_NULL, rc = 1;
	char name[] = "EV_A     ";
	long long v[1];

	(void)state;
	PAPI_create_eventset(&es);
	papif_add_named_event_(&es, name, &rc, (int)sizeof(name) - 1);
	assert_int_equal(rc, PAPI_OK);
	papif_start_(&es, &rc);
	assert_int_equal(rc, PAPI_OK);
	assert_int_equal(fake_calls("papif_start"), 1);
	assert_int_equal(fake_calls_nested("PAPI_start"), 1);
	fake_count("EV_A", 4);
	PAPIF_READ(&es, v, &rc);
	assert_int_equal(v[0], 4);
	papif_stop__(&es, v, &rc);
	assert_int_equal(rc, PAPI_OK);
	papif_shutdown_();
	assert_int_equal(PAPI_is_initialized(), 0);
	assert_true(!dlsym(RTLD_DEFAULT, "papif_read") == (fake_version() >= 0x0701));
}

static void t_fork(void **state)
{
	int es = set_of("EV_A", NULL), status;
	long long v[1];
	pid_t pid;

	(void)state;
	PAPI_start(es);
	fake_count("EV_A", 20);
	pid = fork();
	if (!pid) {
		int other = PAPI_NULL, bad = fake_count("EV_A", 1) != 0;

		bad |= PAPI_read(es, v) != PAPI_OK || v[0] != 20;
		PAPI_create_eventset(&other);
		bad |= (other == 0) << 1;
		PAPI_library_init(fake_version() << 16);
		other = PAPI_NULL;
		PAPI_create_eventset(&other);
		bad |= (other != 0) << 2;		/* ids from 0 again */
		_exit(bad);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void t_script(void **state)
{
	int es = set_of("EV_A", NULL);
	long long v[1];

	(void)state;
	assert_int_equal(fake_do("# a comment"), 0);
	assert_int_equal(fake_do("event nvml:::power component=nvml units=mW data_type=uint64"), 0);
	assert_int_equal(fake_do("each PAPI_read count EV_A 10"), 0);
	assert_int_equal(fake_do("at PAPI_read 3 values 0 -7"), 0);
	assert_int_equal(fake_do("fail PAPI_reset -3 1 1"), 0);
	PAPI_start(es);
	for (int i = 1; i <= 2; i++) {
		PAPI_read(es, v);
		assert_int_equal(v[0], 10 * i);
	}
	PAPI_read(es, v);
	assert_int_equal(v[0], -7);
	assert_int_equal(PAPI_reset(es), PAPI_OK);
	assert_int_equal(PAPI_reset(es), PAPI_ESYS);
	assert_int_equal(PAPI_reset(es), PAPI_OK);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(t_ids, fresh), cmocka_unit_test_setup(t_counting, fresh),
		cmocka_unit_test_setup(t_accum, fresh), cmocka_unit_test_setup(t_building, fresh),
		cmocka_unit_test_setup(t_codes, fresh), cmocka_unit_test_setup(t_nested, fresh),
		cmocka_unit_test_setup(t_errno, fresh), cmocka_unit_test_setup(t_crashes, fresh),
		cmocka_unit_test_setup(t_values, fresh), cmocka_unit_test_setup(t_components, fresh),
		cmocka_unit_test_setup(t_threads, fresh), cmocka_unit_test_setup(t_options, fresh),
		cmocka_unit_test_setup(t_software_multiplex, fresh),
		cmocka_unit_test_setup(t_high_level, fresh),
		cmocka_unit_test_setup(t_fortran, fresh),
		cmocka_unit_test_setup(t_fork, fresh), cmocka_unit_test_setup(t_script, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
