/* component.c: the tree that sspapi_topology gives, and what its PUs and subtrees are
 * asked for.
 */
#include <errno.h>
#include <string.h>

#include "../../core/sys.h"
#include "../../topo/topo.h"
#include "../book/sets.h"
#include "../life/machine.h"
#include "api.h"

struct sspapi_component {		/* the tree's own index says which */
	char nothing;
};

/* One for each machine that was asked for; they stay, since a program keeps pointers. */
struct tree {
	struct tree *next;
	uint64_t bytes;			/* of this block of memory */
	uint32_t n;
	int32_t *cpu;			/* [n] of a PU; -1 */
	int32_t *parent;		/* [n] */
	struct sspapi_component *at;	/* [n] */
	bool here;			/* this machine's: source NULL, which is not "" */
	char source[];
};

static struct tree *trees;

static struct tree *make_tree(const struct sp_topo *t, const char *xml)
{
	const char *source = xml ? xml : "";
	uint64_t bytes = sizeof(struct tree) + strlen(source) + 8 + t->n * (2 * sizeof(int32_t) + 1);
	struct tree *r = sp_map(bytes);

	if (!r)
		return NULL;
	r->bytes = bytes;
	r->n = t->n;
	r->here = !xml;
	strcpy(r->source, source);
	r->cpu = (int32_t *)sp_align((uintptr_t)(r->source + strlen(source) + 1), 4);
	r->parent = r->cpu + t->n;
	r->at = (struct sspapi_component *)(r->parent + t->n);
	for (uint32_t i = 0; i < t->n; i++) {
		r->cpu[i] = strcmp(t->component[i].type, "PU") == 0 ? t->component[i].os_index : -1;
		r->parent[i] = t->component[i].parent;
	}
	return r;
}

static struct tree *find_tree(struct tree *r, const char *xml)
{
	while (r && (xml ? r->here || strcmp(r->source, xml) != 0 : !r->here))
		r = r->next;
	return r;
}

/* Threads that ask at the same time get one tree: the first one's. */
static struct tree *add_tree(struct tree *r, const char *xml)
{
	struct tree *found;

	r->next = sp_acquire(&trees);
	do {
		found = find_tree(r->next, xml);
		if (found) {
			sp_unmap(r, r->bytes);
			return found;
		}
	} while (!sp_cas(&trees, &r->next, r));
	return r;
}

SP_API sspapi_component *sspapi_topology(const char *xml)
{
	struct tree *r = find_tree(sp_acquire(&trees), xml);
	struct sp_topo t;
	int error;

	if (r)
		return r->at;
	error = sp_machine_read(&t, xml);
	if (error < 0) {
		errno = -error;
		return NULL;
	}
	r = t.n ? make_tree(&t, xml) : NULL;
	sp_topo_free(&t);
	if (!r) {
		errno = ENOMEM;
		return NULL;
	}
	return add_tree(r, xml)->at;
}

static struct tree *tree_of(const struct sspapi_component *c)
{
	for (struct tree *r = sp_acquire(&trees); r; r = r->next)
		if ((uintptr_t)c - (uintptr_t)r->at < r->n)
			return r;
	return NULL;
}

/* The PU at or below component number `top`, or -1. */
static int pu_below(const struct tree *r, int32_t top, int cpu)
{
	for (uint32_t i = 0; cpu >= 0 && i < r->n; i++) {
		int32_t up = (int32_t)i;

		while (r->cpu[i] == cpu && up > top)
			up = r->parent[up];
		if (r->cpu[i] == cpu && up == top)
			return (int)i;
	}
	return -1;
}

int sp_api_knows_cpu(const struct sspapi_component *root, int cpu)
{
	const struct tree *r = tree_of(root);

	return r ? pu_below(r, (int32_t)(root - r->at), cpu) >= 0 : -1;
}

SP_API sspapi_component *sspapi_find_cpu(sspapi_component *root, int cpu)
{
	struct tree *r = tree_of(root);
	int i = r ? pu_below(r, (int32_t)(root - r->at), cpu) : -1;

	if (!r || cpu < 0)
		errno = EINVAL;
	return i >= 0 ? &r->at[i] : NULL;
}

/* ---- the relations of some CPUs --------------------------------------------- */

#define SETS_MOST	(SP_SETS_CHUNK * SP_SETS_CHUNKS)

struct search {
	const struct tree *tree;
	int32_t top;
	int event_set;			/* PAPI_NULL: any */
	bool once;			/* `found` for the first CPU of a relation only */
	void (*found)(struct search *s, struct sspapi_relation *rel, int cpu);
	sspapi_relation **rels;
	int *sets;
	uint64_t *seen;			/* a bit for each event set, for add_set */
	int room, n;
	FILE *out;
};

static int event_set_of(struct sspapi_relation *rel)
{
	return rel->current ? rel->current->relation->event_set : PAPI_NULL;
}

/* Below s->top: the PUs on which the relation has entries, one by one. */
static bool look(struct sspapi_relation *rel, void *arg)
{
	struct search *s = arg;
	struct sp_held held;
	int cpus[64], n = 0;

	for (uint32_t i = (uint32_t)s->top, end = s->tree->n; i < end; n = 0) {
		if (!sp_api_take(rel, &held))
			return true;
		if (s->event_set != PAPI_NULL && event_set_of(rel) != s->event_set)
			i = end;
		for (; i < end && n < (int)SP_COUNT(cpus); i++)
			if (s->tree->cpu[i] >= 0 && pu_below(s->tree, s->top, s->tree->cpu[i]) == (int)i &&
			    sp_api_has_cpu(rel, s->tree->cpu[i]))
				cpus[n++] = s->tree->cpu[i];
		sp_api_give(rel, &held);
		for (int c = 0; c < n; c++) {
			s->found(s, rel, cpus[c]);
			if (s->once)
				return true;
		}
	}
	return true;
}

static bool search(struct search *s, const struct sspapi_component *c)
{
	s->tree = tree_of(c);
	if (!s->tree) {
		errno = EINVAL;
		return false;
	}
	s->top = (int32_t)(c - s->tree->at);
	sp_api_each(look, s);
	return true;
}

static void add_relation(struct search *s, struct sspapi_relation *rel, int cpu)
{
	(void)cpu;
	if (s->n < s->room)
		s->rels[s->n] = rel;
	s->n++;
}

/* Each once, whether it fits or not. */
static void add_set(struct search *s, struct sspapi_relation *rel, int cpu)
{
	int set = sspapi_current_event_set(rel);

	(void)cpu;
	if (set < 0 || set >= SETS_MOST || s->seen[set / 64] >> set % 64 & 1)
		return;			/* below 0: the relation was freed just now */
	s->seen[set / 64] |= (uint64_t)1 << set % 64;
	if (s->n < s->room)
		s->sets[s->n] = set;
	s->n++;
}

static void print_relation(struct search *s, struct sspapi_relation *rel, int cpu)
{
	sspapi_print_metrics(rel, cpu, s->out);
}

static bool is_cpu(const struct sspapi_component *c, int *cpu)
{
	const struct tree *r = tree_of(c);

	*cpu = r ? r->cpu[c - r->at] : -1;
	return *cpu >= 0;
}

/* ---- on a PU ------------------------------------------------------------------- */

SP_API sspapi_relation *sspapi_cpu_get_relation(const sspapi_component *cpu, int event_set)
{
	sspapi_relation *rel = NULL;
	struct search s = { .event_set = event_set, .found = add_relation, .once = true, .rels = &rel, .room = 1 };
	int number;

	if (!is_cpu(cpu, &number))
		errno = EINVAL;
	else
		search(&s, cpu);
	return rel;
}

SP_API long long sspapi_cpu_get_metric(const sspapi_component *cpu, int event, int event_set, uint64_t timestamp)
{
	sspapi_relation *rel = sspapi_cpu_get_relation(cpu, event_set);
	int number;

	return rel && is_cpu(cpu, &number) ? sspapi_get_metric(rel, event, number, timestamp) : 0;
}

SP_API void sspapi_cpu_print_metrics(const sspapi_component *cpu, int event_set, FILE *out)
{
	int number;

	if (is_cpu(cpu, &number))
		sspapi_subtree_print_metrics(cpu, event_set, out);
	else
		errno = EINVAL;
}

SP_API int sspapi_cpu_find_relations(const sspapi_component *cpu, sspapi_relation **rels, int *n)
{
	int number;

	return is_cpu(cpu, &number) ? sspapi_subtree_find_relations(cpu, rels, n) : PAPI_EINVAL;
}

SP_API int sspapi_cpu_find_event_sets(const sspapi_component *cpu, int *sets, int *n)
{
	uint64_t seen[SETS_MOST / 64] = { 0 };
	struct search s = { .event_set = PAPI_NULL, .found = add_set, .once = true, .sets = sets, .seen = seen,
			    .room = n ? *n : 0 };
	int number;

	if (!n || *n < 0 || (!sets && *n) || !is_cpu(cpu, &number) || !search(&s, cpu))
		return PAPI_EINVAL;
	*n = s.n;
	return PAPI_OK;
}

/* ---- on any component ------------------------------------------------------------ */

SP_API void sspapi_subtree_print_metrics(const sspapi_component *component, int event_set, FILE *out)
{
	struct search s = { .event_set = event_set, .found = print_relation, .out = out };

	if (out)
		search(&s, component);
	else
		errno = EINVAL;
}

SP_API int sspapi_subtree_find_relations(const sspapi_component *component, sspapi_relation **rels, int *n)
{
	struct search s = { .event_set = PAPI_NULL, .found = add_relation, .once = true, .rels = rels, .room = n ? *n : 0 };

	if (!n || *n < 0 || (!rels && *n) || !search(&s, component))
		return PAPI_EINVAL;
	*n = s.n;
	return PAPI_OK;
}
