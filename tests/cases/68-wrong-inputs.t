# Tests the messages: each wrong input is reported in one clear line, with a fix; by hand below, and
# systematically: every verb with an invalid option, value, file or folder.
. tests/lib/lib.sh
cp "$B/sspapi" "$B/metrics.csv" "$tmp" && cp "$B"/libsspapi*.so "$tmp"
sspapi=$tmp/sspapi
cd "$tmp" || exit 1
# An unreadable folder of PATH would be reported as the reason for a missing program.
PATH=$(printf "%s\n" "$PATH" | tr : "\n" | while read -r folder; do [ ! -r "$folder" ] ||
	printf "%s:" "$folder"; done)/bin
for name in a b; do
	SSPAPI_OUTPUT=$tmp/$name.sspapi run_shim run "$scenes/one"
done
mkdir empty mixed stores
echo hello >text.txt && cp text.txt plain && : >none.sspapi &&
	printf '#!/bin/sh\nexit 3\n' >script && chmod +x script
cp "$apps/nopapi" loop
head -c 3000 a.sspapi >cut.sspapi && head -c 100 a.sspapi >head.sspapi &&
	head -c 4096 /dev/zero >zero.sspapi
cp a.sspapi b.sspapi stores && cp a.sspapi b.sspapi head.sspapi mixed
printf '{"format": "sspapi-dump"}\n' >dump.json && printf '<?xml version="1.0"?>\n' >dump.xml
cp a.sspapi "it's a.sspapi"

# row STATUS LINES OUTPUT WORDS COMMAND: checks its exit status; at most LINES lines on standard
# error, one of which has WORDS (-: no lines) and begins with the program's name; on standard output
# nothing (-), or anything (+).
rows=0
row() {
	row_status=$1 row_lines=$2 row_output=$3 row_words=$4
	shift 4
	rows=$((rows + 1))
	eval "run row $row_before $*"
	n_lines=$(wc -l <row.err)
	{
		printf 'status %s (%s), %s lines, %s bytes on standard output\n' \
			"$(status_of row)" "$row_status" "$n_lines" "$(wc -c <row.out)"
		cat row.err
	} >"$tmp/.said"
	[ "$(status_of row)" = "$row_status" ] && [ "$n_lines" -le "$row_lines" ] &&
		case $row_words in -) [ ! -s row.err ] ;; *) grep -qF -- "$row_words" \
		row.err ;; esac &&
		{ [ "$row_output" = + ] || [ ! -s row.out ]; } && { [ "$n_lines" != 1 ] ||
		grep -q '^sspapi' row.err; } &&
		! grep -q 'Segmentation\|Assertion\|runtime error' row.err
	result $? "$*"
}

# table: reads rows STATUS|LINES|OUTPUT|WORDS|ARGUMENTS from standard input; $row_before precedes
# the arguments
row_before='"$sspapi"'
table() {
	cat >table
	while IFS='|' read -r status lines output words arguments <&3; do
		case $status in '' | '#'*) continue ;; esac
		row "$status" "$lines" "$output" "$words" "$arguments"
	done 3<table
}

# ---- verbs, options, levels, variables: the nearest name --------------------
table <<'END_OF_TABLE'
2|1|-|sspapi: reprot: no such verb; do you mean report? (|reprot
2|1|-|sspapi: --versoin: no such option; do you mean --version? (|--versoin
2|1|-|do you mean --help?|--hlep
2|1|-|do you mean stat?|sta
2|1|-|do you mean doctor?|docter
2|1|-|do you mean recover?|recoverr
2|1|-|do you mean merge?|megre
2|1|-|do you mean list?|lits
2|1|-|do you mean diff?|dif
2|1|-|do you mean env?|evn
2|1|-|do you mean top?|tpo
2|1|-|do you mean run?|rn
2|1|-|do you mean report?|REPROT
2|1|-|sspapi: nope: no such verb (|nope
2|1|-|sspapi: '': no such verb|''
2|1|-|do you mean report?|help reprot
2|1|-|sspapi: --per-cores: no such option (|help --per-cores
2|1|-|sspapi: -x: no such option|-x
2|40|-|usage: sspapi VERB|
2|1|-|--per-cores: unrecognized option; do you mean --per-core? (|report --per-cores a.sspapi
2|1|-|do you mean --per-thread?|report --per-thred a.sspapi
2|1|-|do you mean --per-package?|report --per-pakage a.sspapi
2|1|-|do you mean --per-socket?|top --per-soket 1
2|1|-|do you mean --events?|report --event-s EV_A a.sspapi
2|1|-|do you mean --no-symbols?|report --no-symbls a.sspapi
2|1|-|do you mean --fail-above?|diff --fail-abov-e 1 a.sspapi b.sspapi
2|1|-|do you mean --discard?|recover --dicsard
2|1|-|do you mean --check?|doctor --chekc
2|1|-|do you mean --help?|env --hlep
2|1|-|do you mean --version?|list --verison
2|1|-|do you mean SSPAPI_READINGS_MAX?|run -e SSPAPI_READINGS_MX=3 touch it-ran
125|1|-|do you mean --per-core?|stat --per-cor-e touch it-ran
2|1|-|--per-c: unrecognized option; do you mean --per-cpu?|report --per-c a.sspapi
2|1|-|--per: unrecognized option|diff --per a.sspapi b.sspapi
125|1|-|--per-s: unrecognized option|stat --per-s touch it-ran
0|0|+|-|report --per-co a.sspapi
2|1|-|unknown variable; do you mean SSPAPI_FORMAT?|run -e SSPAPI_FROMAT=text touch it-ran
2|1|-|do you mean SSPAPI_OUTPUT?|run -e SSPAPI_OUTPT=x touch it-ran

# ---- names of events and metrics -------------------------------------------------------------------
0|0|+|-|report --events A a.sspapi
0|0|+|-|report --events b a.sspapi
0|0|+|-|report --events A,EV_B --per-cpu a.sspapi
0|0|+|-|report --events A stores
0|0|+|-|report --per-cpu --sort B a.sspapi
0|0|+|-|report -f hwloc --color-by B a.sspapi
0|0|+|-|diff -e A a.sspapi b.sspapi
2|1|-|V_A: no such event; there are EV_A, EV_B|report --events V_A a.sspapi
2|1|-|NOPE: no such event; there are EV_A, EV_B|report --events NOPE a.sspapi
2|1|-|NOPE: no such event; there are EV_A, EV_B|report --events A,NOPE a.sspapi
2|1|-|NOPE: no such event; there are EV_A, EV_B|report --events NOPE --per-cpu a.sspapi
2|1|-|NOPE: no such event; there are EV_A, EV_B|report --events NOPE stores
2|1|-|NOPE: --sort takes place, readings or an event; there are EV_A|report --per-cpu --sort NOPE a.sspapi
2|1|-|--color-by: no such event|report -f hwloc --color-by NOPE a.sspapi
2|1|-|NOPE: neither has such an event; there are EV_A, EV_B|diff -e NOPE a.sspapi b.sspapi
2|1|-|readings: --sort place and readings need a level|report --sort readings a.sspapi
2|1|-|'NOPE' is neither a file nor a metric|report -m NOPE a.sspapi
2|1|-|; there are IPC, |report -m NOPE a.sspapi
2|2|-|'NOPE' is neither a file nor a metric|report -m ipc,NOPE a.sspapi
2|1|-|; there are IPC, |diff -m NOPE a.sspapi b.sspapi
2|1|-|; there are IPC, |top -m NOPE a.sspapi
125|1|-|; there are IPC, |stat -m NOPE touch it-ran
2|1|-|-m takes one file|report -m '' a.sspapi
1|1|+|text.txt:1:1: 'hello' is not one of CPU, PRESET, EVENT|report -m text.txt a.sspapi
1|1|+|./no.csv: No such file|report -m ./no.csv a.sspapi
125|1|-|an event's name is missing; sspapi list|stat -e '' touch it-ran
125|1|-|an event's name is missing|stat -e , touch it-ran
125|1|-|an event's name is missing at a comma|stat -e page-faults, touch it-ran
125|1|-|-o takes the name of a file|stat -o '' touch it-ran
125|1|-|stat counts from outside and has no event sets; use sspapi run|stat --per-set touch it-ran
2|1|-|sspapi report: '': |report --events '' -f '' a.sspapi

# ---- programs --------------------------------------------------------------------------------------
127|1|-|loop: No such file|run loop
127|1|-|nosuchprogram: No such file|run nosuchprogram
127|1|-|empty: No such file|run empty
126|1|-|./empty: Permission denied|run ./empty
126|1|-|./plain: Permission denied|run ./plain
126|1|-|/dev/null: Permission denied|run /dev/null
127|1|-|./nosuch: No such file|run ./nosuch
127|1|-|'': No such file|run ''
1|1|-|text.txt: No such file|doctor text.txt
1|1|-|./text.txt: Permission denied|doctor ./text.txt
1|1|-|nosuchprogram: No such file|doctor nosuchprogram
1|1|-|./empty: Permission denied|doctor ./empty
2|1|-|name one program, without its arguments|doctor sh -c
2|1|-|name the program to run|run
2|1|-|name the program to run|run --
125|1|-|name the program to count|stat
125|1|-|name the program to count|stat --

# ---- files to read ---------------------------------------------------------------------------------
1|1|-|text.txt: a text, not a store|report text.txt
1|1|-|plain: a text, not a store|report plain
1|1|-|script: a script, not a store: write one with sspapi run|report script
1|1|-|loop: a program, not a store: write one with sspapi run|report loop
1|1|-|dump.json: a JSON dump, not a store|report dump.json
1|1|-|dump.xml: XML, not a store|report dump.xml
1|1|-|none.sspapi: empty|report none.sspapi
1|1|-|zero.sspapi: not a store of sspapi, or damaged|report zero.sspapi
1|1|-|head.sspapi: not a store of sspapi, or damaged|report head.sspapi
1|1|+|cut.sspapi: damaged; only the readable part is shown|report cut.sspapi
1|1|+|mixed/head.sspapi: not a store of sspapi, or damaged|report mixed
1|1|+|mixed/head.sspapi: not a store|report --events A mixed
1|1|-|empty: no store (*.sspapi) is in this folder|report empty
1|1|-|nosuch.sspapi: No such file|report nosuch.sspapi
1|1|+|nosuch.sspapi: No such file|report a.sspapi nosuch.sspapi
0|1|+|has ended; these are its last counts (more: sspapi report a.sspapi)|top a.sspapi
1|1|-|empty: a folder, not a store|top empty
1|1|-|999999999: no such process|top 999999999
1|1|-|0: no such process|top 0
2|2|-|damaged: missing counts would appear as differences|diff a.sspapi mixed
2|1|-|cut.sspapi: damaged|diff a.sspapi cut.sspapi
1|3|-|no file could be used; nothing was written|merge -o m.sspapi text.txt none.sspapi
1|1|-|plain: a text, not a store|merge -o m.sspapi a.sspapi plain
1|1|-|not the name of a live file: not removed|recover --discard a.sspapi

# ---- files to write --------------------------------------------------------------------------------
2|1|-|html: needs a store: use -o FILE.sspapi here, then sspapi report -o FILE.html|run -o x.html touch it-ran
2|1|-|html: needs a store: use -o FILE.sspapi here|run -f html touch it-ran
2|1|-|hwloc: needs a store: use -o FILE.sspapi here, then sspapi report -o FILE.xml|run -o x.xml touch it-ran
2|1|-|hwloc: needs a store: use -o FILE.sspapi here|run -f json,hwloc touch it-ran
0|0|-|-|report -o made/by/report.json a.sspapi
0|0|-|-|merge -o made/by/merge.sspapi a.sspapi b.sspapi
0|0|-|-|report -o x.pdf -f text a.sspapi
0|0|-|-|report -o x.node7 a.sspapi
1|1|-|/proc/x/y.txt: No such file|report -o /proc/x/y.txt a.sspapi
1|1|-|/proc/x/y.sspapi: No such file|merge -o /proc/x/y.sspapi a.sspapi
2|1|-|empty: a folder: name a file in it|report -o empty a.sspapi
125|1|-|empty: a folder: name a file in it|stat -o empty touch it-ran
2|1|-|'empty' is a folder: name a file in it|run -o empty touch it-ran
1|1|-|empty: not a regular file|merge -o empty a.sspapi
2|1|-|the output file is also an input file|report -o a.sspapi a.sspapi
2|1|-|the output file is also an input file|merge -o a.sspapi a.sspapi b.sspapi
1|1|-|exists and is not a store: name another file|merge -o plain a.sspapi
2|1|-|name the store to write with -o FILE|merge a.sspapi
2|1|-|name the files to merge|merge -o m.sspapi
2|1|-|merge writes a store|merge -o m.json a.sspapi

# ---- values ----------------------------------------------------------------------------------------
2|1|-|pdf: -f takes one of text, json, csv, hwloc, html, store|report -f pdf a.sspapi
2|1|-|pdf: -f takes text, csv or markdown|diff -f pdf a.sspapi b.sspapi
125|1|-|-f takes one of text, json|stat -f pdf touch it-ran
2|1|-|'xml' is not one of text, json, csv, store|run -f xml touch it-ran
2|1|-|'excat' is not one of|run -e SSPAPI_ATTRIBUTION=excat touch it-ran
2|1|-|'99' is neither auto nor a number from 0 to 64|run -e SSPAPI_CALLSITES=99 touch it-ran
2|1|-|'x' is not a list of ranks (as 0,64-67)|run -e SSPAPI_RANKS=x touch it-ran
2|1|-|'NOPE' is not one of USR1|run -e SSPAPI_SIGNAL=NOPE touch it-ran
2|1|-|'maybe' is not 0, 1 or the path of a folder|run -e SSPAPI_LIVE=maybe touch it-ran
2|1|-|'%x.sspapi' has an unknown % letter (known: %p %h|run -o %x.sspapi touch it-ran
2|1|-|'7' is not a number from 0 to 1|run -e SSPAPI_DISABLE=7 touch it-ran
2|1|-|-e takes NAME=VALUE|run -e SSPAPI_LIVE touch it-ran
2|1|-|-e takes NAME=VALUE|run -e =1 touch it-ran
125|1|-|-r takes a number of runs|stat -r 0 touch it-ran
125|1|-|-r takes a number of runs|stat -r 2x touch it-ran
125|1|-|-I takes milliseconds|stat -I 0 touch it-ran
125|1|-|-I is not supported with -r|stat -I 5 -r 2 touch it-ran
125|1|-|-p takes numbers of processes|stat -p x
125|1|-|no such process|stat -p 999999999
125|1|-|-t takes numbers of threads|stat -t 1,x
125|1|-|stat counts from outside and has no call sites; use sspapi run|stat --per-callsite touch it-ran
125|1|-|--per-thread takes =no or nothing|stat --per-thread=maybe touch it-ran
2|1|-|--fail-above takes a percentage|diff --fail-above x a.sspapi b.sspapi
2|1|-|use only one --per-LEVEL|diff --per-cpu --per-core a.sspapi b.sspapi
2|1|-|name two files|diff a.sspapi
2|1|-|name two files|diff a.sspapi b.sspapi a.sspapi
2|1|-|-n needs a number of at least 1|top -n 0 1
2|1|-|-d takes seconds|top -d 0 1
2|1|-|name one process, or one live file|top
2|1|-|--readings supports neither levels nor metrics|report --readings --per-cpu a.sspapi
2|1|-|--readings: the text format does not support it; use -f csv|report --readings -f text a.sspapi
2|1|-|the csv format does not support it; use -f text or json|report -f csv --per-cpu --per-core a.sspapi
2|1|-|this option takes no value|report --all=3 a.sspapi
2|1|-|name at most one word|list a b
1|0|+|-|list no-such-event-anywhere
2|1|-|no such variable; do you mean SSPAPI_LIVE?|env SSPAPI_LIFE
2|1|-|-o is not supported with --discard|recover --discard -o x.txt a.live
2|1|-|-o needs exactly one live file|recover -o x.txt
2|1|-|-o needs exactly one live file|recover -o x.json a.live b.live
END_OF_TABLE
row_before="sh -c 'cd empty && exec \"\$@\"' sh"' "$sspapi"'
row 2 1 - 'no store (*.sspapi) of a run is here' report
row_before='"$sspapi"'
check "at least 150 rows ($rows)" test $rows -ge 150
is "nothing is run or written for what was refused" \
	"$(ls it-ran x.PNG x.svg x.html m.json 2>/dev/null)" ""

# ---- systematically ---------------------------------------------------------
# fails VERB: prints wrong usage
fails() {
	[ "$1" = stat ] && echo 125 || echo 2
}
for verb in $("$sspapi" help | sed -n 's/^  sspapi \([a-z]*\) .*/\1/p' |
	grep -v '^help$'; echo env); do
	row "$(fails $verb)" 1 - "--no-such-thing: unrecognized option (" $verb --no-such-thing
	row "$(fails $verb)" 1 - "-Z: unrecognized option (" $verb -Z
	"$sspapi" $verb --help >help
	sed -n '/^options:/,/^$/s/^  \(-[^ ,]*\)[ ,].*/\1/p' help >options
	# Each option of the usage has a line, and says if it needs a value.
	for option in $(sed -n 2p help | grep -oE -- '(^|[][ |])--?[a-zA-Z][a-z-]*' |
		grep -oE -- '--?[a-zA-Z][a-z-]*' | sort -u); do
		[ "$option" = --per- ] || [ "$option" = -- ] ||
			check "$verb --help: a line for $option" grep -qx -e "$option" options
	done
	for option in $(sed -nE '/^options:/,/^$/s/^  (-[^ ,]*) [A-Z].*/\1/p' help); do
		row "$(fails $verb)" 1 - "$option: this option needs a value (" $verb $option
	done
	row 0 0 + - $verb --help
	row 0 0 + - $verb --version
	is "$verb --version: the command's" "$(cat row.out)" "$("$sspapi" --version)"
done
check "help of a level: a line each" \
	sh -c 'for level in $(sed -n "s/^	{ \"\([a-z]*\)\", .*SP_LEVEL_.*/\1/p" "$2/core/formats/level.c"); do
	"$1" help report | grep -q "^  --per-$level  *a row per" || exit 1; done' \
	sh "$sspapi" "$root"

# Each verb's message for a file that is not a store, and for an unreadable one.
chmod 777 made
cp a.sspapi locked.sspapi && chmod 000 locked.sspapi
alone=''
[ "$(id -u)" != 0 ] || alone="setpriv --reuid=65534 --regid=65534 --clear-groups"
while read -r verb status before; do
	[ "$before" != - ] || before=''
	for file in nosuch.sspapi text.txt none.sspapi zero.sspapi head.sspapi script \
		./nosuch/x.sspapi text.txt/x loop /dev/null; do
		row "$status" 2 - "$file: " $verb $before $file
	done
	row_before="$alone"' "$sspapi"'
	row "$status" 2 - "locked.sspapi: Permission denied" $verb $before locked.sspapi
	row_before='"$sspapi"'
done <<'END_OF_TABLE'
report 1 -
diff 2 a.sspapi
merge 1 -o made/never.sspapi
recover 1 -
top 1 -
END_OF_TABLE
check "no store was made of them" not test -e made/never.sspapi

# The same happens with standard error closed, and no opened file gets the lines.
while read -r status arguments; do
	eval "run closed sh -c '\"\$@\" 2>&-' sh \"\$sspapi\" $arguments"
	is "without standard error: $arguments" "$(status_of closed)" "$status"
done <<'END_OF_TABLE'
2 reprot
2 report --nope
1 report nosuch.sspapi
0 report a.sspapi
1 merge -o quiet.sspapi a.sspapi text.txt
2 diff a.sspapi nosuch.sspapi
127 run nosuchprogram
3 run ./script
1 top 999999999
0 env
END_OF_TABLE
"$sspapi" merge -o loud.sspapi a.sspapi text.txt 2>/dev/null
check "and the file that was written then is whole" cmp quiet.sspapi loud.sspapi
"$sspapi" report mixed >loud 2>/dev/null
sh -c '"$0" report mixed >quiet 2>&-' "$sspapi"
check "also files merged in memory" sh -c 'test -s loud && cmp quiet loud'
run closed sh -c 'exec "$@" 2>&-' sh "$sspapi" run -o x.sspapi sh -c 'test -e /dev/fd/2 || exit 5'
is "the program has it closed as well" "$(status_of closed)" 5

# ---- next steps -------------------------------------------------------------
# pastes TEXT: succeeds if the last line of the text shows something when run by a shell
pastes() {
	tail -n 1 "$1" | sed -n 's/^more: sspapi //p' >paste
	[ -s paste ] && sh -c "\"\$0\" $(cat paste)" "$sspapi" >pasted && [ -s pasted ]
}
another_process b.sspapi
"$sspapi" report "it's a.sspapi" b.sspapi >further
check "of files with a name to be quoted: '$(tail -n 1 further)'" pastes further
is "both" "$(cat paste)" "report --per-thread 'it'\\''s a.sspapi' b.sspapi"
"$sspapi" report a.sspapi >further
is "one thread in full: there is nothing more" "$(grep -c '^more:' further)" 0
"$sspapi" report --all a.sspapi b.sspapi >further
is "nor if all were requested" "$(grep -c '^more:' further)" 0

# ---- what the library says -------------------------------------------------------------------------
run live env SSPAPI_LIVE=/no/dir LD_PRELOAD="$SHIM" SSPAPI_OUTPUT=x.json "$scenes/one"
check "no folder for the live file: which, why, and a fix" said live \
	"SSPAPI_LIVE: no live file can be created in /no/dir (No such file or directory): name an existing folder"
if plain "a file that stays empty"; then
	run promised "$sspapi" run -o nothing.sspapi -- "$apps/nolib"
	is "a file that stays empty: a line at the end" \
		"$(grep -c . promised.err) $(tail -n 1 promised.err)" \
		"2 sspapi: no file was written: this process created no event set"
	run promised "$sspapi" run -o one.json -- "$scenes/one"
	is "one that is written is not mentioned" \
		"$(grep -c 'nothing was counted' promised.err) $(test -s one.json; echo $?)" "0 0"
	run promised "$sspapi" run -e SSPAPI_VERBOSE=0 -o nothing.sspapi -- "$apps/nolib"
	is "nor does a process without an output file" "$(cat promised.err)" ""
	run promised "$sspapi" run -o nothing.sspapi -- sh -c '"$1"; exit 0' sh "$apps/nolib"
	is "a script's commands have no output file of their own" \
		"$(grep -c 'nothing was counted' promised.err)" 0
fi

# ---- what stat starts, where the kernel lets it count ----------------------------------------------
run try "$sspapi" stat true
if [ "$(status_of try)" = 0 ]; then
	row 127 1 - "loop: No such file" stat loop
	row 126 1 - "./empty: Permission denied" stat ./empty
	row 127 1 - "nosuchprogram: No such file" stat nosuchprogram
	row 125 40 - "/proc/x/y.json: No such file" stat -o /proc/x/y.json true
	check "a file that cannot be written loses no table" grep -q '^CPU ' row.err
	row 0 0 - - stat -q -o made/by/stat.json true
	run wide "$sspapi" stat \
		sh -c "exit 0; $(printf 'an argument of the command line %s ' 1 2 3 4 5 6)"
	is "a long command line: no line is over 80 columns" \
		"$(status_of wide) $(grep -cE '^.{81}' wide.err)" "0 0"
	many=task-clock,page-faults,minor-faults,major-faults,alignment-faults,emulation-faults	# which an ordinary user may count
	run few "$sspapi" stat -e $many -o few.sspapi sh -c '/bin/true; /bin/true; exit 0'
	sed -n 's/^+ [0-9]* more columns*: sspapi //p' few.err >commands
	check "columns without room: a command that shows them" test -s commands
	while read -r command; do
		check "of this run: sspapi $command" \
			sh -c '"$0" $1 >pasted && grep -q MAJOR pasted && grep -q "^ *pid .* sh " pasted' "$sspapi" "$command"
	done <commands
	check "or the option, where no store is written" \
		sh -c '"$1" stat -e "$2" sh -c "/bin/true; /bin/true; exit 0" 2>none.err
		grep -q "^+ [0-9]* more column.*: --per-[a-z]*$" none.err && ! grep -q "sspapi report" none.err' sh "$sspapi" $many
	row 125 1 - "nope-event: no event here has this name; sspapi list" stat -e nope-event true
	row 125 1 - "do you mean" stat -e page-fault true
else
	skip "what stat starts" "the kernel lets nobody count here"
fi
done_testing
