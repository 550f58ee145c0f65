# Checks that a process writes its store in the compact form: small, and with the same content in
# every format as the live file that it is made from. If that is impossible (a FIFO, no memory, a
# full disk, killed in between) the store is written as it was.
. tests/lib/lib.sh
MORE=$preloads/faults.so
case $(uname -m) in
x86_64) unlink=263 mmap=9 write=1 again=18 ;;
*) unlink=35 mmap=222 write=64 again=68 ;;
esac
mkdir "$tmp/live" "$tmp/d"
export SSPAPI_FORMAT=store SSPAPI_LIVE="$tmp/live"

# pair NAME COMMAND...: makes a dump, and the live file of the same process, which is killed when it
# would remove that
pair() {
	name=$1
	shift
	rm -f "$tmp/live/"*
	SSPAPI_OUTPUT=$tmp/$name.sspapi run_shim killed env FAULT=$unlink:2:kill "$@"
	is "$name: killed after the dump" "$(status_of killed) $(find "$tmp/live" -name '*.live' |
		wc -l)" "137 1"
	cp "$tmp/live/"*.live "$tmp/$name.live.sspapi"
	for form in json text csv hwloc; do
		for store in "$name" "$name.live"; do
			"$sspapi" report -f $form "$tmp/$store.sspapi" >"$tmp/$store.$form" \
				2>"$tmp/$store.$form.err"
		done
		normal_end <"$tmp/$name.live.$form" >"$tmp/wanted"
		normal_end <"$tmp/$name.$form" | diff - "$tmp/wanted" >"$tmp/$name.$form.diff"
		check "$name: the dump and the live file say the same in $format" test ! -s \
			"$tmp/$name.$form.diff"
	done
	"$sspapi" report --readings "$tmp/$name.sspapi" >"$tmp/$name.readings" 2>/dev/null
	"$sspapi" report --readings "$tmp/$name.live.sspapi" >"$tmp/wanted" 2>/dev/null
	check "$name: and the same permanent readings" cmp "$tmp/$name.readings" "$tmp/wanted"
	"$sspapi" merge -o "$tmp/merged.sspapi" "$tmp/$name.sspapi" 2>"$tmp/merge.err"
	"$sspapi" merge -o "$tmp/merged.live.sspapi" "$tmp/$name.live.sspapi" 2>>"$tmp/merge.err"
	for store in merged merged.live; do
		"$sspapi" report -f json "$tmp/$store.sspapi" | normal_end >"$tmp/$store.json"
	done
	check "$name: and merged" cmp "$tmp/merged.json" "$tmp/merged.live.json"
	set -- "$(wc -c <"$tmp/$name.sspapi")" "$(wc -c <"$tmp/$name.live.sspapi")"
	check "$name: it is at most a fifth of that ($1 of $2 bytes)" test $(($1 * 5)) -lt "$2"
}

# Only the dump has how the process ended; counts before a first reading are in the live file's CSV,
# and in a note of the dump.
normal_end() {
	sed -E "/ \\(before the first reading\\),/d; s,$tmp/[^ ]*sspapi,STORE,g; s/\"end(_state)?\": \"[a-z_]*\"/END/; s/, (killed|exit[a-z]*)//g"
}

export SSPAPI_TOPOLOGY='synthetic:pack:2 core:8 pu:2'
pair one "$scenes/one" -n 3
pair kinds env SSPAPI_READINGS=permanent "$scenes/kinds"
pair threads "$scenes/crowd" unjoined
SSPAPI_TOPOLOGY=$root/tests/topo/disallowed.xml pair disallowed "$scenes/one"
is "(two CPUs are not allowed)" "$(grep -c '"allowed": false' "$tmp/disallowed.json")" 2
pair unwound env SSPAPI_CALLSITES=4 "$scenes/spellings"
find_real_papi
if [ "$REAL_PAPI" = yes ]; then
	MORE=$MORE:$REAL_PAPI_PRELOAD
	pair overflows env -u SSPAPI_TOPOLOGY "$apps/overflows" moves
	MORE=$preloads/faults.so
else
	skip "overflows" "$PAPI_HOW"
fi

sums() {
	"$sspapi" report -f json "$@" >"$tmp/sums.json" 2>"$tmp/sums.err" &&
		json "$tmp/sums.json" 'join " ", map { $d->{components}[0]{total}{$_} } "EV_A",
		"EV_B"'
}
sums_are() {
	is "$1" "$(sums "$2")" "12 3"
}

# The beginning of a FIFO cannot be rewritten.
mkfifo "$tmp/fifo"
cat "$tmp/fifo" >"$tmp/read.sspapi" &
SSPAPI_OUTPUT=$tmp/fifo run_shim fifo "$scenes/one"
wait $!
sums_are "through a FIFO" "$tmp/read.sspapi"

# fails NUMBER N HOW: makes the N-th call fail: the counts are in the dump or in the live file
fails() {
	rm -f "$tmp/live/"* "$tmp/d/"* "$tmp/d/".[!.]*
	SSPAPI_OUTPUT=$tmp/d/x.sspapi run_shim shim env FAULT="$1:$2:$3" "$scenes/one"
	[ "$(status_of shim)" = 137 ] || [ "$(cat "$tmp/shim.out")" = "$(cat "$tmp/plain.out")" \
		] || echo "$1:$2:$3: the program sees it"
	[ -e "$tmp/d/x.sspapi" ] && got="$(sums "$tmp/d/x.sspapi")" ||
		got="$(sums "$tmp/live/"*.live)"
	[ "$got" = "12 3" ] || echo "$1:$2:$3: $got"
}
calls() {
	od -An -j $((4 * $1)) -N 4 -tu4 "$tmp/count" | tr -d ' '
}
export SSPAPI_TOPOLOGY='synthetic:pack:2 core:64 pu:2'	# (more than the output's buffer)
SSPAPI_OUTPUT=$tmp/d/x.sspapi run_shim plain env FAULTS_COUNT="$tmp/count" "$scenes/one"
writes=$(calls $write) mmaps=$(calls $mmap)
check "the dump is written with few calls ($writes), and its beginning again ($(calls $again))" \
	test "$writes" -gt 0 -a "$(calls $again)" -gt 0
is "killed in any of them, or the disk is full" \
	"$(for n in $(seq "$writes"); do fails $write $n kill; fails $write $n 28; done
	for n in $(seq "$(calls $again)"); do fails $again $n kill; fails $again $n 28; done)" ""
# (A thread of the first snapshot may still count.)
for mode in unjoined dumped; do
	SSPAPI_OUTPUT=$tmp/d/$mode.sspapi run_shim $mode "$scenes/crowd" $mode
	"$sspapi" report -f json "$tmp/d/$mode.sspapi" >"$tmp/$mode.json" 2>"$tmp/$mode.said"
	check "threads that go on counting ($mode): all counts are there once" \
		perl tests/lib/check-handed.pl "$tmp/$mode.json" "$tmp/$mode.out"
	is "threads that go on counting ($mode): nothing is damaged" "$(cat "$tmp/$mode.said")" ""
done
SSPAPI_OUTPUT=$tmp/d/signals.sspapi run_shim signals env SSPAPI_SIGNAL=USR2 sh -c \
	'"$0" mixed "$2" & p=$!; until grep -q "^SigCgt:.*[89a-f]..$" /proc/$p/status; do :; done; kill -USR2 $p; until [ -e "$1" ]; do sleep 0.02; done; kill -USR2 $p; : >"$2"; wait $p' \
	"$scenes/signals" "$tmp/d/signals.sspapi" "$tmp/enough"
"$sspapi" report -f json "$tmp/d/signals.sspapi" >"$tmp/signals.json"
check "with snapshots in between: all counts are there once" perl tests/lib/check-handed.pl \
	"$tmp/signals.json" "$tmp/signals.out"
plain "no more address space (RLIMIT_AS)" && {
	SSPAPI_OUTPUT=$tmp/d/memory.sspapi run_shim memory "$scenes/cornered" 0 memory
	"$sspapi" report -f json "$tmp/d/memory.sspapi" >"$tmp/memory.json"
	check "no more address space (RLIMIT_AS): all is in the store" has_returned memory
	is "it ends as it would, and no message" "$(status_of memory) $(lines_of memory)" "3 "
	SSPAPI_FORMAT=json SSPAPI_OUTPUT=$tmp/d/memory.json run_shim memory "$scenes/cornered" 0 \
		memory
	check "another format cannot be made: reported" said memory "the dump was not written" \
		"Cannot allocate memory" "sspapi recover"
	"$sspapi" recover -o "$tmp/recovered.json" \
		"$(sed -n 's/.*writes it from //p' "$tmp/memory.err")" >"$tmp/recover.out"
	mv "$tmp/recovered.json" "$tmp/memory.json"
	check "all is in the live file" has_returned memory
}
is "without memory at the end" \
	"$(for n in $(seq $((mmaps - 2)) "$mmaps"); do fails $mmap "$n+" 12; done)" ""
done_testing
