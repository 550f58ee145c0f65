# SSPAPI_ATTRIBUTION: another thread moves the counting thread, at any instruction.
. tests/lib/lib.sh
. tests/lib/moves.sh

# Checks that no more is proven than was counted there, to the page in progress.
proven() {
	json "$tmp/shim.json" 'my ($t, $e) = (0, 0); $t += $_->{total}[0], $e += $_->{exact}[0]
		for map { @{$_->{cpus}} } @{$d->{relations}}; int(100 * $e / $t)'
}
# auto: where opening the counters takes a sanitized library longer than it may, the set is split by time, and that is said.
over_budget() {
	[ "$1" = auto ] && json "$tmp/shim.json" 'map { $_->{attribution_why} // "" } @{$d->{relations}}' | grep -q 'would have cost over 1 %'
}
for mode in residency exact auto; do
	moves $mode "$apps/moves" pushed 5 40
	check "$mode: pushed: the dump is right (sum)" perl tests/lib/check-moves.pl sum \
		"$tmp/shim.out" "$tmp/shim.json"
	[ $mode = residency ] && continue
	case ${SANITIZE-} in	# its runtime makes page faults within PAPI_start and PAPI_stop, at unknown times
	*thread*) skip "$mode: pushed: most of it is proven" "sanitized" ;;
	*) check "$mode: pushed: most of it is proven ($(proven) %)" \
		sh -c "[ $(proven) -ge 50 ] || $(over_budget "$mode" && echo true || echo false)" ;;
	esac
done

# sspapi sends no signal and sets no timer: it interrupts no waiting call of the program.
case $(uname -m) in	# numbers of such calls; openat's shows that calls are counted
x86_64)	numbers="kill 62 tkill 200 tgkill 234 rt_sigqueueinfo 129 rt_tgsigqueueinfo 297 alarm 37 setitimer 38 timer_create 222 openat 257" ;;
*)	numbers="kill 129 tkill 130 tgkill 131 rt_sigqueueinfo 138 rt_tgsigqueueinfo 240 setitimer 103 timer_create 107 openat 56" ;;
esac
called() {
	echo "$numbers pidfd_send_signal 424" | xargs -n 2 | while read -r call number; do
		[ "$(od -An -j $((4 * number)) -N 4 -tu4 "$tmp/count" | tr -d ' ')" = 0 ] ||
			echo "$call"
	done
}
MORE=$preloads/faults.so${MORE:+:$MORE}
for mode in exact auto; do
	rm -f "$tmp/count"
	SSPAPI_ATTRIBUTION=$mode run_shim shim env FAULTS_COUNT="$tmp/count" "$apps/moves" pushed \
		5 40
	is "$mode: pushed: sspapi sends no signal" "$(called)" openat
done
done_testing
