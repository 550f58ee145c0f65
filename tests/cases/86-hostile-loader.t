# Runs auditors of the loader, and wrappers of PAPI before ours.
. tests/lib/lib.sh
# The programs print the CPU on which they read: the kernel does not know where a scripted libpapi
# counted.
export SSPAPI_ATTRIBUTION=reading

# ---- LD_AUDIT, with the exit of every call through a PLT ---------------------------------

audit=$preloads/audit.so
if case $SHIM in *:*) false ;; esac; then
	run native env LD_AUDIT="$audit" "$scenes/one"
	run shim env LD_AUDIT="$audit" LD_PRELOAD="$SHIM" SSPAPI_OUTPUT="$tmp/shim.json" \
		"$scenes/one"
	is "LD_AUDIT: (the program runs with it)" \
		"$(status_of native) $(grep -c audit "$tmp/native.err")" "0 0"
	check "LD_AUDIT: the program sees no difference" same_as_native native shim
	check "LD_AUDIT: the dump has what PAPI returned" has_returned shim
	run shim env LD_AUDIT="$audit" LD_PRELOAD="$SHIM" SSPAPI_DISABLE=1 \
		SSPAPI_OUTPUT="$tmp/off.json" "$scenes/one"
	check "LD_AUDIT, SSPAPI_DISABLE=1: the same" same_as_native native shim
	run native env LD_AUDIT="$audit" LD_LIBRARY_PATH="$fake" "$apps/plugin-pair" \
		"$scenes/plugin-7.0.so"
	run shim env LD_AUDIT="$audit" LD_PRELOAD="$SHIM" LD_LIBRARY_PATH="$fake" \
		SSPAPI_OUTPUT="$tmp/shim.json" \
		"$apps/plugin-pair" "$scenes/plugin-7.0.so"
	check "LD_AUDIT, a plugin found by dlsym: the program sees no difference" \
		same_as_native native shim
	check "LD_AUDIT, a plugin: the dump has what PAPI returned" has_returned shim
else
	skip "LD_AUDIT" "a sanitizer's run time crashes under an auditor"
fi

# ---- valgrind ----------------------------------------------------------------------------

if plain "valgrind" && command -v valgrind >/dev/null; then
	run shim valgrind -q --error-exitcode=9 --trace-children=yes env LD_PRELOAD="$SHIM" \
		SSPAPI_OUTPUT="$tmp/grind" \
		SSPAPI_FORMAT=json,csv,text,store "$scenes/one"
	is "valgrind, each format: it finds nothing" \
		"$(status_of shim) $(grep -v '^one: to stderr' "$tmp/shim.err") $(ls "$tmp" |
		grep -c '^grind')" "0  4"
fi

# ---- wrappers of PAPI before ours ----------------------------------------------------------

accums="$scenes/ops set=EV_A show=0 start show=1000 accum show=111 accum stop"	# prints nothing
handed_out() {
	case $* in "$accums") is_equal \
		"$(json "$tmp/shim.json" \
		'map { @{$_->{total}} } map { @{$_->{cpus}} } @{$d->{relations}}')" \
		1111 ;; *) has_returned shim ;; esac
}

# behind LABEL PROGRAM...: calls that PAPI makes itself return into the wrapper
behind() {
	behind_label=$1
	shift
	run native env LD_PRELOAD="$front${real:+:$real}" "$@"
	run shim env LD_PRELOAD="$front:$SHIM${real:+:$real}" SSPAPI_OUTPUT="$tmp/shim.json" "$@"
	is "$behind_label: (it runs)" "$(status_of native)" 0
	check "$behind_label: the program sees no difference" same_as_native native shim
	check "$behind_label: the dump has what PAPI returned" handed_out "$@"
	is "$behind_label: and names the wrapper" \
		"$(json "$tmp/shim.json" 'grep { /come through/ } @{$d->{notes}}' |
		grep -c front.so)" 1
}
front=$preloads/front.so real=''
if case $SHIM in *:*) false ;; esac; then
	# shellcheck disable=SC2086 # words
	behind "a wrapper before ours" $accums
	behind "a wrapper before ours, one" "$scenes/one"
	behind "a wrapper before ours, Fortran" "$scenes/spellings"
	behind "a wrapper before ours, PAPI 5.7's high level" "$scenes/high5-5.7"
	for mode in residency exact; do
		SSPAPI_ATTRIBUTION=$mode
		# shellcheck disable=SC2086
		behind "a wrapper before ours, $mode" $accums
	done
	SSPAPI_ATTRIBUTION=reading
	# shellcheck disable=SC2086
	run shim env LD_AUDIT="$audit" LD_PRELOAD="$SHIM" SSPAPI_OUTPUT="$tmp/shim.json" $accums
	# shellcheck disable=SC2086
	check "LD_AUDIT: the dump has what accum returned" handed_out $accums
	# Real PAPI's own accum calls reset.
	REAL_PAPI_BUILD=$B REAL_PAPI_SOFTWARE=1
	# shellcheck disable=SC1091
	. tests/lib/real-papi.sh
	if [ "$REAL_PAPI" = yes ]; then
		real=$REAL_PAPI_PRELOAD
		behind "a wrapper before ours, real PAPI" "$apps/basics"
	else
		skip "a wrapper before ours, real PAPI" "$PAPI_HOW"
	fi
else
	skip "a wrapper before ours" "a sanitizer's run time wants to be first in LD_PRELOAD"
fi
done_testing
