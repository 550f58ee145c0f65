# Makes so many threads and children that anything that one of them leaves behind would show:
# descriptors, mappings, memory, live files; nothing hangs, nothing is lost.
. tests/lib/lib.sh
LIMIT=300
many=$B/tests/long/many
cd "$tmp" || exit 1
mkdir live
export SSPAPI_LIVE="$tmp/live"

# grew WHAT: prints the growth between the first tenth and the end
grew() {
	sed -n "s/.*$1 \(-*[0-9]*\).*/\1/p" shim.err
}

more=$(bounded 100000 50000) children=$(bounded 2000 400)
for many_threads in 20000 "$more"; do
	run_shim shim "$many" threads "$many_threads" 16
	is "$many_threads threads: the program ends well" \
		"$(status_of shim) $(grep -c '^sspapi: ' shim.err)" "0 0"
	check "$many_threads threads: the dump has what PAPI returned" has_returned shim
	is "$many_threads threads: descriptors" "$(grew descriptors)" 0
	[ "$many_threads" = 20000 ] && which=few || which=many
	eval "kb_$which=$(grew rss-kb) maps_$which=$(grew maps) bytes_$which=$(stat -c %s \
		shim.json)"
	echo "# $(cat shim.err), dump $(stat -c %s shim.json) bytes"
done
# 4096 relations are kept separate: 2000 threads are in the first tenth of one, 5000 or more of the
# other.
check "$more threads: no more memory than 20000 ($kb_few KB, then $kb_many KB)" test "$kb_many" \
	-le "$((kb_few + 1000))"
check "$more threads: no more mappings ($maps_few, then $maps_many)" test "$maps_many" -le \
	"$((maps_few + 20))"
check "$more threads: no larger dump ($bytes_few, then $bytes_many bytes)" test "$bytes_many" -le \
	$((bytes_few * 11 / 10))

run_shim shim "$many" threads 6400 64
check "64 at a time, 100 times: the dump has what PAPI returned" has_returned shim

# soak NAME PROGRAM THREADS: makes threads and sets during 10 million permanent readings; after
# those nothing grows. SOAK_SECONDS=3600 runs an hour by hand. With the real PAPI the counters of
# ended threads stay until there are twice as many as had been alive: three descriptors and a page
# per thread. (96 and 21 were seen under load.)
: "${SOAK_SECONDS:=$(bounded 60 5)}" "${SOAK_READINGS:=$(bounded 10000000 1000000)}"
soak() {
	LIMIT=$((SOAK_SECONDS + 300)) SSPAPI_OUTPUT=$tmp/soak.sspapi run_shim shim \
		env SSPAPI_READINGS=permanent SSPAPI_READINGS_MAX="$SOAK_READINGS" "$2" soak \
		"$SOAK_SECONDS" "$SOAK_READINGS"
	sed 's/^/# /' shim.err
	"$B/sspapi" report -f csv soak.sspapi >soak.csv
	is "soak of $SOAK_SECONDS s, $1: the program ends well" \
		"$(status_of shim) $(grep -c '^sspapi: ' shim.err)" "0 0"
	is "soak, $1: the dump has what PAPI returned" \
		"$(awk -F, 'NR > 1 { n += $16 } END { print n }' soak.csv)" \
		"$(sed -n 's/.*value=\([0-9]*\).*/\1/p' shim.out | awk '{ n += $1 } END {
		print n }')"
	check "soak, $1: descriptors" test "$(most descriptors)" -le $(($3 * 3))
	check "soak, $1: mappings" test "$(most maps)" -le $((20 + $3))
	check "soak, $1: resident size" test "$(most rss-kb)" -le 4000
	rm -f soak.*
}
most() {
	grew "$1" | sort -n | tail -n 1
}
soak "scripted PAPI" "$many" 0
REAL_PAPI_BUILD=$B REAL_PAPI_SOFTWARE=1
cd "$root" || exit 1
# shellcheck disable=SC1091
. tests/lib/real-papi.sh
cd "$tmp" || exit 1
if [ "$REAL_PAPI" = yes ]; then
	MORE=$REAL_PAPI_PRELOAD
	soak "real PAPI" "$many-real" $((2 * (16 + 1)))
	MORE=
else
	skip "soak, real PAPI" "$PAPI_HOW"
fi

SSPAPI_OUTPUT=$tmp/d/%p.json
export SSPAPI_OUTPUT
run_shim shim "$many" forks "$children"
is "$children children of a process with threads: the program ends well" \
	"$(status_of shim) $(grep -c '^sspapi: ' shim.err)" "0 0"
check "and uses no more than before ($(cat shim.err))" test "$(grew descriptors)" = 0 -a \
	"$(grew maps)" -le 0
check "and no more memory ($(grew rss-kb) KB)" test "$(grew rss-kb)" -lt 500
is "a dump of each that made a set" "$(ls d | wc -l)" $((children / 2 + 1))
is "no live file is left" "$(ls live)" ""
# At the very start one thread reads the machine's topology while another forks.
said=
times=$(bounded 100 30)
for i in $(seq "$times"); do
	run_shim shim "$many" forks 12
	said=$said$(status_of shim)$(grep '^sspapi: ' shim.err)
done
is "forked from the start, $times times: no message, no hang" "$said" "$(printf "%0${times}d" 0)"
done_testing
