# Checks that a process without PAPI calls writes nothing, prints nothing, and contains nothing of
# sspapi but the library.
. tests/lib/lib.sh
mkdir "$tmp/empty"
cd "$tmp/empty" || exit 1

SSPAPI_OUTPUT=$tmp/empty/%p.json SSPAPI_VERBOSE=2
export SSPAPI_OUTPUT SSPAPI_VERBOSE
run_native native "$apps/nopapi"
run_shim shim "$apps/nopapi"
check "the program sees no difference" same_as_native native shim

# Settings that are invalid do not matter here.
run shim env LD_PRELOAD="$SHIM" SSPAPI_FORMAT=xml SSPAPI_CALLSITES=many \
	SSPAPI_TOPOLOGY=/dev/null/such "$apps/nopapi"
check "nor with invalid settings" same_as_native native shim

run_native native sh -c 'echo a b | tr a-z A-Z | while read -r x; do echo "$x"; (exit 3); done; exit 4'
run_shim shim sh -c 'echo a b | tr a-z A-Z | while read -r x; do echo "$x"; (exit 3); done; exit 4'
check "nor a shell and its pipes" same_as_native native shim

# Compares what a process sees of itself.
run_native native ls /proc/self/fd
run_shim shim ls /proc/self/fd
check "no descriptor more" same_as_native native shim
run_shim shim cat /proc/self/maps
check "the library is there (or the next one could not fail)" grep -q libsspapi.so "$tmp/shim.out"
check "hwloc and the topology library are not" \
	not grep -E 'libhwloc|libsspapi-topo|/dev/shm|memfd' "$tmp/shim.out"
run_native native perl -e 'print `ls /proc/$$/task | wc -l`'
run_shim shim perl -e 'print `ls /proc/$$/task | wc -l`'
check "no thread more" same_as_native native shim
run_native native grep '^Sig[BIC]' /proc/self/status
run_shim shim grep '^Sig[BIC]' /proc/self/status
plain "no signal handler more" && check "no signal handler more" same_as_native native shim

# PAPI is linked, but not called before the end (usage, --help ...).
run_shim shim "$scenes/one" -Z -n 0 -C /dev/null/such
is "a program that is linked to PAPI but ends before it calls it" \
	"$(status_of shim) $(lines_of shim)" "1 "

is "nothing was written" "$(ls -A "$tmp/empty")" ""
# (A killed process of another case may have had this shell's number long before.)
# shellcheck disable=SC2016
run_shim shim sh -c 'find /dev/shm -maxdepth 1 -name "sspapi.*.$$.*.live" -newer "$1" | wc -l' \
	sh "$tmp"
is "nor in /dev/shm" "$(cat "$tmp/shim.out")" 0

run_shim shim env SSPAPI_VERBOSE=1 "$scenes/one"
is "(one that does call PAPI writes one file)" "$(ls -A "$tmp/empty" | wc -l)" 1
done_testing
