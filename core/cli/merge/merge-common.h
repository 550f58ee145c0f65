/* merge-common.h: state and functions that the files of merge share. */
#pragma once

#include <string.h>

#include "../../formats/compact-process.h"
#include "../files/duplicates.h"
#include "../files/source.h"
#include "../tool/buffer.h"
#include "../tool/key-index.h"

/* Header fields that all processes may have in common. */
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

/* A machine is a host with a topology, if flat also with a boot; or a boot, since containers
 * have their own host names and may be restarted under another boot. Processes join these
 * identities, and the machine gets the least name. A topology from SSPAPI_TOPOLOGY makes a
 * machine of its own. Topologies may differ in hwloc's texts and in memory, which virtual
 * machines gain and lose; the least represents all. */
struct merge_machines {
	struct sp_names names, topologies, boots;
	uint32_t *order, *rank, n;
	uint32_t *boot_machine, boot_room;
	struct merge_machine {
		uint32_t same;		/* first machine known to be the same, perhaps itself */
		uint32_t topology;	/* or SP_NO_TOPOLOGY */
		uint32_t words;
		uint64_t *disallowed;	/* by all processes so far */
	} *at;
	struct merge_topology {
		struct sp_digest texts;	/* all bytes */
		uint64_t xml_bytes;
		uint32_t n;		/* components */
		bool flat, seen;	/* seen: read on the machine, perhaps only its CPUs; else
					 * from SSPAPI_TOPOLOGY */
		uint32_t file;		/* file with it, and its offset there */
		sp_off at;
		sp_off written;		/* offset in the result; 0: not written yet */
	} *topology;
	uint32_t room, topology_room;
	struct merge_map {		/* [machine of the current merged file] */
		uint32_t topology, words;
		uint64_t *disallowed;
	} *map;
	uint32_t map_room, n_map;
};

struct merge {
	struct sp_names events, calls;	/* in order of appearance; the key is the identity */
	uint32_t *event_order, *event_rank, *call_order, *call_rank;
	struct merge_event {
		unsigned char *blob;	/* texts, then the event, which refers to them by offset */
		uint64_t bytes, last_process;	/* turn of the last process that has it */
		uint32_t domain;	/* PAPI_DOM_* of its counts; part of the key */
		bool counted;		/* by any process */
	} *event;
	uint32_t event_room, n_events;	/* n_events: number written */
	uint64_t turn;
	bool second_pass, changed;	/* changed: the second pass found a name that the first
					 * did not */
	uint32_t file;			/* current file */
	struct sp_names lists;		/* event numbers that each process counted, in its order */

	struct merge_machines machines;

	struct merge_process {
		uint32_t machine, pid, file, list;
		int64_t rank;
		uint64_t start_ns;
		sp_off at;
		struct sp_digest digest;	/* all bytes */
		struct sp_process_key once;
	} *process;
	uint32_t n, room;

	struct {
		char *text;
		size_t bytes;
	} common[COMMONS];
	struct sp_header h;		/* header of the result, without offsets */
	struct sp_names sites;
	uint32_t *site_order, *site_rank, *site_map;	/* site_map: [ids of the process] */
	uint32_t site_room;
	struct sp_names own_modules;	/* modules of the process in which overflow handlers were
					 * called */
	struct sp_names notes;
	uint64_t *note_count;
	uint32_t note_room;
	sp_off members;

	uint32_t *map;			/* [events of the model] */
	uint32_t map_room;
	uint32_t call_map[SP_CALLS_MAX];
	struct sp_bytes key;
	struct sp_out out;
	struct sp_compact c;		/* writes the result */
	char buffer[1 << 18];
};

#define SP_NO_TOPOLOGY	UINT32_MAX

/* Returns a name's number, which the first pass assigns. The second pass returns SP_NO_NAME for
 * a new one and sets g->changed. */
static inline uint32_t merge_number(struct merge *g, struct sp_names *names, const void *key,
				    size_t bytes)
{
	uint32_t number = g->second_pass ? sp_names_find(names, key, bytes)
					 : sp_names_number(names, key, bytes);

	g->changed = g->changed || number == SP_NO_NAME;
	return number;
}

/* merge-machines.c. The machine of a process in a plain store; or all machines of a merged
 * store, into machines.map, before its processes. 0 or -errno. */
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

/* merge-front.c: the blocks before the machines, and the header. */
void merge_common(struct merge *g, struct sp_model *m);
int merge_write_front(struct merge *g);
int merge_write_header(struct merge *g, int fd);
void merge_free(struct merge *g);
