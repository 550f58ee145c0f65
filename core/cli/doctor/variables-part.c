/* variables-part.c: the variables that are set: ours that cannot be used, names that are none of
 * ours, and the loader's. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/conf.h"
#include "../../base/elf-file.h"
#include "doctor.h"

#define OURS	"libsspapi.so"

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
	if (conf.disable && *conf.ranks) {
		sp_doctor_say(d, SP_IN_THE_WAY, "SSPAPI_RANKS=%s is set, and this process has another rank: nothing is recorded", conf.ranks);
		sp_doctor_mend(d, "unset SSPAPI_RANKS");
	} else if (conf.disable) {
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
