# Provokes every reason why counts are not proven (core/model/why.c), each by a program that does
# what the reason states.
. tests/lib/lib.sh
need_real_papi
[ "$(nproc)" -ge 2 ] || skip_all "only one CPU to run on"
[ -z "${SANITIZE-}" ] || skip_all "sanitized: its run time moves, faults and calls in between"
edges=$apps/edges plain=$MORE hw2sw=$MORE${REAL_PAPI_HW2SW:+:$REAL_PAPI_HW2SW} \
	faults=$MORE:$preloads/faults.so
first=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
other=$((first == 0))
shown=''			# the CPU that the reason names; any
open=298
[ "$(uname -m)" = x86_64 ] || open=241
many=''
for name in CYCLES INSTRUCTIONS CACHE-REFERENCES CACHE-MISSES BRANCHES BRANCH-MISSES BUS-CYCLES \
	DTLB-LOADS DTLB-LOAD-MISSES \
	ITLB-LOADS L1-DCACHE-LOADS L1-DCACHE-STORES LLC-LOADS; do
	many="$many perf::$name:u perf::$name:k"
done
{ grep '^CPU,' tests/software-presets.csv
echo "PRESET,PAPI_L2_TCA,DERIVED_POSTFIX,N0|N1|*|,perf::PAGE-FAULTS,perf::MINOR-FAULTS"
} >"$tmp/table.csv"

# Reads the names and texts of the reasons.
perl -0777 -ne 'for (split /^\t\t\[(?=SP_WHY_)/m) { /^(SP_WHY_\w+)\] =\s+(.*?),\n(?=\t\t?[\[}]|\z)/s or next; my ($name, $text) = ($1, $2);
	print "$name ", join("", $text =~ /"(.*?)"/g), "\n" }' core/model/why.c >"$tmp/texts"
is "every reason has a text" "$(sed 's/ .*//' "$tmp/texts" | sort)" \
	"$(grep -o '^	SP_WHY_[A-Z_]*' core/store/layout.h | tr -d '\t' | sort)"
is "in under 30 words" "$(awk 'NF > 30' "$tmp/texts")" ""
# Prints from the last run's dump: how, and why, of relations that are not proven, each once.
whys() {
	json "$tmp/shim.json" 'my %seen; grep { !$seen{$_}++ } map { "$_->{attribution}: " . ($_->{attribution_why} // "null") }
		grep { !'"${1-0}"' || grep { "@{[map { $_ // q() } @{$_->{total}}]}" ne "@{[map { $_ // q() } @{$_->{exact}}]}" } @{$_->{cpus}} } @{$d->{relations}}'
}
# Prints relations that are not proven and have no reason, or the reverse.
unexplained() {
	json "$tmp/shim.json" 'map { $_->{id} }
		grep { my $open = grep { "@{[map { $_ // q() } @{$_->{total}}]}" ne "@{[map { $_ // q() } @{$_->{exact}}]}" } @{$_->{cpus}};
		!$open != !defined $_->{attribution_why} } @{$d->{relations}}'
}

once() {
	rm -f "$tmp/shim".*
	SSPAPI_OUTPUT=$tmp/shim.json run_shim shim env SSPAPI_FORMAT=json,text "$@"
}

any() {
	[ "$shown" = any ] && sed 's/; CPU [0-9]* also/; CPU any also/' || cat
}

# reason SP_WHY_NAME HOW LABEL PROGRAM...: JSON and text have this reason, after the share, and no
# other
reason() {
	name=$1 how=$2 label="$3 ($1)"
	shift 3
	once "$@"
	if [ "$(status_of shim)" = 77 ]; then
		skip "$label" "$(tail -n 1 "$tmp/shim.err")"
		return 1
	fi
	words=$(sed -n "s/^SP_WHY_$name //p" "$tmp/texts")${shown:+; CPU $shown also has the counts of CPUs without shadow counters}
	echo "$name" >>"$tmp/provoked"
	if [ "$name" = EDGE ] &&
		[ "$(whys 1)" = "$how: $(sed -n 's/^SP_WHY_INSIDE //p' "$tmp/texts")" ]; then
		skip "$label" "the thread was preempted in that call"
		return
	fi
	is "$label: JSON" "$(whys 1 | any)" "$how: $words"
	is "$label: a reason wherever something is not proven, and only there" "$(unexplained)" ""
	is "$label: the text has the share, and then the reason" \
		"$(sed -n '2,/^$/p' "$tmp/shim.txt" | tr -s ' \n' ' ' |
		sed -E 's/^.* (is|are) (not )?proven on (its|their) CPU \(~\)(: at most [0-9.,]+ ([mun]?s )?of [0-9.,]+ ([mun]?s )?may be elsewhere)? /SIZE /' | any)" \
		"SIZE why: $words "
}

# Counts of the watched CPU's counter belong to that CPU, the rest to the other.
stays() {
	check "$1: each CPU has what was counted there" perl tests/lib/check-moves.pl booked \
		"$tmp/shim.out" "$tmp/shim.json"
}

none() {
	label=$1
	shift
	rm -f "$tmp/shim".*
	SSPAPI_OUTPUT=$tmp/shim.json run_shim shim env SSPAPI_FORMAT=json,text "$@"
	is "$label: no reason" "$(whys)" "exact: null"
	check "$label: nor in the text" not grep -qE 'why:|pin ' "$tmp/shim.txt"
}

SSPAPI_ATTRIBUTION=exact
export SSPAPI_ATTRIBUTION
none "moved" "$edges" moved perf::PAGE-FAULTS
none "read by another thread" "$apps/shared-sets" reader
reason OFF reading "SSPAPI_DESCRIPTORS=0" env SSPAPI_DESCRIPTORS=0 "$apps/moves" once 100 300
shown=any
reason BUDGET exact "SSPAPI_DESCRIPTORS=3" env SSPAPI_DESCRIPTORS=3 "$apps/moves" once 100 300
shown=''
stays "SSPAPI_DESCRIPTORS=3"
reason DESCRIPTORS reading "the limit is lowered" "$edges" limit
reason CREDIT exact "too many sets for auto" env SSPAPI_ATTRIBUTION=auto "$edges" credit
reason CLOSED exact "it closes all descriptors" "$apps/disruptions" closes
reason ENDED exact "its thread has ended, and others have come" "$edges" ended
shown=$other
reason UNWATCHED exact "a thread whose CPUs are widened" taskset -c "$first" "$edges" wide
stays "a thread whose CPUs are widened"
reason UNWATCHED exact "another thread widens them" taskset -c "$first" "$edges" outside &&
	stays "another thread widens them" &&
	is "and its CPUs follow" \
	"$(json "$tmp/shim.json" 'map { $_->{cpus_allowed} } @{$d->{relations}}')" \
	"$([ "$first" -le 1 ] && echo 0-1 || echo "0,$first")"
shown=$first
reason UNWATCHED exact "it comes back" taskset -c "$first" "$edges" returns
shown=$other
once env SSPAPI_ATTRIBUTION=residency taskset -c "$first" "$edges" wide
is "split by time: the CPU that is not watched has its part" \
	"$(json "$tmp/shim.json" 'join " ", map { $_->{total}[0] > 0 ? "some" : "none" } map { @{$_->{cpus}} } @{$d->{relations}}')" "some some"
is "split by time: and the CPU is named" "$(whys 1)" "residency: $(sed -n 's/^SP_WHY_UNWATCHED //p' "$tmp/texts"); CPU $shown also has the counts of CPUs without shadow counters"
shown=''
reason EDGE exact "it counts inside PAPI_start, elsewhere" "$edges" late
reason RUNNING exact "another thread stops it while it runs" "$edges" stopped
reason HANDLER exact "a handler calls PAPI inside PAPI_read" "$edges" nested
reason INSIDE exact "it is moved inside PAPI_read" "$edges" looks
reason SHADOW exact "PAPI's counter is off for a while" "$edges" disabled
reason CLOCK exact "CPU-CLOCK moves" "$edges" moved perf::CPU-CLOCK
reason GUEST reading "a child on its parent's TLS" "$apps/clone-vm" own clone
reason OPENER exact "another thread opened the counters" "$apps/shared-sets" opener
reason SWITCHED_OFF exact "prctl" "$apps/disruptions" disables
reason OVERFLOW approximate "an overflow set moves" "$edges" sampled
MORE=''
printf '%s\n' 'component appio' 'event appio:::READ_CALLS component=appio' >"$tmp/script"
reason COMPONENT reading "I/O counted by PAPI itself" env FAKE_PAPI_SCRIPT="$tmp/script" \
	"$scenes/ops" set=appio:::READ_CALLS start show=5 cpu=1 show=9 stop
# Counts that belong to no CPU need no reason; the text names their component.
printf '%s\n' 'component net' 'event net:::lo:rx:bytes component=net' >"$tmp/script"
once env FAKE_PAPI_SCRIPT="$tmp/script" "$scenes/ops" set=net:::lo:rx:bytes start show=5 \
	cpu=1 show=9 stop
echo SHARED >>"$tmp/provoked"
is "the host's counts (SHARED): JSON" "$(whys 1)" \
	"reading: $(sed -n 's/^SP_WHY_SHARED //p' "$tmp/texts")"
check "the host's counts: the text names the host" \
	grep -qE '^net:::lo:rx:bytes +machine +9$|^lo:rx:bytes +machine +9 *' "$tmp/shim.txt"
MORE=$plain
once "$apps/sde"
case $(status_of shim) in
77) skip "software-defined events (SHARED)" "$(tail -n 1 "$tmp/shim.err")" ;;
*) is "software-defined events (SHARED)" "$(whys 1)" \
	"reading: $(sed -n 's/^SP_WHY_SHARED //p' "$tmp/texts")" ;;
esac
reason FILTER reading "seccomp" "$apps/disruptions" sandbox
reason FORMULA reading "a count in a set with a product" env PAPI_CSV_EVENT_FILE="$tmp/table.csv" \
	"$edges" moved perf::PAGE-FAULTS PAPI_L2_TCA

case $MORE in *asan*) ;; *)
	MORE=$faults
	reason REFUSED reading "EACCES" env FAULT=$open:1+:13 "$apps/moves" once 100 300
	reason MEMORY reading "ENOMEM" env FAULT=$open:1+:12 "$apps/moves" once 100 300
	shown=any
	reason UNWATCHED exact "ENOENT on one CPU" env FAULT=$open:5:2 "$apps/moves" once 100 300
	stays "ENOENT on one CPU"
	shown=''
	;;
esac

MORE=$hw2sw
reason UNSEEN residency "an event went from between two" "$edges" gap
reason UNWATCHED exact "a child goes where its parent might not" taskset -c "$first" \
	"$edges" children
reason MULTIPLEXED residency "multiplexed by PAPI" "$apps/mpx"
if [ -n "${REAL_PAPI_HW2SW-}" ]; then	# otherwise the processor decides
	# shellcheck disable=SC2086 # words
	reason MANY residency "26 events" "$edges" moved $many
	reason DISPLACED exact "PAPI refuses another set's start" "$edges" refused
	reason STARVED exact "no place in the hardware" "$edges" starved
	shown=any
	reason UNWATCHED exact "a CPU without a counter" "$edges" absent
	shown=''
	reason UNWATCHED residency "no CPU with the event" "$edges" absents
	is "all have been provoked" "$(sort -u "$tmp/provoked")" \
		"$(sed -n 's/^SP_WHY_\([A-Z_]*\) .*/\1/p' "$tmp/texts" | grep -v '^NONE$' | sort)"
fi

# What the setting does not request has no reason: a note describes the setting.
MORE=$plain
for how in "reading: each count is attributed to the CPU of its reading" \
	"residency: counts are divided by the thread's time on each CPU"; do
	rm -f "$tmp/shim".*
	SSPAPI_OUTPUT=$tmp/shim.json SSPAPI_ATTRIBUTION=${how%%:*} run_shim \
		shim env SSPAPI_FORMAT=json,text "$apps/moves" once 100 300
	is "${how%%:*}: no reason" "$(whys)" "${how%%:*}: null"
	check "${how%%:*}: the text says how it is attributed" grep -q "^  ${how#*: }" \
		"$tmp/shim.txt"
	check "${how%%:*}: and why it has no share" not grep -q 'why:' "$tmp/shim.txt"
done
done_testing
