/* compact-process.h: writes one process of a model as blocks of a compact store
 * (core/store/compact.h), for the process's own dump and for merged stores.
 */
#pragma once

#include "../model/model.h"
#include "../store/compact.h"

/* Numbers that differ between the model and the compact store. */
struct sp_compact_map {
	const uint32_t *call;		/* [SP_CALLS_MAX]; SP_LEFT_OUT: not in the store */
	uint32_t n_calls, machine;
	/* For merged stores only; NULL: as in the model. */
	const uint32_t *event;		/* [the model's n_events]; SP_LEFT_OUT: not there */
	uint32_t *kept;			/* [SP_EVENTS_MAX], scratch memory */
	const uint32_t *site;		/* [the model's n_callsites]; 0: "other" */
	bool joined;			/* several of the model's call sites share a number */
	/* Returns the number of f's module in the process's list, whose newest block is at *newest;
	 * writes a block if the list lacks the module. 0: no module, or no room. */
	uint32_t (*module)(void *arg, struct sp_compact *c, const struct sp_frame_info *f,
			   sp_off *newest);
	void *arg;
};
#define SP_LEFT_OUT	UINT32_MAX

/* Writes the header of the model's only process, its texts, notes and the threads to which sets
 * were attached. Lists of the store's contents are left out. */
void sp_compact_header(struct sp_compact *c, const struct sp_model *m, struct sp_header *h);

/* Writes the process's own data, a struct sp_member. h is the process's header if the store already
 * has it (this fills in its threads); NULL writes one. `more`: another process follows. */
void sp_compact_process(struct sp_compact *c, struct sp_model *m, const struct sp_compact_map *map,
			struct sp_header *h, bool more);
