# make install puts all of it where it says, which works from there; make uninstall takes all of it away.
. tests/lib/lib.sh
# A copy: if sources have changed meanwhile, what the other cases use stays as it is.
cp -a "$B" "$tmp/build"
run_make() {
	make -s --no-print-directory -C "$root" B="$tmp/build" SANITIZE="${SANITIZE-}" "$@"
}

check "make install, with DESTDIR" run_make install PREFIX=/usr/x DESTDIR="$tmp/stage"
for file in lib/libsspapi.so lib/libsspapi.so.0 lib/sspapi/libsspapi-topo.so lib/sspapi/libsspapi-threads.so bin/sspapi include/sspapi.h lib/pkgconfig/sspapi.pc \
	share/man/man7/libsspapi.7 share/man/man1/sspapi.1; do
	check "$file" test -s "$tmp/stage/usr/x/$file"
done
is "nothing beside it" "$(ls "$tmp/stage") $(ls "$tmp/stage/usr")" "usr x"
for page in man/*.[1-8]; do
	check "$page" test -s "$tmp/stage/usr/x/share/man/man${page##*.}/${page#man/}"
done
is "nobody may write it" "$(find "$tmp/stage" -type f -perm /022)" ""
is "sspapi.pc says where" "$(PKG_CONFIG_PATH=$tmp/stage/usr/x/lib/pkgconfig pkg-config --variable=libdir sspapi)" /usr/x/lib
is "no path of the build in it" "$(grep -rlF "$root" "$tmp/stage" --include=*.pc --include=*.h --include=*.7)" ""
if [ -z "${SANITIZE-}" ]; then
	SHIM=$tmp/stage/usr/x/lib/libsspapi.so
	run_shim shim "$scenes/one"
	check "it works from there" books shim
	is "with its topology library" "$(json "$tmp/shim.json" '$d->{topology}{source}')" system
	run report "$tmp/stage/usr/x/bin/sspapi" --version
	check "the command runs" grep -q . "$tmp/report.out"
	version=$(sed -n 's/^VERSION	:= //p' Makefile)
	is "its version is the Makefile's" "$(cat "$tmp/report.out")" "sspapi $version"
	is "JSON's" "$(json "$tmp/shim.json" '$d->{sspapi_version}')" "$version"
	is "sspapi.pc's" "$(PKG_CONFIG_PATH=$tmp/stage/usr/x/lib/pkgconfig pkg-config --modversion sspapi)" "$version"
	is "the man pages'" "$(grep -h '^\.TH' -r "$tmp/stage/usr/x/share/man" | grep -vF "\"sspapi $version\"")" ""
	check "the newest news are of it" grep -q "^## $version " NEWS.md
	is "no other place has the number" "$(grep -rnIF "$version" Makefile core topo preload man scripts | grep -v '^Makefile:.*VERSION\|\.symbols:')" ""
	# A distribution leaves the link of the plain name to developers.
	rm "$tmp/stage/usr/x/lib/libsspapi.so"
	run "without" env SSPAPI_OUTPUT="$tmp/without.json" "$tmp/stage/usr/x/bin/sspapi" run -- "$scenes/one"
	check "sspapi run finds the versioned name alone" test -s "$tmp/without.json"
	is "and its topology library" "$(json "$tmp/without.json" '$d->{topology}{source}')" system
fi
check "make uninstall" run_make uninstall PREFIX=/usr/x DESTDIR="$tmp/stage"
is "nothing is left" "$(find "$tmp/stage" ! -type d)" ""
is "nor a folder of ours" "$(find "$tmp/stage" -name sspapi)" ""

check "LIBDIR, MANDIR" run_make install PREFIX=/opt LIBDIR=/opt/lib64 MANDIR=/opt/man DESTDIR="$tmp/other"
check "LIBDIR is used" test -s "$tmp/other/opt/lib64/libsspapi.so"
check "the command looks there" grep -qF /opt/lib64/sspapi "$tmp/other/opt/bin/sspapi"
check "MANDIR is used" test -s "$tmp/other/opt/man/man7/libsspapi.7"
check "the man pages name the library where it is" test "$(grep -rh "LD_PRELOAD=/" "$tmp/other/opt/man" | grep -vc "LD_PRELOAD=/\(opt/lib64/libsspapi.so.[0-9]\|path/to\)")" = 0
check "make uninstall of these" run_make uninstall PREFIX=/opt LIBDIR=/opt/lib64 MANDIR=/opt/man DESTDIR="$tmp/other"
is "nothing is left of these" "$(find "$tmp/other" ! -type d)" ""
done_testing
