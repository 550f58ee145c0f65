/* stat-quota.c: how many CPUs a control group allows what runs in it, and how often it was throttled while that was counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/sys.h"
#include "../../model/view-common.h"
#include "stat-cgroups.h"

#define TEXT 4096			/* of a file that is read */

static bool read_text(char text[TEXT], const char *folder, const char *name)
{
	char path[PATH_MAX];

	*text = 0;
	return snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) && sp_read_file(path, text, TEXT) > 0;
}

/* Of lines "name number". */
static bool number_of(const char *text, const char *name, uint64_t *value)
{
	size_t n = strlen(name);

	for (const char *at = text; at; at = strchr(at, '\n'), at += at != NULL)
		if (strncmp(at, name, n) == 0 && at[n] == ' ') {
			*value = strtoull(at + n + 1, NULL, 10);
			return true;
		}
	return false;
}

static void read_throttled(struct sp_quota_level *l)
{
	char text[TEXT];

	l->known = read_text(text, l->folder, "cpu.stat") && number_of(text, "nr_periods", &l->periods) &&
		   number_of(text, "nr_throttled", &l->throttled) && number_of(text, l->v2 ? "throttled_usec" : "throttled_time", &l->ns);
	if (l->v2)
		l->ns *= 1000;
}

/* v2: "max 100000" or "150000 100000"; v1 has a file for each, and -1 for what v2 calls max. */
bool sp_quota_read(struct sp_quota_level *l, const char *folder, bool v2)
{
	char text[TEXT], *end;
	double quota, period;

	memset(l, 0, sizeof(*l));
	l->v2 = v2;
	if (snprintf(l->folder, sizeof(l->folder), "%s", folder) >= (int)sizeof(l->folder) ||
	    !read_text(text, folder, v2 ? "cpu.max" : "cpu.cfs_quota_us"))
		return false;
	quota = (double)strtoll(text, &end, 10);
	if (end == text || (!v2 && !read_text(text, folder, "cpu.cfs_period_us")))
		return false;
	period = (double)strtoll(v2 ? end : text, NULL, 10);
	if (!(quota > 0.0) || !(period > 0.0))
		return false;
	l->cpus = quota / period;
	read_throttled(l);
	return true;
}

/* Of the group and of those that it lies in, up to the mount's own. */
static void walk(struct sp_quota *q, const struct sp_cgroup_mount *m, const char *path)
{
	size_t top = strlen(m->point);
	char folder[PATH_MAX], *slash;

	if (!sp_cgroup_folder(m, path, folder))
		return;
	while (q->n < SP_QUOTA_LEVELS) {
		struct sp_quota_level *l = &q->level[q->n];

		if (sp_quota_read(l, folder, m->v2)) {
			snprintf(l->name, sizeof(l->name), "%.255s", folder[top] ? folder + top : "/");
			q->n++;
		}
		slash = strrchr(folder, '/');
		if (!slash || slash < folder + top)
			return;
		*slash = 0;
	}
}

/* Either of the two hierarchies may have the CPUs' controller. */
static void begin(struct sp_quota *q, const char *mounts, const char *groups, const char *path)
{
	static const char *const controller[] = { NULL, "cpu" };
	struct sp_cgroup_mount *m = malloc(sizeof(*m));
	char own[PATH_MAX];

	q->n = 0;
	for (unsigned i = 0; m && i < SP_COUNT(controller); i++) {
		if (!sp_cgroup_mounted(m, mounts, controller[i]) || (!path && !sp_cgroup_of(groups, controller[i], own)))
			continue;
		if (path)
			strcpy(m->root, "/");
		walk(q, m, path ? path : own);
	}
	free(m);
}

void sp_quota_begin(struct sp_quota *q, const char *mounts, const char *groups)
{
	begin(q, mounts, groups, NULL);
}

void sp_quota_begin_of(struct sp_quota *q, const char *mounts, const char *path)
{
	begin(q, mounts, NULL, path);
}

void sp_quota_end(struct sp_quota *q)
{
	for (uint32_t i = 0; i < q->n; i++) {
		struct sp_quota_level *l = &q->level[i];
		uint64_t periods = l->periods, throttled = l->throttled, ns = l->ns;
		bool known = l->known;

		read_throttled(l);
		l->known = known && l->known && l->periods >= periods && l->throttled >= throttled && l->ns >= ns;
		l->periods -= periods;
		l->throttled -= throttled;
		l->ns -= ns;
	}
}

static uint32_t tightest(const struct sp_quota *q)
{
	uint32_t is = 0;

	for (uint32_t i = 1; i < q->n; i++)
		if (q->level[i].cpus < q->level[is].cpus)
			is = i;
	return is;
}

bool sp_quota_text(const struct sp_quota *q, uint32_t i, char *text, size_t room)
{
	const struct sp_quota_level *l = &q->level[i];
	bool throttled = l->known && l->throttled;
	int n;

	if (i >= q->n || (i != tightest(q) && !throttled))
		return false;
	n = snprintf(text, room, SP_NOTE_QUOTA "%s allows %.2f CPUs (%s)", l->name, l->cpus, l->v2 ? "cpu.max" : "cpu.cfs_quota_us");
	if (n < 0 || (size_t)n >= room || !l->known)
		return n > 0;
	if (!throttled)
		snprintf(text + n, room - (size_t)n, "; it was not throttled meanwhile");
	else
		snprintf(text + n, room - (size_t)n, "; it was throttled meanwhile in %llu of %llu periods, %.1f ms added up over its CPUs",
			 (unsigned long long)l->throttled, (unsigned long long)l->periods, (double)l->ns / 1e6);
	return true;
}
