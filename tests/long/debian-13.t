# Runs the whole suite on Debian 13 (glibc 2.41, PAPI 7.1, hwloc 2.12), and PAPI's own tests of 7.1
# there; those of 7.2 on the Debian after it (debian-next.t). It uses a root of that Debian's
# packages on this machine's kernel. Not with TEST_SHORT: 20 minutes.
#
#	DEBIANS=trixie:papi	some of it
. tests/lib/lib.sh
[ -z "${TEST_SHORT-}" ] || skip_all "minutes"
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
command -v mmdebstrap >/dev/null || skip_all "no mmdebstrap (scripts/deps --machines)"
[ "$(id -u)" = 0 ] || skip_all "a chroot needs root"
# The archive that apt uses for this system; no other mirror.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' \
	'Component: main' \
	"Codename: $(. /etc/os-release && echo "${VERSION_CODENAME-}")" | sort -u | head -n 1)
[ -n "$mirror" ] || skip_all "apt knows no archive of Debian here"
packages="papi-examples binutils util-linux $(sed -n '/^debian="/,/"$/p' scripts/deps |
	tr -d '"' | sed 's/^debian=//')"
: "${DEBIANS:=trixie:suite trixie:papi}"

# root RELEASE: makes it, with this tree in /src. (A mirror may be older than the validity that a
# testing release states.)
root() {
	rm -rf "$tmp/root"
	mmdebstrap --quiet --variant=apt --aptopt='APT::Install-Recommends "false"' \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--include="$(echo $packages | tr ' ' ,)" "$1" "$tmp/root" "deb $mirror $1 main" &&
		mkdir "$tmp/root/src" &&
		{ if [ -e .git ]; then git ls-files -z; else find . -type f ! -path './build*' \
		-print0; fi; } |
		tar --null --no-recursion -c -T - | tar -x -C "$tmp/root/src"
}

# inside COMMAND: runs it in the root's /src, with its own processes and /dev/shm
inside() {
	unshare --mount --pid --fork --kill-child sh -c '
		mount --rbind /dev "$1/dev" && mount -t tmpfs none "$1/dev/shm" && mount --rbind /sys "$1/sys" && mount -t proc proc "$1/proc" &&
			chroot "$1" env -i PATH="$PATH" HOME=/root TMPDIR=/tmp LC_ALL=C.UTF-8 sh -c "cd /src && $2"
		exit $?' - "$tmp/root" "$1"
}

suite() {
	inside 'make check' >"$tmp/suite" 2>&1
	set -- $?
	tail -n 40 "$tmp/suite"
	return "$1"
}

# Prints the results of PAPI's own tests there, one per line.
papi() {
	inside "make -s -j2 programs >/dev/null && B=/src/build sh tests/long/papi-tests.t" \
		>"$tmp/papi" 2>"$tmp/papi.err"
	papi_status=$?
	while read -r line; do
		case $line in
		"ok "*)		check "$1: ${line#*- }" true ;;
		"not ok "*)	check "$1: ${line#*- }" tail -n 20 "$tmp/papi.err" false ;;
		[0-9]*..[0-9]*)	papi_plan=${line#*..} ;;
		*)		echo "$line" ;;
		esac
	done <"$tmp/papi"
	is "$1: all of them ran" "$papi_status $([ "${papi_plan%% *}" -gt 100 ] && echo many)" \
		"0 many"
}

made=''
for debian in $DEBIANS; do
	release=${debian%:*}
	if [ "$release" != "$made" ]; then
		check "a root of $release" root "$release"
		made=$release
	fi
	version=$(chroot "$tmp/root" dpkg-query -W -f '${Version}' libpapi-dev)
	case $debian in
	*:suite)	check "$release (glibc $(chroot "$tmp/root" dpkg-query -W -f '${Version}' \
		libc6), PAPI $version): make check" suite ;;
	*)		papi "$release, PAPI $version" ;;
	esac
done
done_testing
