# Our frames lie between the application's and PAPI's: no page of stack is reached for the first time while a set
# runs, however near to a page's end the application's frame is (preload/book/warm.c).
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
need_real_papi

faults() {
	for offset in $(seq 0 128 4095); do
		"$1" shim "$apps/depth" "$offset"
		cat "$tmp/shim.out" "$tmp/shim.err"
	done | sort | uniq -c | tr -s ' ' | tr '\n' ','
}

is "32 places in a page: the 10 pages that were touched, and no other fault" "$(faults run_shim)" " 32 10,"
echo "# natively: $(faults run_native)"
done_testing
