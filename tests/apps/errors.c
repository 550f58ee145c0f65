/*
 * errors: calls that PAPI refuses. Prints what each returned, what it left
 * in errno (set to 4242 before) and in the array (set to -1 before).
 * An application would notice any difference that a preload makes.
 */
#include "handed.h"

static long long values[EVENTS];

#define TRY(call) \
	do { \
		int ret_; \
\
		memset(values, -1, sizeof(values)); \
		errno = 4242; \
		ret_ = (call); \
		say(#call, ret_, errno); \
	} while (0)

static void say(const char *call, int ret, int err)
{
	printf("refused call=%s returns=%d errno=%d array=%s\n", call, ret, err,
	       values[0] == -1 ? "untouched" : "written");
}

static void no_such_set(void)
{
	int none = PAPI_NULL;

	TRY(PAPI_start(none));
	TRY(PAPI_start(77));
	TRY(PAPI_stop(77, values));
	TRY(PAPI_stop(77, NULL));
	TRY(PAPI_read(77, values));
	TRY(PAPI_accum(-5, values));
	TRY(PAPI_reset(1 << 30));
	TRY(PAPI_add_named_event(77, "perf::PAGE-FAULTS"));
	TRY(PAPI_cleanup_eventset(77));
	TRY(PAPI_destroy_eventset(&none));
	TRY(PAPI_num_events(77));
	TRY(PAPI_library_init(1));
}

static void empty_set(int id)
{
	int taken = id;

	TRY(PAPI_start(id));
	TRY(PAPI_read(id, values));
	TRY(PAPI_stop(id, values));
	TRY(PAPI_reset(id));
	TRY(PAPI_create_eventset(&taken));
	TRY(PAPI_add_named_event(id, "PAPI_NO_SUCH_EVENT"));
	TRY(PAPI_add_event(id, 0x7fffffff));
}

static void never_started(struct counted *c)
{
	TRY(PAPI_stop(c->id, values));
	TRY(PAPI_stop(c->id, NULL));
	TRY(PAPI_read(c->id, NULL));
	TRY(PAPI_accum(c->id, NULL));
	TRY(PAPI_add_named_event(c->id, c->name[0]));
	/* not refused: zeros */
	TRY(PAPI_read(c->id, values));
}

static void running(struct counted *c)
{
	must("PAPI_start", PAPI_start(c->id));
	TRY(PAPI_start(c->id));
	TRY(PAPI_read(c->id, NULL));
	TRY(PAPI_write(c->id, values));
	TRY(PAPI_add_named_event(c->id, "perf::CONTEXT-SWITCHES"));
	TRY(PAPI_cleanup_eventset(c->id));
	TRY(PAPI_destroy_eventset(&c->id));
	must("PAPI_stop", PAPI_stop(c->id, values));
	TRY(PAPI_stop(c->id, values));
	TRY(PAPI_destroy_eventset(&c->id));
}

int main(int argc, char **argv)
{
	struct counted *c = counted_new(argc - 1, argv + 1, 1);

	pin(0);
	TRY(PAPI_start(77));
	TRY(PAPI_create_eventset(&c->id));
	papi_up();
	no_such_set();
	c->id = new_event_set();
	empty_set(c->id);
	add_events(c);
	never_started(c);
	running(c);
	return 0;
}
