# Runs the sequences of 93-api-random.t, five times as long (TEST_SHORT: twice): each count
# on its own CPU, with that case's settings.
OPERATIONS=${TEST_SHORT:+800}
OPERATIONS=${OPERATIONS:-2000}
. tests/cases/93-api-random.t
