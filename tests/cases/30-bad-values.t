# Gives invalid values and places that cannot be written: one clear line on standard error, and the
# program runs as without the shim.
. tests/lib/lib.sh
one=$scenes/one
cd "$tmp" || exit 1
run_native native "$one" -s 3

# bad VARIABLE VALUE WORD...: one line with the words; the program and the dump are as without it
bad() {
	bad_label="$1=$(printf %.40s "$2" | tr -c '[:print:]' .)"
	run_shim shim env "$1=$2" "$one" -s 3
	shift 2
	check "$bad_label: one line reports it" said shim "$@"
	grep -v '^sspapi: ' "$tmp/shim.err" >"$tmp/rest"
	mv "$tmp/rest" "$tmp/shim.err"
	check "$bad_label: the program sees no difference" same_as_native native shim
	check "$bad_label: the dump is right" has_returned shim
	rm -f "$tmp/shim.json"
}

bad SSPAPI_FORMAT xml "SSPAPI_FORMAT: 'xml'" "text, json, csv, store" "using json"
bad SSPAPI_FORMAT json,hwloc "SSPAPI_FORMAT: 'hwloc'" "using json"
bad SSPAPI_FORMAT json,xml "SSPAPI_FORMAT: 'xml'" "using json"
bad SSPAPI_FORMAT ,, "SSPAPI_FORMAT: ''"
bad SSPAPI_LIVE maybe "SSPAPI_LIVE: 'maybe'" "using 1"
mkdir "$tmp/live"
cd "$tmp" || exit 1
bad SSPAPI_LIVE live "SSPAPI_LIVE: 'live'" "./live" "using 1"
cd "$root" || exit 1
bad SSPAPI_SIGNAL KILL "SSPAPI_SIGNAL: 'KILL'" USR2 "using off"
bad SSPAPI_VERBOSE 3 "SSPAPI_VERBOSE: '3'" "0 to 2" "using 1"
bad SSPAPI_FORMAT "$(printf 'a\033[31m\nb')" "SSPAPI_FORMAT: 'a\\x1b[31m\\x0ab'" "using json"
bad SSPAPI_READINGS often "SSPAPI_READINGS: 'often'" "temporary, permanent" "using temporary"
bad SSPAPI_READINGS_MAX -1 "SSPAPI_READINGS_MAX: '-1'" "using 1000000"
bad SSPAPI_READINGS_MAX 99999999999999999999999 SSPAPI_READINGS_MAX "using 1000000"
bad SSPAPI_ATTRIBUTION Exact "SSPAPI_ATTRIBUTION: 'Exact'" "auto, exact, residency, reading" \
	"using auto"
bad SSPAPI_CALLSITES 65 "SSPAPI_CALLSITES: '65'" "neither auto nor a number from 0 to 64" "using auto"
bad SSPAPI_CALLSITES 1x "SSPAPI_CALLSITES: '1x'" "0 to 64" "using auto"
bad SSPAPI_DISABLE yes "SSPAPI_DISABLE: 'yes'" "using 0"
bad SSPAPI_ATTRIBUTION "$(head -c 3000 /dev/zero | tr '\0' x)" "SSPAPI_ATTRIBUTION: 'xxx" \
	"using auto"

for file in truncated malformed no-such other lstopo-text assertion newer; do
	[ "$file" = no-such ] || [ -e "$root/tests/topo/$file.xml" ] || continue
	bad SSPAPI_TOPOLOGY "$root/tests/topo/$file.xml" "SSPAPI_TOPOLOGY: '" "$file.xml" \
		"using this machine's"
done
bad SSPAPI_TOPOLOGY "$tmp" "SSPAPI_TOPOLOGY: '" "folder" "using this machine's"
bad SSPAPI_TOPOLOGY /dev/null "SSPAPI_TOPOLOGY: '/dev/null'" "using this machine's"
mkfifo "$tmp/fifo"
bad SSPAPI_TOPOLOGY "$tmp/fifo" "SSPAPI_TOPOLOGY: '" "using this machine's"

# An output that is a folder: reported before the run.
mkdir "$tmp/here"
cd "$tmp/here" || exit 1
for folder in . "$tmp" dd/; do
	run_shim shim env SSPAPI_OUTPUT="$folder" "$one" -s 3
	check "SSPAPI_OUTPUT=$folder: one line says so" said shim "is a folder" \
		"using sspapi.%e.%h.%p.txt"
	check "SSPAPI_OUTPUT=$folder: and the dump has the default's name" \
		sh -c "rm sspapi.one.*.txt"
done
cd "$root" || exit 1

# Several at once: one line each. An empty value counts as unset.
run_shim shim env SSPAPI_FORMAT=xml SSPAPI_CALLSITES=x SSPAPI_SIGNAL=x "$one"
is "three bad values, three lines" "$(lines_of shim | wc -l)" 3
run_shim shim env SSPAPI_FORMAT= SSPAPI_READINGS= SSPAPI_READINGS_MAX= SSPAPI_ATTRIBUTION= \
	SSPAPI_TOPOLOGY= \
	SSPAPI_CALLSITES= SSPAPI_LIVE= SSPAPI_SIGNAL= SSPAPI_DISABLE= SSPAPI_VERBOSE= "$one" -s 3
check "empty values: no message" same_as_native native shim
run_shim shim env SSPAPI_VERBOSE=0 SSPAPI_FORMAT=xml "$one" -s 3
check "SSPAPI_VERBOSE=0: no warning" same_as_native native shim
rm "$tmp/shim.json"
run_shim shim env SSPAPI_DISABLE=1 "$one" -s 3
check "SSPAPI_DISABLE=1: the program sees no difference" same_as_native native shim
check "SSPAPI_DISABLE=1: no dump" not test -e "$tmp/shim.json"

# ---- where nothing can be written ---------------------------------------------

# nowhere PATH WORD...: it cannot be written; one line, the program as without
nowhere() {
	nowhere_to=$1
	shift
	SSPAPI_OUTPUT=$nowhere_to
	export SSPAPI_OUTPUT
	(cd "$tmp" && run_shim shim "$one" -s 3)	# lib.sh finds the live file by that
	unset SSPAPI_OUTPUT
	nowhere_label="output to $(printf %.50s "$nowhere_to" | sed "s,$tmp,TMP,")"
	check "$nowhere_label: one line reports it" said shim "$@"
	grep -v '^sspapi: ' "$tmp/shim.err" >"$tmp/rest"
	mv "$tmp/rest" "$tmp/shim.err"
	check "$nowhere_label: the program sees no difference" same_as_native native shim
}

: >"$tmp/file"
nowhere "$tmp/file/x.json" "not written" "$tmp/file/x.json" "Not a directory"
nowhere "$tmp" "is a folder" "$tmp"
nowhere /dev/full "not written" /dev/full "No space left"
nowhere "$tmp/fifo" "not written" "$tmp/fifo" "has no reader"
ln -s /dev/tty "$tmp/tty"
for terminal in /dev/tty "$tmp/tty"; do
	SSPAPI_OUTPUT=$terminal run_shim shim setsid -w "$one" -s 3
	check "output to ${terminal#"$tmp"}, without a terminal: one line says so" said shim \
		"not written" "$terminal" "this process has no terminal"
	is "output to ${terminal#"$tmp"}, without a terminal: it ends as it would" \
		"$(status_of shim)" 3
done
perl -MSocket -e 'socket my $s, AF_UNIX, SOCK_STREAM, 0; bind $s, sockaddr_un shift or die' \
	"$tmp/socket"
nowhere "$tmp/socket" "not written" "$tmp/socket" "a socket cannot be opened"
nowhere /proc/x/y.json "not written" /proc/x
nowhere "$tmp/$(head -c 300 /dev/zero | tr '\0' n).json" "not written" "too long"
nowhere "/$(head -c 2000 /dev/zero | tr '\0' n).json" "SSPAPI_OUTPUT" "too long"
nowhere "$tmp/%z.json" "SSPAPI_OUTPUT: '" "%z.json" "%p %h %e %r %j %s %q{NAME} %%"
nowhere "$tmp/%q{HOME.json" "SSPAPI_OUTPUT: '" "%p %h %e %r %j %s %q{NAME} %%"
is "no piece of a dump is left" "$(find "$tmp" -name '*.part*' -o -name '*.old*')" ""

# ---- what is no regular file ---------------------------------------------------

SSPAPI_OUTPUT=- run_shim shim env SSPAPI_FORMAT=csv "$one"
is "-: to stderr" "$(grep -c '^host,rank,' "$tmp/shim.err") $(grep -c '^one: to stderr' \
	"$tmp/shim.err")" "1 1"
SSPAPI_OUTPUT=/dev/stdout run_shim shim env SSPAPI_FORMAT=csv "$one"
is "/dev/stdout: after the program's own output" \
	"$(sed -n '1p;6p' "$tmp/shim.out" | cut -c1-13 | tr '\n' ' ')" \
	"one: to stdou host,rank,pid "
check "/dev/stdout is unchanged" test -e /dev/stdout
# (Opening it for writing waits for the reader.)
run_shim shim sh -c "cat '$tmp/fifo' >'$tmp/read' & exec 3>'$tmp/fifo'
	SSPAPI_FORMAT=csv SSPAPI_OUTPUT='$tmp/fifo' '$one' 3>&-; exec 3>&-; wait"
check "a FIFO with a reader gets the dump" grep -q ^host,rank, "$tmp/read"
check "and is still a FIFO" test -p "$tmp/fifo"
ln -s "$tmp/aim" "$tmp/link"
: >"$tmp/aim"
SSPAPI_OUTPUT=$tmp/link run_shim shim env SSPAPI_FORMAT=csv "$one"
check "a symbolic link is followed" grep -q ^host,rank, "$tmp/aim"
check "and not replaced" test -L "$tmp/link"

# ---- a stderr that is not the process's first ---------------------------------

run_shim shim env SSPAPI_FORMAT=xml "$one" -2 -
is "closed: nothing was written anywhere" \
	"$(cat "$tmp/shim.err" "$tmp/shim.out" | grep -c '^sspapi:')" 0
check "closed: the dump is there" has_returned shim
run_shim shim env SSPAPI_FORMAT=xml SSPAPI_OUTPUT=- "$one" -2 "$tmp/log"
is "replaced by a file: sspapi writes nothing into it" \
	"$(wc -c <"$tmp/log") $(grep -c '^sspapi:' "$tmp/shim.err")" "0 0"
run_native bare sh -c 'exec 2>&-; exec "$0"' "$one"
run_shim shim env SSPAPI_FORMAT=xml sh -c 'exec 2>&-; exec "$0"' "$one"
check "closed from the beginning: no difference" same_as_native bare shim

# ---- somebody else's folder --------------------------------------------------

as_nobody
mkdir -m 755 "$tmp/closed"
[ "$(id -u)" = 0 ] || chmod 555 "$tmp/closed"
one=$scenes/one
nowhere "$tmp/closed/x.json" "not written" "$tmp/closed" "Permission denied"
done_testing
