# SSPAPI_ATTRIBUTION: counts are attributed to CPUs when the thread moves between readings.
. tests/lib/lib.sh
. tests/lib/moves.sh

run_shim shim "$apps/moves" stays 1
is "the default is auto, and the dump says so" \
	"$(json "$tmp/shim.json" '$d->{settings}{attribution}')" auto

if plain "exact moves"; then
	moved reading sum "$apps/moves" once 1000 3000
	is "reading: all 4000 on the CPU of the reading, none proven" "$(cpus)" "4000/0 "
	moved residency split "$apps/moves" once 1000 3000
	is "residency: the dump says so" "$(json "$tmp/shim.json" '$d->{settings}{attribution}')" \
		residency
	moved residency split "$apps/moves" often 50 10 30
	moved residency exact "$apps/moves" stays 20
	for mode in exact auto; do
		moved $mode exact "$apps/moves" once 1000 3000
		is "$mode: 1000 and 3000, all proven" "$(cpus)" "1000/1000 3000/3000 "
		is "$mode: the dump says so" \
			"$(json "$tmp/shim.json" '$d->{settings}{attribution}')" $mode
		is "$mode: sspapi's own readings are not the program's" \
			"$(json "$tmp/shim.json" 'map { $_->{readings} } @{$d->{relations}}')" 1
		moved $mode exact "$apps/moves" often 200 10 30
		moved $mode exact "$apps/moves" stays 20
	done
fi
done_testing
