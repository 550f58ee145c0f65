/* relations.h: handles of relations for programs (sspapi.h).
 *
 * A handle is a slot of a pool that is never unmapped, so that any pointer can be checked. A
 * relation made by sspapi_start has a part for each event set with which it was started. A part is
 * a relation of the store (SP_RELATION_API: plain sets do not use it; SP_RELATION_HELD: it is not
 * folded into others while the handle exists). A relation that sspapi made itself has one part and
 * is only queried.
 *
 * Threads may share a handle. The slot's lock is taken, with signals blocked, while its relation is
 * counted or queried. Order of locks: the slot's, then the store's. Memory comes from mmap.
 */
#ifndef SP_RELATIONS_H
#define SP_RELATIONS_H

#include "../../core/model/model.h"
#include "../../core/store/readings.h"
#include "../../core/store/writer.h"
#include "../process/process.h"

struct sp_binding {
	struct sp_binding *next;
	uint64_t bytes;			/* of this block */
	sp_off off;
	struct sp_relation *relation;
	struct sp_relation_key key;	/* its event ids are in this block */
	uint32_t cells, serial;		/* serial: the set's `is_alive` at its start */
	int *codes;			/* [k] PAPI's codes */
	long long *values;		/* [k] buffer of a reading */
	uint8_t *kinds;			/* [k] for `writer`; NULL: all are counts */
	struct sp_model model;		/* of this relation alone, for queries */
	struct sp_writer writer;	/* used while the set is not attached to it */
	struct sp_log log;
};

struct sspapi_relation {
	struct sp_lock lock;
	uint32_t generation;		/* process generation; 0: the slot is free */
	bool own;			/* made by sspapi_start */
	/* freed while it has readers: the last one frees the slot */
	bool is_freed;
	/* threads that read its permanent readings without the lock */
	uint32_t readers;
	int latest_cpu;
	uint64_t latest_ns;		/* of the last reading; 0: none */
	/* current: the part of the set that was started last */
	struct sp_binding *parts, *current;
};

/* Lock rel and return true if it is a valid handle. The process must be set up. */
bool sp_api_take(const struct sspapi_relation *rel, struct sp_lock_state *lock_state);
void sp_api_give(const struct sspapi_relation *rel, struct sp_lock_state *lock_state);

struct sspapi_relation *sp_api_new(void);

/* The part of rel (locked, or not shared yet) for the set's present events, made if necessary; NULL
 * if out of memory. */
struct sp_binding *sp_api_part(struct sspapi_relation *rel, sp_off thread,
			       const struct sp_relation_key *key);

/* Change the key of the part `off` (sp_store_relation_becomes). */
void sp_api_part_becomes(struct sspapi_relation *rel, sp_off off,
			 const struct sp_relation_key *key);

/* Make slots for sspapi's own relations that have none; then call fn, without locks, for each
 * relation until it returns false. */
void sp_api_each(bool (*fn)(struct sspapi_relation *rel, void *arg), void *arg);

void sp_api_forget(void);		/* reset in a new process */

#endif
