# SSPAPI_ATTRIBUTION: how counts come to their CPUs when the thread moves between readings.
. tests/lib/lib.sh
need_real_papi
[ "$(nproc)" -ge 2 ] || skip_all "only one CPU to run on"

# moves MODE FORM PROGRAM ARGUMENT...: natively and under the mode; the dump holds what
# check-moves.pl wants of FORM
moves() {
	mode=$1 form=$2
	shift 2
	run_native native "$@"
	SSPAPI_ATTRIBUTION=$mode run_shim shim "$@"
}

right() {
	perl tests/lib/check-moves.pl "$form" "$tmp/shim.out" "$tmp/shim.json"
}

# The thread moved on before a move was read: the dump says so, and calls no count of it exact.
late_and_said() {
	grep -q 'some moves were not read at once' "$tmp/shim.json" &&
		perl tests/lib/check-moves.pl sum "$tmp/shim.out" "$tmp/shim.json" >/dev/null
}

# Exact: once more where that happened; 8 of 555 runs on a busy machine.  Never where it was not said.
moved() {
	moves "$@"
	for again in 1 2; do
		[ "$form" != exact ] || right >/dev/null 2>&1 || ! late_and_said || moves "$@"
	done
	label="$mode: $(basename "$3") $4${5:+ $5}"
	check "$label: the program sees no difference" same_as_native native shim
	check "$label: the dump is right ($form)" right
}

cpus() {
	json "$tmp/shim.json" 'map { "$_->{total}[0]/$_->{exact}[0]" } map { @{$_->{cpus}} } @{$d->{relations}}' | tr '\n' ' '
}

if plain "moves to the unit"; then
	moves reading sum "$apps/moves" once 1000 3000
	is "reading: all 4000 on the CPU of the reading, none proven" "$(cpus)" "4000/0 "
	moved residency split "$apps/moves" once 1000 3000
	is "residency: the dump says so" "$(json "$tmp/shim.json" '$d->{settings}{attribution}')" residency
	moved exact exact "$apps/moves" once 1000 3000
	is "exact: 1000 and 3000, all proven" "$(cpus)" "1000/1000 3000/3000 "
	is "exact: the dump says so" "$(json "$tmp/shim.json" '$d->{settings}{attribution}')" exact
	is "exact: readings of ours are not the program's" \
		"$(json "$tmp/shim.json" 'map { $_->{readings} } @{$d->{relations}}')" 1
	moved exact exact "$apps/moves" often 200 10 30
	moved residency split "$apps/moves" often 50 10 30
	moved residency exact "$apps/moves" stays 20
	moved exact exact "$apps/moves" stays 20
fi

# Another thread moves it, at any instruction: what is called exact is, to the page under way.
for mode in residency exact; do
	moves $mode sum "$apps/moves" pushed 5 40
	check "$mode: pushed: the dump is right (sum)" perl tests/lib/check-moves.pl sum "$tmp/shim.out" "$tmp/shim.json"
done
proven() {
	json "$tmp/shim.json" 'my ($t, $e) = (0, 0); $t += $_->{total}[0], $e += $_->{exact}[0]
		for map { @{$_->{cpus}} } @{$d->{relations}}; int(100 * $e / $t)'
}
check "exact: pushed: most of it is proven ($(proven) %)" [ "$(proven)" -ge 50 ]

# ---- the rest of the program ------------------------------------------------------

NORMAL='s/^(touched|handed|unsure).*//'		# what a fork, a jump cost differs
for mode in residency exact; do
	for how in blocked waits unblocks handler altstack taken closes jumps suspends traps made cancels launches small disables \
		"elders 1" "elders 2" "elders 3" "elders 4" sandbox "threads 20"; do
		case ${SANITIZE-},$how in	# whose run time has handlers, and faults, of its own
		?*,elders* | *thread*,cancels) skip "$mode: surprises $how" "sanitized"; continue ;;
		esac
		# shellcheck disable=SC2086 # words
		form=sum
		[ "$how" != cancels ] || form=least
		moved $mode $form "$apps/surprises" $how
		case $mode,$how,${SANITIZE-} in		# whose handlers run ours later, on a stack of its own
		exact,unblocks,) check "$label: followed again after the first reading ($(proven) % proven)" \
			[ "$(proven)" -ge 80 ] ;;
		exact,altstack,*thread*) skip "$label: it was not read on too small a stack" "sanitized" ;;
		exact,small,*) check "$label: no signal came on it, and that is said" \
			grep -q 'alternate signal stack that is too small' "$tmp/shim.json" ;;
		*,disables,*) check "$label: nothing is proven meanwhile, and that is said" \
			grep -q 'PR_TASK_PERF_EVENTS_DISABLE' "$tmp/shim.json" ;;
		exact,launches,*) check "$label: what its child sets is not its own" \
			not grep -q 'took the signal' "$tmp/shim.json" ;;
		exact,altstack,*) check "$label: it was not read on too small a stack, and that is said" \
			grep -q 'a signal stack was too small to read on' "$tmp/shim.json" ;;
		esac
	done
	mkdir "$tmp/$mode-execs"
	run_native native "$apps/surprises" execs 30
	SSPAPI_OUTPUT="$tmp/$mode-execs/%p.json" SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/surprises" execs 30
	check "$mode: surprises execs: the new programs see no difference" same_as_native native shim
	run_native native "$apps/surprises" sent
	SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/surprises" sent
	check "$mode: SIGSTKFLT from elsewhere ends the program as ever" same_as_native native shim
	mkdir "$tmp/$mode"
	run_native native "$apps/surprises" forks
	SSPAPI_OUTPUT="$tmp/$mode/%p.json" SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/surprises" forks
	check "$mode: surprises forks: the program sees no difference" same_as_native native shim
	check "$mode: surprises forks: the dumps are right (sum)" \
		perl tests/lib/check-moves.pl sum "$tmp/shim.out" "$tmp/$mode"/*.json
done
NORMAL=''

# A time namespace: the kernel's records have the clock of the machine.
if unshare -T --monotonic 100000 --fork true 2>/dev/null; then
	for form in residency-split exact-exact; do
		SSPAPI_ATTRIBUTION=${form%-*} run_shim shim unshare -T --monotonic 100000 --fork \
			sh -c '"$@"' - "$apps/moves" once 1000 3000
		check "a time namespace, ${form%-*}: the dump is right" \
			perl tests/lib/check-moves.pl "${form#*-}" "$tmp/shim.out" "$tmp/shim.json"
	done
else
	skip "a time namespace" "not allowed"
fi

# Calls that wait: the same result after the same time, unless moved inside.
for how in stay before; do
	run_native native "$apps/blocking" $how
	for mode in reading residency exact; do
		SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/blocking" $how
		check "$mode: blocking $how: the program sees no difference" same_as_native native shim
	done
done
run_native native "$apps/blocking" inside
for mode in reading residency exact; do
	case $mode,${SANITIZE-} in	# whose handlers block all signals
	exact,*thread*) skip "$mode: blocking inside" "sanitized"; continue ;;
	esac
	SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/blocking" inside
	check "$mode: blocking inside: the program sees no difference" same_as_native native shim
done

# A handler that blocks all signals: ours waits for its end, and the call is to end all the same.
# Where the time is over as well, nobody can tell: then poll says so.
NORMAL='/for nothing|msgsnd|takes longer/d'
case ${SANITIZE-} in	# its handlers let ours in late, when it is waited for by name
*thread*) NORMAL='/for nothing|msgsnd|takes longer|^sigtimedwait, not all blocked/d' ;;
esac
run_native native "$apps/blocking" masked
SSPAPI_ATTRIBUTION=exact run_shim shim "$apps/blocking" masked
check "exact: blocking masked: signals end what they end" same_as_native native shim
NORMAL=''

# A move between entering a call and sleeping in it. (The raw futex: the page says so.)
NORMAL='/^futex:/d'
run_native native "$apps/blocking" entering
case $(status_of native),${SANITIZE-} in
0,*thread* | 77,*) skip "exact: blocking entering" "sanitized, or $(tail -n 1 "$tmp/native.err")" ;;
*)
	SSPAPI_ATTRIBUTION=exact run_shim shim "$apps/blocking" entering
	check "exact: blocking entering: the program sees no difference" same_as_native native shim
	;;
esac
NORMAL=''

# Transfers are not cut short. (With a time: the page says so.)
NORMAL='/timed/d'
run_native native "$apps/transfers"
case ${SANITIZE-} in
*thread*) skip "exact: transfers" "sanitized" ;;
*)
	SSPAPI_ATTRIBUTION=exact run_shim shim "$apps/transfers"
	check "exact: transfers: the program sees no difference" same_as_native native shim
	;;
esac
NORMAL=''

# At any instruction; and without rseq, which had told what came after ours.
case ${SANITIZE-} in
*thread*) skip "exact: blocking racing" "sanitized" ;;
*)
	run_native native "$apps/blocking" racing 300
	for tunables in '' glibc.pthread.rseq=0; do
		GLIBC_TUNABLES=$tunables SSPAPI_ATTRIBUTION=exact run_shim shim "$apps/blocking" racing 300
		check "exact: blocking racing: no signal is lost${tunables:+ (without rseq)}" same_as_native native shim
	done
	run_native native "$apps/blocking" cancelled 100
	SSPAPI_ATTRIBUTION=exact run_shim shim "$apps/blocking" cancelled 100
	check "exact: blocking cancelled: a thread ends with its own mask" same_as_native native shim
	;;
esac

# ---- where it cannot be had ----------------------------------------------------------

# faults.so stands in front of system calls, as AddressSanitizer's runtime does.
case ${SANITIZE-} in
*address*) skip "where it cannot be had" "sanitized" ;;
*)
light=$MORE
MORE=$MORE:$preloads/faults.so
event_open=298
[ "$(uname -m)" = x86_64 ] || event_open=241
for mode in residency exact; do
	FAULT=$event_open:1+:13 SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/moves" once 100 300
	plain "$mode: the kernel refuses" && check "$mode: the kernel refuses: booked as in reading" is_equal "$(cpus)" "400/0 "
	check "$mode: the kernel refuses: said in a note" \
		grep -q 'perf_event_paranoid' "$tmp/shim.json"
done
FAULT=$event_open:2+:1 SSPAPI_ATTRIBUTION=exact run_shim shim "$apps/moves" once 100 300
check "exact: no memory for triggers: as in residency" \
	perl tests/lib/check-moves.pl split "$tmp/shim.out" "$tmp/shim.json"
check "exact: no memory for triggers: said in a note" grep -q 'too little locked memory' "$tmp/shim.json"
MORE=$light
;;
esac

# ---- an ordinary user ------------------------------------------------------------------

as_nobody
SSPAPI_OUTPUT=$tmp/nobody/%e.json
export SSPAPI_OUTPUT
run_native native "$apps/moves" once 1000 3000
if plain "an ordinary user" && [ "$(status_of native)" = 0 ]; then
	for form in residency-split exact-exact; do
		rm -f "$tmp/nobody/moves.json"
		SSPAPI_ATTRIBUTION=${form%-*} run_shim shim "$apps/moves" once 1000 3000
		check "an ordinary user, ${form%-*}: the program sees no difference" same_as_native native shim
		check "an ordinary user, ${form%-*}: the dump is right" \
			perl tests/lib/check-moves.pl "${form#*-}" "$tmp/shim.out" "$tmp/nobody/moves.json"
	done
elif [ "$(status_of native)" != 0 ]; then
	skip "an ordinary user" "$(tail -n 1 "$tmp/native.err")"
fi
done_testing
