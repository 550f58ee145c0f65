/* forms.c: who writes each form. */
#include "view.h"

#include <string.h>

#define ROW(name, extension, with) { #name, extension, sp_view_##name },

const struct sp_view sp_views[] = { SP_FORMS(ROW, ROW, SP_NO_FORM, ) };
const unsigned sp_n_views = SP_COUNT(sp_views);

static const struct sp_view *view_of(const struct sp_form *form)
{
	for (unsigned i = 0; form && i < sp_n_views; i++)
		if (!strcmp(sp_views[i].name, form->name))
			return &sp_views[i];
	return NULL;
}

const struct sp_view *sp_view_by_name(const char *name, size_t length)
{
	return view_of(sp_form_by_name(name, length));
}

const struct sp_view *sp_view_by_extension(const char *path)
{
	return view_of(sp_form_by_extension(path));
}
