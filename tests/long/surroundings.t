# Changes the program's surroundings in every way: it does not notice sspapi, and everything that
# PAPI returned is in the dump or can be recovered.
. tests/lib/lib.sh
steps=$B/tests/long/steps
cd "$tmp" || exit 1
chmod 755 .
mkdir live
LIMIT=20
ulimit -c 0
counts="begin a:5 read cpu:1 a:7 b:3 end"
want="EV_A/0=5 EV_A/1=7 EV_B/0=0 EV_B/1=3"

# totals FILE: prints EVENT/CPU=N ...
totals() {
	json "$1" 'my %t; my %n = map { $_->{id} => $_->{name} } @{$d->{events}};
		for my $r (@{$d->{relations}}) { for my $c (@{$r->{cpus}}) {
			$t{$n{$r->{events}[$_]} . "/" . ($c->{cpu} // "null")} += $c->{total}[$_]
			for 0 .. $#{$r->{events}} } }
		join " ", map { "$_=$t{$_}" } sort keys %t' 2>/dev/null
}

# kept: prints where the counts are: "dump", "store" (and a line says so), or "lost" (and a line
# says so)
kept() {
	[ "$(totals shim.json)" = "$want" ] && { echo dump; return; }
	[ "$(totals "jail$tmp/shim.json")" = "$want" ] && { echo "dump, in the jail"; return; }
	for kept_file in live/*.live; do
		rm -f kept.json
		"$B/sspapi" recover -o kept.json "$kept_file" >/dev/null 2>&1
		[ "$(totals kept.json)" = "$want" ] || continue
		# Killed by a signal, it cannot print a line.
		echo "store$([ "$(status_of shim)" -gt 128 ] || lines_of shim | grep -q recover ||
			echo ', no line')"
		return
	done
	lines_of shim | grep -q . && { echo "lost, with a line"; return; }
	[ -e shim.json ] && json shim.json '$d->{dropped}{readings} + $d->{dropped}{relations}' |
		grep -q '[1-9]' &&
		{ echo "lost, named in the dump"; return; }
	echo "lost, and nothing says so"
}

# as_native NAME: same streams except our lines, same status; the counts are in some file
as_native() {
	sed '/^sspapi: /d' shim.err >rest
	cp shim.err shim.lines
	mv rest shim.err
	cp shim.out shim.out1
	check "$1: the program sees no difference" same_as_native native shim
	cp shim.lines shim.err
	kept_where=$(kept)
	todo=$kept_todo
	check "$1: the counts are kept ($kept_where)" \
		sh -c "case '$kept_where' in *nothing*|*no\ line*) cat shim.err; exit 1; esac"
}
kept_todo=''

# both NAME STEP...
both() {
	both_name=$1
	shift
	rm -rf live/* jail/* shim.json
	# shellcheck disable=SC2086 # words
	run_native native $steps "$@"
	SSPAPI_LIVE=$tmp/live
	export SSPAPI_LIVE
	# shellcheck disable=SC2086
	run_shim shim $steps "$@"
	unset SSPAPI_LIVE
	as_native "$both_name"
}

# under LIMIT NAME STEP...: with a limit of the shell's, from the first instruction on
under() {
	under_limit=$1 both_name=$2
	shift 2
	rm -rf live/* jail/* shim.json
	run_native native sh -c "ulimit $under_limit; exec \"\$@\"" sh "$steps" "$@"
	SSPAPI_LIVE=$tmp/live SSPAPI_OUTPUT=$tmp/shim.json run shim \
		sh -c "ulimit $under_limit; LD_PRELOAD='$SHIM' exec \"\$@\"" sh "$steps" "$@"
	as_native "$both_name"
}
export SSPAPI_OUTPUT

both "(nothing special)" up set cpu:0 $counts print exit:3
is "(nothing special): a dump" "$kept_where" dump

# ---- limits ------------------------------------------------------------------------

# The least address space in which the program itself runs, and slightly more.
least=0
for mb in 4 5 6 7 8 10 12 14 16 20; do
	run_native native sh -c "ulimit -v $((mb * 1024)); exec \"\$@\"" sh "$steps" up set cpu:0 \
		$counts print exit:3
	[ "$(status_of native)" = 3 ] && { least=$mb; break; }
done
check "(the program lives in $least MB)" test "$least" -gt 0
loader=0
for more in 0 1 2 3 4 5 6 7 8 9 10 12 16 32 64; do
	# Too little for the loader to map sspapi at all: ld.so prints a message, as it should.
	run probe sh -c "ulimit -v $(((least + more) * 1024)); LD_PRELOAD='$SHIM' exec /bin/true"
	# And a MB more: our store and tables use memory that the program cannot have as well.
	run probe2 sh -c "ulimit -v $(((least + more - 1) * 1024)); LD_PRELOAD='$SHIM' exec '$steps' exit:3"
	[ "$(status_of probe2)" = 3 ] && [ ! -s probe2.err ] || continue
	loader=1
	under "-v $(((least + more) * 1024))" "$((least + more)) MB of address space" up set cpu:0 \
		$counts print exit:3
done
check "(some of these were tried)" test $loader = 1
both "the address space ends before the first call" as:16 up set cpu:0 $counts print exit:3
both "no data at all" up set data:0 cpu:0 $counts print exit:3
under "-s 128" "a stack of 128 KB" up set cpu:0 $counts print exit:3
both "three descriptors" nofile:3 up set cpu:0 $counts print exit:3
both "none from the middle on" up set cpu:0 begin a:5 read nofile:3 cpu:1 a:7 b:3 end print exit:3
under "-u 0" "no more processes" up set cpu:0 $counts print exit:3
# No signal, for any limit; the dump's own write would raise SIGXFSZ.
piped="perl $root/tests/lib/long-pipes.pl"
steps="$piped $steps"
for bytes in 0 1 4096 65536 100000; do
	both "files of $bytes bytes, from the start" fsize:$bytes up set cpu:0 $counts print exit:3
	both "files of $bytes bytes, from the middle on" up set cpu:0 begin a:5 read fsize:$bytes \
		cpu:1 a:7 b:3 end print exit:3
done
both "with its own handler of SIGXFSZ" sigxfsz fsize:0 up set cpu:0 $counts exit:3
steps=${steps#"$piped "}

# ---- descriptors -------------------------------------------------------------------

both "all descriptors closed before the first call" closeall up set cpu:0 $counts exit:3
both "in the middle" up set cpu:0 begin a:5 read closeall cpu:1 a:7 b:3 end exit:3
both "those above 2, twice" up set cpu:0 begin a:5 read closefrom:3 cpu:1 a:7 b:3 end closefrom:3 \
	print exit:3
for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
	rm -rf live/* jail/* shim.json
	run_native native sh -c "exec \"\$@\" $closed" sh "$steps" up set cpu:0 $counts exit:3
	SSPAPI_LIVE=$tmp/live run_shim shim sh -c "exec \"\$@\" $closed" sh "$steps" up set cpu:0 \
		$counts exit:3
	as_native "started with $closed"
done
# A descriptor that the program opens after it closed 2 is not ours to write to.
rm -rf live/* shim.json
SSPAPI_OUTPUT=$tmp/no/such/../file/x.json run shim env LD_PRELOAD="$SHIM" SSPAPI_LIVE="$tmp/live" \
	SSPAPI_FORMAT=xml \
	sh -c 'exec "$@" 2>&-' sh "$steps" up set begin a:1 end exit:3
is "no output of sspapi if 2 is closed" "$(cat shim.out shim.err)$(status_of shim)" 3

# ---- places ---------------------------------------------------------------------------

mkdir here
rm -rf live/* shim.json
(cd here && run_native native "$steps" up set cpu:0 begin a:5 read "chdir:$tmp/here" \
	"rmdir:$tmp/here" cpu:1 a:7 b:3 end print exit:3)
mkdir here
(cd here && SSPAPI_LIVE=$tmp/live run_shim shim "$steps" up set cpu:0 begin a:5 read \
	"chdir:$tmp/here" "rmdir:$tmp/here" cpu:1 a:7 b:3 end print exit:3)
as_native "the working folder is removed"
is "the working folder is removed: a dump" "$kept_where" dump
mkdir -p here
rm -rf live/*
(cd here && SSPAPI_OUTPUT=rel.json SSPAPI_LIVE=$tmp/live run shim env LD_PRELOAD="$SHIM" "$steps" \
	up set cpu:0 begin a:5 read "chdir:/" "rmdir:$tmp/here" cpu:1 a:7 b:3 end print exit:3)
cp here/rel.json shim.json 2>/dev/null
as_native "and was where the dump goes"
mkdir -p out
rm -rf live/*
SSPAPI_OUTPUT=$tmp/out/x.json run shim env LD_PRELOAD="$SHIM" SSPAPI_LIVE="$tmp/live" \
	"$steps" up set cpu:0 begin a:5 read "rmdir:$tmp/out" cpu:1 a:7 b:3 end print exit:3
cp out/x.json shim.json 2>/dev/null
as_native "the dump's folder is removed"
# Cut, overwrite or remove the live file of a running program.
# (Cutting it ends the program, as for any mapped file: sspapi-limits(7).)
for harm in ': >' 'rm -f' 'truncate -s 4096' 'truncate -s 10M' 'head -c 300000 /dev/urandom 1<>'; do
	rm -rf live/* jail/* shim.json
	: >harm.out			# the previous one also printed "ready"
	rm -f wait
	mkfifo wait
	SSPAPI_LIVE=$tmp/live SSPAPI_OUTPUT=$tmp/shim.json LD_PRELOAD=$SHIM timeout 20 \
		"$steps" up set cpu:0 begin a:5 read say:ready line cpu:1 a:7 b:3 end loop:3 set \
		begin a:1 end drop <wait >harm.out 2>harm.err &
	exec 9>wait
	while ! grep -q ready harm.out; do sleep 0.01; done
	live=$(echo live/*.live)	# a redirection does not expand it
	sh -c "$harm $live"
	echo >&9
	exec 9>&-
	wait $!
	status=$?
	case $harm in
	':'*|*4096)
		is "the live file: $harm" "$status $(cat harm.out)" "135 ready"
		continue ;;
	esac
	is "the live file: $harm" "$status $(cat harm.out) $(grep -vc '^sspapi: ' harm.err)" \
		"0 ready 0"
	case $harm in
	rm*) is "removed: the dump is whole" \
		"$(json shim.json \
		'$d->{relations}[0]{cpus}[0]{total}[0] + $d->{relations}[0]{cpus}[1]{total}[0]')" \
		12 ;;
	esac
done
# Cut after the last call of PAPI: a line, and the program ends as it would.
rm -rf live/* shim.json wait
: >harm.out
mkfifo wait
SSPAPI_LIVE=$tmp/live SSPAPI_OUTPUT=$tmp/shim.json LD_PRELOAD=$SHIM timeout 20 \
	"$steps" up set cpu:0 begin a:5 end drop say:ready line exit:3 <wait >harm.out 2>harm.err &
exec 9>wait
while ! grep -q ready harm.out; do sleep 0.01; done
for live in live/*.live; do truncate -s 4096 "$live"; done
echo >&9
exec 9>&-
wait $!
is "cut before the end: it ends as without the shim" "$? $(cat harm.out)" "3 ready"
check "cut before the end: a line says that counts are lost" grep -q "^sspapi: .*lost.*truncated" \
	harm.err

# ---- environment ------------------------------------------------------------------------

both "the environment is emptied before the first call" clearenv up set cpu:0 $counts print exit:3
is "emptied: a dump in its place" "$kept_where" dump
both "and in the middle" up set cpu:0 begin a:5 read clearenv cpu:1 a:7 b:3 end print exit:3
rm -rf live/* shim.json
run_native native env -i "$steps" up set cpu:0 $counts print exit:3
run shim env -i LD_PRELOAD="$SHIM" SSPAPI_OUTPUT="$tmp/shim.json" "$steps" up set cpu:0 $counts \
	print exit:3
as_native "env -i"
rm -rf live/* shim.json
run_native native sh -c 'exec "$0" "$@"' "$steps" up set cpu:0 $counts print exit:3
SSPAPI_LIVE=$tmp/live run_shim shim env X="$(head -c 100000 /dev/zero | tr '\0' x)" "$steps" up \
	set cpu:0 $counts print exit:3
as_native "an environment of 100 KB"

# ---- signals ----------------------------------------------------------------------------

both "its own handler of SIGBUS" sigbus up set cpu:0 $counts kill:7 print exit:3
both "and one that it installs later" up set cpu:0 begin a:5 read sigbus cpu:1 a:7 b:3 end kill:7 \
	print exit:3
for end in abort kill:7 kill:11 kill:15 kill:6; do
	both "$end" up set cpu:0 $counts print $end
	check "$end: a store" sh -c "case '$kept_where' in store*) ;; *) exit 1; esac; true"
done
for end in _exit:4 quick_exit:5 exec:/bin/pwd vfork:/bin/pwd; do
	both "$end" up set cpu:0 $counts print $end
	is "$end: a dump" "$kept_where" dump
done

# ---- users ------------------------------------------------------------------------------

if [ "$(id -u)" != 0 ]; then
	skip "chroot, setuid" "needs root"
	done_testing
	exit 0
fi
mkdir jail
kept_todo=''
both "chroot before the first call" "chroot:$tmp/jail" up set cpu:0 $counts print exit:3
both "chroot in the middle" up set cpu:0 begin a:5 read "chroot:$tmp/jail" cpu:1 a:7 b:3 end \
	print exit:3
chmod 700 live
both "setuid before the first call" setuid:65534 up set cpu:0 $counts print exit:3
chmod 777 live
both "setuid in the middle" up set cpu:0 begin a:5 read setuid:65534 cpu:1 a:7 b:3 end print exit:3
both "setuid, and a child" up set cpu:0 begin a:5 read cpu:1 a:7 b:3 end setuid:65534 print fork \
	up set begin a:1 end exit:3
# Set-user-ID: the loader does not load us, without a message.
cp -r "$B/tests/fake/libpapi.so.7.0" .
cp "$steps" suid
chmod 4755 suid
run_native native setpriv --reuid=65534 --regid=65534 --clear-groups env LD_LIBRARY_PATH="$tmp" \
	./suid exit:3
rm -rf live/* shim.json
run_shim shim setpriv --reuid=65534 --regid=65534 --clear-groups ./suid exit:3
check "set-user-ID: the program sees no difference" same_as_native native shim
done_testing
