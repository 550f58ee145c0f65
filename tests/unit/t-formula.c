/* t-formula.c: which preset formulas add up (core/events/formula.h). */
#include <papi.h>

#include "test.h"

#include "../../core/events/components.c"
#include "../../core/events/formula.c"
#include "../../core/events/kinds.c"
#include "papi-kinds.h"

static const char *const linear[] = {
	"N0",
	"|N0|",
	"N0|N1|+|",
	"N0|N1|-|",
	"|N0|N1|+|N2|+|",
	"N0|2|*|",
	"N0|2|/|",
	"4|N0|*|N1|8|*|+|",
	"N0|N1|+|2|/|",
	"N0|3|*|N1|-|16|/|",
	"N0|#|*|1000000|/|",
	"N0|N0|+|",
	"N0|2|3|+|*|",
	"N0|0|+|",
	"N0|N1|0|*|+|",
	"N0|N1|N2|N3|+|-|+|",
	"N0 N1 +",
	"N10|N11|+|",
	"N0|1|N1|0|*|+|*|N1|N1|-|+|",
	"N0+N1",
	"N0-N1",
	"(N0+N1)*2",
	"2*(N0-N1)/4",
	"N0*2+N1*4",
	"N0+N1+N2-N3",
	"(N0+(N1*2))/#",
	"N0/2",
	"((N0))",
};

static const char *const other[] = {
	"",
	"|",
	"7",
	"N0|7|+|",
	"N0|N1|/|",
	"N0|N1|*|",
	"7|N0|/|",
	"N0|N0|*|",
	"N0|N1|/|100|*|",
	"N0|N1|+|N2|/|",
	"N0|N1|",
	"N0|+|",
	"+|",
	"N0|0|/|",
	"0|N0|*|",
	"2|3|+|",
	"N0|1.5|*|",
	"N",
	"X0|N1|+|",
	"N0|N1|^|",
	"N0|N1|%|",
	"#",
	"#|N0|+|",
	"N0|5|-|",
	"N0/N1",
	"N0*N1",
	"(N0+N1)/N2",
	"N0+5",
	"N0*(N1+1)",
	"N0/(N1-N1)",
	"(N0+N1",
	"N0+N1)",
	"1/N0",
	"N0-N1/N2",
	"2/N0*N0",
	"()",
	"N0+",
	"N0^2",
	/* PAPI binds from the right: N0 / (2 / N1) */
	"N0/2/N1",
};

static void formulas(void **state)
{
	char deep[400] = "";

	for (size_t i = 0; i < sizeof(linear) / sizeof(linear[0]); i++)
		if (!sp_formula_is_linear(linear[i]))
			fail_msg("'%s' is linear", linear[i]);
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		if (sp_formula_is_linear(other[i]))
			fail_msg("'%s' is not linear", other[i]);
	for (int i = 0; i < 90; i++)
		strcat(deep, "N0|");
	assert_false(sp_formula_is_linear(deep));
	memset(deep, '(', 300);
	assert_false(sp_formula_is_linear(deep));
}

/* With counts 7, 40 and 3 of N0, N1 and N2. */
static const struct { const char *formula; double value; } worth[] = {
	{ "N0", 7 }, { "|N0|", 7 }, { "((N1))", 40 }, { "N0|N1|+|", 47 }, { "N0|N1|-|", -33 },
	{ "N0|2|/|", 3.5 },
	{ "4|N0|*|N1|8|*|+|", 348 }, { "N0|3|*|N1|-|16|/|", -19 / 16.0 }, { "N0|N1|N2|+|-|", -36 },
	{ "N0 N1 +", 47 },
	{ "N0+N1", 47 }, { "(N0+N1)*2", 94 }, { "2*(N0-N1)/4", -16.5 }, { "N0+N1+N2-N0", 43 },
	{ "N1/N0", 40 / 7.0 },
	{ "N0|N1|N2|*|+|N0|-|", 120 }, { "N002", 3 }, { "12", 12 }, { "N0|0|/|", 0 },
	/* PAPI binds from the right */
	{ "N0-N1-N2", 7 - (40 - 3) }, { "N1/2/N0", 40 / (2 / 7.0) },
};

static const char *const worthless[] = {
	"",
	"|",
	"N3",
	"N0|N3|+|",
	"N0|+|",
	"+|",
	"N0|N1|",
	"N0|#|*|",
	"N",
	"X0|",
	"N0|1.5|*|",
	"N0|N1|^|",
	"(N0+N1",
	"N0+N1)",
	"()",
	"N4294967296",
	"N99999999999999999999999999",
};

/* The value by which counters of a CPU are told to a preset. */
static void values(void **state)
{
	static const double n[4] = { 7, 40, 3, 1e300 };
	char deep[400] = "";
	double value;

	for (size_t i = 0; i < sizeof(worth) / sizeof(worth[0]); i++)
		if (!sp_formula_value(worth[i].formula, n, 3, &value) || value != worth[i].value)
			fail_msg("'%s' is %.17g, not %.17g", worth[i].formula, worth[i].value,
				 value);
	for (size_t i = 0; i < sizeof(worthless) / sizeof(worthless[0]); i++)
		if (sp_formula_value(worthless[i], n, 3, &value))
			fail_msg("'%s' has a value", worthless[i]);
	for (int i = 0; i < 90; i++)
		strcat(deep, "N0|");
	assert_false(sp_formula_value(deep, n, 3, &value));
	memset(deep, '(', 300);
	assert_false(sp_formula_value(deep, n, 3, &value));
}

/* Of what is linear: the value of a sum is the sum of the values, or it could not be split. */
static void values_of_linear(void **state)
{
	static const double a[12] = { 8, 16, 32, 64, 0, 0, 0, 0, 0, 0, 24, 4 },
			    b[12] = { 80, 800, 0, 16, 0, 0, 0, 0, 0, 0, 48, 12 };
	double both[12], x, y, z;
	unsigned valued = 0;

	for (unsigned i = 0; i < 12; i++)
		both[i] = a[i] + b[i];
	for (size_t i = 0; i < sizeof(linear) / sizeof(linear[0]); i++) {
		if (!sp_formula_value(linear[i], a, 12, &x))
			continue;
		valued++;
		assert_true(sp_formula_value(linear[i], b, 12, &y) &&
			    sp_formula_value(linear[i], both, 12, &z));
		if (z != x + y)
			fail_msg("'%s': %g, and %g + %g", linear[i], z, x, y);
	}
	/* not those with # */
	assert_int_equal(valued, sizeof(linear) / sizeof(linear[0]) - 2);
}

/* The longest text that PAPI's struct holds, of all that may be in it. */
static void hostile(void **state)
{
	static const char alphabet[] = "N01#|+-*/()% x";
	static const double counts[2] = { 1, 2 };
	static char text[6000];
	uint32_t seed = 1;
	double value;

	for (int t = 0; t < 2000; t++) {
		size_t n = t % 10 ? (size_t)t % 40 : sizeof(text) - 1;

		for (size_t i = 0; i < n; i++) {
			seed = seed * 1664525 + 1013904223;
			text[i] = alphabet[(seed >> 16) % (sizeof(alphabet) - 1)];
		}
		text[n] = 0;
		sp_formula_is_linear(text);
		(void)sp_formula_value(text, counts, 2, &value);
	}
}

static enum sp_kind kind(const char *component, const char *name, const char *units,
			 const char *derived, const char *postfix)
{
	PAPI_event_info_t info = { 0 };

	strcpy(info.units, units);
	strcpy(info.derived, derived);
	strcpy(info.postfix, postfix);
	return sp_event_kind(sp_component_fact(component), name, SP_EVENT_TRAITS(&info));
}

static void kinds(void **state)
{
	PAPI_event_info_t info = { .data_type = PAPI_DATATYPE_BIT64 };

	assert_int_equal(kind("perf_event", "PAPI_TOT_INS", "", "NOT_DERIVED", ""), SP_COUNTER);
	assert_int_equal(kind("perf_event", "P", "", "DERIVED_ADD", ""), SP_COUNTER);
	assert_int_equal(kind("perf_event", "P", "", "DERIVED_SUB", ""), SP_COUNTER);
	assert_int_equal(kind("perf_event", "P", "", "DERIVED_CMPD", ""), SP_COUNTER);
	assert_int_equal(kind("perf_event", "P", "", "DERIVED_PS", ""), SP_GAUGE);
	assert_int_equal(kind("perf_event", "P", "", "DERIVED_ADD_PS", ""), SP_GAUGE);
	assert_int_equal(kind("perf_event", "P", "", "DERIVED_POSTFIX", "N0|N1|/|"), SP_GAUGE);
	assert_int_equal(kind("perf_event", "P", "", "DERIVED_POSTFIX", "N0|N1|+|"), SP_COUNTER);
	assert_int_equal(kind("perf_event", "P", "", "DERIVED_INFIX", "N0/N1"), SP_GAUGE);
	assert_int_equal(kind("perf_event", "P", "", "DERIVED_INFIX", "(N0+N1)/2"), SP_COUNTER);
	assert_int_equal(kind("rapl", "rapl:::PACKAGE_ENERGY:PACKAGE0", "nJ", "", ""), SP_COUNTER);
	assert_int_equal(kind("rapl", "rapl:::PACKAGE_ENERGY_CNT:PACKAGE0", "", "", ""),
			 SP_COUNTER);
	assert_int_equal(kind("rapl", "rapl:::MAXIMUM_POWER_CNT:PACKAGE0", "", "", ""), SP_GAUGE);
	assert_int_equal(kind("powercap", "powercap:::ENERGY_UJ:ZONE0", "", "", ""), SP_COUNTER);
	assert_int_equal(kind("powercap", "powercap:::MAX_ENERGY_RANGE_UJ:ZONE0", "", "", ""),
			 SP_GAUGE);
	assert_int_equal(kind("powercap", "powercap:::POWER_LIMIT_A_UW:ZONE0_SUBZONE1", "", "", ""),
			 SP_GAUGE);
	assert_int_equal(kind("nvml", "nvml:::A100:device_0:power", "mW", "", ""), SP_GAUGE);
	assert_int_equal(kind("nvml", "nvml:::A100:device_0:total_energy_consumption", "", "", ""),
			 SP_COUNTER);
	assert_int_equal(kind("coretemp", "coretemp:::hwmon0:temp1_input", "degrees C", "", ""),
			 SP_GAUGE);
	assert_int_equal(kind("unheard_of", "unheard_of:::power", "W", "", ""), SP_GAUGE);
	assert_int_equal(kind("unheard_of", "unheard_of:::bytes", "bytes", "", ""), SP_COUNTER);
	assert_int_equal(sp_event_kind(NULL, "x", SP_EVENT_TRAITS(&info)), SP_GAUGE);
	info = (PAPI_event_info_t){ .value_type = PAPI_VALUETYPE_ABSOLUTE };
	assert_int_equal(sp_event_kind(NULL, "x", SP_EVENT_TRAITS(&info)), SP_GAUGE);
	info = (PAPI_event_info_t){ .timescope = PAPI_TIMESCOPE_POINT };
	assert_int_equal(sp_event_kind(NULL, "x", SP_EVENT_TRAITS(&info)), SP_GAUGE);
}

/* What PAPI itself calls an average or a level is a gauge, what it calls a number of things is
 * not. */
static void kinds_in_papi(void **state)
{
	static const char *const levels = "Average|Mean|Current|current|Percent|percent|Minimum|"
					  "Maximum|limit|Watts|status|mask";
	PAPI_event_info_t info = { 0 };

	for (size_t i = 0; i < SP_COUNT(papi_kinds); i++) {
		const struct papi_kind *p = &papi_kinds[i];

		strcpy(info.units, p->units);
		strcpy(info.long_descr, p->description);
		if (sp_event_kind(sp_component_fact(p->component), p->name,
				  SP_EVENT_TRAITS(&info)) != p->kind)
			fail_msg("%s, '%s', is no %s", p->name, p->description,
				 p->kind == SP_GAUGE ? "gauge" : "counter");
		if (has_one_of(p->description, levels) && p->kind != SP_GAUGE)
			fail_msg("%s, '%s': a level", p->name, p->description);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formulas),
		cmocka_unit_test(values),
		cmocka_unit_test(values_of_linear),
		cmocka_unit_test(hostile),
		cmocka_unit_test(kinds),
		cmocka_unit_test(kinds_in_papi),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
