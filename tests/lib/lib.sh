# shellcheck shell=sh disable=SC2034 # the variables are for who sources it
# lib.sh: what the cases share: programs run natively and under sspapi, comparisons of the two, TAP, and what is cleaned up. A case is sourced-from-the-root sh that prints TAP:
#
#	. tests/lib/lib.sh
#	run_native a  $scenes/one
#	run_shim b    $scenes/one
#	check "the same output" same_as_native a b
#	done_testing
#
# Variables	$B build folder (absolute)	$root repository	$tmp the case's own folder, gone at the end
#		$sspapi the command	$apps $scenes $fake $preloads	what was built for tests
#		$SHIM what to put first into LD_PRELOAD
#		$MORE other objects to preload, by the case; after the shim, and natively
#		$NORMAL a sed command for what else may differ from a native run
#		$todo if not empty: why the next check may fail
# A program that hangs is killed after $LIMIT seconds (four times that if sanitized): status 124. Far more
# than a busy machine makes of any: it tells of a hang, never of a load.

root=$(pwd -P)
: "${B:=$root/build}" "${LIMIT:=240}"
sspapi=$B/sspapi apps=$B/tests/apps scenes=$B/tests/scenes fake=$B/tests/fake preloads=$B/tests/preload
MORE='' todo='' user='' n=0

[ -e "$B/libsspapi.so" ] || { echo "Bail out! $B/libsspapi.so is not there: make"; exit 1; }

# The tests' own sed, grep and sort mean the same everywhere (in Turkish "i" is not in [a-z]); 96-locale.t tries others.
LC_ALL=C
export LC_ALL

# Nothing of who runs the tests gets into them: no settings, no batch job, no terminal.
for name in $(env | sed -nE 's/^((SSPAPI|PAPI|FAKE|LD|LIBPFM|HWLOC|OMPI|MPI|PMIX?|MV2|SLURM|PBS|LSB|SGE)_[A-Za-z0-9_]*|JOB_ID|NO_COLOR|COLUMNS|LINES|TERM|PAGER|MANPAGER|TZ|POSIXLY_CORRECT)=.*/\1/p'); do
	unset "$name"
done

# Does a thread get a locked page of the kernel's, as core/base/mlock-budget.h shares them out?
locked_page() {
	kb=$(($(cat /proc/sys/kernel/perf_event_mlock_kb) * $(getconf _NPROCESSORS_ONLN))) limit=$(ulimit -l)
	[ "$limit" = unlimited ] || [ "$limit" -ge $kb ] || kb=$limit
	[ $((kb * 1024 / 8)) -ge "$(getconf PAGESIZE)" ]
}

# TEST_UNKNOWN_CPU=1: as on a machine that libpfm4 does not know; elsewhere for the whole of make check.
unknown_cpu() {
	LIBPFM_DISABLED_PMUS=$(env -u LIBPFM_DISABLED_PMUS papi_component_avail 2>/dev/null | sed -n 's/.*PMUs supported: //p' | tr -d ' ' |
		tr ',' '\n' | grep -v '^perf' | paste -sd, -)
	export LIBPFM_DISABLED_PMUS
}
[ -z "${TEST_UNKNOWN_CPU-}" ] || unknown_cpu

# Does sspapi see what libpapi calls of itself, in rates and in the high level? (Ubuntu's is linked with -Bsymbolic-functions.)
inside() {
	! "$sspapi" doctor "$apps/basics" 2>/dev/null | grep -q 'linked with -Bsymbolic' || { skip "$1" "libpapi is linked with -Bsymbolic"; return 1; }
}

SHIM=$B/libsspapi.so
SANITIZE_SLOWS=${SANITIZE:+4}
: "${SANITIZE_SLOWS:=1}"
case ${SANITIZE-} in
*address*) SHIM=$(${CC:-gcc} -print-file-name=libasan.so):$SHIM ;;
*thread*) SHIM=$(${CC:-gcc} -print-file-name=libtsan.so):$SHIM ;;
esac
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

tmp=$(mktemp -d "${TMPDIR:-/tmp}/sspapi-case.XXXXXX")
chmod 755 "$tmp"
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

# What its killed processes left in the standard place goes, too: those stores name $tmp, as the
# place of the dump or the working directory.
clean_up() {
	find /dev/shm -maxdepth 1 -name 'sspapi.*.live' -exec grep -lF -- "$tmp" {} + 2>/dev/null | tr '\n' '\0' | xargs -0r rm -f
	chmod -R u+rwx "$tmp" 2>/dev/null
	rm -rf "$tmp"
}

# ---- TAP ----------------------------------------------------------------------

# bounded LONG SHORT: how many; with TEST_SHORT, as .ci/run has the long tests, the second
bounded() {
	[ -z "${TEST_SHORT-}" ] && echo "$1" || echo "$2"
}

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

done_testing() {
	echo "1..$n"
}

# result STATUS NAME: what was printed before goes with it as a comment if it failed
result() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2${todo:+ # TODO $todo}"
	else
		echo "not ok $n - $2${todo:+ # TODO $todo}"
		head -c 3000 "$tmp/.said" | sed -e 's/^/# /' -e '$a\' >"$tmp/.why"
		cat "$tmp/.why"
		# prove shows what is on standard error alone.
		[ -z "${HARNESS_ACTIVE-}" ] || [ -n "$todo" ] || { echo "# $0 $n: $2" | cat - "$tmp/.why" >&2; }
	fi
	todo=''
}

# check NAME COMMAND...: does it succeed?
check() {
	check_name=$1
	shift
	"$@" >"$tmp/.said" 2>&1
	result $? "$check_name"
}

# is NAME GOT WANTED
is() {
	printf 'got:    %s\nwanted: %s\n' "$2" "$3" >"$tmp/.said"
	[ "$2" = "$3" ]
	result $? "$1"
}

skip() {
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# plain NAME: is this build without sanitizers, whose run time has faults, handlers and
# complaints of its own? If not, the test of that name is skipped.
plain() {
	[ -z "${SANITIZE-}" ] && return 0
	skip "$1" "sanitized"
	return 1
}

not() {
	! "$@"
}

# await COMMAND...: until it succeeds; $LIMIT seconds later it fails
await() {
	await_end=$(($(date +%s) + LIMIT))
	until "$@"; do
		[ "$(date +%s)" -lt $await_end ] || return 1
		sleep 0.05
	done
}

# ---- running --------------------------------------------------------------------

# run NAME COMMAND...: stdout, stderr, status in $tmp/NAME.out, .err, .status
run() {
	run_name=$1
	shift
	# shellcheck disable=SC2086 # words
	timeout -k 5 "$((SANITIZE_SLOWS * LIMIT))" $user "$@" >"$tmp/$run_name.out" 2>"$tmp/$run_name.err" </dev/null
	echo $? >"$tmp/$run_name.status"
}

run_native() {
	run_to=$1
	shift
	run "$run_to" env ${MORE:+LD_PRELOAD="$MORE"} "$@"
}

# The dump is $tmp/NAME.json unless SSPAPI_OUTPUT is set (empty: the default).
run_shim() {
	run_to=$1
	shift
	if [ -n "${SSPAPI_OUTPUT+set}" ]; then
		run "$run_to" env LD_PRELOAD="$SHIM${MORE:+:$MORE}" "$@"
	else
		run "$run_to" env LD_PRELOAD="$SHIM${MORE:+:$MORE}" SSPAPI_OUTPUT="$tmp/$run_to.json" "$@"
	fi
}

status_of() {
	cat "$tmp/$1.status"
}

# Without what differs from run to run: thread and process ids, times.
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

# same_as_native NATIVE SHIM: stdout, stderr and status are equal
same_as_native() {
	same_stream "$1" "$2" status && same_stream "$1" "$2" out && same_stream "$1" "$2" err
}

# books NAME [OPTION...]: the dump $tmp/NAME.json has what $tmp/NAME.out was handed
books() {
	books_of=$1
	shift
	perl "$root/tests/lib/check-handed.pl" "$@" "$tmp/$books_of.json" "$tmp/$books_of.out"
}

# json FILE EXPRESSION: perl, with the dump in $d; prints what it gives, a line each
json() {
	perl "$root/tests/lib/json.pl" "$@"
}

# another_process STORE: makes it that of one that began a ns later; a copy is the same process, and counts once
another_process() {
	perl -e 'open my $f, "+<:raw", $ARGV[0] or die; sub at { seek $f, $_[0], 0; read $f, my $v, 8; unpack "Q", $v }
		my $process = at(376);	# of a live file 0: its header is all there is
		for my $start (96, $process ? $process + 32 + 96 : ()) {
			my $ns = at($start) + 1;
			seek $f, $start, 0;
			print $f pack "Q", $ns;
		}' "$1"
}

# Our lines on stderr.
lines_of() {
	grep '^sspapi: ' "$tmp/$1.err"
}

# said NAME WORD...: is there one line on stderr with all the words, and no other line from us?
said() {
	said_of=$1
	shift
	lines_of "$said_of" >"$tmp/.lines"
	[ "$(wc -l <"$tmp/.lines")" = 1 ] || { echo "not one line:"; cat "$tmp/$said_of.err"; return 1; }
	for said_word in "$@"; do
		grep -qF -- "$said_word" "$tmp/.lines" || { echo "no '$said_word' in"; cat "$tmp/.lines"; return 1; }
	done
}

# as_nobody: from now on run, run_native, run_shim are an ordinary user, if we are root: from a
# copy of what was built, and with $tmp/nobody to write into.
as_nobody() {
	mkdir -m 777 "$tmp/nobody"
	[ "$(id -u)" = 0 ] || return 0
	user="setpriv --reuid=65534 --regid=65534 --clear-groups"
	mkdir -p "$tmp/built/tests/fake"
	cp -a "$B"/libsspapi*.so* "$root/tests/software-presets.csv" "$tmp/built"
	cp -r "$B/tests/apps" "$B/tests/scenes" "$B/tests/preload" "$tmp/built/tests"
	cp "$B"/tests/fake/lib* "$tmp/built/tests/fake"
	MORE=$(echo "$MORE" | sed "s,$B/,$tmp/built/,g") SHIM=$(echo "$SHIM" | sed "s,$B/,$tmp/built/,g")
	apps=$tmp/built/tests/apps scenes=$tmp/built/tests/scenes
	[ -z "${PAPI_CSV_EVENT_FILE-}" ] || PAPI_CSV_EVENT_FILE=$tmp/built/software-presets.csv
}

# What real-papi.sh sets; from the root.
find_real_papi() {
	REAL_PAPI_BUILD=$B REAL_PAPI_SOFTWARE=1
	# shellcheck disable=SC1091
	. tests/lib/real-papi.sh
}

# Sets MORE for real PAPI, and skips the case where it cannot count.
need_real_papi() {
	find_real_papi
	[ "$REAL_PAPI" = yes ] || skip_all "$PAPI_HOW"
	MORE=$REAL_PAPI_PRELOAD
}

# Skips the case where sspapi stat cannot count. The command needs no sanitizer's run time in front; what it starts does
# not know one.
need_stat() {
	case ${SANITIZE-} in *address* | *thread*) export LD_PRELOAD="${SHIM%:*}" ;; esac
	run try "$B/sspapi" stat true
	[ "$(status_of try)" = 0 ] || skip_all "the kernel lets nobody count here: $(cat "$tmp/try.err")"
	at_most 16
}

# at_most N: on so many of the CPUs from now on. On more than 16 stat has no rows of short threads (97-stat-long-lived.t).
at_most() {
	[ "$(nproc)" -le "$1" ] || taskset -pc "$(taskset -pc $$ | sed 's/.*: //' | tr , '\n' |
		while IFS=- read -r from to; do seq "$from" "${to:-$from}"; done | head -n "$1" | paste -sd,)" $$ >"$tmp/taskset"
}

# May this user count in the kernel (context switches, :k)?  Root of a user namespace has no such right.
sees_kernel() {
	caps=0
	[ "$(tr -s ' ' </proc/self/uid_map)" != " 0 0 4294967295" ] || caps=0x$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
	# CAP_SYS_ADMIN, CAP_PERFMON
	[ $(((caps >> 21 | caps >> 38) & 1)) = 1 ] || [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 2 ]
}

# is_equal GOT WANTED, for check
is_equal() {
	printf 'got:    %s\nwanted: %s\n' "$1" "$2"
	[ "$1" = "$2" ]
}
