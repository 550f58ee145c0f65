# Tests sspapi recover: whose store it takes, where the dump goes, and what it refuses.
. tests/lib/lib.sh
steps=$B/tests/long/steps
host=$(uname -n)
cd "$tmp" || exit 1
chmod 755 .
mkdir live out
run_native native "$steps" up set cpu:0 begin a:5 read cpu:1 a:7 b:3 read a:1 print kill:9
grep handed native.out >handed.out
n_dead=0

# dead [VARIABLE=VALUE...]: makes a store of a killed process; its name in $dead, its pid in $pid
dead() {
	rm -rf live/* out/*
	run shim env LD_PRELOAD="$SHIM" SSPAPI_LIVE="$tmp/live" SSPAPI_OUTPUT="$tmp/out/x.json" \
		"$@" \
		"$steps" up set cpu:0 begin a:5 read cpu:1 a:7 b:3 read a:1 print kill:9
	dead=$(echo live/*.live)
	pid=$(echo "$dead" | sed 's/\.[0-9]*\.live$//; s/.*\.//')
}

# recover [ARG...]: runs the command; its output is in recover.out, .err
recover() {
	run recover "$B/sspapi" recover "$@"
}

# poke FILE OFFSET FORMAT VALUE: writes a word of the header (core/store/layout.h)
poke() {
	perl -e 'my ($f, $at, $as, $v) = @ARGV; open my $h, "+<:raw", $f or die $!;
		seek $h, $at, 0; print $h pack $as, $v' "$@"
}

holds() {
	cp "$1" holds.json && cp handed.out holds.out && has_returned holds
}

found() {
	find out live -type f | sed "s/$host/HOST/; s/\.$pid\b/.PID/; s/\(PID\)\.[0-9][0-9]*/\1/" \
		| LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//'
}

# ---- where to --------------------------------------------------------------------

dead
recover "$dead"
is "our own: where the process would have written it" \
	"$(status_of recover) $(cat recover.err) $(found)" "0  out/x.json"
is "it reports where" "$(cat recover.out)" "$tmp/out/x.json"
check "it holds what PAPI returned" holds out/x.json
is "end, args and the tables' data are there" \
	"$(json out/x.json '$d->{process}{end}, $d->{process}{pid}, $d->{process}{args}[1]')" \
	"recovered
$pid
up"

dead
echo mine >out/x.json
recover "$dead"
is "nothing existing is replaced" "$(status_of recover) $(found) $(cat out/x.json)" \
	"0 out/x.HOST.PID.json out/x.json mine"
dead
echo mine >out/x.json
echo mine >"out/x.$host.$pid.json"
recover "$dead"
is "nor twice" "$(status_of recover) $(ls out | wc -l) $(cat out/x.json "out/x.$host.$pid.json" |
	tr '\n' ' ')" "0 3 mine mine "
dead
echo mine >to.json
recover -o to.json "$dead"
is "-o: over nothing" "$(status_of recover) $(cat to.json) $(found)" \
	"1 mine live/sspapi.0.HOST.PID.live"
check "and one line says so" grep -q "^sspapi recover: $dead: .*to.json" recover.err
recover -o to2.csv "$dead"
is "-o: the format by the extension" "$(status_of recover) $(head -c 9 to2.csv) $(found)" \
	"0 host,rank "
dead
mkdir out/x.json
recover "$dead"
is "a folder of that name" "$(status_of recover) $(found)" "0 out/x.HOST.PID.json"
rmdir out/x.json
dead
ln -s gone out/x.json
recover "$dead"
is "a symbolic link of that name" "$(status_of recover) $(found) $(readlink out/x.json)" \
	"0 out/x.HOST.PID.json gone"
dead
rm -r out
recover "$dead"
case $(status_of recover) in
0) check "its folder is gone: made" test -e out/x.json ;;
*) check "its folder is gone: one line, and the store stays" test -e "$dead" -a -s recover.err ;;
esac
mkdir -p out

dead SSPAPI_FORMAT=json,csv,store
recover "$dead"
is "all requested formats" "$(status_of recover) $(found)" "0 out/x.csv out/x.json out/x.sspapi"
recover out/x.sspapi
is "a recovered store is a store, and stays" \
	"$([ -e out/x.sspapi ] && "$B/sspapi" report -f json out/x.sspapi >again.json &&
	holds again.json && echo yes)" yes
dead SSPAPI_FORMAT=json SSPAPI_OUTPUT=
mkdir -p cwd
rm -rf live/* cwd/*
(cd cwd && run shim env LD_PRELOAD="$SHIM" SSPAPI_LIVE="$tmp/live" SSPAPI_FORMAT=json "$steps" up \
	set begin a:5 read kill:9)
recover live/*.live
is "the default name with another format" "$(ls cwd | sed "s/$host/HOST/; s/[0-9]\{2,\}/PID/")" \
	sspapi.steps.HOST.PID.json

# An output that is not a regular file: as the process would, or a refusal; never a file next to it.
dead SSPAPI_OUTPUT="$tmp/fifo.json"
mkfifo fifo.json
timeout 2 cat fifo.json >fifo.read &
recover "$dead"
wait
is "a FIFO" "$(ls fifo.*)" "fifo.json
fifo.read"
rm -f fifo.*
(cd cwd && rm -f ./* && run shim env LD_PRELOAD="$SHIM" SSPAPI_LIVE="$tmp/live" SSPAPI_OUTPUT=- \
	"$steps" up set begin a:5 read kill:9)
rm -f cwd/*
recover live/*.live
is "SSPAPI_OUTPUT=-: no file of that name" "$(ls cwd)" ""
rm -f ./-

dead SSPAPI_OUTPUT="$(printf '%s/out/x\033[31m\ny.json' "$tmp")"
recover "$dead"
is "strings of a store are shown with control characters escaped" \
	"$(tr -d '\n -~' <recover.out | wc -c) $(wc -l <recover.out)" "0 1"

# ---- whose -------------------------------------------------------------------------

recovers_in() {
	is "$1: next to the live file" "$(status_of recover) $(find out -type f) $(found)" \
		"0  live/sspapi.0.HOST.PID.txt"
	check "$1: it has what PAPI returned" grep -q 'EV_A' live/*.txt
}
dead
chmod 620 "$dead"
recover "$dead"
recovers_in "group-writable"
dead
chmod 602 "$dead"
recover "$dead"
recovers_in "world-writable"
if [ "$(id -u)" = 0 ]; then
	dead
	chown 65534 "$dead"
	recover "$dead"
	recovers_in "another user's"
	dead
	mkdir -p theirs
	mv "$dead" theirs/
	ln -s "$tmp/theirs/$(basename "$dead")" "$dead"
	recover "$dead"
	is "a symbolic link: not trusted" "$(find out -type f)" ""
	rm -rf theirs
	dead
	chmod 777 live
	run recover setpriv --reuid=65534 --regid=65534 --clear-groups "$B/sspapi" recover "$dead"
	is "as nobody: ours cannot be read" "$(status_of recover) $(found)" \
		"1 live/sspapi.0.HOST.PID.live"
	check "and one line says so" is_equal "$(cat recover.err)" \
		"sspapi recover: $dead: Permission denied"
	dead
	chmod 777 live
	chmod 644 "$dead"
	run recover setpriv --reuid=65534 --regid=65534 --clear-groups "$B/sspapi" recover "$dead"
	is "as nobody, but readable: nothing is written where its bytes say" "$(find out -type f)" \
		""
	chmod 755 live
else
	skip "another user's" "needs root"
fi

# ---- does it live? -------------------------------------------------------------------

rm -rf live/* out/*
mkfifo wait
run_native none true
LD_PRELOAD="$SHIM" SSPAPI_LIVE="$tmp/live" SSPAPI_OUTPUT="$tmp/out/x.json" \
	"$steps" up set cpu:0 begin a:5 read cpu:1 a:7 b:3 read say:ready line end \
	print <wait >alive.out 2>alive.err &
alive=$!
exec 9>wait
while ! grep -q ready alive.out; do sleep 0.01; done
dead=$(echo live/*.live) pid=$alive
recover "$dead"
is "a live process is refused" "$(status_of recover) $(found)" "1 live/sspapi.0.HOST.PID.live"
check "and one line says how" grep -q "^sspapi recover: $dead: .*may still run.*--force" \
	recover.err
run report "$B/sspapi" report -f json "$dead"
cp report.out report.json
check "report may read it" holds report.json

# Makes a live file of the same bytes, with other words in the header
live_copy() {
	rm -rf copy.json copies
	mkdir copies
	copy=copies/$(basename "$dead")
	cp "$dead" "$copy"
	poke "$copy" "$@"
	recover -o copy.json "$copy"
	status_of recover
}
is "another boot: dead, whichever process has its pid" \
	"$(live_copy 56 a36 00000000-0000-0000-0000-000000000000)" 0
is "another start time: dead" "$(live_copy 40 Q 1)" 0
is "another pid, which does not exist" "$(live_copy 32 L 4194300)" 0
is "another PID namespace: it may be alive" "$(live_copy 48 Q 1)" 1
is "finished by exit: dead" "$(live_copy 20 L 1)" 0
is "finished by exec: dead, although its pid is alive" "$(live_copy 20 L 3)" 0
is "a snapshot is not its end" "$(live_copy 20 L 5)" 1
hosts=$(perl -e 'open my $f, "<:raw", $ARGV[0] or die; local $/; $_ = <$f>; print unpack("Q", substr $_, 112, 8)' "$dead")
is "another host: it may be alive" "$(live_copy $((hosts + 12)) a1 Z)" 1
recover --force -o forced.json "$dead"
is "--force" "$(status_of recover)" 0
cp handed.out holds.out
check "--force: what was there" holds forced.json
echo >&9
exec 9>&-
wait $alive
is "it ends as it would have" "$? $(cat alive.err)" "0 "
cp alive.out alive2.out
cp out/x.json alive2.json
check "and its own dump is whole" has_returned alive2

# exec: the dump is written by then. If that failed, the store keeps the same pid.
rm -rf live/* out/*
: >out/file
run shim env LD_PRELOAD="$SHIM" SSPAPI_LIVE="$tmp/live" SSPAPI_OUTPUT="$tmp/out/file/x.json" sh -c \
	"exec '$steps' up set cpu:0 begin a:5 read cpu:1 a:7 b:3 read print exec:/bin/cat"
pid=$(basename live/*.live | sed 's/\.[0-9]*\.live$//; s/.*\.//')
check "exec without a dump: one line says that the store stays" \
	grep -q "^sspapi: .*recover.*$tmp/live" shim.err
recover -o exec.json live/*.live
check "and it is whole" holds exec.json
# Both programs of one process
rm -rf live/* out/*
cat >two.sh <<END
export SSPAPI_OUTPUT=$tmp/out/%e.json
exec '$steps' up set begin a:5 read exec:$tmp/two
END
cat >two <<END
#!/bin/sh
exec '$steps' up set begin a:100 read kill:9
END
chmod 755 two
run shim env LD_PRELOAD="$SHIM" SSPAPI_LIVE="$tmp/live" sh two.sh
is "exec and killed: a dump of the one, a store of the other" \
	"$(status_of shim) $(ls out) $(ls live | wc -l)" "137 steps.json 1"
recover live/*.live
is "recovered beside it" "$(status_of recover) $(ls out | wc -l) $(json "$(ls out/steps.*.*.json)" \
	'$d->{relations}[0]{cpus}[0]{total}[0]')" "0 2 100"

# ---- finished stores ----------------------------------------------------------------------

rm -rf live/* out/*
SSPAPI_OUTPUT=$tmp/out/fin.sspapi run_shim fin "$steps" up set cpu:0 begin a:5 read cpu:1 a:7 \
	b:3 read print
sum=$(cksum <out/fin.sspapi)
recover out/fin.sspapi
is "a finished store is left as it is" "$(cksum <out/fin.sspapi)" "$sum"
is "and refused" "$(status_of recover)" 1
"$B/sspapi" report -f json out/fin.sspapi >fin2.json
check "and can be shown" holds fin2.json
is "it is still there" "$(cksum <out/fin.sspapi)" "$sum"

# ---- two at a time ---------------------------------------------------------------------

for i in 1 2 3 4 5; do
	dead
	"$B/sspapi" recover "$dead" >/dev/null 2>&1 &
	"$B/sspapi" recover "$dead" >/dev/null 2>&1 &
	wait
	for f in out/*.json; do
		holds "$f" >/dev/null || echo "$f"
	done
	[ -e out/x.json ] || echo none
	find live out ! -name '*.json' -type f
done >both
is "two at a time: whole dumps, the store is gone" "$(cat both)" ""

# ---- damaged -------------------------------------------------------------------------------

# refused NAME FILE WORDS: status 1, one line, nothing is written or removed
refused() {
	recover -o refused.json "$2"
	is "$1: 1" "$(status_of recover) $(wc -l <recover.err)" "1 1"
	check "$1: $3" grep -q "^sspapi recover: $2: .*$3" recover.err
	check "$1: it is still there" test -e "$2"
	check "$1: no dump" not test -e refused.json
}
dead
cp "$dead" good
head -c 100 good >bad.live
refused "100 bytes of it" bad.live "damaged"
: >bad.live
refused "nothing of it" bad.live "empty"
head -c 100000 /dev/urandom >bad.live
refused "anything" bad.live "not a store"
cp good bad.live
poke bad.live 8 L 0x04030201
refused "the other byte order" bad.live "not a store"
cp good bad.live
poke bad.live 14 S 999
refused "from a newer sspapi" bad.live "newer"
mkdir dir.live
refused "a folder" dir.live ""
mkfifo fifo.live
refused "a FIFO" fifo.live ""
recover -o refused.json gone.live
is "no such file" "$(status_of recover) $(cat recover.err)" \
	"1 sspapi recover: gone.live: No such file or directory"

# Readable in part: the dump has that part, and 1 says that it is incomplete.
cp good bad.live
relation=$(perl -e 'open my $f, "<:raw", $ARGV[0] or die; local $/; $_ = <$f>; /\x06\x53\0\0/g or die; print pos() - 4' good)
poke bad.live "$relation" L 0x5308
rm -f part.json
recover -o part.json bad.live
check "damaged in part: a dump" json part.json '$d->{format}'
check "damaged in part: a line says so" grep -q "^sspapi recover: bad.live: .*damaged" recover.err
is "damaged in part: 1" "$(status_of recover)" 1
truncate -s 66000 good
cp good bad.live
rm -f part.json
recover -o part.json bad.live
check "cut off: a dump or a line" sh -c "[ -e part.json ] || [ -s recover.err ]"
check "no part of a dump is left" is_equal "$(find . -name '*.part*')" ""

# ---- all of this user's -----------------------------------------------------------------------

if [ "$(id -u)" != 0 ] || ! unshare -m true 2>/dev/null; then
	skip "all of this user's" "needs root, for a /dev/shm of its own"
	done_testing
	exit 0
fi
cat >all.sh <<END
mount -t tmpfs none /dev/shm || exit 9
mkdir -p all; rm -rf all/*
for i in 1 2 3; do
	LD_PRELOAD=$SHIM SSPAPI_OUTPUT=$tmp/all/x\$i.json '$steps' up set begin a:\$i read kill:9 >/dev/null 2>&1
done
LD_PRELOAD=$SHIM SSPAPI_OUTPUT=$tmp/all/live.json '$steps' up set begin a:9 read say:ready sleep:3000 >all/ready &
live=\$!
while ! grep -q ready all/ready; do sleep 0.01; done
LD_PRELOAD=$SHIM SSPAPI_OUTPUT=$tmp/all/theirs.json setpriv --reuid=65534 --regid=65534 --clear-groups \
	sh -c "exec '$steps' up set begin a:5 read kill:9" >/dev/null 2>&1
head -c 3000 /dev/urandom >/dev/shm/sspapi.0.$host.1.1.live
: >/dev/shm/sspapi.0.$host.1.2.live
: >/dev/shm/other
ls /dev/shm | wc -l >all/before
"$B/sspapi" recover --all --yes >all/out 2>all/err
echo \$? >all/status
ls /dev/shm | grep -v "\.\$live\.[0-9]*\.live" >all/left
ls /dev/shm | grep -c "\.\$live\.[0-9]*\.live" >all/living
kill \$live; wait
END
# nobody must be able to read what was built
if setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$SHIM"
then theirs=1; else theirs=0; fi
run all unshare -m sh all.sh
is "(eight files)" "$(cat all/before)" $((7 + theirs))
is "all: a dump each of the dead ones" "$(ls all/*.json | tr '\n' ' ')" \
	"all/x1.json all/x2.json all/x3.json "
is "all: what they hold" "$(for i in 1 2 3; do json all/x$i.json \
	'$d->{relations}[0]{cpus}[0]{total}[0]'; done | tr '\n' ' ')" "1 2 3 "
is "all: a live process's is not touched" "$(cat all/living)" 1
is "all: 1, since one is no store" "$(cat all/status)" 1
check "all: a line for it" grep -q "^sspapi recover: .*sspapi.0.$host.1.1.live" all/err
check "all: not one for another user's" not grep -q 65534 all/err
check "all: another user's is not touched" sh -c "[ $theirs = 0 ] || grep -q 65534 all/left"
check "all: and files that are not ours" grep -qx other all/left
done_testing
