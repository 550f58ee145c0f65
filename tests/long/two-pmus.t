# Runs random clients (proven.t) on a machine with cores of two kinds, simulated by
# tests/apps/hybrid.c: everything that PAPI returned is attributed, and nothing is proven on the
# CPUs on which its counter does not count. (Own sets of several events: 63-two-pmus.t.)
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized: its run time faults"
need_real_papi
[ "$(nproc)" -ge 2 ] || skip_all "only one CPU to run on"
run try "$apps/hybrid" own true
[ "$(status_of try)" = 0 ] || skip_all "nobody may be traced here: $(cat "$tmp/try.err")"
MORE=${MORE:+$MORE:}$REAL_PAPI_HW2SW
first=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')

# The client derives what inherited counters may have counted on the first CPU from PAPI's values
# minus the work on others: here more was returned than that.
inherited="/^wrong: CPU $first: /d; s/^(truth cpu=$first .*) most=.*/\\1 most=1000000000 least=0/"

for case in attach-runs attach-sleeps attach-forks shared inherit-threads inherit-forks \
	handlers widened; do
	seeds=$(seq "$(bounded 50 2)")
	for s in $seeds; do
		SSPAPI_ATTRIBUTION=exact run_shim "$s" "$apps/hybrid" own "$B/tests/long/proven" \
			$case "$s"
		sed -i -E "/^truth cpu=$first /!s/^(truth .*) most=.*/\1 most=0 least=0/" \
			"$tmp/$s.out"
		case $case in inherit*) sed -i -E "$inherited" "$tmp/$s.out" ;; esac
	done
	# shellcheck disable=SC2086 # numbers
	perl tests/lib/check-proven.pl "$tmp" $seeds >"$tmp/said"
	check "$case: attributed, and nothing is proven that PAPI's counter did not count" \
		not grep -v '^had' "$tmp/said"
	sed -n 's/^had/# runs, counts, proven:/p' "$tmp/said"
done
done_testing
