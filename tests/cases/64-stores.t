# Reads the stores of every released version and of the current one: one of a process with counts,
# gauges, floating-point counts and places (tests/scenes/kinds, SSPAPI_READINGS=permanent); the same
# merged with another process (tests/scenes/one -n 2); and the live file of a killed process
# (tests/scenes/life kill). tests/stores/make made each by the code of its version.
. tests/lib/lib.sh
stores=$root/tests/stores
[ "$(printf '\1\0' | od -An -td2 | tr -d ' ')" = 1 ] ||
	skip_all "the stores are of a machine of the other byte order"
cd "$tmp" || exit 1

sed -E 's/^([^ ]+) [^ ]* (([^ ]+ ){4}[^ ]+)$/\1 \2/' "$root/tests/lib/kinds.want" |
	sort >process.want	# (old ones have no places of gauges)
printf '%s\n' 'EV_A 0 10' 'EV_A 1 14' 'EV_B 0 0' 'EV_B 1 6' | sort - process.want >merged.want

# reads FILE WANT LABEL: reads it in every format; the only messages are that its programs are
# missing here, and its own note
reads() {
	for form in json text csv hwloc; do
		run "$form" "$sspapi" report -f $form "$1"
		is "$3: $format" \
			"$(status_of $form)$(grep -vE \
			'call sites in it have no names$|PAPI_start does not zero' $form.err)" 0
	done
	NO_PLACES=1 json json.out "$(cat "$root/tests/lib/kinds.pl")" | sort >got
	check "$3: each value is where it was counted" diff "$2" got
}

number() {
	sed -nE "s/^#define SP_FORMAT_$1[[:space:]]+([0-9]+)u.*/\\1/p" "$root/core/store/layout.h"
}
version=$(number VERSION) oldest=$(number OLDEST)
v=$((oldest - 1))
while [ $((v += 1)) -le "$version" ]; do
	for kind in process merged; do
		gzip -dc "$stores/v$v-$kind.sspapi.gz" >v$v-$kind.sspapi
		is "version $v, $kind: it is of that version" \
			"$(od -An -j12 -N2 -td2 v$v-$kind.sspapi | tr -d ' ')" $v
		reads v$v-$kind.sspapi $kind.want "version $v, $kind"
	done
	is "version $v: the permanent readings" \
		"$("$sspapi" report --readings v$v-process.sspapi | cut -d, -f 8-10 | grep EV_A)" \
		"0,EV_A,7
1,EV_A,12
1,EV_A,12
1,EV_A,12"
	is "version $v: a floating-point counter's" \
		"$("$sspapi" report --readings v$v-process.sspapi | grep -c FLOPS)" 3
	gzip -dc "$stores/v$v-killed.live.gz" >v$v-killed.live
	run killed "$sspapi" report -f json v$v-killed.live
	is "version $v: the live file of a killed process, with records that are not folded" \
		"$(status_of killed) $(json killed.out \
		'join " ", $d->{process}{end}, $d->{components}[0]{total}{EV_A}')" "0 snapshot 5"
	is "version $v: merged once more" \
		"$("$sspapi" merge -o again.sspapi v$v-merged.sspapi 2>&1)$?" 0
	reads again.sspapi merged.want "version $v, merged once more"
done
for kind in process merged; do
	run all "$sspapi" report -f json v?-$kind.sspapi
	is "all versions, $kind: one report, each counted" \
		"$(status_of all)$(grep -v 'call sites in it have no names$' \
		all.err) $(json all.out '$d->{components}[0]{total}{READ_BYTES}')" \
		"0 $((100 * (version + 1 - oldest)))"
done

# Stores that this code does not read, by their own version: a future one, and one before the first
# release, with shorter headers.
for kind in process merged; do
	{ head -c 14 v"$version"-$kind.sspapi; printf '\143\0'
	tail -c +17 v"$version"-$kind.sspapi; } >newer.sspapi
	perl -e 'local $/; $_ = <>; substr($_, 12, 8) = pack "vvV", 3, 1, 400; print' \
		v"$version"-$kind.sspapi >older.sspapi
	head -c 400 older.sspapi >short.sspapi
	for age in newer older short; do
		why='written by a newer sspapi'
		[ $age = newer ] || why='written by sspapi before 0.3'
		for verb in report 'merge -o refused.sspapi' "diff v$version-$kind.sspapi"; do
			run refused "$sspapi" $verb $age.sspapi
			is "$kind, $age: refused by ${verb%% *} in one line" \
				"$(grep -c "$age.sspapi" \
				refused.err) $(grep -c "$age.sspapi: $why" refused.err)" "1 1"
			check "$kind, $age: ${verb%% *} fails" test "$(status_of refused)" != 0
		done
	done
done
done_testing
