/* formats.c: who writes each form. */
#include "format-writer.h"

#define ROW(name, extension, can, with) { SP_FORM_ROW(name, extension, (can) | SP_CAN_IN_PROCESS), sp_view_##name },

const struct sp_view sp_views[] = { SP_FORMS(ROW, ROW, SP_NO_FORM, ) };
const unsigned sp_n_views = SP_COUNT(sp_views);

const struct sp_view *sp_view_of(enum sp_form_id id)
{
	for (unsigned i = 0; i < sp_n_views; i++)
		if (sp_views[i].id == id)
			return &sp_views[i];
	return NULL;
}

static const struct sp_view *view_of(const struct sp_form *form)
{
	return form ? sp_view_of(form->id) : NULL;
}

const struct sp_view *sp_view_by_name(const char *name, size_t length)
{
	return view_of(sp_form_by_name(name, length));
}

const struct sp_view *sp_view_by_extension(const char *path)
{
	return view_of(sp_form_by_extension(path));
}
