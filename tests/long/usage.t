# The threads of 12-usage.t, 5000 of them.
USAGE=${TEST_SHORT:+1000}
USAGE=${USAGE:-5000}
. tests/cases/12-usage.t
