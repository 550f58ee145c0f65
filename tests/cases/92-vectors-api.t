# All sequences through the C interface, with scripted CPUs: entries, return codes, totals, values on
# each CPU and history after every operation are sys-sage's; the totals are right in all.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
SSPAPI_TOPOLOGY='synthetic:core:4 pu:2' SSPAPI_OUTPUT=$tmp/dump.json \
	"$B/tests/vectors-api" 'synthetic:core:4 pu:2' tests/vectors/*.jsonl
