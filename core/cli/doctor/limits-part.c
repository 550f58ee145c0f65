/* limits-part.c: what the library needs of the system beside counters. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../files/live-files.h"
#include "doctor.h"

#define LEAST_MIB 64u			/* in /dev/shm, for a store of many threads and CPUs */

struct left_behind {
	unsigned n;
	uint64_t bytes;
};

static void add(void *left_behind, const char *path, struct sp_file *f, int error)
{
	struct left_behind *l = left_behind;
	struct stat s;

	(void)f, (void)error;
	if (lstat(path, &s) == 0) {
		l->n++;
		l->bytes += (uint64_t)s.st_blocks * 512;
	}
}

/* Report live files of this user's killed processes, which use memory until they are recovered or
 * discarded. */
static void report_left_behind(struct sp_doctor *d)
{
	struct left_behind l = { 0 };

	if (sp_live_files(add, &l) < 0 || !l.n)
		return;
	sp_doctor_report(d, SP_WORTH,
			 "%u killed %s left live files in " SP_LIVE_DIR
			 ", which use %.1f MiB of memory",
			 l.n, l.n == 1 ? "process has" : "processes have",
			 (double)l.bytes / (1 << 20));
	sp_doctor_fix(d, "list them with sspapi recover --list; write their dumps with sspapi "
			 "recover --all, or remove them with --discard");
}

static void shared_memory(struct sp_doctor *d)
{
	struct statvfs s;
	uint64_t mib;

	if (access(SP_LIVE_DIR, W_OK | X_OK) < 0 || statvfs(SP_LIVE_DIR, &s) < 0) {
		sp_doctor_report(d, SP_WORTH,
				 SP_LIVE_DIR
				 " cannot be used (%s): a killed process loses its counts",
				 strerror(errno));
		sp_doctor_fix(d, "set SSPAPI_LIVE=/a/folder (on a disk, write-back adds page "
				 "faults to the counts)");
		return;
	}
	mib = (uint64_t)s.f_bavail * s.f_frsize >> 20;
	sp_doctor_report(d, mib < LEAST_MIB ? SP_WORTH : SP_GOOD,
			 SP_LIVE_DIR " has room for live files (%llu MiB)",
			 (unsigned long long)mib);
	if (mib < LEAST_MIB)
		sp_doctor_fix(d, "make it larger (docker or podman run --shm-size=1g), or set "
				 "SSPAPI_LIVE=0 (a killed process then loses its counts)");
	report_left_behind(d);
}

void sp_doctor_limits(struct sp_doctor *d)
{
	sp_doctor_head(d, "the system");
	shared_memory(d);
}
