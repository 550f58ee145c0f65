# sys-sage's recorded sequences, played as plain PAPI calls on the scripted libpapi:
# the dump's totals, and sys-sage's entries where a plain PAPI call can have made them.
. tests/lib/lib.sh
VECTORS_PRELOAD=$SHIM "$B/tests/vectors" "$tmp/dumps" tests/vectors/*.jsonl
