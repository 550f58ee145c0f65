/* cmd-merge.c: `sspapi merge`, which makes one store of many (ranks, hosts). */
#include "../../base/safe-open.h"
#include "../../base/format.h"
#include "../../store/layout.h"
#include "../files/file.h"
#include "../files/runs.h"
#include "../tool/cmd.h"
#include "../tool/output-file.h"
#include "../tool/temp-file.h"
#include "merge.h"

/* Checks that `out` may be overwritten: it is absent, or a store and not one of the inputs. */
static int may_replace(const char *verb, const char *out, char *const *file, unsigned n)
{
	char magic[8] = "";
	struct stat to;

	if (stat(out, &to) < 0)
		return 0;
	if (!S_ISREG(to.st_mode))
		return sp_complain(1, verb, "not a regular file: name another one", out);
	if (sp_is_one_of(out, file, n))
		return sp_complain(2, verb, "the output file is also an input file", out);
	if (to.st_size && access(out, R_OK) < 0)
		return sp_complain(1, verb, "exists and cannot be read: name another file", out);
	if (to.st_size &&
	    (sp_file_first(out, 0, magic, sizeof(magic)) != sizeof(magic) ||
	     memcmp(magic, SP_MAGIC, sizeof(magic)) != 0))
		return sp_complain(1, verb, "exists and is not a store: name another file", out);
	return 0;
}

static int write_whole(struct sp_merge *job, const char *out)
{
	int fd = sp_part_begin(out), e;

	if (fd < 0)
		return fd;
	e = sp_part_finish(fd, sp_merge_files(job, fd));
	if (e == 0)
		e = sp_part_replace();
	sp_part_end();
	return e;
}

int sp_cmd_merge(int argc, char **argv)
{
	struct sp_merge job = { .verb = argv[0] };
	struct sp_runs runs;
	const char *out = NULL;
	const struct sp_format *format;
	int c, e;

	while ((c = sp_option(argc, argv, "o:", NULL, NULL)) != -1) {
		if (c == '?')
			return 2;
		out = optarg;
	}
	if (!out || !*out)
		return sp_complain(2, argv[0], "name the store to write with -o FILE", NULL);
	/* "run" and "recover" would choose another format by this extension. */
	format = sp_format_by_extension(out);
	if (format && !(format->can & SP_CAN_READ))
		return sp_complain(2, argv[0],
				   "merge writes a store: name it .sspapi, or use sspapi report -f "
				   "FORMAT FILE...",
				   out);
	if (optind == argc)
		return sp_complain(2, argv[0], "name the files to merge", NULL);
	e = sp_runs_find(&runs, argv[0], argv + optind, (unsigned)(argc - optind));
	job.file = runs.path;
	job.n_files = runs.n;
	if (e == 0)
		e = may_replace(argv[0], out, job.file, job.n_files);
	if (e)
		return e;
	e = write_whole(&job, out);
	if (e == -ENODATA)
		sp_complain(1, argv[0], "no file could be used; nothing was written", NULL);
	else if (job.changed)
		sp_complain(1, argv[0], "changed while it was read; nothing was written",
			    job.changed);
	else if (e < 0)
		sp_complain(1, argv[0], sp_parent_dir_error(e) ?: strerror(-e), out);
	return e < 0 || job.n_bad;
}
