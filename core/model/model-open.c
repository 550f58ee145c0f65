/* model-open.c: reads and checks a store once, and sums the counts up the component tree. */
#include <string.h>

#include "../base/sys.h"
#include "../store/blocks.h"
#include "../store/interval.h"
#include "core-kinds.h"
#include "model-blocks.h"
#include "observers.h"
#include "format-common.h"

#define CPUS_MOST 65536			/* largest CPU number, plus one */
#define COMPONENTS_MOST (1ull << 24)	/* of all machines in a merged store */
#define SUMS_MOST (1ull << 27)		/* components x events; more are a sign of damage */

/* ---- opening ---------------------------------------------------------- */

static int check_header(struct sp_model *m)
{
	const struct sp_header *h = sp_store_reader_at(m->reader, 0, SP_HEADER_FIRST);
	int r = h ? sp_header_check(h) : -EINVAL;

	if (r < 0)
		return r;
	if (!sp_store_reader_at(m->reader, 0, h->bytes))
		return -EINVAL;
	sp_header_copy(&m->h, h);
	return 0;
}

/* A complete topology, with its components in *t; NULL, and no components, otherwise. */
static const struct sp_topology *topology_at(const struct sp_model *m, sp_off off,
					     struct sp_tree *t)
{
	const struct sp_topology *p =
		sp_store_reader_block(m->reader, off, SP_BLOCK_TOPOLOGY, sizeof(*p));

	*t = (struct sp_tree){ .n = 0 };
	return p && sp_tree_read(t, p) ? p : NULL;
}

static const struct sp_machine *machine_at(const struct sp_model *m, sp_off off)
{
	return sp_store_reader_block(m->reader, off, SP_BLOCK_MACHINE, sizeof(struct sp_machine));
}

static const struct sp_member *member_at(const struct sp_model *m, sp_off off)
{
	const struct sp_member *p =
		sp_store_reader_block(m->reader, off, SP_BLOCK_MEMBER,
				      offsetof(struct sp_member, h) + SP_HEADER_LEAST);

	return p && p->h.bytes >= SP_HEADER_LEAST && !(p->h.bytes & 7) &&
			       p->h.bytes <= p->b.bytes - offsetof(struct sp_member, h) &&
			       p->n_calls <=
				       (p->b.bytes - offsetof(struct sp_member, h) - p->h.bytes) / 8
		       ? p
		       : NULL;
}

static bool is_pu(const struct sp_component *c)
{
	return strncmp(c->type, "PU", sizeof(c->type)) == 0 && c->os_index >= 0 &&
	       c->os_index < CPUS_MOST;
}

/* Count a damaged block; the list then ends. */
static bool whole(struct sp_model *m, const void *block)
{
	m->tally.damaged += !block;
	return block;
}

/* Sizes for the single mapping of the model. */
struct amounts {
	uint64_t components, cpus;
};

static void count_topology(struct sp_model *m, struct amounts *n, sp_off off)
{
	struct sp_tree t;
	int32_t top = -1;

	m->tally.damaged += !topology_at(m, off, &t) && off;
	for (uint32_t i = 0; i < t.n; i++)
		if (is_pu(&t.component[i]))
			top = top > t.component[i].os_index ? top : t.component[i].os_index;
	n->components += t.n;
	n->cpus += (uint64_t)(top + 1);
}

static void count_machines(struct sp_model *m, struct amounts *n)
{
	uint64_t left = sp_most_blocks(m);
	const struct sp_machine *on;

	for (sp_off off = m->h.compact.machines;
	     off && sp_take_step(&left) && whole(m, on = machine_at(m, off)); off = on->next) {
		m->n_machines++;
		if (n->components > COMPONENTS_MOST)
			break;
		n->components++;	/* for a machine without topology, and for the root */
		count_topology(m, n, on->topology);
	}
	n->components++;
	if (!m->n_machines) {
		/* a damaged store, of which only the head of the list remains */
		m->h.compact.machines = 0;
		m->n_machines = 1;
		count_topology(m, n, m->h.topology);
	}
}

static void count_threads(struct sp_model *m, sp_off newest, uint64_t *left)
{
	const struct sp_relation *r;
	const struct sp_thread *t;

	for (sp_off off = newest; off && sp_take_step(left) && whole(m, t = sp_thread_at(m, off));
	     off = t->next) {
		if (!sp_is_merged(m))
			m->tally.threads +=
				(uint32_t)sp_min(t->threads, UINT32_MAX - m->tally.threads);
		for (sp_off at = sp_relations_head(m, t);
		     at && sp_take_step(left) && whole(m, r = sp_relation_at(m, at));
		     at = r->next) {
			m->walk.n_places++;
			m->tally.any_of_cpus = m->tally.any_of_cpus || r->scope == SP_SCOPE_CPU;
			m->walk.most_k = (uint32_t)sp_max(m->walk.most_k, r->k);
			m->walk.most_cells = (uint32_t)sp_max(m->walk.most_cells, r->cells);
			sp_row_count_chunks(m, r);
			sp_overflows_count(m, r);
			m->intervals.most =
				(uint32_t)sp_max(m->intervals.most,
						 sp_intervals_room(m->reader, r->intervals, r->k));
		}
	}
	m->walk.most_chunks = (uint32_t)sp_min(m->walk.most_chunks, sp_most_blocks(m));
}

static void count_members(struct sp_model *m)
{
	uint64_t left = sp_most_blocks(m);
	const struct sp_member *p;

	for (sp_off off = m->h.compact.members;
	     off && sp_take_step(&left) && whole(m, p = member_at(m, off)); off = p->next) {
		m->n_processes++;
		m->tally.threads +=
			(uint32_t)sp_min(p->h.lists.n_threads, UINT32_MAX - m->tally.threads);
		count_threads(m, p->h.lists.threads, &left);
	}
}

static void count(struct sp_model *m, struct amounts *n)
{
	uint64_t left = sp_most_blocks(m);
	const struct sp_event *v;

	for (sp_off off = sp_events_head(m);
	     off && sp_take_step(&left) && whole(m, v = sp_event_at(m, off)); off = v->next)
		m->n_events =
			(uint32_t)sp_max(m->n_events, v->id < m->h.lists.n_events ? v->id + 1 : 0);
	m->n_events = (uint32_t)sp_min(m->n_events, sp_most_blocks(m));
	if (sp_is_merged(m)) {
		count_members(m);
	} else {
		m->n_processes = 1;
		left = sp_most_blocks(m);
		count_threads(m,
			      sp_list_head(m, m->h.lists.threads, m->h.kept.threads,
					   SP_BLOCK_THREAD),
			      &left);
	}
	count_machines(m, n);
}

static uint64_t count_gauges(const struct sp_model *m)
{
	uint64_t left = sp_most_blocks(m), n = 0;
	const struct sp_event *v;

	for (sp_off off = sp_events_head(m);
	     off && sp_take_step(&left) && (v = sp_event_at(m, off)); off = v->next)
		n += v->kind == SP_GAUGE;
	return sp_min(n, m->n_events);
}

static int allocate(struct sp_model *m, const struct amounts *n)
{
	uint64_t nc = n->components, ne = m->n_events, ng = count_gauges(m);

	if (nc > COMPONENTS_MOST ||
	    (nc + 1) * (ne + 1 + ng * sizeof(struct sp_gauge_sum) / 8) > SUMS_MOST)
		return -EINVAL;
	m->gauges.n = (uint32_t)ng;
	m->memory_bytes = ne * 6 + (nc + 1) * ng * sizeof(struct sp_gauge_sum) +
			  (uint64_t)m->walk.most_k * 4 + nc * sizeof(struct sp_component) +
			  ne * sizeof(void *) + 2 * nc * ne * 8 + nc * ne + 2 * nc + 4 * ne * 8 +
			  m->n_processes * sizeof(*m->process) +
			  m->n_machines * sizeof(*m->machine) +
			  m->walk.n_places * sizeof(struct sp_place) + n->cpus * sizeof(int32_t) +
			  m->n_machines * 16ull + sp_row_bytes(m) + 4096;
	m->memory = sp_map(m->memory_bytes);
	if (!m->memory)
		return -ENOMEM;
	m->component = sp_model_take(m, nc * sizeof(struct sp_component));
	m->event = sp_model_take(m, ne * sizeof(void *));
	m->sums.below = sp_model_take(m, nc * ne * 8);
	m->sums.below_exact = sp_model_take(m, nc * ne * 8);
	m->sums.present = sp_model_take(m, nc * ne);
	m->sums.counted = sp_model_take(m, nc);
	m->kinds_below = sp_model_take(m, nc);
	m->sums.total = sp_model_take(m, ne * 8);
	m->sums.total_exact = sp_model_take(m, ne * 8);
	m->sums.unplaced = sp_model_take(m, ne * 8);
	m->event_counted = sp_model_take(m, ne);
	m->event_placed = sp_model_take(m, ne);
	m->event_domain = sp_model_take(m, ne);
	m->gauges.of = sp_model_take(m, ne * sizeof(*m->gauges.of));
	m->gauges.sum = sp_model_take(m, (nc + 1) * ng * sizeof(*m->gauges.sum));
	m->walk.row_place = sp_model_take(m, (uint64_t)m->walk.most_k * sizeof(*m->walk.row_place));
	m->process = sp_model_take(m, m->n_processes * sizeof(*m->process));
	m->machine = sp_model_take(m, m->n_machines * sizeof(*m->machine));
	m->walk.place = sp_model_take(m, m->walk.n_places * sizeof(struct sp_place));
	return sp_row_take(m);
}

/* ---- topologies --------------------------------------------------------- */

static void index_cpus(struct sp_model *m, struct sp_model_machine *on, uint32_t from)
{
	for (uint32_t i = from; i < m->n_components; i++)
		if (is_pu(&m->component[i]))
			on->n_cpus = (uint32_t)sp_max(on->n_cpus, m->component[i].os_index + 1);
	on->cpu_component = sp_model_take(m, on->n_cpus * sizeof(int32_t));
	if (!on->cpu_component)
		on->n_cpus = 0;
	for (uint32_t i = 0; i < on->n_cpus; i++)
		on->cpu_component[i] = -1;
	for (uint32_t i = from; on->n_cpus && i < m->n_components; i++)
		if (is_pu(&m->component[i]))
			on->cpu_component[m->component[i].os_index] = (int32_t)i;
}

/* Append the tree to the components, alone or below the root. */
static void add_tree(struct sp_model *m, struct sp_model_machine *on, const struct sp_tree *t)
{
	struct sp_component *c = (struct sp_component *)m->component + m->n_components;
	uint32_t from = m->n_components, n = t->n;
	bool below = from > 0;

	on->root = n || below ? (int32_t)from : -1;
	on->xml = n && t->xml_bytes ? t->xml : NULL;
	on->xml_bytes = on->xml ? t->xml_bytes : 0;
	for (uint32_t i = 0; i < n; i++) {
		c[i] = t->component[i];
		c[i].type[sizeof(c[i].type) - 1] = 0;
		c[i].name[sizeof(c[i].name) - 1] = 0;
		if (c[i].parent >= (int32_t)i || (i && c[i].parent < 0)) {
			m->tally.damaged++;
			c[i].parent = i ? 0 : -1;
		}
		c[i].parent += below ? (int32_t)from : 0;
		c[i].depth = (uint32_t)sp_min(c[i].depth, 64) + below;
		c[i].cpu_kind = c[i].cpu_kind < (int32_t)SP_KINDS_MOST ? c[i].cpu_kind : -1;
		m->kinds |= c[i].cpu_kind >= 0 ? 1u << c[i].cpu_kind : 0;
	}
	if (below && !n) {
		c[0] = (struct sp_component){
			.os_index = -1, .cpu_kind = -1, .depth = 1, .type = "Machine"
		};
		n = 1;
	}
	m->n_components += n;
	index_cpus(m, on, from);
}

static void name_machine(struct sp_model *m, uint32_t i)
{
	struct sp_component *c = (struct sp_component *)&m->component[m->machine[i].root];
	const char *host = m->machine[i].host;

	c->parent = 0;
	c->logical_index = (int32_t)i;
	memset(c->name, 0, sizeof(c->name));
	memcpy(c->name, host, sp_min(strlen(host), sizeof(c->name) - 1));
}

static void disallow(struct sp_model *m, const struct sp_machine *on, uint32_t root)
{
	struct sp_component *c = (struct sp_component *)m->component + root;
	uint64_t words = (on->b.bytes - sizeof(*on)) / 8;

	for (uint32_t i = 0; i < m->n_components - root && i / 64 < words; i++)
		if (on->disallowed[i / 64] >> i % 64 & 1)
			c[i].flags |= SP_COMPONENT_DISALLOWED;
}

static void take_source(struct sp_model *m, const struct sp_topology *p, bool first)
{
	const char *source = p ? sp_model_text(m, p->source) : "";

	m->topology_source = first || strcmp(source, m->topology_source) == 0 ? source : "merged";
}

static void index_topology(struct sp_model *m)
{
	const struct sp_topology *p;
	const struct sp_machine *on;
	struct sp_tree t;
	uint32_t n = 0;

	if (!m->h.compact.machines) {
		m->machine[0].host = sp_model_text(m, m->h.process.host);
		p = topology_at(m, m->h.topology, &t);
		take_source(m, p, true);
		add_tree(m, &m->machine[0], &t);
		return;
	}
	if (m->n_machines > 1) {
		((struct sp_component *)m->component)[0] = (struct sp_component){
			.parent = -1, .os_index = -1, .cpu_kind = -1, .type = "Job"
		};
		m->n_components = 1;
	}
	for (sp_off off = m->h.compact.machines; n < m->n_machines && (on = machine_at(m, off));
	     off = on->next, n++) {
		uint32_t root = m->n_components;

		p = topology_at(m, on->topology, &t);
		take_source(m, p, n == 0);
		m->machine[n].host = sp_model_text(m, on->host);
		add_tree(m, &m->machine[n], &t);
		disallow(m, on, root);
		if (m->n_machines > 1)
			name_machine(m, n);
	}
}

/* ---- lists --------------------------------------------------------------- */

static void index_threads(struct sp_model *m, uint32_t process, uint64_t *n, uint64_t *left)
{
	const struct sp_thread *t;

	for (sp_off off = sp_threads_head(m, process);
	     off && sp_take_step(left) && (t = sp_thread_at(m, off)); off = t->next) {
		const struct sp_relation *r;

		for (uint32_t i = 0; i < SP_CALLS_MAX && !sp_is_merged(m); i++)
			m->tally.calls[i] += load_relaxed(&t->calls[i]);
		for (sp_off at = sp_relations_head(m, t);
		     at && *n && sp_take_step(left) && (r = sp_relation_at(m, at)); at = r->next) {
			m->walk.place[--*n] = (struct sp_place){ .thread = off,
								 .relation = at,
								 .process = process };
			if (r->folded && m->walk.n_including < SP_COUNT(m->walk.including))
				m->walk.including[m->walk.n_including++] = r->folded;
		}
	}
}

static void index_members(struct sp_model *m)
{
	const struct sp_member *p;
	uint32_t n = 0;

	if (!sp_is_merged(m)) {
		m->process[0] = (struct sp_model_process){ .h = &m->h };
		return;
	}
	for (sp_off off = m->h.compact.members; n < m->n_processes && (p = member_at(m, off));
	     off = p->next, n++) {
		m->process[n].h = &p->h;
		m->process[n].machine = p->machine < m->n_machines ? p->machine : 0;
		for (uint32_t i = 0; i < p->n_calls && i < SP_CALLS_MAX; i++)
			m->tally.calls[i] +=
				((const uint64_t *)((const char *)&p->h + p->h.bytes))[i];
	}
	m->n_processes = n;
}

static void index_events(struct sp_model *m)
{
	uint64_t left = sp_most_blocks(m);
	const struct sp_event *v;

	for (sp_off off = sp_events_head(m);
	     off && sp_take_step(&left) && (v = sp_event_at(m, off)); off = v->next)
		if (v->id < m->n_events)
			m->event[v->id] = v;
}

static void index_lists(struct sp_model *m)
{
	uint64_t left, n = m->walk.n_places;

	index_events(m);
	for (uint32_t e = 0, gauges = 0; e < m->n_events; e++)
		m->gauges.of[e] =
			m->event[e] && m->event[e]->kind == SP_GAUGE ? gauges++ : UINT32_MAX;
	index_members(m);
	left = sp_most_blocks(m);
	for (uint32_t p = m->n_processes; p-- > 0;)
		index_threads(m, p, &n, &left);
	/* The list became shorter meanwhile: skip the unused front of the array. */
	m->walk.place += n;
	m->walk.n_places -= n;
}

/* ---- sums ------------------------------------------------------------- */

/* Bits of `present` until finish_unsupported: some CPU below can count the event, some CPU
 * cannot. */
#define CAN	1u
#define CANNOT	2u

static void note_unsupported(bool *present, bool unsupported)
{
	*(uint8_t *)present |= unsupported ? CANNOT : CAN;
}

static void add_bits(bool *to, const bool *from, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		((uint8_t *)to)[i] |= ((const uint8_t *)from)[i];
}

/* Assume that a CPU can count an event unless it reported the opposite. A placed event is present
 * only at its places. */
static void finish_unsupported(const struct sp_model *m, bool *present)
{
	for (uint32_t e = 0; e < m->n_events; e++) {
		uint8_t bits = ((uint8_t *)present)[e];

		present[e] = m->event_placed[e] ? bits & CAN : bits != CANNOT;
	}
}

/* Add at component c. Memory is not in the tree: its counts are also added to its parent. */
static void add_at(struct sp_model *m, int32_t c, uint32_t e, int64_t total, int64_t exact,
		   bool unsupported)
{
	enum sp_data_type type = sp_event_type(m, e);
	bool more = true;

	for (; more && c >= 0; c = m->component[c].parent) {
		uint64_t at = (uint64_t)c * m->n_events + e;

		m->sums.below[at] = sp_plus(type, m->sums.below[at], total);
		m->sums.below_exact[at] = sp_plus(type, m->sums.below_exact[at], exact);
		note_unsupported(&m->sums.present[at], unsupported);
		m->sums.counted[c] = true;
		more = m->component[c].flags & SP_COMPONENT_MEMORY;
	}
}

static void add_outside(struct sp_model *m, int32_t cpu)
{
	uint32_t i = 0;

	while (i < m->n_outside && m->outside[i] != cpu)
		i++;
	if (i == m->n_outside && i < SP_UNLISTED_CPUS_MOST)
		m->outside[m->n_outside++] = cpu;
}

static void add_cell(struct sp_model *m, const struct sp_row *row, const struct sp_at_cpu *at)
{
	int32_t kind = sp_kind_of(m, at->component);

	for (uint32_t i = 0; i < row->k; i++) {
		uint32_t e = row->event[i];
		const struct sp_event *v = m->event[e];
		enum sp_data_type type = sp_event_type(m, e);
		int32_t place = sp_row_place(row, i), c = place >= 0 ? place : at->component;

		if (!v || v->kind != SP_COUNTER || sp_row_is_omitted(m, row, i))
			continue;
		m->event_placed[e] = m->event_placed[e] || place >= 0;
		m->sums.total[e] = sp_plus(type, m->sums.total[e], at->total[i]);
		m->sums.total_exact[e] = sp_plus(type, m->sums.total_exact[e], at->exact[i]);
		if (c < 0)
			m->sums.unplaced[e] = sp_plus(type, m->sums.unplaced[e], at->total[i]);
		else
			add_at(m, c, e, at->total[i], at->exact[i], sp_is_unsupported(at, i));
	}
	if (kind >= 0)
		m->kinds_below[at->component] = (uint8_t)(1u << kind);
	if (at->component >= 0)
		m->sums.counted[at->component] = true;
	else if (at->cpu >= 0)
		add_outside(m, at->cpu);
	else
		m->unknown_cpu = true;
}

static void add_up(struct sp_model *m, int64_t *to, const int64_t *from)
{
	for (uint32_t e = 0; e < m->n_events; e++)
		to[e] = sp_plus(sp_event_type(m, e), to[e], from[e]);
}

/* Add all but placed events, which a package counts and not its memory. */
static void add_side_cells(struct sp_model *m, uint64_t to, uint64_t from)
{
	for (uint32_t e = 0; e < m->n_events; e++) {
		if (m->event_placed[e])
			continue;
		m->sums.below[to + e] = sp_plus(sp_event_type(m, e), m->sums.below[to + e],
						m->sums.below[from + e]);
		m->sums.below_exact[to + e] =
			sp_plus(sp_event_type(m, e), m->sums.below_exact[to + e],
				m->sums.below_exact[from + e]);
		add_bits(m->sums.present + to + e, m->sums.present + from + e, 1);
	}
}

static void sum_tree(struct sp_model *m)
{
	uint64_t ne = m->n_events;

	for (uint32_t i = m->n_components; i-- > 1;) {
		uint32_t up = (uint32_t)m->component[i].parent;

		if ((m->component[i].flags & SP_COMPONENT_MEMORY) || !m->sums.counted[i])
			continue;
		m->sums.counted[up] = true;
		m->kinds_below[up] |= m->kinds_below[i];
		add_up(m, m->sums.below + up * ne, m->sums.below + i * ne);
		add_up(m, m->sums.below_exact + up * ne, m->sums.below_exact + i * ne);
		add_bits(m->sums.present + up * ne, m->sums.present + i * ne, ne);
	}
	/* Memory is not in the tree: it gets the sums of its parent. */
	for (uint32_t i = 1; i < m->n_components; i++) {
		uint32_t up = (uint32_t)m->component[i].parent;

		if (!(m->component[i].flags & SP_COMPONENT_MEMORY) || !m->sums.counted[up])
			continue;
		m->sums.counted[i] = true;
		m->kinds_below[i] = m->kinds_below[up];
		add_side_cells(m, i * ne, up * ne);
	}
}

static uint8_t domain_of(const struct sp_model *m, uint32_t e, uint32_t domain)
{
	return sp_name_is_clock(SP_EVENT_TEXT(m, e, name)) ? 0 : (uint8_t)domain;
}

/* Count each thread once; its rows follow one another. counted: the threads of the rows before of
 * the same thread; threads that were folded may have had several sets. The number of threads of a
 * control group is unknown. */
static void count_thread(struct sp_model *m, const struct sp_row *row, const struct sp_row *before,
			 uint64_t *counted)
{
	uint64_t n = row->tid ? 1 : row->threads;

	if (!before->cells || row->thread_at != before->thread_at ||
	    row->process != before->process)
		*counted = 0;
	if (m->process[row->process].h->stat & SP_STAT_GROUP)
		return;
	n = sp_min(n, row->of_thread - sp_min(*counted, row->of_thread));
	m->tally.threads_counted += n;
	*counted += n;
}

static void sum(struct sp_model *m)
{
	struct sp_row row = { .only_cells = true }, before = { 0 };
	struct sp_at_cpu at;
	uint64_t counted = 0;

	while (sp_model_next(m, &row)) {
		if (row.cells) {
			count_thread(m, &row, &before, &counted);
			before = row;
		}
		m->tally.relations++;
		m->tally.readings += row.readings;
		m->tally.kept += row.kept;
		m->tally.refused += row.refused;
		m->tally.starts += row.starts;
		for (uint32_t i = 0; i < row.k; i++)
			m->event_counted[row.event[i]] = true,
			m->event_domain[row.event[i]] |= domain_of(m, row.event[i], row.domain);
		for (uint32_t i = 0; sp_row_cell(m, &row, i, &at); i++)
			add_cell(m, &row, &at);
		sp_add_gauges(m, &row);
	}
	sum_tree(m);
	for (uint32_t c = 0; c < m->n_components; c++)
		finish_unsupported(m, m->sums.present + (uint64_t)c * m->n_events);
	for (uint32_t i = 0; i < m->n_components; i++)
		m->tally.cpus_counted +=
			m->sums.counted[i] && strcmp(m->component[i].type, "PU") == 0;
}

int sp_model_open(struct sp_model *m, const struct sp_store_reader *reader)
{
	struct amounts n = { 0 };
	int r;

	memset(m, 0, sizeof(*m));
	m->reader = reader;
	r = check_header(m);
	if (r < 0)
		return r;
	count(m, &n);
	r = allocate(m, &n);
	if (r < 0) {
		sp_model_close(m);
		return r;
	}
	index_topology(m);
	index_lists(m);
	sp_intervals_index(m);
	r = sp_observers_open(&m->observers, m, NULL);
	if (r < 0) {
		sp_model_close(m);
		return r;
	}
	sum(m);
	sp_early_counts_find(m);
	sp_cross_thread_find(m);
	return 0;
}

int sp_model_open_one(struct sp_model *m, const struct sp_store_reader *reader, sp_off relation,
		 bool kept)
{
	const struct sp_relation *r;
	int error;

	memset(m, 0, sizeof(*m));
	m->reader = reader;
	error = check_header(m);
	if (error < 0)
		return error;
	m->n_events = m->h.lists.n_events;
	m->h.callsites = 0;		/* skip its intervals */
	r = sp_relation_at(m, relation);
	if (!r)
		return -EINVAL;
	m->walk.most_k = r->k;
	m->walk.most_cells = r->cells;
	if (kept)
		sp_row_count_chunks(m, r);
	m->memory_bytes = sizeof(*m->walk.place) + sizeof(*m->process) + sizeof(*m->machine) +
			  sp_row_bytes(m) + 4096 + m->n_events * sizeof(void *);
	m->memory = sp_map(m->memory_bytes);
	if (!m->memory)
		return -ENOMEM;
	memset(m->memory, 0, m->memory_bytes);
	m->walk.place = sp_model_take(m, sizeof(*m->walk.place));
	*m->walk.place = (struct sp_place){ .thread = r->thread, .relation = relation };
	m->walk.n_places = 1;
	/* a machine without CPUs: components are not queried */
	m->process = sp_model_take(m, sizeof(*m->process));
	m->process->h = &m->h;
	m->machine = sp_model_take(m, sizeof(*m->machine));
	m->event = sp_model_take(m, m->n_events * sizeof(void *));
	index_events(m);
	sp_row_take(m);
	return 0;
}

void sp_model_close(struct sp_model *m)
{
	sp_observers_close(&m->observers);
	sp_unmap(m->intervals.first_site, m->n_callsites * sizeof(*m->intervals.first_site));
	m->intervals.first_site = NULL;
	sp_unmap(m->memory, m->memory_bytes);
	m->memory = NULL;
}
