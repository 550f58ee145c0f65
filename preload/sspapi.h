/* sspapi.h: what a program that wants to ask while it runs may call.
 *
 * Link with -lsspapi, or run under LD_PRELOAD=libsspapi.so: the same library and the same store.
 * Functions that return int return PAPI's error codes, if nothing else is said.  Those that return
 * a number give 0 where there is none; for wrong arguments, too, with errno EINVAL.  All are
 * thread-safe; none needs a thread to be bound to a CPU.  Beside sspapi_snapshot none is
 * async-signal-safe.  The man pages say more: sspapi_start(3), sspapi_get_metric(3),
 * sspapi_topology(3), sspapi_snapshot(3).
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

struct sspapi_metric {			/* an entry of an event on a CPU */
	uint64_t timestamp;		/* ns since the epoch; of the reading, no two of a relation
					 * alike */
	long long value;
	bool permanent;
};

struct sspapi_cpu_metrics {
	int cpu;
	size_t n;
	const struct sspapi_metric *entries;	/* oldest first */
};

/* ---- the machine ------------------------------------------------------------ */

/* The component tree of an hwloc XML file (NULL: of this machine): its root, which stays
 * for ever; the same for the same file.  NULL on error, errno set. */
sspapi_component *sspapi_topology(const char *xml);

/* The PU of this number (the system's) at or below root; NULL: there is none. */
sspapi_component *sspapi_find_cpu(sspapi_component *root, int cpu);

/* Walking it: NULL where there is none, and for wrong arguments with errno EINVAL.  Types are named
 * as hwloc writes them, in any case: Machine, Package, NUMANode, L3, Core, PU. */
sspapi_component *sspapi_parent(const sspapi_component *c);
/* n: room in, number out */
int sspapi_children(const sspapi_component *c, sspapi_component **list, int *n);

/* The nearest of this type at or above c; a NUMANode hangs beside what it is the memory of. */
sspapi_component *sspapi_ancestor(const sspapi_component *c, const char *type);

/* The first of this type and the system's number at or below root. */
sspapi_component *sspapi_find(const sspapi_component *root, const char *type, int os_index);

struct sspapi_info {
	const char *type, *name;	/* they stay; name is for people and may be "" */
	int logical_index, os_index;	/* os_index -1: the system gives it none */
	uint64_t size;			/* bytes of a cache or memory; else 0 */
};
int sspapi_component_info(const sspapi_component *c, struct sspapi_info *info);

/* All that the process counted of the event at and below a component, whatever thread, set and
 * relation; what a dump would say now.  Some ms. */
long long sspapi_subtree_total(const sspapi_component *component, int event);
long long sspapi_subtree_exact(const sspapi_component *component, int event);

/* ---- counting ------------------------------------------------------------------ */

/* Starts the event set.  *rel NULL: in a new relation; else in this one.  On error the set does
 * not run and *rel is as it was.  Until sspapi_stop, PAPI's own calls on the set go to
 * the totals of this relation only. */
int sspapi_start(int event_set, sspapi_relation **rel);
int sspapi_reset(sspapi_relation *rel);

/* A reading of the set that was started last, entered by sys-sage's rules for the CPU
 * that it was counted on.  root NULL: any CPU; else one that the tree lacks makes no entry
 * and gives PAPI_EINVAL, but its counts are booked.  timestamp (or NULL): when it was. */
int sspapi_read(sspapi_relation *rel, sspapi_component *root, bool permanent, uint64_t *timestamp);
int sspapi_accum(sspapi_relation *rel, sspapi_component *root, bool permanent, uint64_t *timestamp);
int sspapi_stop(sspapi_relation *rel, sspapi_component *root, bool permanent, uint64_t *timestamp);

/* The same of one of the sets that were started on it, whichever that was last. */
int sspapi_reset_set(sspapi_relation *rel, int event_set);
int sspapi_read_set(sspapi_relation *rel, int event_set, sspapi_component *root, bool permanent,
		    uint64_t *timestamp);
int sspapi_accum_set(sspapi_relation *rel, int event_set, sspapi_component *root, bool permanent,
		     uint64_t *timestamp);
int sspapi_stop_set(sspapi_relation *rel, int event_set, sspapi_component *root, bool permanent,
		    uint64_t *timestamp);

/* The program does not need it any more; what was counted stays in the dump. */
void sspapi_free(sspapi_relation *rel);

/* ---- asking a relation ------------------------------------------------------------ */

/* Events by PAPI's codes.  cpu -1: all.  timestamp 0: the latest reading. */
long long sspapi_get_metric(const sspapi_relation *rel, int event, int cpu, uint64_t timestamp);

/* A copy that stays until the calling thread's next call. */
int sspapi_get_all_metrics(const sspapi_relation *rel, int event, int cpu,
			   struct sspapi_cpu_metrics *out);

/* Lists: *n is the room, then how many there are, of which those that fit were written. */
int sspapi_find_events(const sspapi_relation *rel, int *codes, int *n);
int sspapi_find_cpus(const sspapi_relation *rel, int *cpus, int *n);

void sspapi_print_metrics(const sspapi_relation *rel, int cpu, FILE *out);
int sspapi_current_event_set(const sspapi_relation *rel);

/* ns from the relation's first start to the reading. */
uint64_t sspapi_elapsed_time(const sspapi_relation *rel, uint64_t timestamp);

/* The CPU of the last reading; -1: none. */
int sspapi_latest_cpu(const sspapi_relation *rel);

/* The totals, which lose nothing: all that PAPI handed out; and what of it is proven to have been
 * counted on that CPU. */
long long sspapi_total(const sspapi_relation *rel, int event, int cpu);
long long sspapi_exact(const sspapi_relation *rel, int event, int cpu);

/* All relations of the process, those of plain PAPI calls, too. */
int sspapi_relations(sspapi_relation **rels, int *n);

/* ---- asking a component ------------------------------------------------------------- */

/* On a PU: of the relations with this event set (-1, PAPI_NULL: any) that have entries there. */
long long sspapi_cpu_get_metric(const sspapi_component *cpu, int event, int event_set,
				uint64_t timestamp);
void sspapi_cpu_print_metrics(const sspapi_component *cpu, int event_set, FILE *out);
sspapi_relation *sspapi_cpu_get_relation(const sspapi_component *cpu, int event_set);
int sspapi_cpu_find_relations(const sspapi_component *cpu, sspapi_relation **rels, int *n);
int sspapi_cpu_find_event_sets(const sspapi_component *cpu, int *sets, int *n);

/* On any component: of all PUs at and below it. */
void sspapi_subtree_print_metrics(const sspapi_component *component, int event_set, FILE *out);
int sspapi_subtree_find_relations(const sspapi_component *component, sspapi_relation **rels,
				  int *n);

/* ---- the dump ------------------------------------------------------------------------- */

/* Writes a dump of what was counted so far, and counting goes on.
 *
 * path: the file's name, as it is (no template); NULL: the name that the dump at the
 * end will have, which then replaces it.  format: "text", "json", "csv" or
 * "store"; NULL: by path's extension, else text.
 *
 * PAPI_OK; PAPI_EINVAL: no such format; PAPI_ENOINIT: nothing was counted in this
 * process, or sspapi is disabled; PAPI_ESYS: not written, errno says why.
 * Thread-safe; async-signal-safe.
 */
int sspapi_snapshot(const char *path, const char *format);

#ifdef __cplusplus
}
#endif

#endif
