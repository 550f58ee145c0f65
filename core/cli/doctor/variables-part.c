/* variables-part.c: environment variables: invalid values, unknown SSPAPI_ names, and the
 * loader's. */
#include <stdlib.h>
#include <unistd.h>

#include "../../base/conf.h"
#include "doctor.h"

static void bad_value(const char *line, void *arg)
{
	sp_doctor_report(arg, SP_WORTH, "%s", line);
}

void sp_doctor_variables(struct sp_doctor *d)
{
	static struct sp_conf conf;
	const char *preload = getenv("LD_PRELOAD");

	sp_conf_capture(environ);
	sp_conf_read(&conf, bad_value, d);
	if (conf.disable && *conf.ranks) {
		sp_doctor_report(d, SP_BLOCKING,
				 "SSPAPI_RANKS=%s is set, and this process has another rank: "
				 "nothing is recorded",
				 conf.ranks);
		sp_doctor_fix(d, "unset SSPAPI_RANKS");
	} else if (conf.disable) {
		sp_doctor_report(
			d, SP_BLOCKING,
			"SSPAPI_DISABLE=1 is set: calls are forwarded, nothing is recorded");
		sp_doctor_fix(d, "unset SSPAPI_DISABLE");
	}
	sp_doctor_output(d, &conf);
	if (preload && *preload)
		sp_doctor_report(d, SP_GOOD,
				 "LD_PRELOAD is set (%s); sspapi run puts libsspapi before it",
				 preload);
}
