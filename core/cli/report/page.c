/* page.c: writes the HTML format; see page.h. */
#include "../../formats/format-json.h"
#include "../tool/cmd.h"
#include "hwloc.h"
#include "page-select.h"
#include "page-parts.h"
#include "page.h"
#include "trace.h"
#include "report.h"

/* Maximum bytes of a page: pages are passed on, and browsers are slow with larger ones. */
#define MOST	5000000ul
#define ROOM	(MOST - sizeof(page_before) - sizeof(page_behind))

/* Writes JSON as the contents of a script element, which </script> and <!-- would end or confuse. <
 * occurs in strings only, where \u003c is equivalent. */
static void escaped(struct sp_out *o, const char *bytes, size_t n)
{
	while (n) {
		const char *at = memchr(bytes, '<', n);
		size_t some = at ? (size_t)(at - bytes) : n;

		sp_out_bytes(o, bytes, some);
		if (at)
			sp_out_text(o, "\\u003c");
		some += at != NULL;
		bytes += some;
		n -= some;
	}
}

/* Returns the number of bytes that `escaped` adds. */
static uint64_t more_escaped(const char *bytes, size_t n)
{
	uint64_t more = 0;

	for (size_t i = 0; i < n; i++)
		more += bytes[i] == '<' ? strlen("\\u003c") - 1 : 0;
	return more;
}

/* The levels of a page with call sites by CPUs, which are the last two. */
static const char *const with_heat[] = { "per-thread", "per-process", "per-machine", "per-callsite",
					 "per-cpu" };

/* Writes report's JSON with the levels of the page's tables into ROOM bytes; p: only that part of
 * the run; heat: with call sites by CPUs. Returns the bytes or -errno; -EFBIG: too large. */
static int json(char *room, const struct sp_selection *s, const struct sp_page_part *p, bool heat)
{
	struct sp_report levels = {
		.verb = "report", .show = *s, .has_row = p ? sp_page_part_has_row : NULL, .of = p
	};
	struct sp_out o;
	int e;

	for (unsigned i = 0; i < (heat ? SP_COUNT(with_heat) : SP_PAGE_PART_LEVELS); i++)
		sp_report_level(&levels, heat ? with_heat[i] : sp_page_part_level[i]);
	levels.crossed = heat;
	sp_out_init(&o, -1, room, ROOM);
	levels.show.brief = true;
	sp_json_dump(&o, &levels.show);
	e = sp_report_json(&levels, &o);
	if (p)
		sp_page_part_json(p, &o);
	sp_out_text(&o, "}\n");
	if (e < 0)
		return e;
	return o.error || o.used + more_escaped(room, o.used) > ROOM ? -EFBIG : (int)o.used;
}

/* Writes the whole run, or the largest part that fits. The tree of one machine may be too large. */
static int some_json(char *room, struct sp_selection *s)
{
	int e = json(room, s, NULL, s->m->n_callsites > 0);
	struct sp_page_part *p;

	if (e == -EFBIG)
		e = json(room, s, NULL, false);
	if (e != -EFBIG)
		return e;
	p = sp_page_part_open(s);
	for (unsigned trees = 2; trees-- > 0;)
		for (uint32_t limit = 512; limit && e == -EFBIG; limit /= 2) {
			s->part = sp_page_part_limit(p, limit, trees);
			e = json(room, s, p, false);
		}
	return e;
}

/* Uses all metrics that have a value, unless some were requested. */
void sp_format_html(struct sp_out *o, const struct sp_selection *s)
{
	struct sp_selection show = *s;
	const struct sp_metrics_request usual = { .any = true };
	bool wished = show.metrics != NULL;
	char *room = sp_check_alloc(malloc(ROOM));
	int n;

	if (!wished)
		sp_metrics_show(&usual, NULL, &show);
	n = some_json(room, &show);
	if (!wished)
		sp_metrics_forget();
	sp_out_text(o, page_before);
	escaped(o, room, n > 0 ? (size_t)n : 0);
	sp_out_text(o, page_behind);
	free(room);
	if (!o->error && n < 0)
		o->error = n;
}

#define ROW(name, extension, can, with) { SP_FORMAT_ROW(name, extension, can), sp_format_##name },

static const struct sp_format_writer of_command[] = { SP_FORMATS(SP_NO_FORMAT, SP_NO_FORMAT,
								 ROW, ) };

static const struct sp_format_writer *format_writer_of(const struct sp_format *format)
{
	for (unsigned i = 0; format && i < SP_COUNT(of_command); i++)
		if (of_command[i].id == format->id)
			return &of_command[i];
	return format ? sp_format_writer_of(format->id) : NULL;
}

const struct sp_format_writer *sp_any_format_writer_by_name(const char *name, size_t length)
{
	return format_writer_of(sp_format_by_name(name, length));
}

const struct sp_format_writer *sp_any_format_writer_by_extension(const char *path)
{
	return format_writer_of(sp_format_by_extension(path));
}
