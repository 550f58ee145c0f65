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
#include "image.h"
#include "overflow.h"
#include "../lock.h"
#include "region.h"

#define SP_FOLD_ABOVE	4096u	/* relations of ended threads kept apart (contract section 4) */
#define SP_FOLD_AT_ONCE	16u	/* by one call: whoever makes a thread waits for it */
#define SP_NOTES_MAX	64u

/* What a search for a relation of this thread and key has seen: from `head` to `upto` all were
 * bound.  It holds until a set lets one go. */
#define SP_SOUGHT 64u

struct sp_sought {
	sp_off thread, head, upto;
	uint64_t key;
	uint32_t releases;
};

struct sp_store {
	struct sp_region region;
	struct sp_image image;		/* of the region, for the model */
	struct sp_header *header;	/* NULL: no store */
	struct sp_lock lock;
	uint32_t cells;			/* of each relation: CPUs + SP_CELLS_EXTRA */
	uint32_t apart;			/* relations that are not tid 0's */
	uint32_t dumping;		/* somebody reads the lists */
	sp_off folded;			/* the thread with tid 0 */
	uint32_t notes_made;
	uint32_t releases;		/* sp_store_released, so far */
	sp_off released[SP_SOUGHT];	/* the last one, by thread */
	struct sp_sought sought[SP_SOUGHT];
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
		      const char *source, const char *xml, uint64_t xml_bytes,
		      const struct sp_cpu_kind *kind, uint32_t n_kinds);

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

struct sp_thread *sp_store_thread(struct sp_store *s, int tid, const char *name, sp_off *off);

struct sp_relation_key {
	int event_set;
	uint32_t k;
	const uint32_t *event;
	enum sp_target target;
	int target_id;
	enum sp_scope scope;
	uint32_t domain;		/* PAPI_DOM_*: user, kernel ... of one event are other counts */
	uint32_t flags;
	uint32_t n_gauges;		/* events that are no plain counters; they follow from `event` */
	const struct sp_gauge_kind *gauge;
};

/* A relation of this thread with the same events, target and scope that no live
 * set is bound to (`bound` says which are), else a new one. */
struct sp_relation *sp_store_relation(struct sp_store *s, sp_off thread, const struct sp_relation_key *key,
				      bool (*bound)(sp_off relation, void *arg), void *arg, sp_off *off);

/* `bound` is false from now on of a relation of which it was true.  Without the lock. */
void sp_store_released(struct sp_store *s, sp_off relation);

/* A chunk for at least one permanent reading of k values, the newest of r's from now on; prev: the one
 * that was, or NULL.  SP_READINGS_CHUNK bytes, the first ones less. */
struct sp_chunk *sp_store_readings(struct sp_store *s, struct sp_relation *r, uint32_t k, struct sp_chunk *prev);

/* The chunk at off, if it is a whole one. */
struct sp_chunk *sp_store_readings_at(const struct sp_image *image, sp_off off);
/* Room for more intervals of r, whose writer has k events; NULL: no memory. */
struct sp_intervals *sp_store_intervals(struct sp_store *s, struct sp_relation *r, uint32_t k, uint32_t room);

/* How its counts are told to CPUs, and why not better.  What stays is the least certain of all that it was told, with
 * the first reason for that. */
void sp_relation_told(struct sp_relation *r, enum sp_attribution how, enum sp_why why);

/* SP_SITES_EACH more sites, of up to so many frames each. */
struct sp_sites *sp_store_sites(struct sp_store *s, uint32_t frames);

/* A module of which nothing is known yet but its number; *path: its path, empty, with room
 * for so many bytes. */
struct sp_module *sp_store_module(struct sp_store *s, uint32_t room, struct sp_string **path);

/* Who a set was attached to, with name and args still to be filled in; the newest of its tid, if that is the
 * same thread.  NULL: no memory. */
struct sp_watched *sp_store_watched(struct sp_store *s, int tid, uint64_t start_ticks);

/* The gauges of r, which has n, and how many cells of them; NULL: not as they should be. */
struct sp_gauge *sp_store_gauges(const struct sp_store *s, const struct sp_relation *r, uint32_t n, uint32_t *cells);

/* Where the calls of r's overflow handlers are counted; block NULL: no memory. */
struct sp_overflow_writer sp_store_overflows(struct sp_store *s, struct sp_relation *r);

/* Once more than SP_FOLD_ABOVE relations are kept apart: folds some of ended threads
 * into those of tid 0 (same events, target, scope), and those that sspapi_free has let go; blocks of threads that have no
 * relation left go.  Called for each new thread, so that it keeps pace.  ended(tid) must be sure; bound as above.
 * Does nothing while a dump is being made (`dumping`). */
void sp_store_fold(struct sp_store *s, bool (*ended)(int tid), bool (*bound)(sp_off relation, void *arg), void *arg);

#endif
