# What one user's processes may lock in memory is not ours: natively and beside us io_uring and perf get the same to the
# page, and PAPI its sampling buffer, while another process of that user counts in many threads.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
need_real_papi
[ "$(id -u)" = 0 ] || skip_all "needs root: a user that has no other process"
MORE=${MORE:+$MORE:}$REAL_PAPI_HW2SW
as_nobody
user="setpriv --reuid=$((60000 + $$ % 4000)) --regid=65534 --clear-groups"
cp "$B/tests/long/locked" "$tmp/built"
SSPAPI_OUTPUT=$tmp/nobody/%p.json
export SSPAPI_OUTPUT
ulimit -l 1024
LIMIT=60

for rseq in 1 0; do
	GLIBC_TUNABLES=glibc.pthread.rseq=$rseq
	export GLIBC_TUNABLES
	run_native native "$tmp/built/locked" 32
	sed "s/^/# rseq $rseq: /" "$tmp/native.out"
	for mode in auto exact; do
		rm -f "$tmp"/nobody/*.json
		SSPAPI_ATTRIBUTION=$mode run_shim shim "$tmp/built/locked" 32
		check "rseq $rseq, $mode: as natively" same_as_native native shim
		is "rseq $rseq, $mode: both were counted" "$(ls "$tmp/nobody" | wc -l)" 2
	done
done
done_testing
