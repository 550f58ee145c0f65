/* t-records-handlers.c: store/records.h: calls that are nested in another one for the same set,
 * anywhere in it, and jumps out of calls: what ordinary calls were handed out is booked, and never
 * more than all calls were.
 */
#include "record-sets.h"
#include "stepping.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>

#define K 2

/* ---- what PAPI has handed out ------------------------------------------------ */

enum { ALL, ORDINARY, WHOM };

static long long last[WHOM][K], handed[WHOM][K];	/* since the last zeroing; in all */
static unsigned nested;

static void see_values(const long long *x, bool ordinary)
{
	for (int whom = ALL; whom <= ordinary; whom++)
		for (int e = 0; e < K; e++) {
			long long was = last[whom][e];

			last[whom][e] = x[e] > was ? x[e] : was;
			handed[whom][e] += last[whom][e] - was;
		}
}

static void see_zeroing(void)
{
	memset(last, 0, sizeof(last));
}

/* ---- a call of PAPI, and handlers in it ---------------------------------------- */

static const char *plays[3];		/* what a handler does before PAPI does the call, in the
					 * middle, and when it has */
static const char *inner;		/* and one in the middle of that one's calls */
static bool stepping;

static void play(const char *letters, int cpu);

/* Handlers come to plays[when]; while one is there, `inner` comes to each of its calls. */
static void come(int when, int cpu, const char *in_this[3])
{
	const char *letters = in_this[when];

	in_this[when] = NULL;
	if (!letters)
		return;
	plays[1] = inner;
	inner = NULL;
	play(letters, cpu);
	plays[1] = NULL;
}

static bool act(enum sp_op op, int cpu, bool ordinary, long long *x)
{
	struct papi *p = &sets[0].papi;
	const char *in_this[3] = { plays[0], plays[1], plays[2] };

	memset(plays, 0, sizeof(plays));
	come(0, cpu, in_this);
	if (p->running == (op == SP_OP_START) && (op == SP_OP_START || op == SP_OP_STOP))
		return false;
	for (int e = 0; e < K; e++)
		papi_work(p, e, 1 + e);
	if (has_values(op)) {
		papi_values(p, x);
		if (p->running)
			see_values(x, ordinary);
	}
	come(1, cpu, in_this);
	if (op == SP_OP_START)
		papi_start(p);
	if (op == SP_OP_RESET || op == SP_OP_ACCUM)
		papi_reset(p);
	if (op == SP_OP_STOP) {
		memcpy(p->saved, x, sizeof(p->saved));
		p->running = false;
	}
	if (!has_values(op) || op == SP_OP_ACCUM)
		see_zeroing();
	come(2, cpu, in_this);
	return true;
}

static enum windows { OPEN, PROVEN, SPLIT } windows;

/* Of the least that any window has. */
static const struct sp_parts parts = { .n = 2,
				       .cpu = (const int32_t[]){ 2, 1001 },
				       .at = (const int64_t[]){ 1, 0, 0, 1 },
				       .proven = (const int64_t[]){ 1, 0, 0, 1, 0, 1 } };

static __attribute__((noinline)) void book_as_windows_are(enum sp_op op, int cpu,
							  const long long *x)
{
	if (windows == SPLIT && has_values(op))
		book_end_parts(&sets[0].w, op, cpu, x, &parts, 0);
	else
		book_end(&sets[0].w, op, cpu, has_values(op) ? x : NULL, windows == PROVEN, 0);
}

static struct {
	enum sp_op op;
	int n;				/* instructions so far */
	bool child, jump;
	bool answered;			/* PAPI has answered the call before the handler came, or
					 * will be asked later */
	unsigned which;			/* of the handlers: not each plays at each instruction, */
	unsigned each;			/* but at one of so many */
	const char *play;
	int cpu;
	sigjmp_buf out;
	int failed, done;
} step;

/* As the wrappers do it. */
static __attribute__((noinline)) void call(enum sp_op op, int cpu)
{
	struct sp_writer *w = &sets[0].w;
	bool stepped = stepping, begun, done;
	long long x[KMAX] = { 0 };

	stepping = false;
	if (stepped)
		STEP_ON();
	begun = book_begin(w, op);
	if (begun && load_relaxed(&w->slow) & SP_SLOW_AFTER)
		sp_records_set_running(w,
				       sets[0].papi.running ? SP_OP_IS_RUNNING : SP_OP_IS_STOPPED,
				       BOOK_OWNER);
	STEP_OFF();
	done = act(op, cpu, begun, x);
	nested += !begun;
	if (!begun) {
		if (done && op != SP_OP_READ)
			sp_records_missed(w, op, BOOK_OWNER);
		return;
	}
	if (stepped && !step.child)
		STEP_ON();
	if (done)
		book_as_windows_are(op, cpu, x);
	else
		sp_records_failed(w, BOOK_OWNER);
	STEP_OFF();
}

/* PAPI refuses to start the set, which runs, and has opened its counters anew (hooks.c). */
static __attribute__((noinline)) void refuse_start(void)
{
	struct sp_writer *w = &sets[0].w;
	bool begun = book_begin(w, SP_OP_START);
	uint32_t was;

	if (begun && load_relaxed(&w->slow) & SP_SLOW_AFTER)
		sp_records_set_running(w, SP_OP_IS_RUNNING, BOOK_OWNER);
	assert_true(sp_records_suspend(w, BOOK_OWNER, &was));
	sp_records_zeroed(w, BOOK_OWNER, was);
	sp_records_resume(w, BOOK_OWNER, was);
	papi_reset(&sets[0].papi);
	see_zeroing();
	nested += !begun;
	if (begun)
		sp_records_failed(w, BOOK_OWNER);
}

/* Letters: S start, P stop, R read here, O read on another CPU, A accum, Z reset, N a start that
 * zeroes a set that runs.  Others that PAPI would refuse are left out. */
static __attribute__((noinline)) void play(const char *letters, int cpu)
{
	char frame[2048];	/* a handler's is so far below what it interrupts */

	__asm__ volatile("" :: "r"(frame) : "memory");	/* (clang would keep one of its bytes) */
	for (; *letters; letters++) {
		enum sp_op op;

		if (*letters == 'N') {
			if (sets[0].papi.running)
				refuse_start();
			continue;
		}
		op = *letters == 'O' ? SP_OP_READ
				     : (enum sp_op)(strchr("SRPAZ", *letters) - "SRPAZ");

		if (sets[0].papi.running == (op == SP_OP_START) &&
		    (op == SP_OP_START || op == SP_OP_STOP))
			continue;
		call(op, *letters == 'O' ? (cpu + 1) % DENSE : cpu);
	}
	__asm__ volatile("" :: "r"(frame) : "memory");
}

/* ---- what is booked ---------------------------------------------------------------- */

/* 0, or what is wrong.  may: less than ordinary calls were handed out may be booked. */
static int wrong(bool may)
{
	struct sp_model m;
	struct sp_row row = { 0 };
	struct sp_at_cpu at;
	bool unsure;
	int is = 0;

	if (sp_model_open(&m, &store.reader) < 0 || !sp_model_next(&m, &row))
		return 1;
	unsure = row.flags & SP_RELATION_UNSURE;
	for (int e = 0; e < K; e++)
		if (m.sums.total[e] > handed[ALL][e] ||
		    (m.sums.total[e] < handed[ORDINARY][e] && !may) ||
		    (!unsure && m.sums.total[e] != handed[ALL][e]))
			is = 2;
	if (nested && !unsure)
		is = 3;
	for (uint32_t i = 0; sp_row_cell(&m, &row, i, &at); i++)
		for (int e = 0; e < K && !is; e++)
			is = at.total[e] < 0 || at.exact[e] < 0 || at.exact[e] > at.total[e] ? 4
											     : 0;
	sp_model_close(&m);
	return is;
}

static void begin_sets(void)
{
	open_sets(1, K, 0, DENSE);
	memset(last, 0, sizeof(last));
	memset(handed, 0, sizeof(handed));
	nested = 0;
}

/* So much that a value after a zeroing is below what was handed out before it. */
static void work_much(void)
{
	for (int e = 0; e < K; e++)
		papi_work(&sets[0].papi, e, 1000);
}

static const char *const handlers[] = {
	"R",	"O",	"A",	"Z",	   "ZR", "P",  "PS", "AA",
	"RZRR", "OAOR", "PSRO", "RPZSRZR", "S",	 "SA", "N",  "NRN"
};
static const enum sp_op ops[] = { SP_OP_READ, SP_OP_STOP, SP_OP_ACCUM, SP_OP_RESET, SP_OP_START };

static void nest(enum sp_op op, int when, const char *letters, const char *in_that, bool much)
{
	begin_sets();
	call(SP_OP_START, 0);
	work_much();
	call(SP_OP_READ, 0);
	call(SP_OP_READ, 1);
	if (op == SP_OP_START)
		call(SP_OP_STOP, 1);
	if (much)
		work_much();
	plays[when] = letters;
	inner = in_that;
	call(op, 2);
	assert_int_equal(wrong(true), 0);
	play("RO", 0);
	sp_records_fold(&sets[0].w);
	play("R", 2);
	if (wrong(much))
		fail_msg("op %d, a handler does %s (%s) at %d: %d", op, letters,
			 in_that ? in_that : "", when, wrong(much));
	assert_int_equal(sets[0].w.in_flight | (sets[0].w.slow &
						(SP_SLOW_MISSED | SP_SLOW_AFTER | SP_SLOW_ZEROED)),
			 0);
	sp_store_close(&store);
}

static void nested_in_papi(void **state)
{
	(void)state;
	for (windows = OPEN; windows <= SPLIT; windows++)
		for (unsigned o = 0; o < SP_COUNT(ops); o++)
			for (unsigned h = 0; h < SP_COUNT(handlers); h++)
				for (int i = 0; i < 3 * 2; i++) {
					nest(ops[o], i % 3, handlers[h], NULL, i / 3);
					nest(ops[o], i % 3, handlers[h],
					     handlers[(h + o) % SP_COUNT(handlers)], i / 3);
				}
	windows = OPEN;
}

/* Estimates go down by themselves: what is handed out then is no new count. */
static void nested_estimates(void **state)
{
	struct sp_writer *w = &sets[0].w;
	long long x[K] = { 100, 100 }, less[K] = { 90, 90 }, more[K] = { 95, 95 };

	(void)state;
	begin_sets();
	w->relation->flags |= SP_RELATION_ESTIMATED;
	book_call(w, SP_OP_START, 0, NULL, false, 0);
	book_call(w, SP_OP_READ, 0, x, false, 0);
	sp_records_missed(w, SP_OP_RESET, BOOK_OWNER);
	book_call(w, SP_OP_READ, 0, less, false, 0);
	book_call(w, SP_OP_READ, 0, more, false, 0);
	for (int e = 0; e < K; e++)
		sets[0].papi.handed[e] = 105;
	assert_int_equal(wrong_sum(), 0);
	sp_store_close(&store);
}

/* ---- at each instruction ------------------------------------------------------------- */

#if STEPS
/* What a child found: its exit status. */
static int after_handler(void)
{
	int is = step.jump ? 0 : wrong(true);

	for (int i = 0; i < 5 && step.answered; i++)	/* then a zeroing is known, and not told by
							 * the value alone */
		work_much();
	play("RR", step.cpu);
	is = is ? is : wrong(false);
	sp_records_fold(&sets[0].w);
	is = is ? is : wrong(false);
	return is ? is : sets[0].w.in_flight || sets[0].w.recording_thread ? 5 : 0;
}

static void stepped(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	int status;
	pid_t pid;

	(void)sig;
	(void)info;
	if (IN_VDSO(u->uc_mcontext.gregs[REG_RIP]))
		return;
	step.n++;
	if (((unsigned)step.n + step.which * 3 + windows) % step.each)
		return;
	pid = fork();
	if (pid) {
		waitpid(pid, &status, 0);
		step.done++;
		if ((!WIFEXITED(status) || WEXITSTATUS(status)) && step.failed++ < 8)
			print_message(
				"op %d, handler %s%s, instruction %d (in flight %lx): status %x\n",
				step.op, step.play, step.jump ? " and jump" : "", step.n,
				(unsigned long)sets[0].w.in_flight, status);
		return;
	}
	alarm(100);	/* a hang, not a busy machine */
	step.child = true;
	step.answered = !(load_relaxed(&sets[0].w.in_flight) & SP_IN_PAPI);
	u->uc_mcontext.gregs[REG_EFL] &= ~0x100ll;
	work_much();
	play(step.play, step.cpu);
	if (step.jump)
		siglongjmp(step.out, 1);
}

/* A call that was jumped out of has handed out nothing. */
static void take_back(long long was[2][K])
{
	memcpy(handed[ORDINARY], was[0], sizeof(was[0]));
	for (int e = 0; e < K; e++)
		last[ORDINARY][e] = sp_min(last[ORDINARY][e], was[1][e]);
}

static void step_through(enum sp_op op, int cpu)
{
	long long was[2][K];

	memcpy(was[0], handed[ORDINARY], sizeof(was[0]));
	memcpy(was[1], last[ORDINARY], sizeof(was[1]));
	step.op = op;
	step.n = 0;
	step.cpu = cpu;
	stepping = true;
	if (sigsetjmp(step.out, 1) == 0)
		call(op, cpu);
	else
		take_back(was);
	if (step.child)
		_exit(after_handler());
}

static const struct {
	enum sp_op op;
	int cpu;
} script[] = {
	{ SP_OP_START, 0 }, { SP_OP_READ, 0 }, { SP_OP_READ, 0 }, { SP_OP_READ, 1 },
	{ SP_OP_ACCUM, 1 },
	{ SP_OP_READ, 1 }, { SP_OP_READ, 1 }, { SP_OP_RESET, 0 }, { SP_OP_READ, 0 },
	{ SP_OP_STOP, 2 },
};

static void step_script(const char *letters, bool jump)
{
	begin_sets();
	step.play = letters;
	step.jump = jump;
	for (unsigned i = 0; i < SP_COUNT(script); i++) {
		work_much();
		/* (What PAPI had handed out for another call than a reading may be lost with the
		 * jump.) */
		if (!jump || script[i].op == SP_OP_READ)
			step_through(script[i].op, script[i].cpu);
		else
			call(script[i].op, script[i].cpu);
		assert_int_equal(wrong(false), 0);
	}
	sp_store_close(&store);
}

static void step_all(const char *const *all, unsigned n, bool jump)
{
	struct sigaction a = { .sa_sigaction = stepped, .sa_flags = SA_SIGINFO }, old;

	memset(&step, 0, sizeof(step));
	/* Over all handlers and windows each instruction has its turn. */
	step.each = SLOW_BUILD > 1 ? 211 : getenv("UNITS_WHOLE") ? 11 : 31;
	sigaction(SIGTRAP, &a, &old);
	for (step.which = 0; step.which < n; step.which += SLOW_BUILD > 1 ? 5 : 1)
		for (windows = OPEN; windows <= SPLIT; windows++)
			step_script(all[step.which], jump);
	windows = OPEN;
	sigaction(SIGTRAP, &old, NULL);
	print_message("%d of %d handlers went wrong\n", step.failed, step.done);
	assert_true(step.done > (SLOW_BUILD > 1 ? 10 : 500));
	assert_int_equal(step.failed, 0);
}

static void nested_at_each_instruction(void **state)
{
	(void)state;
	step_all(handlers, SP_COUNT(handlers), false);
}

static void jump_at_each_instruction(void **state)
{
	static const char *const before[] = { "", "R", "A" };

	(void)state;
	step_all(before, SP_COUNT(before), true);
}
#endif

/* ---- jumps --------------------------------------------------------------------------- */

static sigjmp_buf out;

static __attribute__((noinline)) void leave_call(enum sp_op op)
{
	assert_true(book_begin(&sets[0].w, op));
	siglongjmp(out, 1);
}

static __attribute__((noinline)) void read_deeper(void)
{
	volatile char frame[4096];

	memset((char *)frame, 1, sizeof(frame));
	call(SP_OP_READ, 0);
	__asm__ volatile("" :: "r"(frame) : "memory");
}

/* The frame of the call that was left is gone, though later calls are below it: they are not nested
 * in it. */
static void goes_on_deeper(void **state)
{
	(void)state;
	begin_sets();
	call(SP_OP_START, 0);
	work_much();
	if (sigsetjmp(out, 1) == 0)
		leave_call(SP_OP_READ);
	read_deeper();
	assert_int_equal(nested, 0);
	assert_int_equal(wrong(false), 0);
	assert_false(sets[0].w.relation->flags & SP_RELATION_UNSURE);
	if (sigsetjmp(out, 1) == 0)
		leave_call(SP_OP_RESET);
	read_deeper();
	assert_int_equal(wrong(false), 0);
	assert_true(sets[0].w.relation->flags & SP_RELATION_UNSURE);
	sp_store_close(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_in_papi),
		cmocka_unit_test(nested_estimates),
#if STEPS
		cmocka_unit_test(nested_at_each_instruction),
		cmocka_unit_test(jump_at_each_instruction),
#endif
		cmocka_unit_test(goes_on_deeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
