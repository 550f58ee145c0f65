/* sspapi.h: functions for a program that counts into relations, and queries counts while it runs.
 *
 * Link with -lsspapi, or run under LD_PRELOAD=libsspapi.so: both are the same library with the same
 * store. Unless stated otherwise, functions that return int return PAPI's error codes. Functions
 * that return a number return 0 if it does not exist, and 0 with errno EINVAL for invalid
 * arguments. All functions are thread-safe and need no pinned thread. Only sspapi_snapshot is
 * async-signal-safe. The rules are in the manual pages sspapi_start(3), sspapi_get_metric(3),
 * sspapi_topology(3) and sspapi_snapshot(3).
 */
#ifndef SSPAPI_H
#define SSPAPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sspapi_relation sspapi_relation;
typedef struct sspapi_component sspapi_component;

struct sspapi_metric {			/* entry of an event on a CPU */
	/* of the reading, in ns since the epoch; unique in the relation */
	uint64_t timestamp;
	long long value;
	bool permanent;
};

struct sspapi_cpu_metrics {
	int cpu;
	size_t n;
	const struct sspapi_metric *entries;	/* oldest first */
};

/* ---- the machine ------------------------------------------------------------ */

/* Return the root of the component tree of an hwloc XML file (NULL: of this machine). The library
 * owns the tree and never frees it; the same file has the same tree. NULL with errno on error. */
sspapi_component *sspapi_topology(const char *xml);

/* The PU with this OS index at or below root, or NULL. */
sspapi_component *sspapi_find_cpu(sspapi_component *root, int cpu);

/* Walk the tree. Functions return NULL if there is no such component, and NULL with errno EINVAL
 * for invalid arguments. Types have hwloc's names, in any case: Machine, Package, NUMANode, L3,
 * Core, PU. */
sspapi_component *sspapi_parent(const sspapi_component *c);
/* *n: entries of `list`, then the number of children; those that fit are stored. */
int sspapi_children(const sspapi_component *c, sspapi_component **list, int *n);

/* The nearest component of this type at or above c; a NUMANode is that of c's nearest ancestor with
 * one. */
sspapi_component *sspapi_ancestor(const sspapi_component *c, const char *type);

/* The first component of this type and OS index at or below root. */
sspapi_component *sspapi_find(const sspapi_component *root, const char *type, int os_index);

struct sspapi_info {
	/* owned by the library, never freed; name is for people and may be "" */
	const char *type, *name;
	int logical_index, os_index;	/* os_index -1: none */
	uint64_t size;			/* bytes of a cache or memory; else 0 */
};
int sspapi_component_info(const sspapi_component *c, struct sspapi_info *info);

/* Sum the counts of the event at and below a component, over all threads, sets and relations of the
 * process. The value is that of a dump made now; sspapi_subtree_exact returns the proven part. Each
 * call takes some ms. */
long long sspapi_subtree_total(const sspapi_component *component, int event);
long long sspapi_subtree_exact(const sspapi_component *component, int event);

/* ---- counting ------------------------------------------------------------------ */

/* Start the event set, in a new relation if *rel is NULL, else in *rel. After an error the set does
 * not run and *rel is unchanged. Until sspapi_stop PAPI's own calls on the set change only the
 * totals of this relation. The program frees the relation with sspapi_free.
 *
 * PAPI_OK; PAPI_EINVAL: invalid relation, or one that sspapi made, or a set without events;
 * PAPI_EISRUN; PAPI_ENOMEM; PAPI_ENOSUPP: the set cannot be attributed; PAPI_ENOINIT: no libpapi,
 * or sspapi is disabled; or PAPI_start's error.
 */
int sspapi_start(int event_set, sspapi_relation **rel);
int sspapi_reset(sspapi_relation *rel);

/* Read the set that was started last, and make an entry for the CPU that counted, by sys-sage's
 * rules (sspapi_start(3)). permanent: the entry is never replaced. root: NULL for any CPU; else a
 * CPU that is not in the tree gets no entry and the result is PAPI_EINVAL, but its counts are in
 * the totals. timestamp: NULL, or receives the time of the reading. PAPI_ENOEVST: the set was
 * destroyed or has other events now. */
int sspapi_read(sspapi_relation *rel, sspapi_component *root, bool permanent, uint64_t *timestamp);
int sspapi_accum(sspapi_relation *rel, sspapi_component *root, bool permanent, uint64_t *timestamp);
int sspapi_stop(sspapi_relation *rel, sspapi_component *root, bool permanent, uint64_t *timestamp);

/* The same for any set that was started in the relation. */
int sspapi_reset_set(sspapi_relation *rel, int event_set);
int sspapi_read_set(sspapi_relation *rel, int event_set, sspapi_component *root, bool permanent,
		    uint64_t *timestamp);
int sspapi_accum_set(sspapi_relation *rel, int event_set, sspapi_component *root, bool permanent,
		     uint64_t *timestamp);
int sspapi_stop_set(sspapi_relation *rel, int event_set, sspapi_component *root, bool permanent,
		    uint64_t *timestamp);

/* Free the handle. The counts stay in the dump, and the set continues to run. */
void sspapi_free(sspapi_relation *rel);

/* ---- query a relation ----------------------------------------------------------- */

/* The entry of an event (PAPI's code) on a CPU (OS index; -1: all) of the reading at timestamp (0:
 * the latest). Values of a floating-point event are the bits of a double, as in PAPI. */
long long sspapi_get_metric(const sspapi_relation *rel, int event, int cpu, uint64_t timestamp);

/* Copy all entries; the library owns the copy, which is valid until the calling thread's next call.
 * PAPI_ENOEVNT: the relation lacks the event; PAPI_ENOMEM. */
int sspapi_get_all_metrics(const sspapi_relation *rel, int event, int cpu,
			   struct sspapi_cpu_metrics *out);

/* List events or CPUs. *n: entries of the array, then the number found; those that fit are
 * stored. */
int sspapi_find_events(const sspapi_relation *rel, int *codes, int *n);
int sspapi_find_cpus(const sspapi_relation *rel, int *cpus, int *n);

void sspapi_print_metrics(const sspapi_relation *rel, int cpu, FILE *out);
int sspapi_current_event_set(const sspapi_relation *rel);

/* ns from the relation's first start to the reading (0: the latest). */
uint64_t sspapi_elapsed_time(const sspapi_relation *rel, uint64_t timestamp);

/* The CPU of the last reading, or -1. */
int sspapi_latest_cpu(const sspapi_relation *rel);

/* The total of all counts that PAPI returned, unaffected by resets and restarts. sspapi_exact
 * returns the part that is proven to be of that CPU. */
long long sspapi_total(const sspapi_relation *rel, int event, int cpu);
long long sspapi_exact(const sspapi_relation *rel, int event, int cpu);

/* List all relations of the process, including those of plain PAPI calls. */
int sspapi_relations(sspapi_relation **rels, int *n);

/* ---- query a component -------------------------------------------------------------- */

/* For a PU: query the relations with this event set (-1, PAPI_NULL: any) that have entries on
 * it. */
long long sspapi_cpu_get_metric(const sspapi_component *cpu, int event, int event_set,
				uint64_t timestamp);
void sspapi_cpu_print_metrics(const sspapi_component *cpu, int event_set, FILE *out);
sspapi_relation *sspapi_cpu_get_relation(const sspapi_component *cpu, int event_set);
int sspapi_cpu_find_relations(const sspapi_component *cpu, sspapi_relation **rels, int *n);
int sspapi_cpu_find_event_sets(const sspapi_component *cpu, int *sets, int *n);

/* For any component: the same for all PUs at and below it. */
void sspapi_subtree_print_metrics(const sspapi_component *component, int event_set, FILE *out);
int sspapi_subtree_find_relations(const sspapi_component *component, sspapi_relation **rels,
				  int *n);

/* ---- the dump ------------------------------------------------------------------------- */

/* Write a dump of the counts so far, while counting continues.
 *
 * path: name of the file, not a template. NULL: the name of the dump at the exit, which later
 * replaces this one. format: "text", "json", "csv" or "store"; NULL: by the extension of path, else
 * text.
 *
 * PAPI_OK; PAPI_EINVAL: no such format; PAPI_ENOINIT: the process counted nothing, or sspapi is
 * disabled; PAPI_ESYS: not written, the reason is in errno. Thread-safe and async-signal-safe.
 */
int sspapi_snapshot(const char *path, const char *format);

#ifdef __cplusplus
}
#endif

#endif
