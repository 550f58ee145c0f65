/* page.c: writes the html form; see page.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../forms/view-json.h"
#include "hwloc.h"
#include "page-part.h"
#include "page-parts.h"
#include "page.h"
#include "report.h"

/* Of the whole page 5 MB: it is handed on, and browsers are slow with more. */
#define MOST	5000000ul
#define ROOM	(MOST - sizeof(page_before) - sizeof(page_behind))

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

/* The first `bytes` bytes of fd. */
static int copy(struct sp_out *o, int fd, off_t bytes)
{
	char block[65536];
	ssize_t n = 0;

	for (off_t at = 0; !o->error && at < bytes; at += n) {
		n = pread(fd, block, (size_t)sp_min((uint64_t)(bytes - at), sizeof(block)), at);
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		escaped(o, block, (size_t)n);
	}
	return o->error;
}

/* How many more bytes `escaped` makes of the first `bytes` bytes of fd. */
static uint64_t more_escaped(int fd, off_t bytes)
{
	char block[65536];
	uint64_t more = 0;
	ssize_t n;

	for (off_t at = 0; at < bytes && (n = pread(fd, block, (size_t)sp_min((uint64_t)(bytes - at), sizeof(block)), at)) > 0; at += n)
		for (ssize_t i = 0; i < n; i++)
			more += block[i] == '<' ? strlen("\\u003c") - 1 : 0;
	return more;
}

/* A file in memory that takes no more than a page may have. */
static int open_room(void)
{
	int fd = memfd_create("sspapi", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (ftruncate(fd, ROOM) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) != 0)) {
		int e = errno;

		close(fd);
		errno = e;
		return -1;
	}
	return fd;
}

/* The JSON of report with the levels that the page has tables of; p: of that part of the run.  How many bytes, or
 * -errno; -EFBIG: more than there is room for. */
static int json(int fd, const struct sp_show *s, const struct sp_page_part *p)
{
	struct sp_report levels = { .verb = "report", .show = *s, .has_row = p ? sp_page_part_has_row : NULL, .of = p };
	char buffer[65536];
	struct sp_out o;
	int e, closed;

	for (unsigned i = 0; i < SP_PAGE_PART_LEVELS; i++)
		sp_report_level(&levels, sp_page_part_level[i]);
	if (lseek(fd, 0, SEEK_SET) != 0)
		return -errno;
	sp_out_init(&o, fd, buffer, sizeof(buffer));
	levels.show.brief = true;
	sp_json_dump(&o, &levels.show);
	e = sp_report_json(&levels, &o);
	if (p)
		sp_page_part_json(p, &o);
	sp_out_text(&o, "}\n");
	closed = sp_out_finish(&o);
	if (e < 0 || (closed < 0 && closed != -EPERM))	/* (a sealed file's word for full) */
		return e < 0 ? e : closed;
	return closed < 0 || o.written + more_escaped(fd, (off_t)o.written) > ROOM ? -EFBIG : (int)o.written;
}

/* All, or as much as there is room for of what stands out. */
static int some_json(int fd, struct sp_show *s)
{
	int e = json(fd, s, NULL);
	struct sp_page_part *p;

	if (e != -EFBIG)
		return e;
	p = sp_page_part_open(s);
	for (uint32_t limit = 512; limit && e == -EFBIG; limit /= 2) {
		s->part = sp_page_part_limit(p, limit);
		e = json(fd, s, p);
	}
	sp_page_part_close(p);
	return e;
}

/* With those metrics that there are, unless others are wished for.  The JSON goes by way of a file in
 * memory: views know nothing of what is around them. */
static void write_page(struct sp_out *o, const struct sp_show *s)
{
	struct sp_show show = *s;
	const struct sp_metrics_wish usual = { .any = true };
	bool wished = show.metrics != NULL;
	int fd = open_room(), e = fd < 0 ? -errno : 0;

	if (!wished)
		sp_metrics_show(&usual, NULL, &show);
	if (e == 0)
		e = some_json(fd, &show);
	if (!wished)
		sp_metrics_forget();
	sp_out_text(o, page_before);
	if (e > 0)
		e = copy(o, fd, e);
	sp_out_text(o, page_behind);
	if (fd >= 0)
		close(fd);
	if (!o->error)
		o->error = e;
}

const struct sp_view sp_page = { "html", ".html", write_page };

static const struct sp_view *const of_command[] = { &sp_page, &sp_hwloc };

static const struct sp_view *view_of(const struct sp_form *form)
{
	for (unsigned i = 0; form && i < SP_COUNT(of_command); i++)
		if (strcmp(of_command[i]->name, form->name) == 0)
			return of_command[i];
	return form ? sp_view_by_name(form->name, strlen(form->name)) : NULL;
}

const struct sp_view *sp_any_view_by_name(const char *name, size_t length)
{
	return view_of(sp_form_by_name(name, length));
}

const struct sp_view *sp_any_view_by_extension(const char *path)
{
	return view_of(sp_form_by_extension(path));
}
