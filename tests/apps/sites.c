/*
 * sites: counts between pairs of calls, by name: two regions, and a function that starts and stops;
 * with plug-ins, the same in objects that are loaded and unloaded. Prints the expected counts:
 * "between FROM TO TOTAL", FROM and TO being functions.
 * usage: sites [PLUGIN...]		each is loaded, called and unloaded in turn
 *	 sites -k PLUGIN		killed before the first stop
 *	 sites -m reads in 200 places, on up to four CPUs, between one start and its stop
 *	 sites -p			reads, accumulates and stops by a pointer, at one call site
 *	 sites -g			reads from code with arbitrary values in the frame register
 */
#include "handed.h"

static struct counted *c;
static long long values[EVENTS];

#define HERE __attribute__((noinline))

int region_a(void), region_b(void), measured(long pages);
int one_place(int (*call)(int, long long *), long pages), by_pointer(void);

HERE int region_a(void)
{
	must("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, 10);
	must("PAPI_read", PAPI_read(c->id, values));
	touch(&c->arena, 20);
	must("PAPI_stop", PAPI_stop(c->id, values));
	return 30;
}

HERE int region_b(void)
{
	must("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, 500);
	must("PAPI_stop", PAPI_stop(c->id, values));
	return 500;
}

HERE int measured(long pages)
{
	must("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, pages);
	must("PAPI_stop", PAPI_stop(c->id, values));
	return (int)pages;
}

#define READ_ONE touch(&c->arena, 1); must("PAPI_read", PAPI_read(c->id, values));
#define READ_FIVE READ_ONE READ_ONE READ_ONE READ_ONE READ_ONE
#define READ_FIFTY \
	READ_FIVE READ_FIVE READ_FIVE READ_FIVE READ_FIVE READ_FIVE READ_FIVE READ_FIVE READ_FIVE \
		READ_FIVE

int reads_200(void);
HERE int reads_200(void)
{
	READ_FIFTY READ_FIFTY READ_FIFTY READ_FIFTY
	return 200;
}

HERE static int many_places(void)
{
	must("PAPI_start", PAPI_start(c->id));
	for (int i = 0; i < 4; i++) {
		pin(i);
		must("PAPI_reset", PAPI_reset(c->id));
		reads_200();
	}
	must("PAPI_stop", PAPI_stop(c->id, values));
	return 0;
}

/* PAPI_read(id, values) with @garbage in the frame register. */
int read_garbled(int id, long long *into, uintptr_t garbage);
__asm__(".globl read_garbled\n .type read_garbled, %function\nread_garbled:\n"
#if defined(__aarch64__)
	"	stp	x29, x30, [sp, #-16]!\n	mov	x29, x2\n	bl	PAPI_read\n	"
	"ldp	x29, x30, [sp], #16\n	ret\n"
#elif defined(__x86_64__)
	"	push	%rbp\n	mov	%rdx, %rbp\n	call	PAPI_read@PLT\n	pop	%rbp\n	"
	"ret\n"
#endif
	"	.size	read_garbled, . - read_garbled\n");

HERE static int garbled(void)
{
	uintptr_t self[2] = { (uintptr_t)self, (uintptr_t)garbled };
	const uintptr_t garbage[] = { 0,
				      1,
				      4096,
				      (uintptr_t)self,
				      (uintptr_t)self + 1,
				      UINTPTR_MAX,
				      UINTPTR_MAX - 7,
				      UINTPTR_MAX / 2 - 4095,
				      (uintptr_t)c->arena.next };
	long long seen[sizeof(garbage) / sizeof(*garbage)];
	int end;

	must("PAPI_start", PAPI_start(c->id));
	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++) {
		touch(&c->arena, 1);
		must("PAPI_read", read_garbled(c->id, values, garbage[i]));
		seen[i] = values[0];
	}
	end = PAPI_stop(c->id, values);
	/* printf's buffer faults or not, depending on the heap's end. */
	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++)
		printf("%lld\n", seen[i]);
	return end;
}

static void between(const char *from, const char *to, long total)
{
	printf("between %s %s %ld\n", from, to, total);
}

/* Makes any of these calls from one call site. */
HERE int one_place(int (*call)(int, long long *), long pages)
{
	int rc;

	touch(&c->arena, pages);
	rc = call(c->id, values);
	__asm__ volatile("" : "+r"(rc));	/* no tail call */
	return rc;
}

/* Readings that change only the counts, and the call that ends them, have one return address. */
HERE int by_pointer(void)
{
	for (int i = 0; i < 2; i++) {
		must("PAPI_start", PAPI_start(c->id));
		must("PAPI_read", one_place(PAPI_read, 3));
		for (int k = 0; k < 5; k++)
			must("PAPI_read", one_place(PAPI_read, 1));
		must("PAPI_accum", one_place(PAPI_accum, 2));
		must("PAPI_read", one_place(PAPI_read, 4));
		must("PAPI_stop", one_place(PAPI_stop, 0));
	}
	between("by_pointer", "one_place", 2 * 3);
	between("one_place", "one_place", 2 * 11);
	return 0;
}

/* Reads 10 pages after the start, loads the plug-in, which reads 40 more, and is killed. */
HERE static int killed(const char *path)
{
	void *plugin;
	int (*reads)(int, void (*)(void *, long), void *, long);
	long long before;

	must("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, 10);
	must("PAPI_read", PAPI_read(c->id, values));
	plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	reads = plugin ? (int (*)(int, void (*)(void *, long), void *, long))dlsym(plugin,
										   "plugin_reads")
		       : NULL;
	if (!reads)
		return 1;
	must("PAPI_read", PAPI_read(c->id, values));
	before = values[0];
	must("plugin", reads(c->id, (void (*)(void *, long))touch, &c->arena, 40));
	must("PAPI_read", PAPI_read(c->id, values));
	printf("%lld\n", values[0] - before);
	fflush(stdout);
	return raise(SIGKILL);
}

/* The plug-in starts and stops the given set, for 40 pages. */
static int call_plugin(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*work)(int, void (*)(void *, long), void *, long);

	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	work = (int (*)(int, void (*)(void *, long), void *, long))dlsym(plugin, "plugin_work");
	fprintf(stderr, "%p\n", (void *)work);
	must("plugin", work(c->id, (void (*)(void *, long))touch, &c->arena, 40));
	return dlclose(plugin);
}

int main(int argc, char **argv)
{
	papi_up();
	c = counted_new(0, NULL, 10000);
	make_set(c);
	prefault();
	pin(0);
	if (argc > 2 && !strcmp(argv[1], "-k"))
		return killed(argv[2]);
	if (argc > 1 && !strcmp(argv[1], "-m"))
		return many_places();
	if (argc > 1 && !strcmp(argv[1], "-g"))
		return garbled();
	if (argc > 1 && !strcmp(argv[1], "-p"))
		return by_pointer();
	region_a();
	region_b();
	region_a();
	measured(900);
	for (int i = 1; i < argc; i++)
		call_plugin(argv[i]);
	/* region_a: to its read, and after it; all others from start to stop. */
	between("region_a", "region_a", 20);
	between("region_a", "region_a", 40);
	between("region_b", "region_b", 500);
	between("measured", "measured", 900);
	return 0;
}
