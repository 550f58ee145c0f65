# Several threads that end the process at the same moment: there is one dump, whole, and nothing else.
. tests/lib/lib.sh
LIMIT=40

# ends TIMES STATUSES THREADS WAY...: each time one of these statuses, the dump with what was handed out,
# no piece of one, no live file
ends() {
	times=$1 statuses=$2
	shift 2
	label="$*"
	check "$label, $times times: one dump, whole, and nothing else" end_all "$@"
}

end_all() {
	i=0
	while [ $i -lt "$times" ]; do
		rm -rf "$tmp/d" "$tmp/live" "$tmp/shim.json"
		mkdir "$tmp/live"
		SSPAPI_OUTPUT=$tmp/d/x.json SSPAPI_FORMAT=json,store SSPAPI_LIVE=$tmp/live run_shim shim "$scenes/exits" "$@"
		case " $statuses " in *" $(status_of shim) "*) ;; *) echo "run $i: status $(status_of shim)"; return 1 ;; esac
		is_equal "run $i: $(ls -A "$tmp/d" | tr '\n' ' ')$(ls -A "$tmp/live")" "run $i: x.json x.sspapi " || return 1
		perl tests/lib/check-handed.pl "$tmp/d/x.json" "$tmp/shim.out" || return 1
		i=$((i + 1))
	done
}

export SSPAPI_FORMAT SSPAPI_LIVE
ends 5 4 64 exit
ends 5 4 16 exit return
ends 5 4 16 return exit
ends 5 4 16 _exit exit
ends 5 4 16 exit _exit
ends 5 4 16 quick_exit
ends 5 4 16 exit quick_exit _exit
ends 5 4 2 exit exit
ends 5 4 2 return _exit

# One more that kills meanwhile: what is not in a dump is in the live file.
killed() {
	i=0
	while [ $i -lt 5 ]; do
		rm -rf "$tmp/d" "$tmp/live" "$tmp/shim.json"
		mkdir "$tmp/live"
		SSPAPI_OUTPUT=$tmp/d/x.json SSPAPI_FORMAT=json SSPAPI_LIVE=$tmp/live run_shim shim "$scenes/exits" 8 exit term
		cp "$tmp/d/x.json" "$tmp/shim.json" 2>/dev/null || "$B/sspapi" recover -o "$tmp/shim.json" "$tmp"/live/*.live || return 1
		perl tests/lib/check-handed.pl "$tmp/shim.json" "$tmp/shim.out" || return 1
		i=$((i + 1))
	done
}
check "exit beside a signal that kills, 5 times: a dump, or a live file that makes it" killed
done_testing
