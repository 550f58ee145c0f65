/* format.c: a form by its name, and by the extension of a file's name; see format.h. */
#include "format.h"

#define OURS(name, extension, can, with) { SP_FORM_ROW(name, extension, (can) | SP_CAN_IN_PROCESS) },
#define PAGE(name, extension, can, with) { SP_FORM_ROW(name, extension, can) },

const struct sp_form sp_forms[] = { SP_FORMS(OURS, OURS, PAGE, ) };
const unsigned sp_n_forms = SP_COUNT(sp_forms);

const struct sp_form *sp_form_by_name(const char *name, size_t length)
{
	for (unsigned i = 0; i < sp_n_forms; i++)
		if (strlen(sp_forms[i].name) == length && !memcmp(sp_forms[i].name, name, length))
			return &sp_forms[i];
	return NULL;
}

const struct sp_form *sp_form_by_extension(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');

	/* ".json" alone is a hidden file's name, not an extension. */
	for (unsigned i = 0; dot && dot != base && i < sp_n_forms; i++)
		if (!strcmp(sp_forms[i].extension, dot))
			return &sp_forms[i];
	return NULL;
}

const struct sp_form *sp_form_among(const char *formats, unsigned mask, unsigned can)
{
	for (const char *p = formats; *p; p += strcspn(p, ","), p += *p == ',') {
		const struct sp_form *form = sp_form_by_name(p, strcspn(p, ","));

		if (form && (form->can & mask) == can)
			return form;
	}
	return NULL;
}
