/* t-model.c: model.h: sums up a tree, places on it, and stores whose bytes are
 * damaged in every way that 4000 random mutations find (fuzz.t: 10000, sanitized): nothing crashes,
 * nothing takes long.  T_MODEL_ONE=n tries mutation n alone,
 * T_MODEL_MUTATIONS=n so many.
 */
#include "test.h"

#include "../../core/formats/format-writer.h"
#include "../../core/model/core-kinds.h"
#include "stores.h"

#define N(a) ((uint32_t)SP_COUNT(a))

#if defined(__SANITIZE_ADDRESS__)
#define SLOW_BUILD 8
#else
#define SLOW_BUILD 1
#endif
#define MUTATIONS (getenv("T_MODEL_MUTATIONS") ? atol(getenv("T_MODEL_MUTATIONS")) : 4000)

/* ---- a store with everything in it ------------------------------------------ */

enum { MACHINE, PACK0, NUMA0, CORE0, PU0, PU1, PACK1, L3, NUMA1, CACHE, PU2, PU5, ALL };

static const struct sp_component tree[ALL] = {
	[MACHINE] = { .parent = -1, .cpu_kind = -1, .type = "Machine" },
	[PACK0] = { .parent = MACHINE,
		    .cpu_kind = -1,
		    .depth = 1,
		    .gp_index = 1,
		    .type = "Package" },
	[NUMA0] = { .parent = PACK0,
		    .flags = SP_COMPONENT_MEMORY,
		    .depth = 2,
		    .size = 1u << 30,
		    .gp_index = 2,
		    .type = "NUMANode" },
	[CORE0] = { .parent = PACK0, .depth = 2, .gp_index = 3, .type = "Core", .name = "big" },
	[PU0] = { .parent = CORE0, .os_index = 0, .depth = 3, .gp_index = 4, .type = "PU" },
	[PU1] = { .parent = CORE0,
		  .os_index = 1,
		  .logical_index = 1,
		  .depth = 3,
		  .gp_index = 5,
		  .type = "PU" },
	[PACK1] = { .parent = MACHINE,
		    .os_index = 1,
		    .logical_index = 1,
		    .depth = 1,
		    .gp_index = 6,
		    .type = "Package" },
	[NUMA1] = { .parent = L3,
		    .os_index = 1,
		    .flags = SP_COMPONENT_MEMORY,
		    .depth = 3,
		    .gp_index = 7,
		    .type = "NUMANode" },
	[L3] = { .parent = PACK1, .depth = 2, .size = 1u << 20, .gp_index = 8, .type = "L3" },
	[CACHE] = { .parent = L3,
		    .flags = SP_COMPONENT_MEMORY,
		    .depth = 3,
		    .gp_index = 9,
		    .type = "MemCache" },
	[PU2] = { .parent = L3, .os_index = 2, .depth = 3, .gp_index = 10, .type = "PU" },
	[PU5] = { .parent = L3,
		  .os_index = 5,
		  .flags = SP_COMPONENT_DISALLOWED,
		  .depth = 3,
		  .gp_index = 11,
		  .type = "PU" },
};

static const char xml[] =
	"<?xml version=\"1.0\"?><topology version=\"2.0\"><object type=\"Machine\" gp_index=\"0\">"
	"<object type=\"Package\" gp_index=\"1\"><object type=\"PU\" gp_index=\"4\"/></object>"
	"</object></topology>";

enum { EV_A, EV_B, EV_GAUGE, EV_FP };

static void make_events(void)
{
	static const char *const natives[] = { "perf::A", "perf::B" };
	static const struct sp_event_text events[] = {
		{ .name = "EV_A",
		  .component = "perf_event",
		  .description = "first, \"quoted\" <&>\x01",
		  .code = 0x40000000 },
		{ .name = "PAPI_B",
		  .derived = "DERIVED_ADD",
		  .postfix = "N0|N1|+|",
		  .units = "",
		  .n_natives = 2,
		  .natives = natives,
		  .code = 0x80000032 },
		{ .name = "TEMP", .component = "coretemp", .units = "C", .kind = SP_GAUGE },
		{ .name = "FP", .data_type = SP_FP64 },
		{ .name = "U", .data_type = SP_UINT64 },
		{ .name = "BITS", .data_type = SP_BIT64 },
	};

	for (uint32_t i = 0; i < N(events); i++)
		assert_int_equal(sp_store_event(&store, &events[i]), i);
}

static void book(struct sp_writer *w, enum sp_op op, int cpu, long long a, long long b)
{
	book_call(w, op, cpu, op == SP_OP_START ? NULL : (const long long[]){ a, b, a, b }, false,
		  0);
}

/* How its counts were told to CPUs. */
static void tell(struct sp_relation *r)
{
	struct sp_layout l = sp_relation_layout(r->k, r->cells);
	struct sp_times *t = sp_times_of(r, &l);

	*t = (struct sp_times){ .allowed = sp_store_text(&store, "0-1,5"), .moves = 4, .windows = 3,
				.flags = SP_TIMES_KNOWN | SP_TIMES_MOVES };
	for (uint32_t i = 0; i < r->cells + r->k; i++)
		t->at[i] = 1000 + i;
	sp_relation_set_attribution(r, SP_BY_APPROXIMATE, SP_WHY_OVERFLOW);
}

static void make_relations(void)
{
	struct sp_relation_key two = { .event_set = 3,
				       .k = 2,
				       .event = (const uint32_t[]){ EV_A, EV_B } };
	struct sp_relation_key four = { .k = 4,
					.event = (const uint32_t[]){ EV_GAUGE, EV_FP, 4, 5 },
					.target = SP_TARGET_CPU,
					.target_id = 2,
					.flags = SP_RELATION_PROVEN };
	struct sp_writer w;
	struct sp_thread *t;
	sp_off thread;

	t = sp_store_thread(&store, 100, "main", &thread);
	assert_non_null(t);
	t->calls[0] = 7;
	bind_new(&store, thread, &two, &w, NULL);
	tell(w.relation);
	book(&w, SP_OP_START, 0, 0, 0);
	book(&w, SP_OP_READ, 0, 10, 100);
	book(&w, SP_OP_READ, 1, 13, 120);
	book(&w, SP_OP_READ, 5, 20, 121);
	book(&w, SP_OP_READ, 77, 21, 122);	/* a CPU that the topology lacks */
	book(&w, SP_OP_READ, 3, 23, 122);	/* a hole among those that it has */
	book(&w, SP_OP_ACCUM, SP_NO_CPU, 30, 125);
	book(&w, SP_OP_READ, 2, 4, 1);
	bind_new(&store, thread, &four, &w, NULL);
	book(&w, SP_OP_START, 0, 0, 0);
	book(&w, SP_OP_STOP, 2, 1000, 2000);
	assert_non_null(sp_store_thread(&store, 101, "worker", &thread));
	bind_new(&store, thread, &two, &w, NULL);
	book(&w, SP_OP_START, 0, 0, 0);
	book(&w, SP_OP_READ, 1, 1000, 5);
}

static int make_store(void **state)
{
	static const char *const calls[] = { "PAPI_start", "PAPI_read" };
	struct sp_header *h;

	assert_int_equal(sp_store_open(&store), 0);
	assert_int_equal(sp_store_topology(&store, tree, ALL, 6, "system", xml, sizeof(xml) - 1),
			 0);
	h = store.header;
	h->call_names = sp_store_texts(&store, 2, calls);
	h->process.exe = sp_store_text(&store, "/bin/app");
	h->process.host = sp_store_text(&store, "host");
	h->process.args = sp_store_texts(&store, 2, calls);
	h->papi_library = sp_store_text(&store, "libpapi.so.7.0");
	h->process.pid = 42;
	make_events();
	make_relations();
	sp_store_note(&store, "first note");
	sp_store_note(&store, "second note");
	return 0;
}

/* ---- sums -------------------------------------------------------------------- */

static int64_t sum_of(const struct sp_model *m, int component, int event)
{
	return m->sums.below[(uint32_t)component * m->n_events + (uint32_t)event];
}

static void check_sums(const struct sp_model *m)
{
	static const int64_t of_a[ALL] = {
		[MACHINE] = 10 + 3 + 7 + 4 + 1000,
		[PACK0] = 1013,
		[NUMA0] = 1013,
		[CORE0] = 1013,
		[PU0] = 10,
		[PU1] = 1003,
		[PACK1] = 11,
		[L3] = 11,
		[NUMA1] = 11,
		[CACHE] = 11,
		[PU2] = 4,
		[PU5] = 7,
	};

	assert_int_equal(m->sums.total[EV_A], 30 + 4 + 1000);
	assert_int_equal(m->sums.total[EV_B], 125 + 1 + 5);
	assert_int_equal(m->sums.unplaced[EV_A], 1 + 2 + 7);
	for (int c = 0; c < ALL; c++)
		assert_int_equal(sum_of(m, c, EV_A), of_a[c]);
	assert_int_equal(sum_of(m, MACHINE, EV_GAUGE), 0);
	assert_int_equal(sum_of(m, MACHINE, EV_FP), 2000);		/* a double, by its bits */
	assert_int_equal(m->sums.total[EV_GAUGE], 0);
	assert_int_equal(sum_of(m, PU2, 4), 1000);
	assert_int_equal(m->sums.below_exact[PU2 * m->n_events + 4], 1000);
	assert_int_equal(m->sums.total_exact[EV_A], 0);
	assert_int_equal(m->tally.cpus_counted, 4);
	assert_true(m->sums.counted[CACHE] && m->sums.counted[PU5] && m->event_counted[EV_FP]);
}

static void sums(void **state)
{
	struct sp_model m;

	open_model(&m);
	assert_int_equal(m.n_events, 6);
	assert_int_equal(m.tally.threads, 2);
	assert_int_equal(m.tally.relations, 3);
	assert_int_equal(m.tally.calls[0], 7);
	check_sums(&m);
	assert_string_equal(m.topology_source, "system");
	assert_int_equal(m.machine[0].xml_bytes, sizeof(xml) - 1);
	assert_memory_equal(m.machine[0].xml, xml, sizeof(xml) - 1);
	assert_string_equal(sp_model_call_name(&m, 1), "PAPI_read");
	assert_null(sp_model_call_name(&m, 2));
	assert_null(sp_model_call_name(&m, SP_CALLS_MAX));
	assert_string_equal(sp_model_note(&m, 0), "first note");
	assert_string_equal(sp_model_note(&m, 1), "second note");
	assert_null(sp_model_note(&m, 2));
	assert_string_equal(sp_model_text(&m, m.event[EV_A]->name), "EV_A");
	sp_model_close(&m);
}

/* PU0 and PU1 are of kind 1, PU2 of kind 0, PU5 of none. */
static void kinds(void **state)
{
	struct sp_component c[ALL];
	struct sp_model m;

	sp_store_set_event_pmu(&store, EV_A, "cpu_atom");
	sp_store_set_event_pmu(&store, 1000, "of no event");
	for (uint32_t i = 0; i < ALL; i++) {
		c[i] = tree[i];
		c[i].cpu_kind = i == CORE0 || i == PU0 || i == PU1 ? 1
				: i == PU2			   ? 0
				: i == PU5			   ? 1000
								   : -1;
	}
	assert_int_equal(sp_store_topology(&store, c, ALL, 6, "system", xml, sizeof(xml) - 1), 0);
	open_model(&m);
	assert_int_equal(m.tally.damaged, 0);
	assert_memory_equal(m.machine[0].xml, xml, sizeof(xml) - 1);
	assert_int_equal(m.kinds, 3);
	assert_string_equal(sp_model_text(&m, m.event[EV_A]->pmu), "cpu_atom");
	assert_int_equal(sp_kind_of(&m, CORE0), 1);
	assert_int_equal(sp_kind_of(&m, PU5), -1);
	assert_int_equal(sp_kinds_below(&m, PACK0), 2);
	assert_int_equal(sp_kinds_below(&m, NUMA0), 2);
	assert_int_equal(sp_kinds_below(&m, PACK1), 1);
	assert_int_equal(sp_kinds_below(&m, MACHINE), 3);
	sp_model_close(&m);
}

static void above(void **state)
{
	static const struct {
		int32_t of;
		const char *type;
		int32_t above;
	} is[] = {
		{ PU1, "PU", PU1 }, { PU1, "Core", CORE0 }, { PU1, "NUMANode", NUMA0 },
		{ PU5, "NUMANode", NUMA1 },
		{ PU5, "L3", L3 }, { PU5, "Core", -1 }, { PU5, "Machine", MACHINE },
		{ MACHINE, "NUMANode", -1 },
		{ NUMA0, "NUMANode", NUMA0 }, { -1, "PU", -1 }, { ALL, "PU", -1 },
	};
	struct sp_model m;

	open_model(&m);
	for (uint32_t i = 0; i < N(is); i++)
		assert_int_equal(sp_model_above(&m, is[i].of, is[i].type), is[i].above);
	sp_model_close(&m);
}

static void rows(void **state)
{
	static const int32_t cpus[] = { 0, 1, 2, 3, 5, 77, SP_NO_CPU };
	static const int32_t places[] = { PU0, PU1, PU2, -1, PU5, -1, -1 };
	static const int64_t totals[] = { 10, 3, 4, 2, 7, 1, 7 };
	struct sp_model m;
	struct sp_row row = { 0 };
	struct sp_at_cpu at;

	open_first(&m, &row);
	assert_int_equal(row.tid, 100);
	assert_string_equal(row.thread, "main");
	assert_int_equal(row.event_set, 3);
	assert_int_equal(row.cells, N(cpus));
	for (uint32_t i = 0; i < N(cpus); i++) {
		assert_true(sp_row_cell(&m, &row, i, &at));
		assert_int_equal(at.cpu, cpus[i]);
		assert_int_equal(at.total[0], totals[i]);
		assert_int_equal(at.component, places[i]);
	}
	assert_false(sp_row_cell(&m, &row, row.cells, &at));
	assert_true(sp_model_next(&m, &row));
	assert_int_equal(row.target, SP_TARGET_CPU);
	assert_int_equal(row.target_id, 2);
	assert_true(sp_row_cell(&m, &row, 0, &at));
	assert_memory_equal(at.exact, at.total, 4 * 8);
	assert_true(sp_model_next(&m, &row));
	assert_int_equal(row.tid, 101);
	assert_false(sp_model_next(&m, &row));
	assert_false(sp_model_next(&m, &row));
	sp_model_close(&m);
}

static void empty(void **state)
{
	struct sp_model m;
	struct sp_row row = { 0 };

	open_model(&m);
	assert_false(sp_model_next(&m, &row));
	assert_null(sp_model_note(&m, 0));
	assert_int_equal(m.tally.damaged, 0);
	sp_model_close(&m);
}

static int open_bytes(const void *bytes, uint64_t n)
{
	struct sp_store_reader reader = { .base = bytes, .bytes = n };
	struct sp_model m;
	int r = sp_model_open(&m, &reader);

	if (!r)
		sp_model_close(&m);
	return r;
}

static void headers(void **state)
{
	struct sp_header h = { .magic = SP_MAGIC,
			       .endian = SP_ENDIAN,
			       .version = SP_FORMAT_VERSION,
			       .oldest_reader = SP_FORMAT_OLDEST,
			       .bytes = sizeof(h),
			       .used = sizeof(h) };
	struct sp_header bad = h;

	assert_int_equal(open_bytes(&h, sizeof(h)), 0);
	assert_int_equal(open_bytes(&h, sizeof(h) - 1), -EINVAL);
	assert_int_equal(open_bytes(&h, 0), -EINVAL);
	bad.magic[5] = '\n';
	assert_int_equal(open_bytes(&bad, sizeof(bad)), -EINVAL);
	bad = h;
	bad.endian = 0x04030201u;
	assert_int_equal(open_bytes(&bad, sizeof(bad)), -EINVAL);
	bad = h;
	bad.oldest_reader = SP_FORMAT_VERSION + 1;
	assert_int_equal(open_bytes(&bad, sizeof(bad)), -EPROTO);
	bad = h;
	bad.version = SP_FORMAT_VERSION + 1;	/* newer, but says that we can read it */
	assert_int_equal(open_bytes(&bad, sizeof(bad)), 0);
	bad = h;
	bad.bytes = SP_HEADER_LEAST - 8;	/* shorter than any of its version */
	assert_int_equal(open_bytes(&bad, sizeof(bad)), -EINVAL);
	bad.bytes = sizeof(bad) + 8;	/* longer than what is there */
	assert_int_equal(open_bytes(&bad, sizeof(bad)), -EINVAL);
	bad = h;
	bad.version = SP_FORMAT_OLDEST - 1;
	bad.oldest_reader = 1;
	bad.bytes = 128;		/* as headers were then: its version is the reason */
	assert_int_equal(open_bytes(&bad, 128), -EPROTONOSUPPORT);
	assert_int_equal(open_bytes(&bad, sizeof(bad)), -EPROTONOSUPPORT);
}

/* What follows an older version's header is not part of it. */
static void short_headers(void **state)
{
	struct sp_header h = { .magic = SP_MAGIC,
			       .endian = SP_ENDIAN,
			       .version = 4,
			       .oldest_reader = 4,
			       .bytes = SP_HEADER_LEAST,
			       .used = sizeof(h),
			       .end_boot_ns = 7,
			       .time.cpu_ns = 77,
			       .time.prepare_ns = 77 };
	struct sp_store_reader reader = { .base = (unsigned char *)&h, .bytes = sizeof(h) };
	struct sp_model m;

	assert_int_equal(sp_model_open(&m, &reader), 0);
	assert_int_equal(m.h.end_boot_ns, 7);
	assert_int_equal(m.h.time.cpu_ns, 0);
	assert_int_equal(m.h.time.prepare_ns, 0);
	sp_model_close(&m);
}

/* ---- damage -------------------------------------------------------------------- */

#define MOST	(1u << 17)
#define EDITS	16

static unsigned char good[MOST] __attribute__((aligned(64))),
	bad[MOST] __attribute__((aligned(64)));
static uint64_t size;
static struct {
	uint64_t off;
	unsigned char was[8];
} edit[EDITS];
static int n_edits;
static uint64_t seed;
static volatile long mutation;	/* for a debugger */

static uint64_t rnd(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

static void copy_store(void)
{
	const struct sp_region *r = &store.region;

	size = r->used;
	assert_true(size <= MOST);
	for (uint32_t i = 0; i < r->pieces; i++)
		if (r->piece[i].off < size)
			memcpy(good + r->piece[i].off, r->piece[i].at,
			       sp_min(r->piece[i].ready, size - r->piece[i].off));
	memcpy(bad, good, size);
}

/* Values that break arithmetic, and offsets of blocks. */
static uint64_t nasty(void)
{
	static const uint64_t list[] = { 0,	     1,
					 7,	     8,
					 63,	     64,
					 0x7fffffff, 0x80000000,
					 0xffffffff, 0x100000000,
					 INT64_MAX,  (uint64_t)INT64_MIN,
					 UINT64_MAX, UINT64_MAX - 7,
					 4096,	     4097,
					 65535,	     65536,
					 1u << 20,   (1u << 20) + 1,
					 1u << 26,   1u << 27 };

	switch (rnd(4)) {
	case 0:
		return rnd(size) & ~7ull;
	case 1:
		return rnd(UINT64_MAX);
	case 2:
		return rnd(300);
	default:
		return list[rnd(N(list))];
	}
}

static void change(uint64_t off, const void *bytes, uint64_t n)
{
	edit[n_edits].off = off & ~7ull;
	memcpy(edit[n_edits++].was, good + (off & ~7ull), 8);
	memcpy(bad + off, bytes, n);
}

/* A word of a block's head or of its first fields, where offsets and counts are. */
static uint64_t interesting(void)
{
	switch (rnd(4)) {
	case 0:
		return rnd(sizeof(struct sp_header) / 8) * 8;
	case 1:
		return rnd(size / 64) * 64 + rnd(8) * 8;
	default:
		return rnd(size / 8) * 8;
	}
}

static void damage(void)
{
	uint64_t edits = 1 + rnd(rnd(3) ? 3 : EDITS);

	while (edits--) {
		uint64_t v = nasty(), at = interesting();

		if (rnd(2))
			change(at, &v, 8);
		else if (rnd(2))
			change(at + rnd(2) * 4, &v, 4);
		else
			change(at + rnd(8), &v, 1);
	}
}

static void repair(void)
{
	while (n_edits) {
		n_edits--;
		memcpy(bad + edit[n_edits].off, good + edit[n_edits].off, 8);
	}
}

static volatile uint64_t sink;

static void walk(struct sp_model *m)
{
	struct sp_row row = { 0 };
	struct sp_at_cpu at;
	uint64_t s = 0;

	while (sp_model_next(m, &row)) {
		s += strlen(row.thread);
		for (uint32_t i = 0; i < row.k; i++)
			assert_true(row.event[i] < m->n_events);
		for (uint32_t i = 0; sp_row_cell(m, &row, i, &at); i++)
			for (uint32_t e = 0; e < row.k; e++)
				s += (uint64_t)at.total[e] ^ (uint64_t)at.exact[e] ^
				     (uint64_t)at.entry[e];
	}
	for (uint32_t i = 0; i < m->n_events && i < 4096; i++)
		s += m->event[i] ? strlen(sp_model_text(m, m->event[i]->name)) : 0;
	for (uint32_t i = 0; sp_model_note(m, i); i++)
		s += strlen(sp_model_note(m, i));
	for (uint32_t i = 0; sp_model_call_name(m, i); i++)
		s += strlen(sp_model_call_name(m, i));
	for (uint32_t i = 0; i < m->n_components && i < 64; i++)
		s += (uint64_t)sp_model_above(m, (int32_t)i, "NUMANode");
	sink = s;
}

static void show(struct sp_model *m, const struct sp_format_writer *view, int null)
{
	static char buffer[65536];
	struct sp_out o;

	sp_out_init(&o, null, buffer, sizeof(buffer));
	view->write(&o, &(struct sp_selection){ .m = m });
	(void)sp_out_finish(&o);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* True if it was a store at all. */
static bool look(uint64_t bytes, int null)
{
	/* Behind it nothing: a buffer of just that size, for the sanitizer. */
	unsigned char *exact = bytes < size || SLOW_BUILD > 1
				       ? aligned_alloc(8, sp_max(sp_align(bytes, 8), 8))
				       : bad;
	struct sp_store_reader reader = { .base = exact, .bytes = bytes };
	struct sp_model m;
	bool opened;

	if (exact != bad)
		memcpy(exact, bad, bytes);
	opened = sp_model_open(&m, &reader) == 0;
	if (opened) {
		walk(&m);
		for (unsigned v = 0; v < sp_n_format_writers; v++)
			show(&m, &sp_format_writers[v], null);
		sp_model_close(&m);
	}
	if (exact != bad)
		free(exact);
	return opened;
}

static void damaged(void **state)
{
	const char *one = getenv("T_MODEL_ONE");
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	long opened = 0, from = one ? atol(one) : 0, to = one ? from + 1 : MUTATIONS;
	double slowest = 0, start, limit;

	copy_store();
	start = now();
	assert_true(look(size, null));
	limit = 2000 * (now() - start);		/* some took minutes */
	for (mutation = from; mutation < to; mutation++) {
		double begin = now(), took;

		seed = (uint64_t)(mutation + 1) * 0x9e3779b97f4a7c15ull;
		rnd(2);
		damage();
		opened += look(rnd(8) ? size : rnd(size), null);
		repair();
		took = now() - begin;
		if (took > slowest) {
			slowest = took;
			if (took > limit / 2)
				print_message("mutation %ld took %.2f s\n", mutation, took);
		}
	}
	close(null);
	print_message("%ld of %ld opened, slowest %.4f s, limit %.1f s\n", opened, to - from,
		      slowest, limit);
	assert_true(one || opened > (to - from) / 2);
	assert_true(slowest < limit);
}

static void truncated(void **state)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	copy_store();
	for (uint64_t n = 0; n < size; n += n < 1024 ? 1 : 61)
		look(n, null);
	close(null);
}

/* Lists that lead back into themselves end. */
static void circles(void **state)
{
	struct sp_header *h = (struct sp_header *)bad;
	struct sp_event *e;
	struct sp_thread *t;
	struct sp_note *n;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	copy_store();
	e = (struct sp_event *)(bad + h->lists.events);
	t = (struct sp_thread *)(bad + h->lists.threads);
	n = (struct sp_note *)(bad + h->lists.notes);
	e->next = h->lists.events;
	t->next = h->lists.threads;
	n->next = h->lists.notes;
	h->lists.n_notes = UINT32_MAX;
	((struct sp_relation *)(bad + t->relations))->next = t->relations;
	assert_true(look(size, null));
	h->used = 1ull << 44;		/* how much there is says the file, not its header */
	assert_true(look(size, null));
	((struct sp_topology *)(bad + h->topology))->xml_bytes = 1ull << 62;
	assert_true(look(size, null));
	close(null);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_store, close_store)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sums),
		TEST(above),
		TEST(kinds),
		TEST(rows),
		WITH_STORE(empty),
		cmocka_unit_test(headers),
		cmocka_unit_test(short_headers),
		TEST(truncated),
		TEST(circles),
		TEST(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
