# The same as counters.t, where rseq does not tell of moves, on another kernel, PAPI and libc (machine.sh).
machine=aarch64-new
. tests/machines/counters.t
