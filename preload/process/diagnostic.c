/* diagnostic.c: writes a line to standard error, if that is still the process's first; see
 * diagnostic.h. */
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../../core/base/lock.h"
#include "../../core/base/out.h"
#include "../../core/base/sys.h"
#include "diagnostic.h"

struct file_id {
	uint64_t dev, rdev, ino;
};

SP_AT_START static struct file_id at_start;
SP_AT_START static bool captured;
long sp_diag_max_level = SP_DIAG_WARNING;	/* until SSPAPI_VERBOSE is read */

/* Uses the second call if a sandbox refuses the first. */
static bool read_file_id(struct file_id *w)
{
	struct statx x;
	struct stat s;

	if (sp_sys(SYS_newfstatat, 2, "", &s, AT_EMPTY_PATH) == 0)
		*w = (struct file_id){ s.st_dev, s.st_rdev, s.st_ino };
	else if (sp_sys(SYS_statx, 2, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO, &x) == 0)
		*w = (struct file_id){ makedev(x.stx_dev_major, x.stx_dev_minor),
				       makedev(x.stx_rdev_major, x.stx_rdev_minor), x.stx_ino };
	else
		return false;
	return true;
}

void sp_diag_capture(void)
{
	captured = read_file_id(&at_start);
}

int sp_diag_descriptor(void)
{
	struct file_id now;

	return captured && read_file_id(&now) && now.dev == at_start.dev &&
			       now.ino == at_start.ino && now.rdev == at_start.rdev
		       ? 2
		       : -1;
}

/* Prints all of it, or as much as there is room for. */
static bool is_reported(const char *line, size_t n)
{
	int fd = sp_diag_descriptor();
	struct sp_quiet quiet;
	struct sp_out o;
	int r;

	if (fd < 0)
		return false;
	sp_out_init(&o, fd, NULL, 0);
	sp_quiet_begin(&quiet);
	sp_out_shared(&o, 0);
	sp_out_bytes(&o, line, n);
	r = sp_out_finish(&o);
	sp_quiet_end(&quiet);
	return r == 0;
}

bool sp_diag(enum sp_diag_level level, const char *text)
{
	char line[2048];
	struct sp_out o;

	if ((long)level > sp_diag_max_level)
		return true;
	sp_out_init(&o, -1, line, sizeof(line) - 1);
	sp_out_text(&o, "sspapi: ");
	sp_out_plain(&o, text);
	line[o.used] = '\n';
	return is_reported(line, o.used + 1);
}

const char *sp_diag_error(int error)
{
	if (error == -EFBIG)
		return "past the limit on the size of files, ulimit -f";
#if __GLIBC_PREREQ(2, 32)
	const char *text = strerrordesc_np(error < 0 ? -error : error);
#else
	const char *text = strerror(error < 0 ? -error : error);
#endif

	return text ? text : "unknown error";
}
