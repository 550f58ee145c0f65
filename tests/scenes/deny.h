/*
 * deny.h: has the kernel refuse system calls from now on, as a sandbox does.
 */
#ifndef DENY_H
#define DENY_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static const struct {
	const char *name;
	unsigned number;
} deniable[] = {
#define CALL(name) {#name, SYS_##name},
	CALL(madvise) CALL(mprotect) CALL(fallocate) CALL(mremap) CALL(munmap) CALL(openat) CALL(
		newfstatat) CALL(ftruncate) CALL(statfs) CALL(getcwd) CALL(readlinkat) CALL(uname)
		CALL(linkat) CALL(renameat2) CALL(unlinkat) CALL(mkdirat) CALL(utimensat)
			CALL(prctl) CALL(prlimit64) CALL(sched_getaffinity) CALL(process_vm_writev)
				CALL(tgkill) CALL(rt_sigprocmask) CALL(rt_sigpending)
					CALL(rt_sigtimedwait) CALL(rt_sigaction) CALL(sigaltstack)
						CALL(gettid) CALL(nanosleep) CALL(sched_yield)
							CALL(perf_event_open) CALL(getpid)
								CALL(geteuid) CALL(mmap) CALL(write)
#undef CALL
};

/* The calls of the list, by commas; `otherwise` is what becomes of them: SECCOMP_RET_ERRNO | EPERM
 * ... */
static inline void deny(const char *list, unsigned otherwise)
{
	struct sock_filter f[2 * sizeof(deniable) / sizeof(*deniable) + 2];
	struct sock_fprog program = {.filter = f};
	unsigned n = 0;

	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					      offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < sizeof(deniable) / sizeof(*deniable); i++) {
		const char *at = strstr(list, deniable[i].name),
			   *end = at ? at + strlen(deniable[i].name) : NULL;

		if (!at || (*end && *end != ',') || (at > list && at[-1] != ',' && at[-1] != '='))
			continue;
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, deniable[i].number,
						      0, 1);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
	}
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("seccomp");
		exit(77);
	}
}

#endif
