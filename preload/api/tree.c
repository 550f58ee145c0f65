/* tree.c: the component trees of sspapi_topology, and functions that walk them. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "../../core/base/sys.h"
#include "../../core/model/format-common.h"
#include "../../topo/topo.h"
#include "../lifecycle/exit.h"
#include "../process/machine.h"
#include "tree.h"

static struct tree *trees;

static struct tree *make_tree(const struct sp_topo *t, const char *xml)
{
	const char *source = xml ? xml : "";
	uint64_t bytes = sizeof(struct tree) + strlen(source) + 16 +
			 t->n * (sizeof(*t->component) + sizeof(int32_t) + 1);
	struct tree *r = sp_map(bytes);

	if (!r)
		return NULL;
	r->bytes = bytes;
	r->n = t->n;
	r->is_this_machine = !xml;
	strcpy(r->source, source);
	r->component =
		(struct sp_component *)sp_align((uintptr_t)(r->source + strlen(source) + 1), 8);
	r->cpu = (int32_t *)(r->component + t->n);
	r->at = (struct sspapi_component *)(r->cpu + t->n);
	memcpy(r->component, t->component, t->n * sizeof(*r->component));
	for (uint32_t i = 0; i < t->n; i++)
		r->cpu[i] = strcmp(t->component[i].type, "PU") == 0 ? t->component[i].os_index : -1;
	return r;
}

static struct tree *find_tree(struct tree *r, const char *xml)
{
	while (r && (xml ? r->is_this_machine || strcmp(r->source, xml) != 0 : !r->is_this_machine))
		r = r->next;
	return r;
}

/* Concurrent callers get the tree of the first one. */
static struct tree *add_tree(struct tree *r, const char *xml)
{
	struct tree *found;

	r->next = load_acquire(&trees);
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
	struct tree *r = find_tree(load_acquire(&trees), xml);
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

struct tree *sp_api_tree(const struct sspapi_component *c)
{
	for (struct tree *r = load_acquire(&trees); r; r = r->next)
		if ((uintptr_t)c - (uintptr_t)r->at < r->n)
			return r;
	return NULL;
}

uint32_t sp_api_below(const struct tree *r, int32_t *top)
{
	uint32_t i;

	while ((r->component[*top].flags & SP_COMPONENT_MEMORY) && r->component[*top].parent >= 0)
		*top = r->component[*top].parent;
	for (i = (uint32_t)*top + 1; i < r->n && r->component[i].parent >= *top; i++)
		;
	return i;
}

int sp_api_pu_below(const struct tree *r, int32_t top, int cpu)
{
	uint32_t end = sp_api_below(r, &top);

	for (uint32_t i = (uint32_t)top; cpu >= 0 && i < end; i++)
		if (r->cpu[i] == cpu)
			return (int)i;
	return -1;
}

SP_API sspapi_component *sspapi_find_cpu(sspapi_component *root, int cpu)
{
	struct tree *r = sp_api_tree(root);
	int i = r ? sp_api_pu_below(r, (int32_t)(root - r->at), cpu) : -1;

	if (!r || cpu < 0)
		errno = EINVAL;
	return i >= 0 ? &r->at[i] : NULL;
}

/* ---- walk ---------------------------------------------------------------------------- */

static sspapi_component *at(struct tree *r, int32_t i)
{
	return i >= 0 ? &r->at[i] : NULL;
}

/* The tree, and c's index in it; NULL with errno EINVAL if c is not a component. */
static struct tree *find(const sspapi_component *c, int32_t *i)
{
	struct tree *r = sp_api_tree(c);

	if (r)
		*i = (int32_t)(c - r->at);
	else
		errno = EINVAL;
	return r;
}

SP_API sspapi_component *sspapi_parent(const sspapi_component *c)
{
	int32_t i;
	struct tree *r = find(c, &i);

	return r ? at(r, r->component[i].parent) : NULL;
}

SP_API int sspapi_children(const sspapi_component *c, sspapi_component **list, int *n)
{
	int32_t top;
	struct tree *r = find(c, &top);
	int found = 0;

	if (!r || !n || *n < 0 || (!list && *n))
		return PAPI_EINVAL;
	for (uint32_t i = (uint32_t)top + 1; i < r->n; i++) {
		if (r->component[i].parent != top)
			continue;
		if (found < *n)
			list[found] = &r->at[i];
		found++;
	}
	*n = found;
	return PAPI_OK;
}

static bool is_type(const struct tree *r, int32_t i, const char *type)
{
	return strncasecmp(r->component[i].type, type, sizeof(r->component[i].type)) == 0;
}

/* Find memory of this type whose parent is i. */
static int32_t sibling_of_type(const struct tree *r, int32_t i, const char *type)
{
	for (int32_t k = i + 1; k < (int32_t)r->n; k++)
		if (r->component[k].parent == i && (r->component[k].flags & SP_COMPONENT_MEMORY) &&
		    is_type(r, k, type))
			return k;
	return -1;
}

SP_API sspapi_component *sspapi_ancestor(const sspapi_component *c, const char *type)
{
	int32_t i, memory;
	struct tree *r = find(c, &i);

	if (!r || !type) {
		errno = EINVAL;
		return NULL;
	}
	for (; i >= 0; i = r->component[i].parent) {
		if (is_type(r, i, type))
			return at(r, i);
		memory = sibling_of_type(r, i, type);
		if (memory >= 0)
			return at(r, memory);
	}
	return NULL;
}

SP_API sspapi_component *sspapi_find(const sspapi_component *root, const char *type, int os_index)
{
	int32_t top;
	struct tree *r = find(root, &top);
	uint32_t end = r ? sp_api_below(r, &top) : 0;

	if (!r || !type) {
		errno = EINVAL;
		return NULL;
	}
	for (uint32_t i = (uint32_t)top; i < end; i++)
		if (is_type(r, (int32_t)i, type) && r->component[i].os_index == os_index)
			return &r->at[i];
	return NULL;
}

SP_API int sspapi_component_info(const sspapi_component *c, struct sspapi_info *info)
{
	int32_t i;
	const struct tree *r = find(c, &i);

	if (!r || !info)
		return PAPI_EINVAL;
	*info = (struct sspapi_info){ .type = r->component[i].type,
				      .name = r->component[i].name,
				      .os_index = r->component[i].os_index,
				      .size = r->component[i].size,
				      .logical_index = r->component[i].logical_index };
	return PAPI_OK;
}

/* ---- sums ---------------------------------------------------------------------------- */

/* Returns whether the tree equals the dump's, so that components have the same indexes. */
static bool is_dumped(const struct tree *r, const struct sp_model *m)
{
	for (uint32_t i = 0; r->n == m->n_components && i < r->n; i++)
		if (strncmp(r->component[i].type, m->component[i].type,
			    sizeof(r->component[i].type)) != 0 ||
		    r->component[i].os_index != m->component[i].os_index ||
		    r->component[i].parent != m->component[i].parent)
			return false;
	return r->n == m->n_components;
}

/* The sum of component i. In a tree other than the dump's add its PUs; counts of whole packages are
 * only in the dump's own tree. */
static int64_t sum_of(const struct sp_model *m, const struct tree *r, int32_t i, uint32_t e,
		      const int64_t *sum)
{
	int64_t all = 0;
	uint32_t end;

	if (is_dumped(r, m))
		return sum[(uint64_t)i * m->n_events + e];
	end = sp_api_below(r, &i);
	for (uint32_t c = (uint32_t)i; c < end; c++) {
		int32_t cpu = r->cpu[c],
			pu = cpu >= 0 && m->n_machines && (uint32_t)cpu < m->machine->n_cpus
				     ? m->machine->cpu_component[cpu]
				     : -1;

		if (pu >= 0)
			all = sp_plus(sp_event_type(m, e), all,
				      sum[(uint64_t)pu * m->n_events + e]);
	}
	return all;
}

static long long total(const sspapi_component *c, int event, bool exact)
{
	long long found = 0;
	bool known = false;
	struct sp_model m;
	int32_t i;
	const struct tree *r = find(c, &i);

	if (!r || sp_end_open_model(&m) < 0) {
		errno = EINVAL;
		return 0;
	}
	for (uint32_t e = 0; e < m.n_events; e++) {
		if (!m.event[e] || (int)m.event[e]->code != event)
			continue;
		known = true;
		found = sp_plus(sp_event_type(&m, e), found,
				sum_of(&m, r, i, e, exact ? m.sums.below_exact : m.sums.below));
	}
	sp_end_close_model(&m);
	if (!known)
		errno = EINVAL;
	return found;
}

SP_API long long sspapi_subtree_total(const sspapi_component *component, int event)
{
	return total(component, event, false);
}

SP_API long long sspapi_subtree_exact(const sspapi_component *component, int event)
{
	return total(component, event, true);
}
