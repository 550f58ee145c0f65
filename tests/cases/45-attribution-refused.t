# SSPAPI_ATTRIBUTION: the kernel refuses shadow counters.
. tests/lib/lib.sh
. tests/lib/moves.sh

# faults.so wraps system calls, as AddressSanitizer's runtime does.
case ${SANITIZE-} in
*address*) skip "where it cannot be had" "sanitized" ;;
*)
	MORE=$MORE:$preloads/faults.so
	event_open=298
	[ "$(uname -m)" = x86_64 ] || event_open=241
	for mode in residency exact auto; do
		FAULT=$event_open:1+:13 SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/moves" \
			once 100 300
		plain "$mode: the kernel refuses" &&
			check "$mode: the kernel refuses: attributed as in reading" is_equal \
			"$(cpus)" "400/0 "
		check "$mode: the kernel refuses: a note says so" \
			grep -q 'attribution_why.*perf_event_paranoid' "$tmp/shim.json"
	done
	;;
esac
done_testing
