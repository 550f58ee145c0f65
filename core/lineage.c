/* lineage.c: /proc, upwards; see lineage.h. */
#include <string.h>
#include <time.h>

#include "lineage.h"
#include "out.h"
#include "sys.h"

#define MOST_ANCESTORS 64
#define FRESH_NS 20000000u

static void path_of(char path[64], int pid, int tid, const char *leaf)
{
	struct sp_out o;

	sp_out_init(&o, -1, path, 63);
	sp_out_text(&o, "/proc/");
	if (pid)
		sp_out_u64(&o, (uint64_t)pid);
	else
		sp_out_text(&o, "self");
	if (tid) {
		sp_out_text(&o, "/task/");
		sp_out_u64(&o, (uint64_t)tid);
	}
	sp_out_text(&o, leaf);
	path[o.used] = 0;
}

/* Field n of a stat line, counted from 1 as proc(5) does; the second, the name in
 * parentheses, may hold anything, so counting starts behind the last one. */
static uint64_t field(const char *stat, unsigned n)
{
	const char *p = strrchr(stat, ')');
	uint64_t v = 0;

	for (unsigned at = 2; p && at < n; at++) {
		p = strchr(p + 1, ' ');
		if (!p)
			return 0;
	}
	for (p = p ? p + 1 : ""; *p >= '0' && *p <= '9'; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	return v;
}

bool sp_process_stat(int pid, int tid, struct sp_process_stat *s)
{
	char path[64], stat[1024];

	path_of(path, pid, tid, "/stat");
	if (sp_read_file(path, stat, sizeof(stat)) <= 0)
		return false;
	s->ppid = (int)field(stat, 4);
	s->start_ticks = field(stat, 22);
	s->processor = (int)field(stat, 39);
	return true;
}

/* Is libsspapi among what the process has mapped?  The file may be long: it is
 * read in pieces that overlap by the name's length. */
static bool has_library(int pid)
{
	static const char name[] = "libsspapi.so";
	char path[64], piece[2048];
	size_t kept = 0;
	bool found = false;
	int fd;

	path_of(path, pid, 0, "/maps");
	fd = sp_open(path, O_RDONLY, 0);
	while (fd >= 0 && !found) {
		long n = sp_sys(SYS_read, fd, piece + kept, sizeof(piece) - kept);

		if (n <= 0)
			break;
		kept += (size_t)n;
		found = memmem(piece, kept, name, sizeof(name) - 1) != NULL;
		if (kept >= sizeof(name)) {
			memmove(piece, piece + kept - sizeof(name), sizeof(name));
			kept = sizeof(name);
		}
	}
	sp_close(fd);
	return found;
}

static uint64_t epoch_of(uint64_t ticks)
{
	struct timespec up = { 0 };
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

	clock_gettime(CLOCK_BOOTTIME, &up);
	return sp_now_ns() - ((uint64_t)up.tv_sec * 1000000000u + (uint64_t)up.tv_nsec) +
	       ticks * (1000000000u / (hz ? hz : 100));
}

uint64_t sp_run_start_ns(uint64_t own_ns)
{
	struct sp_process_stat s;
	uint64_t start = own_ns;

	if (!sp_process_stat(0, 0, &s))
		return own_ns;
	/* The kernel tells a process's start to 10 ms only, while own_ns is exact, but
	 * later: by the loader's time, or by a whole program that exec has ended. */
	if (own_ns > epoch_of(s.start_ticks) + FRESH_NS)
		start = epoch_of(s.start_ticks);
	for (int i = 0, pid = s.ppid; i < MOST_ANCESTORS && pid > 0; i++, pid = s.ppid) {
		if (!sp_process_stat(pid, 0, &s))
			break;
		if (has_library(pid))
			start = sp_min(start, epoch_of(s.start_ticks));
	}
	return start;
}
