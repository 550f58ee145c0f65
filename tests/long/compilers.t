# Compilers and levels of optimisation: everything is made without a warning, and what was made
# passes the unit tests. With TEST_SHORT the two that differ most.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "the sanitizers are flags of their own"
unset MAKEFLAGS MAKEOVERRIDES MAKELEVEL MFLAGS
at=$tmp/made

# made COMPILER FLAGS... : a build of all, the test programs too; then the unit tests
made() {
	compiler=$1
	shift
	label="$compiler $*"
	[ -z "${TEST_SHORT-}" ] || case $label in "gcc -O3 -flto" | "clang -O2") ;; *) return ;; esac
	command -v "$compiler" >/dev/null || { skip "$label" "no $compiler here (scripts/deps --long)"; return; }
	begin=$(date +%s)
	make -s -j2 B="$at" CC="$compiler" CFLAGS="$*" LDFLAGS= all $(units) >"$tmp/made.out" 2>"$tmp/made.err"
	is "$label: makes everything, without a word" "$? $(cat "$tmp/made.err")" "0 "
	make -s B="$at" CC="$compiler" CFLAGS="$*" LDFLAGS= PROVE_FLAGS=-Q check-unit >"$tmp/.said" 2>&1
	result $? "$label: the unit tests"
	echo "# $label: $(($(date +%s) - begin)) s"
	rm -rf "$at"
}

units() {
	for unit in tests/unit/t-*.c; do
		echo "$at/tests/unit/$(basename "$unit" .c)"
	done
}

for compiler in gcc clang; do
	made $compiler -O0
	made $compiler -O2
	made $compiler -O3 -flto
done
made gcc -O2 -D_FORTIFY_SOURCE=3
done_testing
