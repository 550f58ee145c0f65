/*
 * migration: a thread that moves while it counts.
 * Touches A pages on the first CPU, reads, moves to the second, touches B,
 * stops. usage: migration [-a A] [-b B] [event...]
 */
#include "calls.h"

static void count(struct counted *c, long a, long b)
{
	pin(0);
	must("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, a);
	look(c);
	pin(1);
	touch(&c->arena, b);
	end(c);
}

int main(int argc, char **argv)
{
	long a = 1000, b = 3000;
	struct counted *c;
	int opt;

	while ((opt = getopt(argc, argv, "a:b:")) != -1)
		*(opt == 'a' ? &a : &b) = atol(optarg);
	papi_up();
	c = counted_new(argc - optind, argv + optind, a + b);
	make_set(c);
	prefault();
	count(c, a, b);
	return print_handed(c, "");
}
