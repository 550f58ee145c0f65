/* stat-threads.c: rows by thread where the kernel does not write what a thread counted: a small library in the program
 * (core/cli/threads/) tells of each thread before it runs, and that thread gets counters of its own (stat-thread-counters.c).  Totals
 * stay what the inherited counters say: what the loader, static programs and threads that nobody tells of counted is the
 * total less the rows.
 */
#include <linux/futex.h>

#include "../program/program.h"
#include "../threads/stat-shm.h"
#include "../tool/cmd.h"
#include "stat.h"

const char *sp_told_library(void)
{
	const char *path = sp_cli_library("libsspapi-threads.so");

	return access(path, R_OK) == 0 && !strpbrk(path, " :") ? path : NULL;
}

/* Nobody can make it smaller under a program that has it mapped. */
void sp_told_begin(struct sp_stat_counters *c)
{
	struct sp_board *b = MAP_FAILED;
	int fd = (int)sp_sys(SYS_memfd_create, "sspapi", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && ftruncate(fd, sizeof(*b)) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	c->board = b == MAP_FAILED ? NULL : b;
	c->board_fd = fd;
	c->heard = 0;
	if (c->board) {
		c->board->listens = 1;
	} else {
		sp_close(fd);
		c->told = c->rows = c->reads = false;
	}
}

/* In the child: ours stands last, behind what the user wants first. */
void sp_told_enter(const struct sp_stat_counters *c, pid_t command)
{
	const char *old = getenv("LD_PRELOAD");
	char *all, where[100];
	struct stat s;

	if (fstat(c->board_fd, &s) < 0 || asprintf(&all, "%s%s%s", old ? old : "", old && *old ? ":" : "",
					      sp_glibc_name(sp_told_library())) < 0)
		return;
	snprintf(where, sizeof(where), "%lu:%lu:/proc/%d/fd/%d", (unsigned long)s.st_dev, (unsigned long)s.st_ino, (int)command, c->board_fd);
	setenv("LD_PRELOAD", all, 1);
	sp_program_precede_asan();
	setenv(SP_BOARD_NAME, where, 1);
}

void sp_told_wait(struct sp_stat_counters *c, int ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000 };

	sp_sys(SYS_futex, &c->board->bell, FUTEX_WAIT, c->heard, &t, NULL, 0);
	c->heard = sp_acquire(&c->board->bell);
}

/* A thread that we do not count, or that has ended, is somebody else's. */
static void told(struct sp_stat_counters *c, struct sp_stat_who *w, int pid, int tid)
{
	struct sp_stat_row *row = sp_stat_known(w, pid, tid);

	if (row && row->lives && !row->fd)
		(void)sp_own_open(c, w, row);
}

/* The kernel wrote that a thread began before it could tell. */
void sp_told_answer(struct sp_stat_counters *c, struct sp_stat_who *w)
{
	for (uint32_t i = 0; i < SP_BOARD_SLOTS; i++) {
		struct sp_slot *slot = &c->board->slot[i];
		uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_SEQ_CST);

		if (state % SP_SLOT_STATES != SP_SLOT_ASKED)
			continue;
		sp_stat_drain(c, w);
		told(c, w, slot->pid, slot->tid);
		if (sp_cas(&slot->state, &state, state - SP_SLOT_ASKED + SP_SLOT_STATES))
			sp_sys(SYS_futex, &slot->state, FUTEX_WAKE, INT_MAX);
	}
	sp_put(&c->board->hurries, 0);
}

/* Whoever asks from now on sees that nobody listens, or is answered here. */
void sp_told_stop(struct sp_stat_counters *c, struct sp_stat_who *w)
{
	__atomic_store_n(&c->board->listens, 0, __ATOMIC_SEQ_CST);
	sp_told_answer(c, w);
}

/* Before the totals are read: a thread that lives on counts in between, and that is in the rest. */
void sp_told_end(struct sp_stat_counters *c, struct sp_stat_who *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->row[i].fd)
			sp_own_ended(c, w, &w->row[i]);
	w->late = sp_get(&c->board->late);
	munmap(c->board, sizeof(*c->board));
	sp_close(c->board_fd);
	c->board = NULL;
}
