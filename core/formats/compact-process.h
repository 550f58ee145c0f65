/* compact-process.h: a process of a model as blocks of the compact form (core/store/compact.h): of
 * the store that it writes itself, and of a merged one.
 */
#pragma once

#include "../model/model.h"
#include "../store/compact.h"

/* What is numbered otherwise there than in the model. */
struct sp_compact_map {
	const uint32_t *call;		/* [SP_CALLS_MAX]; SP_LEFT_OUT: not there */
	uint32_t n_calls, machine;
	/* The rest is of a merged store; NULL: as in the model. */
	const uint32_t *event;		/* [the model's n_events]; SP_LEFT_OUT: not there */
	uint32_t *kept;			/* [SP_EVENTS_MAX] memory to work in */
	const uint32_t *site;		/* [the model's n_callsites]; 0: "other" */
	bool joined;			/* several of the model's sites have one number */
	/* The number of f's module in the process's own list, whose newest is at *newest: one block
	 * more, if it is not there yet; 0: there is none, or no room. */
	uint32_t (*module)(void *arg, struct sp_compact *c, const struct sp_frame_info *f,
			   sp_off *newest);
	void *arg;
};
#define SP_LEFT_OUT	UINT32_MAX

/* The header of the model's one process, with its texts, its notes and the threads that sets were
 * attached to, but without lists of what is in the store. */
void sp_compact_header(struct sp_compact *c, const struct sp_model *m, struct sp_header *h);

/* The process with all that is its own, a struct sp_member.  h: its header, if the store has that
 * already (its threads are filled in); NULL: it is written here.  `more`: another process follows
 * at once. */
void sp_compact_process(struct sp_compact *c, struct sp_model *m, const struct sp_compact_map *map,
			struct sp_header *h, bool more);
