# Runs programs with their own malloc or hwloc on a machine with GPUs: sspapi's hwloc must mix with
# neither.
. tests/lib/lib.sh
export SSPAPI_ATTRIBUTION=reading
gpus=$B/tests/gpus

# unaffected LABEL PROGRAM: it sees no difference, and the dump has its counts and the machine's GPUs
unaffected() {
	SHIM=$(echo "$SHIM" | sed "s,[^:]*/libsspapi.so,$gpus/libsspapi.so,")
	run_native native "$2"
	run_shim shim "$2"
	plugins native "$MORE" "$2"
	plugins shim "$SHIM${MORE:+:$MORE}" "$2"
	is "$1: (it runs)" "$(status_of native)" 0
	check "$1: the program sees no difference" same_as_native native shim
	check "$1: the dump has what PAPI returned" has_returned shim
	is "$1: and the GPUs" "$(json "$tmp/shim.json" 'join ", ",
		sort map { "$_->{os_index} $_->{name}" }
		grep { $_->{type} eq "GPU" } @{$d->{topology}{components}}')" \
		"0 AMD Instinct MI210, 0 NVIDIA H100 PCIe, 1 10de:2330"
	check "$1: no plugin of hwloc is loaded that was not natively" cmp "$tmp/native.plugins" \
		"$tmp/shim.plugins"
}

# plugins NAME PRELOAD PROGRAM: prints which of them the loader opens, by its own log
plugins() {
	env LD_DEBUG=files LD_DEBUG_OUTPUT="$tmp/debug" LD_PRELOAD="$2" \
		SSPAPI_OUTPUT="$tmp/again.json" "$3" >/dev/null 2>&1
	cat "$tmp"/debug.* | grep -oE '(hwloc_|libxml2|libOpenCL|libpciaccess)[a-z_.]*' |
		sort -u >"$tmp/$1.plugins"
	rm -f "$tmp"/debug.*
}

unaffected "libc's malloc" "$scenes/mallocs"
for name in jemalloc tcmalloc_minimal mimalloc; do
	MORE=$(ldconfig -p 2>/dev/null | sed -n "s/.*=> \(.*lib$name\.so[.0-9]*\)\$/\1/p" |
		head -n 1)
	if [ -z "$MORE" ] || [ -n "${SANITIZE-}" ]; then
		skip "$name" "not installed, or sanitized"
	else
		unaffected "$name" "$scenes/mallocs"
	fi
done
MORE=''

if plain "a malloc of its own"; then
	unaffected "a malloc of its own" "$scenes/mallocs-own"
	unaffected "a malloc and libhwloc of its own" "$scenes/mallocs-own-uses"
	unaffected "a malloc and another hwloc's functions of its own" "$scenes/mallocs-own-other"
fi

# A sanitizer's runtime refuses RTLD_DEEPBIND; the program's hwloc functions must still not be used.
asan=$(${CC:-gcc} -print-file-name=libasan.so)
if plain "AddressSanitizer" && ${CC:-gcc} -w -D_GNU_SOURCE -g -fsanitize=address -DOTHER_HWLOC \
	-rdynamic -Itests -o "$tmp/asan" \
	tests/scenes/mallocs.c "$fake/libpapi.so.7.0" -Wl,-rpath,"$fake" -ldl; then
	SHIM=$asan:$SHIM MORE=''
	unaffected "AddressSanitizer" "$tmp/asan"
fi

done_testing
