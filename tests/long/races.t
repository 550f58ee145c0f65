# Runs 87-races.t with all actions of a handler, at every instruction.
. tests/lib/lib.sh
LIMIT=900
MORE=$preloads/step.so
[ -z "${TEST_SHORT-}" ] || export RACES_MOST=40
plain "a step at a time" || { done_testing; exit 0; }

for op in read stop accum reset start; do
	SSPAPI_CALLSITES=2 run_shim $op "$scenes/races" $op
	[ "$(status_of $op)" != 77 ] || skip_all "no trap flag here"
	is "$op: everything that PAPI returned to main is counted once" \
		"$(status_of $op) $(cat "$tmp/$op.err")" "0 "
	SSPAPI_CALLSITES=0 run_shim $op "$scenes/races" $op Z A P
	is "$op: without call sites" "$(status_of $op) $(cat "$tmp/$op.err")" "0 "
done
done_testing
