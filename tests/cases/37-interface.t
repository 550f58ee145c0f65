# Runs programs that use sspapi.h with real PAPI: linked to it before libpapi or after it, or with
# it preloaded. Their queries return the right values, and the dump has what PAPI returned to them.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
need_real_papi

# one LABEL LD_PRELOAD PROGRAM...
one() {
	label=$1 with=$2
	shift 2
	run shim env LD_LIBRARY_PATH="$B" LD_PRELOAD="$with" SSPAPI_OUTPUT="$tmp/shim.json" "$@"
	if [ "$(status_of shim)" = 77 ]; then
		skip "$label" "$(tail -n 1 "$tmp/shim.err")"
		return
	fi
	check "$label: its queries return the right values" is_equal \
		"$(status_of shim) $(grep '^wrong' "$tmp/shim.out")" "0 "
	check "$label: the dump has what PAPI returned" has_returned shim
}

for app in basics "threads 4" migration handover; do
	# shellcheck disable=SC2086 # words
	one "$app" "$MORE" $apps/api/$app
	# shellcheck disable=SC2086
	one "$app, behind libpapi" "$MORE" $apps/api/behind/$app
	# shellcheck disable=SC2086
	one "$app, preloaded" "$SHIM:$MORE" $apps/api/behind/$app
	SSPAPI_READINGS=permanent one "$app, all permanent" "$MORE" "$apps/api/${app%% *}"
done
# Every setting that changes how a reading is attributed: the program's queries have the same
# results.
for setting in ATTRIBUTION=residency ATTRIBUTION=exact ATTRIBUTION=reading CALLSITES=0 \
	CALLSITES=16 READINGS=permanent LIVE=0; do
	for app in basics "threads 4" migration; do
		[ "$setting $app" != "ATTRIBUTION=residency migration" ] ||
			continue	# it moves with counts not read
		export "SSPAPI_$setting"
		# shellcheck disable=SC2086
		one "$app, $setting" "$MORE" $apps/api/$app
		unset "SSPAPI_${setting%%=*}"
	done
done
SSPAPI_ATTRIBUTION=exact SSPAPI_READINGS=permanent SSPAPI_CALLSITES=16 one \
	"migration, all of them" "$MORE" "$apps/api/migration"
is "migration, all of them: its reading calls are call sites" \
	"$(json "$tmp/shim.json" 'my %s = map { $_->{to} => 1 }
	map { @{$_->{intervals}} } @{$d->{relations}};
	scalar grep { $_ && @{$d->{callsites}[$_]{frames}} &&
	$d->{callsites}[$_]{frames}[0]{module} =~ m,/migration$, } keys %s' |
	sed 's/^[1-9].*/some/')" some
MORE=${MORE:+$MORE:}$REAL_PAPI_HW2SW
# sys-sage's own example, as its users write it: in C++, walking the tree, with presets that count
# on this machine.
example() {
	run shim env LD_LIBRARY_PATH="$B" LD_PRELOAD="$2" SSPAPI_OUTPUT="$tmp/shim.json" \
		"$apps/api/examples"
	case $(status_of shim) in
	77) skip "$1" "PAPI cannot count that here" ;;
	*) is "$1" "$(status_of shim) $(grep '^wrong' "$tmp/shim.out")$(cat "$tmp/shim.err")" \
		"0 " ;;
	esac
}
if [ -x "$apps/api/examples" ]; then
	example "C++, preloaded" "$SHIM:$MORE"
	example "C++" "$MORE"
	is "C++: attached to a CPU before the first start: counted there" \
		"$(json "$tmp/shim.json" 'sort map { $_->{target}{kind} } @{$d->{relations}}' |
		uniq)" cpu
else
	skip "C++" "no compiler for it"
fi
one "monitor (another process)" "$MORE" "$apps/api/monitor"
one "monitor, behind libpapi" "$MORE" "$apps/api/behind/monitor"
one "monitor, preloaded" "$SHIM:$MORE" "$apps/api/monitor"
done_testing
