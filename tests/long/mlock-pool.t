# Checks that sspapi leaves one user's pool of locked memory to others: natively and with the shim
# io_uring and perf get the same number of pages, and PAPI its sampling buffer, while another
# process of that user counts in many threads. Without rseq a process may use an eighth of the pool:
# 32 of 256 pages, and one for each thread here.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
need_real_papi
[ "$(id -u)" = 0 ] || skip_all "needs root: a user that has no other process"
MORE=${MORE:+$MORE:}$REAL_PAPI_HW2SW
as_nobody
user="setpriv --reuid=$((60000 + $$ % 4000)) --regid=65534 --clear-groups"
cp "$B/tests/long/mlock-pool" "$tmp/built"
SSPAPI_OUTPUT=$tmp/nobody/%p.json
export SSPAPI_OUTPUT
ulimit -l 1024
LIMIT=60

# The rest as natively; some of the pool must be in use, or nothing is shown.
less_our_share() {
	for of in native shim; do
		sed -E 's/[0-9]+ (pages|buffers)/N \1/' "$tmp/$of.out" >"$tmp/$of.rest"
	done
	cat "$tmp/shim.out"
	diff "$tmp/native.rest" "$tmp/shim.rest" && is_less pages 1 32 && is_less buffers 0 4
}

# is_less WHAT LEAST MOST: by LEAST to MOST
is_less() {
	less=$(($(sed -nE "s/.* ([0-9]+) $1.*/\1/p" "$tmp/native.out") - $(sed -nE \
		"s/.* ([0-9]+) $1.*/\1/p" "$tmp/shim.out")))
	[ "$less" -ge "$2" ] && [ "$less" -le "$3" ]
}

for rseq in 1 0; do
	GLIBC_TUNABLES=glibc.pthread.rseq=$rseq
	export GLIBC_TUNABLES
	run_native native "$tmp/built/mlock-pool" 48
	sed "s/^/# rseq $rseq: /" "$tmp/native.out"
	for mode in auto exact; do
		rm -f "$tmp"/nobody/*.json
		SSPAPI_ATTRIBUTION=$mode run_shim shim "$tmp/built/mlock-pool" 48
		if [ $rseq = 1 ]; then
			check "rseq $rseq, $mode: as natively" same_as_native native shim
		else
			check "rseq $rseq, $mode: as natively, minus our share" less_our_share
		fi
		is "rseq $rseq, $mode: both were counted" "$(ls "$tmp/nobody" | wc -l)" 2
	done
done
done_testing
