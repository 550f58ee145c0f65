/* source.c: reads a file's processes one at a time. */
#include "../../store/blocks.h"
#include "../../store/live.h"
#include "source.h"

#define FRONT_MOST	(1ull << 28)	/* events of a merged store */
#define PART_MOST	(1ull << 34)	/* one process of it */

long sp_source_read(const struct sp_source *s, void *to, uint64_t bytes, uint64_t off)
{
	memset(to, 0, bytes);
	return (long)sp_file_read(s->fd, to, bytes, off);
}

#define KEPT (1ull << 20)		/* a buffer up to this size is kept for the next file */

static int read_into(const struct sp_source *s, unsigned char **to, uint64_t *room, uint64_t bytes,
		     uint64_t off)
{
	int64_t n;

	if (bytes > *room || *room > KEPT) {
		free(*to);
		*to = sp_check_alloc(calloc(1, bytes ? bytes : 1));
		*room = bytes;
	} else {
		memset(*to, 0, bytes);
	}
	n = sp_file_read(s->fd, *to, bytes, off);
	return n < 0 ? (int)n : (uint64_t)n < bytes ? -EINVAL : 0;
}

static int check(const struct sp_source *s)
{
	int e = sp_header_check(&s->h);

	if (e < 0)
		return e;
	if (s->h.bytes > s->bytes)
		return -EINVAL;
	/* Truncated, unless the writer itself ran out of disk space. */
	if (s->h.used > s->bytes && !s->h.torn)
		return -EINVAL;
	if (s->h.compact.members &&
	    (s->h.compact.machines < s->h.bytes || s->h.compact.machines > s->h.compact.members ||
	     s->h.compact.machines > FRONT_MOST || s->h.compact.members > s->bytes))
		return -EINVAL;
	return 0;
}

static int read_front(struct sp_source *s, uint64_t bytes)
{
	int e = read_into(s, &s->front, &s->front_room, bytes, 0);

	if (e == 0 && memcmp(s->front, &s->h, sizeof(s->h)) != 0)
		e = -ESTALE;
	s->front_digest = (struct sp_digest){ 0 };
	if (e == 0)
		sp_digest_add(&s->front_digest, s->front, bytes);
	return e;
}

int sp_source_open(struct sp_source *s, const char *path)
{
	struct stat st;
	long n;
	int e;

	s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (s->fd < 0 || fstat(s->fd, &st) < 0) {
		e = -errno;
		sp_source_close(s);
		return e;
	}
	s->bytes = (uint64_t)st.st_size;
	memset(&s->h, 0, sizeof(s->h));
	e = S_ISREG(st.st_mode)	  ? sp_file_is_filled(s->fd, &st)
	    : S_ISDIR(st.st_mode) ? -EISDIR
				  : -EINVAL;
	n = e ? 0 : sp_source_read(s, &s->h, sizeof(s->h), 0);
	if (n < 0)
		e = (int)n;
	else if (e == 0)
		e = s->bytes ? check(s) : -ENODATA;
	if (e == 0)
		e = read_front(s, s->h.compact.members ? s->h.compact.machines : s->bytes);
	if (e < 0) {
		sp_source_close(s);
		return e;
	}
	if (sp_is_live_file(path) && s->h.end == SP_END_NONE) {
		const struct sp_store_reader reader = { .base = s->front,
							.bytes = s->h.compact.members
									 ? s->h.compact.machines
									 : s->bytes };

		if (sp_may_run(&s->h, &reader)) {
			sp_source_close(s);
			return -EBUSY;
		}
	}
	sp_source_seek(s, 0);
	return 0;
}

static void forget(struct sp_source *s)
{
	if (s->is_open)
		sp_model_close(&s->model);
	s->is_open = false;
}

void sp_source_close(struct sp_source *s)
{
	forget(s);
	sp_close(s->fd);
	s->fd = -1;
}

void sp_source_free(struct sp_source *s)
{
	sp_source_close(s);
	free(s->front);
	free(s->part);
	s->front = s->part = NULL;
	s->front_room = s->part_room = 0;
}

void sp_source_seek(struct sp_source *s, sp_off at)
{
	s->next = at ? at : s->h.compact.members;
	s->plain_given = false;
}

/* Reads the process at s->next as if it were the file's only one: changes our copies of the
 * file's header and of the process's link. */
static int read_member(struct sp_source *s)
{
	struct sp_member p;
	long n = s->next & 7 ? 0 : sp_source_read(s, &p, sizeof(p), s->next);
	struct sp_header *h = (struct sp_header *)s->front;
	int e;

	if (n < 0)
		return (int)n;
	if ((uint64_t)n < sizeof(p) || p.b.kind != SP_BLOCK_MEMBER || p.extent < sizeof(p) ||
	    p.extent > PART_MOST || p.extent > s->bytes - s->next ||
	    (p.next && p.next != s->next + p.extent) || p.machine >= s->h.compact.n_machines)
		return -EINVAL;
	e = read_into(s, &s->part, &s->part_room, p.extent, s->next);
	if (e == 0 && memcmp(s->part, &p, sizeof(p)) != 0)
		e = -ESTALE;
	if (e < 0)
		return e;
	sp_digest_add(&s->digest, s->part, p.extent);
	h->compact.members = s->next;
	h->compact.machines = h->topology = 0;
	((struct sp_member *)s->part)->next = 0;
	s->reader = (struct sp_store_reader){ .base = s->front,
					      .bytes = s->h.compact.machines,
					      .part = s->part,
					      .part_at = s->next,
					      .part_bytes = p.extent };
	s->at = s->next;
	s->machine = p.machine;
	s->next = p.next;
	return 0;
}

int sp_source_next(struct sp_source *s)
{
	int e;

	forget(s);
	if (s->h.compact.members ? !s->next : s->plain_given)
		return 0;
	s->digest = s->front_digest;
	if (s->h.compact.members) {
		e = read_member(s);
		if (e < 0)
			return e;
	} else {
		s->reader = (struct sp_store_reader){ .base = s->front, .bytes = s->bytes };
		s->at = 0;
		s->machine = 0;
		s->plain_given = true;
	}
	e = sp_model_open(&s->model, &s->reader);
	if (e < 0)
		return e;
	s->is_open = true;
	sp_set_unfinished_end(&s->model);
	if (s->model.tally.damaged || s->model.n_processes != 1)
		return -EINVAL;
	for (uint32_t i = 0; i < s->model.n_events; i++)
		if (!s->model.event[i])
			return -EINVAL;
	return 1;
}
