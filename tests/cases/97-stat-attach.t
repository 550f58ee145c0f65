# Tests sspapi stat -p, -t: threads that already run, and those created later.
. tests/lib/lib.sh
cd "$tmp" || exit 1
need_stat
run try "$sspapi" stat --per-thread -f json true
! grep -q 'libsspapi-threads.so in the program reported' try.err || skip_all "this kernel writes no rows"

# once SEED PREFIX...
once() {
	rm -rf one
	mkdir one
	seed=$1
	shift
	(cd one && timeout -k 1 "$LIMIT" sh "$root/tests/lib/attach.sh" "$B" "$root" "$seed" "$@") \
		>once.out 2>&1 || { cat once.out; return 1; }
}
seed=$(date +%s)
echo "# seeds from $seed on"
said=0
for i in 0 1 2 3; do
	check "threads are created all the time: each is counted once (seed $((seed + i)))" once \
		$((seed + i)) "$sspapi"
	said=$((said + $(grep -c 'created while counters were opened: some ms of a thread' \
		one/counted.json)))
done
check "and a note says what may be missing of a thread that was being created ($said of 4)" [ \
	"$said" -gt 0 ]
if [ "$(id -u)" = 0 ] && [ -z "${SANITIZE-}" ]; then
	cp "$B"/sspapi "$B"/libsspapi*.so "$tmp"
	chmod 755 "$tmp"
	# An ordinary user only counts user code.
	as_user() {
		rm -rf one
		mkdir one
		chown 65534 one
		mkdir -p user/tests/apps user/tests/lib
		cp "$B/tests/apps/spawner" user/tests/apps
		cp "$root/tests/lib/attach.sh" user
		cp "$root/tests/lib/check-attached.pl" "$root/tests/lib/Dump.pm" user/tests/lib
		(cd one && timeout -k 1 "$LIMIT" setpriv --reuid=65534 --regid=65534 \
			--clear-groups sh "$tmp/user/attach.sh" "$tmp/user" "$tmp/user" "$seed" \
			"$tmp/sspapi") >once.out 2>&1 || { cat once.out; return 1; }
	}
	check "an ordinary user's" as_user
	sleep 1000 &
	roots=$!
	run refused setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/sspapi" stat -p \
		$roots touch ran
	is "another user's is refused, with the reason" \
		"$(status_of refused) $(grep -c 'not permitted: it belongs to user 0' refused.err)" "125 1"
	check "and nothing ran" test ! -e ran
	run mixed setpriv --reuid=65534 --regid=65534 --clear-groups \
		sh -c 'sleep 1000 & "$0" stat -p $!,"$1" true; kill $!' "$tmp/sspapi" $roots
	is "of several the refusal names the one of another user" \
		"$(cut -d: -f1-3 mixed.err | cut -c-60)" \
		"sspapi stat: $roots: not permitted"
	kill $roots
else
	skip "an ordinary user's" "not root"
fi

# ---- who ------------------------------------------------------------------------------------------------------------
mkfifo go
# begin MODE...: starts a program as $pid; it goes on when the FIFO is opened
begin() {
	"$apps/counted" wait "$@" go >said &
	pid=$!
	await grep -q ready said
}
# A thread that is being created when counters are turned on is turned on soon after: before the
# program goes on here.
for way in --per-thread --per-thread=no; do
	begin 0 500
	rm -f heard
	UNHEARD=$tmp/heard LD_PRELOAD=$preloads/unheard.so "$sspapi" stat $way -p $pid \
		-e page-faults -o late.json 2>late.err &
	await test -e heard
	: >go
	wait $pid
	wait $!
	check "$way: a thread that was not reported is counted" json late.json \
		'$d->{events}[0]{total} >= 500 or die $d->{events}[0]{total}'
done
begin 5 100
run one "$sspapi" stat -p $pid -o one.json \
	sh -c ': >go; while kill -0 "$0" 2>/dev/null && [ "$(ps -o stat= -p "$0")" != Z ]; do :; done' $pid
wait $pid
is "-p: its later threads" "$(status_of one) $(json one.json \
	'my %n = map { $_->{thread} => 1 } @{$d->{relations}}; join " ", sort keys %n')" \
	"0 counted worker-0 worker-1 worker-2 worker-3 worker-4"
is "the first process is the program's" "$(json one.json '$d->{process}{pid}')" $pid
begin 5 100
"$sspapi" stat -p $pid -o ends.json 2>ends.err &
command=$!
until grep -q counting ends.err; do kill -0 $command || break; done
timeout "$LIMIT" sh -c ': >go'
wait $command
is "it ends with the process" "$? $(json ends.json \
	'$d->{components}[0]{total}{"perf::PAGE-FAULTS"} >= 500 ? "counted" : "too few"')" \
	"0 counted"
begin 5 100
# (A shell makes its background commands ignore it.)
perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$sspapi" stat -t $pid -o int.json 2>int.err &
command=$!
until grep -q counting int.err; do kill -0 $command || break; done
kill -INT $command
wait $command
is "-t: it ends by SIGINT, with a dump" "$? $(test -s int.json; echo $?)" "0 0"
check "and the program runs on" kill -0 $pid
run status "$sspapi" stat -p $pid sh -c 'exit 9'
is "the status is the command's" "$(status_of status)" 9
check "a line reports that no thread ran" grep -q 'none of the threads ran' status.err
run none "$sspapi" stat -p $pid -- /no/such/program
is "no such program" "$(status_of none)" 127
run two "$sspapi" stat -p $pid,$$ -o two.json true
is "two processes" "$(status_of two) $(grep -c 'counting 2 threads' two.err)" "0 1"
timeout "$LIMIT" sh -c ': >go'
wait $pid
for wrong in "" x 0 -1 1,,2 99999999999 1x; do
	run wrong "$sspapi" stat -p "$wrong" touch ran
	is "-p '$wrong'" "$(status_of wrong) $(wc -l <wrong.err)" "125 1"
done
check "and nothing ran" test ! -e ran
run wrong "$sspapi" stat -r 2 -p $$ true
is "-r with -p" "$(status_of wrong)" 125

# ---- few descriptors --------------------------------------------------------
# few LIMIT: runs a program with five threads under the limit
few() {
	rm -f few.json
	begin 5 100
	run few sh -c 'ulimit -n "$1"; exec "$2" stat -p "$0" -o few.json sh -c ": >go; while kill -0 $0 2>/dev/null && [ \"\$(ps -o stat= -p $0)\" != Z ]; do :; done"' \
		$pid "$1" "$sspapi"
	[ "$(status_of few)" = 0 ] || timeout "$LIMIT" sh -c ': >go'
	wait $pid
}
cpus=$(tr ',-' ' \n' </sys/devices/system/cpu/online | wc -l)
if [ "$(nproc)" = 2 ] && [ "$cpus" = 2 ]; then
	few 70	# (rows per CPU are not tried below 72)
	is "few descriptors: counts have no CPU, and it is said" "$(status_of few) $(json few.json 'scalar(grep { /^no counts per CPU/ } @{$d->{notes}}), scalar grep { defined $_->{cpu} } map { @{$_->{cpus}} } @{$d->{relations}}' | paste -sd' ')" "0 1 0"
	is "nor are they said to be on one" "$(grep -c '^no count is proven on its CPU' few.err) $(grep -c '^all counts proven per CPU' few.err)" "1 0"
	check "and are there" test "$(json few.json 'my ($e) = grep { $_->{name} eq "perf::PAGE-FAULTS" } @{$d->{events}}; my $s = 0;
		for my $r (@{$d->{relations}}) { my ($i) = grep { $r->{events}[$_] == $e->{id} } 0 .. $#{$r->{events}}; $s += $_->{total}[$i] for @{$r->{cpus}} } $s')" -ge 500
	few 16
	is "fewer than that: no partial counts" \
		"$(status_of few) $(grep -c \
		'too few descriptors.*: each of its threads takes [1-9]' few.err)" "125 1"
else
	skip "few descriptors" "how many it takes depends on the CPUs"
fi
done_testing
