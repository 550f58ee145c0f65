# attach.sh: counts tests/apps/spawner, which creates threads all the time, once; exit 0 if each
# thread has the counts that it printed.
# usage: attach.sh BUILD ROOT SEED [PREFIX...]	in an empty folder; the command runs behind PREFIX
build=$1 root=$2 seed=$3
shift 3
forks=$((seed % 3 * (seed % 5 + 1)))
mkfifo in out
"$build/tests/apps/spawner" "$seed" $((seed % 4 + 1)) $((seed * 7 % 60 + 5)) $forks \
	$((100 + seed * 37 % 900)) in out >said &
pid=$!
trap 'kill -KILL $pid 2>/dev/null' EXIT	# (it waits for the last word)
exec 3<>in 4<>out
echo mark >&3
read -r _ <&4
"$@" stat -p $pid --per-thread -o counted.json \
	sh -c 'echo go >&3; read -r _ <&4; echo end >&3; read -r _ <&4; exit 7' 2>err
status=$?
[ $status = 7 ] || { echo "status $status"; cat err; exit 1; }
echo exit >&3
wait $pid
grep -q 'counting [1-9][0-9]* thread' err || { cat err; exit 1; }
perl "$root/tests/lib/check-attached.pl" counted.json said
