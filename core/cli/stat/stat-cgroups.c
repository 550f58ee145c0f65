/* stat-cgroups.c: where control groups are mounted, and which one a process is in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat-cgroups.h"

#define LINES_MOST 100000u		/* of a file that is read: mounts of a machine with many containers */

/* Is the word in the list that commas join? */
static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ',') && (!at[n] || at[n] == ',' || at[n] == '\n'))
			return true;
	return false;
}

/* The kernel writes blanks, tabs, newlines and backslashes of a path as \040.  False: it is too long. */
static bool take_path(char to[PATH_MAX], const char *from)
{
	size_t n = 0;

	for (; *from; n++) {
		bool octal = from[0] == '\\' && strspn(from + 1, "01234567") >= 3;

		if (n == PATH_MAX - 1)
			return false;
		to[n] = octal ? (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0') : *from;
		from += octal ? 4 : 1;
	}
	to[n] = 0;
	return true;
}

/* "36 35 98:0 ROOT POINT OPTIONS FIELD... - TYPE SOURCE OPTIONS" */
static bool is_mount(void *mount, char *line, const char *controller)
{
	struct sp_cgroup_mount *m = mount;
	char *word[5], *save = NULL, *behind = strstr(line, " - "), *type, *options;

	if (!behind)
		return false;
	*behind = 0;
	type = strtok_r(behind + 3, " \n", &save);
	strtok_r(NULL, " \n", &save);
	options = strtok_r(NULL, " \n", &save);
	if (!type || strcmp(type, controller ? "cgroup" : "cgroup2") != 0 || (controller && (!options || !has_word(options, controller))))
		return false;
	save = NULL;
	for (unsigned i = 0; i < 5; i++) {
		word[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!word[i])
			return false;
	}
	m->v2 = !controller;
	return take_path(m->root, word[3]) && take_path(m->point, word[4]);
}

/* Calls take for each line until that is true. */
static bool any_line(const char *file, bool (*take)(void *to, char *line, const char *controller), void *to, const char *controller)
{
	FILE *in = fopen(file, "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	for (uint32_t i = 0; in && !found && i < LINES_MOST && getline(&line, &room, in) > 0; i++)
		found = take(to, line, controller);
	free(line);
	if (in)
		fclose(in);
	return found;
}

bool sp_cgroup_mounted(struct sp_cgroup_mount *m, const char *mounts, const char *controller)
{
	return any_line(mounts, is_mount, m, controller);
}

/* "7:cpu,cpuacct:/path", of v2 "0::/path" */
static bool is_group(void *to, char *line, const char *controller)
{
	char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;

	if (!path)
		return false;
	*path++ = 0;
	path[strcspn(path, "\n")] = 0;
	if (controller ? !has_word(names + 1, controller) : names[1] || strncmp(line, "0:", 2) != 0)
		return false;
	return snprintf(to, PATH_MAX, "%s", path) < PATH_MAX;
}

bool sp_cgroup_of(const char *groups, const char *controller, char *path)
{
	return any_line(groups, is_group, path, controller);
}

/* (A path that begins with "/..", of a group that lies outside of this namespace, is in no mount.) */
bool sp_cgroup_folder(const struct sp_cgroup_mount *m, const char *path, char *folder)
{
	size_t n = strcmp(m->root, "/") == 0 ? 0 : strlen(m->root);

	if (strncmp(path, m->root, n) != 0 || (path[n] && path[n] != '/') || (strncmp(path, "/..", 3) == 0 && (!path[3] || path[3] == '/')))
		return false;
	path += n;
	return snprintf(folder, PATH_MAX, "%s%s", m->point, strcmp(path, "/") == 0 ? "" : path) < PATH_MAX;
}
