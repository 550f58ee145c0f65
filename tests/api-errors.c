/* api-errors.c: sspapi_start that reports an error leaves no event set running, on the scripted libpapi;
 * TAP.  What fails is each function of PAPI that it asks, and memory.  And calls that are refused.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "fake/fake.h"
#include "../preload/sspapi.h"

static int tests, failed;

static void ok(int is, const char *what, const char *of, int rc, int state)
{
	tests++;
	failed += !is;
	printf("%sok %d - %s: %s (%d, state %d)\n", is ? "" : "not ", tests, of, what, rc, state);
}

static int made(const char *name)
{
	int es = PAPI_NULL;

	if (PAPI_create_eventset(&es) != PAPI_OK || (name && PAPI_add_named_event(es, name) != PAPI_OK))
		exit(2);
	return es;
}

static int state_of(int es)
{
	int state = 0;

	fake_fail_clear();
	PAPI_state(es, &state);
	return state;
}

/* An error means not running, and no relation; no error, that it runs. */
static void judge(const char *what, int es, int rc, sspapi_relation *rel)
{
	int state = state_of(es);

	ok(rc == PAPI_OK ? (state & PAPI_RUNNING) && rel : !(state & PAPI_RUNNING) && (state & PAPI_STOPPED) && !rel,
	   "runs if and only if there is no error", what, rc, state);
	if (state & PAPI_RUNNING) {
		rc = sspapi_stop(rel, NULL, false, NULL);
		ok(rc == PAPI_OK, "and is stopped", what, rc, state_of(es));
	} else {
		/* It is as good as new. */
		rc = sspapi_start(es, &rel);
		ok(rc == PAPI_OK, "starts once the reason is gone", what, rc, state_of(es));
		sspapi_stop(rel, NULL, false, NULL);
	}
	sspapi_free(rel);
}

static void failing(const char *function, int after, const char *event)
{
	int es = made(event), rc;
	sspapi_relation *rel = NULL;

	fake_fail(function, PAPI_EMISC, after, -1);
	rc = sspapi_start(es, &rel);
	judge(function, es, rc, rel);
}

static void without_memory(void)
{
	struct rlimit was, none = { 0, RLIM_INFINITY };
	int es = made("EV_H"), rc;
	sspapi_relation *rel[400] = { NULL };
	int n = 0;

	getrlimit(RLIMIT_AS, &was);
	none.rlim_max = was.rlim_max;
	setrlimit(RLIMIT_AS, &none);
	/* There may be room for some. */
	while ((rc = sspapi_start(es, &rel[n])) == PAPI_OK && n < 399) {
		sspapi_stop(rel[n], NULL, false, NULL);
		n++;
	}
	setrlimit(RLIMIT_AS, &was);
	ok(rc == PAPI_ENOMEM || rc == PAPI_ENOSUPP, "an error in the end", "no memory", rc, n);
	judge("no memory", es, rc, rel[n]);
}

static void running_already(void)
{
	int es = made("EV_A"), other = made("EV_B"), rc, state;
	sspapi_relation *rel = NULL, *second = NULL;
	long long code_a;
	int code;

	PAPI_event_name_to_code("EV_A", &code);
	rc = sspapi_start(es, &rel);
	fake_count("EV_A", 5);
	rc = sspapi_start(es, &second);
	ok(rc == PAPI_EISRUN && !second && state_of(es) & PAPI_RUNNING, "refused, and runs on", "the same set again", rc,
	   state_of(es));
	rc = sspapi_start(other, &second);
	state = state_of(other);
	ok(rc == PAPI_EISRUN && !second && !(state & PAPI_RUNNING), "refused, and does not run", "a second one of the component",
	   rc, state);
	fake_count("EV_A", 7);
	rc = sspapi_stop(rel, NULL, false, NULL);
	code_a = sspapi_total(rel, code, -1);
	ok(rc == PAPI_OK && code_a == 12, "the first has all its counts", "after these", rc, (int)code_a);
	sspapi_free(rel);
}

/* One event for another: what PAPI hands out is no count of the relation's event. */
static void replaced(void)
{
	int es = made("EV_A"), a, b, rc;
	sspapi_relation *rel = NULL;
	long long value;

	PAPI_event_name_to_code("EV_A", &a);
	PAPI_event_name_to_code("EV_B", &b);
	sspapi_start(es, &rel);
	fake_count("EV_A", 5);
	sspapi_stop(rel, NULL, false, NULL);
	PAPI_remove_event(es, a);
	PAPI_add_event(es, b);
	PAPI_start(es);
	fake_count("EV_B", 77);
	rc = sspapi_read(rel, NULL, false, NULL);
	value = sspapi_get_metric(rel, a, -1, 0);
	ok(rc == PAPI_ENOEVST && value == 5, "a reading of the relation is refused", "its event was replaced", rc, (int)value);
	rc = sspapi_stop(rel, NULL, false, NULL);
	ok(rc == PAPI_ENOEVST && state_of(es) & PAPI_RUNNING, "a stop, too", "its event was replaced", rc, state_of(es));
	PAPI_stop(es, &value);
	PAPI_remove_event(es, b);
	PAPI_add_event(es, a);
	rc = sspapi_read(rel, NULL, false, NULL);
	ok(rc == PAPI_OK, "read again", "it has its event back", rc, state_of(es));
	sspapi_free(rel);
}

int main(void)
{
	static const char *const asked[] = { "PAPI_start", "PAPI_state", "PAPI_num_events", "PAPI_list_events", "PAPI_get_event_info",
					     "PAPI_event_code_to_name", "PAPI_get_event_component", "PAPI_get_opt",
					     "PAPI_get_component_info" };
	int es, rc;
	sspapi_relation *rel = NULL;

	if (PAPI_library_init(fake_version() << 16) < 0)
		return 2;
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		for (int after = 0; after < 2; after++) {
			char event[] = "EV_B";

			event[3] = (char)('B' + i % 6);
			failing(asked[i], after, event);
		}
	es = made(NULL);
	rc = sspapi_start(es, &rel);
	ok(rc == PAPI_EINVAL && !rel, "PAPI_EINVAL", "a set without events", rc, state_of(es));
	running_already();
	replaced();
	without_memory();
	printf("1..%d\n", tests);
	return failed != 0;
}
