# Programs that use sspapi.h, with real PAPI: linked to it in front of libpapi or behind, or with it preloaded;
# what they ask is right, the dump has what they were handed.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
need_real_papi

# one LABEL LD_PRELOAD PROGRAM...
one() {
	label=$1 with=$2
	shift 2
	run shim env LD_LIBRARY_PATH="$B" LD_PRELOAD="$with" SSPAPI_OUTPUT="$tmp/shim.json" "$@"
	if [ "$(status_of shim)" = 77 ]; then
		skip "$label" "$(tail -n 1 "$tmp/shim.err")"
		return
	fi
	check "$label: what it asks is right" is_equal "$(status_of shim) $(grep '^wrong' "$tmp/shim.out")" "0 "
	check "$label: the dump has what it was handed" books shim
}

for app in basics "threads 4" migration; do
	# shellcheck disable=SC2086 # words
	one "$app" "$MORE" $apps/api/$app
	# shellcheck disable=SC2086
	one "$app, behind libpapi" "$MORE" $apps/api/behind/$app
	# shellcheck disable=SC2086
	one "$app, preloaded" "$SHIM:$MORE" $apps/api/behind/$app
	SSPAPI_READINGS=permanent one "$app, all permanent" "$MORE" "$apps/api/${app%% *}"
done
MORE=${MORE:+$MORE:}$REAL_PAPI_HW2SW
one "monitor (another process)" "$MORE" "$apps/api/monitor"
one "monitor, behind libpapi" "$MORE" "$apps/api/behind/monitor"
one "monitor, preloaded" "$SHIM:$MORE" "$apps/api/monitor"
done_testing
