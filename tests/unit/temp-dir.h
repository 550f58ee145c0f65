/* temp-dir.h: a folder of the test's own, with files as /sys has them; cmocka.h stands before
 * it. */
#ifndef FOLDER_H
#define FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char dir[40];

/* The folders above it, too. */
static void put(const char *name, const char *text)
{
	char path[200], command[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s')\"", path);
	assert_int_equal(system(command), 0);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int fresh_folder(void **state)
{
	char *made;

	strcpy(dir, "/tmp/sspapi-folder.XXXXXX");
	made = mkdtemp(dir);
	assert_non_null(made);
	return 0;
}

static int folder_gone(void **state)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

#endif
