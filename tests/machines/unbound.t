# Sixteen CPUs: of threads that may run anywhere auto proves nearly all. An emulated system call takes some ten times as long, so that
# there is time for few of the CPUs.
machine=x86-64 CPUS=16
export CPUS
. tests/machines/rows.sh

ROW_PROGRAM=$B/tests/apps/unbound
# unbound NAME LEAST HOW THREADS ROUNDS
unbound() {
	name=$1 least=$2
	shift 2
	row "$name" -- "$@"
	if [ "${GUEST-}" != 1 ]; then
		check "$name: the sum is PAPI's, and nothing is proven where it was not done" perl tests/lib/check-moves.pl sum "$out/$name.shim.out" "$out/$name.json"
		perl tests/lib/unbound.pl "$out/$name.native.out" "$out/$name.shim.out" "$out/$name.json" "$least" >"$tmp/shares"
		result $? "$name: at least $least is proven"
		sed 's/^/# /' "$tmp/shares"
	fi
}
unbound calm-16 .95 calm 16 10
unbound busy-16 .95 busy 16 50
unbound calm-64 .95 calm 64 5
unbound busy-64 .95 busy 64 20
done_rows
