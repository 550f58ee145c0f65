/* stat-cgroups.h: control groups, as `sspapi stat` meets them: where they are mounted, which one a process is in, and how many
 * CPUs they allow what runs in them.
 */
#ifndef SP_STAT_CGROUPS_H
#define SP_STAT_CGROUPS_H

#include <limits.h>

#include "../../base/base.h"

#define SP_CGROUP_MOUNTS "/proc/self/mountinfo"

/* ---- where they are (stat-cgroups.c) ---------------------------------------------- */

struct sp_cgroup_mount {
	char point[PATH_MAX];		/* where it is mounted */
	char root[PATH_MAX];		/* which group that is: "/", or in a container perhaps another */
	bool v2;
};

/* The v1 hierarchy of a controller ("perf_event"), or (NULL) that of v2: by the file `mounts`, which is as SP_CGROUP_MOUNTS. */
bool sp_cgroup_mounted(struct sp_cgroup_mount *m, const char *mounts, const char *controller);

/* The path of the group in such a hierarchy that the file `groups`, which is as /proc/PID/cgroup, names: [PATH_MAX].  False: none. */
bool sp_cgroup_of(const char *groups, const char *controller, char *path);

/* The folder of the group of this path: [PATH_MAX].  False: it does not lie in the mount. */
bool sp_cgroup_folder(const struct sp_cgroup_mount *m, const char *path, char *folder);

/* ---- what they allow (stat-quota.c) --------------------------------------------------- */

#define SP_QUOTA_LEVELS 8u

struct sp_quota {
	uint32_t n;			/* groups with a quota: the one asked for and those that it lies in, innermost first */
	struct sp_quota_level {
		char folder[PATH_MAX], name[256];
		bool v2;
		double cpus;		/* that it allows */
		bool known;		/* how often it was throttled */
		uint64_t periods, throttled, ns;	/* once ended: meanwhile */
	} level[SP_QUOTA_LEVELS];
};

/* The quota of the group whose folder that is, and how often it was throttled up to now.  False: it has none. */
bool sp_quota_read(struct sp_quota_level *l, const char *folder, bool v2);

/* Of the groups that a process is in (groups: as /proc/PID/cgroup), and of a group of this path below the mount. */
void sp_quota_begin(struct sp_quota *q, const char *mounts, const char *groups);
void sp_quota_begin_of(struct sp_quota *q, const char *mounts, const char *path);

/* Nothing more is counted. */
void sp_quota_end(struct sp_quota *q);

/* A line of what the i-th group allowed; false: nothing is to be said of it.  Of several the tightest is told, and those that
 * were throttled. */
bool sp_quota_text(const struct sp_quota *q, uint32_t i, char *text, size_t room);

#endif
