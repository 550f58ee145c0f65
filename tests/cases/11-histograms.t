# Compares the hits of PAPI_profil's and PAPI_sprofil's histograms with the program's buckets, at
# the code that was hit. A line says so if buckets are not numbers of hits. The program sees no
# difference.
. tests/lib/lib.sh
need_real_papi
run_native native "$apps/histograms" 64
[ "$(status_of native)" != 77 ] || skip_all "$(tail -n 1 "$tmp/native.err")"

# Prints the hits of each function (they are 4096 bytes apart), and of all.
shown() {
	json "$1" 'my %n; my $all = 0;
		for my $o (map { @{$_->{overflows}} } @{$d->{relations}}) {
			$all += $o->{count};
			print "on a CPU\n" if defined $o->{cpu};
			$n{hex($_->{offset}) >> 12} += $_->{count} for @{$o->{addresses}};
		}
		join " ", (map { $n{$_} } sort { $a <=> $b } keys %n), $all'
}
hits() {
	awk '$1 == "hits" && $3 { printf "%d ", $3; all += $3 } END { print all + 0 }' "$1"
}

for how in 16 32 64 sprofil cleared removed; do
	run_native native "$apps/histograms" $how
	run_shim shim "$apps/histograms" $how
	check "$how: the program sees no difference" same_as_native native shim
	is "$how: hits per function, and in all" "$(shown "$tmp/shim.json")" \
		"$(hits "$tmp/shim.out")"
	check "$how: the program was hit" grep -q 'hits near_one [1-9]' "$tmp/shim.out"
done
run_shim shim "$apps/histograms" weighted
is "weighted: no hits are shown" "$(shown "$tmp/shim.json")" 0
check "weighted: a line says so" grep -q 'buckets do not count hits' "$tmp/shim.json"
SSPAPI_OUTPUT=$tmp/shim.txt run_shim text "$apps/histograms" 64
check "the text names the functions" grep -q 'histogram of PAPI_profil: 100 hits for PAGE-FAULTS' \
	"$tmp/shim.txt"
SSPAPI_OUTPUT=$tmp/shim.sspapi run_shim lines "$apps/histograms" 64
line=$(grep -n '\] = 1;' "$root/tests/apps/histograms.c" | sed 's/:.*//;q')
"$sspapi" report "$tmp/shim.sspapi" >"$tmp/lines"
check "the report names their lines" grep -qE "in near_one:($((line - 1))|$line) [0-9]" "$tmp/lines"
done_testing
