# Tests sspapi stat --cgroup: everything in a control group per CPU, and nothing else.
. tests/lib/lib.sh
cd "$tmp" || exit 1
need_stat
[ "$(id -u)" = 0 ] || skip_all "not root: only root may make control groups"

# mount_of CONTROLLER: prints where its v1 hierarchy is mounted; "": v2's
mount_of() {
	awk -v c="$1" '{ for (i = 6; $i != "-"; i++); }
		c == "" ? $(i + 1) == "cgroup2" : $(i + 1) == "cgroup" && index("," $(i + 3) ",", "," c ",") { print $5; exit }' /proc/self/mountinfo
}
top=$(mount_of perf_event)
[ -n "$top" ] || top=$(mount_of '')
[ -n "$top" ] || skip_all "no control groups that can be counted are mounted"
name=sspapi$$
mkdir "$top/$name" 2>mkdir.err || skip_all "no control group can be made: $(cat mkdir.err)"
groups_go() {
	[ -z "$children" ] || kill $children 2>/dev/null
	wait
	for group in "$top/$name/below" "$top/$name"; do
		rmdir "$group" 2>/dev/null
	done
	clean_up
}
children=''
trap groups_go EXIT
run try "$sspapi" stat --cgroup "$name" true
if grep -q CONFIG_CGROUP_PERF try.err; then
	skip_all "this kernel counts no control groups"
fi
mkdir "$top/$name/below"

# ---- what is counted ----------------------------------------------------------------------------------------------
cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr , '\n' | awk -F- '{
	for (i = $1; i <= (NF > 1 ? $2 : $1); i++) print i }')
cpu0=$(echo "$cpus" | head -1) cpu1=$(echo "$cpus" | sed -n 2p)
: "${cpu1:=$cpu0}"
# gated ID GROUP CPU PAGES: starts a program that waits at its gate, in the group ("": ours)
gated() {
	mkfifo "$1.go" "$1.end"
	sh -c '[ -z "$1" ] || echo $$ >"$1/cgroup.procs" || exit 1; shift; exec "$@"' \
		sh "${2:+$top/$2}" "$apps/gated" "$3" "$4" "$1.go" "$1.end" >"$1.said" &
	children="$children $!"
	await grep -q 'at the gate' "$1.said" && await sh -c '[ "$(grep -c ready "$1")" = 2 ]' \
		sh "$1.said"
}
check "programs wait in the group and outside" eval \
	'gated a "$name" $cpu0 300 && gated b "$name" $cpu1 500 && gated c "$name/below" $cpu1 70 &&
	gated x "" $cpu0 110 && gated y "" $cpu1 130'
# All programs touch their pages while this runs.
cat >gates.sh <<'END'
for i in a b c x y; do : >$i.go; done
for i in a b c x y; do
	until [ "$(grep -c done $i.said)" = 2 ]; do sleep 0.01; done
done
END
if command -v perf >/dev/null && perf stat -a -A -x, -e page-faults -G "$name" \
	true >perf.try 2>&1; then
	run one "$sspapi" stat --cgroup "$name" -e page-faults,task-clock -o one.sspapi perf stat \
		-a -A -x, -o perf.csv -e page-faults -G "$name" sh gates.sh
else
	run one "$sspapi" stat --cgroup "$name" -e page-faults,task-clock -o one.sspapi sh gates.sh
fi
is "counted until the command ends; the status is its own" "$(status_of one)" 0
for i in a b c x y; do
	timeout "$LIMIT" sh -c ': >"$1.end"' sh $i
done
wait
children=''
# The kernel's own count for each, which has only the pages.
faults() { sed -n 's/^faults //p' "$1.said"; }
is "the programs had the faults that they were to have" \
	"$(for i in a b c x y; do faults $i; done | paste -sd' ')" "300 500 70 110 130"
"$sspapi" report -f json one.sspapi >one.json
# of_cpu CPU: prints the page faults there
of_cpu() {
	"$sspapi" report -f csv one.sspapi |
		awk -F, -v c="$1" '$10 == c && $14 == "perf::PAGE-FAULTS" { n += $16;
		exact += $17 } END { print n + 0, exact + 0 }'
}
if [ "$cpu1" != "$cpu0" ]; then
	is "the group's page faults on the first CPU, all proven" "$(of_cpu "$cpu0")" "300 300"
	is "on the second, with those of the group below" "$(of_cpu "$cpu1")" "570 570"
else
	is "the group's page faults" "$(of_cpu "$cpu0")" "870 870"
fi
is "and on no other" "$(json one.json '$d->{components}[0]{total}{"perf::PAGE-FAULTS"}')" 870
is "it is one row, of the group" \
	"$("$sspapi" report --per-thread one.sspapi |
	grep -c "^all of cgroup $name .* 870 .* 100 % ")" 1
is "JSON has its name" "$(json one.json 'join " ", $d->{settings}{stat}{cgroup},
	$d->{settings}{stat}{whole} ? "whole" : "not"')" "$name whole"
is "the line names the counted events" \
	"$(sed -n "s/^sspapi stat: counting control group $name on [0-9]* CPUs* until .* ends$/said/p" one.err)" said
check "the headline has the group, no number of threads" \
	grep -qE "^cgroup $name: [0-9.]+ m?s on [^,]*, on (CPU|[0-9,]+ of [0-9,]+ CPUs)" one.err
check "a note says that there are no rows per thread" \
	grep -q '^- no per-thread rows: ' one.err
if [ -s perf.csv ]; then
	# CPU0,300,,page-faults,...; <not counted> where nothing ran
	is "perf stat -a -A -G has the same" \
		"$(sed -n 's/^CPU\([0-9]*\),\([0-9]*\),.*page-faults.*/\1 \2/p' perf.csv |
		awk '$2' | sort)" \
		"$("$sspapi" report -f csv one.sspapi | awk -F, '$14 == "perf::PAGE-FAULTS" &&
		$16 { print $10, $16 }' | sort)"
else
	skip "perf stat -a -A -G has the same" \
		"no perf that counts control groups: $(head -c 200 perf.try 2>/dev/null |
		tr '\n' ' ')"
fi

# ---- ways to name it, and to end it -----------------------------------------------------------------------------------
for way in "/$name" "$top/$name" "$top/$name/" "$name/below"; do
	run way "$sspapi" stat --cgroup "$way" -e page-faults true
	is "--cgroup $way" "$(status_of way) $(sed -n \
		's/.*counting control group \(.*\) on .*/\1/p' way.err)" \
		"0 $(echo "${way#"$top"}" | sed 's|^/||; s|/$||')"
done
check "a line reports that nothing ran" grep -q 'nothing of the control group ran' way.err
run all "$sspapi" stat --cgroup / -e page-faults,task-clock true
is "the topmost one" "$(status_of all) $(grep -c '^cgroup /: ' all.err)" "0 1"
check "no more CPUs are busy than there are" awk -v most="$(getconf _NPROCESSORS_ONLN)" \
	'/CPUs? busy/ { for (i = 2; i <= NF; i++) if ($i ~ /^CPUs?$/ && $(i + 1) ~ /^busy/) n = $(i - 1) } END { exit !(n > 0 && n <= most * 1.005) }' all.err
: >int.err
perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$sspapi" stat --cgroup / -e page-faults \
	-o int.json 2>int.err &
command=$!
children=$command
until grep -q 'counting.*Ctrl-C' int.err; do kill -0 $command || break; done
kill -INT $command
wait $command
is "Ctrl-C ends it, with a dump" "$? $(test -s int.json; echo $?)" "0 0"
children=''
run rows "$sspapi" stat --cgroup / -I 10 -e page-faults -o rows.sspapi "$apps/counted" pages 2000
is "-I: the rows' sum is the total" "$(awk '/ s  CPU / { n += $5 } END { print n }' rows.err)" \
	"$("$sspapi" report -f csv rows.sspapi | awk -F, '{ n += $16 } END { print n + 0 }')"
run idle "$sspapi" stat -q --cgroup / -I 10 -f csv -e major-faults sleep 0.1
is "-I: no rows where nothing was counted" "$(status_of idle) $(grep -c ',0$' idle.err)" "0 0"
run status "$sspapi" stat --cgroup "$name" sh -c 'exit 9'
is "the status is the command's" "$(status_of status)" 9

# ---- which CPUs -------------------------------------------------------------------------------------------------------
online=$(tr ',' '\n' </sys/devices/system/cpu/online | awk -F- '{
	n += NF > 1 ? $2 - $1 + 1 : 1 } END { print n }')
run bound taskset -c "$cpu0" "$sspapi" stat --cgroup "$name" true
is "all that are online, on any affinity mask" \
	"$(sed -n 's/.*counting.* on \([0-9]*\) CPUs* .*/\1/p' bound.err)" "$online"

# ---- errors -----------------------------------------------------------------
# refused NAME TEXT OPTION...: one line, and nothing runs
refused() {
	refused_name=$1 text=$2
	shift 2
	run refused "$sspapi" stat "$@" touch it-ran
	is "$refused_name" "$(status_of refused) $(wc -l <refused.err) $(grep -c -- "$text" \
		refused.err) $(test -e it-ran; echo $?)" "125 1 1 1"
}
refused "no such group" "no such control group in $top" --cgroup no/such/group
refused "a file" "no such control group" --cgroup "$name/cgroup.procs"
refused "a folder that does not exist" "not a control group that can be counted: those are in $top" \
	--cgroup "$tmp"
refused "no name" "takes the name" --cgroup ''
refused "two" "one control group" --cgroup / --cgroup /
refused "with -p" "--cgroup is not supported with -p or -t" --cgroup / -p $$
refused "with -t" "--cgroup is not supported with -p or -t" -t $$ --cgroup /
refused "with -r" "-r is not supported with" --cgroup / -r 2
refused "with --per-thread" "per CPU" --cgroup / --per-thread
run none "$sspapi" stat --cgroup "$name" -- /no/such/program
is "no such program" "$(status_of none)" 127
run few sh -c 'ulimit -n 10; exec "$0" stat --cgroup / touch it-ran' "$sspapi"
is "too few descriptors" "$(status_of few) $(wc -l <few.err) $(grep -c \
	'descriptors are needed.*ulimit -Hn' few.err) $(test -e it-ran; echo $?)" "125 1 1 1"
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ] && plain "an ordinary user may not"; then
	cp "$B"/sspapi "$B"/libsspapi*.so "$tmp"
	chmod 755 "$tmp"
	run user setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/sspapi" stat --cgroup \
		"$name" touch it-ran
	is "an ordinary user may not" \
		"$(status_of user) $(wc -l <user.err) $(grep -c 'CAP_PERFMON' user.err)" "125 1 1"
	if setpriv --reuid=65534 --clear-groups --inh-caps +perfmon --ambient-caps +perfmon \
		true 2>perfmon.err; then
		run perfmon setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps +perfmon \
			--ambient-caps +perfmon "$tmp/sspapi" stat --cgroup "$name" true
		is "with CAP_PERFMON the user may" "$(status_of perfmon)" 0
	else
		skip "with CAP_PERFMON the user may" "$(cat perfmon.err)"
	fi
fi
done_testing
