# Makes each system call of sspapi that may fail do so, one after the other: the program does not
# notice, and its counts are in the dump or in the live file, or a line says what is missing.
. tests/lib/lib.sh
steps=$B/tests/long/steps
FAULTS=$preloads/faults.so
export B SHIM FAULTS
mkdir "$tmp/work" "$tmp/work/live"
case $SHIM in *:*) skip_all "the sanitizer's own calls are not told apart" ;; esac

every=$(bounded 1 11)
madvise=28	# MADV_WIPEONFORK

# each NAME [OPTION VALUE]... PROGRAM...: all but madvise, then that
each() {
	each_name=$1
	shift
	check "$each_name" perl tests/lib/long-faults.pl --every "$every" --but $madvise "$@"
	echo "# $(tail -n 1 "$tmp/.said")"
	todo=$each_todo
	check "$each_name: a kernel without MADV_WIPEONFORK" perl tests/lib/long-faults.pl --only \
		$madvise "$@"
}

each_todo=
each "start to exit" "$tmp/work" "$steps" up set cpu:0 begin a:5 read cpu:1 a:7 b:3 end print exit:3
each "a thread and a child, _exit" "$tmp/work" "$steps" up thread set cpu:0 begin a:5 read end \
	print drop join \
	fork up set cpu:1 begin a:100 read end print _exit:4
SSPAPI_FORMAT=text,json,csv,store
export SSPAPI_FORMAT
each "four forms" "$tmp/work" "$steps" up set cpu:0 begin a:5 read end print
unset SSPAPI_FORMAT
SSPAPI_SIGNAL=URG
export SSPAPI_SIGNAL
each "a snapshot first" "$tmp/work" "$steps" up set cpu:0 begin a:5 read kill:23 a:6 read end print
unset SSPAPI_SIGNAL
# An earlier run's dump has the dump's name: it is moved away, then replaced.
each "over an earlier one" --prepare "echo old >x.json; sleep 0.02" "$tmp/work" "$steps" up set \
	cpu:0 begin a:5 read end print exit:1
done_testing
