/* files.c: several files read as one run: merged, in memory. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../tool/cmd.h"
#include "files.h"
#include "merge.h"

/* In a file without a name, which nobody else can cut off under the mapping. */
static int open_merged(struct sp_file *f, struct sp_merge *job)
{
	int fd = memfd_create("sspapi", MFD_CLOEXEC), r = fd < 0 ? -errno : sp_merge_files(job, fd);
	struct stat s;

	if (r == 0 && fstat(fd, &s) < 0)
		r = -errno;
	if (r == 0) {
		f->bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		f->mapped = (uint64_t)s.st_size;
		if (f->bytes == MAP_FAILED)
			r = -errno;
	}
	if (fd >= 0)
		close(fd);
	if (r < 0)
		return r;
	f->image = (struct sp_image){ .base = f->bytes, .bytes = f->mapped };
	r = sp_model_open(&f->model, &f->image);
	if (r < 0) {
		munmap(f->bytes, f->mapped);
		return r;
	}
	sp_unfinished(&f->model);
	sp_model_cut_callsites(&f->model, sp_model_frames(&f->model, UINT32_MAX));
	return 0;
}

int sp_files_open(struct sp_file *f, const char *verb, char *const *path, unsigned n, const char *events,
		  bool tell, unsigned *n_bad)
{
	struct sp_merge job = { .verb = verb, .file = path, .n_files = n, .events = events, .tell = tell };
	int r;

	*n_bad = 0;
	if (n == 1 && !events)
		return verb ? sp_file_open(f, verb, path[0]) : sp_file_load(f, path[0]) < 0;
	memset(f, 0, sizeof(*f));
	r = open_merged(f, &job);
	*n_bad = job.n_bad;
	if (r < 0 && (!verb || (r == -ENODATA && n == 1)))
		return 1;
	if (r == -ENODATA)
		return sp_complain(1, verb, "none of the files could be used", NULL);
	if (r < 0)
		return sp_complain(1, verb, r == -ESTALE ? "a file changed while it was read" : strerror(-r), NULL);
	return 0;
}
