/* suggest.h: which of many names somebody meant: one that ends so, or is nearly the same. */
#pragma once

#include "../../base/base.h"

#define SP_NEAR 3u

struct sp_near_names {
	struct sp_near_name {
		char name[128];
		unsigned far;		/* letters that differ; of endings 0 */
	} near[SP_NEAR], ending[SP_NEAR];
	unsigned n_near, n_endings;	/* of endings perhaps more than are kept */
};

/* Looks at one name: each once.  Upper and lower case are the same. */
void sp_near_look(struct sp_near_names *n, const char *wanted, const char *name);

/* The only name that ends with what is wanted, behind a ':', '_' or '-'; NULL: none or several do. */
const char *sp_near_ending(const struct sp_near_names *n);

/* "; do you mean one of A, B?" (or A) or "; several end so: A, B", or nothing: appended to text. */
void sp_near_say(const struct sp_near_names *n, char *text, size_t room);

/* The same of n names, but only those that are nearest, and no endings. */
void sp_nearest_say(const char *wanted, const char *const *name, unsigned n, char *text, size_t room);
