/* t-formats.c: format-writer.h: each form against a model made by hand (stub-model.c), read
 * back by other people's parsers: jansson for JSON, hwloc for XML.
 */
#include "test.h"

#include <hwloc.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <sys/mman.h>

#include "../../core/cli/report/hwloc.h"
#include "../../core/cli/report/page.h"
#include "../../core/formats/function-name.h"
#include "../../core/formats/format-csv.h"
#include "../../core/formats/format-text-levels.h"
#include "../../core/formats/format-text-words.h"
#include "../../core/formats/format-writer.h"
#include "stub-model.c"

static char text[1 << 20];
static size_t length;

static struct sp_selection how;

static const char *show(const char *view, struct sp_model *m)
{
	struct sp_out o;

	sp_out_init(&o, -1, text, sizeof(text) - 1);
	how.m = m;
	sp_any_format_writer_by_name(view, strlen(view))->write(&o, &how);
	assert_int_equal(sp_out_finish(&o), 0);
	length = o.used;
	text[length] = '\0';
	return text;
}

static void table(void **state)
{
	assert_int_equal(sp_n_format_writers, 4);
	assert_string_equal(sp_format_writer_by_name("jsonx", 4)->extension, ".json");
	assert_null(sp_format_writer_by_name("xml", 3));
	assert_null(sp_format_writer_by_name("json", 3));
	assert_string_equal(sp_format_writer_by_extension("a.txt/b.c/run.sspapi")->name, "store");
	assert_string_equal(sp_any_format_writer_by_extension("a/x.trace.json")->name, "trace");
	assert_string_equal(sp_format_writer_by_extension("x.json")->name, "json");
	assert_null(sp_format_writer_by_extension("a/.json"));
	assert_null(sp_format_writer_by_extension("x.xml"));	/* the command's */
	assert_string_equal(sp_any_format_writer_by_extension("x.xml")->name, "hwloc");
	assert_string_equal(sp_any_format_writer_by_extension("x.csv")->name, "csv");
	assert_null(sp_format_writer_by_extension("out.json/run"));
	assert_null(sp_format_writer_by_extension("out/.json"));
	assert_null(sp_format_writer_by_extension("run.jsonx"));
}

/* ---- JSON -------------------------------------------------------------- */

static json_t *parse(struct sp_model *m)
{
	json_error_t e;
	json_t *root;
	char *big;

	show("json", m);
	/* Valid, but more than jansson's integers hold. */
	while ((big = strstr(text, "18446744073709551615")))
		memcpy(big, "                 111", 20);
	root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &e);
	if (!root)
		fail_msg("line %d: %s", e.line, e.text);
	return root;
}

/* What is at a path of keys and indices, as text: #N of a list or an object, - where there is
 * nothing. */
static const char *at_path(const json_t *o, const char *path)
{
	static char said[400];
	char copy[200], *save;

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *key = strtok_r(copy, "/", &save); o && key; key = strtok_r(NULL, "/", &save))
		o = json_is_array(o) ? json_array_get(o, strtoul(key, NULL, 10))
				     : json_object_get(o, key);
	switch (o ? json_typeof(o) : JSON_NULL) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		snprintf(said, sizeof(said), "#%zu",
			 json_is_array(o) ? json_array_size(o) : json_object_size(o));
		break;
	case JSON_STRING:
		return json_string_value(o);
	case JSON_INTEGER:
		snprintf(said, sizeof(said), "%lld", (long long)json_integer_value(o));
		break;
	case JSON_REAL:
		snprintf(said, sizeof(said), "%g", json_real_value(o));
		break;
	default:
		return !o ? "-" : json_is_null(o) ? "null" : json_is_true(o) ? "true" : "false";
	}
	return said;
}

#define JSON(root, ...) \
	assert_json(root, (const char *const[][2]){ __VA_ARGS__ }, \
		    sizeof((const char *const[][2]){ __VA_ARGS__ }) / sizeof(char *[2]))

static void assert_json(const json_t *root, const char *const (*want)[2], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(at_path(root, want[i][0]), want[i][1]))
			fail_msg("%s: %s, not %s", want[i][0], at_path(root, want[i][0]),
				 want[i][1]);
}

static void json_keys(void **state)
{
	json_t *root = parse(stub_model(STUB_FULL)), *self;
	double own;

	JSON(root,
	     { "format", "sspapi-dump" }, { "format_version", "1" },
	     { "sspapi_version", SP_VERSION }, { "callsites", "#3" },
	     { "process/pid", "4242" }, { "process/rank", "3" }, { "process/job", "881234" },
	     { "process/end", "exit" },
	     { "process/start_ns", "1700000000000000000" }, { "process/args", "#6" },
	     { "process/args/4", "tab\there" },
	     { "papi/version", "7.0.0.0" }, { "settings/attribution", "reading" },
	     { "topology/components/7/type", "PU" }, { "topology/components/7/parent", "6" },
	     { "topology/components/7/cpu_kind", "1" },
	     { "events/0/code", "0x80000032" }, { "events/0/derived", "NOT_DERIVED" },
	     { "events/0/data_type", "int64" },
	     { "events/0/natives", "#1" }, { "events/0/description", stub_text[T_DESCRIPTION] },
	     { "events/5/kind", "gauge" }, { "events/7/name", "ev\x1b[31m<&>\"\n\xef\xbf\xbd,\\" },
	     { "calls", "#3" }, { "calls/PAPI_read", "17035" }, { "dropped/relations", "1" },
	     { "notes", "#3" },
	     { "self/ns_per_call", "214" });
	/* What 12 calls took, of all; and the preparations. */
	self = json_object_get(root, "self");
	own = 214. * json_integer_value(json_object_get(self, "calls")) + 1000000;
	assert_true(own > 4000000 && fabs(json_number_value(json_object_get(self, "share")) -
					  own / (10000000 + own)) < 1e-6);
	json_decref(root);
}

/* As much as is known of it, and is no more than 90 %. */
static void counted_time(void **state)
{
	static const struct { uint64_t cpu, counted, more; const char *json, *headline; } is[] = {
		{ 1000000, 480000, 0, "480000", "counted 48 % of" },
		{ 1000000, 470000, 20000, "480000", "counted 48 % of" },
		{ 1000000, 470000, 20001, "null", NULL },		/* not known to 2 % */
		{ 1000000, 480000, SP_COUNTED_UNKNOWN, "null", NULL },
		{ 1000000, 900000, 0, "900000", NULL },
		{ 1000000, 885000, 20000, "895000", NULL },		/* perhaps 90.5 % */
		{ 0, 0, 0, "null", NULL },				/* of an older store, or
									 * killed */
	};

	for (unsigned i = 0; i < SP_COUNT(is); i++) {
		struct sp_model *m = stub_model(STUB_FULL);
		json_t *root;

		m->h.time.cpu_ns = is[i].cpu;
		m->h.time.counted_ns = is[i].counted;
		m->h.time.counted_more_ns = is[i].more;
		root = parse(m);
		assert_string_equal(at_path(root, "process/counted_cpu_ns"), is[i].json);
		json_decref(root);
		m->tally.readings = 5;
		show("text", m);
		/* the headline in one line */
		for (char *p; (p = strstr(text, "\n  ")) && p < text + 400;)
			memmove(p + 1, p + 3, strlen(p + 3) + 1), *p = ' ';
		assert_true(is[i].headline ? strstr(text, is[i].headline) != NULL
					   : !strstr(text, "process's"));
	}
}

/* Arguments are cut, the program's name is not. */
static void headline_command(void **state)
{
	static const struct { const char *exe, *headline; } is[] = {
		{ "/home/u/bin/matmul", "matmul -n 20" },
		{ "/bin/a-program-with-a-long-name", "a-program-with-a-long-name ..: " },
	};
	const char *exe = stub_text[T_EXE];

	for (unsigned i = 0; i < SP_COUNT(is); i++) {
		stub_text[T_EXE] = is[i].exe;
		assert_int_equal(strncmp(show("text", stub_model(STUB_FULL)), is[i].headline,
					 strlen(is[i].headline)), 0);
	}
	stub_text[T_EXE] = exe;
}

static void json_relations(void **state)
{
	json_t *root = parse(stub_model(STUB_FULL));

	JSON(root, { "relations", "#5" }, { "relations/0/target/kind", "thread" },
	     { "relations/0/events/3", "3" }, { "relations/0/cpus/1/cpu", "1" },
	     { "relations/0/cpus/1/total/1", "2000" }, { "relations/0/cpus/1/exact/1", "0" },
	     { "relations/0/cpus/1/total/3", "0.5" }, { "relations/0/cpus/2/cpu", "null" },
	     { "relations/0/entries", "#8" }, /* also of the floating-point event */
	     { "relations/0/entries/1/event", "1" }, { "relations/0/entries/1/cpu", "0" },
	     { "relations/0/entries/1/list/0/ns", "1700000000123456789" },
	     { "relations/0/entries/1/list/0/value", "23456789012" },
	     { "relations/0/entries/1/list/0/permanent", "false" },
	     { "relations/1/target/kind", "cpu" }, { "relations/1/target/cpu", "2" },
	     { "relations/1/thread", "wo\x1b\"rk,er\xef\xbf\xbd" },
	     { "relations/1/cpus/1/cpu", "99" }, { "relations/2/tid", "0" },
	     { "relations/2/threads", "5000" }, { "relations/4/target/tid", "4711" });
	json_decref(root);
}

/* Readings of a relation without counts, all and too many for a part of the run; those of sspapi
 * stat are added up. */
static void json_part(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);
	const bool all[STUB_COMPONENTS] = { true, true };
	const uint64_t thread[] = { sp_part_thread(0, 4243) };
	const struct sp_part part = { .process = all,
				      .component = all,
				      .callsite = all,
				      .thread = thread,
				      .n_threads = 1,
				      .readings = 3 };
	json_t *root;

	stub_relation[3].row.kept = 9;
	root = parse(m);
	JSON(root, { "relations/3/entries", "#2" }, { "relations/3/entries/0/cpu", "0" },
	     { "relations/3/entries/0/list", "#2" }, { "relations/3/entries/1/cpu", "1" },
	     { "relations/3/entries/1/list", "#7" }, { "relations/3/entries/1/list/6/value", "7" },
	     { "relations/3/entries/1/list/6/ns", "1700000000000000008" },
	     { "relations/3/entries/1/list/6/permanent", "true" });
	json_decref(root);
	how.part = &part;
	root = parse(m);
	JSON(root, { "relations", "#2" }, { "relations/0/tid", "4243" },
	     { "relations/1/entries/0/list", "#2" }, { "relations/1/entries/1/list", "#3" },
	     { "relations/1/entries/1/list/0/value", "3" },
	     { "relations/1/entries/1/list/1/value", "6" },
	     { "relations/1/entries/1/list/2/value", "7" }, { "topology/components", "#2" });
	json_decref(root);
	m->h.stat = SP_STAT_WHOLE;
	root = parse(m);
	JSON(root, { "relations/1/entries/1/list/0/value", "6" },
	     { "relations/1/entries/1/list/1/value", "15" },
	     { "relations/1/entries/1/list/2/value", "7" });
	json_decref(root);
	how.part = NULL;
}

static void json_overflows(void **state)
{
	json_t *root = parse(stub_model(STUB_FULL));

	JSON(root, { "relations/0/overflows", "#0" }, { "relations/2/overflows", "#2" },
	     { "relations/2/overflows/0/event", "1" }, { "relations/2/overflows/0/cpu", "0" },
	     { "relations/2/overflows/0/count", "12" }, { "relations/2/overflows/0/other", "2" },
	     { "relations/2/overflows/0/addresses/1/module",
	       "/lib/ev\x1b[31m<&>\"\n\xef\xbf\xbd,\\" },
	     { "relations/2/overflows/0/addresses/1/offset", "0x1021" },
	     { "relations/2/overflows/0/addresses/1/count", "5" },
	     { "relations/2/overflows/1/event", "null" }, { "relations/2/overflows/1/cpu", "null" },
	     { "relations/2/overflows/1/addresses", "#0" });
	json_decref(root);
	how.all = true;
	show("text", stub_model(STUB_FULL));
	how.all = false;
	assert_non_null(strstr(
		text,
		"\n- overflow handler: 12 calls for TOT_CYC, 12 on CPU 0; in ma\"in:7 41.6 %,"));
	assert_non_null(strstr(text, "\n- overflow handler: 7 calls for an event that PAPI does "
				     "not report, 7 on no\n  known CPU\n"));
}

static void json_sums(void **state)
{
	json_t *root = parse(stub_model(STUB_FULL));

	assert_int_equal(json_array_size(json_object_get(root, "components")), STUB_COMPONENTS);
	JSON(root,
	     { "components/0/total/PAPI_TOT_INS", "18518519384" }, { "components/0/total", "#6" },
	     { "components/0/total/coretemp:::hwmon0:temp1_input", "-" },
	     { "components/0/total/rapl:::PACKAGE_ENERGY:PACKAGE0", "1234.5" },
	     { "components/13/total/PAPI_TOT_INS", "6172839453" });
	json_decref(root);
}

/* Valid whatever is missing, and with doubles that JSON has no word for. */
static void json_odd(void **state)
{
	static const int64_t odd[] = { 0x7ff0000000000000, 0x7ff8000000000000, 1, INT64_MIN,
				       0x7fefffffffffffff };
	struct sp_model *m;
	json_t *root;

	for (enum stub kind = STUB_FULL; kind <= STUB_BARE; kind++)
		json_decref(parse(stub_model(kind)));
	for (size_t i = 0; i < SP_COUNT(odd); i++) {
		m = stub_model(STUB_FULL);
		stub_relation[0].cell[0].total[3] = odd[i];
		m->sums.below[3] = m->sums.total[3] = odd[i];
		m->h.end = 77;
		m->h.attribution = m->h.readings = 99;
		m->h.process.rank = -1;
		m->h.process.job = m->h.process.host = m->h.process.args = 0;
		root = parse(m);
		JSON(root, { "process/job", "null" }, { "process/rank", "null" },
		     { "process/end", "snapshot" });
		json_decref(root);
	}
}

/* ---- CSV --------------------------------------------------------------- */

#define FIELDS 17

/* The fields of the next line, unquoted in place; false: there is none. */
static bool csv_line(char **at, char *field[FIELDS])
{
	unsigned n = 0;
	char *p = *at;

	if (!*p)
		return false;
	for (;;) {
		char *to = p, end;
		bool quoted = *p == '"';

		assert_true(n < FIELDS);
		field[n++] = to;
		p += quoted;
		while (quoted ? p[0] != '"' || p[1] == '"' : !strchr(",\n", *p)) {
			assert_true(*p && (quoted || *p != '"'));
			p += quoted && *p == '"';
			*to++ = *p++;
		}
		p += quoted;
		end = *p++;
		*to = '\0';
		assert_true(end == ',' || end == '\n');
		if (end == '\n')
			break;
	}
	assert_int_equal(n, FIELDS);
	*at = p;
	return true;
}

/* A gauge has no total. */
static void csv(void **state)
{
	static const char header[] =
		"host,rank,pid,tid,thread,relation,event_set,from,to,cpu,core,numa,package,event,"
		"readings,total,exact\n";
	static const struct { unsigned line, field; const char *is; } want[] = {
		{ 5, 9, "1" }, { 5, 12, "0" }, { 5, 13, "PAPI_TOT_CYC" }, { 5, 15, "2000" },
		{ 5, 16, "0" },
		{ 8, 9, "" }, { 8, 10, "" }, { 8, 12, "" },
		{ 14, 4, "wo\\x1b\"rk,er\\xff" }, { 14, 10, "2" }, { 14, 11, "7" }, { 14, 12, "1" },
		{ 14, 13, "ev\\x1b[31m<&>\"\\x0a\\xff,\\" }, { 14, 15, "-5" },
		{ 15, 9, "99" }, { 15, 11, "" },
		/* an interval from an unknown place, and one between two */
		{ 18, 7, "" }, { 18, 8, "matmul+0x1010" }, { 18, 14, "3999" }, { 18, 15, "39" },
		{ 21, 7, "matmul+0x1010" },
		{ 21, 8, "matmul+0x1020;ev\\x1b[31m<&>_\\x0a\\xff_\\+0x1021" },
		{ 21, 9, "1" }, { 21, 13, "PAPI_TOT_INS" }, { 21, 15, "1" },
	};
	char *field[FIELDS], *at;
	unsigned lines = 0;

	stub_component[13].logical_index = 7;
	show("csv", stub_model(STUB_FULL));
	stub_component[13].logical_index = 1;
	assert_memory_equal(text, header, strlen(header));
	at = text + strlen(header);
	for (; csv_line(&at, field); lines++) {
		assert_string_equal(field[0], "node017");
		if (lines < 18 || lines >= 26) {
			assert_string_equal(field[7], "");
			assert_string_equal(field[8], "");
		}
		for (size_t i = 0; i < SP_COUNT(want); i++)
			if (want[i].line == lines)
				assert_string_equal(field[want[i].field], want[i].is);
	}
	assert_int_equal(lines, 3 * 4 + 2 * 3 + 2 * 2 * 2 + 2 * 1);
	show("csv", stub_model(STUB_NO_START));
	assert_string_equal(text, header);
}

/* Counts before a first reading, from notes; those of strangers end where reading faults. */
static void csv_of_notes(void **state)
{
	static const struct { const char *note, *has; unsigned lines; } of[] = {
		{ SP_NOTE_EARLY_COUNTS "run: 12 of A, 3 of B, C" SP_NOTE_BEGINNINGS_END,
		  "B, C (before the first reading)\",0,3,", 2 },
		{ SP_NOTE_EARLY_COUNTS SP_NOTE_BEGINNINGS_END ":", "", 0 },
		{ SP_NOTE_EARLY_COUNTS ": 5" SP_NOTE_BEGINNINGS_END " of ", "", 0 },
		{ SP_NOTE_EARLY_COUNTS ": 5 of A" SP_NOTE_BEGINNINGS_END,
		  "A (before the first reading),0,5,", 1 },
		{ SP_NOTE_EARLY_COUNTS ":", "", 0 },
	};
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sp_model *m = stub_model(STUB_FULL);
	const char *was = stub_notes[0];

	assert_int_equal(mprotect(page + 4096, 4096, PROT_NONE), 0);
	for (size_t i = 0; i < SP_COUNT(of); i++) {
		unsigned lines = 0;
		struct sp_out o;

		stub_notes[0] = strcpy(page + 4095 - strlen(of[i].note), of[i].note);
		sp_memory_init(&o, text, sizeof(text));
		sp_csv_beginnings(&o, &(struct sp_selection){ .m = m }, 0);
		assert_non_null(strstr(sp_memory_text(&o), of[i].has));
		for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
			lines++;
		assert_int_equal(lines, of[i].lines);
	}
	stub_notes[0] = was;
	munmap(page, 8192);
}

/* ---- text -------------------------------------------------------------- */

static unsigned columns(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/* The line that starts with this, after this one, spaces in front aside. */
static const char *find(const char *after, const char *start)
{
	static char line[1024];

	for (const char *p = strstr(text, after); p && *p;
	     p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
		const char *first = p + strspn(p, " ");

		if (strncmp(first, start, strlen(start)))
			continue;
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(p, "\n"), p);
		return line;
	}
	fail_msg("no line \"%s\" behind \"%s\"", start, after);
	return NULL;
}

/* Where in this line the word ends. */
static size_t end_of(const char *line, const char *word)
{
	const char *p = strstr(line, word);

	if (!p)
		fail_msg("no \"%s\" in \"%s\"", word, line);
	return (size_t)(p - line) + strlen(word);
}

static void text_lines(void **state)
{
	for (enum stub kind = STUB_FULL; kind <= STUB_BARE; kind++) {
		char *save, *copy;
		unsigned lines = 0;

		for (int all = 0; all < 2; all++) {
		how.all = all;
		copy = strdup(show("text", stub_model(kind)));
		for (char *line = strtok_r(copy, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save)) {
			if (columns(line) > 80)
				fail_msg("%u columns: %s", columns(line), line);
			for (const char *p = line; *p; p++)
				assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
			assert_int_not_equal(line[strlen(line) - 1], ' ');
			lines += !all;
		}
		free(copy);
		assert_null(strstr(text, "\n\n\n"));
		}
		how.all = false;
		assert_true(lines <= 100);
	}
}

static void text_tree(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);
	char header[1024];

	show("text", m);
	find("matmul",
	     "matmul -n 2000 'two words..: 12.35 s on node017, rank 3, 5,003 threads on 4 CPUs");
	assert_non_null(strstr(text, "\n1 % of CACHE_REFERENCES:u=0:k=1:period=100000:precise=2 "
				     "(at most 12 of 1,246),\n  100 % of BIG "));
	assert_null(strstr(text, "% of TOT_INS"));	/* below 0.1 % */
	strcpy(header, find("\nCPU ", "CPU "));
	assert_int_equal(end_of(header, "TOT_INS"),
			 end_of(find("\nCPU ", "~ all CPUs"), "18.52 G"));
	assert_int_equal(end_of(header, "share"), end_of(find("\nCPU ", "~   L3 1"), "<1 %"));
	assert_int_equal(end_of(header, "TOT_CYC"), end_of(find("\nCPU ", "~   L3 1"), "  4"));
	assert_int_equal(end_of(header, "TOT_INS"),
			 end_of(find("\nCPU ", "~     CPU 1 (core 1)"), "  1,030"));
	assert_int_equal(end_of(header, "PACKAGE0"),
			 end_of(find("\nCPU ", "~ all CPUs"), "1.235 uJ"));
	assert_int_equal(end_of(header, "TOT_INS"), end_of(find("\nCPU ", "~ no known CPU"), " 7"));
	/* All of it is proven. */
	find("\nCPU ", "CPU 0 (core 0)");
	/* A column a name, whole; below each other the words that do not fit. */
	assert_non_null(strstr(text, " REFERENCES:\n"));
	assert_non_null(strstr(header, "TOT_INS    TOT_CYC   share    precise=2    PACKAGE0"));
	find("\nevent ", "BIG                       all CPUs    18.45 E");
	m->sums.total_exact[0] = m->sums.total[0];
	stub_event[2].name = T_CYC;
	show("text", m);
	stub_event[2].name = T_LONG;
	find("\nCPU ", "CPU ");
	assert_non_null(strstr(text, " PAPI_TOT_"));	/* two of the name */
}

/* More rows than are shown: the heaviest, and the sum of the rest. */
static void text_rows(void **state)
{
	static struct sp_component many[40];
	static int64_t sum[40 * 8];
	static bool counted[40];
	struct sp_model *m = stub_model(STUB_FULL);

	memset(many, 0, sizeof(many));
	many[0] = (struct sp_component){ .parent = -1, .os_index = 0, .type = "Machine" };
	for (int i = 1; i < 40; i++) {
		many[i] = (struct sp_component){ .os_index = i, .type = "PU" };
		sum[8 * i] = i == 7 ? 500 : i;
		sum[0] += sum[8 * i];
	}
	memset(counted, true, sizeof(counted));
	m->component = many;
	m->n_components = 40;
	m->kinds = 0;
	assert_int_equal(m->n_events, 8);
	m->sums.below = m->sums.below_exact = sum;
	m->sums.counted = counted;
	m->sums.total[0] = m->sums.total_exact[0] = sum[0];
	memset(m->event_counted + 1, false, 7 * sizeof(*m->event_counted));
	show("text", m);
	find("\nCPU ", "CPU 7 ");
	assert_non_null(strstr(text, "\n  CPU 7                     500    39 %\n  CPU 39 "));
	assert_null(strstr(text, "CPU 30 "));
	/* (what is on no known CPU is one of them) */
	assert_non_null(strstr(text, "\n~ … and 30 more CPUs        465    37 %\n"
			     "(~: 0.1 % or more of the row is not proven)\n"));
	how.all = true;
	show("text", m);
	how.all = false;
	assert_non_null(strstr(text, "CPU 30 "));
	assert_null(strstr(text, "more CPUs"));
}

static void text_threads(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);
	char header[1024];

	show("text", m);
	strcpy(header, find("\nthread ", "thread "));
	assert_int_equal(end_of(header, "TOT_CYC"),
			 end_of(find("\nthread ", "~ 4242 main"), "23.46 G"));
	assert_int_equal(end_of(header, "ran on CPU"),
			 end_of(find("\nthread ", "~ 4242 main"), " 0-1"));
	find("\nthread ", "~ 4243 wo\\x1b\"rk,er\\xff ");
	find("\nthread ", "~ 5,000 threads that ha.. ");
	assert_null(strstr(text, "\n  mean"));		/* of two */
	assert_null(strstr(text, "still running"));
	find("\n- ", "- event set 3 of thread 4243: a count decreased: it is a difference of");
	find("\n- ", "- event set 3 of thread 4243: attached to a CPU: counts all activity there");
	find("\n- ", "- event set 1 of thread 4244: started, but never read");
	find("\n- ", "- event set 2 of thread 4242: read by another thread than the counted one:");
	find("\n- ", "- PAPI refused PAPI_L3_TCM");
	find("\n- ", "- 1 event set missing");
	how.all = true;
	stub_relation[1].row.flags |= SP_RELATION_RUNNING;
	stub_relation[3].row.flags |= SP_RELATION_RUNNING;
	stub_relation[4].row.tid = 4250;
	stub_relation[4].event[1] = 1;
	show("text", m);
	find("\nthread ", "min ");
	find("\nthread ", "max (max/mean ");
	find("\n- ", "- event set 3 of thread 4243: still running at the end: PAPI did not return");
	find("\n- ",
	     "- event set 1 of thread 4244: never read, and still running at the end: PAPI");
	stub_relation[3].row.flags &= ~SP_RELATION_RUNNING;
	stub_relation[1].row.intervals = 4;	/* of a region: it runs on, and nobody need know */
	show("text", m);
	assert_null(strstr(text, "still running"));
	how.all = false;
}

static const char *shortened(uint32_t event, int64_t v)
{
	static char buf[48];

	unsigned n = sp_short_text(buf, stub_model(STUB_FULL), event, v);

	assert_int_equal(n, strlen(buf));
	return buf;
}

/* Digits and units. */
static void text_numbers(void **state)
{
	int64_t joule[] = { 0x41cdcd6500000000ll /* 1e9 */, 0x3ff0000000000000ll };

	assert_string_equal(shortened(0, 9999999), "9,999,999");
	assert_string_equal(shortened(0, 10000000), "10.00 M");
	assert_string_equal(shortened(0, 12345678), "12.35 M");
	assert_string_equal(shortened(0, -999999999), "-1.000 G");
	assert_string_equal(shortened(0, 123456789012), "123.5 G");
	assert_string_equal(shortened(6, -1), "18.45 E");
	assert_string_equal(shortened(3, joule[0]), "1.000 J");
	assert_string_equal(shortened(3, joule[1]), "1.000 nJ");
	assert_string_equal(shortened(3, 0), "0 J");
	stub_text[T_INS] = "perf::TASK-CLOCK";
	assert_string_equal(shortened(0, 0), "0 s");
	assert_string_equal(shortened(0, 308), "308.0 ns");
	assert_string_equal(shortened(0, 46700000), "46.70 ms");
	assert_string_equal(shortened(0, 11950000000), "11.95 s");
	assert_string_equal(shortened(0, 12345000000000), "12345 s");
	stub_text[T_INS] = "PAPI_TOT_INS";
}

static void pair(struct sp_out *o, uint32_t from, uint32_t to, enum sp_pair_detail detail,
		 unsigned width)
{
	struct sp_site_texts *told = sp_site_texts_new(stub_model(STUB_FULL));

	sp_text_pair(o, told, from, to, detail, width);
	sp_sites_forget(told);
}

/* Functions of C++, as symbol tables have them and as addr2line says them. */
static void text_functions(void **state)
{
	static const struct { const char *name, *shown;
	} is[] = {
		{ "_ZN3sim6Solver4stepEi", "sim::Solver::step" },
		{ "sim::Solver::step(int) const", "sim::Solver::step" },
		{ "_ZN3sim6SolverIdE4stepEiRKSs", "sim::Solver::step" },
		{ "sim::Solver<double>::step(int)", "sim::Solver::step" },
		{ "_Z4swapIiEvRT_S1_", "swap" },
		{ "_ZNSt6vectorIiSaIiEE9push_backEOi", "vector::push_back" },
		{ "_ZN3sim6SolverILi4EEC1Ev", "sim::Solver::Solver" },
		{ "_ZN3sim6SolverD0Ev", "sim::Solver::~Solver" },
		{ "_ZNK1AclEi", "A::operator()" },
		{ "A::operator()(int) const", "A::operator()" },
		{ "_ZZ4mainENKUliE_clEi", "main::lambda" },
		{ "main::{lambda(int)#1}::operator()(int) const", "main::lambda" },
		{ "_ZN12_GLOBAL__N_16helperEd", "helper" },
		{ "(anonymous namespace)::helper(double)", "helper" },
		{ "bool A::operator< <int>(A)", "A::operator<" },
		{ "void swap<int>(int&, int&)", "swap" },
		{ "std::vector<int> f::g(int)", "f::g" },
		{ "main", "main" },
		{ "_Z", "_Z" },
		{ "_ZN99x", "_ZN99x" },
		{ "_ZL5startv", "start" },
		{ "f<int>::my_operator", "f::my_operator" },
		{ "step.constprop.0", "step" },
		{ "sweep._omp_fn.0", "sweep, parallel region at line 7" },
		{ "void sweep<int>() [clone ._omp_fn.0]", "sweep, parallel region at line 7" },
		{ ".omp_outlined.", ".omp_outlined., parallel region at line 7" },
	};

	for (size_t i = 0; i < SP_COUNT(is); i++) {
		struct sp_out o;

		stub_symbol = is[i].name;
		sp_memory_init(&o, text, sizeof(text));
		pair(&o, 0, 2, SP_PAIR_FUNCTIONS, 200);
		stub_symbol = NULL;
		if (strncmp(strstr(sp_memory_text(&o), "\u2192 ") + 4, is[i].shown,
			    strlen(is[i].shown)) != 0)
			fail_msg("%s: %s", is[i].name, text);
	}
}

/* Where instances of one template are to be told apart. */
static void text_template_arguments(void **state)
{
	static const struct { const char *name, *shown; unsigned how;
	} is[] = {
		{ "_ZN3sim6SolverIdE4stepEi", "sim::Solver::step", SP_NAME_ARGUMENTS },
		{ "_Z3runI", "_Z3runI", SP_NAME_ARGUMENTS },
		{ "void sim::Solver<double>::step<unsigned long>(int) const",
		  "sim::Solver<double>::step<unsigned long>", SP_NAME_ARGUMENTS },
		{ "void sim::Solver<a::B>::step<a::C>(int)", "Solver<a::B>::step<a::C>",
		  SP_NAME_ARGUMENTS | SP_NAME_BRIEF },
		{ "void sim::Solver<a::B>::step<a::C>(int)", "Solver::step", SP_NAME_BRIEF },
	};
	char name[SP_FUNCTION_NAME];

	for (size_t i = 0; i < SP_COUNT(is); i++)
		assert_string_equal(sp_function_name(name, is[i].name, is[i].how), is[i].shown);
}

/* Two calls in one function: more detail, and no more columns than there are. */
static void text_twins(void **state)
{
	static const struct { enum sp_pair_detail detail; unsigned width; const char *shown;
	} is[] = {
		{ SP_PAIR_FUNCTIONS, 200, "ma\"in" },
		{ SP_PAIR_LINES, 200, "ma\"in:7 \u2192 7" },
		{ SP_PAIR_ALL, 200,
		  "ma\"in (a.c:7 0x1010) \u2192 ma\"in (a.c:7 0x1020) < "
		  "ev\\x1b[31m<&>\"\\x0a\\xff,\\" },
		{ SP_PAIR_ALL, 10, "ma\"in (a.." },
	};

	for (unsigned i = 0; i < SP_COUNT(is); i++) {
		struct sp_out o;

		stub_twins = true;
		sp_memory_init(&o, text, sizeof(text));
		pair(&o, 1, 2, is[i].detail, is[i].width);
		stub_twins = false;
		assert_string_equal(sp_memory_text(&o), is[i].shown);
	}
	/* A region has a name, and no place. */
	struct sp_out o;
	sp_memory_init(&o, text, sizeof(text));
	pair(&o, 1, 2, SP_PAIR_LINES, 200);
	assert_string_equal(sp_memory_text(&o), "re\\x1bgion \u2192 ma\"in");
}

static const char *site(uint32_t id)
{
	struct sp_out o;

	sp_memory_init(&o, text, sizeof(text));
	pair(&o, 0, id, SP_PAIR_FUNCTIONS, 200);
	return sp_memory_text(&o) + strlen("any other call → ");
}

/* The innermost function, but not one of the C++ library's; a lambda has its line. */
static void text_inlined(void **state)
{
	static struct sp_inlined of_program[] = { { "_Z4stepv", "/home/u/step.cc:9" },
						  { "_Z3runv", "/home/u/run.cc:12" } },
				 of_library[] = { { "_Z4stepv", "/home/u/step.cc:9" },
						  { "_M_run",
						    "/usr/include/c++/12/bits/std_thread.h:210" } },
				 of_it_alone[] = {
					 { "_M_run", "/usr/include/c++/12/bits/std_thread.h:210" }
				 };
	static const struct {
		struct sp_inlined *into;
		uint32_t n;
		const char *symbol, *shown;
	} is[] = {
		{ of_program, 2, NULL, "ma\"in" },
		{ of_library, 2, NULL, "ma\"in" },
		{ of_it_alone, 1, NULL, "ma\"in" },
		{ of_it_alone, 1, "operator()", "operator():7" },
		{ NULL, 0, "", "matmul" },
	};

	for (unsigned i = 0; i < SP_COUNT(is); i++) {
		stub_into = is[i].into;
		stub_n_into = is[i].n;
		stub_symbol = is[i].symbol;
		assert_string_equal(site(2), is[i].shown);
	}
	stub_twins = true;
	assert_string_equal(site(2), "matmul+0x1020");	/* there is another one in that library */
	stub_twins = false;
	stub_into = NULL;
	stub_n_into = 0;
	stub_symbol = NULL;
}

/* CPUs that the tree lacks. */
static void text_cpus(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);

	how.all = true;
	show("text", m);
	assert_null(strstr(text, "in the topology, but"));
	m->h.cpus_allowed = T_ALLOWED;
	m->n_outside = 1;
	m->outside[0] = 99;
	show("text", m);
	assert_non_null(
		strstr(text,
		       "\n- CPU 99 is not in the topology, but counted: brought online later\n"));
	assert_non_null(strstr(text, "5,003 threads on 5 of 9 CPUs\n"));
	m->n_outside = SP_UNLISTED_CPUS_MOST;
	m->topology_source = "x.xml";
	show("text", m);
	assert_non_null(strstr(text,
			       "\n- CPUs 99, 0, 0, 0, 0, 0, 0, 0 and perhaps more are not in "
			       "the topology, but\n  counted: the topology does not describe all"));
	how.all = false;
}

/* What only one kind of core can count. */
static void text_of_one_pmu(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);

	stub_event[0].pmu = stub_event[1].pmu = T_HOST;
	how.all = true;
	show("text", m);
	assert_non_null(
		strstr(text,
		       "\n- counted by the PMU node017, which only some cores have; counts of the "
		       "others\n  are missing: TOT_INS, TOT_CYC\n"));
	stub_event[0].pmu = stub_event[1].pmu = 0;
	show("text", stub_model(STUB_FULL));
	how.all = false;
	assert_null(strstr(text, "by the PMU"));
}

static void text_says_why(void **state)
{
	struct sp_model *m;

	show("text", stub_model(STUB_UNPROVEN));
	assert_non_null(strstr(text,
			       "\nno count is proven on its CPU (~)\n  each count is attributed "
			       "to the CPU of its reading: pin the threads,"));
	show("text", stub_model(STUB_ALL_PROVEN));
	assert_non_null(strstr(text, "\nall counts proven per CPU\n"));
	assert_null(strstr(text, "~"));
	assert_null(strstr(text, "to the CPU of its reading"));
	m = stub_model(STUB_ALL_PROVEN);
	m->sums.total_exact[0] -= m->sums.total[0] / 1001;
	assert_non_null(strstr(show("text", m), "\nall counts proven per CPU (error margin "
						"18.50 M of 18.52 G TOT_INS)\n"));
	m->sums.total_exact[0] = m->sums.total[0] - m->sums.total[0] / 999;
	assert_non_null(strstr(show("text", m), "\n<1 % of TOT_INS is not proven on its CPU (~): "
						"at most 18.54 M of 18.52 G may be\n  elsewhere"));
	m = stub_model(STUB_NO_START);
	show("text", m);
	assert_non_null(strstr(text, "PAPI refused events (see the notes)"));
	m->h.lists.n_notes = 0;	/* none says why */
	show("text", m);
	assert_non_null(strstr(text, "never called PAPI_start.\n"));
	assert_null(strstr(text, "notes"));
	m->h.lists.n_notes = 2;
	show("text", m);
	assert_non_null(strstr(text, "PAPI refused events (see the notes), and the program never\n"
				     "  called PAPI_start; run sspapi doctor."));
	m->tally.calls[4] = 0;
	assert_non_null(strstr(show("text", m), "the program never called PAPI_start.\n"));
	m->tally.calls[1] = 2;
	assert_non_null(strstr(show("text", m), "PAPI refused every PAPI_start"));
	m->h.lists.n_notes = 0;
	assert_non_null(strstr(show("text", m),
			       "no PAPI_start of the program succeeded; run sspapi doctor"));
	m->h.lists.n_notes = 2;
	m->tally.damaged = 1;
	assert_non_null(strstr(show("text", m),
			       "\nNothing to show: the store is damaged; counts of "
			       "the damaged blocks are missing.\n"));
	m = stub_model(STUB_NO_READING);
	assert_non_null(
		strstr(show("text", m), "no PAPI_read, PAPI_accum or\n  PAPI_stop succeeded"));
	m->tally.damaged = 1;
	assert_null(strstr(show("text", m), "no PAPI_read, PAPI_accum or\n  PAPI_stop succeeded"));
}

/* ---- hwloc ------------------------------------------------------------- */

static const hwloc_obj_type_t hwloc_types[] = {
	HWLOC_OBJ_MACHINE, HWLOC_OBJ_PACKAGE, HWLOC_OBJ_NUMANODE, HWLOC_OBJ_L3CACHE,
	HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE, HWLOC_OBJ_CORE,	  HWLOC_OBJ_PU,
};
static const char *const hwloc_names[] = { "Machine", "Package", "NUMANode", "L3",
					   "L2",      "L1d",	 "Core",     "PU" };

static hwloc_obj_t object_of(hwloc_topology_t t, const struct sp_component *c)
{
	for (size_t i = 0; i < SP_COUNT(hwloc_names); i++) {
		if (!strcmp(c->type, hwloc_names[i]))
			return hwloc_get_obj_by_type(t, hwloc_types[i], (unsigned)c->logical_index);
	}
	return NULL;
}

/* The stub's machine as hwloc writes it, with marks of an earlier run in it. */
static char *machine_xml(int *bytes)
{
	hwloc_topology_t t;
	char *xml, *copy;

	assert_int_equal(hwloc_topology_init(&t), 0);
	assert_int_equal(
		hwloc_topology_set_synthetic(t, "Package:2 [NUMANode] L3:1 L2:2 L1d:1 Core:1 PU:1"),
		0);
	assert_int_equal(hwloc_topology_load(t), 0);
	for (unsigned i = 0; i < STUB_COMPONENTS; i++)
		stub_component[i].gp_index = object_of(t, &stub_component[i])->gp_index;
	for (hwloc_obj_t o = hwloc_get_root_obj(t); o; o = o->first_child) {
		hwloc_obj_add_info(o, "PAPI_TOT_INS", "42");
		hwloc_obj_add_info(o, "PAPI_TOT_INS not on a known CPU", "42");
		hwloc_obj_add_info(o, "PAPI_TOT_INS_X", "43");
		hwloc_obj_add_info(o, "lstopoStyle", "Background=#123456");
	}
	hwloc_obj_add_info(hwloc_get_root_obj(t), "lstopoLegend", "sspapi: old");
	hwloc_obj_add_info(hwloc_get_root_obj(t), "lstopoLegend", "a user's");
	hwloc_get_obj_by_type(t, HWLOC_OBJ_L3CACHE, 0)->subtype = strdup("L3 9 (9 %)");
	assert_int_equal(hwloc_topology_export_xmlbuffer(t, &xml, bytes, 0), 0);
	/* Without its NUL, and at the end of its memory, for ASan to watch. */
	*bytes = (int)strlen(xml);
	copy = malloc((size_t)*bytes);
	memcpy(copy, xml, (size_t)*bytes);
	hwloc_free_xmlbuffer(t, xml);
	hwloc_topology_destroy(t);
	return copy;
}

static hwloc_topology_t load(void)
{
	hwloc_topology_t t;

	assert_int_equal(hwloc_topology_init(&t), 0);
	hwloc_topology_set_all_types_filter(t, HWLOC_TYPE_FILTER_KEEP_ALL);
	assert_int_equal(hwloc_topology_set_xmlbuffer(t, text, (int)length + 1), 0);
	assert_int_equal(hwloc_topology_load(t), 0);
	return t;
}

static unsigned infos(hwloc_obj_t o, const char *name)
{
	unsigned n = 0;

	for (unsigned i = 0; i < o->infos_count; i++)
		n += !strcmp(o->infos[i].name, name);
	return n;
}

static void hwloc_infos(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);
	hwloc_topology_t t;
	hwloc_obj_t root;
	char *xml, value[32];
	int bytes;

	m->machine[0].xml = xml = machine_xml(&bytes);
	m->machine[0].xml_bytes = (uint64_t)bytes;
	show("hwloc", m);
	t = load();
	for (uint32_t c = 0; c < STUB_COMPONENTS; c++) {
		hwloc_obj_t o = object_of(t, &m->component[c]);

		assert_non_null(o);
		snprintf(value, sizeof(value), "%" PRId64, m->sums.below[c * m->n_events]);
		assert_int_equal(infos(o, "PAPI_TOT_INS"), 1);
		assert_string_equal(hwloc_obj_get_info_by_name(o, "PAPI_TOT_INS"), value);
		assert_int_equal(infos(o, "lstopoStyle"), 1);
		assert_non_null(
			strstr(hwloc_obj_get_info_by_name(o, "lstopoStyle"), "Background=#"));
		assert_null(strstr(hwloc_obj_get_info_by_name(o, "lstopoStyle"), "123456"));
		assert_null(hwloc_obj_get_info_by_name(o, stub_text[T_TEMP]));
	}
	root = hwloc_get_root_obj(t);
	assert_string_equal(hwloc_obj_get_info_by_name(root, stub_text[T_ENERGY]), "1234.5");
	assert_string_equal(hwloc_obj_get_info_by_name(root, "ev\\x1b[31m<&>\"\\x0a\\xff,\\"),
			    "-5");
	assert_string_equal(hwloc_obj_get_info_by_name(root, "PAPI_TOT_INS_X"), "43");
	assert_string_equal(hwloc_obj_get_info_by_name(root, "PAPI_TOT_INS not on a known CPU"),
			    "12");
	assert_int_equal(infos(root, "PAPI_TOT_INS not on a known CPU"), 1);
	hwloc_topology_destroy(t);
	free(xml);
}

static const char *style_of(hwloc_topology_t t, unsigned pu)
{
	return hwloc_obj_get_info_by_name(hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, pu),
					  "lstopoStyle");
}

static void hwloc_colors(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);
	hwloc_topology_t t;
	char *xml;
	int bytes;

	m->machine[0].xml = xml = machine_xml(&bytes);
	m->machine[0].xml_bytes = (uint64_t)bytes;
	m->sums.counted[18] = m->sums.counted[1] = false;
	show("hwloc", m);
	t = load();
	assert_string_equal(style_of(t, 0), "Background=#b21414;Text=#ffffff");
	assert_string_equal(style_of(t, 1), "Background=#ffffd4");
	assert_null(style_of(t, 2));
	/* What an earlier run painted goes with what it counted; boxes around leaves are
	 * neutral. */
	assert_string_equal(hwloc_obj_get_info_by_name(hwloc_get_obj_by_type(t, HWLOC_OBJ_PACKAGE,
									     0),
						       "lstopoStyle"),
			    "Background=#eeeeee");
	assert_string_equal(hwloc_obj_get_info_by_name(hwloc_get_root_obj(t), "lstopoStyle"),
			    "Background=#eeeeee");
	assert_string_equal(hwloc_obj_get_info_by_name(hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, 2),
						       "BIG"),
			    "18446744073709551615");
	hwloc_topology_destroy(t);
	how.color_by = "BIG";
	m->sums.counted[18] = true;
	show("hwloc", m);
	how.color_by = NULL;
	t = load();
	assert_string_equal(style_of(t, 0), "Background=#ffffd4");
	assert_string_equal(style_of(t, 2), "Background=#b21414;Text=#ffffff");
	hwloc_topology_destroy(t);
	free(xml);
}

/* In the picture: the number and its share, once, and a scale. */
static void hwloc_numbers(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);
	hwloc_topology_t t;
	hwloc_obj_t pu, l3, root;
	unsigned legends = 0;
	char *xml;
	int bytes;

	m->machine[0].xml = xml = machine_xml(&bytes);
	m->machine[0].xml_bytes = (uint64_t)bytes;
	show("hwloc", m);
	t = load();
	pu = hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, 0);
	l3 = hwloc_get_obj_by_type(t, HWLOC_OBJ_L3CACHE, 0);
	root = hwloc_get_root_obj(t);
	assert_int_equal(pu->misc_arity, 1);
	assert_string_equal(pu->misc_first_child->name, "23.46 G (>99 %)");
	assert_string_equal(hwloc_obj_get_info_by_name(pu->misc_first_child, "lstopoStyle"),
			    style_of(t, 0));
	assert_string_equal(l3->subtype, "L3 23.46 G (>99 %)");
	assert_int_equal(hwloc_get_obj_by_type(t, HWLOC_OBJ_CORE, 0)->misc_arity, 0);
	for (unsigned i = 0; i < root->infos_count; i++)
		legends += !strcmp(root->infos[i].name, "lstopoLegend");
	assert_int_equal(legends, 3);
	assert_null(strstr(text, "sspapi: old"));
	assert_non_null(strstr(text, "PAPI_TOT_CYC, pale 0 to dark red "));
	hwloc_topology_destroy(t);
	free(xml);
}

static void hwloc_without_xml(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);
	hwloc_topology_t t;

	stub_component[22].os_index = 70;
	show("hwloc", m);
	stub_component[22].os_index = 3;
	t = load();
	assert_int_equal(hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU), 4);
	assert_int_equal(hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE), 1);
	assert_string_equal(hwloc_obj_get_info_by_name(hwloc_get_root_obj(t), "PAPI_TOT_CYC"),
			    "23456791056");
	assert_string_equal(hwloc_obj_get_info_by_name(hwloc_get_pu_obj_by_os_index(t, 70),
						       "PAPI_TOT_INS"),
			    "3");
	assert_non_null(style_of(t, 0));
	hwloc_topology_destroy(t);
	show("hwloc", stub_model(STUB_BARE));
	t = load();
	assert_int_equal(hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU), 1);
	hwloc_topology_destroy(t);
}

/* Cut anywhere, changed anywhere: hwloc reads it or not, in a child, and no control character comes
 * out. */
static void hwloc_hostile(void **state)
{
	static const char junk[] = "<>\"'=/!- \x1b" "a0";
	struct sp_model *m = stub_model(STUB_FULL);
	unsigned written = 0, refused = 0;
	char *xml, *cut;
	int bytes;
	uint32_t x = 12345;

	xml = machine_xml(&bytes);
	m->machine[0].xml = cut = malloc((size_t)bytes);
	for (int i = 0; i < 200; i++) {
		struct sp_out o;
		int e;

		m->machine[0].xml_bytes = (uint64_t)(i % 4 ? bytes : bytes * i / 200 + 1);
		memcpy(cut, xml, (size_t)bytes);
		for (int k = 0; k < i % 5; k++) {
			x = x * 1664525 + 1013904223;
			cut[(x >> 8) % (uint32_t)bytes] = junk[x % (sizeof(junk) - 1)];
		}
		sp_out_init(&o, -1, text, sizeof(text) - 1);
		how.m = m;
		sp_format_hwloc(&o, &how);
		e = sp_out_finish(&o);
		text[o.used] = 0;
		assert_null(strchr(text, '\x1b'));
		written += e == 0 && strstr(text, "</topology>");
		refused += e == -EBADMSG && !o.used;
	}
	assert_int_equal(written + refused, 200);
	assert_true(refused > 40 && written > 0);
	free(cut);
	free(xml);
}

/* ---- the store --------------------------------------------------------- */

static void store(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);
	static char zeros[4096];

	for (size_t i = 0; i < sizeof(stub_bytes); i++)
		stub_bytes[i] = (unsigned char)(i * 31 + i / 256 + 1);
	memcpy(stub_bytes, &m->h, sizeof(m->h));
	show("store", m);
	assert_int_equal(length, sizeof(stub_bytes));
	assert_memory_equal(text, stub_bytes, sizeof(stub_bytes));
	stub_hole = 4096;
	show("store", m);
	stub_hole = 0;
	assert_int_equal(length, sizeof(stub_bytes));
	assert_memory_equal(text + 4096, zeros, 4096);
	assert_memory_equal(text + 8192, stub_bytes + 8192, sizeof(stub_bytes) - 8192);
	/* A store that grew since the model was made is written with what is new; one
	 * that claims more than there is ends where it ends. */
	m->h.used = 4096 + 64;
	show("store", m);
	assert_int_equal(length, sizeof(stub_bytes));
	m->h.used = UINT64_MAX / 2;
	show("store", m);
	assert_int_equal(length, sizeof(stub_bytes));
}

static const char *level(const char *name, struct sp_model *m)
{
	struct sp_levels levels;
	struct sp_out o;

	how.m = m;
	assert_int_equal(sp_levels_open(&levels, m, sp_level_by_name(name), NULL), 0);
	sp_memory_init(&o, text, sizeof(text));
	assert_int_equal(sp_text_level(&o, &how, &levels, false), 0);
	sp_levels_close(&levels);
	return sp_memory_text(&o);
}

/* All rows of a level in its order, with the events that are wanted. */
static void text_levels(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);
	const char *first, *at;

	assert_non_null(strstr(level("machine", m), "\n~ host node017 "));
	assert_non_null(strstr(level("rank", m), "\nrank "));
	((struct sp_header *)m->process[0].h)->process.rank = -1;
	assert_non_null(strstr(level("rank", m), "\nprocess "));
	assert_null(strstr(text, "rank"));
	level("cpu", stub_model(STUB_FULL));
	assert_non_null(at = strstr(text, "CPU 0 (core 0"));
	assert_non_null(strstr(at, "CPU 2 (core 2"));
	assert_non_null(strstr(text, "TOT_CYC"));
	assert_non_null(strstr(text, "  readings\n"));
	how.events = "PAPI_TOT_INS";
	level("thread", stub_model(STUB_FULL));
	first = strchr(text, '\n');
	assert_non_null(strstr(text, "TOT_INS   share  ran on CPU  moves  readings\n"));
	assert_null(strstr(text, "TOT_CYC"));
	assert_non_null(strstr(first, "5,000 threads that have ended"));
	level("package", stub_model(STUB_ALL_PROVEN));
	assert_int_equal(strncmp(text, "package ", 8), 0);
	assert_null(strchr(text, '~'));
	how.events = NULL;
	assert_string_equal(level("core", stub_model(STUB_NO_START)), "nothing to show per core\n");
}

/* Every view into a buffer that is too small for it, and into one that stays. */
static void no_room(void **state)
{
	char small[64];

	for (unsigned i = 0; i < sp_n_format_writers; i++) {
		struct sp_out o;

		sp_out_init(&o, -1, small, sizeof(small));
		sp_format_writers[i].write(&o,
					   &(struct sp_selection){ .m = stub_model(STUB_WIDE) });
		assert_int_equal(sp_out_finish(&o), -ENOSPC);
	}
}

int main(void)
{
	static char library[4096];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table),
		cmocka_unit_test(json_keys),
		cmocka_unit_test(counted_time),
		cmocka_unit_test(headline_command),
		cmocka_unit_test(json_relations),
		cmocka_unit_test(json_part),
		cmocka_unit_test(json_overflows),
		cmocka_unit_test(json_sums),
		cmocka_unit_test(json_odd),
		cmocka_unit_test(csv),
		cmocka_unit_test(csv_of_notes),
		cmocka_unit_test(text_lines),
		cmocka_unit_test(text_template_arguments),
		cmocka_unit_test(text_twins),
		cmocka_unit_test(text_inlined),
		cmocka_unit_test(text_tree),
		cmocka_unit_test(text_rows),
		cmocka_unit_test(text_threads),
		cmocka_unit_test(text_numbers),
		cmocka_unit_test(text_functions),
		cmocka_unit_test(text_cpus),
		cmocka_unit_test(text_of_one_pmu),
		cmocka_unit_test(text_says_why),
		cmocka_unit_test(hwloc_infos),
		cmocka_unit_test(hwloc_colors),
		cmocka_unit_test(hwloc_numbers),
		cmocka_unit_test(hwloc_without_xml),
		cmocka_unit_test(hwloc_hostile),
		cmocka_unit_test(store),
		cmocka_unit_test(text_levels),
		cmocka_unit_test(no_room),
	};

	snprintf(library, sizeof(library), "%s/libsspapi-topo.so",
		 getenv("B") ? getenv("B") : "build");
	sp_hwloc_library = library;
	return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
