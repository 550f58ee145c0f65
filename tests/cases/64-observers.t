# Checks that a thing that several threads or ranks observe (a package's energy, the machine's
# stolen time) is counted once.
. tests/lib/lib.sh
cd "$tmp" || exit 1

cat >script <<'END'
component rapl
component stealtime
component io
event rapl:::PACKAGE_ENERGY:PACKAGE0 component=rapl units=nJ data_type=uint64
event rapl:::DRAM_ENERGY:PACKAGE0 component=rapl units=nJ data_type=uint64
event stealtime:::TOTAL component=stealtime units=us
event io:::rchar component=io
component cuda
event cuda:::x:device=0 component=cuda
event EV_A
END
E=rapl:::PACKAGE_ENERGY:PACKAGE0 D=rapl:::DRAM_ENERGY:PACKAGE0
printf 'EVENT,NJ,NOT_DERIVED,%s\nEVENT,PART,DERIVED_POSTFIX,N0|N1|/|,%s,%s\n' "$E" "$D" \
	"$E" >metrics.csv
# counted NAME RANK WORD...: runs ops into NAME.sspapi
counted() (
	name=$1 rank=$2
	shift 2
	FAKE_PAPI_SCRIPT=$tmp/script LD_PRELOAD=$SHIM:$MORE SSPAPI_OUTPUT=$tmp/$name.sspapi exec \
		env ${rank:+PMI_RANK=$rank} "$scenes/ops" "$@"
)
mkfifo go end
# Rank 1 observes it from before rank 0 begins until after it has ended; rank 2 later.
counted r1 1 "set=$E,$D" start tell=go hear=end show=3000,40 stop &
counted r0 0 hear=go "set=$E,$D" start show=2000,30 stop tell=end
wait
counted r2 2 "set=$E" start show=500 stop
# total LEVEL FILE...: prints the total of each row
total() {
	level=$1
	shift
	"$sspapi" report -f json -m metrics.csv "--per-$level" "$@" 2>/dev/null >level.json
	json level.json 'map { my $t = $_->{total}{"'"$E"'"} // "-"; my $m = $_->{derived_metrics}; "$t " . ($m->{NJ} // "-") . " " . ($m->{PART} // "-") } map { @{$_->{rows}} } @{$d->{levels}}' | paste -sd, -
}
is "of ranks at the same time the longest counts" "$(total package r0.sspapi r1.sspapi)" \
	"3000 3000 0.0133333333333333"
is "per rank each has the value that it observed" "$(total rank r0.sspapi r1.sspapi)" \
	"2000 2000 0.015,3000 3000 0.0133333333333333"
counted alone "" "set=$E" start show=3000 stop
for level in process thread; do
	is "a package's energy is not called unproven on its CPU, by $level" \
		"$("$sspapi" report "--per-$level" alone.sspapi | grep -c '^~')" 0
done
is "consecutive observers add up" "$(total machine r2.sspapi r0.sspapi r1.sspapi)" \
	"3500 3500 0.0133333333333333"
"$sspapi" merge -o some.sspapi r2.sspapi r0.sspapi
"$sspapi" merge -o all.sspapi r1.sspapi some.sspapi
is "merged, in groups: the same" "$(total machine all.sspapi)" "3500 3500 0.0133333333333333"
"$sspapi" report -f json -m metrics.csv all.sspapi >all.json
is "JSON's components" "$(json all.json 'map { $_->{total}{"'"$E"'"} // "-" } @{$d->{components}}' \
	| sort -u | tr '\n' ' ')" "- 3500 "
is "which counts are in no sum, and how many saw it" \
	"$(json all.json 'map { scalar @{$_->{left_out} // []} } @{$d->{relations}}' |
	tr '\n' ' ')$(json all.json 'map { $_->{observers} } @{$d->{events}}' | tr '\n' ' ')" \
	"2 0 0 3 2 "
is "CSV by level" "$("$sspapi" report -f csv --per-package all.sspapi 2>/dev/null |
	grep PACKAGE_ENERGY | cut -d, -f 16)" 3500
is "hwloc" "$("$sspapi" report -f hwloc all.sspapi 2>/dev/null |
	grep -o "name=\"$E\" value=\"[0-9]*" | sort -u)" "name=\"$E\" value=\"3500"
"$sspapi" report all.sspapi >text
check "text" grep -qE '^PACKAGE_ENERGY:PACKAGE0 +package 0 +3\.500 uJ$' text
is "a line says how many there were" \
	"$(tr -s '\n ' '  ' <text |
	grep -o 'PACKAGE_ENERGY:PACKAGE0: 3 observers read the same event at the same time\|DRAM_ENERGY:PACKAGE0: 2 observers' | tr '\n' ';')" \
	"PACKAGE_ENERGY:PACKAGE0: 3 observers read the same event at the same time;DRAM_ENERGY:PACKAGE0: 2 observers;"
# lines OPTION...: prints report's messages on standard error
lines() {
	"$sspapi" report "$@" all.sspapi 2>&1 >/dev/null | grep -c 'observers read the same'
}
is "so does report per level, and with hwloc, on standard error; not if each has its own" \
	"$(lines --per-package) $(lines --per-thread) $(lines --per-rank \
	-f csv) $(lines -f hwloc) $(lines -f csv) $(lines) $(lines -f json --per-package)" \
	"2 0 2 2 0 0 0"
"$sspapi" diff r1.sspapi all.sspapi >text
check "diff" grep -qE '^~ total +PACKAGE_ENERGY:PACKAGE0 +3\.000 uJ +3\.500 uJ ' text
"$sspapi" diff --per-thread r1.sspapi all.sspapi >text
check "its total, at any level" \
	grep -qE '^~ total +PACKAGE_ENERGY:PACKAGE0 +3\.000 uJ +3\.500 uJ ' text
"$sspapi" report -o all.html all.sspapi
sed -n '/id="data"/,/^<\/script>/p' all.html | sed '1d;$d' >page.json
is "the page" "$(json page.json 'map { $_->{total} } @{$d->{events}}' |
	tr '\n' ' ')$(json page.json \
	'map { map { $_->{total}{"'"$E"'"} } @{$_->{rows}} } grep { $_->{level} eq "machine" } @{$d->{levels}}')" "3500 40 3500"

# Threads observe the machine and their process; sets of one thread never run at the same time.
counted threads '' set=stealtime:::TOTAL start beside set=stealtime:::TOTAL start show=60 stop \
	back show=100 stop
total_of() {
	"$sspapi" report -f json "--per-$1" "$2.sspapi" >level.json
	json level.json 'map { values %{$_->{total}} } map { @{$_->{rows}} } @{$d->{levels}}' |
		tr '\n' ' '
}
is "threads of a process: once, and each by itself" \
	"$(for l in machine process set thread; do total_of $l threads; done)" \
	"100 100 100 60 100 60 "
counted io '' set=io:::rchar start show=5 read beside set=io:::rchar start show=7 read show=67 \
	stop back show=105 stop
is "also the process's own" "$(for l in machine thread; do total_of $l io; done)" "100 100 60 "
counted io2 '' set=io:::rchar start show=1 read show=8 stop
"$sspapi" merge -o io3.sspapi io.sspapi io2.sspapi
is "of another process it is a different thing" "$(total_of machine io3)" "107 "
counted sets '' "set=$E" start show=100 stop "set=$D,$E" start show=3,60 stop former start \
	show=20 stop
is "two sets of one thread add up" "$(total machine sets.sspapi)" "180 180 0.05"
# Values that do not begin at 0 count from the first reading on: a program that reads only at the
# end has counted nothing.
counted late '' set=io:::rchar start beside set=io:::rchar start show=7 read show=67 stop back \
	show=105 stop
is "io: a thread that read twice counts" "$(total_of machine late)" "60 "
counted never '' "set=$E" start beside "set=$E" start show=7 stop back
is "a thread that never read has no counts" \
	"$(total_of machine never)$("$sspapi" report never.sspapi | grep -c observers)" "7 0"

# A metric uses observers of all its events: one that observed an event longer does not contribute.
counted l0 0 "set=$E" start tell=go hear=end show=9000 stop &
counted l1 1 hear=go "set=$E,$D" start show=400,40 stop tell=end
wait
counted l2 2 "set=$E,$D" start show=100,20 stop
is "a metric of two events, one of which another process observed longer" \
	"$(total package l0.sspapi l1.sspapi l2.sspapi)" "9100 9100 0.12"
is "per rank: its own" "$(total rank l0.sspapi l1.sspapi l2.sspapi)" \
	"9000 9000 -,400 400 0.1,100 100 0.2"

# All processes of a CPU observe one thing, too; a process's own use of a GPU is its own.
together() {
	counted a 0 "$@" start tell=go hear=end show=300 stop &
	counted b 1 hear=go "$@" start show=200 stop tell=end
	wait
	"$sspapi" report -f json --per-machine a.sspapi b.sspapi >level.json
	json level.json 'map { values %{$_->{total}} } map { @{$_->{rows}} } @{$d->{levels}}'
}
is "a whole CPU, counted by two ranks" "$(together set=EV_A whole=1)" 300
is "a thread's own, by two ranks" "$(together set=EV_A)" 500
is "cuda, by two ranks" "$(together set=cuda:::x:device=0)" 500
counted here '' "set=$E" start show=300 stop
SSPAPI_TOPOLOGY='synthetic:pack:2 core:1 pu:1' counted there '' "set=$E" start show=300 stop
is "of several machines the text names each" \
	"$("$sspapi" report here.sspapi there.sspapi |
	grep -cE '^PACKAGE_ENERGY:PACKAGE0 +package 0 on [^ ]+ +300\.0 nJ$')" 2
done_testing
