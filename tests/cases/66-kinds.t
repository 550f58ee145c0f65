#!/bin/sh
# 66-kinds.t: gauges, floating-point counters and bits together with plain counts; counts of
# packages, memory, devices and the host on that component; all in every format of the dump.
. tests/lib/lib.sh

export SSPAPI_TOPOLOGY='synthetic:pack:2 [numa] core:1 pu:1'
SSPAPI_OUTPUT=$tmp/kinds.json SSPAPI_FORMAT=text,json,csv run_shim kinds "$scenes/kinds"
is "the program ran" "$(status_of kinds)" 0
check "the JSON has the keys of sspapi-dump(5)" perl tests/lib/check-dump.pl json "$tmp/kinds.json"
check "the CSV has the JSON's totals" perl tests/lib/check-dump.pl csv "$tmp/kinds.csv" \
	"$tmp/kinds.json"
check "the text also has them" perl tests/lib/check-dump.pl text "$tmp/kinds.txt" "$tmp/kinds.json"

json "$tmp/kinds.json" "$(cat tests/lib/kinds.pl)" >"$tmp/got"
check "each value is in its place" diff tests/lib/kinds.want "$tmp/got"

component() {
	json "$tmp/kinds.json" \
		'(map { my $c = $d->{topology}{components}[$_->{component}]; "$c->{type}$c->{logical_index}" eq "'"$1"'" ? '"$2"' : () } @{$d->{components}})'
}
is "packages have their own energy only" \
	"$(component Package0 '$_->{total}{"rapl:::PACKAGE_ENERGY:PACKAGE1"} // "none"')" none
is "the machine has its packages' energy" \
	"$(component Machine0 '$_->{total}{"rapl:::PACKAGE_ENERGY:PACKAGE1"}')" 3000
is "a memory's counts are also its package's" \
	"$(component Package1 '$_->{total}{"rapl:::DRAM_ENERGY:PACKAGE1"}')" 30
is "floating-point counts add up" "$(component Machine0 '$_->{total}{"widget:::LIB::FLOPS"}')" 2.75
is "gauges are not summed up the tree" "$(component Package1 'join ",", keys %{$_->{gauges}}')" ""
is "gauges are next to the counts of their CPU" \
	"$(component PU1 '$_->{gauges}{TOPDOWN_RETIRING_PERC}{last}')" 37.5
is "values that only grow are not reported as decreasing" \
	"$(json "$tmp/kinds.json" 'scalar grep { $_->{backwards} } @{$d->{relations}}')" 0
# Started in the order of their ids, stopped in the reverse. (The plain one, 0, has coarse times;
# coretemp and io, which do not begin at 0, count from the first reading on.)
is "times put readings of these sets in one order" \
	"$(json "$tmp/kinds.json" 'my @r = @{$d->{relations}};
	my @e = map { $d->{events}[$_->{events}[0]]{component} } @r;
	my @b = grep { $e[$_] !~ /^(coretemp|io)$/ } 1 .. $#r;
		join ",", (grep { $r[$b[$_]]{first_ns} <= $r[$b[$_ - 1]]{first_ns} } 1 .. $#b),
		grep { $r[$_]{last_ns} >= $r[$_ - 1]{last_ns} } 2 .. $#r')" ""
is "the dump names counts without a place in the tree" \
	"$(json "$tmp/kinds.json" 'grep { /coretemp/ } @{$d->{notes}}')" \
	"PAPI component 'coretemp' does not report the devices of some of its events: their values are on no component"

check "text: a package's counts are next to it" \
	grep -qE '^PACKAGE_ENERGY:PACKAGE1 .* package 1 +3\.000 uJ$' "$tmp/kinds.txt"
check "text: bits are hexadecimal" grep -qE 'FLAGS +CPU 0 .*  0xf0 +- +- +-$' "$tmp/kinds.txt"
check "text: a gauge has last, min, max and mean" \
	grep -qE 'hwmon77:temp1_input +no known place +55 °C +45 °C +55 °C +51\.667 °C$' "$tmp/kinds.txt"
check "text: also of a CPU" grep -qE 'RETIRING_PERC.* CPU 1 .* 37\.500 %$' "$tmp/kinds.txt"
check "CSV: a line for each of them, with no exact" \
	grep -qE '^[^,]*,,[0-9]+,[0-9]+,kinds,2,2,,,,,,,coretemp:::hwmon77:temp1_input \(mean\),3,51\.6[0-9]*,$' "$tmp/kinds.csv"
check "CSV: a floating-point count is told by call sites" \
	grep -qE ',4,4,kinds[^,]+,kinds[^,]+,1,1,1,1,widget:::LIB::FLOPS,1,2\.25,0$' "$tmp/kinds.csv"
check "text, too" grep -qE '^[~ ]*main .* 2\.750( |$)' "$tmp/kinds.txt"
check "CSV: a package's count has its package" \
	awk -F, '$14 == "rapl:::PACKAGE_ENERGY:PACKAGE1" { ok += $10 $11 == "" && $12 == 1 && $13 == 1; n += $15; t += $16; x += $17; lines++ }
		END { exit !(lines && ok == lines && n == 3 && t == 3000 && x == 0) }' \
		"$tmp/kinds.csv"
if command -v hwloc-info >/dev/null; then
	SSPAPI_OUTPUT=$tmp/kept.sspapi run_shim kept "$scenes/kinds"
	"$sspapi" report -o "$tmp/kinds.xml" "$tmp/kept.sspapi"
	run info hwloc-info --input "$tmp/kinds.xml" pack:0 machine:0
	check "hwloc: a gauge is an attribute where it was read" \
		grep -qF 'rapl:::THERMAL_SPEC:PACKAGE0 = mean 115.500, last 115.5, min 115.5, max 115.5, 3 readings' "$tmp/info.out"
else
	skip "hwloc: a gauge is an attribute where it was read" "no hwloc-info"
fi


SSPAPI_OUTPUT=$tmp/kinds.sspapi run_shim stored "$scenes/kinds"
run packages "$B/sspapi" report --per-package "$tmp/kinds.sspapi"
check "report: a package's count is in its row" grep -qE '^[~ ] package 1 .* 3\.000 uJ ' \
	"$tmp/packages.out"
run cpus "$B/sspapi" report --per-cpu "$tmp/kinds.sspapi"
check "report: per CPU it has its own row" grep -qE '^[~ ] package 1 .* 3\.000 uJ ' "$tmp/cpus.out"

cp "$tmp/kinds.sspapi" "$tmp/other.sspapi"
another_process "$tmp/other.sspapi"
run merge "$B/sspapi" merge -o "$tmp/two.sspapi" "$tmp/kinds.sspapi" "$tmp/other.sspapi"
"$B/sspapi" report -f json "$tmp/two.sspapi" >"$tmp/two.json" 2>"$tmp/two.err"
is "merge: gauges of two processes" \
	"$(json "$tmp/two.json" \
	'my %g = map { $_->{id} => 1 } grep { $_->{name} =~ /temp1/ } @{$d->{events}};
	join " ", map { "$_->{readings} $_->{max}" } grep { $g{$_->{event}} } map { @{$_->{gauges} || []} } @{$d->{relations}}')" "3 55 3 55"
is "merge: and floating-point counts" \
	"$(json "$tmp/two.json" '$d->{components}[0]{total}{"widget:::LIB::FLOPS"}')" 5.5

# A component that sspapi does not know follows its granularity, if PAPI's version has that.
cat >"$tmp/script" <<'END'
component gizmo granularity=8
component gadget granularity=2
event gizmo:::X component=gizmo
event gadget:::X component=gadget
event widget:::X component=widget
each PAPI_read values 0 5
END
for version in 5.7 6.0 7.0 7.1 7.2; do
	one=$scenes/one-$version
	[ $version != 7.0 ] || one=$scenes/one
	got=''
	for component in gizmo gadget widget; do
		FAKE_PAPI_SCRIPT=$tmp/script run_shim unknown "$one" $component:::X
		got="$got$(json "$tmp/unknown.json" \
			'map { my $r = $_; "$r->{scope}:" . join ",", map { ($_->{cpu} // "null") . "=$_->{total}[0]" } @{$r->{cpus}} } @{$d->{relations}}') "
	done
	is "$version: unknown components of all granularities" "$got" \
		"host:null=5 process:null=5 thread:0=5,1=0 "
done
check "the dump says so" grep -q \
	"'widget' is unknown to sspapi; its counts are treated as the calling thread" \
	"$tmp/unknown.json"
# From one call site each, on two CPUs in turn: the cell, the most that is proven, and the count.
# Components that keep counts have counted nothing before the first reading.
taken=''
for event in rapl:::PACKAGE_ENERGY:PACKAGE0 cuda:::x:device=0 net:::x sde:::LIB::x io:::READ \
	appio:::READ_CALLS widget:::X; do
	printf '%s\n' "component ${event%%:*}" "event $event component=${event%%:*}" >"$tmp/script"
	run_shim taken env FAKE_PAPI_SCRIPT="$tmp/script" "$scenes/ops" set="$event" start show=5 \
		read show=7 read cpu=1 show=10 read read cpu=0 show=16 read \
		show=20 stop start show=23 read show=26 read cpu=1 show=29 quit start show=2 quit \
		start show=3 quit cpu=0
	taken="$taken${event%%:*} $(json "$tmp/taken.json" \
		'map { ($_->{cpu} // "no") . ":$_->{total}[0]" } grep { $_->{total}[0] } map { @{$_->{cpus}} } @{$d->{relations}}' | paste -sd" ")
"
	is "$event: no more is proven than was counted there" \
		"$(json "$tmp/taken.json" \
		'grep { $_->{exact}[0] > (!defined $_->{cpu} ? 0 : $_->{cpu} ? 5 : 37) } map { @{$_->{cpus}} } @{$d->{relations}}')" ""
done
is "placed or split: each count is in its place" "$taken" "rapl no:54
cuda no:54
net no:54
sde no:54
io no:21
appio 0:43 1:11
widget 0:43 1:11
"
# stealtime's CPUs are those that are online.
printf 'component stealtime\nevent stealtime:::CPU2 component=stealtime\n' >"$tmp/script"
echo 0,3-5 >"$tmp/online"
if plain "stealtime with an offline CPU" && unshare -m mount --bind "$tmp/online" \
	/sys/devices/system/cpu/online 2>/dev/null; then
	run_shim steal env FAKE_PAPI_SCRIPT="$tmp/script" SSPAPI_TOPOLOGY='synthetic:core:8 pu:1' \
		unshare -m sh -c \
		"mount --bind '$tmp/online' /sys/devices/system/cpu/online && exec '$scenes/ops' set=stealtime:::CPU2 start show=5 stop"
	is "stealtime's second CPU is the second that is online" \
		"$(json "$tmp/steal.json" \
		'map { my $c = $d->{topology}{components}[$_->{places}[0]]; "$c->{type} $c->{os_index}" } @{$d->{relations}}')" "PU 3"
elif [ -z "${SANITIZE-}" ]; then
	skip "stealtime with an offline CPU" "unshare cannot mount here"
fi
# ---- GPUs, by a topology that has some -------------------------------------------------------
# gpu PAPI_COMPONENT EVENT: prints where 40 of it are attributed, by type, number and name
gpu() {
	printf '%s\n' "component $1" "event $2 component=$1" \
		"at PAPI_stop 1 count $2 40" >"$tmp/script"
	SSPAPI_OUTPUT=$tmp/gpu.json SSPAPI_FORMAT=json,text,store run_shim \
		gpu env FAKE_PAPI_SCRIPT="$tmp/script" SSPAPI_TOPOLOGY="$root/tests/topo/gpus.xml" \
		"$scenes/one" "$2"
	json "$tmp/gpu.json" 'my @c = @{$d->{topology}{components}}; map { my $c = $_;
		map { my $p = $c[$c[$_]{parent}];
		"$c[$_]{type} $c[$_]{os_index} $c[$_]{name} of $p->{type} $p->{os_index}" }
		grep { defined $_ && $_ >= 0 } @{$c->{places} || []} } @{$d->{relations}}'
}
is "cuda's device 1 is its GPU, below the second package" \
	"$(gpu cuda cuda:::sm__cycles:stat=sum:device=1)" "GPU 1 H100 of Package 1"
is "and the package and the machine have its counts" \
	"$(json "$tmp/gpu.json" \
	'map { "$d->{topology}{components}[$_->{component}]{type} " . ($_->{total}{"cuda:::sm__cycles:stat=sum:device=1"} // 0) } @{$d->{components}}')" \
"Machine 40
Package 40
NUMANode 0
GPU 40"
check "in text with its model" sh -c '"$1" report "$2" | grep -q "GPU 2 (H100)"' sh "$sspapi" "$tmp/gpu.sspapi"
"$sspapi" report -o "$tmp/gpu.xml" "$tmp/gpu.sspapi"
command -v lstopo-no-graphics >/dev/null && check "hwloc can read it" \
	sh -c 'lstopo-no-graphics -i "$1" --of console --whole-io >/dev/null' - "$tmp/gpu.xml"
check "hwloc: the GPU has its counts" \
	sh -c 'perl -0777 -ne "exit !/<object type=.PCIDev[^>]*pci_busid=.0001:01:00.0.*?<info name=.cuda:::sm__cycles:stat=sum:device=1. value=.40/s" "$1"' - "$tmp/gpu.xml"
# A rank that may see some GPUs only numbers these from 0.
visible() {
	is "$1=$2: device 0 of $3" "$(export "$1=$2"; gpu "$3" "$3:::x:device=0")" "$4"
}
visible CUDA_VISIBLE_DEVICES 1,0 cuda "GPU 1 H100 of Package 1"
visible CUDA_VISIBLE_DEVICES GPU-8932f937 cuda ""
visible CUDA_VISIBLE_DEVICES 1 nvml "GPU 0 H100 of Package 0"
visible ROCR_VISIBLE_DEVICES 0 rocp_sdk "GPU 0 MI210 of Package 0"
is "nvml's by its name" "$(gpu nvml nvml:::NVIDIA_H100:device_0:power)" "GPU 0 H100 of Package 0"
is "another vendor's devices are numbered separately" "$(gpu rocm rocm:::SQ_WAVES:device=0)" \
	"GPU 0 MI210 of Package 0"
# Presets of a component (PAPI 7.2): the natives name the device.
# preset NAME NATIVES WORD...: prints the same for a preset
preset() {
	name=$1 natives=$2
	shift 2
	printf '%s\n' "component cuda" "event $name component=cuda natives=$natives" \
		"$@" >"$tmp/script"
}
presets() {
	SSPAPI_OUTPUT=$tmp/gpu.json SSPAPI_FORMAT=json,text run_shim \
		gpu env FAKE_PAPI_SCRIPT="$tmp/script" SSPAPI_TOPOLOGY="$root/tests/topo/gpus.xml" \
		"$scenes/ops" "$@"
	json "$tmp/gpu.json" 'my @c = @{$d->{topology}{components}}; map { my $r = $_; my $n = $d->{events}[$r->{events}[0]];
		my $at = ($r->{places} || [])->[0] // -1; "$n->{name} $n->{kind} " . ($at eq "" || $at < 0 ? "nowhere" : "$c[$at]{type} $c[$at]{os_index}") } @{$d->{relations}}'
}
fma=cuda:::sm__inst_hfma:stat=sum
preset PAPI_CUDA_FP16_FMA $fma:device=1
is "a preset of cuda: where its natives are" "$(presets set=PAPI_CUDA_FP16_FMA start show=3 stop)" \
	"PAPI_CUDA_FP16_FMA counter GPU 1"
preset PAPI_CUDA_FP_FMA $fma:device=0,cuda:::sm__inst_ffma:stat=sum:device=0
is "of two natives" "$(presets set=PAPI_CUDA_FP_FMA start show=3 stop)" \
	"PAPI_CUDA_FP_FMA counter GPU 0"
preset PAPI_CUDA_FP_FMA $fma:device=0,cuda:::sm__inst_ffma:stat=sum:device=1
is "of two devices: nowhere" "$(presets set=PAPI_CUDA_FP_FMA start show=3 stop)" \
	"PAPI_CUDA_FP_FMA counter nowhere"
preset PAPI_CUDA_FP16_FMA cuda:::sm__inst_hfma:stat=pct:device=1
is "a share is a gauge" "$(presets set=PAPI_CUDA_FP16_FMA start show=3 stop)" \
	"PAPI_CUDA_FP16_FMA gauge GPU 1"
preset PAPI_CUDA_FP16_FMA $fma:device=0 \
	"at PAPI_create_eventset 2 event PAPI_CUDA_FP16_FMA component=cuda natives=$fma:device=1"
is "requested on another device: earlier counts stay, later ones are on an unknown device" \
	"$(presets set=PAPI_CUDA_FP16_FMA start show=3 stop set=PAPI_CUDA_FP16_FMA start show=4 \
	stop)" "PAPI_CUDA_FP16_FMA counter GPU 0
PAPI_CUDA_FP16_FMA counter nowhere"
is "Gaudi's: a device, although it claims to count threads" \
	"$(gpu gaudi2 gaudi2:::TPC_STALL:device=0; json "$tmp/gpu.json" \
	'map { "$_->{scope} " . join ",", map { $_->{cpu} // "null" } @{$_->{cpus}} } @{$d->{relations}}')" "device null"
is "AMD's, with dimensions" "$(gpu rocp_sdk rocp_sdk:::SQ_WAVES:DIMENSION_XCC=1:device=0)" \
	"GPU 0 MI210 of Package 0"
is "one that does not exist: on no component" \
	"$(gpu cuda cuda:::sm__cycles:stat=sum:device=7; json "$tmp/gpu.json" \
	'scalar @{$d->{components}}, map { $_->{cpu} // "null" } @{$d->{relations}[0]{cpus}}')" "0
null"
check "and reported" sh -c 'tr -s "\n " " " <"$1" | grep -q "device=7: the topology shows no such GPU; these counts are on no component"' - "$tmp/gpu.txt"
# A count of 0 is shown, and no headline claims that all is 0 above a row that is not.
printf '%s\n' 'component rapl' 'event rapl:::PACKAGE_ENERGY:PACKAGE0 component=rapl units=nJ' \
	'component cuda' 'event cuda:::x:device=9 component=cuda' 'event EV_A' >"$tmp/script"
# zero NAME WORD...: prints the text of ops
zero() {
	name=$1
	shift
	run zero env FAKE_PAPI_SCRIPT="$tmp/script" LD_PRELOAD="$SHIM" \
		SSPAPI_OUTPUT="$tmp/$name.txt" "$scenes/ops" "$@"
}
zero above set=EV_A start show=0 stop set=rapl:::PACKAGE_ENERGY:PACKAGE0 start show=5 stop
is "0 on the CPUs, and energy" \
	"$(grep -c '^all counts per CPU are 0$' "$tmp/above.txt") $(grep -cE \
	'^PACKAGE_ENERGY:PACKAGE0 .* 5\.000 nJ$' "$tmp/above.txt")" "1 1"
zero package set=rapl:::PACKAGE_ENERGY:PACKAGE0 start show=0 stop
check "a package that counted 0: a row" grep -qE '^PACKAGE_ENERGY:PACKAGE0 +package 0 +0 J$' \
	"$tmp/package.txt"
SSPAPI_FORMAT=json zero package set=rapl:::PACKAGE_ENERGY:PACKAGE0 start show=0 stop
is "and in JSON a 0 of the package and the machine, none of a CPU" \
	"$(json "$tmp/package.txt" \
	'map { my $c = $d->{topology}{components}[$_->{component}]; "$c->{type}=" . (values %{$_->{total}})[0] } grep { %{$_->{total}} } @{$d->{components}}' | paste -sd" ")" "Machine=0 Package=0"
zero nowhere set=cuda:::x:device=9 start show=0 stop
check "on no known CPU: a row" grep -qE '^no known CPU +0 ' "$tmp/nowhere.txt"

# Gauges of one device: the common beginning stands once, and values have units.
cat >"$tmp/gpu" <<'END'
component nvml
event nvml:::GPU_X:device_0:power component=nvml units=mW
event nvml:::GPU_X:device_0:temperature component=nvml units=C
event nvml:::GPU_X:device_0:sm_clock component=nvml units=MHz
event nvml:::GPU_X:device_0:total_energy_consumption component=nvml units=mJ
END
SSPAPI_OUTPUT=$tmp/gpu.sspapi run_shim gpu env FAKE_PAPI_SCRIPT="$tmp/gpu" "$scenes/ops" \
	set=nvml:::GPU_X:device_0:power,nvml:::GPU_X:device_0:temperature,nvml:::GPU_X:device_0:sm_clock,nvml:::GPU_X:device_0:total_energy_consumption \
	start show=71000,34,1980,0 read show=72000,35,1980,28300 stop
"$sspapi" report "$tmp/gpu.sspapi" >"$tmp/gpu.txt"
is "the common beginning of gauges, once" "$(grep -c '^gauges of GPU_X:device_0:$' "$tmp/gpu.txt")" 1
check "a power" grep -qE '^power .* 72\.00 W +71\.00 W +72\.00 W +71\.50 W$' "$tmp/gpu.txt"
check "a temperature" grep -qE '^temperature .* 35 °C +34 °C +35 °C +34\.500 °C$' "$tmp/gpu.txt"
check "a frequency" grep -qE '^sm_clock .* 1,980 MHz +1,980 MHz +1,980 MHz +1,980 MHz$' "$tmp/gpu.txt"
check "an energy" grep -qE ' 28\.30 J( |$)' "$tmp/gpu.txt"
check "hwloc's legend of an event that no CPU counted" sh -c '"$1" report -f hwloc "$2" | grep -q "lstopoLegend.*energy_consumption was counted on no PU"' sh "$sspapi" "$tmp/gpu.sspapi"
done_testing
