# Builds the source of the Debian packages here, the packages in a clean Debian, installs them in
# another, runs and removes them. The same on a machine that QEMU boots, if installed and without
# TEST_SHORT (minutes).
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
for tool in dpkg-buildpackage dh lintian mmdebstrap; do
	command -v $tool >/dev/null || skip_all "no $tool (scripts/deps --long --machines)"
done
[ "$(id -u)" = 0 ] || skip_all "a chroot needs root"
unset TESTS MAKEFLAGS MAKEOVERRIDES MAKELEVEL MFLAGS	# the package runs its own make check
B=$tmp/build
export B
check "the source package, and lintian reports nothing" scripts/packaging/deb --source
chmod 755 "$tmp/build" "$tmp/build/deb"
tests/long/in-chroot "$tmp/build/deb" >"$tmp/tap"
while read -r line; do
	case $line in
	"ok "*) check "${line#*- }" true ;;
	"not ok "*) check "${line#*- }" cat "$tmp/build/deb/log" false ;;
	"Bail out!"*) check "$line" false ;;
	esac
done <"$tmp/tap"
# shellcheck disable=SC2046 # no name of ours has a space
check "lintian reports nothing for the packages" lintian --fail-on warning,error \
	--suppress-tags initial-upload-closes-no-bugs $(find "$tmp/build/deb" -name '*.changes')
done_testing
