# Builds everything with several compilers and optimisation levels, without a warning, and runs the
# unit tests. The test programs, which have their own flags, are built once with each compiler. With
# TEST_SHORT the two that differ most, and the unit tests with gcc.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "the sanitizers are flags of their own"
unset TESTS MAKEFLAGS MAKEOVERRIDES MAKELEVEL MFLAGS
at=$tmp/made

# made COMPILER FLAGS...: builds and tests
made() {
	compiler=$1
	shift
	label="$compiler $*"
	[ -z "${TEST_SHORT-}" ] ||
		case $label in "gcc -O3 -flto=auto" | "clang -O2") ;; *) return ;; esac
	command -v "$compiler" >/dev/null ||
		{ skip "$label" "no $compiler here (scripts/deps --long)"; return; }
	begin=$(date +%s)
	programs="libsspapi.so libsspapi-topo.so libsspapi-threads.so sspapi"
	programs=$(printf "$at/%s " $programs)
	[ "$*" != -O2 ] || programs="all programs"
	# shellcheck disable=SC2046,SC2086 # words
	make -s -j2 B="$at" CC="$compiler" CFLAGS="$*" LDFLAGS= $programs \
		$(units) >"$tmp/made.out" 2>"$tmp/made.err"
	is "$label: no warning" "$? $(cat "$tmp/made.err")" "0 "
	if [ -z "${TEST_SHORT-}" ] || [ "$compiler" = gcc ]; then
		make -s B="$at" CC="$compiler" CFLAGS="$*" LDFLAGS= PROVE_FLAGS=-Q \
			check-unit >"$tmp/.said" 2>&1
		result $? "$label: the unit tests"
	fi
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
	made $compiler -O3 $([ $compiler = gcc ] && echo -flto=auto || echo -flto)
done
made gcc -O2 -D_FORTIFY_SOURCE=3
done_testing
