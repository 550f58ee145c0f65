# shellcheck shell=sh disable=SC2034 # for the scripts that source it
# lib.sh: functions for the cases: run programs natively and under sspapi, compare the two, print TAP, clean up. A case
# runs in sh, from the root, and prints TAP:
#
#	. tests/lib/lib.sh
#	run_native a  $scenes/one
#	run_shim b    $scenes/one
#	check "the same output" same_as_native a b
#	done_testing
#
# Variables	$B build folder (absolute)	$root repository	$tmp the case's own folder, removed at the end
#		$sspapi the command	$apps $scenes $fake $preloads	programs built for tests
#		$SHIM comes first in LD_PRELOAD
#		$MORE other objects that the case preloads, after the shim and natively
#		$NORMAL a sed command for other differences from a native run
#		$todo if not empty: the reason why the next check may fail
# A program that hangs is killed after $LIMIT seconds (four times that if sanitized): status 124. No busy
# machine takes as long, so it shows a hang, not a load.

root=$(pwd -P)
: "${B:=$root/build}" "${LIMIT:=240}"
sspapi=$B/sspapi apps=$B/tests/apps scenes=$B/tests/scenes fake=$B/tests/fake \
	preloads=$B/tests/preload
MORE='' todo='' user='' checks=0

[ -e "$B/libsspapi.so" ] || { echo "Bail out! $B/libsspapi.so is not there: make"; exit 1; }

# Make sed, grep and sort work the same everywhere (in Turkish "i" is not in [a-z]); 96-locale.t
# tests other locales.
LC_ALL=C
export LC_ALL

# Remove the caller's settings: variables of sspapi, PAPI and batch systems, and the terminal.
for name in $(env | sed -nE 's/^((SSPAPI|PAPI|FAKE|LD|LIBPFM|HWLOC|OMPI|MPI|PMIX?|MV2|SLURM|PBS|LSB|SGE)_[A-Za-z0-9_]*|JOB_ID|NO_COLOR|COLUMNS|LINES|TERM|PAGER|MANPAGER|TZ|POSIXLY_CORRECT)=.*/\1/p'); do
	unset "$name"
done

# Succeeds if a thread can have a locked page of the kernel, as core/base/mlock-budget.h divides
# them.
locked_page() {
	kb=$(($(cat /proc/sys/kernel/perf_event_mlock_kb) * $(getconf _NPROCESSORS_ONLN))) \
		limit=$(ulimit -l)
	[ "$limit" = unlimited ] || [ "$limit" -ge $kb ] || kb=$limit
	[ $((kb * 1024 / 8)) -ge "$(getconf PAGESIZE)" ]
}

# Imitates a machine that libpfm4 does not support; TEST_UNKNOWN_CPU=1 does so for the whole of make
# check.
unknown_cpu() {
	LIBPFM_DISABLED_PMUS=$(env -u LIBPFM_DISABLED_PMUS papi_component_avail 2>/dev/null |
		sed -n 's/.*PMUs supported: //p' | tr -d ' ' |
		tr ',' '\n' | grep -v '^perf' | paste -sd, -)
	export LIBPFM_DISABLED_PMUS
}
[ -z "${TEST_UNKNOWN_CPU-}" ] || unknown_cpu

# Succeeds if sspapi sees the calls that libpapi makes itself, in rates and the high level.
# (Ubuntu's is linked with -Bsymbolic-functions.)
inside() {
	! "$sspapi" doctor "$apps/basics" 2>/dev/null | grep -q 'linked with -Bsymbolic' ||
		{ skip "$1" "libpapi is linked with -Bsymbolic"; return 1; }
}

SHIM=$B/libsspapi.so
SANITIZE_SLOWS=${SANITIZE:+4}
: "${SANITIZE_SLOWS:=1}"
case ${SANITIZE-} in
*address*) SHIM=$(${CC:-gcc} -print-file-name=libasan.so):$SHIM ;;
*thread*) SHIM=$(${CC:-gcc} -print-file-name=libtsan.so):$SHIM ;;
esac
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 \
	UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

tmp=$(mktemp -d "${TMPDIR:-/tmp}/sspapi-case.XXXXXX")
chmod 755 "$tmp"
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

# Also remove live files that killed processes of this case left in the standard place. Those name
# $tmp, as the place of the dump or the working directory.
clean_up() {
	find /dev/shm -maxdepth 1 -name 'sspapi.*.live' -exec grep -lF -- "$tmp" {} \
		+ 2>/dev/null | tr '\n' '\0' | xargs -0r rm -f
	chmod -R u+rwx "$tmp" 2>/dev/null
	rm -rf "$tmp"
}

# ---- TAP ----------------------------------------------------------------------

# bounded LONG SHORT: prints LONG, or SHORT with TEST_SHORT, as .ci/run runs the long tests
bounded() {
	[ -z "${TEST_SHORT-}" ] && echo "$1" || echo "$2"
}

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

# .ci/run leaves out the tests that would begin after TEST_UNTIL, in seconds since 1970.
[ -z "${TEST_UNTIL-}" ] || [ "$(date +%s)" -lt "$TEST_UNTIL" ] || skip_all "no time left"

done_testing() {
	echo "1..$checks"
}

# result STATUS NAME: prints a TAP line; a failed one is followed by the command's output
result() {
	checks=$((checks + 1))
	if [ "$1" = 0 ]; then
		echo "ok $checks - $2${todo:+ # TODO $todo}"
	else
		echo "not ok $checks - $2${todo:+ # TODO $todo}"
		head -c 3000 "$tmp/.said" | sed -e 's/^/# /' -e '$a\' >"$tmp/.why"
		cat "$tmp/.why"
		# prove shows only standard error.
		[ -z "${HARNESS_ACTIVE-}" ] || [ -n "$todo" ] || { echo "# $0 $checks: $2" |
			cat - "$tmp/.why" >&2; }
	fi
	todo=''
}

# check NAME COMMAND...: passes if the command succeeds
check() {
	check_name=$1
	shift
	"$@" >"$tmp/.said" 2>&1
	result $? "$check_name"
}

# is NAME GOT WANTED: passes if both are equal
is() {
	printf 'got:    %s\nwanted: %s\n' "$2" "$3" >"$tmp/.said"
	[ "$2" = "$3" ]
	result $? "$1"
}

skip() {
	checks=$((checks + 1))
	echo "ok $checks - $1 # SKIP $2"
}

# plain NAME: skips the test of that name in builds with a sanitizer, whose runtime has its own
# faults, handlers and messages
plain() {
	[ -z "${SANITIZE-}" ] && return 0
	skip "$1" "sanitized"
	return 1
}

not() {
	! "$@"
}

# await COMMAND...: repeats it until it succeeds; fails after $LIMIT seconds
await() {
	await_end=$(($(date +%s) + LIMIT))
	until "$@"; do
		[ "$(date +%s)" -lt $await_end ] || return 1
		sleep 0.05
	done
}

# ---- running --------------------------------------------------------------------

# run NAME COMMAND...: saves stdout, stderr and status in $tmp/NAME.out, .err, .status
run() {
	run_name=$1
	shift
	# shellcheck disable=SC2086 # words
	timeout -k 5 "$((SANITIZE_SLOWS * LIMIT))" $user \
		"$@" >"$tmp/$run_name.out" 2>"$tmp/$run_name.err" </dev/null
	echo $? >"$tmp/$run_name.status"
}

run_native() {
	run_to=$1
	shift
	run "$run_to" env ${MORE:+LD_PRELOAD="$MORE"} "$@"
}

# Writes the dump to $tmp/NAME.json unless SSPAPI_OUTPUT is set (empty: the default).
run_shim() {
	run_to=$1
	shift
	if [ -n "${SSPAPI_OUTPUT+set}" ]; then
		run "$run_to" env LD_PRELOAD="$SHIM${MORE:+:$MORE}" "$@"
	else
		run "$run_to" env LD_PRELOAD="$SHIM${MORE:+:$MORE}" \
			SSPAPI_OUTPUT="$tmp/$run_to.json" "$@"
	fi
}

status_of() {
	cat "$tmp/$1.status"
}

# Hides values that differ from run to run: thread and process ids, times.
normal() {
	sed -E -e 's/\b(tid|pid|target)=[0-9]+/\1=N/g' \
		-e 's/\b(event=(\w+::)?(TASK-CLOCK|cycles|real_time_nsec)) value=[0-9]+/\1 value=N/' \
		-e "${NORMAL-}" "$1"
}

same_stream() {
	normal "$tmp/$1.$3" >"$tmp/.native"
	normal "$tmp/$2.$3" >"$tmp/.shim"
	diff "$tmp/.native" "$tmp/.shim"
}

# same_as_native NATIVE SHIM: compares stdout, stderr and status
same_as_native() {
	same_stream "$1" "$2" status && same_stream "$1" "$2" out && same_stream "$1" "$2" err
}

# has_returned NAME [OPTION...]: checks that the dump $tmp/NAME.json has what PAPI returned in
# $tmp/NAME.out
has_returned() {
	books_of=$1
	shift
	perl "$root/tests/lib/check-handed.pl" "$@" "$tmp/$books_of.json" "$tmp/$books_of.out"
}

# json FILE EXPRESSION: evaluates perl with the dump in $d; prints the results, one per line
json() {
	perl "$root/tests/lib/json.pl" "$@"
}

# another_process STORE: changes the process's start by a ns; copies of one process's store count
# only once
another_process() {
	perl -e 'open my $f, "+<:raw", $ARGV[0] or die; sub at { seek $f, $_[0], 0;
		read $f, my $v, 8; unpack "Q", $v }
		my $process = at(376);	# 0 in a live file, which has only its header
		for my $start (96, $process ? $process + 32 + 96 : ()) {
			my $ns = at($start) + 1;
			seek $f, $start, 0;
			print $f pack "Q", $ns;
		}' "$1"
}

# Prints our lines on stderr.
lines_of() {
	grep '^sspapi: ' "$tmp/$1.err"
}

# said NAME WORD...: succeeds if stderr has one line from us, with all the words
said() {
	said_of=$1
	shift
	lines_of "$said_of" >"$tmp/.lines"
	[ "$(wc -l <"$tmp/.lines")" = 1 ] || { echo "not one line:"; cat "$tmp/$said_of.err"
	return 1; }
	for said_word in "$@"; do
		grep -qF -- "$said_word" "$tmp/.lines" || { echo "no '$said_word' in"
		cat "$tmp/.lines"; return 1; }
	done
}

# as_nobody: makes later run, run_native and run_shim an ordinary user, if we are root. They use a
# copy of the build, and can write to $tmp/nobody.
as_nobody() {
	mkdir -m 777 "$tmp/nobody"
	[ "$(id -u)" = 0 ] || return 0
	user="setpriv --reuid=65534 --regid=65534 --clear-groups"
	mkdir -p "$tmp/built/tests/fake"
	cp -a "$B"/libsspapi*.so* "$root/tests/software-presets.csv" "$tmp/built"
	cp -r "$B/tests/apps" "$B/tests/scenes" "$B/tests/preload" "$tmp/built/tests"
	cp "$B"/tests/fake/lib* "$tmp/built/tests/fake"
	MORE=$(echo "$MORE" | sed "s,$B/,$tmp/built/,g") \
		SHIM=$(echo "$SHIM" | sed "s,$B/,$tmp/built/,g")
	apps=$tmp/built/tests/apps scenes=$tmp/built/tests/scenes
	[ -z "${PAPI_CSV_EVENT_FILE-}" ] || PAPI_CSV_EVENT_FILE=$tmp/built/software-presets.csv
}

# Sources real-papi.sh, from the root.
find_real_papi() {
	REAL_PAPI_BUILD=$B REAL_PAPI_SOFTWARE=1
	# shellcheck disable=SC1091
	. tests/lib/real-papi.sh
}

# Sets MORE for real PAPI; skips the case if that cannot count.
need_real_papi() {
	find_real_papi
	[ "$REAL_PAPI" = yes ] || skip_all "$PAPI_HOW"
	MORE=$REAL_PAPI_PRELOAD
}

# Skips the case if sspapi stat cannot count. The command needs no sanitizer's runtime preloaded;
# programs that it starts do not inherit it.
need_stat() {
	case ${SANITIZE-} in *address* | *thread*) export LD_PRELOAD="${SHIM%:*}" ;; esac
	run try "$B/sspapi" stat true
	[ "$(status_of try)" = 0 ] ||
		skip_all "the kernel lets nobody count here: $(cat "$tmp/try.err")"
	at_most 16
}

# at_most N: uses at most N CPUs from here on. With more than 16, stat has no rows for short threads
# (97-stat-long-lived.t).
at_most() {
	[ "$(nproc)" -le "$1" ] || taskset -pc "$(taskset -pc $$ | sed 's/.*: //' | tr , '\n' |
		while IFS=- read -r from to; do seq "$from" "${to:-$from}"; done | head -n "$1" |
		paste -sd,)" $$ >"$tmp/taskset"
}

# Succeeds if this user may count in the kernel (context switches, :k). Root of a user namespace may
# not.
sees_kernel() {
	caps=0
	[ "$(tr -s ' ' </proc/self/uid_map)" != " 0 0 4294967295" ] ||
		caps=0x$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
	# CAP_SYS_ADMIN, CAP_PERFMON
	[ $(((caps >> 21 | caps >> 38) & 1)) = 1 ] ||
		[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 2 ]
}

# is_equal GOT WANTED: compares them, for check
is_equal() {
	printf 'got:    %s\nwanted: %s\n' "$1" "$2"
	[ "$1" = "$2" ]
}
