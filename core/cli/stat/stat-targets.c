/* stat-targets.c: reads the processes and threads of -p and -t, and waits for their end. */
#include <poll.h>

#include "../tool/cmd.h"
#include "stat-interval.h"
#include "stat-attach-common.h"

#define POLL_MS 20			/* if a target has no pidfd */

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#define PIDFD_OF_THREAD O_EXCL		/* PIDFD_THREAD, Linux 6.9 */

/* Return whether a process or thread runs. A process continues after its first thread's end. */
static bool is_alive(int pid, int tid)
{
	struct sp_process_stat p;

	return sp_proc_thread(pid, tid ? tid : pid, &p) ||
	       (!tid && sp_proc_status(pid, "\nThreads:", 10) > 1);
}

static int report_wrong(const char *verb, const char *text, const char *which, size_t n)
{
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)sp_min(n, 60), which);
	return sp_complain(125, verb, text, name);
}

static int add_target(struct sp_stat_targets *a, const char *verb, const char *text, size_t n,
		      bool threads)
{
	struct sp_stat_target *one;
	char *end;
	long id = strtol(text, &end, 10);
	int pid;

	if (end != text + n || !n || id <= 0 || id > INT_MAX)
		return report_wrong(verb,
				    threads ? "-t takes numbers of threads, joined by commas"
					    : "-p takes numbers of processes, joined by commas",
				    text, n);
	pid = (int)sp_proc_status((int)id, "\nTgid:", 10);
	if (!pid || !is_alive(pid, threads || pid != id ? (int)id : 0))
		return report_wrong(verb, threads ? "no such thread" : "no such process", text, n);
	if (!threads && pid != id)
		return report_wrong(verb, "a thread, not a process: use -t", text, n);
	for (uint32_t i = 0; i < a->n; i++)
		if (a->one[i].pid == pid && a->one[i].tid == (threads ? (int)id : 0))
			return 0;
	a->one = sp_check_alloc(reallocarray(a->one, a->n + 1, sizeof(*a->one)));
	one = &a->one[a->n++];
	*one = (struct sp_stat_target){ .pid = pid, .tid = threads ? (int)id : 0, .pidfd = -1 };
	return 0;
}

int sp_targets_add(struct sp_stat_targets *a, const char *verb, const char *list, bool threads)
{
	size_t n;
	int e = 0;

	do {
		n = strcspn(list, ",");
		e = add_target(a, verb, list, n, threads);
		list += n;
	} while (e == 0 && *list++ == ',');
	return e;
}

/* The first target's process is shown as the program. */
int sp_targets_begin(struct sp_stat_targets *a, const char *verb)
{
	uint32_t bytes, n = 0;
	char name[16];

	bytes = sp_proc_args(a->one[0].pid, &a->args);
	if (!bytes) {			/* a kernel thread */
		sp_proc_name(a->one[0].pid, a->one[0].pid, name);
		a->args = sp_check_alloc(strdup(name));
		bytes = (uint32_t)strlen(name) + 1;
	}
	if (!*a->args && bytes <= 1)
		return sp_complain(125, verb, "it has ended", NULL);
	a->argv = sp_check_alloc(calloc(bytes + 1, sizeof(*a->argv)));
	for (uint32_t at = 0; at < bytes; at += (uint32_t)strlen(a->args + at) + 1)
		a->argv[n++] = a->args + at;
	for (uint32_t i = 0; i < a->n; i++)
		a->one[i].pidfd =
			(int)sp_sys(SYS_pidfd_open, a->one[i].tid ? a->one[i].tid : a->one[i].pid,
				    a->one[i].tid ? PIDFD_OF_THREAD : 0);
	return 0;
}

static void wait_for_targets(const struct sp_stat_targets *a, struct sp_stat_run *r)
{
	uint32_t n = a ? a->n : 0, left = n;
	struct pollfd *p = sp_check_alloc(calloc(n + 1, sizeof(*p)));
	bool must_poll = false;

	for (uint32_t i = 0; i < n; i++) {
		p[i] = (struct pollfd){ .fd = a->one[i].pidfd, .events = POLLIN };
		must_poll = must_poll || a->one[i].pidfd < 0;
	}
	p[n] = (struct pollfd){ .fd = r->child.signals, .events = POLLIN };
	while (left || !a) {
		int ms = sp_stat_wait_ms(&r->c);

		poll(p, n + 1,
		     sp_stat_interval_wait(r->interval, must_poll && ms < 0 ? POLL_MS : ms));
		sp_stat_service(&r->c, &r->who);
		sp_stat_interval_sample(r->interval, &r->c, false);
		if (sp_stat_interrupted(r->child.signals))
			break;
		left = 0;
		for (uint32_t i = 0; i < n; i++) {
			const struct sp_stat_target *one = &a->one[i];
			bool on = one->pidfd < 0 ? is_alive(one->pid, one->tid)
						 : p[i].fd >= 0 && !p[i].revents;

			left += on;
			p[i].fd = on ? p[i].fd : -1;
		}
	}
	free(p);
}

void sp_targets_wait(const struct sp_stat_targets *a, struct sp_stat_run *r)
{
	if (r->child.pid) {
		sp_stat_wait(&r->child, &r->c, &r->who, r->interval);
		return;
	}
	sp_stat_interval_begin(r->interval, &r->c, r->child.start_ns);
	wait_for_targets(a, r);
	sp_close(r->child.signals);
}
