/* suggest.h: suggests names that the user may have meant: similar ones, or with the same ending. */
#pragma once

#include "../../base/base.h"

#define SP_SUGGESTIONS 3u

struct sp_suggestions {
	struct sp_suggestion {
		char name[128];
		unsigned far;		/* letters that differ; 0 for endings */
	} similar[SP_SUGGESTIONS], ending[SP_SUGGESTIONS];
	unsigned n_similar, n_endings;	/* there may be more endings than are kept */
};

/* Considers a name; call it once for each. Ignores case. */
void sp_suggest_consider(struct sp_suggestions *n, const char *wanted, const char *name);

/* Returns the only name with the wanted ending, after a ':', '_' or '-'; NULL: none or several. */
const char *sp_suggest_ending(const struct sp_suggestions *n);

/* Appends "; do you mean one of A, B?" (or A) or "; ambiguous ending: A, B", or nothing, to
 * text. */
void sp_suggest_write(const struct sp_suggestions *n, char *text, size_t room);

/* Suggests only the most similar of n names, and no endings. */
void sp_suggest_nearest(const char *wanted, const char *const *name, unsigned n, char *text,
			size_t room);
