# debian.sh: makes a clean Debian with mmdebstrap, from the packages that apt uses here. Sourced;
# bail() is the caller's.

command -v mmdebstrap >/dev/null || bail "no mmdebstrap (scripts/deps --machines)"
# The lists of this system's apt, as lines of sources.list: no other mirror is used.
lists=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
	'Created-By: Packages' "Origin: $(. /etc/os-release && echo "$ID" | sed 's/^./\U&/')" \
	'Component: main' | sort -u)
[ -n "$lists" ] || bail "apt has no list of packages here: apt-get update"
release=$(echo "$lists" | awk '{ print $3 }' | sort | head -n 1)

# debian LOG VARIANT PACKAGES HOOK...: makes a Debian in which the hooks are run, "$1" being its
# root
debian() {
	log=$1 variant=$2 packages=$3
	shift 3
	for hook; do
		set -- "$@" "--customize-hook=$hook"
		shift
	done
	echo "$lists" | mmdebstrap --quiet --variant="$variant" --include="$packages" \
		--format=null \
		--aptopt='APT::Install-Recommends "false"' "$@" "$release" /dev/null \
		- >"$log" 2>&1
}
