# Combines settings while threads are moved, signalled and forked from: the sums of every dump are
# what PAPI returned to the program. Here each two values are combined; tests/long/stress.t has all.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
need_real_papi
[ "$(nproc)" -ge 2 ] || skip_all "only one CPU to run on"

# one FORM READINGS ATTRIBUTION CALLSITES LIVE [ROUNDS [SEED]]
one() {
	rm -rf "$tmp/d"
	mkdir "$tmp/d"
	SSPAPI_OUTPUT=$tmp/d/%p.json run_shim shim env SSPAPI_READINGS="$2" \
		SSPAPI_ATTRIBUTION="$3" SSPAPI_CALLSITES="$4" \
		SSPAPI_LIVE="$5" "$apps/stress" "$1" "${6:-150}" "${7:-$$}"
	label="$*"
	is "$label: the program passes its own checks" \
		"$(status_of shim) $(grep -v '^handed' "$tmp/shim.out") $(cat "$tmp/shim.err")" \
		"0  "
	check "$label: three dumps with what PAPI returned" attributed
	check "$label: the dump follows the settings" perl "$root/tests/lib/check-stress.pl" "$1" \
		"$2" "$3" "$4" "$tmp"/d/*.json
}

attributed() {
	is_equal "$(find "$tmp/d" -type f | wc -l)" 3 && perl "$root/tests/lib/check-handed.pl" \
		--no-cpu "$tmp"/d/*.json "$tmp/shim.out"
}

if [ -n "${STRESS_ALL-}" ]; then
	for form in plain interface; do
		for readings in temporary permanent; do
			for attribution in reading residency exact auto; do
				for sites in 0 1 8; do
					for live in 0 1; do
						one $form $readings $attribution $sites $live 600
					done
				done
			done
		done
	done
else
	while read -r settings; do
		# shellcheck disable=SC2086 # words
		one $settings
	done <<-END
		plain temporary reading 0 0
		plain permanent reading 1 1
		interface temporary reading 8 1
		plain permanent residency 0 1
		interface temporary auto 1 0
		plain permanent residency 8 0
		plain permanent exact 8 1
		plain temporary auto 1 0
		interface permanent exact 0 1
	END
fi
done_testing
