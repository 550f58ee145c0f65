/* region.c: pieces of memory behind one another in offset, not in address. */
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "region.h"
#include "../sys.h"

#define PIECE_LEAST	65536u

/* Past this size a write raises SIGXFSZ, which ends the process. */
static bool file_may_have(uint64_t bytes)
{
	struct rlimit l;

	return getrlimit(RLIMIT_FSIZE, &l) < 0 || l.rlim_cur == RLIM_INFINITY || bytes <= l.rlim_cur;
}

/* The next `bytes` of the file, mapped and populated; NULL and why. */
static unsigned char *map_file(struct sp_region *r, uint64_t bytes, int *error)
{
	int fd = sp_open(r->path, O_RDWR | O_NOFOLLOW, 0);
	struct stat s;
	long at = fd;

	if (fd >= 0)
		at = sp_sys(SYS_newfstatat, fd, "", &s, AT_EMPTY_PATH);
	if (at >= 0 && ((uint64_t)s.st_dev != r->file_dev || (uint64_t)s.st_ino != r->file_ino))
		at = -ESTALE;		/* somebody put another one there */
	if (at >= 0)
		at = file_may_have(r->mapped + bytes) ? sp_sys(SYS_fallocate, fd, 0, r->mapped, bytes) : -EFBIG;
	if (at >= 0)
		at = sp_sys(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, r->mapped);
	if (fd >= 0)
		sp_close(fd);
	if (at < 0 && at > -4096) {
		*error = (int)at;
		return NULL;
	}
	return (unsigned char *)at;
}

static int grow(struct sp_region *r, uint64_t need)
{
	uint64_t bytes = sp_align(sp_max(need, sp_max(PIECE_LEAST, r->mapped / 8)), PIECE_LEAST);
	struct sp_piece *p = &r->piece[r->pieces];
	int error = 0;

	if (r->pieces == SP_PIECES || (r->limit && r->mapped + bytes > r->limit))
		return -ENOMEM;
	p->at = *r->path && !r->torn ? map_file(r, bytes, &error) : NULL;
	if (!p->at) {
		if (*r->path)
			r->torn = true;
		p->at = sp_map(bytes);
	}
	if (!p->at && bytes > sp_align(need, PIECE_LEAST)) {	/* RLIMIT_AS: just what is needed */
		bytes = sp_align(need, PIECE_LEAST);
		p->at = sp_map(bytes);
	}
	if (!p->at)
		return -ENOMEM;
	p->off = r->mapped;
	p->bytes = bytes;
	/* What is left of the piece before is not used: blocks do not cross. */
	r->used = r->mapped;
	r->mapped += bytes;
	sp_publish(&r->pieces, r->pieces + 1);
	return 0;
}

int sp_region_open(struct sp_region *r, uint64_t first)
{
	memset(r, 0, sizeof(*r));
	return grow(r, first);
}

int sp_region_open_file(struct sp_region *r, uint64_t first, const char *path)
{
	uint64_t bytes = sp_align(first, PIECE_LEAST);
	struct stat s;
	int error = 0;

	memset(r, 0, sizeof(*r));
	if (strlen(path) >= sizeof(r->path))
		return -ENAMETOOLONG;
	error = (int)sp_sys(SYS_newfstatat, AT_FDCWD, path, &s, AT_SYMLINK_NOFOLLOW);
	if (error < 0)
		return error;
	r->file_dev = (uint64_t)s.st_dev;
	r->file_ino = (uint64_t)s.st_ino;
	strcpy(r->path, path);
	r->piece[0].bytes = bytes;
	r->piece[0].at = map_file(r, bytes, &error);
	if (!r->piece[0].at)
		return error;
	r->mapped = bytes;
	r->pieces = 1;
	return 0;
}

void sp_region_close(struct sp_region *r)
{
	for (uint32_t i = 0; i < r->pieces; i++)
		sp_unmap(r->piece[i].at, r->piece[i].bytes);
	memset(r, 0, sizeof(*r));
}

void *sp_region_at(const struct sp_region *r, sp_off off, uint64_t len)
{
	uint32_t lo = 0, hi = sp_acquire(&r->pieces);

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct sp_piece *p = &r->piece[mid];

		if (off < p->off)
			hi = mid;
		else if (off - p->off >= p->bytes)
			lo = mid + 1;
		else
			return len <= p->bytes - (off - p->off) ? p->at + (off - p->off) : NULL;
	}
	return NULL;
}

static void *reuse(struct sp_region *r, uint64_t bytes, sp_off *off)
{
	for (uint32_t i = 0; i < SP_FREE_SIZES; i++) {
		if (r->spare[i].bytes != bytes || !r->spare[i].n)
			continue;
		*off = r->spare[i].off[--r->spare[i].n];
		return memset(sp_region_at(r, *off, bytes), 0, bytes);
	}
	return NULL;
}

void *sp_region_alloc(struct sp_region *r, uint32_t kind, uint64_t bytes, sp_off *off)
{
	struct sp_block *b;

	bytes = sp_align(bytes, 64);
	if (bytes > UINT32_MAX)
		return NULL;
	b = reuse(r, bytes, off);
	if (!b) {
		if (r->mapped - r->used < bytes && grow(r, bytes) < 0)
			return NULL;
		*off = r->used;
		b = sp_region_at(r, *off, bytes);
		r->used += bytes;
		/* Touch each page now; a fault later would be counted by
		 * the application's own page-fault event. */
		for (uint64_t i = 0; i < bytes; i += 4096)
			((volatile unsigned char *)b)[i] = 0;
		((volatile unsigned char *)b)[bytes - 1] = 0;
	}
	b->bytes = (uint32_t)bytes;
	sp_publish(&b->kind, kind);
	return b;
}

void sp_region_free(struct sp_region *r, sp_off off, uint64_t bytes)
{
	struct sp_block *b = sp_region_at(r, off, bytes);
	uint32_t i, empty = SP_FREE_SIZES;

	bytes = sp_align(bytes, 64);
	b->kind = SP_BLOCK_FREE;
	for (i = 0; i < SP_FREE_SIZES; i++) {
		if (r->spare[i].bytes == bytes && r->spare[i].n)
			break;
		if (!r->spare[i].n)
			empty = i;
	}
	if (i == SP_FREE_SIZES)
		i = empty;
	if (i == SP_FREE_SIZES || r->spare[i].n == SP_FREE_SLOTS)
		return;			/* forgotten: memory that is not used again */
	r->spare[i].bytes = bytes;
	r->spare[i].off[r->spare[i].n++] = off;
}
