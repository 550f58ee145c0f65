# Gives the command hostile files and failures: each of these once broke it, hung it, or lost
# something.
. tests/lib/lib.sh
one=$scenes/one
cd "$tmp" || exit 1
mkdir live

# put FILE OFFSET FORMAT VALUE: writes into a store as perl's pack does (offsets: sspapi-store(5),
# the header)
put() {
	perl -e 'open my $f, "+<", $ARGV[0] or die; seek $f, $ARGV[1], 0; print $f pack $ARGV[2],
		$ARGV[3]; close $f or die' "$@"
}
END=20 PID=32 TICKS=40 MACHINES=384 MEMBERS=376

is_root() {
	[ "$(id -u)" = 0 ]
}

# ---- 9: a FIFO whose reader stalls (begun early, since it takes its ten seconds) --------------

mkfifo stalls
sleep 1000 <stalls &
reader=$!
(
	run_native stalling env LD_PRELOAD="$SHIM" SSPAPI_FORMAT=store SSPAPI_LIVE="$tmp/live" \
		SSPAPI_OUTPUT="$tmp/stalls" "$one"
) &
stalling=$!
mkfifo stands
sleep 1000 <stands &
reader2=$!
(
	timeout -k 5 "$LIMIT" env LD_PRELOAD="$SHIM" SSPAPI_FORMAT=store SSPAPI_LIVE="$tmp/live" \
		SSPAPI_OUTPUT=- "$one" 2>stands >/dev/null
	echo $? >standing.status
) &
standing=$!

SSPAPI_OUTPUT=$tmp/a.sspapi run_shim shim "$one"
SSPAPI_OUTPUT=$tmp/b.sspapi run_shim shim "$one" EV_B

# ---- 2: lists of machines and processes that do not exist -------------------------------------

all_levels='--per-cpu --per-core --per-cache --per-numa --per-package --per-machine --per-process --per-thread --per-callsite'
everything() {
	for level in '' $all_levels; do
		for form in text json csv $([ "$level" ] || echo hwloc store); do
			# shellcheck disable=SC2086 # words
			run every "$sspapi" report $level -f $form "$1"
			[ "$(status_of every)" = 1 ] ||
				{ echo "report $level -f $form: $(status_of every)"
				cat every.err; return 1; }
		done
		# shellcheck disable=SC2086
		run every "$sspapi" diff $level "$1" b.sspapi
		[ "$(status_of every)" = 2 ] || { echo "diff $level: $(status_of every)"
		return 1; }
		# shellcheck disable=SC2086
		run every "$sspapi" top -n 1 $level "$1"
		[ "$(status_of every)" -le 1 ] || { echo "top $level: $(status_of every)"
		return 1; }
	done
	run every "$sspapi" merge -o m.sspapi "$1" b.sspapi
	[ "$(status_of every)" = 1 ] || { echo "merge: $(status_of every)"; return 1; }
}
for at in $MACHINES $MEMBERS; do
	for value in 8 1000 4294967296; do
		cp a.sspapi x.sspapi
		put x.sspapi $at Q $value
		check "(2) a header's word $at says $value: every verb, level and format" \
			everything x.sspapi
	done
done

# A process of a merged store whose machine is not in the list: found by the fuzzer.
"$sspapi" merge -o members.sspapi a.sspapi b.sspapi
perl -e '
	open my $f, "+<", "members.sspapi"; binmode $f; local $/; $_ = <$f>;
	while (/\x30\x53\x00\x00/g) {	# SP_BLOCK_MEMBER
		my $at = pos() - 4;
		substr $_, $at + 24, 4, pack "L", 0x20008044 unless $at % 8;
		pos = $at + 64;
		$found++;
	}
	seek $f, 0, 0; print $f $_; exit !$found' || echo "Bail out! no members"
for how in "report" "report -f json b.sspapi" "report --events EV_A" "merge -o m.sspapi b.sspapi" \
	"diff b.sspapi" "top -n 1"; do
	# shellcheck disable=SC2086
	run members "$sspapi" $how members.sspapi
	check "(2) a process on a machine that is not in the store: $how" \
		sh -c 'cat members.err; [ $(cat members.status) -le 2 ]'
done

# An interval that names a call site that does not exist.
cp a.sspapi x.sspapi
perl -e '
	open my $f, "+<", "x.sspapi"; binmode $f; local $/; $_ = <$f>;
	while (/\x20\x53\x00\x00/g) {	# SP_BLOCK_INTERVALS
		my $at = pos() - 4;
		next if $at % 8;
		substr $_, $at + 32, 8, pack "LL", 3e9, 4e9;
		pos = $at + 64;
		$found++;
	}
	seek $f, 0, 0; print $f $_; exit !$found' || echo "Bail out! no intervals"
for how in "report --per-callsite" "report -f json" "report --per-callsite b.sspapi" \
	"merge -o m.sspapi b.sspapi" "diff --per-callsite b.sspapi"; do
	# shellcheck disable=SC2086
	run sites "$sspapi" $how x.sspapi
	check "a call site that does not exist: $how" \
		sh -c 'cat sites.err; [ $(cat sites.status) -le 1 ]'
done

# ---- 3: programs that a store names are not run, nor trusted -----------------------------------

mkdir tools
printf '#!/bin/sh\n{ ulimit -v; ulimit -t; echo "${DEBUGINFOD_URLS-none}"; } >"%s/limits"\n' \
	"$tmp" >tools/addr2line
chmod +x tools/addr2line
PATH=$tmp/tools:$PATH DEBUGINFOD_URLS=http://nowhere run names "$sspapi" report a.sspapi
is "(3) the tool for lines has limits, and no network" \
	"$(perl -e '@l = map { s/\s//r } <>; print "memory ", $l[0] < 3e6, " time ", $l[1] < 60, " $l[2]"' limits)" "memory 1 time 1 none"
rm limits
PATH=$tmp/tools:$PATH run names "$sspapi" report --no-symbols a.sspapi
is "(3) --no-symbols: it is not run" "$(status_of names) $(ls limits 2>/dev/null)" "0 "
# A C++ function may have a name of many KB; a hostile one has the name that reports a missing tool.
printf '#!/bin/sh\nfor at; do case $at in 0x*) echo "$at"; printf "%%09000d\\nlong.c:7\\n!\\nlong.c:8\\n" 0 ;; esac; done\n' >tools/addr2line
PATH=$tmp/tools:$PATH run names "$sspapi" report -f json a.sspapi
is "(3) a long name has its own line, and so have its neighbours" \
	"$(status_of names) $(cat names.err) $(json names.out \
	'my %n; $n{"$_->{line} < " . join(" ", map { $_->{symbol}, $_->{line} } @{$_->{inlined_into}})}++ for map { @{$_->{frames}} } @{$d->{callsites}}; keys %n')" \
	"0  long.c:7 < ! long.c:8"
printf '#!/bin/sh\nexec yes 0x1\n' >tools/addr2line
PATH=$tmp/tools:$PATH run names "$sspapi" report a.sspapi
is "(3) a tool that does not end is killed, and reported" \
	"$(status_of names) $(grep -c 'could not read it in the time' names.err)" "0 1"
mkdir built built/scenes built/fake
cp "$one" built/scenes
cp "$fake"/libpapi.so.7.0 built/fake
SSPAPI_OUTPUT=$tmp/other.sspapi run_shim shim "$tmp/built/scenes/one"
if is_root; then
	chown 65534 built/scenes/one built/fake/libpapi.so.7.0
	run names "$sspapi" report -f json other.sspapi
	is "(3) files of another user are not read, and one line says how to" \
		"$(status_of names) $(wc -l <names.err) $(grep -c \
		"another user's file: .*--all-symbols" names.err)" "0 1 1"
	lines() { json names.out \
		'map { $_->{line} // () } map { @{$_->{frames}} } @{$d->{callsites}}' |
		grep -c 'one\.c:\|calls\.h:\|handed\.h:'; }
	is "(3) nor are there lines from them" "$(lines)" 0
	run names "$sspapi" report -f json --all-symbols other.sspapi
	check "(3) --all-symbols reads them" \
		sh -c "cat names.err; [ ! -s names.err ] && [ $(lines) -gt 0 ]"
	chown 0 built/scenes/one built/fake/libpapi.so.7.0
else
	skip "(3) files of another user's are not asked" "not root"
fi
run names "$sspapi" report other.sspapi
is "(3) the caller's own is run" "$(status_of names) $(cat names.err)" "0 "

# A plugin with its debug information in another file, by name (.gnu_debuglink): next to it in a
# folder of the caller, of a stranger, of a stranger with a link to the caller's plugin, and in one
# that everyone may write.
# plugin_lines FOLDER: prints "lines" or "no lines", for the plugin there
plugin_lines() {
	SSPAPI_OUTPUT=$tmp/linked.sspapi LD_LIBRARY_PATH=$fake run_shim shim "$apps/plugin-host" \
		local "$tmp/m/$1/plugin.so"
	run linked "$sspapi" report -f json "$tmp/linked.sspapi"
	json "$tmp/linked.out" \
		'map { $_->{line} // () } map { @{$_->{frames}} } @{$d->{callsites}}' |
		grep -q 'calls\.h:' && echo lines || echo no lines
	cat "$tmp/linked.err"
}
mkdir m m/own m/theirs m/laid m/shared m/hidden && chmod 755 m m/* && cd m || exit 1
objcopy --only-keep-debug "$scenes/plugin-7.0.so" own/plugin.debug
cp "$scenes/plugin-7.0.so" own/plugin.so
strip own/plugin.so
(cd own && objcopy --add-gnu-debuglink=plugin.debug plugin.so)
is "(3) debug information beside the caller's own module is read" "$(plugin_lines own)" lines
cp own/plugin.so own/plugin.debug shared
chmod 1777 shared
is "(3) not from a folder that everyone may write" "$(plugin_lines shared)" "no lines"
mkdir -m 755 hidden/.debug
cp own/plugin.so hidden
mv own/plugin.debug hidden/.debug
is "(3) debug information in .debug is read" "$(plugin_lines hidden)" lines
chmod 777 hidden/.debug
is "(3) not if everyone may put it there" "$(plugin_lines hidden)" "no lines"
if is_root; then
	cp own/plugin.so hidden/.debug/plugin.debug theirs
	chown 65534 theirs theirs/plugin.debug
	is "(3) nor files next to root's module in a stranger's folder" "$(plugin_lines theirs)" \
		"no lines"
	cp hidden/.debug/plugin.debug laid
	ln -s ../own/plugin.so laid
	chown -hR 65534 laid
	is "(3) nor in that of a stranger's link to it" "$(plugin_lines laid)" "no lines"
else
	skip "(3) nor files next to root's module in a stranger's folder" "not root"
	skip "(3) nor in that of a stranger's link to it" "not root"
fi
cp "$scenes/plugin-7.0.so" shared/plugin.so
is "(3) a module's own names are read, in any folder" "$(plugin_lines shared)" lines
chmod 666 shared/plugin.so
is "(3) but not of one that everyone may write" \
	"$(plugin_lines shared | sed "s/another user's file:.*/another's/")" "no lines
sspapi report: $tmp/m/shared/plugin.so: another's"
cd ..

# ---- 5: a file that is shorter than its header claims -------------------------------------------

for cut in 1 64 512 4096; do
	head -c -$cut a.sspapi >cut.sspapi
	for form in text json csv; do
		run cut "$sspapi" report -f $form cut.sspapi
		is "(5) $cut bytes less, $format: named" "$(status_of cut) $(cat cut.err)" \
			"1 sspapi report: cut.sspapi: damaged; only the readable part is shown"
	done
done

# ---- 6: a killed process that is not waited for -----------------------------

# Runs steered to count five; kills it, and runs $RECOVER before it is waited for.
cat >zombie.pl <<'END'
use POSIX ();
pipe my $in, my $to;
pipe my $from, my $out;
my $pid = fork // die;
if (!$pid) {
	POSIX::dup2(fileno $in, 0);
	POSIX::dup2(fileno $out, 1);
	$ENV{LD_PRELOAD} = $ENV{PRELOAD_IT};
	exec @ARGV;
	POSIX::_exit(1);
}
syswrite $to, "5\n";
sysread $from, my $counted, 8;
kill 9, $pid;
my $state = "";
while ($state ne "Z") {
	open my $f, "<", "/proc/$pid/stat" or die;
	($state) = <$f> =~ /\) (.)/;
	select undef, undef, undef, 0.01;
}
system $ENV{RECOVER};
my $status = $? >> 8;
waitpid $pid, 0;
exit $status;
END
zombie() {
	rm -rf live/* z.json
	RECOVER=$1 PRELOAD_IT=$SHIM SSPAPI_LIVE="$tmp/live" SSPAPI_OUTPUT="$tmp/z.json" run zombie \
		perl zombie.pl "$scenes/steered"
}
zombie "'$sspapi' recover live/*.live"
is "(6) dead, and not waited for: recovered" \
	"$(status_of zombie) $(cat zombie.err) $(json z.json '$d->{process}{end}') $(ls live)" \
	"0  recovered "
# In a private standard place: the machine's is shared.
for apart in "unshare -m" "unshare -rm" ""; do
	[ -n "$apart" ] && $apart mount -t tmpfs none /dev/shm 2>/dev/null && break
done
if [ -n "$apart" ]; then
	RECOVER="LD_PRELOAD='$preloads/vanish.so' VANISH=/dev/shm/sspapi.0.h.3.1.live '$sspapi' recover" PRELOAD_IT=$SHIM \
		SSPAPI_OUTPUT="$tmp/y.json" run zombie $apart sh -c \
		'mount -t tmpfs none /dev/shm && echo >/dev/shm/sspapi.0.h.3.1.live && exec perl zombie.pl "$1"' - "$scenes/steered"
	is "(6) without a file name: found, and one that is removed meanwhile is no error" \
		"$(status_of zombie) $(cat zombie.err) $(json y.json '$d->{process}{end}')" \
		"0  recovered"
else
	skip "(6) without a file named" "no file system can be mounted here"
fi
zombie "'$sspapi' report live/*.live | sed -n 1p"
check "(6) report knows that it was killed" grep -q ", killed$" zombie.out

# Its first thread has ended, other threads run: it is alive.
cat >headless.c <<'END'
#include <pthread.h>
#include <unistd.h>
static void *stay(void *arg)
{
	return (void *)(long)sleep(1000 + !arg);
}
int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, stay, NULL);
	pthread_exit(NULL);
}
END
${CC:-gcc} -o headless headless.c -pthread
./headless &
headless=$!
await grep -q ') Z ' /proc/$headless/stat
cp a.sspapi sspapi.0.headless.1.1.live
put sspapi.0.headless.1.1.live $END L 0
put sspapi.0.headless.1.1.live $PID L $headless
put sspapi.0.headless.1.1.live $TICKS Q "$(sed 's/.*) //' /proc/$headless/stat | cut -d' ' -f20)"
run headless "$sspapi" recover sspapi.0.headless.1.1.live
is "(6) a process whose first thread has ended, while others run, lives" \
	"$(status_of headless) $(grep -c 'may still run' headless.err)" "1 1"
kill $headless
rm -f sspapi.*.live

# ---- --discard --------------------------------------------------------------------------------------

run discard "$sspapi" recover --discard "$(ls "$tmp"/live/*.live)"
is "--discard: the live file is removed, without a dump" \
	"$(status_of discard) $(cat discard.err) $(ls live) $(ls z.json 2>/dev/null)" "0   "
cp a.sspapi sspapi.0.other-host.1.1.live
put sspapi.0.other-host.1.1.live $END L 0
put sspapi.0.other-host.1.1.live $PID LL "1"
cp a.sspapi dump.sspapi
run discard "$sspapi" recover --discard dump.sspapi
is "--discard: a dump is no live file" \
	"$(status_of discard) $(grep -c 'not the name of a live file' \
	discard.err) $(ls dump.sspapi)" "1 1 dump.sspapi"
run discard "$sspapi" recover --discard -o x.json dump.sspapi
is "--discard and -o" "$(status_of discard)" 2
printf 'no store' >sspapi.0.h.1.1.live
run discard "$sspapi" recover --discard sspapi.0.h.1.1.live
is "--discard: of another host: refused" "$(status_of discard) $(ls sspapi.0.h.1.1.live)" \
	"1 sspapi.0.h.1.1.live"
run discard "$sspapi" recover --discard --force sspapi.0.h.1.1.live
is "--discard --force" "$(status_of discard) $(ls sspapi.0.h.1.1.live 2>/dev/null)" "0 "
rm -f sspapi.*.live

# ---- 10: cells that spreadsheets compute, and characters that turn a terminal's line ------------------

for sign in = + - @; do
	ln -sf "$one" "./${sign}x"
	printf 'event %sE\nevent EV_B\neach PAPI_read count %sE 100\n' "${sign#-}" \
		"${sign#-}" >script
	# (env would take =x for a variable, and -E for an option)
	event=${sign#-}E
	SSPAPI_OUTPUT=$tmp/sign.sspapi FAKE_PAPI_SCRIPT=script run_shim shim sh -c 'exec "$@"' \
		sh "./${sign}x" "$event" EV_B
	for how in '' --per-thread --per-callsite; do
		# shellcheck disable=SC2086
		"$sspapi" report -f csv $how sign.sspapi >sign.csv
		is "(10) no cell of CSV begins with $sign, report $how" \
			"$(tail -n +2 sign.csv | grep -cE '(^|,)"?[=+@-][^0-9]')" 0
	done
	"$sspapi" report -f csv --per-thread sign.sspapi >sign.csv
	check "(10) the names are complete: $sign" grep -q ',\\x..x,.*E,' sign.csv
	"$sspapi" diff --per-thread -f csv sign.sspapi a.sspapi >sign.csv
	is "(10) diff: $sign" "$(tail -n +2 sign.csv | cut -d, -f1,2 | grep -cE '(^|,)"?[=+@-]')" 0
	rm -f "./${sign}x" sign.sspapi
done
turning=$(printf 'a\302\233b\342\200\256c\330\234d\001')
printf 'no store' >"$turning.sspapi"
for verb in report "merge -o m2.sspapi a.sspapi" "diff a.sspapi" recover "top -n 1" \
	"report a.sspapi -m"; do
	# shellcheck disable=SC2086
	run turning "$sspapi" $verb "$turning.sspapi"
	check "(10) messages of $verb" \
		not grep -qP '\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xd8\x9c|\x01' turning.err
	check "(10) name it, $verb" grep -qF 'a\xc2\x9bb\xe2\x80\xaec\xd8\x9cd\x01' turning.err
done
run turning "$sspapi" doctor "$turning"
check "(10) doctor" not grep -qP '\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xd8\x9c|\x01' turning.out
run_shim turning env SSPAPI_READINGS="$turning" "$one"
check "(10) a setting in a message" said turning 'a\xc2\x9bb\xe2\x80\xaec\xd8\x9cd\x01'

# A file that has a process's pid, but that the process has not mapped, is not its live file.
sleep 1000 &
sleeps=$!
ticks=$(sed 's/.*) //' /proc/$sleeps/stat | cut -d' ' -f20)
forged=/dev/shm/sspapi.65534.forged.$sleeps.$ticks.live
cp a.sspapi "$forged"
put "$forged" $END L 0
put "$forged" $PID L $sleeps
put "$forged" $TICKS Q "$ticks"
run top "$sspapi" top -n 1 $sleeps
is "(10) top: a stranger's file" "$(status_of top) $(grep -c 'no live file' top.err)" "1 1"
rm -f "$forged"
kill $sleeps

# ---- recover, of another user's file ----------------------------------------

SSPAPI_OUTPUT=$tmp/chosen.txt run_shim shim "$one"
rm -f chosen.txt
zombie true
live=$(ls live/*.live)
if is_root; then
	chown 65534 "$live"
	run recover "$sspapi" recover "$live"
	is "recover by root: a stranger's live file does not choose the place" \
		"$(status_of recover) $(ls z.json 2>/dev/null)" "0 "
	check "the dump is next to it" test -e "${live%.live}.txt"
else
	skip "recover by root: a stranger's live file does not choose the place" "not root"
	skip "the dump is next to it" "not root"
fi
zombie true
live=$(ls live/*.live)
cp "$live" copy.live
run recover "$sspapi" recover copy.live
is "nor does a copy under another name" \
	"$(status_of recover) $(ls z.json 2>/dev/null) $(ls copy.live*)" "0  copy.live
copy.live.txt"
rm -f live/* copy.live*
zombie true
live=$(ls live/*.live)
mkdir theirs
ln -s "$tmp/$live" theirs/sspapi.0.h.1.1.live
mkfifo theirs/sspapi.0.h.2.1.live
run recover "$sspapi" recover --force theirs/sspapi.0.h.1.1.live theirs/sspapi.0.h.2.1.live
is "nor does recover follow a link, nor wait for a FIFO" \
	"$(status_of recover) $(wc -l <recover.err) $(ls theirs | wc -l) $(ls z.json 2>/dev/null)" \
	"1 2 2 "
check "(the live file that it names stays)" test -e "$live"
rm -rf live/* theirs

# ---- 11: sparse files -------------------------------------------------------

# (a sanitizer's own memory does not count)
limit='ulimit -v 2000000'
[ -z "${SANITIZE-}" ] || limit=:
cp a.sspapi holes.sspapi
if truncate -s 900G holes.sspapi 2>/dev/null; then
	for verb in "report" "report b.sspapi" "merge -o m3.sspapi" "diff b.sspapi" "top -n 1" \
		"recover --force"; do
		# shellcheck disable=SC2086
		run holes sh -c "$limit; exec \"\$@\"" sh "$sspapi" $verb holes.sspapi
		check "(11) 900 GB of holes: $verb reports it" \
			sh -c 'cat holes.err; [ $(cat holes.status) -ge 1 ] && [ $(cat holes.status) -le 2 ] && grep -q "not a store of sspapi, or damaged" holes.err'
	done
else
	skip "(11) files that are holes" "none so large here"
fi
cp a.sspapi holes.sspapi
truncate -s 60M holes.sspapi
run holes sh -c "$limit; exec \"\$@\"" sh "$sspapi" report holes.sspapi
"$sspapi" report a.sspapi >a.txt
sed -i "/^more:/d" holes.out a.txt
check "(11) holes after the used part change nothing" cmp holes.out a.txt

# ---- 15: steps of a job ---------------------------------------------------------------------------------------

step() {
	SSPAPI_OUTPUT=$tmp/steps/$1 run_shim shim env SLURM_JOB_ID="$2" SLURM_STEP_ID="$3" "$one"
}
mkdir steps
step '%j.%s.json' 7 0
step '%j.%s.json' 7 1
is "(15) %s" "$(ls steps | tr '\n' ' ')" "7.0.json 7.1.json "
rm -f steps/*
step '%s.json' '' ''
is "(15) %s without a step" "$(ls steps)" 0.json

# ---- hostile metrics and topologies -----------------------------------------

mkfifo metrics
for file in metrics /dev/zero /dev/full /; do
	run odd "$sspapi" report -m "$file" a.sspapi
	check "-m $file: reported" sh -c 'cat odd.err; [ $(cat odd.status) = 1 ] && [ -s odd.err ]'
done
run odd sh -c 'printf "EVENT,TWICE,DERIVED_ADD,EV_A,EV_A\n" | "$0" report -m /dev/stdin a.sspapi' \
	"$sspapi"
check "-m of a pipe that has a writer is read" grep -q TWICE odd.out

perl -e 'print "<topology version=\"2.0\">", "<object type=\"Group\" gp_index=\"1\" cpuset=\"0x1\">" x 200000' >deep.xml
perl -e 'print "<!DOCTYPE t [<!ENTITY a0 \"aaaaaaaaaa\">",
	map({ "<!ENTITY a" . ($_ + 1) . " \"" . "&a$_;" x 10 . "\">" } 0 .. 9),
	"]><topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0x1\" gp_index=\"1\"><info name=\"x\" value=\"&a10;\"/></object></topology>"' >bomb.xml
truncate -s 50G holes.xml 2>/dev/null || : >holes.xml
for file in deep.xml bomb.xml holes.xml; do
	run_shim topology sh -c "$limit; exec env SSPAPI_TOPOLOGY=$tmp/$file $one"
	is "a topology that is $file: the program ends as it would, and has its dump" \
		"$(status_of topology) $(json topology.json '$d->{process}{end}')" \
		"$(run_native native "$one"; status_of native) exit"
done

# ---- 9, the end: links of other users; and the output with the stalled readers ----------

: >aim
if is_root; then
	mkdir -m 1777 open
	ln -s "$tmp/aim" open/link.txt
	chown -h 65534 open/link.txt
	SSPAPI_OUTPUT=$tmp/open/link.txt run_shim shim env SSPAPI_LIVE=0 "$one"
	is "(9) another user's link is not followed" "$(status_of shim) $(cat aim)" "0 "
	check "(9) a line reports that" said shim "link.txt" "symbolic link of another user"
else
	skip "(9) another user's link is not followed" "not root"
	skip "(9) a line reports that" "not root"
fi
ln -sf "$tmp/aim" own.txt
SSPAPI_OUTPUT=$tmp/own.txt run_shim shim "$one"
check "(9) the user's own link is followed" test -s aim
wait $stalling
is "(9) a FIFO whose reader stalls: the program ends as without the shim" "$(status_of stalling)" \
	"$(run_native native "$one"; status_of native)"
check "(9) and a line reports it" said stalling "not written" "its reader does not read" "sspapi recover"
wait $standing
is "(9) a stalled reader of standard error: the program also ends" "$(cat standing.status)" \
	"$(status_of native)"
kill $reader $reader2

# A merged store that claims to be a live file: nothing of it is read beyond its beginning.
run one env LD_PRELOAD="$SHIM" SSPAPI_OUTPUT="$tmp/one.sspapi" "$one"
run merge "$B/sspapi" merge -o merged.sspapi one.sspapi
perl -e 'local $/; $_ = <STDIN>; my $n = 48 << 20; substr($_, 20, 4) = pack "L", 0; substr($_, 112, 8) = pack "Q", $n - 4096;
	$_ .= "\1" x ($n - length); substr($_, 24, 8) = pack "Q", $n; print' <merged.sspapi \
	>sspapi.0.vm.123.456.live
run merge "$B/sspapi" merge -o again.sspapi sspapi.0.vm.123.456.live
check "a merged live file whose host's offset is far beyond the end: no crash" \
	test "$(status_of merge)" -le 2
done_testing
