# Runs where only a part of the machine is visible: pinned processes, cpusets, containers without
# /sys or /proc, CPUs that come online later, variables for the application's own hwloc.
. tests/lib/lib.sh
cd "$tmp" || exit 1
[ "$(nproc)" -gt 1 ] || skip_all "one CPU"
first=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
second=$(taskset -cp $$ | sed 's/.*: [0-9]*[-,]\([0-9]*\).*/\1/')
[ "$second" -le "$((first + 1))" ] || second=$((first + 1))
online=$(getconf _NPROCESSORS_ONLN)

# dump NAME COMMAND...: makes text, JSON and a store
dump() {
	to=$1
	shift
	SSPAPI_OUTPUT=$tmp/$to.json SSPAPI_FORMAT=text,json,store run_shim "$to" "$@"
}
steered="$scenes/steered"

# says NAME TEXT: finds it in the text, across line breaks
says() {
	tr -s '\n ' ' ' <"$1.txt" | grep -qF -e "$2 "
}

# ---- what the process may use ---------------------------------------------------------------

dump free "$scenes/one"
is "not bound: JSON has the CPUs" "$(json free.json '$d->{process}{cpus_allowed}')" \
	"$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)"
dump bound taskset -c "$second" "$steered"
is "pinned: also in JSON" "$(json bound.json '$d->{process}{cpus_allowed}')" "$second"
is "pinned: no CPU is reported as forbidden" \
	"$(json bound.json 'scalar grep { exists $_->{allowed} } @{$d->{topology}{components}}')" 0
dump described env SSPAPI_TOPOLOGY='synthetic:pack:1 numa:1 l3:2 core:2 pu:1' "$scenes/one"
"$B/sspapi" merge -o both.sspapi free.sspapi bound.sspapi
"$B/sspapi" report -f json both.sspapi >both.json
is "merged: of each process" "$(json both.json \
	'map { $_->{cpus_allowed} // "null" } $d->{process}, sort { length $b->{cpus_allowed} <=> length $a->{cpus_allowed} } @{$d->{processes}}' | tr '\n' ' ')" \
	"null $(json free.json '$d->{process}{cpus_allowed}') $second "

# A cpuset, as containers and batch systems make it.
set=/sys/fs/cgroup/cpuset tasks=tasks
[ -e $set/cpuset.cpus ] || set=/sys/fs/cgroup tasks=cgroup.procs
mine=$set/sspapi-test.$$
if plain "cpuset" && [ -e $set/cpuset.cpus ] && mkdir "$mine" 2>/dev/null; then
	if echo "$second" >"$mine/cpuset.cpus" && cat $set/cpuset.mems >"$mine/cpuset.mems" &&
	   sh -c "echo \$\$ >$mine/$tasks"; then
		dump caged sh -c "echo \$\$ >$mine/$tasks && exec $steered"
		is "cpuset: JSON says which it may not use" \
			"$(json caged.json 'map { $_->{os_index} }
			grep { exists $_->{allowed} } @{$d->{topology}{components}}' | wc -l)" \
			$((online - 1))
		check "cpuset: counts are on its CPU" grep -q "^~* *CPU $second " caged.txt
	else
		skip "cpuset" "a cpuset cannot be made here"
	fi
	# (Processes that were in it may not have ended yet.)
	for _ in $(seq 1 300); do rmdir "$mine" 2>/dev/null && break; sleep 0.1; done
elif [ -z "${SANITIZE-}" ]; then
	skip "cpuset" "no cgroup to write to"
fi

# ---- containers ----------------------------------------------------------------------------------

# hidden NAME MOUNTS: runs the scene with these mounts hiding something, pinned to the second CPU,
# whose number cannot be guessed.
hidden() {
	dump "$1" env LD_LIBRARY_PATH="$fake" unshare \
		-m sh -c "$2 && exec taskset -c $second $steered"
}
if plain "containers" && unshare -m mount -t tmpfs none /sys 2>/dev/null; then
	empty="mount -t tmpfs none"
	hidden nosys "$empty /sys"
	check "no /sys: the counts are on their CPU" grep -qE "^CPU $second +0 +- +0$" nosys.txt
	check "no /sys: a note, and no line on standard error" \
		sh -c "grep -q '^- hwloc finds neither cores' nosys.txt && ! grep -q sspapi: nosys.err"
	check "no /sys: the text says what is missing" says nosys \
		"without the machine's structure: hwloc could not read it"
	is "no /sys: the source is named" "$(json nosys.json '$d->{topology}{source}')" flat
	hidden nocpu "$empty /sys/devices/system/cpu"
	check "no /sys/devices/system/cpu: the counts are on their CPU" \
		grep -qE "^CPU $second( [(].*[)])? +0 +- +0$" nocpu.txt
	hidden nonode "$empty /sys/devices/system/node"
	# (hwloc 2.9 aborts here)
	check "no NUMA nodes: the counts are on their CPU" \
		grep -qE "^CPU $second( [(].*[)])? +0 +- +0$" nonode.txt
	check "no NUMA nodes: no line on standard error" not grep -q . nonode.err
	hidden nocpuinfo "mount --bind /dev/null /proc/cpuinfo"
	check "no /proc/cpuinfo: the structure stays" grep -q '(core [0-9]' nocpuinfo.txt
	hidden neither "$empty /sys && mount --bind /dev/null /proc/cpuinfo && mount --bind /dev/null /proc/stat"
	check "neither: the counts are on their CPU" grep -qE "^CPU $second +0 +- +0$" neither.txt
	hidden noproc "$empty /sys && $empty /proc"
	is "no /proc: runs" "$(status_of noproc)" 0
	check "no /proc: the counts are on their CPU" grep -qE "^CPU $second +0 +- +0$" noproc.txt
	check "no /proc: the program has its name" grep -q '^steered: ' noproc.txt
	# All processes' views of the machine are one machine, by its boot id, shown as by the
	# process that saw most.
	"$B/sspapi" merge -o one.sspapi nosys.sspapi free.sspapi bound.sspapi
	"$B/sspapi" merge -o some.sspapi bound.sspapi nosys.sspapi
	"$B/sspapi" merge -o two.sspapi free.sspapi some.sspapi
	machines() { "$B/sspapi" report -f json "$@" >machines.json
	json machines.json 'scalar(grep { $_->{type} eq "Machine" } @{$d->{topology}{components}}) . " " . @{$d->{topology}{components}}'; }
	is "one boot is one machine" "$(machines one.sspapi) $(machines nosys.sspapi free.sspapi)" \
		"$(machines free.sspapi) $(machines free.sspapi)"
	check "in any grouping" cmp one.sspapi two.sspapi
	is "the described machine is another" \
		"$(machines described.sspapi free.sspapi | cut -d' ' -f1)" 2
	if command -v lstopo-no-graphics >/dev/null; then
		"$B/sspapi" report -o nosys.xml nosys.sspapi
		check "lstopo shows resources that hwloc could not see" \
			sh -c "lstopo-no-graphics -i nosys.xml | grep -q 'P#$second'"
	fi
	for name in nosys nocpu nonode nocpuinfo neither noproc; do
		check "$name: JSON as sspapi-dump(5) has it" perl "$root/tests/lib/check-dump.pl" \
			json $name.json
	done
elif [ -z "${SANITIZE-}" ]; then
	skip "containers" "unshare cannot mount here"
fi

# ---- CPUs that come later ---------------------------------------------------------------------------

# Present the scene's two CPUs as these CPUs of a machine whose topology is already known.
MORE=$preloads/elsewhere.so
ELSEWHERE=0,4095 dump later "$scenes/one"
check "a CPU that came online later: attributed to its number" has_returned later
check "a CPU that came online later: a note reports it" says later \
	'- CPU 4095 is not in the topology, but counted: brought online later'
check "a CPU that came online later: counted among the CPUs" grep -q ', 1 thread on 2' later.txt
check "a CPU that came online later: its counts are not lost" \
	sh -c "tr -s ' ' <later.txt | grep -qE '^~? ?CPU 4095 .not in the topology. 7 58 % 3\$'"
ELSEWHERE=8191,12 dump holes env SSPAPI_TOPOLOGY="$root/tests/topo/holes.xml" "$scenes/one"
check "numbers far above their count: in the tree" \
	sh -c "tr -s ' ' <holes.txt | grep -qE '^~? *CPU 8191( .core.*)? 5 42 % 0\$' && tr -s ' ' <holes.txt | grep -qE '^~? *CPU 12( .core.*)? 7 58 % 3\$'"
check "numbers far above their count: none is missing" not grep -q 'not in the topology' holes.txt
ELSEWHERE=2,5 dump offline env SSPAPI_TOPOLOGY="$root/tests/topo/holes.xml" "$scenes/one"
check "CPUs that were offline: both are named" says offline \
	"- CPUs 2, 5 are not in the topology, but counted: the topology does not describe all of this machine"
MORE=

# ---- for the application's own hwloc -------------------------------------------------------------------

dump other env HWLOC_XMLFILE="$root/tests/topo/alder.xml" "$scenes/one"
check "HWLOC_XMLFILE: the dump is of this machine" \
	sh -c "! grep -q 4P+8E other.json && [ \$(grep -c '\"type\": \"PU\"' other.json) = $online ]"
dump same env HWLOC_XMLFILE="$root/tests/topo/alder.xml" HWLOC_THISSYSTEM=1 "$scenes/one"
check "unless HWLOC_THISSYSTEM says that it is this machine's" grep -q 4P+8E same.json
done_testing
