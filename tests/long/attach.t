# Tests sspapi stat -p with 200 random programs that create threads all the time.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
cd "$tmp" || exit 1
run try "$sspapi" stat --per-thread -f json true
[ "$(status_of try)" = 0 ] || skip_all "the kernel lets nobody count here: $(cat "$tmp/try.err")"
! grep -q 'libsspapi-threads.so in the program reported' try.err || skip_all "this kernel writes no rows"
seed=$(date +%s)
runs=$(bounded 200 8)
echo "# $runs runs, seeds from $seed on"
i=0
while [ $i -lt "$runs" ]; do
	rm -rf one
	mkdir one
	check "seed $((seed + i))" \
		sh -c 'cd one && exec timeout -k 1 300 sh "$1" "$2" "$3" "$4" "$5"' \
		sh "$root/tests/lib/attach.sh" "$B" "$root" $((seed + i)) "$sspapi"
	i=$((i + 1))
done
done_testing
