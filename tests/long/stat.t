# Compares sspapi stat with perf stat, in one run of the same programs: threads, processes, servers
# under load, a build. perf runs under stat as a process of its own, so that perf counts everything
# else, except its child before the exec. Programs that are not installed are skipped.
. tests/lib/lib.sh
find_real_papi
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
at_most 16
command -v perf >/dev/null && perf stat -e page-faults true 2>/dev/null ||
	skip_all "perf stat is not installed, or not permitted"
run try "$sspapi" stat --per-thread -e perf::PAGE-FAULTS -f json true
grep -q "no per-thread rows\|in the program reported" "$tmp/try.err" && skip_all "this kernel writes no rows"
[ "$(status_of try)" = 0 ] || skip_all "the kernel lets nobody count here: $(cat "$tmp/try.err")"
cd "$tmp" || exit 1

cat >pipes.sh <<-'END'
	for i in 1 2 3 4 5 6 7 8 9; do seq 20000 | sort -R | sort -n | tail -n 1; done
END
cat >make.sh <<-END
	make -s -C '$root' B='$tmp/build' -j2 $(bounded product "$tmp/build/core/base/out.o $tmp/build/core/base/sys.o $tmp/build/core/base/conf.o")
END
cat >python3.sh <<-'END'
	python3 -c '
	import hashlib, multiprocessing, subprocess, threading
	def work(i):
	    b = bytearray()
	    for k in range(500):
	        b += bytes([(i * k) % 256]) * 1000
	    return hashlib.sha256(b).hexdigest()
	if __name__ == "__main__":
	    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
	    [t.start() for t in threads]
	    [t.join() for t in threads]
	    with multiprocessing.Pool(3) as pool:
	        print(pool.map(work, range(12))[0])
	    print(subprocess.run(["sh", "-c", "exit 3"]).returncode)'
END
cat >node.sh <<-'END'
	node -e '
	const { Worker, isMainThread } = require("worker_threads");
	for (let i = 0; i < 4; i++)
		new Worker("let s = 0; for (let k = 0; k < 3e6; k++) s += k % 7; console.log(s)", { eval: true });'
END
cat >Work.java <<-'END'
	public class Work {
		public static void main(String[] a) {
			System.out.println(java.util.stream.IntStream.range(0, 4000000).parallel().filter(i -> i % 7 == 3).count());
		}
	}
END
echo 'java Work.java' >java.sh
cat >forks.sh <<-'END'
	i=0
	while [ $i -lt 100 ]; do (true); /bin/true; sh -c '(true) & (true) & wait' & i=$((i + 1)); done
	wait
END
cat >openmp.c <<-'END'
	#include <stdio.h>
	#include <stdlib.h>

	int main(void)
	{
		long sum = 0;

		for (int round = 0; round < 20; round++) {
			char *p = calloc(8 << 20, 1);

	#pragma omp parallel for num_threads(8) reduction(+ : sum)
			for (long i = 0; i < 8 << 20; i += 64)
				sum += p[i] += (char)i;
			free(p);
		}
		printf("%ld\n", sum);
	}
END
echo ./openmp >openmp.sh
echo 'tar -C "$root" -cf - core preload | xz -T2 | xz -dc | cksum' >xz.sh
export root
mkdir go
cat >go/main.go <<-'END'
	package main

	func main() {
		done := make(chan int)
		for i := 0; i < 50; i++ {
			go func(n int) { b := make([]byte, 1<<20); for k := range b { b[k] = byte(k * n) }; done <- len(b) }(i)
		}
		sum := 0
		for i := 0; i < 50; i++ { sum += <-done }
		println(sum)
	}
END
echo './work' >go.sh
cat >redis-server.sh <<-'END'
	rm -rf redis
	mkdir redis
	redis-server --port 0 --unixsocket "$PWD/redis/s" --save '' --dir "$PWD/redis" --io-threads 2 >redis/log 2>&1 &
	until [ -S redis/s ] || ! kill -0 $!; do sleep 0.01; done
	redis-benchmark -s redis/s -q -n 5000 -c 20 -t set,get,lpush
	redis-cli -s redis/s shutdown nosave
	wait $!
END
cat >nginx.sh <<-'END'
	rm -rf nginx
	mkdir -p nginx/www
	chmod -R 755 nginx
	head -c 300000 /dev/zero | tr '\0' x >nginx/www/large
	temp=''
	for what in client_body proxy fastcgi uwsgi scgi; do temp="$temp ${what}_temp_path $PWD/nginx/$what;"; done
	echo "daemon off; pid $PWD/nginx/pid; error_log $PWD/nginx/errors; worker_processes 2; events { }
		http { access_log off; $temp gzip on; gzip_types *; server { listen unix:$PWD/nginx/s; root $PWD/nginx/www; } }" >nginx/conf
	nginx -c "$PWD/nginx/conf" >nginx/log 2>&1 &
	until [ -S nginx/s ] || ! kill -0 $!; do sleep 0.01; done
	for i in 1 2 3 4 5; do curl -s --compressed --unix-socket nginx/s "http://localhost/large?[1-20]" | cksum; done
	kill -QUIT "$(cat nginx/pid)"
	wait $!
END
cat >rank <<-END
	#!/bin/sh
	# It counts with PAPI, and libpfm4 may not support the CPU.
	[ -z '$REAL_PAPI_PRELOAD' ] || export LD_PRELOAD="\${LD_PRELOAD:+\$LD_PRELOAD:}$REAL_PAPI_PRELOAD"
	exec '$B/tests/long/mpi-openmpi'
END
chmod +x rank
cat >mpirun.sh <<-END
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 4 ./rank
END

# Rows of processes other than perf's, minus perf's counts: page faults; ns.
cat >less.pl <<-'END'
	my %name = map { $_->{id} => $_->{name} } @{$d->{events}};
	my ($perf) = grep { ($_->{args}[0] // '') eq 'perf' } @{$d->{processes}};
	my (%sum, %perf);
	for my $r (grep { $_->{tid} != $perf->{pid} } @{$d->{relations}}) {
		for my $c (@{$r->{cpus}}) { $sum{$name{$r->{events}[$_]}} += $c->{total}[$_] for 0 .. $#{$r->{events}}; }
	}
	local $/ = "\n";
	open my $in, '<', "$ENV{NAME}.perf" or die;
	while (<$in>) { my @f = split /,/; $perf{$f[2]} = $f[0] if @f > 2; }
	my $faults = $sum{'perf::PAGE-FAULTS'} - $perf{'page-faults'};
	my $ns = $sum{'perf::TASK-CLOCK'} - 1e6 * $perf{'task-clock'};
	(scalar(@{$d->{relations}}), $perf{'page-faults'}, $faults, int $ns, int(1e6 * $perf{'task-clock'}))
END

for program in pipes forks openmp xz make python3 node java go redis-server nginx mpirun; do
	case $program in pipes) tools=sort ;; forks) tools=true ;; openmp) tools=gcc ;; nginx) tools="nginx curl" ;; redis-server) tools="redis-server redis-benchmark" ;; *) tools=$program ;; esac
	for tool in $tools; do
		PATH=$PATH:/usr/sbin command -v "$tool" >/dev/null ||
			{ skip "$program" "$tool is not installed"; continue 2; }
	done
	[ $program != go ] || GO111MODULE=off GOCACHE=$tmp/cache go build -o work go/main.go ||
		{ skip go "go builds nothing here"; continue; }
	[ $program != openmp ] || gcc -O2 -fopenmp -o openmp openmp.c ||
		{ skip openmp "gcc has no OpenMP here"; continue; }
	[ $program != mpirun ] || [ -x "$B/tests/long/mpi-openmpi" ] ||
		{ skip mpirun "not installed"; continue; }
	run $program env PATH="$PATH:/usr/sbin" "$sspapi" stat --per-thread \
		-e perf::PAGE-FAULTS,perf::TASK-CLOCK -o $program.json \
		perf stat -x, -o $program.perf -e page-faults,task-clock sh $program.sh
	is "$program: it ran" "$(status_of $program)" 0
	check "$program: all of its CPUs' clocks add up" not grep -qE 'some counts are missing|were lost|other CPUs' $program.json
	NAME=$program json $program.json "$(cat less.pl)" | paste -sd' ' >$program.less
	echo "# $program: rows, perf's faults, ours more, ns more, perf's ns: $(cat $program.less)"
	check "$program: sspapi counts the same as perf stat" \
		awk '{ print; exit !($3 >= 0 && $3 <= 300 && $4 >= 0 && $4 <= 2000000 + $5 / 50) }' $program.less
done
done_testing
