/* pmus.c: see pmus.h. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "../../core/cpu-list.h"
#include "../../core/sys.h"
#include "pmus.h"

#define MOST	8u			/* kinds of cores; more are not told apart */
#define GENERAL	"cpu_core"		/* Intel's: general events are its */

static struct {
	uint32_t type;
	char cpus[1024];		/* as "0-15" */
} pmu[MOST];
static uint32_t n_pmus, general;	/* general: a type; 0: not known */

static long read_in(const char *folder, const char *name, const char *file, char *to, size_t n)
{
	char path[512];
	struct sp_out o;

	sp_out_init(&o, -1, path, sizeof(path) - 1);
	sp_out_text(&o, folder);
	sp_out_char(&o, '/');
	sp_out_text(&o, name);
	sp_out_char(&o, '/');
	sp_out_text(&o, file);
	if (o.error)
		return -1;
	path[o.used] = 0;
	return sp_read_file(path, to, n);
}

/* Of PMUs that are not a core's (software, memory controllers) there is no list of CPUs. */
static void look_at(const char *folder, const char *name)
{
	char text[32];
	uint64_t type, same;

	if (n_pmus == MOST || read_in(folder, name, "cpus", pmu[n_pmus].cpus, sizeof(pmu[0].cpus) - 1) <= 0 ||
	    read_in(folder, name, "type", text, sizeof(text) - 1) <= 0 || !sp_cpu_range(text, &type, &same))
		return;
	pmu[n_pmus].type = (uint32_t)type;
	if (strcmp(name, GENERAL) == 0)
		general = (uint32_t)type;
	n_pmus++;
}

void sp_pmus_look(const char *folder)
{
	union {
		struct dirent64 one;
		char bytes[2048];
	} list;
	int fd = (int)sp_sys(SYS_openat, AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;

	n_pmus = general = 0;
	while (fd >= 0 && (n = sp_sys(SYS_getdents64, fd, &list, sizeof(list))) > 0)
		for (long at = 0; at < n;) {
			const struct dirent64 *d = (const struct dirent64 *)(list.bytes + at);

			if (d->d_name[0] != '.')
				look_at(folder, d->d_name);
			at += d->d_reclen;
		}
	if (fd >= 0)
		sp_close(fd);
}

static bool is_general(const struct perf_event_attr *a)
{
	return (a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE) && !(a->config >> 32);
}

bool sp_pmu_choose(struct perf_event_attr *a)
{
	if (n_pmus < 2 || !is_general(a))
		return true;
	a->config |= (uint64_t)general << 32;
	return general != 0;
}

static uint32_t type_of(const struct perf_event_attr *a)
{
	if (a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE)
		return a->config >> 32 ? (uint32_t)(a->config >> 32) : general;
	return a->type;
}

bool sp_pmu_is_on(const struct perf_event_attr *a, int cpu)
{
	for (uint32_t i = 0; n_pmus > 1 && i < n_pmus; i++)
		if (pmu[i].type == type_of(a))
			return sp_cpu_in_list(pmu[i].cpus, (uint64_t)cpu);
	return true;
}
