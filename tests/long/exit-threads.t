# Runs 86-exit-threads.t 16 times each.
ENDING=${TEST_SHORT:+8}
ENDING=${ENDING:-16}
. tests/cases/86-exit-threads.t
