/* nearest.c: which verb or option somebody may have meant. */
#include "../asked/near-names.h"
#include "cmd.h"

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
