/* form.c: a form by its name, and by the extension of a file's name; see form.h. */
#include <string.h>

#include "form.h"

#define ROW(name, extension, page) { #name, extension, page },
#define OURS(name, extension, with) ROW(name, extension, false)
#define PAGE(name, extension, with) ROW(name, extension, true)

static const struct sp_form forms[] = { SP_FORMS(OURS, OURS, PAGE, ) };

const struct sp_form *sp_form_by_name(const char *name, size_t length)
{
	for (unsigned i = 0; i < SP_COUNT(forms); i++)
		if (strlen(forms[i].name) == length && !memcmp(forms[i].name, name, length))
			return &forms[i];
	return NULL;
}

const struct sp_form *sp_form_by_extension(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');

	/* ".json" alone is a hidden file's name, not an extension. */
	for (unsigned i = 0; dot && dot != base && i < SP_COUNT(forms); i++)
		if (!strcmp(forms[i].extension, dot))
			return &forms[i];
	return NULL;
}
