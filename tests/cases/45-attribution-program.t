# SSPAPI_ATTRIBUTION: the program also forks, jumps, closes descriptors and ends.
. tests/lib/lib.sh
. tests/lib/moves.sh

NORMAL='s/^(touched|handed|unsure).*//'		# the cost of a fork or jump differs
for mode in residency exact auto; do
	for how in closes jumps disables sandbox "threads 20"; do
		# shellcheck disable=SC2086 # words
		moved $mode sum "$apps/disruptions" $how
	done
	moved $mode "$([ $mode = residency ] && echo sum || echo exact)" "$apps/refused-start" \
		refused
	mkdir "$tmp/$mode"
	run_native native "$apps/disruptions" forks
	SSPAPI_OUTPUT="$tmp/$mode/%p.json" SSPAPI_ATTRIBUTION=$mode run_shim \
		shim "$apps/disruptions" forks
	check "$mode: surprises forks: the program sees no difference" same_as_native native shim
	check "$mode: surprises forks: the dumps are right (sum)" \
		perl tests/lib/check-moves.pl sum "$tmp/shim.out" "$tmp/$mode"/*.json
done
done_testing
