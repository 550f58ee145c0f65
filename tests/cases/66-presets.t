# Checks that report -m computes the same from the counts of a derived preset's parts as PAPI does,
# for every kind of derivation. (On hardware counters and by PAPI's own tables:
# tests/machines/counters.t.)
. tests/lib/lib.sh
need_real_papi

{ grep '^CPU,' "$root/tests/software-presets.csv" && cat <<'END'; } >"$tmp/table.csv"
PRESET,PAPI_L1_TCM,DERIVED_ADD,perf::MINOR-FAULTS,perf::MAJOR-FAULTS
PRESET,PAPI_L2_TCM,DERIVED_SUB,perf::TASK-CLOCK,perf::PAGE-FAULTS,perf::MAJOR-FAULTS
PRESET,PAPI_L3_TCM,DERIVED_POSTFIX,N0|N1|+|2|*|,perf::MINOR-FAULTS,perf::TASK-CLOCK
PRESET,PAPI_TLB_TL,DERIVED_INFIX,(N0-N1)*3,perf::TASK-CLOCK,perf::PAGE-FAULTS
PRESET,PAPI_BR_PRC,DERIVED_CMPD,perf::PAGE-FAULTS,perf::TASK-CLOCK
PRESET,PAPI_L2_TCA,DERIVED_POSTFIX,N0|1000|*|N1|/|,perf::TASK-CLOCK,perf::PAGE-FAULTS
PRESET,PAPI_LST_INS,DERIVED_PS,perf::TASK-CLOCK,perf::PAGE-FAULTS
PRESET,PAPI_FP_OPS,DERIVED_ADD_PS,perf::TASK-CLOCK,perf::PAGE-FAULTS,perf::MINOR-FAULTS
END
presets=$(sed -n 's/^PRESET,\([^,]*\).*/\1/p' "$tmp/table.csv")
sed 's/^PRESET,PAPI_/EVENT,MINE_/' "$tmp/table.csv" >"$tmp/mine.csv"
# shellcheck disable=SC2086 # words
SSPAPI_OUTPUT="$tmp/counted.sspapi" PAPI_CSV_EVENT_FILE="$tmp/table.csv" run_shim \
	counted "$apps/migration" -a 700 -b 500 $presets \
	perf::MINOR-FAULTS perf::MAJOR-FAULTS perf::PAGE-FAULTS perf::TASK-CLOCK
is "a set of presets and their parts" \
	"$(status_of counted) $(grep -c ' event=PAPI_' "$tmp/counted.out")" "0 16"
run mine "$B/sspapi" report -f json -m "$tmp/mine.csv" "$tmp/counted.sspapi"
is "a report by the same table" "$(status_of mine)$(cat "$tmp/mine.err")" 0
check "all eight have PAPI's values, per CPU and in all" perl tests/lib/derived.pl "$tmp/mine.out" 8

# PAPI opens all parts of DERIVED_CMPD, and returns the first.
SSPAPI_OUTPUT="$tmp/first.json" PAPI_CSV_EVENT_FILE="$tmp/table.csv" SSPAPI_ATTRIBUTION=exact \
	run_shim first "$apps/migration" -a 700 -b 500 PAPI_BR_PRC
is "by the first one it is proven" \
	"$(json "$tmp/first.json" \
	'map { "@{$_->{total}} @{$_->{exact}}" } @{$d->{relations}[0]{cpus}}' | paste -sd,)" \
	"700 700,500 500"

# IPC is in the text unrequested if both events were counted; even a small one has its column.
SSPAPI_OUTPUT="$tmp/ipc.sspapi" PAPI_CSV_EVENT_FILE="$root/tests/software-presets.csv" run_shim \
	ipc "$apps/migration" -a 700 -b 500 \
	PAPI_TOT_INS PAPI_TOT_CYC
run text "$B/sspapi" report "$tmp/ipc.sspapi"
check "IPC, where instructions and cycles were counted" grep -qE '^CPU +TOT_INS +TOT_CYC +share +IPC$' "$tmp/text.out"
# Its row ends below the heading; whether the rows have a margin for marks depends on what was proven.
check "in its own column" awk '/TOT_CYC +share +IPC$/ { n = length } /^[~ ]*CPU 0 / { ok = length == n && /  [0-9][0-9.]*(e-[0-9]+)?$/ } { print } END { exit !ok }' "$tmp/text.out"
"$B/sspapi" report "$tmp/counted.sspapi" >"$tmp/text.out"
check "otherwise not" sh -c "! grep -q IPC '$tmp/text.out'"
done_testing
