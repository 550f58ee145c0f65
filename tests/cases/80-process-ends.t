# Tests each way in which a process ends, and its children: each counting process leaves one dump
# with what PAPI returned to it; nothing else is left, nothing hangs.
. tests/lib/lib.sh
find_real_papi
unset PAPI_CSV_EVENT_FILE
cd "$tmp" || exit 1

pids() {
	sed -n 's/^handed pid=\([0-9]*\) .*/\1/p' "$tmp/shim.out" | sort -u
}

# Prints the live files of the run's processes. Pids are reused: files from before the run (begins)
# do not count.
begins() {
	touch -d '1 second ago' "$tmp/start"
}

lives() {
	for pid in $(pids); do
		find /dev/shm -maxdepth 1 -name "sspapi.$(id -u).*.$pid.*" -newer "$tmp/start"
	done
}

# life DUMPS STATUS PROGRAM...
life() {
	dumps=$1 status=$2
	shift 2
	label=$(basename "$1")${2:+ $2}
	rm -rf "$tmp/d"
	begins
	SSPAPI_OUTPUT=$tmp/d/%p.json run_shim shim "$@"
	check "$label: the program ends as without the shim" ends
	todo=${lost-}
	check "$label: $dumps dump(s), with what PAPI returned" attributed
	check "$label: no live file is left" is_equal "$(lives)" ""
}

ends() {
	cat "$tmp/shim.err"
	! grep 'a child ended' "$tmp/shim.out" && is_equal "$(status_of shim)" "$status"
}

attributed() {
	is_equal "$(find "$tmp/d" -type f | wc -l)" "$dumps" &&
		perl "$root/tests/lib/check-handed.pl" "$tmp"/d/*.json "$tmp/shim.out"
}

for mode in return exit _exit _Exit quick_exit at_quick_exit atexit exec-fails; do
	life 1 3 "$scenes/life" $mode
done
ended_by() {
	rm -rf "$tmp/d"
	SSPAPI_OUTPUT=$tmp/d/x.json run_shim shim "$scenes/life" "$1"
	json "$tmp/d/x.json" '$d->{process}{end}'
}
is "the dump says how the process ended" \
	"$(ended_by return) $(ended_by exit) $(ended_by _exit) $(ended_by _Exit) $(ended_by \
	exec-plain)" \
	"exit exit _exit _exit exec"
life 1 0 "$scenes/life" pthread_exit
life 1 0 "$scenes/moments"
life 1 0 "$scenes/life" exec-plain
life 2 3 "$scenes/life" exec
rm -rf "$tmp/d"
SSPAPI_OUTPUT=$tmp/d/x.json run_shim shim "$scenes/life" exec
check "exec, one name for both programs: neither is lost" attributed

# PAPI did not return what a running set counted since its last reading: a note says so, and merge
# keeps it.
running() {
	"$B/sspapi" report -f json "$@" >"$tmp/running.json"
	json "$tmp/running.json" 'map { $_->{running} ? "runs" : "no" } @{$d->{relations}}' |
		tr '\n' ' '
	"$B/sspapi" report "$@" | grep -c '^- .*: still running at the end'
}
for mode in exit return; do
	SSPAPI_OUTPUT=$tmp/$mode.sspapi run_shim shim "$scenes/life" $mode
done
is "a set that was not stopped: reported" "$(running "$tmp/exit.sspapi")" "runs 1"
is "a process with one does not" "$(running "$tmp/return.sspapi")" "no 0"
"$B/sspapi" merge -o "$tmp/both.sspapi" "$tmp/exit.sspapi"
is "merged: still" "$(running "$tmp/both.sspapi")" "runs 1"
is "of several: of that one" "$(running "$tmp/both.sspapi" "$tmp/return.sspapi" | tr ' ' '\n' |
	sort | tr '\n' ' ')" "1 no runs "

# ---- children --------------------------------------------------------------------

life 3 3 "$scenes/life" fork-papi
life 15 3 "$scenes/life" fork-children
life 1 3 "$scenes/life" fork-plain
life 1 0 "$scenes/life" fork-running
life 2 3 "$scenes/life" fork-exec
life 2 3 "$scenes/life" vfork
life 1 3 "$scenes/life" vfork-fails
life 2 3 "$scenes/life" spawn
lost=''
life 101 3 "$scenes/life" fork-threaded 300
# (Before glibc 2.35 the loaded objects cannot be listed without its lock.)
if [ "$(getconf GNU_LIBC_VERSION | sed 's/.* 2\.\([0-9]*\).*/\1/')" -ge 35 ]; then
	for program in life life-apart life-apart-no-pie; do
		life 4 3 "$scenes/$program" fork-locked
	done
else
	skip "life fork-locked" "$(getconf GNU_LIBC_VERSION)"
fi
lost=''

# A child starts a set of its parent's: PAPI counts the parent for it.
if [ "$(nproc)" -ge 2 ]; then
	rm -rf "$tmp/d"
	MORE=$REAL_PAPI_PRELOAD
	run_native native "$apps/inherited"
	if [ "$(status_of native)" = 77 ]; then
		skip "a set from before fork" "$(tail -n 1 "$tmp/native.err")"
	else
		SSPAPI_OUTPUT=$tmp/d/%p.json run_shim shim "$apps/inherited"
		is "a set from before fork: the child ends as without the shim" \
			"$(status_of native) $(status_of shim) $(cat "$tmp/shim.err")" "0 0 "
		check "a set from before fork: what PAPI returned to the child is in its dump" \
			perl "$root/tests/lib/check-handed.pl" --no-cpu "$tmp"/d/*.json \
			"$tmp/shim.out"
		is "a set from before fork: none of it is proven, and why" \
			"$(for f in "$tmp"/d/*.json; do
			json "$f" 'grep({ $_->{exact}[0] }
				map { @{$_->{cpus}} } @{$d->{relations}}),
				grep { /from|fork/ } @{$d->{notes}}'; done | sed 's/(.*//')" \
			"an event set was used whose creation was not seen "
	fi
	MORE=''
fi

# ---- ends without an exit handler -----------------------------------------------------

for end in abort:134 kill:137 exit_group:3 daemon:0; do
	mode=${end%:*}
	rm -rf "$tmp/d" "$tmp/shim.json"
	begins
	SSPAPI_OUTPUT=$tmp/d/x.json run_shim shim "$scenes/life" $mode
	is "$mode: ends as without" "$(status_of shim)" "${end#*:}"
	check "$mode: no dump, no piece of one" not ls -A "$tmp/d"
	file=$(lives)
	check "$mode: recover writes it from the live file" "$B/sspapi" recover -o "$tmp/shim.json" \
		"$file"
	check "$mode: and it has what PAPI returned" has_returned shim
	is "$mode: as recovered, its set running" \
		"$(json "$tmp/shim.json" '$d->{process}{end}, $d->{relations}[0]{running}' |
		tr '\n' ' ')" "recovered true "
	is "$mode: until its last reading" \
		"$(json "$tmp/shim.json" \
		'$d->{process}{end_ns} == (sort { $b <=> $a } $d->{process}{start_ns}, map { $_->{last_ns} } @{$d->{relations}})[0]')" 1
	check "$mode: the live file is gone" not test -e "$file"
done
SSPAPI_OUTPUT=$tmp/d/x.json run_shim shim env SSPAPI_LIVE=0 "$scenes/life" kill
is "SSPAPI_LIVE=0: no live file" "$(lives)" ""
mkdir "$tmp/live"
SSPAPI_OUTPUT=$tmp/d/x.json run_shim shim env SSPAPI_LIVE="$tmp/live" "$scenes/life" kill
is "SSPAPI_LIVE=folder: it is there, for its owner only" "$(stat -c %a "$tmp"/live/*) $(lives)" "600 "
# A file size limit: it is called that, in everybody who speaks of the live file.
limit=$(getconf PAGESIZE)
limit=$((limit > 65536 ? limit : 65536))
mkdir "$tmp/limited"
SSPAPI_OUTPUT=$tmp/d/x.json run_shim limited env SSPAPI_LIVE="$tmp/limited" prlimit --fsize=$limit \
	"$scenes/life" kill
check "RLIMIT_FSIZE: a line says so" said limited SSPAPI_LIVE "ulimit -f" killed
file=$(echo "$tmp"/limited/*.live)
for form in txt json; do
	run recover "$B/sspapi" recover -o "$tmp/limited.$form" "$file"
	is "recover says so, and that there is nothing ($form)" "$(status_of recover) $(grep -c 'file size limit (ulimit -f): it contains no counts' "$tmp/recover.err") $(wc -l <"$tmp/recover.err")" "1 1 1"
	check "the dump says so, too ($form)" grep -q "file size limit" "$tmp/limited.$form"
done
is "and not that PAPI_start failed, or a disk was full" \
	"$(grep -c 'PAPI_start\|full' "$tmp/limited.txt")" 0
run recover "$B/sspapi" recover -o "$tmp/limited.json" "$file"
is "so, too, if the dump cannot be written" "$(status_of recover) $(grep -c 'it contains no counts\|cannot be written' "$tmp/recover.err") $(wc -l <"$tmp/recover.err")" "1 2 2"
check "the live file is kept" test -e "$file"
"$B/sspapi" report "$file" >"$tmp/limited.txt"
check "report of it: so, too" grep -q "file size limit" "$tmp/limited.txt"
# What the last line says of a live file that could not grow is true: recover writes nothing of it, or a part.
run_shim limited env SSPAPI_OUTPUT=/dev/full SSPAPI_LIVE="$tmp/limited" prlimit --fsize=$limit "$scenes/life" return
check "neither dump nor live file: the counts are lost" sh -c "grep 'the dump was not written: /dev/full: .*; the counts are lost because the live file reached the file size limit' '$tmp/limited.err'"
check "and recover is not named" not grep -q recover "$tmp/limited.err"
sets=$(perl -e 'for my $i (0 .. 23) { my @e = qw(EV_A EV_B EV_C EV_D); print "set=", join(",", map { splice @e, int($i / $_) % @e, 1 } 1, 4, 12, 24), " start read stop " }')
said=''
for times in 2 4 8 16 32 64; do
	rm -f "$tmp"/limited/* "$tmp/part.json"
	# shellcheck disable=SC2086 # words
	run_shim part env SSPAPI_OUTPUT=/dev/full SSPAPI_LIVE="$tmp/limited" prlimit \
		--fsize=$((times * limit)) "$scenes/ops" $sets
	part=$(echo "$tmp"/limited/*.live)
	run recover "$B/sspapi" recover -o "$tmp/part.json" "$part"
	case $(grep 'the dump was not written' "$tmp/part.err") in
	*"writes a part of it from $part: the live file reached the file size limit (ulimit -f); later counts are lost") said="$said a part" has='> 0' ;;
	*'; the counts are lost because the live file'*) said="$said none" has='== 0' ;;
	*"writes it from $part") said="$said all" has='== 24' ;;
	*) said="$said neither" has='< 0' ;;
	esac
	check "$times times the limit,${said##* }: as documented" \
		test "$(json "$tmp/part.json" "@{\$d->{relations}} $has")" = 1
done
check "a part is among them ($said)" sh -c 'case $0 in *part*) ;; *) exit 1 ;; esac' "$said"
# Nothing is missing if the process is not killed.
SSPAPI_OUTPUT=$tmp/d/x.json run_shim limited env SSPAPI_LIVE=1 prlimit --fsize=$limit \
	"$scenes/life" return
check "the dump of a process that is not killed is complete, without such a note" \
	sh -c "! grep -q 'missing here' '$tmp/d/x.json'"
SSPAPI_OUTPUT=$tmp/d/small.json run_shim limited prlimit --fsize=1000 "$scenes/life" return
# (A sanitizer's runtime writes more than that to standard error.)
[ -n "${SANITIZE-}" ] || check "the dump's own file: the limit is named" \
	sh -c "grep 'the dump was not written' '$tmp/limited.err' | grep 'ulimit -f'"
rm -f "$file"

# A case removes its processes' files, and no others. (A killed process of another case may have had
# the same number.)
file=$(echo "$tmp"/live/*.live)
others=/dev/shm/sspapi.0.others-$$.1.1.live
cp "$file" "$others"
cat >"$tmp/case" <<'END'
. tests/lib/lib.sh
SSPAPI_OUTPUT=$tmp/d/x.json run_shim a "$scenes/life" kill
cd "$tmp" && run_shim b env SSPAPI_OUTPUT=/proc/x/y.json "$scenes/life" return
for pid in $(sed -n 's/^handed pid=\([0-9]*\) .*/\1/p' a.out b.out | sort -u); do
	grep -lF -- "$tmp" /dev/shm/sspapi.*."$pid".*.live
done
END
(cd "$root" && sh "$tmp/case") >"$tmp/left"
is "two live files are left by a case" "$(grep -c '[0-9]\.live$' "$tmp/left")" 2
is "until it ends" "$(xargs ls -l <"$tmp/left" 2>/dev/null)" ""
check "and no other is removed" rm "$others"
# Where recover writes: where the process would, which makes folders; if that is impossible, it
# reports a fix.
# recovers STATUS OUTPUT LINE ARGUMENT...: recovers a process killed with this output
recovers() {
	recovers_status=$1 recovers_to=$2 recovers_line=$3
	shift 3
	rm -rf "$tmp"/live/* "$tmp/d"
	SSPAPI_OUTPUT=$recovers_to run_shim shim env SSPAPI_LIVE="$tmp/live" "$scenes/life" kill
	file=$(echo "$tmp"/live/*.live)
	run recover "$B/sspapi" recover "$file" "$@"
	is "recover $* of one with output to $recovers_to" \
		"$(status_of recover) $(sed "s,$file,LIVE," "$tmp/recover.out" \
		"$tmp/recover.err")" \
		"$recovers_status $recovers_line"
}
recovers 0 "$tmp/d/e/x.json" "$tmp/d/e/x.json"
recovers 0 "$tmp/d/x.json" "$tmp/d/o/p/x.csv" -o "$tmp/d/o/p/x.csv"
recovers 1 /proc/x/y.json "sspapi recover: LIVE: the dump cannot be written to '/proc/x/y.json' (No such file or directory): name it with -o FILE"
check "and the live file stays" test -e "$file"
recovers 1 "$tmp/d/x.json" "sspapi recover: LIVE: the dump cannot be written to '$tmp/start' (the name exists): name it with -o FILE" \
	-o "$tmp/start"
# A store has the live file's bytes, which do not record how the process ended.
"$B/sspapi" recover -o "$tmp/killed.sspapi" "$tmp"/live/* >/dev/null
"$B/sspapi" report -f json "$tmp/killed.sspapi" >"$tmp/killed.json"
is "recovered as a store: it says so" "$(json "$tmp/killed.json" '$d->{process}{end}')" recovered

# ---- what PAPI refuses again and again ------------------------------------------------------

# Refused calls from C, Fortran and the high level; the program sees no difference.
run_native denied.native "$scenes/denied"
SSPAPI_OUTPUT=$tmp/denied.json run_shim denied "$scenes/denied"
check "refused: the program sees no difference" same_as_native denied.native denied
is "denied: each refusal is reported" \
	"$(json "$tmp/denied.json" \
	'map { s/^PAPI refused (.*): PAPI_EPERM$/$1/r } @{$d->{notes}}')" \
	"PAPI_set_opt of PAPI_INHERIT
PAPI_set_opt of PAPI_GRANUL
PAPI_overflow
PAPI_profil
the event 0x7ffffff0
the event EV_A
the events of PAPI_add_events
the event EV_Z
PAPI_thread_init
PAPI_assign_eventset_component
PAPI_attach
PAPI_detach
PAPI_set_multiplex
to remove an event
PAPI_hl_region_begin
the event EV_Y
the event 0x7ffffff1
PAPI_set_domain"

# notes_of FILE...: prints the errors of PAPI_start in notes, and their numbers
notes_of() {
	for file; do
		json "$file" 'map { /^PAPI refused PAPI_start: (.*)/ ? $1 : () } map { ref $_ ? $_->{text} : $_ } @{$d->{notes}}' | sort | tr '\n' ' '
		echo
	done
}
# locks TIMES: prints the system calls for a lock, of parent and child
locks() {
	rm -f "$tmp/count"
	MORE=$preloads/faults.so
	SSPAPI_OUTPUT=$tmp/refused.%p.json run_shim refused env FAULTS_COUNT="$tmp/count" \
		LD_LIBRARY_PATH="$fake" "$scenes/refused" "$1"
	MORE=''
	perl -e 'use constant SIGPROCMASK => `uname -m` =~ /x86_64/ ? 14 : 135;
		read STDIN, my $b, 4 * 600; print +(unpack "L*", $b)[SIGPROCMASK]' <"$tmp/count"
}
once=$(locks 1)
is "a start refused once, in parent and child: each error is reported" \
	"$(notes_of "$tmp"/refused.*.json)" "PAPI_EISRUN PAPI_ENOEVST 
PAPI_EISRUN PAPI_ENOEVST "
rm -f "$tmp"/refused.*.json
often=$(locks 500)
# (a few: messages at the exit may need a lock that is taken)
plain "refused 500 times" && check \
	"refused 500 times: no additional lock is taken ($once, then $often)" [ "$often" -le \
	$((once + 20)) ]
is "and the same is reported" "$(notes_of "$tmp"/refused.*.json)" "PAPI_EISRUN PAPI_ENOEVST 
PAPI_EISRUN PAPI_ENOEVST "

done_testing
