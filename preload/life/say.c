/* say.c: see say.h. */
#include <string.h>
#include <sys/stat.h>

#include "../../core/lock.h"
#include "../../core/out.h"
#include "../../core/sys.h"
#include "say.h"

static struct stat at_start;
static bool captured;
long sp_say_most = SP_SAY_WARNING;	/* until SSPAPI_VERBOSE is read */

void sp_say_capture(void)
{
	captured = sp_sys(SYS_newfstatat, 2, "", &at_start, AT_EMPTY_PATH) == 0;
}

int sp_say_descriptor(void)
{
	struct stat now;

	if (!captured || sp_sys(SYS_newfstatat, 2, "", &now, AT_EMPTY_PATH) < 0)
		return -1;
	return now.st_dev == at_start.st_dev && now.st_ino == at_start.st_ino && now.st_rdev == at_start.st_rdev ?
		       2 : -1;
}

void sp_say2(enum sp_say_level level, const char *what, const char *detail)
{
	char line[2048];
	struct sp_quiet quiet;
	struct sp_out o;
	int fd = (long)level <= sp_say_most ? sp_say_descriptor() : -1;

	if (fd < 0)
		return;
	sp_out_init(&o, -1, line, sizeof(line) - 1);
	sp_out_text(&o, "sspapi: ");
	sp_out_plain(&o, what);
	if (*detail) {
		sp_out_text(&o, ": ");
		sp_out_plain(&o, detail);
	}
	line[o.used] = '\n';
	sp_quiet_begin(&quiet);
	(void)sp_write_all(fd, line, o.used + 1);
	sp_quiet_end(&quiet);
}

void sp_say(enum sp_say_level level, const char *line)
{
	sp_say2(level, line, "");
}

const char *sp_say_error(int error)
{
	const char *text = strerrordesc_np(error < 0 ? -error : error);

	return text ? text : "unknown error";
}
