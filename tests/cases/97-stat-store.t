# Tests the store of sspapi stat: its format, PAPI's event names, and an ordinary user's
# permissions.
. tests/lib/lib.sh
need_stat
cd "$tmp" || exit 1

# ---- the table -----------------------------------------------------------------------------
run table "$sspapi" stat "$apps/counted" pages 100
is "the table is on standard error, the program's output on its own" \
	"$(grep -c '^CPU .*TASK-CLOCK' table.err) $(grep -c '^tid' table.out) $(status_of table)" \
	"1 1 7"
# (On a busy machine the line is longer, and the command line in it shorter.)
is "its head" "$(sed -n '1s/^counted p.*: .*/counted pages/p; 2{s/ (.*//;p;}' table.err)" "counted pages
all counts proven per CPU"
is "no word of what there is not" "$(grep -c -E 'event set|reading|rank|domain' table.err)" 0
run csv "$sspapi" stat -f csv -e perf::PAGE-FAULTS "$apps/counted" pages 100
is "another format" "$(sed -n '2p' csv.err | cut -d, -f5,7,14)" "counted,-1,perf::PAGE-FAULTS"
run level "$sspapi" stat --per-machine -m CPUS_BUSY "$apps/counted" pages 100
is "a level, and a metric whose events it names itself" \
	"$(grep -c '^machine .*CPUS_BUSY' level.err)" 1
run several "$sspapi" stat -o a/s.txt -f text,json,store "$apps/counted" pages 1
check "several formats, missing folders" test -s a/s.txt -a -s a/s.json -a -s a/s.sspapi
is "and the table, whose last line shows more of the store" \
	"$(grep -c '^CPU .*TASK-CLOCK' several.err) $(tail -1 several.err)" \
	"1 more: sspapi report --per-thread a/s.sspapi"
run quiet "$sspapi" stat -q -o a/q.sspapi "$apps/counted" pages 1
is "-q: no table" "$(test -s a/q.sspapi; echo $?) $(wc -c <quiet.err)" "0 0"
run rows "$sspapi" stat --per-thread -o rows.json "$apps/counted" pages 1
is "rows are requested by --per-thread, also into a file" \
	"$(status_of rows) $(test -s rows.json; echo $?)" "7 0"
is "settings.stat" "$(json a/s.json \
	'$d->{settings}{attribution}, sort(grep { /CLOCK|PAGE/ } @{$d->{settings}{stat}{events}})' \
	| paste -sd' ')" \
	"exact perf::PAGE-FAULTS perf::TASK-CLOCK"

# ---- the store -------------------------------------------------------------------------------
faults() {
	"$sspapi" report -f csv "$@" |
		awk -F, '$14 == "perf::PAGE-FAULTS" { n += $16 } END { print n }'
}
for i in 1 2; do
	run s$i "$sspapi" stat -o s$i.sspapi "$apps/counted" forks 5 "$((i * 50))"
done
check "merge" "$sspapi" merge -o both.sspapi s1.sspapi s2.sspapi
is "adds up" "$(faults both.sspapi)" "$(($(faults s1.sspapi) + $(faults s2.sspapi)))"
check "merged again it is the same" \
	sh -c '"$0" merge -o again.sspapi both.sspapi && cmp both.sspapi again.sspapi' "$sspapi"
run twice "$sspapi" merge -o one.sspapi s1.sspapi
is "its store is complete" "$(status_of twice) $(wc -c <twice.err) $(faults one.sspapi)" \
	"0 0 $(faults s1.sspapi)"
"$sspapi" report -f json both.sspapi >both.json
is "it stays a store of stat" "$(json both.json 'ref $d->{settings}{stat}')" HASH
run diff "$sspapi" diff --events perf::PAGE-FAULTS s1.sspapi s2.sspapi
is "diff" "$(status_of diff) $(grep -c '^place  *event ' diff.out)" "1 1"
run same "$sspapi" diff s1.sspapi s1.sspapi
is "diff of the same" "$(status_of same)" 0
check "hwloc" sh -c '"$0" report -f hwloc s1.sspapi | grep -q "perf::PAGE-FAULTS"' "$sspapi"
for rank in 0 1; do
	run rank env OMPI_COMM_WORLD_RANK=$rank "$sspapi" stat -o run.%r.sspapi "$apps/counted" \
		pages "$((rank * 100))"
done
# A job: ranks write stores, and rank 0 shows all of them.
mkdir job
cd job || exit 1
# job NAME RANK SIZE PAGES: a rank, whose program waits for the file go.RANK
job() {
	run "$1" env OMPI_COMM_WORLD_RANK="$2" OMPI_COMM_WORLD_SIZE="$3" "$sspapi" stat \
		-e perf::PAGE-FAULTS sh -c ': >begun.$$
		until [ -e "go.$OMPI_COMM_WORLD_RANK" ]; do sleep 0.05; done; exec "$0" pages "$1"' \
		"$apps/counted" "$4"
}
# begun N: whether the programs of N ranks run
begun() {
	[ "$(ls | grep -c '^begun')" = "$1" ]
}
job job0 0 2 0 &
await begun 1
: >go.1
job job1 1 2 100
: >go.0
wait
rm begun.* go.*
is "a job's rank shows nothing" "$(status_of job1) $(grep -c all "$tmp/job1.err")" "7 0"
is "rank 0 shows all of them" \
	"$(status_of job0) $(sed -n 's/.*: \(2 ranks\), .*/\1/p' "$tmp/job0.err") $(grep -c '^rank [01] ' "$tmp/job0.err")" \
	"7 2 ranks 2"
is "their stores are in one folder" "$(ls sspapi.sh.0.0 | paste -sd' ')" "0.sspapi 1.sspapi"
# A later run in the same folder: rank 1 has two processes, and rank 2 does not end.
: >go.2
job job2 2 3 200
rm begun.*
job later0 0 3 0 &
job later1 1 3 100 &
one=$!
job later2 1 3 100 &
await begun 3
: >go.1
wait $one $!
: >go.0
wait
is "ranks of an earlier run are neither shown nor counted" \
	"$(ls sspapi.sh.0.0 | wc -l) $(grep -c '2 of 3 ranks have ended' "$tmp/later0.err") $(grep -o '^rank [0-9]' "$tmp/later0.err" | sort | paste -sd,)" \
	"4 1 rank 0,rank 1"
run job2 env PMI_RANK=0 PMI_SIZE=2 SLURM_STEP_ID=7 "$sspapi" stat true
is "without the others a line has the command" \
	"$(status_of job2) $(grep -c '1 of 2 ranks have ended; for all later: sspapi report .*sspapi.true.0.7$' "$tmp/job2.err")" "0 1"
# A later run with fewer ranks leaves the store of rank 1.
run fewer env PMI_RANK=0 PMI_SIZE=1 "$sspapi" stat --job --per-rank sh -c 'exec "$0" pages 100' \
	"$apps/counted"
is "ranks of an earlier run are not shown" \
	"$(status_of fewer) $(grep -c '^rank 0 ' "$tmp/fewer.err") $(grep -c 'rank 1\|earlier' \
	"$tmp/fewer.err")" "7 1 0"
run alone env PMI_RANK=0 PMI_SIZE=1 "$sspapi" stat true
is "a single rank is no job" "$(status_of alone) $(ls | grep -c "true.0.0")" "0 0"
run forced env PMI_RANK=1 "$sspapi" stat --job true
is "--job: also without the number of ranks" "$(status_of forced) $(wc -c <"$tmp/forced.err") $(ls sspapi.true.0.0)" "0 0 1.sspapi"
run wrong "$sspapi" stat --job true
is "--job outside of a job" "$(status_of wrong) $(cat "$tmp/wrong.err")" \
	"125 sspapi stat: --job: start each rank with it: mpirun sspapi stat --job PROGRAM"
run wrong env PMI_RANK=1 "$sspapi" stat --job -o x.json true
is "--job with -o" "$(status_of wrong) $(grep -c 'not supported with -o' "$tmp/wrong.err")" "125 1"
cd ..
"$sspapi" merge -o ranks.sspapi run.0.sspapi run.1.sspapi
"$sspapi" report -f json ranks.sspapi >ranks.json
is "ranks" "$(json ranks.json 'map { $_->{rank} } @{$d->{processes}}' | paste -sd' ')" "0 1"
run ranks "$sspapi" report ranks.sspapi
is "in the text" "$(sed -n 's/.*: \(2 ranks\) on .*/\1/p' ranks.out) $(grep -c '^rank [01] ' \
	ranks.out)" "2 ranks 2"
run of env OMPI_COMM_WORLD_RANK=1 "$sspapi" stat -o several.sspapi \
	sh -c '"$0" pages 1; "$0" pages 2' "$apps/counted"
run of "$sspapi" report run.0.sspapi several.sspapi
is "a rank of several processes is one row" "$(grep -c '^rank [01] ' of.out)" 2
run full "$sspapi" stat -o /dev/full "$apps/counted" pages 1
is "a full disk" "$(status_of full) $(grep -c '^sspapi stat: .*: No space left on device' \
	full.err)" "125 1"

# ---- repeats -----------------------------------------------------------------------------------
run repeats "$sspapi" stat -r 3 -e perf::PAGE-FAULTS -o r.json -f json,store "$apps/counted" pages \
	100
is "-r: each run is a process of its own" \
	"$(status_of repeats) $(json r.json 'map { $_->{run} } @{$d->{processes}}' |
	paste -sd' ')" "7 1 2 3"
run around sh -c 'ulimit -Sn 100; trap "" CHLD; exec "$0" stat -r 2 sh -c "ulimit -Sn; grep -E ^Sig[BI] /proc/self/status"' "$sspapi"
is "the second run is as the first" "$(sed -n 1,3p around.out | md5sum)" \
	"$(sed -n 4,6p around.out | md5sum)"
is "and as without the shim" "$(sed -n 1p around.out)" 100
run ended "$sspapi" stat -r 3 -o ended.json sh -c 'kill -INT "$PPID"; exec sleep 60'
is "a signal that ends the program ends the runs" \
	"$(status_of ended) $(json ended.json 'scalar @{$d->{processes}}' 2>/dev/null)" "130 "
run text "$sspapi" stat -r 3 "$apps/counted" pages 100
is "its text" "$(grep -c -E '^(each run .*mean +std dev|PAGE-FAULTS +3 )' text.err)" 2
for rank in 0 1; do
	run rank env OMPI_COMM_WORLD_RANK=$rank "$sspapi" stat -r 2 -e perf::PAGE-FAULTS \
		-o again.%r.sspapi "$apps/counted" pages 100
done
"$sspapi" report --per-rank again.0.sspapi again.1.sspapi >again.txt
is "a rank's runs are one row" "$(sed -n 's/^\(rank [01][^ ]*\) .*/\1/p' again.txt | sort | paste -sd,)" \
	"rank 0,rank 1"
"$sspapi" report --per-process again.0.sspapi again.1.sspapi >again.txt
is "and a row each with --per-process" \
	"$(grep -o '^rank [01]: run [12]: pid' again.txt | sort | uniq -c | wc -l)" 4
run bad "$sspapi" stat -r 0 touch it-ran
is "-r 0" "$(status_of bad)" 125
# turns NAME N: three runs of each of two events; the command is interrupted in the Nth of six
turns() {
	rm -f ran
	run "$1" env LD_PRELOAD="${LD_PRELOAD-}${LD_PRELOAD:+:}$preloads/narrow.so" "$sspapi" stat -r 3 \
		-e cycles,instructions -o "$1.json" sh -c 'echo ran >>ran
			[ "$(grep -c ran ran)" -lt "$1" ] || { kill -INT $PPID; while :; do :; done; }
			exec "$0" pages 100' "$apps/counted" "$2"
	json "$1.json" '(map { $_->{name} } @{$d->{events}}), scalar @{$d->{processes} // [1]},
		grep { /^interrupted|interrupted before its/ } @{$d->{notes}}' | paste -sd' '
}
left_out='interrupted before all events had their turn: the last run is not included'
is "events take turns" "$(turns all 9)" "perf::CYCLES perf::INSTRUCTIONS 12"
is "interrupted: whole turns, and a note" "$(turns third 3)" \
	"perf::CYCLES perf::INSTRUCTIONS 4 $left_out"
is "interrupted in the last turn of a run: it is one" "$(turns fourth 4)" \
	"perf::CYCLES perf::INSTRUCTIONS 8"
is "interrupted in the first turn: an event has none" "$(turns first 1) $(status_of first)" \
	"perf::CYCLES 2 perf::INSTRUCTIONS: not counted: interrupted before its turn 130"
for size in 100 200; do
	run r$size "$sspapi" stat -r 4 -e perf::PAGE-FAULTS -o r$size.sspapi "$apps/counted" pages \
		$size
done
run diff "$sspapi" diff --per-machine -f csv r100.sspapi r200.sspapi
is "diff: differences larger than those between runs" \
	"$(status_of diff) $(sed -n 2,3p diff.out | cut -d, -f1-2 | paste -sd" ")" \
	"1 total,perf::PAGE-FAULTS Machine L#0,perf::PAGE-FAULTS"
check "with the spread" grep -q ',a_stddev,b_stddev$' diff.out
run clock "$sspapi" stat -r 3 -e perf::TASK-CLOCK -o clock1.sspapi "$apps/counted" pages 100
run clock "$sspapi" stat -r 3 -e perf::TASK-CLOCK -o clock2.sspapi "$apps/counted" pages 101
"$sspapi" diff --per-thread clock1.sspapi clock2.sspapi | grep -v 'B - A' >diff.out
# (It may differ once in a thousand times; then in all of its rows.)
check "runs are compared by place, not by process" not grep -q -E 'process [1-9]| - ' diff.out

# ---- counts of packages, devices and the machine ----------------------------
mkdir beside
ln -s "$fake/libpapi.so.7.0" beside/libpapi.so
cat >script <<'END'
event rapl:::PACKAGE_ENERGY:PACKAGE1 component=rapl units=nJ data_type=uint64
event rapl:::DRAM_ENERGY:PACKAGE1 component=rapl units=nJ data_type=uint64
event rapl:::THERMAL_SPEC:PACKAGE0 component=rapl units=W
event eth0:rx:bytes component=net
event nvml:::FLAGS component=nvml data_type=bit64
event READ_BYTES component=io
event cuda:::dram__bytes.sum:device=0 component=cuda
component nvml keeps_on_start=1 keeps_on_reset=1
event nvml:::A:device_0:total_energy_consumption component=nvml units=mJ
level nvml:::A:device_0:total_energy_consumption 5000
event eth0:tx:bytes component=net
each PAPI_read count eth0:tx:bytes 1000
at PAPI_stop 1 count cuda:::dram__bytes.sum:device=0 64
at PAPI_stop 1 count nvml:::A:device_0:total_energy_consumption 70
at PAPI_stop 1 count rapl:::PACKAGE_ENERGY:PACKAGE1 3000
at PAPI_stop 1 count rapl:::DRAM_ENERGY:PACKAGE1 30
at PAPI_stop 1 count eth0:rx:bytes 250
END
# scripted NAME EVENTS ARGUMENT...: uses the scripted libpapi, on two packages; the program runs on
# the first, which has as many CPUs as the machine
scripted() {
	run "$1" env LD_LIBRARY_PATH="$tmp/beside" FAKE_PAPI_SCRIPT="$tmp/script" \
		SSPAPI_TOPOLOGY="synthetic:pack:2 [numa] core:1 pu:$(getconf _NPROCESSORS_CONF)" \
		"$sspapi" stat -e "$2" -o "$tmp/$1.json" -f json,store "$3" "$4" "$apps/counted" \
		pages 100
}
cat >placed.pl <<'END'
	my %type = map { $_->{id} => $_->{type} . ($_->{logical_index} // '') } @{$d->{topology}{components}};
	my @out;
	for my $r (@{$d->{relations}}) {
		push @out, "$d->{events}[$r->{events}[$_]]{name} $type{$r->{places}[$_]} $r->{cpus}[0]{total}[$_]" for
			grep { ($r->{places}[$_] // -1) >= 0 } 0 .. $#{$r->{events}};
	}
	sort @out
END
total='$d->{components}[0]{total}'
scripted energy rapl:::DRAM_ENERGY:PACKAGE1,rapl:::PACKAGE_ENERGY:PACKAGE1,perf::PAGE-FAULTS,eth0:rx:bytes -r 1
is "PAPI's counts of the run are on the CPUs where they were counted" \
	"$(status_of energy) $(json energy.json "$(cat placed.pl)" | paste -sd,)" \
	"7 eth0:rx:bytes Machine0 250,rapl:::DRAM_ENERGY:PACKAGE1 NUMANode1 30,rapl:::PACKAGE_ENERGY:PACKAGE1 Package1 3000"
check "and the program's is there" test "$(json energy.json "$total"'{"perf::PAGE-FAULTS"}')" -ge \
	100
scripted devices cuda:::dram__bytes.sum:device=0,nvml:::A:device_0:total_energy_consumption -r 1
is "of devices, without what they had counted before" "$(status_of devices) $(json devices.json \
	'map { "$_->{name} $_->{total}" } @{$d->{events}}' | paste -sd,)" \
	"7 cuda:::dram__bytes.sum:device=0 64,nvml:::A:device_0:total_energy_consumption 70"
is "that the topology lacks: a line for each" \
	"$("$sspapi" report devices.sspapi | tr -s ' \n' ' ' | grep -o 'shows no such GPU' | wc -l)" 2
run rows env LD_LIBRARY_PATH="$tmp/beside" FAKE_PAPI_SCRIPT="$tmp/script" "$sspapi" stat -I 1 \
	-e page-faults,eth0:tx:bytes,rapl:::PACKAGE_ENERGY:PACKAGE1 -o rows.sspapi \
	sh -c 'until grep -q " machine *[1-9].*eth0:tx:bytes" rows.err; do "$0" pages 20; done; exit 0' \
	"$apps/counted"
# sums EVENT: prints the sums of the rows, of the store's readings, and its total
sums() {
	awk -v e="$1" '$3 == "machine" && $NF == e { n += $4 } END { printf "%d ", n }' rows.err
	"$sspapi" report --readings -f csv rows.sspapi |
		awk -F, -v e="$1" '$9 == e { n += $10 } END { printf "%d ", n }'
	"$sspapi" report -f json rows.sspapi >rows.json
	json rows.json "map { \$_->{total} } grep { \$_->{name} eq '$1' } @{\$d->{events}}"
}
for event in eth0:tx:bytes rapl:::PACKAGE_ENERGY:PACKAGE1; do
	sums $event >sums
	check "-I: the rows are the total of $event" \
		awk '{ exit !($1 > 0 && $1 == $2 && $2 == $3) }' sums
done
is "-I: PAPI was read while the program ran" "$(status_of rows)" 0
echo "EVENT,NJ_PER_FAULT,DERIVED_POSTFIX,N0|N1|/|,rapl:::PACKAGE_ENERGY:PACKAGE*,perf::PAGE-FAULTS" >nj.csv
"$sspapi" report -f json -m ./nj.csv energy.sspapi >nj.json
is "for each of the program's page faults" "$(json nj.json 'my $c = $d->{components}[0];
	$c->{derived_metrics}{NJ_PER_FAULT} * $c->{total}{"perf::PAGE-FAULTS"}')" 3000
scripted energies rapl:::PACKAGE_ENERGY:PACKAGE1 -r 3
is "in each run" "$(json energies.json "$total"'{"rapl:::PACKAGE_ENERGY:PACKAGE1"}')" 9000
run energies "$sspapi" report --per-package energies.sspapi
check "in the table of packages" grep -qE '^ *package 1 .* 9\.000 uJ ' energies.out
for event in FLAGS READ_BYTES rapl:::NONE; do
	scripted refused "$event" -r 1
	is "an event that is not such a count: $event" \
		"$(status_of refused) $(grep -c "^sspapi stat: $event: " refused.err)" "125 1"
done
# ---- gauges --------------------------------------------------------------------------------------
# A sensor that reads 21 and at the end 22.5, one without a value, a double that is a count.
cp script counts
cat >>script <<'END'
component lmsensors keeps_on_start=1 keeps_on_reset=1
event lmsensors:::temp component=lmsensors units=degC data_type=fp64
event lmsensors:::none component=lmsensors units=V data_type=fp64
event lmsensors:::energy component=lmsensors units=J data_type=fp64
event nvml:::A:device_0:power component=nvml units=mW
level lmsensors:::temp 0x4035000000000000
level lmsensors:::none 0x7ff8000000000000
level lmsensors:::energy 0x405a000000000000
level nvml:::A:device_0:power 750
at PAPI_stop 1 level lmsensors:::temp 0x4036800000000000
at PAPI_stop 1 level lmsensors:::energy 0x405a600000000000
at PAPI_stop 2 level nvml:::A:device_0:power 500
END
scripted gauges lmsensors:::temp,lmsensors:::none,lmsensors:::energy,nvml:::A:device_0:power,perf::PAGE-FAULTS -r 1
is "gauges: last, minimum and maximum; one without a value has none" "$(json gauges.json '
	my %name = map { $_->{id} => $_->{name} } @{$d->{events}};
	map { "$name{$_->{event}} $_->{last} $_->{min} $_->{max}" } map { @{$_->{gauges} // []} } @{$d->{relations}}' |
	paste -sd,)" "lmsensors:::temp 22.5 21 22.5,nvml:::A:device_0:power 500 500 750"
is "gauges: a count beside them that is a double" \
	"$(json gauges.json 'map { $_->{total} } grep { $_->{name} =~ /energy/ } @{$d->{events}}')" 1.5
run text "$sspapi" report gauges.sspapi
check "gauges: in the text" grep -qE '^ *temp +no known place +22\.500 °C +21 °C +22\.500 °C +[0-9.]+ °C$' text.out
echo 'at PAPI_stop 2 fail PAPI_stop -14' >>script
scripted partly lmsensors:::energy,nvml:::A:device_0:power,perf::PAGE-FAULTS -r 1
is "a gauge that PAPI does not stop: what was read, with a note; other components are counted" \
	"$(status_of partly) $(json partly.json '
	(map { "$_->{total}" } grep { $_->{name} =~ /energy/ } @{$d->{events}}),
	map { "$_->{last} $_->{readings}" } map { @{$_->{gauges} // []} } @{$d->{relations}}' |
		paste -sd,) $(grep -c 'power was not read to the end: PAPI does not stop' partly.json)" \
	"7 1.5,750 1 1"
scripted none lmsensors:::temp,lmsensors:::none,perf::PAGE-FAULTS -I 5
"$sspapi" report --readings none.sspapi >readings.csv
is "gauges, -I: no row without a value" \
	"$(grep -c 'lmsensors:::none' none.err) $(grep -c 'lmsensors:::temp' none.err)" \
	"0 $(grep -c 'lmsensors:::temp' readings.csv)"
check "gauges, -I: JSON is sound" json none.json '@{$d->{relations}}'
cp counts script
cat >>script <<'END'
event nvml:::A:device_0:power component=nvml units=mW
each PAPI_read count nvml:::A:device_0:power 5
END
run slow env LD_LIBRARY_PATH="$tmp/beside" FAKE_PAPI_SCRIPT="$tmp/script" "$sspapi" stat \
	-e page-faults,nvml:::A:device_0:power -o slow.json sleep 1
check "gauges are also read between start and end" test \
	"$(json slow.json 'map { $_->{readings} } map { @{$_->{gauges}} } @{$d->{relations}}')" -gt 2
run rows env LD_LIBRARY_PATH="$tmp/beside" FAKE_PAPI_SCRIPT="$tmp/script" "$sspapi" stat -I 1 \
	-e page-faults,nvml:::A:device_0:power -o rows.sspapi \
	sh -c 'until [ "$(grep -c "machine.*:power" rows.err)" -ge 5 ]; do "$0" pages 20; done' "$apps/counted"
"$sspapi" report --readings -f csv rows.sspapi | awk -F, '$9 ~ /:power$/ { print $10 }' >readings
"$sspapi" report -f json rows.sspapi >rows.json
is "gauges, -I: the rows are the readings, in order" \
	"$(awk '$3 == "machine" { print $4 }' rows.err | paste -sd,) $(sort -nc readings 2>&1)" \
	"$(paste -sd, readings) "
is "gauges, -I: the last row is the last value" \
	"$(json rows.json 'map { $_->{last} } map { @{$_->{gauges}} } @{$d->{relations}}')" \
	"$(tail -n 1 readings)"
cp counts script
cat >>script <<'END'
event nvml:::A:device_0:power component=nvml units=mW
level nvml:::A:device_0:power 750
at PAPI_read 4 fail PAPI_read -14
END
run ended env LD_LIBRARY_PATH="$tmp/beside" FAKE_PAPI_SCRIPT="$tmp/script" "$sspapi" stat -I 1 \
	-e page-faults,nvml:::A:device_0:power -o ended.sspapi \
	sh -c 'until [ "$(grep -c "PAGE-FAULTS" ended.err)" -ge 20 ]; do "$0" pages 20; done' "$apps/counted"
is "gauges, -I: no row after PAPI could not read one" \
	"$(awk '/:power$/ { n++; t = $1 } END { print n < 4, t < $1 }' ended.err) \
$("$sspapi" report --readings -f csv ended.sspapi | grep -c ':power,')" \
	"1 1 $(grep -c ' s  machine .*:power$' ended.err)"
cp counts script
printf '%s\n' 'at PAPI_read 2 fail PAPI_read -8' 'fail PAPI_stop -1' >>script
scripted reasons rapl:::PACKAGE_ENERGY:PACKAGE1,eth0:rx:bytes,perf::PAGE-FAULTS -r 1
is "each component has its own reason" \
	"$(json reasons.json 'grep { /not counted/ } @{$d->{notes}}' | sed 's/.*(//' | sort -u | wc -l)" 2
mv counts script
echo 'fail PAPI_start -14' >>script
scripted unstarted rapl:::PACKAGE_ENERGY:PACKAGE1,perf::PAGE-FAULTS -r 1
is "events that PAPI does not start are reported" \
	"$(status_of unstarted) $(json unstarted.json \
	'map { $_->{name} } @{$d->{events}}') $(grep -c \
	'PACKAGE1: not counted: PAPI does not start it' unstarted.json)" \
	"7 perf::PAGE-FAULTS 1"

# ---- names -------------------------------------------------------------------------------------
run many sh -c 'ulimit -n 12; exec "$0" stat touch it-ran' "$sspapi"
is "too few descriptors" "$(status_of many) $(grep -c 'descriptors are needed' many.err)" "125 1"
check "and nothing ran" not test -e it-ran
cd "$root" || exit 1
need_real_papi
cd "$tmp" || exit 1
# stat NAME EVENTS ARGUMENT...: uses the PAPI of this machine
stat() {
	run "$1" env LD_PRELOAD="${LD_PRELOAD-}${MORE:+${LD_PRELOAD:+:}$MORE}" "$sspapi" stat \
		-e "$2" -o "$tmp/$1.json" "$apps/counted" pages 100
}
total() {
	json "$tmp/$1.json" "\$d->{components}[0]{total}{'$2'}"
}
run unknown env LD_PRELOAD="${LD_PRELOAD-}${MORE:+${LD_PRELOAD:+:}$MORE}" "$sspapi" stat \
	-e perf::PAGE-FAULT true
check "with similar names" grep -q 'no such event; do you mean .*perf::PAGE-FAULTS' \
	unknown.err
stat native perf::PERF_COUNT_SW_PAGE_FAULTS,perf::FAULTS,perf::PAGE-FAULTS
is "a native event that only PAPI has, and another name" \
	"$(total native perf::PERF_COUNT_SW_PAGE_FAULTS) $(total native perf::FAULTS)" \
	"$(total native perf::PAGE-FAULTS) $(total native perf::PAGE-FAULTS)"
check "has counts" test "$(total native perf::FAULTS)" -ge 100
stat clock TASK-CLOCK,perf::CPU-CLOCK:u=1
is "the kernel's clocks are in ns, under any name" \
	"$(json clock.json 'map { $_->{units} } @{$d->{events}}' | paste -sd' ')" "ns ns"
stat user perf::PAGE-FAULTS:u,perf::PAGE-FAULTS
check "a name that says what is excluded" test "$(total user perf::PAGE-FAULTS:u)" -gt 0
# The presets of tests/software-presets.csv: a sum, a difference, a formula.
stat preset PAPI_L1_TCM,PAPI_L2_TCM,PAPI_L3_TCM,perf::MINOR-FAULTS,perf::MAJOR-FAULTS
small=$(total preset perf::MINOR-FAULTS) large=$(total preset perf::MAJOR-FAULTS)
is "presets that PAPI derives" \
	"$(total preset PAPI_L1_TCM) $(total preset PAPI_L2_TCM) $(total preset PAPI_L3_TCM)" \
	"$((small + large)) $small $((2 * (small + large)))"
check "have counts" test "$small" -ge 100

# Siblings follow each other on a CPU, and the kernel swaps their counters; a process that cannot
# move makes no moves.
first=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
run inherits env LD_PRELOAD="${LD_PRELOAD-}${LD_PRELOAD:+:}$MORE${MORE:+:}$REAL_PAPI_HW2SW" \
	"$sspapi" stat -o "$tmp/inherits.json" \
	taskset -c "$first" sh -c 'for i in 1 2 3; do "$0" 100 20; done' "$apps/inherits"
is "what PAPI_INHERIT returns is the program's" "$(awk '{ n[$1] += $2 }
	END { print NR, n["perf::CPU-MIGRATIONS"],
		(n["perf::PAGE-FAULTS"] <= n["rusage"] && n["perf::PAGE-FAULTS"] > 0.9 * n["rusage"] ? "right" : n["perf::PAGE-FAULTS"]) }' \
	inherits.out)" "12 0 right"

# A quotient: computed from the sums of each level, here and in a report of the store; its parts are
# events.
sed '$a PRESET,PAPI_L2_TCA,DERIVED_POSTFIX,N0|1000|*|N1|/|,perf::MINOR-FAULTS,perf::FAULTS' \
	"$root/tests/software-presets.csv" >quotient.csv
run quotient env PAPI_CSV_EVENT_FILE="$tmp/quotient.csv" \
	LD_PRELOAD="${LD_PRELOAD-}${MORE:+${LD_PRELOAD:+:}$MORE}" \
	"$sspapi" stat -e PAPI_L2_TCA -o q.json -f json,store "$apps/counted" pages 100
is "a quotient" "$(json q.json 'my $c = $d->{components}[0];
	map { int(1000 * $c->{total}{"perf::MINOR-FAULTS"} / $c->{total}{"perf::FAULTS"} - $_ + 0.5) }
	$c->{derived_metrics}{PAPI_L2_TCA}')" 0
is "of each CPU" "$("$sspapi" report --per-cpu q.sspapi | grep -c -E '^CPU +FAULTS.* TCA$')" 1
is "in CSV" "$("$sspapi" report -f csv --per-machine q.sspapi | grep -c ',PAPI_L2_TCA,')" 1

# ---- an ordinary user -----------------------------------------------------------------------------
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
if [ "$(id -u)" = 0 ] && [ "$paranoid" = 2 ] &&
	plain "events that an ordinary user may not see"; then
	mkdir -m 777 own
	cp "$sspapi" "$B/libsspapi-topo.so" "$B/libsspapi-threads.so" "$B/metrics.csv" \
		"$apps/counted" own
	cp own/counted own/owned
	chmod u+s own/owned
	as_user="setpriv --reuid=65534 --regid=65534 --clear-groups"
	# shellcheck disable=SC2086 # words
	run try own/sspapi stat -o own/try.json true
	ask=$(grep -q libsspapi-threads own/try.json && echo --per-thread)
	# shellcheck disable=SC2086
	run user $as_user own/sspapi stat $ask -o own/user.json own/counted threads 3 100
	# (With the rest, if a library in the program reports them.)
	is "threads of an ordinary user" \
		"$(json own/user.json 'scalar
		grep { $_->{thread} ne "the rest" } @{$d->{relations}}')" 4
	is "events that the user may not see are not shown as 0" \
		"$(json own/user.json 'sort grep { /^perf::/ }
		map { $_->{name} } @{$d->{events}}' | paste -sd' ') $(grep -c 'not permitted' \
		own/user.json)" \
		"perf::PAGE-FAULTS perf::TASK-CLOCK 1"
	# shellcheck disable=SC2086,SC2016
	run low $as_user sh -c \
		'ulimit -l 64; own/sspapi stat -o own/low.json -f json,text own/counted pages 100; own/sspapi stat --per-thread -o own/asked.json own/counted pages 100'
	grep -q "libsspapi-threads" own/user.json ||
		is "locked pages are left to the program, unless rows are requested" \
		"$(grep -c 'locked pages that the program may need' \
		own/low.json) $(grep -c 'locked pages that the program may need' own/asked.json)" \
		"1 0"
	# shellcheck disable=SC2086,SC2016
	# It lives until stat has polled twice.
	mkfifo -m 666 own/fifo
	cat >own/other.sh <<'END'
count_sources() { cut -d's' -f1 other.err | sort -u | wc -l; }
own/owned wait 0 100 own/fifo >own/ready &
until [ -s own/ready ]; do :; done
before=$(count_sources)
until [ "$(count_sources)" -ge $((before + 3)) ]; do :; done
echo >own/fifo
wait
own/counted pages 1
END
	# shellcheck disable=SC2086
	run other $as_user own/sspapi stat -I 10 -f text sh own/other.sh
	grep -q "libsspapi-threads" own/user.json || check "a program of another user is said not to be counted" \
		sh -c 'tr -s " \n" "  " <other.err | grep -q "some counts are missing.*not counted: .*owned.* runs as another user"'
fi
done_testing
