/* selection.c: selects events, and the threads of a part; quotes file names for a command line. */
#include <string.h>

#include "../model/format-common.h"
#include "format-writer.h"

void sp_shell_word(struct sp_out *o, const char *text)
{
	bool bare = *text && *text != '-' && *text != '~';

	for (const char *p = text; *p && bare; p++)
		bare = (*p | 32) >= 'a' && (*p | 32) <= 'z'
			       ? true
			       : strchr("0123456789_@%+=:,./-~", *p) || (unsigned char)*p > 127;
	if (*text == '-')
		sp_out_text(o, "./");	/* not an option */
	sp_out_text(o, bare ? "" : "'");
	for (; *text; text++)
		if (*text == '\'' && !bare)
			sp_out_text(o, "'\\''");
		else
			sp_out_char(o, *text);
	sp_out_text(o, bare ? "" : "'");
}

bool sp_in_list(const char *list, const char *name)
{
	for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
		if (sp_event_has_name(name, p, strcspn(p, ",")))
			return true;
	return false;
}

bool sp_selection_named(const struct sp_selection *s, uint32_t e)
{
	char buf[32];

	return !s->events || sp_in_list(s->events, sp_event_name(s->m, e, buf));
}

bool sp_selection_event(const struct sp_selection *s, uint32_t e)
{
	return s->m->event_counted[e] && !sp_event_is_gauge(s->m, e) && sp_selection_named(s, e);
}

bool sp_part_has_thread(const struct sp_part *p, uint32_t process, int32_t tid)
{
	uint64_t wanted = sp_part_thread(process, tid);
	uint32_t low = 0, high = p->n_threads;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (p->thread[mid] < wanted)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->n_threads && p->thread[low] == wanted;
}
