/* vectors.h: sys-sage's sequences, a line each. */
#ifndef VECTORS_H
#define VECTORS_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

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

static inline bool named(const json_t *seq, const void *name)
{
	return !strcmp(text(seq, "name"), name);
}

#endif
