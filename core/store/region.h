/* region.h: the memory of a store, mapped piece by piece, addressed by offset.
 *
 * The pieces are private memory, or parts of a file that outlives the process
 * (live.h makes it).  Space in the file is allocated before it is used, so that a
 * full disk is a refusal here and never a SIGBUS later; where it is refused, the
 * region goes on in private memory and `torn` says so.  No descriptor stays open, and
 * a file on tmpfs grows without one: it is made longer than what is used of it.
 *
 * Pieces are mapped when they are needed and stay where they are: pointers into
 * them hold until sp_region_close.  Of a piece's addresses the memory is made and
 * populated 8 KiB at a time, so that no call takes long; a piece is one mapping of the
 * process or two, however many steps it has.  No large stretch of addresses is reserved,
 * since an application may live under a small RLIMIT_AS.  The table of pieces and
 * the lists of free blocks are private memory: nothing that the writer follows
 * can be changed through the store's bytes.
 *
 * sp_region_alloc and sp_region_free are called with the store's lock held;
 * sp_region_at needs none (pieces are only ever added).
 */
#ifndef SP_REGION_H
#define SP_REGION_H

#include "layout.h"

#define SP_PIECES	192u		/* grow by an eighth each: more than any machine has
					 * memory */
#define SP_FREE_SLOTS	128u		/* free blocks remembered of each size without more
					 * memory */
#define SP_FREE_SIZES	16u

struct sp_piece {
	uint64_t off, bytes;		/* addresses that it has */
	uint64_t ready;			/* bytes of them with memory behind, populated; only
					 * grows */
	uint64_t open;			/* bytes that the kernel lets us write to */
	bool of_file;
	unsigned char *at;
};

struct sp_spare {
	uint64_t bytes;
	uint32_t n, room;
	sp_off *off;			/* first, until that is full */
	sp_off first[SP_FREE_SLOTS];
};

struct sp_region {
	uint64_t used;			/* bytes handed out, from the start */
	uint64_t mapped;
	uint64_t limit;			/* 0: none */
	bool in_memory;			/* the file is on tmpfs, whose space is taken page by
					 * page */
	bool torn;			/* some of it is not in the file */
	int why;			/* then: -errno */
	uint64_t file_bytes;		/* the file's length, as we made it */
	bool truncated;			/* somebody cut the file; part of the store is lost */
	uint64_t file_dev, file_ino;	/* of the file at path; to know it again */
	char path[512];			/* "": private memory */
	uint32_t pieces;		/* published after the piece it counts */
	struct sp_piece piece[SP_PIECES];
	struct sp_piece ahead;		/* addresses of the next one, if they are there already */
	struct sp_spare spare[SP_FREE_SIZES];
};

/* In private memory.  0 or -errno.  The first piece holds at least `first` bytes. */
int sp_region_open(struct sp_region *r, uint64_t first);

/* In the file at path, which is there, empty and the caller's own.  -errno: it cannot
 * be used, and nothing is open. */
int sp_region_open_file(struct sp_region *r, uint64_t first, const char *path);

/* Unmaps; the file, if any, stays. */
void sp_region_close(struct sp_region *r);

/* A zeroed block of this kind, its head filled in, populated so that using it takes no page fault
 * (nor does making it, that PAPI would count); NULL where there is no memory.  At least 8 and
 * aligned to 64 bytes. */
void *sp_region_alloc(struct sp_region *r, uint32_t kind, uint64_t bytes, sp_off *off);

/* Will addresses be wanted soon?  To get them takes some 30 us: a call that must not be long
 * does that, and none of its memory. */
bool sp_region_low(const struct sp_region *r);
void sp_region_ahead(struct sp_region *r);

/* Memory for the next `bytes`, as far as there are addresses, ahead of who needs it and must not be
 * long: some 4 us a page. */
void sp_region_prefault(struct sp_region *r, uint64_t bytes);

/* Gives a block back.  The caller has unlinked it; bytes as it was asked for. */
void sp_region_free(struct sp_region *r, sp_off off, uint64_t bytes);

void *sp_region_at(const struct sp_region *r, sp_off off, uint64_t len);

#endif
