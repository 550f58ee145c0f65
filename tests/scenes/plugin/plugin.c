/*
 * plugin: a shared object with a libpapi of its own; for plugin-pair, which
 * loads several. count() is one measurement that goes on where the last ended.
 */
#include "../scene.h"

int count(int n);

int count(int n)
{
	static struct counted *c;
	char who[32];

	if (!c) {
		up();
		c = SET("EV_A");
	}
	c->readings = 0;
	begin(c);
	fake_count("EV_A", n);
	look(c);
	fake_count("EV_A", n);
	end(c);
	snprintf(who, sizeof(who), " papi=%x", fake_version());
	return print_handed(c, who);
}
