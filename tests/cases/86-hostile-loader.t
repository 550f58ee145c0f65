# Others in the loader: auditors, and wrappers of PAPI before ours.
. tests/lib/lib.sh

# ---- LD_AUDIT, with the exit of every call through a PLT ---------------------------------

audit=$preloads/audit.so
if case $SHIM in *:*) false ;; esac; then
	run native env LD_AUDIT="$audit" "$scenes/one"
	run shim env LD_AUDIT="$audit" LD_PRELOAD="$SHIM" SSPAPI_OUTPUT="$tmp/shim.json" "$scenes/one"
	is "LD_AUDIT: (the program runs with it)" "$(status_of native) $(grep -c audit "$tmp/native.err")" "0 0"
	check "LD_AUDIT: the program sees no difference" same_as_native native shim
	check "LD_AUDIT: the dump has what was handed out" books shim
	run shim env LD_AUDIT="$audit" LD_PRELOAD="$SHIM" SSPAPI_DISABLE=1 SSPAPI_OUTPUT="$tmp/off.json" "$scenes/one"
	check "LD_AUDIT, SSPAPI_DISABLE=1: nor then" same_as_native native shim
	run native env LD_AUDIT="$audit" LD_LIBRARY_PATH="$fake" "$apps/plugin-pair" "$scenes/plugin-7.0.so"
	run shim env LD_AUDIT="$audit" LD_PRELOAD="$SHIM" LD_LIBRARY_PATH="$fake" SSPAPI_OUTPUT="$tmp/shim.json" \
		"$apps/plugin-pair" "$scenes/plugin-7.0.so"
	check "LD_AUDIT, a plugin found by dlsym: the program sees no difference" same_as_native native shim
	check "LD_AUDIT, a plugin: the dump has what was handed out" books shim
else
	skip "LD_AUDIT" "a sanitizer's run time crashes under an auditor"
fi
done_testing
