/* t-views.c: view.h: each form against a model made by hand (stub-model.c), read
 * back by other people's parsers: jansson for JSON, hwloc for XML.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <hwloc.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/view/view-text.h"
#include "../../core/view/view.h"
#include "stub-model.c"

extern const char *sp_view_color_by;

static char text[1 << 20];
static size_t length;

static const char *show(const char *view, struct sp_model *m)
{
	struct sp_out o;

	sp_out_init(&o, -1, text, sizeof(text) - 1);
	sp_view_by_name(view, strlen(view))->write(&o, m);
	assert_int_equal(sp_out_finish(&o), 0);
	length = o.used;
	text[length] = '\0';
	return text;
}

static void table(void **state)
{
	(void)state;
	assert_int_equal(sp_n_views, 5);
	assert_string_equal(sp_view_by_name("jsonx", 4)->extension, ".json");
	assert_null(sp_view_by_name("xml", 3));
	assert_null(sp_view_by_name("json", 3));
	assert_string_equal(sp_view_by_extension("a.txt/b.c/run.sspapi")->name, "store");
	assert_string_equal(sp_view_by_extension("x.xml")->name, "hwloc");
	assert_null(sp_view_by_extension("out.json/run"));
	assert_null(sp_view_by_extension("out/.json"));
	assert_null(sp_view_by_extension("run.jsonx"));
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

static json_int_t number(json_t *object, const char *key)
{
	json_t *v = json_object_get(object, key);

	if (!json_is_integer(v))
		fail_msg("%s is no integer", key);
	return json_integer_value(v);
}

static json_int_t item(json_t *object, const char *key, size_t i)
{
	return json_integer_value(json_array_get(json_object_get(object, key), i));
}

static void assert_text(json_t *object, const char *key, const char *expected)
{
	assert_string_equal(json_string_value(json_object_get(object, key)), expected);
}

static void json_keys(void **state)
{
	static const char *const keys[] = {
		"format", "format_version", "sspapi_version", "process", "papi", "settings", "topology", "events",
		"relations", "components", "callsites", "calls", "dropped", "self", "notes",
	};
	json_t *root = parse(stub_model(STUB_FULL)), *p, *c, *e;

	(void)state;
	for (size_t i = 0; i < SP_COUNT(keys); i++)
		assert_non_null(json_object_get(root, keys[i]));
	p = json_object_get(root, "process");
	assert_int_equal(number(p, "pid"), 4242);
	assert_int_equal(number(p, "rank"), 3);
	assert_text(p, "job", "881234");
	assert_text(p, "end", "exit");
	assert_int_equal(number(p, "start_ns"), 1700000000000000000);
	assert_int_equal(json_array_size(json_object_get(p, "args")), 6);
	assert_string_equal(json_string_value(json_array_get(json_object_get(p, "args"), 4)), "tab\there");
	assert_text(json_object_get(root, "papi"), "version", "7.0.0.0");
	assert_text(json_object_get(root, "settings"), "attribution", "reading");
	c = json_array_get(json_object_get(json_object_get(root, "topology"), "components"), 7);
	assert_text(c, "type", "PU");
	assert_int_equal(number(c, "parent"), 6);
	assert_int_equal(number(c, "cpu_kind"), 1);
	assert_text(c, "cpu_kind_name", "P");
	e = json_array_get(json_object_get(root, "events"), 0);
	assert_text(e, "code", "0x80000032");
	assert_text(e, "derived", "NOT_DERIVED");
	assert_text(e, "data_type", "int64");
	assert_int_equal(json_array_size(json_object_get(e, "natives")), 1);
	assert_text(e, "description", stub_text[T_DESCRIPTION]);
	assert_text(json_array_get(json_object_get(root, "events"), 5), "kind", "gauge");
	assert_text(json_array_get(json_object_get(root, "events"), 7), "name", "ev\x1b[31m<&>\"\n\xef\xbf\xbd,\\");
	assert_int_equal(json_object_size(json_object_get(root, "calls")), 3);
	assert_int_equal(number(json_object_get(root, "calls"), "PAPI_read"), 17035);
	assert_int_equal(number(json_object_get(root, "dropped"), "relations"), 1);
	assert_int_equal(json_array_size(json_object_get(root, "notes")), 2);
	assert_true(json_number_value(json_object_get(json_object_get(root, "self"), "ns_per_call")) == 214.0);
	assert_true(json_number_value(json_object_get(json_object_get(root, "self"), "share")) > 0.0003);
	json_decref(root);
}

static void json_relations(void **state)
{
	json_t *root = parse(stub_model(STUB_FULL)), *all = json_object_get(root, "relations"), *r, *cpu, *entry;

	(void)state;
	assert_int_equal(json_array_size(all), 5);
	r = json_array_get(all, 0);
	assert_text(json_object_get(r, "target"), "kind", "thread");
	assert_int_equal(item(r, "events", 3), 3);
	cpu = json_array_get(json_object_get(r, "cpus"), 1);
	assert_int_equal(number(cpu, "cpu"), 1);
	assert_int_equal(item(cpu, "total", 1), 2000);
	assert_int_equal(item(cpu, "exact", 1), 0);
	assert_true(json_real_value(json_array_get(json_object_get(cpu, "total"), 3)) == 0.5);
	cpu = json_array_get(json_object_get(r, "cpus"), 2);
	assert_true(json_is_null(json_object_get(cpu, "cpu")));
	assert_int_equal(json_array_size(json_object_get(r, "entries")), 6);	/* none of the floating-point event */
	entry = json_array_get(json_object_get(r, "entries"), 1);
	assert_int_equal(number(entry, "event"), 1);
	assert_int_equal(number(entry, "cpu"), 0);
	entry = json_array_get(json_object_get(entry, "list"), 0);
	assert_int_equal(number(entry, "ns"), 1700000000123456789);
	assert_int_equal(number(entry, "value"), 23456789012);
	assert_true(json_is_false(json_object_get(entry, "permanent")));
	r = json_array_get(all, 1);
	assert_text(json_object_get(r, "target"), "kind", "cpu");
	assert_int_equal(number(json_object_get(r, "target"), "cpu"), 2);
	assert_text(r, "thread", "wo\x1b\"rk,er\xef\xbf\xbd");
	assert_int_equal(number(json_array_get(json_object_get(r, "cpus"), 1), "cpu"), 99);
	r = json_array_get(all, 2);
	assert_int_equal(number(r, "tid"), 0);
	assert_int_equal(number(r, "threads"), 5000);
	assert_int_equal(number(json_object_get(json_array_get(all, 4), "target"), "tid"), 4711);
	json_decref(root);
}

static void json_overflows(void **state)
{
	json_t *root = parse(stub_model(STUB_FULL)), *all = json_object_get(root, "relations"), *o, *at;

	(void)state;
	assert_int_equal(json_array_size(json_object_get(json_array_get(all, 0), "overflows")), 0);
	all = json_object_get(json_array_get(all, 2), "overflows");
	assert_int_equal(json_array_size(all), 2);
	o = json_array_get(all, 0);
	assert_int_equal(number(o, "event"), 1);
	assert_int_equal(number(o, "cpu"), 0);
	assert_int_equal(number(o, "count"), 12);
	assert_int_equal(number(o, "other"), 2);
	at = json_array_get(json_object_get(o, "addresses"), 1);
	assert_text(at, "module", "/lib/ev\x1b[31m<&>\"\n\xef\xbf\xbd,\\");
	assert_text(at, "offset", "0x1021");
	assert_int_equal(number(at, "count"), 5);
	o = json_array_get(all, 1);
	assert_true(json_is_null(json_object_get(o, "event")) && json_is_null(json_object_get(o, "cpu")));
	assert_int_equal(json_array_size(json_object_get(o, "addresses")), 0);
	json_decref(root);
	show("text", stub_model(STUB_FULL));
	assert_non_null(strstr(text, "  Overflow handler: 12 calls for "));
	assert_non_null(strstr(text, ", 12 on CPU 0; in ma\"in 41.6 %, "));
	assert_non_null(strstr(text, "  Overflow handler: 7 calls for an event that PAPI does not tell, 7 on no known CPU\n"));
}

static void json_sums(void **state)
{
	json_t *root = parse(stub_model(STUB_FULL)), *sums = json_object_get(root, "components"), *total;

	(void)state;
	assert_int_equal(json_array_size(sums), STUB_COMPONENTS);
	total = json_object_get(json_array_get(sums, 0), "total");
	assert_int_equal(number(total, "PAPI_TOT_INS"), 12345678901 + 1000 + 6172839450 + 30 + 3);
	assert_int_equal(json_object_size(total), 6);
	assert_null(json_object_get(total, stub_text[T_TEMP]));
	assert_true(json_real_value(json_object_get(total, stub_text[T_ENERGY])) == 1234.5);
	total = json_object_get(json_array_get(sums, 13), "total");
	assert_int_equal(number(total, "PAPI_TOT_INS"), 6172839450 + 3);
	json_decref(root);
}

/* Valid whatever is missing, and with doubles that JSON has no word for. */
static void json_odd(void **state)
{
	static const int64_t odd[] = { 0x7ff0000000000000, 0x7ff8000000000000, 1, INT64_MIN, 0x7fefffffffffffff };
	struct sp_model *m;
	json_t *root;

	(void)state;
	for (enum stub kind = STUB_FULL; kind <= STUB_BARE; kind++)
		json_decref(parse(stub_model(kind)));
	for (size_t i = 0; i < SP_COUNT(odd); i++) {
		m = stub_model(STUB_FULL);
		stub_relation[0].cell[0].total[3] = odd[i];
		m->sum[3] = m->total[3] = odd[i];
		m->h.end = 77;
		m->h.attribution = m->h.readings = 99;
		m->h.rank = -1;
		m->h.job = m->h.host = m->h.args = 0;
		root = parse(m);
		assert_true(json_is_null(json_object_get(json_object_get(root, "process"), "job")));
		assert_true(json_is_null(json_object_get(json_object_get(root, "process"), "rank")));
		assert_text(json_object_get(root, "process"), "end", "snapshot");
		json_decref(root);
	}
}

static void json_kinds(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);
	json_t *root = parse(m), *kinds = json_object_get(root, "cpu_kinds"), *p = json_array_get(kinds, 0);
	json_t *e = json_array_get(kinds, 1);

	(void)state;
	assert_int_equal(json_array_size(kinds), 2);
	assert_text(p, "name", "P");
	assert_text(p, "core_type", "IntelCore");
	assert_int_equal(number(p, "efficiency"), 1);
	assert_int_equal(number(e, "max_mhz"), 3400);
	assert_null(json_object_get(e, "capacity"));
	assert_int_equal(number(p, "cpus"), 2);
	assert_int_equal(number(json_object_get(p, "total"), "PAPI_TOT_INS"), 12345679931);
	assert_int_equal(number(json_object_get(e, "total"), "PAPI_TOT_INS"), 6172839453);
	assert_int_equal(number(json_object_get(e, "exact"), "PAPI_TOT_INS"), 6172839450);
	assert_null(json_object_get(json_object_get(p, "total"), stub_text[T_TEMP]));
	assert_int_equal(json_array_size(json_object_get(json_array_get(json_object_get(root, "relations"), 0), "cpu_kinds")), 1);
	assert_int_equal(json_array_size(json_object_get(json_array_get(json_object_get(root, "relations"), 2), "cpu_kinds")), 2);
	/* ix86arch:: is the P cores' */
	assert_string_equal(json_string_value(json_array_get(json_object_get(json_array_get(json_object_get(root, "events"), 0), "cpu_kinds"), 0)), "P");
	assert_null(json_object_get(json_array_get(json_object_get(root, "events"), 1), "cpu_kinds"));
	json_decref(root);
	m->n_kinds = 1;
	root = parse(m);
	assert_null(json_object_get(root, "cpu_kinds"));
	json_decref(root);
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

static void csv(void **state)
{
	static const char header[] = "host,rank,pid,tid,thread,relation,event_set,from,to,cpu,core,numa,package,event,"
				     "readings,total,exact\n";
	char *field[FIELDS], *at;
	unsigned lines = 0;

	(void)state;
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
		if (lines == 18) {		/* an interval from an unknown place */
			assert_string_equal(field[7], "");
			assert_string_equal(field[8], "matmul+0x1010");
			assert_string_equal(field[14], "3999");
			assert_string_equal(field[15], "39");
		} else if (lines == 21) {	/* between two */
			assert_string_equal(field[7], "matmul+0x1010");
			assert_string_equal(field[8], "matmul+0x1020;ev\\x1b[31m<&>_\\x0a\\xff_\\+0x1021");
			assert_string_equal(field[9], "1");
			assert_string_equal(field[13], "PAPI_TOT_INS");
			assert_string_equal(field[15], "1");
		}
		if (lines == 5) {
			assert_string_equal(field[9], "1");
			assert_string_equal(field[12], "0");
			assert_string_equal(field[13], "PAPI_TOT_CYC");
			assert_string_equal(field[15], "2000");
			assert_string_equal(field[16], "0");
		} else if (lines == 8) {
			assert_string_equal(field[9], "");
			assert_string_equal(field[10], "");
			assert_string_equal(field[12], "");
		} else if (lines == 14) {
			assert_string_equal(field[4], "wo\\x1b\"rk,er\\xff");
			assert_string_equal(field[10], "2");
			assert_string_equal(field[11], "7");
			assert_string_equal(field[12], "1");
			assert_string_equal(field[13], "ev\\x1b[31m<&>\"\\x0a\\xff,\\");
			assert_string_equal(field[15], "-5");
		} else if (lines == 15) {
			assert_string_equal(field[9], "99");
			assert_string_equal(field[11], "");
		}
	}
	assert_int_equal(lines, 3 * 4 + 2 * 3 + 2 * 2 * 2 + 2 * 1);	/* a gauge has no total */
	show("csv", stub_model(STUB_NO_START));
	assert_string_equal(text, header);
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

	for (const char *p = strstr(text, after); p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
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
	(void)state;
	for (enum stub kind = STUB_FULL; kind <= STUB_BARE; kind++) {
		char *save, *copy = strdup(show("text", stub_model(kind)));

		for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			if (columns(line) > 160)
				fail_msg("%u columns: %s", columns(line), line);
			for (const char *p = line; *p; p++)
				assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
			assert_int_not_equal(line[strlen(line) - 1], ' ');
		}
		free(copy);
		assert_null(strstr(text, "\n\n\n"));
	}
}

/* However long the numbers are, none stands on another line than its call's name. */
static void text_calls(void **state)
{
	(void)state;
	for (uint64_t n = 1; n < 1000000000000; n *= 10) {
		struct sp_model *m = stub_model(STUB_FULL);
		const char *line;

		for (unsigned i = 0; i < 5; i++)
			m->calls[i] = n;
		for (line = strstr(show("text", m), "Calls: "); *line && *line != '\n'; line = strchr(line, '\n') + 1) {
			const char *last = line + strcspn(line, "\n") - 1;

			if (last[*last == ',' ? -1 : 0] - '0' != (n == 1))
				fail_msg("%.*s", (int)strcspn(line, "\n"), line);
			assert_true(strcspn(line, "\n") <= 110);
		}
		assert_int_equal(strstr(text, "PAPI_add_event ")[15], '1');
	}
	assert_non_null(strstr(text, ",\n  PAPI_"));
}

static void text_tree(void **state)
{
	char header[1024];

	(void)state;
	show("text", stub_model(STUB_FULL));
	assert_string_equal(find("matmul", "matmul"),
			    "matmul -n 2000 'two words' tab\\x09here caf\xc3\xa9 on node017, 12.35 s: 66.4 % of the counts "
			    "proven on their CPU");
	strcpy(header, find("component", "component"));
	assert_int_equal(end_of(header, "PAPI_TOT_INS"), end_of(find("component", "Machine"), "18,518,519,384"));
	assert_int_equal(end_of(header, "PAPI_TOT_CYC"), end_of(find("component", "Package L#1"), "  4"));
	assert_int_equal(end_of(header, "PAPI_TOT_INS"), end_of(find("component", "L2 L#1"), "  1,030"));
	assert_int_equal(end_of(header, "[nJ]"), end_of(find("component", "Machine"), "1,234.500"));
	assert_int_equal(end_of(header, "PAPI_TOT_INS"), end_of(find("component", "not on a known CPU"), " 12"));
	assert_int_equal(end_of(header, "proven"), strlen(find("component", "Package L#0")));
	assert_non_null(strstr(find("component", "L2 L#3"), "L2 L#3 + L1d L#3 + Core L#3 (E) + PU L#3 (P#3)  "));
	assert_non_null(strstr(text, "\n    NUMANode L#0 (P#0 16GB) "));
	/* Every part of it is proven, and only there is it 100 %. */
	assert_non_null(strstr(find("component", "L2 L#0"), "100 %"));
	assert_null(strstr(find("component", "Package L#0"), "100 %"));
}

static void text_relations(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);
	char header[1024];

	(void)state;
	show("text", m);
	assert_string_equal(find("thread 4242", "thread 4242"),
			    "thread 4242 \"main\", event set 0: 2 starts, 1 reset, 12,034 readings in 11.20 s");
	strcpy(header, find("thread 4242", "readings"));
	assert_int_equal(end_of(header, "PAPI_TOT_CYC"), end_of(find("thread 4242", "CPU 0"), "23,456,789,012"));
	assert_int_equal(end_of(header, "readings"), end_of(find("thread 4242", "CPU 1"), " 33"));
	assert_int_equal(end_of(header, "PAPI_TOT_INS"), end_of(find("thread 4242", "all of them"), "12,345,679,908"));
	assert_non_null(strstr(find("thread 4242", "not on a known CPU"), " 0.500"));
	find("thread 4243", "CPU 99 (not in the topology)");
	find("thread 4243 \"wo\\x1b\"rk,er\\xff\", event set 3, attached to CPU 2", "A count was seen to go backwards");
	find("5,000 threads that have ended, event set 0:", "CPU 3 (Core L#3, E)");
	find("thread 4244 \"idle\"", "never read");
	assert_null(strstr(text, "by sspapi_start"));
	assert_null(strstr(text, "still running"));
	stub_relation[1].row.flags |= SP_RELATION_API | SP_RELATION_RUNNING;
	stub_relation[3].row.flags |= SP_RELATION_RUNNING;
	show("text", m);
	find("thread 4243 \"wo\\x1b\"rk,er\\xff\", event set 3, attached to CPU 2, counts of all that runs on the CPU, by sspapi_start: 1 start",
	     "Still running at the end: what it counted since its last reading was not handed out.");
	find("thread 4244 \"idle\"", "never read, and still running at the end: what it counted was not handed out");
	assert_non_null(strstr(text, "sspapi itself: 214 ns for a call of PAPI (timed in 12 of 22,049), 0.04 % of the run"));
	find("Warnings:", "- PAPI refused PAPI_L3_TCM");
	find("Warnings:", "- 1 relation missing");
}

/* P: CPUs 0 and 1; E: 2 and 3. */
/* On one line, and so narrow that only what tells them apart is said. */
static void text_twins(void **state)
{
	struct sp_out o;

	(void)state;
	stub_twins = true;
	sp_memory_init(&o, text, sizeof(text));
	sp_text_pair(&o, stub_model(STUB_FULL), 1, 2, 45);
	stub_twins = false;
	assert_string_equal(sp_memory_text(&o), "ma\"in (a.c:7 0x1010 -> a.c:7 0x1020) < ..");
	sp_memory_init(&o, text, sizeof(text));
	sp_text_pair(&o, stub_model(STUB_FULL), 1, 2, 200);
	/* A region has a name, and a place. */
	assert_int_equal(strncmp(sp_memory_text(&o), "re\\x1bgion (a.c:7) -> ma\"in (a.c:7)", 33), 0);
}

static void text_kinds(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);
	char header[1024];

	(void)state;
	show("text", m);
	find("matmul", "P cores counted 66.6 % of PAPI_TOT_INS, E cores 33.3 %");
	assert_non_null(strstr(text, " on 4 CPUs (2 P, 2 E)\n"));
	strcpy(header, find("\nby kind", "by kind"));
	assert_int_equal(end_of(header, "P cores"), end_of(find("\nby kind", "PAPI_TOT_INS"), " 12,345,679,931"));
	assert_int_equal(end_of(header, "E cores"), end_of(find("\nby kind", "PAPI_TOT_INS"), " 6,172,839,453"));
	assert_int_equal(end_of(header, "elsewhere"), end_of(find("\nby kind", "PAPI_TOT_INS"), "  12  <") - 3);
	assert_non_null(strstr(find("\nby kind", "rapl"), " 0.000     0 %      0.500  <0.1 %"));
	assert_int_equal(end_of(header, "E cores"), strlen(find("\nby kind", "CPUs")));
	find("thread 4242", "on P cores");
	m->n_kinds = 1;
	show("text", m);
	assert_null(strstr(text, "by kind"));
	assert_null(strstr(text, " cores"));
	assert_null(strstr(text, "(P)"));
}

/* What the process may use, and CPUs that the tree lacks. */
static void text_cpus(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);

	(void)state;
	show("text", m);
	assert_null(strstr(text, "began with"));
	assert_null(strstr(text, "in the topology, but"));
	m->h.cpus_allowed = T_ALLOWED;
	show("text", m);
	assert_non_null(strstr(text, "began with 3 of these 4 CPUs, by its affinity (taskset, a batch system): 0,2-9\n"));
	stub_component[11].flags = SP_COMPONENT_DISALLOWED;
	show("text", m);
	stub_component[11].flags = 0;
	assert_non_null(strstr(text, "began with 3 of these 4 CPUs, by its cpuset (a container, a batch system): 0,2-9\n"));
	m->n_outside = 1;
	m->outside[0] = 99;
	show("text", m);
	assert_non_null(strstr(text, "\nCPU 99 is not in the topology, but counted: brought online after it was read.\n"));
	assert_non_null(strstr(text, " on 5 CPUs ("));
	m->n_outside = SP_OUTSIDE_MOST;
	m->topology_source = "x.xml";
	show("text", m);
	assert_null(strstr(text, "began with"));	/* its CPUs are not those that the list is of */
	assert_non_null(strstr(text, "\nCPUs 99, 0, 0, 0, 0, 0, 0, 0 and perhaps more are not in the topology, but counted: it is not all"));
}

/* One event a name, on CPU 0 (P). */
static const char *tied(const char *name, const char *native)
{
	static char said[400];
	struct sp_model *m = stub_model(STUB_FULL);
	char *at, *end;

	stub_text[T_INS] = name;
	stub_text[T_WIDE] = native;
	stub_event[0].natives = 0;
	if (native) {
		stub_natives[0] = native;
		stub_event[0].natives = T_NATIVES;
	}
	stub_relation[0].row.k = 1;
	stub_relations = 1;
	show("text", m);
	at = strstr(text, "PMU");
	for (end = at; end && strncmp(end, "moved.", 6) && strncmp(end, "it.\n", 4); )
		end++;
	while (at && strncmp(at, "\n  ", 3))
		at--;
	snprintf(said, sizeof(said), "%.*s", at ? (int)(end - at) : 0, at);
	stub_text[T_INS] = "PAPI_TOT_INS";
	stub_text[T_WIDE] = "A_RATHER_WIDE_EVENT_NAME";
	stub_natives[0] = "ix86arch::INSTRUCTION_RETIRED";
	stub_event[0].natives = T_NATIVES;
	return said;
}

/* What counts on one kind of core only. */
static void text_tied(void **state)
{
	static const struct {
		const char *name, *native, *kind;
	} is[] = {
		{ "adl_glc::INST_RETIRED:ANY", NULL, "P" }, { "adl_grt::INST_RETIRED:ANY", NULL, "E" },
		{ "cpu_atom::X", NULL, "E" }, { "perf::INSTRUCTIONS", NULL, "P" }, { "perf::PERF_COUNT_HW_CPU_CYCLES:u=0", NULL, "P" },
		{ "perf::PAGE-FAULTS", NULL, NULL }, { "perf::PERF_COUNT_SW_CPU_CLOCK", NULL, NULL }, { "perf", NULL, NULL },
		{ "adl_glcx::A", NULL, NULL }, { "PAPI_TOT_INS", NULL, NULL }, { "PAPI_TOT_INS", "adl_grt::A", "E" },
		{ "PAPI_TOT_INS", "perf::PAGE-FAULTS", NULL },
	};

	(void)state;
	for (size_t i = 0; i < SP_COUNT(is); i++) {
		const char *said = tied(is[i].name, is[i].native);
		char wanted[200];

		if (!is[i].kind) {
			assert_string_equal(said, "");
			continue;
		}
		snprintf(wanted, sizeof(wanted), "\n  %s counts on %s cores only, by their own PMU:", is[i].name, is[i].kind);
		if (strncmp(said, wanted, strlen(wanted)))
			fail_msg("%s: \"%s\"", is[i].name, said);
		/* CPU 0 is a P core: counts there of an E core's event were booked by a reading */
		if (!!strstr(said, "what is booked") != (*is[i].kind == 'E'))
			fail_msg("%s: \"%s\"", is[i].name, said);
	}
}

static void text_says_why(void **state)
{
	struct sp_model *m;

	(void)state;
	show("text", stub_model(STUB_UNPROVEN));
	assert_non_null(strstr(text, "none of the counts is proven"));
	assert_null(strstr(text, " proven\n"));
	assert_null(strstr(text, "Warnings"));
	show("text", stub_model(STUB_ALL_PROVEN));
	assert_non_null(strstr(text, "all counts are proven"));
	assert_null(strstr(text, " proven\n"));
	assert_null(strstr(text, "booked on the CPU of the reading"));
	m = stub_model(STUB_NO_START);
	show("text", m);
	assert_non_null(strstr(text, "never called PAPI_start. If it"));
	assert_non_null(strstr(text, "sspapi doctor"));
	m->calls[4] = 0;
	assert_non_null(strstr(show("text", m), "the program never called PAPI_start.\n"));
	m->calls[1] = 2;
	assert_non_null(strstr(show("text", m), "PAPI refused every PAPI_start"));
	m->damaged = 1;
	assert_non_null(strstr(show("text", m), "\nNothing to show: the store is damaged; what was in the damaged blocks is missing.\n"));
	m = stub_model(STUB_NO_READING);
	assert_non_null(strstr(show("text", m), "no PAPI_read, PAPI_accum or PAPI_stop succeeded"));
	m->damaged = 1;
	assert_null(strstr(show("text", m), "no PAPI_read, PAPI_accum or PAPI_stop succeeded"));
}

static void text_dates(void **state)
{
	static const struct {
		uint64_t s;
		const char *date;
	} is[] = {
		{ 1, "1970-01-01 00:00:01 UTC" }, { 951782400, "2000-02-29 00:00:00 UTC" },
		{ 1709251199, "2024-02-29 23:59:59 UTC" }, { 4107542400, "2100-03-01 00:00:00 UTC" },
		{ 18446744073, "2554-07-21 23:34:33 UTC" },
	};
	struct sp_model *m = stub_model(STUB_FULL);

	(void)state;
	for (size_t i = 0; i < SP_COUNT(is); i++) {
		m->h.start_ns = is[i].s * 1000000000;
		show("text", m);
		if (!strstr(text, is[i].date))
			fail_msg("%s: %.300s", is[i].date, text);
	}
}

/* ---- hwloc ------------------------------------------------------------- */

static const hwloc_obj_type_t hwloc_types[] = {
	HWLOC_OBJ_MACHINE, HWLOC_OBJ_PACKAGE, HWLOC_OBJ_NUMANODE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE,
	HWLOC_OBJ_L1CACHE, HWLOC_OBJ_CORE, HWLOC_OBJ_PU,
};
static const char *const hwloc_names[] = { "Machine", "Package", "NUMANode", "L3", "L2", "L1d", "Core", "PU" };

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
	assert_int_equal(hwloc_topology_set_synthetic(t, "Package:2 [NUMANode] L3:1 L2:2 L1d:1 Core:1 PU:1"), 0);
	assert_int_equal(hwloc_topology_load(t), 0);
	for (unsigned i = 0; i < STUB_COMPONENTS; i++)
		stub_component[i].gp_index = object_of(t, &stub_component[i])->gp_index;
	for (hwloc_obj_t o = hwloc_get_root_obj(t); o; o = o->first_child) {
		hwloc_obj_add_info(o, "PAPI_TOT_INS", "42");
		hwloc_obj_add_info(o, "PAPI_TOT_INS not on a known CPU", "42");
		hwloc_obj_add_info(o, "PAPI_TOT_INS_X", "43");
		hwloc_obj_add_info(o, "lstopoStyle", "Background=#123456");
	}
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

	(void)state;
	m->xml = xml = machine_xml(&bytes);
	m->xml_bytes = (uint64_t)bytes;
	show("hwloc", m);
	t = load();
	for (uint32_t c = 0; c < STUB_COMPONENTS; c++) {
		hwloc_obj_t o = object_of(t, &m->component[c]);

		assert_non_null(o);
		snprintf(value, sizeof(value), "%" PRId64, m->sum[c * m->n_events]);
		assert_int_equal(infos(o, "PAPI_TOT_INS"), 1);
		assert_string_equal(hwloc_obj_get_info_by_name(o, "PAPI_TOT_INS"), value);
		assert_int_equal(infos(o, "lstopoStyle"), 1);
		assert_non_null(strstr(hwloc_obj_get_info_by_name(o, "lstopoStyle"), "Background=#"));
		assert_null(strstr(hwloc_obj_get_info_by_name(o, "lstopoStyle"), "123456"));
		assert_null(hwloc_obj_get_info_by_name(o, stub_text[T_TEMP]));
	}
	root = hwloc_get_root_obj(t);
	assert_string_equal(hwloc_obj_get_info_by_name(root, stub_text[T_ENERGY]), "1234.5");
	assert_string_equal(hwloc_obj_get_info_by_name(root, "ev\\x1b[31m<&>\"\\x0a\\xff,\\"), "-5");
	assert_string_equal(hwloc_obj_get_info_by_name(root, "PAPI_TOT_INS_X"), "43");
	assert_string_equal(hwloc_obj_get_info_by_name(root, "PAPI_TOT_INS not on a known CPU"), "12");
	assert_int_equal(infos(root, "PAPI_TOT_INS not on a known CPU"), 1);
	hwloc_topology_destroy(t);
	free(xml);
}

static const char *style_of(hwloc_topology_t t, unsigned pu)
{
	return hwloc_obj_get_info_by_name(hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, pu), "lstopoStyle");
}

static void hwloc_colors(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);
	hwloc_topology_t t;
	char *xml;
	int bytes;

	(void)state;
	m->xml = xml = machine_xml(&bytes);
	m->xml_bytes = (uint64_t)bytes;
	m->counted[18] = m->counted[1] = false;
	show("hwloc", m);
	t = load();
	assert_string_equal(style_of(t, 0), "Background=#b21414;Text=#ffffff");
	assert_string_equal(style_of(t, 1), "Background=#ffffd4");
	assert_null(style_of(t, 2));
	/* What an earlier run painted goes with what it counted. */
	assert_null(hwloc_obj_get_info_by_name(hwloc_get_obj_by_type(t, HWLOC_OBJ_PACKAGE, 0), "lstopoStyle"));
	assert_string_equal(hwloc_obj_get_info_by_name(hwloc_get_root_obj(t), "lstopoStyle"), "Background=#eeeeee");
	assert_string_equal(hwloc_obj_get_info_by_name(hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, 2), "BIG"),
			    "18446744073709551615");
	hwloc_topology_destroy(t);
	sp_view_color_by = "BIG";
	m->counted[18] = true;
	show("hwloc", m);
	sp_view_color_by = NULL;
	t = load();
	assert_string_equal(style_of(t, 0), "Background=#ffffd4");
	assert_string_equal(style_of(t, 2), "Background=#b21414;Text=#ffffff");
	hwloc_topology_destroy(t);
	free(xml);
}

static void hwloc_without_xml(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);
	hwloc_topology_t t;

	(void)state;
	stub_component[22].os_index = 70;
	show("hwloc", m);
	stub_component[22].os_index = 3;
	t = load();
	assert_int_equal(hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU), 4);
	assert_int_equal(hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE), 1);
	assert_string_equal(hwloc_obj_get_info_by_name(hwloc_get_root_obj(t), "PAPI_TOT_CYC"), "23456791056");
	assert_string_equal(hwloc_obj_get_info_by_name(hwloc_get_pu_obj_by_os_index(t, 70), "PAPI_TOT_INS"), "3");
	assert_non_null(style_of(t, 0));
	hwloc_topology_destroy(t);
	show("hwloc", stub_model(STUB_BARE));
	t = load();
	assert_int_equal(hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU), 1);
	hwloc_topology_destroy(t);
}

/* Cut anywhere, changed anywhere: no byte outside it is looked at, and no control
 * character comes out. */
static void hwloc_hostile(void **state)
{
	static const char junk[] = "<>\"'=/!- \x1b" "a0";
	struct sp_model *m = stub_model(STUB_FULL);
	char *xml, *cut;
	int bytes;
	uint32_t x = 12345;

	(void)state;
	xml = machine_xml(&bytes);
	for (int n = 1; n < bytes; n += n < 1500 ? 1 : 13) {
		m->xml = cut = malloc((size_t)n);
		memcpy(cut, xml, (size_t)n);
		m->xml_bytes = (uint64_t)n;
		show("hwloc", m);
		free(cut);
	}
	m->xml = cut = malloc((size_t)bytes);
	m->xml_bytes = (uint64_t)bytes;
	for (int i = 0; i < 1500; i++) {
		memcpy(cut, xml, (size_t)bytes);
		for (int k = 0; k < 1 + i % 30; k++) {
			x = x * 1664525 + 1013904223;
			cut[(x >> 8) % (uint32_t)bytes] = junk[x % (sizeof(junk) - 1)];
		}
		show("hwloc", m);
		assert_null(strchr(text, '\x1b'));
	}
	free(cut);
	free(xml);
}

static void hwloc_small_things(void **state)
{
	static const char xml[] = "<!-- <object gp_index=\"7\"/> --><object type='PU' gp_index='7'/>\n"
				  "<object gp_index=\"7\"><page_type size=\"1\"/>\n <info name='BIG' value=\"\"></info>"
				  "<object gp_index=\"99999999999999999999\"/></object><objects/>";
	struct sp_model *m = stub_model(STUB_FULL);

	(void)state;
	for (uint32_t i = 0; i < STUB_COMPONENTS; i++)
		stub_component[i].gp_index = i;
	m->xml = xml;
	m->xml_bytes = strlen(xml);
	show("hwloc", m);
	assert_memory_equal(text, "<!-- <object gp_index=\"7\"/> --><object type='PU' gp_index='7'>  <info", 69);
	assert_non_null(strstr(text, "><page_type size=\"1\"/>\n <info name=\"PAPI_TOT_INS\""));
	assert_null(strstr(text, "BIG' "));
	assert_null(strstr(text, "</info>"));
	assert_string_equal(strstr(text, "<object gp_index=\"9999"),
			    "<object gp_index=\"99999999999999999999\"/></object><objects/>");
}

/* ---- the store --------------------------------------------------------- */

static void store(void **state)
{
	struct sp_model *m = stub_model(STUB_FULL);
	static char zeros[4096];

	(void)state;
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

/* Every view into a buffer that is too small for it, and into one that stays. */
static void no_room(void **state)
{
	char small[64];

	(void)state;
	for (unsigned i = 0; i < sp_n_views; i++) {
		struct sp_out o;

		sp_out_init(&o, -1, small, sizeof(small));
		sp_views[i].write(&o, stub_model(STUB_WIDE));
		assert_int_equal(sp_out_finish(&o), -ENOSPC);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table), cmocka_unit_test(json_keys), cmocka_unit_test(json_relations), cmocka_unit_test(json_overflows),
		cmocka_unit_test(json_sums), cmocka_unit_test(json_odd), cmocka_unit_test(csv),
		cmocka_unit_test(text_lines), cmocka_unit_test(text_calls), cmocka_unit_test(text_twins),
		cmocka_unit_test(text_tree), cmocka_unit_test(text_relations),
		cmocka_unit_test(text_kinds), cmocka_unit_test(text_cpus), cmocka_unit_test(text_tied), cmocka_unit_test(json_kinds),
		cmocka_unit_test(text_says_why), cmocka_unit_test(text_dates), cmocka_unit_test(hwloc_infos),
		cmocka_unit_test(hwloc_colors), cmocka_unit_test(hwloc_without_xml), cmocka_unit_test(hwloc_hostile),
		cmocka_unit_test(hwloc_small_things), cmocka_unit_test(store), cmocka_unit_test(no_room),
	};

	return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
