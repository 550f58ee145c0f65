/* level-options.c: --per-LEVEL, an option for each level. */
#include <getopt.h>

#include "../../formats/level.h"
#include "cmd.h"

unsigned sp_level_options(struct option *longs)
{
	static char names[SP_LEVEL_OPTIONS][16];
	unsigned n = 0;

	for (unsigned i = 0; i < sp_n_levels && n + 2 <= SP_LEVEL_OPTIONS; i++)
		for (unsigned also = 0; also < 2; also++) {
			const char *name = also ? sp_level_table[i].also : sp_level_table[i].name;

			if (!name)
				continue;
			snprintf(names[n], sizeof(names[n]), "per-%s", name);
			longs[n] = (struct option){ names[n], no_argument, NULL,
						    SP_LEVEL_FIRST + (int)n };
			n++;
		}
	return n;
}
