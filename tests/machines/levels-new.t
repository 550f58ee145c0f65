# Runs levels.t on another kernel, PAPI and libc (machine.sh), where rseq does not report moves.
machine=x86-64-new
. tests/machines/levels.t
