# shellcheck shell=sh disable=SC2034,SC2154 # for the scripts that source it, or lib.sh's
# rows.sh: runs one half of a test in a guest, and the other here, since perl takes seconds there. A
# test is
#
#	machine=aarch64
#	. tests/machines/rows.sh
#	guest 'echo 2 >/proc/sys/kernel/perf_event_paranoid'	a command, in the guest only
#	row NAME CHECK[,OPTION...]... -- WALK'S ARGUMENTS	see walk.c; the checks: walk.pl
#	refused NAME WORDS -- WALK'S ARGUMENTS	PAPI cannot count there, and sspapi doctor says WORDS
#	calls NAME EVENT...		sspapi's additions to the system calls of PAPI
#	done_rows
#
# It runs from the root, by prove, on the host: it boots its machine, where the same file runs each
# row natively and under the shim; then the host checks the results. Variables: $APPEND (the
# kernel's command line), $FAST (run), $user (setpriv...: the user of the rows), $ROW_ENV
# (NAME=VALUE... for their programs), $ROW_PROGRAM (instead of walk), $ROW_BEFORE (a command before
# each run), $out (the folder of the results: NAME.native.out, NAME.shim.out, .err, .status,
# NAME.json). RECHECK=1: checks the results of the previous boot once more.

rows_file=$0
user='' ROW_ENV='' ROW_BEFORE='' ROW_PROGRAM=''

# ---- in the guest --------------------------------------------------------------

# row_run NAME SIDE PRELOAD ARGUMENTS...
row_run() {
	row_to=/tmp/rows/$1.$2 row_json=/tmp/rows/$1.json row_preload=$3
	shift 3
	# shellcheck disable=SC2086 # words
	timeout -k 5 1000 $user env LD_PRELOAD="$row_preload" SSPAPI_OUTPUT="$row_json" \
		$ROW_ENV "$@" \
		>"$row_to.out" 2>"$row_to.err" </dev/null
	echo $? >"$row_to.status"
}

guest_row() {
	row_name=$1
	while [ "$1" != -- ]; do shift; done
	shift
	eval "$ROW_BEFORE"
	row_run "$row_name" native '' "${ROW_PROGRAM:-$B/tests/machines/walk}" "$@"
	eval "$ROW_BEFORE"
	row_run "$row_name" shim "$B/libsspapi.so" "${ROW_PROGRAM:-$B/tests/machines/walk}" "$@"
	cp /tmp/rows/"$row_name".* /mnt/rows
	echo "$row_name: $(cut -d' ' -f1 /proc/uptime) s"
}

guest_refused() {
	guest_row "$@"
	$user "$B/sspapi" doctor >"/tmp/rows/$1.doctor" 2>&1
	cp "/tmp/rows/$1.doctor" /mnt/rows
}

# ---- on the host ---------------------------------------------------------------

boot() {
	out=$B/machines/$machine-$(basename "$rows_file" .t)
	if [ "${RECHECK-}" = 1 ]; then
		out=$out/rows
		return
	fi
	rm -rf "$out"
	mkdir -p "$out/rows"
	chmod 777 "$out/rows"
	case $machine in
	"$(uname -m | tr _ -)")	boot_build=$B ;;
	*)			boot_build=$B/$machine ;;
	esac
	FOLDER=$out tests/machines/run "$machine" "$boot_build" env GUEST=1 ONLY="${ONLY-}" \
		sh "$rows_file" \
		>"$out/said" 2>&1
	boot_status=$?
	sed 's/^/# /' "$out/said"
	out=$out/rows
	result $boot_status "$machine boots, and runs its rows"
}

# Compares statuses, and numbers of readings; the checks compare the values.
as_native() {
	for side in native shim; do
		echo "$(cat "$out/$1.$side.status") $(grep -c ^handed \
			"$out/$1.$side.out") $(grep -v ^sspapi: "$out/$1.$side.err")" >"$tmp/$side"
	done
	diff "$tmp/native" "$tmp/shim" || { cat "$out/$1.shim.out" "$out/$1.shim.err"; return 1; }
}

# PAPI does not count here: the program prints why, and doctor does.
host_refused() {
	check "$1: refused natively" is_equal "$(cat "$out/$1.native.status")" 77
	check "$1: and no different under the shim" diff "$out/$1.native.out" "$out/$1.shim.out"
	check "$1: nor its status and error output" as_native "$1"
	check "$1: the doctor says $2" grep -F -- "$2" "$out/$1.doctor"
}

host_row() {
	row_name=$1
	shift
	if [ ! -e "$out/$row_name.shim.status" ]; then
		check "$row_name: ran" false
		return
	fi
	[ "$(cat "$out/$row_name.native.status")" = 0 ] || check "$row_name: runs natively" \
		not cat "$out/$row_name.native.out" "$out/$row_name.native.err"
	check "$row_name: it runs as natively" as_native "$row_name"
	while [ "$1" != -- ]; do
		# shellcheck disable=SC2046 # words
		check "$row_name: $1" perl tests/machines/walk.pl "${1%%,*}" \
			"$out/$row_name.shim.out" "$out/$row_name.json" \
			"$out/lstopo.xml" $(echo "$1" | tr , ' ' | cut -s -d' ' -f2-)
		shift
	done
}

# few_calls NAME ASKS: checks the output of steady.c
few_calls() {
	more=$2
	case $machine:$1 in *-new:* | *-rseq-0) more=$(($2 + 2)) ;; esac
	for call in "start_and_stop $more" "read $2"; do
		echo "$call $(sed -n "s/^${call% *},_system_calls //p" "$out/$1.native.out" \
			"$out/$1.shim.out" | paste -sd' ')"
	done | awk '{ print; bad = bad || NF != 4 || $4 - $3 > $2 } END { exit bad }'
}

# ---- either --------------------------------------------------------------------

# System calls added while the thread stays: none. If rseq does not report moves, two per start and
# stop; without rseq, one per call for which libc has to query the kernel for the CPU's number.
calls() {
	calls_name=$1
	shift
	ROW_PROGRAM=$B/tests/machines/steady
	for rseq in 1 0; do
		ROW_ENV="SSPAPI_ATTRIBUTION=exact GLIBC_TUNABLES=glibc.pthread.rseq=$rseq"
		row "calls-$calls_name-rseq-$rseq" -- "$@"
		case $machine$rseq in
		aarch64*0)	asks=1 ;;
		*)		asks=0 ;;
		esac
		[ "${GUEST-}" = 1 ] || check "$calls_name, rseq $rseq: system calls" few_calls \
			"calls-$calls_name-rseq-$rseq" $asks
	done
	ROW_ENV='' ROW_PROGRAM=''
}

if [ "${GUEST-}" = 1 ]; then
	mkdir -m 777 /tmp/rows
	lstopo-no-graphics --no-io --of xml -f /mnt/rows/lstopo.xml
	row() { guest_row "$@"; }
	guest() { eval "$@"; }
	refused() { guest_refused "$@"; }
	done_rows() { echo "all rows: $(cut -d' ' -f1 /proc/uptime) s"; }
else
	. tests/lib/lib.sh
	boot
	row() { host_row "$@"; }
	guest() { :; }
	refused() { host_refused "$@"; }
	done_rows() { done_testing; }
fi
