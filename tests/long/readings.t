# 10 million permanent readings: memory for each, the longest call, past the limit; and they are all found.
. tests/lib/lib.sh
need_real_papi
LIMIT=240
N=10000000
export SSPAPI_READINGS=permanent SSPAPI_READINGS_MAX=$N

run_native native "$apps/many" -t "$N"
SSPAPI_OUTPUT=$tmp/shim.sspapi run_shim shim "$apps/many" -t $((N + 1000))
cat "$tmp/native.err" "$tmp/shim.err" | sed 's/^/# /'
run json "$B/sspapi" report -f csv "$tmp/shim.sspapi"
bytes=$(stat -c %s "$tmp/shim.sspapi")
echo "# $bytes bytes, $((bytes / N)) for a reading of one event"
check "no more than 8 bytes for each event and 24 for each reading" test "$bytes" -le $((N * 32 + 1000000))
run text "$B/sspapi" report "$tmp/shim.sspapi"
check "all are kept, up to the limit" grep -q '10.000.000 kept' "$tmp/text.out"
check "the others are counted" grep -q '1.001 permanent readings counted, not kept' "$tmp/text.out"
booked() {
	cat "$tmp/shim.out" "$tmp/json.out"
	[ "$(status_of shim)" = 0 ] || return 1
	awk -F, 'NR > 1 { readings += $15; total += $16 } END { exit readings != 10001001 || total != 10001 }' "$tmp/json.out"
}
check "the program is unharmed: not a page fault of ours, and the ledger has all" booked

# The CPU time of a call holds what else the kernel did in it, so those that are long without us are taken
# off, and some of the 30000 that made memory may meet that, too.
over() {
	sed -n 's/^longest \([0-9]*\) ns, over 50 us \([0-9]*\)$/\'"$1"'/p' "$tmp/$2.err"
}
plain "few calls are longer than 50 us" && check "few calls are longer than 50 us" \
	test "$(over 2 shim)" -le $(($(over 2 native) * 2 + 5000))
plain "and none much longer" && check "and none much longer" test "$(over 1 shim)" -le $(($(over 1 native) * 2 + 5000000))
done_testing
