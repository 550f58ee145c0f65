/*
 * sites-plugin: an object that starts and stops its caller's set, for sites; built twice, so that
 * one may be loaded at the other's address.
 */
#include <papi.h>

int plugin_work(int set, void (*touch)(void *, long), void *arena, long pages);
int plugin_reads(int set, void (*touch)(void *, long), void *arena, long pages);

int plugin_work(int set, void (*touch)(void *, long), void *arena, long pages)
{
	long long values[16];
	int rc = PAPI_start(set);

	if (rc == PAPI_OK) {
		touch(arena, pages);
		rc = PAPI_stop(set, values);
	}
	return rc;
}

int plugin_reads(int set, void (*touch)(void *, long), void *arena, long pages)
{
	long long values[16];

	touch(arena, pages);
	return PAPI_read(set, values);
}
