# Checks which counts are proven: windows against the kernel's own records of switches, and programs
# that use restartable sequences themselves. WINDOWS=N: N times as many where a race is sought.
. tests/lib/lib.sh
need_real_papi
[ "$(nproc)" -ge 2 ] || skip_all "only one CPU to run on"
run_native native "$apps/windows" 1
[ "$(status_of native)" = 0 ] || skip_all "$(tail -n 1 "$tmp/native.err")"

# windows MODE LEAST NAME ARGUMENT...
windows() {
	mode=$1 least=$2 label=$3
	shift 3
	SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/windows" "$@"
	if [ "$(status_of shim)" = 77 ]; then
		skip "$mode: $label" "$(tail -n 1 "$tmp/shim.err")"
	else
		check "$mode: $label" perl tests/lib/check-windows.pl "$mode" "$least" \
			"$tmp/shim.out" "$tmp/shim.json"
	fi
}

if plain "windows"; then
	windows reading 90 "windows of 10 us: those without a switch are proven" 100
	windows reading 0 "the CPU is wanted by another: none that was left is called exact" 100 \
		busy
	windows auto 90 "windows of 10 us: those without a switch are proven" 100
fi

# ---- others' restartable sequences ------------------------------------------------

same_sum() {
	label=$1
	shift
	run_native native "$@"
	if [ "$(status_of native)" = 77 ]; then
		skip "$label" "$(tail -n 1 "$tmp/native.err")"
		return
	fi
	for mode in reading exact auto; do
		SSPAPI_ATTRIBUTION=$mode run_shim shim "$@"
		check "$mode: $label" is_equal "$(status_of shim) $(cat "$tmp/shim.out")" \
			"0 $(cat "$tmp/native.out")"
	done
}

same_sum "a program with restartable sequences of its own" "$apps/rseqs"
same_sum "the same, and libc registers none" env GLIBC_TUNABLES=glibc.pthread.rseq=0 "$apps/rseqs"

# Without libc's registration rseq proves nothing, and a note says so; the kernel still splits its
# own counts.
SSPAPI_ATTRIBUTION=reading run_shim shim env GLIBC_TUNABLES=glibc.pthread.rseq=0 "$apps/moves" \
	once 1000 3000
check "rseq turned off: the same counts, none proven, and a note" sh -c '
	perl tests/lib/check-moves.pl sum "$1" "$2" && grep -q "no counts are proven" "$2"' - \
	"$tmp/shim.out" "$tmp/shim.json"
is "rseq turned off: none is proven" \
	"$(json "$tmp/shim.json" 'map { $_->{exact}[0] }
	map { @{$_->{cpus}} } @{$d->{relations}}' | sort -u)" 0
SSPAPI_ATTRIBUTION=exact run_shim shim env GLIBC_TUNABLES=glibc.pthread.rseq=0 "$apps/moves" \
	once 1000 3000
check "rseq turned off, exact: proven by the kernel" \
	perl tests/lib/check-moves.pl exact "$tmp/shim.out" "$tmp/shim.json"
check "rseq turned off, exact: and no note contradicts it" \
	not grep -q "no counts are proven" "$tmp/shim.json"

# The mmap-page proof replaces rseq (preload/percpu/page-proof.h). By residency a window in which
# the thread moved is never proven, so a proven one was taken for unmoved.
GLIBC_TUNABLES=glibc.pthread.rseq=0
export GLIBC_TUNABLES
if plain "windows, by a page"; then
	windows residency 90 "by a page: windows of 10 us: those without a switch are proven" 100
	windows auto 90 "by a page: windows of 10 us: those without a switch are proven" 100
	for i in $(seq "${WINDOWS:-1}"); do
		windows residency 0 \
			"by a page: the thread goes elsewhere and comes back: none is called exact" 500 busy
	done
fi
for mode in residency exact auto; do
	SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/disruptions" disables
	check "$mode: by a page: the thread disables its counters, PAPI_start enables PAPI's own: nothing is proven wrongly" \
		perl tests/lib/check-moves.pl sum "$tmp/shim.out" "$tmp/shim.json"
done
for mode in exact auto; do
	SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/disruptions" alone
	check "$mode: by a page: a seccomp filter kills a process that makes a thread: sspapi makes none" \
		perl tests/lib/check-moves.pl sum "$tmp/shim.out" "$tmp/shim.json"
	is "$mode: by a page: and the program ends as without the shim" "$(status_of shim)" 0
done
# The page's CPU is unknown after a loss, until the kernel is queried: here no reading does that.
for rseq in 0 1; do
	GLIBC_TUNABLES=glibc.pthread.rseq=$rseq
	SSPAPI_ATTRIBUTION=exact run_shim shim "$apps/handler-gaps" beside 300
	label="rseq=$rseq: a reset after a move, of a set without counters beside it: nothing is proven where the thread was"
	if [ "$(status_of shim)" = 77 ]; then
		skip "$label" "no seccomp"
	else
		read -r _ other <"$tmp/shim.out"
		is "$label" "$(json "$tmp/shim.json" \
			"my \$n = 0; \$n += \$_->{exact}[0] for grep { \$_->{cpu} == $other } \
			map { @{\$_->{cpus}} } @{\$d->{relations}}; \$n")" 0
	fi
done
GLIBC_TUNABLES=glibc.pthread.rseq=0
# The fast path has memory for some events on its stack. (A busy machine preempts the thread in most
# runs: three of each step.)
if plain "a handler gives a set more events on top of its PAPI_accum"; then
	for rseq in 0 1; do
		GLIBC_TUNABLES=glibc.pthread.rseq=$rseq
		SSPAPI_CALLSITES=0 SSPAPI_ATTRIBUTION=exact run_shim shim "$apps/handler-gaps" \
			grown 300
		label="rseq=$rseq: a handler gives a set more events on top of its PAPI_accum"
		case $(status_of shim) in
		77) skip "$label" "not here: x86-64 only, or too few events" ;;
		*) is "$label" "$(status_of shim) $(cat "$tmp/shim.out")" "0 done" ;;
		esac
	done
	GLIBC_TUNABLES=glibc.pthread.rseq=0
fi
# most CALLS: this many, and some for each time that the program lost its CPU: the next reading
# reads counters.
switches="perl tests/lib/switches.pl $tmp/switches"
most() {
	echo $(($1 + 40 * $(cat "$tmp/switches")))
}
case ${SANITIZE-}$(locked_page || echo none) in
*address* | *none) skip "by a page: 2000 readings make few system calls" \
	"sanitized, or no locked page for a thread" ;;
*)
	light=$MORE
	MORE=${MORE:+$MORE:}$preloads/faults.so
	read=0 ioctl=16
	[ "$(uname -m)" = x86_64 ] || read=63 ioctl=29
	# shellcheck disable=SC2086 # words
	FAULTS_COUNT=$tmp/calls SSPAPI_ATTRIBUTION=exact run_shim shim $switches "$apps/moves" again 2000
	calls=$(perl -0777 -ne "print((unpack 'L*')[$read])" "$tmp/calls")
	check "by a page: 2000 readings make few system calls ($calls)" test "$calls" -le "$(most 1000)"
	# shellcheck disable=SC2086 # words
	FAULTS_COUNT=$tmp/calls SSPAPI_ATTRIBUTION=exact run_shim shim $switches "$apps/moves" pairs 2000
	calls=$(perl -0777 -ne "print((unpack 'L*')[$read])" "$tmp/calls")
	check "by a page: 2000 starts and stops read no counters ($calls)" test "$calls" -le "$(most 1000)"
	calls=$(perl -0777 -ne "print((unpack 'L*')[$ioctl])" "$tmp/calls")
	check "by a page: nor do they switch any ($calls)" test "$calls" -le "$(most 1000)"
	first=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
	# shellcheck disable=SC2086 # words
	FAULTS_COUNT=$tmp/calls SSPAPI_ATTRIBUTION=exact run_shim shim $switches taskset -c "$first" \
		"$apps/moves" wider 2000
	calls=$(perl -0777 -ne "print((unpack 'L*')[$read])" "$tmp/calls")
	check "by a page: also after its counters were opened for another CPU ($calls)" \
		test "$calls" -le "$(most 1000)"
	MORE=$light
	;;
esac
# Without a page, which locked memory limits: the time of one of sspapi's events (sp_percpu_stayed_cpu).
without_page() {
	SSPAPI_ATTRIBUTION=exact run_shim shim sh -c 'ulimit -l 0; exec "$@"' - "$@"
}
for how in "moves visits 1000" "disruptions disables"; do
	# shellcheck disable=SC2086 # words
	without_page "$apps/"$how
	check "without a page: $how: nothing is proven wrongly" perl tests/lib/check-moves.pl sum \
		"$tmp/shim.out" "$tmp/shim.json"
done
if [ -z "${SANITIZE-}" ]; then
	light=$MORE
	MORE=${MORE:+$MORE:}$preloads/faults.so
	read=0 ioctl=16
	[ "$(uname -m)" = x86_64 ] || read=63 ioctl=29
	# shellcheck disable=SC2086 # words
	FAULTS_COUNT=$tmp/calls without_page $switches "$apps/moves" again 2000
	calls=$(perl -0777 -ne "print((unpack 'L*')[$read])" "$tmp/calls")
	check "without a page: 2000 readings read one counter each ($calls)" test "$calls" -le "$(most 3000)"
	MORE=$light
fi
unset GLIBC_TUNABLES

for mode in reading exact auto; do
	run_native native "$apps/disruptions" unregisters
	SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/disruptions" unregisters
	check "$mode: a thread that unregisters libc's rseq sees no difference" \
		same_as_native native shim
	check "$mode: nothing is proven wrongly" \
		perl tests/lib/check-moves.pl sum "$tmp/shim.out" "$tmp/shim.json"
done

# In a sandbox without /sys the kernel is queried for the CPUs.
SSPAPI_ATTRIBUTION=exact run_shim shim unshare -m sh -c 'mount -t tmpfs none /sys && exec "$@"' - \
	"$apps/moves" once 1000 3000
if [ "$(status_of shim)" = 0 ]; then
	check "exact without /sys: the dump is right" \
		perl tests/lib/check-moves.pl exact "$tmp/shim.out" "$tmp/shim.json"
else
	skip "exact without /sys" "$(tail -n 1 "$tmp/shim.err")"
fi

tcmalloc=$(ldconfig -p 2>/dev/null | sed -n 's/.*=> \(.*libtcmalloc_minimal\.so\.4\)$/\1/p' |
	head -n 1)
if [ -z "$tcmalloc" ]; then
	skip "tcmalloc" "not installed"
elif plain "tcmalloc"; then
	light=$MORE
	MORE=$MORE:$tcmalloc
	for mode in reading exact auto; do
		run_native native "$apps/threads" -n 4
		SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/threads" -n 4
		check "$mode: tcmalloc: the program sees no difference" same_as_native native shim
		check "$mode: tcmalloc: the dump has what PAPI returned" has_returned shim
	done
	MORE=$light
fi

# ---- handlers in the gaps ----------------------------------------------------------------

# A handler inside PAPI_reset counts on this CPU and moves to another: those counts were once proven
# on the other CPU.
for mode in exact auto; do
	SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/handler-gaps" zeroed $((750 * ${WINDOWS:-1}))
	read -r _ other <"$tmp/shim.out"
	is "$mode: counts of a handler inside PAPI_reset are not proven on the CPU to which it moved" "$(json "$tmp/shim.json" \
		"my \$n = 0; \$n += \$_->{exact}[0] for grep { \$_->{cpu} == $other } map { @{\$_->{cpus}} } @{\$d->{relations}}; \$n")" 0
	# A handler jumped out of a read of the counters, for which sspapi once waited forever.
	SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/handler-gaps" thrown 300
	is "$mode: a set is destroyed after a jump out of its reading" "$(cat "$tmp/shim.out")" \
		"done"
done
done_testing
