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
echo hello >text.txt && cp text.txt plain && cp text.txt text.sspapi && : >none.sspapi &&
	printf '#!/bin/sh\nexit 3\n' >script && chmod +x script
cp "$apps/nopapi" loop
head -c 3000 a.sspapi >cut.sspapi && head -c 100 a.sspapi >head.sspapi &&
	head -c 4096 /dev/zero >zero.sspapi
cp a.sspapi b.sspapi stores && cp a.sspapi b.sspapi head.sspapi mixed
printf '{"format": "sspapi-dump"}\n' >dump.json && printf '<?xml version="1.0"?>\n' >dump.xml
cp a.sspapi "it's a.sspapi"
"$sspapi" report -f csv a.sspapi >dump.csv && "$sspapi" report a.sspapi >dump.txt &&
	"$sspapi" report -f html a.sspapi >dump.html && gzip -c a.sspapi >a.sspapi.gz
# Stores of another version, and of the other byte order.
perl -e 'local $/; my $all = <>;
	for (["newer", 14, "c\0"], ["older", 12, pack "vv", 3, 1], ["swapped", 0, scalar reverse substr $all, 0, 8]) {
		my ($name, $at, $bytes) = @$_;
		my $store = $all;
		substr($store, $at, length $bytes) = $bytes;
		open my $out, ">", "$name.sspapi" or die;
		print $out $store;
	}' a.sspapi

# row STATUS LINES OUTPUT WORDS COMMAND: checks its exit status; at most LINES lines on standard
# error, one of which is WORDS, or has them if they do not begin with the program's name (-: no
# lines); on standard output nothing (-), or anything (+).
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
		case $row_words in -) [ ! -s row.err ] ;; sspapi*) grep -qxF -- "$row_words" \
		row.err ;; *) grep -qF -- "$row_words" row.err ;; esac &&
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
2|1|-|sspapi: reprot: no such verb; do you mean report? (sspapi --help lists them)|reprot
2|1|-|sspapi: --versoin: no such option; do you mean --version? (sspapi --help lists them)|--versoin
2|1|-|sspapi: --hlep: no such option; do you mean --help? (sspapi --help lists them)|--hlep
2|1|-|sspapi: sta: no such verb; do you mean stat? (sspapi --help lists them)|sta
2|1|-|sspapi: docter: no such verb; do you mean doctor? (sspapi --help lists them)|docter
2|1|-|sspapi: recoverr: no such verb; do you mean recover? (sspapi --help lists them)|recoverr
2|1|-|sspapi: megre: no such verb; do you mean merge? (sspapi --help lists them)|megre
2|1|-|sspapi: lits: no such verb; do you mean list? (sspapi --help lists them)|lits
2|1|-|sspapi: dif: no such verb; do you mean diff? (sspapi --help lists them)|dif
2|1|-|sspapi: evn: no such verb; do you mean env? (sspapi --help lists them)|evn
2|1|-|sspapi: tpo: no such verb; do you mean top? (sspapi --help lists them)|tpo
2|1|-|sspapi: rn: no such verb; do you mean run? (sspapi --help lists them)|rn
2|1|-|sspapi: REPROT: no such verb; do you mean report? (sspapi --help lists them)|REPROT
2|1|-|sspapi: nope: no such verb (sspapi --help lists them)|nope
2|1|-|sspapi: '': no such verb (sspapi --help lists them)|''
2|1|-|sspapi: reprot: no such verb; do you mean report? (sspapi --help lists them)|help reprot
2|1|-|sspapi: --per-cores: no such option (sspapi --help lists them)|help --per-cores
2|1|-|sspapi: -x: no such option; do you mean one of -h, -V? (sspapi --help lists them)|-x
2|40|-|usage: sspapi VERB|
2|1|-|sspapi report: --per-cores: unrecognized option; do you mean --per-core? (sspapi help report lists the options)|report --per-cores a.sspapi
2|1|-|sspapi report: --per-thred: unrecognized option; do you mean --per-thread? (sspapi help report lists the options)|report --per-thred a.sspapi
2|1|-|sspapi report: --per-pakage: unrecognized option; do you mean --per-package? (sspapi help report lists the options)|report --per-pakage a.sspapi
2|1|-|sspapi top: --per-soket: unrecognized option; do you mean --per-socket? (sspapi help top lists the options)|top --per-soket 1
2|1|-|sspapi report: --event-s: unrecognized option; do you mean --events? (sspapi help report lists the options)|report --event-s EV_A a.sspapi
2|1|-|sspapi report: --no-symbls: unrecognized option; do you mean --no-symbols? (sspapi help report lists the options)|report --no-symbls a.sspapi
2|1|-|sspapi diff: --fail-abov-e: unrecognized option; do you mean --fail-above? (sspapi help diff lists the options)|diff --fail-abov-e 1 a.sspapi b.sspapi
2|1|-|sspapi recover: --dicsard: unrecognized option; do you mean --discard? (sspapi help recover lists the options)|recover --dicsard
2|1|-|sspapi doctor: --chekc: unrecognized option; do you mean --check? (sspapi help doctor lists the options)|doctor --chekc
2|1|-|sspapi env: --hlep: unrecognized option; do you mean --help? (sspapi help env lists the options)|env --hlep
2|1|-|sspapi list: --verison: unrecognized option; do you mean --version? (sspapi help list lists the options)|list --verison
2|1|-|sspapi run: SSPAPI_READINGS_MX: unknown variable; do you mean SSPAPI_READINGS_MAX?|run -e SSPAPI_READINGS_MX=3 touch it-ran
125|1|-|sspapi stat: --per-cor-e: unrecognized option; do you mean --per-core? (sspapi help stat lists the options)|stat --per-cor-e touch it-ran
2|1|-|sspapi report: --per-c: unrecognized option; do you mean --per-cpu? (sspapi help report lists the options)|report --per-c a.sspapi
2|1|-|sspapi diff: --per: unrecognized option (sspapi help diff lists the options)|diff --per a.sspapi b.sspapi
125|1|-|sspapi stat: --per-s: unrecognized option; do you mean --per-set? (sspapi help stat lists the options)|stat --per-s touch it-ran
0|0|+|-|report --per-co a.sspapi
2|1|-|sspapi run: SSPAPI_FROMAT: unknown variable; do you mean SSPAPI_FORMAT?|run -e SSPAPI_FROMAT=text touch it-ran
2|1|-|sspapi run: SSPAPI_OUTPT: unknown variable; do you mean SSPAPI_OUTPUT?|run -e SSPAPI_OUTPT=x touch it-ran

# ---- names of events and metrics -------------------------------------------------------------------
0|0|+|-|report --events A a.sspapi
0|0|+|-|report --events b a.sspapi
0|0|+|-|report --events A,EV_B --per-cpu a.sspapi
0|0|+|-|report --events A stores
0|0|+|-|report --per-cpu --sort B a.sspapi
0|0|+|-|report -f hwloc --color-by B a.sspapi
0|0|+|-|diff -e A a.sspapi b.sspapi
2|1|-|sspapi report: V_A: no such event; there are EV_A, EV_B|report --events V_A a.sspapi
2|1|-|sspapi report: NOPE: no such event; there are EV_A, EV_B|report --events NOPE a.sspapi
2|1|-|sspapi report: NOPE: no such event; there are EV_A, EV_B|report --events A,NOPE a.sspapi
2|1|-|sspapi report: NOPE: no such event; there are EV_A, EV_B|report --events NOPE --per-cpu a.sspapi
2|1|-|sspapi report: NOPE: no such event; there are EV_A, EV_B|report --events NOPE stores
2|1|-|sspapi report: '': no such event; there are EV_A, EV_B|report --events , a.sspapi
2|1|-|sspapi report: NOPE: --sort takes place, readings or an event; there are EV_A, EV_B|report --per-cpu --sort NOPE a.sspapi
2|1|-|sspapi report: NOPE: --color-by: no such event with counts that add up; there are EV_A, EV_B|report -f hwloc --color-by NOPE a.sspapi
2|1|-|sspapi diff: NOPE: neither has such an event; there are EV_A, EV_B|diff -e NOPE a.sspapi b.sspapi
2|1|-|sspapi report: readings: --sort place and readings need a level (--per-cpu ...)|report --sort readings a.sspapi
2|1|-|'NOPE' is neither a file nor a metric|report -m NOPE a.sspapi
2|1|-|; there are IPC, |report -m NOPE a.sspapi
2|2|-|'NOPE' is neither a file nor a metric|report -m ipc,NOPE a.sspapi
2|1|-|; there are IPC, |diff -m NOPE a.sspapi b.sspapi
2|1|-|; there are IPC, |top -m NOPE a.sspapi
125|1|-|; there are IPC, |stat -m NOPE touch it-ran
2|1|-|sspapi report: '': -m takes one file, or names of built-in metrics|report -m '' a.sspapi
1|1|+|sspapi report: text.txt:1:1: 'hello' is not one of CPU, PRESET, EVENT|report -m text.txt a.sspapi
1|1|+|sspapi report: ./no.csv: No such file or directory|report -m ./no.csv a.sspapi
125|1|-|sspapi stat: -e: an event's name is missing; sspapi list shows those that can be counted here|stat -e '' touch it-ran
125|1|-|sspapi stat: -e: an event's name is missing at a comma; sspapi list shows those that can be counted here|stat -e , touch it-ran
125|1|-|sspapi stat: -e: an event's name is missing at a comma; sspapi list shows those that can be counted here|stat -e page-faults, touch it-ran
125|1|-|sspapi stat: -o takes the name of a file|stat -o '' touch it-ran
125|1|-|sspapi stat: --per-set: stat counts from outside and has no event sets; use sspapi run for a program that uses PAPI|stat --per-set touch it-ran
2|1|-|sspapi report: '': -f takes one of text, json, csv, hwloc, html, trace, store|report --events '' -f '' a.sspapi

# ---- programs --------------------------------------------------------------------------------------
127|1|-|sspapi run: loop: No such file or directory|run loop
127|1|-|sspapi run: nosuchprogram: No such file or directory|run nosuchprogram
127|1|-|sspapi run: empty: No such file or directory|run empty
126|1|-|sspapi run: ./empty: Permission denied|run ./empty
126|1|-|sspapi run: ./plain: Permission denied|run ./plain
126|1|-|sspapi run: /dev/null: Permission denied|run /dev/null
127|1|-|sspapi run: ./nosuch: No such file or directory|run ./nosuch
127|1|-|sspapi run: '': No such file or directory|run ''
1|1|-|sspapi doctor: text.txt: No such file or directory|doctor text.txt
1|1|-|sspapi doctor: ./text.txt: Permission denied|doctor ./text.txt
1|1|-|sspapi doctor: nosuchprogram: No such file or directory|doctor nosuchprogram
1|1|-|sspapi doctor: ./empty: Permission denied|doctor ./empty
2|1|-|sspapi doctor: -c: name one program, without its arguments|doctor sh -c
2|1|-|sspapi run: name the program to run|run
2|1|-|sspapi run: name the program to run|run --
125|1|-|sspapi stat: name the program to count|stat
125|1|-|sspapi stat: name the program to count|stat --

# ---- files to read ---------------------------------------------------------------------------------
1|1|-|sspapi report: text.txt: a text, not a store: write one with SSPAPI_FORMAT=text,store or sspapi run|report text.txt
1|1|-|sspapi report: plain: a text, not a store: write one with SSPAPI_FORMAT=text,store or sspapi run|report plain
1|1|-|sspapi report: text.sspapi: a text, not a store: write one with SSPAPI_FORMAT=text,store or sspapi run|report text.sspapi
1|1|-|sspapi report: script: a script, not a store: write one with sspapi run or sspapi stat -o FILE|report script
1|1|-|sspapi report: loop: a program, not a store: write one with sspapi run or sspapi stat -o FILE|report loop
1|1|-|sspapi report: dump.json: a JSON dump, not a store: write one with SSPAPI_FORMAT=text,store or sspapi run|report dump.json
1|1|-|sspapi report: dump.xml: XML, not a store: write one with SSPAPI_FORMAT=text,store or sspapi run|report dump.xml
1|1|-|sspapi report: none.sspapi: empty: it contains no counts|report none.sspapi
1|1|-|sspapi report: zero.sspapi: not a store of sspapi, or damaged|report zero.sspapi
1|1|-|sspapi report: head.sspapi: not a store of sspapi, or damaged|report head.sspapi
1|1|+|sspapi report: cut.sspapi: damaged; only the readable part is shown|report cut.sspapi
1|1|+|sspapi report: mixed/head.sspapi: not a store of sspapi, or damaged|report mixed
1|1|+|sspapi report: mixed/head.sspapi: not a store of sspapi, or damaged|report --events A mixed
1|1|-|sspapi report: empty: no store (*.sspapi) is in this folder|report empty
1|1|-|sspapi report: nosuch.sspapi: No such file or directory|report nosuch.sspapi
1|1|+|sspapi report: nosuch.sspapi: No such file or directory|report a.sspapi nosuch.sspapi
0|1|+|has ended; these are its last counts (more: sspapi report a.sspapi)|top a.sspapi
1|1|-|sspapi top: empty: a folder, not a store: name a file in it|top empty
1|1|-|sspapi top: 999999999: no such process|top 999999999
1|1|-|sspapi top: 0: no such process|top 0
2|2|-|damaged: missing counts would appear as differences|diff a.sspapi mixed
2|1|-|sspapi diff: cut.sspapi: damaged: missing counts would appear as differences|diff a.sspapi cut.sspapi
1|3|-|no file could be used; nothing was written|merge -o m.sspapi text.txt none.sspapi
1|1|-|sspapi merge: plain: a text, not a store: write one with SSPAPI_FORMAT=text,store or sspapi run|merge -o m.sspapi a.sspapi plain
1|1|-|sspapi recover: a.sspapi: not the name of a live file: not removed|recover --discard a.sspapi
1|1|-|sspapi report: newer.sspapi: written by a newer sspapi: use that one to read it|report newer.sspapi
1|1|-|sspapi report: older.sspapi: written by sspapi before 0.3, whose stores are not supported: run the program again|report older.sspapi
1|1|-|sspapi report: swapped.sspapi: not a store of sspapi, or damaged|report swapped.sspapi
1|1|-|sspapi report: a.sspapi.gz: not a store of sspapi, or damaged|report a.sspapi.gz
1|1|-|sspapi report: dump.csv: a CSV dump, not a store: write one with SSPAPI_FORMAT=text,store or sspapi run|report dump.csv
1|1|-|sspapi report: dump.txt: a text, not a store: write one with SSPAPI_FORMAT=text,store or sspapi run|report dump.txt
1|1|-|sspapi report: dump.html: a text, not a store: write one with SSPAPI_FORMAT=text,store or sspapi run|report dump.html
1|1|-|sspapi report: /dev/null: empty: it contains no counts|report /dev/null
1|1|-|sspapi report: a.sspapi/x: Not a directory|report a.sspapi/x
1|2|-|no file could be used; nothing was written|merge -o m.sspapi nosuch.sspapi
1|2|-|no file could be used; nothing was written|merge -o m.sspapi cut.sspapi
1|1|-|sspapi merge: /dev/null: not a regular file: name another one|merge -o /dev/null a.sspapi
2|1|-|sspapi diff: newer.sspapi: written by a newer sspapi: use that one to read it|diff a.sspapi newer.sspapi
1|1|-|sspapi recover: a.sspapi: not a live file, but a finished store: sspapi report shows it|recover a.sspapi
1|1|-|sspapi recover: nosuch.live: No such file or directory|recover nosuch.live
1|1|-|sspapi recover: text.txt: a text, not a store: write one with SSPAPI_FORMAT=text,store or sspapi run|recover text.txt
1|1|-|sspapi recover: text.txt: not the name of a live file: not removed|recover --discard text.txt
1|1|-|sspapi recover: empty: a folder, not a store: name a file in it|recover empty
1|1|-|sspapi top: text.txt: a text, not a store: write one with SSPAPI_FORMAT=text,store or sspapi run|top text.txt
1|1|-|sspapi top: nosuch.live: No such file or directory|top nosuch.live

# ---- files to write --------------------------------------------------------------------------------
2|1|-|sspapi run: html: needs a store: use -o FILE.sspapi here, then sspapi report -o FILE.html FILE.sspapi|run -o x.html touch it-ran
2|1|-|sspapi run: html: needs a store: use -o FILE.sspapi here, then sspapi report -o FILE.html FILE.sspapi|run -f html touch it-ran
2|1|-|sspapi run: hwloc: needs a store: use -o FILE.sspapi here, then sspapi report -o FILE.xml FILE.sspapi|run -o x.xml touch it-ran
2|1|-|sspapi run: hwloc: needs a store: use -o FILE.sspapi here, then sspapi report -o FILE.xml FILE.sspapi|run -f json,hwloc touch it-ran
0|0|-|-|report -o made/by/report.json a.sspapi
0|0|-|-|merge -o made/by/merge.sspapi a.sspapi b.sspapi
0|0|-|-|report -o x.pdf -f text a.sspapi
0|0|-|-|report -o x.node7 a.sspapi
1|1|-|sspapi report: /proc/x/y.txt: No such file or directory|report -o /proc/x/y.txt a.sspapi
1|1|-|sspapi merge: /proc/x/y.sspapi: No such file or directory|merge -o /proc/x/y.sspapi a.sspapi
2|1|-|sspapi report: empty: a folder: name a file in it|report -o empty a.sspapi
125|1|-|sspapi stat: empty: a folder: name a file in it (FOLDER/run.sspapi)|stat -o empty touch it-ran
2|1|-|sspapi run: SSPAPI_OUTPUT: 'empty' is a folder: name a file in it (FOLDER/sspapi.%p.txt)|run -o empty touch it-ran
1|1|-|sspapi merge: empty: not a regular file: name another one|merge -o empty a.sspapi
2|1|-|sspapi report: a.sspapi: the output file is also an input file|report -o a.sspapi a.sspapi
2|1|-|sspapi merge: a.sspapi: the output file is also an input file|merge -o a.sspapi a.sspapi b.sspapi
1|1|-|sspapi merge: plain: exists and is not a store: name another file|merge -o plain a.sspapi
2|1|-|sspapi merge: name the store to write with -o FILE|merge a.sspapi
2|1|-|sspapi merge: name the files to merge|merge -o m.sspapi
2|1|-|sspapi merge: m.json: merge writes a store: name it .sspapi, or use sspapi report -f FORMAT FILE...|merge -o m.json a.sspapi

# ---- values ----------------------------------------------------------------------------------------
2|1|-|sspapi report: pdf: -f takes one of text, json, csv, hwloc, html, trace, store|report -f pdf a.sspapi
2|1|-|sspapi report: a.sspapi: no permanent readings: run the program with SSPAPI_READINGS=permanent, or sspapi stat with -I|report -f trace -o t.json a.sspapi
125|1|-|sspapi stat: trace: the trace format needs -I|stat -f trace touch it-ran
2|1|-|sspapi diff: pdf: -f takes text, csv or markdown|diff -f pdf a.sspapi b.sspapi
125|1|-|sspapi stat: pdf: -f takes one of text, json, csv, hwloc, html, trace, store|stat -f pdf touch it-ran
2|1|-|sspapi run: SSPAPI_FORMAT: 'xml' is not one of text, json, csv, store|run -f xml touch it-ran
2|1|-|sspapi run: SSPAPI_ATTRIBUTION: 'excat' is not one of auto, exact, residency, reading|run -e SSPAPI_ATTRIBUTION=excat touch it-ran
2|1|-|sspapi run: SSPAPI_CALLSITES: '99' is neither auto nor a number from 0 to 64|run -e SSPAPI_CALLSITES=99 touch it-ran
2|1|-|sspapi run: SSPAPI_RANKS: 'x' is not a list of ranks (as 0,64-67)|run -e SSPAPI_RANKS=x touch it-ran
2|1|-|sspapi run: SSPAPI_SIGNAL: 'NOPE' is not one of USR1, USR2, HUP, URG, WINCH, IO, PWR, ALRM, VTALRM, PROF, TERM, INT, QUIT, CONT|run -e SSPAPI_SIGNAL=NOPE touch it-ran
2|1|-|sspapi run: SSPAPI_LIVE: 'maybe' is not 0, 1 or the path of a folder (with a / in it: ./live)|run -e SSPAPI_LIVE=maybe touch it-ran
2|1|-|sspapi run: SSPAPI_OUTPUT: '%x.sspapi' has an unknown % letter (known: %p %h %e %r %j %s %q{NAME} %%)|run -o %x.sspapi touch it-ran
2|1|-|sspapi run: SSPAPI_DISABLE: '7' is not a number from 0 to 1|run -e SSPAPI_DISABLE=7 touch it-ran
2|1|-|sspapi run: SSPAPI_LIVE: -e takes NAME=VALUE|run -e SSPAPI_LIVE touch it-ran
2|1|-|sspapi run: =1: -e takes NAME=VALUE|run -e =1 touch it-ran
125|1|-|sspapi stat: 0: -r takes a number of runs, 1 to 1000|stat -r 0 touch it-ran
125|1|-|sspapi stat: 2x: -r takes a number of runs, 1 to 1000|stat -r 2x touch it-ran
125|1|-|sspapi stat: 0: -I takes milliseconds, 1 to 3600000|stat -I 0 touch it-ran
125|1|-|sspapi stat: -I is not supported with -r|stat -I 5 -r 2 touch it-ran
125|1|-|sspapi stat: x: -p takes numbers of processes, joined by commas|stat -p x
125|1|-|sspapi stat: 999999999: no such process|stat -p 999999999
125|1|-|sspapi stat: x: -t takes numbers of threads, joined by commas|stat -t 1,x
125|1|-|sspapi stat: --per-callsite: stat counts from outside and has no call sites; use sspapi run for a program that uses PAPI|stat --per-callsite touch it-ran
125|1|-|sspapi stat: maybe: --per-thread takes =no or nothing|stat --per-thread=maybe touch it-ran
2|1|-|sspapi diff: x: --fail-above takes a percentage, as 1 or 0.5%|diff --fail-above x a.sspapi b.sspapi
2|1|-|sspapi diff: per-core: use only one --per-LEVEL|diff --per-cpu --per-core a.sspapi b.sspapi
2|1|-|sspapi diff: name two files, or repeats of both as A... -- B...|diff a.sspapi
2|1|-|sspapi diff: name two files, or repeats of both as A... -- B...|diff a.sspapi b.sspapi a.sspapi
2|1|-|sspapi top: 0: -n needs a number of at least 1|top -n 0 1
2|1|-|sspapi top: 0: -d takes seconds from 0.1 to 86400|top -d 0 1
2|1|-|sspapi report: --readings supports neither levels nor metrics|report --readings --per-cpu a.sspapi
2|1|-|sspapi report: --readings: the text format does not support it; use -f csv|report --readings -f text a.sspapi
2|1|-|sspapi report: 'more than two --per-LEVEL': the csv format does not support it; use -f text or json|report -f csv --per-cpu --per-core --per-package a.sspapi
2|1|-|sspapi report: --all=3: this option takes no value (sspapi help report lists the options)|report --all=3 a.sspapi
2|1|-|sspapi list: b: name at most one word|list a b
1|0|+|-|list no-such-event-anywhere
2|1|-|no such variable; do you mean SSPAPI_LIVE?|env SSPAPI_LIFE
2|1|-|sspapi recover: -o is not supported with --discard, which writes no dump|recover --discard -o x.txt a.live
2|1|-|sspapi recover: -o needs exactly one live file|recover -o x.txt
2|1|-|sspapi recover: -o needs exactly one live file|recover -o x.json a.live b.live

# ---- variables ---------------------------------------------------------------------------------------
2|1|-|sspapi run: SSPAPI_FORMAT: 'pdf' is not one of text, json, csv, store|run -f pdf touch it-ran
2|1|-|sspapi run: SSPAPI_READINGS: 'all' is not one of temporary, permanent|run -e SSPAPI_READINGS=all touch it-ran
2|1|-|sspapi run: SSPAPI_READINGS_MAX: '-1' is not a number from 0 to 1000000000000|run -e SSPAPI_READINGS_MAX=-1 touch it-ran
2|1|-|sspapi run: SSPAPI_DESCRIPTORS: 'many' is not a number from 0 to 1048576|run -e SSPAPI_DESCRIPTORS=many touch it-ran
2|1|-|sspapi run: SSPAPI_VERBOSE: '3' is not a number from 0 to 2|run -e SSPAPI_VERBOSE=3 touch it-ran
2|1|-|sspapi run: SSPAPI_FORMAT: 'pdf' is not one of text, json, csv, store|run -e SSPAPI_FORMAT=text,pdf touch it-ran
2|1|-|sspapi run: SSPAPI_OUTPUT: '%q{' has an unknown % letter (known: %p %h %e %r %j %s %q{NAME} %%)|run -e SSPAPI_OUTPUT=%q{ touch it-ran
2|1|-|sspapi run: SSPAPI_RANKS: '3-1' is not a list of ranks (as 0,64-67)|run -e SSPAPI_RANKS=3-1 touch it-ran
2|1|-|sspapi run: SSPAPI_WEATHER: unknown variable; sspapi env lists all variables|run -e SSPAPI_WEATHER=fine touch it-ran
2|1|-|sspapi run: SSPAPI_CALLSITES: '-1' is neither auto nor a number from 0 to 64|run -e SSPAPI_CALLSITES=-1 touch it-ran
2|1|-|sspapi run: SSPAPI_LIVE: 'live' is not 0, 1 or the path of a folder (with a / in it: ./live)|run -e SSPAPI_LIVE=live touch it-ran

# ---- options that do not fit --------------------------------------------------------------------------
125|1|-|sspapi stat: -r is not supported with -p, -t or --cgroup: it runs a program several times|stat -r 2 -p 1
125|1|-|sspapi stat: --cgroup takes the name of a control group|stat --cgroup '' touch it-ran
125|1|-|sspapi stat: --cgroup is not supported with -p or -t: use one of them|stat --cgroup / -p 1
125|1|-|sspapi stat: -r is not supported with -p, -t or --cgroup: it runs a program several times|stat --cgroup / -r 2 touch it-ran
125|1|-|sspapi stat: --per-thread is not supported with --cgroup: the kernel counts a control group per CPU; use -p to count a process per thread|stat --cgroup / --per-thread touch it-ran
125|1|-|sspapi stat: 999999999: no such thread|stat -t 999999999
125|1|-|sspapi stat: '': -p takes numbers of processes, joined by commas|stat -p ''
125|1|-|sspapi stat: pdf: -f takes one of text, json, csv, hwloc, html, trace, store|stat -o x.json -f pdf touch it-ran
125|1|-|sspapi stat: text,json: --per-LEVEL takes one format|stat --per-cpu -f text,json touch it-ran
125|1|-|sspapi stat: --per-package=2: this option takes no value (sspapi help stat lists the options)|stat --per-package=2 touch it-ran
2|1|-|sspapi report: a.sspapi: no permanent readings: run the program with SSPAPI_READINGS=permanent, or sspapi stat with -I|report --readings a.sspapi
2|1|-|sspapi report: --readings supports neither levels nor metrics|report --readings -m ipc a.sspapi
2|1|-|sspapi report: --per-cpu=3: this option takes no value (sspapi help report lists the options)|report --per-cpu=3 a.sspapi
2|1|-|sspapi report: --per-LEVEL: the hwloc format does not support it; use -f text or json or csv|report -f hwloc --per-cpu a.sspapi
2|1|-|sspapi report: --sort: the store format does not support it; use -f text or json or csv|report -f store --sort B a.sspapi
2|1|-|sspapi report: --no-symbols: the csv format does not support it; use -f text or json or html or trace|report -o x.csv --no-symbols a.sspapi
2|1|-|sspapi report: --all: the csv format does not support it; use -f text|report -f csv --all a.sspapi
2|1|-|sspapi merge: name the store to write with -o FILE|merge -o '' a.sspapi
2|1|-|sspapi diff: --: No such file or directory|diff a.sspapi -- b.sspapi --
2|1|-|sspapi diff: name two files, or repeats of both as A... -- B...|diff --
2|1|-|sspapi diff: json: -f takes text, csv or markdown|diff -f json a.sspapi b.sspapi
2|1|-|sspapi diff: -1: --fail-above takes a percentage, as 1 or 0.5%|diff --fail-above -1 a.sspapi b.sspapi
2|1|-|sspapi diff: '': neither has such an event; there are EV_A, EV_B|diff -e '' a.sspapi b.sspapi
2|1|-|sspapi recover: a.live: --list and --all take no files|recover --list a.live
2|1|-|sspapi recover: x.live: --list and --all take no files|recover --all x.live
2|1|-|sspapi top: x: -d takes seconds from 0.1 to 86400|top -d x 1
2|1|-|sspapi top: x: -n needs a number of at least 1|top -n x 1
1|1|-|no live file: the process has not called PAPI yet|top -n 1 $$
2|1|-|sspapi doctor: b: name one program, without its arguments|doctor a b
2|1|-|sspapi list: --all: unrecognized option (sspapi help list lists the options)|list --all
2|1|-|sspapi env: -o: unrecognized option (sspapi help env lists the options)|env -o x
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
		"$(grep -c 'no file was written' promised.err) $(test -s one.json; echo $?)" "0 0"
	run promised "$sspapi" run -e SSPAPI_VERBOSE=0 -o nothing.sspapi -- "$apps/nolib"
	is "nor does a process without an output file" "$(cat promised.err)" ""
	run promised "$sspapi" run -o nothing.sspapi -- sh -c '"$1"; exit 0' sh "$apps/nolib"
	is "a script and its commands: one line, if none of them wrote the file" \
		"$(grep -c . promised.err) $(tail -n 1 promised.err)" \
		"2 sspapi: no file was written: this process and its children created no event set"
	run promised "$sspapi" run -o child.sspapi -- sh -c '"$1"; exit 0' sh "$scenes/one"
	is "not if a command did" \
		"$(grep -c 'no file was written' promised.err) $(test -s child.sspapi; echo $?)" "0 0"
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
	row 125 1 - "nope-event: no such event; sspapi list" stat -e nope-event true
	row 125 1 - "do you mean" stat -e page-fault true
else
	skip "what stat starts" "the kernel lets nobody count here"
fi
done_testing
