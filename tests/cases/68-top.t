# Tests sspapi top: the tables of running processes, from copies of their live files.
. tests/lib/lib.sh
cd "$tmp" || exit 1
mkdir live
mkfifo tell

# begin: starts a process that counts on command (count N), with its live file in $tmp/live
begin() {
	: >told
	# shellcheck disable=SC2094 # a pipe
	env LD_PRELOAD="$SHIM" SSPAPI_LIVE="${1:-$tmp/live}" SSPAPI_OUTPUT="$tmp/done.txt" \
		"$scenes/steered" <tell >told 2>&1 &
	pid=$!
	exec 3>tell
	count 5
}

counted=0
count() {
	counted=$(($(grep -c counted told) + 1))	# before it can answer
	echo "$1" >&3
	await has_counted
}

has_counted() {
	[ "$(grep -c counted told)" -ge $counted ]
}

begin
live=$(echo live/*.live)
run top "$sspapi" top -n 1 "$pid"
is "of a process: status" "$(status_of top) $(cat top.err)" "0 "
check "its tables, one reading" grep -q ', 1 thread on CPU .*, still running$' top.out
check "and counts" grep -qE '^~? ?CPU .* 5 +100 % +0' top.out
run top "$sspapi" top -n 2 -d 0.1 --per-callsite "$pid"
is "it names functions, each time it looks" "$(grep -cE '^[~ ]*[a-z_]+(:[0-9]+)? +[0-9,]+ +[0-9]+ %' top.out) $(cat top.err)" "2 "
count 7
run top "$sspapi" top -n 1 "$live"
check "of its live file: the counts since then" grep -qE '^~? ?CPU .* 12 +100 % +0' top.out
run top "$sspapi" top "$pid" -n 1 --per-cpu --per-machine
check "by level" grep -qE '^[~ ]? ?CPU 0 .* 12 ' top.out
printf 'EVENT,TWICE,DERIVED_ADD,EV_A,EV_A\n' >m.csv
run top "$sspapi" top -n 1 --per-machine -m m.csv "$pid"
# Prints the time until now. (Times of readings are some ms coarse: the first may be before the
# start.)
last='(sort { $b <=> $a } $d->{process}{start_ns}, map { $_->{last_ns}, map { map { $_->{ns} } @{$_->{list}} } @{$_->{entries}} } @{$d->{relations}})[0]'
"$sspapi" report -f json "$live" >now.json
is "report of it: until the last reading" \
	"$(json now.json "\$d->{process}{end_ns} > 0 && \$d->{process}{end_ns} == $last")" 1
check "and that it still runs" sh -c '"$0" report "$1" | sed -n 1p | grep ", still running$"' \
	"$sspapi" "$live"
check "with metrics" grep -qE ' 24( +[0-9]+)?$' top.out

# The standard place.
"$sspapi" top -n 3 -d 0.1 "$pid" >thrice 2>&1
is "refreshed" "$(grep -c ', still running$' thrice)" 3
check "no control characters without a terminal" not grep -q "$(printf '\033')" thrice

# It ends while top runs.
"$sspapi" top -d 0.1 "$pid" >ends 2>ends.err 3>&- &
top=$!
await test -s ends
exec 3>&-
wait "$pid"
wait "$top"
is "the process ends, and so does top" "$?" 0
check "it reports where the dump is" grep -q "process $pid has ended, its dump is $tmp/done.txt" \
	ends.err

# It writes its dump into a FIFO that is not being read: it has not ended.
mkfifo full
exec 9<>full
env LD_PRELOAD="$SHIM" SSPAPI_LIVE="$tmp/live" SSPAPI_OUTPUT="$tmp/full" SSPAPI_FORMAT=json \
	"$scenes/cornered" 300 >cornered.out 2>&1 3>&- 9>&- &
pid=$!
is_ending() {
	"$sspapi" report -f json live/*.live >ending.json 2>ending.err &&
		[ "$(json ending.json '$d->{process}{end}')" = exit ]
}
await is_ending
run top "$sspapi" top -n 1 live/*.live
if kill -0 "$pid" 2>/dev/null; then
	is "one that writes its dump has not ended" "$(status_of top) $(cat top.err)" "0 "
	cp top.out before.out
	run top "$sspapi" top -n 1 "$pid"
	is "and is found by its pid" "$(status_of top) $(cat top.err) $(grep -c ' 100 %' top.out)" \
		"0  $(grep -c ' 100 %' before.out)"
else
	skip "one that writes its dump has not ended" "it has"
	skip "and is found by its pid" "it has"
fi
cat full >full.json 9>&- &
wait "$pid"
exec 9>&-
wait

# A killed process, some time after a snapshot. (The store has the times of all permanent readings.)
rm done.txt
export SSPAPI_SIGNAL=USR2 SSPAPI_READINGS=permanent
begin
unset SSPAPI_SIGNAL SSPAPI_READINGS
kill -USR2 "$pid"
await test -s done.txt
sleep 0.2
count 7
kill -9 "$pid"
wait "$pid" 2>/dev/null
live=$(echo live/*.live)
run top "$sspapi" top "$live"
check "a killed process's file is shown once" grep -qE '^~? ?CPU .* 12 ' top.out
check "that it was killed" sh -c 'sed -n 1p top.out | grep ", killed$"'
check "and how to use it" grep -q \
	"process $pid was killed, its live file is there: sspapi recover $live" top.err
exec 3>&-
snapshot=$(date -r done.txt +%s%N)
"$sspapi" report -f json "$live" >killed.json
is "report of it: until the last reading, not the snapshot" \
	"$(json killed.json "\$d->{process}{end_ns} > $snapshot && \$d->{process}{end_ns} == $last")" 1
printf 'EVENT,TIME,DERIVED_ADD,sspapi::ELAPSED_NS\n' >elapsed.csv
is "a metric of the run's duration" \
	"$("$sspapi" report -f json -m elapsed.csv "$live" >m.json; json m.json \
	'$d->{components}[0]{derived_metrics}{TIME}')" \
	"$(json killed.json '$d->{process}{end_ns} - $d->{process}{start_ns}')"
check "it reports that it was killed" sh -c '"$0" report "$1" | sed -n 1p | grep ", killed$"' \
	"$sspapi" "$live"
"$sspapi" merge -o job.sspapi "$live" "$root/tests/none" 2>merge.err
cp "$live" copy.live
another_process copy.live
"$sspapi" report copy.live "$live" >both.out 2>both.err
check "two of them as one run as well" \
	sh -c 'sed -n 1,2p both.out | tr -s "\n " " " | grep ", 2 of them killed "'
"$sspapi" report -f json job.sspapi >job.json
is "merged: until the last reading" "$(json job.json '$d->{process}{end_ns}') $(cat merge.err |
	wc -l)" "$(json killed.json '$d->{process}{end_ns}') 1"

# ---- not a process, not a file --------------------------------------------------------------
# wrong NAME STATUS WORDS ARGUMENT...
wrong() {
	wrong_name=$1 wrong_status=$2 wrong_words=$3
	shift 3
	run wrong "$sspapi" top "$@"
	is "$wrong_name: status, and one line" "$(status_of wrong) $(wc -l <wrong.err)" \
		"$wrong_status 1"
	check "$wrong_name: $wrong_words" grep -qF -- "$wrong_words" wrong.err
}
wrong "a process without a live file" 1 "or is another user's (to count it: sspapi stat -p PID)" $$
begin
rm "$(ls -t live/*.live | head -n 1)"
wrong "one that seems to have written its dump" 1 \
	"its live file no longer exists: the process has written its dump" "$pid"
exec 3>&-
wait "$pid"
live=$(ls -t live/*.live | head -n 1)
head -c 300 "$live" >cut.live
wrong "a file cut in its header" 1 "not a store" ./cut.live
head -c 5000 /dev/zero >zero.live
wrong "one of zeros" 1 "not a store" ./zero.live

# ---- cut, grown and scribbled on while it is shown --------------------------------------------
begin
live=$(ls -t live/*.live | head -n 1)
cp "$live" shown.live
"$sspapi" top -d 0.1 ./shown.live >shown.out 2>shown.err 3>&- &
top=$!
shows() {
	tail -c +$((shown + 1)) shown.out | grep -qE "$1"
}
shown=0
await shows '^~? ?CPU .* 5 '
for size in 0 100 4096 0 9000; do
	head -c "$size" "$live" >shown.live
	sleep 0.15		# (most are read then)
done
check "truncated while it is read: top goes on" await shows 'blocks of the store damaged'
shown=$(wc -c <shown.out)
cp "$live" shown.live
check "and later shows that a file exists again" await shows '^~? ?CPU .* 5 '
rm shown.live
wait "$top"
is "until the file is gone" "$?" 0
check "without a sanitizer's report" not grep -q 'Sanitizer\|runtime error' shown.err

# ---- a terminal ----------------------------------------------------------------------------------
# A refresh replaces the one before, cut to the terminal's rows but one.
printf 'stty rows 5 cols 100; exec "%s" top -n 2 -d 0.1 %s\n' "$sspapi" "$pid" >terminal.sh
if script -qec true /dev/null </dev/null >script.out 2>&1; then
	TERM=xterm script -qec 'sh terminal.sh' /dev/null </dev/null | tr -d '\r' >terminal.out
	is "a terminal is cleared each time" \
		"$(grep -c "$(printf '\033')\[H$(printf '\033')\[J" terminal.out)" 2
	is "and takes as many lines as it has rows" \
		"$(awk '/\033\[H/ && ++n == 2 { exit } { lines++ } END { print lines }' \
		terminal.out)" 4
	check "the last is complete" test "$(wc -l <terminal.out)" -gt 9
	TERM=dumb script -qec 'sh terminal.sh' /dev/null </dev/null >dumb.out
	check "not a dumb one" not grep -q "$(printf '\033')" dumb.out
else
	skip "a terminal" "no script(1): $(cat script.out)"
fi
exec 3>&-
wait "$pid"

# ---- several processes ---------------------------------------------------------------------
# rank R FD COMMAND...: starts rank R, which counts R + 1, and writes to it with descriptor FD
mkdir ranks
export SSPAPI_LIVE="$tmp/ranks" OMPI_COMM_WORLD_SIZE=4
cat >rank.sh <<'END'
rank=$1
shift
OMPI_COMM_WORLD_RANK=$rank LD_PRELOAD=$SHIM "$scenes/steered" <"tell.$rank" >"told.$rank" 2>&1
exit 0
END
export SHIM scenes
for r in 0 1 2 3; do
	mkfifo "tell.$r"
done
has_rank() {
	[ "$(grep -c counted "told.$1" 2>/dev/null)" = 1 ]
}
# ranks ARGUMENT...: the number of processes that top shows once, and the counts of each
ranks() {
	"$sspapi" top -n 1 --per-rank "$@" 2>ranks.err | awk '{ sub(/^~/, "") }
		$1 == "rank" && $2 ~ /^[0-9]/ { printf "%s:%s ", $2, $3 }'
}

wrong "none runs" 2 "name a process, or live files: no process of this user counts here now (to count one: sspapi stat -p PID)"

# An older process, which is no rank.
begin "$SSPAPI_LIVE"
exec 7>&3 3>&-
is "one that runs alone" "$("$sspapi" top -n 1 | grep -cE '^~? ?CPU .* 5 ')" 1

# Ranks with a shell each (which have no parent in common), started by a launcher.
cat >launcher.sh <<'END'
for r in 0 1 2; do
	sh rank.sh $r 7>&- &
done
wait
read -r line <later
sh rank.sh 3
END
mkfifo later
sh launcher.sh 7>&- &
launcher=$!
exec 3>tell.0 4>tell.1 5>tell.2
echo 1 >&3
echo 2 >&4
echo 3 >&5
for r in 0 1 2; do
	await has_rank $r
done
is "the newest run: all ranks, no other process" "$(ranks) $(cat ranks.err)" "2:3 1:2 0:1  "
is "the launcher's descendants" "$(ranks $launcher) $(cat ranks.err)" "2:3 1:2 0:1  "
is "files, of which one is gone" "$(ranks ranks/*.live sspapi.1.gone.2.3.live) $(cat ranks.err)" \
	"2:3 1:2 0:1  "
check "all of these, as one run" sh -c '"$0" top -n 1 ranks/*.live | sed -n 1,2p | tr -s "\n " " " |
	grep ": 4 processes on .*, still running "' "$sspapi"
run top "$sspapi" top -n 1 --per-rank ranks/*.live zero.live
is "a file that is no store is reported, and the others are shown" \
	"$(status_of top) $(grep -c '^sspapi top: zero.live: not a store' top.err) $(
	grep -c '^1 file could not be read$' top.out) $(grep -c '^.*rank [012] ' top.out)" "1 1 1 3"

wrong "files that are gone" 1 "sspapi.1.gone.2.3.live: No such file" sspapi.1.gone.2.3.live \
	sspapi.1.gone.4.5.live

# A rank ends, another is killed, the third ends; later one starts.
"$sspapi" top -d 0.1 --per-rank $launcher >launched 2>launched.err 3>&- 4>&- 5>&- 7>&- &
top=$!
await test -s launched
exec 3>&-
await grep -q '^1 process has ended; not shown$' launched
for file in ranks/*.live; do
	"$sspapi" report -f json "$file" >one.json
	[ "$(json one.json '$d->{process}{rank} // 0')" != 1 ] ||
		kill -9 "$(json one.json '$d->{process}{pid}')"
done
await grep -q '^2 processes have ended (1 of them killed: sspapi recover --list); not shown$' \
	launched
exec 4>&- 5>&-
exec 8>later
await sh -c '[ "$(ls ranks/*.live | wc -l)" = 2 ]'
shown=$(wc -c <launched)
echo go >&8
exec 6>tell.3 8>&-
echo 4 >&6
await sh -c 'tail -c +"$0" launched | grep -qE "^~? ?rank 3 +4 "' "$shown"
check "between the steps of a launcher, top waits" kill -0 $top
exec 6>&-
wait $launcher
wait $top
is "until the launcher ends" "$? $(cat launched.err)" \
	"0 sspapi top: the processes have ended, 1 of them killed: sspapi recover --list"

# Ranks of one launcher are siblings; a rank of an older launcher is not.
rm told.0 told.1 told.2
sh rank.sh 2 7>&- &
exec 5>tell.2
echo 9 >&5
await has_rank 2
for r in 0 1; do
	# shellcheck disable=SC2094 # a pipe
	OMPI_COMM_WORLD_RANK=$r LD_PRELOAD=$SHIM "$scenes/steered" <"tell.$r" >"told.$r" 2>&1 7>&- &
done
exec 3>tell.0 4>tell.1
echo 7 >&3
echo 8 >&4
await has_rank 0
await has_rank 1
is "siblings" "$(ranks)" "1:8 0:7 "
exec 3>&- 4>&- 5>&- 7>&-
wait

# Gauges, while the process runs.
mkfifo has-read goes-on
printf 'event nvml:::A:device_0:power component=nvml units=mW\n' >script
FAKE_PAPI_SCRIPT=script LD_PRELOAD=$SHIM SSPAPI_LIVE=./live SSPAPI_OUTPUT=gauge.txt "$scenes/ops" \
	set=nvml:::A:device_0:power start show=250 read show=750 read tell=has-read hear=goes-on stop &
pid=$!
cat has-read >/dev/null
run top "$sspapi" top -n 1 $pid
check "gauges are shown" grep -qE "power .* 750.0 mW +250.0 mW +750.0 mW +500.0 mW\$" top.out
: >goes-on
wait
done_testing
