# The sequences of 93-api-random.t, five times as long: each count on its own CPU, and the settings of that case.
OPERATIONS=2000
. tests/cases/93-api-random.t
