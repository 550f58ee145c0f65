/* file.c: reads a store's file into memory for a command. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "merge.h"

#define LARGEST (1ull << 40)

int sp_complain(int status, const char *verb, const char *text, const char *subject)
{
	fprintf(stderr, "sspapi%s%s: %s", *verb ? " " : "", verb, text);
	if (subject) {
		fputs(", '", stderr);
		for (const char *p = subject; *p; p++)
			fputc((unsigned char)*p < ' ' || *p == 127 ? '?' : *p, stderr);
		fputc('\'', stderr);
	}
	fputc('\n', stderr);
	return status;
}

void *sp_need(void *p)
{
	if (!p)
		exit(sp_complain(1, "", "there is not enough memory", NULL));
	return p;
}

static int read_all(struct sp_file *f, int fd, uint64_t size)
{
	uint64_t got = 0;

	f->bytes = malloc(size ? size : 1);
	while (f->bytes && got < size) {
		ssize_t n = read(fd, f->bytes + got, size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (uint64_t)n;
	}
	f->image = (struct sp_image){ .base = f->bytes, .bytes = got };
	return f->bytes ? 0 : -ENOMEM;
}

const char *sp_file_why(int r)
{
	if (r == -EPROTO)
		return "written by a newer sspapi, which must be used to read it";
	return r == -EINVAL ? "not a store of sspapi, or damaged" : strerror(-r);
}

int sp_file_load(struct sp_file *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r = 0;
	struct stat s;

	memset(f, 0, sizeof(*f));
	if (fd < 0 || fstat(fd, &s) < 0)
		r = -errno;
	else if (!S_ISREG(s.st_mode) || (uint64_t)s.st_size > LARGEST)
		r = -EINVAL;
	else
		r = read_all(f, fd, (uint64_t)s.st_size);
	if (fd >= 0)
		close(fd);
	if (r == 0) {
		f->dev = (uint64_t)s.st_dev;
		f->ino = (uint64_t)s.st_ino;
		f->uid = s.st_uid;
		f->mode = s.st_mode;
		r = sp_model_open(&f->model, &f->image);
	}
	if (r < 0)
		free(f->bytes);
	return r;
}

int sp_file_open(struct sp_file *f, const char *verb, const char *path)
{
	int r = sp_file_load(f, path);

	return r < 0 ? sp_complain(1, verb, sp_file_why(r), path) : 0;
}

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
	if (r < 0)
		munmap(f->bytes, f->mapped);
	return r;
}

int sp_files_open(struct sp_file *f, const char *verb, char *const *path, unsigned n, const char *events,
		  unsigned *n_bad)
{
	struct sp_merge job = { .verb = verb, .file = path, .n_files = n, .events = events };
	int r;

	*n_bad = 0;
	if (n == 1 && !events)
		return sp_file_open(f, verb, path[0]);
	memset(f, 0, sizeof(*f));
	r = open_merged(f, &job);
	*n_bad = job.n_bad;
	if (r == -ENODATA && n == 1)
		return 1;
	if (r == -ENODATA)
		return sp_complain(1, verb, "none of the files could be used", NULL);
	if (r < 0)
		return sp_complain(1, verb, r == -ESTALE ? "a file changed while it was read" : strerror(-r), NULL);
	return 0;
}

void sp_file_close(struct sp_file *f)
{
	sp_model_close(&f->model);
	if (f->mapped)
		munmap(f->bytes, f->mapped);
	else
		free(f->bytes);
}
