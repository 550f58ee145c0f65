/* limits-part.c: what the library needs of the system beside counters. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#include "../../core/store/live.h"
#include "doctor.h"

#define LEAST_MIB 64u			/* of /dev/shm: a store of many threads and CPUs */

static void rseq(struct sp_doctor *d)
{
#ifdef RSEQ_SIG
	if (__rseq_size) {
		sp_doctor_say(d, SP_GOOD, "restartable sequences (rseq) are there: counts can be proven on their CPU");
		return;
	}
	sp_doctor_say(d, SP_WORTH, "no restartable sequences (rseq): no count can be proven on its CPU");
	sp_doctor_mend(d, "a kernel of 4.18 or later; and no glibc.pthread.rseq=0 in GLIBC_TUNABLES");
#else
	sp_doctor_say(d, SP_WORTH, "sspapi was built with a libc before glibc 2.35: no count can be proven on its CPU");
#endif
}

/* How many files killed processes of this user have left. */
static unsigned left_behind(void)
{
	char host[65] = "", path[512];
	DIR *folder = opendir(SP_LIVE_FOLDER);
	unsigned n = 0;
	struct dirent *e;

	gethostname(host, sizeof(host) - 1);
	while (folder && (e = readdir(folder)) != NULL) {
		snprintf(path, sizeof(path), SP_LIVE_FOLDER "/%s", e->d_name);
		n += sp_live_is(path) && access(path, R_OK | W_OK) == 0 && sp_live_name_is_dead(path, host);
	}
	if (folder)
		closedir(folder);
	return n;
}

static void shared_memory(struct sp_doctor *d)
{
	struct statvfs s;
	uint64_t mib;
	unsigned left;

	if (access(SP_LIVE_FOLDER, W_OK | X_OK) < 0 || statvfs(SP_LIVE_FOLDER, &s) < 0) {
		sp_doctor_say(d, SP_WORTH, SP_LIVE_FOLDER " cannot be used (%s): a process that is killed loses its counts", strerror(errno));
		sp_doctor_mend(d, "SSPAPI_LIVE=/a/folder (of a disk: its write-back adds page faults that PAPI counts)");
		return;
	}
	mib = (uint64_t)s.f_bavail * s.f_frsize >> 20;
	sp_doctor_say(d, mib < LEAST_MIB ? SP_WORTH : SP_GOOD, SP_LIVE_FOLDER " has room for live files (%llu MiB)", (unsigned long long)mib);
	if (mib < LEAST_MIB)
		sp_doctor_mend(d, "docker run --shm-size=1g; or SSPAPI_LIVE=0: a killed process then loses its counts");
	left = left_behind();
	if (left) {
		sp_doctor_say(d, SP_WORTH, "%u killed %s left counts in " SP_LIVE_FOLDER, left, left == 1 ? "process has" : "processes have");
		sp_doctor_mend(d, "sspapi recover");
	}
}

void sp_doctor_limits(struct sp_doctor *d)
{
	sp_doctor_head(d, "the system");
	rseq(d);
	shared_memory(d);
}
