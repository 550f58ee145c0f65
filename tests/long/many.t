# So many threads and children that whatever one of them leaves behind would show: descriptors,
# mappings, memory, live files; and nothing hangs, nothing is lost.
. tests/lib/lib.sh
LIMIT=300
many=$B/tests/long/many
cd "$tmp" || exit 1
mkdir live
export SSPAPI_LIVE="$tmp/live"

# grew WHAT: by how much, between the first tenth and the end
grew() {
	sed -n "s/.*$1 \(-*[0-9]*\).*/\1/p" shim.err
}

for many_threads in 20000 100000; do
	run_shim shim "$many" threads $many_threads 16
	is "$many_threads threads: the program ends well" "$(status_of shim) $(grep -c '^sspapi: ' shim.err)" "0 0"
	check "$many_threads threads: the dump has what was handed out" books shim
	is "$many_threads threads: descriptors" "$(grew descriptors)" 0
	eval "kb_$many_threads=$(grew rss-kb) maps_$many_threads=$(grew maps) bytes_$many_threads=$(stat -c %s shim.json)"
	echo "# $(cat shim.err), dump $(stat -c %s shim.json) bytes"
done
# 4096 relations are kept apart: 2000 threads are in the first tenth of one, 10000 of the other.
check "100000 threads: no more memory than 20000 ($kb_20000 KB, then $kb_100000 KB)" test "$kb_100000" -le "$((kb_20000 + 1000))"
check "100000 threads: no more mappings ($maps_20000, then $maps_100000)" test "$maps_100000" -le "$((maps_20000 + 20))"
check "100000 threads: no larger dump ($bytes_20000, then $bytes_100000 bytes)" test "$bytes_100000" -le $((bytes_20000 * 11 / 10))
run_shim shim "$many" threads 6400 64
check "64 at a time, 100 times: the dump has what was handed out" books shim

SSPAPI_OUTPUT=$tmp/d/%p.json
export SSPAPI_OUTPUT
run_shim shim "$many" forks 2000
is "2000 children of a process with threads: the program ends well" "$(status_of shim) $(grep -c '^sspapi: ' shim.err)" "0 0"
check "and holds no more than it held ($(cat shim.err))" test "$(grew descriptors)" = 0 -a "$(grew maps)" -le 0
check "and no more memory ($(grew rss-kb) KB)" test "$(grew rss-kb)" -lt 500
is "a dump of each that made a set" "$(ls d | wc -l)" 1001
is "no live file is left" "$(ls live)" ""
# At its very start one thread reads the machine's topology while another forks.
said=
for i in $(seq 30); do
	run_shim shim "$many" forks 12
	said=$said$(status_of shim)$(grep '^sspapi: ' shim.err)
done
is "forked from the start, 30 times: nothing is said, nothing hangs" "$said" "$(printf '%030d' 0)"
done_testing
