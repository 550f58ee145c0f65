# Tests sixteen CPUs: nearly all counts of unpinned threads are proven, and most if only two CPUs
# are watched, those where the thread is.
# (Not under auto, whose measured times are wrong: QEMU runs one CPU after the other, and each one's
# clock runs all the time. 46-auto.t.)
machine=x86-64 CPUS=16
export CPUS
. tests/machines/rows.sh

ROW_PROGRAM=$B/tests/apps/unpinned
# unpinned NAME LEAST HOW THREADS ROUNDS
unpinned() {
	name=$1 least=$2
	shift 2
	row "$name" -- "$@"
	if [ "${GUEST-}" != 1 ]; then
		check "$name: the sum is PAPI's, and nothing is proven on a wrong CPU" \
			perl tests/lib/check-moves.pl sum "$out/$name.shim.out" "$out/$name.json"
		perl tests/lib/check-unpinned.pl "$out/$name.native.out" "$out/$name.shim.out" \
			"$out/$name.json" "$least" >"$tmp/shares"
		result $? "$name: at least $least is proven"
		sed 's/^/# /' "$tmp/shares"
	fi
}
ROW_ENV=SSPAPI_ATTRIBUTION=exact
unpinned calm-16 .8 calm 16 5
ROW_ENV="$ROW_ENV SSPAPI_DESCRIPTORS=120"	# two CPUs for each thread
unpinned few-16 .5 busy 16 20
done_rows
