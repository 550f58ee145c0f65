/* pmus.c: reads the CPU list of each PMU; see pmus.h. */
#include <dirent.h>

#include "cpu-list.h"
#include "pmus.h"
#include "sys.h"

static long read_in(const char *dir, const char *name, const char *file, char *to, size_t n)
{
	char path[512];
	long got = sp_path_f(path, sizeof(path), "%s/%s/%s", dir, name, file)
			   ? sp_read_file(path, to, n)
			   : -1;

	if (got > 0)
		to[strcspn(to, "\n")] = 0;
	return got;
}

static bool read_pmu(const char *dir, const char *name, struct sp_core_pmu *p)
{
	uint64_t type, same;
	char text[32];

	if (strlen(name) >= sizeof(p->name) ||
	    read_in(dir, name, "cpus", p->cpus, sizeof(p->cpus)) <= 0 ||
	    read_in(dir, name, "type", text, sizeof(text)) <= 0 ||
	    !sp_cpu_range(text, &type, &same))
		return false;
	strcpy(p->name, name);
	p->type = (uint32_t)type;
	return true;
}

int sp_core_pmus(const char *dir, struct sp_core_pmu pmu[SP_PMUS_MOST])
{
	union {
		struct dirent64 one;
		char bytes[2048];
	} list;
	int fd = (int)sp_sys(SYS_openat, AT_FDCWD, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int n = 0;
	long got;

	if (fd < 0)
		return fd;
	while ((got = sp_sys(SYS_getdents64, fd, &list, sizeof(list))) > 0)
		for (long at = 0; at < got;) {
			const struct dirent64 *d = (const struct dirent64 *)(list.bytes + at);

			if (d->d_name[0] != '.' && n < (int)SP_PMUS_MOST)
				n += read_pmu(dir, d->d_name, &pmu[n]);
			at += d->d_reclen;
		}
	sp_close(fd);
	return n;
}
