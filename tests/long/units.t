# Runs a unit test completely: handlers at each 11th instruction of a call.
. tests/lib/lib.sh
[ -z "${TEST_SHORT-}" ] || skip_all "short: the unit test alone has each 31st"
check t-records-handlers env UNITS_WHOLE=1 "$B/tests/unit/t-records-handlers"
done_testing
