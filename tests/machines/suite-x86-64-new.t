# Runs tests of make check on eight CPUs where rseq does not report moves: proofs, and random
# clients.
export PROVEN_SEEDS="1" PROVEN_MODES=exact
. tests/machines/suite.sh
