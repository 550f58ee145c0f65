/* key-index.c: a hash table from keys to numbers; digests. */
#include "cmd.h"
#include "key-index.h"

static uint64_t mix_hash(uint64_t h, uint64_t word, uint64_t factor)
{
	h = (h ^ word) * factor;
	return h ^ h >> 32;
}

void sp_digest_add(struct sp_digest *d, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (; n; p += sp_min(n, 8), n -= sp_min(n, 8)) {
		uint64_t word = 0;

		memcpy(&word, p, sp_min(n, 8));
		d->a = mix_hash(d->a + 0x9e3779b97f4a7c15u, word, 0xff51afd7ed558ccdu);
		d->b = mix_hash(d->b + n, word << 31 | word >> 33, 0xc4ceb9fe1a85ec53u);
	}
}

int sp_digest_compare(const struct sp_digest *x, const struct sp_digest *y)
{
	return SP_COMPARE(x->a, y->a) ?: SP_COMPARE(x->b, y->b);
}

int sp_name_compare(const struct sp_name *a, const struct sp_name *b)
{
	return memcmp(a->key, b->key, sp_min(a->bytes, b->bytes)) ?: SP_COMPARE(a->bytes, b->bytes);
}

static void widen(struct sp_names *t)
{
	uint32_t slots = t->slots ? 2 * t->slots : 256;
	uint32_t *slot = sp_check_alloc(calloc(slots, sizeof(*slot)));

	t->name = sp_check_alloc(reallocarray(t->name, slots / 2, sizeof(*t->name)));
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t at = (uint32_t)t->name[i].hash & (slots - 1);

		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = i + 1;
	}
	free(t->slot);
	t->slot = slot;
	t->slots = slots;
}

/* Returns the slot with the key's number, or the empty slot for it. There must be slots. */
static uint32_t slot_of(const struct sp_names *t, uint64_t hash, const void *key, size_t bytes)
{
	uint32_t at = (uint32_t)hash & (t->slots - 1);

	for (; t->slot[at]; at = (at + 1) & (t->slots - 1)) {
		const struct sp_name *name = &t->name[t->slot[at] - 1];

		if (name->hash == hash && name->bytes == bytes &&
		    memcmp(name->key, key, bytes) == 0)
			break;
	}
	return at;
}

uint32_t sp_names_find(const struct sp_names *t, const void *key, size_t bytes)
{
	struct sp_digest d = { 0 };
	uint32_t slot;

	sp_digest_add(&d, key, bytes);
	slot = t->slots ? t->slot[slot_of(t, d.a, key, bytes)] : 0;
	return slot ? slot - 1 : SP_NO_NAME;
}

uint32_t sp_names_number(struct sp_names *t, const void *key, size_t bytes)
{
	struct sp_digest d = { 0 };
	struct sp_name *name;
	uint32_t at;

	sp_digest_add(&d, key, bytes);
	if (2 * t->n >= t->slots)
		widen(t);
	at = slot_of(t, d.a, key, bytes);
	if (t->slot[at])
		return t->slot[at] - 1;
	name = &t->name[t->n];
	name->hash = d.a;
	name->bytes = bytes;
	name->key = sp_check_alloc(malloc(bytes + 1));
	memcpy(name->key, key, bytes);
	name->key[bytes] = 0;
	t->slot[at] = ++t->n;
	return t->n - 1;
}

static int by_name(const void *a, const void *b, void *names)
{
	const struct sp_names *t = names;

	return sp_name_compare(&t->name[*(const uint32_t *)a], &t->name[*(const uint32_t *)b]);
}

void sp_names_sort(const struct sp_names *t, uint32_t **order, uint32_t **rank)
{
	*order = sp_check_alloc(calloc(t->n + 1, sizeof(uint32_t)));
	*rank = sp_check_alloc(calloc(t->n + 1, sizeof(uint32_t)));
	for (uint32_t i = 0; i < t->n; i++)
		(*order)[i] = i;
	qsort_r(*order, t->n, sizeof(uint32_t), by_name, (void *)t);
	for (uint32_t i = 0; i < t->n; i++)
		(*rank)[(*order)[i]] = i;
}

void sp_names_free(struct sp_names *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->name[i].key);
	free(t->name);
	free(t->slot);
	memset(t, 0, sizeof(*t));
}
