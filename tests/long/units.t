# Runs two unit tests completely: killed at each instruction of a fold; handlers at each 11th
# instruction of a call.
. tests/lib/lib.sh
for unit in t-crash t-records-handlers; do
	check "$unit" env UNITS_WHOLE=1 "$B/tests/unit/$unit"
done
done_testing
