/* stat-threads.c: rows of threads if the kernel does not write their counts. A small library in
 * the program (core/cli/threads/) reports each thread before it runs, which then gets counters
 * of its own (stat-thread-counters.c). Totals come from the inherited counters. The remainder
 * has the counts of the loader, static programs and threads that are not reported. */
#include <linux/futex.h>

#include "../program/program.h"
#include "../threads/stat-shm.h"
#include "../tool/cmd.h"
#include "stat.h"

const char *sp_threads_library(void)
{
	const char *path = sp_cli_library("libsspapi-threads.so");

	return access(path, R_OK) == 0 && !strpbrk(path, " :") ? path : NULL;
}

/* Seals prevent shrinking the memory while the program has it mapped. */
void sp_threads_begin(struct sp_stat_counters *c)
{
	struct sp_stat_shm *b = MAP_FAILED;
	int fd = (int)sp_sys(SYS_memfd_create, "sspapi", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && ftruncate(fd, sizeof(*b)) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	c->shm = b == MAP_FAILED ? NULL : b;
	c->shm_fd = fd;
	c->last_bell = 0;
	if (c->shm) {
		c->shm->listens = 1;
	} else {
		sp_close(fd);
		c->from_library = c->has_rows = c->has_reads = false;
	}
}

/* Puts the library behind the user's LD_PRELOAD. */
void sp_threads_enter(const struct sp_stat_counters *c, pid_t command)
{
	const char *old = getenv("LD_PRELOAD");
	char *all, where[100];
	struct stat s;

	if (fstat(c->shm_fd, &s) < 0 ||
	    asprintf(&all, "%s%s%s", old ? old : "", old && *old ? ":" : "",
		     sp_glibc_name(sp_threads_library())) < 0)
		return;
	snprintf(where, sizeof(where), "%lu:%lu:/proc/%d/fd/%d", (unsigned long)s.st_dev,
		 (unsigned long)s.st_ino, (int)command, c->shm_fd);
	setenv("LD_PRELOAD", all, 1);
	sp_program_precede_asan();
	setenv(SP_STAT_SHM_NAME, where, 1);
}

void sp_threads_wait(struct sp_stat_counters *c, int ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000 };

	sp_sys(SYS_futex, &c->shm->bell, FUTEX_WAIT, c->last_bell, &t, NULL, 0);
	c->last_bell = load_acquire(&c->shm->bell);
}

/* Open counters for a thread that is counted and still runs; other reports are ignored. */
static void add_thread_row(struct sp_stat_counters *c, struct sp_stat_who *w, int pid, int tid)
{
	struct sp_stat_row *row = sp_stat_find_row(w, pid, tid);

	if (row && row->is_alive && !row->fd)
		(void)sp_thread_counters_open(c, w, row);
}

/* Answers requests. The kernel writes a thread's FORK record before its request, so the rings
 * are read first. */
void sp_threads_answer(struct sp_stat_counters *c, struct sp_stat_who *w)
{
	for (uint32_t i = 0; i < SP_STAT_SHM_SLOTS; i++) {
		struct sp_slot *slot = &c->shm->slot[i];
		uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_SEQ_CST);

		if (state % SP_SLOT_STATES != SP_SLOT_REQUESTED)
			continue;
		sp_stat_drain(c, w);
		add_thread_row(c, w, slot->pid, slot->tid);
		if (sp_cas(&slot->state, &state, state - SP_SLOT_REQUESTED + SP_SLOT_STATES))
			sp_sys(SYS_futex, &slot->state, FUTEX_WAKE, INT_MAX);
	}
	store_relaxed(&c->shm->hurries, 0);
}

/* A later request finds that no one answers, or is answered here. */
void sp_threads_stop(struct sp_stat_counters *c, struct sp_stat_who *w)
{
	__atomic_store_n(&c->shm->listens, 0, __ATOMIC_SEQ_CST);
	sp_threads_answer(c, w);
}

/* Must be called before the totals are read: counts of running threads in between belong to the
 * remainder. */
void sp_threads_end(struct sp_stat_counters *c, struct sp_stat_who *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->row[i].fd)
			sp_thread_counters_ended(c, w, &w->row[i]);
	w->late = load_relaxed(&c->shm->late);
	munmap(c->shm, sizeof(*c->shm));
	sp_close(c->shm_fd);
	c->shm = NULL;
}
