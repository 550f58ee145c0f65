/* limits-part.c: resources that the library needs besides counters. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../../store/live.h"
#include "doctor.h"

#define LEAST_MIB 64u			/* in /dev/shm, for a store of many threads and CPUs */

/* Reports live files of this user's killed processes, which take memory until they are recovered
 * or discarded. */
static void report_leftovers(struct sp_doctor *d)
{
	char host[65] = "", path[512];
	DIR *dir = opendir(SP_LIVE_DIR);
	struct dirent *e;
	struct stat s;
	unsigned n = 0;
	uint64_t bytes = 0;

	gethostname(host, sizeof(host) - 1);
	while (dir && (e = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), SP_LIVE_DIR "/%s", e->d_name);
		if (sp_live_name_is_dead(path, host) && lstat(path, &s) == 0 &&
		    S_ISREG(s.st_mode) && s.st_uid == geteuid()) {
			n++;
			bytes += (uint64_t)s.st_blocks * 512;
		}
	}
	if (dir)
		closedir(dir);
	if (!n)
		return;
	sp_doctor_report(d, SP_WORTH,
			 "%u killed %s left counts in " SP_LIVE_DIR
			 ", which hold %.1f MiB of memory",
			 n, n == 1 ? "process has" : "processes have", (double)bytes / (1 << 20));
	sp_doctor_fix(d, "sspapi recover; or, without their dumps: sspapi recover --discard");
}

static void shared_memory(struct sp_doctor *d)
{
	struct statvfs s;
	uint64_t mib;

	if (access(SP_LIVE_DIR, W_OK | X_OK) < 0 || statvfs(SP_LIVE_DIR, &s) < 0) {
		sp_doctor_report(d, SP_WORTH,
				 SP_LIVE_DIR
				 " cannot be used (%s): a process that is killed loses its counts",
				 strerror(errno));
		sp_doctor_fix(d, "SSPAPI_LIVE=/a/folder (of a disk: its write-back adds page "
				 "faults that PAPI counts)");
		return;
	}
	mib = (uint64_t)s.f_bavail * s.f_frsize >> 20;
	sp_doctor_report(d, mib < LEAST_MIB ? SP_WORTH : SP_GOOD,
			 SP_LIVE_DIR " has room for live files (%llu MiB)",
			 (unsigned long long)mib);
	if (mib < LEAST_MIB)
		sp_doctor_fix(d, "make it larger (a container's: docker run --shm-size=1g); or "
				 "SSPAPI_LIVE=0: a killed process then loses its counts");
	report_leftovers(d);
}

void sp_doctor_limits(struct sp_doctor *d)
{
	sp_doctor_head(d, "the system");
	shared_memory(d);
}
