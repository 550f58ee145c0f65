/* t-readings.c: readings.h: permanent readings are kept in order, with their call sites, found by
 * their time, bounded, dropped when threads are added together.
 */
#include "test.h"

#include "../../core/base/out.h"
#include "../../core/base/sys.h"
#include "../../core/formats/format-writer.h"
#include "../../core/store/readings.h"
#include "stores.h"

#define CPUS 4

static struct sp_writer w;
static struct sp_log sp_log;
static sp_off thread;

static int set_up(void **state)
{
	open_store(state);
	flat_machine(CPUS);
	for (int i = 0; i < 2; i++)
		sp_store_event(&store, &(struct sp_event_text){ .name = "EV" });
	assert_non_null(sp_store_thread(&store, 77, "t", &thread));
	return 0;
}

static const uint32_t both[] = { 0, 1 };

static void bind(uint64_t most)
{
	struct sp_relation_key key = { .k = 2, .event = both };
	struct sp_relation *r = bind_new(&store, thread, &key, &w, NULL);

	sp_log_open(&sp_log, &store, r, 2, most);
	sp_records_log(&w, &sp_log, SP_ENTRIES_PERMANENT, true);
	book_call(&w, SP_OP_START, 0, NULL, false, 0);
}

static void reading(int cpu, long long x)
{
	book_call(&w, SP_OP_READ, cpu, (const long long[]){ x, -x }, true, 0);
}

/* Most on one CPU, a few elsewhere. */
static int cpu_of(uint64_t i)
{
	return i % 100 < 95 ? 1 : (int)(i % CPUS);
}

static void check_row(struct sp_model *m, struct sp_row *row, uint64_t first, uint64_t n,
		      uint64_t refused)
{
	struct sp_kept at = { 0 };
	uint64_t ns = 0;

	assert_int_equal(row->kept, n);
	assert_int_equal(row->refused, refused);
	for (uint64_t i = 0; i < n; i++) {
		assert_true(sp_row_kept(m, row, &at));
		assert_true(at.ns > ns);
		ns = at.ns;
		if (at.value[0] != (int64_t)(first + i) || at.value[1] != -at.value[0] ||
		    at.cpu != cpu_of(first + i))
			fail_msg("reading %lu: %ld %ld on %d", (unsigned long)i, (long)at.value[0],
				 (long)at.value[1], at.cpu);
	}
	assert_false(sp_row_kept(m, row, &at));
}

static void check_list(struct sp_model *m, uint64_t first, uint64_t n, uint64_t refused)
{
	struct sp_row row = { 0 };

	open_first(m, &row);
	check_row(m, &row, first, n, refused);
}

static void in_order(void **state)
{
	const uint64_t n = 300000;
	struct sp_model m;
	struct sp_row row = { 0 };
	struct sp_kept at = { 0 };
	struct sp_at_cpu cpu;
	uint64_t before, found = 0;
	int64_t total = 0;

	bind(UINT64_MAX);
	before = store.header->used;
	for (uint64_t i = 0; i < n; i++)
		reading(cpu_of(i), (long long)i);
	assert_true(store.header->used - before < n * (28 + 2 * 8));
	check_list(&m, 0, n, 0);
	assert_true(sp_model_next(&m, &row));
	while (sp_row_kept(&m, &row, &at)) {
		const struct sp_reading *r =
			sp_readings_find(&store.reader, w.relation->readings, at.ns);

		found += r && r->ns == at.ns && r->value[0] == at.value[0];
	}
	assert_int_equal(found, n);
	assert_null(sp_readings_find(&store.reader, w.relation->readings, 1));
	assert_null(sp_readings_find(&store.reader, w.relation->readings, at.ns + 1));
	for (uint32_t i = 0; sp_row_cell(&m, &row, i, &cpu); i++) {
		total += cpu.total[0];
		assert_false(cpu.has_entry);
	}
	assert_int_equal(total, n - 1);
	sp_model_close(&m);
}

/* A permanent accumulation leaves the entry before it and what was added, across folds and runs; no
 * fold for each. */
static void accumulated(void **state)
{
	struct sp_model m;
	struct sp_row row = { 0 };
	struct sp_kept at = { 0 };
	uint64_t place = 0;
	int64_t want[3000], is = 0;

	for (uint64_t i = 0; i < SP_COUNT(want); i++) {
		int cpu = cpu_of(i / 40);
		int64_t x = (int64_t)(i * i % 1009);
		bool reads = i % 97 < 30;

		if (i % 500 == 0)
			bind(UINT64_MAX);
		else if (i % 500 == 90)
			place = w.relation->place;
		book_call(&w, reads ? SP_OP_READ : SP_OP_ACCUM, cpu, (const long long[]){ x, -x },
			  true, i % 97 == 50);
		want[i] = is = reads ? x : is + x;
		assert_true(i % 500 != 96 || w.relation->place == place);
	}
	open_first(&m, &row);
	for (uint64_t i = 0; i < SP_COUNT(want); i++) {
		assert_true(sp_row_kept(&m, &row, &at));
		assert_int_equal(at.value[0], want[i]);
		assert_int_equal(at.value[1], -want[i]);
		assert_int_equal(at.cpu, cpu_of(i / 40));
	}
	assert_false(sp_row_kept(&m, &row, &at));
	sp_model_close(&m);
}

static void limit(void **state)
{
	struct sp_model m;

	bind(1000);
	for (uint64_t i = 0; i < 1500; i++)
		reading(cpu_of(i), (long long)i);
	check_list(&m, 0, 1000, 500);
	assert_int_equal(m.sums.total[0], 1499);	/* the totals have them all */
	assert_int_equal(m.tally.refused, 500);
	sp_model_close(&m);
}

static void none_at_all(void **state)
{
	struct sp_model m;

	bind(0);
	reading(1, 5);
	check_list(&m, 0, 0, 1);
	sp_model_close(&m);
}

/* The set is made again: the same relation, the same list, the same bound. */
static void goes_on(void **state)
{
	struct sp_model m;

	for (uint64_t i = 0; i < 2000; i++) {
		if (i % 7 == 0)
			bind(1999);
		reading(cpu_of(i), (long long)i);
	}
	check_list(&m, 0, 1999, 1);
	sp_model_close(&m);
}

static void no_memory(void **state)
{
	struct sp_model m;

	bind(UINT64_MAX);
	store.region.limit = store.region.mapped;
	for (uint64_t i = 0; i < 100000; i++)
		reading(cpu_of(i), (long long)i);
	assert_int_equal(sp_log_kept(&sp_log) + w.relation->refused, 100000);
	assert_true(w.relation->refused > 90000);
	check_list(&m, 0, sp_log_kept(&sp_log), w.relation->refused);
	assert_int_equal(m.sums.total[0], 99999);
	sp_model_close(&m);
}

/* What was accumulated while there was no memory is in the first entry after it. */
static void accumulated_without_memory(void **state)
{
	struct sp_model m;
	struct sp_row row = { 0 };
	struct sp_kept at = { 0 };
	int64_t is = 0;
	uint64_t kept;

	bind(UINT64_MAX);
	store.region.limit = store.region.mapped;
	for (is = 0; is < 100000; is++)
		book_call(&w, SP_OP_ACCUM, 1, (const long long[]){ 1, -1 }, true, 0);
	kept = sp_log_kept(&sp_log);
	assert_true(kept && kept < 50000);
	store.region.limit = 0;
	for (int i = 0; i < 1000; i++, is++) {
		if (i % 100 == 0)
			bind(UINT64_MAX);
		book_call(&w, SP_OP_ACCUM, 1, (const long long[]){ 1, -1 }, true, 0);
	}
	assert_int_equal(sp_log_kept(&sp_log), kept + 1000);
	open_first(&m, &row);
	for (uint64_t i = 0; i < kept + 1000; i++) {
		assert_true(sp_row_kept(&m, &row, &at));
		assert_int_equal(at.value[0],
				 i < kept ? (int64_t)i + 1 : is - (int64_t)(kept + 1000 - i) + 1);
	}
	sp_model_close(&m);
}

/* Killed while a reading was written: its number is not there yet. */
static void half_a_reading(void **state)
{
	struct sp_model m;

	bind(UINT64_MAX);
	for (uint64_t i = 0; i < 100; i++)
		reading(cpu_of(i), (long long)i);
	((struct sp_reading *)sp_reading_at(sp_log.chunk, sp_log.n - 1))->number = 0;
	check_list(&m, 0, 99, 0);
	sp_model_close(&m);
}

/* Opens the store as a compact one. */
static void open_compact(struct sp_model *m)
{
	static _Alignas(8) char bytes[1 << 20];
	static struct sp_store_reader reader;
	struct sp_model live;
	struct sp_out o;

	open_model(&live);
	sp_memory_init(&o, bytes, sizeof(bytes));
	o.own = true;
	sp_format_writer_by_name("store", 5)->write(&o, &(struct sp_selection){ .m = &live });
	assert_int_equal(o.error, 0);
	sp_model_close(&live);
	reader = (struct sp_store_reader){ .base = (unsigned char *)bytes, .bytes = o.used };
	assert_int_equal(sp_model_open(m, &reader), 0);
	assert_int_not_equal(m->h.compact.members, 0);
}

/* The compact form has the same readings, in chunks of its own that are numbered and linked like
 * the process's. */
static void compact(void **state)
{
	const uint64_t n = 10000;
	struct sp_row row = { 0 };
	struct sp_model m;
	uint64_t before = 0;

	bind(UINT64_MAX);
	for (uint64_t i = 0; i < n; i++)
		reading(cpu_of(i), (long long)i);
	open_compact(&m);
	assert_true(sp_model_next(&m, &row));
	check_row(&m, &row, 0, n, 0);
	assert_true(row.walk.chunks > 3);
	for (uint32_t i = 0; i < row.walk.chunks; i++) {
		const struct sp_chunk *c = m.walk.chunk[i], *older = i ? m.walk.chunk[i - 1] : NULL;

		assert_int_equal(c->number, i);
		assert_int_equal(c->first, before);
		assert_int_equal(c->first_ns, sp_reading_at(c, 0)->ns);
		assert_ptr_equal(sp_store_readings_at(m.reader, c->next), older);
		before += c->room;
	}
	assert_int_equal(before, n);
	sp_model_close(&m);
}

/* Makes call sites 1 to SITES; the last two are one place in the code. */
#define SITES	5
static void make_sites(void)
{
	struct sp_sites *b = sp_store_sites(&store, 1);

	store.header->callsites = 1;
	for (uint32_t i = 0; i < SITES; i++) {
		struct sp_site *s = (struct sp_site *)((char *)(b + 1) + i * sp_site_bytes(1));

		s->n = 1;
		((struct sp_frame *)(s + 1))->address = 100 + sp_min(i, SITES - 2);
	}
}

/* A pass of calls, and the call sites of its readings' windows as the model numbers them. */
static const struct {
	enum sp_op op;
	uint32_t site, from, to;
	int cpu;
} calls[] = {
	{ SP_OP_START, 1, 0, 0, 0 },
	{ SP_OP_READ, 2, 1, 2, 1 },
	{ SP_OP_READ, 2, 2, 2, 1 },
	{ SP_OP_READ, 2, 2, 2, 1 },	/* these repeat the one before */
	{ SP_OP_READ, 2, 2, 2, 1 },
	{ SP_OP_READ, 3, 2, 3, 1 },
	{ SP_OP_RESET, 1, 0, 0, 0 },
	{ SP_OP_READ, 5, 1, 4, 1 },
	{ SP_OP_ACCUM, 4, 4, 4, 1 },
	{ SP_OP_ACCUM, 4, 4, 4, 1 },
	{ SP_OP_READ, 4, 4, 4, 2 },	/* on another CPU */
	{ SP_OP_STOP, 3, 4, 3, 2 },
};

static void check_sites(struct sp_model *m, unsigned passes, bool known)
{
	struct sp_row row = { 0 };
	struct sp_kept at = { 0 };

	assert_int_equal(m->n_callsites, SITES + 1);
	assert_true(sp_model_next(m, &row));
	for (unsigned i = 0; i < passes * SP_COUNT(calls); i++) {
		uint32_t from = calls[i % SP_COUNT(calls)].from, to = calls[i % SP_COUNT(calls)].to;

		if (!to)
			continue;
		assert_true(sp_row_kept(m, &row, &at));
		if (at.from != (known ? from : 0) || at.to != (known ? to : 0))
			fail_msg("call %u: from %u to %u", i, at.from, at.to);
	}
	assert_false(sp_row_kept(m, &row, &at));
}

/* Each reading has the call sites of its window, on the fast and the slow path, in a compact store
 * as in the process's. */
static void call_sites(void **state)
{
	const unsigned passes = 300;
	long long x = 0;
	struct sp_model m;

	make_sites();
	for (unsigned i = 0; i < passes * SP_COUNT(calls); i++) {
		enum sp_op op = calls[i % SP_COUNT(calls)].op;
		bool reads = op != SP_OP_START && op != SP_OP_RESET;

		if (i % (100 * SP_COUNT(calls)) == 0) {
			struct sp_relation_key key = { .k = 2, .event = both };
			struct sp_relation *r = bind_new(&store, thread, &key, &w, NULL);

			sp_log_open(&sp_log, &store, r, 2, UINT64_MAX);
			/* the second hundred as if temporary readings were among them */
			sp_records_log(&w, &sp_log, SP_ENTRIES_PERMANENT,
				       i / SP_COUNT(calls) != 100);
		}
		x = reads ? x + 1 : 0;
		book_call(&w, op, calls[i % SP_COUNT(calls)].cpu,
			  reads ? (const long long[]){ x, x } : NULL, i % 7 != 0,
			  calls[i % SP_COUNT(calls)].site);
	}
	open_model(&m);
	check_sites(&m, passes, true);
	sp_model_close(&m);
	open_compact(&m);
	check_sites(&m, passes, true);
	sp_model_close(&m);

	/* an earlier writer's */
	open_model(&m);
	assert_true(sp_model_next(&m, &(struct sp_row){ 0 }));
	assert_true(m.walk.most_chunks > 5);
	for (uint32_t i = 0; i < m.walk.most_chunks; i++)
		((struct sp_chunk *)m.walk.chunk[i])->sites = 0;
	sp_model_close(&m);
	open_model(&m);
	check_sites(&m, passes, false);
	sp_model_close(&m);
}

/* A chunk that has no room for the call sites that it claims is damaged. */
static void damaged_sites(void **state)
{
	struct sp_chunk *c;

	make_sites();
	bind(UINT64_MAX);
	c = sp_log.chunk;
	assert_ptr_equal(sp_store_readings_at(&store.reader, w.relation->readings), c);
	c->room = (uint32_t)((c->b.bytes - sizeof(*c)) / sp_reading_bytes(2));
	assert_null(sp_store_readings_at(&store.reader, w.relation->readings));
	c->sites = 0;
	assert_non_null(sp_store_readings_at(&store.reader, w.relation->readings));
}

static int last_alive;

static bool has_ended(int tid)
{
	return tid != last_alive;
}

/* Threads without end: their readings go, their counts stay, memory does not grow. */
static void folded(void **state)
{
	uint64_t used = 0, n = SP_FOLD_ABOVE + 1500;
	struct sp_model m;

	for (uint64_t i = 1; i <= n; i++) {
		last_alive = (int)i;
		sp_store_fold(&store, has_ended, never, NULL);
		assert_non_null(sp_store_thread(&store, (int)i, "t", &thread));
		bind(1000);
		for (int x = 1; x <= 300; x++)
			reading(1, x);
		if (i == SP_FOLD_ABOVE + 700)
			used = store.header->used;
	}
	assert_true(store.header->used < used + 1000000);
	open_model(&m);
	assert_int_equal(m.sums.total[0], 300 * n);
	assert_int_equal(m.tally.kept + m.tally.refused, 300 * n);
	assert_true(m.tally.refused >= 300 * 1400);
	sp_model_close(&m);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, close_store)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(in_order),
		TEST(accumulated),
		TEST(limit),
		TEST(none_at_all),
		TEST(goes_on),
		TEST(no_memory),
		TEST(accumulated_without_memory),
		TEST(half_a_reading),
		TEST(compact),
		TEST(call_sites),
		TEST(damaged_sites),
		TEST(folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
