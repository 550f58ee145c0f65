# Runs tests/cases/93-api-random.t longer: more seeds, more threads than CPUs, all settings.
. tests/lib/lib.sh
SSPAPI_TOPOLOGY='synthetic:core:4 pu:2'
export SSPAPI_TOPOLOGY
LIMIT=300

random() {
	label=$1 program=$2
	shift 2
	run shim env SSPAPI_OUTPUT="$tmp/shim.json" "$B/tests/$program" "$@"
	if [ "$(status_of shim)" != 0 ] || ! has_returned shim --no-cpu >"$tmp/books"; then
		echo "# $label: $program $*: $(status_of shim) $(grep '^wrong' \
			"$tmp/shim.out") $(head -n 3 "$tmp/books")" >&2
		bad=$((bad + 1))
	fi
	rm -f "$tmp/shim.json"
}

for settings in attribution=reading attribution=residency attribution=exact attribution=auto \
	readings=permanent callsites=8 callsites=0 live=0; do
	name=SSPAPI_$(echo "${settings%=*}" | tr a-z A-Z)
	bad=0
	export "$name=${settings#*=}"
	for seed in $(bounded "11 12 13 $$" $$); do
		random "$settings" api-random "$seed" "$(bounded 5000 500)" 4
		random "$settings" api-random-scripted "$seed" "$(bounded 5000 500)" 4
	done
	random "$settings" api-random $$ "$(bounded 1000 60)" 32
	random "$settings" api-random-scripted $$ "$(bounded 1000 60)" 32
	unset "$name"
	is "$settings: random sequences with errors" "$bad" 0
done
done_testing
