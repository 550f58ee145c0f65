/* region.c: pieces of memory behind one another in offset, not in address. */
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "region.h"
#include "../sys.h"

#define PIECE_LEAST	65536u
#ifdef __x86_64__
#define STEP		8192u		/* about 12 us */
#else
#define STEP		PIECE_LEAST	/* the largest page that Linux has */
#endif

/* Past this size a write raises SIGXFSZ, which ends the process. */
static bool file_may_have(uint64_t bytes)
{
	struct rlimit l;

	return getrlimit(RLIMIT_FSIZE, &l) < 0 || l.rlim_cur == RLIM_INFINITY || bytes <= l.rlim_cur;
}

/* `bytes` of the file at `off`, mapped and populated at `at` (NULL: anywhere); NULL and why. */
static unsigned char *map_file(struct sp_region *r, uint64_t off, uint64_t bytes, void *to, int *error)
{
	int fd = sp_open(r->path, O_RDWR | O_NOFOLLOW, 0);
	struct stat s;
	long at = fd;

	if (fd >= 0)
		at = sp_sys(SYS_newfstatat, fd, "", &s, AT_EMPTY_PATH);
	if (at >= 0 && ((uint64_t)s.st_dev != r->file_dev || (uint64_t)s.st_ino != r->file_ino))
		at = -ESTALE;		/* somebody put another one there */
	if (at >= 0)
		at = file_may_have(off + bytes) ? sp_sys(SYS_fallocate, fd, 0, off, bytes) : -EFBIG;
	if (at >= 0)
		at = sp_sys(SYS_mmap, to, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_POPULATE | (to ? MAP_FIXED : 0), fd, off);
	if (fd >= 0)
		sp_close(fd);
	if (at < 0 && at > -4096) {
		*error = (int)at;
		return NULL;
	}
	return (unsigned char *)at;
}

/* Addresses only. */
static unsigned char *reserve(uint64_t bytes)
{
	long r = sp_sys(SYS_mmap, 0, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return r < 0 && r > -4096 ? NULL : (unsigned char *)r;
}

static bool map_private(unsigned char *at, uint64_t bytes)
{
	long r = sp_sys(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_FIXED, -1, 0);

	return !(r < 0 && r > -4096);
}

static int grow(struct sp_region *r, uint64_t need)
{
	uint64_t bytes = sp_align(sp_max(need, sp_max(PIECE_LEAST, r->mapped / 8)), PIECE_LEAST);
	struct sp_piece *p = &r->piece[r->pieces];

	if (r->pieces == SP_PIECES || (r->limit && r->mapped + bytes > r->limit))
		return -ENOMEM;
	p->at = reserve(bytes);
	if (!p->at && bytes > sp_align(need, PIECE_LEAST)) {	/* RLIMIT_AS: just what is needed */
		bytes = sp_align(need, PIECE_LEAST);
		p->at = reserve(bytes);
	}
	if (!p->at)
		return -ENOMEM;
	p->off = r->mapped;
	p->bytes = bytes;
	/* What is left of the piece before is not used: blocks do not cross. */
	r->used = r->mapped;
	r->mapped += bytes;
	p->ready = 0;
	sp_publish(&r->pieces, r->pieces + 1);
	return 0;
}

/* Makes the last piece's memory be there for the next `bytes`, step by step: one call
 * that made much of it would keep its thread for long.  What the file's disk has no
 * room for is private memory; a block is in one or the other. */
static int make_ready(struct sp_region *r, uint64_t bytes)
{
	struct sp_piece *p = &r->piece[r->pieces - 1];
	int error = 0;

	while (p->off + p->ready < r->used + bytes) {
		uint64_t step = sp_min(STEP, p->bytes - p->ready);
		unsigned char *at = p->at + p->ready;

		if (*r->path && !r->torn && !map_file(r, p->off + p->ready, step, at, &error)) {
			r->torn = true;
			r->used = p->off + p->ready;
			if (r->mapped - r->used < bytes)
				return -ENOSPC;	/* into a new piece, whole */
		}
		if ((!*r->path || r->torn) && !map_private(at, step))
			return -ENOMEM;
		sp_publish(&p->ready, p->ready + step);
	}
	return 0;
}

/* Room for a block of so many bytes at r->used. */
static int make_room(struct sp_region *r, uint64_t bytes)
{
	int error = -ENOSPC;

	for (int tries = 0; tries < 2 && error == -ENOSPC; tries++) {
		if (r->mapped - r->used < bytes && grow(r, bytes) < 0)
			return -ENOMEM;
		error = make_ready(r, bytes);
	}
	return error;
}

int sp_region_open(struct sp_region *r, uint64_t first)
{
	memset(r, 0, sizeof(*r));
	first = sp_align(first, PIECE_LEAST);
	return grow(r, first) < 0 ? -ENOMEM : make_ready(r, first);
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
	r->piece[0].at = map_file(r, 0, bytes, NULL, &error);
	if (!r->piece[0].at)
		return error;
	r->piece[0].ready = bytes;
	r->mapped = bytes;
	r->pieces = 1;
	return 0;
}

void sp_region_close(struct sp_region *r)
{
	for (uint32_t i = 0; i < r->pieces; i++)
		sp_unmap(r->piece[i].at, r->piece[i].bytes);
	for (uint32_t i = 0; i < SP_FREE_SIZES; i++)
		if (r->spare[i].off != r->spare[i].first)
			sp_unmap(r->spare[i].off, r->spare[i].room * sizeof(sp_off));
	memset(r, 0, sizeof(*r));
}

static void *in_piece(const struct sp_piece *p, uint64_t at, uint64_t len)
{
	uint64_t ready = sp_acquire(&p->ready);

	return at < ready && len <= ready - at ? p->at + at : NULL;
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
			return in_piece(p, off - p->off, len);
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
		if (make_room(r, bytes) < 0)
			return NULL;
		*off = r->used;
		b = sp_region_at(r, *off, bytes);
		r->used += bytes;
	}
	b->bytes = (uint32_t)bytes;
	sp_publish(&b->kind, kind);
	return b;
}

/* One more place in a list of free blocks; false: it cannot be remembered. */
static bool make_slot(struct sp_spare *l)
{
	uint32_t room = l->room * 2;
	sp_off *more;

	if (!l->off) {
		l->off = l->first;
		l->room = SP_FREE_SLOTS;
	}
	if (l->n < l->room)
		return true;
	more = sp_map(room * sizeof(sp_off));
	if (!more)
		return false;
	memcpy(more, l->off, l->n * sizeof(sp_off));
	if (l->off != l->first)
		sp_unmap(l->off, l->room * sizeof(sp_off));
	l->off = more;
	l->room = room;
	return true;
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
	if (i == SP_FREE_SIZES || !make_slot(&r->spare[i]))
		return;			/* forgotten: memory that is not used again */
	r->spare[i].bytes = bytes;
	r->spare[i].off[r->spare[i].n++] = off;
}
