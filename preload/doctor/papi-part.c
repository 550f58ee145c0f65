/* papi-part.c: libpapi as it answers here: version, linking, components, a count.
 *
 * All of it in a child (sp_doctor_apart): libpapi may be of any version, and crash.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/base.h"
#include "doctor.h"
#include "papi-part.h"

/* Where papi.h of each generation has what is asked for (papi-facts.md, section 8). */
struct layout {
	int below;			/* versions below this one */
	unsigned disabled, reason_bytes, counters;	/* presets stand 8 bytes behind counters, natives 12 */
};

static const struct layout layouts[] = {
	{ 0x07000000, 640, 128, 648 }, { 0x07020000, 1536, 1024, 1548 }, { 0x7fffffff, 1536, 1024, 2576 },
};

#define REASON 512u			/* in all of them */
#define DELAYED -26			/* PAPI_EDELAY_INIT, from 7.0 on */

/* What to do for a component that is off, where something can be done. */
static const struct {
	const char *name, *mend;
} mends[] = {
	{ "perf_event", "see below what the kernel allows" },
	{ "perf_event_uncore", "uncore counters need perf_event_paranoid 0 or CAP_PERFMON, and a machine that is no VM" },
	{ "rapl", "reads /dev/cpu/*/msr or the perf power PMU: root, or the component powercap" },
	{ "powercap", "as root: chmod a+r /sys/class/powercap/*/energy_uj, on bare metal" },
	{ "cuda", "set PAPI_CUDA_ROOT; NVIDIA's driver may keep counters from users" },
	{ "nvml", "NVIDIA's libnvidia-ml.so must be found: LD_LIBRARY_PATH" },
	{ "rocm", "set PAPI_ROCM_ROOT" },
	{ "rocm_smi", "set PAPI_ROCM_ROOT, if there is such a device" },
	{ "sde", "on in programs that link libsde" },
	{ "coretemp", "needs sensors: modprobe coretemp, on bare metal" },
	{ "infiniband", "needs an InfiniBand device" },
};

/* "Error libpfm4 no default PMU found": PAPI then has not even the kernel's software events. */
static const char unknown_cpu[] =
	"PAPI's libpfm4 does not know this CPU: a newer PAPI; or LIBPFM_FORCE_PMU=NAME (spr, arm_n1 ...), which takes it for another: "
	"only that one's events are there, no perf::PAGE-FAULTS, and they count what their codes mean here";

static int number(const char *info, unsigned at)
{
	int n;

	memcpy(&n, info + at, sizeof(n));
	return n;
}

/* ---- finding and loading ---------------------------------------------------------- */

void sp_asked_find(char path[PATH_MAX])
{
	static const char *const names[] = { "libpapi.so", "libpapi.so.7.3", "libpapi.so.7.2", "libpapi.so.7.1", "libpapi.so.7.0",
					     "libpapi.so.6.0", "libpapi.so.5" };
	const char *how;

	for (unsigned i = 0; !*path && i < SP_COUNT(names); i++)
		if (!sp_program_library(names[i], path, &how))
			*path = 0;
}

const char *sp_asked_load(struct sp_asked_papi *p, const char *path)
{
	p->library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!p->library)
		return dlerror();
#define X(name) p->name = (__typeof__(p->name))dlsym(p->library, #name);
	SP_ASKED_CALLS(X)
#undef X
#define X(name) && p->name
	return true SP_ASKED_CALLS(X) ? NULL : "it has not the functions of a libpapi";
#undef X
}

/* Asked for before it is initialised (from 7.0 on); before, the file's name has it: libpapi.so.6.0.0.1 */
static int version_of(const struct sp_asked_papi *p, const char *path)
{
	int version = p->PAPI_get_opt(PAPI_LIB_VERSION, NULL);
	char real[PATH_MAX];
	unsigned major = 0, minor = 0;
	const char *tail = realpath(path, real) ? strstr(real, ".so.") : NULL;

	if (version > 0)
		return version;
	if (!tail || sscanf(tail, ".so.%u.%u", &major, &minor) < 1)
		return 0;
	if (major == 5 && !minor)
		minor = 7;		/* the last of them */
	return (int)(major << 24 | minor << 16);
}

int sp_asked_init(struct sp_asked_papi *p, const char *path)
{
	int r;

	p->version = version_of(p, path);
	r = p->version ? p->PAPI_library_init(p->version & (int)0xffff0000) : 0;
	p->version = r > p->version ? r : p->version;
	return r;
}

bool sp_asked_each(const struct sp_asked_papi *p, bool (*fn)(uintptr_t at, const char *name, bool in_plt))
{
	const ElfW(Rela) *rela[2] = { NULL };	/* of the PLT; others */
	size_t bytes[2] = { 0 };
	const ElfW(Sym) *symbols = NULL;
	const char *strings = NULL;
	struct link_map *map = NULL;

	if (dlinfo(p->library, RTLD_DI_LINKMAP, &map) < 0)
		return true;
	for (const ElfW(Dyn) *y = map->l_ld; y->d_tag != DT_NULL; y++) {
		const void *at = (const void *)y->d_un.d_ptr;

		switch (y->d_tag) {
		case DT_SYMTAB: symbols = at; break;
		case DT_STRTAB: strings = at; break;
		case DT_JMPREL: rela[0] = at; break;
		case DT_RELA: rela[1] = at; break;
		case DT_PLTRELSZ: bytes[0] = y->d_un.d_val; break;
		case DT_RELASZ: bytes[1] = y->d_un.d_val; break;
		}
	}
	for (unsigned t = 0; symbols && strings && t < 2; t++)
		for (size_t i = 0; rela[t] && i < bytes[t] / sizeof(*rela[t]); i++)
			if (fn(map->l_addr + rela[t][i].r_offset, strings + symbols[ELF64_R_SYM(rela[t][i].r_info)].st_name, t == 0))
				return true;
	return false;
}

/* Does libpapi call its own functions where they can be seen? (papi-facts.md, item 5) */
static bool calls_itself_openly(uintptr_t at, const char *name, bool in_plt)
{
	(void)at;
	return in_plt && strcmp(name, "PAPI_add_event") == 0;
}

/* ---- what it says -------------------------------------------------------------------- */

static const struct layout *layout_of(const struct sp_asked_papi *p)
{
	const struct layout *l = layouts;

	while (p->version >= l->below)
		l++;
	return l;
}

const char *sp_asked_off(const struct sp_asked_papi *p, int component, const char **name)
{
	const char *info = (const char *)p->PAPI_get_component_info(component);
	int off = info ? number(info, layout_of(p)->disabled) : 0;

	*name = info;
	if (!info)
		return NULL;
	if (!off || off == DELAYED)
		return "";
	return *(info + REASON) ? info + REASON : "it does not say why";
}

static void say_off(struct sp_doctor *d, const char *info)
{
	enum sp_finding f = strcmp(info, "perf_event") == 0 ? SP_IN_THE_WAY : SP_PLAIN;

	sp_doctor_say(d, f, "component %.128s is off: %.1000s", info, *(info + REASON) ? info + REASON : "it does not say why");
	if (f == SP_IN_THE_WAY && strstr(info + REASON, "no default PMU")) {
		sp_doctor_mend(d, "%s", unknown_cpu);
		return;
	}
	for (unsigned i = 0; i < SP_COUNT(mends); i++)
		if (strcmp(mends[i].name, info) == 0)
			sp_doctor_mend(d, "%s", mends[i].mend);
}

static void say_forced(struct sp_doctor *d)
{
	const char *forced = getenv("LIBPFM_FORCE_PMU");

	if (forced)
		sp_doctor_say(d, SP_WORTH, "LIBPFM_FORCE_PMU=%.64s: this CPU is taken for that one, and only its events are there", forced);
}

static void components(struct sp_doctor *d, const struct sp_asked_papi *p)
{
	const struct layout *l = layout_of(p);

	for (int i = 0; i < p->PAPI_num_components(); i++) {
		const char *info = (const char *)p->PAPI_get_component_info(i);
		int presets;

		if (!info)
			continue;
		if (number(info, l->disabled) == DELAYED) {
			sp_doctor_say(d, SP_PLAIN, "component %.128s waits until it is first used", info);
			continue;
		}
		if (number(info, l->disabled)) {
			say_off(d, info);
			continue;
		}
		presets = number(info, l->counters + 8);
		if (strcmp(info, "perf_event") != 0) {
			sp_doctor_say(d, SP_GOOD, "component %.128s is on: %d native events", info, number(info, l->counters + 12));
			continue;
		}
		sp_doctor_say(d, SP_GOOD, "component perf_event is on: %d counters, %d presets, %d native events",
			      number(info, l->counters), presets, number(info, l->counters + 12));
		say_forced(d);
		if (presets)
			continue;
		sp_doctor_say(d, SP_WORTH, "PAPI has no presets here: PAPI_TOT_INS and its like are refused");
		if (sp_doctor_counters() == -ENOENT || sp_doctor_counters() == -EOPNOTSUPP)
			sp_doctor_mend(d, "there are no hardware counters that they could be made of (see below), whatever PAPI knows");
		else
			sp_doctor_mend(d, "there are hardware counters: PAPI has no table for this CPU; a newer PAPI, native events "
					  "(papi_native_avail), or PAPI_CSV_EVENT_FILE with presets of one's own");
	}
}

/* Does a set of this one event start, count and stop? */
static bool counts(struct sp_doctor *d, const struct sp_asked_papi *p, const char *name)
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
		*(volatile char *)malloc(16384) = 1;	/* some page faults, some instructions */
	if (r == PAPI_OK) {
		failed = "PAPI_stop";
		r = p->PAPI_stop(set, &value);
	}
	if (r == PAPI_OK)
		sp_doctor_say(d, value ? SP_GOOD : SP_WORTH, "%s counts: %lld", name, value);
	else
		sp_doctor_say(d, SP_WORTH, "%s does not count: %s gives %s", name, failed, p->PAPI_strerror(r));
	return r == PAPI_OK && value;
}

static void ask(struct sp_doctor *d, void *arg)
{
	struct sp_asked_papi p = { 0 };
	const char *wrong = sp_asked_load(&p, d->papi);
	int r;

	(void)arg;
	if (wrong) {
		sp_doctor_say(d, SP_IN_THE_WAY, "libpapi cannot be used: %s: %s", d->papi, wrong);
		sp_doctor_mend(d, "install what it needs, or put it into LD_LIBRARY_PATH");
		return;
	}
	r = sp_asked_init(&p, d->papi);
	if (r <= 0) {
		sp_doctor_say(d, SP_IN_THE_WAY, "%s: PAPI_library_init fails: %s", d->papi,
			      p.version ? p.PAPI_strerror(r) : "its version cannot be told");
		sp_doctor_mend(d, "papi_component_avail may say more; PAPI_VERBOSE=1 in its environment");
		return;
	}
	sp_doctor_say(d, p.version < 0x05070000 || p.version >= 0x08000000 ? SP_WORTH : SP_GOOD, "%s is PAPI %d.%d.%d.%d%s", d->papi,
		      p.version >> 24, p.version >> 16 & 255, p.version >> 8 & 255, p.version & 255,
		      p.version < 0x05070000 || p.version >= 0x08000000 ? ", which sspapi was not made for (5.7 to 7.x)" : "");
	if (!sp_asked_each(&p, calls_itself_openly)) {
		sp_doctor_say(d, SP_WORTH, "it is linked with -Bsymbolic: readings inside of PAPI_hl_* and rates are not seen");
		sp_doctor_mend(d, "use PAPI_start, PAPI_read, PAPI_stop; or a libpapi that is linked without it");
	}
	components(d, &p);
	if (!counts(d, &p, "PAPI_TOT_INS"))
		counts(d, &p, "perf::PAGE-FAULTS");
}

void sp_doctor_papi(struct sp_doctor *d)
{
	if (d->program && d->program->papi_missing)
		return;			/* said already, and no other one will do */
	sp_asked_find(d->papi);
	sp_doctor_head(d, "libpapi");
	if (*d->papi) {
		sp_doctor_apart(d, d->papi, ask, NULL);
		return;
	}
	sp_doctor_say(d, SP_IN_THE_WAY, "the loader finds no libpapi");
	sp_doctor_mend(d, "install PAPI (Debian, Ubuntu: libpapi-dev), or put its folder into LD_LIBRARY_PATH");
}
