/* limits-part.c: what the library needs of the system beside counters. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "../../base/locked.h"
#include "../../base/rseq.h"
#include "../../store/live.h"
#include "doctor.h"

#define LEAST_MIB 64u			/* of /dev/shm: a store of many threads and CPUs */

/* Does the kernel tell by it that the thread has slept? As proof.c finds out, by a section that nobody runs: the kernel
 * looks for the signature in front of where it would go on instead. */
static bool rseq_tells(void)
{
#ifdef RSEQ_SIG
	typedef uint64_t pointer __attribute__((may_alias));
	static const uint32_t nowhere[2] = { RSEQ_SIG, 0 };
	static struct rseq_cs section __attribute__((aligned(32)));
	pointer *at;
	bool lost = false;

	if (__rseq_size == 0)
		return false;
	at = (pointer *)&sp_rseq_area()->rseq_cs;
	section.start_ip = (uintptr_t)&nowhere[0];
	section.post_commit_offset = 1;
	section.abort_ip = (uintptr_t)&nowhere[1];
	for (struct timespec nap = { 0, 1000 }; nap.tv_nsec <= 1000000 && !lost; nap.tv_nsec *= 10) {
		sp_put(at, (uintptr_t)&section);
		nanosleep(&nap, NULL);
		lost = sp_get(at) == 0;
	}
	sp_put(at, 0);
	return lost;
#else
	return false;
#endif
}

static void rseq(struct sp_doctor *d)
{
	uint32_t pages = sp_locked_share();

	if (rseq_tells()) {
		sp_doctor_say(d, SP_GOOD, "restartable sequences (rseq) tell if a thread stayed on its CPU: counts can be proven there");
	} else if (pages) {
		sp_doctor_say(d, SP_GOOD, "restartable sequences (rseq) do not tell if a thread stayed on its CPU: a locked page for each thread, %u "
			      "at most, does", pages);
	} else {
		sp_doctor_say(d, SP_WORTH, "restartable sequences (rseq) do not tell if a thread stayed on its CPU, and no memory may be locked in "
			      "their place: each reading of a set that is split by CPU makes system calls");
		sp_doctor_mend(d, "a higher ulimit -l and kernel.perf_event_mlock_kb; or, before Linux 6.19, glibc 2.35 or later, "
			       "without glibc.pthread.rseq=0 in GLIBC_TUNABLES");
	}
}

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
	rseq(d);
	shared_memory(d);
}
