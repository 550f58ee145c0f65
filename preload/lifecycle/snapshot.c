/* snapshot.c: writes a dump on request: sspapi_snapshot, and the signal of SSPAPI_SIGNAL. */
#include <errno.h>
#include <papi.h>
#include <signal.h>
#include <string.h>

#include "../../core/base/conf.h"
#include "../../core/formats/format-writer.h"
#include "../process/process.h"
#include "../process/diagnostic.h"
#include "../sspapi.h"
#include "exit.h"
#include "snapshot.h"

static void on_signal(int number)
{
	int saved = errno;

	(void)number;
	(void)sp_end_snapshot(NULL, NULL);
	errno = saved;
}

/* Install the handler unless the application has one. A later handler of the application replaces
 * it. */
static void install(int number)
{
	struct sigaction old, ours = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	sigfillset(&ours.sa_mask);
	if (sigaction(number, NULL, &old) < 0 ||
	    (old.sa_handler != SIG_DFL && old.sa_handler != on_signal)) {
		sp_process_note("SSPAPI_SIGNAL: the application uses this signal itself; it "
				"writes no dump");
		return;
	}
	sigaction(number, &ours, NULL);
}

void sp_snapshot_set_up(void)
{
	if (sp_conf.signal_number)
		install(sp_conf.signal_number);
}

__attribute__((visibility("default"))) int sspapi_snapshot(const char *path, const char *format)
{
	const struct sp_format_writer *writer =
		format ? sp_format_writer_by_name(format, strlen(format))
		: path ? sp_format_writer_by_extension(path)
		       : NULL;
	char whole[SP_CONF_PATH];
	int r;

	if (format && !writer)
		return PAPI_EINVAL;
	if (path && *path != '/') {	/* relative to the present working directory */
		if (!getcwd(whole, sizeof(whole)) ||
		    strlen(whole) + strlen(path) + 2 > sizeof(whole))
			return PAPI_ESYS;
		path = strcat(strcat(whole, "/"), path);
	}
	r = sp_end_snapshot(path, writer ? writer : sp_format_writer_of(SP_FORMAT_text));
	if (r == 0)
		return PAPI_OK;
	errno = -r;
	return r == -ENODATA ? PAPI_ENOINIT : PAPI_ESYS;
}
