/* t-interval.c: the counts between each two call sites, against a plain table. */
#include "../../core/store/interval.h"
#include "../../core/store/rules.h"
#include "test.h"

#include "stores.h"

#define K	3
#define CPUS	3
#define SITES	6
#define FAR	(CPUS + 1)	/* a CPU that the topology lacks */
#define FLOAT	1		/* the event that is a floating-point counter, where one is */

static struct sp_writer w;
static struct sp_relation *relation;
static uint32_t *slots;
static sp_off thread, relation_off;
static uint32_t seed;
static bool floats;		/* each count of FLOAT is a quarter */
static uint8_t kinds[K];

/* What there must be; to 0: other. */
static struct count {
	uint64_t count;
	int64_t total[K], exact[K];
} want[SITES][SITES][CPUS + 1], cell_of[CPUS + 1];

static uint32_t rnd(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static int open_events(void **state)
{
	floats = *state != NULL;
	open_store(state);
	store.header->callsites = 1;
	flat_machine(CPUS);
	for (int e = 0; e < K; e++)
		assert_int_equal(sp_store_event(&store, &(struct sp_event_text){
			.name = "EV", .data_type = floats && e == FLOAT ? SP_FP64 : SP_INT64 }), e);
	memset(want, 0, sizeof(want));
	memset(cell_of, 0, sizeof(cell_of));
	return 0;
}

/* What reads a store asks whether it has the sites that its intervals name. */
static int open_with_sites(void **state)
{
	open_events(state);
	for (unsigned i = 0; i < SP_SITES_MOST / SP_SITES_EACH; i++) {
		struct sp_sites *b = sp_store_sites(&store, 1);

		assert_non_null(b);
		for (unsigned n = 0; n < SP_SITES_EACH; n++) {
			struct sp_site *s =
				(struct sp_site *)((char *)(b + 1) + n * sp_site_bytes(1));

			s->n = 1;
			((struct sp_frame *)(s + 1))->address = b->first + n;
		}
	}
	return 0;
}

static int64_t bits(long long quarters)
{
	return sp_float_bits((double)quarters / 4);
}

/* Of event e, what the store says in counts. */
static int64_t counts_of(int e, int64_t value)
{
	return floats && e == FLOAT ? (int64_t)(sp_float(value) * 4) : value;
}

static const long long *shown(const long long *x, long long to[K])
{
	if (!floats || !x)
		return x;
	memcpy(to, x, K * sizeof(*to));
	to[FLOAT] = bits(x[FLOAT]);
	return to;
}

static void book(enum sp_op op, int cpu, const long long *x, bool proven, uint32_t site)
{
	long long is[K];

	book_call(&w, op, cpu, shown(x, is), proven, site);
}

static void bind_writer(void)
{
	kinds[FLOAT] = SP_FLOATS;
	sp_records_bind(&w, &store.reader, relation_off, K, relation->cells, floats ? kinds : NULL);
	w.precise = floats;
}

static void room_for(uint32_t room, uint32_t more)
{
	uint32_t n = 8;

	while (n < 2 * room)
		n *= 2;
	if (more)
		assert_non_null(sp_store_intervals(&store, relation, K, more));
	free(slots);
	slots = calloc(n, sizeof(*slots));
	sp_records_intervals(&w, slots, n);
}

static void bind(int tid, uint32_t first)
{
	struct sp_relation_key key = { .k = K, .event = (const uint32_t[]){ 0, 1, 2 } };
	uint32_t room;

	assert_non_null(sp_store_thread(&store, tid, "t", &thread));
	relation = sp_store_relation(&store, thread, &key, NULL, NULL, &relation_off);
	assert_non_null(relation);
	bind_writer();
	room = sp_intervals_room(&store.reader, relation->intervals, K);
	room_for(room ? room : first, room ? 0 : first);
}

static void bind_again(void)
{
	bind_writer();
	room_for(sp_intervals_room(&store.reader, relation->intervals, K), 0);
}

/* ---- the plain table ------------------------------------------------------ */

static int slot(int cpu)
{
	return cpu >= 0 && cpu < CPUS ? cpu : CPUS;
}

static bool same(const struct count *c, const struct sp_interval_counts *at)
{
	for (int e = 0; e < K; e++)
		if (c->total[e] != counts_of(e, at->total[e]) ||
		    c->exact[e] != counts_of(e, at->exact[e]))
			return false;
	return c->count == at->count;
}

static bool zero(const struct count *c)
{
	static const struct count none;

	return memcmp(c, &none, sizeof(none)) == 0;
}

static uint32_t compare(bool all_have_room)
{
	bool seen[SITES][SITES][CPUS + 1] = { 0 };
	struct count sum[CPUS + 1] = { 0 };
	struct sp_row row = { 0 };
	struct sp_interval_counts at;
	struct sp_model m;

	open_first(&m, &row);
	for (uint32_t i = 0; sp_row_interval(&m, &row, i, &at); i++) {
		struct count *c = &sum[slot(at.cpu)];

		assert_true(at.from < SITES && at.to < SITES);
		assert_false(seen[at.from][at.to][slot(at.cpu)]);
		seen[at.from][at.to][slot(at.cpu)] = true;
		if (all_have_room)
			assert_true(same(&want[at.from][at.to][slot(at.cpu)], &at));
		else if (at.from)	/* what had no room is from 0, or to 0 */
			assert_true(at.count <= want[at.from][at.to][slot(at.cpu)].count);
		c->count += at.count;
		for (int e = 0; e < K; e++) {
			c->total[e] += counts_of(e, at.total[e]);
			c->exact[e] += counts_of(e, at.exact[e]);
		}
	}
	for (int f = 0; f < SITES; f++)
		for (int t = 0; t < SITES; t++)
			for (int c = 0; c <= CPUS; c++)
				assert_true(!all_have_room || seen[f][t][c] ||
					    zero(&want[f][t][c]));
	assert_memory_equal(sum, cell_of, sizeof(sum));
	sp_model_close(&m);
	return row.intervals;
}

/* ---- random calls ---------------------------------------------------------- */

static int64_t handed[K];
static uint32_t from;
static bool running;

static void booked(int cpu, uint32_t to, const long long *d, bool proven)
{
	struct count *both[] = { &want[from][to][slot(cpu)], &cell_of[slot(cpu)] };

	for (int i = 0; i < 2; i++) {
		both[i]->count++;
		for (int e = 0; e < K; e++) {
			both[i]->total[e] += d[e];
			both[i]->exact[e] += proven ? d[e] : 0;
		}
	}
}

static void booked_part(const struct sp_parts *p, uint32_t i, int e, uint32_t to, long long *rest)
{
	int64_t share = p->at[i * K + (uint32_t)e];
	struct count *both[] = { &want[from][to][slot(p->cpu[i])], &cell_of[slot(p->cpu[i])] };

	for (int b = 0; b < 2; b++) {
		both[b]->total[e] += share;
		both[b]->exact[e] += p->proven[i * K + (uint32_t)e];
	}
	*rest -= share;
}

/* A window of which other CPUs have a part; the reading itself is counted where it was made. */
static void read_split(enum sp_op op, int cpu, const long long *x, const long long *d,
		       uint32_t site)
{
	int32_t of[2] = { (cpu + 1) % CPUS, (cpu + 2) % CPUS };
	int64_t at[2 * K], proven[3 * K];
	const struct sp_parts parts = { .n = rnd(3), .cpu = of, .at = at, .proven = proven };
	long long rest[K], none[K] = { 0 };
	bool exact[K];

	booked(cpu, site, none, false);
	for (int e = 0; e < K; e++) {
		rest[e] = d[e];
		exact[e] = rnd(2);
		for (uint32_t i = 0; i < 2; i++)
			at[i * K + (uint32_t)e] = (int64_t)rnd((uint32_t)d[e] / 2 + 1);
		for (uint32_t i = 0; i < parts.n; i++)
			proven[i * K + (uint32_t)e] = exact[e] ? at[i * K + (uint32_t)e] : 0;
		for (uint32_t i = 0; i < parts.n; i++)
			booked_part(&parts, i, e, site, &rest[e]);
		want[from][site][slot(cpu)].total[e] += rest[e];
		cell_of[slot(cpu)].total[e] += rest[e];
		want[from][site][slot(cpu)].exact[e] += exact[e] ? rest[e] : 0;
		cell_of[slot(cpu)].exact[e] += exact[e] ? rest[e] : 0;
		proven[parts.n * K + (uint32_t)e] = exact[e] ? rest[e] : 0;
	}
	book_parts(&w, op, cpu, x, &parts, site);
}

static void read_whole(enum sp_op op, int cpu, const long long *x, const long long *d,
		       uint32_t site)
{
	bool proven = rnd(2);

	booked(cpu, site, d, proven);
	book(op, cpu, x, proven, site);
}

static void start(uint32_t site)
{
	book(SP_OP_START, 0, NULL, false, site);
	memset(handed, 0, sizeof(handed));
	running = true;
	from = site;
}

static void step(int cpu)
{
	uint32_t site = rnd(4) ? (from ? from : 1) : 1 + rnd(SITES - 1), n = rnd(8);
	enum sp_op op = n == 5 ? SP_OP_ACCUM : n == 4 ? SP_OP_STOP : SP_OP_READ;
	long long x[K], d[K];

	if (!running || n == 7) {
		start(site);
		return;
	}
	for (int e = 0; e < K; e++) {
		d[e] = (long long)rnd(100) * (e + 1);
		x[e] = handed[e] + d[e];
	}
	if (n == 6)
		book(SP_OP_RESET, 0, NULL, false, site);
	else
		(floats || rnd(4) ? read_whole : read_split)(op, cpu, x, d, site);
	running = op != SP_OP_STOP;
	for (int e = 0; e < K; e++)
		handed[e] = n == 6 || op == SP_OP_ACCUM ? 0 : x[e];
	from = site;
}

static void random_calls(void **state)
{
	int cpu = 0;

	seed = 5;
	bind(1, SP_INTERVALS_FIRST(K));
	running = false;
	from = 0;
	for (int i = 0; i < 20000; i++) {
		uint32_t more;

		if (rnd(16) == 0)
			cpu = (int)rnd(FAR + 1);
		if (cpu == CPUS)
			cpu = FAR;
		more = running ? 0 : sp_intervals_wanted(&w.intervals);
		if (more)
			room_for(w.intervals.room + more, more);
		if (!running && rnd(50) == 0) {
			bind_again();
			from = 0;
		}
		step(cpu);
		/* (What is booked wrong stays wrong: few comparisons miss nothing.) */
		if (i < 100 || rnd(200) == 0)
			compare(i < 4);
	}
	compare(false);
	assert_true(w.intervals.used > 40 && w.intervals.used <= (SITES - 1) * SITES * (CPUS + 1));
}

/* All pairs have room: the table is met to the unit, and nothing is "other". */
static void told_apart(void **state)
{
	int cpu = 0;

	seed = 11;
	bind(1, 512);
	running = false;
	from = 0;
	for (int i = 0; i < 5000; i++) {
		if (rnd(16) == 0)
			cpu = (int)rnd(CPUS);
		step(cpu);
		if (i < 50 || rnd(100) == 0)
			compare(true);
	}
	assert_true(compare(true) > 60);
}

/* Between a start and its stop a block that is ready gives more room. */
static void more_room(void **state)
{
	struct sp_row row = { 0 };
	struct sp_model m;

	bind(1, 4);
	free(slots);
	slots = calloc(64, sizeof(*slots));
	sp_records_intervals(&w, slots, 64);
	book_call(&w, SP_OP_START, 0, NULL, false, 1);
	for (uint32_t site = 2; site <= 12; site++)
		book_call(&w, SP_OP_READ, 0, (const long long[K]){ site, site, site }, false, site);
	sp_records_fold(&w);
	bind_again();			/* they are found again */
	book_call(&w, SP_OP_START, 0, NULL, false, 1);
	book_call(&w, SP_OP_STOP, 0, (const long long[K]){ 5, 5, 5 }, false, 2);
	open_first(&m, &row);
	assert_int_equal(row.intervals, 11);
	assert_int_equal(row.flags & SP_RELATION_CROWDED, 0);
	sp_model_close(&m);
}

/* No room for the third pair: "other", and the relation says so. */
static void crowded(void **state)
{
	struct sp_row row = { 0 };
	struct sp_model m;

	bind(1, 2);
	book_call(&w, SP_OP_START, 0, NULL, false, 1);
	for (uint32_t site = 2; site <= 4; site++) {
		sp_records_fold(&w);
		assert_int_equal(relation->flags & SP_RELATION_CROWDED, 0);
		book_call(&w, SP_OP_READ, 0, (const long long[K]){ site, site, site }, false, site);
	}
	open_first(&m, &row);
	assert_int_equal(row.intervals, 3);
	assert_int_equal(row.flags & SP_RELATION_CROWDED, SP_RELATION_CROWDED);
	sp_model_close(&m);
}

/* The last quarter of the room is for pairs of which the second site alone is told; what finds no
 * place there is nobody's. */
static void by_second_site(void **state)
{
	static const uint32_t site[] = { 2, 3, 4, 2, 4, 3, 2, 2, 3, 3, 4, 4 };
	uint64_t count[5] = { 0 };
	struct sp_interval_counts at;
	struct sp_row row = { 0 };
	struct sp_model m;

	bind(1, 8);
	book_call(&w, SP_OP_START, 0, NULL, false, 1);
	for (unsigned i = 0; i < SP_COUNT(site); i++)
		book_call(&w, SP_OP_READ, 0, (const long long[K]){ i, i, i }, false, site[i]);
	open_first(&m, &row);
	assert_int_equal(row.flags & SP_RELATION_CROWDED, SP_RELATION_CROWDED);
	for (uint32_t i = 0; sp_row_interval(&m, &row, i, &at); i++)
		if (!at.from && at.to < SP_COUNT(count))
			count[at.to] += at.count;
	assert_int_equal(count[2], 2);	/* from 3, and from itself */
	assert_int_equal(count[3], 1);
	assert_int_equal(count[4], 0);
	assert_int_equal(count[0], 1);
	sp_model_close(&m);
}

static void check_parts(const struct sp_interval_counts *at)
{
	static const int64_t total[2][K] = { { 20, 22, 0 }, { 60, 58, 80 } },
			     exact[2][K] = { { 20, 0, 0 }, { 60, 0, 80 } };

	assert_int_equal(at->to, 3);
	assert_in_range(at->cpu, 0, 1);
	assert_int_equal(at->count, at->cpu ? 2 : 0);
	assert_memory_equal(at->total, total[at->cpu], sizeof(total[0]));
	assert_memory_equal(at->exact, exact[at->cpu], sizeof(exact[0]));
}

/* A window's parts are its interval's, on each CPU; the reading is counted on the last. */
static void in_parts(void **state)
{
	const struct sp_parts split = { .n = 1,
					.cpu = (const int32_t[]){ 0 },
					.at = (const int64_t[K]){ 10, 11, 0 },
					.proven = (const int64_t[2 * K]){ 10, 0, 0, 30, 0, 40 } };
	struct sp_row row = { 0 };
	struct sp_interval_counts at;
	struct sp_model m;

	bind(1, 16);
	book_call(&w, SP_OP_START, 0, NULL, false, 1);
	for (long long x = 0; x < 200; x += 100) {
		long long read[K] = { x + 30, x + 30, x + 30 };
		long long parts[K] = { x + 70, x + 70, x + 70 },
			  back[K] = { x + 100, x + 100, x + 100 };

		book_call(&w, SP_OP_READ, 1, read, false, 2);
		book_parts(&w, SP_OP_READ, 1, parts, &split, 3);
		book_call(&w, SP_OP_READ, 0, back, false, 1);
	}
	open_first(&m, &row);
	assert_int_equal(row.intervals, 4);
	for (uint32_t i = 0; sp_row_interval(&m, &row, i, &at); i++) {
		if (at.from == 1)
			assert_true(at.to == 2 && at.cpu == 1 && at.total[0] == 60 &&
				    at.count == 2);
		else if (at.from == 2)
			check_parts(&at);
		else
			assert_true(at.from == 3 && at.to == 1 && at.cpu == 0 &&
				    at.total[0] == 60 && at.count == 2);
	}
	sp_model_close(&m);
}

/* ---- threads that end -------------------------------------------------------- */

static int alive;

static bool has_ended(int tid)
{
	return tid < alive;
}

static void short_thread(int tid)
{
	const long long a[K] = { 10, 20, 30 }, b[K] = { 11, 22, 33 }, c[K] = { 15, 30, 45 };

	bind(tid, 8);
	book(SP_OP_START, 0, NULL, false, 1);
	book(SP_OP_READ, 0, a, true, 2);
	book(SP_OP_READ, 1, b, false, 2);
	book(SP_OP_STOP, 1, c, false, 3);
}

static void folding(void **state)
{
	uint64_t n = 0, counts[3] = { 0 }, totals[3] = { 0 }, used = 0;
	struct sp_interval_counts at;
	struct sp_row row = { 0 };
	struct sp_model m;

	while (n < SP_FOLD_ABOVE + 400) {
		alive = (int)++n;
		sp_store_fold(&store, has_ended, never, NULL);
		short_thread((int)n);
		if (n == SP_FOLD_ABOVE + 200)
			used = store.header->used;
	}
	assert_int_equal(store.header->used, used);
	open_model(&m);
	while (sp_model_next(&m, &row)) {
		assert_int_equal(row.intervals, 3);
		for (uint32_t i = 0; sp_row_interval(&m, &row, i, &at); i++) {
			unsigned which = at.to == 3 ? 2 : at.from == 2 ? 1 : 0;

			assert_int_equal(at.cpu, which ? 1 : 0);
			assert_int_equal(at.exact[0], which ? 0 : at.total[0]);
			counts[which] += at.count;
			totals[which] += (uint64_t)counts_of(1, at.total[1]);
		}
	}
	for (int i = 0; i < 3; i++)
		assert_int_equal(counts[i], n);
	assert_int_equal(totals[0], 20 * n);
	assert_int_equal(totals[1], 2 * n);
	assert_int_equal(totals[2], 8 * n);
	sp_model_close(&m);
}

/* ---- call sites ---------------------------------------------------------------- */

static void sites(void **state)
{
	struct sp_string *path = NULL;
	struct sp_module *module = sp_store_module(&store, 20, &path);
	struct sp_sites *b = sp_store_sites(&store, 2);
	struct sp_site *s = (struct sp_site *)(b + 1);
	struct sp_frame *f = (struct sp_frame *)(s + 1);
	struct sp_frame_info seen;
	struct sp_callsite c;
	struct sp_model m;

	assert_non_null(module);
	assert_int_equal(module->number, 1);
	module->low = module->span = 0x1000;
	module->base = 0x800;
	memcpy(module->build_id, "\xab\x01", module->build_id_bytes = 2);
	assert_string_equal(sp_store_reader_text(&store.reader, module->path), "");
	strcpy(path->text, "/lib/libx.so");
	path->length = 12;
	s->n = 2;
	strcpy(s->name, "loop");
	f[0] = (struct sp_frame){ .address = 0x1234,
				  .module = 1,
				  .symbol = sp_store_text(&store, "work") };
	f[1] = (struct sp_frame){ .address = 0x2000 };	/* not looked up; ends where the module
							 * does */
	open_model(&m);
	assert_int_equal(m.n_callsites, 2);
	assert_true(sp_model_callsite(&m, 1, &c));
	assert_int_equal(c.frames, 2);
	assert_string_equal(c.name, "loop");
	assert_false(sp_model_callsite(&m, 0, &c));
	assert_string_equal(c.name, "other");
	assert_false(sp_model_callsite(&m, 2, &c));
	assert_false(sp_model_callsite(&m, UINT32_MAX, &c));
	assert_true(sp_model_frame(&m, 1, 0, &seen));
	assert_string_equal(seen.module, "/lib/libx.so");
	assert_string_equal(seen.build_id, "ab01");
	assert_string_equal(seen.symbol, "work");
	assert_int_equal(seen.offset, 0x1234 - 0x800);
	assert_true(sp_model_frame(&m, 1, 1, &seen));
	assert_string_equal(seen.module, "/lib/libx.so");
	assert_int_equal(seen.offset, 0x2000 - 0x800);
	assert_false(sp_model_frame(&m, 1, 2, &seen));
	f[1].address = 0x2001;
	assert_true(sp_model_frame(&m, 1, 1, &seen));
	assert_string_equal(seen.module, "");
	assert_int_equal(seen.offset, 0x2001);
	sp_model_close(&m);
}

/* Adds n sites in groups of four: all frames; cut to two; cut to one, in odd groups of another
 * call; and the first one again. */
static void add_groups(uint32_t n)
{
	while (store.header->code.n_sites < n) {
		struct sp_sites *b = sp_store_sites(&store, 4);

		assert_non_null(b);
		for (uint32_t i = 0; i < SP_SITES_EACH; i++) {
			struct sp_site *at =
				(struct sp_site *)((char *)(b + 1) + i * sp_site_bytes(4));
			struct sp_frame *f = (struct sp_frame *)(at + 1);

			at->n = i % 4 == 1 ? 2 : i % 4 == 2 ? 1 : 4;
			at->is_cut = at->n < 4;
			at->call = SP_SITE_PAPI + (i % 8 == 6 ? SP_OP_STOP : SP_OP_READ);
			for (uint32_t k = 0; k < 4; k++)
				f[k].address = k ? k : 16 * ((b->first + i + 3) / 4);
		}
	}
}

/* Returns the CPU time of joining n sites. */
static uint64_t join_ns(uint32_t n, struct sp_model *m)
{
	uint64_t least = UINT64_MAX;

	open_store(NULL);
	store.header->callsites = 4;
	add_groups(n);
	open_model(m);
	assert_int_equal(m->n_callsites, n + 1);
	for (int i = 0; i < 5; i++) {
		uint64_t start_ns = sp_ns_of(CLOCK_THREAD_CPUTIME_ID), ns;

		sp_model_join_callsites(m);
		ns = sp_ns_of(CLOCK_THREAD_CPUTIME_ID) - start_ns;
		least = ns < least ? ns : least;
	}
	return least;
}

static void joined(void **state)
{
	struct sp_model m;
	uint64_t few = join_ns(SP_SITES_MOST / 8, &m), many;

	sp_model_close(&m);
	close_store(NULL);
	many = join_ns(SP_SITES_MOST, &m);
	for (uint32_t id = 1; id <= SP_SITES_MOST; id++) {
		uint32_t group = (id - 1) / 4 * 4 + 1, i = id - group;
		bool odd = group % 8 != 1;

		assert_int_equal(m.intervals.first_site[id], group + (odd && i != 2 ? 1 : 2));
	}
	if (many > 24 * few)
		fail_msg("8 times as many sites take %f times as long", (double)many / (double)few);
	sp_model_close(&m);
	close_store(NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_with_sites, close_store)
#define FLOATS(f) { #f " of quarters", f, open_with_sites, close_store, &floats }

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(random_calls),
		TEST(told_apart),
		TEST(crowded),
		TEST(more_room),
		TEST(by_second_site),
		TEST(in_parts),
		TEST(folding),
		cmocka_unit_test_setup_teardown(sites, open_events, close_store),
		cmocka_unit_test(joined),
		FLOATS(random_calls),
		FLOATS(told_apart),
		FLOATS(folding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
