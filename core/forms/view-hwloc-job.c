/* view-hwloc-job.c: several machines as one hwloc topology.
 *
 * hwloc knows one machine: the job is its Machine, each machine a Group in it, and
 * CPUs and memories are numbered through.  A topology of hwloc lists its CPUs for each
 * object, so that a job of very many would take gigabytes: of that each machine is
 * shown as a whole, as one CPU.
 */
#include "view-hwloc-job.h"

#define CPUS_MOST	4096u
#define DEPTHS		80u

struct job {
	struct sp_out *o;
	const struct sp_model *m;
	void (*infos)(void *painter, uint32_t component, bool whole);
	void (*subtype)(void *painter, uint32_t component);
	void *painter;
	uint32_t cpus, nodes;		/* of all */
	bool whole;			/* machines as one CPU each */
	uint32_t next_cpu, next_node;
	unsigned depth;
	struct level {
		uint32_t component;
		uint32_t first_node, n_nodes;	/* that hang from it */
	} level[DEPTHS];
};

static bool is_memory(const struct sp_component *c)
{
	return c->flags & SP_COMPONENT_MEMORY;
}

static bool is_node(const struct sp_component *c)
{
	return sp_component_is(c, "NUMANode");
}

/* Directly, or from a memory of it. */
static bool hangs_from(const struct sp_model *m, uint32_t node, uint32_t c)
{
	int32_t up = sp_parent(m, node);

	while (up >= 0 && is_memory(&m->component[up]))
		up = sp_parent(m, (uint32_t)up);
	return is_node(&m->component[node]) && up == (int32_t)c;
}

/* The component behind the last one below c. */
static uint32_t end_of(const struct sp_model *m, uint32_t c)
{
	uint32_t end = c + 1;

	while (end < m->n_components && sp_parent(m, end) >= (int32_t)c)
		end++;
	return end;
}

static uint32_t count(const struct sp_model *m, uint32_t from, uint32_t end, bool nodes)
{
	uint32_t n = 0;

	for (uint32_t c = from; c < end; c++)
		n += nodes ? is_node(&m->component[c]) : sp_component_is(&m->component[c], "PU");
	return n;
}

void sp_hex_word(struct sp_out *o, uint32_t v)
{
	for (int shift = 28; shift >= 0; shift -= 4)
		sp_out_char(o, "0123456789abcdef"[v >> shift & 15]);
}

static uint32_t word_of_range(uint32_t word, uint32_t first, uint32_t n)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < 32; i++)
		if (word * 32 + i >= first && word * 32 + i - first < n)
			bits |= 1u << i;
	return bits;
}

/* The nodes that hang from the objects around the one at hand. */
static uint32_t word_around(const struct job *j, uint32_t word)
{
	uint32_t bits = 0;

	for (unsigned d = 0; d < j->depth; d++)
		bits |= word_of_range(word, j->level[d].first_node, j->level[d].n_nodes);
	return bits;
}

static void set(const struct job *j, const char *name, uint32_t first, uint32_t n, uint32_t all, bool nodes)
{
	bool begun = false;

	sp_xml_f(j->o, " %s=\"", name);
	for (uint32_t w = (all + 31) / 32; w-- > 0;) {
		uint32_t bits = word_of_range(w, first, n) | (nodes ? word_around(j, w) : 0);

		if (!bits && !begun && w)
			continue;
		sp_out_text(j->o, begun ? bits ? ",0x" : ",0x0" : "0x");
		if (bits || !begun)
			sp_hex_word(j->o, bits);
		begun = true;
	}
	sp_out_char(j->o, '"');
}

/* alone: a memory, which is local to itself only. */
static void sets(const struct job *j, uint32_t cpus, uint32_t nodes, bool alone)
{
	bool top = j->depth == 0;

	set(j, "cpuset", j->next_cpu, cpus, j->cpus, false);
	set(j, "complete_cpuset", j->next_cpu, cpus, j->cpus, false);
	if (top)
		set(j, "allowed_cpuset", 0, j->cpus, j->cpus, false);
	set(j, "nodeset", j->next_node, nodes, j->nodes, !alone);
	set(j, "complete_nodeset", j->next_node, nodes, j->nodes, !alone);
	if (top)
		set(j, "allowed_nodeset", 0, j->nodes, j->nodes, true);
}

/* hwloc's name of the type and what it wants to be told of it. */
static void type(struct job *j, const struct sp_component *c)
{
	struct sp_out *o = j->o;
	char last = c->type[2], text[sizeof(c->type) + 1];

	sp_fixed_text(text, c->type, sizeof(c->type));
	if (j->depth == 0)
		sp_out_text(o, "type=\"Machine\"");
	else if (sp_is_cache(c))
		sp_xml_f(o, "type=\"L%c%s\" cache_size=\"%lu\" depth=\"%c\" cache_linesize=\"64\" cache_associativity=\"0\" cache_type=\"%c\"",
			 c->type[1], last == 'i' ? "iCache" : "Cache", c->size, c->type[1], last == 'd' ? '1' : last == 'i' ? '2' : '0');
	else if (sp_component_is(c, "Package") || sp_component_is(c, "Core") || sp_component_is(c, "PU") ||
		 sp_component_is(c, "Die") || is_node(c))
		sp_xml_f(o, "type=\"%s\"", text);
	else
		sp_xml_f(o, "type=\"Group\" subtype=\"%s\" kind=\"0\" subkind=\"0\" dont_merge=\"1\"", text);
	if (is_node(c))
		sp_xml_f(o, " local_memory=\"%lu\"", c->size);
}

static void open_object(struct job *j, uint32_t component, uint32_t cpus, uint32_t nodes)
{
	const struct sp_component *c = &j->m->component[component];
	int64_t number = sp_component_is(c, "PU") ? (int64_t)j->next_cpu : is_node(c) ? (int64_t)j->next_node : c->os_index;
	char name[sizeof(c->name) + 1];

	sp_out_text(j->o, "<object ");
	type(j, c);
	if (number >= 0)
		sp_xml_f(j->o, " os_index=\"%ld\"", number);
	if (sp_component_is(c, "Machine"))
		sp_xml_f(j->o, " name=\"%s\"", sp_fixed_text(name, c->name, sizeof(c->name)));
	sets(j, cpus, nodes, is_node(c));
	sp_xml_f(j->o, " gp_index=\"%lu\"", component + 1ul);
	j->subtype(j->painter, component);
	sp_out_char(j->o, '>');
	j->infos(j->painter, component, false);
	sp_out_char(j->o, '\n');
}

/* A machine as a whole: one CPU with its counts. */
static void open_whole(struct job *j, uint32_t machine)
{
	open_object(j, machine, 1, 0);
	sp_xml_f(j->o, "<object type=\"PU\" os_index=\"%u\"", j->next_cpu);
	j->depth++;
	sets(j, 1, 0, false);
	j->depth--;
	sp_xml_f(j->o, " gp_index=\"%lu\">", (uint64_t)j->m->n_components + machine + 2);
	j->infos(j->painter, machine, true);
	sp_out_text(j->o, "\n</object>\n</object>\n");
	j->next_cpu++;
}

static void close_to(struct job *j, int32_t parent)
{
	while (j->depth && (int32_t)j->level[j->depth - 1].component != parent) {
		j->depth--;
		sp_out_text(j->o, "</object>\n");
	}
}

/* A memory is local to what is around it; from where its own numbers go on. */
static void open_memory(struct job *j, uint32_t component, uint32_t parent_cpus)
{
	open_object(j, component, parent_cpus, 1);
	sp_out_text(j->o, "</object>\n");
	j->next_node++;
}

static void open_normal(struct job *j, uint32_t component)
{
	const struct sp_model *m = j->m;
	uint32_t end = end_of(m, component), cpus = count(m, component, end, false), direct = 0;

	for (uint32_t c = component + 1; c < end; c++)
		direct += hangs_from(m, c, component);
	open_object(j, component, cpus, count(m, component, end, true));
	if (j->depth == DEPTHS)
		return;
	j->level[j->depth++] = (struct level){ component, j->next_node, direct };
	/* Before all others, as hwloc has them. */
	for (uint32_t c = component + 1; c < end; c++)
		if (hangs_from(m, c, component))
			open_memory(j, c, cpus);
	if (sp_component_is(&m->component[component], "PU"))
		j->next_cpu++;
}

/* hwloc refuses a topology without memory, and shows no object without a CPU. */
static void walk(struct job *j)
{
	const struct sp_model *m = j->m;
	bool own = !j->nodes;

	j->nodes += own;
	open_object(j, 0, j->cpus, j->nodes);
	j->level[j->depth++] = (struct level){ 0, 0, own };
	if (own) {
		sp_out_text(j->o, "<object type=\"NUMANode\" os_index=\"0\"");
		sets(j, j->cpus, 1, true);
		sp_xml_f(j->o, " gp_index=\"%lu\" local_memory=\"0\"/>\n", m->n_components + 1ul);
		j->next_node = 1;
	}
	for (uint32_t c = 1; c < m->n_components && !j->o->error; c++) {
		if (is_memory(&m->component[c]))
			continue;
		close_to(j, sp_parent(m, c));
		if (j->whole && sp_component_is(&m->component[c], "Machine"))
			open_whole(j, c);
		else if (!j->whole && count(m, c, end_of(m, c), false))
			open_normal(j, c);
	}
	close_to(j, -1);
}

void sp_view_hwloc_job(struct sp_out *o, const struct sp_model *m,
		       void (*infos)(void *painter, uint32_t component, bool whole),
		       void (*subtype)(void *painter, uint32_t component), void *painter)
{
	struct job j = { .o = o, .m = m, .infos = infos, .subtype = subtype, .painter = painter };

	j.cpus = count(m, 0, m->n_components, false);
	j.whole = !j.cpus || j.cpus > CPUS_MOST;
	if (j.whole)
		j.cpus = m->n_machines;
	else
		j.nodes = count(m, 0, m->n_components, true);
	sp_out_text(o, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		       "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n");
	walk(&j);
	sp_out_text(o, "</topology>\n");
}
