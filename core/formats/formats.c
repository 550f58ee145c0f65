/* formats.c: who writes each form. */
#include "format-writer.h"

#define ROW(name, extension, can, with) \
	{ SP_FORMAT_ROW(name, extension, (can) | SP_CAN_IN_PROCESS), sp_format_##name },

const struct sp_format_writer sp_format_writers[] = { SP_FORMATS(ROW, ROW, SP_NO_FORMAT, ) };
const unsigned sp_n_format_writers = SP_COUNT(sp_format_writers);

const struct sp_format_writer *sp_format_writer_of(enum sp_format_id id)
{
	for (unsigned i = 0; i < sp_n_format_writers; i++)
		if (sp_format_writers[i].id == id)
			return &sp_format_writers[i];
	return NULL;
}

static const struct sp_format_writer *format_writer_of(const struct sp_format *format)
{
	return format ? sp_format_writer_of(format->id) : NULL;
}

const struct sp_format_writer *sp_format_writer_by_name(const char *name, size_t length)
{
	return format_writer_of(sp_format_by_name(name, length));
}

const struct sp_format_writer *sp_format_writer_by_extension(const char *path)
{
	return format_writer_of(sp_format_by_extension(path));
}
