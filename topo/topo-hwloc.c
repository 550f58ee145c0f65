/* topo-hwloc.c: reads a machine's component tree with hwloc; the only file that uses hwloc.
 *
 * hwloc runs in the application's process. It must not change the thread's binding or locale, be
 * cancelled, or print; its tree is copied and freed before sp_topo_load returns.
 */
#include <errno.h>
#include <hwloc.h>
#include <hwloc/cpukinds.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/base/pmus.h"
#include "../core/base/sys.h"
#include "topo.h"
#include "topo-inside.h"

#define SYNTHETIC	"synthetic:"
#define PMU		"PMU"		/* info of a kind of CPUs, added to hwloc's */

const char *sp_topo_pmus = SP_PMUS_DIR;

__thread jmp_buf *sp_topo_abort_jump;

struct walk {
	hwloc_topology_t hwloc;
	hwloc_const_cpuset_t allowed;
	bool hybrid;
	hwloc_bitmap_t seen;		/* OS indexes of PUs */
	uint32_t gpus;
	struct sp_gpu *gpu;		/* this machine's; none if the source is a file */
	hwloc_obj_t gpu_parents[SP_TOPO_GPUS];
	int n_gpus;
	struct sp_topo *t;
	const struct sp_topo_report *report;
};

/* ---- one component ----------------------------------------------------- */

/* Copy as much as fits, without cutting a UTF-8 sequence. */
static void clip(char *to, size_t bytes, const char *from)
{
	size_t n = from ? strlen(from) : 0;

	if (n >= bytes)
		for (n = bytes - 1; n && ((unsigned char)from[n] & 0xc0) == 0x80;)
			n--;
	memcpy(to, from ? from : "", n);
	to[n] = 0;
}

static const char *name_of(hwloc_obj_t o)
{
	static const char *const machine[] = {
		"DMIProductName", "PlatformModel", "HardwareModel", "PlatformName", "DMIBoardName"
	};

	if (o->type == HWLOC_OBJ_PACKAGE)
		return hwloc_obj_get_info_by_name(o, "CPUModel");
	if (o->type != HWLOC_OBJ_MACHINE)
		return o->name;
	for (size_t i = 0; i < SP_COUNT(machine); i++) {
		const char *name = hwloc_obj_get_info_by_name(o, machine[i]);

		if (name && *name)
			return name;
	}
	return NULL;
}

static uint64_t size_of(hwloc_obj_t o)
{
	if (o->type == HWLOC_OBJ_NUMANODE)
		return o->attr->numanode.local_memory;
	if (hwloc_obj_type_is_cache(o->type) || o->type == HWLOC_OBJ_MEMCACHE)
		return o->attr->cache.size;
	return 0;
}

static int32_t index_of(unsigned index)
{
	return index > INT_MAX ? -1 : (int32_t)index;	/* HWLOC_UNKNOWN_INDEX is larger */
}

static int32_t kind_of(const struct walk *w, hwloc_obj_t o)
{
	if (!w->hybrid || (o->type != HWLOC_OBJ_PU && o->type != HWLOC_OBJ_CORE))
		return -1;
	/* -1 if it has several kinds */
	return hwloc_cpukinds_get_by_cpuset(w->hwloc, o->cpuset, 0);
}

static uint32_t flags_of(const struct walk *w, hwloc_obj_t o)
{
	if (hwloc_obj_type_is_memory(o->type))
		return SP_COMPONENT_MEMORY;
	if (o->type == HWLOC_OBJ_PU && !hwloc_bitmap_isset(w->allowed, o->os_index))
		return SP_COMPONENT_DISALLOWED;
	return 0;
}

/* ---- GPUs ---------------------------------------------------------------- */

static enum sp_vendor vendor_of(hwloc_obj_t pci)
{
	return pci->type == HWLOC_OBJ_PCI_DEVICE
		       ? sp_topo_gpu_vendor(pci->attr->pcidev.class_id, pci->attr->pcidev.vendor_id)
		       : SP_VENDOR_NONE;
}

static bool is_gpu(hwloc_obj_t o)
{
	return vendor_of(o) != SP_VENDOR_NONE;
}

static uint64_t bus_of(hwloc_obj_t o)
{
	const struct hwloc_pcidev_attr_s *p = &o->attr->pcidev;

	return (uint64_t)p->domain << 24 | (uint64_t)p->bus << 16 | (uint64_t)p->dev << 8 | p->func;
}

/* The number in the vendor's library, if hwloc queried it (cuda1, in a file); else its position on
 * the bus, by which the libraries number them. */
static int32_t gpu_number(hwloc_topology_t hwloc, hwloc_obj_t o)
{
	static const char *const libraries[] = { "cuda", "nvml", "rsmi", "ze" };
	int32_t n = 0;

	for (size_t i = 0; i < SP_COUNT(libraries); i++)
		for (hwloc_obj_t k = o->io_first_child; k; k = k->next_sibling) {
			size_t length = strlen(libraries[i]);
			char *end;
			unsigned long number;

			if (!k->name || strncmp(k->name, libraries[i], length) != 0 ||
			    !k->name[length])
				continue;
			number = strtoul(k->name + length, &end, 10);
			if (!*end && number < 65536)
				return (int32_t)number;
		}
	for (hwloc_obj_t k = NULL; (k = hwloc_get_next_pcidev(hwloc, k)) != NULL;)
		n += is_gpu(k) && vendor_of(k) == vendor_of(o) && bus_of(k) < bus_of(o);
	return n;
}

static struct sp_component *add_gpu(struct walk *w, int32_t parent, uint32_t depth,
				    enum sp_vendor vendor, const char *model)
{
	struct sp_component *c = &w->t->component[w->t->n++];

	*c = (struct sp_component){ .parent = parent,
				    .cpu_kind = -1,
				    .depth = depth,
				    .logical_index = (int32_t)w->gpus++,
				    .flags = (uint32_t)vendor << SP_COMPONENT_VENDOR_SHIFT };
	strcpy(c->type, "GPU");
	clip(c->name, sizeof(c->name), model);
	return c;
}

/* Add a file's GPUs, including those below bridges. */
static void add_gpus(struct walk *w, hwloc_obj_t o, int32_t parent, uint32_t depth)
{
	for (hwloc_obj_t k = o->io_first_child; k; k = k->next_sibling) {
		struct sp_component *c;

		if (!is_gpu(k)) {
			add_gpus(w, k, parent, depth);
			continue;
		}
		c = add_gpu(w, parent, depth, vendor_of(k),
			    hwloc_obj_get_info_by_name(k, "PCIDevice"));
		c->os_index = gpu_number(w->hwloc, k);
		c->gp_index = k->gp_index;
	}
}

static uint64_t count_gpus(hwloc_obj_t o)
{
	uint64_t n = 0;

	for (hwloc_obj_t k = o->io_first_child; k; k = k->next_sibling)
		n += is_gpu(k) ? 1 : count_gpus(k);
	return n;
}

/* Find this machine's GPUs, which hwloc's tree does not have. */
static void find_gpus(struct walk *w)
{
	hwloc_obj_t root = hwloc_get_root_obj(w->hwloc);
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();

	w->gpu = cpus ? sp_map(SP_TOPO_GPUS * sizeof(*w->gpu)) : NULL;
	w->n_gpus = w->gpu ? sp_topo_gpus(w->gpu) : 0;
	for (int i = 0; i < w->n_gpus; i++) {
		hwloc_obj_t gpu_parents = NULL;

		if (hwloc_bitmap_list_sscanf(cpus, w->gpu[i].cpus) == 0) {
			hwloc_bitmap_and(cpus, cpus, root->cpuset);
			gpu_parents = hwloc_get_obj_covering_cpuset(w->hwloc, cpus);
			while (gpu_parents && gpu_parents->parent &&
			       hwloc_bitmap_isequal(gpu_parents->parent->cpuset,
						    gpu_parents->cpuset))
				gpu_parents = gpu_parents->parent;
		}
		w->gpu_parents[i] = gpu_parents ? gpu_parents : root;
	}
	hwloc_bitmap_free(cpus);
}

/* Add GPUs where hwloc would, below the object of their local CPUs. Their gp_index is above all
 * others. */
static void add_own_gpus(struct walk *w, hwloc_obj_t o, int32_t parent, uint32_t depth)
{
	for (int i = 0; i < w->n_gpus; i++) {
		struct sp_component *c;

		if (w->gpu_parents[i] != o)
			continue;
		c = add_gpu(w, parent, depth, w->gpu[i].vendor, w->gpu[i].model);
		for (int k = 0; k < i; k++)
			c->os_index += w->gpu[k].vendor == w->gpu[i].vendor;
		c->gp_index = UINT64_MAX - (uint64_t)i;
	}
}

/* ---- the tree ---------------------------------------------------------- */

static uint64_t count(hwloc_obj_t o)
{
	uint64_t n = 1 + count_gpus(o);

	for (hwloc_obj_t c = o->memory_first_child; c; c = c->next_sibling)
		n += count(c);
	for (hwloc_obj_t c = o->first_child; c; c = c->next_sibling)
		n += count(c);
	return n;
}

/* Check the OS index, by which counts are attributed: each PU must have one, different from the
 * others'. */
static int check_pu(struct walk *w, hwloc_obj_t o)
{
	if (o->os_index >= SP_TOPO_CPUS)
		return sp_topo_refuse(w->report, E2BIG, "a machine with a CPU number above 65535");
	if (hwloc_bitmap_isset(w->seen, o->os_index))
		return sp_topo_refuse(w->report, EINVAL,
				      "a machine with two CPUs of one number" SP_TOPO_FIX);
	if (hwloc_bitmap_set(w->seen, o->os_index) < 0)
		return -ENOMEM;
	if (o->os_index >= w->t->n_cpus)
		w->t->n_cpus = o->os_index + 1;
	return 0;
}

/* Add o and everything below it. `parent` is the parent of o; for memory, the normal object to
 * which it is attached. */
static int add(struct walk *w, hwloc_obj_t o, int32_t parent, uint32_t depth)
{
	int32_t me = (int32_t)w->t->n++, normal = hwloc_obj_type_is_memory(o->type) ? parent : me;
	struct sp_component *c = &w->t->component[me];
	int r = o->type == HWLOC_OBJ_PU ? check_pu(w, o) : 0;

	c->parent = parent;
	c->os_index = index_of(o->os_index);
	c->logical_index = index_of(o->logical_index);
	c->cpu_kind = kind_of(w, o);
	c->flags = flags_of(w, o);
	c->depth = depth;
	c->gp_index = o->gp_index;
	c->size = size_of(o);
	hwloc_obj_type_snprintf(c->type, sizeof(c->type), o, 0);
	clip(c->name, sizeof(c->name), name_of(o));
	for (hwloc_obj_t k = o->memory_first_child; k && !r; k = k->next_sibling)
		r = add(w, k, normal, depth + 1);
	for (hwloc_obj_t k = o->first_child; k && !r; k = k->next_sibling)
		r = add(w, k, me, depth + 1);
	if (r)
		return r;
	add_gpus(w, o, me, depth + 1);
	add_own_gpus(w, o, me, depth + 1);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Check that each gp_index is unique: the hwloc format finds objects in the XML by it. */
static int check_gp(const struct walk *w)
{
	size_t n = w->t->n, i;
	uint64_t *gp = sp_map(n * sizeof(*gp));

	if (!gp)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		gp[i] = w->t->component[i].gp_index;
	qsort(gp, n, sizeof(*gp), by_number);
	for (i = 1; i < n && gp[i] != gp[i - 1];)
		i++;
	sp_unmap(gp, n * sizeof(*gp));
	return i >= n ? 0
		      : sp_topo_refuse(w->report, EINVAL,
				       "two objects with one gp_index" SP_TOPO_FIX);
}

static int copy_objects(struct walk *w, uint64_t n)
{
	int r;

	if (n > SP_TOPO_COMPONENTS)
		return sp_topo_refuse(w->report, E2BIG, "a machine of more than 65536 objects");
	w->allowed = hwloc_topology_get_allowed_cpuset(w->hwloc);
	w->hybrid = hwloc_cpukinds_get_nr(w->hwloc, 0) >= 2;
	w->seen = hwloc_bitmap_alloc();
	w->t->component = sp_map(n * sizeof(*w->t->component));
	r = w->seen && w->t->component ? add(w, hwloc_get_root_obj(w->hwloc), -1, 0) : -ENOMEM;
	w->t->n = (uint32_t)n;		/* sp_topo_free needs the allocated size */
	hwloc_bitmap_free(w->seen);
	if (!r && !w->t->n_cpus)	/* hwloc drops CPUs that are not in their parents' sets */
		r = sp_topo_refuse(w->report, EINVAL, "a machine without CPUs" SP_TOPO_FIX);
	return r ? r : check_gp(w);
}

static int copy_tree(hwloc_topology_t hwloc, struct sp_topo *t, bool own,
		     const struct sp_topo_report *report)
{
	struct walk w = { .hwloc = hwloc, .t = t, .report = report };
	int r;

	if (own)
		find_gpus(&w);
	r = copy_objects(&w, count(hwloc_get_root_obj(hwloc)) + (uint64_t)w.n_gpus);
	sp_unmap(w.gpu, SP_TOPO_GPUS * sizeof(*w.gpu));
	return r;
}

/* ---- kinds of CPUs ------------------------------------------------------ */

/* Register the PMUs of cores as kinds of CPUs. hwloc distinguishes Intel's kinds by their PMUs, but
 * others by capacity and frequency, which not every system reports. Errors are ignored. */
static void add_pmus(hwloc_topology_t hwloc)
{
	struct sp_core_pmu *pmu = sp_map(SP_PMUS_MOST * sizeof(*pmu));
	int n = pmu ? sp_core_pmus(sp_topo_pmus, pmu) : 0;
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();

	for (int i = 0; cpus && n > 1 && i < n; i++) {
		struct hwloc_info_s info = { (char *)PMU, pmu[i].name };

		if (hwloc_bitmap_list_sscanf(cpus, pmu[i].cpus) == 0)
			(void)hwloc_cpukinds_register(hwloc, cpus, -1, 1, &info, 0);
	}
	hwloc_bitmap_free(cpus);
	sp_unmap(pmu, SP_PMUS_MOST * sizeof(*pmu));
}

static int copy_xml(hwloc_topology_t hwloc, struct sp_topo *t)
{
	char *xml;
	int bytes;			/* including a NUL */

	if (hwloc_topology_export_xmlbuffer(hwloc, &xml, &bytes, 0) < 0 || bytes < 1)
		return -EIO;
	t->xml = sp_map((size_t)bytes);
	if (t->xml) {
		memcpy(t->xml, xml, (size_t)bytes - 1);
		t->xml_bytes = (uint64_t)bytes - 1;
	}
	hwloc_free_xmlbuffer(hwloc, xml);
	return t->xml ? 0 : -ENOMEM;
}

/* ---- the source -------------------------------------------------------- */

static int refuse_newer(const struct sp_topo_report *report)
{
	unsigned version = hwloc_get_api_version();
	char why[160];

	snprintf(why, sizeof(why),
		 "written by hwloc 3; this is hwloc %u.%u; write it with: lstopo "
		 "--export-xml-flags v2 machine.xml",
		 version >> 16, version >> 8 & 255);
	return sp_topo_refuse(report, EINVAL, why);
}

static int set_file(hwloc_topology_t hwloc, const char *path, const struct sp_topo_report *report)
{
	char *xml = NULL;
	size_t bytes = 0;
	int r = sp_topo_read(path, &xml, &bytes, report);

	if (r)
		return r;
	r = sp_topo_check_xml(xml, SP_TOPO_DESCRIBED, report);
	if (r == -EOPNOTSUPP)
		r = refuse_newer(report);
	if (!r && hwloc_topology_set_xmlbuffer(hwloc, xml, (int)bytes + 1) < 0)
		r = sp_topo_refuse(report, EINVAL,
				   "not a topology that hwloc can read" SP_TOPO_FIX);
	sp_unmap(xml, bytes + 1);	/* hwloc has copied it */
	return r;
}

static int set_source(hwloc_topology_t hwloc, const char *source,
		      const struct sp_topo_report *report)
{
	int r;

	if (!source)
		return 0;
	if (strncmp(source, SYNTHETIC, strlen(SYNTHETIC)))
		return set_file(hwloc, source, report);
	source += strlen(SYNTHETIC);
	r = sp_topo_check_synthetic(source, report);
	if (!r && hwloc_topology_set_synthetic(hwloc, source) < 0)
		r = sp_topo_refuse(
			report, EINVAL,
			"not a description that hwloc can read; try: pack:1 core:2 pu:2");
	return r;
}

static unsigned long load_flags(void)
{
	unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;

#if HWLOC_API_VERSION >= 0x00020500
	flags |= HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
#endif
	return flags;
}

/* Returns whether there are only CPUs, as many as libc reports: then hwloc guessed their
 * numbers. */
static bool is_bare(const struct sp_topo *t)
{
	for (uint32_t i = 1; i < t->n; i++)
		if (strcmp(t->component[i].type, "PU") && strcmp(t->component[i].type, "NUMANode"))
			return false;
	return true;
}

static int load(hwloc_topology_t hwloc, struct sp_topo *t, const char *source,
		const struct sp_topo_report *report)
{
	int r = set_source(hwloc, source, report);

	if (r)
		return r;
	hwloc_topology_set_flags(hwloc, load_flags());
	/* Skip devices of this machine: hwloc would call other libraries, which may free memory of
	 * a different malloc. */
	hwloc_topology_set_io_types_filter(hwloc, source ? HWLOC_TYPE_FILTER_KEEP_IMPORTANT
							 : HWLOC_TYPE_FILTER_KEEP_NONE);
	hwloc_topology_set_type_filter(hwloc, HWLOC_OBJ_MEMCACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
	if (hwloc_topology_load(hwloc) < 0)
		return source ? sp_topo_refuse(report, EINVAL,
					       "not a topology that hwloc can read" SP_TOPO_FIX)
			      : sp_topo_refuse(report, ENODATA, "hwloc cannot read this machine");
	if (!source && !hwloc_topology_is_thissystem(hwloc))
		return sp_topo_refuse(report, ENODATA,
				      "HWLOC_XMLFILE or a similar variable describes another "
				      "machine");
	if (!source)
		add_pmus(hwloc);
	r = copy_tree(hwloc, t, !source, report);
	if (!r && !source && is_bare(t))
		r = sp_topo_refuse(
			report, ENODATA,
			"hwloc finds neither cores nor caches nor packages here (is /sys hidden?)");
	return r ? r : copy_xml(hwloc, t);
}

/* Load, returning from hwloc normally or from a failed assertion. */
static int load_or_jump(struct sp_topo *t, const char *source, const struct sp_topo_report *report)
{
	hwloc_topology_t hwloc;
	jmp_buf out;
	int r;

	if (setjmp(out)) {
		sp_topo_abort_jump = NULL;
		/* hwloc 2.9: /sys/devices/system/node exists but is empty in some containers. */
		return source ? sp_topo_refuse(report, EINVAL,
					       "a topology that hwloc cannot load" SP_TOPO_FIX)
			      : sp_topo_refuse(report, ENODATA,
					       "hwloc cannot load this machine's topology");
	}
	sp_topo_abort_jump = &out;
	r = hwloc_topology_init(&hwloc) < 0 ? -ENOMEM : 0;
	if (!r) {
		r = load(hwloc, t, source, report);
		hwloc_topology_destroy(hwloc);
	}
	sp_topo_abort_jump = NULL;
	return r;
}

SP_TOPO_EXPORT int sp_topo_load(struct sp_topo *t, const char *source, char *why, size_t why_bytes)
{
	struct sp_topo_report report = { why, why_bytes };
	locale_t locale = uselocale((locale_t)0);
	int error = errno, cancel, r;

	memset(t, 0, sizeof(*t));
	sp_topo_refuse(&report, 0, "");
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	r = load_or_jump(t, source, &report);
	/* hwloc parses numbers in the C locale; a jump leaves it set */
	uselocale(locale);
	pthread_setcancelstate(cancel, NULL);
	if (r < 0) {
		sp_topo_free(t);
		if (why_bytes && !*why)
			sp_topo_refuse(&report, -r,
				       r == -ENOMEM ? "not enough memory" : "hwloc failed");
	}
	errno = error;
	return r;
}

/* ---- painting, for the command ---------------------------------------------- */

struct canvas {
	hwloc_topology_t hwloc;
	const struct sp_topo *t;
	const struct sp_topo_painter *p;
	uint32_t *by_gp;		/* components sorted by gp_index */
	hwloc_obj_t *object;		/* [component] */
};

struct painted {
	struct sp_topo_object is;
	hwloc_topology_t hwloc;
	hwloc_obj_t o;
};

static void paint_info(struct sp_topo_object *is, const char *name, const char *value)
{
	hwloc_obj_add_info(((struct painted *)is)->o, name, value);
}

static void set_subtype(hwloc_obj_t o, const char *text)
{
	size_t n = text ? strlen(text) + 1 : 0;

	free(o->subtype);
	o->subtype = n ? malloc(n) : NULL;
	if (o->subtype)
		memcpy(o->subtype, text, n);
}

static void paint_label(struct sp_topo_object *is, const char *text, const char *style)
{
	struct painted *p = (struct painted *)is;
	char type[32], subtype[128];
	hwloc_obj_t box;

	if (hwloc_obj_type_is_cache(p->o->type)) {
		hwloc_obj_type_snprintf(type, sizeof(type), p->o, 0);
		snprintf(subtype, sizeof(subtype), "%s %s", type, text);
		set_subtype(p->o, subtype);
		return;
	}
	box = hwloc_topology_insert_misc_object(p->hwloc, p->o, text);
	if (!box)
		return;
	set_subtype(box, "sspapi");
	hwloc_obj_add_info(box, "lstopoStyle", style);
}

static bool is_of_description(const struct sp_component *c, hwloc_obj_t o)
{
	return o->type == HWLOC_OBJ_PU
		       ? !strcmp(c->type, "PU") && c->os_index == (int32_t)o->os_index
		       : o->type == HWLOC_OBJ_MACHINE && !strcmp(c->type, "Machine");
}

/* Find the component of an object: by gp_index in an XML, by the CPU in the synthetic description
 * below. */
static void find_component(struct canvas *v, hwloc_obj_t o)
{
	const struct sp_component *c = v->t->component;
	uint32_t low = 0, high = v->t->n;

	for (uint32_t i = 0; !v->t->xml_bytes && i < v->t->n; i++)
		if (is_of_description(&c[i], o))
			v->object[i] = o;
	while (v->t->xml_bytes && low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (c[v->by_gp[mid]].gp_index < o->gp_index)
			low = mid + 1;
		else
			high = mid;
	}
	if (v->t->xml_bytes && low < v->t->n && c[v->by_gp[low]].gp_index == o->gp_index)
		v->object[v->by_gp[low]] = o;
}

/* Remove old infos; hwloc has no function for it before version 3. */
static void drop_old_infos(struct canvas *v, hwloc_obj_t o)
{
	unsigned n = 0;

	for (unsigned i = 0; i < o->infos_count; i++) {
		if (!v->p->is_old(v->p->arg, o->infos[i].name, o->infos[i].value)) {
			o->infos[n++] = o->infos[i];
			continue;
		}
		free(o->infos[i].name);
		free(o->infos[i].value);
	}
	o->infos_count = n;
}

/* Walk without hwloc_get_next_child, which loops for ever in hwloc 2.9 if a MemCache is a child. */
static void find_objects(struct canvas *v, hwloc_obj_t o)
{
	hwloc_obj_t first[] = { o->memory_first_child, o->first_child, o->io_first_child,
				o->misc_first_child };

	drop_old_infos(v, o);
	if (hwloc_obj_type_is_cache(o->type))
		set_subtype(o, NULL);
	find_component(v, o);
	for (size_t i = 0; i < SP_COUNT(first); i++)
		for (hwloc_obj_t k = first[i]; k; k = k->next_sibling)
			find_objects(v, k);
}

/* Insert a component that the XML lacks: a GPU, or a CPU that came online later. */
static void insert_missing(struct canvas *v, uint32_t c)
{
	const struct sp_component *is = &v->t->component[c];
	hwloc_obj_t above =
		c && v->object[is->parent] ? v->object[is->parent] : hwloc_get_root_obj(v->hwloc);
	char name[sizeof(is->type) + sizeof(is->name) + 16];

	if (is->os_index >= 0 && !*is->name)
		snprintf(name, sizeof(name), "%.*s P#%d", (int)sizeof(is->type), is->type,
			 is->os_index);
	else
		snprintf(name, sizeof(name), "%.*s %.*s", (int)sizeof(is->type), is->type,
			 (int)sizeof(is->name), is->name);
	v->object[c] = hwloc_topology_insert_misc_object(v->hwloc, above, name);
}

static int compare_gp(const void *a, const void *b, void *components)
{
	const struct sp_component *c = components;
	uint64_t x = c[*(const uint32_t *)a].gp_index, y = c[*(const uint32_t *)b].gp_index;

	return x < y ? -1 : x > y;
}

static int paint_all(struct canvas *v)
{
	struct painted p = { .is = { paint_info, paint_label }, .hwloc = v->hwloc };

	for (uint32_t c = 0; c < v->t->n; c++)
		v->by_gp[c] = c;
	qsort_r(v->by_gp, v->t->n, sizeof(*v->by_gp), compare_gp, (void *)v->t->component);
	find_objects(v, hwloc_get_root_obj(v->hwloc));
	for (uint32_t c = 0; c < v->t->n; c++) {
		if (!v->object[c])
			insert_missing(v, c);
		p.o = v->object[c];
		if (p.o)
			v->p->paint(v->p->arg, c, &p.is);
	}
	return 0;
}

/* "numa:1 pu:3(indexes=0,2,70)"; the caller frees it. */
static char *describe_cpus(const struct sp_topo *t)
{
	char *text = malloc(64 + (size_t)t->n * 7), *at = text;
	uint32_t n = 0;

	for (uint32_t c = 0; c < t->n; c++)
		n += !strcmp(t->component[c].type, "PU");
	if (!text)
		return NULL;
	at += sprintf(at, n ? "numa:1 pu:%u(indexes=" : "numa:1 pu:1", n);
	for (uint32_t c = 0; c < t->n; c++)
		if (!strcmp(t->component[c].type, "PU"))
			at += sprintf(at, "%d%s", t->component[c].os_index, --n ? "," : ")");
	return text;
}

static char *copy_text(const char *text, size_t n)
{
	char *copy = malloc(n + 1);

	if (copy) {
		memcpy(copy, text, n);
		copy[n] = 0;
	}
	return copy;
}

static int set_stored(hwloc_topology_t hwloc, const struct sp_topo *t)
{
	const struct sp_topo_report nobody = { NULL, 0 };
	char *text = t->xml_bytes ? copy_text(t->xml, t->xml_bytes) : describe_cpus(t);
	int r;

	if (!text)
		return -ENOMEM;
	r = t->xml_bytes ? sp_topo_check_xml(text, SP_TOPO_COMPONENTS, &nobody) : 0;
	if (!r)
		r = t->xml_bytes ? hwloc_topology_set_xmlbuffer(hwloc, text, (int)t->xml_bytes + 1)
				 : hwloc_topology_set_synthetic(hwloc, text);
	free(text);
	return r == -1 ? -EINVAL : r;
}

static int write_xml(hwloc_topology_t hwloc, int fd)
{
	char *xml;
	int bytes, r;

	if (hwloc_topology_export_xmlbuffer(hwloc, &xml, &bytes, 0) < 0)
		return -EIO;
	r = sp_write_all(fd, xml, (size_t)bytes - 1);
	hwloc_free_xmlbuffer(hwloc, xml);
	return r;
}

SP_TOPO_EXPORT int sp_topo_paint(const struct sp_topo *t, const struct sp_topo_painter *p, int fd)
{
	struct canvas v = { .t = t,
			    .p = p,
			    .by_gp = calloc(t->n + 1, sizeof(*v.by_gp)),
			    .object = calloc(t->n + 1, sizeof(hwloc_obj_t)) };
	int r = !v.by_gp || !v.object || hwloc_topology_init(&v.hwloc) < 0 ? -ENOMEM : 0;

	if (!r)
		r = set_stored(v.hwloc, t);
	if (!r) {
		hwloc_topology_set_flags(v.hwloc, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
		hwloc_topology_set_all_types_filter(v.hwloc, HWLOC_TYPE_FILTER_KEEP_ALL);
		r = hwloc_topology_load(v.hwloc) < 0 ? -EINVAL : paint_all(&v);
	}
	if (!r)
		r = write_xml(v.hwloc, fd);
	if (v.hwloc)
		hwloc_topology_destroy(v.hwloc);
	free(v.by_gp);
	free(v.object);
	return r;
}
