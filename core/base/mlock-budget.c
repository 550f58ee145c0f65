/* mlock-budget.c: computes how many pages of locked memory sspapi may use; see mlock-budget.h. */
#include <sys/resource.h>

#include "conf.h"
#include "mlock-budget.h"
#include "sys.h"

#define SHARE	8u

/* perf_event_mlock_kb, in kB per CPU; 0: unknown. */
static uint64_t each_cpu(void)
{
	char text[32];
	uint64_t kb = 0;

	if (sp_read_file("/proc/sys/kernel/perf_event_mlock_kb", text, sizeof(text)) > 0)
		for (const char *p = text; *p >= '0' && *p <= '9' && kb < 1u << 30; p++)
			kb = kb * 10 + (uint64_t)(*p - '0');
	return kb;
}

uint32_t sp_mlock_budget_share(void)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), ranks = (uint64_t)sp_conf_local_ranks(),
		 bytes;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct rlimit r = { 0 };

	if (cpus < 1 || sp_sys(SYS_prlimit64, 0, RLIMIT_MEMLOCK, NULL, &r) < 0)
		return 0;
	/* a rank whose launcher does not report the number: assume one rank per CPU */
	if (!ranks)
		ranks = (uint64_t)cpus;
	bytes = sp_min(each_cpu() * 1024 * (uint64_t)cpus, (uint64_t)r.rlim_cur);
	return (uint32_t)sp_min(bytes / SHARE / ranks / page, UINT32_MAX);
}
