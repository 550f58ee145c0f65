/* own-malloc.h: a malloc of the program's own, as in programs with jemalloc. It never frees, and ends the program with
 * status 99 when it is to free what it did not allocate. To be included by one file. */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define MINE	0x5a5a1234abcd9876u

static char pool[256 << 20];
static size_t used;

void *malloc(size_t n)
{
	size_t at = __atomic_fetch_add(&used, ((n + 15) & ~(size_t)15) + 16, __ATOMIC_RELAXED);
	uint64_t *head = (uint64_t *)(pool + at);

	if (at + n + 16 > sizeof(pool))
		return NULL;
	head[0] = MINE;
	head[1] = n;
	return head + 2;
}

static uint64_t *head_of(void *p)
{
	uint64_t *head = (uint64_t *)p - 2;

	if ((char *)p < pool || (char *)p >= pool + sizeof(pool) || head[0] != MINE) {
		(void)!write(2, "# freed what another malloc gave\n", 33);
		_exit(99);
	}
	return head;
}

void free(void *p)
{
	if (p)
		head_of(p);
}

void *calloc(size_t n, size_t each)
{
	return malloc(n * each);	/* the pool is zero */
}

void *realloc(void *p, size_t n)
{
	void *q = malloc(n);
	size_t old = p ? (size_t)head_of(p)[1] : 0;

	return q && p ? memcpy(q, p, old < n ? old : n) : q;
}
