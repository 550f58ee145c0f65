# Checks what the kernel counts for the program's threads between a start and the last stop: no page
# fault and no wait (voluntary context switch) more than natively, no descriptor with a low number,
# and a limited number of faults when a thread's memory is made. USAGE=N: N threads.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
need_real_papi
[ "$(nproc)" -ge 2 ] || skip_all "only one CPU to run on"

threads=${USAGE:-500}
# With more than two CPUs, a thread that is pinned elsewhere opens other counters at its next start,
# and auto opens those for which its budget at the first start did not suffice.
normal() {
	[ "$1" = auto ] || [ "$(nproc)" -gt 2 ] && start='|start' || start=
	NORMAL="/^(set|first start|end|thread$start):/d"
}
# faults NAME PART
faults() {
	sed -n "s/^$2: \([0-9]*\) faults.*/\1/p" "$tmp/$1.out"
}
for at_once in 1 16; do
	run_native native "$apps/usage" "$threads" $at_once
	check "natively: none while it counts, $at_once at once" \
		grep -q "^counting: 0 faults, 0 waits" "$tmp/native.out"
	for mode in auto exact; do
		normal $mode
		SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/usage" "$threads" $at_once
		check "$mode: $threads threads, $at_once at once: as natively while they count" \
			same_as_native native shim
		more=$(($(faults shim thread) - $(faults native thread)))
		check "$mode: at most 6 faults more a thread, where its memory is made ($more)" \
			test $more -le $((6 * threads))
		check "$mode: and none more at its end" test "$(faults shim end)" -le \
			"$(faults native end)"
	done
done
done_testing
