# Checks that dumps, reports and completion are as in C in a locale of another alphabet or with a
# decimal comma.
. tests/lib/lib.sh
cd "$tmp" || exit 1
command -v localedef >/dev/null || skip_all "no localedef (scripts/deps)"
mkdir locale
for name in de_DE tr_TR; do
	localedef -i $name -f UTF-8 "$tmp/locale/$name.UTF-8" >/dev/null 2>&1 ||
		skip_all "no source of $name (scripts/deps)"
done
export LOCPATH="$tmp/locale"

# A program that has set its locale.
cat >locale.c <<'END'
#include <locale.h>
#include <stdio.h>
__attribute__((constructor)) static void set(void)
{
	setlocale(LC_ALL, "");
	fprintf(stderr, "%.1f\n", 0.5);
}
END
${CC:-gcc} -shared -fPIC -o locale.so locale.c || exit 1
MORE=$tmp/locale.so
printf 'EVENT,HALF,DERIVED_POSTFIX,N0|2|/|,EV_A\n' >half.csv
export SSPAPI_READINGS=permanent SSPAPI_CALLSITES=0
for name in de_DE.UTF-8 tr_TR.UTF-8; do
	SSPAPI_OUTPUT=$tmp/$name.txt SSPAPI_FORMAT=text,json,csv,store run_shim \
		shim env LC_ALL=$name "$scenes/one"
	is "$name: (the program has it)" "$(grep -c '^0,5$' shim.err)" 1
	check "$name: the JSON can be read" json "$name.json" '$d->{format}'
	for form in text:txt json:json csv:csv; do
		"$sspapi" report -f "${form%:*}" "$name.sspapi" >wanted
		sed -i '/^more:/d' wanted "$name.${form#*:}"
		check "$name: ${format%:*}" diff wanted "$name.${form#*:}"
		"$sspapi" report -f "${form%:*}" -m half.csv "$name.sspapi" >wanted
		LC_ALL=$name "$sspapi" report -f "${form%:*}" -m half.csv "$name.sspapi" >got
		check "$name: ${format%:*} by report" diff wanted got
	done
	LC_ALL=$name "$sspapi" doctor >got 2>&1
	check "$name: doctor works" grep -q 'hwloc sees' got
	if command -v bash >/dev/null; then
		# shellcheck disable=SC2016
		is "$name: completion" \
			"$(LC_ALL=$name bash --norc \
			-c '. "$1"; COMP_WORDS=("$2" di); COMP_CWORD=1; _sspapi; echo "${COMPREPLY[@]}"' \
			bash "$root/scripts/completion/sspapi.bash" "$sspapi")" diff
	fi
done
done_testing
