/* output-file.c: see output-file.h. */
#include "../../base/format.h"
#include "../../base/safe-open.h"
#include "../../base/output.h"
#include "cmd.h"
#include "output-file.h"
#include "temp-file.h"

static int part = -1;

bool sp_is_one_of(const char *path, char *const *file, unsigned n)
{
	struct stat to, s;

	if (stat(path, &to) < 0)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (stat(file[i], &s) == 0 && s.st_dev == to.st_dev && s.st_ino == to.st_ino)
			return true;
	return false;
}

int sp_check_output_format(const char *verb, int status, const char *path, const char *formats)
{
	const struct sp_format *named = path ? sp_format_by_extension(path) : NULL, *is;
	char text[200];

	if (!named || !formats || strchr(formats, ',') || strcmp(named->name, formats) == 0)
		return 0;
	is = sp_format_by_name(formats, strlen(formats));
	if (is && strcmp(strrchr(is->extension, '.'), named->extension) == 0)
		return 0;		/* trace is also JSON */
	snprintf(text, sizeof(text),
		 "this extension means %s, but -f is '%.32s': use one of the two", named->name,
		 formats);
	return sp_complain(status, verb, text, path);
}

int sp_redirect_begin(const char *verb, const char *path, char *const *file, unsigned n)
{
	bool special = path && sp_output_is_special(path);
	struct stat s;
	int fd;

	if (!path)
		return 0;
	if (stat(path, &s) == 0 && S_ISDIR(s.st_mode))
		return sp_complain(2, verb, "a folder: name a file in it", path);
	if (sp_is_one_of(path, file, n))
		return sp_complain(2, verb, "the output file is also an input file", path);
	fd = special ? sp_safe_open_special(path, O_WRONLY | O_TRUNC) : sp_part_begin(path);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		return sp_complain(1, verb,
				   sp_parent_dir_error(fd) ?: strerror(fd < 0 ? -fd : errno), path);
	if (special)
		close(fd);
	else
		part = fd;
	return 0;
}

int sp_redirect_end(const char *path, int e)
{
	if (!path || part < 0)
		return e;
	e = sp_part_finish(part, e);
	part = -1;
	if (e == 0)
		e = sp_part_replace();
	sp_part_end();
	return e;
}
