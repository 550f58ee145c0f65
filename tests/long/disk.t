# Fills the disk under the live file, under the dump, under both: the program is unharmed, a line
# reports the problem, and nothing that was recorded before is lost.
. tests/lib/lib.sh
tight=$B/tests/long/fill-store
cd "$tmp" || exit 1
[ "$(id -u)" = 0 ] || skip_all "needs root, to mount a small disk"
mkdir small
mount -t tmpfs -o size=128k none small 2>/dev/null || skip_all "cannot mount a tmpfs here"
trap 'umount -l "$tmp/small" "$tmp/few" 2>/dev/null; chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT
LIMIT=60
few="100 4 7"		# sets, threads, events of each: some 300 KB

fill() {
	dd if=/dev/zero of="$1/full" bs=1k 2>/dev/null
}
empty() {
	rm -f small/* small/.[!.]* shim.json rec.json
}
# same NAME: as natively, except our lines
same() {
	cp shim.err shim.lines
	sed -i '/^sspapi: /d' shim.err
	check "$1: the program sees no difference" same_as_native native shim
	mv shim.lines shim.err
}
# first FILE: prints the reading from before the disk was full
first() {
	json "$1" 'my ($e) = grep { $_->{name} eq "EV_C" } @{$d->{events}}; my $n = 0;
		for my $r (@{$d->{relations}}) { $n += $_->{total}[0] for grep { $e &&
		$r->{events}[0] == $e->{id} } @{$r->{cpus}} } $n'
}
nothing_left() {
	is "$1: nothing is left there" "$(ls -A small)" "${2-}"
}

# shellcheck disable=SC2086 # words, all through this file
run_native native "$tight" $few
SSPAPI_LIVE=$tmp/small run_shim shim "$tight" $few
same "live file, full while counting"
check "the dump holds all" has_returned shim
check "and one line says that a kill would lose some" said shim "live"
nothing_left "live file, full while counting"

empty
fill small
SSPAPI_LIVE=$tmp/small run_shim shim "$tight" $few
same "full from the beginning"
check "full from the beginning: the dump holds all" has_returned shim
check "full from the beginning: one line says so" said shim SSPAPI_LIVE killed
nothing_left "full from the beginning" full

empty
run_native killed "$tight" $few 9
SSPAPI_LIVE=$tmp/small run_shim shim "$tight" $few 9
check "killed then: as natively" same_stream killed shim status
run rec "$B/sspapi" recover -o rec.json small/*.live
check "killed then: there is a dump" json rec.json '$d->{format}'
is "killed then: what was read before is in it" "$(first rec.json)" 1000
check "killed then: a line says that it is not all" grep -q "^sspapi recover: .*full" rec.err

# ---- under the dump ------------------------------------------------------------------

empty
mkdir live
fill small
SSPAPI_OUTPUT=$tmp/small/x.json SSPAPI_LIVE=$tmp/live run shim env LD_PRELOAD="$SHIM" "$tight" $few
same "output, full"
check "output, full: one line with the file, the reason and a fix" said shim "$tmp/small/x.json" \
	"No space left" recover
nothing_left "output, full" full
run rec "$B/sspapi" recover live/*.live
is "recover there: 1, one line, and the store stays" \
	"$(status_of rec) $(wc -l <rec.err) $(ls live | wc -l)" "1 1 1"
check "the line has the reason" grep -q "No space left" rec.err
nothing_left "recover there" full
cp native.out rec2.out
run rec "$B/sspapi" recover -o rec2.json live/*.live
check "recover to another place: it is complete" has_returned rec2

# The disk fills up in the middle of the dump: 100 KB are free, the dump is larger.
empty
rm -rf live/*
head -c 60000 /dev/zero >small/half
SSPAPI_OUTPUT=$tmp/small/x.txt SSPAPI_FORMAT=csv,json,text,store SSPAPI_LIVE=$tmp/live run shim \
	env LD_PRELOAD="$SHIM" "$tight" 200 4 7
run_native native "$tight" 200 4 7
same "output, full in the middle"
check "output, full in the middle: a line, and the store stays" \
	sh -c "grep -q '^sspapi: .*No space' shim.err && ls live/*.live"
is "no part of a dump is left" "$(ls -A small | grep -c '^\.')" 0
for f in small/x.*; do
	[ -e "$f" ] || continue
	case $f in
	*.json) check "x.json is whole" json "$f" '$d->{format}' ;;
	*.sspapi) check "x.sspapi is whole" "$B/sspapi" report "$f" ;;
	esac
done
rm -f rec2.json
cp native.out rec2.out
run rec "$B/sspapi" recover -o rec2.json live/*.live
check "recovered: it is complete" has_returned rec2

# ---- under both ------------------------------------------------------------------------

empty
run_native native "$tight" $few
SSPAPI_LIVE=$tmp/small SSPAPI_OUTPUT=$tmp/small/x.json run shim env LD_PRELOAD="$SHIM" "$tight" $few
same "both"
check "both: a line" grep -q "^sspapi: .*small/x.json.*No space" shim.err
run rec "$B/sspapi" recover -o rec.json small/*.live
is "both: what was read before is not lost" "$(first rec.json)" 1000

# ---- files, not bytes ---------------------------------------------------------------------

umount small
mkdir few
mount -t tmpfs -o nr_inodes=2 none few
: >few/only
SSPAPI_LIVE=$tmp/few run_shim shim "$tight" $few
same "no inode for the live file"
check "no inode for the live file: the dump holds all" has_returned shim
rm -f few/only live/*
SSPAPI_LIVE=$tmp/few SSPAPI_OUTPUT=$tmp/few/x.json run shim env LD_PRELOAD="$SHIM" "$tight" $few
same "no inode for the dump"
check "no inode for the dump: a line" said shim "$tmp/few/x.json" "No space left"
cp native.out rec2.out
rm -f rec2.json
run rec "$B/sspapi" recover -o rec2.json few/*.live
check "and the store is whole" has_returned rec2
umount few

# ---- the standard place ---------------------------------------------------------------------

if unshare -m true 2>/dev/null; then
	for shm in size=128k size=4k nr_inodes=1,size=1m; do
		rm -f shim.json
		cat >shm.sh <<-END
			mount -t tmpfs -o $shm none /dev/shm || exit 9
			"\$@"
			status=\$?
			ls -A /dev/shm >shm.left
			exit \$status
		END
		run_shim shim unshare -m sh shm.sh "$tight" $few
		same "/dev/shm, $shm"
		check "/dev/shm, $shm: the dump holds all" has_returned shim
		is "/dev/shm, $shm: nothing is left there" "$(cat shm.left)" ""
	done
	cat >shm.sh <<-END
		mount -t tmpfs -o ro none /dev/shm || exit 9
		exec "\$@"
	END
	run_shim shim unshare -m sh shm.sh "$tight" $few
	same "/dev/shm, read-only"
	check "/dev/shm, read-only: the dump holds all" has_returned shim
else
	skip "a small /dev/shm" "no mount namespaces here"
fi
done_testing
