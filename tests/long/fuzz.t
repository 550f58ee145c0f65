# Damages stores: every verb, at every level and in every format, shows the readable part or prints
# one clear line, with the address and undefined-behaviour sanitizers; none crashes or takes more
# than 5 s.
. tests/lib/lib.sh
fuzz_metrics=$B/tests/long/fuzz-metrics steps=$B/tests/long/steps fuzz=$B/tests/long/fuzz-store
sspapi=$B/tests/long/sspapi-asan
kept=$B/tests/long/fuzz-failures	# failures stay, for another run
mkdir -p "$kept"
cd "$tmp" || exit 1
mkdir live
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
LIMIT=200
commands=$(bounded 300 60) metrics=$(bounded 20000 3000)

# Sound stores of several kinds: threads, many sets, another topology, a killed process's.
run a env LD_PRELOAD="$SHIM" SSPAPI_OUTPUT="$tmp/a.sspapi" "$B/tests/long/kill-target" -n 10 -s 3
run b env LD_PRELOAD="$SHIM" SSPAPI_OUTPUT="$tmp/b.sspapi" "$steps" up set begin a:5 read end
run c env LD_PRELOAD="$SHIM" SSPAPI_OUTPUT="$tmp/c.sspapi" \
	SSPAPI_TOPOLOGY="$root/tests/topo/hybrid.xml" "$B/tests/long/fill-store" 2 2 4
run d env LD_PRELOAD="$SHIM" SSPAPI_LIVE="$tmp/live" "$B/tests/long/kill-target" -n 10 -e 9
mv live/*.live d.live
run e env LD_PRELOAD="$SHIM" SSPAPI_OUTPUT="$tmp/e.sspapi" \
	SSPAPI_TOPOLOGY='synthetic:pack:2 [numa] core:1 pu:1' "$scenes/kinds"
run f env LD_PRELOAD="$SHIM" SSPAPI_OUTPUT="$tmp/f.sspapi" "$apps/overflows" two
for store in ?.sspapi d.live; do
	for format in text json csv hwloc html trace store; do
		run sound "$sspapi" report -f $format "$store"
		is "(sound) $store as $format" \
			"$(status_of sound) $(grep -v 'PAPI_start does not zero\|no permanent readings' sound.err)" \
			"$(grep -c 'no permanent readings' sound.err | sed 's/1/2/') "
	done
done

# A refresh finds call sites in a store that had none before.
mkdir refresh
mkfifo tell hear
env LD_PRELOAD="$SHIM" SSPAPI_LIVE="$tmp/refresh" SSPAPI_OUTPUT="$tmp/g.txt" "$scenes/ops" \
	set=EV_A tell=tell hear=hear start read stop \
	tell=tell hear=hear >ops.out 2>&1 &
read -r _ <tell
"$sspapi" top -d 0.1 "$(echo refresh/*.live)" >top.out 2>top.err &
top=$!
await test -s top.out
: >hear
read -r _ <tell
await grep -q '^PAPI call → PAPI call' top.out
: >hear
wait $top
status=$?
is "top: a refresh with the first call sites" "$status $(grep -c 'runtime error' top.err)" "0 0"
check "(there were none before)" grep -q '^Nothing to show' top.out
rm -rf refresh tell hear g.txt ops.out top.*

: "${SEED:=20240607}" "${TIMES:=$(bounded 10000 1500)}"
mkdir -p scratch
check "$TIMES damaged stores in every format, and each to a verb" env TMPDIR="$tmp/scratch" \
	"$fuzz" -n "$TIMES" -s "$SEED" -o "$kept" ?.sspapi d.live
echo "# $(tail -n 1 "$tmp/.said")"
shown=$(sed -n 's/.* stores: \([0-9]*\) shown, .*/\1/p' "$tmp/.said")
check "(many of them could be shown in part: not only the first word is damaged)" \
	test "${shown:-0}" -gt $((TIMES / 10))

# The real command. It prints readable JSON, or nothing; and a line if its status is not 0.
cat >one.sh <<'END'
store=$1 out=$2; shift 2
timeout -k 1 5 "$@" >"$out" 2>"$out.err"
status=$?
# (a module with a damaged build id is another module)
lines=$(grep -vc 'call sites in it have no names' "$out.err")
case $status-$lines in
0-0|1-1) ;;
0-1) grep -qE "^sspapi (recover|report): .*the live file's disk was full" "$out.err" || echo "$store: status 0, and a line: $*" ;;
*) echo "$store: status $status, $lines lines: $*"; head -c 2000 "$out.err" ;;
esac
END
i=0
bad=0
: >command.said
while [ $i -lt "$commands" ]; do
	"$fuzz" -w x.live -s "$SEED" -f $i ?.sspapi d.live
	: >one.out
	case $((i % 5)) in
	0) sh one.sh x.live said "$sspapi" report -f json x.live >one.out ;;
	1) sh one.sh x.live said "$sspapi" report -f store x.live >one.out ;;
	2) sh one.sh x.live said "$sspapi" report x.live >one.out ;;
	3) rm -f rec.json; chmod 620 x.live; sh one.sh x.live said "$sspapi" recover --force \
		-o rec.json x.live >one.out ;;
	4) rm -f rec.xml; sh one.sh x.live said "$sspapi" recover --force -o rec.xml \
		x.live >one.out ;;
	esac
	if [ $((i % 5)) = 0 ] && [ -s said ]; then
		json said '$d->{format}' >/dev/null 2>one.json || { echo "number $i: not JSON:"
		cat one.json; } >>one.out
	elif [ $((i % 5)) = 3 ] && [ -e rec.json ]; then
		json rec.json '$d->{format}' >/dev/null 2>one.json ||
			{ echo "number $i: recovered, not JSON:"; cat one.json; } >>one.out
	elif [ $((i % 5)) = 4 ] && [ -e rec.xml ] &&
		! perl -e 'local $/; $_ = <>; exit(/[^\x20-\x7e\s\x80-\xff]/)' rec.xml; then
		echo "number $i: control characters in the XML" >>one.out
	elif [ $((i % 5)) = 2 ] && grep -q "$(printf '[\001-\010\013-\037\177]')" said; then
		echo "number $i: control characters in the text" >>one.out
	fi
	if [ -s one.out ]; then
		bad=$((bad + 1))
		cp x.live "$kept/command-$SEED-$i.live" 2>/dev/null ||
			"$fuzz" -w "$kept/command-$SEED-$i.live" -s "$SEED" -f $i ?.sspapi d.live
		head -c 1500 one.out >>command.said
	fi
	i=$((i + 1))
done
check "$commands by the command: a dump or one line each" \
	sh -c "head -c 2500 command.said; [ $bad = 0 ]"
echo "# $bad of $commands"

# Merged stores damaged, and damaged stores among good ones: merge, diff and a report of several
# name those that they leave out, and end.
"$sspapi" merge -o m.sspapi a.sspapi b.sspapi c.sspapi e.sspapi
i=0
: >many.said
while [ $i -lt "$commands" ]; do
	"$fuzz" -w x.live -s "$SEED" -f $i m.sspapi a.sspapi b.sspapi
	case $((i % 5)) in
	0) timeout -k 1 10 "$sspapi" merge -o said.sspapi x.live b.sspapi ;;
	1) timeout -k 1 10 "$sspapi" diff --per-thread x.live a.sspapi ;;
	2) timeout -k 1 10 "$sspapi" report -f json x.live b.sspapi ;;
	3) timeout -k 1 10 "$sspapi" report --per-callsite x.live ;;
	4) timeout -k 1 10 "$sspapi" report -f hwloc x.live ;;
	esac >said 2>said.err
	status=$?
	if [ $status -gt 2 ] || grep -qE 'ERROR: |runtime error' said.err; then
		{ echo "number $i: status $status"; head -c 1500 said.err; } >>many.said
		cp x.live "$kept/many-$SEED-$i.live"
	fi
	i=$((i + 1))
done
check "$commands by merge, diff and report of several" \
	sh -c 'head -c 2500 many.said; [ ! -s many.said ]'
rm -f m.sspapi many.said

# In a folder to which recover may write, the bytes decide nothing: only our files exist.
is "nothing was written elsewhere" \
	"$(ls -A | grep -vE '^(\..*|[abcdef]\..*|live|scratch|sound\..*|said.*|one\..*|rec\..*|x\.live|command\.said)$')" ""

# Coverage-guided: each sound store and a merged one, each followed by the number of a line of
# fuzz-command.c. SECONDS_BY_COVERAGE=3600 runs an hour by hand.
if [ -x "$B/tests/long/fuzz-clang" ]; then
	mkdir corpus made
	"$sspapi" merge -o m.sspapi a.sspapi b.sspapi c.sspapi e.sspapi
	perl -e '
		$lines = shift;
		for my $store (@ARGV) {
			open my $in, "<", $store or die; binmode $in; local $/; my $bytes = <$in>;
			for (0 .. $lines - 1) { open my $to, ">", "corpus/$store-$_" or die;
			print $to $bytes, chr($_ % 40), chr }
		}' "$("$fuzz" -l)" ?.sspapi d.live
	cp b.sspapi beside
	check "libFuzzer, ${SECONDS_BY_COVERAGE:=60} s" env TMPDIR="$tmp/made" \
		FUZZ_BESIDE="$tmp/beside" "$B/tests/long/fuzz-clang" \
		-max_total_time="$SECONDS_BY_COVERAGE" -max_len=140000 -timeout=10 \
		-rss_limit_mb=3000 -seed="$SEED" -artifact_prefix="$kept/" corpus
	echo "# $(grep '^#.*cov:' "$tmp/.said" | tail -n 1)"
else
	skip "libFuzzer" "no clang with libFuzzer"
fi
# Files of metrics, from ours and PAPI's own.
check "$metrics damaged files of metrics" "$fuzz_metrics" -n "$metrics" -s "$SEED" \
	"$root/core/cli/tool/metrics.csv" /usr/share/papi/*/papi_events.csv
echo "# $(tail -n 1 "$tmp/.said")"
done_testing
