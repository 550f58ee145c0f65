# Checks that a failed sspapi_start leaves no event set running, that a set with changed events is
# refused, and that long lists of entries are complete and block no thread, whichever thread frees
# the relation.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
SSPAPI_OUTPUT=$tmp/dump.json "$B/tests/api-errors"
