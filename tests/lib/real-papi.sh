# shellcheck shell=sh disable=SC2034 # for the scripts that source it
# real-papi.sh: finds what this machine needs to count with real PAPI.
# Source it from the root of the repository, after make:
#
#	. tests/lib/real-papi.sh
#	[ "$REAL_PAPI" = yes ] || skip "$PAPI_HOW"
#	LD_PRELOAD=build/libsspapi.so${REAL_PAPI_PRELOAD:+:$REAL_PAPI_PRELOAD} ./program
#
# Sets	REAL_PAPI		yes, or no: this machine cannot count
#	REAL_PAPI_HARDWARE	yes, or no: only the kernel's software events
#	REAL_PAPI_PRELOAD	objects that a PAPI program must preload, separated by colons
#	REAL_PAPI_HW2SW		one more for attach, CPU_ATTACH, inherit, multiplex,
#				domain; empty with hardware counters
#	REAL_PAPI_EVENTS	two events that a reader understands
#	REAL_PAPI_MEND		if libpfm4 does not support the CPU: a fix
#	PAPI_HOW		a line that says which events are counted, and why
#	PAPI_CSV_EVENT_FILE	exported: presets on software events; unset with hardware
# Reads	REAL_PAPI_BUILD		the build folder, default build
#	REAL_PAPI_SOFTWARE	1: software events despite hardware counters,
#				so that numbers are exact on every machine

# Absolute, because programs change their working directory.
real_papi_root=$(pwd -P)
case ${REAL_PAPI_BUILD:=build} in
/*)	real_papi_tests=$REAL_PAPI_BUILD/tests ;;
*)	real_papi_tests=$real_papi_root/$REAL_PAPI_BUILD/tests ;;
esac

# real_papi_counts EVENT [PRELOAD]: succeeds if a PAPI program can count it. (Some VMs have counters
# that stay 0.) PRELOAD is relative, since the folder's path may have a space.
real_papi_counts() (
	cd "$real_papi_tests" 2>/dev/null &&
		LD_PRELOAD=${2-} apps/basics "$1" 2>/dev/null | grep -q '^handed .* value=[1-9]'
)

real_papi_reason() {
	if grep -q '^flags.* hypervisor' /proc/cpuinfo; then
		echo "this VM has no hardware counters"
	else
		echo "PAPI has no hardware counters here (perf_event_paranoid $(
			cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo missing))"
	fi
}

REAL_PAPI_MEND="a newer PAPI, or LIBPFM_FORCE_PMU=NAME (spr, arm_n1 ...), which takes the CPU for another: \
only that one's events are there, no perf::PAGE-FAULTS, and they count what their codes mean here"

real_papi_hardware() {
	REAL_PAPI_HARDWARE=yes
	REAL_PAPI_EVENTS="PAPI_TOT_INS PAPI_TOT_CYC"
	PAPI_HOW="hardware presets"
}

real_papi_software() {
	REAL_PAPI_PRELOAD=$1
	REAL_PAPI_HW2SW=$real_papi_tests/preload/hw2sw.so
	REAL_PAPI_EVENTS="perf::PAGE-FAULTS perf::TASK-CLOCK"
	PAPI_CSV_EVENT_FILE=$real_papi_root/tests/software-presets.csv
	export PAPI_CSV_EVENT_FILE
	PAPI_HOW="software events: $(real_papi_reason)"
	if [ "${REAL_PAPI_SOFTWARE-}" = 1 ]; then
		PAPI_HOW="software events: asked for by REAL_PAPI_SOFTWARE"
	fi
	if [ -n "$REAL_PAPI_PRELOAD" ]; then
		PAPI_HOW="$PAPI_HOW, and libpfm4 does not know the CPU (lendpmu.c lends one)"
	fi
}

# Prints why not: the last output of a program that tried.
real_papi_none() {
	REAL_PAPI=no
	if [ -x "$real_papi_tests/apps/basics" ]; then
		PAPI_HOW="PAPI cannot count here, not even page faults: $(
			LD_PRELOAD='' "$real_papi_tests/apps/basics" 2>&1 |
				tail -n 1) (perf_event_paranoid $(
			cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo missing))"
		[ -z "${LIBPFM_FORCE_PMU-}" ] ||
			PAPI_HOW="$PAPI_HOW; LIBPFM_FORCE_PMU=$LIBPFM_FORCE_PMU leaves only that PMU's events: unset it"
	else
		PAPI_HOW="$real_papi_tests/apps/basics is not built: make"
	fi
}

real_papi_decide() {
	REAL_PAPI=yes REAL_PAPI_HARDWARE=no REAL_PAPI_EVENTS=''
	REAL_PAPI_PRELOAD='' REAL_PAPI_HW2SW=''
	unset PAPI_CSV_EVENT_FILE
	set -- preload/lendpmu.so
	if [ "${REAL_PAPI_SOFTWARE-}" != 1 ] && real_papi_counts PAPI_TOT_INS; then
		real_papi_hardware
	elif real_papi_counts perf::PAGE-FAULTS; then
		real_papi_software ''
	elif real_papi_counts perf::PAGE-FAULTS "$1"; then
		real_papi_software "$real_papi_tests/$1"
	else
		real_papi_none
	fi
}

real_papi_decide
