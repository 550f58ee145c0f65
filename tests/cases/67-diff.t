# Tests diff: 0 same, 1 differs, 2 error; relations are matched by logical position.
. tests/lib/lib.sh
cd "$tmp" || exit 1

one() {
	SSPAPI_OUTPUT=$tmp/$1.sspapi run_shim s env SSPAPI_TOPOLOGY="$root/tests/topo/$2.xml" \
		FAKE_PAPI_SCRIPT="$3" "$scenes/one" EV_A EV_B
}
printf 'event EV_A\nevent EV_B\neach PAPI_read count EV_A 100\neach PAPI_stop count EV_A 150\n' \
	>less
printf 'event EV_A\nevent EV_B\neach PAPI_read count EV_A 110\neach PAPI_stop count EV_A 150\n' \
	>more
one a hybrid less
one same hybrid less
one b hybrid more
one other v1-numa less

run d "$sspapi" diff a.sspapi same.sspapi
is "the same counts: 0, their totals, and a line that says so" \
	"$(status_of d) $(grep -c '^[~ ]*total *EV_[AB] .* same *$' d.out) $(tail -1 d.out)" \
	"0 2 nothing differs"
run d "$sspapi" diff a.sspapi b.sspapi
is "others: 1" "$(status_of d)" 1
"$sspapi" diff --per-cpu -f csv a.sspapi b.sspapi >d.csv
"$sspapi" report -f csv a.sspapi >a.csv
"$sspapi" report -f csv b.sspapi >b.csv
total() {
	awk -F, -v cpu="$2" '$10 == cpu && $14 == "EV_A" { n += $16 } END { print n }' "$1.csv"
}
for cpu in 0 1; do
	a=$(total a $cpu) b=$(total b $cpu)
	line=$(grep "^PU L#$cpu,EV_A," d.csv | cut -d, -f1-6)
	if [ "$a" = "$b" ]; then
		is "CPU $cpu: no line where nothing differs" "$line" ""
	else
		is "CPU $cpu: both, the difference, percent" "$line" \
			"PU L#$cpu,EV_A,$a,$b,$((b - a)),$(perl -e 'printf "%+.2f",
			($ARGV[1] - $ARGV[0]) / $ARGV[0] * 100' "$a" "$b")"
	fi
done
check "(CPU 0 differs)" grep -q '^PU L#0,EV_A' d.csv
is "the total first" "$(sed -n 2p d.csv | cut -d, -f1-5)" \
	"total,EV_A,$(($(total a 0) + $(total a 1))),$(($(total b 0) + $(total b 1))),$(($(total b \
	0) + $(total b 1) - $(total a 0) - $(total a 1)))"
is "first, a description of each side" \
	"$("$sspapi" diff a.sspapi b.sspapi | sed -n '1,3s/, [0-9.]* [mun]*s$//p' | paste -sd'|')" \
	"A: one EV_A EV_B|B: one EV_A EV_B"
is "options may stand behind the files" "$("$sspapi" diff --per-cpu a.sspapi -f csv b.sspapi)" "$(cat d.csv)"
is "an event that is the same has no line" "$(grep -c EV_B d.csv)" 0
run d "$sspapi" diff --events EV_B a.sspapi b.sspapi
is "--events: the others do not count" "$(status_of d)" 0
run d "$sspapi" diff --events EV_A,EV_NOPE,EV_B a.sspapi same.sspapi
is "--events: one that neither has: status 2, not the same" "$(status_of d) $(cat d.out d.err)" \
	"2 sspapi diff: EV_NOPE: neither has such an event; there are EV_A, EV_B"
run d "$sspapi" diff --per-core --per-core --events EV_A a.sspapi same.sspapi
is "a level twice is one" "$(status_of d) $(cat d.err)" "0 "
run d "$sspapi" diff --per-core a.sspapi --per-cpu b.sspapi
is "two levels: one only" "$(status_of d) $(cat d.err)" \
	"2 sspapi diff: per-cpu: use only one --per-LEVEL"
printf 'component coretemp\nevent EV_A\nevent coretemp:::T component=coretemp\n' >warm
SSPAPI_OUTPUT=$tmp/w.sspapi run_shim s env FAKE_PAPI_SCRIPT="$tmp/warm" "$scenes/ops" \
	set=coretemp:::T start show=40 read stop
run d "$sspapi" diff --events coretemp:::T w.sspapi w.sspapi
is "--events: a gauge is nothing to compare" "$(status_of d) $(cat d.out) $(grep -c gauges d.err)" \
	"2  1"
while read -r level place; do
	run d "$sspapi" diff --per-$level a.sspapi same.sspapi
	is "--per-$level: the same" "$(status_of d) $(tail -1 d.out)" "0 nothing differs"
	run d "$sspapi" diff --per-$level a.sspapi b.sspapi
	is "--per-$level: differs, in lines of text" \
		"$(status_of d) $(grep -c "^[~ ]*$place.* EV_A .* +[0-9,]* *+[0-9.]* *\$" \
		d.out) $(grep -c "^[~ ]*total *EV_A " d.out)" \
		"1 $(grep -v '^~:' d.out | sed 1,5d | wc -l) 1"
done <<END
core core
cache L3
package package
machine machine
thread thread
END
run d "$sspapi" diff --per-cpu a.sspapi other.sspapi
is "another machine, the same positions: the same" "$(status_of d) $(tail -1 d.out)" \
	"0 nothing differs"

# The same sum on other CPUs: an equal total, and lines for the places.
moved() {
	SSPAPI_ATTRIBUTION=reading SSPAPI_OUTPUT=$tmp/$1.sspapi run_shim s "$scenes/ops" set=EV_A \
		cpu="$2" start cpu="$3" read stop
}
printf 'event EV_A\neach PAPI_read count EV_A 100\neach PAPI_stop count EV_A 100\n' >script
FAKE_PAPI_SCRIPT=$tmp/script; export FAKE_PAPI_SCRIPT
moved to0 1 0
moved to1 0 1
run d "$sspapi" diff to0.sspapi to1.sspapi
is "moved: the same without --per-cpu" "$(status_of d) $(grep -c total d.out) $(tail -n 1 d.out)" \
	"0 1 nothing differs"
run d "$sspapi" diff --per-cpu to0.sspapi to1.sspapi
is "moved: the total is the same" "$(status_of d) $(sed -n 5p d.out | tr -s ' ')" "1 ~ total EV_A 200 200 0 same"
is "what is not proven is marked" "$(grep -c '^~ ' d.out) $(tail -n 1 d.out)" "3 ~: 0.1 % or more is not proven on its CPU"
# On a busy machine less.
proven() {
	"$sspapi" report -f json "$1" >proven.json
	json proven.json 'my $n = 0; $n += $_->{exact}[0]
		for map { @{$_->{cpus}} } @{$d->{relations}}; $n'
}
is "in CSV a line is a difference, and has what is proven" \
	"$("$sspapi" diff --per-cpu -f csv to0.sspapi to1.sspapi | grep -v ^place)" \
	"$(printf 'PU L#0,EV_A,200,,-200,-100.00,%s,\nPU L#1,EV_A,,200,200,,,%s' \
	"$(proven to0.sspapi)" "$(proven to1.sspapi)")"
unset FAKE_PAPI_SCRIPT

# Clocks of single runs differ from 10 % on, and 1 % of the total; factors above 1,000 %.
clock() {
	SSPAPI_OUTPUT=$tmp/$1.sspapi run_shim s "$scenes/ops" set=perf::TASK-CLOCK,EV_A start show="$2,$3" stop
}
printf 'component perf_event\nevent perf::TASK-CLOCK units=ns\nevent EV_A\n' >script
FAKE_PAPI_SCRIPT=$tmp/script; export FAKE_PAPI_SCRIPT
clock c0 1000000 7
clock c9 1090000 7
clock c20 1200000 7
clock many 1000000 700
unset FAKE_PAPI_SCRIPT
while IFS='|' read -r b status line last; do
	run d "$sspapi" diff c0.sspapi $b.sspapi
	is "clocks and factors: $b" "$(status_of d) $(grep "^[~ ]*total $line" d.out | wc -l) $(tail -n 1 d.out)" "$status 1 $last"
done <<'END'
c9|0| *TASK-CLOCK .* +9.00$|nothing differs, except clocks by less than 10 %
c0|0| *TASK-CLOCK .* same$|nothing differs
END
run d "$sspapi" diff c0.sspapi c20.sspapi
is "a clock that differs by more" "$(status_of d) $(grep -c '^[~ ]*total *TASK-CLOCK .* +20.00 *$' d.out)" "1 1"
run d "$sspapi" diff c0.sspapi many.sspapi
is "a factor" "$(status_of d) $(grep -c '^[~ ]*total *EV_A .* x 100.0 *$' d.out)" "1 1"
is "in CSV percent" "$("$sspapi" diff -f csv c0.sspapi many.sspapi | grep -c '^total,EV_A,7,700,693,+9900.00,')" 1
run d "$sspapi" diff --fail-above 5 c0.sspapi c9.sspapi
is "--fail-above decides of clocks, too" "$(status_of d) $(tail -n 2 d.out | grep -c "nothing differs")" "1 0"
run d "$sspapi" diff --fail-above 10 c0.sspapi c9.sspapi
is "below it they may grow" "$(status_of d)" 0

# Repeats, by files; a rank's processes, each by itself; folders.
for i in 1 2 3 4 5 6; do
	one r$i hybrid less
	one l$i hybrid more
done
run d "$sspapi" diff r1.sspapi r2.sspapi -- r3.sspapi a.sspapi same.sspapi
is "repeats of the same: status 0" "$(status_of d) $(tail -1 d.out)$(cat d.err)" \
	"0 nothing differs beyond chance"
run d "$sspapi" diff -f csv r1.sspapi r2.sspapi r3.sspapi -- l1.sspapi l2.sspapi l3.sspapi
is "repeats of different runs: status 1, means and spread" \
	"$(status_of d) $(sed -n 1,2p d.out | cut -d, -f1-2,9- | paste -sd' ')" \
	"1 place,event,a_stddev,b_stddev total,EV_A,0,0"
run d "$sspapi" diff r?.sspapi -- l1.sspapi
is "the mean duration of repeats" \
	"$(grep -c '^A: one EV_A EV_B, .* on average$' d.out) $(grep -c '^B: .* on average' \
	d.out)" "1 0"
is "one on a side" "$(status_of d) $(tail -n 1 d.out)" \
	"1 A: 6 runs, B: 1 run; differences that chance explains are left out"
mkdir job1 job2
for i in 1 2; do
	for process in 1 2; do
		counts=less
		[ $i$process = 22 ] && counts=more
		OMPI_COMM_WORLD_RANK=3 one job$i/$process hybrid $counts
	done
done
run d "$sspapi" diff --per-process -f csv job1 job2
is "two processes of one rank; folders are runs" \
	"$(status_of d) $(grep -v '^total' d.out | cut -d, -f1,2 | paste -sd' ')" \
	"1 place,event rank 3 process 1,EV_A"
run d "$sspapi" diff --per-thread -f csv job1 job2
is "and their threads" "$(status_of d) $(grep -c '^"rank 3 process 1 thread ""one"" #0",EV_A,' \
	d.out) $(grep -c '^"*rank 3 thread' d.out)" "1 1 0"

# Counts that may be negative: the change in percent of their size.
echo 'event EV_A' >script
for n in -100 -50 0 50 -5000; do
	FAKE_PAPI_SCRIPT=$tmp/script SSPAPI_OUTPUT=$tmp/n$n.sspapi run_shim s "$scenes/ops" \
		set=EV_A start show=$n stop
done
while read -r a b percent status words; do
	run d "$sspapi" diff --fail-above 60 n$a.sspapi n$b.sspapi
	is "$a to $b: percent, and --fail-above 60" \
		"$(sed -n 's/^[~ ]*total *EV_A .* \([+x]* *[-+.0-9a-z]*\) *$/\1/p' \
		d.out) $(status_of d) $(tail -n 1 d.out)" "$percent $status $words"
done <<END
-100 -50 +50.00 0 no event has grown by more than 60.00 %
-100 50 +150.00 1 EV_A has grown by 150.00 %, which is more than 60.00 %
-50 -100 -100.00 0 no event has grown by more than 60.00 %
0 50 new 1 EV_A was 0
END
run d "$sspapi" diff n-50.sspapi n-5000.sspapi
is "a factor of a negative count" "$(grep -c '^[~ ]*total *EV_A .* x 100.0 *$' d.out)" 1

# An event whose data type differs: each value in its own type.
while read -r name type n; do
	echo "event EV_A data_type=$type" >script
	FAKE_PAPI_SCRIPT=$tmp/script SSPAPI_OUTPUT=$tmp/t$name.sspapi run_shim s "$scenes/ops" \
		set=EV_A start show=$n stop
done <<END
i int64 100
f fp64 150.5
same fp64 100.0
u uint64 100
END
for pair in "i f 100,150.5,50.5,+50.50 100 150.500 +50.500" \
	"f i 150.5,100,-50.5,-33.55 150.500 100 -50.500"; do
	# shellcheck disable=SC2086 # words
	set -- $pair
	is "types that differ: t$1 and t$2" \
		"$("$sspapi" diff -f csv t$1.sspapi t$2.sspapi | sed -n 's/^total,EV_A,//p' |
		cut -d, -f1-4) $("$sspapi" diff t$1.sspapi t$2.sspapi |
		sed -n 's/^[~ ]*total *EV_A *//p' | tr -s ' ' | cut -d' ' -f1-3)" "$3 $4 $5 $6"
done
for b in same u; do
	run d "$sspapi" diff ti.sspapi t$b.sspapi
	is "equal values of other types: t$b" "$(status_of d) $(grep -c '^nothing differs$' d.out)" \
		"0 1"
done

# The same program in two folders has the same call sites in CSV: one row.
for i in 1 2; do
	mkdir -p copy$i
	cp "$scenes/one" copy$i/
	SSPAPI_OUTPUT=$tmp/copy$i.sspapi run_shim s env FAKE_PAPI_SCRIPT=less \
		LD_LIBRARY_PATH="$(ldd "$scenes/one" | sed -n 's,.*=> \(.*\)/libpapi.*,\1,p')" \
		copy$i/one EV_A EV_B
done
"$sspapi" merge -o both.sspapi copy1.sspapi copy2.sspapi
run d "$sspapi" diff -f csv both.sspapi copy1.sspapi
is "equal call sites are added up" "$(grep ',EV_A,' d.out | awk -F, '
	/^total/ { total = $(NF - 5) } !/^total/ { sum += $(NF - 5) } END { print sum, total }')" \
	"524 524"

# Event sets are matched by their events' whole names.
printf 'component perf_event\nevent perf::CYCLES component=perf_event\n' >script
echo 'event ix86arch::CYCLES component=perf_event' >>script
for name in perf ix86arch; do
	FAKE_PAPI_SCRIPT=$tmp/script SSPAPI_OUTPUT=$tmp/$name.sspapi run_shim s "$scenes/ops" \
		set=$name::CYCLES start show=100 stop
done
run d "$sspapi" diff --per-set -f csv perf.sspapi ix86arch.sspapi
is "sets of events that are displayed alike" "$(grep '^set' d.out | cut -d, -f1-5 | sort)" \
	"$(printf 'set 0: ix86arch::CYCLES,ix86arch::CYCLES,,100,100\nset 0: perf::CYCLES,perf::CYCLES,100,,-100')"
run d "$sspapi" diff --per-set perf.sspapi ix86arch.sspapi
is "and shown by their short names" "$(grep -c '^[~ ]*set 0: CYCLES ' d.out)" 2

# A gate for CI: fails for growth above a limit that is not chance.
while read -r above a b status words; do
	run d "$sspapi" diff --fail-above "$above" $a.sspapi $b.sspapi
	is "--fail-above $above, $a and $b" "$(status_of d) $(tail -1 d.out | cut -d' ' -f1-5)" \
		"$status $words"
done <<END
1% a b 1 EV_A has grown by 3.82
5 a b 0 no event has grown by
0 b a 0 no event has grown by
0 a same 0 no event has grown by
END
is "of the requested events" "$("$sspapi" diff --fail-above 1 -e EV_B a.sspapi \
	b.sspapi >/dev/null; echo $?)" 0
is "and of repeats" "$("$sspapi" diff --fail-above 1 r?.sspapi -- l?.sspapi >/dev/null; echo $?)" 1
printf 'event EV_B\neach PAPI_read count EV_B 100\n' >other
SSPAPI_OUTPUT=$tmp/lacks.sspapi run_shim s env FAKE_PAPI_SCRIPT="$tmp/other" "$scenes/one" EV_B
for pair in "a.sspapi lacks.sspapi B" "lacks.sspapi a.sspapi A"; do
	# shellcheck disable=SC2086 # words
	set -- $pair
	run d "$sspapi" diff --fail-above 1 -e EV_A "$1" "$2"
	is "events that one side has not counted fail every gate" "$(status_of d) $(cat d.err)" \
		"2 sspapi diff: EV_A: --fail-above: $3 has not counted it"
done
for pair in "c0.sspapi lacks.sspapi" "w.sspapi w.sspapi"; do
	# shellcheck disable=SC2086 # words
	run d "$sspapi" diff --fail-above 1 $pair
	is "no event with counts on both sides fails every gate: $pair" \
		"$(status_of d) $(wc -c <d.out) $(cat d.err)" \
		"2 0 sspapi diff: --fail-above: no event has counts in A and B; count the same events in both"
done
for wrong in x -1 1k ''; do
	run d "$sspapi" diff --fail-above "$wrong" a.sspapi b.sspapi
	is "--fail-above '$wrong'" "$(status_of d) $(wc -l <d.err)" "2 1"
done
run d "$sspapi" diff --per-cpu -f markdown a.sspapi b.sspapi
is "markdown: a table" "$(status_of d) $(grep -c '^| [~ ]*total | EV_A |' \
	d.out) $(grep -c '^| --- | --- | ---: |' d.out) $(awk -F'|' '/^\|/ { print NF }' d.out |
	sort -u)" "1 1 1 8"

# Names are text, whatever they are in Markdown.
# marked NAME COUNT
marked() {
	printf 'event *E_V*_<b>|`x`&~y~\neach PAPI_read count *E_V*_<b>|`x`&~y~ %s\n' "$2" >script
	SSPAPI_OUTPUT=$tmp/$1.sspapi run_shim s env FAKE_PAPI_SCRIPT="$tmp/script" \
		SSPAPI_TOPOLOGY=synthetic:pu:2 "$scenes/one" '*E_V*_<b>|`x`&~y~'
}
marked few 100
marked many 200
run d "$sspapi" diff -f markdown --fail-above 1 few.sspapi many.sspapi
name='\*E_V\*\_\<b>\|\`x\`\&\~y\~'
is "markdown: markup in a program's arguments, a cell, and a line below" \
	"$(grep -cF "B: one $name, " d.out) $(grep -cF "| total | $name | " d.out
	) $(grep -cF "$name has grown by " d.out)" "1 1 1"
run d "$sspapi" diff few.sspapi many.sspapi
is "text: as it is" "$(grep -c "^A: one \*E_V\*_<b>|\`x\`&~y~, " d.out)" 1

# Metrics: rows after those of the events, as report computes them.
printf 'event PAPI_TOT_INS\nevent PAPI_TOT_CYC\ncomponent rapl\nevent rapl:::PACKAGE_ENERGY:PACKAGE0 component=rapl units=nJ data_type=uint64\n' >script
# ratio NAME WORD...: runs ops on two CPUs of one package
ratio() {
	ratio_of=$1
	shift
	SSPAPI_OUTPUT=$tmp/$ratio_of.sspapi run_shim s env FAKE_PAPI_SCRIPT="$tmp/script" \
		SSPAPI_TOPOLOGY="$root/tests/topo/v1-numa.xml" "$scenes/ops" "$@"
}
both=PAPI_TOT_INS,PAPI_TOT_CYC watts='set=rapl:::PACKAGE_ENERGY:PACKAGE0 start show=7000000 stop'
more_watts='set=rapl:::PACKAGE_ENERGY:PACKAGE0 start show=990000000 stop'
# shellcheck disable=SC2086 # words
{
	ratio m1 cpu=0 set=$both start show=300,200 stop cpu=1 set=$both start show=100,400 stop \
		$watts
	# Power differs, however equal the two times are: rows that are equal are left out.
	ratio m2 cpu=0 set=$both start show=450,200 stop cpu=1 set=$both start show=100,400 \
		stop $more_watts
	for side in 4 5; do
		ratio m$side cpu=0 set=$both start show=$((150 * side - 300)),200 stop cpu=1 \
			set=$both start show=100,400 stop $watts
	done
	ratio m3 cpu=0 set=PAPI_TOT_INS start show=300 stop set=PAPI_TOT_CYC start show=200 stop
}
run d "$sspapi" diff --per-cpu -m IPC -f csv m1.sspapi m2.sspapi
is "-m: for the total and each place, without an exact value" \
	"$(status_of d) $(grep ',IPC,' d.out | paste -sd' ') $(cat d.err)" \
	"1 total,IPC,0.6666666666666666,0.9166666666666666,0.25,+37.50,, PU L#0,IPC,1.5,2.25,0.75,+50.00,, "
run d "$sspapi" diff --per-cpu -m ipc --events PAPI_TOT_CYC m1.sspapi m2.sspapi
is "in text; not the events that are the same" \
	"$(status_of d) $(sed -n '5,$s/^[~ ]*\([tC]\)/\1/p' d.out | tr -s ' ' | paste -sd'|')" \
	"1 total IPC 0.667 0.917 +0.250 +37.50|CPU 0 (core 0) IPC 1.500 2.250 +0.750 +50.00"
# As in report, at this level.
level_metrics() {
	"$sspapi" report -f csv -m IPC,WATTS --per-$1 $2.sspapi |
		awk -F, '$14 == "IPC" || $14 == "WATTS" { print $14, $16 }' | sort
}
for level in package machine thread; do
	run d "$sspapi" diff -m IPC,WATTS -f csv --per-$level m1.sspapi m2.sspapi
	is "-m per $level: as in report" \
		"$(grep -v '^total' d.out | awk -F, '$(NF - 6) == "IPC" || $(NF - 6) == "WATTS" {
		print $(NF - 6), $(NF - 5) > "got1"; print $(NF - 6), $(NF - 4) > "got2" }'; cat \
		got1 got2 | sort)" \
		"$( (level_metrics $level m1; level_metrics $level m2) | sort)"
done
run d "$sspapi" diff -m IPC m1.sspapi m1.sspapi
is "the same" "$(status_of d) $(tail -1 d.out)$(cat d.err)" "0 nothing differs"
run d "$sspapi" diff --per-cpu -m IPC -f csv m1.sspapi m3.sspapi
is "of sets that lack an event: none, not 0, and a line" \
	"$(status_of d) $(grep '^total,IPC' \
	d.out) $(grep -c '^sspapi diff: IPC: no event set has all its events' d.err)" \
	"1 total,IPC,0.6666666666666666,,-0.6666666666666666,-100.00,, 1"
run d "$sspapi" diff --per-cpu -m IPC -f csv m1.sspapi m4.sspapi -- m2.sspapi m5.sspapi
is "of repeats the mean and its spread" "$(status_of d) $(grep '^total,IPC' d.out)" \
	"1 total,IPC,0.6666666666666666,0.9166666666666666,0.25,+37.50,,,0,0"
run d "$sspapi" diff --per-cpu -m IPC m1.sspapi m2.sspapi -- m4.sspapi m5.sspapi
is "the same mean, the same spread: no difference" "$(status_of d) $(tail -1 d.out)" \
	"0 nothing differs beyond chance"
run d "$sspapi" diff -m IPC a.sspapi same.sspapi
is "what cannot be computed is reported once" "$(status_of d) $(cat d.err)" \
	"0 sspapi diff: IPC needs PAPI_TOT_INS, which was not counted"
run d "$sspapi" diff -m IPC m1.sspapi a.sspapi
is "also of the second alone" "$(status_of d) $(cat d.err)" \
	"1 sspapi diff: IPC needs PAPI_TOT_INS, which was not counted"
echo 'EVENT,BOTH,DERIVED_ADD,PAPI_TOT_INS,PAPI_TOT_CYC' >own.csv
run d "$sspapi" diff -m own.csv -f csv m1.sspapi m2.sspapi
is "of a file; a whole number" \
	"$(status_of d) $(grep '^total,BOTH' d.out) $("$sspapi" diff -m own.csv m1.sspapi \
	m2.sspapi | sed -n 's/^[~ ]*total *BOTH *//p' | tr -s ' ')" \
	"1 total,BOTH,1000,1150,150,+15.00,, 1,000 1,150 +150 +15.00"
echo 'EVENT,WRONG,DERIVED_POSTFIX,N0|N7|+|,PAPI_TOT_INS' >own.csv
run d "$sspapi" diff -m own.csv m1.sspapi m1.sspapi
is "wrong definitions: 2, not the same" \
	"$(status_of d) $(wc -c <d.out) $(grep -c '^sspapi diff: own.csv:1:' d.err)" "2 0 1"

# Cut after its last block, or inside it: missing counts would look like a difference.
head -c "$(($(wc -c <a.sspapi) / 2))" a.sspapi >half.sspapi
echo foreign >foreign
for wrong in "a.sspapi foreign" "foreign a.sspapi" "a.sspapi missing" "a.sspapi half.sspapi" \
	"half.sspapi a.sspapi" "a.sspapi" "a.sspapi b.sspapi same.sspapi" "--" \
	"a.sspapi -- missing" "--per-galaxy a.sspapi b.sspapi" "-f json a.sspapi b.sspapi" \
	"a.sspapi --events" "-m IPC -m ./missing.csv a.sspapi b.sspapi"; do
	# shellcheck disable=SC2086 # words
	run d "$sspapi" diff $wrong
	is "$wrong: 2, one line" \
		"$(status_of d) $(grep -c '^sspapi diff: ' d.err) $(wc -l <d.err)" "2 1 1"
done
# Differences of more than 2^63
echo 'event widget:::BIG component=widget data_type=uint64' >script
for big in 5 18446744073709551000; do
	FAKE_PAPI_SCRIPT=script SSPAPI_OUTPUT=$tmp/big$big.sspapi run_shim big "$scenes/ops" \
		set=widget:::BIG start show=$big stop
done
is "uint64: the difference and its sign" \
	"$("$sspapi" diff -f csv big5.sspapi big18446744073709551000.sspapi |
	sed -n 's/^total,[^,]*,//p' | cut -d, -f3 | head -n 1) $("$sspapi" diff -f csv \
	big18446744073709551000.sspapi big5.sspapi | sed -n 's/^total,[^,]*,//p' |
	cut -d, -f3-4 | head -n 1)" "18446744073709550995 -18446744073709550995,-100.00"
done_testing
