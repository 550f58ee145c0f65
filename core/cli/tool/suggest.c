/* suggest.c: see suggest.h. */
#include <limits.h>
#include <stdio.h>
#include <strings.h>

#include "../../base/conf.h"
#include "suggest.h"

/* Names that are longer are near to none. */
static unsigned distance(const char *wanted, const char *name)
{
	return sp_max(strlen(wanted), strlen(name)) > SP_CONF_EDITS ? UINT_MAX : sp_conf_edits(wanted, name, SP_CONF_EDITS);
}

static bool ends_with(const char *name, const char *wanted)
{
	size_t n = strlen(name), w = strlen(wanted);

	return w && n > w && strcasecmp(name + n - w, wanted) == 0 && strchr(":_-", name[n - w - 1]);
}

static void look_at_ending(struct sp_near_names *n, const char *wanted, const char *name)
{
	if (!ends_with(name, wanted))
		return;
	for (unsigned i = 0; i < n->n_endings && i < SP_NEAR; i++)
		if (strcmp(n->ending[i].name, name) == 0)
			return;
	if (n->n_endings < SP_NEAR)
		snprintf(n->ending[n->n_endings].name, sizeof(n->ending[0].name), "%s", name);
	n->n_endings++;
}

void sp_near_look(struct sp_near_names *n, const char *wanted, const char *name)
{
	const char *bare = strstr(name, "::");
	unsigned far = distance(wanted, name), also = bare ? distance(wanted, bare + 2) : far, i = n->n_near;

	far = (unsigned)sp_min(far, also);
	if (strlen(name) >= sizeof(n->near[0].name))
		return;
	look_at_ending(n, wanted, name);
	if (far > sp_max(1, (strlen(wanted) + 1) / 3))
		return;
	for (unsigned k = 0; k < n->n_near; k++)
		if (strcmp(n->near[k].name, name) == 0)
			return;
	while (i > 0 && far < n->near[i - 1].far)
		i--;
	if (i == SP_NEAR)
		return;
	n->n_near = (unsigned)sp_min(n->n_near + 1, SP_NEAR);
	memmove(&n->near[i + 1], &n->near[i], (n->n_near - 1 - i) * sizeof(n->near[0]));
	strcpy(n->near[i].name, name);
	n->near[i].far = far;
}

const char *sp_near_ending(const struct sp_near_names *n)
{
	return n->n_endings == 1 ? n->ending[0].name : NULL;
}

void sp_near_say(const struct sp_near_names *n, char *text, size_t room)
{
	bool ending = n->n_endings > 1;
	const struct sp_near_name *of = ending ? n->ending : n->near;
	unsigned many = ending ? (unsigned)sp_min(n->n_endings, SP_NEAR) : n->n_near;
	size_t used = strlen(text);

	for (unsigned i = 0; i < many && used < room; i++)
		used += (size_t)snprintf(text + used, room - used, "%s%s", i ? ", " : ending ? "; several end so: " : many > 1 ? "; do you mean one of " : "; do you mean ", of[i].name);
	if (many && used < room)
		used += (size_t)snprintf(text + used, room - used, ending ? "" : "?");
	if (ending && n->n_endings > SP_NEAR && used < room)
		snprintf(text + used, room - used, " and %u more", n->n_endings - SP_NEAR);
}

void sp_nearest_say(const char *wanted, const char *const *name, unsigned n, char *text, size_t room)
{
	struct sp_near_names near = { 0 };
	unsigned same = 0;

	for (unsigned i = 0; i < n; i++)
		sp_near_look(&near, wanted, name[i]);
	while (same < near.n_near && near.near[same].far == near.near[0].far)
		same++;
	near.n_near = same;		/* what is further off would only be in the way */
	near.n_endings = 0;
	sp_near_say(&near, text, room);
}
