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
const struct sp_view *sp_view_also;

/* NULL behind the last. */
static const struct sp_view *view(unsigned i)
{
	return i < sp_n_views ? &sp_views[i] : i == sp_n_views ? sp_view_also : NULL;
}

const struct sp_view *sp_view_by_name(const char *name, size_t length)
{
	const struct sp_view *v;

	for (unsigned i = 0; (v = view(i)) != NULL; i++)
		if (strlen(v->name) == length && !memcmp(v->name, name, length))
			break;
	return v;
}

const struct sp_view *sp_view_by_extension(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	const struct sp_view *v;

	/* ".json" alone is a hidden file's name, not an extension. */
	if (!dot || dot == base)
		return NULL;
	for (unsigned i = 0; (v = view(i)) != NULL; i++)
		if (!strcmp(v->extension, dot))
			break;
	return v;
}
