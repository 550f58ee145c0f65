# System calls that wait, in a thread that counts and is moved: the same EINTRs and lengths as natively, with a signal
# and without (tests/apps/blocked.c). BLOCKED=N: so many of each.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"	# whose run time delivers signals later
need_real_papi
[ "$(nproc)" -ge 2 ] || skip_all "only one CPU to run on"

calls=${BLOCKED:-20}
run_native native "$apps/blocked" "$calls"
[ "$(status_of native)" = 0 ] || skip_all "$(tail -n 1 "$tmp/native.err")"
check "natively: none is ended without a signal, each by one" not grep -v \
	-e "^[^:]*[^s]: $calls whole, 0 short, 0 EINTR, 0 otherwise, 0 handled" \
	-e "signals: 0 whole, 0 short, $calls EINTR, 0 otherwise, $calls handled" \
	-e "signals: 0 whole, $calls short, 0 EINTR, 0 otherwise, $calls handled" "$tmp/native.out"
for mode in exact auto; do
	SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/blocked" "$calls"
	check "$mode: $(wc -l <"$tmp/native.out") ways to wait, $calls times each: as natively" same_as_native native shim
	is "$mode: the thread was moved, and its counts split" \
		"$(json "$tmp/shim.json" 'map { ($_->{moves} // 1) >= 1 ? $_->{attribution} : "stayed" } @{$d->{relations}}')" exact
done
done_testing
