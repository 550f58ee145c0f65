/* key-index.h: keys (any bytes) and the numbers 0, 1, 2 ... that they get as they come. */
#pragma once

#include "../../base/base.h"

struct sp_names {
	uint32_t n;
	struct sp_name {
		uint64_t hash;
		size_t bytes;
		unsigned char *key;	/* a copy */
	} *name;
	uint32_t *slot;			/* private: number + 1, by hash */
	uint32_t slots;
};

/* The key's number; sp_names_find adds none: SP_NO_NAME if it is new. */
#define SP_NO_NAME UINT32_MAX
uint32_t sp_names_number(struct sp_names *t, const void *key, size_t bytes);
uint32_t sp_names_find(const struct sp_names *t, const void *key, size_t bytes);
void sp_names_free(struct sp_names *t);

/* By their keys: order [place] → number, and rank, its inverse.  The caller frees both. */
void sp_names_sort(const struct sp_names *t, uint32_t **order, uint32_t **rank);

/* As memcmp(3); of two keys of which one begins the other the shorter is less. */
int sp_name_compare(const struct sp_name *a, const struct sp_name *b);

/* 128 bits that stand for any number of bytes, fed in the same pieces. */
struct sp_digest {
	uint64_t a, b;
};
void sp_digest_add(struct sp_digest *d, const void *bytes, size_t n);
int sp_digest_compare(const struct sp_digest *x, const struct sp_digest *y);
