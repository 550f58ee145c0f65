/* stat-fork-track.c: who is born of whom while threads that run are given counters, and with which
 * of these.
 *
 * A thread that is born of one with counters inherits those that this one has at that instant, and
 * is found in /proc as well: opened for it, too, they would count it twice; left out, one that was
 * born an instant earlier is not counted at all.  What does not tell them apart, found by trial:
 * the record of the birth (PERF_RECORD_FORK: it comes when the birth is nearly over, the counters
 * are inherited when it begins: 20 us or, of a large process, a second between them); a second look
 * at /proc (the same); times.  What does:
 *
 * The kernel numbers its counters, inherited ones too, in the order they are made, and tells the
 * number of ours (PERF_EVENT_IOC_ID).  Each thread gets a counter that counts nothing but writes a
 * record when its thread comes onto a CPU or leaves one (the gate), before all others.  Who
 * inherited it writes such records from its first moment on, with its own counter's number.  All
 * that a thread inherits is numbered in one go, under the lock that a counter is opened under.  So
 * it has inherited exactly what has a smaller number than its gate: if, while that was opened,
 * nothing else was numbered; else it is opened again (stat-attach.c).  A thread that has been on a
 * CPU and wrote nothing has inherited nothing.
 */
#include <sys/ioctl.h>

#include "../../base/perf.h"
#include "../tool/cmd.h"
#include "stat-attach-common.h"

#define PAGES_MOST 32u
#define PAGES_ROOTS 512u		/* on a machine with much to do the command comes to them
					 * after 100 ms (seen: all lost) */

uint64_t sp_perf_number(int fd)
{
	uint64_t number = 0;

	return ioctl(fd, PERF_EVENT_IOC_ID, &number) < 0 ? 0 : number;
}

/* ---- threads ---------------------------------------------------------------------- */

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

/* ---- what they write ------------------------------------------------------------------ */

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

/* Each record ends with { u32 pid, tid; u64 number; } of who wrote it.  One of FORK and EXIT begins
 * with { u32 pid, ppid, tid, ptid; }. */
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
		if (!t->fd && !t->first_counter)	/* (not by what was opened for it) */
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

/* ---- the rule --------------------------------------------------------------------------- */

/* What its parent had when it was born: what had been opened for that one by then, and what that
 * one had inherited. */
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

/* ---- the end ------------------------------------------------------------------------------ */

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
