# Checks that make install puts all files where it says, that they work there, and that make
# uninstall removes all of them.
. tests/lib/lib.sh
# A copy: if sources have changed meanwhile, the other cases' build stays as it is.
mkdir "$tmp/build"
tar -C "$B" --exclude=./tests -cf - . | tar -C "$tmp/build" -xf -
run_make() {
	make -s --no-print-directory -C "$root" B="$tmp/build" SANITIZE="${SANITIZE-}" "$@"
}

check "make install, with DESTDIR" run_make install PREFIX=/usr/x DESTDIR="$tmp/stage"
for file in lib/libsspapi.so lib/libsspapi.so.0 lib/sspapi/libsspapi-topo.so \
	lib/sspapi/libsspapi-threads.so bin/sspapi include/sspapi.h lib/pkgconfig/sspapi.pc \
	share/man/man7/libsspapi.7 share/man/man1/sspapi.1; do
	check "$file" test -s "$tmp/stage/usr/x/$file"
done
is "nothing next to it" "$(ls "$tmp/stage") $(ls "$tmp/stage/usr")" "usr x"
for page in man/*.[1-8]; do
	check "$page" test -s "$tmp/stage/usr/x/share/man/man${page##*.}/${page#man/}"
done
is "not writable" "$(find "$tmp/stage" -type f -perm /022)" ""
is "sspapi.pc says where" "$(PKG_CONFIG_PATH=$tmp/stage/usr/x/lib/pkgconfig pkg-config \
	--variable=libdir sspapi)" /usr/x/lib
is "no path of the build in it" \
	"$(grep -rlF "$B" "$tmp/stage" --include=*.pc --include=*.h --include=*.7)" ""
if [ -z "${SANITIZE-}" ]; then
	SHIM=$tmp/stage/usr/x/lib/libsspapi.so
	run_shim shim "$scenes/one"
	check "it works from there" has_returned shim
	is "with its topology library" "$(json "$tmp/shim.json" '$d->{topology}{source}')" system
	run report "$tmp/stage/usr/x/bin/sspapi" --version
	check "the command runs" grep -q . "$tmp/report.out"
	version=$(sed -n 's/^VERSION	:= //p' Makefile)
	is "its version is the Makefile's" "$(cat "$tmp/report.out")" "sspapi $version"
	is "JSON's" "$(json "$tmp/shim.json" '$d->{sspapi_version}')" "$version"
	is "sspapi.pc's" "$(PKG_CONFIG_PATH=$tmp/stage/usr/x/lib/pkgconfig pkg-config --modversion \
		sspapi)" "$version"
	is "the man pages'" "$(grep -h '^\.TH' -r "$tmp/stage/usr/x/share/man" |
		grep -vF "\"sspapi $version\"")" ""
	check "the newest news are of it" grep -q "^## $version " NEWS.md
	is "no other place has the number" \
		"$(grep -rnIF "$version" Makefile core topo preload man scripts |
		grep -v '^Makefile:.*VERSION\|\.symbols:')" ""
	# A distribution leaves the link of the plain name to developers.
	rm "$tmp/stage/usr/x/lib/libsspapi.so"
	run "without" env SSPAPI_OUTPUT="$tmp/without.json" "$tmp/stage/usr/x/bin/sspapi" run -- \
		"$scenes/one"
	check "sspapi run finds the versioned name alone" test -s "$tmp/without.json"
	is "and its topology library" "$(json "$tmp/without.json" '$d->{topology}{source}')" system
fi
check "make uninstall" run_make uninstall PREFIX=/usr/x DESTDIR="$tmp/stage"
is "nothing is left, nor a folder that install made" "$(ls -d "$tmp/stage" 2>&1 | grep -c "^/")" 0

check "LIBDIR, MANDIR" run_make install PREFIX=/opt LIBDIR=/opt/lib64 MANDIR=/opt/man \
	DESTDIR="$tmp/other"
check "LIBDIR is used" test -s "$tmp/other/opt/lib64/libsspapi.so"
check "the command looks there" grep -qF /opt/lib64/sspapi "$tmp/other/opt/bin/sspapi"
check "MANDIR is used" test -s "$tmp/other/opt/man/man7/libsspapi.7"
check "the man pages name the library where it is" \
	test "$(grep -rh "LD_PRELOAD=/" "$tmp/other/opt/man" |
	grep -vc "LD_PRELOAD=/\(opt/lib64/libsspapi.so.[0-9]\|path/to\)")" = 0
check "make uninstall of these" run_make uninstall PREFIX=/opt LIBDIR=/opt/lib64 MANDIR=/opt/man \
	DESTDIR="$tmp/other"
is "nothing is left of these" "$(ls -d "$tmp/other" 2>&1 | grep -c "^/")" 0

# ---- what is somebody else's ---------------------------------------------------------------------
mkdir -p "$tmp/shared/lib/pkgconfig" "$tmp/shared/share/man/man1" "$tmp/shared/share/sspapi"
find "$tmp/shared" | sort >"$tmp/before"
check "into folders that are there" run_make install PREFIX="$tmp/shared"
check "twice" run_make install PREFIX="$tmp/shared"
mkdir -p "$tmp/shared/share/man/man3/own" "$tmp/shared/share/zsh/empty"
run_make uninstall PREFIX="$tmp/shared"
is "those stay, empty or not, and so do other files in a folder that install made" \
	"$(find "$tmp/shared" | sort)" \
	"$(printf '%s\n' "$tmp/shared/share/man/man3" "$tmp/shared/share/man/man3/own" \
	"$tmp/shared/share/zsh" "$tmp/shared/share/zsh/empty" | sort - "$tmp/before")"
run_make uninstall PREFIX="$tmp/shared"
is "once more, without the list of folders" "$(find "$tmp/shared" -name sspapi)" \
	"$tmp/shared/share/sspapi"

# A part of a path may be a file of the user's.
mkdir "$tmp/user"
for name in a b; do
	echo mine >"$tmp/user/$name"
done
newline='
'
tab=$(printf '\t')
find "$tmp/user" | sort >"$tmp/before"
# refused TARGET VARIABLE PATH: it must be refused in one line, else it is added to not-refused.
# (With the MAKEFLAGS of make -j check a warning about its jobs would be a second line.)
refused() {
	run refused env -u MAKEFLAGS make -s -C "$root" B="$tmp/build" "$1" DESTDIR="$tmp/user" \
		PREFIX=/x "$2=$3"
	[ "$(status_of refused) $(grep -c "$2 must not contain" \
		"$tmp/refused.err") $(wc -l <"$tmp/refused.err") $(wc -c <"$tmp/refused.out")" = \
		"2 1 1 0" ] ||
		{ echo "$*"; cat "$tmp/refused.err"; } >>"$tmp/not-refused"
}
: >"$tmp/not-refused"
for between in " " "$tab" "$newline" "'" '"' '$' '$$' ';' '&' '`' '|' '\' '*' '%' '#'; do
	refused uninstall PREFIX "$tmp/user/a$between$tmp/user/b"
done
for variable in DESTDIR LIBDIR MANDIR DATADIR BINDIR INCLUDEDIR BASHDIR ZSHDIR; do
	refused uninstall $variable "$tmp/user/a $tmp/user/b"
done
refused install PREFIX "$tmp/user/a $tmp/user/b"
run of-env env LIBDIR="$tmp/user/a $tmp/user/b" MANDIR="$tmp/user/\$x" make -s -C "$root" \
	B="$tmp/build" uninstall
is "a path that the shell would cut or change is refused in one line" "$(cat "$tmp/not-refused")" ""
is "from the environment as well" \
	"$(status_of of-env) $(grep -c 'LIBDIR must not contain' "$tmp/of-env.err")" "2 1"
is "nothing is touched" "$(find "$tmp/user" | sort)" "$(cat "$tmp/before")"
done_testing
