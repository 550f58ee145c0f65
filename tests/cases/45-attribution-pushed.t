# SSPAPI_ATTRIBUTION: another thread moves it, at any instruction.
. tests/lib/lib.sh
. tests/lib/moves.sh

# What is called exact is, to the page under way.
proven() {
	json "$tmp/shim.json" 'my ($t, $e) = (0, 0); $t += $_->{total}[0], $e += $_->{exact}[0]
		for map { @{$_->{cpus}} } @{$d->{relations}}; int(100 * $e / $t)'
}
for mode in residency exact auto; do
	moves $mode "$apps/moves" pushed 5 40
	check "$mode: pushed: the dump is right (sum)" perl tests/lib/check-moves.pl sum "$tmp/shim.out" "$tmp/shim.json"
	[ $mode = residency ] && continue
	case ${SANITIZE-} in	# whose run time makes page faults of its own within PAPI_start and PAPI_stop: not known before or after
	*thread*) skip "$mode: pushed: most of it is proven" "sanitized" ;;
	*) check "$mode: pushed: most of it is proven ($(proven) %)" [ "$(proven)" -ge 50 ] ;;
	esac
done
done_testing
