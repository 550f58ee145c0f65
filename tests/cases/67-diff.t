# diff: 0 same, 1 differs, 2 error; matched by logical position.
. tests/lib/lib.sh
sspapi=$B/sspapi
cd "$tmp" || exit 1

one() {
	SSPAPI_OUTPUT=$tmp/$1.sspapi run_shim s env SSPAPI_TOPOLOGY="$root/tests/topo/$2.xml" FAKE_PAPI_SCRIPT="$3" "$scenes/one" EV_A EV_B
}
printf 'event EV_A\nevent EV_B\neach PAPI_read count EV_A 100\neach PAPI_stop count EV_A 150\n' >less
printf 'event EV_A\nevent EV_B\neach PAPI_read count EV_A 110\neach PAPI_stop count EV_A 150\n' >more
one a hybrid less
one same hybrid less
one b hybrid more
one other v1-numa less

run d "$sspapi" diff a.sspapi same.sspapi
is "the same counts: 0, and no line" "$(status_of d) $(cat d.out d.err)" "0 "
run d "$sspapi" diff a.sspapi b.sspapi
is "others: 1" "$(status_of d)" 1
"$sspapi" diff -f csv a.sspapi b.sspapi >d.csv
"$sspapi" report -f csv a.sspapi >a.csv
"$sspapi" report -f csv b.sspapi >b.csv
total() {
	awk -F, -v cpu="$2" '$10 == cpu && $14 == "EV_A" { n += $16 } END { print n }' "$1.csv"
}
for cpu in 0 1; do
	a=$(total a $cpu) b=$(total b $cpu)
	line=$(grep "^PU L#$cpu,EV_A," d.csv)
	if [ "$a" = "$b" ]; then
		is "CPU $cpu: no line where nothing differs" "$line" ""
	else
		is "CPU $cpu: both, the difference, percent" "$line" \
			"PU L#$cpu,EV_A,$a,$b,$((b - a)),$(perl -e 'printf "%+.2f", ($ARGV[1] - $ARGV[0]) / $ARGV[0] * 100' "$a" "$b")"
	fi
done
check "(CPU 0 differs)" grep -q '^PU L#0,EV_A' d.csv
is "options may stand behind the files" "$("$sspapi" diff a.sspapi -f csv b.sspapi)" "$(cat d.csv)"
is "an event that is the same has no line" "$(grep -c EV_B d.csv)" 0
run d "$sspapi" diff --events EV_B a.sspapi b.sspapi
is "--events: the others do not count" "$(status_of d)" 0
run d "$sspapi" diff --events EV_A,EV_NOPE,EV_B a.sspapi same.sspapi
is "--events: one that neither has: 2, not the same" "$(status_of d) $(cat d.out d.err)" "2 sspapi diff: EV_NOPE: neither has such an event; there are EV_A, EV_B"
run d "$sspapi" diff --per-core --per-core --events EV_A a.sspapi same.sspapi
is "a level twice is one" "$(status_of d) $(cat d.err)" "0 "
run d "$sspapi" diff --per-core a.sspapi --per-cpu b.sspapi
is "two levels: one only" "$(status_of d) $(cat d.err)" "2 sspapi diff: per-cpu: takes one level only"
printf 'component coretemp\nevent EV_A\nevent coretemp:::T component=coretemp\n' >warm
SSPAPI_OUTPUT=$tmp/w.sspapi run_shim s env FAKE_PAPI_SCRIPT="$tmp/warm" "$scenes/ops" set=coretemp:::T start show=40 read stop
run d "$sspapi" diff --events coretemp:::T w.sspapi w.sspapi
is "--events: a gauge is nothing to compare" "$(status_of d) $(cat d.out) $(grep -c gauges d.err)" "2  1"
while read -r level place; do
	run d "$sspapi" diff --per-$level a.sspapi same.sspapi
	is "--per-$level: the same" "$(status_of d) $(cat d.out)" "0 "
	run d "$sspapi" diff --per-$level a.sspapi b.sspapi
	is "--per-$level: differs, in lines of text" "$(status_of d) $(grep -c "^ *$place.* EV_A .* +[0-9,]* *+[0-9.]* *\$" d.out)" "1 $(sed 1d d.out | wc -l)"
done <<END
core core
cache L3
package package
machine machine
thread thread
END
run d "$sspapi" diff a.sspapi other.sspapi
is "another machine, the same positions: the same" "$(status_of d) $(cat d.out)" "0 "

# Cut behind its last block, or in it: what is missing would look like a difference.
head -c "$(($(wc -c <a.sspapi) / 2))" a.sspapi >half.sspapi
echo foreign >foreign
for wrong in "a.sspapi foreign" "foreign a.sspapi" "a.sspapi missing" "a.sspapi half.sspapi" "half.sspapi a.sspapi" "a.sspapi" "a.sspapi b.sspapi same.sspapi" "--per-galaxy a.sspapi b.sspapi" "-f json a.sspapi b.sspapi" "a.sspapi --events"; do
	# shellcheck disable=SC2086 # words
	run d "$sspapi" diff $wrong
	is "$wrong: 2, one line" "$(status_of d) $(grep -c '^sspapi diff: ' d.err) $(wc -l <d.err)" "2 1 1"
done
done_testing
