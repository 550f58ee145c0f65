/* t-records-handlers.c: store/records.h: bookings on top of bookings (at every single instruction, and by
 * a timer), jumps out of them, and what is put aside meanwhile.
 */
#include "record-sets.h"
#include "stepping.h"

#include <sys/wait.h>
#include <ucontext.h>

/* ---- one booking on top of another ---------------------------------------- */

static inline bool in_flight(void)
{
	return __atomic_load_n(&sets[0].w.in_flight, __ATOMIC_RELAXED) != 0;
}

/* PAPI has answered, and the call is being booked. */
static inline bool busy(void)
{
	return in_flight() && !(__atomic_load_n(&sets[0].w.in_flight, __ATOMIC_RELAXED) & SP_IN_PAPI);
}

/* What the main thread's windows are. */
static enum windows { OPEN, PROVEN, SPLIT, WINDOWS } windows;

static __attribute__((noinline)) void book_main(enum sp_op op, int cpu, const long long *x)
{
	if (windows == SPLIT && has_values(op))
		book_end_parts(&sets[0].w, op, cpu, x, &parts_somewhere, 0);
	else
		book_end(&sets[0].w, op, cpu, has_values(op) ? x : NULL, windows == PROVEN, 0);
}

static bool stepping;
static bool on_top;		/* the call itself is a handler's, on top of a booking */

/* At every instruction of a booking: the trap flag stops there, a child is forked
 * that plays a handler's part and checks what came of it. */
static struct {
	int n;				/* instructions so far */
	enum sp_op op;
	uint64_t booked;		/* before */
	bool child, jump;
	unsigned which;			/* of the handlers: not each plays at each instruction */
	const char *play;
	int cpu;
	sigjmp_buf out;
	int failed, done;
} step;

/* A PAPI call and its booking, as an application's wrapper makes them; stepped from where it is told apart from handlers' on
 * top of it. */
static __attribute__((noinline)) void call(enum sp_op op, int cpu)
{
	struct papi *p = &sets[0].papi;
	long long x[KMAX] = { 0 };
	bool stepped = stepping, begun;

	stepping = false;
	if (stepped && on_top)
		STEP_ON();
	begun = book_begin(&sets[0].w, op);
	STEP_OFF();
	assert_true(begun);
	for (int e = 0; e < p->k; e++)
		papi_work(p, e, 1 + e);
	papi_call(p, op, x);
	if (stepped && !step.child)
		STEP_ON();
	book_main(op, cpu, x);
	STEP_OFF();
}

/* What a handler does, as letters.  S start, P stop, R read here, O read on
 * another CPU, A accum, Z reset. */
static void play(const char *s, int cpu)
{
	static const char letters[] = "SRPAZ";

	for (; *s; s++) {
		enum sp_op op = *s == 'O' ? SP_OP_READ : (enum sp_op)(strchr(letters, *s) - letters);

		if (op == SP_OP_STOP && !sets[0].papi.running)
			continue;
		call(op, *s == 'O' ? (cpu + 1) % DENSE : cpu);
	}
}

static const char *const plays[] = { "R", "O", "A", "Z", "ZR", "PS", "AA", "RZRR", "OAOR", "PSRO", "RPZSRZR" };
#define SHORT_PLAYS 7			/* the first: whatever else the machine does, the booking goes on between two of them */

/* A booking goes aside while `in_flight` says that one is under way below us. */
static void pretend_interrupted(bool on)
{
	sets[0].w.in_flight = on ? SP_FRAME | SP_OP_READ : 0;
}

#if STEPS
static int64_t count_at(int cpu, int e, bool exact)
{
	struct sp_model m;
	struct sp_row row = { 0 };
	struct sp_at_cpu at;
	int64_t v = 0;

	if (sp_model_open(&m, &store.image) < 0 || !sp_model_next(&m, &row))
		return -1;
	for (uint32_t i = 0; sp_row_cell(&m, &row, i, &at); i++)
		if (at.cpu == cpu)
			v = (exact ? at.exact : at.total)[e];
	sp_model_close(&m);
	return v;
}

static int64_t total_at(int cpu, int e)
{
	return count_at(cpu, e, false);
}

/* Another after each call. */
static uint64_t booked(void)
{
	const struct sp_writer *w = &sets[0].w;

	return w->number * 1000 + (w->last ? w->last->count : 0);
}

/* May the handler's part be told apart from the booking that it interrupts?
 * Not where PAPI has returned and the booking has not begun: nothing can.  There
 * only readings between readings go well, since their sum telescopes. */
static bool ordered(void)
{
	if (busy() || booked() != step.booked)
		return true;
	return (step.op == SP_OP_READ || step.op == SP_OP_STOP) && strspn(step.play, "RO") == strlen(step.play);
}

static void stepped(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	int status;
	pid_t pid;

	(void)sig;
	(void)info;
	step.n++;
	if (step.jump ? !busy() : !ordered())
		return;
	if (((unsigned)step.n + step.which) % (SLOW_BUILD > 1 ? 211 : windows ? 61 : step.jump ? 4 : 11))
		return;
	pid = fork();
	if (pid) {
		waitpid(pid, &status, 0);
		step.done++;
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			if (step.failed++ < 8)
				print_message("op %d, handler %s%s, instruction %d, busy %d: status %x\n", step.op,
					      step.play, step.jump ? " and jump" : "", step.n, busy(), status);
		}
		return;
	}
	alarm(100);	/* a hang, not a busy machine */
	step.child = true;
	u->uc_mcontext.gregs[REG_EFL] &= ~0x100ll;
	play(step.play, step.cpu);
	if (step.jump)
		siglongjmp(step.out, 1);
}

/* What a child found: its exit status. */
static int after_handler(void)
{
	call(SP_OP_READ, step.cpu);
	if (wrong_sum())
		return 1;
	sp_records_fold(&sets[0].w);
	if (wrong_sum())
		return 2;
	return in_flight() || sets[0].w.levels || sets[0].w.holder || (sets[0].w.slow & SP_SLOW_OVER) ? 3 : 0;
}

/* Another thread reads behind a booking that the owner has jumped out of: of its window nothing is exact, whatever that
 * booking's was. */
static inline bool foreign_after_jump(void)
{
	struct papi *p = &sets[0].papi;
	long long x[KMAX] = { 0 };
	int64_t exact = count_at(3, 0, true);

	papi_work(p, 0, 7);
	papi_call(p, SP_OP_READ, x);
	book_foreign(&sets[0].w, SP_OP_READ, 3, x, NULL, 0, 2);
	return count_at(3, 0, true) == exact && !wrong_sum();
}

/* After a jump out all goes on as ever: per CPU, nothing aside. */
static inline __attribute__((always_inline)) int after_jump(void)
{
	struct papi *p = &sets[0].papi;
	int64_t here, there;

	windows = OPEN;
	if (step.n % 389 == 0 && !foreign_after_jump())		/* (it waits) */
		return 8;
	call(SP_OP_READ, step.cpu);
	if (wrong_sum())
		return 4;
	if (in_flight() || (sets[0].w.slow & SP_SLOW_OVER))
		return 5;
	if (!p->running)
		return 0;
	here = total_at(step.cpu, 0);
	there = total_at((step.cpu + 1) % DENSE, 0);
	call(SP_OP_READ, (step.cpu + 1) % DENSE);
	call(SP_OP_READ, step.cpu);
	call(SP_OP_READ, step.cpu);
	if (total_at(step.cpu, 0) != here + 2 || total_at((step.cpu + 1) % DENSE, 0) != there + 1)
		return 6;
	return wrong_sum() ? 7 : 0;
}

static __attribute__((noinline)) void step_through(enum sp_op op, int cpu, const char *handler, bool jump)
{
	step.n = 0;
	step.op = op;
	step.cpu = cpu;
	step.play = handler;
	step.jump = jump;
	step.booked = booked();
	stepping = true;
	if (on_top)
		pretend_interrupted(true);
	if (sigsetjmp(step.out, 1) == 0)
		call(op, cpu);
	if (on_top) {
		if (!step.child)
			STEP_ON();
		sp_records_take_behind(&sets[0].w);
		STEP_OFF();
		sp_records_end(&sets[0].w);
	}
	if (step.child)
		_exit(jump ? after_jump() : after_handler());
}

static const struct {
	enum sp_op op;
	int cpu;
} script[] = {
	{ SP_OP_START, 0 }, { SP_OP_READ, 0 }, { SP_OP_READ, 0 }, { SP_OP_READ, 1 }, { SP_OP_ACCUM, 1 },
	{ SP_OP_READ, 1 }, { SP_OP_READ, 1 }, { SP_OP_RESET, 0 }, { SP_OP_READ, 0 }, { SP_OP_STOP, 2 },
};

static void step_script(const char *handler, bool jump)
{
	open_sets(1, 2, 0, DENSE);
	for (unsigned i = 0; i < SP_COUNT(script); i++) {
		if (!jump || script[i].op == SP_OP_READ || script[i].op == SP_OP_STOP)
			step_through(script[i].op, script[i].cpu, handler, jump);
		else
			call(script[i].op, script[i].cpu);
		assert_int_equal(wrong_sum(), 0);
	}
	sp_store_close(&store);
}

static void step_all(const char *const *handlers, unsigned n, bool jump)
{
	struct sigaction a = { .sa_sigaction = stepped, .sa_flags = SA_SIGINFO }, old;

	memset(&step, 0, sizeof(step));
	sigaction(SIGTRAP, &a, &old);
	for (step.which = 0; step.which < n; step.which += SLOW_BUILD > 1 ? 5 : 1)
		for (windows = OPEN; windows < WINDOWS; windows += jump ? 1 : SPLIT)
			step_script(handlers[step.which], jump);
	windows = OPEN;
	sigaction(SIGTRAP, &old, NULL);
	print_message("%d of %d handlers went wrong\n", step.failed, step.done);
	assert_true(step.done > (SLOW_BUILD > 1 ? 10 : 500));
	assert_int_equal(step.failed, 0);
}

static void handler_at_each_instruction(void **state)
{
	(void)state;
	step_all(plays, SP_COUNT(plays), false);
}

static void handler_on_a_handler(void **state)
{
	static const char *const handlers[] = { "R", "O", "RO" };

	(void)state;
	on_top = true;
	step_all(handlers, SP_COUNT(handlers), false);
	on_top = false;
}

static void jump_at_each_instruction(void **state)
{
	static const char *const handlers[] = { "", "R" };

	(void)state;
	step_all(handlers, SP_COUNT(handlers), true);
}
#endif

/* ---- by a timer ------------------------------------------------------------ */

#ifndef __SANITIZE_THREAD__	/* it delivers signals late, at some later call, whatever the mask is then */
static struct {
	volatile sig_atomic_t in_papi, pending, between;
	volatile enum sp_op op;
	volatile bool jump;
	volatile uintptr_t left;	/* what a jump left in `in_flight`: while it stands there, no booking is under way */
	volatile unsigned long hits, on_top, after_jump, jumps;
	volatile unsigned long calls, most;	/* on top of the booking under way; of one booking at most */
	sigjmp_buf out;
} timed;

static bool booking(void)
{
	return busy() && sp_get(&sets[0].w.in_flight) != timed.left;
}

static void timer_handler(int sig)
{
	uint64_t mine = seed;
	const char *what;

	(void)sig;
	if (timed.in_papi)
		return;
	timed.hits++;
	timed.on_top += booking();
	timed.after_jump += booking() && timed.left;
	seed = timed.hits;
	what = plays[rnd(SHORT_PLAYS)];
	if (timed.pending && !booking()) {
		bool reading = timed.op == SP_OP_READ || timed.op == SP_OP_STOP;

		what = reading && !timed.jump ? "RO" : "";
		timed.between = 1;
	}
	else if (timed.between)		/* a zeroing before that next reading could not be booked exactly either */
		what = "";
	if (booking()) {
		timed.calls += strlen(what) + 1;
		timed.most = timed.calls > timed.most ? timed.calls : timed.most;
	}
	if (timed.jump && booking())	/* PAPI handed out what the jump may leave unbooked: read it again */
		play("R", (int)rnd(DENSE));
	play(what, (int)rnd(DENSE));
	seed = mine;
	if (timed.jump && timed.pending && booking() && timed.op == SP_OP_READ) {
		timed.jumps++;
		timed.left = sp_get(&sets[0].w.in_flight);
		siglongjmp(timed.out, 1);
	}
}

/* The same some frames further down, so that what is left in `in_flight` can be told from
 * what the next booking puts there. */
static __attribute__((noinline)) void book_deeper(enum sp_op op, int cpu, const long long *x)
{
	volatile char room[96];

	room[0] = 0;
	book_main(op, cpu, x);
	(void)room[0];
}

static enum sp_op timed_op(void)
{
	enum sp_op op = rnd(3) ? SP_OP_READ : (enum sp_op)rnd(SP_OP_WRITE);

	return op == SP_OP_STOP && !sets[0].papi.running ? SP_OP_START : op;
}

static void timed_call(const enum sp_op op, int cpu)
{
	static volatile unsigned n;
	struct papi *p = &sets[0].papi;
	long long x[KMAX] = { 0 };

	n++;
	timed.in_papi = 1;
	sp_order();
	if (!in_flight())
		timed.left = 0;
	assert_true(book_begin(&sets[0].w, op));
	for (int e = 0; e < p->k; e++)
		papi_work(p, e, 1 + e);
	papi_call(p, op, x);
	timed.op = op;
	timed.calls = 0;
	timed.pending = 1;
	sp_order();
	timed.in_papi = 0;
	sp_order();
	if (sigsetjmp(timed.out, 1) == 0)
		(n & 1 ? book_main : book_deeper)(op, cpu, x);
	timed.pending = 0;
	sp_order();
	if (!timed.between)
		return;
	/* It read after us and booked before us: the sum is right from the next reading on. */
	timed.in_papi = 1;
	sp_order();
	timed.between = 0;
	call(SP_OP_READ, cpu);
	sp_order();
	timed.in_papi = 0;
}

static void under_timer(bool jump, int flags, double seconds)
{
	double end = now() + seconds;
	timer_t timer;

	memset(&timed, 0, sizeof(timed));
	timed.jump = jump;
	seed = 7;
	open_sets(1, 3, 0, DENSE);
	timed.in_papi = 1;
	call(SP_OP_START, 0);
	start_timer(&timer, timer_handler, 40000 + rnd(30000), flags);
	while (now() < end) {
		for (int i = 0; i < 500; i++)
			timed_call(timed_op(), (int)rnd(DENSE));
	}
	timed.in_papi = 1;
	sp_order();
	timer_delete(timer);
	signal(SIGALRM, SIG_IGN);
	call(SP_OP_READ, 0);
	print_message("%lu handlers, %lu on top of a booking, %lu jumps, %lu on top of the next\n", timed.hits,
		      timed.on_top, timed.jumps, timed.after_jump);
	/* Where handlers come faster than a booking ends (sanitized, on a busy machine) there is no room for all that they do. */
	assert_true(!wrong_sum() || (timed.most > 9 && sets[0].w.relation->flags & SP_RELATION_UNSURE));
	assert_false(in_flight());
	assert_int_equal(sets[0].w.slow & SP_SLOW_OVER, 0);
	assert_true(timed.on_top > 0);
	sp_store_close(&store);
}

static void handler_by_timer(void **state)
{
	(void)state;
	under_timer(false, 0, 0.6);
}

static void handler_that_jumps(void **state)
{
	(void)state;
	under_timer(true, 0, 0.4);
}

static void handler_on_its_own_stack(void **state)
{
	static char memory[65536];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) }, old;

	(void)state;
	sigaltstack(&stack, &old);
	under_timer(false, SA_ONSTACK, 0.4);
#ifndef __SANITIZE_ADDRESS__	/* cannot follow a jump off another stack */
	under_timer(true, SA_ONSTACK, 0.3);
#endif
	sigaltstack(&old, NULL);
}
#endif

/* ---- aside ------------------------------------------------------------------- */

static void aside_then_settled(uint32_t keeps, const char *before, const char *during)
{
	open_sets(1, 2, keeps, DENSE);
	call(SP_OP_START, 0);
	play(before, 0);
	pretend_interrupted(true);
	for (const char *s = during; *s; s++) {
		play((char[]){ *s, 0 }, 0);
		assert_int_equal(wrong_sum(), 0);
	}
	pretend_interrupted(false);
	sp_records_take_behind(&sets[0].w);
	assert_int_equal(wrong_sum(), 0);
	play("ROR", 0);
	assert_int_equal(wrong_sum(), 0);
	sp_store_close(&store);
}

/* What lies aside counts in the model before it is added in, as after. */
static void aside(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SP_COUNT(plays); i++) {
		aside_then_settled(0, "", plays[i]);
		aside_then_settled(0, "ROR", plays[i]);
		aside_then_settled(0, "RP", plays[i]);
		aside_then_settled(0, "RPS", plays[i]);
		aside_then_settled(0, "RA", plays[i]);
	}
}

static void aside_kept(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SP_COUNT(plays); i++) {
		aside_then_settled(SP_KEEPS_ON_RESET, "ROR", plays[i]);
		aside_then_settled(SP_KEEPS_ON_RESET | SP_KEEPS_ON_START, "ROR", plays[i]);
		aside_then_settled(SP_KEEPS_ON_RESET | SP_KEEPS_ON_START, "", plays[i]);
	}
}

/* Killed while a handler's reading lies on top of a call that has zeroed and is not booked yet: it counts from there. */
static void aside_of_a_zeroing(void **state)
{
	static const struct {
		const char *before;
		enum sp_op op;
	} under[] = { { "RO", SP_OP_RESET }, { "ROP", SP_OP_START } };

	(void)state;
	for (unsigned i = 0; i < SP_COUNT(under); i++) {
		open_sets(1, 2, 0, DENSE);
		call(SP_OP_START, 0);
		play(under[i].before, 0);
		papi_call(&sets[0].papi, under[i].op, NULL);
		sets[0].w.in_flight = SP_FRAME | under[i].op;
		play("R", 0);
		assert_int_equal(wrong_sum(), 0);
		sp_store_close(&store);
	}
}

static void aside_write(void **state)
{
	long long x[KMAX] = { 5, 5 };

	(void)state;
	open_sets(1, 2, 0, DENSE);
	call(SP_OP_START, 0);
	call(SP_OP_READ, 0);
	pretend_interrupted(true);
	assert_true(book_begin(&sets[0].w, SP_OP_WRITE));
	papi_call(&sets[0].papi, SP_OP_WRITE, x);
	book_end(&sets[0].w, SP_OP_WRITE, 0, x, false, 0);
	pretend_interrupted(false);
	sp_records_take_behind(&sets[0].w);
	call(SP_OP_READ, 0);
	assert_int_equal(wrong_sum(), 0);
	sp_store_close(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if STEPS
		cmocka_unit_test(handler_at_each_instruction),
		cmocka_unit_test(handler_on_a_handler),
		cmocka_unit_test(jump_at_each_instruction),
#endif
#ifndef __SANITIZE_THREAD__
		cmocka_unit_test(handler_by_timer),
		cmocka_unit_test(handler_that_jumps),
		cmocka_unit_test(handler_on_its_own_stack),
#endif
		cmocka_unit_test(aside),
		cmocka_unit_test(aside_kept),
		cmocka_unit_test(aside_of_a_zeroing),
		cmocka_unit_test(aside_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
