/* region.c: see region.h. */
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include "region.h"
#include "../base/sys.h"

#define PIECE_LEAST	65536u
#define PAGE_LEAST	4096u
#ifdef __x86_64__
#define STEP		8192u		/* about 8 us */
#else
#define STEP		PIECE_LEAST	/* the largest page of Linux */
#endif
#define WRITABLE_STEP		(8 * STEP)
#define FILE_LEAST		(16ull << 20)	/* least length of the file */

/* May the file have this size? A larger one raises SIGXFSZ, which kills the process. */
static bool file_may_have(uint64_t bytes)
{
	struct rlimit l;

	return getrlimit(RLIMIT_FSIZE, &l) < 0 || l.rlim_cur == RLIM_INFINITY ||
	       bytes <= l.rlim_cur;
}

/* Opens the file if it is still the same one and may grow to `bytes`; or -errno. */
static int open_file(struct sp_region *r, uint64_t bytes, uint64_t *has)
{
	int fd = sp_open(r->path, O_RDWR | O_NOFOLLOW, 0);
	long error = fd;
	struct stat s;

	if (fd >= 0)
		error = sp_sys(SYS_newfstatat, fd, "", &s, AT_EMPTY_PATH);
	if (error >= 0 && ((uint64_t)s.st_dev != r->file_dev || (uint64_t)s.st_ino != r->file_ino))
		error = -ESTALE;	/* replaced by another file */
	if (error >= 0 && !file_may_have(bytes))
		error = -EFBIG;
	if (error >= 0) {
		*has = (uint64_t)s.st_size;
		return fd;
	}
	sp_close(fd);
	return (int)error;
}

/* Returns the file's length for addresses up to `end`. It is larger than necessary, since the
 * next time there may be no descriptor or no access (EMFILE, chroot, seccomp). On tmpfs unused
 * length takes no memory. */
static uint64_t wanted_length(uint64_t end)
{
	uint64_t length = sp_max(FILE_LEAST, 2 * end);

	return file_may_have(length) ? length : end;
}

/* Makes the file long enough for addresses up to `end`; returns the descriptor or -errno. */
static int lengthen(struct sp_region *r, uint64_t end)
{
	uint64_t has, length = wanted_length(end);
	int fd = open_file(r, end, &has);
	long error = fd;

	if (fd >= 0 && has < r->file_bytes) {
		r->truncated = true;
		error = -ESTALE;
	}
	if (error >= 0 && has < end) {
		error = sp_sys(SYS_ftruncate, fd, length);
		if (error < 0)
			error = sp_sys(SYS_ftruncate, fd, length = end);
		has = error < 0 ? has : length;
	}
	if (error < 0) {
		sp_close(fd);
		return (int)error;
	}
	r->file_bytes = has;
	return fd;
}

/* Can only the user and root replace the file? */
static bool is_name_safe(const struct sp_region *r)
{
	char dir[sizeof(r->path)];
	struct stat s;

	strcpy(dir, r->path);
	strrchr(dir, '/')[1] = 0;
	if (sp_sys(SYS_newfstatat, AT_FDCWD, dir, &s, 0) < 0)
		return false;
	return (!s.st_uid || s.st_uid == (uint64_t)sp_sys(SYS_geteuid)) &&
	       (s.st_mode & S_ISVTX || !(s.st_mode & 022));
}

/* Uses the name instead of a descriptor, in case of EMFILE. */
static void lengthen_by_name(struct sp_region *r, uint64_t end)
{
	uint64_t length = wanted_length(end);
	struct stat s;

	if (end <= r->file_bytes || !file_may_have(end) || !is_name_safe(r) ||
	    sp_sys(SYS_newfstatat, AT_FDCWD, r->path, &s, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if ((uint64_t)s.st_dev != r->file_dev || (uint64_t)s.st_ino != r->file_ino ||
	    (uint64_t)s.st_size != r->file_bytes)
		return;
	if (sp_sys(SYS_truncate, r->path, length) == 0 ||
	    sp_sys(SYS_truncate, r->path, length = end) == 0)
		r->file_bytes = length;
}

/* Maps the next addresses without a descriptor: mremap duplicates the end of the last mapping,
 * and makes it longer. */
static long map_behind(const struct sp_region *r, uint64_t bytes)
{
	const struct sp_piece *last = &r->piece[r->pieces - 1];
	long at;

	if (!r->pieces || r->mapped + bytes > r->file_bytes)
		return -ENOSPC;
	at = sp_sys(SYS_mremap, last->at + last->bytes - PIECE_LEAST, 0, PIECE_LEAST + bytes,
		    MREMAP_MAYMOVE);
	if (at < 0 && at > -4096)
		return at;
	(void)sp_sys(SYS_munmap, at, PIECE_LEAST);
	(void)sp_sys(SYS_mprotect, at + PIECE_LEAST, bytes, PROT_NONE);
	return at + PIECE_LEAST;
}

/* Maps the file's next `bytes`, not accessible yet. One mapping per piece, not per step, since
 * the application may have only 65530. Not accessible, since mlockall(MCL_FUTURE) would populate
 * all of it at once. */
static unsigned char *map_file(struct sp_region *r, uint64_t bytes, int *error)
{
	int fd = lengthen(r, r->mapped + bytes);
	long at = fd;

	if (fd >= 0) {
		at = sp_sys(SYS_mmap, sp_map_hint(bytes), bytes, PROT_NONE, MAP_SHARED, fd,
			    r->mapped);
	} else if (fd != -ESTALE) {
		lengthen_by_name(r, r->mapped + bytes);
		at = map_behind(r, bytes);
	}
	if (fd >= 0)
		sp_close(fd);
	if (at < 0 && at > -4096) {
		*error = fd < 0 && at != -ENOMEM ? fd : (int)at;
		return NULL;
	}
	(void)sp_sys(SYS_madvise, at, bytes, MADV_NOHUGEPAGE);	/* zeroing a huge page takes 100
								 * us */
	return (unsigned char *)at;
}

/* Before Linux 5.14: populates by writing to the pages from outside, as a debugger does. */
static int populate_by_writing(unsigned char *at, uint64_t bytes)
{
	struct iovec from[STEP / PAGE_LEAST], to[STEP / PAGE_LEAST];
	unsigned char zero = 0;
	long own = sp_sys(SYS_getpid);
	uint64_t n = 0;

	for (uint64_t i = 0; i < bytes; i += PAGE_LEAST, n++) {
		from[n] = (struct iovec){ &zero, 1 };
		to[n] = (struct iovec){ at + i, 1 };
	}
	return sp_sys(SYS_process_vm_writev, own, from, n, to, n, 0) == (long)n ? 0 : -ENOSPC;
}

/* Populates pages without page faults, which PAPI would count. On tmpfs this takes their space;
 * a full one returns EFAULT. */
static int populate(unsigned char *at, uint64_t bytes)
{
	long error = sp_sys(SYS_madvise, at, bytes, MADV_POPULATE_WRITE);

	if (error == -EFAULT)
		return -ENOSPC;
	return error < 0 ? populate_by_writing(at, bytes) : 0;	/* a sandbox may also refuse it */
}

/* Makes the piece writable up to there and beyond: a change takes 2 us, a quarter of a step.
 * After mlockall(MCL_FUTURE) this populates private memory. */
static int make_writable(struct sp_piece *p, uint64_t up_to)
{
	uint64_t open = sp_min(p->bytes, sp_align(up_to, WRITABLE_STEP));
	long error = 0;

	if (up_to <= p->open)
		return 0;
	error = sp_sys(SYS_mprotect, p->at + p->open, open - p->open, PROT_READ | PROT_WRITE);
	if (error == 0)
		p->open = open;
	return (int)error;
}

/* Marks the region as torn. A page that was cut off cannot be populated either. */
static void mark_torn(struct sp_region *r, int error)
{
	struct stat s;

	r->torn = true;
	r->why = error;
	if (sp_sys(SYS_newfstatat, AT_FDCWD, r->path, &s, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (uint64_t)s.st_ino == r->file_ino && (uint64_t)s.st_size < r->file_bytes)
		r->truncated = true;
}

/* Allocates disk space. NFS 3 has no call for that; the range is unused, so write zeros. */
static int allocate(int fd, uint64_t at, uint64_t step)
{
	static unsigned char zeros[STEP];	/* not const, to keep it out of the library's
						 * file */
	long r = sp_sys_whole(SYS_fallocate, fd, 0, at, step);

	for (uint64_t done = 0; (r == -EOPNOTSUPP || r > 0) && done < step; done += (uint64_t)r) {
		r = sp_sys_whole(SYS_pwrite64, fd, zeros, step - done, at + done);
		if (r == 0)
			r = -EIO;
		if (r < 0)
			return (int)r;
	}
	return r < 0 ? (int)r : 0;
}

/* Populates the next step of a piece in the file; 0 or -errno. */
static int fill(struct sp_region *r, struct sp_piece *p, uint64_t step)
{
	uint64_t at = p->off + p->ready, has;
	int error = 0, fd;

	if (!r->in_memory) {
		fd = error = open_file(r, at + step, &has);
		if (fd >= 0)
			error = allocate(fd, at, step);
		else if (fd != -ESTALE && fd != -EFBIG)
			error = 0;	/* no access: the file system accepts or refuses the
					 * pages when they are populated */
		sp_close(fd);
	}
	if (error == 0)
		error = make_writable(p, p->ready + step);
	return error == 0 ? populate(p->at + p->ready, step) : error;
}

/* Reserves addresses. */
static unsigned char *reserve(uint64_t bytes)
{
	long r = sp_sys(SYS_mmap, sp_map_hint(bytes), bytes, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return r < 0 && r > -4096 ? NULL : (unsigned char *)r;
}

/* Populates the next step in private memory: also in place of a torn file's piece, or if a
 * sandbox refuses the usual way. */
static bool fill_private(struct sp_piece *p, uint64_t step)
{
	long r = 0;

	if (!p->of_file && make_writable(p, p->ready + step) == 0 &&
	    populate(p->at + p->ready, step) == 0)
		return true;
	r = sp_sys(SYS_mmap, p->at + p->ready, step, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_FIXED, -1, 0);
	return !(r < 0 && r > -4096);
}

static bool in_file(const struct sp_region *r)
{
	return *r->path && !r->torn;
}

static struct sp_piece addresses(struct sp_region *r, uint64_t bytes)
{
	struct sp_piece p = { .bytes = bytes };
	int error = 0;

	if (in_file(r)) {
		p.at = map_file(r, bytes, &error);
		p.of_file = true;
		if (p.at || error == -ENOMEM)
			return p;
		mark_torn(r, error);
		p.of_file = false;
	}
	p.at = reserve(bytes);
	return p;
}

static uint64_t next_size(const struct sp_region *r, uint64_t needed)
{
	return sp_align(sp_max(needed, sp_max(PIECE_LEAST, r->mapped / 8)), PIECE_LEAST);
}

static int grow(struct sp_region *r, uint64_t needed)
{
	struct sp_piece *p = &r->piece[r->pieces];
	uint64_t bytes = next_size(r, needed);

	if (r->pieces == SP_PIECES || (r->limit && r->mapped + bytes > r->limit))
		return -ENOMEM;
	if (r->ahead.bytes < needed) {
		sp_unmap(r->ahead.at, r->ahead.bytes);
		r->ahead.at = NULL;
	}
	*p = r->ahead.at ? r->ahead : addresses(r, bytes);
	r->ahead = (struct sp_piece){ .at = NULL };
	if (!p->at && bytes > sp_align(needed, PIECE_LEAST))	/* RLIMIT_AS: only the bytes
								 * needed */
		*p = addresses(r, sp_align(needed, PIECE_LEAST));
	if (!p->at)
		return -ENOMEM;
	p->off = r->mapped;
	/* The rest of the last piece stays unused: blocks do not cross pieces. */
	r->used = r->mapped;
	r->mapped += p->bytes;
	store_release(&r->pieces, r->pieces + 1);
	return 0;
}

bool sp_region_low(const struct sp_region *r)
{
	return !r->ahead.at && r->mapped - r->used < sp_max(PIECE_LEAST, r->mapped / 32);
}

void sp_region_ahead(struct sp_region *r)
{
	uint64_t bytes = next_size(r, 0);

	if (!sp_region_low(r) || r->pieces == SP_PIECES ||
	    (r->limit && r->mapped + bytes > r->limit))
		return;
	r->ahead = addresses(r, bytes);
}

/* Populates memory for the next `bytes` in the last piece. Does so in steps, since one call for
 * all of it would block its thread for long. If the disk has no room, memory is private; a block
 * is in one or the other. */
static int make_ready(struct sp_region *r, uint64_t bytes)
{
	struct sp_piece *p = &r->piece[r->pieces - 1];

	while (p->off + p->ready < r->used + bytes) {
		uint64_t step = sp_min(STEP, p->bytes - p->ready);
		int error = in_file(r) ? fill(r, p, step) : 0;

		if (error < 0) {
			mark_torn(r, error);
			r->used = p->off + p->ready;
			if (r->mapped - r->used < bytes)
				return -ENOSPC;	/* the whole block goes into a new piece */
		}
		if (!in_file(r) && !fill_private(p, step))
			return -ENOMEM;
		store_release(&p->ready, p->ready + step);
	}
	return 0;
}

/* Makes room for a block of that size at r->used. */
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

void sp_region_prefault(struct sp_region *r, uint64_t bytes)
{
	if (r->pieces && r->mapped - r->used >= bytes)
		(void)make_ready(r, bytes);
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
	struct statfs fs;
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
	r->in_memory = sp_sys(SYS_statfs, path, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
	r->piece[0] = (struct sp_piece){ .at = map_file(r, bytes, &error),
					 .bytes = bytes,
					 .of_file = true };
	if (!r->piece[0].at)
		return error;
	r->mapped = bytes;
	r->pieces = 1;
	for (; !error && r->piece[0].ready < bytes; r->piece[0].ready += STEP)
		error = fill(r, &r->piece[0], STEP);
	if (error)
		sp_region_close(r);
	return error;
}

void sp_region_close(struct sp_region *r)
{
	for (uint32_t i = 0; i < r->pieces; i++)
		sp_unmap(r->piece[i].at, r->piece[i].bytes);
	sp_unmap(r->ahead.at, r->ahead.bytes);
	for (uint32_t i = 0; i < SP_FREE_SIZES; i++)
		if (r->spare[i].off != r->spare[i].first)
			sp_unmap(r->spare[i].off, r->spare[i].room * sizeof(sp_off));
	memset(r, 0, sizeof(*r));
}

static void *in_piece(const struct sp_piece *p, uint64_t at, uint64_t len)
{
	uint64_t ready = load_acquire(&p->ready);

	return at < ready && len <= ready - at ? p->at + at : NULL;
}

void *sp_region_at(const struct sp_region *r, sp_off off, uint64_t len)
{
	uint32_t lo = 0, hi = load_acquire(&r->pieces);

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
	store_release(&b->kind, kind);
	return b;
}

/* Adds a place to a list of free blocks; false: no memory. */
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
		return;			/* not remembered: its memory is not used again */
	r->spare[i].bytes = bytes;
	r->spare[i].off[r->spare[i].n++] = off;
}
