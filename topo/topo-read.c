/* topo-read.c: reads a topology file that the user named. */
#include <stdio.h>

#include "../core/base/sys.h"
#include "topo-inside.h"

#define FILE_MAX	(64u << 20)

int sp_topo_refuse(const struct sp_topo_report *report, int error, const char *why)
{
	if (report->bytes)
		snprintf(report->why, report->bytes, "%s", why);
	return -error;
}

static int refuse_errno(const struct sp_topo_report *report, int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return sp_topo_refuse(report, error, "no such file" SP_TOPO_FIX);
	case EACCES:
	case EPERM:
		return sp_topo_refuse(report, error, "a file that this user may not read");
	case ENOMEM:
		return sp_topo_refuse(report, error, "too large for the free memory");
	}
	if (report->bytes)
		snprintf(report->why, report->bytes, "a file that cannot be read (error %d)",
			 error);
	return -error;
}

static int read_all(int fd, char *to, size_t bytes)
{
	for (size_t got = 0; got < bytes;) {
		long r = sp_sys(SYS_read, fd, to + got, bytes - got);

		if (r == -EINTR)
			continue;
		if (r < 0)
			return (int)r;
		if (r == 0)
			/* truncated meanwhile: the remaining NULs are refused later */
			break;
		got += (size_t)r;
	}
	return 0;
}

static int check_file(int fd, size_t *bytes, const struct sp_topo_report *report)
{
	struct stat s;

	if (fstat(fd, &s) < 0)
		return refuse_errno(report, errno);
	if (S_ISDIR(s.st_mode))
		return sp_topo_refuse(report, EISDIR, "a folder, not a file" SP_TOPO_FIX);
	if (!S_ISREG(s.st_mode))
		return sp_topo_refuse(report, EINVAL, "not a regular file");
	if (!s.st_size)
		return sp_topo_refuse(report, EINVAL, "an empty file" SP_TOPO_FIX);
	if (s.st_size > (off_t)FILE_MAX)
		return sp_topo_refuse(report, EFBIG, "a file of more than 64 MiB");
	*bytes = (size_t)s.st_size;
	return 0;
}

int sp_topo_read(const char *path, char **xml, size_t *bytes, const struct sp_topo_report *report)
{
	/* O_NONBLOCK: refuse a FIFO without waiting for a writer. */
	int fd = sp_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0), r;

	if (fd < 0)
		return refuse_errno(report, -fd);
	*bytes = 0;
	r = check_file(fd, bytes, report);
	if (!r) {
		*xml = sp_map(*bytes + 1);
		r = *xml ? read_all(fd, *xml, *bytes) : -ENOMEM;
		if (r < 0) {
			refuse_errno(report, -r);
			sp_unmap(*xml, *bytes + 1);
		}
	}
	sp_close(fd);
	return r;
}
