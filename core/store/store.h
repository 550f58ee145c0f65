/* store.h: what a store holds, and how things get into it.
 *
 * One store a process, all state in struct sp_store.  Everything here but the
 * reading functions is called with store->lock held (sp_lock_take), seldom, and
 * never between a start and its stop on the thread that counts.  Functions that
 * make something return NULL or 0 where there is no memory; the store then says
 * so (dropped_relations) and the application runs on.
 */
#ifndef SP_STORE_H
#define SP_STORE_H

#include "gauge.h"
#include "store-reader.h"
#include "overflow.h"
#include "../base/lock.h"
#include "region.h"

#define SP_NOTES_MAX	64u

/* What a search for a relation of this thread and key has seen: from `head` to `upto` all were
 * bound.  It holds until a set lets one go. */
#define SP_RELATION_LOOKUPS 64u

struct sp_relation_lookup {
	sp_off thread, head, upto;
	uint64_t key;
	uint32_t releases;
};

/* Blocks that a call between a start and its stop can take. */
#define SP_READY	16u
#define SP_READY_BYTES	SP_CELLS_BYTES

struct sp_store {
	struct sp_region region;
	struct sp_store_reader reader;		/* of the region, for the model */
	struct sp_header *header;	/* NULL: no store */
	struct sp_lock lock;
	uint32_t cells;			/* of each relation: CPUs + SP_CELLS_EXTRA */
	uint32_t n_unfolded;			/* relations that are not tid 0's */
	uint32_t dumping;		/* somebody reads the lists */
	sp_off folded;			/* the thread with tid 0 */
	bool in_file;			/* there is a relation in the live file */
	uint32_t notes_made;
	uint32_t releases;		/* sp_store_released, so far */
	sp_off ready[SP_READY];		/* empty blocks for sp_store_make_now; 0: taken */
	sp_off released[SP_RELATION_LOOKUPS];	/* the last one, by thread */
	struct sp_relation_lookup lookups[SP_RELATION_LOOKUPS];
};

/* In private memory, or in a live file (live.h).  0 or -errno. */
int sp_store_open(struct sp_store *s);
int sp_store_open_file(struct sp_store *s, const char *path);

/* The header is filled in: from now on the file is a store.  (A process that is killed
 * before leaves a file without magic, which nobody takes for one.) */
void sp_store_begin(struct sp_store *s);
void sp_store_close(struct sp_store *s);

sp_off sp_store_text(struct sp_store *s, const char *text);
sp_off sp_store_texts(struct sp_store *s, uint32_t n, const char *const *texts);

/* One line for the dump's notes; the same text only once. */
void sp_store_note(struct sp_store *s, const char *text);

/* Relations made from now on have a cell of their own for that many CPUs, numbered 0..;
 * never less than before. */
void sp_store_cpus(struct sp_store *s, uint32_t n_cpus);

/* Keeps a copy; its CPUs get cells. */
int sp_store_topology(struct sp_store *s, const struct sp_component *c, uint32_t n, uint32_t n_cpus,
		      const char *source, const char *xml, uint64_t xml_bytes);

struct sp_event_text {			/* all may be NULL */
	const char *name, *component, *derived, *postfix, *units, *description;
	uint32_t n_natives;
	const char *const *natives;
	uint32_t code;
	uint8_t data_type, kind, scope, place;
	int32_t place_id;
};

/* The event's id, or -ENOMEM. */
long sp_store_event(struct sp_store *s, const struct sp_event_text *e);

/* The same in another mode, of another name; and another name for one that is there. */
long sp_store_copy_event(struct sp_store *s, uint32_t id, const char *name);
void sp_store_rename_event(struct sp_store *s, uint32_t id, const char *name);
/* "": it is not there */
const char *sp_store_get_event_name(const struct sp_store *s, uint32_t id);
/* known once it was opened */
void sp_store_set_event_pmu(struct sp_store *s, uint32_t id, const char *pmu);

/* What kinds of values the relation's events have, [k] enum sp_values; false: all are counts. */
bool sp_store_kinds(const struct sp_store *s, const struct sp_relation *r, uint8_t *kinds);

struct sp_thread *sp_store_thread(struct sp_store *s, int tid, const char *name, sp_off *off);

/* The newest thread with this tid; else a new one, with the name that is known of a thread that a
 * set was attached to. NULL: no memory. */
struct sp_thread *sp_store_find_thread(struct sp_store *s, int tid, sp_off *off);

struct sp_relation_key {
	int event_set;
	uint32_t k;
	const uint32_t *event;
	enum sp_target target;
	int target_id;
	enum sp_scope scope;
	uint32_t domain;		/* PAPI_DOM_*: user, kernel ... of one event are other
					 * counts */
	uint32_t flags;
	/* These follow from `event`: its gauges; and what kinds of values it has, [k] enum
	 * sp_values, NULL: all are counts. */
	uint32_t n_gauges;
	const struct sp_gauge_kind *gauge;
	const uint8_t *kinds;
};

/* A relation that no run was booked in becomes that of another key, with as many events.  False: it
 * cannot, or it is another thread's, or there is one of that key.  Under the store's lock, by the
 * thread that started it. */
bool sp_store_rekey_relation(struct sp_store *s, sp_off relation, sp_off thread,
			       const struct sp_relation_key *key);

/* A relation of this thread with the same events, target and scope that no live
 * set is bound to (`is_bound` says which are), else a new one. */
struct sp_relation *sp_store_relation(struct sp_store *s, sp_off thread,
				      const struct sp_relation_key *key,
				      bool (*is_bound)(sp_off relation, void *arg), void *arg,
				      sp_off *off);

/* `is_bound` is false from now on of a relation of which it was true.  Without the lock. */
void sp_store_released(struct sp_store *s, sp_off relation);

/* How its counts are told to CPUs, and why not better.  What stays is the least certain of all that
 * it was told, with the first reason for that. */
void sp_relation_set_attribution(struct sp_relation *r, enum sp_attribution how, enum sp_why why);

/* Notes that counts were attributed to this CPU, plus 1, because another one was not watched; 0:
 * none were. */
void sp_times_unwatched(struct sp_times *t, uint32_t cpu);
void sp_relation_copy_attribution(struct sp_relation *r, const struct sp_relation *other);

/* SP_SITES_EACH more sites, of up to so many frames each. */
struct sp_sites *sp_store_sites(struct sp_store *s, uint32_t frames);

/* A module of which nothing is known yet but its number; *path: its path, empty, with room
 * for so many bytes. */
struct sp_module *sp_store_module(struct sp_store *s, uint32_t room, struct sp_string **path);

/* Who a set was attached to, with name and args still to be filled in; the newest of its tid, if
 * that is the same thread.  NULL: no memory. */
struct sp_watched *sp_store_watched(struct sp_store *s, int tid, uint64_t start_ticks);

/* The gauges of r, which has n, and how many cells of them; NULL: not as they should be. */
struct sp_gauge *sp_store_gauges(const struct sp_store *s, const struct sp_relation *r, uint32_t n,
				 uint32_t *cells);

/* Where the calls of r's overflow handlers are counted; block NULL: no memory. */
struct sp_overflow_writer sp_store_overflows(struct sp_store *s, struct sp_relation *r);

/* ---- for who makes and drops blocks elsewhere: readings.c, fold.c ------------- */

void *sp_store_make(struct sp_store *s, uint32_t kind, uint64_t bytes, sp_off *off);

/* The same without the lock, between a start and its stop: a block that is ready (up to
 * SP_READY_BYTES), else one that is made if nobody holds the lock.  NULL: neither. */
void *sp_store_make_now(struct sp_store *s, uint32_t kind, uint64_t bytes, sp_off *off);

/* Without making one, if more than `least` are ready; *left: how many are left. */
void *sp_store_take_ready(struct sp_store *s, uint32_t kind, uint32_t least, sp_off *off,
			  uint32_t *left);

/* The store of its own image; NULL: the image is another's. */
struct sp_store *sp_store_of(const struct sp_store_reader *reader);

/* Cells of a new block, the first of which is number `first` of r's. */
void sp_cells_begin(struct sp_block *b, const struct sp_layout *l, uint32_t cells, uint32_t first);

/* A block becomes the head of its list.  When it is the first that is not in the file
 * any more, the head before it stays known to who reads the file. */
void sp_store_push(struct sp_store *s, sp_off *head, sp_off *kept, sp_off *next, sp_off off);

/* The store's bytes may be a file that somebody scribbles on: a list is followed for
 * no more links than there can be blocks. */
uint64_t sp_store_most_blocks(const struct sp_store *s);

/* The block at off, or NULL; of gauges, with their bytes. */
struct sp_thread *sp_store_thread_at(struct sp_store *s, sp_off off);
struct sp_relation *sp_store_relation_at(struct sp_store *s, sp_off off);
struct sp_gauges *sp_store_gauges_at(const struct sp_store *s, sp_off off, uint64_t *bytes);

/* Relations that differ in one of these are told from each other. */
#define SP_RELATION_KEY_FLAGS \
	(SP_RELATION_PROVEN | SP_RELATION_ESTIMATED | SP_RELATION_API | SP_RELATION_OTHER_STARTER)

/* One of t's with this key, bound or not; and a new one. */
struct sp_relation *sp_store_relation_like(struct sp_store *s, const struct sp_thread *t,
					   const struct sp_relation_key *key, sp_off *off);
struct sp_relation *sp_store_new_relation(struct sp_store *s, sp_off thread,
					  const struct sp_relation_key *key, sp_off *off);

/* Of a relation of this store, whose block has room for them. */
struct sp_times *sp_relation_times(const struct sp_relation *r);

#endif
