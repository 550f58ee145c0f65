# Tests sspapi doctor: its findings about programs, every libpapi and harmful libraries, with their
# fixes.
. tests/lib/lib.sh
cd "$tmp" || exit 1

# finds NAME STATUS WORDS COMMAND...: it ends with the status and has a line with the words
finds() {
	finds_name=$1 finds_status=$2 finds_words=$3
	shift 3
	run d "$@"
	is "$finds_name: status" "$(status_of d)" "$finds_status"
	tr '\n' ' ' <d.out | tr -s ' ' >d.text
	check "$finds_name: $finds_words" grep -qF -- "$finds_words" d.text d.err
}

finds "this machine" 0 "the kernel and its counters" "$sspapi" doctor
is "in four parts" "$(grep -c '^[a-z]' d.out)" 4
check "every obstacle is followed by its fix" perl -ne \
	'$bad = "" if /^ {7}do: /; die $bad if $bad && /^  (ok|note|BAD|-) /; $bad = $_ if /^  BAD /; END { die $bad if $bad }' d.out
is "no line is over 100 columns, but for long words" "$(grep -cE '^.{101}' d.out)" 0
check "no advice to get a right that this process has" perl -0ne \
	's/\s+/ /g; exit(/this process may count anything/ && /do: [^:]*need perf_event_paranoid 0/)' d.out
# PAPI may not support this CPU: then no software event counts either.
LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}$B/tests/preload/lendpmu.so "$sspapi" doctor >lent.out
check "the summary says which events cannot be counted" perl -0ne \
	's/\s+/ /g; exit(/ok \S+PAGE-FAULTS counts/ && /BAD the kernel has no hardware counters/ &&
		!/ prevents counting hardware events| problems prevent counting/)' lent.out
check "it needs neither libpapi nor hwloc to start" \
	sh -c '! readelf -d "$0" | grep -E "NEEDED.*(papi|hwloc)"' "$sspapi"

# ---- programs --------------------------------------------------------------------------------
finds "one that links it" 0 "the program links $(realpath "$fake/libpapi.so.7.0")" "$sspapi" \
	doctor "$scenes/one"
finds "one with it preloaded, by its name" 0 \
	"the program links $(realpath "$fake/libpapi.so.7.0")" \
	env LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}libpapi.so.7.0" LD_LIBRARY_PATH="$fake" \
	"$sspapi" doctor "$apps/nopapi"
finds "one that loads it" 0 "names it: it may load libpapi with dlopen" "$sspapi" doctor \
	"$apps/nolib"
finds "one without" 0 "BAD the program does not use PAPI" "$sspapi" doctor "$apps/nopapi"
printf 'int count(int); int main(void) { return count(1); }\n' >holder.c
printf '#include <dlfcn.h>\nvoid *load(void) { return dlopen("x", RTLD_NOW); }\n' >loads.c
printf 'void *load(void); int main(void) { return load() != 0; }\n' >python.c
${CC:-gcc} -o holder holder.c -L"$scenes" -lholds -Wl,-rpath,"$scenes"
${CC:-gcc} -shared -fPIC -o libloads.so loads.c -ldl && ${CC:-gcc} -o python python.c -L. -lloads \
	-Wl,-rpath,"$tmp"
finds "one that links an object with libpapi.a in it" 0 \
	"libholds.so, which the program links, contains libpapi" "$sspapi" doctor ./holder
is "that is not BAD" "$(grep -c '^  BAD.*does not use PAPI' d.out)" 0
finds "an interpreter whose library loads" 0 "the program does not use libpapi itself" \
	"$sspapi" doctor ./python
for program in ./holder ./python; do
	run d "$sspapi" run "$program"
	is "run says the same: $program" "$(grep -c 'does not use PAPI' d.err)" 0
done
finds "a shell" 0 "the program does not use libpapi itself" "$sspapi" doctor sh
printf '#!%s\n' "$scenes/one" >script
chmod +x script
finds "a script" 0 "is a script, which $scenes/one runs" "$sspapi" doctor ./script
cp "$scenes/one" moved
chmod 4755 moved
cp "$scenes/one-5.7" moved-5.7
finds "a library that is not found" 0 \
	"the program needs libpapi.so.5, which the loader does not find" "$sspapi" \
	doctor ./moved-5.7
finds "set-user-ID" 0 "set-user-ID" "$sspapi" doctor ./moved
printf 'int main(void) { return 0; }\n' >main.c
if ${CC:-gcc} -static -o static main.c 2>/dev/null; then
	finds "static" 0 "BAD ./static is statically linked" "$sspapi" doctor ./static
fi
# The loader runs libraries that a program names to audit it (DT_AUDIT).
printf '#include <stdio.h>\nunsigned la_version(unsigned v) { fclose(fopen("ran", "w")); return v; }\n' >audits.c
${CC:-gcc} -shared -fPIC -o audits.so audits.c
for tag in audit depaudit; do
	${CC:-gcc} -o audited main.c -Wl,--$tag="$tmp/audits.so"
	finds "a program that names a library to $tag it" 0 "./audited is dynamically linked" \
		"$sspapi" doctor ./audited
	is "that is not run" "$(ls ran 2>/dev/null)" ""
done
finds "no such program" 1 "No such file" "$sspapi" doctor ./none
printf 'x\0y' >rubbish
chmod +x rubbish
finds "no program at all" 1 "neither a program nor a script" "$sspapi" doctor ./rubbish
printf '#!/no/such/interpreter -x\n' >bad
chmod +x bad
finds "a script without its interpreter" 1 \
	"sspapi doctor: ./bad: its first line names an interpreter that cannot be run, '/no/such/interpreter' (No such file or directory): install it, or fix the line" \
	"$sspapi" doctor ./bad

# ---- where it runs -----------------------------------------------------------------------------
run d "$apps/denies" perf_event_open "$sspapi" doctor
if grep -q 'perf_event_open is refused' d.out; then
	is "a seccomp filter: a container's options only in a container" \
		"$(grep -cE 'docker or podman run' d.out) $(grep -c 'do: a seccomp filter of' \
		d.out)" \
		"$(grep -c '^  note this is ' d.out) $(grep -c '^  note this is ' d.out | tr 01 10)"
else
	skip "a seccomp filter: a container's options only in a container" "no seccomp"
fi
# refused NAME DROPPED WORDS [ERRNO]: without these capabilities the remedy has the words.
refused() {
	run d env container=podman DENIES_ERRNO="${4-13}" setpriv --bounding-set="$2" \
		"$apps/denies" perf_event_open "$sspapi" doctor
	tr '\n' ' ' <d.out | tr -s ' ' >d.text
	check "a container $1: $3" grep -qF -- "$3" d.text
}
run d env container=podman setpriv --bounding-set=-perfmon,-sys_admin "$apps/denies" \
	perf_event_open "$sspapi" doctor
# (An ordinary user's setpriv drops nothing, and reports nothing.)
dropped=$(setpriv --bounding-set=-perfmon,-sys_admin grep CapBnd /proc/self/status 2>&1)
if grep -q 'perf_event_open is refused' d.out && [ "$dropped" != "$(grep CapBnd /proc/self/status)" ]; then
	refused "with neither" -perfmon,-sys_admin "docker or podman run --cap-add PERFMON (if"
	refused "with SYS_ADMIN (ENOSYS, as by older podman)" -perfmon \
		"docker or podman run --cap-add PERFMON (if" 38
	refused "with PERFMON" -sys_admin "run --cap-add PERFMON --cap-add SYS_ADMIN"
	refused "with both" -sys_boot "run --security-opt seccomp=unconfined"
else
	skip "a container without capabilities" "no seccomp or no right to drop capabilities"
fi
echo 3 >paranoid
if plain "perf_event_paranoid 3" && unshare -m mount --bind "$tmp/paranoid" \
	/proc/sys/kernel/perf_event_paranoid 2>/dev/null; then
	finds "perf_event_paranoid 3 in a container" 0 \
		"do: on the host: sudo sysctl kernel.perf_event_paranoid=2" env container=podman \
		unshare -m sh -c 'mount --bind "$1" /proc/sys/kernel/perf_event_paranoid &&
		exec setpriv --bounding-set=-perfmon,-sys_admin "$2" doctor' sh \
		"$tmp/paranoid" "$sspapi"
	check "and its capability" grep -qF -- "docker or podman run --cap-add PERFMON" d.text
else
	skip "perf_event_paranoid 3 in a container" "no right to mount"
fi

# ---- libpapi ------------------------------------------------------------------------------------
for version in 5.7 6.0 7.1 7.2; do
	finds "libpapi $version" 0 "is PAPI $version" "$sspapi" doctor "$scenes/one-$version"
	check "and its component" grep -q "component perf_event is on" d.out
done
finds "linked with -Bsymbolic-functions" 0 "linked with -Bsymbolic" \
	env LD_LIBRARY_PATH="$fake/symbolic" "$sspapi" doctor "$scenes/one"
printf 'component cuda disabled=1\ncomponent nvml disabled=-26\ncomponent perf_event disabled=1\n' \
	>off
finds "a disabled component, and a fix" 0 \
	"component cuda is off: no reason reported do: set PAPI_CUDA_ROOT" \
	env FAKE_PAPI_SCRIPT="$tmp/off" "$sspapi" doctor "$scenes/one"
check "one that waits" grep -q "component nvml waits until it is first used" d.out
check "the one that matters" grep -q "BAD  component perf_event is off" d.out
finds "--check: 1 if something is BAD" 1 "BAD component perf_event is off" \
	env FAKE_PAPI_SCRIPT="$tmp/off" "$sspapi" doctor --check "$scenes/one"
run d "$sspapi" doctor --check "$scenes/one"
is "and only there" "$(status_of d)" "$(grep -c '^  BAD' d.out | sed 's/[1-9].*/1/')"
run d "$sspapi" doctor
if grep -q 'PAPI has no presets here' d.out; then
	is "no presets: for lack of counters, or of a table for this CPU" \
		"$(tr -s ' \n' ' ' <d.out |
		grep -c 'presets need hardware counters, which are missing')" \
		"$(grep -c 'the kernel has no hardware counters' d.out)"
else
	skip "no presets" "PAPI has presets here"
fi
printf 'fail PAPI_library_init -3\n' >fails
finds "that cannot be initialised" 0 "BAD" env FAKE_PAPI_SCRIPT="$tmp/fails" "$sspapi" doctor \
	"$scenes/one"
mkdir crash lacks
printf 'char *p; __attribute__((constructor)) static void f(void) { *p = 0; }\n' >crash.c
printf 'int PAPI_library_init(int v) { return v; }\n' >lacks.c
for kind in crash lacks; do
	${CC:-gcc} -shared -fPIC -Wl,-soname,libpapi.so.7.0 -o $kind/libpapi.so.7.0 $kind.c
	ln -s libpapi.so.7.0 $kind/libpapi.so
done
finds "that crashes" 0 "ends the process that queries it (Segmentation fault)" \
	env LD_LIBRARY_PATH="$tmp/crash" "$sspapi" doctor
check "and the rest is checked" grep -q "^sspapi" d.out
finds "that is not a libpapi" 0 "it lacks the functions of a libpapi" \
	env LD_LIBRARY_PATH="$tmp/lacks" "$sspapi" doctor

# Real PAPI, with a CPU that libpfm4 does not support or that was overridden.
unknown_cpu
if papi_component_avail 2>/dev/null | grep -q 'no default PMU found'; then
	finds "a CPU that libpfm4 does not support" 0 \
		"libpfm4 does not support this CPU: install a newer PAPI" "$sspapi" doctor
	check "no software event is recommended that did not count" \
		not grep -q "until then count perf::" d.text
	# A CPU override is no help without hardware counters.
	without=$(grep -cE "no hardware counters \((No such file or directory|Operation not supported)\)" d.out)
	is "LIBPFM_FORCE_PMU where the kernel has counters, or does not say" \
		"$(grep -c LIBPFM_FORCE_PMU d.out)" "$((1 - without))"
else
	skip "a CPU that libpfm4 does not support" "this PAPI knows it nevertheless"
fi
unset LIBPFM_DISABLED_PMUS

# ---- sspapi itself -------------------------------------------------------------------------------
finds "an invalid variable" 0 "SSPAPI_FORMAT: 'xml' is not one of" env SSPAPI_FORMAT=xml \
	"$sspapi" doctor
finds "SSPAPI_DISABLE" 0 "BAD SSPAPI_DISABLE=1 is set" env SSPAPI_DISABLE=1 "$sspapi" doctor
finds "the place of dumps" 0 "ok dumps can be written: sspapi.%e.%h.%p.txt" "$sspapi" doctor
finds "folders to be made" 0 "ok dumps can be written: x/y/%p.json" env SSPAPI_OUTPUT=x/y/%p.json \
	"$sspapi" doctor
is "nothing is left of the trial" "$(find . -name '.sspapi*' -o -name x)" ""
finds "standard output" 0 "ok dumps can be written: /dev/stdout" env SSPAPI_OUTPUT=/dev/stdout \
	"$sspapi" doctor
: >file
finds "a folder that does not exist" 0 \
	"BAD no dump can be written to $tmp/file/y.txt (Not a directory), from SSPAPI_OUTPUT" env SSPAPI_OUTPUT=file/y.txt "$sspapi" doctor
finds "a folder that cannot be made" 0 \
	"BAD no dump can be written to /proc/x/sh.txt (No such file or directory), from SSPAPI_OUTPUT do: use sspapi run -o" \
	env SSPAPI_OUTPUT=/proc/x/%e.txt "$sspapi" doctor /bin/sh
finds "no writable working directory" 0 \
	"(No such file or directory); SSPAPI_OUTPUT is not set" \
	sh -c 'cd /proc && exec "$0" doctor' "$sspapi"
finds "a variable that is misspelt" 0 \
	"note SSPAPI_OUTPT: unknown variable; do you mean SSPAPI_OUTPUT?" \
	env SSPAPI_OUTPT=x.json "$sspapi" doctor
for near in OUT:OUTPUT FORMATS:FORMAT ATTRIBUTE:ATTRIBUTION Callsite:CALLSITES \
	READINGS_MAXIMUM:READINGS_MAX READING:READINGS; do
	finds "SSPAPI_${near%:*}" 0 "unknown variable; do you mean SSPAPI_${near#*:}?" \
		env "SSPAPI_${near%:*}=1" "$sspapi" doctor
done
finds "one that is similar to none" 0 \
	"note SSPAPI_WEATHER: unknown variable; sspapi env lists all variables" \
	env SSPAPI_WEATHER=fine "$sspapi" doctor
finds "no name at all" 0 "note SSPAPI_: unknown variable" env SSPAPI_= "$sspapi" doctor
finds "another machine" 0 "cores 8" env SSPAPI_TOPOLOGY="$root/tests/topo/hybrid.xml" \
	"$sspapi" doctor
finds "a topology that cannot be read" 0 "set SSPAPI_TOPOLOGY to a file" \
	env SSPAPI_TOPOLOGY="$root/tests/topo/no-numa.xml" "$sspapi" doctor
mkdir own
cp "$sspapi" "$B/libsspapi.so" own
echo rubbish >own/libsspapi-topo.so
finds "without hwloc" 0 "no hwloc" own/sspapi doctor
finds "without libsspapi.so" 0 "BAD" sh -c 'rm own/libsspapi.so; exec own/sspapi doctor'
finds "NO_COLOR and no terminal: no colours" 0 "sspapi" "$sspapi" doctor
check "no escape in it" not grep -q "$(printf '\033')" d.out
strange=$(printf 'e\033[31mx')
cp "$scenes/one" "$strange"
run d "$sspapi" doctor "./$strange"
check "nor of a program's name" \
	sh -c '! grep -q "$(printf "\033")" d.out && grep -qF "e\x1b[31mx" d.out'
done_testing
