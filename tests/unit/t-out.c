/* t-out.c: out.h: numbers, escapes, and descriptors that misbehave. */
#include "test.h"

#include <inttypes.h>
#include <sys/time.h>

#include "../../core/base/cpu-list.h"
#include "../../core/base/out.h"
#include "../../core/base/sort.h"

static char text[4096];
static struct sp_out o;

static void begin(void)
{
	sp_out_init(&o, -1, text, sizeof(text) - 1);
}

static const char *end(void)
{
	assert_int_equal(sp_out_finish(&o), 0);
	text[o.used] = '\0';
	return text;
}

#define CHECK(call, expected)                       \
	do {                                        \
		begin();                            \
		call;                               \
		assert_string_equal(end(), expected); \
	} while (0)

static void integers(void **state)
{
	char buf[32];

	CHECK(sp_out_u64(&o, 0), "0");
	CHECK(sp_out_u64(&o, UINT64_MAX), "18446744073709551615");
	CHECK(sp_out_i64(&o, INT64_MIN), "-9223372036854775808");
	CHECK(sp_out_i64(&o, -1), "-1");
	CHECK(sp_out_hex(&o, 0x80000032), "0x80000032");
	CHECK(sp_out_hex(&o, 0), "0x0");
	CHECK(sp_out_hex(&o, UINT64_MAX), "0xffffffffffffffff");
	assert_int_equal(sp_format_grouped(buf, 0), 1);
	assert_string_equal(buf, "0");
	assert_int_equal(sp_format_grouped(buf, 999), 3);
	assert_int_equal(sp_format_grouped(buf, 1234567), 9);
	assert_string_equal(buf, "1,234,567");
	assert_int_equal(sp_format_grouped(buf, INT64_MIN), 26);
	assert_string_equal(buf, "-9,223,372,036,854,775,808");
	assert_int_equal(sp_format_u64(buf, 10), 2);
	assert_string_equal(buf, "10");
}

static void fixed_doubles(void **state)
{
	CHECK(sp_out_double(&o, 0.0, 2), "0.00");
	CHECK(sp_out_double(&o, 1.005, 0), "1");
	CHECK(sp_out_double(&o, 1.996, 2), "2.00");
	CHECK(sp_out_double(&o, -12.5, 1), "-12.5");
	CHECK(sp_out_double(&o, 0.0625, 4), "0.0625");
	CHECK(sp_out_double(&o, 1e300, 2), "1e300");
	CHECK(sp_out_double(&o, 0.0 / 0.0, 2), "nan");
	CHECK(sp_out_double(&o, -1e308 * 10, 2), "-inf");
	CHECK(sp_out_double(&o, 0.1, -1), "0.1");
	CHECK(sp_out_double(&o, 1234.0, -1), "1234");
	CHECK(sp_out_double(&o, 123456789012345680.0, -1), "1.2345678901234568e17");
	CHECK(sp_out_double(&o, 5e-324, -1), "5e-324");
	CHECK(sp_out_double(&o, 1.7976931348623157e308, -1), "1.7976931348623157e308");
	CHECK(sp_out_double(&o, -0.00012, -1), "-0.00012");
	CHECK(sp_out_double(&o, 0.0, -1), "0");
}

/* Each double reads back as itself, and no shorter text does. */
static void shortest_doubles(void **state)
{
	uint64_t x = 88172645463325252ull;

	for (int i = 0; i < 20000; i++) {
		uint64_t bits;
		char shorter[64];
		double v, back;
		unsigned digits = 0;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		bits = i % 3 == 0 ? x & 0xffff800000000000ull : i % 3 == 1 ? x : x % 2000 << 52;
		memcpy(&v, &bits, 8);
		if (v - v != 0.0)
			continue;
		begin();
		sp_out_double(&o, v, -1);
		back = strtod(end(), NULL);
		if (memcmp(&back, &v, 8))
			fail_msg("%a became %s", v, text);
		for (const char *p = text; *p && *p != 'e'; p++)
			digits += *p >= '1' || (*p == '0' && digits);
		/* A power of two may have one digit more: its lower neighbour is nearer. */
		if (digits < 2 || !(bits << 12))
			continue;
		for (char *p = strchr(text, 'e') ? strchr(text, 'e') : strchr(text, '\0');
		     p > text && p[-1] == '0'; p--)
			digits--;
		snprintf(shorter, sizeof(shorter), "%.*e", digits > 2 ? (int)digits - 2 : 0, v);
		if (digits > 1 && strtod(shorter, NULL) == v)
			fail_msg("%s is longer than %s", text, shorter);
	}
}

static void escapes(void **state)
{
	CHECK(sp_out_plain(&o, "a\x1b[2J\n\x7f z"), "a\\x1b[2J\\x0a\\x7f z");
	CHECK(sp_out_plain(&o, "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82"),
	      "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82");
	CHECK(sp_out_plain(&o, "\xff\xc3"), "\\xff\\xc3");
	CHECK(sp_out_plain(&o, "\xc0\xaf\xed\xa0\x80"), "\\xc0\\xaf\\xed\\xa0\\x80");
	CHECK(sp_out_plain(&o, "\xc2\x9b" "31m\xe2\x80\xae"), "\\xc2\\x9b31m\\xe2\\x80\\xae");
	CHECK(sp_out_json(&o, ""), "\"\"");
	CHECK(sp_out_json(&o, "a\"b\\c\n\x01\x7f"), "\"a\\\"b\\\\c\\u000a\\u0001\\u007f\"");
	CHECK(sp_out_json(&o, "\xc3\xa9\xff\xf0\x9f\x99"),
	      "\"\xc3\xa9\\ufffd\\ufffd\\ufffd\\ufffd\"");
	CHECK(sp_out_json(&o, "\xe2\x80\xa8\xf4\x8f\xbf\xbf"), "\"\\u2028\\udbff\\udfff\"");
	CHECK(sp_out_csv(&o, "plain"), "plain");
	CHECK(sp_out_csv(&o, ""), "");
	CHECK(sp_out_csv(&o, "a,b"), "\"a,b\"");
	CHECK(sp_out_csv(&o, "say \"hi\""), "\"say \"\"hi\"\"\"");
	CHECK(sp_out_csv(&o, "two\nlines"), "\"two\\x0alines\"");
	CHECK(sp_out_csv(&o, " x"), "\" x\"");
}

/* By a format: what is not there, and what must not reach a terminal or break a form. */
static void formats(void **state)
{
	const char *volatile none = NULL;

	assert_string_equal(sp_text_f(text, 200, "%s %d %'u %'ld % d%#x %c%% %.2f %f", "a\033b", -7,
				      1234567u, -1234567L, -1, 0xf0u, 'x', 0.5, 0.1),
			    "a\\x1bb -7 1,234,567 -1,234,567 0xf0 x% 0.50 0.1");
	assert_string_equal(sp_text_f(text, 4, "%s", "abcdef"), "abc");
	assert_string_equal(sp_text_f(text, 200, "%lu%'lu%s", UINT64_MAX, UINT64_MAX, SP_MANY(2)),
			    "184467440737095516159,223,372,036,854,775,807s");
	sp_memory_init(&o, text, 200);
	sp_json_f(&o, "{%s: %s, \"n\": % d, \"m\": % ld}", "a\"b", none, -1, 5L);
	assert_string_equal(sp_memory_text(&o), "{\"a\\\"b\": null, \"n\": null, \"m\": 5}");
	sp_memory_init(&o, text, 200);
	sp_csv_f(&o, "%s,% d,%s,%d", "a,\"b", -1, none, -1);
	assert_string_equal(sp_memory_text(&o), "\"a,\"\"b\",,,-1");
}

static bool is_less(const void *of, uint32_t a, uint32_t b)
{
	const int *n = of;

	return n[a] != n[b] ? n[a] < n[b] : a < b;
}

static void sorts(void **state)
{
	static int n[1000];
	static uint32_t order[1000];

	for (uint32_t i = 0; i < 1000; i++) {
		n[i] = (int)(i * 7919 % 101);
		order[i] = i;
	}
	sp_sort(order, 1000, is_less, n);
	for (uint32_t i = 1; i < 1000; i++)
		assert_true(is_less(n, order[i - 1], order[i]));
	sp_sort(order, 0, is_less, n);
}

static void memory_is_full(void **state)
{
	char small[4];

	sp_out_init(&o, -1, small, sizeof(small));
	sp_out_text(&o, "abc");
	assert_int_equal(o.error, 0);
	sp_out_text(&o, "def");
	sp_out_text(&o, "g");
	assert_int_equal(o.used, 4);
	assert_memory_equal(small, "abcd", 4);
	assert_int_equal(sp_out_finish(&o), -ENOSPC);
	CHECK(sp_out_repeat(&o, 'x', 200),
	      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	      "xxxxxxxxxxxxxxxx"
	      "xxxxxxxxxxxxxxxxxxxx");
}

static void first_error_sticks(void **state)
{
	char buf[16];
	int fd = open("/dev/full", O_WRONLY);

	assert_true(fd >= 0);
	sp_out_init(&o, fd, buf, sizeof(buf));
	sp_out_text(&o, "more than sixteen bytes, so that it is written at once");
	assert_int_equal(o.error, -ENOSPC);
	close(fd);
	sp_out_text(&o, "and into a closed descriptor");
	assert_int_equal(sp_out_finish(&o), -ENOSPC);
	assert_int_equal(o.written, 0);
	sp_out_init(&o, fd, buf, sizeof(buf));
	sp_out_char(&o, 'x');
	assert_int_equal(sp_out_finish(&o), -EBADF);
}

/* A reader that is slow, a pipe that does not block, and signals all the while. */

#define LINES 50000
static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	alarms = alarms + 1;
}

static void *reader(void *arg)
{
	static char got[LINES * 8];
	int fd = *(int *)arg;
	size_t at = 0;
	ssize_t n;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	usleep(100000);
	while ((n = read(fd, got + at, sp_min(sizeof(got) - at, 7001))) > 0)
		at += (size_t)n;
	return at == sizeof(got) ? got : NULL;
}

static void pipes(void **state)
{
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_alarm };	/* no SA_RESTART: EINTR */

	sigaction(SIGALRM, &action, NULL);
	for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
		int fd[2];
		char buf[1000], line[32], *got;
		pthread_t thread;
		void *result;

		assert_int_equal(pipe(fd), 0);
		fcntl(fd[1], F_SETPIPE_SZ, 4096);
		if (nonblocking)
			fcntl(fd[1], F_SETFL, O_NONBLOCK);
		assert_int_equal(pthread_create(&thread, NULL, reader, &fd[0]), 0);
		setitimer(ITIMER_REAL, &often, NULL);
		sp_out_init(&o, fd[1], buf, sizeof(buf));
		for (int i = 0; i < LINES; i++) {
			snprintf(line, sizeof(line), "%07d\n", i);
			sp_out_text(&o, line);
		}
		assert_int_equal(sp_out_finish(&o), 0);
		setitimer(ITIMER_REAL, &never, NULL);
		close(fd[1]);
		pthread_join(thread, &result);
		close(fd[0]);
		got = result;
		assert_non_null(got);
		assert_int_equal(o.written, LINES * 8);
		for (int i = 0; i < LINES; i++)
			assert_int_equal(atoi(got + i * 8), i);
	}
	assert_true(alarms > 0);
}

static void cpu_lists(void **state)
{
	static const char *const good[] = { "0", "0-3,8,10-11", "5-70", "63-64,128", "" };
	static const char *const bad[] = { "x", "1-", "1-x", "1 2", "-1", ",", "1,,2" };
	unsigned long set[4];

	for (size_t i = 0; i < SP_COUNT(good); i++) {
		memset(set, 0, sizeof(set));
		for (unsigned cpu = 0; cpu < 256; cpu++)
			if (sp_cpu_in_list(good[i], cpu))
				set[cpu / 64] |= 1ul << cpu % 64;
		CHECK(sp_out_cpu_list(&o, set, sizeof(set)), good[i]);
	}
	assert_true(sp_cpu_in_list("0-1\n", 1));
	assert_false(sp_cpu_in_list("0-1\n", 2));
	assert_false(sp_cpu_in_list("4-2", 3));
	for (size_t i = 0; i < SP_COUNT(bad); i++)
		assert_false(sp_cpu_in_list(bad[i], 2));
	assert_true(sp_cpu_in_list("0-99999999999999999999", UINT32_MAX));
	memset(set, 0xff, sizeof(set));		/* to the end, and no further */
	CHECK(sp_out_cpu_list(&o, set, 24), "0-191");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers),
		cmocka_unit_test(fixed_doubles),
		cmocka_unit_test(shortest_doubles),
		cmocka_unit_test(escapes),
		cmocka_unit_test(formats),
		cmocka_unit_test(sorts),
		cmocka_unit_test(memory_is_full),
		cmocka_unit_test(first_error_sticks),
		cmocka_unit_test(pipes),
		cmocka_unit_test(cpu_lists),
	};

	return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
