# Tests the names of call sites: the command finds them in the available files; rows that differ
# look different.
. tests/lib/lib.sh
need_real_papi
cd "$tmp" || exit 1
cp "$root/tests/lib/regions.h" .

# Eight frames of which one differs; functions that were inlined, that are not in a stripped file's
# table, that are C++.
cat >names.c <<'END'
#include "regions.h"
#ifdef __cplusplus
#define C "C"
namespace deep { template<class T> struct kernel { static void run(int set); }; }
#else
#define C
#endif
extern C void exported_first(int set);
extern C void exported_last(int set);
static long long values[8];
static int pages;
#define STAY __asm__ volatile("")
static inline void begin(int set)
{
	PAPI_start(set);
}
static inline void end(int set)
{
	PAPI_stop(set, values);
}
void exported_first(int set)
{
	(void)set;
}
HERE static void hidden(int set)
{
	begin(set);
	touch(pages);
	end(set);
	STAY;
}
#define CALLS(name, other) HERE static void name(int set) { other(set); STAY; }
CALLS(a_function_with_a_rather_long_name_3, hidden)
CALLS(a_function_with_a_rather_long_name_2, a_function_with_a_rather_long_name_3)
CALLS(a_function_with_a_rather_long_name_1, a_function_with_a_rather_long_name_2)
CALLS(solver_a, a_function_with_a_rather_long_name_1)
CALLS(solver_b, a_function_with_a_rather_long_name_1)
void exported_last(int set)
{
#ifdef __cplusplus
	deep::kernel<int>::run(set);
#else
	pages = 10;
	solver_a(set);
	pages = getenv("PAGES") ? 30 : 20;
	solver_b(set);
#endif
	STAY;
}
#ifdef __cplusplus
template<class T> HERE void deep::kernel<T>::run(int set) { hidden(set); STAY; }
#endif
END
cat >main.c <<'END'
#include "regions.h"
#include <dlfcn.h>
int main(int argc, char **argv)
{
	int set, r = up(&set);

	((void (*)(int))dlsym(dlopen(argv[argc - 1], RTLD_NOW), "exported_last"))(set);
	return r;
}
END
cc=${CC:-gcc}
run build sh -c "
	$cc -O1 -fno-optimize-sibling-calls -fno-toplevel-reorder -g -shared -fPIC -o libnames.so names.c -lpapi &&
	$cc -O1 -o main main.c -lpapi -ldl"
is "(they are built)" "$(cat build.status build.err)" 0
pages=$tmp/store.sspapi

# A reading in a loop: the code between one and the next has the same site twice. The last pages but
# 7 of 2007.
cat >loop.c <<'END'
#include "regions.h"
int main(void)
{
	int set, r = up(&set) || PAPI_start(set);
	long long value;

	for (int i = 0; i < 3; i++) {
		touch(i ? 1000 : 7);
		PAPI_read(set, &value);
	}
	return r;
}
END
run build $cc -g -O1 -o loop loop.c -lpapi
SSPAPI_OUTPUT=$tmp/loop.sspapi run_shim loop ./loop
run report "$B/sspapi" report --per-callsite "$tmp/loop.sspapi"
line=$(sed -n '/PAPI_read/=' loop.c)
is "a loop's reading: by its line, since main has two regions; a share that is not the whole is not 100 %" \
	"$(sed -n "s/^main:$line → $line *\([0-9,]* *>*[0-9]* %\).*/\1/p" report.out | tr -s ' ')" "2,000 >99 %"

# names FRAMES LIBRARY: prints a report by call site
names() {
	SSPAPI_OUTPUT=$pages SSPAPI_CALLSITES=$1 run_shim names ./main "$2"
	run report "$B/sspapi" report --per-callsite "$pages"
	run json "$B/sspapi" report -f json "$pages"
	cp json.out report.json
}
rows() {
	sed -n 's/   *[0-9].*//p' report.out
}
names 1 ./libnames.so
is "a library that was given by a relative path; both calls were inlined into one function" "$(rows)" hidden
is "JSON: the same" "$(json report.json 'join " ", map { my $f = $_->{frames}[0]; "$f->{symbol} $f->{inlined_into}[0]{symbol}" } @{$d->{callsites}}[1, 2]')" \
	"begin hidden end hidden"
is "and the library's whole path" "$(json report.json '$d->{callsites}[1]{frames}[0]{module}')" \
	"$tmp/./libnames.so"

names 8 ./libnames.so
is "8 frames: one function, one row" "$(rows)" hidden
"$B/sspapi" report "$pages" >whole.out
is "8 frames: also in the dump, and no line is too long" \
	"$(grep -c '^hidden ' whole.out) $(perl -CSD -ne 'print if length > 81 && !/^more:/' whole.out | wc -l)" "1 0"
is "--all: each path, with places" "$("$B/sspapi" report --all "$pages" | grep -cE 'begin \(names.c:[0-9]+ 0x[0-9a-f]+\) < hidden .* < solver_[ab] \(.*\) < ')" 2
SSPAPI_OUTPUT=$tmp/more.sspapi SSPAPI_CALLSITES=8 run_shim more env PAGES=1 ./main ./libnames.so
run diff "$B/sspapi" diff --per-callsite "$pages" more.sspapi
is "diff: the function counted 10 more" "$(status_of diff) $(grep -c '^hidden.*+10 ' diff.out)" "1 1"

# Without its own names, with names in another file, without any.
cp libnames.so whole.so
objcopy --only-keep-debug libnames.so names.debug && strip libnames.so
names 1 ./libnames.so
check "stripped: none has the name of the function before it" sh -c "! grep -q exported report.out"
is "stripped: module and offset" "$(rows | sed 's/0x[0-9a-f]*/N/g')" "libnames.so+N → libnames.so+N"
mkdir .debug && cp names.debug .debug && objcopy --add-gnu-debuglink=names.debug libnames.so
names 1 ./libnames.so
check "its names in a file of their own" grep -q '^hidden ' report.out
rm -r .debug
mkdir empty
run report env PATH="$tmp/empty" "$B/sspapi" report --per-callsite "$pages"
is "no addr2line: a line that says so, module and offset" \
	"$(rows | sed 's/0x[0-9a-f]*/N/g') $(grep -c 'addr2line' report.err)" \
	"libnames.so+N → libnames.so+N 1"

# Without a build id the file must be older than the run.
$cc -O1 -g -shared -fPIC -Wl,--build-id=none -o libnames.so names.c -lpapi
sleep 1.1
names 1 ./libnames.so
check "no build id: names, if the file is older than the run" grep -q '^hidden ' report.out
touch libnames.so
run report "$B/sspapi" report --per-callsite "$pages"
is "no build id: none, if it is not" "$(grep -c hidden report.out) $(grep -c 'has no build id' report.err)" "0 1"

# A plug-in that the process unloaded, and whose file is removed before the process ends.
cat >unloads.c <<'END'
#include <dlfcn.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *plugin = dlopen(argv[1], RTLD_NOW);

	((int (*)(int))dlsym(plugin, "count"))(argc);
	return unlink(argv[1]) | dlclose(plugin);
}
END
$cc -O1 -g -o unloads unloads.c
cp "$apps/plugin.so" gone.so
SSPAPI_OUTPUT=$tmp/gone.sspapi run_shim gone ./unloads ./gone.so
run report "$B/sspapi" report --per-callsite gone.sspapi
is "a removed file: module and offset, and a line that says why" \
	"$(sed -n 's/0x[0-9a-f]*/N/gp' report.out | tr -s ' ' | cut -d' ' -f1 |
	sort -u) $(cat report.err)" \
	"gone.so+N sspapi report: $tmp/./gone.so: cannot be read: call sites in it have no names"

sed 's/PAPI_read(set, &value);/PAPI_stop(set, \&value); PAPI_start(set);/' loop.c >again.c
$cc -O1 -rdynamic -Wl,--build-id=none -o again again.c -lpapi
SSPAPI_OUTPUT=$tmp/own.json run_shim own ./again
is "no build id: what is exported, in the process's own dump" \
	"$(json own.json 'join " ", map { $_->{frames}[0]{symbol} // () } @{$d->{callsites}}')" \
	"main main main"

if command -v g++ >/dev/null; then
	g++ -O1 -fno-optimize-sibling-calls -g -shared -fPIC -x c++ -o libnames.so names.c -lpapi
	names 3 ./libnames.so
	check "C++: names as in the source" grep -q 'deep::kernel<int>::run' report.json
	cat >instances.cc <<'END'
#include "regions.h"
template<class T> struct solver { static void step(int set, int pages); };
template<class T> HERE void solver<T>::step(int set, int pages)
{
	long long value;

	PAPI_start(set);
	touch(pages);
	PAPI_stop(set, &value);
	__asm__ volatile("");
}
int main()
{
	int set, r = up(&set);

	solver<unsigned long>::step(set, 10);
	solver<double>::step(set, 20);
	return r;
}
END
	g++ -O1 -g -rdynamic -o instances instances.cc -lpapi
	SSPAPI_OUTPUT=$tmp/instances.sspapi run_shim instances env SSPAPI_FORMAT=store,text \
		./instances
	run report "$B/sspapi" report --per-callsite instances.sspapi
	# instances TEXT: the rows
	instances() {
		sed -nE 's/^(solver.*[a-z])  +([0-9]+) +[0-9]+ %.*/\1 \2/p' "$1" | sort
	}
	is "C++: two instances of a template have their arguments, and not the they return" "$(instances report.out)" \
		"solver<double>::step 20
solver<unsigned long>::step 10"
	is "C++: in the process's own text they are one function" "$(instances instances.txt)" "solver::step 30"
else
	skip "C++: names as in the source" "no g++"
	skip "C++: two instances of a template have their arguments, and not the they return" "no g++"
	skip "C++: in the process's own text they are one function" "no g++"
fi
done_testing
