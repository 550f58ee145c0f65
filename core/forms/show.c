/* show.c: which events are shown. */
#include "../model/view-common.h"
#include "view.h"

bool sp_in_list(const char *list, const char *name)
{
	for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
		if (sp_name_is(name, p, strcspn(p, ",")))
			return true;
	return false;
}

bool sp_show_named(const struct sp_show *s, uint32_t e)
{
	char buf[32];

	return !s->events || sp_in_list(s->events, sp_event_name(s->m, e, buf));
}

bool sp_show_event(const struct sp_show *s, uint32_t e)
{
	return s->m->event_counted[e] && !sp_event_is_gauge(s->m, e) && sp_show_named(s, e);
}
