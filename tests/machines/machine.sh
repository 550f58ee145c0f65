# shellcheck shell=sh disable=SC2034 # for the scripts that source it
# machine.sh: the machines that QEMU boots, and where their images are kept.
# Source it; then `machine NAME` sets
#
#	release		the Debian whose packages it has; empty: this system's own
#	newer		the part of its archive that has the kernel; empty: the same
#	arch		Debian's name of it
#	triplet		the compilers' name of it
#	kernel		the package with its kernel
#	qemu		QEMU's options, except disk, kernel and command line
#	console		the kernel's name of its serial port
#	options		more for its command line
#	pmu		its device tree's name of its counters, if not QEMU's
# and	$cache		the folder with the images

cache=${SSPAPI_MACHINES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sspapi-machines}

# Two packages of two cores, a NUMA node each. -icount: instructions are counted, so that the
# emulated PMU has INST_RETIRED, and every run has the same numbers. FAST=1 uses threads instead;
# that event is then 0.
machine_aarch64() {
	arch=arm64 triplet=aarch64-linux-gnu kernel=linux-image-arm64 console=ttyAMA0 options=''
	qemu="qemu-system-aarch64 -M virt,gic-version=3 -cpu cortex-a57 -smp 4,sockets=2,cores=2,threads=1 -m 2G
		-object memory-backend-ram,id=m0,size=1G -numa node,nodeid=0,cpus=0-1,memdev=m0
		-object memory-backend-ram,id=m1,size=1G -numa node,nodeid=1,cpus=2-3,memdev=m1"
	if [ "${FAST-}" = 1 ]; then
		qemu="$qemu -accel tcg,thread=multi"
	else
		qemu="$qemu -accel tcg -icount shift=1"
	fi
}

# Two packages of two cores of two threads ($CPUS: that many threads, 8 if empty), a NUMA node each;
# no counters. One QEMU thread for all CPUs: with one each, guests hung in two of four runs of
# levels.t, busy, outside the tests; on two cores it is no slower. no_timer_check: on a busy host
# the kernel finds that its timer does not tick and takes another path, in which a disk request was
# never answered.
machine_x86_64() {
	arch=amd64 triplet=x86_64-linux-gnu kernel=linux-image-amd64 console=ttyS0 \
		options=no_timer_check
	qemu="qemu-system-x86_64 -machine q35 -accel tcg,thread=single -cpu Icelake-Server -smp $CPUS,sockets=2,cores=$((CPUS / 4)),threads=2 -m 2G
		-object memory-backend-ram,id=m0,size=1G -numa node,nodeid=0,cpus=0-$((CPUS / 2 - 1)),memdev=m0
		-object memory-backend-ram,id=m1,size=1G -numa node,nodeid=1,cpus=$((CPUS / 2))-$((CPUS - 1)),memdev=m1"
}

# name, board, release, newer, pmu. The new ones have a kernel whose rseq does not report moves
# (7.x), and another PAPI and libc. (libpfm4 4.13 and later, PAPI 7.1's, finds the counters of a
# Cortex-A57 by the kernel's name for those of one.)
machines='aarch64 aarch64
x86-64 x86_64
aarch64-new aarch64 trixie backports arm,cortex-a57-pmu
x86-64-new x86_64 trixie backports'

machine() {
	: "${CPUS:=8}"
	read -r board release newer pmu <<-EOF
		$(echo "$machines" | sed -n "s/^$1 //p")
	EOF
	[ -n "$board" ] || { echo "machines: '$1' is none of" \
		$(echo "$machines" | cut -d' ' -f1) >&2; return 2; }
	"machine_$board"
}
