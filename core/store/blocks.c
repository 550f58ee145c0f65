/* blocks.c: see blocks.h. */
#include <errno.h>
#include <string.h>

#include "blocks.h"

void sp_header_begin(struct sp_header *h)
{
	h->endian = SP_ENDIAN;
	h->version = SP_FORMAT_VERSION;
	h->oldest_reader = SP_FORMAT_OLDEST;
	h->bytes = sizeof(*h);
}

void sp_header_finish(struct sp_header *h)
{
	memcpy(h->magic, SP_MAGIC, sizeof(h->magic));
}

int sp_header_check(const struct sp_header *h)
{
	if (memcmp(h->magic, SP_MAGIC, sizeof(h->magic)) != 0 || h->endian != SP_ENDIAN)
		return -EINVAL;
	if (h->oldest_reader > SP_FORMAT_VERSION)
		return -EPROTO;
	if (h->version < SP_FORMAT_OLDEST)
		return -EPROTONOSUPPORT;
	return h->bytes >= SP_HEADER_LEAST ? 0 : -EINVAL;
}

void sp_header_copy(struct sp_header *to, const struct sp_header *from)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, from, sp_min(from->bytes, sizeof(*to)));
}

uint64_t sp_tree_bytes(const struct sp_tree *t)
{
	return sp_align(sizeof(struct sp_topology) + t->n * sizeof(struct sp_component) +
				t->xml_bytes,
			8);
}

void sp_tree_write(const struct sp_tree *t, struct sp_topology *to)
{
	to->n = t->n;
	to->n_cpus = t->n_cpus;
	to->xml_bytes = t->xml_bytes;
	if (t->n)
		memcpy(to->at, t->component, (uint64_t)t->n * sizeof(to->at[0]));
	if (t->xml_bytes)
		memcpy((char *)(to->at + t->n), t->xml, t->xml_bytes);
}

bool sp_tree_read(struct sp_tree *t, const struct sp_topology *from)
{
	uint64_t room = from->b.bytes - sizeof(*from);

	if (from->n > room / sizeof(from->at[0]))
		return false;
	*t = (struct sp_tree){ .component = from->at,
			       .n = from->n,
			       .n_cpus = from->n_cpus,
			       .xml = (const char *)(from->at + from->n) };
	room -= (uint64_t)from->n * sizeof(from->at[0]);
	if (from->xml_bytes <= room)
		t->xml_bytes = from->xml_bytes;
	return true;
}
