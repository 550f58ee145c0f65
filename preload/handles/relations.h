/* relations.h: the relations that programs hold (sspapi.h).
 *
 * A relation that a program holds is a slot of a pool that is never unmapped, so that
 * any pointer can be looked at for being one.  It has a part for each event set that it
 * was started with: a relation of the store of its own (SP_RELATION_API: no plain set
 * goes on in it; SP_RELATION_HANDLE: it is not added to others while it is held).  One
 * that the shim made has one part, and is only asked.
 *
 * A slot's lock is held, with signals blocked, while its relation is counted or asked:
 * threads may share it.  Order of locks: a slot's, then the store's.  Memory comes from mmap.
 */
#ifndef SP_RELATIONS_H
#define SP_RELATIONS_H

#include "../../core/model/model.h"
#include "../../core/store/readings.h"
#include "../../core/store/writer.h"
#include "../process/process.h"

struct sp_binding {
	struct sp_binding *next;
	uint64_t bytes;			/* of this block of memory */
	sp_off off;
	struct sp_relation *relation;
	struct sp_relation_key key;	/* its event ids stand in this block, too */
	uint32_t cells, serial;		/* serial: the set's `alive` when it was started */
	int *codes;			/* [k] PAPI's */
	long long *values;		/* [k] for a reading */
	uint8_t *kinds;			/* [k] of `writer`; NULL: all are counts */
	struct sp_model model;		/* of this relation alone, to ask it */
	struct sp_writer writer;	/* for when the set is not bound to it (any more) */
	struct sp_log log;
};

struct sspapi_relation {
	struct sp_lock lock;
	uint32_t generation;		/* of the process it is of; 0: the slot is free */
	bool own;			/* made by sspapi_start */
	bool leaving;			/* freed while there are readers: the last of them lets it
					 * go */
	uint32_t readers;		/* of its permanent readings in the store, without the
					 * lock */
	int latest_cpu;
	uint64_t latest_ns;		/* of the last reading; 0: none */
	struct sp_binding *parts, *current;	/* current: the set that was started last */
};

/* Locks rel if it is one; false: wrong.  The process is known to be set up. */
bool sp_api_take(const struct sspapi_relation *rel, struct sp_lock_state *lock_state);
void sp_api_give(const struct sspapi_relation *rel, struct sp_lock_state *lock_state);

struct sspapi_relation *sp_api_new(void);

/* The part of rel (which is locked, or not shared yet) for what a set now holds, made if
 * there is none; NULL: no memory. */
struct sp_binding *sp_api_part(struct sspapi_relation *rel, sp_off thread,
			       const struct sp_relation_key *key);

/* Its part `off` is that of another key by now (sp_store_rekey_relation). */
void sp_api_part_becomes(struct sspapi_relation *rel, sp_off off,
			 const struct sp_relation_key *key);

/* Slots for the shim's relations that have none; then fn for each relation until it says
 * false, unlocked. */
void sp_api_each(bool (*fn)(struct sspapi_relation *rel, void *arg), void *arg);

void sp_api_forget(void);		/* a new process */

#endif
