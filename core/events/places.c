/* places.c: see places.h. */
#include <stdlib.h>
#include <string.h>

#include "../base/cpu-list.h"
#include "../base/out.h"
#include "../base/sys.h"
#include "places.h"

#define NOT_KNOWN SP_NO_CPU

/* The number right after `word` in the name, or NOT_KNOWN. */
static int number_after(const char *name, const char *word)
{
	int n = 0;

	for (name = strstr(name, word); name; name = strstr(name, word)) {
		name += strlen(word);
		if (*name < '0' || *name > '9')
			continue;
		for (; *name >= '0' && *name <= '9' && n < 1000000; name++)
			n = n * 10 + (*name - '0');
		return n;
	}
	return NOT_KNOWN;
}

static struct sp_event_place at(enum sp_place_kind place, int id)
{
	return (struct sp_event_place){ place, id };
}

static const struct sp_event_place machine = { SP_PLACE_MACHINE, NOT_KNOWN },
			     unknown = { SP_PLACE_UNKNOWN, NOT_KNOWN };

/* Read the kernel's name of a zone from /sys/class/powercap/intel-rapl:ZONE[:SUBZONE]/name. */
static bool zone_name(int zone, int subzone, char text[64])
{
	char path[96];

	if (subzone >= 0)
		sp_text_f(path, sizeof(path), "/sys/class/powercap/intel-rapl:%d:%d/name", zone,
			  subzone);
	else
		sp_text_f(path, sizeof(path), "/sys/class/powercap/intel-rapl:%d/name", zone);
	return sp_read_file(path, text, 64) > 0;
}

/* A zone's number is arbitrary; its name has the package: package-1, psys. */
static struct sp_event_place powercap(const char *name)
{
	int zone = number_after(name, ":ZONE"), subzone = number_after(name, "_SUBZONE"),
	    package = zone;
	char text[64];

	if (zone < 0)
		return unknown;
	if (zone_name(zone, NOT_KNOWN, text)) {
		int die = number_after(text, "-die-");

		package = number_after(text, "package-");
		if (package < 0)
			return machine;		/* psys: the whole platform */
		if (die >= 0 && die < 256 && package < 65536)
			return at(SP_PLACE_DIE, package << 8 | die);
	}
	if (subzone >= 0 && zone_name(zone, subzone, text) && strncmp(text, "dram", 4) == 0)
		return at(SP_PLACE_MEMORY, package);
	return at(SP_PLACE_PACKAGE, package);
}

static struct sp_event_place uncore(const char *name)
{
	bool memory = strstr(name, "_imc") || strstr(name, "_umc");

	return at(memory ? SP_PLACE_MEMORY_OF_CPU : SP_PLACE_PACKAGE_OF_CPU,
		  number_after(name, ":cpu="));
}

/* rapl, libmsr: NAME:PACKAGE0; others: NAME_SOCKET0 */
static struct sp_event_place package(const char *name)
{
	int id = number_after(name, "PACKAGE");

	if (id < 0)
		id = number_after(name, "SOCKET");
	if (strstr(name, "PSYS_ENERGY"))
		return machine;
	return at(strstr(name, "DRAM_ENERGY") ? SP_PLACE_MEMORY : SP_PLACE_PACKAGE, id);
}

/* hwmon2/device is a link to the sensor: coretemp.1 is in package 1. */
static struct sp_event_place coretemp(const char *name)
{
	int hwmon = number_after(name, "hwmon"), id;
	char path[64], link[256];
	long n;

	if (hwmon < 0)
		return unknown;
	sp_text_f(path, sizeof(path), "/sys/class/hwmon/hwmon%d/device", hwmon);
	n = sp_sys(SYS_readlinkat, AT_FDCWD, path, link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = 0;
	id = number_after(link, "coretemp.");
	return id < 0 ? unknown : at(SP_PLACE_PACKAGE, id);
}

/* Convert the number of a GPU in a process that may use only some, as launchers arrange for ranks.
 * With "2,3" GPU 0 is number 2. NOT_KNOWN if the list has other names (GPU-8932f937-...) or no such
 * entry. */
static int visible_gpu(const char *variable, int id)
{
	const char *list = variable ? secure_getenv(variable) : NULL;
	uint64_t from, to;

	if (!list)
		return id;
	for (; id >= 0 && *list && (list = sp_cpu_range(list, &from, &to)) != NULL && from == to;
	     id--)
		if (!id)
			return from < 65536 ? (int)from : NOT_KNOWN;
	return NOT_KNOWN;
}

/* The GPU number of the vendor's library in cuda:::x:stat=sum:device=1,
 * rocp_sdk:::x:DIMENSION_XCC=0:device=1, nvml:::NAME:device_1:power and the like. */
static struct sp_event_place gpu(const char *component, const char *name)
{
	static const struct {
		const char *component;
		enum sp_vendor vendor;
		const char *visible;
	} libraries[] = {
		{ "cuda", SP_VENDOR_NVIDIA, "CUDA_VISIBLE_DEVICES" },
		{ "nvml", SP_VENDOR_NVIDIA, NULL },
		{ "rocm", SP_VENDOR_AMD, "ROCR_VISIBLE_DEVICES" },
		{ "rocp_sdk", SP_VENDOR_AMD, "ROCR_VISIBLE_DEVICES" },
		{ "rocm_smi", SP_VENDOR_AMD, NULL },
		{ "amd_smi", SP_VENDOR_AMD, NULL },
		{ "intel_gpu", SP_VENDOR_INTEL, "ZE_AFFINITY_MASK" },
	};
	int id = number_after(name, "device=");

	if (id < 0)
		id = number_after(name, "device_");
	if (id < 0)
		id = number_after(name, "device:");
	for (unsigned i = 0; id >= 0 && id < 65536 && i < SP_COUNT(libraries); i++) {
		if (strcmp(component, libraries[i].component) != 0)
			continue;
		id = visible_gpu(libraries[i].visible, id);
		return id < 0 ? unknown : at(SP_PLACE_GPU, (int)libraries[i].vendor << 16 | id);
	}
	return unknown;
}

/* The n-th online CPU, from 1; /proc/stat has a line for each. */
static int online(int n)
{
	char text[1024];
	const char *list = text;
	uint64_t from, to;
	int left = n - 1;

	if (sp_read_file("/sys/devices/system/cpu/online", text, sizeof(text)) <= 0)
		return n - 1;
	for (; *list && (list = sp_cpu_range(list, &from, &to)) != NULL && from <= to;
	     left -= (int)(to - from) + 1)
		if ((uint64_t)left <= to - from)
			return (int)from + left;
	return n - 1;
}

struct sp_event_place sp_event_place_find(enum sp_scope scope, const char *component,
					  const char *name)
{
	int cpu;

	switch (scope) {
	case SP_SCOPE_THREAD:		/* perf counts an event with :cpu= on that CPU only */
		cpu = number_after(name, ":cpu=");
		return cpu < 0 ? at(SP_PLACE_READING, NOT_KNOWN) : at(SP_PLACE_CPU, cpu);
	case SP_SCOPE_PACKAGE:
		if (strncmp(component, "powercap", 8) == 0)
			return powercap(name);
		return strcmp(component, "perf_event_uncore") == 0 ? uncore(name) : package(name);
	case SP_SCOPE_DEVICE:
		return strcmp(component, "coretemp") == 0 ? coretemp(name) : gpu(component, name);
	case SP_SCOPE_HOST:
		/* CPU1 is the first CPU line of /proc/stat, the kernel's cpu0; TOTAL is the
		 * machine's. */
		cpu = strcmp(component, "stealtime") == 0 ? number_after(name, ":CPU") : NOT_KNOWN;
		return cpu < 1 ? machine : at(SP_PLACE_CPU, online(cpu));
	case SP_SCOPE_PROCESS:		/* io: of this process, wherever its threads ran */
		return machine;
	default:
		return at(SP_PLACE_READING, NOT_KNOWN);
	}
}
