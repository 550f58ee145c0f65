/* t-merge.c: merge.h and key-index.h: stores made by hand, merged in any order and grouping.
 * What programs that are run (64-merge.t) do not bring: two events of one process that are
 * alike, texts that differ from process to process, CPUs that not all were left, notes.
 */
#include "../../core/store/interval.h"
#include "../../core/store/rules.h"
#include "test.h"

#include "../../core/cli/files/file.h"
#include "../../core/cli/merge/merge.h"
#include "../../core/cli/tool/cmd.h"
#include "../../core/cli/tool/key-index.h"
#include "../../core/formats/format-writer.h"
#include "../../core/model/format-common.h"
#include "../../core/store/gauge.h"
#include "stores.h"

/* ---- names ------------------------------------------------------------------------ */

static void numbers(void **state)
{
	struct sp_names t = { 0 };
	uint32_t *order, *rank;

	assert_int_equal(sp_names_find(&t, "ab", 2), SP_NO_NAME);
	for (unsigned turn = 0; turn < 2; turn++)
		for (uint32_t i = 0; i < 5000; i++) {
			uint32_t key[2] = { i * 2654435761u, 7 };

			assert_int_equal(sp_names_number(&t, key, sizeof(key)), i);
		}
	assert_int_equal(t.n, 5000);
	sp_names_sort(&t, &order, &rank);
	for (uint32_t i = 0; i < t.n; i++) {
		assert_int_equal(rank[order[i]], i);
		assert_true(!i || sp_name_compare(&t.name[order[i - 1]], &t.name[order[i]]) < 0);
	}
	free(order);
	free(rank);
	sp_names_free(&t);
	/* One begins the other; zeros behind it; nothing at all. */
	assert_int_equal(sp_names_number(&t, "ab", 2), 0);
	assert_int_equal(sp_names_number(&t, "ab\0", 3), 1);
	assert_int_equal(sp_names_number(&t, "a", 1), 2);
	assert_int_equal(sp_names_number(&t, "", 0), 3);
	assert_int_equal(sp_names_number(&t, "ab", 2), 0);
	assert_int_equal(sp_names_find(&t, "ab\0", 3), 1);
	assert_int_equal(sp_names_find(&t, "b", 1), SP_NO_NAME);
	assert_int_equal(t.n, 4);
	sp_names_sort(&t, &order, &rank);
	assert_true(order[0] == 3 && order[1] == 2 && order[2] == 0 && order[3] == 1);
	free(order);
	free(rank);
	sp_names_free(&t);
}

static void digests(void **state)
{
	static const char text[] = "12345678abc\0\0\0\0\00012345678";
	struct sp_digest d[SP_COUNT(text)] = { { 0, 0 } };

	for (unsigned i = 0; i < SP_COUNT(text); i++) {
		sp_digest_add(&d[i], text, i);
		for (unsigned k = 0; k < i; k++) {
			assert_int_not_equal(sp_digest_compare(&d[i], &d[k]), 0);
			assert_int_equal(sp_digest_compare(&d[i], &d[k]),
					 -sp_digest_compare(&d[k], &d[i]));
		}
	}
}

/* ---- stores --------------------------------------------------------------------------- */

/* What differs from one process to the next. */
struct made {
	int64_t rank;
	const char *host, *exe, *natives, *note, *note2;
	uint64_t start_ns;
	uint32_t no_cpu;	/* its cpuset lacks it */
	unsigned twins;		/* events "TWIN" that are alike */
	bool other_first;	/* and an event of its own in front of them */
};

static char dir[] = "/tmp/sspapi-t-merge.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[4][64];
	static unsigned i;

	i = (i + 1) % 4;
	snprintf(path[i], sizeof(path[i]), "%s/%s", dir, name);
	return path[i];
}

static void make_topology(struct sp_store *s, uint32_t no_cpu)
{
	struct sp_component c[4] = {
		{ .parent = -1, .cpu_kind = -1, .type = "Machine" },
		{ .parent = 0,
		  .cpu_kind = -1,
		  .depth = 1,
		  .os_index = 0,
		  .gp_index = 1,
		  .type = "PU" },
		{ .parent = 0,
		  .cpu_kind = -1,
		  .depth = 1,
		  .os_index = 1,
		  .logical_index = 1,
		  .gp_index = 2,
		  .type = "PU" },
		{ .parent = 0,
		  .cpu_kind = -1,
		  .depth = 1,
		  .os_index = 2,
		  .logical_index = 2,
		  .gp_index = 3,
		  .type = "PU" },
	};

	for (uint32_t i = 0; i < 3; i++)
		c[1 + i].flags = i == no_cpu ? SP_COMPONENT_DISALLOWED : 0;
	assert_int_equal(sp_store_topology(s, c, 4, 3, "system", "", 0), 0);
}

static void write_and_close(struct sp_store *s, const char *name)
{
	struct sp_model m;
	char buffer[4096];
	struct sp_out o;
	int fd;

	assert_int_equal(sp_model_open(&m, &s->reader), 0);
	fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	sp_out_init(&o, fd, buffer, sizeof(buffer));
	sp_format_writer_by_name("store", 5)->write(&o, &(struct sp_selection){ .m = &m });
	assert_int_equal(sp_out_finish(&o), 0);
	close(fd);
	sp_model_close(&m);
	sp_store_close(s);
}

/* Twin number i counts 1000 * (rank + 1) + i on CPU 0, and one more on CPU 1. */
static void make(const char *name, const struct made *p)
{
	struct sp_relation_key key = {
		.k = p->twins, .event = (const uint32_t[]){ 0, 1, 2, 3, 4 } + p->other_first
	};
	struct sp_event_text other = { .name = "OTHER" },
			     twin = { .name = "TWIN", .n_natives = 1, .natives = &p->natives };
	long long values[4] = { 0 };
	struct sp_store s = { 0 };
	struct sp_writer w;
	sp_off thread;

	assert_int_equal(sp_store_open(&s), 0);
	make_topology(&s, p->no_cpu);
	s.header->process.host = sp_store_text(&s, p->host);
	s.header->process.exe = sp_store_text(&s, p->exe);
	s.header->process.rank = p->rank;
	s.header->process.pid = (uint32_t)p->rank + 100;
	s.header->process.start_ns = p->start_ns;
	s.header->process.end_ns = p->start_ns + 5;
	s.header->end = p->rank ? SP_END_EXIT : SP_END_RECOVERED;
	if (p->other_first)
		sp_store_event(&s, &other);
	for (unsigned i = 0; i < p->twins; i++)
		sp_store_event(&s, &twin);
	assert_non_null(sp_store_thread(&s, 1, "main", &thread));
	bind_new(&s, thread, &key, &w, NULL);
	book_call(&w, SP_OP_START, 0, NULL, false, 0);
	for (unsigned i = 0; i < p->twins; i++)
		values[i] = 1000 * (p->rank + 1) + i;
	book_call(&w, SP_OP_READ, 0, values, false, 0);
	for (unsigned i = 0; i < p->twins; i++)
		values[i]++;
	book_call(&w, SP_OP_STOP, 1, values, false, 0);
	sp_store_note(&s, p->note);
	if (p->note2)
		sp_store_note(&s, p->note2);
	write_and_close(&s, name);
}

static const struct made processes[4] = {
	{ 0, "one", "app", "native::b", "said by all", "said by 0", 2000, 1, 2, false },
	{ 1, "one", "app", "native::a", "said by all", NULL, 1000, 2, 2, true },
	{ 2, "two", "app", "native::c", "said by 2", "said by all", 3000, 9, 3, false },
	{ 3, "one", "app", "native::d", "said by all", NULL, 4000, 1, 1, true },
};

static int set_up(void **state)
{
	assert_non_null(mkdtemp(dir));
	for (unsigned i = 0; i < 4; i++)
		make((const char[]){ (char)('0' + i), 0 }, &processes[i]);
	return 0;
}

static int tear_down(void **state)
{
	char line[64];

	snprintf(line, sizeof(line), "rm -rf %s", dir);
	return system(line);
}

/* Of the files whose names are the letters of `which`, into `to`. */
static int merge(const char *to, const char *which, const char *events)
{
	char name[8][64], *file[8];
	struct sp_merge job = {
		.verb = "merge", .file = file, .n_files = (unsigned)strlen(which), .events = events
	};
	int fd = open(path_of(to), O_RDWR | O_CREAT | O_TRUNC, 0600), e;

	for (unsigned i = 0; i < job.n_files; i++) {
		snprintf(name[i], sizeof(name[i]), "%s/%c", dir, which[i]);
		file[i] = name[i];
	}
	e = sp_merge_files(&job, fd);
	close(fd);
	assert_int_equal(job.n_bad, 0);
	return e;
}

static void load(struct sp_file *f, const char *name)
{
	assert_int_equal(sp_file_load(f, path_of(name)), 0);
	assert_int_equal(f->model.tally.damaged, 0);
}

/* ---- merging ---------------------------------------------------------------------------- */

static void any_order(void **state)
{
	static const char *const order[] = { "3210", "1302", "2031" };
	char line[200];

	assert_int_equal(merge("all", "0123", NULL), 0);
	for (unsigned i = 0; i < SP_COUNT(order); i++) {
		assert_int_equal(merge("x", order[i], NULL), 0);
		snprintf(line, sizeof(line), "cmp %s %s", path_of("all"), path_of("x"));
		assert_int_equal(system(line), 0);
	}
	assert_int_equal(merge("y", "31", NULL), 0);
	assert_int_equal(merge("z", "0y", NULL), 0);
	assert_int_equal(merge("x", "z2", NULL), 0);
	snprintf(line, sizeof(line), "cmp %s %s", path_of("all"), path_of("x"));
	assert_int_equal(system(line), 0);
}

/* Alike in all that they are called by: the first of one process is the first of the next. */
static void twins(void **state)
{
	static const int64_t want[3] = { 1000 + 2000 + 3000 + 4000 + 4, 1001 + 2001 + 3001 + 3,
					 3002 + 1 };
	char buf[32];
	struct sp_file f;
	uint32_t n = 0;

	assert_int_equal(merge("all", "2013", NULL), 0);
	load(&f, "all");
	assert_int_equal(f.model.n_events, 4);	/* and OTHER, which no relation has */
	for (uint32_t e = 0; e < f.model.n_events; e++) {
		if (strcmp(sp_event_name(&f.model, e, buf), "TWIN") != 0)
			continue;
		/* What is behind it differs from process to process: the least is shown. */
		assert_string_equal(sp_store_reader_text_at(f.model.reader,
							    f.model.event[e]->natives, 0),
				    n < 2 ? "native::a" : "native::c");
		assert_int_equal(f.model.sums.total[e], want[n++]);
	}
	assert_int_equal(n, 3);
	sp_file_close(&f);
}

static void in_common(void **state)
{
	const struct sp_header *h;
	struct sp_file f;

	assert_int_equal(merge("all", "0123", NULL), 0);
	load(&f, "all");
	h = &f.model.h;
	assert_string_equal(sp_model_text(&f.model, h->process.exe), "app");
	assert_string_equal(sp_model_text(&f.model, h->process.host), "");
	assert_true(h->process.rank == -1 && h->process.pid == 0);
	assert_true(h->process.start_ns == 1000 && h->process.end_ns == 4005);
	assert_int_equal(h->end, SP_END_RECOVERED);	/* the worst of them */
	assert_int_equal(f.model.n_machines, 2);
	assert_int_equal(f.model.n_processes, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(f.model.process[i].h->process.rank, i);
		assert_string_equal(f.model.machine[f.model.process[i].machine].host,
				    i == 2 ? "two" : "one");
	}
	sp_file_close(&f);
	assert_int_equal(merge("some", "13", NULL), 0);
	load(&f, "some");
	assert_string_equal(sp_model_text(&f.model, f.model.h.process.host), "one");
	sp_file_close(&f);
}

/* A CPU that one process was not left may have been another's; one that nobody was left,
 * nobody's. */
static void disallowed(void **state)
{
	struct { const char *which; bool no[3];
	} const cases[] = {
		{ "03", { false, true, false } },
		{ "01", { false, false, false } },
		{ "1", { false, false, true } },
	};

	for (unsigned i = 0; i < SP_COUNT(cases); i++) {
		struct sp_file f;
		unsigned seen = 0;

		assert_int_equal(merge("some", cases[i].which, NULL), 0);
		load(&f, "some");
		for (uint32_t c = 0; c < f.model.n_components; c++) {
			const struct sp_component *at = &f.model.component[c];

			if (!sp_component_is(at, "PU"))
				continue;
			seen++;
			assert_int_equal(!!(at->flags & SP_COMPONENT_DISALLOWED),
					 cases[i].no[at->os_index]);
		}
		assert_int_equal(seen, 3);
		sp_file_close(&f);
	}
}

static bool has_note(const struct sp_model *m, const char *words)
{
	const char *note;

	for (uint32_t i = 0; (note = sp_model_note(m, i)) != NULL; i++)
		if (strcmp(note, words) == 0)
			return true;
	return false;
}

static void notes(void **state)
{
	struct sp_file f;

	assert_int_equal(merge("all", "0123", NULL), 0);
	load(&f, "all");
	assert_int_equal(f.model.h.lists.n_notes, 3);
	assert_true(has_note(&f.model, "said by all (in 4 of 4 processes)"));
	assert_true(has_note(&f.model, "said by 0 (in 1 of 4 processes)"));
	assert_null(sp_model_note(&f.model, 3));
	sp_file_close(&f);
}

static void some_events(void **state)
{
	struct sp_file f;

	assert_int_equal(merge("some", "0123", "TWI,TWINS,OTHER"), 0);
	load(&f, "some");
	assert_int_equal(f.model.tally.relations, 0);
	sp_file_close(&f);
	assert_int_equal(merge("some", "0123", "OTHER,TWIN"), 0);
	load(&f, "some");
	assert_int_equal(f.model.tally.relations, 4);
	sp_file_close(&f);
}

/* ---- call sites ------------------------------------------------------------------------- */

/* Three sites at one address, as of a plug-in that was loaded three times and of which nothing more
 * was known when the process was killed: WHOLE counts 1, 2, 4, 8 and PARTS a quarter of that. */
static void make_reloaded(const char *name)
{
	static const uint8_t kinds[2] = { SP_COUNTS, SP_FLOATS };
	static const uint32_t site[5] = { 1, 2, 2, 3, 1 };
	struct sp_event_text whole = { .name = "WHOLE" },
			     parts = { .name = "PARTS", .data_type = SP_FP64 };
	struct sp_relation_key key = { .k = 2, .event = (const uint32_t[]){ 0, 1 } };
	uint32_t slots[32] = { 0 };
	long long values[2] = { 0 };
	struct sp_store s = { 0 };
	struct sp_relation *r;
	struct sp_sites *sites;
	struct sp_writer w;
	sp_off thread;

	assert_int_equal(sp_store_open(&s), 0);
	s.header->callsites = 1;
	make_topology(&s, 2);
	sp_store_event(&s, &whole);
	sp_store_event(&s, &parts);
	sites = sp_store_sites(&s, 1);
	assert_non_null(sites);
	for (uint32_t i = 0; i < 3; i++) {
		struct sp_site *at = (struct sp_site *)((char *)(sites + 1) + i * sp_site_bytes(1));

		at->n = 1;
		((struct sp_frame *)(at + 1))->address = 0x1234;
	}
	assert_non_null(sp_store_thread(&s, 1, "main", &thread));
	r = bind_new(&s, thread, &key, &w, kinds);
	assert_non_null(sp_store_intervals(&s, r, 2, 16));
	sp_records_intervals(&w, slots, SP_COUNT(slots));
	for (unsigned i = 0; i < SP_COUNT(site); i++) {
		enum sp_op op = i ? i < SP_COUNT(site) - 1 ? SP_OP_READ : SP_OP_STOP : SP_OP_START;

		values[0] = (1 << i) - 1;
		values[1] = sp_float_bits((double)values[0] / 4);
		book_call(&w, op, 0, i ? values : NULL, true, site[i]);
	}
	write_and_close(&s, name);
}

/* Whole counts are added as such, floating-point ones as such. */
static void reloaded(void **state)
{
	struct sp_interval_counts at = { 0 };
	struct sp_row row = { 0 };
	struct sp_file f;

	make_reloaded("r");
	assert_int_equal(merge("one", "r", NULL), 0);
	load(&f, "one");
	assert_true(sp_model_next(&f.model, &row));
	assert_true(sp_row_interval(&f.model, &row, 0, &at));
	assert_int_equal(at.count, 4);
	assert_int_equal(at.total[0], 15);
	assert_int_equal(at.exact[0], 15);
	assert_true(sp_float(at.total[1]) == 15.0 / 4);
	assert_true(sp_float(at.exact[1]) == 15.0 / 4);
	assert_false(sp_row_interval(&f.model, &row, 1, &at));
	sp_file_close(&f);
}

/* ---- how counts were told to CPUs ------------------------------------------------------- */

/* OTHER and TWIN, read on CPU 0, a CPU that the topology lacks, and CPU 1. */
static void make_timed(const char *name, int64_t rank)
{
	bool exact = rank == 9;
	static const int cpu[3] = { 0, 700, 1 };
	struct sp_relation_key key = { .k = 2, .event = (const uint32_t[]){ 0, 1 } };
	struct sp_event_text other = { .name = "OTHER" }, twin = { .name = "TWIN" };
	struct sp_store s = { 0 };
	struct sp_relation *r;
	struct sp_layout l;
	struct sp_times *t;
	struct sp_writer w;
	sp_off thread;

	assert_int_equal(sp_store_open(&s), 0);
	make_topology(&s, 2);
	s.header->process.rank = rank;
	sp_store_event(&s, &other);
	sp_store_event(&s, &twin);
	assert_non_null(sp_store_thread(&s, 1, "main", &thread));
	r = bind_new(&s, thread, &key, &w, NULL);
	book_call(&w, SP_OP_START, 0, NULL, false, 0);
	for (int i = 0; i < 3; i++)
		book_call(&w, SP_OP_READ, cpu[i], (const long long[]){ i + 1, 10 * i + 10 }, exact,
			  0);
	l = sp_relation_layout(2, r->cells);
	t = sp_times_of(r, &l);
	t->allowed = sp_store_text(&s, exact ? "0-2" : "0-1,700");
	t->flags = exact ? SP_TIMES_KNOWN : SP_TIMES_KNOWN | SP_TIMES_MOVES;
	t->moves = 12;
	t->windows = 3;
	for (int i = 0; i < 3; i++)
		t->at[sp_records_cell(&w, cpu[i])] = 1000 + (uint64_t)cpu[i];
	t->at[r->cells] = 5;
	t->at[r->cells + 1] = 9;
	sp_relation_set_attribution(r, exact ? SP_BY_EXACT : SP_BY_APPROXIMATE,
				    exact ? SP_WHY_NONE : SP_WHY_OVERFLOW);
	write_and_close(&s, name);
}

/* With one event or both. */
static void check_timed(struct sp_model *m, struct sp_row *row)
{
	bool exact = m->process[row->process].h->process.rank == 9;
	static const int32_t cpu[3] = { 0, 1, 700 };
	struct sp_at_cpu at;

	assert_int_equal(row->attribution, exact ? SP_BY_EXACT : SP_BY_APPROXIMATE);
	assert_int_equal(row->why, exact ? SP_WHY_NONE : SP_WHY_OVERFLOW);
	assert_non_null(row->times);
	assert_int_equal(row->times->flags,
			 exact ? SP_TIMES_KNOWN : SP_TIMES_KNOWN | SP_TIMES_MOVES);
	assert_int_equal(row->times->moves, 12);
	assert_int_equal(row->times->windows, 3);
	assert_string_equal(sp_model_text(m, row->times->allowed), exact ? "0-2" : "0-1,700");
	assert_int_equal(row->error_margin[0], row->k == 1 ? 9 : 5);
	assert_int_equal(row->error_margin[row->k - 1], 9);
	assert_int_equal(row->cells, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(sp_row_cell(m, row, i, &at));
		assert_int_equal(at.cpu, cpu[i]);
		assert_int_equal(at.run_ns, 1000 + cpu[i]);
	}
}

/* 0 knows nothing of times; t and u do.  How many relations there are. */
static unsigned check_times(const char *name)
{
	struct sp_row row = { 0 };
	struct sp_at_cpu at;
	struct sp_file f;
	unsigned n = 0;

	load(&f, name);
	for (; sp_model_next(&f.model, &row); n++) {
		if (f.model.process[row.process].h->process.rank >= 8) {
			check_timed(&f.model, &row);
			continue;
		}
		assert_null(row.times);
		assert_int_equal(row.attribution, SP_BY_READING);
		assert_int_equal(row.why, SP_WHY_NONE);
		assert_true(sp_row_cell(&f.model, &row, 0, &at));
		assert_int_equal(at.run_ns, -1);
	}
	sp_file_close(&f);
	return n;
}

static void times(void **state)
{
	char line[200];

	make_timed("t", 8);
	make_timed("u", 9);
	assert_int_equal(merge("a", "0tu", NULL), 0);
	assert_int_equal(check_times("a"), 3);
	assert_int_equal(merge("b", "u0", NULL), 0);
	assert_int_equal(merge("c", "tb", NULL), 0);
	snprintf(line, sizeof(line), "cmp %s %s", path_of("a"), path_of("c"));
	assert_int_equal(system(line), 0);
	assert_int_equal(merge("d", "c", "TWIN"), 0);
	assert_int_equal(check_times("d"), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),   cmocka_unit_test(digests),
		cmocka_unit_test(any_order), cmocka_unit_test(twins),
		cmocka_unit_test(in_common), cmocka_unit_test(disallowed),
		cmocka_unit_test(notes),     cmocka_unit_test(some_events),
		cmocka_unit_test(reloaded),  cmocka_unit_test(times),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
