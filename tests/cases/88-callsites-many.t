# Makes a thousand call sites, and several sets in turn: no count goes to another site.
. tests/lib/lib.sh
need_real_papi

# right NAME: compares the dump's intervals with the program's output. Counts without memory for an
# interval are under "other": "DIFFERENCE of the sums, intervals with TOO MUCH, most of them there".
right() {
	perl tests/lib/intervals.pl "$tmp/$1.json" |
		sed -E 's/((call|run|read)_[0-9]+|begin|finish)<[^ ]*/\1/g' |
		awk 'NR == FNR { if (/^between/) { pairs += !(($2 " " $3) in want); want[$2 " " $3] += $4; all += $4 } next }
			{ sum += $4; if ($2 == "?" || $3 == "other") next; if ($4 > want[$2 " " $3]) bad++; n += $4 == want[$2 " " $3] }
			END { print sum - all, bad + 0, (n > 0.8 * pairs ? "most" : n " of " pairs) }' "$tmp/$1.out" -
}

for frames in 1 2 auto; do
	for what in run read helper; do
		case "$what$frames" in
		helper1 | helperauto) continue ;;
		esac
		run_shim many env SSPAPI_CALLSITES=$frames "$apps/thousand" "$what"
		is "a thousand call sites, $what, $frames frames: each has its counts" \
			"$(right many)" "0 0 most"
	done
done

done_testing
