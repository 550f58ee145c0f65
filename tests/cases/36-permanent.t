# Runs SSPAPI_READINGS=permanent with real PAPI: the program sees no difference, not even a page
# fault, and the dump has every reading.
. tests/lib/lib.sh
need_real_papi
SSPAPI_READINGS=permanent
export SSPAPI_READINGS

for app in basics "migration -a 7 -b 5" "threads -n 4"; do
	# shellcheck disable=SC2086 # words
	run_native native $apps/$app
	# shellcheck disable=SC2086
	run_shim shim $apps/$app
	check "$app: the program sees no difference" same_as_native native shim
	check "$app: the dump has what PAPI returned" has_returned shim
done
is "the setting is in the dump" "$(json "$tmp/shim.json" '$d->{settings}{readings}')" permanent
is "each reading is kept" "$(json "$tmp/shim.json" \
	'map { $_->{permanent}{kept} - $_->{readings} } @{$d->{relations}}' | sort -u)" 0

# Chunks of memory are made during the run: their pages must not cause a fault that PAPI counts.
for live in 1 0; do
	SSPAPI_LIVE=$live
	export SSPAPI_LIVE
	run_native native "$apps/many" 20000
	run_shim shim "$apps/many" 20000
	check "20000 readings, SSPAPI_LIVE=$live: no page fault of sspapi" same_as_native native \
		shim
	is "all are kept" "$(json "$tmp/shim.json" \
		'map { "$_->{permanent}{kept} $_->{permanent}{refused}" } @{$d->{relations}}')" \
		"20001 0"
	is "in order, with PAPI's values" \
		"$(json "$tmp/shim.json" \
		'my ($l) = map { $_->{list} } map { @{$_->{entries}} } @{$d->{relations}};
		my @bad = grep { $l->[$_]{ns} <= $l->[$_ - 1]{ns} || $l->[$_]{value} != int(($_ + 1) / 1000) } 1 .. 19999; @$l . " @bad"')" "20001 "
done
unset SSPAPI_LIVE

# ---- report --readings ------------------------------------------------------------------------
SSPAPI_OUTPUT=$tmp/moved.sspapi run_shim moved "$apps/migration" -a 7 -b 5
"$B/sspapi" report --readings "$tmp/moved.sspapi" >"$tmp/readings.csv"
"$B/sspapi" report -f json "$tmp/moved.sspapi" >"$tmp/moved.json"
is "--readings: a row for each, as in JSON" "$(sed 1d "$tmp/readings.csv" | cut -d, -f 6-10)" \
	"$(json "$tmp/moved.json" 'map { my $r = $_; map { my $e = $_;
	map { join ",", $r->{event_set}, $_->{ns}, $e->{cpu}, "perf::PAGE-FAULTS", $_->{value} } grep { $_->{permanent} } @{$e->{list}} } @{$r->{entries}} } @{$d->{relations}}' |
	sort -t , -k 2,2n)"
is "--readings: the header" "$(head -n 1 "$tmp/readings.csv")" \
	"host,rank,pid,tid,thread,event_set,ns,cpu,event,value"

# PAPI_accum and PAPI_reset zero the set: the rates have all counts or are left out.
for app in basics "many 1000"; do
	# shellcheck disable=SC2086 # words
	SSPAPI_OUTPUT=$tmp/rates.sspapi run_shim rates $apps/$app
	"$B/sspapi" report -f trace -o "$tmp/trace.json" "$tmp/rates.sspapi"
	"$B/sspapi" report -f json "$tmp/rates.sspapi" >"$tmp/rates.json"
	check "$app: the trace" perl "$root/tests/lib/check-trace.pl" "$tmp/trace.json" \
		"$tmp/rates.json"
done

# ---- call sites ------------------------------------------------------------------------------
# Two ranks of a program with several regions: each window has the name that the text shows, also
# after a merge. In JSON each reading has the sites of its window.
for rank in 0 1; do
	SSPAPI_OUTPUT=$tmp/sites/$rank.sspapi run_shim sites env OMPI_COMM_WORLD_RANK=$rank $apps/sites
done
"$sspapi" merge -o "$tmp/merged.sspapi" "$tmp"/sites/?.sspapi
names() {	# FILE PID: prints the names of this process's windows, in order
	"$sspapi" report -f trace "$1" >"$tmp/trace.json"
	json "$tmp/trace.json" "map { \$_->{name} =~ s/:.*//r } grep { \$_->{pid} == $2 && \$_->{args}{path} } @{\$d->{traceEvents}}" |
		paste -sd ' '
}
want="region_a region_a region_b region_a region_a measured"
is "each window has the name of its function" "$(names "$tmp/sites/0.sspapi" 1)" "$want"
for rank in 0 1; do
	is "rank $rank, merged: the same" "$(names "$tmp/merged.sspapi" $((rank + 1)))" "$want"
done
is "its path, PAPI function and CPU" \
	"$(json "$tmp/trace.json" 'map { my $a = $_->{args}; join " ", $a->{call}, $a->{path} =~ /^(\w+)/, $a->{cpu} =~ /^\d+$/ ? "CPU" : $a->{cpu} } (grep { $_->{args}{path} } @{$d->{traceEvents}})[0 .. 2]')" \
	"PAPI_read region_a CPU
PAPI_stop region_a CPU
PAPI_stop region_b CPU"
"$sspapi" report --per-callsite "$tmp/merged.sspapi" >"$tmp/sites.txt"
is "with the lines of the text" "$(json "$tmp/trace.json" 'map { $_->{name} =~ s/\x{2192}/to/r } grep { $_->{args}{path} } @{$d->{traceEvents}}' | sort -u)" \
	"$(sed -n 's/→/to/; s/^\(region_[ab:0-9]*\( to [0-9]*\)\{0,1\}\|measured\) .*/\1/p' "$tmp/sites.txt" | sort -u)"
for store in sites/0 merged; do
	"$sspapi" report -f json "$tmp/$store.sspapi" >"$tmp/sites.json"
	is "$store: JSON: the readings of each pair, as in intervals" \
		"$(json "$tmp/sites.json" 'my %n; $n{"$_->{from} $_->{to}"}++ for map { @{$_->{list}} } map { @{$_->{entries}} } @{$d->{relations}}; map { "$_: $n{$_}" } sort keys %n')" \
		"$(json "$tmp/sites.json" 'my %n; $n{"$_->{from} $_->{to}"} += $_->{count} for map { @{$_->{intervals}} } @{$d->{relations}}; map { "$_: $n{$_}" } sort keys %n')"
done
SSPAPI_CALLSITES=0 SSPAPI_OUTPUT=$tmp/off.sspapi run_shim off "$apps/sites"
"$sspapi" report -f trace -o "$tmp/trace.json" "$tmp/off.sspapi"
is "without call sites: the CPUs only" "$(json "$tmp/trace.json" 'map { $_->{name} =~ /CPU/ ? "CPU" : $_->{name} } grep { $_->{ph} eq "B" } @{$d->{traceEvents}}' | sort -u)" CPU

SSPAPI_READINGS_MAX=1000
export SSPAPI_READINGS_MAX
run_shim shim "$apps/many" 5000
check "past the limit: the program sees no difference" is_equal "$(status_of shim)" 0
check "past the limit: the totals are complete" has_returned shim
is "past the limit: they are counted" \
	"$(json "$tmp/shim.json" \
	'my $r = $d->{relations}[0]; "$r->{permanent}{kept} $r->{permanent}{refused} $d->{dropped}{permanent_readings}"')" "1000 4001 4001"
SSPAPI_OUTPUT=$tmp/text.txt run_shim text "$apps/many" 5000
check "the text says it" grep -q '4.001 permanent readings counted but not stored' "$tmp/text.txt"
check "and how many are kept" grep -q '^- 1.000 permanent readings stored' "$tmp/text.txt"
is "nothing on stderr" "$(grep '^sspapi' "$tmp/shim.err")" ""
done_testing
