/* open.c: what the scripted libpapi asks the kernel for, as the real one does: counters of all
 * events of a set, closed and opened again. */
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fakelib.h"

#define OF_NO_PMU 0x7fffffffu		/* nobody else can count such events */

void fk_kernel_close(struct fk_set *s)
{
	int saved = errno;

	for (int i = 0; i < s->n_open; i++)
		close(s->fd[i]);
	s->n_open = 0;
	errno = saved;
}

/* Of components that the kernel counts for: those whose sets can be attached, and the uncore. */
void fk_kernel_open(struct fk_set *s)
{
	struct perf_event_attr a = { .type = OF_NO_PMU,
				     .size = sizeof(a),
				     .disabled = 1,
				     .inherit = (unsigned)s->inherit & 1,
				     .exclude_user = !(s->domain & PAPI_DOM_USER),
				     .exclude_kernel = !(s->domain & PAPI_DOM_KERNEL),
				     .exclude_hv = !(s->domain & PAPI_DOM_SUPERVISOR) };
	int saved = errno, leader = -1;

	fk_kernel_close(s);
	if (s->hidden_of >= 0 || (fk.component[s->cidx].c.no_attach &&
				  strcmp(fk.component[s->cidx].c.name, "perf_event_uncore") != 0))
		return;
	for (int i = 0; i < s->n; i++) {
		s->fd[i] = (int)syscall(SYS_perf_event_open, &a,
					s->granularity == PAPI_GRN_SYS ? -1 : s->ctl_tid,
					s->ctl_cpu, leader, 0);
		leader = s->fd[0];
		s->n_open++;
	}
	errno = saved;
}
