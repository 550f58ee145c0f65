/* topo-check.c: checks whether hwloc can safely parse an untrusted topology.
 *
 * Refuses only inputs that hwloc 2.9 and 2.12 mishandle. They fail an assertion on a topology
 * without memory or whose root is not a Machine. They dereference a missing set, read beyond the
 * end of an invalid one, and recurse as deeply as the file nests. They accept a PU with another
 * CPU's set, children of memory, and a second root. hwloc itself checks the positions of other
 * tags, their nesting, and that the sets of an object are in its parent's. Tags are parsed as in
 * hwloc: from '<' to the next '>', attributes as name="value", no comments, no sections.
 */
#include <string.h>

#include "../core/base/sys.h"
#include "topo-inside.h"

#define NESTING_MAX	256u		/* hwloc recurses; real machines with all bridges need 30 */
#define BLANKS		" \t\n"

#define TOO_MANY	"a machine of more than 8192 objects"
#define NOT_OURS	"not a topology as hwloc writes it" SP_TOPO_FIX

struct text {
	const char *at;
	size_t n;
};

enum place { ELSEWHERE, TOPOLOGY, NORMAL, PU, MEMORY, NODE, IO, MISC };

struct element {			/* An open element. */
	enum place place;
	bool nodes;			/* has a nodeset */
};

struct check {
	const char *s;			/* unread rest */
	unsigned version;		/* of the format: 1 or 2 */
	unsigned depth, objects, most;
	bool root, node, pu;		/* was seen */
	struct element open[NESTING_MAX];
	const struct sp_topo_report *report;
};

struct tag {
	struct text name, attributes;
	bool closes, empty;
};

struct object {				/* The attributes of an object that are checked. */
	struct text type, os_index, cpuset, complete_cpuset, nodeset, complete_nodeset, depth,
		cache_type;
};

/* ---- text -------------------------------------------------------------- */

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool equals(struct text t, const char *s)
{
	return t.n == strlen(s) && !memcmp(t.at, s, t.n);
}

static bool ends(struct text t, const char *s)
{
	return t.n >= strlen(s) && !memcmp(t.at + t.n - strlen(s), s, strlen(s));
}

static bool one_of(struct text t, const char *const *list)
{
	while (*list && !equals(t, *list))
		list++;
	return *list;
}

static struct text cut(const char **s, size_t n)
{
	struct text t = { *s, n };

	*s += n;
	return t;
}

/* Parse decimal digits; invalid input gives a number above all limits. */
static uint64_t number(struct text t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t.n; i++) {
		if (t.at[i] < '0' || t.at[i] > '9')
			return UINT64_MAX;
		n = sp_min(n * 10 + (uint64_t)(t.at[i] - '0'), UINT32_MAX);
	}
	return t.n ? n : UINT64_MAX;
}

static bool entities_known(struct text value)
{
	static const char *const known[] = { "amp;", "lt;", "gt;", "quot;", "#10;", "#13;", "#9;" };
	const char *s = value.at, *end = s + value.n;

	while ((s = memchr(s, '&', (size_t)(end - s)))) {
		size_t i = 0;

		for (s++; i < SP_COUNT(known) && !begins(s, known[i]);)
			i++;
		if (i == SP_COUNT(known))
			return false;
	}
	return true;
}

/* ---- sets: "0x00000001,,0x80000000", 32 CPUs a group, the highest first ---- */

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parse the group that ends at *end, and move *end to its start; UINT64_MAX if it is invalid. */
static uint64_t last_group(const char *first, const char **end)
{
	uint64_t value = 0;
	const char *s = *end;

	while (s > first && s[-1] != ',')
		s--;
	first = s;
	if (*end - s >= 2 && s[0] == '0' && s[1] == 'x')
		s += 2;
	if (*end - s > 8)
		return UINT64_MAX;
	for (; s < *end; s++) {
		if (hex(*s) < 0)
			return UINT64_MAX;
		value = value << 4 | (uint64_t)hex(*s);
	}
	*end = first;
	return value;
}

/* The number of members of a set, and the lowest; "0xf...f" at the front means all higher ones. -1
 * if it is invalid. */
static int set_weight(struct text t, uint64_t *lowest)
{
	static const char all[] = "0xf...f";
	const char *first = t.at, *end = t.at + t.n;
	int weight = 0;

	/* hwloc reads beyond an empty set, and uninitialised memory after a trailing comma */
	if (!t.at || !t.n || end[-1] == ',')
		return -1;
	if (t.n >= sizeof(all) - 1 && begins(first, all)) {
		first += sizeof(all) - 1;
		weight = (int)SP_TOPO_CPUS;
		if (first == end)
			return weight;
		if (*first++ != ',')
			return -1;
	}
	for (uint64_t base = 0;; base += 32, end--) {
		uint64_t group = last_group(first, &end);

		if (group == UINT64_MAX || base >= SP_TOPO_CPUS)
			return -1;
		if (group && weight % (int)SP_TOPO_CPUS == 0)
			*lowest = base + (uint64_t)__builtin_ctzll(group);
		weight += __builtin_popcountll(group);
		if (end == first)
			return weight;
	}
}

static bool is_set(struct text t)
{
	uint64_t lowest;

	return set_weight(t, &lowest) >= 0;
}

/* A PU's set has only its own CPU, a NUMANode's only its own node. */
static bool is_only(struct text set, struct text index)
{
	uint64_t lowest = 0;

	return set_weight(set, &lowest) == 1 && number(index) == lowest;
}

/* ---- tags -------------------------------------------------------------- */

/* Returns 1, 0 after the last attribute, -1 if it is not in hwloc's syntax. */
static int next_attribute(struct text *left, struct text *name, struct text *value)
{
	const char *s = left->at, *end = s + left->n, *close;

	s += strspn(s, BLANKS);
	if (s >= end)
		return 0;
	*name = cut(&s, strspn(s, "abcdefghijklmnopqrstuvwxyz_"));
	if (!name->n || end - s < 3 || s[0] != '=' || s[1] != '"')
		return -1;
	s += 2;
	close = memchr(s, '"', (size_t)(end - s));
	if (!close)
		return -1;
	*value = cut(&s, (size_t)(close - s));
	s++;
	*left = (struct text){ s, (size_t)(end - s) };
	if (ends(*name, "cpuset") || ends(*name, "nodeset"))
		return is_set(*value) ? 1 : -1;
	return entities_known(*value) ? 1 : -1;
}

static bool next_tag(struct check *c, struct tag *t)
{
	const char *s = strchr(c->s, '<'), *end = s ? strchr(s, '>') : NULL;

	if (!end)
		return false;
	c->s = end + 1;
	s++;
	t->closes = *s == '/';
	s += t->closes;
	t->name = cut(&s, strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_"));
	t->empty = end > s && end[-1] == '/';
	end -= t->empty;
	t->attributes = (struct text){ s, (size_t)(end - s) };
	return t->name.n && (!t->attributes.n || (*s == ' ' && !t->closes)) &&
	       !(t->closes && t->empty);
}

static bool attributes_ok(struct text left)
{
	struct text name, value;
	int r;

	while ((r = next_attribute(&left, &name, &value)) > 0)
		;
	return !r;
}

/* ---- objects ----------------------------------------------------------- */

static bool read_object(struct text left, struct object *o)
{
	struct text name, value, *to;
	int r;

	memset(o, 0, sizeof(*o));
	while ((r = next_attribute(&left, &name, &value)) > 0) {
		to = equals(name, "type")		    ? &o->type
		     : equals(name, "os_index")	    ? &o->os_index
		     : equals(name, "cpuset")	    ? &o->cpuset
		     : equals(name, "complete_cpuset")  ? &o->complete_cpuset
		     : equals(name, "nodeset")	    ? &o->nodeset
		     : equals(name, "complete_nodeset") ? &o->complete_nodeset
		     : equals(name, "depth")	    ? &o->depth
		     : equals(name, "cache_type")	    ? &o->cache_type
						    : NULL;
		if (to && to->at)	/* hwloc asserts that an attribute occurs once */
			return false;
		if (to)
			*to = value;
	}
	return !r && o->type.at;
}

/* hwloc indexes an array by the type that it makes of these two. */
static bool is_old_cache(const struct object *o)
{
	/* unified, data, instructions */
	uint64_t depth = number(o->depth), type = number(o->cache_type);

	return depth >= 1 && depth <= (type == 2 ? 3 : 5) && type <= 2;
}

static enum place place_of(const struct object *o, unsigned version)
{
	static const char *const normal[] = { "Machine",  "Package",  "Core",	  "Group",
					      "Die",	  "System",   "Socket",	  "L1Cache",
					      "L2Cache",  "L3Cache",  "L4Cache",  "L5Cache",
					      "L1iCache", "L2iCache", "L3iCache", NULL };
	static const char *const io[] = { "Bridge", "PCIDev", "OSDev", NULL };

	if (one_of(o->type, normal))
		return NORMAL;
	if (equals(o->type, "Cache"))
		return version < 2 && is_old_cache(o) ? NORMAL : ELSEWHERE;
	if (one_of(o->type, io))
		return IO;
	if (equals(o->type, "Misc"))	/* in old files also a group of CPUs */
		return version < 2 && o->cpuset.at ? NORMAL : MISC;
	if (equals(o->type, "PU"))
		return PU;
	if (equals(o->type, "NUMANode"))
		return NODE;
	return equals(o->type, "MemCache") && version >= 2 ? MEMORY : ELSEWHERE;
}

/* Check the sets: hwloc refuses an object without sets, but dereferences one that is missing among
 * others. */
static bool sets_ok(const struct object *o, enum place place, unsigned version)
{
	if (place == IO || place == MISC)
		return true;
	if (!o->cpuset.at || !o->complete_cpuset.at || !o->nodeset.at != !o->complete_nodeset.at ||
	    (!o->nodeset.at && version >= 2))
		return false;
	if (place == PU)
		return is_only(o->cpuset, o->os_index);
	return place != NODE || is_only(o->nodeset, o->os_index);
}

/* In old files NUMANodes are between the Machine and its Packages. */
static bool belongs(enum place place, enum place in, unsigned version)
{
	switch (place) {
	case NORMAL:
	case PU:
		return in == NORMAL || (in == NODE && version < 2);
	case MEMORY:
	case NODE:
		return in == NORMAL || in == MEMORY;
	case IO:
		return in == NORMAL || in == IO || (in == NODE && version < 2);
	case MISC:
		return in != TOPOLOGY;
	default:
		return false;
	}
}

static int check_object(struct check *c, const struct tag *t, const struct element *parent,
			struct element *me)
{
	bool fits, root = parent->place == TOPOLOGY;
	struct object o;

	if (++c->objects > c->most)
		return sp_topo_refuse(c->report, E2BIG, TOO_MANY);
	if (!read_object(t->attributes, &o))
		return sp_topo_refuse(c->report, EINVAL, NOT_OURS);
	if (equals(o.type, "PU") && number(o.os_index) >= SP_TOPO_CPUS)
		return sp_topo_refuse(c->report, E2BIG, "a machine with a CPU number above 65535");
	me->place = place_of(&o, c->version);
	me->nodes = o.nodeset.at;
	/* hwloc 1 merges a Machine with its only child */
	fits = root ? !c->root && (equals(o.type, "Machine") || equals(o.type, "System") ||
				   (me->place == NODE && c->version < 2))
		    : belongs(me->place, parent->place, c->version);
	if (!fits || (me->nodes && !root && !parent->nodes) || !sets_ok(&o, me->place, c->version))
		return sp_topo_refuse(c->report, EINVAL, NOT_OURS);
	c->root = true;
	c->node |= me->place == NODE;
	c->pu |= me->place == PU;
	return 0;
}

static int open_tag(struct check *c, const struct tag *t)
{
	/* hwloc 2.12 crashes on an info without a name there */
	static const char *const after_root[] = {
		"distances2", "distances2hetero", "support", "memattr", "cpukind", NULL
	};
	struct element me = { .place = ELSEWHERE };
	int r = 0;

	if (c->depth == NESTING_MAX)
		return sp_topo_refuse(c->report, E2BIG, "objects nested more than 250 deep");
	if (equals(t->name, "object"))
		r = check_object(c, t, &c->open[c->depth - 1], &me);
	else if (!attributes_ok(t->attributes) ||
		 (c->open[c->depth - 1].place == TOPOLOGY && !one_of(t->name, after_root)))
		r = sp_topo_refuse(c->report, EINVAL, NOT_OURS);
	if (!r && !t->empty)
		c->open[c->depth++] = me;
	return r;
}

static int check_tags(struct check *c)
{
	struct tag t;
	int r = 0;

	while (!r && c->depth && next_tag(c, &t)) {
		if (t.closes)
			c->depth--;
		else
			r = open_tag(c, &t);
	}
	if (r)
		return r;
	if (c->depth || c->s[strspn(c->s, BLANKS "\r")])
		return sp_topo_refuse(c->report, EINVAL, NOT_OURS);
	if (!c->pu || (!c->node && c->version >= 2))
		return sp_topo_refuse(c->report, EINVAL,
				      "a machine without CPUs or memory" SP_TOPO_FIX);
	return 0;
}

/* Skip the lines before the topology tag, and the tag. */
static bool find_topology(struct check *c)
{
	static const char v2[] = "<topology version=\"2.", v1[] = "<topology>";

	while (begins(c->s, "<?xml ") || begins(c->s, "<!DOCTYPE ")) {
		const char *end = strchr(c->s, '\n');

		if (!end)
			return false;
		c->s = end + 1;
	}
	c->open[0] = (struct element){ .place = TOPOLOGY };
	c->depth = 1;
	c->version = begins(c->s, v1) ? 1 : 2;
	if (c->version == 1) {
		c->s += sizeof(v1) - 1;
		return true;
	}
	if (!begins(c->s, v2))
		return false;
	c->s += sizeof(v2) - 1;
	c->s += strspn(c->s, "0123456789");
	if (!begins(c->s, "\">"))
		return false;
	c->s += 2;
	return true;
}

int sp_topo_check_xml(const char *xml, uint32_t most, const struct sp_topo_report *report)
{
	struct check *c;
	int r;

	c = sp_map(sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->s = xml;
	c->most = most;
	c->report = report;
	if (find_topology(c))
		r = check_tags(c);
	else if (begins(c->s, "<topology version=\"3."))
		r = -EOPNOTSUPP;
	else
		r = sp_topo_refuse(report, EINVAL, NOT_OURS);
	sp_unmap(c, sizeof(*c));
	return r;
}

/* Check the widths of the levels: "Package:2 [NUMANode] Core:4(indexes=...) PU:2", "2 4 2".
 * Attributes are in (...); the list of indexes gives OS indexes. */
int sp_topo_check_synthetic(const char *s, const struct sp_topo_report *report)
{
	uint64_t width = 1, objects = 1, n;
	bool attributes = false, indexes = false;

	for (; *s; s++) {
		if (*s == '(' || *s == ')')
			attributes = *s == '(', indexes = false;
		if (attributes && begins(s, "indexes=")) {
			indexes = true;
			/* indexes by names of levels: hwloc 2.9 asserts that they match the
			 * levels */
			if (s[8] < '0' || s[8] > '9')
				return sp_topo_refuse(report, EINVAL,
						      "indexes by names; write them as numbers");
		}
		if (*s == ' ')
			indexes = false;
		if (*s < '0' || *s > '9')
			continue;
		for (n = 0; *s >= '0' && *s <= '9'; s++)
			n = sp_min(n * 10 + (uint64_t)(*s - '0'), UINT32_MAX);
		s--;
		if (indexes && n >= SP_TOPO_CPUS)
			return sp_topo_refuse(report, E2BIG,
					      "a machine with a CPU number above 65535");
		if (attributes || (s[1] && !strchr(" ([)]", s[1])))
			continue;
		width = sp_min(width * sp_max(n, 1), UINT32_MAX);
		objects += width;
		if (n > SP_TOPO_SIBLINGS)
			return sp_topo_refuse(report, E2BIG,
					      "more than 2048 objects below one object");
		if (objects > SP_TOPO_DESCRIBED)
			return sp_topo_refuse(report, E2BIG, TOO_MANY);
	}
	return 0;
}
