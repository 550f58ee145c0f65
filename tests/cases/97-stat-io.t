# Tests the io of a process in sspapi stat, which the kernel counts itself.
. tests/lib/lib.sh
cd "$tmp" || exit 1
need_stat
[ -r /proc/self/io ] || skip_all "this kernel does not count io"
chmod 777 .

# writes FILE EVENT: prints its count in a store
writes() {
	"$sspapi" report -f json "$1" >io.json
	json io.json "map { \$_->{total} } grep { \$_->{name} eq 'io:::$2' } @{\$d->{events}}"
}
as_user='setpriv --reuid=65534 --regid=65534 --clear-groups'
program='head -c 100000 /dev/zero | cat >out; head -c 77 /dev/zero >out; exit 3'

run io "$sspapi" stat -e io:::wchar,io:::rchar,page-faults -o io.sspapi sh -c "$program"
is "io of a program, of its children too" "$(status_of io) $(writes io.sspapi wchar)" "3 200077"
check "reads include the loader's" test "$(writes io.sspapi rchar)" -gt 200000
run text "$sspapi" report io.sspapi
is "it is of the machine as a whole" \
	"$(grep -E '^wchar' text.out | tr -s ' ') $(json io.json '$d->{components}[0]{total}{"io:::wchar"}')" \
	"wchar [B] machine 200,077 200077"
run nothing "$sspapi" stat -e io:::wchar,io:::syscr,io:::rchar -o nothing.sspapi true
run reads "$sspapi" stat -e io:::wchar,io:::syscr,io:::rchar -o reads.sspapi sh -c 'read -r line <three'
is "a program that writes nothing" "$(status_of nothing) $(writes nothing.sspapi wchar)" "0 0"
printf 'ab\n' >three
run rows "$sspapi" stat -I 1 -e io:::wchar -o rows.sspapi sh -c '
	until grep -q "process .*io:::wchar" rows.err; do head -c 500 /dev/zero >>out; done'
is "-I: the rows are the total" "$(awk '$3 == "process" { n += $4 } END { print n }' rows.err)" \
	"$(writes rows.sspapi wchar)"
if [ "$(id -u)" = 0 ] && plain "as an ordinary user"; then
	cp "$B"/sspapi "$B"/libsspapi*.so .
	rm out
	# shellcheck disable=SC2086 # words
	run user $as_user ./sspapi stat -e io:::wchar -o user.sspapi sh -c "$program"
	# (A kernel may not let a user read the file of a process that has ended.)
	check "as an ordinary user, all or a note" sh -c '[ "$1" = 200077 ] || grep -q "io of the last" "$2"' - \
		"$(writes user.sspapi wchar)" user.out
fi

# A user with CAP_PERFMON may count page faults of root's process, but not read its io.
perfmon="$as_user --inh-caps=+perfmon --ambient-caps=+perfmon"
# shellcheck disable=SC2086 # words
if [ "$(id -u)" = 0 ] && plain "of two users" && $perfmon true 2>/dev/null; then
	mkfifo -m 666 own.go root.go done
	: >two
	chmod 666 two
	$as_user sh -c 'read -r line <own.go; head -c 700 /dev/zero >>two; echo >done; read -r line <own.go' &
	own=$!
	sh -c 'read -r line <root.go; head -c 900 /dev/zero >>two' &
	other=$!
	$perfmon ./sspapi stat -e io:::wchar,page-faults -o two.sspapi -p $own,$other >two.out 2>two.err &
	stat=$!
	await grep -q 'sspapi stat: counting' two.err
	echo >root.go
	wait $other
	echo >own.go
	cat done
	kill -TERM $stat
	wait $stat
	echo >own.go
	is "of two processes, one not readable: the other, and a note" \
		"$(writes two.sspapi wchar) $(grep -c '^- io of 1 process is not included' two.err)" "701 1"
fi

# notes NAME PATTERN: counts the notes of a store
notes() {
	"$sspapi" report -f json "$1.sspapi" >io.json
	json io.json "scalar grep { /$2/ } @{\$d->{notes}}"
}
is "children: a note that some may be missing; a program alone has none" \
	"$(notes io 'their parent did not wait') $(notes nothing 'their parent did not wait')" "1 0"
is "they are listed" "$("$sspapi" list wchar | grep -c ' io:::wchar ')" 1

# ---- a running process -------------------------------------------------------------------------
# Its parent waits for none of its children, so that each is gone when it ends.
mkfifo go went
cat >parent.pl <<'END'
	$SIG{CHLD} = "IGNORE";
	my $pid = fork;
	if (!$pid) {
		syswrite STDOUT, "x" x 50;
		while (open my $go, "<", "go") {
			my $n = <$go> + 0;
			close $go;	# or what is written next is lost with it
			last if !$n;
			syswrite STDOUT, "x" x $n;
			open my $went, ">", "went";
		}
		exit;
	}
	print STDERR "$pid\n";
	sleep 1 while kill 0, $pid;
END
perl parent.pl >written 2>pid &
parent=$!
await test -s pid
# attach NAME ARGUMENT...
attach() {
	name=$1
	shift
	"$sspapi" stat -e io:::wchar,page-faults -p "$(cat pid)" "$@" -o "$name.sspapi" >"$name.out" 2>"$name.err" &
	stat=$!
	await grep -qs 'sspapi stat: counting' "$name.err"
}
attach runs
echo 1000 >go
cat went
kill -TERM $stat
wait $stat
is "of a running process: from the start of counting on" "$(writes runs.sspapi wchar)" 1000
attach both -t "$(cat pid)"
echo 1000 >go
cat went
kill -TERM $stat
wait $stat
is "of a process and its thread: once" "$(writes both.sspapi wchar)" 1000
"$sspapi" stat -e io:::wchar -t "$(cat pid)" -o thread.sspapi true >thread.out 2>&1
is "of a thread: a note that it is its own only" "$(notes thread 'io of -t is that of the named threads')" 1
run until "$sspapi" stat -e io:::wchar,page-faults -p "$(cat pid)" -o until.sspapi head -c 4321 /dev/zero
is "a program after -p only says how long to count" \
	"$(writes until.sspapi wchar) $(cat until.out until.err | grep -a -c 'io of the last')" "0 0"
attach ends
echo 1000 >go
cat went
echo 0 >go
wait $stat
check "one that is gone when it ends: it is said that the last is missing" \
	grep -qE 'io of the last [0-9.]+ ms is missing' ends.out ends.err
wait $parent

# ---- several processes, one of which ends early -------------------------------------------------
mkfifo short.go long.go
sh -c 'read -r line <short.go' &
short=$!
sh -c 'read -r line <long.go' &
long=$!
"$sspapi" stat -I 1 -e io:::wchar,page-faults -p $short,$long >several.out 2>several.err &
stat=$!
await grep -q 'sspapi stat: counting' several.err
before=$(date +%s%3N)
echo >short.go
wait $short
await sh -c '[ $(($(date +%s%3N) - $1)) -gt 2000 ]' - "$before"
echo >long.go
wait $long
wait $stat
check "only the last moments of one that ended early are missing" awk '
	/io of the last/ { for (i = 1; i < NF; i++) if ($i == "last") ms = $(i + 1) }
	END { exit !(ms < 1500) }' several.out several.err

# ---- a child that already ran --------------------------------------------------------------------
mkfifo child.go parent.go
sh -c '(head -c 500 /dev/zero >out; read -r line <child.go) & wait; read -r line <parent.go' &
echo $! >pid
attach child
echo >child.go
exec 3>parent.go
kill -TERM $stat
wait $stat
exec 3>&-
is "a child that already ran is included when it ends, with a note" \
	"$(writes child.sspapi wchar) $(json io.json '$d->{settings}{stat}{whole} ? "whole" : "not whole",
	scalar grep { /^1 child process already ran/ } @{$d->{notes}}' | paste -sd,)" "500 not whole,1"
done_testing
