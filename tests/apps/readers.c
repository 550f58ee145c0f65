/*
 * readers: 40 functions that read one event set in an order that hardly repeats: more pairs of calls
 * than a table shows, and no more call sites than functions. Prints how many pages each has read.
 */
#include "handed.h"

static struct counted *c;
static long long values[EVENTS];

#define READER(n) \
	static __attribute__((noinline)) void reader_##n(void) \
	{ \
		touch(&c->arena, 1); \
		must("PAPI_read", PAPI_read(c->id, values)); \
	}
#define TEN(what, n) what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5) what(n##6) what(n##7) what(n##8) what(n##9)
TEN(READER, 1) TEN(READER, 2) TEN(READER, 3) TEN(READER, 4)

#define NAME(n) { "reader_" #n, reader_##n, 0 },
static struct {
	const char *name;
	void (*read)(void);
	long pages;
} readers[] = { TEN(NAME, 1) TEN(NAME, 2) TEN(NAME, 3) TEN(NAME, 4) };

int main(int argc, char **argv)
{
	unsigned state = 1;

	papi_up();
	c = counted_new(argc - 1, argv + 1, 1000);
	make_set(c);
	prefault();
	must("PAPI_start", PAPI_start(c->id));
	for (int i = 0; i < 400; i++) {
		state = state * 1103515245u + 12345u;
		readers[(state >> 16) % 40].read();
		readers[(state >> 16) % 40].pages++;
	}
	must("PAPI_stop", PAPI_stop(c->id, values));
	for (int i = 0; i < 40; i++)
		printf("%s %ld\n", readers[i].name, readers[i].pages);
	return 0;
}
