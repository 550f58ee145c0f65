# Checks that no two columns have one heading: modes, long names, the same name twice.
. tests/lib/lib.sh
cd "$tmp" || exit 1
long=OFFCORE_RESPONSE_0:DMND_DATA_RD:DMND_RFO:DMND_IFETCH:WB:PF_DATA_RD:PF_RFO:PF_IFETCH:PF_LLC_DATA_RD:PF_LLC_RFO:L3_HITM
printf 'event %s\n' perf::PAGE-FAULTS perf::TASK-CLOCK "$long:SNP_NONE" "$long:SNP_MISS" >script
# counted NAME RANK WORD...: runs ops into NAME.sspapi
counted() {
	name=$1 rank=$2
	shift 2
	run counted env FAKE_PAPI_SCRIPT="$tmp/script" LD_PRELOAD="$SHIM" PMI_RANK="$rank" \
		SSPAPI_OUTPUT="$tmp/$name.sspapi" "$scenes/ops" "$@"
}
names() {
	"$sspapi" report -f json "$@" >names.json
	json names.json 'join ", ", map { "$_->{name} $_->{total}" } @{$d->{events}}'
}
counted user 0 set=perf::PAGE-FAULTS,perf::TASK-CLOCK start show=5,1000000 stop
counted user2 2 set=perf::PAGE-FAULTS start show=6 stop
counted all 1 defdom=3 set=perf::TASK-CLOCK,perf::PAGE-FAULTS start show=2000000,70 stop
is "alone: by their own names" "$(names all.sspapi), $(names user.sspapi)" \
	"perf::TASK-CLOCK 2000000, perf::PAGE-FAULTS 70, perf::PAGE-FAULTS 5, perf::TASK-CLOCK 1000000"
is "of one mode: one event" "$(names user2.sspapi user.sspapi)" \
	"perf::PAGE-FAULTS 11, perf::TASK-CLOCK 1000000"
wanted="perf::PAGE-FAULTS (user) 11, perf::TASK-CLOCK 3000000, perf::PAGE-FAULTS (user+kernel) 70"
is "of user mode only and of user and kernel: two, but of a clock, which counts all" \
	"$(names user.sspapi user2.sspapi all.sspapi)" "$wanted"
"$sspapi" merge -o users.sspapi user2.sspapi user.sspapi
"$sspapi" merge -o mixed.sspapi all.sspapi user2.sspapi
"$sspapi" merge -o one.sspapi users.sspapi all.sspapi
"$sspapi" merge -o two.sspapi mixed.sspapi user.sspapi
is "in any groups" "$(names two.sspapi)" "$wanted"
check "the same store" cmp one.sspapi two.sspapi
"$sspapi" report one.sspapi | tr -s ' ' >text
check "text: so are the headings, broken between words, and clocks are seconds" sh -c "grep -q '(user) ' text && grep -q ' TASK-CLOCK share' text && grep -q ' (user+kernel)\$' text && grep -q ' 2.000 ms' text && grep -q ' 1.000 ms' text"
check "on a wide terminal in one line" sh -c 'COLUMNS=200 "$0" report one.sspapi | grep -q "^CPU .*PAGE-FAULTS (user).* PAGE-FAULTS (user+kernel)"' "$sspapi"
run d "$sspapi" diff --fail-above 1 user.sspapi all.sspapi
is "diff has a row for each" "$(sed -n 's/^[~ ]*total *//p' d.out | tr -s ' ')" \
	"PAGE-FAULTS (user) 5 - -5 -100.00
TASK-CLOCK 1.000 ms 2.000 ms +1.000 ms +100.00
PAGE-FAULTS (user+kernel) - 70 +70 new"
is "and only the clock has grown" \
	"$(grep -c 'has grown' d.out) $(grep -c 'TASK-CLOCK has grown' d.out)" "1 1"
# A run of PAPI's and one of stat's, in the same modes.
if "$sspapi" stat -q -e task-clock,page-faults -o stat.sspapi true 2>/dev/null &&
   "$sspapi" report -f json stat.sspapi | grep -q '"domain": \["user", "kernel"\]'; then
	is "stat's events are PAPI's" \
		"$("$sspapi" report -f json stat.sspapi all.sspapi >names.json; json names.json \
		'join " ", map { $_->{name} } @{$d->{events}}')" \
		"perf::TASK-CLOCK perf::PAGE-FAULTS"
else
	skip "stat's events are PAPI's" "this user may not see the kernel's part"
fi
"$sspapi" diff user.sspapi user2.sspapi >text
is "but not of the same machine" "$(grep -c 'is not the same' text)" 0

printf 'EVENT,PAGE-FAULTS,NOT_DERIVED,perf::PAGE-FAULTS\n' >m.csv
"$sspapi" report -m ./m.csv --per-machine user2.sspapi >text
is "a metric with the name of an event" \
	"$(grep -o 'PAGE-FAULTS\|(metric)\| 6 ' text | paste -sd' ')" \
	"PAGE-FAULTS PAGE-FAULTS (metric)  6   6 "
counted long 0 "set=$long:SNP_NONE,$long:SNP_MISS" start show=5,6 stop
"$sspapi" report long.sspapi >text
is "long names: the differing part is kept" "$(sed -n '/^[~ ]*CPU [0-9]/q; p' text | tr -d ' \n' |
	grep -o 'SNP_NONE\|SNP_MISS' | sort | tr '\n' ' ')" "SNP_MISS SNP_NONE "
check "and the table is no wider for it" is_equal \
	"$(perl -CSD -ne 'print if length > 81 && !/^look/' text)" ""
done_testing
