# Checks which files are one run: dumps without a name, the stores of a folder, the newest run in
# this folder.
. tests/lib/lib.sh
one=$scenes/one
mkdir "$tmp/here"
cd "$tmp/here" || exit 1
SSPAPI_OUTPUT=''			# use the default's names
host=$(uname -n)

# shows WANTED ARGUMENT...: compares the report's number of processes, and their events
shows() {
	shows_wanted=$1
	shift
	run shown "$sspapi" report -f json "$@"
	is "report $*: processes, events" \
		"$(json "$tmp/shown.out" \
		'($d->{processes} ? scalar @{$d->{processes}} : 1) . " @{[sort map { $_->{name} } @{$d->{events}}]}"')" "$shows_wanted"
}

run none "$sspapi" report
is "no run in this folder: status, a line" "$(status_of none) $(cat "$tmp/none.err")" \
	"2 sspapi report: name the files: no store (*.sspapi) of a run is here"
mkdir empty
run none "$sspapi" report empty
is "a folder without stores" "$(status_of none) $(grep -c 'empty: .*no store' "$tmp/none.err")" \
	"1 1"
rmdir empty

# ---- a process alone: a text to read at once, a store for more --------------------
run_shim alone "$one" EV_A
text=$(ls sspapi.one."$host".*.txt) store=${text%.txt}.sspapi
is "a text and its store, nothing else" "$(ls)" "$(printf '%s\n' "$store" "$text")"
check "one thread has nothing more, and no further command" not grep -q "^more:" "$text"
shows "1 EV_A"
run told "$sspapi" report "$text"
is "a text is reported as one, with its store" \
	"$(status_of told) $(cat "$tmp/told.err" | tr -d \')" \
	"$(printf '1 sspapi report: %s: a text, not a store: that is %s' "$text" "$store")"
for form in json:'a JSON dump' csv:'a CSV dump' hwloc:XML; do
	"$sspapi" report -f "${form%%:*}" "$store" >"other.${form%%:*}"
	run told "$sspapi" report "other.${form%%:*}"
	is "${format%%:*} as well" \
		"$(status_of told) $(grep -c "${form#*:}, not a store: write one with SSPAPI_FORMAT=text,store" \
		"$tmp/told.err")" "1 1"
	rm "other.${form%%:*}"
done

# ---- what a program starts is one run with it --------------------------------------
run_shim first sh -c '"$0" EV_A; "$0" EV_B' "$one"
shows "2 EV_A EV_B"
run_shim second sh -c '"$0" EV_C; "$0" EV_C; (exec "$0" EV_C)' "$one"
shows "3 EV_C"
run_shim alone "$one" EV_B
shows "1 EV_B"
run named "$sspapi" run -- "$one" EV_C
shows "1 EV_C"
said=$(sed -n 's/^sspapi run: counts go to \(.*\); sspapi report shows them$/\1/p' "$tmp/named.err")
shows "1 EV_C" "$said"

# Of another boot, or unreadable: not part of the run.
printf 'no store' >broken.sspapi
touch -d '2001-01-01' broken.sspapi
shows "1 EV_C"
rm broken.sspapi

# ---- ranks that a launcher started each by itself, into names of their own -----------
# launched JOB NAME RANK...: starts ranks as srun and mpiexec do, all at once; no ancestor of them
# has the library
launched() {
	job=$1 name=$2
	shift 2
	for rank in "$@"; do
		SSPAPI_OUTPUT=$PWD/$name.sspapi run_shim rank$rank env OMPI_COMM_WORLD_RANK="$rank" \
			${job:+SLURM_JOB_ID=$job} "$one" EV_A &
	done
	wait
}
SSPAPI_OUTPUT=$PWD/x.9.sspapi run_shim rank env OMPI_COMM_WORLD_RANK=9 SLURM_JOB_ID=76 "$one" EV_A
SSPAPI_OUTPUT=$PWD/y.3.sspapi run_shim rank env OMPI_COMM_WORLD_RANK=3 SLURM_JOB_ID=77 "$one" EV_A
launched 77 x.%r 0 1 2 10
shows "4 EV_A"
launched '' x.%r 0 1
shows "2 EV_A"
"$sspapi" report >ranks.txt 2>ranks.err
check "they are ranks" grep -q ': 2 ranks on' ranks.txt
rm ./x.*.sspapi ./y.3.sspapi ranks.txt ranks.err
for name in x.%r.0 x.1.%r; do		# another number in the name may also be a rank
	launched '' "$name" 0 1 3
	shows "3 EV_A"
	rm ./x.*.sspapi
done

# ---- ranks: one folder for a job ----------------------------------------------------
ranks() {
	for rank in $1; do
		run_shim rank env OMPI_COMM_WORLD_RANK="$rank" SLURM_JOB_ID=88 \
			SLURM_STEP_ID="${step:-0}" "$one" EV_A
	done
}
before=$(ls | wc -l)
ranks "0 1 2 10"
is "a folder for the job, a store for each rank" "$(ls sspapi.one.88.0)" \
	"$(printf '%s\n' 0.sspapi 1.sspapi 10.sspapi 2.sspapi)"
is "and nothing else" "$(ls | wc -l)" $((before + 1))
shows "4 EV_A"
shows "4 EV_A" sspapi.one.88.0
shows "4 EV_A" sspapi.one.88.0/
run csv "$sspapi" report -f csv sspapi.one.88.0
is "in the order of their numbers" "$(cut -d, -f2 "$tmp/csv.out" | sed 1d | uniq | tr '\n' ' ')" \
	"0 1 2 10 "
run doubt "$sspapi" report sspapi.one.88.0
is "a short run, where one ended before the last began: no line" "$(cat "$tmp/doubt.err")" ""
mkdir folders
cp -r sspapi.one.88.0 folders/a
run none "$sspapi" report folders
is "a folder of such folders: the newest is named" "$(status_of none) $(cat "$tmp/none.err")" \
	"1 sspapi report: folders: no store (*.sspapi) is in this folder; the newest folder in it with stores: folders/a"
rm -r folders
ranks "0 1"
run doubt "$sspapi" report sspapi.one.88.0
check "a second run has fewer ranks: a line" \
	grep -q "2 of 4 processes ended before those of lower ranks began" "$tmp/doubt.err"
check "the further commands name the folder" \
	grep -q "^more: sspapi report --per-rank sspapi.one.88.0$" "$tmp/doubt.out"
mkdir uneven
printf 'event EV_A\neach PAPI_read count EV_A 10\n' >uneven/script
reads=
for rank in 0 1 2; do
	reads="$reads read"
	for process in a b; do
		# shellcheck disable=SC2086 # words
		run_shim rank env OMPI_COMM_WORLD_RANK=$rank \
			SSPAPI_OUTPUT="uneven/$rank$process.sspapi" FAKE_PAPI_SCRIPT=uneven/script \
			"$scenes/ops" set=EV_A start $reads
	done
done
run uneven "$sspapi" report uneven
is "the CPUs with the least and the most" \
	"$(sed 's/^[~ ] //' "$tmp/uneven.out" | grep -E '^(rank .*share|min|mean|max) ?' |
	tr -s ' ' | paste -sd';')" \
	"rank EV_A share;min (rank 0) 20;mean 40;max (rank 2; max/mean 1.50) 60"
run uneven "$sspapi" report --per-rank -f json uneven
is "--per-rank: a rank's processes are one row" \
	"$(json "$tmp/uneven.out" 'map { $_->{total}{EV_A} } @{$d->{levels}[0]{rows}}' |
	paste -sd' ')" "20 40 60"
rm -r uneven
step=1
ranks "0 1"
shows "2 EV_A"
run merged "$sspapi" merge -o all.sspapi sspapi.one.88.0 sspapi.one.88.1/1.sspapi
is "merge also takes folders" "$(status_of merged) $("$sspapi" report -f json \
	all.sspapi >all.json && json all.json 'scalar @{$d->{processes}}')" "0 5"
run_shim rank env OMPI_COMM_WORLD_RANK=3 SSPAPI_FORMAT=json "$one"
is "a format that is named" "$(ls sspapi.one.0.0)" 3.json

# ---- some ranks only ----------------------------------------------------------------
rm -rf sspapi.*
for rank in 0 1 5 6 7; do
	run_shim rank env PMIX_RANK=$rank SSPAPI_RANKS=0,5-6 "$one"
done
is "SSPAPI_RANKS: only these write" "$(ls sspapi.one.0.0)" \
	"$(printf '%s\n' 0.sspapi 5.sspapi 6.sspapi)"
run_native native "$one" -s 2
run_shim rank env PMIX_RANK=1 SSPAPI_RANKS=0,5-6 "$one" -s 2
check "one that is not counted runs as natively" same_as_native native rank
rm -rf sspapi.*
run_shim rank env SSPAPI_RANKS=0 "$one"
is "a process without a rank is counted" "$(ls | sed 's/.*\.//' | sort | tr '\n' ' ')" \
	"json sspapi sspapi txt "
for bad in 1-x 2-1 x 1,,2; do
	run_shim rank env PMIX_RANK=1 SSPAPI_RANKS=$bad SSPAPI_OUTPUT="$tmp/bad.json" "$one" -s 2
	check "SSPAPI_RANKS=$bad: a line" said rank "SSPAPI_RANKS: '$bad'" "0,64-67" "using all"
	check "(and it is counted)" rm "$tmp/bad.json"
done
run_shim misspelt env SSPAPI_OUTPT=x SSPAPI_WEATHER=fine "$one"
is "an unknown variable" "$(lines_of misspelt)" "$(printf '%s\n' \
	'sspapi: SSPAPI_OUTPT: unknown variable; do you mean SSPAPI_OUTPUT?' \
	'sspapi: SSPAPI_WEATHER: unknown variable; sspapi env lists all variables')"
mkdir "$tmp/dangling"
cd "$tmp/dangling" || exit 1
ln -s nowhere x.sspapi
run report "$B/sspapi" report
is "only a dangling link is here: one line" "$(status_of report) $(cat report.err 2>/dev/null ||
	cat "$tmp/report.err")" \
	"1 sspapi report: ./x.sspapi: cannot be read"

# ---- unrelated programs, one after the other ------------------------------------------
mkdir apart
for program in "$one" "$scenes/ops set=EV_A start read stop"; do
	# shellcheck disable=SC2086 # words
	run_shim part env SSPAPI_OUTPUT="$PWD/apart/%p.sspapi" $program
done
run apart "$sspapi" report apart
check "their times in all" grep -qE '^several prog[^:]*: 2 processes on [^ ]+, [0-9.]+ (ms|us) in all,' \
	"$tmp/apart.out"
done_testing
