/*
 * plugin-host: a program without PAPI that loads a plugin with PAPI.
 * usage: plugin-host [local|global [plugin]]	default: local, plugin.so in its folder
 */
#include "touch.h"

static const char *beside_me(void)
{
	static char path[4096 + sizeof("/plugin.so")];
	ssize_t n = readlink("/proc/self/exe", path, 4096);

	while (n > 0 && path[n - 1] != '/')
		n--;
	strcpy(path + (n < 0 ? 0 : n), "plugin.so");
	return path;
}

int main(int argc, char **argv)
{
	int global = argc > 1 && !strcmp(argv[1], "global");
	const char *path = argc > 2 ? argv[2] : beside_me();
	void *plugin = dlopen(path, RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
	int (*count)(int);
	int ret = 0;

	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	count = (int (*)(int))dlsym(plugin, "count");
	for (int i = 0; i < 2; i++) {
		pin(i);
		ret |= count(1000 + 1000 * i);
	}
	dlclose(plugin);
	return ret;
}
