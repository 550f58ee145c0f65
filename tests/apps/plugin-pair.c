/*
 * plugin-pair: a program without PAPI that loads plugins, each with its own libpapi, and lets them
 * count in turn. usage: plugin-pair [+]PLUGIN...; + opens it with RTLD_GLOBAL
 */
#include "touch.h"

#define ROUNDS 3

int main(int argc, char **argv)
{
	int (*count[8])(int);
	int n = argc - 1 > 8 ? 8 : argc - 1, ret = 0;

	for (int i = 0; i < n; i++) {
		int global = *argv[i + 1] == '+';
		void *plugin = dlopen(argv[i + 1] + global,
				      RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));

		if (!plugin) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		count[i] = (int (*)(int))dlsym(plugin, "count");
	}
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < n; i++) {
			pin(round + i);
			ret |= count[i](10 * i + round + 1);
		}
	return ret;
}
