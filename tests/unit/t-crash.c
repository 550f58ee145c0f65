/* t-crash.c: a process may be killed at any instruction of a booking: at each of
 * them its store reads as before the booking or as after it.
 *
 * A child books a script; its parent single-steps it, copies its store's bytes
 * after every instruction and opens the model on the copy.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../core/model/model.h"
#include "../../core/store/interval.h"
#include "../../core/store/readings.h"
#include "../../core/store/store.h"
#include "book.h"
#include "stepping.h"

/* The store is looked at after so many instructions: after each one in a plain build, but on an
 * emulated machine, which takes more than a hundred times as long. */
#if defined(__SANITIZE_ADDRESS__)
static int each = 8;
#else
static int each = 1;
#endif

#define K	3
#define CPUS	4
#define OPS	64
#define INTERVALS 14	/* few enough that some get no room */

struct seen {			/* one CPU, as the model tells */
	uint64_t readings;
	bool has;
	int64_t total[K], exact[K], entry[K];
};

#define SITES	3		/* and 0 */

struct view {
	struct seen at[CPUS + 1];	/* the last: elsewhere */
	int64_t total[K];
	int32_t latest;			/* the CPU of the last reading */
	int64_t kept, value[OPS];	/* permanent readings: their first event's */
	uint32_t from[OPS], to[OPS];	/* and their call sites */
	/* Of an interval: its count, totals, exact. */
	int64_t pair[SITES + 1][SITES + 1][CPUS + 1][1 + 2 * K];
};

struct step {
	enum sp_op op;
	int cpu;
	long long x[K];
	bool nests;		/* a handler calls PAPI for the set in it: */
	enum sp_op nested;
	bool fold;		/* nothing but that */
	bool proven;
	bool split;		/* its window was: n parts, the rest is the CPU's */
	bool foreign;		/* by another thread */
	uint32_t n;
	int32_t of[CPUS];
	int64_t at[CPUS * K];
	bool exact[K];
};

static struct sp_store store;
static struct sp_writer writer;
static struct sp_relation *relation;
static uint32_t slots[64];
static bool permanent;		/* every reading is kept */
static bool timed;		/* the run time is measured */
static struct sp_log readings;
static unsigned char copy[1 << 16] __attribute__((aligned(64)));
static struct shared {
	volatile int op;	/* under way */
} *shared;

/* ---- the store ------------------------------------------------------------ */

static void make_store(void)
{
	struct sp_component c[CPUS + 1] = { { .parent = -1, .type = "Machine" } };
	struct sp_relation_key key = { .k = K, .event = (const uint32_t[]){ 0, 1, 2 } };
	sp_off thread, off;

	assert_int_equal(sp_store_open(&store), 0);
	store.header->callsites = 1;
	for (int i = 0; i < CPUS; i++)
		c[i + 1] = (struct sp_component){ .os_index = i, .type = "PU" };
	assert_int_equal(sp_store_topology(&store, c, CPUS + 1, CPUS, "flat", NULL, 0), 0);
	for (int e = 0; e < K; e++)
		assert_int_equal(sp_store_event(&store, &(struct sp_event_text){ .name = "EV" }),
				 e);
	assert_non_null(sp_store_thread(&store, 1, "t", &thread));
	relation = sp_store_relation(&store, thread, &key, NULL, NULL, &off);
	assert_non_null(relation);
	sp_records_bind(&writer, &store.reader, off, K, relation->cells, NULL);
	assert_non_null(sp_store_intervals(&store, relation, K, INTERVALS));
	sp_records_intervals(&writer, slots, SP_COUNT(slots));
	if (timed)
		sp_records_time_runs(&writer);
	if (permanent) {
		sp_log_open(&readings, &store, relation, K, 1000);
		sp_records_log(&writer, &readings, SP_ENTRIES_PERMANENT, true);
	}
	assert_int_equal(store.region.pieces, 1);
	assert_true(store.region.used <= sizeof(copy));
}

static void read_intervals(struct sp_model *m, struct sp_row *row, struct view *v)
{
	struct sp_interval_counts at;

	for (uint32_t i = 0; sp_row_interval(m, row, i, &at); i++) {
		int cpu = at.cpu >= 0 && at.cpu < CPUS ? at.cpu : CPUS;
		int64_t *is = v->pair[at.from][at.to][cpu];

		assert_true(at.from <= SITES && at.to <= SITES);
		is[0] = (int64_t)at.count;
		memcpy(is + 1, at.total, K * sizeof(int64_t));
		memcpy(is + 1 + K, at.exact, K * sizeof(int64_t));
	}
}

/* Whole ones only: the script's events count 1, 10 and 100 of the same. */
static void read_kept(struct sp_model *m, struct sp_row *row, struct view *v)
{
	struct sp_kept at = { 0 };
	uint64_t ns = 0;

	for (; sp_row_kept(m, row, &at); v->kept++, ns = at.ns)
		if (!permanent || at.ns <= ns || at.cpu < 0 || at.cpu >= CPUS ||
		    at.value[1] != 10 * at.value[0] || at.value[2] != 100 * at.value[0] ||
		    v->kept >= OPS)
			fail_msg("reading %ld is not whole", (long)v->kept);
		else {
			v->value[v->kept] = at.value[0];
			v->from[v->kept] = at.from;
			v->to[v->kept] = at.to;
		}
}

static void read_row(struct sp_model *m, struct view *v)
{
	struct sp_row row = { 0 };
	struct sp_at_cpu at;

	assert_true(sp_model_next(m, &row));
	v->latest = row.latest_cpu;
	if (timed && row.run_ns > row.last_ns - row.first_ns)
		fail_msg("a run time of %ld ns", (long)row.run_ns);
	for (uint32_t i = 0; sp_row_cell(m, &row, i, &at); i++) {
		struct seen *s = &v->at[at.cpu >= 0 && at.cpu < CPUS ? at.cpu : CPUS];

		s->readings = at.readings;
		s->has = at.has_entry;
		memcpy(s->total, at.total, sizeof(s->total));
		memcpy(s->exact, at.exact, sizeof(s->exact));
		if (s->has)
			memcpy(s->entry, at.entry, sizeof(s->entry));
		for (int e = 0; e < K; e++)
			if (at.exact[e] > at.total[e])
				fail_msg("exact is more than total");
	}
	read_intervals(m, &row, v);
	read_kept(m, &row, v);
}

static void look(const unsigned char *bytes, struct view *v)
{
	struct sp_store_reader reader = { .base = bytes, .bytes = store.region.used };
	struct sp_model m;

	memset(v, 0, sizeof(*v));
	assert_int_equal(sp_model_open(&m, &reader), 0);
	assert_int_equal(m.tally.damaged, 0);
	read_row(&m, v);
	memcpy(v->total, m.sums.total, sizeof(v->total));
	sp_model_close(&m);
}

/* ---- the child -------------------------------------------------------------- */

/* 1, 2 and 3, often the one before. */
static uint32_t site_of(const struct step *s)
{
	return 1 + (uint32_t)(s->x[0] / 3 % SITES);
}

/* Of an event all or none. */
static void newly_proven(const struct step *s, int64_t *proven)
{
	for (int e = 0; e < K; e++) {
		int64_t rest = s->x[e] - writer.values[e];

		for (uint32_t i = 0; i < s->n; i++) {
			proven[i * K + (uint32_t)e] = s->exact[e] ? s->at[i * K + (uint32_t)e] : 0;
			rest -= s->at[i * K + (uint32_t)e];
		}
		proven[s->n * K + (uint32_t)e] = s->exact[e] ? rest : 0;
	}
}

static void run_split(const struct step *s)
{
	int64_t proven[(CPUS + 1) * K];
	const struct sp_parts parts = { .n = s->n, .cpu = s->of, .at = s->at, .proven = proven };

	newly_proven(s, proven);

	if (s->foreign)
		book_foreign(&writer, s->op, s->cpu, s->x, &parts, site_of(s), 2);
	else
		book_parts(&writer, s->op, s->cpu, s->x, &parts, site_of(s));
}

static __attribute__((noinline)) void call_nested(enum sp_op op)
{
	assert_false(book_begin(&writer, op));
	if (op != SP_OP_READ)
		sp_records_missed(&writer, op, BOOK_OWNER);
}

/* Its frame is as far below as a signal's. */
static __attribute__((noinline)) void handle(enum sp_op op)
{
	char frame[2048];

	__asm__ volatile("" :: "r"(frame) : "memory");	/* (clang would keep one of its bytes) */
	call_nested(op);
	__asm__ volatile("" :: "r"(frame) : "memory");
}

static __attribute__((noinline)) void run_nested(const struct step *s, const long long *x)
{
	assert_true(book_begin(&writer, s->op));
	handle(s->nested);
	book_end(&writer, s->op, s->cpu, x, s->proven, site_of(s));
}

/* Only here, and the same in the parent's dry run. */
static __attribute__((noinline)) void run(const struct step *s)
{
	const long long *x = s->op == SP_OP_START || s->op == SP_OP_RESET ? NULL : s->x;

	if (s->fold)
		sp_records_fold(&writer);
	else if (s->split)
		run_split(s);
	else if (s->nests)
		run_nested(s, x);
	else
		book_call(&writer, s->op, s->cpu, x, s->proven, site_of(s));
}

static void child(const struct step *script, int n)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	for (int i = 0; i < n; i++) {
		shared->op = i;
		run(&script[i]);
	}
	shared->op = n;
	_exit(0);
}

/* ---- the parent ------------------------------------------------------------- */

static bool same(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct seen)) == 0;
}

static bool between(int64_t v, int64_t a, int64_t b)
{
	return v == a || v == b;
}

/* A booking that stores value by value, and nothing else: each old or new. */
static bool each_old_or_new(const struct view *v, const struct view *a, const struct view *b)
{
	for (int c = 0; c <= CPUS; c++) {
		const struct seen *s = &v->at[c], *o = &a->at[c], *n = &b->at[c];

		if (!between((int64_t)s->readings, (int64_t)o->readings, (int64_t)n->readings))
			return false;
		for (int e = 0; e < K; e++)
			if (!between(s->total[e], o->total[e], n->total[e]) ||
			    (s->has && !between(s->entry[e], o->entry[e], n->entry[e])))
				return false;
	}
	return true;
}

/* What is exact goes down first in such a booking, and up with the total. */
static bool each_interval(const struct view *v, const struct view *a, const struct view *b)
{
	const int64_t *is = (const int64_t *)v->pair, *old = (const int64_t *)a->pair,
		      *new = (const int64_t *)b->pair;

	for (size_t i = 0; i < sizeof(v->pair) / sizeof(*is); i += 1 + 2 * K)
		for (int e = 0; e <= K; e++)
			if (!between(is[i + e], old[i + e], new[i + e]) ||
			    (e && is[i + e + K] > is[i + e]))
				return false;
	return true;
}

/* All before, or all after. */
static bool one_commit(const struct view *v, const struct view *a, const struct view *b)
{
	return memcmp(v, a, sizeof(*v)) == 0 || memcmp(v, b, sizeof(*v)) == 0;
}

/* Whether the relation is unsure, and which value is the first behind that, the sums do not
 * show. */
static bool sums_hold(const struct view *v, const struct view *a, const struct view *b)
{
	for (int e = 0; e < K; e++)
		if (!between(v->total[e], a->total[e], b->total[e]))
			return false;
	return true;
}

/* A split window: all of it on the CPU of the reading, from where part by part goes to its own CPU.
 * No count is lost, none is there twice; of an event what is exact comes with a part's counts, or
 * behind them. */
static bool in_parts(const struct step *s, const struct view *v, const struct view *a,
		     const struct view *b)
{
	if (v->latest != a->latest && v->latest != b->latest)
		return false;
	for (int e = 0; e < K; e++) {
		int64_t sum = 0;

		for (int c = 0; c <= CPUS; c++) {
			int64_t t = v->at[c].total[e];

			sum += t;
			if (t < a->at[c].total[e] || (t > b->at[c].total[e] && c != s->cpu) ||
			    !between(v->at[c].exact[e], a->at[c].exact[e], b->at[c].exact[e]))
				return false;
		}
		if (sum != v->total[e] || !between(sum, a->total[e], b->total[e]))
			return false;
	}
	return true;
}

static bool is_short(const struct step *s, const struct view *a, const struct view *b)
{
	int at = s->cpu < CPUS ? s->cpu : CPUS;
	bool moved = false;

	for (int c = 0; c <= CPUS; c++)
		moved |= c != at && !same(&a->at[c], &b->at[c]);
	return (s->op == SP_OP_READ || s->op == SP_OP_ACCUM) && !moved && a->at[at].has;
}

/* A reading is there before its counts, not a moment later; those before it stay. */
static bool kept_holds(const struct step *s, const struct view *v, const struct view *a,
		       const struct view *b)
{
	return b->kept == a->kept + (s->op != SP_OP_START && s->op != SP_OP_RESET) &&
	       (b->kept == a->kept || b->to[a->kept] == site_of(s)) &&
	       between(v->kept, a->kept, b->kept) &&
	       memcmp(v->value, b->value, (size_t)v->kept * sizeof(*v->value)) == 0 &&
	       memcmp(v->from, b->from, (size_t)v->kept * sizeof(*v->from)) == 0 &&
	       memcmp(v->to, b->to, (size_t)v->kept * sizeof(*v->to)) == 0;
}

static bool holds(const struct step *s, const struct view *v, const struct view *a,
		  const struct view *b)
{
	if (s->fold)
		return one_commit(v, a, b);
	if (permanent)
		return kept_holds(s, v, a, b) && each_old_or_new(v, a, b) && each_interval(v, a, b);
	if (s->nests)
		return sums_hold(v, a, b);
	if (s->split)
		return in_parts(s, v, a, b);
	return is_short(s, a, b) ? each_old_or_new(v, a, b) && each_interval(v, a, b)
				 : one_commit(v, a, b);
}

static void tell(const struct step *s, int i, int n, const struct view *v, const struct view *a,
		 const struct view *b)
{
	print_message("op %d (%d on CPU %d%s), instruction %d: total", i, s->op, s->cpu,
		      s->nests ? ", nested" : "", n);
	for (int e = 0; e < K; e++)
		print_message(" %ld (%ld or %ld)", (long)v->total[e], (long)a->total[e],
			      (long)b->total[e]);
	for (int c = 0; c <= CPUS; c++)
		print_message("; %ld of %ld, %ld", (long)v->at[c].total[0], (long)a->at[c].total[0],
			      (long)b->at[c].total[0]);
	print_message("\n");
}

/* Whether the child's store is another than the copy, which is renewed then. */
static bool copy_store(pid_t pid)
{
	static unsigned char now[sizeof(copy)];
	const size_t bytes = store.region.used;
	struct iovec to = { now, bytes }, from = { store.region.piece[0].at, bytes };

	assert_int_equal(process_vm_readv(pid, &to, 1, &from, 1, 0), bytes);
	if (memcmp(copy, now, bytes) == 0)
		return false;
	memcpy(copy, now, bytes);
	return true;
}

/* The states between operations: by a dry run in another child. */
static struct view *dry_run(const struct step *script, int n)
{
	struct view *v = mmap(NULL, sizeof(*v) * OPS, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	assert_true(v != MAP_FAILED && n < OPS);
	pid = fork();
	if (!pid) {
		look(store.region.piece[0].at, &v[0]);
		for (int i = 0; i < n; i++) {
			run(&script[i]);
			look(store.region.piece[0].at, &v[i + 1]);
		}
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	return v;
}

struct found {
	int instructions, wrong;
	bool changed[OPS];	/* the operation was seen done before it returned */
};

#if defined(__aarch64__)
#define EXCLUSIVE(code)	((code) & 0x3fc00000)
#define LOAD	0x08400000	/* ldxr and its like */
#define STORE	0x08000000
#define BRK	0xd4200000

static uint32_t code_at(pid_t pid, uint64_t at)
{
	uint64_t word = ptrace(PTRACE_PEEKTEXT, pid, at & -8UL, NULL);

	return word >> 8 * (at & 4);
}

static void put_code(pid_t pid, uint64_t at, uint64_t code)
{
	uint64_t word = ptrace(PTRACE_PEEKTEXT, pid, at & -8UL, NULL), shift = 8 * (at & 4);

	word = (word & ~(0xffffffffUL << shift)) | code << shift;
	assert_int_equal(ptrace(PTRACE_POKETEXT, pid, at & -8UL, word), 0);
}

static long run_to(pid_t pid, uint64_t at)
{
	uint32_t code = code_at(pid, at);
	int status;

	put_code(pid, at, BRK);
	assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	waitpid(pid, &status, 0);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	put_code(pid, at, code);
	return 1;
}

/* Two loops never end where each of their instructions is followed by a trap; each is one
 * instruction to us. Between a load and a store of the exclusive kind a trap lets the store fail (a
 * CPU without LSE, such as cortex-a72, has these). The other is the vDSO's (stepping.h). */
static long next_instruction(pid_t pid)
{
	struct user_regs_struct r;
	struct iovec regs = { &r, sizeof(r) };
	uint64_t at;

	assert_int_equal(ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &regs), 0);
	if (IN_VDSO(r.pc))
		return run_to(pid, r.regs[30]);
	if (EXCLUSIVE(code_at(pid, r.pc)) != LOAD)
		return ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
	for (at = r.pc + 4; EXCLUSIVE(code_at(pid, at)) != STORE;)
		at += 4;
	return run_to(pid, at + 8);	/* behind the branch back */
}
#elif defined(__x86_64__)
/* A call of the vDSO is one instruction to us (stepping.h). */
static long next_instruction(pid_t pid)
{
	struct user_regs_struct r;
	long code, back;
	int status;

	assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &r), 0);
	if (!IN_VDSO(r.rip))
		return ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
	back = ptrace(PTRACE_PEEKDATA, pid, r.rsp, NULL);	/* (it was called a moment ago) */
	code = ptrace(PTRACE_PEEKTEXT, pid, back, NULL);
	assert_int_equal(ptrace(PTRACE_POKETEXT, pid, back, (code & ~0xffL) | 0xcc), 0);
	assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	waitpid(pid, &status, 0);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	assert_int_equal(ptrace(PTRACE_POKETEXT, pid, back, code), 0);
	assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &r), 0);
	r.rip = (uint64_t)back;
	assert_int_equal(ptrace(PTRACE_SETREGS, pid, NULL, &r), 0);
	return 1;
}
#else
static long next_instruction(pid_t pid)
{
	return ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
}
#endif

static void step(pid_t pid, const struct step *script, int n, const struct view *v, struct found *f)
{
	int status, op = -1, in = 0;
	struct view now;

	memset(copy, 0, sizeof(copy));
	waitpid(pid, &status, 0);
	while (WIFSTOPPED(status)) {
		if (shared->op != op) {
			op = shared->op;
			in = 0;
		}
		if (op >= 0 && op < n && in++ % each == 0) {
			f->instructions++;
			if (copy_store(pid))	/* (few instructions write it) */
				look(copy, &now);
			f->changed[op] |= memcmp(&now, &v[op + 1], sizeof(now)) == 0;
			if (!holds(&script[op], &now, &v[op], &v[op + 1]) && f->wrong++ < 10)
				tell(&script[op], op, in, &now, &v[op], &v[op + 1]);
		}
		long stepped = next_instruction(pid);

		if (stepped < 0)
			break;
		if (stepped == 0)
			waitpid(pid, &status, 0);
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void killed_anywhere(const struct step *script, int n, const long long *sum)
{
	struct found f = { 0 };
	struct view *v;
	pid_t pid;

	make_store();
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	shared->op = -1;
	v = dry_run(script, n);
	for (int e = 0; e < K; e++)
		assert_int_equal(v[n].total[e], sum[e]);
	pid = fork();
	if (!pid)
		child(script, n);
	step(pid, script, n, v, &f);
	print_message("%d instructions, %d states that are neither\n", f.instructions, f.wrong);
	assert_true(f.instructions > 20 * n / each);
	for (int i = 0; i < n; i++)
		assert_true(f.changed[i] || script[i].fold);
	assert_int_equal(f.wrong, 0);
	munmap(shared, 4096);
	munmap(v, sizeof(*v) * OPS);
	sp_store_close(&store);
}

/* ---- scripts ------------------------------------------------------------------ */

#define X(a, b, c) { a, b, c }
#define RUN(script, a, b, c) \
	killed_anywhere(script, SP_COUNT(script), (const long long[])X(a, b, c))

static void one_thread(void **state)
{
	static const struct step script[] = {
		{ .op = SP_OP_START },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(10, 100, 1000) },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(11, 110, 1100) },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(13, 130, 1300), .proven = true },
		{ .op = SP_OP_READ, .cpu = 1, .x = X(17, 170, 1700) },
		{ .op = SP_OP_READ, .cpu = 1, .x = X(18, 180, 1800) },
		{ .op = SP_OP_ACCUM, .cpu = 1, .x = X(20, 200, 2000), .proven = true },
		{ .op = SP_OP_ACCUM, .cpu = 1, .x = X(3, 30, 300) },
		{ .op = SP_OP_RESET },
		{ .op = SP_OP_ACCUM, .cpu = 1, .x = X(4, 40, 400), .proven = true },
		{ .op = SP_OP_READ, .cpu = 1, .x = X(5, 50, 500) },
		{ .op = SP_OP_RESET },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(7, 70, 700) },
		{ .op = SP_OP_STOP, .cpu = 0, .x = X(9, 90, 900) },
		{ .op = SP_OP_START },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(1, 10, 100) },
		{ .op = SP_OP_STOP, .cpu = 2, .x = X(2, 20, 200) },
	};

	(void)state;
	RUN(script, 43, 430, 4300);
}

static void kept(void **state)
{
	permanent = true;
	one_thread(state);
	permanent = false;
}

static void with_run_time(void **state)
{
	timed = true;
	one_thread(state);
	timed = false;
}

/* By the short ways: from one site, on one CPU. */
static void kept_alike(void **state)
{
	static const struct step script[] = {
		{ .op = SP_OP_START },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(9, 90, 900), .proven = true },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(10, 100, 1000), .proven = true },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(11, 110, 1100), .proven = true },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(18, 180, 1800), .proven = true },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(19, 190, 1900), .proven = true },
		{ .op = SP_OP_STOP, .cpu = 0, .x = X(20, 200, 2000), .proven = true },
		{ .op = SP_OP_START },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(3, 30, 300), .proven = true },
	};

	(void)state;
	permanent = true;
	RUN(script, 23, 230, 2300);
	permanent = false;
	timed = true;
	RUN(script, 23, 230, 2300);
	timed = false;
}

/* Windows that were split. */
static void split(void **state)
{
	static const struct step script[] = {
		{ .op = SP_OP_START },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(10, 100, 1000) },
		{ .op = SP_OP_READ, .cpu = 1, .x = X(33, 330, 3300) },
		{ .op = SP_OP_READ,
		  .cpu = 0,
		  .x = X(60, 600, 6000),
		  .split = true,
		  .n = 2,
		  .of = { 2, 3 },
		  .at = { 5, 50, 500, 9, 0, 2200 },
		  .exact = { true, false, true } },
		{ .op = SP_OP_READ, .cpu = 1, .x = X(81, 810, 8100) },
		{ .op = SP_OP_READ,
		  .cpu = 2,
		  .x = X(90, 900, 9000),
		  .split = true,
		  .n = 1,
		  .of = { 1 },
		  .at = { 0 } },
		{ .op = SP_OP_READ,
		  .cpu = 2,
		  .x = X(91, 910, 9100),
		  .split = true,
		  .exact = { true, true, true } },
		{ .op = SP_OP_ACCUM,
		  .cpu = 0,
		  .x = X(99, 990, 9900),
		  .split = true,
		  .n = 2,
		  .of = { 2, 700 },
		  .at = { 1, 10, 100, 2, 0, 600 },
		  .exact = { true, true, true } },
		{ .op = SP_OP_STOP,
		  .cpu = 1,
		  .x = X(9, 90, 900),
		  .split = true,
		  .n = 3,
		  .of = { 0, 2, 3 },
		  .at = { 1, 10, 100, 2, 20, 200, 3, 30, 300 },
		  .exact = { false, true, false } },
	};

	(void)state;
	RUN(script, 108, 1080, 10800);
}

/* The same by another thread. */
static void split_elsewhere(void **state)
{
	static const struct step script[] = {
		{ .op = SP_OP_START },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(10, 100, 1000) },
		{ .op = SP_OP_READ,
		  .cpu = 1,
		  .x = X(33, 330, 3300),
		  .split = true,
		  .foreign = true,
		  .n = 2,
		  .of = { 2, 0 },
		  .at = { 5, 50, 500, 9, 0, 1800 },
		  .exact = { true, false, true } },
		{ .op = SP_OP_ACCUM,
		  .cpu = 1,
		  .x = X(66, 660, 6600),
		  .split = true,
		  .n = 1,
		  .of = { 0 },
		  .at = { 1, 10, 100 },
		  .exact = { true, true, true } },
		{ .op = SP_OP_STOP,
		  .cpu = 2,
		  .x = X(6, 60, 600),
		  .split = true,
		  .foreign = true,
		  .n = 1,
		  .of = { 3 },
		  .at = { 2, 20, 200 },
		  .exact = { true, true, true } },
	};

	(void)state;
	RUN(script, 72, 720, 7200);
}

/* CPUs that the topology lacks, and none. */
static void other_cpus(void **state)
{
	static const struct step script[] = {
		{ .op = SP_OP_START },
		{ .op = SP_OP_READ, .cpu = 700, .x = X(10, 100, 1000) },
		{ .op = SP_OP_READ, .cpu = 700, .x = X(11, 110, 1100) },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(13, 130, 1300) },
		{ .op = SP_OP_WRITE, .x = X(500, 600, 700) },
		{ .op = SP_OP_READ, .cpu = 700, .x = X(501, 602, 703) },
		{ .op = SP_OP_STOP, .cpu = 0, .x = X(502, 604, 706) },
	};

	(void)state;
	RUN(script, 15, 134, 1306);
}

/* Calls that are nested in others: what those are handed out tells what became of the set. */
static void nested(void **state)
{
	static const struct step script[] = {
		{ .op = SP_OP_START },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(10, 100, 1000) },
		{ .op = SP_OP_READ,
		  .cpu = 1,
		  .x = X(12, 120, 1200),
		  .nests = true,
		  .nested = SP_OP_READ },
		{ .op = SP_OP_READ, .cpu = 1, .x = X(13, 130, 1300), .proven = true },
		{ .op = SP_OP_READ,
		  .cpu = 2,
		  .x = X(3, 30, 300),
		  .nests = true,
		  .nested = SP_OP_RESET },
		{ .op = SP_OP_READ, .cpu = 2, .x = X(5, 50, 500) },
		{ .op = SP_OP_ACCUM,
		  .cpu = 1,
		  .x = X(7, 70, 700),
		  .nests = true,
		  .nested = SP_OP_ACCUM },
		{ .op = SP_OP_READ, .cpu = 1, .x = X(4, 40, 400) },
		{ .op = SP_OP_STOP,
		  .cpu = 0,
		  .x = X(6, 60, 600),
		  .nests = true,
		  .nested = SP_OP_READ },
		{ .op = SP_OP_START, .nests = true, .nested = SP_OP_STOP },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(1, 10, 100) },
		{ .op = SP_OP_READ, .cpu = 0, .x = X(2, 20, 200), .proven = true },
	};

	(void)state;
	RUN(script, 28, 280, 2800);
}

/* More records than there is room for, folded when they are many, and in between. */
static void folded(void **state)
{
	static struct step script[OPS - 1];
	unsigned n = 0;
	long long x = 0, sum = 0;

	(void)state;
	script[n++] = (struct step){ .op = SP_OP_START };
	for (int i = 0; n < SP_COUNT(script) - 1; i++) {
		x += 1 + i % 3;
		sum += 1 + i % 3;
		if (i % 9 == 8)
			script[n++] = (struct step){ .fold = true };
		script[n++] = (struct step){ .op = i % 5 == 4 ? SP_OP_ACCUM : SP_OP_READ,
					     .cpu = i % CPUS,
					     .x = X(x, 10 * x, 100 * x),
					     .proven = i & 1 };
		x = i % 5 == 4 ? 0 : x;
	}
	killed_anywhere(script, (int)n, (const long long[])X(sum, 10 * sum, 100 * sum));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded),
		cmocka_unit_test(one_thread),
		cmocka_unit_test(with_run_time),
		cmocka_unit_test(kept),
		cmocka_unit_test(kept_alike),
		cmocka_unit_test(split),
		cmocka_unit_test(split_elsewhere),
		cmocka_unit_test(other_cpus),
		cmocka_unit_test(nested),
	};
	if (getenv("EMULATED"))
		each = 7;

	return cmocka_run_group_tests(tests, NULL, NULL);
}
