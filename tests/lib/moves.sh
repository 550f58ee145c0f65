# shellcheck shell=sh
# moves.sh: functions for the cases of SSPAPI_ATTRIBUTION; source it after lib.sh.
need_real_papi
[ "$(nproc)" -ge 2 ] || skip_all "only one CPU to run on"

# moves MODE PROGRAM ARGUMENT...: runs it natively and under the mode
moves() {
	mode=$1
	shift
	run_native native "$@"
	SSPAPI_ATTRIBUTION=$mode run_shim shim "$@"
	label="$mode: $(basename "$1") $2${3:+ $3}"
}

# moved MODE FORM PROGRAM ARGUMENT...: the dump passes check-moves.pl's FORM
moved() {
	mode=$1 form=$2
	shift 2
	moves "$mode" "$@"
	check "$label: the program sees no difference" same_as_native native shim
	check "$label: the dump is right ($format)" perl tests/lib/check-moves.pl "$form" \
		"$tmp/shim.out" "$tmp/shim.json"
}

cpus() {
	json "$tmp/shim.json" 'map { "$_->{total}[0]/$_->{exact}[0]" }
		map { @{$_->{cpus}} } @{$d->{relations}}' | tr '\n' ' '
}
