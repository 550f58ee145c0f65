# Runs PAPI's own tools: they print the same as without the shim, and leave a dump if they counted.
. tests/lib/lib.sh
need_real_papi
command -v papi_command_line >/dev/null || skip_all "PAPI's tools are not installed (papi-tools)"

# Clock rates and addresses differ from run to run.
NORMAL='s/(MHz|Hz|KB|cycles|usec|deviation|resolution)[^:]*: *[0-9.]+.*/\1/I; s/0x[0-9a-f]+/0xN/g; s/[0-9.]+ (MHz|GHz)/N \1/'

# tool NAME ARGUMENT...: as without the shim
tool() {
	if ! command -v "$1" >/dev/null; then
		skip "$1" "not installed"
		return
	fi
	rm -f "$tmp/shim.json"
	run_native native "$@"
	run_shim shim "$@"
	check "$*: no difference" same_as_native native shim
}

tool papi_avail
tool papi_avail -e PAPI_TOT_CYC
tool papi_component_avail
tool papi_decode
plain papi_error_codes && tool papi_error_codes
tool papi_hardware_avail
tool papi_mem_info
tool papi_native_avail
tool papi_version
tool papi_xml_event_info
tool papi_event_chooser PRESET PAPI_TOT_CYC
check "papi_event_chooser: it made sets, but counted nothing: no dump, or an empty one" \
	not grep -q '"total":\[[1-9]' "$tmp/shim.json"
tool papi_command_line NO_SUCH_EVENT
MORE=${MORE:+$MORE:}$preloads/stay.so
# The number of a library's pages that one fault maps depends on what was read from the disk (57,
# then 64 in each run, in a guest).
papi_command_line perf::PAGE-FAULTS >"$tmp/first.out" 2>&1
tool papi_command_line perf::PAGE-FAULTS
# perf::PAGE-FAULTS : 	64
is "papi_command_line: not a page fault more, and the dump has what it printed" \
	"$(json "$tmp/shim.json" \
	'map { $_->{total}[0] } map { @{$_->{cpus}} } @{$d->{relations}}')" \
	"$(sed -n 's/^perf::PAGE-FAULTS :[[:space:]]*\([0-9]*\).*/\1/p' "$tmp/native.out")"

# It measures time: only its words are the same.
NORMAL='s/[0-9.]+//g'
tool papi_cost -t 1000
is "papi_cost: as many calls as it made" \
	"$(json "$tmp/shim.json" '$d->{calls}{PAPI_read_ts} >= 1000 ? "yes" : $d->{calls}')" yes
done_testing
