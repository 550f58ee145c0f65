/* limits-part.c: what the library needs of the system beside counters. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../../store/live.h"
#include "doctor.h"

#define LEAST_MIB 64u			/* of /dev/shm: a store of many threads and CPUs */

/* What killed processes have left in memory, for ever if nobody takes it. */
struct left {
	unsigned n;
	uint64_t bytes;
};

static void left_behind(struct left *own, struct left *others)
{
	char host[65] = "", path[512];
	DIR *folder = opendir(SP_LIVE_FOLDER);
	struct dirent *e;
	struct stat s;

	gethostname(host, sizeof(host) - 1);
	while (folder && (e = readdir(folder)) != NULL) {
		snprintf(path, sizeof(path), SP_LIVE_FOLDER "/%s", e->d_name);
		if (sp_live_name_is_dead(path, host) && lstat(path, &s) == 0 && S_ISREG(s.st_mode)) {
			struct left *of = s.st_uid == geteuid() ? own : others;

			of->n++;
			of->bytes += (uint64_t)s.st_blocks * 512;
		}
	}
	if (folder)
		closedir(folder);
}

static void tell_left(struct sp_doctor *d, const struct left *l, const char *whose, const char *mend)
{
	if (!l->n)
		return;
	sp_doctor_say(d, SP_WORTH, "%u killed %s%s left counts in " SP_LIVE_FOLDER ", which hold %.1f MiB of memory", l->n,
		      l->n == 1 ? "process has" : "processes have", whose, (double)l->bytes / (1 << 20));
	sp_doctor_mend(d, "%s", mend);
}

static void shared_memory(struct sp_doctor *d)
{
	struct left own = { 0 }, others = { 0 };
	struct statvfs s;
	uint64_t mib;

	if (access(SP_LIVE_FOLDER, W_OK | X_OK) < 0 || statvfs(SP_LIVE_FOLDER, &s) < 0) {
		sp_doctor_say(d, SP_WORTH, SP_LIVE_FOLDER " cannot be used (%s): a process that is killed loses its counts", strerror(errno));
		sp_doctor_mend(d, "SSPAPI_LIVE=/a/folder (of a disk: its write-back adds page faults that PAPI counts)");
		return;
	}
	mib = (uint64_t)s.f_bavail * s.f_frsize >> 20;
	sp_doctor_say(d, mib < LEAST_MIB ? SP_WORTH : SP_GOOD, SP_LIVE_FOLDER " has room for live files (%llu MiB)", (unsigned long long)mib);
	if (mib < LEAST_MIB)
		sp_doctor_mend(d, "make it larger (a container's: docker run --shm-size=1g); or SSPAPI_LIVE=0: a killed process then loses its counts");
	left_behind(&own, &others);
	tell_left(d, &own, "", "sspapi recover; or, without their dumps: sspapi recover --discard");
	if (geteuid() == 0)
		tell_left(d, &others, " of other users", "they may do the same; or as root: sspapi recover --discard " SP_LIVE_FOLDER "/sspapi.*.live");
}

void sp_doctor_limits(struct sp_doctor *d)
{
	sp_doctor_head(d, "the system");
	shared_memory(d);
}
