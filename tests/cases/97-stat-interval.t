# Tests sspapi stat -I: rows per CPU while the program runs; their sum is the total, the store has
# them, and a slow reader blocks no process.
. tests/lib/lib.sh
cd "$tmp" || exit 1
need_stat

# Some 60 processes with page faults, one after the other.
cat >steps.sh <<'END'
i=0
while [ $i -lt 60 ]; do "$0" pages 20; i=$((i + 1)); done
END
run rows "$sspapi" stat -I 5 -e page-faults,task-clock -o rows.sspapi sh -c "$(cat steps.sh)" \
	"$apps/counted"
"$sspapi" report -f json rows.sspapi >rows.json
sum() {	# EVENT: prints the sums of the printed rows, and of the store's
	awk -v e="$1" '$NF == e && / s  CPU / { n += $5 } END { printf "%d ", n }' rows.err
	"$sspapi" report --readings -f csv rows.sspapi |
		awk -F, -v e="perf::$1" '$9 == e { n += $10 } END { print n + 0 }'
}
total() {
	json rows.json "\$d->{components}[0]{total}{'perf::$1'}"
}
for event in PAGE-FAULTS TASK-CLOCK; do
	is "$event: the rows are the total, on the screen and in the store" "$(sum $event)" \
		"$(total $event) $(total $event)"
	is "$event: and in JSON, as entries" \
		"$(json rows.json \
		"my \$n = 0; my (\$e) = grep { \$_->{name} eq 'perf::$event' } @{\$d->{events}};
		\$n += \$_->{value} for map { @{\$_->{list}} } grep { \$_->{event} == \$e->{id} } map { @{\$_->{entries}} } @{\$d->{relations}}; \$n")" "$(total $event)"
done
"$sspapi" report -f trace -o trace.json rows.sspapi
is "and in the trace, as rates" "$(perl "$root/tests/lib/check-trace.pl" trace.json rows.json 2>&1)" ""
check "there are several, at increasing times" awk '/ s  CPU / { if ($1 < last) bad = 1;
	if ($1 != last) n++; last = $1 } END { exit bad || n < 3 }' rows.err
check "and the table" grep -q '^CPU ' rows.err
check "with the number of stored readings" grep -q 'permanent readings* stored' rows.err
run unstored "$sspapi" stat -I 5 -e task-clock "$apps/counted" pages 300
is "no readings are stored without -o" "$(grep -cE "^CPU .*TASK-CLOCK|readings? stored" unstored.err)" 1
is "the rows are not separate threads" \
	"$("$sspapi" report --per-thread rows.sspapi | grep -c 'all threads')" 0
check "a merged store also has them" \
	sh -c '"$0" merge -o merged.sspapi rows.sspapi && [ "$("$0" report --readings -f csv merged.sspapi | wc -l)" = "$("$0" report --readings -f csv rows.sspapi | wc -l)" ]' "$sspapi"

run csv "$sspapi" stat -q -I 5 -f csv -e page-faults "$apps/counted" pages 300
is "CSV: a header, rows, nothing else" \
	"$(head -1 csv.err) $(sed 1d csv.err |
	grep -cvE '^[0-9]+\.[0-9]{6},[0-9]+,perf::PAGE-FAULTS,[0-9]+$')" "time,cpu,event,value 0"
check "with all that it counted" test "$(awk -F, 'NR > 1 { n += $4 } END { print n }' csv.err)" \
	-ge 300

# A count after a pause is of the interval before it, not of the whole pause.
run pause "$sspapi" stat -I 10 -e page-faults -o pause.sspapi sh -c 'sleep 0.5; exec "$0" pages 300' \
	"$apps/counted"
"$sspapi" report --readings -f csv pause.sspapi | awk -F, 'NR > 1 { print $7, $10 }' | sort -n >pause
is "after a pause: zeros in the store, not on the screen" "$(awk '$3 == "CPU" && $5 == 0' pause.err) $(awk '
	$2 > most { most = $2; long = $1 - last } { last = $1 } END { print long < 3e8 }' pause)" " 1"

# Events that turn out not to be counted have no further rows.
run shared env NARROW_SHARED=1 LD_PRELOAD="${LD_PRELOAD-}${LD_PRELOAD:+:}$preloads/narrow.so" "$sspapi" \
	stat -I 5 -e cycles,page-faults sh -c 'while [ "$(grep -c " PAGE-FAULTS$" shared.err)" -lt 30 ]; do
		i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); done; done'
check "a shared counter: no rows after it is known" awk '/ CYCLES$/ { n++ } / PAGE-FAULTS$/ { m++ }
	END { exit !(m >= 30 && n < m / 2) }' shared.err
check "and it is not counted" grep -q 'CYCLES: not counted: others used' shared.err
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ] && plain "refused"; then
	cp "$B"/sspapi "$B"/libsspapi*.so .
	run refused setpriv --reuid=65534 --regid=65534 --clear-groups ./sspapi stat -I 5 \
		-e cs,task-clock sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
	is "an event that is not permitted has no rows" \
		"$(grep -c ' s  CPU .* CONTEXT-SWITCHES$' refused.err) $(grep -c 'CONTEXT-SWITCHES: not permitted' refused.err)" "0 1"
	check "the others have" grep -q ' s  CPU .* TASK-CLOCK$' refused.err
fi

SSPAPI_READINGS_MAX=1 "$sspapi" stat -q -I 1 -o few.sspapi sh -c "$(cat steps.sh)" \
	"$apps/counted" >/dev/null 2>&1
check "no more are kept than asked for, and a line says so" \
	sh -c '"$0" report few.sspapi | grep -q "rows of -I are not stored"' "$sspapi"

# There is no reader until the program has ended: it ends anyway. (The pipe stores no more than a
# page.)
mkfifo ran
perl -e 'fcntl(STDERR, 1031, 4096) or die; exec @ARGV' "$sspapi" stat -I 1 \
	-e page-faults,task-clock,cs,migrations \
	sh -c 'i=0; while [ $i -lt 200 ]; do "$0" pages 20; i=$((i + 1)); done; echo ran >ran' \
	"$apps/counted" 2>&1 >/dev/null |
	{ timeout "$LIMIT" head -1 <ran >held; cat >late.err; }
is "a pipe without a reader does not delay the program" "$(cat held)" ran
check "the waiting rows are printed then, and the table" grep -q '^CPU ' late.err
# A program that also writes there: its output is between whole rows, even if these have waited.
mkfifo both
perl -e 'fcntl(STDERR, 1031, 4096) or die; exec @ARGV' "$sspapi" stat -I 1 \
	-e page-faults,task-clock,cs,migrations,minor-faults,major-faults \
	sh -c 'i=0; while [ $i -lt 300 ]; do "$0" pages 20 >&2; echo "the program itself: $i" >&2; i=$((i + 1)); done' "$apps/counted" 2>both &
perl -e 'select undef, undef, undef, 0.01 while ioctl(STDIN, 0x541b, $n = pack "i", 0) &&
	unpack("i", $n) < 3500;	# FIONREAD
	while (sysread(STDIN, my $part, 4096)) { print $part; select undef, undef, undef, 0.001 }' \
	<both >both.err
wait $!
is "rows and the program's lines are whole" \
	"$(grep -c '^the program itself: [0-9]*$' both.err) $(sed -n '/^sh -c/q; p' both.err |
	grep -cvE '^the program itself: [0-9]+$|^tid [0-9]+ faults [0-9]+ before [0-9]+$|^ *[0-9]+\.[0-9]{6} s  CPU [0-9]+ +[0-9]+ (ns|  )  [A-Z-]+$')" "300 0"

# A terminal without a reader: the counts are still stored.
cat >terminal.py <<'END'
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], ["sspapi", "stat", "-I", "1", "-o", "tty.sspapi"] + sys.argv[2:])
end = time.time() + int(os.environ["LIMIT"])
while not os.path.exists("tty.sspapi") and time.time() < end:
    time.sleep(0.05)
print("kept" if os.path.exists("tty.sspapi") else "held up")
text = b""
try:
    while part := os.read(terminal, 65536):
        text += part
except OSError:
    pass
os.waitpid(pid, 0)
print(text.count(b" s  CPU ") > 50, b"\nmore: " in text)
END
if command -v python3 >/dev/null; then
	is "a terminal without a reader delays nothing; waiting rows are written later" \
		"$(LIMIT=$LIMIT python3 terminal.py "$sspapi" \
		sh -c 'i=0; while [ $i -lt 300 ]; do "$0" pages 20 >/dev/null; i=$((i + 1)); done' \
		"$apps/counted" | paste -sd' ')" "kept True True"
else
	skip "a terminal without a reader delays nothing; waiting rows are written later" \
		"there is no python3"
fi

# The reader goes away: the program is counted to its end.
"$sspapi" stat -I 2 -o gone.sspapi sh -c "$(cat steps.sh); echo ended >ended" \
	"$apps/counted" 2>&1 >/dev/null | head -1 >first
check "rows without a reader end neither the program nor the counting" \
	test -s ended -a "$("$sspapi" report -f csv gone.sspapi |
	awk -F, '$14 == "perf::PAGE-FAULTS" { n += $16 } END { print n + 0 }')" -ge 1200
# No reader, and the program has ended: a signal ends the command, which has nothing more to count.
: >stuck.pid
{ perl -e 'fcntl(STDERR, 1031, 4096) or die; open my $to, ">", "stuck.pid"; print $to $$; close $to; exec @ARGV' "$sspapi" stat -I 1 -e page-faults,task-clock,cs,migrations -o stuck.sspapi \
	sh -c 'i=0; while [ $i -lt 200 ]; do "$0" pages 20; i=$((i + 1)); done' \
	"$apps/counted" 2>&1 >/dev/null; echo $? >stuck.status; } |
	{ await test -s stuck.sspapi; kill -TERM "$(cat stuck.pid)"; await test -s stuck.status
	cat >/dev/null; }
is "output in a pipe without a reader is dropped at a signal" "$(cat stuck.status)" 143

# ---- running processes ------------------------------------------------------
mkfifo go
"$apps/counted" wait 20 100 go >said &
pid=$!
await grep -q ready said
run ran "$sspapi" stat -p $pid -I 5 -e page-faults,task-clock -o ran.sspapi \
	sh -c ': >go; while grep -qs "^State:[[:space:]]*[^Z]" "/proc/$0/status"; do :; done' $pid
wait $pid
"$sspapi" report -f json ran.sspapi >rows.json
for event in PAGE-FAULTS TASK-CLOCK; do
	is "-p, $event: the rows are the total, on the screen and in the store" \
		"$(awk -v e="$event" '$NF == e && / s  CPU / { n += $5 } END { print n }' \
		ran.err) $(
		"$sspapi" report --readings -f csv ran.sspapi | awk -F, -v e="perf::$event" \
			'$9 == e { n += $10 } END { print n + 0 }')" \
			"$(total $event) $(total $event)"
done
check "and that is all" test "$(total PAGE-FAULTS)" -ge 2000
for wrong in 0 -5 x 1.5 99999999; do
	run wrong "$sspapi" stat -I "$wrong" touch it-ran
	is "-I $wrong" "$(status_of wrong) $(wc -l <wrong.err) $(test -e it-ran; echo $?)" "125 1 1"
done
done_testing
