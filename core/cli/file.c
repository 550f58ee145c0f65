/* file.c: reads a store's file into memory for a command. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"

#define LARGEST (1ull << 40)

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
	else
		sp_unfinished(&f->model);
	return r;
}

int sp_file_open(struct sp_file *f, const char *verb, const char *path)
{
	int r = sp_file_load(f, path);

	return r < 0 ? sp_complain(1, verb, sp_file_why(r), path) : 0;
}

void sp_file_close(struct sp_file *f)
{
	sp_model_close(&f->model);
	if (f->mapped)
		munmap(f->bytes, f->mapped);
	else
		free(f->bytes);
}
