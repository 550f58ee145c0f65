# Adds up what PAPI returned to its own test programs and tools, in a preload before ours
# (oracle.c): that is the sum over CPUs in the dumps, in every mode.
#
#	ONLY='ctests/zero' sh tests/long/oracle.t	some of them, by a regex
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
need_real_papi
built=$B/tests/papi-tests
[ -e "$built/programs" ] || [ ! -e /usr/share/doc/papi-examples/examples/ctests/zero.c ] ||
	sh tests/long/papi-tests/build.sh "$built" >"$tmp/build" 2>&1
[ -e "$built/programs" ] || skip_all "PAPI's test programs are not built here"
LIMIT=20
preload=$preloads/oracle.so:$SHIM:${MORE:+$MORE:}$REAL_PAPI_HW2SW
ulimit -c 0
mkdir "$tmp/work"
ln -s "$built"/* "$tmp/work"
grep '^CPU,' tests/software-presets.csv |
	cat - tests/long/papi-tests/presets.csv >"$tmp/presets.csv"

# A program that is killed, or ends by _exit, has reported nothing. Each has a folder of its own:
# children outlive some.
one() {
	runs=$((runs + 1))
	dumps=$tmp/dumps.$runs handed=$tmp/handed.$runs
	(cd "$tmp/work" && LD_PRELOAD=$preload ORACLE=$handed SSPAPI_OUTPUT=$dumps/%p.json \
		SSPAPI_ATTRIBUTION=$mode TESTS_QUIET=1 \
		PAPI_CSV_EVENT_FILE=$tmp/presets.csv timeout -k 5 $LIMIT \
		"$@" >"$tmp/out" 2>&1 </dev/null)
	[ -s "$handed" ] || return 0
	ended=$((ended + 1))
	perl tests/lib/check-handed.pl --no-cpu "$dumps"/*.json "$handed" >"$tmp/why" ||
		echo "$*: $(head -n 2 "$tmp/why" | tr '\n' ' ')"
}

# A program that executes another one has not reported earlier values; the names of sde's events
# have blanks.
programs() {
	grep -E "${ONLY-.}" "$built/programs" | grep -vE 'exec|/sde/' | sed -n "1~$(bounded 1 6)p"
}

runs=0
for mode in $(bounded "auto exact residency reading" auto); do
	ended=0
	{
		for program in $(programs); do
			one "./$program"
		done
		for event in perf::PAGE-FAULTS PAPI_TOT_INS; do
			one papi_command_line $event
			one papi_multiplex_cost -m 2
		done
		one papi_cost -t 1000
	} >"$tmp/said"
	check "$mode: what PAPI returned to $ended programs is in their dumps" \
		not grep . "$tmp/said"
done
done_testing
