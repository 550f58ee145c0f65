# shellcheck shell=sh disable=SC1091,SC2154 # run from the root; variables of lib.sh
# PAPI's own test programs have the same result with and without the shim: all of Debian's
# papi-examples that build here, one per line. Those that do not build are listed at the end.
#
#	ONLY='ctests/zero' sh tests/long/papi-tests.t	some of them, by a regex
#	KEEP=1						keeps the folders of the runs
. tests/lib/lib.sh
examples=${PAPI_EXAMPLES:-/usr/share/doc/papi-examples/examples}
[ -e "$examples/ctests/zero.c" ] ||
	skip_all "no $examples: package papi-examples (containers leave /usr/share/doc out)"
[ -z "${SANITIZE-}" ] || skip_all "too slow with sanitizers"
need_real_papi

mkdir -p "$B/tests"
sh tests/long/papi-tests/build.sh "$B/tests/papi-tests" >"$tmp/build" 2>&1 || {
	sed 's/^/# /' "$tmp/build"
	echo "Bail out! PAPI's test programs do not build"
	exit 1
}
# Test a copy: the build may change meanwhile.
mkdir "$tmp/runs" "$tmp/lib"
cp "$B"/libsspapi*.so "$tmp/lib"
# Both use the CPU lines.
grep '^CPU,' tests/software-presets.csv |
	cat - tests/long/papi-tests/presets.csv >"$tmp/presets.csv"
live=$(mktemp -d /dev/shm/sspapi-case.XXXXXX 2>/dev/null) || { live=$tmp/live && mkdir "$live"; }
if [ -n "${KEEP-}" ]; then
	echo "# kept: $tmp/runs, $live"
	trap - EXIT
else
	trap 'chmod -R u+rwx "$tmp" 2>/dev/null; rm -rf "$tmp" "$live"' EXIT
fi

echo "# $PAPI_HOW"
BUILT=$B/tests/papi-tests PAPI_TESTS_TMP=$tmp/runs LIVE_FOLDER=$live SHIM=$tmp/lib/libsspapi.so \
	MORE=${MORE:+$MORE:}$REAL_PAPI_HW2SW PRESETS=$tmp/presets.csv \
	FEW_PRESETS=$root/tests/software-presets.csv \
	perl tests/long/papi-tests/run.pl
status=$?
echo "# $(wc -l <"$B/tests/papi-tests/programs") programs build; these do not:"
sed 's/^/#   /' "$B/tests/papi-tests/not-built"
exit $status
