/* merge-machines.c: finds each process's machine, and writes the machines of the result. */
#include "merge-common.h"

/* ---- a topology in a file --------------------------------------------------- */

static struct sp_component plain_component(const struct sp_component *from)
{
	struct sp_component c = *from;

	c.flags &= ~SP_COMPONENT_DISALLOWED;
	return c;
}

/* Drops the amount of memory. */
static struct sp_component without_memory(const struct sp_component *from)
{
	struct sp_component c = plain_component(from);

	if ((c.flags & SP_COMPONENT_MEMORY) || c.parent < 0)
		c.size = 0;
	return c;
}

/* Digest of everything that is equal on equal machines: not memory, nor the CPUs that a process
 * was allowed. */
static struct sp_digest shape(const struct sp_tree *p, const char *source)
{
	uint64_t head[2] = { p->n, p->n_cpus };
	struct sp_digest d = { 1, 1 };

	sp_digest_add(&d, head, sizeof(head));
	sp_digest_add(&d, source, strlen(source));
	for (uint32_t i = 0; i < p->n; i++) {
		struct sp_component c = without_memory(&p->component[i]);

		sp_digest_add(&d, &c, sizeof(c));
	}
	return d;
}

static struct sp_digest texts(const struct sp_tree *p)
{
	struct sp_digest d = { 0 };

	for (uint32_t i = 0; i < p->n; i++) {
		struct sp_component c = plain_component(&p->component[i]);

		sp_digest_add(&d, &c, sizeof(c));
	}
	sp_digest_add(&d, p->xml, p->xml_bytes);
	return d;
}

static uint32_t topology_number(struct merge *g, const struct sp_tree *p, const char *source,
				uint32_t file, sp_off at)
{
	struct sp_digest like = shape(p, source), d = texts(p);
	uint32_t n = sp_names_number(&g->machines.topologies, &like, sizeof(like));
	struct merge_topology *t;

	g->machines.topology = sp_grow_array(g->machines.topology, &g->machines.topology_room,
					     n + 1, sizeof(*g->machines.topology));
	t = &g->machines.topology[n];
	t->flat = strcmp(source, "flat") == 0;
	t->seen = t->flat || strcmp(source, "system") == 0;
	if (t->at && !!t->xml_bytes != !!p->xml_bytes
		    ? t->xml_bytes != 0
		    : t->at && sp_digest_compare(&t->texts, &d) <= 0)
		return n;
	*t = (struct merge_topology){ .texts = d,
				      .n = p->n,
				      .xml_bytes = p->xml_bytes,
				      .file = file,
				      .at = at,
				      .flat = t->flat,
				      .seen = t->seen };
	return n;
}

/* ---- a machine ---------------------------------------------------------------- */

static uint32_t first_of(const struct merge *g, uint32_t n)
{
	while (g->machines.at[n].same != n)
		n = g->machines.at[n].same;
	return n;
}

/* Returns the number of a process's machine, by host and boot. */
static uint32_t machine_number(struct merge *g, const struct sp_model *m, uint32_t topology)
{
	const struct sp_header *h = m->process[0].h;
	const char *host = sp_model_text(m, h->process.host);
	uint32_t n, known = g->machines.names.n, boot;

	g->key.used = 0;
	sp_bytes_add(&g->key, host, strlen(host) + 1);
	if (topology != SP_NO_TOPOLOGY)
		sp_bytes_add(&g->key, g->machines.topologies.name[topology].key,
			     sizeof(struct sp_digest));
	/* may be any machine with as many CPUs */
	if (topology == SP_NO_TOPOLOGY || g->machines.topology[topology].flat)
		sp_bytes_add(&g->key, h->process.boot_id, sizeof(h->process.boot_id));
	n = sp_names_number(&g->machines.names, g->key.at, g->key.used);
	g->machines.at =
		sp_grow_array(g->machines.at, &g->machines.room, n + 1, sizeof(*g->machines.at));
	if (g->machines.names.n > known)
		g->machines.at[n] = (struct merge_machine){ .same = n, .topology = topology };
	if (!*h->process.boot_id)
		return n;
	g->key.used = 0;
	sp_bytes_add(&g->key, h->process.boot_id, sizeof(h->process.boot_id));
	/* topology from SSPAPI_TOPOLOGY */
	if (topology != SP_NO_TOPOLOGY && !g->machines.topology[topology].seen)
		sp_bytes_add(&g->key, &topology, sizeof(topology));
	known = g->machines.boots.n;
	boot = sp_names_number(&g->machines.boots, g->key.at, g->key.used);
	g->machines.boot_machine = sp_grow_array(g->machines.boot_machine, &g->machines.boot_room,
						 boot + 1, sizeof(*g->machines.boot_machine));
	if (g->machines.boots.n > known)
		g->machines.boot_machine[boot] = n;
	g->machines.at[first_of(g, n)].same = first_of(g, g->machines.boot_machine[boot]);
	return n;
}

/* Keeps a component as disallowed only if every process so far was disallowed there. */
static void disallow(struct merge_machine *m, uint32_t n, bool (*no)(const void *, uint32_t),
		     const void *arg)
{
	bool first = !m->disallowed;

	if (first) {
		m->words = (n + 63) / 64;
		m->disallowed = sp_check_alloc(calloc(m->words + 1, 8));
	}
	for (uint32_t i = 0; i < n; i++) {
		if (first && no(arg, i))
			m->disallowed[i / 64] |= 1ull << i % 64;
		else if (!first && !no(arg, i))
			m->disallowed[i / 64] &= ~(1ull << i % 64);
	}
}

static bool no_by_flag(const void *arg, uint32_t i)
{
	return ((const struct sp_tree *)arg)->component[i].flags & SP_COMPONENT_DISALLOWED;
}

static bool no_by_bit(const void *arg, uint32_t i)
{
	const struct merge_map *on = arg;

	return i / 64 < on->words && (on->disallowed[i / 64] >> i % 64 & 1);
}

static uint32_t member_machine(struct merge *g, const struct sp_source *s)
{
	const struct merge_map *on =
		s->machine < g->machines.n_map ? &g->machines.map[s->machine] : NULL;
	uint32_t n = machine_number(g, &s->model, on ? on->topology : SP_NO_TOPOLOGY);

	if (on && on->topology != SP_NO_TOPOLOGY)
		disallow(&g->machines.at[n], g->machines.topology[on->topology].n, no_by_bit, on);
	return n;
}

uint32_t merge_machine(struct merge *g, const struct sp_source *s, uint32_t file)
{
	const struct sp_model *m = &s->model;
	const struct sp_topology *p =
		sp_store_reader_block(m->reader, m->h.topology, SP_BLOCK_TOPOLOGY, sizeof(*p));
	struct sp_tree t;
	uint32_t n;

	if (s->h.compact.members)
		return member_machine(g, s);
	if (!p || !sp_tree_read(&t, p))
		return machine_number(g, m, SP_NO_TOPOLOGY);
	n = machine_number(g, m,
			   topology_number(g, &t, sp_model_text(m, p->source), file,
					   m->h.topology));
	disallow(&g->machines.at[n], t.n, no_by_flag, &t);
	return n;
}

/* ---- machines of a merged store ----------------------------------------- */

/* Reads the complete block at off into memory that the caller frees; NULL: none. */
static unsigned char *read_block(const struct sp_source *s, sp_off off, uint32_t kind,
				 uint64_t least)
{
	struct sp_block b;
	unsigned char *bytes;

	if ((off & 7) || sp_source_read(s, &b, sizeof(b), off) != (long)sizeof(b) ||
	    b.kind != kind || b.bytes < least || b.bytes > s->bytes - off)
		return NULL;
	bytes = sp_check_alloc(malloc(b.bytes + 1ull));
	bytes[b.bytes] = 0;
	if (sp_source_read(s, bytes, b.bytes, off) == (long)b.bytes &&
	    memcmp(bytes, &b, sizeof(b)) == 0)
		return bytes;
	free(bytes);
	return NULL;
}

/* Reads the text at off, which the caller frees; NULL: "". */
static char *read_text(const struct sp_source *s, sp_off off)
{
	unsigned char *bytes =
		off ? read_block(s, off, SP_BLOCK_STRING, sizeof(struct sp_string) + 1) : NULL;
	struct sp_string *text = (struct sp_string *)bytes;
	char *copy = sp_check_alloc(
		strdup(bytes && text->length < text->b.bytes - sizeof(*text) ? text->text : ""));

	free(bytes);
	return copy;
}

/* Reads a topology, which the caller frees; NULL: none, or damaged. */
static struct sp_topology *read_topology(const struct sp_source *s, sp_off off, struct sp_tree *t)
{
	struct sp_topology *p =
		(struct sp_topology *)read_block(s, off, SP_BLOCK_TOPOLOGY, sizeof(*p));

	if (p && sp_tree_read(t, p))
		return p;
	free(p);
	return NULL;
}

/* Reads each machine; g NULL: only checks that they are complete. */
static int walk(struct merge *g, const struct sp_source *s, uint32_t file)
{
	sp_off next = s->h.compact.machines;
	struct sp_tree t;
	uint32_t n = 0;

	for (; next; n++) {
		struct sp_machine *on =
			(struct sp_machine *)read_block(s, next, SP_BLOCK_MACHINE, sizeof(*on));
		struct sp_topology *p =
			on && on->topology ? read_topology(s, on->topology, &t) : NULL;
		bool sound = on && (!on->topology || p) && (!on->next || on->next > next) &&
			     n < s->h.compact.n_machines;

		if (sound && g) {
			char *source = p ? read_text(s, p->source) : NULL;
			struct merge_map *map = &g->machines.map[n];

			map->topology = p ? topology_number(g, &t, source, file, on->topology)
					  : SP_NO_TOPOLOGY;
			map->words = (uint32_t)((on->b.bytes - sizeof(*on)) / 8);
			map->disallowed = sp_check_alloc(calloc(map->words + 1, 8));
			memcpy(map->disallowed, on->disallowed, map->words * 8ull);
			g->machines.n_map = n + 1;
			free(source);
		}
		next = sound ? on->next : 0;
		free(on);
		free(p);
		if (!sound)
			return -EINVAL;
	}
	return n == s->h.compact.n_machines ? 0 : -EINVAL;
}

int merge_check_machines(const struct sp_source *s)
{
	return walk(NULL, s, 0);
}

void merge_forget_map(struct merge *g)
{
	for (uint32_t i = 0; i < g->machines.n_map; i++)
		free(g->machines.map[i].disallowed);
	g->machines.n_map = 0;
}

int merge_machines(struct merge *g, const struct sp_source *s, uint32_t file)
{
	merge_forget_map(g);
	g->machines.map = sp_grow_array(g->machines.map, &g->machines.map_room,
					s->h.compact.n_machines, sizeof(*g->machines.map));
	return walk(g, s, file);
}

/* ---- the order ---------------------------------------------------------------------- */

/* Does a show more of the machine? Containers may see only parts, and hwloc versions differ. */
static bool shows_more(const struct merge *g, uint32_t a, uint32_t b)
{
	if (a == b || a == SP_NO_TOPOLOGY || b == SP_NO_TOPOLOGY)
		return a != b && b == SP_NO_TOPOLOGY;
	if (g->machines.topology[a].n != g->machines.topology[b].n)
		return g->machines.topology[a].n > g->machines.topology[b].n;
	return memcmp(g->machines.topologies.name[a].key, g->machines.topologies.name[b].key,
		      sizeof(struct sp_digest)) < 0;
}

/* Clears the disallowed bits, which refer to another tree. */
static void allow_all(struct merge_machine *m, const struct merge *g, uint32_t topology)
{
	m->words = topology == SP_NO_TOPOLOGY ? 0 : (g->machines.topology[topology].n + 63) / 64;
	free(m->disallowed);
	m->disallowed = sp_check_alloc(calloc(m->words + 1, 8));
}

/* Sorts machines by name. Equal machines take the first one's place and the most complete
 * topology. */
void merge_sort_machines(struct merge *g)
{
	uint32_t *place = sp_check_alloc(malloc((g->machines.names.n + 1) * sizeof(*place))),
		 *best = sp_check_alloc(malloc((g->machines.names.n + 1) * sizeof(*best))), n = 0;
	bool *several = sp_check_alloc(calloc(g->machines.names.n + 1, sizeof(*several)));

	sp_names_sort(&g->machines.names, &g->machines.order, &g->machines.rank);
	memset(place, 0xff, (g->machines.names.n + 1) * sizeof(*place));
	for (uint32_t i = 0; i < g->machines.names.n; i++) {
		uint32_t number = g->machines.order[i], first = first_of(g, number),
			 own = g->machines.at[number].topology;

		if (place[first] == UINT32_MAX) {
			place[first] = n;
			best[n] = own;
			g->machines.order[n++] = number;
		} else {
			struct merge_machine *m = &g->machines.at[g->machines.order[place[first]]];
			const uint64_t *also = g->machines.at[number].disallowed;

			/* Allowed under any name of the machine is allowed. */
			for (uint32_t w = 0;
			     own == m->topology && m->disallowed && also && w < m->words; w++)
				m->disallowed[w] &= also[w];
			several[place[first]] = several[place[first]] || own != m->topology;
			if (shows_more(g, own, best[place[first]]))
				best[place[first]] = own;
		}
		g->machines.rank[number] = place[first];
	}
	for (uint32_t i = 0; i < n; i++) {
		g->machines.at[g->machines.order[i]].topology = best[i];
		if (several[i])
			allow_all(&g->machines.at[g->machines.order[i]], g, best[i]);
	}
	g->machines.n = n;
	free(several);
	free(place);
	free(best);
}

/* ---- writing ------------------------------------------------------------------------ */

/* Writes topology `number`, read from its file: 0 or -ESTALE. */
static int write_topology(struct merge *g, uint32_t number, char *const *file)
{
	struct merge_topology *t = &g->machines.topology[number];
	struct sp_source s = { .fd = -1 };
	struct sp_tree tree;
	struct sp_topology *p =
		sp_source_open(&s, file[t->file]) == 0 ? read_topology(&s, t->at, &tree) : NULL;
	char *source = p ? read_text(&s, p->source) : NULL;
	bool same = false;

	g->file = t->file;
	if (p) {			/* still the topology that was numbered? */
		struct sp_digest like = shape(&tree, source), d = texts(&tree);

		same = memcmp(g->machines.topologies.name[number].key, &like, sizeof(like)) == 0 &&
		       sp_digest_compare(&t->texts, &d) == 0;
	}
	if (same)
		t->written = sp_compact_topology(&g->c, &tree, source);
	free(source);
	free(p);
	sp_source_free(&s);
	return same ? 0 : -ESTALE;
}

int merge_write_machines(struct merge *g, char *const *file)
{
	for (uint32_t i = 0; i < g->machines.n; i++) {
		const struct merge_machine *from = &g->machines.at[g->machines.order[i]];
		uint32_t words = from->disallowed ? from->words : 0;
		struct merge_topology *t = from->topology == SP_NO_TOPOLOGY
						   ? NULL
						   : &g->machines.topology[from->topology];
		struct sp_machine on = { .next = 0 };
		sp_off at = sp_compact_begin(&g->c, SP_BLOCK_MACHINE, sizeof(on) + words * 8ull);
		int e = 0;

		sp_compact_zeros(&g->c, sizeof(on) - sizeof(on.b));
		sp_compact_write(&g->c, from->disallowed, words * 8ull);
		sp_compact_end(&g->c);
		on.host = sp_compact_text(
			&g->c, (const char *)g->machines.names.name[g->machines.order[i]].key);
		if (t && !t->written)
			e = write_topology(g, from->topology, file);
		if (e < 0)
			return e;
		on.topology = t ? t->written : 0;
		on.next = i + 1 < g->machines.n ? sp_compact_offset(&g->c) : 0;
		sp_compact_rewrite(&g->c, at + sizeof(on.b), &on.next, sizeof(on) - sizeof(on.b));
	}
	return g->out.error;
}
