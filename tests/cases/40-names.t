# Checks where the dump is written: templates, folders, formats; and never over another program's
# file.
. tests/lib/lib.sh
one=$scenes/one
host=$(uname -n)
mkdir "$tmp/d"
cd "$tmp/d" || exit 1

# dumps OUTPUT COMMAND...: runs it with SSPAPI_OUTPUT in a new folder; prints the names of the files
# there, with HOST and PID
dumps() {
	rm -rf "$tmp/d"/* "$tmp/d"/.[!.]*
	more "$@"
}

more() {
	dumps_to=$1
	shift
	SSPAPI_OUTPUT=$dumps_to run_shim shim "$@"
	find . ! -type d | sed "s,^\./,,; s/\b$host\b/HOST/; s/\b[0-9]\{2,\}\b/PID/g" |
		LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//'
}

is "the default" "$(dumps '' "$one")" "sspapi.one.HOST.PID.sspapi sspapi.one.HOST.PID.txt"
is "%e %h %p" "$(dumps '%e-%h-%p.json' "$one")" one-HOST-PID.json
is "%p is the process" "$(dumps %p.json "$one"; ls)" \
	"PID.json$(json "$(ls ./*.json)" '$d->{process}{pid}').json"
is "%% %q{X}" "$(dumps '5%%-%q{X}-%q{EMPTY}.json' env X=a-b EMPTY= "$one")" "5%-a-b-.json"
is "%q{X} of a variable that is not set" "$(dumps 'x%q{NOT_SET}.json' "$one")" "x.json"
is "%q{X} as it was at the start" "$(dumps '%q{X}.json' env X=before "$one" -u X)" "before.json"
is "%r %j without MPI and batch system" "$(dumps %r-%j.json "$one")" "0-0.json"
for rank in OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID MV2_COMM_WORLD_RANK; do
	is "%r of $rank" "$(dumps r%r.json env $rank=7 "$one")" "r7.json"
done
is "and in the dump" "$(json r7.json '$d->{process}{rank}')" 7
for job in SLURM_JOB_ID PBS_JOBID LSB_JOBID JOB_ID; do
	is "%j of $job" "$(dumps j%j.json env $job=b.x "$one")" "jb.x.json"
done
is "a name relative to where the process started" "$(dumps rel.json "$one" -C /)" rel.json
is "missing folders are made" "$(dumps a/b/c/x.json "$one")" a/b/c/x.json
is "their names may be templates" "$(dumps '%e/%q{X}/x.json' env X=deep/er "$one")" \
	one/deep/er/x.json
mode() {
	dumps x.json sh -c "umask $1; exec '$one'" >/dev/null
	stat -c %a x.json
}
is "made by the umask" "$(mode 022) $(mode 077) $(mode 002)" "644 600 664"

# ---- formats -------------------------------------------------------------------

has_format() {
	case $1 in
	*.json) head -c 2 "$1" | grep -q '{' ;;
	*.csv) head -n 1 "$1" | grep -q ^host,rank,pid ;;
	*.sspapi) head -c 16 "$1" | grep -qa -i sspapi ;;
	*) grep -qE "^one: .* threads? on " "$1" ;;
	esac
}
for e in txt json csv sspapi other; do
	is "by the extension: .$e" "$(dumps x.$e "$one")" x.$e
	check ".$e is what it says" has_format x.$e
done
is "without an extension: text" "$(dumps x "$one")" x
check "and it is" has_format x
is "one format alone writes to the name as given" "$(dumps x.other env SSPAPI_FORMAT=json "$one")" \
	x.other
is "(JSON)" "$(json x.other '$d->{format}')" sspapi-dump
is "several: each its own extension" \
	"$(dumps x.json env SSPAPI_FORMAT=text,json,csv,store "$one")" \
	"x.csv x.json x.sspapi x.txt"
for f in x.*; do
	check "$f has the format of its name" has_format "$f"
done

# Only the command makes hwloc's XML and the page: the store is written, and the line says how to go
# on.
for e in xml html; do
	is "by the extension .$e: the store" "$(dumps x.$e "$one")" x.sspapi
	check "(and it is)" has_format x.sspapi
	said_by=$(SSPAPI_OUTPUT=said.$e LD_PRELOAD=$SHIM "$one" 2>&1 >/dev/null | grep '^sspapi: ')
	is ".$e: one line names the command" "$said_by" \
		"sspapi: SSPAPI_OUTPUT: 'said.$e' is made by the command: sspapi report -o said.$e said.sspapi; using said.sspapi"
	said_by=${said_by#*command: sspapi }
	check ".$e: which makes it" sh -c "$sspapi ${said_by%; using*} && grep -q EV_A said.$e"
	rm -f said.*
done
is "after an unknown option" "$(dumps x.1.5 env SSPAPI_FORMAT=json,csv "$one")" \
	"x.1.5.csv x.1.5.json"
is "and without an option before it" "$(dumps x env SSPAPI_FORMAT=json,csv "$one")" "x.csv x.json"

# ---- whose file -----------------------------------------------------------------

is "two children of one run, and their parent" "$(dumps x.json "$one" -k 2)" \
	"x.HOST.PID.json x.HOST.PID.json x.json"
check "none of the three is lost" perl "$root/tests/lib/check-handed.pl" ./*.json "$tmp/shim.out"
is "ten at a time" "$(dumps x.json "$one" -k 9 | wc -w)" 10
is "an unknown extension: before it" "$(dumps x.dat env SSPAPI_FORMAT=csv "$one" -k 1)" \
	"x.HOST.PID.dat x.dat"
is "an earlier run's file is replaced" \
	"$(dumps x.json "$one"; echo; json x.json '$d->{process}{pid}' >"$tmp/pid"; more x.json \
	"$one")" "x.json
x.json"
check "really" not is_equal "$(cat "$tmp/pid")" "$(json x.json '$d->{process}{pid}')"
is "two programs of one script: not the same run's" "$(dumps x.json sh -c "'$one'; '$one'")" \
	"x.HOST.PID.json x.json"
is "the next script replaces the one, and keeps the other" "$(more x.json sh -c "'$one'; '$one'")" \
	"x.HOST.PID.json x.HOST.PID.json x.json"
# Linux 6.11 can be queried for what an ancestor has mapped; before that its maps are read.
case $(uname -m) in x86_64) ioctl=16 ;; *) ioctl=29 ;; esac
MORE=$preloads/faults.so
is "two programs of one script, before Linux 6.11" \
	"$(dumps x.json env FAULT=$ioctl:1+:25 sh -c "'$one'; '$one'")" "x.HOST.PID.json x.json"
MORE=
is "any file of that name, if it is older" \
	"$(dumps y "$one"; echo; echo mine >x.json; sleep 0.03; more x.json "$one")" "y
x.json y"
# A process's start is known to 10 ms only, and two runs begin within that time.
cat >"$tmp/runs.sh" <<END
export SSPAPI_OUTPUT=x.json
lib=$SHIM one=$one
for i in 1 2 3 4 5 6 7 8 9 10; do
	LD_PRELOAD=\$lib \$one
	LD_PRELOAD=\$lib sh -c "sleep 0.015; exec \$one"	# loading takes long
	sh -c "sleep 0.015; LD_PRELOAD=\$lib exec \$one"
done
ls x*.json | wc -l >&3
for i in 1 2 3 4 5 6 7 8 9 10; do
	LD_PRELOAD=\$lib sh -c "\$one; cat x.json >/dev/null; exec \$one"
	ls x*.json | wc -l >&3
done
END
rm -f ./*
run runs sh -c "exec 3>'$tmp/runs'; . '$tmp/runs.sh'"
is "each run replaces the one before, and no file of its own" "$(tr -s ' \n' ' ' <"$tmp/runs")" \
	"1 2 3 4 5 6 7 8 9 10 11 "

rm -f ./*
mkdir x.json
SSPAPI_OUTPUT=x.json run_shim shim "$one"
is "a folder of that name is not touched" "$(rm sspapi.one.*; ls -A; ls -A x.json)" x.json
rmdir x.json
ln -s gone x.json
is "a symbolic link to nothing is not replaced" \
	"$(more x.json "$one" >/dev/null; readlink x.json)" gone

check "no part of a dump is left anywhere" not grep -r . --include='.*' "$tmp/d"
is "nor any hidden file" "$(find "$tmp" -name '.*.part*' -o -name '.*.old*')" ""

# A file system that cannot link, nor rename without replacing (FUSE), and on which signals
# interrupt.
case $(uname -m) in x86_64) link=265 rename=316 fallocate=285 open=257 ;; *) link=37 rename=276 \
	fallocate=47 open=56 ;; esac
MORE=$preloads/faults.so
neither=$link:1+:95,$rename:1+:22
one_each() {
	FAULT=$1 dumps x.json sh -c "'$one'; '$one' -k 1" && for f in x*.json; do json "$f" \
		'$d->{format}' || return 1; done
}
export FAULT
is "on a file system without links" "$(FAULT=$link:1+:1; one_each "$FAULT")" \
	"x.HOST.PID.json x.HOST.PID.json x.jsonsspapi-dump
sspapi-dump
sspapi-dump"
is "also without a rename that does not replace" "$(one_each $neither)" \
	"x.HOST.PID.json x.HOST.PID.json x.jsonsspapi-dump
sspapi-dump
sspapi-dump"
is "an earlier run's file is also replaced there" \
	"$(FAULT=$neither dumps x.json "$one"; sleep 0.03; FAULT=$neither more x.json "$one")" \
	"x.jsonx.json"
is "made by the umask there as well" "$(FAULT=$neither mode 022) $(FAULT=$neither mode 077)" \
	"644 600"
is "a signal interrupts link, or rename: repeated" \
	"$(FAULT=$link:1:4,$rename:1+:22 dumps x.json "$one"
	FAULT=$link:1+:95,$rename:1:4 dumps x.json "$one")" x.jsonx.json
is "or any open" "$(for i in $(seq 60); do
	FAULT=$open:$i:4 dumps x.json "$one"; echo; done | sort -u)" x.json
# Without fallocate (NFS 3) there is still a live file; without links recover writes its output
# directly.
mkdir live
SSPAPI_LIVE=$PWD/live FAULT=$fallocate:1+:95 SSPAPI_OUTPUT=x.json run_shim killed "$scenes/life" \
	kill
is "without fallocate: a live file, and no message" "$(ls live | wc -l) $(lines_of killed)" "1 "
FAULT=$neither LD_PRELOAD=$MORE "$B/sspapi" recover -o rec.json live/* >"$tmp/recover.out" 2>&1
is "recover -o on a file system without links" \
	"$(cat "$tmp/recover.out") $(json rec.json '$d->{process}{end}') $(ls live | wc -l)" \
	"rec.json recovered 0"
unset FAULT
MORE=

# A special file is written directly, in all formats; no new file appears next to it.
mkfifo pipe
exec 8<>pipe 7<pipe		# both ends, in any order
cat <&7 >pipe.out 8>&- &
exec 7<&-
SSPAPI_OUTPUT=$PWD/pipe SSPAPI_FORMAT=csv,json run_shim special "$one"
exec 8>&-
wait
is "two formats into a FIFO: both are written there" \
	"$(grep -c -e '^host,' -e '^{"format"' pipe.out) $(ls -d pipe.*)" "2 pipe.out"
done_testing
