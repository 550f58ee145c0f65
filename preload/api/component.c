/* component.c: sspapi.h's functions for a PU or a subtree. */
#include <errno.h>

#include "../sets/sets.h"
#include "tree.h"

int sp_api_has_pu(const struct sspapi_component *root, int cpu)
{
	const struct tree *r = sp_api_tree(root);

	return r ? sp_api_pu_below(r, (int32_t)(root - r->at), cpu) >= 0 : -1;
}

/* ---- relations on some CPUs -------------------------------------------------- */

#define SETS_MOST	(SP_SETS_CHUNK * SP_SETS_CHUNKS)

struct search {
	const struct tree *tree;
	int32_t top;
	uint32_t end;			/* index after the last component below top */
	int event_set;			/* PAPI_NULL: any */
	bool once;			/* call `found` only for the first CPU of a relation */
	void (*found)(struct search *s, struct sspapi_relation *rel, int cpu);
	sspapi_relation **rels;
	int *sets;
	uint64_t *seen;			/* a bit per event set, for add_set */
	int room, n;
	FILE *out;
};

static int event_set_of(struct sspapi_relation *rel)
{
	return rel->current ? rel->current->relation->event_set : PAPI_NULL;
}

/* Call found() for the PUs below s->top on which the relation has entries. */
static bool visit_relation(struct sspapi_relation *rel, void *arg)
{
	struct search *s = arg;
	struct sp_lock_state lock_state;
	int cpus[64], n = 0;

	for (uint32_t i = (uint32_t)s->top, end = s->end; i < end; n = 0) {
		if (!sp_api_take(rel, &lock_state))
			return true;
		if (s->event_set != PAPI_NULL && event_set_of(rel) != s->event_set)
			i = end;
		for (; i < end && n < (int)SP_COUNT(cpus); i++)
			if (s->tree->cpu[i] >= 0 && sp_api_has_cpu(rel, s->tree->cpu[i]))
				cpus[n++] = s->tree->cpu[i];
		sp_api_give(rel, &lock_state);
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
	s->tree = sp_api_tree(c);
	if (!s->tree) {
		errno = EINVAL;
		return false;
	}
	s->top = (int32_t)(c - s->tree->at);
	s->end = sp_api_below(s->tree, &s->top);
	sp_api_each(visit_relation, s);
	return true;
}

static void add_relation(struct search *s, struct sspapi_relation *rel, int cpu)
{
	(void)cpu;
	if (s->n < s->room)
		s->rels[s->n] = rel;
	s->n++;
}

/* Count each set once, even if it does not fit. */
static void add_set(struct search *s, struct sspapi_relation *rel, int cpu)
{
	int set = sspapi_current_event_set(rel);

	(void)cpu;
	if (set < 0 || set >= SETS_MOST || s->seen[set / 64] >> set % 64 & 1)
		return;			/* negative: the relation was just freed */
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
	const struct tree *r = sp_api_tree(c);

	*cpu = r ? r->cpu[c - r->at] : -1;
	return *cpu >= 0;
}

/* ---- PUs ------------------------------------------------------------------------- */

SP_API sspapi_relation *sspapi_cpu_get_relation(const sspapi_component *cpu, int event_set)
{
	sspapi_relation *rel = NULL;
	struct search s = {
		.event_set = event_set, .found = add_relation, .once = true, .rels = &rel, .room = 1
	};
	int number;

	if (!is_cpu(cpu, &number))
		errno = EINVAL;
	else
		search(&s, cpu);
	return rel;
}

SP_API long long sspapi_cpu_get_metric(const sspapi_component *cpu, int event, int event_set,
				       uint64_t timestamp)
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
	struct search s = { .event_set = PAPI_NULL,
			    .found = add_set,
			    .once = true,
			    .sets = sets,
			    .seen = seen,
			    .room = n ? *n : 0 };
	int number;

	if (!n || *n < 0 || (!sets && *n) || !is_cpu(cpu, &number) || !search(&s, cpu))
		return PAPI_EINVAL;
	*n = s.n;
	return PAPI_OK;
}

/* ---- any component ---------------------------------------------------------------- */

SP_API void sspapi_subtree_print_metrics(const sspapi_component *component, int event_set,
					 FILE *out)
{
	struct search s = { .event_set = event_set, .found = print_relation, .out = out };

	if (out)
		search(&s, component);
	else
		errno = EINVAL;
}

SP_API int sspapi_subtree_find_relations(const sspapi_component *component, sspapi_relation **rels,
					 int *n)
{
	struct search s = { .event_set = PAPI_NULL,
			    .found = add_relation,
			    .once = true,
			    .rels = rels,
			    .room = n ? *n : 0 };

	if (!n || *n < 0 || (!rels && *n) || !search(&s, component))
		return PAPI_EINVAL;
	*n = s.n;
	return PAPI_OK;
}
