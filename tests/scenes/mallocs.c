/*
 * mallocs: counts 5 EV_A in a program whose malloc or hwloc is its own, so that sspapi's hwloc must
 * mix with neither. usage: mallocs Built with OWN_MALLOC: malloc is the program's; USES_HWLOC: it
 * uses libhwloc before and after it counts; OTHER_HWLOC: functions of another hwloc are in the
 * program. Afterwards it opens libhwloc and frees what that gave.
 */
#include "scene.h"

#include <dlfcn.h>

#ifdef OWN_MALLOC
/* As in programs with jemalloc. It never frees, and ends the program with status 99 when it is to
 * free what it did not allocate. */
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
#endif

#ifdef OTHER_HWLOC
void hwloc_topology_init(void);
void hwloc_bitmap_alloc(void);
void hwloc_get_api_version(void);
void hwloc_topology_init(void) { abort(); }
void hwloc_bitmap_alloc(void) { abort(); }
void hwloc_get_api_version(void) { abort(); }
#endif

#ifdef USES_HWLOC
#include <hwloc.h>

static void use_hwloc(void)
{
	hwloc_topology_t topology;
	char *cpus = NULL;

	if (hwloc_topology_init(&topology) || hwloc_topology_load(topology) ||
	    hwloc_bitmap_list_asprintf(&cpus, hwloc_topology_get_topology_cpuset(topology)) < 0)
		die("hwloc");
	puts(cpus);
	free(cpus);
	hwloc_topology_destroy(topology);
}
#else
static void use_hwloc(void)
{
}
#endif

/* A plugin that brings hwloc gets one that lives by the program's malloc and environment. (Beside
 * OTHER_HWLOC it could not run natively.) */
static void open_hwloc(void)
{
#ifndef OTHER_HWLOC
	void *library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL), *set;
	void *(*allocate)(void);
	int (*print)(char **, void *);
	char *text = NULL;

	if (!library) {
		puts("no libhwloc");
		return;
	}
	*(void **)&allocate = dlsym(library, "hwloc_bitmap_alloc_full");
	*(void **)&print = dlsym(library, "hwloc_bitmap_list_asprintf");
	set = allocate();
	if (print(&text, set) < 0)
		die("hwloc_bitmap_list_asprintf");
	puts(text);
	free(text);
#endif
}

int main(void)
{
	struct counted *c;

	use_hwloc();
	up();
	c = SET("EV_A");
	pin(0);
	begin(c);
	fake_count("EV_A", 5);
	end(c);
	print_handed(c, "");
	use_hwloc();
	open_hwloc();
	return 0;
}
