# Replays sys-sage's recorded sequences on scripted CPUs, through the C interface and as plain PAPI
# calls. Entries, return codes, totals, values on each CPU and history after every operation are
# sys-sage's; the totals are right in all.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
export SSPAPI_TOPOLOGY='synthetic:core:4 pu:2' SSPAPI_OUTPUT="$tmp/dump.json"

# played NAME [OPTION [SETTING]]
played() {
	# shellcheck disable=SC2086 # words
	run vectors env ${3-} "$B/tests/vectors" ${2-} "$SSPAPI_TOPOLOGY" tests/vectors/*.jsonl
	check "$1" sh -c 'cat "$0.out" "$0.err"; [ "$(cat "$0.status") $(grep -c "^ok" "$0.out")" = "0 2" ]' "$tmp/vectors"
}
played "sspapi.h"
played "every other event a floating-point counter" -f
played "plain PAPI calls, all readings temporary" -p
played "plain PAPI calls, all readings permanent" -p SSPAPI_READINGS=permanent
done_testing
