/*
 * rates: the rate functions: each call returns the counts since the previous one. Functions whose
 * presets this machine lacks are left out.
 * usage: rates	exit 77: all of them are
 */
#include "handed.h"

#if PAPI_VERSION < PAPI_VERSION_NUMBER(6, 0, 0, 0)
/* A name that does not exist. */
int main(void)
{
	return SKIPPED;
}
#else

static struct arena arena;
static float real_time, proc_time, rate;
static long long cycles, core;

/* Print at the end: the rates also count while a program prints. */
static struct {
	const char *by, *event;
	int cpu, pages;
	long long value;
} results[16];
static int n_results;

static int flips(long long *count)
{
	return PAPI_flips_rate(PAPI_FP_INS, &real_time, &proc_time, count, &rate);
}

static int flops(long long *count)
{
	return PAPI_flops_rate(PAPI_FP_OPS, &real_time, &proc_time, count, &rate);
}

static int ipc(long long *count)
{
	return PAPI_ipc(&real_time, &proc_time, count, &rate);
}

static int epc(long long *count)
{
	return PAPI_epc(PAPI_TOT_INS, &real_time, &proc_time, &cycles, &core, count, &rate);
}

static const struct rate {
	const char *name, *event;
	int (*call)(long long *count);
} rates[] = {
    {"PAPI_flips_rate", "PAPI_FP_INS", flips},
    {"PAPI_flops_rate", "PAPI_FP_OPS", flops},
    {"PAPI_ipc", "PAPI_TOT_INS", ipc},
    {"PAPI_epc", "PAPI_TOT_INS", epc},
};

/* Starts counting, and returns zeros. */
static int start(const struct rate *r)
{
	long long count;
	int ret = r->call(&count);

	if (ret != PAPI_OK)
		printf("refused call=%s: %s (%d)\n", r->name, PAPI_strerror(ret), ret);
	return ret == PAPI_OK;
}

static void more(const struct rate *r, int cpu, int pages)
{
	long long count;

	touch(&arena, pages);
	must(r->name, r->call(&count));
	results[n_results].by = r->name;
	results[n_results].event = r->event;
	results[n_results].cpu = cpu;
	results[n_results].pages = pages;
	results[n_results++].value = count;
}

static void print_told(void)
{
	for (int i = 0; i < n_results; i++)
		printf("handed cpu=%d event=%s value=%lld by=%s pages=%d\n", results[i].cpu,
		       results[i].event, results[i].value, results[i].by, results[i].pages);
}

static int measure(const struct rate *r)
{
	int cpu = pin(0);

	if (!start(r))
		return 0;
	more(r, cpu, 1000);
	cpu = pin(1);
	more(r, cpu, 1500);
	must("PAPI_rate_stop", PAPI_rate_stop());
	return 1;
}

int main(void)
{
	int measured = 0;

	papi_up();
	arena_make(&arena, 4 * 2500);
	prefault();
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		measured += measure(&rates[i]);
	print_told();
	return measured ? 0 : SKIPPED;
}
#endif
