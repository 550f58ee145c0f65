# P and E cores: named, summed by kind in every form; sets and events of one kind only.
. tests/lib/lib.sh
cd "$tmp" || exit 1
[ "$(nproc)" -gt 1 ] || skip_all "one CPU"

# The scene runs on two CPUs of this machine, which are told to be CPU 0 (P) and CPU 8 (E) of another.
MORE=$preloads/elsewhere.so
export ELSEWHERE=0,8 SSPAPI_TOPOLOGY=$root/tests/topo/alder.xml
printf 'event adl_glc::INST_RETIRED:ANY\nevent adl_grt::INST_RETIRED:ANY\n' >script
export FAKE_PAPI_SCRIPT=$tmp/script
count() {
	to=$1
	shift
	SSPAPI_OUTPUT=$tmp/$to.json SSPAPI_FORMAT=text,json,csv,store run_shim "$to" "$scenes/ops" "$@"
}
P=adl_glc::INST_RETIRED:ANY E=adl_grt::INST_RETIRED:ANY
count v set=PAPI_TOT_INS,PAPI_TOT_CYC,$P,$E cpu=0 start show=9000,3000,9000,0 read cpu=1 show=10000,4000,9100,900 stop
is "the program ran" "$(status_of v)" 0
for form in json text; do
	check "$form: as the contract has it" perl "$root/tests/lib/check-dump.pl" $form "v.$(echo $form | sed s/text/txt/)" v.json
done

# ---- text -------------------------------------------------------------------------------

squeezed() {
	tr -s ' ' <"$1" | sed 's/^ //; s/ $//'
}
squeezed v.txt >text
sed -n '/^CPU/,/^$/p' text >table
cat >wanted <<EOF
CPU TOT_INS share TOT_CYC ANY ANY
~ all CPUs 10,000 100 % 4,000 9,100 900
~ CPU 0 (core 0, P) 9,000 90 % 3,000 9,000 0
~ CPU 8 (core 4, E) 1,000 10 % 1,000 100 900

EOF
check "text: CPUs have their kind; of names that two events have nothing is dropped" sh -c "diff wanted table && grep -q '^adl_glc:: adl_grt::$' text"
sed -n '/^kind of core/,/^$/p' text >table
cat >wanted <<EOF
kind of core (CPUs) TOT_INS share TOT_CYC ANY ANY
~ P cores (1 of 8) 9,000 90 % 3,000 9,000 0
~ E cores (1 of 8) 1,000 10 % 1,000 100 900

EOF
check "text: sums by kind, with their share" diff wanted table
tr -s '\n ' ' ' <text >flat
check "text: an event of P cores only is said to be one, and whose counts stand on the wrong kind" grep -qF -e \
	"- $P counts on P cores only, by their own PMU: what ran on E cores is missing, and what is booked there was counted before the thread moved" flat
check "text: an event of E cores only, all of it at its place" grep -qF -e \
	"- $E counts on E cores only, by their own PMU: what ran on P cores is missing - " flat

count one set=PAPI_TOT_INS cpu=0 start show=5 stop
squeezed one.txt >text
check "text: a set that ran on one kind" sh -c "grep -qx '~ P cores (1 of 8) 5 100 %' text && ! grep -q 'E cores' text"
ELSEWHERE=9,12 count one set=PAPI_TOT_INS cpu=0 start show=5 read cpu=1 show=9 stop
squeezed one.txt >text
check "text: or on the other" sh -c "grep -qx '~ E cores (2 of 8) 9 100 %' text && ! grep -q 'P cores' text"
ELSEWHERE=8,99 count one set=PAPI_TOT_INS cpu=0 start show=5 read cpu=1 show=9 stop
squeezed one.txt >text
check "text: on a CPU that the topology lacks: a row" sh -c "grep -qx '~ E cores (1 of 8) 5 56 %' text && grep -qx '~ CPUs not in the topology 4 44 %' text"
SSPAPI_TOPOLOGY='synthetic:core:2 pu:8' count plain set=PAPI_TOT_INS cpu=0 start show=5 stop
check "no word of kinds where cores are alike" not grep -qE 'cores|kind' plain.txt

# ---- JSON, CSV, hwloc ------------------------------------------------------------------------

is "JSON: sums by kind" "$(json v.json 'map { join " ", @$_{qw(name core_type efficiency max_mhz base_mhz cpus cpus_counted readings)},
	map { $_->{PAPI_TOT_INS} } @$_{qw(total exact)} } @{$d->{cpu_kinds}}')" "P IntelCore 1 4700 2100 8 1 1 9000 0
E IntelAtom 0 3400 1500 8 1 1 1000 0"
is "JSON: components have their kind's name" \
	"$(json v.json 'map { $_->{cpu_kind_name} } grep { $_->{type} eq "PU" } @{$d->{topology}{components}}' | uniq -c | tr -s ' \n' ' ')" " 8 P 8 E "
is "JSON: sets and events say of which kinds they are" \
	"$(json v.json 'map { join ",", @{$_->{cpu_kinds} // ["-"]} } @{$d->{relations}}, @{$d->{events}}' | tr '\n' ' ')" "P,E - - P E "
# By the kernel's names too; of perf:: events those of hardware are cpu_core's, those of software anybody's.
N='cpu_core::A cpu_atom::B cpu_lowpower::C ix86arch::D perf::INSTRUCTIONS perf::PERF_COUNT_HW_CPU_CYCLES perf::L1-DCACHE-LOADS perf::PAGE-FAULTS'
# shellcheck disable=SC2086 # words
printf 'event %s\n' $N >natives
FAKE_PAPI_SCRIPT=$tmp/natives count by_name "set=$(echo "$N" | tr ' ' ,)" cpu=0 start show=1,1,1,1,1,1,1,1 read cpu=1 show=2,2,2,2,2,2,2,2 stop
is "JSON: the PMU of an event, by either of its names" \
	"$(json by_name.json 'map { join ",", @{$_->{cpu_kinds} // ["-"]} } @{$d->{events}}' | tr '\n' ' ')" "P E - P P P P - "
is "JSON: none where cores are alike" "$(json plain.json 'scalar grep { exists $_->{cpu_kinds} } $d, @{$d->{relations}}, @{$d->{events}}')" 0
if command -v hwloc-info >/dev/null; then
	"$sspapi" report -o v.xml v.sspapi
	hwloc-info --input v.xml machine:0 core:0 core:4 >info
	check "hwloc: the machine has sums by kind" sh -c "grep -qF 'info PAPI_TOT_INS on P cores = 9000' info && grep -qF 'info PAPI_TOT_INS on E cores = 1000' info"
	is "hwloc: cores have their kind" "$(sed -n 's/^ *info CPUKind = //p' info | tr '\n' ' ')" "P E "
	SSPAPI_TOPOLOGY=$tmp/v.xml count again set=PAPI_TOT_INS cpu=1 start show=7 stop
	"$sspapi" report -o again.xml again.sspapi
	hwloc-info --input again.xml machine:0 core:4 >info
	is "hwloc: fed to the next run, the old sums go" "$(grep -c 'PAPI_TOT_INS on\|CPUKind' info) $(sed -n 's/.*TOT_INS on E cores = //p' info)" "3 7"
	check "hwloc: XML as its tools read it" sh -c "lstopo-no-graphics -i again.xml --cpukinds | grep -q IntelAtom"
else
	skip "hwloc" "no hwloc-info"
fi

# ---- the command ---------------------------------------------------------------------------------

"$sspapi" report --per-kind -m default v.sspapi >per
squeezed per | grep "^~" >rows
cat >wanted <<'EOF'
~ P cores 9,000 90 % 3,000 9,000 3.000 1
~ E cores 1,000 10 % 1,000 100 1.000 1
~ P cores 0 0.333 1
~ E cores 900 1.000 1
EOF
check "report --per-kind: a row each, with metrics of its own" diff wanted rows
"$sspapi" report --per-kind -m default -f csv v.sspapi | cut -d, -f14,16 | grep -E 'IPC|TOT_INS' | tr '\n' ' ' >got
is "CSV: the name tells the kind" "$(cat got)" \
	"PAPI_TOT_INS on P cores,9000 IPC on P cores,3 PAPI_TOT_INS on E cores,1000 IPC on E cores,1 "
"$sspapi" report --per-package -m IPC v.sspapi >per
check "metrics of both kinds together are none" grep -qE '^~ package 0 .* - +2$' per
"$sspapi" report --per-core -m IPC v.sspapi >per
check "those of one are" grep -qE '^~ core 4 \(E\) .* 1\.000 +1$' per
"$sspapi" report -m IPC v.sspapi | tr -s ' ' >per
check "the text has none of both kinds together" sh -c "grep -qx '~ all CPUs .* -' per && grep -qx '~ CPU 0 (core 0, P) .* 3\.000' per"
check "but of each" sh -c "grep -qx '~ P cores (1 of 8) .* 3\.000' per && grep -qx '~ E cores (1 of 8) .* 1\.000' per"
"$sspapi" report -f json -m IPC --per-machine v.sspapi >per.json
is "JSON says which are mixed" "$(json per.json '(map { $_->{mixed_cpu_kinds} ? 1 : 0 } @{$d->{levels}[0]{rows}}), scalar grep { $_->{mixed_cpu_kinds} } @{$d->{components}}' | tr '\n' ' ')" "1 4 "
"$sspapi" report -f csv -m IPC --per-machine v.sspapi >/dev/null 2>said
check "CSV has no place for it: a line on standard error" grep -q 'several kinds' said

# Stores of machines with kinds, of others, and from before kinds had names.
"$sspapi" merge -o m.sspapi v.sspapi plain.sspapi
"$sspapi" merge -o back.sspapi plain.sspapi v.sspapi
check "merge: in any order" cmp m.sspapi back.sspapi
"$sspapi" merge -o alone.sspapi v.sspapi
"$sspapi" merge -o twice.sspapi alone.sspapi
check "merge: again" cmp alone.sspapi twice.sspapi
kinds() {
	sed -n '/^kind of core/,/^$/p' | tr -s ' ' '\n' | sort
}
"$sspapi" report v.sspapi | kinds >wanted
"$sspapi" report alone.sspapi | kinds >got	# (events by name)
check "merge: kinds stay" sh -c "grep -qx 9,000 wanted && sed '/%/d; /^9[0-9]$/d; /^[0-9]*$/d' wanted >w && sed '/%/d; /^9[0-9]$/d; /^[0-9]*$/d' got | diff w -"
"$sspapi" report m.sspapi | tr -s ' ' >text
check "merge: a machine without kinds is elsewhere" grep -qE '^(~| ) elsewhere( .*)? 5( |$)' text
"$sspapi" report --per-kind m.sspapi | tr -s ' ' >text
check "merge: by kind its CPUs have a row" grep -qE '^(~| ) elsewhere on [^ ]* (.* )?5 ' text
check "diff: by kind" sh -c "'$sspapi' diff --per-kind v.sspapi one.sspapi | tr -s ' ' | grep -q '^\(~ \)*E cores TOT_INS 1,000 5 -995 -99.50'"
perl -0777 -pe 's/P\0{15}IntelCore\0{15}/"\0" x 40/e or die; s/E\0{15}IntelAtom\0{15}/"\0" x 40/e or die' v.sspapi >old.sspapi
"$sspapi" report old.sspapi | tr -s ' ' >text
check "without names kinds have numbers" sh -c "grep -q '^~ kind 1 cores (1 of 8) 9,000 90 %' text && grep -q '^~ kind 0 cores (1 of 8) 1,000 10 %' text"
done_testing
