# Runs real PAPI programs: they see no difference with the shim, and the dump has exactly what PAPI
# returned, on the CPU where it was counted.
. tests/lib/lib.sh
need_real_papi
light=$MORE

# both LABEL [check-handed's options --] PROGRAM...: runs it natively and under the shim
both() {
	label=$1 options=''
	shift
	while [ "${1#--}" != "$1" ]; do
		options="$options $1"
		shift
	done
	run_native native "$@"
	if [ "$(status_of native)" = 77 ]; then
		skip "$label" "$(tail -n 1 "$tmp/native.err")"
		return
	fi
	run_shim shim "$@"
	counted=$todo todo=''
	check "$label: the program sees no difference" same_as_native native shim
	todo=$counted
	# shellcheck disable=SC2086 # words
	check "$label: the dump has what PAPI returned" has_returned shim $options
}

both "migration 1000/3000" "$apps/migration" -a 1000 -b 3000
is "1000 on the first CPU, 3000 on the second" \
	"$(json "$tmp/shim.json" 'map { $_->{total}[0] }
	map { @{$_->{cpus}} } @{$d->{relations}}' | tr '\n' ' ')" "1000 3000 "
both "migration, two events" "$apps/migration" -a 7 -b 5 perf::PAGE-FAULTS perf::TASK-CLOCK
both basics "$apps/basics"
both "basics, presets" "$apps/basics" PAPI_TOT_INS PAPI_L1_TCM PAPI_L2_TCM PAPI_L3_TCM
both threads "$apps/threads" -n 8
both demo "$apps/demo"
both reinit "$apps/reinit"
NORMAL='s/cpu=[0-9]+/cpu=N/'	# it stays on the CPU where it started
both fortran "$apps/fortran"
NORMAL=''
both "dlsym local" "$apps/dlsym" local
both "dlsym global" "$apps/dlsym" global
both "dlsym default" "$apps/dlsym" default
both "plugin local" "$apps/plugin-host" local
both "plugin global" "$apps/plugin-host" global
# Four sets of one thread: on a slow machine of eight CPUs auto's budget at a thread's start does
# not suffice for the last ones.
export SSPAPI_ATTRIBUTION=exact
inside rates && both "rates" --more-events "$apps/rates"
unset SSPAPI_ATTRIBUTION
both overflow "$apps/overflow" -t 100
both "software-defined events: the process's" --no-cpu "$apps/sde"

# sspapi's data of a set must cause no page fault: no more than PAPI alone.
run_native native "$apps/creates"
run_shim shim "$apps/creates"
plain "sets made while one counts page faults" && {
	echo "# $(cat "$tmp/native.out") faults natively, $(cat "$tmp/shim.out") here"
	check "sets made while one counts page faults" test "$(cat "$tmp/shim.out")" -le \
		"$(cat "$tmp/native.out")"
}

# These programs print no readings, or only into a file.
run_native native "$apps/errors"
run_shim shim "$apps/errors"
check "errors: the program sees no difference" same_as_native native shim
run_native native "$apps/regions"
run_shim shim "$apps/regions"
regions() {
	[ "$(status_of native)" != 77 ] || { skip "$1" "PAPI 5 has others"; return 1; }
	plain "$1"
}
regions "regions: the program sees no difference" &&
	check "regions: the program sees no difference" same_as_native native shim
# The high level's set also runs between the regions, where the program prints: a fault or two.
between() {
	json "$tmp/shim.json" 'map { $_->{total}[0] } map { @{$_->{cpus}} } @{$d->{relations}}' |
		tr '\n' ' ' >"$tmp/booked"
	cat "$tmp/booked"
	read -r a b rest <"$tmp/booked"
	[ "$a" -ge 1500 ] && [ "$a" -le 1508 ] && [ "$b" -ge 2000 ] && [ "$b" -le 2008 ] &&
		[ -z "$rest" ]
}
regions "regions: the dump" && inside "regions: the dump" &&
	check "regions: the dump has 1500 pages of region a, 2000 of region b, and those of the prints" between

# Features of PAPI that need hardware counters.
MORE=${MORE:+$MORE:}$REAL_PAPI_HW2SW
both "monitor (another process)" "$apps/monitor"
both "overflow, hw2sw" "$apps/overflow" -t 100
run_native native "$apps/mpx"
if [ "$(status_of native)" = 77 ]; then
	skip "mpx" "$(tail -n 1 "$tmp/native.err")"
else
	run_shim shim "$apps/mpx"
	check "mpx: it runs as without the shim" is_equal \
		"$(status_of shim) $(wc -l <"$tmp/shim.out")" \
		"$(status_of native) $(wc -l <"$tmp/native.out")"
	check "mpx: the dump has what PAPI estimated" has_returned shim
fi

# An ordinary user, for whom perf_event_paranoid matters.
MORE=$light
as_nobody
SSPAPI_OUTPUT=$tmp/nobody/%e.json
export SSPAPI_OUTPUT
run_native native "$apps/migration"
if [ "$(status_of native)" = 0 ]; then
	run_shim shim "$apps/migration"
	cp "$tmp/nobody/migration.json" "$tmp/shim.json"
	check "an ordinary user: the program sees no difference" same_as_native native shim
	check "an ordinary user: the dump has what PAPI returned" has_returned shim
else
	skip "an ordinary user" "$(tail -n 1 "$tmp/native.err")"
fi
done_testing
