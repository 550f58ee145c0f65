# Places links and FIFOs of other users on the path of an output: not followed, not written to;
# those of the user and of root are.
. tests/lib/lib.sh
one=$scenes/one
cd "$tmp" || exit 1
mkdir live mine mine/in theirs

# dumped PATH: prints the status of a run that dumps there, and then the content of the user's own
# folder
dumped() {
	rm -rf mine
	mkdir mine mine/in
	echo precious >mine/x.json
	touch -d yesterday mine/x.json
	SSPAPI_LIVE=${LIVE-0} SSPAPI_FORMAT=json SSPAPI_OUTPUT=$1 run_shim shim "$one"
	echo "$(status_of shim) $(cut -c 1-25 mine/x.json | head -n 1)" \
		$(cd mine && find . -type f | sort)
}
kept="0 precious ./x.json" new='0 {"format": "sspapi-dump", ./x.json'

ln -s mine own
is "the user's own link to a folder is followed" "$(dumped "$tmp/own/x.json")" "$new"
ln -s ./in/../../own/in/.. mine-again
ln -s "$tmp/own" whole
mkdir deep
ln -s ../whole/in/.. deep/link
is "links to links, relative and absolute" "$(dumped "$tmp/deep/../deep/link//x.json")" "$new"
is "a folder that is missing after a link is made" "$(dumped "$tmp/own/made/too/y.json")" \
	"0 precious ./made/too/y.json ./x.json"
is "the process's working directory by its name in /proc" "$(dumped /proc/self/cwd/mine/x.json)" \
	"$new"
ln -s turn round
ln -s round turn
is "links that lead to each other" "$(dumped "$tmp/round/x.json")" "$kept"
check "that is reported" said shim "the dump was not written" "leads to itself"
ln -s "$tmp/mine/not yet" next
is "a link to a missing folder: that is made" "$(dumped "$tmp/next/y.json")" \
	"0 precious ./not yet/y.json ./x.json"

if [ "$(id -u)" != 0 ]; then
	skip "another user's links" "not root"
	done_testing
	exit
fi
ln -s mine laid
ln -s mine/x.json laid.json
ln -s laid own-to-laid
chown -h 65534 laid laid.json
is "another user's link to a folder is not followed" "$(dumped "$tmp/laid/x.json")" "$kept"
check "that is reported" said shim "the dump was not written" "a symbolic link of another user"
is "no folder is made behind the link" \
	"$(dumped "$tmp/laid/made/x.json") $(ls -d mine/made 2>/dev/null)" "$kept "
is "nor behind the user's own link to it" "$(dumped "$tmp/own-to-laid/x.json")" "$kept"
is "nor is a link to a file" "$(dumped "$tmp/laid.json")" "$kept"
ln -s laid.json own-to-laid.json
is "nor by the user's own link to it" "$(dumped "$tmp/own-to-laid.json")" "$kept"
chown 65534 theirs
is "another user's folder is written to" "$(dumped "$tmp/theirs/x.json") $(ls theirs)" \
	"$kept x.json"

LIVE=$tmp/laid
is "no live file behind another user's link" \
	"$(dumped "$tmp/theirs/z.json") $(json theirs/z.json \
	'grep { /no live file can be created/ } @{$d->{notes}}')" \
	"$kept SSPAPI_LIVE: no live file can be created in $tmp/laid (a symbolic link of another user, here or on the way, or one that leads to itself); if this process is killed, its counts are lost"
unset LIVE
SSPAPI_OUTPUT=$tmp/laid/x.json run doctor "$sspapi" doctor --check "$one"
check "doctor reports it before the run" grep -q "no dump can be written to .*/laid/x.json (a" \
	doctor.out

# ---- the command's -o -----------------------------------------------------------------------------

SSPAPI_OUTPUT=$tmp/a.sspapi run_shim shim "$one"
for how in "report -o laid/x.json a.sspapi" "report -o laid.json a.sspapi" \
	"report -o own-to-laid.json a.sspapi" "merge -o laid/x.sspapi a.sspapi" \
	"stat -e task-clock -o laid/y.json true"; do
	echo precious >mine/x.json
	# shellcheck disable=SC2086 # words
	run how "$sspapi" $how
	is "sspapi $how" "$(cat mine/x.json) $(ls mine |
		tr '\n' ' ')$(grep -c 'a symbolic link of another user' how.err)" \
		"precious in x.json 1"
done
run how "$sspapi" report -o own/x.json a.sspapi
is "sspapi report -o by the user's own link" "$(status_of how) $(head -c 10 mine/x.json)" \
	'0 {"format":'
SSPAPI_LIVE=$tmp/live SSPAPI_OUTPUT=- run_shim shim "$scenes/life" kill
for live in live/*.live; do
	[ -e "$live" ] || continue
	run how "$sspapi" recover -o laid/r.txt "$live"
done
is "sspapi recover -o" "$(status_of how) $(ls mine/r.txt 2>/dev/null) $(ls live |
	wc -l) $(grep -c 'a symbolic link of another user' how.err)" "1  1 1"

# ---- FIFOs -------------------------------------------------------------------------------------------

# into FIFO: prints what is written there; this shell is the reader
into() {
	exec 7<>"$1"
	SSPAPI_LIVE=0 SSPAPI_FORMAT=csv SSPAPI_OUTPUT=$tmp/$1 run_shim shim "$one"
	dd iflag=nonblock bs=5 count=1 <&7 2>/dev/null
	exec 7<&-
	echo " $(status_of shim)"
}
mkfifo fifo
is "the user's own FIFO gets the dump" "$(into fifo)" "host, 0"
chown 65534 fifo
is "another user's store does not" "$(into fifo)" " 0"
check "that is reported" said shim "the dump was not written" "this FIFO is another user's"
mkfifo theirs/fifo
chown 65534 theirs/fifo
is "one in its owner's folder does" "$(into theirs/fifo)" "host, 0"
done_testing
