/*
 * lendpmu: a test preload that lends PAPI a processor; linked into the demo, too, which
 * is to run on every machine.
 *
 * PAPI turns its perf_event component off, software events and all, where
 * libpfm4 does not know the CPU ("no default PMU found"). libpapi asks
 * pfm_get_pmu_info() through its PLT which PMUs there are; this one says
 * that one more of this architecture's is present, too. No event of it is ever
 * opened: it only keeps the component alive, so that perf::PAGE-FAULTS and the
 * like count.
 *
 * Where libpfm4 knows the CPU nothing is changed.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define PMUS 1024 /* more than libpfm has; it refuses the rest */
#define PFM_SUCCESS 0
#define PFM_ERR_NOTSUPP (-1)
#define PFM_TYPE_CORE 1
#define UNDECIDED (-1)
#define NOBODY (-2)

/* pfm_pmu_info_t, fixed by libpfm's PFM_PMU_INFO_ABI0: libpfm4-dev is not needed */
struct pmu_info {
	const char *name, *desc;
	size_t size;
	int pmu, type, nevents, first_event;
	int max_encoding, num_cntrs, num_fixed_cntrs;
	unsigned is_present : 1, is_dfl : 1, reserved : 30;
};
#ifdef __LP64__
_Static_assert(sizeof(struct pmu_info) == 56, "not libpfm's layout");
#endif

typedef int get_pmu_info(int pmu, struct pmu_info *out);

int pfm_get_pmu_info(int pmu, struct pmu_info *out);

/*
 * The one that libpapi would have called: its own, if libpfm is linked into it. With
 * libpapi loaded RTLD_LOCAL, RTLD_NEXT does not see it: then the system's, by name.
 * Kept for good: libpapi may be closed and opened again.
 */
static get_pmu_info *real_one(void)
{
	static get_pmu_info *real;
	Dl_info where;

	if (real)
		return real;
	real = (get_pmu_info *)dlsym(RTLD_NEXT, "pfm_get_pmu_info");
	if (real && dladdr((void *)real, &where)) {
		dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	} else {
		void *pfm = dlopen("libpfm.so.4", RTLD_LAZY | RTLD_LOCAL);

		real = pfm ? (get_pmu_info *)dlsym(pfm, "pfm_get_pmu_info") : NULL;
	}
	return real;
}

static int knows_this_cpu(get_pmu_info *real)
{
	for (int i = 0; i < PMUS; i++) {
		struct pmu_info info = {.size = sizeof(info)};

		if (real(i, &info) == PFM_SUCCESS && info.is_present &&
		    info.type == PFM_TYPE_CORE && strcmp(info.name, "ix86arch"))
			return 1;
	}
	return 0;
}

/* Ice Lake's; the libpfm4 of PAPI 6 and before has none as PAPI wants it.  On aarch64
 * Cortex-A53's (N1's where that is disabled). */
static int which_to_lend(get_pmu_info *real)
{
	static const char *const fit[] = {"icl", "skl", "arm_ac53", "arm_n1"};

	if (knows_this_cpu(real))
		return NOBODY;
	for (unsigned f = 0; f < sizeof(fit) / sizeof(fit[0]); f++)
		for (int i = 0; i < PMUS; i++) {
			struct pmu_info info = {.size = sizeof(info)};

			if (real(i, &info) == PFM_SUCCESS && info.name &&
			    !strcmp(info.name, fit[f]))
				return i;
		}
	return NOBODY;
}

int pfm_get_pmu_info(int pmu, struct pmu_info *out)
{
	static int lent = UNDECIDED;
	get_pmu_info *real = real_one();
	int ret;

	if (!real)
		return PFM_ERR_NOTSUPP;
	if (lent == UNDECIDED)
		lent = which_to_lend(real);
	ret = real(pmu, out);
	if (ret == PFM_SUCCESS && pmu == lent)
		out->is_present = 1;
	return ret;
}
