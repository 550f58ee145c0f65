# Tests scripts/sspapi.py: the same rows from a store, a CSV and a JSON dump; clear errors; pandas
# if it is installed.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
command -v python3 >/dev/null || skip_all "there is no python3"
PYTHONPATH=$root/scripts PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
cd "$tmp" || exit 1

cat >same.py <<'END'
import sys, sspapi
def rows(path):
    return sorted(map(str, sspapi.read(path, command=sys.argv[1])))
for base in sys.argv[2:]:
    of = [rows(base + end) for end in (".sspapi", ".csv", ".json")]
    print(base, len(of[0]) > 0, of[0] == of[1], of[1] == of[2])
END
# dumps NAME: makes the other two from a store
dumps() {
	"$sspapi" report -f csv "$1.sspapi" >"$1.csv" &&
		"$sspapi" report -f json "$1.sspapi" >"$1.json"
}
# A process and a merged run with gauges, bits, fractions, several kinds of places and call sites
# (tests/stores).
for kind in process merged; do
	newest=$(ls "$root"/tests/stores/v*-"$kind".sspapi.gz | sort -V | tail -1)
	gunzip -c "$newest" >"$kind.sspapi"
	dumps "$kind"
done
is "a store, CSV and JSON have the same rows" "$(python3 same.py "$sspapi" process merged 2>&1 |
	paste -sd,)" \
	"process True True True,merged True True True"
if [ "$REAL_PAPI" = yes ]; then
	run counted env LD_PRELOAD="$B/libsspapi.so${REAL_PAPI_PRELOAD:+:$REAL_PAPI_PRELOAD}" \
		SSPAPI_OUTPUT="$tmp/counted" \
		SSPAPI_FORMAT=store,csv,json "$apps/basics" perf::PAGE-FAULTS
	is "of a program that has just counted, as it wrote them itself" \
		"$(python3 same.py "$sspapi" counted 2>&1)" "counted True True True"
fi

cat >kinds.py <<'END'
import sys, sspapi
rows = sspapi.read("process.csv")
print(list(rows[0]) == list(sspapi.COLUMNS), all(type(r["cpu"]) in (int, type(None)) for r in rows),
      any(type(r["total"]) is float for r in rows), any(r["exact"] is None for r in rows))
print(len(sspapi.read("process.csv", "process.json")) == 2 * len(rows),
      len(sspapi.read("process.sspapi", "merged.csv", command=sys.argv[1])) == len(rows) + len(sspapi.read("merged.csv")))
END
is "types, and several files" "$(python3 kinds.py "$sspapi" 2>&1 | paste -sd' ')" \
	"True True True True True True"

# says WORDS CODE
says() {
	python3 -c "import sspapi; $2" >says.out 2>&1
	check "$1" grep -qE "$1" says.out
}
echo nothing >text.txt
echo '{"format": "other"}' >other.json
echo '{"format": "sspapi-dump", "format_version": 99}' >newer.json
says 'FileNotFoundError.*none.csv' 'sspapi.read("none.csv")'
says 'ValueError: .*text.txt: a text, not a store' "sspapi.read('text.txt', command='$sspapi')"
says 'ValueError: other.json: no dump of sspapi' 'sspapi.read("other.json")'
says 'ValueError: newer.json: a dump of format 99' 'sspapi.read("newer.json")'
# Only the standard library; and the system's packages if the first python in PATH lacks them.
python3 -S -c 'import sspapi; sspapi.frame("process.csv")' >says.out 2>&1
check "without pandas: an ImportError that says so" \
	grep -q 'ImportError: sspapi.frame needs pandas' says.out
is "and read() needs nothing" "$(python3 -S \
	-c 'import sspapi; print(len(sspapi.read("process.csv")) > 0)' 2>&1)" True
pandas=
for python in python3 /usr/bin/python3; do
	[ -n "$pandas" ] || ! $python -c 'import pandas' 2>/dev/null || pandas=$python
done
if [ -n "$pandas" ]; then
	is "pandas: the same numbers" "$($pandas -c 'import sspapi
table = sspapi.frame("process.csv"); rows = sspapi.read("process.csv")
print(len(table) == len(rows), list(table.columns) == list(sspapi.COLUMNS),
      int(table["readings"].sum()) == sum(r["readings"] for r in rows), table["cpu"].dtype)' \
      2>&1)" "True True True Int64"
else
	skip "pandas: the same numbers" "no python3 here has pandas"
fi
done_testing
