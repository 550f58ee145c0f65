# Several threads that end the process at the same moment: there is one dump, whole, and nothing else.
. tests/lib/lib.sh
LIMIT=${EMULATED:+400}
: "${LIMIT:=40}"
# The programs say on which CPU they read.
export SSPAPI_ATTRIBUTION=reading

# ends TIMES STATUSES THREADS WAY...: each time one of these statuses, the dump with what was handed out,
# no piece of one, no live file
ends() {
	times=$1 statuses=$2
	shift 2
	label="$*${late:+, late}"
	check "$label, $times times: one dump, whole, and nothing else" end_all "$@"
}

end_all() {
	i=0
	while [ $i -lt "$times" ]; do
		rm -rf "$tmp/d" "$tmp/live" "$tmp/shim.json"
		mkdir "$tmp/live"
		SSPAPI_OUTPUT=$tmp/d/x.json SSPAPI_FORMAT=json,store SSPAPI_LIVE=$tmp/live run_shim shim "$scenes/exits" "$@"
		case " $statuses " in *" $(status_of shim) "*) ;; *) echo "run $i: status $(status_of shim)"; return 1 ;; esac
		is_equal "run $i: $(ls -A "$tmp/d" | tr '\n' ' ')$(ls -A "$tmp/live")" "run $i: x.json x.sspapi " || return 1
		perl tests/lib/check-handed.pl "$tmp/d/x.json" "$tmp/shim.out" || return 1
		i=$((i + 1))
	done
}

export SSPAPI_FORMAT SSPAPI_LIVE
ends 5 4 64 exit
ends 5 4 16 exit return
ends 5 4 16 return exit
ends 5 4 16 _exit exit
ends 5 4 16 exit _exit
ends 5 4 16 quick_exit
ends 5 4 16 exit quick_exit _exit
ends 5 4 2 exit exit
ends 5 4 2 return _exit

# libc's list is without us for long.
late=$SHIM
SHIM=$preloads/late.so:$SHIM
ends 2 4 16 exit
ends 2 4 16 exit return
ends 2 4 16 quick_exit
SHIM=$late late=''

# One more that kills meanwhile: what is not in a dump is in the live file.
killed() {
	i=0
	while [ $i -lt 5 ]; do
		rm -rf "$tmp/d" "$tmp/live" "$tmp/shim.json"
		mkdir "$tmp/live"
		SSPAPI_OUTPUT=$tmp/d/x.json SSPAPI_FORMAT=json SSPAPI_LIVE=$tmp/live run_shim shim "$scenes/exits" 8 exit term
		cp "$tmp/d/x.json" "$tmp/shim.json" 2>/dev/null || "$B/sspapi" recover -o "$tmp/shim.json" "$tmp"/live/*.live || return 1
		perl tests/lib/check-handed.pl "$tmp/shim.json" "$tmp/shim.out" || return 1
		i=$((i + 1))
	done
}
check "exit beside a signal that kills, 5 times: a dump, or a live file that makes it" killed

# ---- the dump goes where somebody else decides how it ends ------------------------------------------

# A FIFO that is full, whose reader has it open and does not read. Many event sets: more than a pipe holds.
mkfifo "$tmp/fifo"
rm -f "$tmp/shim.json"
rm -rf "$tmp/live"
mkdir "$tmp/live"
stalls() {
	SSPAPI_OUTPUT=$1 SSPAPI_FORMAT=json SSPAPI_LIVE=$tmp/live run shim perl -e '
		my $fifo = shift;
		$^F = 100;	# the reader stays open in the program
		open my $f, "+<", $fifo or die;
		if ($ENV{SSPAPI_OUTPUT} eq "-") { open STDERR, ">", $fifo or die }
		$ENV{LD_PRELOAD} = shift;
		exec @ARGV' "$tmp/fifo" "$SHIM" "$scenes/cornered" 300
}
stalls "$tmp/fifo"
is "a FIFO whose reader stalls: it ends as it would" "$(status_of shim)" 3
check "a FIFO whose reader stalls: said" said shim "the dump was not written" "$tmp/fifo" "does not take it" "sspapi recover"
check "a FIFO whose reader stalls: the live file has it" "$B/sspapi" recover -o "$tmp/shim.json" "$tmp"/live/*.live
check "a FIFO whose reader stalls: all of it" books shim
rm -f "$tmp/shim.json"
stalls -
is "standard error that nobody reads: it ends as it would" "$(status_of shim)" 3
check "standard error that nobody reads: the live file has it" "$B/sspapi" recover -o "$tmp/shim.json" "$tmp"/live/*.live
check "standard error that nobody reads: all of it" books shim

# A link that another user has put in the dump's place.
ours() {
	rm -f "$tmp/aim"
	: >"$tmp/aim"
	SSPAPI_OUTPUT=$tmp/link SSPAPI_FORMAT=csv SSPAPI_LIVE=0 run_shim shim "$scenes/one"
}
ln -s "$tmp/aim" "$tmp/link"
ours
is "a link of one's own is followed" "$(grep -c ^host, "$tmp/aim")" 1
if [ "$(id -u)" = 0 ] && chown -h 65534 "$tmp/link" 2>/dev/null; then
	ours
	is "a link of another user is not followed" "$(cat "$tmp/aim")" ""
	check "a link of another user: said" said shim "the dump was not written" "$tmp/link" "of another user"
else
	skip "a link of another user" "only root can make one"
fi
done_testing
