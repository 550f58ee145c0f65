/*
 * histograms: counts page faults of two functions into histograms of PAPI_profil or PAPI_sprofil,
 * and prints the hits of each function. usage: histograms
 * 16|32|64|sprofil|cleared|again|weighted|removed Prints "hits FUNCTION N", for all hits while it
 * counted.
 */
#include "handed.h"

#define PAGES 200
#define BUCKETS 4096			/* of one byte of code each */

/* Space the functions, so that no bucket covers two. */
__attribute__((noinline, aligned(4096))) static void near_one(volatile char *p, int n)
{
	for (int i = 0; i < n; i++)
		p[(size_t)i * 4096] = 1;
}

__attribute__((noinline, aligned(4096))) static void far_one(volatile char *p, int n)
{
	for (int i = 0; i < n; i++)
		p[(size_t)i * 4096] = 2;
}

static unsigned long long buckets[2][BUCKETS];
static unsigned long long hits[2];
static int width = 8;

static void fault(void (*how)(volatile char *, int), int n)
{
	char *p = new_memory(PAGES * 4096);

	how(p, n);
	munmap(p, PAGES * 4096);
}

static unsigned long long bucket(int of, int i)
{
	unsigned long long n = 0;

	memcpy(&n, (char *)buckets[of] + i * width, (size_t)width);
	return n;
}

static void add_up(void)
{
	for (int of = 0; of < 2; of++)
		for (int i = 0; i < BUCKETS; i++)
			hits[of] += bucket(of, i);
	memset(buckets, 0, sizeof(buckets));
}

static void count_once(int set)
{
	long long value;

	must("PAPI_start", PAPI_start(set));
	fault(near_one, 150);
	fault(far_one, 50);
	must("PAPI_stop", PAPI_stop(set, &value));
	printf("counted %lld\n", value);
}

int main(int argc, char **argv)
{
	static PAPI_sprofil_t both[2];
	const char *how = argc > 1 ? argv[1] : "64";
	int set, code, flags = PAPI_PROFIL_BUCKET_64, one = 0;

	if (!strcmp(how, "16"))
		width = 2, flags = PAPI_PROFIL_BUCKET_16;
	if (!strcmp(how, "32"))
		width = 4, flags = PAPI_PROFIL_BUCKET_32;
	if (!strcmp(how, "weighted"))
		flags |= PAPI_PROFIL_WEIGHTED;
	one = strcmp(how, "sprofil") != 0;
	papi_up();
	must("PAPI_event_name_to_code", PAPI_event_name_to_code("perf::PAGE-FAULTS", &code));
	set = set_with(DEFAULT_EVENT);
	both[0] = (PAPI_sprofil_t){ buckets[0], (unsigned)(BUCKETS * width), (vptr_t)near_one,
				    131072 };
	both[1] = (PAPI_sprofil_t){ buckets[1], (unsigned)(BUCKETS * width), (vptr_t)far_one,
				    131072 };
	if (one)
		must("PAPI_profil", PAPI_profil(buckets[0], both[0].pr_size, both[0].pr_off, 131072,
						set, code, 3, flags));
	else
		must("PAPI_sprofil", PAPI_sprofil(both, 2, set, code, 3, flags));
	count_once(set);
	if (!strcmp(how, "cleared"))
		add_up();
	if (!strcmp(how, "removed")) {
		add_up();
		must("PAPI_profil", PAPI_profil(buckets[0], both[0].pr_size, both[0].pr_off, 131072,
						set, code, 0, flags));
	}
	if (strcmp(how, "16"))
		count_once(set);
	add_up();
	printf("hits near_one %llu\n", hits[0]);
	printf("hits far_one %llu\n", hits[1]);
	return 0;
}
