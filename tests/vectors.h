/* vectors.h: sys-sage's sequences, a line each, and what playing one on the scripted libpapi takes. */
#ifndef VECTORS_H
#define VECTORS_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>
#include <papi.h>

#include "fake/fake.h"

#define EVENTS		8
#define SETS		4

static inline _Noreturn __attribute__((format(printf, 1, 2))) void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("# vectors: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(2);
}

static inline const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static inline int number(const json_t *o, const char *key)
{
	return (int)json_integer_value(json_object_get(o, key));
}

/* The sequences of a file that `wanted` takes. */
static inline json_t *load(const char *path, bool (*wanted)(const json_t *, const void *), const void *arg)
{
	FILE *f = fopen(path, "re");
	json_t *list = json_array(), *seq;
	char *line = NULL;
	size_t room = 0;
	json_error_t error;

	if (!f)
		die("'%s': %s", path, strerror(errno));
	while (getline(&line, &room, f) > 0) {
		seq = json_loads(line, 0, &error);
		if (!seq)
			die("'%s': %s", path, error.text);
		if (wanted(seq, arg))
			json_array_append(list, seq);
		json_decref(seq);
	}
	free(line);
	fclose(f);
	return list;
}

/* A sequence that is played: its sets, and what PAPI has counted for the one started last. */
struct sequence {
	const json_t *seq;
	int n_events, n_sets;
	const char *event[EVENTS];
	int es[SETS], n[SETS], at[SETS][EVENTS];	/* at: index into event[] */
	int current;					/* the set started last; -1 */
	bool running;
	long long count[EVENTS];			/* of the set, since the last zeroing */
	long long last[EVENTS];				/* handed out since the last zeroing */
};

static inline void zeroed(struct sequence *s)
{
	memset(s->last, 0, sizeof(s->last));
	memset(s->count, 0, sizeof(s->count));
}

/* Counts what the sequence says: by count(event, n). */
static inline void work(struct sequence *s, const json_t *list, void (*count)(const struct sequence *s, int event, long long n))
{
	for (size_t e = 0; e < json_array_size(list); e++) {
		long long n = json_integer_value(json_array_get(list, e));

		if (n)
			count(s, (int)e, n);
		for (int i = 0; s->running && i < s->n[s->current]; i++)
			if (s->at[s->current][i] == (int)e)
				s->count[i] += n;
	}
}

static inline void fail_names(const json_t *op)
{
	fake_fail_clear();
	if (number(op, "on"))
		fake_fail("PAPI_event_code_to_name", PAPI_ENOEVNT, 0, -1);
}

static inline void make_set(struct sequence *s, int set)
{
	const json_t *names = json_array_get(json_object_get(s->seq, "sets"), (size_t)set);

	s->es[set] = PAPI_NULL;
	s->n[set] = (int)json_array_size(names);
	if (PAPI_create_eventset(&s->es[set]) != PAPI_OK)
		die("PAPI_create_eventset fails");
	for (int i = 0; i < s->n[set]; i++) {
		const char *name = json_string_value(json_array_get(names, (size_t)i));

		for (int e = 0; e < s->n_events; e++)
			if (!strcmp(s->event[e], name))
				s->at[set][i] = e;
		if (PAPI_add_named_event(s->es[set], name) != PAPI_OK)
			die("%s: cannot add '%s'", text(s->seq, "name"), name);
	}
}

/* The events first, so that `meet` can say what they are before a set has them. */
static inline void make_sets(struct sequence *s, void (*meet)(struct sequence *s, int event))
{
	const json_t *events = json_object_get(s->seq, "events");

	s->n_events = (int)json_array_size(events);
	s->n_sets = (int)json_array_size(json_object_get(s->seq, "sets"));
	if (s->n_events > EVENTS || s->n_sets > SETS)
		die("%s: too many events or sets", text(s->seq, "name"));
	for (int e = 0; e < s->n_events; e++) {
		s->event[e] = json_string_value(json_array_get(events, (size_t)e));
		if (meet)
			meet(s, e);
	}
	for (int set = 0; set < s->n_sets; set++)
		make_set(s, set);
}

static inline bool named(const json_t *seq, const void *name)
{
	return !strcmp(text(seq, "name"), name);
}

#endif
