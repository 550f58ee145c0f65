# Runs threads that count while the process ends: all counts that PAPI returned are in its dump, or
# in the live file that stays, once. ENDING=N: N runs of each way.
. tests/lib/lib.sh
# (A dump while threads count is a race by intent.)
case ${SANITIZE-} in *thread*) skip_all "ThreadSanitizer" ;; esac
RUNS=${ENDING:-2}
# Several formats: a longer dump gives more time for lost counts.
export SSPAPI_FORMAT=store,json,csv SSPAPI_LIVE="$tmp/live"

# ending PROGRAM EVENT WAY STATUS [0: no dump] [OPTION=VALUE...]
ending() {
	program=$1 event=$2 way=$3 status=$4 dumps=${5-1}
	shift 4
	[ $# = 0 ] || shift
	check "$way${*:+, $*}${MORE:+, real PAPI}, $RUNS times: everything that PAPI returned, once" end_all "$@"
}

end_all() {
	i=0
	while [ $i -lt "$RUNS" ]; do
		rm -rf "$tmp/d" "$tmp/live"
		mkdir "$tmp/d" "$tmp/live"
		SSPAPI_OUTPUT=$tmp/d/x run_shim shim env "$@" "$program" "$tmp/slots" "$event" \
			"$way" 3 $((50 + 80 * i))
		is_equal "run $i: $(status_of shim) $(find "$tmp/d" -name 'x.*' |
			wc -l) $(find "$tmp/live" -type f | wc -l)" \
			"run $i: $status $((3 * dumps)) $((1 - dumps))" || { cat "$tmp/shim.err"
			return 1; }
		find "$tmp/d" "$tmp/live" -name '*.sspapi' -o -name '*.live' >"$tmp/stores"
		xargs "$B/sspapi" report -f json -o "$tmp/all.json" <"$tmp/stores" || return 1
		perl tests/lib/check-ending.pl "$tmp/slots" "$tmp/all.json" || { echo "run $i"
		return 1; }
		i=$((i + 1))
	done
}

for way in exit return _exit quick_exit missing other-exit other-_exit other-quick_exit slow-exit \
	slow-return; do
	ending "$scenes/ending" EV_A $way 4
done
for way in exec other-exec slow-exec; do
	ending "$scenes/ending" EV_A $way 0
done
for way in exit _exit exec; do
	[ $way = exec ] && status=0 || status=4
	ending "$scenes/ending" EV_A $way $status 1 SSPAPI_LIVE=0
done
plain "signals that end" && for way in abort other-abort; do
	ending "$scenes/ending" EV_A $way 134 0
done
plain "signals that end" && ending "$scenes/ending" EV_A segv 139 0
ending "$scenes/ending" EV_A raw 4 0

find_real_papi
if [ "$REAL_PAPI" = yes ]; then
	MORE=$REAL_PAPI_PRELOAD
	for way in exit _exit quick_exit; do
		ending "$apps/ending" perf::TASK-CLOCK $way 4
	done
	ending "$apps/ending" perf::TASK-CLOCK exec 0
else
	skip "real PAPI" "$PAPI_HOW"
fi
done_testing
