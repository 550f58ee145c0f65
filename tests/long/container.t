# Executes the lines of scripts/packaging/Containerfile in a clean Debian, on the files
# that git tracks; podman itself builds and runs it, if installed. Not with TEST_SHORT: 5 minutes.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
[ -z "${TEST_SHORT-}" ] || skip_all "minutes"
git ls-files >"$tmp/files" 2>/dev/null || skip_all "this is no clone"
[ "$(id -u)" = 0 ] || skip_all "a chroot needs root"
bail() {
	skip_all "$*"
}
. tests/long/debian.sh
file=scripts/packaging/Containerfile
mkdir "$tmp/context"
while read -r name; do [ ! -e "$name" ] || echo "$name"; done <"$tmp/files" |
	tar -cf - -T - | tar -xf - -C "$tmp/context"

# Each instruction as a line of sh. COPY takes the contents of a folder.
awk '/^(#|FROM |$)/ { next }
	$1 == "RUN" { sub(/^RUN /, ""); print; next }
	$1 == "ENV" { print "export " $2; next }
	$1 == "WORKDIR" { print "mkdir -p " $2 " && cd " $2; next }
	$1 == "COPY" { for (i = 2; i < NF; i++)
		print "mkdir -p " $NF "; [ ! -d /context/" $i " ] && cp /context/" $i " " $NF " || cp -r /context/" $i "/. " $NF
		next }
	$1 == "CMD" { gsub(/^CMD \[|[],"]/, ""); print "echo ran the build;", $0, "&& echo ran the command"; next }
	{ print "unknown instruction " $0 }' $file >"$tmp/context/lines"
debian "$tmp/log" minbase ca-certificates 'mkdir "$1/context"' "sync-in $tmp/context /context" \
	'chroot "$1" sh -ex /context/lines'
for what in "ran the build" "ran the command"; do
	check "in a clean Debian: $what" grep -qx "$what" "$tmp/log"
done

if command -v podman >/dev/null && podman info >/dev/null 2>&1; then
	run podman podman build -q -t sspapi-test -f $file "$tmp/context"
	is "podman build" "$(status_of podman)" 0
	run podman podman run --rm --cap-add PERFMON --cap-add SYS_ADMIN sspapi-test
	is "podman run" "$(status_of podman)" 0
	podman rmi -f sspapi-test >/dev/null
else
	skip "podman build and run" "podman cannot run here"
fi
done_testing
