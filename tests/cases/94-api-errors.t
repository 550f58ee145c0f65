# sspapi_start that reports an error leaves no event set running; a set whose events are others is refused; long
# lists of entries keep nobody waiting and are whole, whoever frees the relation.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
SSPAPI_OUTPUT=$tmp/dump.json "$B/tests/api-errors"
