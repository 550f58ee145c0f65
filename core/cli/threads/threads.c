/* threads.c: libsspapi-threads.so, by which a program announces its threads to `sspapi stat`.
 *
 * stat preloads it on kernels that do not write each thread's counts. Before a new thread runs,
 * the command opens counters for it. The library keeps no descriptor open, allocates no memory,
 * and keeps errno and signals. If the command does not listen or answer in time, threads run
 * anyway.
 */
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

#include "../../base/sys.h"
#include "stat-shm.h"

static struct sp_stat_shm *shm;		/* NULL: no announcements */
static int own_pid;

/* ---- announcements ----------------------------------------------------- */

/* False: the command is stopped or dead. Uses the kernel's clock, since programs may run under
 * another. */
static bool is_answered(const uint32_t *state, uint32_t requested)
{
	struct timespec until = { 0 };
	long r = 0;

	sp_sys(SYS_clock_gettime, CLOCK_MONOTONIC, &until);
	until.tv_sec += SP_STAT_SHM_MS / 1000;
	until.tv_nsec += SP_STAT_SHM_MS % 1000 * 1000000;
	while (load_acquire(state) == requested && (r >= 0 || r == -EAGAIN || r == -EINTR))
		r = sp_sys(SYS_futex, state, FUTEX_WAIT_BITSET, requested, &until, NULL,
			   FUTEX_BITSET_MATCH_ANY);
	return load_acquire(state) != requested;
}

/* Takes a free slot; *is: its state before. */
static struct sp_slot *take_slot(struct sp_stat_shm *b, uint32_t first, uint32_t *is)
{
	for (uint32_t i = 0; i < SP_STAT_SHM_SLOTS; i++) {
		struct sp_slot *slot = &b->slot[(first + i) % SP_STAT_SHM_SLOTS];

		*is = load_acquire(&slot->state);
		if (*is % SP_SLOT_STATES == SP_SLOT_FREE &&
		    sp_cas(&slot->state, is, *is + SP_SLOT_TAKEN))
			return slot;
	}
	return NULL;
}

/* Announces this thread. A late answer is noted in the shared memory for all processes: else
 * each child of a shell would wait once for a dead command. */
static void report_thread(void)
{
	struct sp_stat_shm *b = load_relaxed(&shm);
	struct sp_slot *slot;
	int error = errno;
	uint32_t is;
	long tid;

	if (!b || !load_acquire(&b->listens))
		return;
	tid = sp_sys(SYS_gettid);
	slot = take_slot(b, (uint32_t)tid, &is);
	if (slot) {
		slot->pid = own_pid;
		slot->tid = (int32_t)tid;
		__atomic_store_n(&slot->state, is + SP_SLOT_REQUESTED, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&b->bell, 1, __ATOMIC_SEQ_CST);
		sp_sys(SYS_futex, &b->bell, FUTEX_WAKE, 1);
		/* Check again: a command that has stopped listening does not answer. */
		if (__atomic_load_n(&b->listens, __ATOMIC_SEQ_CST) &&
		    (load_relaxed(&b->hurries) ||
		     !is_answered(&slot->state, is + SP_SLOT_REQUESTED))) {
			store_relaxed(&b->hurries, 1);
			sp_add(&b->late, 1);
		}
	}
	errno = error;
}

/* ---- threads ------------------------------------------------------------------- */

/* Arguments of a new thread, until it has read them. No malloc, which may be the program's. If
 * all are taken, the thread starts unannounced. */
static struct thread_start {
	uint32_t used;
	void *(*start)(void *);
	int (*start_c11)(void *);
	void *arg;
} thread_starts[4096];
static uint32_t n_started;

static struct thread_start *new_thread_start(void *(*start)(void *), int (*start_c11)(void *),
					     void *arg)
{
	uint32_t first = sp_add(&n_started, 1);

	for (uint32_t i = 0; load_relaxed(&shm) && i < SP_COUNT(thread_starts); i++) {
		struct thread_start *b = &thread_starts[(first + i) % SP_COUNT(thread_starts)];

		if (!load_relaxed(&b->used) &&
		    !__atomic_exchange_n(&b->used, 1, __ATOMIC_ACQUIRE)) {
			b->start = start;
			b->start_c11 = start_c11;
			b->arg = arg;
			return b;
		}
	}
	return NULL;
}

static struct thread_start take_thread_start(struct thread_start *b)
{
	struct thread_start is = *b;

	store_release(&b->used, 0);
	report_thread();
	return is;
}

static void *begin(void *thread_start)
{
	struct thread_start b = take_thread_start(thread_start);

	return b.start(b.arg);
}

static int begin_c11(void *thread_start)
{
	struct thread_start b = take_thread_start(thread_start);

	return b.start_c11(b.arg);
}

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int create_c11_fn(thrd_t *, int (*)(void *), void *);

/* Finds the real function at load time, since dlsym() clears dlerror()'s message; later if the
 * threads' library is loaded later. */
static void *find(void **real, const char *name)
{
	if (!load_relaxed(real))
		store_relaxed(real, dlsym(RTLD_NEXT, name));
	return load_relaxed(real);
}

static void *real_create, *real_create_c11;

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
							  const pthread_attr_t *attr,
							  void *(*start)(void *), void *arg)
{
	create_fn *create = (create_fn *)find(&real_create, "pthread_create");
	struct thread_start *b = create ? new_thread_start(start, NULL, arg) : NULL;
	int r = !create ? EAGAIN
		: b	? create(thread, attr, begin, b)
			: create(thread, attr, start, arg);

	if (b && r)
		store_release(&b->used, 0);
	return r;
}

/* libc's thrd_create does not call pthread_create. */
__attribute__((visibility("default"))) int thrd_create(thrd_t *thread, int (*start)(void *),
						       void *arg)
{
	create_c11_fn *create = (create_c11_fn *)find(&real_create_c11, "thrd_create");
	struct thread_start *b = create ? new_thread_start(NULL, start, arg) : NULL;
	int r = !create ? thrd_error
		: b	? create(thread, begin_c11, b)
			: create(thread, start, arg);

	if (b && r != thrd_success)
		store_release(&b->used, 0);
	return r;
}

/* ---- processes -------------------------------------------------------------------- */

static void in_child(void)
{
	own_pid = (int)sp_sys(SYS_getpid);
	report_thread();
}

static bool is_shm_file(const struct stat *s, unsigned long device, unsigned long inode)
{
	return s->st_dev == device && s->st_ino == inode;
}

/* text: as in SP_STAT_SHM_NAME. Elsewhere (another PID namespace, a reused pid) the path is
 * another file, which is not opened. */
static void map_shm(const char *text)
{
	char *end;
	unsigned long device = strtoul(text, &end, 10),
		      inode = strtoul(*end ? end + 1 : end, &end, 10);
	const char *path = *end ? end + 1 : end;
	struct stat s;
	void *p = MAP_FAILED;
	int fd;

	if (stat(path, &s) < 0 || !is_shm_file(&s, device, inode))
		return;
	fd = sp_open(path, O_RDWR | O_NOCTTY, 0);
	if (fd >= 0 && fstat(fd, &s) == 0 && is_shm_file(&s, device, inode) &&
	    s.st_size >= (off_t)sizeof(*shm))
		p = mmap(NULL, sizeof(*shm), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	sp_close(fd);
	if (p != MAP_FAILED)
		shm = p;
}

__attribute__((constructor)) static void program_begins(void)
{
	const char *text = getenv(SP_STAT_SHM_NAME);
	int error = errno;

	own_pid = (int)sp_sys(SYS_getpid);
	if (text)
		map_shm(text);
	if (shm) {
		find(&real_create, "pthread_create");
		find(&real_create_c11, "thrd_create");
		pthread_atfork(NULL, NULL, in_child);
		report_thread();
	}
	errno = error;
}
