/*
 * regions: the high level: region a on the first CPU with a read in between, region b on the
 * second. PAPI only writes the values to a file at exit, from which an exit handler that runs after
 * PAPI's reads the oracle's lines. usage: regions	(the events: PAPI_EVENTS)
 */
#include "handed.h"

#if PAPI_VERSION < PAPI_VERSION_NUMBER(6, 0, 0, 0)
/* A name that does not exist. */
int main(void)
{
	return SKIPPED;
}
#else
#include <dirent.h>

static char folder[4096];
static int made;

/* Copies the next "..." after @at; returns its end. */
static char *quoted(char *at, char *out, size_t size)
{
	char *from = strchr(at, '"'), *to = from ? strchr(from + 1, '"') : NULL;

	if (!to || (size_t)(to - from) > size)
		return NULL;
	memcpy(out, from + 1, to - from - 1);
	out[to - from - 1] = '\0';
	return to + 1;
}

/* key: value pairs, one per line; the value { means that reads follow. */
static void print_region_line(char *line)
{
	static char region[64], event[128];
	char key[128], value[128] = "";
	char *rest = quoted(line, key, sizeof(key));

	if (!rest)
		return;
	if (!quoted(rest, value, sizeof(value)) && strchr(rest, '{')) {
		snprintf(event, sizeof(event), "%s", key);
		return;
	}
	if (!strcmp(key, "name"))
		snprintf(region, sizeof(region), "%s", value);
	else if (!strcmp(key, "region_value"))
		printf("handed region=%s event=%s value=%s\n", region, event, value);
	else if (!strncmp(key, "read_", 5))
		printf("handed region=%s event=%s value=%s by=%s\n", region, event, value, key);
	else if (strstr(key, "::") || !strncmp(key, "PAPI_", 5))
		printf("handed region=%s event=%s value=%s\n", region, key, value);
}

static void print_file(const char *path)
{
	char line[1024];
	FILE *in = fopen(path, "r");
	int inside = 0;

	while (in && fgets(line, sizeof(line), in)) {
		inside |= !!strstr(line, "\"threads\"");
		if (inside)
			print_region_line(line);
	}
	if (in)
		fclose(in);
}

static void print_files(void)
{
	char path[sizeof(folder) + 300], sub[sizeof(folder) + 20];
	struct dirent *entry;
	DIR *dir;

	snprintf(sub, sizeof(sub), "%s/papi_hl_output", folder);
	dir = opendir(sub);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", sub, entry->d_name);
		print_file(path);
		if (made)
			unlink(path);
	}
	if (dir)
		closedir(dir);
	if (made) {
		rmdir(sub);
		rmdir(folder);
	}
}

static void choose_folder(void)
{
	const char *given = getenv("PAPI_OUTPUT_DIRECTORY");
	const char *tmp = getenv("TMPDIR");

	setenv("PAPI_EVENTS", DEFAULT_EVENT, 0);
	if (given) {
		snprintf(folder, sizeof(folder), "%s", given);
		return;
	}
	snprintf(folder, sizeof(folder), "%s/regions.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		die(folder);
	made = 1;
	setenv("PAPI_OUTPUT_DIRECTORY", folder, 1);
}

static void region_a(struct arena *arena)
{
	int cpu = pin(0), ret = PAPI_hl_region_begin("a");

	if (ret != PAPI_OK)
		cannot("PAPI_hl_region_begin", ret);
	touch(arena, 1000);
	must("PAPI_hl_read", PAPI_hl_read("a"));
	touch(arena, 500);
	must("PAPI_hl_region_end", PAPI_hl_region_end("a"));
	printf("touched cpu=%d region=a pages=1500\n", cpu);
}

static void region_b(struct arena *arena)
{
	int cpu = pin(1);

	must("PAPI_hl_region_begin", PAPI_hl_region_begin("b"));
	touch(arena, 2000);
	must("PAPI_hl_region_end", PAPI_hl_region_end("b"));
	printf("touched cpu=%d region=b pages=2000\n", cpu);
}

int main(void)
{
	struct arena arena;

	choose_folder();
	atexit(print_files);
	papi_up();
	arena_make(&arena, 4000);
	prefault();
	region_a(&arena);
	region_b(&arena);
	return 0;
}
#endif
