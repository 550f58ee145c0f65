# Tests real PAPI of other versions: the cases that count with PAPI, by programs built against each.
# OTHER_PAPIS names folders made by `./configure --prefix=... && make install`, separated by colons;
# without it nothing is tested, since packages have one version only.
. tests/lib/lib.sh
[ -n "${OTHER_PAPIS-}" ] || skip_all "OTHER_PAPIS=folder:folder names other PAPIs to try"
cases="10-real-exact 11-histograms 11-overflows 15-cpu-attach 16-domains 36-permanent 37-interface 45-attribution 45-attribution-program 45-attribution-pushed 45-attribution-refused 45-attribution-user 46-proof 64-observers 64-sums 66-kinds 66-metrics 66-presets 66-sde"

IFS=:
for prefix in $OTHER_PAPIS; do
	IFS=' '
	version=$(sed -n 's/^Version: *//p' "$prefix/lib/pkgconfig/papi.pc")
	flags="-I$prefix/include -L$prefix/lib -Wl,-rpath,$prefix/lib"
	check "PAPI $version: the programs build" \
		make -s B="$tmp/$version" CC="${CC:-gcc} $flags" FC="${FC:-gfortran} $flags" \
		all fixtures
	check "PAPI $version: its table of presets, whole" \
		env PAPI_EVENTS_CSV="$prefix/share/papi/papi_events.csv" "$B/tests/unit/t-metric"
	for name in $cases; do
		B=$tmp/$version sh tests/lib/run-test "tests/cases/$name.t" >"$tmp/said" 2>&1
		check "PAPI $version: $name" not grep -q "^not ok\|^Bail\|^1\.\.0" "$tmp/said"
		grep -A6 "^not ok" "$tmp/said" | sed 's/^/# /'
	done
	rm -rf "${tmp:?}/$version"
done
done_testing
