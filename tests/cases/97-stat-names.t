# Tests the event names that `sspapi stat` and `sspapi list` accept: PAPI's, perf's, suffixes; and
# the messages for others.
. tests/lib/lib.sh
cd "$tmp" || exit 1
need_stat

# names EVENTS: prints the names under which these are stored
names() {
	run named "$sspapi" stat -q -e "$1" -o "$tmp/named.json" true
	json "$tmp/named.json" 'map { $_->{name} } @{$d->{events}}' | paste -sd' '
}
while read -r given stored; do
	is "$given" "$(names "$given")" "$stored"
done <<'END'
page-faults perf::PAGE-FAULTS
Task-Clock,cpu-clock perf::TASK-CLOCK perf::CPU-CLOCK
minor-faults,major-faults,minor-faults perf::MINOR-FAULTS perf::MAJOR-FAULTS
page-faults,perf::PAGE-FAULTS,PAGE-FAULTS perf::PAGE-FAULTS
perf::faults perf::FAULTS
END
while read -r given stored; do
	sees_kernel || { skip "$given" "this user may not count in the kernel"; continue; }
	is "$given" "$(names "$given")" "$stored"
done <<'END'
faults,cs,migrations perf::PAGE-FAULTS perf::CONTEXT-SWITCHES perf::CPU-MIGRATIONS
context-switches,cpu-migrations perf::CONTEXT-SWITCHES perf::CPU-MIGRATIONS
page-faults:u,faults:k,faults:uk perf::PAGE-FAULTS:u perf::PAGE-FAULTS:k perf::PAGE-FAULTS:uk
END
run parts "$sspapi" stat -q -e page-faults:u,page-faults:k,page-faults -o parts.json \
	"$apps/counted" pages 300
if sees_kernel; then
	is "of the user and of the kernel they are all" \
		"$(json parts.json 'my $t = $d->{components}[0]{total};
		$t->{"perf::PAGE-FAULTS:u"} + $t->{"perf::PAGE-FAULTS:k"} - $t->{"perf::PAGE-FAULTS"}')" 0
else
	skip "of the user and of the kernel they are all" "this user may not see the kernel's part"
fi

# Metrics: in any case; of several definitions of a name the last that this machine can count.
run metric "$sspapi" stat -q -m cpus_busy -o metric.json true
is "-m in any case" "$(status_of metric) $(json metric.json \
	'map { $_->{name} } @{$d->{events}}, @{$d->{metrics}}' | paste -sd' ')" \
	"0 perf::TASK-CLOCK CPUS_BUSY"
{ grep '^CPU,' "$root/tests/software-presets.csv" && cat <<'END'; } >presets.csv
PRESET,PAPI_TOT_CYC,NOT_DERIVED,perf::TASK-CLOCK
PRESET,PAPI_LD_INS,NOT_DERIVED,perf::PAGE-FAULTS
PRESET,PAPI_SR_INS,NOT_DERIVED,perf::MINOR-FAULTS
END
export PAPI_CSV_EVENT_FILE="$tmp/presets.csv"
if "$sspapi" stat -q -e PAPI_TOT_CYC,PAPI_LD_INS true 2>/dev/null &&
	! "$sspapi" stat -q -e PAPI_LST_INS true 2>/dev/null; then
	run metric "$sspapi" stat -q -m CYCLES_PER_MEM_REF -o metric.json true
	is "-m by the definition whose events this machine has" \
		"$(status_of metric) $(json metric.json 'map { $_->{name} } @{$d->{events}}' |
		paste -sd' ')" \
		"0 PAPI_TOT_CYC PAPI_LD_INS PAPI_SR_INS"
else
	skip "-m by the definition whose events this machine has" "PAPI has no such presets here"
fi
unset PAPI_CSV_EVENT_FILE

# refused EVENTS WORDS: before any program runs, in one line
refused() {
	run refused "$sspapi" stat -e "$1" touch "$tmp/it-ran"
	is "'$1' is refused" "$(status_of refused) $(wc -l <refused.err) $(grep -c -- "$2" \
		refused.err) $(test -e it-ran; echo $?)" "125 1 1 1"
}
refused page-faults,,cs "an event's name is missing at a comma"
refused cycels 'do you mean \(one of \)*cycles'
refused pagefaults 'do you mean \(one of \)*page-faults'
refused page-faults,nothing-like-it \
	'nothing-like-it: no such event; sspapi list shows the available ones$'
refused misses 'ambiguous ending: branch-misses, cache-misses'
refused 'page-faults:z' 'page-faults'
if "$sspapi" list cycles | tr -s '\n ' ' ' | grep -q ' cycles.*: no hardware counters'; then
	refused cycles 'cycles: no hardware counters here'
	refused cache-misses:u 'cache-misses:u: no hardware counters'
	# (By perf's name and by libpfm4's it is one event.)
	refused references '^sspapi stat: references: cache-references: no hardware counters'
	run usual "$sspapi" stat -o usual.json true
	is "columns that the default leaves out have a line" \
		"$(json usual.json \
		'grep { /^cycles and instructions are not counted: / } @{$d->{notes}}' | wc -l)" 1
else
	is "cycles" "$(names cycles)" perf::CYCLES
	run usual "$sspapi" stat -o usual.json true
	is "the default leads with cycles and instructions" \
		"$(json usual.json '(map { $_->{name} } @{$d->{events}})[0, 1]' |
		grep -cE 'CYC|INS')" 2
fi
# With PAPI's presets (here those of tests/software-presets.csv, on software events), a suffix that
# only one has:
if [ "$REAL_PAPI" = yes ] && [ -n "$REAL_PAPI_HW2SW" ]; then
	run ending env LD_PRELOAD="${REAL_PAPI_PRELOAD:+$REAL_PAPI_PRELOAD:}$REAL_PAPI_HW2SW" \
		"$sspapi" stat -q -e L3_TCM -o ending.json true
	is "a unique ending" "$(json ending.json 'map { $_->{name} } @{$d->{events}}')" PAPI_L3_TCM
fi
# With a CPU that libpfm4 does not support, or without PAPI: the kernel's events are there.
run alone env LD_LIBRARY_PATH=/nonexistent LIBPFM_DISABLED_PMUS=all LIBPFM_FORCE_PMU=nothing \
	"$sspapi" stat -e faults true
is "without PAPI's events" "$(status_of alone)" 0

# ---- list ------------------------------------------------------------------------------------
run list "$sspapi" list
is "list" "$(status_of list) $(wc -c <list.err)" "0 0"
check "has the kernel's events, with perf's names" \
	grep -qE '^  perf::PAGE-FAULTS +page-faults, faults +page faults$' list.out
listed=$(sed -n '/^the kernel.s/,/^$/s/^  \(perf::[A-Z-]*\) .*/\1/p' list.out | paste -sd,)
is "the listed events can be counted" "$(names "$listed" | tr ' ' ,)" "$listed"
run word "$sspapi" list major
is "a word" "$(grep -c '^  perf::' word.out) $(grep -c MAJOR word.out)" "1 1"
printf 'component perf_event disabled=1\n' >off
run off env FAKE_PAPI_SCRIPT="$tmp/off" LD_LIBRARY_PATH="$fake" "$sspapi" list major
is "without PAPI's component: who counts the listed events" \
	"$(tr -s '\n ' ' ' <off.out | grep -c 'perf_event: .*; only sspapi stat counts perf:: events here, not PAPI')" 1
run word "$sspapi" list cs
if sees_kernel; then
	is "each of perf's names" "$(grep -c '^  perf::CONTEXT-SWITCHES ' word.out)" 1
else
	is "each of perf's names: not here, and why" \
		"$(sed -n '/^not here:/,$p' word.out | tr -s '\n ' ' ' |
		grep -c 'context-switches.*perf_event_paranoid')" 1
fi
is "the last of the kernel's events is there, or a line says that it is not" \
	"$(grep -c 'node-prefetch-misses' list.out)" 1
run nothing "$sspapi" list nothing-like-it
is "nothing has it" "$(status_of nothing) $(head -1 nothing.out)" \
	"1 no event that can be counted here has 'nothing-like-it' in its name or text"
run strange "$sspapi" list "$(printf 'x\033[31m')"
is "nothing has control characters" "$(status_of strange) $(head -1 strange.out)" \
	"1 no event that can be counted here has 'x\x1b[31m' in its name or text"
check "events that cannot be counted have a reason" \
	awk '/^not here:/ { at = 1; next } at && /^  [^ ]/ { n++; bad += item && item !~ /: ./; item = "" }
	at { item = item $0 } END { exit !n || bad || item !~ /: ./ }' list.out

# ---- the table ---------------------------------------------------------------------------------
# (If all ran on one CPU the line is longer, and the command line in it shorter.)
run busy "$sspapi" stat "$apps/counted" threads 2 50
check "the headline says how many CPUs were busy" \
	sh -c "tr -s '\\n ' ' ' <busy.err | grep -qE '^counted .*, [0-9]+\.[0-9][0-9] CPUs? busy'"
run busy "$sspapi" stat -e page-faults "$apps/counted" threads 2 50
check "also if no clock was requested" \
	sh -c "tr -s '\\n ' ' ' <busy.err | grep -qE '^counted .*, [0-9]+\.[0-9][0-9] CPUs? busy'"
run level "$sspapi" stat --per-core -o level.sspapi sh -c 'kill -9 $$'
is "by level: the headline, the table, the notes, the last line" \
	"$(grep -cE 'CPUs? busy$|^core  |^- the program was ended by signal 9|^more: sspapi report --per-thread .*level.sspapi$' level.err)" 4
run runs "$sspapi" stat -r 3 "$apps/counted" pages 50
check "of repeats with their spread" \
	sh -c "tr -s '\\n ' ' ' <runs.err | grep -qE ' each, .*CPUs? busy'"
is "which are numbered" "$(grep -cE '^run [123]: pid [0-9]+' runs.err) $(grep -c '^run  ' \
	runs.err)" "3 1"
run wide env COLUMNS=160 "$sspapi" stat \
	-e task-clock,faults,minor-faults,major-faults,alignment-faults,emulation-faults \
	--per-thread "$apps/counted" threads 2 5
is "a wide terminal has all columns side by side" \
	"$(grep -cE '^thread .*share( +[A-Z]+-FAULTS){5} ' wide.err)" 1
run narrow "$sspapi" stat -e task-clock,faults,minor-faults,major-faults,cs,migrations \
	"$apps/counted" threads 2 5
is "rows without room are shown by stat, which has stored nothing for report" \
	"$(grep -o '^+ [0-9] more columns*: --per-' narrow.err | sort -u |
	cut -d: -f2) $(grep -c 'sspapi report' narrow.err)" " --per- 0"
run narrow "$sspapi" stat -o narrow.html \
	-e task-clock,faults,minor-faults,major-faults,cs,migrations "$apps/counted" threads 2 5
is "also next to a file that is not a store" \
	"$(grep -c 'sspapi report --' narrow.err) $(tail -n 1 narrow.err)" \
	"0 more: add -o FILE.sspapi, then sspapi report"
run narrow "$sspapi" stat -o narrow.sspapi \
	-e task-clock,faults,minor-faults,major-faults,cs,migrations "$apps/counted" threads 2 5
is "of a store by report" "$(grep -o '^+ [0-9] more columns*: sspapi [a-z]* --per-' narrow.err |
	sort -u | cut -d: -f2)" " sspapi report --per-"
run gone sh -c '"$@" 2>&-' sh "$sspapi" stat -o gone.json "$apps/counted" pages 1
is "standard error is closed: the file is there" "$(status_of gone) $(test -s gone.json; echo $?)" \
	"7 0"
done_testing
