/*
 * oracle: stands in front of libsspapi and adds up what PAPI hands out, by event: `handed
 * event=NAME value=N` lines are appended to the file $ORACLE when the process ends.  A reading, a
 * stop and an accum hand out what was counted since the reading, the start or the reset before;
 * what is read of a set that is stopped was handed out before.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "behind.h"

#define SETS 4096
#define EVENTS 64
#define NAMES 512
#define PAPI_MAX_STR_LEN 128

static struct {
	int running, n, event[EVENTS];
	long long last[EVENTS];
} of[SETS];
static char name[NAMES][PAPI_MAX_STR_LEN];
static long long sum[NAMES];
static __thread int depth;		/* what PAPI calls for itself is its own */

#define REAL(name, params) \
	static int (*real) params; \
	if (!real) \
		real = (int (*) params)next_of(#name)
#define CALL(args) (depth++, rc = real args, depth--)
#define OURS(rc) (!rc && !depth)

static int known(int set)
{
	return set >= 0 && set < SETS && of[set].running;
}

static int index_of(int code)
{
	char wanted[PAPI_MAX_STR_LEN] = "";
	int i;

	REAL(PAPI_event_code_to_name, (int, char *));
	real(code, wanted);
	for (i = 0; i < NAMES - 1 && name[i][0] && strcmp(name[i], wanted); i++)
		;
	strcpy(name[i], wanted);
	return i;
}

static void started(int set)
{
	int (*registers)(void) = (int (*)(void))next_of("PAPI_register_thread");
	int codes[EVENTS], n = EVENTS;

	REAL(PAPI_list_events, (int, int *, int *));
	registers();			/* else PAPI has no names here, and crashes */
	if (set < 0 || set >= SETS || real(set, codes, &n))
		return;
	of[set].n = n;
	for (int i = 0; i < n; i++)
		of[set].event[i] = index_of(codes[i]);
	memset(of[set].last, 0, sizeof(of[set].last));
	of[set].running = 1;
}

static void handed(int set, const long long *values)
{
	for (int i = 0; known(set) && i < of[set].n; i++) {
		__atomic_fetch_add(&sum[of[set].event[i]], values[i] - of[set].last[i],
				   __ATOMIC_RELAXED);
		of[set].last[i] = values[i];
	}
}

static void from_zero(int set)
{
	if (known(set))
		memset(of[set].last, 0, sizeof(of[set].last));
}

int PAPI_start(int set);
int PAPI_start(int set)
{
	int rc;

	REAL(PAPI_start, (int));
	CALL((set));
	if (OURS(rc))
		started(set);
	return rc;
}

int PAPI_stop(int set, long long *values);
int PAPI_stop(int set, long long *values)
{
	long long own[EVENTS];
	int rc;

	REAL(PAPI_stop, (int, long long *));
	CALL((set, values ? values : own));
	if (OURS(rc) && known(set)) {
		handed(set, values ? values : own);
		of[set].running = 0;
	}
	return rc;
}

int PAPI_read(int set, long long *values);
int PAPI_read(int set, long long *values)
{
	int rc;

	REAL(PAPI_read, (int, long long *));
	CALL((set, values));
	if (OURS(rc))
		handed(set, values);
	return rc;
}

int PAPI_read_ts(int set, long long *values, long long *cycles);
int PAPI_read_ts(int set, long long *values, long long *cycles)
{
	int rc;

	REAL(PAPI_read_ts, (int, long long *, long long *));
	CALL((set, values, cycles));
	if (OURS(rc))
		handed(set, values);
	return rc;
}

int PAPI_accum(int set, long long *values);
int PAPI_accum(int set, long long *values)
{
	long long before[EVENTS], got[EVENTS];
	int n = known(set) ? of[set].n : 0, rc;

	REAL(PAPI_accum, (int, long long *));
	for (int i = 0; values && i < n; i++)
		before[i] = values[i];
	CALL((set, values));
	if (OURS(rc)) {
		for (int i = 0; i < n; i++)
			got[i] = values[i] - before[i];
		handed(set, got);
		from_zero(set);
	}
	return rc;
}

int PAPI_reset(int set);
int PAPI_reset(int set)
{
	int rc;

	REAL(PAPI_reset, (int));
	CALL((set));
	if (OURS(rc))
		from_zero(set);
	return rc;
}

/* It stops what runs, and hands nothing out. */
void PAPI_shutdown(void);
void PAPI_shutdown(void)
{
	static void (*real)(void);

	if (!real)
		real = (void (*)(void))next_of("PAPI_shutdown");
	depth++;
	real();
	depth--;
	for (int i = 0; i < SETS; i++)
		of[i].running = 0;
}

__attribute__((destructor)) static void tell(void)
{
	const char *file = getenv("ORACLE");
	char line[2 * PAPI_MAX_STR_LEN];
	int fd = file ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;

	for (int i = 0; fd >= 0 && i < NAMES && name[i][0]; i++) {
		int n = snprintf(line, sizeof(line), "handed event=%s value=%lld\n", name[i],
				 sum[i]);

		if (write(fd, line, n) != n)
			break;
	}
	if (fd >= 0)
		close(fd);
}
