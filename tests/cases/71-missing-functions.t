# Runs a libpapi that lacks a function which sspapi calls itself: the program does not notice, and
# its counts are attributed, or the dump says how many are not.
. tests/lib/lib.sh
libpapi=$fake/symbolic/libpapi.so.7.0
mkdir "$tmp/lib"
LD_LIBRARY_PATH=$tmp/lib
export LD_LIBRARY_PATH

# without FUNCTION: makes $tmp/lib, with the function under another name
without() {
	perl -0777pe "s/\\0$1\\0/\\0X${1#P}\\0/" "$libpapi" >"$tmp/lib/libpapi.so.7.0"
}

for function in PAPI_is_initialized PAPI_state PAPI_event_code_to_name PAPI_get_event_info \
	PAPI_get_event_component \
	PAPI_get_eventset_component PAPI_get_component_info PAPI_get_opt PAPI_accum \
	PAPI_num_events PAPI_list_events; do
	rm -f "$tmp/shim.json"
	without $function
	check "(it lacks $function)" not cmp -s "$libpapi" "$tmp/lib/libpapi.so.7.0"
	run_native native "$scenes/one"
	run_shim shim "$scenes/one"
	check "no $function: the program sees no difference" same_as_native native shim
	case $function in
	PAPI_num_events|PAPI_list_events)
		is "no $function: a note says what is not attributed" \
			"$(json "$tmp/shim.json" '$d->{dropped}{readings}')" 2
		check "no $function: in a note of JSON" json "$tmp/shim.json" \
			'grep({ $_ eq "2 readings not recorded: their counts are missing" } @{$d->{notes}}) == 1 or die "@{$d->{notes}}"'
		SSPAPI_OUTPUT=$tmp/shim.txt run_shim text "$scenes/one"
		check "no $function: also in the text, with the reason" \
			sh -c 'tr -s "\n " " " <"$1" | grep -q "Nothing to show: .*could not store"' - "$tmp/shim.txt"
		;;
	*)	check "no $function: the dump has what PAPI returned" has_returned shim ;;
	esac
done

# Only small pieces of memory, as at the end of an address space: there is no memory for a set's
# record.
if plain "no record of a set"; then
	rm -f "$tmp/shim.json"
	LD_LIBRARY_PATH=$fake
	run_native native "$scenes/one"
	MORE=$preloads/faults.so
	run_shim shim env FAULT=large:131072 "$scenes/one"
	check "no record of a set: one line says it" said shim \
		"no room for the record of an event set"
	sed -i '/^sspapi: /d' "$tmp/shim.err"
	check "no record of a set: the program sees no difference" same_as_native native shim
	is "no record of a set: a note says what is not attributed" \
		"$(json "$tmp/shim.json" '$d->{dropped}{readings}')" 2
fi
done_testing
