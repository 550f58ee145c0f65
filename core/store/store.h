/* store.h: the store of a process, and functions that add to it.
 *
 * Everything except the reading functions needs store->lock (sp_lock_take). These calls are
 * rare, and never between a start and its stop in the counting thread. Functions that make
 * something return NULL or 0 if there is no memory. Then the store notes it (dropped_relations),
 * and the application continues.
 */
#ifndef SP_STORE_H
#define SP_STORE_H

#include "gauge.h"
#include "store-reader.h"
#include "overflow.h"
#include "../base/lock.h"
#include "region.h"

#define SP_NOTES_MAX	64u

/* Result of the last search for a relation of this thread and key: from `head` to `upto` all
 * were bound. Valid until a set releases one. */
#define SP_RELATION_LOOKUPS 64u

struct sp_relation_lookup {
	sp_off thread, head, upto;
	uint64_t key;
	uint32_t releases;
};

/* Blocks that are ready for calls between a start and its stop. */
#define SP_READY	16u
#define SP_READY_BYTES	SP_CELLS_BYTES

struct sp_store {
	struct sp_region region;
	struct sp_store_reader reader;		/* of the region, for the model */
	struct sp_header *header;	/* NULL: no store */
	struct sp_lock lock;
	uint32_t cells;			/* per relation: CPUs + SP_CELLS_EXTRA */
	uint32_t n_unfolded;			/* relations not in tid 0 */
	uint32_t dumping;		/* a dump is reading the lists */
	sp_off folded;			/* thread with tid 0 */
	bool in_file;			/* the live file has a relation */
	uint32_t notes_made;
	uint32_t releases;		/* calls of sp_store_released */
	sp_off ready[SP_READY];		/* empty blocks for sp_store_make_now; 0: taken */
	sp_off released[SP_RELATION_LOOKUPS];	/* last one of each thread */
	struct sp_relation_lookup lookups[SP_RELATION_LOOKUPS];
};

/* Opens the store in private memory, or in a live file (live.h). 0 or -errno. */
int sp_store_open(struct sp_store *s);
int sp_store_open_file(struct sp_store *s, const char *path);

/* Completes the header, so that the file is a store. A process killed before this leaves a file
 * without magic. */
void sp_store_begin(struct sp_store *s);
void sp_store_close(struct sp_store *s);

sp_off sp_store_text(struct sp_store *s, const char *text);
sp_off sp_store_texts(struct sp_store *s, uint32_t n, const char *const *texts);

/* Adds a line to the dump's notes, unless it is there. */
void sp_store_note(struct sp_store *s, const char *text);

/* Relations made from now on have own cells for CPUs 0 to n_cpus - 1. The number never falls. */
void sp_store_cpus(struct sp_store *s, uint32_t n_cpus);

/* Adds the topology and gives its CPUs cells. */
int sp_store_topology(struct sp_store *s, const struct sp_component *c, uint32_t n, uint32_t n_cpus,
		      const char *source, const char *xml, uint64_t xml_bytes);

struct sp_event_text {			/* any may be NULL */
	const char *name, *component, *derived, *postfix, *units, *description;
	uint32_t n_natives;
	const char *const *natives;
	uint32_t code;
	uint8_t data_type, kind, scope, place;
	int32_t place_id;
};

/* Returns the event's id, or -ENOMEM. */
long sp_store_event(struct sp_store *s, const struct sp_event_text *e);

/* Adds event `id` in another mode, with that name; and renames an event. */
long sp_store_copy_event(struct sp_store *s, uint32_t id, const char *name);
void sp_store_rename_event(struct sp_store *s, uint32_t id, const char *name);
/* Returns "" for an unknown id. */
const char *sp_store_get_event_name(const struct sp_store *s, uint32_t id);
/* Sets the PMU, which is known once the event has been opened. */
void sp_store_set_event_pmu(struct sp_store *s, uint32_t id, const char *pmu);

/* Sets [k] enum sp_values of the relation's events; false: all are counts. */
bool sp_store_kinds(const struct sp_store *s, const struct sp_relation *r, uint8_t *kinds);

struct sp_thread *sp_store_thread(struct sp_store *s, int tid, const char *name, sp_off *off);

/* Returns the newest thread with this tid, or makes one, with a known name if a set was attached
 * to it. NULL: no memory. */
struct sp_thread *sp_store_find_thread(struct sp_store *s, int tid, sp_off *off);

struct sp_relation_key {
	int event_set;
	uint32_t k;
	const uint32_t *event;
	enum sp_target target;
	int target_id;
	enum sp_scope scope;
	uint32_t domain;		/* PAPI_DOM_*: modes of one event are different counts */
	uint32_t flags;
	/* Derived from `event`: its gauges, and [k] enum sp_values; NULL: all are counts. */
	uint32_t n_gauges;
	const struct sp_gauge_kind *gauge;
	const uint8_t *kinds;
};

/* Gives a relation that has no records another key with as many events. False: impossible, or it
 * is another thread's, or the key exists. Needs the store's lock; call it in the thread that
 * started the relation. */
bool sp_store_rekey_relation(struct sp_store *s, sp_off relation, sp_off thread,
			       const struct sp_relation_key *key);

/* Returns a relation of this thread with the same events, target and scope to which no live set
 * is bound (`is_bound`), or a new one. */
struct sp_relation *sp_store_relation(struct sp_store *s, sp_off thread,
				      const struct sp_relation_key *key,
				      bool (*is_bound)(sp_off relation, void *arg), void *arg,
				      sp_off *off);

/* Reports that `is_bound` has become false for a relation. Without the lock. */
void sp_store_released(struct sp_store *s, sp_off relation);

/* Adds how counts were attributed, and why not better. Keeps the least certain way, with its
 * first reason. */
void sp_relation_set_attribution(struct sp_relation *r, enum sp_attribution how, enum sp_why why);

/* Notes the CPU, plus 1, to which counts were attributed because another was not watched; 0:
 * none. */
void sp_times_unwatched(struct sp_times *t, uint32_t cpu);
void sp_relation_copy_attribution(struct sp_relation *r, const struct sp_relation *other);

/* Makes room for SP_SITES_EACH sites of up to `frames` frames. */
struct sp_sites *sp_store_sites(struct sp_store *s, uint32_t frames);

/* Makes a module with only a number; *path: its path, empty, with room for `room` bytes. */
struct sp_module *sp_store_module(struct sp_store *s, uint32_t room, struct sp_string **path);

/* Returns the newest watched thread with tid and start_ticks, or makes one, whose name and args
 * the caller fills in. NULL: no memory. */
struct sp_watched *sp_store_watched(struct sp_store *s, int tid, uint64_t start_ticks);

/* Returns r's n gauges and their number of cells; NULL: damaged. */
struct sp_gauge *sp_store_gauges(const struct sp_store *s, const struct sp_relation *r, uint32_t n,
				 uint32_t *cells);

/* Returns a writer for the calls of r's overflow handlers; block NULL: no memory. */
struct sp_overflow_writer sp_store_overflows(struct sp_store *s, struct sp_relation *r);

/* ---- for readings.c and fold.c ------------------------------------------ */

void *sp_store_make(struct sp_store *s, uint32_t kind, uint64_t bytes, sp_off *off);

/* Makes a block without the lock, between a start and its stop: takes a ready block (up to
 * SP_READY_BYTES), or makes one if the lock is free. NULL: neither. */
void *sp_store_make_now(struct sp_store *s, uint32_t kind, uint64_t bytes, sp_off *off);

/* Takes a ready block if more than `least` are ready; *left: how many remain. */
void *sp_store_take_ready(struct sp_store *s, uint32_t kind, uint32_t least, sp_off *off,
			  uint32_t *left);

/* Returns the store of this reader; NULL: it reads another one. */
struct sp_store *sp_store_of_reader(const struct sp_store_reader *reader);

/* Begins a block of cells; `first` is the number in r of its first cell. */
void sp_cells_begin(struct sp_block *b, const struct sp_layout *l, uint32_t cells, uint32_t first);

/* Makes the block the head of its list. If it is the first that is not in the file, *kept saves
 * the previous head for readers of the file. */
void sp_store_push(struct sp_store *s, sp_off *head, sp_off *kept, sp_off *next, sp_off off);

/* Limit for following a list, since anyone may write to the file: more blocks cannot exist. */
uint64_t sp_store_most_blocks(const struct sp_store *s);

/* Return the block at off, or NULL; for gauges also its bytes. */
struct sp_thread *sp_store_thread_at(struct sp_store *s, sp_off off);
struct sp_relation *sp_store_relation_at(struct sp_store *s, sp_off off);
struct sp_gauges *sp_store_gauges_at(const struct sp_store *s, sp_off off, uint64_t *bytes);

/* Flags that are part of a relation's key. */
#define SP_RELATION_KEY_FLAGS \
	(SP_RELATION_PROVEN | SP_RELATION_ESTIMATED | SP_RELATION_API | SP_RELATION_OTHER_STARTER)

/* Finds a relation of t with this key, bound or not; and makes one. */
struct sp_relation *sp_store_find_relation(struct sp_store *s, const struct sp_thread *t,
					   const struct sp_relation_key *key, sp_off *off);
struct sp_relation *sp_store_new_relation(struct sp_store *s, sp_off thread,
					  const struct sp_relation_key *key, sp_off *off);

/* Returns the times of a relation of this store, whose block has room for them. */
struct sp_times *sp_relation_times(const struct sp_relation *r);

#endif
