# Runs the sequences of 93-api-random.t, five times as long: each count on its own CPU, with that
# case's settings.
OPERATIONS=2000
. tests/cases/93-api-random.t
