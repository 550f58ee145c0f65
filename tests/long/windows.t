# The races that 46-proof.t looks for, six times as often.
[ -n "${TEST_SHORT-}" ] || WINDOWS=6
. tests/cases/46-proof.t
