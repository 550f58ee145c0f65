/* form.h: the forms in which a store is shown: one list, from which every text and table that names them is made.
 *
 * Who writes each is in core/forms/forms.c; hwloc and html are written by the command alone, core/cli/report/hwloc.c and page.c.
 */
#ifndef SP_FORM_H
#define SP_FORM_H

#include "base.h"

/* name, the extension of its files; `with` is handed on.  PAGE: a form that the library does not write. */
#define SP_FORMS(FIRST, NEXT, PAGE, with) \
	FIRST(text, ".txt", with) \
	NEXT(json, ".json", with) \
	NEXT(csv, ".csv", with) \
	PAGE(hwloc, ".xml", with) \
	PAGE(html, ".html", with) \
	NEXT(store, ".sspapi", with)

#define SP_NO_FORM(name, extension, with)
#define SP_FORM_FIRST(name, extension, between) #name
#define SP_FORM_NEXT(name, extension, between) between #name

/* Their names as one text, between them `between`, a literal: those that the library writes, and all. */
#define SP_FORM_NAMES(between) SP_FORMS(SP_FORM_FIRST, SP_FORM_NEXT, SP_NO_FORM, between)
#define SP_ALL_FORM_NAMES(between) SP_FORMS(SP_FORM_FIRST, SP_FORM_NEXT, SP_FORM_NEXT, between)

struct sp_form {
	const char *name;		/* as in SSPAPI_FORMAT, and -f */
	const char *extension;		/* as in SSPAPI_OUTPUT, with its dot */
	bool page;			/* by the command alone */
};

/* A form, and who writes it. */
struct sp_out;
struct sp_show;
struct sp_view {
	const char *name, *extension;	/* as struct sp_form has them */
	void (*write)(struct sp_out *o, const struct sp_show *s);
};

/* NULL: it is none. */
const struct sp_form *sp_form_by_name(const char *name, size_t length);
const struct sp_form *sp_form_by_extension(const char *path);

#endif
