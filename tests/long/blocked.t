# The calls of 87-blocked.t a thousand times each.
BLOCKED=${TEST_SHORT:+100}
BLOCKED=${BLOCKED:-1000}
. tests/cases/87-blocked.t
