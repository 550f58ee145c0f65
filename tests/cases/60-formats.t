# Compares the formats of a dump with sspapi-dump(5), and their counts with one another.
. tests/lib/lib.sh
all=text,json,csv,store
look="perl $root/tests/lib/check-dump.pl"

# views LABEL PROGRAM...: checks each format of one run's dump
views() {
	label=$1
	shift
	rm -f "$tmp"/v.*
	SSPAPI_OUTPUT=$tmp/v.json run_shim v env SSPAPI_FORMAT=$all "$@"
	check "$label: the dump has what PAPI returned" has_returned v ${options-}
	check "$label: JSON has the keys and types of sspapi-dump(5)" $look json "$tmp/v.json"
	check "$label: CSV has its columns, and the same sums" $look csv "$tmp/v.csv" "$tmp/v.json"
	check "$label: the text fits, and has each total" $look text "$tmp/v.txt" "$tmp/v.json"
	"$sspapi" report -f hwloc "$tmp/v.sspapi" >"$tmp/v.xml"
	check "$label: hwloc's tools take the XML" loads "$tmp/v.xml"
	is "$label: the store begins with its magic" \
		"$(head -c 8 "$tmp/v.sspapi" | od -An -c | tr -d ' ')" 'SSPAPI\r\n'
	for form in txt json csv; do
		# Without addr2line, which finds more names than the process did.
		PATH=$tmp "$B/sspapi" report -f "$(echo $form | sed s/txt/text/)" \
			"$tmp/v.sspapi" >"$tmp/report.$form" 2>"$tmp/report.err"
		check "$label: sspapi report makes the same $form from the store" \
			cmp "$tmp/v.$form" "$tmp/report.$form"
	done
}

loads() {
	hwloc-info --input "$1" && lstopo-no-graphics --input "$1" --of console &&
		xmllint --noout --nonet "$1"
}

# counts CPU...: compares the counts of these PUs in the XML with the JSON
counts() {
	for cpu in "$@"; do
		hwloc-info --input "$tmp/v.xml" --physical "pu:$cpu"
	done >"$tmp/info"
	$look info "$tmp/info" "$tmp/v.json" "$@"
}

command -v hwloc-info >/dev/null || skip_all "hwloc's tools are not installed (hwloc)"
command -v xmllint >/dev/null || xmllint() { :; }

lstopo-no-graphics -i "package:2 numa:1 l3:4 core:16 pu:2" --of xml -f "$tmp/threads256.xml"
for topology in hybrid memcache cpuless-numa v1-numa "$tmp/threads256"; do
	name=$(basename "$topology")
	case $topology in /*) ;; *) topology=$root/tests/topo/$topology ;; esac
	views "$name" env SSPAPI_TOPOLOGY="$topology.xml" "$scenes/one"
	is "$name: the dump names its topology" "$(json "$tmp/v.json" '$d->{topology}{source}')" \
		"$topology.xml"
	check "$name: the XML has the counts" counts 0 1
done

# A CPU that the topology lacks: the run is on 0 and 1; this one has 1 only.
views holes env SSPAPI_TOPOLOGY="$root/tests/topo/holes.xml" "$scenes/one"
check "holes: CPU 0 is in the text under its number" grep -q '^~* *CPU 0 (not in the topology) ' \
	"$tmp/v.txt"
check "holes: CPU 1 is in the XML" counts 1
is "holes: the root has all counts" \
	"$(json "$tmp/v.json" 'my %t = map { ($_->{component} => $_->{total}{EV_A}) } @{$d->{components}};
	my ($cpu) = grep { defined $_->{in_topology} } @{$d->{topology}{components}};
	my $all = 0; $all += $_->{total}[0] for map { @{$_->{cpus}} } @{$d->{relations}};
	"$cpu->{type} $cpu->{os_index} below $cpu->{parent}",
	$t{0} == $all ? "all" : "$t{0} of $all", $t{$cpu->{id}} > 0 &&
	$t{$cpu->{id}} < $all ? "some" : "none"')" \
	"PU 0 below 0
all
some"

# A store that was cut before its counts: no other reason is given for missing counts.
cp "$tmp/v.sspapi" "$tmp/cut.sspapi"
truncate -s -200 "$tmp/cut.sspapi"
run cut "$B/sspapi" report "$tmp/cut.sspapi"
is "cut: reported" "$(status_of cut) $(cat "$tmp/cut.err")" \
	"1 sspapi report: $tmp/cut.sspapi: damaged; only the readable part is shown"
is "cut: why there is nothing" "$(grep '^Nothing to show' "$tmp/cut.out")" \
	"Nothing to show: the store is damaged; counts of the damaged blocks are missing."

# Tries each format × each option of report: it is refused with the formats that support it, or the
# output differs.
printf '%s\n' 'PRESET,AB,DERIVED_INFIX,N0/N1,EV_A,EV_B' >"$tmp/ab.csv"
SSPAPI_OUTPUT=$tmp/a.sspapi run_shim a env SSPAPI_READINGS=permanent SSPAPI_CALLSITES=1 \
	"$scenes/one"
SSPAPI_OUTPUT=$tmp/b.sspapi run_shim b env SSPAPI_READINGS=permanent SSPAPI_CALLSITES=1 \
	"$scenes/one"
another_process "$tmp/b.sspapi"
# follows FORM WITHOUT OPTION...: 0 if this format's output differs from WITHOUT (-: no option), 2
# if the option is refused; else prints the problem
follows() {
	form=$1 without=$2
	shift 2
	run with "$sspapi" report -f $form $without "$@" "$tmp/a.sspapi" "$tmp/b.sspapi"
	run without "$sspapi" report -f $form $without "$tmp/a.sspapi" "$tmp/b.sspapi"
	case "$(status_of with) $(status_of without)" in
	'2 '*) [ ! -s "$tmp/with.out" ] &&
		grep -qx "sspapi report: .*: the $form format does not support it; use -f .*" \
		"$tmp/with.err" && echo 2 && return ;;
	'0 0') ! cmp -s "$tmp/with.out" "$tmp/without.out" && echo 0 && return ;;
	esac
	echo "status $(status_of with), output $(cmp -s "$tmp/with.out" "$tmp/without.out" &&
		echo the same || echo another): $(cat "$tmp/with.err")"
}
forms=$("$sspapi" report --help | sed -n 's/^  -f FORMAT  *format: \(.*\);.*/\1/p' | tr -d ,)
is "each format of report is tried" "$forms" "text json csv hwloc html trace store"
while read -r want without option; do
	[ "$without" != - ] || without=
	is "report $(echo "$option" | sed "s,$tmp/,,"): supported by $want, refused for others" \
		"$(for form in $forms; do echo $form \
		$(follows $form "$(echo $without | tr _ ' ')" $option); done)" \
		"$(for form in $forms; do case ,$want, \
		in *,$form,*) echo $form 0 ;; *) echo $form 2 ;; esac; done)"
	[ ! -s "$tmp/with.err" ] ||
		is "those are named" "$(sed 's/.*use -f //; s/ or /,/g' "$tmp/with.err")" "$want"
done <<END
text,json,csv - --per-core
text,json,csv --per-cpu --per-thread
text,json --per-cpu_--per-core --per-package
text,json,csv --per-cpu --sort EV_A
text,json,csv,html - -m $tmp/ab.csv
text,json,csv,hwloc,html,trace,store - --events EV_B
csv - --readings
hwloc - --color-by EV_B
text - --all
text,json,html,trace - --no-symbols
END
for form in $forms; do
	is "$format: --all-symbols, as --no-symbols" \
		"$(follows $form '' --all-symbols | sed 's/^status 0.*/0/')" \
		"$(follows $form '' --no-symbols)"
done

# The trace: valid, with every count in its rates. A set that is started again starts at 0.
SSPAPI_OUTPUT=$tmp/again.sspapi run_shim again env SSPAPI_READINGS=permanent "$scenes/one" -n 3
for stores in "$tmp/again.sspapi" "$tmp/a.sspapi $tmp/b.sspapi"; do
	"$sspapi" report -f trace -o "$tmp/trace.json" $stores
	"$sspapi" report -f json -o "$tmp/stores.json" $stores
	is "trace of $(echo $stores | wc -w): the format, and all counts" \
		"$(perl "$root/tests/lib/check-trace.pl" "$tmp/trace.json" "$tmp/stores.json" 2>&1)" ""
done
# traced NAME=VALUE... ARGUMENT...: traces tests/scenes/ops, and prints the faults
traced() {
	rm -f "$tmp"/traced.*
	SSPAPI_OUTPUT=$tmp/traced.sspapi run_shim ops env SSPAPI_READINGS=permanent "$@" stop
	"$sspapi" report -o "$tmp/traced.trace.json" "$tmp/traced.sspapi" 2>"$tmp/traced.err"
	"$sspapi" report -f json -o "$tmp/traced.json" "$tmp/traced.sspapi"
	perl "$root/tests/lib/check-trace.pl" "$tmp/traced.trace.json" "$tmp/traced.json" 2>&1
}
ops="$scenes/ops set=EV_A,EV_B cpu=0 start show=10,1"
# shellcheck disable=SC2086 # words
while read -r what words; do
	is "trace, $what: all counts" "$(traced $ops $words)" ""
done <<'END'
restarts read show=40,2 stop start show=500,3
accums read show=25,2 accum show=7,1 read show=9,1 accum show=30,2 reset show=80,3
sets-with-one-number stop again add=EV_C start show=700,1,1 stop again start show=300,2
END
is "trace, the clock is set back: all counts" \
	"$(traced "$scenes/ops" set=EV_A cpu=0 clock=10000 start show=5 clock=9000 read show=12 clock=9500)" ""
# shellcheck disable=SC2086
is "trace, readings that were not kept: the counts of the others, and a message" \
	"$(traced SSPAPI_READINGS_MAX=2 $ops read show=30,3 read show=90,9) $(cat "$tmp/traced.err")" \
	"EV_A: 30, not 90 sspapi report: 1 reading not kept (SSPAPI_READINGS_MAX), and missing here"

is "trace: each process, its CPUs, and in these the windows" \
	"$(json "$tmp/trace.json" 'map { join " ", $_->{pid}, $_->{name} =~ s/\x{2192}/to/r =~ s/:\d.*//r, $_->{args} ? @{$_->{args}}{qw(call cpu)} : () } grep { $_->{ph} eq "B" } @{$d->{traceEvents}}')" \
	"$(for pid in 1 2; do printf '%s\n' "$pid CPU 0" "$pid count PAPI_read 0" "$pid CPU 0 to CPU 1" \
		"$pid count PAPI_stop 1"; done)"

# Names with characters that are special in some format.
cat >"$tmp/script" <<'EOF'
event EV,"<&'_é component=perf_event descr=a"b<c>&amp;
event PAPI_BIG derived=DERIVED_SUB natives=A,B
each PAPI_read count EV,"<&'_é 5
each PAPI_read count PAPI_BIG 123456789012345678
each PAPI_stop count PAPI_BIG -4
EOF
views "odd names" env FAKE_PAPI_SCRIPT="$tmp/script" "$scenes/one" 'EV,"<&'"'_é" PAPI_BIG
is "odd names: a count of 18 digits is exact" "$(json "$tmp/v.json" \
	'map { $_->{total}[1] } map { @{$_->{cpus}} } @{$d->{relations}}' | tr '\n' ' ')" \
	"123456789012345678 -4 "

# Real PAPI on this machine.
REAL_PAPI_BUILD=$B REAL_PAPI_SOFTWARE=1
. tests/lib/real-papi.sh
if [ "$REAL_PAPI" = yes ]; then
	MORE=$REAL_PAPI_PRELOAD
	views demo "$apps/demo" perf::PAGE-FAULTS perf::TASK-CLOCK
	check "demo: the XML has the counts" counts \
		$(sed -n 's/^handed cpu=\([0-9]*\) .*/\1/p' "$tmp/v.out" | sort -u)
	is "demo: threads by name" \
		"$(json "$tmp/v.json" 'sort map { $_->{thread} } @{$d->{relations}}' |
		tr '\n' ' ')" "mover stayer "
else
	skip "demo" "$PAPI_HOW"
fi
done_testing
