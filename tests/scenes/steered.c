/*
 * steered: counts what it is told: each number on standard input is so many EV_A on the first
 * CPU, and a reading; 0 sleeps 60 s. At the end of the input it stops the set and ends. A line
 * on standard output for each.
 */
#include "scene.h"

int main(void)
{
	struct counted *c;
	char line[64];

	up();
	c = SET("EV_A", "EV_B");
	pin(0);
	begin(c);
	while (fgets(line, sizeof(line), stdin)) {
		if (!atoi(line))
			sleep(240);
		fake_count("EV_A", atoi(line));
		look(c);
		puts("counted");
		fflush(stdout);
	}
	end(c);
	return 0;
}
