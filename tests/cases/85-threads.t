# Tests threads that are never joined, that come and go by the thousand, and that leave sets to
# other threads.
. tests/lib/lib.sh

# crowd MODE [WHY IT MAY FAIL [AND THE DUMP]]
crowd() {
	rm -f "$tmp/shim.json"
	run_native native "$scenes/crowd" "$1"
	run_shim shim "$scenes/crowd" "$1"
	todo=${2-}
	is "$1: the program ends as without the shim" \
		"$(status_of native) $(status_of shim) $(cat "$tmp/shim.err")" "0 0 "
	todo=${3-${2-}}
	check "$1: the dump has what PAPI returned" has_returned shim
}

relations() {
	json "$tmp/shim.json" 'scalar @{$d->{relations}}'
}

for mode in unjoined destructor handoff; do
	crowd $mode
done
ended=
crowd leaver '' "$ended"
check "leaver: nothing is lost" has_returned shim --no-cpu
is "leaver: a relation for each of the 16 threads" "$(relations)" 16
is "leaver: sets that were not stopped are reported as running" \
	"$(json "$tmp/shim.json" 'map { $_->{running} ? 1 : 0 } @{$d->{relations}}' | tr -d '\n')" \
	0101010101010101
crowd short
is "short: each thread has its own tid in the dump" \
	"$(json "$tmp/shim.json" 'my %t; $t{$_->{tid}}++ for @{$d->{relations}}; scalar keys %t')" \
	2000
# A dump reads memory that other threads write, and reads it again if it changed: to ThreadSanitizer
# a race.
case ${SANITIZE-} in
*thread*) skip "dumped" "a dump beside threads that count is a race by intent" ;;
*) crowd dumped ;;
esac
# A child starts with new locks, whichever its parent's threads held.
mkdir "$tmp/d"
run_native native "$scenes/crowd" asked
SSPAPI_OUTPUT=$tmp/d/%p.json run_shim shim "$scenes/crowd" asked
is "signalled: the program and its children end as without the shim" \
	"$(status_of native) $(status_of shim) $(cat "$tmp/shim.err") $(grep wrong \
	"$tmp/shim.out")" "0 0  "
check "signalled: the dumps have what PAPI returned" perl tests/lib/check-handed.pl \
	"$tmp"/d/*.json "$tmp/shim.out"
is "signalled: a dump of each" "$(find "$tmp/d" -type f | wc -l)" 101
crowd keeps
is "keeps: sets with the same events go on in one relation" "$(relations)" 4
is "keeps: with all their starts" \
	"$(json "$tmp/shim.json" 'map { $_->{starts} } @{$d->{relations}}' | tr '\n' ' ')" \
	"125 125 125 125 "

# One set, two threads and no lock: every lost count is named, and none is counted twice. (A set
# that one thread starts during another one's call for it keeps its relation.)
as_handed() {
	json "$tmp/passed.json" \
		"my (\$sum, \$unsure) = (0, $(sed -n 's/^handed //p' "$tmp/passed.out"));
		my \$handed = \$unsure; \$unsure = \$d->{dropped}{readings};
		for my \$r (@{\$d->{relations}}) {
			next if (grep { \$_->{id} == \$r->{events}[0] } @{\$d->{events}})[0]{name} ne 'EV_A';
			\$unsure ||= \$r->{unsure};
			\$sum += \$_->{total}[0] for @{\$r->{cpus}};
		}
		\$sum == \$handed || (\$unsure && \$sum >= 0) ? 'yes' : \"\$sum of \$handed, unsure: \$unsure\""
}
MORE=$preloads/turns.so
for what in read reset both other start; do
	run_native native "$scenes/passed" $what 2000
	run_shim passed "$scenes/passed" $what 2000
	is "$what by two threads without a lock: the program ends as without the shim" \
		"$(status_of native) $(status_of passed)" "0 0"
	is "$what by two threads without a lock: everything that PAPI returned is attributed, or reported as lost" "$(as_handed)" yes
done
MORE=

# Our frames use the stack, too.
if plain "a stack of 16 kB"; then
	rm -f "$tmp/shim.json"
	run_native native "$apps/stack" least
	for mode in reading auto; do
		SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/stack" least
		is "$mode: a stack of 16 kB: the program ends as without the shim" \
			"$(status_of shim) $(cat "$tmp/shim.err")" \
			"$(status_of native) $(cat "$tmp/native.err")"
		[ "$(status_of native)" != 0 ] ||
			check "$mode: a stack of 16 kB: the dump has what PAPI returned" \
			has_returned shim --no-cpu
	done
fi

# The stack that a set needs, of an event that libpapi has seen before and of some new ones: at most
# 2 kB more.
within() {
	[ "$(status_of native) $(status_of shim)" = "0 0" ] ||
		{ cat "$tmp/native.err" "$tmp/shim.err"; return 1; }
	echo "natively $(cat "$tmp/native.out"), with the library $(cat "$tmp/shim.out")"
	[ $(($(cat "$tmp/shim.out") - $(cat "$tmp/native.out"))) -le "$1" ]
}
find_real_papi
MORE=$REAL_PAPI_PRELOAD
if [ "$REAL_PAPI" = no ]; then
	skip "stack" "$PAPI_HOW"
elif plain "stack"; then
	for events in 1 4; do
		run_native native "$apps/stack" needs $events
		for setting in SSPAPI_ATTRIBUTION=auto SSPAPI_ATTRIBUTION=reading \
			SSPAPI_CALLSITES=4 SSPAPI_READINGS=permanent; do
			run_shim shim env $setting "$apps/stack" needs $events
			check "$events events, $setting: at most 2 kB of stack more" within 2048
		done
	done
fi

# Another thread resets the set that one reads, at any moment: after PAPI's reset and before sspapi
# records it, values seem to decrease.
find_real_papi
MORE=$REAL_PAPI_PRELOAD
for mode in reading auto; do
	rm -f "$tmp/shim.json"
	SSPAPI_ATTRIBUTION=$mode run_shim shim "$apps/resets" 20000
	if [ "$(status_of shim)" = 77 ]; then
		skip "$mode: reset by another thread" "$(tail -n 1 "$tmp/shim.err")"
		continue
	fi
	# (A thread that waits 20 ms in vain for another's call, on a busy machine, goes on: the
	# dump says so. A reset without effect, resets.c, counts as a reset.)
	check "$mode: reset by another thread: the dump has what PAPI returned" sh -c "
		perl tests/lib/check-handed.pl --no-cpu '$tmp/shim.json' '$tmp/shim.out' || grep '\"unsure\": true' '$tmp/shim.json' || grep '^lost' '$tmp/shim.out'"
	is "$mode: reset by another thread: no more is proven than was counted" \
		"$(json "$tmp/shim.json" 'scalar grep { $_->{exact}[0] > $_->{total}[0] }
		map { @{$_->{cpus}} } @{$d->{relations}}')" 0
done

MORE=$preloads/slow.so
crowd reuse
MORE=''

# Real PAPI, more threads than CPUs, none pinned by the test.
if [ "$REAL_PAPI" != yes ]; then
	skip "64 threads on real PAPI" "$PAPI_HOW"
elif plain "64 threads on real PAPI"; then
	MORE=$REAL_PAPI_PRELOAD
	run_native native "$apps/threads" -n 64
	if [ "$(status_of native)" != 137 ]; then
		run_shim shim "$apps/threads" -n 64
		check "64 threads on real PAPI: no difference" same_as_native native shim
		check "64 threads on real PAPI: the dump has what PAPI returned" has_returned shim
	else
		skip "64 threads on real PAPI" "it was killed: it takes 2 GB"
	fi
fi
done_testing
