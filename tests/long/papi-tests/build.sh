#!/bin/sh
# build.sh FOLDER: builds PAPI's own test programs, as Debian's papi-examples has them,
# in FOLDER, by their own Makefiles. The package has no makefile for testlib and not the
# variables that PAPI's configure sets; those are here.
#
# FOLDER/programs	what was built: folder/name, a line each
# FOLDER/not-built	folder/name<tab>why, a line each
# FOLDER/stamp		what it was built from
set -eu

: "${PAPI_EXAMPLES:=/usr/share/doc/papi-examples/examples}"
to=$1
CC=${CC:-gcc}
papi=$($CC -print-file-name=libpapi.so)

# Prints a stamp of sources and tools: an equal one needs no second build.
stamp() {
	cat "$0"
	$CC --version | head -n 1
	gfortran --version 2>/dev/null | head -n 1
	mpicc --version 2>/dev/null | head -n 1
	sha1sum "$papi"
	(cd "$PAPI_EXAMPLES" && find . -type f -exec cksum {} + | sort)
}

stamp >"$to.stamp"
if cmp -s "$to.stamp" "$to/stamp"; then
	rm "$to.stamp"
	exit 0
fi
rm -rf "$to"
mkdir -p "$to"
for folder in testlib ctests validation_tests ftests components; do
	cp -r "$PAPI_EXAMPLES/$folder" "$to"
done
cd "$to"
find . -name '*.gz' -exec gunzip {} +	# debhelper may have compressed these
chmod -R u+w .

# Shortens tests that run for minutes, none of which is about time.
shorten() {
	sed -i -E "$2" "$1"
}
shorten testlib/do_loops.h 's/^(#define NUM_WORK_SECONDS) .*/\1 1/'
shorten ctests/omptough.c 's/^(#define NITER) .*/\1 (5000)/'
shorten ctests/pthrtough2.c 's/^(#define NITER) .*/\1 300/'

object() {
	for source; do
		$CC -O1 -g -w -Itestlib -Ivalidation_tests -c -o "${source%.c}.o" "$source"
	done
}
# do_loops must not be optimised, as it says itself.
$CC -O0 -g -w -Itestlib -c -o testlib/do_loops.o testlib/do_loops.c
object testlib/test_utils.c testlib/clockcore.c
ar rcs testlib/libtestlib.a testlib/test_utils.o
if gfortran -c -g -w -Itestlib -o testlib/ftests_util.o testlib/ftests_util.F
then	# else no ftests
	ar rcs testlib/libtestlib.a testlib/ftests_util.o
fi
object validation_tests/*_testcode.c validation_tests/busy_work.c ||
	:		# one is for x86 alone

# The flags are PAPI's own, without the warnings; -k: builds what it can.
t=$to/testlib v=$to/validation_tests
all_of() {
	sources=$(cd "$1" && grep -lE '^[^/]*\bmain *\(|^ +program |^ +PROGRAM ' ./*.c \
		./*.F 2>/dev/null |
		sed -E 's,^\./(.*)\.[cF]$,\1,' || :)
	listed=$(cd "$1" && make -rpn all 2>/dev/null |
		sed -n 's/^all: *//p;s/^ALL *= *//p;s/^TESTS *:*= *//p')
	for name in $sources $listed; do
		echo "$name"
	done | sort -u
}

# build FOLDER TARGETS [VARIABLE=VALUE...]
build() {
	folder=$1
	targets=$(echo "$2" | grep -v '[$()]')
	shift 2
	log=$to/$(echo "$folder" | tr / -).log
	# shellcheck disable=SC2086 # words
	make -C "$folder" -k ${MAKEJOBS:--j2} CC="$CC" MPICC=mpicc NO_MPI_TESTS= \
		testlibdir="$t" validationlibdir="$v" datadir=/nowhere \
		INCLUDE="-I. -I$t -I$v -I/usr/include" \
		TESTLIB="$t/libtestlib.a" PAPILIB="$papi" LIBRARY="$papi" SHLIB="$papi" \
		UTILOBJS="$t/libtestlib.a" \
		DOLOOPS="$t/do_loops.o" CLOCKCORE="$t/clockcore.o" TESTFLOPS="$v/flops_testcode.o" \
		TESTINS="$v/instructions_testcode.o" TESTCYCLES="$v/busy_work.o" LDL=-ldl \
		CFLAGS="-g -O1 -w -DPAPI_NUM_COMP=5" \
		FFLAGS="-g -O1 -w -Dlinux -DNUM_FLOPS=20000000 -ffixed-line-length-132" \
		F77=gfortran LDFLAGS="-Wl,-z,relro -Wl,-z,now" \
		CPPFLAGS="-I. -I$t -I$v" LDLIBS="$t/libtestlib.a $t/do_loops.o $papi -lm -pthread" \
		"$@" $targets >"$log" 2>&1 || :
	for name in $targets; do
		if [ -x "$folder/$name" ]; then
			echo "$folder/$name" >>programs
		else
			# The first error there.
			pattern=$(echo "$name" | sed 's/+/\\+/g')
			signs="(^|/)$pattern\.[cF]:.*([Ee]rror|undefined)|\[.*: $pattern(\.o)?\] Error"
			why=$(grep -E "$signs|No rule to make target .*'$pattern'" "$log" |
				head -n 1)
			printf '%s\t%s\n' "$folder/$name" "${why:-see $log}" >>not-built
		fi
	done
}

: >programs
: >not-built
build ctests "$(all_of ctests)"
build validation_tests "$(all_of validation_tests)"
build ftests "$(all_of ftests)"

# The components' tests: their folders include what configure makes of Makefile_comp_tests, and the
# package of 7.0 has all files of sde in one folder.
: >components/Makefile_comp_tests.target
for component in perf_event perf_event_uncore sysdetect; do
	folder=components/$component/tests
	build $folder "$(all_of $folder)"
done
sde=components/sde/tests
mkdir -p $sde/lib
for folder in Minimal Simple Simple2 Recorder Created_Counter Counting_Set Advanced_C+FORTRAN; do
	[ -e $sde/$folder ] || ln -s . $sde/$folder
done
build $sde "$(sed -n 's/^[[:space:]]*TESTS *= *//p' $sde/Makefile | tr ' ' '\n')" \
	BUILD_LIBSDE_SHARED=yes LDFLAGS="-Llib -Wl,-rpath,$to/$sde/lib $papi -lsde"
mv "$to.stamp" stamp
