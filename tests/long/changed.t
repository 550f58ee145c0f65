# The files of 64-changed.t, written before each open and read.
EACH=1
. tests/cases/64-changed.t
