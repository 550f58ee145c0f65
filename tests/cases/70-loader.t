# Tests all ways to load a libpapi into a process, and other wrappers of it.
. tests/lib/lib.sh

# both LABEL PROGRAM...: as without the shim, and attributed
both() {
	label=$1
	shift
	rm -f "$tmp/shim.json"
	run_native native "$@"
	run_shim shim "$@"
	check "$label: the program sees no difference" same_as_native native shim
	check "$label: the dump has what PAPI returned" has_returned shim
}

both "linked" "$scenes/one"
is "(it ran)" "$(status_of native)" 0
both "LD_BIND_NOW" env LD_BIND_NOW=1 "$scenes/one"
both "Fortran's spellings" "$scenes/spellings"
both "-Bsymbolic-functions, C" env LD_LIBRARY_PATH="$fake/symbolic" "$scenes/one"
both "-Bsymbolic-functions, Fortran" env LD_LIBRARY_PATH="$fake/symbolic" "$scenes/spellings"
is "(that libpapi was used)" "$(json "$tmp/shim.json" '$d->{papi}{library}')" \
	"$fake/symbolic/libpapi.so.7.0"

for version in 5.7 6.0 7.1 7.2; do
	both "PAPI $version" "$scenes/one-$version"
	is "PAPI $version: the dump says so" "$(json "$tmp/shim.json" '$d->{papi}{version}')" \
		"$version.0.0"
done
both "PAPI 5.7's high level" "$scenes/high5-5.7"
run_native native "$scenes/high5"
run_shim shim "$scenes/high5"
is "a weak reference that libpapi lacks: PAPI_ENOSUPP" "$(cat "$tmp/native.out" "$tmp/shim.out")" \
	"missing, but called: -18"

# ---- no PAPI ---------------------------------------------------------------------

run_native native "$apps/nolib"
run_shim shim "$apps/nolib"
check "no libpapi: dlsym finds none of it" same_as_native native shim
check "(and it reports that)" grep -q 'PAPI_library_init): .*undefined symbol' "$tmp/shim.out"
run_shim shim "$apps/nolib" call
is "no libpapi: weak references that are called fail" \
	"$(status_of shim) $(sed -n 's/^called: //p' "$tmp/shim.out")" "0 -18 -18 -18 -18"
check "no libpapi: no dump" not test -e "$tmp/shim.json.txt"

# ---- another preload --------------------------------------------------------------

other=$preloads/other.so
run native env LD_PRELOAD="$other" "$scenes/one"
run shim env LD_PRELOAD="$SHIM:$other" SSPAPI_OUTPUT="$tmp/shim.json" "$scenes/one"
check "(the other one counts)" grep -q 'other: start 1 read 1 stop 1' "$tmp/native.err"
check "another preload after ours: it is called as without the shim" same_as_native native shim
check "another preload after ours: the dump has what PAPI returned" has_returned shim
run shim env LD_PRELOAD="$other:$SHIM" SSPAPI_OUTPUT="$tmp/shim.json" "$scenes/one"
check "another preload before ours: it is called as without the shim" same_as_native native shim
check "another preload before ours: the dump has what PAPI returned" has_returned shim

# A preload that finds the real functions by a handle of libpapi gets libpapi's, not ours, which
# call it.
for noload in '' OPENS_NOLOAD=1; do
	how="a wrapper that asks for libpapi's functions by its handle${noload:+, RTLD_NOLOAD}"
	run native env $noload LD_PRELOAD="$scenes/libopens.so" "$scenes/one"
	run shim env $noload LD_PRELOAD="$SHIM:$scenes/libopens.so" SSPAPI_OUTPUT="$tmp/shim.json" \
		"$scenes/one"
	check "$how, preloaded behind: as without the shim" same_as_native native shim
	check "$how, preloaded behind: the dump has what PAPI returned" has_returned shim
	run native env $noload "$scenes/one-opens"
	run shim env $noload LD_PRELOAD="$SHIM" SSPAPI_OUTPUT="$tmp/shim.json" "$scenes/one-opens"
	check "$how, linked: as without the shim" same_as_native native shim
	check "$how, linked: the dump has what PAPI returned" has_returned shim
done
check "(it is called)" grep -q '5 calls by way of opens' "$tmp/native.out"

# ---- the first call while the loader cannot be called ---------------------------------

if plain "first called while the loader is locked"; then for where in lock handler; do
	run_native native "$scenes/held" $where
	run_shim shim "$scenes/held" $where
	is "(it runs)" "$(status_of native)" 0
	check "first called while another thread has the loader's lock, or inside malloc ($where): no difference" same_as_native native shim
done; fi

# ---- plugins -----------------------------------------------------------------------

both "a plugin" "$apps/plugin-pair" "$scenes/plugin-7.0.so"
# Nested folders, as package managers make them.
long=$tmp/$(printf '%0200d/%0200d/%0200d' 0 0 0)
mkdir -p "$long"
cp "$scenes/plugin-7.0.so" "$fake/libpapi.so.7.0" "$long"
both "a plugin with a path of 600 bytes" env LD_LIBRARY_PATH="$long" "$apps/plugin-pair" \
	"$long/plugin-7.0.so"
run_native native "$apps/plugin-pair" "$scenes/plugin-7.0.so" "$scenes/plugin-7.1.so"
run_shim shim "$apps/plugin-pair" "$scenes/plugin-7.0.so" "$scenes/plugin-7.1.so"
check "two libpapis: the program sees no difference" same_as_native native shim
grep 'papi=700' "$tmp/shim.out" >"$tmp/first.out"
cp "$tmp/shim.json" "$tmp/first.json"
check "two libpapis: the first one's counts are in the dump" has_returned first
json "$tmp/shim.json" '@{$d->{notes}}' >"$tmp/notes"
run_native native "$apps/plugin-pair" "$scenes/plugin-7.0.so" "+$scenes/plugin-7.1.so"
run_shim shim "$apps/plugin-pair" "$scenes/plugin-7.0.so" "+$scenes/plugin-7.1.so"
is "two libpapis, one opened RTLD_GLOBAL after the other's plugin: (it runs)" \
	"$(status_of native)" 0
check "the program sees no difference" same_as_native native shim
run native env LD_LIBRARY_PATH="$fake" LD_PRELOAD="$scenes/libopens.so" "$apps/plugin-pair" \
	"$scenes/plugin-7.0.so"
run shim env LD_LIBRARY_PATH="$fake" LD_PRELOAD="$SHIM:$scenes/libopens.so" \
	SSPAPI_OUTPUT="$tmp/shim.json" "$apps/plugin-pair" "$scenes/plugin-7.0.so"
check "a wrapper of PAPI preloaded after ours, and a plugin's libpapi: it is called as without the shim" same_as_native native shim
check "a wrapper of PAPI preloaded after ours, and a plugin's libpapi: attributed" has_returned shim
check "two libpapis: a note says that there is another" grep -q 'a second libpapi is in use' \
	"$tmp/notes"

# Another preload before ours, which must find a libpapi that is in no global scope.
run native env LD_LIBRARY_PATH="$fake" LD_PRELOAD="$preloads/oracle.so" \
	ORACLE="$tmp/native.handed" "$apps/plugin-pair" "$scenes/plugin-7.0.so"
run shim env LD_LIBRARY_PATH="$fake" LD_PRELOAD="$preloads/oracle.so:$SHIM" \
	ORACLE="$tmp/shim.handed" SSPAPI_OUTPUT="$tmp/shim.json" \
	"$apps/plugin-pair" "$scenes/plugin-7.0.so"
check "another preload first, and a plugin's libpapi: as without the shim" same_as_native native \
	shim
check "another preload first, and a plugin's libpapi: it receives the same counts" \
	cmp "$tmp/native.handed" "$tmp/shim.handed"
check "another preload first, and a plugin's libpapi: attributed" has_returned shim

# An object that contains libpapi.a, as python-papi's wheel does: it counts as with a separate
# libpapi, and libpapi's own calls stay inside it.
for plugin in links holds; do
	SSPAPI_OUTPUT=$tmp/$plugin.json run_shim $plugin "$apps/plugin-pair" "$scenes/lib$plugin.so"
	json "$tmp/$plugin.json" \
		'my %c = %{$d->{calls}}; (map { "$_=$c{$_}" } sort keys %c), (map { my $r = $_; "$r->{starts} $r->{resets} $r->{readings}: " .
		join ", ", map { "$_->{cpu} @{$_->{total}}" } @{$r->{cpus}} } @{$d->{relations}}), sort map { $_->{name} // () } @{$d->{callsites}}' >"$tmp/$plugin.counted"
	json "$tmp/$plugin.json" 'grep { /libpapi/ } @{$d->{notes}}' >"$tmp/$plugin.notes"
done
check "libpapi.a in the plugin: counted as with a separate libpapi" diff "$tmp/links.counted" \
	"$tmp/holds.counted"
check "(and there are counts of sets and of regions)" \
	sh -c "grep -q '^PAPI_hl_region_end=3' '$tmp/holds.counted' && grep -q '^3 3 9: ' '$tmp/holds.counted' && grep -qx part '$tmp/holds.counted'"
check "a note says how" grep -q 'libpapi is part of .*/libholds.so' "$tmp/holds.notes"

# ---- every wrapper -------------------------------------------------------------------

run_native native "$B/tests/forward/t-forward"
is "(the recorder of arguments works)" "$(status_of native)" 0
SSPAPI_OUTPUT=$tmp/forward.json run_shim shim "$B/tests/forward/t-forward"
cat "$tmp/shim.out" "$tmp/shim.err" >"$tmp/.said"
result "$(status_of shim)" "every wrapper hands on its arguments and what comes back"
done_testing
