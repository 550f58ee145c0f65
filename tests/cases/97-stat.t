# Tests sspapi stat: counts any program from outside, correctly per thread and process, without a
# difference for the program.
. tests/lib/lib.sh
cd "$tmp" || exit 1
need_stat

# On kernels that do not report the counts of threads a library in the program does
# (97-stat-threads.t), not tested here.
way=''
# stat NAME ARGUMENT...: writes a dump to NAME.json
stat() {
	stat_to=$1
	shift
	# shellcheck disable=SC2086 # a word or none
	run "$stat_to" "$sspapi" stat $way -o "$tmp/$stat_to.json" "$@"
}
agrees() {
	perl "$root/tests/lib/check-counted.pl" "$tmp/$1.json" "$tmp/$1.out" "$2" ${3-}
}
if json_rows=$(stat rows "$apps/counted" forks 1 0; json "$tmp/rows.json" 'scalar
	grep { /no per-thread rows|libsspapi-threads.so in the program reported/ } @{$d->{notes}}'); [ "$json_rows" = 0 ]; then
	rows=yes
else
	rows='' way=--per-thread=no
fi

# ---- what each thread and process counted --------------------------------------------------
for program in counted counted-static; do
	for what in "pages 500:1" "threads 200 20:201" "forks 100 10:101" "execs 5 100:1" \
		"vfork 100:2"; do
		# shellcheck disable=SC2086 # words
		stat one "$apps/$program" ${what%:*}
		is "$program ${what%:*}: its status" "$(status_of one)" 7
		if [ -n "$rows" ]; then
			case $what in execs* | vfork*) execs=1 ;; *) execs='' ;; esac
			check "each thread's faults" agrees one "${what#*:}" $execs
		else
			skip "each thread's faults" "this kernel writes no rows"
		fi
	done
done
stat one "$apps/counted" kill 100
is "killed in the middle" "$(status_of one)" 137
check "and its faults are there" agrees one 1
check "and which signal it was" sh -c 'grep -q "ended by signal 9 (Killed)" "$1"' sh "$tmp/one.json"

is "its command line" "$(json "$tmp/one.json" '@{$d->{process}{args}}[1,2]' | paste -sd' ')" \
	"kill 100"
is "the clock of each CPU is the time there" "$(json "$tmp/one.json" 'my $r = $d->{relations}[0];
	my ($at) = grep { $d->{events}[$r->{events}[$_]]{name} eq "perf::TASK-CLOCK" } 0..$#{$r->{events}};
	join " ", map { $_->{ns} == $_->{total}[$at] ? "same" : "other" } @{$r->{cpus}}' |
	tr ' ' '\n' | sort -u)" same
if [ -n "$rows" ]; then
	stat one "$apps/counted" threads 3 5
	is "names of threads" "$(json "$tmp/one.json" \
		'sort map { $_->{thread} } @{$d->{relations}}' | paste -sd' ')" \
		"counted worker-0 worker-1 worker-2"
	stat one sh -c '"$0" pages 3; "$0" pages 4; :' "$apps/counted"
	is "processes" "$(json "$tmp/one.json" 'scalar @{$d->{processes}}')" 3
	# A daemon that goes on: its counts so far are in the total, with a note.
	mkfifo fifo
	stat one "$apps/counted" daemon 300 "$tmp/fifo"
	check "still running" sh \
		-c 'grep -q "1 thread was still running when the program ended" "$1"' \
		sh "$tmp/one.json"
	check "and counted so far" \
		test "$(json "$tmp/one.json" '$d->{components}[0]{total}{"perf::PAGE-FAULTS"}')" \
		-ge 300
	timeout "$LIMIT" sh -c ': >"$0"' "$tmp/fifo"
fi
# A command that could not empty its rings before the program ended: no record reports those that
# were lost.
if [ -n "$rows" ]; then
	"$sspapi" stat -o stopped.json \
		sh -c 'echo $PPID $$ >stopped; kill -STOP $PPID; exec "$0" threads 3000 1 >/dev/null' "$apps/counted" 2>stopped.err &
	await test -s stopped
	read -r command program <stopped
	await grep -q '^State:.Z' "/proc/$program/status"
	kill -CONT "$command"
	wait $!
	is "lost records are reported, and no thread as still running" \
		"$? $(json stopped.json '(scalar
		grep { /records of ended threads came too fast and were lost/ } @{$d->{notes}}), scalar
		grep { /still running/ } @{$d->{notes}}' | paste -sd' ')" "7 1 0"
	check "and their counts are in no thread's row" \
		test "$(json stopped.json \
		'my ($most) = sort { $b <=> $a } map { my $n = 0; $n += $_->{total}[1] for @{$_->{cpus}}; $n } grep { $_->{tid} } @{$d->{relations}}; $most')" -lt 500
fi
# A privileged stat receives records of all processes of the machine: processes of others that were
# created and ended meanwhile do not belong to the program.
if [ -n "$rows" ]; then
	mkfifo others
	# shellcheck disable=SC2016 # in the other's shell
	sh -c 'while read -r _; do (exec true); (exec true); done' <others &
	exec 3>others
	stat one sh -c 'for i in 1 2 3 4 5; do echo; "$0" forks 2 1 >/dev/null; echo; done >&3; :' \
		"$apps/counted"
	exec 3>&-
	wait $!
	is "other users' processes have no rows" \
		"$(json "$tmp/one.json" 'scalar(@{$d->{processes}}), scalar grep { $_->{tid} &&
		$_->{threads} == 1 } @{$d->{relations}}' | paste -sd' ')" "16 16"
fi
stat one "$apps/counted" texec 500
check "a thread that executes a program: the first thread's faults, its own, the program's" \
	test "$(json "$tmp/one.json" '$d->{components}[0]{total}{"perf::PAGE-FAULTS"}')" -ge 1500
# Events of the program's own that its children inherit: next to those that make rows, both are
# right.
if command -v perf >/dev/null && perf stat -e page-faults true 2>/dev/null; then
	for i in 1 2 3; do
		echo "perf stat -x, -e page-faults,task-clock '$apps/counted' forks 200 20 & wait"
	done >perf.sh
	stat one sh -c 'sh perf.sh 2>perf.err; :'
	is "perf stat counts as without sspapi, and so does sspapi" \
		"$(json "$tmp/one.json" '$d->{components}[0]{total}{"perf::PAGE-FAULTS"}' |
		cat - perf.err | awk -F, 'NR == 1 { ours = $1 } /page-faults/ { perfs += $1; n++ }
		END { print n, (perfs >= 12000 && perfs <= 60000 ? "right" : perfs), (ours >= perfs && ours <= 60000 ? "right" : ours) }')" "3 right right"
fi
stat one --per-thread=no "$apps/counted" threads 20 10
is "without rows per thread all are one" "$(json "$tmp/one.json" 'scalar @{$d->{relations}}')" 1
check "and are all there" test \
	"$(json "$tmp/one.json" '$d->{components}[0]{total}{"perf::PAGE-FAULTS"}')" -ge 200

# ---- no difference for the program -------------------------------------------------------------
around=$root/tests/lib/environment.sh
run native sh "$around"
# shellcheck disable=SC2086
run stat "$sspapi" stat $way sh "$around"
check "its environment, limits, signals, descriptors" diff native.out stat.out
is "its output is its own" "$(grep -c TASK-CLOCK stat.out)" 0
run native sh -c 'trap "" CHLD HUP; exec sh "$0"' "$around"
run stat sh -c 'trap "" CHLD HUP; exec "$@" sh "$0"' "$around" "$sspapi" stat $way
check "also if signals were ignored" diff native.out stat.out
is "and its status is found" "$(status_of stat)" "$(status_of native)"

mkfifo ready
"$sspapi" stat -o term.json "$apps/counted" term >ready 2>term.err &
command=$!
read -r _ <ready
kill -TERM "$command"
wait "$command"
is "a signal to the command is the program's" "$?" 42
check "and it is still counted" test -s term.json
is "no process is left" "$(pgrep -f "$tmp" | grep -vx "$$" | while read -r pid; do tr '\0' \
	' ' <"/proc/$pid/cmdline"; done | grep -c stat)" 0

# The kernel sends the terminal's hangup only to the session leader.
cat >hangup.py <<'END'
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], ["sspapi", "stat", "-o", "hup.json", "sh", "-c", "trap 'exit 5' HUP; echo ready; while :; do sleep .1; done"])
said = b""
while b"ready" not in said:
    said += os.read(terminal, 100)
os.close(terminal)
print(os.WEXITSTATUS(os.waitpid(pid, 0)[1]))
END
if command -v python3 >/dev/null; then
	is "the terminal is gone: the program receives the signal, and is counted" \
		"$(timeout -k 1 "$LIMIT" python3 hangup.py "$sspapi") $(test -s hup.json; echo \
		$?)" "5 0"
else
	skip "the terminal is gone" "there is no python3"
fi

# ---- what cannot be started ---------------------------------------------------------------------
run none "$sspapi" stat -- /no/such/program
is "no such program" "$(status_of none) $(wc -l <none.err)" "127 1"
run none "$sspapi" stat /tmp
is "nothing that can be run" "$(status_of none)" 126

# Signals that the command was started to ignore (nohup) are ignored between its runs as well.
run ignoring sh -c 'trap "" HUP; exec "$@"' sh "$sspapi" stat -r 3 sh -c 'kill -HUP $PPID; echo ran'
is "an ignored signal ends no repeats" "$(status_of ignoring) $(grep -c '^ran' ignoring.out)" "0 3"

# ---- without the right to see it --------------------------------------------
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ] &&
	[ -z "${SANITIZE-}" ]; then
	cp -r "$B"/sspapi "$B"/libsspapi*.so "$tmp"
	user="setpriv --reuid=65534 --regid=65534 --clear-groups"
	run clock "$tmp/sspapi" stat -e perf::TASK-CLOCK,perf::CPU-CLOCK true
	is "a clock has the kernel's part" \
		"$(status_of clock) $(grep -c 'only the clocks include kernel mode' clock.err)" "0 0"
	run faults "$tmp/sspapi" stat -e perf::TASK-CLOCK,perf::PAGE-FAULTS true
	is "other events have it not: it is reported" \
		"$(status_of faults) $(grep -c 'only the clocks include kernel mode' faults.err)" "0 1"
	run inside "$tmp/sspapi" stat -f json -e cs,migrations,cgroup-switches,page-faults true
	is "events of the kernel only are not shown as 0" \
		"$(json inside.err \
		'map { $_->{name} } @{$d->{events}}') $(grep -c \
		'CONTEXT-SWITCHES, perf::CPU-MIGRATIONS, perf::CGROUP-SWITCHES: not permitted' \
		inside.err)" "perf::PAGE-FAULTS 1"
	run list "$tmp/sspapi" list
	is "nor is it listed as countable here" \
		"$(grep -cE '^  perf::(PAGE-FAULTS|CONTEXT-SWITCHES|CGROUP-SWITCHES) ' \
		list.out) $(grep -c \
		'^  context-switches, cpu-migrations, cgroup-switches: not permitted' list.out)" \
		"1 1"
	# With and without rows, also on a slow machine.
	cp "$(command -v sleep)" owned
	chmod 4755 owned
	chmod 755 .
	for rows in "" --per-thread=no; do
		# shellcheck disable=SC2086 # a word or none
		run owned "$tmp/sspapi" stat $rows sh -c './owned 0.3; :'
		check "a program of another user is said not to be counted${rows:+, writes }$rows" sh -c 'tr -s " \n" "  " <owned.err | grep -q "some counts are missing.*not counted: .*owned.* runs as another user"'
	done
	user=
else
	skip "what this user may not see" "it may see all, or is not ours to choose"
fi

# ---- elsewhere ----------------------------------------------------------------------------------
first=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//') last=$(taskset -pc $$ | sed 's/.*[:,-] *//')
if [ "$first" != "$last" ]; then
	run bound taskset -c "$first" "$sspapi" stat -o "$tmp/bound.json" taskset -c "$last" \
		"$apps/counted" pages 50
	check "a note reports counts on unwatched CPUs" \
		sh -c 'grep -q "ms were spent on other CPUs than $2" "$1"' sh bound.json "$first"
else
	skip "a note reports counts on unwatched CPUs" "there is one CPU"
fi
done_testing
