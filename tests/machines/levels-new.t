# The same as levels.t, where rseq does not tell of moves, on another kernel, PAPI and libc (machine.sh).
machine=x86-64-new
. tests/machines/levels.t
