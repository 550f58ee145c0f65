/* run-root.c: follows the parents in /proc; see run-root.h. */
#include <limits.h>
#include <sys/ioctl.h>

#include "run-root.h"
#include "out.h"
#include "sys.h"

#define MOST_ANCESTORS 64

static void path_of(char path[64], int pid, int tid, const char *leaf)
{
	char process[24] = "self", task[32] = "";

	if (pid)
		sp_text_f(process, sizeof(process), "%d", pid);
	if (tid)
		sp_text_f(task, sizeof(task), "/task/%d", tid);
	sp_path_f(path, 64, "/proc/%s%s%s", process, task, leaf);
}

#define PROCESSOR 39u

/* Parse the fields of a stat line from the third to the processor, numbered as in proc(5); a letter
 * becomes 0. The second field, the name in parentheses, may contain anything: start after its last
 * parenthesis. */
static void find_fields(const char *after_name, uint64_t field[PROCESSOR + 1])
{
	const char *p = after_name;

	memset(field, 0, (PROCESSOR + 1) * sizeof(*field));
	for (unsigned n = 3; n <= PROCESSOR && *p == ' '; n++) {
		for (p++; *p >= '0' && *p <= '9'; p++)
			field[n] = field[n] * 10 + (uint64_t)(*p - '0');
		while (*p && *p != ' ')
			p++;
	}
}

bool sp_process_stat(int pid, int tid, struct sp_process_stat *s)
{
	char path[64], stat[1024];
	uint64_t field[PROCESSOR + 1];
	const char *p;

	path_of(path, pid, tid, "/stat");
	if (sp_read_file(path, stat, sizeof(stat)) <= 0 || !(p = strrchr(stat, ')')))
		return false;
	find_fields(p + 1, field);
	s->state = p[1] ? p[2] : 0;
	s->ppid = (int)field[4];
	s->flags = (unsigned)field[9];
	s->user = field[14];
	s->system = field[15];
	s->threads = (int)field[20];
	s->start_ticks = field[22];
	s->processor = (int)field[PROCESSOR];
	return true;
}

#define LIBRARY "libsspapi.so"

/* The argument of PROCMAP_QUERY, an ioctl on /proc/PID/maps since Linux 6.11 (struct procmap_query
 * of linux/fs.h). */
struct mapping_query {
	uint64_t size, flags, address;
	uint64_t start, end, protection, page_size, offset, inode;
	uint32_t major, minor, name_bytes, build_id_bytes;
	uint64_t name, build_id;
};
/* executable, file-backed, at the address or after it */
#define NEXT_CODE_OF_FILES	(0x04u | 0x10u | 0x20u)
#define QUERY			_IOWR('f', 17, struct mapping_query)

/* Query only executable mappings, of which a process has few: 10 us for a shell instead of 32 us to
 * read all lines. Returns whether one is the library; -errno if the kernel does not support the
 * query. */
static int find_by_query(int fd)
{
	/* initialised for valgrind, which does not see the kernel's write */
	char name[PATH_MAX + 64] = "";
	struct mapping_query q;
	long r;

	for (uint64_t at = 0;; at = q.end) {
		q = (struct mapping_query){ .size = sizeof(q),
					    .flags = NEXT_CODE_OF_FILES,
					    .address = at,
					    .name = (uintptr_t)name,
					    .name_bytes = sizeof(name) };
		r = sp_sys(SYS_ioctl, fd, QUERY, &q);
		if (r < 0)
			return at && r == -ENOENT ? 0 : (int)r;
		if (q.name_bytes && q.name_bytes <= sizeof(name) &&
		    memmem(name, q.name_bytes, LIBRARY, sizeof(LIBRARY) - 1))
			return 1;
		if (q.end <= at)
			return -EINVAL;
	}
}

/* Read the file, which may be long, in pieces that overlap by the length of the name. */
static bool find_by_reading(int fd)
{
	static const char name[] = LIBRARY;
	char piece[4096];
	size_t kept = 0;

	for (;;) {
		long n = sp_sys(SYS_read, fd, piece + kept, sizeof(piece) - kept);

		if (n <= 0)
			return false;
		kept += (size_t)n;
		if (memmem(piece, kept, name, sizeof(name) - 1))
			return true;
		if (kept >= sizeof(name)) {
			memmove(piece, piece + kept - sizeof(name), sizeof(name));
			kept = sizeof(name);
		}
	}
}

/* Returns whether the process has mapped libsspapi. */
static bool has_library(int pid)
{
	char path[64];
	int fd, found;

	path_of(path, pid, 0, "/maps");
	fd = sp_open(path, O_RDONLY, 0);
	if (fd < 0)
		return false;
	found = find_by_query(fd);
	if (found < 0)
		found = find_by_reading(fd);
	sp_close(fd);
	return found;
}

static uint64_t epoch_of(uint64_t ticks)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

	return sp_now_ns() - sp_boot_ns() + ticks * (1000000000u / (hz ? hz : 100));
}

#define PID_BITS 22			/* bits of PID_MAX_LIMIT in the kernel */

struct sp_run sp_run_find(uint64_t own_ns)
{
	struct sp_run run = { .start_ns = own_ns, .pid = (int)sp_sys(SYS_getpid) };
	struct sp_process_stat s;

	if (!sp_process_stat(0, 0, &s))
		return run;
	/* Use the start of the process, not of this program: a program that it ran before exec may
	 * have had children, whose files belong to the run. */
	run.start_ns = epoch_of(s.start_ticks);
	run.id = s.start_ticks << PID_BITS | (uint64_t)run.pid;
	for (int i = 0, pid = s.ppid; i < MOST_ANCESTORS && pid > 0; i++, pid = s.ppid) {
		if (!sp_process_stat(pid, 0, &s))
			break;
		if (!has_library(pid))
			continue;
		run.start_ns = sp_min(run.start_ns, epoch_of(s.start_ticks));
		run.pid = pid;
		run.id = s.start_ticks << PID_BITS | (uint64_t)pid;
	}
	return run;
}
