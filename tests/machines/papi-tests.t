# Runs PAPI's own test programs on hardware counters: the same natively and under the shim, and a
# dump of their readings (tests/long/papi-tests). The list ends in reasonable time; ONLY=REGEX
# selects others.
machine=aarch64

# A second there is some ten here: all take 20 minutes. Left out: those of the long tests on
# software events (components, sde, validation of events that are 0 here), and those that natively
# run for more than 9 seconds there, or skip.
list='ctests/(zero|zero_attach|zero_flip|zero_fork|zero_named|zero_pthreads|zero_omp|first|low-level|reset|remove_events|derived
describe|failed_events|eventname|code2name|branches|case1|case2|exec|forkexec3|fork2|inherit|attach2|attach3|attach_validate
multiattach|multiplex1|overflow|overflow2|overflow_single_event|overflow_twoevents|overflow_pthreads
overflow_force_software|profile|sprofile|serial_hl|pthread_hl|thrspecific|shlib|johnmay2|locks_pthreads|pthrtough)
validation_tests/papi_tot_ins|ftests/(zero|first|second|accum|case1|serial_hl|zeronamed)'
list="^($(echo "$list" | tr '\n' '|' | sed 's/|$//'))\$"

guest_tests() {
	mkdir /tmp/runs /tmp/live
	BUILT=$B/tests/papi-tests PAPI_TESTS_TMP=/tmp/runs LIVE_FOLDER=/tmp/live \
		SHIM=$B/libsspapi.so MORE='' JOBS=1 PAPI_TESTS_LIMIT=12 \
		perl tests/long/papi-tests/run.pl >/mnt/rows/papi.tap 2>/mnt/rows/papi.err
}

# Build before the machine boots.
: "${B:=$(pwd -P)/build}"
build_tests() {
	case $machine in
	"$(uname -m | tr _ -)")	sh tests/long/papi-tests/build.sh "$B/tests/papi-tests" ;;
	*)	PATH=$(tests/machines/make-image $machine)/bin:$PATH CC=gcc \
		sh tests/long/papi-tests/build.sh "$B/$machine/tests/papi-tests" ;;
	esac >"$B/machines-papi-tests.log" 2>&1
}

export LIMIT="${LIMIT:-2800}"
if [ "${GUEST-}" != 1 ] && [ "${RECHECK-}" != 1 ]; then
	if [ ! -e "${PAPI_EXAMPLES:=/usr/share/doc/papi-examples/examples}/ctests/zero.c" ]; then
		echo "1..0 # SKIP no $PAPI_EXAMPLES: package papi-examples (containers leave /usr/share/doc out)"
		exit
	fi
	build_tests || { tail -n 5 "$B/machines-papi-tests.log"
	echo "Bail out! PAPI's test programs do not build"; exit 1; }
	export ONLY="${ONLY:-$list}"
fi
. tests/machines/rows.sh
if [ "${GUEST-}" = 1 ]; then
	guest_tests
else
	while read -r line; do
		case $line in
		"ok "* | "not ok "*)
			checks=$((checks + 1))
			echo "$line" | sed -E "s/ok [0-9]+/ok $checks/" ;;
		[0-9]*..[0-9]*)		ended=yes ;;
		*)			echo "$line" ;;
		esac
	done <"$out/papi.tap"
	check "all of the list ran" is_equal "${ended-} $(cat "$out/papi.err")" "yes "
	done_testing
fi
