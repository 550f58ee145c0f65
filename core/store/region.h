/* region.h: memory of a store, mapped in pieces and addressed by offset.
 *
 * Pieces are private memory, or parts of the live file, which outlives the process (live.h). File
 * space is allocated before use, so a full disk is an error here and never a SIGBUS. After such an
 * error the region continues in private memory, and `torn` is set. No descriptor stays open. On
 * tmpfs the file grows without one, since it is longer than its used part.
 *
 * Pieces are mapped as needed and never move: pointers into them are valid until sp_region_close.
 * Memory is populated in steps of 8 KiB, so that no call takes long; a piece is one or two
 * mappings, however many steps it has. No large address range is reserved, since the application
 * may have a small RLIMIT_AS. The table of pieces and the lists of free blocks are private memory:
 * nothing that the writer follows can be changed through the store's bytes.
 *
 * sp_region_alloc and sp_region_free need the store's lock; sp_region_at does not, since pieces
 * are only added.
 */
#ifndef SP_REGION_H
#define SP_REGION_H

#include "layout.h"

#define SP_PIECES	192u		/* each is an eighth larger: enough for any machine's
					 * memory */
#define SP_FREE_SLOTS	128u		/* free blocks of each size remembered without more
					 * memory */
#define SP_FREE_SIZES	16u

struct sp_piece {
	uint64_t off, bytes;		/* range in the store */
	uint64_t ready;			/* bytes that are populated; only grows */
	uint64_t open;			/* bytes that are writable */
	bool of_file;
	unsigned char *at;
};

struct sp_spare {
	uint64_t bytes;
	uint32_t n, room;
	sp_off *off;			/* `first` until that is full */
	sp_off first[SP_FREE_SLOTS];
};

struct sp_region {
	uint64_t used;			/* bytes handed out */
	uint64_t mapped;
	uint64_t limit;			/* 0: none */
	bool in_memory;			/* the file is on tmpfs, which allocates by page */
	bool torn;			/* part of the store is not in the file */
	int why;			/* if torn: -errno */
	uint64_t file_bytes;		/* the file's length, as made here */
	bool truncated;			/* another process shortened the file: part of the store
					 * is lost */
	uint64_t file_dev, file_ino;	/* identity of the file at path */
	char path[512];			/* "": private memory */
	uint32_t pieces;		/* stored after the piece that it counts */
	struct sp_piece piece[SP_PIECES];
	struct sp_piece ahead;		/* addresses of the next piece, if reserved */
	struct sp_spare spare[SP_FREE_SIZES];
};

/* Opens a region in private memory, whose first piece has at least `first` bytes. 0 or -errno. */
int sp_region_open(struct sp_region *r, uint64_t first);

/* Opens it in the caller's empty file at path. -errno: unusable; nothing is open. */
int sp_region_open_file(struct sp_region *r, uint64_t first, const char *path);

/* Unmaps the region; a file stays. */
void sp_region_close(struct sp_region *r);

/* Returns a zeroed block with its head filled in, populated so that neither this call nor its
 * use causes page faults, which PAPI would count. NULL: no memory. At least 8 bytes, aligned to
 * 64. */
void *sp_region_alloc(struct sp_region *r, uint32_t kind, uint64_t bytes, sp_off *off);

/* Does the region need addresses soon? Getting them takes about 30 us, so a call that must be
 * short gets addresses, but no memory. */
bool sp_region_low(const struct sp_region *r);
void sp_region_ahead(struct sp_region *r);

/* Populates the next `bytes`, as far as there are addresses, for a later call that must be
 * short: about 4 us per page. */
void sp_region_prefault(struct sp_region *r, uint64_t bytes);

/* Frees a block that the caller has unlinked; bytes as in sp_region_alloc. */
void sp_region_free(struct sp_region *r, sp_off off, uint64_t bytes);

void *sp_region_at(const struct sp_region *r, sp_off off, uint64_t len);

#endif
