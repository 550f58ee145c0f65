/* papi-part.c: libpapi's version, linking and components, and a test count. All in a child
 * (sp_doctor_run_in_child): libpapi may be of any version, and crash. */
#include <errno.h>
#include <stdlib.h>

#include "../probe/kernel-events.h"
#include "../probe/libpapi.h"
#include "doctor.h"

/* Fixes for components that are off. */
static const struct {
	const char *name, *fix;
} fixes[] = {
	{ "perf_event", "see the kernel's limits below" },
	{ "perf_event_uncore", "uncore counters need perf_event_paranoid 0 or CAP_PERFMON, and a "
			       "physical machine" },
	{ "rapl", "run as root (it reads /dev/cpu/*/msr or the perf power PMU), or use component "
		  "powercap" },
	{ "powercap", "as root: chmod a+r /sys/class/powercap/*/energy_uj, on bare metal" },
	{ "cuda", "set PAPI_CUDA_ROOT; NVIDIA's driver may keep counters from users" },
	{ "nvml", "put the folder of NVIDIA's libnvidia-ml.so into LD_LIBRARY_PATH" },
	{ "rocm", "set PAPI_ROCM_ROOT" },
	{ "rocm_smi", "set PAPI_ROCM_ROOT, if there is such a device" },
	{ "sde", "link the program with libsde" },
	{ "coretemp", "load the sensors (modprobe coretemp), on bare metal" },
	{ "infiniband", "needs an InfiniBand device" },
};

/* Reported for "Error libpfm4 no default PMU found": PAPI then lacks even the kernel's software
 * events. */
static const char no_counters[] =
	"PAPI's libpfm4 does not support this CPU: install a newer PAPI to count software "
	"events; there are no hardware counters (see below)",
		  unknown_cpu[] =
			  "PAPI's libpfm4 does not support this CPU: install a newer PAPI, or "
			  "set LIBPFM_FORCE_PMU=NAME (spr, arm_n1 ...) to treat it as another, "
			  "without perf::PAGE-FAULTS";

/* Can libpapi's calls of its own functions be intercepted? Not if it was linked with
 * -Bsymbolic-functions. */
static bool calls_itself_openly(uintptr_t at, const char *name, bool in_plt, void *arg)
{
	(void)at;
	(void)arg;
	return in_plt && strcmp(name, "PAPI_add_event") == 0;
}

/* Does the kernel report CPU counters? If it forbids them it does not. */
static bool has_counters(void)
{
	int error = sp_kernel_try_counters();

	return error != -ENOENT && error != -EOPNOTSUPP;
}

static void report_off(struct sp_doctor *d, const struct sp_probe_component *c)
{
	enum sp_finding f = strcmp(c->name, "perf_event") == 0 ? SP_BLOCKING : SP_PLAIN;
	bool is_uncore = strcmp(c->name, "perf_event_uncore") == 0;

	sp_doctor_report(d, f, "component %.128s is off: %.1000s", c->name, c->off);
	if (f == SP_BLOCKING && strstr(c->off, "no default PMU")) {
		sp_doctor_fix(d, "%s", has_counters() ? unknown_cpu : no_counters);
		return;
	}
	for (unsigned i = 0; i < SP_COUNT(fixes); i++)
		if (strcmp(fixes[i].name, c->name) == 0)
			sp_doctor_fix(d, "%s", is_uncore && sp_doctor_is_privileged()
						       ? "uncore counters need a physical machine"
						       : fixes[i].fix);
}

static void perf_event(struct sp_doctor *d, const struct sp_probe_component *c)
{
	sp_doctor_report(d, SP_GOOD,
			 "component perf_event is on: %d counters, %d presets, %d native events",
			 c->counters, c->presets, c->natives);
	if (c->presets)
		return;
	sp_doctor_report(d, SP_WORTH,
			 "PAPI has no presets here: it refuses PAPI_TOT_INS and all others");
	if (!has_counters())
		sp_doctor_fix(d, "count software events; presets need hardware counters, which "
				 "are missing (see below)");
	else
		sp_doctor_fix(
			d, "PAPI has no table for this CPU: install a newer PAPI, use native "
			   "events (papi_native_avail), or define presets in PAPI_CSV_EVENT_FILE");
}

static void components(struct sp_doctor *d, const struct sp_probe_papi *p)
{
	struct sp_probe_component c;

	for (int i = 0; i < p->PAPI_num_components(); i++) {
		if (!sp_probe_component(p, i, &c))
			continue;
		if (c.waits)
			sp_doctor_report(d, SP_PLAIN,
					 "component %.128s waits until it is first used", c.name);
		else if (c.off)
			report_off(d, &c);
		else if (strcmp(c.name, "perf_event") == 0)
			perf_event(d, &c);
		else
			sp_doctor_report(d, SP_GOOD, "component %.128s is on: %d native events",
					 c.name, c.natives);
	}
}

/* Does a set of this one event start, count and stop? d: reports failures; NULL: silent. */
static bool counts(struct sp_doctor *d, const struct sp_probe_papi *p, const char *name)
{
	int set = PAPI_NULL, code = 0, r = p->PAPI_create_eventset(&set);
	const char *failed = "PAPI_create_eventset";
	long long value = 0;

	if (r == PAPI_OK) {
		failed = "PAPI_add_event";
		r = p->PAPI_event_name_to_code((char *)name, &code);
		r = r == PAPI_OK ? p->PAPI_add_event(set, code) : r;
	}
	if (r == PAPI_OK) {
		failed = "PAPI_start";
		r = p->PAPI_start(set);
	}
	for (unsigned i = 0; r == PAPI_OK && i < 64; i++)
		*(volatile char *)malloc(16384) = 1;	/* causes page faults and instructions */
	if (r == PAPI_OK) {
		failed = "PAPI_stop";
		r = p->PAPI_stop(set, &value);
	}
	if (!d)
		return r == PAPI_OK && value;
	if (r == PAPI_OK)
		sp_doctor_report(d, value ? SP_GOOD : SP_WORTH, "%s counts: %lld", name, value);
	else
		sp_doctor_report(d, SP_WORTH, "%s does not count: %s returns %s", name, failed,
				 p->PAPI_strerror(r));
	return r == PAPI_OK && value;
}

static void query(struct sp_doctor *d, void *arg)
{
	struct sp_probe_papi p = { 0 };
	const char *wrong = sp_probe_load(&p, d->papi);
	int r;

	(void)arg;
	if (wrong) {
		sp_doctor_report(d, SP_BLOCKING, "libpapi cannot be used: %s: %s", d->papi, wrong);
		sp_doctor_fix(d,
			      "install what libpapi needs, or put its folder into LD_LIBRARY_PATH");
		return;
	}
	r = sp_probe_init(&p, d->papi);
	if (r <= 0) {
		sp_doctor_report(d, SP_BLOCKING, "%s: PAPI_library_init fails: %s", d->papi,
				 p.version ? p.PAPI_strerror(r) : "unknown version");
		sp_doctor_fix(d, "run PAPI_VERBOSE=1 papi_component_avail");
		return;
	}
	sp_doctor_report(d, p.version < 0x05070000 || p.version >= 0x08000000 ? SP_WORTH : SP_GOOD,
			 "%s is PAPI %d.%d.%d.%d%s", d->papi, p.version >> 24,
			 p.version >> 16 & 255, p.version >> 8 & 255, p.version & 255,
			 p.version < 0x05070000 || p.version >= 0x08000000
				 ? ", which sspapi does not support (5.7 to 7.x)"
				 : "");
	if (!sp_probe_each(&p, calls_itself_openly)) {
		sp_doctor_report(d, SP_WORTH,
				 "this libpapi is linked with -Bsymbolic: readings inside "
				 "PAPI_hl_* and rate calls are not counted");
		sp_doctor_fix(d, "use PAPI_start, PAPI_read, PAPI_stop; or a libpapi that is "
				 "linked without -Bsymbolic");
	}
	components(d, &p);
	if (counts(counts(d, &p, "PAPI_TOT_INS") ? NULL : d, &p, "perf::PAGE-FAULTS"))
		sp_doctor_software(d);
}

void sp_doctor_papi(struct sp_doctor *d)
{
	if (d->program && d->program->papi_missing)
		return;			/* already reported; another libpapi would not help */
	sp_program_libpapi(d->papi);
	sp_doctor_head(d, "libpapi");
	if (*d->papi) {
		sp_doctor_run_in_child(d, d->papi, query, NULL);
		return;
	}
	sp_doctor_report(d, SP_BLOCKING, "the loader finds no libpapi");
	sp_doctor_fix(d, "install PAPI (Debian, Ubuntu: libpapi-dev), or put its folder into "
			 "LD_LIBRARY_PATH");
}
