# Tests report -m: derived metrics of every component, from its own sums; and wrong definitions.
. tests/lib/lib.sh
cd "$tmp" || exit 1
run v env LD_PRELOAD="$SHIM" SSPAPI_OUTPUT="$tmp/v.sspapi" \
	"$scenes/one"	# CPU 0: 5 EV_A, CPU 1: 7 EV_A, 3 EV_B

printf '%s\n' '# mine' 'PRESET,BA,DERIVED_POSTFIX,N0|N1|/|,EV_B,EV_A,NOTE,"B, for each A"' \
	'PRESET,AB,DERIVED_INFIX,N0/N1,EV_A,EV_B' 'EVENT,TWICE,DERIVED_ADD,EV_A,EV_A' \
	'EVENT,ALIAS,NOT_DERIVED,TWICE' 'EVENT,ABSENT,NOT_DERIVED,EV_NONE' \
	'PRESET,EV_A,NOT_DERIVED,EV_B' >mine.csv

"$sspapi" report -f json -m mine.csv v.sspapi >v.json
cat >wanted.pl <<'END'
sub near { my ($got, $want) = @_; defined $got ? defined $want && abs($got - $want) < 1e-12 : !defined $want }
map { my ($t, $m) = @{$_}{qw(total derived_metrics)}; my ($a, $b) = @{$t}{qw(EV_A EV_B)};
	near($m->{BA}, $a ? $b / $a : undef) && near($m->{AB}, $b ? $a / $b : undef) && near($m->{TWICE}, 2 * $a) &&
	near($m->{ALIAS}, 2 * $a) && keys %$m == 4 ? "ok" : JSON::PP->new->encode($_) } @{$d->{components}}
END
is "JSON: each component's, from its own sums" "$(json v.json "$(cat wanted.pl)" | sort -u)" ok
is "of several values" "$(json v.json 'map { $_->{derived_metrics}{BA} } @{$d->{components}}' |
	sort -u | wc -l)" 3
is "without -m they are not mentioned" \
	"$("$sspapi" report -f json v.sspapi | grep -c derived_metrics)" 0

"$sspapi" report -f csv -m mine.csv v.sspapi | sed 1d | cut -d, -f 10,14,15-17 >v.csv
is "CSV: lines with an empty exact" "$(grep -E '^1,(BA|AB|TWICE),' v.csv | cut -d, -f 2,5)" "BA,
AB,
TWICE,"
is "a division by 0 has no line" "$(grep -c '^0,AB' v.csv)" 0
is "its values" "$(grep -E '^1,(TWICE|ALIAS)' v.csv | cut -d, -f 4 | tr '\n' ' ')" "14 14 "
is "counts stand before them, as without" "$(grep -c ',EV_[AB],' v.csv)" \
	"$("$sspapi" report -f csv v.sspapi | sed 1d | wc -l)"
"$sspapi" report -f csv --per-machine -m mine.csv v.sspapi >machine.csv
is "CSV by level" "$(grep ',BA,' machine.csv | cut -d, -f 14-17)" "BA,2,0.25,"
"$sspapi" report -f json --per-cpu -m mine.csv v.sspapi >levels.json
is "JSON by level" "$(json levels.json \
	'map { $_->{derived_metrics}{AB} // "none" } @{$d->{levels}[0]{rows}}' | head -n 1)" none

"$sspapi" report -m mine.csv v.sspapi >v.txt
check "text: a column, - where there is no value" \
	grep -qE '^[~ ] +CPU 0 .* 5 +[0-9]+ % +0 +0\.000 +- +10$' v.txt
check "for the machine" grep -qE '^~ all CPUs .* 12 +100 % +3 +0\.250 +4\.000 +24$' v.txt
check "those that do not fit are below" \
	sh -c "grep -qE '^CPU +ALIAS$' v.txt && grep -qE '^~ all CPUs +24$' v.txt"
"$sspapi" report --all -m mine.csv v.sspapi >all.txt
is "for call sites, as in CSV" "$(grep ' → .* %' all.txt | awk '{ print $(NF-3), $(NF-2), $(NF-1) }')" \
	"0.429 2.333 14
0.000 - 10"
check "those without room next to the first three are named" \
	grep -qx '+ 1 more column: sspapi report --per-callsite -m mine.csv v.sspapi' v.txt
printf '%s\n' 'EVENT,NEVER,DERIVED_INFIX,N1/(N0-N0),EV_A,EV_B' >never.csv
"$sspapi" report -m never.csv v.sspapi >never.txt
is "without a value in any row: a column of - in each table" \
	"$(grep -c 'EV_B  *NEVER' never.txt) $(grep -cE '(all CPUs|  CPU [01] |^[~ ]*count:[0-9]+ ).* -$' never.txt)" "2 5"
"$sspapi" report --per-cpu -m mine.csv v.sspapi >cpu.txt
check "text by level" grep -qE '^[~ ] CPU 0 .* 0\.000 +- +10' cpu.txt
check "no line is over 80 columns" is_equal \
	"$(perl -CSD -ne 'print if length > 81 && !/^more:/' v.txt)" ""

# ---- the installed ones ----------------------------------------------------------------
run d "$sspapi" report -m default v.sspapi
is "-m default, without any of its events: reported, and no error" \
	"$(status_of d) $(wc -l <d.err)" "0 1"
run d "$sspapi" report -m IPC v.sspapi
is "by name: what is missing" "$(cat d.err)" \
	"sspapi report: IPC needs PAPI_TOT_INS, which was not counted"
# The scripted libpapi has presets with the names of real events.
cat >script <<'END'
event PAPI_TOT_INS
event PAPI_TOT_CYC
END
run ipc env FAKE_PAPI_SCRIPT="$tmp/script" LD_PRELOAD="$SHIM" SSPAPI_OUTPUT="$tmp/ipc.sspapi" \
	"$scenes/one" PAPI_TOT_INS PAPI_TOT_CYC
run d "$sspapi" report -m CPI -m IPC ipc.sspapi
check "two by name: two columns" grep -qE ' TOT_CYC +IPC +CPI$' d.out
run d "$sspapi" report -m MISS_RATE ipc.sspapi
is "a suffix of several events is not accepted" "$(status_of d)" 2
run d "$sspapi" report -m busy ipc.sspapi
is "that of one process is it" "$(status_of d) $(cat d.err)" \
	"0 sspapi report: CPUS_BUSY needs perf::TASK-CLOCK, which was not counted"
run papi "$sspapi" report -m /usr/share/papi/7.0/papi_events.csv ipc.sspapi
[ -e /usr/share/papi/7.0/papi_events.csv ] && is "PAPI's own file is read as it is" \
	"$(grep -c . papi.err)" 1

# ---- divides only events that were counted together ----------------------------------------------
printf 'event %s\n' PAPI_TOT_INS PAPI_TOT_CYC EV_A EV_B EV_C >script
# sets NAME WORD...: runs ops into NAME.sspapi
sets() {
	name=$1
	shift
	# With clock= a store may be younger than the next program, which would not replace it.
	rm -f "$tmp/$name.sspapi"
	run sets env FAKE_PAPI_SCRIPT="$tmp/script" LD_PRELOAD="$SHIM" \
		SSPAPI_OUTPUT="$tmp/$name.sspapi" "$scenes/ops" "$@"
}
sets apart cpu=0 set=PAPI_TOT_INS start show=1000 read stop set=PAPI_TOT_CYC start \
	show=500 read stop
sets some cpu=0 set=PAPI_TOT_INS start show=1000 read stop set=PAPI_TOT_INS,PAPI_TOT_CYC start \
	show=300,200 read stop cpu=1 set=PAPI_TOT_CYC start show=7 stop
sets both cpu=1 set=PAPI_TOT_CYC,EV_A,PAPI_TOT_INS,EV_B,EV_C start show=100,1,500,2,3 read stop
run apart "$sspapi" report apart.sspapi
is "of two sets: none in any table of the text" "$(grep -c 'TOT_CYC  *share  *IPC' apart.out) $(grep -cE '(CPU 0|act:[0-9]+) .* -$' apart.out) $(grep -c '[0-9] *[0-9]\.[0-9][0-9][0-9]$' apart.out)" "2 3 0"
is "and a line" "$(grep -c '^- IPC: no event set has all its events (PAPI_TOT_INS, PAPI_TOT_CYC)' apart.out)" 1
run apart "$sspapi" report -f json -m IPC --per-cpu --per-thread --per-callsite apart.sspapi
is "JSON: null, at every level" "$(json apart.out 'map { exists $_->{derived_metrics}{IPC} &&
	!defined $_->{derived_metrics}{IPC} ? "null" : "?" } @{$d->{components}},
	map { @{$_->{rows}} } @{$d->{levels}}' | sort -u)" null
is "and a line on standard error" \
	"$(grep -c '^sspapi report: IPC: no event set has all' apart.err)" 1
is "CSV: no line" "$("$sspapi" report -f csv -m IPC apart.sspapi 2>&1 | grep -c ',IPC,')" 0
# level LEVEL FILE...: prints each row's IPC
level() {
	"$sspapi" report -f json -m IPC "--per-$1" "$2" ${3+"$3"} 2>/dev/null >level.json
	json level.json 'map { $_->{derived_metrics}{IPC} // "-" }
		map { @{$_->{rows}} } @{$d->{levels}}' | tr '\n' ' '
}
is "of the set that has both, by each level" \
	"$(for l in cpu machine thread process set; do level $l some.sspapi; done)" \
	"1.5 - 1.5 1.5 1.5 - 1.5 - "
is "of two processes: their sum" \
	"$(for l in cpu machine thread process; do level $l some.sspapi both.sspapi; done)" \
	"1.5 5 2.66666666666667 1.5 5 1.5 5 "
"$sspapi" merge -o merged.sspapi both.sspapi some.sspapi
is "merged: the same" "$(for l in cpu machine; do level $l merged.sspapi; done)" \
	"1.5 5 2.66666666666667 "
run some "$sspapi" report some.sspapi both.sspapi
check "the text has the number of sets" grep -q '^- IPC is made of 2 of 4 event sets' some.out
check "per thread, if requested" \
	sh -c "'$sspapi' report --per-thread some.sspapi 2>/dev/null | grep -qE ' 1\\.500 +0-1 '"
run both "$sspapi" report both.sspapi
check "before events for which there is no room" grep -qE '^PAPI call .* TOT_CYC +share +EV_A +TOT_INS +IPC$' both.out
is "sets apart: by number and events, the leading do first" "$("$sspapi" report --per-set some.sspapi 2>/dev/null | sed -n 's/^[~ ]*set \([^ ]*\): \([A-Z_, ]*\)  .*/\1 \2/p' | tr -s ' ' | tr '\n' '|')" \
	"1 TOT_INS, TOT_CYC |2 TOT_CYC |0 TOT_INS |"
sets near cpu=0 set=PAPI_TOT_INS start show=1000 stop set=PAPI_TOT_INS start show=20 stop set=PAPI_TOT_CYC start show=7 stop
"$sspapi" report --per-set -f csv near.sspapi >near.csv
is "also sets with similar numbers and events" \
	"$(sed 1d near.csv | cut -d, -f 7,14,16 | paste -sd' ')" \
	"0,PAPI_TOT_INS,1000 1,PAPI_TOT_INS,20 2,PAPI_TOT_CYC,7"
is "CSV has their numbers" "$("$sspapi" report --per-set -f csv -m IPC some.sspapi 2>/dev/null |
	grep IPC | cut -d, -f 7,14,16)" "1,IPC,1.5"

# ---- other metrics of the installed file ---------------------------------------------------------
cat >script <<'END'
component rapl
event PAPI_TOT_INS
event PAPI_TOT_CYC
event PAPI_LST_INS
event perf::TASK-CLOCK
event rapl:::PACKAGE_ENERGY:PACKAGE0 component=rapl units=nJ data_type=uint64
event rapl:::PACKAGE_ENERGY:PACKAGE1 component=rapl units=nJ data_type=uint64
END
sets clock cpu=0 set=PAPI_TOT_INS,PAPI_TOT_CYC,perf::TASK-CLOCK,PAPI_LST_INS start \
	show=6000,3000,2000,1000 stop
"$sspapi" report -f json -m GHZ,MIPS,CYCLES_PER_MEM_REF clock.sspapi >clock.json
is "cycles by the clock, instructions by it, cycles to memory references" \
	"$(json clock.json 'map { @{$_->{derived_metrics}}{qw(GHZ MIPS CYCLES_PER_MEM_REF)} } $d->{components}[0]' | tr '\n' ' ')" "1.5 3000 3 "
# The kernel's names, without PAPI's presets; if both were counted, PAPI's.
printf 'event %s\n' PAPI_TOT_INS PAPI_TOT_CYC perf::INSTRUCTIONS perf::CYCLES \
	perf::TASK-CLOCK >kernel
for more in '' ,PAPI_TOT_INS,PAPI_TOT_CYC; do
	names=perf::INSTRUCTIONS,perf::CYCLES values=6000,4000
	[ -z "$more" ] || values=1,1,$values
	run kernel env FAKE_PAPI_SCRIPT="$tmp/kernel" LD_PRELOAD="$SHIM" \
		SSPAPI_OUTPUT="$tmp/kernel.sspapi" "$scenes/ops" \
		"set=$names$more,perf::TASK-CLOCK" \
		start show=$values,2000 stop
	"$sspapi" report -f json -m IPC,CPI,GHZ,MIPS kernel.sspapi >kernel.json
	is "of $names$more" "$(json kernel.json 'map { my $m = $_->{derived_metrics};
		map { sprintf "%.4g", $m->{$_} } qw(IPC CPI GHZ MIPS) } $d->{components}[0]' |
		tr '\n' ' ')" "1.5 0.6667 2 3000 "
done
is "IPC, by default" "$("$sspapi" report kernel.sspapi |
	grep -c ' IPC$') $(FAKE_PAPI_SCRIPT=$tmp/kernel LD_PRELOAD=$SHIM \
	SSPAPI_OUTPUT=$tmp/kernel.sspapi "$scenes/ops" set=perf::INSTRUCTIONS,perf::CYCLES start \
	show=6,4 stop; "$sspapi" report kernel.sspapi | grep -c ' IPC$')" "2 2"
# Energy divided by the time during which it was observed, once: by two packages, by two sets of a
# thread, by two threads; 0 is a value.
P=rapl:::PACKAGE_ENERGY:PACKAGE
SSPAPI_TOPOLOGY=$root/tests/topo/v1-numa.xml sets watts "set=${P}0,${P}1" start \
	show=4000000,2000000 beside "set=${P}0" start show=3000000 stop back stop
"$sspapi" report -f json -m WATTS --per-thread watts.sspapi >watts.json
cat >wanted.pl <<'END'
my ($r) = sort { $b->{last_ns} - $b->{first_ns} <=> $a->{last_ns} - $a->{first_ns} } @{$d->{relations}};
my $ns = $r->{last_ns} - $r->{first_ns};
my @c = @{$d->{topology}{components}};
join " ", map { my $c = $c[$_->{component}]; my $w = $_->{derived_metrics}{WATTS};
	$c->{type} . ($c->{os_index} // "") . ":" . (defined $w ? sprintf "%.6f", $w * $ns / 1e6 : "null") }
	grep { $c[$_->{component}]{type} =~ /Machine|Package/ } @{$d->{components}}
END
is "watts: of each package and of the machine" "$(json watts.json "$(cat wanted.pl)")" \
	"Machine0:6.000000 Package0:4.000000 Package1:2.000000"
is "a thread's own" "$(json watts.json \
	'map { $_->{derived_metrics}{WATTS} > 0 ? "some" : "none" } @{$d->{levels}[0]{rows}}' |
	tr '\n' ' ')" "some some "
"$sspapi" report -m WATTS watts.sspapi >watts.txt
is "in text with the energy, in no table of CPUs" \
	"$(sed -nE 's/^WATTS +(.*[^ ]) +[0-9].*/\1/p' watts.txt | paste -sd,) $(grep -c 'WATTS$' \
	watts.txt)" "machine,package 0,package 1 0"
sets plain cpu=0 set=PAPI_TOT_INS start show=5 stop
"$sspapi" report -f json -m WATTS watts.sspapi plain.sspapi >watts.json
is "a PU that has counted no energy has no watts" \
	"$(json watts.json 'map { my $t = $d->{topology}{components}[$_->{component}]{type}; $t eq "PU" ? defined $_->{derived_metrics}{WATTS} ? "some" : "null" : () } @{$d->{components}}' | sort -u)" null

# The pauses of a set are not part of that time: 2 W for 1 s, a pause of 1.5 s, and 2 W for 1 s.
# watts_of FILE...: prints the machine's watts
watts_of() {
	"$sspapi" report -f json --per-machine -m WATTS "$@" >watts.json
	json watts.json 'map { sprintf "%.6f", $_->{derived_metrics}{WATTS} } map { @{$_->{rows}} } @{$d->{levels}}'
}
E=${P}0 J=2000000000
SSPAPI_CALLSITES=0 sets pause clock=0 "set=$E" start show=$J clock=1000 stop clock=2500 start show=$J clock=3500 stop
sets open clock=0 "set=$E" start show=$J clock=1000 stop clock=2500 start show=$J clock=3500 read
sets again clock=0 "set=$E" start show=$J clock=1000 stop again clock=2500 start show=$J \
	clock=3500 stop
for name in pause open again; do
	is "watts without the pause: $name" "$(watts_of $name.sspapi)" 2.000000
done
"$sspapi" merge -o merged.sspapi pause.sspapi open.sspapi
"$sspapi" merge -o twice.sspapi merged.sspapi again.sspapi
is "merged, and merged again" "$(watts_of merged.sspapi) $(watts_of twice.sspapi)" "2.000000 2.000000"
is "CSV: the set's own" "$("$sspapi" report -f csv -m WATTS pause.sspapi | grep ',WATTS,' |
	cut -d, -f 16 | cut -c 1-5 | sort -u)" 2.000
sets paused clock=0 "set=$E" start show=100 clock=100 stop beside clock=1000 "set=$E" start \
	show=$J clock=2000 stop back clock=3500 start show=100 clock=3600 stop
is "the observer with the longest run time counts" "$(watts_of paused.sspapi)" 2.000000

# PAPI's presets of GPUs name no device; the counted events do.
printf '%s\n' 'component cuda' 'event cuda:::hfma:stat=sum:device=0 component=cuda' \
	'event cuda:::ffma:stat=sum:device=1 component=cuda' \
	'event cuda:::ffma:stat=avg:device=1 component=cuda' >script
SSPAPI_TOPOLOGY=$root/tests/topo/gpus.xml sets gpu \
	set=cuda:::hfma:stat=sum:device=0,cuda:::ffma:stat=sum:device=1,cuda:::ffma:stat=avg:device=1 start show=40,2,9 stop
printf '%s\n' cuda,GH100 'PRESET,FMA,DERIVED_ADD,cuda:::hfma:stat=sum,cuda:::ffma:stat=sum' \
	'PRESET,FFMA,NOT_DERIVED,cuda:::ffma:stat=sum' \
	'PRESET,OF1,NOT_DERIVED,cuda:::ffma:device=1:stat=sum' >gpu.csv
"$sspapi" report -f json -m ./gpu.csv gpu.sspapi >gpu.json 2>/dev/null
is "a GPU's metrics" "$(json gpu.json 'map { my $c = $d->{topology}{components}[$_->{component}];
	"$c->{type}$c->{os_index}: " . join " ",
	map { $_ // "null" } @{$_->{derived_metrics}}{qw(FMA FFMA OF1)} }
	grep { $d->{topology}{components}[$_->{component}]{type} =~ /GPU|Machine/ } @{$d->{components}}' | paste -sd,)" \
	"Machine0: 42 2 2,GPU0: null null null,GPU1: null 2 2"

# ---- sets of several components --------------------------------------------------------------------
P=rapl:::PACKAGE_ENERGY:PACKAGE
cat >script <<END
component rapl
component appio
event PAPI_TOT_INS
event PAPI_TOT_CYC
event appio:::READ_BYTES component=appio
event ${P}0 component=rapl units=nJ data_type=uint64
event ${P}1 component=rapl units=nJ data_type=uint64
END
printf '%s\n' 'EVENT,BYTES_PER_INS,DERIVED_POSTFIX,N0|N1|/|,appio:::READ_BYTES,PAPI_TOT_INS' \
	"EVENT,NJ_PER_INS,DERIVED_POSTFIX,N0|N1|/|,${P}*,PAPI_TOT_INS" >span.csv
# span NAME METRIC STORE: prints the rows of the machine and of the threads
span() {
	"$sspapi" report -f json --per-machine --per-thread -m ./span.csv \
		"$3.sspapi" >span.json 2>span.err
	is "$1" "$(json span.json \
		"map { \$_->{derived_metrics}{$2} // '-' } map { @{\$_->{rows}} } @{\$d->{levels}}" | paste -sd' ') $(grep -o "PAPI_TOT_INS).*" span.err)" "$4"
}
io=appio:::READ_BYTES
sets io clock=0 set=PAPI_TOT_INS start clock=10 set=$io start show=4000 clock=1000 stop former \
	show=1000 stop
span "99 % of the time together" BYTES_PER_INS io "4 4 "
is "CSV: a line of the thread's" "$("$sspapi" report -f csv -m ./span.csv io.sspapi |
	grep BYTES_PER | cut -d, -f 5-13,14-)" "ops,,,,,,,,,BYTES_PER_INS,2,4,"
is "text" "$("$sspapi" report -m ./span.csv io.sspapi | awk '/^~? *CPU 0/ { print $NF }')" 4.000
"$sspapi" report -o page.html -m ./span.csv io.sspapi
check "the page" grep -q '"derived_metrics": {"BYTES_PER_INS": 4' page.html
sets half clock=0 set=PAPI_TOT_INS start set=$io start show=2000 clock=1000 stop former \
	show=1000 stop
is "diff" "$("$sspapi" diff -f csv -m ./span.csv half.sspapi io.sspapi | grep '^total,BYTES_PER' |
	cut -d, -f 3-4)" 2,4
"$sspapi" merge -o merged.sspapi half.sspapi io.sspapi
"$sspapi" report -f json --per-machine -m ./span.csv merged.sspapi >span.json
is "merged" "$(json span.json '$d->{levels}[0]{rows}[0]{derived_metrics}{BYTES_PER_INS}')" 3
sets late clock=0 set=PAPI_TOT_INS start clock=11 set=$io start show=4000 clock=1000 stop former \
	show=1000 stop
span "98 %" BYTES_PER_INS late \
	"- - PAPI_TOT_INS), and the sets with them ran together only 98 % of the time: start and stop them together"
sets read clock=0 set=PAPI_TOT_INS start set=$io start show=4000 clock=505 stop clock=1000 read \
	former show=1000 stop
span "a set that stands is not counted" BYTES_PER_INS read \
	"- - PAPI_TOT_INS), and the sets with them ran together only 50 % of the time: start and stop them together"
sets twice clock=0 set=PAPI_TOT_INS start set=$io start show=4000 clock=1000 stop start stop \
	former show=1000 stop
span "a pause" BYTES_PER_INS twice \
	"- - PAPI_TOT_INS), and the sets with them ran together only 0 % of the time: start and stop them together, once, and use PAPI_read in between"
sets open clock=0 set=PAPI_TOT_INS start set=$io start show=4000 clock=1000 stop former \
	show=1000 read
span "no stop" BYTES_PER_INS open \
	"- - PAPI_TOT_INS), and the sets with them ran together only 0 % of the time: start and stop them together, once, and use PAPI_read in between"
sets two clock=0 set=PAPI_TOT_INS start beside set=$io start show=4000 clock=1000 stop back \
	show=1000 stop
span "of two threads" BYTES_PER_INS two \
	"- - - PAPI_TOT_INS): start a set for each PAPI component in the same thread"
# A machine's metric uses all counts of its threads in that time.
SSPAPI_TOPOLOGY=$root/tests/topo/v1-numa.xml sets rapl clock=0 set=PAPI_TOT_INS start \
	set=${P}0,${P}1 start show=4000,2000 beside set=PAPI_TOT_INS start clock=1000 show=500 \
	stop back stop former show=1000 stop
span "the machine's energy for each instruction of all threads" NJ_PER_INS rapl "4 6 - "
is "in text below the tables" "$("$sspapi" report -m ./span.csv rapl.sspapi |
	grep -c '^NJ_PER_INS  *machine  *4\.000$')" 1
is "CSV: a line of the machine's" "$("$sspapi" report -f csv -m ./span.csv rapl.sspapi |
	grep NJ_PER | cut -d, -f 4-13,16)" ",,,,,,,,,,4"
SSPAPI_TOPOLOGY=$root/tests/topo/v1-numa.xml sets longer clock=0 set=PAPI_TOT_INS start clock=495 \
	set=${P}0,${P}1 start show=4000,2000 clock=1000 stop former show=1000 stop
span "and nothing where a thread counted before" NJ_PER_INS longer \
	"- - PAPI_TOT_INS), and the sets with them ran together only 50 % of the time: start and stop them together"

# ---- tables of CPUs ---------------------------------------------------------------------
printf '%s\n' 'CPU,icl' 'EVENT,FLOPS,DERIVED_INFIX,N0*8,PAPI_TOT_INS' 'CPU,zen4' \
	'EVENT,FLOPS,DERIVED_INFIX,N0*4,PAPI_TOT_INS' \
	'EVENT,ZEN,NOT_DERIVED,PAPI_TOT_INS' >cpus.csv
# counted PMU TOPOLOGY: 12 PAPI_TOT_INS on a machine with this PMU
counted() {
	printf '%s\n' "component perf_event pmus=perf,$1" 'event PAPI_TOT_INS' \
		'at PAPI_read 1 count PAPI_TOT_INS 12' >script
	run counted env FAKE_PAPI_SCRIPT="$tmp/script" LD_PRELOAD="$SHIM" \
		SSPAPI_OUTPUT="$tmp/$1.sspapi" SSPAPI_TOPOLOGY="$2" "$scenes/one" PAPI_TOT_INS
}
counted icl ""
counted zen4 "$root/tests/topo/v1-numa.xml"
counted snb ""
flops() { "$sspapi" report -f json --per-machine -m cpus.csv "$@" 2>flops.err >flops.json
json flops.json 'map { map { $_->{total}{PAPI_TOT_INS} . " " . ($_->{derived_metrics}{FLOPS} // "none") } @{$_->{rows}} } @{$d->{levels}}'; }
is "a table applies if its name is a PMU of the machine" \
	"$(flops icl.sspapi), $(flops zen4.sspapi)" "12 96, 12 48"
is "the machine's PMUs are in the dump" \
	"$("$sspapi" report -f json icl.sspapi >flops.json; json flops.json '$d->{papi}{pmus}')" \
	"perf,icl"
flops snb.sspapi >none
is "none is for this machine: reported" "$(cat none; cat flops.err)" "12 none
sspapi report: cpus.csv: none of its tables is for this machine's CPUs (perf,snb)"
run d "$sspapi" report -m cpus.csv icl.sspapi
check "no metric of another CPU" not grep -q ZEN d.out
is "merged runs of different machines: each on its own" "$(flops icl.sspapi zen4.sspapi | sort)" \
	"12 48
12 96"
"$sspapi" report -f json -m cpus.csv icl.sspapi zen4.sspapi >both.json
is "and no metric of both together" \
	"$(json both.json '$d->{components}[0]{derived_metrics}{FLOPS} // "null"')" null
"$sspapi" report -f csv -m cpus.csv icl.sspapi zen4.sspapi | grep -c ',FLOPS,[0-9]*,\(48\|96\),$' >n
is "CSV: each line by its machine" "$(cat n)" 2

printf '%s\n' 'EVENT,A,DERIVED_ADD,EV_A' >alone.csv
run d "$sspapi" report -m alone.csv v.sspapi
is "a sum of one event is reported, and used as it" \
	"$(status_of d) $(cat d.err)$(grep -oE 'EV_B +A$' d.out | sort -u | wc -l)" \
	"0 sspapi report: alone.csv:1:7: a sum or difference of one event; it is treated as that event1"

# ---- errors -----------------------------------------------------------------------------
# wrong NAME STATUS LINE: reads the file `bad`
wrong() {
	run wrong "$sspapi" report -m ./bad v.sspapi
	is "$1" "$(status_of wrong): $(cat wrong.err)" "$2: $3"
}
printf 'EVENT,G,NOT_DERIVED,EV_A\r\nEVENT,X,DERIVED_POSTFIX,N0|N1|^|,EV_A,EV_B\r\n' >bad
wrong "a wrong formula: line, column, reason; the rest is used" 1 \
	"sspapi report: ./bad:2:31: '^' is not one of N0 N1 ..., numbers, # and + - * /"
check "the rest is used" grep -qE "EV_B +G( |$)" wrong.out
printf 'PRESET,\033[31m,DERIVED_\033,X\n' >bad
wrong "no control character of it reaches the terminal" 1 \
	"sspapi report: ./bad:1:14: 'DERIVED_\\x1b' is not one of NOT_DERIVED, DERIVED_ADD, _SUB, _PS, _ADD_PS, _CMPD, _POSTFIX, _INFIX"
printf 'EVENT,\033[31m,NOT_DERIVED,EV_A\n' >bad
run wrong "$sspapi" report -m ./bad v.sspapi
check "nor of a name" not grep -q "$(printf '\033')" wrong.out
: >bad
wrong "an empty file" 0 ""
rm bad
wrong "no file" 1 "sspapi report: ./bad: No such file or directory"
mkdir bad
wrong "a folder" 1 "sspapi report: ./bad: Is a directory"
rmdir bad
head -c 1100000 /dev/zero | tr '\0' x >bad
wrong "larger than a file of metrics" 1 \
	"sspapi report: ./bad: not a file of metrics: larger than 1 MiB"
head -c 60000 /dev/urandom >bad
run wrong "$sspapi" report -m ./bad v.sspapi
check "rubbish: at most a page of lines" test "$(wc -l <wrong.err)" -le 21
is "and what was counted" "$(grep -cE '^~? ?all CPUs' wrong.out)" 1
run wrong "$sspapi" report -m mine.csv -m mine.csv v.sspapi
is "two files: wrong usage" "$(status_of wrong)" 2

# ---- the mean of several rows ---------------------------------------------------------------------
# A ratio is that of all counts; what adds up is divided by the number of rows.
printf '%s\n' 'EVENT,BA,DERIVED_POSTFIX,N0|N1|/|,EV_B,EV_A' 'EVENT,TWICE,DERIVED_ADD,EV_A,EV_A' >mean.csv
mkdir ranks
for rank in 0 1 2; do
	case $rank in 0) show=30,9 ;; 1) show=20,9 ;; *) show=70,6 ;; esac
	run rank env OMPI_COMM_WORLD_RANK=$rank FAKE_PAPI_SCRIPT="$tmp/script" LD_PRELOAD="$SHIM" \
		SSPAPI_OUTPUT="$tmp/ranks/$rank.sspapi" "$scenes/ops" set=EV_A,EV_B start show=$show stop
done
run mean "$sspapi" report -m mean.csv ranks
is "min, mean and max of ranks" "$(sed 's/^[~ ] //' mean.out | grep -E '^(min|mean|max) ' | tr -s ' ')" \
	"min (rank 1) 20 6 0.085714 40
mean 40 8 0.200 80
max (rank 2; max/mean 1.75) 70 9 0.450 140"
run more "$sspapi" report -m mean.csv --events EV_A,EV_B --sort EV_A ranks
is "the further command has the same options" "$(grep '^more:' more.out)" \
	"more: sspapi report --per-rank -m mean.csv --events EV_A,EV_B --sort EV_A ranks"
is "one line names the column of the ranks" "$(grep '^(min' mean.out)" \
	"(min, mean, max: per column; rank, max/mean: EV_A)"
done_testing
