# A handler that calls PAPI at each instruction of the program's own call: what PAPI handed out is booked.
. tests/lib/lib.sh

plain "at each instruction" || { done_testing; exit; }
for call in read stop start accum reset "read again" "stop again" "start again" "accum again" "reset again"; do
	run_shim shim "$scenes/anywhere" $call
	if [ "$(status_of shim)" = 77 ]; then
		skip "$call" "$(cat "$tmp/shim.err")"
		continue
	fi
	is "$call: the program ends well" "$(status_of shim) $(cat "$tmp/shim.err")" "0 "
	check "$call: what PAPI handed out is booked" perl tests/lib/check-anywhere.pl "$tmp/shim.json" "$tmp/shim.out"
done
# On top of a handler, at each 7th instruction of its own calls, another one, which counts 4, as it does: where the
# values fit two orders, which the dump then says, as much may be wrong.  (The other calls: long/anywhere.t.)
if [ -n "${EMULATED-}" ]; then
	skip "accum, a handler on top of a handler" "too slow where the machine is emulated"
else
	run_shim shim "$scenes/anywhere" accum nested
	[ "$(status_of shim)" = 77 ] || {
		is "accum, a handler on top of a handler: the program ends well" "$(status_of shim) $(cat "$tmp/shim.err")" "0 "
		check "accum, a handler on top of a handler: what PAPI handed out is booked" \
			perl tests/lib/check-anywhere.pl "$tmp/shim.json" "$tmp/shim.out" 8
	}
fi
done_testing
