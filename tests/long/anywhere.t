# As 87-anywhere.t, with each kind of handler at each instruction, and after a move, too; on top of a handler, as well.
. tests/lib/lib.sh

plain "at each instruction" || { done_testing; exit; }
for call in read stop start accum reset; do
	for moved in '' moved; do
		# shellcheck disable=SC2086 # nothing, or a word
		run_shim shim "$scenes/anywhere" $call $moved all
		if [ "$(status_of shim)" = 77 ]; then
			skip "$call $moved" "$(cat "$tmp/shim.err")"
			continue
		fi
		is "$call $moved: the program ends well" "$(status_of shim) $(cat "$tmp/shim.err")" "0 "
		check "$call $moved: what PAPI handed out is booked" \
			perl tests/lib/check-anywhere.pl "$tmp/shim.json" "$tmp/shim.out"
	done
	# shellcheck disable=SC2046 # nothing, or a word
	run_shim shim "$scenes/anywhere" $call nested $(bounded all '')
	[ "$(status_of shim)" != 77 ] || continue
	is "$call, a handler on top of a handler: the program ends well" "$(status_of shim) $(cat "$tmp/shim.err")" "0 "
	check "$call, a handler on top of a handler: what PAPI handed out is booked" \
		perl tests/lib/check-anywhere.pl "$tmp/shim.json" "$tmp/shim.out" 8
done
done_testing
