/* stat-fork-track.c: finds out which counters a thread inherited that started while counters
 * were opened.
 *
 * A new thread inherits the counters that its parent has at that instant, and it also appears in
 * /proc. If counters were opened for it as well, they would count it twice. If they were not, a
 * thread that started an instant earlier would not be counted at all. Neither of these
 * distinguishes the two cases: the record of the fork (PERF_RECORD_FORK is written at its end,
 * counters are inherited at its start, 20 us to a second earlier), a second scan of /proc, or
 * times.
 *
 * The kernel numbers all counters, including inherited ones, in the order in which they are
 * made, and reports the number of an open one (PERF_EVENT_IOC_ID). Before all its counters, each
 * thread gets a gate: a dummy event that writes a record when its thread is switched in or out.
 * A thread that inherited a gate writes such records from its start on, with the number of its
 * own gate. All counters that a thread inherits are numbered together, under the lock that also
 * protects opening a counter. So it inherited exactly those with a smaller number than its gate,
 * if nothing else got a number while each was opened (see stat-attach.c). A thread that ran
 * without a record inherited nothing.
 */
#include <sys/ioctl.h>

#include "../../base/perf.h"
#include "../tool/cmd.h"
#include "stat-attach-common.h"

#define PAGES_MOST 32u
/* a busy machine may delay the command by 100 ms, in which all smaller rings filled */
#define PAGES_ROOTS 512u

uint64_t sp_perf_number(int fd)
{
	uint64_t number = 0;

	return ioctl(fd, PERF_EVENT_IOC_ID, &number) < 0 ? 0 : number;
}

/* ---- threads ------------------------------------------------------------ */

struct sp_task *sp_fork_track_find(const struct sp_fork_track *b, int tid)
{
	uint32_t i = sp_names_find(&b->tids, &tid, sizeof(tid));

	return i == SP_NO_NAME ? NULL : b->task[i];
}

struct sp_task *sp_fork_track_add(struct sp_fork_track *b, int pid, int tid)
{
	uint32_t i = sp_names_number(&b->tids, &tid, sizeof(tid));

	if (i < b->n)
		return b->task[i];
	b->task = sp_grow_array(b->task, &b->room, b->n + 1, sizeof(struct sp_task *));
	b->task[i] = sp_check_alloc(calloc(1, sizeof(**b->task)));
	b->task[i]->pid = pid;
	b->task[i]->tid = tid;
	b->n++;
	return b->task[i];
}

/* ---- gates and their records -------------------------------------------- */

static struct perf_event_attr gate(void)
{
	struct perf_event_attr a = sp_perf_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	a.sample_id_all = 1;
	a.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_STREAM_ID;
	return a;
}

static bool map_rings(struct sp_fork_track *b)
{
	struct perf_event_attr a = gate();

	for (uint32_t k = 0; k < b->n_cpus; k++) {
		b->carrier[k] = sp_perf_open(&a, 0, b->cpu[k], -1, 0);
		b->ring[k] = sp_ring_map(b->carrier[k], b->pages);
		if (!b->ring[k])
			return false;
	}
	return true;
}

bool sp_fork_track_begin(struct sp_fork_track *b, uint32_t n_cpus, const int *cpu, uint32_t n_own)
{
	*b = (struct sp_fork_track){ .n_cpus = n_cpus, .cpu = cpu, .n_own = n_own };
	for (b->pages = geteuid() ? PAGES_MOST : PAGES_ROOTS; b->pages; b->pages /= 4) {
		b->carrier = sp_check_alloc(calloc(n_cpus, sizeof(*b->carrier)));
		memset(b->carrier, -1, n_cpus * sizeof(*b->carrier));
		b->ring = sp_check_alloc(calloc(n_cpus, sizeof(*b->ring)));
		if (map_rings(b))
			return true;
		sp_fork_track_close(b);
	}
	return false;
}

int sp_fork_track_gates(struct sp_fork_track *b, struct sp_task *t)
{
	struct perf_event_attr a = gate();

	a.disabled = 0;
	a.inherit = a.context_switch = a.task = 1;
	t->gate = sp_check_alloc(malloc(b->n_cpus * sizeof(*t->gate)));
	memset(t->gate, -1, b->n_cpus * sizeof(*t->gate));
	for (uint32_t k = 0; k < b->n_cpus; k++) {
		int fd = sp_perf_open(&a, t->tid, b->cpu[k], -1, 0);

		if (fd < 0)
			return fd;
		t->gate[k] = fd;
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, b->carrier[k]) < 0)
			return -errno;
	}
	return 0;
}

/* Handle a record, which ends with { u32 pid, tid; u64 number; } of its writer. FORK and EXIT
 * begin with { u32 pid, ppid, tid, ptid; }. */
static void take(void *fork_track, const struct perf_event_header *h, const void *body)
{
	struct sp_fork_track *b = fork_track;
	const uint32_t *word = body,
		       *end = (const uint32_t *)((const char *)body + h->size - sizeof(*h) - 16);
	struct sp_task *t;

	if (h->type == PERF_RECORD_LOST || h->size < sizeof(*h) + 16) {
		b->lost++;
	} else if (h->type == PERF_RECORD_SWITCH) {
		t = sp_fork_track_add(b, (int)end[0], (int)end[1]);
		if (!t->fd && !t->first_counter)	/* no counter was opened for it */
			memcpy(&t->first_counter, end + 2, sizeof(t->first_counter));
	} else if (h->type == PERF_RECORD_FORK) {
		t = sp_fork_track_add(b, (int)word[0], (int)word[2]);
		t->parent = (int)word[3];
		sp_fork_track_add(b, (int)word[1], (int)word[3])->had_child = true;
	} else if (h->type == PERF_RECORD_EXIT) {
		sp_fork_track_add(b, (int)word[0], (int)word[2])->ended = true;
	}
}

void sp_fork_track_drain(struct sp_fork_track *b)
{
	for (uint32_t k = 0; k < b->n_cpus; k++)
		b->lost += !sp_ring_each(b->ring[k], b->pages, take, b);
}

/* ---- the rule ----------------------------------------------------------- */

/* Follow the parents: each had at the fork the counters opened for it by then, and those that it
 * inherited. */
bool sp_fork_track_has(const struct sp_fork_track *b, const struct sp_task *t, uint32_t own)
{
	const struct sp_task *of;

	if (t->fd && t->fd[own] >= 0)
		return true;
	for (uint32_t i = 0; t->first_counter && i < b->n; i++, t = of) {
		of = sp_fork_track_find(b, t->parent);
		if (!of)
			return false;
		if (of->fd && of->fd[own] >= 0 && of->number[own] < t->first_counter)
			return true;
	}
	return false;
}

bool sp_fork_track_inherited(const struct sp_fork_track *b, const struct sp_task *t, uint32_t n)
{
	const struct sp_task only = { .parent = t->parent, .first_counter = t->first_counter };

	for (uint32_t v = 0; v < n; v++)
		if (sp_fork_track_has(b, &only, v))
			return true;
	return false;
}

/* ---- the end ------------------------------------------------------------ */

void sp_fork_track_close(struct sp_fork_track *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		for (uint32_t k = 0; b->task[i]->gate && k < b->n_cpus; k++)
			sp_close(b->task[i]->gate[k]);
		free(b->task[i]->gate);
		b->task[i]->gate = NULL;
	}
	for (uint32_t k = 0; b->ring && k < b->n_cpus; k++) {
		sp_ring_unmap(b->ring[k], b->pages);
		sp_close(b->carrier[k]);
	}
	free(b->ring);
	free(b->carrier);
	b->ring = NULL;
	b->carrier = NULL;
}

void sp_fork_track_end(struct sp_fork_track *b)
{
	sp_fork_track_close(b);
	for (uint32_t i = 0; i < b->n; i++) {
		free(b->task[i]->fd);
		free(b->task[i]->number);
		free(b->task[i]->at);
		free(b->task[i]->args);
		free(b->task[i]);
	}
	free(b->task);
	sp_names_free(&b->tids);
	memset(b, 0, sizeof(*b));
}
