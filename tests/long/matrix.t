# Runs real PAPI with every kind of process life and end, with and without the shim: output, status
# or signal, errno, signal mask, descriptors, threads and children are the same, and everything that
# PAPI returned is in the dump, or in the one that recover makes.
. tests/lib/lib.sh
need_real_papi
matrix=$B/tests/long/matrix
LIMIT=30
ulimit -c 0
cd "$tmp" || exit 1
mkdir live
export SSPAPI_LIVE="$tmp/live"
NORMAL='s/ended with 0x.*//'

# The number of dumps, and how many of them recover has to make.
# one MODE DUMPS [RECOVERED [ENV...]]
one() {
	mode=$1 dumps=$2 dead=${3:-0}
	label=${label:-$mode}
	rm -rf d live/*
	run_native native "$matrix" "$mode"
	SSPAPI_OUTPUT=$tmp/d/%p.json run_shim shim "$matrix" "$mode"
	todo=${but-}
	check "$label: the program sees no difference" same_as_native native shim
	is "$label: live files" "$(find live -type f | wc -l)" "$dead"
	mkdir -p d
	for file in live/*.live; do
		[ -e "$file" ] && "$B/sspapi" recover -o "d/$(basename "$file").json" \
			"$file" >>shim.err 2>&1
	done
	check "$label: $dumps dump(s), with what PAPI returned" attributed
	label=''
}

attributed() {
	is_equal "$(find d -type f | wc -l)" "$dumps" && perl "$root/tests/lib/check-handed.pl" \
		--more-events d/*.json shim.out
}

for mode in return exit _exit _Exit quick_exit at_quick_exit atexit destructor pthread_exit \
	side-exit side-_exit key \
	cancel cancel-async exec-plain exec-fails exec-no-memory vfork-fails over-vfork; do
	case $mode in
	cancel*) NORMAL='s/=counter//g' ;;	# the number of open ones is random
	esac
	one $mode 1
	NORMAL=''
done
# sspapi causes page faults if a thread's first reading after fork finds its pages shared with the
# child; pages that are wiped in the child (sp_wipe_on_fork) cause none.
but="a set that runs on over fork counts the first store to our thread's page, and new call sites"
one over 1
but=''
for mode in abort segv trap kill term; do
	one $mode 1 1
done
for mode in exec fork clone vfork spawn shell; do
	one $mode 2
done
one fork-kill 2 1

# A preload of a third party, which also wraps execv.
both_preloads=$MORE
MORE=$preloads/other.so${MORE:+:$MORE}
label="another preload behind, vfork and execv"
one vfork 2
check "(it saw the execv)" grep -q '^other: execv' shim.err
MORE=$both_preloads

# The same program in other environments.
with() {
	label=$1
	shift
	matrix="env $* $B/tests/long/matrix"
	one_env=$matrix
	rm -rf d live/*
	# shellcheck disable=SC2086
	run_native native $one_env return
	# shellcheck disable=SC2086
	SSPAPI_OUTPUT=$tmp/d/%p.json run_shim shim $one_env return
	dumps=1
	check "$label: the program sees no difference" same_as_native native shim
	check "$label: a dump with what PAPI returned" attributed
}
with "LD_BIND_NOW" LD_BIND_NOW=1
with "no live file" SSPAPI_LIVE=0
with "with permanent readings" SSPAPI_READINGS=permanent
with "another locale" LC_ALL=C.UTF-8
with "malloc that fills" MALLOC_PERTURB_=165
done_testing
