/* page.c: writes the html form; see page.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../forms/view-json.h"
#include "page-parts.h"
#include "page.h"
#include "report.h"

/* JSON as the contents of a script element, which </script> and <!-- would end or confuse: < stands in
 * strings only, where \u003c means the same. */
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

/* What was written to fd. */
static int copy(struct sp_out *o, int fd)
{
	char block[65536];
	ssize_t n = 0;

	for (off_t at = 0; !o->error && (n = pread(fd, block, sizeof(block), at)) > 0; at += n)
		escaped(o, block, (size_t)n);
	return n < 0 ? -errno : o->error;
}

/* The JSON of report with the levels that the page has tables of. */
static int json(int fd, const struct sp_show *s)
{
	struct sp_report levels = { .verb = "report", .show = *s };
	char buffer[65536];
	struct sp_out o;
	int e, closed;

	sp_report_level(&levels, "per-thread");
	sp_report_level(&levels, "per-callsite");
	sp_report_level(&levels, "per-process");
	sp_report_level(&levels, "per-machine");
	sp_out_init(&o, fd, buffer, sizeof(buffer));
	levels.show.brief = true;
	sp_json_dump(&o, &levels.show);
	e = sp_report_json(&levels, &o);
	sp_out_text(&o, "}\n");
	closed = sp_out_finish(&o);
	return e < 0 ? e : closed;
}

/* With those metrics that there are, unless others are wished for.  The JSON goes by way of a file in
 * memory: views know nothing of what is around them. */
static void write_page(struct sp_out *o, const struct sp_show *s)
{
	struct sp_show show = *s;
	const struct sp_metrics_wish usual = { .any = true };
	bool wished = show.metrics != NULL;
	int fd = memfd_create("sspapi", MFD_CLOEXEC), e = fd < 0 ? -errno : 0;

	if (!wished)
		sp_metrics_show(&usual, NULL, &show);
	if (e == 0)
		e = json(fd, &show);
	if (!wished)
		sp_metrics_forget();
	sp_out_text(o, page_before);
	if (e == 0)
		e = copy(o, fd);
	sp_out_text(o, page_behind);
	if (fd >= 0)
		close(fd);
	if (!o->error)
		o->error = e;
}

#define PAGE(name, extension, with) { #name, extension, write_page }
const struct sp_view sp_page = SP_FORMS(SP_NO_FORM, SP_NO_FORM, PAGE, );

const struct sp_view *sp_any_view_by_name(const char *name, size_t length)
{
	const struct sp_form *form = sp_form_by_name(name, length);

	return form && form->page ? &sp_page : sp_view_by_name(name, length);
}

const struct sp_view *sp_any_view_by_extension(const char *path)
{
	const struct sp_form *form = sp_form_by_extension(path);

	return form && form->page ? &sp_page : sp_view_by_extension(path);
}
