# Checks that whatever ends the program, everything that PAPI returned can be recovered: killed at
# random moments, by signals from outside and its own, with the scripted PAPI and the real one.
. tests/lib/lib.sh
handing=$B/tests/long/kill-target
export B SHIM
cd "$tmp" || exit 1
mkdir live

# kills NAME OPTION... TIMES PROGRAM...: makes three checks of one series
kills() {
	kills_name=$1
	shift
	perl "$root/tests/lib/long-kill.pl" --folder "$tmp" "$@" >"$tmp/.killed" 2>&1
	kills_status=$?
	cp "$tmp/.killed" "$tmp/.said"
	result $kills_status "$kills_name: all that was seen is there, at most one reading more"
	echo "# $(grep ^seed "$tmp/.killed")"
	todo=$kills_todo
	check "$kills_name: no unreadable store is left" \
		sh -c "cat '$tmp/.killed'; grep -qx 'unreadable 0' '$tmp/.killed'"
}

kills_todo=
kills "killed many times, 0 to 30 ms, all settings" --settings 1 --ready 10 "$(bounded 500 96)" \
	"$handing"
# (each of them may report the same)
kills "killed often, a folder" --live "$tmp/live" --ready 20 --within 40 "$(bounded 100 20)" \
	"$handing"
kills "killed often, 40 event sets a thread, 6 threads" --ready 60 --within 60 "$(bounded 60 10)" \
	"$handing" -t 6 -s 40
is "nothing is left in the folder" "$(ls live)" ""

for signal in SEGV ABRT BUS TERM; do
	kills "$signal from outside, often" --signal $signal --ready 10 --within 40 \
		"$(bounded 20 5)" "$handing"
done

# ---- ends of its own making -----------------------------------------------------

# ends HOW STATUS: natively and under the shim; the whole store is recovered, since the program was
# at rest
ends() {
	run_native native "$handing" -n 30 -t 1 -p "$tmp/page" -e "$1"
	is "$1: natively, status $2" "$(status_of native)" "$2"
	SSPAPI_LIVE=$tmp/live run_shim shim "$handing" -n 30 -t 1 -p "$tmp/page" -e "$1"
	check "$1: the program sees no difference" same_as_native native shim
	check "$1: no dump" not test -e "$tmp/shim.json"
	check "$1: there is a live file" test -e "$(echo live/*)"
	run recovered "$B/sspapi" recover -o "$tmp/ends.json" live/*.live
	is "$1: recovered, and the line says where" \
		"$(status_of recovered) $(cat recovered.out recovered.err)" "0 $tmp/ends.json"
	is "$1: the live file is gone" "$(ls live)" ""
	run_native ends "$handing" -n 30 -t 1
	check "$1: it has what PAPI returned" has_returned ends
	is "$1: and says how it ended" "$(json ends.json '$d->{process}{end}')" recovered
	rm -f ends.json
}
export SSPAPI_LIVE
ulimit -c 0
ends segv 139
ends abort 134
ends bus 135
ends 9 137
ends 7 135
ends 11 139
unset SSPAPI_LIVE

# ---- real PAPI ---------------------------------------------------------------------

need_real() {
	REAL_PAPI_BUILD=$B REAL_PAPI_SOFTWARE=1
	cd "$root" || exit 1
	# shellcheck disable=SC1091
	. tests/lib/real-papi.sh
	cd "$tmp" || exit 1
	[ "$REAL_PAPI" = yes ]
}
if need_real; then
	# PAPI takes some 100 ms to start.
	kills "real PAPI, killed often" ${REAL_PAPI_PRELOAD:+--preload "$REAL_PAPI_PRELOAD"} \
		--settings 1 --ready 30 --within 300 "$(bounded 96 48)" \
		"$B/tests/long/kill-target-real"
else
	skip "real PAPI" "$PAPI_HOW"
fi

is "no part of a dump is left" "$(find "$tmp" -name '*.part*')" ""
# Only files of this script (a store names its output): other programs use /dev/shm as well.
is "nothing is left in /dev/shm" "$(grep -lsF "$tmp/" /dev/shm/sspapi.*.live)" ""
done_testing
