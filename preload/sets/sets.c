/* sets.c: keeps a record for each event set, and binds it to a relation; see sets.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "../../core/base/conf.h"
#include "../../core/base/sys.h"
#include "../../core/events/components.h"
#include "../../core/store/interval.h"
#include "../../core/store/rules.h"
#include "../events/events.h"
#include "../handles/relations.h"
#include "../process/diagnostic.h"
#include "../percpu/percpu-lifetime.h"
#include "../percpu/shadow-open.h"
#include "../percpu/rseq-proof.h"
#include "../percpu/percpu.h"
#include "sets.h"
#include "attached.h"

struct sp_set *sp_sets[SP_SETS_CHUNKS];
static uint32_t serials;
bool sp_sets_lost;

/* At most 10.25 KiB with the set's part of the store (tests/unit/t-store.c). */
_Static_assert(sizeof(struct sp_set) + sizeof(struct sp_set_page) <= 2304,
	       "a set's private memory");

struct chunk {
	struct sp_set set[SP_SETS_CHUNK];
	struct sp_set_page page[SP_SETS_CHUNK] __attribute__((aligned(SP_PAGE)));
};

static void populate(void *at, uint64_t bytes)
{
	(void)sp_sys(SYS_madvise, at, bytes, MADV_POPULATE_WRITE);
}

/* Populates the sets' data at once: a loop over all sets would take page faults at sets that
 * were never made, and another set of the thread may count page faults. make_page() populates
 * pages (struct sp_set_page) one by one. */
static struct sp_set *make_chunk(void)
{
	struct chunk *c = sp_map(sizeof(*c));

	if (!c)
		return NULL;
	/* A set may run or start in a child of fork and would count the page faults of copying
	 * these pages. */
	sp_wipe_on_fork(c, sizeof(*c));
	populate(c, offsetof(struct chunk, page));
	return c->set;
}

static struct sp_set *make_room(int id)
{
	struct sp_set **at, *chunk, *none = NULL;

	if ((unsigned)id >= SP_SETS_CHUNK * SP_SETS_CHUNKS)
		return NULL;
	at = &sp_sets[id / SP_SETS_CHUNK];
	if (!load_acquire(at)) {
		chunk = make_chunk();
		if (!chunk)
			return NULL;
		if (!sp_cas(at, &none, chunk))
			sp_unmap(chunk, sizeof(struct chunk));
	}
	return sp_set_of(id);
}

#define FRAME		((uintptr_t)__builtin_frame_address(0))

/* Unbinds the set; the caller has taken the writer. `times` stays, since another thread's call
 * may add to it. */
static void unbind(struct sp_set *s)
{
	bool was = load_relaxed(&s->is_bound);

	sp_proof_note_nested();
	store_relaxed(&s->fast_thread, 0);
	store_relaxed(&s->is_bound, false);
	store_relaxed(&s->counted, 0);
	store_relaxed(&s->writer.relation, NULL);
	store_relaxed(&s->gauges.n, 0);
	store_relaxed(&s->overflows.block, NULL);
	__atomic_thread_fence(__ATOMIC_RELEASE);	/* before the words change */
	if (was)
		sp_store_released(&sp_store, load_relaxed(&s->relation));
}

/* Stops recording the set until its next start. */
static void stay_unbound(struct sp_set *s)
{
	store_relaxed(&s->fast_thread, 0);
	store_relaxed(&s->is_bound, false);
	store_relaxed(&s->changed, true);
}

bool sp_set_unbind(struct sp_set *s)
{
	if (!sp_records_take(&s->writer, FRAME, sp_thread_state.id, true)) {
		stay_unbound(s);
		return false;
	}
	unbind(s);
	store_relaxed(&s->writer.owner, 0);
	sp_records_give(&s->writer, sp_thread_state.id, 0);
	return true;
}

/* Clears only `alive`: PAPI may have given the id to another set, which uses this data then. */
void sp_set_forget(struct sp_set *s, uint32_t alive)
{
	uint32_t own = sp_thread_state.id;

	if (alive && sp_cas(&s->alive, &alive, 0)) {
		(void)sp_cas(&s->fast_thread, &own, 0);
		if (load_relaxed(&s->is_bound))
			sp_store_released(&sp_store, load_relaxed(&s->relation));
	}
}

void sp_set_release(struct sp_set *s)
{
	store_relaxed(&s->changed, true);
	store_relaxed(&s->fast_thread, 0);
}

/* Maps memory and populates it before the first write: another set of this thread may count page
 * faults. Before Linux 5.14 that set counts one. */
static void *map_populated(uint64_t bytes)
{
	void *p = sp_map(bytes);

	if (p) {
		sp_wipe_on_fork(p, bytes);
		populate(p, bytes);
		memset(p, 0, bytes);
	}
	return p;
}

/* Populates the set's page when the set is made, so that its start takes no page fault. */
static void make_page(struct sp_set *s, int id)
{
	struct chunk *c = (struct chunk *)load_acquire(&sp_sets[id / SP_SETS_CHUNK]);
	uintptr_t at;

	if (s->page)
		return;
	s->page = &c->page[id % SP_SETS_CHUNK];
	at = (uintptr_t)s->page & ~(uintptr_t)(SP_PAGE - 1);
	populate((void *)at, (uintptr_t)(s->page + 1) - at);
	memset(s->page, 0, sizeof(*s->page));
	if (!s->room.values) {
		s->room.values = s->page->values;
		s->room.n_values = SP_PAGE_VALUES;
	}
	if (!s->perf_fds.at) {
		s->perf_fds.at = s->page->native;
		s->perf_fds.room = SP_PAGE_NATIVES;
	}
}

/* Reports missing memory for a set's data: its readings count as dropped. */
static void report_no_memory(void)
{
	if (!load_relaxed(&sp_sets_lost))
		sp_process_note(
			"no room for the record of an event set: its counts are missing here");
	store_relaxed(&sp_sets_lost, true);
}

/* Bytes of the store that a set's first start takes, with two or three events. */
#define START_BYTES	8192u

static void prefault_store(void)
{
	struct sp_lock_state lock_state;

	sp_lock_take(&sp_store.lock, &lock_state);
	sp_region_prefault(&sp_store.region, START_BYTES);
	sp_lock_give(&sp_store.lock, &lock_state);
}

struct sp_set *sp_set_new(int id)
{
	struct sp_set *s = make_room(id);

	if (!s) {
		report_no_memory();
		return NULL;
	}
	(void)load_acquire(&s->alive);	/* acquire other threads' writes for the earlier set */
	if (!sp_set_unbind(s))
		return NULL;
	memset(&s->starter, 0, sizeof(*s) - offsetof(struct sp_set, starter));
	store_relaxed(&s->generation, sp_process.generation);
	store_relaxed(&s->started, false);
	store_relaxed(&s->changed, true);
	store_relaxed(&s->creator, sp_thread_state.id);
	s->id = id;
	s->last_cpu = SP_NO_CPU;
	sp_percpu_drop(&s->percpu);
	sp_perf_fds_forget(&s->perf_fds);
	make_page(s, id);
	prefault_store();
	store_release(&s->alive, sp_add(&serials, 1) + 1);
	return s;
}

struct sp_set *sp_set_find(int id)
{
	struct sp_set *s = sp_set_of(id);
	const struct sp_real *papi;

	if (s && load_relaxed(&s->alive) && s->generation == sp_process.generation)
		return s;
	if (!sp_papi_used || id < 0)
		return NULL;
	papi = &sp_papi_used->real;
	/* PAPI crashes if set 0 is queried before PAPI is initialized. */
	if (!papi->PAPI_is_initialized || !papi->PAPI_num_events || !papi->PAPI_is_initialized() ||
	    papi->PAPI_num_events(id) <= 0)
		return NULL;
	s = sp_set_new(id);
	if (s)
		s->unseen = true;
	return s;
}

void sp_sets_forget(uint32_t creator)
{
	for (unsigned c = 0; c < SP_SETS_CHUNKS; c++) {
		struct sp_set *chunk = load_acquire(&sp_sets[c]);

		for (unsigned i = 0; chunk && i < SP_SETS_CHUNK; i++) {
			uint32_t alive = load_acquire(&chunk[i].alive);

			if (alive && (!creator || load_relaxed(&chunk[i].creator) == creator)) {
				sp_set_forget(&chunk[i], alive);
				sp_percpu_drop(&chunk[i].percpu);
			}
			if (!creator)
				(void)sp_set_unbind(&chunk[i]);
		}
	}
}

void sp_sets_each(void (*callback)(struct sp_set *s))
{
	for (unsigned c = 0; c < SP_SETS_CHUNKS; c++) {
		struct sp_set *chunk = load_acquire(&sp_sets[c]);

		for (unsigned i = 0; chunk && i < SP_SETS_CHUNK; i++)
			callback(&chunk[i]);
	}
}

static void forget_sites(struct sp_set *s)
{
	for (int w = 0; w < SP_KINDS; w++)
		store_relaxed(&s->known[w].to, 0);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	store_relaxed(&s->writer.steady, 0);
}

void sp_sets_forget_sites(void)
{
	sp_sets_each(forget_sites);
}

bool sp_sets_running(uint32_t thread)
{
	for (unsigned c = 0; c < SP_SETS_CHUNKS; c++) {
		struct sp_set *chunk = load_acquire(&sp_sets[c]);

		for (unsigned i = 0; chunk && i < SP_SETS_CHUNK; i++)
			if (load_relaxed(&chunk[i].started) && load_relaxed(&chunk[i].alive) &&
			    load_relaxed(&chunk[i].starter) == thread)
				return true;
	}
	return false;
}

static void disable_fast_path(struct sp_set *s)
{
	store_relaxed(&s->fast_thread, 0);
}

void sp_sets_disable_fast_path(void)
{
	sp_sets_each(disable_fast_path);
}

/* Loops over the sets that other threads started, without calling a function for each:
 * sp_sets_each() does. */
#define EACH_OF_OTHERS(s) \
	for (unsigned c = 0; c < SP_SETS_CHUNKS; c++) \
		for (struct sp_set *chunk = load_acquire(&sp_sets[c]), *s = chunk; \
		     chunk && s < chunk + SP_SETS_CHUNK; s++) \
			if (load_relaxed(&s->alive) && \
			    load_relaxed(&s->starter) != sp_thread_state.id)

bool sp_sets_others_running(void)
{
	EACH_OF_OTHERS(s)
		if (load_relaxed(&s->started))
			return true;
	return false;
}

unsigned sp_sets_others_recording(void)
{
	unsigned n = 0;

	EACH_OF_OTHERS(s) {
		uintptr_t in_flight = load_acquire(&s->writer.in_flight);

		n += in_flight && !(in_flight & SP_IN_PAPI);
	}
	return n;
}

#define EVENTS_MAX	512

/* ---- binding ---------------------------------------------------------- */

struct set_state {			/* a set's current contents, from PAPI */
	int k;
	int *codes;
	uint32_t *ids;
	uint32_t keeps;
	enum sp_scope scope;
	bool perf_event;
	bool cpu_attached;		/* by PAPI_CPU_ATTACH */
	bool is_awaited;		/* a software-defined event is not registered yet */
	bool has_domains;		/* its component distinguishes domains */
	uint32_t domain;		/* of its events together; 0: unknown */
	uint32_t n_gauges;
	struct sp_gauge_kind *gauge;
	uint8_t *kinds;			/* [k], enum sp_values */
	bool has_non_counts;		/* some are not counts */
	const struct sp_terms **terms;
};

static bool query_events(const struct sp_real *papi, int id, struct set_state *h, int room)
{
	int n = room;

	if (papi->PAPI_num_events && papi->PAPI_num_events(id) > EVENTS_MAX)
		sp_process_note_quiet("an event set of more than 512 events was used; its counts "
				      "are not recorded");

	h->k = papi->PAPI_num_events ? papi->PAPI_num_events(id) : 0;
	if (h->k <= 0 || h->k > room || !papi->PAPI_list_events ||
	    papi->PAPI_list_events(id, h->codes, &n) != PAPI_OK)
		return false;
	h->k = n < h->k ? n : h->k;
	return h->k > 0;
}

static void add_component(const struct sp_real *papi, struct set_state *h, int component)
{
	const char *name = sp_component_name(papi, component);
	const struct sp_component_fact *f = sp_component_fact(name);
	char text[256];

	h->perf_event = strcmp(name, "perf_event") == 0;
	h->has_domains = h->perf_event || !f;
	if (f) {
		h->scope = f->scope;
		h->keeps = f->keeps;
		return;
	}
	h->scope = sp_component_claims(papi, component);
	h->keeps = 0;
	if (!*name || strlen(name) > 100)
		return;
	strcpy(text, "PAPI component '");
	strcat(strcat(text, name), "' is unknown to sspapi; its counts are treated as ");
	strcat(text, h->scope == SP_SCOPE_THREAD ? "the calling thread's"
		     : h->scope == SP_SCOPE_HOST ? "the whole host's, as it reports"
						 : "the process's, as it reports");
	sp_process_note_quiet(text);
}

/* Notes a component that does not report the place of its events. */
static void note_unknown_place(const struct sp_real *papi, const struct set_state *h,
			       const struct sp_event_info *e)
{
	const char *name = sp_component_name(papi, e->component);
	char text[256];

	if (e->place.place != SP_PLACE_UNKNOWN ||
	    (h->scope != SP_SCOPE_DEVICE && h->scope != SP_SCOPE_PACKAGE) || strlen(name) > 100)
		return;
	strcpy(text, "PAPI component '");
	strcat(strcat(text, name), h->scope == SP_SCOPE_DEVICE
					   ? "' does not report the devices of some of its "
					     "events: their values are on no component"
					   : "' does not report the package of some of its "
					     "events: their values are on no component");
	sp_process_note_quiet(text);
}

/* Finds the store's events of the set's codes, not yet in a domain. All events of a set are of
 * one component. */
static bool find_events(const struct sp_real *papi, struct set_state *h)
{
	for (int i = 0; i < h->k; i++) {
		struct sp_event_info *e = sp_event_find(papi, h->codes[i]);

		if (!e)
			return false;
		h->is_awaited |= e->is_unregistered;
		if (h->terms)
			h->terms[i] = &e->terms;
		h->kinds[i] = e->kind == SP_GAUGE	? SP_GAUGE_VALUES
			      : e->data_type == SP_FP64 ? SP_FLOATS
							: SP_COUNTS;
		h->has_non_counts |= h->kinds[i] != SP_COUNTS;
		if (e->kind == SP_GAUGE)
			h->gauge[h->n_gauges++] =
				(struct sp_gauge_kind){ .index = (uint32_t)i,
							.data_type = e->data_type };
		if (!i)
			add_component(papi, h, e->component);
		h->ids[i] = e->id;
		note_unknown_place(papi, h, e);
	}
	return true;
}

void sp_set_fetch_events(int id)
{
	int codes[64];
	uint32_t ids[64];
	struct sp_gauge_kind gauge[64];
	uint8_t kinds[64];
	struct set_state h = { .codes = codes, .ids = ids, .gauge = gauge, .kinds = kinds };

	if (sp_papi_used && query_events(&sp_papi_used->real, id, &h, 64))
		find_events(&sp_papi_used->real, &h);
}

/* Checks the set that the relation names as its last one; no other set can have the relation at
 * the same time. A loop over all sets made 3000 starts of one thread take 7 s. */
bool sp_set_has_relation(sp_off relation, void *but)
{
	const struct sp_relation *r =
		sp_store_reader_block(&sp_store.reader, relation, SP_BLOCK_RELATION, sizeof(*r));
	struct sp_set *s = r ? sp_set_of(r->event_set) : NULL;

	return s && s != but && load_relaxed(&s->alive) && load_acquire(&s->is_bound) &&
	       load_relaxed(&s->relation) == relation;
}

/* Provides the populated array for PAPI_stop(set, NULL). */
static bool make_values(struct sp_set *s, uint32_t k)
{
	uint64_t bytes = sp_align((uint64_t)k * sizeof(long long), 4096);

	if (k <= s->room.n_values)
		return true;
	/* The old memory stays mapped: a PAPI_stop may be writing to it. */
	store_relaxed(&s->room.values, (long long *)map_populated(bytes));
	s->room.n_values = s->room.values ? (uint32_t)(bytes / sizeof(long long)) : 0;
	return s->room.values != NULL;
}

/* Prepares the private memory of the gauge writer, and the kinds of a set that has other values
 * than counts. False: no memory. */
static bool bind_gauges(struct sp_set *s, const struct sp_relation *r, const struct set_state *h,
			const uint8_t **kinds)
{
	struct sp_gauge_writer *w = &s->gauges;
	uint64_t bytes = sp_align(h->n_gauges * sizeof(*w->kind) + (uint64_t)h->k, 4096);

	*kinds = NULL;
	if (!h->has_non_counts)
		return true;
	if (bytes > s->gauges_bytes) {
		sp_unmap(w->kind, s->gauges_bytes);
		w->kind = sp_map(bytes);
		s->gauges_bytes = w->kind ? bytes : 0;
	}
	w->at = h->n_gauges ? sp_store_gauges(&sp_store, r, h->n_gauges, &w->cells) : NULL;
	if (!w->kind || (h->n_gauges && !w->at))
		return false;
	memcpy(w->kind, h->gauge, h->n_gauges * sizeof(*w->kind));
	*kinds = memcpy(w->kind + h->n_gauges, h->kinds, (size_t)h->k);
	w->running = 0;
	store_relaxed(&w->n, h->n_gauges);
	return true;
}

static void free_slots(const struct sp_set *s, uint32_t *slots, uint32_t n)
{
	if (!s->page || slots != s->page->slot)
		sp_unmap(slots, n * sizeof(*slots));
}

/* Gives the set's writer room for `room` intervals, `more` of them new. */
static void make_intervals(struct sp_set *s, uint32_t room, uint32_t more)
{
	uint32_t slots = SP_PAGE_SLOTS, *memory;
	struct sp_lock_state lock_state;

	while (slots < 2 * room)
		slots *= 2;
	/* The writer of an earlier run left these slots; no other writer uses them. */
	if (s->room.slots && s->room.n_slots >= slots && !s->writer.intervals.slots) {
		memory = s->room.slots;
		slots = s->room.n_slots;
		memset(memory, 0, slots * sizeof(*memory));
	} else if (slots == SP_PAGE_SLOTS && s->page && !s->writer.intervals.slots) {
		memory = s->page->slot;
		memset(memory, 0, slots * sizeof(*memory));
	} else {
		memory = map_populated(slots * sizeof(*memory));
		if (!memory)
			return;
	}
	sp_lock_take(&sp_store.lock, &lock_state);
	if (more)
		sp_store_intervals(&sp_store, s->writer.relation, s->writer.k, more);
	sp_records_intervals(&s->writer, memory, slots);
	if (s->room.slots != memory)
		free_slots(s, s->room.slots, s->room.n_slots);
	s->room.slots = memory;
	s->room.n_slots = slots;
	sp_lock_give(&sp_store.lock, &lock_state);
}

#define FIRST_ROOM	512u
#define FIRST_BYTES	(48u << 10)

/* Chooses the room for intervals of the first relation. Room grows only between runs, but a
 * program may start once and read in a hundred places on several CPUs. Only the process's first
 * relation gets that much: its start takes milliseconds anyway, later first starts should be
 * short. */
static uint32_t first_room(const struct sp_writer *w)
{
	uint32_t least = SP_INTERVALS_FIRST(w->k), room = w->relation->id ? least : FIRST_ROOM;

	while (room > least && sp_intervals_bytes(w->k, room) > FIRST_BYTES)
		room /= 2;
	return (uint32_t)sp_max(room, least);
}

/* Makes room for the relation's intervals from an earlier set, or for the first ones. */
static void bind_intervals(struct sp_set *s)
{
	uint32_t room =
		sp_intervals_room(&sp_store.reader, s->writer.relation->intervals, s->writer.k);
	uint32_t first = first_room(&s->writer);

	if (sp_conf.callsites)
		make_intervals(s, room ? room : first, room ? 0 : first);
}

/* Checks that the CPU passed to the kernel is the CPU that counts: an uncore PMU is opened on
 * one CPU of several. */
static bool has_cpu(const struct set_state *h)
{
	return h->scope == SP_SCOPE_THREAD || h->scope == SP_SCOPE_CPU || h->cpu_attached;
}

/* Queries PAPI for the target of a set whose perf fds were not seen. PAPI crashes on a query for
 * the CPU of a set without one. */
static void query_papi(struct sp_count_target *c, int id, int state)
{
	const struct sp_real *papi = &sp_papi_used->real;
	PAPI_option_t o = { .attach = { .eventset = id } };

	if (!papi->PAPI_get_opt)
		return;
	if (state & PAPI_CPU_ATTACHED) {
		o.cpu.eventset = id;
		if (papi->PAPI_get_opt(PAPI_CPU_ATTACH, &o) >= 0)
			c->cpu = (int)o.cpu.cpu_num;
	} else if (state & PAPI_ATTACHED && papi->PAPI_get_opt(PAPI_ATTACH, &o) >= 0) {
		c->tid = (int)o.attach.tid;
		c->is_attached = true;
		sp_attached_add(c->tid);
	}
}

/* Finds the target of the set, as PAPI passed it to the kernel. Counts of other components, and
 * those that PAPI multiplexes itself, belong to the starting thread. */
static void find_target(struct sp_set *s, int id, int state, bool perf_event)
{
	store_relaxed(&s->bound_changes, load_relaxed(&s->perf_fds.changes));
	s->target = sp_count_target(&s->perf_fds);
	if (s->target.is_known)
		return;
	query_papi(&s->target, id, state);
	if ((!perf_event || s->multiplexed) && !s->target.is_attached) {
		s->target.tid = sp_thread_state.tid;
		s->target.thread = sp_thread_state.id;
	}
}

static struct sp_relation *api_relation(struct sspapi_relation *rel, sp_off thread,
					const struct sp_relation_key *key, sp_off *off)
{
	struct sp_binding *p = sp_api_part(rel, thread, key);

	*off = p ? p->off : 0;
	return p ? p->relation : NULL;
}

/* Reuses the relation that the set had before its target was known. NULL: it cannot become the
 * relation of this target. */
static struct sp_relation *reuse_relation(struct sp_set *s, sp_off thread,
					  const struct sp_relation_key *key, sp_off *off)
{
	struct sp_relation_key new_key = *key;
	struct sp_lock_state lock_state;
	bool can_reuse;

	*off = load_relaxed(&s->relation);
	new_key.flags |= s->wanted ? SP_RELATION_API : 0;
	sp_lock_take(&sp_store.lock, &lock_state);
	can_reuse = sp_store_rekey_relation(&sp_store, *off, thread, &new_key);
	sp_lock_give(&sp_store.lock, &lock_state);
	if (can_reuse && s->wanted)
		sp_api_part_becomes(s->wanted, *off, key);
	return can_reuse ? sp_store_relation_at(&sp_store, *off) : NULL;
}

static struct sp_relation *shared_relation(struct sp_set *s, sp_off thread,
					   const struct sp_relation_key *key, sp_off *off)
{
	struct sp_relation *r;
	struct sp_lock_state lock_state;

	sp_lock_take(&sp_store.lock, &lock_state);
	r = sp_store_relation(&sp_store, thread, key, sp_set_has_relation, s, off);
	sp_lock_give(&sp_store.lock, &lock_state);
	return r;
}

/* The store's block of the counted thread; the caller's if there is no memory or no such thread. */
static sp_off find_thread_block(const struct sp_count_target *c)
{
	struct sp_thread *t;
	struct sp_lock_state lock_state;
	sp_off off;

	if (c->tid <= 0 || c->tid == sp_thread_state.tid)
		return sp_thread_state.thread;
	sp_lock_take(&sp_store.lock, &lock_state);
	t = sp_store_find_thread(&sp_store, c->tid, &off);
	sp_lock_give(&sp_store.lock, &lock_state);
	return t ? off : sp_thread_state.thread;
}

/* Places the set if its counts belong to one cell wherever the thread runs: those of a device,
 * package, host or process, or of the set's only CPU. Sets that inherit or are attached stay on
 * the slow path: their start and stop read the target's clock (counted-time.h). */
static void place_set(struct sp_set *s, enum sp_scope scope, enum sp_target target)
{
	bool has_no_cpu = scope != SP_SCOPE_THREAD && scope != SP_SCOPE_CPU;

	if (s->target.inherits || s->target.is_attached ||
	    (!has_no_cpu && target != SP_TARGET_CPU) ||
	    !sp_records_place(&s->writer, has_no_cpu ? SP_NO_CPU : s->pinned_cpu))
		sp_records_set_cpu(&s->writer, s->pinned_cpu >= 0 ? s->pinned_cpu : sp_cpu_here());
}

/* Classifies the set's target; SP_COUNTS_OWN means the thread that started the set. */
static enum sp_counts counts_of(const struct sp_set *s)
{
	const struct sp_relation *r = s->writer.relation;

	if (s->target.inherits || r->scope == SP_SCOPE_CPU || r->target == SP_TARGET_CPU)
		return SP_COUNTS_UNKNOWN;
	if (r->scope != SP_SCOPE_THREAD)
		return SP_COUNTS_NOTHING;
	if (s->unseen || s->target.tid <= 0)
		return SP_COUNTS_UNKNOWN;
	return s->target.thread == load_relaxed(&s->starter) ? SP_COUNTS_OWN : SP_COUNTS_OTHER;
}

void sp_set_note_counted(struct sp_set *s)
{
	bool elsewhere = s->target.is_attached && s->target.thread != load_relaxed(&s->starter) &&
			 sp_sys(SYS_tgkill, sp_process_pid, s->target.tid, 0) == -ESRCH;

	store_relaxed(&s->counted, (uint64_t)counts_of(s) << SP_COUNTS_SHIFT |
					   (uint32_t)s->target.tid |
					   (s->target.inherits ? SP_COUNTS_INHERITED : 0) |
					   (elsewhere ? SP_COUNTS_ELSEWHERE : 0));
}

static void bind_relation(struct sp_set *s, int id, const struct set_state *h, bool again)
{
	struct sp_relation_key key = { .event_set = id,
				       .k = (uint32_t)h->k,
				       .event = h->ids,
				       .scope = h->scope,
				       .domain = h->domain,
				       .n_gauges = h->n_gauges,
				       .gauge = h->gauge,
				       .kinds = h->has_non_counts ? h->kinds : NULL };
	const uint8_t *kinds;
	struct sp_relation *r = NULL;
	sp_off off, thread = find_thread_block(&s->target);

	s->pinned_cpu = s->target.cpu >= 0 && has_cpu(h) ? s->target.cpu : SP_NO_CPU;
	if (s->target.is_attached) {
		key.target = SP_TARGET_TID;
		key.target_id = s->target.tid;
	} else if (s->pinned_cpu >= 0) {
		key.target = SP_TARGET_CPU;
		key.target_id = s->pinned_cpu;
	}
	if (thread != sp_thread_state.thread) {
		key.flags |= SP_RELATION_OTHER_STARTER;
		key.target = s->target.is_attached ? SP_TARGET_TID : SP_TARGET_THREAD;
		key.target_id = sp_thread_state.tid;
	}
	if (s->multiplexed)
		key.flags |= SP_RELATION_ESTIMATED;
	else if (s->pinned_cpu >= 0 && !s->target.inherits)
		key.flags |= SP_RELATION_PROVEN;
	if (again)
		r = reuse_relation(s, thread, &key, &off);
	if (!r)
		r = s->wanted ? api_relation(s->wanted, thread, &key, &off)
			      : shared_relation(s, thread, &key, &off);
	if (!r || !make_values(s, key.k) || !bind_gauges(s, r, h, &kinds))
		return;
	sp_records_bind_taken(&s->writer, &sp_store.reader, off, key.k, r->cells, kinds);
	s->writer.gauges = h->n_gauges ? &s->gauges : NULL;
	place_set(s, h->scope, (enum sp_target)key.target);
	sp_records_set_component(&s->writer, h->keeps);
	bind_intervals(s);
	if (sp_conf.readings == SP_PERMANENT || s->wanted) {
		sp_log_open(&s->log, &sp_store, r, key.k, (uint64_t)sp_conf.readings_max);
		sp_records_log(&s->writer, &s->log,
			       s->wanted ? SP_ENTRIES_NONE : SP_ENTRIES_PERMANENT, !s->wanted);
	}
	s->writer.precise = h->has_non_counts;
	if (h->scope != SP_SCOPE_THREAD)
		sp_records_time_runs(&s->writer);
	store_relaxed(&s->k, key.k);
	store_relaxed(&s->relation, off);
	store_relaxed(&s->starter, sp_thread_state.id);
	sp_set_note_counted(s);
	store_release(&s->is_bound, true);
	store_relaxed(&s->changed, false);
}

/* PAPI_INHERIT changed while counters are open: until PAPI opens them again, PAPI 7.0 fails to
 * read them or returns one event's count for every event. */
static bool is_misread(const struct sp_set *s)
{
	return s->misread == load_relaxed(&s->perf_fds.changes) + UINT64_C(1);
}

static void choose_fast_path(struct sp_set *s, enum sp_scope scope)
{
	bool can_reuse = load_relaxed(&s->is_bound) && !sp_thread_state.shares_tls && !s->unseen &&
			 !is_misread(s) && !s->target.inherits && !s->multiplexed &&
			 !s->has_histograms;
	bool own =
		can_reuse && (s->writer.placed || (s->target.thread == sp_thread_state.id &&
						   s->writer.relation->target == SP_TARGET_THREAD &&
						   scope == SP_SCOPE_THREAD && !s->writer.kinds));

	store_relaxed(&s->fast_thread, own && !(s->percpu && (sp_percpu_needs_time(s->percpu) ||
							      sp_percpu_is_shared(s->percpu)))
					       ? sp_thread_state.id
					       : 0);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	/* sp_sets_disable_fast_path() may have run before */
	if (load_relaxed(&sp_process.dumped))
		store_relaxed(&s->fast_thread, 0);
}

/* The PAPI_DOM_* bits with which PAPI will open the set next. */
static uint32_t query_domain(int id)
{
	const struct sp_real *papi = &sp_papi_used->real;
	PAPI_option_t o = { .domain = { .eventset = id } };

	return papi->PAPI_get_opt && papi->PAPI_get_opt(PAPI_DOMAIN, &o) == PAPI_OK
		       ? (uint32_t)o.domain.domain
		       : 0;
}

/* Finds the domain in which each event is counted, as PAPI passed it to the kernel. Domains that
 * the kernel does not distinguish are PAPI's if it agrees in the others. */
static void find_domains(struct sp_set *s, int id, struct set_state *h)
{
	struct sp_percpu_request want = { .perf_fds = &s->perf_fds,
				       .k = (uint32_t)h->k,
				       .terms = h->terms };
	uint32_t wanted = h->has_domains ? query_domain(id) : 0,
		 all = s->target.is_known ? s->target.domain : wanted;

	if (!h->has_domains)
		return;
	h->domain = (wanted & ~SP_DOMAINS_UNSEEN) == all ? wanted : all;
	for (int i = 0; i < h->k; i++) {
		struct sp_event_info *e = sp_event_find(&sp_papi_used->real, h->codes[i]);
		uint32_t in = s->target.is_known ? sp_percpu_domain(&want, (uint32_t)i) : 0;

		if (e && !e->is_clock)
			h->ids[i] = sp_event_in(e, in && in != all ? in : h->domain);
	}
}

/* Chooses the scope of the counts if it differs from the component's. */
static void choose_scope(const struct sp_set *s, struct set_state *h)
{
	if (h->scope != SP_SCOPE_THREAD)
		return;
	if (s->target.cpu == SP_CPUS_MIXED) {
		h->scope = SP_SCOPE_PROCESS;
		sp_process_note_quiet("events of one set counted on several CPUs by name (:cpu=N); "
				      "those without such a name "
				      "are shown on no CPU");
	} else if (s->target.tid < 0) {
		h->scope = SP_SCOPE_CPU;
	} else if (s->target.inherits && !s->percpu) {
		h->scope = SP_SCOPE_PROCESS;
		sp_process_note_quiet("an event set also counted threads created later "
				      "(PAPI_INHERIT): PAPI does not report where each of them "
				      "ran, so its counts are on no CPU");
	}
}

static bool is_sampled(const struct sp_real *papi, int id)
{
	int state = 0;

	return papi->PAPI_state && papi->PAPI_state(id, &state) == PAPI_OK &&
	       (state & (PAPI_OVERFLOWING | PAPI_PROFILING));
}

/* Notes the PMU on which PAPI opened each event: it shows the kind of cores. */
static void note_pmus(const struct sp_percpu_request *want, const struct set_state *h)
{
	for (uint32_t e = 0; e < want->k; e++) {
		const char *pmu = sp_percpu_pmu(want, e);

		if (pmu)
			sp_event_set_pmu(sp_event_find(&sp_papi_used->real, h->codes[e]), pmu);
	}
}

/* Prepares shadow counters if they prove more than the CPU of a reading does. */
static enum sp_attribution prepare_percpu(struct sp_set *s, int id, const struct set_state *h,
					  enum sp_why *why)
{
	struct sp_percpu_request want = {
		.perf_fds = &s->perf_fds,
		.is_own = s->target.thread == sp_thread_state.id,
		.tid = s->target.tid,
		.inherits = s->target.inherits,
		.overflows = is_sampled(&sp_papi_used->real, id),
		.multiplexed = s->multiplexed,
		.k = (uint32_t)h->k,
		.terms = h->terms,
	};

	bool is_shared_tls = sp_thread_state.shares_tls && s->target.thread == sp_thread_state.id;

	*why = SP_WHY_NONE;
	if (!is_shared_tls && h->perf_event && h->scope == SP_SCOPE_THREAD && !h->has_non_counts &&
	    !s->unseen && !is_misread(s) && s->target.is_known && s->target.tid > 0 &&
	    s->target.cpu == SP_NO_CPU) {
		enum sp_attribution how = sp_percpu_prepare(&s->percpu, &want, why);

		if (*why != SP_WHY_FILTER)	/* note_pmus() opens events to find their PMU */
			note_pmus(&want, h);
		return how;
	}
	sp_percpu_drop(&s->percpu);
	if (s->target.cpu >= 0 && has_cpu(h))
		return SP_BY_EXACT;
	*why = is_shared_tls				       ? SP_WHY_GUEST
	       : !h->perf_event && h->scope != SP_SCOPE_THREAD ? SP_WHY_SHARED
	       : !h->perf_event				       ? SP_WHY_COMPONENT
	       : h->has_non_counts			       ? SP_WHY_FORMULA
							       : SP_WHY_UNSEEN;
	return SP_BY_READING;
}

/* The number of the set's events, to size arrays on a stack that may have only 16 KB. */
static int event_room(const struct sp_real *papi, int id)
{
	int n = papi->PAPI_num_events ? papi->PAPI_num_events(id) : 0;

	return n > 0 && n <= EVENTS_MAX ? n : 1;
}

/* Opens shadow counters as soon as PAPI has opened its counters: a set that inherits also counts
 * threads that are made before its start. */
static __attribute__((noinline)) void prepare_percpu_early(struct sp_set *s, int id)
{
	const struct sp_real *papi = &sp_papi_used->real;
	int room = event_room(papi, id), codes[room];
	uint32_t ids[room];
	struct sp_gauge_kind gauge[room];
	const struct sp_terms *terms[room];
	uint8_t kinds[room];
	struct set_state h = {
		.codes = codes, .ids = ids, .gauge = gauge, .kinds = kinds, .terms = terms
	};
	enum sp_why why;

	if (sp_thread_state.calls && query_events(papi, id, &h, room) && find_events(papi, &h))
		(void)prepare_percpu(s, id, &h, &why);
}

void sp_set_bind_perf_fds(struct sp_set *s, int id)
{
	s->target = sp_count_target(&s->perf_fds);
	if (s->target.inherits && !s->unseen)
		prepare_percpu_early(s, id);
}

static void note_allowed_cpus(struct sp_set *s)
{
	struct sp_lock_state lock_state;
	char allowed[1024];

	if (s->times->allowed)
		return;
	sp_percpu_allowed(s->percpu, allowed, sizeof(allowed));
	sp_lock_take(&sp_store.lock, &lock_state);
	s->times->allowed = sp_store_text(&sp_store, allowed);
	sp_lock_give(&sp_store.lock, &lock_state);
}

/* Notes in the relation how its counts are attributed, and why they are not proven. */
static void note_attribution(struct sp_set *s, enum sp_attribution how, enum sp_why why)
{
	struct sp_relation *r = s->writer.relation;
	struct sp_layout l = sp_relation_layout(r->k, r->cells);
	struct sp_times *t = sp_times_of(r, &l);

	sp_relation_set_attribution(r, how, why);
	if (!s->percpu)
		return;
	store_relaxed(&s->times, t);
	t->flags = SP_TIMES_KNOWN | (sp_percpu_counts_moves(s->percpu) ? SP_TIMES_MOVES : 0);
	sp_percpu_error_margins(s->percpu, t->at + r->cells);
	note_allowed_cpus(s);
}

/* Calls a function for each set that this thread has started and for which no call is in flight. */
static void each_running(void (*callback)(struct sp_set *s, struct sp_percpu *p,
					  const struct sp_cpus *to),
			 const struct sp_cpus *to)
{
	for (unsigned c = 0; c < SP_SETS_CHUNKS; c++)
		for (struct sp_set *chunk = load_acquire(&sp_sets[c]), *s = chunk;
		     chunk && s < chunk + SP_SETS_CHUNK; s++) {
			struct sp_percpu *p = load_relaxed(&s->percpu);

			if (p && sp_is_recorded(s) && load_relaxed(&s->started) &&
			    load_relaxed(&s->starter) == sp_thread_state.id &&
			    !load_relaxed(&s->writer.in_flight) &&
			    !(load_relaxed(&s->writer.slow) & (SP_SLOW_MISSED | SP_SLOW_AFTER)))
				callback(s, p, to);
		}
}

static void leave_cpus(struct sp_set *s, struct sp_percpu *p, const struct sp_cpus *to)
{
	sp_percpu_before_affinity(p, to, s->writer.values, &s->perf_fds);
}

void sp_sets_before_affinity(const struct sp_cpus *to)
{
	each_running(leave_cpus, to);
}

static void add_allowed(struct sp_set *s, struct sp_percpu *p, const struct sp_cpus *to)
{
	if (sp_percpu_add_allowed(p, to) && s->times) {
		s->times->allowed = 0;
		note_allowed_cpus(s);
	}
}

void sp_sets_after_affinity(const struct sp_cpus *to)
{
	each_running(add_allowed, to);
}

/* Counts the calls of the set's overflow handlers, or the hits of its histograms, from now on. */
static void bind_overflows(struct sp_set *s)
{
	struct sp_overflow_writer w;
	struct sp_lock_state lock_state;

	sp_lock_take(&sp_store.lock, &lock_state);
	w = sp_store_overflows(&sp_store, s->writer.relation);
	sp_lock_give(&sp_store.lock, &lock_state);
	store_relaxed(&s->overflows.n, w.n);
	store_release(&s->overflows.block, w.block);
	if (!w.block)
		sp_process_note_quiet(
			"no memory for the calls of an overflow handler: they are not counted");
}

static bool is_monotonic(const struct sp_set *s, const struct set_state *h)
{
	bool is = h->perf_event && !s->multiplexed && s->perf_fds.n;

	for (int i = 0; is && i < h->k; i++) {
		is = h->terms[i]->n;
		for (uint32_t t = 0; t < h->terms[i]->n; t++)
			is = is && h->terms[i]->factor[t] > 0;
	}
	return is;
}

static __attribute__((noinline)) void rebind(struct sp_set *s, int id, bool again)
{
	const struct sp_real *papi = &sp_papi_used->real;
	int state = 0, room = event_room(papi, id), codes[room];
	uint32_t ids[room];
	struct sp_gauge_kind gauge[room];
	const struct sp_terms *terms[room];
	uint8_t kinds[room];
	struct set_state h = {
		.codes = codes, .ids = ids, .gauge = gauge, .kinds = kinds, .terms = terms
	};
	enum sp_attribution how;
	enum sp_why why;

	unbind(s);
	s->multiplexed = papi->PAPI_state && papi->PAPI_state(id, &state) == PAPI_OK &&
			 (state & PAPI_MULTIPLEXING);
	if (!sp_thread_state.calls || !query_events(papi, id, &h, room) || !find_events(papi, &h))
		return;
	h.cpu_attached = state & PAPI_CPU_ATTACHED;
	find_target(s, id, state, h.perf_event);
	find_domains(s, id, &h);
	s->is_monotonic = is_monotonic(s, &h);
	how = prepare_percpu(s, id, &h, &why);
	choose_scope(s, &h);
	if (is_misread(s))
		sp_process_note_quiet("PAPI_INHERIT was changed while an event set had events: "
				      "its counts are unproven and may be wrong; set the option "
				      "before adding events");
	if (h.is_awaited)
		sp_process_note_quiet(
			"an event set was started before its software-defined event was "
			"registered: of the event's readings, only the last is shown, as bits");
	if (s->multiplexed)
		sp_process_note_quiet("an event set was multiplexed: its counts are PAPI's "
				      "estimates and unproven");
	bind_relation(s, id, &h, again);
	if (load_relaxed(&s->is_bound))
		note_attribution(s, how, why);
	if (load_relaxed(&s->is_bound) && ((state & PAPI_OVERFLOWING) || s->has_histograms))
		bind_overflows(s);
	choose_fast_path(s, h.scope);
	sp_process_report_truncated();
}

/* Binds the set unless another thread's call, or a call that this one interrupted, is in flight.
 * The set then keeps its relation if it still has the same contents, else it is not recorded.
 * other: its contents changed. */
static void bind_if_free(struct sp_set *s, int id, bool again, bool other)
{
	if (!sp_records_take(&s->writer, FRAME, sp_thread_state.id, other)) {
		if (other)
			stay_unbound(s);
		return;
	}
	rebind(s, id, again);
	sp_records_give(&s->writer, sp_thread_state.id, sp_thread_state.id);
}

void sp_set_prepare_again(struct sp_set *s, int id)
{
	bind_if_free(s, id, true, true);
}

void sp_set_prepare(struct sp_set *s, int id)
{
	struct sp_percpu *percpu = load_relaxed(&s->percpu);
	uint32_t more;
	bool other = !load_relaxed(&s->is_bound) || load_relaxed(&s->changed) ||
		     load_relaxed(&s->bound_changes) != load_relaxed(&s->perf_fds.changes);

	if (other || load_relaxed(&s->starter) != sp_thread_state.id ||
	    (percpu && !sp_percpu_matches(percpu, &s->perf_fds))) {
		bind_if_free(s, id, false, other);
		return;
	}
	if (!sp_records_take(&s->writer, FRAME, sp_thread_state.id, false))
		return;
	more = sp_intervals_wanted(&s->writer.intervals);
	if (SP_UNLIKELY(more) && sp_conf.callsites)
		make_intervals(s, s->writer.intervals.room + more, more);
	choose_fast_path(s, (enum sp_scope)s->writer.relation->scope);
	sp_records_give(&s->writer, sp_thread_state.id, 0);
}
