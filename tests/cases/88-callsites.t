# Tests call sites: the counts of each piece of code, separated by the calls of PAPI around it.
. tests/lib/lib.sh
need_real_papi

# Adds up the program's "between FROM TO TOTAL" lines by the first two.
wanted() {
	awk '/^between/ { n[$1 " " $2 " " $3] += $4 } END { for (k in n) print k, n[k] }' "$1" |
		LC_ALL=C sort
}

# has_intervals NAME [CALLER]: compares the dump's intervals with the program's output; it may have jumped
# there instead of calling
has_intervals() {
	perl tests/lib/intervals.pl "$tmp/$1.json" | sed "s/<${2-none}//g" |
		LC_ALL=C sort >"$tmp/.got"
	wanted "$tmp/$1.out" | diff - "$tmp/.got"
}

# offsets NAME: prints from, to and total of each interval, by offsets in the program
offsets() {
	perl tests/lib/intervals.pl "$tmp/$1.json" offset
}

run_shim one "$apps/sites"
check "two regions, a read in between: distinguished, with names" has_intervals one
run_native native "$apps/sites"
check "the program sees no difference" same_as_native native one
is "the default is one frame" "$(json "$tmp/one.json" '$d->{settings}{callsites}')" 1
is "a frame has its module and a build id" \
	"$(json "$tmp/one.json" \
	'map { "$_->{module} " . ($_->{build_id} =~ /^[0-9a-f]{40}$/ ? 1 : 0) } @{$d->{callsites}[1]{frames}}')" "$apps/sites 1"
for frames in 1 auto; do
	run_shim pointer env SSPAPI_CALLSITES=$frames "$apps/sites" -p
	sed -i 's/one_place/one_place<by_pointer/g' "$tmp/pointer.out"
	[ $frames != 1 ] || sed -i 's/<by_pointer//g' "$tmp/pointer.out"
	check "readings and other calls from one call site, $frames frames: distinguished" \
		has_intervals pointer main
done
SSPAPI_OUTPUT=$tmp/off.json run_shim off env SSPAPI_CALLSITES=0 "$apps/sites"
is "0: none are kept" "$(json "$tmp/off.json" 'join " ",
	map({ scalar @{$_->{intervals}} } @{$d->{relations}}), scalar @{$d->{callsites}}')" "0 0"

run_native native "$apps/sites"
run_shim many env SSPAPI_CALLSITES=64 "$apps/sites"
check "more frames: the program sees no difference" same_as_native native many
is "all frames: the outermost is the program's start" \
	"$(json "$tmp/many.json" \
	'my %s; $s{$_->{frames}[-1]{symbol} // "?"}++ for @{$d->{callsites}}[1 .. 2]; keys %s')" \
	_start

# More memory is made between runs only: the first run's suffices for a plain program.
run_shim places "$apps/sites" -m
places() {
	json "$tmp/places.json" \
		'my @i = map { @{$_->{intervals}} } @{$d->{relations}}; my %at; my %cpu;
		$at{$_->{to}}++, $cpu{$_->{cpu}}++ for grep { defined $_->{to} && $_->{total}[0] } @i;
		my $none = grep { !defined $_->{to} } @i;
		my %place = map { $_->{offset} => 1 } grep { ($_->{symbol} // "") eq "reads_200" } map { $d->{callsites}[$_]{frames}[0] } keys %at;
		my $named = keys %place;
		my $sum = 0; $sum += $_->{total}[0] for @i;
		join " ", $named, 0 + keys %cpu, $none, $sum'
}
is "200 call sites in one run, on each CPU: all named, none in other" "$(places)" \
	"200 $(($(nproc) > 4 ? 4 : $(nproc))) 0 800"

# Code without frame pointers has any value in their register; following it must cause no fault.
run_native native "$apps/sites" -g
run_shim garbled env SSPAPI_CALLSITES=16 "$apps/sites" -g
check "any value in the frame register: the program sees no difference" same_as_native \
	native garbled
is "any value in the frame register: the dump has what PAPI returned" \
	"$(json "$tmp/garbled.json" \
	'my $n = 0; $n += $_->{total}[0] for map { @{$_->{cpus}} } @{$d->{relations}}; $n')" \
	"$(tail -n 1 "$tmp/garbled.out")"

# ---- programs without names ---------------------------------------------------------

strip -o "$tmp/stripped" "$apps/sites"
run_shim stripped "$tmp/stripped"
is "stripped: the same offsets" "$(offsets stripped)" "$(offsets one)"
check "and the exported names" has_intervals stripped
run_shim fixed "$apps/sites-no-pie"
check "not PIE: names that are not exported, from the program's symbol table" has_intervals fixed
check "not PIE: addr2line knows the offsets" sh -c "
	grep -o '\"offset\": \"0x[0-9a-f]*\"' '$tmp/fixed.json' | cut -d'\"' -f4 |
		while read -r at; do addr2line -f -e '$apps/sites-no-pie' \$(printf '0x%x' \$((at - 1))) | head -n 1; done | sort -u |
		tr '\n' ' ' | grep -x 'measured region_a region_b '"

SSPAPI_OUTPUT=$tmp/names.sspapi run_shim names "$apps/sites-no-pie"
"$B/sspapi" report -f json "$tmp/names.sspapi" >"$tmp/names.json"
check "report: names that are not exported" has_intervals names
line=$(grep -n 'PAPI_start' "$root/tests/apps/sites.c" | sed -n '2s/:.*//p')
check "report: file and line" grep -qE \
	"\"symbol\": \"region_b\", \"line\": \"[^\"]*sites.c:$line\"" "$tmp/names.json"
cp "$apps/sites-no-pie" "$tmp/other"
SSPAPI_OUTPUT=$tmp/other.sspapi run_shim other "$tmp/other"
cp "$apps/sites" "$tmp/other"
run report "$B/sspapi" report "$tmp/other.sspapi"
check "report: a program changed since has no lines" sh -c "
	[ \"\$(cat '$tmp/report.status')\" = 0 ] && ! grep -q 'sites.c:' '$tmp/report.out' && grep -qF \"another build id\" '$tmp/report.err'"

# ---- objects that come and go ---------------------------------------------------------

for frames in 1 2; do
	run_shim plugins env SSPAPI_CALLSITES=$frames "$apps/sites" "$apps/sites-a.so" \
		"$apps/sites-b.so" "$apps/sites-a.so" "$apps/sites-b.so"
	is "plug-ins at one address, $frames frame(s)" \
		"$(wc -l <"$tmp/plugins.err") $(sort -u "$tmp/plugins.err" | wc -l)" "4 1"
	is "each keeps its counts, loaded twice" \
		"$(perl tests/lib/intervals.pl "$tmp/plugins.json" module | sed 's/<[^ ]*//g' |
		grep -o 'sites-[ab].so [0-9]*$' | tr '\n' ' ')" \
		"sites-a.so 80 sites-b.so 80 "
done

# Killed before names could be looked up; the plug-in was loaded while the set ran.
run_native killed "$apps/sites" -k "$apps/sites-a.so"
pages=$(cat "$tmp/killed.out")
mkdir "$tmp/live"
for frames in 1 2; do
	SSPAPI_LIVE=$tmp/live SSPAPI_OUTPUT=$tmp/never.json run_shim \
		killed env SSPAPI_CALLSITES=$frames "$apps/sites" -k "$apps/sites-a.so"
	plain "killed, $frames frame(s): the pages" &&
		check "killed: the plug-in caused no page fault" is_equal \
		"$(cat "$tmp/killed.out")" "$pages"
	run recovered "$B/sspapi" recover -o "$tmp/killed.json" "$tmp"/live/*.live
	is "killed, $frames frame(s): each site has its module and build id" \
		"$(json "$tmp/killed.json" 'my %m;
		$m{($_->{module} =~ s{.*/}{}r) . " " . ($_->{build_id} =~ /^[0-9a-f]{40}$/ ? 1 : 0)}++
			for map { $_->{frames}[0] } @{$d->{callsites}}[1 .. $#{$d->{callsites}}];
			join " ", map { "$_ $m{$_}" } sort keys %m')" \
		"sites 1 4 sites-a.so 1 1"
	rm -f "$tmp"/live/* "$tmp/killed.json"
done

# ---- Fortran, the high level ------------------------------------------------------------

run_shim fortran env SSPAPI_CALLSITES=2 "$apps/fortran"
is "Fortran: the program's calls, not libpapi's, and their callers" \
	"$(json "$tmp/fortran.json" 'my %m; $m{"$_->{frames}[0]{module} " . @{$_->{frames}}}++
	for grep { $_->{frames} && @{$_->{frames}} } @{$d->{callsites}}; sort keys %m')" \
	"$apps/fortran 2"
PAPI_EVENTS=perf::PAGE-FAULTS run_shim regions env SSPAPI_FORMAT=json,text \
	PAPI_OUTPUT_DIRECTORY="$tmp" "$apps/regions"
if [ "$(status_of regions)" = 77 ]; then
	skip "high-level regions have names" "$(tail -n 1 "$tmp/regions.err")"
elif inside "high-level regions have names"; then
	is "high-level regions have names" \
		"$(json "$tmp/regions.json" 'my %n; $n{$_->{name} // ""}++ for @{$d->{callsites}};
		join " ", sort grep { length } keys %n')" "a b other"
	is "text: a row for each region, by its name, with any number of readings; and the code between them" \
		"$(sed -nE 's/^~? *([ab]|end of a → b) +([0-9,]+) .*/\1 \2/p' "$tmp/regions.txt" |
		sed 's/→ b [0-9]$/→ b/' | sort | paste -sd' ')" "$(
		awk -F'[ =]' '/^touched/ { n = $NF; printf "%s %d,%03d ", $5, n / 1000,
			n % 1000 }' "$tmp/regions.out")end of a → b"
	cat >"$tmp/nested.c" <<'EOF'
#include <papi.h>
int main(void)
{
	PAPI_hl_region_begin("outer");
	PAPI_hl_region_begin("inner");
	PAPI_hl_region_end("inner");
	PAPI_hl_region_end("outer");
}
EOF
	cc -o "$tmp/nested" "$tmp/nested.c" -lpapi
	PAPI_EVENTS=perf::PAGE-FAULTS run_shim nested env SSPAPI_FORMAT=json,text \
		PAPI_OUTPUT_DIRECTORY="$tmp" "$tmp/nested"
	is "text: for nested regions, and only for those, a note says what the outer ones exclude" \
		"$(grep -c 'high-level regions exclude the regions inside them' \
		"$tmp/nested.txt") $(grep -c 'without the regions' "$tmp/regions.txt")" "1 0"
	is "JSON: which call of its region a site is" \
		"$(json "$tmp/regions.json" 'map { $_->{name} &&
		$_->{call} ? "$_->{name} $_->{call}" : () } @{$d->{callsites}}' | sort |
		paste -sd' ')" \
		"a begin a end a read b begin b end"
fi

# ---- the formats -------------------------------------------------------------------------

run_shim views env SSPAPI_FORMAT=text,json,csv "$apps/sites"
check "CSV: a line for each interval, module+0xoffset" sh -c "
	awk -F, 'NR > 1 { print \$16 }' '$tmp/views.csv' | sort -n | tr '\n' ' ' | grep -x '20 40 500 900 ' &&
	! awk -F, 'NR > 1 { print \$8; print \$9 }' '$tmp/views.csv' | grep -vx 'sites[+]0x[0-9a-f]*'"

check "text: by call site" grep -qE '^~? ?region_b +500( |$)' "$tmp/views.txt"

done_testing
