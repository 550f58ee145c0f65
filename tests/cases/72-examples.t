# Runs every example of the man pages and the README as printed, except that the library is in the
# build folder, ./app is a program of ours, and launchers start two processes.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "examples preload our library alone: not in a sanitized build"
REAL_PAPI_BUILD=$B
# shellcheck disable=SC1091
. tests/lib/real-papi.sh
[ "$REAL_PAPI" = yes ] || skip_all "the demo needs it: $PAPI_HOW"
unset PAPI_CSV_EVENT_FILE
cd "$tmp" || exit 1

# ---- what the examples need -----------------------------------------------------------------
mkdir bin work fake
cp "$scenes/app" work/app
ln -s "$fake"/* fake	# app finds libpapi in ../fake
for tool in mpirun srun; do
	cat >bin/$tool <<'END'
#!/bin/sh
# Two ranks, whatever the number; -x NAME=VALUE as Open MPI's, srun's options without a value.
while :; do
	case $1 in
	-x) case $2 in *=*) export "$2" ;; esac; shift 2 ;;
	-n | -np | -N) shift 2 ;;
	-*) shift ;;
	*) break ;;
	esac
done
for rank in 0 1; do
	OMPI_COMM_WORLD_RANK=$rank SLURM_PROCID=$rank "$@" &
done
wait
END
	chmod +x bin/$tool
done
# "recover" without arguments would take other tests' files in /dev/shm: give it a folder of its
# own.
cat >bin/sspapi <<END
#!/bin/sh
[ "\$*" = recover ] && set -- recover "$tmp"/live/*.live
exec "$B/sspapi" "\$@"
END
chmod +x bin/sspapi
cat >bin/scripts-deps <<'END'
#!/bin/sh
exec sh -n "$ROOT/scripts/deps"
END
chmod +x bin/scripts-deps
command -v sqlite3 >/dev/null || ln -s /bin/true bin/sqlite3
python3 -c 'import pandas' 2>/dev/null || ln -s /bin/true bin/python3
command -v lstopo >/dev/null || ln -s "$(command -v lstopo-no-graphics || echo /bin/true)" \
	bin/lstopo
command -v man >/dev/null || ln -s /bin/true bin/man

# A process that runs meanwhile: $pid.
mkfifo hold
: >held
LD_PRELOAD="$SHIM" SSPAPI_OUTPUT="$tmp/held.txt" "$scenes/steered" <hold >held 2>&1 &
held=$!
exec 8>hold
echo 5 >&8
await grep -q counted held

cat >prelude.sh <<END
example() {
	printf '%s %s\\n' "\$1" "\$2" >>"$tmp/results"
}
compile() {
	${CC:-gcc} -D_GNU_SOURCE -I"$root/preload" -I"$root/tests" -I"$root/tests/scenes" -o example "\$1" "$fake/libpapi.so.7.0" -L"$B" -lsspapi \\
		-Wl,-rpath,"$fake:$B" -pthread
}
make() {
	case \$1 in
	"") : it is made ;;
	demo) (cd "$root" && scripts/demo) ;;
	check) : it is what runs this ;;
	*) return 1 ;;
	esac
}
pid=$held
export ROOT="$root" PATH="$tmp/bin:\$PATH" MANPAGER=cat PAGER=cat
LD_PRELOAD=$B/libsspapi.so SSPAPI_OUTPUT=before.sspapi ./app >/dev/null
LD_PRELOAD=$B/libsspapi.so SSPAPI_OUTPUT=after.sspapi ./app >/dev/null
LD_PRELOAD=$B/libsspapi.so SSPAPI_OUTPUT=run.sspapi ./app >/dev/null
"$B/sspapi" report -o run.xml run.sspapi
cp run.sspapi FILE
END

# ---- a file's examples, one after the other in one shell ---------------------------------------
examples_of() {
	(cd "$root" && perl tests/lib/examples.pl "$1") |
		sed -e "s,build/,$B/,g" -e "s,/usr/local/lib/libsspapi.so,$B/libsspapi.so,g" \
			-e "s,/path/to/libsspapi.so,$B/libsspapi.so,g" \
			-e "s,^scripts/deps,scripts-deps," \
			-e "s,/tmp/sspapi-demo,$tmp/demo,g" -e "s,man man/,man $root/man/,g" \
			-e "s, tests/apps/, $root/tests/apps/,g" >"$tmp/examples.sh"
}

# A killed process: its live file.
mkdir left
printf '5\n0\n' >input
: >killed
LD_PRELOAD="$SHIM" SSPAPI_LIVE="$tmp/left" SSPAPI_OUTPUT="$tmp/work/left.txt" \
	"$scenes/steered" <input >killed 2>&1 8>&- &
killed=$!
await grep -q counted killed
kill -9 "$killed"
wait "$killed" 2>/dev/null

# unknown:FILE: if libpfm4 does not support the CPU.
total=0
known=${LIBPFM_DISABLED_PMUS-}
for file in README.md unknown:README.md $(cd "$root" && ls man/*.[1-8]); do
	export LIBPFM_DISABLED_PMUS="$known"
	case $file in unknown:*) unknown_cpu; file=${file#*:} ;; esac
	rm -rf work/* live results
	cp -r left live
	cp "$scenes/app" work/app
	examples_of "$file"
	: >results
	cat prelude.sh examples.sh >script
	(cd work && timeout "$LIMIT" sh ../script >../out 2>../err </dev/null 8>&-)
	while read -r status place; do
		case $(sed -n "${place##*:}p" "$root/$file") in
		*"sspapi diff"*) wanted='[01]' ;;	# as diff(1)
		*) wanted=0 ;;
		esac
		total=$((total + 1))
		case $status in
		$wanted) check "$place" true ;;
		*) check "$place" sh -c 'echo "status $1"; cat "$2"; exit 1' sh "$status" err ;;
		esac
	done <results
	is "$file: all of them" "$(wc -l <results | tr -d ' ')" "$(grep -c '^example ' examples.sh)"
	check "$file: without an error message" \
		not grep -E 'not found|cannot|No such|unrecognized' err
	if [ -s work/definitions.csv ]; then
		sed -i '/^CPU,/d' \
			work/definitions.csv	# without a table for other CPUs everything matches
		run metrics "$B/sspapi" report -m work/definitions.csv work/before.sspapi
		is "$file: its definitions of metrics" \
			"$(status_of metrics)$(grep definitions.csv:[0-9] metrics.err)" 0
	fi
done
check "there are some" test "$total" -gt 15
exec 8>&-
wait "$held"
done_testing
