/* core.c: the scripted libpapi's ground: its threads, its lock, who called what. */
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
static long long past[FK_IDS], past_nested[FK_IDS];

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
		t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
	for (int i = 0; i < FK_IDS; i++) {
		past[i] += t->calls[i];
		past_nested[i] += t->nested[i];
	}
	next = t->next;
	memset(t, 0, sizeof(*t));
	t->next = next;
	fk_self = NULL;
	fk_unlock();
}

/* The child is another thread; what the others of the parent did stays counted. */
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

/* ---- who called what --------------------------------------------------- */

int fk_id_of(const char *name)
{
	for (int i = 1; i < FK_IDS; i++)
		if (!strcmp(names[i], name))
			return i;
	return FK_NONE;
}

static long long sum(int id, int nested)
{
	long long n;

	if (!id)
		return -1;
	fk_lock();
	n = nested ? past_nested[id] : past[id];
	for (struct fk_thread *t = threads; t; t = t->next)
		n += nested ? t->nested[id] : t->calls[id];
	fk_unlock();
	return n;
}

FAKE_API long long fake_calls(const char *name)
{
	return sum(fk_id_of(name), 0);
}

FAKE_API long long fake_calls_nested(const char *name)
{
	return sum(fk_id_of(name), 1);
}

FAKE_API long long fake_calls_all(void)
{
	long long n = 0;

	for (int i = 1; i < FK_IDS; i++)
		n += sum(i, 0);
	return n;
}

FAKE_API void fake_calls_clear(void)
{
	fk_lock();
	memset(past, 0, sizeof(past));
	memset(past_nested, 0, sizeof(past_nested));
	for (struct fk_thread *t = threads; t; t = t->next) {
		memset(t->calls, 0, sizeof(t->calls));
		memset(t->nested, 0, sizeof(t->nested));
	}
	fk_unlock();
}

FAKE_API int fake_errno(const char *name)
{
	return FK_ERRNO + fk_id_of(name);
}

FAKE_API int fake_version(void)
{
	return FAKE_PAPI_VERSION;
}
