/* suggest.h: which of many names somebody meant: one that ends so, or is nearly the same. */
#pragma once

#include "../../base/base.h"

#define SP_SUGGESTIONS 3u

struct sp_suggestions {
	struct sp_suggestion {
		char name[128];
		unsigned far;		/* letters that differ; of endings 0 */
	} similar[SP_SUGGESTIONS], ending[SP_SUGGESTIONS];
	unsigned n_similar, n_endings;	/* of endings perhaps more than are kept */
};

/* Looks at one name: each once.  Upper and lower case are the same. */
void sp_suggest_consider(struct sp_suggestions *n, const char *wanted, const char *name);

/* The only name that ends with what is wanted, behind a ':', '_' or '-'; NULL: none or several
 * do. */
const char *sp_suggest_ending(const struct sp_suggestions *n);

/* "; do you mean one of A, B?" (or A) or "; several end so: A, B", or nothing: appended to text. */
void sp_suggest_write(const struct sp_suggestions *n, char *text, size_t room);

/* The same of n names, but only those that are nearest, and no endings. */
void sp_suggest_nearest(const char *wanted, const char *const *name, unsigned n, char *text,
			size_t room);
