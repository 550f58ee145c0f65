# Tests sspapi run: it sets the environment, becomes the program, and reports problems that are
# known before the start.
. tests/lib/lib.sh
ours="/usr/\$LIB/../../../../../../../../../../../..$B/libsspapi.so"
cd "$tmp" || exit 1	# dumps without a name go here
# The command itself needs no sanitizer's runtime preloaded; programs that it starts do.
case ${SANITIZE-} in *address* | *thread*) export LD_PRELOAD="${SHIM%:*}" ;; esac

# ---- what it becomes ---------------------------------------------------------------
run pids sh -c 'echo $$; exec "$0" run -- sh -c "echo \$\$"' "$sspapi"
is "no process in between" "$(sed -n 1p "$tmp/pids.out")" "$(sed -n 2p "$tmp/pids.out")"
run status "$sspapi" run -- sh -c 'exit 77'
is "the program's status" "$(status_of status)" 77
run killed "$sspapi" run -- sh -c 'kill -9 $$'
is "and that it was killed" "$(status_of killed)" 137
run none "$sspapi" run -- /no/such/program
is "no such program" "$(status_of none)" 127
printf '#!/no/such/interpreter\n' >"$tmp/bad"
chmod +x "$tmp/bad"
run bad "$sspapi" run -- "$tmp/bad"
is "a script without its interpreter: that is named" "$(status_of bad) $(cat "$tmp/bad.err")" \
	"127 sspapi run: $tmp/bad: its first line names an interpreter that cannot be run, '/no/such/interpreter' (No such file or directory): install it, or fix the line"
perl -0pe 's,/ld-,/no-,g' "$apps/nopapi" >"$tmp/no-loader"
chmod +x "$tmp/no-loader"
run bad "$sspapi" run -e SSPAPI_VERBOSE=0 -- "$tmp/no-loader"
is "a program without its loader" \
	"$(status_of bad) $(grep -c \
	"^sspapi run: $tmp/no-loader: its loader does not exist" "$tmp/bad.err")" \
	"127 1"
run folder "$sspapi" run -- /tmp
is "nothing that can be run" "$(status_of folder)" 126
printf 'no program' >"$tmp/plain"
run plain "$sspapi" run -- "$tmp/plain"
is "not executable" "$(status_of plain)" 126

# ---- the environment -----------------------------------------------------------------
run all "$sspapi" run -o o.csv -e SSPAPI_RANKS=1-2 -f csv -e OTHER=1 -e SSPAPI_LIVE=/tmp -- env
is "-o, -f and -e set variables" "$(grep -E '^(SSPAPI_|OTHER)' "$tmp/all.out" | sort |
	paste -sd' ')" "OTHER=1 SSPAPI_FORMAT=csv SSPAPI_LIVE=/tmp SSPAPI_OUTPUT=o.csv SSPAPI_RANKS=1-2"
run env "$sspapi" env
run strange env SSPAPI_OUTPUT="$(printf 'x\033[31m')" "$sspapi" env
is "control characters of a value are escaped" "$(sed -n 1p "$tmp/strange.out")" \
	'SSPAPI_OUTPUT=x\x1b[31m'
is "sspapi env: every variable" "$(grep -c '^SSPAPI_' "$tmp/env.out")" \
	"$(grep -c '^	{ "SSPAPI_' "$root/core/base/conf.c")"

# format NAME WANTED ARGUMENT...
format() {
	format_name=$1 format_wanted=$2
	shift 2
	run format "$@" -- env
	is "$format_name" "$(grep '^SSPAPI_FORMAT=' "$tmp/format.out")" "$format_wanted"
}
format "a store, if nothing is said" SSPAPI_FORMAT=store "$sspapi" run
format "-o x.json means JSON" "" "$sspapi" run -o x.json
format "over a format of the environment" "" env SSPAPI_FORMAT=csv "$sspapi" run -o x.json
format "an output of the environment has its say" "" env SSPAPI_OUTPUT=x.csv "$sspapi" run
format "-o x.dat is a store" SSPAPI_FORMAT=store "$sspapi" run -o x.dat
format "-o - is for people" "" "$sspapi" run -o -
format "-e sets any" SSPAPI_FORMAT=text "$sspapi" run -e SSPAPI_FORMAT=text

run theirs "$sspapi" run -e SSPAPI_VERBOSE=0 sh -c 'echo "$@"' sh -o --help --version
is "words after the program are its own" \
	"$(status_of theirs) $(cat "$tmp/theirs.out" "$tmp/theirs.err")" "0 -o --help --version"
run about "$sspapi" report "$tmp/none.sspapi" --help
is "--help behind others" "$(status_of about) $(grep -c '^  sspapi report' "$tmp/about.out")" "0 1"
run theirs env SSPAPI_CALLSITES=65 "$sspapi" run -- true
is "a bad value of the environment is reported by the library" "$(status_of theirs)" 0

# ---- LD_PRELOAD -------------------------------------------------------------------------
first() {
	grep '^LD_PRELOAD=' "$tmp/$1.out"
}
other=$preloads/empty.so
behind=${LD_PRELOAD:+$LD_PRELOAD:}
run other env LD_PRELOAD="$behind$other" "$sspapi" run -- env
is "other preloads stay, after ours" "$(first other)" "LD_PRELOAD=$ours:$behind$other"
run twice "$sspapi" run -- "$sspapi" run -- env
is "in a second run it is listed once" "$(first twice)" \
	"LD_PRELOAD=$ours${LD_PRELOAD:+:$LD_PRELOAD}"
mkdir "$tmp/a b"
cp "$sspapi" "$tmp/a b/sspapi"
ln -s "$B/libsspapi.so" "$tmp/a b/libsspapi.so"
run space "$tmp/a b/sspapi" run -- true
check "a path that cannot be preloaded from" grep -q "space or colon" "$tmp/space.err"
is "is refused" "$(status_of space)" 1

# ---- behind other programs -------------------------------------------------------------------
# counted NAME COMMAND...: the store is written and has what PAPI returned to the program
counted() {
	counted_name=$1
	shift
	rm -f "$tmp/behind.sspapi" "$tmp/behind.json"
	run behind "$@"
	"$sspapi" report -f json "$tmp/behind.sspapi" >"$tmp/behind.json" 2>&1
	check "$counted_name" has_returned behind
}
# shellcheck disable=SC2016 # $0 is the inner shell's
if plain "counted behind other programs"; then
	counted "sspapi run" "$sspapi" run -o "$tmp/behind.sspapi" "$scenes/one"
	counted "run -- env" "$sspapi" run -o "$tmp/behind.sspapi" -- env A=1 "$scenes/one"
	counted "env ... run" env A=1 "$sspapi" run -o "$tmp/behind.sspapi" -- "$scenes/one"
	counted "run -- sh -c" "$sspapi" run -o "$tmp/behind.sspapi" -- sh -c 'true; "$0"' \
		"$scenes/one"
	counted "sh -c ... run" sh -c '"$0" run -o "$1" -- "$2"' "$sspapi" "$tmp/behind.sspapi" \
		"$scenes/one"
	counted "time" bash -c 'time "$0" run -o "$1" -- "$2"' "$sspapi" "$tmp/behind.sspapi" \
		"$scenes/one"
	counted "with another object preloaded" env LD_PRELOAD="$other" "$sspapi" \
		run -o "$tmp/behind.sspapi" -- "$scenes/one"
	run ranks sh -c 'for r in 0 1; do OMPI_COMM_WORLD_RANK=$r "$0" run -o "$1.%r.sspapi" -- "$2" & done; wait' \
		"$sspapi" "$tmp/rank" "$scenes/one"
	is "a store a rank" "$(cd "$tmp" && ls rank.*)" "rank.0.sspapi
rank.1.sspapi"
	is "only rank 0 reports where" \
		"$(grep -c "counts go to" "$tmp/ranks.err") $(grep -o rank.0.sspapi "$tmp/ranks.err")" \
		"1 rank.0.sspapi"
	run folder env PMI_RANK=0 PMI_SIZE=2 "$sspapi" run -- "$scenes/one"
	is "and names the folder of all ranks" \
		"$(grep -c 'counts go to sspapi.one.0.0/;' "$tmp/folder.err")" 1
fi

# ---- reports before the start ------------------------------------------------------------------
# warns NAME WORDS PROGRAM...: one line with the words; WORDS empty: no line
warns() {
	told_name=$1 told_words=$2
	shift 2
	run told "$sspapi" run -- "$@"
	grep '^sspapi run' "$tmp/told.err" >"$tmp/told.lines"
	if [ -z "$told_words" ]; then
		is "$told_name" "$(cat "$tmp/told.lines")" ""
	else
		is "$told_name: a line" "$(wc -l <"$tmp/told.lines")" 1
		check "$told_name" grep -qF -- "$told_words" "$tmp/told.lines"
	fi
}
warns "a program with PAPI" "counts go to sspapi.one.$(uname -n)." "$scenes/one"
mkdir elsewhere
for name in named.sspapi elsewhere/named.sspapi named.json; do
	run told "$sspapi" run -o $name -- "$scenes/one"
	is "-o $name: whether sspapi report finds it" \
		"$(sed -n 's/^sspapi run: counts go to //p' "$tmp/told.err")" \
		"$name$([ $name != named.sspapi ] || echo '; sspapi report shows them')"
done
warns "one that dlopens it" "counts go to sspapi.nolib.$(uname -n)." "$apps/nolib"
warns "one without" "does not use PAPI" "$apps/nopapi"
warns "a shell may start a program that has it" \
	"counts go to sspapi.%e.%h.%p.sspapi, of each process; sspapi report shows them" sh -c true
printf '#!/bin/sh\n' >"$tmp/mpirun"
chmod +x "$tmp/mpirun"
warns "a launcher" "counts go to sspapi.%e.%j.%s/%r.sspapi, of each rank" "$tmp/mpirun"
warns "a launcher with a program" "counts go to sspapi.one.0.0/, of each rank" "$tmp/mpirun" -n 4 -wdir "$tmp" "$scenes/one"
run several env SSPAPI_FORMAT=text,csv,store SSPAPI_OUTPUT="$tmp/several.txt" "$sspapi" run -- \
	"$scenes/one"
check "of several formats the store is named" grep -qF "several.sspapi; sspapi report shows them" \
	"$tmp/several.err"
run quiet "$sspapi" run -e SSPAPI_VERBOSE=0 -- "$apps/nopapi"
is "not with SSPAPI_VERBOSE=0" "$(cat "$tmp/quiet.err")" ""
printf 'int main(void) { return 0; }\n' >"$tmp/main.c"
if ${CC:-gcc} -static -o "$tmp/static" "$tmp/main.c" 2>/dev/null; then
	warns "a static program" "statically linked" "$tmp/static"
	printf '#!%s\n' "$tmp/static" >"$tmp/script"
	printf '#!%s -x\n' "$tmp/script" >"$tmp/script2"
	chmod +x "$tmp/script" "$tmp/script2"
	warns "a script of a static interpreter" ": $tmp/static: " "$tmp/script"
	warns "a script of such a script" ": $tmp/static: " "$tmp/script2"
	printf '#!/usr/bin/env -S A=1 %s\n' "$tmp/static" >"$tmp/script3"
	chmod +x "$tmp/script3"
	warns "started by env" ": $tmp/static: " "$tmp/script3"
fi
# The loader of another C library: here a copy of ours under another name. (A real one ends the
# program if it cannot load a library.)
loader=$(readelf -l "$apps/nopapi" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
cp "$loader" "$tmp/ld-other"
# of_other PROGRAM NAME
of_other() {
	perl -0pe "s,\Q$loader\E,'./ld-other' . chr(0) x (length('$loader') - 10),e" "$1" >"$tmp/$2"
	chmod +x "$tmp/$2"
}
of_other "$(command -v env)" env-of-other
is "(it starts by that)" "$(readelf -l "$tmp/env-of-other" | grep -c '\./ld-other')" 1
without="built for another C library (PT_INTERP names its loader): it is not counted"
# left_out LABEL WHO COMMAND...: it runs without the library, and the line names WHO
left_out() {
	left_label=$1 left_who=$2
	shift 2
	warns "$left_label" "$left_who: $without" "$@"
	is "$left_label: it runs without the library" \
		"$(status_of told) $(grep '^LD_PRELOAD' "$tmp/told.out")" \
		"0 ${LD_PRELOAD:+LD_PRELOAD=$LD_PRELOAD}"
}
left_out "a program of another C library" ./env-of-other ./env-of-other
of_other "$(readlink -f "$(command -v sh)")" sh-of-other
printf '#!./sh-of-other\nenv\n' >"$tmp/other-script"
printf '#!/usr/bin/env ./sh-of-other\nenv\n' >"$tmp/other-script2"
chmod +x "$tmp/other-script" "$tmp/other-script2"
left_out "a script of another C library" ./sh-of-other ./other-script
left_out "started by env" ./sh-of-other ./other-script2
run told "$sspapi" run -e SSPAPI_VERBOSE=0 -- ./env-of-other
is "not reported, but without it" "$(cat "$tmp/told.err") $(grep '^LD_PRELOAD' "$tmp/told.out")" \
	" ${LD_PRELOAD:+LD_PRELOAD=$LD_PRELOAD}"
run told "$sspapi" run -- "$sspapi" run -- ./env-of-other
is "in a second run" "$(grep '^LD_PRELOAD' "$tmp/told.out")" "${LD_PRELOAD:+LD_PRELOAD=$LD_PRELOAD}"
run told env LD_PRELOAD="$behind$other" "$sspapi" run -- "$sspapi" run -- ./env-of-other
is "other preloads stay" "$(first told)" "LD_PRELOAD=$behind$other"
run told "$sspapi" doctor ./env-of-other
check "and doctor says so" sh -c \
	"tr -s ' \\n' '  ' <'$tmp/told.out' | tr -s ' ' | grep -qF 'built for another C library (./ld-other): libsspapi cannot be loaded into it'"
ln -s "$loader" "$tmp/ld-ours"
perl -0pe "s,\./ld-other,./ld-ours\0," "$tmp/env-of-other" >"$tmp/env-of-ours"
chmod +x "$tmp/env-of-ours"
run told "$sspapi" run -- ./env-of-ours
is "another name of our own loader" "$(first told)" "LD_PRELOAD=$ours${LD_PRELOAD:+:$LD_PRELOAD}"
# Programs started by a shell or by posix_spawn are not checked: a loader that does not support $LIB
# does not find the library.
run told "$sspapi" run -- sh -c \
	'IFS=:; for object in $LD_PRELOAD; do case $object in *libsspapi*) ls "$object"; esac; done'
is "the loader of another C library finds none" "$(cat "$tmp/told.out")" ""
run told env LD_PRELOAD="$B/libsspapi.so${LD_PRELOAD:+:$LD_PRELOAD}" "$sspapi" run -- env
is "nor one that the environment names" "$(first told)" \
	"LD_PRELOAD=$ours${LD_PRELOAD:+:$LD_PRELOAD}"
if command -v musl-gcc >/dev/null && [ -z "${SANITIZE-}" ] &&
	musl-gcc -o "$tmp/musl" "$tmp/main.c"; then
	warns "a program of musl" "$tmp/musl: $without" "$tmp/musl"
	is "a program of musl: it runs" "$(status_of told)" 0
	run told "$sspapi" run -- sh -c '"$1"; exec env "$1"' - "$tmp/musl"
	is "one that a shell starts, or env: it runs" \
		"$(status_of told) $(grep -v '^sspapi run' "$tmp/told.err")" "0 "
	run told "$sspapi" run -o "$tmp/by-shell.sspapi" -- sh -c '"$1" && exec "$2"' - \
		"$tmp/musl" "$scenes/one"
	is "and what comes after it is counted" \
		"$(status_of told) $([ -s "$tmp/by-shell.sspapi" ] && echo store)" "0 store"
else
	for what in "a program of musl" "one that a shell starts" "what comes after it"; do
		skip "$what" "no musl-gcc, or sanitized"
	done
fi
cp "$apps/nopapi" "$tmp/foreign"
printf '\003' | dd of="$tmp/foreign" bs=1 seek=18 conv=notrunc 2>/dev/null	# e_machine: i386
warns "a program of another machine" "word size or machine" "$tmp/foreign"
cp "$scenes/one" "$tmp/setuid"
chmod 4755 "$tmp/setuid"
warns "a set-user-ID program of one's own" "set-user-ID" "$tmp/setuid"
if [ "$(id -u)" = 0 ] && [ -z "${SANITIZE-}" ] && cp -r "$B"/sspapi "$B"/libsspapi*.so "$tmp"; then
	run told setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/sspapi" run -- \
		"$tmp/setuid"
	check "of another's" grep -q "set-user-ID or privileged: nothing" "$tmp/told.err"
fi

# ---- programs made with a sanitizer -----------------------------------------
# Their runtimes as users have them, and their reports: natively, started by the command, and by a
# shell that the command starts.
bug='#include <stdlib.h>
int main(int argc, char **argv) { char *p = malloc(10); free(p); return argv[0] && p[argc]; }'
saved=$ASAN_OPTIONS
unset ASAN_OPTIONS
echo "$bug" >"$tmp/bug.c"
permit=verify_asan_link_order=0
is "the option that permits it is added unless it is the last one" \
	"$(for options in "x_$permit" "exitcode=9 $permit" "exitcode=9,$permit" \
	"$permit"; do ASAN_OPTIONS=$options "$sspapi" run -e SSPAPI_VERBOSE=0 -- \
	sh -c 'echo "$ASAN_OPTIONS"'; done)" \
	"x_$permit:$permit
exitcode=9 $permit
exitcode=9,$permit
$permit"
for how in "gcc address" "gcc thread" "gcc undefined" "gcc leak" "gcc address -static-libasan" \
	"clang address" "clang address -shared-libsan"; do
	# shellcheck disable=SC2086 # words
	set -- $how
	# shellcheck disable=SC2086
	if [ -n "${SANITIZE-}" ] || ! $1 -fsanitize=$2 ${3-} -O1 -g -D_GNU_SOURCE -I"$root/tests" \
		-o "$tmp/sane" "$root/tests/scenes/one.c" \
		"$fake/libpapi.so.7.0" -pthread -ldl -lrt \
		-Wl,-rpath,"$fake:$(dirname "$($1 -print-file-name=libclang_rt.asan-x86_64.so)")" \
		2>"$tmp/cc.err"; then
		skip "$how" "sanitized, or there is no such compiler or runtime"
		continue
	fi
	run sane-native "$tmp/sane"
	run sane "$sspapi" run -e SSPAPI_VERBOSE=0 -o "$tmp/sane.json" -- "$tmp/sane"
	check "$how: as natively" same_as_native sane-native sane
	check "$how: counted" has_returned sane
	run sane "$sspapi" run -e SSPAPI_VERBOSE=0 -o "$tmp/sane.json" -- sh -c '"$0"' "$tmp/sane"
	check "$how, started by a shell: as natively" same_as_native sane-native sane
	check "$how, started by a shell: counted" has_returned sane
	case $how in *-static* | "clang address") continue ;; *address*) ;; *) continue ;; esac
	$1 -fsanitize=address ${3-} -o "$tmp/bug" "$tmp/bug.c" \
		-Wl,-rpath,"$(dirname "$($1 -print-file-name=libclang_rt.asan-x86_64.so)")"
	ASAN_OPTIONS=exitcode=9 run bug "$sspapi" run -- "$tmp/bug"
	is "$how: the sanitizer finds a bug, and the user's options are kept" \
		"$(status_of bug) $(grep -c 'heap-use-after-free' "$tmp/bug.err")" "9 2"
done
export ASAN_OPTIONS="$saved"

# ---- files that are no programs, or broken ones -------------------------------------------------
size=$(wc -c <"$scenes/one")
for cut in 1 4 20 64 200 $((size / 2)) $((size - 1)); do
	head -c "$cut" "$scenes/one" >"$tmp/cut"
	chmod +x "$tmp/cut"
	run cut "$sspapi" run -- "$tmp/cut"
	check "a program of $cut bytes does not stop it" test "$(status_of cut)" -ne 1
done
: >"$tmp/cut"
run cut "$sspapi" run -- "$tmp/cut"
is "nor is an empty one" "$(status_of cut)" 0
printf '#!' >"$tmp/cut"
run cut "$sspapi" run -- "$tmp/cut"
check "nor a script of nothing" test "$(status_of cut)" -ne 1
# Set every byte of the headers to a wrong value.
broken=0
i=16
while [ "$i" -lt 700 ]; do
	cp "$scenes/one" "$tmp/cut"
	printf '\377\377\377\377\377\377\377' | dd of="$tmp/cut" bs=1 seek="$i" \
		conv=notrunc 2>/dev/null
	run cut "$sspapi" run -e SSPAPI_VERBOSE=2 -- "$tmp/cut"
	grep -q 'Sanitizer\|runtime error' "$tmp/cut.err" && broken=$((broken + 1))
	i=$((i + 24))
done
is "headers of nonsense" "$broken" 0
done_testing
