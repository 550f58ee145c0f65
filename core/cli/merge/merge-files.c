/* merge-files.c: opens several files as one run, merged in memory. */
#include "../tool/cmd.h"
#include "merge-files.h"

/* Merges into an unnamed file, which cannot be truncated while it is mapped. */
int sp_merge_open(struct sp_file *f, struct sp_merge *job)
{
	int fd = memfd_create("sspapi", MFD_CLOEXEC), r = fd < 0 ? -errno : sp_merge_files(job, fd);
	struct stat s;

	memset(f, 0, sizeof(*f));
	if (r == 0 && fstat(fd, &s) < 0)
		r = -errno;
	if (r == 0) {
		f->bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		f->mapped = (uint64_t)s.st_size;
		if (f->bytes == MAP_FAILED)
			r = -errno;
	}
	sp_close(fd);
	if (r < 0)
		return r;
	f->reader = (struct sp_store_reader){ .base = f->bytes, .bytes = f->mapped };
	r = sp_model_open(&f->model, &f->reader);
	if (r < 0) {
		munmap(f->bytes, f->mapped);
		return r;
	}
	sp_set_unfinished_end(&f->model);
	sp_model_join_callsites(&f->model);
	return 0;
}

int sp_files_open(struct sp_file *f, const char *verb, char *const *path, unsigned n,
		  const char *events, bool again, unsigned *n_bad)
{
	struct sp_merge job = {
		.verb = verb, .file = path, .n_files = n, .events = events, .quiet = again
	};
	int r;

	if (n == 1 && !events) {
		*n_bad = 0;
		return sp_file_open(f, verb, path[0]);
	}
	r = sp_merge_open(f, &job);
	if (again && (r == 0 || r == -ENODATA) && job.n_bad != *n_bad) {
		if (r == 0)
			sp_file_close(f);
		return sp_complain(1, verb, "a file changed while it was read", NULL);
	}
	*n_bad = job.n_bad;
	if (r == -ENODATA)
		return n == 1 ? 1 : sp_complain(1, verb, "none of the files could be used", NULL);
	if (r < 0)
		return sp_complain(1, verb,
				   job.changed ? "changed while it was read" : strerror(-r),
				   job.changed);
	return 0;
}
