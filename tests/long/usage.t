# Runs 12-usage.t with 5000 threads.
USAGE=${TEST_SHORT:+1000}
USAGE=${USAGE:-5000}
. tests/cases/12-usage.t
