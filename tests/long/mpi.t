# Runs real MPI with real PAPI: 8 ranks of two MPIs, a store each, merged; sums per rank, host and
# CPU are those that the ranks printed. Also under Slurm, if its daemons can be started.
. tests/lib/lib.sh
need_real_papi
LIMIT=120
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
preload=$SHIM:$MORE

# Prints what PAPI returned by these of rank, cpu and event; and the same of the merged store.
handed() {
	perl -ne 'BEGIN { @by = split /,/, shift @ARGV } next unless /^handed (.*)/;
		my %h = map { split /=/, $_, 2 } split / /, $1;
		$s{join ",", map { $h{$_} } @by} += $h{value}; END { print "$_ $s{$_}\n"
		for sort keys %s }' "$1" "$2"
}
attributed() {
	perl -e 'my @by = split /,/, shift; open my $in, "<", shift; my %s; my @head = split /,/,
		<$in>;
		while (<$in>) { chomp; my %r; @r{@head} = split /,/;
		$s{join ",", map { $r{$_} } @by} += $r{total} }
		print "$_ $s{$_}\n" for sort keys %s' "$1" "$2"
}

# job NAME: checks the ranks' stores in $tmp/NAME, and their output in NAME.out
job() {
	is "$1: a store a rank" "$(ls "$tmp/$1" | tr '\n' ' ')" \
		"rank0.sspapi rank1.sspapi rank2.sspapi rank3.sspapi rank4.sspapi rank5.sspapi rank6.sspapi rank7.sspapi "
	"$sspapi" merge -o "$tmp/$1.sspapi" "$tmp/$1"/*
	"$sspapi" report -f csv "$tmp/$1.sspapi" >"$tmp/$1.csv"
	for by in rank cpu rank,cpu,event; do
		handed "$by" "$tmp/$1.out" >"$tmp/handed"
		attributed "$by" "$tmp/$1.csv" >"$tmp/booked"
		check "$1: by $by, what PAPI returned" diff "$tmp/handed" "$tmp/booked"
	done
	check "$1: (and there is some)" test "$(wc -l <"$tmp/handed")" -ge 8
	is "$1: by host, all of it" "$(attributed host "$tmp/$1.csv")" \
		"$(uname -n) $(handed event "$tmp/$1.out" | sed 's/.* //')"
	is "$1: a thread of each rank is separate" \
		"$("$sspapi" report -f csv --per-thread "$tmp/$1.sspapi" | sed 1d | wc -l)" 16
	"$sspapi" report -f csv "$tmp/$1"/* >"$tmp/$1.all.csv"
	check "$1: the ranks' stores as one run are the merged one" cmp "$tmp/$1.csv" \
		"$tmp/$1.all.csv"
	check "$1: the text says so" \
		sh -c "'$sspapi' report '$tmp/$1.sspapi' | grep -q '^[^ ]*: 8 ranks on '"
}

# counted NAME: checks the ranks' stores of sspapi stat in $tmp/NAME
counted() {
	is "$1: it ran" "$(status_of "$1")" 0
	"$sspapi" merge -o "$tmp/$1.sspapi" "$tmp/$1"/rank[0-7].sspapi
	for of in "$tmp/$1.sspapi" "$tmp/$1"/rank[0-7].sspapi; do
		"$sspapi" report -f csv "$of" |
			awk -F, \
			'$14 == "perf::PAGE-FAULTS" { n[$2] += $16 } END { for (r in n) print r, n[r] }' | sort
	done >"$tmp/faults"
	is "$1: a merged rank has what its store has" "$(head -n 8 "$tmp/faults" | paste -sd,)" \
		"$(tail -n +9 "$tmp/faults" | paste -sd,)"
	is "$1: each has some" "$(awk '$2 >= 100' "$tmp/faults" | wc -l)" 16
}

for mpi in openmpi mpich; do
	program=$B/tests/long/mpi-$mpi
	if ! [ -x "$program" ] || ! command -v mpirun.$mpi >/dev/null; then
		skip "$mpi" "not installed (scripts/deps --long)"
		continue
	fi
	case $mpi in
	openmpi)
		run native mpirun.openmpi --oversubscribe -n 8 -x LD_PRELOAD="$MORE" "$program"
		run stat-openmpi mpirun.openmpi --oversubscribe -n 8 "$sspapi" stat \
			-o "$tmp/stat-openmpi/rank%r.sspapi" env LD_PRELOAD="$MORE" "$program"
		run openmpi mpirun.openmpi --oversubscribe -n 8 -x LD_PRELOAD="$preload" -x \
			SSPAPI_OUTPUT="$tmp/openmpi/rank%r.sspapi" "$program"
		;;
	mpich)
		run native mpirun.mpich -n 8 -genv LD_PRELOAD "$MORE" "$program"
		run stat-mpich mpirun.mpich -n 8 "$sspapi" stat -o "$tmp/stat-mpich/rank%r.sspapi" \
			env LD_PRELOAD="$MORE" "$program"
		run mpich mpirun.mpich -n 8 -genv LD_PRELOAD "$preload" -genv SSPAPI_OUTPUT \
			"$tmp/mpich/rank%r.sspapi" "$program"
		;;
	esac
	is "$mpi: the job ran" "$(status_of $mpi) $(status_of native)" "0 0"
	sort "$tmp/native.out" >"$tmp/native.sorted"
	sort "$tmp/$mpi.out" >"$tmp/shim.sorted"
	check "$mpi: the ranks see no difference" cmp "$tmp/native.sorted" "$tmp/shim.sorted"
	job $mpi
	counted stat-$mpi
done

# ---- Slurm: one node, its daemons our own, in this case's folder ----------------

# start_slurm: 0 once a job has run; else the reason is in slurm.why
start_slurm() {
	for tool in munged slurmctld slurmd srun; do
		PATH=$PATH:/usr/sbin command -v $tool >/dev/null ||
			{ echo "$tool is not installed (scripts/deps --long)" >slurm.why
			return 1; }
	done
	[ "$(id -u)" = 0 ] || { echo "slurmd needs root" >slurm.why; return 1; }
	mkdir slurm slurm/state slurm/spool slurm/munge
	head -c 1024 /dev/urandom >slurm/munge/key
	chmod 700 slurm/munge
	chmod 400 slurm/munge/key
	port=$((20000 + $$ % 20000))
	cat >slurm/slurm.conf <<END
ClusterName=here
SlurmctldHost=$(uname -n)(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$tmp/slurm/munge/socket
CredType=cred/munge
StateSaveLocation=$tmp/slurm/state
SlurmdSpoolDir=$tmp/slurm/spool
SlurmctldPidFile=$tmp/slurm/slurmctld.pid
SlurmdPidFile=$tmp/slurm/slurmd.pid
SlurmctldLogFile=$tmp/slurm/slurmctld.log
SlurmdLogFile=$tmp/slurm/slurmd.log
SlurmctldPort=$port
SlurmdPort=$((port + 1))
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
SlurmdParameters=config_overrides
NodeName=$(uname -n) NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=$(uname -n) Default=YES State=UP
END
	SLURM_CONF=$tmp/slurm/slurm.conf
	export SLURM_CONF
	PATH=$PATH:/usr/sbin
	munged --force --key-file="$tmp/slurm/munge/key" --socket="$tmp/slurm/munge/socket" \
		--pid-file="$tmp/slurm/munge/pid" \
		--log-file="$tmp/slurm/munge/log" --seed-file="$tmp/slurm/munge/seed" >slurm.why \
		2>&1 || return 1
	slurmctld -c >slurm.why 2>&1 || return 1
	slurmd >slurm.why 2>&1 || return 1
	timeout 60 srun -n 8 true >slurm.why 2>&1
}

stop_slurm() {
	for pid in slurm/slurmd.pid slurm/slurmctld.pid slurm/munge/pid; do
		[ ! -s "$tmp/$pid" ] || kill "$(cat "$tmp/$pid")" 2>/dev/null
	done
	sleep 1
}

cd "$tmp" || exit 1
trap 'stop_slurm; chmod -R u+rwx "$tmp" 2>/dev/null; rm -rf "$tmp"' EXIT
if start_slurm; then
	for way in pmi2-mpich pmix-openmpi; do
		program=$B/tests/long/mpi-${way#*-}
		[ -x "$program" ] || { skip "srun, $way" "not installed (scripts/deps --long)"
		continue; }
		run "$way" env SSPAPI_OUTPUT="$tmp/$way/rank%r.sspapi" srun --mpi="${way%-*}" -n 8 \
			env LD_PRELOAD="$preload" "$program"
		is "srun, $way: the job ran" "$(status_of "$way")" 0
		job "$way"
		run "stat-$way" srun --mpi="${way%-*}" -n 8 "$sspapi" stat \
			-o "$tmp/stat-$way/rank%r.sspapi" env LD_PRELOAD="$MORE" "$program"
		counted "stat-$way"
		SLURM_EXPORT_ENV=ALL,LD_PRELOAD=$SHIM srun -n 2 env >"$way.env"
		is "srun, $way: what the module sets preloads the step's tasks" \
			"$(grep -c "^LD_PRELOAD=$SHIM" "$way.env")" 2
		is "srun, $way: the dumps know their job" \
			"$("$sspapi" report -f json "$way.sspapi" |
			grep -c '"job": "[0-9][0-9]*"')" 9
	done
else
	skip "srun" "no Slurm here: $(head -n 1 slurm.why)"
fi
done_testing
