# Runs 64-changed.t with a change before each open and read.
EACH=1
. tests/cases/64-changed.t
