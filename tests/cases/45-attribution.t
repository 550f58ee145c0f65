# SSPAPI_ATTRIBUTION: how counts come to their CPUs when the thread moves between readings.
. tests/lib/lib.sh
need_real_papi
[ "$(nproc)" -ge 2 ] || skip_all "only one CPU to run on"

# moves MODE PROGRAM ARGUMENT...: natively and under the mode
moves() {
	mode=$1
	shift
	run_native native "$@"
	SSPAPI_ATTRIBUTION=$mode run_shim shim "$@"
	label="$mode: $(basename "$1") $2${3:+ $3}"
}

# moved MODE FORM PROGRAM ARGUMENT...: the dump holds what check-moves.pl wants of FORM
moved() {
	mode=$1 form=$2
	shift 2
	moves "$mode" "$@"
	check "$label: the program sees no difference" same_as_native native shim
	check "$label: the dump is right ($form)" perl tests/lib/check-moves.pl "$form" "$tmp/shim.out" "$tmp/shim.json"
}

cpus() {
	json "$tmp/shim.json" 'map { "$_->{total}[0]/$_->{exact}[0]" } map { @{$_->{cpus}} } @{$d->{relations}}' | tr '\n' ' '
}

run_shim shim "$apps/moves" stays 1
is "the default is auto, and the dump says so" "$(json "$tmp/shim.json" '$d->{settings}{attribution}')" auto

if plain "moves to the unit"; then
	moved reading sum "$apps/moves" once 1000 3000
	is "reading: all 4000 on the CPU of the reading, none proven" "$(cpus)" "4000/0 "
	moved residency split "$apps/moves" once 1000 3000
	is "residency: the dump says so" "$(json "$tmp/shim.json" '$d->{settings}{attribution}')" residency
	moved residency split "$apps/moves" often 50 10 30
	moved residency exact "$apps/moves" stays 20
	for mode in exact auto; do
		moved $mode exact "$apps/moves" once 1000 3000
			is "$mode: 1000 and 3000, all proven" "$(cpus)" "1000/1000 3000/3000 "
		is "$mode: the dump says so" "$(json "$tmp/shim.json" '$d->{settings}{attribution}')" $mode
		is "$mode: readings of ours are not the program's" \
			"$(json "$tmp/shim.json" 'map { $_->{readings} } @{$d->{relations}}')" 1
		moved $mode exact "$apps/moves" often 200 10 30
		moved $mode exact "$apps/moves" stays 20
	done
fi

# Another thread moves it, at any instruction: what is called exact is, to the page under way.
proven() {
	json "$tmp/shim.json" 'my ($t, $e) = (0, 0); $t += $_->{total}[0], $e += $_->{exact}[0]
		for map { @{$_->{cpus}} } @{$d->{relations}}; int(100 * $e / $t)'
}
for mode in residency exact auto; do
	moves $mode "$apps/moves" pushed 5 40
	check "$mode: pushed: the dump is right (sum)" perl tests/lib/check-moves.pl sum "$tmp/shim.out" "$tmp/shim.json"
	[ $mode = residency ] && continue
	check "$mode: pushed: most of it is proven ($(proven) %)" [ "$(proven)" -ge 50 ]
done

# ---- the rest of the program ------------------------------------------------------

NORMAL='s/^(touched|handed|unsure).*//'		# what a fork, a jump cost differs
for mode in residency exact auto; do
	for how in closes jumps cancels launches disables "elders 1" "elders 2" "elders 3" "elders 4" sandbox "threads 20"; do
		case ${SANITIZE-},$how in	# whose run time has handlers, and faults, of its own
		?*,elders* | *thread*,cancels) skip "$mode: surprises $how" "sanitized"; continue ;;
		esac
		# shellcheck disable=SC2086 # words
		moved $mode sum "$apps/surprises" $how
	done
	mkdir "$tmp/$mode-execs"
	run_native native "$apps/surprises" execs 30
	SSPAPI_OUTPUT="$tmp/$mode-execs/%p.json" SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/surprises" execs 30
	check "$mode: surprises execs: the new programs see no difference" same_as_native native shim
	mkdir "$tmp/$mode"
	run_native native "$apps/surprises" forks
	SSPAPI_OUTPUT="$tmp/$mode/%p.json" SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/surprises" forks
	check "$mode: surprises forks: the program sees no difference" same_as_native native shim
	check "$mode: surprises forks: the dumps are right (sum)" \
		perl tests/lib/check-moves.pl sum "$tmp/shim.out" "$tmp/$mode"/*.json
done
NORMAL=''

# ---- where it cannot be had ----------------------------------------------------------

# faults.so stands in front of system calls, as AddressSanitizer's runtime does.
case ${SANITIZE-} in
*address*) skip "where it cannot be had" "sanitized" ;;
*)
	light=$MORE
	MORE=$MORE:$preloads/faults.so
	event_open=298
	[ "$(uname -m)" = x86_64 ] || event_open=241
	for mode in residency exact auto; do
		FAULT=$event_open:1+:13 SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/moves" once 100 300
		plain "$mode: the kernel refuses" && check "$mode: the kernel refuses: booked as in reading" is_equal "$(cpus)" "400/0 "
			check "$mode: the kernel refuses: said in a note" grep -q 'attribution_why.*perf_event_paranoid' "$tmp/shim.json"
	done
	MORE=$light
	;;
esac

# ---- an ordinary user ------------------------------------------------------------------

as_nobody
SSPAPI_OUTPUT=$tmp/nobody/%e.json
export SSPAPI_OUTPUT
run_native native "$apps/moves" once 1000 3000
if plain "an ordinary user" && [ "$(status_of native)" = 0 ]; then
	for form in residency-split exact-exact auto-exact; do
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
