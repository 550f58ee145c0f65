# Merges thousands of stores: in time, in 64 MiB, the same bytes in groups as at once, and nothing
# lost. MANY=10000 (or 100000) for more of them; XML=bytes of each topology's text.
. tests/lib/lib.sh
: "${MANY:=2000}" "${XML:=100000}" "${SECONDS_MOST:=60}"
LIMIT=900
cd "$tmp" || exit 1
mkdir stores
many() {
	"$B/tests/long/many-stores" stores 0 "$MANY" 128 50 "$XML" | sort >sums
}
check "$MANY stores of 128 CPUs, 4 threads, 4 events" many

# (The limit is of address space, which exceeds memory.)
begin=$(date +%s)
check "merged in 64 MiB" sh -c \
	'ulimit -v 65536; find stores -name "*.sspapi" -print0 | sort -rz | xargs -0 -s 2000000 -n 100000 "$1" merge -o all.sspapi' sh "$sspapi"
took=$(($(date +%s) - begin))
echo "# $took s for $MANY"
check "in a minute" test "$took" -le "$SECONDS_MOST"

"$sspapi" report -f csv all.sspapi |
	awk -F, 'NR > 1 { n[$14] += $16; ranks[$2] = 1 } END { for (e in n) printf "%s %.0f\n", e,
	n[e]; r = 0; for (i in ranks) r++; print "ranks " r }' | sort >got
{ cat sums; echo "ranks $MANY"; } | sort >wanted
check "every count is there, of every rank" diff wanted got

begin=$(date +%s)
check "as a page" "$sspapi" report -o all.html all.sspapi
check "of 5 MB at most" test "$(wc -c <all.html)" -le 5000000
took=$(($(date +%s) - begin))
echo "# $took s, $(wc -c <all.html) bytes"
check "in a minute" test "$took" -le "$SECONDS_MOST"
rm all.html

# In groups of 100, and then the groups: by node and then by job.
mkdir groups
check "in groups" sh -c 'find stores -name "*.sspapi" | sort | xargs -n "$2" sh -c "ulimit -v 65536; exec \"\$0\" merge -o groups/\$\$.sspapi \"\$@\"" "$1"' sh "$sspapi" "$((MANY / 20))"
check "(there are 20)" test "$(find groups -name '*.sspapi' | wc -l)" -ge 20
check "the groups in 64 MiB" sh -c 'ulimit -v 65536; "$1" merge -o grouped.sspapi groups/*' \
	sh "$sspapi"
check "the same bytes" cmp all.sspapi grouped.sspapi
rm -rf groups grouped.sspapi

check "the stores of 20,000 ranks from a real one, in groups, and nothing lost" \
	"$root/scripts/scale" "$B" 20000

# One level at a time is small; SQL engines read the tidy CSV.
"$sspapi" report -f csv --per-package all.sspapi >package.csv
is "a row an event, machine and package" "$(sed 1d package.csv | wc -l)" 400
if command -v sqlite3 >/dev/null; then
	"$sspapi" report -f csv all.sspapi >all.csv
	sqlite3 :memory: '.mode csv' '.import all.csv run' \
		"select host, package, event, sum(total), sum(exact) from run
		group by host, package, event" | tr -d '\r' | LC_ALL=C sort >sql
	sed 1d package.csv | awk -F, '{ print $1 "," $13 "," $14 "," $16 "," $17 }' |
		LC_ALL=C sort >got
	check "sqlite3 on the tidy CSV: report's sums by package" diff sql got
	# npm install --prefix FOLDER @duckdb/node-api; DUCKDB=FOLDER
	if [ -n "${DUCKDB-}" ]; then
		cat >duck.js <<'END'
const { DuckDBInstance } = require(process.env.DUCKDB + '/node_modules/@duckdb/node-api');
(async () => {
	const c = await (await DuckDBInstance.create(':memory:')).connect();
	const r = await c.runAndReadAll("select host, package, event, sum(total), sum(exact) from read_csv('all.csv') group by all");
	for (const row of r.getRows()) console.log(row.join(','));
})();
END
		node duck.js | LC_ALL=C sort >duck
		check "DuckDB as well" diff duck got
	else
		skip "DuckDB" "DUCKDB does not name a folder with it"
	fi
else
	skip "SQL" "no sqlite3 (scripts/deps --long)"
fi
done_testing
