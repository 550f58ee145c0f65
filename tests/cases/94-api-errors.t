# sspapi_start that reports an error leaves no event set running.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
SSPAPI_OUTPUT=$tmp/dump.json timeout 60 "$B/tests/api-errors"
