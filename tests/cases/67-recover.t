# sspapi recover without a file: which dumps it makes; --list, --all; and report of a run that was killed.
. tests/lib/lib.sh
cd "$tmp" || exit 1

# The steps run in their own /dev/shm, since the machine's has live files of other tests.
for apart in "unshare -m" "unshare -rm" ""; do
	[ -n "$apart" ] && $apart mount -t tmpfs none /dev/shm 2>/dev/null && break
done
if [ -z "$apart" ]; then
	skip "recover without a file" "no file system can be mounted here"
	done_testing
	exit
fi
cat >steps.sh <<'END'
mount -t tmpfs none /dev/shm || exit 1
killed() {
	SSPAPI_OUTPUT=$1 SSPAPI_FORMAT=$2 LD_PRELOAD=$SHIM${MORE:+:$MORE} "$SCENES/life" kill >/dev/null 2>&1
}
step() {
	step_name=$1
	shift
	"$@" >"$step_name.out" 2>"$step_name.err" </dev/null
	echo $? >"$step_name.status"
}
mkdir -p here/sub elsewhere
step none "$S" recover --list
cp "$STORE" finished.sspapi
step finished "$S" recover finished.sspapi
killed "$PWD/here/one.sspapi" store
killed "$PWD/here/sub/two.sspapi" json,store
killed "$PWD/elsewhere/three.sspapi" store
touch "/dev/shm/sspapi.$(id -u).$(hostname).1.1.live"
ls /dev/shm | wc -l >files
cd here
step ../list "$S" recover --list
step ../doctor "$S" doctor
step ../report "$S" report one.sspapi
step ../second "$S" report sub/two.json
step ../unknown "$S" report four.sspapi
(cd ../elsewhere/../here/sub && step ../../below "$S" recover)
ls sub >../sub.ls
ls /dev/shm | wc -l >../files.below
step ../here "$S" recover
(cd sub && step ../../nothing "$S" recover)
ls . sub ../elsewhere >../here.ls
[ -z "$SCRIPT" ] || echo n | script -qec "'$S' recover --all" /dev/null >../no.out
ls ../elsewhere >../no.ls
step ../discard "$S" recover --discard
ls /dev/shm | wc -l >../files.discard
[ -z "$SCRIPT" ] || echo y | script -qec "'$S' recover --all" /dev/null >../yes.out
[ -n "$SCRIPT" ] || "$S" recover --all >../yes.out 2>&1
ls ../elsewhere >../yes.ls
ls /dev/shm | wc -l >../files.end
killed "$PWD/../elsewhere/five.sspapi" store
step ../all "$S" recover --all --yes --discard
ls /dev/shm | wc -l >>../files.end
END
run_shim store "$scenes/one"
SSPAPI_OUTPUT=$tmp/store.sspapi run_shim store "$scenes/one"
SCRIPT=
script -qec true /dev/null </dev/null >/dev/null 2>&1 && SCRIPT=yes
S=$sspapi SCENES=$scenes SHIM=$SHIM MORE=${MORE-} STORE=$tmp/store.sspapi SCRIPT=$SCRIPT run steps $apart sh steps.sh
is "the steps" "$(status_of steps) $(cat steps.err)" "0 "

is "--list of nothing" "$(status_of none) $(cat none.out) $(grep -c 'no killed process' none.err)" "0  1"
is "a finished store is not a live file" "$(status_of finished) $(grep -c 'finished.sspapi: not a live file' finished.err) $(ls finished*)" \
	"1 1 $(ls finished*)"
is "four files are left" "$(cat files)" 4
is "--list: all of them, and nothing changes" "$(status_of list) $(cat list.err) $(grep -c ' life  ' list.out)" "0  3"
is "--list: program, start, memory, dump" \
	"$(grep -cE '^[* ] life +[0-9]+  [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8} +[0-9.]+ MiB  /.*(here/one|sub/two|elsewhere/three).sspapi$' list.out)" 3
is "--list: a star for those in and below this folder" "$(grep -cE '^\* .*/here/(one|sub/two).sspapi$' list.out) $(grep -c '^  life.*elsewhere' list.out)" "2 1"
is "--list: one that is empty" "$(grep -c '1\.1\.live (empty' list.out)" 1
check "doctor has their number and memory" grep -qE '4 killed processes have left live files in /dev/shm, which use +[0-9.]+ MiB' doctor.out
check "doctor recommends the list" grep -q 'do: list them with sspapi recover --list' doctor.out
is "report finds the live file by the dump's name" "$(status_of report) $(grep -c '^life kill: .*killed$' report.out) $(grep -c 'one.sspapi: not written, because its process was killed' report.err)" "0 1 1"
is "and by that of another format" "$(status_of second) $(grep -c 'sub/two.json: not written, because its process was killed' second.err)" "0 1"
is "but no other" "$(status_of unknown) $(grep -c 'No such file' unknown.err)" "1 1"
is "below: only the folder's own" "$(status_of below) $(cat below.err) $(wc -l <below.out) $(paste -sd ' ' sub.ls) $(cat files.below)" "0  2 two.json two.sspapi 3"
is "here: that of this folder" "$(status_of here) $(cat here.err) $(cat here.out)" "0  $tmp/here/one.sspapi"
check "no other" not grep -q three here.ls
is "nothing of this folder: a line names the list" "$(status_of nothing) $(cat nothing.out) $(grep -c 'below this folder; 2 live files of other runs: sspapi recover --list' nothing.err)" "0  1"
is "--discard: nor does it touch others" "$(status_of discard) $(cat files.discard)" "0 2"
if [ -n "$SCRIPT" ]; then
	is "--all asks on a terminal: no" "$(grep -c 'Write the dumps of 2 live files in all folders' no.out) $(cat no.ls)" "1 "
	is "--all asks on a terminal: yes" "$(grep -c 'in all folders' yes.out) $(cat yes.ls)" "1 three.sspapi"
else
	skip "--all asks on a terminal" "no script(1)"
fi
is "--all: no file is left; --yes does not ask" "$(status_of all) $(paste -sd ' ' files.end)" "0 0 0"
run both "$sspapi" recover --all store.sspapi
is "--all takes no files" "$(status_of both)" 2

# Without a time of its end (here its start is after all readings) the headline has no empty place.
mkdir late
SSPAPI_OUTPUT=$tmp/late.json run_shim late env SSPAPI_LIVE="$tmp/late" "$scenes/life" kill
mv late/*.live late.live
perl -e 'open my $f, "+<", $ARGV[0] or die; seek $f, 96, 0; print $f pack "Q", (time + 86400) * 1e9; close $f or die' late.live
"$sspapi" report late.live | sed -n 1p >headline
is "the headline of a run without a time" "$(sed 's/ on [^,]*,.*/ on HOST,/' headline)" "life kill: on HOST,"

done_testing
