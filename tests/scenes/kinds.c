/*
 * kinds: event sets of many components that run at the same time, on the first two CPUs:
 * plain counts, gauges, floating-point counts, bits; of a thread, a package, its memory, a
 * host, a device, the process. usage: kinds
 * Prints what PAPI handed out of the plain counts, as `one` does.
 */
#include "scene.h"

static const struct {
	const char *name;
	struct fake_event event;
} events[] = {
	{ "rapl:::PACKAGE_ENERGY:PACKAGE1",
	  { .component = "rapl", .units = "nJ", .data_type = PAPI_DATATYPE_UINT64 } },
	{ "rapl:::DRAM_ENERGY:PACKAGE1",
	  { .component = "rapl", .units = "nJ", .data_type = PAPI_DATATYPE_UINT64 } },
	{ "rapl:::THERMAL_SPEC:PACKAGE0",
	  { .component = "rapl", .units = "W", .data_type = PAPI_DATATYPE_FP64 } },
	{ "coretemp:::hwmon77:temp1_input", { .component = "coretemp", .units = "degrees C" } },
	{ "TOPDOWN_RETIRING_PERC",
	  { .component = "topdown", .units = "%", .data_type = PAPI_DATATYPE_FP64 } },
	{ "widget:::LIB::FLOPS", { .component = "widget", .data_type = PAPI_DATATYPE_FP64 } },
	{ "widget:::LIB::CALLS", { .component = "widget" } },
	{ "widget:::LIB::FLAGS", { .component = "widget", .data_type = PAPI_DATATYPE_BIT64 } },
	{ "widget:::LIB::BIG", { .component = "widget", .data_type = PAPI_DATATYPE_UINT64 } },
	{ "eth0:rx:bytes", { .component = "net" } },
	{ "skx_unc_imc0::UNC_M_CAS_COUNT:ALL:cpu=0", { .component = "perf_event_uncore" } },
	{ "skx_unc_cha0::UNC_C_CLOCKTICKS:cpu=0", { .component = "perf_event_uncore" } },
	{ "stealtime:::CPU1", { .component = "stealtime", .units = "us" } },
	{ "READ_BYTES", { .component = "io" } },
};

enum { PLAIN, RAPL, CORETEMP, TOPDOWN, SDE, NET, UNCORE, STEAL, IO, SETS };
static int set[SETS];

/* What the set shows from now on. */
#define SHOWS(s, ...) fake_set_values(set[s], (const long long[]){__VA_ARGS__}, \
				      sizeof((const long long[]){__VA_ARGS__}) / sizeof(long long))

static void take(int s, const char *name)
{
	must(name, PAPI_add_named_event(set[s], name));
}

static void make_all(void)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		fake_event(events[i].name, &events[i].event);
	for (int s = 0; s < SETS; s++)
		set[s] = new_event_set();
	take(PLAIN, "EV_A");
	take(RAPL, events[0].name);
	take(RAPL, events[1].name);
	take(RAPL, events[2].name);
	take(CORETEMP, events[3].name);
	take(TOPDOWN, events[4].name);
	for (int i = 5; i < 9; i++)
		take(SDE, events[i].name);
	take(NET, events[9].name);
	take(UNCORE, events[10].name);
	take(UNCORE, events[11].name);
	take(STEAL, events[12].name);
	take(IO, events[13].name);
}

static void read_all(long long values[SETS][8])
{
	for (int s = 0; s < SETS; s++)
		must("PAPI_read", PAPI_read(set[s], values[s]));
}

int main(void)
{
	long long v[SETS][8];
	const double nan = __builtin_nan("");

	up();
	make_all();
	pin(0);
	for (int s = 0; s < SETS; s++)
		must("PAPI_start", PAPI_start(set[s]));
	SHOWS(IO, 5000);
	SHOWS(CORETEMP, 45);
	SHOWS(TOPDOWN, fake_fp64(12.5));
	SHOWS(PLAIN, 7);
	SHOWS(RAPL, 1000, 10, fake_fp64(115.5));
	SHOWS(SDE, fake_fp64(0.5), 3, 0xf0, 9000000000000000000);
	SHOWS(NET, 100);
	SHOWS(UNCORE, 64, 1000);
	SHOWS(STEAL, 20);
	read_all(v);
	pin(1);
	SHOWS(IO, 5100);
	SHOWS(CORETEMP, 55);
	SHOWS(TOPDOWN, fake_fp64(37.5));
	SHOWS(PLAIN, 12);
	SHOWS(RAPL, 3000, 30, fake_fp64(115.5));
	SHOWS(SDE, fake_fp64(2.75), 10, 0x0f, (long long)18000000000000000000u);
	SHOWS(NET, 250);
	SHOWS(UNCORE, 164, 3000);
	SHOWS(STEAL, 50);
	read_all(v);
	SHOWS(TOPDOWN, fake_fp64(nan));	/* shows nothing */
	for (int s = SETS - 1; s >= 0; s--)
		must("PAPI_stop", PAPI_stop(set[s], v[s]));
	must("PAPI_read", PAPI_read(set[PLAIN], v[PLAIN]));	/* of a stopped set: nothing new */
	return 0;
}
