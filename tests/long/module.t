# The environment module: the shell that loads it is not preloaded, what mpirun starts is, and unloading leaves nothing.
# (srun: in mpi.t.)
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
# Environment Modules or Lmod: Debian has one at a time.
modulecmd=$(command -v modulecmd || dpkg -L environment-modules lmod 2>/dev/null | grep -E '/modulecmd\.tcl$|libexec/lmod$' | head -n 1)
[ -n "$modulecmd" ] || skip_all "no Environment Modules (scripts/deps --long), and no Lmod"
make -s install PREFIX="$tmp/installed" >"$tmp/install.log" 2>&1
mkdir "$tmp/modules"
sed "s,^set prefix.*,set prefix $tmp/installed," scripts/packaging/module/sspapi >"$tmp/modules/sspapi"
cat >"$tmp/session" <<END
export MODULEPATH=$tmp/modules
env | sort >before
eval "\$($modulecmd sh load sspapi)"
env >loaded
command -v sspapi
man -w sspapi
mpirun.openmpi --oversubscribe -n 2 env >ranks
eval "\$($modulecmd sh unload sspapi)"
env | sort >after
END
cd "$tmp" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
run session env -u MANPATH PATH=/usr/sbin:/usr/bin:/sbin:/bin sh session	# (Lmod takes a folder that stands twice out)
is "the command and its page are found" "$(cat session.out)" "$tmp/installed/bin/sspapi
$tmp/installed/share/man/man1/sspapi.1"
check "the shell is not preloaded" not grep -q '^LD_PRELOAD=.*sspapi' loaded
check "srun is told" grep -qx "SLURM_EXPORT_ENV=ALL,LD_PRELOAD=$tmp/installed/lib/libsspapi.so" loaded
if command -v mpirun.openmpi >/dev/null; then
	is "Open MPI's ranks are" "$(grep -c "^LD_PRELOAD=$tmp/installed/lib/libsspapi.so" ranks)" 2
else
	skip "Open MPI's ranks are" "no Open MPI (scripts/deps --long)"
fi
for when in before after; do
	grep -vE '^(_|LOADEDMODULES|_LMFILES_|MODULEPATH|__MODULES_.*|_+L?M(OD|oduleTable).*)=' $when >$when.env
done
check "nothing is left when it is unloaded" diff before.env after.env
rm -rf installed
sed -i 's,^set prefix.*,set prefix /nowhere,' modules/sspapi
MODULEPATH="$tmp/modules" $modulecmd sh load sspapi >said 2>&1
check "a wrong prefix is said" grep -q "sspapi: /nowhere/lib/libsspapi.so is not there" said
done_testing
