# Combines all settings: the long form of tests/cases/94-stress.t.
if [ -n "${TEST_SHORT-}" ]; then
	echo "1..0 # SKIP in short form make check has it"
	exit 0
fi
STRESS_ALL=1
. tests/cases/94-stress.t
