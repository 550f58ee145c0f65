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
	return h->bytes >= sizeof(*h) ? 0 : -EINVAL;
}

/* From the start of the block: behind the XML. */
static uint64_t kinds_at(uint64_t components, uint64_t xml_bytes)
{
	return sp_align(sizeof(struct sp_topology) + components * sizeof(struct sp_component) + xml_bytes, 8);
}

uint64_t sp_tree_bytes(const struct sp_tree *t)
{
	return kinds_at(t->n, t->xml_bytes) + sizeof(struct sp_cpu_kinds) + t->n_kinds * sizeof(*t->kind);
}

void sp_tree_write(const struct sp_tree *t, struct sp_topology *to)
{
	struct sp_cpu_kinds *k = (struct sp_cpu_kinds *)((char *)to + kinds_at(t->n, t->xml_bytes));

	to->n = t->n;
	to->n_cpus = t->n_cpus;
	to->xml_bytes = t->xml_bytes;
	if (t->n)
		memcpy(to->at, t->component, (uint64_t)t->n * sizeof(to->at[0]));
	if (t->xml_bytes)
		memcpy((char *)(to->at + t->n), t->xml, t->xml_bytes);
	k->n = t->n_kinds;
	if (t->n_kinds)
		memcpy(k->at, t->kind, t->n_kinds * sizeof(*t->kind));
}

bool sp_tree_read(struct sp_tree *t, const struct sp_topology *from)
{
	uint64_t bytes = from->b.bytes, room = bytes - sizeof(*from), kinds;
	const struct sp_cpu_kinds *k;

	if (from->n > room / sizeof(from->at[0]))
		return false;
	*t = (struct sp_tree){ .component = from->at, .n = from->n, .n_cpus = from->n_cpus, .xml = (const char *)(from->at + from->n) };
	room -= (uint64_t)from->n * sizeof(from->at[0]);
	if (from->xml_bytes > room)
		return true;
	t->xml_bytes = from->xml_bytes;
	kinds = kinds_at(from->n, from->xml_bytes);
	k = (const struct sp_cpu_kinds *)((const char *)from + kinds);
	if (kinds + sizeof(*k) > bytes || k->n > (bytes - kinds - sizeof(*k)) / sizeof(k->at[0]))
		return true;
	t->kind = k->at;
	t->n_kinds = k->n;
	return true;
}
