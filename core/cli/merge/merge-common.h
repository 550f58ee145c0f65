/* merge-common.h: what the files of merging share: all that is known of what is merged.
 * Nothing here is of use outside them. */
#pragma once

#include <string.h>

#include "../../formats/compact-process.h"
#include "../files/duplicates.h"
#include "../files/source.h"
#include "../tool/buffer.h"
#include "../tool/key-index.h"

/* What processes have in common: their header's texts, or nothing. */
enum {
	COMMON_HOST,
	COMMON_EXE,
	COMMON_ARGS,
	COMMON_JOB,
	COMMON_CWD,
	COMMON_LIBRARY,
	COMMON_ALLOWED,
	COMMON_PMUS,
	COMMONS
};

/* A machine is a host and a topology (of a flat one, a host, and a boot), or a boot: containers
 * have each a host's name, and a container may be made anew under another boot.  So they are joined
 * as processes say so, and have the least name; what is described to a process (SSPAPI_TOPOLOGY) is
 * a machine of its own.  Of the topologies that are alike but for hwloc's texts and for how much
 * memory there was (which a virtual machine is given and taken), the least stands for all. */
struct merge_machines {
	struct sp_names names, topologies, boots;
	uint32_t *order, *rank, n;
	uint32_t *boot_machine, boot_room;
	struct merge_machine {
		uint32_t same;		/* as this one; itself: as no other before */
		uint32_t topology;	/* SP_NO_TOPOLOGY */
		uint32_t words;
		uint64_t *disallowed;	/* by every process so far */
	} *at;
	struct merge_topology {
		struct sp_digest texts;	/* of all its bytes */
		uint64_t xml_bytes;
		uint32_t n;		/* components */
		bool flat, seen;	/* seen: on the machine, if only its CPUs; else it was
					 * described */
		uint32_t file;		/* that has it, */
		sp_off at;		/* where */
		sp_off written;		/* where it stands in the result; 0: not yet */
	} *topology;
	uint32_t room, topology_room;
	struct merge_map {		/* [machine of the merged file at hand] */
		uint32_t topology, words;
		uint64_t *disallowed;
	} *map;
	uint32_t map_room, n_map;
};

struct merge {
	struct sp_names events, calls;	/* as they were met; what they are is the key */
	uint32_t *event_order, *event_rank, *call_order, *call_rank;
	struct merge_event {
		unsigned char *blob;	/* texts, and last the event; offsets from its start */
		uint64_t bytes, last_process;	/* met: the turn of the process that had it last */
		uint32_t domain;	/* PAPI_DOM_* of its counts, which are in its key */
		bool counted;		/* by anybody */
	} *event;
	uint32_t event_room, n_events;	/* n_events: that are written */
	uint64_t turn;
	bool second_pass, changed;	/* changed: the second pass met a name that the first did
					 * not */
	uint32_t file;			/* the file at hand */
	struct sp_names lists;		/* of numbers of events: what each process counted, in its
					 * order */

	struct merge_machines machines;

	struct merge_process {
		uint32_t machine, pid, file, list;
		int64_t rank;
		uint64_t start_ns;
		sp_off at;
		struct sp_digest digest;	/* of its bytes */
		struct sp_once once;
	} *process;
	uint32_t n, room;

	struct {
		char *text;
		size_t bytes;
	} common[COMMONS];
	struct sp_header h;		/* of the result, but for offsets */
	struct sp_names sites;
	uint32_t *site_order, *site_rank, *site_map;	/* site_map: [the process's ids] */
	uint32_t site_room;
	struct sp_names own_modules;	/* of the process: those that overflow handlers were called
					 * in */
	struct sp_names notes;
	uint64_t *note_count;
	uint32_t note_room;
	sp_off members;

	uint32_t *map;			/* [the model's events] */
	uint32_t map_room;
	uint32_t call_map[SP_CALLS_MAX];
	struct sp_bytes key;
	struct sp_out out;
	struct sp_compact c;		/* into it */
	char buffer[1 << 18];
};

#define SP_NO_TOPOLOGY	UINT32_MAX

/* A name's number.  The first pass gives it; the second looks it up, and sets g->changed where
 * there is none: SP_NO_NAME. */
static inline uint32_t merge_number(struct merge *g, struct sp_names *names, const void *key,
				    size_t bytes)
{
	uint32_t number = g->second_pass ? sp_names_find(names, key, bytes)
					 : sp_names_number(names, key, bytes);

	g->changed = g->changed || number == SP_NO_NAME;
	return number;
}

/* merge-machines.c.  The machine of a process: of a plain store, or of a merged one, whose machines
 * were read before (into machine_map): 0 or -errno. */
uint32_t merge_machine(struct merge *g, const struct sp_source *s, uint32_t file);
int merge_machines(struct merge *g, const struct sp_source *s, uint32_t file);
void merge_sort_machines(struct merge *g);
void merge_forget_map(struct merge *g);
int merge_check_machines(const struct sp_source *s);
int merge_write_machines(struct merge *g, char *const *file);

/* merge-sites.c. */
void merge_number_sites(struct merge *g, const struct sp_model *m);
uint32_t merge_own_module(void *merge, struct sp_compact *c, const struct sp_frame_info *f,
			  sp_off *newest);
void merge_write_sites(struct merge *g);

/* merge-front.c: what stands before the machines, and the header. */
void merge_common(struct merge *g, struct sp_model *m);
int merge_write_front(struct merge *g);
int merge_write_header(struct merge *g, int fd);
void merge_free(struct merge *g);
