# Checks the html format: report's JSON in one page, and in Chromium the actions of a reader.
. tests/lib/lib.sh

cat >"$tmp/script" <<'EOF'
event EV_</script><b>x
event EV_BIG
each PAPI_read count EV_</script><b>x 5
each PAPI_read count EV_BIG 123456789012345678
each PAPI_stop count EV_BIG 12345678901234567
EOF
SSPAPI_OUTPUT=$tmp/odd.sspapi run_shim odd env FAKE_PAPI_SCRIPT="$tmp/script" \
	SSPAPI_READINGS=permanent \
	"$scenes/one" -u "</script><img src=x onerror=alert(1)> <!-- $(printf '\033')[31m" \
	'EV_</script><b>x' EV_BIG
SSPAPI_OUTPUT=$tmp/many.sspapi run_shim many "$scenes/crowd" short
for i in 1 2; do
	SSPAPI_OUTPUT=$tmp/rank$i.sspapi run_shim rank env SSPAPI_READINGS=permanent PMI_RANK=$i \
		"$scenes/one" -n $i
done
"$sspapi" merge -o "$tmp/job.sspapi" "$tmp/rank1.sspapi" "$tmp/rank2.sspapi"

# Removes what a page does not show: readings that are not kept, and the call sites of the others. Intervals are in the
# level of call sites, which has a row for each function.
plainly() {
	json "$1" 'delete $d->{crossed}; @{$d->{levels}} = sort { $a->{level} cmp $b->{level} }
		grep { $_->{level} ne "cpu" } @{$d->{levels}}; $_->{level} eq "callsite" and $_->{rows} = [] for @{$d->{levels}};
		$_->{intervals} = [] for @{$d->{relations}};
		$_->{entries} = [grep { @{$_->{list}} } map { $_->{list} = [map { delete @$_{qw(from to)}; $_ } grep { $_->{permanent} } @{$_->{list}}]; $_ } @{$_->{entries}}] for @{$d->{relations}}; $d' 2>/dev/null
}
for page in odd many job; do
	run page "$sspapi" report -o "$tmp/$page.html" "$tmp/$page.sspapi"
	is "$page: made" "$(status_of page) $(cat "$tmp/page.err" "$tmp/page.out")" "0 "
	"$sspapi" report -f html "$tmp/$page.sspapi" >"$tmp/printed"
	check "$page: -f html is the same" cmp "$tmp/printed" "$tmp/$page.html"
	sed -n '/id="data"/,/^<\/script>/p' "$tmp/$page.html" | sed '1d;$d' >"$tmp/in.json"
	"$sspapi" report -f json -m default --per-thread --per-callsite --per-process \
		--per-machine "$tmp/$page.sspapi" >"$tmp/report.json" 2>/dev/null
	check "$page: its data are report's JSON" sh -c 'cmp "$1" "$2"' \
		sh "$(plainly "$tmp/in.json" >"$tmp/in"; echo "$tmp/in")" \
		"$(plainly "$tmp/report.json" >"$tmp/wanted"; echo "$tmp/wanted")"
	check "$page: no < in the data" not grep -q '<' "$tmp/in.json"
	is "$page: two scripts, and nothing from another site" \
		"$(grep -c '</script>' "$tmp/$page.html") $(grep -cE '(src|href)=' \
		"$tmp/$page.html")" "2 $(grep -cE '(src|href)=' "$tmp/in.json")"
	check "$page: a policy that names its script" \
		grep -q "default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]*='; script-src 'sha256-[A-Za-z0-9+/]*='" "$tmp/$page.html"
done

# More data than fits on a page: at most 5 MB, with the outliers.
mkdir "$tmp/stores"
"$B/tests/long/many-stores" "$tmp/stores" 0 500 128 50 1000 | sort >"$tmp/sums"
"$sspapi" merge -o "$tmp/large.sspapi" "$tmp"/stores/*.sspapi
SSPAPI_OUTPUT=$tmp/long.sspapi run_shim long env SSPAPI_READINGS=permanent "$scenes/one" -n 40000
for page in large long; do
	"$sspapi" report -o "$tmp/$page.html" "$tmp/$page.sspapi"
	sed -n '/id="data"/,/^<\/script>/p' "$tmp/$page.html" | sed '1d;$d' >"$tmp/$page.json"
	check "$page: no more than 5 MB, and more than 1" \
		sh -c '[ "$(wc -c <"$1")" -le 5000000 ] && [ "$(wc -c <"$1")" -gt 1000000 ]' \
		sh "$tmp/$page.html"
	check "$page: the same page again" sh -c '"$1" report -f html "$2" | cmp - "$3"' \
		sh "$sspapi" "$tmp/$page.sspapi" "$tmp/$page.html"
done
"$sspapi" report -f csv --per-rank "$tmp/large.sspapi" >"$tmp/ranks.csv"
"$sspapi" report -f csv --readings "$tmp/long.sspapi" >"$tmp/readings.csv"
check "large: its part" perl "$root/tests/lib/check-part.pl" "$tmp/large.json" "$tmp/ranks.csv" \
	"$tmp/sums"
is "long: the readings are thinned, the last of an event is there" \
	"$(json "$tmp/long.json" \
	'my @l = sort { $a->{ns} <=> $b->{ns} } map { @{$_->{list}} } grep { $_->{event} == 0 } map { @{$_->{entries}} } @{$d->{relations}};
	(@l > 1000 && @l < 40000 ? "some" : scalar @l) . " " . $l[-1]{value}')" \
	"some $(awk -F, '$9 == "EV_A" { v = $10 } END { print v }' "$tmp/readings.csv")"

# The tree of a machine with 60,000 objects alone would exceed a page.
mkdir "$tmp/wide"
"$B/tests/long/many-stores" "$tmp/wide" 0 1 40000 1 1000 >"$tmp/sums"
run wide "$sspapi" report -o "$tmp/wide.html" "$tmp/wide/s000000.sspapi"
sed -n '/id="data"/,/^<\/script>/p' "$tmp/wide.html" | sed '1d;$d' >"$tmp/wide.json"
is "a machine too large for a page: without its tree, with the rows" "$(status_of wide) $(json \
	"$tmp/wide.json" '@{$d->{topology}{components}} . " $d->{part}{cpus} " .
	join ",", map { scalar @{$_->{rows}} } @{$d->{levels}}')" "0 1 40000 4,1,1,1"

# Without ranks: processes. Rows per CPU while the program ran, if this machine can count them.
SSPAPI_OUTPUT=$tmp/other1.sspapi run_shim other "$scenes/one" -n 400
SSPAPI_OUTPUT=$tmp/other2.sspapi run_shim other "$scenes/one"
"$sspapi" report -o "$tmp/others.html" "$tmp/other1.sspapi" "$tmp/other2.sspapi"
"$sspapi" stat -q -I 5 -e page-faults,task-clock -o "$tmp/rows.html" \
	sh -c 'i=0; while [ $i -lt 60 ]; do "$0" pages 20; i=$((i + 1)); done' \
	"$apps/counted" >/dev/null 2>"$tmp/rows.err" || rm -f "$tmp/rows.html"

# A package's energy, seen by two threads, and a metric that has the name of an event.
printf '%s\n' 'component rapl' 'event rapl:::PACKAGE_ENERGY:PACKAGE0 component=rapl units=nJ' \
	'event PAPI_TOT_INS' 'event PAPI_TOT_CYC' >"$tmp/seen.script"
printf 'EVENT,TOT_INS,DERIVED_POSTFIX,N0|N1|/|,PAPI_TOT_INS,PAPI_TOT_CYC\n' >"$tmp/seen.csv"
SSPAPI_OUTPUT=$tmp/seen.sspapi run_shim seen env FAKE_PAPI_SCRIPT="$tmp/seen.script" "$scenes/ops" \
	set=rapl:::PACKAGE_ENERGY:PACKAGE0 start show=5 read \
	beside set=rapl:::PACKAGE_ENERGY:PACKAGE0 start show=4 stop back show=7 stop \
	set=PAPI_TOT_INS,PAPI_TOT_CYC start show=6,4 stop set=PAPI_TOT_INS start show=100 stop
"$sspapi" report -m "$tmp/seen.csv" -o "$tmp/seen.html" "$tmp/seen.sspapi" 2>"$tmp/seen.err"

# A thread that moves between two readings; both CPUs are in the topology.
[ "$(nproc)" = 1 ] || {
	SSPAPI_OUTPUT=$tmp/moves.sspapi run_shim moves env SSPAPI_ATTRIBUTION=reading "$scenes/ops" \
		cpu=0 set=EV_A start show=5 read cpu=1 show=9 stop
	"$sspapi" report -o "$tmp/moves.html" "$tmp/moves.sspapi"
	# A CPU's event, and those of packages and of the machine.
	SSPAPI_OUTPUT=$tmp/kinds.sspapi run_shim kinds "$scenes/kinds"
	"$sspapi" report -o "$tmp/kinds.html" "$tmp/kinds.sspapi"
}
# A gauge over time.
mkdir "$tmp/beside"
ln -s "$fake/libpapi.so.7.0" "$tmp/beside/libpapi.so"
printf '%s\n' 'component nvml keeps_on_start=1' 'event nvml:::A:device_0:power component=nvml units=mW' \
	'level nvml:::A:device_0:power 750' >"$tmp/script"
run gauge env LD_LIBRARY_PATH="$tmp/beside" FAKE_PAPI_SCRIPT="$tmp/script" "$sspapi" stat -I 5 \
	-e page-faults,nvml:::A:device_0:power -o "$tmp/gauge.sspapi" sleep 0.1
[ "$(status_of gauge)" != 0 ] || "$sspapi" report -o "$tmp/gauge.html" "$tmp/gauge.sspapi"

# -o
run into "$sspapi" report -o "$tmp/rank1.sspapi" "$tmp/rank1.sspapi"
is "-o never overwrites an input" "$(status_of into) $(sed "s,$tmp/,," "$tmp/into.err")" \
	"2 sspapi report: rank1.sspapi: the output file is also an input file"
run into "$sspapi" report -o "/proc/none/x.html" "$tmp/rank1.sspapi"
is "-o: a folder that cannot be made" "$(status_of into) $(wc -l <"$tmp/into.err")" "1 1"
"$sspapi" report -o "$tmp/x.csv" "$tmp/rank1.sspapi"
check "-o: by its extension" sh -c '"$1" report -f csv "$2" | cmp - "$3"' sh "$sspapi" \
	"$tmp/rank1.sspapi" "$tmp/x.csv"
is "-o: nothing else is left" "$(ls "$tmp" | grep -c part)" 0
run app "$sspapi" run -f html -- true
is "run makes no page, and names the command that does" \
	"$(status_of app) $(grep -c 'sspapi report' "$tmp/app.err")" "2 1"
run several "$B/sspapi" stat -f html,json -o "$tmp/several.html" true
case $(status_of several) in
0) is "stat: several formats have each its own extension" "$(cd "$tmp" && echo several.*)" \
	"several.err several.html several.json several.out several.status" ;;
*) result 0 "stat: several forms" "# SKIP the kernel lets nobody count here" ;;
esac

if ! command -v chromium >/dev/null; then
	skip "in Chromium" "there is no chromium (scripts/deps --page)"
else
	perl "$root/tests/lib/html.pl" "$tmp" >"$tmp/checks" 2>"$tmp/checks.err"
	status=$?
	while IFS="$(printf '\t')" read -r ok name said; do
		printf '%s\n' "$said" >"$tmp/.said"
		result "$ok" "$name"
	done <"$tmp/checks"
	cp "$tmp/checks.err" "$tmp/.said"
	result $status "Chromium came through"
fi
done_testing
