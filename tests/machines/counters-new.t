# Runs counters.t on another kernel, PAPI and libc (machine.sh), where rseq does not report moves.
machine=aarch64-new
. tests/machines/counters.t
