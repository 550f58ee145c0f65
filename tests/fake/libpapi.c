/* libpapi.c: initialisation, shutdown, threads, clocks and errors of the scripted libpapi. */
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

#include "fakelib.h"

int fk_gettid(void)
{
	struct fk_thread *t = fk_self ? fk_self : fk_thread_new();

	return t->tid;
}

/* ---- threads ----------------------------------------------------------- */

/* A target is looked for by what the application's id function says of its threads. */
static int is_master_of(const struct fk_master *m, int tid, int target)
{
	return m->used && (target ? m->id == (unsigned long)tid : !m->target && m->tid == tid);
}

static struct fk_master *master_of(int tid, int target)
{
	struct fk_master *m, *unused = NULL;

	fk_lock();
	for (m = fk.masters; m && !is_master_of(m, tid, target); m = m->next)
		if (!m->used)
			unused = m;
	if (!m) {
		m = unused;
		if (!m && (m = calloc(1, sizeof(*m)))) {
			m->next = fk.masters;
			fk.masters = m;
		}
		if (m) {
			struct fk_master *next = m->next;

			memset(m, 0, sizeof(*m));
			m->next = next;
			m->tid = tid;
			m->id = (unsigned long)tid;
			m->target = target;
			m->used = 1;
		}
	}
	fk_unlock();
	if (!m)
		fk_die("no memory");
	return m;
}

struct fk_master *fk_master_of_target(unsigned long id)
{
	return master_of((int)id, 1);
}

struct fk_master *fk_master_of_self(void)
{
	struct fk_thread *t = fk_self ? fk_self : fk_thread_new();

	if (t->generation != fk.generation || !t->master || !t->master->used) {
		t->master = master_of(t->tid, 0);
		t->generation = fk.generation;
		memset(&t->counters, 0, sizeof(t->counters));
		memset(&t->hl, 0, sizeof(t->hl));
	}
	if (fk.id_fn)
		t->master->id = fk.id_fn();
	return t->master;
}

static int known_threads(void)
{
	int n = 0;

	for (struct fk_master *m = fk.masters; m; m = m->next)
		n += m->used;
	return n;
}

FK_API int PAPI_thread_init(unsigned long (*id_fn)(void))
{
	FK_ENTER(PAPI_thread_init);
	if (!fk.initialised)
		FK_RETURN(PAPI_ENOINIT);
	if (fk.threads)
		FK_RETURN(PAPI_OK);
	fk.threads = 1;				/* also if it fails */
	if (known_threads() > 1)
		FK_RETURN(PAPI_EINVAL);
	fk.id_fn = id_fn;
	fk_master_of_self();
	FK_RETURN(PAPI_OK);
}

FK_API int PAPI_register_thread(void)
{
	FK_ENTER(PAPI_register_thread);
	if (!fk.initialised)
		FK_RETURN(PAPI_ENOINIT);
	fk_master_of_self();
	FK_RETURN(PAPI_OK);
}

FK_API int PAPI_unregister_thread(void)
{
	struct fk_thread *t;
	struct fk_master *m;

	FK_ENTER(PAPI_unregister_thread);
	t = fk_self;
	m = t->generation == fk.generation ? t->master : NULL;
	if (!fk.initialised || !m || !m->used)
		FK_RETURN(PAPI_EMISC);
	fk_lock();
	for (int i = 0; i < fk.n_sets; i++)
		if (fk.set[i] && fk.set[i]->used && fk.set[i]->master == m)
			fk_set_free(fk.set[i]);
	m->used = 0;
	t->master = NULL;
	fk_unlock();
	FK_RETURN(PAPI_OK);
}

FK_API unsigned long PAPI_thread_id(void)
{
	unsigned long id;

	FK_NOTE(PAPI_thread_id);
	id = fk.threads && fk.id_fn ? fk.id_fn() : (unsigned long)PAPI_EMISC;
	fk_leave(fk_me, 0);
	return id;
}

FK_API int PAPI_list_threads(unsigned long *tids, int *number)
{
	int n = 0;

	FK_ENTER(PAPI_list_threads);
	if (!number || (tids && *number <= 0))
		FK_RETURN(PAPI_EINVAL);
	fk_lock();
	for (struct fk_master *m = fk.masters; m; m = m->next) {
		if (!m->used)
			continue;
		if (tids && n == *number)
			break;
		if (tids)
			tids[n] = m->id;
		n++;
	}
	*number = n;
	fk_unlock();
	FK_RETURN(PAPI_OK);
}

/* ---- beginning and end ------------------------------------------------- */

/* Everything goes, without a word to anybody: shutdown's end, and a re-init. */
static void forget(void)
{
	fk_lock();
	for (int i = 0; i < fk.n_sets; i++)
		if (fk.set[i] && fk.set[i]->used)
			fk_set_free(fk.set[i]);
	for (struct fk_master *m = fk.masters; m; m = m->next)
		m->used = 0;
	for (int i = 0; i < fk.n_natives; i++)
		fk.event[fk.native[i]].code = 0;	/* handed out anew */
	fk.n_natives = 0;
	fk.initialised = fk.threads = 0;
	fk.id_fn = NULL;
	memset(fk.last_on, 0, sizeof(fk.last_on));
	fk.generation++;
	fk_unlock();
}

FK_API int PAPI_library_init(int version)
{
	FK_ENTER(PAPI_library_init);
	if (version != FK_VERSION)
		FK_RETURN(PAPI_EINVAL);
	if (fk.initialised && fk.pid == getpid()) {
		if (!getenv("PAPI_ALLOW_STOLEN"))
			FK_RETURN(FK_VERSION);
		FK_CALL(PAPI_shutdown);
	}
	if (fk.initialised)
		forget();			/* forked: ids from 0 again */
	fk_lock();
	fk.pid = getpid();
	fk.initialised = 1;
	fk_unlock();
	fk_master_of_self();
#if FAKE_PAPI_VERSION >= 0x0702
	/* a shim is entered while this still runs */
	FK_CALL(PAPI_get_component_index, "perf_event");
#endif
	FK_RETURN(FK_VERSION);
}

FK_API int PAPI_is_initialized(void)
{
	FK_ENTER(PAPI_is_initialized);
	FK_RETURN(fk.initialised ? fk.threads ? 5 : 1 : 0);
}

FK_API void PAPI_shutdown(void)
{
	struct fk_master *self;

	FK_NOTE(PAPI_shutdown);
	if (!fk.initialised) {
		fprintf(stderr, "PAPI Error: PAPI_shutdown: PAPI is not currently initialized.\n");
		fk_leave(fk_me, 0);
		return;
	}
	self = fk_master_of_self();
	for (int i = 0; i < fk.n_sets; i++) {
		struct fk_set *s = fk.set[i];

		if (!s || !s->used || s->master != self)
			continue;
		if (s->state & PAPI_RUNNING)
			FK_CALL(PAPI_stop, i, NULL);
		FK_CALL(PAPI_cleanup_eventset, i);
		fk_set_free(s);			/* never through PAPI_destroy_eventset */
	}
	forget();
	fk_leave(fk_me, 0);
}

FK_API int PAPI_multiplex_init(void)
{
	FK_ENTER(PAPI_multiplex_init);
	FK_RETURN(fk.initialised ? PAPI_OK : PAPI_ENOINIT);
}

/* ---- clocks ------------------------------------------------------------ */

static long long ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

#define CLOCK_CALL(fn, expression)		\
	FK_API long long fn(void)		\
	{					\
		FK_NOTE(fn);			\
		long long value = (expression);	\
		fk_leave(fk_me, 0);		\
		return value;			\
	}

CLOCK_CALL(PAPI_get_real_nsec, ns(CLOCK_MONOTONIC))
CLOCK_CALL(PAPI_get_real_usec, ns(CLOCK_MONOTONIC) / 1000)

/* ---- errors ------------------------------------------------------------ */

static const char *const errors[] = {
	"No error",
	"Invalid argument",
	"Insufficient memory",
	"A System/C library call failed",
	"Not supported by component",
	"Access to the counters was lost or interrupted",
	"Internal error",
	"Event does not exist",
	"Event exists, but cannot be counted due to hardware resource limits",
	"EventSet is currently not running",
	"EventSet is currently counting",
	"No such EventSet available",
	"Event in argument is not a valid preset",
	"Hardware does not support performance counters",
	"Unknown error code",
	"Permission level does not permit operation",
	"PAPI hasn't been initialized yet",
	"Component Index isn't set",
	"Not supported",
	"Not implemented",
	"Buffer size exceeded",
	"EventSet domain is not supported",
	"Invalid or missing event attributes",
	"Too many events or attributes",
	"Bad combination of features",
};

FK_API char *PAPI_strerror(int code)
{
	char *text = NULL;

	FK_NOTE(PAPI_strerror);
	if (code <= 0 && -code < (int)(sizeof(errors) / sizeof(errors[0])))
		text = (char *)errors[-code];
	fk_leave(fk_me, 0);
	return text;
}
