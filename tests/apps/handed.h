/*
 * handed.h: an event set of the test programs, and a list of the values that PAPI returned for it:
 * each program is its own oracle. A reading is printed as
 *
 *	handed cpu=0 event=perf::PAGE-FAULTS value=1000 by=PAPI_read
 *
 * where value is the count since the previous reading (start, reset). The lines are printed at the
 * end, so that printing is not counted. For perf::PAGE-FAULTS, value must be the number of touched
 * pages.
 */
#ifndef HANDED_H
#define HANDED_H

#include "touch.h" /* first, for _GNU_SOURCE */
#include <papi.h>

#define EVENTS 16
#define READINGS 512

#ifndef DEFAULT_EVENT
#define DEFAULT_EVENT "perf::PAGE-FAULTS"
#endif

struct reading {
	const char *by;
	int cpu;
	long touched;
	long long value[EVENTS];
};

struct counted {
	int id, k, readings;
	const char *name[EVENTS];
	struct arena arena;
	long long last[EVENTS]; /* base of the next reading */
	long last_touched;
	struct reading reading[READINGS];
};

static inline void cannot(const char *what, int code)
{
	fprintf(stderr, "cannot count here: %s: %s\n", what, PAPI_strerror(code));
	exit(SKIPPED);
}

static inline void must(const char *what, int code)
{
	if (code == PAPI_OK)
		return;
	fprintf(stderr, "%s: %s (%d)\n", what, PAPI_strerror(code), code);
	exit(1);
}

static inline void papi_up(void)
{
	int ret = PAPI_library_init(PAPI_VER_CURRENT);

	if (ret != PAPI_VER_CURRENT)
		cannot("PAPI_library_init", ret);
}

static inline void papi_up_threads(void)
{
	papi_up();
	must("PAPI_thread_init", PAPI_thread_init(pthread_self));
}

/* Adds the events on the command line, else perf::PAGE-FAULTS. */
static inline void name_events(struct counted *c, int n, char **names)
{
	c->k = n > EVENTS ? EVENTS : n;
	for (int i = 0; i < c->k; i++)
		c->name[i] = names[i];
	if (!c->k)
		c->name[c->k++] = DEFAULT_EVENT;
}

/* Skips if the machine refuses the call. */
static inline void may(const char *what, int code)
{
	if (code != PAPI_OK)
		cannot(what, code);
}

static inline int new_event_set(void)
{
	int set = PAPI_NULL;

	must("PAPI_create_eventset", PAPI_create_eventset(&set));
	return set;
}

/* Assigns a component, so that options can be set before there are events. */
static inline int core_set(void)
{
	int set = new_event_set();

	must("PAPI_assign_eventset_component", PAPI_assign_eventset_component(set, 0));
	return set;
}

/* Makes a set that also counts threads and processes created later. */
static inline int inherit_set(void)
{
	PAPI_option_t o = {.inherit = {.eventset = core_set(), .inherit = PAPI_INHERIT_ALL}};

	may("PAPI_INHERIT", PAPI_set_opt(PAPI_INHERIT, &o));
	return o.inherit.eventset;
}


static inline int set_with_all(int n, const char *const *events)
{
	int set = new_event_set();

	for (int i = 0; i < n; i++)
		may(events[i], PAPI_add_named_event(set, events[i]));
	return set;
}

static inline int set_with(const char *event)
{
	return set_with_all(1, &event);
}

static inline void drop_set(int set)
{
	must("PAPI_cleanup_eventset", PAPI_cleanup_eventset(set));
	must("PAPI_destroy_eventset", PAPI_destroy_eventset(&set));
}

static inline void add_events(struct counted *c)
{
	for (int i = 0; i < c->k; i++)
		may(c->name[i], PAPI_add_named_event(c->id, c->name[i]));
}

static inline void make_set(struct counted *c)
{
	c->id = new_event_set();
	add_events(c);
}

/* Uses another set, so that PAPI opens the counters of the previous set again at its next start. */
static inline void migrations_once(void)
{
	int other = set_with("perf::CPU-MIGRATIONS");
	long long value;

	must("PAPI_start", PAPI_start(other));
	must("PAPI_stop", PAPI_stop(other, &value));
}

/*
 * Makes a set of the named events, and @pages to touch; later calls of these functions do not
 * fault.
 */
static inline struct counted *counted_new(int n, char **names, long pages)
{
	struct counted *c = ready_memory(sizeof(*c), MAP_PRIVATE);

	name_events(c, n, names);
	arena_make(&c->arena, pages);
	return c;
}

/* After PAPI_start and PAPI_reset: counts begin at zero. */
static inline void zeroed(struct counted *c)
{
	memset(c->last, 0, sizeof(c->last));
	c->last_touched = c->arena.touched;
}

/* After PAPI_read, read_ts and stop. */
static inline void handed(struct counted *c, const char *by, const long long *values)
{
	struct reading *r = &c->reading[c->readings++ % READINGS];

	r->by = by;
	r->cpu = sched_getcpu();
	r->touched = c->arena.touched - c->last_touched;
	c->last_touched = c->arena.touched;
	for (int i = 0; i < c->k; i++) {
		r->value[i] = values[i] - c->last[i];
		c->last[i] = values[i];
	}
}

/* After PAPI_accum: @before is the array's previous content, and PAPI counts from zero. */
static inline void handed_accum(struct counted *c, const long long *before, const long long *values)
{
	memcpy(c->last, before, c->k * sizeof(*before));
	handed(c, "PAPI_accum", values);
	zeroed(c);
}

static inline int print_reading(const struct counted *c, const struct reading *r, const char *who)
{
	int wrong = 0;

	for (int i = 0; i < c->k; i++) {
		printf("handed cpu=%d event=%s value=%lld by=%s%s\n", r->cpu, c->name[i],
		       r->value[i], r->by, who);
		if (strcmp(c->name[i], "perf::PAGE-FAULTS") || r->value[i] == r->touched)
			continue;
		printf("wrong: %ld pages were touched\n", r->touched);
		wrong = 1;
	}
	return wrong;
}

/*
 * Prints all; returns 1 if a count was not the number of touched pages. @who is added to each line.
 */
static inline int print_handed(const struct counted *c, const char *who)
{
	int wrong = 0;

	for (int i = 0; i < c->readings && i < READINGS; i++)
		wrong |= print_reading(c, &c->reading[i], who);
	return wrong;
}

#endif
