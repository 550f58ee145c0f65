/* live.c: see live.h. */
#include <string.h>

#include "../base/run-root.h"
#include "live.h"
#include "../base/out.h"
#include "../base/safe-open.h"
#include "../base/sys.h"

#define PREFIX "sspapi."
#define SUFFIX ".live"

/* Makes the new file: 0 or -errno. */
static int make(const char *path)
{
	struct sp_parent_dir p;
	int r = sp_parent_dir_open(&p, path, SP_PARENT_DIR_EXISTING), fd;

	if (r < 0)
		return r;
	fd = (int)sp_sys_whole(SYS_openat, p.fd, p.name,
			       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	sp_parent_dir_close(&p);
	sp_close(fd);
	return fd < 0 ? fd : 0;
}

int sp_live_make(char *path, size_t room, const char *dir, const char *host, int pid,
		 uint64_t start_ticks)
{
	const char *in = strcmp(dir, "1") == 0 ? SP_LIVE_DIR : dir;
	int r = -EEXIST;

	/* After exec the new program has the same pid and start time, and the old file may be
	 * kept for recover: .2, .3 ... */
	for (unsigned i = 1; i < 100 && r == -EEXIST; i++) {
		char number[16] = "";

		if (i > 1)
			sp_path_f(number, sizeof(number), ".%u", i);
		if (!sp_path_f(path, room, "%s/" PREFIX "%u.%s.%d.%lu%s" SUFFIX, in,
			       (unsigned)sp_sys(SYS_geteuid), host, pid, start_ticks, number))
			return -ENAMETOOLONG;
		r = make(path);
	}
	return r;
}

bool sp_is_live_file(const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t n = strlen(base), s = sizeof(SUFFIX) - 1;

	return n > s && strncmp(base, PREFIX, sizeof(PREFIX) - 1) == 0 &&
	       strcmp(base + n - s, SUFFIX) == 0;
}

static uint64_t number(const char **p)
{
	uint64_t n = 0;

	for (; **p >= '0' && **p <= '9'; (*p)++)
		n = n * 10 + (uint64_t)(**p - '0');
	return n;
}

bool sp_is_live_file_of(const char *path, unsigned uid)
{
	const char *p = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	if (!sp_is_live_file(path))
		return false;
	p += sizeof(PREFIX) - 1;
	return *p >= '0' && *p <= '9' && number(&p) == uid && *p == '.';
}

bool sp_live_name_is_dead(const char *path, const char *host)
{
	const char *p = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct sp_process_stat s;
	uint64_t pid, start;

	if (!sp_is_live_file(path))
		return false;
	p += sizeof(PREFIX) - 1;
	number(&p);			/* user */
	if (*p++ != '.' || strncmp(p, host, strlen(host)) != 0 || p[strlen(host)] != '.')
		return false;
	p += strlen(host) + 1;
	pid = number(&p);
	if (*p++ != '.' || !pid || pid > INT32_MAX)
		return false;
	start = number(&p);
	return !sp_process_stat((int)pid, 0, &s) || s.start_ticks != start ||
	       sp_process_is_over(&s);
}

bool sp_live_may_run(const struct sp_header *h, bool this_host)
{
	struct sp_process_stat p;
	char boot[40] = "";
	struct stat ns;

	if (h->end != SP_END_NONE && h->end != SP_END_SNAPSHOT)
		return false;		/* the writer marked it as finished; after exec the pid
					 * lives on */
	if (!this_host)
		return true;
	if (sp_read_file("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)) > 0)
		boot[strcspn(boot, "\n")] = 0;
	if (strncmp(boot, h->process.boot_id, sizeof(boot)) != 0)
		return false;
	if (sp_sys(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &ns, 0) == 0 &&
	    ns.st_ino != h->process.pid_ns)
		return true;
	return sp_process_stat((int)h->process.pid, 0, &p) &&
	       p.start_ticks == h->process.start_ticks && !sp_process_is_over(&p);
}
