/*
 * fuzz-metrics: reads damaged files of metrics, resolves and computes them; built with the
 * sanitizers.
 * usage: fuzz-metrics [-n TIMES] [-s SEED] FILE...
 * Prints the numbers of accepted and refused definitions. An error ends it with the sanitizer's
 * report; more than 5 s end it by SIGALRM.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../core/metric/metric.h"

#define FILES 16
#define EVENTS 6u

static const char *const names[EVENTS + 1] = { "",
					       "PAPI_TOT_INS",
					       "PAPI_TOT_CYC",
					       "icl::L1D:REPLACEMENT",
					       "UNHALTED_CORE_CYCLES",
					       "INSTRUCTION_RETIRED",
					       "cuda:::op:stat=sum" };

const char *sp_model_text(const struct sp_model *m, sp_off off)
{
	(void)m;
	return names[off <= EVENTS ? off : 0];
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

static uint32_t state;

static uint32_t random_below(uint32_t n)
{
	state = state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(state >> 4) * n >> 28);
}

/* Cuts, changes, repeats and inserts bytes; moves a piece of another line anywhere. */
static size_t mutate(char *text, size_t n, size_t room)
{
	static const char signs[] = ",|N0123456789+-*/#().\n\r\"'PRESET :\0\xff";

	for (uint32_t k = 1 + random_below(12); k-- && n > 2;) {
		uint32_t at = random_below((uint32_t)n), length = 1 + random_below(40),
			 from = random_below((uint32_t)n);

		switch (random_below(4)) {
		case 0:
			text[at] = signs[random_below(sizeof(signs) - 1)];
			break;
		case 1:
			n = random_below(4) ? n : at + 1;
			break;
		case 2:
			length = (uint32_t)sp_min(length, n - sp_min(n, sp_max(at, from)));
			memmove(text + at, text + from, length);
			break;
		default:
			if (n + length > room || from + length > n)
				break;
			memmove(text + at + length, text + at, n - at);
			n += length;
		}
	}
	return n;
}

static void refuse(uint32_t line, uint32_t column, const char *reason, void *arg)
{
	if (!line || !column || !*reason || strlen(reason) > 200)
		abort();
	++*(unsigned long *)arg;
}

static void try(const char *text, size_t n, struct sp_model *m, unsigned long counts[2])
{
	static const int64_t sums[EVENTS] = { 1, -5, 0, INT64_MAX, INT64_MIN, 3 };
	static const uint32_t all[EVENTS] = { 0, 1, 2, 3, 4, 5 }, some[EVENTS] = { 0, 2 };
	const struct sp_row row = { .k = EVENTS, .event = all }, part = { .k = 2, .event = some };
	struct sp_metrics t;
	char *exact = malloc(n ? n : 1);

	memcpy(exact, text, n);
	alarm(5);
	if (sp_metrics_read(&t, exact, n, refuse, &counts[1]) < 0)
		abort();
	free(exact);
	if (sp_metrics_bind(&t, m) < 0)
		abort();
	sp_metrics_compute_row(&t, &part, sums, NULL);
	sp_metrics_compute_row(&t, &row, sums, NULL);
	for (int32_t i = sp_metrics_next(&t, -1); i >= 0; i = sp_metrics_next(&t, i))
		if (!t.at[i].usable || (t.at[i].has_value && t.at[i].value - t.at[i].value != 0.0))
			abort();
	counts[0] += t.n;
	sp_metrics_close(&t);
}

/* Takes some lines from anywhere in the file, few enough for mutations to matter. */
static size_t piece(char *to, const char *file, size_t n)
{
	size_t at = n > 4000 ? random_below((uint32_t)(n - 4000)) : 0,
	       length = sp_min(n - at, 200 + random_below(3800));

	memcpy(to, file + at, length);
	return length;
}

int main(int argc, char **argv)
{
	struct sp_model m = { .n_events = EVENTS };
	static struct sp_event event[EVENTS];
	static const struct sp_event *events[EVENTS];
	static bool counted[EVENTS];
	static int64_t total[EVENTS];
	static char *file[FILES], text[16384];
	size_t size[FILES], n_files = 0;
	unsigned long counts[2] = { 0, 0 }, times = 10000;
	int opt;

	while ((opt = getopt(argc, argv, "n:s:")) != -1) {
		if (opt == 'n')
			times = strtoul(optarg, NULL, 10);
		else if (opt == 's')
			state = (uint32_t)strtoul(optarg, NULL, 10);
	}
	for (; optind < argc && n_files < FILES; optind++) {
		FILE *f = fopen(argv[optind], "r");

		if (!f)
			continue;
		file[n_files] = malloc(SP_METRIC_FILE_MOST);
		size[n_files] = fread(file[n_files], 1, SP_METRIC_FILE_MOST, f);
		fclose(f);
		n_files++;
	}
	for (uint32_t e = 0; e < EVENTS; e++) {
		event[e] = (struct sp_event){ .id = e, .name = e + 1 };
		events[e] = &event[e];
		counted[e] = true;
	}
	m.event = events;
	m.event_counted = counted;
	m.sums.total = total;
	m.h.process.end_ns = 1000;
	for (size_t i = 0; i < n_files; i++)
		try(file[i], size[i], &m, counts);
	for (unsigned long i = 0; n_files && i < times; i++) {
		size_t which = random_below((uint32_t)n_files),
		       n = piece(text, file[which], size[which]);

		try(text, mutate(text, n, sizeof(text)), &m, counts);
	}
	printf("%lu files of metrics: %lu definitions taken, %lu lines refused\n", times, counts[0],
	       counts[1]);
	return n_files && counts[0] && counts[1] ? 0 : 1;
}
