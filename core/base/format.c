/* format.c: finds a format by its name or by a file's extension; see format.h. */
#include "format.h"

#define OURS(name, extension, can, with) \
	{ SP_FORMAT_ROW(name, extension, (can) | SP_CAN_IN_PROCESS) },
#define PAGE(name, extension, can, with) { SP_FORMAT_ROW(name, extension, can) },

const struct sp_format sp_formats[] = { SP_FORMATS(OURS, OURS, PAGE, ) };
const unsigned sp_n_formats = SP_COUNT(sp_formats);

const struct sp_format *sp_format_by_name(const char *name, size_t length)
{
	for (unsigned i = 0; i < sp_n_formats; i++)
		if (strlen(sp_formats[i].name) == length &&
		    !memcmp(sp_formats[i].name, name, length))
			return &sp_formats[i];
	return NULL;
}

const struct sp_format *sp_format_by_extension(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const struct sp_format *longest = NULL;	/* .trace.json rather than .json */

	/* ".json" alone is the name of a hidden file, not an extension. */
	for (unsigned i = 0; i < sp_n_formats; i++) {
		size_t n = strlen(sp_formats[i].extension);

		if (strlen(base) > n && !strcmp(base + strlen(base) - n, sp_formats[i].extension) &&
		    (!longest || n > strlen(longest->extension)))
			longest = &sp_formats[i];
	}
	return longest;
}

const struct sp_format *sp_format_among(const char *formats, unsigned mask, unsigned can)
{
	for (const char *p = formats; *p; p += strcspn(p, ","), p += *p == ',') {
		const struct sp_format *format = sp_format_by_name(p, strcspn(p, ","));

		if (format && (format->can & mask) == can)
			return format;
	}
	return NULL;
}
