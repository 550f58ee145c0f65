# Runs make demo where the kernel forbids counting: it reports what forbids it, and the command that
# permits it.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
"$apps/denies" gettid true || skip_all "no seccomp"
demo=$root/scripts/demo

# demo NAME COMMAND...: starts the demo by the command
demo() {
	to=$1
	shift
	run "$to" "$@" "$apps/denies" perf_event_open sh -c 'cd "$1" && B=$2 "$3"' sh "$root" \
		"$B" "$demo"
}

demo denied
is "a sandbox forbids it: the demo fails" "$(status_of denied)" 1
check "and reports that nothing can be counted" grep -q '^demo: nothing .* can be counted here' \
	"$tmp/denied.err"
# (If libpfm4 does not support the CPU, that is one more finding.)
is "and what forbids it, with a fix" \
	"$(grep -A1 '^  BAD  perf_event_open is refused (Permission denied)' "$tmp/denied.err" |
	grep -c '^  BAD\|^       do: ')" 2
is "and no other finding" "$(grep -cE '^  (ok|note|-) |^[a-ce-z]' "$tmp/denied.err")" 0

# Debian's and Ubuntu's kernels have levels 3 and 4: mount another file over the kernel's.
paranoid=/proc/sys/kernel/perf_event_paranoid
echo 4 >"$tmp/paranoid"
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	as_nobody
	chmod 644 "$tmp/paranoid"
	as=$user user=
	cp "$sspapi" "$tmp/built"
	cp -r "$root/scripts" "$root/tests" "$tmp/nobody"
	B=$tmp/built root=$tmp/nobody demo=scripts/demo
	# shellcheck disable=SC2086 # words
	demo level unshare -m sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' \
		sh "$tmp/paranoid" $paranoid $as
	is "the setting forbids it: the demo fails" "$(status_of level)" 1
	is "and names the files, and the command" \
		"$(grep -c "^  BAD  perf_event_paranoid is 4: " \
		"$tmp/level.err") $(grep -c \
		'^       do: sudo sysctl kernel.perf_event_paranoid=2 ' "$tmp/level.err")" "1 1"
	is "once" "$(grep -c 'BAD.*perf_event_[po]' "$tmp/level.err")" 1
else
	skip "a setting that forbids it" "not root"
fi
done_testing
