# The same sequences with SSPAPI_READINGS=permanent: each reading is kept, as sys-sage would keep it.
. tests/lib/lib.sh
VECTORS_PRELOAD=$SHIM "$B/tests/vectors" --permanent "$tmp/dumps" tests/vectors/*.jsonl
