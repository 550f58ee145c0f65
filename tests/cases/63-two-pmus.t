# Simulates cores of two kinds (tests/apps/hybrid.c: page faults are an event of the first CPU's
# kind). PAPI's counter counts on one kind only, and its counts are attributed so; sspapi stat has
# no count, not 0, on a CPU that cannot count an event.
. tests/lib/lib.sh
[ "$(nproc)" -ge 2 ] || skip_all "only one CPU to run on"
hybrid=$apps/hybrid
run try "$hybrid" own true
[ "$(status_of try)" = 0 ] || skip_all "nobody may be traced here: $(cat "$tmp/try.err")"
first=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//') last=$(taskset -pc $$ | sed 's/.*[:,-] *//')
# Use no other CPU: a shell that ran there would be one more that cannot count.
taskset -pc "$first,$last" $$ >/dev/null

# ---- PAPI's counts ------------------------------------------------------------------------
# Prints the counts attributed to the first CPU, the proven part of them, and what is proven
# elsewhere.
attributed() {
	FIRST=$first json "$tmp/shim.json" 'my ($sum, $there, $proven, $elsewhere) = (0) x 4;
		for my $c (map { @{ $_->{cpus} } } @{ $d->{relations} }) {
			$sum += $c->{total}[0];
			$there += $c->{total}[0] if $c->{cpu} == $ENV{FIRST};
			${ $c->{cpu} == $ENV{FIRST} ? \$proven : \$elsewhere } += $c->{exact}[0];
		}
		"$sum $there $proven $elsewhere"'
}
find_real_papi
if [ "$REAL_PAPI" = no ]; then
	skip "PAPI's counts by CPU" "$PAPI_HOW"
elif plain "PAPI's counts by CPU"; then
	MORE=$REAL_PAPI_PRELOAD
	for what in "once 300 500" "often 20 30 50" "reads 20 30 1" "pushed 2 40"; do
		for machine in own odd general; do
			# shellcheck disable=SC2086 # words
			SSPAPI_ATTRIBUTION=exact run_shim shim "$hybrid" $machine \
				"$apps/moves" $what
			handed=$(sed -n 's/handed sum=//p' "$tmp/shim.out" | cut -d' ' -f1)
			read -r sum there proven elsewhere <<-EOF
				$(attributed)
			EOF
			# (The kernel treats it as one event. The other CPU's counter shows too much
			# once it exceeds PAPI's count at the first reading, or once both counters
			# exceed PAPI's at a later one. A thread that a busy machine moves often and
			# that is read once proves nothing.)
			touched=$(sed -n "s/^touched cpu=$last pages=//p" "$tmp/shim.out")
			case "$machine ${what%% *}" in
			"general reads") ;;
			"general pushed") elsewhere=0 ;;
			general*) [ "${touched:-0}" -gt "$handed" ] ||
				elsewhere=$((elsewhere > ${touched:-0})) ;;
			esac
			is "$machine, ${what%% *}: all returned counts are attributed, none proven where PAPI's counter did not count" \
				"$sum $elsewhere $((proven <= handed))" "$handed 0 1"
			[ "$machine" = own ] && [ "${what%% *}" != pushed ] || continue
			is "$machine, ${what%% *}: all counts are on the right CPU, and proven" \
				"$there $proven" "$handed $handed"
		done
	done
	MORE=''
fi

# ---- sspapi stat ---------------------------------------------------------------------------
case ${SANITIZE-} in *address* | *thread*) export LD_PRELOAD="${SHIM%:*}" ;; esac
run try "$sspapi" stat true
[ "$(status_of try)" = 0 ] || { skip "sspapi stat" \
	"the kernel lets nobody count here: $(cat "$tmp/try.err")"; done_testing; exit; }
cd "$tmp" || exit 1
both="taskset -c $first '$apps/counted' pages 300; taskset -c $last '$apps/counted' pages 500; :"
for machine in own odd; do
	run stat "$hybrid" $machine "$sspapi" stat -e perf::TASK-CLOCK,perf::PAGE-FAULTS \
		-o $machine.sspapi sh -c "$both"
	is "$machine: the program ran" "$(status_of stat)" 0
	"$sspapi" report $machine.sspapi | tr -s ' \n' '  ' >text
	check "$machine: a dash" grep -qE "  *CPU $last \(core [^)]*\) [0-9.]+ [mun]?s [0-9]+ % -( |$)" text
	check "$machine: and a line" grep -q "\- CPU $last cannot count perf::PAGE-FAULTS (-): counts of the [0-9.]* ms that were spent there are missing" text
	check "$machine: not every count is there" grep -q "some counts are missing" text
	check "$machine: nor is it said" not grep -qx "all counts proven per CPU" text
done
"$sspapi" report -f json own.sspapi >own.json
is "JSON: null" "$(json own.json \
	'(map { my $r = $_; my ($at) = grep { $d->{events}[$r->{events}[$_]]{name} eq "perf::PAGE-FAULTS" } 0..$#{$r->{events}};
	map { "$_->{cpu} " . (defined $_->{total}[$at] ? "a" : "no") . " count, " . (defined $_->{exact}[$at] ? "" : "un") . "proven" } @{$r->{cpus}} } @{$d->{relations}})' | sort -u |
	paste -sd';')" "$first a count, proven;$last no count, unproven"
is "JSON: also of the components" \
	"$(LAST=$last json own.json \
	'my ($pu) = grep { $_->{type} eq "PU" && $_->{os_index} == $ENV{LAST} } @{$d->{topology}{components}};
	my ($c) = grep { $_->{component} == $pu->{id} } @{$d->{components}};
	exists $c->{total}{"perf::PAGE-FAULTS"} && !defined $c->{total}{"perf::PAGE-FAULTS"} ? "null" : "a number"')" null
"$sspapi" report -f csv own.sspapi >own.csv
is "CSV: nothing" "$(awk -F, -v cpu="$last" \
	'$10 == cpu && $14 == "perf::PAGE-FAULTS" { print $16 "," $17 }' own.csv | sort -u)" ","
check "CSV: but a count on another CPU" awk -F, -v cpu="$first" \
	'$10 == cpu && $14 == "perf::PAGE-FAULTS" { n += $16 } END { exit !(n >= 300) }' own.csv
"$sspapi" report --per-cpu -f csv own.sspapi >level.csv
is "report --per-cpu, CSV: nothing" \
	"$(awk -F, -v cpu="$last" '$10 == cpu && $14 == "perf::PAGE-FAULTS" { print $16 "," $17 }' \
	level.csv)" ","
"$sspapi" report --per-cpu -f json own.sspapi >level.json
is "report --per-cpu, JSON: null" \
	"$(LAST=$last json level.json \
	'my ($r) = grep { $_->{cpu} == $ENV{LAST} } @{$d->{levels}[0]{rows}};
	exists $r->{total}{"perf::PAGE-FAULTS"} && !defined $r->{total}{"perf::PAGE-FAULTS"} ? "null" : "a number"')" null
"$sspapi" report -f hwloc own.sspapi >own.xml
is "hwloc: no attribute on that PU" \
	"$(perl -0777 -ne 'print "none" if /<object type="PU" os_index="'"$last"'".*?<\/object>/s && $& !~ /perf::PAGE-FAULTS/' own.xml)" none
run merge "$sspapi" merge -o merged.sspapi own.sspapi
"$sspapi" report -f csv merged.sspapi >merged.csv
check "merged: the same" cmp own.csv merged.csv
run page "$sspapi" report -o own.html own.sspapi
is "a page" "$(status_of page)" 0
run diff "$sspapi" diff own.sspapi merged.sspapi
is "diff: none" "$(status_of diff)" 0
run stat "$hybrid" general "$sspapi" stat -f csv -e perf::PAGE-FAULTS sh -c "$both"
check "an event of both kinds is counted on both" awk -F, -v cpu="$last" \
	'$10 == cpu && $14 == "perf::PAGE-FAULTS" { n += $16 } END { exit !(n >= 500) }' stat.err
run stat taskset -c "$last" "$hybrid" own "$sspapi" stat -e perf::PAGE-FAULTS true
is "on CPUs of only one kind nothing is missing" \
	"$(grep -c 'cannot count' stat.err) $(status_of stat)" "0 0"
done_testing
