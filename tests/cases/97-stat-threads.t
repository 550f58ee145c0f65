# Tests sspapi stat on kernels that do not report the counts of threads (before 6.13): a library in
# the program reports threads.
. tests/lib/lib.sh
cd "$tmp" || exit 1
need_stat
export LD_PRELOAD="${LD_PRELOAD-}${LD_PRELOAD:+:}$preloads/noread.so" TOLD=1
# Two CPUs: they determine how many threads have descriptors.
taskset -pc "$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//'),$(taskset -pc $$ |
	sed 's/.*[:,-] *//')" $$ >taskset.out

# stat NAME ARGUMENT...: writes a dump to NAME.json
stat() {
	stat_to=$1
	shift
	run "$stat_to" "$sspapi" stat --per-thread -o "$tmp/$stat_to.json" "$@"
}
agrees() {
	perl "$root/tests/lib/check-counted.pl" "$tmp/$1.json" "$tmp/$1.out" "$2"
}
notes() {
	json "$tmp/$1.json" "scalar grep { /$2/ } @{\$d->{notes}}"
}
total() {
	json "$tmp/$1.json" '$d->{components}[0]{total}{"perf::PAGE-FAULTS"}'
}

# ---- what each thread and process counted ---------------------------------------------------
mkfifo go
for what in "pages 500:2" "threads 500 20:502" "c11 50 20:52" "closed 100 20:102" \
	"forks 100 10:102" "execs 5 300:2" "vfork 200:3"; do
	# shellcheck disable=SC2086 # words
	stat one "$apps/counted" ${what%:*}
	is "${what%:*}: its status" "$(status_of one)" 7
	check "each thread's faults" agrees one "${what#*:}"
	is "and a note says how they were found" \
		"$(notes one 'libsspapi-threads.so in the program reported') $(notes one 'no row')" "1 0"
done
stat one "$apps/counted" threads 3 5
is "names" "$(json one.json 'sort map { $_->{thread} } @{$d->{relations}}' | paste -sd,)" \
	"counted,the rest,worker-0,worker-1,worker-2"
# A program of another C library, whose loader (here a copy of ours) would end it for the library
# that reports threads.
loader=$(readelf -l "$apps/counted" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
cp "$loader" ld-other
perl -0pe "s,\Q$loader\E,'./ld-other' . chr(0) x (length('$loader') - 10),e" \
	"$(command -v env)" >env-of-other
chmod +x env-of-other
stat one ./env-of-other
is "a program of another C library runs without the library" \
	"$(status_of one) $(grep -c 'libsspapi-threads' one.out)" "0 0"
is "and a note says why there are no rows" \
	"$(notes one 'cannot be loaded with another C library')" 1
# AddressSanitizer's runtime must be the first library.
if [ -z "${SANITIZE-}" ] && ${CC:-gcc} -fsanitize=address -D_GNU_SOURCE -o counted-asan \
	"$root/tests/apps/counted.c" -pthread 2>cc.err; then
	ASAN_OPTIONS=detect_leaks=0 stat one ./counted-asan pages 300
	is "one made with AddressSanitizer" \
		"$(status_of one) $(notes one 'libsspapi-threads.so in the program reported')" "7 1"
else
	skip "one made with AddressSanitizer" "sanitized, or the compiler has no runtime"
fi
stat one "$apps/counted" texec 500
is "a thread that executes a program: three rows of 500 and more, none twice" \
	"$(json one.json 'my %at; for my $r (@{$d->{relations}}) { my ($i) = grep { $d->{events}[$r->{events}[$_]]{name} eq "perf::PAGE-FAULTS" } 0 .. $#{$r->{events}};
		$at{$r->{tid}} += $_->{total}[$i] for @{$r->{cpus}} } join " ", (map { int($at{$_} / 500) } sort { $at{$b} <=> $at{$a} } keys %at), $at{0} > 20 ? "loader" : "none"')" "2 1 0 loader"
stat one "$apps/counted" kill 300
is "killed in the middle" "$(status_of one)" 137
check "and its faults are there" agrees one 2
stat one "$apps/counted-static" threads 20 10
is "a static program: all counts are in the rest" \
	"$(status_of one) $(json one.json 'map { $_->{thread} } @{$d->{relations}}')" "7 the rest"
check "and are there" test "$(total one)" -ge 200
stat one "$apps/counted" daemon 300 go
check "still running" test "$(notes one 'was still running when the program ended')" = 1
check "and counted so far" test "$(total one)" -ge 300
timeout "$LIMIT" sh -c ': >go'
stat one -r 2 "$apps/counted" threads 5 10
is "in each run" "$(json one.json \
	'scalar grep { $_->{thread} eq "worker-4" } @{$d->{relations}}') $(notes one \
	'libsspapi-threads.so in the program reported')" "2 1"
run one "$sspapi" stat --per-thread=no -o one.json "$apps/counted" threads 20 10
is "without rows per thread nothing is put into it" \
	"$(json one.json 'scalar @{$d->{relations}}') $(notes one libsspapi-threads)" "1 0"

# As many descriptors as a few threads take: the others are in the rest.
cat >few.sh <<-END
	ulimit -n 150
	exec "$sspapi" stat --per-thread -o few.json "$apps/counted" together 60 20
END
run few sh few.sh
is "few descriptors" "$(status_of few) $(notes few \
	'have no row, and are in the rest: no descriptors')" "7 1"
check "their counts are in the total" test "$(total few)" -ge 1200
check "some have rows" test "$(json few.json 'scalar @{$d->{relations}}')" -gt 2
sed -i 's/together 60/c11 200/' few.sh
run few sh few.sh
is "one thread after the other takes those of the one before" \
	"$(notes few 'no row') $(json few.json 'scalar @{$d->{relations}}')" "0 202"

run shown "$sspapi" stat --per-thread true
check "the table names the rest" grep -q '^the rest .* [0-9]' shown.err

# ---- no difference for the program ------------------------------------------------------------
run native "$apps/thread-start"
run told "$sspapi" stat --per-thread -o told.json "$apps/thread-start"
is "threads, forks, errno, signals, descriptors: it ends" "$(status_of told)" "$(status_of native)"
check "as without the shim" diff native.out told.out
check "and was reported" test "$(json told.json 'scalar @{$d->{relations}}')" -ge 6
around=$root/tests/lib/environment.sh
run native sh "$around" 'LD_PRELOAD|_SSPSTAT'
run told "$sspapi" stat --per-thread sh "$around" 'LD_PRELOAD|_SSPSTAT'
check "its environment, limits, signals, descriptors" diff native.out told.out
run own env LD_PRELOAD="$LD_PRELOAD:$preloads/empty.so" "$sspapi" stat --per-thread \
	sh -c 'echo "$LD_PRELOAD"'
is "the program's own preloads stay first" "$(cat own.out)" \
	"$LD_PRELOAD:$preloads/empty.so:/usr/\$LIB/../../../../../../../../../../../..$B/libsspapi-threads.so"
# (Give a program wrong values: another file, none, rubbish.)
for wrong in "" rubbish 1:2:/dev/null "0:0:/proc/self/fd/0" "1:2"; do
	run wrong env LD_PRELOAD="$LD_PRELOAD:$B/libsspapi-threads.so" _SSPSTAT="$wrong" \
		"$apps/thread-start"
	is "'$wrong': nothing happens" "$(status_of wrong) $(wc -c <wrong.err)" "0 0"
done

# A thread that is not the program's gets no counters, whatever it reports.
mkfifo board
"$sspapi" stat --per-thread -o stranger.json sh -c 'echo "$_SSPSTAT" >board; read -r _ <go' \
	2>stranger.err &
read -r where <board
run stranger env LD_PRELOAD="$LD_PRELOAD:$B/libsspapi-threads.so" _SSPSTAT="$where" \
	"$apps/counted" pages 100
timeout "$LIMIT" sh -c 'echo >go'
wait $!
is "a stranger has no row" "$(json stranger.json "scalar grep { \$_->{tid} == $(awk '{
	print $2 }' stranger.out) } @{\$d->{relations}}") $(json stranger.json \
	'scalar @{$d->{relations}}')" "0 2"

# ---- a command that does not answer --------------------------------------------------------------
# dead SIGNAL: sends it to the command when the program has begun; then the program makes its
# threads.
dead() {
	mkfifo "said-$1"
	HURRY=1 "$sspapi" stat --per-thread -o "$1.json" "$apps/counted" wait 5 50 \
		go >"said-$1" 2>"$1.err" &
	command=$!
	{
		read -r _
		kill "-$1" $command
		timeout "$LIMIT" sh -c ': >go'
		for _ in 1 2 3 4 5 6; do read -r line && echo "$line"; done >"$1.out"
	} <"said-$1"
	is "SIG$1: the program runs on" "$(grep -c faults "$1.out")" 6
	kill -CONT $command 2>/dev/null
	wait $command
	echo $? >"$1.status"
}
dead STOP
is "and counts that could not be reported are in the total" \
	"$(cat STOP.status) $([ "$(total STOP)" -ge 250 ]; echo $?) $(notes STOP \
	'not wait for counters')" "7 0 1"
dead KILL

# Each child of a shell is a process: one of them waits for the dead command, and later ones do not.
# (One more may have waited before: the shell itself, for a command that a loaded machine did not
# run for a second.)
HURRY=1 "$sspapi" stat --per-thread \
	sh -c 'kill -KILL $PPID; for n in 1 2 3 4 5; do (echo $n); done; exit' 2>&1 | cat >forks.out
is "processes that come later run on" "$(grep -c '^[1-5]$' forks.out)" 5
waits=$(grep -c 'waited in vain' forks.out)
check "and they wait one second in total, not one each" test "$waits" -le 2
done_testing
