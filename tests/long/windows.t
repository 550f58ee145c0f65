# Runs the races of 46-proof.t twelve times as often.
WINDOWS=${TEST_SHORT:+2}
WINDOWS=${WINDOWS:-12}
. tests/cases/46-proof.t
