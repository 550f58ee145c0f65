/* other-tools.c: verbs and options of other tools; see other-tools.h. */
#include <ctype.h>

#include "../../base/conf.h"
#include "cmd.h"
#include "other-tools.h"

static const struct {
	const char *verb, *letter, *name, *advice;
} options[] = {
	{ "stat", "-a", "--all-cpus",
	  "a program is counted; to count the whole machine: sspapi stat --cgroup / PROGRAM" },
	{ "stat", "-A", "--no-aggr", "not needed: each CPU has a row" },
	{ "stat", "-C", "--cpu",
	  "each CPU has a row; to use some CPUs only: taskset -c LIST sspapi stat PROGRAM" },
	{ "stat", "-x", "--field-separator", "not supported; for CSV: -f csv" },
	{ "stat", "-j", "--json-output", "not supported; for JSON: -f json" },
	{ "stat", "-d", "--detailed",
	  "not supported; name the events: -e cache-misses,... (sspapi list)" },
	{ "stat", "-M", "--metrics", "not supported; use -m NAME,..." },
	{ "stat", "-G", "--for-each-cgroup", "not supported; use --cgroup NAME" },
	{ "stat", "-i", "--no-inherit", "not supported: threads and child processes are counted" },
	{ "stat", "", "--repeat", "not supported; use -r RUNS" },
	{ "stat", "", "--per-host", "not supported; use --per-machine" },
	{ "run", "-q", "--quiet", "not supported; use -e SSPAPI_VERBOSE=0" },
	{ "report", "-n", "--top", "not supported: tables have ten rows, with --all all rows" },
	{ "report", "-k", "--key", "not supported; use --sort KEY" },
	{ "report", "-j", "--json", "not supported; use -f json" },
	{ "report", "-x", "--csv", "not supported; use -f csv" },
	{ "report", "", "--per-host", "not supported; use --per-machine" },
};

/* Returns whether the option, perhaps with a value, has this name. */
static bool is_named(const char *option, const char *name)
{
	size_t n = strcspn(option, "=");

	return strlen(name) == n && strncmp(option, name, n) == 0;
}

/* Advises -e for --callsites and the like: SSPAPI_CALLSITES is a variable. */
static const char *variable_advice(const char *option)
{
	static char text[128];
	char name[64] = "SSPAPI_";
	size_t n = strlen(name);

	for (option += 2; *option && *option != '=' && n < sizeof(name) - 1; option++)
		name[n++] = (char)(*option == '-' ? '_' : toupper((unsigned char)*option));
	for (unsigned i = 0; i < sp_conf_n_rows; i++)
		if (strcmp(sp_conf_rows[i].name, name) == 0) {
			snprintf(text, sizeof(text), "not an option; set the variable: -e %s=VALUE",
				 name);
			return text;
		}
	return NULL;
}

const char *sp_other_option(const char *verb, const char *option)
{
	for (unsigned i = 0; i < SP_COUNT(options); i++)
		if (strcmp(options[i].verb, verb) == 0 &&
		    (strcmp(option, options[i].letter) == 0 || is_named(option, options[i].name)))
			return options[i].advice;
	return strcmp(verb, "run") == 0 && strncmp(option, "--", 2) == 0 ? variable_advice(option)
									 : NULL;
}

static bool is_executable(const char *path)
{
	struct stat s;

	return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

bool sp_is_program(const char *word)
{
	const char *path = getenv("PATH") ?: "";
	char file[PATH_MAX];
	size_t n;

	if (strchr(word, '/'))
		return is_executable(word);
	for (; *path; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		if (n && snprintf(file, sizeof(file), "%.*s/%s", (int)n, path, word) <
				 (int)sizeof(file) &&
		    is_executable(file))
			return true;
	}
	return false;
}

const char *sp_other_verb(const char *word)
{
	static char text[PATH_MAX + 128];

	if (strcmp(word, "record") == 0)
		return "not a verb; to store the counts of a run: sspapi run -- PROGRAM";
	if (*word == '-' || !*word || strlen(word) >= PATH_MAX / 2 || !sp_is_program(word))
		return NULL;
	snprintf(
		text, sizeof(text),
		"not a verb; to count this program: sspapi stat %s; if it uses PAPI: sspapi run -- "
		"%s",
		word, word);
	return text;
}
