/* foreign.c: names of files whose ending is of a form that nobody here makes. */
#include <string.h>
#include <strings.h>

#include "../../base/form.h"
#include "cmd.h"

/* Not what could be anybody's own (.dat, .log, .out, .node7): only what would be opened by its ending. */
static const char *const endings[] = {
	"pdf", "ps", "eps", "svg", "png", "jpg", "jpeg", "gif", "webp", "htm", "xhtml", "md", "rst", "tex", "doc", "docx", "odt", "xls",
	"xlsx", "ods", "tsv", "yaml", "yml", "toml", "db", "sqlite", "sqlite3", "parquet", "arrow", "h5", "hdf5", "nc", "npy", "npz",
	"mat", "pkl", "gz", "bz2", "xz", "zst", "zip", "tar", "tgz", "pprof", "otf2", "cubex",
};

#define FIRST(name, extension, with) extension
#define NEXT(name, extension, with) ", " extension

bool sp_is_foreign_form(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *base = slash ? slash + 1 : path, *dot = base ? strrchr(base, '.') : NULL;

	for (unsigned i = 0; dot && dot != base && i < SP_COUNT(endings); i++)
		if (strcasecmp(dot + 1, endings[i]) == 0)
			return true;
	return false;
}

int sp_foreign_form(int status, const char *verb, const char *path, const char *else_what)
{
	char text[200];

	if (!sp_is_foreign_form(path))
		return 0;
	snprintf(text, sizeof(text), "there is no such form; the ending chooses one of " SP_FORMS(FIRST, NEXT, NEXT, ) "%s", else_what);
	return sp_complain(status, verb, text, path);
}
