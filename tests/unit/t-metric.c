/* t-metric.c: core/metric: definitions in PAPI's grammar, their errors, their values. */
#include "test.h"

#include "../../core/metric/metric.h"

/* ---- a model of a few events; an sp_off is an index of `names` -------------------- */

static const char *const names[] = { "",
				     "PAPI_TOT_INS",
				     "PAPI_TOT_CYC",
				     "icl::L1D:REPLACEMENT:u=0",
				     "perf::PAGE-FAULTS",
				     "PAPI_TOT_INS",
				     "temp",
				     "cuda:::op:stat=sum",
				     "perf,ICL",
				     "perf,zen",
				     "energy:ZONE0",
				     "energy:ZONE1",
				     "energy:ZONE2" };
#define EVENTS 7u

const char *sp_model_text(const struct sp_model *m, sp_off off)
{
	return off < SP_COUNT(names) ? names[off] : "";
}

/* A model without relations. */
bool sp_model_next(struct sp_model *m, struct sp_row *row)
{
	return (void)m, (void)row, false;
}

bool sp_row_cell(struct sp_model *m, struct sp_row *row, uint32_t i, struct sp_at_cpu *at)
{
	return (void)m, (void)row, (void)i, (void)at, false;
}

static struct sp_event event[EVENTS];
static const struct sp_event *events[EVENTS];
static bool counted[EVENTS];
static int64_t totals[EVENTS];

static struct sp_model model(void)
{
	struct sp_model m = {
		.n_events = EVENTS, .event = events, .event_counted = counted, .sums.total = totals
	};

	for (uint32_t e = 0; e < EVENTS; e++) {
		event[e] = (struct sp_event){ .id = e,
					      .name = e + 1,
					      .kind = e == 5 ? SP_GAUGE : SP_COUNTER };
		events[e] = &event[e];
		counted[e] = true;
	}
	m.h.process.start_ns = 1000;
	m.h.process.end_ns = 2000001000;	/* 2 s */
	m.h.cpu_max_khz = 3000000;
	return m;
}

/* ---- reading ------------------------------------------------------------------------- */

struct said {
	unsigned n;
	uint32_t line, column;
	char reason[200];
};

static void say(uint32_t line, uint32_t column, const char *reason, void *arg)
{
	struct said *s = arg;

	s->n++;
	s->line = line;
	s->column = column;
	snprintf(s->reason, sizeof(s->reason), "%s", reason);
}

/* From a block of just this size, so that a sanitizer sees a byte read behind it. */
static struct said read_text(struct sp_metrics *t, const char *text, size_t n)
{
	struct said s = { 0 };
	char *copy = malloc(n ? n : 1);

	memcpy(copy, text, n);
	assert_int_equal(sp_metrics_read(t, copy, n, say, &s), 0);
	free(copy);
	return s;
}

static void sound(struct sp_metrics *t, const char *text)
{
	struct said s = read_text(t, text, strlen(text));

	if (s.n)
		fail_msg("%u:%u: %s", s.line, s.column, s.reason);
}

/* Computes them for a set of these events (NULL: of all), of this process. */
static void compute(struct sp_metrics *t, const int64_t *sum, const bool *present, uint32_t process)
{
	uint32_t ids[EVENTS];
	int64_t total[EVENTS];
	struct sp_row row = { .event = ids, .process = process };

	for (uint32_t e = 0; e < EVENTS; e++)
		if (!present || present[e]) {
			total[row.k] = sum[e];
			ids[row.k++] = e;
		}
	t->relation.event = NULL;		/* which would be taken for the last one, of the
						 * same address */
	sp_metrics_compute_row(t, &row, total, NULL);
}

/* The value of the last definition of this name; NAN where there is none. */
static double value(struct sp_metrics *t, const char *name, const int64_t *sum)
{
	const struct sp_metric *d = sp_metrics_named(t, name);

	assert_non_null(d);
	compute(t, sum, NULL, 0);
	return d->has_value ? d->value : 0.0 / 0.0;
}

static const int64_t sums[EVENTS] = { 1000, 4000, 50, 7, 0, 33, 21 };

/* One definition's value over `sums`. */
static double once(const char *text)
{
	struct sp_model m = model();
	struct sp_metrics t;
	double v;

	sound(&t, text);
	assert_int_equal(t.n, 1);
	sp_metrics_bind(&t, &m);
	v = value(&t, t.at[0].name, sums);
	sp_metrics_close(&t);
	return v;
}

#define same_value(a, b) assert_true((a) - (b) < 1e-9 && (b) - (a) < 1e-9)
#define no_value(v) assert_false((v) - (v) == 0.0)

static void kinds(void **state)
{
	same_value(once("PRESET,IPC,DERIVED_POSTFIX,N0|N1|/|,PAPI_TOT_INS,PAPI_TOT_CYC"), 0.25);
	same_value(once("EVENT,X,NOT_DERIVED,PAPI_TOT_CYC"), 4000.0);
	same_value(once("EVENT,X,DERIVED_CMPD,PAPI_TOT_CYC,PAPI_TOT_INS"), 4000.0);
	same_value(once("EVENT,X,DERIVED_ADD,PAPI_TOT_INS,PAPI_TOT_CYC,perf::PAGE-FAULTS"), 5007.0);
	same_value(once("EVENT,X,DERIVED_SUB,PAPI_TOT_CYC,PAPI_TOT_INS,perf::PAGE-FAULTS"), 2993.0);
	same_value(once("EVENT,X,DERIVED_PS,PAPI_TOT_CYC,PAPI_TOT_INS"), 750000000.0);
	same_value(once("EVENT,X,DERIVED_ADD_PS,PAPI_TOT_CYC,PAPI_TOT_INS,PAPI_TOT_INS"),
		   1500000000.0);
	same_value(once("EVENT,X,DERIVED_POSTFIX,N0|#|/|,PAPI_TOT_CYC"), 4000.0 / 3e9);
	same_value(once("EVENT,X,DERIVED_POSTFIX,N0N1+2*,PAPI_TOT_INS,PAPI_TOT_CYC"), 10000.0);
	same_value(once("EVENT,X,DERIVED_POSTFIX,0.5|N0|*|,PAPI_TOT_CYC"), 2000.0);
	same_value(once("EVENT,X,DERIVED_INFIX,N0-(N1+(N2*5)),PAPI_TOT_CYC,PAPI_TOT_INS,perf::PAGE-"
			"FAULTS"),
		   2965.0);
	same_value(once("EVENT,X,DERIVED_INFIX,N0-N1-N1,PAPI_TOT_CYC,PAPI_TOT_INS"), 2000.0);
	same_value(once("EVENT,X,DERIVED_INFIX,N0/N1/2,PAPI_TOT_CYC,PAPI_TOT_INS"), 2.0);
	same_value(once("EVENT,X,DERIVED_INFIX,2 + N0 * 3 - 1,PAPI_TOT_INS"), 3001.0);
	same_value(once("EVENT,X,DERIVED_INFIX,((((N0)))),PAPI_TOT_INS"), 1000.0);
	same_value(
		once("EVENT,BW,DERIVED_POSTFIX,N0|64|*|N1|/|,perf::PAGE-FAULTS,sspapi::ELAPSED_NS"),
		448.0 / 2e9);
	no_value(once("EVENT,X,DERIVED_POSTFIX,N0|N1|/|,PAPI_TOT_INS,NOT_THERE"));
	no_value(once("EVENT,X,DERIVED_POSTFIX,N0|0|/|,PAPI_TOT_INS"));
	no_value(once("EVENT,X,DERIVED_POSTFIX,N0|N1|N1|-|/|,PAPI_TOT_INS,PAPI_TOT_CYC"));
	no_value(once("EVENT,X,NOT_DERIVED,temp"));	/* gauges have no sums */
}

/* Of what a * stands for the whole machine is left out where its parts are there: it holds them. */
static void whole_and_parts(void **state)
{
	for (unsigned parts = 0; parts < 2; parts++) {
		struct sp_model m = model();
		struct sp_metrics t;

		for (uint32_t e = 0; e < 3; e++) {
			event[e].name = 10 + e;
			event[e].place = parts && e ? SP_PLACE_PACKAGE : SP_PLACE_MACHINE;
		}
		sound(&t, "EVENT,X,NOT_DERIVED,energy:ZONE*\nEVENT,Y,NOT_DERIVED,energy:ZONE0");
		sp_metrics_bind(&t, &m);
		same_value(value(&t, "X", sums), parts ? 4050.0 : 5050.0);
		same_value(value(&t, "Y", sums), 1000.0);
		sp_metrics_close(&t);
	}
}

/* As in PAPI's file, whatever the line ends, blanks and case. */
static void files(void **state)
{
	static const char *const ends[] = { "\n", "\r", "\r\n" };
	struct sp_metrics t;

	for (unsigned i = 0; i < SP_COUNT(ends); i++) {
		char text[800];
		const char *e = ends[i];

		snprintf(
			text, sizeof(text),
			"\xef\xbb\xbf# comment%s%s  # another%sCPU,icl%scpu, Ice Lake (server) ,4%s"
			"preset, ALL , derived_add ,PAPI_TOT_INS,, PAPI_TOT_CYC,NOTE,\"with, "
			"commas\"%s"
			"PRESET,B,NOT_DERIVED,PAPI_TOT_INS,LDESC,'long, one',NOTE,\"note\",%s"
			"cuda,GH100%scuda,GA100%sPRESET,C,NOT_DERIVED,cuda:::op:stat=sum",
			e, e, e, e, e, e, e, e, e);
		sound(&t, text);
		assert_int_equal(t.n, 3);
		assert_int_equal(t.n_cpus, 4);
		assert_int_equal(t.n_tables, 2);
		assert_string_equal(t.at[0].name, "ALL");
		assert_string_equal(t.at[0].note, "with, commas");
		assert_int_equal(t.at[0].n_terms, 2);
		assert_int_equal(t.at[0].line, 6);
		assert_string_equal(t.at[1].note, "long, one");
		assert_string_equal(t.cpu[1].name, "Ice Lake (server)");
		sp_metrics_close(&t);
	}
	sound(&t, "");
	sp_metrics_close(&t);
	sound(&t, "\r\n\r\n,,,\n \t\n#");
	assert_int_equal(t.n, 0);
	sp_metrics_close(&t);
}

static void wrong_at(const char *text, uint32_t line, uint32_t column, const char *words)
{
	struct sp_metrics t;
	struct said s = read_text(&t, text, strlen(text));

	if (s.n != 1 || s.line != line || s.column != column || !strstr(s.reason, words))
		fail_msg("%s: %u said; %u:%u: %s; not %u:%u: %s", text, s.n, s.line, s.column,
			 s.reason, line, column, words);
	assert_int_equal(t.n_wrong, 1);
	sp_metrics_close(&t);
}

static void errors(void **state)
{
	struct sp_metrics t;
	struct said s;

	wrong_at("PRESTE,X,NOT_DERIVED,A", 1, 1, "'PRESTE' is not one of CPU, PRESET, EVENT");
	wrong_at("# x\r\nrubbish", 2, 1, "'rubbish'");
	wrong_at("GARBAGE,x", 1, 1, "'GARBAGE' is not one of");
	wrong_at("cuda,GH100,x", 1, 1, "'cuda' is not one of");
	wrong_at("PRESET,X,NOT_DERIVED,A,B", 1, 24, "'NOT_DERIVED' takes one event");
	wrong_at("PRESET,X,DERIVED_CMPD,A", 1, 10, "'DERIVED_CMPD' needs two");
	wrong_at("CPU", 1, 4, "a name is missing");
	wrong_at("PRESET,", 1, 8, "a name is missing");
	wrong_at("PRESET,X", 1, 9, "after 'X'");
	wrong_at("PRESET,X,DERIVED_MUL,A", 1, 10, "'DERIVED_MUL' is not one of");
	wrong_at("PRESET,X,NOT_DERIVED", 1, 21, "an event is missing");
	wrong_at("PRESET,X,NOT_DERIVED,NOTE,\"x\"", 1, 30, "an event is missing");
	wrong_at("PRESET,X,DERIVED_PS,A", 1, 10, "needs cycles");
	wrong_at("PRESET,X,DERIVED_POSTFIX", 1, 25, "a formula is missing");
	wrong_at("PRESET,X,DERIVED_POSTFIX,N0|N1|/|,A", 1, 29, "'N1' is after the last event");
	wrong_at("PRESET,X,DERIVED_POSTFIX,N0|+|,A", 1, 29, "'+' needs two values");
	wrong_at("PRESET,X,DERIVED_POSTFIX,N0|N0|,A", 1, 32, "more values than operators");
	wrong_at("PRESET,X,DERIVED_POSTFIX,|,A", 1, 27, "an empty formula");
	wrong_at("PRESET,X,DERIVED_POSTFIX,N|,A", 1, 26, "must follow N");
	wrong_at("PRESET,X,DERIVED_POSTFIX,N0|2|^|,A", 1, 31, "'^' is not one of");
	wrong_at("PRESET,X,DERIVED_POSTFIX,N0|(|,A", 1, 29, "postfix formula");
	wrong_at("PRESET,X,DERIVED_POSTFIX,1234567890123456|,A", 1, 26, "15 digits");
	wrong_at("PRESET,X,DERIVED_POSTFIX,1.|,A", 1, 27, "decimal point");
	wrong_at("PRESET,X,DERIVED_POSTFIX,N64|,A", 1, 26, "'N64' is more");
	wrong_at("PRESET,X,DERIVED_INFIX,N0+,A", 1, 27, "missing here");
	wrong_at("PRESET,X,DERIVED_INFIX,+N0,A", 1, 24, "missing here");
	wrong_at("PRESET,X,DERIVED_INFIX,N0 N0,A", 1, 27, "an operator is missing before 'N0'");
	wrong_at("PRESET,X,DERIVED_INFIX,(N0+1,A", 1, 24, "'(' is not closed");
	wrong_at("PRESET,X,DERIVED_INFIX,N0)+1,A", 1, 26, "')' without");
	wrong_at("PRESET,X,DERIVED_INFIX,(),A", 1, 25, "missing here");
	wrong_at("PRESET,X,DERIVED_INFIX,N0%2,A", 1, 26, "'%' is not one of");
	wrong_at("PRESET,X,DERIVED_POSTFIX,3|4|+|N0|*|", 1, 32, "no event is given");
	s = read_text(&t, "EVENT,A,NOT_DERIVED,B\0C\nEVENT,B,NOT_DERIVED,C\n", 46);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.column, 22);
	assert_int_equal(t.n, 1);
	sp_metrics_close(&t);
}

/* Limits: at each of them, and one more. */
static void limits(void **state)
{
	char text[4000] = "EVENT,X,DERIVED_ADD";
	struct sp_metrics t;
	struct said s;
	char *large;

	for (unsigned i = 0; i < SP_METRIC_TERMS; i++)
		strcat(text, ",E");
	sound(&t, text);
	assert_int_equal(t.at[0].n_steps, 2 * SP_METRIC_TERMS - 1);
	sp_metrics_close(&t);
	strcat(text, ",E");
	s = read_text(&t, text, strlen(text));
	assert_non_null(strstr(s.reason, "more than 64 events"));
	sp_metrics_close(&t);

	strcpy(text, "EVENT,X,DERIVED_INFIX,");
	for (unsigned i = 0; i < SP_FORMULA_STEPS / 2; i++)
		strcat(text, "1+");
	strcat(text, "1");
	s = read_text(&t, text, strlen(text));
	assert_non_null(strstr(s.reason, "256 words"));
	sp_metrics_close(&t);
	strcpy(text, "EVENT,X,DERIVED_INFIX,");
	for (unsigned i = 0; i < 300; i++)
		strcat(text, "(");
	s = read_text(&t, text, strlen(text));
	assert_non_null(strstr(s.reason, "256 words"));
	sp_metrics_close(&t);
	strcpy(text, "EVENT,X,DERIVED_POSTFIX,");	/* as deep as can be: 256 values would have
							 * no operator left */
	for (unsigned i = 0; i < 128; i++)
		strcat(text, "1|");
	for (unsigned i = 0; i < 127; i++)
		strcat(text, "+|");
	same_value(once(text), 128.0);

	large = calloc(1, SP_METRIC_FILE_MOST + 1);
	memset(large, '#', SP_METRIC_FILE_MOST + 1);
	/* EFBIG */
	assert_int_equal(sp_metrics_read(&t, large, SP_METRIC_FILE_MOST + 1, say, &s), -27);
	assert_int_equal(sp_metrics_read(&t, large, SP_METRIC_FILE_MOST, say, &s), 0);
	sp_metrics_close(&t);
	free(large);
}

static void terms(void **state)
{
	/* The store has icl::L1D:REPLACEMENT:u=0: any case, any order of masks, with or without the
	 * PMU. */
	same_value(once("EVENT,X,NOT_DERIVED,icl::l1d:replacement:u=0"), 50.0);
	same_value(once("EVENT,X,NOT_DERIVED,L1D:U=0:REPLACEMENT"), 50.0);
	no_value(once("EVENT,X,NOT_DERIVED,L1D:REPLACEMENT"));
	no_value(once("EVENT,X,NOT_DERIVED,L1D:REPLACEMENT:u=0:k=1"));
	no_value(once("EVENT,X,NOT_DERIVED,snb::L1D:REPLACEMENT:u=0"));
	no_value(once("EVENT,X,NOT_DERIVED,L1D"));
	same_value(once("EVENT,X,NOT_DERIVED,page-faults"), 7.0);
	same_value(once("EVENT,X,NOT_DERIVED,cuda:::op:stat=sum"), 21.0);
}

static unsigned shown(struct sp_metrics *t)
{
	unsigned n = 0;

	for (int32_t i = sp_metrics_next(t, -1); i >= 0; i = sp_metrics_next(t, i))
		n++;
	return n;
}

static void tables(void **state)
{
	static const char text[] =
		"PRESET,IPC,DERIVED_POSTFIX,N0|N1|/|,PAPI_TOT_INS,PAPI_TOT_CYC\n"
		"CPU,skl\nPRESET,M,NOT_DERIVED,L1D:REPLACEMENT:u=0\n"
		"CPU,snb\nCPU,icl\n"
		"PRESET,M,DERIVED_ADD,L1D:REPLACEMENT:u=0,PAGE-FAULTS\n"
		"PRESET,M2,DERIVED_ADD,M,M\n"
		"PRESET,PAPI_TOT_CYC,NOT_DERIVED,PAGE-FAULTS\n"
		"CPU,icl\nPRESET,IPC,DERIVED_POSTFIX,N0|N1|/|2|*|,PAPI_TOT_INS,PAPI_TOT_CYC\n"
		"PRESET,NO,NOT_DERIVED,ABSENT\n"
		"CPU,zen\nPRESET,M,NOT_DERIVED,PAPI_TOT_INS\n";
	struct sp_model m = model();
	struct sp_metrics t;

	sound(&t, text);
	/* The counted events are icl's: its two tables, of which the second overrides IPC. */
	assert_int_equal(sp_metrics_bind(&t, &m), 3);
	assert_int_equal(shown(&t), 3);
	assert_int_equal(t.at[sp_metrics_next(&t, -1)].line, 6);
	compute(&t, sums, NULL, 0);
	same_value(t.at[2].value, 57.0);
	same_value(t.at[3].value, 114.0);	/* M2: twice the M of its own table */
	same_value(t.at[5].value, 0.5);
	assert_false(t.at[4].shown);		/* was counted itself */
	assert_string_equal(sp_metrics_missing(&t, sp_metrics_named(&t, "no")), "ABSENT");
	sp_metrics_hide(&t);
	assert_true(sp_metrics_choose(&t, "ipc"));
	assert_false(sp_metrics_choose(&t, "no"));
	assert_int_equal(shown(&t), 1);
	/* Without a word of the CPU none of its tables counts, and that is told. */
	event[2].name = 1;
	assert_int_equal(sp_metrics_bind(&t, &m), 1);
	assert_true(t.foreign);
	/* two events of one name: their sum */
	same_value(value(&t, "IPC", sums), 1050.0 / 4000.0);
	no_value(value(&t, "M", sums));
	sp_metrics_close(&t);
}

/* PAPI's list of the machine's PMUs decides; of merged runs each machine by its own. */
static void machines(void **state)
{
	static const char text[] = "CPU,icl\nEVENT,F,DERIVED_INFIX,N0*8,PAPI_TOT_INS\nCPU,"
				   "zen\nEVENT,F,DERIVED_INFIX,N0*4,PAPI_TOT_INS\n"
				   "cuda,GH100\nEVENT,G,NOT_DERIVED,PAPI_TOT_INS\n";
	struct sp_header h[2] = { { .pmus = 8 }, { .pmus = 9 } };
	struct sp_model_process process[2] = { { .h = &h[0], .machine = 0 },
					       { .h = &h[1], .machine = 1 } };
	struct sp_component c[4] = {
		{ .parent = -1 }, { .parent = 0 }, { .parent = 0 }, { .parent = 2 }
	};
	struct sp_model_machine machine[2] = { { .root = 1 }, { .root = 2 } };
	struct sp_model m = model();
	struct sp_metrics t;

	event[2].name = 4;
	m.process = process;
	m.machine = machine;
	m.component = c;
	m.n_processes = m.n_machines = 1;
	sound(&t, text);
	assert_int_equal(sp_metrics_bind(&t, &m), 2);
	same_value(value(&t, "F", sums), 8000.0);
	same_value(value(&t, "G", sums), 1000.0);
	h[0].pmus = 4;				/* another PMU: neither table is its */
	assert_int_equal(sp_metrics_bind(&t, &m), 1);
	assert_true(t.foreign);
	h[0].pmus = 8;
	m.n_processes = m.n_machines = 2;
	assert_int_equal(sp_metrics_bind(&t, &m), 2);
	for (uint32_t i = 0; i < 2; i++) {
		compute(&t, sums, NULL, i);
		same_value(t.at[sp_metrics_next(&t, -1)].value, i ? 4000.0 : 8000.0);
	}
	for (uint32_t i = 0; i < t.n_slots; i++)
		t.one[i].n = 1;
	sp_metrics_compute(&t, t.one);		/* both together: no word for that */
	assert_false(t.at[sp_metrics_next(&t, -1)].has_value);
	sp_metrics_close(&t);
}

/* A row without an event has no value of what needs it. */
static void absent(void **state)
{
	struct sp_model m = model();
	struct sp_metrics t;
	bool present[EVENTS] = { true };

	sound(&t, "EVENT,IPC,DERIVED_POSTFIX,N0|N1|/"
		  "|,PAPI_TOT_INS,PAPI_TOT_CYC\nEVENT,A,NOT_DERIVED,PAPI_TOT_INS\n");
	assert_int_equal(sp_metrics_bind(&t, &m), 2);
	compute(&t, sums, present, 0);
	assert_false(t.at[0].has_value);
	assert_true(t.at[1].has_value);
	sp_metrics_close(&t);
}

/* What one set counted and another is no quotient; two sets that have both add up. */
static void apart(void **state)
{
	static const uint32_t ids[][2] = { { 0, 1 }, { 1, 0 }, { 0 }, { 1 } };
	static const int64_t total[][2] = { { 300, 100 }, { 100, 500 }, { 1000 }, { 50 } };
	struct sp_model m = model();
	struct sp_metric_sum *all;
	struct sp_metrics t;

	sound(&t, "EVENT,IPC,DERIVED_POSTFIX,N0|N1|/"
		  "|,PAPI_TOT_INS,PAPI_TOT_CYC\nEVENT,TWICE,DERIVED_ADD,IPC,IPC\n");
	assert_int_equal(sp_metrics_bind(&t, &m), 2);
	all = calloc(t.n_slots, sizeof(*all));
	for (unsigned i = 4; i-- > 0;) {
		struct sp_row row = { .k = i < 2 ? 2 : 1, .event = ids[i] };

		sp_metrics_compute(&t, all);
		assert_int_equal(t.at[0].has_value, i < 1);
		sp_metrics_add(&t, &row, SP_METRIC_ANYWHERE, NULL, total[i], NULL, all);
	}
	sp_metrics_compute(&t, all);
	same_value(t.at[0].value, 800.0 / 200.0);
	same_value(t.at[1].value, 8.0);
	sp_metrics_compute(&t, NULL);
	assert_false(t.at[0].has_value);
	free(all);
	sp_metrics_close(&t);
}

/* Any bytes: cut, turned, repeated. */
static void mutations(void **state)
{
	static const char seed[] = "CPU,icl\nPRESET,A,DERIVED_POSTFIX,N0|N1|+|2.5|*|#|/"
				   "|,PAPI_TOT_INS,PAPI_TOT_CYC,NOTE,'x, y'\r\n"
				   "EVENT,B,DERIVED_INFIX,N0-(N1+(N2*5)),A,PAPI_TOT_CYC,L1D:"
				   "REPLACEMENT:u=0\rcuda,GH100\n"
				   "PRESET,C,DERIVED_ADD_PS,PAPI_TOT_CYC,B,A\nPRESET,D,DERIVED_SUB,"
				   "C,A,sspapi::ELAPSED_NS\n";
	static const char signs[] = ",|N0123456789+-*/#().\n\r\"'PRESET \0\xff";
	struct sp_model m = model();
	uint32_t random = 12345;
	char text[sizeof(seed)];

	for (unsigned i = 0; i < 20000; i++) {
		size_t n = sizeof(seed) - 1;
		struct sp_metrics t;

		memcpy(text, seed, sizeof(seed));
		for (unsigned k = 0; k <= i % 4; k++) {
			random = random * 1664525u + 1013904223u;
			text[(random >> 8) % n] = signs[(random >> 4) % (sizeof(signs) - 1)];
		}
		if (i % 3 == 0)
			n = (random >> 9) % n;
		read_text(&t, text, n);
		sp_metrics_bind(&t, &m);
		compute(&t, sums, NULL, 0);
		sp_metrics_close(&t);
	}
}

/* PAPI's own files, where one is installed or named (PAPI_EVENTS_CSV): nothing in them is refused,
 * and no definition is lost. */
static void papi_file(void **state)
{
	const char *named = getenv("PAPI_EVENTS_CSV");
	FILE *f = fopen(named ? named : "/usr/share/papi/7.0/papi_events.csv", "r");
	char *text = malloc(SP_METRIC_FILE_MOST + 1);
	uint32_t lines = 0;
	struct sp_model m = model();
	struct sp_metrics t;
	struct said s;
	size_t n;

	if (!f) {
		free(text);
		skip();
	}
	n = fread(text, 1, SP_METRIC_FILE_MOST, f);
	fclose(f);
	s = read_text(&t, text, n);
	if (s.n)
		fail_msg("%u wrong, the last: %u:%u: %s", s.n, s.line, s.column, s.reason);
	text[n] = 0;
	for (char *p = text; p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
		lines += strncmp(p, "PRESET,", 7) == 0 || strncmp(p, "EVENT,", 6) == 0;
	assert_true(lines > 1000);
	assert_int_equal(t.n, lines);
	sp_metrics_bind(&t, &m);
	sp_metrics_close(&t);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds),     cmocka_unit_test(whole_and_parts),
		cmocka_unit_test(files),     cmocka_unit_test(errors),
		cmocka_unit_test(limits),    cmocka_unit_test(terms),
		cmocka_unit_test(tables),    cmocka_unit_test(machines),
		cmocka_unit_test(absent),    cmocka_unit_test(apart),
		cmocka_unit_test(mutations), cmocka_unit_test(papi_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
