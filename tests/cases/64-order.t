# Checks the order of the output: columns as the programs named the events, also merged; rows by
# clock or cycles.
. tests/lib/lib.sh
cd "$tmp" || exit 1

printf 'event %s\n' EV_Z EV_A EV_M EV_B EV_C PAPI_TOT_CYC perf::PAGE-FAULTS perf::TASK-CLOCK >script
# counted NAME RANK WORD...: runs ops into NAME.sspapi
counted() {
	name=$1 rank=$2
	shift 2
	run counted env FAKE_PAPI_SCRIPT="$tmp/script" LD_PRELOAD="$SHIM" ${rank:+PMI_RANK=$rank} \
		SSPAPI_OUTPUT="$tmp/$name.sspapi" "$scenes/ops" "$@"
}
events() {
	"$sspapi" report -f json "$@" >events.json
	json events.json 'join " ", sub { my %n = map { $_->{id} => $_->{name} } @{$d->{events}};
		map { $n{$_} } sort { $a <=> $b } keys %n }->()'
}
counted r0 0 set=EV_Z,EV_A start show=1,2 stop
counted r1 1 set=EV_M,EV_Z start show=3,4 stop set=EV_B start show=5 stop
counted r2 2 set=EV_C,EV_B start show=6,7 stop
is "one process: its own" "$(events r1.sspapi)" "EV_M EV_Z EV_B"
"$sspapi" merge -o 01.sspapi r1.sspapi r0.sspapi
"$sspapi" merge -o 12.sspapi r2.sspapi r1.sspapi
for files in "r0 r1 r2" "r2 r1 r0" "01 r2" "r0 12" "12 01" "12 r0"; do
	"$sspapi" merge -o all.sspapi $(for f in $files; do echo "$f.sspapi"; done)
	is "several ($files): first the first rank's, then the next one's" "$(events all.sspapi)" \
		"EV_Z EV_A EV_M EV_B EV_C"
	[ -e first.sspapi ] || cp all.sspapi first.sspapi
	check "and the same store ($files)" cmp all.sspapi first.sspapi
done
"$sspapi" report --per-rank all.sspapi >text
check "the columns of the text as well" grep -qE '^rank +EV_Z +share +EV_A +EV_M +EV_B ' text
is "some of them: in that order" "$("$sspapi" report --events EV_B,EV_A -f csv all.sspapi |
	cut -d, -f 14 | sed 1d | sort -u | tr '\n' ' ')$("$sspapi" report --events EV_B,EV_A \
	all.sspapi | grep -o '^rank  .*' | tr -s ' ')" \
	"EV_A EV_B rank EV_A share EV_B"

# first_counts: of each row of the function act the first column
first_counts() {
	awk '/^[~ ]*act / { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/) { print $i; break } }' "$@" | paste -sd' '
}
# Rows: 6 page faults do not outrank 9 ms, nor 3 cycles 900.
counted clock '' set=perf::PAGE-FAULTS,perf::TASK-CLOCK start show=6,1000 read show=7,9001000 stop
counted cycles '' set=EV_A,PAPI_TOT_CYC start show=6,3 read show=7,903 stop
for by in clock cycles; do
	is "rows by $by" "$("$sspapi" report --all --no-symbols $by.sspapi | first_counts)" "1 6"
done
# (One leading event in every table: its share, its order, and --sort names another.)
"$sspapi" report --no-symbols clock.sspapi >text
is "the clock has the share in every table" "$(grep -c 'PAGE-FAULTS  TASK-CLOCK   share' text) $(grep -c 'PAGE-FAULTS   share' text)" "2 0"
is "and orders a level's rows" "$("$sspapi" report --no-symbols --all --per-callsite clock.sspapi | first_counts)" "1 6"
is "--sort names another" "$("$sspapi" report --no-symbols --sort PAGE-FAULTS clock.sspapi | grep -c 'PAGE-FAULTS   share  TASK-CLOCK') \
$("$sspapi" report --no-symbols --sort PAGE-FAULTS --all --per-callsite clock.sspapi | first_counts)" "2 6 1"
counted many '' set=EV_Z,EV_A,EV_M,EV_B,EV_C,PAPI_TOT_CYC start show=1,2,3,4,5,60 stop
check "it has a column, however many events come before it" sh -c '"$1" report many.sspapi | grep -q "TOT_CYC   share"' sh "$sspapi"
is "and stands in no list of the others" "$("$sspapi" report many.sspapi | grep -c 'TOT_CYC  *all CPUs')" 0
"$sspapi" report -f hwloc -o many.xml many.sspapi
check "it colours hwloc's form" grep -q 'lstopoLegend.*TOT_CYC' many.xml
counted none '' set=EV_A,EV_B start show=6,3 read show=7,903 stop
is "else by the first" "$("$sspapi" report --all --no-symbols none.sspapi | first_counts)" "6 1"
done_testing
