/* forms.c: the table of the forms in which a store is shown. */
#include "view.h"

#include <string.h>

const struct sp_view sp_views[] = {
	{ "text", ".txt", sp_view_text },
	{ "json", ".json", sp_view_json },
	{ "csv", ".csv", sp_view_csv },
	{ "hwloc", ".xml", sp_view_hwloc },
	{ "store", ".sspapi", sp_view_store },
};

const unsigned sp_n_views = SP_COUNT(sp_views);

const struct sp_view *sp_view_by_name(const char *name, size_t length)
{
	for (unsigned i = 0; i < sp_n_views; i++)
		if (strlen(sp_views[i].name) == length && !memcmp(sp_views[i].name, name, length))
			return &sp_views[i];
	return NULL;
}

bool sp_has_extension(const char *path, const char *extension)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');

	/* ".json" alone is a hidden file's name, not an extension. */
	return dot && dot != base && !strcmp(extension, dot);
}

const struct sp_view *sp_view_by_extension(const char *path)
{
	for (unsigned i = 0; i < sp_n_views; i++)
		if (sp_has_extension(path, sp_views[i].extension))
			return &sp_views[i];
	return NULL;
}
