# Tests SSPAPI_CALLSITES=auto: records the callers of helpers that make all calls of PAPI, with
# frames of any kind, and no more callers than are useful; and causes no fault of the program.
. tests/lib/lib.sh
need_real_papi
cd "$tmp" || exit 1
cc=${CC:-gcc}

cp "$root/tests/lib/regions.h" .
# has_intervals NAME WANTED: compares the intervals of more than two pages, by the functions of each path
has_intervals() {
	"$B/sspapi" report -f json "$1.sspapi" >told.json
	is "$2" "$(perl "$root/tests/lib/intervals.pl" told.json | awk '$4 > 2' | paste -sd,)" "$3"
}
# counted NAME COMMAND...
counted() {
	name=$1
	shift
	SSPAPI_OUTPUT=$tmp/$name.sspapi run_shim "$name" "$@"
	check "$name runs" [ "$(status_of "$name")" = 0 ]
}
rows() {
	"$B/sspapi" report "$1.sspapi" |
		sed -n '/^PAPI call →/,/^$/s/  *[0-9][0-9,]* *[<>0-9]* %.*//p' |
		sed 's/^[~ ]*//'
}

# ---- a library that wraps PAPI, as GPTL does: set once, read by two of its functions, never stopped -----------------

cat >timers.c <<'END'
#include "regions.h"
static int set;
static long long values[4];
HERE static int papi_read(void) { int r = PAPI_read(set, values); END(r); return r; }
HERE int timer_init(void) { int r = up(&set) || PAPI_start(set); END(r); return r; }
HERE void timer_use(int is) { set = is; }
HERE int timer_start(void) { int r = papi_read(); END(r); return r; }
HERE int timer_stop(void) { int r = papi_read(); END(r); return r; }
END
cat >model.c <<'END'
#include "regions.h"
int timer_init(void), timer_start(void), timer_stop(void);
#define PART(name, pages) HERE void name(void) { int r = timer_start(); touch(pages); r = timer_stop(); END(r); }
PART(dynamics, 100)
PART(physics, 30)
PART(output, 10)
int main(void)
{
	volatile int n = 3;
	int r = timer_init();

	for (int i = 0; i < n; i++) {
		dynamics();
		physics();
	}
	output();
	return r;
}
END
$cc -O2 -g -shared -fPIC -o libtimers.so timers.c -lpapi && $cc -O2 -g -o model model.c -L. \
	-ltimers -Wl,-rpath,"$tmp" -lpapi
counted model ./model
has_intervals model "a library that wraps PAPI: by whom it was called" \
	"between papi_read<timer_start<dynamics<main papi_read<timer_stop<dynamics<main 300,between papi_read<timer_start<output<main papi_read<timer_stop<output<main 10,between papi_read<timer_start<physics<main papi_read<timer_stop<physics<main 90"
# Started by the program: no start has the library on its stack.
sed 's/int r = timer_init();/int set, r = up(\&set) || PAPI_start(set); timer_use(set);/; s/^int timer_init(void)/void timer_use(int); &/' model.c >starts.c
$cc -O2 -g -o starts starts.c -L. -ltimers -Wl,-rpath,"$tmp" -lpapi
counted starts ./starts
has_intervals starts "a library that only reads: by whom it was called" \
	"between papi_read<timer_start<dynamics<main papi_read<timer_stop<dynamics<main 300,between papi_read<timer_start<output<main papi_read<timer_stop<output<main 10,between papi_read<timer_start<physics<main papi_read<timer_stop<physics<main 90"
is "text: the program's functions" "$(rows model | head -n 3 | paste -sd' ')" "dynamics physics output"

# A plain call of PAPI in main changes nothing for the others.
cat >reads.c <<'END'
#include "regions.h"
static int set;
static long long value;
void reads_init(int is) { set = is; }
HERE int reads_begin(void) { int r = PAPI_start(set); END(r); return r; }
HERE int reads_now(void) { int r = PAPI_read(set, &value); END(r); return r; }
END
cat >stops.c <<'END'
#include "regions.h"
void reads_init(int is);
int reads_begin(void), reads_now(void);
HERE static void solver(void) { int r; touch(100); r = reads_now(); END(r); }
HERE static void exchange(void) { int r; touch(50); r = reads_now(); END(r); }
int main(void)
{
	long long value;
	volatile int n = 3;
	int set, r = up(&set);

	reads_init(set);
	for (int run = 0; run < n; run++) {	/* paths are cut at a start or a stop */
		r |= reads_begin();
		for (int i = 0; i < n; i++) {
			solver();
			exchange();
		}
		r |= PAPI_stop(set, &value);
	}
	return r;
}
END
$cc -O2 -g -shared -fPIC -o libreads.so reads.c -lpapi && $cc -O2 -g -o stops stops.c -L. \
	-lreads -Wl,-rpath,"$tmp" -lpapi
counted stops ./stops
is "PAPI_stop in main: the library's callers have the rows" \
	"$(rows stops | LC_ALL=C sort | paste -sd,)" \
	"exchange → main,exchange → solver,main → solver,solver → exchange"

# ---- a helper of the program's own, called from frames of all kinds ---------------------------------------------------

cat >kinds.c <<'END'
#include "regions.h"
#include <alloca.h>
static int set;
static long long value;
HERE static void begin(void) { int r = PAPI_start(set); END(r); }
HERE static void end(void) { int r = PAPI_stop(set, &value); END(r); }
#define work(pages) do { begin(); touch(pages); end(); __asm__ volatile(""); } while (0)
HERE static void plain(int n) { work(n); }
HERE static void by_alloca(int n) { volatile char *room = alloca(n * 8); room[0] = 1; work(n); room[1] = 1; }
HERE static void realigned(int n) { volatile char line[64] __attribute__((aligned(64))); line[0] = 1; work(n); line[1] = 1; }
HERE static void both(int n, long a, long b, long c, long d, long e, long on_stack)
{
	volatile char line[64] __attribute__((aligned(64))), *room = alloca(n * 8);
	line[0] = room[0] = (char)(a + b + c + d + e);
	work(n);
	line[1] = room[1] = (char)on_stack;
}
HERE static void large(int n) { volatile char room[100000]; room[0] = room[sizeof(room) - 1] = 1; work(n); room[1] = 1; }
HERE static void again(int n, int depth)
{
	if (depth)
		again(n, depth - 1);
	else
		work(n);
	__asm__ volatile("");
}
int main(void)
{
	if (up(&set))
		return 1;
	large(2);		/* its stack is there from now on */
	for (int i = 0; i < 4; i++) {
		plain(10);
		by_alloca(20 + i);
		realigned(30);
		both(40 + i, 1, 2, 3, 4, 5, 6);
		large(50);
		again(60, i);
	}
	return 0;
}
END
wanted="between begin<again end<again 240,between begin<both end<both 166,between begin<by_alloca end<by_alloca 86,between begin<large end<large 202,between begin<plain end<plain 40,between begin<realigned end<realigned 120"
while read -r name flags; do
	# shellcheck disable=SC2086 # words
	$cc $flags -g -o "$name" kinds.c -lpapi || break
	counted "$name" "./$name"
	has_intervals "$name" "a helper's callers, $flags: two frames, which tell all" "$wanted"
	run_native native "./$name"
	check "$flags: the program sees no difference" same_as_native native "$name"
done <<END
o2 -O2
fp -O2 -fno-omit-frame-pointer
o0 -O0
o3 -O3
END
$cc -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables -no-pie -o none kinds.c -lpapi
counted none ./none
has_intervals none "code without unwind tables has no callers" "between begin end 854"
counted one env SSPAPI_CALLSITES=1 ./o2
has_intervals one "one frame is one" "between begin end 854"
counted three env SSPAPI_CALLSITES=3 ./o2
has_intervals three "so many as are asked for, whatever they tell" \
	"$(echo "$wanted" | sed -E \
	's/between begin<again end<again 240/between begin<again<again end<again<again 180,between begin<again<main end<again<main 60/; s/<(both|by_alloca|large|plain|realigned) /<\1<main /g')"

# One call in 1024 is timed, and ends in another way than it began.
cat >turns.c <<'END'
#include "regions.h"
static int set;
static long long value;
HERE static void begin(void) { int r = PAPI_start(set); END(r); }
HERE static void end(void) { int r = PAPI_read(set, &value) | PAPI_stop(set, &value); END(r); }
HERE static void odd(void) { begin(); touch(1); end(); __asm__ volatile(""); }
HERE static void even(void) { begin(); touch(1); end(); __asm__ volatile(""); }
HERE static void third(void) { begin(); touch(1); end(); __asm__ volatile(""); }
int main(void)
{
	if (up(&set))
		return 1;
	for (int i = 0; i < 4000; i++) {
		odd();
		even();
		third();
	}
	return 0;
}
END
$cc -O2 -g -fno-ipa-icf -o turns turns.c -lpapi 2>turns.err || $cc -O2 -g -o turns turns.c -lpapi
counted turns ./turns
"$B/sspapi" report -f json turns.sspapi >told.json
is "12,000 starts in turns: each at its own call site" \
	"$(perl "$root/tests/lib/intervals.pl" told.json | awk '$4' | paste -sd,)" \
	"between begin<even end<even 4000,between begin<odd end<odd 4000,between begin<third end<third 4000"

# ---- callers that add nothing are cut, and nothing is distinguished by them ----------

cat >many.c <<'END'
#include "regions.h"
static int set;
static long long value;
static volatile int which;	/* no two of them are one */
#define PART(name, n) HERE static void name(int pages) { int r = PAPI_start(set); which = n; touch(pages); r = PAPI_stop(set, &value); END(r); }
PART(one, 1) PART(two, 2) PART(three, 3)
HERE static void begin(void) { int r = PAPI_start(set); which = 4; END(r); }
HERE static void end(void) { int r = PAPI_stop(set, &value); which = 5; END(r); }
HERE static void four(int pages) { begin(); which = 6; touch(pages); end(); __asm__ volatile(""); }
HERE static void five(int pages) { begin(); which = 7; touch(pages); end(); __asm__ volatile(""); }
HERE static void caller(int pages) { one(pages); two(pages); __asm__ volatile(""); }
HERE static void other(int pages) { one(pages); two(pages); three(pages); __asm__ volatile(""); }
int main(int argc, char **argv)
{
	(void)argv;
	if (up(&set))
		return 1;
	for (int i = 0; i < 3; i++) {
		caller(5);
		other(50);
		caller(5);
		if (argc > 1) {
			four(10);
			five(20);
		}
	}
	return 0;
}
END
$cc -O2 -g -o many many.c -lpapi
counted many ./many
has_intervals many "three functions: their callers are not kept, and what was before that was found out is not has_intervals apart" \
	"between one one 180,between three three 150,between two two 180"
"$B/sspapi" report --per-callsite many.sspapi >rows
is "and has one row" "$(grep -cE '^~? *(one|two|three) ' rows)" 3
is "JSON: how many frames there are in the end" "$(json told.json '$d->{settings}{callsites}')" 1
counted both ./many 1
has_intervals both "a helper beside them: its callers are kept" \
	"between begin<five<main end<five<main 60,between begin<four<main end<four<main 30,between one one 180,between three three 150,between two two 180"

# Calls of PAPI from one place.
cat >place.c <<'END'
#include "regions.h"
typedef int call(int, long long *);
static int set;
static long long value;
int main(void)
{
	call *const calls[] = { (call *)PAPI_start, PAPI_read, PAPI_accum, PAPI_read, (call *)PAPI_reset };
	volatile int n = 200;
	int r = up(&set);

	for (int i = 0; i <= n; i++) {
		r |= calls[i ? 1 + (i - 1) % 4 : 0](set, &value);
		touch(1 + i % 4);
	}
	return r || PAPI_stop(set, &value);
}
END
$cc -O2 -g -o place place.c -lpapi
for frames in 1 auto; do
	counted place env SSPAPI_CALLSITES=$frames ./place
	"$B/sspapi" report -f json place.sspapi >place.json
	is "calls from one place, $frames frames: distinguished by the PAPI function" \
		"$(json place.json 'my %n; my @s = @{$d->{callsites}};
		$n{"$s[$_->{from}]{call} $s[$_->{to}]{call}"} += $_->{total}[0]
			for grep { $_->{total}[0] && defined $_->{from} } map { @{$_->{intervals}} } @{$d->{relations}};
		join ",", map { "$_ $n{$_}" } sort keys %n')" \
		"PAPI_accum PAPI_read 150,PAPI_read PAPI_accum 100,PAPI_reset PAPI_read 49,PAPI_reset PAPI_stop 1,PAPI_start PAPI_read 1"
done
is "text: the PAPI function is in the row" "$(rows place | LC_ALL=C sort | paste -sd'|')" \
	"main, PAPI_accum → PAPI_read|main, PAPI_read → PAPI_accum|main, PAPI_reset → PAPI_read|main, PAPI_reset → PAPI_stop|main, PAPI_start → PAPI_read"

# A rank that saw more functions has kept fewer callers: rows of both are one, and no other is lost.
cat >ranks.c <<'END'
#include "regions.h"
static int set;
static long long value;
HERE static void measured(int pages) { int r = PAPI_start(set); touch(pages); r = PAPI_stop(set, &value); END(r); }
HERE static void solve(void) { measured(10); __asm__ volatile(""); }
HERE static void gather(void) { measured(20); __asm__ volatile(""); }
HERE static void output(void) { measured(30); __asm__ volatile(""); }
HERE static void step(int rank)
{
	solve();
	gather();
	if (!rank)
		output();
	__asm__ volatile("");
}
int main(void)
{
	if (up(&set))
		return 1;
	for (int i = 0; i < 3; i++)
		step(atoi(getenv("PMI_RANK")));
	return 0;
}
END
$cc -O2 -g -o ranks ranks.c -lpapi
for rank in 0 1 2; do
	counted rank$rank env PMI_RANK=$rank ./ranks
done
"$B/sspapi" report -f json rank0.sspapi rank1.sspapi rank2.sspapi >told.json
is "ranks with more callers and with fewer: the rows of the common ones" \
	"$(json told.json 'map { $_->{settings}{callsites} } $d') $(perl \
	"$root/tests/lib/intervals.pl" told.json | awk '$4 > 2' | paste -sd,)" \
	"4 between measured<gather measured<gather 180,between measured<output measured<output 90,between measured<solve measured<solve 90"
"$B/sspapi" merge -o 01.sspapi rank0.sspapi rank1.sspapi && "$B/sspapi" merge -o 012.sspapi \
	01.sspapi rank2.sspapi &&
	"$B/sspapi" merge -o all.sspapi rank2.sspapi rank1.sspapi rank0.sspapi
check "merged in any groups: the same bytes" cmp 012.sspapi all.sspapi

run diff "$B/sspapi" diff --per-callsite rank0.sspapi rank1.sspapi
is "diff: so are those of two runs, of which one row differs" "$(status_of diff) $(grep -c '^[~ ]*output ' diff.out)" "1 1"

# Reads in more places than there is memory for paths: the rest has one frame each, and the sum is
# complete.
cat >crowd.c <<'END'
#include "regions.h"
static int set;
static long long value;
HERE static void look(void) { int r = PAPI_read(set, &value); END(r); }
#define ONE touch(1); look();
#define TEN ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE
HERE static void places(void) { TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
	TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN }
int main(void)
{
	int r = up(&set) || PAPI_start(set);

	places();
	places();
	END(r);
	r = PAPI_stop(set, &value) || r;
	printf("%lld 0\n", value);
	return r;
}
END
$cc -O2 -g -o crowd crowd.c -lpapi
counted crowd ./crowd
"$B/sspapi" report -f json crowd.sspapi >crowd.json
is "400 call sites in one run: none in other, and the sum" \
	"$(json crowd.json 'my ($n, $none) = (0, 0); $n += $_->{total}[0], $none += !$_->{to}
	for map { @{$_->{intervals}} } @{$d->{relations}}; "$n $none"')" "$(cat "$tmp/crowd.out")"

# ---- OpenMP, a preload that counts threads, C++, a plug-in ------------------------------------------------------------------

cat >omp.c <<'END'
#include "regions.h"
#include <omp.h>
static __thread int set;
static long long value[2];
HERE static void measured(int thread, int pages)
{
	int r = PAPI_start(set);

	for (int i = 0; i < pages; i++)
		arena[(++at + thread * 1000) * 4096] = 1;
	r = PAPI_stop(set, &value[thread]);
	END(r);
}
HERE void sweep(void)
{
#pragma omp parallel num_threads(2)
	{
		measured(omp_get_thread_num(), 100);
		__asm__ volatile("");
	}
}
HERE void smooth(void)
{
#pragma omp parallel num_threads(2)
	{
		measured(omp_get_thread_num(), 40);
		__asm__ volatile("");
	}
}
int main(void)
{
	int r = PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT || PAPI_thread_init((unsigned long (*)(void))pthread_self);

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
#pragma omp parallel num_threads(2) reduction(| : r)
	{
#pragma omp critical
		r |= up(&set);
	}
	for (int i = 0; i < 2; i++) {
		sweep();
		smooth();
	}
	return r;
}
END
if $cc -O2 -g -fopenmp -include pthread.h -o omp omp.c -lpapi 2>omp.err; then
	counted omp ./omp
	is "OpenMP: by region, whichever thread: each compiler has names of its own for them" \
		"$(rows omp | grep -cE '^(sweep|smooth|\.omp_outlined).*, parallel region at line [0-9]+$')" 2
	check "(both are all there is)" sh -c '"$1" report -f csv --per-callsite omp.sspapi | awk -F, "NR > 1 && \$16 > 2" | wc -l | grep -qx 2' sh "$B/sspapi"
else
	skip "OpenMP" "$(tail -n 1 omp.err)"
fi

cat >threads.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <papi.h>
#include <pthread.h>
#include <stdlib.h>
struct begun { void *(*run)(void *); void *arg; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;
__attribute__((noinline)) static void begin(int *set)
{
	pthread_mutex_lock(&lock);
	if (!ready++) {
		PAPI_library_init(PAPI_VER_CURRENT);
		PAPI_thread_init((unsigned long (*)(void))pthread_self);
	}
	*set = PAPI_NULL;
	PAPI_create_eventset(set);
	PAPI_add_named_event(*set, "perf::PAGE-FAULTS");
	pthread_mutex_unlock(&lock);
	PAPI_start(*set);
	__asm__ volatile("");
}
static void *run(void *arg)
{
	struct begun b = *(struct begun *)arg;
	long long value;
	void *r;
	int set;

	free(arg);
	begin(&set);
	r = b.run(b.arg);
	PAPI_stop(set, &value);
	return r;
}
int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*start)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
	struct begun *b = malloc(sizeof(*b));

	*b = (struct begun){ start, arg };
	return real(t, a, run, b);
}
END
cat >plain.c <<'END'
#include <pthread.h>
#include <stdio.h>
static volatile char arena[4096 * 2000];
static void *work(void *arg)
{
	long n = (long)arg;

	for (int i = 0; i < 50; i++)
		arena[(n * 60 + i) * 4096] = 1;
	return arg;
}
int main(void)
{
	pthread_t t[4];
	long sum = 0;

	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 4; i++) {
		void *r;

		pthread_join(t[i], &r);
		sum += (long)r;
	}
	printf("%ld\n", sum);
	return 0;
}
END
$cc -O2 -g -shared -fPIC -o threads.so threads.c -lpapi -ldl && $cc -O2 -g -pthread -o plain plain.c
MORE=${MORE:+$MORE:}$tmp/threads.so
counted threads ./plain
run_native native ./plain
check "a preload that starts sets in thread creation: the program sees no difference" same_as_native native threads
is "its callers end where the thread begins" "$(rows threads)" "begin → run"
MORE=$REAL_PAPI_PRELOAD

if command -v g++ >/dev/null; then
	cat >solver.cc <<'END'
#include "regions.h"
static int set;
static long long value;
static volatile int destroyed;
struct object { HERE ~object() { destroyed++; } };	/* PAPI could throw an exception */
HERE static void begin() { object o; int r = PAPI_start(set); END(r); }
HERE static void end() { object o; int r = PAPI_stop(set, &value); END(r); }
namespace sim {
template<class T, int N> struct solver { HERE void step(int pages) { begin(); touch(pages); end(); __asm__ volatile(""); } };
}
int main()
{
	if (up(&set))
		return 1;
	auto lambda = [](int pages) __attribute__((noinline)) { begin(); touch(pages); end(); __asm__ volatile(""); };

	sim::solver<double, 2>().step(20);
	sim::solver<float, 3>().step(30);
	lambda(40);
	return 0;
}
END
	g++ -O2 -g -std=c++17 -o solver solver.cc -lpapi
	counted solver ./solver
	is "C++: instances of a template, with what differs" "$(rows solver | sed -nE 's/^.*(solver<[a-z]*, [0-9]>::step|lambda).*/\1/p' | sort | paste -sd' ')" \
		"lambda solver<double, 2>::step solver<float, 3>::step"
fi

# Loaded while the set runs: its tables are not read then, since PAPI would count that fault.
cat >plugin.c <<'END'
#include <papi.h>
int plugin(int set)
{
	long long value;
	int r = PAPI_read(set, &value);

	__asm__ volatile("" : "+r"(r));
	return r;
}
END
cat >host.c <<'END'
#include "regions.h"
#include <dlfcn.h>
static int set;
HERE static int by_one(int (*f)(int)) { int r; touch(10); r = f(set); END(r); return r; }
HERE static int by_two(int (*f)(int)) { int r; touch(20); r = f(set); END(r); return r; }
int main(int argc, char **argv)
{
	long long value[3] = { 0 };
	void *library;
	int r = up(&set);

	for (int i = 0; i < 3; i++) {
		PAPI_start(set);
		library = dlopen(argv[argc - 1], RTLD_NOW);
		PAPI_read(set, &value[0]);
		r |= by_one((int (*)(int))dlsym(library, "plugin"));
		r |= by_two((int (*)(int))dlsym(library, "plugin"));
		PAPI_read(set, &value[1]);
		printf("%lld\n", value[1] - value[0]);
		PAPI_stop(set, &value[2]);
		dlclose(library);
	}
	return r;
}
END
$cc -O2 -g -shared -fPIC -o plugin.so plugin.c -lpapi && $cc -O2 -g -o host host.c -lpapi -ldl
run_native native ./host ./plugin.so
counted host ./host ./plugin.so
plain "a plug-in that is loaded while a set runs" &&
	check "a plug-in that is loaded while a set runs: no page fault more" \
	same_as_native native host

# A refused PAPI_reset leaves nothing to the next one, which is in another function.
cat >refused.c <<'END'
#include "regions.h"
#include "fake/fake.h"
#include "sspapi.h"
static int set = PAPI_NULL;
static sspapi_relation *rel;
static long long value;
HERE static int refused(void) { int r = PAPI_reset(set); END(r); return r; }
HERE static int done(void) { int r = sspapi_reset(rel); END(r); return r; }
int main(void)
{
	PAPI_library_init(fake_version() << 16);
	PAPI_create_eventset(&set);
	PAPI_add_named_event(set, "EV_A");
	if (sspapi_start(set, &rel) != PAPI_OK || fake_fail("PAPI_reset", PAPI_ESYS, 0, 1) != 0)
		return 1;
	if (refused() != PAPI_ESYS || done() != PAPI_OK)
		return 2;
	fake_count("EV_A", 7);
	return PAPI_stop(set, &value) != PAPI_OK;
}
END
$cc -O2 -g -I"$root/tests" -I"$root/preload" -o refused refused.c "$fake/libpapi.so.7.0" \
	"$B/libsspapi.so" -Wl,-rpath,"$fake"
counted refused env SSPAPI_CALLSITES=2 ./refused
has_intervals refused "a PAPI_reset that PAPI refuses: the next reset has its own call site" \
	"between done<main main 7"

# A call site that is seen first after its callers are cut has none, either: merged, it is one with
# that of a rank which had no reason to cut them.
cat >later.c <<'END'
#include "regions.h"
static int set, reads;
static long long value;
#define PART(name, pages) \
	HERE static void name(void) \
	{ \
		int r = PAPI_start(set); \
		touch(pages); \
		if (reads) \
			r |= PAPI_read(set, &value); \
		r |= PAPI_stop(set, &value); \
		END(r); \
	}
PART(first, 10)
PART(second, 20)
PART(third, 30)
HERE static void outer(void) { first(); END(set); }
int main(int argc, char **argv)
{
	int r = up(&set);

	(void)argv;
	outer();
	if (argc > 1) {
		second();
		third();
	}
	reads = 1;
	outer();
	return r;
}
END
$cc -O2 -g -o later later.c -lpapi
counted cut ./later and more
counted uncut ./later
"$B/sspapi" merge -o ranks.sspapi cut.sspapi uncut.sspapi
is "call sites first seen after a cut, merged with whole ones: a row each" \
	"$("$B/sspapi" report --per-callsite -f csv ranks.sspapi | cut -d, -f8,9 | sed 1d | wc -l)" 5

# Two regions of one function have both lines in their rows; one that is alone in its function has none.
cat >lines.c <<'END'
#include "regions.h"
static int set;
static long long value;
HERE static void alone(void) { int r = PAPI_start(set); touch(10); r = PAPI_stop(set, &value); END(r); }
int main(void)
{
	int r = up(&set);
	alone();
	r |= PAPI_start(set);	/* line 9 */
	touch(30);
	r |= PAPI_read(set, &value);
	touch(20);
	r |= PAPI_stop(set, &value);
	return r;
}
END
$cc -O2 -g -o lines lines.c -lpapi
counted lines ./lines
is "several regions of a function: the first has both lines too" "$(rows lines | paste -sd,)" \
	"main:9 → 11,main:11 → 13,alone"
done_testing
