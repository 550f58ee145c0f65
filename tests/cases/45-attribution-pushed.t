# SSPAPI_ATTRIBUTION: another thread moves it, at any instruction.
. tests/lib/lib.sh
. tests/lib/moves.sh

# What is called exact is, to the page under way.
proven() {
	json "$tmp/shim.json" 'my ($t, $e) = (0, 0); $t += $_->{total}[0], $e += $_->{exact}[0]
		for map { @{$_->{cpus}} } @{$d->{relations}}; int(100 * $e / $t)'
}
# auto: where opening the counters takes a sanitized library longer than it may, the set is split by time, and that is said.
too_dear() {
	[ "$1" = auto ] && json "$tmp/shim.json" 'map { $_->{attribution_why} // "" } @{$d->{relations}}' | grep -q 'would have cost more than 1 %'
}
for mode in residency exact auto; do
	moves $mode "$apps/moves" pushed 5 40
	check "$mode: pushed: the dump is right (sum)" perl tests/lib/check-moves.pl sum "$tmp/shim.out" "$tmp/shim.json"
	[ $mode = residency ] && continue
	case ${SANITIZE-} in	# whose run time makes page faults of its own within PAPI_start and PAPI_stop: not known before or after
	*thread*) skip "$mode: pushed: most of it is proven" "sanitized" ;;
	*) check "$mode: pushed: most of it is proven ($(proven) %)" sh -c "[ $(proven) -ge 50 ] || $(too_dear "$mode" && echo true || echo false)" ;;
	esac
done
done_testing
