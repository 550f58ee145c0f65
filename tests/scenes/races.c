/*
 * races: a handler of the application calls PAPI at each instruction of main's own call, while
 * libpapi does it and from its answer until our booking has ended (tests/preload/step.c sets the
 * trap flag). Each time sspapi_total must say at least what main's calls were handed out, and at
 * most what happened; in the same words where the handler calls PAPI for another set.
 * usage: races OP [PLAY...]
 *	OP	read stop accum reset start: main's
 *	PLAY	what the handler does, as letters: R read, A accum, Z reset, P stop, S start, X read
 *		another set, and j jump out of main's call; default: many of them
 *	RACES_MOST=n	at so many places each, not at all
 *	RACES_SHOW=1	what was booked and what was handed out where that differs
 */
#include "now.h"
#include "../../preload/sspapi.h"
#include <setjmp.h>
#include <ucontext.h>

#pragma weak sspapi_relations
#pragma weak sspapi_total

#pragma weak step_when
#pragma weak step_frame
extern int step_when;
extern uintptr_t step_frame;

#if defined(__x86_64__)
#define SP(u) ((uintptr_t)(u)->uc_mcontext.gregs[REG_RSP])
#define GO_ON(u) ((u)->uc_mcontext.gregs[REG_EFL] &= ~0x100ll)
#define STEP_OFF() \
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; " \
			 "lea 128(%%rsp), %%rsp" :: \
				 : "cc", "memory")
#else
#define SP(u) 0
#define GO_ON(u) (void)(u)
#define STEP_OFF() (void)0
#endif

enum where { INSIDE = 1, AFTER };	/* step_when */
#define BASE 1000		/* handed out before main's call: a value below it is of counts
				 * since a zeroing */
#define FRESH 7			/* and counted since */

static const char *const plays[] = { "X",  "R",	 "A",	"Z",   "P",   "ZR",  "RZ",   "AR",
				     "AA", "PS", "PSR", "RPS", "PZS", "PAS", "ZRZR", "PSRPSR",
				     "SR", "RR", "j",	"Zj",  "Rj",  "Aj",  "Pj",   "PSj" };
static int set, other, code;
static long long happened, main_handed, main_last;	/* handed to main: in all, and since the
							 * last zeroing */

static struct fake_set now_is(void)
{
	struct fake_set i;

	if (fake_set_info(set, &i))
		die("fake_set_info");
	return i;
}

static bool runs(void)
{
	return now_is().state & PAPI_RUNNING;
}

static void happens(int n)
{
	if (!runs())
		return;
	fake_count_set(set, "EV_A", n);
	happened += n;
}

static int ask(char what, long long *value)
{
	*value = 0;
	switch (what) {
	case 'R':
		return PAPI_read(set, value);
	case 'A':
		return PAPI_accum(set, value);
	case 'Z':
		return PAPI_reset(set);
	case 'P':
		return PAPI_stop(set, value);
	case 'X':
		return PAPI_read(other, value);
	default:
		return PAPI_start(set);
	}
}

/* By main; runs: when it was asked for. */
static void note(char what, int rc, bool runs, long long value)
{
	if (rc == PAPI_OK && runs && strchr("RAP", what)) {
		main_handed += value - (value < main_last ? 0 : main_last);
		main_last = value;
	}
	if (rc == PAPI_OK && strchr("AZS", what))
		main_last = 0;
}

static void call(char what)
{
	bool was = runs();
	long long value;
	int rc = ask(what, &value);

	note(what, rc, was, value);
}

/* ---- a step at a time ----------------------------------------------------------- */

static struct {
	char op;
	const char *play;
	enum where where;
	int at, n;			/* the step to play at; so far; only those there count */
	bool answered, left;
	sigjmp_buf out;
} step;

static void play(void)
{
	long long value;

	for (const char *p = step.play; *p; p++) {
		if (*p == 'j')
			siglongjmp(step.out, 1);
		happens(3);
		ask(*p, &value);
	}
	happens(2);
}

static void trapped(int signal, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)signal;
	(void)info;
	step.answered |= SP(u) > step_frame;
	if (step.answered != (step.where == AFTER))
		return;
	if (step.n++ != step.at)
		return;
	GO_ON(u);
	play();
}

static __attribute__((noinline)) void stepped(void)
{
	bool was = runs();
	long long value = 0;
	int rc;

	step.n = 0;
	step.answered = false;
	step_when = step.where;
	rc = ask(step.op, &value);
	STEP_OFF();
	step_when = 0;
	note(step.op, rc, was, value);
}

/* ---- one time through ------------------------------------------------------------ */

static long long booked(void)
{
	sspapi_relation *rels[8];
	long long sum = 0;
	int n = 8;

	if (!sspapi_relations)
		return -1;
	must("sspapi_relations", sspapi_relations(rels, &n));
	for (int i = 0; i < n && i < 8; i++)
		sum += sspapi_total(rels[i], code, -1);
	return sum;
}

static void prepare(void)
{
	happened = main_handed = main_last = 0;
	call('S');
	happens(BASE);
	call(step.op == 'S' ? 'P' : 'R');
	happens(FRESH);
}

/* A reading shows what the records take for PAPI's state. (A set that does not run hands out what
 * it did: nothing new.) */
static void finish(bool reads)
{
	if (reads || !runs())
		call('R');
	call('Z');
	call('S');
	happens(11);
	call('R');
	happens(1);
	call('P');
}

static int through(enum where where, int at)
{
	static long long so_far;
	static int turn;
	bool exact = !strcmp(step.play, "X");
	long long got;
	int wrong;

	step.where = where;
	step.at = at;
	prepare();
	step.left = false;
	if (sigsetjmp(step.out, 1) == 0)
		stepped();
	else
		step.left = true;
	finish(step.left || turn++ % 2);
	got = booked();
	if (got < 0)
		return 0;
	got -= so_far;
	so_far += got;
	wrong = got < main_handed || got > (exact ? main_handed : happened);
	if (wrong && getenv("RACES_SHOW"))
		fprintf(stderr, "%c %s at %d: booked %lld, handed out %lld of %lld\n", step.op,
			step.play, at, got, main_handed, happened);
	return wrong;
}

static int try_at(const char *what, enum where where, int most)
{
	int tried = 0, wrong = 0, steps;

	step.play = what;
	through(where, -1);
	steps = step.n;
	if (most > steps || !most)
		most = steps;
	for (; tried < most; tried++)
		wrong += through(where, (int)((long)tried * steps / most));
	if (wrong)
		fprintf(stderr, "%c, handler %s, %s: %d of %d wrong\n", step.op, what,
			where == INSIDE ? "while libpapi does it" : "when it has answered", wrong,
			tried);
	if (tried < 5)
		fprintf(stderr, "only %d steps\n", tried);
	return wrong || tried < 5;
}

static int try_play(const char *what)
{
	/* After a jump out of its PAPI_start libpapi itself holds the set for running and for
	 * stopped. */
	bool inside = step.op != 'S' || !strchr(what, 'j');

	const char *most = getenv("RACES_MOST");
	int n = most ? atoi(most) : 0;

	return try_at(what, AFTER, n) | (inside && try_at(what, INSIDE, n / 2));
}

/* What is slow the first time blocks signals, SIGTRAP too. */
static void warm_up(void)
{
	long long value;

	for (int i = 0; i < 3; i++)
		for (const char *p = "PSRASZPS"; *p; p++)
			ask(*p, &value);
	ask('P', &value);
	step.play = "";
	for (int i = 0; i < 3; i++)
		through(0, -1);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
	static const char *const ops[] = {"read", "stop", "accum", "reset", "start"};
	int wrong = 0;

	for (int i = 0; i < 5; i++)
		if (argc > 1 && !strcmp(argv[1], ops[i]))
			step.op = "RPAZS"[i];
	if (!step.op || !&step_when)
		return SKIPPED;
	up();
	set = now_set();
	other = set_with("EV_B");
	must("PAPI_start", PAPI_start(other));
	must("PAPI_event_name_to_code", PAPI_event_name_to_code("EV_A", &code));
	sigaction(SIGTRAP, &action, NULL);
	warm_up();
	for (int i = 2; i < argc; i++)
		wrong |= try_play(argv[i]);
	for (size_t i = 0; argc == 2 && i < sizeof(plays) / sizeof(*plays); i++)
		wrong |= try_play(plays[i]);
	return wrong;
}
