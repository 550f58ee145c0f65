/* kernel-part.c: is perf_event_open permitted, and does the machine have counters? */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "../../base/perf.h"
#include "../probe/kernel-events.h"
#include "../stat/stat.h"
#include "doctor.h"

#define CAP_SYS_ADMIN	21
#define CAP_PERFMON	38

static bool has_word(const char *path, const char *const *words)
{
	char text[4096];

	if (sp_read_file(path, text, sizeof(text)) <= 0)
		return false;
	for (; *words; words++)
		if (strstr(text, *words))
			return true;
	return false;
}

static const char *container(void)
{
	static const char *const words[] = { "docker", "kubepods", "containerd",
					     "libpod", "/lxc",	   NULL };
	struct statfs root;

	/* A VM may boot an image that was made of a container, with that file. */
	if (access("/.dockerenv", F_OK) == 0 &&
	    (sp_proc_status(1, "\nSeccomp:", 10) == 2 ||
	     (statfs("/", &root) == 0 && root.f_type == OVERLAYFS_SUPER_MAGIC)))
		return "Docker";
	if (access("/run/.containerenv", F_OK) == 0)
		return "Podman";
	if (getenv("APPTAINER_CONTAINER") || getenv("SINGULARITY_CONTAINER"))
		return "Apptainer";
	return getenv("container")		      ? getenv("container")
	       : has_word("/proc/self/cgroup", words) ? "a container"
						      : NULL;
}

static bool is_virtual(void)
{
	static const char *const words[] = { " hypervisor", NULL };

	return has_word("/proc/cpuinfo", words) || access("/sys/hypervisor/type", F_OK) == 0;
}

static uint64_t count_some(int fd)
{
	uint64_t n = 0;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (volatile unsigned i = 0; i < 1000000; i++)
		;
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

/* Capabilities only count in the initial user namespace, whose user ids map to themselves. */
bool sp_doctor_is_privileged(void)
{
	uint64_t effective = sp_proc_status(getpid(), "\nCapEff:", 16);
	unsigned in, out, n;
	char text[64];

	return sscanf(sp_doctor_line("/proc/self/uid_map", text, sizeof(text)), "%u %u %u", &in,
		      &out, &n) == 3 &&
	       !in && !out && n == UINT_MAX &&
	       (effective >> CAP_SYS_ADMIN & 1 || effective >> CAP_PERFMON & 1);
}

/* Does the sysctl alone forbid this process to count anything? */
static bool paranoid(struct sp_doctor *d)
{
	char text[32];
	int level;

	if (!*sp_doctor_line("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text))) {
		sp_doctor_report(d, SP_BLOCKING,
				 "no /proc/sys/kernel/perf_event_paranoid: this kernel is built "
				 "without perf events");
		sp_doctor_fix(d, "boot a kernel with CONFIG_PERF_EVENTS");
		return false;
	}
	level = atoi(text);
	if (sp_doctor_is_privileged()) {
		sp_doctor_report(d, SP_GOOD,
				 "this process may count anything (CAP_PERFMON or CAP_SYS_ADMIN); "
				 "perf_event_paranoid is %d",
				 level);
		if (level > 2)
			sp_doctor_report(d, SP_WORTH,
					 "perf_event_paranoid %d requires that capability", level);
	} else if (level > 2) {
		sp_doctor_report(d, SP_BLOCKING,
				 "perf_event_paranoid is %d: without CAP_PERFMON no process may "
				 "count anything",
				 level);
		sp_doctor_fix(d,
			      "%ssudo sysctl kernel.perf_event_paranoid=2 (until the next boot; "
			      "in /etc/sysctl.d for good); or start %s",
			      container() ? "on the host: " : "",
			      container() ? "the container as root with docker or podman run "
					    "--cap-add PERFMON (a rootless one has no such right)"
					  : "the program as root, or with CAP_PERFMON");
	} else if (level == 2) {
		sp_doctor_report(d, SP_GOOD,
				 "perf_event_paranoid is 2: processes may count themselves in user "
				 "mode (not :k, not whole CPUs)");
	} else {
		sp_doctor_report(d, SP_GOOD,
				 "perf_event_paranoid is %d: processes may count themselves%s",
				 level, level < 1 ? ", and whole CPUs" : ", in the kernel, too");
	}
	return level > 2 && !sp_doctor_is_privileged();
}

/* A container's filter permits perf_event_open by the container's capabilities (CapBnd), even to
 * users who have none. Docker before 23.0 requires SYS_ADMIN; older podman requires both, and
 * refuses with ENOSYS if PERFMON is missing. */
static void refused_in_container(struct sp_doctor *d)
{
	uint64_t capabilities = sp_proc_status(getpid(), "\nCapBnd:", 16);
	bool perfmon = capabilities >> CAP_PERFMON & 1;
	bool sys_admin = capabilities >> CAP_SYS_ADMIN & 1;

	if (!perfmon)
		sp_doctor_fix(d, "a container's seccomp filter refuses: docker or podman run "
				 "--cap-add PERFMON (if an older version still refuses: --cap-add "
				 "SYS_ADMIN as well, or --security-opt seccomp=unconfined)");
	else if (!sys_admin)
		sp_doctor_fix(d, "the container has PERFMON, but its seccomp filter requires "
				 "SYS_ADMIN, as in older versions of docker and podman: docker or "
				 "podman run --cap-add PERFMON --cap-add SYS_ADMIN");
	else
		sp_doctor_fix(d, "the container has PERFMON and SYS_ADMIN, but its seccomp filter "
				 "refuses: docker or podman run --security-opt seccomp=unconfined, "
				 "or another profile");
}

static void refused(struct sp_doctor *d, long error)
{
	bool filter = sp_proc_status(getpid(), "\nSeccomp:", 10) == 2;

	sp_doctor_report(d, SP_BLOCKING, "perf_event_open is refused (%s)", strerror((int)error));
	if (filter && container())
		refused_in_container(d);
	else if (error == ENOSYS)
		sp_doctor_fix(d, "boot a kernel with CONFIG_PERF_EVENTS; gVisor and WSL 1 have "
				 "none");
	else if (filter)
		sp_doctor_fix(d, "a seccomp filter of this process refuses: start the program "
				 "outside of that sandbox, or permit perf_event_open "
				 "in it (systemd: SystemCallFilter=)");
	else
		sp_doctor_fix(d, "perf_event_paranoid permits it: a security module (SELinux, "
				 "lockdown) forbids it, and its administrator can permit it");
}

static void hardware(struct sp_doctor *d)
{
	struct perf_event_attr a = sp_perf_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	int fd = sp_perf_open(&a, 0, -1, -1, 0);
	uint64_t n = fd < 0 ? 0 : count_some(fd);

	sp_close(fd);
	if (fd >= 0 && n) {
		sp_doctor_report(d, SP_GOOD, "hardware counters work");
		return;
	}
	d->only_hardware = d->software;
	if (fd >= 0)
		sp_doctor_report(d, SP_BLOCKING, "hardware counters can be opened, but stay 0");
	else
		sp_doctor_report(d, SP_BLOCKING, "the kernel has no hardware counters (%s)%s",
				 strerror((int)-fd),
				 d->software ? ": PAPI can count software events only" : "");
	if (is_virtual())
		sp_doctor_fix(
			d,
			"on a virtual machine, enable a virtual PMU on its host (KVM: -cpu "
			"host,pmu=on; clouds: a metal or whole-socket type); until then %s",
			d->software ? "count perf::PAGE-FAULTS, perf::TASK-CLOCK ..."
				    : "sspapi stat counts page faults and the time of any program");
	else
		sp_doctor_fix(d, "see dmesg about the PMU, which another profiler or the "
				 "firmware may use; a virtual machine needs one from its host "
				 "(KVM: -cpu host,pmu=on)");
}

void sp_doctor_kernel(struct sp_doctor *d)
{
	struct sp_kernel_event faults = { .type = PERF_TYPE_SOFTWARE,
					  .config = PERF_COUNT_SW_PAGE_FAULTS };
	const char *in = container();
	bool forbidden;
	int r;

	sp_doctor_head(d, "the kernel and its counters");
	forbidden = paranoid(d);
	if (in)
		sp_doctor_report(d, SP_WORTH,
				 "this is %s: the host's settings and counters also matter", in);
	r = sp_kernel_event_try_open(&faults, false);
	if (r < 0) {
		if (!forbidden)
			refused(d, -r);
		return;
	}
	hardware(d);
}
