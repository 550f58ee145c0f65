/* api.h: the relations of sspapi.h, and what its files share.
 *
 * A relation that a program holds is a slot of a pool that is never unmapped, so that
 * any pointer can be looked at for being one.  It has a part for each event set that it
 * was started with: a relation of the store of its own (SP_RELATION_API: no plain set
 * goes on in it; SP_RELATION_HELD: it is not added to others while it is held).  One
 * that the shim made has one part, and is only asked.
 *
 * A slot's lock is held, with signals blocked, while its relation is counted or asked:
 * threads may share it.  Its permanent readings, which do not change and may be many, are copied and printed
 * without it.  Order of locks: a slot's, then the store's.  Memory comes from mmap; stdio is used
 * by the print functions alone.
 */
#ifndef SP_API_H
#define SP_API_H

#include "../../core/store/readings.h"
#include "../../core/view/model.h"
#include "../life/process.h"
#include "../sspapi.h"

#define SP_API __attribute__((visibility("default")))

struct sp_binding {
	struct sp_binding *next;
	uint64_t bytes;			/* of this block of memory */
	sp_off off;
	struct sp_relation *relation;
	struct sp_relation_key key;	/* its event ids stand in this block, too */
	uint32_t cells, serial;		/* serial: the set's `alive` when it was started */
	int *codes;			/* [k] PAPI's */
	long long *values;		/* [k] for a reading */
	uint8_t *kinds;			/* [k] of `writer`; NULL: all are plain counts */
	struct sp_model model;		/* of this relation alone, to ask it */
	struct sp_writer writer;	/* for when the set is not bound to it (any more) */
	struct sp_log log;
};

struct sspapi_relation {
	struct sp_lock lock;
	uint32_t generation;		/* of the process it is of; 0: the slot is free */
	bool own;			/* made by sspapi_start */
	bool leaving;			/* freed while there are readers: the last of them lets it go */
	uint32_t readers;		/* of its permanent readings in the store, without the lock */
	int latest_cpu;
	uint64_t latest_ns;		/* of the last reading; 0: none */
	struct sp_binding *parts, *current;	/* current: the set that was started last */
};

/* Locks rel if it is one; false: wrong.  The process is known to be set up. */
bool sp_api_take(const struct sspapi_relation *rel, struct sp_held *held);
void sp_api_give(const struct sspapi_relation *rel, struct sp_held *held);

/* From rel being locked until sp_api_done, which wants it unlocked: its permanent readings stay where they
 * are, whoever frees it.  A reader that a jump took away leaves them there for good. */
void sp_api_reads(const struct sspapi_relation *rel);
void sp_api_done(const struct sspapi_relation *rel);

struct sspapi_relation *sp_api_new(void);

/* The part of rel (which is locked, or not shared yet) for what a set now holds, made if
 * there is none; NULL: no memory. */
struct sp_binding *sp_api_part(struct sspapi_relation *rel, const struct sp_relation_key *key);

/* Slots for the shim's relations that have none; then fn for each relation until it says
 * false, unlocked. */
void sp_api_each(bool (*fn)(struct sspapi_relation *rel, void *arg), void *arg);

/* The part's numbers now; its cells by sp_row_cell(&p->model, ...). */
bool sp_api_row(struct sp_binding *p, struct sp_row *row);

/* Does rel, which is locked, have an entry on this CPU?  Of this event set; PAPI_NULL: of any. */
bool sp_api_has_cpu(struct sspapi_relation *rel, int cpu);

/* Is there such a PU at or below root?  -1: root is no component. */
int sp_api_knows_cpu(const struct sspapi_component *root, int cpu);

void sp_api_forget(void);		/* a new process */

#endif
