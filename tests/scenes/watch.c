/*
 * watch: counts another thread, of any process, by attaching to it. usage: watch TID
 */
#include "scene.h"

int main(int argc, char **argv)
{
	struct counted *c;

	if (argc != 2)
		return 2;
	up();
	c = SET("EV_A");
	must("PAPI_attach", PAPI_attach(c->id, strtoul(argv[1], NULL, 10)));
	begin(c);
	fake_count("EV_A", 5);
	look(c);
	end(c);
	return 0;
}
