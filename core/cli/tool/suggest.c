/* suggest.c: see suggest.h. */
#include <limits.h>
#include <stdio.h>
#include <strings.h>

#include "../../base/conf.h"
#include "suggest.h"

/* A longer name is similar to none. */
static unsigned distance(const char *wanted, const char *name)
{
	return sp_max(strlen(wanted), strlen(name)) > SP_CONF_EDITS
		       ? UINT_MAX
		       : sp_conf_edits(wanted, name, SP_CONF_EDITS);
}

static bool ends_with(const char *name, const char *wanted)
{
	size_t n = strlen(name), w = strlen(wanted);

	return w && n > w && strcasecmp(name + n - w, wanted) == 0 &&
	       strchr(":_-", name[n - w - 1]);
}

static void consider_ending(struct sp_suggestions *n, const char *wanted, const char *name)
{
	if (!ends_with(name, wanted))
		return;
	for (unsigned i = 0; i < n->n_endings && i < SP_SUGGESTIONS; i++)
		if (strcmp(n->ending[i].name, name) == 0)
			return;
	if (n->n_endings < SP_SUGGESTIONS)
		snprintf(n->ending[n->n_endings].name, sizeof(n->ending[0].name), "%s", name);
	n->n_endings++;
}

void sp_suggest_consider(struct sp_suggestions *n, const char *wanted, const char *name)
{
	const char *bare = strstr(name, "::");
	unsigned far = distance(wanted, name), also = bare ? distance(wanted, bare + 2) : far,
		 i = n->n_similar;

	far = (unsigned)sp_min(far, also);
	if (strlen(name) >= sizeof(n->similar[0].name))
		return;
	consider_ending(n, wanted, name);
	if (far > sp_max(1, (strlen(wanted) + 1) / 3))
		return;
	for (unsigned k = 0; k < n->n_similar; k++)
		if (strcmp(n->similar[k].name, name) == 0)
			return;
	while (i > 0 && far < n->similar[i - 1].far)
		i--;
	if (i == SP_SUGGESTIONS)
		return;
	n->n_similar = (unsigned)sp_min(n->n_similar + 1, SP_SUGGESTIONS);
	memmove(&n->similar[i + 1], &n->similar[i], (n->n_similar - 1 - i) * sizeof(n->similar[0]));
	strcpy(n->similar[i].name, name);
	n->similar[i].far = far;
}

const char *sp_suggest_ending(const struct sp_suggestions *n)
{
	return n->n_endings == 1 ? n->ending[0].name : NULL;
}

void sp_suggest_write(const struct sp_suggestions *n, char *text, size_t room)
{
	bool ending = n->n_endings > 1;
	const struct sp_suggestion *of = ending ? n->ending : n->similar;
	unsigned many = ending ? (unsigned)sp_min(n->n_endings, SP_SUGGESTIONS) : n->n_similar;
	size_t used = strlen(text);

	for (unsigned i = 0; i < many && used < room; i++)
		used += (size_t)snprintf(text + used, room - used, "%s%s",
					 i	    ? ", "
					 : ending   ? "; ambiguous ending: "
					 : many > 1 ? "; do you mean one of "
						    : "; do you mean ",
					 of[i].name);
	if (many && used < room)
		used += (size_t)snprintf(text + used, room - used, ending ? "" : "?");
	if (ending && n->n_endings > SP_SUGGESTIONS && used < room)
		snprintf(text + used, room - used, " and %u more", n->n_endings - SP_SUGGESTIONS);
}

void sp_suggest_nearest(const char *wanted, const char *const *name, unsigned n, char *text,
			size_t room)
{
	struct sp_suggestions similar = { 0 };
	unsigned same = 0;

	for (unsigned i = 0; i < n; i++)
		sp_suggest_consider(&similar, wanted, name[i]);
	while (same < similar.n_similar && similar.similar[same].far == similar.similar[0].far)
		same++;
	similar.n_similar = same;		/* more distant names do not help */
	similar.n_endings = 0;
	sp_suggest_write(&similar, text, room);
}
