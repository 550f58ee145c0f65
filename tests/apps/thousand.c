/*
 * thousand: calls PAPI at a thousand call sites, for several sets in turn. Prints the expected
 * counts: "between FROM TO TOTAL", FROM and TO being functions. usage: thousand run|read|helper
 *	run	each starts a set and stops it
 *	read	each reads, resets or accumulates
 *	helper	all read by one function
 */
#include "handed.h"

#define HERE __attribute__((noinline))
#define TEN(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define HUNDRED(m, n) \
	TEN(m, n##0) \
	TEN(m, n##1) TEN(m, n##2) TEN(m, n##3) TEN(m, n##4) TEN(m, n##5) TEN(m, n##6) TEN(m, n##7) \
		TEN(m, n##8) TEN(m, n##9)
#define THOUSAND(m) \
	HUNDRED(m, 0) \
	HUNDRED(m, 1) HUNDRED(m, 2) HUNDRED(m, 3) HUNDRED(m, 4) HUNDRED(m, 5) HUNDRED(m, 6) \
		HUNDRED(m, 7) HUNDRED(m, 8) HUNDRED(m, 9)
#define PLACES 1000
#define AT_ONCE 25			/* call sites in one run */
#define SETS 4				/* each keeps 1024 intervals */
#define PAGES(n) (1 + (n) % 3)

static struct arena *arena;
static long long values[EVENTS];

/* (Otherwise gcc merges identical functions.) */
#define APART(n) __asm__ volatile("" : : "i"(n))

#define RUN(n) \
	HERE static void run_##n(int set) \
	{ \
		must("PAPI_start", PAPI_start(set)); \
		touch(arena, PAGES(1##n)); \
		must("PAPI_stop", PAPI_stop(set, values)); \
		APART(1##n); \
	}
#define READ(n) \
	HERE static void read_##n(int set) \
	{ \
		touch(arena, PAGES(1##n)); \
		if (1##n % 3) \
			must("PAPI_read", PAPI_read(set, values)); \
		else \
			must("PAPI_accum", PAPI_accum(set, values)); \
		if (1##n % 3 == 2) \
			must("PAPI_reset", PAPI_reset(set)); \
		APART(1##n); \
	}
#define CALL(n) \
	HERE static void call_##n(int set) \
	{ \
		touch(arena, PAGES(1##n)); \
		helper(set); \
		APART(1##n); \
	}
THOUSAND(RUN)
THOUSAND(READ)

HERE static void helper(int set)
{
	must("PAPI_read", PAPI_read(set, values));
	__asm__ volatile("");
}
THOUSAND(CALL)

struct place {
	void (*visit)(int set);
	const char *name;
};
#define RUN_PLACE(n) { run_##n, "run_" #n },
#define READ_PLACE(n) { read_##n, "read_" #n },
#define CALL_PLACE(n) { call_##n, "helper<call_" #n },
static const struct place runs[PLACES] = { THOUSAND(RUN_PLACE) },
			  reads[PLACES] = { THOUSAND(READ_PLACE) },
			  calls[PLACES] = { THOUSAND(CALL_PLACE) };

static struct {
	const char *from, *to;
	int pages;
} window[20000];
static int windows;

static void note(const char *from, const char *to, int pages)
{
	window[windows].from = from;
	window[windows].to = to;
	window[windows++].pages = pages;
}

HERE static void run_at(int n, int set)
{
	runs[n].visit(set);
	note(runs[n].name, runs[n].name, PAGES(1000 + n));
	__asm__ volatile("");
}

static const char *before;

HERE static void begin(int set)
{
	must("PAPI_start", PAPI_start(set));
	before = "begin";
}

HERE static void finish(int set)
{
	touch(arena, 1);
	must("PAPI_stop", PAPI_stop(set, values));
	note(before, "finish", 1);
}

HERE static void read_at(const struct place *at, int n, int set)
{
	at[n].visit(set);
	note(before, at[n].name, PAGES(1000 + n));
	before = at[n].name;
	__asm__ volatile("");
}

/* Visits each place in turn, some several times. */
HERE static void visit_all(const struct place *at, const int *set)
{
	for (int n = 0, s = 0; n < PLACES; n++) {
		if (n % AT_ONCE == 0)
			begin(set[s = (s + 1) % SETS]);
		for (int i = 0; i < (n % 10 ? 1 : 4); i++)
			read_at(at, n, set[s]);
		if (n % AT_ONCE == AT_ONCE - 1)
			finish(set[s]);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "run";
	struct counted *c;
	int set[SETS];

	papi_up();
	c = counted_new(0, NULL, 20000);
	arena = &c->arena;
	for (int s = 0; s < SETS; s++)
		set[s] = set_with(DEFAULT_EVENT);
	prefault();
	memset(window, 1, sizeof(window));	/* (avoid a page fault here while a set counts) */
	pin(0);
	for (int round = 0; round < 3; round++) {
		for (int n = 0; n < PLACES && !strcmp(what, "run"); n++)
			run_at(n, set[n % SETS]);
		if (strcmp(what, "run"))
			visit_all(strcmp(what, "helper") ? reads : calls, set);
	}
	for (int i = 0; i < windows; i++)
		printf("between %s %s %d\n", window[i].from, window[i].to, window[i].pages);
	return 0;
}
