# Restricts a program's surroundings, and ours: no descriptors, another root, a sandbox. The program
# ends as it would; its counts are in the dump or the live file, or a line says what is missing.
. tests/lib/lib.sh
# The programs print the CPU on which they read.
export SSPAPI_ATTRIBUTION=reading

# On a disk, and in memory, where the file grows in another way.
memory=$(mktemp -d /dev/shm/sspapi-case.XXXXXX) || memory=$(mktemp -d "$tmp/XXXXXX")
trap 'rm -rf "$memory"; clean_up' EXIT
live=$tmp/live

# cornered HOW...: runs with 300 event sets, so that the store grows (8000: past 16 MiB, the file's
# first length)
sets=300
cornered() {
	rm -rf "$tmp/d" "$live" "$tmp/shim.json"
	mkdir "$live"
	SSPAPI_OUTPUT=$tmp/d/x.json run_shim shim env SSPAPI_LIVE="$live" "$scenes/cornered" $sets \
		"$@"
	label="$*"
	[ "$(status_of shim)" != 77 ] || { skip "$label" "$(tail -n 1 "$tmp/shim.err")"; return 1; }
}

ends() {
	is "$label: the program ends as without the shim" "$(status_of shim)" "$1"
}

# Prints the counts, from the dump or else the live file.
all_there() {
	cp "$tmp/d/x.json" "$tmp/shim.json" 2>/dev/null || "$B/sspapi" recover -o "$tmp/shim.json" \
		"$live"/*.live || return 1
	has_returned shim
}

# The same for thousands of sets, for which JSON takes seconds.
same_sums() {
	rm -f "$tmp/shim.csv"
	"$B/sspapi" recover -o "$tmp/shim.csv" "$live"/*.live || return 1
	sed 1d "$tmp/shim.csv" |
		awk -F, '{ n[$10 " " $14] += $16 } END { for (k in n) if (n[k]) print k, n[k] }' |
		sort >"$tmp/got"
	sed -nE 's/^handed .*cpu=([0-9]+) .*event=([A-Z_]+) value=([0-9]+).*/\1 \2 \3/p' \
		"$tmp/shim.out" |
		awk '{ n[$1 " " $2] += $3 } END { for (k in n) if (n[k]) print k, n[k] }' | sort |
		diff - "$tmp/got" && [ -s "$tmp/got" ]
}

whole() {
	check "$label: everything that PAPI returned is there" all_there
}

silent() {
	is "$label: no message" "$(lines_of shim)" ""
}

# ---- the live file grows without a descriptor ---------------------------------------------------

for live in "$tmp/live" "$memory/live"; do
	for how in files deny=openat deny=openat,fallocate,ftruncate; do
		if cornered $how kill; then
			label="$label, $(stat -f -c %T "$live")"
			ends 137
			silent
			whole
		fi
	done
done
sets=8000
for live in "$tmp/live" "$memory/live"; do
	if cornered files kill; then
		label="$label, $sets sets, $(stat -f -c %T "$live")"
		ends 137
		silent
		check "$label: (the store is longer than the file was)" \
			test "$(stat -c %s "$live"/*.live)" -gt 17000000
		check "$label: everything that PAPI returned is there" same_sums
	fi
done
# In a folder where others could replace the file, do not grow it by its name: that might grow a
# file of the user's.
live=$tmp/open before=$(umask)
umask 0
if cornered files; then
	is "$label, others may write into the folder: reported" \
		"$(lines_of shim | grep -c 'cannot grow (Too many open files)')" 1
fi
umask "$before"
live=$tmp/live
sets=300
if cornered files; then
	ends 3
	check "$label: why there is no dump" said shim "the dump was not written" \
		"Too many open files" "sspapi recover"
	whole
fi
# If nothing helps: the kernel's reason.
if cornered deny=openat,mremap; then
	ends 3
	is "$label: why the live file cannot grow" \
		"$(lines_of shim | grep -c 'cannot grow (Operation not permitted)')" 1
fi
if [ "$(id -u)" = 0 ]; then
	for how in chroot pivot; do
		rm -rf "$tmp/root"
		mkdir "$tmp/root"
		if cornered "$how=$tmp/root" kill; then
			ends 137
			whole
		fi
		if cornered "$how=$tmp/root"; then
			ends 3
			check "$label: a line reports the live file that cannot be removed" said \
				shim "the live file" "$(echo "$live"/*.live)" "root directory"
			cp "$tmp/root$tmp/d/x.json" "$tmp/shim.json"
			check "$label: the dump is in its root" has_returned shim
		fi
	done
else
	skip "chroot, pivot_root" "only root can"
fi

# No /proc, as in a bare container.
no_proc() {
	rm -rf "$tmp/d" "$live" "$tmp/shim.json"
	mkdir "$live"
	label="no /proc: $*"
	SSPAPI_OUTPUT=$tmp/d/x.json run_shim shim unshare \
		-m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh \
		env SSPAPI_LIVE="$live" LD_LIBRARY_PATH="$fake" "$scenes/$@"
}
if unshare -m sh -c 'mount -t tmpfs none /proc' 2>/dev/null; then
	no_proc cornered 50
	ends 3
	whole
	no_proc cornered 50 files kill
	ends 137
	whole
else
	skip "no /proc" "this user may not mount"
fi

# ---- a sandbox that refuses, from the middle on, and from the start ------------------------------------------

for call in madvise mprotect fallocate mremap madvise,mprotect,fallocate \
	madvise,mprotect,process_vm_writev mprotect,mremap; do
	for when in deny deny-before; do
		if cornered $when=$call; then
			ends 3
			whole
		fi
	done
done
# A filter that ends the process at a call that only sspapi makes, which cannot be known beforehand.
# The counts that PAPI returned are in the live file.
if cornered die=linkat,renameat2,unlinkat; then
	is "$label: (the process is killed there)" "$(status_of shim)" 159
	whole
fi
# No dump there: reported, even if the usual check of descriptor 2 is refused.
for calls in openat newfstatat,openat newfstatat,openat,madvise,mprotect \
	openat,newfstatat,unlinkat,mkdirat,linkat mmap,mprotect; do
	if cornered deny=$calls; then
		ends 3
		check "$label: said" grep -q '^sspapi: the dump was not written' "$tmp/shim.err"
	fi
done
for calls in linkat,renameat2 mkdirat unlinkat utimensat sched_getaffinity,getcwd,readlinkat,uname \
	prctl,tgkill rt_sigprocmask,rt_sigpending,rt_sigtimedwait; do
	if cornered deny=$calls; then
		ends 3
		check "$label: a dump, or a line" \
			sh -c '[ -e "$1" ] || grep "^sspapi: the dump was not written" "$2"' \
			sh "$tmp/d/x.json" "$tmp/shim.err"
	fi
done
done_testing
