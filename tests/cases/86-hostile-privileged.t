# Runs a program with more rights than its user, linked to libsspapi: its environment is a
# stranger's.
. tests/lib/lib.sh
case $SHIM in *:*) skip_all "a sanitizer's run time wants to be first in LD_PRELOAD" ;; esac
[ "$(id -u)" = 0 ] || skip_all "only root can give a program rights"
command -v setpriv >/dev/null || skip_all "no setpriv"
as_nobody
built=$tmp/built
program=$tmp/privileged
# $ORIGIN means nothing in a privileged program.
${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O1 -Itests -o "$program" tests/scenes/one.c -L"$built" \
	-Wl,--no-as-needed -lsspapi \
	"$built/tests/fake/libpapi.so.7.0" -Wl,-rpath,"$built:$built/tests/fake" -pthread ||
	skip_all "no compiler"
cat >"$tmp/secure.c" <<'END'
#include <stdio.h>
#include <sys/auxv.h>
int main(void) { printf("%lu\n", getauxval(AT_SECURE)); return 0; }
END
${CC:-gcc} -o "$tmp/secure" "$tmp/secure.c"
lives() { grep -lsF "$program" /dev/shm/sspapi.*.live; }

# privileged HOW COMMAND...: gives the programs these rights, and does the rest by them
privileged() {
	how=$1
	shift
	chown 0:0 "$program" "$tmp/secure"
	"$@" "$program" && "$@" "$tmp/secure" || { skip "$how" "cannot be given here"; return; }
	cd "$tmp/nobody" || exit 1
	rm -rf ./* "$tmp/victim"
	run secure "$tmp/secure"
	cd "$root" || exit 1
	[ "$(cat "$tmp/secure.out")" = 1 ] ||
		{ skip "$how" "the kernel does not honour it in $tmp"; return; }
	attack
}

# Attacks: a file of root's, a folder of root's, a link to it, a metric in the environment.
attack() {
	cd "$tmp/nobody" || exit 1
	: >"$tmp/start"
	(umask 077; echo secret >"$tmp/victim")
	run plain "$program"
	is "$how: it runs" "$(status_of plain) $(lines_of plain)" "0 "
	is "$how: the dump belongs to its user" "$(stat -c '%U' sspapi.* | sort -u)" nobody
	rm -f sspapi.*
	run shim env SSPAPI_OUTPUT="$tmp/victim" SSPAPI_FORMAT=json "$program"
	is "$how, SSPAPI_OUTPUT names a file of root's: it stays" \
		"$(cat "$tmp/victim"; stat -c '%a %U' "$tmp/victim")" "secret
600 root"
	check "$how, SSPAPI_OUTPUT: said" said shim "SSPAPI_OUTPUT: all variables are ignored"
	is "$how: the dump has the default's name" \
		"$(ls | sed 's/\.[^.]*\.[0-9]*\./.HOST.PID./' | tr '\n' ' ')" \
		"sspapi.privileged.HOST.PID.sspapi sspapi.privileged.HOST.PID.txt "
	rm -f sspapi.*
	run shim env SSPAPI_OUTPUT="$tmp/new" SSPAPI_LIVE="$tmp" SSPAPI_FORMAT=store \
		SSPAPI_TOPOLOGY="$tmp/victim" SLURM_JOB_ID=../x "$program"
	is "$how: nothing is made where only root may write" \
		"$(ls "$tmp"/new* "$tmp"/sspapi.* 2>/dev/null)" ""
	rm -f sspapi.*
	run shim env PAPI_CSV_EVENT_FILE=of-a-stranger PAPI_USER_EVENTS_FILE=of-a-stranger \
		LD_AUDIT=of-a-stranger.so "$program"
	is "$how: the dump has no other variable" "$(cat sspapi.* | grep -c of-a-stranger)" 0
	rm -f sspapi.*
	run shim env SSPAPI_SIGNAL=USR1 SSPAPI_DISABLE=1 "$program"
	is "$how, SSPAPI_DISABLE=1: no dump" "$(ls)" ""
	# A link has the default's name before the dump: future pids can be guessed.
	perl -e 'my ($link, $host, @run) = @ARGV; my $pid = fork;
		if (!$pid) { symlink $link, "sspapi.privileged.$host.$$.txt" or die; exec @run } waitpid $pid, 0' \
		"$tmp/victim" "$(uname -n)" $user "$program" >/dev/null 2>"$tmp/link.err"
	is "$how, a link in the dump's place: its target stays" "$(cat "$tmp/victim")" secret
	cd / && run shim sh -c "cd '$tmp' && exec '$program'"
	is "$how, in a folder of root's: no dump" "$(ls "$tmp"/sspapi.* 2>/dev/null)" ""
	check "$how, in a folder of root's: reported" said shim "the dump was not written" \
		"Permission denied"
	is "$how: no live file" "$(lives)" ""
	cd "$root" || exit 1
}

privileged "set-user-ID" chmod 4755
chmod 755 "$program" "$tmp/secure"
privileged "set-group-ID" chmod 2755
chmod 755 "$program" "$tmp/secure"
command -v setcap >/dev/null && privileged "file capabilities" setcap cap_dac_override+ep
setcap -r "$program" -r "$tmp/secure" 2>/dev/null
run_native secure "$tmp/secure"
is "(with no more rights it is an ordinary program)" "$(cat "$tmp/secure.out")" 0
cd "$tmp/nobody" && rm -rf ./* && run shim env SSPAPI_OUTPUT="$tmp/nobody/x.json" "$program"
is "with no more rights the variables are used" "$(ls)" x.json
done_testing
