/* variables-part.c: the variables that are set: what cannot be used, what is none of ours, what
 * others of the loader's do. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../core/cli/elf-file.h"
#include "../../core/conf.h"
#include "doctor.h"

#define PREFIX	"SSPAPI_"
#define OURS	"libsspapi.so"
#define NAME	32u			/* letters of a name that are compared */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Letters to put in, take out or change to make one of the other. */
static unsigned edits(const char *a, const char *b)
{
	unsigned row[NAME + 1], n = (unsigned)strnlen(b, NAME);

	for (unsigned k = 0; k <= n; k++)
		row[k] = k;
	for (unsigned i = 0; a[i] && i < NAME; i++) {
		unsigned before = row[0];

		row[0] = i + 1;
		for (unsigned k = 1; k <= n; k++) {
			unsigned same = before + (toupper((unsigned char)a[i]) != b[k - 1]);

			before = row[k];
			row[k] = least(same, least(row[k], row[k - 1]) + 1);
		}
	}
	return row[n];
}

/* The variable that may be meant: what begins like it, or differs in few letters; NULL: none. */
static const char *nearest(const char *name)
{
	const char *found = NULL;
	unsigned best = (unsigned)strlen(name) / 3;

	best = best < 2 ? 2 : best;
	for (unsigned i = 0; i < sp_conf_n_rows; i++) {
		const char *row = sp_conf_rows[i].name + strlen(PREFIX);
		bool begins = strlen(name) > 2 && strncasecmp(row, name, strlen(name)) == 0;
		unsigned n = begins ? 1 : edits(name, row);

		if (n < best || (n == best && !found)) {
			best = n;
			found = sp_conf_rows[i].name;
		}
	}
	return found;
}

static bool is_known(const char *name, size_t n)
{
	for (unsigned i = 0; i < sp_conf_n_rows; i++)
		if (strlen(sp_conf_rows[i].name) == n && memcmp(sp_conf_rows[i].name, name, n) == 0)
			return true;
	return false;
}

static void unknown(struct sp_doctor *d)
{
	for (char **e = environ; *e; e++) {
		size_t n = strcspn(*e, "=");
		char name[200];
		const char *meant;

		if (strncmp(*e, PREFIX, strlen(PREFIX)) != 0 || is_known(*e, n))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)n, *e);
		meant = nearest(name + strlen(PREFIX));
		sp_doctor_say(d, SP_WORTH, "%s is set, but no variable of sspapi: nothing reads it", name);
		if (meant)
			sp_doctor_mend(d, "%s may be meant; sspapi env lists them all", meant);
		else
			sp_doctor_mend(d, "sspapi env lists those that there are");
	}
}

static void bad_value(const char *line, void *arg)
{
	sp_doctor_say(arg, SP_WORTH, "%s", line);
}

static bool wraps_papi(const char *path)
{
	static const char *const calls[] = { "PAPI_start", "PAPI_stop", "PAPI_read", "PAPI_accum", "PAPI_reset" };
	struct sp_elf_file f;
	bool wraps = false;

	if (sp_elf_file_open(&f, path) < 0)
		return false;
	for (unsigned i = 0; i < SP_COUNT(calls) && !wraps; i++)
		wraps = sp_elf_file_defines(&f, calls[i]);
	sp_elf_file_close(&f);
	return wraps;
}

/* Who stands in front of PAPI's functions, and of us, in a list that names us. */
static void in_front(struct sp_doctor *d, const char *preload)
{
	char *list = strdup(preload), *save, path[PATH_MAX];
	const char *how;

	if (!list || !strstr(list, OURS))
		preload = "";
	else
		preload = strtok_r(list, ": ", &save);
	for (; preload && *preload && !strstr(preload, OURS); preload = strtok_r(NULL, ": ", &save)) {
		if (!sp_program_library(preload, path, &how) || strstr(basename(path), "libpapi") || !wraps_papi(path))
			continue;
		sp_doctor_say(d, SP_WORTH, "%s is preloaded before " OURS " and wraps PAPI's functions: the call sites of all "
			      "counts are in it, and the calls that it makes for itself are counted as the program's", path);
		sp_doctor_mend(d, "name " OURS " first in LD_PRELOAD, or start the program by sspapi run, which does");
	}
	free(list);
}

void sp_doctor_variables(struct sp_doctor *d)
{
	static struct sp_conf conf;
	const char *preload = getenv("LD_PRELOAD"), *audit = getenv("LD_AUDIT");

	sp_conf_capture(environ);
	sp_conf_read(&conf, bad_value, d);
	unknown(d);
	if (conf.disable) {
		sp_doctor_say(d, SP_IN_THE_WAY, "SSPAPI_DISABLE=1 is set: calls are forwarded, nothing is recorded");
		sp_doctor_mend(d, "unset SSPAPI_DISABLE");
	}
	sp_doctor_output(d, &conf);
	if (preload && *preload) {
		sp_doctor_say(d, SP_GOOD, "LD_PRELOAD is set (%s); sspapi run goes in front of it", preload);
		in_front(d, preload);
	}
	if (audit && *audit)
		sp_doctor_say(d, SP_WORTH, "LD_AUDIT is set (%s): tools that use it may bind PAPI's functions before us", audit);
}
