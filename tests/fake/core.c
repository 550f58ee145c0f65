/* core.c: the scripted libpapi's ground: its threads, its lock, its functions' names. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "fakelib.h"

struct fk_state fk = { .pid = -1 };
int fk_hooks;
__thread struct fk_thread *fk_self __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int depth __attribute__((tls_model("initial-exec")));
static pthread_key_t key;
static struct fk_thread *threads;	/* all that live, and those to be used again */

static const char *const names[FK_IDS] = {
	"",
#define FK(name) #name,
#include "calls.def"
#undef FK
#define FORT(name, caps, params, ...) "papif_" #name,
#include "fortran.def"
#undef FORT
};

void fk_lock(void)
{
	if (!depth++)
		pthread_mutex_lock(&lock);
}

void fk_unlock(void)
{
	if (!--depth)
		pthread_mutex_unlock(&lock);
}

_Noreturn void fk_die(const char *what)
{
	fprintf(stderr, "scripted libpapi: %s\n", what);
	abort();
}

/* ---- threads ----------------------------------------------------------- */

/* Not malloc: the first call of a thread may come from a signal handler. */
struct fk_thread *fk_thread_new(void)
{
	struct fk_thread *t;
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	fk_lock();
	for (t = threads; t && t->tid; t = t->next)
		;
	if (!t) {
		t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
		if (t == MAP_FAILED)
			fk_die("no memory");
		t->next = threads;
		threads = t;
	}
	t->tid = (int)gettid();
	fk_self = t;
	fk_unlock();
	pthread_setspecific(key, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return t;
}

static void thread_end(void *p)
{
	struct fk_thread *t = p, *next;

	fk_lock();
	next = t->next;
	memset(t, 0, sizeof(*t));
	t->next = next;
	fk_self = NULL;
	fk_unlock();
}

/* The child is another thread. */
static void fork_child(void)
{
	pthread_mutex_init(&lock, NULL);
	depth = 0;
	for (struct fk_thread *t = threads; t; t = t->next)
		if (t != fk_self && t->tid)
			t->tid = -1;
	if (fk_self)
		fk_self->tid = (int)gettid();
}

__attribute__((constructor(101))) static void begin(void)
{
	pthread_key_create(&key, thread_end);
	pthread_atfork(fk_lock, fk_unlock, fork_child);
	fk_events_start();
	fk_script_start();
}

/* ---- functions --------------------------------------------------- */

int fk_id_of(const char *name)
{
	for (int i = 1; i < FK_IDS; i++)
		if (!strcmp(names[i], name))
			return i;
	return FK_NONE;
}

FAKE_API int fake_version(void)
{
	return FAKE_PAPI_VERSION;
}
