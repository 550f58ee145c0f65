/* key-index.h: numbers keys (any bytes) 0, 1, 2 ... in order of appearance. */
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

/* Returns the key's number; sp_names_find does not add it: SP_NO_NAME. */
#define SP_NO_NAME UINT32_MAX
uint32_t sp_names_number(struct sp_names *t, const void *key, size_t bytes);
uint32_t sp_names_find(const struct sp_names *t, const void *key, size_t bytes);
void sp_names_free(struct sp_names *t);

/* Sorts by key: order[place] is a number, rank its inverse. The caller frees both. */
void sp_names_sort(const struct sp_names *t, uint32_t **order, uint32_t **rank);

/* Compares like memcmp(3); a prefix is less than the longer key. */
int sp_name_compare(const struct sp_name *a, const struct sp_name *b);

/* 128-bit hash of any number of bytes, which must be added in the same pieces. */
struct sp_digest {
	uint64_t a, b;
};
void sp_digest_add(struct sp_digest *d, const void *bytes, size_t n);
int sp_digest_compare(const struct sp_digest *x, const struct sp_digest *y);
