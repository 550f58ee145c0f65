# Interleaves calls of PAPI: with another thread's, and with a handler's.
#
# A handler calls PAPI for the set whose call it interrupted, at instructions all through that call
# (inside libpapi, between its return and our record, inside the recording), or jumps out of it.
# tests/long/races.t does it at every instruction.
. tests/lib/lib.sh
export RACES_MOST=12

# Another thread calls while the counting thread is moved to another CPU.
MORE=$preloads/meet.so
for op in read accum reset stop write; do
	for when in before after; do
		run_native native "$scenes/visits" $op $when
		run_shim visits "$scenes/visits" $op $when
		if [ "$(status_of visits)" = 77 ]; then
			skip "$op by another thread, moved $when" "only one CPU to run on"
			continue
		fi
		check "$op by another thread, moved $when libpapi does it: the program sees no difference" same_as_native native visits
		check "$op by another thread, moved $when libpapi does it: counted once" \
			has_returned visits --no-cpu
		[ $op != read ] ||
			is "a thread without a set of its own: its call is among the calls" \
			"$(json "$tmp/visits.json" '$d->{calls}{PAPI_read_ts}')" 1
	done
done

# ---- a handler ------------------------------------------------------------------------

MORE=$preloads/step.so
# (The sanitizers' own code runs in between, and is stepped through as well.)
plain "a step at a time" || { done_testing; exit 0; }

# races NAME OP PLAY...: with two frames, since a new path blocks SIGTRAP
races() {
	name=$1
	shift
	run_shim "$name" env SSPAPI_CALLSITES=2 "$scenes/races" "$@"
}

for op in read stop accum reset start; do
	races $op $op X R A Z P PS ZR AR AA SR j Rj Aj
	[ "$(status_of $op)" != 77 ] || { skip "a step at a time" "no trap flag here"
	done_testing; exit 0; }
	is "$op, a handler of X, R, A, Z, P, PS, ZR, AR, AA, SR and jumps: everything that PAPI returned to main is counted once" \
		"$(status_of $op) $(cat "$tmp/$op.err")" "0 "
done

unsure() {
	json "$tmp/$1.json" 'scalar grep { $_->{unsure} } @{$d->{relations}}'
}

races other read X
is "a handler that reads another set: no message" "$(unsure other)" 0
SSPAPI_OUTPUT=$tmp/both SSPAPI_FORMAT=json,text races both read R
is "a handler reads the set that is being read: the dump says so" "$(unsure both)" 1
check "and the text for people as well" grep -q 'a signal handler called PAPI for' "$tmp/both.txt"
done_testing
