/* file.c: reads a store's file into memory for a command. */
#include "../../base/output.h"
#include "../../formats/format-writer.h"
#include "../../model/format-common.h"
#include "../../store/blocks.h"
#include "../../store/live.h"
#include "../tool/cmd.h"
#include "file.h"

#define LARGEST (1ull << 40)
#define HOLES_FREE (64ull << 20)	/* files up to this size may be all holes; */
#define HOLES_MOST 256u			/* longer ones need one byte of data per HOLES_MOST bytes */

/* Returns the offset of the first data at or after `at`, or -errno; -ENXIO after the last. If
 * the file system does not report holes, all is data. */
static int64_t data_at(int fd, uint64_t at, uint64_t *end)
{
	off_t from = lseek(fd, (off_t)at, SEEK_DATA), to;

	*end = UINT64_MAX;
	if (from < 0)
		return errno == EINVAL ? (int64_t)at : -errno;
	to = lseek(fd, from, SEEK_HOLE);
	if (to > from)
		*end = (uint64_t)to;
	return from;
}

int sp_file_is_filled(int fd, const struct stat *s)
{
	uint64_t size = (uint64_t)s->st_size, data = 0, end;
	int64_t from;

	if (size > LARGEST)
		return -EINVAL;
	if (size <= HOLES_FREE)
		return 0;
	for (uint64_t at = 0; at < size && (from = data_at(fd, at, &end)) >= 0;
	     at = sp_min(end, size))
		data += sp_min(end, size) - sp_min((uint64_t)from, size);
	/* NFS 3 reports blocks, but no holes; others report no blocks, or few for compressed
	 * data. */
	if (s->st_blocks)
		data = sp_min(data, (uint64_t)s->st_blocks * 512);
	return (size - HOLES_FREE) / HOLES_MOST <= data ? 0 : -EINVAL;
}

int64_t sp_file_read(int fd, void *to, uint64_t n, uint64_t off)
{
	uint64_t at = off, end = 0;
	int64_t from = 0;
	off_t size;

	while (at < off + n) {
		ssize_t got;

		if (at >= end) {
			from = data_at(fd, at, &end);
			if (from < 0)
				break;
			at = sp_max(at, (uint64_t)from);
			if (at >= off + n)
				break;
		}
		got = pread(fd, (char *)to + (at - off), sp_min(off + n, end) - at, (off_t)at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return (int64_t)(at - off);
		at += (uint64_t)got;
	}
	if (from < 0 && from != -ENXIO)
		return from;
	size = lseek(fd, 0, SEEK_END);	/* there may be a hole after the last data */
	return size < 0 ? -errno : (int64_t)sp_min(n, (uint64_t)size - sp_min((uint64_t)size, off));
}

/* 0 or -errno; *cut: by its header the file is longer than the bytes read. */
static int read_all(struct sp_file *f, int fd, bool *cut)
{
	const struct sp_header *h;
	struct stat s;
	int64_t got;
	int r = fstat(fd, &s) < 0    ? -errno
		: S_ISREG(s.st_mode) ? sp_file_is_filled(fd, &s)
				     : -EINVAL;

	if (r < 0)
		return r;
	f->dev = (uint64_t)s.st_dev;
	f->ino = (uint64_t)s.st_ino;
	f->uid = s.st_uid;
	f->mode = s.st_mode;
	f->bytes = calloc(1, s.st_size ? (size_t)s.st_size : 1);	/* zero, as in holes */
	if (!f->bytes)
		return -ENOMEM;
	got = sp_file_read(fd, f->bytes, (uint64_t)s.st_size, 0);
	if (got < 0)
		return (int)got;
	f->reader = (struct sp_store_reader){ .base = f->bytes, .bytes = (uint64_t)got };
	h = (const struct sp_header *)f->bytes;
	*cut = (uint64_t)got >= offsetof(struct sp_header, kept.events) &&
	       h->used > (uint64_t)got && !h->torn;
	return 0;
}

long sp_file_first(const char *path, int flags, void *to, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
	ssize_t got = fd < 0 ? -1 : read(fd, to, n);

	sp_close(fd);
	return got;
}

/* Names the format of a dump by its first bytes (text, JSON ...); NULL: unknown. */
static const char *format_of(const char *path)
{
	static const struct { const char *begins, *format; } formats[] = {
		{ "{\"format\": \"sspapi-dump\"", "a JSON dump" },
		{ "host,rank,pid,tid,thread,", "a CSV dump" }, { "<?xml", "XML" },
		{ "\177ELF", "a program" },
	};
	char first[64] = "";
	long n = sp_file_first(path, 0, first, sizeof(first) - 1);

	for (unsigned i = 0; n > 0 && i < SP_COUNT(formats); i++)
		if (strncmp(first, formats[i].begins, strlen(formats[i].begins)) == 0)
			return formats[i].format;
	if (n == 0)
		return "empty";
	for (long i = 0; i < n; i++)
		if (!first[i] || ((unsigned char)first[i] < 32 && !strchr("\t\n\r\f", first[i])))
			return NULL;
	if (n > 2 && strncmp(first, "#!", 2) == 0)
		return "a script";
	return n > 0 ? "a text" : NULL;
}

static const char *not_a_store(const char *path)
{
	static char text[SP_CONF_PATH + 200];
	const char *format = format_of(path);
	struct sp_header h;
	struct stat s;
	char store[SP_CONF_PATH] = "";

	if (!format)
		return stat(path, &s) == 0 && S_ISDIR(s.st_mode)
			       ? "a folder, not a store: name a file in it"
			       : "not a store of sspapi, or damaged";
	if (strcmp(format, "empty") == 0)
		return "empty: it contains no counts";
	if (sp_output_name_for(store, sizeof(store), path, sp_format_writer_of(SP_FORMAT_store)) ==
		    0 &&
	    sp_file_first(store, 0, &h, sizeof(h)) == (long)sizeof(h) && sp_header_check(&h) == 0)
		snprintf(text, sizeof(text), "%s, not a store: that is %s", format, store);
	else if (strcmp(format, "a program") == 0 || strcmp(format, "a script") == 0)
		snprintf(text, sizeof(text),
			 "%s, not a store: write one with sspapi run or sspapi stat -o FILE",
			 format);
	else
		snprintf(text, sizeof(text),
			 "%s, not a store: write one with SSPAPI_FORMAT=text,store or sspapi run",
			 format);
	return text;
}

const char *sp_file_why(int error, const char *path)
{
	switch (error) {
	case -EPROTO:
		return "written by a newer sspapi: use that one to read it";
	case -EPROTONOSUPPORT:
		return "written by sspapi before 0.3, whose stores are not supported: run the "
		       "program again";
	case -EINVAL:
		return not_a_store(path);
	case -ENODATA:
		return "empty";
	case -EBUSY:
		return "its process may still run";
	case -ESTALE:
		return "changed while it was read";
	default:
		return strerror(-error);
	}
}

/* Extends the process's time to its last reading with a known time, which temporary ones on one
 * CPU lack. Before, it is the last snapshot's time, or none. */
static void until_last_reading(struct sp_model *m)
{
	struct sp_row row = { 0 };

	/* reading times have a resolution of a few ms */
	m->h.process.end_ns = sp_max(m->h.process.end_ns, m->h.process.start_ns);
	while (sp_model_next(m, &row)) {
		struct sp_kept at = { 0 };

		m->h.process.end_ns =
			sp_max(m->h.process.end_ns, sp_max(row.last_ns, row.latest_ns));
		while (sp_row_kept(m, &row, &at))
			m->h.process.end_ns = sp_max(m->h.process.end_ns, at.ns);
	}
}

bool sp_may_run(const struct sp_header *h, const struct sp_store_reader *reader)
{
	char host[65] = "";

	gethostname(host, sizeof(host) - 1);
	return sp_live_may_run(h, strcmp(sp_store_reader_text(reader, h->process.host), host) == 0);
}

void sp_set_unfinished_end(struct sp_model *m)
{
	if (!sp_is_job(m) && m->h.end == SP_END_NONE)
		until_last_reading(m);
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct sp_header *h = sp_process_header(m, i);

		m->n_killed += h->end == SP_END_NONE && !sp_may_run(h, m->reader);
	}
}

int sp_file_load(struct sp_file *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r = fd < 0 ? -errno : 0;
	bool cut = true;

	memset(f, 0, sizeof(*f));
	/* A live file may grow between fstat and read. */
	for (int tries = 0; tries < 3 && r == 0 && cut; tries++) {
		free(f->bytes);
		f->bytes = NULL;
		r = read_all(f, fd, &cut);
	}
	sp_close(fd);
	if (r == 0)
		r = sp_model_open(&f->model, &f->reader);
	if (r < 0) {
		free(f->bytes);
		return r;
	}
	f->model.tally.damaged += cut;
	sp_set_unfinished_end(&f->model);
	sp_model_join_callsites(&f->model);
	return 0;
}

int sp_file_open(struct sp_file *f, const char *verb, const char *path)
{
	int r = sp_file_load(f, path);

	return r < 0 ? sp_complain(1, verb, sp_file_why(r, path), path) : 0;
}

void sp_file_close(struct sp_file *f)
{
	sp_model_close(&f->model);
	if (f->mapped)
		munmap(f->bytes, f->mapped);
	else
		free(f->bytes);
}
