/* t-cfi.c: preload/sites/cfi.h on this program's own stack, beside what the compiler's unwinder says of it; and on
 * tables that somebody changed. */
#include "test.h"

#include <link.h>
#include <unwind.h>

#include "../../preload/sites/cfi.h"

#define MOST 40
#define HERE __attribute__((noinline))

/* ---- tables ------------------------------------------------------------------- */

struct want {
	uintptr_t address;
	struct sp_tables tables;
};

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct want *w = arg;
	uintptr_t header = 0;
	bool holds = false;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		holds |= p->p_type == PT_LOAD && w->address - info->dlpi_addr - p->p_vaddr < p->p_memsz;
		if (p->p_type == PT_GNU_EH_FRAME)
			header = info->dlpi_addr + p->p_vaddr;
	}
	for (unsigned i = 0; holds && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t low = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && header - low < p->p_filesz)
			w->tables = (struct sp_tables){ header, low, low + p->p_filesz };
	}
	return holds;
}

static struct sp_tables tables_of(uintptr_t address)
{
	struct want w = { .address = address };

	dl_iterate_phdr(look, &w);
	return w.tables;
}

/* ---- the stack as both see it ---------------------------------------------------- */

struct path {
	uintptr_t to[MOST];
	int n;
};

static _Unwind_Reason_Code note(struct _Unwind_Context *c, void *arg)
{
	struct path *p = arg;

	if (p->n < MOST)
		p->to[p->n++] = _Unwind_GetIP(c);
	return _URC_NO_REASON;
}

static HERE void walk(struct path *p)
{
	struct sp_stack at = { .to = (uintptr_t)__builtin_return_address(0), .sp = (uintptr_t)__builtin_dwarf_cfa(),
			       .fp = *(const uintptr_t *)__builtin_frame_address(0) };
	struct sp_rule r;

	for (p->n = 0; p->n < MOST; sp_rule_step(&at, &r)) {
		struct sp_tables t = tables_of(at.to - 1);

		p->to[p->n++] = at.to;
		if (!t.header || !sp_rule_find(&r, &t, at.to))
			break;
		assert_true(at.to - 1 - r.function < 1u << 20);
	}
}

static volatile int compared, frames;	/* (a handler writes them) */

/* From the caller on; up to what the tables do not know: the frame of a handler, and what is above the program's start. */
static HERE void compare(void)
{
	struct path mine, theirs = { .n = 0 };
	int same = 1;

	_Unwind_Backtrace(note, &theirs);
	walk(&mine);
	while (same < mine.n && same < theirs.n && mine.to[same] == theirs.to[same])
		same++;
	assert_int_equal(same, mine.n);
	compared++;
	frames = mine.n;
	__asm__ volatile("");
}

/* ---- frames of all kinds ------------------------------------------------------------ */

static volatile int some = 100;

static HERE int by_alloca(int (*next)(void))
{
	volatile char *room = __builtin_alloca(some);
	int r;

	room[0] = 1;
	r = next();
	return r + room[0];
}

static HERE int realigned(int (*next)(void))
{
	volatile char line[64] __attribute__((aligned(64)));
	int r;

	line[0] = 2;
	r = next();
	return r + line[0] + (int)((uintptr_t)line % 64);
}

/* Both: the compiler keeps where the arguments were. */
static HERE int realigned_by_alloca(int (*next)(void), long a, long b, long c, long d, long e, long on_stack)
{
	volatile char line[64] __attribute__((aligned(64)));
	volatile char *room = __builtin_alloca(some);
	int r;

	line[0] = room[0] = 3;
	r = next();
	return r + line[0] + room[0] + (int)(a + b + c + d + e + on_stack);
}

static HERE int large(int (*next)(void))
{
	volatile char room[200000];
	int r;

	room[0] = room[sizeof(room) - 1] = 4;
	r = next();
	return r + room[0];
}

#if defined(__GNUC__) && !defined(__clang__)
#define AS(how) __attribute__((noinline, optimize(how)))
#else
#define AS(how) __attribute__((noinline))
#endif
static AS("O0") int unoptimized(int (*next)(void))
{
	int r = next();

	return r + 1;
}

static AS("no-omit-frame-pointer") int with_frame_pointer(int (*next)(void))
{
	int r = next();

	return r + 1;
}

static HERE int last(void)
{
	compare();
	return 1;
}

static HERE int six(void) { int r = large(last); return r + 1; }
static HERE int five(void) { int r = with_frame_pointer(six); return r + 1; }
static HERE int four(void) { int r = realigned_by_alloca(five, 1, 2, 3, 4, 5, 6); return r + 1; }
static HERE int three(void) { int r = unoptimized(four); return r + 1; }
static HERE int two(void) { int r = realigned(three); return r + 1; }
static HERE int one(void) { int r = by_alloca(two); return r + 1; }

static void all_kinds(void **state)
{
	for (some = 10; some < 3000; some += 333) {
		one();
		assert_true(frames > 14);
	}
	assert_int_equal(compared, 9);
}

static int in_libc(const void *a, const void *b)
{
	compare();
	return *(const int *)a - *(const int *)b;
}

static void through_libc(void **state)
{
	int two_of_them[] = { 2, 1 };

	qsort(two_of_them, 2, sizeof(int), in_libc);
	assert_true(frames > 4);
}

static void handle(int signal)
{
	compare();
}

static void in_a_handler(void **state)
{
	signal(SIGUSR1, handle);
	compared = 0;
	raise(SIGUSR1);
	assert_int_equal(compared, 1);
#ifndef __SANITIZE_THREAD__		/* which calls handlers by itself */
	assert_in_range(frames, 2, 3);	/* handle() may jump to it; what returns to the kernel ends it */
#endif
}

/* ---- what is wrong --------------------------------------------------------------------- */

static void nothing_there(void **state)
{
	struct sp_tables t = tables_of((uintptr_t)nothing_there), empty = { t.header, t.header, t.header };
	struct sp_rule r;

	(void)sp_rule_find(&r, &t, (uintptr_t)nothing_there + 1);	/* (at its entry the address may be in a register yet) */
	assert_int_equal(r.function, (uintptr_t)nothing_there);
	assert_false(sp_rule_find(&r, &empty, (uintptr_t)nothing_there + 1));
	assert_false(sp_rule_find(&r, &t, 1));
	assert_false(sp_rule_find(&r, &t, UINTPTR_MAX));
}

/* (Other things lie between, which ASan has put fences around.) */
__attribute__((no_sanitize_address)) static void take(volatile unsigned char *to, const volatile unsigned char *from, uintptr_t n)
{
	while (n--)
		*to++ = *from++;
}

/* A copy of the tables, in which bytes are others: something or nothing is found, and nothing outside is read (ASan). */
static void changed(void **state)
{
	struct sp_tables t = tables_of((uintptr_t)changed);
	uintptr_t bytes = t.end - t.low;
	unsigned char *copy = malloc(bytes);
	uintptr_t by = (uintptr_t)copy - t.low;
	struct sp_tables there = { t.header + by, t.low + by, t.end + by };
	void (*const functions[])(void **) = { all_kinds, through_libc, in_a_handler, nothing_there, changed };
	unsigned found = 0;

	srand(1);
	for (int round = 0; round < 20000; round++) {
		struct sp_rule r;

		if (round % 100 == 0)
			take(copy, (const unsigned char *)t.low, bytes);
		for (int i = 0; i < round % 7; i++)	/* mostly the header */
			copy[i % 2 ? (uintptr_t)rand() % bytes : t.header - t.low + (uintptr_t)rand() % 64] = (unsigned char)rand();
		found += sp_rule_find(&r, &there, (uintptr_t)functions[round % 5] + by + 10);
	}
	free(copy);
	assert_true(found > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kinds), cmocka_unit_test(through_libc), cmocka_unit_test(in_a_handler),
		cmocka_unit_test(nothing_there), cmocka_unit_test(changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
