# Tests eight CPUs with SMT in two packages: software events, whose counts are exact; CPUs that go
# offline and online, and affinity masks that change under a running thread.
machine=${machine:-x86-64}
APPEND='isolcpus=6'
. tests/machines/rows.sh

faults=perf::PAGE-FAULTS
row stayed sums cpus levels -- -e $faults p2 s w2 r w3 r w4 a w2 t w1 z w3 r w1 e
row moved-read sums cpus levels exact -- -e $faults p0 s w5 r p7 w15 e
row moved-once sums cpus levels exact -- -e $faults p0 s w5 p7 w15 e
ROW_ENV=SSPAPI_ATTRIBUTION=exact	# emulated, eight CPUs' counters exceed auto's budget
row eight-cpus-read sums cpus levels exact -- -e $faults p0 s w1 r p1 w2 r p2 w3 r p3 w4 r p4 w5 r \
	p5 w6 r p6 w7 r p7 w8 e
row eight-cpus-once sums cpus levels exact -- -e $faults p0 s w1 p1 w2 p2 w3 p3 w4 p4 w5 p5 w6 \
	p6 w7 p7 w8 e
row four-threads sums cpus levels exact -- -e $faults p0 s w4 r p1 w3 e , p2 s w5 r p4 w6 e , p5 s \
	w1 r p3 w7 e , p6 s w8 r p7 w2 e
row four-threads-once sums cpus levels exact -- -e $faults p0 s w4 p1 w3 e , p2 s w5 p4 w6 e , p5 \
	s w1 p3 w7 e , p6 s w8 p7 w2 e
ROW_ENV=''
row two-events sums cpus levels -- -e $faults,perf::TASK-CLOCK p0 s w5 r p4 w5 e
row another-thread sums levels -- -e $faults p1 s w1 xr w2 xr p7 w3 xr w1 xe

# The fast paths (counters.t).
row short-reads sums cpus levels -- -e $faults p2 s f r f r f r f t f t f r f e
row short-accums sums cpus levels -- -e $faults p2 s f a f a f a f a f a f a f e
row short-resets sums cpus levels -- -e $faults p2 s f z f r f z f r f z f r f z f e
row short-starts sums cpus levels -- -e $faults p2 s f e s f e s f e s f r f e s f r f e s f r f e

# A CPU goes offline while its thread runs there: the kernel lets the thread run anywhere.
ROW_BEFORE='echo 1 >/sys/devices/system/cpu/cpu3/online'
off='!echo 0 >/sys/devices/system/cpu/cpu3/online' on='!echo 1 >/sys/devices/system/cpu/cpu3/online'
row offline-read sums cpus levels -- -e $faults p3 s w5 r "$off" w4 r "$on" p3 w3 e
row offline-once sums cpus levels -- -e $faults p3 s w5 "$off" w4 "$on" p3 w3 e
row offline-not-back sums cpus levels -- -e $faults p3 s w5 r "$off" w4 e
guest "$ROW_BEFORE"
ROW_BEFORE=''

# A cpuset that shrinks to one CPU under a thread, and to another one.
ROW_ENV=SSPAPI_ATTRIBUTION=exact	# auto may stop counting on these CPUs, if the host is busy
guest 'echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control; mkdir /sys/fs/cgroup/walk'
cg=/sys/fs/cgroup/walk
row cpuset-read sums cpus levels -- -e $faults \
	"!echo 2-5 >$cg/cpuset.cpus; echo \$WALK >$cg/cgroup.procs" s w5 r \
	"!echo 5 >$cg/cpuset.cpus" w4 r "!echo 2 >$cg/cpuset.cpus" w3 e
row cpuset-once sums cpus levels -- -e $faults \
	"!echo 2-5 >$cg/cpuset.cpus; echo \$WALK >$cg/cgroup.procs" s w5 \
	"!echo 5 >$cg/cpuset.cpus" w4 "!echo 2 >$cg/cpuset.cpus" w3 e
ROW_ENV=''

# CPU 6 is isolated: a thread moves there only by itself.
row isolated-read sums cpus levels exact -- -e $faults s w5 r p6 w4 r p7 w3 e
row isolated-once sums cpus levels exact -- -e $faults p5 s w5 p6 w4 p7 w3 e

calls faults perf::PAGE-FAULTS
calls clock-first perf::TASK-CLOCK perf::PAGE-FAULTS
calls clock-last perf::PAGE-FAULTS perf::TASK-CLOCK
calls clock perf::CPU-CLOCK

user="setpriv --reuid=65534 --regid=65534 --clear-groups"
row ordinary-user sums cpus levels exact -- -e $faults p0 s w5 r p4 w5 e
row ordinary-user-once sums cpus levels exact -- -e $faults p0 s w5 p4 w5 e
guest 'echo 3 >/proc/sys/kernel/perf_event_paranoid'
refused paranoid-3 'perf_event_paranoid is 3' -- -e $faults p0 s w5 e
user=''
done_rows
